/* hosted.h - what the libraries that compute on the host share: the way to the runtime, numbers of any type.
 *
 * They link to no CUDA runtime: the process has one, and they find `margay_hosted` in it by name (cudart/hosted.h).
 * Where there is none, or NVIDIA's, nothing can be computed, and a call fails and says why.
 */
#ifndef MG_HOSTED_H
#define MG_HOSTED_H
#include "cudart/hosted.h"

#include <stdint.h>

/* cudaError_t, as far as the libraries turn it into states of their own. */
enum { MG_HOSTED_NO_MEMORY = 2, MG_HOSTED_NO_RUNTIME = -1 };
/* 0, a CUDA error, or MG_HOSTED_NO_RUNTIME. */
int mg__hosted_run(const struct margay_hosted *call);
bool mg__hosted_ready(const char *library); /* there is a runtime to compute for; else the user is told, once */
/* One line for the user, once for each routine: it is not there, and returned `status`. */
void mg__hosted_missing(const char *routine, const char *status);
/* A function of the CUDA runtime that the process has; NULL: there is none. */
void *mg__hosted_cuda(const char *name);

/* ---- numbers: types as cudaDataType has them ---- */
enum mg_number {
    MG_R_32F = 0,
    MG_R_64F = 1,
    MG_R_16F = 2,
    MG_R_8I = 3,
    MG_C_32F = 4,
    MG_C_64F = 5,
    MG_C_16F = 6,
    MG_R_8U = 8,
    MG_R_32I = 10,
    MG_R_16BF = 14,
    MG_C_16BF = 15,
    MG_R_E4M3 = 28,
    MG_R_E5M2 = 29
};
size_t mg__number_size(int type); /* 0: none of them */
bool mg__number_complex(int type);
/* Real and imaginary part, exactly; the imaginary part of a real number is 0. */
void mg__number_get(int type, const void *from, double value[2]);
/* Rounded to the nearest, ties to even; integers saturate, and so do the 8-bit floats. */
void mg__number_put(int type, void *to, const double value[2]);
/* `n` numbers of one type as those of another, `step` numbers apart in the source. */
void mg__number_copy(int to_type, void *to, int from_type, const void *from, size_t n, int64_t step);
#endif
