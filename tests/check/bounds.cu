/* bounds.cu - accesses to what is not theirs. cases.cuh says how to read it. */
#include "cases.cuh"

/* ---- from one variable into its neighbour: nothing faults ---- */
template <bool fault> __global__ void into_the_neighbour(const int *in, int *out)
{
    __shared__ int first[32], second[32];
    int t = threadIdx.x;
    first[t] = in[t];
    second[t] = in[t];
    __syncthreads();
    int *p = t % 2 ? first : second; /* keeps the two apart, and both alive */
    int a = first[fault ? t + 1 + in[t] : t]; // EXPECT: bounds/out-of-variable first
    out[t] = a + p[31 - t];
}
CASE(into_the_neighbour, ALONE)
{
    into_the_neighbour<fault><<<1, 32>>>(zeros(32), zeros(32));
}

template <bool fault> __global__ void rows_for_columns(const float *in, float *out)
{
    __shared__ float tile[8][32];
    __shared__ float after[1024];
    int x = threadIdx.x, y = threadIdx.y;
    after[y * 32 + x] = 1;
    if (fault)
        tile[x][y] = in[y * 32 + x]; // EXPECT: bounds/out-of-variable tile
    else
        tile[y][x] = in[y * 32 + x];
    __syncthreads();
    out[y * 32 + x] = tile[7 - y][31 - x] + after[y * 32 + x]; // ALSO: init/shared
}
CASE(rows_for_columns, ALONE)
{
    rows_for_columns<fault><<<1, dim3(32, 8)>>>(zeros<float>(256), zeros<float>(256));
}

template <bool fault> __global__ void before_the_start(const int *in, int *out)
{
    __shared__ int guard[32], line[32];
    int t = threadIdx.x;
    guard[t] = in[t];
    line[t] = in[t];
    __syncthreads();
    int left = fault || t > 0 ? line[t - 1 - in[t]] : 0; // EXPECT: bounds/* line
                                                         // ALSO: init/shared
    out[t] = left + guard[31 - t];
}
CASE(before_the_start, ALONE)
{
    before_the_start<fault><<<1, 32>>>(zeros(32), zeros(32));
}

__device__ int table_a[64];
__device__ int table_b[64];
template <bool fault> __global__ void device_variable(const int *in, int *out)
{
    int t = threadIdx.x;
    table_a[t] = in[t];
    table_b[t] = in[t];
    out[t] = table_a[(fault ? t + 4 : t) + in[t]]; // EXPECT: bounds/*
                                                   // ALSO: race/*
}
CASE(device_variable, ALONE)
{
    device_variable<fault><<<1, 64>>>(zeros(64), zeros(64));
}

template <bool fault> __global__ void local_index(const int *in, int *out)
{
    int stack[16];
    for (int i = 0; i < 16; i++)
        stack[(in[i] + i) & 15] = i;
    out[threadIdx.x] = stack[in[0] + (fault ? threadIdx.x : threadIdx.x % 16)]; // EXPECT: bounds/*
}
CASE(local_index, ALONE)
{
    local_index<fault><<<1, 17>>>(zeros(16), zeros(32));
}

template <bool fault> __global__ void dynamic_too_small(const int *in, int *out)
{
    extern __shared__ int pool[];
    pool[threadIdx.x] = in[threadIdx.x]; // EXPECT: bounds/*
    __syncthreads();
    out[threadIdx.x] = pool[threadIdx.x]; // ALSO: bounds/*
}
CASE(dynamic_too_small, ALONE)
{
    dynamic_too_small<fault><<<1, 64, fault ? 64 : 64 * sizeof(int)>>>(zeros(64), zeros(64));
}

/* ---- out of an allocation ---- */
template <bool fault> __global__ void one_too_far(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = in[fault ? i + 1 : i]; // EXPECT: bounds/out-of-allocation
}
CASE(one_too_far, ALONE)
{
    one_too_far<fault><<<2, 64>>>(zeros(128), zeros(128), 128);
}

template <bool fault> __global__ void write_at_the_end(int *out, int n)
{
    int i = threadIdx.x;
    if (fault ? i <= n : i < n)
        out[i] = i; // EXPECT: bounds/out-of-allocation
}
CASE(write_at_the_end, ALONE)
{
    write_at_the_end<fault><<<1, 256>>>(zeros(128), 128);
}

template <bool fault> __global__ void negative_index(const int *in, int *out)
{
    int i = threadIdx.x;
    out[i] = in[i] + (fault || i > 0 ? in[i - 1] : 0); // EXPECT: bounds/out-of-allocation
}
CASE(negative_index, ALONE)
{
    negative_index<fault><<<1, 64>>>(zeros(64), zeros(64));
}

template <bool fault> __global__ void no_guard(int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (fault || i < n)
        out[i] = i; // EXPECT: bounds/out-of-allocation
}
CASE(no_guard, ALONE)
{
    no_guard<fault><<<4, 64>>>(zeros(200), 200);
}

template <bool fault> __global__ void vector_tail(const float4 *in, float4 *out, int n)
{
    int i = threadIdx.x;
    if (fault || 4 * i + 3 < n) {
        float4 v = in[i]; // EXPECT: bounds/out-of-allocation
        v.x += 1;
        out[i] = v;
    }
}
CASE(vector_tail, ALONE)
{
    vector_tail<fault><<<1, 32>>>((float4 *)zeros<float>(126), (float4 *)zeros<float>(128), 126);
}

template <bool fault> __global__ void atomic_outside(int *bins, const int *in)
{
    atomicAdd(&bins[in[threadIdx.x] + (fault ? threadIdx.x : threadIdx.x % 16)], 1); // EXPECT: bounds/out-of-allocation
}
CASE(atomic_outside, ALONE)
{
    atomic_outside<fault><<<1, 32>>>(zeros(16), zeros(32));
}

template <bool fault> __global__ void stride_outside(const int *in, int *out, int stride)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) * stride;
    out[threadIdx.x] = in[i]; // EXPECT: bounds/out-of-allocation
}
CASE(stride_outside, ALONE)
{
    stride_outside<fault><<<1, 64>>>(zeros(128), zeros(64), fault ? 4 : 2);
}

/* ---- what is no memory of the kernel's ---- */
template <bool fault> __global__ void after_free(int *p)
{
    p[threadIdx.x] = 1; // EXPECT: bounds/freed
}
CASE(after_free, ALONE)
{
    int *p;
    cudaMalloc((void **)&p, 256);
    if (fault)
        cudaFree(p);
    after_free<fault><<<1, 64>>>(p);
    cudaDeviceSynchronize();
    if (!fault)
        cudaFree(p);
}

template <bool fault> __global__ void misaligned(float *p)
{
    float4 v = make_float4(1, 2, 3, 4);
    *(float4 *)(p + (fault ? 1 : 4)) = v; // EXPECT: bounds/misaligned
}
CASE(misaligned, ALONE)
{
    misaligned<fault><<<1, 1>>>(zeros<float>(16));
}

template <bool fault> __global__ void misaligned_shared(float *out, int offset)
{
    __shared__ __align__(16) float s[32];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    if (threadIdx.x == 0) {
        float2 v = *(float2 *)&s[offset]; // EXPECT: bounds/misaligned s
        *out = v.x + v.y;
    }
}
CASE(misaligned_shared, ALONE)
{
    misaligned_shared<fault><<<1, 32>>>(zeros<float>(1), fault ? 3 : 2);
}

template <bool fault> __global__ void null_pointer(int *p)
{
    p[threadIdx.x] = 1; // EXPECT: bounds/null
}
CASE(null_pointer, ALONE)
{
    null_pointer<fault><<<1, 32>>>(fault ? nullptr : zeros(32));
}

template <bool fault> __global__ void host_memory(const int *in, int *out)
{
    out[threadIdx.x] = in[threadIdx.x]; // EXPECT: bounds/host-pointer
}
CASE(host_memory, ALONE)
{
    static int plain[32];
    int *pinned;
    cudaMallocHost((void **)&pinned, sizeof(plain));
    memset(pinned, 0, sizeof(plain));
    host_memory<fault><<<1, 32>>>(fault ? plain : pinned, zeros(32));
    cudaDeviceSynchronize();
    cudaFreeHost(pinned);
}

__constant__ int constants[32];
template <bool fault> __global__ void write_constant(int *p)
{
    p[threadIdx.x] = constants[threadIdx.x] + 1; // EXPECT: bounds/write-constant
}
CASE(write_constant, ALONE)
{
    void *address;
    int host[32] = {0};
    cudaMemcpyToSymbol(constants, host, sizeof(host));
    cudaGetSymbolAddress(&address, constants);
    write_constant<fault><<<1, 32>>>(fault ? (int *)address : zeros(32));
}

/* ---- the host side ---- */
CASE(copy_too_long, ALONE)
{
    static char host[1024];
    char *p = zeros<char>(512);
    cudaMemcpy(p, host, fault ? 1024 : 512, cudaMemcpyHostToDevice); // EXPECT: bounds/copy
}

CASE(memset_too_long, ALONE)
{
    cudaMemset(zeros<char>(1000), 0, fault ? 4000 : 1000); // EXPECT: bounds/copy
}

CASE(freed_twice, ALONE)
{
    void *p;
    cudaMalloc(&p, 64);
    cudaFree(p);
    if (fault)
        cudaFree(p); // EXPECT: bounds/bad-free
}

CASE(freed_in_the_middle, ALONE)
{
    char *p = zeros<char>(4096);
    if (fault)
        cudaFree(p + 256); // EXPECT: bounds/bad-free
}

CASE(copy_from_freed, ALONE)
{
    char *p, host[64];
    cudaMalloc((void **)&p, 64);
    cudaMemset(p, 0, 64);
    if (fault)
        cudaFree(p);
    cudaMemcpy(host, p, 64, cudaMemcpyDeviceToHost); // EXPECT: bounds/*
    if (!fault)
        cudaFree(p);
}

CASE(wrong_direction, ALONE)
{
    char *a = zeros<char>(64), *b = zeros<char>(64);
    cudaMemcpy(a, b, 64, fault ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToDevice); // EXPECT: bounds/device-pointer
}

CASE(leak, ALONE | LEAKS)
{
    void *p;
    cudaMalloc(&p, 12345); // EXPECT: bounds/leak
    if (!fault)
        cudaFree(p);
}

/* Below shared memory, by generic addresses: pointers that take turns. */
template <bool fault> __global__ void below_by_turns(int *out, int n)
{
    extern __shared__ int raw[];
    int *of[2] = {raw, raw + 64};
    const int t = threadIdx.x;
    int now = 0;
    of[0][t] = t;
    __syncthreads();
    for (int d = 1; d < n; d *= 2) {
        of[now ^ 1][t] = of[now][t] + (fault || t >= d ? of[now][t - d] : 0); // EXPECT: bounds/out-of-variable
        __syncthreads();
        now ^= 1;
    }
    out[t] = of[now][t];
}
CASE(below_by_turns, ALONE)
{
    below_by_turns<fault><<<1, 64, 512>>>(zeros(64), 2);
}
