// floyd_warshall.cu - all pairs, a launch for each vertex in between
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

__global__ void through(const int *in, int *out, int n, int k)
{
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < n && j < n)
        out[i * n + j] = min(in[i * n + j], in[i * n + k] + in[k * n + j]);
}

int main()
{
    const int n = 30;
    std::vector<int> w(n * n), got(n * n);
    for (int i = 0; i < n * n; i++)
        w[i] = i / n == i % n ? 0 : i * 31 % 11 < 3 ? 1 + i % 17 : 10000;
    int *d[2];
    for (auto &p : d)
        CK(cudaMalloc(&p, n * n * sizeof(int)));
    CK(cudaMemcpy(d[0], w.data(), n * n * sizeof(int), cudaMemcpyHostToDevice));
    for (int k = 0; k < n; k++) {
        through<<<dim3(2, 4), dim3(16, 8)>>>(d[k & 1], d[~k & 1], n, k);
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++)
                w[i * n + j] = std::min(w[i * n + j], w[i * n + k] + w[k * n + j]);
    }
    CK(cudaMemcpy(got.data(), d[n & 1], n * n * sizeof(int), cudaMemcpyDeviceToHost));
    for (auto p : d)
        CK(cudaFree(p));
    return finish(got == w);
}
