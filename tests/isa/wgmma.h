/* wgmma.h - warpgroup matrix multiplications as PTX: their names, the kernels that run them, the operands they are fed,
 * and which elements of shared memory a matrix descriptor names.
 *
 * As matrix.h: one list serves the engine and a GPU (wgmma_device.c), which all get the same operands.
 */
#ifndef MG_TEST_WGMMA_H
#define MG_TEST_WGMMA_H
#include "isa/matrix.h"

struct wgmma_case {
    char text[112], name[80];
    bool rs, ta, tb, minus_a, minus_b, zero, twice, sparse;
    int n, k, selector, results; /* k: as the name says, of sparse ones twice what is stored of A */
    const struct matrix_type *a, *b, *c;
    int a_words, b_words; /* images of A (none of "rs") and B in shared memory, contiguous core matrices */
    int ra_words, c_words, thread_words; /* of a thread, behind the images: A, C, and metadata */
    int in_words, out_words;             /* of a block of 128 threads */
};
/* False: there are no more. */
bool wgmma_case(int which, struct wgmma_case *c);
int wgmma_blocks(const struct wgmma_case *c); /* block b has operands of kind b % MATRIX_KINDS */
void wgmma_input(const struct wgmma_case *c, int block, uint32_t *words);
/* The kernel "run": (in, out). */
void wgmma_module(FILE *out, const struct wgmma_case *c);

/* Which elements a descriptor names: the other operand is a matrix of ones in its diagonal, so that D is the operand;
 * each element of shared memory is the number of itself, bits `part` * 8 and on. A: 64 rows of `k`; B: the first k rows
 * of D, of n columns. */
enum { WGMMA_SHARED = 48 << 10 };
struct wgmma_layout {
    char text[96];
    const struct matrix_type *type;
    bool of_b, transposed;
    int n, k, parts;
    uint64_t descriptor; /* of a matrix at the start of shared memory */
    struct wgmma_case c; /* what is run */
};
bool wgmma_layout(int which, struct wgmma_layout *l);
void wgmma_layout_module(FILE *out, const struct wgmma_layout *l);
/* Words of the whole input: shared memory, and what follows of each thread. */
int wgmma_layout_words(const struct wgmma_layout *l);
void wgmma_layout_input(const struct wgmma_layout *l, int part, uint32_t *words);
/* The number in bits `part` of D's element (row, column), D as the kernel wrote it. */
unsigned wgmma_layout_number(const struct wgmma_layout *l, const uint32_t *out, int row, int column);
#endif
