#define _GNU_SOURCE
#include "CSchedule.h"
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>

/// sched_setattr(2)
struct attributes {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
};

int cschedule_slice(unsigned long long nanoseconds) {
    struct attributes own = {0};
    if (syscall(SYS_sched_getattr, 0, &own, sizeof own, 0) != 0) return -1;
    own.size = sizeof own;
    own.runtime = nanoseconds;
    return (int)syscall(SYS_sched_setattr, 0, &own, 0);
}
