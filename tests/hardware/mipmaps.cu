// mipmaps.cu - what a device reads from mipmapped textures: levels named, by gradients, clamped, biased, filtered.
//
// A line is a configuration and 1,024 values as bits. mipmaps.txt is what an H200 printed, of gradients every 16th value
// and of the others a digest; test_mipmaps.py holds Margay to it.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#include <cuda_runtime.h>
#define OK(x) do { cudaError_t e_ = (x); if (e_) { printf("%d: %s %s\n", __LINE__, #x, cudaGetErrorName(e_)); exit(1); } } while (0)
enum { W = 64, H = 64, LEVELS = 7 };
__global__ void lod2(cudaTextureObject_t t, const float *x, const float *y, const float *l, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = tex2DLod<float>(t, x[i], y[i], l[i]);
}
__global__ void grad2(cudaTextureObject_t t, const float *x, const float *y, const float4 *g, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = tex2DGrad<float>(t, x[i], y[i], make_float2(g[i].x, g[i].y), make_float2(g[i].z, g[i].w));
}
__global__ void plain2(cudaTextureObject_t t, const float *x, const float *y, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) out[i] = tex2D<float>(t, x[i], y[i]);
}
static unsigned state = 1;
static unsigned rnd() { return state = state * 1664525u + 1013904223u, state >> 8; }
static float unit() { return rnd() / 16777216.0f; }
template <typename T> static T *up(const std::vector<T> &v)
{
    T *p;
    OK(cudaMalloc(&p, v.size() * sizeof(T)));
    OK(cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice));
    return p;
}
static cudaMipmappedArray_t make(bool constant)
{
    cudaMipmappedArray_t m;
    cudaChannelFormatDesc c = cudaCreateChannelDesc<float>();
    OK(cudaMallocMipmappedArray(&m, &c, make_cudaExtent(W, H, 0), LEVELS, 0));
    for (int l = 0; l < LEVELS; l++) {
        cudaArray_t a;
        OK(cudaGetMipmappedArrayLevel(&a, m, l));
        std::vector<float> v((W >> l) * (H >> l));
        for (auto &f : v) f = constant ? (float)l : unit();
        OK(cudaMemcpy2DToArray(a, 0, 0, v.data(), (W >> l) * 4, (W >> l) * 4, H >> l, cudaMemcpyHostToDevice));
    }
    return m;
}
static cudaTextureObject_t object(cudaMipmappedArray_t m, bool linear, bool mip, float bias, float least, float most, int aniso, bool normal = true)
{
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeMipmappedArray, r.res.mipmap.mipmap = m;
    cudaTextureDesc d = {};
    d.addressMode[0] = d.addressMode[1] = d.addressMode[2] = cudaAddressModeWrap;
    d.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
    d.mipmapFilterMode = mip ? cudaFilterModeLinear : cudaFilterModePoint;
    d.readMode = cudaReadModeElementType, d.normalizedCoords = normal, d.maxAnisotropy = aniso;
    d.mipmapLevelBias = bias, d.minMipmapLevelClamp = least, d.maxMipmapLevelClamp = most;
    cudaTextureObject_t t = 0;
    cudaError_t e = cudaCreateTextureObject(&t, &r, &d, NULL);
    if (e) printf("object: %s\n", cudaGetErrorName(e)), cudaGetLastError();
    return t;
}
static void show(const char *name, const float *out, int n)
{
    std::vector<float> v(n);
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpy(v.data(), out, n * 4, cudaMemcpyDeviceToHost));
    printf("%s", name);
    for (int i = 0; i < n; i++) { unsigned u; memcpy(&u, &v[i], 4); printf(" %08x", u); }
    printf("\n");
}
int main()
{
    cudaMipmappedArray_t flat = make(true), rough = make(false);
    const int n = 1024;
    float *out;
    OK(cudaMalloc(&out, n * 4));
    std::vector<float> x(n), y(n), l(n);
    std::vector<float4> g(n);
    // lod alone: fine steps
    for (int i = 0; i < n; i++) x[i] = y[i] = 0.3f, l[i] = -1 + i * (9.0f / n) + (i % 7) * 0.00037f;
    float *dx = up(x), *dy = up(y), *dl = up(l);
    struct { float bias, least, most; } set[] = {{0, 0, 99}, {0.3f, 0, 99}, {0, 0.5f, 3.25f}, {-1.7f, 1.1f, 5}, {0, 0, 0}};
    for (auto &s : set)
        for (int mip = 0; mip < 2; mip++) {
            char name[64];
            cudaTextureObject_t t = object(flat, true, mip, s.bias, s.least, s.most, 0);
            lod2<<<4, 256>>>(t, dx, dy, dl, out, n);
            sprintf(name, "lod %d %g %g %g", mip, s.bias, s.least, s.most);
            show(name, out, n);
            plain2<<<1, 32>>>(t, dx, dy, out, 8);
            sprintf(name, "plain %d %g %g %g", mip, s.bias, s.least, s.most);
            show(name, out, 8);
        }
    // very fine steps about a tie
    for (int i = 0; i < n; i++) l[i] = 1.25f + i / 65536.0f;
    dl = up(l);
    lod2<<<4, 256>>>(object(flat, true, true, 0, 0, 99, 0), dx, dy, dl, out, n);
    show("fine", out, n);
    for (int i = 0; i < n; i++) l[i] = 1.49f + i * (0.02f / n);
    dl = up(l);
    lod2<<<4, 256>>>(object(flat, true, false, 0, 0, 99, 0), dx, dy, dl, out, n);
    show("tie", out, n);
    // gradients, levels flat
    for (int kind = 0; kind < 5; kind++) {
        for (int i = 0; i < n; i++) {
            float s = exp2f(-7 + i * (8.0f / n));
            g[i] = kind == 0 ? make_float4(s, 0, 0, 0) : kind == 1 ? make_float4(0, 0, 0, s) : kind == 2 ? make_float4(s, s, 0, 0)
                 : kind == 3 ? make_float4(s, 0, 0, s / 3) : make_float4(s * (unit() - 0.5f), s * (unit() - 0.5f), s * (unit() - 0.5f), s * (unit() - 0.5f));
        }
        float4 *dg = up(g);
        char name[64];
        grad2<<<4, 256>>>(object(flat, true, true, 0, 0, 99, 0), dx, dy, dg, out, n);
        sprintf(name, "grad %d", kind);
        show(name, out, n);
    }
    // everything
    for (int i = 0; i < n; i++) x[i] = unit() * 3 - 1, y[i] = unit() * 3 - 1, l[i] = unit() * 8 - 0.5f;
    dx = up(x), dy = up(y), dl = up(l);
    for (int linear = 0; linear < 2; linear++)
        for (int mip = 0; mip < 2; mip++) {
            char name[64];
            lod2<<<4, 256>>>(object(rough, linear, mip, 0, 0, 99, 0), dx, dy, dl, out, n);
            sprintf(name, "rough %d %d", linear, mip);
            show(name, out, n);
        }
    OK(cudaFreeMipmappedArray(rough));
    OK(cudaFreeMipmappedArray(flat));
}
