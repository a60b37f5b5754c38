/* worker.c - what a worker has of its own in a launch: made, told to the observers, given back. */
#include "simt/sched_priv.h"

static bool make(struct mg_worker *worker, const struct mg_program *p)
{
    if (worker->sites) /* of the launch before */
        return mg__worker_again(worker);
    worker->memory_changes = worker->run->memory_changes;
    worker->spread.spread = mg__access_spread;
    worker->event.room = &worker->spread;
    worker->sites = calloc(p->nsites + 1, sizeof *worker->sites);
    worker->counts = calloc(p->nsegments + 1, sizeof *worker->counts);
    worker->by_insn = calloc(p->ninsns + 1, sizeof *worker->by_insn);
    worker->free_frames = calloc(p->ncodes + 1, sizeof(struct mg_frame *));
    worker->patterns = calloc(MG_PATTERN_HASH, sizeof(struct mg_pattern *));
    return worker->sites && worker->counts && worker->by_insn && worker->free_frames && worker->patterns &&
           mg__tier_worker(worker);
}

bool mg__worker_make(struct mg_worker *worker)
{
    struct mg_run *run = worker->run;
    if (!make(worker, run->program))
        return false;
    for (unsigned i = 0; i < run->nobservers; i++) {
        const struct mg_observer *o = &run->observers[i];
        if (o->worker_begin && !(worker->observers[i] = o->worker_begin(run->observer_state[i], worker->index)))
            return false;
    }
    return true;
}

/* What the observers have not been told yet. */
void mg__worker_tell(struct mg_worker *worker)
{
    const struct mg_run *run = worker->run;
    const struct mg_program *p = run->program;
    mg__sites_flush(worker);
    mg__engine_flush(worker);
    mg__tier_end(worker);
    for (uint32_t s = 0; s < p->nsegments; s++)
        for (uint32_t i = 0; i < p->segments[s].ninsns; i++) {
            worker->by_insn[p->segments[s].first_insn + i].warps += worker->counts[s].warps;
            worker->by_insn[p->segments[s].first_insn + i].threads += worker->counts[s].threads;
        }
    for (unsigned i = 0; i < run->nobservers; i++) {
        const struct mg_observer *o = &run->observers[i];
        if (worker->observers[i] && o->counts && o->wants & MG_OBSERVE_COUNTS)
            o->counts(worker->observers[i], worker->by_insn, p->ninsns);
    }
}

void mg__frames_free(struct mg_worker *worker)
{
    for (uint32_t c = 0; worker->free_frames && c < worker->run->program->ncodes; c++)
        while (worker->free_frames[c]) {
            struct mg_frame *f = worker->free_frames[c];
            worker->free_frames[c] = f->next;
            free(f);
        }
}

void mg__patterns_free(struct mg_worker *worker)
{
    for (uint32_t h = 0; worker->patterns && h < MG_PATTERN_HASH; h++)
        while (worker->patterns[h]) {
            struct mg_pattern *next = worker->patterns[h]->next;
            free(worker->patterns[h]);
            worker->patterns[h] = next;
        }
    worker->npatterns = 0;
}

void mg__worker_free(struct mg_worker *worker)
{
    const struct mg_program *p = worker->run->program;
    for (uint32_t k = 0; k < worker->nclusters; k++)
        mg__cluster_free(worker, worker->clusters[k]);
    free(worker->clusters);
    worker->clusters = NULL;
    worker->nclusters = 0;
    mg__frames_free(worker);
    free(worker->free_frames);
    for (uint32_t s = 0; worker->sites && s < p->nsites; s++) {
        free(worker->sites[s].others);
        free(worker->sites[s].touched);
        free(worker->sites[s].rows);
    }
    free(worker->sites);
    worker->sites = NULL; /* it has nothing that could be kept */
    mg__patterns_free(worker);
    free(worker->patterns);
    free(worker->counts);
    free(worker->by_insn);
    free(worker->records);
    free(worker->full);
    free(worker->seen);
    free(worker->spin);
}
