// code_only.cu - a program without PTX: the code of a GPU, a message that names the flag, and the program goes on.
// RUN: -gencode arch=compute_90,code=sm_90
// EXPECT: launch 209, again 209, malloc 0, managed 0
// STDERR: margay: error: the program holds machine code only and no PTX
// STDERR: -gencode arch=compute_90,code=compute_90
#include "check.h"

__managed__ int both;
__global__ void nop() {}

int main()
{
    void *p;
    nop<<<1, 1>>>();
    int launch = cudaGetLastError();
    nop<<<1, 1>>>();
    int again = cudaGetLastError();
    printf("launch %d, again %d, malloc %d, managed %d\n", launch, again, cudaMalloc(&p, 4), both);
    return 0;
}
