// lattice_boltzmann.cu - nine velocities in a channel, collide and stream, mass is kept
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

__constant__ int cx[9], cy[9];
__constant__ float weight[9];

__global__ void collide_and_stream(const float *f, float *g, int w, int h)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y, n = w * h;
    if (x >= w || y >= h)
        return;
    float rho = 0, ux = 0, uy = 0;
    for (int k = 0; k < 9; k++) {
        float v = f[k * n + y * w + x];
        rho += v;
        ux += cx[k] * v;
        uy += cy[k] * v;
    }
    ux /= rho;
    uy /= rho;
    for (int k = 0; k < 9; k++) {
        float cu = 3 * (cx[k] * ux + cy[k] * uy),
              equal = weight[k] * rho * (1 + cu + 0.5f * cu * cu - 1.5f * (ux * ux + uy * uy));
        float v = f[k * n + y * w + x];
        int tx = (x + cx[k] + w) % w, ty = (y + cy[k] + h) % h;
        g[k * n + ty * w + tx] = v + (equal - v) / 0.8f;
    }
}

int main()
{
    const int w = 24, h = 12, n = w * h;
    const int vx[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1}, vy[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1};
    const float wt[9] = {4 / 9.0f, 1 / 9.0f, 1 / 9.0f, 1 / 9.0f, 1 / 9.0f, 1 / 36.0f, 1 / 36.0f, 1 / 36.0f, 1 / 36.0f};
    std::vector<float> f(9 * n), got(9 * n);
    double mass = 0, after = 0, momentum = 0, later = 0;
    for (int k = 0; k < 9; k++)
        for (int i = 0; i < n; i++) {
            f[k * n + i] = wt[k] * (1 + 0.1f * ((i * 7) % 5));
            mass += f[k * n + i];
            momentum += vx[k] * f[k * n + i];
        }
    float *d[2];
    for (auto &p : d)
        CK(cudaMalloc(&p, 9 * n * sizeof(float)));
    CK(cudaMemcpyToSymbol(cx, vx, sizeof(vx)));
    CK(cudaMemcpyToSymbol(cy, vy, sizeof(vy)));
    CK(cudaMemcpyToSymbol(weight, wt, sizeof(wt)));
    CK(cudaMemcpy(d[0], f.data(), 9 * n * sizeof(float), cudaMemcpyHostToDevice));
    for (int s = 0; s < 6; s++)
        collide_and_stream<<<dim3(2, 2), dim3(16, 8)>>>(d[s & 1], d[~s & 1], w, h);
    CK(cudaMemcpy(got.data(), d[0], 9 * n * sizeof(float), cudaMemcpyDeviceToHost));
    for (int k = 0; k < 9; k++)
        for (int i = 0; i < n; i++) {
            after += got[k * n + i];
            later += vx[k] * got[k * n + i];
        }
    for (auto p : d)
        CK(cudaFree(p));
    return finish(fabs(after - mass) < 1e-3 * mass && fabs(later - momentum) < 1e-2 && got != f);
}
