// PCRE2 chooses its character width by this macro; Swift sees the 8-bit functions.
#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>
