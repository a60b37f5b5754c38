/* torch_kernels.cu - the kernels of torch_kernels.py and their launchers, which give the status of the runtime. */
#include <math.h>

__global__ void axpy_kernel(float a, const float *x, float *y, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        y[i] = a * x[i] + y[i];
}

__global__ void softmax_kernel(const float *x, float *y, int columns)
{
    __shared__ float part[128];
    const float *row = x + blockIdx.x * columns;
    float most = -INFINITY, sum = 0;
    for (int i = 0; i < columns; i++)
        most = fmaxf(most, row[i]);
    for (int i = threadIdx.x; i < columns; i += 128)
        sum += expf(row[i] - most);
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int step = 64; step > 0; step /= 2) {
        if (threadIdx.x < step)
            part[threadIdx.x] += part[threadIdx.x + step];
        __syncthreads();
    }
    for (int i = threadIdx.x; i < columns; i += 128)
        y[blockIdx.x * columns + i] = expf(row[i] - most) / part[0];
}

__global__ void multiply_kernel(const float *a, const float *b, float *c, int columns, int inner)
{
    __shared__ float left[16][17], right[16][17];
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < inner; k += 16) {
        left[threadIdx.y][threadIdx.x] = a[row * inner + k + threadIdx.x];
        right[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * columns + column];
        __syncthreads();
        for (int i = 0; i < 16; i++)
            sum += left[threadIdx.y][i] * right[i][threadIdx.x];
        __syncthreads();
    }
    c[row * columns + column] = sum;
}

__global__ void turn_kernel(float *x)
{
    __shared__ float row[256];
    int t = threadIdx.x;
    row[t] = x[t];
    x[t] = row[255 - t]; // @race
}

extern "C" int axpy(float a, const float *x, float *y, int n)
{
    axpy_kernel<<<(n + 255) / 256, 256>>>(a, x, y, n);
    return cudaDeviceSynchronize();
}

extern "C" int softmax(const float *x, float *y, int rows, int columns)
{
    softmax_kernel<<<rows, 128>>>(x, y, columns);
    return cudaDeviceSynchronize();
}

extern "C" int multiply(const float *a, const float *b, float *c, int rows, int columns, int inner)
{
    multiply_kernel<<<dim3(columns / 16, rows / 16), dim3(16, 16)>>>(a, b, c, columns, inner);
    return cudaDeviceSynchronize();
}

extern "C" int turn(float *x)
{
    turn_kernel<<<1, 256>>>(x);
    return cudaDeviceSynchronize();
}
