/* lut_priv.h - what the rungs of lut share: a call's arguments, checked, and the table as a parameter of kernels. */
#ifndef MG_LUT_PRIV_H
#define MG_LUT_PRIV_H
#include "common/kernels_priv.h"

struct mg__lut_table {
    uint32_t word[64]; /* entry i is byte i % 4 of word i / 4, the least significant byte first */
};
struct mg__lut {
    cudaStream_t stream;
    int64_t n; /* at least 1 */
    const uint8_t *x;
    uint8_t *y;
    struct mg__lut_table table;
    uint8_t *workspace; /* of the rung "global": 256 bytes */
};

#define RUNG(id, name, idea, gain) enum mg_kernels_status mg__lut_##id(const struct mg__lut *call);
#include "lut/lut.def"
#undef RUNG

/* The array in vectors of `width` bytes, as far as x and y are aligned alike: `head` bytes
 * before them, `tail` after. */
struct mg__lut_parts {
    int64_t head, vectors, tail;
};
static inline struct mg__lut_parts mg__lut_split(const struct mg__lut *call, int64_t width)
{
    uintptr_t w = static_cast<uintptr_t>(width), x = reinterpret_cast<uintptr_t>(call->x);
    struct mg__lut_parts parts = {call->n, 0, 0};
    if ((x - reinterpret_cast<uintptr_t>(call->y)) % w != 0)
        return parts;
    int64_t head = static_cast<int64_t>((w - x % w) % w);
    if (head < call->n)
        parts.head = head;
    parts.vectors = (call->n - parts.head) / width;
    parts.tail = call->n - parts.head - parts.vectors * width;
    return parts;
}
#endif
