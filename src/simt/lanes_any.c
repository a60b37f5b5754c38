/* lanes_any.c - loads and stores whose lanes lie anywhere: no shape is looked for, bounds are checked and elements
 * moved as vectors. Compiled once for each vector extension, as lanes.c is.
 *
 * It serves sites that are known to be irregular (access.c) and local memory, where lanes are active in shared memory,
 * in the object that the site reached last, or in the thread's stack. All else is the slow path's, which finds faults.
 */
#include "simt/lanes.h"

struct any {
    _Alignas(64) uint64_t address[32]; /* in the space */
    _Alignas(64) uint64_t host[32];
    uint64_t low, high; /* of the active lanes' addresses */
};

static ALWAYS_INLINE uint64_t lane_on(uint32_t mask, unsigned i)
{
    return 0u - (uint64_t)(mask >> i & 1u);
}

/* The addresses; false: some lane's is not aligned. */
static ALWAYS_INLINE bool addresses(const struct mg_warp *w, const struct mg_mem *mem, uint32_t mask, struct any *l)
{
    const uint64_t offset = (uint64_t)mem->offset + (mem->local_frame ? w->frame->local_base : 0);
    const void *reg = mg__slot(w, mem->addr);
    uint64_t low = UINT64_MAX, high = 0, bits = 0;
    if (mem->addr64)
        for (unsigned i = 0; i < 32; i++)
            l->address[i] = ((const uint64_t *)reg)[i] + offset;
    else
        for (unsigned i = 0; i < 32; i++)
            l->address[i] = (uint32_t)(((const uint32_t *)reg)[i] + (uint32_t)offset);
    for (unsigned i = 0; i < 32; i++) {
        uint64_t on = lane_on(mask, i), up = l->address[i] & on, down = l->address[i] | ~on;
        bits |= up;
        low = down < low ? down : low;
        high = up > high ? up : high;
    }
    l->low = low;
    l->high = high;
    return !(bits & ((uint64_t)mem->width * mem->vec - 1));
}

/* Where the lanes are in the host's memory; false: some are not where lanes of this site are known to be. */
static ALWAYS_INLINE bool places(const struct mg_warp *w, const struct mg_mem *mem, struct any *l)
{
    const unsigned bytes = mem->width * mem->vec;
    const struct mg_site *site = &w->sites[mem->site];
    const bool shared = mem->space == MG_SPACE_SHARED, local = mem->space == MG_SPACE_LOCAL;
    uint64_t lo = shared || local ? 0 : site->lo, hi = shared  ? w->block->shared_size
                                                       : local ? w->local_stride
                                                               : site->hi;
    if ((local && !w->local) || l->low < lo || hi < bytes || l->high > hi - bytes)
        return false;
    const uint64_t base = shared  ? (uint64_t)(uintptr_t)w->block->shared
                          : local ? (uint64_t)(uintptr_t)w->local
                                  : 0,
                   each = local ? w->local_stride : 0;
    for (unsigned i = 0; i < 32; i++)
        l->host[i] = l->address[i] + base + i * each;
    return true;
}

static __attribute__((noinline)) void tell(struct mg_warp *w, const struct mg_op *op, uint32_t mask,
                                           const struct any *l)
{
    const struct mg_mem *mem = op->u.mem;
    int32_t var = -1;
    uint64_t lo, hi;
    narrow();
    if (mem->space == MG_SPACE_SHARED)
        var = mg__shared_object(w, l->low, l->high + (uint64_t)mem->width * mem->vec, &lo, &hi);
    struct mg_access *e = mg__access_of_warp(w, op, mask, mem->space, var);
    e->address = l->address;
    mg__access_event(w->worker, e, MG_OBSERVE_SHAPES);
}

/* False: nothing was done, the slow path does it. */
static ALWAYS_INLINE bool begin(struct mg_warp *w, const struct mg_op *op, uint32_t mask, struct any *l)
{
    const struct mg_mem *mem = op->u.mem;
    const struct mg_run *run = w->worker->run;
    struct mg_site *site = &w->sites[mem->site];
    const bool local = mem->space == MG_SPACE_LOCAL;
    if ((!site->skip && !local) || mem->addr < 0 || mem->cluster || run->want_every || mem->space == MG_SPACE_GENERIC ||
        !addresses(w, mem, mask, l) || !places(w, mem, l))
        return false;
    site->skip -= !local;
    if (mem->leads) {
        w->leads[mem->lead].pattern = NULL;
        w->leads[mem->lead].shape = NULL;
    }
    if (run->want_shapes)
        tell(w, op, mask, l);
    return true;
}

/* ---- elements ---- */
#ifdef __AVX512F__
static ALWAYS_INLINE void load_words(uint32_t *d, const uint64_t host[32], uint32_t mask, int more)
{
    for (unsigned k = 0; k < 2; k++) {
        __m512i old = _mm512_loadu_si512(d + 16 * k);
        __m256i low = _mm512_mask_i64gather_epi32(
            _mm512_castsi512_si256(old), (__mmask8)(mask >> 16 * k),
            _mm512_add_epi64(_mm512_load_si512(host + 16 * k), _mm512_set1_epi64(more)), NULL, 1);
        __m256i high = _mm512_mask_i64gather_epi32(
            _mm512_extracti64x4_epi64(old, 1), (__mmask8)(mask >> (16 * k + 8)),
            _mm512_add_epi64(_mm512_load_si512(host + 16 * k + 8), _mm512_set1_epi64(more)), NULL, 1);
        _mm512_storeu_si512(d + 16 * k, _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1));
    }
}

static ALWAYS_INLINE void load_longs(uint64_t *d, const uint64_t host[32], uint32_t mask, int more)
{
    for (unsigned k = 0; k < 32; k += 8)
        _mm512_storeu_si512(
            d + k, _mm512_mask_i64gather_epi64(_mm512_loadu_si512(d + k), (__mmask8)(mask >> k),
                                               _mm512_add_epi64(_mm512_load_si512(host + k), _mm512_set1_epi64(more)),
                                               NULL, 1));
}
#else
static ALWAYS_INLINE void load_words(uint32_t *d, const uint64_t host[32], uint32_t mask, int more)
{
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        memcpy(&d[__builtin_ctz(rest)], (const void *)(uintptr_t)(host[__builtin_ctz(rest)] + (uint64_t)more), 4);
}

static ALWAYS_INLINE void load_longs(uint64_t *d, const uint64_t host[32], uint32_t mask, int more)
{
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        memcpy(&d[__builtin_ctz(rest)], (const void *)(uintptr_t)(host[__builtin_ctz(rest)] + (uint64_t)more), 8);
}
#endif

/* Bytes and halves, and what a wider register makes of an element: by way of words, idle lanes from a place of their
 * own. */
#define LOAD_AS(name, T, R)                                                                                  \
    MG_NO_TSAN static ALWAYS_INLINE void name(R *d, const uint64_t host[32], uint32_t mask, int more)        \
    {                                                                                                        \
        R got[32];                                                                                           \
        if (mask == ~0u)                                                                                     \
            for (unsigned i = 0; i < 32; i++) {                                                              \
                T v;                                                                                         \
                memcpy(&v, (const void *)(uintptr_t)(host[i] + (uint64_t)more), sizeof v);                   \
                got[i] = (R)v;                                                                               \
            }                                                                                                \
        else                                                                                                 \
            for (uint32_t rest = mask; rest; rest &= rest - 1) {                                             \
                T v;                                                                                         \
                memcpy(&v, (const void *)(uintptr_t)(host[__builtin_ctz(rest)] + (uint64_t)more), sizeof v); \
                d[__builtin_ctz(rest)] = (R)v;                                                               \
            }                                                                                                \
        if (mask == ~0u)                                                                                     \
            memcpy(d, got, sizeof got);                                                                      \
    }
LOAD_AS(u8_to_32, uint8_t, uint32_t)
LOAD_AS(s8_to_32, int8_t, uint32_t)
LOAD_AS(u16_to_32, uint16_t, uint32_t)
LOAD_AS(s16_to_32, int16_t, uint32_t)
LOAD_AS(u8_to_64, uint8_t, uint64_t)
LOAD_AS(s8_to_64, int8_t, uint64_t)
LOAD_AS(u16_to_64, uint16_t, uint64_t)
LOAD_AS(s16_to_64, int16_t, uint64_t)
LOAD_AS(u32_to_64, uint32_t, uint64_t)
LOAD_AS(s32_to_64, int32_t, uint64_t)
LOAD_AS(low_of_64, uint64_t, uint32_t)

#define STORE_AS(name, T, R)                                                                                \
    MG_NO_TSAN static ALWAYS_INLINE void name(const R *s, const uint64_t host[32], uint32_t mask, int more) \
    {                                                                                                       \
        if (mask == ~0u)                                                                                    \
            for (unsigned i = 0; i < 32; i++) {                                                             \
                T v = (T)s[i];                                                                              \
                memcpy((void *)(uintptr_t)(host[i] + (uint64_t)more), &v, sizeof v);                        \
            }                                                                                               \
        else                                                                                                \
            for (uint32_t rest = mask; rest; rest &= rest - 1) {                                            \
                T v = (T)s[__builtin_ctz(rest)];                                                            \
                memcpy((void *)(uintptr_t)(host[__builtin_ctz(rest)] + (uint64_t)more), &v, sizeof v);      \
            }                                                                                               \
    }
STORE_AS(b8_of_32, uint8_t, uint32_t)
STORE_AS(b16_of_32, uint16_t, uint32_t)
STORE_AS(b32_of_32, uint32_t, uint32_t)
STORE_AS(b64_of_32, uint64_t, uint32_t)
STORE_AS(b8_of_64, uint8_t, uint64_t)
STORE_AS(b16_of_64, uint16_t, uint64_t)
STORE_AS(b32_of_64, uint32_t, uint64_t)
STORE_AS(b64_of_64, uint64_t, uint64_t)

static ALWAYS_INLINE unsigned kind_of(const struct mg_mem *mem)
{
    return (unsigned)__builtin_ctz(mem->width) << 2 | (unsigned)mem->dst64 << 1 | (unsigned)mem->sext;
}
enum { B8 = 0, B16 = 4, B32 = 8, B64 = 12, WIDE = 2, SIGNED = 1 };

#define FORM(kind, f)           \
    case kind:                  \
        f(d, host, mask, more); \
        break;
#define BOTH(kind, f) FORM((kind), f) FORM((kind) | SIGNED, f)

MG_NO_TSAN static void load_elements(void *d, const struct mg_mem *mem, uint32_t mask, const uint64_t host[32],
                                     int more)
{
    switch (kind_of(mem)) {
        FORM(B8, u8_to_32)
        FORM(B8 | SIGNED, s8_to_32)
        FORM(B16, u16_to_32)
        FORM(B16 | SIGNED, s16_to_32)
        BOTH(B32, load_words)
        BOTH(B64, low_of_64)
        FORM(B8 | WIDE, u8_to_64)
        FORM(B8 | WIDE | SIGNED, s8_to_64)
        FORM(B16 | WIDE, u16_to_64)
        FORM(B16 | WIDE | SIGNED, s16_to_64)
        FORM(B32 | WIDE, u32_to_64)
        FORM(B32 | WIDE | SIGNED, s32_to_64)
        BOTH(B64 | WIDE, load_longs)
    }
}

MG_NO_TSAN static void store_elements(const void *d, const struct mg_mem *mem, uint32_t mask, const uint64_t host[32],
                                      int more)
{
    switch (kind_of(mem)) {
        BOTH(B8, b8_of_32)
        BOTH(B16, b16_of_32)
        BOTH(B32, b32_of_32)
        BOTH(B64, b64_of_32)
        BOTH(B8 | WIDE, b8_of_64)
        BOTH(B16 | WIDE, b16_of_64)
        BOTH(B32 | WIDE, b32_of_64)
        BOTH(B64 | WIDE, b64_of_64)
    }
}

bool ISA(mg__load_any)(struct mg_warp *w, const struct mg_op *op, uint32_t mask)
{
    const struct mg_mem *mem = op->u.mem;
    struct any l;
    if (!begin(w, op, mask, &l))
        return false;
    for (unsigned v = 0; v < mem->vec; v++)
        if (mem->reg[v] >= 0)
            load_elements(mg__slot(w, mem->reg[v]), mem, mask, l.host, (int)(v * mem->width));
    return true;
}

bool ISA(mg__store_any)(struct mg_warp *w, const struct mg_op *op, uint32_t mask)
{
    const struct mg_mem *mem = op->u.mem;
    struct any l;
    if (!begin(w, op, mask, &l))
        return false;
    for (unsigned v = 0; v < mem->vec; v++)
        store_elements(mg__slot(w, mem->reg[v]), mem, mask, l.host, (int)(v * mem->width));
    return true;
}
