#include "CCollation.h"

#include <string.h>
#include <unicode/ucol.h>
#include <unicode/uloc.h>

collator *collator_open(const char *locale) {
    char name[200];
    UErrorCode status = U_ZERO_ERROR;
    int32_t length = uloc_getName(locale, name, sizeof name, &status);
    if (status != U_ZERO_ERROR || length <= 0 || strcmp(name, locale) != 0) return NULL;
    UCollator *made = ucol_open(locale, &status);
    if (U_FAILURE(status)) return NULL;
    // ICU makes the best of any name; a language without rules gets those of the root.
    const char *valid = ucol_getLocaleByType(made, ULOC_VALID_LOCALE, &status);
    if (U_FAILURE(status) || !valid || !*valid || strcmp(valid, "root") == 0) {
        ucol_close(made);
        return NULL;
    }
    return (collator *)made;
}

void collator_close(collator *self) { ucol_close((UCollator *)self); }

int collator_set(collator *self, int attribute, int value) {
    static const UColAttributeValue strengths[] = {
        UCOL_PRIMARY, UCOL_SECONDARY, UCOL_TERTIARY, UCOL_QUATERNARY, UCOL_IDENTICAL,
    };
    static const UColAttributeValue cases[] = {UCOL_OFF, UCOL_UPPER_FIRST, UCOL_LOWER_FIRST};
    UCollator *made = (UCollator *)self;
    UColAttributeValue flag = value ? UCOL_ON : UCOL_OFF;
    UErrorCode status = U_ZERO_ERROR;
    switch (attribute) {
    case COLLATOR_STRENGTH:
        if (value < 1 || value > 5) return 0;
        ucol_setAttribute(made, UCOL_STRENGTH, strengths[value - 1], &status);
        break;
    case COLLATOR_CASE_LEVEL: ucol_setAttribute(made, UCOL_CASE_LEVEL, flag, &status); break;
    case COLLATOR_NUMERIC: ucol_setAttribute(made, UCOL_NUMERIC_COLLATION, flag, &status); break;
    case COLLATOR_NORMALIZATION: ucol_setAttribute(made, UCOL_NORMALIZATION_MODE, flag, &status); break;
    case COLLATOR_BACKWARDS: ucol_setAttribute(made, UCOL_FRENCH_COLLATION, flag, &status); break;
    case COLLATOR_CASE_FIRST:
        if (value < 0 || value > 2) return 0;
        ucol_setAttribute(made, UCOL_CASE_FIRST, cases[value], &status);
        break;
    case COLLATOR_SHIFTED:
        ucol_setAttribute(made, UCOL_ALTERNATE_HANDLING, value ? UCOL_SHIFTED : UCOL_NON_IGNORABLE, &status);
        break;
    case COLLATOR_ONLY_SPACES:
        ucol_setMaxVariable(made, value ? UCOL_REORDER_CODE_SPACE : UCOL_REORDER_CODE_PUNCTUATION, &status);
        break;
    default: return 0;
    }
    return U_SUCCESS(status);
}

int32_t collator_key(const collator *self, const uint16_t *text, int32_t length, uint8_t *key, int32_t capacity) {
    return ucol_getSortKey((const UCollator *)self, (const UChar *)text, length, key, capacity);
}
