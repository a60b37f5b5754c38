// Video: NV12 frames to packed RGB bytes: a pixel a thread, then two rows of four pixels a thread with wide accesses.
#include "kit.cuh"
__host__ __device__ inline int clip(int v)
{
    return v < 0 ? 0 : v > 255 ? 255 : v;
}
__host__ __device__ inline void rgb(int y, int u, int v, uint8_t *o)
{
    int c = 298 * (y - 16) + 128;
    u -= 128;
    v -= 128;
    o[0] = clip((c + 409 * v) >> 8);
    o[1] = clip((c - 100 * u - 208 * v) >> 8);
    o[2] = clip((c + 516 * u) >> 8);
}
__global__ void pixel(const uint8_t *y, const uint8_t *uv, uint8_t *out, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || r >= h)
        return;
    const uint8_t *c = uv + (r / 2) * w + (x & ~1);
    uint8_t o[3];
    rgb(y[r * w + x], c[0], c[1], o);
    out[(r * w + x) * 3] = o[0];
    out[(r * w + x) * 3 + 1] = o[1];
    out[(r * w + x) * 3 + 2] = o[2];
}
__global__ void quads(const uint8_t *y, const uint8_t *uv, uint8_t *out, int w, int h)
{
    int x = (blockIdx.x * blockDim.x + threadIdx.x) * 4, r = (blockIdx.y * blockDim.y + threadIdx.y) * 2;
    if (x >= w || r >= h)
        return;
    uchar4 c = *(const uchar4 *)(uv + (r / 2) * w + x);
    for (int k = 0; k < 2; k++) {
        uchar4 l = *(const uchar4 *)(y + (r + k) * w + x);
        union {
            uint8_t b[12];
            uint32_t u[3];
        } o;
        rgb(l.x, c.x, c.y, o.b);
        rgb(l.y, c.x, c.y, o.b + 3);
        rgb(l.z, c.z, c.w, o.b + 6);
        rgb(l.w, c.z, c.w, o.b + 9);
        uint32_t *p = (uint32_t *)(out + ((r + k) * w + x) * 3);
        p[0] = o.u[0];
        p[1] = o.u[1];
        p[2] = o.u[2];
    }
}
__global__ void planes(const uint8_t *y, const uint8_t *uv, uint8_t *out, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, r = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || r >= h)
        return;
    const uint8_t *c = uv + (r / 2) * w + (x & ~1);
    uint8_t o[3];
    rgb(y[r * w + x], c[0], c[1], o);
    for (int k = 0; k < 3; k++)
        out[k * w * h + r * w + x] = o[k];
}
int main()
{
    int w = 7680, h = 4320;
    std::vector<uint8_t> y(w * h), uv(w * h / 2), want(w * h * 3), wp(w * h * 3);
    for (auto &v : y)
        v = rnd();
    for (auto &v : uv)
        v = rnd();
    for (int r = 0; r < h; r++)
        for (int x = 0; x < w; x++) {
            rgb(y[r * w + x], uv[(r / 2) * w + (x & ~1)], uv[(r / 2) * w + (x & ~1) + 1], &want[(r * w + x) * 3]);
            for (int k = 0; k < 3; k++)
                wp[k * w * h + r * w + x] = want[(r * w + x) * 3 + k];
        }
    uint8_t *dy = up(y), *du = up(uv), *a = room<uint8_t>(w * h * 3), *b = room<uint8_t>(w * h * 3),
            *c = room<uint8_t>(w * h * 3);
    pixel<<<dim3(w / 32, h / 8), dim3(32, 8)>>>(dy, du, a, w, h);
    quads<<<dim3(w / 128, h / 16), dim3(32, 8)>>>(dy, du, b, w, h);
    planes<<<dim3(w / 32, h / 8), dim3(32, 8)>>>(dy, du, c, w, h);
    same("pixel", down(a, w * h * 3), want);
    same("quads", down(b, w * h * 3), want);
    same("planes", down(c, w * h * 3), wp);
    return verdict();
}
