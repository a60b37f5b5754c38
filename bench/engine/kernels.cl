/* kernels.cl - kernels.cu in OpenCL C, line by line, for the peer that bench_engine measures itself against.
 *
 * Indices are size_t, as get_local_id() and its kin return: with int ones PoCL 3.1 does not turn the work-items of the
 * tiled matrix multiplication into vector code and takes four times as long. The peer is given its better form, and the
 * promise that buffers do not overlap.
 */
#define TILE 16

__kernel void matmul_naive(__global float *restrict c, __global const float *restrict a,
                           __global const float *restrict b, uint n)
{
    size_t col = get_group_id(0) * get_local_size(0) + get_local_id(0);
    size_t row = get_group_id(1) * get_local_size(1) + get_local_id(1);
    if (row >= n || col >= n)
        return;
    float sum = 0.0f;
    for (size_t k = 0; k < n; k++)
        sum += a[row * n + k] * b[k * n + col];
    c[row * n + col] = sum;
}

__kernel void matmul_tiled(__global float *restrict c, __global const float *restrict a,
                           __global const float *restrict b, uint n)
{
    __local float tile_a[TILE][TILE];
    __local float tile_b[TILE][TILE];
    size_t x = get_local_id(0), y = get_local_id(1);
    size_t col = get_group_id(0) * TILE + x;
    size_t row = get_group_id(1) * TILE + y;
    float sum = 0.0f;
    for (size_t base = 0; base < n; base += TILE) {
        tile_a[y][x] = row < n && base + x < n ? a[row * n + base + x] : 0.0f;
        tile_b[y][x] = base + y < n && col < n ? b[(base + y) * n + col] : 0.0f;
        barrier(CLK_LOCAL_MEM_FENCE);
        for (size_t k = 0; k < TILE; k++)
            sum += tile_a[y][k] * tile_b[k][x];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (row < n && col < n)
        c[row * n + col] = sum;
}

__kernel void reduce(__global float *restrict out, __global const float *restrict in, uint n)
{
    __local float sums[256];
    size_t t = get_local_id(0), i = get_group_id(0) * 256 + t;
    sums[t] = i < n ? in[i] : 0.0f;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t s = 128; s > 0; s /= 2) {
        if (t < s)
            sums[t] += sums[t + s];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (t == 0)
        out[get_group_id(0)] = sums[0];
}

__kernel void transpose_naive(__global float *restrict out, __global const float *restrict in, uint n)
{
    size_t col = get_group_id(0) * 32 + get_local_id(0);
    for (size_t i = 0; i < 32; i += 8) {
        size_t row = get_group_id(1) * 32 + get_local_id(1) + i;
        if (row < n && col < n)
            out[col * n + row] = in[row * n + col];
    }
}

__kernel void transpose_tiled(__global float *restrict out, __global const float *restrict in, uint n)
{
    __local float tile[32][33];
    size_t x = get_local_id(0), y = get_local_id(1);
    size_t col = get_group_id(0) * 32 + x;
    for (size_t i = 0; i < 32; i += 8) {
        size_t row = get_group_id(1) * 32 + y + i;
        if (row < n && col < n)
            tile[y + i][x] = in[row * n + col];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    size_t out_col = get_group_id(1) * 32 + x;
    for (size_t i = 0; i < 32; i += 8) {
        size_t out_row = get_group_id(0) * 32 + y + i;
        if (out_row < n && out_col < n)
            out[out_row * n + out_col] = tile[x][y + i];
    }
}

__kernel void histogram(__global unsigned *bins, __global const uchar *data, uint n)
{
    __local unsigned counts[256];
    counts[get_local_id(0)] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (size_t i = get_group_id(0) * 256 + get_local_id(0); i < n; i += get_num_groups(0) * 256)
        atomic_inc(&counts[data[i]]);
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&bins[get_local_id(0)], counts[get_local_id(0)]);
}
