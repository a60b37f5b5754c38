/* sched.c - blocks on workers: whose turn it is, who is parked, and when nobody can go on.
 *
 * All that is resident makes progress. The warps of a block have turns, in rounds; a turn ends when the warp waits,
 * ends, or has used its slices (simt_priv.h: MG_SLICE). A block that has run for its share without ending is parked,
 * and the worker begins another one as long as it would be resident on the device as well, or goes back to the one that
 * has been parked for longest: so whatever a block waits for comes, in whatever way it waits. The share is small for a
 * block that seems to wait (its warps poll and nothing else), and so large for any other that few ever use it up; it
 * grows with the blocks that are held, which keeps their number low where none waits.
 *
 * Turns, rounds and shares are told by what the warps do, not by a clock, and alike for interpreted and compiled code:
 * a launch whose result may depend on the order of blocks (program->ordered) has one worker, and then everything
 * happens in the same order for any number of threads and under all engines. What makes counts depend on that order
 * is noted (worker->waits).
 */
#include <time.h>

#include "simt/engine_priv.h"

/* A block is parked after 64 rounds in which it polled and no turn ended, as in loops with a barrier, or after two in
 * which all turns ended polling. */
#define STUCK_ROUND 1u
#define STUCK_TURNS 32u
#define STUCK 64u
/* A share, in slices, for a block that has polled and for one that never has; more by a part for each that is held. */
#define SHARE_HINTED 64u
#define SHARE 1024u
#define SHARE_HELD 128u
#define LOOK_ROUNDS 64u /* rounds without a slice used up, after which the worker looks what is due */
/* Turns that end without a poll before lanes that wait at a join are let go: half an hour of most loops. */
#define MG_APART 65536u

/* TAKEN: compiled code can go on; WAITS: no warp can run, and some wait for the cluster's barrier */
enum outcome { BLOCK_DONE, BLOCK_PARKED, BLOCK_STOPPED, BLOCK_TAKEN, BLOCK_WAITS };

/* Leaves of the block that wait: the observers are told, and the first that waits for what *first says, if it is
 * named, or else for anything, is found. */
static struct mg_warp *stuck_leaf(struct mg_block *b, const struct mg_split **first)
{
    struct mg_warp *in = NULL;
    for (uint32_t k = 0; k < b->nwarps; k++) {
        struct mg_warp *w = &b->warps[k];
        for (size_t i = 0; w->nleaves && i < w->splits.count; i++) {
            const struct mg_split *s = &w->splits.at[i];
            if (!s->mask || s->wait == MG_WAIT_NONE)
                continue;
            if (mg__wants_sync(w) && s->wait != MG_WAIT_CLUSTER) {
                struct mg_sync *e = mg__sync_event(w, s->pc, MG_SYNC_STUCK, s->mask);
                e->barrier = s->wait == MG_WAIT_BARRIER ? s->barrier : ~0u;
                e->missing = s->wait == MG_WAIT_WARP ? s->member & ~s->mask : 0;
                mg__sync_emit(w->worker);
            }
            in = in ? in : w;
            *first = *first ? *first : s;
        }
    }
    return in;
}

static void deadlock(struct mg_cluster *c)
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
                                    run->nclusters * run->cluster_size);
    }
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
static struct mg_warp *late_warp(const struct mg_cluster *c, uint32_t size)
{
    for (uint32_t r = 0; r < size; r++)
        for (uint32_t k = 0; k < c->blocks[r].nwarps && c->blocks[r].live_warps; k++)
            if (c->blocks[r].warps[k].nleaves)
                return &c->blocks[r].warps[k];
    return NULL;
}

static bool out_of_time(struct mg_worker *worker, const struct mg_cluster *c)
{
    if (!mg__run_due(worker))
        return false;
    struct mg_warp *w = late_warp(c, worker->run->cluster_size);
    if (w && mg__wants_sync(w)) {
        const struct mg_split *s = &w->splits.at[w->current];
        mg__sync_event(w, s->mask ? s->pc : NULL, MG_SYNC_TIMEOUT, s->mask)->arrive = mg__has_polled(w);
        mg__sync_emit(worker);
    }
    worker->late = c;
    atomic_store(&worker->run->stop, 1);
    return true;
}

/* The launch's time was over. All workers have stopped, and hold what they had. */
static void tell_late(struct mg_run *run)
{
    struct mg_worker *worker = run->workers, *end = worker + run->nworkers;
    while (worker < end && !worker->late)
        worker++;
    if (worker == end || worker->diag.status != MG_OK)
        return;
    struct mg_warp *w = late_warp(worker->late, run->cluster_size);
    if (w) {
        char where[MG_PLACES];
        const struct mg_split *s = &w->splits.at[w->current];
        uint64_t more = left_out(run);
        mg__places(run, NULL, where, sizeof where);
        mg__fault(w, s->mask ? s->pc : NULL, (unsigned)__builtin_ctz(s->mask ? s->mask : 1), MG_ERR_TIMEOUT,
                  "the launch ran longer than its limit of %.3g s; %s", run->simt->options.timeout_ms / 1000.0, where);
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
    const struct mg_block *b = &worker->late->blocks[run->cluster_size - 1]; /* between two: no warp is at fault */
    mg__diag_set(&worker->diag, MG_ERR_TIMEOUT,
                 "%s: the launch ran longer than its limit of %.3g s (after block %u,%u,%u)", run->info.kernel,
                 run->simt->options.timeout_ms / 1000.0, b->ctaid[0], b->ctaid[1], b->ctaid[2]);
    mg__diag_hint(&worker->diag, "The grid has %llu blocks; or raise --timeout.",
                  (unsigned long long)(run->nclusters * run->cluster_size));
    worker->fault_block = b->linear;
}

static void no_memory(struct mg_worker *worker)
{
    mg__diag_set(&worker->diag, MG_ERR_NOMEM, "%s: no host memory for a block", worker->run->info.kernel);
    atomic_store(&worker->run->stop, 1);
}

/* The worker goes over to better code if there is some. False: out of memory. */
static bool rise(struct mg_worker *worker)
{
    bool good = !mg__tier_due(worker) || mg__tier_worker(worker);
    if (!good)
        no_memory(worker);
    return good;
}

/* Better code than the block began with takes it over. */
static bool taken(struct mg_worker *worker, struct mg_block *b)
{
    if (!worker->run->engine || !rise(worker) || b->tier == worker->tier || !mg__engine_take(b))
        return false;
    b->tier = worker->tier;
    return true;
}

/* ---- turns and rounds ---- */
bool mg__slice_over(struct mg_warp *w)
{
    struct mg_worker *worker = w->worker;
    w->block->looks++;
    worker->due |=
        atomic_load_explicit(&worker->run->stop, memory_order_relaxed) || mg__run_due(worker) || mg__tier_due(worker);
    w->e.slice = MG_SLICE;
    if (mg__has_polled(w) || ++w->looks >= MG_LOOKS) {
        w->looks = 0;
        w->stop = MG_STOP_YIELD;
        return false;
    }
    w->polled = w->outside = 0;
    if (!worker->due)
        return true;
    w->e.slice++; /* the loop's begin, which has been charged, is once more */
    w->stop = MG_STOP_LOOK;
    return false;
}

void mg__turn_over(struct mg_block *b, struct mg_warp *w)
{
    struct mg_round *r = &b->round;
    r->turn = w->index + 1;
    r->mid = false;
    r->ran = true;
    r->outside |= w->outside != 0;
    r->ended |= w->stop == MG_STOP_DONE;
    if (w->stop != MG_STOP_YIELD)
        return;
    bool polled = mg__has_polled(w);
    r->yielded = true;
    r->unpolled |= !polled;
    w->worker->waits |= polled ? MG_WAITED_POLLING : 0;
    /* Lanes that wait at a join may hold what the others wait for. */
    if (polled ? ++w->polls > w->nleaves : ++w->apart > MG_APART) {
        w->polls = w->apart = 0;
        mg__warp_release(w, true);
    }
}

bool mg__round_over(struct mg_block *b)
{
    struct mg_round r = b->round;
    struct mg_worker *worker = b->warps[0].worker;
    b->round = (struct mg_round){0};
    bool stuck = r.outside && !r.ended && !r.unpolled;
    b->stuck = stuck ? b->stuck + (r.yielded ? STUCK_TURNS : STUCK_ROUND) : 0;
    b->hinted |= r.outside;
    bool look = ++b->rounds % LOOK_ROUNDS == 0;
    worker->due |= look && (atomic_load_explicit(&worker->run->stop, memory_order_relaxed) || mg__run_due(worker) ||
                            mg__tier_due(worker));
    if (b->stuck < STUCK && !look && !r.yielded)
        return false;
    uint64_t share = b->hinted ? SHARE_HINTED : SHARE + SHARE_HELD * (uint64_t)worker->held;
    if (b->stuck < STUCK && b->looks + b->rounds / LOOK_ROUNDS < share)
        return false;
    b->stuck = 0;
    b->looks = b->rounds = 0;
    return !worker->alone;
}

/* What is due is done. False: the launch ends. */
static bool look(struct mg_worker *worker, struct mg_block *b)
{
    worker->due = false;
    return !atomic_load_explicit(&worker->run->stop, memory_order_relaxed) && !out_of_time(worker, b->cluster);
}

/* The rest of a round, interpreted: BLOCK_DONE where it has come to the round's end. */
static enum outcome run_round(struct mg_worker *worker, struct mg_block *b)
{
    struct mg_round *r = &b->round;
    while (r->turn < b->nwarps && !b->opened) {
        struct mg_warp *w = &b->warps[r->turn];
        if (!r->mid && (w->nleaves == 0 || !mg__warp_choose(w))) {
            r->turn++;
            continue;
        }
        if (r->mid)
            mg__warp_load(w);
        else
            mg__turn_begin(w);
        r->mid = true;
        mg__warp_run(w);
        if (w->stop == MG_STOP_FAULT)
            return BLOCK_STOPPED;
        if (w->stop == MG_STOP_DONE)
            b->live_warps--;
        if (w->stop != MG_STOP_LOOK)
            mg__turn_over(b, w);
        if (worker->due) {
            if (!look(worker, b))
                return BLOCK_STOPPED;
            if (taken(worker, b))
                return BLOCK_TAKEN;
        }
    }
    b->opened = false;
    return BLOCK_DONE;
}

static bool for_cluster(const struct mg_block *b)
{
    for (uint32_t k = 0; k < b->nwarps; k++)
        for (size_t i = 0; b->warps[k].nleaves && i < b->warps[k].splits.count; i++)
            if (b->warps[k].splits.at[i].mask && b->warps[k].splits.at[i].wait == MG_WAIT_CLUSTER)
                return true;
    return false;
}

static bool release(struct mg_block *b)
{
    bool released = false;
    for (uint32_t k = 0; k < b->nwarps; k++)
        released |= b->warps[k].nleaves && mg__warp_release(&b->warps[k], false);
    return released;
}

static enum outcome run_block(struct mg_worker *worker, struct mg_block *b)
{
    for (;;) {
        if (taken(worker, b))
            return BLOCK_TAKEN;
        enum outcome outcome = run_round(worker, b);
        if (outcome != BLOCK_DONE || b->live_warps == 0)
            return outcome;
        if (atomic_load_explicit(&worker->run->stop, memory_order_relaxed))
            return BLOCK_STOPPED;
        if (!b->round.ran) {
            b->waits = for_cluster(b);
            if (b->waits) {
                b->round = (struct mg_round){0};
                return BLOCK_WAITS;
            }
            if (!release(b)) {
                deadlock(b->cluster);
                return BLOCK_STOPPED;
            }
        }
        bool park = mg__round_over(b);
        if (worker->due && !look(worker, b))
            return BLOCK_STOPPED;
        if (park)
            return BLOCK_PARKED;
    }
}

/* By compiled code, or by what it leaves. */
static enum outcome run_any(struct mg_worker *worker, struct mg_block *b)
{
    bool timed = mg__engine_timed(worker);
    uint64_t start = timed ? mg__time_ns() : 0;
    const struct mg_tier *tier = worker->tier;
    enum outcome outcome = BLOCK_TAKEN;
    b->stuck = 0;
    b->looks = b->rounds = 0;
    while (outcome == BLOCK_TAKEN) {
        if (!b->engine) {
            outcome = run_block(worker, b);
            b->engine = outcome == BLOCK_TAKEN;
            continue;
        }
        b->tier = worker->tier;
        switch (mg__engine_block(worker, b)) {
        case MG_ENGINE_DONE:
            outcome = BLOCK_DONE;
            break;
        case MG_ENGINE_STOPPED:
            outcome = BLOCK_STOPPED;
            break;
        case MG_ENGINE_PARKED:
            outcome = worker->due && !look(worker, b) ? BLOCK_STOPPED : BLOCK_PARKED;
            break;
        case MG_ENGINE_LOOK:
            if (!look(worker, b) || !rise(worker))
                outcome = BLOCK_STOPPED;
            break;
        case MG_ENGINE_INTERPRET:
            b->engine = false;
            break;
        }
    }
    if (tier && tier == worker->tier && (timed || outcome != BLOCK_DONE))
        mg__engine_took(worker, b->compiled, outcome == BLOCK_DONE, mg__time_ns() - start);
    return outcome;
}

/* No block of the cluster can go on by itself. False: nor by letting lanes go that wait at joins. */
static bool release_cluster(struct mg_cluster *c)
{
    bool released = false;
    for (uint32_t r = 0; r < c->blocks[0].run->cluster_size; r++)
        if (c->blocks[r].live_warps && release(&c->blocks[r])) {
            c->blocks[r].waits = false;
            released = true;
        }
    return released;
}

/* A turn for each of its blocks, and more as long as none of them was parked. */
static enum outcome run_cluster(struct mg_worker *worker, struct mg_cluster *c)
{
    for (bool parked = false; !parked;) {
        bool ran = false;
        for (uint32_t r = 0; r < worker->run->cluster_size; r++) {
            struct mg_block *b = &c->blocks[r];
            if (b->live_warps == 0 || b->waits)
                continue;
            enum outcome outcome = run_any(worker, b);
            if (outcome == BLOCK_STOPPED)
                return BLOCK_STOPPED;
            ran = true;
            parked |= outcome == BLOCK_PARKED;
            if (outcome == BLOCK_DONE) {
                mg__block_event(b, MG_SYNC_BLOCK_END);
                if (--c->live == 0)
                    return BLOCK_DONE;
                mg__cluster_check(c);
            }
        }
        if (!ran && !release_cluster(c)) {
            deadlock(c);
            return BLOCK_STOPPED;
        }
    }
    worker->waits |= c->live > 1 ? MG_WAITED_PARKED : 0;
    return BLOCK_PARKED;
}

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
    return true;
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
            no_memory(worker);
            return false;
        }
        worker->nclusters++;
    }
    if (!mg__cluster_begin(worker, worker->clusters[slot], worker->next)) {
        no_memory(worker);
        return false;
    }
    worker->next++;
    worker->held++;
    *at = slot;
    return true;
}

/* The others' blocks are all that fit on the device. False: the launch ends. */
static bool wait_for_room(struct mg_worker *worker)
{
    while (!fits(worker)) {
        if (atomic_load_explicit(&worker->run->stop, memory_order_relaxed))
            return false;
        nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
    }
    return true;
}

static bool cluster_done(struct mg_worker *worker, struct mg_cluster *c)
{
    c->busy = false;
    worker->held--;
    uint64_t done = atomic_fetch_add_explicit(&worker->done, 1, memory_order_relaxed) + 1;
    return ((done & 15) != 0 || !out_of_time(worker, c)) && rise(worker);
}

static void run_clusters(struct mg_worker *worker)
{
    struct mg_run *run = worker->run;
    const struct mg_cluster *last = NULL;
    uint32_t at = 0;
    bool more = true;
    while (!atomic_load_explicit(&run->stop, memory_order_relaxed)) {
        bool begin = worker->held == 0 || worker->parked_last;
        more = more && (!begin || next_cluster(worker));
        if (worker->held == 0 && (!more || !wait_for_room(worker)))
            break;
        if (more && begin && fits(worker)) {
            if (!begin_next(worker, &at))
                break;
        } else {
            do
                at = (at + 1) % worker->nclusters;
            while (!worker->clusters[at]->busy);
        }
        struct mg_cluster *c = worker->clusters[at];
        worker->alone = run->cluster_size == 1 && worker->held == 1 && worker->next == worker->end &&
                        atomic_load_explicit(&run->next_cluster, memory_order_relaxed) >= run->nclusters;
        worker->waits |= worker->parked_last && c != last ? MG_WAITED_PARKED : 0;
        last = c;
        enum outcome outcome = run_cluster(worker, c);
        worker->parked_last = outcome == BLOCK_PARKED;
        if (outcome == BLOCK_STOPPED)
            break;
        if (outcome == BLOCK_DONE && !cluster_done(worker, c))
            break;
        if (outcome == BLOCK_PARKED && out_of_time(worker, c))
            break;
    }
}

static bool make_worker(struct mg_worker *worker)
{
    struct mg_run *run = worker->run;
    const struct mg_program *p = run->program;
    worker->spread.spread = mg__access_spread;
    worker->event.room = &worker->spread;
    worker->sites = calloc(p->nsites + 1, sizeof *worker->sites);
    worker->counts = calloc(p->nsegments + 1, sizeof *worker->counts);
    worker->by_insn = calloc(p->ninsns + 1, sizeof *worker->by_insn);
    worker->free_frames = calloc(p->ncodes + 1, sizeof(struct mg_frame *));
    worker->patterns = calloc(MG_PATTERN_HASH, sizeof(struct mg_pattern *));
    if (!worker->sites || !worker->counts || !worker->by_insn || !worker->free_frames || !worker->patterns ||
        !mg__tier_worker(worker))
        return false;
    for (unsigned i = 0; i < run->nobservers; i++) {
        const struct mg_observer *o = &run->observers[i];
        if (o->worker_begin && !(worker->observers[i] = o->worker_begin(run->observer_state[i], worker->index)))
            return false;
    }
    return true;
}

/* What the observers have not been told yet. */
static void tell_observers(struct mg_worker *worker)
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

static void free_worker(struct mg_worker *worker)
{
    const struct mg_program *p = worker->run->program;
    for (uint32_t k = 0; k < worker->nclusters; k++)
        mg__cluster_free(worker, worker->clusters[k]);
    free(worker->clusters);
    for (uint32_t c = 0; worker->free_frames && c < p->ncodes; c++)
        while (worker->free_frames[c]) {
            struct mg_frame *f = worker->free_frames[c];
            worker->free_frames[c] = f->next;
            free(f);
        }
    free(worker->free_frames);
    for (uint32_t s = 0; worker->sites && s < p->nsites; s++) {
        free(worker->sites[s].others);
        free(worker->sites[s].touched);
    }
    free(worker->sites);
    for (uint32_t h = 0; worker->patterns && h < MG_PATTERN_HASH; h++)
        while (worker->patterns[h]) {
            struct mg_pattern *next = worker->patterns[h]->next;
            free(worker->patterns[h]);
            worker->patterns[h] = next;
        }
    free(worker->patterns);
    free(worker->counts);
    free(worker->by_insn);
    free(worker->records);
    free(worker->full);
}

/* A worker's memory is made, used and given back on its own thread: what another processor has written takes 100 ns a
 * line to read or to write, which comes to a good part of a short launch. What it still holds, because the launch has
 * been stopped, is looked at when all have. */
static void work(void *arg, unsigned index)
{
    struct mg_run *run = arg;
    struct mg_worker *worker = &run->workers[index];
    worker->run = run;
    worker->index = index;
    if (make_worker(worker)) {
        run_clusters(worker);
        tell_observers(worker);
    } else {
        no_memory(worker);
    }
    if (worker->held == 0 && !worker->late)
        free_worker(worker);
}

enum mg_status mg__run(struct mg_run *run, struct mg_diag *diag)
{
    enum mg_status status = MG_ERR_NOMEM;
    unsigned observing = 0;
    run->workers = calloc(run->nworkers, sizeof *run->workers);
    if (!run->workers)
        return mg__diag_set(diag, MG_ERR_NOMEM, "%s: no host memory for the launch", run->info.kernel);
    for (; observing < run->nobservers; observing++) {
        const struct mg_observer *o = &run->observers[observing];
        if (o->launch_begin)
            status = o->launch_begin(o->self, &run->info, run->nworkers, &run->observer_state[observing]);
        else
            status = MG_OK;
        if (status != MG_OK)
            break;
    }
    if (observing == run->nobservers) {
        mg__pool_run(run->simt->pool, run->nworkers, work, run);
        tell_late(run);
        struct mg_worker *worst = NULL;
        for (unsigned i = 0; i < run->nworkers; i++) {
            struct mg_worker *worker = &run->workers[i];
            if (worker->diag.status != MG_OK && (!worst || worker->fault_block < worst->fault_block))
                worst = worker;
            run->info.waits |= worker->waits;
            for (unsigned k = 0; k < run->nobservers; k++)
                if (worker->observers[k] && run->observers[k].worker_end)
                    run->observers[k].worker_end(run->observer_state[k], worker->observers[k]);
        }
        status = worst ? worst->diag.status : MG_OK;
        if (worst && diag)
            *diag = worst->diag;
        mg__warnings_tell(run);
    } else {
        mg__diag_set(diag, status, "%s: no host memory for the launch", run->info.kernel);
    }
    for (unsigned i = 0; i < observing; i++)
        if (run->observers[i].launch_end)
            run->observers[i].launch_end(run->observer_state[i], status);
    for (unsigned i = 0; i < run->nworkers; i++)
        if (run->workers[i].held || run->workers[i].late)
            free_worker(&run->workers[i]);
    free(run->workers);
    return status;
}
