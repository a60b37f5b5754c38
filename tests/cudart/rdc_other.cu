// rdc_other.cu - the second translation unit of rdc_main.cu.
__device__ int counter = 7;
__constant__ float scale[4] = {2, 3, 4, 5};
static __device__ int own = 4;

__device__ float helper(float x)
{
    return x * scale[1] + own;
}

__device__ int bump()
{
    return atomicAdd(&counter, 1);
}
