/* launch.cu - launches that no device takes. cases.cuh says how to read it. The findings have a kernel but no line: nothing
 * was executed; the expectation stands on the launch. */
#include <cooperative_groups.h>

#include "cases.cuh"

template <bool fault> __global__ void plain(int *out)
{
    if (threadIdx.x == 0 && out)
        atomicAdd(out, 1);
}

CASE(too_many_threads, ALONE)
{
    plain<fault><<<1, fault ? 2048 : 1024>>>(zeros(1)); // EXPECT: launch/too-many-threads
}

CASE(product_too_large, ALONE)
{
    plain<fault><<<1, dim3(32, fault ? 64 : 32)>>>(zeros(1)); // EXPECT: launch/too-many-threads
}

CASE(deep_block, ALONE)
{
    plain<fault><<<1, dim3(1, 1, fault ? 65 : 64)>>>(zeros(1)); // EXPECT: launch/dimensions
}

CASE(high_grid, ALONE)
{
    plain<fault><<<dim3(1, fault ? 65536 : 65535), 1>>>(zeros(1)); // EXPECT: launch/dimensions
}

CASE(empty_grid, ALONE)
{
    int n = 100;
    plain<fault><<<fault ? n / 128 : (n + 127) / 128, 128>>>(zeros(1)); // EXPECT: launch/dimensions
}

CASE(empty_block, ALONE)
{
    plain<fault><<<1, fault ? 0 : 1>>>(zeros(1)); // EXPECT: launch/dimensions
}

template <bool fault> __global__ void needs_much(int *out)
{
    extern __shared__ int pool[];
    pool[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = pool[31 - threadIdx.x];
}

CASE(too_much_shared, ALONE)
{
    int bytes = fault ? 300000 : 200000;
    cudaFuncSetAttribute(needs_much<fault>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes); // ALSO: launch/*
    needs_much<fault><<<1, 32, bytes>>>(zeros(32)); // EXPECT: launch/shared-memory
}

CASE(no_opt_in, ALONE)
{
    if (!fault)
        cudaFuncSetAttribute(needs_much<fault>, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536);
    needs_much<fault><<<1, 32, 65536>>>(zeros(32)); // EXPECT: launch/opt-in
}

/* Static and dynamic together pass 48 KiB. */
template <bool fault> __global__ void static_and_dynamic(int *out)
{
    __shared__ int fixed[8192];
    extern __shared__ int pool[];
    fixed[threadIdx.x] = pool[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = pool[31 - threadIdx.x] + fixed[31 - threadIdx.x];
}

CASE(sum_above_the_limit, ALONE)
{
    static_and_dynamic<fault><<<1, 32, fault ? 20480 : 16384>>>(zeros(32)); // EXPECT: launch/opt-in
}

template <bool fault> __global__ void __launch_bounds__(128) bounded(int *out)
{
    out[threadIdx.x] = threadIdx.x;
}

CASE(launch_bounds, ALONE)
{
    bounded<fault><<<1, fault ? 256 : 128>>>(zeros(256)); // EXPECT: launch/too-many-threads
}

CASE(cooperative_too_large, ALONE)
{
    int *out = zeros(1);
    void *args[] = {&out};
    cudaLaunchCooperativeKernel((void *)plain<fault>, fault ? 100000 : 4, 1024, args, 0, 0); // EXPECT: launch/cooperative
}
