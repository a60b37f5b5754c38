/* clock.c - the clock that a kernel reads (clock, clock64, globaltimer): an observer that goes with each warp,
 * instruction by instruction, and knows when it would be issued its next one.
 *
 * A warp is issued its instructions in order, each when its operands are there and its pipe is free, with what cost.def
 * says that they take; other warps of the multiprocessor are taken to do the same, so a pipe is free for this one as
 * often as it has its share of it. A load's value comes after the latency of the place that has it: a cache of the
 * block's own is gone through with the lines that it touches, and what it touched before is in the second cache. A
 * barrier opens when its last warp has come.
 *
 * All of it is known from the block alone, so what a kernel reads is the same for any number of threads. Blocks all
 * begin at the launch's begin: that some wait for others to end is not in it.
 */
#include "time/time_priv.h"

enum { SLOTS = 2048 /* blocks under way of a worker */, PHASES = 16, WAYS = 4, CALM = 4 };

struct mg_time_clock {
    const struct mg_arch *arch;
    uint32_t regs;
    double base;   /* cycles, at the begin of the launch */
    uint64_t last; /* nanoseconds, at most read so far */
};
struct launch {
    struct mg_time_clock *clock;
    const struct mg_launch_info *info;
    struct mg_time_code *code;
    const struct mg_time_op **ops; /* by instruction; NULL: it is in no block that is reached */
    bool *reads;                   /* by instruction: a clock */
    uint32_t warps, lines;
    double shared_by; /* warps of a scheduler */
    double ns, latest;
    uint64_t began;
};
struct warp {
    double at; /* when its last instruction was issued */
    double pipe[MG_PIPES];
    uint32_t phase;
    bool waits, any;
};
struct block {
    uint64_t number;
    bool used;
    struct warp *warps;
    double *ready;   /* by warp and register */
    uint64_t *cache; /* lines, and what sets have; 0: nothing */
    uint64_t *known; /* lines that it has touched, open addressing */
    uint32_t nknown, room;
    double opens[PHASES];
};
struct worker {
    struct launch *launch;
    struct block *blocks[SLOTS];
    struct block *block;
    const struct mg_time_op *op; /* of the latest step, and whose */
    struct warp *warp;
    uint32_t index;
    double latest;
    bool failed;
};

/* ---- the launch ---- */
static bool is_clock(const struct mg_insn_info *i)
{
    for (unsigned k = 0; k < i->insn->nops; k++) {
        const struct mg_ptx_opnd *o = mg__ptx_op(i->func, i->insn, k);
        if (o->kind == MG_OPND_SREG && o->index >= MG_SR_CLOCK && o->index <= MG_SR_GLOBALTIMER_HI)
            return true;
    }
    return false;
}

static void free_launch(struct launch *l)
{
    mg__time_code_free(l->code);
    free(l->ops);
    free(l->reads);
    free(l);
}

static void describe(struct launch *l)
{
    const struct mg_launch_info *info = l->info;
    const struct mg_arch *arch = l->clock->arch;
    uint32_t threads = info->block.x * info->block.y * info->block.z;
    uint64_t blocks = (uint64_t)info->grid.x * info->grid.y * info->grid.z, sms = arch->board->sm_count;
    struct mg_occupancy o;
    struct mg_occupancy_query query = mg_arch_query(threads, l->clock->regs, info->shared_static, info->shared_dynamic);
    query.shared_optin = info->shared_dynamic;
    uint64_t resident = mg_arch_occupancy(arch, &query, &o) == MG_OK ? MG_MAX(o.blocks, 1u) : 1;
    resident = MG_MIN(resident, (blocks + sms - 1) / sms);
    l->warps = (threads + 31) / 32;
    l->shared_by = MG_MAX(1.0, (double)(l->warps * resident) / arch->partitions);
    uint64_t cache = arch->unified_cache ? arch->unified_cache : 32768, used = resident * info->shared_static;
    l->lines = (uint32_t)(MG_MAX(cache - MG_MIN(cache, used), UINT64_C(16384)) / arch->line_bytes / WAYS);
    l->ns = 1e6 / arch->board->clock_khz;
    l->began = mg__clock_ns();
}

static enum mg_status launch_begin(void *self, const struct mg_launch_info *info, unsigned workers, void **state)
{
    struct launch *l = calloc(1, sizeof(*l));
    struct mg_insn_counts *none = calloc((size_t)info->ninsns + 1, sizeof(*none));
    (void)workers;
    *state = NULL;
    if (l) {
        l->clock = self;
        l->info = info;
        l->ops = calloc((size_t)info->ninsns + 1, sizeof(*l->ops));
        l->reads = calloc((size_t)info->ninsns + 1, sizeof(*l->reads));
        l->code = none ? mg__time_code(info, none, NULL, NULL) : NULL;
    }
    free(none);
    if (!l || !l->ops || !l->reads) {
        if (l)
            free_launch(l);
        return MG_ERR_NOMEM;
    }
    for (uint32_t i = 0; l->code && i < l->code->nops; i++)
        l->ops[l->code->ops[i].insn] = &l->code->ops[i];
    for (uint32_t i = 0; i < info->ninsns; i++)
        l->reads[i] = is_clock(&info->insns[i]);
    describe(l);
    *state = l;
    return MG_OK;
}

static void *worker_begin(void *state, unsigned worker)
{
    struct worker *w = calloc(1, sizeof(*w));
    (void)worker;
    if (w)
        w->launch = state;
    return w;
}

static void free_block(struct block *b)
{
    if (!b)
        return;
    free(b->warps);
    free(b->ready);
    free(b->cache);
    free(b->known);
    free(b);
}

static void worker_end(void *state, void *worker)
{
    struct launch *l = state;
    struct worker *w = worker;
    l->latest = MG_MAX(l->latest, w->latest);
    for (unsigned i = 0; i < SLOTS; i++)
        free_block(w->blocks[i]);
    free(w);
}

static void launch_end(void *state, enum mg_status status)
{
    struct launch *l = state;
    (void)status;
    if (!l)
        return;
    l->clock->base += l->latest + P(BLOCK_FIRST);
    l->clock->last = MG_MAX(l->clock->last, l->began) + (uint64_t)(l->latest * l->ns);
    free_launch(l);
}

/* ---- blocks ---- */
static struct block *make_block(const struct launch *l)
{
    struct block *b = calloc(1, sizeof(*b));
    if (!b)
        return NULL;
    b->room = 64;
    b->warps = calloc(l->warps, sizeof(*b->warps));
    b->ready = calloc((size_t)l->warps * (l->code ? l->code->nregs : 0) + 1, sizeof(*b->ready));
    b->cache = calloc((size_t)l->lines * WAYS + 1, sizeof(*b->cache));
    b->known = calloc(b->room, sizeof(*b->known));
    if (b->warps && b->ready && b->cache && b->known)
        return b;
    free_block(b);
    return NULL;
}

static void begin_block(const struct launch *l, struct block *b, uint64_t number)
{
    memset(b->warps, 0, l->warps * sizeof(*b->warps));
    memset(b->ready, 0, (size_t)l->warps * (l->code ? l->code->nregs : 0) * sizeof(*b->ready));
    memset(b->cache, 0, (size_t)l->lines * WAYS * sizeof(*b->cache));
    memset(b->known, 0, b->room * sizeof(*b->known));
    memset(b->opens, 0, sizeof(b->opens));
    b->nknown = 0;
    b->number = number;
    b->used = true;
    for (uint32_t i = 0; i < l->warps; i++)
        b->warps[i].at = P(BLOCK_FIRST);
}

static struct warp *find(struct worker *w, uint64_t number, uint32_t warp)
{
    const struct launch *l = w->launch;
    if (!w->block || w->block->number != number) {
        struct block **at = &w->blocks[number % SLOTS];
        if (!*at)
            *at = make_block(l);
        w->block = *at;
        if (!*at)
            w->failed = true;
        else if (!(*at)->used || (*at)->number != number)
            begin_block(l, *at, number);
    }
    w->index = warp;
    return w->block && warp < l->warps ? &w->block->warps[warp] : NULL;
}

/* ---- steps ---- */
static double *ready_of(struct worker *w, uint32_t reg)
{
    return &w->block->ready[(size_t)w->index * w->launch->code->nregs + reg];
}

static void set_ready(struct worker *w, const struct mg_time_op *op, double at)
{
    for (uint32_t k = 0; k < op->writes; k++)
        *ready_of(w, w->launch->code->regs[op->regs + op->reads + k]) = at;
}

static void issue(struct worker *w, struct warp *x, uint32_t insn)
{
    const struct launch *l = w->launch;
    const struct mg_time_op *op = l->ops[insn];
    double ready = 0;
    w->op = op;
    w->warp = x;
    if (!op) {
        x->at += CALM;
        return;
    }
    for (uint32_t k = 0; k < op->reads; k++)
        ready = MG_MAX(ready, *ready_of(w, l->code->regs[op->regs + k]));
    if (l->reads[insn]) {
        x->at += P(CLOCK_READ);
        set_ready(w, op, x->at);
        return;
    }
    if (op->pipe == MG_PIPE_NONE) {
        set_ready(w, op, ready);
        return;
    }
    double at = MG_MAX(MG_MAX(x->at + (x->any ? l->shared_by : 0), ready), x->pipe[op->pipe]);
    x->any = true;
    x->pipe[op->pipe] = at + MG_MAX(op->interval * l->shared_by, 1.0) * op->slots;
    x->at = at + (op->slots - 1) * op->interval * l->shared_by;
    if (op->pipe == MG_PIPE_CONTROL)
        x->at += P(BRANCH);
    set_ready(w, op, at + (op->access ? P(L1_LATENCY) : op->latency));
    if (op->barrier) {
        double *opens = &w->block->opens[x->phase++ % PHASES];
        *opens = MG_MAX(*opens, x->at);
        x->waits = true;
    }
}

static bool on_step(void *worker, const struct mg_step *step)
{
    struct worker *w = worker;
    struct warp *x = w->failed ? NULL : find(w, step->block, step->warp);
    if (!x)
        return false;
    if (x->waits) {
        x->at =
            MG_MAX(x->at, w->block->opens[(x->phase - 1) % PHASES] + P(BARRIER) + P(BARRIER_WARP) * w->launch->warps);
        x->waits = false;
    }
    for (uint32_t i = step->from; i <= step->to; i++)
        issue(w, x, i);
    w->latest = MG_MAX(w->latest, x->at);
    return true;
}

/* ---- accesses ---- */
/* Whether the block has touched the line before; now it has. */
static bool touched(struct block *b, uint64_t line)
{
    if (b->nknown * 2 >= b->room) {
        uint64_t *all = calloc((size_t)b->room * 2, sizeof(*all));
        if (!all)
            return false;
        for (uint32_t i = 0; i < b->room; i++)
            for (uint64_t at = b->known[i], k = at * UINT64_C(0x9e3779b97f4a7c15) >> 20; at; k++)
                if (!all[k & (2 * b->room - 1)]) {
                    all[k & (2 * b->room - 1)] = at;
                    break;
                }
        free(b->known);
        b->known = all;
        b->room *= 2;
    }
    for (uint64_t k = line * UINT64_C(0x9e3779b97f4a7c15) >> 20;; k++) {
        uint64_t *at = &b->known[k & (b->room - 1)];
        if (*at == line)
            return true;
        if (!*at) {
            *at = line;
            b->nknown++;
            return false;
        }
    }
}

/* Whether the first cache has the line, which is then its set's latest. */
static bool cached(const struct launch *l, struct block *b, uint64_t line)
{
    uint64_t *set = &b->cache[line % l->lines * WAYS], found = 0;
    unsigned at = WAYS - 1;
    for (unsigned k = 0; k < WAYS; k++)
        if (set[k] == line) {
            at = k;
            found = 1;
            break;
        }
    memmove(set + 1, set, at * sizeof(*set));
    set[0] = line;
    return found;
}

/* From where the farthest of its lines comes, and how many there are. */
static double global_latency(struct worker *w, const struct mg_access *a, bool atomic, unsigned *lines)
{
    uint64_t seen[32];
    double latency = P(L1_LATENCY);
    *lines = 0;
    for (unsigned i = 0; i < 32; i++) {
        uint64_t line = (a->mask >> i & 1) ? a->address[i] / w->launch->clock->arch->line_bytes + 1 : 0;
        bool again = !line;
        for (unsigned k = 0; k < *lines && !again; k++)
            again = seen[k] == line;
        if (again)
            continue;
        seen[(*lines)++] = line;
        bool near = cached(w->launch, w->block, line), before = touched(w->block, line);
        if (atomic)
            latency = MG_MAX(latency, P(ATOMIC_LATENCY));
        else if (!near)
            latency = MG_MAX(latency, before ? P(L2_LATENCY) : P(DRAM_LATENCY));
    }
    return latency;
}

/* Of the lanes that meet in a bank: words, of the bank that has most. */
static unsigned conflicts(const struct mg_access *a)
{
    unsigned most = 1, in[32] = {0};
    uint64_t words[32];
    for (unsigned i = 0; i < 32; i++) {
        words[i] = (a->mask >> i & 1) ? a->address[i] / 4 : UINT64_MAX;
        bool again = words[i] == UINT64_MAX;
        for (unsigned k = 0; k < i && !again; k++)
            again = words[k] == words[i];
        if (!again)
            most = MG_MAX(most, ++in[words[i] % 32]);
    }
    return most;
}

static void on_access(void *worker, struct mg_access *a)
{
    struct worker *w = worker;
    const struct mg_time_op *op = w->op;
    struct warp *x = w->warp;
    if (!x || !op || !op->access || op->insn != a->insn || w->block->number != a->block)
        return;
    bool atomic = a->kind == MG_ACCESS_ATOM || a->kind == MG_ACCESS_RED;
    double latency = P(SHARED_LATENCY);
    unsigned turns = 1;
    mg__access_lanes(a);
    if (a->space == MG_SPACE_SHARED) {
        turns = conflicts(a) * MG_MAX(1u, a->width / 8);
        latency += turns - 1 + (op->swaps ? P(SWAP) : 0);
    } else if (a->space == MG_SPACE_GLOBAL) {
        latency = global_latency(w, a, atomic, &turns);
        latency += turns - 1;
    }
    x->pipe[MG_PIPE_LSU] = MG_MAX(x->pipe[MG_PIPE_LSU], x->at + turns * w->launch->shared_by);
    set_ready(w, op, x->at + latency);
}

/* ---- what is read ---- */
static uint64_t on_clock(void *worker, uint64_t block, uint32_t warp, bool nanoseconds)
{
    struct worker *w = worker;
    const struct launch *l = w->launch;
    const struct warp *x = w->failed ? NULL : find(w, block, warp);
    double at = x ? x->at : 0;
    if (nanoseconds) /* in steps of 32, as a device's */
        return (MG_MAX(l->clock->last, l->began) + (uint64_t)(at * l->ns)) / 32 * 32;
    return (uint64_t)(l->clock->base + at);
}

struct mg_time_clock *mg__time_clock_create(const struct mg_arch *arch)
{
    struct mg_time_clock *c = calloc(1, sizeof(*c));
    if (c)
        c->arch = arch;
    return c;
}

void mg__time_clock_destroy(struct mg_time_clock *clock)
{
    free(clock);
}

void mg__time_clock_regs(struct mg_time_clock *clock, uint32_t regs)
{
    clock->regs = regs;
}

struct mg_observer mg__time_clock_observer(struct mg_time_clock *clock)
{
    return (struct mg_observer){
        .self = clock,
        .wants = MG_OBSERVE_EVERY | MG_OBSERVE_STEPS,
        .launch_begin = launch_begin,
        .worker_begin = worker_begin,
        .access = on_access,
        .worker_end = worker_end,
        .launch_end = launch_end,
        .step = on_step,
        .clock = on_clock,
    };
}
