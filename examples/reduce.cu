/* reduce.cu - the sum of n floats, five ways: divergence, bank conflicts, and how to do without shared memory.
 *
 * Build:  nvcc -lineinfo reduce.cu -o reduce
 * Run:    ./reduce            1048576 and 1000003 floats, and 1
 *         ./reduce N          one size
 * Look:   margay profile ./reduce
 *
 * Each block of 256 threads sums 256 elements to one. The first four versions write one partial sum a block, and the
 * same kernel runs again on the partial sums until one is left.
 *
 * interleaved  A tree in shared memory in which thread t adds the element s further on if t is a multiple of 2s. In
 *              every warp most lanes do nothing, and the branch diverges in each of the first five steps.
 * strided      The same tree with the working threads packed together (thread t works at index 2 s t): whole warps go
 *              idle, but lanes are 2s words apart, and bank conflicts are 2-way in the first step, 4-way in the second,
 *              8-way in the third.
 * sequential   Thread t adds the element n/2 further on: lanes side by side, packed, free of conflicts.
 * shuffle      Each warp adds up its registers with shuffles; shared memory only carries one word a warp.
 * atomic       As shuffle, but each warp adds its sum to the result with one atomic: no barrier, no second launch.
 *
 * Compared with a sum in double precision; the tolerance is that of a float tree. Exits 0 if all is right, 1 on a
 * mismatch, 2 on an error.
 */
#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        cudaError_t check_error = (call);                                                                              \
        if (check_error != cudaSuccess) {                                                                              \
            fprintf(stderr, "%s:%d: %s: %s (%s)\n", __FILE__, __LINE__, #call, cudaGetErrorName(check_error),          \
                    cudaGetErrorString(check_error));                                                                  \
            exit(2);                                                                                                   \
        }                                                                                                              \
    } while (0)

#define BLOCK 256
#define WARP 32

__global__ void reduce_interleaved(float *out, const float *in, int n)
{
    __shared__ float sums[BLOCK];
    int t = threadIdx.x, i = blockIdx.x * BLOCK + t;
    sums[t] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (int s = 1; s < BLOCK; s *= 2) {
        if (t % (2 * s) == 0)
            sums[t] += sums[t + s];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = sums[0];
}

__global__ void reduce_strided(float *out, const float *in, int n)
{
    __shared__ float sums[BLOCK];
    int t = threadIdx.x, i = blockIdx.x * BLOCK + t;
    sums[t] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (int s = 1; s < BLOCK; s *= 2) {
        int at = 2 * s * t;
        if (at < BLOCK)
            sums[at] += sums[at + s];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = sums[0];
}

__global__ void reduce_sequential(float *out, const float *in, int n)
{
    __shared__ float sums[BLOCK];
    int t = threadIdx.x, i = blockIdx.x * BLOCK + t;
    sums[t] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (int s = BLOCK / 2; s > 0; s /= 2) {
        if (t < s)
            sums[t] += sums[t + s];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = sums[0];
}

/* The sum over the lanes of a full warp, right in lane 0. */
__device__ float warp_sum(float x)
{
    for (int s = WARP / 2; s > 0; s /= 2)
        x += __shfl_down_sync(0xffffffffu, x, s);
    return x;
}

__global__ void reduce_shuffle(float *out, const float *in, int n)
{
    __shared__ float sums[BLOCK / WARP];
    int t = threadIdx.x, i = blockIdx.x * BLOCK + t;
    float x = warp_sum(i < n ? in[i] : 0.0f);
    if (t % WARP == 0)
        sums[t / WARP] = x;
    __syncthreads();
    if (t < WARP) { /* the whole first warp, as its shuffles need all lanes */
        x = warp_sum(t < BLOCK / WARP ? sums[t] : 0.0f);
        if (t == 0)
            out[blockIdx.x] = x;
    }
}

__global__ void reduce_atomic(float *out, const float *in, int n)
{
    int t = threadIdx.x, i = blockIdx.x * BLOCK + t;
    float x = warp_sum(i < n ? in[i] : 0.0f);
    if (t % WARP == 0)
        atomicAdd(out, x);
}

struct version {
    const char *name;
    void (*kernel)(float *, const float *, int);
    bool again; /* writes one sum a block, to be reduced again */
};
static const struct version versions[] = {
    {"interleaved", reduce_interleaved, true}, {"strided", reduce_strided, true},
    {"sequential", reduce_sequential, true},   {"shuffle", reduce_shuffle, true},
    {"atomic", reduce_atomic, false},
};

/* Runs every version on one size; returns the number of versions that are wrong. */
static int run(int n)
{
    float *in = (float *)malloc(n * sizeof *in), *dev_in, *dev_part[2];
    if (!in) {
        fprintf(stderr, "reduce: out of memory\n");
        exit(2);
    }
    unsigned seed = 1;
    double expect = 0.0, size = 0.0;
    for (int i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        in[i] = (float)(seed >> 8) / 16777216.0f - 0.25f;
        expect += in[i];
        size += fabs(in[i]);
    }
    int blocks = (n + BLOCK - 1) / BLOCK;
    CHECK(cudaMalloc(&dev_in, n * sizeof *in));
    CHECK(cudaMalloc(&dev_part[0], blocks * sizeof *in));
    CHECK(cudaMalloc(&dev_part[1], blocks * sizeof *in));
    CHECK(cudaMemcpy(dev_in, in, n * sizeof *in, cudaMemcpyHostToDevice));

    int wrong = 0;
    for (const struct version &v : versions) {
        const float *from = dev_in;
        int left = n, to = 0;
        CHECK(cudaMemset(dev_part[0], 0, blocks * sizeof *in));
        do {
            int grid = (left + BLOCK - 1) / BLOCK;
            v.kernel<<<grid, BLOCK>>>(dev_part[to], from, left);
            CHECK(cudaGetLastError());
            from = dev_part[to];
            left = grid;
            to = !to;
        } while (v.again && left > 1);
        float sum;
        CHECK(cudaMemcpy(&sum, from, sizeof sum, cudaMemcpyDeviceToHost));
        /* A tree of depth log2(n) rounds that often on each path; the atomics' order adds a little for each warp. */
        double bound = size * (v.again ? 40.0 : 40.0 + n / WARP * 0.01) * 0x1p-24;
        if (fabs(sum - expect) <= bound) {
            printf("reduce %s %d: ok\n", v.name, n);
        } else {
            printf("reduce %s %d: %.9g, expected %.9g\n", v.name, n, sum, expect);
            wrong++;
        }
    }
    CHECK(cudaFree(dev_in));
    CHECK(cudaFree(dev_part[0]));
    CHECK(cudaFree(dev_part[1]));
    free(in);
    return wrong;
}

int main(int argc, char **argv)
{
    int wrong = 0;
    if (argc == 2) {
        int n = atoi(argv[1]);
        if (n < 1 || n > 1 << 28) {
            fprintf(stderr, "reduce: N is from 1 to %d\n", 1 << 28);
            return 2;
        }
        wrong = run(n);
    } else if (argc == 1) {
        wrong = run(1 << 20) + run(1000003) + run(1);
    } else {
        fprintf(stderr, "usage: reduce [N]\n");
        return 2;
    }
    return wrong ? 1 : 0;
}
