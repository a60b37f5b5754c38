// gaussian_blur.cu - separable, the weights in constant memory, rows and columns through shared memory
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

const int RADIUS = 4, WIDTH = 64;
__constant__ int weights[2 * RADIUS + 1];

__global__ void rows(const int *in, int *out, int w)
{
    __shared__ int s[WIDTH + 2 * RADIUS];
    int x = blockIdx.x * WIDTH + threadIdx.x, y = blockIdx.y;
    for (int i = threadIdx.x; i < WIDTH + 2 * RADIUS; i += WIDTH) {
        int from = blockIdx.x * WIDTH + i - RADIUS;
        s[i] = in[y * w + min(max(from, 0), w - 1)];
    }
    __syncthreads();
    int sum = 0;
    for (int k = 0; k <= 2 * RADIUS; k++)
        sum += weights[k] * s[threadIdx.x + k];
    if (x < w)
        out[y * w + x] = sum >> 8;
}

__global__ void columns(const int *in, int *out, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, sum = 0;
    if (x >= w || y >= h)
        return;
    for (int k = -RADIUS; k <= RADIUS; k++)
        sum += weights[k + RADIUS] * in[min(max(y + k, 0), h - 1) * w + x];
    out[y * w + x] = sum >> 8;
}

int main()
{
    const int w = 100, h = 30, n = w * h;
    const int table[2 * RADIUS + 1] = {1, 8, 28, 56, 70, 56, 28, 8, 1};
    std::vector<int> in(n), middle(n), want(n), got(n);
    for (int i = 0; i < n; i++)
        in[i] = (i * 97) % 256;
    for (int pass = 0; pass < 2; pass++)
        for (int y = 0; y < h; y++)
            for (int x = 0; x < w; x++) {
                int sum = 0;
                for (int k = -RADIUS; k <= RADIUS; k++)
                    sum += table[k + RADIUS] * (pass ? middle[std::min(std::max(y + k, 0), h - 1) * w + x]
                                                     : in[y * w + std::min(std::max(x + k, 0), w - 1)]);
                (pass ? want : middle)[y * w + x] = sum >> 8;
            }
    int *d;
    CK(cudaMalloc(&d, 3 * n * sizeof(int)));
    CK(cudaMemcpyToSymbol(weights, table, sizeof(table)));
    CK(cudaMemcpy(d, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    rows<<<dim3((w + WIDTH - 1) / WIDTH, h), WIDTH>>>(d, d + n, w);
    columns<<<dim3((w + 31) / 32, (h + 7) / 8), dim3(32, 8)>>>(d + n, d + 2 * n, w, h);
    CK(cudaMemcpy(got.data(), d + 2 * n, n * sizeof(int), cudaMemcpyDeviceToHost));
    CK(cudaFree(d));
    return finish(got == want);
}
