/* wmma_gemm.cu - C = relu(A B + bias) in half precision through nvcuda::wmma. A and B lie by rows; a block has a tile
 * of each in shared memory, in lines eight elements longer than the tile's, so that the rows of a fragment lie in
 * different banks.
 *
 * Which lane holds which element of an accumulator is nobody's business, so the end goes through shared memory: each
 * warp stores its sums there, waits for itself, and adds the bias where it can see rows and columns.
 *
 * Build:  nvcc -std=c++17 -arch=sm_80 -lineinfo wmma_gemm.cu        (any later device as well)
 * Run:    ./a.out [M N K]        multiples of 64, 64 and 32; 192, 128 and 256 unless told
 * Look:   margay profile examples/wmma_gemm.cu
 *         margay check examples/wmma_gemm_unsynced.cu   the same, but the warp does not wait for itself
 *
 * The elements are small whole numbers, so every sum is exact, and C is held to plain C. Exits 0 if all is right, 1 on
 * a mismatch, 2 on an error.
 */
#include <cstdio>
#include <cstdlib>
#include <cuda_fp16.h>
#include <mma.h>
#include <vector>
using namespace nvcuda;

#define TILE 64 /* rows and columns of C of a block: four warps, 32 x 32 each */
#define TILE_K 32
#define LINE_A (TILE_K + 8)
#define LINE_B (TILE + 8)

#ifndef UNSYNCED
#define UNSYNCED 0
#endif

__global__ void __launch_bounds__(128) gemm(float *c, const half *a, const half *b, const float *bias, int n, int k)
{
    __shared__ __align__(32) half tile_a[TILE * LINE_A], tile_b[TILE_K * LINE_B];
    __shared__ __align__(32) float sums[4][16 * 24];
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, row = warp / 2 * 32, column = warp % 2 * 32;
    wmma::fragment<wmma::matrix_a, 16, 16, 16, half, wmma::row_major> x[2];
    wmma::fragment<wmma::matrix_b, 16, 16, 16, half, wmma::row_major> y[2];
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> sum[2][2];
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            wmma::fill_fragment(sum[i][j], 0.0f);
    a += (size_t)blockIdx.y * TILE * k;
    b += blockIdx.x * TILE;
    for (int from = 0; from < k; from += TILE_K) {
        for (int i = threadIdx.x; i < TILE * TILE_K / 8; i += blockDim.x) { /* 16 bytes at a time */
            *(uint4 *)&tile_a[i / 4 * LINE_A + i % 4 * 8] = *(const uint4 *)&a[(size_t)(i / 4) * k + from + i % 4 * 8];
            *(uint4 *)&tile_b[i / 8 * LINE_B + i % 8 * 8] = *(const uint4 *)&b[(size_t)(from + i / 8) * n + i % 8 * 8];
        }
        __syncthreads();
        for (int step = 0; step < TILE_K; step += 16) {
            for (int i = 0; i < 2; i++) {
                wmma::load_matrix_sync(x[i], &tile_a[(row + i * 16) * LINE_A + step], LINE_A);
                wmma::load_matrix_sync(y[i], &tile_b[step * LINE_B + column + i * 16], LINE_B);
            }
            for (int i = 0; i < 2; i++)
                for (int j = 0; j < 2; j++)
                    wmma::mma_sync(sum[i][j], x[i], y[j], sum[i][j]);
        }
        __syncthreads(); /* before the tiles are filled again */
    }
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) {
            wmma::store_matrix_sync(sums[warp], sum[i][j], 24, wmma::mem_row_major);
#if !UNSYNCED
            __syncwarp(); /* a lane reads below what others have stored */
#endif
            for (int e = lane; e < 256; e += 32) {
                const int r = blockIdx.y * TILE + row + i * 16 + e / 16;
                const int q = blockIdx.x * TILE + column + j * 16 + e % 16;
                c[(size_t)r * n + q] = fmaxf(sums[warp][e / 16 * 24 + e % 16] + bias[q], 0.0f);
            }
            __syncwarp();
        }
}

static void need(cudaError_t error)
{
    if (error != cudaSuccess) {
        fprintf(stderr, "wmma_gemm: %s\n", cudaGetErrorString(error));
        exit(2);
    }
}

template <class T> static T *copy(const std::vector<T> &from)
{
    T *to;
    need(cudaMalloc(&to, from.size() * sizeof(T)));
    need(cudaMemcpy(to, from.data(), from.size() * sizeof(T), cudaMemcpyHostToDevice));
    return to;
}

int main(int argc, char **argv)
{
    int m = 192, n = 128, k = 256;
    if (argc > 3)
        m = atoi(argv[1]), n = atoi(argv[2]), k = atoi(argv[3]);
    if (m <= 0 || n <= 0 || k <= 0 || m % TILE || n % TILE || k % TILE_K) {
        fprintf(stderr, "usage: wmma_gemm [M N K], multiples of %d, %d and %d\n", TILE, TILE, TILE_K);
        return 2;
    }
    std::vector<int> x((size_t)m * k), y((size_t)k * n);
    std::vector<half> a(x.size()), b(y.size());
    std::vector<float> bias(n), c((size_t)m * n);
    for (size_t i = 0; i < a.size(); i++)
        a[i] = __float2half((float)(x[i] = (int)(i * 7 % 11) - 5));
    for (size_t i = 0; i < b.size(); i++)
        b[i] = __float2half((float)(y[i] = (int)(i * 5 % 13) - 6));
    for (int i = 0; i < n; i++)
        bias[i] = (float)(i % 17 - 8);
    half *dev_a = copy(a), *dev_b = copy(b);
    float *dev_bias = copy(bias), *dev_c = copy(c);
    gemm<<<dim3(n / TILE, m / TILE), 128>>>(dev_c, dev_a, dev_b, dev_bias, n, k);
    need(cudaGetLastError());
    need(cudaMemcpy(c.data(), dev_c, c.size() * sizeof(float), cudaMemcpyDeviceToHost));
    long wrong = 0;
    std::vector<int> line(n);
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < n; j++)
            line[j] = (int)bias[j];
        for (int p = 0; p < k; p++)
            for (int j = 0; j < n; j++)
                line[j] += x[(size_t)i * k + p] * y[(size_t)p * n + j];
        for (int j = 0; j < n; j++)
            wrong += c[(size_t)i * n + j] != (float)(line[j] > 0 ? line[j] : 0);
    }
    printf("wmma_gemm %dx%dx%d: %s\n", m, n, k, wrong ? "wrong" : "ok");
    need(cudaFree(dev_a));
    need(cudaFree(dev_b));
    need(cudaFree(dev_bias));
    need(cudaFree(dev_c));
    return wrong ? 1 : 0;
}
