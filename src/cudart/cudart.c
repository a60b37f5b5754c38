/* cudart.c - the context: made on first use from the environment, its errors, its messages, its report.
 *
 * Errors are kept as a GPU keeps them (read off one, driver 580, see docs/cuda-runtime.md): a call that fails sets its
 * thread's last error; cudaGetLastError takes it away. A kernel that faults poisons the context: its launch still
 * succeeds, and each later call that touches the device returns the fault and sets the last error again. Streams are
 * synchronous here, so a fault is known at once, but it is kept back until such a call, as the host program expects.
 *
 * The environment, which the command line sets:
 *   MARGAY_REPORT    fd:N or a path: where records go (report.h). Unset: no report, no model, messages on stderr
 *   MARGAY_MODE      run or profile: both count; check: look for mistakes instead (check/check.h)
 *   MARGAY_CHECK     for which, commas between: race,barrier,init,bounds,launch,leaks
 *   MARGAY_ADVISE    1: every recorded launch is followed for advice as well (slower: it runs interpreted)
 *   MARGAY_DEVICE    compute capability, 90 unless told
 *   MARGAY_BOARD     one of its boards, by name, as in include/margay/arch.h
 *   MARGAY_ENGINE    jit, quick or interp; unset, what pays. MARGAY_VERBOSE=1: what became of each kernel, on stderr
 *   MARGAY_THREADS   host threads that run blocks
 *   MARGAY_STRICT    1: an access beyond its allocation stops the kernel, also where a GPU would not notice
 *   MARGAY_TIMEOUT   seconds a launch may take, fractions allowed
 *   MARGAY_KERNEL    extended regular expression: record the launches of kernels whose name it finds
 *   MARGAY_LAUNCHES  record the first N of those
 *   MARGAY_PROGRESS  1: progress records of long launches
 */
#include "cudart/cudart.h"
#include "advise/advise.h"
#include "jit/jit.h"
#include "model/model.h"

#include <errno.h>
#include <unistd.h>

struct cudart mg__cudart = {.launches_left = UINT64_MAX};
_Thread_local struct cudart_call mg__cudart_call = {"", 0, false};

static _Thread_local int last_error;

/* ---- locks ---- */
static void init_locks(void)
{
    pthread_mutexattr_t attr;
    pthread_mutexattr_init(&attr);
    pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&mg__cudart.state, &attr);
    pthread_mutex_init(&mg__cudart.launch, &attr);
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
    struct mg_report_writer *report = mg__cudart.report;
    if (!report || mg__report_error(report, kernel ? kernel : "", diag) != MG_OK)
        say("error", kernel, diag);
}

void mg__cudart_warn(const char *kernel, const struct mg_diag *diag)
{
    struct mg_report_writer *report = mg__cudart.report;
    if (!report || mg__report_warning(report, kernel ? kernel : "", diag) != MG_OK)
        say("warning", kernel, diag);
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

void mg__cudart_poison(int error)
{
    int none = 0;
    atomic_compare_exchange_strong(&mg__cudart.poison, &none, error);
}

int mg__cudart_missing(const char *name)
{
    struct mg_diag diag;
    static _Atomic(const char *) told[64];
    for (size_t i = 0; i < MG_COUNT(told); i++) { /* once each; names are string constants */
        const char *seen = NULL;
        if (atomic_compare_exchange_strong(&told[i], &seen, name))
            break;
        if (seen == name)
            return mg__cudart_done(cudaErrorNotSupported);
    }
    memset(&diag, 0, sizeof(diag));
    mg__diag_set(&diag, MG_ERR_UNSUPPORTED, "the program calls %s, which is not simulated", name);
    mg__diag_hint(&diag, "it returned cudaErrorNotSupported; docs/cuda-runtime.md lists what there is");
    mg__cudart_tell(NULL, &diag);
    return mg__cudart_done(cudaErrorNotSupported);
}

/* ---- the environment ---- */
static bool env_number(const char *name, double low, double high, double *value)
{
    const char *text = getenv(name);
    char *end;
    struct mg_diag diag;
    if (!text || !*text)
        return true;
    errno = 0;
    double v = strtod(text, &end);
    if (!errno && end != text && !*end && v >= low && v <= high) {
        *value = v;
        return true;
    }
    memset(&diag, 0, sizeof(diag));
    mg__diag_set(&diag, MG_ERR_INVALID, "%s=%s is not a number from %g to %g", name, text, low, high);
    mg__cudart_tell(NULL, &diag);
    return false;
}

static void on_progress(void *arg, const char *kernel, uint64_t done, uint64_t total)
{
    (void)arg;
    char *name = mg__report_demangle(kernel);
    mg__report_progress(mg__cudart.report, name ? name : kernel, done, total);
    free(name);
}

/* The model's record of a launch; launch.c left here what only it knows. */
static void on_launch_done(void *arg, struct mg_report_launch *launch)
{
    (void)arg;
    launch->regs = mg__cudart.launch_regs;
    launch->regs_from = mg__cudart.launch_regs_from;
    launch->seconds = (double)(mg__time_ns() - mg__cudart.launch_start) * 1e-9;
    mg__report_launch(mg__cudart.report, launch);
}

static void on_advice(void *arg, const struct mg_report_advice *advice)
{
    (void)arg;
    mg__report_advice(mg__cudart.report, advice);
}

static void on_finding(void *arg, const struct mg_report_finding *finding)
{
    (void)arg;
    mg__report_finding(mg__cudart.report, finding);
}

static int fail_init(const struct mg_diag *diag, int error)
{
    mg__cudart_tell(NULL, diag);
    return error;
}

static enum mg_status attach_check(struct cudart *c, struct mg_diag *diag)
{
    const char *list = getenv("MARGAY_CHECK");
    list = list && *list ? list : "race,barrier,init,bounds,launch";
    unsigned checks = mg__check_parse(list);
    if (!checks)
        return mg__diag_set(diag, MG_ERR_INVALID, "MARGAY_CHECK=%s is no list of checks", list);
    enum mg_status status = mg__check_create(checks, on_finding, NULL, &c->check);
    if (status)
        return status;
    struct mg_observer observer = mg__check_observer(c->check);
    status = mg__simt_observe(c->simt, &observer);
    return status ? status : mg__report_checks(c->report, list);
}

/* What the report is for: counts, and advice if asked for; or mistakes. */
static enum mg_status attach(struct cudart *c, struct mg_diag *diag)
{
    const char *mode = getenv("MARGAY_MODE"), *advise = getenv("MARGAY_ADVISE");
    if (mode && !strcmp(mode, "check"))
        return attach_check(c, diag);
    enum mg_status status = mg__model_create(c->arch, on_launch_done, NULL, &c->model);
    if (!status) {
        struct mg_observer observer = mg__model_observer(c->model);
        status = mg__simt_observe(c->simt, &observer);
    }
    if (!status && advise && !strcmp(advise, "1"))
        status = mg__advise_create(c->arch, on_advice, NULL, &c->advise);
    if (!status && c->advise) {
        struct mg_observer observer = mg__advise_observer(c->advise);
        status = mg__simt_observe(c->simt, &observer);
    }
    return status;
}

static int make_context(void)
{
    struct cudart *c = &mg__cudart;
    struct mg_diag diag;
    double cc = 90, threads = 0, timeout = 0, launches = 0;
    memset(&diag, 0, sizeof(diag));
    if (!env_number("MARGAY_DEVICE", 1, 999, &cc) || !env_number("MARGAY_THREADS", 0, 4096, &threads) ||
        !env_number("MARGAY_TIMEOUT", 0, 4e6, &timeout) || !env_number("MARGAY_LAUNCHES", 0, 1e15, &launches))
        return cudaErrorInitializationError;
    c->arch = mg_arch_find((unsigned)cc);
    if (!c->arch) {
        mg__diag_set(&diag, MG_ERR_NOT_FOUND, "there is no device of compute capability %u.%u here", (unsigned)cc / 10,
                     (unsigned)cc % 10);
        return fail_init(&diag, cudaErrorNoDevice);
    }
    const char *name = getenv("MARGAY_BOARD");
    if (name && *name) {
        c->chosen = *c->arch;
        c->chosen.board = mg_board_find(name);
        if (!c->chosen.board || c->chosen.board->cc != c->arch->cc) {
            mg__diag_set(&diag, MG_ERR_NOT_FOUND, "there is no board MARGAY_BOARD=%s of compute capability %u.%u here",
                         name, c->arch->cc / 10, c->arch->cc % 10);
            return fail_init(&diag, cudaErrorNoDevice);
        }
        c->arch = &c->chosen;
    }
    const char *pattern = getenv("MARGAY_KERNEL");
    if (pattern && *pattern) {
        if (regcomp(&c->filter, pattern, REG_EXTENDED | REG_NOSUB)) {
            mg__diag_set(&diag, MG_ERR_INVALID, "MARGAY_KERNEL=%s is not a regular expression", pattern);
            return fail_init(&diag, cudaErrorInitializationError);
        }
        c->has_filter = true;
    }
    const char *n = getenv("MARGAY_LAUNCHES");
    if (n && *n)
        c->launches_left = (uint64_t)launches;
    if (timeout > 0)
        c->timeout_ms = timeout < 0.001 ? 1 : (unsigned)(timeout * 1000);

    const char *target = getenv("MARGAY_REPORT");
    if (target && *target) {
        struct mg_report_device device = {c->arch->board->name, c->arch->cc, c->arch->board->sm_count};
        if (mg__report_open(target, &device, &c->report)) {
            c->report = NULL;
            mg__diag_set(&diag, MG_ERR_IO, "the report cannot be written to MARGAY_REPORT=%s", target);
            mg__cudart_tell(NULL, &diag);
        }
    }
    const char *strict = getenv("MARGAY_STRICT");
    c->strict = strict && !strcmp(strict, "1");
    const char *progress = getenv("MARGAY_PROGRESS");
    c->progress = c->report && progress && !strcmp(progress, "1");

    mg__cudart_catch_crashes();
    struct mg_simt_options options = {.arch = c->arch, .threads = (unsigned)threads, .timeout_ms = c->timeout_ms};
    if (c->progress)
        options.progress = on_progress;
    enum mg_status status = mg__simt_create(&options, &c->simt);
    if (status) {
        c->simt = NULL;
        mg__diag_set(&diag, status, "the simulated device could not be made: %s", mg_status_text(status));
        return fail_init(&diag, status == MG_ERR_NOMEM ? cudaErrorMemoryAllocation : cudaErrorInitializationError);
    }
    struct mg_engine *engine; /* for as long as the process lives, as the device */
    if (mg__jit_choose(c->simt, &engine, &diag) != MG_OK)
        return fail_init(&diag, cudaErrorInitializationError);
    if (c->report) {
        status = attach(c, &diag);
        if (status) {
            if (!diag.message[0])
                mg__diag_set(&diag, status, "launches cannot be observed: %s", mg_status_text(status));
            return fail_init(&diag, cudaErrorInitializationError);
        }
    }
    mg__cudart_limits_reset();
    return 0;
}

int mg__cudart_enter(void)
{
    struct cudart *c = &mg__cudart;
    if (!atomic_load_explicit(&c->ready, memory_order_acquire)) {
        mg__cudart_lock();
        if (!atomic_load_explicit(&c->ready, memory_order_relaxed)) {
            c->pid = (int)getpid();
            c->init_error = make_context();
            atomic_store_explicit(&c->ready, 1, memory_order_release);
        }
        mg__cudart_unlock();
    }
    if (c->pid != (int)getpid())
        return cudaErrorInitializationError; /* a child of fork has no device, as with CUDA */
    if (c->init_error)
        return c->init_error;
    return atomic_load(&c->poison);
}

int mg__cudart_done(int error)
{
    if (error && error != cudaErrorNotReady)
        last_error = error;
    return error;
}

/* Ends the report. Runs after the program's own atexit functions. */
__attribute__((destructor)) static void finish(void)
{
    struct cudart *c = &mg__cudart;
    if (atomic_load(&c->ready) && c->report && c->pid == (int)getpid()) {
        mg__check_ended(c->check);
        mg__report_close(c->report);
        c->report = NULL;
    }
}

/* ---- the API's error calls ---- */
int mg__cudaGetLastError(void)
{
    int error = last_error;
    last_error = 0;
    return error;
}

int mg__cudaPeekAtLastError(void)
{
    return last_error;
}

const char *mg__cudaGetErrorName(int error)
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

const char *mg__cudaGetErrorString(int error)
{
    switch (error) {
#define CUDA_ERROR(value, name, text) \
    case value:                       \
        return text;
#include "cudart/errors.def"
#undef CUDA_ERROR
    }
    return "unrecognized error code";
}
