/* process.c - what the environment of a process says of its simulated devices. The command sets it;
 * docs/cuda-runtime.md says it to users.
 *
 *   MARGAY_REPORT    fd:N or a path: where records go (report.h). Unset: no report, and nothing is counted
 *   MARGAY_BRIEF     1: launches leave out numbers that are zero, and derived ones
 *   MARGAY_MODE      run or profile: both count; check: look for mistakes instead (check/check.h); both: do both
 *   MARGAY_CHECK     for which, commas between: race,barrier,init,bounds,launch,leaks,pedantic
 *   MARGAY_TIME      1: how long every recorded launch takes on the device is estimated (slower)
 *   MARGAY_CLOCK     host: times that the program takes are the simulator's own; device: as modelled, unless told
 *   MARGAY_ADVISE    1: every recorded launch is followed for advice as well (slower: it runs interpreted)
 *   MARGAY_PICTURES  1: and for pictures of each kernel (likewise)
 *   MARGAY_DEVICE    compute capability, 90 unless told
 *   MARGAY_BOARD     one of its boards, by name, as in include/margay/arch.h
 *   MARGAY_DEVICES   how many of them there are, 1 unless told
 *   MARGAY_ENGINE    jit, quick or interp; unset, what pays. MARGAY_VERBOSE=1: what became of each kernel, on stderr
 *   MARGAY_REGS      a file of lines "kernel registers": what ptxas made of the program's PTX for this device
 *   MARGAY_THREADS   host threads that run blocks
 *   MARGAY_STRICT    1: an access beyond its allocation stops the kernel, also where a GPU would not notice
 *   MARGAY_TIMEOUT   seconds a launch may take, fractions allowed
 *   MARGAY_KERNEL    extended regular expression: record the launches of kernels whose name it finds
 *   MARGAY_LAUNCHES  record the first N of those, of all devices
 *   MARGAY_SAMPLE    N: of large grids one block in N is counted, auto: some hundreds
 *   MARGAY_NO_RESULTS  1: of a sample, the other blocks do not run
 *   MARGAY_PROGRESS  1: progress records of long launches
 *
 * The code generator's folder (MARGAY_CACHE) is read where it is used (jit/cache.c).
 */
#include "device/device.h"

#include <errno.h>

/* NULL: not set, or empty. */
static const char *text_of(const char *name)
{
    const char *text = getenv(name);
    return text && *text ? text : NULL;
}

static bool is_on(const char *name)
{
    const char *text = text_of(name);
    return text && !strcmp(text, "1");
}

static bool number_of(const char *name, double low, double high, double *value, struct mg_diag *diag)
{
    const char *text = text_of(name);
    char *end;
    if (!text)
        return true;
    errno = 0;
    double v = strtod(text, &end);
    if (!errno && end != text && !*end && v >= low && v <= high) {
        *value = v;
        return true;
    }
    mg__diag_set(diag, MG_ERR_INVALID, "%s=%s is not a number from %g to %g", name, text, low, high);
    return false;
}

static enum mg_status choose_device(struct mg_device_options *o, unsigned cc, struct mg_diag *diag)
{
    const char *name = text_of("MARGAY_BOARD");
    o->arch = mg_arch_find(cc);
    if (!o->arch)
        return mg__diag_set(diag, MG_ERR_NOT_FOUND, "there is no device of compute capability %u.%u here", cc / 10,
                            cc % 10);
    if (!name)
        return MG_OK;
    o->board = mg_board_find(name);
    if (!o->board || o->board->cc != cc)
        return mg__diag_set(diag, MG_ERR_NOT_FOUND,
                            "there is no board MARGAY_BOARD=%s of compute capability %u.%u here", name, cc / 10,
                            cc % 10);
    return MG_OK;
}

static void open_report(struct mg_device_process *p, const char *checks)
{
    const char *target = text_of("MARGAY_REPORT");
    if (!target)
        return;
    struct mg_report_device device = mg__device_header(&p->options);
    if (mg__report_open(target, &device, &p->report)) {
        p->report = NULL;
        mg__diag_set(&p->trouble, MG_ERR_IO, "the report cannot be written to MARGAY_REPORT=%s", target);
    } else {
        if (is_on("MARGAY_BRIEF"))
            mg__report_brief(p->report);
        if (checks)
            mg__report_checks(p->report, checks);
    }
    p->options.report = p->report;
}

enum mg_status mg__device_process(struct mg_device_process *p, struct mg_diag *diag)
{
    double cc = 90, devices = 1, threads = 0, timeout = 0, launches = 0;
    struct mg_device_options *o = &p->options;
    memset(diag, 0, sizeof(*diag));
    if (!number_of("MARGAY_DEVICE", 1, 999, &cc, diag) || !number_of("MARGAY_THREADS", 0, 4096, &threads, diag) ||
        !number_of("MARGAY_DEVICES", 1, MG_MOST_DEVICES, &devices, diag) ||
        !number_of("MARGAY_TIMEOUT", 0, 4e6, &timeout, diag) || !number_of("MARGAY_LAUNCHES", 0, 1e15, &launches, diag))
        return MG_ERR_INVALID;
    enum mg_status status = choose_device(o, (unsigned)cc, diag);
    if (status)
        return status;
    p->devices = (unsigned)devices;
    o->several = p->devices > 1;
    o->threads = (unsigned)threads;
    o->timeout_ms = timeout > 0 && timeout < 0.001 ? 1 : (unsigned)(timeout * 1000);
    const char *text = text_of("MARGAY_ENGINE");
    if (text) {
        snprintf(p->engine, sizeof(p->engine), "%s", text);
        o->engine = p->engine;
    }
    text = text_of("MARGAY_REGS");
    size_t size;
    if (text && mg__file_read(text, (size_t)16 << 20, &p->regs, &size, NULL) == MG_OK)
        o->regs = p->regs; /* without it, machine code for other devices or an estimate has to do */
    o->verbose = is_on("MARGAY_VERBOSE");
    o->strict = is_on("MARGAY_STRICT");
    o->progress = is_on("MARGAY_PROGRESS");
    double sample = 0;
    text = text_of("MARGAY_SAMPLE");
    if (text && !strcmp(text, "auto"))
        o->sample = UINT64_MAX;
    else if (!number_of("MARGAY_SAMPLE", 1, 1e15, &sample, diag))
        return MG_ERR_INVALID;
    else
        o->sample = (uint64_t)sample;
    o->no_results = o->sample && is_on("MARGAY_NO_RESULTS");
    o->advise = is_on("MARGAY_ADVISE");
    o->times = is_on("MARGAY_TIME");
    text = text_of("MARGAY_CLOCK");
    if (text && strcmp(text, "device") && strcmp(text, "host"))
        return mg__diag_set(diag, MG_ERR_INVALID, "MARGAY_CLOCK=%s is neither device nor host", text);
    o->host_clock = text && !strcmp(text, "host");
    o->pictures = is_on("MARGAY_PICTURES");
    text = text_of("MARGAY_KERNEL");
    if (text && regcomp(&p->only, text, REG_EXTENDED | REG_NOSUB))
        return mg__diag_set(diag, MG_ERR_INVALID, "MARGAY_KERNEL=%s is not a regular expression", text);
    if (text)
        o->only = &p->only;
    if (text_of("MARGAY_LAUNCHES")) {
        p->launches_left = (uint64_t)launches;
        o->launches_left = &p->launches_left;
    }
    const char *mode = text_of("MARGAY_MODE"), *checks = NULL;
    o->both = mode && !strcmp(mode, "both");
    if (mode && (o->both || !strcmp(mode, "check"))) {
        checks = text_of("MARGAY_CHECK");
        checks = checks ? checks : "race,barrier,init,bounds,launch";
        o->checks = mg__check_parse(checks);
        if (!o->checks)
            return mg__diag_set(diag, MG_ERR_INVALID, "MARGAY_CHECK=%s is no list of checks", checks);
    }
    open_report(p, checks);
    return MG_OK;
}
