/* deadlock.c - what can never go on, and what has run for too long: found, and said with where everybody waits.
 *
 * A block none of whose warps can run is a deadlock, and so is a cluster of such blocks. So is a launch all of whose
 * warps wait in loops, where that can be shown (spin.c); else what waits for what never happens ends with the launch's
 * time.
 */
#include "simt/sched_priv.h"

#include <string.h>

void mg__stuck_leaves(struct mg_warp *w)
{
    for (size_t i = 0; w->nleaves && mg__wants_sync(w) && i < w->splits.count; i++) {
        const struct mg_split *s = &w->splits.at[i];
        bool spins = s->wait == MG_WAIT_NONE;
        if (!s->mask || s->wait == MG_WAIT_CLUSTER || (spins && !w->block->run->spins))
            continue;
        struct mg_sync *e = mg__sync_event(w, s->pc, MG_SYNC_STUCK, s->mask);
        e->arrive = spins;
        e->barrier = s->wait == MG_WAIT_BARRIER ? s->barrier : ~0u;
        e->missing = s->wait == MG_WAIT_WARP ? s->member & ~s->mask : 0;
        mg__sync_emit(w->worker);
    }
}

/* Leaves of the block that wait: the observers are told, and one is found, in the first warp that has any the one that
 * comes first in the code. */
static struct mg_warp *stuck_leaf(struct mg_block *b, const struct mg_split **first)
{
    struct mg_warp *in = NULL;
    for (uint32_t k = 0; k < b->nwarps; k++) {
        struct mg_warp *w = &b->warps[k];
        const struct mg_split *least = NULL;
        for (size_t i = 0; w->nleaves && i < w->splits.count; i++) {
            const struct mg_split *s = &w->splits.at[i];
            if (s->mask && s->wait != MG_WAIT_NONE && (!least || s->pc->insn < least->pc->insn))
                least = s;
        }
        in = in || !least ? in : w;
        *first = *first ? *first : least;
        mg__stuck_leaves(w);
    }
    return in;
}

void mg__deadlock(struct mg_cluster *c)
{
    const struct mg_split *first = NULL;
    struct mg_warp *in = NULL;
    const struct mg_run *run = c->blocks[0].run;
    uint32_t live = 0;
    for (uint32_t r = 0; r < run->cluster_size; r++) {
        struct mg_warp *w = stuck_leaf(&c->blocks[r], &first);
        in = in ? in : w;
        live += c->blocks[r].live_threads;
    }
    if (!first)
        return;
    unsigned lane = (unsigned)__builtin_ctz(first->mask);
    char where[MG_PLACES];
    mg__places(run, c, where, sizeof where);
    if (first->wait == MG_WAIT_BARRIER) {
        const struct mg_barrier *bar = &in->block->barriers[first->barrier];
        mg__fault(in, first->pc, lane, MG_ERR_DEADLOCK,
                  "deadlock: %u of %u threads wait at barrier %u here, and the others can no longer reach it; %s",
                  bar->arrived, bar->expected ? bar->expected : in->block->live_threads, first->barrier, where);
        mg__fault_hint(in, "Every thread of the block must reach the same __syncthreads(): move it out of the branch.");
    } else if (first->wait == MG_WAIT_CLUSTER) {
        mg__fault(in, first->pc, lane, MG_ERR_DEADLOCK,
                  "deadlock: %u of %u threads have come to the cluster's barrier, and the others can no longer reach "
                  "it; %s",
                  c->arrived, live, where);
        mg__fault_hint(in, "Every thread of all blocks of the cluster must reach the same cluster.sync().");
    } else {
        mg__fault(in, first->pc, lane, MG_ERR_DEADLOCK,
                  "deadlock: lanes 0x%08x wait here for lanes 0x%08x, which can no longer come; %s", first->mask,
                  first->member & ~first->mask, where);
        mg__fault_hint(in, "The mask of a warp-level operation must name exactly the lanes that execute it.");
    }
}

static atomic_int interrupted;

void mg__simt_interrupt(int signal)
{
    atomic_store(&interrupted, signal);
}

int mg__simt_interrupted(void)
{
    return atomic_load_explicit(&interrupted, memory_order_relaxed);
}

bool mg__run_due(struct mg_worker *worker)
{
    struct mg_run *run = worker->run;
    uint64_t now = mg__time_ns();
    if (worker->index == 0 && run->simt->options.progress && now - run->last_progress > 100000000ull) {
        uint64_t done = 0;
        for (unsigned i = 0; i < run->nworkers; i++)
            done += atomic_load_explicit(&run->workers[i].done, memory_order_relaxed);
        run->last_progress = now;
        run->simt->options.progress(run->simt->options.progress_arg, run->info.kernel, done * run->cluster_size,
                                    run->nclusters * run->cluster_size, (double)(now - run->began_at) * 1e-9);
    }
    if (mg__simt_interrupted())
        return true;
    if (run->engine && atomic_load(&run->engine->making)) /* asked before the deadline is read, which then moves on */
        return false;
    uint64_t deadline = atomic_load(&run->deadline);
    return deadline && now >= deadline;
}

/* The blocks that have begun and not ended may be all that fit on the device. */
static uint64_t left_out(const struct mg_run *run)
{
    uint64_t begun = 0, done = 0;
    for (unsigned i = 0; i < run->nworkers; i++) {
        begun += atomic_load_explicit(&run->workers[i].begun, memory_order_relaxed);
        done += atomic_load_explicit(&run->workers[i].done, memory_order_relaxed);
    }
    return begun - done >= run->resident ? (run->nclusters - begun) * run->cluster_size : 0;
}

/* A block that had not ended, and in it the first warp that had not. */
static struct mg_warp *timed_out_warp(const struct mg_cluster *c, uint32_t size)
{
    for (uint32_t r = 0; r < size; r++)
        for (uint32_t k = 0; k < c->blocks[r].nwarps && c->blocks[r].live_warps; k++)
            if (c->blocks[r].warps[k].nleaves)
                return &c->blocks[r].warps[k];
    return NULL;
}

bool mg__out_of_time(struct mg_worker *worker, const struct mg_cluster *c)
{
    if (!mg__run_due(worker))
        return false;
    mg__engine_settle(worker);
    struct mg_warp *w = timed_out_warp(c, worker->run->cluster_size);
    if (worker->run->spins) {
        mg__spin_tell(worker);
    } else if (w && mg__wants_sync(w) && !mg__simt_interrupted()) { /* which says nothing of the program */
        const struct mg_split *s = &w->splits.at[w->current];
        mg__sync_event(w, s->mask ? s->pc : NULL, MG_SYNC_TIMEOUT, s->mask)->arrive = mg__has_polled(w);
        mg__sync_emit(worker);
    }
    worker->timed_out = c;
    mg__end_now(worker->run);
    return true;
}

/* What ended it, behind the colon. */
static void why_late(const struct mg_run *run, char *text, size_t size)
{
    const int signal = mg__simt_interrupted();
    if (signal)
        snprintf(text, size, "the launch was ended by signal %d (%s) after %.1f s", signal, strsignal(signal),
                 (double)(mg__time_ns() - run->began_at) * 1e-9);
    else
        snprintf(text, size, "the launch ran longer than its limit of %.3g s", run->simt->options.timeout_ms / 1000.0);
}

/* The launch's time was over. All workers have stopped, and hold what they had. */
void mg__tell_late(struct mg_run *run)
{
    struct mg_worker *worker = NULL;
    for (unsigned i = run->nworkers; i-- > 0;) {
        if (run->workers[i].diag.status != MG_OK) /* a fault comes first */
            return;
        worker = run->workers[i].timed_out ? &run->workers[i] : worker;
    }
    if (!worker)
        return;
    for (unsigned i = 0; i < run->nworkers; i++)
        if (run->workers[i].made)
            mg__engine_settle(&run->workers[i]);
    struct mg_warp *w = timed_out_warp(worker->timed_out, run->cluster_size);
    char why[128];
    why_late(run, why, sizeof(why));
    if (w) {
        char where[MG_PLACES];
        const struct mg_split *s = &w->splits.at[w->current];
        uint64_t more = left_out(run);
        mg__places(run, NULL, where, sizeof where);
        if (run->spins) {
            mg__fault(w, s->mask ? s->pc : NULL, (unsigned)__builtin_ctz(s->mask ? s->mask : 1), MG_ERR_DEADLOCK,
                      "deadlock: all threads wait in loops for what none of them will do; %s", where);
            if (more)
                mg__fault_hint(w, "%llu more block%s not begun, for no more than %u fit on the device at once.",
                               (unsigned long long)more, more == 1 ? " has" : "s have",
                               run->resident * run->cluster_size);
            else
                mg__fault_hint(w, "Look who is to set the flag, or to release the lock, that they wait for.");
            return;
        }
        if (run->abandoned) {
            mg__fault(w, s->mask ? s->pc : NULL, (unsigned)__builtin_ctz(s->mask ? s->mask : 1), MG_ERR_TIMEOUT,
                      "the program ended, and this launch had not: it was waiting; %s", where);
            mg__fault_hint(w, "It waits for the host or for another launch. Synchronise before the program ends.");
            return;
        }
        mg__fault(w, s->mask ? s->pc : NULL, (unsigned)__builtin_ctz(s->mask ? s->mask : 1), MG_ERR_TIMEOUT, "%s; %s",
                  why, where);
        if (mg__simt_interrupted())
            return;
        if (more)
            mg__fault_hint(
                w,
                "An endless loop, or a wait for what never happens: %llu more block%s not begun, for no more "
                "than %u fit on the device at once; or raise --timeout.",
                (unsigned long long)more, more == 1 ? " has" : "s have", run->resident * run->cluster_size);
        else
            mg__fault_hint(w, "An endless loop, or a wait for what never happens; or raise --timeout.");
        return;
    }
    const struct mg_block *b = &worker->timed_out->blocks[run->cluster_size - 1]; /* between two: no warp is at fault */
    mg__diag_set(&worker->diag, MG_ERR_TIMEOUT, "%s: %s (after block %u,%u,%u)", run->info.kernel, why, b->ctaid[0],
                 b->ctaid[1], b->ctaid[2]);
    if (!mg__simt_interrupted())
        mg__diag_hint(&worker->diag, "The grid has %llu blocks; or raise --timeout.",
                      (unsigned long long)(run->nclusters * run->cluster_size));
    worker->fault_cluster = worker->timed_out->linear;
}

void mg__no_memory(struct mg_worker *worker)
{
    mg__diag_set(&worker->diag, MG_ERR_NOMEM, "%s: no host memory for a block", worker->run->info.kernel);
    mg__end_now(worker->run);
}
