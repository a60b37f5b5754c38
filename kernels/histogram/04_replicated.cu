/* 04_replicated.cu - copies interleaved so that each lane has its own bank.
 *
 * Adds: bin b of copy c is word b * copies + c of shared memory, and lane l counts in copy l modulo copies. With 32
 * copies a lane never leaves its bank. Bytes always have 32 (32 KB a block); of other keys there are as many copies, a
 * power of two, as fit COPIES_BYTES, and one where the bins fill more than half of that. Keys are read 16 bytes at a
 * time, several reads ahead of the first addition.
 * Gains: the additions of a warp take one wavefront, whether its keys are random, all the same, or chosen to collide.
 * What is left is reading the keys, which takes all of DRAM's rate.
 */
#include "histogram/replicated.cuh"

enum { THREADS = 512, VECTORS = 4, COPIES_BYTES = 64 << 10 }; /* docs/tuning/histogram.md */

/* Keys before the first 16-byte boundary. */
static int64_t head_of(const struct mg__histogram *call)
{
    uintptr_t past = reinterpret_cast<uintptr_t>(call->x) % 16;
    int64_t head = static_cast<int64_t>((16 - past) % 16) / call->size;
    return head < call->n ? head : call->n;
}

/* How many bins a block can have at all on this device; 0 when the runtime does not tell. */
static int64_t most_bins(void)
{
    int device = 0, bytes = 0;
    if (cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) != cudaSuccess)
        return 0;
    return bytes / 4;
}

static enum mg_kernels_status replicated_u32(const struct mg__histogram *call)
{
    int64_t most = most_bins();
    /* Keys have 32 bits: bins from 2^32 on stay empty. */
    int64_t nbins = call->nbins < INT64_C(1) << 32 ? call->nbins : INT64_C(1) << 32;
    if (nbins > most * MG__HISTOGRAM_PASSES)
        return mg__histogram_global(call);
    enum mg_kernels_status status = mg__histogram_clear(call);
    for (int64_t low = 0; low < nbins && status == MG_KERNELS_OK; low += most) {
        int64_t range = nbins - low < most ? nbins - low : most;
        int copies_log2 = 5;
        while (copies_log2 > 0 && range << copies_log2 > COPIES_BYTES / 4)
            copies_log2--;
        int64_t words = range << copies_log2;
        size_t shared = static_cast<size_t>(words) * 4;
        if (shared > MG__HISTOGRAM_STATIC)
            status = mg__kernels_status(cudaFuncSetAttribute(histogram_replicated_u32<THREADS, VECTORS>,
                                                             cudaFuncAttributeMaxDynamicSharedMemorySize,
                                                             static_cast<int>(most * 4)));
        int64_t blocks = most / words < 1 ? 1 : most / words > 2048 / THREADS ? 2048 / THREADS : most / words;
        if (status == MG_KERNELS_OK)
            status =
                mg__kernels_launch(histogram_replicated_u32<THREADS, VECTORS>,
                                   dim3(mg__histogram_grid(call, words, THREADS * 4, mg__kernels_sm_count() * blocks)),
                                   dim3(THREADS), shared, call->stream, call->n, static_cast<const uint32_t *>(call->x),
                                   head_of(call), low, range, copies_log2, call->bins);
    }
    return status;
}

enum mg_kernels_status mg__histogram_replicated(const struct mg__histogram *call)
{
    if (call->size == 4)
        return replicated_u32(call);
    enum mg_kernels_status status = mg__histogram_clear(call);
    if (status != MG_KERNELS_OK)
        return status;
    int64_t resident =
        mg__kernels_sm_count() * int64_t{2}; /* twice as many gain nothing, and have twice as much to add up */
    return mg__kernels_launch(histogram_replicated_u8<THREADS, VECTORS>,
                              dim3(mg__histogram_grid(call, 256 * 32, THREADS * 16, resident)), dim3(THREADS), 0,
                              call->stream, call->n, static_cast<const uint8_t *>(call->x), head_of(call), call->bins);
}
