/* memop.c - what a stream, or a graph, waits for or writes in memory: a call each, and several in one. */
#include "cudart/graph.h"

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
enum { MOST_OPS = 256 };
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

static bool waits(const struct cu_memop *o)
{
    return o->operation == OP_WAIT_32 || o->operation == OP_WAIT_64;
}

static unsigned size_of(const struct cu_memop *o)
{
    return o->operation >= OP_WAIT_64 ? 8 : 4;
}

static int check(const struct cu_memop *o)
{
    uint64_t left;
    if (o->operation == OP_FLUSH || o->operation == OP_BARRIER) /* memory is in order here */
        return 0;
    if (!waits(o) && o->operation != OP_WRITE_32 && o->operation != OP_WRITE_64)
        return cudaErrorInvalidValue;
    const enum cudart_kind kind = mg__cudart_classify((const void *)(uintptr_t)o->address, &left, NULL);
    const unsigned most = waits(o) ? 3 : WRITE_NO_BARRIER;
    const bool good = o->address % size_of(o) == 0 && kind != CUDART_PAGEABLE && kind != CUDART_WILD &&
                      left >= size_of(o) && (o->flags & ~(unsigned)(waits(o) ? WAIT_FLUSH : 0)) <= most;
    return good ? 0 : cudaErrorInvalidValue;
}

static int run(const struct cu_memop *o)
{
    if (o->operation == OP_FLUSH || o->operation == OP_BARRIER)
        return 0;
    struct memop *op = malloc(sizeof(*op));
    if (!op)
        return cudaErrorMemoryAllocation;
    *op = (struct memop){o->address, size_of(o) == 8 ? o->value : (uint32_t)o->value, size_of(o), o->flags & 3};
    struct mg_device *d = mg__cudart_call.device->device;
    if (!waits(o))
        mg__check_host_told(d->check, mg__cudart_call.stream);
    enum mg_status status = waits(o) ? mg__queue_until(d, mg__cudart_call.order, holds, op)
                                     : mg__queue_call(d, mg__cudart_call.order, write_value, op);
    if (status)
        free(op);
    return mg__cudart_error_of(status);
}

int mg__graph_memops(const struct cu_batch_node *p, struct mg_graph_op *op)
{
    if (!p || p->count > MOST_OPS || (p->count && !p->ops) || p->flags)
        return cudaErrorInvalidValue;
    mg__cudart_call.plans = true;
    int error = 0;
    for (unsigned i = 0; i < p->count && !error; i++)
        error = check(&p->ops[i]);
    mg__cudart_call.plans = false;
    if (error)
        return error;
    struct cu_memop *ops = calloc(p->count + 1, sizeof(*ops));
    if (!ops)
        return cudaErrorMemoryAllocation;
    if (p->count)
        memcpy(ops, p->ops, p->count * sizeof(*ops));
    *op = (struct mg_graph_op){.type = MG_GRAPH_MEMOPS, .memops = {p->context, p->count, ops, 0}};
    return 0;
}

int mg__graph_memops_run(const struct cu_batch_node *p)
{
    int error = 0;
    for (unsigned i = 0; i < p->count && !error; i++) {
        error = check(&p->ops[i]); /* the memory may be gone since */
        if (!error)
            error = run(&p->ops[i]);
    }
    return error;
}

int mg__cudart_memops(const struct cu_memop *ops, unsigned count)
{
    struct mg_capture *capture;
    struct mg_graph_op op;
    if (count > MOST_OPS || (count && !ops))
        return cudaErrorInvalidValue;
    for (unsigned i = 0; i < count; i++)
        if (check(&ops[i]))
            return cudaErrorInvalidValue;
    int error = mg__capture_asked(&capture);
    if (error || !count)
        return error;
    const struct cu_batch_node all = {mg__cudart_context_at(mg__cudart_call.device), count,
                                      (struct cu_memop *)(uintptr_t)ops, 0};
    if (!capture)
        return mg__graph_memops_run(&all);
    error = mg__graph_memops(&all, &op);
    return error ? error : mg__capture_add(capture, &op);
}
