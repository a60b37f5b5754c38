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
int mg__cudaIpcGetMemHandle(struct cu_ipc *handle, void *pointer);
int mg__cudaIpcOpenMemHandle(void **pointer, struct cu_ipc handle, unsigned flags);
int mg__cudaIpcCloseMemHandle(void *pointer);
int mg__cudaIpcGetEventHandle(struct cu_ipc *handle, void *event);
int mg__cudaIpcOpenEventHandle(void **event, struct cu_ipc handle);
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
int mg__cudaStreamSetAttribute(void *stream, int attribute, const void *value);
int mg__cudaStreamCopyAttributes(void *dst, void *src);
int mg__cudaStreamAttachMemAsync(void *stream, void *pointer, size_t length, unsigned flags);
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
int mg__cudaGetKernel(void **kernel, const void *handle);
int mg__cudaFuncGetName(const char **name, const void *handle);
int mg__cudaFuncGetParamInfo(const void *handle, size_t index, size_t *offset, size_t *size);
int mg__cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, const void *handle, int threads,
                                                               size_t dynamic, unsigned flags);
int mg__cudaOccupancyAvailableDynamicSMemPerBlock(size_t *out, const void *handle, int blocks, int threads);
int mg__cudaOccupancyMaxActiveClusters(int *clusters, const void *handle, const struct cu_launch_config *config);
int mg__cudaOccupancyMaxPotentialClusterSize(int *size, const void *handle, const struct cu_launch_config *config);
/* graphs (MG_PLACE: where a node is to be) and captures */
#define MG_PLACE void **made, void *graph, void **before, size_t n
struct mg_graph;
struct mg_graph_node;
struct mg_graph_update;
int mg__cudaGraphCreate(void **graph, unsigned flags);
int mg__cudaGraphDestroy(void *graph);
int mg__cudaGraphDestroyNode(void *node);
int mg__cudaGraphClone(void **clone, void *graph);
int mg__cudaGraphNodeFindInClone(void **found, void *node, void *clone);
int mg__cudaGraphAddKernelNode(MG_PLACE, const struct cu_kernel_node *p);
int mg__cudaGraphAddMemcpyNode(MG_PLACE, const struct cu_memcpy_3d *p);
int mg__cudaGraphAddMemsetNode(MG_PLACE, const struct cu_memset_node *p);
int mg__cudaGraphAddHostNode(MG_PLACE, const struct cu_host_node *p);
int mg__cudaGraphAddEmptyNode(MG_PLACE);
int mg__cudaGraphAddChildGraphNode(MG_PLACE, void *child);
int mg__cudaGraphAddEventRecordNode(MG_PLACE, void *event);
int mg__cudaGraphAddEventWaitNode(MG_PLACE, void *event);
int mg__cudaGraphAddNode(void **made, void *graph, void **before, const void *edges, size_t n, struct cu_graph_node *p);
int mg__cudaGraphAddMemAllocNode(MG_PLACE, struct cu_alloc_node *p);
int mg__cudaGraphAddMemFreeNode(MG_PLACE, void *pointer);
int mg__cudaGraphMemAllocNodeGetParams(void *node, struct cu_alloc_node *p);
int mg__cudaGraphMemFreeNodeGetParams(void *node, void **pointer);
int mg__cudaDeviceGetGraphMemAttribute(int device, int attribute, void *value);
int mg__cudaDeviceSetGraphMemAttribute(int device, int attribute, void *value);
int mg__cudaDeviceGraphMemTrim(int device);
int mg__cudaGraphConditionalHandleCreate(uint64_t *handle, void *graph, unsigned value, unsigned flags);
int mg__cudaGraphAddBatchMemOpNode(MG_PLACE, const struct cu_batch_node *p);
int mg__cudaGraphBatchMemOpNodeGetParams(void *node, struct cu_batch_node *p);
int mg__cudaGraphBatchMemOpNodeSetParams(void *node, const struct cu_batch_node *p);
int mg__cudaGraphExecBatchMemOpNodeSetParams(void *exec, void *node, const struct cu_batch_node *p);
int mg__cudaGraphKernelNodeSetParams(void *node, const struct cu_kernel_node *p);
int mg__cudaGraphMemcpyNodeSetParams(void *node, const struct cu_memcpy_3d *p);
int mg__cudaGraphMemsetNodeSetParams(void *node, const struct cu_memset_node *p);
int mg__cudaGraphHostNodeSetParams(void *node, const struct cu_host_node *p);
int mg__cudaGraphNodeSetParams(void *node, const struct cu_graph_node *p);
int mg__cudaGraphEventRecordNodeSetEvent(void *node, void *event);
int mg__cudaGraphEventWaitNodeSetEvent(void *node, void *event);
int mg__cudaGraphExecKernelNodeSetParams(void *exec, void *node, const struct cu_kernel_node *p);
int mg__cudaGraphExecMemcpyNodeSetParams(void *exec, void *node, const struct cu_memcpy_3d *p);
int mg__cudaGraphExecMemsetNodeSetParams(void *exec, void *node, const struct cu_memset_node *p);
int mg__cudaGraphExecHostNodeSetParams(void *exec, void *node, const struct cu_host_node *p);
int mg__cudaGraphExecNodeSetParams(void *exec, void *node, const struct cu_graph_node *p);
int mg__cudaGraphExecChildGraphNodeSetParams(void *exec, void *node, void *child);
int mg__cudaGraphExecEventRecordNodeSetEvent(void *exec, void *node, void *event);
int mg__cudaGraphExecEventWaitNodeSetEvent(void *exec, void *node, void *event);
int mg__cudaGraphNodeGetType(void *node, int *type);
int mg__cudaGraphKernelNodeGetParams(void *node, struct cu_kernel_node *p);
int mg__cudaGraphMemcpyNodeGetParams(void *node, struct cu_memcpy_3d *p);
int mg__cudaGraphMemsetNodeGetParams(void *node, struct cu_memset_node *p);
int mg__cudaGraphHostNodeGetParams(void *node, struct cu_host_node *p);
int mg__cudaGraphChildGraphNodeGetGraph(void *node, void **graph);
int mg__cudaGraphEventRecordNodeGetEvent(void *node, void **event);
int mg__cudaGraphEventWaitNodeGetEvent(void *node, void **event);
int mg__cudaGraphKernelNodeSetAttribute(void *node, int id, const void *value);
int mg__cudaGraphKernelNodeGetAttribute(void *node, int id, void *value);
int mg__cudaGraphKernelNodeCopyAttributes(void *to, void *from);
int mg__cudaGraphGetNodes(void *graph, void **nodes, size_t *n);
int mg__cudaGraphGetRootNodes(void *graph, void **nodes, size_t *n);
int mg__cudaGraphGetEdges(void *graph, void **from, void **to, void *edges, size_t *n);
int mg__cudaGraphNodeGetDependencies(void *node, void **nodes, void *edges, size_t *n);
int mg__cudaGraphNodeGetDependentNodes(void *node, void **nodes, void *edges, size_t *n);
int mg__cudaGraphAddDependencies(void *graph, void **from, void **to, const void *edges, size_t n);
int mg__cudaGraphRemoveDependencies(void *graph, void **from, void **to, const void *edges, size_t n);
int mg__cudaGraphDebugDotPrint(void *graph, const char *path, unsigned flags);
int mg__cudaGraphInstantiate(void **exec, void *graph, unsigned long long flags);
int mg__cudaGraphInstantiateWithParams(void **exec, void *graph, struct cu_instantiate *p);
int mg__cudaGraphExecGetFlags(void *exec, unsigned long long *flags);
int mg__cudaGraphExecDestroy(void *exec);
int mg__cudaGraphLaunch(void *exec, void *stream);
int mg__cudaGraphUpload(void *exec, void *stream);
int mg__cudaGraphExecUpdate(void *exec, void *graph, struct mg_graph_update *result);
int mg__cudaGraphNodeSetEnabled(void *exec, void *node, unsigned enabled);
int mg__cudaGraphNodeGetEnabled(void *exec, void *node, unsigned *enabled);
int mg__cudaUserObjectCreate(void **made, void *object, void (*destroy)(void *), unsigned uses, unsigned flags);
int mg__cudaUserObjectRetain(void *object, unsigned count);
int mg__cudaUserObjectRelease(void *object, unsigned count);
int mg__cudaGraphRetainUserObject(void *graph, void *object, unsigned count, unsigned flags);
int mg__cudaGraphReleaseUserObject(void *graph, void *object, unsigned count);
int mg__cudaStreamBeginCapture(void *stream, int mode);
int mg__cudaStreamBeginCaptureToGraph(void *stream, void *graph, void *const *nodes, const void *edges, size_t n,
                                      int mode);
int mg__cudaStreamEndCapture(void *stream, struct mg_graph **graph);
int mg__cudaStreamIsCapturing(void *stream, int *status);
int mg__cudaStreamGetCaptureInfo(void *stream, int *status, unsigned long long *id, struct mg_graph **graph,
                                 struct mg_graph_node *const **nodes, const void **edges, size_t *n);
int mg__cudaStreamUpdateCaptureDependencies(void *stream, void **nodes, const void *edges, size_t n, unsigned flags);
int mg__cudaThreadExchangeStreamCaptureMode(int *mode);
/* tensor maps: the driver's own functions */
struct mg_tensormap;
int mg__cuTensorMapEncodeTiled(struct mg_tensormap *out, int type, uint32_t rank, void *address, const uint64_t *dims,
                               const uint64_t *strides, const uint32_t *box, const uint32_t *steps, int interleave,
                               int swizzle, int l2, int nan);
int mg__cuTensorMapEncodeIm2col(struct mg_tensormap *out, int type, uint32_t rank, void *address, const uint64_t *dims,
                                const uint64_t *strides, const int *lower, const int *upper, uint32_t channels,
                                uint32_t pixels, const uint32_t *steps, int interleave, int swizzle, int l2, int nan);
#endif
