// huffman.cu - letters counted on the device, the code built on the host, the length of the text in bits on the device
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

__global__ void count(const char *text, int n, int *counts)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&counts[(unsigned char)text[i]], 1);
}

__global__ void bits(const char *text, int n, const int *length, int *total)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, mine = i < n ? length[(unsigned char)text[i]] : 0;
    mine = __reduce_add_sync(0xffffffff, mine);
    if (threadIdx.x % 32 == 0)
        atomicAdd(total, mine);
}

int main()
{
    const char text[] = "she sells sea shells on the sea shore and the shells she sells are sea shells for sure";
    const int n = sizeof(text) - 1;
    char *dtext;
    int *counts, *length, *total, got, want = 0;
    std::vector<int> c(256), l(256);
    CK(cudaMalloc(&dtext, n));
    CK(cudaMalloc(&counts, 256 * sizeof(int)));
    CK(cudaMalloc(&length, 256 * sizeof(int)));
    CK(cudaMalloc(&total, sizeof(int)));
    CK(cudaMemset(counts, 0, 256 * sizeof(int)));
    CK(cudaMemset(total, 0, sizeof(int)));
    CK(cudaMemcpy(dtext, text, n, cudaMemcpyHostToDevice));
    count<<<3, 32>>>(dtext, n, counts);
    CK(cudaMemcpy(c.data(), counts, 256 * sizeof(int), cudaMemcpyDeviceToHost));
    std::vector<std::pair<int, std::vector<int>>> trees;
    for (int i = 0; i < 256; i++)
        if (c[i])
            trees.push_back({c[i], {i}});
    while (trees.size() > 1) { /* the sum of all inner weights is the length in bits */
        std::sort(trees.begin(), trees.end());
        trees[0].first += trees[1].first;
        want += trees[0].first;
        trees[0].second.insert(trees[0].second.end(), trees[1].second.begin(), trees[1].second.end());
        trees.erase(trees.begin() + 1);
        for (int letter : trees[0].second)
            l[letter]++;
    }
    CK(cudaMemcpy(length, l.data(), 256 * sizeof(int), cudaMemcpyHostToDevice));
    bits<<<3, 32>>>(dtext, n, length, total);
    CK(cudaMemcpy(&got, total, sizeof(got), cudaMemcpyDeviceToHost));
    bool good = got == want && c['s'] == std::count(text, text + n, 's');
    for (void *p : {(void *)dtext, (void *)counts, (void *)length, (void *)total})
        CK(cudaFree(p));
    return finish(good);
}
