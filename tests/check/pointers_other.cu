/* pointers_other.cu - a variable of pointers.cu once more, by the same name and larger. */
static __device__ int of_both[512];

__global__ void in_the_other(int *out)
{
    of_both[threadIdx.x + 256] = threadIdx.x;
    out[threadIdx.x] = of_both[threadIdx.x + 256];
}

void run_other(int *out)
{
    in_the_other<<<1, 256>>>(out);
}
