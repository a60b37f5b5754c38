/* matrix.h - what bench_matrix's files share: types of elements, and the peer in plain C. */
#ifndef BENCH_MATRIX_H
#define BENCH_MATRIX_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct matrix_type {
    const char *name, *kernel;
    unsigned bytes;
    int exponent, fraction, unused; /* bits of the format; unused: at its low end */
    unsigned block;                 /* products of k that are summed at once */
    int kept;                       /* bits of a sum behind the point of its largest part; 0: integers */
    bool as_f16;    /* eight bits become f16: half of a block's products are summed, then the others, and then added */
    bool warpgroup; /* the kernel is one of wgmma */
};

/* C = A B, n x n with lines of k; A by rows, B by columns. Zeros where there is no memory. */
void matrix_plain(const struct matrix_type *t, uint32_t *c, const void *a, const void *b, unsigned n, unsigned k);
void matrix_plain_whole(int32_t *restrict c, const int8_t *restrict a, const int8_t *restrict b, unsigned n,
                        unsigned k);
#endif
