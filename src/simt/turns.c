/* turns.c - the warps of a block have turns, in rounds, and the blocks of a cluster as well.
 *
 * A turn ends when the warp waits, ends, or has used its slices (simt_priv.h: MG_SLICE). A block that has run for its
 * share without ending is parked. The share is small for a block that seems to wait (its warps poll and nothing else),
 * and so large for any other that few ever use it up; it grows with the blocks that are held, which keeps their number
 * low where none waits. Where an observer looks for what is missing between blocks that may wait for one another
 * (run->mixes), a block is parked where all of it has met and nobody polled since it met last, as long as few are held:
 * work that one hands on is often taken by another then. There, and within any block that observers of order follow, a
 * warp's turn ends at the loop behind an atomic operation that may have handed out work.
 *
 * Turns, rounds and shares are told by what the warps do, not by a clock, and alike for interpreted and compiled code.
 */
#include "simt/sched_priv.h"

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

/* The worker goes over to better code if there is some. False: out of memory. */
bool mg__worker_rise(struct mg_worker *worker)
{
    bool good = !mg__tier_due(worker) || mg__tier_worker(worker);
    if (!good)
        mg__no_memory(worker);
    return good;
}

/* Better code than the block began with takes it over. */
static bool taken(struct mg_worker *worker, struct mg_block *b)
{
    if (!worker->run->engine || !mg__worker_rise(worker) || b->tier == worker->tier || !mg__engine_take(b))
        return false;
    b->tier = worker->tier;
    return true;
}

/* ---- turns and rounds ---- */
bool mg__slice_over(struct mg_warp *w)
{
    struct mg_worker *worker = w->worker;
    w->e.slice += w->gives;
    w->gave = w->gives && w->e.slice >= 0;
    w->gives = 0;
    if (w->gave) {
        w->stop = MG_STOP_YIELD;
        return false;
    }
    w->block->looks++;
    worker->due |= mg__stops(worker->run, w->block->cluster) || mg__run_due(worker) || mg__tier_due(worker);
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
    r->moved |= w->stop != MG_STOP_YIELD || !w->waits;
    w->waits = false;
    if (w->stop != MG_STOP_YIELD)
        return;
    bool polled = mg__has_polled(w);
    r->yielded = true;
    r->unpolled |= !polled;
    r->gave |= w->gave;
    if (w->gave) {
        w->gave = false;
        return;
    }
    w->worker->waits |= polled ? MG_WAITED_POLLING : 0;
    /* Lanes that wait at a join may hold what the others wait for; or another block does, which then goes first. */
    bool others = w->outside && !w->worker->alone && !mg__warp_rested(w);
    if (polled ? ++w->polls > w->nleaves && !others : ++w->apart > MG_APART) {
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
    b->in_vain = r.moved || !r.yielded ? 0 : b->in_vain + 1;
    worker->due |= !mg__bulk_round(b);
    mg__mbarrier_round(b);
    bool look = ++b->rounds % LOOK_ROUNDS == 0;
    worker->due |= look && (mg__stops(worker->run, b->cluster) || mg__run_due(worker) || mg__tier_due(worker));
    b->looked |= r.outside;
    worker->mixed = worker->run->mixes && !worker->alone && worker->held <= MG_MIXED &&
                    ((r.met && !b->looked) || (r.gave && !r.outside));
    b->looked &= !r.met;
    if (b->stuck < STUCK && !look && !r.yielded)
        return worker->mixed;
    uint64_t share = b->hinted ? SHARE_HINTED : SHARE + SHARE_HELD * (uint64_t)worker->held;
    uint64_t used = b->looks + b->rounds / LOOK_ROUNDS;
    if (b->stuck < STUCK && used < share)
        return worker->mixed;
    worker->mixed = false;
    if (worker->run->patient)
        mg__share_over(worker, b->stuck >= STUCK, used);
    mg__share_used(b->cluster, b->stuck >= STUCK && !mg__mbarrier_may_hang(b), used);
    worker->due |= mg__stops(worker->run, b->cluster);
    b->stuck = 0;
    b->looks = b->rounds = 0;
    for (uint32_t k = 0; k < b->nwarps; k++)
        mg__warp_rest(&b->warps[k]);
    return !worker->alone || worker->rests;
}

/* What is due is done. False: the launch ends. */
static bool look(struct mg_worker *worker, struct mg_block *b)
{
    worker->due = false;
    return !mg__stops(worker->run, b->cluster) && !mg__out_of_time(worker, b->cluster);
}

/* The rest of a round, interpreted: MG_BLOCK_DONE where it has come to the round's end. */
static enum mg_outcome run_round(struct mg_worker *worker, struct mg_block *b)
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
            return MG_BLOCK_STOPPED;
        if (w->stop == MG_STOP_DONE)
            b->live_warps--;
        if (w->stop != MG_STOP_LOOK)
            mg__turn_over(b, w);
        if (worker->due) {
            if (!look(worker, b))
                return MG_BLOCK_STOPPED;
            if (taken(worker, b))
                return MG_BLOCK_TAKEN;
        }
    }
    r->met = b->opened;
    b->opened = false;
    return MG_BLOCK_DONE;
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

static enum mg_outcome run_block(struct mg_worker *worker, struct mg_block *b)
{
    for (;;) {
        if (taken(worker, b))
            return MG_BLOCK_TAKEN;
        enum mg_outcome outcome = run_round(worker, b);
        if (outcome != MG_BLOCK_DONE || b->live_warps == 0)
            return outcome;
        if (mg__stops(worker->run, b->cluster))
            return MG_BLOCK_STOPPED;
        if (!b->round.ran) {
            b->waits = for_cluster(b);
            if (b->waits) {
                b->round = (struct mg_round){0};
                return MG_BLOCK_WAITS;
            }
            if (!release(b)) {
                mg__deadlock(b->cluster);
                return MG_BLOCK_STOPPED;
            }
        }
        bool park = mg__round_over(b);
        if (worker->due && !look(worker, b))
            return MG_BLOCK_STOPPED;
        if (park)
            return MG_BLOCK_PARKED;
    }
}

/* By compiled code, or by what it leaves. */
static enum mg_outcome run_any(struct mg_worker *worker, struct mg_block *b)
{
    bool timed = mg__engine_timed(worker);
    uint64_t start = timed ? mg__time_ns() : 0;
    const struct mg_tier *tier = worker->tier;
    enum mg_outcome outcome = MG_BLOCK_TAKEN;
    while (outcome == MG_BLOCK_TAKEN) {
        if (!b->engine) {
            outcome = run_block(worker, b);
            b->engine = outcome == MG_BLOCK_TAKEN;
            continue;
        }
        b->tier = worker->tier;
        switch (mg__engine_block(worker, b)) {
        case MG_ENGINE_DONE:
            outcome = MG_BLOCK_DONE;
            break;
        case MG_ENGINE_STOPPED:
            outcome = MG_BLOCK_STOPPED;
            break;
        case MG_ENGINE_PARKED:
            outcome = worker->due && !look(worker, b) ? MG_BLOCK_STOPPED : MG_BLOCK_PARKED;
            break;
        case MG_ENGINE_WAITS:
            outcome = MG_BLOCK_WAITS;
            break;
        case MG_ENGINE_LOOK:
            if (!look(worker, b) || !mg__worker_rise(worker))
                outcome = MG_BLOCK_STOPPED;
            break;
        case MG_ENGINE_INTERPRET:
            b->engine = false;
            break;
        }
    }
    if (tier && tier == worker->tier && (timed || outcome != MG_BLOCK_DONE))
        mg__engine_took(worker, b->compiled, outcome == MG_BLOCK_DONE, mg__time_ns() - start);
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

/* The interpreter finds out what they wait for. */
static bool yield_cluster(struct mg_cluster *c)
{
    bool yielded = false;
    for (uint32_t r = 0; r < c->blocks[0].run->cluster_size; r++)
        yielded |= mg__engine_yield(&c->blocks[r]);
    return yielded;
}

/* A turn for each of its blocks, and more as long as none of them was parked. */
enum mg_outcome mg__run_cluster(struct mg_worker *worker, struct mg_cluster *c)
{
    for (uint32_t r = 0; r < worker->run->cluster_size; r++) {
        c->blocks[r].stuck = 0;
        c->blocks[r].looks = c->blocks[r].rounds = 0;
    }
    for (bool parked = false; !parked;) {
        bool ran = false;
        for (uint32_t r = 0; r < worker->run->cluster_size; r++) {
            struct mg_block *b = &c->blocks[r];
            if (b->live_warps == 0 || b->waits)
                continue;
            enum mg_outcome outcome = run_any(worker, b);
            if (outcome == MG_BLOCK_STOPPED)
                return MG_BLOCK_STOPPED;
            ran = true;
            parked |= outcome == MG_BLOCK_PARKED;
            if (outcome == MG_BLOCK_DONE) {
                if (!mg__bulk_round(b))
                    return MG_BLOCK_STOPPED;
                mg__block_event(b, MG_SYNC_BLOCK_END);
                if (--c->live == 0)
                    return MG_BLOCK_DONE;
            }
        }
        if (!ran && !yield_cluster(c) && !release_cluster(c)) {
            mg__deadlock(c);
            return MG_BLOCK_STOPPED;
        }
    }
    worker->waits |= c->live > 1 ? MG_WAITED_PARKED : 0;
    return MG_BLOCK_PARKED;
}
