// `crypt_r` writes into 32 KiB that Swift would have to know the shape of.
#ifndef CCRYPT_H
#define CCRYPT_H
#include <stddef.h>

/// Hashes a password as `setting` says; writes the hash, with its setting, and a zero into `hash`.
///
/// Returns 1, or 0 when libcrypt does not know the setting.
int ccrypt_hash(const char *password, const char *setting, char *hash, size_t capacity);
#endif
