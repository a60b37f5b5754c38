// sort_merge.cu - merge sort from below, a thread merges two runs
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <utility>

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

__global__ void merge(const int *in, int *out, int n, int width)
{
    int start = (blockIdx.x * blockDim.x + threadIdx.x) * 2 * width;
    if (start >= n)
        return;
    int middle = min(start + width, n), end = min(start + 2 * width, n), a = start, b = middle;
    for (int i = start; i < end; i++)
        out[i] = a < middle && (b >= end || in[a] <= in[b]) ? in[a++] : in[b++];
}

int main()
{
    const int n = 300;
    std::vector<int> data(n), got(n);
    int *from, *to;
    for (int i = 0; i < n; i++)
        data[i] = (i * 48271u) % 1009;
    CK(cudaMalloc(&from, n * sizeof(int)));
    CK(cudaMalloc(&to, n * sizeof(int)));
    CK(cudaMemcpy(from, data.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    for (int width = 1; width < n; width *= 2) {
        int merges = (n + 2 * width - 1) / (2 * width);
        merge<<<(merges + 31) / 32, 32>>>(from, to, n, width);
        std::swap(from, to);
    }
    CK(cudaMemcpy(got.data(), from, n * sizeof(int), cudaMemcpyDeviceToHost));
    std::sort(data.begin(), data.end());
    CK(cudaFree(from));
    CK(cudaFree(to));
    return finish(got == data);
}
