// knapsack.cu - one row of the table a launch, two rows taking turns
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

__global__ void item(const int *in, int *out, int capacity, int weight, int value)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c <= capacity)
        out[c] = c >= weight ? max(in[c], in[c - weight] + value) : in[c];
}

int main()
{
    const int items = 15, capacity = 200;
    std::vector<int> best(capacity + 1), got(capacity + 1);
    int *d[2];
    for (auto &p : d) {
        CK(cudaMalloc(&p, (capacity + 1) * sizeof(int)));
        CK(cudaMemset(p, 0, (capacity + 1) * sizeof(int)));
    }
    for (int i = 0; i < items; i++) {
        int weight = 5 + i * 13 % 37, value = 3 + i * 17 % 29;
        item<<<2, 128>>>(d[i & 1], d[~i & 1], capacity, weight, value);
        for (int c = capacity; c >= weight; c--)
            best[c] = std::max(best[c], best[c - weight] + value);
    }
    CK(cudaMemcpy(got.data(), d[items & 1], (capacity + 1) * sizeof(int), cudaMemcpyDeviceToHost));
    for (auto p : d)
        CK(cudaFree(p));
    return finish(got == best);
}
