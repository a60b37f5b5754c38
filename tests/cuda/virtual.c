/* virtual.c - virtual memory: one piece at two addresses, a range that grows, and what the calls refuse. */
#include "check.h"

enum { GRANULE = 2 << 20 };

int main(void)
{
    CUdevice d;
    CUcontext context;
    CUdeviceptr va, base;
    CUmemGenericAllocationHandle a, b, again;
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    CUmemAccessDesc access = {{CU_MEM_LOCATION_TYPE_DEVICE, 0}, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    CUmodule module;
    CUfunction saxpy;
    size_t granule = 0, size;
    unsigned long long flags;
    OK(cuInit(0));
    OK(cuDeviceGet(&d, 0));
    OK(cuCtxCreate(&context, NULL, 0, d));
    OK(cuMemGetAllocationGranularity(&granule, &prop, CU_MEM_ALLOC_GRANULARITY_MINIMUM));
    TRUE(granule == GRANULE);
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemCreate(&a, 100, &prop, 0));
    OK(cuMemCreate(&a, GRANULE, &prop, 0));
    OK(cuMemCreate(&b, GRANULE, &prop, 0));
    OK(cuMemAddressReserve(&va, 4 * GRANULE, 0, 0, 0));
    TRUE(va % GRANULE == 0);
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemsetD8(va, 1, 4)); /* nothing is there */
    OK(cuMemMap(va, GRANULE, 0, a, 0));
    OK(cuMemMap(va + GRANULE, GRANULE, 0, b, 0));
    OK(cuMemMap(va + 2 * GRANULE, GRANULE, 0, a, 0)); /* a once more */
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemMap(va, GRANULE, 0, b, 0));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemMap(va + 4 * GRANULE, GRANULE, 0, b, 0));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemSetAccess(va, 4 * GRANULE, &access, 1));
    OK(cuMemSetAccess(va, 3 * GRANULE, &access, 1));
    OK(cuMemGetAccess(&flags, &access.location, va));
    TRUE(flags == CU_MEM_ACCESS_FLAGS_PROT_READWRITE);

    /* y, through one address, and read through the other. */
    CUdeviceptr x = va + GRANULE, y = va, twin = va + 2 * GRANULE;
    float scale = 2, out[256];
    int n = 256;
    void *args[] = {&scale, &x, &y, &n};
    OK(cuModuleLoadData(&module, PTX));
    OK(cuModuleGetFunction(&saxpy, module, "saxpy"));
    OK(cuMemsetD32(x, 0x3f800000, 256));
    OK(cuMemsetD32(twin, 0x40400000, 256)); /* 3 */
    OK(cuLaunchKernel(saxpy, 1, 1, 1, 256, 1, 1, 0, NULL, args, NULL));
    OK(cuMemcpyDtoH(out, twin, sizeof(out)));
    for (int i = 0; i < n; i++)
        TRUE(out[i] == 5);

    OK(cuMemRetainAllocationHandle(&again, (void *)va));
    TRUE(again == a);
    OK(cuMemRelease(again));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemFree(va));
    OK(cuMemGetAddressRange(&base, &size, va + 10));
    TRUE(base == va);
    OK(cuMemRelease(a)); /* its mappings keep it */
    OK(cuMemcpyDtoH(out, va, sizeof(out)));
    TRUE(out[0] == 5);
    OK(cuMemUnmap(va, 3 * GRANULE));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemUnmap(va, GRANULE));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemcpyDtoH(out, va, sizeof(out)));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemRelease(a));
    OK(cuMemRelease(b));
    WANT(CUDA_ERROR_INVALID_VALUE, cuMemAddressFree(va, GRANULE));
    OK(cuMemAddressFree(va, 4 * GRANULE));
    OK(cuCtxDestroy(context));
    return DONE();
}
