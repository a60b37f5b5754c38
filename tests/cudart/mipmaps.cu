// mipmaps.cu - mipmapped arrays of every shape: a level by itself reads as a texture of that level's array does; what
// lies between two; and what is refused. How levels are chosen is held to a device by tests/hardware/mipmaps.cu.
// ENV: MARGAY_DEVICE=90
// EXPECT: ok
// STDERR: a level of a texture with maxAnisotropy above 1 by gradients is not simulated
#include "check.h"

#include <vector>

enum Shape { LINE, PLANE, VOLUME, LINES, PLANES, CUBE };
enum { N = 500 };
template <typename T> __global__ void read(cudaTextureObject_t t, Shape shape, float level, bool named, T *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N) return;
    float x = i * 0.0173f - 2, y = i * 0.0291f - 3, z = i * 0.011f - 1;
    int layer = i % 3;
    T v = T();
    if (named)
        v = shape == LINE     ? tex1DLod<T>(t, x, level)
            : shape == PLANE  ? tex2DLod<T>(t, x, y, level)
            : shape == VOLUME ? tex3DLod<T>(t, x, y, z, level)
            : shape == LINES  ? tex1DLayeredLod<T>(t, x, layer, level)
            : shape == PLANES ? tex2DLayeredLod<T>(t, x, y, layer, level)
                              : texCubemapLod<T>(t, x, y, z, level);
    else
        v = shape == LINE     ? tex1D<T>(t, x)
            : shape == PLANE  ? tex2D<T>(t, x, y)
            : shape == VOLUME ? tex3D<T>(t, x, y, z)
            : shape == LINES  ? tex1DLayered<T>(t, x, layer)
            : shape == PLANES ? tex2DLayered<T>(t, x, y, layer)
                              : texCubemap<T>(t, x, y, z);
    out[i] = v;
}
__global__ void grad(cudaTextureObject_t t, float *out) { out[0] = tex2DGrad<float>(t, 0, 0, make_float2(.1f, 0), make_float2(0, .1f)); }
__global__ void paint(cudaSurfaceObject_t s, float v) { surf2Dwrite(v, s, threadIdx.x * 4, threadIdx.y); }

static cudaTextureObject_t object(cudaMipmappedArray_t m, cudaArray_t a, bool linear, bool mip, int anisotropy = 0)
{
    cudaTextureObject_t t = 0;
    cudaResourceDesc r = {};
    cudaTextureDesc d = {};
    if (m) r.resType = cudaResourceTypeMipmappedArray, r.res.mipmap.mipmap = m;
    else r.resType = cudaResourceTypeArray, r.res.array.array = a;
    for (auto &mode : d.addressMode) mode = cudaAddressModeMirror;
    d.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
    d.mipmapFilterMode = mip ? cudaFilterModeLinear : cudaFilterModePoint;
    d.normalizedCoords = 1, d.maxMipmapLevelClamp = 20, d.maxAnisotropy = anisotropy;
    OK(cudaCreateTextureObject(&t, &r, &d, nullptr));
    return t;
}
static std::vector<float> values(cudaTextureObject_t t, Shape shape, float level, bool named, float *out)
{
    std::vector<float> v(N);
    read<float><<<(N + 127) / 128, 128>>>(t, shape, level, named, out);
    OK(cudaMemcpy(v.data(), out, N * 4, cudaMemcpyDeviceToHost));
    return v;
}

static void shape(Shape s, cudaExtent extent, unsigned flags, unsigned levels, float *out)
{
    cudaMipmappedArray_t m;
    cudaChannelFormatDesc c = cudaCreateChannelDesc<float>();
    OK(cudaMallocMipmappedArray(&m, &c, extent, levels, flags));
    std::vector<std::vector<float>> one[2];
    for (unsigned k = 0; k < levels; k++) {
        cudaArray_t a;
        cudaExtent e;
        unsigned f;
        OK(cudaGetMipmappedArrayLevel(&a, m, k));
        OK(cudaArrayGetInfo(nullptr, &e, &f, a));
        TRUE(e.width == std::max<size_t>(extent.width >> k, 1) && f == flags);
        TRUE(e.height == (extent.height ? std::max<size_t>(extent.height >> k, 1) : 0));
        TRUE(e.depth == (flags ? extent.depth : extent.depth ? std::max<size_t>(extent.depth >> k, 1) : 0));
        size_t rows = std::max<size_t>(e.height, 1) * std::max<size_t>(e.depth, 1);
        std::vector<float> texels(e.width * rows);
        for (size_t i = 0; i < texels.size(); i++) texels[i] = (float)((i * 37 + k * 11) % 101);
        cudaMemcpy3DParms p = {};
        p.srcPtr = make_cudaPitchedPtr(texels.data(), e.width * 4, e.width, std::max<size_t>(e.height, 1));
        p.dstArray = a, p.extent = make_cudaExtent(e.width, std::max<size_t>(e.height, 1), std::max<size_t>(e.depth, 1));
        p.kind = cudaMemcpyHostToDevice;
        OK(cudaMemcpy3D(&p));
        for (int linear = 0; linear < 2; linear++) {
            cudaTextureObject_t t = object(nullptr, a, linear, false);
            one[linear].push_back(values(t, s, 0, false, out));
            OK(cudaDestroyTextureObject(t));
        }
        OK(cudaFreeArray(a)); // an H200 says so, and the level stays
    }
    for (int linear = 0; linear < 2; linear++)
        for (int mip = 0; mip < 2; mip++) {
            cudaTextureObject_t t = object(m, nullptr, linear, mip);
            for (unsigned k = 0; k < levels; k++) TRUE(values(t, s, (float)k, true, out) == one[linear][k]);
            TRUE(values(t, s, -3, true, out) == one[linear][0]);
            TRUE(values(t, s, 1e30f, true, out) == one[linear][levels - 1]);
            TRUE(values(t, s, NAN, true, out) == one[linear][0]);
            TRUE(values(t, s, 0, false, out) == one[linear][0]);
            std::vector<float> between = values(t, s, 0.75f, true, out);
            for (int i = 0; i < N && levels > 1; i++) {
                float mixed = mip ? 0.25f * one[linear][0][i] + 0.75f * one[linear][1][i] : one[linear][1][i];
                float most = linear && mip ? 100.f * 6 / 256 : 1e-4f; // weights are 256ths of what is left to a level
                TRUE(fabsf(between[i] - mixed) <= most);
            }
            OK(cudaDestroyTextureObject(t));
        }
    OK(cudaFreeMipmappedArray(m));
    IS(cudaFreeMipmappedArray(m), 400);
}

int main()
{
    float *out, v = 0;
    OK(cudaMalloc(&out, N * 4));
    shape(LINE, make_cudaExtent(50, 0, 0), 0, 6, out);
    shape(PLANE, make_cudaExtent(33, 17, 0), 0, 6, out);
    shape(PLANE, make_cudaExtent(8, 2, 0), 0, 1, out);
    shape(VOLUME, make_cudaExtent(12, 9, 20), 0, 5, out);
    shape(LINES, make_cudaExtent(50, 0, 3), cudaArrayLayered, 5, out);
    shape(PLANES, make_cudaExtent(20, 10, 3), cudaArrayLayered, 5, out);
    shape(CUBE, make_cudaExtent(16, 16, 6), cudaArrayCubemap, 5, out);
    cudaMipmappedArray_t m;
    cudaArray_t a;
    cudaChannelFormatDesc c = cudaCreateChannelDesc<float>(), none = {};
    OK(cudaMallocMipmappedArray(&m, &c, make_cudaExtent(8, 2, 0), 0, 0)); // at least one level
    IS(cudaGetMipmappedArrayLevel(&a, m, 1), 1);
    OK(cudaFreeMipmappedArray(m));
    OK(cudaMallocMipmappedArray(&m, &c, make_cudaExtent(8, 4, 0), 99, cudaArraySurfaceLoadStore)); // as many as there are
    IS(cudaGetMipmappedArrayLevel(&a, m, 4), 1);
    OK(cudaGetMipmappedArrayLevel(&a, m, 1));
    cudaResourceDesc r = {};
    cudaSurfaceObject_t s;
    r.resType = cudaResourceTypeArray, r.res.array.array = a;
    OK(cudaCreateSurfaceObject(&s, &r)); // a level is painted, and read as such
    paint<<<1, dim3(4, 2)>>>(s, 7);
    cudaTextureObject_t t = object(m, nullptr, true, true);
    TRUE(values(t, PLANE, 1, true, out) == std::vector<float>(N, 7.f));
    OK(cudaDestroySurfaceObject(s));
    cudaGetLastError();
    LAUNCH(0, (grad<<<1, 1>>>(t, out)));
    OK(cudaMemcpy(&v, out, 4, cudaMemcpyDeviceToHost));
    IS(cudaMallocMipmappedArray(&m, &c, make_cudaExtent(8, 8, 0), 2, 1 << 12), 1);
    IS(cudaMallocMipmappedArray(&m, &none, make_cudaExtent(8, 8, 0), 2, 0), 20);
    IS(cudaMallocMipmappedArray(&m, &c, make_cudaExtent((size_t)1 << 62, 8, 0), 2, 0), 1);
    IS(cudaMallocMipmappedArray(&m, &c, make_cudaExtent(131072, 131072, 16384), 2, 0), 2); // petabytes
    IS(cudaGetMipmappedArrayLevel(&a, (cudaMipmappedArray_t)a, 0), 400);
    IS(cudaFreeMipmappedArray((cudaMipmappedArray_t)a), 400);
    cudaGetLastError();
    t = object(m = nullptr, a, true, true, 16);
    OK(cudaDestroyTextureObject(t));
    OK(cudaMallocMipmappedArray(&m, &c, make_cudaExtent(8, 8, 0), 3, 0));
    grad<<<1, 1>>>(object(m, nullptr, true, true, 16), out);
    IS(cudaGetLastError(), 801);
    DONE();
}
