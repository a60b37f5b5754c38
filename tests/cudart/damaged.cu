// damaged.cu - device code that is no more what nvcc wrote (damage.sh): an error, and the program goes on.
// EXPECT: launch 218, malloc 0
// STDERR: margay: error: the program's fatbin is corrupt
#include <cstdio>

__global__ void nop() {}

int main()
{
    void *p;
    nop<<<1, 1>>>();
    int launch = cudaGetLastError();
    printf("launch %d, malloc %d\n", launch, cudaMalloc(&p, 4));
    return 0;
}
