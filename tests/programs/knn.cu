// knn.cu - the three nearest of many points, kept in registers by insertion
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

const int K = 3;

__host__ __device__ void insert(int distance, int index, int d[K], int at[K])
{
    for (int k = 0; k < K; k++)
        if (distance < d[k]) {
            int old = d[k], where = at[k];
            d[k] = distance;
            at[k] = index;
            distance = old;
            index = where;
        }
}

__host__ __device__ void nearest(const short2 *points, int n, short2 q, int at[K])
{
    int d[K];
    for (int k = 0; k < K; k++) {
        d[k] = INT_MAX;
        at[k] = -1;
    }
    for (int i = 0; i < n; i++) {
        int dx = points[i].x - q.x, dy = points[i].y - q.y;
        insert(dx * dx + dy * dy, i, d, at);
    }
}

__global__ void knn(const short2 *points, int n, const short2 *queries, int m, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, at[K];
    if (i >= m)
        return;
    nearest(points, n, queries[i], at);
    for (int k = 0; k < K; k++)
        out[i * K + k] = at[k];
}

int main()
{
    const int n = 200, m = 70;
    std::vector<short2> p(n + m);
    std::vector<int> want(m * K), got(m * K);
    for (int i = 0; i < n + m; i++)
        p[i] = make_short2(i * 313 % 997, i * 771 % 991);
    for (int i = 0; i < m; i++)
        nearest(p.data(), n, p[n + i], &want[i * K]);
    short2 *d;
    int *out;
    CK(cudaMalloc(&d, p.size() * sizeof(short2)));
    CK(cudaMalloc(&out, m * K * sizeof(int)));
    CK(cudaMemcpy(d, p.data(), p.size() * sizeof(short2), cudaMemcpyHostToDevice));
    knn<<<3, 32>>>(d, n, d + n, m, out);
    CK(cudaMemcpy(got.data(), out, m * K * sizeof(int), cudaMemcpyDeviceToHost));
    CK(cudaFree(d));
    CK(cudaFree(out));
    return finish(got == want);
}
