/* stream.c - streams and events.
 *
 * Everything a stream is given has finished when the call returns, so a stream keeps its properties and no work,
 * waiting is over at once, and host functions run on the calling thread. An event is the host time at which it was
 * recorded. Two kernels, or a kernel and the host, that wait for each other while both run can therefore not make
 * progress: MARGAY_TIMEOUT ends them.
 *
 * Handles are checked against those that live, so that a stale one is an error and never a crash. Stream capture
 * belongs to graphs, which are not here.
 */
#include "cudart/cudart.h"

enum object_kind { STREAM, EVENT };
struct object { /* a stream or an event */
    struct object *next;
    enum object_kind kind;
    struct cudart_device *device; /* that it was made on */
    unsigned flags;
    int priority;
    uint64_t id;   /* stream */
    uint64_t time; /* event: 0 until recorded */
};
enum { BUCKETS = 256, FIRST_ID = 7 /* the default stream's on an H100 */ };
static struct object *objects[BUCKETS];
static uint64_t next_id = FIRST_ID;

static struct object **bucket(const void *handle)
{
    return &objects[mg__hash(&handle, sizeof(handle)) % BUCKETS];
}

/* Under the lock. */
static struct object *find(const void *handle, enum object_kind kind)
{
    struct object *o = *bucket(handle);
    while (o && (o != handle || o->kind != kind))
        o = o->next;
    return o;
}

static int make(void **handle, enum object_kind kind, unsigned flags, int priority)
{
    struct object *o = calloc(1, sizeof(*o));
    if (!o)
        return cudaErrorMemoryAllocation;
    o->kind = kind;
    o->device = mg__cudart_here();
    o->flags = flags;
    o->priority = priority;
    mg__cudart_lock();
    if (kind == STREAM)
        o->id = ++next_id;
    o->next = *bucket(o);
    *bucket(o) = o;
    mg__cudart_unlock();
    if (kind == STREAM)
        mg__check_stream_made(o->device->device->check, (uint64_t)(uintptr_t)o,
                              !(flags & 1)); /* cudaStreamNonBlocking */
    *handle = o;
    return 0;
}

static void forget(const struct object *o)
{
    if (o->kind == STREAM)
        mg__check_stream_gone(o->device->device->check, (uint64_t)(uintptr_t)o);
    else
        mg__check_event_gone(o->device->device->check, (uint64_t)(uintptr_t)o);
}

static int destroy(void *handle, enum object_kind kind)
{
    int error = cudaErrorInvalidResourceHandle;
    mg__cudart_lock();
    for (struct object **p = bucket(handle); *p; p = &(*p)->next)
        if (*p == handle && (*p)->kind == kind) {
            struct object *o = *p;
            *p = o->next;
            forget(o);
            free(o);
            error = 0;
            break;
        }
    mg__cudart_unlock();
    return error;
}

void mg__cudart_stream_reset(struct cudart_device *device)
{
    for (size_t i = 0; i < BUCKETS; i++)
        for (struct object **p = &objects[i]; *p;) {
            struct object *o = *p;
            if (o->device == device) {
                *p = o->next;
                free(o);
            } else {
                p = &o->next;
            }
        }
}

static bool is_default(const void *stream)
{
    return (uintptr_t)stream <= CU_STREAM_PER_THREAD;
}

/* As the checks know it: both handles of the legacy default stream are 0. */
static uint64_t stream_id(const void *stream)
{
    return (uintptr_t)stream == CU_STREAM_LEGACY ? 0 : (uint64_t)(uintptr_t)stream;
}

/* A copy of the stream's properties. The default stream is that of the thread's device. */
static int look_up(const void *stream, struct object *out)
{
    *out = (struct object){.kind = STREAM, .id = FIRST_ID, .device = mg__cudart_here()};
    if (is_default(stream))
        return 0;
    mg__cudart_lock();
    struct object *o = find(stream, STREAM);
    if (o)
        *out = *o;
    mg__cudart_unlock();
    return o ? 0 : cudaErrorInvalidResourceHandle;
}

bool mg__cudart_stream_ok(const void *stream)
{
    struct object o;
    mg__cudart_call.stream = stream_id(stream);
    mg__cudart_call.async = true;
    if (look_up(stream, &o))
        return false;
    mg__cudart_call.device = o.device;
    return true;
}

/* ---- streams ---- */
int mg__cudaStreamCreateWithPriority(void **stream, unsigned flags, int priority)
{
    CUDART_ENTER();
    if (!stream || flags > 1)
        return mg__cudart_done(cudaErrorInvalidValue);
    priority = priority > 0 ? 0 : priority < -5 ? -5 : priority; /* the range of an H100 */
    return mg__cudart_done(make(stream, STREAM, flags, priority));
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
    return mg__cudart_done(is_default(stream) ? cudaErrorInvalidResourceHandle : destroy(stream, STREAM));
}

int mg__cudaStreamSynchronize(void *stream)
{
    CUDART_ENTER();
    bool known = mg__cudart_stream_ok(stream);
    if (known)
        mg__check_host_waited(mg__cudart_call.device->device->check, stream_id(stream), false);
    return mg__cudart_done(known ? 0 : cudaErrorInvalidResourceHandle);
}

int mg__cudaStreamQuery(void *stream)
{
    return mg__cudaStreamSynchronize(stream);
}

int mg__cudaStreamGetFlags(void *stream, unsigned *flags)
{
    struct object o;
    CUDART_ENTER();
    int error = flags ? look_up(stream, &o) : cudaErrorInvalidValue;
    if (!error)
        *flags = o.flags;
    return mg__cudart_done(error);
}

int mg__cudaStreamGetPriority(void *stream, int *priority)
{
    struct object o;
    CUDART_ENTER();
    int error = priority ? look_up(stream, &o) : cudaErrorInvalidValue;
    if (!error)
        *priority = o.priority;
    return mg__cudart_done(error);
}

int mg__cudaStreamGetId(void *stream, unsigned long long *id)
{
    struct object o;
    CUDART_ENTER();
    int error = id ? look_up(stream, &o) : cudaErrorInvalidValue;
    if (!error)
        *id = o.id;
    return mg__cudart_done(error);
}

int mg__cudaStreamGetDevice(void *stream, int *device)
{
    struct object o;
    CUDART_ENTER();
    int error = device ? look_up(stream, &o) : cudaErrorInvalidValue;
    if (!error)
        *device = (int)o.device->number;
    return mg__cudart_done(error);
}

/* The event as it is; NULL: there is none of that handle. */
static bool event_of(void *event, struct object *out)
{
    mg__cudart_lock();
    struct object *o = find(event, EVENT);
    if (o)
        *out = *o;
    mg__cudart_unlock();
    return o;
}

/* Checks keep order within a device. An event that orders two devices counts as if the host had waited for the one, so
 * that nothing is claimed of what it did before. */
int mg__cudaStreamWaitEvent(void *stream, void *event, unsigned flags)
{
    struct object e;
    CUDART_ENTER();
    if (!event_of(event, &e) || !mg__cudart_stream_ok(stream))
        return mg__cudart_done(cudaErrorInvalidResourceHandle);
    if (flags > 1)
        return mg__cudart_done(cudaErrorInvalidValue);
    if (e.device == mg__cudart_call.device)
        mg__check_event_waited(e.device->device->check, (uint64_t)(uintptr_t)event, stream_id(stream), false);
    else
        mg__check_host_waited(e.device->device->check, 0, true);
    return mg__cudart_done(0);
}

int mg__cudaStreamAddCallback(void *stream, void (*callback)(void *, int, void *), void *arg, unsigned flags)
{
    CUDART_ENTER();
    if (!callback || flags)
        return mg__cudart_done(cudaErrorInvalidValue);
    if (!mg__cudart_stream_ok(stream))
        return mg__cudart_done(cudaErrorInvalidResourceHandle);
    callback(stream, 0, arg);
    return mg__cudart_done(0);
}

int mg__cudaLaunchHostFunc(void *stream, void (*function)(void *), void *arg)
{
    CUDART_ENTER();
    if (!function)
        return mg__cudart_done(cudaErrorInvalidValue);
    if (!mg__cudart_stream_ok(stream))
        return mg__cudart_done(cudaErrorInvalidResourceHandle);
    function(arg);
    return mg__cudart_done(0);
}

int mg__cudaStreamIsCapturing(void *stream, int *status)
{
    CUDART_ENTER();
    if (!status)
        return mg__cudart_done(cudaErrorInvalidValue);
    *status = 0; /* cudaStreamCaptureStatusNone */
    return mg__cudart_done(mg__cudart_stream_ok(stream) ? 0 : cudaErrorInvalidResourceHandle);
}

int mg__cudaThreadExchangeStreamCaptureMode(int *mode)
{
    static _Thread_local int current; /* cudaStreamCaptureModeGlobal */
    if (!mode || *mode < 0 || *mode > 2)
        return mg__cudart_done(cudaErrorInvalidValue);
    int old = current;
    current = *mode;
    *mode = old;
    return mg__cudart_done(0);
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
    CUDART_ENTER();
    if (!event || flags > 7 || ((flags & CU_EVENT_INTERPROCESS) && !(flags & CU_EVENT_NO_TIMING)))
        return mg__cudart_done(cudaErrorInvalidValue);
    return mg__cudart_done(make(event, EVENT, flags, 0));
}

int mg__cudaEventCreate(void **event)
{
    return mg__cudaEventCreateWithFlags(event, 0);
}

int mg__cudaEventDestroy(void *event)
{
    CUDART_ENTER();
    return mg__cudart_done(destroy(event, EVENT));
}

int mg__cudaEventRecordWithFlags(void *event, void *stream, unsigned flags)
{
    CUDART_ENTER();
    if (flags > 1)
        return mg__cudart_done(cudaErrorInvalidValue);
    if (!mg__cudart_stream_ok(stream))
        return mg__cudart_done(cudaErrorInvalidResourceHandle);
    mg__cudart_lock();
    struct object *o = find(event, EVENT);
    bool good = o && o->device == mg__cudart_call.device; /* the event and the stream are of one device */
    if (good)
        o->time = mg__time_ns();
    mg__cudart_unlock();
    if (good)
        mg__check_event_recorded(mg__cudart_call.device->device->check, (uint64_t)(uintptr_t)event, stream_id(stream));
    return mg__cudart_done(good ? 0 : cudaErrorInvalidResourceHandle);
}

int mg__cudaEventRecord(void *event, void *stream)
{
    return mg__cudaEventRecordWithFlags(event, stream, 0);
}

int mg__cudaEventSynchronize(void *event)
{
    struct object e;
    CUDART_ENTER();
    if (!event_of(event, &e))
        return mg__cudart_done(cudaErrorInvalidResourceHandle);
    mg__check_event_waited(e.device->device->check, (uint64_t)(uintptr_t)event, 0, true);
    return mg__cudart_done(0);
}

int mg__cudaEventQuery(void *event)
{
    return mg__cudaEventSynchronize(event);
}

int mg__cudaEventElapsedTime(float *ms, void *start, void *end)
{
    CUDART_ENTER();
    int error = ms ? 0 : cudaErrorInvalidValue;
    mg__cudart_lock();
    struct object *a = find(start, EVENT), *b = find(end, EVENT);
    if (!error &&
        (!a || !b || !a->time || !b->time || a->device != b->device || ((a->flags | b->flags) & CU_EVENT_NO_TIMING)))
        error = cudaErrorInvalidResourceHandle;
    if (!error)
        *ms = (float)((double)(int64_t)(b->time - a->time) * 1e-6);
    mg__cudart_unlock();
    mg__cudart_note_times();
    return mg__cudart_done(error);
}
