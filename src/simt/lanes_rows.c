/* lanes_rows.c - loads and stores of compiled code whose lanes are not known to lie on a line, and of atomics: bounds
 * are one comparison of vectors with the object that the site reached last (rows.c), and what the observers are to know
 * is kept until there is more. Lanes that are contiguous, under whichever mask, are found at run time and moved as they
 * lie. Compiled once for each vector extension, as lanes.c is; with AVX-512 others are gathered and scattered, with
 * AVX2 quads and what is close together is turned, and the rest, as everything without either, moved one by one.
 */
#include "simt/engine_priv.h"
#include "simt/lanes.h"

/* Where the lanes are, in bytes from the object's base: a row of the site's. */
struct near {
    const uint32_t *offset;
    uint8_t *base; /* the host's */
    bool line;     /* the lanes are contiguous, with lane 0 at `first` */
    struct mg_rows_shape *shape; /* how they lie if they are not, where others of the site did so; else NULL */
    uint32_t first;
#ifdef __AVX512F__
    __m512i at[2]; /* `offset` */
#endif
};

/* ---- where they are ---- */
#ifdef __AVX512F__
static ALWAYS_INLINE bool inside(const struct mg_warp *w, const struct mg_mem *m, const struct mg_rows *r,
                                 uint32_t mask, struct near *n)
{
    const void *reg = mg__slot(w, m->addr);
    const __m512i skew = _mm512_set1_epi32((int)(uint32_t)(r->from - r->base));
    unsigned out = 0;
    if (m->addr64) {
        const __m512i from = _mm512_set1_epi64((long long)(r->from - (uint64_t)m->offset)),
                      most = _mm512_set1_epi64((long long)r->most), shift = _mm512_set1_epi64(r->shift);
        for (unsigned k = 0; k < 2; k++) {
            __m512i a = _mm512_sub_epi64(_mm512_loadu_si512((const uint64_t *)reg + 16 * k), from),
                    b = _mm512_sub_epi64(_mm512_loadu_si512((const uint64_t *)reg + 16 * k + 8), from);
            out |= _mm512_mask_cmpgt_epu64_mask((__mmask8)(mask >> 16 * k), _mm512_rorv_epi64(a, shift), most);
            out |= _mm512_mask_cmpgt_epu64_mask((__mmask8)(mask >> (16 * k + 8)), _mm512_rorv_epi64(b, shift), most);
            n->at[k] = _mm512_add_epi32(skew, _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi64_epi32(a)),
                                                                 _mm512_cvtepi64_epi32(b), 1));
        }
    } else {
        const __m512i from = _mm512_set1_epi32((int)((uint32_t)r->from - (uint32_t)m->offset)),
                      most = _mm512_set1_epi32((int)(uint32_t)r->most), shift = _mm512_set1_epi32(r->shift);
        for (unsigned k = 0; k < 2; k++) {
            __m512i a = _mm512_sub_epi32(_mm512_loadu_si512((const uint32_t *)reg + 16 * k), from);
            out |= _mm512_mask_cmpgt_epu32_mask((__mmask16)(mask >> 16 * k), _mm512_rorv_epi32(a, shift), most);
            n->at[k] = _mm512_add_epi32(skew, a);
        }
    }
    return out == 0;
}

static ALWAYS_INLINE bool contiguous(const struct near *n, uint32_t mask, uint32_t first, uint32_t shift)
{
    const __m512i from = _mm512_set1_epi32((int)first), by = _mm512_set1_epi32((int)shift);
    const __m512i lane = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512i low = _mm512_add_epi32(from, _mm512_sllv_epi32(lane, by));
    const __m512i high = _mm512_add_epi32(low, _mm512_sllv_epi32(_mm512_set1_epi32(16), by));
    return _mm512_kortestz(_mm512_mask_cmpneq_epi32_mask((__mmask16)mask, n->at[0], low),
                           _mm512_mask_cmpneq_epi32_mask((__mmask16)(mask >> 16), n->at[1], high));
}

static ALWAYS_INLINE bool like_shape(const struct mg_rows_shape *s, const struct near *n, uint32_t mask)
{
    const __m512i from = _mm512_set1_epi32((int)n->first);
    return _mm512_kortestz(
        _mm512_mask_cmpneq_epi32_mask((__mmask16)mask, n->at[0], _mm512_add_epi32(from, _mm512_load_si512(s->from))),
        _mm512_mask_cmpneq_epi32_mask((__mmask16)(mask >> 16), n->at[1],
                                      _mm512_add_epi32(from, _mm512_load_si512(s->from + 16))));
}

static ALWAYS_INLINE void learn_shape(struct mg_rows_shape *s, const struct near *n)
{
    const __m512i from = _mm512_set1_epi32((int)n->first);
    _mm512_store_si512(s->from, _mm512_sub_epi32(n->at[0], from));
    _mm512_store_si512(s->from + 16, _mm512_sub_epi32(n->at[1], from));
}

static ALWAYS_INLINE void keep(const struct near *n)
{
    uint32_t *offset = (uint32_t *)(uintptr_t)n->offset;
    _mm512_store_si512(offset, n->at[0]);
    _mm512_store_si512(offset + 16, n->at[1]);
}

/* Where lane 0 is, or were if they lay on the line of the first lane that runs. */
static ALWAYS_INLINE uint32_t first_of(const struct near *n, uint32_t mask, uint32_t shift)
{
    const unsigned lane = (unsigned)__builtin_ctz(mask);
    const __m512i half = lane < 16 ? n->at[0] : n->at[1];
    const __m512i there = _mm512_permutexvar_epi32(_mm512_set1_epi32((int)lane), half); /* its low bits alone */
    return (uint32_t)_mm_cvtsi128_si32(_mm512_castsi512_si128(there)) - (lane << shift);
}
#elif defined(__AVX2__)
static ALWAYS_INLINE __m256i load8(const uint32_t *from)
{
    return _mm256_load_si256((const void *)from);
}

/* Whether a > b, both without a sign. */
static ALWAYS_INLINE __m256i above32(__m256i a, __m256i b)
{
    const __m256i sign = _mm256_set1_epi32(INT32_MIN);
    return _mm256_cmpgt_epi32(_mm256_xor_si256(a, sign), _mm256_xor_si256(b, sign));
}

static ALWAYS_INLINE __m256i above64(__m256i a, __m256i b)
{
    const __m256i sign = _mm256_set1_epi64x(INT64_MIN);
    return _mm256_cmpgt_epi64(_mm256_xor_si256(a, sign), _mm256_xor_si256(b, sign));
}

/* The low halves of 8 words of 64 bits. */
static ALWAYS_INLINE __m256i low_halves(__m256i a, __m256i b)
{
    const __m256 low = _mm256_shuffle_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), 0x88);
    return _mm256_permute4x64_epi64(_mm256_castps_si256(low), 0xd8);
}

/* Turned right by the unit's bits, a place that is no multiple of it is beyond all others; of 0 bits the left shift has
 * nothing left. */
static ALWAYS_INLINE bool inside(const struct mg_warp *w, const struct mg_mem *m, const struct mg_rows *r,
                                 uint32_t mask, struct near *n)
{
    const void *reg = mg__slot(w, m->addr);
    uint32_t *offset = (uint32_t *)(uintptr_t)n->offset;
    const unsigned bits = m->addr64 ? 64 : 32;
    const __m256i skew = _mm256_set1_epi32((int)(uint32_t)(r->from - r->base));
    const __m128i right = _mm_cvtsi32_si128(r->shift), left = _mm_cvtsi32_si128((int)bits - r->shift);
    __m256i out = _mm256_setzero_si256();
    if (m->addr64) {
        const __m256i from = _mm256_set1_epi64x((long long)(r->from - (uint64_t)m->offset)),
                      most = _mm256_set1_epi64x((long long)r->most);
        for (unsigned k = 0; k < 32; k += 8) {
            __m256i a[2], far[2];
            for (unsigned h = 0; h < 2; h++) {
                a[h] = _mm256_sub_epi64(_mm256_loadu_si256((const void *)((const uint64_t *)reg + k + 4 * h)), from);
                far[h] = above64(_mm256_or_si256(_mm256_srl_epi64(a[h], right), _mm256_sll_epi64(a[h], left)), most);
            }
            out = _mm256_or_si256(out, _mm256_and_si256(low_halves(far[0], far[1]), lanes_of(mask, k)));
            _mm256_store_si256((void *)(offset + k), _mm256_add_epi32(low_halves(a[0], a[1]), skew));
        }
    } else {
        const __m256i from = _mm256_set1_epi32((int)((uint32_t)r->from - (uint32_t)m->offset)),
                      most = _mm256_set1_epi32((int)(uint32_t)r->most);
        for (unsigned k = 0; k < 32; k += 8) {
            const __m256i a = _mm256_sub_epi32(_mm256_loadu_si256((const void *)((const uint32_t *)reg + k)), from),
                          turned = _mm256_or_si256(_mm256_srl_epi32(a, right), _mm256_sll_epi32(a, left));
            out = _mm256_or_si256(out, _mm256_and_si256(above32(turned, most), lanes_of(mask, k)));
            _mm256_store_si256((void *)(offset + k), _mm256_add_epi32(a, skew));
        }
    }
    return _mm256_testz_si256(out, out);
}

/* Whether each lane that runs is as far from `first` as it is said to be. */
static ALWAYS_INLINE bool lie_at(const struct near *n, uint32_t mask, uint32_t first, const __m256i from[4])
{
    const __m256i base = _mm256_set1_epi32((int)first);
    __m256i differ = _mm256_setzero_si256();
    for (unsigned k = 0; k < 4; k++) {
        const __m256i d = _mm256_xor_si256(load8(n->offset + 8 * k), _mm256_add_epi32(base, from[k]));
        differ = _mm256_or_si256(differ, mask == ~0u ? d : _mm256_and_si256(d, lanes_of(mask, 8 * k)));
    }
    return _mm256_testz_si256(differ, differ);
}

static ALWAYS_INLINE bool contiguous(const struct near *n, uint32_t mask, uint32_t first, uint32_t shift)
{
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    __m256i from[4];
    for (unsigned k = 0; k < 4; k++)
        from[k] =
            _mm256_sll_epi32(_mm256_add_epi32(lane, _mm256_set1_epi32(8 * (int)k)), _mm_cvtsi32_si128((int)shift));
    return lie_at(n, mask, first, from);
}

static ALWAYS_INLINE bool like_shape(const struct mg_rows_shape *s, const struct near *n, uint32_t mask)
{
    const __m256i from[4] = {load8(s->from), load8(s->from + 8), load8(s->from + 16), load8(s->from + 24)};
    return lie_at(n, mask, n->first, from);
}

static ALWAYS_INLINE void learn_shape(struct mg_rows_shape *s, const struct near *n)
{
    const __m256i from = _mm256_set1_epi32((int)n->first);
    for (unsigned k = 0; k < 32; k += 8)
        _mm256_store_si256((void *)(s->from + k), _mm256_sub_epi32(load8(n->offset + k), from));
}
#else
static ALWAYS_INLINE bool inside(const struct mg_warp *w, const struct mg_mem *m, const struct mg_rows *r,
                                 uint32_t mask, struct near *n)
{
    const void *reg = mg__slot(w, m->addr);
    uint32_t *offset = (uint32_t *)(uintptr_t)n->offset, out = 0;
    const uint32_t skew = (uint32_t)(r->from - r->base), shift = r->shift;
    if (m->addr64) {
        const uint64_t from = r->from - (uint64_t)m->offset, most = r->most;
        for (unsigned i = 0; i < 32; i++) {
            uint64_t a = ((const uint64_t *)reg)[i] - from, unit = a >> shift | (shift ? a << (64 - shift) : 0);
            out |= (uint32_t)(unit > most) << i;
            offset[i] = (uint32_t)a + skew;
        }
    } else {
        const uint32_t from = (uint32_t)r->from - (uint32_t)m->offset, most = (uint32_t)r->most;
        for (unsigned i = 0; i < 32; i++) {
            uint32_t a = ((const uint32_t *)reg)[i] - from, unit = a >> shift | (shift ? a << (32 - shift) : 0);
            out |= (uint32_t)(unit > most) << i;
            offset[i] = a + skew;
        }
    }
    return !(out & mask);
}

static ALWAYS_INLINE bool contiguous(const struct near *n, uint32_t mask, uint32_t first, uint32_t shift)
{
    uint32_t differ = 0;
    for (unsigned i = 0; i < 32; i++)
        differ |= (n->offset[i] ^ (first + (i << shift))) & (0u - (mask >> i & 1u));
    return differ == 0;
}

static ALWAYS_INLINE bool like_shape(const struct mg_rows_shape *s, const struct near *n, uint32_t mask)
{
    uint32_t differ = 0;
    for (unsigned i = 0; i < 32; i++)
        differ |= (n->offset[i] ^ (n->first + s->from[i])) & (0u - (mask >> i & 1u));
    return differ == 0;
}

static ALWAYS_INLINE void learn_shape(struct mg_rows_shape *s, const struct near *n)
{
    for (unsigned i = 0; i < 32; i++)
        s->from[i] = n->offset[i] - n->first;
}
#endif

#ifndef __AVX512F__
static ALWAYS_INLINE void keep(const struct near *n)
{
    (void)n;
}

static ALWAYS_INLINE uint32_t first_of(const struct near *n, uint32_t mask, uint32_t shift)
{
    const unsigned lane = (unsigned)__builtin_ctz(mask);
    return n->offset[lane] - (lane << shift);
}
#endif

/* Out of the way. */
static __attribute__((noinline)) struct mg_rows *open(struct mg_warp *w, const struct mg_op *op, uint32_t mask)
{
    narrow();
    return mg__rows_open(w, op, mask);
}

static __attribute__((noinline)) void tell(struct mg_worker *worker, struct mg_rows *r)
{
    narrow();
    mg__rows_tell(worker, r);
}

static __attribute__((noinline)) void settle_shape(struct mg_worker *worker, const struct mg_rows *r,
                                                   struct mg_rows_shape *s)
{
    narrow();
    mg__rows_settle_shape(worker, r, s);
}

static __attribute__((noinline)) void find_window(const struct mg_rows *r, struct mg_rows_shape *s)
{
    narrow();
    mg__rows_window(&s->window, r->op->u.mem, s->from, s->mask);
    s->looked = true;
}

/* How the lanes lie, if those of an earlier access did. If not it is what is looked for from now on, in place of a
 * shape that has not served for a while; and where lanes lie anew each time nobody looks for some accesses. */
#define ALIKE 16u  /* times in a row, before compiled code looks for it itself */
#define COUNTED 3u /* before it is worth counting by */
#define CREDIT 4u
#define TIRED_AFTER 8u
#define TIRED_FOR 56u
static ALWAYS_INLINE struct mg_rows_shape *shape_of(struct mg_warp *w, struct mg_rows *r, uint32_t mask,
                                                    const struct near *n)
{
    if (r->tired) {
        r->tired--;
        return NULL;
    }
    for (unsigned k = r->current, i = 0; i < MG_SHAPES; i++, k = (k + 1) % MG_SHAPES) {
        struct mg_rows_shape *s = &r->shapes[k];
        if (s->mask != mask || !like_shape(s, n, mask))
            continue;
        if (MG_UNLIKELY(!s->looked))
            find_window(r, s);
        r->strange = 0;
        r->alike = k == r->current || w->worker->phases > 1 ? (uint8_t)MG_MIN(r->alike + 1u, ALIKE) : 0;
        r->current = (uint8_t)k;
        s->credit = CREDIT;
        return s;
    }
    if (++r->strange == TIRED_AFTER) {
        r->strange = 0;
        r->tired = TIRED_FOR;
    }
    struct mg_rows_shape *s = &r->shapes[(r->current + r->strange) % MG_SHAPES];
    if (s->credit) {
        s->credit--;
        return NULL;
    }
    if (s->counted)
        settle_shape(w->worker, r, s);
    learn_shape(s, n);
    if (s == &r->shapes[r->current])
        r->alike = 0;
    s->mask = mask;
    s->again = 0;
    s->looked = false;
    return NULL;
}

/* The rows of lanes that a warp reads in a loop are as far apart as the last two were, and too far for the processor to
 * see. */
static ALWAYS_INLINE void fetch_ahead(struct mg_rows *r, const struct near *n)
{
    const uint8_t *next = n->base + (int64_t)(int32_t)(2 * n->first - r->last);
    __builtin_prefetch(next);
    if (r->shift > 1)
        __builtin_prefetch(next + 64);
    r->last = n->first;
}

static ALWAYS_INLINE void count(struct mg_warp *w, struct mg_rows *r, uint32_t mask, const struct near *n)
{
    if (n->line && r->line_mask == mask) {
        r->lines[n->first % MG_COUNT(r->lines)]++;
        r->nlines++;
        return;
    }
    if (n->shape && n->shape->again++ == COUNTED) {
        n->shape->again = COUNTED;
        n->shape->counted = true;
        n->shape->times[n->first % MG_COUNT(n->shape->times)]++;
        return;
    }
    r->mask[r->untold++] = mask;
    if (MG_UNLIKELY(r->untold == MG_ROWS)) {
        tell(w->worker, r);
        r->line_mask = n->line && r->counts_lines ? mask : 0;
    }
}

/* False: they are not in one object, and nothing was done. Else they are counted. `r`: the site's, or NULL. */
static ALWAYS_INLINE bool begin(struct mg_warp *w, const struct mg_op *op, uint32_t mask, struct mg_rows *r,
                                struct near *n)
{
    const struct mg_mem *m = op->u.mem;
    n->offset = r ? r->offset[r->untold] : NULL;
    if (MG_UNLIKELY(!r || !r->open || !inside(w, m, r, mask, n))) {
        r = open(w, op, mask);
        if (!r)
            return false;
        n->offset = r->offset[r->untold];
        if (!inside(w, m, r, mask, n))
            return false;
    }
    if (m->leads) { /* those that follow look for themselves */
        w->leads[m->lead].pattern = NULL;
        w->leads[m->lead].shape = NULL;
    }
    n->base = r->at ? r->at : w->block->shared + r->base;
    n->first = first_of(n, mask, r->shift);
    n->line = contiguous(n, mask, n->first, r->shift);
    n->shape = n->line || !r->counts_lines ? NULL : shape_of(w, r, mask, n);
    w->e.line = n->line ? MG_ENGINE_LINE : n->shape && r->alike == ALIKE && mask == ~0u ? MG_ENGINE_OTHERWISE : 0;
    r->served++;
    if (n->line)
        fetch_ahead(r, n);
    if (!n->line || (r->told && r->line_mask != mask)) /* a line is not asked for them */
        keep(n);
    if (r->told)
        count(w, r, mask, n);
    return true;
}

/* ---- moves ---- */
#ifdef __AVX512F__
/* One element a lane of contiguous ones; false: not of this kind. */
static ALWAYS_INLINE bool load_line(const struct mg_mem *m, void *reg, uint32_t mask, const uint8_t *p)
{
    uint32_t *d = reg;
    const __mmask16 low = (__mmask16)mask, high = (__mmask16)(mask >> 16);
    if (m->dst64 ? m->width != 8 : m->sext && m->width < 4)
        return false;
    if (m->width == 4) {
        _mm512_storeu_si512(d, _mm512_mask_loadu_epi32(_mm512_loadu_si512(d), low, p));
        _mm512_storeu_si512(d + 16, _mm512_mask_loadu_epi32(_mm512_loadu_si512(d + 16), high, p + 64));
    } else if (m->width == 8 && m->dst64) {
        for (unsigned k = 0; k < 4; k++)
            _mm512_storeu_si512(d + 16 * k, _mm512_mask_loadu_epi64(_mm512_loadu_si512(d + 16 * k),
                                                                    (__mmask8)(mask >> 8 * k), p + 64 * k));
    } else if (m->width == 1) {
        __m256i all = _mm256_maskz_loadu_epi8(mask, p);
        _mm512_storeu_si512(d, _mm512_mask_cvtepu8_epi32(_mm512_loadu_si512(d), low, _mm256_castsi256_si128(all)));
        _mm512_storeu_si512(
            d + 16, _mm512_mask_cvtepu8_epi32(_mm512_loadu_si512(d + 16), high, _mm256_extracti128_si256(all, 1)));
    } else if (m->width == 2) {
        __m512i all = _mm512_maskz_loadu_epi16(mask, p);
        _mm512_storeu_si512(d, _mm512_mask_cvtepu16_epi32(_mm512_loadu_si512(d), low, _mm512_castsi512_si256(all)));
        _mm512_storeu_si512(
            d + 16, _mm512_mask_cvtepu16_epi32(_mm512_loadu_si512(d + 16), high, _mm512_extracti64x4_epi64(all, 1)));
    } else {
        return false;
    }
    return true;
}

/* Four words a lane: lanes are loaded whole, four to a vector, and turned. Idle lanes load what an active one does. */
static ALWAYS_INLINE bool load_quads(struct mg_warp *w, const struct mg_mem *m, uint32_t mask, const struct near *n)
{
    const __m512i two = _mm512_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28, 1, 5, 9, 13, 17, 21, 25, 29);
    const __m512i more = _mm512_add_epi32(two, _mm512_set1_epi32(2));
    const unsigned lane = (unsigned)__builtin_ctz(mask);
    const __m512i any = _mm512_permutexvar_epi32(_mm512_set1_epi32((int)lane), lane < 16 ? n->at[0] : n->at[1]);
    for (unsigned half = 0; half < 2; half++) {
        const __mmask16 some = (__mmask16)(mask >> 16 * half);
        uint32_t at[16] __attribute__((aligned(64)));
        __m512i four[4];
        if (!some)
            continue;
        _mm512_store_si512(at, _mm512_mask_mov_epi32(any, some, n->at[half]));
        for (unsigned k = 0; k < 4; k++) {
            const uint8_t *const p = n->base;
            four[k] = _mm512_castsi128_si512(_mm_loadu_si128((const void *)(p + at[4 * k])));
            four[k] = _mm512_inserti32x4(four[k], _mm_loadu_si128((const void *)(p + at[4 * k + 1])), 1);
            four[k] = _mm512_inserti32x4(four[k], _mm_loadu_si128((const void *)(p + at[4 * k + 2])), 2);
            four[k] = _mm512_inserti32x4(four[k], _mm_loadu_si128((const void *)(p + at[4 * k + 3])), 3);
        }
        for (unsigned v = 0; v < 4; v += 2) {
            const __m512i low = _mm512_permutex2var_epi32(four[0], v ? more : two, four[1]),
                          high = _mm512_permutex2var_epi32(four[2], v ? more : two, four[3]);
            const __m512i got[2] = {_mm512_shuffle_i64x2(low, high, 0x44), _mm512_shuffle_i64x2(low, high, 0xee)};
            for (unsigned k = 0; k < 2; k++) {
                uint32_t *d = (uint32_t *)mg__slot(w, MG_MAX(m->reg[v + k], 0)) + 16 * half;
                if (m->reg[v + k] >= 0) /* whole, as load_words does */
                    _mm512_storeu_si512(d, _mm512_mask_mov_epi32(_mm512_loadu_si512(d), some, got[k]));
            }
        }
    }
    return true;
}

/* All lanes are in a few bytes, as a row of a tile that several rows of lanes read. */
static ALWAYS_INLINE bool load_window(struct mg_warp *w, const struct mg_mem *m, uint32_t mask,
                                      const struct mg_window *window, const uint8_t *p)
{
    const __m512i low = _mm512_maskz_loadu_epi32(window->in[0], p),
                  high = _mm512_maskz_loadu_epi32(window->in[1], p + 64);
    for (unsigned v = 0; v < m->vec; v++) {
        uint32_t *d = (uint32_t *)mg__slot(w, MG_MAX(m->reg[v], 0));
        if (m->reg[v] < 0)
            continue;
        if (m->width == 4)
            for (unsigned k = 0; k < 2; k++) {
                const __m512i at =
                    _mm512_add_epi32(_mm512_load_si512(window->index + 16 * k), _mm512_set1_epi32((int)v));
                _mm512_storeu_si512(d + 16 * k,
                                    _mm512_mask_mov_epi32(_mm512_loadu_si512(d + 16 * k), (__mmask16)(mask >> 16 * k),
                                                          _mm512_permutex2var_epi32(low, at, high)));
            }
        else
            for (unsigned k = 0; k < 4; k++) {
                const __m512i at =
                    _mm512_add_epi64(_mm512_cvtepu32_epi64(_mm256_load_si256((const void *)(window->index + 8 * k))),
                                     _mm512_set1_epi64(v));
                _mm512_storeu_si512(d + 16 * k,
                                    _mm512_mask_mov_epi64(_mm512_loadu_si512(d + 16 * k), (__mmask8)(mask >> 8 * k),
                                                          _mm512_permutex2var_epi64(low, at, high)));
            }
    }
    return true;
}

static ALWAYS_INLINE bool store_line(const struct mg_mem *m, const void *reg, uint32_t mask, uint8_t *p)
{
    const uint32_t *s = reg;
    if (m->dst64 ? m->width != 8 : m->width > 4)
        return false;
    for (unsigned k = 0; k < 4 && m->width == 8; k++)
        _mm512_mask_storeu_epi64(p + 64 * k, (__mmask8)(mask >> 8 * k), _mm512_loadu_si512(s + 16 * k));
    for (unsigned k = 0; k < 2 && m->width == 4; k++)
        _mm512_mask_storeu_epi32(p + 64 * k, (__mmask16)(mask >> 16 * k), _mm512_loadu_si512(s + 16 * k));
    for (unsigned k = 0; k < 2 && m->width == 2; k++)
        _mm256_mask_storeu_epi16(p + 32 * k, (__mmask16)(mask >> 16 * k),
                                 _mm512_cvtepi32_epi16(_mm512_loadu_si512(s + 16 * k)));
    for (unsigned k = 0; k < 2 && m->width == 1; k++)
        _mm_mask_storeu_epi8(p + 16 * k, (__mmask16)(mask >> 16 * k),
                             _mm512_cvtepi32_epi8(_mm512_loadu_si512(s + 16 * k)));
    return true;
}
#elif defined(__AVX2__)
MG_NO_TSAN static ALWAYS_INLINE bool load_line(const struct mg_mem *m, void *reg, uint32_t mask, const uint8_t *p)
{
    uint32_t *d = reg;
    if (m->width == 4 && !m->dst64) {
        for (unsigned k = 0; k < 32; k += 8)
            keep_32(d, mask, k,
                    mask == ~0u ? _mm256_loadu_si256((const void *)(p + 4 * k))
                                : _mm256_maskload_epi32((const int *)(const void *)(p + 4 * k), lanes_of(mask, k)));
    } else if (m->width == 8 && m->dst64) {
        for (unsigned k = 0; k < 32; k += 4)
            keep_64(d, mask, k,
                    mask == ~0u
                        ? _mm256_loadu_si256((const void *)(p + 8 * k))
                        : _mm256_maskload_epi64((const long long *)(const void *)(p + 8 * k), pairs_of(mask, k)));
    } else if (mask == ~0u && m->width < 4 && !m->dst64 && !m->sext) { /* there are no masks for so small ones */
        for (unsigned k = 0; k < 32; k += 8)
            keep_32(d, mask, k,
                    m->width == 1 ? _mm256_cvtepu8_epi32(_mm_loadl_epi64((const void *)(p + k)))
                                  : _mm256_cvtepu16_epi32(_mm_loadu_si128((const void *)(p + 2 * k))));
    } else {
        return false;
    }
    return true;
}

/* As with larger vectors, eight lanes at a time. */
MG_NO_TSAN static ALWAYS_INLINE bool load_quads(struct mg_warp *w, const struct mg_mem *m, uint32_t mask,
                                                const struct near *n)
{
    const uint32_t any = n->offset[__builtin_ctz(mask)];
    for (unsigned k = 0; k < 32; k += 8) {
        uint32_t here[8] __attribute__((aligned(32)));
        const uint32_t *const at = places_from(n->offset, mask, k, any, here);
        __m256i row[4], two[4], got[4];
        for (unsigned i = 0; i < 4; i++)
            row[i] = _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const void *)(n->base + at[i]))),
                                             _mm_loadu_si128((const void *)(n->base + at[i + 4])), 1);
        two[0] = _mm256_unpacklo_epi32(row[0], row[1]), two[1] = _mm256_unpacklo_epi32(row[2], row[3]);
        two[2] = _mm256_unpackhi_epi32(row[0], row[1]), two[3] = _mm256_unpackhi_epi32(row[2], row[3]);
        got[0] = _mm256_unpacklo_epi64(two[0], two[1]), got[1] = _mm256_unpackhi_epi64(two[0], two[1]);
        got[2] = _mm256_unpacklo_epi64(two[2], two[3]), got[3] = _mm256_unpackhi_epi64(two[2], two[3]);
        for (unsigned v = 0; v < 4; v++)
            if (m->reg[v] >= 0)
                keep_32(mg__slot(w, m->reg[v]), mask, k, got[v]);
    }
    return true;
}

/* Of words alone: longer elements take as many instructions as lanes. */
MG_NO_TSAN static ALWAYS_INLINE bool load_window(struct mg_warp *w, const struct mg_mem *m, uint32_t mask,
                                                 const struct mg_window *window, const uint8_t *p)
{
    const uint32_t words = window->in[0] | (uint32_t)window->in[1] << 16;
    __m256i in[4];
    if (m->width != 4)
        return false;
    for (unsigned k = 0; k < 4; k++)
        in[k] = _mm256_maskload_epi32((const int *)(const void *)(p + 32 * k), lanes_of(words, 8 * k));
    for (unsigned v = 0; v < m->vec; v++) {
        uint32_t *d = (uint32_t *)mg__slot(w, MG_MAX(m->reg[v], 0));
        for (unsigned k = 0; k < 32 && m->reg[v] >= 0; k += 8) {
            const __m256i at = _mm256_add_epi32(load8(window->index + k), _mm256_set1_epi32((int)v));
            const __m256 of_16 = _mm256_castsi256_ps(_mm256_slli_epi32(at, 28));
            __m256 got = _mm256_blendv_ps(_mm256_castsi256_ps(_mm256_permutevar8x32_epi32(in[0], at)),
                                          _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(in[1], at)), of_16);
            if (words >> 16)
                got = _mm256_blendv_ps(got,
                                       _mm256_blendv_ps(_mm256_castsi256_ps(_mm256_permutevar8x32_epi32(in[2], at)),
                                                        _mm256_castsi256_ps(_mm256_permutevar8x32_epi32(in[3], at)),
                                                        of_16),
                                       _mm256_castsi256_ps(_mm256_slli_epi32(at, 27)));
            keep_32(d, mask, k, _mm256_castps_si256(got));
        }
    }
    return true;
}

/* Eight lanes at once where all of them run: a store under a mask takes longer than one for each lane. */
MG_NO_TSAN static ALWAYS_INLINE bool store_line(const struct mg_mem *m, const void *reg, uint32_t mask, uint8_t *p)
{
    const uint32_t *s = reg;
    if (m->width != (m->dst64 ? 8 : 4))
        return false;
    const unsigned each = m->width / 4u; /* words */
    for (unsigned k = 0; k < 32; k += 8) {
        uint32_t rest = mask >> k & 255;
        if (rest == 255) {
            for (unsigned h = 0; h < each; h++)
                _mm256_storeu_si256((void *)(p + 4 * each * k + 32 * h),
                                    _mm256_loadu_si256((const void *)(s + each * k + 8 * h)));
            continue;
        }
        for (; rest; rest &= rest - 1) {
            const unsigned i = k + (unsigned)__builtin_ctz(rest);
            if (each == 2)
                memcpy(p + 8 * i, s + 2 * i, 8);
            else
                memcpy(p + 4 * i, s + i, 4);
        }
    }
    return true;
}
#else
MG_NO_TSAN static ALWAYS_INLINE bool load_line(const struct mg_mem *m, void *reg, uint32_t mask, const uint8_t *p)
{
    if (mask != ~0u || m->width != (m->dst64 ? 8 : 4))
        return false;
    memcpy(reg, p, 32u * m->width);
    return true;
}

static ALWAYS_INLINE bool load_quads(struct mg_warp *w, const struct mg_mem *m, uint32_t mask, const struct near *n)
{
    (void)w, (void)m, (void)mask, (void)n;
    return false;
}

static ALWAYS_INLINE bool load_window(struct mg_warp *w, const struct mg_mem *m, uint32_t mask,
                                      const struct mg_window *window, const uint8_t *p)
{
    (void)w, (void)m, (void)mask, (void)window, (void)p;
    return false;
}

MG_NO_TSAN static ALWAYS_INLINE bool store_line(const struct mg_mem *m, const void *reg, uint32_t mask, uint8_t *p)
{
    if (mask != ~0u || m->width != (m->dst64 ? 8 : 4))
        return false;
    memcpy(p, reg, 32u * m->width);
    return true;
}
#endif

static ALWAYS_INLINE bool load(struct mg_warp *w, const struct mg_op *op, uint32_t mask, struct mg_rows *r)
{
    const struct mg_mem *m = op->u.mem;
    struct near n;
    if (!begin(w, op, mask, r, &n))
        return false;
    if (n.line && m->vec == 1 && m->reg[0] >= 0 &&
        load_line(m, mg__slot(w, m->reg[0]), mask, n.base + (int64_t)(int32_t)n.first))
        return true;
    if (n.shape && n.shape->window.serves &&
        load_window(w, m, mask, &n.shape->window, n.base + (int64_t)(int32_t)(n.first + n.shape->window.least)))
        return true;
    if (m->vec == 4 && m->width == 4 && !m->dst64 && load_quads(w, m, mask, &n))
        return true;
    if (n.line)
        keep(&n);
    for (unsigned v = 0; v < m->vec; v++)
        if (m->reg[v] >= 0)
            ISA(mg__load_elements)(mg__slot(w, m->reg[v]), m, mask, n.base + v * m->width, n.offset);
    return true;
}

/* Two or four words of each lane go together. */
MG_NO_TSAN static ALWAYS_INLINE bool store_together(const struct mg_warp *w, const struct mg_mem *m, uint32_t mask,
                                                    const struct near *n)
{
    struct quad {
        uint32_t word[4];
    } quads[32];
    uint64_t pairs[32];
    const uint32_t *reg[4];
    if (m->width != 4 || m->dst64 || m->vec == 1)
        return false;
    for (unsigned v = 0; v < m->vec; v++)
        reg[v] = mg__slot(w, m->reg[v]);
    if (m->vec == 2) {
        for (unsigned i = 0; i < 32; i++)
            pairs[i] = reg[0][i] | (uint64_t)reg[1][i] << 32;
        for (uint32_t rest = mask; rest; rest &= rest - 1)
            memcpy(n->base + n->offset[__builtin_ctz(rest)], &pairs[__builtin_ctz(rest)], sizeof(*pairs));
    } else {
        for (unsigned i = 0; i < 32; i++)
            for (unsigned v = 0; v < 4; v++)
                quads[i].word[v] = reg[v][i];
        for (uint32_t rest = mask; rest; rest &= rest - 1)
            memcpy(n->base + n->offset[__builtin_ctz(rest)], &quads[__builtin_ctz(rest)], sizeof(*quads));
    }
    return true;
}

static ALWAYS_INLINE bool store(struct mg_warp *w, const struct mg_op *op, uint32_t mask, struct mg_rows *r)
{
    const struct mg_mem *m = op->u.mem;
    struct near n;
    if (!begin(w, op, mask, r, &n))
        return false;
    if (n.line && m->vec == 1 && store_line(m, mg__slot(w, m->reg[0]), mask, n.base + (int64_t)(int32_t)n.first))
        return true;
    if (n.line)
        keep(&n);
    if (store_together(w, m, mask, &n))
        return true;
    for (unsigned v = 0; v < m->vec; v++)
        ISA(mg__store_elements)(mg__slot(w, m->reg[v]), m, mask, n.base + v * m->width, n.offset);
    return true;
}

/* Looked for by the op, that not each of its facts is waited for in turn. */
static ALWAYS_INLINE struct mg_rows *rows_of(struct mg_warp *w, uint32_t index)
{
    struct mg_rows *r = w->rows_of[index];
    if (MG_UNLIKELY(!r))
        r = w->rows_of[index] = w->sites[w->ops[index].u.mem->site].rows;
    return r;
}

bool ISA(mg__load_rows)(struct mg_engine_warp *e, uint32_t index, uint32_t mask)
{
    struct mg_warp *w = mg__warp_of(e);
    if (MG_UNLIKELY(!w->filled))
        mg__fill_block(w, 32);
    if (MG_UNLIKELY(!load(w, &w->ops[index], mask, rows_of(w, index)))) {
        e->line = 0;
        return mg__engine_op(e, index, mask);
    }
    narrow();
    return true;
}

bool ISA(mg__store_rows)(struct mg_engine_warp *e, uint32_t index, uint32_t mask)
{
    struct mg_warp *w = mg__warp_of(e);
    if (MG_UNLIKELY(!w->filled))
        mg__fill_block(w, 32);
    if (MG_UNLIKELY(!store(w, &w->ops[index], mask, rows_of(w, index)))) {
        e->line = 0;
        return mg__engine_op(e, index, mask);
    }
    narrow();
    return true;
}

bool ISA(mg__load_near)(struct mg_warp *w, const struct mg_op *op, uint32_t mask)
{
    return load(w, op, mask, w->sites[op->u.mem->site].rows);
}

bool ISA(mg__store_near)(struct mg_warp *w, const struct mg_op *op, uint32_t mask)
{
    return store(w, op, mask, w->sites[op->u.mem->site].rows);
}

void ISA(mg__move_shape)(struct mg_engine_warp *e, uint32_t index, const struct mg_engine_shape *s, uint64_t at)
{
    struct mg_warp *w = mg__warp_of(e);
    const struct mg_mem *m = w->ops[index].u.mem;
    uint8_t *const p = m->space == MG_SPACE_SHARED ? w->block->shared + at : (uint8_t *)(uintptr_t)at;
    uint8_t *const least = p + (int64_t)(int32_t)s->least;
    if (m->kind == MG_ACCESS_LD &&
        !(s->window.serves && load_window(w, m, ~0u, &s->window, p + (int64_t)(int32_t)s->window.least))) {
        for (unsigned v = 0; v < m->vec; v++)
            if (m->reg[v] >= 0)
                ISA(mg__load_elements)(mg__slot(w, m->reg[v]), m, ~0u, least + v * m->width, s->offset);
    } else if (m->kind != MG_ACCESS_LD) {
        for (unsigned v = 0; v < m->vec; v++)
            ISA(mg__store_elements)(mg__slot(w, m->reg[v]), m, ~0u, least + v * m->width, s->offset);
    }
    narrow();
}

bool ISA(mg__places_of)(struct mg_warp *w, const struct mg_op *op, uint32_t mask, uint8_t *where[32])
{
    struct near n;
    bool found = begin(w, op, mask, w->sites[op->u.mem->site].rows, &n);
    if (found && n.line)
        keep(&n);
    for (unsigned i = 0; found && i < 32; i++)
        where[i] = n.base + n.offset[i];
    narrow();
    return found;
}
