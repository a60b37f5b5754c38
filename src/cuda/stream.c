/* stream.c - streams, events and host functions: the runtime's; and what a stream waits for or writes in memory. */
#include "cudart/graph.h"

#include "cuda/driver.h"

CUDA_SAME(cuStreamCreate, (void **stream, unsigned flags), mg__cudaStreamCreateWithPriority(stream, flags, 0))
CUDA_SAME(cuStreamCreateWithPriority, (void **stream, unsigned flags, int priority),
          mg__cudaStreamCreateWithPriority(stream, flags, priority))
CUDA_SAME(cuStreamDestroy, (void *stream), mg__cudaStreamDestroy(stream))
CUDA_SAME(cuStreamSynchronize, (void *stream), mg__cudaStreamSynchronize(stream))
CUDA_SAME(cuStreamQuery, (void *stream), mg__cudaStreamQuery(stream))
CUDA_SAME(cuStreamGetFlags, (void *stream, unsigned *flags), mg__cudaStreamGetFlags(stream, flags))
CUDA_SAME(cuStreamGetPriority, (void *stream, int *priority), mg__cudaStreamGetPriority(stream, priority))
CUDA_SAME(cuStreamGetId, (void *stream, unsigned long long *id), mg__cudaStreamGetId(stream, id))
CUDA_SAME(cuStreamGetDevice, (void *stream, int *device), mg__cudaStreamGetDevice(stream, device))
CUDA_SAME(cuStreamWaitEvent, (void *stream, void *event, unsigned flags), mg__cudaStreamWaitEvent(stream, event, flags))
CUDA_SAME(cuStreamAddCallback, (void *stream, void (*callback)(void *, int, void *), void *arg, unsigned flags),
          mg__cudaStreamAddCallback(stream, callback, arg, flags))
CUDA_SAME(cuStreamSetAttribute, (void *stream, int attribute, const void *value),
          mg__cudaStreamSetAttribute(stream, attribute, value))
CUDA_SAME(cuStreamCopyAttributes, (void *to, void *from), mg__cudaStreamCopyAttributes(to, from))

int mg__cuStreamGetCtx(void *stream, void **context)
{
    CUDA_ENTER();
    if (!context)
        return mg__cuda_done(CUDA_ERROR_INVALID_VALUE);
    if (!mg__cudart_stream_ok(stream))
        return mg__cuda_done(CUDA_ERROR_INVALID_HANDLE);
    *context = mg__cudart_context_at(mg__cudart_call.device);
    return mg__cuda_done(0);
}

int mg__cuStreamGetCtx_v2(void *stream, void **context, void **green)
{
    if (green)
        *green = NULL; /* there are none */
    return mg__cuStreamGetCtx(stream, context);
}

/* ---- events ---- */
CUDA_SAME(cuEventCreate, (void **event, unsigned flags), mg__cudaEventCreateWithFlags(event, flags))
CUDA_SAME(cuEventDestroy, (void *event), mg__cudaEventDestroy(event))
CUDA_SAME(cuEventRecord, (void *event, void *stream), mg__cudaEventRecordWithFlags(event, stream, 0))
CUDA_SAME(cuEventRecordWithFlags, (void *event, void *stream, unsigned flags),
          mg__cudaEventRecordWithFlags(event, stream, flags))
CUDA_SAME(cuEventSynchronize, (void *event), mg__cudaEventSynchronize(event))
CUDA_SAME(cuEventQuery, (void *event), mg__cudaEventQuery(event))
CUDA_SAME(cuEventElapsedTime, (float *ms, void *start, void *end), mg__cudaEventElapsedTime(ms, start, end))

/* ---- waits for memory, and writes to it ---- */
enum { WAIT_32 = 1, WRITE_32, WAIT_64 = 4, WRITE_64 };

static int in_stream(void *stream, const struct cu_memop *ops, unsigned count)
{
    return mg__cudart_stream_ok(stream) ? mg__cudart_memops(ops, count) : CUDA_ERROR_INVALID_HANDLE;
}

#define MEMOPS(bits)                                                                                            \
    CUDA_SAME(cuStreamWaitValue##bits, (void *stream, uint64_t address, uint##bits##_t value, unsigned flags),  \
              in_stream(stream, &(struct cu_memop){WAIT_##bits, address, value, flags, 0, 0}, 1))               \
    CUDA_SAME(cuStreamWriteValue##bits, (void *stream, uint64_t address, uint##bits##_t value, unsigned flags), \
              in_stream(stream, &(struct cu_memop){WRITE_##bits, address, value, flags, 0, 0}, 1))
MEMOPS(32)
MEMOPS(64)
CUDA_SAME(cuStreamBatchMemOp, (void *stream, unsigned count, const struct cu_memop *ops, unsigned flags),
          flags ? CUDA_ERROR_INVALID_VALUE : in_stream(stream, ops, count))
