// Cryptography: products of 512-bit integers: limbs of a number side by side, limbs of all numbers side by side, and so
// that few registers are left (spills).
#include "kit.cuh"
const int L = 16;
template <bool SOA> __device__ inline void product(const uint32_t *a, const uint32_t *b, uint32_t *o, int i, int n)
{
    uint32_t x[L], r[2 * L];
#pragma unroll
    for (int k = 0; k < L; k++)
        x[k] = SOA ? a[k * n + i] : a[i * L + k];
#pragma unroll
    for (int k = 0; k < 2 * L; k++)
        r[k] = 0;
#pragma unroll
    for (int j = 0; j < L; j++) {
        uint32_t y = SOA ? b[j * n + i] : b[i * L + j];
        uint64_t c = 0;
#pragma unroll
        for (int k = 0; k < L; k++) {
            c += (uint64_t)x[k] * y + r[j + k];
            r[j + k] = (uint32_t)c;
            c >>= 32;
        }
        r[j + L] = (uint32_t)c;
    }
#pragma unroll
    for (int k = 0; k < 2 * L; k++)
        if (SOA)
            o[k * n + i] = r[k];
        else
            o[i * 2 * L + k] = r[k];
}
__global__ void side_by_side(const uint32_t *a, const uint32_t *b, uint32_t *o, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        product<false>(a, b, o, i, n);
}
__global__ void planes(const uint32_t *a, const uint32_t *b, uint32_t *o, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        product<true>(a, b, o, i, n);
}
__global__ void __launch_bounds__(256, 8) spilled(const uint32_t *a, const uint32_t *b, uint32_t *o, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        product<true>(a, b, o, i, n);
}
int main()
{
    int n = 1 << 19;
    std::vector<uint32_t> a(n * L), b(n * L), at(n * L), bt(n * L), want(n * 2 * L), wt(n * 2 * L);
    for (auto &v : a)
        v = rnd();
    for (auto &v : b)
        v = rnd();
    for (int i = 0; i < n; i++) {
        uint32_t *r = &want[i * 2 * L];
        for (int j = 0; j < L; j++) {
            uint64_t c = 0;
            for (int k = 0; k < L; k++) {
                c += (uint64_t)a[i * L + k] * b[i * L + j] + r[j + k];
                r[j + k] = c;
                c >>= 32;
            }
            r[j + L] = c;
            at[j * n + i] = a[i * L + j];
            bt[j * n + i] = b[i * L + j];
        }
        for (int k = 0; k < 2 * L; k++)
            wt[k * n + i] = r[k];
    }
    uint32_t *da = up(a), *db = up(b), *ta = up(at), *tb = up(bt), *x = room<uint32_t>(n * 2 * L),
             *y = room<uint32_t>(n * 2 * L), *z = room<uint32_t>(n * 2 * L);
    side_by_side<<<n / 256, 256>>>(da, db, x, n);
    planes<<<n / 256, 256>>>(ta, tb, y, n);
    spilled<<<n / 256, 256>>>(ta, tb, z, n);
    same("side_by_side", down(x, n * 2 * L), want);
    same("planes", down(y, n * 2 * L), wt);
    same("spilled", down(z, n * 2 * L), wt);
    return verdict();
}
