// dct.cu - eight by eight blocks of an image there and back, cosines in constant memory
#include <algorithm>
#include <cmath>
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

__constant__ float cosine[8][8];

__global__ void dct(const float *in, float *out, int w, bool back)
{
    __shared__ float s[8][8], t[8][8];
    int x = threadIdx.x, y = threadIdx.y, at = (blockIdx.y * 8 + y) * w + blockIdx.x * 8 + x;
    s[y][x] = in[at];
    __syncthreads();
    float sum = 0;
    for (int k = 0; k < 8; k++)
        sum += s[y][k] * (back ? cosine[k][x] : cosine[x][k]);
    t[y][x] = sum;
    __syncthreads();
    sum = 0;
    for (int k = 0; k < 8; k++)
        sum += t[k][x] * (back ? cosine[k][y] : cosine[y][k]);
    out[at] = sum;
}

int main()
{
    const int w = 32, h = 24, n = w * h;
    float table[8][8];
    for (int k = 0; k < 8; k++)
        for (int i = 0; i < 8; i++)
            table[k][i] = (k ? 0.5 : sqrt(0.125)) * cos((2 * i + 1) * k * M_PI / 16);
    std::vector<float> image(n), coefficients(n), again(n);
    for (int i = 0; i < n; i++)
        image[i] = (i * 31) % 200;
    float *d;
    CK(cudaMalloc(&d, 3 * n * sizeof(float)));
    CK(cudaMemcpyToSymbol(cosine, table, sizeof(table)));
    CK(cudaMemcpy(d, image.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    dct<<<dim3(w / 8, h / 8), dim3(8, 8)>>>(d, d + n, w, false);
    dct<<<dim3(w / 8, h / 8), dim3(8, 8)>>>(d + n, d + 2 * n, w, true);
    CK(cudaMemcpy(coefficients.data(), d + n, n * sizeof(float), cudaMemcpyDeviceToHost));
    CK(cudaMemcpy(again.data(), d + 2 * n, n * sizeof(float), cudaMemcpyDeviceToHost));
    float mean = 0, worst = 0;
    for (int y = 0; y < 8; y++)
        for (int x = 0; x < 8; x++)
            mean += image[y * w + x];
    for (int i = 0; i < n; i++)
        worst = std::max(worst, fabsf(again[i] - image[i]));
    CK(cudaFree(d));
    return finish(worst < 1e-2f && fabsf(coefficients[0] - mean / 8) < 1e-2f);
}
