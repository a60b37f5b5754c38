// libcuxx_atomics.cu - cuda::atomic and atomic_ref of several scopes, an order by release and acquire
#include <cuda/atomic>
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

__global__ void count(cuda::atomic<int, cuda::thread_scope_device> *total, int *plain)
{
    total->fetch_add(threadIdx.x, cuda::std::memory_order_relaxed);
    cuda::atomic_ref<int, cuda::thread_scope_device> ref(plain[threadIdx.x % 4]);
    ref.fetch_max((int)(blockIdx.x * blockDim.x + threadIdx.x));
}

__global__ void hand_over(int *data, cuda::atomic<int, cuda::thread_scope_device> *ready, int *out)
{
    if (threadIdx.x)
        return;
    if (blockIdx.x == 0) {
        *data = 42;
        ready->store(1, cuda::std::memory_order_release);
    } else {
        while (ready->load(cuda::std::memory_order_acquire) == 0)
            ;
        *out = *data;
    }
}

int main()
{
    int *d, got[8];
    CK(cudaMalloc(&d, sizeof(got)));
    CK(cudaMemset(d, 0, sizeof(got)));
    count<<<3, 64>>>((cuda::atomic<int, cuda::thread_scope_device> *)d, d + 1);
    hand_over<<<2, 32>>>(d + 5, (cuda::atomic<int, cuda::thread_scope_device> *)(d + 6), d + 7);
    CK(cudaMemcpy(got, d, sizeof(got), cudaMemcpyDeviceToHost));
    bool good = got[0] == 3 * 63 * 32 && got[7] == 42;
    for (int i = 0; i < 4; i++)
        good &= got[1 + i] == 188 + i;
    CK(cudaFree(d));
    return finish(good);
}
