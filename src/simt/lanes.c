/* lanes.c - moves, loads and stores over 32 lanes, compiled once for each vector extension (x86-64-v2, -v3 and -v4, or
 * once elsewhere); MG_ISA names the build, mg__lanes_select picks one at run time.
 *
 * Loads and stores look for the access's shape in the instruction's site: the same active lanes, and the same distances
 * of the addresses from the first. Then bounds, bank conflicts and sectors are known from before, and what is left is
 * one comparison, one count, and the move itself. Accesses of a basic block by one register share that comparison.
 */
#include "simt/lanes.h"

/* All lanes of `mask` as a vector of 0 and ~0. */
static inline uint32_t lane_on(uint32_t mask, unsigned i)
{
    return 0u - (mask >> i & 1u);
}

#define MOVE(name, T)                                                                    \
    MG_NO_TSAN static MG_HANDLER(name)                                                   \
    {                                                                                    \
        T *const d = mg__slot(w, op->d);                                                 \
        const T *const a = mg__slot(w, op->a);                                           \
        if (MG_LIKELY(mask == ~0u))                                                      \
            IVDEP for (unsigned i = 0; i < 32; i++) d[i] = a[i];                         \
        else                                                                             \
            IVDEP for (unsigned i = 0; i < 32; i++) d[i] = mask >> i & 1u ? a[i] : d[i]; \
        NEXT                                                                             \
    }
MOVE(h_mov32, uint32_t)
MOVE(h_mov64, uint64_t)

/* ---- memory ---- */
static ALWAYS_INLINE bool same_pattern32(const struct mg_pattern *p, const uint32_t *a, uint32_t base, uint32_t mask)
{
#ifdef __AVX512F__
    __m512i b = _mm512_set1_epi32((int)base);
    __mmask16 lo = _mm512_mask_cmpneq_epi32_mask((__mmask16)mask, _mm512_sub_epi32(_mm512_loadu_si512(a), b),
                                                 _mm512_load_si512(p->delta));
    __mmask16 hi = _mm512_mask_cmpneq_epi32_mask(
        (__mmask16)(mask >> 16), _mm512_sub_epi32(_mm512_loadu_si512(a + 16), b), _mm512_load_si512(p->delta + 16));
    return _mm512_kortestz(lo, hi);
#else
    uint32_t differ = 0;
    if (MG_LIKELY(mask == ~0u))
        for (unsigned i = 0; i < 32; i++)
            differ |= (a[i] - base) ^ (uint32_t)p->delta[i];
    else
        for (unsigned i = 0; i < 32; i++)
            differ |= ((a[i] - base) ^ (uint32_t)p->delta[i]) & lane_on(mask, i);
    return differ == 0;
#endif
}

static ALWAYS_INLINE bool same_pattern64(const struct mg_pattern *p, const uint64_t *a, uint64_t base, uint32_t mask)
{
#ifdef __AVX512F__
    __m512i b = _mm512_set1_epi64((long long)base);
    unsigned differ = 0;
    for (unsigned k = 0; k < 4; k++) {
        __m512i d = _mm512_cvtepi32_epi64(_mm256_load_si256((const void *)(p->delta + 8 * k)));
        differ |= _mm512_mask_cmpneq_epi64_mask((__mmask8)(mask >> 8 * k),
                                                _mm512_sub_epi64(_mm512_loadu_si512(a + 8 * k), b), d);
    }
    return differ == 0;
#else
    uint64_t differ = 0;
    if (MG_LIKELY(mask == ~0u))
        for (unsigned i = 0; i < 32; i++)
            differ |= (a[i] - base) ^ (uint64_t)(int64_t)p->delta[i];
    else
        for (unsigned i = 0; i < 32; i++)
            differ |= ((a[i] - base) ^ (uint64_t)(int64_t)p->delta[i]) & ((uint64_t)0 - (mask >> i & 1u));
    return differ == 0;
#endif
}

static ALWAYS_INLINE bool matches(const struct mg_shape *s, const void *address, uint64_t base, uint32_t mask,
                                  const bool addr64)
{
    const struct mg_pattern *p = s->pattern;
    return p && p->mask == mask &&
           (addr64 ? same_pattern64(p, address, base, mask) : same_pattern32(p, address, (uint32_t)base, mask));
}

/* Those that follow look for themselves: what stands there may be another block's. */
static ALWAYS_INLINE void no_lead(struct mg_warp *w, const struct mg_mem *mem)
{
    if (mem->leads) {
        w->leads[mem->lead].pattern = NULL;
        w->leads[mem->lead].shape = NULL;
    }
}

/* The remembered shape of this access, or NULL. `base` gets the first active lane's address. */
static ALWAYS_INLINE struct mg_shape *find_shape(struct mg_warp *w, const struct mg_mem *mem, uint32_t mask,
                                                 const bool addr64, uint64_t *base)
{
    struct mg_site *site = &w->sites[mem->site];
    const unsigned first = (unsigned)__builtin_ctz(mask);
    const uint64_t low_bits = (uint64_t)mem->width * mem->vec - 1;
    const void *address = mg__slot(w, mem->addr);
    uint64_t value = addr64 ? ((const uint64_t *)address)[first] : ((const uint32_t *)address)[first];
    uint64_t at = value + (uint64_t)mem->offset + (mem->local_frame ? w->frame->local_base : 0);
    if (!addr64)
        at = (uint32_t)at;
    struct mg_shape *s = &site->first;
    no_lead(w, mem);
    for (unsigned k = 0;; k++) {
        if (matches(s, address, value, mask, addr64) && at - s->lo <= s->range && !(at & low_bits) &&
            (at & 3) == s->pattern->phase)
            break;
        if (k == MG_SHAPES - 1 || !site->others)
            return NULL;
        s = &site->others[k];
    }
    if (mem->leads) {
        w->leads[mem->lead].pattern = s->pattern;
        w->leads[mem->lead].base = value;
    }
    s->times[at >> 2 & 7]++;
    *base = at;
    return s;
}

static ALWAYS_INLINE uint64_t load_element(const uint8_t *p, unsigned width, bool sext)
{
    switch (width) {
    case 1:
        return sext ? (uint64_t)(int64_t)(int8_t)*p : *p;
    case 2: {
        uint16_t v;
        memcpy(&v, p, 2);
        return sext ? (uint64_t)(int64_t)(int16_t)v : v;
    }
    case 4: {
        uint32_t v;
        memcpy(&v, p, 4);
        return sext ? (uint64_t)(int64_t)(int32_t)v : v;
    }
    default: {
        uint64_t v;
        memcpy(&v, p, 8);
        return v;
    }
    }
}

static ALWAYS_INLINE void store_element(uint8_t *p, unsigned width, uint64_t value)
{
    switch (width) {
    case 1:
        *p = (uint8_t)value;
        break;
    case 2:
        memcpy(p, &(uint16_t){(uint16_t)value}, 2);
        break;
    case 4:
        memcpy(p, &(uint32_t){(uint32_t)value}, 4);
        break;
    default:
        memcpy(p, &value, 8);
    }
}

/* One element of every lane, `p(i)` apart; reg may also be an address register, so nothing is written before all is
 * read. */
MG_NO_TSAN static void load_lanes(struct mg_warp *w, const struct mg_mem *mem, uint32_t mask, uint8_t *const where[32])
{
    if (mask == ~0u && mem->width == 4 && mem->vec == 1 && !mem->dst64 && mem->reg[0] >= 0) {
        uint32_t *restrict d = mg__slot(w, mem->reg[0]);
        for (unsigned i = 0; i < 32; i++)
            memcpy(&d[i], where[i], 4);
        return;
    }
    for (unsigned v = 0; v < mem->vec; v++) {
        if (mem->reg[v] < 0)
            continue;
        void *d = mg__slot(w, mem->reg[v]);
        for (uint32_t rest = mask; rest; rest &= rest - 1) {
            unsigned i = (unsigned)__builtin_ctz(rest);
            uint64_t value = load_element(where[i] + v * mem->width, mem->width, mem->sext);
            if (mem->dst64)
                ((uint64_t *)d)[i] = value;
            else
                ((uint32_t *)d)[i] = (uint32_t)value;
        }
    }
}

MG_NO_TSAN static void store_lanes(struct mg_warp *w, const struct mg_mem *mem, uint32_t mask, uint8_t *const where[32])
{
    if (mask == ~0u && mem->width == 4 && mem->vec == 1 && !mem->dst64) {
        const uint32_t *s = mg__slot(w, mem->reg[0]);
        for (unsigned i = 0; i < 32; i++)
            memcpy(where[i], &s[i], 4);
        return;
    }
    for (unsigned v = 0; v < mem->vec; v++) {
        const void *s = mg__slot(w, mem->reg[v]);
        for (uint32_t rest = mask; rest; rest &= rest - 1) {
            unsigned i = (unsigned)__builtin_ctz(rest);
            store_element(where[i] + v * mem->width, mem->width,
                          mem->dst64 ? ((const uint64_t *)s)[i] : ((const uint32_t *)s)[i]);
        }
    }
}

MG_NO_TSAN static __attribute__((noinline)) const struct mg_op *load_slow(struct mg_warp *w, const struct mg_op *op,
                                                                          uint32_t mask)
{
    if (ISA(mg__load_any)(w, op, mask))
        return op + 1;
    uint64_t address[32];
    uint8_t *where[32];
    narrow();
    mg__address(w, op->u.mem, address);
    if (!mg__access_slow(w, op, mask, address, where))
        return NULL;
    struct mg_local_copy copy;
    mg__local_take(w, op->u.mem, mask, where, &copy);
    load_lanes(w, op->u.mem, mask, where);
    return op + 1;
}

MG_NO_TSAN static __attribute__((noinline)) const struct mg_op *store_slow(struct mg_warp *w, const struct mg_op *op,
                                                                           uint32_t mask)
{
    if (ISA(mg__store_any)(w, op, mask))
        return op + 1;
    uint64_t address[32];
    uint8_t *where[32];
    narrow();
    mg__address(w, op->u.mem, address);
    if (!mg__access_slow(w, op, mask, address, where))
        return NULL;
    struct mg_local_copy copy;
    mg__local_take(w, op->u.mem, mask, where, &copy);
    store_lanes(w, op->u.mem, mask, where);
    mg__local_put(&copy);
    return op + 1;
}

/* 32 lanes of 32 bits from a window of 128 bytes at `p`. */
static ALWAYS_INLINE void load_window(uint32_t *out, const uint8_t *p, const uint32_t *index)
{
#ifdef __AVX512F__
    __m512i a = _mm512_loadu_si512(p), b = _mm512_loadu_si512(p + 64);
    _mm512_storeu_si512(out, _mm512_permutex2var_epi32(a, _mm512_load_si512(index), b));
    _mm512_storeu_si512(out + 16, _mm512_permutex2var_epi32(a, _mm512_load_si512(index + 16), b));
#else
    uint32_t t[32];
    for (unsigned i = 0; i < 32; i++)
        memcpy(&t[i], p + 4 * index[i], 4);
    memcpy(out, t, sizeof t);
#endif
}

static ALWAYS_INLINE void gather32(uint32_t *out, const uint8_t *p, const int32_t *delta)
{
#ifdef __AVX512F__
    __m512i lo = _mm512_i32gather_epi32(_mm512_load_si512(delta), p, 1);
    __m512i hi = _mm512_i32gather_epi32(_mm512_load_si512(delta + 16), p, 1);
    _mm512_storeu_si512(out, lo);
    _mm512_storeu_si512(out + 16, hi);
#else
    uint32_t t[32];
    for (unsigned i = 0; i < 32; i++)
        memcpy(&t[i], p + delta[i], 4);
    memcpy(out, t, sizeof t);
#endif
}

/* Loads by a known shape; `p` is where the first active lane reads. */
MG_NO_TSAN static ALWAYS_INLINE void load_shape(struct mg_warp *w, const struct mg_mem *mem, uint32_t mask,
                                                const struct mg_shape *s, const uint8_t *p)
{
    if (mem->vec == 1 && mem->reg[0] < 0) /* nobody wants it */
        return;
    if (MG_LIKELY(mask == ~0u && mem->width == 4 && mem->vec == 1 && !mem->dst64)) {
        uint32_t *d = mg__slot(w, mem->reg[0]);
        if (s->plan == MG_PLAN_WINDOW) {
            load_window(d, p + s->pattern->low, s->pattern->index);
        } else if (s->plan == MG_PLAN_CONTIGUOUS) {
            memcpy(d, p, 128);
        } else if (s->plan == MG_PLAN_UNIFORM) {
            uint32_t v;
            memcpy(&v, p, 4);
            for (unsigned i = 0; i < 32; i++)
                d[i] = v;
        } else {
            gather32(d, p, s->pattern->delta);
        }
        return;
    }
    if (mask == ~0u && mem->width == 1 && s->plan == MG_PLAN_CONTIGUOUS && mem->vec == 1 && !mem->dst64 && !mem->sext) {
        uint32_t *d = mg__slot(w, mem->reg[0]);
        for (unsigned i = 0; i < 32; i++)
            d[i] = p[i];
        return;
    }
    if (mask == ~0u && mem->width == 8 && s->plan == MG_PLAN_CONTIGUOUS && mem->vec == 1) {
        memcpy(mg__slot(w, mem->reg[0]), p, 256);
        return;
    }
    for (unsigned v = 0; v < mem->vec; v++, p += mem->width) {
        if (mem->reg[v] < 0)
            continue;
        if (mask == ~0u && s->plan == MG_PLAN_UNIFORM) {
            const uint64_t value = load_element(p, mem->width, mem->sext);
            void *d = mg__slot(w, mem->reg[v]);
            for (unsigned i = 0; i < 32 && mem->dst64; i++)
                ((uint64_t *)d)[i] = value;
            for (unsigned i = 0; i < 32 && !mem->dst64; i++)
                ((uint32_t *)d)[i] = (uint32_t)value;
        } else if (mem->width == 8 && mask == ~0u) {
            uint64_t *d = mg__slot(w, mem->reg[v]);
            for (unsigned i = 0; i < 32; i++)
                memcpy(&d[i], p + s->pattern->delta[i], 8);
        } else if (mem->width == 4 && mask == ~0u && !mem->dst64) {
            gather32(mg__slot(w, mem->reg[v]), p, s->pattern->delta);
        } else {
            void *d = mg__slot(w, mem->reg[v]);
            for (uint32_t rest = mask; rest; rest &= rest - 1) {
                unsigned i = (unsigned)__builtin_ctz(rest);
                uint64_t value = load_element(p + s->pattern->delta[i], mem->width, mem->sext);
                if (mem->dst64)
                    ((uint64_t *)d)[i] = value;
                else
                    ((uint32_t *)d)[i] = (uint32_t)value;
            }
        }
    }
}

/* `width` is a constant: which element it is, is not asked lane by lane. */
MG_NO_TSAN static ALWAYS_INLINE void store_elements(uint8_t *p, const int32_t *delta, const void *r, uint32_t mask,
                                                    const unsigned width, bool wide)
{
    const uint64_t *r8 = r;
    const uint32_t *r4 = r;
    if (mask == ~0u)
        for (unsigned i = 0; i < 32; i++)
            store_element(p + delta[i], width, wide ? r8[i] : r4[i]);
    else
        for (uint32_t rest = mask; rest; rest &= rest - 1) {
            unsigned i = (unsigned)__builtin_ctz(rest);
            store_element(p + delta[i], width, wide ? r8[i] : r4[i]);
        }
}

MG_NO_TSAN static ALWAYS_INLINE void store_shape(struct mg_warp *w, const struct mg_mem *mem, uint32_t mask,
                                                 const struct mg_shape *s, uint8_t *p)
{
    /* 4 bytes of a register of 64 bits do not lie in a row */
    if (mask == ~0u && s->plan == MG_PLAN_CONTIGUOUS && mem->vec == 1 && mem->width == (mem->dst64 ? 8 : 4)) {
        memcpy(p, mg__slot(w, mem->reg[0]), 32u * mem->width);
        return;
    }
    if (mask == ~0u && s->plan == MG_PLAN_CONTIGUOUS && mem->vec == 4 && mem->width == 4 && !mem->dst64) {
        const uint32_t *const x = mg__slot(w, mem->reg[0]), *const y = mg__slot(w, mem->reg[1]),
                              *const z = mg__slot(w, mem->reg[2]), *const last = mg__slot(w, mem->reg[3]);
        for (unsigned i = 0; i < 32; i++) {
            const uint32_t word[4] = {x[i], y[i], z[i], last[i]};
            memcpy(p + sizeof word * i, word, sizeof word);
        }
        return;
    }
    const int32_t *delta = s->pattern->delta;
    for (unsigned v = 0; v < mem->vec; v++, p += mem->width) {
        const void *r = mg__slot(w, mem->reg[v]);
        switch (mem->width) {
        case 1:
            store_elements(p, delta, r, mask, 1, mem->dst64);
            break;
        case 2:
            store_elements(p, delta, r, mask, 2, mem->dst64);
            break;
        case 4:
            store_elements(p, delta, r, mask, 4, mem->dst64);
            break;
        default:
            store_elements(p, delta, r, mask, 8, mem->dst64);
        }
    }
}

static ALWAYS_INLINE void polling(struct mg_warp *w, const struct mg_mem *mem)
{
    if (MG_UNLIKELY(mem->poll))
        mg__poll(w, mem->poll);
}

#define LOAD(name, ADDR64, WHERE)                                           \
    MG_NO_TSAN static __attribute__((noinline)) MG_HANDLER(name)            \
    {                                                                       \
        const struct mg_mem *mem = op->u.mem;                               \
        uint64_t base;                                                      \
        polling(w, mem);                                                    \
        if (w->sites[mem->site].skip) {                                     \
            no_lead(w, mem);                                                \
            return load_slow(w, op, mask);                                  \
        }                                                                   \
        const struct mg_shape *s = find_shape(w, mem, mask, ADDR64, &base); \
        if (MG_UNLIKELY(!s))                                                \
            return load_slow(w, op, mask);                                  \
        load_shape(w, mem, mask, s, WHERE);                                 \
        return op + 1;                                                      \
    }
#define STORE(name, ADDR64, WHERE)                                          \
    MG_NO_TSAN static __attribute__((noinline)) MG_HANDLER(name)            \
    {                                                                       \
        const struct mg_mem *mem = op->u.mem;                               \
        uint64_t base;                                                      \
        if (w->sites[mem->site].skip) {                                     \
            no_lead(w, mem);                                                \
            return store_slow(w, op, mask);                                 \
        }                                                                   \
        const struct mg_shape *s = find_shape(w, mem, mask, ADDR64, &base); \
        if (MG_UNLIKELY(!s))                                                \
            return store_slow(w, op, mask);                                 \
        store_shape(w, mem, mask, s, WHERE);                                \
        return op + 1;                                                      \
    }
LOAD(h_ld_shared32, false, w->block->shared + base)
LOAD(h_ld_shared64, true, w->block->shared + base)
LOAD(h_ld_global, true, (const uint8_t *)(uintptr_t)base)
STORE(h_st_shared32, false, w->block->shared + base)
STORE(h_st_shared64, true, w->block->shared + base)
STORE(h_st_global, true, (uint8_t *)(uintptr_t)base)

/* ---- words: one 32-bit element a lane, all lanes active. What does not fit goes to the handlers above. ---- */
static ALWAYS_INLINE uint64_t word_address(const struct mg_op *op, uint64_t base, const bool addr64)
{
    return addr64 ? base + (uint64_t)(int64_t)op->c : (uint32_t)((uint32_t)base + (uint32_t)op->c);
}

static ALWAYS_INLINE const struct mg_shape *count_word(struct mg_shape *s, uint64_t at)
{
    if (MG_UNLIKELY(at - s->lo > s->range || at & 3))
        return NULL;
    s->times[at >> 2 & 7]++;
    return s;
}

static ALWAYS_INLINE const struct mg_shape *lead_word(struct mg_warp *w, const struct mg_op *op, const bool addr64,
                                                      uint64_t *at)
{
    struct mg_shape *s = &w->sites[op->b].first;
    const void *address = mg__slot(w, op->a);
    uint64_t base = addr64 ? *(const uint64_t *)address : *(const uint32_t *)address;
    if (MG_UNLIKELY(!matches(s, address, base, ~0u, addr64)))
        return NULL;
    *at = word_address(op, base, addr64);
    if (op->e < 0)
        return count_word(s, *at);
    struct mg_lead *lead = &w->leads[op->e];
    lead->pattern = s->pattern;
    lead->base = base;
    lead->shape = NULL;
    if (!op->d2 || *at - s->group_lo > s->group_range || *at & 3)
        return count_word(s, *at);
    lead->shape = s;
    s->group_times[*at >> 2 & 7]++;
    return s;
}

/* The group's first access has counted for this one, or it looks at its own site. */
static ALWAYS_INLINE const struct mg_shape *follow_word(struct mg_warp *w, const struct mg_op *op, const bool addr64,
                                                        uint64_t *at)
{
    const struct mg_lead *lead = &w->leads[op->e];
    *at = word_address(op, lead->base, addr64);
    if (MG_LIKELY(lead->shape != NULL))
        return lead->shape;
    struct mg_shape *s = &w->sites[op->b].first;
    return s->pattern && s->pattern == lead->pattern ? count_word(s, *at) : NULL;
}

MG_NO_TSAN static ALWAYS_INLINE void load_word(const struct mg_shape *s, uint32_t *restrict d, const uint8_t *p)
{
    if (s->plan == MG_PLAN_WINDOW) {
        load_window(d, p + s->pattern->low, s->pattern->index);
    } else if (s->plan == MG_PLAN_CONTIGUOUS) {
        memcpy(d, p, 128);
    } else if (s->plan == MG_PLAN_UNIFORM) {
        uint32_t v;
        memcpy(&v, p, 4);
        for (unsigned i = 0; i < 32; i++)
            d[i] = v;
    } else {
        gather32(d, p, s->pattern->delta);
    }
}

MG_NO_TSAN static ALWAYS_INLINE void store_word(const struct mg_shape *s, const uint32_t *r, uint8_t *p)
{
    if (s->plan == MG_PLAN_CONTIGUOUS)
        memcpy(p, r, 128);
    else
        for (unsigned i = 0; i < 32; i++)
            memcpy(p + s->pattern->delta[i], &r[i], 4);
}

#define WORD(name, GENERAL, ADDR64, FIND, DO)                                         \
    MG_NO_TSAN static MG_HANDLER(name)                                                \
    {                                                                                 \
        uint64_t at;                                                                  \
        const struct mg_shape *s;                                                     \
        if (MG_UNLIKELY(mask != ~0u) || MG_UNLIKELY(!(s = FIND(w, op, ADDR64, &at)))) \
            return GENERAL(w, op, mask);                                              \
        DO;                                                                           \
        NEXT                                                                          \
    }
#define SHARED (w->block->shared + at)
#define GLOBAL ((uint8_t *)(uintptr_t)at)
WORD(h_ld_shared_lead, h_ld_shared32, false, lead_word, load_word(s, mg__slot(w, op->d), SHARED))
WORD(h_ld_shared_follow, h_ld_shared32, false, follow_word, load_word(s, mg__slot(w, op->d), SHARED))
WORD(h_ld_global_lead, h_ld_global, true, lead_word, load_word(s, mg__slot(w, op->d), GLOBAL))
WORD(h_ld_global_follow, h_ld_global, true, follow_word, load_word(s, mg__slot(w, op->d), GLOBAL))
WORD(h_st_shared_lead, h_st_shared32, false, lead_word, store_word(s, mg__slot(w, op->d), SHARED))
WORD(h_st_shared_follow, h_st_shared32, false, follow_word, store_word(s, mg__slot(w, op->d), SHARED))
WORD(h_st_global_lead, h_st_global, true, lead_word, store_word(s, mg__slot(w, op->d), GLOBAL))
WORD(h_st_global_follow, h_st_global, true, follow_word, store_word(s, mg__slot(w, op->d), GLOBAL))

/* ---- watched: every access is given to the observers, as a pattern if that was seen before ---- */
/* Out of the way of those that follow. */
static __attribute__((noinline)) struct mg_shape *watched_lead(struct mg_warp *w, const struct mg_mem *mem,
                                                               uint32_t mask, bool addr64, uint64_t *base)
{
    struct mg_shape *s = addr64 ? find_shape(w, mem, mask, true, base) : find_shape(w, mem, mask, false, base);
    narrow();
    return s;
}

/* `alone`: for compiled code, which may have made the access that leads without a call. */
static ALWAYS_INLINE struct mg_shape *watched_shape(struct mg_warp *w, const struct mg_mem *mem, uint32_t mask,
                                                    const bool addr64, const bool alone, uint64_t *base)
{
    const struct mg_lead *lead = !alone && mem->lead >= 0 && !mem->leads ? &w->leads[mem->lead] : NULL;
    struct mg_shape *s = &w->sites[mem->site].first;
    if (!lead || !lead->pattern || s->pattern != lead->pattern || s->pattern->mask != mask)
        return watched_lead(w, mem, mask, addr64, base);
    uint64_t at = lead->base + (uint64_t)mem->offset;
    *base = at = addr64 ? at : (uint32_t)at;
    if (at - s->lo > s->range || at & ((uint64_t)mem->width * mem->vec - 1) || (at & 3) != s->pattern->phase)
        return NULL;
    s->times[at >> 2 & 7]++;
    return s;
}

#define WATCHED(name, ADDR64, ALONE, SLOW, WHERE, DO, ON)                                                              \
    MG_NO_TSAN static MG_HANDLER(name)                                                                                 \
    {                                                                                                                  \
        const struct mg_mem *mem = op->u.mem;                                                                          \
        uint64_t base;                                                                                                 \
        polling(w, mem);                                                                                               \
        if (w->sites[mem->site].skip) {                                                                                \
            no_lead(w, mem);                                                                                           \
            return SLOW(w, op, mask);                                                                                  \
        }                                                                                                              \
        const struct mg_shape *s = watched_shape(w, mem, mask, ADDR64, ALONE, &base);                                  \
        narrow();                                                                                                      \
        if (MG_UNLIKELY(!s))                                                                                           \
            return SLOW(w, op, mask);                                                                                  \
        uint8_t *p = WHERE;                                                                                            \
        mg__access_watched(w, op, s, base, p);                                                                         \
        DO;                                                                                                            \
        if (MG_UNLIKELY(w->followed)) /* one op at a time from here on */                                              \
            return op + 1;                                                                                             \
        ON                                                                                                             \
    }
/* Words have the short way; what else there is takes room that their handlers need not make. */
MG_NO_TSAN static __attribute__((noinline)) void load_other(struct mg_warp *w, const struct mg_mem *mem, uint32_t mask,
                                                            const struct mg_shape *s, const uint8_t *p)
{
    load_shape(w, mem, mask, s, p);
    narrow();
}
MG_NO_TSAN static __attribute__((noinline)) void store_other(struct mg_warp *w, const struct mg_mem *mem, uint32_t mask,
                                                  const struct mg_shape *s, uint8_t *p)
{
    store_shape(w, mem, mask, s, p);
    narrow();
}
static ALWAYS_INLINE bool is_word(const struct mg_mem *mem, uint32_t mask)
{
    return mask == ~0u && mem->width == 4 && mem->vec == 1 && !mem->dst64;
}
#define WATCHED_LOAD(name, ADDR64, ALONE, WHERE, ON)                                                                   \
    WATCHED(name, ADDR64, ALONE, load_slow, WHERE,                                                                     \
            if (MG_LIKELY(is_word(mem, mask) && mem->reg[0] >= 0)) load_word(s, mg__slot(w, mem->reg[0]), p);          \
            else load_other(w, mem, mask, s, p), ON)
#define WATCHED_STORE(name, ADDR64, ALONE, WHERE, ON)                                                                  \
    WATCHED(name, ADDR64, ALONE, store_slow, WHERE,                                                                    \
            if (MG_LIKELY(is_word(mem, mask))) store_word(s, mg__slot(w, mem->reg[0]), p);                             \
            else store_other(w, mem, mask, s, p), ON)
#define BACK return op + 1;
#define WATCHED_BOTH(KIND, name, ADDR64, WHERE)                                                                        \
    WATCHED_##KIND(h_##name##_watched, ADDR64, false, WHERE, NEXT)                                                     \
    WATCHED_##KIND(h_##name##_alone, ADDR64, true, WHERE, BACK)
WATCHED_BOTH(LOAD, ld_shared32, false, w->block->shared + base)
WATCHED_BOTH(LOAD, ld_shared64, true, w->block->shared + base)
WATCHED_BOTH(LOAD, ld_global, true, (uint8_t *)(uintptr_t)base)
WATCHED_BOTH(STORE, st_shared32, false, w->block->shared + base)
WATCHED_BOTH(STORE, st_shared64, true, w->block->shared + base)
WATCHED_BOTH(STORE, st_global, true, (uint8_t *)(uintptr_t)base)

static ALWAYS_INLINE void add_word(uint8_t *to, uint32_t more)
{
    uint32_t v;
    memcpy(&v, to, 4);
    v += more;
    memcpy(to, &v, 4);
}
/* Before it takes effect, as observers of every access want it. All lanes are in from low to high. */
static __attribute__((noinline)) void tell_red(struct mg_warp *w, const struct mg_op *op, uint32_t mask,
                                               const uint32_t at[32], int32_t var, uint32_t low, uint32_t high)
{
    uint64_t address[32];
    uint8_t *where[32];
    uint32_t word[32];
    const bool every = w->worker->run->want_every;
    low &= ~3u; /* a variable may begin within a word */
    for (unsigned i = 0; every && i < 32; i++) {
        address[i] = at[i];
        where[i] = w->block->shared + at[i];
    }
    for (unsigned i = 0; !every && i < 32; i++)
        word[i] = ((at[i] - low) & lane_on(mask, i)) / 4;
    narrow();
    struct mg_access *e = mg__access_of_warp(w, op, mask, MG_SPACE_SHARED, var);
    e->address = every ? address : NULL;
    e->where = every ? where : NULL;
    e->word = every ? NULL : word;
    e->base = low;
    e->at = w->block->shared + low;
    e->reach = (high - low) / 4;
    mg__access_event(w->worker, e, MG_OBSERVE_EVERY | MG_OBSERVE_SHAPES);
}

/* Words in [low, low + reach] that all lanes are to access. */
static ALWAYS_INLINE bool all_words_in(const uint32_t at[32], uint32_t low, uint32_t reach)
{
    uint32_t out = 0;
    for (unsigned i = 0; i < 32; i++)
        out |= (at[i] - low > reach) | (at[i] & 3);
    return out == 0;
}

/* Counters in shared memory: add without a result, 32-bit addresses. Bounds are checked as vectors: of all lanes
 * against the first variable, which is where they most often are, else by their ends; what does not fit goes to the
 * general handler, which says why. */
static ALWAYS_INLINE const struct mg_op *red_shared_add(struct mg_warp *w, const struct mg_op *op, uint32_t mask)
{
    const struct mg_mem *m = op->u.mem;
    const struct mg_run *run = w->worker->run;
    const uint32_t *a = mg__slot(w, m->addr), *b = mg__slot(w, m->reg[1]);
    const uint32_t offset = (uint32_t)m->offset, size = w->block->shared_size;
    uint32_t high = 0, bits = 0, low = ~0u, at[32];
    int32_t var = -1;
    for (unsigned i = 0; i < 32; i++)
        at[i] = a[i] + offset;
    const struct mg_shared_var *first = run->shared_vars;
    if (MG_LIKELY(mask == ~0u && run->nshared_vars && first->size >= 4 &&
                  all_words_in(at, first->offset, first->size - 4))) {
        var = 0;
        low = first->offset;
        high = low + first->size - 4;
    } else {
        for (unsigned i = 0; i < 32; i++) {
            uint32_t on = lane_on(mask, i);
            high = MG_MAX(high, at[i] & on);
            low = MG_MIN(low, at[i] | ~on);
            bits |= at[i] & on;
        }
        uint64_t from, to;
        var = mg__shared_object(w, low, (uint64_t)high + 4, &from, &to);
    }
    if (MG_UNLIKELY(bits & 3 || size < 4 || high > size - 4))
        return mg__op_atom(w, op, mask);
    if (run->want_shapes | run->want_every)
        tell_red(w, op, mask, at, var, low, high);
    uint8_t *shared = w->block->shared;
    if (mask == ~0u) { /* without a walk over bits */
#pragma GCC unroll 8
        for (unsigned i = 0; i < 32; i++)
            add_word(shared + at[i], b[i]);
    } else {
        for (uint32_t rest = mask; rest; rest &= rest - 1)
            add_word(shared + at[__builtin_ctz(rest)], b[__builtin_ctz(rest)]);
    }
    return op + 1;
}
static MG_HANDLER(h_red_shared_add_alone)
{
    return red_shared_add(w, op, mask);
}
static MG_HANDLER(h_red_shared_add)
{
    if (MG_UNLIKELY(red_shared_add(w, op, mask) != op + 1))
        return NULL;
    NEXT
}

static void leave(void)
{
    narrow();
}

/* Generic addresses may mean a space a lane, and local ones mean another place in every lane: no shapes. */
static MG_HANDLER(h_ld_lanes)
{
    polling(w, op->u.mem);
    return load_slow(w, op, mask);
}
static MG_HANDLER(h_st_lanes)
{
    return store_slow(w, op, mask);
}

const struct mg_lanes ISA(mg__lanes) = {
    .isa = STRING(MG_ISA),
    .alu = ISA(mg__alu),
    .ld_shared32 = h_ld_shared32,
    .ld_shared64 = h_ld_shared64,
    .ld_global = h_ld_global,
    .ld_lanes = h_ld_lanes,
    .st_shared32 = h_st_shared32,
    .st_shared64 = h_st_shared64,
    .st_global = h_st_global,
    .st_lanes = h_st_lanes,
    .mov32 = h_mov32,
    .mov64 = h_mov64,
    .ld_shared_word = {h_ld_shared_lead, h_ld_shared_follow},
    .ld_global_word = {h_ld_global_lead, h_ld_global_follow},
    .st_shared_word = {h_st_shared_lead, h_st_shared_follow},
    .st_global_word = {h_st_global_lead, h_st_global_follow},
    .ld_shared_watched = {{h_ld_shared32_watched, h_ld_shared64_watched}, {h_ld_shared32_alone, h_ld_shared64_alone}},
    .st_shared_watched = {{h_st_shared32_watched, h_st_shared64_watched}, {h_st_shared32_alone, h_st_shared64_alone}},
    .ld_global_watched = {h_ld_global_watched, h_ld_global_alone},
    .st_global_watched = {h_st_global_watched, h_st_global_alone},
    .red_shared_add = h_red_shared_add,
    .red_shared_add_alone = h_red_shared_add_alone,
    .mma = ISA(mg__mma),
    .wgmma = ISA(mg__wgmma),
    .add_words = ISA(mg__add_words),
    .load_rows = ISA(mg__load_rows),
    .store_rows = ISA(mg__store_rows),
    .move_shape = ISA(mg__move_shape),
    .places = ISA(mg__places_of),
    .leave = leave,
};
