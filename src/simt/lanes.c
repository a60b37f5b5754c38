/* lanes.c - the handlers that run over all 32 lanes: arithmetic, loads, stores, atomics. Compiled once for each vector
 * extension (x86-64-v2, -v3 and -v4, or once elsewhere); MG_ISA names the build, mg__lanes_select picks one at run time.
 *
 * Arithmetic handlers are generated from sem.def: each row becomes a loop over the lanes around its scalar function, in
 * three versions: default mode, flush-to-zero, and any mode. With all lanes active the loop writes straight to the
 * destination; otherwise it computes all lanes (the functions are total, so idle lanes may hold anything) and blends.
 *
 * Loads and stores look for the access's shape in the instruction's site: the same active lanes, and the same distances
 * of the addresses from the first. Then bounds, bank conflicts and sectors are known from before, and what is left is
 * one comparison, one count, and the move itself.
 */
#include "simt/simt_priv.h"

#ifdef __AVX512F__
#include <immintrin.h>
#endif

#define PASTE2(a, b) a##b
#define PASTE(a, b) PASTE2(a, b)
#define ISA(name) PASTE(PASTE(name, _), MG_ISA)
#define STRING2(x) #x
#define STRING(x) STRING2(x)
#define ALWAYS_INLINE inline __attribute__((always_inline))

/* All lanes of `mask` as a vector of 0 and ~0. */
static ALWAYS_INLINE uint32_t lane_on(uint32_t mask, unsigned i)
{
    return 0u - (mask >> i & 1u);
}

/* ---- arithmetic ---- */
#define C_B1 uint32_t
#define C_B16 uint16_t
#define C_B32 uint32_t
#define C_B64 uint64_t
#define PTR_B1(n, operand) const uint32_t n = mg__pred(w, operand);
#define PTR_B16(n, operand) const uint32_t *const n = mg__slot(w, operand);
#define PTR_B32(n, operand) const uint32_t *const n = mg__slot(w, operand);
#define PTR_B64(n, operand) const uint64_t *const n = mg__slot(w, operand);
#define PTR_V(n, operand)
#define GET_B1(n) (n >> i & 1u)
#define GET_B16(n) (uint16_t) n[i]
#define GET_B32(n) n[i]
#define GET_B64(n) n[i]

#define ARGS_1(A, B, C, D) GET_##A(pa)
#define ARGS_2(A, B, C, D) GET_##A(pa), GET_##B(pb)
#define ARGS_3(A, B, C, D) GET_##A(pa), GET_##B(pb), GET_##C(pc)
#define ARGS_4(A, B, C, D) GET_##A(pa), GET_##B(pb), GET_##C(pc), GET_##D(pd)

/* A destination is either one of the sources, lane for lane, or another slot: vector loads before stores are right. */
#define STORE_LANES(T, CALL)                                                                                           \
    T *const out = mg__slot(w, op->d);                                                                                 \
    if (MG_LIKELY(mask == ~0u)) {                                                                                      \
        _Pragma("GCC ivdep") for (unsigned i = 0; i < 32; i++) out[i] = (T)(CALL);                                     \
    } else {                                                                                                           \
        _Pragma("GCC ivdep") for (unsigned i = 0; i < 32; i++) out[i] = mask >> i & 1u ? (T)(CALL) : out[i];           \
    }
#define RESULT_B16(CALL) STORE_LANES(uint32_t, CALL)
#define RESULT_B32(CALL) STORE_LANES(uint32_t, CALL)
#define RESULT_B64(CALL) STORE_LANES(uint64_t, CALL)
#define RESULT_B1(CALL)                                                                                                \
    uint32_t bits = 0;                                                                                                 \
    for (unsigned i = 0; i < 32; i++)                                                                                  \
        bits |= (uint32_t)(CALL) << i;                                                                                 \
    mg__pred_set(w, op->d, bits, mask);

#define HANDLER(name, suffix, MODE, RET, N, A, B, C, D)                                                                \
    static MG_HANDLER(h_##name##suffix)                                                                                \
    {                                                                                                                  \
        const uint32_t mode = MODE;                                                                                    \
        (void)mode;                                                                                                    \
        PTR_##A(pa, op->a) PTR_##B(pb, op->b) PTR_##C(pc, op->c) PTR_##D(pd, op->e)                                    \
        RESULT_##RET(sem_##name(ARGS_##N(A, B, C, D), mode)) return op + 1;                                            \
    }
#define MODES_0(name, RET, N, A, B, C, D) HANDLER(name, _0, 0, RET, N, A, B, C, D)
#define MODES_1(name, RET, N, A, B, C, D)                                                                              \
    HANDLER(name, _0, 0, RET, N, A, B, C, D)                                                                           \
    HANDLER(name, _f, SEM_FTZ, RET, N, A, B, C, D)                                                                     \
    HANDLER(name, _m, op->mode, RET, N, A, B, C, D)
#define SEM(name, RET, N, A, B, C, D, M) MODES_##M(name, RET, N, A, B, C, D)
#include "sem/sem.def"
#undef SEM

#define ROW_0(name) {h_##name##_0, h_##name##_0, h_##name##_0},
#define ROW_1(name) {h_##name##_0, h_##name##_f, h_##name##_m},
static const mg_handler alu[][3] = {
#define SEM(name, RET, N, A, B, C, D, M) ROW_##M(name)
#include "sem/sem.def"
#undef SEM
};

static MG_HANDLER(h_mov32)
{
    uint32_t *d = mg__slot(w, op->d);
    const uint32_t *a = mg__slot(w, op->a);
    if (MG_LIKELY(mask == ~0u))
        memcpy(d, a, 128);
    else
        for (unsigned i = 0; i < 32; i++)
            d[i] = mask >> i & 1u ? a[i] : d[i];
    return op + 1;
}

static MG_HANDLER(h_mov64)
{
    uint64_t *d = mg__slot(w, op->d);
    const uint64_t *a = mg__slot(w, op->a);
    if (MG_LIKELY(mask == ~0u))
        memcpy(d, a, 256);
    else
        for (unsigned i = 0; i < 32; i++)
            d[i] = mask >> i & 1u ? a[i] : d[i];
    return op + 1;
}

/* ---- memory ---- */
static ALWAYS_INLINE bool same_shape32(const struct mg_shape *s, const uint32_t *a, uint32_t base, uint32_t mask)
{
    uint32_t differ = 0;
    if (MG_LIKELY(mask == ~0u))
        for (unsigned i = 0; i < 32; i++)
            differ |= (a[i] - base) ^ (uint32_t)s->delta[i];
    else
        for (unsigned i = 0; i < 32; i++)
            differ |= ((a[i] - base) ^ (uint32_t)s->delta[i]) & lane_on(mask, i);
    return differ == 0;
}

static ALWAYS_INLINE bool same_shape64(const struct mg_shape *s, const uint64_t *a, uint64_t base, uint32_t mask)
{
    uint64_t differ = 0;
    if (MG_LIKELY(mask == ~0u))
        for (unsigned i = 0; i < 32; i++)
            differ |= (a[i] - base) ^ (uint64_t)(int64_t)s->delta[i];
    else
        for (unsigned i = 0; i < 32; i++)
            differ |= ((a[i] - base) ^ (uint64_t)(int64_t)s->delta[i]) & ((uint64_t)0 - (mask >> i & 1u));
    return differ == 0;
}

/* The remembered shape of this access, or NULL. `base` gets the first active lane's address. */
static ALWAYS_INLINE struct mg_shape *find_shape(struct mg_warp *w, const struct mg_mem *mem, uint32_t mask,
                                                 const bool addr64, uint64_t *base)
{
    struct mg_site *site = &w->sites[mem->site];
    struct mg_shape *s = site->shapes;
    if (MG_UNLIKELY(!s))
        return NULL;
    const unsigned first = (unsigned)__builtin_ctz(mask);
    const uint64_t low_bits = (uint64_t)mem->width * mem->vec - 1;
    const void *address = mg__slot(w, mem->addr);
    uint64_t offset = (uint64_t)mem->offset + (mem->local_frame ? w->frame->local_base : 0);
    for (unsigned k = 0; k < MG_SHAPES; k++, s++) {
        if (s->mask != mask)
            continue;
        if (addr64) {
            const uint64_t *a = address;
            uint64_t b = a[first];
            if (!same_shape64(s, a, b, mask))
                continue;
            b += offset;
            if (b - s->lo > s->range || b & low_bits)
                continue;
            *base = b;
        } else {
            const uint32_t *a = address;
            uint32_t b = a[first];
            if (!same_shape32(s, a, b, mask))
                continue;
            b += (uint32_t)offset;
            if ((uint64_t)b - s->lo > s->range || b & low_bits)
                continue;
            *base = b;
        }
        s->times[*base & 31]++;
        return s;
    }
    return NULL;
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

/* One element of every lane, `p(i)` apart; reg may also be an address register, so nothing is written before all is read. */
MG_NO_TSAN static void load_lanes(struct mg_warp *w, const struct mg_mem *mem, uint32_t mask, uint8_t *const where[32])
{
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
    for (unsigned v = 0; v < mem->vec; v++) {
        const void *s = mg__slot(w, mem->reg[v]);
        for (uint32_t rest = mask; rest; rest &= rest - 1) {
            unsigned i = (unsigned)__builtin_ctz(rest);
            store_element(where[i] + v * mem->width, mem->width,
                          mem->dst64 ? ((const uint64_t *)s)[i] : ((const uint32_t *)s)[i]);
        }
    }
}

static __attribute__((noinline)) const struct mg_op *load_slow(struct mg_warp *w, const struct mg_op *op, uint32_t mask)
{
    uint64_t address[32];
    uint8_t *where[32];
    mg__address(w, op->u.mem, address);
    if (!mg__access_slow(w, op, mask, address, where))
        return NULL;
    load_lanes(w, op->u.mem, mask, where);
    return op + 1;
}

static __attribute__((noinline)) const struct mg_op *store_slow(struct mg_warp *w, const struct mg_op *op, uint32_t mask)
{
    uint64_t address[32];
    uint8_t *where[32];
    mg__address(w, op->u.mem, address);
    if (!mg__access_slow(w, op, mask, address, where))
        return NULL;
    store_lanes(w, op->u.mem, mask, where);
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
    if (MG_LIKELY(mask == ~0u && mem->width == 4 && mem->vec == 1 && !mem->dst64)) {
        uint32_t *d = mg__slot(w, mem->reg[0]);
        if (s->plan == MG_PLAN_WINDOW) {
            load_window(d, p + s->low, s->index);
        } else if (s->plan == MG_PLAN_CONTIGUOUS) {
            memcpy(d, p, 128);
        } else if (s->plan == MG_PLAN_UNIFORM) {
            uint32_t v;
            memcpy(&v, p, 4);
            for (unsigned i = 0; i < 32; i++)
                d[i] = v;
        } else {
            gather32(d, p, s->delta);
        }
        return;
    }
    for (unsigned v = 0; v < mem->vec; v++, p += mem->width) {
        if (mem->reg[v] < 0)
            continue;
        if (mem->width == 8 && mask == ~0u) {
            uint64_t *d = mg__slot(w, mem->reg[v]);
            for (unsigned i = 0; i < 32; i++)
                memcpy(&d[i], p + s->delta[i], 8);
        } else if (mem->width == 4 && mask == ~0u && !mem->dst64) {
            gather32(mg__slot(w, mem->reg[v]), p, s->delta);
        } else {
            void *d = mg__slot(w, mem->reg[v]);
            for (uint32_t rest = mask; rest; rest &= rest - 1) {
                unsigned i = (unsigned)__builtin_ctz(rest);
                uint64_t value = load_element(p + s->delta[i], mem->width, mem->sext);
                if (mem->dst64)
                    ((uint64_t *)d)[i] = value;
                else
                    ((uint32_t *)d)[i] = (uint32_t)value;
            }
        }
    }
}

MG_NO_TSAN static ALWAYS_INLINE void store_shape(struct mg_warp *w, const struct mg_mem *mem, uint32_t mask,
                                                 const struct mg_shape *s, uint8_t *p)
{
    if (mask == ~0u && s->plan == MG_PLAN_CONTIGUOUS && mem->vec == 1 && mem->width >= 4) {
        memcpy(p, mg__slot(w, mem->reg[0]), mem->width == 4 ? 128 : 256);
        return;
    }
    for (unsigned v = 0; v < mem->vec; v++, p += mem->width) {
        const void *r = mg__slot(w, mem->reg[v]);
        if (mem->width == 4) {
            const uint32_t *r4 = r;
            if (mask == ~0u)
                for (unsigned i = 0; i < 32; i++)
                    memcpy(p + s->delta[i], &r4[i], 4);
            else
                for (uint32_t rest = mask; rest; rest &= rest - 1) {
                    unsigned i = (unsigned)__builtin_ctz(rest);
                    memcpy(p + s->delta[i], &r4[i], 4);
                }
        } else {
            for (uint32_t rest = mask; rest; rest &= rest - 1) {
                unsigned i = (unsigned)__builtin_ctz(rest);
                store_element(p + s->delta[i], mem->width, mem->dst64 ? ((const uint64_t *)r)[i] : ((const uint32_t *)r)[i]);
            }
        }
    }
}

static ALWAYS_INLINE void polling(struct mg_warp *w, const struct mg_mem *mem)
{
    if (MG_UNLIKELY(mem->poll)) {
        w->slice -= MG_POLL_COST;
        w->polled = true;
    }
}

#define LOAD(name, ADDR64, WHERE)                                                                                      \
    static MG_HANDLER(name)                                                                                            \
    {                                                                                                                  \
        const struct mg_mem *mem = op->u.mem;                                                                          \
        uint64_t base;                                                                                                 \
        polling(w, mem);                                                                                               \
        const struct mg_shape *s = find_shape(w, mem, mask, ADDR64, &base);                                            \
        if (MG_UNLIKELY(!s))                                                                                           \
            return load_slow(w, op, mask);                                                                             \
        load_shape(w, mem, mask, s, WHERE);                                                                            \
        return op + 1;                                                                                                 \
    }
#define STORE(name, ADDR64, WHERE)                                                                                     \
    static MG_HANDLER(name)                                                                                            \
    {                                                                                                                  \
        const struct mg_mem *mem = op->u.mem;                                                                          \
        uint64_t base;                                                                                                 \
        const struct mg_shape *s = find_shape(w, mem, mask, ADDR64, &base);                                            \
        if (MG_UNLIKELY(!s))                                                                                           \
            return store_slow(w, op, mask);                                                                            \
        store_shape(w, mem, mask, s, WHERE);                                                                           \
        return op + 1;                                                                                                 \
    }
LOAD(h_ld_shared32, false, w->block->shared + base)
LOAD(h_ld_shared64, true, w->block->shared + base)
LOAD(h_ld_global, true, (const uint8_t *)(uintptr_t)base)
STORE(h_st_shared32, false, w->block->shared + base)
STORE(h_st_shared64, true, w->block->shared + base)
STORE(h_st_global, true, (uint8_t *)(uintptr_t)base)

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
    .alu = alu,
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
};
