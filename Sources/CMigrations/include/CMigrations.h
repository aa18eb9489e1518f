// The files of migrations/, as they were when the program was built.
#ifndef CMIGRATIONS_H
#define CMIGRATIONS_H
#include <stddef.h>

/// One migration file.
struct cmigration {
    /// The file's name without `.sql`, as `0001_apps`.
    const char *name;
    const unsigned char *text;
    size_t length;
};

/// All migrations, in their order.
const struct cmigration *cmigration_table(void);
extern const size_t cmigration_count;
#endif
