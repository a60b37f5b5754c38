// kmeans.cu - points to the nearest centre, sums in shared memory and then by atomics, in whole numbers
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

const int K = 4;

__global__ void assign(const int2 *points, int n, const int2 *centre, int *owner, int *sums)
{
    __shared__ int own[3 * K];
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (threadIdx.x < 3 * K)
        own[threadIdx.x] = 0;
    __syncthreads();
    if (i < n) {
        int best = 0, nearest = INT_MAX;
        for (int k = 0; k < K; k++) {
            int dx = points[i].x - centre[k].x, dy = points[i].y - centre[k].y, d = dx * dx + dy * dy;
            if (d < nearest) {
                nearest = d;
                best = k;
            }
        }
        owner[i] = best;
        atomicAdd(&own[3 * best], points[i].x);
        atomicAdd(&own[3 * best + 1], points[i].y);
        atomicAdd(&own[3 * best + 2], 1);
    }
    __syncthreads();
    if (threadIdx.x < 3 * K)
        atomicAdd(&sums[threadIdx.x], own[threadIdx.x]);
}

__global__ void move(int2 *centre, const int *sums)
{
    int k = threadIdx.x;
    if (sums[3 * k + 2])
        centre[k] = make_int2(sums[3 * k] / sums[3 * k + 2], sums[3 * k + 1] / sums[3 * k + 2]);
}

int main()
{
    const int n = 300;
    std::vector<int2> p(n), c(K), got(K);
    std::vector<int> owner(n), gowner(n);
    for (int i = 0; i < n; i++)
        p[i] = make_int2(i % K * 100 + i * 37 % 41, i % K / 2 * 90 + i * 53 % 37);
    for (int k = 0; k < K; k++)
        c[k] = p[k * 7];
    int2 *dp, *dc;
    int *downer, *sums;
    CK(cudaMalloc(&dp, n * sizeof(int2)));
    CK(cudaMalloc(&dc, K * sizeof(int2)));
    CK(cudaMalloc(&downer, n * sizeof(int)));
    CK(cudaMalloc(&sums, 3 * K * sizeof(int)));
    CK(cudaMemcpy(dp, p.data(), n * sizeof(int2), cudaMemcpyHostToDevice));
    CK(cudaMemcpy(dc, c.data(), K * sizeof(int2), cudaMemcpyHostToDevice));
    for (int round = 0; round < 5; round++) {
        CK(cudaMemset(sums, 0, 3 * K * sizeof(int)));
        assign<<<3, 128>>>(dp, n, dc, downer, sums);
        move<<<1, K>>>(dc, sums);
        int s[3 * K] = {0};
        for (int i = 0; i < n; i++) {
            int best = 0, nearest = INT_MAX;
            for (int k = 0; k < K; k++) {
                int dx = p[i].x - c[k].x, dy = p[i].y - c[k].y, d = dx * dx + dy * dy;
                if (d < nearest) {
                    nearest = d;
                    best = k;
                }
            }
            owner[i] = best;
            s[3 * best] += p[i].x;
            s[3 * best + 1] += p[i].y;
            s[3 * best + 2]++;
        }
        for (int k = 0; k < K; k++)
            if (s[3 * k + 2])
                c[k] = make_int2(s[3 * k] / s[3 * k + 2], s[3 * k + 1] / s[3 * k + 2]);
    }
    CK(cudaMemcpy(got.data(), dc, K * sizeof(int2), cudaMemcpyDeviceToHost));
    CK(cudaMemcpy(gowner.data(), downer, n * sizeof(int), cudaMemcpyDeviceToHost));
    bool good = gowner == owner;
    for (int k = 0; k < K; k++)
        good &= got[k].x == c[k].x && got[k].y == c[k].y;
    for (void *q : {(void *)dp, (void *)dc, (void *)downer, (void *)sums})
        CK(cudaFree(q));
    return finish(good);
}
