// matmul_naive.cu - C = A B, a thread an element, whole numbers so that every sum is exact
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

__global__ void multiply(const float *a, const float *b, float *c, int m, int n, int k)
{
    int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y * blockDim.y + threadIdx.y;
    if (row >= m || column >= n)
        return;
    float sum = 0;
    for (int i = 0; i < k; i++)
        sum += a[row * k + i] * b[i * n + column];
    c[row * n + column] = sum;
}

int main()
{
    const int m = 24, n = 40, k = 31;
    std::vector<float> a(m * k), b(k * n), c(m * n);
    for (int i = 0; i < m * k; i++)
        a[i] = (i * 13) % 11 - 5;
    for (int i = 0; i < k * n; i++)
        b[i] = (i * 7) % 9 - 4;
    float *da, *db, *dc;
    CK(cudaMalloc(&da, a.size() * sizeof(float)));
    CK(cudaMalloc(&db, b.size() * sizeof(float)));
    CK(cudaMalloc(&dc, c.size() * sizeof(float)));
    CK(cudaMemcpy(da, a.data(), a.size() * sizeof(float), cudaMemcpyHostToDevice));
    CK(cudaMemcpy(db, b.data(), b.size() * sizeof(float), cudaMemcpyHostToDevice));
    multiply<<<dim3((n + 15) / 16, (m + 15) / 16), dim3(16, 16)>>>(da, db, dc, m, n, k);
    CK(cudaMemcpy(c.data(), dc, c.size() * sizeof(float), cudaMemcpyDeviceToHost));
    bool good = true;
    for (int row = 0; row < m; row++)
        for (int column = 0; column < n; column++) {
            float sum = 0;
            for (int i = 0; i < k; i++)
                sum += a[row * k + i] * b[i * n + column];
            good &= c[row * n + column] == sum;
        }
    CK(cudaFree(da));
    CK(cudaFree(db));
    CK(cudaFree(dc));
    return finish(good);
}
