// The files of js/, as they were when the program was built.
#ifndef CSCRIPTRUNTIME_H
#define CSCRIPTRUNTIME_H
#include <spawn.h>
#include <stddef.h>

/// One file of JavaScript.
struct cscript_file {
    /// The path below js/ without `.js`, as `core` or `node/path`.
    const char *name;
    const unsigned char *text;
    size_t length;
};

/// All files.
const struct cscript_file *cscript_table(void);
extern const size_t cscript_count;

// What Glibc's Swift module leaves out.

/// Ends this process with the thread that started it, and takes no more rights than it has.
void cscript_die_with_parent(void);

/// Closes descriptors from this one on in a child to come.
int cscript_close_from(posix_spawn_file_actions_t *actions, int first);

/// Whether bytes contain others.
int cscript_contains(const void *text, size_t length, const void *part, size_t part_length);

/// `POLLRDHUP`.
extern const short cscript_peer_closed;
#endif
