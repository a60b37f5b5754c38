// attention.cu - one small head: scores, a row's softmax and the weighted sum, a block a query
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

const int N = 20, D = 16;

__global__ void attention(const float *q, const float *k, const float *v, float *out)
{
    __shared__ float score[32];
    int row = blockIdx.x, t = threadIdx.x;
    float s = -INFINITY;
    if (t < N) {
        s = 0;
        for (int i = 0; i < D; i++)
            s += q[row * D + i] * k[t * D + i];
        s *= 0.25f;
    }
    float most = s;
    for (int d = 16; d; d /= 2)
        most = fmaxf(most, __shfl_xor_sync(~0u, most, d));
    float e = t < N ? expf(s - most) : 0, sum = e;
    for (int d = 16; d; d /= 2)
        sum += __shfl_xor_sync(~0u, sum, d);
    score[t] = e / sum;
    __syncwarp();
    if (t < D) {
        float o = 0;
        for (int i = 0; i < N; i++)
            o += score[i] * v[i * D + t];
        out[row * D + t] = o;
    }
}

int main()
{
    std::vector<float> m(3 * N * D), got(N * D);
    for (int i = 0; i < 3 * N * D; i++)
        m[i] = (i * 37 % 23 - 11) * 0.1f;
    float *d;
    CK(cudaMalloc(&d, 4 * N * D * sizeof(float)));
    CK(cudaMemcpy(d, m.data(), m.size() * sizeof(float), cudaMemcpyHostToDevice));
    attention<<<N, 32>>>(d, d + N * D, d + 2 * N * D, d + 3 * N * D);
    CK(cudaMemcpy(got.data(), d + 3 * N * D, N * D * sizeof(float), cudaMemcpyDeviceToHost));
    double worst = 0;
    for (int r = 0; r < N; r++) {
        double e[N], sum = 0;
        for (int j = 0; j < N; j++) {
            double s = 0;
            for (int i = 0; i < D; i++)
                s += m[r * D + i] * m[(N + j) * D + i];
            sum += e[j] = exp(s * 0.25);
        }
        for (int i = 0; i < D; i++) {
            double o = 0;
            for (int j = 0; j < N; j++)
                o += e[j] / sum * m[(2 * N + j) * D + i];
            worst = std::max(worst, fabs(o - got[r * D + i]));
        }
    }
    CK(cudaFree(d));
    return finish(worst < 1e-5);
}
