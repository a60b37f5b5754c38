/* matmul.cu - C = A B, two ways: why a tile in shared memory pays.
 *
 * Build:  nvcc -lineinfo matmul.cu -o matmul
 * Run:    ./matmul                2048x1024x512, and three sizes that no tile divides
 *         ./matmul M N K          one size: A is M x K, B is K x N, C is M x N, all row by row
 * Look:   margay profile ./matmul
 *
 * naive   One thread an element of C: it walks a row of A and a column of B in global memory. Each element of A is read
 *         N times, each of B M times.
 * tiled   A block computes a 16x16 tile of C. In each of K/16 steps its 256 threads copy one tile of A and one of B
 *         into shared memory, one element each, and every element is then used 16 times. Elements outside the matrices
 *         are zero in the tiles, so that sizes need not be multiples of 16. The two barriers are both needed: no thread
 *         may read a tile before all have written it, nor overwrite it before all have read it. A warp is two rows of
 *         the tile: its reads of tile_a are two words that are broadcast, in different banks, its reads of tile_b one
 *         row of 16 words that both halves share. No conflict.
 *
 * The inputs are multiples of 1/8 between -1 and 1, so every product is a multiple of 1/64 and every sum is exact in
 * float: the result must equal that of plain C in double precision to the last bit, in any order of summation.
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

#define TILE 16

__global__ void matmul_naive(float *c, const float *a, const float *b, int m, int n, int k)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || col >= n)
        return;
    float sum = 0.0f;
    for (int i = 0; i < k; i++)
        sum += a[(size_t)row * k + i] * b[(size_t)i * n + col];
    c[(size_t)row * n + col] = sum;
}

__global__ void matmul_tiled(float *c, const float *a, const float *b, int m, int n, int k)
{
    __shared__ float tile_a[TILE][TILE];
    __shared__ float tile_b[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y;
    int col = blockIdx.x * TILE + x;
    int row = blockIdx.y * TILE + y;
    float sum = 0.0f;
    for (int base = 0; base < k; base += TILE) {
        tile_a[y][x] = row < m && base + x < k ? a[(size_t)row * k + base + x] : 0.0f;
        tile_b[y][x] = base + y < k && col < n ? b[(size_t)(base + y) * n + col] : 0.0f;
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            sum += tile_a[y][i] * tile_b[i][x];
        __syncthreads();
    }
    if (row < m && col < n)
        c[(size_t)row * n + col] = sum;
}

struct version {
    const char *name;
    void (*kernel)(float *, const float *, const float *, int, int, int);
};
static const struct version versions[] = {
    {"naive", matmul_naive},
    {"tiled", matmul_tiled},
};

static void fill(float *x, size_t count, unsigned seed)
{
    for (size_t i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        x[i] = (float)((int)(seed >> 16) % 17 - 8) / 8.0f;
    }
}

/* One row of C in double precision. */
static void reference_row(double *row_c, const float *row_a, const float *b, int n, int k)
{
    for (int j = 0; j < n; j++)
        row_c[j] = 0.0;
    for (int i = 0; i < k; i++) {
        double x = row_a[i];
        const float *row_b = b + (size_t)i * n;
        for (int j = 0; j < n; j++)
            row_c[j] += x * row_b[j];
    }
}

static void *allocate(size_t bytes)
{
    void *p = malloc(bytes);
    if (!p) {
        fprintf(stderr, "matmul: out of memory\n");
        exit(2);
    }
    return p;
}

/* Runs every version on one size; returns the number of versions that are wrong. */
static int run(int m, int n, int k)
{
    const int nversions = sizeof versions / sizeof versions[0];
    size_t na = (size_t)m * k, nb = (size_t)k * n, nc = (size_t)m * n;
    float *a = (float *)allocate(na * sizeof *a), *b = (float *)allocate(nb * sizeof *b);
    float *c = (float *)allocate(nversions * nc * sizeof *c), *dev_a, *dev_b, *dev_c;
    double *expect = (double *)allocate((size_t)n * sizeof *expect);
    fill(a, na, 1);
    fill(b, nb, 2);
    CHECK(cudaMalloc(&dev_a, na * sizeof *a));
    CHECK(cudaMalloc(&dev_b, nb * sizeof *b));
    CHECK(cudaMalloc(&dev_c, nc * sizeof *c));
    CHECK(cudaMemcpy(dev_a, a, na * sizeof *a, cudaMemcpyHostToDevice));
    CHECK(cudaMemcpy(dev_b, b, nb * sizeof *b, cudaMemcpyHostToDevice));

    dim3 block(TILE, TILE), grid((n + TILE - 1) / TILE, (m + TILE - 1) / TILE);
    for (int v = 0; v < nversions; v++) {
        CHECK(cudaMemset(dev_c, 0xff, nc * sizeof *c)); /* NaN: an element nobody writes is seen */
        versions[v].kernel<<<grid, block>>>(dev_c, dev_a, dev_b, m, n, k);
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaMemcpy(c + v * nc, dev_c, nc * sizeof *c, cudaMemcpyDeviceToHost));
    }
    CHECK(cudaFree(dev_a));
    CHECK(cudaFree(dev_b));
    CHECK(cudaFree(dev_c));

    size_t bad[nversions] = {0};
    for (int i = 0; i < m; i++) {
        reference_row(expect, a + (size_t)i * k, b, n, k);
        for (int v = 0; v < nversions; v++)
            for (int j = 0; j < n; j++)
                bad[v] += !((double)c[v * nc + (size_t)i * n + j] == expect[j]);
    }
    int wrong = 0;
    for (int v = 0; v < nversions; v++) {
        if (bad[v])
            printf("matmul %s %dx%dx%d: %zu of %zu elements wrong\n", versions[v].name, m, n, k, bad[v], nc);
        else
            printf("matmul %s %dx%dx%d: ok\n", versions[v].name, m, n, k);
        wrong += bad[v] != 0;
    }
    free(a);
    free(b);
    free(c);
    free(expect);
    return wrong;
}

int main(int argc, char **argv)
{
    int wrong = 0;
    if (argc == 4) {
        int size[3];
        for (int i = 0; i < 3; i++) {
            size[i] = atoi(argv[i + 1]);
            if (size[i] < 1 || size[i] > 16384) {
                fprintf(stderr, "matmul: M, N and K are from 1 to 16384\n");
                return 2;
            }
        }
        wrong = run(size[0], size[1], size[2]);
    } else if (argc == 1) {
        wrong = run(2048, 1024, 512) + run(100, 130, 70) + run(33, 17, 65) + run(1, 1, 1);
    } else {
        fprintf(stderr, "usage: matmul [M N K]\n");
        return 2;
    }
    return wrong ? 1 : 0;
}
