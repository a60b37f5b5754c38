/* wgmma_gemm.cu - C = A B of bf16 on Hopper: one warp fetches tiles by tensor copies (TMA) that tell mbarriers, two
 * warpgroups multiply them (wgmma) out of 128-byte swizzled shared memory and say when a stage is empty.
 *
 * Build:  nvcc -std=c++17 -gencode arch=compute_90a,code=sm_90a -lineinfo wgmma_gemm.cu
 * Look:   margay check examples/wgmma_gemm_early.cu     the same, but stages are said to be empty before the wait
 *
 * The result is held to plain C. Exits 0 if all is right, 1 on a mismatch, 2 on an error.
 */
#include <cstdint>
#include <cstdio>
#include <cuda.h>
#include <cuda/ptx>
#include <cuda_bf16.h>
#include <cuda_runtime.h>
#include <vector>
namespace ptx = cuda::ptx;

#define M 256
#define N 128
#define K 256
#define TILE_M 128 /* of a block: 64 rows a warpgroup */
#define TILE_N 64
#define TILE_K 64 /* 128 bytes: the swizzle's span */
#define STAGES 3
#define USERS 256 /* threads that multiply; a warp that fetches follows */

#ifndef EARLY
#define EARLY 0
#endif

struct Stage {
    __nv_bfloat16 a[TILE_M * TILE_K], b[TILE_N * TILE_K];
};

#define WAIT(bar, parity)                                                                                              \
    while (!ptx::mbarrier_try_wait_parity(bar, parity))                                                                \
        ;

/* A matrix in shared memory whose rows have 128 swizzled bytes: eight rows every 1,024 bytes. */
static __device__ uint64_t matrix(const void *p)
{
    return (uint64_t)(((uint32_t)__cvta_generic_to_shared(p) & 0x3ffff) >> 4) | 1ull << 16 | 64ull << 32 | 1ull << 62;
}

static __device__ void multiply(float (&d)[32], uint64_t a, uint64_t b)
{
#define D8(i) "+f"(d[i]), "+f"(d[i + 1]), "+f"(d[i + 2]), "+f"(d[i + 3]), "+f"(d[i + 4]), "+f"(d[i + 5]), "+f"(d[i + 6]), "+f"(d[i + 7])
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 {%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, "
                 "%11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, "
                 "%31}, %32, %33, 1, 1, 1, 0, 0;"
                 : D8(0), D8(8), D8(16), D8(24)
                 : "l"(a), "l"(b)
                 : "memory");
}

__global__ void __launch_bounds__(USERS + 32)
    gemm(const __grid_constant__ CUtensorMap of_a, const __grid_constant__ CUtensorMap of_b, float *c)
{
    extern __shared__ __align__(1024) Stage stage[];
    __shared__ uint64_t full[STAGES], empty[STAGES];
    const int t = threadIdx.x, row0 = blockIdx.y * TILE_M, column0 = blockIdx.x * TILE_N;
    if (t == 0)
        for (int s = 0; s < STAGES; s++) {
            ptx::mbarrier_init(&full[s], 1);
            ptx::mbarrier_init(&empty[s], USERS);
        }
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    __syncthreads();
    if (t == USERS) {
        for (int k = 0; k < K / TILE_K; k++) {
            const int s = k % STAGES;
            if (k >= STAGES)
                WAIT(&empty[s], (k / STAGES - 1) & 1)
            ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[s], sizeof(Stage));
            const int32_t at_a[2] = {k * TILE_K, row0}, at_b[2] = {k * TILE_K, column0};
            ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, stage[s].a, &of_a, at_a, &full[s]);
            ptx::cp_async_bulk_tensor(ptx::space_cluster, ptx::space_global, stage[s].b, &of_b, at_b, &full[s]);
        }
        return;
    }
    if (t > USERS)
        return;
    float d[32] = {};
    for (int k = 0; k < K / TILE_K; k++) {
        const int s = k % STAGES;
        WAIT(&full[s], k / STAGES & 1)
        const uint64_t a = matrix(stage[s].a + t / 128 * 64 * TILE_K), b = matrix(stage[s].b);
        asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
        for (int i = 0; i < TILE_K / 16; i++) /* 32 bytes further in each row */
            multiply(d, a + 2 * i, b + 2 * i);
        asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
        if (EARLY) /* they may still be reading it */
            ptx::mbarrier_arrive(&empty[s]);
        asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
        if (!EARLY)
            ptx::mbarrier_arrive(&empty[s]);
    }
    for (int i = 0; i < 32; i++)
        asm volatile("" : "+f"(d[i])::"memory");
    const int warp = t / 32, lane = t % 32;
    for (int i = 0; i < 32; i++) {
        const int row = row0 + warp * 16 + lane / 4 + i % 4 / 2 * 8, column = column0 + i / 4 * 8 + lane % 4 * 2 + i % 2;
        c[row * N + column] = d[i];
    }
}

static int map(CUtensorMap *m, void *matrix, int rows, int tile_rows)
{
    typedef CUresult (*Encode)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *,
                               const cuuint64_t *, const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave,
                               CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
    static Encode encode;
    cudaDriverEntryPointQueryResult found;
    if (!encode)
        cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void **)&encode, 12000, cudaEnableDefault, &found);
    const cuuint64_t size[2] = {K, (cuuint64_t)rows}, stride[1] = {K * sizeof(__nv_bfloat16)};
    const cuuint32_t box[2] = {TILE_K, (cuuint32_t)tile_rows}, step[2] = {1, 1};
    return !encode || encode(m, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, matrix, size, stride, box, step,
                             CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
                             CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

int main()
{
    std::vector<__nv_bfloat16> a(M * K), b(N * K); /* B by columns */
    std::vector<float> c(M * N);
    __nv_bfloat16 *dev_a, *dev_b;
    float *dev_c;
    for (int i = 0; i < M * K; i++)
        a[i] = __float2bfloat16((float)(i * 7 % 23 - 11));
    for (int i = 0; i < N * K; i++)
        b[i] = __float2bfloat16((float)(i * 5 % 19 - 9));
    cudaMalloc(&dev_a, M * K * sizeof *dev_a);
    cudaMalloc(&dev_b, N * K * sizeof *dev_b);
    cudaMalloc(&dev_c, M * N * sizeof *dev_c);
    cudaMemcpy(dev_a, a.data(), M * K * sizeof *dev_a, cudaMemcpyHostToDevice);
    cudaMemcpy(dev_b, b.data(), N * K * sizeof *dev_b, cudaMemcpyHostToDevice);
    CUtensorMap of_a, of_b;
    if (map(&of_a, dev_a, M, TILE_M) || map(&of_b, dev_b, N, TILE_N)) {
        fprintf(stderr, "wgmma_gemm: no tensor maps\n");
        return 2;
    }
    cudaFuncSetAttribute(gemm, cudaFuncAttributeMaxDynamicSharedMemorySize, STAGES * sizeof(Stage));
    gemm<<<dim3(N / TILE_N, M / TILE_M), USERS + 32, STAGES * sizeof(Stage)>>>(of_a, of_b, dev_c);
    cudaError_t error = cudaMemcpy(c.data(), dev_c, M * N * sizeof *dev_c, cudaMemcpyDeviceToHost);
    if (error != cudaSuccess) {
        fprintf(stderr, "wgmma_gemm: %s\n", cudaGetErrorString(error));
        return 2;
    }
    int wrong = 0;
    for (int i = 0; i < M; i++)
        for (int j = 0; j < N; j++) {
            float sum = 0;
            for (int k = 0; k < K; k++)
                sum += __bfloat162float(a[i * K + k]) * __bfloat162float(b[j * K + k]);
            wrong += c[i * N + j] != sum;
        }
    printf("%dx%dx%d: %d wrong\n", M, N, K, wrong);
    cudaFree(dev_a);
    cudaFree(dev_b);
    cudaFree(dev_c);
    return wrong ? 1 : 0;
}
