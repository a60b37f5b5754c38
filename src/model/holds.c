/* holds.c - of which registers the definition still says what they are, where a block begins.
 *
 * A register with one definition, `r = a + 4`, can be seen through at a place if on every path to it the definition is
 * executed and `a` is not written after that: then r is what a is now, plus 4. PTX is not SSA, and neither holds by
 * itself: a loop writes `a` again, and an arm that was not taken leaves r as it was. This is the condition of available
 * expressions; it is worked out forwards, over all paths.
 */
#include "model/model_priv.h"

struct holds {
    const struct mg_ptx_func *func;
    struct mg_model_holds *to;
    uint32_t *head, *next; /* by register: definitions that read it (by operand: + 1, 0 ends) */
    uint32_t *by;          /* by entry of `next`: the register that is defined */
    uint32_t nreads;
    uint64_t *out, *now;
    bool nomem;
};

typedef void (*visitor)(struct holds *h, uint32_t reg, uint32_t insn, bool result);

static void each(struct holds *h, uint32_t insn, visitor visit)
{
    const struct mg_ptx_insn *i = &h->func->insns[insn];
    for (unsigned n = 0; n < i->nops; n++) {
        const struct mg_ptx_opnd *o = mg__ptx_op(h->func, i, n);
        uint32_t count = o->kind == MG_OPND_VEC ? o->count : 1;
        const struct mg_ptx_opnd *e = o->kind == MG_OPND_VEC ? &h->func->operands[o->first] : o;
        for (uint32_t k = 0; k < count; k++) {
            if (e[k].kind == MG_OPND_REG)
                visit(h, e[k].index, insn, mg__ptx_writes(i, n));
            else if (e[k].kind == MG_OPND_ADDR && e[k].has_reg)
                visit(h, e[k].index, insn, false);
        }
    }
}

static void count(struct holds *h, uint32_t reg, uint32_t insn, bool result)
{
    (void)insn;
    h->to->ndefs[reg] += result;
}

/* A read by what defines a register with one definition, not under a guard. */
static void note(struct holds *h, uint32_t reg, uint32_t insn, bool result)
{
    const struct mg_ptx_insn *i = &h->func->insns[insn];
    const struct mg_ptx_opnd *d = mg__ptx_op(h->func, i, 0);
    if (result || d->kind != MG_OPND_REG || !mg__ptx_writes(i, 0) || h->to->ndefs[d->index] != 1 || i->guard >= 0)
        return;
    h->by[h->nreads] = d->index;
    h->next[h->nreads] = h->head[reg];
    h->head[reg] = ++h->nreads;
}

static void apply(struct holds *h, uint32_t reg, uint32_t insn, bool result)
{
    if (!result)
        return;
    bool known = h->to->ndefs[reg] == 1 && h->func->insns[insn].guard < 0;
    if (known)
        h->now[reg / 64] |= UINT64_C(1) << reg % 64;
    for (uint32_t k = h->head[reg]; k; k = h->next[k - 1]) /* r = r + 4 does not hold either */
        h->now[h->by[k - 1] / 64] &= ~(UINT64_C(1) << h->by[k - 1] % 64);
}

static void enter(struct holds *h, uint32_t block)
{
    struct mg_model_holds *to = h->to;
    const struct mg_cfg_block *b = &to->cfg->blocks[block];
    memset(h->now, block == 0 ? 0 : 0xff, to->words * sizeof *h->now);
    for (uint32_t p = 0; p < b->npred; p++)
        for (size_t w = 0; w < to->words; w++)
            h->now[w] &= h->out[to->words * b->pred[p] + w];
    memcpy(&to->in[to->words * block], h->now, to->words * sizeof *h->now);
}

static void flow(struct holds *h)
{
    struct mg_model_holds *to = h->to;
    memset(h->out, 0xff, to->words * to->cfg->nblocks * sizeof *h->out);
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = 0; b < to->cfg->nblocks; b++) {
            uint64_t *out = &h->out[to->words * b];
            enter(h, b);
            for (uint32_t i = to->cfg->blocks[b].first; i < to->cfg->blocks[b].end; i++)
                each(h, i, apply);
            changed |= memcmp(out, h->now, to->words * sizeof *out) != 0;
            memcpy(out, h->now, to->words * sizeof *out);
        }
    }
}

bool mg__model_holds(const struct mg_ptx_func *func, struct mg_model_holds *to)
{
    *to = (struct mg_model_holds){.words = func->nregs / 64 + 1};
    if (mg__cfg_build(func, &to->cfg) != MG_OK)
        return false;
    struct holds h = {.func = func, .to = to};
    size_t blocks = to->cfg->nblocks;
    to->ndefs = calloc(func->nregs + 1, sizeof *to->ndefs);
    to->in = calloc(to->words * (blocks + 1), sizeof *to->in);
    h.out = calloc(to->words * (blocks + 1), sizeof *h.out);
    h.head = calloc(func->nregs + 1, sizeof *h.head);
    h.next = calloc(func->noperands + 1, sizeof *h.next);
    h.by = calloc(func->noperands + 1, sizeof *h.by);
    bool good = to->ndefs && to->in && h.out && h.head && h.next && h.by;
    if (good && blocks) {
        h.now = &h.out[to->words * blocks];
        for (uint32_t i = 0; i < func->ninsns; i++)
            each(&h, i, count);
        for (uint32_t i = 0; i < func->ninsns; i++)
            each(&h, i, note);
        flow(&h);
    }
    free(h.out);
    free(h.head);
    free(h.next);
    free(h.by);
    return good;
}

void mg__model_holds_free(struct mg_model_holds *holds)
{
    free(holds->ndefs);
    free(holds->in);
    mg__cfg_free(holds->cfg);
}
