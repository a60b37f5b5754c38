/* transpose.cu - out = transpose of in, three ways: what a bank conflict is and how one column of padding ends it.
 *
 * Build:  nvcc -lineinfo transpose.cu -o transpose
 * Run:    ./transpose                 1024x1024, and two sizes that no tile divides
 *         ./transpose ROWS COLS       one size
 * Look:   margay profile ./transpose
 *
 * naive   Each thread copies in[row][col] to out[col][row]. The reads of a warp are contiguous; its writes are `rows`
 *         floats apart, so each of the 32 lanes writes another 32-byte sector: 32 sectors where 4 would do.
 * shared  A block copies a 32x32 tile through shared memory, so that the reads and the writes of global memory are both
 *         contiguous. The price is paid inside: a warp reads a column of the tile, the 32 elements of a column are 32
 *         words apart, and shared memory has 32 banks one word wide. All lanes meet in one bank: 32 passes, not 1.
 * padded  The same with 33 words a row. Elements of a column are 33 words apart, so they fall into 32 different banks.
 *
 * A block is 32x8 threads; each thread does 4 elements of the tile. Every element of the result is compared with the
 * input; a transpose moves bits, so they must be the same. Exits 0 if all is right, 1 on a mismatch, 2 on an error.
 */
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        cudaError_t check_error = (call);                                                                              \
        if (check_error != cudaSuccess) {                                                                              \
            fprintf(stderr, "%s:%d: %s: %s (%s)\n", __FILE__, __LINE__, #call, cudaGetErrorName(check_error),          \
                    cudaGetErrorString(check_error));                                                                  \
            exit(2);                                                                                                   \
        }                                                                                                              \
    } while (0)

#define TILE 32 /* a tile is TILE x TILE elements */
#define STEP 8  /* threads of a block in y */

__global__ void transpose_naive(float *out, const float *in, int rows, int cols)
{
    int col = blockIdx.x * TILE + threadIdx.x;
    for (int i = 0; i < TILE; i += STEP) {
        int row = blockIdx.y * TILE + threadIdx.y + i;
        if (row < rows && col < cols)
            out[(size_t)col * rows + row] = in[(size_t)row * cols + col];
    }
}

__global__ void transpose_shared(float *out, const float *in, int rows, int cols)
{
    __shared__ float tile[TILE][TILE];
    int col = blockIdx.x * TILE + threadIdx.x;
    for (int i = 0; i < TILE; i += STEP) {
        int row = blockIdx.y * TILE + threadIdx.y + i;
        if (row < rows && col < cols)
            tile[threadIdx.y + i][threadIdx.x] = in[(size_t)row * cols + col];
    }
    __syncthreads();
    int out_col = blockIdx.y * TILE + threadIdx.x; /* a column of out is a row of in */
    for (int i = 0; i < TILE; i += STEP) {
        int out_row = blockIdx.x * TILE + threadIdx.y + i;
        if (out_row < cols && out_col < rows)
            out[(size_t)out_row * rows + out_col] = tile[threadIdx.x][threadIdx.y + i];
    }
}

__global__ void transpose_padded(float *out, const float *in, int rows, int cols)
{
    __shared__ float tile[TILE][TILE + 1];
    int col = blockIdx.x * TILE + threadIdx.x;
    for (int i = 0; i < TILE; i += STEP) {
        int row = blockIdx.y * TILE + threadIdx.y + i;
        if (row < rows && col < cols)
            tile[threadIdx.y + i][threadIdx.x] = in[(size_t)row * cols + col];
    }
    __syncthreads();
    int out_col = blockIdx.y * TILE + threadIdx.x;
    for (int i = 0; i < TILE; i += STEP) {
        int out_row = blockIdx.x * TILE + threadIdx.y + i;
        if (out_row < cols && out_col < rows)
            out[(size_t)out_row * rows + out_col] = tile[threadIdx.x][threadIdx.y + i];
    }
}

struct version {
    const char *name;
    void (*kernel)(float *, const float *, int, int);
};
static const struct version versions[] = {
    {"naive", transpose_naive},
    {"shared", transpose_shared},
    {"padded", transpose_padded},
};

/* Runs every version on one size; returns the number of versions that are wrong. */
static int run(int rows, int cols)
{
    size_t count = (size_t)rows * cols, bytes = count * sizeof(float);
    float *in = (float *)malloc(bytes), *out = (float *)malloc(bytes), *dev_in, *dev_out;
    if (!in || !out) {
        fprintf(stderr, "transpose: out of memory\n");
        exit(2);
    }
    for (size_t i = 0; i < count; i++)
        in[i] = (float)(i % 16777213); /* exact, and different from its neighbours */
    CHECK(cudaMalloc(&dev_in, bytes));
    CHECK(cudaMalloc(&dev_out, bytes));
    CHECK(cudaMemcpy(dev_in, in, bytes, cudaMemcpyHostToDevice));

    int wrong = 0;
    dim3 block(TILE, STEP), grid((cols + TILE - 1) / TILE, (rows + TILE - 1) / TILE);
    for (const struct version &v : versions) {
        CHECK(cudaMemset(dev_out, 0xff, bytes)); /* so that an element nobody writes is seen */
        v.kernel<<<grid, block>>>(dev_out, dev_in, rows, cols);
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
        CHECK(cudaMemcpy(out, dev_out, bytes, cudaMemcpyDeviceToHost));
        size_t bad = 0;
        for (int r = 0; r < rows; r++)
            for (int c = 0; c < cols; c++)
                bad += memcmp(&out[(size_t)c * rows + r], &in[(size_t)r * cols + c], sizeof(float)) != 0;
        if (bad)
            printf("transpose %s %dx%d: %zu of %zu elements wrong\n", v.name, rows, cols, bad, count);
        else
            printf("transpose %s %dx%d: ok\n", v.name, rows, cols);
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
    if (argc == 3) {
        int rows = atoi(argv[1]), cols = atoi(argv[2]);
        if (rows < 1 || cols < 1 || rows > 65535 || cols > 65535) {
            fprintf(stderr, "transpose: ROWS and COLS are from 1 to 65535\n");
            return 2;
        }
        wrong = run(rows, cols);
    } else if (argc == 1) {
        wrong = run(1024, 1024) + run(333, 129) + run(1, 70);
    } else {
        fprintf(stderr, "usage: transpose [ROWS COLS]\n");
        return 2;
    }
    return wrong ? 1 : 0;
}
