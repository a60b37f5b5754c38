/* stream.c - streams and events: what the API says of them, and the errors of its calls. What they are, and what they
 * order, is the device's (device/queue.h).
 *
 * Handles are checked against those that live, so that a stale one is an error and never a crash. The checks are told
 * in the order of the calls. What a stream is given that is captured goes to capture.c.
 */
#include "cudart/graph.h"
#include "device/timeline.h"

enum { FIRST_ID = 7 /* the default stream's on an H100 */, NON_BLOCKING = 1 };

/* ---- where a call stands ---- */
static bool is_default(const void *stream)
{
    return (uintptr_t)stream <= CU_STREAM_PER_THREAD;
}

/* As the checks know it: both handles of the legacy default stream are 0. */
static uint64_t stream_id(const void *stream)
{
    return (uintptr_t)stream == CU_STREAM_LEGACY ? 0 : (uint64_t)(uintptr_t)stream;
}

/* The thread's own default stream is a blocking one like any other. */
static struct mg_order default_order(const void *stream)
{
    static _Thread_local uint64_t own;
    bool per_thread = (uintptr_t)stream == CU_STREAM_PER_THREAD || (!stream && mg__cudart_call.per_thread);
    if (per_thread && !own && mg__cudart_here()->device)
        own = mg__stream_number(mg__cudart_here()->device);
    return (struct mg_order){per_thread ? own : 0, true, 0};
}

struct cudart_call mg__cudart_call_of(const char *name)
{
    return (struct cudart_call){.name = mg__cudart_driver ? mg__cudart_driver : name,
                                .device = mg__cudart_here(),
                                .per_thread = mg__cudart_per_thread};
}

struct mg_order mg__cudart_order(void)
{
    return mg__cudart_call.async ? mg__cudart_call.order : default_order(NULL);
}

/* The default stream is that of the thread's device. */
static bool look_up(const void *stream, struct mg_stream *out, struct cudart_device **device)
{
    *device = mg__cudart_here();
    *out = (struct mg_stream){.order = default_order(stream)};
    if (is_default(stream))
        return true;
    for (struct cudart_device *d = NULL; (d = mg__cudart_next(d)) != NULL;)
        if (mg__stream_find(d->device, stream, out)) {
            *device = d;
            return true;
        }
    return false;
}

bool mg__cudart_stream_ok(const void *stream)
{
    struct mg_stream s;
    struct cudart_device *device;
    mg__cudart_call.stream = stream_id(stream);
    mg__cudart_call.async = true;
    if (!look_up(stream, &s, &device))
        return false;
    mg__cudart_call.device = device;
    mg__cudart_call.order = s.order;
    return true;
}

/* ---- waiting ---- */
int mg__cudart_waited(struct cudart_device *device, bool may)
{
    int error = atomic_load(&device->poison);
    if (!error)
        error = atomic_exchange(&device->pending, 0);
    return error ? error : may ? 0 : cudaErrorNotPermitted;
}

int mg__cudart_wait(void)
{
    struct cudart_device *device = mg__cudart_call.device;
    return mg__cudart_waited(device, mg__queue_wait(device->device, mg__cudart_order()));
}

int mg__cudart_wait_all(struct cudart_device *device)
{
    return mg__cudart_waited(device, mg__queue_wait_all(device->device));
}

/* ---- streams ---- */
int mg__cudaStreamCreateWithPriority(void **stream, unsigned flags, int priority)
{
    struct mg_stream *s;
    CUDART_ENTER();
    if (!stream || flags > NON_BLOCKING)
        return mg__cudart_done(cudaErrorInvalidValue);
    priority = priority > 0 ? 0 : priority < -5 ? -5 : priority; /* the range of an H100 */
    struct mg_device *d = mg__cudart_here()->device;
    if (mg__stream_make(d, !(flags & NON_BLOCKING), priority, &s))
        return mg__cudart_done(cudaErrorMemoryAllocation);
    mg__check_stream_made(d->check, stream_id(s), s->order.blocking);
    *stream = s;
    return mg__cudart_done(0);
}

int mg__cudaStreamCreateWithFlags(void **stream, unsigned flags)
{
    return mg__cudaStreamCreateWithPriority(stream, flags, 0);
}

int mg__cudaStreamCreate(void **stream)
{
    return mg__cudaStreamCreateWithPriority(stream, 0, 0);
}

int mg__cudaStreamDestroy(void *stream)
{
    CUDART_ENTER();
    mg__cudart_stream_ok(stream);
    for (struct cudart_device *d = NULL; !is_default(stream) && (d = mg__cudart_next(d)) != NULL;)
        if (mg__stream_drop(d->device, stream)) {
            mg__capture_lost(mg__cudart_call.order.stream);
            mg__check_stream_gone(d->device->check, stream_id(stream));
            return mg__cudart_done(0);
        }
    return mg__cudart_done(cudaErrorInvalidResourceHandle);
}

int mg__cudaStreamSynchronize(void *stream)
{
    CUDART_ENTER();
    if (!mg__cudart_stream_ok(stream))
        return mg__cudart_done(cudaErrorInvalidResourceHandle);
    int error = mg__capture_forbids_wait(false);
    if (error)
        return mg__cudart_done(error);
    error = mg__cudart_wait();
    mg__check_host_waited(mg__cudart_call.device->device->check, stream_id(stream), false);
    return mg__cudart_done(error);
}

int mg__cudaStreamQuery(void *stream)
{
    CUDART_ENTER();
    if (!mg__cudart_stream_ok(stream))
        return mg__cudart_done(cudaErrorInvalidResourceHandle);
    struct cudart_device *device = mg__cudart_call.device;
    int error = mg__capture_forbids_wait(false);
    if (error)
        return mg__cudart_done(error);
    if (!mg__queue_over(device->device, mg__cudart_call.order))
        return mg__cudart_done(cudaErrorNotReady);
    mg__check_host_waited(device->device->check, stream_id(stream), false);
    return mg__cudart_done(mg__cudart_waited(device, true));
}

int mg__cudaStreamGetFlags(void *stream, unsigned *flags)
{
    struct mg_stream s;
    struct cudart_device *device;
    CUDART_ENTER();
    if (!flags)
        return mg__cudart_done(cudaErrorInvalidValue);
    if (!look_up(stream, &s, &device))
        return mg__cudart_done(cudaErrorInvalidResourceHandle);
    *flags = s.order.blocking ? 0 : NON_BLOCKING;
    return mg__cudart_done(0);
}

int mg__cudaStreamGetPriority(void *stream, int *priority)
{
    struct mg_stream s;
    struct cudart_device *device;
    CUDART_ENTER();
    if (!priority)
        return mg__cudart_done(cudaErrorInvalidValue);
    if (!look_up(stream, &s, &device))
        return mg__cudart_done(cudaErrorInvalidResourceHandle);
    *priority = s.order.priority;
    return mg__cudart_done(0);
}

int mg__cudaStreamGetId(void *stream, unsigned long long *id)
{
    struct mg_stream s;
    struct cudart_device *device;
    CUDART_ENTER();
    if (!id)
        return mg__cudart_done(cudaErrorInvalidValue);
    if (!look_up(stream, &s, &device))
        return mg__cudart_done(cudaErrorInvalidResourceHandle);
    *id = s.order.stream ? s.order.stream : FIRST_ID;
    return mg__cudart_done(0);
}

int mg__cudaStreamGetDevice(void *stream, int *number)
{
    struct mg_stream s;
    struct cudart_device *device;
    CUDART_ENTER();
    if (!number)
        return mg__cudart_done(cudaErrorInvalidValue);
    if (!look_up(stream, &s, &device))
        return mg__cudart_done(cudaErrorInvalidResourceHandle);
    *number = (int)device->ordinal;
    return mg__cudart_done(0);
}

/* A copy of the event, whose mark is kept. False: there is none of that handle. */
static bool event_of(const void *handle, struct mg_event *out, struct cudart_device **device)
{
    for (struct cudart_device *d = NULL; (d = mg__cudart_next(d)) != NULL;)
        if (mg__event_find(d->device, handle, out)) {
            *device = d;
            return true;
        }
    return false;
}

static void put_back(const struct mg_event *event)
{
    if (event->mark)
        mg__mark_release(event->mark);
}

/* Checks keep order within a device. An event that orders two devices counts as if the host had waited for the one, so
 * that nothing is claimed of what it did before. */
int mg__cudart_event_wait(void *event)
{
    struct mg_event e;
    struct cudart_device *of;
    int error = 0;
    if (!event_of(event, &e, &of))
        return cudaErrorInvalidResourceHandle;
    if (e.mark && mg__queue_order(mg__cudart_call.device->device, mg__cudart_call.order, e.mark))
        error = cudaErrorMemoryAllocation;
    else if (of == mg__cudart_call.device)
        mg__check_event_waited(of->device->check, (uint64_t)(uintptr_t)event, mg__cudart_call.stream, false);
    else
        mg__check_host_waited(of->device->check, 0, true);
    put_back(&e);
    return error ? error : mg__cudart_ipc_wait(event);
}

bool mg__cudart_event_known(const void *event)
{
    struct mg_event e;
    struct cudart_device *of;
    if (!event_of(event, &e, &of))
        return false;
    put_back(&e);
    return true;
}

bool mg__cudart_event_flags(const void *event, unsigned *flags)
{
    struct mg_event e;
    struct cudart_device *of;
    if (!event_of(event, &e, &of))
        return false;
    *flags = e.flags;
    put_back(&e);
    return true;
}

int mg__cudaStreamWaitEvent(void *stream, void *event, unsigned flags)
{
    int error;
    CUDART_ENTER();
    if (!mg__cudart_event_known(event) || !mg__cudart_stream_ok(stream))
        return mg__cudart_done(cudaErrorInvalidResourceHandle);
    if (flags > 1)
        return mg__cudart_done(cudaErrorInvalidValue);
    if (mg__capture_event_waited(event, flags == 1, &error))
        return mg__cudart_done(error);
    return mg__cudart_done(mg__cudart_event_wait(event));
}

struct callback {
    void (*function)(void *stream, int error, void *arg);
    void *stream, *arg;
    struct cudart_device *device;
};

static void call_back(void *arg)
{
    struct callback c = *(struct callback *)arg;
    free(arg);
    c.function(c.stream, atomic_load(&c.device->poison), c.arg);
}

int mg__cudaStreamAddCallback(void *stream, void (*callback)(void *, int, void *), void *arg, unsigned flags)
{
    CUDART_ENTER();
    if (!callback || flags)
        return mg__cudart_done(cudaErrorInvalidValue);
    if (!mg__cudart_stream_ok(stream))
        return mg__cudart_done(cudaErrorInvalidResourceHandle);
    int error = mg__capture_refused("cudaStreamAddCallback in a captured stream");
    if (error)
        return mg__cudart_done(error);
    struct callback *c = malloc(sizeof(*c));
    if (!c)
        return mg__cudart_done(cudaErrorMemoryAllocation);
    *c = (struct callback){callback, stream, arg, mg__cudart_call.device};
    mg__check_host_told(c->device->device->check, stream_id(stream));
    enum mg_status status = mg__queue_host(c->device->device, mg__cudart_call.order, call_back, c);
    if (status)
        free(c);
    return mg__cudart_done(mg__cudart_error_of(status));
}

int mg__cudart_host_function(void (*function)(void *), void *arg)
{
    struct mg_device *d = mg__cudart_call.device->device;
    mg__check_host_told(d->check, mg__cudart_call.stream);
    return mg__cudart_error_of(mg__queue_host(d, mg__cudart_call.order, function, arg));
}

int mg__cudaLaunchHostFunc(void *stream, void (*function)(void *), void *arg)
{
    struct mg_capture *capture;
    struct mg_graph_op op;
    CUDART_ENTER();
    if (!function)
        return mg__cudart_done(cudaErrorInvalidValue);
    if (!mg__cudart_stream_ok(stream))
        return mg__cudart_done(cudaErrorInvalidResourceHandle);
    int error = mg__capture_asked(&capture);
    if (!error && capture)
        error = mg__graph_host(function, arg, &op);
    if (error)
        return mg__cudart_done(error);
    return mg__cudart_done(capture ? mg__capture_add(capture, &op) : mg__cudart_host_function(function, arg));
}

int mg__cudaStreamSetAttribute(void *stream, int attribute, const void *value)
{
    CUDART_ENTER();
    (void)attribute; /* hints: cache windows, waiting policy, priority */
    if (!value)
        return mg__cudart_done(cudaErrorInvalidValue);
    return mg__cudart_done(mg__cudart_stream_ok(stream) ? 0 : cudaErrorInvalidResourceHandle);
}

int mg__cudaStreamCopyAttributes(void *dst, void *src)
{
    CUDART_ENTER();
    return mg__cudart_done(mg__cudart_stream_ok(dst) && mg__cudart_stream_ok(src) ? 0 : cudaErrorInvalidResourceHandle);
}

/* ---- events ---- */
int mg__cudaEventCreateWithFlags(void **event, unsigned flags)
{
    struct mg_event *e;
    CUDART_ENTER();
    if (!event || flags > 7 || ((flags & CU_EVENT_INTERPROCESS) && !(flags & CU_EVENT_NO_TIMING)))
        return mg__cudart_done(cudaErrorInvalidValue);
    if (mg__event_make(mg__cudart_here()->device, flags, !(flags & CU_EVENT_NO_TIMING), &e))
        return mg__cudart_done(cudaErrorMemoryAllocation);
    *event = e;
    return mg__cudart_done(0);
}

int mg__cudaEventCreate(void **event)
{
    return mg__cudaEventCreateWithFlags(event, 0);
}

int mg__cudaEventDestroy(void *event)
{
    CUDART_ENTER();
    for (struct cudart_device *d = NULL; (d = mg__cudart_next(d)) != NULL;)
        if (mg__event_drop(d->device, event)) {
            mg__capture_event_forget(event);
            mg__cudart_ipc_event_gone(event);
            mg__check_event_gone(d->device->check, (uint64_t)(uintptr_t)event);
            return mg__cudart_done(0);
        }
    return mg__cudart_done(cudaErrorInvalidResourceHandle);
}

int mg__cudart_event_record(void *event)
{
    struct mg_device *d = mg__cudart_call.device->device; /* the event and the stream are of one device */
    enum mg_status status = mg__event_record(d, event, mg__cudart_call.order);
    if (!status)
        mg__check_event_recorded(d->check, (uint64_t)(uintptr_t)event, mg__cudart_call.stream);
    if (!status)
        return mg__cudart_ipc_recorded(event);
    return status == MG_ERR_NOT_FOUND ? cudaErrorInvalidResourceHandle : mg__cudart_error_of(status);
}

static int record(const char *call, void *event, void *stream, unsigned flags)
{
    struct mg_capture *capture;
    CUDART_ENTER_AS(call);
    if (flags > 1)
        return mg__cudart_done(cudaErrorInvalidValue);
    if (!mg__cudart_stream_ok(stream))
        return mg__cudart_done(cudaErrorInvalidResourceHandle);
    int error = mg__capture_asked(&capture);
    if (!error && capture)
        return mg__cudart_done(mg__capture_record(capture, event, flags == 1));
    if (!error)
        error = mg__cudart_event_record(event);
    if (!error)
        mg__capture_event_forget(event);
    return mg__cudart_done(error);
}

int mg__cudaEventRecord(void *event, void *stream)
{
    return record("cudaEventRecord", event, stream, 0);
}

int mg__cudaEventRecordWithFlags(void *event, void *stream, unsigned flags)
{
    return record("cudaEventRecordWithFlags", event, stream, flags);
}

static int event_over(void *event, bool wait)
{
    struct mg_event e;
    struct cudart_device *of;
    int error;
    if (!event_of(event, &e, &of))
        return cudaErrorInvalidResourceHandle;
    if (mg__capture_event_asked(event, &error)) {
        put_back(&e);
        return error;
    }
    bool may = !wait || !e.mark || mg__queue_wait_mark(of->device, e.mark);
    bool over = (!e.mark || atomic_load(&e.mark->over)) && mg__cudart_ipc_over(event, wait && may);
    put_back(&e);
    if (over)
        mg__check_event_waited(of->device->check, (uint64_t)(uintptr_t)event, 0, true);
    return !wait && !over ? cudaErrorNotReady : mg__cudart_waited(of, may);
}

int mg__cudaEventSynchronize(void *event)
{
    CUDART_ENTER();
    return mg__cudart_done(event_over(event, true));
}

int mg__cudaEventQuery(void *event)
{
    CUDART_ENTER();
    return mg__cudart_done(event_over(event, false));
}

static int elapsed(float *ms, const struct mg_event *a, const struct mg_event *b)
{
    if (!a->mark || !b->mark || a->device != b->device || ((a->flags | b->flags) & CU_EVENT_NO_TIMING))
        return cudaErrorInvalidResourceHandle;
    if (!atomic_load(&a->mark->over) || !atomic_load(&b->mark->over))
        return cudaErrorNotReady;
    double seconds;
    if (!mg__timeline_between(a->device->timeline, a->mark, b->mark, &seconds))
        seconds = (double)(int64_t)(b->mark->time - a->mark->time) * 1e-9;
    *ms = (float)(seconds * 1e3);
    return 0;
}

int mg__cudaEventElapsedTime(float *ms, void *start, void *end)
{
    struct mg_event a, b;
    struct cudart_device *of;
    CUDART_ENTER();
    if (!ms)
        return mg__cudart_done(cudaErrorInvalidValue);
    int error = cudaErrorInvalidResourceHandle;
    if (event_of(start, &a, &of)) {
        if (event_of(end, &b, &of)) {
            error = elapsed(ms, &a, &b);
            if (!error)
                mg__check_event_waited(of->device->check, (uint64_t)(uintptr_t)end, 0, true);
            put_back(&b);
        }
        put_back(&a);
    }
    mg__cudart_note_times();
    return mg__cudart_done(error);
}
