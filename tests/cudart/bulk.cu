// bulk.cu - bulk and tensor copies: tiles of tensors of all ranks and swizzles against plain C, stores and reductions,
// multicast; what is in flight is not there yet; what a device refuses.
// RUN: -std=c++17 -arch=sm_90
// CASE run: EXPECT: ok
// CASE clean: EXPECT: ok
// CASE early: EXPECT: old
// CASE size: EXPECT: 719
// CASE size: STDERR: a size of 20 bytes is not a multiple of 16
// CASE place: EXPECT: 716
// CASE place: STDERR: destination 0x8 is not a multiple of 16
// CASE past: EXPECT: 700
// CASE past: STDERR: access of 4096 bytes at
// CASE map: EXPECT: 719
// CASE map: STDERR: the map was not made by cuTensorMapEncodeTiled
// CASE bytes: EXPECT: 702
// CASE bytes: STDERR: has 1 of 1 arrivals and 256 of 512 bytes, and nobody can come any more
#include "check.h"
#include <cooperative_groups.h>
#include <cstdint>
#include <cuda.h>
#include <vector>
namespace cg = cooperative_groups;

typedef CUresult (*Tiled)(CUtensorMap *, CUtensorMapDataType, cuuint32_t, void *, const cuuint64_t *, const cuuint64_t *,
                          const cuuint32_t *, const cuuint32_t *, CUtensorMapInterleave, CUtensorMapSwizzle,
                          CUtensorMapL2promotion, CUtensorMapFloatOOBfill);
static Tiled tiled;

template <class T> static T *managed(size_t n)
{
    T *p;
    OK(cudaMallocManaged(&p, n * sizeof(T)));
    memset(p, 0, n * sizeof(T));
    return p;
}
__device__ static uint32_t shared_address(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}
__device__ static void wait_for(uint32_t bar, uint32_t parity)
{
    asm volatile("{ .reg .pred p;\nAGAIN: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra AGAIN; }" ::"r"(bar),
                 "r"(parity)
                 : "memory");
}
__device__ static void expect(uint32_t bar, uint32_t bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
}
__device__ static void begin(uint32_t bar)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;\nfence.mbarrier_init.release.cluster;" ::"r"(bar) : "memory");
}
__device__ static void load(uint32_t to, const void *from, uint32_t bytes, uint32_t bar)
{
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(to),
                 "l"(from), "r"(bytes), "r"(bar)
                 : "memory");
}

// ---- tensors ----
enum { TILE = 8192 };
enum { untouched = 0xee };
struct Where {
    int rank, bytes, room, c[5];
};
#define TENSOR(n, list, ...)                                                                                           \
    asm volatile("cp.async.bulk.tensor." n ".shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1, {" list    \
                 "}], [%2];" ::"r"(to),                                                                                \
                 "l"(&map), "r"(bar), __VA_ARGS__                                                                      \
                 : "memory")
__global__ void fetch(const __grid_constant__ CUtensorMap map, Where w, uint32_t *out)
{
    __shared__ __align__(1024) uint32_t tile[TILE / 4];
    __shared__ uint64_t full;
    const uint32_t to = shared_address(tile), bar = shared_address(&full);
    for (int i = threadIdx.x; i < TILE / 4; i += blockDim.x)
        tile[i] = untouched * 0x01010101u;
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        begin(bar);
        expect(bar, w.bytes);
        if (w.rank == 1)
            TENSOR("1d", "%3", "r"(w.c[0]));
        else if (w.rank == 2)
            TENSOR("2d", "%3, %4", "r"(w.c[0]), "r"(w.c[1]));
        else if (w.rank == 3)
            TENSOR("3d", "%3, %4, %5", "r"(w.c[0]), "r"(w.c[1]), "r"(w.c[2]));
        else if (w.rank == 4)
            TENSOR("4d", "%3, %4, %5, %6", "r"(w.c[0]), "r"(w.c[1]), "r"(w.c[2]), "r"(w.c[3]));
        else
            TENSOR("5d", "%3, %4, %5, %6, %7", "r"(w.c[0]), "r"(w.c[1]), "r"(w.c[2]), "r"(w.c[3]), "r"(w.c[4]));
    }
    __syncthreads();
    wait_for(bar, 0);
    for (int i = threadIdx.x; i < w.room / 4; i += blockDim.x)
        out[i] = tile[i];
}

// Adds, or stores, a tile whose words are 1, 2, … as they lie in shared memory.
template <bool adds> __global__ void give(const __grid_constant__ CUtensorMap map, int x, int y, int words)
{
    __shared__ __align__(1024) uint32_t tile[TILE / 4];
    for (int i = threadIdx.x; i < words; i += blockDim.x)
        tile[i] = 1 + i;
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (threadIdx.x == 0) {
        if (adds)
            asm volatile("cp.reduce.async.bulk.tensor.2d.global.shared::cta.add.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(
                             &map),
                         "r"(x), "r"(y), "r"(shared_address(tile))
                         : "memory");
        else
            asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(&map),
                         "r"(x), "r"(y), "r"(shared_address(tile))
                         : "memory");
        asm volatile("cp.async.bulk.commit_group;\ncp.async.bulk.wait_group 0;" ::: "memory");
    }
}

struct Tensor {
    CUtensorMapDataType type;
    int size, rank;
    cuuint64_t dim[5], pad; // bytes at the end of each row
    cuuint32_t box[5], step[5];
    int swizzle, at[5];
};
static const Tensor tensors[] = {
    {CU_TENSOR_MAP_DATA_TYPE_UINT32, 4, 1, {1000}, 0, {64}, {1}, 0, {8}},
    {CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, 1, {1000}, 0, {64}, {1}, 0, {980}},
    {CU_TENSOR_MAP_DATA_TYPE_UINT32, 4, 2, {64, 40}, 0, {16, 8}, {1, 1}, 0, {4, 3}},
    {CU_TENSOR_MAP_DATA_TYPE_INT32, 4, 2, {64, 40}, 16, {16, 8}, {1, 1}, 0, {56, 36}},
    {CU_TENSOR_MAP_DATA_TYPE_INT32, 4, 2, {64, 40}, 0, {16, 8}, {1, 1}, 0, {-4, -2}},
    {CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, 2, {64, 40}, 0, {32, 8}, {1, 1}, 0, {48, 3}},
    {CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, 2, {64, 40}, 0, {16, 16}, {1, 1}, 1, {0, 0}},
    {CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, 2, {64, 40}, 0, {32, 16}, {1, 1}, 2, {16, 5}},
    {CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, 2, {64, 40}, 0, {64, 32}, {1, 1}, 3, {0, 8}},
    {CU_TENSOR_MAP_DATA_TYPE_UINT32, 4, 2, {64, 40}, 0, {32, 16}, {1, 1}, 3, {48, 30}},
    {CU_TENSOR_MAP_DATA_TYPE_FLOAT64, 8, 2, {64, 40}, 0, {16, 16}, {1, 1}, 3, {16, 2}},
    {CU_TENSOR_MAP_DATA_TYPE_UINT32, 4, 2, {64, 40}, 0, {16, 8}, {1, 2}, 0, {4, 1}},
    {CU_TENSOR_MAP_DATA_TYPE_UINT64, 8, 2, {64, 40}, 0, {16, 9}, {1, 3}, 0, {4, 34}},
    {CU_TENSOR_MAP_DATA_TYPE_UINT32, 4, 3, {16, 8, 6}, 32, {8, 4, 3}, {1, 1, 1}, 0, {4, 6, 4}},
    {CU_TENSOR_MAP_DATA_TYPE_UINT32, 4, 3, {64, 8, 6}, 0, {32, 4, 3}, {1, 1, 1}, 3, {0, 6, -1}},
    {CU_TENSOR_MAP_DATA_TYPE_UINT32, 4, 4, {16, 8, 6, 5}, 0, {8, 4, 3, 2}, {1, 1, 1, 1}, 1, {8, 1, 4, 4}},
    {CU_TENSOR_MAP_DATA_TYPE_UINT32, 4, 2, {64, 40}, 0, {16, 16}, {1, 1}, 3, {0, 0}}, // rows that leave half the span
    {CU_TENSOR_MAP_DATA_TYPE_UINT32, 4, 2, {64, 40}, 0, {20, 16}, {1, 1}, 3, {4, 1}},
    {CU_TENSOR_MAP_DATA_TYPE_UINT32, 4, 2, {64, 40}, 0, {8, 16}, {1, 1}, 2, {60, 30}},
    {CU_TENSOR_MAP_DATA_TYPE_UINT32, 4, 2, {64, 40}, 0, {16, 8}, {2, 1}, 0, {4, 3}}, // a stride that has no effect
    {CU_TENSOR_MAP_DATA_TYPE_UINT32, 4, 5, {16, 8, 6, 5, 4}, 0, {4, 4, 2, 2, 2}, {1, 1, 1, 1, 1}, 0, {12, 1, 1, 2, 3}},
};

static CUresult encode(CUtensorMap *map, const Tensor &t, void *data, cuuint64_t stride[4])
{
    cuuint64_t s = t.dim[0] * t.size + t.pad;
    for (int i = 0; i + 1 < t.rank; i++) {
        stride[i] = s;
        s *= t.dim[i + 1];
    }
    return tiled(map, t.type, t.rank, data, t.dim, stride, t.box, t.step, CU_TENSOR_MAP_INTERLEAVE_NONE,
                 (CUtensorMapSwizzle)t.swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
}

// Where a byte of a tile lies: 16-byte pieces of a span of 128 bytes change places by the number of the span.
static int swizzled(int swizzle, int byte)
{
    int chunk = byte / 16 % 8, row = byte / 128 % 8;
    chunk ^= swizzle == 3 ? row : swizzle == 2 ? row % 4 : swizzle == 1 ? row % 2 : 0;
    return byte / 128 * 128 + chunk * 16 + byte % 16;
}

static void test_tensors()
{
    const size_t n = 1 << 17;
    unsigned char *data = managed<unsigned char>(n);
    uint32_t *out = managed<uint32_t>(TILE / 4);
    for (size_t i = 0; i < n; i++)
        data[i] = (unsigned char)(i * 2654435761u >> 13);
    for (const Tensor &t : tensors) {
        alignas(64) CUtensorMap map;
        cuuint64_t stride[4] = {};
        IS(encode(&map, t, data, stride), 0);
        int count[5], bytes = t.size;
        for (int d = 0; d < 5; d++) {
            count[d] = d >= t.rank ? 1 : d ? (int)((t.box[d] + t.step[d] - 1) / t.step[d]) : (int)t.box[0];
            bytes *= count[d];
        }
        const int row = count[0] * t.size, span = t.swizzle ? 16 << t.swizzle : row; // of shared memory, from row to row
        const int room = bytes / row * span;
        std::vector<unsigned char> want(room, untouched);
        for (int k = 0; k < bytes; k++) {
            long long rest = k / t.size, offset = k % t.size;
            bool in = true;
            for (int d = 0; d < t.rank; d++) {
                long long c = t.at[d] + rest % count[d] * (long long)(d ? t.step[d] : 1);
                rest /= count[d];
                in = in && c >= 0 && c < (long long)t.dim[d];
                offset += c * (d ? (long long)stride[d - 1] : t.size);
            }
            want[swizzled(t.swizzle, k / row * span + k % row)] = in ? data[offset] : 0;
        }
        fetch<<<1, 64>>>(map, {t.rank, bytes, room, {t.at[0], t.at[1], t.at[2], t.at[3], t.at[4]}}, out);
        OK(cudaDeviceSynchronize());
        if (memcmp(out, want.data(), room)) {
            printf("tensor %d differs\n", (int)(&t - tensors));
            bad++;
        }
    }
    OK(cudaFree(data));
    OK(cudaFree(out));
}

static void test_stores()
{
    const int w = 64, h = 40;
    uint32_t *data = managed<uint32_t>(w * h);
    const Tensor t = {CU_TENSOR_MAP_DATA_TYPE_UINT32, 4, 2, {w, h}, 0, {32, 16}, {1, 1}, 3, {}};
    alignas(64) CUtensorMap map;
    cuuint64_t stride[4];
    IS(encode(&map, t, data, stride), 0);
    for (int adds = 0; adds < 2; adds++)
        for (int at = 0; at < 2; at++) { // inside, and over the corner
            const int x = at ? 48 : 8, y = at ? 30 : 5;
            for (int i = 0; i < w * h; i++)
                data[i] = 1000000 + i;
            if (adds)
                give<true><<<1, 64>>>(map, x, y, 32 * 16);
            else
                give<false><<<1, 64>>>(map, x, y, 32 * 16);
            OK(cudaDeviceSynchronize());
            int wrong = 0;
            for (int i = 0; i < w * h; i++) {
                int bx = i % w - x, by = i / w - y;
                bool in = bx >= 0 && bx < 32 && by >= 0 && by < 16;
                uint32_t given = in ? 1 + swizzled(3, (by * 32 + bx) * 4) / 4 : 0;
                wrong += data[i] != (in && !adds ? given : 1000000 + i + given);
            }
            TRUE(wrong == 0);
        }
    OK(cudaFree(data));
}

// ---- maps that the driver refuses ----
static void test_refused()
{
    alignas(64) CUtensorMap map;
    alignas(256) static char data[4096];
    cuuint64_t dim[3] = {64, 40, 4}, stride[2] = {256, 10240};
    cuuint32_t box[3] = {16, 8, 2}, step[3] = {1, 1, 1};
    const CUtensorMapDataType type = CU_TENSOR_MAP_DATA_TYPE_UINT32;
#define ENCODE(m, t, rank, d, il, sw, fill)                                                                            \
    tiled(m, (CUtensorMapDataType)(t), rank, d, dim, stride, box, step, (CUtensorMapInterleave)(il),                   \
          (CUtensorMapSwizzle)(sw), CU_TENSOR_MAP_L2_PROMOTION_NONE, (CUtensorMapFloatOOBfill)(fill))
    IS(ENCODE(&map, type, 2, data, 0, 0, 0), 0);
    IS(ENCODE(nullptr, type, 2, data, 0, 0, 0), 1);
    IS(ENCODE(&map, 99, 2, data, 0, 0, 0), 1);
    IS(ENCODE(&map, type, 0, data, 0, 0, 0), 1);
    IS(ENCODE(&map, type, 6, data, 0, 0, 0), 1);
    IS(ENCODE(&map, type, 2, data + 8, 0, 0, 0), 1);
    IS(ENCODE(&map, type, 2, data, 0, 1, 0), 1); // 64 bytes in a swizzle of 32
    box[0] = 3;
    IS(ENCODE(&map, type, 2, data, 0, 0, 0), 1);
    box[0] = 257;
    IS(ENCODE(&map, type, 2, data, 0, 0, 0), 1);
    box[0] = 16;
    stride[0] = 12;
    IS(ENCODE(&map, type, 2, data, 0, 0, 0), 1);
    stride[0] = 256;
    step[1] = 9;
    IS(ENCODE(&map, type, 2, data, 0, 0, 0), 1);
    step[1] = 1;
    box[0] = box[1] = 256; // 256 KiB
    IS(ENCODE(&map, type, 2, data, 0, 0, 0), 1);
    box[0] = 16, box[1] = 8;
    dim[0] = 0;
    IS(ENCODE(&map, type, 2, data, 0, 0, 0), 1);
    // the map itself may lie anywhere, as an H200 has it, and is the same there
    dim[0] = 64;
    alignas(64) static char at[256], aligned[sizeof(map)];
    IS(ENCODE(&map, type, 2, data, 0, 0, 0), 0);
    memcpy(aligned, &map, sizeof(map));
    for (int shift : {1, 4, 8, 16, 32}) {
        IS(ENCODE((CUtensorMap *)(void *)(at + shift), type, 2, data, 0, 0, 0), 0);
        TRUE(!memcmp(at + shift, aligned, sizeof(map)));
    }
}

// ---- to all blocks of a cluster, and from one to another ----
__global__ void __cluster_dims__(4) spread(const int *in, int *out)
{
    __shared__ __align__(128) int tile[128], other[64];
    __shared__ uint64_t full;
    cg::cluster_group cluster = cg::this_cluster();
    const uint32_t bar = shared_address(&full), me = cluster.block_rank();
    if (threadIdx.x == 0) {
        begin(bar);
        expect(bar, sizeof(tile) + sizeof(other));
    }
    cluster.sync();
    if (threadIdx.x == 0) {
        // each block gives a quarter to all
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], 128, "
                     "[%2], %3;" ::"r"(shared_address(tile) + 128 * me),
                     "l"(in + 128 * (blockIdx.x / 4) + 32 * me), "r"(bar), "h"((short)0xf)
                     : "memory");
    }
    for (int i = threadIdx.x; i < 64; i += blockDim.x) { // and 256 bytes of its own to the next, a word each
        uint32_t to, tell;
        asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(to) : "r"(shared_address(&other[i])), "r"((me + 1) % 4));
        asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(tell) : "r"(bar), "r"((me + 1) % 4));
        asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.s32 [%0], %1, [%2];" ::"r"(to),
                     "r"((int)(1000 * blockIdx.x + i)), "r"(tell)
                     : "memory");
    }
    wait_for(bar, 0);
    for (int i = threadIdx.x; i < 128; i += blockDim.x)
        out[192 * blockIdx.x + i] = tile[i];
    for (int i = threadIdx.x; i < 64; i += blockDim.x)
        out[192 * blockIdx.x + 128 + i] = other[i];
    cluster.sync();
}

static void test_spread()
{
    int *in = managed<int>(256), *out = managed<int>(192 * 8), wrong = 0;
    for (int i = 0; i < 256; i++)
        in[i] = 3 * i + 1;
    spread<<<8, 32>>>(in, out);
    OK(cudaDeviceSynchronize());
    for (int b = 0; b < 8; b++)
        for (int i = 0; i < 192; i++)
            wrong += out[192 * b + i] != (i < 128 ? in[b / 4 * 128 + i] : 1000 * (b / 4 * 4 + (b + 3) % 4) + i - 128);
    TRUE(wrong == 0);
    OK(cudaFree(in));
    OK(cudaFree(out));
}

// ---- a pipeline: one thread fetches ahead, the others use it and say so ----
enum { STAGES = 3, PIECE = 256 };
__global__ void pipeline(const int *in, int *out, int pieces)
{
    __shared__ __align__(128) int stage[STAGES][PIECE];
    __shared__ uint64_t full[STAGES], empty[STAGES];
    if (threadIdx.x == 0) {
        for (int s = 0; s < STAGES; s++) {
            begin(shared_address(&full[s]));
            asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(&empty[s])), "r"(blockDim.x - 32));
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) {
        for (int i = 0; i < pieces; i++) {
            const int s = i % STAGES;
            if (i >= STAGES)
                wait_for(shared_address(&empty[s]), (i / STAGES - 1) & 1);
            expect(shared_address(&full[s]), sizeof(stage[s]));
            load(shared_address(stage[s]), in + i * PIECE, sizeof(stage[s]), shared_address(&full[s]));
        }
    } else if (threadIdx.x >= 32) {
        int sum = 0;
        for (int i = 0; i < pieces; i++) {
            const int s = i % STAGES;
            wait_for(shared_address(&full[s]), i / STAGES & 1);
            for (int k = threadIdx.x - 32; k < PIECE; k += blockDim.x - 32)
                sum = 5 * sum + stage[s][k];
            asm volatile("{ .reg .b64 t; mbarrier.arrive.shared::cta.b64 t, [%0]; }" ::"r"(shared_address(&empty[s]))
                         : "memory");
        }
        out[threadIdx.x - 32] = sum;
    }
}

static void test_pipeline()
{
    const int pieces = 11, users = 128;
    int *in = managed<int>(pieces * PIECE), *out = managed<int>(users), wrong = 0;
    for (int i = 0; i < pieces * PIECE; i++)
        in[i] = (int)(i * 2654435761u) >> 7;
    pipeline<<<1, users + 32>>>(in, out, pieces);
    OK(cudaDeviceSynchronize());
    for (int t = 0; t < users; t++) {
        unsigned sum = 0;
        for (int i = 0; i < pieces; i++)
            for (int k = t; k < PIECE; k += users)
                sum = 5 * sum + in[i * PIECE + k];
        wrong += out[t] != (int)sum;
    }
    TRUE(wrong == 0);
    OK(cudaFree(in));
    OK(cudaFree(out));
}

// ---- what is wrong ----
__global__ void wrong(const int *in, int *out, int at, int bytes, int expected)
{
    __shared__ __align__(128) int tile[128];
    __shared__ uint64_t full;
    tile[threadIdx.x] = 5;
    __syncthreads();
    if (threadIdx.x == 0) {
        const uint32_t bar = shared_address(&full);
        begin(bar);
        expect(bar, expected);
        load(shared_address(tile) + at, in, bytes, bar);
        out[0] = *(volatile int *)tile; // in flight
        wait_for(bar, 0);
        out[1] = *(volatile int *)tile;
    }
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "run";
    cudaDriverEntryPointQueryResult found;
    OK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", (void **)&tiled, 12000, cudaEnableDefault, &found));
    TRUE(found == cudaDriverEntryPointSuccess);
    if (!strcmp(what, "run") || !strcmp(what, "clean")) {
        void *none;
        OK(cudaGetDriverEntryPointByVersion("cuNoSuchThing", &none, 12000, cudaEnableDefault, &found));
        TRUE(found == cudaDriverEntryPointSymbolNotFound);
        test_tensors();
        test_stores();
        test_refused();
        test_spread();
        test_pipeline();
        DONE();
    }
    int *in, *out = managed<int>(2);
    OK(cudaMalloc(&in, 512));
    OK(cudaMemset(in, 1, 512));
    if (!strcmp(what, "early")) {
        wrong<<<1, 32>>>(in, out, 0, 128, 128);
        OK(cudaDeviceSynchronize());
        TRUE(out[1] == 0x01010101);
        puts(out[0] == 5 ? "old" : "new");
        return 0;
    }
    if (!strcmp(what, "size"))
        wrong<<<1, 32>>>(in, out, 0, 20, 20);
    else if (!strcmp(what, "place"))
        wrong<<<1, 32>>>(in, out, 8, 32, 32);
    else if (!strcmp(what, "past"))
        wrong<<<1, 32>>>(in + 64, out, 0, 4096, 4096);
    else if (!strcmp(what, "map")) {
        alignas(64) CUtensorMap none = {};
        fetch<<<1, 32>>>(none, {1, 64, {}}, (uint32_t *)out);
    } else
        wrong<<<1, 32>>>(in, out, 0, 256, 512);
    printf("%d\n", (int)cudaDeviceSynchronize());
    return 0;
}
