// Glibc's Swift module leaves epoll, eventfd and accept4 out.
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

/// Takes a connection, non-blocking and not for programs that are started; -1 when none waits or for an error.
int cepoll_accept(int listening);
#endif
