/* reduce_priv.h - what the rungs of reduce are given, and what they share. */
#ifndef MG_REDUCE_PRIV_H
#define MG_REDUCE_PRIV_H
#include "common/fold.cuh"

enum reduce_rung {
#define RUNG(id, name, idea, gain) REDUCE_##id,
#include "reduce.def"
#undef RUNG
    REDUCE_RUNGS
};

/* A call whose arguments are checked: n is at least 1, the workspace large enough. */
template <typename T> struct reduce_call {
    cudaStream_t stream;
    enum mg_reduce_op op;
    int64_t n;
    const T *x;
    T *result;
    void *workspace;
};
#define RUNG(id, name, idea, gain) \
    template <typename T> enum mg_kernels_status mg__reduce_##id(const reduce_call<T> &call);
#include "reduce.def"
#undef RUNG

/* Elements that a block folds in one pass, for the rungs that work in passes. */
enum { REDUCE_THREADS = 256, REDUCE_PAIRS = 2 * REDUCE_THREADS };

/* Calls f with the join that the operation names. */
template <typename T, class F> static enum mg_kernels_status reduce_pick(enum mg_reduce_op op, F f)
{
    switch (op) {
    case MG_REDUCE_SUM:
        return f(fold_sum<T>());
    case MG_REDUCE_MIN:
        return f(fold_min<T>());
    default:
        return f(fold_max<T>());
    }
}

/* A rung that works in passes, all of it but its kernel. */
template <class Pass, typename T> static enum mg_kernels_status reduce_passes(const reduce_call<T> &c)
{
    return reduce_pick<T>(c.op, [&](auto join) {
        fold_plain<T> source = {c.x, nullptr};
        return fold_passes<Pass, decltype(join)>(c.stream, source, c.n, c.result, c.workspace);
    });
}

#define REDUCE_INSTANCES(id)                                                                \
    template enum mg_kernels_status mg__reduce_##id<int32_t>(const reduce_call<int32_t> &); \
    template enum mg_kernels_status mg__reduce_##id<float>(const reduce_call<float> &);     \
    template enum mg_kernels_status mg__reduce_##id<double>(const reduce_call<double> &);
#endif
