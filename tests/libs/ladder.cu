/* ladder.cu - a GEMM ladder as people write it: each rung against cuBLAS, on a stream of its own, timed with events. */
// FLAGS: -lcublas
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <cublas_v2.h>

#define CHECK(call)                                                                  \
    do {                                                                             \
        if ((call) != 0) {                                                           \
            printf("%s failed at line %d\n", #call, __LINE__);                       \
            exit(1);                                                                 \
        }                                                                            \
    } while (0)

__global__ void naive(int n, float alpha, const float *a, const float *b, float beta, float *c)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; k++)
        sum += a[y * n + k] * b[k * n + x];
    c[y * n + x] = alpha * sum + beta * c[y * n + x];
}

template <int T> __global__ void tiled(int n, float alpha, const float *a, const float *b, float beta, float *c)
{
    __shared__ float as[T][T], bs[T][T];
    int x = blockIdx.x * T + threadIdx.x, y = blockIdx.y * T + threadIdx.y;
    float sum = 0;
    for (int t = 0; t < n; t += T) {
        as[threadIdx.y][threadIdx.x] = a[y * n + t + threadIdx.x];
        bs[threadIdx.y][threadIdx.x] = b[(t + threadIdx.y) * n + x];
        __syncthreads();
        for (int k = 0; k < T; k++)
            sum += as[threadIdx.y][k] * bs[k][threadIdx.x];
        __syncthreads();
    }
    c[y * n + x] = alpha * sum + beta * c[y * n + x];
}

int main()
{
    const int n = 128;
    const size_t bytes = n * n * sizeof(float);
    float *host[3], *a, *b, *c, *want, alpha = .5f, beta = 3.f;
    for (float *&h : host) {
        h = (float *)malloc(bytes);
        for (int i = 0; i < n * n; i++)
            h[i] = (float)(rand() % 10) - 5;
    }
    CHECK(cudaMalloc(&a, bytes));
    CHECK(cudaMalloc(&b, bytes));
    CHECK(cudaMalloc(&c, bytes));
    CHECK(cudaMalloc(&want, bytes));
    CHECK(cudaMemcpy(a, host[0], bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(b, host[1], bytes, cudaMemcpyHostToDevice));
    cublasHandle_t handle;
    cudaStream_t stream;
    CHECK(cublasCreate(&handle));
    CHECK(cudaStreamCreate(&stream));
    CHECK(cublasSetStream(handle, stream));
    float *first = (float *)malloc(bytes), *second = (float *)malloc(bytes);
    for (int rung = 0; rung < 2; rung++) {
        CHECK(cudaMemcpyAsync(want, host[2], bytes, cudaMemcpyHostToDevice, stream));
        CHECK(cudaMemcpyAsync(c, host[2], bytes, cudaMemcpyHostToDevice, stream));
        /* Rows here are columns there: B times A. */
        CHECK(cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &alpha, b, n, a, n, &beta, want, n));
        dim3 block(16, 16), grid(n / 16, n / 16);
        if (rung)
            tiled<16><<<grid, block, 0, stream>>>(n, alpha, a, b, beta, c);
        else
            naive<<<grid, block, 0, stream>>>(n, alpha, a, b, beta, c);
        CHECK(cudaMemcpyAsync(first, want, bytes, cudaMemcpyDeviceToHost, stream));
        CHECK(cudaMemcpyAsync(second, c, bytes, cudaMemcpyDeviceToHost, stream));
        CHECK(cudaStreamSynchronize(stream));
        for (int i = 0; i < n * n; i++)
            if (fabs(first[i] - second[i]) > 1e-2) {
                printf("rung %d differs at %d: %g and %g\n", rung, i, first[i], second[i]);
                return 1;
            }
    }
    CHECK(cublasDestroy(handle));
    printf("PASS\n");
    return 0;
}
