// priority_queue.cu - a binary heap in shared memory for each warp's first lane, used to sort
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

const int N = 40, WARPS = 3;

__device__ void push(int *heap, int &n, int v)
{
    int i = n++;
    for (; i && heap[(i - 1) / 2] > v; i = (i - 1) / 2)
        heap[i] = heap[(i - 1) / 2];
    heap[i] = v;
}

__device__ int pop(int *heap, int &n)
{
    int top = heap[0], v = heap[--n], i = 0;
    for (int child = 1; child < n; child = 2 * i + 1) {
        child += child + 1 < n && heap[child + 1] < heap[child];
        if (heap[child] >= v)
            break;
        heap[i] = heap[child];
        i = child;
    }
    heap[i] = v;
    return top;
}

__global__ void sort(int *data)
{
    __shared__ int heaps[WARPS][N];
    int w = threadIdx.x / 32, n = 0;
    if (threadIdx.x % 32)
        return;
    for (int i = 0; i < N; i++)
        push(heaps[w], n, data[w * N + i]);
    for (int i = 0; i < N; i++)
        data[w * N + i] = pop(heaps[w], n);
}

int main()
{
    std::vector<int> data(WARPS * N), got(WARPS * N);
    for (int i = 0; i < WARPS * N; i++)
        data[i] = i * 59 % 83;
    int *d;
    CK(cudaMalloc(&d, data.size() * sizeof(int)));
    CK(cudaMemcpy(d, data.data(), data.size() * sizeof(int), cudaMemcpyHostToDevice));
    sort<<<1, WARPS * 32>>>(d);
    CK(cudaMemcpy(got.data(), d, data.size() * sizeof(int), cudaMemcpyDeviceToHost));
    for (int w = 0; w < WARPS; w++)
        std::sort(data.begin() + w * N, data.begin() + (w + 1) * N);
    CK(cudaFree(d));
    return finish(got == data);
}
