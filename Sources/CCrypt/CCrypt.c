#define _GNU_SOURCE
#include "CCrypt.h"

#include <crypt.h>
#include <stdlib.h>
#include <string.h>

int ccrypt_hash(const char *password, const char *setting, char *hash, size_t capacity) {
    struct crypt_data *data = calloc(1, sizeof *data);
    if (!data) return 0;
    const char *result = crypt_r(password, setting, data);
    // A failure is a text that begins with an asterisk.
    size_t length = result ? strlen(result) : 0;
    int good = result && result[0] != '*' && length < capacity;
    if (good) memcpy(hash, result, length + 1);
    explicit_bzero(data, sizeof *data);
    free(data);
    return good;
}
