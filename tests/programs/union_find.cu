// union_find.cu - sets joined without locks, by compare-and-swap at the roots
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

__device__ int root(int *parent, int v)
{
    for (;;) {
        int p = atomicAdd(&parent[v], 0);
        if (p == v)
            return v;
        v = p;
    }
}

__global__ void unite(int *parent, const int2 *pairs, int m)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= m)
        return;
    int a = pairs[i].x, b = pairs[i].y;
    for (;;) {
        a = root(parent, a);
        b = root(parent, b);
        if (a == b)
            break;
        int high = max(a, b), low = min(a, b);
        if (atomicCAS(&parent[high], high, low) == high)
            break;
    }
}

__global__ void flatten(int *parent, int *set, int n)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v < n)
        set[v] = root(parent, v);
}

int main()
{
    const int n = 150, m = 110;
    std::vector<int2> pairs(m);
    std::vector<int> want(n), got(n);
    for (int i = 0; i < m; i++)
        pairs[i] = make_int2((i * 7) % n, (i * 11 + 5) % n);
    for (int v = 0; v < n; v++)
        want[v] = v;
    for (int round = 0; round < n; round++)
        for (int2 p : pairs)
            want[p.x] = want[p.y] = std::min(want[p.x], want[p.y]);
    std::vector<int> parent(n);
    for (int v = 0; v < n; v++)
        parent[v] = v;
    int *dparent, *set;
    int2 *dpairs;
    CK(cudaMalloc(&dparent, n * sizeof(int)));
    CK(cudaMalloc(&set, n * sizeof(int)));
    CK(cudaMalloc(&dpairs, m * sizeof(int2)));
    CK(cudaMemcpy(dparent, parent.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    CK(cudaMemcpy(dpairs, pairs.data(), m * sizeof(int2), cudaMemcpyHostToDevice));
    unite<<<(m + 31) / 32, 32>>>(dparent, dpairs, m);
    flatten<<<(n + 63) / 64, 64>>>(dparent, set, n);
    CK(cudaMemcpy(got.data(), set, n * sizeof(int), cudaMemcpyDeviceToHost));
    CK(cudaFree(dparent));
    CK(cudaFree(set));
    CK(cudaFree(dpairs));
    return finish(got == want);
}
