// symbols.cu - device, constant and managed variables from both sides.
// EXPECT: ok
#include "check.h"

__device__ int numbers[4] = {1, 2, 3, 4};
__constant__ int factors[4];
__managed__ int shared_by_both = 5;
__managed__ int grown[100];
static __device__ double hidden = 2.5;

__global__ void use()
{
    numbers[threadIdx.x] *= factors[threadIdx.x];
    if (threadIdx.x == 0) {
        shared_by_both += 1;
        hidden *= 2;
    }
    grown[threadIdx.x] = threadIdx.x * 3;
}

int main()
{
    int f[4] = {10, 20, 30, 40}, x[8];
    double h;
    void *address;
    size_t size;
    TRUE(shared_by_both == 5);
    cudaPointerAttributes of;
    OK(cudaPointerGetAttributes(&of, &grown[3]));
    TRUE(of.type == cudaMemoryTypeManaged && of.hostPointer == &grown[3] && of.devicePointer == &grown[3]);
    OK(cudaMemPrefetchAsync(grown, sizeof grown, cudaMemLocation{cudaMemLocationTypeDevice, 0}, 0, 0));
    OK(cudaMemAdvise(grown, sizeof grown, cudaMemAdviseSetReadMostly, cudaMemLocation{cudaMemLocationTypeDevice, 0}));
    IS(cudaMemPrefetchAsync(grown, sizeof grown + 1, cudaMemLocation{cudaMemLocationTypeDevice, 0}, 0, 0), cudaErrorInvalidValue);
    shared_by_both = 8;
    IS(cudaMemcpyToSymbol(factors, f, 16), 0);
    use<<<1, 4>>>();
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpyFromSymbol(x, numbers, 16));
    TRUE(x[0] == 10 && x[1] == 40 && x[2] == 90 && x[3] == 160);
    TRUE(shared_by_both == 9 && grown[3] == 9);
    OK(cudaMemcpyFromSymbol(&h, hidden, 8));
    TRUE(h == 5.0);
    OK(cudaMemcpyFromSymbol(x, numbers, 4, 8));
    TRUE(x[0] == 90);
    IS(cudaMemcpyToSymbol(numbers, x, 17), 1);
    IS(cudaMemcpyToSymbol(numbers, x, 8, 12), 1);
    OK(cudaMemcpyToSymbol(numbers, x, 4, 12));
    IS(cudaMemcpyFromSymbol(x, factors, 20), 1);
    IS(cudaMemcpyToSymbol((const void *)x, x, 4, 0), 13);
    IS(cudaMemcpyToSymbol(numbers, x, 4, 0, cudaMemcpyDeviceToHost), 21);
    OK(cudaGetSymbolSize(&size, factors));
    TRUE(size == 16);
    OK(cudaGetSymbolAddress(&address, numbers));
    OK(cudaMemcpy(x, address, 16, cudaMemcpyDeviceToHost));
    TRUE(x[1] == 40);
    IS(cudaGetSymbolAddress(&address, (const void *)x), 13);
    IS(cudaGetLastError(), 13);
    IS(cudaGetLastError(), 0);
    DONE();
}
