/* scan.cu - the public calls of scan: checks, then the choice of the rung. */
#include "scan/scan_priv.h"

static const struct mg_variant variants[] = {
#define RUNG(id, name, idea, gain) {name, idea, gain},
#include "scan.def"
#undef RUNG
};

MG_API const struct mg_variant *mg_scan_variants(size_t *count)
{
    *count = SCAN_RUNGS;
    return variants;
}

/* Bytes of scratch memory that the rung needs, wherever in 16 bytes x begins. */
static size_t scratch(int rung, int64_t n)
{
    switch (rung) {
    case SCAN_hillis_steele:
        return static_cast<size_t>(scan_passes_scratch(n, SCAN_HILLIS_BLOCK)) * 4;
    case SCAN_blelloch:
    case SCAN_blelloch_padded:
        return static_cast<size_t>(scan_passes_scratch(n, SCAN_BLELLOCH_BLOCK)) * 4;
    case SCAN_warp_shuffle:
        return static_cast<size_t>(scan_passes_scratch(n, SCAN_SHUFFLE_BLOCK)) * 4;
    case SCAN_three_pass:
        return static_cast<size_t>(n / SCAN_TILE + 2) * 4;
    case SCAN_look_back:
        return static_cast<size_t>(n / SCAN_LOOK_SMALL_TILE + 3) * 8;
    default:
        return static_cast<size_t>(n / SCAN_PIPE_TILE + 3) * 8;
    }
}

template <typename T>
static enum mg_kernels_status scan(cudaStream_t stream, int variant, enum mg_scan_kind kind, int64_t n, const T *x,
                                   T *y, void *workspace, size_t *workspace_bytes)
{
    static enum mg_kernels_status (*const rungs[])(const scan_call<T> &) = {
#define RUNG(id, name, idea, gain) mg__scan_##id<T>,
#include "scan.def"
#undef RUNG
    };
    if (variant == MG_BEST)
        variant = SCAN_look_back;
    if (variant < 0 || variant >= SCAN_RUNGS)
        return MG_KERNELS_ERR_VARIANT;
    if (n < 0 || n > INT64_MAX / 64 || (kind != MG_SCAN_INCLUSIVE && kind != MG_SCAN_EXCLUSIVE))
        return MG_KERNELS_ERR_INVALID;
    enum mg_kernels_status status;
    if (mg__kernels_workspace(workspace, workspace_bytes, scratch(variant, n), &status))
        return status;
    if (n == 0)
        return MG_KERNELS_OK;
    uintptr_t from = reinterpret_cast<uintptr_t>(x), to = reinterpret_cast<uintptr_t>(y),
              bytes = static_cast<uintptr_t>(n) * sizeof(T);
    if (!x || !y || from % sizeof(T) || to % sizeof(T) || (from != to && from < to + bytes && to < from + bytes))
        return MG_KERNELS_ERR_INVALID;
    return rungs[variant]({stream, kind == MG_SCAN_EXCLUSIVE, n, x, y, workspace});
}

MG_API enum mg_kernels_status mg_scan_i32(cudaStream_t stream, int variant, enum mg_scan_kind kind, int64_t n,
                                          const int32_t *x, int32_t *y, void *workspace, size_t *workspace_bytes)
{
    return scan(stream, variant, kind, n, reinterpret_cast<const uint32_t *>(x), reinterpret_cast<uint32_t *>(y),
                workspace, workspace_bytes);
}

MG_API enum mg_kernels_status mg_scan_f32(cudaStream_t stream, int variant, enum mg_scan_kind kind, int64_t n,
                                          const float *x, float *y, void *workspace, size_t *workspace_bytes)
{
    return scan(stream, variant, kind, n, x, y, workspace, workspace_bytes);
}
