/* mma_gemm.cu - C = A B in half precision by ldmatrix and mma.sync, with tiles fetched ahead by cp.async into a ring of
 * stages. A lies by rows and B by columns, so that a line of a tile is 64 bytes of k.
 *
 * Three layouts of a tile: plain, where the eight rows that ldmatrix reads at once lie in half of the banks, twice
 * over; padded to 80 bytes a line; swizzled, where the 16-byte pieces of a line change places and no byte is lost.
 *
 * Build:  nvcc -std=c++17 -arch=sm_80 -lineinfo mma_gemm.cu        (any later device as well)
 * Run:    ./a.out [M N K]        multiples of 128, 128 and 32; 256 of each unless told
 * Look:   margay profile examples/mma_gemm.cu           the conflicts of `plain`
 *         margay check examples/mma_gemm_early.cu       the same, but a stage is read before its copies have come
 *
 * The elements are small whole numbers, so every sum is exact. C is held to plain C by what it makes of random vectors:
 * C x = A (B x), in 64-bit integers. Exits 0 if all is right, 1 on a mismatch, 2 on an error.
 */
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cuda_fp16.h>
#include <vector>

#define STAGES 3
#define TILE_M 128
#define TILE_N 128
#define TILE_K 32   /* a line: 64 bytes, four pieces of 16 */
#define THREADS 256 /* eight warps, two by four: 64 x 32 of C each */

#ifndef EARLY
#define EARLY 0
#endif

enum layout { PLAIN, PADDED, SWIZZLED };

/* Where a piece of 16 bytes lies in a tile. */
template <layout L> __device__ unsigned place(unsigned line, unsigned piece)
{
    return L == PADDED ? line * 80 + piece * 16 : line * 64 + (L == SWIZZLED ? piece ^ line / 2 % 4 : piece) * 16;
}

template <layout L> struct stage {
    alignas(128) unsigned char a[TILE_M * (L == PADDED ? 80 : 64)], b[TILE_N * (L == PADDED ? 80 : 64)];
};

__device__ unsigned shared(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}

template <layout L> __device__ void fetch(stage<L> *s, const half *a, const half *b, int k, int from)
{
    for (int i = threadIdx.x; i < TILE_M * 4; i += THREADS) {
        const int line = i / 4, piece = i % 4;
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared(s->a + place<L>(line, piece))),
                     "l"(a + (size_t)line * k + from + piece * 8));
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared(s->b + place<L>(line, piece))),
                     "l"(b + (size_t)line * k + from + piece * 8));
    }
}

template <layout L>
__global__ void __launch_bounds__(THREADS) gemm(float *c, const half *a, const half *b, int n, int k)
{
    extern __shared__ __align__(128) unsigned char memory[];
    stage<L> *stages = (stage<L> *)memory;
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, row = warp / 4 * 64, column = warp % 4 * 32;
    float sum[4][4][4] = {};
    a += (size_t)blockIdx.y * TILE_M * k;
    b += (size_t)blockIdx.x * TILE_N * k;
    const int tiles = k / TILE_K;
    for (int t = 0; t < STAGES - 1; t++) {
        if (t < tiles)
            fetch<L>(&stages[t], a, b, k, t * TILE_K);
        asm volatile("cp.async.commit_group;");
    }
    for (int t = 0; t < tiles; t++) {
        /* One group is committed each turn, so all but the last STAGES - 2 have come; one more may still be on its way.
         */
        asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2 + EARLY) : "memory");
        __syncthreads();
        if (t + STAGES - 1 < tiles)
            fetch<L>(&stages[(t + STAGES - 1) % STAGES], a, b, k, (t + STAGES - 1) * TILE_K);
        asm volatile("cp.async.commit_group;");
        const stage<L> *s = &stages[t % STAGES];
        for (int step = 0; step < 2; step++) {
            unsigned x[4][4], y[4][2];
            for (int i = 0; i < 4; i++)
                asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                             : "=r"(x[i][0]), "=r"(x[i][1]), "=r"(x[i][2]), "=r"(x[i][3])
                             : "r"(shared(s->a + place<L>(row + i * 16 + lane % 16, step * 2 + lane / 16))));
            for (int j = 0; j < 4; j += 2)
                asm volatile(
                    "ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                    : "=r"(y[j][0]), "=r"(y[j][1]), "=r"(y[j + 1][0]), "=r"(y[j + 1][1])
                    : "r"(shared(s->b + place<L>(column + j * 8 + lane / 16 * 8 + lane % 8, step * 2 + lane / 8 % 2))));
            for (int i = 0; i < 4; i++)
                for (int j = 0; j < 4; j++)
                    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
                                 "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                                 : "+f"(sum[i][j][0]), "+f"(sum[i][j][1]), "+f"(sum[i][j][2]), "+f"(sum[i][j][3])
                                 : "r"(x[i][0]), "r"(x[i][1]), "r"(x[i][2]), "r"(x[i][3]), "r"(y[j][0]), "r"(y[j][1]));
        }
    }
    c += ((size_t)blockIdx.y * TILE_M + row + lane / 4) * n + blockIdx.x * TILE_N + column + lane % 4 * 2;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            *(float2 *)(c + (size_t)i * 16 * n + j * 8) = make_float2(sum[i][j][0], sum[i][j][1]);
            *(float2 *)(c + (size_t)(i * 16 + 8) * n + j * 8) = make_float2(sum[i][j][2], sum[i][j][3]);
        }
}

static int m = 256, n = 256, k = 256;
static std::vector<half> a, b; /* b by columns */
static half *dev_a, *dev_b;
static float *dev_c;

static void need(cudaError_t error)
{
    if (error != cudaSuccess) {
        fprintf(stderr, "mma_gemm: %s\n", cudaGetErrorString(error));
        exit(2);
    }
}

/* Whether C x = A (B x) for a random vector x. */
static bool agrees(const std::vector<float> &c, unsigned seed)
{
    std::vector<int64_t> x(n), bx(k);
    for (int j = 0; j < n; j++)
        x[j] = (int64_t)((seed = seed * 1664525u + 1013904223u) >> 12);
    for (int j = 0; j < n; j++)
        for (int i = 0; i < k; i++)
            bx[i] += (int64_t)(float)b[(size_t)j * k + i] * x[j];
    for (int i = 0; i < m; i++) {
        int64_t want = 0, got = 0;
        for (int j = 0; j < k; j++)
            want += (int64_t)(float)a[(size_t)i * k + j] * bx[j];
        for (int j = 0; j < n; j++)
            got += (int64_t)c[(size_t)i * n + j] * x[j];
        if (want != got)
            return false;
    }
    return true;
}

template <layout L> static bool run(const char *name)
{
    std::vector<float> c((size_t)m * n);
    const int bytes = STAGES * (int)sizeof(stage<L>);
    need(cudaMemset(dev_c, 0, c.size() * sizeof(float)));
    need(cudaFuncSetAttribute(gemm<L>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    gemm<L><<<dim3(n / TILE_N, m / TILE_M), THREADS, bytes>>>(dev_c, dev_a, dev_b, n, k);
    need(cudaGetLastError());
    need(cudaMemcpy(c.data(), dev_c, c.size() * sizeof(float), cudaMemcpyDeviceToHost));
    const bool good = agrees(c, 1) && agrees(c, 2);
    printf("mma_gemm %s %dx%dx%d: %s\n", name, m, n, k, good ? "ok" : "wrong");
    return good;
}

int main(int argc, char **argv)
{
    if (argc > 3)
        m = atoi(argv[1]), n = atoi(argv[2]), k = atoi(argv[3]);
    if (m <= 0 || n <= 0 || k <= 0 || m % TILE_M || n % TILE_N || k % TILE_K) {
        fprintf(stderr, "usage: mma_gemm [M N K], multiples of %d, %d and %d\n", TILE_M, TILE_N, TILE_K);
        return 2;
    }
    a.resize((size_t)m * k);
    b.resize((size_t)n * k);
    for (size_t i = 0; i < a.size(); i++)
        a[i] = __float2half((float)((int)(i * 7 % 11) - 5));
    for (size_t i = 0; i < b.size(); i++)
        b[i] = __float2half((float)((int)(i * 5 % 13) - 6));
    need(cudaMalloc(&dev_a, a.size() * sizeof(half)));
    need(cudaMalloc(&dev_b, b.size() * sizeof(half)));
    need(cudaMalloc(&dev_c, (size_t)m * n * sizeof(float)));
    need(cudaMemcpy(dev_a, a.data(), a.size() * sizeof(half), cudaMemcpyHostToDevice));
    need(cudaMemcpy(dev_b, b.data(), b.size() * sizeof(half), cudaMemcpyHostToDevice));
    bool good = run<PLAIN>("plain");
    good = run<PADDED>("padded") && good;
    good = run<SWIZZLED>("swizzled") && good;
    need(cudaFree(dev_a));
    need(cudaFree(dev_b));
    need(cudaFree(dev_c));
    return good ? 0 : 1;
}
