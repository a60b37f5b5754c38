/* sched.c - blocks on workers: who runs next, who is parked, and when nobody can go on.
 *
 * A worker takes blocks in order and runs each to its end, warp after warp, each until it waits, ends or has used its
 * slice. A block whose warps only poll is parked, and the worker begins another or goes back to an older one: so blocks
 * that wait for one another make progress, and no more blocks are held than wait. A launch whose result may depend on
 * the order of blocks (program->ordered) has one worker, which makes counts and results the same for any number of
 * threads.
 */
#include "simt/engine_priv.h"

#define ROUNDS_BEFORE_PARKING 2u

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
    b->compiled = mg__engine_pace(worker);
    b->tier = worker->tier;
    b->rounds = 0;
    memset(b->barriers, 0, sizeof b->barriers);
    /* A device leaves what the last block wrote; zeros make a run repeatable. */
    memset(b->shared, 0, b->shared_size);
    for (uint32_t k = 0; k < b->nwarps; k++) {
        uint32_t lanes = MG_MIN(threads - k * 32, 32u);
        b->warps[k].root->local_base = 0;
        b->warps[k].root->local_top = worker->run->program->entry->local_bytes;
        if (!mg__warp_begin(&b->warps[k], lanes == 32 ? ~0u : (1u << lanes) - 1))
            return false;
        b->warps[k].filled = false;
        if (!b->compiled || k == 0)
            mg__fill_block(&b->warps[k], b->compiled ? 1 : 32);
    }
    block_event(b, MG_SYNC_BLOCK_BEGIN);
    return true;
}

enum outcome { BLOCK_DONE, BLOCK_PARKED, BLOCK_STOPPED, BLOCK_TAKEN /* compiled code can go on */ };

static void deadlock(struct mg_block *b)
{
    bool told = false;
    for (uint32_t k = 0; k < b->nwarps; k++) {
        struct mg_warp *w = &b->warps[k];
        for (size_t i = 0; i < w->splits.count; i++) {
            const struct mg_split *s = &w->splits.at[i];
            if (!s->mask || s->wait == MG_WAIT_NONE)
                continue;
            unsigned lane = (unsigned)__builtin_ctz(s->mask);
            if (mg__wants_sync(w)) {
                struct mg_sync *e = mg__sync_event(w, s->pc, MG_SYNC_STUCK, s->mask);
                e->barrier = s->wait == MG_WAIT_BARRIER ? s->barrier : ~0u;
                e->missing = s->wait == MG_WAIT_BARRIER ? 0 : s->member & ~s->mask;
                mg__sync_emit(w->worker);
            }
            if (told)
                continue;
            told = true;
            if (s->wait == MG_WAIT_BARRIER) {
                const struct mg_barrier *bar = &b->barriers[s->barrier];
                mg__fault(w, s->pc, lane, MG_ERR_DEADLOCK,
                          "deadlock: %u of %u threads wait at barrier %u here, and the others can no longer reach it",
                          bar->arrived, bar->expected ? bar->expected : b->live_threads, s->barrier);
                mg__fault_hint(
                    w, "Every thread of the block must reach the same __syncthreads(): move it out of the branch.");
            } else {
                mg__fault(w, s->pc, lane, MG_ERR_DEADLOCK,
                          "deadlock: lanes 0x%08x wait here for lanes 0x%08x, which can no longer come", s->mask,
                          s->member & ~s->mask);
                mg__fault_hint(w, "The mask of a warp-level operation must name exactly the lanes that execute it.");
            }
        }
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

static bool out_of_time(struct mg_worker *worker, struct mg_block *b)
{
    struct mg_run *run = worker->run;
    if (!mg__run_due(worker))
        return false;
    for (uint32_t k = 0; k < b->nwarps; k++) {
        struct mg_warp *w = &b->warps[k];
        if (w->nleaves == 0)
            continue;
        const struct mg_split *s = &w->splits.at[w->current];
        uint32_t mask = s->mask ? s->mask : 1;
        if (mg__wants_sync(w)) {
            mg__sync_event(w, s->mask ? s->pc : NULL, MG_SYNC_TIMEOUT, s->mask)->arrive = w->polled;
            mg__sync_emit(w->worker);
        }
        mg__fault(w, s->mask ? s->pc : NULL, (unsigned)__builtin_ctz(mask), MG_ERR_TIMEOUT,
                  "the launch ran longer than its limit of %.3g s", run->simt->options.timeout_ms / 1000.0);
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
    if (!rise(worker) || b->tier == worker->tier || !mg__engine_take(b))
        return false;
    b->tier = worker->tier;
    return true;
}

static enum outcome run_block(struct mg_worker *worker, struct mg_block *b)
{
    struct mg_run *run = worker->run;
    for (;;) {
        if (run->engine && taken(worker, b))
            return BLOCK_TAKEN;
        uint64_t before = b->progress;
        bool ran = false, yielded = false, polled = true;
        for (uint32_t k = 0; k < b->nwarps; k++) {
            struct mg_warp *w = &b->warps[k];
            if (w->nleaves == 0 || !mg__warp_choose(w))
                continue;
            ran = true;
            mg__warp_run(w);
            if (w->stop == MG_STOP_FAULT)
                return BLOCK_STOPPED;
            if (w->stop == MG_STOP_DONE) {
                b->live_warps--;
                b->progress++;
            } else if (w->stop == MG_STOP_YIELD) {
                yielded = true;
                polled &= w->polled;
                /* All leaves of the warp poll: what they wait for may be held by lanes that wait at a join. */
                if (w->polled && ++w->polls > w->nleaves) {
                    w->polls = 0;
                    mg__warp_release(w, true);
                }
            }
        }
        if (b->live_warps == 0)
            return BLOCK_DONE;
        if (atomic_load_explicit(&run->stop, memory_order_relaxed))
            return BLOCK_STOPPED;
        if (yielded && out_of_time(worker, b))
            return BLOCK_STOPPED;
        if (!ran) {
            bool released = false;
            for (uint32_t k = 0; k < b->nwarps; k++)
                released |= b->warps[k].nleaves && mg__warp_release(&b->warps[k], false);
            if (!released) {
                deadlock(b);
                return BLOCK_STOPPED;
            }
            continue;
        }
        bool stuck = yielded && polled && b->progress == before;
        b->rounds = stuck ? b->rounds + 1 : 0;
        if (b->rounds >= ROUNDS_BEFORE_PARKING)
            return BLOCK_PARKED;
    }
}

/* By compiled code, or by what it leaves. */
static enum outcome run_any(struct mg_worker *worker, struct mg_block *b)
{
    bool compiled = b->compiled;
    bool timed = mg__engine_timed(worker);
    uint64_t start = timed ? mg__time_ns() : 0;
    const struct mg_tier *tier = worker->tier;
    b->compiled = false;
    enum outcome outcome = BLOCK_TAKEN;
    for (bool again = false; outcome == BLOCK_TAKEN; again = true) {
        enum mg_engine_outcome by = compiled || again ? mg__engine_block(worker, b, again) : MG_ENGINE_INTERPRET;
        outcome = by == MG_ENGINE_DONE ? BLOCK_DONE : by == MG_ENGINE_STOPPED ? BLOCK_STOPPED : run_block(worker, b);
    }
    if (tier && tier == worker->tier && (timed || outcome != BLOCK_DONE))
        mg__engine_paced(worker, compiled, outcome == BLOCK_DONE, mg__time_ns() - start);
    return outcome;
}

static bool take_block(struct mg_worker *worker, uint64_t *linear)
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
    *linear = worker->next++;
    return true;
}

static void run_blocks(struct mg_worker *worker)
{
    struct mg_run *run = worker->run;
    uint32_t held = 0, at = 0;
    bool more = true;
    while (!atomic_load_explicit(&run->stop, memory_order_relaxed)) {
        struct mg_block *b = NULL;
        uint64_t linear;
        if (more && held < run->resident && (held == 0 || worker->parked_last)) {
            more = take_block(worker, &linear);
            if (more) {
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
                        break;
                    }
                    worker->blocks[worker->nblocks++] = fresh;
                }
                b = worker->blocks[slot];
                if (!begin_block(worker, b, linear)) {
                    no_memory(worker);
                    break;
                }
                held++;
                at = slot;
            }
        }
        if (!b) {
            if (held == 0)
                break;
            do
                at = (at + 1) % worker->nblocks;
            while (!worker->blocks[at]->busy);
            b = worker->blocks[at];
            b->rounds = 0;
        }
        enum outcome outcome = run_any(worker, b);
        if (outcome == BLOCK_STOPPED)
            break;
        worker->parked_last = outcome == BLOCK_PARKED;
        if (outcome == BLOCK_DONE) {
            block_event(b, MG_SYNC_BLOCK_END);
            b->busy = false;
            held--;
            uint64_t done = atomic_fetch_add_explicit(&worker->done, 1, memory_order_relaxed) + 1;
            if ((done & 15) == 0 && out_of_time(worker, b))
                break;
            if (!rise(worker))
                break;
        } else if (out_of_time(worker, b)) {
            break;
        }
    }
}

static bool make_worker(struct mg_worker *worker)
{
    struct mg_run *run = worker->run;
    const struct mg_program *p = run->program;
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
        struct mg_worker *worst = NULL, *warned = NULL;
        for (unsigned i = 0; i < run->nworkers; i++) {
            struct mg_worker *worker = &run->workers[i];
            if (worker->diag.status != MG_OK && (!worst || worker->fault_block < worst->fault_block))
                worst = worker;
            if (worker->warning.status != MG_OK && (!warned || worker->warning_block < warned->warning_block))
                warned = worker;
            for (unsigned k = 0; k < run->nobservers; k++)
                if (worker->observers[k] && run->observers[k].worker_end)
                    run->observers[k].worker_end(run->observer_state[k], worker->observers[k]);
        }
        status = worst ? worst->diag.status : MG_OK;
        if (worst && diag)
            *diag = worst->diag;
        if (warned && run->launch->warning)
            *run->launch->warning = warned->warning;
    } else {
        mg__diag_set(diag, status, "%s: no host memory for the launch", run->info.kernel);
    }
    for (unsigned i = 0; i < observing; i++)
        if (run->observers[i].launch_end)
            run->observers[i].launch_end(run->observer_state[i], status);
    free(run->workers);
    return status;
}
