/* ending.c - a launch that a fault or a deadlock ends early, so that what is said of it never depends on luck.
 *
 * Blocks run in whatever order workers come to them, and a fault of one is no reason to leave another in the middle:
 * how far that had come depends on the number of threads, the engine and the machine. So a cluster that goes wrong is
 * lost alone. Those before it go on to their own end, since they may go wrong as well; those behind it do not, and what
 * is told is the fault of the first cluster of all that has one. Under observers all go on, those behind it as well:
 * what they count and find is then of the whole launch.
 *
 * Two things end a launch at once: its time, or a lack of memory; and a fault where blocks run in their order on one
 * worker (program->ordered), since what they do is the same every time, and they may wait for the one that is lost.
 * Others do not wait for it as a rule. One that seems to, by reading memory over and over, or that works for very long,
 * is given up: after GRACE slices in all, of which a share that it only polled in counts as POLLED.
 */
#include "simt/sched_priv.h"

#define GRACE 2048u
#define POLLED 128u

void mg__end_now(struct mg_run *run)
{
    atomic_store(&run->stop, MG_STOPS_NOW);
}

void mg__end_early(struct mg_cluster *c)
{
    struct mg_run *run = c->blocks[0].run;
    c->lost = true;
    if (run->program->ordered || run->launch->cooperative) {
        mg__end_now(run);
        return;
    }
    unsigned long long until = atomic_load(&run->until);
    while (!run->nobservers && c->linear < until && !atomic_compare_exchange_weak(&run->until, &until, c->linear))
        ;
    int none = 0;
    atomic_compare_exchange_strong(&run->stop, &none, MG_STOPS_EARLY);
}

bool mg__given_up(const struct mg_cluster *c)
{
    const struct mg_run *run = c->blocks[0].run;
    return atomic_load(&run->stop) == MG_STOPS_NOW || c->lost || c->linear > atomic_load(&run->until) ||
           c->slices >= GRACE;
}

bool mg__begins(const struct mg_run *run, uint64_t cluster)
{
    int stop = atomic_load_explicit(&run->stop, memory_order_relaxed);
    return stop == 0 || (stop == MG_STOPS_EARLY && cluster < atomic_load(&run->until));
}

void mg__share_used(struct mg_cluster *c, bool polled, uint64_t slices)
{
    c->slices += slices + (polled ? POLLED : 0);
}

bool mg__cluster_drop(struct mg_worker *worker, uint32_t at)
{
    struct mg_cluster *c = worker->clusters[at];
    if (atomic_load(&worker->run->stop) != MG_STOPS_EARLY)
        return false;
    for (uint32_t r = 0; r < worker->run->cluster_size; r++)
        if (c->blocks[r].live_warps && mg__wants_sync(&c->blocks[r].warps[0])) {
            mg__sync_event(&c->blocks[r].warps[0], NULL, MG_SYNC_BLOCK_END, 0)->wrong = true;
            mg__sync_emit(worker);
        }
    worker->waits |= c->lost ? 0 : MG_WAITED_PARKED; /* how far it has come depends on when the launch ended */
    /* what it left behind in the middle is no state to begin another one with */
    mg__cluster_free(worker, c);
    worker->clusters[at] = worker->clusters[--worker->nclusters];
    worker->at = 0;
    worker->last = NULL;
    worker->parked_last = false;
    return true;
}
