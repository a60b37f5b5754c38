// connected_components.cu - labels that spread along edges until none changes
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

__global__ void spread(const int2 *edges, int m, const int *label, int *next, int *changed)
{
    int e = blockIdx.x * blockDim.x + threadIdx.x;
    if (e >= m)
        return;
    int a = label[edges[e].x], b = label[edges[e].y], low = min(a, b);
    if (a != b) {
        atomicMin(&next[edges[e].x], low);
        atomicMin(&next[edges[e].y], low);
        atomicExch(changed, 1);
    }
}

int main()
{
    const int n = 200, m = 180;
    std::vector<int2> edges(m);
    for (int i = 0; i < m; i++)
        edges[i] = make_int2((i * 3) % n, (i * 3 + (i % 5) * 20) % n);
    std::vector<int> want(n), got(n);
    for (int v = 0; v < n; v++)
        want[v] = got[v] = v;
    for (bool more = true; more;) {
        more = false;
        for (int2 e : edges) {
            int low = std::min(want[e.x], want[e.y]);
            more |= want[e.x] != want[e.y];
            want[e.x] = want[e.y] = low;
        }
    }
    int2 *dedges;
    int *label, *next, *changed, go = 1;
    CK(cudaMalloc(&dedges, m * sizeof(int2)));
    CK(cudaMalloc(&label, n * sizeof(int)));
    CK(cudaMalloc(&next, n * sizeof(int)));
    CK(cudaMallocManaged(&changed, sizeof(int)));
    CK(cudaMemcpy(dedges, edges.data(), m * sizeof(int2), cudaMemcpyHostToDevice));
    CK(cudaMemcpy(label, got.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    while (go) {
        *changed = 0;
        CK(cudaMemcpy(next, label, n * sizeof(int), cudaMemcpyDeviceToDevice));
        spread<<<(m + 31) / 32, 32>>>(dedges, m, label, next, changed);
        CK(cudaDeviceSynchronize());
        go = *changed;
        std::swap(label, next);
    }
    CK(cudaMemcpy(got.data(), label, n * sizeof(int), cudaMemcpyDeviceToHost));
    CK(cudaFree(dedges));
    CK(cudaFree(label));
    CK(cudaFree(next));
    CK(cudaFree(changed));
    return finish(got == want);
}
