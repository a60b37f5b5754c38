// mandelbrot.cu - iterations until escape, in whole numbers of fixed point so that the host counts the same
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

__host__ __device__ int iterate(int cx, int cy, int most)
{
    int x = 0, y = 0, n = 0; /* 12 bits behind the point */
    while (n < most) {
        int xx = x * x >> 12, yy = y * y >> 12;
        if (xx + yy > 4 << 12)
            break;
        y = (x * y >> 11) + cy;
        x = xx - yy + cx;
        n++;
    }
    return n;
}

__global__ void mandelbrot(unsigned char *image, int w, int h, int most)
{
    int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
    if (px < w && py < h)
        image[py * w + px] = iterate((px * 3 * 4096) / w - 2 * 4096, (py * 2 * 4096) / h - 4096, most);
}

int main()
{
    const int w = 60, h = 40, most = 50;
    std::vector<unsigned char> image(w * h);
    unsigned char *d;
    CK(cudaMalloc(&d, w * h));
    mandelbrot<<<dim3((w + 15) / 16, (h + 15) / 16), dim3(16, 16)>>>(d, w, h, most);
    CK(cudaMemcpy(image.data(), d, w * h, cudaMemcpyDeviceToHost));
    bool good = true;
    for (int y = 0; y < h; y++)
        for (int x = 0; x < w; x++)
            good &= image[y * w + x] == iterate((x * 3 * 4096) / w - 2 * 4096, (y * 2 * 4096) / h - 4096, most);
    CK(cudaFree(d));
    return finish(good);
}
