// hopper.cu - what a profiler counts of matrix instructions, asynchronous copies, barriers in memory and clusters.
//
//     nvcc -std=c++17 -arch=sm_90a -lineinfo -o hopper hopper.cu
//     ./hopper matrix|memory|clusters|rows|occupancy [SECONDS [SKIP]]     SECONDS bounds the launches, SKIP leaves the first ones out
//
// One kernel a launch and one warp or warpgroup a block; each prints "launch N name". matrix: an instruction of every
// shape and type. memory: copies, clusters, barriers. rows: ldmatrix, stmatrix and cp.async in many layouts.
#include <cuda.h>
#include <cuda_runtime.h>
#include <mma.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <vector>

#pragma nv_diag_suppress 550 // what every kernel of a kind has and not all need
static int launches, skip;
static double until;
static double now()
{
    timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}
static bool go(const char *name)
{
    if (now() > until || launches++ < skip) return false;
    printf("launch %d %s\n", launches - 1, name);
    return true;
}
static void done(const char *name)
{
    cudaError_t e = cudaGetLastError();
    if (!e) e = cudaDeviceSynchronize();
    if (e) {
        printf("%s: %s\n", name, cudaGetErrorString(e));
        exit(1);
    }
}
static uint32_t *out, *data;
enum { WORDS = 1 << 17 };
__device__ static uint32_t sa(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }

// ---- matrix ----
#define OUT4(o, d) o[threadIdx.x] = d[0] ^ d[1] ^ d[2] ^ d[3]
#define A1 uint32_t x = threadIdx.x, d[4] = {}
#define MMA422(name, ins) __global__ void name(uint32_t *o) { A1; asm volatile(ins " {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%4,%4}, {%0,%1,%2,%3};" : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]) : "r"(x)); OUT4(o, d); }
#define MMA214(name, ins) __global__ void name(uint32_t *o) { A1; asm volatile(ins " {%0,%1,%2,%3}, {%4,%4}, {%4}, {%0,%1,%2,%3};" : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]) : "r"(x)); OUT4(o, d); }
#define MMAH(name, ins) __global__ void name(uint32_t *o) { A1; asm volatile(ins " {%0,%1}, {%2,%2,%2,%2}, {%2,%2}, {%0,%1};" : "+r"(d[0]), "+r"(d[1]) : "r"(x)); OUT4(o, d); }
#define MMAH8(name, ins) __global__ void name(uint32_t *o) { A1; asm volatile(ins " {%0,%1}, {%2,%2}, {%2}, {%0,%1};" : "+r"(d[0]), "+r"(d[1]) : "r"(x)); OUT4(o, d); }
#define MMA112(name, ins) __global__ void name(uint32_t *o) { A1; asm volatile(ins " {%0,%1}, {%2}, {%2}, {%0,%1};" : "+r"(d[0]), "+r"(d[1]) : "r"(x)); OUT4(o, d); }
#define MMASP(name, ins) __global__ void name(uint32_t *o) { A1; asm volatile(ins " {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%4,%4,%4,%4}, {%0,%1,%2,%3}, %5, 0;" : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]) : "r"(x), "r"(0x44444444)); OUT4(o, d); }
#define MMASP2(name, ins) __global__ void name(uint32_t *o) { A1; asm volatile(ins " {%0,%1,%2,%3}, {%4,%4}, {%4,%4}, {%0,%1,%2,%3}, %5, 0;" : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]) : "r"(x), "r"(0x44444444)); OUT4(o, d); }
#define F64(name, ins, regs) __global__ void name(uint32_t *o) { uint64_t x = threadIdx.x, d[4] = {}; asm volatile(ins regs : "+l"(d[0]), "+l"(d[1]), "+l"(d[2]), "+l"(d[3]) : "l"(x)); OUT4(o, d); }
#define S "mma.sync.aligned."
MMA422(mma_f16_f32_k16, S "m16n8k16.row.col.f32.f16.f16.f32")
MMAH(mma_f16_f16_k16, S "m16n8k16.row.col.f16.f16.f16.f16")
MMA214(mma_f16_f32_k8, S "m16n8k8.row.col.f32.f16.f16.f32")
MMAH8(mma_f16_f16_k8, S "m16n8k8.row.col.f16.f16.f16.f16")
MMA422(mma_bf16_k16, S "m16n8k16.row.col.f32.bf16.bf16.f32")
MMA214(mma_bf16_k8, S "m16n8k8.row.col.f32.bf16.bf16.f32")
MMA422(mma_tf32_k8, S "m16n8k8.row.col.f32.tf32.tf32.f32")
MMA214(mma_tf32_k4, S "m16n8k4.row.col.f32.tf32.tf32.f32")
MMA422(mma_e4m3_k32, S "m16n8k32.row.col.f32.e4m3.e4m3.f32")
MMA422(mma_e5m2_k32, S "m16n8k32.row.col.f32.e5m2.e5m2.f32")
MMA422(mma_s8_k32, S "m16n8k32.row.col.s32.s8.s8.s32")
MMA422(mma_u8_sat_k32, S "m16n8k32.row.col.satfinite.s32.u8.u8.s32")
MMA214(mma_s8_k16, S "m16n8k16.row.col.s32.s8.s8.s32")
MMA112(mma_s8_m8, S "m8n8k16.row.col.s32.s8.s8.s32")
MMA422(mma_s4_k64, S "m16n8k64.row.col.s32.s4.s4.s32")
MMA214(mma_s4_k32, S "m16n8k32.row.col.s32.s4.s4.s32")
MMA112(mma_s4_m8, S "m8n8k32.row.col.s32.s4.s4.s32")
MMA422(mma_b1_k256, S "m16n8k256.row.col.s32.b1.b1.s32.and.popc")
MMA422(mma_b1_xor_k256, S "m16n8k256.row.col.s32.b1.b1.s32.xor.popc")
MMA214(mma_b1_k128, S "m16n8k128.row.col.s32.b1.b1.s32.and.popc")
MMA112(mma_b1_m8, S "m8n8k128.row.col.s32.b1.b1.s32.and.popc")
F64(mma_f64_m8, S "m8n8k4.row.col.f64.f64.f64.f64", " {%0,%1}, {%4}, {%4}, {%2,%3};")
F64(mma_f64_k4, S "m16n8k4.row.col.f64.f64.f64.f64", " {%0,%1,%2,%3}, {%4,%4}, {%4}, {%0,%1,%2,%3};")
F64(mma_f64_k8, S "m16n8k8.row.col.f64.f64.f64.f64", " {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%4,%4}, {%0,%1,%2,%3};")
F64(mma_f64_k16, S "m16n8k16.row.col.f64.f64.f64.f64", " {%0,%1,%2,%3}, {%4,%4,%4,%4,%4,%4,%4,%4}, {%4,%4,%4,%4}, {%0,%1,%2,%3};")
MMASP(mma_sp_f16_k32, "mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32")
MMASP2(mma_sp_f16_k16, "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32")
MMASP(mma_sp_tf32_k16, "mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32")
MMASP(mma_sp_s8_k64, "mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.s32.s8.s8.s32")
__global__ void mma_m8n8k4(uint32_t *o)
{
    uint32_t x = threadIdx.x, d[8] = {};
    asm volatile(S "m8n8k4.row.col.f32.f16.f16.f32 {%0,%1,%2,%3,%4,%5,%6,%7}, {%8,%8}, {%8,%8}, {%0,%1,%2,%3,%4,%5,%6,%7};"
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]) : "r"(x));
    o[threadIdx.x] = d[0] ^ d[1] ^ d[2] ^ d[3] ^ d[4] ^ d[5] ^ d[6] ^ d[7];
}
template <class T, class C, int M, int N, int K> __global__ void wmma_loads(uint32_t *o)
{
    using namespace nvcuda;
    __shared__ T a[M * K], b[K * N];
    __shared__ C c[M * N];
    for (int i = threadIdx.x; i < M * K; i += 32) a[i] = T(1.0f);
    for (int i = threadIdx.x; i < N * K; i += 32) b[i] = T(1.0f);
    __syncwarp();
    wmma::fragment<wmma::matrix_a, M, N, K, T, wmma::row_major> fa;
    wmma::fragment<wmma::matrix_b, M, N, K, T, wmma::col_major> fb;
    wmma::fragment<wmma::accumulator, M, N, K, C> fc;
    wmma::fill_fragment(fc, C(0.0f));
    wmma::load_matrix_sync(fa, a, K);
    wmma::load_matrix_sync(fb, b, K);
    wmma::mma_sync(fc, fa, fb, fc);
    wmma::store_matrix_sync(c, fc, N, wmma::mem_row_major);
    __syncwarp();
    o[threadIdx.x] = (uint32_t)(float)c[threadIdx.x];
}
__global__ void movmatrix(uint32_t *o)
{
    uint32_t x = threadIdx.x;
    asm volatile("movmatrix.sync.aligned.m8n8.trans.b16 %0, %0;" : "+r"(x));
    o[threadIdx.x] = x;
}

#define L4 "{%0,%1,%2,%3}"
#define L32 "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}"
#define L64 "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31," \
            "%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51,%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63}"
#define R4(i) "+r"(d[i]), "+r"(d[i + 1]), "+r"(d[i + 2]), "+r"(d[i + 3])
#define R16(i) R4(i), R4(i + 4), R4(i + 8), R4(i + 12)
#define R32 R16(0), R16(16)
#define R64 R32, R16(32), R16(48)
__device__ static uint64_t matrix(const void *p, unsigned leading, unsigned stride, unsigned swizzle)
{
    return (uint64_t)(sa(p) >> 4 & 0x3fff) | (uint64_t)(leading >> 4) << 16 | (uint64_t)(stride >> 4) << 32 | (uint64_t)swizzle << 62;
}
#define WGMMA(name, n, regs, list, ops, ins, tail)                                                                        \
    template <int SWIZZLE, int LEADING, int STRIDE> __global__ void name(uint32_t *o)                                     \
    {                                                                                                                     \
        extern __shared__ __align__(1024) uint8_t raw[];                                                                  \
        uint32_t d[n] = {}, x = threadIdx.x;                                                                              \
        for (int i = threadIdx.x; i < 16384; i += 128) ((uint32_t *)raw)[i] = 0;                                          \
        __syncthreads();                                                                                                  \
        asm volatile("fence.proxy.async; wgmma.fence.sync.aligned;");                                                     \
        uint64_t a = matrix(raw, LEADING, STRIDE, SWIZZLE), b = matrix(raw + 32768, LEADING, STRIDE, SWIZZLE);            \
        asm volatile("wgmma.mma_async.sync.aligned." ins " " list ", " ops ", 1" tail ";" : regs : "l"(a), "l"(b), "r"(x)); \
        asm volatile("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;");                                \
        uint32_t all = 0;                                                                                                 \
        for (int i = 0; i < n; i++) all ^= d[i];                                                                          \
        o[threadIdx.x] = all;                                                                                             \
    }
WGMMA(wgmma_bf16_n8, 4, R4(0), L4, "%4, %5", "m64n8k16.f32.bf16.bf16", ",1,1,0,0")
WGMMA(wgmma_bf16_n64, 32, R32, L32, "%32, %33", "m64n64k16.f32.bf16.bf16", ",1,1,0,0")
WGMMA(wgmma_bf16_n128, 64, R64, L64, "%64, %65", "m64n128k16.f32.bf16.bf16", ",1,1,0,0")
WGMMA(wgmma_bf16_n64_regs, 32, R32, L32, "{%34,%34,%34,%34}, %33", "m64n64k16.f32.bf16.bf16", ",1,1,0")
WGMMA(wgmma_bf16_n64_trans, 32, R32, L32, "%32, %33", "m64n64k16.f32.bf16.bf16", ",1,1,1,1")
WGMMA(wgmma_f16_f16_n128, 32, R32, L32, "%32, %33", "m64n128k16.f16.f16.f16", ",1,1,0,0")
WGMMA(wgmma_f16_f32_n64, 32, R32, L32, "%32, %33", "m64n64k16.f32.f16.f16", ",1,1,0,0")
WGMMA(wgmma_tf32_n64, 32, R32, L32, "%32, %33", "m64n64k8.f32.tf32.tf32", ",1,1")
WGMMA(wgmma_e4m3_n64, 32, R32, L32, "%32, %33", "m64n64k32.f32.e4m3.e4m3", ",1,1")
WGMMA(wgmma_e5m2_f16_n128, 32, R32, L32, "%32, %33", "m64n128k32.f16.e5m2.e5m2", ",1,1")
WGMMA(wgmma_s8_n64, 32, R32, L32, "%32, %33", "m64n64k32.s32.s8.s8", "")
WGMMA(wgmma_b1_n64, 32, R32, L32, "%32, %33", "m64n64k256.s32.b1.b1.and.popc", "")
#define WGMMASP(name, ins, tail) WGMMA(name, 32, R32, L32, "%32, %33, %34, 0", ins, tail)
WGMMASP(wgmma_sp_bf16_n64, "sp.m64n64k32.f32.bf16.bf16", ",1,1,0,0")

template <class K> static void one(const char *name, K kernel, int threads = 32, size_t shared = 0)
{
    if (!go(name)) return;
    if (shared) cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
    kernel<<<1, threads, shared>>>(out);
    done(name);
}
#define ONE(k) one(#k, k)
#define WIDE(k) one(#k, k, 128, 65536)
static void run_matrix()
{
    ONE(mma_f16_f32_k16); ONE(mma_f16_f16_k16); ONE(mma_bf16_k16); ONE(mma_tf32_k8); ONE(mma_s8_k32); ONE(mma_f64_m8); ONE(mma_f64_k16);
    ONE(mma_e4m3_k32); ONE(mma_sp_f16_k32); ONE(mma_b1_k256); ONE(mma_s4_k64);
    ONE((wmma_loads<half, float, 16, 16, 16>)); ONE((wmma_loads<half, half, 16, 16, 16>)); ONE((wmma_loads<half, float, 32, 8, 16>));
    ONE((wmma_loads<signed char, int, 16, 16, 16>)); ONE((wmma_loads<double, double, 8, 8, 4>)); ONE((wmma_loads<__nv_bfloat16, float, 16, 16, 16>));
    WIDE((wgmma_bf16_n64<0, 128, 256>)); WIDE((wgmma_bf16_n64<1, 16, 1024>)); WIDE((wgmma_bf16_n128<1, 16, 1024>)); WIDE((wgmma_bf16_n8<1, 16, 1024>));
    WIDE((wgmma_bf16_n64_regs<1, 16, 1024>)); WIDE((wgmma_tf32_n64<1, 16, 1024>)); WIDE((wgmma_e4m3_n64<1, 16, 1024>)); WIDE((wgmma_s8_n64<1, 16, 1024>));
    ONE(mma_f16_f32_k8); ONE(mma_f16_f16_k8); ONE(mma_bf16_k8); ONE(mma_tf32_k4); ONE(mma_e5m2_k32); ONE(mma_u8_sat_k32); ONE(mma_s8_k16); ONE(mma_s8_m8);
    ONE(mma_s4_k32); ONE(mma_s4_m8); ONE(mma_b1_xor_k256); ONE(mma_b1_k128); ONE(mma_b1_m8); ONE(mma_f64_k4); ONE(mma_f64_k8);
    ONE(mma_sp_f16_k16); ONE(mma_sp_tf32_k16); ONE(mma_sp_s8_k64); ONE(mma_m8n8k4); ONE(movmatrix);
    WIDE((wgmma_bf16_n64<2, 16, 512>)); WIDE((wgmma_bf16_n64<3, 16, 256>)); WIDE((wgmma_bf16_n64<0, 128, 1024>)); WIDE((wgmma_bf16_n64<0, 2048, 128>));
    WIDE((wgmma_f16_f16_n128<1, 16, 1024>)); WIDE((wgmma_f16_f32_n64<1, 16, 1024>)); WIDE((wgmma_bf16_n64_trans<1, 8192, 1024>));
    WIDE((wgmma_e5m2_f16_n128<1, 16, 1024>)); WIDE((wgmma_b1_n64<1, 16, 1024>)); WIDE((wgmma_sp_bf16_n64<1, 16, 1024>));
}

// ---- memory ----
struct Rows { uint16_t shared[32]; uint32_t global[32]; };
enum { ROOM = 65536 };
extern __shared__ __align__(1024) uint8_t room[];
__device__ static void wait(uint32_t bar)
{
    asm volatile("{.reg .pred p; W: mbarrier.try_wait.parity.shared.b64 p, [%0], 0; @!p bra W;}" ::"r"(bar) : "memory");
}
#define BULK(name, ...)                                                                                              \
    __global__ void name(uint32_t *g, uint32_t bytes, uint32_t at, uint32_t from)                                    \
    {                                                                                                                \
        __shared__ __align__(8) uint64_t bar;                                                                        \
        uint32_t b = sa(&bar), s = sa(room) + at;                                                                    \
        uint8_t *p = (uint8_t *)g + from;                                                                            \
        (void)b; (void)s; (void)p;                                                                                   \
        if (threadIdx.x == 0) { __VA_ARGS__ }                                                                        \
    }
#define INIT asm volatile("mbarrier.init.shared.b64 [%0], 1; fence.proxy.async;" ::"r"(b) : "memory");
#define EXPECT asm volatile("{.reg .b64 s; mbarrier.arrive.expect_tx.shared.b64 s, [%0], %1;}" ::"r"(b), "r"(bytes) : "memory");
#define COMMIT asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
BULK(bulk_nothing, INIT)
BULK(bulk_load, INIT EXPECT asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(s), "l"(p), "r"(bytes), "r"(b) : "memory"); wait(b);)
BULK(bulk_store, asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(p), "r"(s), "r"(bytes) : "memory"); COMMIT)
BULK(bulk_reduce, asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], %2;" ::"l"(p), "r"(s), "r"(bytes) : "memory"); COMMIT)
BULK(bulk_prefetch, asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(p), "r"(bytes) : "memory");)

struct Tile { int c[5], rank, bytes; };
#define TENSOR(name, ...)                                                                                            \
    __global__ void name(const __grid_constant__ CUtensorMap map, Tile t)                                            \
    {                                                                                                                \
        __shared__ __align__(8) uint64_t bar;                                                                        \
        uint32_t b = sa(&bar), s = (sa(room) + 1023) & ~1023u, bytes = t.bytes;                                      \
        uint64_t m = (uint64_t)&map;                                                                                 \
        (void)b; (void)bytes;                                                                                        \
        if (threadIdx.x == 0) { __VA_ARGS__ }                                                                        \
    }
#define TLOAD "cp.async.bulk.tensor"
TENSOR(tensor_load, INIT EXPECT
       if (t.rank == 1) asm volatile(TLOAD ".1d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3}], [%2];" ::"r"(s), "l"(m), "r"(b), "r"(t.c[0]) : "memory");
       if (t.rank == 2) asm volatile(TLOAD ".2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3,%4}], [%2];" ::"r"(s), "l"(m), "r"(b), "r"(t.c[0]), "r"(t.c[1]) : "memory");
       if (t.rank == 3) asm volatile(TLOAD ".3d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {%3,%4,%5}], [%2];" ::"r"(s), "l"(m), "r"(b), "r"(t.c[0]), "r"(t.c[1]), "r"(t.c[2]) : "memory");
       wait(b);)
TENSOR(tensor_store, asm volatile(TLOAD ".2d.global.shared::cta.bulk_group [%0, {%2,%3}], [%1];" ::"l"(m), "r"(s), "r"(t.c[0]), "r"(t.c[1]) : "memory"); COMMIT)
TENSOR(tensor_reduce, asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group [%0, {%2,%3}], [%1];" ::"l"(m), "r"(s), "r"(t.c[0]), "r"(t.c[1]) : "memory"); COMMIT)
TENSOR(tensor_prefetch, asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global [%0, {%1,%2}];" ::"l"(m), "r"(t.c[0]), "r"(t.c[1]) : "memory");)

#define BARRIER(name, ...)                                                                \
    __global__ void name(uint32_t *o)                                                     \
    {                                                                                     \
        __shared__ __align__(8) uint64_t bar[32];                                         \
        uint32_t b = sa(bar), mine = sa(bar + threadIdx.x);                               \
        (void)mine; (void)b;                                                              \
        if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 32;" ::"r"(b)); \
        __syncwarp();                                                                     \
        __VA_ARGS__                                                                       \
    }
BARRIER(barrier_init)
BARRIER(barrier_init_32, asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(mine) : "memory");)
BARRIER(barrier_arrive, asm volatile("{.reg .b64 s; mbarrier.arrive.shared.b64 s, [%0];}" ::"r"(b) : "memory");)
BARRIER(barrier_arrive_wait, asm volatile("{.reg .b64 s; mbarrier.arrive.shared.b64 s, [%0];}" ::"r"(b) : "memory"); wait(b);)
BARRIER(barrier_arrive_1, if (threadIdx.x == 0) asm volatile("{.reg .b64 s; mbarrier.arrive.shared.b64 s, [%0];}" ::"r"(b) : "memory");)
BARRIER(barrier_expect_1, if (threadIdx.x == 0) asm volatile("{.reg .b64 s; mbarrier.arrive.expect_tx.shared.b64 s, [%0], 16;}" ::"r"(b) : "memory");)
BARRIER(barrier_test, uint32_t p; asm volatile("{.reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 1; selp.u32 %0, 1, 0, p;}" : "=r"(p) : "r"(b) : "memory"); o[threadIdx.x] = p;)
BARRIER(barrier_inval_1, if (threadIdx.x == 0) asm volatile("mbarrier.inval.shared.b64 [%0];" ::"r"(b) : "memory");)
BARRIER(barrier_copies, asm volatile("cp.async.ca.shared.global [%0], [%1], 4; cp.async.mbarrier.arrive.noinc.shared.b64 [%2];" ::"r"(sa(room) + 4 * threadIdx.x), "l"(o + threadIdx.x), "r"(b) : "memory"); wait(b);)

// Lane x of `lanes` uses the place r.shared[x] of block r.global[x], and the barrier of block `rank`. WAITS: who waits for what
// comes to its barrier: 0 none, 1 block `rank`, 2 all.
#define FARN(name, N, WAITS, ...)                                                                \
    __global__ void __cluster_dims__(N, 1, 1) name(uint32_t *o, Rows r, uint32_t rank, uint32_t lanes) \
    {                                                                                            \
        __shared__ __align__(8) uint64_t bar;                                                    \
        uint32_t at, b, x = threadIdx.x;                                                         \
        asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(at) : "r"(sa(room) + r.shared[x]), "r"(r.global[x])); \
        asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(b) : "r"(sa(&bar)), "r"(rank)); \
        if (x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1; fence.mbarrier_init.release.cluster;" ::"r"(sa(&bar)) : "memory"); \
        asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory"); \
        uint32_t me;                                                                             \
        asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(me));                               \
        if (me == 0 || WAITS == 2) { __VA_ARGS__ }                                               \
        if (WAITS == 2 || (WAITS == 1 && me == rank)) wait(sa(&bar));                            \
        asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory"); \
        if (me == 0 && x == 33) o[0] = x + b;                                                    \
    }
#define FAR(name, WAITS, ...) FARN(name, 2, WAITS, __VA_ARGS__)
#define ON if (lanes >> x & 1)
#define FAR_LD(name, ins, T, c) FAR(name, 0, ON { T v; asm volatile("ld.shared::cluster." ins " %0, [%1];" : "=" c(v) : "r"(at) : "memory"); o[x] = (uint32_t)v; })
#define FAR_ST(name, ins, T, c) FAR(name, 0, ON asm volatile("st.shared::cluster." ins " [%0], %1;" ::"r"(at), c((T)x) : "memory");)
#define FAR_RED(name, ins, T, c) FAR(name, 0, ON asm volatile("red.shared::cluster." ins " [%0], %1;" ::"r"(at), c((T)x) : "memory");)
#define FAR_ATOM(name, ins, T, c) FAR(name, 0, ON { T v; asm volatile("atom.shared::cluster." ins " %0, [%1], %2;" : "=" c(v) : "r"(at), c((T)x) : "memory"); o[x] = (uint32_t)v; })
#define AWAITED(bytes) if (x == 0) asm volatile("mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%0], %1;" ::"r"(b), "r"((bytes) * __popc(lanes)) : "memory"); __syncwarp();
#define FAR_STAS(name, ins, bytes, values, c, T) FAR(name, 1, AWAITED(bytes) ON asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes." ins " [%0], " values ", [%2];" ::"r"(at), c((T)x), "r"(b) : "memory");)
#define FAR_REDAS(name, ins, bytes, c, T) FAR(name, 1, AWAITED(bytes) ON asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes." ins " [%0], %1, [%2];" ::"r"(at), c((T)x), "r"(b) : "memory");)
FAR(far_nothing, 0)
FAR_LD(far_load, "u32", uint32_t, "r") FAR_LD(far_load1, "u8", uint32_t, "r") FAR_LD(far_load8, "u64", uint64_t, "l")
FAR(far_load4, 0, ON { uint32_t v[4]; asm volatile("ld.shared::cluster.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v[0]), "=r"(v[1]), "=r"(v[2]), "=r"(v[3]) : "r"(at) : "memory"); o[x] = v[0] ^ v[1] ^ v[2] ^ v[3]; })
FAR_ST(far_store, "u32", uint32_t, "r") FAR_ST(far_store1, "u8", uint32_t, "r") FAR_ST(far_store8, "u64", uint64_t, "l")
FAR(far_store4, 0, ON asm volatile("st.shared::cluster.v4.u32 [%0], {%1,%1,%1,%1};" ::"r"(at), "r"(x) : "memory");)
FAR_ATOM(far_atom, "add.u32", uint32_t, "r") FAR_ATOM(far_atom8, "add.u64", uint64_t, "l") FAR_ATOM(far_exch, "exch.b32", uint32_t, "r") FAR_ATOM(far_max, "max.s32", uint32_t, "r") FAR_ATOM(far_fadd, "add.f32", float, "f")
FAR(far_cas, 0, ON { uint32_t v; asm volatile("atom.shared::cluster.cas.b32 %0, [%1], %2, %3;" : "=r"(v) : "r"(at), "r"(0), "r"(x) : "memory"); o[x] = v; })
FAR_RED(far_red, "add.u32", uint32_t, "r") FAR_RED(far_red8, "add.u64", uint64_t, "l") FAR_RED(far_red_or, "or.b32", uint32_t, "r") FAR_RED(far_red_f, "add.f32", float, "f")
FAR_STAS(far_st_async, "u32", 4, "%1", "r", uint32_t) FAR_STAS(far_st_async8, "b64", 8, "%1", "l", uint64_t)
FAR_STAS(far_st_async_v2, "v2.u32", 8, "{%1,%1}", "r", uint32_t) FAR_STAS(far_st_async_v4, "v4.u32", 16, "{%1,%1,%1,%1}", "r", uint32_t) FAR_STAS(far_st_async_v2_8, "v2.b64", 16, "{%1,%1}", "l", uint64_t)
FAR_REDAS(far_red_async, "add.u32", 4, "r", uint32_t) FAR_REDAS(far_red_async_min, "min.s32", 4, "r", int) FAR_REDAS(far_red_async_inc, "inc.u32", 4, "r", uint32_t) FAR_REDAS(far_red_async_or, "or.b32", 4, "r", uint32_t) FAR_REDAS(far_red_async8, "add.u64", 8, "l", uint64_t)
FAR(far_arrive, 0, ON asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(b) : "memory");)
FAR(far_expect, 0, ON asm volatile("mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [%0], 16;" ::"r"(b) : "memory");)
#define COPY(name, bytes) FAR(name, 1, if (x == 0) { asm volatile("mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%0], " #bytes ";" ::"r"(b) : "memory"); asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], " #bytes ", [%2];" ::"r"(at), "r"(sa(room) + 8192), "r"(b) : "memory"); })
COPY(far_bulk, 4096) COPY(far_bulk_16, 16) COPY(far_bulk_48, 48) COPY(far_bulk_1024, 1024)
// A multicast to the blocks of `mask`, each of which waits for it.
#define CAST(name, N, mask, bytes) FARN(name, N, 2, if (x == 0) { if ((mask) >> me & 1) asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(sa(&bar)), "r"(bytes) : "memory"); else asm volatile("{ .reg .b64 t; mbarrier.arrive.shared.b64 t, [%0]; }" ::"r"(sa(&bar)) : "memory"); } if (x == 0 && me == 0) asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;" ::"r"(sa(room)), "l"(o), "r"(bytes), "r"(sa(&bar)), "h"((uint16_t)(mask)) : "memory");)
CAST(far_multicast, 2, 3, 2048) CAST(far_multicast_own, 2, 1, 2048) CAST(far_multicast_other, 2, 2, 2048) CAST(far_multicast_16, 2, 3, 16) CAST(far_multicast_4, 4, 15, 1024) CAST(far_multicast_2_of_4, 4, 10, 1024) CAST(far_multicast_8, 8, 255, 4096)
// A tile to all blocks, and one to each (how a GEMM shares A and B).
#define TILE(name, N, mask, bytes)                                                                                                    \
    __global__ void __cluster_dims__(N, 1, 1) name(const __grid_constant__ CUtensorMap map, int box, int unused)                    \
    {                                                                                                                                  \
        __shared__ __align__(8) uint64_t bar;                                                                                          \
        uint32_t me, s = (sa(room) + 1023) & ~1023u;                                                                                   \
        asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(me));                                                                     \
        if (threadIdx.x == 0) asm volatile("mbarrier.init.shared.b64 [%0], 1; fence.mbarrier_init.release.cluster;" ::"r"(sa(&bar)) : "memory"); \
        asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");                                    \
        if (threadIdx.x == 0) {                                                                                                        \
            asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(sa(&bar)), "r"(bytes) : "memory");                  \
            if (me == 0) asm volatile(TLOAD ".2d.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, {%3,%4}], [%2], %5;" ::"r"(s), "l"(&map), "r"(sa(&bar)), "r"(0), "r"(0), "h"((uint16_t)(mask)) : "memory"); \
        }                                                                                                                              \
        wait(sa(&bar));                                                                                                                \
        asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");                                    \
    }
TILE(far_tile, 2, 3, 4096) TILE(far_tile_4, 4, 15, 4096)

typedef CUresult (*Tiled)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *, const cuuint64_t *,
                          const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,
                          CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
static Tiled tiled;
template <class K> static void bulk(const char *name, K kernel, uint32_t bytes, uint32_t at = 0, uint32_t from = 0)
{
    char text[128];
    snprintf(text, sizeof text, "%s %u at %u from %u", name, bytes, at, from);
    if (!go(text)) return;
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, ROOM);
    kernel<<<1, 32, ROOM>>>(data, bytes, at, from);
    done(text);
}
template <class K> static void tensor(const char *name, K kernel, int rank, int swizzle, cuuint32_t b0, cuuint32_t b1, cuuint32_t b2, int x, int y, cuuint64_t width = 1024, int promote = 0)
{
    const cuuint64_t lines = rank > 2 ? 32 : 64, dim[3] = {width, lines, 4}, stride[2] = {width * 4, width * 4 * lines};
    const cuuint32_t box[3] = {b0, b1, b2}, each[3] = {1, 1, 1};
    CUtensorMap map;
    char text[128];
    snprintf(text, sizeof text, "%s %dd swizzle %d box %u %u %u from %d %d of %d promote %d", name, rank, swizzle, b0, b1, b2, x, y, (int)width, promote);
    CUresult r = tiled(&map, CU_TENSOR_MAP_DATA_TYPE_UINT32, (cuuint32_t)rank, data, dim, stride, box, each, CU_TENSOR_MAP_INTERLEAVE_NONE, (CUtensorMapSwizzle)swizzle, (CUtensorMapL2promotion)promote, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    if (r) {
        printf("%s: encode %d\n", text, (int)r);
        return;
    }
    if (!go(text)) return;
    cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, ROOM);
    Tile t = {{x, y, 0, 0, 0}, rank, (int)(4 * b0 * (rank > 1 ? b1 : 1) * (rank > 2 ? b2 : 1))};
    kernel<<<1, 32, ROOM>>>(map, t);
    done(text);
}
static Rows far_rows(uint32_t stride, uint32_t rank)
{
    Rows r;
    for (uint32_t i = 0; i < 32; i++) r.shared[i] = (uint16_t)(i * stride), r.global[i] = rank;
    return r;
}
template <class K> static void far_of(const char *name, const char *pattern, K kernel, const Rows &r, uint32_t rank, uint32_t lanes, int blocks = 2)
{
    char text[160];
    snprintf(text, sizeof text, lanes == ~0u ? "%s %s rank %u" : "%s %s rank %u lanes %x", name, pattern, rank, lanes);
    if (!go(text)) return;
    kernel<<<blocks, 32, 16384>>>(out, r, rank, lanes);
    done(text);
}
template <class K> static void far(const char *name, K kernel, uint32_t stride, uint32_t rank, uint32_t lanes = ~0u, int blocks = 2)
{
    char pattern[64];
    snprintf(pattern, sizeof pattern, "stride %u", stride);
    far_of(name, pattern, kernel, far_rows(stride, rank), rank, lanes, blocks);
}
#define BULKS(k, ...) bulk(#k, k, __VA_ARGS__)
#define TENSORS(k, ...) tensor(#k, k, __VA_ARGS__)
#define FARS(k, ...) far(#k, k, __VA_ARGS__)
static void run_memory()
{
    cudaDriverEntryPointQueryResult found;
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void **)&tiled, 12000, cudaEnableDefault, &found);
    BULKS(bulk_nothing, 0); BULKS(bulk_load, 16); BULKS(bulk_load, 4096); BULKS(bulk_store, 4096); BULKS(bulk_reduce, 4096);
    TENSORS(tensor_load, 2, 0, 64, 16, 1, 0, 0); TENSORS(tensor_load, 2, 3, 32, 32, 1, 0, 0); TENSORS(tensor_store, 2, 0, 64, 16, 1, 0, 0);
    FARS(far_nothing, 4, 1); FARS(far_load, 4, 1); FARS(far_load, 4, 0); FARS(far_store, 4, 1); FARS(far_atom, 4, 1); FARS(far_bulk, 4, 1); FARS(far_multicast, 4, 1); FARS(far_st_async, 4, 1);
    one("barrier_init", barrier_init); one("barrier_arrive", barrier_arrive); one("barrier_arrive_wait", barrier_arrive_wait); one("barrier_test", barrier_test);
    BULKS(bulk_load, 128); BULKS(bulk_load, 48, 0, 16); BULKS(bulk_load, 64, 16, 48); BULKS(bulk_load, 1024, 0, 16); BULKS(bulk_load, 16384);
    BULKS(bulk_store, 16); BULKS(bulk_store, 48, 0, 16); BULKS(bulk_store, 16384, 64, 64); BULKS(bulk_reduce, 16); BULKS(bulk_reduce, 64, 0, 16);
    BULKS(bulk_prefetch, 4096);
    BULKS(bulk_load, 1024, 16, 16); BULKS(bulk_load, 1024, 16, 0); BULKS(bulk_load, 1024, 48, 16); BULKS(bulk_load, 1008, 0, 96); BULKS(bulk_load, 16, 0, 16);
    BULKS(bulk_store, 1024, 0, 16); BULKS(bulk_store, 1024, 16, 16); BULKS(bulk_store, 1024, 16, 0); BULKS(bulk_reduce, 1024, 0, 48);
    TENSORS(tensor_load, 1, 0, 256, 1, 1, 0, 0); TENSORS(tensor_load, 2, 1, 8, 64, 1, 8, 0); TENSORS(tensor_load, 2, 2, 16, 64, 1, 16, 0);
    TENSORS(tensor_load, 2, 3, 32, 32, 1, 32, 3); TENSORS(tensor_load, 2, 0, 4, 64, 1, 4, 0); TENSORS(tensor_load, 2, 0, 12, 32, 1, 4, 0);
    TENSORS(tensor_load, 3, 0, 16, 8, 4, 16, 8); TENSORS(tensor_load, 2, 0, 64, 16, 1, 992, 56); TENSORS(tensor_load, 2, 3, 32, 32, 1, 0, 0, 36);
    TENSORS(tensor_load, 2, 0, 64, 16, 1, 0, 0, 1024, 3); TENSORS(tensor_load, 2, 0, 8, 64, 1, 8, 0, 1024, 3);
    TENSORS(tensor_load, 2, 0, 64, 16, 1, 4, 0); TENSORS(tensor_load, 2, 0, 64, 16, 1, 0, 0, 260); TENSORS(tensor_load, 2, 3, 32, 32, 1, 4, 0);
    TENSORS(tensor_store, 2, 0, 64, 16, 1, 4, 0); TENSORS(tensor_store, 2, 0, 64, 16, 1, 0, 0, 260); TENSORS(tensor_store, 2, 0, 4, 64, 1, 4, 0);
    TENSORS(tensor_store, 2, 3, 32, 32, 1, 0, 0); TENSORS(tensor_store, 2, 0, 12, 32, 1, 4, 0); TENSORS(tensor_store, 2, 0, 64, 16, 1, 992, 56);
    TENSORS(tensor_reduce, 2, 0, 64, 16, 1, 0, 0); TENSORS(tensor_reduce, 2, 0, 12, 32, 1, 4, 0); TENSORS(tensor_prefetch, 2, 0, 64, 16, 1, 0, 0);
    FARS(far_load, 8, 1); FARS(far_load, 128, 1); FARS(far_load, 0, 1); FARS(far_load, 128, 0); FARS(far_load4, 16, 1); FARS(far_load4, 32, 1);
    FARS(far_store, 8, 1); FARS(far_store, 128, 1); FARS(far_store, 0, 1); FARS(far_store4, 16, 1); FARS(far_store4, 32, 1);
    FARS(far_atom, 128, 1); FARS(far_atom, 0, 1); FARS(far_atom, 4, 0); FARS(far_red, 4, 1); FARS(far_red, 128, 1); FARS(far_red, 4, 0); FARS(far_red_async, 4, 1); FARS(far_st_async, 128, 1); FARS(far_arrive, 4, 1);
    one("barrier_init_32", barrier_init_32); one("barrier_arrive_1", barrier_arrive_1); one("barrier_expect_1", barrier_expect_1);
    one("barrier_inval_1", barrier_inval_1); one("barrier_copies", barrier_copies, 32, 4096);
}

// ---- clusters ----
#define FARP(k) far_of(#k, pattern, k, r, 1, ~0u)
static uint32_t next();
static void tile(const char *name, void (*kernel)(CUtensorMap, int, int), int blocks, int swizzle)
{
    const cuuint64_t dim[2] = {1024, 64}, stride[1] = {4096};
    const cuuint32_t box[2] = {32, 32}, each[2] = {1, 1};
    CUtensorMap map;
    tiled(&map, CU_TENSOR_MAP_DATA_TYPE_UINT32, 2, data, dim, stride, box, each, CU_TENSOR_MAP_INTERLEAVE_NONE, (CUtensorMapSwizzle)swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
    char text[64];
    snprintf(text, sizeof text, "%s swizzle %d", name, swizzle);
    if (!go(text)) return;
    kernel<<<blocks, 32, 16384>>>(map, 32, 0);
    done(text);
}
static void run_clusters()
{
    cudaDriverEntryPointQueryResult found;
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void **)&tiled, 12000, cudaEnableDefault, &found);
    const uint32_t strides[] = {0, 8, 16, 32, 64, 128, 36, 132, 256};
    FARS(far_red, 4, 1); FARS(far_red_async, 4, 1); FARS(far_cas, 4, 1); FARS(far_exch, 4, 1); FARS(far_max, 4, 1); FARS(far_fadd, 4, 1); FARS(far_red_or, 4, 1); FARS(far_red_f, 4, 1);
    FARS(far_st_async_v2, 8, 1); FARS(far_st_async_v4, 16, 1); FARS(far_st_async8, 8, 1); FARS(far_st_async_v2_8, 16, 1);
    FARS(far_red_async_min, 4, 1); FARS(far_red_async_inc, 4, 1); FARS(far_red_async_or, 4, 1); FARS(far_red_async8, 8, 1);
    FARS(far_load1, 1, 1); FARS(far_store1, 1, 1); FARS(far_load8, 8, 1); FARS(far_store8, 8, 1); FARS(far_load4, 16, 1); FARS(far_store4, 16, 1); FARS(far_atom8, 8, 1); FARS(far_red8, 8, 1);
    FARS(far_atom, 4, 0); FARS(far_red, 4, 0); FARS(far_store, 4, 0); FARS(far_st_async, 4, 0); FARS(far_red_async, 4, 0); FARS(far_bulk, 4, 0); FARS(far_arrive, 4, 1, 1); FARS(far_arrive, 4, 0, 1); FARS(far_expect, 4, 1, 1);
    FARS(far_bulk_16, 4, 1); FARS(far_bulk_48, 4, 1); FARS(far_bulk_1024, 4, 1); FARS(far_bulk_16, 4, 0);
    FARS(far_multicast_own, 0, 0); FARS(far_multicast_other, 0, 0); FARS(far_multicast_16, 0, 0); FARS(far_multicast_4, 0, 0, ~0u, 4); FARS(far_multicast_2_of_4, 0, 0, ~0u, 4); FARS(far_multicast_8, 0, 0, ~0u, 8);
    tile("far_tile", far_tile, 2, 0); tile("far_tile", far_tile, 2, 3); tile("far_tile_4", far_tile_4, 4, 3);
    for (uint32_t s : strides) {
        FARS(far_load, s, 1); FARS(far_store, s, 1); FARS(far_atom, s, 1); FARS(far_red, s, 1); FARS(far_st_async, s, 1); FARS(far_red_async, s, 1);
    }
    const uint32_t lanes[] = {1, 0xffff, 0x55555555, 0x000f000f, 0x80000001};
    for (uint32_t l : lanes) {
        FARS(far_load, 4, 1, l); FARS(far_store, 4, 1, l); FARS(far_atom, 4, 1, l); FARS(far_red, 4, 1, l); FARS(far_st_async, 4, 1, l); FARS(far_red_async, 4, 1, l);
    }
    FARS(far_load4, 32, 1); FARS(far_store4, 32, 1); FARS(far_load8, 16, 1); FARS(far_store8, 16, 1); FARS(far_atom8, 16, 1); FARS(far_red8, 32, 1); FARS(far_red_async8, 16, 1); FARS(far_st_async_v4, 32, 1);
    FARS(far_load4, 0, 1); FARS(far_store4, 0, 1); FARS(far_load8, 0, 1); FARS(far_atom8, 0, 1); FARS(far_exch, 0, 1); FARS(far_cas, 0, 1); FARS(far_fadd, 0, 1); FARS(far_red_f, 0, 1); FARS(far_max, 128, 1);
    char pattern[64];
    for (int n = 0; n < 4; n++) { // words anywhere, and half of the lanes in each block
        Rows r;
        const uint32_t spread = n == 0 ? 32 : n == 1 ? 64 : 4096;
        for (uint32_t i = 0; i < 32; i++) r.shared[i] = (uint16_t)(next() % spread * 4), r.global[i] = n == 3 ? i & 1 : 1;
        if (n == 3) for (uint32_t i = 0; i < 32; i++) r.shared[i] = (uint16_t)(4 * i);
        snprintf(pattern, sizeof pattern, n == 3 ? "in turns" : "random of %u", spread);
        FARP(far_load); FARP(far_store); FARP(far_atom); FARP(far_red);
        if (n < 3) { FARP(far_st_async); FARP(far_red_async); }
    }
}
// How many clusters of a kernel fit, and how large they can be: no launches, a line each.
__global__ void plain(uint32_t *o) { if (o) o[0] = 1; }
static void run_occupancy()
{
    cudaFuncSetAttribute(plain, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024);
    cudaFuncSetAttribute(plain, cudaFuncAttributeNonPortableClusterSizeAllowed, 1);
    for (int threads : {32, 128, 256, 512, 1024})
        for (int shared : {0, 16 * 1024, 48 * 1024, 100 * 1024, 113 * 1024, 200 * 1024, 227 * 1024}) {
            cudaLaunchConfig_t config = {};
            cudaLaunchAttribute attribute = {};
            config.gridDim = dim3(4096);
            config.blockDim = dim3((unsigned)threads);
            config.dynamicSmemBytes = (size_t)shared;
            int size = -1;
            cudaError_t e = cudaOccupancyMaxPotentialClusterSize(&size, plain, &config);
            printf("threads %d shared %d: size %d %d; clusters", threads, shared, (int)e, size);
            config.attrs = &attribute;
            config.numAttrs = 1;
            attribute.id = cudaLaunchAttributeClusterDimension;
            attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
            for (unsigned n : {1u, 2u, 3u, 4u, 6u, 8u, 12u, 16u}) {
                attribute.val.clusterDim.x = n;
                config.gridDim = dim3(n * 64);
                int active = -1;
                e = cudaOccupancyMaxActiveClusters(&active, plain, &config);
                printf(" %u:%d,%d", n, (int)e, active);
            }
            printf("\n");
        }
}

// ---- rows ----
#define LD(name, n, list, ...) __global__ void name(Rows r, uint32_t *o) { uint32_t v[4] = {}; asm volatile("ldmatrix.sync.aligned.m8n8." n ".shared.b16 " list ", [%4];" : "+r"(v[0]), "+r"(v[1]), "+r"(v[2]), "+r"(v[3]) : "r"(sa(room) + r.shared[threadIdx.x]) : "memory"); o[threadIdx.x] = v[0] ^ v[1] ^ v[2] ^ v[3]; }
#define ST(name, n, list) __global__ void name(Rows r, uint32_t *o) { uint32_t x = threadIdx.x; asm volatile("stmatrix.sync.aligned.m8n8." n ".shared.b16 [%0], " list ";" ::"r"(sa(room) + r.shared[x]), "r"(x) : "memory"); }
LD(ld_x1, "x1", "{%0}") LD(ld_x2, "x2", "{%0,%1}") LD(ld_x4, "x4", "{%0,%1,%2,%3}")
LD(ld_x1_trans, "x1.trans", "{%0}") LD(ld_x2_trans, "x2.trans", "{%0,%1}") LD(ld_x4_trans, "x4.trans", "{%0,%1,%2,%3}")
ST(st_x1, "x1", "{%1}") ST(st_x2, "x2", "{%1,%1}") ST(st_x4, "x4", "{%1,%1,%1,%1}")
ST(st_x1_trans, "x1.trans", "{%1}") ST(st_x2_trans, "x2.trans", "{%1,%1}") ST(st_x4_trans, "x4.trans", "{%1,%1,%1,%1}")
#define CP(name, how, bytes) __global__ void name(Rows r, uint32_t *o) { asm volatile("cp.async." how ".shared.global [%0], [%1], " #bytes "; cp.async.wait_all;" ::"r"(sa(room) + r.shared[threadIdx.x]), "l"((const uint8_t *)o + r.global[threadIdx.x]) : "memory"); }
CP(cp_cg_16, "cg", 16) CP(cp_ca_16, "ca", 16) CP(cp_ca_8, "ca", 8) CP(cp_ca_4, "ca", 4)
__global__ void cp_cg_16_none(Rows r, uint32_t *o)
{
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2; cp.async.wait_all;" ::"r"(sa(room) + r.shared[threadIdx.x]), "l"((const uint8_t *)o + r.global[threadIdx.x]), "r"(threadIdx.x & 1 ? 16 : 0) : "memory");
}
static uint32_t seed = 1;
static uint32_t next()
{
    seed = seed * 1664525u + 1013904223u;
    return seed >> 8;
}
template <class K> static void rows(const char *name, const char *pattern, K kernel, const Rows &r)
{
    char text[160];
    snprintf(text, sizeof text, "%s %s", name, pattern);
    if (!go(text)) return;
    kernel<<<1, 32, 16384>>>(r, data);
    done(text);
}
#define ROWS(k) rows(#k, pattern, k, r)
static unsigned swizzled(unsigned offset, unsigned span) // 32, 64, 128 bytes, as tensor maps do
{
    return span == 0 ? offset : offset ^ ((offset >> 7 & (span / 16 - 1)) << 4);
}
static void layouts(int which)
{
    static const unsigned strides[] = {16, 32, 64, 128, 144, 80, 256, 48, 272, 96, 512, 160, 112};
    char pattern[64];
    Rows r;
    for (unsigned n = 0; n < sizeof strides / sizeof *strides; n++) // rows of a tile, matrix by matrix downwards
        for (unsigned span = 0; span <= 128; span = span ? 2 * span : 32) {
            if (span && strides[n] != span) continue;
            for (int i = 0; i < 32; i++) r.shared[i] = (uint16_t)swizzled((unsigned)i * strides[n] % 16384, span), r.global[i] = 0;
            snprintf(pattern, sizeof pattern, "down %u swizzle %u", strides[n], span);
            if (which == 0) { ROWS(ld_x4); ROWS(st_x4); ROWS(ld_x4_trans); ROWS(st_x4_trans); }
            if (which == 1) { ROWS(ld_x1); ROWS(ld_x2); ROWS(st_x1); ROWS(st_x2); ROWS(ld_x1_trans); ROWS(st_x1_trans); }
            // 16 rows, and the 16 bytes behind them: as fragments of A are loaded
            for (int i = 0; i < 32; i++) r.shared[i] = (uint16_t)swizzled(((unsigned)i % 16 * strides[n] + (unsigned)i / 16 * 16) % 16384, span);
            snprintf(pattern, sizeof pattern, "across %u swizzle %u", strides[n], span);
            if (which == 0) { ROWS(ld_x4); ROWS(st_x4); }
        }
}
static void odd(int which)
{
    char pattern[64];
    Rows r;
    for (int n = 0; n < 12; n++) {
        const uint32_t spread = n % 4 == 0 ? 8 : n % 4 == 1 ? 24 : n % 4 == 2 ? 64 : 1024;
        for (int i = 0; i < 32; i++) r.shared[i] = (uint16_t)(next() % spread * 16), r.global[i] = 0;
        snprintf(pattern, sizeof pattern, "random %d of %u", n, spread);
        if (which == 0) { ROWS(ld_x4); ROWS(ld_x2); ROWS(st_x4); ROWS(ld_x1); ROWS(st_x2); }
    }
    for (int n = 0; n < 3; n++) { // the same for all, for pairs, for two matrices
        for (int i = 0; i < 32; i++) r.shared[i] = (uint16_t)(n == 0 ? 0 : n == 1 ? i / 2 * 16 : i % 16 * 128), r.global[i] = 0;
        snprintf(pattern, sizeof pattern, n == 0 ? "one" : n == 1 ? "pairs" : "twice");
        ROWS(ld_x4); ROWS(st_x4); ROWS(ld_x2);
    }
}
static void copies()
{
    char pattern[64];
    Rows r;
    for (int n = 0; n < 34; n++) {
        for (unsigned i = 0; i < 32; i++) {
            const unsigned row = i / 4, column = i % 4, row8 = i / 8, column8 = i % 8;
            switch (n) {
            case 0: r.shared[i] = (uint16_t)(16 * i), r.global[i] = 16 * i; break;
            case 1: r.shared[i] = (uint16_t)(row * 64 + column * 16), r.global[i] = row * 2048 + column * 16; break;
            case 2: r.shared[i] = (uint16_t)swizzled(row * 64 + column * 16, 64), r.global[i] = row * 2048 + column * 16; break;
            case 3: r.shared[i] = (uint16_t)swizzled(row8 * 128 + column8 * 16, 128), r.global[i] = row8 * 2048 + column8 * 16; break;
            case 4: r.shared[i] = (uint16_t)(row8 * 144 + column8 * 16), r.global[i] = row8 * 2048 + column8 * 16; break;
            case 5: r.shared[i] = (uint16_t)(row * 80 + column * 16), r.global[i] = row * 2048 + column * 16; break;
            case 6: r.shared[i] = (uint16_t)(i * 128), r.global[i] = i * 16; break;
            case 7: r.shared[i] = (uint16_t)(i * 16), r.global[i] = i * 128; break;
            case 8: r.shared[i] = (uint16_t)(i * 32), r.global[i] = i * 16; break;
            case 9: r.shared[i] = (uint16_t)(i * 16), r.global[i] = i * 32; break;
            case 10: r.shared[i] = (uint16_t)(i * 16), r.global[i] = 0; break;
            case 11: r.shared[i] = (uint16_t)swizzled((row8 + 4) * 128 + column8 * 16, 128), r.global[i] = row8 * 2048 + column8 * 16; break;
            default: r.shared[i] = (uint16_t)(next() % (n % 2 ? 32 : 256) * 16), r.global[i] = next() % (n % 3 ? 32 : 256) * 16;
            }
        }
        snprintf(pattern, sizeof pattern, "copy %d", n);
        ROWS(cp_cg_16);
        if (n < 22) ROWS(cp_ca_16);
        if (n < 12) { ROWS(cp_ca_8); ROWS(cp_ca_4); ROWS(cp_cg_16_none); }
    }
}

int main(int argc, char **argv)
{
    until = now() + (argc > 2 ? atof(argv[2]) : 1e9);
    skip = argc > 3 ? atoi(argv[3]) : 0;
    setvbuf(stdout, NULL, _IOLBF, 0);
    cudaMalloc(&out, 4 * WORDS);
    cudaMalloc(&data, 4 * WORDS);
    cudaMemset(data, 0, 4 * WORDS);
    cudaMemset(out, 0, 4 * WORDS);
    if (argc > 1 && !strcmp(argv[1], "matrix")) run_matrix();
    else if (argc > 1 && !strcmp(argv[1], "memory")) run_memory();
    else if (argc > 1 && !strcmp(argv[1], "clusters")) run_clusters();
    else if (argc > 1 && !strcmp(argv[1], "occupancy")) run_occupancy();
    else if (argc > 1 && !strcmp(argv[1], "rows")) { layouts(0); odd(0); copies(); layouts(1); }
    else return 2;
    printf("launches %d\n", launches);
    return 0;
}
