/* pointers.cu - right programs in which one register has pointers to several objects: nothing is to be found.
 *
 * In each, one of the pointers is an argument or the address of a variable, and the other one comes from somewhere that
 * the text of the kernel does not tell of: out of memory, from another function, out of two halves, by an atomic
 * operation. The first one's object is the smaller, so that taking it for the only one would be a finding.
 */
#include <cstdio>
#include <cuda_runtime.h>

__device__ int small_one[32];
static __device__ int of_both[32]; /* pointers_other.cu has one of this name */
void run_other(int *out);

/* In a loop, from the second round on. */
__global__ void later_rounds(int *const *table, int *own, int *out, int n)
{
    int *p = own;
#pragma unroll 1
    for (int i = 0; i < n; i++) {
        out[i * 32 + threadIdx.x] = p[threadIdx.x];
        if (i & 1)
            p = table[i];
    }
}

/* In some lanes. */
__global__ void some_lanes(int *const *table, int *out, int n)
{
    const int *p = threadIdx.x % 2 ? small_one : table[threadIdx.x % n];
    out[threadIdx.x] = p[threadIdx.x];
}

__device__ __noinline__ int *one_of(int *const *table, int k)
{
    return table[k] + 64;
}
__global__ void from_a_function(int *const *table, int *own, int *out, int n)
{
    int *p = own;
    if (threadIdx.x % 3 == 0)
        p = one_of(table, threadIdx.x % n);
    out[threadIdx.x] = p[threadIdx.x];
}

__device__ __noinline__ int through(const int *given, int k)
{
    const int *p = k % 2 ? small_one : given;
    return p[k];
}
__global__ void to_a_function(int *const *table, int *out)
{
    out[threadIdx.x] = through(table[threadIdx.x % 8], threadIdx.x);
}

struct Tables {
    int *at[8];
};
__global__ void out_of_an_argument(Tables tables, int *own, int *out)
{
    int *p = threadIdx.x % 2 ? own : tables.at[threadIdx.x % 8];
    out[threadIdx.x] = p[threadIdx.x];
}

__global__ void out_of_halves(const uint2 *table, int *own, int *out, int n)
{
    uint2 h = table[threadIdx.x % n];
    int *p = threadIdx.x % 2 ? own : (int *)((unsigned long long)h.y << 32 | h.x);
    out[threadIdx.x] = p[threadIdx.x];
}

__global__ void by_exchange(unsigned long long *hand, int *own, int *out)
{
    int *p = (int *)atomicExch(&hand[threadIdx.x], (unsigned long long)own);
    if (threadIdx.x % 2)
        p = own;
    out[threadIdx.x] = p[threadIdx.x];
}

/* The variable is this file's own. */
__global__ void of_this_file(int *out)
{
    of_both[threadIdx.x] = threadIdx.x;
    out[threadIdx.x] = of_both[threadIdx.x];
}

int main()
{
    int *small, *large, *out, **table;
    Tables tables;
    cudaMalloc(&small, 128);
    cudaMalloc(&large, 8192);
    cudaMalloc(&out, 1024);
    cudaMallocManaged(&table, 32 * sizeof *table);
    cudaMemset(small, 0, 128);
    cudaMemset(large, 1, 8192);
    for (int i = 0; i < 32; i++)
        table[i] = large + 40 * i;
    for (int i = 0; i < 8; i++)
        tables.at[i] = table[i];
    later_rounds<<<1, 32>>>(table, small, out, 8);
    some_lanes<<<1, 32>>>(table, out, 8);
    from_a_function<<<1, 32>>>(table, small, out, 8);
    to_a_function<<<1, 32>>>(table, out);
    out_of_an_argument<<<1, 32>>>(tables, small, out);
    out_of_halves<<<1, 32>>>((const uint2 *)table, small, out, 8);
    by_exchange<<<1, 32>>>((unsigned long long *)table, small, out);
    of_this_file<<<1, 32>>>(out);
    run_other(out);
    cudaError_t error = cudaDeviceSynchronize();
    cudaFree(small);
    cudaFree(large);
    cudaFree(out);
    cudaFree(table);
    printf("%s\n", cudaGetErrorString(error));
    return error != cudaSuccess;
}
