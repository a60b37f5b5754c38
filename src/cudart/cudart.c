/* cudart.c - the process: its devices, made when they are first used; its errors, its messages, its report.
 *
 * Errors are kept as a GPU keeps them (read off one, driver 580, see docs/cuda-runtime.md): a call that fails sets its
 * thread's last error; cudaGetLastError takes it away. A kernel that faults poisons its device's context: its launch
 * still succeeds, and each later call that touches the device returns the fault and sets the last error again. Most
 * kernels have ended when their launch returns, so a fault is known at once, but it is kept back until such a call, as
 * the host program expects.
 *
 * The environment is read once, at the first call (device/process.c has the list).
 */
#include "cudart/cudart.h"

#include <errno.h>
#include <unistd.h>

struct cudart mg__cudart;
_Thread_local struct cudart_call mg__cudart_call = {.name = ""};
_Thread_local unsigned char mg__cudart_per_thread;
_Thread_local const char *mg__cudart_driver;

static _Thread_local int last_error;

/* ---- locks ---- */
static void init_locks(void)
{
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&mg__cudart.state, &attr);
    for (unsigned i = 0; i < CUDART_CONTEXTS; i++) {
        struct cudart_device *d = &mg__cudart.devices[i];
        d->number = d->ordinal = i;
        d->default_pool = (struct cudart_pool){.device = d, .attributes = {0, 1, 1, 1}};
        d->pool = &d->default_pool;
        if (i < MG_MOST_DEVICES)
            mg__cudart.primary[i] = (struct cudart_context){.device = d, .ordinal = i, .primary = true};
    }
    pthread_mutexattr_destroy(&attr);
}

void mg__cudart_lock(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, init_locks);
    pthread_mutex_lock(&mg__cudart.state);
}

void mg__cudart_unlock(void)
{
    pthread_mutex_unlock(&mg__cudart.state);
}

/* ---- messages ---- */
static void say(const char *severity, const char *kernel, const struct mg_diag *diag)
{
    struct mg_strbuf text = {0};
    mg__strbuf_printf(&text, "margay: %s: ", severity);
    if (kernel && *kernel)
        mg__strbuf_printf(&text, "kernel %s: ", kernel);
    mg__strbuf_printf(&text, "%s\n", diag->message);
    if (diag->file[0])
        mg__strbuf_printf(&text, "margay:   at %s:%u\n", diag->file, diag->line);
    if (diag->inlined_file[0])
        mg__strbuf_printf(&text, "margay:   in %s:%u, inlined there\n", diag->inlined_file, diag->inlined_line);
    if (diag->excerpt[0])
        mg__strbuf_printf(&text, "margay:   %s\n", diag->excerpt);
    if (diag->hint[0])
        mg__strbuf_printf(&text, "margay:   %s\n", diag->hint);
    for (size_t done = 0; done < text.count;) { /* one write, not stdio: the program may have closed or redirected it */
        ssize_t n = write(STDERR_FILENO, text.at + done, text.count - done);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            break;
        done += (size_t)n;
    }
    mg__strbuf_free(&text);
}

void mg__cudart_tell(const char *kernel, const struct mg_diag *diag)
{
    struct mg_report_writer *report = mg__cudart.process.report;
    if (!report || mg__report_error(report, kernel ? kernel : "", diag) != MG_OK)
        say("error", kernel, diag);
}

void mg__cudart_warn(const char *kernel, const struct mg_diag *diag)
{
    struct mg_report_writer *report = mg__cudart.process.report;
    if (!report || mg__report_warning(report, kernel ? kernel : "", diag) != MG_OK)
        say("warning", kernel, diag);
}

void mg__cudart_note_times(void)
{
    static const char host[] =
        "times that the program takes with events (cudaEventElapsedTime) are the simulator's and "
        "no GPU's; the counts are a GPU's",
                      device[] = "times that the program takes with events (cudaEventElapsedTime) are the GPU's as "
                                 "modelled (docs/time.md); --clock host has the simulator's own";
    const struct mg_device_process *p = &mg__cudart.process;
    const char *note = p->options.host_clock ? host : device;
    struct mg_diag diag;
    if (p->report || p->options.host_clock) {
        mg__report_note(p->report, note);
    } else if (!mg__cudart_told(note)) {
        memset(&diag, 0, sizeof(diag));
        mg__diag_set(&diag, MG_OK, "%s", note);
        say("note", NULL, &diag);
    }
}

int mg__cudart_error_of(enum mg_status status)
{
    switch (status) {
    case MG_OK:
        return cudaSuccess;
    case MG_ERR_NOMEM:
        return cudaErrorMemoryAllocation;
    case MG_ERR_INVALID:
    case MG_ERR_LAUNCH_LIMIT:
        return cudaErrorInvalidValue;
    case MG_ERR_NOT_FOUND:
        return cudaErrorSymbolNotFound;
    case MG_ERR_SYNTAX:
        return cudaErrorInvalidPtx;
    case MG_ERR_UNSUPPORTED:
        return cudaErrorNotSupported;
    case MG_ERR_NO_PTX:
        return cudaErrorNoKernelImageForDevice;
    case MG_ERR_ADDRESS:
        return cudaErrorIllegalAddress;
    case MG_ERR_MISALIGNED:
        return cudaErrorMisalignedAddress;
    case MG_ERR_ASSERT:
        return cudaErrorAssert;
    case MG_ERR_TRAP: /* what an H100 returns for trap and brkpt */
        return cudaErrorLaunchFailure;
    case MG_ERR_DEADLOCK:
    case MG_ERR_TIMEOUT:
        return cudaErrorLaunchTimeout;
    default:
        return cudaErrorUnknown;
    }
}

bool mg__cudart_sticky(enum mg_status status)
{
    return status == MG_ERR_ADDRESS || status == MG_ERR_MISALIGNED || status == MG_ERR_ASSERT ||
           status == MG_ERR_TRAP || status == MG_ERR_DEADLOCK || status == MG_ERR_TIMEOUT || status == MG_ERR_INTERNAL;
}

void mg__cudart_poison(struct cudart_device *device, int error)
{
    for (unsigned i = 0; i < CUDART_CONTEXTS; i++) {
        int none = 0;
        if (mg__cudart.devices[i].ordinal == device->ordinal)
            atomic_compare_exchange_strong(&mg__cudart.devices[i].poison, &none, error);
    }
}

bool mg__cudart_told(const char *name)
{
    static _Atomic(const char *) told[64];
    for (size_t i = 0; i < MG_COUNT(told); i++) {
        const char *seen = NULL;
        if (atomic_compare_exchange_strong(&told[i], &seen, name))
            break;
        if (seen == name)
            return true;
    }
    return false;
}

int mg__cudart_missing(const char *name)
{
    struct mg_diag diag;
    if (mg__cudart_told(name))
        return mg__cudart_done(cudaErrorNotSupported);
    memset(&diag, 0, sizeof(diag));
    mg__diag_set(&diag, MG_ERR_UNSUPPORTED, "the program calls %s, which is not simulated", name);
    mg__diag_hint(&diag, "it returned cudaErrorNotSupported; docs/cuda-runtime.md lists what there is");
    mg__cudart_tell(NULL, &diag);
    return mg__cudart_done(cudaErrorNotSupported);
}

/* ---- devices ---- */
static void note_end(void)
{
    atomic_store(&mg__cudart.ending, true);
}

static int begin_process(void)
{
    struct mg_diag diag;
    if (atexit(note_end))
        return cudaErrorMemoryAllocation;
    enum mg_status status = mg__device_process(&mg__cudart.process, &diag);
    if (status) {
        mg__cudart_tell(NULL, &diag);
        return status == MG_ERR_NOT_FOUND ? cudaErrorNoDevice : cudaErrorInitializationError;
    }
    if (mg__cudart.process.trouble.status)
        mg__cudart_tell(NULL, &mg__cudart.process.trouble);
    mg__cudart_catch_crashes();
    return 0;
}

int mg__cudart_begin(void)
{
    struct cudart *c = &mg__cudart;
    mg__cudart_guard_down();
    if (!atomic_load_explicit(&c->ready, memory_order_acquire)) {
        mg__cudart_lock();
        if (!atomic_load_explicit(&c->ready, memory_order_relaxed)) {
            c->pid = (int)getpid();
            c->init_error = begin_process();
            atomic_store_explicit(&c->ready, 1, memory_order_release);
        }
        mg__cudart_unlock();
    }
    if (c->pid != (int)getpid())
        return cudaErrorInitializationError; /* a child of fork has no device, as with CUDA */
    return atomic_load_explicit(&c->ended, memory_order_relaxed) ? cudaErrorCudartUnloading : c->init_error;
}

struct mg_device_options mg__cudart_options(unsigned number)
{
    struct mg_device_options options = mg__cudart.process.options;
    options.number = number;
    options.warn = mg__cudart_warn;
    options.ended = mg__cudart_ended;
    options.runs = mg__cudart_runs;
    options.alone = mg__cudart_alone;
    return options;
}

static int make_device(struct cudart_device *d)
{
    static const struct mg_check_asked asked = {mg__cudart_line, mg__cudart_frames, mg__cudart_line_of};
    struct mg_device_options options = mg__cudart_options(d->ordinal);
    struct mg_diag diag;
    enum mg_status status = mg__device_create(&options, &d->device, &diag);
    if (status) {
        mg__cudart_tell(NULL, &diag);
        return status == MG_ERR_NOMEM ? cudaErrorMemoryAllocation : cudaErrorInitializationError;
    }
    d->device->skin = d;
    d->id = ++mg__cudart.last_id;
    mg__cudart_join_contexts(d);
    if (d->device->check && mg__cudart_guard_works())
        mg__check_watched(d->device->check);
    if (d->device->check)
        mg__check_asks(d->device->check, &asked);
    mg__cudart_memory_join(d);
    mg__cudart_registry_join(d);
    return 0;
}

int mg__cudart_use(struct cudart_device *d)
{
    if (!atomic_load_explicit(&d->ready, memory_order_acquire)) {
        mg__cudart_lock();
        if (!atomic_load_explicit(&d->ready, memory_order_relaxed)) {
            d->init_error = make_device(d);
            atomic_store_explicit(&d->ready, 1, memory_order_release);
        }
        mg__cudart_unlock();
    }
    return d->init_error ? d->init_error : atomic_load(&d->poison);
}

int mg__cudart_enter(void)
{
    int error = mg__cudart_begin();
    if (!error)
        error = mg__cudart_settle();
    return error ? error : mg__cudart_use(mg__cudart_here());
}

struct cudart_device *mg__cudart_at(int number)
{
    return number >= 0 && (unsigned)number < mg__cudart.process.devices ? &mg__cudart.devices[number] : NULL;
}

struct cudart_device *mg__cudart_next(const struct cudart_device *after)
{
    for (unsigned i = after ? after->number + 1 : 0; i < CUDART_CONTEXTS; i++)
        if (mg__cudart.devices[i].device)
            return &mg__cudart.devices[i];
    return NULL;
}

static const char *name_of(int error)
{
    switch (error) {
#define CUDA_ERROR(value, name, text) \
    case value:                       \
        return #name;
#include "cudart/errors.def"
#undef CUDA_ERROR
    }
    return "unrecognized error code";
}

int mg__cudart_done(int error)
{
    mg__cudart_end_if_asked();
    if (mg__cudart_driver)
        return error;
    if (error && error != cudaErrorNotReady && error != cudaErrorCudartUnloading) {
        last_error = error;
        mg__cudart_failed(error, name_of(error));
    }
    mg__cudart_call.name = NULL; /* not every call sets its own */
    mg__cudart_per_thread = 0;
    mg__cudart_guard_up();
    return error;
}

/* Ends the report. Runs after the program's own atexit functions. */
__attribute__((destructor)) static void finish(void)
{
    struct mg_device_process *p = &mg__cudart.process;
    if (!atomic_load(&mg__cudart.ready) || !p->report || mg__cudart.pid != (int)getpid())
        return;
    mg__cudart_guard_down();
    atomic_store(&mg__cudart.ended, true);
    if (!mg__cudart_calm()) /* a launch that does not end writes there */
        return;
    for (struct cudart_device *d = NULL; (d = mg__cudart_next(d)) != NULL;)
        mg__check_ended(d->device->check);
    mg__report_close(p->report);
    p->report = NULL;
}

/* ---- the API's error calls ---- */
int mg__cudaGetLastError(void)
{
    int error = last_error;
    last_error = 0;
    if (error)
        mg__cudart_looked(NULL);
    return error;
}

int mg__cudaPeekAtLastError(void)
{
    if (last_error)
        mg__cudart_looked(NULL);
    return last_error;
}

const char *mg__cudaGetErrorName(int error)
{
    mg__cudart_looked(name_of(error));
    return name_of(error);
}

const char *mg__cudaGetErrorString(int error)
{
    mg__cudart_looked(name_of(error));
    switch (error) {
#define CUDA_ERROR(value, name, text) \
    case value:                       \
        return text;
#include "cudart/errors.def"
#undef CUDA_ERROR
    }
    return "unrecognized error code";
}
