/* sem_warp.h - what operations over the lanes of a warp compute: pure functions over 32 lanes, written once.
 *
 * sem_warp_<name>(io) for every row of sem_warp.def. Operands are those of the instruction in its order, each a slot of
 * 32 lanes. The lanes of `run` execute it together; `set[i]` are the lanes that lane i names, of those in `run`, itself
 * included (PTX ISA, membermask). What becomes of lanes outside `run` is not said: the caller keeps their old values.
 * Results never alias sources.
 */
#ifndef MG_SEM_WARP_H
#define MG_SEM_WARP_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MG_SEM_WARP_IN 16
#define MG_SEM_WARP_OUT 8

struct mg_sem_warp {
    const void *in[MG_SEM_WARP_IN]; /* uint32_t[32], uint64_t[32], or one uint32_t for a predicate */
    void *out[MG_SEM_WARP_OUT];     /* the same; a second result that nobody wants is NULL */
    const uint32_t *set;            /* [32]; only for rows with SETS */
    uint32_t run;
    uint32_t *from; /* [32] or NULL: the lane that each lane's value came from, of shuffles */
};

/* ---- shfl (PTX ISA, "shfl.sync"): c holds the clamp in its low five bits and the segment mask in bits 8 to 12 ---- */
enum { SEM_SHFL_UP, SEM_SHFL_DOWN, SEM_SHFL_BFLY, SEM_SHFL_IDX };

static inline void sem_shfl(const struct mg_sem_warp *io, int kind)
{
    const uint32_t *a = io->in[0], *b = io->in[1], *c = io->in[2];
    uint32_t *d = io->out[0], valid = 0;
    for (uint32_t i = 0; i < 32; i++) {
        uint32_t by = b[i] & 31, clamp = c[i] & 31, segment = c[i] >> 8 & 31, least = i & segment;
        int32_t most = (int32_t)(least | (clamp & ~segment));
        int32_t j = kind == SEM_SHFL_UP     ? (int32_t)i - (int32_t)by
                    : kind == SEM_SHFL_DOWN ? (int32_t)(i + by)
                    : kind == SEM_SHFL_BFLY ? (int32_t)(i ^ by)
                                            : (int32_t)(least | (by & ~segment));
        bool inside = kind == SEM_SHFL_UP ? j >= most : j <= most;
        uint32_t lane = inside ? (uint32_t)j & 31 : i;
        d[i] = a[lane];
        valid |= (uint32_t)inside << i;
        if (io->from)
            io->from[i] = lane;
    }
    if (io->out[1])
        *(uint32_t *)io->out[1] = valid;
}
static inline void sem_warp_shfl_up_b32(const struct mg_sem_warp *io)
{
    sem_shfl(io, SEM_SHFL_UP);
}
static inline void sem_warp_shfl_down_b32(const struct mg_sem_warp *io)
{
    sem_shfl(io, SEM_SHFL_DOWN);
}
static inline void sem_warp_shfl_bfly_b32(const struct mg_sem_warp *io)
{
    sem_shfl(io, SEM_SHFL_BFLY);
}
static inline void sem_warp_shfl_idx_b32(const struct mg_sem_warp *io)
{
    sem_shfl(io, SEM_SHFL_IDX);
}

/* ---- vote ---- */
static inline void sem_warp_vote_all_pred(const struct mg_sem_warp *io)
{
    uint32_t yes = *(const uint32_t *)io->in[0], result = 0;
    for (unsigned i = 0; i < 32; i++)
        result |= (uint32_t)((yes & io->set[i]) == io->set[i]) << i;
    *(uint32_t *)io->out[0] = result;
}
static inline void sem_warp_vote_any_pred(const struct mg_sem_warp *io)
{
    uint32_t yes = *(const uint32_t *)io->in[0], result = 0;
    for (unsigned i = 0; i < 32; i++)
        result |= (uint32_t)((yes & io->set[i]) != 0) << i;
    *(uint32_t *)io->out[0] = result;
}
static inline void sem_warp_vote_uni_pred(const struct mg_sem_warp *io)
{
    uint32_t yes = *(const uint32_t *)io->in[0], result = 0;
    for (unsigned i = 0; i < 32; i++)
        result |= (uint32_t)((yes & io->set[i]) == io->set[i] || (yes & io->set[i]) == 0) << i;
    *(uint32_t *)io->out[0] = result;
}
static inline void sem_warp_vote_ballot_b32(const struct mg_sem_warp *io)
{
    uint32_t yes = *(const uint32_t *)io->in[0], *d = io->out[0];
    for (unsigned i = 0; i < 32; i++)
        d[i] = yes & io->set[i];
}

/* ---- match: the lanes of the set with the same value; all: the whole set, or none ---- */
/* A bit for each of 32 bytes, which are 0 or 1. */
static inline uint32_t sem_bits_of(const uint8_t is[32])
{
    uint32_t bits = 0;
    for (unsigned k = 0; k < 4; k++) {
        uint64_t eight = 0;
        for (unsigned i = 0; i < 8; i++)
            eight |= (uint64_t)is[8 * k + i] << 8 * i;
        bits |= (uint32_t)(eight * UINT64_C(0x0102040810204080) >> 56) << 8 * k; /* bit 8 i goes to bit 56 + i */
    }
    return bits;
}
enum { SEM_MATCH_BITS = 12 }; /* in which values may differ, if bit by bit is to take less time */
#define SEM_MATCH(bits)                                                                                           \
    /* Where they differ in few bits, as digits do: by each of these the lanes that have it, or not. */           \
    static inline void sem_alike_b##bits(const struct mg_sem_warp *io, uint##bits##_t differ, uint32_t equal[32]) \
    {                                                                                                             \
        const uint##bits##_t *a = io->in[0];                                                                      \
        for (unsigned k = 0; k < 32; k++)                                                                         \
            equal[k] = io->run;                                                                                   \
        for (; differ; differ &= differ - 1) {                                                                    \
            const unsigned bit = (unsigned)__builtin_ctzll(differ);                                               \
            uint8_t is[32];                                                                                       \
            for (unsigned k = 0; k < 32; k++)                                                                     \
                is[k] = a[k] >> bit & 1;                                                                          \
            const uint32_t have = sem_bits_of(is);                                                                \
            for (unsigned k = 0; k < 32; k++)                                                                     \
                equal[k] &= have ^ ((uint32_t)is[k] - 1);                                                         \
        }                                                                                                         \
    }                                                                                                             \
    /* Else each value once: the lanes that have it. */                                                           \
    static inline void sem_equal_b##bits(const struct mg_sem_warp *io, uint32_t equal[32])                        \
    {                                                                                                             \
        const uint##bits##_t *a = io->in[0];                                                                      \
        uint##bits##_t differ = 0;                                                                                \
        for (uint32_t rest = io->run; rest; rest &= rest - 1)                                                     \
            differ |= a[__builtin_ctz(rest)] ^ a[__builtin_ctz(io->run)];                                         \
        if (__builtin_popcountll(differ) <= SEM_MATCH_BITS) {                                                     \
            sem_alike_b##bits(io, differ, equal);                                                                 \
            return;                                                                                               \
        }                                                                                                         \
        for (uint32_t rest = io->run; rest;) {                                                                    \
            const uint##bits##_t value = a[__builtin_ctz(rest)];                                                  \
            uint8_t is[32];                                                                                       \
            for (unsigned k = 0; k < 32; k++)                                                                     \
                is[k] = a[k] == value;                                                                            \
            const uint32_t same = sem_bits_of(is);                                                                \
            for (uint32_t k = same & rest; k; k &= k - 1)                                                         \
                equal[__builtin_ctz(k)] = same;                                                                   \
            rest &= ~same;                                                                                        \
        }                                                                                                         \
    }                                                                                                             \
    static inline void sem_warp_match_any_b##bits(const struct mg_sem_warp *io)                                   \
    {                                                                                                             \
        uint32_t *d = io->out[0], equal[32] = {0};                                                                \
        sem_equal_b##bits(io, equal);                                                                             \
        for (unsigned i = 0; i < 32; i++)                                                                         \
            d[i] = equal[i] & io->set[i];                                                                         \
    }                                                                                                             \
    static inline void sem_warp_match_all_b##bits(const struct mg_sem_warp *io)                                   \
    {                                                                                                             \
        uint32_t *d = io->out[0], equal[32] = {0}, all = 0;                                                       \
        sem_equal_b##bits(io, equal);                                                                             \
        for (unsigned i = 0; i < 32; i++) {                                                                       \
            const bool same = (equal[i] & io->set[i]) == io->set[i];                                              \
            d[i] = same ? io->set[i] : 0;                                                                         \
            all |= (uint32_t)same << i;                                                                           \
        }                                                                                                         \
        if (io->out[1])                                                                                           \
            *(uint32_t *)io->out[1] = all;                                                                        \
    }
SEM_MATCH(32)
SEM_MATCH(64)

/* ---- redux: each set once ---- */
#define SEM_REDUX(name, T, expression)                                     \
    static inline void sem_warp_redux_##name(const struct mg_sem_warp *io) \
    {                                                                      \
        const uint32_t *a = io->in[0];                                     \
        uint32_t *d = io->out[0];                                          \
        for (uint32_t rest = io->run; rest;) {                             \
            unsigned i = (unsigned)__builtin_ctz(rest);                    \
            T x = (T)a[i];                                                 \
            for (uint32_t k = io->set[i] & ~(1u << i); k; k &= k - 1) {    \
                T y = (T)a[__builtin_ctz(k)];                              \
                x = (T)(expression);                                       \
            }                                                              \
            uint32_t same = 0; /* the lanes that name this set */          \
            for (uint32_t k = rest; k; k &= k - 1)                         \
                if (io->set[__builtin_ctz(k)] == io->set[i])               \
                    same |= k & -k;                                        \
            for (uint32_t k = same; k; k &= k - 1)                         \
                d[__builtin_ctz(k)] = (uint32_t)x;                         \
            rest &= ~same;                                                 \
        }                                                                  \
    }
SEM_REDUX(add_u32, uint32_t, x + y)
SEM_REDUX(add_s32, uint32_t, x + y) /* two's complement, as the unsigned sum */
SEM_REDUX(min_u32, uint32_t, x < y ? x : y)
SEM_REDUX(min_s32, int32_t, x < y ? x : y)
SEM_REDUX(max_u32, uint32_t, x > y ? x : y)
SEM_REDUX(max_s32, int32_t, x > y ? x : y)
SEM_REDUX(and_b32, uint32_t, x &y)
SEM_REDUX(or_b32, uint32_t, x | y)
SEM_REDUX(xor_b32, uint32_t, x ^ y)

/* ---- movmatrix: an 8x8 matrix of 16-bit elements. Lane i has two of row i / 4, from column 2 (i % 4) on. ---- */
static inline void sem_warp_movmatrix_trans_b16(const struct mg_sem_warp *io)
{
    const uint32_t *a = io->in[0];
    uint32_t *d = io->out[0];
    for (unsigned i = 0; i < 32; i++) {
        unsigned row = i / 4, column = 2 * (i % 4), half = 16 * (row % 2);
        d[i] = (a[4 * column + row / 2] >> half & 0xffff) | a[4 * (column + 1) + row / 2] >> half << 16;
    }
}

/* ---- ldmatrix, stmatrix: matrices of 8x8 elements of 16 bits, four words a row. Row r of matrix j is with lane 8 j +
 * r, fragments are as movmatrix has them. ---- */
static inline void sem_ldmatrix(const struct mg_sem_warp *io, unsigned count, bool trans)
{
    for (unsigned j = 0; j < count; j++)
        for (unsigned i = 0; i < 32; i++) {
            const unsigned row = i / 4, pair = i % 4, half = 16 * (row % 2);
            uint32_t *d = io->out[j];
            if (!trans)
                d[i] = ((const uint32_t *)io->in[pair])[8 * j + row];
            else
                d[i] = (((const uint32_t *)io->in[row / 2])[8 * j + 2 * pair] >> half & 0xffff) |
                       ((const uint32_t *)io->in[row / 2])[8 * j + 2 * pair + 1] >> half << 16;
        }
}
static inline void sem_stmatrix(const struct mg_sem_warp *io, unsigned count, bool trans)
{
    for (unsigned w = 0; w < 4; w++)
        for (unsigned i = 0; i < 32; i++) {
            const unsigned row = i % 8, half = 16 * (row % 2);
            uint32_t *d = io->out[w];
            const uint32_t *s = io->in[i / 8 < count ? i / 8 : 0];
            d[i] =
                !trans ? s[4 * row + w] : (s[8 * w + row / 2] >> half & 0xffff) | s[8 * w + 4 + row / 2] >> half << 16;
        }
}
#define SEM_ROWS(count)                                                                     \
    static inline void sem_warp_ldmatrix_x##count##_b16(const struct mg_sem_warp *io)       \
    {                                                                                       \
        sem_ldmatrix(io, count, false);                                                     \
    }                                                                                       \
    static inline void sem_warp_ldmatrix_x##count##_trans_b16(const struct mg_sem_warp *io) \
    {                                                                                       \
        sem_ldmatrix(io, count, true);                                                      \
    }                                                                                       \
    static inline void sem_warp_stmatrix_x##count##_b16(const struct mg_sem_warp *io)       \
    {                                                                                       \
        sem_stmatrix(io, count, false);                                                     \
    }                                                                                       \
    static inline void sem_warp_stmatrix_x##count##_trans_b16(const struct mg_sem_warp *io) \
    {                                                                                       \
        sem_stmatrix(io, count, true);                                                      \
    }
SEM_ROWS(1)
SEM_ROWS(2)
SEM_ROWS(4)

/* ---- elect: the lowest lane of the set leads; its number is the result ---- */
static inline void sem_warp_elect(const struct mg_sem_warp *io)
{
    uint32_t *d = io->out[0], leads = 0;
    for (uint32_t rest = io->run; rest; rest &= rest - 1) {
        unsigned i = (unsigned)__builtin_ctz(rest), leader = (unsigned)__builtin_ctz(io->set[i]);
        d[i] = leader;
        leads |= (uint32_t)(leader == i) << i;
    }
    if (io->out[1])
        *(uint32_t *)io->out[1] = leads;
}

enum mg_sem_warp_op {
#define WARP(name, OUT, IN, SETS) MG_SEM_WARP_##name,
#include "sem_warp.def"
#undef WARP
    MG_SEM_WARP_COUNT
};
struct mg_sem_warp_row {
    const char *name, *out, *in; /* a letter an operand: w, d, p */
    bool sets;
    void (*fn)(const struct mg_sem_warp *io);
};
extern const struct mg_sem_warp_row mg_sem_warp_rows[MG_SEM_WARP_COUNT];
/* The operation of that name, or -1. */
int mg__sem_warp_find(const char *name);
#endif
