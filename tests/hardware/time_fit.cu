/* time_fit.cu - kernels that ask one question each, over ranges: what the model's parameters are fitted to.
 *
 *     time_fit          prints a line a launch: kernel, parameter
 *
 * None of them is in the data that the model is judged by.
 */
#include "check.cuh"

#include <cstdio>
#include <cstdlib>
#include <vector>

#define I (int)(blockIdx.x * blockDim.x + threadIdx.x)
#define ALL (int)(gridDim.x * blockDim.x)

/* ---- the floor, blocks' starts, code that is not in the instruction cache ---- */
__global__ void nothing() {}
__global__ void nothing_shared() { extern __shared__ float s[]; if (threadIdx.x == 9999) s[0] = 1; }
template <int n> __global__ void straight(float *o, float v)
{
#pragma unroll
    for (int k = 0; k < n; k++)
        asm volatile("fma.rn.f32 %0, %0, %0, %1;" : "+f"(v) : "f"((float)(k % 2)));
    o[I & 1023] = v;
}
/* ---- chains of arithmetic ---- */
template <int chains> __global__ void ffma(float *o, int rounds)
{
    float v[chains];
    for (int c = 0; c < chains; c++)
        v[c] = (float)(threadIdx.x + c);
    for (int r = 0; r < rounds; r++)
#pragma unroll
        for (int k = 0; k < 8; k++)
            for (int c = 0; c < chains; c++)
                v[c] = v[c] * 0.5f + 1.5f;
    float s = 0;
    for (int c = 0; c < chains; c++)
        s += v[c];
    o[I & 0xfffff] = s;
}
__global__ void imad(unsigned *o, int rounds) { unsigned v = threadIdx.x, u = v + 1; for (int r = 0; r < rounds; r++) for (int k = 0; k < 4; k++) { v = v * 1664525u + 7; u = u * 22695477u + v; } o[I & 0xfffff] = v + u; }
__global__ void logic(unsigned *o, int rounds) { unsigned v = threadIdx.x; for (int r = 0; r < rounds; r++) for (int k = 0; k < 4; k++) { v ^= v << 13; v ^= v >> 17; v ^= v << 5; } o[I & 0xfffff] = v; }
__global__ void special(float *o, int rounds) { float v = (float)threadIdx.x, u = v + 1; for (int r = 0; r < rounds; r++) { v = __sinf(v) + 1; u = __expf(-u); } o[I & 0xfffff] = u + v; }
__global__ void dfma(double *o, int rounds) { double v = threadIdx.x, u = v + 1; for (int r = 0; r < rounds; r++) { v = v * 0.5 + 1; u = u * 0.25 + 1; } o[I & 0x7ffff] = u + v; }
__global__ void shuffles(int *o, int rounds) { int v = (int)threadIdx.x; for (int r = 0; r < rounds; r++) v += __shfl_xor_sync(~0u, v, 1 + r % 16); o[I & 0xfffff] = v; }
__global__ void barriers(float *o, int rounds) { for (int r = 0; r < rounds; r++) __syncthreads(); if (threadIdx.x == 0) o[blockIdx.x] = 1; }
/* ---- global memory ---- */
__global__ void copy(float *o, const float *a, int n) { int i = I; if (i < n) o[i] = a[i]; }
__global__ void copy4(float4 *o, const float4 *a, int n) { int i = I; if (i < n / 4) o[i] = a[i]; }
__global__ void copy_loop(float *o, const float *a, int n) { for (int i = I; i < n; i += ALL) o[i] = a[i]; }
__global__ void read_loop(float *o, const float *a, int n) { float s = 0; for (int i = I; i < n; i += ALL) s += a[i]; o[I & 0xfffff] = s; }
__global__ void read4(float4 *o, const float4 *a, int n) { float s = 0; for (int i = I; i < n / 4; i += ALL) { float4 v = a[i]; s += v.x + v.y + v.z + v.w; } if (s == 1.25f) o[0].x = s; }
__global__ void write_only(float *o, int n) { int i = I; if (i < n) o[i] = 1; }
__global__ void strided(float *o, const float *a, int n, int stride) { int i = I; if (i < n) o[i] = a[(size_t)i * stride & 0x1ffffff]; }
__global__ void strided_write(float *o, int n, int stride) { int i = I; if (i < n) o[(size_t)i * stride & 0x1ffffff] = 1; }
__global__ void gather(float *o, const float *a, const int *x, int n, int mask) { int i = I; if (i < n) o[i] = a[x[i] & mask]; }
__global__ void chain(int *o, const int *x, int steps) { int p = I; for (int k = 0; k < steps; k++) p = x[p & 0x3fffff]; o[I & 0xfffff] = p; }
__global__ void again(float *o, const float *a, int n, int rounds) { float s = 0; for (int r = 0; r < rounds; r++) for (int i = I; i < n; i += ALL) s += __ldcg(a + i); o[I & 0xfffff] = s; }
__global__ void again_l1(float *o, const float *a, int rounds) { float s = 0; for (int r = 0; r < rounds; r++) s += a[(threadIdx.x + r * 64) & 4095]; o[I & 0xfffff] = s; }
__global__ void spill(float *o, const int *x, int rounds) { float v[64]; for (int k = 0; k < 64; k++) v[k] = (float)k; for (int r = 0; r < rounds; r++) v[x[r] & 63] += 1; float s = 0; for (int k = 0; k < 64; k++) s += v[k]; o[I & 0xfffff] = s; }
/* ---- shared memory ---- */
__global__ void banks(float *o, int rounds, int stride) { __shared__ float s[2048]; for (int k = (int)threadIdx.x; k < 2048; k += (int)blockDim.x) s[k] = (float)k; __syncthreads(); float v = 0; int at = (int)threadIdx.x * stride; for (int r = 0; r < rounds; r++) v += s[(at + r) & 2047]; o[I & 0xfffff] = v; }
__global__ void exchange(float *o, int rounds) { __shared__ float s[1024]; float v = (float)threadIdx.x; for (int r = 0; r < rounds; r++) { s[threadIdx.x] = v; __syncthreads(); v = s[threadIdx.x ^ 33] * 0.5f + 1; __syncthreads(); } o[I & 0xfffff] = v; }
__global__ void few_blocks(float *o, const float *a, int n) { extern __shared__ float s[]; int t = (int)threadIdx.x; for (int i = I; i < n; i += ALL) { s[t] = a[i]; __syncthreads(); o[i] = s[t ^ 1]; __syncthreads(); } }
/* ---- atomics ---- */
__global__ void reds(int *o, int n, int mask) { int i = I; if (i < n) atomicAdd(o + (i & mask), 1); }
__global__ void reds_random(int *o, const int *x, int n, int mask) { int i = I; if (i < n) atomicAdd(o + (x[i] & mask), 1); }
__global__ void reds_float(float *o, const int *x, int n, int mask) { int i = I; if (i < n) atomicAdd(o + (x[i] & mask), 1.0f); }
__global__ void atoms(int *o, int n, int mask) { int i = I, v = 0; if (i < n) v = atomicAdd(o + (i & mask), 1); o[4096 + (i & 0xffff)] = v; }
__global__ void shared_bins(int *o, const int *x, int n, int mask) { __shared__ int s[1024]; for (int k = (int)threadIdx.x; k < 1024; k += (int)blockDim.x) s[k] = 0; __syncthreads(); for (int i = I; i < n; i += ALL) atomicAdd(&s[x[i] & mask], 1); __syncthreads(); for (int k = (int)threadIdx.x; k <= mask; k += (int)blockDim.x) o[k] = s[k]; }
__global__ void shared_floats(float *o, const int *x, int n, int mask) { __shared__ float s[1024]; for (int k = (int)threadIdx.x; k < 1024; k += (int)blockDim.x) s[k] = 0; __syncthreads(); for (int i = I; i < n; i += ALL) atomicAdd(&s[x[i] & mask], 1.0f); __syncthreads(); for (int k = (int)threadIdx.x; k <= mask; k += (int)blockDim.x) o[k] = s[k]; }
/* ---- waves and tails; mixtures ---- */
__global__ void work(float *o, int rounds) { float v = (float)threadIdx.x; for (int r = 0; r < rounds; r++) v = v * 0.5f + 1; if (v == 12345) *o = v; }
__global__ void tail(float *o, int rounds) { float v = (float)threadIdx.x; int m = blockIdx.x == gridDim.x - 1 ? 4 * rounds : rounds; for (int r = 0; r < m; r++) v = v * 0.5f + 1; if (v == 12345) *o = v; }
__global__ void half_idle(float *o, const float *a, int rounds) { float v = a[I & 0xfffff]; if (threadIdx.x % 32 < 16) for (int r = 0; r < rounds; r++) v = v * 0.5f + 1; else for (int r = 0; r < rounds; r++) v = v * v - 1; o[I & 0xfffff] = v; }
__global__ void products(float *o, const float *a, const float *b, int w) { int r = (int)blockIdx.y, c = I; float v = 0; for (int k = 0; k < w; k++) v += a[r * w + k] * b[k * w + c]; o[r * w + c] = v; }
__global__ void products_tiled(float *o, const float *a, const float *b, int w)
{
    __shared__ float s[32][32], t[32][32];
    int y = (int)threadIdx.y, x = (int)threadIdx.x, r = (int)blockIdx.y * 32 + y, c = (int)blockIdx.x * 32 + x;
    float v = 0;
    for (int k = 0; k < w; k += 32) {
        s[y][x] = a[r * w + k + x];
        t[y][x] = b[(k + y) * w + c];
        __syncthreads();
        for (int p = 0; p < 32; p++)
            v += s[y][p] * t[p][x];
        __syncthreads();
    }
    o[r * w + c] = v;
}
__global__ void transposed(float *o, const float *a, int w) { __shared__ float s[32][32]; int x = (int)threadIdx.x, y = (int)threadIdx.y; s[y][x] = a[((int)blockIdx.y * 32 + y) * w + (int)blockIdx.x * 32 + x]; __syncthreads(); o[((int)blockIdx.x * 32 + y) * w + (int)blockIdx.y * 32 + x] = s[x][y]; }

#define LAUNCH(name, parameter, grid, block, shared, ...)                                                              \
    do {                                                                                                               \
        name<<<grid, block, shared>>>(__VA_ARGS__);                                                                    \
        CHECK(cudaGetLastError());                                                                                     \
        CHECK(cudaDeviceSynchronize());                                                                                \
        printf(#name " %d\n", (int)(parameter));                                                                       \
    } while (0)

static float *o, *a, *b;
static int *x;
static void floors()
{
    for (int grid : {1, 132, 1056, 8448, 65536})
        for (int block : {32, 256, 1024})
            LAUNCH(nothing, grid * 10000 + block, grid, block, 0);
    for (int grid : {132, 1056})
        LAUNCH(nothing_shared, grid, grid, 256, 40000);
    for (int grid : {1, 264}) {
        LAUNCH(straight<128>, grid, grid, 32, 0, o, 1);
        LAUNCH(straight<512>, grid, grid, 32, 0, o, 1);
        LAUNCH(straight<2048>, grid, grid, 32, 0, o, 1);
        LAUNCH(straight<8192>, grid, grid, 32, 0, o, 1);
    }
}
static void arithmetic()
{
    for (int warps : {1, 4, 8, 16, 32}) {
        LAUNCH(ffma<1>, warps, 132, warps * 32, 0, o, 256);
        LAUNCH(ffma<4>, warps, 132, warps * 32, 0, o, 256);
        LAUNCH(imad, warps, 132, warps * 32, 0, (unsigned *)o, 512);
        LAUNCH(logic, warps, 132, warps * 32, 0, (unsigned *)o, 512);
        LAUNCH(special, warps, 132, warps * 32, 0, o, 512);
        LAUNCH(dfma, warps, 132, warps * 32, 0, (double *)o, 512);
        LAUNCH(shuffles, warps, 132, warps * 32, 0, (int *)o, 512);
        LAUNCH(barriers, warps, 132, warps * 32, 0, o, 128);
        LAUNCH(exchange, warps, 132, warps * 32, 0, o, 64);
        LAUNCH(half_idle, warps, 132, warps * 32, 0, o, a, 256);
    }
    for (int grid : {1, 131, 133, 264, 265, 1000, 1057, 4000}) {
        LAUNCH(work, grid, grid, 1024, 0, o, 1000);
        LAUNCH(tail, grid, grid, 256, 0, o, 500);
    }
}
static void memory()
{
    for (int n : {1 << 10, 1 << 14, 1 << 17, 1 << 20, 1 << 22, 1 << 24}) {
        LAUNCH(copy, n, (n + 255) / 256, 256, 0, o, a, n);
        LAUNCH(copy4, n, (n / 4 + 255) / 256, 256, 0, (float4 *)o, (float4 *)a, n);
        LAUNCH(write_only, n, (n + 255) / 256, 256, 0, o, n);
        LAUNCH(copy_loop, n, 132, 256, 0, o, a, n);
        LAUNCH(read_loop, n, 264, 512, 0, o, a, n);
        LAUNCH(read4, n, 264, 512, 0, (float4 *)o, (float4 *)a, n);
        LAUNCH(few_blocks, n, 264, 128, 100000, o, a, n);
    }
    for (int stride : {2, 4, 8, 16, 32, 64}) {
        LAUNCH(strided, stride, 1024, 256, 0, o, a, 1 << 18, stride);
        LAUNCH(strided_write, stride, 1024, 256, 0, o, 1 << 18, stride);
    }
    for (int n : {1 << 14, 1 << 18, 1 << 21})
        for (int mask : {0xfff, 0xfffff, 0x7fffff})
            LAUNCH(gather, mask, n / 256, 256, 0, o, a, x, n, mask);
    for (int warps : {1, 4, 32})
        for (int steps : {1, 4, 16})
            LAUNCH(chain, warps * 100 + steps, 132, warps * 32, 0, (int *)o, x, steps);
    for (int n : {1 << 16, 1 << 20, 1 << 22}) {
        LAUNCH(again, n, 264, 1024, 0, o, a, n, 8);
        LAUNCH(again, n, 132, 128, 0, o, a, n, 4);
    }
    for (int warps : {1, 8, 32}) {
        LAUNCH(again_l1, warps, 132, warps * 32, 0, o, a, 512);
        LAUNCH(spill, warps, 132, warps * 32, 0, o, x, 64);
    }
}
static void shared()
{
    for (int warps : {1, 8, 32})
        for (int stride : {0, 1, 2, 4, 8, 32})
            LAUNCH(banks, warps * 100 + stride, 132, warps * 32, 0, o, 512, stride);
}
static void atomics()
{
    for (int n : {1 << 12, 1 << 16, 1 << 20})
        for (int mask : {0, 3, 31, 1023, 0xffff}) {
            LAUNCH(reds, mask, n / 256, 256, 0, (int *)o, n, mask);
            LAUNCH(reds_random, mask, n / 256, 256, 0, (int *)o, x, n, mask);
            LAUNCH(reds_float, mask, n / 256, 256, 0, o, x, n, mask);
            LAUNCH(atoms, mask, n / 256, 256, 0, (int *)o, n, mask);
            if (mask < 1024) {
                LAUNCH(shared_bins, mask, 132, 256, 0, (int *)o, x, n, mask);
                LAUNCH(shared_floats, mask, 132, 256, 0, o, x, n, mask);
            }
        }
}
static void mixtures()
{
    for (int w : {64, 128, 256, 512}) {
        LAUNCH(products, w, dim3(w / 64, w), 64, 0, o, a, b, w);
        LAUNCH(products_tiled, w, dim3(w / 32, w / 32), dim3(32, 32), 0, o, a, b, w);
    }
    for (int w : {128, 512, 2048})
        LAUNCH(transposed, w, dim3(w / 32, w / 32), dim3(32, 32), 0, o, a, w);
}
int main()
{
    const size_t most = (size_t)1 << 25;
    std::vector<int> g((size_t)1 << 22);
    unsigned s = 1;
    for (int &v : g) {
        s = s * 1664525u + 1013904223u;
        v = (int)((s >> 9) ^ (s << 5 & 0x3fffff));
    }
    CHECK(cudaMalloc(&o, most * 4));
    CHECK(cudaMalloc(&a, most * 4));
    CHECK(cudaMalloc(&b, 1 << 20));
    CHECK(cudaMalloc(&x, g.size() * 4));
    CHECK(cudaMemset(a, 0, most * 4));
    CHECK(cudaMemset(b, 0, 1 << 20));
    CHECK(cudaMemcpy(x, g.data(), g.size() * 4, cudaMemcpyHostToDevice));
    CHECK(cudaFuncSetAttribute(few_blocks, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000));
    floors();
    arithmetic();
    memory();
    shared();
    atomics();
    mixtures();
    return 0;
}
