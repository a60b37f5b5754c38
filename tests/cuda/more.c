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
    OK(cuGetProcAddress("cuNothing", &function, 13000, 0, &found));
    TRUE(!function && found == CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    OK(cuCtxCreate(&context, NULL, 0, 0));
    code();
    memory();
    OK(cuCtxDestroy(context));
    return DONE();
}
