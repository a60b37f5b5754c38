/* 07_random.cu - thread t takes the element that a random permutation gives it.
 *
 * Adds: a permutation of 0..n-1 without a table. Steps that can be undone (times an odd number, xor with a shift of
 * itself) permute the numbers of `bits` bits; where the result is n or above they are applied again until it is below
 * (cycle walking: it ends, since the walk comes back to t at the latest; twice at most on average, as n is over half
 * of 2^bits).
 * Gains: nothing; 32 sectors a request as at stride 32, in no order that pages of DRAM or the second cache could use.
 */
#include "stream/stream_priv.h"

struct random_order {
    int64_t n;
    int bits; /* the fewest that hold n - 1; at least 1 */
    __host__ int64_t threads(int64_t) const
    {
        return n;
    }
    __device__ int64_t element(int64_t t) const
    {
        uint64_t mask = ~uint64_t{0} >> (64 - bits), i = static_cast<uint64_t>(t);
        int shift = (bits + 1) / 2;
        do {
#pragma unroll
            for (int round = 0; round < 3; round++) {
                i = (i * 0x9e3779b97f4a7c15u + 0x7f4a7c15u) & mask;
                i ^= i >> shift;
            }
        } while (i >= static_cast<uint64_t>(n));
        return static_cast<int64_t>(i);
    }
};

enum mg_kernels_status mg__stream_random(const struct mg__stream *call)
{
    int bits = 1;
    while ((call->n - 1) >> bits)
        bits++;
    return mg__stream_launch(call, random_order{call->n, bits});
}
