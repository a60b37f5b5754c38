// binary_search.cu - many needles in one sorted array, and what is not there
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

__global__ void search(const int *sorted, int n, const int *needles, int m, int *where)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m)
        return;
    int low = 0, high = n - 1, found = -1;
    while (low <= high && found < 0) {
        int middle = low + (high - low) / 2, v = sorted[middle];
        if (v == needles[i])
            found = middle;
        else if (v < needles[i])
            low = middle + 1;
        else
            high = middle - 1;
    }
    where[i] = found;
}

int main()
{
    const int n = 1000, m = 500;
    std::vector<int> sorted(n), needles(m), where(m);
    for (int i = 0; i < n; i++)
        sorted[i] = 3 * i - 700;
    for (int i = 0; i < m; i++)
        needles[i] = (i * 37) % 3100 - 750;
    int *d;
    CK(cudaMalloc(&d, (n + 2 * m) * sizeof(int)));
    CK(cudaMemcpy(d, sorted.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    CK(cudaMemcpy(d + n, needles.data(), m * sizeof(int), cudaMemcpyHostToDevice));
    search<<<(m + 63) / 64, 64>>>(d, n, d + n, m, d + n + m);
    CK(cudaMemcpy(where.data(), d + n + m, m * sizeof(int), cudaMemcpyDeviceToHost));
    bool good = true;
    for (int i = 0; i < m; i++) {
        int at = needles[i] + 700;
        good &= where[i] == (at >= 0 && at % 3 == 0 && at / 3 < n ? at / 3 : -1);
    }
    CK(cudaFree(d));
    return finish(good);
}
