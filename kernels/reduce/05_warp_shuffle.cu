/* warp shuffle: the tree is made of exchanges between the registers of a warp.
 *
 * Five shuffles fold a warp, without shared memory and without a barrier, since a warp's lanes are in step where they
 * exchange; each warp stores one word, and after the only barrier the first warp folds those. Should gain eight
 * barriers and most shared-memory traffic of a block. */
#include "reduce/reduce_priv.h"

template <class Join>
static __global__ void __launch_bounds__(REDUCE_THREADS)
    warp_shuffle(const typename Join::value *x, int64_t n, typename Join::value *out)
{
    int64_t i = static_cast<int64_t>(blockIdx.x) * REDUCE_PAIRS + threadIdx.x;
    typename Join::value a = i < n ? x[i] : Join::none();
    typename Join::value b = i + REDUCE_THREADS < n ? x[i + REDUCE_THREADS] : Join::none();
    a = fold_block<Join, REDUCE_THREADS>(Join::join(a, b));
    if (threadIdx.x == 0)
        out[blockIdx.x] = a;
}

struct warp_shuffle_pass {
    static constexpr int64_t PER_BLOCK = REDUCE_PAIRS;
    template <class Join>
    static enum mg_kernels_status pass(cudaStream_t stream, fold_plain<typename Join::value> source, int64_t n,
                                       unsigned blocks, typename Join::value *out)
    {
        return mg__kernels_launch(warp_shuffle<Join>, blocks, REDUCE_THREADS, 0, stream, source.x, n, out);
    }
};

template <typename T> enum mg_kernels_status mg__reduce_warp_shuffle(const reduce_call<T> &c)
{
    return reduce_passes<warp_shuffle_pass>(c);
}
REDUCE_INSTANCES(warp_shuffle)
