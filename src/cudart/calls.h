/* calls.h - functions of the runtime that say the same in the driver, which calls them (src/cuda). */
#ifndef MG_CUDART_CALLS_H
#define MG_CUDART_CALLS_H
#include "cudart/abi.h"

struct cudart_pool;
/* devices */
int mg__cudaDeviceGetByPCIBusId(int *device, const char *id);
int mg__cudaDeviceGetPCIBusId(char *out, int length, int device);
int mg__cudaDeviceCanAccessPeer(int *can, int device, int peer);
int mg__cudaDeviceGetP2PAttribute(int *value, int number, int src, int dst);
int mg__cudaDeviceGetStreamPriorityRange(int *least, int *greatest);
int mg__cudaDeviceSetLimit(int limit, size_t value);
int mg__cudaDeviceGetLimit(size_t *value, int limit);
int mg__cudaDeviceSetCacheConfig(int config);
int mg__cudaDeviceGetCacheConfig(int *config);
int mg__cudaDeviceSetSharedMemConfig(int config);
int mg__cudaDeviceGetSharedMemConfig(int *config);
int mg__cudaDeviceSynchronize(void);
/* memory */
int mg__cudaFree(void *pointer);
int mg__cudaMallocManaged(void **pointer, size_t size, unsigned flags);
int mg__cudaMemGetInfo(size_t *free_bytes, size_t *total);
int mg__cudaHostAlloc(void **pointer, size_t size, unsigned flags);
int mg__cudaFreeHost(void *pointer);
int mg__cudaHostRegister(void *pointer, size_t size, unsigned flags);
int mg__cudaHostUnregister(void *pointer);
int mg__cudaHostGetDevicePointer(void **device, void *host, unsigned flags);
int mg__cudaHostGetFlags(unsigned *flags, void *host);
int mg__cudaMemPrefetchAsync(const void *pointer, size_t count, struct cu_location to, unsigned flags, void *stream);
int mg__cudaMemPrefetchAsync_12(const void *pointer, size_t count, int device, void *stream);
int mg__cudaMemAdvise(const void *pointer, size_t count, int advice, struct cu_location where);
int mg__cudaMemAdvise_12(const void *pointer, size_t count, int advice, int device);
int mg__cudaMallocAsync(void **pointer, size_t size, void *stream);
int mg__cudaMallocFromPoolAsync(void **pointer, size_t size, struct cudart_pool *pool, void *stream);
int mg__cudaFreeAsync(void *pointer, void *stream);
int mg__cudaDeviceGetDefaultMemPool(struct cudart_pool **pool, int device);
int mg__cudaDeviceGetMemPool(struct cudart_pool **pool, int device);
int mg__cudaDeviceSetMemPool(int number, struct cudart_pool *pool);
int mg__cudaMemPoolCreate(struct cudart_pool **pool, const struct cu_pool_properties *properties);
int mg__cudaMemPoolDestroy(struct cudart_pool *pool);
int mg__cudaMemPoolSetAttribute(struct cudart_pool *pool, int attribute, void *value);
int mg__cudaMemPoolGetAttribute(struct cudart_pool *pool, int attribute, void *value);
int mg__cudaMemPoolTrimTo(struct cudart_pool *pool, size_t keep);
int mg__cudaMemPoolSetAccess(struct cudart_pool *pool, const struct cu_access_desc *list, size_t count);
int mg__cudaMemPoolGetAccess(int *flags, struct cudart_pool *pool, struct cu_location *location);
/* streams and events */
int mg__cudaStreamCreateWithPriority(void **stream, unsigned flags, int priority);
int mg__cudaStreamDestroy(void *stream);
int mg__cudaStreamSynchronize(void *stream);
int mg__cudaStreamQuery(void *stream);
int mg__cudaStreamGetFlags(void *stream, unsigned *flags);
int mg__cudaStreamGetPriority(void *stream, int *priority);
int mg__cudaStreamGetId(void *stream, unsigned long long *id);
int mg__cudaStreamGetDevice(void *stream, int *number);
int mg__cudaStreamWaitEvent(void *stream, void *event, unsigned flags);
int mg__cudaStreamAddCallback(void *stream, void (*callback)(void *, int, void *), void *arg, unsigned flags);
int mg__cudaStreamIsCapturing(void *stream, int *status);
int mg__cudaStreamSetAttribute(void *stream, int attribute, const void *value);
int mg__cudaStreamCopyAttributes(void *dst, void *src);
int mg__cudaStreamAttachMemAsync(void *stream, void *pointer, size_t length, unsigned flags);
int mg__cudaThreadExchangeStreamCaptureMode(int *mode);
int mg__cudaLaunchHostFunc(void *stream, void (*function)(void *), void *arg);
int mg__cudaEventCreateWithFlags(void **event, unsigned flags);
int mg__cudaEventDestroy(void *event);
int mg__cudaEventRecordWithFlags(void *event, void *stream, unsigned flags);
int mg__cudaEventSynchronize(void *event);
int mg__cudaEventQuery(void *event);
int mg__cudaEventElapsedTime(float *ms, void *start, void *end);
/* kernels */
int mg__cudaFuncGetAttributes(struct cu_func_attributes *out, const void *handle);
int mg__cudaFuncSetAttribute(const void *kernel, int number, int value);
int mg__cudaKernelSetAttributeForDevice(const void *kernel, int number, int value, int device);
int mg__cudaFuncSetCacheConfig(const void *kernel, int config);
int mg__cudaFuncSetSharedMemConfig(const void *kernel, int config);
int mg__cudaFuncGetName(const char **name, const void *handle);
int mg__cudaFuncGetParamInfo(const void *handle, size_t index, size_t *offset, size_t *size);
int mg__cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *handle, int threads,
                                                               size_t dynamic, unsigned flags);
int mg__cudaOccupancyAvailableDynamicSMemPerBlock(size_t *out, const void *handle, int blocks, int threads);
int mg__cudaOccupancyMaxActiveClusters(int *clusters, const void *handle, const struct cu_launch_config *config);
int mg__cudaOccupancyMaxPotentialClusterSize(int *size, const void *handle, const struct cu_launch_config *config);
/* tensor maps: the driver's own functions */
struct mg_tensormap;
int mg__cuTensorMapEncodeTiled(struct mg_tensormap *out, int type, uint32_t rank, void *address, const uint64_t *dims,
                               const uint64_t *strides, const uint32_t *box, const uint32_t *steps, int interleave,
                               int swizzle, int l2, int nan);
int mg__cuTensorMapEncodeIm2col(struct mg_tensormap *out, int type, uint32_t rank, void *address, const uint64_t *dims,
                                const uint64_t *strides, const int *lower, const int *upper, uint32_t channels,
                                uint32_t pixels, const uint32_t *steps, int interleave, int swizzle, int l2, int nan);
#endif
