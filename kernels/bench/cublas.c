/* cublas.c - cuBLAS as a peer, loaded when it is there: the bench links nothing that a machine may lack. */
#include "bench_priv.h"

#include <dlfcn.h>

static void *library;
static void *handle;

void *bench_cublas_symbol(const char *name)
{
    if (!library) {
        static const char *const names[] = {"libcublas.so.13", "libcublas.so.12", "libcublas.so"};
        for (size_t i = 0; i < sizeof names / sizeof *names && !library; i++)
            library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    }
    return library ? dlsym(library, name) : NULL;
}

void *bench_cublas(void)
{
    if (!handle && !bench_on_simulator()) {
        int (*create)(void **) = (int (*)(void **))bench_cublas_symbol("cublasCreate_v2");
        if (!create || create(&handle) != 0)
            handle = NULL;
    }
    return handle;
}
