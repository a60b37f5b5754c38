/* dot_priv.h - what the rungs of dot are given. */
#ifndef MG_DOT_PRIV_H
#define MG_DOT_PRIV_H
#include "common/fold.cuh"

enum dot_rung {
#define RUNG(id, name, idea, gain) DOT_##id,
#include "dot.def"
#undef RUNG
    DOT_RUNGS
};

/* A call whose arguments are checked: n is at least 1, the workspace large enough. */
template <typename T> struct dot_call {
    cudaStream_t stream;
    int64_t n;
    const T *x, *y;
    T *result;
    void *workspace;
};
#define RUNG(id, name, idea, gain) template <typename T> enum mg_kernels_status mg__dot_##id(const dot_call<T> &call);
#include "dot.def"
#undef RUNG

/* The source for rungs that read element by element. */
template <typename T> static fold_product<T, false> dot_source(const dot_call<T> &c)
{
    return {c.x, c.y, nullptr, nullptr};
}

#define DOT_INSTANCES(id)                                                         \
    template enum mg_kernels_status mg__dot_##id<float>(const dot_call<float> &); \
    template enum mg_kernels_status mg__dot_##id<double>(const dot_call<double> &);
#endif
