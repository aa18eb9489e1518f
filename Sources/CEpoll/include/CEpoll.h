// Glibc's Swift module leaves epoll and eventfd out.
#ifndef CEPOLL_H
#define CEPOLL_H
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

/// Registers (or changes) interest in `fd`, carrying `token` back with its events.
int cepoll_control(int epoll, int operation, int fd, unsigned int events, unsigned long long token);

/// Waits for at most `capacity` events; fills `tokens` and `events`; returns their number or -1.
int cepoll_wait(
    int epoll, unsigned long long *tokens, unsigned int *events, int capacity, int timeout_ms);
#endif
