/* kernels.cu - kernels with a known best remedy, each beside what must be the first advice for it.
 *
 * Above a kernel stands
 *     // ADVISE <kernel>: <id> [name=value ...] [twin=<kernel>]
 * here and in the files included below; test_advise.py holds the report to it: the first piece of advice is `id`, its
 * values (with then=ID, those of the second piece, which is ID; or the launch's: uses.., and counts of the record) are
 * those given, with says=some_words its sentences have these, with without=ID no piece is ID, and the counters that
 * it predicts are those that the twin, the same kernel with the advice followed, is then profiled with. Every kernel is
 * launched once; results are not looked at here, but kernels and twins are written to compute something, so that the
 * compiler leaves them alone.
 *
 * Usage: kernels [NAME ...]: all, or those named.
 */
#include <cub/block/block_scan.cuh>
#include <cuda_pipeline.h>
#include <cuda_runtime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N (1024 * 1024) /* floats of the one-dimensional kernels: large enough to fill a device */
#define W 1024          /* rows and columns of the two-dimensional ones */
#define M 512           /* of products, whose sums have 64 terms */
#define NEAR (N / 8 - 1) /* indices of what the second cache has: where all blocks go, it is the accesses that count */

/* ---- nothing to do ---- */

// ADVISE vector_add: nothing
__global__ void vector_add(float *c, const float *a, const float *b)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    c[i] = a[i] + b[i];
}

// ADVISE vector_scale4: nothing
__global__ void vector_scale4(float4 *c, const float4 *a)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 v = a[i];
    c[i] = make_float4(v.x * 2, v.y * 2, v.z * 2, v.w * 2);
}

// ADVISE does_nothing: nothing
__global__ void does_nothing(float *c, const float *a)
{
    if (c == a)
        c[threadIdx.x] = 0;
}

/* Each byte is read twice in a block: about even, so shared memory does not pay. */
// ADVISE two_reads: nothing verdict=no
__global__ void two_reads(float *c, const float *a)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    c[i] = a[i] + a[i ^ 1];
}

#include "shared.cuh"
#include "global.cuh"
#include "block.cuh"
#include "grid.cuh"

/* ---- main ---- */
static bool wanted(int argc, char **argv, const char *name)
{
    for (int i = 1; i < argc; i++)
        if (!strcmp(argv[i], name))
            return true;
    return argc == 1;
}

int main(int argc, char **argv)
{
    size_t bytes = 16u << 20;
    float *out, *a, *b;
    int *index, *host = (int *)malloc(bytes);
    unsigned seed = 12345;
    for (size_t i = 0; i < bytes / 4; i++) {
        seed = seed * 1664525u + 1013904223u;
        host[i] = (int)(seed >> 8) & (N - 1);
    }
    cudaMalloc(&out, bytes);
    cudaMalloc(&a, bytes);
    cudaMalloc(&b, bytes);
    cudaMalloc(&index, bytes);
    cudaMemset(a, 0, bytes);
    cudaMemset(b, 0, bytes);
    cudaMemcpy(index, host, bytes, cudaMemcpyHostToDevice);
    cudaFuncSetAttribute(much_shared, cudaFuncAttributeMaxDynamicSharedMemorySize, 100 * 1024);
    cudaFuncSetAttribute(four_blocks, cudaFuncAttributeMaxDynamicSharedMemorySize, 72 * 1024);
    cudaFuncSetAttribute(three_blocks, cudaFuncAttributeMaxDynamicSharedMemorySize, 72 * 1024);
    dim3 tile(32, 8), grid(W / 32, W / 32), t16(16, 16), g16(W / 16, W / 16), gm(M / 16, M / 16);

#define RUN(name, ...)                  \
    if (wanted(argc, argv, #name)) {    \
        name __VA_ARGS__;               \
    }
    RUN(vector_add, <<<N / 256, 256>>>(out, a, b))
    RUN(vector_scale4, <<<N / 4 / 256, 256>>>((float4 *)out, (float4 *)a))
    RUN(does_nothing, <<<16, 256>>>(out, a))
    RUN(two_reads, <<<N / 256, 256>>>(out, a))
    RUN(transpose_naive, <<<grid, tile>>>(out, a))
    RUN(transpose_shared, <<<grid, tile>>>(out, a))
    RUN(transpose_padded, <<<grid, tile>>>(out, a))
    RUN(transpose_swizzled, <<<grid, tile>>>(out, a))
    RUN(transpose16_shared, <<<g16, t16>>>(out, a))
    RUN(transpose16_padded, <<<g16, t16>>>(out, a))
    RUN(transpose_double, <<<dim3(M / 32, M / 32), tile>>>((double *)out, (double *)a))
    RUN(transpose_double_padded, <<<dim3(M / 32, M / 32), tile>>>((double *)out, (double *)a))
    RUN(tile_of_48k, <<<528, tile>>>(out, a))
    RUN(tile_of_48k_swizzled, <<<528, tile>>>(out, a))
    RUN(stride_of_two, <<<N / 512, 256>>>(out, a))
    RUN(stride_of_two_padded, <<<N / 512, 256>>>(out, a))
    RUN(lanes_32_apart, <<<N / 2048, 64>>>(out, a))
    RUN(lanes_33_apart, <<<N / 2048, 64>>>(out, a))
    RUN(hadamard, <<<N / 512, 256>>>(out, a))
    RUN(hadamard_turned, <<<N / 512, 256>>>(out, a))
    RUN(matmul_naive, <<<gm, t16>>>(out, a, b))
    RUN(matmul_exchanged, <<<gm, t16>>>(out, a, b))
    RUN(matmul_tiled, <<<gm, t16>>>(out, a, b))
    RUN(matmul_columns, <<<gm, t16>>>(out, a, b))
    RUN(matmul_by_rows, <<<gm, t16>>>(out, a, b))
    RUN(matmul_copies, <<<gm, t16>>>(out, a, b))
    RUN(add_by_columns, <<<g16, t16>>>(out, a, b))
    RUN(add_by_rows, <<<g16, t16>>>(out, a, b))
    RUN(eliminate, <<<dim3(W / 16 - 1, W / 16 - 1), t16>>>(b, 4))
    RUN(write_columns, <<<dim3(W / 32, W / 8), tile>>>(out))
    RUN(write_rows, <<<dim3(W / 32, W / 8), tile>>>(out))
    RUN(copy_chunks, <<<N / 4096, 256>>>(out, a))
    RUN(copy_strided, <<<N / 4096, 256>>>(out, a))
    RUN(filter_rows, <<<N / 16 / 128, 128>>>(out, a, 16))
    if (wanted(argc, argv, "walk_tree")) {
        node *tree = (node *)host; /* a heap of 2^17 nodes */
        for (int i = 0; i < 1 << 17; i++)
            tree[i] = {{(2 * i + 1) & ((1 << 17) - 1), (2 * i + 2) & ((1 << 17) - 1)}, i & 7};
        cudaMemcpy(b, host, sizeof(node) << 17, cudaMemcpyHostToDevice);
        walk_tree<<<N / 256, 256>>>((int *)out, index, (node *)b);
        walk_fields<<<N / 256, 256>>>((int *)out, index, (node *)b);
        cudaMemset(b, 0, bytes);
    }
    RUN(sum_rows, <<<N / 64 / 128, 128>>>(out, a))
    RUN(sum_rows_tiled, <<<N / 64 / 128, 128>>>(out, a))
    RUN(sum_fields, <<<N / 256, 256>>>(out, a))
    RUN(sum_vector, <<<N / 256, 256>>>(out, (float4 *)a))
    RUN(one_field, <<<N / 4 / 256, 256>>>(out, (particle *)a))
    RUN(lengths, <<<N / 256, 256>>>(out, (point *)a))
    RUN(lengths_apart, <<<N / 256, 256>>>(out, a, a + N / 4, a + N / 2))
    RUN(one_array, <<<N / 4 / 256, 256>>>(out, a))
    RUN(every_32nd, <<<N / 8 / 256, 256>>>(out, a))
    RUN(packed, <<<N / 8 / 256, 256>>>(out, a))
    RUN(broadcast, <<<N / 4 / 256, 256>>>(out, a))
    RUN(shifted, <<<N / 256, 256>>>(out, a))
    RUN(aligned, <<<N / 256, 256>>>(out, a))
    RUN(narrow_block, <<<dim3(W / 4, W / 64), dim3(4, 64)>>>(out, a))
    RUN(wide_block, <<<dim3(W / 32, W / 8), tile>>>(out, a))
    RUN(column_block, <<<dim3(W, W / 256), dim3(1, 256)>>>(out, a))
    RUN(column_of_pairs, <<<W / 2, 256>>>((float2 *)out, (float2 *)a))
    RUN(columns_of_pairs, <<<W / 8, 256>>>((float2 *)out, (float2 *)a))
    RUN(column_of_bins, <<<24, 256>>>((int *)out, index))
    RUN(gather, <<<N / 256, 256>>>(out, a, index))
    RUN(whole_sectors, <<<N / 256, 256>>>((int *)out, (uint4 *)a))
    RUN(look_up, <<<N / 2048, 256>>>(out, index, a))
    RUN(look_up_constant, <<<N / 2048, 256>>>(out, index))
    RUN(look_up_constant_often, <<<N / 2048, 256>>>(out, index))
    RUN(look_up_shared, <<<N / 2048, 256>>>(out, index, a))
    RUN(coefficients, <<<N / 4 / 256, 256>>>(out, a))
    RUN(smooth3, <<<N / 4 / 256, 256>>>(out, a))
    RUN(smooth3_tiled, <<<N / 4 / 256, 256>>>(out, a))
    RUN(blur3x3_tiled, <<<dim3(W / 32, W / 16), dim3(32, 16)>>>(out, a))
    RUN(stencil9, <<<N / 4 / 256, 256>>>(out, a))
    RUN(stencil9_tiled, <<<N / 4 / 256, 256>>>(out, a))
    RUN(blur5x5, <<<g16, t16>>>(out, a))
    RUN(through_ldmatrix, <<<N / 4 / 256, 256>>>((uint4 *)out, (uint4 *)a))
    RUN(staged_once, <<<N / 256, 256>>>(out, a))
    RUN(not_staged, <<<N / 256, 256>>>(out, a))
    RUN(reversed_tile, <<<N / 256, 256>>>(out, a))
    RUN(reversed, <<<N / 256, 256>>>(out, a))
    RUN(reversed_in_place, <<<N / 256, 256>>>(b))
    RUN(turn_in_warps, <<<N / 4 / 256, 256>>>(out, a))
    RUN(histogram_global, <<<256, 256>>>((unsigned *)out, index))
    RUN(histogram_once, <<<8192, 32>>>((unsigned *)out, index))
    RUN(histogram_shared, <<<264, 256>>>((unsigned *)out, index))
    RUN(dot_global, <<<N / 256, 256>>>(out, a, b))
    RUN(dot_in_blocks, <<<8192, 32>>>(out, a, b))
    RUN(compact, <<<1024, 256>>>((int *)out, (int *)a + 3 * N, index))
    RUN(sort_few, <<<264, 256>>>((int *)out, index))
    RUN(scan_by_cub, <<<1, 256>>>((int *)out, index, 1024))
    RUN(histogram_few, <<<264, 256>>>((unsigned *)out, index))
    RUN(sum_shared_float, <<<N / 256, 256>>>(out, a))
    RUN(reduce_interleaved, <<<N / 256, 256>>>(out, a))
    RUN(reduce_spread, <<<N / 256, 256>>>(out, a))
    RUN(reduce_halves, <<<N / 256, 256>>>(out, a))
    RUN(tridiagonal, <<<N / 256, 256>>>(out, a))
    RUN(tridiagonal_halved, <<<N / 256, 128>>>(out, a))
    RUN(whole_numbers, <<<N / 256, 256>>>((unsigned *)out, (unsigned *)index, 1000003))
    RUN(made_of_index, <<<N / 256, 256>>>((unsigned *)out, 1000003))
    RUN(steps_to_leave, <<<N / 256, 256>>>((unsigned short *)out, 400))
    RUN(along_diagonals, <<<N / 256, 256>>>((unsigned char *)out, (unsigned char *)index, (unsigned char *)a))
    RUN(pulls, <<<160, 256>>>(out, a))
    RUN(sweeps, <<<N / 256, dim3(32, 8)>>>(out, a))
    RUN(normalise_rows, <<<1056, 256>>>(out, a))
    RUN(normalise_kept, <<<1056, 256>>>(out, a))
    RUN(sum_in_warps, <<<N / 256, 256>>>(out, a))
    RUN(block_of_40, <<<6400, 40>>>(out, a))
    RUN(block_of_16, <<<16384, 16>>>(out, a))
    RUN(block_of_33, <<<6400, 33>>>(out, a))
    RUN(block_of_100, <<<9600, 100>>>(out, a))
    RUN(exchange_pairs, <<<N / 256, 256>>>(b, 4))
    RUN(odd_and_even, <<<1024, 256>>>(out, a))
    RUN(much_shared, <<<1056, 128, 100 * 1024>>>(out, a))
    RUN(three_blocks, <<<POOLS, 256, 72 * 1024>>>(out, a))
    RUN(four_blocks, <<<POOLS, 256, 56 * 1024>>>(out, a))
    RUN(many_registers, <<<528, 256>>>(out, a))
    RUN(bounded_registers, <<<528, 256>>>(out, a))
    RUN(few_chains, <<<2, 32>>>(out, 2000))
    RUN(chain_a_block, <<<64, 1>>>(out, 2000))
    RUN(few_stacks, <<<2, 32>>>((int *)out, index, 200))
    RUN(few_sums, <<<8, 256>>>(out, a))
    RUN(few_rings, <<<8, 256>>>(out, a))
    float *managed;
    cudaMallocManaged(&managed, 2 * bytes);
    memset(managed, 0, 2 * bytes);
    RUN(pages_of_host, <<<N / 256, 256>>>(managed, managed + N))
    for (int k = 0; argc > 1 && k < 16; k++)
        if (wanted(argc, argv, "pages_between")) { /* they are the host's again */
#if CUDART_VERSION >= 13000
            cudaMemPrefetchAsync(managed, bytes, {cudaMemLocationTypeHost, 0}, 0, 0);
#else
            cudaMemPrefetchAsync(managed, bytes, cudaCpuDeviceId, 0);
#endif
            vector_add<<<2, 256>>>(out, managed, b);
        }
    cudaFree(managed);
    cudaMallocManaged(&managed, 2 * bytes);
    memset(managed, 0, 2 * bytes);
#if CUDART_VERSION >= 13000
    cudaMemLocation device = {cudaMemLocationTypeDevice, 0};
    cudaMemPrefetchAsync(managed, 2 * bytes, device, 0, 0);
#else
    cudaMemPrefetchAsync(managed, 2 * bytes, 0, 0);
#endif
    RUN(pages_ahead, <<<N / 256, 256>>>(managed, managed + N))
    cudaFree(managed);
    RUN(neighbours, <<<12, 256>>>((int *)out, (unsigned long long *)a, 3000))
    RUN(push_all, <<<32, 128>>>((unsigned *)out, (unsigned *)b))
    RUN(matrix_a_warp, <<<528, 128>>>((int *)out, index))
    RUN(last_warp, <<<2, 64>>>(out, a, 100))
    RUN(steps_of_a_block, <<<1, 64>>>(out, a, 200))
    void *args[] = {&a, &out};
    if (wanted(argc, argv, "steps_of_a_grid"))
        cudaLaunchCooperativeKernel((const void *)steps_of_a_grid, dim3(4), dim3(128), args, 0, 0);
    for (int k = 0; argc > 1 && k < 200; k++)
        if (wanted(argc, argv, "many_launches"))
            vector_add<<<1 + k % 2, 256>>>(out, a, b);
    for (int k = 0; argc > 1 && k < 20; k++)
        if (wanted(argc, argv, "other_arguments"))
            vector_add<<<2, 256>>>(out + 512 * k, a, b);
    if (argc > 1 && wanted(argc, argv, "out_of_bounds"))
        out_of_bounds<<<4, 64>>>(out);
    cudaError_t error = cudaDeviceSynchronize();
    if (error != cudaSuccess)
        printf("%s\n", cudaGetErrorString(error));
    free(host);
    return error != cudaSuccess;
}
