/* dot.cu - the dot product of two vectors: a tree in shared memory, one atomic a block.
 *
 * Build:  nvcc -lineinfo dot.cu -o dot
 * Run:    ./dot               1048576 and 1000003 elements, and 1
 *         ./dot N             one size
 * Look:   margay profile ./dot
 *
 * tree    At most 128 blocks of 256 threads step through the vectors by the size of the whole grid, so that each thread
 *         has its own running sum and neighbouring lanes read neighbouring elements. The 256 sums of a block are added
 *         up by a tree in shared memory, and its first thread adds the block's sum to the result with one atomic.
 * warp    The same, with the last five steps of the tree as shuffles in the first warp: five barriers fewer.
 *
 * Compared with double precision. Exits 0 if all is right, 1 on a mismatch, 2 on an error.
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
#define MAX_BLOCKS 128

__device__ float thread_sum(const float *a, const float *b, int n)
{
    float sum = 0.0f;
    for (size_t i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK)
        sum += a[i] * b[i];
    return sum;
}

__global__ void dot_tree(float *result, const float *a, const float *b, int n)
{
    __shared__ float sums[BLOCK];
    int t = threadIdx.x;
    sums[t] = thread_sum(a, b, n);
    __syncthreads();
    for (int s = BLOCK / 2; s > 0; s /= 2) {
        if (t < s)
            sums[t] += sums[t + s];
        __syncthreads();
    }
    if (t == 0)
        atomicAdd(result, sums[0]);
}

__global__ void dot_warp(float *result, const float *a, const float *b, int n)
{
    __shared__ float sums[BLOCK];
    int t = threadIdx.x;
    sums[t] = thread_sum(a, b, n);
    __syncthreads();
    for (int s = BLOCK / 2; s >= 32; s /= 2) {
        if (t < s)
            sums[t] += sums[t + s];
        __syncthreads();
    }
    if (t < 32) {
        float sum = sums[t];
        for (int s = 16; s > 0; s /= 2)
            sum += __shfl_down_sync(0xffffffffu, sum, s);
        if (t == 0)
            atomicAdd(result, sum);
    }
}

struct version {
    const char *name;
    void (*kernel)(float *, const float *, const float *, int);
};
static const struct version versions[] = {
    {"tree", dot_tree},
    {"warp", dot_warp},
};

/* Runs every version on one size; returns the number of versions that are wrong. */
static int run(int n)
{
    size_t bytes = (size_t)n * sizeof(float);
    float *a = (float *)malloc(bytes), *b = (float *)malloc(bytes), *dev_a, *dev_b, *dev_result;
    if (!a || !b) {
        fprintf(stderr, "dot: out of memory\n");
        exit(2);
    }
    unsigned seed = 1;
    double expect = 0.0, size = 0.0;
    for (int i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        a[i] = (float)(seed >> 8) / 16777216.0f - 0.25f;
        seed = seed * 1664525u + 1013904223u;
        b[i] = (float)(seed >> 8) / 16777216.0f;
        expect += (double)a[i] * b[i];
        size += fabs((double)a[i] * b[i]);
    }
    CHECK(cudaMalloc(&dev_a, bytes));
    CHECK(cudaMalloc(&dev_b, bytes));
    CHECK(cudaMalloc(&dev_result, sizeof(float)));
    CHECK(cudaMemcpy(dev_a, a, bytes, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(dev_b, b, bytes, cudaMemcpyHostToDevice));

    int wrong = 0, grid = (n + BLOCK - 1) / BLOCK;
    if (grid > MAX_BLOCKS)
        grid = MAX_BLOCKS;
    /* the roundings on the longest way of a product to the result: its thread's sum, the tree, the atomics */
    double bound = size * ((double)n / (grid * BLOCK) + 10 + grid) * 0x1p-24;
    for (const struct version &v : versions) {
        float result;
        CHECK(cudaMemset(dev_result, 0, sizeof(float)));
        v.kernel<<<grid, BLOCK>>>(dev_result, dev_a, dev_b, n);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(&result, dev_result, sizeof result, cudaMemcpyDeviceToHost));
        if (fabs(result - expect) <= bound) {
            printf("dot %s %d: ok\n", v.name, n);
        } else {
            printf("dot %s %d: %.9g, expected %.9g\n", v.name, n, result, expect);
            wrong++;
        }
    }
    CHECK(cudaFree(dev_a));
    CHECK(cudaFree(dev_b));
    CHECK(cudaFree(dev_result));
    free(a);
    free(b);
    return wrong;
}

int main(int argc, char **argv)
{
    int wrong = 0;
    if (argc == 2) {
        int n = atoi(argv[1]);
        if (n < 1 || n > 1 << 28) {
            fprintf(stderr, "dot: N is from 1 to %d\n", 1 << 28);
            return 2;
        }
        wrong = run(n);
    } else if (argc == 1) {
        wrong = run(1 << 20) + run(1000003) + run(1);
    } else {
        fprintf(stderr, "usage: dot [N]\n");
        return 2;
    }
    return wrong ? 1 : 0;
}
