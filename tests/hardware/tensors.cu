// tensors.cu - what a device makes of tensor maps: where the elements of a tile go in shared memory, what is filled in
// outside of the tensor, which tiles and maps are refused. Each case is a process of its own. A line has what became of
// it, and the words of the tile, or of the tensor after a store, as runs: value+length counts up, value*length repeats.
//
//     nvcc -std=c++17 -arch=sm_90a -o tensors tensors.cu && ./tensors >tensors.txt      (an H200, seconds)
#include <cuda.h>
#include <cuda_runtime.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
typedef CUresult (*Tiled)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *, const cuuint64_t *,
                          const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,
                          CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
typedef CUresult (*Im2col)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *, const cuuint64_t *,
                           const int *, const int *, cuuint32_t, cuuint32_t, const cuuint32_t *, CUtensorMapInterleave,
                           CUtensorMapSwizzle, CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
static Tiled tiled;
static Im2col im2col;
enum { SMEM = 65536 };
struct Args { int rank, mode, at, bytes; int c[5]; unsigned short off[3]; }; // mode 0 load, 1 store, 2 reduce add, 3 im2col load
__device__ static uint32_t sa(const void *p) { return (uint32_t)__cvta_generic_to_shared(p); }
__global__ void go(const __grid_constant__ CUtensorMap map, Args a, uint32_t *out)
{
    extern __shared__ __align__(1024) uint8_t raw[];
    __shared__ __align__(8) uint64_t bar;
    uint8_t *buf = raw + (1024 - (sa(raw) & 1023)) % 1024;
    for (int i = 0; i < SMEM / 4; i++) ((uint32_t *)buf)[i] = a.mode == 1 || a.mode == 2 ? 0x50000000u + i : 0xdeadbeefu;
    asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(sa(&bar)));
    asm volatile("fence.proxy.async;");
    uint32_t d = sa(buf) + a.at, b = sa(&bar);
    uint64_t m = (uint64_t)&map;
    if (a.mode == 0 || a.mode == 3) {
        asm volatile("{.reg .b64 s; mbarrier.arrive.expect_tx.shared.b64 s, [%0], %1;}" ::"r"(b), "r"(a.bytes));
#define LD(n, list, ...) asm volatile("cp.async.bulk.tensor." n ".shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {" list "}], [%2];" ::"r"(d), "l"(m), "r"(b), __VA_ARGS__ : "memory")
        if (a.mode == 3 && a.rank == 4)
            asm volatile("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {%3,%4,%5,%6}], [%2], {%7,%8};" ::"r"(d), "l"(m), "r"(b), "r"(a.c[0]), "r"(a.c[1]), "r"(a.c[2]), "r"(a.c[3]), "h"(a.off[0]), "h"(a.off[1]) : "memory");
        else if (a.mode == 3)
            asm volatile("cp.async.bulk.tensor.3d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, {%3,%4,%5}], [%2], {%6};" ::"r"(d), "l"(m), "r"(b), "r"(a.c[0]), "r"(a.c[1]), "r"(a.c[2]), "h"(a.off[0]) : "memory");
        else if (a.rank == 1) LD("1d", "%3", "r"(a.c[0]));
        else if (a.rank == 2) LD("2d", "%3,%4", "r"(a.c[0]), "r"(a.c[1]));
        else if (a.rank == 3) LD("3d", "%3,%4,%5", "r"(a.c[0]), "r"(a.c[1]), "r"(a.c[2]));
        else if (a.rank == 4) LD("4d", "%3,%4,%5,%6", "r"(a.c[0]), "r"(a.c[1]), "r"(a.c[2]), "r"(a.c[3]));
        else LD("5d", "%3,%4,%5,%6,%7", "r"(a.c[0]), "r"(a.c[1]), "r"(a.c[2]), "r"(a.c[3]), "r"(a.c[4]));
        unsigned done = 0;
        long long t0 = clock64();
        while (!done && clock64() - t0 < 20000000)
            asm volatile("{.reg .pred p; mbarrier.test_wait.parity.shared.b64 p, [%1], 0; selp.u32 %0,1,0,p;}" : "=r"(done) : "r"(b));
        out[SMEM / 4] = done;
        for (int i = 0; i < SMEM / 4; i++) out[i] = ((uint32_t *)buf)[i];
    } else {
        if (a.mode == 1 && a.rank == 2)
            asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2,%3}], [%1];" ::"l"(m), "r"(d), "r"(a.c[0]), "r"(a.c[1]) : "memory");
        else if (a.mode == 1)
            asm volatile("cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%2,%3,%4}], [%1];" ::"l"(m), "r"(d), "r"(a.c[0]), "r"(a.c[1]), "r"(a.c[2]) : "memory");
        else
            asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.bulk_group [%0, {%2,%3}], [%1];" ::"l"(m), "r"(d), "r"(a.c[0]), "r"(a.c[1]) : "memory");
        asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
        out[SMEM / 4] = 1;
    }
}
static void runs(const uint32_t *p, size_t n) // consecutive values in short: "value+count"
{
    uint32_t h = 2166136261u;
    for (size_t i = 0; i < n; i++) h = (h ^ p[i]) * 16777619u;
    printf(" hash %08x:", h);
    size_t end = n, shown = 0;
    while (end && p[end - 1] == 0xdeadbeefu) end--;
    for (size_t i = 0; i < end && shown < 40; shown++) {
        size_t k = i + 1;
        bool same = k < end && p[k] == p[i];
        while (k < end && p[k] == p[i] + (same ? 0 : (uint32_t)(k - i))) k++;
        printf(" %x%s%zu", p[i], same ? "*" : "+", k - i);
        i = k;
    }
    printf("  (%zu words)\n", end);
}
static uint32_t *data, *out;
static const size_t N = 1 << 20;
struct C { const char *name; CUtensorMapDataType t; int size, rank; cuuint64_t dim[5]; cuuint32_t box[5], es[5]; int il, sw, oob, mode, at; int c[5]; cuuint64_t pad; };
static void one(const C &q)
{
    cuuint64_t stride[5] = {};
    cuuint64_t s = q.dim[0] * q.size + q.pad;
    if (q.il) s = (q.il == 1 ? 16 : 32);
    for (int i = 0; i < q.rank - 1; i++) { stride[i] = (q.il && i == 0) ? q.dim[0] * q.size * 1 : s; if (q.il && i == 0) { stride[0] = (q.il == 1 ? 16 : 32); s = stride[0] * q.dim[1]; } else s *= q.dim[i + 1]; }
    for (size_t i = 0; i < N; i++) data[i] = (uint32_t)i;
    for (size_t i = 0; i <= SMEM / 4; i++) out[i] = 0xdeadbeefu;
    CUtensorMap m;
    CUresult r = tiled(&m, q.t, q.rank, data, q.dim, stride, q.box, q.es, (CUtensorMapInterleave)q.il, (CUtensorMapSwizzle)q.sw, CU_TENSOR_MAP_L2_PROMOTION_NONE, (CUtensorMapFloatOOBfill)q.oob);
    printf("%s: encode %d", q.name, (int)r);
    if (r) { printf("\n"); return; }
    Args a = {q.rank, q.mode, q.at, q.size, {q.c[0], q.c[1], q.c[2], q.c[3], q.c[4]}, {}};
    for (int i = 0; i < q.rank; i++) a.bytes *= (q.box[i] + q.es[i] - 1) / q.es[i];
    go<<<1, 1, SMEM + 1024>>>(m, a, out);
    cudaError_t e = cudaDeviceSynchronize();
    printf(" %s done %u bytes %d", cudaGetErrorName(e), out[SMEM / 4], a.bytes);
    if (e) { printf("\n"); exit(1); }
    if (q.mode == 0) runs(out, SMEM / 4); else runs(data, 4096);
}
#define T4 CU_TENSOR_MAP_DATA_TYPE_UINT32
#define T1 CU_TENSOR_MAP_DATA_TYPE_UINT8
#define T2 CU_TENSOR_MAP_DATA_TYPE_UINT16
#define TF CU_TENSOR_MAP_DATA_TYPE_FLOAT32
#define TH CU_TENSOR_MAP_DATA_TYPE_FLOAT16
#define TD CU_TENSOR_MAP_DATA_TYPE_FLOAT64
#define TB CU_TENSOR_MAP_DATA_TYPE_BFLOAT16
int main(int argc, char **argv)
{
    if (argc == 1) { // each case in a process of its own: an error ends the context
        for (int i = 0; i < 68; i++) { char line[512]; snprintf(line, sizeof line, "'%s' %d", argv[0], i); fflush(stdout); if (system(line)) fflush(stdout); }
        return 0;
    }
    const int only = atoi(argv[1]);
    cudaDriverEntryPointQueryResult found;
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void **)&tiled, 12000, cudaEnableDefault, &found);
    cudaGetDriverEntryPointByVersion("cuTensorMapEncodeIm2col", (void **)&im2col, 12000, cudaEnableDefault, &found);
    cudaMallocManaged(&data, N * 4);
    cudaMallocManaged(&out, SMEM + 4);
    cudaFuncSetAttribute(go, cudaFuncAttributeMaxDynamicSharedMemorySize, SMEM + 1024);
    const C all[] = {
        {"1d", T4, 4, 1, {1000}, {64}, {1}, 0, 0, 0, 0, 0, {8}},
        {"1d end", T4, 4, 1, {1000}, {64}, {1}, 0, 0, 0, 0, 128, {980}},
        {"1d negative", T4, 4, 1, {1000}, {64}, {1}, 0, 0, 0, 0, 0, {-5}},
        {"1d negative 4", T4, 4, 1, {1000}, {64}, {1}, 0, 0, 0, 0, 0, {-4}},
        {"1d odd", T4, 4, 1, {1000}, {64}, {1}, 0, 0, 0, 0, 0, {5}},
        {"2d odd", T4, 4, 2, {64, 40}, {16, 8}, {1, 1}, 0, 0, 0, 0, 0, {5, 3}},
        {"2d negative row", T4, 4, 2, {64, 40}, {16, 8}, {1, 1}, 0, 0, 0, 0, 0, {4, -2}},
        {"2d negative 4", T4, 4, 2, {64, 40}, {16, 8}, {1, 1}, 0, 0, 0, 0, 0, {-4, -2}},
        {"1d beyond", T4, 4, 1, {1000}, {64}, {1}, 0, 0, 0, 0, 0, {5000}},
        {"2d", T4, 4, 2, {64, 40}, {16, 8}, {1, 1}, 0, 0, 0, 0, 0, {4, 3}},
        {"2d corner", T4, 4, 2, {64, 40}, {16, 8}, {1, 1}, 0, 0, 0, 0, 0, {56, 36}},
        {"2d negative", T4, 4, 2, {64, 40}, {16, 8}, {1, 1}, 0, 0, 0, 0, 0, {-3, -2}},
        {"2d nan f32", TF, 4, 2, {64, 40}, {16, 8}, {1, 1}, 0, 0, 1, 0, 0, {56, 36}},
        {"2d nan f16", TH, 2, 2, {64, 40}, {16, 8}, {1, 1}, 0, 0, 1, 0, 0, {56, 36}},
        {"2d nan bf16", TB, 2, 2, {64, 40}, {16, 8}, {1, 1}, 0, 0, 1, 0, 0, {56, 36}},
        {"2d nan f64", TD, 8, 2, {64, 40}, {16, 8}, {1, 1}, 0, 0, 1, 0, 0, {56, 36}},
        {"2d nan u32", T4, 4, 2, {64, 40}, {16, 8}, {1, 1}, 0, 0, 1, 0, 0, {56, 36}},
        {"2d u8", T1, 1, 2, {64, 40}, {32, 8}, {1, 1}, 0, 0, 0, 0, 0, {60, 3}},
        {"2d u8 odd start", T1, 1, 2, {64, 40}, {32, 8}, {1, 1}, 0, 0, 0, 0, 0, {3, 3}},
        {"2d u16 s32", T2, 2, 2, {64, 40}, {16, 16}, {1, 1}, 0, 1, 0, 0, 0, {0, 0}},
        {"2d s32", T4, 4, 2, {64, 40}, {8, 32}, {1, 1}, 0, 1, 0, 0, 0, {0, 0}},
        {"2d s64", T4, 4, 2, {64, 40}, {16, 32}, {1, 1}, 0, 2, 0, 0, 0, {0, 0}},
        {"2d s128", T4, 4, 2, {64, 40}, {32, 16}, {1, 1}, 0, 3, 0, 0, 0, {0, 0}},
        {"2d s128 box 16", T4, 4, 2, {64, 40}, {16, 16}, {1, 1}, 0, 3, 0, 0, 0, {0, 0}},
        {"2d s128 box 20", T4, 4, 2, {64, 40}, {20, 16}, {1, 1}, 0, 3, 0, 0, 0, {0, 0}},
        {"2d s64 box 8", T4, 4, 2, {64, 40}, {8, 16}, {1, 1}, 0, 2, 0, 0, 0, {0, 0}},
        {"2d s128 at 128", T4, 4, 2, {64, 40}, {32, 16}, {1, 1}, 0, 3, 0, 0, 128, {0, 0}},
        {"2d s128 at 512", T4, 4, 2, {64, 40}, {32, 16}, {1, 1}, 0, 3, 0, 0, 512, {0, 0}},
        {"2d s64 at 128", T4, 4, 2, {64, 40}, {16, 16}, {1, 1}, 0, 2, 0, 0, 128, {0, 0}},
        {"2d s32 at 128", T4, 4, 2, {64, 40}, {8, 16}, {1, 1}, 0, 1, 0, 0, 128, {0, 0}},
        {"2d s128 oob", T4, 4, 2, {64, 40}, {32, 16}, {1, 1}, 0, 3, 0, 0, 0, {50, 30}},
        {"2d es 2,1", T4, 4, 2, {64, 40}, {16, 8}, {2, 1}, 0, 0, 0, 0, 0, {0, 0}},
        {"2d es 1,2", T4, 4, 2, {64, 40}, {16, 8}, {1, 2}, 0, 0, 0, 0, 0, {4, 1}},
        {"2d es 1,3", T4, 4, 2, {64, 40}, {16, 8}, {1, 3}, 0, 0, 0, 0, 0, {4, 34}},
        {"2d es 3,3", T4, 4, 2, {64, 40}, {24, 8}, {3, 3}, 0, 0, 0, 0, 0, {-2, -1}},
        {"3d", T4, 4, 3, {16, 8, 6}, {8, 4, 3}, {1, 1, 1}, 0, 0, 0, 0, 0, {4, 6, 4}},
        {"3d pad", T4, 4, 3, {16, 8, 6}, {8, 4, 3}, {1, 1, 1}, 0, 0, 0, 0, 0, {4, 2, 1}, 32},
        {"3d s128", T4, 4, 3, {64, 8, 6}, {32, 4, 3}, {1, 1, 1}, 0, 3, 0, 0, 0, {0, 6, 1}},
        {"4d", T4, 4, 4, {16, 8, 6, 5}, {8, 4, 3, 2}, {1, 1, 1, 1}, 0, 0, 0, 0, 0, {-4, 1, 4, 4}},
        {"5d", T4, 4, 5, {16, 8, 6, 5, 4}, {4, 4, 2, 2, 2}, {1, 1, 1, 1, 1}, 0, 0, 0, 0, 0, {12, 1, 1, 2, 3}},
        {"3d il16", T2, 2, 3, {8, 32, 8}, {8, 8, 4}, {1, 1, 1}, 1, 0, 0, 0, 0, {0, 4, 2}},
        {"3d il32 s32", T2, 2, 3, {16, 32, 8}, {16, 8, 4}, {1, 1, 1}, 2, 1, 0, 0, 0, {0, 4, 2}},
        {"store", T4, 4, 2, {64, 40}, {16, 8}, {1, 1}, 0, 0, 0, 1, 0, {4, 3}},
        {"store corner", T4, 4, 2, {64, 40}, {16, 8}, {1, 1}, 0, 0, 0, 1, 0, {56, 36}},
        {"store negative", T4, 4, 2, {64, 40}, {16, 8}, {1, 1}, 0, 0, 0, 1, 0, {-3, -2}},
        {"store s128", T4, 4, 2, {64, 40}, {32, 16}, {1, 1}, 0, 3, 0, 1, 0, {0, 0}},
        {"store es 1,2", T4, 4, 2, {64, 40}, {16, 8}, {1, 2}, 0, 0, 0, 1, 0, {0, 0}},
        {"store 3d", T4, 4, 3, {16, 8, 6}, {8, 4, 3}, {1, 1, 1}, 0, 0, 0, 1, 0, {4, 6, 4}},
        {"reduce", T4, 4, 2, {64, 40}, {16, 8}, {1, 1}, 0, 0, 0, 2, 0, {56, 36}},
        // maps that the driver may refuse: only the code counts
        {"box 0 of 3 words", T4, 4, 2, {64, 40}, {3, 8}, {1, 1}, 0, 0, 0, 0, 0, {0, 0}},
        {"box 257", T4, 4, 2, {1024, 40}, {257, 8}, {1, 1}, 0, 0, 0, 0, 0, {0, 0}},
        {"box 256x256", T4, 4, 2, {1024, 400}, {256, 256}, {1, 1}, 0, 0, 0, 9, 0, {0, 0}},
        {"stride 12", T4, 4, 2, {3, 40}, {4, 8}, {1, 1}, 0, 0, 0, 0, 0, {0, 0}},
        {"swizzle 128 box 33", T4, 4, 2, {64, 40}, {36, 8}, {1, 1}, 0, 3, 0, 0, 0, {0, 0}},
        {"swizzle 32 box 16", T4, 4, 2, {64, 40}, {16, 8}, {1, 1}, 0, 1, 0, 0, 0, {0, 0}},
        {"es 9", T4, 4, 2, {64, 40}, {16, 9}, {1, 9}, 0, 0, 0, 0, 0, {0, 0}},
        {"dim 0", T4, 4, 2, {0, 40}, {16, 8}, {1, 1}, 0, 0, 0, 0, 0, {0, 0}},
        {"il16 2d", T2, 2, 2, {8, 32}, {8, 8}, {1, 1}, 1, 0, 0, 0, 0, {0, 0}},
        {"il32 s0", T2, 2, 3, {16, 32, 8}, {16, 8, 4}, {1, 1, 1}, 2, 0, 0, 0, 0, {0, 0, 0}},
    };
    int at = 0;
    for (const C &q : all)
        if (at++ != only) continue;
        else if (q.mode != 9) one(q);
        else { CUtensorMap m; cuuint64_t st[1] = {4096}; printf("%s: encode %d\n", q.name, (int)tiled(&m, q.t, 2, data, q.dim, st, q.box, q.es, (CUtensorMapInterleave)0, (CUtensorMapSwizzle)0, (CUtensorMapL2promotion)0, (CUtensorMapFloatOOBfill)0)); }
    printf(only == at ? "" : "");
    CUtensorMap m; cuuint64_t d[2] = {64, 40}, st[1] = {256}; cuuint32_t b[2] = {16, 8}, e[2] = {1, 1};
    if (only == at) {
    printf("address 8: %d\n", (int)tiled(&m, T4, 2, (char *)data + 8, d, st, b, e, (CUtensorMapInterleave)0, (CUtensorMapSwizzle)0, (CUtensorMapL2promotion)0, (CUtensorMapFloatOOBfill)0));
    printf("rank 0: %d\n", (int)tiled(&m, T4, 0, data, d, st, b, e, (CUtensorMapInterleave)0, (CUtensorMapSwizzle)0, (CUtensorMapL2promotion)0, (CUtensorMapFloatOOBfill)0));
    printf("rank 6: %d\n", (int)tiled(&m, T4, 6, data, d, st, b, e, (CUtensorMapInterleave)0, (CUtensorMapSwizzle)0, (CUtensorMapL2promotion)0, (CUtensorMapFloatOOBfill)0));
    printf("null map: %d\n", (int)tiled(0, T4, 2, data, d, st, b, e, (CUtensorMapInterleave)0, (CUtensorMapSwizzle)0, (CUtensorMapL2promotion)0, (CUtensorMapFloatOOBfill)0));
    printf("type 99: %d\n", (int)tiled(&m, (CUtensorMapDataType)99, 2, data, d, st, b, e, (CUtensorMapInterleave)0, (CUtensorMapSwizzle)0, (CUtensorMapL2promotion)0, (CUtensorMapFloatOOBfill)0));
    }
    at++;
    // im2col of NWC and NHWC: channels, width (, height), images
    for (int t = 0; t < 6; t++) {
        if (at++ != only) continue;
        int rank = t < 2 ? 3 : 4;
        cuuint64_t dim[4] = {8, 12, (cuuint64_t)(rank == 3 ? 5 : 10), 5}, str[3] = {32, 32 * 12, 32 * 120};
        int lo[2] = {t == 1 || t == 3 || t == 5 ? -1 : 0, t == 3 || t == 5 ? -1 : 0}, hi[2] = {t == 1 || t == 3 ? -1 : 0, t == 3 ? -1 : 0};
        if (t == 4) { lo[0] = 0; lo[1] = 0; hi[0] = -2; hi[1] = -2; }
        cuuint32_t es[4] = {1, (cuuint32_t)(t == 5 ? 2 : 1), (cuuint32_t)(t == 5 && rank == 4 ? 2 : 1), 1};
        for (size_t i = 0; i <= SMEM / 4; i++) out[i] = 0xdeadbeefu;
        CUresult r = im2col(&m, T4, rank, data, dim, str, lo, hi, 8, 24, es, (CUtensorMapInterleave)0, (CUtensorMapSwizzle)0, (CUtensorMapL2promotion)0, (CUtensorMapFloatOOBfill)0);
        printf("im2col %d: encode %d", t, (int)r);
        if (r) { printf("\n"); continue; }
        Args a = {rank, 3, 0, 8 * 24 * 4, {0, t == 1 ? -1 : 3, rank == 3 ? 1 : t == 3 ? -1 : 2, 1}, {(unsigned short)(t & 1), (unsigned short)(t == 4 ? 2 : 0)}};
        go<<<1, 1, SMEM + 1024>>>(m, a, out);
        cudaError_t err = cudaDeviceSynchronize();
        printf(" %s done %u", cudaGetErrorName(err), out[SMEM / 4]);
        runs(out, SMEM / 4);
    }
    return 0;
}
