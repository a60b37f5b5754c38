// Cameras: a bilinear Bayer mosaic (RGGB): a branch for each kind of pixel, a quad of pixels a thread, and rows first
// through shared memory.
#include "kit.cuh"
__host__ __device__ inline int at(const uint16_t *m, int x, int y, int w)
{
    return m[y * w + x];
}
__host__ __device__ inline uint32_t pack(int r, int g, int b)
{
    return (r >> 4) | (g >> 4) << 8 | (b >> 4) << 16;
}
__host__ __device__ inline uint32_t one(const uint16_t *m, int x, int y, int w)
{
    int c = at(m, x, y, w);
    if (!(y & 1) && !(x & 1))
        return pack(
            c, (at(m, x - 1, y, w) + at(m, x + 1, y, w) + at(m, x, y - 1, w) + at(m, x, y + 1, w)) >> 2,
            (at(m, x - 1, y - 1, w) + at(m, x + 1, y - 1, w) + at(m, x - 1, y + 1, w) + at(m, x + 1, y + 1, w)) >> 2);
    if ((y & 1) && (x & 1))
        return pack(
            (at(m, x - 1, y - 1, w) + at(m, x + 1, y - 1, w) + at(m, x - 1, y + 1, w) + at(m, x + 1, y + 1, w)) >> 2,
            (at(m, x - 1, y, w) + at(m, x + 1, y, w) + at(m, x, y - 1, w) + at(m, x, y + 1, w)) >> 2, c);
    int hh = (at(m, x - 1, y, w) + at(m, x + 1, y, w)) >> 1, vv = (at(m, x, y - 1, w) + at(m, x, y + 1, w)) >> 1;
    return (y & 1) ? pack(vv, c, hh) : pack(hh, c, vv);
}
__global__ void branches(const uint16_t *m, uint32_t *out, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 2 || y < 2 || x >= w - 2 || y >= h - 2)
        return;
    out[y * w + x] = one(m, x, y, w);
}
__global__ void quad(const uint16_t *m, uint32_t *out, int w, int h)
{
    int x = 2 * (blockIdx.x * blockDim.x + threadIdx.x), y = 2 * (blockIdx.y * blockDim.y + threadIdx.y);
    if (x < 2 || y < 2 || x >= w - 2 || y >= h - 2)
        return;
    uint2 a = {one(m, x, y, w), one(m, x + 1, y, w)}, b = {one(m, x, y + 1, w), one(m, x + 1, y + 1, w)};
    *(uint2 *)(out + y * w + x) = a;
    *(uint2 *)(out + (y + 1) * w + x) = b;
}
__global__ void tiled(const uint16_t *m, uint32_t *out, int w, int h)
{
    __shared__ uint16_t t[10][34];
    int x0 = blockIdx.x * 32 - 1, y0 = blockIdx.y * 8 - 1, id = threadIdx.y * 32 + threadIdx.x;
    for (int i = id; i < 340; i += 256) {
        int xx = x0 + i % 34, yy = y0 + i / 34;
        t[i / 34][i % 34] = xx >= 0 && yy >= 0 && xx < w && yy < h ? m[yy * w + xx] : 0;
    }
    __syncthreads();
    int x = x0 + 1 + threadIdx.x, y = y0 + 1 + threadIdx.y;
    if (x < 2 || y < 2 || x >= w - 2 || y >= h - 2)
        return;
    const uint16_t *c = &t[threadIdx.y + 1][threadIdx.x + 1];
    int W = 34;
    int p = c[0], hh = c[-1] + c[1], vv = c[-W] + c[W], dd = c[-W - 1] + c[-W + 1] + c[W - 1] + c[W + 1];
    int r, g, b;
    bool ox = x & 1, oy = y & 1;
    g = ox != oy ? p : (hh + vv) >> 2;
    r = oy ? (ox ? dd >> 2 : vv >> 1) : (ox ? hh >> 1 : p);
    b = oy ? (ox ? p : hh >> 1) : (ox ? vv >> 1 : dd >> 2);
    out[y * w + x] = pack(r, g, b);
}
int main()
{
    int w = 8192, h = 4096;
    std::vector<uint16_t> m(w * h);
    std::vector<uint32_t> want(w * h, 0);
    for (auto &v : m)
        v = rnd() & 4095;
    for (int y = 2; y < h - 2; y++)
        for (int x = 2; x < w - 2; x++)
            want[y * w + x] = one(m.data(), x, y, w);
    uint16_t *d = up(m);
    uint32_t *a = room<uint32_t>(w * h), *b = room<uint32_t>(w * h), *c = room<uint32_t>(w * h);
    branches<<<dim3(w / 32, h / 8), dim3(32, 8)>>>(d, a, w, h);
    quad<<<dim3(w / 64, h / 16), dim3(32, 8)>>>(d, b, w, h);
    tiled<<<dim3(w / 32, h / 8), dim3(32, 8)>>>(d, c, w, h);
    same("branches", down(a, w * h), want);
    same("quad", down(b, w * h), want);
    same("tiled", down(c, w * h), want);
    return verdict();
}
