// wmma_types.cu - products of matrices through nvcuda::wmma in f16, bf16, tf32, f64 and s8, in several layouts
#include <cstdio>
#include <cstdlib>
#include <cuda_bf16.h>
#include <cuda_fp16.h>
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

const int SIZE = 64;

template <class Layout> struct is_col {
    static const bool value = false;
};
template <> struct is_col<wmma::col_major> {
    static const bool value = true;
};

// A warp makes one M x N tile of C: A and B come through shared memory, in lines of the layout's.
template <int M, int N, int K, class Fragment, class LayoutA, class LayoutB, class In, class Sum>
__global__ void multiply(const In *a, const In *b, Sum *c)
{
#if __CUDA_ARCH__ >= 800
    const bool a_col = is_col<LayoutA>::value, b_col = is_col<LayoutB>::value;
    __shared__ __align__(32) In tile_a[M * K], tile_b[K * N];
    wmma::fragment<wmma::matrix_a, M, N, K, Fragment, LayoutA> fa;
    wmma::fragment<wmma::matrix_b, M, N, K, Fragment, LayoutB> fb;
    wmma::fragment<wmma::accumulator, M, N, K, Sum> fc;
    const int row = blockIdx.y * M, column = blockIdx.x * N;
    wmma::fill_fragment(fc, Sum(0));
    for (int k = 0; k < SIZE; k += K) {
        for (int i = threadIdx.x; i < M * K; i += 32)
            tile_a[a_col ? i % K * M + i / K : i] = a[(row + i / K) * SIZE + k + i % K];
        for (int i = threadIdx.x; i < K * N; i += 32)
            tile_b[b_col ? i % N * K + i / N : i] = b[(k + i / N) * SIZE + column + i % N];
        __syncwarp();
        wmma::load_matrix_sync(fa, tile_a, a_col ? M : K);
        wmma::load_matrix_sync(fb, tile_b, b_col ? K : N);
        wmma::mma_sync(fc, fa, fb, fc);
        __syncwarp();
    }
    wmma::store_matrix_sync(c + row * SIZE + column, fc, SIZE, wmma::mem_row_major);
#endif
}

// Small whole numbers: every sum is exact in every type.
template <int M, int N, int K, class Fragment, class LayoutA, class LayoutB, class In, class Sum>
static bool right(const char *name)
{
    const int n = SIZE * SIZE;
    In *a, *b, *da, *db;
    Sum *c, *dc;
    a = (In *)malloc(n * sizeof(In));
    b = (In *)malloc(n * sizeof(In));
    c = (Sum *)malloc(n * sizeof(Sum));
    for (int i = 0; i < n; i++) {
        a[i] = In(float(i * 7 % 11 - 5));
        b[i] = In(float(i * 5 % 13 - 6));
    }
    CK(cudaMalloc(&da, n * sizeof(In)));
    CK(cudaMalloc(&db, n * sizeof(In)));
    CK(cudaMalloc(&dc, n * sizeof(Sum)));
    CK(cudaMemcpy(da, a, n * sizeof(In), cudaMemcpyHostToDevice));
    CK(cudaMemcpy(db, b, n * sizeof(In), cudaMemcpyHostToDevice));
    multiply<M, N, K, Fragment, LayoutA, LayoutB><<<dim3(SIZE / N, SIZE / M), 32>>>(da, db, dc);
    CK(cudaGetLastError());
    CK(cudaMemcpy(c, dc, n * sizeof(Sum), cudaMemcpyDeviceToHost));
    bool good = true;
    for (int i = 0; i < n && good; i++) {
        int want = 0;
        for (int k = 0; k < SIZE; k++)
            want += (i / SIZE * SIZE + k) * 7 % 11 * ((k * SIZE + i % SIZE) * 5 % 13) -
                    6 * ((i / SIZE * SIZE + k) * 7 % 11) - 5 * ((k * SIZE + i % SIZE) * 5 % 13) + 30;
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
    typedef wmma::row_major row;
    typedef wmma::col_major col;
    bool good = right<16, 16, 16, half, row, row, half, float>("f16");
    good &= right<16, 16, 16, half, col, col, half, half>("f16 into f16");
    good &= right<32, 8, 16, half, row, col, half, float>("f16, 32x8");
    good &= right<8, 32, 16, half, col, row, half, float>("f16, 8x32");
    good &= right<16, 16, 16, __nv_bfloat16, col, row, __nv_bfloat16, float>("bf16");
    good &= right<16, 16, 8, wmma::precision::tf32, row, col, float, float>("tf32");
    good &= right<8, 8, 4, double, row, col, double, double>("f64");
    good &= right<16, 16, 16, signed char, row, col, signed char, int>("s8");
    good &= right<16, 16, 16, signed char, col, row, signed char, int>("s8, across");
    puts(good ? "PASS" : "FAIL");
    return !good;
}
