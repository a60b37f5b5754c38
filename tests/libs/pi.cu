/* pi.cu - Monte Carlo with cuRAND's host API as people write it: the area of a quarter of a circle. */
// FLAGS: -lcurand
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <curand.h>

#define CHECK(call)                                            \
    do {                                                       \
        if ((call) != 0) {                                     \
            printf("%s failed at line %d\n", #call, __LINE__); \
            exit(1);                                           \
        }                                                      \
    } while (0)

__global__ void count(const float *x, const float *y, int n, unsigned *inside)
{
    __shared__ unsigned sum;
    if (threadIdx.x == 0)
        sum = 0;
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n && x[i] * x[i] + y[i] * y[i] <= 1)
        atomicAdd(&sum, 1u);
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(inside, sum);
}

int main()
{
    const int n = 1 << 16;
    float *x, *y;
    unsigned *inside, got;
    curandGenerator_t generator;
    cudaStream_t stream;
    CHECK(cudaMalloc(&x, n * sizeof(float)));
    CHECK(cudaMalloc(&y, n * sizeof(float)));
    CHECK(cudaMalloc(&inside, sizeof(unsigned)));
    CHECK(cudaMemset(inside, 0, sizeof(unsigned)));
    CHECK(cudaStreamCreate(&stream));
    CHECK(curandCreateGenerator(&generator, CURAND_RNG_PSEUDO_PHILOX4_32_10));
    CHECK(curandSetPseudoRandomGeneratorSeed(generator, 42));
    CHECK(curandSetStream(generator, stream));
    CHECK(curandGenerateUniform(generator, x, n));
    CHECK(curandGenerateUniform(generator, y, n));
    count<<<n / 256, 256, 0, stream>>>(x, y, n, inside);
    CHECK(cudaMemcpyAsync(&got, inside, sizeof(got), cudaMemcpyDeviceToHost, stream));
    CHECK(cudaStreamSynchronize(stream));
    CHECK(curandDestroyGenerator(generator));
    double pi = 4. * got / n;
    if (fabs(pi - M_PI) > .02) {
        printf("%g\n", pi);
        return 1;
    }
    printf("PASS\n");
    return 0;
}
