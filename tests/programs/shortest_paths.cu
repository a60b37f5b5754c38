// shortest_paths.cu - Bellman and Ford's rounds over the edges with atomicMin
#include <algorithm>
#include <climits>
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

struct edge {
    int from, to, weight;
};

__global__ void relax(const edge *edges, int m, int *distance, int *changed)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= m)
        return;
    int base = atomicAdd(&distance[edges[e].from], 0);
    if (base < INT_MAX / 2 && atomicMin(&distance[edges[e].to], base + edges[e].weight) > base + edges[e].weight)
        atomicExch(changed, 1);
}

int main()
{
    const int n = 120, m = 500;
    std::vector<edge> edges(m);
    for (int i = 0; i < m; i++)
        edges[i] = {(i * 17) % n, (i * 31 + i / 7 + 3) % n, 1 + (i * 13) % 40};
    std::vector<int> want(n, INT_MAX / 2), got(n);
    want[0] = 0;
    for (int round = 0; round < n; round++)
        for (const edge &e : edges)
            want[e.to] = std::min(want[e.to], want[e.from] + e.weight);
    for (int &w : want)
        w = std::min(w, INT_MAX / 2);
    edge *dedges;
    int *distance, *changed, go = 1;
    CK(cudaMalloc(&dedges, m * sizeof(edge)));
    CK(cudaMalloc(&distance, n * sizeof(int)));
    CK(cudaMalloc(&changed, sizeof(int)));
    std::fill(got.begin(), got.end(), INT_MAX / 2);
    got[0] = 0;
    CK(cudaMemcpy(dedges, edges.data(), m * sizeof(edge), cudaMemcpyHostToDevice));
    CK(cudaMemcpy(distance, got.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    for (int round = 0; go && round < 2 * n; round++) {
        CK(cudaMemset(changed, 0, sizeof(int)));
        relax<<<(m + 63) / 64, 64>>>(dedges, m, distance, changed);
        CK(cudaMemcpy(&go, changed, sizeof(int), cudaMemcpyDeviceToHost));
    }
    CK(cudaMemcpy(got.data(), distance, n * sizeof(int), cudaMemcpyDeviceToHost));
    CK(cudaFree(dedges));
    CK(cudaFree(distance));
    CK(cudaFree(changed));
    return finish(got == want);
}
