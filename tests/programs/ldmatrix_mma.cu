// ldmatrix_mma.cu - a product of matrices by ldmatrix and mma in f16, bf16 and s8: with swizzled tiles, where the rows of a
// matrix lie in different banks, and without
#include <cstdio>
#include <cstdlib>
#include <cuda_bf16.h>
#include <cuda_fp16.h>

#define CK(call)                                                           \
    do {                                                                   \
        cudaError_t error_ = (call);                                       \
        if (error_ != cudaSuccess) {                                       \
            printf("line %d: %s\n", __LINE__, cudaGetErrorString(error_)); \
            exit(1);                                                       \
        }                                                                  \
    } while (0)

typedef signed char s8;

__device__ void mma(float d[4], const unsigned a[4], const unsigned b[2], half)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
__device__ void mma(float d[4], const unsigned a[4], const unsigned b[2], __nv_bfloat16)
{
    asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}
__device__ void mma(int d[4], const unsigned a[4], const unsigned b[2], s8)
{
    asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                 : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// Where 16 bytes of a tile are whose lines have 128.
template <bool SWIZZLED> __device__ unsigned at(unsigned line, unsigned chunk)
{
    return line * 128 + (SWIZZLED ? chunk ^ line % 8 : chunk) * 16;
}

// C = A B for 64 columns of A: A by rows, B by columns; lines of 128 bytes. Four warps, 16 rows each.
template <class In, class Sum, bool SWIZZLED> __global__ void multiply(const uint4 *a, const uint4 *b, Sum *c)
{
    __shared__ __align__(128) unsigned char tile_a[64 * 128], tile_b[64 * 128];
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (unsigned i = threadIdx.x; i < 64 * 8; i += blockDim.x) {
        *(uint4 *)(tile_a + at<SWIZZLED>(i / 8, i % 8)) = a[i];
        *(uint4 *)(tile_b + at<SWIZZLED>(i / 8, i % 8)) = b[i];
    }
#ifndef NO_BARRIER
    __syncthreads();
#endif
    Sum sum[8][4] = {};
    for (unsigned k = 0; k < 4; k++) {
        unsigned x[4], y[2];
        unsigned from = (unsigned)__cvta_generic_to_shared(tile_a + at<SWIZZLED>(warp * 16 + lane % 16, 2 * k + lane / 16));
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3])
                     : "r"(from)
                     : "memory");
        for (unsigned n = 0; n < 8; n++) {
            from = (unsigned)__cvta_generic_to_shared(tile_b + at<SWIZZLED>(n * 8 + lane % 8, 2 * k + lane / 8 % 2));
            asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0,%1}, [%2];"
                         : "=r"(y[0]), "=r"(y[1])
                         : "r"(from)
                         : "memory");
            mma(sum[n], x, y, In());
        }
    }
    for (unsigned n = 0; n < 8; n++)
        for (unsigned i = 0; i < 4; i++)
            c[(warp * 16 + lane / 4 + i / 2 * 8) * 64 + n * 8 + lane % 4 * 2 + i % 2] = sum[n][i];
}

template <class In, class Sum, bool SWIZZLED> static bool right(const char *name)
{
    const int k = 128 / sizeof(In), n = 64 * k;
    In *a = (In *)malloc(n * sizeof(In)), *b = (In *)malloc(n * sizeof(In));
    Sum *c = (Sum *)malloc(64 * 64 * sizeof(Sum)), *dc;
    void *da, *db;
    for (int i = 0; i < n; i++) {
        a[i] = In(float(i * 7 % 11 - 5));
        b[i] = In(float(i * 5 % 13 - 6));
    }
    CK(cudaMalloc(&da, n * sizeof(In)));
    CK(cudaMalloc(&db, n * sizeof(In)));
    CK(cudaMalloc(&dc, 64 * 64 * sizeof(Sum)));
    CK(cudaMemcpy(da, a, n * sizeof(In), cudaMemcpyHostToDevice));
    CK(cudaMemcpy(db, b, n * sizeof(In), cudaMemcpyHostToDevice));
    multiply<In, Sum, SWIZZLED><<<1, 128>>>((const uint4 *)da, (const uint4 *)db, dc);
    CK(cudaGetLastError());
    CK(cudaMemcpy(c, dc, 64 * 64 * sizeof(Sum), cudaMemcpyDeviceToHost));
    bool good = true;
    for (int i = 0; i < 64 * 64 && good; i++) {
        int want = 0;
        for (int j = 0; j < k; j++)
            want += ((i / 64 * k + j) * 7 % 11 - 5) * ((i % 64 * k + j) * 5 % 13 - 6);
        good = c[i] == Sum(want);
        if (!good)
            printf("%s: element %d is %g, not %d\n", name, i, double(c[i]), want);
    }
    CK(cudaFree(da));
    CK(cudaFree(db));
    CK(cudaFree(dc));
    free(a);
    free(b);
    free(c);
    return good;
}

int main()
{
    bool good = right<half, float, true>("f16");
    good &= right<half, float, false>("f16, not swizzled");
    good &= right<__nv_bfloat16, float, true>("bf16");
    good &= right<s8, int, true>("s8");
    puts(good ? "PASS" : "FAIL");
    return !good;
}
