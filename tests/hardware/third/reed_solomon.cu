// Storage: three parity rows over GF(256) of six data rows: logarithms by lane from constant memory, from shared
// memory, and shifts with no table.
#include "kit.cuh"
const int D = 6, P = 3;
__constant__ uint8_t log_c[256], exp_c[512];
__constant__ uint8_t coef[P * D];
__global__ void tables_constant(const uint8_t *x, uint8_t *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    for (int p = 0; p < P; p++) {
        int s = 0;
        for (int d = 0; d < D; d++) {
            int v = x[d * n + i];
            if (v)
                s ^= exp_c[log_c[v] + log_c[coef[p * D + d]]];
        }
        y[p * n + i] = s;
    }
}
__global__ void tables_shared(const uint8_t *x, uint8_t *y, int n)
{
    __shared__ uint8_t lg[256], ex[512];
    lg[threadIdx.x] = log_c[threadIdx.x];
    ex[threadIdx.x] = exp_c[threadIdx.x];
    ex[threadIdx.x + 256] = exp_c[threadIdx.x + 256];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    for (int p = 0; p < P; p++) {
        int s = 0;
        for (int d = 0; d < D; d++) {
            int v = x[d * n + i];
            if (v)
                s ^= ex[lg[v] + lg[coef[p * D + d]]];
        }
        y[p * n + i] = s;
    }
}
__global__ void shifts(const uint32_t *x, uint32_t *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    uint32_t s[P] = {0};
#pragma unroll
    for (int d = 0; d < D; d++) {
        uint32_t v = x[d * n + i];
#pragma unroll
        for (int b = 0; b < 8; b++) {
#pragma unroll
            for (int p = 0; p < P; p++)
                if (coef[p * D + d] >> b & 1)
                    s[p] ^= v;
            uint32_t top = v & 0x80808080u;
            v = (v << 1 & 0xfefefefeu) ^ (top >> 7) * 0x1d;
        }
    }
    for (int p = 0; p < P; p++)
        y[p * n + i] = s[p];
}
int main()
{
    int n = 1 << 22;
    std::vector<uint8_t> lg(256), ex(512), cf(P * D), x(D * n), want(P * n);
    int v = 1;
    for (int i = 0; i < 255; i++) {
        ex[i] = ex[i + 255] = v;
        lg[v] = i;
        v <<= 1;
        if (v & 256)
            v ^= 0x11d;
    }
    for (auto &c : cf)
        c = 1 + rnd() % 255;
    for (auto &c : x)
        c = rnd();
    for (int p = 0; p < P; p++)
        for (int d = 0; d < D; d++)
            for (int i = 0; i < n; i++)
                if (x[d * n + i])
                    want[p * n + i] ^= ex[lg[x[d * n + i]] + lg[cf[p * D + d]]];
    CK(cudaMemcpyToSymbol(log_c, lg.data(), 256));
    CK(cudaMemcpyToSymbol(exp_c, ex.data(), 512));
    CK(cudaMemcpyToSymbol(coef, cf.data(), P * D));
    uint8_t *d = up(x), *a = room<uint8_t>(P * n), *b = room<uint8_t>(P * n), *c = room<uint8_t>(P * n);
    tables_constant<<<n / 256, 256>>>(d, a, n);
    tables_shared<<<n / 256, 256>>>(d, b, n);
    shifts<<<n / 1024, 256>>>((uint32_t *)d, (uint32_t *)c, n / 4);
    same("constant", down(a, P * n), want);
    same("shared", down(b, P * n), want);
    same("shifts", down(c, P * n), want);
    return verdict();
}
