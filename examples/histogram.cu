/* histogram.cu - how often each byte value occurs: atomics in global memory, and in shared memory.
 *
 * Build:  nvcc -lineinfo histogram.cu -o histogram
 * Run:    ./histogram         1048576 and 1000003 bytes, and 1
 *         ./histogram N       one size
 * Look:   margay profile ./histogram
 *
 * global  Every byte is one atomic in global memory. The 256 counters are few, so the whole device queues up at them.
 * shared  Each block counts in 256 counters of its own in shared memory and adds them to the result at its end: 256
 *         global atomics a block instead of one a byte. Lanes with equal bytes, or with bytes that share a bank (32
 *         counters apart), still wait for one another, as many passes as the fullest bank has.
 * words   As shared, and a thread loads four bytes at once: a warp's load fills four sectors instead of one.
 *
 * The bytes are like those of text: some values are frequent, most are rare. Counts are exact and compared exactly.
 * Exits 0 if all is right, 1 on a mismatch, 2 on an error.
 */
#include <cuda_runtime.h>
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

#define BINS 256
#define BLOCK 256 /* no less than BINS: one thread a counter at the start and the end */
#define MAX_BLOCKS 128

__global__ void histogram_global(unsigned *bins, const unsigned char *data, int n)
{
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK)
        atomicAdd(&bins[data[i]], 1u);
}

__global__ void histogram_shared(unsigned *bins, const unsigned char *data, int n)
{
    __shared__ unsigned counts[BINS];
    if (threadIdx.x < BINS)
        counts[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n; i += gridDim.x * BLOCK)
        atomicAdd(&counts[data[i]], 1u);
    __syncthreads();
    if (threadIdx.x < BINS)
        atomicAdd(&bins[threadIdx.x], counts[threadIdx.x]);
}

__global__ void histogram_words(unsigned *bins, const unsigned char *data, int n)
{
    __shared__ unsigned counts[BINS];
    if (threadIdx.x < BINS)
        counts[threadIdx.x] = 0;
    __syncthreads();
    const uchar4 *words = (const uchar4 *)data; /* cudaMalloc aligns to 256 bytes */
    for (int i = blockIdx.x * BLOCK + threadIdx.x; i < n / 4; i += gridDim.x * BLOCK) {
        uchar4 w = words[i];
        atomicAdd(&counts[w.x], 1u);
        atomicAdd(&counts[w.y], 1u);
        atomicAdd(&counts[w.z], 1u);
        atomicAdd(&counts[w.w], 1u);
    }
    if (blockIdx.x == 0 && threadIdx.x < n % 4) /* the last one to three bytes */
        atomicAdd(&counts[data[n - 1 - threadIdx.x]], 1u);
    __syncthreads();
    if (threadIdx.x < BINS)
        atomicAdd(&bins[threadIdx.x], counts[threadIdx.x]);
}

struct version {
    const char *name;
    void (*kernel)(unsigned *, const unsigned char *, int);
};
static const struct version versions[] = {
    {"global", histogram_global},
    {"shared", histogram_shared},
    {"words", histogram_words},
};

/* Runs every version on one size; returns the number of versions that are wrong. */
static int run(int n)
{
    unsigned char *data = (unsigned char *)malloc(n), *dev_data;
    unsigned expect[BINS] = {0}, bins[BINS], *dev_bins, seed = 1;
    if (!data) {
        fprintf(stderr, "histogram: out of memory\n");
        exit(2);
    }
    for (int i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        unsigned high = seed >> 28, low = seed >> 20 & 0xff;
        data[i] = (unsigned char)(high < 12 ? 'a' + low % 26 : low); /* three of four are small letters */
        expect[data[i]]++;
    }
    CHECK(cudaMalloc(&dev_data, n));
    CHECK(cudaMalloc(&dev_bins, sizeof bins));
    CHECK(cudaMemcpy(dev_data, data, n, cudaMemcpyHostToDevice));

    int wrong = 0, grid = (n + BLOCK - 1) / BLOCK;
    if (grid > MAX_BLOCKS)
        grid = MAX_BLOCKS;
    for (const struct version &v : versions) {
        CHECK(cudaMemset(dev_bins, 0, sizeof bins));
        v.kernel<<<grid, BLOCK>>>(dev_bins, dev_data, n);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(bins, dev_bins, sizeof bins, cudaMemcpyDeviceToHost));
        int bad = 0;
        for (int i = 0; i < BINS; i++)
            bad += bins[i] != expect[i];
        if (bad)
            printf("histogram %s %d: %d of %d counts wrong\n", v.name, n, bad, BINS);
        else
            printf("histogram %s %d: ok\n", v.name, n);
        wrong += bad != 0;
    }
    CHECK(cudaFree(dev_data));
    CHECK(cudaFree(dev_bins));
    free(data);
    return wrong;
}

int main(int argc, char **argv)
{
    int wrong = 0;
    if (argc == 2) {
        int n = atoi(argv[1]);
        if (n < 1 || n > 1 << 30) {
            fprintf(stderr, "histogram: N is from 1 to %d\n", 1 << 30);
            return 2;
        }
        wrong = run(n);
    } else if (argc == 1) {
        wrong = run(1 << 20) + run(1000003) + run(1);
    } else {
        fprintf(stderr, "usage: histogram [N]\n");
        return 2;
    }
    return wrong ? 1 : 0;
}
