#define _GNU_SOURCE
#include "CScriptRuntime.h"
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>

void cscript_die_with_parent(void) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
}

int cscript_close_from(posix_spawn_file_actions_t *actions, int first) {
    return posix_spawn_file_actions_addclosefrom_np(actions, first);
}

int cscript_contains(const void *text, size_t length, const void *part, size_t part_length) {
    return memmem(text, length, part, part_length) != 0;
}

const short cscript_peer_closed = POLLRDHUP;
