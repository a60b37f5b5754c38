// launch.cu - limits of launches, attributes of kernels, occupancy, on compute capability 9.0.
// RUN: -arch=sm_90
// ENV: MARGAY_DEVICE=90
// EXPECT: ok
// STDERR: blocks of 2048 x 1 x 1 threads; NVIDIA H100 80GB HBM3 (compute capability 9.0) allows 1024 threads in all
// STDERR: cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 60000)
#include "check.h"

__global__ void nop() {}
__global__ void store(int *p) { *p = 1; }
__global__ void big(char *) { extern __shared__ char s[]; s[threadIdx.x] = 1; }
__global__ void __launch_bounds__(64) bounded() {}
__global__ void fixed(int *p)
{
    __shared__ int s[12288];
    s[threadIdx.x] = p[0];
    __syncthreads();
    p[0] = s[(threadIdx.x * 7) % 12288];
}

int main()
{
    int *d, blocks;
    size_t bytes;
    OK(cudaMalloc(&d, 1024));
    LAUNCH(1, nop<<<1, 2048>>>());
    LAUNCH(1, nop<<<0, 1>>>());
    LAUNCH(1, nop<<<1, 0>>>());
    LAUNCH(1, nop<<<dim3(1, 65536), 1>>>());
    LAUNCH(1, nop<<<dim3(1, 1, 65536), 1>>>());
    LAUNCH(1, nop<<<dim3(2147483648u), 1>>>());
    LAUNCH(1, nop<<<1, dim3(1, 1, 65)>>>());
    LAUNCH(1, nop<<<1, dim3(1, 1025)>>>());
    LAUNCH(0, nop<<<1, 1024>>>());
    LAUNCH(0, nop<<<1, 1, 49152>>>());
    LAUNCH(1, nop<<<1, 1, 49153>>>());
    LAUNCH(1, nop<<<1, 1, 300000>>>());
    LAUNCH(1, big<<<1, 32, 60000>>>(0));
    OK(cudaFuncSetAttribute(big, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448));
    IS(cudaFuncSetAttribute(big, cudaFuncAttributeMaxDynamicSharedMemorySize, 232449), 1);
    IS(cudaFuncSetAttribute(big, cudaFuncAttributeMaxDynamicSharedMemorySize, -1), 1);
    IS(cudaGetLastError(), 1);
    LAUNCH(0, big<<<1, 32, 60000>>>(0));
    LAUNCH(1, big<<<1, 32, 232449>>>(0));
    IS(cudaFuncSetAttribute(fixed, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448), 1);
    IS(cudaGetLastError(), 1);
    OK(cudaMemset(d, 0, 1024));
    LAUNCH(0, fixed<<<1, 32>>>(d));
    LAUNCH(1, fixed<<<1, 32, 1024>>>(d));
    LAUNCH(1, bounded<<<1, 65>>>());
    LAUNCH(0, bounded<<<1, 64>>>());
    IS(cudaLaunchKernel((void *)strlen, dim3(1), dim3(1), 0, 0, 0), 400);
    IS(cudaLaunchKernel((void *)0, dim3(1), dim3(1), 0, 0, 0), 98);
    IS(cudaLaunchKernel((void *)store, dim3(1), dim3(1), 0, 0, 0), 1);
    void *none[] = {0};
    IS(cudaLaunchCooperativeKernel((void *)nop, dim3(100000), dim3(32), none, 0, 0), 720);
    OK(cudaLaunchCooperativeKernel((void *)nop, dim3(100), dim3(32), none, 0, 0));
    IS(cudaGetLastError(), 720);

    cudaFuncAttributes a;
    OK(cudaFuncGetAttributes(&a, nop));
    TRUE(a.sharedSizeBytes == 0 && a.localSizeBytes == 0 && a.maxThreadsPerBlock == 1024 && a.ptxVersion == 90);
    TRUE(a.binaryVersion == 90 && a.maxDynamicSharedSizeBytes == 49152 && a.preferredShmemCarveout == -1);
    OK(cudaFuncGetAttributes(&a, fixed));
    TRUE(a.sharedSizeBytes == 49152 && a.maxDynamicSharedSizeBytes == 0);
    OK(cudaFuncGetAttributes(&a, bounded));
    TRUE(a.maxThreadsPerBlock == 64);
    IS(cudaFuncGetAttributes(&a, (void *)strlen), 400);
    IS(cudaFuncGetAttributes(&a, (void *)0), 98);

    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nop, 256, 0));
    TRUE(blocks == 8);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nop, 2048, 0));
    TRUE(blocks == 0);
    IS(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nop, 0, 0), 1);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, nop, 256, 100000));
    TRUE(blocks == 0);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, big, 256, 100000));
    TRUE(blocks == 2);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, fixed, 256, 0));
    TRUE(blocks == 4);
    OK(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, nop, 2, 256));
    TRUE(bytes == 49152);
    IS(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, nop, 100, 256), 1);
    OK(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, fixed, 2, 256));
    TRUE(bytes == 0);
    OK(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, big, 4, 256));
    TRUE(bytes == 58368);
    int least, block;
    OK(cudaOccupancyMaxPotentialBlockSize(&least, &block, nop, 0, 0));
    TRUE(block == 1024 && least == 264);
    DONE();
}
