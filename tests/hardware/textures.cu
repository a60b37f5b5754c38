// textures.cu - what a device reads from textures: filters, address modes, conversions, at places of all kinds.
//
//     textures [FILE]       prints a line a configuration, with a digest of what was read; FILE gets all values
//
// textures.txt is what an H200 printed; test_textures.py holds Margay to it. One more configuration is a line of `main`.
#include "check.cuh"

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_fp16.h>
#include <vector>

enum Shape { LINE, PLANE, VOLUME, GATHER, CUBE, LAYERS };
static const char *const shapes[] = {"line", "plane", "volume", "gather", "cube", "layers"};
enum Kind { FLOAT, HALF, UNIT8, UNIT16, SIGNED8, SIGNED16 };
static const char *const kinds[] = {"float", "half", "unit8", "unit16", "signed8", "signed16"};
static const char *const modes[] = {"wrap", "clamp", "mirror", "border"};

static uint64_t seed = 1;
static unsigned next() { return (unsigned)((seed = seed * 6364136223846793005ull + 1442695040888963407ull) >> 33); }
static float unit() { return (float)(next() & 0xffffff) / 16777216.f; }

__global__ void look(cudaTextureObject_t t, int shape, const float *p, float4 *out, int n)
{
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    const float x = p[3 * i], y = p[3 * i + 1], z = p[3 * i + 2];
    switch (shape) {
    case LINE: out[i] = tex1D<float4>(t, x); break;
    case PLANE: out[i] = tex2D<float4>(t, x, y); break;
    case VOLUME: out[i] = tex3D<float4>(t, x, y, z); break;
    case GATHER: out[i] = tex2Dgather<float4>(t, x, y, 1); break;
    case CUBE: out[i] = texCubemap<float4>(t, x, y, z); break;
    default: out[i] = tex2DLayered<float4>(t, x, y, i % 7 - 2);
    }
}

// Texels of the kind at random, as bytes; the channel's description.
static cudaChannelFormatDesc texels(Kind kind, size_t count, std::vector<uint8_t> &bytes)
{
    static const int bits[] = {32, 16, 8, 16, 8, 16};
    static const cudaChannelFormatKind as[] = {cudaChannelFormatKindFloat, cudaChannelFormatKindFloat, cudaChannelFormatKindUnsigned,
                                               cudaChannelFormatKindUnsigned, cudaChannelFormatKindSigned, cudaChannelFormatKindSigned};
    const int b = bits[kind];
    bytes.resize(count * b / 8);
    for (size_t i = 0; i < count; i++) {
        const float f = unit() * 2 - 1;
        const __half h = __float2half(f);
        const unsigned any = next();
        memcpy(&bytes[i * b / 8], kind == FLOAT ? (const void *)&f : kind == HALF ? (const void *)&h : (const void *)&any, b / 8);
    }
    return cudaCreateChannelDesc(b, b, b, b, as[kind]);
}

static void ask(FILE *all, Shape shape, Kind kind, int mode, bool norm, bool linear, int width, int height, int depth, int n)
{
    const int h = shape == LINE ? 0 : height, d = shape == VOLUME || shape == LAYERS ? depth : shape == CUBE ? 6 : 0;
    const int size[3] = {width, h ? h : 1, d ? d : 1};
    std::vector<uint8_t> bytes;
    const cudaChannelFormatDesc form = texels(kind, (size_t)4 * size[0] * size[1] * size[2], bytes);
    const size_t texel = (size_t)form.x / 2;
    cudaArray_t array;
    CHECK(cudaMalloc3DArray(&array, &form, make_cudaExtent(width, h, d),
                            shape == GATHER ? cudaArrayTextureGather : shape == CUBE ? cudaArrayCubemap : shape == LAYERS ? cudaArrayLayered : 0));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(bytes.data(), width * texel, width, size[1]);
    copy.dstArray = array;
    copy.extent = make_cudaExtent(width, size[1], size[2]);
    copy.kind = cudaMemcpyHostToDevice;
    CHECK(cudaMemcpy3D(&copy));
    cudaResourceDesc resource = {};
    cudaTextureDesc how = {};
    cudaTextureObject_t texture;
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    for (int k = 0; k < 3; k++) how.addressMode[k] = (cudaTextureAddressMode)mode;
    for (int k = 0; k < 4; k++) how.borderColor[k] = .25f * (k + 1);
    how.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
    how.readMode = kind >= UNIT8 ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
    how.normalizedCoords = norm;
    CHECK(cudaCreateTextureObject(&texture, &resource, &how, nullptr));
    std::vector<float> points(3 * n);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) { // on halves of a filter's steps; in and around it; in it; in it, on finer steps
            const float s = (float)size[k];
            float v = i % 4 == 0   ? (float)(next() % (size[k] * 512 * 4)) / 512.f - s * 1.5f
                      : i % 4 == 1 ? unit() * s * 4 - s * 1.5f
                      : i % 4 == 2 ? unit() * s
                                   : (float)(next() % (size[k] * 65536)) / 65536.f;
            points[3 * i + k] = shape == CUBE ? unit() * 4 - 2 : norm ? v / s : v;
        }
    float *p;
    float4 *out;
    std::vector<float> read(4 * n);
    CHECK(cudaMalloc(&p, points.size() * sizeof(float)));
    CHECK(cudaMalloc(&out, n * sizeof(float4)));
    CHECK(cudaMemcpy(p, points.data(), points.size() * sizeof(float), cudaMemcpyHostToDevice));
    look<<<(n + 255) / 256, 256>>>(texture, shape, p, out, n);
    CHECK(cudaMemcpy(read.data(), out, read.size() * sizeof(float), cudaMemcpyDeviceToHost));
    uint64_t digest = 14695981039346656037ull; // FNV-1a
    const uint8_t *at = (const uint8_t *)read.data();
    for (size_t i = 0; i < read.size() * sizeof(float); i++) digest = (digest ^ at[i]) * 1099511628211ull;
    printf("%s %s %s %s %s %dx%dx%d %016llx\n", shapes[shape], kinds[kind], modes[mode], norm ? "parts" : "texels", linear ? "linear" : "point",
           size[0], size[1], size[2], (unsigned long long)digest);
    if (all) {
        const int head[] = {shape, kind, mode, norm, linear, size[0], size[1], size[2], n, (int)bytes.size()};
        fwrite(head, sizeof(head), 1, all);
        fwrite(bytes.data(), 1, bytes.size(), all);
        fwrite(points.data(), sizeof(float), points.size(), all);
        fwrite(read.data(), sizeof(float), read.size(), all);
    }
    CHECK(cudaDestroyTextureObject(texture));
    CHECK(cudaFreeArray(array));
    CHECK(cudaFree(p));
    CHECK(cudaFree(out));
}

int main(int argc, char **argv)
{
    FILE *all = argc > 1 ? fopen(argv[1], "wb") : nullptr;
    for (Shape shape : {LINE, PLANE, VOLUME, LAYERS})
        for (int mode = 0; mode < 4; mode++)
            for (int how = 0; how < 4; how++)
                for (Kind kind : {FLOAT, HALF, UNIT8, UNIT16, SIGNED8, SIGNED16}) {
                    if (kind != FLOAT && (mode % 2 == 0 || !(how & 1))) // what a kind has to do with is the filter, and the border
                        continue;
                    ask(all, shape, kind, mode, how & 2, how & 1, 13, 7, 5, 1024);
                }
    for (int mode = 0; mode < 4; mode++) {
        for (bool norm : {false, true}) ask(all, GATHER, FLOAT, mode, norm, true, 13, 7, 1, 1024);
        for (bool linear : {false, true}) ask(all, CUBE, FLOAT, mode, true, linear, 8, 8, 6, 1024);
    }
    ask(all, LINE, FLOAT, 1, false, true, 4096, 1, 1, 4096);
    ask(all, PLANE, FLOAT, 1, true, true, 512, 257, 1, 8192);
    ask(all, PLANE, FLOAT, 3, true, true, 1, 1, 1, 1024);
    ask(all, PLANE, FLOAT, 3, false, true, 16, 1, 1, 1024);
    ask(all, VOLUME, FLOAT, 3, true, true, 16, 8, 1, 1024);
    if (all)
        fclose(all);
    return 0;
}
