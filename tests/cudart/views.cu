// views.cu - views of arrays: texels as another type of their size, some of the layers, some of the levels; and what is refused.
// ENV: MARGAY_DEVICE=90
// EXPECT: ok
// STDERR: the program calls cudaCreateTextureObject with a view of compressed blocks, which is not simulated
#include "check.h"

#include <cstring>
#include <vector>

enum { W = 16, H = 8, LAYERS = 5 };
__global__ void words(cudaTextureObject_t t, unsigned *out) { out[threadIdx.x] = tex2D<unsigned>(t, threadIdx.x % W, threadIdx.x / W); }
__global__ void bytes(cudaTextureObject_t t, float4 *out) { out[threadIdx.x] = tex2D<float4>(t, threadIdx.x % W, threadIdx.x / W); }
__global__ void layers(cudaTextureObject_t t, float *out) { out[threadIdx.x] = tex2DLayered<float>(t, 3, 2, threadIdx.x); }
__global__ void levels(cudaTextureObject_t t, float *out) { out[threadIdx.x] = tex2DLod<float>(t, 0.4f, 0.4f, threadIdx.x); }

static float value(int x, int y, int z) { return x + 100.f * y + 0.25f * z; }
static void fill(cudaArray_t a, int w, int h, int depth, int z)
{
    std::vector<float> texels;
    for (int k = 0; k < depth; k++)
        for (int y = 0; y < h; y++)
            for (int x = 0; x < w; x++) texels.push_back(value(x, y, z + k));
    cudaMemcpy3DParms p = {};
    p.srcPtr = make_cudaPitchedPtr(texels.data(), w * 4, w, h);
    p.dstArray = a, p.extent = make_cudaExtent(w, h, depth), p.kind = cudaMemcpyHostToDevice;
    OK(cudaMemcpy3D(&p));
}
static cudaResourceViewDesc view_of(cudaResourceViewFormat format, int w, int h, int depth)
{
    cudaResourceViewDesc v = {};
    v.format = format, v.width = w, v.height = h, v.depth = depth;
    return v;
}

int main()
{
    cudaChannelFormatDesc c = cudaCreateChannelDesc<float>();
    cudaResourceDesc r = {};
    cudaTextureDesc d = {};
    cudaTextureObject_t t = 0;
    cudaResourceViewDesc asked = {};
    cudaArray_t a;
    float *out;
    OK(cudaMallocManaged(&out, W * H * sizeof(float4)));
    // a plane: as it is, its bits as integers, its bytes as colours; another size and another number of bytes are refused
    OK(cudaMallocArray(&a, &c, W, H));
    fill(a, W, H, 1, 0);
    r.resType = cudaResourceTypeArray, r.res.array.array = a;
    cudaResourceViewDesc v = view_of(cudaResViewFormatUnsignedInt1, W, H, 0);
    OK(cudaCreateTextureObject(&t, &r, &d, &v));
    words<<<1, W * H>>>(t, (unsigned *)out);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < W * H; i++) TRUE(out[i] == value(i % W, i / W, 0));
    OK(cudaGetTextureObjectResourceViewDesc(&asked, t));
    TRUE(!memcmp(&asked, &v, sizeof(v)));
    OK(cudaDestroyTextureObject(t));
    v.format = cudaResViewFormatUnsignedChar4;
    d.readMode = cudaReadModeNormalizedFloat;
    OK(cudaCreateTextureObject(&t, &r, &d, &v));
    bytes<<<1, W * H>>>(t, (float4 *)out);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < W * H; i++) {
        float f = value(i % W, i / W, 0), got[4];
        unsigned char of[4];
        memcpy(of, &f, 4), memcpy(got, out + 4 * i, 16);
        for (int k = 0; k < 4; k++) TRUE(got[k] == of[k] / 255.f);
    }
    OK(cudaDestroyTextureObject(t));
    d.readMode = cudaReadModeElementType;
    v.format = cudaResViewFormatFloat1;
    OK(cudaCreateTextureObject(&t, &r, &d, &v));
    OK(cudaDestroyTextureObject(t));
    v.format = cudaResViewFormatFloat2;
    IS(cudaCreateTextureObject(&t, &r, &d, &v), cudaErrorInvalidValue);
    v = view_of(cudaResViewFormatFloat1, W / 2, H, 0);
    IS(cudaCreateTextureObject(&t, &r, &d, &v), cudaErrorInvalidValue);
    v = view_of(cudaResViewFormatFloat1, W, H, 0), v.lastLayer = 1;
    IS(cudaCreateTextureObject(&t, &r, &d, &v), cudaErrorInvalidValue);
    v = view_of(cudaResViewFormatFloat1, W, H, 0), v.lastMipmapLevel = 1;
    IS(cudaCreateTextureObject(&t, &r, &d, &v), cudaErrorInvalidValue);
    v = view_of(cudaResViewFormatUnsignedBlockCompressed1, 4 * W, 4 * H, 0);
    IS(cudaCreateTextureObject(&t, &r, &d, &v), cudaErrorNotSupported);
    OK(cudaCreateTextureObject(&t, &r, &d, nullptr));
    IS(cudaGetTextureObjectResourceViewDesc(&asked, t), cudaErrorInvalidValue); // it has none
    OK(cudaDestroyTextureObject(t));
    OK(cudaFreeArray(a));
    // layers 1 to 3 of five: the first and last are clamped to
    OK(cudaMalloc3DArray(&a, &c, make_cudaExtent(W, H, LAYERS), cudaArrayLayered));
    fill(a, W, H, LAYERS, 0);
    r.res.array.array = a;
    v = view_of(cudaResViewFormatFloat1, W, H, 0), v.firstLayer = 1, v.lastLayer = 3;
    OK(cudaCreateTextureObject(&t, &r, &d, &v));
    layers<<<1, 5>>>(t, out);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < 5; i++) TRUE(out[i] == value(3, 2, 1 + (i < 2 ? i : 2)));
    OK(cudaDestroyTextureObject(t));
    OK(cudaFreeArray(a));
    // levels 1 and 2 of four
    cudaMipmappedArray_t m;
    OK(cudaMallocMipmappedArray(&m, &c, make_cudaExtent(W, H, 0), 4));
    for (int k = 0; k < 4; k++) {
        OK(cudaGetMipmappedArrayLevel(&a, m, k));
        fill(a, W >> k, H >> k, 1, k);
    }
    r.resType = cudaResourceTypeMipmappedArray, r.res.mipmap.mipmap = m;
    d.normalizedCoords = 1, d.maxMipmapLevelClamp = 20;
    v = view_of(cudaResViewFormatFloat1, W, H, 0), v.firstMipmapLevel = 1, v.lastMipmapLevel = 2;
    OK(cudaCreateTextureObject(&t, &r, &d, &v));
    levels<<<1, 4>>>(t, out);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < 4; i++) {
        int k = i < 1 ? 1 : 2;
        TRUE(out[i] == value(int(0.4f * (W >> k)), int(0.4f * (H >> k)), k));
    }
    OK(cudaDestroyTextureObject(t));
    v.lastMipmapLevel = 4;
    IS(cudaCreateTextureObject(&t, &r, &d, &v), cudaErrorInvalidValue);
    OK(cudaFreeMipmappedArray(m));
    // memory has no views
    r = {};
    r.resType = cudaResourceTypeLinear, r.res.linear.devPtr = out, r.res.linear.desc = c, r.res.linear.sizeInBytes = 256;
    v = view_of(cudaResViewFormatFloat1, 64, 0, 0);
    IS(cudaCreateTextureObject(&t, &r, &d, &v), cudaErrorInvalidValue);
    OK(cudaFree(out));
    (void)cudaGetLastError();
    DONE();
}
