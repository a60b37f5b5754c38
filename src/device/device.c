/* device.c - a device made of its parts: the engine, the code generator, the observers that its options ask for, and
 * what goes from them into the report.
 */
#include "device/queue.h"
#include "device/same.h"
#include "device/timeline.h"

#include "advise/advise.h"
#include "jit/jit.h"
#include "model/model.h"
#include "picture/picture.h"

struct mg_report_device mg__device_header(const struct mg_device_options *options)
{
    const struct mg_arch *arch = options->arch ? options->arch : mg_arch_find(90);
    const struct mg_board *board = options->board ? options->board : arch->board;
    return (struct mg_report_device){board->name, arch->cc, board->sm_count};
}

uint64_t mg__device_memory(const struct mg_device_options *options)
{
    const struct mg_arch *arch = options->arch ? options->arch : mg_arch_find(90);
    return (options->board ? options->board : arch->board)->memory;
}

/* ---- records ---- */
static void on_progress(void *arg, const char *kernel, uint64_t done, uint64_t total, double seconds)
{
    const struct mg_device *d = arg;
    mg__report_progress(d->options.report, kernel, done, total, seconds);
}

/* The model's record of a launch, which lacks what only the device knows. */
static void on_launch(void *arg, struct mg_report_launch *launch)
{
    const struct mg_device *d = arg;
    launch->device = d->options.number;
    launch->regs = d->running->info.regs;
    launch->regs_from = d->running->regs_from;
    launch->seconds = d->seconds;
    if (d->options.times) {
        mg__time_metrics(mg__time_result(d->time), &launch->metrics);
        mg__time_lines(d->time, launch->lines, launch->nlines);
    }
    mg__report_launch(d->options.report, launch);
}

static void on_advice(void *arg, const struct mg_report_advice *advice)
{
    const struct mg_device *d = arg;
    if (d->same) {
        d->same->advised = true;
        d->same->of_kernel = advice->seconds;
        d->same->pages = advice->pages;
        d->same->moves = mg__mem_moves(d->simt);
        d->same->shared_static = advice->shared_static;
        d->same->shared_dynamic = advice->shared_dynamic;
    }
    mg__report_advice(d->options.report, advice);
}

static void on_picture(void *arg, struct mg_report_picture *picture)
{
    const struct mg_device *d = arg;
    picture->kernel = d->running->name;
    picture->device = d->options.number;
    mg__report_picture(d->options.report, picture);
}

static void on_finding(void *arg, const struct mg_report_finding *finding)
{
    const struct mg_device *d = arg;
    struct mg_report_finding named = *finding;
    struct mg_strbuf text = {0};
    if (d->options.several && mg__strbuf_printf(&text, "device %u: %s", d->options.number, finding->message))
        named.message = text.at;
    mg__report_finding(d->options.report, &named);
    mg__strbuf_free(&text);
}

/* ---- making it ---- */
static enum mg_status draw(struct mg_device *d)
{
    struct mg_observer observer;
    const void *all[] = {d->clock, d->check, d->time, d->model, d->advise};
    for (size_t i = 0; i < MG_COUNT(all); i++)
        d->others += all[i] != NULL;
    if (!d->options.pictures)
        return MG_OK;
    enum mg_status status = mg__pictures_create(&d->arch, on_picture, d, &d->pictures);
    if (status)
        return status;
    mg__pictures_observer(d->pictures, &observer);
    return mg__simt_observe(d->simt, &observer);
}

/* The clock and the times come first of all, so that launches of which nothing but the time is asked can have it alone,
 * and before the model, whose record has its answer. */
static enum mg_status time_launches(struct mg_device *d)
{
    if (d->options.host_clock && !d->options.times && !d->options.advise)
        return MG_OK;
    d->clock = d->options.host_clock ? NULL : mg__time_clock_create(&d->arch);
    d->time = mg__time_create(&d->arch);
    d->timeline = d->options.host_clock ? NULL : mg__timeline_create(&d->arch);
    d->sames = mg__sames_create();
    if (!d->time || !d->sames || ((!d->timeline || !d->clock) && !d->options.host_clock))
        return MG_ERR_NOMEM;
    struct mg_observer observer;
    enum mg_status status = MG_OK;
    if (d->clock) {
        observer = mg__time_clock_observer(d->clock);
        status = mg__simt_observe(d->simt, &observer);
    }
    observer = mg__time_observer(d->time);
    return status ? status : mg__simt_observe(d->simt, &observer);
}

static enum mg_status observe(struct mg_device *d)
{
    struct mg_observer observer;
    enum mg_status status = time_launches(d);
    if (status || !d->options.report)
        return status;
    if (d->options.checks) {
        status = mg__check_create(d->options.checks, on_finding, d, &d->check);
        if (status)
            return status;
        observer = mg__check_observer(d->check);
        status = mg__simt_observe(d->simt, &observer);
        if (status || !d->options.both)
            return status ? status : draw(d);
    }
    status = mg__model_create(&d->arch, on_launch, d, &d->model);
    if (!status) {
        observer = mg__model_observer(d->model);
        status = mg__simt_observe(d->simt, &observer);
    }
    if (!status && d->options.advise) {
        mg__time_keep(d->time);
        status = mg__advise_create(&d->arch, d->time, d->model, on_advice, d, &d->advise);
    }
    if (!status && d->advise) {
        observer = mg__advise_observer(d->advise);
        status = mg__simt_observe(d->simt, &observer);
    }
    return status ? status : draw(d);
}

enum mg_status mg__device_create(const struct mg_device_options *options, struct mg_device **device,
                                 struct mg_diag *diag)
{
    *device = NULL;
    memset(diag, 0, sizeof(*diag));
    struct mg_device *d = calloc(1, sizeof(*d));
    if (!d)
        return mg__diag_set(diag, MG_ERR_NOMEM, "no host memory for a device");
    d->options = *options;
    d->arch = *(options->arch ? options->arch : mg_arch_find(90));
    if (options->board)
        d->arch.board = options->board;
    d->options.arch = &d->arch;
    struct mg_simt_options simt = {.arch = &d->arch, .threads = options->threads, .timeout_ms = options->timeout_ms};
    if (options->report && options->progress) {
        simt.progress = on_progress;
        simt.progress_arg = d;
    }
    enum mg_status status = mg__simt_create(&simt, &d->simt);
    if (!status) {
        mg__simt_sample(d->simt, options->sample, options->no_results);
        status = mg__queue_create(d);
    }
    if (!status)
        status = mg__streams_create(d);
    if (status)
        mg__diag_set(diag, status, "the simulated device could not be made: %s", mg_status_text(status));
    else
        status = mg__jit_choose(d->simt, options->engine, options->verbose, &d->engine, diag);
    if (!status && (status = observe(d)) != MG_OK)
        mg__diag_set(diag, status, "launches cannot be observed: %s", mg_status_text(status));
    if (status) {
        mg__device_destroy(d);
        return status;
    }
    mg__device_reset_limits(d);
    *device = d;
    return MG_OK;
}

void mg__device_destroy(struct mg_device *d)
{
    if (!d)
        return;
    mg__queue_destroy(d->queue);
    mg__streams_destroy(d);
    while (d->modules.count)
        mg__device_unload(d->modules.at[d->modules.count - 1]);
    mg__vec_free(&d->modules);
    mg__simt_destroy(d->simt);
    mg__jit_close(d->engine);
    if (d->model)
        mg__model_destroy(d->model);
    if (d->advise)
        mg__advise_destroy(d->advise);
    mg__time_destroy(d->time);
    mg__time_clock_destroy(d->clock);
    mg__timeline_destroy(d->timeline);
    mg__sames_destroy(d->sames);
    mg__pictures_destroy(d->pictures);
    mg__check_destroy(d->check);
    free(d);
}
