// parts.cu - vectors of which a kernel reads a part: every choice of the elements of a float4, and some of other types, out
// of global and of shared memory, alone, under a condition, and beside loads that ptxas joins them with. What is left of
// the loads is its choice (src/model/merge.c); parts.json is what an H200 counted.
#include <cstdio>

template <int MASK> __device__ float sum(float4 v)
{
    return (MASK & 1 ? v.x : 0) + (MASK & 2 ? v.y : 0) + (MASK & 4 ? v.z : 0) + (MASK & 8 ? v.w : 0);
}
template <int MASK> __global__ void quads(const float4 *in, float *out, int apart)
{
    out[threadIdx.x] = sum<MASK>(in[threadIdx.x * apart]);
}
template <int MASK> __global__ void quads_if(const float4 *in, float *out, int apart, int n)
{
    if (threadIdx.x % 3 < n)
        out[threadIdx.x] = sum<MASK>(in[threadIdx.x * apart]);
}
template <int MASK> __global__ void quads_shared(const float *in, float *out, int apart)
{
    __shared__ float4 s[256];
    for (int k = threadIdx.x; k < 1024; k += blockDim.x)
        ((float *)s)[k] = in[k];
    __syncthreads();
    out[threadIdx.x] = sum<MASK>(s[threadIdx.x * apart]);
}
// With the elements of MASK of a quad those of MORE of the next.
template <int MASK, int MORE> __global__ void two_quads(const float *in, float *out, int apart)
{
    __shared__ float4 s[256];
    for (int k = threadIdx.x; k < 1024; k += blockDim.x)
        ((float *)s)[k] = in[k];
    __syncthreads();
    const int at = threadIdx.x * apart / 2 * 2;
    out[threadIdx.x] = sum<MASK>(s[at]) - sum<MORE>(s[at + 1]);
}
template <int MASK> __global__ void shorts(const ushort4 *in, int *out, int apart)
{
    ushort4 v = in[threadIdx.x * apart];
    out[threadIdx.x] = (MASK & 1 ? v.x : 0) + (MASK & 2 ? v.y : 0) + (MASK & 4 ? v.z : 0) + (MASK & 8 ? v.w : 0);
}
template <int MASK> __global__ void bytes(const uchar4 *in, int *out, int apart)
{
    uchar4 v = in[threadIdx.x * apart];
    out[threadIdx.x] = (MASK & 1 ? v.x : 0) + (MASK & 2 ? v.y : 0) + (MASK & 4 ? v.z : 0) + (MASK & 8 ? v.w : 0);
}
template <int MASK> __global__ void doubles(const double2 *in, double *out, int apart)
{
    double2 v = in[threadIdx.x * apart];
    out[threadIdx.x] = (MASK & 1 ? v.x : 0) + (MASK & 2 ? v.y : 0);
}
template <int MASK> __global__ void pairs(const float2 *in, float *out, int apart)
{
    float2 v = in[threadIdx.x * apart];
    out[threadIdx.x] = (MASK & 1 ? v.x : 0) + (MASK & 2 ? v.y : 0);
}
// A walk over records, of which two fields are used.
__global__ void records(const float4 *in, float *out, int n)
{
    float a = 0, b = 1;
    for (int k = 0; k < n; k++) {
        a += in[k * 64 + threadIdx.x].x * b;
        b -= in[k * 64 + threadIdx.x].w;
    }
    out[threadIdx.x] = a;
}

static float *in, *out;
template <int MASK> static void masks()
{
    for (int apart = 1; apart <= 3; apart++) {
        quads<MASK><<<1, 64>>>((float4 *)in, out, apart);
        quads_shared<MASK><<<1, 64>>>(in, out, apart);
        shorts<MASK><<<1, 64>>>((ushort4 *)in, (int *)out, apart);
    }
    quads_if<MASK><<<1, 64>>>((float4 *)in, out, 1, 2);
    bytes<MASK><<<1, 64>>>((uchar4 *)in, (int *)out, 2);
    two_quads<MASK, 15 - MASK><<<1, 64>>>(in, out, 1);
    two_quads<MASK, MASK><<<1, 64>>>(in, out, 3);
    if (MASK < 4) {
        doubles<MASK & 3><<<1, 64>>>((double2 *)in, (double *)out, 1);
        pairs<MASK & 3><<<1, 64>>>((float2 *)in, out, 3);
    }
    if constexpr (MASK > 1)
        masks<MASK - 1>();
}

int main()
{
    cudaMalloc(&in, 1 << 16);
    cudaMalloc(&out, 1 << 12);
    cudaMemset(in, 0, 1 << 16);
    masks<15>();
    records<<<1, 64>>>((float4 *)in, out, 16);
    const cudaError_t error = cudaDeviceSynchronize();
    printf("%s\n", cudaGetErrorString(error));
    return error != cudaSuccess;
}
