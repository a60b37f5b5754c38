// transpose.cu - through a padded tile, several rows a thread
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

const int TILE = 32, ROWS = 8;

__global__ void transpose(const float *in, float *out, int width, int height)
{
    __shared__ float tile[TILE][TILE + 1];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < width && y + j < height)
            tile[threadIdx.y + j][threadIdx.x] = in[(y + j) * width + x];
    __syncthreads();
    x = blockIdx.y * TILE + threadIdx.x;
    y = blockIdx.x * TILE + threadIdx.y;
    for (int j = 0; j < TILE; j += ROWS)
        if (x < height && y + j < width)
            out[(y + j) * height + x] = tile[threadIdx.x][threadIdx.y + j];
}

int main()
{
    const int width = 70, height = 45, n = width * height;
    std::vector<float> in(n), out(n);
    for (int i = 0; i < n; i++)
        in[i] = i;
    float *din, *dout;
    CK(cudaMalloc(&din, n * sizeof(float)));
    CK(cudaMalloc(&dout, n * sizeof(float)));
    CK(cudaMemcpy(din, in.data(), n * sizeof(float), cudaMemcpyHostToDevice));
    transpose<<<dim3((width + 31) / 32, (height + 31) / 32), dim3(TILE, ROWS)>>>(din, dout, width, height);
    CK(cudaMemcpy(out.data(), dout, n * sizeof(float), cudaMemcpyDeviceToHost));
    bool good = true;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++)
            good &= out[x * height + y] == in[y * width + x];
    CK(cudaFree(din));
    CK(cudaFree(dout));
    return finish(good);
}
