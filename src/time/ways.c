/* ways.c - where branches went, how many rounds loops make, and which loops ptxas unrolls.
 *
 * How branches went is found from how often each block was executed; where that does not tell, both ways are taken
 * equally often. Rounds of a loop are known on average.
 *
 * A loop of one block that counts by a constant is unrolled: its loads are then under way together, and its counter is
 * looked at every fourth time. Seen in the machine code of tests/hardware/time_fit.cu and time_judge.cu.
 */
#include "time/time_priv.h"

#define ONE_EXIT 0.98 /* of the times that a loop is left: the others do not count */
#define LOOKS 2.0     /* at what another warp is to write */
enum { BODY = 24, BODY_OF_LOADS = 33 /* PTX instructions: larger ones are left as they are */ };

double mg__time_executed(const struct mg_time_builder *b, const struct mg_time_function *f, uint32_t block)
{
    return (double)b->counts[f->base + f->cfg->blocks[block].first].warps;
}

static bool loops(const struct mg_cfg *cfg, uint32_t block)
{
    for (uint32_t p = 0; p < cfg->blocks[block].npred; p++)
        if (mg__cfg_dominates(cfg, block, cfg->blocks[block].pred[p]))
            return true;
    return false;
}

/* How often it comes from one block to another, which is not the only one behind it. */
static double comes(const struct mg_time_builder *b, const struct mg_time_function *f, const struct mg_cfg_block *from,
                    uint32_t at, uint32_t to)
{
    double n = mg__time_executed(b, f, at);
    for (uint32_t k = 0; from->nsucc == 2 && k < 2; k++)
        if (from->succ[k] != to && f->cfg->blocks[from->succ[k]].npred == 1)
            n -= MG_MIN(mg__time_executed(b, f, from->succ[k]), n);
    return MG_MIN(n, mg__time_executed(b, f, to));
}

/* The blocks of the loop that begins at `head`, marked: all from which it comes back there. */
static uint32_t flood(const struct mg_cfg *cfg, uint32_t head, uint8_t *body, uint32_t *todo)
{
    uint32_t n = 0, size = 1;
    memset(body, 0, cfg->nblocks);
    body[head] = 1;
    for (uint32_t p = 0; p < cfg->blocks[head].npred; p++)
        if (mg__cfg_dominates(cfg, head, cfg->blocks[head].pred[p]) && !body[cfg->blocks[head].pred[p]]) {
            body[cfg->blocks[head].pred[p]] = 1;
            todo[n++] = cfg->blocks[head].pred[p];
        }
    for (; n; size++) {
        const struct mg_cfg_block *block = &cfg->blocks[todo[--n]];
        for (uint32_t p = 0; p < block->npred; p++)
            if (!body[block->pred[p]]) {
                body[block->pred[p]] = 1;
                todo[n++] = block->pred[p];
            }
    }
    return size;
}

/* Whether the way from one block to another leaves the innermost loop that the first is in. */
static bool leaves_loop(const struct mg_cfg *cfg, uint32_t at, uint32_t to)
{
    uint8_t *body = malloc(cfg->nblocks);
    uint32_t *todo = malloc(cfg->nblocks * sizeof(*todo));
    bool leaves = false;
    for (uint32_t head = at, seen = 0; body && todo && !seen; head = cfg->blocks[head].idom) {
        if (cfg->blocks[head].loop_head && loops(cfg, head)) {
            flood(cfg, head, body, todo);
            seen = body[at];
            leaves = seen && !body[to];
        }
        if (cfg->blocks[head].idom == head)
            break;
    }
    free(body);
    free(todo);
    return leaves;
}

/* Whether a warp whose lanes part there goes both ways, one after the other: lanes that leave a loop wait for those
 * that go round. */
static bool both_gone(const struct mg_cfg *cfg, uint32_t at, uint32_t to, uint32_t other)
{
    return !mg__cfg_dominates(cfg, other, at) && !leaves_loop(cfg, at, to);
}

/* Which of two ways is the rarer, how often it is taken, and how often both are. */
void mg__time_ways(const struct mg_time_builder *b, const struct mg_time_function *f, uint32_t at,
                   struct mg_time_block *block)
{
    const struct mg_cfg_block *c = &f->cfg->blocks[at];
    double n = mg__time_executed(b, f, at), way[2] = {-1, -1};
    const struct mg_insn_counts *last = &b->counts[f->base + c->end - 1];
    for (unsigned k = 0; k < 2; k++) {
        const struct mg_cfg_block *to = &f->cfg->blocks[c->succ[k]];
        double others = 0;
        if (to->npred == 1) {
            way[k] = mg__time_executed(b, f, c->succ[k]);
        } else if (mg__cfg_dominates(f->cfg, c->succ[k],
                                     at)) { /* a loop goes round: all that did not come from outside */
            double back = 0;
            for (uint32_t p = 0; p < to->npred; p++) {
                const struct mg_cfg_block *from = &f->cfg->blocks[to->pred[p]];
                if (mg__cfg_dominates(f->cfg, c->succ[k], to->pred[p]))
                    back += to->pred[p] == at ? n : comes(b, f, from, to->pred[p], c->succ[k]);
                else
                    others += comes(b, f, from, to->pred[p], c->succ[k]);
            }
            double round = mg__time_executed(b, f, c->succ[k]) - others;
            way[k] = back > 0 ? MG_MAX(round, 0.0) * n / back : 0;
        }
    }
    double diverged = (double)last->divergent;
    for (unsigned k = 0; k < 2; k++)
        if (way[k] < 0 && way[!k] >= 0)
            way[k] = MG_MAX(n - way[!k] + (both_gone(f->cfg, at, c->succ[k], c->succ[!k]) ? diverged : 0), 0.0);
    for (unsigned k = 0; k < 2 && way[0] < 0; k++)
        if (loops(f->cfg, c->succ[k]) || mg__time_executed(b, f, c->succ[k]) <= 0) { /* as many go there as can */
            way[k] = MG_MIN(n, mg__time_executed(b, f, c->succ[k]));
            way[!k] = n - way[k];
        }
    if (way[0] < 0)
        way[0] = way[1] = n / 2;
    way[0] = MG_MIN(way[0], n);
    way[1] = MG_MIN(way[1], n);
    block->rare_at =
        n > 0 ? way[1] < way[0] : mg__cfg_dominates(f->cfg, c->succ[1], at); /* where nobody came: out of it */
    double both = MG_MAX(way[0] + way[1] - n, 0.0);
    block->rare = n > 0 ? way[block->rare_at] / n : 0;
    block->both = way[block->rare_at] > 0 && !mg__cfg_dominates(f->cfg, c->succ[0], at) &&
                          !mg__cfg_dominates(f->cfg, c->succ[1], at)
                      ? both / way[block->rare_at]
                      : 0;
}

/* ---- loops ---- */
/* The op in the block that writes a register and is the only one that does, or `end`. */
static uint32_t writer(const struct mg_time_code *code, const struct mg_time_block *block, uint32_t reg)
{
    uint32_t found = block->end;
    for (uint32_t i = block->first; i < block->end; i++)
        for (uint32_t k = 0; k < code->ops[i].writes; k++)
            if (code->regs[code->ops[i].regs + code->ops[i].reads + k] == reg)
                found = found == block->end ? i : UINT32_MAX;
    return found;
}

/* The predicate of the block's branch is written in the loop. */
static bool written_in(const struct mg_time_builder *b, const struct mg_time_function *f, const uint8_t *body,
                       const struct mg_time_block *block)
{
    const struct mg_time_code *code = b->code;
    const struct mg_time_op *branch = &code->ops[block->end - 1];
    if (branch->reads != 1)
        return true;
    for (uint32_t k = 0; k < f->cfg->nblocks; k++)
        if (body[k] &&
            writer(code, &code->blocks[f->block + k], code->regs[branch->regs]) != code->blocks[f->block + k].end)
            return true;
    return false;
}

bool mg__time_loops(const struct mg_time_builder *b, const struct mg_time_function *f, const struct mg_cfg *cfg,
                    uint8_t *depth, double *entries, uint32_t *heads)
{
    uint8_t *body = malloc(cfg->nblocks);
    uint32_t *todo = malloc(cfg->nblocks * sizeof(*todo)), *least = malloc(cfg->nblocks * sizeof(*least));
    bool good = body && todo && least;
    for (uint32_t k = 0; good && k < cfg->nblocks; k++)
        least[k] = UINT32_MAX;
    for (uint32_t head = 0; good && head < cfg->nblocks; head++) {
        if (!cfg->blocks[head].loop_head || !loops(cfg, head))
            continue;
        uint32_t size = flood(cfg, head, body, todo);
        double n = 0;
        for (uint32_t p = 0; entries && p < cfg->blocks[head].npred; p++) {
            uint32_t from = cfg->blocks[head].pred[p];
            n += body[from] ? 0 : comes(b, f, &cfg->blocks[from], from, head);
        }
        for (uint32_t k = 0; k < cfg->nblocks; k++) {
            depth[k] = (uint8_t)MG_MIN(depth[k] + body[k], UINT8_MAX);
            if (!body[k] || size >= least[k])
                continue;
            least[k] = size;
            if (entries)
                entries[k] = n;
            if (heads)
                heads[k] = head;
        }
    }
    free(body);
    free(todo);
    free(least);
    return good;
}

/* Loops that are left in several places make so many rounds on average, whichever it is in the end. */
static bool share_exits(const struct mg_time_builder *b, const struct mg_time_function *f, const uint32_t *heads)
{
    const uint32_t n = f->cfg->nblocks;
    struct mg_time_block *blocks = b->code->blocks + f->block;
    double *all = calloc((size_t)n + 1, sizeof(*all)), *most = calloc((size_t)n + 1, sizeof(*most));
    double *begun = calloc((size_t)n + 1, sizeof(*begun));
    bool good = all && most && begun;
    for (uint32_t k = 0; good && k < n; k++)
        if (blocks[k].rounds > 0) {
            double left = mg__time_executed(b, f, k) / blocks[k].rounds;
            all[heads[k]] += left;
            most[heads[k]] = MG_MAX(most[heads[k]], left);
        }
    for (uint32_t k = 0; good && k < n; k++) {
        const uint32_t h = heads[k];
        if (blocks[k].rounds <= 0 || most[h] > ONE_EXIT * all[h])
            continue;
        double left = mg__time_executed(b, f, k) / blocks[k].rounds;
        blocks[k].head = f->block + h + 1;
        blocks[k].from = (float)(begun[h] / all[h]);
        blocks[k].to = (float)((begun[h] + left) / all[h]);
        blocks[k].rounds = 0;
        blocks[k].steady = false;
        blocks[h].turns = mg__time_executed(b, f, h) / all[h];
        begun[h] += left;
        b->code->exits = true;
    }
    free(all);
    free(most);
    free(begun);
    return good;
}

/* A loop that only looks whether another warp has written something: how often is a matter of the simulator's turns. */
static bool polls(const struct mg_time_builder *b, uint32_t at)
{
    const struct mg_time_block *block = &b->code->blocks[at];
    bool looks = false;
    if (block->nsucc != 2 || (block->succ[0] != at && block->succ[1] != at))
        return false;
    for (uint32_t o = block->first; o < block->end; o++) {
        const struct mg_ptx_insn *insn = b->info->insns[b->code->ops[o].insn].insn;
        if (!b->code->ops[o].access)
            continue;
        if (insn->access != MG_ACCESSES_LOAD || insn->sem <= MG_PTX_SEM_WEAK || insn->space == MG_SPACE_SHARED)
            return false;
        looks = true;
    }
    return looks;
}

/* Of each branch that leaves the innermost loop that it is in: how often it is come to for each time that it does. */
bool mg__time_rounds(const struct mg_time_builder *b, const struct mg_time_function *f)
{
    const struct mg_cfg *cfg = f->cfg;
    uint8_t *body = malloc(cfg->nblocks);
    uint32_t *todo = malloc(cfg->nblocks * sizeof(*todo)), *least = malloc(cfg->nblocks * sizeof(*least));
    uint8_t *depth = calloc(cfg->nblocks, 1); /* loops that it is in */
    uint32_t *heads = calloc(cfg->nblocks, sizeof(*heads));
    bool good = body && todo && least && depth && heads;
    for (uint32_t k = 0; good && k < cfg->nblocks; k++)
        least[k] = UINT32_MAX;
    for (uint32_t head = 0; good && head < cfg->nblocks; head++) {
        if (!cfg->blocks[head].loop_head || !loops(cfg, head))
            continue;
        uint32_t size = flood(cfg, head, body, todo);
        for (uint32_t k = 0; k < cfg->nblocks; k++) {
            struct mg_time_block *block = &b->code->blocks[f->block + k];
            depth[k] = (uint8_t)MG_MIN(depth[k] + body[k], 2);
            if (!body[k] || size >= least[k])
                continue;
            least[k] = size;
            heads[k] = head;
            block->rounds = 0;
            block->steady = block->nsucc == 2 && !written_in(b, f, body, block);
            const struct mg_cfg_block *c = &cfg->blocks[k];
            if (block->nsucc != 2 || body[c->succ[0]] == body[c->succ[1]])
                continue;
            block->leaves = body[c->succ[0]];
            double part = block->leaves == block->rare_at ? block->rare : 1 - block->rare;
            block->rounds = part > 1e-9 ? 1 / part : 0;
            if (polls(b, f->block + k))
                block->rounds = MG_MIN(block->rounds, LOOKS);
        }
    }
    for (uint32_t k = 0; good && k < cfg->nblocks; k++)
        b->code->blocks[f->block + k].outermost = depth[k] == 1;
    good = good && share_exits(b, f, heads);
    free(body);
    free(todo);
    free(least);
    free(depth);
    free(heads);
    return good;
}

/* ---- locks ---- */
static bool reads_result(const struct mg_time_code *code, const struct mg_time_op *op, const struct mg_time_op *of)
{
    for (uint32_t k = 0; k < op->reads; k++)
        for (uint32_t j = 0; j < of->writes; j++)
            if (code->regs[op->regs + k] == code->regs[of->regs + of->reads + j])
                return true;
    return false;
}

/* The branch at the block's end goes by what this compare-and-swap found, and tries again. */
static bool spins(const struct mg_time_builder *b, const struct mg_time_function *f, uint32_t at, uint32_t swap)
{
    const struct mg_time_code *code = b->code;
    struct mg_time_block *block = &code->blocks[f->block + at];
    const struct mg_time_op *branch = &code->ops[block->end - 1];
    const struct mg_cfg_block *c = &f->cfg->blocks[at];
    if (block->nsucc != 2 || branch->reads != 1)
        return false;
    uint32_t test = writer(code, block, code->regs[branch->regs]);
    if (test >= block->end || !reads_result(code, &code->ops[test], &code->ops[swap]))
        return false;
    for (unsigned k = 0; k < 2; k++)
        if (mg__cfg_dominates(f->cfg, c->succ[k], at)) { /* the model of the machine has it wait instead */
            block->rare_at = k;
            block->rare = block->both = 0;
            block->rounds = block->rounds > 0 || block->head ? 1 : 0;
            block->head = 0;
            return true;
        }
    return false;
}

/* Compare-and-swaps that take a lock, and exchanges and stores that give it back: without these there is none. */
void mg__time_locks(const struct mg_time_builder *b)
{
    struct mg_time_code *code = b->code;
    bool given = false;
    for (size_t i = 0; i < b->nfunctions; i++)
        for (uint32_t k = 0; k < b->functions[i].cfg->nblocks; k++)
            for (uint32_t o = code->blocks[b->functions[i].block + k].first;
                 o < code->blocks[b->functions[i].block + k].end; o++) {
                const struct mg_ptx_insn *insn = b->info->insns[code->ops[o].insn].insn;
                bool global = insn->space == MG_SPACE_GLOBAL || insn->space == MG_SPACE_GENERIC;
                bool gives = insn->atomop == MG_ATOM_EXCH ||
                             (insn->access == MG_ACCESSES_STORE && insn->sem > MG_PTX_SEM_RELAXED);
                if (code->ops[o].access && global && gives)
                    code->ops[o].lock = MG_TIME_LOCK_GIVES;
                else if (insn->access == MG_ACCESSES_ATOM && insn->atomop == MG_ATOM_CAS && global &&
                         spins(b, &b->functions[i], k, o))
                    code->ops[o].lock = MG_TIME_LOCK_TAKES;
                given |= code->ops[o].lock == MG_TIME_LOCK_GIVES;
            }
    for (uint32_t o = 0; o < code->nops && !given; o++)
        code->ops[o].lock = MG_TIME_LOCK_NONE;
}

/* ---- unrolling ---- */
/* It adds a constant to a register. */
static bool counts_up(const struct mg_time_builder *b, const struct mg_time_op *op)
{
    const struct mg_insn_info *info = &b->info->insns[op->insn];
    const struct mg_ptx_insn *insn = info->insn;
    enum mg_ptx_algebra does = mg__ptx_exactly(insn);
    if ((does != MG_ALG_ADD && does != MG_ALG_SUB) || insn->guard >= 0 || op->reads != 1 || op->writes != 1)
        return false;
    return mg__ptx_op(info->func, insn, 2)->kind == MG_OPND_IMM &&
           b->code->regs[op->regs] == b->code->regs[op->regs + 1];
}

static bool is_test(const struct mg_time_builder *b, const struct mg_time_op *op)
{
    return mg__ptx_exactly(b->info->insns[op->insn].insn) == MG_ALG_TRUTH;
}

/* What the branch at its end goes by is a register that counts by a constant, compared with something that stays. */
static bool is_counted(const struct mg_time_builder *b, const struct mg_time_block *block)
{
    const struct mg_time_code *code = b->code;
    const struct mg_time_op *branch = &code->ops[block->end - 1];
    if (branch->reads != 1)
        return false;
    uint32_t compares = writer(code, block, code->regs[branch->regs]);
    if (compares >= block->end || !is_test(b, &code->ops[compares]))
        return false;
    unsigned counters = 0, others = 0;
    const struct mg_time_op *op = &code->ops[compares];
    for (uint32_t k = 0; k < op->reads; k++) {
        uint32_t by = writer(code, block, code->regs[op->regs + k]);
        if (by == block->end)
            continue;
        bool counter = by < block->end && counts_up(b, &code->ops[by]);
        counters += counter;
        others += !counter;
    }
    return counters == 1 && !others;
}

static bool worth_unrolling(const struct mg_time_builder *b, const struct mg_time_block *block)
{
    unsigned n = 0;
    bool loads = false;
    for (uint32_t i = block->first; i < block->end; i++) {
        const struct mg_ptx_insn *insn = b->info->insns[b->code->ops[i].insn].insn;
        if (b->code->ops[i].call != UINT32_MAX || insn->effects & MG_E_WARP)
            return false;
        n += mg__ptx_exactly(insn) != MG_ALG_COPY;
        loads |= insn->access == MG_ACCESSES_LOAD;
    }
    return block->rounds >= MG_TIME_UNROLLED && n <= (loads ? BODY_OF_LOADS : BODY) && is_counted(b, block);
}

/* One round of an unrolled loop, with names of its own for what it writes; the last one leaves what is there after it.
 */
static void copy_round(struct mg_time_builder *b, const struct mg_time_block *block, uint32_t *name, bool last)
{
    struct mg_time_code *code = b->code;
    for (uint32_t i = block->first; i < block->end; i++) {
        struct mg_time_op *op = &code->ops[code->nops++];
        *op = code->ops[i];
        op->regs = b->nregs_used;
        for (uint32_t k = 0; k < (uint32_t)op->reads + op->writes; k++) {
            uint32_t reg = code->regs[code->ops[i].regs + k];
            if (k >= op->reads)
                name[reg] = last ? reg : code->nregs++;
            code->regs[b->nregs_used++] = name[reg];
        }
        if (!last && (counts_up(b, &code->ops[i]) || i + 1 == block->end || is_test(b, op))) {
            op->pipe = MG_PIPE_NONE; /* a part of addresses; and nobody asks whether this is the end */
            op->slots = op->interval = 0;
            op->latency = 0;
            op->fence = false;
        }
    }
}

bool mg__time_unroll(struct mg_time_builder *b)
{
    struct mg_time_code *code = b->code;
    uint32_t nregs = code->nregs, *name = malloc((nregs + 1) * sizeof(*name));
    if (!name)
        return false;
    for (uint32_t k = 0; k < nregs; k++)
        name[k] = k;
    for (uint32_t k = 0; k < code->nblocks; k++) {
        struct mg_time_block *block = &code->blocks[k];
        if (block->nsucc != 2 || block->succ[!block->leaves] != k || !worth_unrolling(b, block))
            continue;
        block->unrolled = code->nops;
        for (unsigned round = 0; round < MG_TIME_UNROLLED; round++)
            copy_round(b, block, name, round + 1 == MG_TIME_UNROLLED);
        block->unrolled_end = code->nops;
    }
    free(name);
    return true;
}
