// game_of_life.cu - generations on a torus, buffers changing places
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

__global__ void step(const unsigned char *in, unsigned char *out, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x >= w || y >= h)
        return;
    int live = 0;
    for (int dy = -1; dy <= 1; dy++)
        for (int dx = -1; dx <= 1; dx++)
            if (dx || dy)
                live += in[(y + dy + h) % h * w + (x + dx + w) % w];
    out[y * w + x] = live == 3 || (live == 2 && in[y * w + x]);
}

int main()
{
    const int w = 40, h = 26, n = w * h, steps = 6;
    std::vector<unsigned char> a(n), b(n), got(n);
    for (int i = 0; i < n; i++)
        a[i] = i * 2654435761u >> 30 == 1;
    unsigned char *d[2];
    for (auto &p : d)
        CK(cudaMalloc(&p, n));
    CK(cudaMemcpy(d[0], a.data(), n, cudaMemcpyHostToDevice));
    for (int s = 0; s < steps; s++) {
        step<<<dim3((w + 15) / 16, (h + 7) / 8), dim3(16, 8)>>>(d[s & 1], d[~s & 1], w, h);
        for (int y = 0; y < h; y++)
            for (int x = 0; x < w; x++) {
                int live = 0;
                for (int k = 0; k < 9; k++)
                    live += k == 4 ? 0 : a[(y + k / 3 - 1 + h) % h * w + (x + k % 3 - 1 + w) % w];
                b[y * w + x] = live == 3 || (live == 2 && a[y * w + x]);
            }
        a.swap(b);
    }
    CK(cudaMemcpy(got.data(), d[steps & 1], n, cudaMemcpyDeviceToHost));
    for (auto p : d)
        CK(cudaFree(p));
    return finish(got == a);
}
