/* reduce.cu - the public calls of reduce: checks, then the choice of the rung. */
#include "reduce/reduce_priv.h"

static const struct mg_variant variants[] = {
#define RUNG(id, name, idea, gain) {name, idea, gain},
#include "reduce.def"
#undef RUNG
};

MG_API const struct mg_variant *mg_reduce_variants(size_t *count)
{
    *count = REDUCE_RUNGS;
    return variants;
}

/* Bytes of scratch memory that the rung needs. */
static size_t scratch(int rung, int64_t n, size_t element)
{
    switch (rung) {
    case REDUCE_global_atomics:
        return 0;
    case REDUCE_interleaved:
    case REDUCE_sequential:
        return static_cast<size_t>(fold_passes_scratch(n, REDUCE_THREADS)) * element;
    case REDUCE_first_add:
    case REDUCE_warp_shuffle:
        return static_cast<size_t>(fold_passes_scratch(n, REDUCE_PAIRS)) * element;
    default:
        return fold_stream_bytes(n, element);
    }
}

template <typename T>
static enum mg_kernels_status reduce(cudaStream_t stream, int variant, enum mg_reduce_op op, int64_t n, const T *x,
                                     T *result, void *workspace, size_t *workspace_bytes)
{
    static enum mg_kernels_status (*const rungs[])(const reduce_call<T> &) = {
#define RUNG(id, name, idea, gain) mg__reduce_##id<T>,
#include "reduce.def"
#undef RUNG
    };
    if (variant == MG_BEST)
        variant = REDUCE_dependent;
    if (variant < 0 || variant >= REDUCE_RUNGS)
        return MG_KERNELS_ERR_VARIANT;
    if (n < 0 || n > fold_most<T>() || (op != MG_REDUCE_SUM && op != MG_REDUCE_MIN && op != MG_REDUCE_MAX))
        return MG_KERNELS_ERR_INVALID;
    enum mg_kernels_status status;
    if (mg__kernels_workspace(workspace, workspace_bytes, scratch(variant, n, sizeof(T)), &status))
        return status;
    if (!fold_pointers_are_good(n, x, result))
        return MG_KERNELS_ERR_INVALID;
    if (n == 0)
        return reduce_pick<T>(op, [&](auto join) { return fold_set(stream, result, decltype(join)::empty()); });
    return rungs[variant]({stream, op, n, x, result, workspace});
}

MG_API enum mg_kernels_status mg_reduce_i32(cudaStream_t stream, int variant, enum mg_reduce_op op, int64_t n,
                                            const int32_t *x, int32_t *result, void *workspace, size_t *workspace_bytes)
{
    return reduce(stream, variant, op, n, x, result, workspace, workspace_bytes);
}

MG_API enum mg_kernels_status mg_reduce_f32(cudaStream_t stream, int variant, enum mg_reduce_op op, int64_t n,
                                            const float *x, float *result, void *workspace, size_t *workspace_bytes)
{
    return reduce(stream, variant, op, n, x, result, workspace, workspace_bytes);
}

MG_API enum mg_kernels_status mg_reduce_f64(cudaStream_t stream, int variant, enum mg_reduce_op op, int64_t n,
                                            const double *x, double *result, void *workspace, size_t *workspace_bytes)
{
    return reduce(stream, variant, op, n, x, result, workspace, workspace_bytes);
}
