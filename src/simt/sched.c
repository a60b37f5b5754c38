/* sched.c - clusters of blocks on workers: which is begun, which is parked and goes on later.
 *
 * All that is resident makes progress. A worker whose block was parked begins another one as long as it would be
 * resident on the device as well, or goes back to the one that has been parked for longest: so whatever a block waits
 * for comes, in whatever way it waits (turns.c).
 *
 * A launch whose result may depend on the order of blocks (program->ordered) has one worker, and then everything
 * happens in the same order for any number of threads and under all engines. What makes counts depend on that order
 * is noted (worker->waits). What a fault ends is ending.c's.
 */
#include <time.h>

#include "simt/sched_priv.h"

/* The worker's next cluster; false: there is none. */
static bool next_cluster(struct mg_worker *worker)
{
    struct mg_run *run = worker->run;
    if (worker->next == worker->end) {
        /* Less and less towards the end, where otherwise one worker waits for another one's last chunk. */
        uint64_t taken = atomic_load_explicit(&run->next_cluster, memory_order_relaxed);
        uint64_t left = taken < run->nclusters ? run->nclusters - taken : 0;
        uint64_t chunk = MG_MIN(MG_MAX(left / (run->nworkers * 8u), 1), 64);
        worker->next = atomic_fetch_add(&run->next_cluster, chunk);
        worker->end = MG_MIN(worker->next + chunk, run->nclusters);
        if (worker->next >= run->nclusters) {
            worker->next = worker->end = run->nclusters;
            return false;
        }
    }
    return mg__begins(run, worker->next);
}

/* Whether the worker's next cluster would be resident on the device, which begins them in their order. What others have
 * done is looked up only where it matters: their lines are far away. */
static bool fits(struct mg_worker *worker)
{
    const struct mg_run *run = worker->run;
    if (worker->next < worker->room)
        return true;
    worker->room = run->resident;
    for (unsigned i = 0; i < run->nworkers; i++)
        worker->room += atomic_load_explicit(&run->workers[i].done, memory_order_relaxed);
    return worker->next < worker->room;
}

static bool begin_next(struct mg_worker *worker, uint32_t *at)
{
    uint32_t slot = 0;
    while (slot < worker->nclusters && worker->clusters[slot]->busy)
        slot++;
    if (slot == worker->nclusters) {
        struct mg_cluster **list = realloc(worker->clusters, (slot + 1) * sizeof(struct mg_cluster *));
        if (list)
            worker->clusters = list;
        if (!list || !(list[slot] = mg__cluster_make(worker))) {
            mg__no_memory(worker);
            return false;
        }
        worker->nclusters++;
    }
    const struct mg_sample *sample = worker->run->sample;
    uint64_t number = sample && sample->left_out ? sample->at[worker->next].number
                      : worker->run->nchosen     ? mg__part_number(worker->run, worker->next)
                                                 : worker->next;
    worker->clusters[slot]->unit = sample ? mg__sample_find(sample, number) : 0;
    if (!mg__cluster_begin(worker, worker->clusters[slot], number)) {
        mg__no_memory(worker);
        return false;
    }
    worker->next++;
    worker->held++;
    worker->idle = 0;
    *at = slot;
    return true;
}

/* The others' blocks are all that fit on the device. False: the launch ends. */
static bool wait_for_room(struct mg_worker *worker)
{
    while (!fits(worker)) {
        if (!mg__begins(worker->run, worker->next))
            return false;
        nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
    }
    return true;
}

static uint64_t count_done(struct mg_worker *worker)
{
    worker->held--;
    worker->idle = 0;
    return atomic_fetch_add_explicit(&worker->done, 1, memory_order_relaxed) + 1;
}

static bool cluster_done(struct mg_worker *worker, struct mg_cluster *c)
{
    c->busy = false;
    uint64_t done = count_done(worker);
    return ((done & 15) != 0 || !mg__out_of_time(worker, c)) && mg__worker_rise(worker);
}

/* ---- turns of a launch ---- */
/* A turn ends after so many shares in which blocks only polled, more by some for each block, or after so many slices.
 * The first one is to tell a launch that waits for others from one whose blocks wait for one another. */
#define IDLE_FIRST 64u
#define IDLE 4u
#define IDLE_HELD 4u
#define SLICES 1024u

uint64_t mg__executed(const struct mg_worker *worker, uint32_t segment)
{
    return worker->counts[segment].warps + (worker->full ? worker->full[segment] : 0);
}

void mg__share_over(struct mg_worker *worker, bool idle, uint64_t slices)
{
    uint32_t least = worker->run->rested ? IDLE : IDLE_FIRST;
    uint32_t most = least + IDLE_HELD * worker->held, n = worker->run->program->nsegments;
    worker->idle = idle ? worker->idle + 1 : 0;
    if (worker->idle == 1)
        worker->idle_since = mg__time_ns();
    worker->spent += idle ? 0 : slices;
    if (worker->idle == most / 2 && !worker->seen)
        worker->seen = calloc(2 * (size_t)n + 1, sizeof *worker->seen);
    for (uint32_t s = 0; worker->idle == most / 2 && worker->seen && s < n; s++)
        worker->seen[n + s] = mg__executed(worker, s);
    worker->rests |= worker->idle >= most || worker->spent >= SLICES;
}

/* Whether the turn did more than go round the loops that it ended in. */
static bool has_moved(struct mg_worker *worker)
{
    uint32_t n = worker->run->program->nsegments;
    bool moved = worker->spent >= SLICES || !worker->seen;
    for (uint32_t s = 0; worker->seen && s < n; s++) {
        uint64_t now = mg__executed(worker, s);
        moved |= worker->seen[n + s] != worker->seen[s] && now == worker->seen[n + s];
        worker->seen[s] = now;
    }
    return moved;
}

static void run_clusters(struct mg_worker *worker)
{
    struct mg_run *run = worker->run;
    while (atomic_load_explicit(&run->stop, memory_order_relaxed) != MG_STOPS_NOW) {
        bool begin = worker->held == 0 || (worker->parked_last && (!worker->mixed || worker->held < MG_MIXED));
        worker->drained = worker->drained || (begin && !next_cluster(worker));
        if (worker->held == 0 && (worker->drained || !wait_for_room(worker)))
            break;
        if (!worker->drained && begin && fits(worker)) {
            if (!begin_next(worker, &worker->at))
                break;
        } else {
            do
                worker->at = (worker->at + 1) % worker->nclusters;
            while (!worker->clusters[worker->at]->busy);
        }
        struct mg_cluster *c = worker->clusters[worker->at];
        worker->alone = run->cluster_size == 1 && worker->held == 1 && worker->next == worker->end &&
                        atomic_load_explicit(&run->next_cluster, memory_order_relaxed) >= run->nclusters;
        worker->waits |= worker->parked_last && c != worker->last ? MG_WAITED_PARKED : 0;
        worker->last = c;
        if (run->sample)
            mg__sample_switch(worker, c->unit);
        enum mg_outcome outcome = mg__run_cluster(worker, c);
        if (run->nchosen)
            mg__part_tell(worker, c->linear);
        worker->parked_last = outcome == MG_BLOCK_PARKED;
        if (outcome == MG_BLOCK_STOPPED) {
            if (c->lost)
                mg__bulk_lost(c);
            if (!mg__cluster_drop(worker, worker->at))
                break;
            count_done(worker);
            continue;
        }
        if (outcome == MG_BLOCK_DONE && !cluster_done(worker, c))
            break;
        if (outcome == MG_BLOCK_PARKED && mg__out_of_time(worker, c))
            break;
        if (outcome == MG_BLOCK_PARKED && worker->rests)
            return;
    }
    worker->ended = true;
}

/* A worker's memory is made, used, and kept for the next launch or given back, on its own thread: what another
 * processor has written takes 100 ns a line to read or to write, which comes to a good part of a short launch. What it
 * still holds, because the launch has been stopped, is looked at when all have. */
static void work(void *arg, unsigned index)
{
    struct mg_run *run = arg;
    struct mg_worker *worker = &run->workers[index];
    worker->run = run;
    worker->index = index;
    worker->rests = false;
    worker->idle = 0;
    worker->spent = worker->room = 0;
    if (!worker->made && !mg__worker_make(worker)) {
        mg__no_memory(worker);
        worker->ended = true;
    } else {
        worker->made = true;
        run_clusters(worker);
        if (!worker->ended)
            return;
        mg__worker_tell(worker);
    }
    if (worker->held == 0 && !worker->timed_out) {
        if (worker->made && !worker->nwarnings && !atomic_load_explicit(&run->stop, memory_order_relaxed))
            mg__worker_keep(worker);
        else
            mg__worker_free(worker);
    }
}

/* ---- a launch ---- */
static bool tell_begin(struct mg_run *run)
{
    for (run->observing = 0; run->observing < run->nobservers; run->observing++) {
        const struct mg_observer *o = &run->observers[run->observing];
        void **state = &run->observer_state[run->observing];
        if (o->launch_begin && (run->status = o->launch_begin(o->self, &run->info, run->nworkers, state)) != MG_OK) {
            mg__diag_set(&run->diag, run->status, "%s: no host memory for the launch", run->info.kernel);
            return false;
        }
    }
    if (run->in_order) {
        run->nworkers = 1;
        run->serial = true;
    }
    return true;
}

/* All workers have ended. */
static void gather(struct mg_run *run, struct mg_run *launch, const struct mg_worker **first_lost)
{
    const struct mg_worker *worst = *first_lost;
    mg__tell_late(run);
    for (unsigned i = 0; i < run->nworkers; i++) {
        struct mg_worker *worker = &run->workers[i];
        if (worker->diag.status != MG_OK && (!worst || worker->fault_cluster < worst->fault_cluster))
            worst = worker;
        launch->info.waits |= worker->waits;
        for (unsigned k = 0; k < run->nobservers; k++)
            if (worker->observers[k] && run->observers[k].worker_end)
                run->observers[k].worker_end(run->observer_state[k], worker->observers[k]);
    }
    *first_lost = worst;
}

static void sum_up(struct mg_run *run)
{
    const struct mg_worker *worst = NULL;
    struct mg_run *parts[2] = {run, run->rest};
    for (unsigned p = 0; p < 2 && parts[p]; p++)
        gather(parts[p], run, &worst);
    run->status = worst ? worst->diag.status : MG_OK;
    if (worst)
        run->diag = worst->diag;
    mg__warnings_tell(run);
    for (unsigned p = 0; p < 2 && parts[p]; p++) {
        parts[p]->status = run->status;
        for (unsigned i = 0; i < parts[p]->nworkers; i++)
            if (parts[p]->workers[i].held || parts[p]->workers[i].timed_out)
                mg__worker_free(&parts[p]->workers[i]);
    }
}

bool mg__run(struct mg_run *run)
{
    struct mg_worker *first = run->workers;
    if (!first->made) {
        if (!tell_begin(run))
            return true;
        mg__part_begin(run);
    }
    for (unsigned i = 0; run->rested && i < run->nobservers; i++)
        if (run->observers[i].turn)
            run->observers[i].turn(run->observer_state[i]);
    mg__pool_run(run->simt->pool, run->nworkers, work, run);
    if (!first->ended) {
        run->moved = has_moved(first);
        run->polls_since = first->spent < SLICES ? first->idle_since : 0;
        mg__spin_look(first);
        run->rested = true;
        return false;
    }
    if (run->rest && atomic_load(&run->stop) != MG_STOPS_NOW) {
        mg__part_follow(run->rest, run);
        mg__pool_run(run->simt->pool, run->rest->nworkers, work, run->rest);
    }
    sum_up(run);
    return true;
}
