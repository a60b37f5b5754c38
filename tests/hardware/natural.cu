/* natural.cu - small kernels of ordinary CUDA C, one launch each, for their counters: accesses of every width and shape,
 * what ptxas merges, atomics whose result nobody reads, copies to shared memory, generic pointers, branches.
 *
 *     natural        prints "natural: ok" when the sums of what the kernels wrote agree with plain C where that is simple
 *
 * Each kernel is a question to the hardware; its comment says which. To add one: write it, add a row to LAUNCHES.
 */
#include "check.cuh"

#include <cstdio>
#include <cstdlib>
#include <cuda_fp16.h>
#include <cuda_pipeline.h>

enum { N = 1 << 14 };

/* ---- global ---- */
__global__ void g_copy(float *o, const float *a, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) o[i] = a[i]; }
__global__ void g_float2(float *o, const float *a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 2)
        ((float2 *)o)[i] = ((const float2 *)a)[i];
}
__global__ void g_float4(float *o, const float *a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 4)
        ((float4 *)o)[i] = ((const float4 *)a)[i];
}
__global__ void g_float4_strided(float *o, const float *a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 16)
        ((float4 *)o)[i * 4] = ((const float4 *)a)[i * 3];
}
__global__ void g_float4_some(float *o, const float *a, int n) /* lanes 0-9 of each warp: does a wide request split? */
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x % 32 < 10 && i < n / 4)
        ((float4 *)o)[i] = ((const float4 *)a)[i];
}
__global__ void g_offset(float *o, const float *a, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n - 3) o[i + 1] = a[i + 3]; }
__global__ void g_stride(float *o, const float *a, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n / 8) o[i * 8] = a[i * 5]; }
__global__ void g_uniform(float *o, const float *a, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; o[i % n] = a[blockIdx.x]; }
__global__ void g_bytes(unsigned char *o, const unsigned char *a, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) o[i] = (unsigned char)(a[i] + 1); }
__global__ void g_double(double *o, const double *a, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n / 2) o[i] = a[i] + 1.0; }
struct record { float x, y, z; };
__global__ void g_struct(record *o, const record *a, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n / 3) o[i] = a[i]; }
struct __align__(16) wide { float x, y, z, w; };
__global__ void g_struct16(wide *o, const wide *a, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n / 4) { wide v = a[i]; o[i].x = v.y; o[i].y = v.x; o[i].z = v.w; o[i].w = v.z; } }
__global__ void g_pairs(float *o, const float *__restrict__ a, int n) /* neighbours in one thread: does ptxas join them? */
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n / 4)
        o[i] = a[4 * i] + a[4 * i + 1] + a[4 * i + 2] + a[4 * i + 3];
}
__global__ void g_odd(float *o, const float *a, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i & 1 && i < n) o[i] = a[i ^ 5]; }
__global__ void g_gather(float *o, const float *a, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) o[i] = a[(unsigned)(i * 2654435761u) % (unsigned)n]; }
__global__ void g_local(float *o, const float *a, int n) /* an indexed array in local memory is not global memory */
{
    float v[16];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    for (int k = 0; k < 16; k++)
        v[k] = a[(i + k) % n];
    o[i % n] = v[(int)a[i % n] & 15] + v[(i * 7) & 15];
}
__device__ float device_array[256];
__constant__ float constant_array[256];
__global__ void g_module(float *o) { int i = threadIdx.x; device_array[i & 255] = constant_array[i & 15]; o[i] = constant_array[3]; }

/* ---- atomics ---- */
__global__ void a_count(unsigned *o, const float *a, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n && a[i] > 7.f) atomicAdd(o, 1u); }
__global__ void a_bins(unsigned *o, const float *a, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) atomicAdd(&o[(int)a[i] & 63], 1u); }
__global__ void a_ticket(unsigned *o, const float *a, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) o[64 + i] = atomicAdd(&o[(int)a[i] & 63], 2u); }
__global__ void a_float(float *o, const float *a, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) atomicAdd(&o[(int)a[i] & 63], a[i]); }
__global__ void a_double(double *o, const float *a, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) atomicAdd(&o[(int)a[i] & 63], (double)a[i]); }
__global__ void a_max(int *o, const float *a, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) atomicMax(&o[(int)a[i] & 63], i); }
__global__ void a_cas(unsigned *o, const float *a, int n) { int i = blockIdx.x * blockDim.x + threadIdx.x; if (i < n) o[64 + i] = atomicCAS(&o[(int)a[i] & 63], 0u, (unsigned)i); }
__global__ void a_shared_bins(unsigned *o, const float *a, int n)
{
    __shared__ unsigned bins[64];
    if (threadIdx.x < 64)
        bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        atomicAdd(&bins[(int)a[i] & 63], 1u);
    __syncthreads();
    if (threadIdx.x < 64)
        atomicAdd(&o[threadIdx.x], bins[threadIdx.x]);
}
__global__ void a_shared_float(float *o, const float *a)
{
    __shared__ float sum[8];
    if (threadIdx.x < 8)
        sum[threadIdx.x] = 0;
    __syncthreads();
    atomicAdd(&sum[threadIdx.x % 8], 1.f + a[threadIdx.x]);
    __syncthreads();
    if (threadIdx.x < 8)
        o[threadIdx.x] = sum[threadIdx.x];
}
__global__ void a_shared_one(unsigned *o) /* one address for all: ptxas adds up over the warp */
{
    __shared__ unsigned count;
    if (!threadIdx.x)
        count = 0;
    __syncthreads();
    if (threadIdx.x % 3)
        atomicAdd(&count, threadIdx.x & 3);
    __syncthreads();
    if (!threadIdx.x)
        o[blockIdx.x] = count;
}

/* ---- shared ---- */
template <int P> __global__ void s_row(float *o, const float *a) /* rows of [16][16+P]: joined where the alignment is known */
{
    __shared__ float t[16][16 + P];
    int x = threadIdx.x % 16, y = threadIdx.x / 16;
    t[y][x] = a[threadIdx.x];
    __syncthreads();
    float s = 0;
    for (int k = 0; k < 16; k++)
        s += t[y][k] * t[k][x];
    o[threadIdx.x] = s;
}
template <int P> __global__ void s_row32(float *o, const float *a)
{
    __shared__ float t[32][32 + P];
    int x = threadIdx.x, y = threadIdx.y;
    t[y][x] = a[y * 32 + x];
    __syncthreads();
    float s = 0;
#pragma unroll
    for (int k = 0; k < 32; k++)
        s += t[y][k] * t[k][x];
    o[y * 32 + x] = s;
}
__global__ void s_column(float *o, const float *a)
{
    __shared__ float t[32][33];
    int x = threadIdx.x;
    for (int y = 0; y < 32; y++)
        t[y][x] = a[y * 32 + x];
    __syncthreads();
    float s = 0;
    for (int k = 0; k < 32; k++)
        s += t[x][k];
    o[x] = s;
}
__global__ void s_tree(float *o, const float *a)
{
    __shared__ float t[256];
    t[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    for (int k = 128; k; k >>= 1) {
        if ((int)threadIdx.x < k)
            t[threadIdx.x] += t[threadIdx.x + k];
        __syncthreads();
    }
    if (!threadIdx.x)
        o[0] = t[0];
}
__global__ void s_stencil(float *o, const float *a)
{
    __shared__ float t[256 + 8];
    int i = threadIdx.x;
    t[i + 4] = a[i];
    if (i < 4)
        t[i] = t[i + 260] = 0;
    __syncthreads();
    float s = 0;
    for (int k = -4; k <= 4; k++)
        s += t[i + 4 + k];
    o[i] = s;
}
__global__ void s_four(float *o, const float *a) /* four neighbours a thread, loads and stores */
{
    __shared__ float t[1024];
    int i = threadIdx.x;
    t[4 * i] = a[i];
    t[4 * i + 1] = a[i] + 1;
    t[4 * i + 2] = a[i] + 2;
    t[4 * i + 3] = a[i] + 3;
    __syncthreads();
    int k = (i + 13) % 256;
    o[i] = t[4 * k] + t[4 * k + 1] * t[4 * k + 2] + t[4 * k + 3];
}
__global__ void s_two_arrays(float *o, const float *a)
{
    __shared__ float p[100];
    __shared__ double q[32];
    __shared__ float r[32];
    int i = threadIdx.x;
    p[i] = a[i];
    q[i] = a[i];
    r[i] = a[i + 1];
    __syncthreads();
    o[i] = p[31 - i] + (float)q[i ^ 1] + r[i / 2 * 2] + r[i / 2 * 2 + 1];
}
__global__ void s_records(record *o, const record *a)
{
    __shared__ record t[256];
    t[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    o[threadIdx.x] = t[255 - threadIdx.x];
}
__global__ void s_float4(float4 *o, const float4 *a)
{
    __shared__ float4 t[256];
    t[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    o[threadIdx.x] = t[(threadIdx.x * 5) % 256];
}
__global__ void s_half(__half *o, const __half *a)
{
    __shared__ __half t[256];
    t[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    o[threadIdx.x] = t[(threadIdx.x * 2) % 256];
}
__global__ void s_dynamic(float *o, const float *a)
{
    extern __shared__ float d[];
    float *e = d + 256;
    d[threadIdx.x] = a[threadIdx.x];
    e[threadIdx.x] = a[255 - threadIdx.x];
    __syncthreads();
    o[threadIdx.x] = d[255 - threadIdx.x] + e[threadIdx.x / 2];
}
__device__ __noinline__ float generic_sum(const float *p) { return p[threadIdx.x] + p[31 - threadIdx.x % 32]; }
__global__ void s_generic(float *o, const float *a) /* a generic pointer to shared and to global memory */
{
    __shared__ float t[256];
    t[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    o[threadIdx.x] = generic_sum(t) + generic_sum(a);
}
__global__ void s_async(float *o, const float *a)
{
    __shared__ __align__(16) float t[1024];
    __pipeline_memcpy_async(&t[4 * threadIdx.x], &a[4 * threadIdx.x], 16);
    __pipeline_commit();
    __pipeline_wait_prior(0);
    __syncthreads();
    o[threadIdx.x] = t[threadIdx.x * 4] + t[threadIdx.x];
}
__global__ void s_redundant(float *o, const float *a) /* a value read twice, and one read back after its store */
{
    __shared__ float t[64];
    int i = threadIdx.x;
    t[i] = a[i];
    float back = t[i];
    __syncthreads();
    float s = t[i ^ 1] + back;
    s *= t[i ^ 1];
    o[i] = s;
}
__global__ void s_block33(float *o, const float *a) /* a last warp of one thread */
{
    __shared__ float t[33];
    t[threadIdx.x] = a[threadIdx.x];
    __syncthreads();
    o[threadIdx.x] = t[32 - threadIdx.x];
}
__global__ void s_scan(int *o, const float *a)
{
    __shared__ int t[2][256];
    int i = threadIdx.x, in = 0;
    t[0][i] = (int)a[i];
    __syncthreads();
    for (int k = 1; k < 256; k *= 2) {
        t[1 - in][i] = i >= k ? t[in][i] + t[in][i - k] : t[in][i];
        in = 1 - in;
        __syncthreads();
    }
    o[i] = t[in][i];
}

/* ---- branches ---- */
__global__ void b_uniform(float *o, const float *a) { if (blockIdx.x & 1) o[threadIdx.x] = sinf(a[threadIdx.x] * 1e6f); else o[threadIdx.x] = a[0]; }
__global__ void b_lanes(float *o, const float *a)
{
    float v = a[threadIdx.x];
    if (threadIdx.x & 1)
        for (int k = 0; k < 5; k++)
            v = v * v + a[k + (int)v % 3];
    else
        for (int k = 0; k < 3; k++)
            v = v / (a[k] + 1.f + v);
    o[threadIdx.x] = v;
}
__global__ void b_trips(float *o, const float *a)
{
    float v = 0;
    for (int k = 0; k < (int)threadIdx.x % 7; k++)
        v += a[k * 3 + (int)v % 5];
    o[threadIdx.x] = v;
}
__global__ void b_early(float *o, const float *a, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    if (a[i] < 3.f)
        return;
    o[i] = a[i] * 2;
}

/* LAUNCH(kernel, grid, block, dynamic shared bytes, arguments) */
#define LAUNCHES                                                                                                       \
    LAUNCH(g_copy, 64, 256, 0, (f, a, N - 7)) LAUNCH(g_float2, 32, 256, 0, (f, a, N))                                   \
    LAUNCH(g_float4, 16, 256, 0, (f, a, N)) LAUNCH(g_float4_strided, 4, 256, 0, (f, a, N))                              \
    LAUNCH(g_float4_some, 16, 256, 0, (f, a, N)) LAUNCH(g_offset, 64, 256, 0, (f, a, N))                                \
    LAUNCH(g_stride, 8, 256, 0, (f, a, N)) LAUNCH(g_uniform, 64, 256, 0, (f, a, N))                                     \
    LAUNCH(g_bytes, 64, 256, 0, ((unsigned char *)f, (const unsigned char *)a, N))                                     \
    LAUNCH(g_double, 32, 256, 0, ((double *)f, (const double *)a, N))                                                  \
    LAUNCH(g_struct, 22, 256, 0, ((record *)f, (const record *)a, N))                                                  \
    LAUNCH(g_struct16, 16, 256, 0, ((wide *)f, (const wide *)a, N)) LAUNCH(g_pairs, 16, 256, 0, (f, a, N))              \
    LAUNCH(g_odd, 64, 256, 0, (f, a, N)) LAUNCH(g_gather, 64, 256, 0, (f, a, N))                                        \
    LAUNCH(g_local, 8, 128, 0, (f, a, N)) LAUNCH(g_module, 1, 256, 0, (f))                                              \
    LAUNCH(a_count, 64, 256, 0, (u, a, N)) LAUNCH(a_bins, 64, 256, 0, (u, a, N))                                        \
    LAUNCH(a_ticket, 64, 256, 0, (u, a, N)) LAUNCH(a_float, 64, 256, 0, (f, a, N))                                      \
    LAUNCH(a_double, 64, 256, 0, ((double *)f, a, N)) LAUNCH(a_max, 64, 256, 0, ((int *)u, a, N))                       \
    LAUNCH(a_cas, 64, 256, 0, (u, a, N)) LAUNCH(a_shared_bins, 8, 256, 0, (u, a, N))                                    \
    LAUNCH(a_shared_float, 2, 256, 0, (f, a)) LAUNCH(a_shared_one, 2, 256, 0, (u))                                      \
    LAUNCH(s_row<0>, 2, 256, 0, (f, a)) LAUNCH(s_row<1>, 2, 256, 0, (f, a)) LAUNCH(s_row<2>, 2, 256, 0, (f, a))          \
    LAUNCH(s_row<4>, 2, 256, 0, (f, a)) LAUNCH(s_row32<0>, 1, dim3(32, 32), 0, (f, a))                                  \
    LAUNCH(s_row32<1>, 1, dim3(32, 32), 0, (f, a)) LAUNCH(s_column, 1, 32, 0, (f, a))                                   \
    LAUNCH(s_tree, 2, 256, 0, (f, a)) LAUNCH(s_stencil, 2, 256, 0, (f, a)) LAUNCH(s_four, 2, 256, 0, (f, a))             \
    LAUNCH(s_two_arrays, 1, 32, 0, (f, a)) LAUNCH(s_records, 1, 256, 0, ((record *)f, (const record *)a))               \
    LAUNCH(s_float4, 1, 256, 0, ((float4 *)f, (const float4 *)a))                                                      \
    LAUNCH(s_half, 1, 256, 0, ((__half *)f, (const __half *)a)) LAUNCH(s_dynamic, 1, 256, 2048, (f, a))                 \
    LAUNCH(s_generic, 1, 256, 0, (f, a)) LAUNCH(s_async, 2, 256, 0, (f, a)) LAUNCH(s_redundant, 1, 64, 0, (f, a))        \
    LAUNCH(s_block33, 1, 33, 0, (f, a)) LAUNCH(s_scan, 1, 256, 0, ((int *)f, a))                                        \
    LAUNCH(b_uniform, 4, 256, 0, (f, a)) LAUNCH(b_lanes, 1, 256, 0, (f, a)) LAUNCH(b_trips, 1, 256, 0, (f, a))            \
    LAUNCH(b_early, 64, 256, 0, (f, a, N - 9))

int main()
{
    static float host[N];
    float *a, *f;
    unsigned *u;
    for (int i = 0; i < N; i++)
        host[i] = (float)((unsigned)i * 2246822519u >> 25);
    CHECK(cudaMalloc(&a, sizeof host));
    CHECK(cudaMalloc(&f, sizeof host * 2));
    CHECK(cudaMalloc(&u, sizeof host * 2));
    CHECK(cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice));
#define LAUNCH(kernel, grid, block, dynamic, arguments)                                                                \
    CHECK(cudaMemset(f, 0, sizeof host * 2));                                                                          \
    CHECK(cudaMemset(u, 0, sizeof host * 2));                                                                          \
    kernel<<<grid, block, dynamic>>> arguments;                                                                        \
    CHECK(cudaGetLastError());
    LAUNCHES
#undef LAUNCH
    CHECK(cudaMemset(u, 0, sizeof host));
    a_shared_bins<<<8, 256>>>(u, a, N);
    static unsigned bins[64];
    CHECK(cudaMemcpy(bins, u, sizeof bins, cudaMemcpyDeviceToHost));
    for (int i = 0; i < N; i++)
        bins[(int)host[i] & 63]--;
    for (int i = 0; i < 64; i++)
        if (bins[i]) {
            printf("natural: bin %d is off by %d\n", i, (int)bins[i]);
            return 1;
        }
    printf("natural: ok\n");
    return 0;
}
