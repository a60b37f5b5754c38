// stripped.cu - a static runtime that cannot be found: told before main, with what to do.
// EXIT: 2
// STDERR: Relink it without -s
// STDERR: -cudart shared
#include <cstdio>

__global__ void nop() {}

int main()
{
    nop<<<1, 1>>>();
    printf("never printed\n");
    return 0;
}
