// Networks: the internet checksum of packets of 576 bytes: a thread a packet by halfwords, by 16 bytes, a warp a
// packet.
#include "kit.cuh"
const int L = 576;
__device__ inline uint32_t fold(uint64_t s)
{
    s = (s & 0xffffffff) + (s >> 32);
    s = (s & 0xffff) + (s >> 16);
    s = (s & 0xffff) + (s >> 16);
    s = (s & 0xffff) + (s >> 16);
    return s & 0xffff;
}
__global__ void halves(const uint16_t *p, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    uint32_t s = 0;
    for (int k = 0; k < L / 2; k++)
        s += p[(size_t)i * (L / 2) + k];
    out[i] = fold(s);
}
__global__ void wides(const uint4 *p, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    uint64_t s = 0;
    for (int k = 0; k < L / 16; k++) {
        uint4 v = p[(size_t)i * (L / 16) + k];
        s += (uint64_t)v.x + v.y + v.z + v.w;
    }
    out[i] = fold(s);
}
__global__ void warps(const uint32_t *p, int *out, int n)
{
    int i = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x & 31;
    if (i >= n)
        return;
    uint64_t s = 0;
    for (int k = lane; k < L / 4; k += 32)
        s += p[(size_t)i * (L / 4) + k];
    for (int o = 16; o; o /= 2)
        s += __shfl_xor_sync(~0u, s, o);
    if (!lane)
        out[i] = fold(s);
}
int main()
{
    int n = 400000;
    std::vector<uint16_t> p((size_t)n * L / 2);
    std::vector<int> want(n);
    for (auto &v : p)
        v = rnd();
    for (int i = 0; i < n; i++) {
        uint64_t s = 0;
        for (int k = 0; k < L / 2; k++)
            s += p[(size_t)i * (L / 2) + k];
        while (s >> 16)
            s = (s & 0xffff) + (s >> 16);
        want[i] = s;
    }
    uint16_t *d = up(p);
    int *a = room<int>(n), *b = room<int>(n), *c = room<int>(n);
    halves<<<(n + 127) / 128, 128>>>(d, a, n);
    wides<<<(n + 127) / 128, 128>>>((uint4 *)d, b, n);
    warps<<<(n + 7) / 8, 256>>>((uint32_t *)d, c, n);
    same("halves", down(a, n), want);
    same("wides", down(b, n), want);
    same("warps", down(c, n), want);
    return verdict();
}
