/* sums.h - what the drivers of reduce, square_sum and dot share: arrays on both sides, one result, and how far it may
 * be off.
 *
 * The result is held to the library's plain C (mg_ref_*, which carries double or more), to the last bit for integers
 * and for min and max. A float sum may be off by the bound of kernels.h: (64 + n / 100000) u sum|x|, n u sum|x| for the
 * rung of global atomics, and as much as rounding may have moved the reference. Peers are held to the tighter one.
 */
#ifndef MG_BENCH_SUMS_H
#define MG_BENCH_SUMS_H
#include "bench.h"

#ifdef __cplusplus
extern "C" {
#endif

enum sums_type { SUMS_I32, SUMS_F32, SUMS_F64 };
struct sums {
    enum sums_type type;
    int64_t n;
    void *x, *y, *result; /* on the device; y is NULL where there is one array */
    void *host_x, *host_y;
    void *work, *peer_work;
    size_t work_bytes, peer_work_bytes;
    /* Set by the driver once the arrays are filled. */
    double want, magnitude; /* the reference; the sum of the terms' magnitudes, 0: exact */
    /* Set before each run. */
    bool loose; /* the order of its additions varies */
    bool root;  /* the result is the square root of what is wanted */
};

size_t sums_size(enum sums_type type);
/* `arrays` of n random elements on the device and the host; NULL: there is no room. */
struct sums *sums_make(enum sums_type type, int64_t n, int arrays);
void sums_free(void *sums);
/* Makes the workspace of all rungs: `query` is the operation's call with these two arguments and no workspace. */
bool sums_workspace(struct sums *s, const struct mg_variant *(*variants)(size_t *count),
                    int (*query)(struct sums *s, int variant, struct CUstream_st *stream, void *work, size_t *bytes));
struct bench_error sums_verify(void *sums);
/* The rung of global atomics, all threads on one word, takes half a second at larger sizes, as reduce shows. */
bool sums_skip_atomics(const struct bench_size *size, int variant);
typedef void sums_routine(void);
/* cuBLAS's handle, in the stream and with its results on the device, as ours are (else each call would wait for one),
 * and its routine of that name. NULL: it is not there, or n is too large for it. Whatever the call returns goes through
 * the end. */
void *sums_cublas(const struct sums *sums, const char *name, struct CUstream_st *stream, sums_routine **routine);
int sums_cublas_end(void *handle, int status);

#ifdef __cplusplus
}
#endif
#endif
