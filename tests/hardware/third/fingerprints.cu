// Chemistry: bits that molecules' fingerprints of 1024 bits share with a query's: a thread each through rows, through
// columns, a warp each.
#include "kit.cuh"
const int W = 32;
__global__ void rows(const uint32_t *f, const uint32_t *q, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int both = 0, any = 0;
    for (int w = 0; w < W; w++) {
        uint32_t x = f[i * W + w], y = q[w];
        both += __popc(x & y);
        any += __popc(x | y);
    }
    out[i] = both * 1000 / any;
}
__global__ void columns(const uint32_t *f, const uint32_t *q, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int both = 0, any = 0;
    for (int w = 0; w < W; w++) {
        uint32_t x = f[w * n + i], y = q[w];
        both += __popc(x & y);
        any += __popc(x | y);
    }
    out[i] = both * 1000 / any;
}
__global__ void warps(const uint32_t *f, const uint32_t *q, int *out, int n)
{
    int lane = threadIdx.x & 31, i = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
    if (i >= n)
        return;
    uint32_t x = f[i * W + lane], y = q[lane];
    int both = __popc(x & y), any = __popc(x | y);
    for (int o = 16; o; o /= 2) {
        both += __shfl_down_sync(~0u, both, o);
        any += __shfl_down_sync(~0u, any, o);
    }
    if (!lane)
        out[i] = both * 1000 / any;
}
int main()
{
    int n = 800000;
    std::vector<uint32_t> f((size_t)n * W), t((size_t)n * W), q(W);
    std::vector<int> want(n);
    for (auto &x : q)
        x = rnd();
    for (auto &x : f)
        x = rnd() & rnd();
    for (int i = 0; i < n; i++) {
        int b = 0, a = 0;
        for (int w = 0; w < W; w++) {
            uint32_t x = f[(size_t)i * W + w];
            t[(size_t)w * n + i] = x;
            b += __builtin_popcount(x & q[w]);
            a += __builtin_popcount(x | q[w]);
        }
        want[i] = b * 1000 / a;
    }
    uint32_t *df = up(f), *dt = up(t), *dq = up(q);
    int *a = room<int>(n), *b = room<int>(n), *c = room<int>(n);
    rows<<<(n + 127) / 128, 128>>>(df, dq, a, n);
    columns<<<(n + 127) / 128, 128>>>(dt, dq, b, n);
    warps<<<(n + 7) / 8, 256>>>(df, dq, c, n);
    same("rows", down(a, n), want);
    same("columns", down(b, n), want);
    same("warps", down(c, n), want);
    return verdict();
}
