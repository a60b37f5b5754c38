/* kernels_priv.h - what the operations share: the checks of arguments, the table of rungs, the launch.
 *
 * An operation is a folder: <op>.def lists its rungs in order, RUNG(id, name, idea, gain); reference.c is plain C; each
 * rung is a file NN_<name>.cu with the kernel and a host function that launches it, and opens with what it adds and
 * what that should gain; <op>.cu checks the arguments, picks the rung and is the only place with public functions. C++
 * is used for templates alone: no exceptions, no standard library, no global constructors, so that C programs link it.
 */
#ifndef MG_KERNELS_PRIV_H
#define MG_KERNELS_PRIV_H
#include "margay/kernels.h"

#include <cuda_runtime.h>

#define MG_API extern "C" __attribute__((visibility("default")))

/* MG_VARIANTS(gemm, "gemm/gemm.def"): defines the enum gemm_rung { GEMM_<id>…, GEMM_RUNGS } elsewhere, and here the
 * list and its public accessor, is a macro that each <op>.cu writes out as
 *
 *     static const struct mg_variant variants[] = {
 *     #define RUNG(id, name, idea, gain) {name, idea, gain},
 *     #include "gemm.def"
 *     #undef RUNG
 *     };
 */

/* After a launch: what the runtime said of it. Only errors of the launch itself are seen here; an older error that
 * nobody fetched is left for its owner: the launch's own error is its return value in cudaLaunchKernel. */
static inline enum mg_kernels_status mg__kernels_status(cudaError_t error)
{
    return error == cudaSuccess ? MG_KERNELS_OK : MG_KERNELS_ERR_DEVICE;
}

/* Launches with cudaLaunchKernelExC's C++ sibling, whose status is this launch's alone (<<<>>> has none). */
template <typename... Params, typename... Args>
static inline enum mg_kernels_status mg__kernels_launch(void (*kernel)(Params...), dim3 grid, dim3 block, size_t shared,
                                                        cudaStream_t stream, Args... args)
{
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = shared;
    config.stream = stream;
    return mg__kernels_status(cudaLaunchKernelEx(&config, kernel, static_cast<Params>(args)...));
}

/* Blocks of a grid-stride launch: enough for `items` at `per_block` each, at most what a grid dimension or `most`
 * allows. */
static inline unsigned mg__kernels_grid(int64_t items, int64_t per_block, int64_t most)
{
    int64_t blocks = items / per_block + (items % per_block != 0);
    if (blocks > most)
        blocks = most;
    return blocks < 1 ? 1u : static_cast<unsigned>(blocks);
}

/* The current device's multiprocessors; 132 should it not tell. */
static inline int mg__kernels_sm_count(void)
{
    int device = 0, count = 0;
    if (cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device) != cudaSuccess || count < 1)
        return 132;
    return count;
}

/* Bytes of shared memory that a block takes to be one of `blocks` that fill a multiprocessor, but no more than a kernel
 * may have without asking; 0 should the device not tell. */
static inline int mg__kernels_shared_part(int blocks)
{
    int device = 0, all = 0, reserved = 0, most = 0;
    if (cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&all, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device) != cudaSuccess ||
        cudaDeviceGetAttribute(&reserved, cudaDevAttrReservedSharedMemoryPerBlock, device) != cudaSuccess ||
        cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlock, device) != cudaSuccess)
        return 0;
    int part = (all / blocks - reserved) / 1024 * 1024;
    return part < most ? part : most;
}

/* The two-call convention. Returns true when the call is over, with *status its result. */
static inline bool mg__kernels_workspace(void *workspace, size_t *bytes, size_t need, enum mg_kernels_status *status)
{
    if (!need)
        need = 1;
    *status = MG_KERNELS_OK;
    if (!bytes) {
        *status = MG_KERNELS_ERR_INVALID;
        return true;
    }
    if (!workspace) {
        *bytes = need;
        return true;
    }
    if (*bytes < need || reinterpret_cast<uintptr_t>(workspace) % 256 != 0) {
        *status = MG_KERNELS_ERR_WORKSPACE;
        return true;
    }
    return false;
}
#endif
