/* launch.c - kernel launches in every form that the API has: limits, parameters, the launch itself, what became of it.
 *
 * A launch that breaks a limit fails at once and leaves the context as it was. One that faults while it runs poisons
 * the context and returns success, as the program of a GPU sees it (cudart.c). Either way the user is told what, where
 * and why, which no GPU does.
 *
 * One launch runs at a time, whatever its stream or thread: it has all host threads to itself.
 * Clusters are refused with a message. Registers are those of the program's machine code for this device; where it has
 * none they are an estimate, and no launch is refused for their number.
 */
#include "advise/advise.h"
#include "cudart/cudart.h"

struct request {
    struct mg_dim3 grid, block;
    size_t shared;
    void **args;
    void *stream;
    bool cooperative;
};

/* ---- limits ---- */
static int refuse(const struct cudart_func *func, int error, struct mg_diag *diag)
{
    mg__cudart_tell(func->demangled ? func->demangled : func->name, diag);
    return error;
}

static int check_limits(const struct cudart_func *func, const struct request *r)
{
    struct mg_launch_shape shape = {.grid = r->grid, .block = r->block, .cooperative = r->cooperative,
                                    .param_bytes = func->info.param_size};
    struct mg_diag diag;
    memset(&diag, 0, sizeof(diag));
    /* An estimate says how many blocks are resident, but is no reason to refuse one. */
    shape.kernel = mg_arch_query(0, func->info.regs, func->info.shared_static, (uint32_t)MG_MIN(r->shared, UINT32_MAX));
    shape.kernel.shared_optin = func->shared_optin;
    shape.kernel.carveout = func->carveout;
    shape.kernel.barriers = func->barriers;
    shape.kernel.max_threads = func->bounds;
    enum mg_launch_fault fault = mg_arch_launch_check(mg__cudart.arch, &shape, &diag);
    if (fault == MG_LAUNCH_REGISTERS && !func->exact) {
        memset(&diag, 0, sizeof(diag));
        shape.kernel.regs = 0;
        fault = mg_arch_launch_check(mg__cudart.arch, &shape, &diag);
    }
    if (fault)
        mg__check_refused(mg__cudart.check, func->name, mg__cudart.arch, &shape, fault, diag.message);
    switch (fault) {
    case MG_LAUNCH_OK:
        return 0;
    case MG_LAUNCH_ZERO:
    case MG_LAUNCH_GRID:
    case MG_LAUNCH_BLOCK:
        /* CUDA 12 has a code of its own for wrong dimensions, 13 no more. Both read off driver 580. */
        return refuse(func, mg__cudart.version == 12 ? cudaErrorInvalidConfiguration : cudaErrorInvalidValue, &diag);
    case MG_LAUNCH_REGISTERS:
        return refuse(func, cudaErrorLaunchOutOfResources, &diag);
    case MG_LAUNCH_COOPERATIVE:
        return refuse(func, cudaErrorCooperativeLaunchTooLarge, &diag);
    case MG_LAUNCH_BOUNDS:
    case MG_LAUNCH_SHARED:
    case MG_LAUNCH_PARAMS:
        break;
    }
    return refuse(func, cudaErrorInvalidValue, &diag);
}

/* ---- the launch ---- */
/* Whether this launch goes into the report. Under the launch lock. */
static bool recorded(struct cudart_func *func)
{
    struct cudart *c = &mg__cudart;
    if (!c->report || !c->launches_left)
        return false;
    if (func->recorded < 0)
        func->recorded =
            !c->has_filter || !regexec(&c->filter, func->demangled ? func->demangled : func->name, 0, NULL, 0);
    if (!func->recorded)
        return false;
    if (c->launches_left != UINT64_MAX)
        c->launches_left--;
    return true;
}

/* A checked launch is not counted: its record says that it was there, and how it ended. */
static void record_checked(const struct cudart_func *func, const struct request *r, enum mg_status status)
{
    struct cudart *c = &mg__cudart;
    struct mg_report_launch record = {.kernel = func->demangled ? func->demangled : func->name, .mangled = func->name,
                                      .grid = r->grid, .block = r->block, .shared_static = func->info.shared_static,
                                      .shared_dynamic = (uint32_t)r->shared, .regs = func->info.regs,
                                      .regs_from = func->regs_from, .status = status,
                                      .seconds = (double)(mg__time_ns() - c->launch_start) * 1e-9};
    mg__report_launch(c->report, &record);
}

/* The engine says "name: " first; the message gets the kernel's name as the program wrote it. */
static void drop_name(const struct cudart_func *func, struct mg_diag *diag)
{
    size_t n = strlen(func->name);
    if (!strncmp(diag->message, func->name, n) && !strncmp(diag->message + n, ": ", 2))
        memmove(diag->message, diag->message + n + 2, strlen(diag->message + n + 2) + 1);
}

/* Under the launch lock. Once a line: a loop of launches would say it again and again. */
static void warn_once(void *context, const struct mg_diag *warning)
{
    struct cudart_func *func = context;
    for (size_t i = 0; i < func->ntold; i++)
        if (func->told[i].line == warning->line && !strcmp(func->told[i].file, warning->file))
            return;
    struct cudart_told *told = realloc(func->told, (func->ntold + 1) * sizeof(*told));
    if (told) {
        func->told = told;
        told[func->ntold].line = warning->line;
        snprintf(told[func->ntold++].file, sizeof(told->file), "%s", warning->file);
    }
    struct mg_diag diag = *warning;
    drop_name(func, &diag);
    mg__cudart_warn(func->demangled ? func->demangled : func->name, &diag);
}

static enum mg_status run(struct cudart_func *func, const struct request *r, const void *params, struct mg_diag *diag)
{
    struct cudart *c = &mg__cudart;
    struct mg_simt_launch launch = {r->grid, r->block, (uint32_t)r->shared, params, r->cooperative, func->shared_optin,
                                    func->exact ? func->info.regs : 0, c->strict ? NULL : warn_once, func};
    bool watched = recorded(func);
    mg__simt_observe_enable(c->simt, watched);
    if (!watched)
        mg__check_unobserved(c->check);
    c->launch_regs = func->info.regs;
    c->launch_regs_from = func->regs_from;
    if (c->advise)
        mg__advise_regs(c->advise, func->info.regs, func->regs_from, func->exact);
    c->launch_start = mg__time_ns();
    mg__check_begins(c->check, func->name, mg__cudart_call.stream, false);
    mg__cudart_running = func->demangled ? func->demangled : func->name;
    enum mg_status status = mg__simt_launch(c->simt, func->kernel, &launch, diag);
    mg__cudart_running = NULL;
    mg__check_ends(c->check);
    if (watched && c->check)
        record_checked(func, r, status);
    return status;
}

static int launch(const void *handle, const struct request *r)
{
    struct cudart_func *func;
    struct mg_diag diag;
    CUDART_ENTER();
    int error = mg__cudart_func_find(handle, &func);
    if (!error && !mg__cudart_stream_ok(r->stream))
        error = cudaErrorInvalidResourceHandle;
    if (!error)
        error = check_limits(func, r);
    const struct mg_ptx_func *f = error ? NULL : func->info.func;
    if (!error && f->nparams && !r->args)
        error = cudaErrorInvalidValue;
    if (error)
        return mg__cudart_done(error);

    unsigned char small[512];
    unsigned char *params = func->info.param_size <= sizeof(small) ? small : malloc(func->info.param_size);
    if (!params)
        return mg__cudart_done(cudaErrorMemoryAllocation);
    memset(params, 0, func->info.param_size);
    for (size_t i = 0; i < f->nparams && !error; i++) {
        const struct mg_ptx_var *p = f->params[i];
        if (p->offset > func->info.param_size || p->size > func->info.param_size - p->offset)
            error = cudaErrorInvalidPtx;
        else if (r->args[i])
            memcpy(params + p->offset, r->args[i], p->size);
        else
            error = cudaErrorInvalidValue;
    }

    enum mg_status status = MG_OK;
    memset(&diag, 0, sizeof(diag));
    if (!error) {
        pthread_mutex_lock(&mg__cudart.launch);
        error = atomic_load(&mg__cudart.poison); /* of a launch that we waited for */
        if (!error)
            status = run(func, r, params, &diag);
        pthread_mutex_unlock(&mg__cudart.launch);
    }
    if (params != small)
        free(params);
    if (status) {
        drop_name(func, &diag);
        if (!diag.message[0])
            mg__diag_set(&diag, status, "%s", mg_status_text(status));
        error = mg__cudart_error_of(status);
        if (mg__cudart_sticky(status)) {
            mg__cudart_poison(error);
            error = 0;
        }
        mg__cudart_tell(func->demangled ? func->demangled : func->name, &diag);
    }
    return mg__cudart_done(error);
}

/* ---- entry points ---- */
int mg__cudaLaunchKernel(const void *kernel, struct mg_dim3 grid, struct mg_dim3 block, void **args, size_t shared,
                         void *stream)
{
    return launch(kernel, &(struct request){grid, block, shared, args, stream, false});
}

int mg__cudaLaunchCooperativeKernel(const void *kernel, struct mg_dim3 grid, struct mg_dim3 block, void **args,
                                    size_t shared, void *stream)
{
    return launch(kernel, &(struct request){grid, block, shared, args, stream, true});
}

int mg__cudaLaunchKernelExC(const struct cu_launch_config *config, const void *kernel, void **args)
{
    if (!config || (config->nattributes && !config->attributes))
        return mg__cudart_done(cudaErrorInvalidValue);
    struct request r = {{config->grid.x, config->grid.y, config->grid.z},
                        {config->block.x, config->block.y, config->block.z},
                        config->shared,
                        args,
                        config->stream,
                        false};
    for (unsigned i = 0; i < config->nattributes; i++) {
        const struct cu_launch_attribute *a = &config->attributes[i];
        if (a->id == CU_LAUNCH_COOPERATIVE)
            r.cooperative = a->value.cooperative != 0;
        else if ((a->id == CU_LAUNCH_CLUSTER || a->id == CU_LAUNCH_PREFERRED_CLUSTER) &&
                 (a->value.cluster.x > 1 || a->value.cluster.y > 1 || a->value.cluster.z > 1))
            return mg__cudart_missing("cudaLaunchKernelExC with a cluster dimension");
    } /* all others are hints for scheduling and caches */
    return launch(kernel, &r);
}

/* What stands between <<< and >>> is pushed here and popped by the kernel's host stub. */
enum { CONFIGURATIONS = 64 };
static _Thread_local struct {
    struct mg_dim3 grid, block;
    size_t shared;
    void *stream;
} configurations[CONFIGURATIONS];
static _Thread_local unsigned nconfigurations;

unsigned mg____cudaPushCallConfiguration(struct mg_dim3 grid, struct mg_dim3 block, size_t shared, void *stream)
{
    if (nconfigurations == CONFIGURATIONS)
        return 1;
    configurations[nconfigurations].grid = grid;
    configurations[nconfigurations].block = block;
    configurations[nconfigurations].shared = shared;
    configurations[nconfigurations].stream = stream;
    nconfigurations++;
    return 0;
}

int mg____cudaPopCallConfiguration(struct mg_dim3 *grid, struct mg_dim3 *block, size_t *shared, void *stream)
{
    if (!nconfigurations)
        return mg__cudart_done(cudaErrorMissingConfiguration);
    nconfigurations--;
    *grid = configurations[nconfigurations].grid;
    *block = configurations[nconfigurations].block;
    *shared = configurations[nconfigurations].shared;
    memcpy(stream, &configurations[nconfigurations].stream, sizeof(void *));
    return 0;
}
