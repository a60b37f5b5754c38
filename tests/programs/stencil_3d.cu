// stencil_3d.cu - seven points of a box, a column of it a thread
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

__global__ void stencil(const float *in, float *out, int nx, int ny, int nz)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < 1 || y < 1 || x >= nx - 1 || y >= ny - 1)
        return;
    int plane = nx * ny, i = plane + y * nx + x;
    float below = in[i - plane], here = in[i];
    for (int z = 1; z < nz - 1; z++, i += plane) {
        float above = in[i + plane];
        out[i] = below + above + in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] - 6 * here;
        below = here;
        here = above;
    }
}

int main()
{
    const int nx = 20, ny = 14, nz = 9, n = nx * ny * nz;
    std::vector<float> in(n), out(n);
    float *d;
    for (int i = 0; i < n; i++)
        in[i] = (i * 31) % 23;
    CK(cudaMalloc(&d, 2 * n * sizeof(float)));
    CK(cudaMemcpy(d, in.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    CK(cudaMemset(d + n, 0, n * sizeof(float)));
    stencil<<<dim3(3, 2), dim3(8, 8)>>>(d, d + n, nx, ny, nz);
    CK(cudaMemcpy(out.data(), d + n, n * sizeof(float), cudaMemcpyDeviceToHost));
    bool good = true;
    for (int z = 0; z < nz; z++)
        for (int y = 0; y < ny; y++)
            for (int x = 0; x < nx; x++) {
                int i = (z * ny + y) * nx + x;
                bool inside = x && y && z && x < nx - 1 && y < ny - 1 && z < nz - 1;
                float want = inside ? in[i - 1] + in[i + 1] + in[i - nx] + in[i + nx] + in[i - nx * ny] +
                                          in[i + nx * ny] - 6 * in[i]
                                    : 0;
                good &= out[i] == want;
            }
    CK(cudaFree(d));
    return finish(good);
}
