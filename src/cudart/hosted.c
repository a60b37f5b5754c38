/* hosted.c - computations of libraries on the host, in the order of a stream (hosted.h says what for).
 *
 * One whose stream has nothing left to do runs at once, on the thread that asks; any other when its turn comes. Memory
 * that the device cannot reach is an illegal address, as a kernel of the library would have found: the context is
 * poisoned, and the call itself succeeds.
 */
#include "cudart/hosted.h"

#include "cudart/graph.h"
#include "device/timeline.h"

struct hosted {
    struct margay_hosted_reach reach;
    struct margay_hosted asked;
    struct cudart_call call;
    bool refused; /* something of it: the result is not there */
    _Alignas(16) char arg[];
};

/* The checks of `device` know of memory of its own; what lies on another counts there as if the host had done it. */
static void tell_check(const struct hosted *h, struct cudart_device *device, uint64_t at, size_t width, unsigned use)
{
    struct mg_check *check = device->device->check;
    if (use & MARGAY_HOSTED_READS)
        mg__check_read(check, h->asked.routine, at, width);
    if (use & MARGAY_HOSTED_WRITES)
        mg__check_filled(check, at, width);
}

static void refuse(struct hosted *h, const char *what, const void *at, size_t size, enum cudart_kind kind)
{
    struct cudart_device *device = h->call.device;
    struct mg_diag diag;
    h->refused = true;
    memset(&diag, 0, sizeof(diag));
    if (kind == CUDART_PAGEABLE)
        mg__diag_set(&diag, MG_ERR_ADDRESS, "%s: %s is memory of the host, which the device cannot reach",
                     h->asked.routine, what);
    else
        mg__diag_set(&diag, MG_ERR_ADDRESS, "%s: %s has %zu bytes, and not all of them lie in one allocation",
                     h->asked.routine, what, size);
    mg__diag_hint(&diag, "on a GPU this is an illegal address, or somebody else's memory; compare the sizes, leading "
                         "dimensions and strides of the call with what was allocated");
    mg__cudart_tell(NULL, &diag);
    mg__check_bad_range(device->device->check, h->asked.routine, (uint64_t)(uintptr_t)at, size, true);
    mg__cudart_poison(device, cudaErrorIllegalAddress);
}

static bool touch(struct margay_hosted_reach *reach, const char *what, const void *at, size_t width, size_t rows,
                  ptrdiff_t pitch, unsigned use)
{
    struct hosted *h = (struct hosted *)reach;
    struct cudart_alloc alloc;
    uint64_t left, span;
    if (!width || !rows)
        return true;
    const char *from = pitch < 0 ? (const char *)at + (ptrdiff_t)(rows - 1) * pitch : at;
    uint64_t step = (uint64_t)(pitch < 0 ? -pitch : pitch);
    bool fits = !__builtin_mul_overflow(rows - 1, step, &span) && !__builtin_add_overflow(span, width, &span);
    enum cudart_kind kind = mg__cudart_classify(from, &left, &alloc);
    if (!fits || kind == CUDART_WILD || kind == CUDART_PAGEABLE || left < span) {
        refuse(h, what, from, fits ? (size_t)span : SIZE_MAX, kind);
        return false;
    }
    struct cudart_device *device = alloc.device ? alloc.device : h->call.device;
    if (device->device && device->device->check)
        for (size_t i = 0; i < (step == width ? 1 : rows); i++)
            tell_check(h, device, (uint64_t)(uintptr_t)from + i * step, step == width ? span : width, use);
    return true;
}

static void fail(struct margay_hosted_reach *reach)
{
    struct hosted *h = (struct hosted *)reach;
    struct mg_diag diag;
    memset(&diag, 0, sizeof(diag));
    h->refused = true;
    mg__diag_set(&diag, MG_ERR_NOMEM, "%s: the host has not enough memory to compute it", h->asked.routine);
    mg__cudart_tell(NULL, &diag);
    mg__cudart_poison(h->call.device, cudaErrorMemoryAllocation);
}

/* Whoever times it by events is to know. */
static void tell_clock(const struct hosted *h)
{
    struct mg_diag diag;
    if (!mg__timeline_is_on(h->call.device->device->timeline) || mg__cudart_told(h->asked.routine))
        return;
    memset(&diag, 0, sizeof(diag));
    mg__diag_set(&diag, MG_ERR_UNSUPPORTED, "%s is computed on the host and takes no time by the program's events",
                 h->asked.routine);
    mg__cudart_warn(NULL, &diag);
}

static void compute(struct hosted *h, void *arg)
{
    struct mg_check *check = h->call.device->device->check;
    h->reach = (struct margay_hosted_reach){touch, fail};
    mg__check_begins(check, h->asked.routine, h->call.stream, h->asked.waits);
    h->asked.compute(arg, &h->reach);
    mg__check_ends(check);
    tell_clock(h);
    if (!h->refused)
        mg__report_hosted(mg__cudart.process.report, h->asked.library, h->asked.routine);
}

static void compute_later(void *arg)
{
    struct hosted *h = arg;
    struct cudart_call call = mg__cudart_call;
    mg__cudart_call = h->call;
    if (!atomic_load(&h->call.device->poison))
        compute(h, h->arg);
    mg__cudart_call = call;
    free(h);
}

__attribute__((visibility("default"))) int margay_hosted(const struct margay_hosted *asked)
{
    mg__cudart_call = mg__cudart_call_of(asked->routine);
    int error = mg__cudart_enter();
    if (error)
        return mg__cudart_done(error);
    if (!mg__cudart_stream_ok(asked->stream))
        return mg__cudart_done(cudaErrorInvalidResourceHandle);
    error = mg__capture_refused("a library that computes on the host, in a captured stream");
    if (error)
        return mg__cudart_done(error);
    struct mg_device *d = mg__cudart_call.device->device;
    if (mg__queue_clear(d, mg__cudart_call.order)) {
        struct hosted now = {.asked = *asked, .call = mg__cudart_call};
        compute(&now, (void *)(uintptr_t)asked->arg);
        return mg__cudart_done(0);
    }
    struct hosted *later = calloc(1, sizeof(*later) + asked->size);
    if (!later)
        return mg__cudart_done(cudaErrorMemoryAllocation);
    *later = (struct hosted){.asked = *asked, .call = mg__cudart_call};
    memcpy(later->arg, asked->arg, asked->size);
    if (mg__queue_call(d, mg__cudart_call.order, compute_later, later)) {
        free(later);
        return mg__cudart_done(cudaErrorMemoryAllocation);
    }
    return mg__cudart_done(asked->waits ? mg__cudart_wait() : 0);
}

__attribute__((visibility("default"))) void margay_hosted_missing(const char *routine, const char *status)
{
    struct mg_diag diag;
    if (mg__cudart_begin() || mg__cudart_told(routine))
        return;
    memset(&diag, 0, sizeof(diag));
    mg__diag_set(&diag, MG_ERR_UNSUPPORTED, "the program calls %s, which is not there", routine);
    mg__diag_hint(&diag, "it returned %s; docs/libraries.md lists what there is", status);
    mg__cudart_tell(NULL, &diag);
}
