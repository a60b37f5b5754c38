/* behind.cu - work of the libraries waits for a kernel that is not over, on its stream, and goes past it on another; what
 * comes behind sees its result. The kernel waits for the host. */
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <cublas_v2.h>
#include <cufft.h>
#include <curand.h>

#define CHECK(call)                                            \
    do {                                                       \
        if ((call) != 0) {                                     \
            printf("%s failed at line %d\n", #call, __LINE__); \
            exit(1);                                           \
        }                                                      \
    } while (0)

__global__ void make(volatile int *flag, float *a, int n)
{
    while (!*flag)
        ;
    for (int i = 0; i < n; i++)
        a[i] = 1;
}

__global__ void twice(float *c, int n)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        c[i] *= 2;
}

int main()
{
    const int n = 16, size = n * n;
    int *flag;
    float *a, *c, *other, *random, one = 1, zero = 0, host[size] = {0}, beside[size];
    cufftComplex *spectrum, bins[size / 2 + 1];
    cudaStream_t stream, second;
    cublasHandle_t h;
    cufftHandle plan;
    curandGenerator_t g;
    CHECK(cudaMallocHost(&flag, sizeof(int)));
    *(volatile int *)flag = 0;
    CHECK(cudaMalloc(&a, size * sizeof(float)));
    CHECK(cudaMalloc(&c, size * sizeof(float)));
    CHECK(cudaMalloc(&other, size * sizeof(float)));
    CHECK(cudaMalloc(&random, size * sizeof(float)));
    CHECK(cudaMalloc(&spectrum, sizeof(bins)));
    CHECK(cudaMemset(other, 0, size * sizeof(float)));
    CHECK(cudaMemset(c, 0, size * sizeof(float)));
    CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    CHECK(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    CHECK(cublasCreate(&h));
    CHECK(cublasSetStream(h, stream));
    CHECK(cufftPlan1d(&plan, size, CUFFT_R2C, 1));
    CHECK(cufftSetStream(plan, stream));
    CHECK(curandCreateGenerator(&g, CURAND_RNG_PSEUDO_PHILOX4_32_10));
    CHECK(curandSetStream(g, stream));
    make<<<1, 1, 0, stream>>>(flag, a, size);
    CHECK(cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, a, n, a, n, &zero, c, n));
    one = 100; /* the call has its scalars */
    twice<<<1, 64, 0, stream>>>(c, size);
    CHECK(cufftExecR2C(plan, c, spectrum));
    CHECK(curandGenerateUniform(g, random, size));
    CHECK(curandDestroyGenerator(g)); /* its numbers are made */
    CHECK(cublasSetStream(h, second)); /* goes past */
    one = 1;
    CHECK(cublasSgemm(h, CUBLAS_OP_N, CUBLAS_OP_N, n, n, n, &one, other, n, other, n, &zero, other, n));
    CHECK(cudaStreamSynchronize(second));
    if (cudaStreamQuery(stream) != cudaErrorNotReady) {
        printf("the first stream is over\n");
        return 1;
    }
    CHECK(cudaMemcpy(beside, c, sizeof(beside), cudaMemcpyDeviceToHost));
    if (beside[0] != 0) {
        printf("the product did not wait\n");
        return 1;
    }
    *(volatile int *)flag = 1;
    CHECK(cudaStreamSynchronize(stream));
    CHECK(cudaMemcpy(host, c, sizeof(host), cudaMemcpyDeviceToHost));
    for (int i = 0; i < size; i++)
        if (host[i] != 2 * n) {
            printf("element %d is %g\n", i, host[i]);
            return 1;
        }
    CHECK(cudaMemcpy(bins, spectrum, sizeof(bins), cudaMemcpyDeviceToHost));
    CHECK(cudaMemcpy(host, random, sizeof(host), cudaMemcpyDeviceToHost));
    if (bins[0].x != 2 * n * size || fabs(bins[1].x) > 1e-2 || !(host[7] > 0 && host[7] <= 1)) {
        printf("spectrum %g %g, number %g\n", bins[0].x, bins[1].x, host[7]);
        return 1;
    }
    CHECK(cufftDestroy(plan));
    CHECK(cublasDestroy(h));
    printf("PASS\n");
    return 0;
}
