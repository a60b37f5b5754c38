/* gpu.h - for the programs that ask a GPU: the driver, opened by name, memory on the device, digests. */
#ifndef TESTS_ISA_GPU_H
#define TESTS_ISA_GPU_H
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

static void *gpu_driver;
static uint64_t gpu_in, gpu_out; /* 256 MiB and 64 MiB */

static int gpu_call(const char *name, int error)
{
    if (error)
        fprintf(stderr, "%s: %d\n", name, error);
    return error;
}
#define CALL(name, ...) gpu_call(name, ((int (*)())dlsym(gpu_driver, name))(__VA_ARGS__))

/* Device 0, and a line that names it. */
static bool gpu_open(void)
{
    int device = 0, version = 0;
    char name[256] = "";
    void *context;
    gpu_driver = dlopen("libcuda.so.1", RTLD_NOW);
    if (!gpu_driver) {
        fprintf(stderr, "%s\n", dlerror());
        return false;
    }
    if (CALL("cuInit", 0) || CALL("cuDeviceGet", &device, 0) ||
        CALL("cuDeviceGetName", name, (int)sizeof name, device) || CALL("cuDriverGetVersion", &version) ||
        CALL("cuDevicePrimaryCtxRetain", &context, device) || CALL("cuCtxSetCurrent", context) ||
        CALL("cuMemAlloc_v2", &gpu_in, (size_t)1 << 28) || CALL("cuMemAlloc_v2", &gpu_out, (size_t)1 << 26))
        return false;
    printf("# %s, driver's CUDA %d.%d\n", name, version / 1000, version % 1000 / 10);
    return true;
}

/* What the kernel makes of `in`. It is given the addresses of both, and two numbers, which it need not have. */
static int gpu_run(void *kernel, unsigned blocks, unsigned threads, uint64_t a, uint64_t b, const void *in,
                   size_t in_bytes, void *out, size_t out_bytes)
{
    void *args[] = {&gpu_in, &gpu_out, &a, &b};
    int error = CALL("cuMemcpyHtoD_v2", gpu_in, in, in_bytes);
    error = error ? error : CALL("cuLaunchKernel", kernel, blocks, 1, 1, threads, 1, 1, 0, (void *)0, args, (void *)0);
    return error ? error : CALL("cuMemcpyDtoH_v2", out, gpu_out, out_bytes);
}
#endif
