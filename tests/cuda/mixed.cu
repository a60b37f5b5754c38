// mixed.cu - one program over both APIs: the primary context, memory, streams, events, kernels and errors of the one are
// the other's, whether the runtime is linked statically or not.
// RUN: -ldl -arch=sm_90
// EXPECT: PASS
// STDERR: null pointer: access of 4 bytes at 0x10
#include <cuda.h>
#include <cuda_runtime.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static int failures;
#define WANT(want, call)                                                              \
    do {                                                                              \
        int got_ = (int)(call);                                                       \
        if (got_ != (int)(want)) {                                                    \
            printf("%d: %s is %d, not %d\n", __LINE__, #call, got_, (int)(want));     \
            failures++;                                                               \
        }                                                                             \
    } while (0)
#define OK(call) WANT(0, call)
#define TRUE(x) WANT(1, !!(x))

__device__ int counter;
__global__ void add(int *p, int n)
{
    atomicAdd(p + threadIdx.x % 4, n);
    atomicAdd(&counter, 1);
}
__global__ void fault(int *p)
{
    *p = 1;
}

#if CUDART_VERSION >= 12080
// Code that the runtime loads itself: the driver's libraries, by other names.
static void libraries()
{
    static const char ptx[] = ".version 7.8\n.target sm_80\n.address_size 64\n.visible .global .u32 word = 40;\n"
                              ".visible .entry put(.param .u64 to, .param .u32 n)\n{\n.reg .b64 %d;\n.reg .b32 %r;\n"
                              "ld.param.u64 %d, [to];\nld.param.u32 %r, [n];\nst.global.u32 [%d], %r;\nret;\n}\n"
                              ".visible .entry other()\n{\nret;\n}\n";
    cudaLibrary_t library;
    cudaKernel_t kernel, kernels[4] = {};
    unsigned count = 0, n = 42, out = 0;
    unsigned *to;
    void *word;
    size_t size;
    OK(cudaLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0));
    OK(cudaLibraryGetKernel(&kernel, library, "put"));
    WANT(cudaErrorSymbolNotFound, cudaLibraryGetKernel(&kernel, library, "nothing"));
    WANT(cudaErrorSymbolNotFound, cudaGetLastError());
    OK(cudaLibraryGetKernelCount(&count, library));
    TRUE(count == 2);
    OK(cudaLibraryEnumerateKernels(kernels, 4, library));
    TRUE(kernels[0] && kernels[1] && !kernels[2]);
    OK(cudaMalloc(&to, 4));
    void *args[] = {&to, &n};
    OK(cudaLaunchKernel((void *)kernel, 1, 32, args, 0, 0));
    OK(cudaMemcpy(&out, to, 4, cudaMemcpyDeviceToHost));
    TRUE(out == 42);
    OK(cudaLibraryGetGlobal(&word, &size, library, "word"));
    TRUE(size == 4);
    OK(cudaMemcpy(&out, word, 4, cudaMemcpyDeviceToHost));
    TRUE(out == 40);
    OK(cudaFree(to));
    OK(cudaLibraryUnload(library));
    WANT(cudaErrorInvalidResourceHandle, cudaLibraryUnload(library));
    WANT(cudaErrorInvalidResourceHandle, cudaLibraryGetKernel(&kernel, library, "put"));
    // What is wrong with code is told when it is used for the first time, as with lazy loading.
    OK(cudaLibraryLoadData(&library, ".version 7.8\n.target sm_80\n.address_size 64\nx\n", NULL, NULL, 0, NULL, NULL, 0));
    WANT(cudaErrorInvalidPtx, cudaLibraryGetKernel(&kernel, library, "put"));
    OK(cudaLibraryUnload(library));
    WANT(cudaErrorFileNotFound, cudaLibraryLoadFromFile(&library, "/no/such/file", NULL, NULL, 0, NULL, NULL, 0));
    (void)cudaGetLastError();
}
#else
static void libraries()
{
}
#endif

int main()
{
    // Names as they are exported: cuda.h has macros for those with versions.
    auto get_current = (CUresult(*)(CUcontext *))dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuCtxGetCurrent");
    auto retain = (CUresult(*)(CUcontext *, CUdevice))dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuDevicePrimaryCtxRetain");
    if (!get_current || !retain)
        return printf("no driver\n"), 1;
    void *p;
    cudaDriverEntryPointQueryResult found;
    OK(cudaGetDriverEntryPointByVersion("cuNothing", &p, 13000, cudaEnableDefault, &found));
    WANT(cudaDriverEntryPointSymbolNotFound, found);
    auto driver = [](const char *name) {
        void *f = NULL;
        cudaDriverEntryPointQueryResult found;
        OK(cudaGetDriverEntryPointByVersion(name, &f, 13000, cudaEnableDefault, &found));
        return f;
    };
    auto set = (CUresult(*)(CUdeviceptr, unsigned, size_t))driver("cuMemsetD32");
    auto copy = (CUresult(*)(void *, CUdeviceptr, size_t))driver("cuMemcpyDtoH");
    auto alloc = (CUresult(*)(CUdeviceptr *, size_t))driver("cuMemAlloc");
    auto range = (CUresult(*)(CUdeviceptr *, size_t *, CUdeviceptr))driver("cuMemGetAddressRange");
    auto launch = (CUresult(*)(CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream, void **,
                               void **))driver("cuLaunchKernel");
    auto query = (CUresult(*)(CUstream))driver("cuStreamQuery");
    auto wait = (CUresult(*)(CUevent))driver("cuEventSynchronize");
    auto synchronize = (CUresult(*)(void))((CUresult(*)(void))dlsym(dlopen("libcuda.so.1", RTLD_NOW), "cuCtxSynchronize"));
    auto name_of = (CUresult(*)(const char **, CUfunction))driver("cuFuncGetName");

    CUcontext current, primary;
    OK(cudaFree(0));
    OK(get_current(&current));
    OK(retain(&primary, 0));
    TRUE(current && current == primary);

    int *a;
    CUdeviceptr b, base;
    size_t size;
    OK(cudaMalloc(&a, 64));
    OK(set((CUdeviceptr)a, 5, 16)); // the runtime's memory, set by the driver
    OK(alloc(&b, 256));
    OK(cudaMemcpy((void *)b, a, 64, cudaMemcpyDeviceToDevice));
    OK(range(&base, &size, (CUdeviceptr)a + 8));
    TRUE(base == (CUdeviceptr)a && size == 64);
    cudaPointerAttributes attributes;
    OK(cudaPointerGetAttributes(&attributes, (void *)b));
    TRUE(attributes.type == cudaMemoryTypeDevice);

    cudaStream_t stream;
    cudaEvent_t event;
    cudaFunction_t kernel; // the runtime's kernel, launched by the driver into the runtime's stream
    const char *name = "";
    int n = 2, out[4], count = 0;
    OK(cudaStreamCreate(&stream));
    OK(cudaEventCreate(&event));
    OK(cudaGetFuncBySymbol(&kernel, (void *)add));
    OK(name_of(&name, (CUfunction)kernel));
    TRUE(name[0] == '_');
    void *args[] = {&b, &n};
    OK(launch((CUfunction)kernel, 1, 1, 1, 32, 1, 1, 0, stream, args, NULL));
    add<<<1, 32, 0, stream>>>((int *)b, 1);
    OK(cudaEventRecord(event, stream));
    OK(wait(event));
    OK(query(stream));
    OK(copy(out, b, sizeof(out)));
    TRUE(out[0] == 5 + 8 * 3 && out[3] == 5 + 8 * 3);
    OK(cudaMemcpyFromSymbol(&count, counter, sizeof(count)));
    TRUE(count == 64);
    OK(cudaFree((void *)b));

    libraries();

    fault<<<1, 1>>>((int *)16);
    WANT(CUDA_ERROR_ILLEGAL_ADDRESS, synchronize());
    WANT(cudaErrorIllegalAddress, cudaDeviceSynchronize());
    WANT(CUDA_ERROR_ILLEGAL_ADDRESS, alloc(&b, 4));
    puts(failures ? "FAIL" : "PASS");
    return failures != 0;
}
