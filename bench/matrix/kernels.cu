/* kernels.cu - what bench_matrix runs: C = A B by ldmatrix and mma.sync in five types, and copies by bulk and tensor
 * copies. nvcc -ptx -std=c++17 -arch=compute_90 makes kernels.ptx of it, which is kept in the tree.
 *
 * A lies by rows, B by columns: of both, lines of k elements. Tiles have lines of 64 bytes, whose 16-byte pieces change
 * places, and come by cp.async in three stages; a step of 32 bytes is one mma. A block has 128 x 128 of C, of 32 bits.
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
