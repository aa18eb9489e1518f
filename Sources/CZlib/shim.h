#include <zlib.h>

// Macros with casts and sizes, which Swift does not see.
static inline int czlib_deflate_begin(z_stream *stream, int level, int window_bits) {
    return deflateInit2(stream, level, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY);
}

static inline int czlib_inflate_begin(z_stream *stream, int window_bits) {
    return inflateInit2(stream, window_bits);
}
