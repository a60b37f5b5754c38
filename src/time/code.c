/* code.c - a kernel as the device runs it: its instructions with what they take (cost.def), put in the order in which
 * ptxas would issue them within a basic block, and how often each branch went where.
 *
 * ptxas moves loads up as far as their addresses and stores in between let it. That is done here by list scheduling:
 * of what could come next, the one with the longest way to the block's end comes first. How branches went is found from
 * how often each block was executed; where that does not tell, both ways are taken equally often.
 */
#include "time/time_priv.h"

enum { PREDICATED = 7, WINDOW = 96, LOAD_HEIGHT = 200, SHARED_HEIGHT = 30 };

/* ---- what an instruction takes ---- */
enum of { ANY, F64, FLOATS, LONG, WIDE, ROUGH, WIDENS };
static const struct cost {
    uint16_t opcode;
    uint8_t of, pipe, slots, interval;
    uint16_t latency;
} costs[] = {
#define COST(op, of, pipe, slots, interval, latency) {MG_OP_##op, of, MG_PIPE_##pipe, slots, interval, latency},
#include "time/cost.def"
};

static bool is_float(uint8_t t)
{
    return t == MG_T_F32 || t == MG_T_F16 || t == MG_T_BF16 || t == MG_T_F16X2 || t == MG_T_BF16X2;
}

static bool fits(const struct mg_ptx_insn *i, enum of of)
{
    uint8_t t = i->ntypes ? i->type[0] : (uint8_t)MG_T_NONE, u = i->ntypes > 1 ? i->type[1] : t;
    unsigned size = mg__ptx_type_size((enum mg_ptx_type)t), from = mg__ptx_type_size((enum mg_ptx_type)u);
    bool floats = is_float(t) || is_float(u) || t == MG_T_F64 || u == MG_T_F64;
    switch (of) {
    case F64:
        return t == MG_T_F64 || u == MG_T_F64;
    case FLOATS:
        return is_float(t);
    case LONG:
        return size == 8 && !floats && !(i->flags & MG_F_WIDE);
    case WIDE:
        return i->flags & MG_F_WIDE;
    case ROUGH:
        return i->flags & (MG_F_APPROX | MG_F_FULL);
    case WIDENS:
        return !floats && size >= 4 && from >= 4;
    default:
        return true;
    }
}

static void take(const struct mg_ptx_insn *i, struct mg_time_op *op)
{
    op->pipe = MG_PIPE_ALU;
    op->slots = 1;
    op->interval = 2;
    op->latency = 6;
    op->barrier = i->effects & MG_E_SYNCS && i->opcode == MG_OP_BAR;
    op->access = mg__ptx_accesses(i);
    op->fence = i->effects & (MG_E_SYNCS | MG_E_WARP | MG_E_ORDERS | MG_E_CALLS | MG_E_TRAPS | MG_E_ENDS) ||
                i->access == MG_ACCESSES_ATOM || i->access == MG_ACCESSES_RED || i->access == MG_ACCESSES_COPY;
    op->floats = i->ntypes && (is_float(i->type[0]) || i->type[0] == MG_T_F64);
    op->swaps = (i->access == MG_ACCESSES_ATOM || i->access == MG_ACCESSES_RED) && i->ntypes &&
                i->space == MG_SPACE_SHARED && (is_float(i->type[0]) || i->type[0] == MG_T_F64);
    if (op->access) {
        op->pipe = MG_PIPE_LSU;
        op->latency = 0;
    } else if (i->access != MG_ACCESSES_NONE || mg__ptx_isa((enum mg_ptx_opcode)i->opcode)->group == MG_G_MISC) {
        op->pipe = MG_PIPE_NONE; /* parameters are constants to ptxas */
        op->slots = op->interval = 0;
        op->latency = 0;
    }
    for (size_t k = 0; k < MG_COUNT(costs); k++)
        if (costs[k].opcode == i->opcode && fits(i, (enum of)costs[k].of)) {
            op->pipe = costs[k].pipe;
            op->slots = costs[k].slots;
            op->interval = costs[k].interval;
            op->latency = costs[k].latency;
            break;
        }
}

/* ---- the functions of a launch ---- */
struct function {
    const struct mg_ptx_func *func;
    struct mg_cfg *cfg;
    uint32_t base, block, reg; /* its first instruction, block and register */
};
struct builder {
    const struct mg_launch_info *info;
    const struct mg_insn_counts *counts;
    struct mg_time_code *code;
    struct function *functions;
    size_t nfunctions;
    uint32_t nregs_used;
};

static const struct function *function_of(const struct builder *b, const struct mg_ptx_func *func)
{
    for (size_t i = 0; i < b->nfunctions; i++)
        if (b->functions[i].func == func)
            return &b->functions[i];
    return NULL;
}

static bool find_functions(struct builder *b)
{
    const struct mg_launch_info *info = b->info;
    uint32_t blocks = 0, regs = 0;
    for (uint32_t i = 0; i < info->ninsns;) {
        const struct mg_ptx_func *func = info->insns[i].func;
        if (!func || info->insns[i].insn != func->insns || info->ninsns - i < func->ninsns)
            return false;
        struct function *f = &b->functions[b->nfunctions];
        *f = (struct function){.func = func, .base = i, .block = blocks, .reg = regs};
        if (mg__cfg_build(func, &f->cfg) != MG_OK)
            return false;
        b->nfunctions++;
        blocks += f->cfg->nblocks;
        regs += (uint32_t)func->nregs;
        i += (uint32_t)func->ninsns;
    }
    b->code->nblocks = blocks;
    b->code->nregs = regs;
    return blocks > 0;
}

/* ---- the order within a block ---- */
struct node {
    uint32_t height, left; /* left: of those that it waits for */
    uint32_t after;        /* first link to those that wait for it */
};
struct scheduler {
    struct mg_arena arena;
    struct node *nodes;
    struct {
        uint32_t node, next;
    } * links;
    uint32_t nlinks, room;
    int32_t *writer; /* by register: the last node that writes it, and readers since, as links */
    uint32_t *readers;
    bool failed;
};

static uint32_t link_to(struct scheduler *s, uint32_t node, uint32_t next)
{
    if (s->nlinks == s->room) {
        uint32_t room = s->room ? 2 * s->room : 1024;
        void *links = realloc(s->links, room * sizeof(*s->links));
        if (!links) {
            s->failed = true;
            return next;
        }
        s->links = links;
        s->room = room;
    }
    s->links[s->nlinks].node = node;
    s->links[s->nlinks].next = next;
    return ++s->nlinks;
}

static void wait_for(struct scheduler *s, int32_t before, uint32_t node)
{
    if (before < 0 || (uint32_t)before == node)
        return;
    uint32_t links = s->nlinks;
    s->nodes[before].after = link_to(s, node, s->nodes[before].after);
    s->nodes[node].left += s->nlinks > links;
}

static void depend(struct scheduler *s, const struct mg_time_code *code, const struct mg_time_op *op, uint32_t node)
{
    for (uint32_t k = 0; k < op->reads; k++) {
        uint32_t r = code->regs[op->regs + k];
        wait_for(s, s->writer[r], node);
        s->readers[r] = link_to(s, node, s->readers[r]);
    }
    for (uint32_t k = 0; k < op->writes; k++) {
        uint32_t r = code->regs[op->regs + op->reads + k];
        wait_for(s, s->writer[r], node);
        for (uint32_t l = s->readers[r]; l; l = s->links[l - 1].next)
            wait_for(s, (int32_t)s->links[l - 1].node, node);
        s->writer[r] = (int32_t)node;
        s->readers[r] = 0;
    }
}

static void forget(struct scheduler *s, const struct mg_time_code *code, const struct mg_time_op *ops, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < (uint32_t)ops[i].reads + ops[i].writes; k++) {
            s->writer[code->regs[ops[i].regs + k]] = -1;
            s->readers[code->regs[ops[i].regs + k]] = 0;
        }
}

/* n ops between two fences. */
static void order(struct scheduler *s, const struct mg_launch_info *info, const struct mg_time_code *code,
                  struct mg_time_op *ops, uint32_t n)
{
    int32_t stored[MG_SPACE_COUNT];
    s->nlinks = 0;
    s->nodes = mg__arena_array(&s->arena, n, sizeof(*s->nodes));
    struct mg_time_op *sorted = mg__arena_array(&s->arena, n, sizeof(*sorted));
    uint32_t *ready = mg__arena_array(&s->arena, n, sizeof(*ready)), nready = 0;
    if (!s->nodes || !sorted || !ready) {
        s->failed = true;
        return;
    }
    memset(stored, 0xff, sizeof(stored));
    for (uint32_t i = 0; i < n; i++) {
        const struct mg_ptx_insn *insn = info->insns[ops[i].insn].insn;
        depend(s, code, &ops[i], i);
        if (!ops[i].access)
            continue;
        if (insn->access == MG_ACCESSES_STORE) {
            wait_for(s, stored[insn->space], i);
            stored[insn->space] = (int32_t)i;
        } else if (!(insn->flags & MG_F_NC)) {
            wait_for(s, stored[insn->space], i);
            wait_for(s, insn->space != MG_SPACE_GENERIC ? stored[MG_SPACE_GENERIC] : -1, i);
        }
    }
    for (uint32_t i = n; i-- > 0;) {
        const struct mg_ptx_insn *insn = info->insns[ops[i].insn].insn;
        uint32_t longest = 0;
        for (uint32_t l = s->nodes[i].after; l; l = s->links[l - 1].next)
            longest = MG_MAX(longest, s->nodes[s->links[l - 1].node].height);
        bool load = ops[i].access && insn->access == MG_ACCESSES_LOAD;
        s->nodes[i].height =
            longest + (load ? insn->space == MG_SPACE_SHARED ? SHARED_HEIGHT : LOAD_HEIGHT : ops[i].latency) + 1;
    }
    uint32_t done = 0, oldest = 0;
    bool *taken = mg__arena_array(&s->arena, n, sizeof(*taken));
    for (uint32_t i = 0; taken && i < n; i++)
        if (!s->nodes[i].left)
            ready[nready++] = i;
    while (taken && nready) {
        uint32_t best = UINT32_MAX;
        for (uint32_t k = 0; k < nready; k++)
            if (ready[k] < oldest + WINDOW &&
                (best == UINT32_MAX || s->nodes[ready[k]].height > s->nodes[ready[best]].height ||
                 (s->nodes[ready[k]].height == s->nodes[ready[best]].height && ready[k] < ready[best])))
                best = k;
        uint32_t node = ready[best];
        ready[best] = ready[--nready];
        sorted[done++] = ops[node];
        taken[node] = true;
        while (oldest < n && taken[oldest])
            oldest++;
        for (uint32_t l = s->nodes[node].after; l; l = s->links[l - 1].next)
            if (!--s->nodes[s->links[l - 1].node].left)
                ready[nready++] = s->links[l - 1].node;
    }
    forget(s, code, ops, n);
    if (done == n)
        memcpy(ops, sorted, n * sizeof(*ops));
}

static void order_block(struct scheduler *s, const struct builder *b, const struct mg_time_block *block)
{
    for (uint32_t at = block->first; at < block->end && !s->failed;) {
        uint32_t end = at;
        while (end < block->end && !b->code->ops[end].fence)
            end++;
        if (end - at > 1)
            order(s, b->info, b->code, &b->code->ops[at], end - at);
        at = end + 1;
    }
}

/* ---- ops and blocks ---- */
static void add_regs(struct builder *b, const struct function *f, const struct mg_ptx_insn *insn, struct mg_time_op *op)
{
    uint32_t reg;
    bool written;
    op->regs = b->nregs_used;
    for (int pass = 0; pass < 2; pass++) {
        struct mg_flow_walk walk = {.func = f->func, .insn = insn};
        while (mg__flow_next(&walk, &reg, &written)) {
            if (written != (pass == 1))
                continue;
            b->code->regs[b->nregs_used++] = f->reg + reg;
            *(pass ? &op->writes : &op->reads) += 1;
        }
    }
}

static uint32_t count_regs(const struct builder *b)
{
    uint32_t n = 0, reg;
    bool written;
    for (uint32_t i = 0; i < b->info->ninsns; i++) {
        struct mg_flow_walk walk = {.func = b->info->insns[i].func, .insn = b->info->insns[i].insn};
        while (mg__flow_next(&walk, &reg, &written))
            n++;
    }
    return n;
}

static uint32_t called(const struct builder *b, const struct function *f, const struct mg_ptx_insn *insn)
{
    for (unsigned k = 0; insn->effects & MG_E_CALLS && k < insn->nops; k++) {
        const struct mg_ptx_opnd *o = mg__ptx_op(f->func, insn, k);
        const struct function *to = o->kind == MG_OPND_FUNC ? function_of(b, o->func) : NULL;
        if (to)
            return to->block;
    }
    return UINT32_MAX;
}

static double executed(const struct builder *b, const struct function *f, uint32_t block)
{
    return (double)b->counts[f->base + f->cfg->blocks[block].first].warps;
}

static bool dominates(const struct mg_cfg *cfg, uint32_t a, uint32_t b)
{
    while (b != a && cfg->blocks[b].idom != b)
        b = cfg->blocks[b].idom;
    return a == b;
}

static bool loops(const struct mg_cfg *cfg, uint32_t block)
{
    for (uint32_t p = 0; p < cfg->blocks[block].npred; p++)
        if (dominates(cfg, block, cfg->blocks[block].pred[p]))
            return true;
    return false;
}

/* How often it comes from one block to another, which is not the only one behind it. */
static double comes(const struct builder *b, const struct function *f, const struct mg_cfg_block *from, uint32_t at,
                    uint32_t to)
{
    double n = executed(b, f, at);
    for (uint32_t k = 0; from->nsucc == 2 && k < 2; k++)
        if (from->succ[k] != to && f->cfg->blocks[from->succ[k]].npred == 1)
            n -= MG_MIN(executed(b, f, from->succ[k]), n);
    return MG_MIN(n, executed(b, f, to));
}

/* Which of two ways is the rarer, how often it is taken, and how often both are. */
static void find_ways(const struct builder *b, const struct function *f, uint32_t at, struct mg_time_block *block)
{
    const struct mg_cfg_block *c = &f->cfg->blocks[at];
    double n = executed(b, f, at), way[2] = {-1, -1};
    const struct mg_insn_counts *last = &b->counts[f->base + c->end - 1];
    for (unsigned k = 0; k < 2; k++) {
        const struct mg_cfg_block *to = &f->cfg->blocks[c->succ[k]];
        double others = 0;
        if (to->npred == 1) {
            way[k] = executed(b, f, c->succ[k]);
        } else if (dominates(f->cfg, c->succ[k], at)) { /* a loop goes round: all that did not come from outside */
            double back = 0;
            for (uint32_t p = 0; p < to->npred; p++) {
                const struct mg_cfg_block *from = &f->cfg->blocks[to->pred[p]];
                if (dominates(f->cfg, c->succ[k], to->pred[p]))
                    back += executed(b, f, to->pred[p]);
                else
                    others += comes(b, f, from, to->pred[p], c->succ[k]);
            }
            double round = executed(b, f, c->succ[k]) - others;
            way[k] = back > 0 ? MG_MAX(round, 0.0) * n / back : 0;
        }
    }
    double diverged = (double)last->divergent;
    for (unsigned k = 0; k < 2; k++)
        if (way[k] < 0 && way[!k] >= 0)
            way[k] = MG_MAX(n - way[!k] + (dominates(f->cfg, c->succ[!k], at) ? 0 : diverged), 0.0);
    for (unsigned k = 0; k < 2 && way[0] < 0; k++)
        if (loops(f->cfg, c->succ[k]) || executed(b, f, c->succ[k]) <= 0) { /* as many go there as can */
            way[k] = MG_MIN(n, executed(b, f, c->succ[k]));
            way[!k] = n - way[k];
        }
    if (way[0] < 0)
        way[0] = way[1] = n / 2;
    way[0] = MG_MIN(way[0], n);
    way[1] = MG_MIN(way[1], n);
    block->rare_at = n > 0 ? way[1] < way[0] : dominates(f->cfg, c->succ[1], at); /* where nobody came: out of it */
    double both = MG_MAX(way[0] + way[1] - n, 0.0);
    block->rare = n > 0 ? way[block->rare_at] / n : 0;
    block->both = way[block->rare_at] > 0 && !dominates(f->cfg, c->succ[0], at) && !dominates(f->cfg, c->succ[1], at)
                      ? both / way[block->rare_at]
                      : 0;
}

/* ptxas unrolls loops of one block, and counts every so many rounds: the branch, its condition, and what only that
 * reads and the counter itself. */
static void mark_control(const struct builder *b, const struct function *f, struct mg_time_block *block)
{
    struct mg_time_op *ops = b->code->ops, *last = &ops[block->end - 1];
    uint32_t reg = UINT32_MAX;
    if (block->end - block->first > 40 || f->func->insns[last->insn - f->base].guard < 0)
        return;
    last->control = true;
    reg = b->code->regs[last->regs];
    for (int pass = 0; pass < 2; pass++) {
        uint32_t counter = UINT32_MAX, uses = 0;
        for (uint32_t i = block->first; i + 1 < block->end; i++)
            for (uint32_t k = 0; k < ops[i].writes; k++)
                if (b->code->regs[ops[i].regs + ops[i].reads + k] == reg && !ops[i].access) {
                    ops[i].control = true;
                    counter = ops[i].reads ? b->code->regs[ops[i].regs] : UINT32_MAX;
                }
        for (uint32_t i = block->first; i + 1 < block->end; i++)
            for (uint32_t k = 0; k < ops[i].reads; k++)
                uses += b->code->regs[ops[i].regs + k] == counter;
        if (counter == UINT32_MAX || uses > 2)
            return;
        reg = counter;
    }
}

/* A branch over a few instructions: ptxas gives them a predicate instead. */
static bool predicated(const struct function *f, uint32_t at)
{
    const struct mg_cfg_block *c = &f->cfg->blocks[at], *over;
    if (c->nsucc != 2 || at + 2 >= f->cfg->nblocks || (c->succ[0] != at + 2 && c->succ[1] != at + 2))
        return false;
    over = &f->cfg->blocks[at + 1];
    if (over->end - over->first > PREDICATED || over->npred != 1 || over->nsucc != 1)
        return false;
    for (uint32_t i = over->first; i < over->end; i++)
        if (f->func->insns[i].effects & (MG_E_SYNCS | MG_E_CALLS | MG_E_ENDS))
            return false;
    return true;
}

static void add_block(struct builder *b, const struct function *f, uint32_t at, double warps)
{
    struct mg_time_code *code = b->code;
    const struct mg_cfg_block *c = &f->cfg->blocks[at];
    struct mg_time_block *block = &code->blocks[f->block + at];
    const struct mg_ptx_insn *last = &f->func->insns[c->end - 1];
    *block = (struct mg_time_block){.first = code->nops, .nsucc = MG_MIN(c->nsucc, 2u), .ipdom = UINT32_MAX};
    for (uint32_t i = c->first; i < c->end; i++) {
        const struct mg_ptx_insn *insn = &f->func->insns[i];
        struct mg_time_op *op = &code->ops[code->nops++];
        *op = (struct mg_time_op){.insn = f->base + i, .call = called(b, f, insn)};
        take(insn, op);
        add_regs(b, f, insn, op);
    }
    block->end = code->nops;
    if (predicated(f, at))
        code->ops[code->nops - 1].pipe = MG_PIPE_NONE;
    for (uint32_t k = 0; k < block->nsucc; k++)
        block->succ[k] = f->block + c->succ[k];
    for (uint32_t k = 0; k < block->nsucc; k++)
        if (c->succ[k] == at)
            mark_control(b, f, block);
    if (c->ipdom != MG_CFG_EXIT)
        block->ipdom = f->block + c->ipdom;
    double n = executed(b, f, at);
    block->once = n <= warps * 1.0001;
    block->returns = last->opcode == MG_OP_RET;
    if (block->nsucc == 2)
        find_ways(b, f, at, block);
    else if (block->nsucc == 1 && last->effects & MG_E_LEAVES && f->cfg->blocks[c->succ[0]].npred == 1 && n > 0)
        block->rare = MG_MAX(1 - executed(b, f, c->succ[0]) / n, 0.0);
}

static bool fill(struct builder *b)
{
    struct mg_time_code *code = b->code;
    const struct mg_launch_info *info = b->info;
    struct scheduler s = {0};
    code->ops = mg__arena_array(&code->arena, (size_t)info->ninsns + 1, sizeof(*code->ops));
    code->regs = mg__arena_array(&code->arena, (size_t)count_regs(b) + 1, sizeof(*code->regs));
    code->blocks = mg__arena_array(&code->arena, (size_t)code->nblocks + 1, sizeof(*code->blocks));
    mg__arena_init(&s.arena);
    s.writer = mg__arena_array(&s.arena, (size_t)code->nregs + 1, sizeof(*s.writer));
    s.readers = mg__arena_array(&s.arena, (size_t)code->nregs + 1, sizeof(*s.readers));
    bool good = code->ops && code->regs && code->blocks && s.writer && s.readers;
    if (good) {
        memset(s.writer, 0xff, code->nregs * sizeof(*s.writer));
        uint32_t threads = info->block.x * info->block.y * info->block.z;
        double warps = (double)((threads + 31) / 32) * info->grid.x * info->grid.y * info->grid.z;
        for (size_t i = 0; i < b->nfunctions; i++)
            for (uint32_t k = 0; k < b->functions[i].cfg->nblocks; k++)
                add_block(b, &b->functions[i], k, warps);
        for (uint32_t k = 0; k < code->nblocks; k++)
            order_block(&s, b, &code->blocks[k]);
        good = !s.failed;
    }
    free(s.links);
    mg__arena_free(&s.arena);
    return good;
}

struct mg_time_code *mg__time_code(const struct mg_launch_info *info, const struct mg_insn_counts *counts)
{
    struct mg_time_code *code = calloc(1, sizeof(*code));
    struct builder b = {.info = info, .counts = counts, .code = code};
    b.functions = calloc((size_t)info->ninsns + 1, sizeof(*b.functions));
    if (code)
        mg__arena_init(&code->arena);
    bool good = code && b.functions && find_functions(&b) && fill(&b);
    for (size_t i = 0; b.functions && i < b.nfunctions; i++)
        mg__cfg_free(b.functions[i].cfg);
    free(b.functions);
    if (!good) {
        mg__time_code_free(code);
        return NULL;
    }
    return code;
}

void mg__time_code_free(struct mg_time_code *code)
{
    if (code)
        mg__arena_free(&code->arena);
    free(code);
}
