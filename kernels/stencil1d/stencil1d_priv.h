/* stencil1d_priv.h - what the rungs of stencil1d share: the arguments, and the weights as a parameter of the kernel. */
#ifndef MG_STENCIL1D_PRIV_H
#define MG_STENCIL1D_PRIV_H
#include "common/kernels_priv.h"

struct stencil_args {
    int64_t n;
    const float *x;
    float *y;
    int radius;
    float weights[2 * MG_STENCIL_MAX_RADIUS + 1];
};

enum stencil_rung {
#define RUNG(id, name, idea, gain) STENCIL_##id,
#include "stencil1d/stencil1d.def"
#undef RUNG
    STENCIL_RUNGS
};

/* Every rung: enqueues the stencil for arguments that stencil1d.cu has checked; n is at least 1. */
#define RUNG(id, name, idea, gain) \
    enum mg_kernels_status mg__stencil1d_##id(cudaStream_t stream, const struct stencil_args *args);
#include "stencil1d/stencil1d.def"
#undef RUNG

enum { STENCIL_THREADS = 256 };
#endif
