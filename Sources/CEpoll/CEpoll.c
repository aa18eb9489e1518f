#define _GNU_SOURCE
#include "CEpoll.h"
#include <sys/socket.h>

int cepoll_control(int epoll, int operation, int fd, unsigned int events, unsigned long long token) {
    struct epoll_event event = {.events = events, .data = {.u64 = token}};
    return epoll_ctl(epoll, operation, fd, &event);
}

int cepoll_wait(
    int epoll, unsigned long long *tokens, unsigned int *events, int capacity, int timeout_ms) {
    struct epoll_event ready[64];
    if (capacity > 64) capacity = 64;
    int count = epoll_wait(epoll, ready, capacity, timeout_ms);
    for (int i = 0; i < count; i++) {
        tokens[i] = ready[i].data.u64;
        events[i] = ready[i].events;
    }
    return count;
}

int cepoll_accept(int listening) {
    return accept4(listening, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
}
