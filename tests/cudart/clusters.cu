// clusters.cu - thread-block clusters: registers, barriers, one another's shared memory, and what is refused. Results are
// held to plain C. margay check finds nothing in the case clean (tests/check).
// RUN: -arch=sm_90 -std=c++17
// CASE run: EXPECT: ok
// CASE clean: EXPECT: ok
// CASE stuck: EXPECT: 702
// CASE stuck: STDERR: deadlock: 96 of 128 threads have come to the cluster's barrier, and the others can no longer reach it
// CASE stuck: STDERR: block 0: warps 0-1 at clusters.cu:@cluster
// CASE stuck: STDERR: (the cluster's barrier); block 1: warp 0 at clusters.cu:@block
// CASE stuck: STDERR: (barrier 1), warp 1 at clusters.cu:@cluster
// CASE twice: EXPECT: 719
// CASE twice: STDERR: a thread comes to the cluster's barrier again before it has waited there
// CASE never: EXPECT: 719
// CASE never: STDERR: a thread waits at the cluster's barrier and has not come there
// CASE beyond: EXPECT: 719
// CASE beyond: STDERR: access of 4 bytes at the shared memory of block 2 of a cluster of 2
// CASE ended: EXPECT: 719
// CASE ended: STDERR: access to the shared memory of block 1,0,0 of the cluster, which has ended
#include "check.h"
#include <cooperative_groups.h>
#include <vector>
namespace cg = cooperative_groups;

template <class... P, class... A>
static cudaError_t launch(void (*kernel)(P...), dim3 grid, dim3 block, dim3 cluster, size_t shared, A... args)
{
    cudaLaunchAttribute attribute;
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = cluster.x;
    attribute.val.clusterDim.y = cluster.y;
    attribute.val.clusterDim.z = cluster.z;
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = shared;
    config.attrs = &attribute;
    config.numAttrs = 1;
    cudaError_t error = cudaLaunchKernelEx(&config, kernel, P(args)...);
    cudaGetLastError();
    return error;
}

template <class T> static T *managed(size_t n)
{
    T *p;
    OK(cudaMallocManaged(&p, n * sizeof(T)));
    memset(p, 0, n * sizeof(T));
    return p;
}

// ---- registers ----
#define READ(at, name)                                     \
    {                                                      \
        unsigned v;                                        \
        asm volatile("mov.u32 %0, %%" name ";" : "=r"(v)); \
        p[at] = v;                                         \
    }
enum { VALUES = 15 };
__global__ void registers(unsigned *all)
{
    if (threadIdx.x != 5)
        return;
    unsigned *p = all + VALUES * (blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z));
    READ(0, "clusterid.x")
    READ(1, "clusterid.y")
    READ(2, "clusterid.z")
    READ(3, "nclusterid.x")
    READ(4, "nclusterid.y")
    READ(5, "nclusterid.z")
    READ(6, "cluster_ctaid.x")
    READ(7, "cluster_ctaid.y")
    READ(8, "cluster_ctaid.z")
    READ(9, "cluster_nctaid.x")
    READ(10, "cluster_nctaid.y")
    READ(11, "cluster_nctaid.z")
    READ(12, "cluster_ctarank")
    READ(13, "cluster_nctarank")
    asm volatile("{ .reg .pred q; mov.pred q, %%is_explicit_cluster; selp.u32 %0, 1, 0, q; }" : "=r"(p[14]));
}

static void test_registers()
{
    const unsigned g[3] = {6, 4, 4}, c[3] = {3, 1, 2};
    unsigned *p = managed<unsigned>(g[0] * g[1] * g[2] * VALUES);
    IS(launch(registers, dim3(g[0], g[1], g[2]), 32, dim3(c[0], c[1], c[2]), 0, p), 0);
    OK(cudaDeviceSynchronize());
    for (unsigned z = 0; z < g[2]; z++)
        for (unsigned y = 0; y < g[1]; y++)
            for (unsigned x = 0; x < g[0]; x++) {
                unsigned rank = x % 3 + 3 * (z % 2);
                const unsigned want[VALUES] = {x / 3, y, z / 2, 2, 4, 2, x % 3, 0, z % 2, 3, 1, 2, rank, 6, 1};
                for (int i = 0; i < VALUES; i++)
                    TRUE(p[VALUES * (x + g[0] * (y + g[1] * z)) + i] == want[i]);
            }
    OK(cudaFree(p));
}

// ---- a sum, gathered by the first block ----
template <int SIZE> __global__ void __cluster_dims__(SIZE) reduce(const int *in, int n, long long *out)
{
    __shared__ long long mine;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0)
        mine = 0;
    __syncthreads();
    long long sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += in[i];
    atomicAdd((unsigned long long *)&mine, (unsigned long long)sum);
    cluster.sync();
    if (cluster.block_rank() == 0 && threadIdx.x == 0) {
        long long all = 0;
        for (unsigned r = 0; r < cluster.num_blocks(); r++)
            all += *cluster.map_shared_rank(&mine, r);
        out[blockIdx.x / SIZE] = all;
    }
    cluster.sync();
}

template <int SIZE> static void test_reduce()
{
    const int n = 50000, blocks = 16;
    int *in = managed<int>(n);
    long long *out = managed<long long>(blocks), want[blocks] = {};
    for (int i = 0; i < n; i++) {
        in[i] = (int)(i * 2654435761u) >> 3;
        want[i / 128 % blocks / SIZE] += in[i];
    }
    reduce<SIZE><<<blocks, 128>>>(in, n, out);
    OK(cudaDeviceSynchronize());
    TRUE(memcmp(out, want, sizeof(want)) == 0);
    OK(cudaFree(in));
    OK(cudaFree(out));
}

// ---- a histogram whose bins lie in all blocks of the cluster ----
__global__ void histogram(const unsigned char *in, int n, int bins, unsigned *out)
{
    extern __shared__ unsigned part[];
    cg::cluster_group cluster = cg::this_cluster();
    int each = bins / (int)cluster.num_blocks();
    for (int i = threadIdx.x; i < each; i += blockDim.x)
        part[i] = 0;
    cluster.sync();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(cluster.map_shared_rank(part, in[i] / each) + in[i] % each, 1u);
    cluster.sync();
    for (int i = threadIdx.x; i < each; i += blockDim.x)
        atomicAdd(&out[cluster.block_rank() * each + i], part[i]);
}

static void test_histogram(unsigned size)
{
    const int n = 20000, bins = 256;
    unsigned char *in = managed<unsigned char>(n);
    unsigned *out = managed<unsigned>(bins), want[bins] = {};
    for (int i = 0; i < n; i++)
        want[in[i] = (unsigned char)(i * i / 7)]++;
    IS(launch(histogram, 16, 96, size, bins / size * sizeof(unsigned), in, n, bins, out), 0);
    OK(cudaDeviceSynchronize());
    TRUE(memcmp(out, want, sizeof(want)) == 0);
    OK(cudaFree(in));
    OK(cudaFree(out));
}

// ---- a stencil over the cluster: each block has a piece of the row, and reads its neighbours' edges ----
enum { PIECE = 64, STEPS = 20 };
__global__ void __cluster_dims__(4, 1, 1) stencil(const float *in, float *out)
{
    __shared__ float row[2][PIECE];
    cg::cluster_group cluster = cg::this_cluster();
    unsigned r = cluster.block_rank(), n = cluster.num_blocks(), t = threadIdx.x;
    row[0][t] = in[blockIdx.x * PIECE + t];
    cluster.sync();
    for (int s = 0; s < STEPS; s++) {
        const float *now = row[s & 1];
        float left = t ? now[t - 1] : cluster.map_shared_rank(now, (r + n - 1) % n)[PIECE - 1];
        float right = t < PIECE - 1 ? now[t + 1] : cluster.map_shared_rank(now, (r + 1) % n)[0];
        row[~s & 1][t] = left * 0.25f + now[t] * 0.5f + right * 0.25f;
        cluster.sync();
    }
    out[blockIdx.x * PIECE + t] = row[STEPS & 1][t];
}

static void test_stencil()
{
    const int rows = 5, n = 4 * PIECE;
    float *in = managed<float>(rows * n), *out = managed<float>(rows * n);
    for (int i = 0; i < rows * n; i++)
        in[i] = (float)(i * 37 % 101); // sums of quarters are exact
    stencil<<<rows * 4, PIECE>>>(in, out);
    OK(cudaDeviceSynchronize());
    for (int y = 0; y < rows; y++) {
        std::vector<float> now(in + y * n, in + (y + 1) * n), next(n);
        for (int s = 0; s < STEPS; s++, now.swap(next))
            for (int i = 0; i < n; i++)
                next[i] = now[(i + n - 1) % n] * 0.25f + now[i] * 0.5f + now[(i + 1) % n] * 0.25f;
        TRUE(memcmp(now.data(), out + y * n, n * sizeof(float)) == 0);
    }
    OK(cudaFree(in));
    OK(cudaFree(out));
}

// ---- PTX: addresses of the window, every form of the barrier, vectors, atomics of several types ----
__global__ void __cluster_dims__(2, 2, 1) ptx(unsigned *out)
{
    __shared__ __align__(16) unsigned s[64];
    __shared__ double d;
    __shared__ float f;
    unsigned rank, t = threadIdx.x, at, rest, seen, own = (unsigned)__cvta_generic_to_shared(s), there;
    asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    for (unsigned i = t; i < 64; i += blockDim.x)
        s[i] = 0;
    if (t == 0)
        d = f = 0;
    asm volatile("barrier.cluster.arrive.release.aligned;\n\tbarrier.cluster.wait.acquire.aligned;" ::: "memory");
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(own), "r"((rank + 1) % 4));
    asm("getctarank.shared::cluster.u32 %0, %1;" : "=r"(at) : "r"(there));
    asm volatile("st.shared::cluster.u32 [%0], %1;" ::"r"(there + 4 * t), "r"(1000 * rank + t) : "memory");
    asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
    asm volatile("fence.acq_rel.cluster;\n\tbarrier.cluster.wait;" ::: "memory");
    asm volatile("atom.shared::cluster.add.u32 %0, [%1], %2;" : "=r"(rest) : "r"(there + 4 * t), "r"(5) : "memory");
    asm volatile("barrier.cluster.arrive;\n\tbarrier.cluster.wait;" ::: "memory");
    unsigned v[4];
    asm volatile("ld.shared::cluster.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3])
                 : "r"(there + 16 * (t / 4)));
    cg::cluster_group cluster = cg::this_cluster();
    atomicAdd(cluster.map_shared_rank(&d, 3), 0.5);
    atomicAdd(cluster.map_shared_rank(&f, 2), 1e-41f); // kept whole: nothing is flushed in shared memory
    atomicMax((int *)cluster.map_shared_rank(s, 1) + 63, (int)(100 * rank + t));
    seen = __isShared(s) + 2 * __isShared(cluster.map_shared_rank(s, (rank + 1) % 4)) +
           4 * __isClusterShared(cluster.map_shared_rank(s, (rank + 1) % 4)) + 8 * __isGlobal(out) +
           16 * __isGlobal(cluster.map_shared_rank(s, (rank + 1) % 4)) +
           32 * (cluster.map_shared_rank(s, rank) == s);
    cluster.sync();
    unsigned *o = out + (rank * 48 + t) * 8;
    o[0] = s[t];
    o[1] = at;
    o[2] = rest;
    o[3] = v[t % 4];
    o[4] = rank == 3 ? (unsigned)d : rank == 2 ? __float_as_uint(f) : s[63];
    o[5] = seen;
}

static void test_ptx()
{
    unsigned *out = managed<unsigned>(4 * 48 * 8);
    float tiny = 0;
    for (int i = 0; i < 4 * 48; i++)
        tiny += 1e-41f;
    unsigned bits;
    memcpy(&bits, &tiny, 4);
    ptx<<<dim3(2, 2), 48>>>(out);
    OK(cudaDeviceSynchronize());
    for (unsigned r = 0; r < 4; r++)
        for (unsigned t = 0; t < 48; t++) {
            const unsigned *o = out + (r * 48 + t) * 8;
            TRUE(o[0] == 1000 * ((r + 3) % 4) + t + 5);
            TRUE(o[1] == (r + 1) % 4);
            TRUE(o[2] == 1000 * r + t);
            TRUE(o[3] == 1000 * r + t + 5);
            TRUE(o[4] == (r == 3 ? 96 : r == 2 ? bits : r == 1 ? 347 : 0));
            TRUE(o[5] == 1 + 4 + 8 + 32);
        }
    OK(cudaFree(out));
}

// ---- waiting ----
// Threads that exit count no more; lanes of a warp come and wait apart; block 1 polls what block 0 writes.
__global__ void __cluster_dims__(2) meet(int *out)
{
    __shared__ volatile int flag;
    __shared__ int value[64];
    cg::cluster_group cluster = cg::this_cluster();
    unsigned r = cluster.block_rank(), t = threadIdx.x;
    if (t >= 40 + 20 * r)
        return;
    if (t == 0)
        flag = 0;
    value[t] = 0;
    if (t % 3) {
        asm volatile("barrier.cluster.arrive;\n\tbarrier.cluster.wait;" ::: "memory");
        *cluster.map_shared_rank(&value[t], 1 - r) = (int)(t + 100 * r);
    } else {
        asm volatile("barrier.cluster.arrive;" ::: "memory");
        value[t] = -1;
        asm volatile("barrier.cluster.wait;" ::: "memory");
    }
    cluster.sync();
    if (r == 0 && t == 7) {
        for (int i = 0; i < 100; i++)
            value[t] += i * value[t];
        __threadfence();
        *(volatile int *)cluster.map_shared_rank((int *)&flag, 1) = 1;
    }
    if (r == 1 && t == 9)
        while (!flag)
            ;
    out[64 * r + t] = t == 7 ? 0 : value[t];
    cluster.sync();
}

static void test_meet()
{
    int *out = managed<int>(128);
    meet<<<2, 64>>>(out);
    OK(cudaDeviceSynchronize());
    for (int r = 0; r < 2; r++)
        for (int t = 0; t < 40 + 20 * r; t++) {
            bool written = t % 3 && t < 40 + 20 * (1 - r);
            TRUE(out[64 * r + t] == (t == 7 ? 0 : t % 3 == 0 ? -1 : written ? t + 100 * (1 - r) : 0));
        }
    OK(cudaFree(out));
}

// The first warp goes on as soon as all have come, though the others of its block do not wait yet: they do once it has told them.
__global__ void __cluster_dims__(2) apart(int *out)
{
    __shared__ volatile int told;
    __shared__ int of[2];
    cg::cluster_group cluster = cg::this_cluster();
    unsigned r = cluster.block_rank(), t = threadIdx.x;
    if (t == 0)
        told = 0;
    __syncthreads();
    if (t < 2)
        of[t] = 10 * r + t;
    for (int k = 1; k < 30; k++) {
        cluster.barrier_arrive();
        if (t >= 32)
            while (told < k)
                ;
        cluster.barrier_wait();
        if (t == 0)
            told = k;
    }
    out[128 * r + t] = *cluster.map_shared_rank(&of[t % 2], 1 - r);
    cluster.sync();
}

// The first cluster meets until the last one has run, which may begin when others wait. Warps that end count no more.
__global__ void __cluster_dims__(4) until(volatile int *flag, int *out)
{
    __shared__ int seen;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x >= 64)
        return;
    for (bool go = blockIdx.x < 4; go;) {
        if (threadIdx.x == 0)
            *cluster.map_shared_rank(&seen, (cluster.block_rank() + 1) % 4) = *flag;
        cluster.sync();
        go = !seen;
        cluster.sync();
    }
    out[blockIdx.x] = 1;
    if (blockIdx.x / 4 == gridDim.x / 4 - 1)
        *flag = 1;
}

static void test_turns()
{
    int *out = managed<int>(256), *flag = managed<int>(1);
    apart<<<2, 128>>>(out);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < 256; i++)
        TRUE(out[i] == 10 * (1 - i / 128) + i % 2);
    memset(out, 0, 256 * sizeof(int));
    until<<<16, 96>>>(flag, out);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < 16; i++)
        TRUE(out[i] == 1);
    OK(cudaFree(out));
    OK(cudaFree(flag));
}

// ---- what is refused, and what is asked ----
__global__ void nothing(int *p) { if (threadIdx.x == 0) p[blockIdx.x] = 1; }
__global__ void __cluster_dims__(2, 1, 1) two(int *p) { if (threadIdx.x == 0) p[blockIdx.x] = 1; }
__global__ void __launch_bounds__(64, 1, 4) four(int *p) { if (threadIdx.x == 0) p[blockIdx.x] = 1; }

static void test_limits()
{
    int *p = managed<int>(64), n;
    IS(launch(nothing, 15, 32, 2, 0, p), cudaErrorInvalidClusterSize);
    IS(launch(nothing, dim3(4, 3), 32, dim3(2, 2), 0, p), cudaErrorInvalidClusterSize);
    IS(launch(nothing, 16, 32, 16, 0, p), cudaErrorInvalidClusterSize);
    IS(launch(two, 16, 32, 4, 0, p), cudaErrorInvalidClusterSize);
    IS(launch(four, 16, 32, 8, 0, p), cudaErrorInvalidClusterSize);
    IS(launch(two, 16, 32, 2, 0, p), 0);
    two<<<3, 32>>>(p);
    IS(cudaGetLastError(), cudaErrorInvalidClusterSize);
    OK(cudaFuncSetAttribute(nothing, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    memset(p, 0, 64 * sizeof(int));
    IS(launch(nothing, 48, 32, 16, 0, p), 0);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < 64; i++)
        TRUE(p[i] == (i < 48));
    cudaFuncAttributes a;
    OK(cudaFuncGetAttributes(&a, two));
    TRUE(a.clusterDimMustBeSet == 1 && a.requiredClusterWidth == 2 && a.requiredClusterHeight == 1);
    TRUE(a.requiredClusterDepth == 1 && !a.nonPortableClusterSizeAllowed);
    cudaLaunchAttribute attribute;
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = 2;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    cudaLaunchConfig_t config = {};
    config.gridDim = 64;
    config.blockDim = 1024;
    config.attrs = &attribute;
    config.numAttrs = 1;
    OK(cudaOccupancyMaxPotentialClusterSize(&n, four, &config));
    TRUE(n == 8);
    attribute.val.clusterDim.x = 4;
    IS(cudaOccupancyMaxPotentialClusterSize(&n, two, &config), cudaErrorInvalidClusterSize);
    attribute.val.clusterDim.x = 2;
    OK(cudaOccupancyMaxPotentialClusterSize(&n, two, &config));
    TRUE(n == 8);
    config.numAttrs = 0;
    OK(cudaOccupancyMaxPotentialClusterSize(&n, nothing, &config));
    TRUE(n == 16);
    config.numAttrs = 1;
    OK(cudaOccupancyMaxActiveClusters(&n, two, &config));
    TRUE(n > 0 && n % 66 == 0); // as many on each pair of SMs
    OK(cudaDeviceGetAttribute(&n, cudaDevAttrClusterLaunch, 0));
    TRUE(n == 1);
    OK(cudaFree(p));
}

// ---- what goes wrong ----
__global__ void __cluster_dims__(2) stuck()
{
    if (cg::this_cluster().block_rank() == 1 && threadIdx.x < 32)
        asm volatile("bar.sync 1, 64;" ::: "memory"); // @block
    asm volatile("barrier.cluster.arrive;" ::: "memory");
    asm volatile("barrier.cluster.wait;" ::: "memory"); // @cluster
}
__global__ void __cluster_dims__(2) twice()
{
    asm volatile("barrier.cluster.arrive;\n\tbarrier.cluster.arrive;\n\tbarrier.cluster.wait;" ::: "memory");
}
__global__ void __cluster_dims__(2) never()
{
    asm volatile("barrier.cluster.wait;" ::: "memory");
}
__global__ void __cluster_dims__(2) beyond(int *p)
{
    __shared__ int s[32];
    s[threadIdx.x] = 1;
    cg::this_cluster().sync();
    p[threadIdx.x] = *cg::this_cluster().map_shared_rank(&s[threadIdx.x], 2);
}
// nvcc moves mapa, which has no effect of its own, in front of the branch
__global__ void __cluster_dims__(2) guarded(int *p, int rounds)
{
    __shared__ int s;
    for (int i = 0; i < rounds; i++) {
        if (threadIdx.x == 0)
            s = (int)cg::this_cluster().block_rank() + i;
        cg::this_cluster().sync();
        if (threadIdx.x < 2)
            p[2 * blockIdx.x + threadIdx.x] = *cg::this_cluster().map_shared_rank(&s, threadIdx.x);
        cg::this_cluster().sync();
    }
}
__global__ void __cluster_dims__(2) ended(int *p)
{
    __shared__ int s[32];
    s[threadIdx.x] = 1;
    cg::this_cluster().sync();
    if (blockIdx.x == 1)
        return;
    for (volatile int i = 0; i < 100000; i = i + 1)
        ;
    p[threadIdx.x] = *cg::this_cluster().map_shared_rank(&s[threadIdx.x], 1);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "run";
    int *p = managed<int>(64);
    if (strcmp(what, "run") && strcmp(what, "clean")) {
        if (!strcmp(what, "stuck"))
            stuck<<<2, 64>>>();
        else if (!strcmp(what, "twice"))
            twice<<<2, 32>>>();
        else if (!strcmp(what, "never"))
            never<<<2, 64>>>();
        else if (!strcmp(what, "beyond"))
            beyond<<<2, 32>>>(p);
        else
            ended<<<2, 32>>>(p);
        printf("%d\n", (int)cudaDeviceSynchronize());
        return 0;
    }
    test_registers();
    test_reduce<1>();
    test_reduce<2>();
    test_reduce<8>();
    test_histogram(2);
    test_histogram(8);
    test_stencil();
    test_ptx();
    test_meet();
    guarded<<<2, 64>>>(p, 3);
    OK(cudaDeviceSynchronize());
    for (int k = 0; k < 4; k++)
        TRUE(p[k] == k % 2 + 2);
    if (!strcmp(what, "run")) {
        test_turns();
        test_limits();
    }
    OK(cudaFree(p));
    DONE();
}
