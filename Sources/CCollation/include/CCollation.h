#ifndef CCOLLATION_H
#define CCOLLATION_H

#include <stdint.h>

// ICU's collators. Its own headers stay out of sight: Foundation brings another ICU with the same names of types.
typedef struct collator collator;

// What may be set of a collator, each with the values that follow.
enum collator_attribute {
    COLLATOR_STRENGTH,        // 1 to 5
    COLLATOR_CASE_LEVEL,      // 0 or 1, as those below
    COLLATOR_NUMERIC,
    COLLATOR_NORMALIZATION,
    COLLATOR_BACKWARDS,
    COLLATOR_CASE_FIRST,      // 0 off, 1 upper, 2 lower
    COLLATOR_SHIFTED,
    COLLATOR_ONLY_SPACES,     // which signs are shifted: spaces alone, or punctuation as well
};

// A collator for a locale, or NULL where there is no such locale; names in another form than ICU's own are refused.
collator *collator_open(const char *locale);
void collator_close(collator *self);

// 0 where ICU refuses.
int collator_set(collator *self, int attribute, int value);

// The length of the sort key of a UTF-16 text, its final zero included; it is written when there is room.
int32_t collator_key(const collator *self, const uint16_t *text, int32_t length, uint8_t *key, int32_t capacity);

#endif
