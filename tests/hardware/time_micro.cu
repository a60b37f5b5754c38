/* time_micro.cu - what single things cost on a GPU: latencies, issue intervals, bandwidths, atomics, barriers.
 *
 *     time_micro        one line a measurement: name, parameter, value, unit; sorted by what is measured
 *
 * The sources of src/time/device.def's rows. Chains of dependent operations give latencies, eight chains in each of
 * sixteen warps issue intervals; both in cycles of one multiprocessor's clock. Bandwidths are those of the whole device,
 * timed by events, the best of several runs. Results are kept in time_micro.txt with device, driver and date.
 */
#include "check.cuh"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

static int sms;

/* ---- arithmetic: OPERATION(name, register class, type, PTX with %0 the chain and %1, %2 others) ---- */
#define OPERATIONS                                                                                                     \
    OPERATION(ffma, "f", float, "fma.rn.f32 %0, %0, %1, %2;")                                                          \
    OPERATION(fadd, "f", float, "add.rn.f32 %0, %0, %1;")                                                              \
    OPERATION(fmul, "f", float, "mul.rn.f32 %0, %0, %1;")                                                              \
    OPERATION(fmax, "f", float, "{.reg .f32 t; max.f32 t, %0, %1; min.f32 %0, t, %2;}")                                \
    OPERATION(imad, "r", int, "mad.lo.s32 %0, %0, %1, %2;")                                                            \
    OPERATION(imul_hi, "r", int, "mul.hi.s32 %0, %0, %1;")                                                             \
    OPERATION(iadd_lop, "r", int, "{.reg .s32 t; add.s32 t, %0, %1; xor.b32 %0, t, %2;}")                              \
    OPERATION(lop3, "r", int, "lop3.b32 %0, %0, %1, %2, 0x6a;")                                                        \
    OPERATION(shf, "r", int, "shf.l.wrap.b32 %0, %0, %1, %2;")                                                         \
    OPERATION(prmt, "r", int, "prmt.b32 %0, %0, %1, %2;")                                                              \
    OPERATION(popc_xor, "r", int, "{.reg .b32 t; popc.b32 t, %0; xor.b32 %0, t, %1;}")                                 \
    OPERATION(clz_xor, "r", int, "{.reg .b32 t; clz.b32 t, %0; xor.b32 %0, t, %1;}")                                   \
    OPERATION(brev_xor, "r", int, "{.reg .b32 t; brev.b32 t, %0; xor.b32 %0, t, %1;}")                                 \
    OPERATION(setp_selp, "r", int, "{.reg .pred p; setp.lt.s32 p, %0, %1; selp.b32 %0, %2, %1, p;}")                   \
    OPERATION(hfma2, "r", int, "fma.rn.f16x2 %0, %0, %1, %2;")                                                         \
    OPERATION(dfma, "d", double, "fma.rn.f64 %0, %0, %1, %2;")                                                         \
    OPERATION(dadd, "d", double, "add.rn.f64 %0, %0, %1;")                                                             \
    OPERATION(ex2, "f", float, "ex2.approx.ftz.f32 %0, %0;")                                                           \
    OPERATION(rcp, "f", float, "rcp.approx.ftz.f32 %0, %0;")                                                           \
    OPERATION(sqrt_approx, "f", float, "sqrt.approx.ftz.f32 %0, %0;")                                                  \
    OPERATION(sin, "f", float, "sin.approx.ftz.f32 %0, %0;")                                                           \
    OPERATION(div_rn, "f", float, "div.rn.f32 %0, %0, %1;")                                                            \
    OPERATION(sqrt_rn, "f", float, "sqrt.rn.f32 %0, %0;")                                                              \
    OPERATION(div_u32, "r", int, "div.u32 %0, %1, %0;")                                                                \
    OPERATION(rem_u32, "r", int, "rem.u32 %0, %1, %0;")                                                                \
    OPERATION(div_f64, "d", double, "div.rn.f64 %0, %0, %1;")                                                          \
    OPERATION(cvt_round_trip, "r", int, "{.reg .f32 t; cvt.rn.f32.s32 t, %0; cvt.rzi.s32.f32 %0, t;}")                 \
    OPERATION(cvt_f64_round_trip, "f", float, "{.reg .f64 t; cvt.f64.f32 t, %0; cvt.rn.f32.f64 %0, t;}")               \
    OPERATION(add_u64, "l", long long, "{.reg .u64 t; add.u64 t, %0, %1; xor.b64 %0, t, %2;}")                         \
    OPERATION(mul_u64, "l", long long, "mad.lo.u64 %0, %0, %1, %2;")                                                   \
    OPERATION(mul_wide, "l", long long, "{.reg .b32 a, b; mov.b64 {a, b}, %0; mad.wide.u32 %0, a, b, %2;}")            \
    OPERATION(shfl, "r", int, "shfl.sync.bfly.b32 %0, %0, 1, 31, -1;")                                                 \
    OPERATION(vote_ballot, "r", int, "{.reg .pred p; setp.ne.s32 p, %0, %1; vote.sync.ballot.b32 %0, p, -1;}")         \
    OPERATION(redux, "r", int, "redux.sync.add.s32 %0, %0, -1;")                                                       \
    OPERATION(match_any, "r", int, "match.any.sync.b32 %0, %0, -1;")                                                   \
    OPERATION(activemask_xor, "r", int, "{.reg .b32 t; activemask.b32 t; xor.b32 %0, %0, t;}")                         \
    OPERATION(bar_warp, "r", int, "{bar.warp.sync -1; xor.b32 %0, %0, %1;}")                                           \
    OPERATION(membar_gl, "r", int, "{membar.gl; xor.b32 %0, %0, %1;}")                                                 \
    OPERATION(membar_cta, "r", int, "{membar.cta; xor.b32 %0, %0, %1;}")

#define OPERATION(name, reg, type, text)                                                                               \
    __global__ void latency_##name(type *data, long long *cycles)                                                      \
    {                                                                                                                  \
        type x = data[threadIdx.x], y = data[32 + threadIdx.x % 2], z = data[34 + threadIdx.x % 2];                    \
        long long start = clock64();                                                                                   \
        for (int i = 0; i < 32; i++) {                                                                                 \
            _Pragma("unroll") for (int j = 0; j < 16; j++) asm volatile(text : "+" reg(x) : reg(y), reg(z));           \
        }                                                                                                              \
        long long end = clock64();                                                                                     \
        data[threadIdx.x] = x;                                                                                         \
        if (threadIdx.x == 0)                                                                                          \
            *cycles = end - start;                                                                                     \
    }                                                                                                                  \
    __global__ void rate_##name(type *data, long long *cycles)                                                         \
    {                                                                                                                  \
        type x[8], y = data[32 + threadIdx.x % 2], z = data[34 + threadIdx.x % 2];                                     \
        for (int j = 0; j < 8; j++)                                                                                    \
            x[j] = data[(threadIdx.x + j) % 32];                                                                       \
        __syncthreads();                                                                                               \
        long long start = clock64();                                                                                   \
        for (int i = 0; i < 32; i++) {                                                                                 \
            _Pragma("unroll") for (int j = 0; j < 16; j++) asm volatile(text : "+" reg(x[j % 8]) : reg(y), reg(z));    \
        }                                                                                                              \
        __syncthreads();                                                                                               \
        long long end = clock64();                                                                                     \
        for (int j = 0; j < 8; j++)                                                                                    \
            data[threadIdx.x] += x[j];                                                                                 \
        if (threadIdx.x == 0)                                                                                          \
            *cycles = end - start;                                                                                     \
    }
OPERATIONS
#undef OPERATION

static long long *cycles; /* managed by hand: device memory */
static long long taken()
{
    long long c;
    CHECK(cudaMemcpy(&c, cycles, sizeof(c), cudaMemcpyDeviceToHost));
    return c;
}
template <class Launch> static long long least(Launch launch, int times = 3)
{
    long long best = 1ll << 62;
    for (int i = 0; i < times; i++) {
        launch();
        CHECK(cudaGetLastError());
        best = std::min(best, taken());
    }
    return best;
}
static void print(const char *name, long long parameter, double value, const char *unit)
{
    printf("%-24s %10lld %12.3f %s\n", name, parameter, value, unit);
    fflush(stdout);
}
static void arithmetic()
{
    void *data;
    CHECK(cudaMalloc(&data, 1 << 16));
#define OPERATION(name, reg, type, text)                                                                               \
    {                                                                                                                  \
        type init[64];                                                                                                 \
        for (int i = 0; i < 64; i++)                                                                                   \
            init[i] = (type)(i + 3);                                                                                   \
        CHECK(cudaMemcpy(data, init, sizeof(init), cudaMemcpyHostToDevice));                                           \
        long long one = least([&] { latency_##name<<<1, 32>>>((type *)data, cycles); });                               \
        print("latency " #name, 1, (double)one / 512, "cycles");                                                       \
        for (int warps = 4; warps <= 16; warps *= 4) {                                                                 \
            long long all = least([&] { rate_##name<<<1, 32 * warps>>>((type *)data, cycles); });                      \
            print("interval " #name, warps, (double)all / (512.0 * warps / 4), "cycles a warp and scheduler");         \
        }                                                                                                              \
    }
    OPERATIONS
#undef OPERATION
    CHECK(cudaFree(data));
}

/* ---- latencies of memory: one thread follows a chain ---- */
__global__ void chase_shared(uint32_t *out, long long *cycles, int stride)
{
    __shared__ uint32_t next[4096];
    for (int i = 0; i < 4096; i++)
        next[i] = (i + stride) % 4096;
    uint32_t at = 0;
    long long start = clock64();
    for (int i = 0; i < 512; i++)
        at = next[at];
    *cycles = clock64() - start;
    *out = at;
}
template <bool l1> __global__ void chase(const uint32_t *next, uint32_t *out, long long *cycles, int steps, int warm)
{
    uint32_t at = 0;
    for (int i = 0; i < warm; i++)
        at = l1 ? __ldca(next + at) : __ldcg(next + at);
    long long start = clock64();
    for (int i = 0; i < steps; i++)
        at = l1 ? __ldca(next + at) : __ldcg(next + at);
    *cycles = clock64() - start;
    *out = at;
}
static void memory_latency()
{
    uint32_t *out;
    CHECK(cudaMalloc(&out, 4));
    print("latency shared", 4, least([&] { chase_shared<<<1, 1>>>(out, cycles, 1); }) / 512.0, "cycles");
    const size_t bytes = (size_t)512 << 20;
    uint32_t *next;
    CHECK(cudaMalloc(&next, bytes));
    for (size_t size : {(size_t)8 << 10, (size_t)64 << 10, (size_t)1 << 20, (size_t)8 << 20, (size_t)24 << 20,
                        (size_t)40 << 20, (size_t)100 << 20, bytes}) {
        size_t lines = size / 128, step = lines / 2 + 1;
        while (lines % 2 == 0 && step % 2 == 0)
            step++;
        std::vector<uint32_t> host(lines * 32), order(lines);
        for (size_t i = 0; i < lines; i++)
            order[i] = (uint32_t)i;
        uint64_t state = 88172645463325252ull;
        for (size_t i = lines - 1; i > 0; i--) {
            state ^= state << 13, state ^= state >> 7, state ^= state << 17;
            std::swap(order[i], order[state % (i + 1)]);
        }
        for (size_t i = 0; i < lines; i++)
            host[order[i] * 32ull] = order[(i + 1) % lines] * 32u;
        CHECK(cudaMemcpy(next, host.data(), size, cudaMemcpyHostToDevice));
        if (size <= 64 << 10)
            print("latency L1", (long long)size, least([&] { chase<true><<<1, 1>>>(next, out, cycles, 1024, 1024); }) / 1024.0, "cycles");
        long long warm = size <= 40 << 20 ? (long long)lines : 0;
        long long steps = std::min<long long>((long long)lines, 4096);
        print(size <= 40 << 20 ? "latency L2" : "latency DRAM", (long long)size,
              (double)least([&] { chase<false><<<1, 1>>>(next, out, cycles, (int)steps, (int)warm); }, warm ? 2 : 1) / (double)steps,
              "cycles");
    }
    CHECK(cudaFree(next));
    CHECK(cudaFree(out));
}

/* ---- bandwidths ---- */
static float timed(void (*launch)(void *), void *self, int times = 5)
{
    cudaEvent_t a, b;
    CHECK(cudaEventCreate(&a));
    CHECK(cudaEventCreate(&b));
    float best = 1e30f;
    for (int i = 0; i < times; i++) {
        float ms;
        CHECK(cudaEventRecord(a));
        launch(self);
        CHECK(cudaEventRecord(b));
        CHECK(cudaEventSynchronize(b));
        CHECK(cudaEventElapsedTime(&ms, a, b));
        best = std::min(best, ms);
    }
    CHECK(cudaEventDestroy(a));
    CHECK(cudaEventDestroy(b));
    return best * 1e-3f;
}
template <class F> static float seconds(F f, int times = 5)
{
    return timed([](void *self) { (*(F *)self)(); }, &f, times);
}
template <class T> __device__ inline float sum(T v);
template <> __device__ inline float sum(float v) { return v; }
template <> __device__ inline float sum(float2 v) { return v.x + v.y; }
template <> __device__ inline float sum(float4 v) { return v.x + v.y + v.z + v.w; }
/* Each thread keeps `ahead` loads under way. */
template <class T, int ahead> __global__ void read_all(const T *a, size_t n, int rounds, float *out)
{
    float s = 0;
    size_t stride = (size_t)gridDim.x * blockDim.x;
    for (int r = 0; r < rounds; r++)
        for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i + (ahead - 1) * stride < n; i += ahead * stride) {
            T v[ahead];
            for (int k = 0; k < ahead; k++)
                v[k] = __ldcg(a + i + k * stride);
            for (int k = 0; k < ahead; k++)
                s += sum(v[k]);
        }
    if (s == 1.2345f)
        *out = s;
}
template <class T> __global__ void write_all(T *a, size_t n, int rounds)
{
    T v = {};
    for (int r = 0; r < rounds; r++)
        for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
            __stcg(a + i, v);
}
template <class T> __global__ void copy_all(T *o, const T *a, size_t n, int rounds)
{
    for (int r = 0; r < rounds; r++)
        for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x)
            o[i] = __ldcg(a + i);
}
static void bandwidth()
{
    const size_t dram = (size_t)2 << 30;
    float4 *a, *b;
    CHECK(cudaMalloc(&a, dram));
    CHECK(cudaMalloc(&b, dram));
    CHECK(cudaMemset(a, 0, dram));
    CHECK(cudaMemset(b, 0, dram));
    for (int warps = 1; warps <= 64; warps *= 2) {
        int threads = std::min(warps, 16) * 32, blocks = sms * std::max(1, warps / 16);
        print("DRAM read 16 B", warps, (double)dram / seconds([&] { read_all<float4, 1><<<blocks, threads>>>(a, dram / 16, 1, (float *)b); }, warps < 4 ? 1 : 3) / 1e9, "GB/s by warps an SM");
        print("DRAM read 4x16 B", warps, (double)dram / seconds([&] { read_all<float4, 4><<<blocks, threads>>>(a, dram / 16, 1, (float *)b); }, 2) / 1e9, "GB/s by warps an SM");
        print("DRAM read 4 B", warps, (double)(dram / 4) / seconds([&] { read_all<float, 1><<<blocks, threads>>>((float *)a, dram / 16, 1, (float *)b); }, 1) / 1e9, "GB/s by warps an SM");
        print("L2 read 16 B", warps, 32.0 * (16 << 20) / seconds([&] { read_all<float4, 1><<<blocks, threads>>>(a, (16 << 20) / 16, 32, (float *)b); }, 2) / 1e9, "GB/s by warps an SM");
        print("L2 read 4x16 B", warps, 32.0 * (16 << 20) / seconds([&] { read_all<float4, 4><<<blocks, threads>>>(a, (16 << 20) / 16, 32, (float *)b); }, 2) / 1e9, "GB/s by warps an SM");
        print("L2 read 4 B", warps, 32.0 * (16 << 20) / seconds([&] { read_all<float, 1><<<blocks, threads>>>((float *)a, (16 << 20) / 4, 32, (float *)b); }, 2) / 1e9, "GB/s by warps an SM");
    }
    for (size_t size : {(size_t)4 << 20, (size_t)16 << 20, (size_t)24 << 20, (size_t)32 << 20, (size_t)48 << 20, (size_t)64 << 20, (size_t)128 << 20, (size_t)512 << 20, dram}) {
        int rounds = size < (size_t)256 << 20 ? 8 : 1, blocks = sms * 4;
        print("read", (long long)size, rounds * (double)size / seconds([&] { read_all<float4, 4><<<blocks, 512>>>(a, size / 16, rounds, (float *)b); }, 3) / 1e9, "GB/s by bytes");
        print("write", (long long)size, rounds * (double)size / seconds([&] { write_all<float4><<<blocks, 512>>>(a, size / 16, rounds); }, 3) / 1e9, "GB/s by bytes");
        print("copy", (long long)size, rounds * (double)size / seconds([&] { copy_all<float4><<<blocks, 512>>>(b, a, size / 32, rounds); }, 3) / 1e9, "GB/s by bytes, both ways");
    }
    CHECK(cudaFree(a));
    CHECK(cudaFree(b));
}

/* ---- one multiprocessor's L1 and shared memory: sixteen and 32 warps, eight accesses each and round ---- */
template <class T> __global__ void l1_rate(const T *a, int stride, float *out, long long *cycles)
{
    float s = 0;
    for (int i = threadIdx.x; i < 2048; i += blockDim.x)
        s += sum(__ldca(a + i));
    int base = threadIdx.x % 32 * stride + threadIdx.x / 32 % 4;
    __syncthreads();
    long long start = clock64();
    for (int r = 0; r < 64; r++) {
        T v[8];
        for (int k = 0; k < 8; k++) {
            asm volatile("" : "+r"(base));
            v[k] = __ldca(a + (base + k * 8) % 2048);
        }
        for (int k = 0; k < 8; k++)
            s += sum(v[k]);
    }
    __syncthreads();
    if (threadIdx.x == 0)
        *cycles = clock64() - start;
    if (s == 1.2345f)
        *out = s;
}
template <class T, int op> __global__ void shared_rate(int stride, float *out, long long *cycles)
{
    extern __shared__ float4 room[];
    T *a = (T *)room;
    int n = 32768 / sizeof(T);
    for (int i = threadIdx.x; i < 32768 / 4; i += blockDim.x)
        ((float *)room)[i] = 0;
    float s = 0;
    int base = threadIdx.x % 32 * stride;
    T one = {};
    __syncthreads();
    long long start = clock64();
    for (int r = 0; r < 64; r++) {
        T v[8];
        for (int k = 0; k < 8; k++) {
            asm volatile("" : "+r"(base));
            T *at = a + (base + k) % n;
            if (op == 0)
                v[k] = *(volatile T *)at;
            else
                *(volatile T *)at = one;
        }
        if (op == 0)
            for (int k = 0; k < 8; k++)
                s += *(float *)&v[k];
    }
    __syncthreads();
    if (threadIdx.x == 0)
        *cycles = clock64() - start;
    if (s == 1.2345f)
        *out = s;
}
template <class T, int returns> __global__ void shared_atomics(int stride, T *out, long long *cycles)
{
    __shared__ T bins[2048];
    for (int i = threadIdx.x; i < 2048; i += blockDim.x)
        bins[i] = 0;
    T s = 0;
    int at = threadIdx.x * stride % 2048;
    __syncthreads();
    long long start = clock64();
    for (int r = 0; r < 64; r++) {
        T old = atomicAdd(&bins[at], (T)1);
        if (returns)
            s += old;
    }
    __syncthreads();
    if (threadIdx.x == 0)
        *cycles = clock64() - start;
    if (s == (T)12345 || bins[0] == (T)7)
        *out = s;
}
__global__ void barriers(long long *cycles)
{
    __syncthreads();
    long long start = clock64();
    for (int r = 0; r < 256; r++)
        __syncthreads();
    if (threadIdx.x == 0)
        *cycles = clock64() - start;
}
static void multiprocessor()
{
    float *a;
    CHECK(cudaMalloc(&a, 1 << 20));
    CHECK(cudaMemset(a, 0, 1 << 20));
    CHECK(cudaFuncSetAttribute(barriers, cudaFuncAttributePreferredSharedMemoryCarveout, 0));
    for (int warps = 4; warps <= 32; warps *= 8)
        for (int stride : {0, 1, 2, 4, 8, 16, 33}) {
            double all = 512.0 * warps;
            print("L1 load 4 B", stride * 100 + warps, least([&] { l1_rate<float><<<1, 32 * warps>>>(a, stride, a, cycles); }) / all, "cycles a warp, by 100 stride + warps");
            print("L1 load 8 B", stride * 100 + warps, least([&] { l1_rate<float2><<<1, 32 * warps>>>((float2 *)a, stride, a, cycles); }) / all, "cycles a warp, by 100 stride + warps");
            print("L1 load 16 B", stride * 100 + warps, least([&] { l1_rate<float4><<<1, 32 * warps>>>((float4 *)a, stride, a, cycles); }) / all, "cycles a warp, by 100 stride + warps");
        }
    for (int warps = 1; warps <= 32; warps *= 2)
        for (int stride : {0, 1, 2, 4, 8, 16, 32}) {
            double all = 512.0 * warps;
            print("LDS 4 B", stride * 100 + warps, least([&] { shared_rate<float, 0><<<1, 32 * warps, 32768>>>(stride, a, cycles); }) / all, "cycles a warp, by 100 stride + warps");
            print("STS 4 B", stride * 100 + warps, least([&] { shared_rate<float, 1><<<1, 32 * warps, 32768>>>(stride, a, cycles); }) / all, "cycles a warp, by 100 stride + warps");
            if (stride < 4)
                print("LDS 8 B", stride * 100 + warps, least([&] { shared_rate<double, 0><<<1, 32 * warps, 32768>>>(stride, a, cycles); }) / all, "cycles a warp, by 100 stride + warps");
        }
    for (int warps = 1; warps <= 32; warps *= 4)
        for (int stride : {0, 1, 2, 4, 8, 32}) {
            double all = 64.0 * warps;
            print("ATOMS int", stride * 100 + warps, least([&] { shared_atomics<int, 0><<<1, 32 * warps>>>(stride, (int *)a, cycles); }) / all, "cycles a warp, by 100 stride + warps");
            print("ATOMS int used", stride * 100 + warps, least([&] { shared_atomics<int, 1><<<1, 32 * warps>>>(stride, (int *)a, cycles); }) / all, "cycles a warp, by 100 stride + warps");
            print("ATOMS float", stride * 100 + warps, least([&] { shared_atomics<float, 0><<<1, 32 * warps>>>(stride, a, cycles); }) / all, "cycles a warp, by 100 stride + warps");
        }
    for (int warps = 1; warps <= 32; warps *= 2)
        print("barrier", warps, least([&] { barriers<<<1, 32 * warps>>>(cycles); }) / 256.0, "cycles by warps");
    CHECK(cudaFree(a));
}

/* ---- atomics in global memory: thread t of the grid adds to word t % words * apart ---- */
template <class T, int returns> __global__ void atomics(T *a, unsigned words, unsigned apart, int rounds, T *out)
{
    T s = 0;
    unsigned t = blockIdx.x * blockDim.x + threadIdx.x;
    T *at = a + (size_t)(t % words) * apart;
    for (int r = 0; r < rounds; r++) {
        T old = atomicAdd(at, (T)1);
        if (returns)
            s += old;
    }
    if (returns && s == (T)12345)
        *out = s;
}
__global__ void atomics_by_warp(int *a, unsigned words, unsigned apart, int rounds)
{
    unsigned w = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (threadIdx.x % 32 == 0)
        for (int r = 0; r < rounds; r++)
            atomicAdd(a + (size_t)(w % words) * apart, 1);
}
__global__ void cas_chain(int *a, long long *cycles)
{
    int v = 0;
    long long start = clock64();
    for (int r = 0; r < 256; r++)
        v = atomicAdd(a + v % 2, 1) & 1;
    *cycles = clock64() - start;
    a[2] = v;
}
static void global_atomics()
{
    int *a;
    const size_t bytes = 64 << 20;
    CHECK(cudaMalloc(&a, bytes));
    CHECK(cudaMemset(a, 0, bytes));
    print("latency ATOMG", 1, least([&] { cas_chain<<<1, 1>>>(a, cycles); }) / 256.0, "cycles");
    int blocks = sms * 8, threads = 256, rounds = 16;
    double lanes = (double)blocks * threads * rounds, warps = lanes / 32;
    for (unsigned words : {1u, 2u, 4u, 8u, 32u, 256u, 4096u, 65536u, 1u << 20})
        for (unsigned apart : {1u, 8u}) {
            double best = seconds([&] { atomics<int, 0><<<blocks, threads>>>(a, words, apart, rounds, a); }, 2);
            print("RED int", words * 10ll + apart, best * 1e9 / warps, "ns a warp, by 10 words + words apart");
            best = seconds([&] { atomics<int, 1><<<blocks, threads>>>(a, words, apart, rounds, a); }, 2);
            print("ATOM int", words * 10ll + apart, best * 1e9 / warps, "ns a warp, by 10 words + words apart");
            best = seconds([&] { atomics<float, 0><<<blocks, threads>>>((float *)a, words, apart, rounds, (float *)a); }, 2);
            print("RED float", words * 10ll + apart, best * 1e9 / warps, "ns a warp, by 10 words + words apart");
            best = seconds([&] { atomics_by_warp<<<blocks, threads>>>(a, words, apart, rounds); }, 2);
            print("RED one lane", words * 10ll + apart, best * 1e9 / warps, "ns a warp, by 10 words + words apart");
        }
    CHECK(cudaFree(a));
}

int main()
{
    cudaDeviceProp p;
    CHECK(cudaGetDeviceProperties(&p, 0));
    sms = p.multiProcessorCount;
    int khz = 0, driver = 0;
    CHECK(cudaDeviceGetAttribute(&khz, cudaDevAttrClockRate, 0));
    CHECK(cudaDriverGetVersion(&driver));
    printf("# %s, %d multiprocessors, %d kHz, driver API %d\n", p.name, sms, khz, driver);
    CHECK(cudaMalloc(&cycles, sizeof(*cycles)));
    arithmetic();
    multiprocessor();
    global_atomics();
    bandwidth();
    memory_latency();
    return 0;
}
