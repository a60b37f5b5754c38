// virtual_functions.cu - shapes made on the device with new, asked through their base, and deleted there
#include <cstdio>
#include <cstdlib>

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

struct shape {
    __device__ virtual ~shape()
    {
    }
    __device__ virtual int area() const = 0;
};
struct square : shape {
    int side;
    __device__ square(int s) : side(s)
    {
    }
    __device__ int area() const override
    {
        return side * side;
    }
};
struct box : square {
    int other;
    __device__ box(int a, int b) : square(a), other(b)
    {
    }
    __device__ int area() const override
    {
        return side * other;
    }
};

__global__ void make(shape **shapes, int n)
{
    int i = threadIdx.x;
    if (i < n)
        shapes[i] = i % 2 ? new box(i, i + 1) : new square(i);
}

__global__ void ask(shape **shapes, int n, int *areas)
{
    int i = threadIdx.x;
    if (i < n) {
        areas[i] = shapes[i]->area();
        delete shapes[i];
    }
}

int main()
{
    const int n = 40;
    shape **shapes;
    int *areas, got[n];
    CK(cudaMalloc(&shapes, n * sizeof(*shapes)));
    CK(cudaMalloc(&areas, n * sizeof(int)));
    make<<<1, 64>>>(shapes, n);
    ask<<<1, 64>>>(shapes, n, areas);
    CK(cudaMemcpy(got, areas, sizeof(got), cudaMemcpyDeviceToHost));
    bool good = true;
    for (int i = 0; i < n; i++)
        good &= got[i] == i * (i % 2 ? i + 1 : i);
    CK(cudaFree(shapes));
    CK(cudaFree(areas));
    return finish(good);
}
