/* interleaved: a tree in shared memory, whose joining threads lie ever further apart.
 *
 * Adds the block: 256 elements go into shared memory, eight steps with a barrier each join them, and one value leaves
 * the block; further passes fold the blocks' values. That should gain all that the atomics' queue cost. In step s the
 * threads work whose number divides by 2s: of each warp half, a quarter, an eighth, so that every warp runs every step,
 * most of its lanes idle. */
#include "reduce/reduce_priv.h"

template <class Join>
static __global__ void __launch_bounds__(REDUCE_THREADS)
    interleaved(const typename Join::value *x, int64_t n, typename Join::value *out)
{
    __shared__ typename Join::value tile[REDUCE_THREADS];
    unsigned t = threadIdx.x;
    int64_t i = static_cast<int64_t>(blockIdx.x) * REDUCE_THREADS + t;
    tile[t] = i < n ? x[i] : Join::none();
    __syncthreads();
    for (unsigned s = 1; s < REDUCE_THREADS; s *= 2) {
        if (t % (2 * s) == 0)
            tile[t] = Join::join(tile[t], tile[t + s]);
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = tile[0];
}

struct interleaved_pass {
    static constexpr int64_t PER_BLOCK = REDUCE_THREADS;
    template <class Join>
    static enum mg_kernels_status pass(cudaStream_t stream, fold_plain<typename Join::value> source, int64_t n,
                                       unsigned blocks, typename Join::value *out)
    {
        return mg__kernels_launch(interleaved<Join>, blocks, REDUCE_THREADS, 0, stream, source.x, n, out);
    }
};

template <typename T> enum mg_kernels_status mg__reduce_interleaved(const reduce_call<T> &c)
{
    return reduce_passes<interleaved_pass>(c);
}
REDUCE_INSTANCES(interleaved)
