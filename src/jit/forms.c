/* forms.c - what is found out of a kernel before code is made of it: which slots are registers, where basic blocks
 * begin, what is live, and which registers have lanes on a line.
 *
 * A register's form at a place is the weakest of all ways there. Forms only weaken (a constant coefficient becomes a
 * value, a line becomes a vector), so that the walk over the blocks ends. What an operation makes of lines: lines.c.
 */
#include "jit/gen.h"

/* ---- registers ---- */
static unsigned class_of(unsigned bytes)
{
    return bytes == 0 ? 0 : bytes == 4 ? 1 : 2;
}

uint32_t mg__gen_var(const struct mg_gen *g, int32_t slot, unsigned bytes)
{
    if (slot < 0 || (uint32_t)slot >= g->p->pool_at)
        return UINT32_MAX;
    return g->var_of[(uint32_t)slot / 4 * 3 + class_of(bytes)] - 1;
}

static bool collect(struct mg_gen *g, const struct mg_engine_operand *o, unsigned n)
{
    for (unsigned k = 0; k < n; k++) {
        if ((uint32_t)o[k].slot >= g->p->pool_at)
            continue;
        uint32_t *v = &g->var_of[(uint32_t)o[k].slot / 4 * 3 + class_of(o[k].bytes)];
        if (*v == 0) {
            g->vars[g->nvars] = (struct mg_gen_var){.slot = o[k].slot, .bytes = o[k].bytes};
            *v = ++g->nvars;
        }
    }
    return true;
}

static bool is_fill(const struct mg_gen *g, int32_t slot)
{
    for (uint32_t k = 0; k < g->p->nfills; k++)
        if (g->p->fills[k].slot == slot)
            return true;
    return false;
}

/* A constant that is the same in every process: device addresses are not. */
bool mg__gen_constant(const struct mg_gen *g, int32_t slot, unsigned bytes, int64_t *value)
{
    if (slot < 0 || (uint32_t)slot < g->p->pool_at || is_fill(g, slot))
        return false;
    uint32_t at = (uint32_t)slot - g->p->pool_at;
    if (at + MG_MAX(bytes, 4u) > g->p->pool_bytes)
        return false;
    int32_t v32;
    int64_t v64;
    memcpy(&v32, g->p->pool + at, 4);
    *value = v32;
    if (bytes == 8) {
        memcpy(&v64, g->p->pool + at, 8);
        *value = v64;
        return (uint64_t)v64 < (uint64_t)1 << 32 || (uint64_t)v64 >= (uint64_t)-1 << 32;
    }
    return true;
}

static struct mg_gen_form line(int64_t kx, int64_t ky, uint32_t zeros)
{
    return (struct mg_gen_form){.reached = true, .kx = kx, .ky = ky, .zeros = zeros};
}

static struct mg_gen_form fill_form(const struct mg_gen *g, const struct mg_engine_fill *f)
{
    const uint32_t row = g->p->row, up = g->row == 32 ? 0 : g->row; /* the block's rows; y's step in a whole one */
    if (f->kind == MG_ENGINE_FILL_LANEID)
        return line(1, up, MG_GEN_ZERO);
    if (f->kind == MG_ENGINE_FILL_WIDTH)
        return line(0, 0, row && !(row == 32 && g->p->ragged) ? mg__gen_log2(row) : 0);
    if (f->kind == MG_ENGINE_FILL_UNIFORM || f->kind == MG_ENGINE_FILL_BLOCK || (row && f->dim == 2))
        return line(0, 0, 0);
    if (row == 0)
        return mg__gen_no_line();
    if (row == 32) /* warps begin at multiples of 32 */
        return f->dim == 0 ? line(1, up, 5) : line(0, 0, 0);
    return f->dim == 0 ? line(1, 0, MG_GEN_ZERO) : line(0, 1, mg__gen_log2(32 / row)); /* and at whole rows */
}

struct mg_gen_form mg__gen_form(const struct mg_gen *g, const struct mg_gen_form *forms, int32_t slot, unsigned bytes)
{
    uint32_t v = mg__gen_var(g, slot, bytes);
    int64_t c;
    if (v != UINT32_MAX)
        return forms[v];
    for (uint32_t k = 0; k < g->p->nfills; k++)
        if (g->p->fills[k].slot == slot)
            return fill_form(g, &g->p->fills[k]);
    const bool known = mg__gen_constant(g, slot, bytes, &c);
    if (bytes == 0)
        return known && c != 0 && c != -1 ? mg__gen_no_line() : line(0, 0, 0);
    return line(0, 0, known ? mg__gen_low_zeros((uint64_t)c) : 0);
}

struct mg_gen_form mg__gen_meet(struct mg_gen_form a, struct mg_gen_form b)
{
    if (!a.reached)
        return b;
    if (!b.reached)
        return a;
    if (a.vector || b.vector)
        return mg__gen_no_line();
    if (a.dx || b.dx || a.kx != b.kx)
        a.dx = true, a.kx = 0;
    if (a.dy || b.dy || a.ky != b.ky)
        a.dy = true, a.ky = 0;
    a.zeros = MG_MIN(a.zeros, b.zeros);
    return a;
}

/* ---- forms of results ---- */
struct mg_gen_form mg__gen_result(const struct mg_gen *g, const struct mg_engine_op *op,
                                  const struct mg_gen_form *forms)
{
    bool uniform = true;
    for (unsigned k = 0; k < op->nin; k++)
        uniform &= mg__gen_uniform(mg__gen_form(g, forms, op->in[k].slot, op->in[k].bytes));
    switch (op->kind) {
    case MG_ENGINE_ALU:
        return mg__gen_alu_form(g, op, forms);
    case MG_ENGINE_MOV:
        return mg__gen_form(g, forms, op->in[0].slot, op->in[0].bytes);
    case MG_ENGINE_SETP: case MG_ENGINE_PACK: case MG_ENGINE_UNPACK:
        return uniform ? line(0, 0, 0) : mg__gen_no_line();
    case MG_ENGINE_LOAD:
        return uniform ? line(0, 0, 0) : mg__gen_no_line();
    case MG_ENGINE_CALL:
        if (op->known)
            return fill_form(g, &(struct mg_engine_fill){.kind = op->known, .dim = op->dim});
        return uniform && op->effects & MG_ENGINE_SAME ? line(0, 0, 0) : mg__gen_no_line();
    default:
        return mg__gen_no_line();
    }
}

void mg__gen_step(const struct mg_gen *g, uint32_t i, struct mg_gen_form *forms)
{
    const struct mg_engine_op *op = &g->p->ops[i];
    if (op->nout == 0)
        return;
    struct mg_gen_form f = mg__gen_result(g, op, forms);
    bool guarded = i > 0 && g->p->ops[i - 1].kind == MG_ENGINE_GUARD;
    bool some = guarded && !mg__gen_uniform(mg__gen_form(g, forms, g->p->ops[i - 1].guard, 0));
    for (unsigned k = 0; k < op->nout; k++) {
        uint32_t v = mg__gen_var(g, op->out[k].slot, op->out[k].bytes);
        if (v == UINT32_MAX)
            continue;
        struct mg_gen_form new = some ? mg__gen_no_line() : f;
        forms[v] = guarded ? mg__gen_meet(forms[v].reached ? forms[v] : mg__gen_no_line(), new) : new;
    }
}

/* ---- liveness ---- */
bool mg__gen_is_live(const uint64_t *live, uint32_t var)
{
    return live[var / 64] >> (var % 64) & 1;
}

void mg__gen_live_step(const struct mg_gen *g, uint32_t i, uint64_t *live)
{
    const struct mg_engine_op *op = &g->p->ops[i];
    bool guarded = i > 0 && g->p->ops[i - 1].kind == MG_ENGINE_GUARD;
    for (unsigned k = 0; k < op->nout && !guarded; k++) {
        uint32_t v = mg__gen_var(g, op->out[k].slot, op->out[k].bytes);
        if (v != UINT32_MAX)
            live[v / 64] &= ~((uint64_t)1 << (v % 64));
    }
    for (unsigned k = 0; k < op->nin; k++) {
        uint32_t v = mg__gen_var(g, op->in[k].slot, op->in[k].bytes);
        if (v != UINT32_MAX)
            live[v / 64] |= (uint64_t)1 << (v % 64);
    }
}

/* What is live before the op, if a block begins there. */
static bool join_live(const struct mg_gen *g, uint32_t op, uint64_t *live)
{
    uint32_t b = g->block_at[op];
    for (uint32_t w = 0; b && w < g->words; w++)
        live[w] |= g->blocks[b - 1].live[w];
    return b != 0;
}

void mg__gen_lives(struct mg_gen *g, const struct mg_gen_block *b)
{
    uint32_t n = b->end - b->first;
    uint64_t *at = g->lives + (size_t)n * g->words;
    memset(at, 0, g->words * sizeof *at);
    const struct mg_engine_op *last = &g->p->ops[b->end - 1];
    if (last->falls && b->end < g->p->nops)
        join_live(g, b->end, at);
    if (last->kind == MG_ENGINE_BRANCH)
        join_live(g, last->target, at);
    for (uint32_t k = 0; last->kind == MG_ENGINE_LEAVE && k < last->ntargets; k++)
        join_live(g, last->targets[k], at);
    for (uint32_t i = n; i-- > 0;) {
        memcpy(g->lives + (size_t)i * g->words, g->lives + (size_t)(i + 1) * g->words, g->words * sizeof *at);
        mg__gen_live_step(g, b->first + i, g->lives + (size_t)i * g->words);
    }
}


static bool liveness(struct mg_gen *g)
{
    uint64_t *now = mg__arena_array(&g->arena, g->words, sizeof *now);
    bool changed = now != NULL;
    while (changed) {
        changed = false;
        for (uint32_t b = g->nblocks; b-- > 0;) {
            struct mg_gen_block *block = &g->blocks[b];
            memset(now, 0, g->words * sizeof *now);
            if (block->end < g->p->nops && g->p->ops[block->end - 1].falls)
                join_live(g, block->end, now);
            for (uint32_t i = block->end; i-- > block->first;) {
                const struct mg_engine_op *op = &g->p->ops[i];
                if (op->kind == MG_ENGINE_BRANCH)
                    join_live(g, op->target, now);
                for (uint32_t k = 0; op->kind == MG_ENGINE_LEAVE && k < op->ntargets; k++)
                    join_live(g, op->targets[k], now);
                mg__gen_live_step(g, i, now);
            }
            for (uint32_t w = 0; w < g->words; w++) {
                changed |= (now[w] & ~block->live[w]) != 0;
                block->live[w] |= now[w];
            }
        }
    }
    return now != NULL;
}

/* ---- blocks and forms ---- */
static bool flow_to(struct mg_gen *g, uint32_t op, const struct mg_gen_form *forms)
{
    struct mg_gen_block *b = &g->blocks[g->block_at[op] - 1];
    bool changed = !b->reached;
    b->reached = true;
    for (uint32_t v = 0; v < g->nvars; v++) {
        struct mg_gen_form m = mg__gen_meet(b->in[v], forms[v]);
        changed |= memcmp(&m, &b->in[v], sizeof m) != 0;
        b->in[v] = m;
    }
    return changed;
}

/* Where the interpreter may bring a warp back, besides barriers. */
static bool comes_back(const struct mg_gen *g, uint32_t op)
{
    return g->block_at[op] && g->p->ops[op].kind == MG_ENGINE_BLOCK;
}

/* A loop that is nothing but arithmetic and accesses: the warp stays in it. */
static bool tight(const struct mg_gen *g, const struct mg_gen_block *from, uint32_t to)
{
    for (uint32_t i = from->first; i < g->blocks[to].end; i++)
        if (g->p->ops[i].kind == MG_ENGINE_CALL || g->p->ops[i].kind == MG_ENGINE_BARRIER)
            return false;
    return true;
}

/* The forms at the beginning of each block, and what is found on the way there. */
static void spread(struct mg_gen *g, struct mg_gen_form *forms)
{
    g->blocks[0].reached = true;
    for (uint32_t v = 0; v < g->nvars; v++)
        if (mg__gen_is_live(g->blocks[0].live, v))
            g->blocks[0].in[v] = mg__gen_no_line();
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = 0; b < g->nblocks; b++) {
            struct mg_gen_block *block = &g->blocks[b];
            if (!block->reached)
                continue;
            memcpy(forms, block->in, g->nvars * sizeof *forms);
            for (uint32_t i = block->first; i < block->end; i++) {
                const struct mg_engine_op *op = &g->p->ops[i];
                mg__gen_step(g, i, forms);
                if (op->kind == MG_ENGINE_BRANCH) {
                    changed |= flow_to(g, op->target, forms);
                    block->diverges = op->falls && !mg__gen_uniform(mg__gen_form(g, forms, op->guard, 0));
                    if (op->target <= i) {
                        struct mg_gen_block *head = &g->blocks[g->block_at[op->target] - 1];
                        head->loop = true;
                        head->latch = MG_MAX(head->latch, b);
                    }
                } else if (op->kind == MG_ENGINE_LEAVE) {
                    for (uint32_t k = 0; k < op->ntargets; k++)
                        changed |= flow_to(g, op->targets[k], forms);
                }
            }
            const struct mg_engine_op *last = &g->p->ops[block->end - 1];
            if (last->falls && block->end < g->p->nops) {
                changed |= flow_to(g, block->end, forms);
                g->blocks[b + 1].entry |= last->kind == MG_ENGINE_BARRIER;
                g->blocks[b + 1].maybe |= last->kind == MG_ENGINE_LEAVE;
            }
        }
    }
}

/* Rows that most operations ask for which take a line apart in the midst of a warp, as threadIdx.x % 16 does. */
static uint32_t rows_wanted(const struct mg_gen *g, struct mg_gen_form *forms)
{
    uint32_t votes[5] = {0}, best = 0; /* by the logarithm */
    for (uint32_t b = 0; b < g->nblocks; b++) {
        memcpy(forms, g->blocks[b].in, g->nvars * sizeof *forms);
        for (uint32_t i = g->blocks[b].first; i < g->blocks[b].end && g->blocks[b].reached; i++) {
            const unsigned rows = mg__gen_rows_for(g, &g->p->ops[i], forms);
            if (rows)
                votes[mg__gen_log2(rows)]++;
            mg__gen_step(g, i, forms);
        }
    }
    for (uint32_t k = 0; k < MG_COUNT(votes); k++)
        best = votes[k] && votes[k] >= votes[best] ? k : best;
    return best ? 1u << best : g->row;
}

static bool flow(struct mg_gen *g)
{
    struct mg_gen_form *forms = mg__arena_array(&g->arena, g->nvars + 1, sizeof *forms);
    if (!forms)
        return false;
    spread(g, forms);
    const uint32_t row = g->p->row == 32 ? rows_wanted(g, forms) : g->row;
    if (row != g->row) {
        g->own_row = g->row = row;
        for (uint32_t b = 0; b < g->nblocks; b++) {
            g->blocks[b].reached = false;
            memset(g->blocks[b].in, 0, g->nvars * sizeof *forms);
        }
        spread(g, forms);
    }
    mg__gen_regions(g);
    for (uint32_t b = 0; b < g->nblocks; b++) {
        const struct mg_engine_op *op = &g->p->ops[g->blocks[b].end - 1];
        if (g->blocks[b].diverges && !g->blocks[b].parts && op->meet >= 0 && comes_back(g, (uint32_t)op->meet))
            g->blocks[g->block_at[op->meet] - 1].maybe = true;
    }
    for (uint32_t b = 0, last = 0; b < g->nblocks; b++) {
        g->blocks[b].entry |=
            g->blocks[b].maybe && (g->p->nops <= MG_GEN_SMALL || g->blocks[b].first - last >= MG_GEN_APART);
        last = g->blocks[b].entry ? g->blocks[b].first : last;
    }
    for (uint32_t b = g->nblocks; b-- > 0;) { /* one way into a loop is enough */
        bool other = false;
        for (uint32_t in = b; in <= g->blocks[b].latch && g->blocks[b].loop; in++)
            g->blocks[in].inside |= tight(g, &g->blocks[b], g->blocks[b].latch);
        for (uint32_t in = b + 1; in <= g->blocks[b].latch && g->blocks[b].loop; in++)
            other |= g->blocks[in].entry;
        g->blocks[b].entry |= g->blocks[b].loop && !other;
    }
    return true;
}

/* ---- addresses that were loaded ----
 * Lanes that each load their own index, as a gather does, hardly ever lie one behind the other: nobody looks. */
static bool is_loaded(const struct mg_gen *g, const struct mg_engine_operand *o, const uint64_t *loaded)
{
    const uint32_t v = o->bytes ? mg__gen_var(g, o->slot, o->bytes) : UINT32_MAX;
    return v != UINT32_MAX && mg__gen_is_live(loaded, v);
}

static void load_step(const struct mg_gen *g, uint32_t i, const struct mg_gen_form *forms, uint64_t *loaded)
{
    const struct mg_engine_op *op = &g->p->ops[i];
    bool any = (op->kind == MG_ENGINE_LOAD || op->effects & MG_ENGINE_ACCESS) && mg__gen_result(g, op, forms).vector;
    for (unsigned k = 0; k < op->nin && op->kind != MG_ENGINE_CALL && op->kind != MG_ENGINE_LOAD; k++)
        any |= is_loaded(g, &op->in[k], loaded);
    for (unsigned k = 0; k < op->nout; k++) {
        const uint32_t v = mg__gen_var(g, op->out[k].slot, op->out[k].bytes);
        const uint64_t bit = v == UINT32_MAX ? 0 : (uint64_t)1 << (v % 64);
        if (any)
            loaded[v / 64 * (bit != 0)] |= bit;
        else if (i == 0 || g->p->ops[i - 1].kind != MG_ENGINE_GUARD)
            loaded[v / 64 * (bit != 0)] &= ~bit;
    }
}

static bool loaded_to(struct mg_gen *g, uint32_t op, const uint64_t *loaded)
{
    uint64_t *to = g->blocks[g->block_at[op] - 1].loaded, more = 0;
    for (uint32_t w = 0; w < g->words; w++) {
        more |= loaded[w] & ~to[w];
        to[w] |= loaded[w];
    }
    return more != 0;
}

static bool find_far(struct mg_gen *g)
{
    uint64_t *now = mg__arena_array(&g->arena, g->words, sizeof *now);
    g->far = mg__arena_array(&g->arena, g->p->nops + 1, sizeof *g->far);
    bool changed = now && g->far;
    for (uint32_t b = 0; b < g->nblocks && changed; b++)
        changed = (g->blocks[b].loaded = mg__arena_array(&g->arena, g->words, sizeof *now)) != NULL;
    const bool good = changed;
    while (changed) {
        changed = false;
        for (uint32_t b = 0; b < g->nblocks; b++) {
            const struct mg_gen_block *block = &g->blocks[b];
            if (!block->reached)
                continue;
            memcpy(now, block->loaded, g->words * sizeof *now);
            memcpy(g->form, block->in, g->nvars * sizeof *g->form);
            for (uint32_t i = block->first; i < block->end; i++) {
                const struct mg_engine_op *op = &g->p->ops[i];
                if (op->kind == MG_ENGINE_LOAD || op->kind == MG_ENGINE_STORE || op->effects & MG_ENGINE_UNHEARD)
                    g->far[i] = is_loaded(g, &op->in[0], now);
                load_step(g, i, g->form, now);
                mg__gen_step(g, i, g->form);
                if (op->kind == MG_ENGINE_BRANCH)
                    changed |= loaded_to(g, op->target, now);
                for (uint32_t k = 0; op->kind == MG_ENGINE_LEAVE && k < op->ntargets; k++)
                    changed |= loaded_to(g, op->targets[k], now);
            }
            if (g->p->ops[block->end - 1].falls && block->end < g->p->nops)
                changed |= loaded_to(g, block->end, now);
        }
    }
    return good;
}

bool mg__gen_analyse(struct mg_gen *g)
{
    const struct mg_engine_program *p = g->p;
    uint32_t operands = 0;
    g->own_row = g->row = p->row ? p->row : 32;
    for (uint32_t i = 0; i < p->nops; i++)
        operands += p->ops[i].nin + p->ops[i].nout;
    g->vars = mg__arena_array(&g->arena, operands + 1, sizeof *g->vars);
    g->var_of = mg__arena_array(&g->arena, (p->frame_bytes / 4 + 1) * 3, sizeof *g->var_of);
    g->block_at = mg__arena_array(&g->arena, p->nops + 1, sizeof *g->block_at);
    g->noted = mg__arena_array(&g->arena, p->nops + 1, sizeof *g->noted);
    g->blocks = mg__arena_array(&g->arena, p->nops + 1, sizeof *g->blocks);
    g->fills = mg__arena_array(&g->arena, p->nfills + 1, sizeof *g->fills);
    if (!g->vars || !g->var_of || !g->block_at || !g->noted || !g->blocks || !g->fills)
        return false;
    for (uint32_t i = 0; i < p->nops; i++) {
        collect(g, p->ops[i].in, p->ops[i].nin);
        collect(g, p->ops[i].out, p->ops[i].nout);
    }
    g->words = g->nvars / 64 + 1;
    g->form = mg__arena_array(&g->arena, g->nvars + 1, sizeof *g->form);
    g->stamps = mg__arena_array(&g->arena, g->nvars + 1, sizeof *g->stamps);
    uint32_t longest = 0;
    for (uint32_t i = 0; i < p->nops; i++) { /* what follows a branch begins a block, whether or not an op says so */
        bool begins = i == 0 || p->ops[i].kind == MG_ENGINE_BLOCK || p->ops[i - 1].kind == MG_ENGINE_BARRIER ||
                      p->ops[i - 1].kind == MG_ENGINE_LEAVE || p->ops[i - 1].kind == MG_ENGINE_BRANCH ||
                      p->ops[i - 1].kind == MG_ENGINE_EXIT || i + 1 == p->nops;
        if (begins) {
            struct mg_gen_block *b = &g->blocks[g->nblocks];
            b->first = i;
            b->in = mg__arena_array(&g->arena, g->nvars + 1, sizeof *b->in);
            b->live = mg__arena_array(&g->arena, g->words, sizeof *b->live);
            if (!b->in || !b->live)
                return false;
            g->block_at[i] = ++g->nblocks;
        }
        g->blocks[g->nblocks - 1].end = i + 1;
        longest = MG_MAX(longest, i + 1 - g->blocks[g->nblocks - 1].first);
    }
    g->lives = mg__arena_array(&g->arena, (size_t)(longest + 1) * g->words, sizeof *g->lives);
    return g->form && g->stamps && g->lives && liveness(g) && flow(g) && find_far(g);
}
