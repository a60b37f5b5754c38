/* mbarrier.c - barriers in shared memory that count arrivals and bytes (PTX ISA, "mbarrier").
 *
 * The word is opaque to programs. Here it has, from the lowest bit on:
 *
 *     20 bits   arrivals that are pending in this phase
 *     20 bits   arrivals that a phase takes
 *     22 bits   bytes that are pending, signed: a copy may come before it is expected
 *      1 bit    the phase's parity
 *      1 bit    1: it is an mbarrier
 *
 * A phase is over when neither arrivals nor bytes are pending; the next one begins at once. The state that an arrival
 * gives is the word before it. What the PTX ISA leaves undefined (a word that was never initialised, more arrivals or
 * bytes than fit) stops the launch.
 *
 * A wait in vain ends the warp's turn at the next loop: try_wait's time limit is a turn, whatever the program hints.
 * What waits in a loop that has no other end (mode bit MG_WAIT_ALONE, lower_async.c) cannot go on before some phase is
 * over, and where that holds for all of a cluster the launch can never end.
 */
#include "simt/engine_priv.h"

#define COUNT_MOST ((1u << 20) - 1)
#define BYTES_MOST ((1 << 20) - 1)
#define IN_VAIN 64u /* rounds: each leaf of a warp, of which there are 32 at most, has had a turn */

/* Bytes of a phase, for messages: what was expected, and what came. */
struct tally {
    const uint8_t *word;
    int64_t expected, came;
};
struct mg_mbarriers {
    MG_VEC(struct tally) tallies;
};

struct fields {
    uint32_t pending, count;
    int32_t bytes;
    bool parity, valid;
};

static struct fields unpack(uint64_t word)
{
    return (struct fields){.pending = word & COUNT_MOST,
                           .count = word >> 20 & COUNT_MOST,
                           .bytes = (int32_t)((int64_t)(word << 2) >> 42),
                           .parity = word >> 62 & 1,
                           .valid = word >> 63};
}

static uint64_t pack(struct fields f)
{
    return (uint64_t)f.pending | (uint64_t)f.count << 20 | ((uint64_t)(int64_t)f.bytes & ((1u << 22) - 1)) << 40 |
           (uint64_t)f.parity << 62 | (uint64_t)f.valid << 63;
}

static struct fields load(const uint8_t *at)
{
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return unpack(word);
}

static void store(uint8_t *at, struct fields f)
{
    memcpy(at, &(uint64_t){pack(f)}, 8);
}

/* ---- what a cluster remembers of them ---- */
static struct mg_mbarriers *made(struct mg_cluster *c)
{
    if (!c->mbarriers)
        c->mbarriers = calloc(1, sizeof *c->mbarriers);
    return c->mbarriers;
}

void mg__mbarrier_forget(struct mg_cluster *c)
{
    if (c->mbarriers)
        c->mbarriers->tallies.count = 0;
}

void mg__mbarrier_free(struct mg_cluster *c)
{
    if (c->mbarriers)
        mg__vec_free(&c->mbarriers->tallies);
    free(c->mbarriers);
}

static struct tally *tally_of(const struct mg_cluster *c, const uint8_t *word)
{
    for (size_t i = 0; c->mbarriers && i < c->mbarriers->tallies.count; i++)
        if (c->mbarriers->tallies.at[i].word == word)
            return &c->mbarriers->tallies.at[i];
    return NULL;
}

static struct mg_sync *event(struct mg_warp *w, const struct mg_op *op, enum mg_sync_kind kind, uint32_t mask,
                             const struct mg_block *of, const uint8_t *word)
{
    struct mg_sync *e = mg__sync_event(w, op, kind, mask);
    e->target = of->linear;
    e->address = (uint64_t)(word - of->shared);
    return e;
}

static void tell(struct mg_warp *w, const struct mg_op *op, enum mg_sync_kind kind, uint32_t mask,
                 const struct mg_block *of, const uint8_t *word, uint32_t count)
{
    if (!mg__wants_sync(w))
        return;
    event(w, op, kind, mask, of, word)->count = count;
    mg__sync_emit(w->worker);
}

/* ---- changes ---- */
/* Bytes come and are expected. */
static void count_bytes(struct mg_cluster *c, const uint8_t *word, int64_t expected, int64_t came)
{
    struct mg_mbarriers *all = made(c);
    struct tally *t = tally_of(c, word);
    if (!t && all && mg__vec_push(&all->tallies, ((struct tally){.word = word})))
        t = &all->tallies.at[all->tallies.count - 1];
    if (t) {
        t->expected += expected;
        t->came += came;
    }
}

/* The phase is over if nothing is pending. */
static void settle(struct mg_warp *w, const struct mg_op *op, const struct mg_block *of, uint8_t *word,
                   struct fields *f)
{
    if (f->pending || f->bytes)
        return;
    f->parity = !f->parity;
    f->pending = f->count;
    struct tally *t = tally_of(of->cluster, word);
    if (t)
        t->expected = t->came = 0;
    tell(w, op, MG_SYNC_MBARRIER_OPEN, 0, of, word, 0);
}

static bool refuse(struct mg_warp *w, const struct mg_op *op, unsigned lane, const char *what)
{
    mg__fault(w, op, lane, MG_ERR_TRAP, "%s", what);
    return false;
}

static bool usable(struct mg_warp *w, const struct mg_op *op, unsigned lane, const struct mg_block *of,
                   const uint8_t *word, struct fields f)
{
    if (f.valid)
        return true;
    tell(w, op, MG_SYNC_MBARRIER_NONE, 1u << lane, of, word, 0);
    refuse(w, op, lane, "there is no mbarrier at this address: none was initialised here, or it was invalidated");
    mg__fault_hint(w, "One thread calls mbarrier.init (or init()), and a __syncthreads() stands before the first use.");
    return false;
}

static bool add_bytes(struct mg_warp *w, const struct mg_op *op, unsigned lane, struct fields *f, int64_t bytes)
{
    int64_t sum = f->bytes + bytes;
    if (sum > BYTES_MOST || sum < -BYTES_MOST) {
        mg__fault(w, op, lane, MG_ERR_TRAP, "the mbarrier would wait for %lld bytes: it can count 1048575",
                  (long long)sum);
        mg__fault_hint(w, "Wait for each stage before the next one is expected, or use more mbarriers.");
        return false;
    }
    f->bytes = (int32_t)sum;
    return true;
}

static bool arrive(struct mg_warp *w, const struct mg_op *op, unsigned lane, const struct mg_block *of,
                   const uint8_t *word, struct fields *f, uint32_t count)
{
    if (count == 0 || count > f->pending) {
        if (mg__wants_sync(w)) {
            struct mg_sync *e = event(w, op, MG_SYNC_MBARRIER_MANY, 1u << lane, of, word);
            e->count = count;
            e->missing = f->pending;
            e->size = f->count;
            mg__sync_emit(w->worker);
        }
        mg__fault(w, op, lane, MG_ERR_TRAP, "%u arrival%s at an mbarrier that waits for %u more of %u in this phase",
                  count, count == 1 ? "" : "s", f->pending, f->count);
        mg__fault_hint(w,
                       count && !f->pending
                           ? "The phase still waits for bytes. Arrive for the next one when it is over: a wait for the "
                             "wrong parity does not wait, and lets it begin too soon."
                           : "The count given to mbarrier.init (or init()) must be that of all arrivals of a phase.");
        return false;
    }
    f->pending -= count;
    return true;
}

bool mg__mbarrier_complete(struct mg_warp *w, const struct mg_op *op, unsigned lane, const struct mg_block *of,
                           uint8_t *word, uint32_t bytes)
{
    struct fields f = load(word);
    if (!usable(w, op, lane, of, word, f) || !add_bytes(w, op, lane, &f, -(int64_t)bytes))
        return false;
    count_bytes(of->cluster, word, 0, bytes);
    settle(w, op, of, word, &f);
    store(word, f);
    return true;
}

/* The word of a lane, and the block that has it. NULL: a fault. */
static const struct mg_block *word_of(struct mg_warp *w, const struct mg_op *op, unsigned lane, uint64_t address,
                                      uint8_t **word)
{
    return mg__cluster_at(w, op, op->u.mem, lane, address, 8, word);
}

/* One lane's operation; false: a fault. */
static bool change(struct mg_warp *w, const struct mg_op *op, unsigned lane, const struct mg_block *of, uint8_t *word,
                   uint32_t operand)
{
    struct fields f = load(word);
    uint32_t arrivals = 0;
    switch (op->mode) {
    case MG_MBARRIER_INIT:
        if (operand == 0 || operand > COUNT_MOST)
            return refuse(w, op, lane, "mbarrier.init takes a count from 1 to 1048575");
        f = (struct fields){.pending = operand, .count = operand, .valid = true};
        store(word, f);
        if (tally_of(of->cluster, word))
            *tally_of(of->cluster, word) = (struct tally){.word = word};
        return true;
    case MG_MBARRIER_COMPLETE:
        return mg__mbarrier_complete(w, op, lane, of, word, operand);
    case MG_MBARRIER_COPIES: /* copies that are not bulk have come; it was counted for one more while they had not */
        return usable(w, op, lane, of, word, f);
    default:
        break;
    }
    if (!usable(w, op, lane, of, word, f))
        return false;
    switch (op->mode) {
    case MG_MBARRIER_INVAL:
        f = (struct fields){.valid = false};
        break;
    case MG_MBARRIER_EXPECT:
    case MG_MBARRIER_ARRIVE_EXPECT:
    case MG_MBARRIER_DROP_EXPECT:
        if (!add_bytes(w, op, lane, &f, operand))
            return false;
        count_bytes(of->cluster, word, operand, 0);
        arrivals = op->mode != MG_MBARRIER_EXPECT;
        break;
    case MG_MBARRIER_ARRIVE:
    case MG_MBARRIER_ARRIVE_ONLY:
    case MG_MBARRIER_DROP:
    case MG_MBARRIER_DROP_ONLY:
        arrivals = operand;
        break;
    default: /* MG_MBARRIER_COPIES_ONE */
        arrivals = 1;
    }
    bool arrives = op->mode != MG_MBARRIER_INVAL && op->mode != MG_MBARRIER_EXPECT;
    bool drops =
        op->mode == MG_MBARRIER_DROP || op->mode == MG_MBARRIER_DROP_EXPECT || op->mode == MG_MBARRIER_DROP_ONLY;
    bool only = op->mode == MG_MBARRIER_ARRIVE_ONLY || op->mode == MG_MBARRIER_DROP_ONLY;
    if (arrives && !arrive(w, op, lane, of, word, &f, arrivals))
        return false;
    if (drops)
        f.count -= MG_MIN(arrivals, f.count);
    if (only && !f.pending && !f.bytes)
        return refuse(w, op, lane, "an arrival with .noComplete would complete the phase");
    if (arrives || op->mode == MG_MBARRIER_EXPECT)
        settle(w, op, of, word, &f);
    store(word, f);
    return true;
}

static enum mg_sync_kind kind_of(uint32_t mode)
{
    return mode == MG_MBARRIER_INIT                                       ? MG_SYNC_MBARRIER_INIT
           : mode == MG_MBARRIER_INVAL                                    ? MG_SYNC_MBARRIER_INVAL
           : mode == MG_MBARRIER_EXPECT || mode == MG_MBARRIER_COMPLETE   ? MG_SYNC_MBARRIER_BYTES
           : mode == MG_MBARRIER_COPIES || mode == MG_MBARRIER_COPIES_ONE ? MG_SYNC_MBARRIER_COPIES
                                                                          : MG_SYNC_MBARRIER_ARRIVE;
}

/* Those of `mask` at the same address as its first lane. */
static uint32_t together(const uint64_t address[32], uint32_t mask)
{
    uint32_t same = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        same |= address[__builtin_ctz(rest)] == address[__builtin_ctz(mask)] ? rest & -rest : 0;
    return same;
}

/* mode: enum mg_mbarrier. u.mem is the word; b: the count. d: the state before. */
MG_HANDLER(mg__op_mbarrier)
{
    uint64_t address[32];
    uint32_t told = 0;
    mg__address(w, op->u.mem, address);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        uint8_t *word;
        const struct mg_block *of = word_of(w, op, lane, address[lane], &word);
        if (!of)
            return NULL;
        uint32_t operand = op->b >= 0 ? mg__lane32(w, op->b, lane) : 1;
        if (!(told >> lane & 1)) {
            uint32_t lanes = together(address, rest);
            tell(w, op, kind_of(op->mode), lanes, of, word, operand);
            told |= lanes;
        }
        if (op->d >= 0)
            memcpy((uint64_t *)mg__slot(w, op->d) + lane, word, 8);
        if (!change(w, op, lane, of, word, operand))
            return NULL;
    }
    return op + 1;
}

/* ---- waits ---- */
/* Of the warp's turn nothing is left when it comes to a loop. */
static void give_way(struct mg_warp *w, const struct mg_op *op, unsigned lane, uint8_t *word)
{
    w->e.slice = 0;
    w->polled = MG_SLICE / MG_POLL_COST;
    w->outside += w->block->poll_reach & 1;
    w->block->polled = true;
    w->wanted = word;
    w->wanted_by = mg__lasting(w, op);
    w->wanted_lane = lane;
    w->waits = op->mode & MG_WAIT_ALONE;
}

/* b: the state that an arrival gave, 64 bits, or with mode bit MG_WAIT_PARITY the parity of a phase. d: whether that
 * phase is over. */
MG_HANDLER(mg__op_mbarrier_wait)
{
    uint64_t address[32];
    uint32_t over = 0;
    mg__address(w, op->u.mem, address);
    const bool one = together(address, mask) == mask; /* they are told together */
    const struct mg_block *in = NULL;
    const uint8_t *seen = NULL;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        uint8_t *word;
        const struct mg_block *of = word_of(w, op, lane, address[lane], &word);
        struct fields f = of ? load(word) : (struct fields){0};
        if (!of || !usable(w, op, lane, of, word, f))
            return NULL;
        bool parity =
            op->mode & MG_WAIT_PARITY ? mg__lane32(w, op->b, lane) & 1 : unpack(mg__lane64(w, op->b, lane)).parity;
        if (f.parity == parity) { /* what was over before needs no copy to have come */
            if (!mg__bulk_tried(of->cluster, word))
                return NULL;
            f = load(word);
        }
        if (f.parity == parity) {
            give_way(w, op, lane, word);
            continue;
        }
        over |= 1u << lane;
        if (one)
            seen = word, in = of;
        else
            tell(w, op, MG_SYNC_MBARRIER_OVER, 1u << lane, of, word, 0);
    }
    if (seen)
        tell(w, op, MG_SYNC_MBARRIER_OVER, over, in, seen, 0);
    if (over) {
        w->waits = false;
        w->wanted = NULL;
        for (uint32_t r = 0; r < w->block->run->cluster_size; r++)
            w->block->cluster->blocks[r].in_vain = 0;
    }
    mg__pred_set(w, op->d, over, mask);
    return op + 1;
}

MG_HANDLER(mg__op_mbarrier_pending)
{
    uint32_t *d = mg__slot(w, op->d);
    for (uint32_t rest = mask; rest; rest &= rest - 1)
        d[__builtin_ctz(rest)] = unpack(mg__lane64(w, op->a, (unsigned)__builtin_ctz(rest))).pending;
    return op + 1;
}

/* ---- what can never end ---- */
/* Whose shared memory has the word that the warp waits for. */
static const struct mg_block *holder(const struct mg_warp *w)
{
    const struct mg_block *of = w->block->cluster->blocks;
    while ((uintptr_t)w->wanted - (uintptr_t)of->shared >= of->shared_size)
        of++;
    return of;
}

static void say(const struct mg_warp *w, char *text, size_t size)
{
    const struct mg_run *run = w->worker->run;
    const struct mg_cluster *c = w->block->cluster;
    const struct mg_block *of = holder(w);
    uint32_t at = (uint32_t)(w->wanted - of->shared);
    uint64_t lo, hi;
    int32_t var = mg__shared_object(w, at, at + 8, &lo, &hi);
    struct fields f = load(w->wanted);
    const struct tally *t = tally_of(c, w->wanted);
    int n = snprintf(text, size, "the mbarrier at shared address 0x%x%s%.60s%s has %u of %u arrivals", at,
                     var >= 0 ? " ('" : "", var >= 0 ? run->shared_vars[var].name : "", var >= 0 ? "')" : "",
                     f.count - MG_MIN(f.pending, f.count), f.count);
    if (n > 0 && (size_t)n < size && (f.bytes || (t && t->expected)))
        snprintf(text + n, size - (size_t)n, " and %lld of %lld bytes", (long long)(t ? t->came : 0),
                 (long long)(t ? t->expected : f.bytes));
}

static bool stands_still(const struct mg_block *b)
{
    return b->live_warps == 0 || b->waits || b->in_vain >= IN_VAIN;
}

bool mg__mbarrier_may_hang(const struct mg_block *b)
{
    return b->in_vain && b->in_vain < IN_VAIN;
}

/* What each of the warps waits for. */
static void tell_stuck(struct mg_warp *w)
{
    if (!w->wanted)
        return;
    const struct fields f = load(w->wanted);
    const struct tally *t = tally_of(w->block->cluster, w->wanted);
    struct mg_sync *e = event(w, w->wanted_by, MG_SYNC_MBARRIER_STUCK, 1u << w->wanted_lane, holder(w), w->wanted);
    e->count = f.pending;
    e->missing = f.count;
    e->size = t ? (uint64_t)t->expected : 0;
    e->barrier = t ? (uint32_t)t->came : 0;
    mg__sync_emit(w->worker);
}

void mg__mbarrier_round(struct mg_block *b)
{
    struct mg_warp *in = NULL;
    char what[200], where[MG_PLACES];
    if (b->in_vain < IN_VAIN)
        return;
    for (uint32_t r = 0; r < b->run->cluster_size; r++)
        if (!stands_still(&b->cluster->blocks[r]))
            return;
    for (uint32_t k = 0; k < b->nwarps && !in; k++)
        if (b->warps[k].nleaves && b->warps[k].wanted)
            in = &b->warps[k];
    if (!in)
        return;
    mg__engine_settle(in->worker);
    say(in, what, sizeof what);
    mg__places(b->run, b->cluster, where, sizeof where);
    for (uint32_t r = 0; mg__wants_sync(in) && r < b->run->cluster_size; r++)
        for (uint32_t k = 0; k < b->nwarps; k++)
            if (b->cluster->blocks[r].live_warps && b->cluster->blocks[r].warps[k].nleaves)
                tell_stuck(&b->cluster->blocks[r].warps[k]);
    mg__fault(in, in->wanted_by, in->wanted_lane, MG_ERR_DEADLOCK, "deadlock: %s, and nobody can come any more; %s",
              what, where);
    mg__fault_hint(in,
                   "A wait for the wrong parity, an arrival too few, or expect_tx for other bytes than are copied.");
    in->worker->due = true;
}
