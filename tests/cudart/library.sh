#!/bin/sh
# library.sh NVCC LIBS - a shared library that carries the static runtime, under a program that knows nothing of CUDA; and
# both of our libraries preloaded, in either order. The same library opened by the program while it runs: by a program without a
# runtime, by one with the static runtime, under a library that is opened, from a thread, and stripped. Exit status 77: no nvcc.
nvcc=$1 libs=$2
[ -x "$nvcc" ] || { echo "no nvcc: skipped"; exit 77; }
dir=$(mktemp -d) || exit 1
trap 'rm -rf "$dir"' EXIT
cd "$dir" || exit 1
deep=RTLD_DEEPBIND
[ -n "$MARGAY_TEST_PRELOAD" ] && deep=0 # which sanitizers refuse
cat >answer.cu <<'CU'
__global__ void store(int *p) { *p = 42; }
__managed__ int more = 3;
extern "C" int answer()
{
    int *p;
    if (cudaMallocManaged(&p, 4))
        return -1;
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
cat >under.c <<'C'
int answer(void);
int under(void)
{
    return answer();
}
C
cat >opens.c <<'C'
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
static int call(const char *file, const char *name, int how)
{
    void *library = dlopen(file, how);
    int (*f)(void) = library ? (int (*)(void))dlsym(library, name) : 0;
    return f ? f() : -1;
}
static void *beside(void *result)
{
    *(int *)result = call("./libcopy.so", "answer", RTLD_NOW | DEEP);
    return 0;
}
int main(void)
{
    int other = 0;
    pthread_t thread;
    printf("%d ", call("./libunder.so", "under", RTLD_LAZY | RTLD_LOCAL));
    pthread_create(&thread, 0, beside, &other);
    pthread_join(thread, 0);
    printf("%d ", other);
    printf("%d\n", call("./libanswer.so", "answer", RTLD_NOW));
    return 0;
}
C
cat >both.cu <<'CU'
#include <dlfcn.h>
#include <stdio.h>
__global__ void store(int *p) { *p = 7; }
int main()
{
    int *p, out;
    cudaMalloc(&p, 4);
    store<<<1, 1>>>(p);
    void *library = dlopen("./libanswer.so", RTLD_NOW);
    int (*answer)(void) = library ? (int (*)(void))dlsym(library, "answer") : 0;
    int got = answer ? answer() : -1;
    cudaMemcpy(&out, p, 4, cudaMemcpyDefault);
    printf("%d %d\n", got, out);
}
CU
fail=0
expect() { # WHAT WANT GOT
    [ "$3" = "$2" ] || { echo "$1: '$3', not $2"; fail=1; }
}
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
        expect "$runtime, preloaded $preload" 45 "$(LD_PRELOAD=${list%:} ASAN_OPTIONS=detect_leaks=0 ./main)"
    done
    # Opened: nothing of it is there when the program starts.
    cp libanswer.so libcopy.so
    ${CC:-cc} -fPIC -shared under.c -o libunder.so -L. -lanswer -Wl,-rpath,. || exit 1
    ${CC:-cc} -D_GNU_SOURCE "-DDEEP=$deep" opens.c -o opens -ldl -lpthread || exit 1
    "$nvcc" -w -cudart $runtime both.cu -o both -ldl || exit 1
    preload=${MARGAY_TEST_PRELOAD:+$MARGAY_TEST_PRELOAD:}$libs/libcudart.so.13
    expect "$runtime, opened" "45 45 45" "$(LD_PRELOAD=$preload LD_LIBRARY_PATH=$libs ASAN_OPTIONS=detect_leaks=0 ./opens)"
    expect "$runtime, opened beside its like" "45 7" "$(LD_PRELOAD=$preload LD_LIBRARY_PATH=$libs ASAN_OPTIONS=detect_leaks=0 ./both)"
    # Without names its runtime stays NVIDIA's, which finds no device here: no answer, and no crash.
    [ "$runtime" = static ] || continue
    cp libanswer.so libwhole.so
    strip libanswer.so
    cp libanswer.so libcopy.so
    expect "stripped" "-1 -1 -1" "$(LD_PRELOAD=$preload LD_LIBRARY_PATH=$libs ./opens 2>err)"
    grep -q cuGetExportTable err || { echo "nothing is said of a runtime that cannot be redirected"; cat err; fail=1; }
    mv libwhole.so libanswer.so
done
exit $fail
