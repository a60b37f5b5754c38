// conv2d.cu - convolution of channels by im2col and a product, and the greatest of each two by two after it
#include <algorithm>
#include <climits>
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

const int C = 3, H = 12, W = 14, F = 5, K = 3, OH = H - K + 1, OW = W - K + 1;

__global__ void im2col(const int *in, int *columns)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= C * K * K * OH * OW)
        return;
    int x = i % OW, y = i / OW % OH, k = i / (OW * OH), c = k / (K * K);
    columns[i] = in[(c * H + y + k / K % K) * W + x + k % K];
}

__global__ void multiply(const int *weights, const int *columns, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, f = blockIdx.y, sum = 0;
    if (i >= OH * OW)
        return;
    for (int k = 0; k < C * K * K; k++)
        sum += weights[f * C * K * K + k] * columns[k * OH * OW + i];
    out[f * OH * OW + i] = sum;
}

__global__ void maxpool(const int *in, int *out)
{
    int x = threadIdx.x, y = threadIdx.y, f = blockIdx.x;
    const int *p = in + (f * OH + 2 * y) * OW + 2 * x;
    out[(f * (OH / 2) + y) * (OW / 2) + x] = max(max(p[0], p[1]), max(p[OW], p[OW + 1]));
}

int main()
{
    std::vector<int> in(C * H * W), w(F * C * K * K), got(F * (OH / 2) * (OW / 2));
    for (size_t i = 0; i < in.size(); i++)
        in[i] = i * 31 % 17 - 8;
    for (size_t i = 0; i < w.size(); i++)
        w[i] = i * 13 % 7 - 3;
    int *din, *dw, *columns, *out, *pooled;
    CK(cudaMalloc(&din, in.size() * sizeof(int)));
    CK(cudaMalloc(&dw, w.size() * sizeof(int)));
    CK(cudaMalloc(&columns, C * K * K * OH * OW * sizeof(int)));
    CK(cudaMalloc(&out, F * OH * OW * sizeof(int)));
    CK(cudaMalloc(&pooled, got.size() * sizeof(int)));
    CK(cudaMemcpy(din, in.data(), in.size() * sizeof(int), cudaMemcpyHostToDevice));
    CK(cudaMemcpy(dw, w.data(), w.size() * sizeof(int), cudaMemcpyHostToDevice));
    im2col<<<(C * K * K * OH * OW + 127) / 128, 128>>>(din, columns);
    multiply<<<dim3((OH * OW + 63) / 64, F), 64>>>(dw, columns, out);
    maxpool<<<F, dim3(OW / 2, OH / 2)>>>(out, pooled);
    CK(cudaMemcpy(got.data(), pooled, got.size() * sizeof(int), cudaMemcpyDeviceToHost));
    bool good = true;
    for (int f = 0; f < F; f++)
        for (int y = 0; y < OH / 2; y++)
            for (int x = 0; x < OW / 2; x++) {
                int most = INT_MIN;
                for (int q = 0; q < 4; q++) {
                    int sum = 0;
                    for (int c = 0; c < C; c++)
                        for (int k = 0; k < K * K; k++)
                            sum += w[(f * C + c) * K * K + k] *
                                   in[(c * H + 2 * y + q / 2 + k / K) * W + 2 * x + q % 2 + k % K];
                    most = std::max(most, sum);
                }
                good &= got[(f * (OH / 2) + y) * (OW / 2) + x] == most;
            }
    for (int *p : {din, dw, columns, out, pooled})
        CK(cudaFree(p));
    return finish(good);
}
