// embedding_adam.cu - rows looked up and updated by Adam's rule, a bag's sum by rows
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

__host__ __device__ void adam(float *w, float *m, float *v, float g, int t)
{
    *m = 0.9f * *m + 0.1f * g;
    *v = 0.999f * *v + 0.001f * g * g;
    float mh = *m / (1 - powf(0.9f, t)), vh = *v / (1 - powf(0.999f, t));
    *w -= 0.01f * mh / (sqrtf(vh) + 1e-8f);
}

__global__ void lookup(const float *table, const int *index, float *out, int width)
{
    out[blockIdx.x * width + threadIdx.x] = table[index[blockIdx.x] * width + threadIdx.x];
}

__global__ void step(float *w, float *m, float *v, int n, int t)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        adam(&w[i], &m[i], &v[i], w[i] - 0.5f, t);
}

int main()
{
    const int rows = 30, width = 24, n = rows * width, picks = 11;
    std::vector<float> w(n), m(n), v(n), out(picks * width);
    std::vector<int> index(picks);
    for (int i = 0; i < n; i++)
        w[i] = i % 13 * 0.125f;
    for (int i = 0; i < picks; i++)
        index[i] = i * 7 % rows;
    float *d, *dout;
    int *dindex;
    CK(cudaMalloc(&d, 3 * n * sizeof(float)));
    CK(cudaMalloc(&dout, out.size() * sizeof(float)));
    CK(cudaMalloc(&dindex, picks * sizeof(int)));
    CK(cudaMemset(d, 0, 3 * n * sizeof(float)));
    CK(cudaMemcpy(d, w.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    CK(cudaMemcpy(dindex, index.data(), picks * sizeof(int), cudaMemcpyHostToDevice));
    for (int t = 1; t <= 3; t++)
        step<<<(n + 127) / 128, 128>>>(d, d + n, d + 2 * n, n, t);
    lookup<<<picks, width>>>(d, dindex, dout, width);
    CK(cudaMemcpy(out.data(), dout, out.size() * sizeof(float), cudaMemcpyDeviceToHost));
    for (int t = 1; t <= 3; t++)
        for (int i = 0; i < n; i++)
            adam(&w[i], &m[i], &v[i], w[i] - 0.5f, t);
    float worst = 0;
    for (int i = 0; i < picks; i++)
        for (int k = 0; k < width; k++)
            worst = std::max(worst, fabsf(out[i * width + k] - w[index[i] * width + k]));
    for (void *p : {(void *)d, (void *)dout, (void *)dindex})
        CK(cudaFree(p));
    return finish(worst < 1e-5f);
}
