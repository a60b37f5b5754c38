/* dot.cu - the public calls of dot: checks, then the choice of the rung. */
#include "dot/dot_priv.h"

static const struct mg_variant variants[] = {
#define RUNG(id, name, idea, gain) {name, idea, gain},
#include "dot.def"
#undef RUNG
};

MG_API const struct mg_variant *mg_dot_variants(size_t *count)
{
    *count = DOT_RUNGS;
    return variants;
}

template <typename T>
static enum mg_kernels_status dot(cudaStream_t stream, int variant, int64_t n, const T *x, const T *y, T *result,
                                  void *workspace, size_t *workspace_bytes)
{
    static enum mg_kernels_status (*const rungs[])(const dot_call<T> &) = {
#define RUNG(id, name, idea, gain) mg__dot_##id<T>,
#include "dot.def"
#undef RUNG
    };
    if (variant == MG_BEST)
        variant = DOT_best;
    if (variant < 0 || variant >= DOT_RUNGS)
        return MG_KERNELS_ERR_VARIANT;
    if (n < 0 || n > fold_most<T>())
        return MG_KERNELS_ERR_INVALID;
    size_t scratch = variant == DOT_global_atomics ? 0
                     : variant == DOT_shared_tree
                         ? static_cast<size_t>(fold_passes_scratch(n, fold_tree::PER_BLOCK)) * sizeof(T)
                         : fold_stream_bytes(n, sizeof(T));
    enum mg_kernels_status status;
    if (mg__kernels_workspace(workspace, workspace_bytes, scratch, &status))
        return status;
    if (!fold_pointers_are_good(n, x, result) || !fold_pointers_are_good(n, y, result))
        return MG_KERNELS_ERR_INVALID;
    if (n == 0)
        return fold_set(stream, result, T(0));
    return rungs[variant]({stream, n, x, y, result, workspace});
}

MG_API enum mg_kernels_status mg_dot_f32(cudaStream_t stream, int variant, int64_t n, const float *x, const float *y,
                                         float *result, void *workspace, size_t *workspace_bytes)
{
    return dot(stream, variant, n, x, y, result, workspace, workspace_bytes);
}

MG_API enum mg_kernels_status mg_dot_f64(cudaStream_t stream, int variant, int64_t n, const double *x, const double *y,
                                         double *result, void *workspace, size_t *workspace_bytes)
{
    return dot(stream, variant, n, x, y, result, workspace, workspace_bytes);
}
