/* native.c - a kernel as ptxas made it: machine code in place of the guess that code.c makes of PTX.
 *
 * An instruction says in its upper half how many cycles its warp then waits, which of six scoreboards it sets, and
 * which it waits for: its order, its dependences and its registers need no guess. From which line of PTX it comes
 * (ptxas -lineinfo) says what it accesses, and how often: of an instruction that machine code has once, its block is
 * executed as often as that; where there are several, because a loop was unrolled, a round that was peeled off comes
 * first, then the largest body takes as many rounds as it can, and what is left goes to the next. Blocks without such
 * an instruction have what their neighbours leave to them.
 *
 * Code with an instruction that native.def does not know, with loads of constants, with calls of functions, or whose
 * blocks cannot be told how often they are executed, is left to PTX. Only capability 9.0 was looked at.
 */
#include "time/time_priv.h"

#include <math.h>

enum kind {
    PLAIN,
    FLOATS,
    MEMORY,
    CONSTANT,
    SHUFFLE,
    MATCHES,
    BARRIER,
    FENCE,
    COPIES,
    BRANCH,
    CALL,
    EXIT,
    RETURN,
    KINDS
};
static const struct row {
    uint16_t code;
    uint8_t kind, pipe, interval;
    uint16_t latency;
} rows[] = {
#define NATIVE(code, kind, pipe, interval, latency) {code, kind, MG_PIPE_##pipe, interval, latency},
#include "time/native.def"
};
enum {
    NOBODY = 7,
    SLOW = 90,
    SLOW_LATENCY = 300,
    SCALE = 64,
    MOST_EXITS = 65536 /* times blocks, beyond which nothing is told by which blocks stand on the same ways */,
    MOST_BLOCKS = 4096 /* of code that is followed: each is looked at again for what is found of another */
};
#define MOST_TIMES 1e15 /* that a block is executed; what adds up to more is told wrong */
#define NONE UINT32_MAX
#define WRONG 0.2 /* of the anchors' executions, most that may be told wrong */

struct at_line {
    uint32_t line, insn;
};
struct anchor { /* an instruction of PTX, and its copies in one block of machine code */
    uint32_t insn, block, copies;
    bool guarded;
};
struct native {
    struct mg_time_builder *b; /* of the PTX */
    const struct mg_time_code *ptx;
    const struct mg_time_native *n;
    const struct row **row;  /* by instruction of machine code, … */
    uint32_t *insn;          /* … the PTX that it comes from, NONE */
    struct mg_ptx_func func; /* what the graph is made of */
    struct mg_cfg *cfg;
    struct at_line *lines;
    uint32_t nlines;
    struct anchor *anchors;
    uint32_t nanchors;
    const struct mg_time_op **ops; /* by instruction of PTX */
    uint32_t *ptx_block;           /* … its block, of all functions */
    double *entries;               /* by PTX block: how often its loop is come to; 0: it is in none */
    uint8_t *ptx_depth, *depth;    /* loops around a block, … */
    uint32_t *ptx_head, *head;     /* … and the head of the innermost of them */
    /* By block of machine code, < 0: not known: how often it is executed, how often the loop that it heads is come to,
     * and, two for each, how often it goes to its successors. */
    double *x, *enters, *edges;
    double *least;   /* by block: of those that are not known */
    uint32_t *joins; /* by block: one above it that is executed as often; NONE */
    uint32_t *exits; /* blocks at whose end some warps leave the kernel, and others go on */
    bool *meets;     /* by block: lanes that went both ways somewhere come together there: each way counts for itself */
    uint8_t *pieces; /* by PTX instruction: accesses of machine code that are one of its own; 0: it is no anchor */
    uint32_t *only;  /* by PTX instruction: the block that it is in alone and 1, NONE: several, 0: none */
    struct mg_arena arena;
};

static uint32_t bits(uint64_t word, unsigned from, unsigned n)
{
    return (uint32_t)(word >> from & ((UINT64_C(1) << n) - 1));
}

static bool guarded(const uint64_t word[2])
{
    return bits(word[0], 12, 4) != NOBODY;
}

static const struct row *row_of(uint32_t code)
{
    for (size_t k = 0; k < MG_COUNT(rows); k++)
        if (rows[k].code == code)
            return &rows[k];
    return NULL;
}

/* ---- lines ---- */
static int by_line(const void *a, const void *b)
{
    const struct at_line *x = a, *y = b;
    return x->line != y->line ? x->line < y->line ? -1 : 1 : x->insn < y->insn ? -1 : x->insn > y->insn;
}

static bool index_lines(struct native *v)
{
    const struct mg_launch_info *info = v->b->info;
    v->lines = mg__arena_array(&v->arena, (size_t)info->ninsns + 1, sizeof(*v->lines));
    v->ops = mg__arena_array(&v->arena, (size_t)info->ninsns + 1, sizeof(*v->ops));
    v->ptx_block = mg__arena_array(&v->arena, (size_t)info->ninsns + 1, sizeof(*v->ptx_block));
    if (!v->lines || !v->ops || !v->ptx_block)
        return false;
    for (uint32_t i = 0; i < info->ninsns; i++)
        v->lines[v->nlines++] = (struct at_line){info->insns[i].insn->ptx_line, i};
    qsort(v->lines, v->nlines, sizeof(*v->lines), by_line);
    for (uint32_t k = 0; k < v->ptx->nblocks; k++)
        for (uint32_t o = v->ptx->blocks[k].first; o < v->ptx->blocks[k].end; o++) {
            v->ops[v->ptx->ops[o].insn] = &v->ptx->ops[o];
            v->ptx_block[v->ptx->ops[o].insn] = k;
        }
    return true;
}

/* What is joined to it is not looked for: its own statistics are. */
static uint32_t carrier(const struct native *v, uint32_t insn)
{
    const struct mg_model_made *made = v->b->made;
    for (uint32_t i = insn; made && mg__model_made_elsewhere(made, insn) && i-- > 0;)
        if (v->ptx_block[i] == v->ptx_block[insn] && v->ops[i] && v->ops[i]->access && mg__model_made_joined(made, i))
            return i;
    return insn;
}

/* The PTX instruction of a line; of several there, one that accesses memory for one that does. */
static uint32_t insn_at(const struct native *v, uint32_t line, enum kind kind)
{
    uint32_t low = 0, high = v->nlines, found = NONE;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (v->lines[middle].line < line)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < v->nlines && v->lines[low].line == line && line; low++) {
        const struct mg_ptx_insn *insn = v->b->info->insns[v->lines[low].insn].insn;
        if (found == NONE)
            found = v->lines[low].insn;
        if ((kind == MEMORY && mg__ptx_accesses(insn)) ||
            (kind == CONSTANT && v->ops[v->lines[low].insn] && v->ops[v->lines[low].insn]->access))
            return v->lines[low].insn;
    }
    return found;
}

/* ---- the graph ---- */
static int64_t target_of(const uint64_t word[2], uint32_t at)
{
    uint64_t far = word[0] >> 34 | (uint64_t)bits(word[1], 0, 18) << 30;
    int64_t offset = (int64_t)(far << 16) >> 16; /* 48 bits with their sign */
    return (int64_t)at + 1 + ((offset * 256 + (int64_t)bits(word[0], 16, 8)) * 4) / 16;
}

/* Whether it is a branch as PTX has them; what is only taken when a warp's lanes are apart is not. */
static bool branches(const uint64_t word[2])
{
    return bits(word[0], 32, 2) == 0;
}

static bool make_graph(struct native *v)
{
    const struct mg_time_native *n = v->n;
    struct mg_ptx_func *f = &v->func;
    f->insns = mg__arena_array(&v->arena, n->n, sizeof(*f->insns));
    f->operands = mg__arena_array(&v->arena, n->n, sizeof(*f->operands));
    if (!f->insns || !f->operands)
        return false;
    f->ninsns = f->noperands = n->n;
    for (uint32_t k = 0; k < n->n; k++) {
        struct mg_ptx_insn *i = &f->insns[k];
        enum kind kind = (enum kind)v->row[k]->kind;
        i->first_op = k;
        i->guard = guarded(n->words[k]) || (kind == BRANCH && bits(n->words[k][1], 23, 3) != NOBODY) ? 0 : -1;
        if (kind == BRANCH && branches(n->words[k])) {
            int64_t to = target_of(n->words[k], k);
            if (to < 0 || to >= (int64_t)n->n)
                return false;
            i->effects = MG_E_ENDS;
            i->nops = 1;
            f->operands[k].kind = MG_OPND_LABEL;
            f->operands[k].index = (uint32_t)to;
        } else if (kind == EXIT || kind == RETURN) {
            i->effects = MG_E_ENDS | MG_E_LEAVES;
        }
    }
    return mg__cfg_build(f, &v->cfg) == MG_OK && v->cfg->nblocks <= MOST_BLOCKS;
}

/* ---- how often ---- */
static bool is_constant(const struct native *v, uint32_t insn)
{
    uint8_t space = v->b->info->insns[insn].insn->space;
    return space == MG_SPACE_CONST || space == MG_SPACE_PARAM;
}

static bool same_work(const struct native *v, uint32_t k)
{
    if (v->insn[k] == NONE || !v->ops[v->insn[k]])
        return false;
    const struct mg_time_op *op = v->ops[v->insn[k]];
    switch (v->row[k]->kind) {
    case MEMORY:
    case CONSTANT:
        return op->access && is_constant(v, v->insn[k]) == (v->row[k]->kind == CONSTANT);
    case FLOATS:
        return op->floats && op->slots == 1 && (op->pipe == MG_PIPE_FMA || op->pipe == MG_PIPE_FP64);
    case BARRIER:
        return op->barrier;
    case SHUFFLE:
        return op->pipe == MG_PIPE_LSU && !op->access;
    default:
        return false;
    }
}

/* The same of what is computed with integers, for loops of PTX that have nothing else. */
static bool plain_work(const struct native *v, uint32_t k)
{
    if (v->insn[k] == NONE || !v->ops[v->insn[k]] || v->row[k]->kind != PLAIN)
        return false;
    const struct mg_time_op *op = v->ops[v->insn[k]];
    return op->slots == 1 && !op->access && !op->floats &&
           (op->pipe == MG_PIPE_ALU || op->pipe == MG_PIPE_FMA || op->pipe == MG_PIPE_EITHER) &&
           v->row[k]->pipe != MG_PIPE_UNIFORM;
}

static int by_insn(const void *a, const void *b)
{
    const struct anchor *x = a, *y = b;
    return x->insn != y->insn ? x->insn < y->insn ? -1 : 1 : x->block < y->block ? -1 : x->block > y->block;
}

static bool find_anchors(struct native *v)
{
    v->anchors = mg__arena_array(&v->arena, (size_t)v->n->n + 1, sizeof(*v->anchors));
    if (!v->anchors)
        return false;
    uint32_t n = 0, m = 0;
    bool *has = mg__arena_alloc(&v->arena, (size_t)v->ptx->nblocks + 1);
    v->pieces = mg__arena_alloc(&v->arena, (size_t)v->b->info->ninsns + 1);
    if (!has || !v->pieces)
        return false;
    for (uint32_t k = 0; k < v->n->n; k++)
        if (same_work(v, k))
            has[v->ptx_head[v->ptx_block[v->insn[k]]]] = true;
    for (uint32_t k = 0; k < v->n->n; k++)
        if (v->cfg->blocks[v->cfg->block_of[k]].reachable &&
            (same_work(v, k) || (plain_work(v, k) && v->ptx_depth[v->ptx_block[v->insn[k]]] &&
                                 !has[v->ptx_head[v->ptx_block[v->insn[k]]]])))
            v->anchors[n++] = (struct anchor){v->insn[k], v->cfg->block_of[k], 1, guarded(v->n->words[k])};
    qsort(v->anchors, n, sizeof(*v->anchors), by_insn);
    for (uint32_t k = 0; k < n; k++) {
        if (m && v->anchors[m - 1].insn == v->anchors[k].insn && v->anchors[m - 1].block == v->anchors[k].block) {
            v->anchors[m - 1].copies++;
            v->anchors[m - 1].guarded |= v->anchors[k].guarded;
        } else {
            v->anchors[m++] = v->anchors[k];
        }
    }
    v->nanchors = m;
    for (uint32_t k = 0, end; k < m; k = end) {
        uint32_t least = v->anchors[k].copies;
        for (end = k; end < m && v->anchors[end].insn == v->anchors[k].insn; end++)
            least = MG_MIN(least, v->anchors[end].copies);
        if (mg__ptx_isa((enum mg_ptx_opcode)v->b->info->insns[v->anchors[k].insn].insn->opcode)->group != MG_G_MATRIX)
            least = 1;
        v->pieces[v->anchors[k].insn] = (uint8_t)MG_MIN(least, UINT8_MAX);
        for (uint32_t j = k; j < end; j++)
            v->anchors[j].copies /= least;
    }
    return true;
}

static double count(const struct native *v, uint32_t insn)
{
    return (double)v->b->counts[insn].warps;
}

static bool in_loop(const struct native *v, const struct anchor *a)
{
    uint32_t depth = v->ptx_depth[v->ptx_block[a->insn]];
    return depth > 0 && v->depth[a->block] >= depth;
}

/* A block before the loop that the block is in, and in the next one around it. NONE: it is in no loop. */
static uint32_t before_loop(const struct mg_cfg *cfg, const uint8_t *depth, const uint32_t *head, uint32_t block)
{
    const unsigned own = depth[block];
    uint32_t k = own ? head[block] : block;
    while (own && depth[k] >= own && cfg->blocks[k].idom != k)
        k = cfg->blocks[k].idom;
    return own && depth[k] < own ? k : NONE;
}

/* How often the loop is come to that the copy is in, and those around it. A block that nobody came to says nothing. */
static void enters(struct native *v, const struct anchor *a)
{
    const struct mg_time_function *f = v->b->functions;
    uint32_t block = a->block, ptx = v->ptx_block[a->insn];
    const double x = v->x[block];
    while (x > 0 && block != NONE && ptx != NONE && v->depth[block] && v->depth[block] == v->ptx_depth[ptx]) {
        if (v->entries[ptx] > 0)
            v->enters[v->head[block]] = MG_MAX(v->enters[v->head[block]], MG_MIN(v->entries[ptx], x));
        block = before_loop(v->cfg, v->depth, v->head, block);
        ptx = before_loop(f->cfg, v->ptx_depth, v->ptx_head, ptx);
    }
}

/* Whether the copy is a round that was peeled off: all who come to any of the others have been there. */
static bool is_peeled(const struct native *v, const struct anchor *a, uint32_t n, uint32_t at)
{
    bool peeled = !in_loop(v, &a[at]);
    for (uint32_t k = 0; k < n && peeled; k++)
        peeled = k == at || (a[k].block != a[at].block && mg__cfg_dominates(v->cfg, a[at].block, a[k].block));
    return peeled;
}

/* The copies of an instruction that stand in several blocks: a round that was peeled off comes first, then the largest
 * body, and what is not in the loop before what is. */
static void share_rounds(struct native *v, struct anchor *a, uint32_t n)
{
    double entries = v->entries[v->ptx_block[a->insn]], all = count(v, a->insn);
    uint32_t open = 0, copies = 0;
    for (uint32_t k = 0; k < n; k++) {
        if (v->x[a[k].block] >= 0)
            all -= v->x[a[k].block] * a[k].copies;
        else
            a[open++] = a[k];
    }
    all = MG_MAX(all, 0.0);
    uint32_t first = 0;
    for (uint32_t k = 0; k < open && !first && entries > 0; k++)
        if (is_peeled(v, a, open, k)) {
            struct anchor t = a[0];
            a[0] = a[k];
            a[k] = t;
            first = 1;
        }
    for (uint32_t k = first; k < open; k++)
        for (uint32_t j = k + 1; j < open; j++)
            if (a[j].copies > a[k].copies || (a[j].copies == a[k].copies && !in_loop(v, &a[j]) && in_loop(v, &a[k]))) {
                struct anchor t = a[k];
                a[k] = a[j];
                a[j] = t;
            }
    for (uint32_t k = 0; k < open; k++)
        copies += a[k].copies;
    for (uint32_t k = 0; k < open; k++) {
        double rounds = entries > 0 ? all / entries / a[k].copies : 0, x;
        if (entries <= 0)
            x = all / copies;
        else if (k + 1 == open)
            x = in_loop(v, &a[k]) ? all / a[k].copies : MG_MIN(all / a[k].copies, entries);
        else
            x = entries * (in_loop(v, &a[k]) ? floor(rounds + 1e-6) : rounds >= 1 - 1e-6);
        v->x[a[k].block] = x;
        enters(v, &a[k]);
        if (entries > 0)
            all = MG_MAX(all - x * a[k].copies, 0.0);
    }
}

/* Instructions that are in one block alone tell more than those that are in several. */
static void from_anchors(struct native *v, bool several)
{
    for (uint32_t k = 0, end; k < v->nanchors; k = end) {
        for (end = k + 1; end < v->nanchors && v->anchors[end].insn == v->anchors[k].insn; end++)
            ;
        struct anchor *a = &v->anchors[k];
        if (several && end > k + 1) {
            share_rounds(v, a, end - k);
        } else if (!several && end == k + 1) {
            v->x[a->block] = MG_MAX(v->x[a->block], count(v, a->insn) / a->copies);
            enters(v, a);
        }
    }
}

/* Instructions that are in one block alone. */
static bool find_only(struct native *v)
{
    v->only = mg__arena_array(&v->arena, (size_t)v->b->info->ninsns + 1, sizeof(*v->only));
    v->edges = mg__arena_array(&v->arena, 2 * (size_t)v->cfg->nblocks + 2, sizeof(*v->edges));
    if (!v->only || !v->edges)
        return false;
    for (uint32_t k = 0; k < v->n->n; k++) {
        uint32_t insn = v->insn[k], block = v->cfg->block_of[k];
        if (insn != NONE && v->cfg->blocks[block].reachable)
            v->only[insn] = v->only[insn] == 0 || v->only[insn] == block + 1 ? block + 1 : NONE;
    }
    for (uint32_t k = 0; k < 2 * v->cfg->nblocks; k++)
        v->edges[k] = -1;
    return true;
}

/* A function of ptxas' own for what hardly occurs: a quotient of floats outside the usual range. Of integers it is the
 * long way round. */
static bool rarely(const struct native *v, const struct mg_cfg_block *c)
{
    for (uint32_t k = c->first; k < c->end; k++)
        if (v->row[k]->kind == CALL && v->insn[k] != NONE && v->ops[v->insn[k]] && v->ops[v->insn[k]]->floats)
            return true;
    return false;
}

/* ---- flow ---- */
static double *edge(const struct native *v, uint32_t from, uint32_t to)
{
    const struct mg_cfg_block *c = &v->cfg->blocks[from];
    for (uint32_t s = 0; s < MG_MIN(c->nsucc, 2u); s++)
        if (c->succ[s] == to)
            return &v->edges[2 * (size_t)from + s];
    return NULL;
}

static bool leaks(const struct native *v, uint32_t block)
{
    const struct mg_cfg_block *c = &v->cfg->blocks[block];
    return c->nsucc == 0 || v->func.insns[c->end - 1].effects & MG_E_LEAVES;
}

static bool same_loop(const struct native *v, uint32_t a, uint32_t b)
{
    return v->depth[a] == v->depth[b] && (!v->depth[a] || v->head[a] == v->head[b]);
}

/* Blocks to which all come, once each time, that come to one above them in the same loop: it is on all their ways, as
 * these are on all its ways, and no warp leaves the kernel in between. */
static void find_joins(struct native *v)
{
    const struct mg_cfg *cfg = v->cfg;
    uint32_t nexits = 0;
    for (uint32_t k = 0; k < cfg->nblocks; k++) {
        v->joins[k] = NONE;
        if (cfg->blocks[k].reachable && cfg->blocks[k].nsucc && leaks(v, k))
            v->exits[nexits++] = k;
    }
    for (uint32_t b = 1; b < cfg->nblocks && (uint64_t)nexits * cfg->nblocks <= MOST_EXITS; b++) {
        uint32_t above = cfg->blocks[b].idom, behind;
        while (above != cfg->blocks[above].idom && !same_loop(v, above, b))
            above = cfg->blocks[above].idom;
        bool joins = cfg->blocks[b].reachable && above != b && same_loop(v, above, b);
        for (behind = above; joins && behind != b && behind != MG_CFG_EXIT;)
            behind = cfg->blocks[behind].ipdom;
        joins = joins && behind == b;
        for (uint32_t k = 0; k < nexits && joins; k++)
            joins = !mg__cfg_dominates(cfg, above, v->exits[k]) || mg__cfg_dominates(cfg, b, v->exits[k]);
        v->joins[b] = joins ? above : NONE;
    }
}

/* Of edges into a block or out of it: how much is known of them, and the one that is not, where there is one. */
struct edges {
    double sum;
    double *open;
    unsigned nopen, n;
};

static void see_edge(struct edges *e, double *at)
{
    e->n++;
    if (!at || *at < 0) {
        e->open = at;
        e->nopen++;
    } else {
        e->sum += *at;
    }
}

static bool set_edge(double *at, double value)
{
    if (!at || *at >= 0)
        return false;
    *at = MG_MAX(value, 0.0);
    return true;
}

/* How many of its two ways a warp goes at the block's end, on average: both, one after the other, where its lanes part.
 * Lanes that leave a loop wait for those that go round. */
static double ways(const struct native *v, uint32_t block)
{
    const struct mg_cfg_block *c = &v->cfg->blocks[block];
    const uint32_t last = c->end - 1, insn = c->nsucc == 2 && v->row[last]->kind == BRANCH ? v->insn[last] : NONE;
    bool loop = false;
    for (uint32_t s = 0; s < 2 && insn != NONE; s++)
        loop |= mg__cfg_dominates(v->cfg, c->succ[s], block) || v->depth[c->succ[s]] < v->depth[block];
    if (insn == NONE || loop || count(v, insn) <= 0)
        return 1;
    return 1 + MG_MIN((double)v->b->counts[insn].divergent / count(v, insn), 1.0);
}

/* What can be told of one block and the edges at it from the others. */
static bool settle(struct native *v, uint32_t b)
{
    const struct mg_cfg_block *c = &v->cfg->blocks[b];
    struct edges in = {0}, out = {0}, enter = {0};
    bool more = false;
    for (uint32_t p = 0; p < c->npred; p++) {
        double *e = edge(v, c->pred[p], b);
        if (!v->cfg->blocks[c->pred[p]].reachable)
            continue;
        if (c->npred == 1 && v->x[b] >= 0 && v->cfg->blocks[c->pred[p]].nsucc == 2)
            more |= set_edge(e, v->x[b]);
        else if (v->cfg->blocks[c->pred[p]].nsucc == 1 && v->x[c->pred[p]] >= 0 && !leaks(v, c->pred[p]))
            more |= set_edge(e, v->x[c->pred[p]]);
        see_edge(&in, e);
        if (!mg__cfg_dominates(v->cfg, b, c->pred[p]))
            see_edge(&enter, e);
    }
    for (uint32_t s = 0; s < MG_MIN(c->nsucc, 2u); s++)
        see_edge(&out, &v->edges[2 * (size_t)b + s]);
    if (v->enters[b] >= 0 && enter.nopen == 1)
        more |= set_edge(enter.open, v->enters[b] - enter.sum);
    if (v->x[b] >= 0) {
        for (uint32_t s = 0; s < MG_MIN(c->nsucc, 2u) && v->x[b] == 0; s++)
            more |= set_edge(&v->edges[2 * (size_t)b + s], 0);
        for (uint32_t p = 0; p < c->npred && v->x[b] == 0; p++)
            more |= set_edge(edge(v, c->pred[p], b), 0);
        if (b && in.nopen == 1 && !v->meets[b])
            more |= set_edge(in.open, v->x[b] - in.sum);
        if (out.nopen == 1 && !leaks(v, b))
            more |= set_edge(out.open, v->x[b] * ways(v, b) - out.sum);
        return more;
    }
    uint32_t above = c->idom;
    bool joins = v->cfg->blocks[above].ipdom == b && v->depth[above] == v->depth[b] && v->x[above] >= 0;
    if (v->joins[b] != NONE && v->x[v->joins[b]] >= 0)
        v->x[b] = v->x[v->joins[b]];
    else if (b && in.n && !in.nopen)
        v->x[b] = joins ? MG_MIN(in.sum, v->x[above]) : in.sum; /* lanes that were apart come together */
    else if (out.n && !out.nopen && !leaks(v, b))
        v->x[b] = out.sum / ways(v, b);
    return v->x[b] >= 0;
}

/* A block that all come through on their way to another one of the same loop is executed as often at least. */
static void find_least(struct native *v)
{
    for (uint32_t b = 0; b < v->cfg->nblocks; b++)
        for (uint32_t k = b; v->cfg->blocks[b].reachable && v->x[b] > 0 && v->cfg->blocks[k].idom != k;) {
            k = v->cfg->blocks[k].idom;
            if (!same_loop(v, k, b))
                continue;
            if (v->least[k] >= v->x[b])
                break;
            v->least[k] = v->x[b];
        }
}

/* What nothing tells: what instructions say that are in no other block, or an equal part of what comes. */
static double guess(const struct native *v, uint32_t b)
{
    const struct mg_cfg_block *c = &v->cfg->blocks[b];
    double most = -1, sum = 0;
    for (uint32_t k = c->first; k < c->end; k++)
        if (v->insn[k] != NONE && v->only[v->insn[k]] == b + 1)
            most = MG_MAX(most, count(v, v->insn[k]));
    for (uint32_t p = 0; p < c->npred; p++) {
        const double *e = edge(v, c->pred[p], b);
        sum += e && *e >= 0
                   ? *e
                   : MG_MAX(v->x[c->pred[p]], 0.0) * ways(v, c->pred[p]) / MG_MAX(v->cfg->blocks[c->pred[p]].nsucc, 1u);
    }
    return MG_MAX(most >= 0 ? most : sum, v->least[b]);
}

static void settle_all(struct native *v)
{
    for (bool more = true; more;) {
        more = false;
        for (uint32_t b = 0; b < v->cfg->nblocks; b++)
            more |= v->cfg->blocks[b].reachable && settle(v, b);
    }
}

static void find_counts(struct native *v)
{
    const struct mg_cfg *cfg = v->cfg;
    find_joins(v);
    for (uint32_t b = 0; b < cfg->nblocks; b++)
        if (cfg->blocks[b].reachable && cfg->blocks[b].ipdom < cfg->nblocks)
            v->meets[cfg->blocks[b].ipdom] |= ways(v, b) > 1.01;
    from_anchors(v, false);
    for (unsigned pass = 0; pass < 2; pass++) /* one that ptxas made several of tells too little */
        for (uint32_t b = 0; b < cfg->nblocks; b++) {
            double *x = &v->x[b], *above = v->joins[b] != NONE ? &v->x[v->joins[b]] : x;
            if (*x >= 0 && *above >= 0)
                *x = *above = MG_MAX(*x, *above);
        }
    v->x[0] = v->depth[0] ? v->x[0] : v->b->warps;
    for (uint32_t b = 0; b < cfg->nblocks; b++)
        if (v->x[b] < 0 && rarely(v, &cfg->blocks[b]))
            v->x[b] = 0;
    settle_all(v);
    from_anchors(v, true);
    settle_all(v);
    find_least(v);
    for (bool open = true; open;) {
        settle_all(v);
        open = false;
        for (uint32_t b = 0; b < cfg->nblocks && !open; b++) {
            open = v->x[b] < 0 && cfg->blocks[b].reachable;
            if (open)
                v->x[b] = guess(v, b);
        }
    }
    for (uint32_t b = 0; b < cfg->nblocks; b++)
        v->x[b] = MG_MIN(MG_MAX(v->x[b], 0.0), MOST_TIMES);
}

/* Where warps go at the end of a block, as the edges say. */
static void set_ways(const struct native *v, uint32_t at, struct mg_time_block *block)
{
    const double *way = &v->edges[2 * (size_t)at], n = v->x[at];
    const struct mg_cfg_block *c = &v->cfg->blocks[at];
    if (block->nsucc == 1 && leaks(v, at) && way[0] >= 0 && n > 0) /* the others have left the kernel */
        block->rare = MG_MAX(1 - way[0] / n, 0.0);
    if (block->nsucc != 2 || way[0] < 0 || way[1] < 0 || n <= 0)
        return;
    bool back = mg__cfg_dominates(v->cfg, c->succ[0], at) || mg__cfg_dominates(v->cfg, c->succ[1], at);
    double all = way[0] + way[1], both = back ? 0 : MG_MAX(all - n, 0.0);
    block->rare_at = way[1] < way[0];
    block->rare = way[block->rare_at] / (both > 0 ? n : all);
    block->both = way[block->rare_at] > 0 ? MG_MIN(both / way[block->rare_at], 1.0) : 0;
}

/* Whether the anchors are executed as often as they were, and most of what accesses memory is among them. */
static bool is_right(const struct native *v)
{
    double off = 0, all = 0, here = 0, made = 0;
    for (uint32_t i = 0; i < v->b->info->ninsns; i++)
        if (v->ops[i] && v->ops[i]->access && !is_constant(v, i)) { /* constants may be parts of operands */
            made += count(v, i);
            here += v->pieces[i] ? count(v, i) : 0;
        }
    for (uint32_t k = 0, end; k < v->nanchors; k = end) {
        double sum = 0, n = count(v, v->anchors[k].insn);
        bool guards = false;
        for (end = k; end < v->nanchors && v->anchors[end].insn == v->anchors[k].insn; end++) {
            sum += v->x[v->anchors[end].block] * v->anchors[end].copies;
            guards |= v->anchors[end].guarded;
        }
        off += guards && sum > n ? 0 : fabs(sum - n);
        all += n;
    }
    return off <= WRONG * all && here >= made / 2;
}

/* Of an access that hangs on a predicate, which part is made. */
static double part_of(const struct native *v, uint32_t insn)
{
    double sum = 0;
    uint32_t low = 0, high = v->nanchors;
    while (low < high) { /* they stand by instruction */
        uint32_t middle = (low + high) / 2;
        if (v->anchors[middle].insn < insn)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < v->nanchors && v->anchors[low].insn == insn; low++)
        sum += v->x[v->anchors[low].block] * v->anchors[low].copies;
    return sum > 0 ? MG_MIN(count(v, insn) / sum, 1.0) : 1;
}

/* ---- code ---- */
static void make_op(const struct native *v, uint32_t k, uint32_t insn, struct mg_time_op *op)
{
    const uint64_t *word = v->n->words[k];
    const struct row *row = v->row[k];
    const struct mg_time_op *ptx = v->insn[k] != NONE ? v->ops[v->insn[k]] : NULL;
    *op = (struct mg_time_op){.insn = insn,
                              .pipe = row->pipe,
                              .slots = 1,
                              .interval = row->interval,
                              .latency = row->latency,
                              .call = UINT32_MAX,
                              .native = true,
                              .made = 1};
    op->stall = (uint8_t)MG_MAX(bits(word[1], 41, 4), 1u);
    op->sets = (uint8_t)bits(word[1], 46, 3);
    op->frees = (uint8_t)bits(word[1], 49, 3);
    op->waits = (uint8_t)bits(word[1], 52, 6);
    if (ptx && (row->kind == MEMORY || (row->kind == CONSTANT && same_work(v, k)))) {
        op->insn = carrier(v, v->insn[k]);
        const struct mg_time_op *of = v->ops[op->insn];
        op->access = of->access || of->copies == MG_TIME_COPIES_BEGIN;
        op->orders = of->orders;
        op->floats = of->floats;
        op->swaps = of->swaps;
        op->lock = of->lock;
        op->copies = of->copies;
        op->made = guarded(word) ? (float)part_of(v, v->insn[k]) : 1;
        op->made /= (float)MG_MAX(v->pieces[v->insn[k]], 1);
    } else if (row->kind == BARRIER) {
        op->barrier = ptx && ptx->barrier;
    } else if (row->kind == COPIES && ptx) {
        op->copies = ptx->copies;
        op->pending = ptx->pending;
    } else if ((row->kind == FENCE || row->kind == MATCHES) && ptx) {
        op->latency = ptx->latency;
        op->fence = ptx->fence;
        op->membar = ptx->membar;
    } else if (row->kind == CALL) {
        op->slots = SLOW;
        op->latency = SLOW_LATENCY;
    }
}

static bool make_code(struct native *v, struct mg_time_code *code)
{
    const struct mg_launch_info *info = v->b->info;
    const struct mg_cfg *cfg = v->cfg;
    struct mg_insn_counts *counts = mg__arena_array(&v->arena, (size_t)v->n->n + 1, sizeof(*counts));
    struct mg_time_function function = {.func = &v->func, .cfg = v->cfg};
    struct mg_time_builder b = {.info = info,
                                .counts = counts,
                                .code = code,
                                .functions = &function,
                                .nfunctions = 1,
                                .warps = v->b->warps * SCALE};
    code->ops = mg__arena_array(&code->arena, (size_t)v->n->n + 1, sizeof(*code->ops));
    code->blocks = mg__arena_array(&code->arena, (size_t)cfg->nblocks + 1, sizeof(*code->blocks));
    code->regs = mg__arena_array(&code->arena, 1, sizeof(*code->regs));
    if (!counts || !code->ops || !code->blocks || !code->regs)
        return false;
    code->nblocks = cfg->nblocks;
    code->native = true;
    uint32_t last = 0;
    for (uint32_t k = 0; k < v->n->n; k++) {
        last = v->insn[k] != NONE ? v->insn[k] : last;
        make_op(v, k, last, &code->ops[code->nops++]);
        counts[k].warps = (uint64_t)(v->x[cfg->block_of[k]] * SCALE + 0.5);
        if (v->row[k]->kind == BRANCH && v->insn[k] != NONE)
            counts[k].divergent = v->b->counts[v->insn[k]].divergent * SCALE;
    }
    for (uint32_t k = 0; k < cfg->nblocks; k++)
        mg__time_shape(&b, &function, k);
    for (uint32_t k = 0; k < cfg->nblocks; k++)
        set_ways(v, k, &code->blocks[k]);
    return mg__time_rounds(&b, &function);
}

static bool prepare(struct native *v)
{
    const struct mg_time_native *n = v->n;
    v->row = mg__arena_array(&v->arena, (size_t)n->n + 1, sizeof(*v->row));
    v->insn = mg__arena_array(&v->arena, (size_t)n->n + 1, sizeof(*v->insn));
    if (!v->row || !v->insn || !n->n || !index_lines(v))
        return false;
    for (uint32_t o = 0; o < v->ptx->nops; o++)
        if (v->ptx->ops[o].swaps) /* a loop that PTX does not have */
            return false;
    for (uint32_t k = 0; k < n->n; k++) {
        v->row[k] = row_of(bits(n->words[k][0], 0, 9));
        if (!v->row[k])
            return false;
        v->insn[k] = insn_at(v, n->lines[k], (enum kind)v->row[k]->kind);
    }
    if (!make_graph(v))
        return false;
    v->x = mg__arena_array(&v->arena, (size_t)v->cfg->nblocks + 1, sizeof(*v->x));
    v->enters = mg__arena_array(&v->arena, (size_t)v->cfg->nblocks + 1, sizeof(*v->enters));
    v->least = mg__arena_array(&v->arena, (size_t)v->cfg->nblocks + 1, sizeof(*v->least));
    v->head = mg__arena_array(&v->arena, (size_t)v->cfg->nblocks + 1, sizeof(*v->head));
    v->joins = mg__arena_array(&v->arena, (size_t)v->cfg->nblocks + 1, sizeof(*v->joins));
    v->exits = mg__arena_array(&v->arena, (size_t)v->cfg->nblocks + 1, sizeof(*v->exits));
    v->meets = mg__arena_alloc(&v->arena, (size_t)v->cfg->nblocks + 1);
    v->depth = mg__arena_alloc(&v->arena, (size_t)v->cfg->nblocks + 1);
    v->ptx_head = mg__arena_array(&v->arena, (size_t)v->ptx->nblocks + 1, sizeof(*v->ptx_head));
    v->ptx_depth = mg__arena_alloc(&v->arena, (size_t)v->ptx->nblocks + 1);
    v->entries = mg__arena_array(&v->arena, (size_t)v->ptx->nblocks + 1, sizeof(*v->entries));
    if (!v->x || !v->least || !v->joins || !v->exits || !v->meets || !v->depth || !v->ptx_depth)
        return false;
    if (!v->entries || !v->enters || !v->head || !v->ptx_head ||
        !mg__time_loops(v->b, NULL, v->cfg, v->depth, NULL, v->head))
        return false;
    for (size_t i = 0; i < v->b->nfunctions; i++) {
        const struct mg_time_function *f = &v->b->functions[i];
        if (!mg__time_loops(v->b, f, f->cfg, v->ptx_depth + f->block, v->entries + f->block, v->ptx_head + f->block))
            return false;
    }
    for (uint32_t k = 0; k < v->cfg->nblocks; k++)
        v->x[k] = v->enters[k] = -1;
    return find_anchors(v);
}

struct mg_time_code *mg__time_native_code(struct mg_time_builder *b, const struct mg_time_native *n)
{
    struct native v = {.b = b, .ptx = b->code, .n = n};
    struct mg_time_code *code = calloc(1, sizeof(*code));
    mg__arena_init(&v.arena);
    bool good = code && b->info->device_cc == 90 && b->nfunctions == 1;
    if (code)
        mg__arena_init(&code->arena);
    good = good && prepare(&v);
    good = good && find_only(&v);
    if (good) {
        find_counts(&v);
        good = is_right(&v) && make_code(&v, code);
    }
    mg__cfg_free(v.cfg);
    mg__arena_free(&v.arena);
    if (!good) {
        mg__time_code_free(code);
        return NULL;
    }
    return code;
}
