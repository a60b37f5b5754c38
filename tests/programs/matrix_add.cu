// matrix_add.cu - two-dimensional blocks over matrices whose sides fit none of them
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

__global__ void add(const int *a, const int *b, int *c, int rows, int columns)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x < columns && y < rows)
        c[y * columns + x] = a[y * columns + x] + b[y * columns + x];
}

int main()
{
    const int rows = 37, columns = 53, n = rows * columns;
    std::vector<int> a(n), b(n), c(n);
    for (int i = 0; i < n; i++) {
        a[i] = i * 7;
        b[i] = 1000 - i;
    }
    int *d;
    CK(cudaMalloc(&d, 3 * n * sizeof(int)));
    CK(cudaMemcpy(d, a.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    CK(cudaMemcpy(d + n, b.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    add<<<dim3((columns + 15) / 16, (rows + 7) / 8), dim3(16, 8)>>>(d, d + n, d + 2 * n, rows, columns);
    CK(cudaMemcpy(c.data(), d + 2 * n, n * sizeof(int), cudaMemcpyDeviceToHost));
    bool good = true;
    for (int i = 0; i < n; i++)
        good &= c[i] == a[i] + b[i];
    CK(cudaFree(d));
    return finish(good);
}
