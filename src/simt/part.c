/* part.c - a launch in two parts: the blocks that observers of every access ask for, and all others, which run as if
 * there were no such observers, but for their shapes where one asks for these (MG_OBSERVE_REST).
 *
 * Who wants every access pays for a call at each. Most who do want those of a few blocks (mg_observer.blocks), and of
 * the others what all can have: counts, and what observers of shapes are told. So where an observer names its blocks,
 * these run first, as a launch of their own (mg_run) whose program gives every access, and then the rest, as another
 * one with the program that runs without such observers; or, where one is left that wants every access of all blocks,
 * it is told of the rest alone, which it may have by notes. Both have the same observers, whose launch it is once: the
 * second one's workers come to them as further workers.
 *
 * Blocks change their order that way, and those of one part end before those of the other begin. That may only be where
 * neither matters: not where a result depends on the order (program->ordered, which is wherever a block may wait for
 * another one), in clusters, or in a launch that others wait for. A small grid is not parted.
 */
#include "simt/sched_priv.h"

enum { LEAST = 2 /* times as many clusters as those that are asked for */ };

unsigned mg__part_wants(const struct mg_observer *o)
{
    if (!(o->wants & MG_OBSERVE_EVERY) || !o->blocks)
        return o->wants;
    return (o->wants & (MG_OBSERVE_SHAPES | MG_OBSERVE_COUNTS)) | (o->wants & MG_OBSERVE_REST ? MG_OBSERVE_SHAPES : 0);
}

bool mg__part_may(const struct mg_run *run)
{
    bool asks = false;
    for (unsigned i = 0; i < run->nobservers; i++)
        asks |= run->observers[i].wants & MG_OBSERVE_EVERY && run->observers[i].blocks;
    return asks && run->clock < 0 && !run->sample && !run->patient && !run->asked.cooperative &&
           !run->program->ordered && run->cluster_size == 1 && run->nclusters >= MG_PART_LEAST;
}

void mg__part_rest(struct mg_run *run)
{
    for (unsigned i = 0; i < run->nobservers; i++) {
        run->own_observers[i] = run->observers[i];
        run->own_observers[i].wants = mg__part_wants(&run->observers[i]);
    }
    run->observers = run->own_observers;
}

/* Instructions and variables have the same numbers in both programs. */
static bool alike(const struct mg_program *a, const struct mg_program *b)
{
    bool same = a->ninsns == b->ninsns && a->nshared_vars == b->nshared_vars;
    for (uint32_t i = 0; same && i < a->ninsns; i++)
        same = a->insns[i].insn == b->insns[i].insn;
    for (uint32_t i = 0; same && i < a->nshared_vars; i++)
        same = a->shared_vars[i].offset == b->shared_vars[i].offset && a->shared_vars[i].size == b->shared_vars[i].size;
    return same;
}

/* Accesses of each segment. */
static bool count_accesses(struct mg_run *run)
{
    const struct mg_program *p = run->program;
    free(run->accesses);
    run->accesses = calloc(p->nsegments + 1, sizeof *run->accesses);
    for (uint32_t s = 0; run->accesses && s < p->nsegments; s++)
        for (uint32_t i = p->segments[s].first_insn; i < p->segments[s].first_insn + p->segments[s].ninsns; i++)
            run->accesses[s] += p->insns[i].insn && mg__ptx_accesses(p->insns[i].insn);
    return run->accesses != NULL;
}

static int by_number(const void *a, const void *b)
{
    const uint64_t *left = a, *right = b;
    return (*left > *right) - (*left < *right);
}

/* The blocks that any of them names, each once, in order. False: there are too many. */
static bool choose(struct mg_run *run)
{
    unsigned n = 0, kept = 0;
    for (unsigned i = 0; i < run->nobservers; i++) {
        const struct mg_observer *o = &run->observers[i];
        if (!(o->wants & MG_OBSERVE_EVERY) || !o->blocks)
            continue;
        unsigned more = o->blocks(run->observer_state[i], run->chosen + n, MG_PART_MOST - n);
        if (more > MG_PART_MOST - n)
            return false;
        n += more;
    }
    qsort(run->chosen, n, sizeof *run->chosen, by_number);
    for (unsigned i = 0; i < n; i++)
        if ((!kept || run->chosen[kept - 1] != run->chosen[i]) && run->chosen[i] < run->nclusters)
            run->chosen[kept++] = run->chosen[i];
    run->nchosen = kept;
    return kept && run->nclusters / kept >= LEAST;
}

void mg__part_begin(struct mg_run *run)
{
    struct mg_run *rest = run->rest;
    if (!rest)
        return;
    if (run->in_order || !alike(run->program, rest->program) || !choose(run) || !count_accesses(run) ||
        !count_accesses(rest)) {
        run->rest = NULL;
        run->nchosen = 0;
        run->info.unheard = NULL; /* the rest's */
        mg__run_free(rest);
        return;
    }
    memcpy(rest->chosen, run->chosen, sizeof rest->chosen);
    memcpy(rest->observer_state, run->observer_state, sizeof rest->observer_state);
    rest->nchosen = run->nchosen;
    rest->is_rest = true;
    rest->first_worker = run->nworkers;
    rest->nclusters -= run->nchosen;
    run->nclusters = run->nchosen;
    run->info.parted = true;
}

uint64_t mg__part_number(const struct mg_run *run, uint64_t next)
{
    if (!run->is_rest)
        return run->chosen[next];
    for (unsigned i = 0; i < run->nchosen && run->chosen[i] <= next; i++)
        next++;
    return next;
}

void mg__part_tell(struct mg_worker *worker, uint64_t block)
{
    const struct mg_run *run = worker->run;
    uint64_t sum = 0;
    for (uint32_t s = 0; s < run->program->nsegments; s++)
        sum += mg__executed(worker, s) * run->accesses[s];
    for (unsigned i = 0; i < run->nobservers && sum > worker->joined; i++)
        if (run->observers[i].together)
            run->observers[i].together(worker->observers[i], block, sum - worker->joined);
    worker->joined = sum;
}

void mg__part_follow(struct mg_run *rest, const struct mg_run *first)
{
    rest->resident = first->resident;
    rest->began_at = first->began_at;
    rest->last_progress = first->last_progress;
    rest->begun = true;
    atomic_store(&rest->deadline, atomic_load(&first->deadline));
}
