/* launch.c - a launch: whether the device takes it, its parameters, its record, and what became of it.
 *
 * Registers are those of the program's machine code for this device; where it has none they are an estimate, and no
 * launch is refused for their number.
 */
#include "advise/advise.h"
#include "device/queue.h"
#include "device/same.h"
#include "device/timeline.h"
#include "picture/picture.h"

/* The engine says "name: " first; whose kernel it is, is the caller's to say, as the program wrote it. */
static void drop_name(const struct mg_device_kernel *k, struct mg_diag *diag)
{
    size_t n = strlen(k->info.name);
    if (!strncmp(diag->message, k->info.name, n) && !strncmp(diag->message + n, ": ", 2))
        memmove(diag->message, diag->message + n + 2, strlen(diag->message + n + 2) + 1);
}

/* Where there are several devices, which one it was. */
static void name_device(const struct mg_device_kernel *k, struct mg_diag *diag)
{
    const struct mg_device_options *o = &k->module->device->options;
    struct mg_diag plain = *diag;
    if (o->several && diag->status)
        snprintf(diag->message, sizeof(diag->message), "device %u: %.480s", o->number, plain.message);
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
static void record_checked(const struct mg_device_taken *t)
{
    const struct mg_device_kernel *k = t->kernel;
    const struct mg_device *d = k->module->device;
    struct mg_report_launch record = {.kernel = k->name,
                                      .mangled = k->info.name,
                                      .device = d->options.number,
                                      .grid = t->asked.grid,
                                      .block = t->asked.block,
                                      .shared_static = k->info.shared_static,
                                      .shared_dynamic = (uint32_t)t->asked.shared,
                                      .regs = k->info.regs,
                                      .regs_from = k->regs_from,
                                      .status = t->status,
                                      .seconds = t->seconds};
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
    name_device(k, &diag);
    k->module->device->options.warn(k->name, &diag);
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

static void describe(struct mg_device_taken *t)
{
    const struct mg_device_kernel *k = t->kernel;
    const struct mg_device *d = k->module->device;
    const struct mg_device_launch *l = &t->asked;
    t->compiled = mg_arch_query(0, k->info.regs, k->info.shared_static, 0);
    t->compiled.shared_optin = k->shared_optin;
    t->compiled.carveout = k->carveout;
    t->compiled.barriers = k->barriers;
    t->simt = (struct mg_simt_launch){.grid = l->grid,
                                      .block = l->block,
                                      .shared = (uint32_t)MG_MIN(l->shared, UINT32_MAX),
                                      .cooperative = l->cooperative,
                                      .cluster = l->cluster.x ? l->cluster : k->cluster,
                                      .cluster_non_portable = k->cluster_non_portable,
                                      .compiled = &t->compiled,
                                      .estimated = !k->exact,
                                      .warn = d->options.strict || !d->options.warn ? NULL : warn_once,
                                      .warn_context = t->kernel,
                                      .patient = true};
}

static void note_clock(const struct mg_device *d)
{
    mg__report_note(d->options.report,
                    d->clock ? "the clocks that kernels read (clock, clock64, globaltimer) are the GPU's as "
                               "modelled (docs/time.md); --clock host has the simulator's own steps"
                             : "the clock that kernels read (clock, clock64) counts the simulator's steps "
                               "and no GPU's cycles; the other counts are a GPU's");
}

/* Whether how long it takes is looked at, if that is asked; and on the line of modelled time, if that has begun. */
static void place(struct mg_device_taken *t)
{
    const struct mg_device_kernel *k = t->kernel;
    const struct mg_device *d = k->module->device;
    const struct mg_device_launch *l = &t->asked;
    const bool on = mg__timeline_is_on(d->timeline);
    if (!on && !(d->advise && t->watched))
        return;
    const uint64_t facts[] = {k->number,
                              l->grid.x,
                              l->grid.y,
                              l->grid.z,
                              l->block.x,
                              l->block.y,
                              l->block.z,
                              l->shared,
                              l->cluster.x,
                              l->cluster.y,
                              l->cluster.z,
                              l->cooperative,
                              mg__hash(t->params, k->info.param_size)};
    t->same = mg__same_launch(d->sames, facts, sizeof(facts), &t->looked);
    if (!on)
        return;
    uint64_t blocks = (uint64_t)l->grid.x * l->grid.y * l->grid.z;
    unsigned resident = mg__device_resident(k, l->block.x * l->block.y * l->block.z, l->shared);
    double share = (double)blocks / ((double)MG_MAX(resident, 1u) * d->arch.board->sm_count);
    t->item = mg__timeline_launch(d->timeline, l->order, MG_MIN(share, 1.0));
}

static void free_taken(struct mg_device_taken *t)
{
    if (t->params != t->small)
        free(t->params);
    free(t);
}

enum mg_status mg__launch_take(struct mg_device_kernel *k, const struct mg_device_launch *l,
                               struct mg_device_taken **taken, struct mg_device_outcome *out)
{
    struct mg_device *d = k->module->device;
    struct mg_launch_shape shape;
    struct mg_device_taken *t = malloc(sizeof(*t));
    size_t size = k->info.param_size;
    if (!t)
        return out->status = mg__diag_set(&out->diag, MG_ERR_NOMEM, "no host memory for a launch");
    *t = (struct mg_device_taken){.kernel = k, .asked = *l};
    t->params = size > sizeof(t->small) ? calloc(1, size) : t->small;
    describe(t);
    t->simt.params = t->params;
    out->refused = mg__simt_check(k->simt, &t->simt, &shape, &out->diag);
    if (out->refused) {
        drop_name(k, &out->diag);
        mg__check_refused(d->check, k->info.name, &d->arch, &shape, out->refused, out->diag.message);
        out->status = out->diag.status;
    } else if (!t->params) {
        out->status = mg__diag_set(&out->diag, MG_ERR_NOMEM, "no host memory for a launch");
    } else {
        out->status = pack(k, l->args, t->params, &out->diag);
    }
    if (out->status) {
        drop_name(k, &out->diag);
        name_device(k, &out->diag);
        free_taken(t);
        return out->status;
    }
    if (k->reads_clock)
        note_clock(d);
    t->watched = recorded(k);
    place(t);
    *taken = t;
    return MG_OK;
}

/* Whether what was said of the last one that was looked at holds for another such launch: not if pages of managed
 * memory came with it, or have gone since. */
static bool as_before(const struct mg_device *d, const struct mg_same *same)
{
    return same && same->advised && same->pages == 0 && same->moves == mg__mem_moves(d->simt);
}

/* Those of the clock and of times come first, that of pictures last; those between follow what is recorded. */
static void choose_observers(struct mg_device_taken *t)
{
    const struct mg_device_kernel *k = t->kernel;
    const struct mg_device_launch *l = &t->asked;
    struct mg_device *d = k->module->device;
    bool clocked = d->clock && k->reads_clock;
    bool drawn =
        d->pictures && t->watched && mg__pictures_wants(d->pictures, k->info.name, l->grid, l->block, l->shared);
    bool advised = d->advise && t->watched;
    if (advised)
        t->looked |= d->options.times || clocked || drawn || !as_before(d, t->same);
    bool timed = d->time && (t->looked || (t->watched && d->options.times));
    unsigned clocks = d->clock ? 1 : 0, times = clocks + (d->time ? 1 : 0), end = t->watched ? ~0u : times;
    if (d->pictures && t->watched && !drawn)
        end = d->others;
    if (advised && !t->looked)
        end = d->others - 1;
    mg__simt_observe_enable(d->simt, t->watched || timed || clocked);
    mg__simt_observe_range(d->simt, clocked ? 0 : timed ? clocks : times, end);
}

/* What the model of time is to know of a kernel beyond its PTX. */
static void tell_time(const struct mg_device_kernel *k)
{
    struct mg_device *d = k->module->device;
    const struct mg_cubin_kernel *code = mg__cubin_find(&k->module->cubin, k->info.name);
    if (!d->time)
        return;
    struct mg_time_native native = {0};
    if (code && code->lines && k->module->code_cc == d->arch.cc)
        native = (struct mg_time_native){code->words, code->lines, code->nwords};
    mg__time_regs(d->time, k->info.regs);
    mg__time_native(d->time, &native);
}

static enum mg_status begin(struct mg_device_taken *t, struct mg_diag *diag)
{
    const struct mg_device_kernel *k = t->kernel;
    struct mg_device *d = k->module->device;
    choose_observers(t);
    if (!t->watched)
        mg__check_unobserved(d->check);
    tell_time(k);
    if (d->clock)
        mg__time_clock_regs(d->clock, k->info.regs);
    if (d->advise)
        mg__advise_regs(d->advise, k->info.regs, k->regs_from, k->exact || k->assembled);
    mg__check_launches(d->check, t->asked.stream, t->asked.dependent);
    t->began = mg__time_ns();
    return mg__simt_begin(d->simt, k->simt, &t->simt, &t->run, diag);
}

bool mg__launch_turn(struct mg_device_taken *t, struct mg_queue *q, bool *moved, struct mg_device_outcome *out)
{
    const struct mg_device_kernel *k = t->kernel;
    const struct mg_device_options *o = &k->module->device->options;
    uint64_t start = 0;
    memset(out, 0, sizeof(*out));
    if (t->rested) {
        start = mg__time_ns();
        mg__simt_excuse(t->run, q->useful - t->useful);
    } else {
        t->useful_before = q->useful;
        t->status = begin(t, &out->diag);
        start = t->began;
    }
    if (o->runs)
        o->runs(k);
    bool over = !t->run || mg__simt_turn(t->run, moved);
    if (o->runs)
        o->runs(NULL);
    uint64_t now = mg__time_ns(), polls = over ? 0 : mg__simt_polls(t->run);
    q->useful += *moved ? (polls ? MG_MAX(polls, start) : now) - start : 0;
    t->waited |= polls != 0;
    t->useful = q->useful;
    t->rested = !over || t->rested;
    if (!over)
        return false;
    t->seconds = (double)(now - t->began) * 1e-9;
    if (t->waited)
        t->idle = t->seconds - (double)(q->useful - t->useful_before) * 1e-9;
    if (t->run) {
        t->status = mg__simt_status(t->run, &out->diag);
        out->abandoned = mg__simt_abandoned(t->run);
    }
    out->status = t->status;
    if (out->status && !out->diag.message[0])
        mg__diag_set(&out->diag, out->status, "%s", mg_status_text(out->status));
    drop_name(k, &out->diag);
    name_device(k, &out->diag);
    return true;
}

/* Of a launch that is advised and was not looked at. */
static void advise_as_before(const struct mg_device_taken *t)
{
    const struct mg_device_kernel *k = t->kernel;
    const struct mg_report_advice a = {.mangled = k->info.name,
                                       .grid = t->asked.grid,
                                       .block = t->asked.block,
                                       .shared_static = t->same->shared_static,
                                       .shared_dynamic = t->same->shared_dynamic,
                                       .status = t->status,
                                       .seconds = t->same->of_kernel,
                                       .shorter = true,
                                       .as_before = true};
    mg__report_advice(k->module->device->options.report, &a);
}

/* The checks keep the order that the program states. A launch that rested may have waited for others beside it, in ways
 * that they do not follow: nothing is claimed of it and what went on meanwhile. */
void mg__launch_end(struct mg_device_taken *t)
{
    struct mg_device *d = t->kernel->module->device;
    if (t->rested)
        mg__check_host_waited(d->check, 0, true);
    mg__check_begins(d->check, t->kernel->info.name, t->asked.stream, false);
    tell_time(t->kernel);
    if (d->advise)
        mg__advise_regs(d->advise, t->kernel->info.regs, t->kernel->regs_from,
                        t->kernel->exact || t->kernel->assembled);
    d->running = t->kernel;
    d->seconds = t->seconds;
    d->same = t->same;
    if (t->run)
        mg__simt_end(t->run);
    const double modelled = t->run && t->looked ? mg__time_result(d->time)->seconds : 0,
                 took = mg__same_took(t->same, t->looked, modelled);
    if (t->item)
        mg__timeline_ran(d->timeline, t->item, took, MG_MAX(t->idle, 0.0));
    if (d->advise && t->watched && t->run && !t->looked)
        advise_as_before(t);
    d->running = NULL;
    d->same = NULL;
    mg__check_ends(d->check);
    if (t->rested)
        mg__check_host_waited(d->check, 0, true);
    if (t->watched && t->began && d->check && !d->model)
        record_checked(t);
    free_taken(t);
}

enum mg_status mg__device_launch(struct mg_device_kernel *kernel, const struct mg_device_launch *launch,
                                 struct mg_device_outcome *outcome)
{
    return mg__queue_launch(kernel, launch, true, outcome);
}
