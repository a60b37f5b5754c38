/* sem_wgmma.h - what a warp of a warpgroup computes of wgmma.mma_async: 16 of the 64 rows of D = A B + D.
 *
 * Where operands are in shared memory a matrix descriptor says (PTX ISA, "Asynchronous warpgroup level matrix shared
 * memory layout"): sem_wgmma_at gives the address of 16 bytes, so that whoever has the memory can fetch them and lay
 * them down as sem_wgmma wants them: a row of A, and a column of B, as PTX numbers their elements along k, one behind
 * the other. Sums are those of sem_mma.h; of eight bits the tensor cores keep fewer of them (sem_wgmma_sums).
 */
#ifndef MG_SEM_WGMMA_H
#define MG_SEM_WGMMA_H
#include "sem_mma.h"

enum { /* flags */
       SEM_WGMMA_MINUS_A = 1,
       SEM_WGMMA_MINUS_B = 2,
       SEM_WGMMA_A_MN = 4 /* A's rows, B's columns are what is contiguous in memory */,
       SEM_WGMMA_B_MN = 8,
       SEM_WGMMA_A_REGISTERS = 16
};
enum {
    SEM_WGMMA_COLUMNS = 256,
    SEM_WGMMA_A_BYTES = 32, /* of a row: what is stored of sparse ones */
    SEM_WGMMA_B_BYTES = 64  /* of a column, at most */
};
struct mg_sem_wgmma {
    struct mg_sem_mma each; /* as an mma of 16 rows and 8 columns */
    uint16_t n;
    uint8_t flags;
};
static inline unsigned sem_wgmma_b_bytes(const struct mg_sem_wgmma *w)
{
    return w->each.flags & SEM_MMA_SPARSE ? 64 : 32;
}
/* Registers of D that a lane has. */
static inline unsigned sem_wgmma_registers(const struct mg_sem_wgmma *w)
{
    return w->n / 2u * sem_mma_format(sem_mma_d(&w->each))->bits / 32;
}

/* ---- matrix descriptors ---- */

/* The address of 16 bytes: of line `line` (a row of A, a column of B) the chunk-th ones along k; or, where lines are
 * contiguous, of element k = chunk of eight lines from `line` on. */
static inline uint32_t sem_wgmma_at(uint64_t descriptor, bool mn, unsigned line, unsigned chunk)
{
    const uint32_t start = (uint32_t)(descriptor & 0x3fff) << 4, leading = (uint32_t)(descriptor >> 16 & 0x3fff) << 4,
                   stride = (uint32_t)(descriptor >> 32 & 0x3fff) << 4, base = (uint32_t)(descriptor >> 49 & 7);
    const unsigned mode = (unsigned)(descriptor >> 62), swizzle = mode ? 4 - mode : 0, width = 16u << swizzle;
    uint32_t at = start;
    if (!mn)
        at += line / 8 * stride + line % 8 * width + chunk * (swizzle ? 16 : leading);
    else if (swizzle)
        at += line * 2 % width + line * 2 / width * leading + chunk % 8 * width + chunk / 8 * stride;
    else
        at += line / 8 * stride + chunk % 8 * 16 + chunk / 8 * leading;
    at &= 0x3ffff;
    return at ^ (((at >> 7) - base) & ((1u << swizzle) - 1)) << 4;
}

/* ---- arithmetic ---- */
static inline struct sem_mma_sums sem_wgmma_sums(const struct mg_sem_wgmma *w)
{
    const unsigned type = sem_mma_a(&w->each);
    return sem_mma_is_eight(type) ? (struct sem_mma_sums){32, 13, false}
                                  : (struct sem_mma_sums){type == SEM_MMA_TF32 ? 8 : 16, 25, false};
}

/* Registers of D of eight columns, as mma has them. */
static inline uint32_t *const *sem_wgmma_slab(uint32_t *const *d, unsigned bits, unsigned slab)
{
    return d + (bits == 16 ? 2 : 4) * slab;
}

/* The first words of each row, or column, along k, beside those of the others; the highest bits of their elements are
 * turned. */
static inline void sem_wgmma_words(const void *rows, unsigned count, unsigned pitch, unsigned words, uint32_t signs,
                                   uint32_t *to)
{
    for (unsigned row = 0; row < count; row++)
        for (unsigned word = 0; word < words; word++) {
            uint32_t x;
            memcpy(&x, (const uint8_t *)rows + row * pitch + 4 * word, 4);
            to[word * count + row] = x ^ signs;
        }
}

static inline void sem_wgmma_floats(const struct mg_sem_wgmma *w, const uint8_t (*a)[SEM_WGMMA_A_BYTES],
                                    const uint8_t (*b)[SEM_WGMMA_B_BYTES], const uint32_t *e, bool adds,
                                    uint32_t *const *d)
{
    struct sem_mma_left x;
    struct sem_mma_right y;
    uint32_t sums[SEM_MMA_COLUMNS][SEM_MMA_ROWS] __attribute__((aligned(64)));
    const unsigned type = sem_mma_a(&w->each), btype = sem_mma_b(&w->each), bits = sem_mma_format(type)->bits;
    const unsigned k = SEM_WGMMA_A_BYTES * 8 / bits, dbits = sem_mma_format(sem_mma_d(&w->each))->bits;
    const uint32_t signs = bits == 8 ? 0x80808080u : bits == 16 ? 0x80008000u : 0x80000000u;
    const struct sem_mma_sums how = sem_wgmma_sums(w);
    struct sem_mma_ready left = sem_mma_ready(type, 89, k),
                         right = sem_mma_ready(btype, 89, sem_wgmma_b_bytes(w) * 8 / bits);
    /* Subnormal numbers of e4m3 are taken as they are written; mma's become f16 first. */
    left.least = type == SEM_MMA_E4M3 ? -6 : left.least;
    right.least = btype == SEM_MMA_E4M3 ? -6 : right.least;
    sem_mma_find_partners(&w->each, w->each.flags & SEM_MMA_SPARSE ? e : NULL, &left, &x);
    sem_wgmma_words(a, SEM_MMA_ROWS, SEM_WGMMA_A_BYTES, SEM_WGMMA_A_BYTES / 4, w->flags & SEM_WGMMA_MINUS_A ? signs : 0,
                    x.words[0]);
    sem_mma_left_ready(&x, &left);
    for (unsigned slab = 0; slab < w->n / 8u; slab++) {
        uint32_t *const *of_d = sem_wgmma_slab(d, dbits, slab);
        sem_wgmma_words(b[8 * slab], SEM_MMA_COLUMNS, SEM_WGMMA_B_BYTES, sem_wgmma_b_bytes(w) / 4,
                        w->flags & SEM_WGMMA_MINUS_B ? signs : 0, y.words[0]);
        sem_mma_right_ready(&y, &right);
        if (adds)
            sem_mma_get_sums(dbits == 16, (const uint32_t *const *)of_d, sums);
        else
            memset(sums, 0, sizeof sums);
        sem_mma_columns(&x, &y, how, k, dbits == 16, (const uint32_t(*)[SEM_MMA_ROWS])sums, sums);
        for (unsigned n = 0; dbits == 32 && how.fraction < 23 && n < SEM_MMA_COLUMNS; n++)
            for (unsigned row = 0; row < SEM_MMA_ROWS; row++)
                if ((sums[n][row] & 0x7f800000u) != 0x7f800000u)
                    sums[n][row] &= ~0u << (23 - how.fraction);
        sem_mma_put_sums(dbits == 16, sums, of_d);
    }
}

static inline void sem_wgmma_integers(const struct mg_sem_wgmma *w, const uint8_t (*a)[SEM_WGMMA_A_BYTES],
                                      const uint8_t (*b)[SEM_WGMMA_B_BYTES], const uint32_t *e, bool adds,
                                      uint32_t *const *d)
{
    struct sem_mma_left x;
    struct sem_mma_right y;
    uint32_t sums[SEM_MMA_COLUMNS][SEM_MMA_ROWS] __attribute__((aligned(64)));
    struct mg_sem_mma each = w->each;
    const unsigned type = sem_mma_a(&w->each), btype = sem_mma_b(&w->each), words = SEM_WGMMA_A_BYTES / 4;
    each.flags |= SEM_MMA_AND; /* what there is of single bits */
    sem_mma_find_partners(&w->each, w->each.flags & SEM_MMA_SPARSE ? e : NULL,
                          &(struct sem_mma_ready){.k = SEM_WGMMA_A_BYTES}, &x);
    sem_wgmma_words(a, SEM_MMA_ROWS, SEM_WGMMA_A_BYTES, words, 0, x.words[0]);
    if (type != SEM_MMA_B1)
        sem_mma_integers_ready(type, SEM_MMA_ROWS, x.words, words, x.value);
    for (unsigned slab = 0; slab < w->n / 8u; slab++) {
        uint32_t *const *of_d = sem_wgmma_slab(d, 32, slab);
        sem_wgmma_words(b[8 * slab], SEM_MMA_COLUMNS, SEM_WGMMA_B_BYTES, sem_wgmma_b_bytes(w) / 4, 0, y.words[0]);
        if (type != SEM_MMA_B1)
            sem_mma_integers_ready(btype, SEM_MMA_COLUMNS, y.words, sem_wgmma_b_bytes(w) / 4, y.value);
        if (adds)
            sem_mma_get_sums(false, (const uint32_t *const *)of_d, sums);
        else
            memset(sums, 0, sizeof sums);
        sem_mma_add_products(&each, &x, &y, type == SEM_MMA_B1 ? words : SEM_WGMMA_A_BYTES, sums);
        sem_mma_put_sums(false, sums, of_d);
    }
}

/* `d` has the registers of all 32 lanes, and gets them; `e` the metadata's; !adds: D is not added. */
static inline void sem_wgmma(const struct mg_sem_wgmma *w, const uint8_t (*a)[SEM_WGMMA_A_BYTES],
                             const uint8_t (*b)[SEM_WGMMA_B_BYTES], const uint32_t *e, bool adds, uint32_t *const *d)
{
    if (sem_mma_a(&w->each) >= SEM_MMA_S8)
        sem_wgmma_integers(w, a, b, e, adds, d);
    else
        sem_wgmma_floats(w, a, b, e, adds, d);
}
#endif
