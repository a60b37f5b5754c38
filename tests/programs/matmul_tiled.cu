// matmul_tiled.cu - C = A B through two tiles in shared memory, zeros beyond the edges
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

const int TILE = 16;

__global__ void multiply(const float *a, const float *b, float *c, int n)
{
    __shared__ float as[TILE][TILE], bs[TILE][TILE];
    int x = threadIdx.x, y = threadIdx.y, column = blockIdx.x * TILE + x, row = blockIdx.y * TILE + y;
    float sum = 0;
    for (int t = 0; t < n; t += TILE) {
        as[y][x] = row < n && t + x < n ? a[row * n + t + x] : 0;
        bs[y][x] = t + y < n && column < n ? b[(t + y) * n + column] : 0;
        __syncthreads();
        for (int k = 0; k < TILE; k++)
            sum += as[y][k] * bs[k][x];
        __syncthreads();
    }
    if (row < n && column < n)
        c[row * n + column] = sum;
}

int main()
{
    const int n = 50;
    std::vector<float> a(n * n), b(n * n), c(n * n);
    for (int i = 0; i < n * n; i++) {
        a[i] = (i * 5) % 13 - 6;
        b[i] = (i * 3) % 7 - 3;
    }
    float *da, *db, *dc;
    size_t bytes = n * n * sizeof(float);
    CK(cudaMalloc(&da, bytes));
    CK(cudaMalloc(&db, bytes));
    CK(cudaMalloc(&dc, bytes));
    CK(cudaMemcpy(da, a.data(), bytes, cudaMemcpyHostToDevice));
    CK(cudaMemcpy(db, b.data(), bytes, cudaMemcpyHostToDevice));
    dim3 grid((n + TILE - 1) / TILE, (n + TILE - 1) / TILE), block(TILE, TILE);
    multiply<<<grid, block>>>(da, db, dc, n);
    CK(cudaMemcpy(c.data(), dc, bytes, cudaMemcpyDeviceToHost));
    bool good = true;
    for (int row = 0; row < n; row++)
        for (int column = 0; column < n; column++) {
            float sum = 0;
            for (int k = 0; k < n; k++)
                sum += a[row * n + k] * b[k * n + column];
            good &= c[row * n + column] == sum;
        }
    CK(cudaFree(da));
    CK(cudaFree(db));
    CK(cudaFree(dc));
    return finish(good);
}
