// The files of openapi/, as they were when the program was built.
#ifndef COPENAPI_H
#define COPENAPI_H
#include <stddef.h>

/// One document.
struct copenapi_document {
    /// The file's name, as `data-api.yaml`.
    const char *name;
    const unsigned char *text;
    size_t length;
};

/// All documents.
const struct copenapi_document *copenapi_table(void);
extern const size_t copenapi_count;
#endif
