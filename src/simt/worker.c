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
    worker->rows_of = calloc(p->nops + 1, sizeof *worker->rows_of);
    worker->apart = calloc(p->nops + 1, sizeof *worker->apart);
    worker->counts = calloc(p->nsegments + 1, sizeof *worker->counts);
    worker->by_insn = calloc(p->ninsns + 1, sizeof *worker->by_insn);
    worker->free_frames = calloc(p->ncodes + 1, sizeof(struct mg_frame *));
    worker->patterns = calloc(MG_PATTERN_HASH, sizeof(struct mg_pattern *));
    return worker->sites && worker->rows_of && worker->apart && worker->counts && worker->by_insn &&
           worker->free_frames && worker->patterns && mg__tier_worker(worker);
}

/* For a launch with a sample. */
static bool make_given(struct mg_worker *worker, const struct mg_program *p)
{
    for (unsigned k = 0; k < MG_COUNT(worker->given); k++) {
        free(worker->given[k]);
        worker->given[k] = calloc((k ? p->ninsns : p->nsegments) + 1, sizeof *worker->given[k]);
    }
    return worker->given[0] && worker->given[1] && worker->given[2];
}

bool mg__worker_make(struct mg_worker *worker)
{
    struct mg_run *run = worker->run;
    if (!make(worker, run->program) || (run->sample && !make_given(worker, run->program)))
        return false;
    worker->unit = SIZE_MAX; /* and so the first one is always told */
    worker->quiet = run->sample;
    for (unsigned i = 0; i < run->nobservers; i++) {
        const struct mg_observer *o = &run->observers[i];
        const unsigned index = run->first_worker + worker->index;
        if (o->worker_begin && !(worker->observers[i] = o->worker_begin(run->observer_state[i], index)))
            return false;
    }
    worker->joins = run->want_every && !run->sample && !run->nchosen;
    worker->together = false;
    worker->joined_block = UINT64_MAX;
    worker->joined = 0;
    for (unsigned i = 0; i < run->nobservers; i++)
        worker->joins &= !(run->observers[i].wants & MG_OBSERVE_EVERY) || run->observers[i].closely;
    const struct mg_observer *sole = run->want_every && run->sole >= 0 ? &run->observers[run->sole] : NULL;
    if (sole && sole->notes)
        worker->notes = sole->notes(worker->observers[run->sole]);
    worker->calls.notes = worker->notes;
    worker->calls.quiet = sole && run->want_sync && sole->met;
    return true;
}

/* What a segment was executed more often than `told`. */
static void add_segment(struct mg_insn_counts *to, const struct mg_segment *s, const struct mg_insn_counts *is,
                        const struct mg_insn_counts *told)
{
    for (uint32_t i = s->first_insn; i < s->first_insn + s->ninsns; i++) {
        to[i].warps += is->warps - told->warps;
        to[i].threads += is->threads - told->threads;
    }
}

static void tell_counts(struct mg_worker *worker, const struct mg_insn_counts *counts)
{
    const struct mg_run *run = worker->run;
    for (unsigned i = 0; i < run->nobservers; i++) {
        const struct mg_observer *o = &run->observers[i];
        if (worker->observers[i] && o->counts && o->wants & MG_OBSERVE_COUNTS)
            o->counts(worker->observers[i], counts, run->program->ninsns);
    }
}

void mg__worker_tell_counts(struct mg_worker *worker)
{
    const struct mg_program *p = worker->run->program;
    struct mg_insn_counts *segments = worker->given[0], *insns = worker->given[1], *since = worker->given[2];
    for (uint32_t i = 0; i < p->ninsns; i++) { /* by_insn: divergent branches alone, until the end */
        since[i] = (struct mg_insn_counts){.divergent = worker->by_insn[i].divergent - insns[i].divergent};
        insns[i].divergent = worker->by_insn[i].divergent;
    }
    for (uint32_t s = 0; s < p->nsegments; s++) {
        add_segment(since, &p->segments[s], &worker->counts[s], &segments[s]);
        segments[s] = worker->counts[s];
    }
    tell_counts(worker, since);
}

/* What the observers have not been told yet. */
void mg__worker_tell(struct mg_worker *worker)
{
    const struct mg_run *run = worker->run;
    const struct mg_program *p = run->program;
    if (run->sample)
        mg__sample_switch(worker, SIZE_MAX);
    mg__sites_flush(worker);
    mg__engine_flush(worker);
    mg__tier_end(worker);
    if (run->sample) {
        mg__worker_tell_counts(worker);
        return;
    }
    for (uint32_t s = 0; s < p->nsegments; s++)
        add_segment(worker->by_insn, &p->segments[s], &worker->counts[s], &(struct mg_insn_counts){0});
    tell_counts(worker, worker->by_insn);
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
    free(worker->rows_of);
    free(worker->apart);
    worker->sites = NULL; /* it has nothing that could be kept */
    mg__patterns_free(worker);
    free(worker->patterns);
    free(worker->counts);
    free(worker->by_insn);
    for (unsigned k = 0; k < MG_COUNT(worker->given); k++)
        free(worker->given[k]);
    memset(worker->given, 0, sizeof worker->given);
    free(worker->records);
    free(worker->shapes);
    free(worker->full);
    free(worker->seen);
    free(worker->spin);
}
