/* kernels.cu - what bench_matrix runs: C = A B by ldmatrix and mma.sync, and by tensor copies and wgmma, in five types;
 * copies by bulk and by tensor copies. nvcc -ptx -std=c++17 -arch=compute_90a makes kernels.ptx of it, which is kept in
 * the tree.
 *
 * A lies by rows, B by columns: of both, lines of k elements. A block has 128 x 128 of C, of 32 bits. For mma, tiles have
 * lines of 64 bytes, whose 16-byte pieces change places, and come by cp.async in three stages; for wgmma, lines of 128
 * bytes, swizzled, and come by tensor copies. A step of 32 bytes of k is one instruction either way.
 */
#include <cstdint>

#define STAGES 3
#define THREADS 256

static __device__ unsigned shared(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}
static __device__ unsigned place(unsigned line, unsigned piece)
{
    return line * 64 + (piece ^ line / 2 % 4) * 16;
}

static __device__ void fetch(unsigned char (*stage)[128 * 64], const unsigned char *a, const unsigned char *b,
                             size_t pitch)
{
    for (int i = threadIdx.x; i < 128 * 4; i += THREADS) {
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared(stage[0] + place(i / 4, i % 4))),
                     "l"(a + i / 4 * pitch + i % 4 * 16));
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared(stage[1] + place(i / 4, i % 4))),
                     "l"(b + i / 4 * pitch + i % 4 * 16));
    }
}

#define GEMM(name, what)                                                                                               \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                              \
        name(uint32_t *c, const unsigned char *a, const unsigned char *b, int n, int pitch)                            \
    {                                                                                                                  \
        __shared__ __align__(128) unsigned char stages[STAGES][2][128 * 64];                                           \
        const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, row = warp / 4 * 64, column = warp % 4 * 32;       \
        unsigned sum[4][4][4] = {};                                                                                    \
        a += (size_t)blockIdx.y * 128 * pitch;                                                                         \
        b += (size_t)blockIdx.x * 128 * pitch;                                                                         \
        const int tiles = pitch / 64;                                                                                  \
        for (int t = 0; t < STAGES - 1; t++) {                                                                         \
            if (t < tiles)                                                                                             \
                fetch(stages[t], a + t * 64, b + t * 64, pitch);                                                       \
            asm volatile("cp.async.commit_group;");                                                                    \
        }                                                                                                              \
        _Pragma("unroll 1") for (int t = 0; t < tiles; t++)                                                            \
        {                                                                                                              \
            asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 2) : "memory");                                      \
            __syncthreads();                                                                                           \
            const int next = t + STAGES - 1;                                                                           \
            if (next < tiles)                                                                                          \
                fetch(stages[next % STAGES], a + next * 64, b + next * 64, pitch);                                     \
            asm volatile("cp.async.commit_group;");                                                                    \
            const unsigned char *of_a = stages[t % STAGES][0], *of_b = stages[t % STAGES][1];                          \
            for (int step = 0; step < 2; step++) {                                                                     \
                unsigned x[4][4], y[4][2];                                                                             \
                for (int i = 0; i < 4; i++)                                                                            \
                    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"                       \
                                 : "=r"(x[i][0]), "=r"(x[i][1]), "=r"(x[i][2]), "=r"(x[i][3])                          \
                                 : "r"(shared(of_a + place(row + i * 16 + lane % 16, step * 2 + lane / 16))));         \
                for (int j = 0; j < 4; j += 2)                                                                         \
                    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"                       \
                                 : "=r"(y[j][0]), "=r"(y[j][1]), "=r"(y[j + 1][0]), "=r"(y[j + 1][1])                  \
                                 : "r"(shared(of_b + place(column + j * 8 + lane / 16 * 8 + lane % 8,                  \
                                                           step * 2 + lane / 8 % 2))));                                \
                for (int i = 0; i < 4; i++)                                                                            \
                    for (int j = 0; j < 4; j++)                                                                        \
                        asm volatile("mma.sync.aligned." what " {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};" \
                                     : "+r"(sum[i][j][0]), "+r"(sum[i][j][1]), "+r"(sum[i][j][2]), "+r"(sum[i][j][3])  \
                                     : "r"(x[i][0]), "r"(x[i][1]), "r"(x[i][2]), "r"(x[i][3]), "r"(y[j][0]),           \
                                       "r"(y[j][1]));                                                                  \
            }                                                                                                          \
        }                                                                                                              \
        c += ((size_t)blockIdx.y * 128 + row + lane / 4) * n + blockIdx.x * 128 + column + lane % 4 * 2;               \
        for (int i = 0; i < 4; i++)                                                                                    \
            for (int j = 0; j < 4; j++)                                                                                \
                for (int e = 0; e < 4; e++)                                                                            \
                    c[(size_t)(i * 16 + e / 2 * 8) * n + j * 8 + e % 2] = sum[i][j][e];                                \
    }
GEMM(gemm_f16, "m16n8k16.row.col.f32.f16.f16.f32")
GEMM(gemm_bf16, "m16n8k16.row.col.f32.bf16.bf16.f32")
GEMM(gemm_tf32, "m16n8k8.row.col.f32.tf32.tf32.f32")
GEMM(gemm_e4m3, "m16n8k32.row.col.f32.e4m3.e4m3.f32")
GEMM(gemm_s8, "m16n8k32.row.col.s32.s8.s8.s32")

/* A map of a matrix of bytes for tiles of 128 x 128, swizzled. One warp. */
extern "C" __global__ void make_map(unsigned char *map, const unsigned char *matrix, int lines, int pitch)
{
    __shared__ __align__(128) uint32_t made[32];
    made[threadIdx.x] = 0;
    __syncwarp();
#define FIELD(what, bits, ...) asm volatile("tensormap.replace.tile." what ".shared::cta.b1024." bits " [%0], " __VA_ARGS__)
    if (threadIdx.x == 0) {
        const unsigned s = shared(made);
        FIELD("global_address", "b64", "%1;" ::"r"(s), "l"(matrix) : "memory");
        FIELD("rank", "b32", "1;" ::"r"(s) : "memory"); /* one less */
        FIELD("box_dim", "b32", "0, 128;" ::"r"(s) : "memory");
        FIELD("box_dim", "b32", "1, 128;" ::"r"(s) : "memory");
        FIELD("global_dim", "b32", "0, %1;" ::"r"(s), "r"(pitch) : "memory");
        FIELD("global_dim", "b32", "1, %1;" ::"r"(s), "r"(lines) : "memory");
        FIELD("global_stride", "b64", "0, %1;" ::"r"(s), "l"((uint64_t)pitch) : "memory");
        FIELD("element_stride", "b32", "0, 1;" ::"r"(s) : "memory");
        FIELD("element_stride", "b32", "1, 1;" ::"r"(s) : "memory");
        FIELD("elemtype", "b32", "0;" ::"r"(s) : "memory"); /* bytes */
        FIELD("interleave_layout", "b32", "0;" ::"r"(s) : "memory");
        FIELD("swizzle_mode", "b32", "3;" ::"r"(s) : "memory");
        FIELD("fill_mode", "b32", "0;" ::"r"(s) : "memory");
    }
    __syncwarp();
    asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;" ::"l"(
                     map),
                 "r"(shared(made))
                 : "memory");
}

static __device__ void acquire(const unsigned char *map)
{
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory");
}
static __device__ void await(unsigned barrier, unsigned phase)
{
    asm volatile("{.reg .pred p; W: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra W;}" ::"r"(barrier), "r"(phase)
                 : "memory");
}
static __device__ void load_tile(unsigned to, const unsigned char *map, int byte, int line, unsigned barrier)
{
    asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(
                     to),
                 "l"(map), "r"(byte), "r"(line), "r"(barrier)
                 : "memory");
}

/* Lines of 128 bytes, swizzled; eight of them are 1,024 bytes away from the next eight. */
static __device__ uint64_t descriptor(unsigned address)
{
    return (uint64_t)((address & 0x3ffff) >> 4) | 1ull << 16 | 64ull << 32 | 1ull << 62;
}

#define TILE 16384
#define SUMS8(c, i) c(sum[i]), c(sum[i + 1]), c(sum[i + 2]), c(sum[i + 3]), c(sum[i + 4]), c(sum[i + 5]), c(sum[i + 6]), c(sum[i + 7])
#define SUMS64                                                                                                         \
    "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, %16, %17, %18, %19, %20, %21, %22, %23, "  \
    "%24, %25, %26, %27, %28, %29, %30, %31, %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, "   \
    "%46, %47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, %63}, %64, %65, 1"

/* Two warpgroups, 64 lines of A each; tiles of both matrices in three stages. */
#define WGMMA(name, type, constraint, what, rest)                                                                      \
    extern "C" __global__ void __launch_bounds__(THREADS)                                                              \
        name(type *c, const unsigned char *map_a, const unsigned char *map_b, int n, int pitch)                        \
    {                                                                                                                  \
        extern __shared__ __align__(1024) unsigned char room[];                                                        \
        __shared__ __align__(8) uint64_t full[STAGES];                                                                 \
        const unsigned start = (shared(room) + 1023) / 1024 * 1024, group = threadIdx.x / 128;                         \
        const int tiles = pitch / 128;                                                                                 \
        type sum[64] = {};                                                                                             \
        auto fetch = [&](int t) {                                                                                      \
            const unsigned barrier = shared(&full[t % STAGES]), to = start + t % STAGES * 2 * TILE;                    \
            asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(barrier), "n"(2 * TILE)             \
                         : "memory");                                                                                  \
            load_tile(to, map_a, t * 128, blockIdx.y * 128, barrier);                                                  \
            load_tile(to + TILE, map_b, t * 128, blockIdx.x * 128, barrier);                                           \
        };                                                                                                             \
        if (threadIdx.x == 0) {                                                                                        \
            acquire(map_a);                                                                                            \
            acquire(map_b);                                                                                            \
            for (int s = 0; s < STAGES; s++)                                                                           \
                asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(shared(&full[s])) : "memory");                  \
            asm volatile("fence.proxy.async;" ::: "memory");                                                           \
            for (int t = 0; t < STAGES && t < tiles; t++)                                                              \
                fetch(t);                                                                                              \
        }                                                                                                              \
        __syncthreads();                                                                                               \
        _Pragma("unroll 1") for (int t = 0; t < tiles; t++)                                                            \
        {                                                                                                              \
            const unsigned stage = start + t % STAGES * 2 * TILE;                                                      \
            await(shared(&full[t % STAGES]), t / STAGES % 2);                                                          \
            asm volatile("wgmma.fence.sync.aligned;" ::: "memory");                                                    \
            for (int step = 0; step < 4; step++)                                                                       \
                asm volatile("wgmma.mma_async.sync.aligned.m64n128" what " " SUMS64 rest ";"                           \
                             : SUMS8(constraint, 0), SUMS8(constraint, 8), SUMS8(constraint, 16),                      \
                               SUMS8(constraint, 24), SUMS8(constraint, 32), SUMS8(constraint, 40),                    \
                               SUMS8(constraint, 48), SUMS8(constraint, 56)                                            \
                             : "l"(descriptor(stage + group * TILE / 2 + step * 32)),                                  \
                               "l"(descriptor(stage + TILE + step * 32)));                                             \
            asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;" ::: "memory");            \
            __syncthreads();                                                                                           \
            if (threadIdx.x == 0 && t + STAGES < tiles)                                                                \
                fetch(t + STAGES);                                                                                     \
        }                                                                                                              \
        const int lane = threadIdx.x % 32, row = threadIdx.x / 32 * 16 + lane / 4;                                     \
        c += ((size_t)blockIdx.y * 128 + row) * n + blockIdx.x * 128 + lane % 4 * 2;                                   \
        for (int i = 0; i < 64; i++)                                                                                   \
            c[(size_t)(i / 2 % 2 * 8) * n + i / 4 * 8 + i % 2] = sum[i];                                               \
    }
WGMMA(wgmma_f16, float, "+f", "k16.f32.f16.f16", ", 1, 1, 0, 0")
WGMMA(wgmma_bf16, float, "+f", "k16.f32.bf16.bf16", ", 1, 1, 0, 0")
WGMMA(wgmma_tf32, float, "+f", "k8.f32.tf32.tf32", ", 1, 1")
WGMMA(wgmma_e4m3, float, "+f", "k32.f32.e4m3.e4m3", ", 1, 1")
WGMMA(wgmma_s8, int, "+r", "k32.s32.s8.s8", "")

/* Tiles of 128 x 128 bytes of a matrix, swizzled in shared memory; each block has neighbours. */
extern "C" __global__ void tensor_copy(const unsigned char *to, const unsigned char *from, int across, int tiles)
{
    __shared__ __align__(1024) unsigned char room[TILE];
    __shared__ __align__(8) uint64_t barrier;
    if (threadIdx.x)
        return;
    acquire(to);
    acquire(from);
    asm volatile("mbarrier.init.shared.b64 [%0], 1; fence.proxy.async;" ::"r"(shared(&barrier)) : "memory");
    unsigned phase = 0;
    const int each = (tiles + gridDim.x - 1) / gridDim.x, first = blockIdx.x * each;
    for (int i = first; i < tiles && i < first + each; i++, phase ^= 1) {
        const int byte = i % across * 128, line = i / across * 128;
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared(&barrier)), "n"(TILE) : "memory");
        load_tile(shared(room), from, byte, line, shared(&barrier));
        await(shared(&barrier), phase);
        asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3]; cp.async.bulk.commit_group;" ::
                         "l"(to),
                     "r"(byte), "r"(line), "r"(shared(room))
                     : "memory");
    }
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

/* 32 KiB at a time through shared memory and back. */
extern "C" __global__ void bulk_copy(unsigned char *to, const unsigned char *from, int pieces)
{
    __shared__ __align__(128) unsigned char room[32768];
    __shared__ __align__(8) uint64_t barrier;
    if (threadIdx.x)
        return;
    asm volatile("mbarrier.init.shared.b64 [%0], 1; fence.proxy.async;" ::"r"(shared(&barrier)) : "memory");
    unsigned phase = 0;
    for (int i = blockIdx.x; i < pieces; i += gridDim.x, phase ^= 1) {
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 32768;" ::"r"(shared(&barrier)) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 32768, [%2];" ::"r"(
                         shared(room)),
                     "l"(from + (size_t)i * 32768), "r"(shared(&barrier))
                     : "memory");
        asm volatile(
            "{.reg .pred p; W: mbarrier.try_wait.parity.shared.b64 p, [%0], %1; @!p bra W;}" ::"r"(shared(&barrier)),
            "r"(phase)
            : "memory");
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], 32768; cp.async.bulk.commit_group;" ::"l"(
                         to + (size_t)i * 32768),
                     "r"(shared(room))
                     : "memory");
    }
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}
