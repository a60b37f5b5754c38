// wave.cu - the wave equation in the plane, three time levels
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

__global__ void wave(const double *before, const double *now, double *after, int n, double c2)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, i = y * n + x;
    if (x >= n || y >= n)
        return;
    bool edge = !x || !y || x == n - 1 || y == n - 1;
    after[i] =
        edge ? 0 : 2 * now[i] - before[i] + c2 * (now[i - 1] + now[i + 1] + now[i - n] + now[i + n] - 4 * now[i]);
}

int main()
{
    const int n = 24, steps = 10;
    std::vector<double> u[3];
    for (auto &v : u)
        v.assign(n * n, 0);
    u[0][n / 2 * n + n / 2] = u[1][n / 2 * n + n / 2] = 1;
    double *d[3];
    for (int k = 0; k < 3; k++) {
        CK(cudaMalloc(&d[k], n * n * sizeof(double)));
        CK(cudaMemcpy(d[k], u[k].data(), n * n * sizeof(double), cudaMemcpyHostToDevice));
    }
    for (int s = 0; s < steps; s++) {
        int a = s % 3, b = (s + 1) % 3, c = (s + 2) % 3;
        wave<<<dim3(2, 3), dim3(16, 8)>>>(d[a], d[b], d[c], n, 0.25);
        for (int y = 1; y < n - 1; y++)
            for (int x = 1; x < n - 1; x++) {
                int i = y * n + x;
                u[c][i] = 2 * u[b][i] - u[a][i] +
                          0.25 * (u[b][i - 1] + u[b][i + 1] + u[b][i - n] + u[b][i + n] - 4 * u[b][i]);
            }
    }
    std::vector<double> got(n * n);
    CK(cudaMemcpy(got.data(), d[(steps + 1) % 3], n * n * sizeof(double), cudaMemcpyDeviceToHost));
    bool good = true;
    for (int i = 0; i < n * n; i++)
        good &= fabs(got[i] - u[(steps + 1) % 3][i]) < 1e-12;
    for (auto p : d)
        CK(cudaFree(p));
    return finish(good);
}
