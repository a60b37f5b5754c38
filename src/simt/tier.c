/* tier.c - what a kernel's blocks run as: interpreted at first, then code that was made quickly, then code that was
 * made thoroughly.
 *
 * Nobody knows how long a kernel will run, but how long it has: the next code is made when the kernel has run for about
 * as long as making it takes, so that at worst twice the time of the best choice is spent. Time is told by warp
 * instructions and not by a clock, so that runs repeat. What a launch executes at least, every instruction once by
 * every warp, counts before it begins. Workers look between blocks, and within a block between turns of its warps and
 * in compiled loops; the one that finds quick code due makes it, and the others go on meanwhile with what they have.
 * Thorough code takes several times as long, and is made by a thread of its own while all of them run quick code. Code
 * that was kept of an earlier run is taken at once.
 */
#include <signal.h>

#include "simt/engine_priv.h"

/* In warps that execute each instruction of the kernel once. Making code takes some 0.2 and 1 ms an instruction; a warp
 * takes 20 to 50 ns to interpret one, and some 4 ns more in quick code than in thorough code. Where vectors are half as
 * long, making it takes twice as long, but so does quick code. */
static const uint64_t due_after[MG_ENGINE_EFFORTS] = {16384, 262144};

static uint64_t due_at(const struct mg_engine *engine, const struct mg_described *d, enum mg_engine_effort effort)
{
    return engine->due[effort] ? engine->due[effort] : due_after[effort] * d->program.ninsns;
}

static void index_entries(struct mg_described *d, const struct mg_tier *tier)
{
    for (uint32_t p = 1; p < tier->code->npoints; p++) {
        const struct mg_engine_point *at = &tier->code->points[p];
        if (at->kind == MG_ENGINE_AT_BARRIER ||
            (at->kind == MG_ENGINE_AT_ENTRY && d->program.ops[at->op].kind == MG_ENGINE_BLOCK))
            tier->entry_of[at->op] = p;
    }
}

static void index_some(struct mg_some *some, struct mg_engine_code *code)
{
    some->code = code;
    for (uint32_t k = 0; k < code->nsomes; k++)
        some->at[code->somes[k]] = true;
}

/* The code of this effort, if it can be had; *reason, if not, says why. */
static bool make(const struct mg_engine *engine, struct mg_described *d, enum mg_engine_effort effort, bool kept,
                 const char **reason)
{
    struct mg_tier *tier = &d->tiers[effort];
    d->tried[effort] |= !kept;
    tier->entry_of =
        tier->entry_of ? tier->entry_of : mg__arena_array(&d->arena, d->program.nops + 1, sizeof *tier->entry_of);
    tier->some = tier->some ? tier->some : mg__arena_array(&d->arena, d->nfunctions, sizeof *tier->some);
    bool good = tier->entry_of && tier->some;
    for (uint32_t k = 0; good && k < d->nfunctions; k++) {
        bool **at = &tier->some[k].at;
        *at = *at ? *at : mg__arena_array(&d->arena, d->functions[k].program.nops + 1, sizeof **at);
        good = *at != NULL;
    }
    if (!good)
        *reason = "there is no memory for it";
    else
        tier->code = engine->compile(engine->self, &d->program, effort, kept, reason);
    if (!tier->code)
        return false;
    index_entries(d, tier);
    index_some(&tier->some[0], tier->code);
    for (uint32_t k = 1; k < d->nfunctions; k++) { /* one that cannot be compiled is interpreted */
        const char *none;
        struct mg_engine_code *code = engine->compile(engine->self, &d->functions[k].program, effort, kept, &none);
        if (code)
            index_some(&tier->some[k], code);
    }
    atomic_store(&d->best, (int)effort);
    return true;
}

/* Says when the next code is due, and, where there will never be any, why. */
static void plan(const struct mg_engine *engine, struct mg_described *d, const char *reason)
{
    int best = atomic_load(&d->best);
    uint64_t due = UINT64_MAX;
    if (engine->patient && best < MG_ENGINE_QUICK && !d->tried[MG_ENGINE_QUICK])
        due = due_at(engine, d, MG_ENGINE_QUICK);
    else if (engine->patient && best == MG_ENGINE_QUICK && !d->tried[MG_ENGINE_THOROUGH])
        due = due_at(engine, d, MG_ENGINE_THOROUGH);
    atomic_store(&d->due, due);
    if (best < 0 && due == UINT64_MAX && engine->say)
        engine->say(engine->self, d->program.name, reason);
}

static void make_next(const struct mg_engine *engine, struct mg_described *d, enum mg_engine_effort effort)
{
    const char *reason = "";
    make(engine, d, effort, false, &reason);
    plan(engine, d, reason);
}

static void *maker_main(void *described)
{
    struct mg_described *d = described;
    make_next(d->engine, d, MG_ENGINE_THOROUGH);
    atomic_store(&d->making, false);
    return NULL;
}

static void join_maker(struct mg_described *d)
{
    if (d->made)
        pthread_join(d->maker, NULL);
    d->made = false;
}

/* Thorough code by a thread of its own; false: there is none. A test that says when code is due wants it then. */
static bool make_apart(const struct mg_engine *engine, struct mg_described *d)
{
    sigset_t all, before;
    if (engine->due[MG_ENGINE_QUICK])
        return false;
    join_maker(d);
    if (engine->prepare)
        engine->prepare(engine->self);
    d->engine = engine;
    atomic_store(&d->due, UINT64_MAX);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are the program's */
    d->made = pthread_create(&d->maker, NULL, maker_main, d) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return d->made;
}

/* What is due after so much work, by the one who has set d->making. */
static void make_due(const struct mg_engine *engine, struct mg_described *d, uint64_t work)
{
    if (work >= atomic_load(&d->due) && atomic_load(&d->best) < 0)
        make_next(engine, d, MG_ENGINE_QUICK);
    if (work >= atomic_load(&d->due) && atomic_load(&d->best) == MG_ENGINE_QUICK) {
        if (make_apart(engine, d))
            return;
        make_next(engine, d, MG_ENGINE_THOROUGH);
    }
    atomic_store(&d->making, false);
}

static struct mg_described *first_launch(struct mg_simt_kernel *k, const struct mg_engine *engine, uint32_t row,
                                         enum mg_warps_are warps, bool watched)
{
    const char *reason = "there is no memory to describe it";
    struct mg_described *d =
        mg__describe(watched ? k->watched : k->program, k->module->simt->lanes, row, warps, watched);
    if (!d)
        return NULL;
    atomic_store(&d->best, -1);
    if (!engine->patient) {
        /* What is too long to be made thoroughly may still be made quickly. */
        if (!make(engine, d, (enum mg_engine_effort)engine->effort, false, &reason) &&
            engine->effort != MG_ENGINE_QUICK)
            make(engine, d, MG_ENGINE_QUICK, false, &reason);
    } else if (!make(engine, d, MG_ENGINE_THOROUGH, true, &reason)) {
        make(engine, d, MG_ENGINE_QUICK, true, &reason);
    }
    plan(engine, d, reason);
    return d;
}

struct mg_described *mg__tier_kernel(struct mg_simt_kernel *k, const struct mg_dim3 *block, uint64_t blocks,
                                     bool watched)
{
    const struct mg_simt *s = k->module->simt;
    const struct mg_engine *engine = s->engine;
    uint32_t row = mg__described_row(block);
    uint64_t threads = (uint64_t)block->x * block->y * block->z;
    const enum mg_warps_are warps = threads % 32 == 0 ? MG_WARPS_WHOLE
                                    : threads > 32    ? MG_WARPS_RAGGED
                                                      : MG_WARPS_PARTIAL;
    row = warps == MG_WARPS_PARTIAL ? 0 : row;
    if (!engine)
        return NULL;
    struct mg_described **const at = &k->described[watched][warps][row ? __builtin_ctz(row) : 0], *d = *at;
    if (!d)
        d = *at = first_launch(k, engine, row, warps, watched);
    if (!d)
        return NULL;
    uint64_t each = (threads + 31) / 32 * MG_MAX(d->program.ninsns, 1),
             foreseen = blocks <= UINT64_MAX / 2 / each ? blocks * each : UINT64_MAX / 2;
    if (engine->due[0]) /* a test's: only what has run counts */
        foreseen = 0;
    uint64_t all = MG_MIN(atomic_load(&d->work), UINT64_MAX / 2) + foreseen;
    if (all >= atomic_load(&d->due) && !atomic_exchange(&d->making, true))
        make_due(engine, d, all);
    bool none = atomic_load(&d->best) < 0, never = atomic_load(&d->due) == UINT64_MAX;
    if (none && !never && atomic_load(&d->work) == 0 && engine->say)
        engine->say(engine->self, k->info.name, "it has run for less time so far than compiling it takes");
    return none && never ? NULL : d;
}

void mg__tier_kernel_free(struct mg_simt_kernel *k)
{
    const struct mg_engine *engine = k->module->simt->engine;
    struct mg_described *all[sizeof k->described / sizeof(struct mg_described *)];
    memcpy(all, k->described, sizeof all);
    for (unsigned i = 0; i < MG_COUNT(all); i++) {
        struct mg_described *d = all[i];
        if (d)
            join_maker(d);
        for (unsigned t = 0; d && t < MG_ENGINE_EFFORTS; t++)
            for (uint32_t f = 0; d->tiers[t].some && f < d->nfunctions; f++)
                if (d->tiers[t].some[f].code)
                    engine->release(engine->self, d->tiers[t].some[f].code);
        mg__described_free(d);
    }
}

/* ---- a worker ---- */
static void tell(struct mg_worker *worker)
{
    const struct mg_program *p = worker->run->program;
    uint64_t work = 0;
    for (uint32_t s = 0; s < p->nsegments; s++)
        work += (worker->counts[s].warps + (worker->full ? worker->full[s] : 0)) * p->segments[s].ninsns;
    atomic_fetch_add_explicit(&worker->run->engine->work, work - worker->told, memory_order_relaxed);
    worker->told = work;
}

bool mg__tier_due(struct mg_worker *worker)
{
    struct mg_described *d = worker->run->engine;
    if (!d)
        return false;
    uint64_t due = atomic_load_explicit(&d->due, memory_order_relaxed);
    if (due != UINT64_MAX) {
        tell(worker);
        if (atomic_load(&d->work) >= due && !atomic_exchange(&d->making, true)) {
            uint64_t start = mg__time_ns();
            make_due(worker->run->simt->engine, d, atomic_load(&d->work));
            if (atomic_load(&worker->run->deadline)) /* the kernel's time is not what making its code takes */
                atomic_fetch_add(&worker->run->deadline, mg__time_ns() - start);
        }
    }
    int best = atomic_load(&d->best);
    return best >= 0 && worker->tier != &d->tiers[best];
}

void mg__tier_end(struct mg_worker *worker)
{
    if (worker->run->engine)
        tell(worker);
}

/* After how many warps rows of the block begin at the same lane again; 1 where those are many. */
#define PHASES 8u
static uint32_t phases_of(const struct mg_run *run)
{
    const bool rows = run->engine->program.row != 0;
    uint32_t n = 1;
    while (!rows && n * 32 % run->asked.block.x && n < PHASES)
        n++;
    return rows || n * 32 % run->asked.block.x ? 1 : n;
}

bool mg__tier_worker(struct mg_worker *worker)
{
    const struct mg_described *d = worker->run->engine;
    int best = d ? atomic_load(&d->best) : -1;
    if (best < 0 || worker->tier == &d->tiers[best])
        return true;
    const struct mg_engine_code *code = d->tiers[best].code;
    const uint32_t phases = phases_of(worker->run), nrecords = phases * code->nsites;
    struct mg_engine_record *records = aligned_alloc(64, (nrecords * sizeof *records + 127) / 64 * 64);
    struct mg_engine_shape *shapes = mg__engine_shapes(worker->run, code, phases);
    if (!worker->full)
        worker->full = calloc(worker->run->program->nsegments + 1, sizeof *worker->full);
    if (!records || !shapes || !worker->full) {
        free(records);
        free(shapes);
        return false;
    }
    memset(records, 0, nrecords * sizeof *records);
    for (uint32_t s = 0; s < nrecords; s++)
        records[s].lo = UINT64_MAX; /* fits no address */
    mg__engine_settle(worker);
    mg__engine_flush(worker);
    worker->times = (struct mg_block_times){0};
    free(worker->records);
    worker->records = records;
    free(worker->shapes);
    worker->shapes = shapes;
    worker->phases = phases;
    worker->fitted = 0;
    worker->ncells = code->ncells;
    mg__engine_calls(worker);
    worker->tier = &d->tiers[best];
    for (uint32_t c = 0; c < worker->nclusters; c++)
        for (uint32_t r = 0; r < worker->run->cluster_size; r++) {
            const struct mg_block *b = &worker->clusters[c]->blocks[r];
            for (uint32_t k = 0; k < b->nwarps; k++)
                if (!mg__engine_warp(&b->warps[k]))
                    return false;
        }
    return true;
}
