/* basic.c - a program over the driver as it is written a thousand times: start, device, context, module, memory,
 * launch, results, end; and what the calls say when they come too early, too late or with what is no handle.
 */
#include "check.h"

#include <dlfcn.h>

/* What names its device, and what is of a pool, a library or a graph, needs no context, as an H200's driver (580) has
 * it: Taichi asks before it makes one.
 */
static void without_context(void)
{
    CUmemoryPool pool = NULL, own = NULL;
    CUmemPoolProps properties = {.allocType = CU_MEM_ALLOCATION_TYPE_PINNED,
                                 .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    cuuint64_t threshold = 1 << 20, kept = 0;
    CUlibrary library, owner = NULL;
    CUkernel kernel = NULL;
    CUcontext none = NULL;
    CUstreamCaptureMode mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
    CUgraph graph = NULL;
    CUgraphNode node = NULL;
    CUgraphExec exec = NULL;
    size_t offset = 0, size = 0;
    int threads = 0;
    OK(cuDeviceGetDefaultMemPool(&pool, 0));
    OK(cuMemPoolSetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &threshold));
    OK(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD, &kept));
    TRUE(kept == threshold);
    OK(cuMemPoolCreate(&own, &properties));
    OK(cuDeviceSetMemPool(0, own));
    OK(cuDeviceGetMemPool(&pool, 0));
    TRUE(pool == own);
    OK(cuMemPoolDestroy(own));
    OK(cuDeviceGraphMemTrim(0));
    OK(cuLibraryLoadData(&library, PTX, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetKernel(&kernel, library, "saxpy"));
    OK(cuKernelGetAttribute(&threads, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel, 0));
    OK(cuKernelGetLibrary(&owner, kernel));
    TRUE(threads == 1024 && owner == library);
    WANT(CUDA_ERROR_INVALID_CONTEXT, cuKernelGetParamInfo(kernel, 0, &offset, &size));
    OK(cuLibraryUnload(library));
    OK(cuThreadExchangeStreamCaptureMode(&mode));
    OK(cuGraphCreate(&graph, 0));
    OK(cuGraphAddEmptyNode(&node, graph, NULL, 0));
    WANT(CUDA_ERROR_INVALID_CONTEXT, cuGraphInstantiate(&exec, graph, 0));
    OK(cuGraphDestroy(graph));
    OK(cuCtxGetCurrent(&none));
    TRUE(!none);
}

/* The library by the name without a version, and what it has for graphics: asked for, and not there when it is called.
 */
static void by_name(void)
{
    void *library = dlopen("libcuda.so", RTLD_NOW | RTLD_LOCAL);
    CUresult (*version)(int *) = NULL, (*buffer)(CUgraphicsResource *, unsigned, unsigned) = NULL;
    int here = 0, there = 0;
    TRUE(library);
    if (!library)
        return;
    *(void **)&version = dlsym(library, "cuDriverGetVersion");
    *(void **)&buffer = dlsym(library, "cuGraphicsGLRegisterBuffer");
    TRUE(version && buffer);
    if (!version || !buffer)
        return;
    OK(cuDriverGetVersion(&here));
    OK(version(&there));
    TRUE(here == there);
    WANT(CUDA_ERROR_NOT_SUPPORTED, buffer(NULL, 0, 0));
}

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

/* Contexts of one device touch each other's memory, as on an H200; what is of one goes with it. */
static void contexts(CUdevice d)
{
    CUcontext first, second, current;
    CUdeviceptr x, y;
    CUmodule module;
    CUfunction saxpy;
    float a = 1, out[4];
    int n = 4;
    OK(cuCtxCreate(&first, NULL, 0, d));
    OK(cuMemAlloc(&x, 16));
    OK(cuMemsetD32(x, 0x3f800000, 4));
    OK(cuCtxCreate(&second, NULL, 0, d));
    OK(cuMemAlloc(&y, 16));
    OK(cuMemsetD32(y, 0, 4));
    OK(cuModuleLoadData(&module, PTX));
    OK(cuModuleGetFunction(&saxpy, module, "saxpy"));
    void *args[] = {&a, &x, &y, &n};
    OK(cuLaunchKernel(saxpy, 1, 1, 1, 32, 1, 1, 0, NULL, args, NULL));
    OK(cuMemcpyDtoH(out, y, 16));
    TRUE(out[0] == 1 && out[3] == 1);
    WANT(CUDA_ERROR_PEER_ACCESS_UNSUPPORTED, cuCtxEnablePeerAccess(first, 0));
    OK(cuCtxDestroy(second));
    OK(cuCtxGetCurrent(&current));
    TRUE(current == first);
    WANT(CUDA_ERROR_INVALID_CONTEXT, cuCtxDestroy(second));
    OK(cuCtxSetCurrent(second)); /* taken, and of no use */
    WANT(CUDA_ERROR_CONTEXT_IS_DESTROYED, cuMemAlloc(&y, 4));
    OK(cuCtxSetCurrent(first));
    OK(cuCtxDestroy(first));
}

/* A fault stays with all contexts of the device, and with those to come. */
static void faults(CUdevice d)
{
    CUcontext first, second;
    CUmodule module;
    CUfunction bad;
    CUdeviceptr p;
    OK(cuCtxCreate(&first, NULL, 0, d));
    OK(cuCtxCreate(&second, NULL, 0, d));
    OK(cuModuleLoadData(&module, PTX));
    OK(cuModuleGetFunction(&bad, module, "bad"));
    OK(cuLaunchKernel(bad, 1, 1, 1, 1, 1, 1, 0, NULL, NULL, NULL));
    WANT(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
    WANT(CUDA_ERROR_ILLEGAL_ADDRESS, cuMemAlloc(&p, 4));
    OK(cuCtxSetCurrent(first));
    WANT(CUDA_ERROR_ILLEGAL_ADDRESS, cuMemAlloc(&p, 4));
    OK(cuCtxDestroy(first));
    WANT(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxCreate(&first, NULL, 0, d));
}

/* What is wrong with an image, and where. */
static void images(void)
{
    CUmodule module;
    char log[512] = "";
    CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
    void *values[] = {log, (void *)sizeof(log)};
    WANT(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&module, "hello"));
    WANT(CUDA_ERROR_INVALID_IMAGE, cuModuleLoadData(&module, ""));
    WANT(CUDA_ERROR_FILE_NOT_FOUND, cuModuleLoad(&module, "no such file"));
    WANT(CUDA_ERROR_INVALID_PTX, cuModuleLoadData(&module, ".version 8.0\n.target sm_999\n.address_size 64\n"));
    WANT(CUDA_ERROR_INVALID_PTX, cuModuleLoadDataEx(&module,
                                                    ".version 8.0\n.target sm_80\n.address_size 64\n"
                                                    ".visible .entry k()\n{\n .reg .u32 %r;\n add.u32 %r, %r;\n}\n",
                                                    2, options, values));
    TRUE(strstr(log, "ptxas application ptx input, line 7; error"));
    TRUE((size_t)values[1] == strlen(log));
}

int main(void)
{
    CUdevice d;
    CUcontext context, other;
    CUdeviceptr p;
    early();
    without_context();
    by_name();
    OK(cuDeviceGet(&d, 0));
    OK(cuCtxCreate(&context, NULL, 0, d));
    work();
    OK(cuMemAlloc(&p, 4));
    OK(cuCtxDestroy(context));
    OK(cuCtxGetCurrent(&other));
    TRUE(!other);
    WANT(CUDA_ERROR_INVALID_CONTEXT, cuMemFree(p));
    contexts(d);
    OK(cuCtxCreate(&context, NULL, 0, d));
    images();
    OK(cuCtxDestroy(context));
    faults(d);
    return DONE();
}
