/* square_sum_priv.h - what the rungs of square_sum are given. */
#ifndef MG_SQUARE_SUM_PRIV_H
#define MG_SQUARE_SUM_PRIV_H
#include "common/fold.cuh"

enum square_sum_rung {
#define RUNG(id, name, idea, gain) SQUARE_SUM_##id,
#include "square_sum.def"
#undef RUNG
    SQUARE_SUM_RUNGS
};

/* A call whose arguments are checked: n is at least 1, the workspace large enough. */
template <typename T> struct square_sum_call {
    cudaStream_t stream;
    int64_t n;
    const T *x;
    T *result;
    void *workspace;
};
#define RUNG(id, name, idea, gain) \
    template <typename T> enum mg_kernels_status mg__square_sum_##id(const square_sum_call<T> &call);
#include "square_sum.def"
#undef RUNG

/* The source for rungs that read element by element. */
template <typename T> static fold_square<T> square_sum_source(const square_sum_call<T> &c)
{
    return {c.x, nullptr};
}

#define SQUARE_SUM_INSTANCES(id)                                                                    \
    template enum mg_kernels_status mg__square_sum_##id<int32_t>(const square_sum_call<int32_t> &); \
    template enum mg_kernels_status mg__square_sum_##id<float>(const square_sum_call<float> &);
#endif
