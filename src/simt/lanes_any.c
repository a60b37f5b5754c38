/* lanes_any.c - elements moved whose lanes lie anywhere, and loads and stores of local memory, where that is so by
 * nature: a lane's stack is its own. Compiled once for each vector extension, as lanes.c is.
 *
 * Of local memory bounds are checked as vectors; what does not fit is the slow path's (access.c), which finds faults.
 * Observers of shapes are not told of it.
 */
#include "simt/lanes.h"

/* ---- elements ---- */
#ifdef __AVX512F__
/* Gathers and scatters take as long for one lane as for all. */
static ALWAYS_INLINE bool few(uint32_t mask)
{
    return __builtin_popcount(mask) <= 8;
}

/* Registers are written whole, idle lanes as they were: a load that follows could not have a part of a store at once.
 */
MG_NO_TSAN static ALWAYS_INLINE __m512i few_words(__m512i d, const uint8_t *base, const uint32_t *offset, uint32_t mask)
{
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        int word;
        memcpy(&word, base + offset[__builtin_ctz(rest)], sizeof word);
        d = _mm512_mask_set1_epi32(d, (__mmask16)(rest & -rest), word);
    }
    return d;
}

static ALWAYS_INLINE void load_words(uint32_t *d, const uint8_t *base, const uint32_t offset[32], uint32_t mask)
{
    if (few(mask)) {
        const __m512i low = few_words(_mm512_loadu_si512(d), base, offset, mask & 0xffff),
                      high = few_words(_mm512_loadu_si512(d + 16), base, offset + 16, mask >> 16);
        _mm512_storeu_si512(d, low);
        _mm512_storeu_si512(d + 16, high);
        return;
    }
    __m512i low = _mm512_mask_i32gather_epi32(_mm512_loadu_si512(d), (__mmask16)mask, _mm512_loadu_si512(offset), base,
                                              1),
            high = _mm512_mask_i32gather_epi32(_mm512_loadu_si512(d + 16), (__mmask16)(mask >> 16),
                                               _mm512_loadu_si512(offset + 16), base, 1);
    _mm512_storeu_si512(d, low);
    _mm512_storeu_si512(d + 16, high);
}

static ALWAYS_INLINE void load_longs(uint64_t *d, const uint8_t *base, const uint32_t offset[32], uint32_t mask)
{
    for (unsigned k = 0; k < 32; k += 8)
        _mm512_storeu_si512(d + k,
                            _mm512_mask_i32gather_epi64(_mm512_loadu_si512(d + k), (__mmask8)(mask >> k),
                                                        _mm256_loadu_si256((const void *)(offset + k)), base, 1));
}

/* Bytes (`bits` 8) and halves as words: the aligned words that they are in are gathered, of which no page has but a
 * part. */
static ALWAYS_INLINE void load_parts(uint32_t *d, const uint8_t *base, const uint32_t offset[32], uint32_t mask,
                                     const unsigned bits, const bool sext)
{
    const uint32_t skew = (uint32_t)(uintptr_t)base & 3;
    for (unsigned k = 0; k < 32; k += 16) {
        const __m512i at = _mm512_add_epi32(_mm512_loadu_si512(offset + k), _mm512_set1_epi32((int)skew)),
                      old = _mm512_loadu_si512(d + k);
        const __mmask16 some = (__mmask16)(mask >> k);
        const __m512i word =
            _mm512_mask_i32gather_epi32(old, some, _mm512_andnot_si512(_mm512_set1_epi32(3), at), base - skew, 1);
        /* to the top, and down again */
        const __m512i below = _mm512_slli_epi32(_mm512_and_si512(at, _mm512_set1_epi32(3)), 3),
                      up = _mm512_sllv_epi32(word, _mm512_sub_epi32(_mm512_set1_epi32(32 - (int)bits), below));
        const __m512i got = sext ? _mm512_srai_epi32(up, 32 - bits) : _mm512_srli_epi32(up, 32 - bits);
        _mm512_storeu_si512(d + k, _mm512_mask_mov_epi32(old, some, got));
    }
}
#define LOAD_PART(name, bits, sext)                                                                            \
    static ALWAYS_INLINE void name(uint32_t *d, const uint8_t *base, const uint32_t offset[32], uint32_t mask) \
    {                                                                                                          \
        load_parts(d, base, offset, mask, bits, sext);                                                         \
    }
LOAD_PART(u8_to_32, 8, false)
LOAD_PART(s8_to_32, 8, true)
LOAD_PART(u16_to_32, 16, false)
LOAD_PART(s16_to_32, 16, true)

MG_NO_TSAN static ALWAYS_INLINE void store_words(const uint32_t *s, uint8_t *base, const uint32_t offset[32],
                                                 uint32_t mask)
{
    if (few(mask)) {
        for (uint32_t rest = mask; rest; rest &= rest - 1)
            memcpy(base + offset[__builtin_ctz(rest)], &s[__builtin_ctz(rest)], 4);
        return;
    }
    _mm512_mask_i32scatter_epi32(base, (__mmask16)mask, _mm512_loadu_si512(offset), _mm512_loadu_si512(s), 1);
    _mm512_mask_i32scatter_epi32(base, (__mmask16)(mask >> 16), _mm512_loadu_si512(offset + 16),
                                 _mm512_loadu_si512(s + 16), 1);
}

static ALWAYS_INLINE void store_longs(const uint64_t *s, uint8_t *base, const uint32_t offset[32], uint32_t mask)
{
    for (unsigned k = 0; k < 32; k += 8)
        _mm512_mask_i32scatter_epi64(base, (__mmask8)(mask >> k), _mm256_loadu_si256((const void *)(offset + k)),
                                     _mm512_loadu_si512(s + k), 1);
}
#endif

/* Bytes and halves, what a wider register makes of an element, and all there is without larger vectors. Few lanes are
 * taken one by one; of more a vector is made of elements one after the other, of which idle lanes have an active one's,
 * for a store of its parts would be waited for by whoever reads it. */
#define LOAD_EACH(T, R)                                   \
    for (uint32_t rest = mask; rest; rest &= rest - 1) {  \
        const unsigned i = (unsigned)__builtin_ctz(rest); \
        T v;                                              \
        memcpy(&v, base + offset[i], sizeof v);           \
        d[i] = (R)v;                                      \
    }
#if defined(__AVX2__) && !defined(__AVX512F__)
#define AT(T, i) (*(const T __attribute__((aligned(1), may_alias)) *)(const void *)(base + at[i]))
#define VECTOR_32(T)                                                                                            \
    _mm256_setr_epi32((int)AT(T, 0), (int)AT(T, 1), (int)AT(T, 2), (int)AT(T, 3), (int)AT(T, 4), (int)AT(T, 5), \
                      (int)AT(T, 6), (int)AT(T, 7))
#define VECTOR_64(T) \
    _mm256_setr_epi64x((long long)AT(T, 0), (long long)AT(T, 1), (long long)AT(T, 2), (long long)AT(T, 3))
#define LOAD(name, T, R, bits)                                                                                     \
    MG_NO_TSAN static ALWAYS_INLINE void name(R *d, const uint8_t *base, const uint32_t offset[32], uint32_t mask) \
    {                                                                                                              \
        enum { N = 256 / bits };                                                                                   \
        if (__builtin_popcount(mask) <= 8) {                                                                       \
            LOAD_EACH(T, R)                                                                                        \
            return;                                                                                                \
        }                                                                                                          \
        const uint32_t any = offset[__builtin_ctz(mask)];                                                          \
        for (unsigned k = 0; k < 32; k += N) {                                                                     \
            uint32_t here[8] __attribute__((aligned(32)));                                                         \
            const uint32_t *const at = places_from(offset, mask, k, any, here);                                    \
            keep_##bits((uint32_t *)(void *)d, mask, k, VECTOR_##bits(T));                                         \
        }                                                                                                          \
    }
#define LOAD_32(name, T) LOAD(name, T, uint32_t, 32)
#define LOAD_64(name, T) LOAD(name, T, uint64_t, 64)
#else
#define LOAD(name, T, R)                                                                                           \
    MG_NO_TSAN static ALWAYS_INLINE void name(R *d, const uint8_t *base, const uint32_t offset[32], uint32_t mask) \
    {                                                                                                              \
        R got[32];                                                                                                 \
        if (mask != ~0u) {                                                                                         \
            LOAD_EACH(T, R)                                                                                        \
            return;                                                                                                \
        }                                                                                                          \
        for (unsigned i = 0; i < 32; i++) {                                                                        \
            T v;                                                                                                   \
            memcpy(&v, base + offset[i], sizeof v);                                                                \
            got[i] = (R)v;                                                                                         \
        }                                                                                                          \
        memcpy(d, got, sizeof got);                                                                                \
    }
#define LOAD_32(name, T) LOAD(name, T, uint32_t)
#define LOAD_64(name, T) LOAD(name, T, uint64_t)
#endif
#ifndef __AVX512F__
LOAD_32(u8_to_32, uint8_t)
LOAD_32(s8_to_32, int8_t)
LOAD_32(u16_to_32, uint16_t)
LOAD_32(s16_to_32, int16_t)
LOAD_32(load_words, uint32_t)
LOAD_64(load_longs, uint64_t)
#endif
LOAD_64(u8_to_64, uint8_t)
LOAD_64(s8_to_64, int8_t)
LOAD_64(u16_to_64, uint16_t)
LOAD_64(s16_to_64, int16_t)
LOAD_64(u32_to_64, uint32_t)
LOAD_64(s32_to_64, int32_t)
LOAD_32(low_of_64, uint64_t)

#define STORE_AS(name, T, R)                                                                                       \
    MG_NO_TSAN static ALWAYS_INLINE void name(const R *s, uint8_t *base, const uint32_t offset[32], uint32_t mask) \
    {                                                                                                              \
        if (mask == ~0u)                                                                                           \
            for (unsigned i = 0; i < 32; i++) {                                                                    \
                T v = (T)s[i];                                                                                     \
                memcpy(base + offset[i], &v, sizeof v);                                                            \
            }                                                                                                      \
        else                                                                                                       \
            for (uint32_t rest = mask; rest; rest &= rest - 1) {                                                   \
                T v = (T)s[__builtin_ctz(rest)];                                                                   \
                memcpy(base + offset[__builtin_ctz(rest)], &v, sizeof v);                                          \
            }                                                                                                      \
    }
#ifndef __AVX512F__
STORE_AS(store_words, uint32_t, uint32_t)
STORE_AS(store_longs, uint64_t, uint64_t)
#endif
STORE_AS(b8_of_32, uint8_t, uint32_t)
STORE_AS(b16_of_32, uint16_t, uint32_t)
STORE_AS(b64_of_32, uint64_t, uint32_t)
STORE_AS(b8_of_64, uint8_t, uint64_t)
STORE_AS(b16_of_64, uint16_t, uint64_t)
STORE_AS(b32_of_64, uint32_t, uint64_t)

static ALWAYS_INLINE unsigned kind_of(const struct mg_mem *mem)
{
    return (unsigned)__builtin_ctz(mem->width) << 2 | (unsigned)mem->dst64 << 1 | (unsigned)mem->sext;
}
enum { B8 = 0, B16 = 4, B32 = 8, B64 = 12, WIDE = 2, SIGNED = 1 };

#define FORM(kind, f)             \
    case kind:                    \
        f(d, base, offset, mask); \
        break;
#define BOTH(kind, f) FORM((kind), f) FORM((kind) | SIGNED, f)

MG_NO_TSAN void ISA(mg__load_elements)(void *d, const struct mg_mem *mem, uint32_t mask, const uint8_t *base,
                                       const uint32_t offset[32])
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

MG_NO_TSAN void ISA(mg__store_elements)(const void *d, const struct mg_mem *mem, uint32_t mask, uint8_t *base,
                                        const uint32_t offset[32])
{
    switch (kind_of(mem)) {
        BOTH(B8, b8_of_32)
        BOTH(B16, b16_of_32)
        BOTH(B32, store_words)
        BOTH(B64, b64_of_32)
        BOTH(B8 | WIDE, b8_of_64)
        BOTH(B16 | WIDE, b16_of_64)
        BOTH(B32 | WIDE, b32_of_64)
        BOTH(B64 | WIDE, store_longs)
    }
}

/* ---- local memory ---- */
/* Where the lanes are, in bytes from the first lane's stack, and whether they are at one address, which is a row of
 * words. False: not all of them are in their stacks, or aligned. */
static ALWAYS_INLINE bool places(const struct mg_warp *w, const struct mg_mem *mem, uint32_t mask, uint32_t offset[32],
                                 bool *row)
{
    const uint32_t from = (uint32_t)mem->offset + (mem->local_frame ? w->frame->local_base : 0),
                   bytes = (uint32_t)mem->width * mem->vec, stack = (uint32_t)w->e.local_bytes;
    if (w->worker->run->want_every || stack < bytes)
        return false;
    const void *reg = mem->addr < 0 ? NULL : mg__slot(w, mem->addr);
    uint32_t out = 0, apart = 0;
    for (unsigned i = 0; i < 32; i++)
        offset[i] = from + (!reg          ? 0
                            : mem->addr64 ? (uint32_t)((const uint64_t *)reg)[i]
                                          : ((const uint32_t *)reg)[i]);
    const uint32_t first = offset[__builtin_ctz(mask)], last = stack - bytes, odd = bytes - 1;
    for (unsigned i = 0; i < 32; i++) {
        const uint32_t at = offset[i], runs = mask & 1u << i ? ~0u : 0;
        out |= ((at > last ? ~0u : 0) | (at & odd)) & runs;
        apart |= (at ^ first) & runs;
        offset[i] = (at & ~3u) * 32 + (at & 3) + i * 4;
    }
    *row = !apart;
    return !out;
}

/* A word of each lane. */
static ALWAYS_INLINE void load_row(uint32_t *d, const uint8_t *base, const uint32_t offset[32], uint32_t mask, bool row)
{
    if (!row) {
        load_words(d, base, offset, mask);
        return;
    }
    const unsigned lane = (unsigned)__builtin_ctz(mask);
    const uint32_t *words = (const void *)(base + offset[lane] - lane * 4);
    for (unsigned i = 0; i < 32; i++)
        d[i] = mask >> i & 1 ? words[i] : d[i];
}

static ALWAYS_INLINE void store_row(const uint32_t *s, uint8_t *base, const uint32_t offset[32], uint32_t mask,
                                    bool row)
{
    if (!row) {
        store_words(s, base, offset, mask);
        return;
    }
    const unsigned lane = (unsigned)__builtin_ctz(mask);
    uint32_t *words = (void *)(base + offset[lane] - lane * 4);
    for (unsigned i = 0; i < 32; i++)
        words[i] = mask >> i & 1 ? s[i] : words[i];
}

static ALWAYS_INLINE void load_local(void *d, const struct mg_mem *mem, uint32_t mask, const uint8_t *base,
                                     const uint32_t offset[32], bool row)
{
    if (mem->width < 4 || (mem->width == 4 && mem->dst64)) {
        ISA(mg__load_elements)(d, mem, mask, base, offset);
        return;
    }
    if (!mem->dst64) {
        load_row(d, base, offset, mask, row);
        return;
    }
    uint32_t low[32] __attribute__((aligned(64))) = {0}, high[32] __attribute__((aligned(64))) = {0};
    load_row(low, base, offset, mask, row);
    load_row(high, base + mg__local_at(4, 0), offset, mask, row);
    for (unsigned i = 0; i < 32; i++)
        ((uint64_t *)d)[i] = mask >> i & 1 ? low[i] | (uint64_t)high[i] << 32 : ((uint64_t *)d)[i];
}

static ALWAYS_INLINE void store_local(const void *s, const struct mg_mem *mem, uint32_t mask, uint8_t *base,
                                      const uint32_t offset[32], bool row)
{
    if (mem->width < 4 || (mem->width == 4 && mem->dst64)) {
        ISA(mg__store_elements)(s, mem, mask, base, offset);
        return;
    }
    if (mem->width == 4) {
        store_row(s, base, offset, mask, row);
        return;
    }
    uint32_t low[32] __attribute__((aligned(64))), high[32] __attribute__((aligned(64)));
    for (unsigned i = 0; i < 32; i++) {
        const uint64_t x = mem->dst64 ? ((const uint64_t *)s)[i] : ((const uint32_t *)s)[i];
        low[i] = (uint32_t)x;
        high[i] = (uint32_t)(x >> 32);
    }
    store_row(low, base, offset, mask, row);
    store_row(high, base + mg__local_at(4, 0), offset, mask, row);
}

/* Of local memory: false where some lane is not in its stack, or its address not aligned. Apart, so that others have
 * none of its registers to keep. */
static __attribute__((noinline)) bool move_local(struct mg_warp *w, const struct mg_mem *mem, uint32_t mask)
{
    uint32_t offset[32] __attribute__((aligned(64)));
    bool row;
    if (!places(w, mem, mask, offset, &row))
        return false;
    for (unsigned v = 0; v < mem->vec; v++) {
        uint8_t *base = w->e.local + mg__local_at(v * mem->width, 0);
        if (mem->kind == MG_ACCESS_ST)
            store_local(mg__slot(w, mem->reg[v]), mem, mask, base, offset, row);
        else if (mem->reg[v] >= 0)
            load_local(mg__slot(w, mem->reg[v]), mem, mask, base, offset, row);
    }
    return true;
}

/* A site that is known to be irregular (access.c). */
static ALWAYS_INLINE bool skips(const struct mg_warp *w, const struct mg_mem *mem)
{
    struct mg_site *site = &w->sites[mem->site];
    if (!site->skip)
        return false;
    site->skip--;
    return true;
}

bool ISA(mg__load_any)(struct mg_warp *w, const struct mg_op *op, uint32_t mask)
{
    const struct mg_mem *mem = op->u.mem;
    if (mem->space == MG_SPACE_LOCAL)
        return move_local(w, mem, mask);
    return skips(w, mem) && ISA(mg__load_near)(w, op, mask);
}

bool ISA(mg__store_any)(struct mg_warp *w, const struct mg_op *op, uint32_t mask)
{
    const struct mg_mem *mem = op->u.mem;
    if (mem->space == MG_SPACE_LOCAL)
        return move_local(w, mem, mask);
    return skips(w, mem) && ISA(mg__store_near)(w, op, mask);
}
