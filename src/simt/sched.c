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

static bool make_block(struct mg_worker *worker, struct mg_block *b)
{
    struct mg_run *run = worker->run;
    const struct mg_dim3 *dim = &run->launch->block;
    uint32_t threads = dim->x * dim->y * dim->z;
    b->run = run;
    b->nwarps = (threads + 31) / 32;
    b->shared_size = run->shared_total;
    b->shared = calloc(1, (size_t)b->shared_size + 2 * MG_PAD);
    b->warps = aligned_alloc(64, (b->nwarps * sizeof *b->warps + 63) / 64 * 64);
    if (!b->shared || !b->warps)
        return false;
    memset(b->warps, 0, b->nwarps * sizeof *b->warps);
    for (uint32_t k = 0; k < b->nwarps; k++) {
        struct mg_warp *w = &b->warps[k];
        w->block = b;
        w->worker = worker;
        w->index = k;
        w->sites = worker->sites;
        w->counts = worker->counts;
        w->root = mg__frame_new(worker, run->program->entry);
        if (!w->root)
            return false;
        w->root->local_top = run->program->entry->local_bytes;
        for (uint32_t i = 0; i < 32; i++) {
            uint32_t t = k * 32 + i;
            w->tid[0][i] = t % dim->x;
            w->tid[1][i] = t / dim->x % dim->y;
            w->tid[2][i] = t / dim->x / dim->y;
        }
        mg__fill_warp(w);
        if (worker->tier && !mg__engine_warp(w))
            return false;
    }
    return true;
}

static void free_block(struct mg_block *b)
{
    for (uint32_t k = 0; b->warps && k < b->nwarps; k++) {
        struct mg_warp *w = &b->warps[k];
        for (size_t i = 0; i < w->joins.count; i++)
            if (w->joins.at[i].live)
                free(w->joins.at[i].callee);
        free(w->root);
        free(w->local);
        free(w->cells);
        mg__vec_free(&w->splits);
        mg__vec_free(&w->joins);
    }
    free(b->warps);
    free(b->shared);
}

static void block_event(struct mg_block *b, enum mg_sync_kind kind)
{
    if (!mg__wants_sync(&b->warps[0]))
        return;
    mg__sync_event(&b->warps[0], NULL, kind, 0);
    mg__sync_emit(b->warps[0].worker);
}

static bool begin_block(struct mg_worker *worker, struct mg_block *b, uint64_t linear)
{
    const struct mg_dim3 *grid = &worker->run->launch->grid, *dim = &worker->run->launch->block;
    uint32_t threads = dim->x * dim->y * dim->z;
    if (!b->warps && !make_block(worker, b))
        return false;
    b->linear = linear;
    b->ctaid[0] = (uint32_t)(linear % grid->x);
    b->ctaid[1] = (uint32_t)(linear / grid->x % grid->y);
    b->ctaid[2] = (uint32_t)(linear / grid->x / grid->y);
    b->live_threads = threads;
    b->live_warps = b->nwarps;
    b->busy = true;
    b->compiled = b->engine = b->fresh = mg__engine_pays(worker);
    b->tier = worker->tier;
    b->round = (struct mg_round){0};
    b->opened = b->hinted = false;
    atomic_store_explicit(&worker->begun, atomic_load_explicit(&worker->begun, memory_order_relaxed) + 1,
                          memory_order_relaxed);
    bool again = b->as_begun;
    b->as_begun = false;
    if (!again)
        memset(b->barriers, 0, sizeof b->barriers);
    /* A device leaves what the last block wrote; zeros make a run repeatable. */
    memset(b->shared, 0, b->shared_size);
    for (uint32_t k = 0; k < b->nwarps; k++) {
        uint32_t lanes = MG_MIN(threads - k * 32, 32u);
        b->warps[k].root->local_base = 0;
        b->warps[k].root->local_top = worker->run->program->entry->local_bytes;
        if (!again && !mg__warp_begin(&b->warps[k], lanes == 32 ? ~0u : (1u << lanes) - 1))
            return false;
        b->warps[k].filled = false;
        mg__slice_begin(&b->warps[k]);
        if (!b->compiled || k == 0)
            mg__fill_block(&b->warps[k], b->compiled ? 1 : 32);
    }
    block_event(b, MG_SYNC_BLOCK_BEGIN);
    return true;
}

enum outcome { BLOCK_DONE, BLOCK_PARKED, BLOCK_STOPPED, BLOCK_TAKEN /* compiled code can go on */ };

static void deadlock(struct mg_block *b)
{
    const struct mg_split *first = NULL;
    struct mg_warp *in = NULL;
    for (uint32_t k = 0; k < b->nwarps; k++) {
        struct mg_warp *w = &b->warps[k];
        for (size_t i = 0; i < w->splits.count; i++) {
            const struct mg_split *s = &w->splits.at[i];
            if (!s->mask || s->wait == MG_WAIT_NONE)
                continue;
            if (mg__wants_sync(w)) {
                struct mg_sync *e = mg__sync_event(w, s->pc, MG_SYNC_STUCK, s->mask);
                e->barrier = s->wait == MG_WAIT_BARRIER ? s->barrier : ~0u;
                e->missing = s->wait == MG_WAIT_BARRIER ? 0 : s->member & ~s->mask;
                mg__sync_emit(w->worker);
            }
            in = first ? in : w;
            first = first ? first : s;
        }
    }
    if (!first)
        return;
    unsigned lane = (unsigned)__builtin_ctz(first->mask);
    char where[MG_PLACES];
    mg__places(in->worker, b, where, sizeof where);
    if (first->wait == MG_WAIT_BARRIER) {
        const struct mg_barrier *bar = &b->barriers[first->barrier];
        mg__fault(in, first->pc, lane, MG_ERR_DEADLOCK,
                  "deadlock: %u of %u threads wait at barrier %u here, and the others can no longer reach it; %s",
                  bar->arrived, bar->expected ? bar->expected : b->live_threads, first->barrier, where);
        mg__fault_hint(in, "Every thread of the block must reach the same __syncthreads(): move it out of the branch.");
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
        run->simt->options.progress(run->simt->options.progress_arg, run->info.kernel, done, run->nblocks);
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
    return begun - done >= run->resident ? run->nblocks - begun : 0;
}

static bool out_of_time(struct mg_worker *worker, struct mg_block *b)
{
    struct mg_run *run = worker->run;
    if (!mg__run_due(worker))
        return false;
    char where[MG_PLACES];
    uint64_t more = left_out(run);
    mg__places(worker, NULL, where, sizeof where);
    for (uint32_t k = 0; k < b->nwarps; k++) {
        struct mg_warp *w = &b->warps[k];
        if (w->nleaves == 0)
            continue;
        const struct mg_split *s = &w->splits.at[w->current];
        uint32_t mask = s->mask ? s->mask : 1;
        if (mg__wants_sync(w)) {
            mg__sync_event(w, s->mask ? s->pc : NULL, MG_SYNC_TIMEOUT, s->mask)->arrive = mg__has_polled(w);
            mg__sync_emit(w->worker);
        }
        mg__fault(w, s->mask ? s->pc : NULL, (unsigned)__builtin_ctz(mask), MG_ERR_TIMEOUT,
                  "the launch ran longer than its limit of %.3g s; %s", run->simt->options.timeout_ms / 1000.0, where);
        if (more)
            mg__fault_hint(
                w,
                "An endless loop, or a wait for what never happens: %llu more block%s not begun, for no more "
                "than %u fit on the device at once; or raise --timeout.",
                (unsigned long long)more, more == 1 ? " has" : "s have", run->resident);
        else
            mg__fault_hint(w, "An endless loop, or a wait for what never happens; or raise --timeout.");
        break;
    }
    if (worker->diag.status == MG_OK) { /* between two blocks: no warp is at fault */
        mg__diag_set(&worker->diag, MG_ERR_TIMEOUT,
                     "%s: the launch ran longer than its limit of %.3g s (after block %u,%u,%u)", run->info.kernel,
                     run->simt->options.timeout_ms / 1000.0, b->ctaid[0], b->ctaid[1], b->ctaid[2]);
        mg__diag_hint(&worker->diag, "The grid has %llu blocks; or raise --timeout.", (unsigned long long)run->nblocks);
        worker->fault_block = b->linear;
        atomic_store(&run->stop, 1);
    }
    return true;
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
    return !atomic_load_explicit(&worker->run->stop, memory_order_relaxed) && !out_of_time(worker, b);
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
            bool released = false;
            for (uint32_t k = 0; k < b->nwarps; k++)
                released |= b->warps[k].nleaves && mg__warp_release(&b->warps[k], false);
            if (!released) {
                deadlock(b);
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

/* The worker's next block; false: there is none. */
static bool next_block(struct mg_worker *worker)
{
    struct mg_run *run = worker->run;
    if (worker->next == worker->end) {
        /* Less and less towards the end, where otherwise one worker waits for another one's last chunk. */
        uint64_t taken = atomic_load_explicit(&run->next_block, memory_order_relaxed);
        uint64_t left = taken < run->nblocks ? run->nblocks - taken : 0;
        uint64_t chunk = MG_MIN(MG_MAX(left / (run->nworkers * 8u), 1), 64);
        worker->next = atomic_fetch_add(&run->next_block, chunk);
        worker->end = MG_MIN(worker->next + chunk, run->nblocks);
        if (worker->next >= run->nblocks) {
            worker->next = worker->end = run->nblocks;
            return false;
        }
    }
    return true;
}

/* Whether the worker's next block would be resident on the device, which begins blocks in their order. What others have
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
    while (slot < worker->nblocks && worker->blocks[slot]->busy)
        slot++;
    if (slot == worker->nblocks) {
        struct mg_block *fresh = calloc(1, sizeof *fresh);
        struct mg_block **list = realloc(worker->blocks, (slot + 1) * sizeof(struct mg_block *));
        if (list)
            worker->blocks = list;
        if (!fresh || !list) {
            free(fresh);
            no_memory(worker);
            return false;
        }
        worker->blocks[worker->nblocks++] = fresh;
    }
    if (!begin_block(worker, worker->blocks[slot], worker->next)) {
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

static bool block_done(struct mg_worker *worker, struct mg_block *b)
{
    block_event(b, MG_SYNC_BLOCK_END);
    b->busy = false;
    worker->held--;
    uint64_t done = atomic_fetch_add_explicit(&worker->done, 1, memory_order_relaxed) + 1;
    return ((done & 15) != 0 || !out_of_time(worker, b)) && rise(worker);
}

static void run_blocks(struct mg_worker *worker)
{
    struct mg_run *run = worker->run;
    const struct mg_block *last = NULL;
    uint32_t at = 0;
    bool more = true;
    while (!atomic_load_explicit(&run->stop, memory_order_relaxed)) {
        bool begin = worker->held == 0 || worker->parked_last;
        more = more && (!begin || next_block(worker));
        if (worker->held == 0 && (!more || !wait_for_room(worker)))
            break;
        if (more && begin && fits(worker)) {
            if (!begin_next(worker, &at))
                break;
        } else {
            do
                at = (at + 1) % worker->nblocks;
            while (!worker->blocks[at]->busy);
        }
        struct mg_block *b = worker->blocks[at];
        worker->alone = worker->held == 1 && worker->next == worker->end &&
                        atomic_load_explicit(&run->next_block, memory_order_relaxed) >= run->nblocks;
        worker->waits |= worker->parked_last && b != last ? MG_WAITED_PARKED : 0;
        last = b;
        enum outcome outcome = run_any(worker, b);
        worker->parked_last = outcome == BLOCK_PARKED;
        if (outcome == BLOCK_STOPPED)
            break;
        if (outcome == BLOCK_DONE && !block_done(worker, b))
            break;
        if (outcome == BLOCK_PARKED && out_of_time(worker, b))
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
    for (uint32_t k = 0; k < worker->nblocks; k++) {
        free_block(worker->blocks[k]);
        free(worker->blocks[k]);
    }
    free(worker->blocks);
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
 * line to read or to write, which comes to a good part of a short launch. */
static void work(void *arg, unsigned index)
{
    struct mg_run *run = arg;
    struct mg_worker *worker = &run->workers[index];
    worker->run = run;
    worker->index = index;
    if (make_worker(worker)) {
        run_blocks(worker);
        tell_observers(worker);
    } else {
        no_memory(worker);
    }
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
    free(run->workers);
    return status;
}
