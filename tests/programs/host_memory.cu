// host_memory.cu - pinned, mapped, registered and managed memory, and a pitched copy
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

__managed__ int counter;

__global__ void touch(int *p, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) {
        p[i] += 1;
        atomicAdd(&counter, 1);
    }
}

__global__ void rows(char *p, size_t pitch, int w)
{
    int *row = (int *)(p + blockIdx.x * pitch);
    if (threadIdx.x < w)
        row[threadIdx.x] = row[threadIdx.x] * 10 + blockIdx.x;
}

int main()
{
    const int n = 100, w = 13, h = 7;
    int *mapped, *device, *managed, *own = (int *)aligned_alloc(4096, 4096);
    CK(cudaHostAlloc(&mapped, n * sizeof(int), cudaHostAllocMapped));
    CK(cudaHostGetDevicePointer(&device, mapped, 0));
    CK(cudaMallocManaged(&managed, n * sizeof(int)));
    CK(cudaHostRegister(own, 4096, cudaHostRegisterMapped));
    for (int i = 0; i < n; i++)
        mapped[i] = managed[i] = own[i] = i;
    int *registered;
    CK(cudaHostGetDevicePointer(&registered, own, 0));
    for (int *p : {device, managed, registered})
        touch<<<2, 64>>>(p, n);
    CK(cudaDeviceSynchronize());
    bool good = counter == 3 * n;
    for (int i = 0; i < n; i++)
        good &= mapped[i] == i + 1 && managed[i] == i + 1 && own[i] == i + 1;
    char *pitched;
    size_t pitch;
    std::vector<int> table(w * h), back(w * h);
    for (int i = 0; i < w * h; i++)
        table[i] = i;
    CK(cudaMallocPitch(&pitched, &pitch, w * sizeof(int), h));
    CK(cudaMemcpy2D(pitched, pitch, table.data(), w * sizeof(int), w * sizeof(int), h, cudaMemcpyHostToDevice));
    rows<<<h, 32>>>(pitched, pitch, w);
    CK(cudaMemcpy2D(back.data(), w * sizeof(int), pitched, pitch, w * sizeof(int), h, cudaMemcpyDeviceToHost));
    for (int i = 0; i < w * h; i++)
        good &= back[i] == i * 10 + i / w;
    CK(cudaHostUnregister(own));
    CK(cudaFreeHost(mapped));
    CK(cudaFree(managed));
    CK(cudaFree(pitched));
    free(own);
    return finish(good);
}
