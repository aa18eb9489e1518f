// The web pages of the gateway, as they were when the program was built.
#ifndef CPAGES_H
#define CPAGES_H
#include <stddef.h>

/// One file of pages/.
struct cpages_file {
    /// The file's name, as `docs.html`.
    const char *name;
    const unsigned char *text;
    size_t length;
};

/// All files.
const struct cpages_file *cpages_table(void);
extern const size_t cpages_count;
#endif
