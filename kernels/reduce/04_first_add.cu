/* first add while loading: each thread joins two elements on their way into shared memory.
 *
 * In the rung before, half of the threads do nothing but store one element. Here a block takes 512 elements, and the
 * tree's first step happens in registers, with two loads in flight a thread. Should gain up to a factor of two where
 * blocks come and go faster than memory answers. */
#include "reduce/reduce_priv.h"

template <class Join>
static __global__ void __launch_bounds__(REDUCE_THREADS)
    first_add(const typename Join::value *x, int64_t n, typename Join::value *out)
{
    __shared__ typename Join::value tile[REDUCE_THREADS];
    unsigned t = threadIdx.x;
    int64_t i = static_cast<int64_t>(blockIdx.x) * REDUCE_PAIRS + t;
    typename Join::value a = i < n ? x[i] : Join::none();
    typename Join::value b = i + REDUCE_THREADS < n ? x[i + REDUCE_THREADS] : Join::none();
    tile[t] = Join::join(a, b);
    __syncthreads();
    for (unsigned half = REDUCE_THREADS / 2; half > 0; half /= 2) {
        if (t < half)
            tile[t] = Join::join(tile[t], tile[t + half]);
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = tile[0];
}

struct first_add_pass {
    static constexpr int64_t PER_BLOCK = REDUCE_PAIRS;
    template <class Join>
    static enum mg_kernels_status pass(cudaStream_t stream, fold_plain<typename Join::value> source, int64_t n,
                                       unsigned blocks, typename Join::value *out)
    {
        return mg__kernels_launch(first_add<Join>, blocks, REDUCE_THREADS, 0, stream, source.x, n, out);
    }
};

template <typename T> enum mg_kernels_status mg__reduce_first_add(const reduce_call<T> &c)
{
    return reduce_passes<first_add_pass>(c);
}
REDUCE_INSTANCES(first_add)
