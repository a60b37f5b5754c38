// bfs.cu - levels of a graph in compressed rows, a launch a level, a flag that says whether to go on
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

__global__ void level(const int *row, const int *to, int *depth, int n, int now, int *more)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n || atomicAdd(&depth[v], 0) != now)
        return;
    for (int e = row[v]; e < row[v + 1]; e++)
        if (atomicCAS(&depth[to[e]], -1, now + 1) == -1)
            atomicExch(more, 1);
}

int main()
{
    const int n = 400, degree = 3;
    std::vector<int> row(n + 1), to(n * degree), want(n, -1), got(n, -1);
    for (int v = 0; v < n; v++) {
        row[v + 1] = (v + 1) * degree;
        for (int e = 0; e < degree; e++)
            to[v * degree + e] = (v * 7 + e * 131 + 1) % (n - 40); /* the last forty have no way in */
    }
    std::vector<int> queue{0};
    want[0] = 0;
    for (size_t i = 0; i < queue.size(); i++)
        for (int e = row[queue[i]]; e < row[queue[i] + 1]; e++)
            if (want[to[e]] < 0) {
                want[to[e]] = want[queue[i]] + 1;
                queue.push_back(to[e]);
            }
    int *drow, *dto, *depth, *more, go = 1;
    CK(cudaMalloc(&drow, row.size() * sizeof(int)));
    CK(cudaMalloc(&dto, to.size() * sizeof(int)));
    CK(cudaMalloc(&depth, n * sizeof(int)));
    CK(cudaMalloc(&more, sizeof(int)));
    CK(cudaMemcpy(drow, row.data(), row.size() * sizeof(int), cudaMemcpyHostToDevice));
    CK(cudaMemcpy(dto, to.data(), to.size() * sizeof(int), cudaMemcpyHostToDevice));
    CK(cudaMemset(depth, 0xff, n * sizeof(int)));
    CK(cudaMemset(depth, 0, sizeof(int)));
    for (int now = 0; go; now++) {
        CK(cudaMemset(more, 0, sizeof(int)));
        level<<<(n + 127) / 128, 128>>>(drow, dto, depth, n, now, more);
        CK(cudaMemcpy(&go, more, sizeof(int), cudaMemcpyDeviceToHost));
    }
    CK(cudaMemcpy(got.data(), depth, n * sizeof(int), cudaMemcpyDeviceToHost));
    CK(cudaFree(drow));
    CK(cudaFree(dto));
    CK(cudaFree(depth));
    CK(cudaFree(more));
    return finish(got == want);
}
