/* square_sum.cu - the public calls of square_sum: checks, then the choice of the rung. */
#include "square_sum/square_sum_priv.h"

static const struct mg_variant variants[] = {
#define RUNG(id, name, idea, gain) {name, idea, gain},
#include "square_sum.def"
#undef RUNG
};

MG_API const struct mg_variant *mg_square_sum_variants(size_t *count)
{
    *count = SQUARE_SUM_RUNGS;
    return variants;
}

template <typename T>
static enum mg_kernels_status square_sum(cudaStream_t stream, int variant, int64_t n, const T *x, T *result,
                                         void *workspace, size_t *workspace_bytes)
{
    static enum mg_kernels_status (*const rungs[])(const square_sum_call<T> &) = {
#define RUNG(id, name, idea, gain) mg__square_sum_##id<T>,
#include "square_sum.def"
#undef RUNG
    };
    if (variant == MG_BEST)
        variant = SQUARE_SUM_best;
    if (variant < 0 || variant >= SQUARE_SUM_RUNGS)
        return MG_KERNELS_ERR_VARIANT;
    if (n < 0 || n > fold_most<T>())
        return MG_KERNELS_ERR_INVALID;
    size_t scratch = variant == SQUARE_SUM_global_atomics ? 0
                     : variant == SQUARE_SUM_shared_tree
                         ? static_cast<size_t>(fold_passes_scratch(n, fold_tree::PER_BLOCK)) * sizeof(T)
                         : fold_stream_bytes(n, sizeof(T));
    enum mg_kernels_status status;
    if (mg__kernels_workspace(workspace, workspace_bytes, scratch, &status))
        return status;
    if (!fold_pointers_are_good(n, x, result))
        return MG_KERNELS_ERR_INVALID;
    if (n == 0)
        return fold_set(stream, result, T(0));
    return rungs[variant]({stream, n, x, result, workspace});
}

MG_API enum mg_kernels_status mg_square_sum_i32(cudaStream_t stream, int variant, int64_t n, const int32_t *x,
                                                int32_t *result, void *workspace, size_t *workspace_bytes)
{
    return square_sum(stream, variant, n, x, result, workspace, workspace_bytes);
}

MG_API enum mg_kernels_status mg_square_sum_f32(cudaStream_t stream, int variant, int64_t n, const float *x,
                                                float *result, void *workspace, size_t *workspace_bytes)
{
    return square_sum(stream, variant, n, x, result, workspace, workspace_bytes);
}
