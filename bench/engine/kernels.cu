/* kernels.cu - what bench_engine runs, in CUDA C; kernels.cl is the same in OpenCL C, line by line.
 *
 * kernels.ptx is what nvcc makes of this file, kept so that the benchmark runs where nvcc is not:
 *
 *     nvcc -ptx -arch=compute_90 kernels.cu -o kernels.ptx
 *
 * Sizes are multiples of the tiles here (the examples have the general forms), but the bounds are still checked, as in
 * any real kernel. The last argument is the size; the first is what is written.
 */
#define TILE 16

extern "C" __global__ void matmul_naive(float *c, const float *a, const float *b, int n)
{
    int col = blockIdx.x * blockDim.x + threadIdx.x;
    int row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= n || col >= n)
        return;
    float sum = 0.0f;
    for (int k = 0; k < n; k++)
        sum += a[row * n + k] * b[k * n + col];
    c[row * n + col] = sum;
}

extern "C" __global__ void matmul_tiled(float *c, const float *a, const float *b, int n)
{
    __shared__ float tile_a[TILE][TILE];
    __shared__ float tile_b[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y;
    int col = blockIdx.x * TILE + x;
    int row = blockIdx.y * TILE + y;
    float sum = 0.0f;
    for (int base = 0; base < n; base += TILE) {
        tile_a[y][x] = row < n && base + x < n ? a[row * n + base + x] : 0.0f;
        tile_b[y][x] = base + y < n && col < n ? b[(base + y) * n + col] : 0.0f;
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            sum += tile_a[y][k] * tile_b[k][x];
        __syncthreads();
    }
    if (row < n && col < n)
        c[row * n + col] = sum;
}

/* One sum a block of 256. */
extern "C" __global__ void reduce(float *out, const float *in, int n)
{
    __shared__ float sums[256];
    int t = threadIdx.x, i = blockIdx.x * 256 + t;
    sums[t] = i < n ? in[i] : 0.0f;
    __syncthreads();
    for (int s = 128; s > 0; s /= 2) {
        if (t < s)
            sums[t] += sums[t + s];
        __syncthreads();
    }
    if (t == 0)
        out[blockIdx.x] = sums[0];
}

extern "C" __global__ void transpose_naive(float *out, const float *in, int n)
{
    int col = blockIdx.x * 32 + threadIdx.x;
    for (int i = 0; i < 32; i += 8) {
        int row = blockIdx.y * 32 + threadIdx.y + i;
        if (row < n && col < n)
            out[col * n + row] = in[row * n + col];
    }
}

extern "C" __global__ void transpose_tiled(float *out, const float *in, int n)
{
    __shared__ float tile[32][33];
    int col = blockIdx.x * 32 + threadIdx.x;
    for (int i = 0; i < 32; i += 8) {
        int row = blockIdx.y * 32 + threadIdx.y + i;
        if (row < n && col < n)
            tile[threadIdx.y + i][threadIdx.x] = in[row * n + col];
    }
    __syncthreads();
    int out_col = blockIdx.y * 32 + threadIdx.x;
    for (int i = 0; i < 32; i += 8) {
        int out_row = blockIdx.x * 32 + threadIdx.y + i;
        if (out_row < n && out_col < n)
            out[out_row * n + out_col] = tile[threadIdx.x][threadIdx.y + i];
    }
}

extern "C" __global__ void histogram(unsigned *bins, const unsigned char *data, int n)
{
    __shared__ unsigned counts[256];
    counts[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += gridDim.x * 256)
        atomicAdd(&counts[data[i]], 1u);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], counts[threadIdx.x]);
}
