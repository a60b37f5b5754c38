// image_filters.cu - grey levels of uchar3 pixels, a box filter, Sobel's edges
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CK(call)                                                           \
    do {                                                                   \
        cudaError_t error_ = (call);                                       \
        if (error_ != cudaSuccess) {                                       \
            printf("line %d: %s\n", __LINE__, cudaGetErrorString(error_)); \
            exit(1);                                                       \
        }                                                                  \
    } while (0)

static int finish(bool good)
{
    puts(good ? "PASS" : "FAIL");
    return !good;
}

__global__ void grey(const uchar3 *in, unsigned char *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = (77 * in[i].x + 150 * in[i].y + 29 * in[i].z) >> 8;
}

__global__ void box(const unsigned char *in, unsigned char *out, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    int sum = 0, n = 0;
    for (int v = max(y - 2, 0); v <= min(y + 2, h - 1); v++)
        for (int u = max(x - 2, 0); u <= min(x + 2, w - 1); u++, n++)
            sum += in[v * w + u];
    out[y * w + x] = sum / n;
}

__global__ void sobel(const unsigned char *in, unsigned char *out, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    int edge = 0;
    if (x && y && x < w - 1 && y < h - 1) {
        const unsigned char *p = in + y * w + x;
        int gx = p[1 - w] + 2 * p[1] + p[1 + w] - p[-1 - w] - 2 * p[-1] - p[-1 + w];
        int gy = p[w - 1] + 2 * p[w] + p[w + 1] - p[-w - 1] - 2 * p[-w] - p[-w + 1];
        edge = min(abs(gx) + abs(gy), 255);
    }
    out[y * w + x] = edge;
}

int main()
{
    const int w = 50, h = 34, n = w * h;
    std::vector<uchar3> in(n);
    std::vector<unsigned char> g(n), b(n), s(n), got(3 * n);
    for (int i = 0; i < n; i++)
        in[i] = make_uchar3(i * 7, i * i, i / w * 11);
    for (int i = 0; i < n; i++)
        g[i] = (77 * in[i].x + 150 * in[i].y + 29 * in[i].z) >> 8;
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++) {
            int sum = 0, count = 0;
            for (int v = y - 2; v <= y + 2; v++)
                for (int u = x - 2; u <= x + 2; u++)
                    if (u >= 0 && v >= 0 && u < w && v < h) {
                        sum += g[v * w + u];
                        count++;
                    }
            b[y * w + x] = sum / count;
        }
    for (int y = 1; y < h - 1; y++)
        for (int x = 1; x < w - 1; x++) {
            auto p = [&](int dx, int dy) { return (int)b[(y + dy) * w + x + dx]; };
            int gx = p(1, -1) + 2 * p(1, 0) + p(1, 1) - p(-1, -1) - 2 * p(-1, 0) - p(-1, 1);
            int gy = p(-1, 1) + 2 * p(0, 1) + p(1, 1) - p(-1, -1) - 2 * p(0, -1) - p(1, -1);
            s[y * w + x] = std::min(abs(gx) + abs(gy), 255);
        }
    uchar3 *din;
    unsigned char *d;
    CK(cudaMalloc(&din, n * sizeof(uchar3)));
    CK(cudaMalloc(&d, 3 * n));
    CK(cudaMemcpy(din, in.data(), n * sizeof(uchar3), cudaMemcpyHostToDevice));
    dim3 grid((w + 15) / 16, (h + 15) / 16), block(16, 16);
    grey<<<(n + 255) / 256, 256>>>(din, d, n);
    box<<<grid, block>>>(d, d + n, w, h);
    sobel<<<grid, block>>>(d + n, d + 2 * n, w, h);
    CK(cudaMemcpy(got.data(), d, 3 * n, cudaMemcpyDeviceToHost));
    bool good = true;
    for (int i = 0; i < n; i++)
        good &= got[i] == g[i] && got[n + i] == b[i] && got[2 * n + i] == s[i];
    CK(cudaFree(din));
    CK(cudaFree(d));
    return finish(good);
}
