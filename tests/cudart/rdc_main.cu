// rdc_main.cu - relocatable device code: functions, variables and constants of another translation unit (rdc_other.cu).
// EXPECT: helper 6 4
// EXPECT: counter 11
// EXPECT: ok
#include "check.h"

extern __device__ int counter;
extern __constant__ float scale[4];
__device__ float helper(float x);
__device__ int bump();
static __device__ int own = 1; // the other unit has one too

__global__ void use(float *out, int *last)
{
    out[threadIdx.x] = helper((float)threadIdx.x) + own * scale[0];
    bump();
    if (threadIdx.x == 0)
        printf("helper %g %d\n", out[0], own + 3);
    *last = 1;
}

int main()
{
    float *out;
    int *last, count;
    OK(cudaMallocManaged(&out, 64));
    OK(cudaMallocManaged(&last, 4));
    use<<<1, 4>>>(out, last);
    OK(cudaDeviceSynchronize());
    TRUE(out[3] == 15);
    OK(cudaMemcpyFromSymbol(&count, counter, 4));
    printf("counter %d\n", count);
    DONE();
}
