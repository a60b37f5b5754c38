/* graph_op.c - what nodes do: made of a call's arguments, which are checked and kept by value, and done in a stream. */
#include "cudart/graph.h"

#include <assert.h>

/* ---- kernels ---- */
/* One pointer a parameter, and behind them the values, all in one piece of memory. */
static int keep_args(const struct mg_device_kernel *kernel, void *const *args, void ***kept)
{
    const struct mg_ptx_func *f = kernel->info.func;
    size_t head = (f->nparams + 2) / 2 * 2 * sizeof(void *); /* values are aligned */
    char *memory = calloc(1, head + kernel->info.param_size);
    if (!memory)
        return cudaErrorMemoryAllocation;
    *kept = (void **)memory;
    for (size_t i = 0; i < f->nparams; i++) {
        (*kept)[i] = memory + head + f->params[i]->offset;
        memcpy((*kept)[i], args[i], f->params[i]->size);
    }
    return 0;
}

/* What no launch of the kernel can have. */
static bool can_launch(const struct mg_device_kernel *kernel, const struct cudart_request *r)
{
    uint64_t threads = (uint64_t)r->block.x * r->block.y * r->block.z;
    return r->grid.x && r->grid.y && r->grid.z && threads && r->block.x <= 1024 && r->block.y <= 1024 &&
           r->block.z <= 64 && threads <= kernel->info.max_threads && r->shared <= mg__device_room(kernel);
}

int mg__graph_kernel(const void *function, const struct cudart_request *request, struct mg_graph_op *op)
{
    struct mg_device_kernel *kernel;
    if (!function)
        return cudaErrorInvalidValue;
    int error = mg__cudart_func_find(function, mg__cudart_here(), &kernel);
    if (error)
        return error;
    if (!can_launch(kernel, request) || (kernel->info.func->nparams && !request->args))
        return cudaErrorInvalidValue;
    memset(op, 0, sizeof(*op));
    op->type = MG_GRAPH_KERNEL;
    op->kernel.function = function;
    op->kernel.request = *request;
    op->kernel.request.stream = NULL;
    return keep_args(kernel, request->args, &op->kernel.request.args);
}

static int copy_kernel(const struct mg_graph_op *from, struct mg_graph_op *to)
{
    const struct mg_graph_kernel *k = &from->kernel;
    int error = mg__graph_kernel(k->function, &k->request, to);
    for (size_t i = 0; i < k->attributes.count && !error; i++)
        if (!mg__vec_push(&to->kernel.attributes, k->attributes.at[i]))
            error = cudaErrorMemoryAllocation;
    return error;
}

/* ---- copies and fills ---- */
struct cu_memcpy_3d mg__graph_line(void *to, const void *from, size_t count, int kind)
{
    return (struct cu_memcpy_3d){.src = {(void *)(uintptr_t)from, count, count, 1},
                                 .dst = {to, count, count, 1},
                                 .extent = {count, 1, 1},
                                 .kind = kind};
}

int mg__graph_copy_op(const struct cu_memcpy_3d *copy, struct mg_graph_op *op)
{
    const struct cu_extent *n = copy ? &copy->extent : NULL;
    if (!n || !n->width || !n->height || !n->depth)
        return cudaErrorInvalidValue;
    *op = (struct mg_graph_op){.type = MG_GRAPH_COPY, .copy = *copy};
    mg__cudart_call.plans = true;
    int error = mg__cudart_copy_3d_ok(copy);
    mg__cudart_call.plans = false;
    return error;
}

static struct cudart_box box_of(const struct mg_graph_fill *f)
{
    return (struct cudart_box){f->to, f->pitch, f->slice};
}

static struct cu_extent extent_of(const struct mg_graph_fill *f)
{
    return (struct cu_extent){f->width * f->unit, f->height, f->depth};
}

int mg__graph_fill_op(const struct mg_graph_fill *f, struct mg_graph_op *op)
{
    size_t bytes;
    bool unit = f->unit == 1 || f->unit == 2 || f->unit == 4;
    if (!unit || !f->width || !f->height || __builtin_mul_overflow(f->width, f->unit, &bytes) ||
        (uintptr_t)f->to % f->unit || (f->height > 1 && (f->pitch < bytes || f->pitch % f->unit)))
        return cudaErrorInvalidValue;
    *op = (struct mg_graph_op){.type = MG_GRAPH_FILL, .fill = *f};
    mg__cudart_call.plans = true;
    int error = mg__cudart_fill_ok(box_of(f), extent_of(f));
    mg__cudart_call.plans = false;
    return error;
}

/* ---- the others ---- */
int mg__graph_host(void (*call)(void *), void *arg, struct mg_graph_op *op)
{
    if (!call)
        return cudaErrorInvalidValue;
    *op = (struct mg_graph_op){.type = MG_GRAPH_HOST, .host = {call, arg}};
    return 0;
}

int mg__graph_event(enum mg_graph_type type, void *event, struct mg_graph_op *op)
{
    if (!mg__cudart_event_known(event))
        return cudaErrorInvalidResourceHandle;
    *op = (struct mg_graph_op){.type = type, .event = event};
    return 0;
}

int mg__graph_child(const struct mg_graph *child, struct mg_graph_op *op)
{
    *op = (struct mg_graph_op){.type = MG_GRAPH_CHILD, .child = mg__graph_copy(child)};
    return op->child ? 0 : cudaErrorMemoryAllocation;
}

int mg__graph_op_copy(const struct mg_graph_op *from, struct mg_graph_op *to)
{
    switch (from->type) {
    case MG_GRAPH_KERNEL:
        return copy_kernel(from, to);
    case MG_GRAPH_CHILD:
        return mg__graph_child(from->child, to);
    case MG_GRAPH_MEMOPS:
        return mg__graph_memops(&from->memops, to);
    case MG_GRAPH_CONDITIONAL:
        return mg__graph_conditional_copy(from, to);
    case MG_GRAPH_ALLOC:
    case MG_GRAPH_UNALLOC:
        mg__graph_memory_keep(from->memory);
        *to = *from;
        return 0;
    default:
        *to = *from;
        return 0;
    }
}

struct mg_graph *mg__graph_part(const struct mg_graph_op *op, size_t i)
{
    if (op->type == MG_GRAPH_CHILD)
        return i ? NULL : op->child;
    return op->type == MG_GRAPH_CONDITIONAL && i < op->condition.size ? op->condition.bodies[i] : NULL;
}

void mg__graph_op_free(struct mg_graph_op *op)
{
    if (op->type == MG_GRAPH_KERNEL) {
        free(op->kernel.request.args);
        mg__vec_free(&op->kernel.attributes);
    }
    if (op->type == MG_GRAPH_CHILD)
        mg__graph_free(op->child);
    if (op->type == MG_GRAPH_ALLOC || op->type == MG_GRAPH_UNALLOC)
        mg__graph_memory_release(op->memory);
    if (op->type == MG_GRAPH_MEMOPS)
        free(op->memops.ops);
    if (op->type == MG_GRAPH_CONDITIONAL)
        mg__graph_conditional_free(&op->condition);
    *op = (struct mg_graph_op){.type = MG_GRAPH_EMPTY};
}

int mg__graph_op_run(const struct mg_graph_op *op)
{
    switch (op->type) {
    case MG_GRAPH_KERNEL:
        return mg__cudart_launch_now(op->kernel.function, &op->kernel.request);
    case MG_GRAPH_COPY:
        return mg__cudart_copy_3d(&op->copy);
    case MG_GRAPH_FILL:
        return mg__cudart_fill(box_of(&op->fill), op->fill.value, op->fill.unit, extent_of(&op->fill));
    case MG_GRAPH_HOST:
        return mg__cudart_host_function(op->host.call, op->host.arg);
    case MG_GRAPH_WAIT_EVENT:
        return mg__cudart_event_wait(op->event);
    case MG_GRAPH_RECORD_EVENT:
        return mg__cudart_event_record(op->event);
    case MG_GRAPH_ALLOC:
        return mg__graph_memory_alloc(op->memory);
    case MG_GRAPH_UNALLOC:
        return mg__graph_memory_free(op->memory);
    case MG_GRAPH_MEMOPS:
        return mg__graph_memops_run(&op->memops);
    case MG_GRAPH_EMPTY:
        return 0;
    case MG_GRAPH_CHILD:
    case MG_GRAPH_CONDITIONAL:
        break;
    }
    assert(!"a child is its nodes, and a condition chooses graphs");
    return cudaErrorUnknown;
}
