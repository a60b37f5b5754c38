/* keep.c - what a launch leaves for the next one of its kernel: its workers with their blocks, and what they have
 * learnt of the kernel's accesses.
 *
 * A launch of one small block takes less time than making what it runs in. So a launch that ended well is kept as it
 * is, the latest few of a device, and the next one of the same kernel and block begins with it. All that a launch can
 * tell is as if it were new: counts, registers and shared memory begin at zero, and what was learnt says only where
 * accesses are in bounds, which is forgotten when memory is allocated or given back.
 */
#include "simt/sched_priv.h"

#define MOST_KEPT 8u                 /* launches */
#define MOST_BYTES ((size_t)4 << 20) /* of a worker's blocks */
#define MOST_PATTERNS (MG_PATTERN_LIMIT / 4)

static bool same_dim(const struct mg_dim3 *a, const struct mg_dim3 *b)
{
    return a->x == b->x && a->y == b->y && a->z == b->z;
}

/* ---- the list ---- */
struct mg_run *mg__keep_take(const struct mg_simt_kernel *k, const struct mg_program *p, const struct mg_simt_launch *l,
                             bool rest)
{
    struct mg_simt *s = k->module->simt;
    for (struct mg_run **at = &s->kept; *at; at = &(*at)->next_kept) {
        struct mg_run *run = *at;
        if (run->program == p && run->is_rest == rest && same_dim(&run->asked.block, &l->block) &&
            run->asked.shared == l->shared && same_dim(&run->asked.cluster, &l->cluster)) {
            *at = run->next_kept;
            return run;
        }
    }
    return NULL;
}

bool mg__keep_fits(const struct mg_run *was, const struct mg_run *run)
{
    return was->workers && was->nworkers == run->nworkers && was->engine == run->engine && was->wants == run->wants &&
           was->observers == run->observers && was->nobservers == run->nobservers &&
           was->cluster_size == run->cluster_size && was->stack_bytes == run->stack_bytes;
}

bool mg__keep_give(struct mg_run *run)
{
    struct mg_simt *s = run->simt;
    bool good = run->status == MG_OK && !run->own_workspace;
    for (unsigned i = 0; i < run->nworkers && good; i++)
        good = run->workers[i].sites || !run->workers[i].run;
    if (!good)
        return false;
    run->next_kept = s->kept;
    s->kept = run;
    struct mg_run **at = &s->kept;
    for (unsigned n = 0; n < MOST_KEPT && *at; n++)
        at = &(*at)->next_kept;
    if (*at) { /* the oldest */
        mg__run_free(*at);
        *at = NULL;
    }
    return true;
}

void mg__keep_drop(struct mg_simt *s, const struct mg_simt_module *module)
{
    for (struct mg_run **at = &s->kept; *at;) {
        struct mg_run *run = *at;
        if (module && run->info.module != module->ptx) {
            at = &run->next_kept;
            continue;
        }
        *at = run->next_kept;
        mg__run_free(run);
    }
}

/* ---- a worker ---- */
static size_t bytes_of(const struct mg_worker *worker)
{
    const struct mg_run *run = worker->run;
    const struct mg_cluster *c = worker->clusters[0];
    return run->cluster_size * (run->shared_size + c->blocks[0].nwarps * (size_t)run->program->entry->frame_bytes);
}

void mg__worker_keep(struct mg_worker *worker)
{
    const struct mg_program *p = worker->run->program;
    size_t most = worker->nclusters ? MOST_BYTES / (bytes_of(worker) + 1) + 1 : 0;
    while (worker->nclusters > most)
        mg__cluster_free(worker, worker->clusters[--worker->nclusters]);
    for (uint32_t k = 0; k < worker->nclusters; k++)
        for (uint32_t r = 0; r < worker->run->cluster_size; r++)
            for (uint32_t w = 0; w < worker->clusters[k]->blocks[r].nwarps; w++)
                mg__local_free(&worker->clusters[k]->blocks[r].warps[w]);
    mg__frames_free(worker);
    free(worker->seen);
    free(worker->spin);
    worker->seen = NULL;
    worker->spin = NULL;
    memset(worker->counts, 0, p->nsegments * sizeof *worker->counts);
    memset(worker->by_insn, 0, p->ninsns * sizeof *worker->by_insn);
    worker->told = 0;
}

void mg__worker_renew(struct mg_worker *worker)
{
    worker->next = worker->end = worker->room = worker->spent = 0;
    atomic_store_explicit(&worker->done, 0, memory_order_relaxed);
    atomic_store_explicit(&worker->begun, 0, memory_order_relaxed);
    worker->made = worker->ended = worker->parked_last = worker->drained = worker->rests = worker->alters =
        worker->alone = worker->due = worker->passes = false;
    worker->last = worker->timed_out = NULL;
    worker->at = worker->idle = worker->held = worker->waits = 0;
    worker->quiet = false;
    worker->notes = NULL;
    worker->joins = worker->together = worker->following = false;
    memset(worker->observers, 0, sizeof worker->observers);
}

static void forget(struct mg_worker *worker)
{
    const struct mg_program *p = worker->run->program;
    for (uint32_t s = 0; s < p->nsites; s++) {
        struct mg_site *site = &worker->sites[s];
        memset(&site->first, 0, sizeof site->first);
        if (site->others)
            memset(site->others, 0, (MG_SHAPES - 1) * sizeof *site->others);
        site->lo = site->hi = 0;
        if (site->rows)
            site->rows->open = false;
    }
    for (uint32_t s = 0; worker->tier && s < worker->phases * worker->tier->code->nsites; s++)
        worker->records[s].lo = UINT64_MAX;
}

bool mg__worker_again(struct mg_worker *worker)
{
    const struct mg_run *run = worker->run;
    const struct mg_code *entry = run->program->entry;
    if (worker->npatterns > MOST_PATTERNS || worker->memory_changes != run->memory_changes)
        forget(worker);
    for (uint32_t s = 0; run->want_every && s < run->program->nsites; s++)
        if (worker->sites[s].rows)
            worker->sites[s].rows->open = false;
    for (uint32_t s = 0; run->want_every && worker->tier && s < worker->phases * worker->tier->code->nsites; s++) {
        worker->records[s].fits = 0;
        worker->records[s].lo = UINT64_MAX; /* what need not be told is another launch's to say */
    }
    if (worker->npatterns > MOST_PATTERNS)
        mg__patterns_free(worker);
    worker->memory_changes = run->memory_changes;
    for (uint32_t k = 0; k < worker->nclusters; k++)
        for (uint32_t r = 0; r < run->cluster_size; r++) {
            struct mg_block *b = &worker->clusters[k]->blocks[r];
            for (uint32_t i = 0; i < b->nwarps; i++) {
                memset(b->warps[i].root->regs, 0, entry->pool_at);
                b->warps[i].issued = 0;
                mg__fill_warp(&b->warps[i]);
            }
        }
    return mg__tier_worker(worker);
}
