// textures.cu - arrays, textures and surfaces, held to the programming guide's formulas in plain C++, with an H200's roundings.
// ENV: MARGAY_DEVICE=90
// EXPECT: ok
#include "check.h"

#include <cmath>
#include <cstdint>
#include <vector>

enum { W = 13, H = 7, D = 5, N = 512 };
static uint64_t seed = 1;
static unsigned rnd() { return (unsigned)((seed = seed * 6364136223846793005ull + 1442695040888963407ull) >> 33); }
static float unit() { return (rnd() & 0xffffff) / 16777216.f; }

template <class T> __global__ void look1(cudaTextureObject_t t, const float *p, T *out)
{
    out[threadIdx.x] = tex1D<T>(t, p[3 * threadIdx.x]);
}
template <class T> __global__ void look2(cudaTextureObject_t t, const float *p, T *out)
{
    out[threadIdx.x] = tex2D<T>(t, p[3 * threadIdx.x], p[3 * threadIdx.x + 1]);
}
template <class T> __global__ void look3(cudaTextureObject_t t, const float *p, T *out)
{
    out[threadIdx.x] = tex3D<T>(t, p[3 * threadIdx.x], p[3 * threadIdx.x + 1], p[3 * threadIdx.x + 2]);
}

// ---- the guide's formulas ----
static const float *texels;
static int sizes[3];
static double texel(int x, int y, int z, int mode, bool &out)
{
    int i[] = {x, y, z};
    for (int k = 0; k < 3; k++) {
        const int n = sizes[k];
        if (mode == cudaAddressModeBorder && (i[k] < 0 || i[k] >= n)) return out = true, 0;
        if (mode == cudaAddressModeClamp) i[k] = i[k] < 0 ? 0 : i[k] >= n ? n - 1 : i[k];
        while (mode == cudaAddressModeWrap && i[k] < 0) i[k] += n;
        while (mode == cudaAddressModeWrap && i[k] >= n) i[k] -= n;
        while (mode == cudaAddressModeMirror && (i[k] < 0 || i[k] >= n)) i[k] = i[k] < 0 ? -1 - i[k] : 2 * n - 1 - i[k];
    }
    return texels[(i[2] * sizes[1] + i[1]) * sizes[0] + i[0]];
}
// In 256ths of a texel: the place of a filter, which at a clamping edge is the edge.
static long place(double c, int n, bool clamp)
{
    const long at = (long)std::floor(c * 256 - 128 + .5);
    return !clamp ? at : at < 0 ? 0 : at > (n - 1) * 256L ? (n - 1) * 256L : at;
}
static double reference(const float *p, int dims, int mode, bool linear, bool norm)
{
    int at[3] = {}, part[3] = {};
    bool out = false;
    for (int k = 0; k < (linear && dims == 1 ? 2 : dims); k++) { // a line is a plane of one row, looked at beside its edge
        double c = k >= dims ? 0 : norm ? std::floor((double)p[k] * 2097152) / 2097152 * sizes[k] : (double)p[k];
        const long t = linear ? place(c, sizes[k], mode == cudaAddressModeClamp) : (long)std::floor(c) * 256;
        at[k] = (int)(t >> 8), part[k] = (int)(t & 255);
    }
    if (!linear) return texel(at[0], at[1], at[2], mode, out);
    double sum = 0;
    for (int z = 0; z < 2; z++) {
        const int slice = z ? part[2] : 256 - part[2], x1 = (slice * part[0] + 128) / 256, x0 = slice - x1;
        const int y11 = (x1 * part[1] + 128) / 256;
        // of a plane both sides together; of a volume a tie of the nearer side is rounded down
        const int y01 = dims < 3 ? part[1] - y11 : (x0 * part[1] + 127) / 256;
        const int weight[4] = {x0 - y01, x1 - y11, y01, y11};
        for (int k = 0; k < 4 && slice; k++)
            if (weight[k]) sum += weight[k] * texel(at[0] + (k & 1), at[1] + (k >> 1), at[2] + z, mode, out) / 256;
    }
    return sum;
}

static cudaArray_t array_of(const cudaChannelFormatDesc &d, const void *data, int w, int h, int depth, unsigned flags)
{
    cudaArray_t a;
    const size_t size = (d.x + d.y + d.z + d.w) / 8;
    OK(cudaMalloc3DArray(&a, &d, make_cudaExtent(w, h, depth), flags));
    cudaMemcpy3DParms p = {};
    p.srcPtr = make_cudaPitchedPtr((void *)data, w * size, w, h ? h : 1);
    p.dstArray = a;
    p.extent = make_cudaExtent(w, h ? h : 1, depth ? depth : 1);
    p.kind = cudaMemcpyHostToDevice;
    OK(cudaMemcpy3D(&p));
    return a;
}
static cudaTextureObject_t texture_of(cudaArray_t a, int mode, bool linear, bool norm, bool as_unit)
{
    cudaResourceDesc r = {};
    cudaTextureDesc d = {};
    cudaTextureObject_t t = 0;
    r.resType = cudaResourceTypeArray, r.res.array.array = a;
    for (int k = 0; k < 3; k++) d.addressMode[k] = (cudaTextureAddressMode)mode;
    d.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
    d.readMode = as_unit ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
    d.normalizedCoords = norm;
    OK(cudaCreateTextureObject(&t, &r, &d, nullptr));
    return t;
}

static void filters()
{
    std::vector<float> data(W * H * D);
    for (float &v : data) v = unit() * 2 - 1;
    float *points, *got;
    OK(cudaMallocManaged(&points, 3 * N * sizeof(float)));
    OK(cudaMallocManaged(&got, N * sizeof(float)));
    texels = data.data();
    for (int dims = 1; dims <= 3; dims++) {
        sizes[0] = W, sizes[1] = dims > 1 ? H : 1, sizes[2] = dims > 2 ? D : 1;
        cudaArray_t a = array_of(cudaCreateChannelDesc<float>(), data.data(), W, dims > 1 ? H : 0, dims > 2 ? D : 0, 0);
        for (int mode = 0; mode < 4; mode++)
            for (int how = 0; how < 4; how++) {
                const bool linear = how & 1, norm = how & 2;
                // wrap and mirror are for parts of the size; otherwise they clamp
                const int effective = !norm && (mode == cudaAddressModeWrap || mode == cudaAddressModeMirror) ? cudaAddressModeClamp : mode;
                for (int i = 0; i < 3 * N; i++) {
                    float v = (rnd() % (sizes[i % 3] * 512 * 4)) / 512.f - sizes[i % 3] * 1.5f + (i % 4 ? unit() / 512 : 0);
                    points[i] = norm ? v / sizes[i % 3] : v;
                }
                cudaTextureObject_t t = texture_of(a, mode, linear, norm, false);
                if (dims == 1) look1<<<1, N>>>(t, points, got);
                if (dims == 2) look2<<<1, N>>>(t, points, got);
                if (dims == 3) look3<<<1, N>>>(t, points, got);
                OK(cudaDeviceSynchronize());
                int wrong = 0;
                for (int i = 0; i < N; i++)
                    wrong += !(std::fabs(got[i] - reference(points + 3 * i, dims, effective, linear, norm)) < 1e-7);
                if (wrong) printf("%dd mode %d linear %d norm %d: %d wrong\n", dims, mode, linear, norm, wrong);
                TRUE(wrong == 0);
                OK(cudaDestroyTextureObject(t));
            }
        OK(cudaFreeArray(a));
    }
    OK(cudaFree(points));
    OK(cudaFree(got));
}

// ---- formats, layers, cubes, gathers, linear memory ----
template <class T> __global__ void fetch(cudaTextureObject_t t, T *out) { out[threadIdx.x] = tex1Dfetch<T>(t, (int)threadIdx.x - 4); }
__global__ void layers(cudaTextureObject_t t, float *out)
{
    out[threadIdx.x] = tex2DLayered<float>(t, threadIdx.x % W + .5f, threadIdx.x / W % H + .5f, (int)(threadIdx.x / (W * H)) - 1);
}
__global__ void gathers(cudaTextureObject_t t, float4 *out) { out[threadIdx.x] = tex2Dgather<float4>(t, threadIdx.x % 12 + 1.f, threadIdx.x / 12 + 1.f, 0); }
__global__ void faces(cudaTextureObject_t t, float *out)
{
    const float d[6][3] = {{2, .5f, .5f}, {-2, .5f, .5f}, {.5f, 2, .5f}, {.5f, -2, .5f}, {.5f, .5f, 2}, {.5f, .5f, -2}};
    const float *p = d[threadIdx.x];
    out[threadIdx.x] = texCubemap<float>(t, p[0], p[1], p[2]);
}
__global__ void levels(cudaTextureObject_t t, float *out)
{
    out[0] = tex2DLod<float>(t, 2.5f, 3.5f, 4.f);
    out[1] = tex2DGrad<float>(t, 2.5f, 3.5f, make_float2(9, 9), make_float2(9, 9));
    out[2] = tex2D<float>(t, 2.5f, 3.5f);
}
__global__ void ask(cudaTextureObject_t t, unsigned *out)
{
    asm("txq.width.b32 %0, [%1];" : "=r"(out[0]) : "l"(t));
    asm("txq.height.b32 %0, [%1];" : "=r"(out[1]) : "l"(t));
    asm("txq.depth.b32 %0, [%1];" : "=r"(out[2]) : "l"(t));
}
static void kinds()
{
    float *out;
    OK(cudaMallocManaged(&out, 4096));
    std::vector<float> data(W * H * 6);
    for (size_t i = 0; i < data.size(); i++) data[i] = (float)i;
    // a layer that is not there is the last
    cudaArray_t a = array_of(cudaCreateChannelDesc<float>(), data.data(), W, H, 3, cudaArrayLayered);
    cudaTextureObject_t t = texture_of(a, cudaAddressModeClamp, false, false, false);
    layers<<<1, W * H * 5>>>(t, out);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < W * H * 5; i++) {
        int layer = i / (W * H) - 1;
        TRUE(out[i] == i % (W * H) + W * H * (layer < 0 || layer > 2 ? 2 : layer));
    }
    OK(cudaDestroyTextureObject(t));
    OK(cudaFreeArray(a));
    // four texels around a corner, from the lower left on, against the clock
    a = array_of(cudaCreateChannelDesc<float>(), data.data(), W, H, 0, cudaArrayTextureGather);
    t = texture_of(a, cudaAddressModeClamp, true, false, false);
    gathers<<<1, 72>>>(t, (float4 *)out);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < 72; i++) {
        const int x = i % 12, y = i / 12;
        const float4 v = ((float4 *)out)[i];
        TRUE(v.x == W * (y + 1) + x && v.y == W * (y + 1) + x + 1 && v.z == W * y + x + 1 && v.w == W * y + x);
    }
    levels<<<1, 1>>>(t, out);
    OK(cudaDeviceSynchronize());
    TRUE(out[0] == out[2] && out[1] == out[2] && out[2] == 3 * W + 2);
    ask<<<1, 1>>>(t, (unsigned *)out);
    OK(cudaDeviceSynchronize());
    TRUE(((unsigned *)out)[0] == W && ((unsigned *)out)[1] == H && ((unsigned *)out)[2] == 1);
    OK(cudaDestroyTextureObject(t));
    OK(cudaFreeArray(a));
    // which face of a cube, and where on it: (s / m + 1) / 2 is 0.625 or 0.375, texels 2 or 1 of four
    std::vector<float> cube(96);
    for (int i = 0; i < 96; i++) cube[i] = (float)(100 * (i / 16) + i % 16);
    a = array_of(cudaCreateChannelDesc<float>(), cube.data(), 4, 4, 6, cudaArrayCubemap);
    t = texture_of(a, cudaAddressModeClamp, false, true, false);
    faces<<<1, 6>>>(t, out);
    OK(cudaDeviceSynchronize());
    const float want[] = {5, 106, 210, 306, 406, 505}; // rows of four: 4 * t + s
    for (int i = 0; i < 6; i++) TRUE(out[i] == want[i]);
    OK(cudaDestroyTextureObject(t));
    OK(cudaFreeArray(a));
    // integers as parts of their largest value, -1 for the least
    const signed char bytes[] = {0, 127, -128, -127, 1, 64};
    a = array_of(cudaCreateChannelDesc<signed char>(), bytes, 6, 0, 0, 0);
    t = texture_of(a, cudaAddressModeClamp, false, false, true);
    float *points;
    OK(cudaMallocManaged(&points, 3 * 6 * sizeof(float)));
    for (int i = 0; i < 6; i++) points[3 * i] = i + .5f;
    look1<<<1, 6>>>(t, points, out);
    OK(cudaDeviceSynchronize());
    const float parts[] = {0, 1, -1, -1, 1 / 127.f, 64 / 127.f};
    for (int i = 0; i < 6; i++) TRUE(std::fabs(out[i] - parts[i]) < 1e-7);
    OK(cudaDestroyTextureObject(t));
    OK(cudaFreeArray(a));
    // memory: what lies beyond is 0
    int4 *memory;
    std::vector<int4> list(20);
    for (int i = 0; i < 20; i++) list[i] = make_int4(i, -i, 3 * i, 7);
    OK(cudaMalloc(&memory, 20 * sizeof(int4)));
    OK(cudaMemcpy(memory, list.data(), 20 * sizeof(int4), cudaMemcpyHostToDevice));
    cudaResourceDesc r = {};
    cudaTextureDesc d = {};
    r.resType = cudaResourceTypeLinear, r.res.linear.devPtr = memory, r.res.linear.desc = cudaCreateChannelDesc<int4>(), r.res.linear.sizeInBytes = 20 * sizeof(int4);
    OK(cudaCreateTextureObject(&t, &r, &d, nullptr));
    fetch<<<1, 28>>>(t, (int4 *)out);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < 28; i++) {
        const int4 v = ((int4 *)out)[i], w = i >= 4 && i < 24 ? list[i - 4] : make_int4(0, 0, 0, 0);
        TRUE(v.x == w.x && v.y == w.y && v.z == w.z && v.w == w.w);
    }
    cudaResourceDesc same;
    OK(cudaGetTextureObjectResourceDesc(&same, t));
    TRUE(same.resType == cudaResourceTypeLinear && same.res.linear.devPtr == memory);
    OK(cudaDestroyTextureObject(t));
    OK(cudaDestroyTextureObject(t)); // again
    // rows with a pitch
    r = {};
    r.resType = cudaResourceTypePitch2D, r.res.pitch2D.devPtr = memory, r.res.pitch2D.desc = cudaCreateChannelDesc<int>(), r.res.pitch2D.width = 4, r.res.pitch2D.height = 5, r.res.pitch2D.pitchInBytes = 32;
    OK(cudaCreateTextureObject(&t, &r, &d, nullptr));
    for (int i = 0; i < 6; i++) points[3 * i] = i % 3 + .5f, points[3 * i + 1] = i / 2 + .5f;
    look2<<<1, 6>>>(t, points, (int *)out);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < 6; i++) TRUE(((int *)out)[i] == ((int *)list.data())[8 * (i / 2) + i % 3]);
    OK(cudaDestroyTextureObject(t));
    OK(cudaFree(memory));
    OK(cudaFree(points));
    OK(cudaFree(out));
}

// ---- surfaces ----
__global__ void writes(cudaSurfaceObject_t s)
{
    const int x = (int)threadIdx.x - 2, y = (int)blockIdx.x - 1;
    surf2Dwrite(make_short2((short)(10 * x), (short)y), s, x * 4, y, cudaBoundaryModeZero);
}
__global__ void reads(cudaSurfaceObject_t s, int *out)
{
    const int x = (int)threadIdx.x - 2, y = (int)blockIdx.x - 1, at = blockIdx.x * blockDim.x + threadIdx.x;
    const short2 zero = surf2Dread<short2>(s, x * 4, y, cudaBoundaryModeZero), clamp = surf2Dread<short2>(s, x * 4, y, cudaBoundaryModeClamp);
    out[4 * at] = zero.x, out[4 * at + 1] = zero.y, out[4 * at + 2] = clamp.x, out[4 * at + 3] = clamp.y;
}
__global__ void adds(cudaSurfaceObject_t s)
{
    asm volatile("sured.b.add.2d.u32.zero [%0, {%1,%2}], %3;" ::"l"(s), "r"((int)(4 * (threadIdx.x % 3))), "r"(1), "r"(65536 * 2 + 1) : "memory");
}
static void surfaces()
{
    cudaArray_t a;
    cudaSurfaceObject_t s = 0;
    cudaResourceDesc r = {};
    cudaChannelFormatDesc d = cudaCreateChannelDesc<short2>();
    OK(cudaMallocArray(&a, &d, W, H, cudaArraySurfaceLoadStore));
    std::vector<short2> all(W * H);
    OK(cudaMemcpy2DToArray(a, 0, 0, all.data(), W * 4, W * 4, H, cudaMemcpyHostToDevice));
    r.resType = cudaResourceTypeArray, r.res.array.array = a;
    OK(cudaCreateSurfaceObject(&s, &r));
    int *out;
    OK(cudaMallocManaged(&out, 4 * sizeof(int) * (W + 4) * (H + 2)));
    writes<<<H + 2, W + 4>>>(s);
    reads<<<H + 2, W + 4>>>(s, out);
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < (W + 4) * (H + 2); i++) {
        const int x = i % (W + 4) - 2, y = i / (W + 4) - 1;
        const int cx = x < 0 ? 0 : x >= W ? W - 1 : x, cy = y < 0 ? 0 : y >= H ? H - 1 : y;
        const bool in = x == cx && y == cy;
        TRUE(out[4 * i] == (in ? 10 * x : 0) && out[4 * i + 1] == (in ? y : 0) && out[4 * i + 2] == 10 * cx && out[4 * i + 3] == cy);
    }
    adds<<<1, 96>>>(s);
    OK(cudaMemcpy2DFromArray(all.data(), W * 4, a, 0, 0, W * 4, H, cudaMemcpyDeviceToHost));
    TRUE(all[W].x == 32 && all[W].y == 65 && all[W + 2].x == 52 && all[W + 2].y == 65 && all[W + 3].x == 30);
    // copies of parts
    short2 part[6];
    OK(cudaMemcpy2DFromArray(part, 12, a, 8, 2, 12, 2, cudaMemcpyDeviceToHost));
    TRUE(part[0].x == 20 && part[0].y == 2 && part[5].x == 40 && part[5].y == 3);
    IS(cudaMemcpy2DFromArray(part, 12, a, W * 4 - 4, 2, 12, 2, cudaMemcpyDeviceToHost), 1);
    cudaExtent n;
    unsigned flags;
    OK(cudaArrayGetInfo(&d, &n, &flags, a));
    TRUE(d.x == 16 && d.y == 16 && n.width == W && n.height == H && n.depth == 0 && flags == cudaArraySurfaceLoadStore);
    OK(cudaDestroySurfaceObject(s));
    OK(cudaFreeArray(a));
    OK(cudaFree(out));
    // what is refused
    cudaTextureDesc td = {};
    cudaTextureObject_t t;
    cudaChannelFormatDesc three = cudaCreateChannelDesc(8, 8, 8, 0, cudaChannelFormatKindUnsigned), f = cudaCreateChannelDesc<float>();
    IS(cudaMallocArray(&a, &three, 4, 4, 0), 20);
    IS(cudaMallocArray(&a, &f, 0, 4, 0), 1);
    OK(cudaMallocArray(&a, &f, 4, 4, 0));
    r.res.array.array = a;
    OK(cudaCreateSurfaceObject(&s, &r)); // though not made for it
    OK(cudaDestroySurfaceObject(s));
    IS(cudaCreateTextureObject(&t, &r, nullptr, nullptr), 400);
    OK(cudaFreeArray(a));
    cudaChannelFormatDesc i = cudaCreateChannelDesc<int>();
    OK(cudaMallocArray(&a, &i, 4, 4, 0));
    r.res.array.array = a;
    td.filterMode = cudaFilterModeLinear;
    IS(cudaCreateTextureObject(&t, &r, &td, nullptr), 26); // integers have no filter
    OK(cudaFreeArray(a));
    OK(cudaFreeArray(nullptr));
}

// ---- what does not fit ----
__global__ void too_wide(cudaSurfaceObject_t s, unsigned *got)
{
    got[0] = surf2Dread<unsigned>(s, 0, 1, cudaBoundaryModeClamp);
    got[1] = surf2Dread<unsigned>(s, 4, 1, cudaBoundaryModeZero);
    surf2Dwrite(0xffffffffu, s, 0, 1, cudaBoundaryModeClamp);
}

static void bounds()
{
    // A word of a row of one byte: nothing beside it is read or written.
    const unsigned char bytes[] = {0x7f, 0x7f};
    unsigned char after[2];
    unsigned *got;
    OK(cudaMallocManaged(&got, 2 * sizeof(*got)));
    cudaArray_t a = array_of(cudaCreateChannelDesc<unsigned char>(), bytes, 1, 2, 0, cudaArraySurfaceLoadStore);
    cudaResourceDesc r = {};
    cudaSurfaceObject_t s = 0;
    r.resType = cudaResourceTypeArray, r.res.array.array = a;
    OK(cudaCreateSurfaceObject(&s, &r));
    too_wide<<<1, 1>>>(s, got);
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpy2DFromArray(after, 1, a, 0, 0, 1, 2, cudaMemcpyDeviceToHost));
    TRUE(got[0] == 0 && got[1] == 0 && after[0] == 0x7f && after[1] == 0x7f);
    OK(cudaDestroySurfaceObject(s));
    OK(cudaFreeArray(a));
    // Rows so far apart that the number of bytes is no number of 64 bits.
    float *memory;
    OK(cudaMalloc(&memory, 4096));
    cudaTextureDesc d = {};
    cudaTextureObject_t t = 0;
    r = {};
    r.resType = cudaResourceTypePitch2D;
    r.res.pitch2D.devPtr = memory;
    r.res.pitch2D.desc = cudaCreateChannelDesc<float>();
    r.res.pitch2D.width = 8;
    r.res.pitch2D.height = 257;
    r.res.pitch2D.pitchInBytes = (size_t)1 << 56;
    IS(cudaCreateTextureObject(&t, &r, &d, nullptr), cudaErrorInvalidValue);
    r.res.pitch2D.height = 16;
    r.res.pitch2D.pitchInBytes = 256;
    OK(cudaCreateTextureObject(&t, &r, &d, nullptr));
    OK(cudaDestroyTextureObject(t));
    OK(cudaFree(memory));
    OK(cudaFree(got));
    (void)cudaGetLastError();
}

int main()
{
    filters();
    kinds();
    surfaces();
    bounds();
    DONE();
}
