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
enum {
    WAIT_FLUSH = 1 << 30,
    WRITE_NO_BARRIER = 1,
    OP_WAIT_32 = 1,
    OP_WRITE_32,
    OP_FLUSH,
    OP_WAIT_64,
    OP_WRITE_64,
    OP_BARRIER
};
struct memop {
    uint64_t address, value;
    unsigned bytes, how;
};

static bool holds(void *arg)
{
    const struct memop *op = arg;
    const void *at = (const void *)(uintptr_t)op->address;
    uint64_t is = op->bytes == 8 ? __atomic_load_n((const uint64_t *)at, __ATOMIC_ACQUIRE)
                                 : __atomic_load_n((const uint32_t *)at, __ATOMIC_ACQUIRE);
    switch (op->how) {
    case 0: /* the difference is not negative */
        return op->bytes == 8 ? (int64_t)(is - op->value) >= 0 : (int32_t)((uint32_t)is - (uint32_t)op->value) >= 0;
    case 1:
        return is == op->value;
    case 2:
        return (is & op->value) != 0;
    default:
        return (uint32_t) ~(is | op->value) != 0 || (op->bytes == 8 && ~(is | op->value) != 0);
    }
}

static void write_value(void *arg)
{
    struct memop *op = arg;
    void *at = (void *)(uintptr_t)op->address;
    if (op->bytes == 8)
        __atomic_store_n((uint64_t *)at, op->value, __ATOMIC_RELEASE);
    else
        __atomic_store_n((uint32_t *)at, (uint32_t)op->value, __ATOMIC_RELEASE);
    free(op);
}

/* For the stream of the call. */
static int memop(uint64_t address, uint64_t value, unsigned bytes, unsigned flags, bool waits)
{
    uint64_t left;
    const void *at = (const void *)(uintptr_t)address;
    enum cudart_kind kind = mg__cudart_classify(at, &left, NULL);
    unsigned most = waits ? 3 : WRITE_NO_BARRIER;
    if (address % bytes || kind == CUDART_PAGEABLE || kind == CUDART_WILD || left < bytes ||
        (flags & ~(unsigned)(waits ? WAIT_FLUSH : 0)) > most)
        return CUDA_ERROR_INVALID_VALUE;
    int error = mg__capture_refused("a wait for memory in a captured stream");
    if (error)
        return error;
    struct memop *op = malloc(sizeof(*op));
    if (!op)
        return CUDA_ERROR_OUT_OF_MEMORY;
    *op = (struct memop){address, bytes == 8 ? value : (uint32_t)value, bytes, flags & 3};
    struct mg_device *d = mg__cudart_call.device->device;
    if (!waits)
        mg__check_host_told(d->check, mg__cudart_call.stream);
    enum mg_status status = waits ? mg__queue_until(d, mg__cudart_call.order, holds, op)
                                  : mg__queue_call(d, mg__cudart_call.order, write_value, op);
    if (status)
        free(op);
    return mg__cudart_error_of(status);
}

static int in_stream(void *stream, uint64_t address, uint64_t value, unsigned bytes, unsigned flags, bool waits)
{
    return mg__cudart_stream_ok(stream) ? memop(address, value, bytes, flags, waits) : CUDA_ERROR_INVALID_HANDLE;
}

#define MEMOPS(bits)                                                                                            \
    CUDA_SAME(cuStreamWaitValue##bits, (void *stream, uint64_t address, uint##bits##_t value, unsigned flags),  \
              in_stream(stream, address, value, bits / 8, flags, true))                                         \
    CUDA_SAME(cuStreamWriteValue##bits, (void *stream, uint64_t address, uint##bits##_t value, unsigned flags), \
              in_stream(stream, address, value, bits / 8, flags, false))
MEMOPS(32)
MEMOPS(64)

static int batch(void *stream, unsigned count, const struct cu_memop *ops, unsigned flags)
{
    int error = (count && !ops) || count > 256 || flags ? CUDA_ERROR_INVALID_VALUE : 0;
    if (!error && !mg__cudart_stream_ok(stream))
        error = CUDA_ERROR_INVALID_HANDLE;
    for (unsigned i = 0; i < count && !error; i++) {
        const struct cu_memop *op = &ops[i];
        bool waits = op->operation == OP_WAIT_32 || op->operation == OP_WAIT_64;
        if (waits || op->operation == OP_WRITE_32 || op->operation == OP_WRITE_64)
            error = memop(op->address, op->value, op->operation >= OP_WAIT_64 ? 8 : 4, op->flags, waits);
        else if (op->operation != OP_FLUSH && op->operation != OP_BARRIER) /* memory is in order here */
            error = CUDA_ERROR_INVALID_VALUE;
    }
    return error;
}
CUDA_SAME(cuStreamBatchMemOp, (void *stream, unsigned count, const struct cu_memop *ops, unsigned flags),
          batch(stream, count, ops, flags))
