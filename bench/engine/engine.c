/* engine.c - the contender that is ours: PTX text through the parser and the engine, in this process.
 *
 * Modes: bare (no observer), with the models (the observer that `margay profile` attaches), with the checks (that of
 * `margay check`), with the advice (those of `margay advise`), the first two with the model of time before them, as for
 * launches that a program times, and counting, which asks the engine how many instructions warps issued and is never
 * timed. Loading (parsing, translating, allocating) is not timed, as compiling is not for the peer; a run is the
 * launches.
 */
#include "bench.h"

#include <math.h>

#ifdef MG_HAVE_JIT
#include "jit/jit.h"
#include "simt/engine.h"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>
#endif
#include "advise/advise.h"
#include "check/check.h"
#include "model/model.h"
#include "simt/simt.h"
#include "time/time.h"

struct engine {
    struct bench_peer peer;
    struct mg_simt *simt;
    struct mg_engine *jit;
    struct mg_model *model;
    struct mg_check *check;
    struct mg_time *time;
    struct mg_advise *advise;
    struct mg_simt_module *modules[2]; /* of kernels.cu and of wild.cu */
    struct mg_simt_kernel *kernel;
    uint64_t buffers[BENCH_BUFFERS];
    struct {
        struct mg_simt_launch launch;
        unsigned char params[64];
    } steps[BENCH_STEPS];
    uint64_t warp_instructions, metrics[MG_METRIC_COUNT];
    bool ordered;
    struct seen { /* by launch, up to SEEN of a run: what BENCH_SAMPLE is judged by */
        struct mg_metrics metrics;
        double half[MG_METRIC_COUNT];
        bool sampled;
    } * seen;
    unsigned nseen, findings;
};
enum { SEEN = 64 };

static bool failed(struct engine *e, const char *what, enum mg_status status, const struct mg_diag *diag)
{
    if (diag && diag->message[0])
        snprintf(e->peer.error, sizeof e->peer.error, "%s: %s [%s:%u: %s]", what, diag->message, diag->file, diag->line,
                 diag->excerpt);
    else
        snprintf(e->peer.error, sizeof e->peer.error, "%s: status %d", what, (int)status);
    return false;
}

/* ---- the observer that counts ---- */
static enum mg_status count_begin(void *self, const struct mg_launch_info *launch, unsigned workers, void **state)
{
    struct engine *e = *state = self;
    e->ordered |= launch->ordered || (uint64_t)launch->grid.x * launch->grid.y * launch->grid.z == 1;
    (void)workers;
    return MG_OK;
}

static void *count_worker_begin(void *state, unsigned worker)
{
    (void)state, (void)worker;
    return calloc(1, sizeof(uint64_t));
}

static void count_counts(void *worker, const struct mg_insn_counts *counts, uint32_t ninsns)
{
    uint64_t *total = worker;
    for (uint32_t i = 0; i < ninsns; i++)
        *total += counts[i].warps;
}

static void count_worker_end(void *state, void *worker)
{
    ((struct engine *)state)->warp_instructions += *(uint64_t *)worker;
    free(worker);
}

static void count_end(void *state, enum mg_status status)
{
    (void)state, (void)status;
}

static void model_done(void *arg, struct mg_report_launch *launch)
{
    struct engine *e = arg;
    for (unsigned k = 0; k < MG_METRIC_COUNT; k++)
        e->metrics[k] += launch->metrics.v[k];
    if (!e->seen || e->nseen == SEEN)
        return;
    struct seen *s = &e->seen[e->nseen++];
    *s = (struct seen){.metrics = launch->metrics, .sampled = launch->sample != NULL};
    if (launch->sample)
        memcpy(s->half, launch->sample->half, sizeof s->half);
}

static void advised(void *arg, const struct mg_report_advice *advice)
{
    (void)arg, (void)advice;
}

static void found(void *arg, const struct mg_report_finding *finding)
{
    struct engine *e = arg;
    e->findings++;
    if (getenv("MARGAY_VERBOSE"))
        fprintf(stderr, "%s: %s/%s, %s\n", e->peer.current ? e->peer.current->name : "", finding->check, finding->kind,
                finding->message);
}

/* ---- the contender ---- */
static enum mg_status attach(struct engine *e, struct mg_observer observer)
{
    return mg__simt_observe(e->simt, &observer);
}

/* In the order of src/device: the model of time, the checks, the models, the advice. No clock: no kernel here reads
 * one. */
static enum mg_status attach_all(struct engine *e, enum bench_engine_mode mode)
{
    const struct mg_arch *arch = mg__simt_arch(e->simt);
    const bool advise = mode == BENCH_ADVISE, timed = mode == BENCH_TIMED || mode == BENCH_CHECK_TIMED;
    enum mg_status status = MG_OK;
    if (timed || advise) {
        e->time = mg__time_create(arch);
        if (!e->time)
            return MG_ERR_NOMEM;
        if (advise)
            mg__time_keep(e->time);
        if ((status = attach(e, mg__time_observer(e->time))) != MG_OK)
            return status;
    }
    if (mode == BENCH_CHECK || mode == BENCH_CHECK_TIMED) {
        status = mg__check_create(MG_CHECK_ALL, found, e, &e->check);
        return status ? status : attach(e, mg__check_observer(e->check));
    }
    if ((status = mg__model_create(arch, model_done, e, &e->model)) != MG_OK ||
        (status = attach(e, mg__model_observer(e->model))) != MG_OK || !advise)
        return status;
    status = mg__advise_create(arch, e->time, e->model, advised, e, &e->advise);
    return status ? status : attach(e, mg__advise_observer(e->advise));
}

static void drop(struct engine *e)
{
    for (int i = 0; i < BENCH_BUFFERS; i++) {
        if (e->buffers[i]) {
            mg__check_freed(e->check, e->buffers[i]);
            mg__mem_free(e->simt, e->buffers[i]);
        }
        e->buffers[i] = 0;
    }
}

static bool engine_reset(struct bench_peer *peer)
{
    struct engine *e = (struct engine *)peer;
    const struct bench_case *c = peer->current;
    for (int i = 0; i < BENCH_BUFFERS; i++)
        if (c->bytes[i] && c->data[i])
            memcpy((void *)(uintptr_t)e->buffers[i], c->data[i], c->bytes[i]);
        else if (c->bytes[i])
            memset((void *)(uintptr_t)e->buffers[i], 0, c->bytes[i]);
    for (int i = 0; i < BENCH_BUFFERS; i++)
        if (c->bytes[i])
            mg__check_filled(e->check, e->buffers[i], c->bytes[i]);
    e->findings = 0;
    e->warp_instructions = 0;
    e->ordered = false;
    e->nseen = 0;
    memset(e->metrics, 0, sizeof e->metrics);
    return true;
}

static bool engine_load(struct bench_peer *peer, const struct bench_case *c)
{
    struct engine *e = (struct engine *)peer;
    drop(e);
    peer->current = c;
    e->kernel = mg__simt_kernel_find(e->modules[c->wild], c->kernel);
    if (!e->kernel)
        return failed(e, c->kernel, MG_ERR_NOT_FOUND, NULL);
    for (int i = 0; i < BENCH_BUFFERS; i++)
        if (c->bytes[i]) {
            enum mg_status status = mg__mem_alloc(e->simt, c->bytes[i], 256, &e->buffers[i]);
            if (status != MG_OK)
                return failed(e, "device memory", status, NULL);
            mg__check_allocated(e->check, e->buffers[i], c->bytes[i], MG_CHECK_DEVICE);
        }
    struct mg_simt_kernel_info info;
    mg__simt_kernel_info(e->kernel, &info);
    for (int s = 0; s < c->nsteps; s++) {
        const struct bench_step *step = &c->steps[s];
        if (info.param_size > sizeof e->steps[s].params || info.func->nparams != (size_t)step->nargs + 1)
            return failed(e, "the kernel's parameters are not those of kernels.cu", MG_ERR_INVALID, NULL);
        for (int i = 0; i < step->nargs; i++)
            memcpy(e->steps[s].params + info.func->params[i]->offset, &e->buffers[step->args[i]], 8);
        memcpy(e->steps[s].params + info.func->params[step->nargs]->offset, &step->n, 4);
        e->steps[s].launch = (struct mg_simt_launch){.grid = {step->grid[0], step->grid[1], 1},
                                                     .block = {c->block[0], c->block[1], 1},
                                                     .params = e->steps[s].params};
    }
    return engine_reset(peer);
}

static bool engine_run(struct bench_peer *peer)
{
    struct engine *e = (struct engine *)peer;
    const struct bench_case *c = peer->current;
    for (int i = 0; i < c->nsteps + (c->launches > 1 ? c->launches - 1 : 0); i++) {
        struct mg_diag diag = {.status = MG_OK};
        int s = i;
        if (c->launches > 1) {
            struct mg_simt_kernel_info info;
            mg__simt_kernel_info(e->kernel, &info);
            s = 0;
            memcpy(e->steps[0].params + info.func->params[c->steps[0].nargs]->offset, &i, 4);
        }
        enum mg_status status = mg__simt_launch(e->simt, e->kernel, &e->steps[s].launch, &diag);
        if (status != MG_OK)
            return failed(e, c->kernel, status, &diag);
    }
    return true;
}

static const void *engine_result(struct bench_peer *peer)
{
    return (const void *)(uintptr_t)((struct engine *)peer)->buffers[peer->current->result];
}

static void engine_close(struct bench_peer *peer)
{
    struct engine *e = (struct engine *)peer;
    if (e->simt) {
        drop(e);
        for (unsigned k = 0; k < MG_COUNT(e->modules); k++)
            if (e->modules[k])
                mg__simt_module_unload(e->modules[k]);
        mg__simt_destroy(e->simt);
    }
#ifdef MG_HAVE_JIT
    mg__jit_close(e->jit);
#endif
    if (e->model)
        mg__model_destroy(e->model);
    mg__check_destroy(e->check);
    if (e->advise)
        mg__advise_destroy(e->advise);
    mg__time_destroy(e->time);
    free(e->seen);
    free(e);
}

/* Compiled code: `cache` is a folder of kept code, "" for none. */
static struct bench_peer *open_with(const struct bench_texts *texts, unsigned threads, enum bench_engine_mode mode,
                                    const char *cache, bool quick, char *error, size_t size)
{
    static const struct bench_peer_ops ops = {engine_load, engine_reset, engine_run, engine_result, engine_close};
    const struct {
        const char *text;
        size_t length;
    } parts[2] = {{texts->ptx, texts->length}, {texts->wild, texts->wild_length}};
    struct mg_diag diag = {.status = MG_OK};
    struct engine *e = calloc(1, sizeof *e);
    if (!e) {
        snprintf(error, size, "out of memory");
        return NULL;
    }
    e->peer.ops = &ops;
    struct mg_simt_options options = {.threads = threads, .memory = (size_t)256 << 20};
    enum mg_status status = mg__simt_create(&options, &e->simt);
    if (status != MG_OK) {
        failed(e, "the engine does not start", status, NULL);
        goto fail;
    }
#ifdef MG_HAVE_JIT
    const char *reason;
    struct mg_jit_options jit = {.cache = cache, .verbose = getenv("MARGAY_VERBOSE") != NULL, .quick = quick};
    if (mode != BENCH_INTERPRET && (e->jit = mg__jit_open(&jit, &reason)))
        mg__simt_attach(e->simt, e->jit);
#else
    (void)cache, (void)quick;
#endif
    const bool sample = mode == BENCH_SAMPLE || mode == BENCH_SAMPLE_ALONE;
    if (sample)
        mg__simt_sample(e->simt, 8, mode == BENCH_SAMPLE_ALONE);
    e->seen = calloc(SEEN, sizeof *e->seen);
    if (mode == BENCH_COUNT) {
        struct mg_observer observer = {.self = e,
                                       .wants = MG_OBSERVE_COUNTS,
                                       .launch_begin = count_begin,
                                       .worker_begin = count_worker_begin,
                                       .counts = count_counts,
                                       .worker_end = count_worker_end,
                                       .launch_end = count_end};
        status = mg__simt_observe(e->simt, &observer);
    } else if (mode != BENCH_BARE) {
        status = attach_all(e, mode);
    }
    if (status != MG_OK) {
        failed(e, "no observer", status, NULL);
        goto fail;
    }
    for (unsigned k = 0; k < MG_COUNT(parts); k++) {
        struct mg_ptx_module *parsed = NULL;
        status = mg__ptx_parse(parts[k].text, parts[k].length, &parsed, &diag);
        if (status == MG_OK)
            status = mg__simt_module_load(e->simt, parsed, &e->modules[k], &diag);
        if (status != MG_OK) {
            mg__ptx_free(parsed);
            failed(e, "the PTX does not load", status, &diag);
            goto fail;
        }
    }
    return &e->peer;
fail:
    snprintf(error, size, "%s", e->peer.error);
    engine_close(&e->peer);
    return NULL;
}

struct bench_peer *bench_engine_open(const struct bench_texts *texts, unsigned threads, enum bench_engine_mode mode,
                                     bool quick, char *error, size_t size)
{
    return open_with(texts, threads, mode, getenv("MARGAY_CACHE") ? NULL : "", quick, error, size);
}

#ifdef MG_HAVE_JIT
static void empty_folder(const char *path)
{
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder)) != NULL;)
        if (entry->d_name[0] != '.')
            unlinkat(dirfd(folder), entry->d_name, 0);
    if (folder)
        closedir(folder);
    rmdir(path);
}

/* One process's first launch of the case, with what is kept in `folder`. */
static bool first_launch(const struct bench_texts *texts, const struct bench_case *c, const char *folder, bool quick,
                         struct bench_making *making, char *error, size_t size)
{
    struct bench_peer *peer = open_with(texts, 1, BENCH_BARE, folder, quick, error, size);
    if (!peer)
        return false;
    struct engine *e = (struct engine *)peer;
    bool good = engine_load(peer, c) && engine_run(peer);
    if (!good)
        snprintf(error, size, "%s", peer->error);
    struct mg_jit_stats stats = {0};
    if (good && e->jit)
        mg__jit_stats(e->jit, &stats);
    double *const to[] = {&making->quick, &making->thorough, &making->load};
    const double took[] = {stats.compile_seconds[MG_ENGINE_QUICK], stats.compile_seconds[MG_ENGINE_THOROUGH],
                           stats.load_seconds};
    for (unsigned k = 0; k < MG_COUNT(to); k++)
        if (took[k] > 0 && (*to[k] == 0 || took[k] < *to[k]))
            *to[k] = took[k];
    if (good) {
        struct mg_simt_kernel_info info;
        mg__simt_kernel_info(e->kernel, &info);
        making->instructions = (unsigned)info.func->ninsns;
    }
    engine_close(peer);
    return good;
}
#endif

bool bench_engine_making(const struct bench_texts *texts, const struct bench_case *c, struct bench_making *making,
                         char *error, size_t size)
{
    *making = (struct bench_making){0};
#ifdef MG_HAVE_JIT
    enum { ROUNDS = 3 }; /* of each effort; the best counts, as everywhere */
    bool good = true;
    for (unsigned round = 0; round < 2 * ROUNDS && good; round++) {
        char folder[] = "/tmp/margay-bench-XXXXXX";
        bool quick = round < ROUNDS;
        if (!mkdtemp(folder)) {
            snprintf(error, size, "no folder in /tmp");
            return false;
        }
        good = first_launch(texts, c, folder, quick, making, error, size) &&
               first_launch(texts, c, folder, quick, making, error, size); /* loads what the first one made */
        empty_folder(folder);
    }
    return good;
#else
    (void)texts, (void)c, (void)error, (void)size;
    return true;
#endif
}

uint64_t bench_engine_warp_instructions(const struct bench_peer *engine)
{
    return ((const struct engine *)engine)->warp_instructions;
}

bool bench_engine_ordered(const struct bench_peer *engine)
{
    return ((const struct engine *)engine)->ordered;
}

uint64_t bench_engine_wavefronts(const struct bench_peer *engine)
{
    return ((const struct engine *)engine)->metrics[MG_METRIC_WAVEFRONTS_SHARED];
}

unsigned bench_engine_findings(const struct bench_peer *check)
{
    return ((const struct engine *)check)->findings;
}

void bench_engine_intervals(const struct bench_peer *sample, const struct bench_peer *exact,
                            struct bench_intervals *sum)
{
    const struct engine *a = (const struct engine *)sample, *b = (const struct engine *)exact;
    for (unsigned i = 0; i < a->nseen && i < b->nseen; i++)
        for (unsigned m = 0; m < MG_METRIC_COUNT && a->seen[i].sampled; m++) {
            double is = (double)b->seen[i].metrics.v[m], about = (double)a->seen[i].metrics.v[m];
            if (is == 0 && about == 0)
                continue;
            sum->sums++;
            sum->held += fabs(is - about) <= a->seen[i].half[m] + 0.5; /* whole numbers */
            sum->widest = fmax(sum->widest, a->seen[i].half[m] / fmax(is, 1));
        }
}

bool bench_engine_agree(const struct bench_peer *a, const struct bench_peer *b, char *error, size_t size)
{
    for (unsigned k = 0; k < MG_METRIC_COUNT; k++) {
        unsigned long long x = ((const struct engine *)a)->metrics[k], y = ((const struct engine *)b)->metrics[k];
        if (x != y) {
            snprintf(error, size, "metric %u (metric.def) is %llu compiled and %llu interpreted", k, x, y);
            return false;
        }
    }
    return true;
}
