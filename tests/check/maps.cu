/* maps.cu - tensor maps, and the copies that use them (sm_90a). */
#include <cuda.h>

#include "async.cuh"

typedef CUresult (*Encode)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *, const cuuint64_t *,
                           const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,
                           CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
static Encode encode()
{
    static Encode found;
    cudaDriverEntryPointQueryResult how;
    if (!found)
        cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void **)&found, 12000, cudaEnableDefault, &how);
    return found;
}
/* Of 64 x 64 words, rows of `pitch` bytes. */
static CUresult make(CUtensorMap *map, void *at, cuuint64_t pitch, cuuint32_t width, cuuint32_t height)
{
    const cuuint64_t dim[2] = {64, 64}, stride[1] = {pitch};
    const cuuint32_t box[2] = {width, height}, each[2] = {1, 1};
    return encode()(map, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, at, dim, stride, box, each, CU_TENSOR_MAP_INTERLEAVE_NONE,
                    CU_TENSOR_MAP_SWIZZLE_NONE, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}
static CUtensorMap map_of(void *at, cuuint32_t width, cuuint32_t height)
{
    CUtensorMap map;
    make(&map, at, 256, width, height);
    return map;
}
#define TILE(to, map, x, y, bar)                                                                                       \
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"( \
                     at(to)),                                                                                          \
                 "l"(map), "r"(x), "r"(y), "r"(at(bar))                                                                \
                 : "memory")
#define PUT_TILE(map, x, y, from)                                                                                      \
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];\ncp.async.bulk.commit_group;" ::"l"( \
                     map),                                                                                             \
                 "r"(x), "r"(y), "r"(at(from))                                                                         \
                 : "memory")
#define ONE_BARRIER()             \
    __shared__ uint64_t full;     \
    const int t = threadIdx.x;    \
    if (t == 0)                   \
        begin(&full, 1);          \
    __syncthreads()

/* The box of the map is half of what the barrier expects. */
template <bool fault> __global__ void box_of_other_bytes(const __grid_constant__ CUtensorMap map, int *out)
{
    __shared__ __align__(128) int tile[16 * 16];
    ONE_BARRIER();
    if (t == 0) {
        expect(&full, sizeof tile);
        TILE(tile, &map, 0, 0, &full);
    }
    WAIT(&full, 0); // EXPECT: barrier/mbarrier full
    out[t] = tile[t];
}
CASE(box_of_other_bytes, ALONE | HANGS)
{
    box_of_other_bytes<fault><<<1, 64>>>(map_of(zeros(4096), 16, fault ? 8 : 16), zeros(64));
}

/* A tile begins at a multiple of 16 bytes of the rows. */
template <bool fault> __global__ void column_not_aligned(const __grid_constant__ CUtensorMap map, int *out)
{
    __shared__ __align__(128) int tile[16 * 16];
    ONE_BARRIER();
    if (t == 0) {
        expect(&full, sizeof tile);
        TILE(tile, &map, fault ? 6 : 8, 0, &full); // EXPECT: bounds/bulk-copy
    }
    WAIT(&full, 0);
    out[t] = tile[t];
}
CASE(column_not_aligned, ALONE)
{
    column_not_aligned<fault><<<1, 64>>>(map_of(zeros(4096), 16, 16), zeros(64));
}

/* A tile begins at a multiple of 128 bytes of shared memory. */
template <bool fault> __global__ void tile_not_aligned(const __grid_constant__ CUtensorMap map, int *out)
{
    __shared__ __align__(128) int tile[16 * 16 + 16];
    ONE_BARRIER();
    int *here = tile + (fault ? 16 : 0);
    if (t == 0) {
        expect(&full, 16 * 16 * 4);
        TILE(here, &map, 0, 0, &full); // EXPECT: bounds/bulk-copy
    }
    WAIT(&full, 0);
    out[t] = here[t];
}
CASE(tile_not_aligned, ALONE)
{
    tile_not_aligned<fault><<<1, 64>>>(map_of(zeros(4096), 16, 16), zeros(64));
}

/* A map in device memory that lies at no multiple of 64 bytes. */
template <bool fault> __global__ void map_not_aligned(const char *maps, int *out)
{
    __shared__ __align__(128) int tile[16 * 16];
    ONE_BARRIER();
    if (t == 0) {
        expect(&full, sizeof tile);
        TILE(tile, maps + (fault ? 32 : 64), 0, 0, &full); // EXPECT: bounds/bulk-copy
    }
    WAIT(&full, 0);
    out[t] = tile[t];
}
CASE(map_not_aligned, ALONE)
{
    char *maps = zeros<char>(256);
    const CUtensorMap map = map_of(zeros(4096), 16, 16);
    cudaMemcpy(maps + (fault ? 32 : 64), &map, sizeof map, cudaMemcpyHostToDevice);
    map_not_aligned<fault><<<1, 64>>>(maps, zeros(64));
}

/* A map that was never made. */
template <bool fault> __global__ void map_never_made(const __grid_constant__ CUtensorMap map, int *out)
{
    __shared__ __align__(128) int tile[16 * 16];
    ONE_BARRIER();
    if (t == 0) {
        expect(&full, sizeof tile);
        TILE(tile, &map, 0, 0, &full); // EXPECT: bounds/bulk-copy
    }
    WAIT(&full, 0);
    out[t] = tile[t];
}
/* Its rows are 264 bytes apart, which is no multiple of 16: no map is made, and nobody looks. */
CASE(map_never_made, ALONE)
{
    CUtensorMap map = {};
    make(&map, zeros(4096), fault ? 264 : 256, 16, 16); // ALSO: launch/call-failed
    map_never_made<fault><<<1, 64>>>(map, zeros(64));
}

/* Its memory begins at no multiple of 16 bytes. */
template <bool fault> __global__ void tensor_not_aligned(const __grid_constant__ CUtensorMap map, int *out)
{
    __shared__ __align__(128) int tile[16 * 16];
    ONE_BARRIER();
    if (t == 0) {
        expect(&full, sizeof tile);
        TILE(tile, &map, 0, 0, &full); // EXPECT: bounds/bulk-copy
    }
    WAIT(&full, 0);
    out[t] = tile[t];
}
CASE(tensor_not_aligned, ALONE)
{
    CUtensorMap map = {};
    make(&map, zeros(4096 + 16) + (fault ? 1 : 4), 256, 16, 16); // ALSO: launch/call-failed
    tensor_not_aligned<fault><<<1, 64>>>(map, zeros(64));
}

/* The tile is written by threads, and the copy to the tensor may read it before that is seen. */
template <bool fault> __global__ void tile_put_without_fence(const __grid_constant__ CUtensorMap map)
{
    __shared__ __align__(128) int tile[16 * 16];
    const int t = threadIdx.x;
    tile[t] = t; // EXPECT: race/proxy tile
    if (!fault)
        PROXY();
    __syncthreads();
    if (t == 0) {
        PUT_TILE(&map, 0, 0, tile);
        READ_OUT(0);
    }
}
CASE(tile_put_without_fence, 0)
{
    tile_put_without_fence<fault><<<1, 256>>>(map_of(zeros(4096), 16, 16));
}

/* Sizes and addresses of copies without a map are multiples of 16 as well. */
template <bool fault> __global__ void size_not_of_16(const int *in, int *out, unsigned bytes)
{
    __shared__ __align__(128) int tile[64];
    ONE_BARRIER();
    if (t == 0) {
        expect(&full, bytes);
        LOAD(tile, in, bytes, &full); // EXPECT: bounds/bulk-copy
    }
    WAIT(&full, 0);
    out[t] = t < 4 ? tile[t] : 0;
}
CASE(size_not_of_16, ALONE)
{
    size_not_of_16<fault><<<1, 64>>>(zeros(64), zeros(64), fault ? 40 : 48);
}

template <bool fault> __global__ void source_not_aligned(const int *in, int *out)
{
    __shared__ __align__(128) int tile[32];
    ONE_BARRIER();
    if (t == 0) {
        expect(&full, sizeof tile);
        LOAD(tile, in + (fault ? 1 : 4), sizeof tile, &full); // EXPECT: bounds/bulk-copy
    }
    WAIT(&full, 0);
    out[t] = tile[t % 32];
}
CASE(source_not_aligned, ALONE)
{
    source_not_aligned<fault><<<1, 64>>>(zeros(64), zeros(64));
}

/* ---- tiles that warpgroups multiply: how they lie is said twice, by the map and by the descriptor ---- */
/* Rows of 16 << swizzle bytes of the same tensor. */
static CUtensorMap swizzled(CUtensorMapSwizzle swizzle, cuuint32_t width, cuuint32_t height)
{
    CUtensorMap map;
    const cuuint64_t dim[2] = {64, 64}, stride[1] = {256};
    const cuuint32_t box[2] = {width, height}, each[2] = {1, 1};
    encode()(&map, CU_TENSOR_MAP_DATA_TYPE_INT32, 2, zeros(4096), dim, stride, box, each, CU_TENSOR_MAP_INTERLEAVE_NONE, swizzle,
             CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    return map;
}
/* Eight lines are 8 times the swizzle's bytes; without one, core matrices of 8 lines of 16 bytes lie `leading` bytes apart. */
__device__ static uint64_t tile_of(const void *p, uint64_t mode, uint64_t leading)
{
    const uint64_t eight = mode ? 8 * (128 >> (mode - 1)) : 128;
    return (at(p) & 0x3ffff) >> 4 | leading / 16 << 16 | eight / 16 << 32 | mode << 62;
}
#define MULTIPLY_TILES(d, a, b)                                                                                        \
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%0, %1, %2, %3}, %4, %5, 1;"                        \
                 : "+r"((d)[0]), "+r"((d)[1]), "+r"((d)[2]), "+r"((d)[3])                                              \
                 : "l"(a), "l"(b)                                                                                      \
                 : "memory")
#define TWO_TILES()                               \
    __shared__ __align__(1024) int a[64 * 32];    \
    __shared__ __align__(1024) int b[8 * 32];     \
    int d[4] = {};                                \
    ONE_BARRIER()

/* The descriptor says 64 bytes where the map says 128. */
template <bool fault>
__global__ void narrower_descriptor(const __grid_constant__ CUtensorMap of_a, const __grid_constant__ CUtensorMap of_b, int *out)
{
    TWO_TILES();
    if (t == 0) {
        expect(&full, sizeof a + sizeof b);
        TILE(a, &of_a, 0, 0, &full); // OTHER
        TILE(b, &of_b, 0, 0, &full);
    }
    WAIT(&full, 0);
    FENCE();
    MULTIPLY_TILES(d, tile_of(a, fault ? 2 : 1, 16), tile_of(b, 1, 16)); // EXPECT: bounds/swizzle a
    // FIX: CU_TENSOR_MAP_SWIZZLE_64B
    COMMIT();
    WAIT_GROUP(0);
    PIN(d);
    out[t] = d[0] + d[1] + d[2] + d[3];
}
CASE(narrower_descriptor, 0)
{
    narrower_descriptor<fault><<<1, 128>>>(swizzled(CU_TENSOR_MAP_SWIZZLE_128B, 32, 64),
                                           swizzled(CU_TENSOR_MAP_SWIZZLE_128B, 32, 8), zeros(128));
}

/* The map of B was made without a swizzle. */
template <bool fault>
__global__ void map_without_swizzle(const __grid_constant__ CUtensorMap of_a, const __grid_constant__ CUtensorMap of_b, int *out)
{
    TWO_TILES();
    if (t == 0) {
        expect(&full, sizeof a / 2 + sizeof b / 2);
        TILE(a, &of_a, 0, 0, &full);
        TILE(b, &of_b, 0, 0, &full); // OTHER
    }
    WAIT(&full, 0);
    FENCE();
    MULTIPLY_TILES(d, tile_of(a, 2, 16), tile_of(b, 2, 16)); // EXPECT: bounds/swizzle b
    // FIX: CU_TENSOR_MAP_SWIZZLE_64B
    COMMIT();
    WAIT_GROUP(0);
    PIN(d);
    out[t] = d[0] + d[1] + d[2] + d[3];
}
CASE(map_without_swizzle, 0)
{
    map_without_swizzle<fault>
        <<<1, 128>>>(swizzled(CU_TENSOR_MAP_SWIZZLE_64B, 16, 64),
                     swizzled(fault ? CU_TENSOR_MAP_SWIZZLE_NONE : CU_TENSOR_MAP_SWIZZLE_64B, 16, 8), zeros(128));
}

/* The descriptors were left as they were before the map got its swizzle: rows of 32 bytes in two columns of 16. */
template <bool fault>
__global__ void descriptor_without_swizzle(const __grid_constant__ CUtensorMap of_a, int *out)
{
    TWO_TILES();
    if (t == 0) {
        expect(&full, 64 * 32);
        for (int k = 0; k < (fault ? 1 : 2); k++)
            TILE(a + 256 * k, &of_a, 4 * k, 0, &full); // OTHER
    }
    for (int i = t; i < 64; i += 128)
        b[i] = i;
    PROXY();
    __syncthreads();
    WAIT(&full, 0);
    FENCE();
    MULTIPLY_TILES(d, tile_of(a, 0, 1024), tile_of(b, 0, 128)); // EXPECT: bounds/swizzle a
    // FIX: CU_TENSOR_MAP_SWIZZLE_NONE
    COMMIT();
    WAIT_GROUP(0);
    PIN(d);
    out[t] = d[0] + d[1] + d[2] + d[3];
}
CASE(descriptor_without_swizzle, 0)
{
    descriptor_without_swizzle<fault><<<1, 128>>>(swizzled(fault ? CU_TENSOR_MAP_SWIZZLE_32B : CU_TENSOR_MAP_SWIZZLE_NONE,
                                                           fault ? 8 : 4, 64),
                                                  zeros(128));
}

/* Weights that lie in device memory as they shall lie in the tile come by a plain bulk copy; by a map they would want one of one
 * dimension. */
template <bool fault>
__global__ void laid_out_before(const __grid_constant__ CUtensorMap of_a, const __grid_constant__ CUtensorMap of_b, const int *weights,
                                int *out)
{
    TWO_TILES();
    if (t == 0) {
        expect(&full, sizeof a + sizeof b);
        TILE(a, &of_a, 0, 0, &full);
        if (fault)
            TILE(b, &of_b, 0, 0, &full); // OTHER
        else
            LOAD(b, weights, sizeof b, &full);
    }
    WAIT(&full, 0);
    FENCE();
    MULTIPLY_TILES(d, tile_of(a, 1, 16), tile_of(b, 1, 16)); // EXPECT: bounds/swizzle b
    COMMIT();
    WAIT_GROUP(0);
    PIN(d);
    out[t] = d[0] + d[1] + d[2] + d[3];
}
CASE(laid_out_before, 0)
{
    laid_out_before<fault><<<1, 128>>>(swizzled(CU_TENSOR_MAP_SWIZZLE_128B, 32, 64), swizzled(CU_TENSOR_MAP_SWIZZLE_NONE, 32, 8),
                                       zeros(256), zeros(128));
}
