/* smooth1d.cu - every element becomes the mean of those within RADIUS of it: a tile with a halo in shared memory.
 *
 * Build:  nvcc -lineinfo smooth1d.cu -o smooth1d
 * Run:    ./smooth1d          1048576 and 1000003 elements, and 5
 *         ./smooth1d N        one size
 * Look:   margay profile ./smooth1d
 *
 * At the two ends the window is cut off: the mean is over the elements that exist.
 *
 * naive   Each thread reads its 2 RADIUS + 1 elements from global memory; a warp's reads are contiguous, but each
 *         element is asked for 2 RADIUS + 1 times, and most of those accesses straddle one sector more than they need.
 * shared  A block copies its 256 elements and RADIUS more on each side (the halo) into shared memory once, and reads
 *         the windows there. Lanes read neighbouring words: no conflict at any offset. Elements outside the vector are zero
 *         in the tile, so that no window has a branch; only the divisor knows how many there were.
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
#define RADIUS 3

__host__ __device__ static int window_begin(int i)
{
    return i < RADIUS ? 0 : i - RADIUS;
}

__host__ __device__ static int window_end(int i, int n)
{
    return i >= n - RADIUS ? n : i + RADIUS + 1;
}

__global__ void smooth_naive(float *out, const float *in, int n)
{
    int i = blockIdx.x * BLOCK + threadIdx.x;
    if (i >= n)
        return;
    int begin = window_begin(i), end = window_end(i, n);
    float sum = 0.0f;
    for (int j = begin; j < end; j++)
        sum += in[j];
    out[i] = sum / (end - begin);
}

__global__ void smooth_shared(float *out, const float *in, int n)
{
    __shared__ float tile[BLOCK + 2 * RADIUS];
    int t = threadIdx.x;
    int first = (int)(blockIdx.x * BLOCK) - RADIUS; /* the element in tile[0] */
    for (int at = t; at < BLOCK + 2 * RADIUS; at += BLOCK) {
        int j = first + at;
        tile[at] = j >= 0 && j < n ? in[j] : 0.0f;
    }
    __syncthreads();
    int i = blockIdx.x * BLOCK + t;
    if (i >= n)
        return;
    float sum = 0.0f;
    for (int offset = 0; offset <= 2 * RADIUS; offset++)
        sum += tile[t + offset];
    out[i] = sum / (window_end(i, n) - window_begin(i));
}

struct version {
    const char *name;
    void (*kernel)(float *, const float *, int);
};
static const struct version versions[] = {
    {"naive", smooth_naive},
    {"shared", smooth_shared},
};

/* Runs every version on one size; returns the number of versions that are wrong. */
static int run(int n)
{
    size_t bytes = (size_t)n * sizeof(float);
    float *in = (float *)malloc(bytes), *out = (float *)malloc(bytes), *dev_in, *dev_out;
    if (!in || !out) {
        fprintf(stderr, "smooth1d: out of memory\n");
        exit(2);
    }
    unsigned seed = 1;
    for (int i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        in[i] = (float)(seed >> 8) / 16777216.0f - 0.5f;
    }
    CHECK(cudaMalloc(&dev_in, bytes));
    CHECK(cudaMalloc(&dev_out, bytes));
    CHECK(cudaMemcpy(dev_in, in, bytes, cudaMemcpyHostToDevice));

    int wrong = 0, grid = (n + BLOCK - 1) / BLOCK;
    for (const struct version &v : versions) {
        CHECK(cudaMemset(dev_out, 0xff, bytes)); /* NaN: an element nobody writes is seen */
        v.kernel<<<grid, BLOCK>>>(dev_out, dev_in, n);
        CHECK(cudaGetLastError());
        CHECK(cudaMemcpy(out, dev_out, bytes, cudaMemcpyDeviceToHost));
        int bad = 0;
        for (int i = 0; i < n; i++) {
            int begin = window_begin(i), end = window_end(i, n);
            double sum = 0.0, size = 0.0;
            for (int j = begin; j < end; j++) {
                sum += in[j];
                size += fabs(in[j]);
            }
            /* one rounding an addition and one for the division, each at most half a unit in the last place */
            bad += !(fabs(out[i] - sum / (end - begin)) <= size / (end - begin) * (end - begin + 1) * 0x1p-24);
        }
        if (bad)
            printf("smooth1d %s %d: %d elements wrong\n", v.name, n, bad);
        else
            printf("smooth1d %s %d: ok\n", v.name, n);
        wrong += bad != 0;
    }
    CHECK(cudaFree(dev_in));
    CHECK(cudaFree(dev_out));
    free(in);
    free(out);
    return wrong;
}

int main(int argc, char **argv)
{
    int wrong = 0;
    if (argc == 2) {
        int n = atoi(argv[1]);
        if (n < 1 || n > 1 << 28) {
            fprintf(stderr, "smooth1d: N is from 1 to %d\n", 1 << 28);
            return 2;
        }
        wrong = run(n);
    } else if (argc == 1) {
        wrong = run(1 << 20) + run(1000003) + run(5);
    } else {
        fprintf(stderr, "usage: smooth1d [N]\n");
        return 2;
    }
    return wrong ? 1 : 0;
}
