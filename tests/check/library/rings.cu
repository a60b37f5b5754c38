/* rings.cu - rings of stages as libraries write them for sm_90: CUTLASS' full and empty barriers with states, blocks of a
 * cluster that share what they load, two warpgroups in turns as FlashAttention has them, and those of libcu++ and cooperative
 * groups. All is right: plain C++ says so, and nothing may be found.
 */
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cuda/barrier>
#include <cuda/pipeline>

#include <cstdint>

#include "held.h"

namespace cg = cooperative_groups;

__device__ static uint32_t at(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}
__device__ static void wait(uint64_t *bar, uint32_t parity)
{
    asm volatile("{ .reg .pred p;\nAGAIN: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra AGAIN; }" ::"r"(at(bar)),
                 "r"(parity)
                 : "memory");
}

/* ---- a ring over a cluster: each block loads half of a stage for all ---- */
enum { STAGES = 3, WORDS = 256, TILES = 10, BLOCKS = 2 };
struct State { /* of one who goes round the ring */
    uint32_t stage = 0, phase;
    __device__ explicit State(uint32_t first) : phase(first) {}
    __device__ void next()
    {
        if (++stage == STAGES) {
            stage = 0;
            phase ^= 1;
        }
    }
};
struct Ring {
    uint64_t full[STAGES], empty[STAGES];
    __device__ void make(uint32_t consumers)
    {
        for (int s = 0; s < STAGES; s++) {
            asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(at(&full[s])) : "memory");
            asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at(&empty[s])), "r"(consumers) : "memory");
        }
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    __device__ void acquire(const State &s, uint32_t bytes)
    {
        wait(&empty[s.stage], s.phase);
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(&full[s.stage])), "r"(bytes) : "memory");
    }
    __device__ void release(const State &s, uint32_t rank)
    {
        uint32_t there;
        asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(at(&empty[s.stage])), "r"(rank));
        asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(there) : "memory");
    }
};
__global__ void __cluster_dims__(BLOCKS) shared_tiles(const int *in, long long *out)
{
    extern __shared__ __align__(128) int tile[]; /* STAGES x WORDS */
    __shared__ Ring ring;
    const int t = threadIdx.x;
    const uint32_t rank = cg::this_cluster().block_rank();
    if (t == 0)
        ring.make(2 * BLOCKS); /* a warp of each consumer's two, of all blocks */
    asm volatile("barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
    if (t < 32) {
        State s(1);
        for (int k = 0; t == 0 && k < TILES; k++, s.next()) {
            const int half = WORDS / BLOCKS;
            ring.acquire(s, WORDS * 4);
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;" ::"r"(
                             at(tile + s.stage * WORDS + rank * half)),
                         "l"(in + k * WORDS + rank * half), "r"(half * 4), "r"(at(&ring.full[s.stage])), "h"((uint16_t)((1 << BLOCKS) - 1))
                         : "memory");
        }
        for (int k = 0; t == 0 && k < STAGES; k++, s.next()) /* the last ones are released, too, before the block ends */
            wait(&ring.empty[s.stage], s.phase);
        return;
    }
    State s(0);
    long long sum = 0;
    for (int k = 0; k < TILES; k++, s.next()) {
        wait(&ring.full[s.stage], s.phase);
        for (int i = t - 32; i < WORDS; i += 64)
            sum += (long long)tile[s.stage * WORDS + i] * (k + 1 + (int)rank);
        __syncwarp();
        if (t % 32 < BLOCKS)
            ring.release(s, t % 32);
    }
    atomicAdd((unsigned long long *)&out[rank], (unsigned long long)sum);
}

/* ---- two groups in turns: one computes scores while the other one folds values in ---- */
enum { GROUP = 64, ROWS = 8 };
__global__ void in_turns(const int *keys, const int *values, long long *out)
{
    __shared__ __align__(128) int key[STAGES][GROUP], value[STAGES][GROUP];
    __shared__ Ring ring;
    const int t = threadIdx.x, group = t / GROUP, lane = t % GROUP;
    if (t == 0)
        ring.make(2 * GROUP);
    __syncthreads();
    if (group == 2) {
        State s(1);
        for (int k = 0; lane == 0 && k < ROWS; k++, s.next()) {
            ring.acquire(s, 2 * GROUP * 4);
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(at(key[s.stage])),
                         "l"(keys + k * GROUP), "r"(GROUP * 4), "r"(at(&ring.full[s.stage]))
                         : "memory");
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(at(value[s.stage])),
                         "l"(values + k * GROUP), "r"(GROUP * 4), "r"(at(&ring.full[s.stage]))
                         : "memory");
        }
        return;
    }
    State s(0);
    long long most = -1, sum = 0;
    if (group == 1)
        asm volatile("bar.arrive 1, 128;" ::: "memory"); /* the first group begins */
    for (int k = 0; k < ROWS; k++, s.next()) {
        wait(&ring.full[s.stage], s.phase);
        asm volatile("bar.sync %0, 128;" ::"r"(1 + group) : "memory");
        const long long score = (long long)key[s.stage][(lane + group) % GROUP] * (lane + 1);
        asm volatile("bar.arrive %0, 128;" ::"r"(2 - group) : "memory");
        if (score > most)
            most = score;
        sum += most * value[s.stage][lane];
        ring.release(s, 0);
    }
    if (group == 0)
        asm volatile("bar.sync 1, 128;" ::: "memory"); /* the turn that the other one gave last */
    out[t] = sum;
}

/* ---- libcu++ and cooperative groups ---- */
__global__ void stages(const int *in, int *out, int tiles)
{
    __shared__ __align__(16) int tile[3][128];
    cuda::pipeline<cuda::thread_scope_thread> pipe = cuda::make_pipeline();
    const int t = threadIdx.x;
    int sum = 0;
    for (int k = 0, fetched = 0; k < tiles; k++) {
        for (; fetched < tiles && fetched < k + 2; fetched++) {
            pipe.producer_acquire();
            cuda::memcpy_async(&tile[fetched % 3][t], in + fetched * 128 + t, cuda::aligned_size_t<4>(4), pipe);
            pipe.producer_commit();
        }
        if (fetched - k > 1)
            cuda::pipeline_consumer_wait_prior<1>(pipe);
        else
            cuda::pipeline_consumer_wait_prior<0>(pipe);
        __syncthreads();
        sum += tile[k % 3][127 - t];
        pipe.consumer_release();
    }
    out[t] = sum;
}
__global__ void roles(const int *in, int *out, int tiles)
{
    __shared__ __align__(16) int tile[2][128];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    cg::thread_block block = cg::this_thread_block();
    const bool produces = threadIdx.x >= 128;
    auto pipe = cuda::make_pipeline(block, &state, produces ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
    const int t = threadIdx.x % 128;
    int sum = 0;
    for (int k = 0; k < tiles; k++) {
        if (produces) {
            pipe.producer_acquire();
            cuda::memcpy_async(&tile[k % 2][t], in + k * 128 + t, cuda::aligned_size_t<4>(4), pipe);
            pipe.producer_commit();
        } else {
            pipe.consumer_wait();
            sum += tile[k % 2][127 - t];
            pipe.consumer_release();
        }
    }
    if (!produces)
        out[t] = sum;
}
__global__ void by_barrier(const int *in, int *out, int tiles)
{
    using barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ __align__(128) int tile[2][128];
    __shared__ barrier bar[2];
    cg::thread_block block = cg::this_thread_block();
    const int t = threadIdx.x;
    if (t < 2)
        init(&bar[t], blockDim.x);
    __syncthreads();
    int sum = 0;
    cuda::memcpy_async(block, tile[0], in, cuda::aligned_size_t<16>(sizeof tile[0]), bar[0]);
    for (int k = 0; k < tiles; k++) {
        if (k + 1 < tiles)
            cuda::memcpy_async(block, tile[(k + 1) % 2], in + (k + 1) * 128, cuda::aligned_size_t<16>(sizeof tile[0]), bar[(k + 1) % 2]);
        bar[k % 2].arrive_and_wait();
        sum += tile[k % 2][127 - t];
        __syncthreads();
    }
    out[t] = sum;
}
__global__ void by_groups(const int *in, int *out, int tiles)
{
    __shared__ __align__(16) int tile[2][128];
    cg::thread_block block = cg::this_thread_block();
    const int t = threadIdx.x;
    int sum = 0;
    cg::memcpy_async(block, tile[0], in, cuda::aligned_size_t<16>(sizeof tile[0]));
    for (int k = 0; k < tiles; k++) {
        if (k + 1 < tiles) {
            cg::memcpy_async(block, tile[(k + 1) % 2], in + (k + 1) * 128, cuda::aligned_size_t<16>(sizeof tile[0]));
            cg::wait_prior<1>(block);
        } else {
            cg::wait(block);
        }
        sum += tile[k % 2][127 - t];
        block.sync();
    }
    out[t] = sum;
}

int main()
{
    std::vector<int> h(TILES * WORDS), v(TILES * WORDS);
    for (size_t i = 0; i < h.size(); i++)
        h[i] = (int)(i * 7919 % 1009), v[i] = (int)(i * 104729 % 499);
    int *in = to_device(h), *values = to_device(v), *out = to_device(std::vector<int>(256));
    long long *sums = to_device(std::vector<long long>(128));

    shared_tiles<<<BLOCKS, 96, STAGES * WORDS * 4>>>(in, sums);
    std::vector<long long> s = to_host(sums, 128);
    for (int b = 0; b < BLOCKS; b++) {
        long long want = 0;
        for (int i = 0; i < TILES * WORDS; i++)
            want += (long long)h[i] * (i / WORDS + 1 + b);
        hold(s[b] == want, "tiles that a cluster shares");
    }

    in_turns<<<1, 192>>>(in, values, sums);
    s = to_host(sums, 128);
    for (int t = 0; t < 128; t++) {
        long long most = -1, sum = 0;
        for (int k = 0; k < ROWS; k++) {
            const long long score = (long long)h[k * GROUP + (t % GROUP + t / GROUP) % GROUP] * (t % GROUP + 1);
            most = score > most ? score : most;
            sum += most * v[k * GROUP + t % GROUP];
        }
        hold(s[t] == sum, "two groups in turns");
    }

    const int tiles = 9;
    for (int kind = 0; kind < 4; kind++) {
        if (kind == 0) stages<<<1, 128>>>(in, out, tiles);
        if (kind == 1) roles<<<1, 256>>>(in, out, tiles);
        if (kind == 2) by_barrier<<<1, 128>>>(in, out, tiles);
        if (kind == 3) by_groups<<<1, 128>>>(in, out, tiles);
        std::vector<int> o = to_host(out, 128);
        for (int t = 0; t < 128; t++) {
            int want = 0;
            for (int k = 0; k < tiles; k++)
                want += h[k * 128 + 127 - t];
            hold(o[t] == want, "stages of libcu++ and cooperative groups");
        }
    }
    return 0;
}
