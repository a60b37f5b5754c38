/* basic.c - a program over the driver as it is written a thousand times: start, device, context, module, memory,
 * launch, results, end; and what the calls say when they come too early, too late or with what is no handle.
 */
#include "check.h"

static void early(void)
{
    CUdevice d;
    CUdeviceptr p;
    int version = 0;
    const char *name = NULL, *text = NULL;
    WANT(CUDA_ERROR_NOT_INITIALIZED, cuDeviceGet(&d, 0));
    WANT(CUDA_ERROR_NOT_INITIALIZED, cuMemAlloc(&p, 4));
    OK(cuDriverGetVersion(&version));
    TRUE(version >= 13000);
    OK(cuGetErrorName(CUDA_ERROR_NOT_FOUND, &name));
    OK(cuGetErrorString(CUDA_ERROR_NOT_FOUND, &text));
    TRUE(name && !strcmp(name, "CUDA_ERROR_NOT_FOUND") && text && !strcmp(text, "named symbol not found"));
    WANT(CUDA_ERROR_INVALID_VALUE, cuGetErrorName((CUresult)12345, &name));
    TRUE(!name);
    WANT(CUDA_ERROR_INVALID_VALUE, cuInit(1));
    OK(cuInit(0));
    WANT(CUDA_ERROR_INVALID_CONTEXT, cuMemAlloc(&p, 4));
    WANT(CUDA_ERROR_INVALID_DEVICE, cuDeviceGet(&d, 99));
}

static void work(void)
{
    CUmodule module;
    CUfunction saxpy, none;
    CUdeviceptr x, y, table;
    size_t size;
    unsigned row[4];
    float a = 3, out[1000];
    int n = 1000;
    OK(cuModuleLoadData(&module, PTX));
    OK(cuModuleGetFunction(&saxpy, module, "saxpy"));
    WANT(CUDA_ERROR_NOT_FOUND, cuModuleGetFunction(&none, module, "saxpi"));
    OK(cuMemAlloc(&x, sizeof(out)));
    OK(cuMemAlloc(&y, sizeof(out)));
    OK(cuMemsetD32(x, 0x3f800000, 1000)); /* 1 */
    OK(cuMemsetD32(y, 0x40000000, 1000)); /* 2 */
    void *args[] = {&a, &x, &y, &n};
    OK(cuLaunchKernel(saxpy, 8, 1, 1, 128, 1, 1, 0, NULL, args, NULL));
    struct {
        float a;
        CUdeviceptr x, y;
        int n;
    } packed = {3, x, y, 500};
    size_t bytes = 28; /* as the kernel has them, and not one more */
    void *extra[] = {CU_LAUNCH_PARAM_BUFFER_POINTER, &packed, CU_LAUNCH_PARAM_BUFFER_SIZE, &bytes, CU_LAUNCH_PARAM_END};
    OK(cuLaunchKernel(saxpy, 8, 1, 1, 128, 1, 1, 0, NULL, NULL, extra));
    bytes = sizeof(packed);
    WANT(CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, cuLaunchKernel(saxpy, 8, 1, 1, 128, 1, 1, 0, NULL, NULL, extra));
    OK(cuMemcpyDtoH(out, y, sizeof(out)));
    for (int i = 0; i < 1000; i++)
        TRUE(out[i] == (i < 500 ? 8 : 5));
    OK(cuModuleGetGlobal(&table, &size, module, "table"));
    OK(cuMemcpyDtoH(row, table, sizeof(row)));
    TRUE(size == 16 && row[0] == 1 && row[3] == 4);
    OK(cuMemFree(x));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemFree(x));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemcpyHtoD(y, out, sizeof(out) + 1));
    OK(cuModuleUnload(module));
    WANT(CUDA_ERROR_INVALID_HANDLE, cuLaunchKernel(saxpy, 8, 1, 1, 128, 1, 1, 0, NULL, args, NULL));
}

int main(void)
{
    CUdevice d;
    CUcontext context, other;
    CUdeviceptr p;
    early();
    OK(cuDeviceGet(&d, 0));
    OK(cuCtxCreate(&context, NULL, 0, d));
    work();
    OK(cuMemAlloc(&p, 4));
    OK(cuCtxDestroy(context));
    OK(cuCtxGetCurrent(&other));
    TRUE(!other);
    WANT(CUDA_ERROR_INVALID_CONTEXT, cuMemFree(p));
    return DONE();
}
