// reduction.cu - five ways to sum, from interleaved addresses to shuffles, all of the same numbers
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CK(call)                                                           \
    do {                                                                   \
        cudaError_t error_ = (call);                                       \
        if (error_ != cudaSuccess) {                                       \
            printf("line %d: %s\n", __LINE__, cudaGetErrorString(error_)); \
            exit(1);                                                       \
        }                                                                  \
    } while (0)

static int finish(bool good)
{
    puts(good ? "PASS" : "FAIL");
    return !good;
}

__global__ void interleaved(const int *in, int *out, int n)
{
    extern __shared__ int s[];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned d = 1; d < blockDim.x; d *= 2) {
        if (t % (2 * d) == 0)
            s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}

__global__ void sequential(const int *in, int *out, int n)
{
    extern __shared__ int s[];
    unsigned t = threadIdx.x, i = blockIdx.x * blockDim.x + t;
    s[t] = i < n ? in[i] : 0;
    __syncthreads();
    for (unsigned d = blockDim.x / 2; d; d /= 2) {
        if (t < d)
            s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = s[0];
}

__device__ int warp_sum(int v)
{
    for (int d = 16; d; d /= 2)
        v += __shfl_down_sync(0xffffffff, v, d);
    return v;
}

__global__ void shuffles(const int *in, int *out, int n)
{
    __shared__ int part[32];
    int sum = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        sum += in[i];
    sum = warp_sum(sum);
    if (threadIdx.x % 32 == 0)
        part[threadIdx.x / 32] = sum;
    __syncthreads();
    if (threadIdx.x < 32) {
        sum = warp_sum(threadIdx.x < blockDim.x / 32 ? part[threadIdx.x] : 0);
        if (threadIdx.x == 0)
            out[blockIdx.x] = sum;
    }
}

__global__ void atomics(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(out, in[i]);
}

__device__ unsigned blocks_done;

/* One launch: the last block to finish adds up what the others left. */
__global__ void last_block(const int *in, volatile int *part, int *out, int n)
{
    __shared__ int s[128];
    __shared__ bool last;
    int sum = 0, t = threadIdx.x;
    for (int i = blockIdx.x * blockDim.x + t; i < n; i += gridDim.x * blockDim.x)
        sum += in[i];
    s[t] = sum;
    __syncthreads();
    for (int d = 64; d; d /= 2) {
        if (t < d)
            s[t] += s[t + d];
        __syncthreads();
    }
    if (t == 0) {
        part[blockIdx.x] = s[0];
        __threadfence();
        last = atomicAdd(&blocks_done, 1u) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && t == 0) {
        __threadfence();
        int all = 0;
        for (unsigned b = 0; b < gridDim.x; b++)
            all += part[b];
        *out = all;
    }
}

int main()
{
    const int n = 2500, block = 128, grid = (n + block - 1) / block;
    std::vector<int> in(n), part(grid);
    int want = 0, *din, *dout, *dpart;
    for (int i = 0; i < n; i++)
        want += in[i] = (i * 37) % 101 - 50;
    CK(cudaMalloc(&din, n * sizeof(int)));
    CK(cudaMalloc(&dout, grid * sizeof(int)));
    CK(cudaMalloc(&dpart, grid * sizeof(int)));
    CK(cudaMemcpy(din, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    bool good = true;
    for (int way = 0; way < 5; way++) {
        int count = way < 3 ? grid : 1, sum = 0;
        CK(cudaMemset(dout, 0, grid * sizeof(int)));
        if (way == 0)
            interleaved<<<grid, block, block * sizeof(int)>>>(din, dout, n);
        else if (way == 1)
            sequential<<<grid, block, block * sizeof(int)>>>(din, dout, n);
        else if (way == 2)
            shuffles<<<grid, block>>>(din, dout, n);
        else if (way == 3)
            atomics<<<grid, block>>>(din, dout, n);
        else
            last_block<<<6, block>>>(din, dpart, dout, n);
        CK(cudaMemcpy(part.data(), dout, count * sizeof(int), cudaMemcpyDeviceToHost));
        for (int i = 0; i < count; i++)
            sum += part[i];
        if (sum != want)
            printf("way %d: %d, not %d\n", way, sum, want);
        good &= sum == want;
    }
    CK(cudaFree(din));
    CK(cudaFree(dout));
    CK(cudaFree(dpart));
    return finish(good);
}
