// wmma_async.cu - products of matrices through nvcuda::wmma in f16, bf16, tf32, f64 and s8, whose tiles come by asynchronous copies
// into two stages while the other one is used
#include <cstdio>
#include <cstdlib>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>
#include <mma.h>

using namespace nvcuda;

#define CK(call)                                                           \
    do {                                                                   \
        cudaError_t error_ = (call);                                       \
        if (error_ != cudaSuccess) {                                       \
            printf("line %d: %s\n", __LINE__, cudaGetErrorString(error_)); \
            exit(1);                                                       \
        }                                                                  \
    } while (0)

const int SIZE = 64, WARPS = 4;

// A block has WARPS tiles of M x N beside one another; a stage holds A's columns and B's rows of one step of k. Lines are longer by
// 16 bytes than what they hold.
template <int M, int N, int K, class Fragment, class In, class Sum> __global__ void multiply(const In *a, const In *b, Sum *c)
{
#if __CUDA_ARCH__ >= 800
    const int wide = WARPS * N, each = 16 / (int)sizeof(In), line_a = K + each, line_b = wide + each;
    __shared__ __align__(128) In tile_a[2][M * line_a], tile_b[2][K * line_b];
    wmma::fragment<wmma::matrix_a, M, N, K, Fragment, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, M, N, K, Fragment, wmma::row_major> fb;
    wmma::fragment<wmma::accumulator, M, N, K, Sum> fc;
    const int row = blockIdx.y * M, column = blockIdx.x * wide, warp = threadIdx.x / 32;
    wmma::fill_fragment(fc, Sum(0));
    auto fetch = [&](int stage, int k) {
        for (int i = threadIdx.x * each; i < M * K; i += blockDim.x * each)
            __pipeline_memcpy_async(&tile_a[stage][i / K * line_a + i % K], &a[(row + i / K) * SIZE + k + i % K], 16);
        for (int i = threadIdx.x * each; i < K * wide; i += blockDim.x * each)
            __pipeline_memcpy_async(&tile_b[stage][i / wide * line_b + i % wide], &b[(k + i / wide) * SIZE + column + i % wide], 16);
    };
    fetch(0, 0);
    __pipeline_commit();
    for (int k = 0, stage = 0; k < SIZE; k += K, stage ^= 1) {
        if (k + K < SIZE)
            fetch(stage ^ 1, k + K);
        __pipeline_commit();
        __pipeline_wait_prior(1);
        __syncthreads();
        wmma::load_matrix_sync(fa, tile_a[stage], line_a);
        wmma::load_matrix_sync(fb, tile_b[stage] + warp * N, line_b);
        wmma::mma_sync(fc, fa, fb, fc);
        __syncthreads();
    }
    wmma::store_matrix_sync(c + row * SIZE + column + warp * N, fc, SIZE, wmma::mem_row_major);
#endif
}

// Small whole numbers: every sum is exact in every type.
template <int M, int N, int K, class Fragment, class In, class Sum> static bool right(const char *name)
{
    const int n = SIZE * SIZE;
    In *a = (In *)malloc(n * sizeof(In)), *b = (In *)malloc(n * sizeof(In)), *da, *db;
    Sum *c = (Sum *)malloc(n * sizeof(Sum)), *dc;
    static int x[n], y[n];
    for (int i = 0; i < n; i++) {
        a[i] = In(float(x[i] = i * 7 % 11 - 5));
        b[i] = In(float(y[i] = i * 5 % 13 - 6));
    }
    CK(cudaMalloc(&da, n * sizeof(In)));
    CK(cudaMalloc(&db, n * sizeof(In)));
    CK(cudaMalloc(&dc, n * sizeof(Sum)));
    CK(cudaMemcpy(da, a, n * sizeof(In), cudaMemcpyHostToDevice));
    CK(cudaMemcpy(db, b, n * sizeof(In), cudaMemcpyHostToDevice));
    multiply<M, N, K, Fragment><<<dim3(SIZE / (WARPS * N), SIZE / M), WARPS * 32>>>(da, db, dc);
    CK(cudaGetLastError());
    CK(cudaMemcpy(c, dc, n * sizeof(Sum), cudaMemcpyDeviceToHost));
    bool good = true;
    for (int i = 0; i < n && good; i++) {
        int want = 0;
        for (int k = 0; k < SIZE; k++)
            want += x[i / SIZE * SIZE + k] * y[k * SIZE + i % SIZE];
        good = float(c[i]) == float(want);
        if (!good)
            printf("%s: element %d is %g, not %d\n", name, i, double(float(c[i])), want);
    }
    CK(cudaFree(da));
    CK(cudaFree(db));
    CK(cudaFree(dc));
    free(a);
    free(b);
    free(c);
    return good;
}

int main()
{
    bool good = right<16, 16, 16, half, half, float>("f16");
    good &= right<16, 16, 16, half, half, half>("f16 into f16");
    good &= right<16, 16, 16, __nv_bfloat16, __nv_bfloat16, float>("bf16");
    good &= right<16, 16, 8, wmma::precision::tf32, float, float>("tf32");
    good &= right<8, 8, 4, double, double, double>("f64");
    good &= right<16, 16, 16, signed char, signed char, int>("s8");
    puts(good ? "PASS" : "FAIL");
    return !good;
}
