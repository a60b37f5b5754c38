/* more.c - libraries, linking, waits for memory, boxes and functions by name. What calls refuse is what an H200's
 * driver (580.159) refuses.
 */
#include "check.h"

static void code(void)
{
    CUlibrary library;
    CUkernel kernel;
    CUmodule module;
    CUlinkState link;
    CUfunction function;
    void *image;
    size_t size;
    unsigned count = 0;
    OK(cuLibraryLoadData(&library, "hello", NULL, NULL, 0, NULL, NULL, 0)); /* looked at when it is used */
    OK(cuLibraryUnload(library));
    OK(cuLibraryLoadData(&library, PTX, NULL, NULL, 0, NULL, NULL, 0));
    OK(cuLibraryGetKernel(&kernel, library, "good"));
    WANT(CUDA_ERROR_NOT_FOUND, cuLibraryGetKernel(&kernel, library, "x"));
    OK(cuLibraryGetKernelCount(&count, library));
    TRUE(count == 3);
    OK(cuLaunchKernel((CUfunction)kernel, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
    OK(cuLibraryUnload(library));

    OK(cuLinkCreate(0, NULL, NULL, &link));
    OK(cuLinkAddData(link, CU_JIT_INPUT_PTX, PTX, sizeof(PTX), "a", 0, NULL, NULL));
    OK(cuLinkComplete(link, &image, &size));
    WANT(CUDA_ERROR_INVALID_HANDLE, cuLinkComplete(link, &image, &size));
    OK(cuModuleLoadData(&module, image));
    OK(cuModuleGetFunction(&function, module, "good"));
    OK(cuLinkDestroy(link));
    OK(cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
    OK(cuModuleUnload(module));
}

static void memory(void)
{
    CUstream stream;
    CUdeviceptr p;
    unsigned words[64];
    unsigned char bytes[16 * 4];
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuMemAlloc(&p, sizeof(words)));
    OK(cuMemsetD8(p, 0, sizeof(words)));
    OK(cuStreamWriteValue32(stream, p, 5, 0));
    OK(cuStreamWaitValue32(stream, p, 5, CU_STREAM_WAIT_VALUE_EQ));
    OK(cuStreamWaitValue32(stream, p + 4, 7, CU_STREAM_WAIT_VALUE_EQ)); /* not yet */
    OK(cuStreamWriteValue32(stream, p + 8, 9, 0));                      /* behind it */
    WANT(CUDA_ERROR_NOT_READY, cuStreamQuery(stream));
    OK(cuMemsetD32(p + 4, 7, 1));
    OK(cuStreamSynchronize(stream));
    OK(cuMemcpyDtoH(words, p, sizeof(words)));
    TRUE(words[0] == 5 && words[1] == 7 && words[2] == 9 && words[3] == 0);
    WANT(CUDA_ERROR_INVALID_VALUE, cuStreamWaitValue32(stream, p + 2, 5, 0));

    OK(cuMemsetD2D16(p, 16, 0x0102, 4, 8)); /* 8 bytes of each 16 */
    CUDA_MEMCPY2D box = {.srcMemoryType = CU_MEMORYTYPE_DEVICE,
                         .srcDevice = p,
                         .srcPitch = 16,
                         .srcXInBytes = 4,
                         .dstMemoryType = CU_MEMORYTYPE_HOST,
                         .dstHost = bytes,
                         .dstPitch = 8,
                         .WidthInBytes = 8,
                         .Height = 4};
    OK(cuMemcpy2D(&box));
    TRUE(bytes[0] == 2 && bytes[1] == 1 && bytes[3] == 1 && bytes[24] == 2);
    box.srcPitch = 8;
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemcpy2D(&box));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemsetD32(p + 2, 1, 1));
    OK(cuStreamDestroy(stream));
    OK(cuMemFree(p));
}

#if CUDA_VERSION >= 13000 /* whose call has no place for the number of the copy that failed */
static void batches(void)
{
    enum { COPIES = 5 };
    CUstream stream;
    CUdeviceptr p, to[COPIES], from[COPIES];
    unsigned host[64], back[64];
    size_t sizes[COPIES], first[] = {0, 3}, second[] = {0, 0}, third[] = {1, 2};
    CUmemcpyAttributes how[2] = {{.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_STREAM},
                                 {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL}};
    OK(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING));
    OK(cuMemAlloc(&p, 2 * sizeof(host)));
    for (unsigned i = 0; i < 64; i++)
        host[i] = i * 7;
    for (size_t i = 0; i < COPIES; i++) { /* of different sizes, into the device and within it */
        from[i] = (CUdeviceptr)(uintptr_t)(host + i * 8);
        to[i] = p + (COPIES - 1 - i) * 32;
        sizes[i] = 4 + i * 4;
    }
    OK(cuMemsetD8(p, 0xff, 2 * sizeof(host)));
    OK(cuMemcpyBatchAsync(to, from, sizes, COPIES, how, first, 2, stream));
    memset(host, 0, sizeof(host)); /* the second kind has been read by now, and pageable memory always */
    OK(cuStreamSynchronize(stream));
    OK(cuMemcpyDtoH(back, p, sizeof(back)));
    for (unsigned i = 0; i < COPIES; i++)
        for (unsigned k = 0; k < 8; k++)
            TRUE(back[(COPIES - 1 - i) * 8 + k] == (k <= i ? (i * 8 + k) * 7 : 0xffffffffu));
    /* In the order of the stream: behind what is there, before what comes. */
    OK(cuMemsetD32Async(p, 11, 8, stream));
    to[0] = p + sizeof(host);
    from[0] = p;
    sizes[0] = 32;
    OK(cuMemcpyBatchAsync(to, from, sizes, 1, how, first, 1, stream));
    OK(cuMemsetD32Async(p, 12, 8, stream));
    OK(cuMemcpyDtoHAsync(back, p + sizeof(host), 32, stream));
    OK(cuStreamSynchronize(stream));
    TRUE(back[0] == 11 && back[7] == 11);

    WANT(CUDA_ERROR_INVALID_VALUE, cuMemcpyBatchAsync(to, from, sizes, 1, how, first, 1, NULL));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemcpyBatchAsync(to, from, sizes, 0, how, first, 1, stream));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemcpyBatchAsync(to, from, sizes, 1, how, first, 2, stream));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemcpyBatchAsync(to, from, sizes, 3, how, first, 2, stream));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemcpyBatchAsync(to, from, sizes, 5, how, second, 2, stream));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemcpyBatchAsync(to, from, sizes, 5, how, third, 2, stream));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemcpyBatchAsync(to, from, sizes, 5, NULL, first, 1, stream));
    how[0].srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_INVALID;
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemcpyBatchAsync(to, from, sizes, 1, how, first, 1, stream));
    OK(cuMemFree(p));
    OK(cuStreamDestroy(stream));
}

static void no_log(void *arg, CUlogLevel level, char *message, size_t length)
{
    (void)arg, (void)level, (void)message, (void)length;
    failures++;
}

static void logs(void)
{
    CUlogsCallbackHandle handle = NULL;
    CUlogIterator at = 9;
    char text[100] = "x";
    size_t size = sizeof(text);
    OK(cuLogsRegisterCallback(no_log, NULL, &handle));
    TRUE(handle);
    OK(cuLogsCurrent(&at, 0));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemFree(12345));
    OK(cuLogsDumpToMemory(&at, text, &size, 0));
    TRUE(size == 0 && text[0] == 0);
    WANT(CUDA_ERROR_INVALID_VALUE, cuLogsDumpToMemory(&at, text, NULL, 0));
    WANT(CUDA_ERROR_INVALID_VALUE, cuLogsDumpToFile(&at, "/no/such/folder/log", 0));
    OK(cuLogsUnregisterCallback(handle));
}
#else
static void batches(void)
{
}
static void logs(void)
{
}
#endif

int main(void)
{
    CUcontext context;
    CUdriverProcAddressQueryResult found;
    void *function;
    OK(cuInit(0));
    OK(cuGetProcAddress("cuMemAlloc", &function, 13000, 0, &found));
    TRUE(function && found == CU_GET_PROC_ADDRESS_SUCCESS);
    OK(cuGetProcAddress("cuMemAllocAsync", &function, 11010, 0, &found));
    TRUE(!function && found == CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
    OK(cuGetProcAddress("cuFuncSetAttribute", &function, 2000, 0, NULL)); /* younger than that: no error, and nothing */
    TRUE(!function);
    OK(cuGetProcAddress("cuNothing", &function, 13000, 0, &found));
    TRUE(!function && found == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    OK(cuCtxCreate(&context, NULL, 0, 0));
    code();
    memory();
    batches();
    logs();
    OK(cuCtxDestroy(context));
    return DONE();
}
