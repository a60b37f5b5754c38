// softmax_layernorm.cu - rows of a matrix, a warp each, sums and maxima by shuffles
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

__device__ float warp_sum(float v)
{
    for (int d = 16; d; d /= 2)
        v += __shfl_xor_sync(0xffffffff, v, d);
    return v;
}

__device__ float warp_max(float v)
{
    for (int d = 16; d; d /= 2)
        v = fmaxf(v, __shfl_xor_sync(0xffffffff, v, d));
    return v;
}

__global__ void softmax(const float *in, float *out, int rows, int n)
{
    int r = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
    if (r >= rows)
        return;
    float most = -INFINITY, sum = 0;
    for (int i = lane; i < n; i += 32)
        most = fmaxf(most, in[r * n + i]);
    most = warp_max(most);
    for (int i = lane; i < n; i += 32)
        sum += __expf(in[r * n + i] - most);
    sum = warp_sum(sum);
    for (int i = lane; i < n; i += 32)
        out[r * n + i] = __expf(in[r * n + i] - most) / sum;
}

__global__ void layernorm(const float *in, float *out, int rows, int n)
{
    int r = blockIdx.x * blockDim.y + threadIdx.y, lane = threadIdx.x;
    if (r >= rows)
        return;
    float sum = 0, squares = 0;
    for (int i = lane; i < n; i += 32)
        sum += in[r * n + i];
    float mean = warp_sum(sum) / n;
    for (int i = lane; i < n; i += 32)
        squares += (in[r * n + i] - mean) * (in[r * n + i] - mean);
    float scale = rsqrtf(warp_sum(squares) / n + 1e-5f);
    for (int i = lane; i < n; i += 32)
        out[r * n + i] = (in[r * n + i] - mean) * scale;
}

int main()
{
    const int rows = 13, n = 77;
    std::vector<float> in(rows * n), s(rows * n), l(rows * n);
    for (int i = 0; i < rows * n; i++)
        in[i] = (i * 29 % 41 - 20) * 0.2f;
    float *d;
    CK(cudaMalloc(&d, 3 * rows * n * sizeof(float)));
    CK(cudaMemcpy(d, in.data(), rows * n * sizeof(float), cudaMemcpyHostToDevice));
    softmax<<<4, dim3(32, 4)>>>(d, d + rows * n, rows, n);
    layernorm<<<4, dim3(32, 4)>>>(d, d + 2 * rows * n, rows, n);
    CK(cudaMemcpy(s.data(), d + rows * n, rows * n * sizeof(float), cudaMemcpyDeviceToHost));
    CK(cudaMemcpy(l.data(), d + 2 * rows * n, rows * n * sizeof(float), cudaMemcpyDeviceToHost));
    double worst = 0;
    for (int r = 0; r < rows; r++) {
        double sum = 0, mean = 0, var = 0;
        for (int i = 0; i < n; i++) {
            sum += exp(in[r * n + i]);
            mean += in[r * n + i] / (double)n;
        }
        for (int i = 0; i < n; i++)
            var += (in[r * n + i] - mean) * (in[r * n + i] - mean) / n;
        for (int i = 0; i < n; i++) {
            worst = std::max(worst, fabs(s[r * n + i] - exp(in[r * n + i]) / sum));
            worst = std::max(worst, fabs(l[r * n + i] - (in[r * n + i] - mean) / sqrt(var + 1e-5)));
        }
    }
    CK(cudaFree(d));
    return finish(worst < 1e-5);
}
