// gauss_seidel.cu - red and black points in turn, in place
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

__global__ void half_sweep(float *u, int n, int colour)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && y > 0 && x < n - 1 && y < n - 1 && (x + y) % 2 == colour)
        u[y * n + x] = 0.25f * (u[y * n + x - 1] + u[y * n + x + 1] + u[(y - 1) * n + x] + u[(y + 1) * n + x]);
}

int main()
{
    const int n = 22;
    std::vector<float> u(n * n), got(n * n);
    for (int i = 0; i < n; i++)
        u[i] = u[i * n] = 64;
    float *d;
    CK(cudaMalloc(&d, n * n * sizeof(float)));
    CK(cudaMemcpy(d, u.data(), n * n * sizeof(float), cudaMemcpyHostToDevice));
    for (int s = 0; s < 12; s++)
        for (int colour = 0; colour < 2; colour++) {
            half_sweep<<<dim3(3, 3), dim3(8, 8)>>>(d, n, colour);
            for (int y = 1; y < n - 1; y++)
                for (int x = 1; x < n - 1; x++)
                    if ((x + y) % 2 == colour)
                        u[y * n + x] =
                            0.25f * (u[y * n + x - 1] + u[y * n + x + 1] + u[(y - 1) * n + x] + u[(y + 1) * n + x]);
        }
    CK(cudaMemcpy(got.data(), d, n * n * sizeof(float), cudaMemcpyDeviceToHost));
    CK(cudaFree(d));
    return finish(got == u);
}
