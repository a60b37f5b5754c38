/* kernels.h - the collection: shared-memory kernels behind plain C, each operation a ladder from naive to best.
 *
 * No handles and no set-up: call, and look at the status.
 *     mg_gemm_f32(stream, MG_BEST, m, n, k, 1.0f, a, lda, b, ldb, 0.0f, c, ldc);
 *
 * Conventions of every call:
 *
 *  - Pointers are to device memory unless a comment says host. Inputs are not changed; an output may not overlap an
 *    input unless the call says so. Nothing is kept: the caller owns all memory, before and after.
 *  - Work is enqueued on `stream` (a cudaStream_t; NULL is the default stream) of the calling thread's current device,
 *    and the call returns at once. Host arrays (filters, weights) are read before it returns.
 *  - Sizes are in elements, leading dimensions too. Zero sizes are allowed: there is nothing to read, outputs of zero
 *    size are not touched, and a result that always exists (a sum) is that of no elements. A pointer that a size of
 *    zero makes useless may be NULL. Every size is allowed that memory holds, and every alignment that the element's
 *    type asks for.
 *  - `variant` is a rung: an index into the operation's list (mg_<op>_variants), or MG_BEST. All rungs compute the
 *    same.
 *  - A call allocates nothing. Where a rung needs scratch memory the call has `workspace` and `workspace_bytes`: with
 *    workspace NULL it writes the bytes needed for these arguments to *workspace_bytes and does nothing else; 256-byte
 *    aligned memory of at least that size is then passed (its contents need no initialisation; one per call in flight).
 *    It asks for at least 1 byte, so that the second call always has a pointer to pass.
 *  - The status tells: MG_KERNELS_OK, or what is wrong; then nothing was enqueued and no memory touched. An error
 *    while the kernel runs is the stream's, as always in CUDA.
 *  - Calls may be made from any number of host threads at once.
 *
 * Accuracy is stated for each operation: u is the unit round-off, 2^-24 for float and 2^-53 for double. Results of a
 * variant are the same in every run of the same arguments unless the comment says "order varies".
 */
#ifndef MARGAY_KERNELS_H
#define MARGAY_KERNELS_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct CUstream_st; /* cudaStream_t is a pointer to it */

enum mg_kernels_status {
    MG_KERNELS_OK = 0,
    MG_KERNELS_ERR_INVALID,     /* a null pointer, a negative size, a leading dimension that is too small, overlap */
    MG_KERNELS_ERR_VARIANT,     /* the operation has no rung of that number */
    MG_KERNELS_ERR_WORKSPACE,   /* the workspace is too small or not aligned */
    MG_KERNELS_ERR_UNSUPPORTED, /* this rung cannot do it (its comment says what); MG_BEST always can */
    MG_KERNELS_ERR_DEVICE,      /* the CUDA runtime refused the launch; cudaGetLastError says why */
};
/* "MG_KERNELS_ERR_INVALID"; and what it means in a few words. Static strings. */
const char *mg_kernels_status_name(enum mg_kernels_status status);
const char *mg_kernels_status_text(enum mg_kernels_status status);

enum { MG_BEST = -1 }; /* the fastest rung for the arguments */

struct mg_variant {
    const char *name; /* "padded" */
    const char *idea; /* what this rung adds to the one before, in a sentence */
    const char *gain; /* what that should gain, and on what */
};
struct mg_operation {
    const char *name; /* "gemm" */
    const char *text; /* what it computes */
    const struct mg_variant *(*variants)(size_t *count);
};
/* All operations of the library, in the order of this header; static. */
const struct mg_operation *mg_operations(size_t *count);

/* The rungs of each operation, first to last; static. `count` may not be NULL. */
const struct mg_variant *mg_gemm_variants(size_t *count);
const struct mg_variant *mg_reduce_variants(size_t *count);
const struct mg_variant *mg_square_sum_variants(size_t *count);
const struct mg_variant *mg_dot_variants(size_t *count);
const struct mg_variant *mg_scan_variants(size_t *count);
const struct mg_variant *mg_transpose_variants(size_t *count);
const struct mg_variant *mg_stencil1d_variants(size_t *count);
const struct mg_variant *mg_conv2d_variants(size_t *count);
const struct mg_variant *mg_histogram_variants(size_t *count);
const struct mg_variant *mg_lut_variants(size_t *count);
const struct mg_variant *mg_stream_variants(size_t *count);
const struct mg_variant *mg_banks_variants(size_t *count);
const struct mg_variant *mg_hierarchy_variants(size_t *count);

/* ---- gemm: C = alpha A B + beta C, row major ----
 * A is m x k (lda >= k), B is k x n (ldb >= n), C is m x n (ldc >= n): row i of A begins at a + i*lda. With beta 0, C
 * is not read: NaN in it does not spread. With alpha 0 or k 0, A and B are not read. C may overlap neither A nor B.
 * Error: |c - exact| <= (k + 2) u (|alpha| |A||B| + |beta C|), elementwise. */
enum mg_kernels_status mg_gemm_f32(struct CUstream_st *stream, int variant, int64_t m, int64_t n, int64_t k,
                                   float alpha, const float *a, int64_t lda, const float *b, int64_t ldb, float beta,
                                   float *c, int64_t ldc);

/* ---- reduce: *result = x[0] op x[1] op ... ----
 * Integer sums wrap. min and max of floats leave NaN out (as fminf does), and are NaN if all elements are. Of no
 * elements: the sum is 0, min the type's largest value (+infinity), max its smallest (-infinity). Error of float sums:
 * n u sum|x| at most for the first rung (order varies), (64 + n / 100000) u sum|x| for the others' trees on a device of
 * up to 200 multiprocessors. */
enum mg_reduce_op { MG_REDUCE_SUM, MG_REDUCE_MIN, MG_REDUCE_MAX };
enum mg_kernels_status mg_reduce_i32(struct CUstream_st *stream, int variant, enum mg_reduce_op op, int64_t n,
                                     const int32_t *x, int32_t *result, void *workspace, size_t *workspace_bytes);
enum mg_kernels_status mg_reduce_f32(struct CUstream_st *stream, int variant, enum mg_reduce_op op, int64_t n,
                                     const float *x, float *result, void *workspace, size_t *workspace_bytes);
enum mg_kernels_status mg_reduce_f64(struct CUstream_st *stream, int variant, enum mg_reduce_op op, int64_t n,
                                     const double *x, double *result, void *workspace, size_t *workspace_bytes);

/* ---- square_sum: *result = sum of x[i]*x[i];  dot: *result = sum of x[i]*y[i] ----
 * i32 wraps. x and y of dot may be the same array. Errors as for reduce. */
enum mg_kernels_status mg_square_sum_i32(struct CUstream_st *stream, int variant, int64_t n, const int32_t *x,
                                         int32_t *result, void *workspace, size_t *workspace_bytes);
enum mg_kernels_status mg_square_sum_f32(struct CUstream_st *stream, int variant, int64_t n, const float *x,
                                         float *result, void *workspace, size_t *workspace_bytes);
enum mg_kernels_status mg_dot_f32(struct CUstream_st *stream, int variant, int64_t n, const float *x, const float *y,
                                  float *result, void *workspace, size_t *workspace_bytes);
enum mg_kernels_status mg_dot_f64(struct CUstream_st *stream, int variant, int64_t n, const double *x, const double *y,
                                  double *result, void *workspace, size_t *workspace_bytes);

/* ---- scan: y[i] = x[0] + ... + x[i] (inclusive), or up to x[i-1] (exclusive; y[0] = 0) ----
 * y may be x. i32 wraps. Error of float: (64 + n / 1000) u sum|x[0..i]|; the order of the last two rungs varies. */
enum mg_scan_kind { MG_SCAN_INCLUSIVE, MG_SCAN_EXCLUSIVE };
enum mg_kernels_status mg_scan_i32(struct CUstream_st *stream, int variant, enum mg_scan_kind kind, int64_t n,
                                   const int32_t *x, int32_t *y, void *workspace, size_t *workspace_bytes);
enum mg_kernels_status mg_scan_f32(struct CUstream_st *stream, int variant, enum mg_scan_kind kind, int64_t n,
                                   const float *x, float *y, void *workspace, size_t *workspace_bytes);

/* ---- transpose: y[j*ldy + i] = x[i*ldx + j] for i < rows, j < cols; row major, ldx >= cols, ldy >= rows ----
 * Elements of 4 and of 8 bytes, moved bit by bit. Not in place. */
enum mg_kernels_status mg_transpose_b32(struct CUstream_st *stream, int variant, int64_t rows, int64_t cols,
                                        const void *x, int64_t ldx, void *y, int64_t ldy);
enum mg_kernels_status mg_transpose_b64(struct CUstream_st *stream, int variant, int64_t rows, int64_t cols,
                                        const void *x, int64_t ldx, void *y, int64_t ldy);

/* ---- stencil1d: y[i] = sum over d = -radius..radius of weights[radius + d] x[i + d]; x is 0 outside ----
 * radius 0 to MG_STENCIL_MAX_RADIUS; weights: 2 radius + 1, in host memory. The 3-point mean is radius 1 with weights
 * of a third. Error: (2 radius + 2) u sum|w x|. */
enum { MG_STENCIL_MAX_RADIUS = 16 };
enum mg_kernels_status mg_stencil1d_f32(struct CUstream_st *stream, int variant, int radius, const float *weights,
                                        int64_t n, const float *x, float *y);

/* ---- conv2d: y[i][j] = sum over p, q of filter[p][q] x[i + p - fr/2][j + q - fc/2]; x is 0 outside ----
 * A correlation: the filter is not flipped. fr and fc are odd, 1 to MG_CONV_MAX; the filter is dense and row major, in
 * host memory. x and y are rows x cols with leading dimensions ldx, ldy >= cols. Error: (fr fc + 1) u sum|f x|. The
 * rung "separable" wants a filter that is a column times a row (to 8 u of its largest element), else
 * MG_KERNELS_ERR_UNSUPPORTED; its error is (fr fc + 16) u sum|f||x| for such filters. MG_BEST never changes the
 * filter. */
enum { MG_CONV_MAX = 15 };
enum mg_kernels_status mg_conv2d_f32(struct CUstream_st *stream, int variant, int64_t rows, int64_t cols,
                                     const float *x, int64_t ldx, int fr, int fc, const float *filter, float *y,
                                     int64_t ldy);

/* ---- histogram: bins[v] = how often v occurs; overwritten, counts wrap at 2^32 ----
 * Bytes have 256 bins. 32-bit keys have `nbins` (at least 1); keys of nbins and above are not counted. */
enum mg_kernels_status mg_histogram_u8(struct CUstream_st *stream, int variant, int64_t n, const uint8_t *x,
                                       uint32_t *bins);
enum mg_kernels_status mg_histogram_u32(struct CUstream_st *stream, int variant, int64_t n, const uint32_t *x,
                                        int64_t nbins, uint32_t *bins);

/* ---- lut: y[i] = table[x[i]] ----
 * The table is in host memory and travels as a parameter of the kernel (the rung that keeps it in global memory puts it
 * into the workspace first). y may be x. */
enum mg_kernels_status mg_lut_u8(struct CUstream_st *stream, int variant, int64_t n, const uint8_t *x,
                                 const uint8_t table[256], uint8_t *y, void *workspace, size_t *workspace_bytes);

/* ---- stream: c[i] = a[i] + b[i] for all i; a variant is the order in which threads take the elements ----
 * The coalescing table: stride s gives neighbouring threads elements s apart. Every variant writes every element. */
enum mg_kernels_status mg_stream_f32(struct CUstream_st *stream, int variant, int64_t n, const float *a, const float *b,
                                     float *c);

/* ---- banks: each of `blocks` blocks of 256 threads reads shared memory `rounds` times in the variant's pattern ----
 * The conflict table. out[block*256 + thread] is the sum (mod 2^32) of the words that the thread read, from a tile of
 * which word w holds w: mg_ref_banks computes the same. */
enum mg_kernels_status mg_banks_u32(struct CUstream_st *stream, int variant, int64_t blocks, int64_t rounds,
                                    uint32_t *out);

/* ---- hierarchy: the latency and the bandwidth of registers, shared memory, L1, L2 and global memory ----
 * A variant is a level and a way to read it. Latency: one thread makes `steps` loads, of which each tells the next
 * one's address: x[0..n-1] is a cycle of indices, all of them below n (mg_ref_chain makes one), followed from 0.
 * Bandwidth: all threads of a grid that fills the device make `steps` loads of 16 bytes each (in registers:
 * multiply-adds of 12) through any words x[0..n-1], round after round.
 *
 * out has three words, device memory apart from x: out[0] is the index where the chase ended, or the sum mod 2^32 of
 * all words that were read (of their low 8 bits, in registers); out[1] and out[2] are the low and high halves of the
 * multiprocessor's clock cycles that the chase took, 0 for bandwidth, which is *bytes over the launch's duration.
 * *bytes (host; may be NULL) gets what all threads read. n and steps are at most 2^32; where one is 0, out and *bytes
 * are.
 *
 * The caller chooses n: 8192 words at most for shared memory and L1, 2^20 for L2 (more: MG_KERNELS_ERR_UNSUPPORTED);
 * for global memory several times what the L2 cache holds, of which nothing was read just before, else the figure is
 * the cache's. Registers have no addresses: their latency is that of a chain index = index * 1664525 + x[0]. */
enum mg_kernels_status mg_hierarchy_u32(struct CUstream_st *stream, int variant, int64_t n, const uint32_t *x,
                                        int64_t steps, uint32_t *out, uint64_t *bytes);

/* ---- the references: plain C on host memory, one thread; what every rung is held to ----
 * Same arguments and meaning as above without stream and workspace; float sums are carried in double. Arguments are not
 * checked. For square_sum and dot they are the first rung that the bench shows. */
void mg_ref_gemm_f32(int64_t m, int64_t n, int64_t k, float alpha, const float *a, int64_t lda, const float *b,
                     int64_t ldb, float beta, float *c, int64_t ldc);
int32_t mg_ref_reduce_i32(enum mg_reduce_op op, int64_t n, const int32_t *x);
float mg_ref_reduce_f32(enum mg_reduce_op op, int64_t n, const float *x);
double mg_ref_reduce_f64(enum mg_reduce_op op, int64_t n, const double *x);
int32_t mg_ref_square_sum_i32(int64_t n, const int32_t *x);
float mg_ref_square_sum_f32(int64_t n, const float *x);
float mg_ref_dot_f32(int64_t n, const float *x, const float *y);
double mg_ref_dot_f64(int64_t n, const double *x, const double *y);
void mg_ref_scan_i32(enum mg_scan_kind kind, int64_t n, const int32_t *x, int32_t *y);
void mg_ref_scan_f32(enum mg_scan_kind kind, int64_t n, const float *x, float *y);
void mg_ref_transpose_b32(int64_t rows, int64_t cols, const void *x, int64_t ldx, void *y, int64_t ldy);
void mg_ref_transpose_b64(int64_t rows, int64_t cols, const void *x, int64_t ldx, void *y, int64_t ldy);
void mg_ref_stencil1d_f32(int radius, const float *weights, int64_t n, const float *x, float *y);
void mg_ref_conv2d_f32(int64_t rows, int64_t cols, const float *x, int64_t ldx, int fr, int fc, const float *filter,
                       float *y, int64_t ldy);
void mg_ref_histogram_u8(int64_t n, const uint8_t *x, uint32_t *bins);
void mg_ref_histogram_u32(int64_t n, const uint32_t *x, int64_t nbins, uint32_t *bins);
void mg_ref_lut_u8(int64_t n, const uint8_t *x, const uint8_t table[256], uint8_t *y);
void mg_ref_banks_u32(int variant, int64_t blocks, int64_t rounds, uint32_t *out);
/* out[0] of the call that reported `bytes`. */
uint32_t mg_ref_hierarchy_u32(int variant, int64_t n, const uint32_t *x, int64_t steps, uint64_t bytes);
/* x[0..n-1] becomes one random cycle through all n indices, the same for the same seed. */
void mg_ref_chain(int64_t n, uint32_t seed, uint32_t *x);

#ifdef __cplusplus
}
#endif
#endif
