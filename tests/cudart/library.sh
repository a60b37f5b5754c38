#!/bin/sh
# library.sh NVCC LIBS - a shared library that carries the static runtime, under a program that knows nothing of CUDA; and
# both of our libraries preloaded, in either order. Exit status 77: no nvcc.
nvcc=$1 libs=$2
[ -x "$nvcc" ] || { echo "no nvcc: skipped"; exit 77; }
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
cat >answer.cu <<'CU'
__global__ void store(int *p) { *p = 42; }
__managed__ int more = 3;
extern "C" int answer()
{
    int *p;
    cudaMallocManaged(&p, 4);
    store<<<1, 1>>>(p);
    cudaDeviceSynchronize();
    return *p + more;
}
CU
cat >main.c <<'C'
#include <stdio.h>
int answer(void);
int main(void)
{
    printf("%d\n", answer());
    return 0;
}
C
fail=0
runtimes="static shared"
# Instrumented, ours cannot be the first to be initialised, which a library with the static runtime needs.
[ -n "$MARGAY_TEST_PRELOAD" ] && runtimes=shared
for runtime in $runtimes; do
    "$nvcc" -w -Xcompiler -fPIC -shared -cudart $runtime -o libanswer.so answer.cu || exit 1
    ${CC:-cc} main.c -o main -L. -lanswer -Wl,-rpath,. || exit 1
    for preload in 13 13:12 12:13; do
        list=${MARGAY_TEST_PRELOAD:+$MARGAY_TEST_PRELOAD:}
        for version in $(echo $preload | tr : ' '); do
            list=$list$libs/libcudart.so.$version:
        done
        got=$(LD_PRELOAD=${list%:} ASAN_OPTIONS=detect_leaks=0 ./main)
        [ "$got" = 45 ] || { echo "$runtime, preloaded $preload: '$got', not 45"; fail=1; }
    done
done
exit $fail
