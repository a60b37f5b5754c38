// smith_waterman.cu - local alignment, a launch for each antidiagonal of the table
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

__global__ void diagonal(const char *a, int n, const char *b, int m, int d, int *table, int *best)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x + 1, j = d - i;
    if (i > n || j < 1 || j > m)
        return;
    int w = m + 1, v = table[(i - 1) * w + j - 1] + (a[i - 1] == b[j - 1] ? 3 : -2);
    v = max(max(v, 0), max(table[(i - 1) * w + j], table[i * w + j - 1]) - 4);
    table[i * w + j] = v;
    atomicMax(best, v);
}

int main()
{
    const int n = 40, m = 33, w = m + 1;
    char a[n], b[m];
    for (int i = 0; i < n; i++)
        a[i] = "ACGT"[i * i % 7 % 4];
    for (int i = 0; i < m; i++)
        b[i] = "ACGT"[(i + 3) * (i + 3) % 11 % 4];
    std::vector<int> t((n + 1) * w);
    int want = 0, got;
    for (int i = 1; i <= n; i++)
        for (int j = 1; j <= m; j++) {
            int v = t[(i - 1) * w + j - 1] + (a[i - 1] == b[j - 1] ? 3 : -2);
            t[i * w + j] = std::max(std::max(v, 0), std::max(t[(i - 1) * w + j], t[i * w + j - 1]) - 4);
            want = std::max(want, t[i * w + j]);
        }
    char *d;
    int *table, *best;
    CK(cudaMalloc(&d, n + m));
    CK(cudaMalloc(&table, t.size() * sizeof(int)));
    CK(cudaMalloc(&best, sizeof(int)));
    CK(cudaMemcpy(d, a, n, cudaMemcpyHostToDevice));
    CK(cudaMemcpy(d + n, b, m, cudaMemcpyHostToDevice));
    CK(cudaMemset(table, 0, t.size() * sizeof(int)));
    CK(cudaMemset(best, 0, sizeof(int)));
    for (int k = 2; k <= n + m; k++)
        diagonal<<<2, 32>>>(d, n, d + n, m, k, table, best);
    CK(cudaMemcpy(&got, best, sizeof(int), cudaMemcpyDeviceToHost));
    for (void *p : {(void *)d, (void *)table, (void *)best})
        CK(cudaFree(p));
    return finish(got == want && want > 0);
}
