// damaged.cu - device code that is no more what nvcc wrote (damage.sh): an error, and the program goes on.
// EXPECT: launch 218, again 218, malloc 0
// CASE header: STDERR: margay: error: the program's fatbin is corrupt
// CASE text: RUN: --compress-mode=none
// CASE text: STDERR: margay: error:
// CASE text: STDERR: <ptx>:
#include <cstdio>

__global__ void nop() {}

int main()
{
    void *p;
    nop<<<1, 1>>>();
    int launch = cudaGetLastError();
    nop<<<1, 1>>>();
    int again = cudaGetLastError();
    printf("launch %d, again %d, malloc %d\n", launch, again, cudaMalloc(&p, 4));
    return 0;
}
