// pagerank.cu - power iteration, each page pulls from those that link to it
#include <cmath>
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

__global__ void pull(const int *row, const int *from, const int *out_degree, const double *rank, double *next, int n)
{
    int v = blockIdx.x * blockDim.x + threadIdx.x;
    if (v >= n)
        return;
    double sum = 0;
    for (int e = row[v]; e < row[v + 1]; e++)
        sum += rank[from[e]] / out_degree[from[e]];
    next[v] = 0.15 / n + 0.85 * sum;
}

int main()
{
    const int n = 90;
    std::vector<std::vector<int>> links(n);
    std::vector<int> row(n + 1), from, degree(n);
    for (int v = 0; v < n; v++)
        for (int k = 1; k <= 1 + v % 4; k++) {
            links[(v * k + 7 * k) % n].push_back(v);
            degree[v]++;
        }
    for (int v = 0; v < n; v++) {
        from.insert(from.end(), links[v].begin(), links[v].end());
        row[v + 1] = from.size();
    }
    std::vector<double> rank(n, 1.0 / n), next(n), got(n);
    int *drow, *dfrom, *ddegree;
    double *d[2];
    CK(cudaMalloc(&drow, row.size() * sizeof(int)));
    CK(cudaMalloc(&dfrom, from.size() * sizeof(int)));
    CK(cudaMalloc(&ddegree, n * sizeof(int)));
    for (auto &p : d)
        CK(cudaMalloc(&p, n * sizeof(double)));
    CK(cudaMemcpy(drow, row.data(), row.size() * sizeof(int), cudaMemcpyHostToDevice));
    CK(cudaMemcpy(dfrom, from.data(), from.size() * sizeof(int), cudaMemcpyHostToDevice));
    CK(cudaMemcpy(ddegree, degree.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    CK(cudaMemcpy(d[0], rank.data(), n * sizeof(double), cudaMemcpyHostToDevice));
    for (int i = 0; i < 8; i++) {
        pull<<<3, 32>>>(drow, dfrom, ddegree, d[i & 1], d[~i & 1], n);
        for (int v = 0; v < n; v++) {
            double sum = 0;
            for (int e = row[v]; e < row[v + 1]; e++)
                sum += rank[from[e]] / degree[from[e]];
            next[v] = 0.15 / n + 0.85 * sum;
        }
        rank.swap(next);
    }
    CK(cudaMemcpy(got.data(), d[0], n * sizeof(double), cudaMemcpyDeviceToHost));
    bool good = true;
    for (int v = 0; v < n; v++)
        good &= fabs(got[v] - rank[v]) < 1e-14;
    CK(cudaFree(drow));
    CK(cudaFree(dfrom));
    CK(cudaFree(ddegree));
    for (auto p : d)
        CK(cudaFree(p));
    return finish(good);
}
