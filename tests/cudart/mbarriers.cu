// mbarriers.cu - barriers in memory that count: libcu++'s barrier, pipeline and memcpy_async, remote arrivals, and waits
// that never end. Results are held to plain C.
// RUN: -std=c++17
// CASE run: EXPECT: ok
// CASE clean: EXPECT: ok
// CASE few: EXPECT: 702
// CASE few: STDERR: deadlock: the mbarrier at shared address 0x0 ('_ZZ3fewPiiE4full') has 64 of 65 arrivals, and nobody can
// CASE few: STDERR: mbarriers.cu:@few
// CASE bytes: EXPECT: 702
// CASE bytes: STDERR: has 1 of 1 arrivals and 96 of 128 bytes, and nobody can come any more
// CASE many: EXPECT: 719
// CASE many: STDERR: an arrival with .noComplete would complete the phase
// CASE none: EXPECT: 719
// CASE none: STDERR: there is no mbarrier at this address
#include "check.h"
#include <cooperative_groups.h>
#include <cooperative_groups/memcpy_async.h>
#include <cstdint>
#include <cuda/barrier>
#include <cuda/pipeline>
namespace cg = cooperative_groups;

template <class T> static T *managed(size_t n)
{
    T *p;
    OK(cudaMallocManaged(&p, n * sizeof(T)));
    memset(p, 0, n * sizeof(T));
    return p;
}
__device__ static uint32_t shared_address(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}

// ---- libcu++: phases, copies of a thread's own, and of a group's ----
__global__ void phases(int *out, const int *in)
{
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    __shared__ alignas(16) int tile[256];
    const int t = threadIdx.x;
    if (t == 0)
        init(&barrier, blockDim.x);
    __syncthreads();
    for (int i = 0; i < 4; i++) {
        tile[t] = in[i * 256 + t];
        auto token = barrier.arrive();
        barrier.wait(std::move(token));
        out[i * 256 + t] = tile[255 - t];
        barrier.arrive_and_wait();
    }
    cuda::memcpy_async(&tile[t], &in[t], sizeof(int), barrier);
    barrier.arrive_and_wait();
    out[t] += tile[t ^ 1];
    barrier.arrive_and_wait();
    cuda::memcpy_async(cg::this_thread_block(), tile, in + 256, sizeof(tile), barrier);
    barrier.arrive_and_wait();
    out[256 + t] += tile[t ^ 1];
    if (t & 1)
        barrier.arrive_and_drop();
    else
        barrier.arrive_and_wait();
    if (!(t & 1))
        barrier.arrive_and_wait(); // the other half counts no more
}

static void test_phases()
{
    int *in = managed<int>(1024), *out = managed<int>(1024);
    for (int i = 0; i < 1024; i++)
        in[i] = 7 * i + 3;
    phases<<<1, 256>>>(out, in);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < 1024; i++) {
        int want = in[i / 256 * 256 + 255 - i % 256];
        want += i < 512 ? in[i ^ 1] : 0;
        TRUE(out[i] == want);
    }
    OK(cudaFree(in));
    OK(cudaFree(out));
}

template <int STAGES> __global__ void pipelined(int *out, const int *in, int n)
{
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, STAGES> state;
    __shared__ int tile[STAGES][128];
    auto block = cg::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    int sum = 0;
    for (int next = 0, at = 0; at < n; at++) {
        for (; next < n && next < at + STAGES; next++) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, tile[next % STAGES], in + next * 128, sizeof(tile[0]), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        sum += tile[at % STAGES][threadIdx.x ^ 7] * (at + 1);
        pipe.consumer_release();
    }
    out[threadIdx.x] = sum;
}

// Producers and consumers are different warps.
__global__ void parted(int *out, const int *in, int n)
{
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    __shared__ int tile[2][64];
    auto block = cg::this_thread_block();
    const bool produces = threadIdx.x < 64;
    auto pipe = cuda::make_pipeline(block, &state, produces ? cuda::pipeline_role::producer : cuda::pipeline_role::consumer);
    int sum = 0;
    for (int i = 0; i < n; i++) {
        if (produces) {
            pipe.producer_acquire();
            cuda::memcpy_async(&tile[i % 2][threadIdx.x], &in[i * 64 + threadIdx.x], sizeof(int), pipe);
            pipe.producer_commit();
        } else {
            pipe.consumer_wait();
            sum = 3 * sum + tile[i % 2][threadIdx.x - 64 ^ 33];
            pipe.consumer_release();
        }
    }
    if (!produces)
        out[threadIdx.x - 64] = sum;
}

static void test_pipelines()
{
    const int n = 9;
    int *in = managed<int>(n * 128), *out = managed<int>(128);
    for (int i = 0; i < n * 128; i++)
        in[i] = (int)(i * 2654435761u) >> 8;
    pipelined<3><<<1, 128>>>(out, in, n);
    OK(cudaDeviceSynchronize());
    for (int t = 0; t < 128; t++) {
        int want = 0;
        for (int i = 0; i < n; i++)
            want += in[i * 128 + (t ^ 7)] * (i + 1);
        TRUE(out[t] == want);
    }
    parted<<<1, 128>>>(out, in, n);
    OK(cudaDeviceSynchronize());
    for (int t = 0; t < 64; t++) {
        int want = 0;
        for (int i = 0; i < n; i++)
            want = 3 * want + in[i * 64 + (t ^ 33)];
        TRUE(out[t] == want);
    }
    OK(cudaFree(in));
    OK(cudaFree(out));
}

#if __CUDA_ARCH__ >= 900
#define CLUSTERS
#endif
// ---- the barrier of another block: each gives the next one a value, and then tells it so ----
__global__ void ring(int *out, int rounds)
{
#ifdef CLUSTERS
    __shared__ uint64_t full, empty;
    __shared__ int box;
    cg::cluster_group cluster = cg::this_cluster();
    const unsigned n = cluster.num_blocks(), me = cluster.block_rank(), next = (me + 1) % n, last = (me + n - 1) % n;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&full)));
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(&empty)));
        asm volatile("fence.mbarrier_init.release.cluster;");
    }
    cluster.sync();
    if (threadIdx.x == 0) {
        int value = 100 * (int)blockIdx.x;
        uint32_t to, tell;
        asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(shared_address(&full)), "r"(next));
        asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(tell) : "r"(shared_address(&empty)), "r"(last));
        for (int i = 0; i < rounds; i++) {
            *cluster.map_shared_rank(&box, next) = value;
            asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(to) : "memory");
            asm volatile("{ .reg .pred p;\n"
                         "AGAIN: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1, 1000;\n"
                         "@!p bra AGAIN; }" ::"r"(shared_address(&full)), "r"(i & 1) : "memory");
            value = box + 1;
            asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(tell) : "memory");
            asm volatile("{ .reg .pred p;\n"
                         "AGAIN: mbarrier.test_wait.parity.acquire.cluster.shared::cta.b64 p, [%0], %1;\n"
                         "@p bra OVER; bra AGAIN; OVER: }" ::"r"(shared_address(&empty)), "r"(i & 1) : "memory");
        }
        out[blockIdx.x] = value;
    }
    cluster.sync();
#endif
}

static void test_ring()
{
    cudaFuncAttributes code;
    OK(cudaFuncGetAttributes(&code, ring));
    if (code.ptxVersion < 90)
        return;
    const int rounds = 7, size = 4;
    int *out = managed<int>(2 * size);
    cudaLaunchAttribute attribute;
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim = {size, 1, 1};
    cudaLaunchConfig_t config = {};
    config.gridDim = 2 * size;
    config.blockDim = 32;
    config.attrs = &attribute;
    config.numAttrs = 1;
    OK(cudaLaunchKernelEx(&config, ring, out, rounds));
    OK(cudaDeviceSynchronize());
    for (int b = 0; b < 2 * size; b++)
        TRUE(out[b] == 100 * (b / size * size + (b % size + 2 * size - rounds) % size) + rounds);
    OK(cudaFree(out));
}

// ---- what never ends, and what is undefined ----
__global__ void few(int *out, int n)
{
    __shared__ uint64_t full;
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(&full)), "r"(n));
    __syncthreads();
    asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" ::"r"(shared_address(&full)));
    unsigned over = 0, bar = shared_address(&full);
    while (!over)
        asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }" : "=r"(over) : "r"(bar)); // @few
    out[threadIdx.x] = 1;
}

__global__ void bytes(int *out)
{
#ifdef CLUSTERS
    __shared__ uint64_t full;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared_address(&full)));
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 128;" ::"r"(shared_address(&full)));
        asm volatile("mbarrier.complete_tx.relaxed.cluster.shared::cta.b64 [%0], 96;" ::"r"(shared_address(&full)));
    }
    __syncthreads();
    asm volatile("{ .reg .pred p;\nAGAIN: mbarrier.try_wait.parity.shared.b64 p, [%0], 0;\n@!p bra AGAIN; }" ::"r"(
        shared_address(&full)));
    out[threadIdx.x] = 1;
#endif
}

__global__ void many()
{
    __shared__ uint64_t full;
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"(shared_address(&full)));
    __syncthreads();
    asm volatile("{ .reg .b64 s; mbarrier.arrive.noComplete.shared.b64 s, [%0], 2; }" ::"r"(shared_address(&full)));
}

__global__ void none()
{
    __shared__ uint64_t full;
    asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" ::"r"(shared_address(&full)));
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "run";
    int *out = managed<int>(64);
    if (!strcmp(what, "run") || !strcmp(what, "clean")) {
        test_phases();
        test_pipelines();
        test_ring();
        DONE();
    }
    if (!strcmp(what, "few"))
        few<<<1, 64>>>(out, 65);
    else if (!strcmp(what, "bytes"))
        bytes<<<1, 64>>>(out);
    else if (!strcmp(what, "many"))
        many<<<1, 32>>>();
    else
        none<<<1, 32>>>();
    printf("%d\n", (int)cudaDeviceSynchronize());
    return 0;
}
