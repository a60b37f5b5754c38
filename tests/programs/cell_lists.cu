// cell_lists.cu - short-range forces: particles counted into cells, sorted by cell, neighbours from nine cells
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

const int CELLS = 8;

__device__ int cell_of(float2 p)
{
    return (int)p.y * CELLS + (int)p.x;
}

__global__ void count(const float2 *p, int n, int *counts)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        atomicAdd(&counts[cell_of(p[i])], 1);
}

__global__ void starts(const int *counts, int *start)
{
    int c = threadIdx.x, sum = 0;
    for (int k = 0; k < c; k++)
        sum += counts[k];
    start[c] = sum;
    if (c == CELLS * CELLS - 1)
        start[c + 1] = sum + counts[c];
}

__global__ void fill(const float2 *p, int n, const int *start, int *used, int *member)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        member[start[cell_of(p[i])] + atomicAdd(&used[cell_of(p[i])], 1)] = i;
}

__global__ void neighbours(const float2 *p, int n, const int *start, const int *member, int *near)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, found = 0;
    if (i >= n)
        return;
    int cx = p[i].x, cy = p[i].y;
    for (int y = max(cy - 1, 0); y <= min(cy + 1, CELLS - 1); y++)
        for (int x = max(cx - 1, 0); x <= min(cx + 1, CELLS - 1); x++)
            for (int k = start[y * CELLS + x]; k < start[y * CELLS + x + 1]; k++) {
                float dx = p[member[k]].x - p[i].x, dy = p[member[k]].y - p[i].y;
                found += member[k] != i && dx * dx + dy * dy < 1;
            }
    near[i] = found;
}

int main()
{
    const int n = 300;
    std::vector<float2> p(n);
    std::vector<int> want(n), got(n);
    for (int i = 0; i < n; i++)
        p[i] = make_float2((i * 37 % 128) / 16.0f, (i * 91 % 127) / 16.0f);
    for (int i = 0; i < n; i++)
        for (int k = 0; k < n; k++) {
            float dx = p[k].x - p[i].x, dy = p[k].y - p[i].y;
            want[i] += k != i && dx * dx + dy * dy < 1;
        }
    float2 *dp;
    int *counts, *start, *used, *member, *near;
    CK(cudaMalloc(&dp, n * sizeof(float2)));
    CK(cudaMalloc(&counts, CELLS * CELLS * sizeof(int)));
    CK(cudaMalloc(&used, CELLS * CELLS * sizeof(int)));
    CK(cudaMalloc(&start, (CELLS * CELLS + 1) * sizeof(int)));
    CK(cudaMalloc(&member, n * sizeof(int)));
    CK(cudaMalloc(&near, n * sizeof(int)));
    CK(cudaMemset(counts, 0, CELLS * CELLS * sizeof(int)));
    CK(cudaMemset(used, 0, CELLS * CELLS * sizeof(int)));
    CK(cudaMemcpy(dp, p.data(), n * sizeof(float2), cudaMemcpyHostToDevice));
    int grid = (n + 63) / 64;
    count<<<grid, 64>>>(dp, n, counts);
    starts<<<1, CELLS * CELLS>>>(counts, start);
    fill<<<grid, 64>>>(dp, n, start, used, member);
    neighbours<<<grid, 64>>>(dp, n, start, member, near);
    CK(cudaMemcpy(got.data(), near, n * sizeof(int), cudaMemcpyDeviceToHost));
    for (void *q : {(void *)dp, (void *)counts, (void *)start, (void *)used, (void *)member, (void *)near})
        CK(cudaFree(q));
    return finish(got == want);
}
