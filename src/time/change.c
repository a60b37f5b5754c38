/* change.c - how long a launch would take, were some of its instructions others: the code and the accesses that were
 * kept of it are changed as asked, and the same multiprocessor goes through them again.
 *
 * An instruction that is executed more often stands several times, each with registers of its own for what it writes,
 * so that a sum of one does not wait for that of another; `chain` says how many go side by side, SIDE_BY_SIDE at most.
 * One that is executed less often is passed over some of the times, by some warps or by all in turn; a barrier, by all
 * warps of a block together. What is added stands before the instruction that is named.
 *
 * ENOUGH instructions are gone through, of the launch as it was, too, so that both are held to each other after as much
 * work: what is left of each goes on at its pace.
 */
#include "time/time_priv.h"

#include <math.h>

enum {
    ENOUGH = 400000,
    MOST_COPIES = 64,
    SIDE_BY_SIDE = 8,
    MOST_CODE = 1 << 19 /* ops: beyond, no answer */,
    LINE_SECTORS = 4 /* sectors of a line */,
    BESIDE = 5 /* of neighbours */
};

struct copying {
    const struct mg_time_kept *kept;
    const struct mg_time_change *change;
    struct mg_time_code *code;
    uint32_t nregs_used;
    uint32_t ahead, nahead, done; /* registers of what is loaded ahead, two each: that barriers wait for, that is under
                                     way; from … on, how many, how many so far */
};

void mg__time_kept_free(struct mg_time_kept *kept)
{
    if (!kept)
        return;
    mg__time_code_free((struct mg_time_code *)kept->machine.code);
    free((struct mg_time_access *)kept->machine.access);
    free(kept->counts);
    free(kept);
}

static const struct mg_time_edit *edit_of(const struct mg_time_change *change, uint32_t insn)
{
    static const struct mg_time_edit none = {.times = 1, .wavefronts = 1, .sectors = 1, .past = 1, .dram = 1};
    return change->edits ? &change->edits[insn] : &none;
}

static unsigned copies_of(const struct mg_time_edit *e)
{
    return e->times <= 1 ? 1 : (unsigned)MG_MIN(ceilf(e->times - 1e-3f), (float)MOST_COPIES);
}

/* ---- the code ---- */
static void add_reg(struct copying *c, uint32_t reg)
{
    c->code->regs[c->nregs_used++] = reg;
}

/* The op's copy number k: what it writes is its own, also where it reads that. */
static void copy_op(struct copying *c, const struct mg_time_op *from, unsigned k, uint32_t own)
{
    const struct mg_time_code *old = c->kept->machine.code;
    const struct mg_time_edit *e = edit_of(c->change, from->insn);
    struct mg_time_op *op = &c->code->ops[c->code->nops++];
    *op = *from;
    op->regs = c->nregs_used;
    for (uint32_t i = 0; i < (uint32_t)from->reads + from->writes; i++) {
        uint32_t reg = old->regs[from->regs + i];
        for (uint32_t w = 0; k > 0 && w < from->writes; w++)
            if (reg == old->regs[from->regs + from->reads + w]) {
                reg = own + w;
                break;
            }
        if (i == from->reads) {
            uint32_t more = 0;
            for (uint32_t w = 0; e->chain && copies_of(e) > 1 && w < from->writes; w++, more++)
                add_reg(c, k ? own + w : old->regs[from->regs + from->reads + w]);
            for (uint32_t a = 0; from->barrier && a < c->nahead; a++, more++)
                add_reg(c, c->ahead + 2 * a);
            op->reads = (uint16_t)(op->reads + more);
        }
        add_reg(c, reg);
    }
    if (from->barrier && !from->writes)
        for (uint32_t a = 0; a < c->nahead; a++, op->reads++)
            add_reg(c, c->ahead + 2 * a);
    float part = e->times - floorf(e->times);
    if (e->times <= 0) {
        op->pipe = MG_PIPE_NONE;
        op->slots = op->interval = 0;
        op->latency = 0;
        op->barrier = op->access = op->orders = op->swaps = false;
        op->lock = MG_TIME_LOCK_NONE;
        op->copies = MG_TIME_COPIES_NONE;
    } else if (part > 1e-3f && part < 1 - 1e-3f && k + 1 == copies_of(e) && e->times < MOST_COPIES) {
        op->part = part;
        c->code->parts = true;
    }
    uint8_t kind = c->kept->machine.access[op->insn].kind;
    if (e->to)
        op->swaps = e->to == MG_SPACE_SHARED && op->floats && (kind == MG_ACCESS_ATOM || kind == MG_ACCESS_RED);
}

/* No instruction: what is in one register is in another one. */
static void move(struct copying *c, uint32_t insn, uint32_t to, uint32_t from)
{
    c->code->ops[c->code->nops++] = (struct mg_time_op){
        .insn = insn, .pipe = MG_PIPE_NONE, .regs = c->nregs_used, .reads = 1, .writes = 1, .call = UINT32_MAX};
    add_reg(c, from);
    add_reg(c, to);
}

/* `reg`: its own two; `needs`: of what was loaded before, or its own. */
static void add_op(struct copying *c, const struct mg_time_addition *a, uint32_t insn, uint32_t reg, uint32_t needs)
{
    static const struct {
        uint8_t pipe, interval;
        uint16_t latency;
        bool barrier, access;
    } as[] = {
        [MG_TIME_NEW_ALU] = {MG_PIPE_ALU, 2, 5, false, false},
        [MG_TIME_NEW_SHUFFLE] = {MG_PIPE_LSU, 2, 24, false, false},
        [MG_TIME_NEW_BARRIER] = {MG_PIPE_ALU, 2, 0, true, false},
        [MG_TIME_NEW_SHARED] = {MG_PIPE_LSU, 4, 0, false, true},
        [MG_TIME_NEW_LOAD] = {MG_PIPE_LSU, 4, 0, false, true},
        [MG_TIME_NEW_ATOMIC] = {MG_PIPE_LSU, 4, 0, false, true},
    };
    const float whole = floorf(a->times), part = a->times - whole;
    unsigned n = (unsigned)MG_MIN(whole, (float)MOST_COPIES) + (part > 1e-3f);
    for (unsigned k = 0; k < n; k++) {
        struct mg_time_op *op = &c->code->ops[c->code->nops++];
        *op = (struct mg_time_op){.insn = insn,
                                  .pipe = as[a->what].pipe,
                                  .slots = 1,
                                  .interval = as[a->what].interval,
                                  .latency = as[a->what].latency,
                                  .barrier = as[a->what].barrier,
                                  .access = as[a->what].access,
                                  .call = UINT32_MAX,
                                  .regs = c->nregs_used,
                                  .reads = 1,
                                  .writes = 1};
        const bool load = a->what == MG_TIME_NEW_LOAD, some = k + 1 == n && part > 1e-3f;
        /* One after the other, but for loads and what waits for them. A load that is passed over some of the times
         * leaves the register as the one before it left it: what waits is not to go on without that. */
        add_reg(c, load && some && k ? reg + 1 : needs);
        add_reg(c, reg + load);
        if (some) {
            op->part = part;
            c->code->parts = true;
        }
    }
}

static unsigned ops_added(const struct mg_time_addition *a)
{
    return (unsigned)MG_MIN(ceilf(a->times), (float)MOST_COPIES + 1) + 1;
}

/* Room for what the ops of a range become, and for their registers. */
static void count_range(const struct mg_time_kept *kept, const struct mg_time_change *change, uint32_t at, uint32_t end,
                        size_t *ops, size_t *regs, size_t *own)
{
    for (; at < end; at++) {
        const struct mg_time_op *op = &kept->machine.code->ops[at];
        unsigned n = copies_of(edit_of(change, op->insn));
        *ops += n;
        *regs += (size_t)n * (op->reads + 2u * op->writes);
        *own += (size_t)n * op->writes;
        for (size_t k = 0; k < change->nadded; k++)
            if (change->added[k].before == op->insn) {
                *ops += ops_added(&change->added[k]);
                *regs += 2 * (size_t)ops_added(&change->added[k]);
            }
    }
}

static void copy_range(struct copying *c, uint32_t *at, uint32_t *end, uint32_t added_regs)
{
    const struct mg_time_code *old = c->kept->machine.code;
    uint32_t from = *at, to = *end;
    *at = c->code->nops;
    for (; from < to; from++) {
        const struct mg_time_op *op = &old->ops[from];
        const struct mg_time_edit *e = edit_of(c->change, op->insn);
        for (uint32_t k = 0; k < c->change->nadded; k++) {
            const struct mg_time_addition *a = &c->change->added[k];
            uint32_t reg = added_regs + 2 * k;
            bool waits = k && a->what == MG_TIME_NEW_SHARED && a[-1].what == MG_TIME_NEW_LOAD;
            if (a->before == op->insn)
                add_op(c, a, c->kept->machine.ninsns + k, reg, waits ? reg - 1 : reg);
        }
        bool ahead = e->ahead && op->access && op->writes;
        uint32_t way = c->ahead + 2 * c->done + 1;
        if (ahead)
            move(c, op->insn, way - 1, way);
        unsigned n = copies_of(e), chain = e->chain ? e->chain : MG_MIN(n, (unsigned)SIDE_BY_SIDE);
        uint32_t own = c->code->nregs;
        for (unsigned k = 0; k < n; k++)
            copy_op(c, op, k % chain, own + (k % chain) * op->writes);
        c->code->nregs += MG_MIN(n, chain) * op->writes * (n > 1);
        if (ahead) {
            move(c, op->insn, way, old->regs[op->regs + op->reads]);
            c->done++;
        }
    }
    *end = c->code->nops;
}

/* Ops that load ahead: barriers wait for what they loaded the time before. */
static uint32_t ops_ahead(const struct mg_time_code *old, const struct mg_time_change *change)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < old->nops; i++)
        n += edit_of(change, old->ops[i].insn)->ahead && old->ops[i].access && old->ops[i].writes;
    return n;
}

static struct mg_time_code *changed_code(const struct mg_time_kept *kept, const struct mg_time_change *change)
{
    const struct mg_time_code *old = kept->machine.code;
    struct mg_time_code *code = calloc(1, sizeof(*code));
    struct copying c = {.kept = kept, .change = change, .code = code};
    size_t ops = 0, regs = 0, own = 0;
    if (!code)
        return NULL;
    mg__arena_init(&code->arena);
    for (uint32_t k = 0; k < old->nblocks; k++) {
        count_range(kept, change, old->blocks[k].first, old->blocks[k].end, &ops, &regs, &own);
        count_range(kept, change, old->blocks[k].unrolled, old->blocks[k].unrolled_end, &ops, &regs, &own);
    }
    c.nahead = ops_ahead(old, change);
    if (ops > MOST_CODE || c.nahead > MOST_COPIES) {
        mg__time_code_free(code);
        return NULL;
    }
    regs += (size_t)c.nahead * (ops + 4);
    code->ops = mg__arena_array(&code->arena, ops + 2 * c.nahead + 1, sizeof(*code->ops));
    code->regs = mg__arena_array(&code->arena, regs + 1, sizeof(*code->regs));
    code->blocks = mg__arena_array(&code->arena, (size_t)old->nblocks + 1, sizeof(*code->blocks));
    if (!code->ops || !code->regs || !code->blocks) {
        mg__time_code_free(code);
        return NULL;
    }
    memcpy(code->blocks, old->blocks, old->nblocks * sizeof(*code->blocks));
    uint32_t added = old->nregs;
    c.ahead = added + 2 * (uint32_t)change->nadded;
    code->nblocks = old->nblocks;
    code->nregs = c.ahead + 2 * c.nahead;
    code->exits = old->exits;
    for (uint32_t k = 0; k < code->nblocks; k++) {
        struct mg_time_block *b = &code->blocks[k];
        copy_range(&c, &b->first, &b->end, added);
        copy_range(&c, &b->unrolled, &b->unrolled_end, added);
        if (b->unrolled == b->unrolled_end)
            b->unrolled = b->unrolled_end = 0;
    }
    return code;
}

/* ---- the accesses ---- */
/* `fewer`: warps as the launch was, for each one then. */
static void change_access(struct mg_time_access *a, const struct mg_time_edit *e, double fewer)
{
    if (e->to == MG_SPACE_SHARED) {
        *a = (struct mg_time_access){.space = MG_SPACE_SHARED,
                                     .kind = a->kind,
                                     .seen = true,
                                     .requests = a->requests,
                                     .wavefronts = e->to_cost,
                                     .rounds = MG_MAX(e->to_rounds, 1),
                                     .turns = MG_MAX(e->to_rounds, 1)};
        return;
    }
    if (e->to == MG_SPACE_GLOBAL) { /* from shared memory: what was just there */
        *a = (struct mg_time_access){.space = MG_SPACE_GLOBAL,
                                     .kind = a->kind,
                                     .seen = true,
                                     .requests = a->requests,
                                     .sectors = e->to_cost,
                                     .lines = e->to_cost > BESIDE ? MG_MIN(e->to_cost, 32) : 1,
                                     .passes = MG_MAX(e->to_cost / LINE_SECTORS, 1),
                                     .past_l1 = e->to_cost,
                                     .misses = 1,
                                     .fresh = 1,
                                     .first = e->dram};
        return;
    }
    a->wavefronts = a->space == MG_SPACE_SHARED && a->wavefronts > 0 ? MG_MAX(a->wavefronts * e->wavefronts, 1)
                                                                     : a->wavefronts * e->sectors;
    a->rounds = a->rounds > 0 ? MG_MAX(a->rounds * e->wavefronts, 1) : 0;
    a->turns = a->turns > 0 ? MG_MAX(a->turns * e->wavefronts, 1) : 0;
    if (e->sectors != 1) {
        a->sectors *= e->sectors;
        a->lines = MG_MIN(MG_MAX(a->sectors / LINE_SECTORS, 1), a->lines * MG_MAX(e->sectors, 1));
        a->passes = MG_MAX(a->passes * e->sectors, 1);
    }
    if (e->shared_out && a->sectors > 0) { /* all of a request's sectors are missing, or none */
        double past = MG_MIN(e->to_past, a->sectors);
        a->first = past > 0 ? MG_MIN(e->to_dram / past, 2) : 0;
        a->misses = past / a->sectors;
        a->fresh = a->misses * MG_MAX(e->to_fresh, MG_MIN(a->first, 1));
        /* New sectors come as often, whichever lanes they are for: who does not bring them waits for who does. */
        a->shared = MG_MAX(MG_MIN(e->to_waits, 1) - a->misses, 0);
        a->past_l1 = past;
        return;
    }
    double past = MG_MIN(a->past_l1 * e->past, a->sectors);
    if (a->past_l1 > 0 && a->misses > 0 && (e->past != 1 || e->sectors != 1)) {
        double each = MG_MIN(a->past_l1 / a->misses, a->sectors), misses = MG_MIN(past / MG_MAX(each, 1e-3), 1);
        a->fresh *= misses / a->misses;
        a->shared = MG_MIN(a->shared * misses / a->misses, 1 - misses);
        a->misses = misses;
    }
    if (past > 0)
        a->first = MG_MIN(a->first * a->past_l1 / past * fewer * e->dram / MG_MAX(e->times, 1e-3f), 2);
    a->past_l1 = past;
}

static struct mg_time_access *changed_accesses(const struct mg_time_kept *kept, const struct mg_time_change *change)
{
    const uint32_t n = kept->machine.ninsns;
    struct mg_time_access *all = calloc(n + change->nadded + 1, sizeof(*all));
    if (!all)
        return NULL;
    memcpy(all, kept->machine.access, n * sizeof(*all));
    const struct mg_time_machine *m = &kept->machine;
    double fewer = (double)m->blocks * m->warps / (double)(change->blocks ? change->blocks : m->blocks) /
                   (change->warps ? change->warps : m->warps);
    for (uint32_t i = 0; i < n; i++)
        if (all[i].seen)
            change_access(&all[i], edit_of(change, i), fewer);
    for (size_t k = 0; k < change->nadded; k++) {
        const struct mg_time_addition *a = &change->added[k];
        bool shared = a->what == MG_TIME_NEW_SHARED, load = a->what == MG_TIME_NEW_LOAD;
        if (!shared && !load && a->what != MG_TIME_NEW_ATOMIC)
            continue;
        all[n + k] = (struct mg_time_access){.space = shared ? MG_SPACE_SHARED : MG_SPACE_GLOBAL,
                                             .kind = shared || load ? MG_ACCESS_LD : MG_ACCESS_RED,
                                             .seen = true,
                                             .requests = 1,
                                             .wavefronts = shared || !load ? a->cost : 0,
                                             .sectors = shared ? 0 : a->cost,
                                             .lines = shared ? 0 : MG_MAX(a->cost / LINE_SECTORS, 1),
                                             .passes = shared ? 0 : MG_MAX(a->cost / LINE_SECTORS, 1),
                                             .past_l1 = load ? a->cost : 0,
                                             .misses = load,
                                             .fresh = load && a->dram > 0,
                                             .first = load ? a->dram : 0,
                                             .rounds = 1,
                                             .turns = 1,
                                             .places = MG_MAX(a->dram, 1)};
    }
    return all;
}

struct mg_time_sectors mg__time_kept_sectors(const struct mg_time_kept *kept, uint32_t insn)
{
    const struct mg_time_access *a = &kept->machine.access[insn];
    if (!a->seen || a->space != MG_SPACE_GLOBAL)
        return (struct mg_time_sectors){0};
    return (struct mg_time_sectors){.past = a->past_l1,
                                    .dram = a->past_l1 * a->first,
                                    .waits = MG_MIN(a->misses + a->shared, 1),
                                    .misses = a->misses,
                                    .fresh = a->fresh};
}

/* ---- the answer ---- */
/* Ops of one multiprocessor, those that are passed over included. */
static double ops_of(const struct mg_time_kept *kept, const struct mg_time_change *change)
{
    const struct mg_time_machine *m = &kept->machine;
    double sum = 0, blocks = (double)(change->blocks ? change->blocks : m->blocks);
    for (uint32_t i = 0; i < m->ninsns; i++)
        sum += (double)kept->counts[i].warps * copies_of(edit_of(change, i));
    for (size_t k = 0; k < change->nadded; k++)
        sum += (double)kept->counts[change->added[k].before].warps * ceil(change->added[k].times);
    const double sms = m->arch->board->sm_count, own = ceil(blocks / sms);
    return sum / (double)m->blocks * own * (change->warps ? (double)change->warps / m->warps : 1);
}

static bool run(struct mg_time_kept *kept, const struct mg_time_change *change, double *seconds)
{
    struct mg_time_machine m = kept->machine;
    struct mg_time_result r;
    float most = 1;
    m.ninsns += (uint32_t)change->nadded;
    m.code = changed_code(kept, change);
    m.access = changed_accesses(kept, change);
    m.stalled = calloc((size_t)m.ninsns + 1, sizeof(*m.stalled));
    m.blocks = change->blocks ? change->blocks : m.blocks;
    m.warps = change->warps ? change->warps : m.warps;
    m.resident = change->resident ? change->resident : m.resident;
    m.enough = ENOUGH;
    m.all_ops = ops_of(kept, change);
    for (uint32_t i = 0; change->edits && i < kept->machine.ninsns; i++)
        most = MG_MAX(most, change->edits[i].times);
    for (size_t k = 0; k < change->nadded; k++)
        most = MG_MAX(most, change->added[k].times);
    m.most = (uint64_t)MG_MIN((double)m.most * (1 + (double)MG_MIN(most, (float)MOST_COPIES)), 1e18);
    bool good = m.code && m.access && m.stalled && mg__time_run_again(kept->again, &m, &r);
    if (good)
        *seconds = r.seconds;
    mg__time_code_free((struct mg_time_code *)m.code);
    free((struct mg_time_access *)m.access);
    free(m.stalled);
    return good;
}

bool mg__time_ask(struct mg_time_kept *kept, const struct mg_time_change *change, double *seconds)
{
    static const struct mg_time_change none;
    const double least = OF(kept->machine.arch, FLOOR) * 1e-9;
    double then;
    if (kept->base <= 0 && !run(kept, &none, &kept->base))
        return false;
    if (!run(kept, change, &then))
        return false;
    double before = MG_MAX(kept->base - least, 1e-12), all = kept->result.seconds - least;
    *seconds = least + all * MG_MAX(then - least, 0) / before;
    return true;
}
