/* spread.c - how far the work of a loop can be divided among more threads: which steps wait for the one before.
 *
 * A loop whose iterations only add up (or multiply, or keep the least) can be cut into pieces whose results are joined
 * at the end. One whose next iteration needs what this one made cannot, however many threads there are:
 *   a register    is computed from itself by anything but one such operation (a recurrence, a walk through pointers)
 *   memory        what the block made in a shared variable, or wrote to an array, or what the thread put into an array
 *                 of its own is read in the next iteration
 *   other blocks  they are waited for in each iteration
 *
 * Indices that go round (a stage of a pipeline, its phase) are known beforehand, and hold nothing back.
 *
 * Registers in a cycle are found by the definitions and uses within the loop, from those that are live where it begins.
 */
#include "advise/facts.h"
#include "cfg/cfg.h"

struct loops {
    struct mg_facts *facts;
    const struct mg_ptx_func *func;
    uint32_t first; /* index of its first instruction in the launch */
    struct mg_cfg *cfg;
    struct mg_flow_chains chains;
    struct mg_flow_live live;
    bool *in;                       /* by block: in the loop that is looked at */
    uint8_t *marks;                 /* by instruction */
    uint32_t *work, nwork, *blocks; /* lists of instructions and of blocks */
    bool serial;                    /* some loop of it is, that was gone through more than once */
};
enum { AFTER = 1, BEFORE = 2, CYCLE = AFTER | BEFORE };

static bool in_loop(const struct loops *l, uint32_t insn)
{
    return l->in[l->cfg->block_of[insn]];
}

/* The natural loop of the head: what leads back to it without going through it. False: nothing does. */
static bool find_loop(struct loops *l, uint32_t head)
{
    uint32_t n = 0;
    memset(l->in, 0, l->cfg->nblocks * sizeof(*l->in));
    for (uint32_t p = 0; p < l->cfg->blocks[head].npred; p++) {
        const uint32_t from = l->cfg->blocks[head].pred[p];
        if (l->cfg->blocks[from].reachable && mg__cfg_dominates(l->cfg, head, from) && !l->in[from]) {
            l->in[from] = true;
            l->blocks[n++] = from;
        }
    }
    if (!n)
        return false;
    l->in[head] = true;
    while (n) {
        const uint32_t at = l->blocks[--n];
        for (uint32_t p = 0; at != head && p < l->cfg->blocks[at].npred; p++) {
            const uint32_t from = l->cfg->blocks[at].pred[p];
            if (l->cfg->blocks[from].reachable && !l->in[from]) {
                l->in[from] = true;
                l->blocks[n++] = from;
            }
        }
    }
    return true;
}

static double often(const struct loops *l, uint32_t block)
{
    return mg__change_often(l->facts, l->first + l->cfg->blocks[block].first);
}

/* Iterations each time that the loop is entered. */
static double trips(const struct loops *l, uint32_t head)
{
    double entered = 0;
    for (uint32_t p = 0; p < l->cfg->blocks[head].npred; p++) {
        const uint32_t from = l->cfg->blocks[head].pred[p];
        double all = l->in[from] ? 0 : often(l, from);
        for (uint32_t s = 0; s < l->cfg->blocks[from].nsucc; s++) { /* those that went another way */
            const uint32_t other = l->cfg->blocks[from].succ[s];
            if (other != head && l->cfg->blocks[other].npred == 1)
                all -= MG_MIN(often(l, other), all);
        }
        entered += all;
    }
    return entered > 0 ? MG_MAX(often(l, head) / entered, 1) : often(l, head);
}

/* ---- registers ---- */
static void mark(struct loops *l, const uint32_t *at, uint32_t n, uint8_t as)
{
    for (uint32_t i = 0; i < n; i++)
        if (in_loop(l, at[i]) && !(l->marks[at[i]] & as)) {
            l->marks[at[i]] |= as;
            l->work[l->nwork++] = at[i];
        }
}

static void mark_uses(struct loops *l, uint32_t reg)
{
    const struct mg_flow_chains *c = &l->chains;
    mark(l, &c->uses[c->use_at[reg]], c->use_at[reg + 1] - c->use_at[reg], AFTER);
}

static void mark_defs(struct loops *l, uint32_t reg)
{
    const struct mg_flow_chains *c = &l->chains;
    mark(l, &c->defs[c->def_at[reg]], c->def_at[reg + 1] - c->def_at[reg], BEFORE);
}

/* What the register's value goes into, and what it is made of, within the loop. */
static void find_cycle(struct loops *l, uint32_t reg)
{
    uint32_t r;
    bool written;
    memset(l->marks, 0, l->func->ninsns);
    mark_uses(l, reg);
    while (l->nwork)
        for (struct mg_flow_walk w = {l->func, &l->func->insns[l->work[--l->nwork]], 0, 0};
             mg__flow_next(&w, &r, &written);)
            if (written)
                mark_uses(l, r);
    mark_defs(l, reg);
    while (l->nwork)
        for (struct mg_flow_walk w = {l->func, &l->func->insns[l->work[--l->nwork]], 0, 0};
             mg__flow_next(&w, &r, &written);)
            if (!written)
                mark_defs(l, r);
}

static bool from_cycle(const struct loops *l, const struct mg_ptx_opnd *o)
{
    if (o->kind != MG_OPND_REG)
        return false;
    for (uint32_t d = l->chains.def_at[o->index]; d < l->chains.def_at[o->index + 1]; d++)
        if (in_loop(l, l->chains.defs[d]) && l->marks[l->chains.defs[d]] == CYCLE)
            return true;
    return false;
}

/* Whether the instruction takes nothing else that the loop makes. */
static bool takes_own(const struct loops *l, const struct mg_ptx_insn *insn)
{
    uint32_t r;
    bool written;
    for (struct mg_flow_walk w = {l->func, insn, 0, 0}; mg__flow_next(&w, &r, &written);)
        for (uint32_t d = l->chains.def_at[r]; !written && d < l->chains.def_at[r + 1]; d++)
            if (in_loop(l, l->chains.defs[d]) && l->marks[l->chains.defs[d]] != CYCLE)
                return false;
    return true;
}

static bool is_whole(const struct mg_ptx_insn *insn)
{
    return !insn->ntypes || insn->type[0] < MG_T_F16 || insn->type[0] == MG_T_PRED;
}

/* The operation by which a cycle joins values, as an enum mg_ptx_algebra; COPY: it only hands them on, NONE: another.
 */
static unsigned joins_by(const struct loops *l, const struct mg_ptx_insn *insn)
{
    const unsigned algebra = insn->algebra & ~(unsigned)MG_ALG_ROUGH;
    if (insn->effects & MG_E_FLIES || mg__ptx_isa((enum mg_ptx_opcode)insn->opcode)->group == MG_G_MATRIX)
        return MG_ALG_ADD; /* matrices are added to */
    if (insn->access != MG_ACCESSES_NONE)
        return MG_ALG_NONE;
    switch (algebra) {
    case MG_ALG_COPY:
    case MG_ALG_CONVERT:
    case MG_ALG_ADDRESS:
        return MG_ALG_COPY;
    case MG_ALG_SUB:
        return MG_ALG_ADD;
    case MG_ALG_MAD:
        return from_cycle(l, mg__ptx_op(l->func, insn, 1)) || from_cycle(l, mg__ptx_op(l->func, insn, 2)) ? MG_ALG_NONE
                                                                                                          : MG_ALG_ADD;
    case MG_ALG_TRUTH:
        return MG_ALG_SELECT;
    case MG_ALG_ADD:
    case MG_ALG_MUL:
    case MG_ALG_AND:
    case MG_ALG_OR:
    case MG_ALG_XOR:
    case MG_ALG_SELECT:
        return algebra;
    default:
        return MG_ALG_NONE;
    }
}

/* Whether the next value of what is in the cycle waits for this one. */
static bool recurs(struct loops *l, uint32_t reg)
{
    unsigned by = MG_ALG_COPY;
    bool one = true, round = true;
    find_cycle(l, reg);
    for (uint32_t i = 0; i < l->func->ninsns; i++) {
        const struct mg_ptx_insn *insn = &l->func->insns[i];
        if (l->marks[i] != CYCLE)
            continue;
        const unsigned how = joins_by(l, insn);
        if (how == MG_ALG_NONE)
            return true;
        round &= how != MG_ALG_MUL && is_whole(insn) && takes_own(l, insn);
        one &= how == MG_ALG_COPY || by == MG_ALG_COPY || how == by;
        by = how == MG_ALG_COPY ? by : how;
    }
    return !one && !round;
}

static bool chained(struct loops *l, uint32_t head)
{
    const uint64_t *in = &l->live.in[l->live.words * head];
    for (uint32_t r = 0; r < l->func->nregs; r++) {
        bool made = false;
        for (uint32_t d = l->chains.def_at[r]; in[r / 64] >> r % 64 & 1 && d < l->chains.def_at[r + 1]; d++)
            made |= in_loop(l, l->chains.defs[d]);
        if (made && recurs(l, r))
            return true;
    }
    return false;
}

/* ---- memory ---- */
/* Whether the loop reads, before it writes there, a variable that holds what was computed from it; or, `var`
 * UINT32_MAX, a thread's own arrays: a stack, a queue. */
static bool through_own(const struct loops *l, uint32_t var)
{
    bool loads = false;
    if (var != UINT32_MAX && !l->facts->vars[var].joined)
        return false;
    for (uint32_t i = 0; i < l->func->ninsns; i++) {
        const struct mg_ptx_insn *insn = &l->func->insns[i];
        if (insn->access == MG_ACCESSES_NONE || !in_loop(l, i) ||
            (var != UINT32_MAX ? !mg__change_of_var(l->facts, l->first + i, var)
                               : insn->space != MG_SPACE_LOCAL || !l->facts->seen->insns[l->first + i].warps))
            continue;
        if (insn->access != MG_ACCESSES_LOAD)
            return loads;
        loads = true;
    }
    return false;
}

/* Likewise of arrays, where the block or the warp meets in between. */
static bool through_global(const struct loops *l)
{
    const struct mg_sites *sites = &l->facts->seen->sites;
    bool meets = false;
    for (uint32_t i = 0; i < l->func->ninsns; i++)
        meets |= in_loop(l, i) && (l->func->insns[i].effects & MG_E_SYNCS || mg__ptx_meets_lanes(&l->func->insns[i]));
    for (uint32_t s = 0; meets && l->facts->global_exchange && s < l->func->ninsns; s++) {
        const uint32_t to = sites->of[l->first + s];
        if (to == UINT32_MAX || sites->at[to].direction == MG_DIR_LOAD || !in_loop(l, s))
            continue;
        for (uint32_t i = 0; i < s; i++) {
            const uint32_t from = sites->of[l->first + i];
            if (from != UINT32_MAX && sites->at[from].direction == MG_DIR_LOAD && in_loop(l, i) &&
                (sites->at[to].global ? sites->at[from].global == sites->at[to].global
                                      : sites->at[to].param >= 0 && sites->at[from].param == sites->at[to].param))
                return true;
        }
    }
    return false;
}

static bool waits_for_blocks(const struct loops *l)
{
    bool looks = false;
    for (uint32_t i = 0; l->facts->info->waits & MG_WAITED_PARKED && i < l->func->ninsns; i++) {
        const struct mg_ptx_insn *insn = &l->func->insns[i];
        looks |= in_loop(l, i) && insn->access == MG_ACCESSES_LOAD &&
                 (insn->sem == MG_PTX_SEM_ACQUIRE || insn->sem == MG_PTX_SEM_VOLATILE);
    }
    return looks;
}

static bool is_serial(struct loops *l, uint32_t head)
{
    for (uint32_t v = 0; v < l->facts->info->nshared_vars; v++)
        if (through_own(l, v))
            return true;
    return through_own(l, UINT32_MAX) || through_global(l) || waits_for_blocks(l) || chained(l, head);
}

/* ---- all loops ---- */
static bool look_at(struct loops *l, float *left)
{
    const struct mg_ptx_func *func = l->func;
    if (mg__cfg_build(func, &l->cfg) != MG_OK || !mg__flow_chains(func, &l->chains) ||
        !mg__flow_live(func, l->cfg, &l->live))
        return false;
    l->in = calloc(l->cfg->nblocks + 1, sizeof(*l->in));
    l->blocks = calloc((size_t)l->cfg->nblocks + 1, sizeof(*l->blocks));
    l->marks = calloc(func->ninsns + 1, 1);
    l->work = calloc(func->ninsns + 1, sizeof(*l->work));
    if (!l->in || !l->blocks || !l->marks || !l->work)
        return false;
    for (uint32_t head = 0; head < l->cfg->nblocks; head++) {
        if (!l->cfg->blocks[head].loop_head || !find_loop(l, head))
            continue;
        const double each = trips(l, head);
        if (each <= 1 || !is_serial(l, head))
            continue;
        l->serial = true;
        for (uint32_t i = 0; i < func->ninsns; i++)
            left[l->first + i] *= in_loop(l, i) ? (float)each : 1;
    }
    return true;
}

static void end(struct loops *l)
{
    mg__cfg_free(l->cfg);
    mg__flow_chains_free(&l->chains);
    mg__flow_live_free(&l->live);
    free(l->in);
    free(l->blocks);
    free(l->marks);
    free(l->work);
}

const struct mg_ptx_func *mg__facts_whole(const struct mg_facts *f, uint32_t insn)
{
    const struct mg_launch_info *info = f->info;
    const struct mg_ptx_func *func = info->insns[insn].func;
    return func && func->ninsns && info->insns[insn].insn == func->insns && info->ninsns - insn >= func->ninsns &&
                   info->insns[insn + func->ninsns - 1].insn == &func->insns[func->ninsns - 1]
               ? func
               : NULL;
}

float *mg__facts_steps_left(struct mg_facts *f)
{
    const struct mg_launch_info *info = f->info;
    float *left = mg__arena_array(&f->arena, (size_t)info->ninsns + 1, sizeof(*left));
    bool serial = false;
    for (uint32_t i = 0; left && i < info->ninsns; i++)
        left[i] = 1;
    for (uint32_t i = 0; left && i < info->ninsns; i++) {
        struct loops l = {.facts = f, .func = mg__facts_whole(f, i), .first = i};
        if (l.func && mg__change_often(f, i) > 0) {
            if (!look_at(&l, left))
                left = NULL;
            serial |= l.serial && l.func == info->func;
            end(&l);
        }
    }
    for (uint32_t i = 0; left && i < info->ninsns; i++) { /* what is called in such a loop is as often */
        const double all = mg__change_often(f, i);
        left[i] = (float)(serial && info->insns[i].func != info->func ? all : MG_MIN(left[i], all));
    }
    return left;
}
