// string_search.cu - the naive way a thread a place, and Knuth, Morris and Pratt's a thread a piece of the text
#include <cstdio>
#include <cstdlib>
#include <cstring>
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

__global__ void naive(const char *text, int n, const char *pattern, int m, int *found)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, k = 0;
    if (i > n - m)
        return;
    while (k < m && text[i + k] == pattern[k])
        k++;
    if (k == m)
        atomicAdd(found, 1);
}

__global__ void kmp(const char *text, int n, const char *pattern, int m, const int *failure, int piece, int *found)
{
    int from = (blockIdx.x * blockDim.x + threadIdx.x) * piece, to = min(from + piece + m - 1, n), k = 0;
    for (int i = from; i < to; i++) {
        while (k && text[i] != pattern[k])
            k = failure[k - 1];
        k += text[i] == pattern[k];
        if (k == m) {
            atomicAdd(found, 1);
            k = failure[k - 1];
        }
    }
}

int main()
{
    const int n = 1000, m = 5, piece = 40;
    std::vector<char> text(n);
    const char pattern[m + 1] = "abaab";
    for (int i = 0; i < n; i++)
        text[i] = "abaababaabaababaababa"[i % 21] + (i % 37 == 0);
    int failure[m] = {0}, want = 0, got[2];
    for (int i = 1, k = 0; i < m; i++) {
        while (k && pattern[i] != pattern[k])
            k = failure[k - 1];
        failure[i] = k += pattern[i] == pattern[k];
    }
    for (int i = 0; i + m <= n; i++)
        want += !memcmp(&text[i], pattern, m);
    char *d;
    int *dfailure, *found;
    CK(cudaMalloc(&d, n + m));
    CK(cudaMalloc(&dfailure, sizeof(failure)));
    CK(cudaMalloc(&found, 2 * sizeof(int)));
    CK(cudaMemcpy(d, text.data(), n, cudaMemcpyHostToDevice));
    CK(cudaMemcpy(d + n, pattern, m, cudaMemcpyHostToDevice));
    CK(cudaMemcpy(dfailure, failure, sizeof(failure), cudaMemcpyHostToDevice));
    CK(cudaMemset(found, 0, 2 * sizeof(int)));
    naive<<<(n + 127) / 128, 128>>>(d, n, d + n, m, found);
    kmp<<<1, 32>>>(d, n, d + n, m, dfailure, piece, found + 1);
    CK(cudaMemcpy(got, found, sizeof(got), cudaMemcpyDeviceToHost));
    for (void *p : {(void *)d, (void *)dfailure, (void *)found})
        CK(cudaFree(p));
    return finish(want > 20 && got[0] == want && got[1] == want);
}
