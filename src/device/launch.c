/* launch.c - a launch: whether the device takes it, its parameters, its record, and what became of it.
 *
 * Registers are those of the program's machine code for this device; where it has none they are an estimate, and no
 * launch is refused for their number.
 */
#include "advise/advise.h"
#include "device/device.h"
#include "picture/picture.h"

/* The engine says "name: " first; whose kernel it is, is the caller's to say, as the program wrote it. */
static void drop_name(const struct mg_device_kernel *k, struct mg_diag *diag)
{
    size_t n = strlen(k->info.name);
    if (!strncmp(diag->message, k->info.name, n) && !strncmp(diag->message + n, ": ", 2))
        memmove(diag->message, diag->message + n + 2, strlen(diag->message + n + 2) + 1);
}

/* Whether this launch goes into the report. */
static bool recorded(const struct mg_device_kernel *k)
{
    const struct mg_device_options *o = &k->module->device->options;
    if (!k->wanted || !o->launches_left)
        return k->wanted;
    uint64_t left = atomic_load(o->launches_left);
    while (left && !atomic_compare_exchange_weak(o->launches_left, &left, left - 1))
        ;
    return left != 0;
}

/* A checked launch is not counted: its record says that it was there, and how it ended. */
static void record_checked(const struct mg_device_kernel *k, const struct mg_device_launch *l, enum mg_status status)
{
    const struct mg_device *d = k->module->device;
    struct mg_report_launch record = {.kernel = k->name,
                                      .mangled = k->info.name,
                                      .device = d->options.number,
                                      .grid = l->grid,
                                      .block = l->block,
                                      .shared_static = k->info.shared_static,
                                      .shared_dynamic = (uint32_t)l->shared,
                                      .regs = k->info.regs,
                                      .regs_from = k->regs_from,
                                      .status = status,
                                      .seconds = (double)(mg__time_ns() - d->began) * 1e-9};
    mg__report_launch(d->options.report, &record);
}

/* Once a line: a loop of launches would say it again and again. */
static void warn_once(void *context, const struct mg_diag *warning)
{
    struct mg_device_kernel *k = context;
    for (size_t i = 0; i < k->ntold; i++)
        if (k->told[i].line == warning->line && !strcmp(k->told[i].file, warning->file))
            return;
    struct mg_device_told *told = realloc(k->told, (k->ntold + 1) * sizeof(*told));
    if (told) {
        k->told = told;
        told[k->ntold].line = warning->line;
        snprintf(told[k->ntold++].file, sizeof(told->file), "%s", warning->file);
    }
    struct mg_diag diag = *warning;
    drop_name(k, &diag);
    k->module->device->options.warn(k->name, &diag);
}

static enum mg_status run(struct mg_device_kernel *k, const struct mg_device_launch *l,
                          const struct mg_simt_launch *launch, struct mg_diag *diag)
{
    struct mg_device *d = k->module->device;
    bool watched = recorded(k);
    mg__simt_observe_enable(d->simt, watched);
    if (d->pictures && watched)
        mg__simt_observe_first(
            d->simt, mg__pictures_wants(d->pictures, k->info.name, l->grid, l->block, l->shared) ? ~0u : d->others);
    if (!watched)
        mg__check_unobserved(d->check);
    if (d->advise)
        mg__advise_regs(d->advise, k->info.regs, k->regs_from, k->exact || k->assembled);
    d->running = k;
    d->began = mg__time_ns();
    mg__check_begins(d->check, k->info.name, l->stream, false);
    enum mg_status status = mg__simt_launch(d->simt, k->simt, launch, diag);
    mg__check_ends(d->check);
    if (watched && d->check)
        record_checked(k, l, status);
    d->running = NULL;
    return status;
}

/* The values laid out as the kernel reads them. */
static enum mg_status pack(const struct mg_device_kernel *k, void *const *args, unsigned char *params,
                           struct mg_diag *diag)
{
    const struct mg_ptx_func *f = k->info.func;
    for (size_t i = 0; i < f->nparams; i++) {
        const struct mg_ptx_var *p = f->params[i];
        if (p->offset > k->info.param_size || p->size > k->info.param_size - p->offset)
            return mg__diag_set(diag, MG_ERR_SYNTAX, "parameter %zu lies outside the kernel's parameters", i);
        if (!args || !args[i])
            return mg__diag_set(diag, MG_ERR_INVALID, "the kernel has parameters, and %s is null",
                                args ? "a pointer to one" : "args");
        memcpy(params + p->offset, args[i], p->size);
    }
    return MG_OK;
}

enum mg_status mg__device_launch(struct mg_device_kernel *k, const struct mg_device_launch *l,
                                 struct mg_device_outcome *out)
{
    struct mg_device *d = k->module->device;
    struct mg_launch_shape shape;
    unsigned char small[512], *params = small;
    memset(out, 0, sizeof(*out));
    struct mg_occupancy_query compiled = mg_arch_query(0, k->info.regs, k->info.shared_static, 0);
    compiled.shared_optin = k->shared_optin;
    compiled.carveout = k->carveout;
    compiled.barriers = k->barriers;
    struct mg_simt_launch launch = {.grid = l->grid,
                                    .block = l->block,
                                    .params = params,
                                    .shared = (uint32_t)MG_MIN(l->shared, UINT32_MAX),
                                    .cooperative = l->cooperative,
                                    .cluster = l->cluster.x ? l->cluster : k->cluster,
                                    .cluster_non_portable = k->cluster_non_portable,
                                    .compiled = &compiled,
                                    .estimated = !k->exact,
                                    .warn = d->options.strict || !d->options.warn ? NULL : warn_once,
                                    .warn_context = k};
    out->refused = mg__simt_check(k->simt, &launch, &shape, &out->diag);
    if (out->refused) {
        drop_name(k, &out->diag);
        mg__check_refused(d->check, k->info.name, &d->arch, &shape, out->refused, out->diag.message);
        return out->status = out->diag.status;
    }
    if (k->info.param_size > sizeof(small) && !(params = malloc(k->info.param_size)))
        return out->status = mg__diag_set(&out->diag, MG_ERR_NOMEM, "no host memory for a launch");
    memset(params, 0, k->info.param_size);
    launch.params = params;
    if (k->reads_clock)
        mg__report_note(d->options.report, "the clock that kernels read (clock, clock64) counts the simulator's steps "
                                           "and no GPU's cycles; the other counts are a GPU's");
    out->status = pack(k, l->args, params, &out->diag);
    if (!out->status)
        out->status = run(k, l, &launch, &out->diag);
    if (params != small)
        free(params);
    if (out->status && !out->diag.message[0])
        mg__diag_set(&out->diag, out->status, "%s", mg_status_text(out->status));
    drop_name(k, &out->diag);
    return out->status;
}
