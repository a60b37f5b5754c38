/* matrix.h - the matrix instructions as PTX: their names, the kernels that run them, the operands they are fed.
 *
 * One list serves the engine, src/sem and a GPU (matrix_device.c), which all get the same operands: random and directed
 * ones of several kinds, the same for every machine and run.
 */
#ifndef MG_TEST_MATRIX_H
#define MG_TEST_MATRIX_H
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* A type of elements: of `exponent` and `mantissa` bits, or an integer where exponent is 0. */
struct matrix_type {
    char name[8];
    int bits, exponent, mantissa;
    bool is_signed;
};
struct matrix_case {
    const char *text; /* matrix.def's */
    char name[96];    /* without what stands behind a space */
    int selector;     /* that, of sparse ones */
    bool wmma, sparse, a_col, b_col;
    int m, n, k, times; /* mma.m8n8k4 of f16 multiplies four times as much as its shape says */
    const struct matrix_type *a, *b, *c, *d;
    int in_words, out_words; /* 32-bit words of a warp: a, b, c (and metadata) lane after lane, or matrices of wmma */
    int a_words, b_words, c_words, d_words; /* of one lane, or of a whole matrix for wmma */
};
enum { MATRIX_KINDS = 9, MATRIX_RESULTS = 1 << 20 };

const struct matrix_type *matrix_type_named(const char *name); /* NULL: there is none */
uint64_t matrix_random(uint64_t *state);
/* `count` words with elements of a kind, of A, of B, or, with `sum`, of C. */
void matrix_fill(const struct matrix_type *t, int kind, bool sum, bool b, int count, uint64_t *state, uint32_t *words);

int matrix_count(void);
bool matrix_case(int which, struct matrix_case *c);
/* How many give MATRIX_RESULTS elements; warp w has operands of kind w % MATRIX_KINDS. */
int matrix_warps(const struct matrix_case *c);
void matrix_input(const struct matrix_case *c, int warp, uint32_t *words);
/* Writes a module with the kernel "run": (in, out), one case in every warp. */
void matrix_module(FILE *out, const struct matrix_case *c);

/* wmma's fragments. `which` counts all pairs of a wmma.load's operand and layout that there are; false: no more. Every
 * element of the matrix in memory is its own number, in the order of memory, shifted right by `shift`; the registers of
 * each lane come out. */
struct matrix_fragment {
    char text[96]; /* "wmma.load.a.sync.aligned.row.m16n16k16.f16" */
    const struct matrix_type *type;
    bool col;
    int rows, columns, stride, words; /* stored so; registers of a lane, in 32-bit words */
};
bool matrix_fragment(int which, struct matrix_fragment *f);
void matrix_fragment_module(FILE *out, const struct matrix_fragment *f);
void matrix_fragment_input(const struct matrix_fragment *f, int shift, uint32_t words[1024]);
#endif
