// spmv.cu - one sparse matrix as CSR (a thread and a warp a row), ELLPACK and COO
#include <algorithm>
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

__global__ void csr_scalar(int n, const int *row, const int *column, const float *value, const float *x, float *y)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= n)
        return;
    float sum = 0;
    for (int i = row[r]; i < row[r + 1]; i++)
        sum += value[i] * x[column[i]];
    y[r] = sum;
}

__global__ void csr_vector(int n, const int *row, const int *column, const float *value, const float *x, float *y)
{
    int r = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32;
    if (r >= n)
        return;
    float sum = 0;
    for (int i = row[r] + lane; i < row[r + 1]; i += 32)
        sum += value[i] * x[column[i]];
    for (int d = 16; d; d /= 2)
        sum += __shfl_xor_sync(~0u, sum, d);
    if (!lane)
        y[r] = sum;
}

__global__ void ell(int n, int width, const int *column, const float *value, const float *x, float *y)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= n)
        return;
    float sum = 0;
    for (int k = 0; k < width; k++)
        if (column[k * n + r] >= 0)
            sum += value[k * n + r] * x[column[k * n + r]];
    y[r] = sum;
}

__global__ void coo(int nonzeros, const int *row, const int *column, const float *value, const float *x, float *y)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < nonzeros)
        atomicAdd(&y[row[i]], value[i] * x[column[i]]);
}

template <typename T> T *to_device(const std::vector<T> &v)
{
    T *d;
    CK(cudaMalloc(&d, v.size() * sizeof(T)));
    CK(cudaMemcpy(d, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice));
    return d;
}

int main()
{
    const int n = 130;
    std::vector<int> row(1), column, rows;
    std::vector<float> value, x(n), want(n), got(n);
    int width = 0;
    for (int r = 0; r < n; r++) {
        int count = (r * 5) % 40;
        for (int k = 0; k < count; k++) {
            column.push_back((r + k * 3) % n);
            value.push_back((r + k) % 9 - 4);
            rows.push_back(r);
        }
        row.push_back(column.size());
        x[r] = r % 6 - 2;
        width = std::max(width, count);
    }
    std::vector<int> ell_column(width * n, -1);
    std::vector<float> ell_value(width * n);
    for (int r = 0; r < n; r++)
        for (int i = row[r]; i < row[r + 1]; i++) {
            want[r] += value[i] * x[column[i]];
            ell_column[(i - row[r]) * n + r] = column[i];
            ell_value[(i - row[r]) * n + r] = value[i];
        }
    int *drow = to_device(row), *dcolumn = to_device(column), *drows = to_device(rows);
    int *decolumn = to_device(ell_column);
    float *dvalue = to_device(value), *dx = to_device(x), *devalue = to_device(ell_value), *y = to_device(got);
    bool good = true;
    for (int way = 0; way < 4; way++) {
        CK(cudaMemset(y, 0, n * sizeof(float)));
        if (way == 0)
            csr_scalar<<<(n + 63) / 64, 64>>>(n, drow, dcolumn, dvalue, dx, y);
        else if (way == 1)
            csr_vector<<<(n + 3) / 4, 128>>>(n, drow, dcolumn, dvalue, dx, y);
        else if (way == 2)
            ell<<<(n + 63) / 64, 64>>>(n, width, decolumn, devalue, dx, y);
        else
            coo<<<(rows.size() + 127) / 128, 128>>>(rows.size(), drows, dcolumn, dvalue, dx, y);
        CK(cudaMemcpy(got.data(), y, n * sizeof(float), cudaMemcpyDeviceToHost));
        good &= got == want;
    }
    for (void *p : {(void *)drow, (void *)dcolumn, (void *)drows, (void *)decolumn, (void *)dvalue, (void *)dx,
                    (void *)devalue, (void *)y})
        CK(cudaFree(p));
    return finish(good);
}
