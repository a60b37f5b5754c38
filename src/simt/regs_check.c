/* regs_check.c - holds the assignment of slots to what it has to be: a register that is read has its value in its slot.
 *
 * regs.c and copies.c argue from liveness, backwards, and from copies that are available on all paths. This goes the
 * other way, forwards, and asks something else: what has each register's slot become, on some path to here? Of every
 * register two things are kept for each place in the program: whether a path comes here on which it was written and its
 * slot still holds that value (good), and whether one does on which it was written and its slot holds something else
 * (bad). A register that no path has written is neither, and may be read: it has no value that it could lose. A result
 * makes its register good, and all others with a part of that slot bad where they were good. A copy that is left out
 * (`skip`) makes its register what its source is, if both have one slot, and bad if they have not. Under a guard
 * both may be true afterwards. A read of what is bad on some path is refused. That no two registers share a slot while
 * both are live follows: one of them would be overwritten before a use.
 *
 * Constants are looked at by themselves: all definitions of a register whose slot lies among them have to be left out,
 * and to give just the value that is there. Neither may a register's slot be one of those that lowering uses within an
 * instruction.
 *
 * Every function that is lowered comes through here in builds with assertions, under sanitizers, and in those that have
 * the tests (MG_CHECK_SLOTS); what is refused is not run.
 */
#include "simt/lower.h"

struct extent {
    uint32_t begin, end, reg;
};
struct checker {
    const struct mg_lower *L;
    struct mg_strbuf *why;
    size_t words;
    struct extent *extents; /* of registers in the frame, by begin */
    uint32_t nextents;
    uint32_t *place;            /* by register: first extent that may overlap its own */
    uint64_t *good_in, *bad_in; /* by block */
    uint64_t *good, *bad;
    bool *done, changed, look; /* done, by block: reached; look: refuse what is read and bad */
};

static void set_to(uint64_t *set, uint32_t r, bool on)
{
    set[r / 64] = (set[r / 64] & ~(UINT64_C(1) << r % 64)) | (uint64_t)on << r % 64;
}

static bool refuse(const struct checker *c, uint32_t insn, uint32_t reg, const char *what)
{
    const struct mg_ptx_func *f = c->L->func;
    mg__strbuf_printf(c->why, "line %u of the PTX, %s: %s %s", f->insns[insn].ptx_line, f->insns[insn].text,
                      f->regs[reg].name, what);
    return false;
}

static unsigned bytes_of(const struct mg_lower *L, uint32_t reg)
{
    unsigned size = mg__lower_type_size(L->func->regs[reg].type);
    return size == 0 ? 4 : size <= 4 ? 128 : size <= 8 ? 256 : 512;
}

static bool among_constants(const struct mg_lower *L, uint32_t reg)
{
    return L->slots[reg] & 1;
}

/* ---- constants ---- */
static bool holds(const struct mg_lower *L, int32_t slot, const struct mg_fixed *value)
{
    size_t at = (size_t)(slot & ~1), bytes = value->fill.bytes == 8 ? 256 : 128;
    if (value->constant) {
        for (size_t k = 0; k < bytes; k += value->fill.bytes)
            if (at + bytes > L->pool.count || memcmp(L->pool.at + at + k, &value->bits, value->fill.bytes) != 0)
                return false;
        for (size_t k = 0; k < L->fills.count; k++)
            if (L->fills.at[k].slot == slot)
                return false;
        return true;
    }
    for (size_t k = 0; k < L->fills.count; k++) {
        const struct mg_fill *a = &L->fills.at[k], *b = &value->fill;
        if (a->slot == slot)
            return a->kind == b->kind && a->bytes == b->bytes && a->dim == b->dim && a->sreg == b->sreg &&
                   a->offset == b->offset;
    }
    return false;
}

/* What is left out gives a constant its value, or a register the slot of what it copies; what is not left out writes no
 * constant. */
static bool check_constants(const struct checker *c)
{
    const struct mg_lower *L = c->L;
    for (uint32_t i = 0; i < L->func->ninsns; i++) {
        const struct mg_ptx_insn *insn = &L->func->insns[i];
        struct mg_flow_walk w = {L->func, insn, 0, 0};
        struct mg_fixed value;
        uint32_t reg, from;
        for (bool written; mg__flow_next(&w, &reg, &written);) {
            if (!written || (!L->skip[i] && !among_constants(L, reg)))
                continue;
            if (!L->skip[i])
                return refuse(c, i, reg, "has the slot of a constant and is written");
            if (mg__copied_register(L->func, insn, &from))
                continue;
            if (!mg__fixed_value(L->func, insn, &value) || !among_constants(L, reg) || !holds(L, L->slots[reg], &value))
                return refuse(c, i, reg, "is left out, and its slot does not hold its value");
        }
    }
    return true;
}

/* ---- the frame ---- */
static int by_place(const void *a, const void *b)
{
    const struct extent *x = a, *y = b;
    return x->begin != y->begin ? (x->begin < y->begin ? -1 : 1) : (x->reg > y->reg) - (x->reg < y->reg);
}

static bool meets(const struct extent *e, int32_t slot, unsigned bytes)
{
    return slot >= 0 && e->begin < (uint32_t)slot + bytes && (uint32_t)slot < e->end;
}

static void find_named(struct checker *c)
{
    const struct mg_ptx_func *f = c->L->func;
    for (uint32_t i = 0; i < f->ninsns; i++) {
        struct mg_flow_walk w = {f, &f->insns[i], 0, 0};
        uint32_t reg;
        for (bool written; mg__flow_next(&w, &reg, &written);)
            set_to(c->good, reg, true);
    }
}

static bool lay_out(struct checker *c)
{
    const struct mg_lower *L = c->L;
    find_named(c); /* others stand in what is not executed */
    for (uint32_t r = 0; r < L->func->nregs; r++)
        if (mg__flow_holds(c->good, r) && !among_constants(L, r))
            c->extents[c->nextents++] =
                (struct extent){(uint32_t)L->slots[r], (uint32_t)L->slots[r] + bytes_of(L, r), r};
    qsort(c->extents, c->nextents, sizeof *c->extents, by_place);
    for (uint32_t k = 0, first = 0; k < c->nextents; k++) {
        const struct extent *e = &c->extents[k];
        bool own = e->end > L->frame_bytes || meets(e, L->carry, 4);
        for (unsigned t = 0; t < MG_COUNT(L->temp_pred); t++)
            own |= meets(e, L->temp_pred[t], 4);
        for (unsigned t = 0; t < MG_COUNT(L->temp); t++)
            own |= meets(e, L->temp[t], 256);
        if (own) {
            mg__strbuf_printf(c->why, "%s has a slot that is not its own", L->func->regs[e->reg].name);
            return false;
        }
        while (c->extents[first].begin + 512 <= e->begin)
            first++;
        c->place[e->reg] = first;
    }
    return true;
}

/* Two registers with a part of a slot in common, but not the whole. */
static bool cut(const struct mg_lower *L, uint32_t a, uint32_t b)
{
    return a != b && !among_constants(L, a) && !among_constants(L, b) && L->slots[a] != L->slots[b] &&
           L->slots[a] < L->slots[b] + (int32_t)bytes_of(L, b) && L->slots[b] < L->slots[a] + (int32_t)bytes_of(L, a);
}

/* A result: what else is in the slot is lost. */
static void write(struct checker *c, uint32_t reg, bool always)
{
    uint32_t begin = (uint32_t)c->L->slots[reg], end = begin + bytes_of(c->L, reg);
    for (uint32_t k = c->place[reg]; k < c->nextents && c->extents[k].begin < end; k++) {
        uint32_t other = c->extents[k].reg;
        if (c->extents[k].end <= begin || other == reg || !mg__flow_holds(c->good, other))
            continue;
        set_to(c->bad, other, true);
        if (always)
            set_to(c->good, other, false);
    }
    if (always)
        set_to(c->bad, reg, false);
    set_to(c->good, reg, true);
}

static bool through(struct checker *c, uint32_t i)
{
    const struct mg_lower *L = c->L;
    const struct mg_ptx_insn *insn = &L->func->insns[i];
    struct mg_flow_walk reads = {L->func, insn, 0, 0}, writes = reads;
    uint32_t reg, from;
    if (L->skip[i]) {
        if (mg__copied_register(L->func, insn, &from)) { /* a source without a value gives one, whatever it is */
            uint32_t to = mg__ptx_op(L->func, insn, 0)->index;
            bool shared = L->slots[to] == L->slots[from];
            set_to(c->good, to, shared);
            set_to(c->bad, to, !shared || mg__flow_holds(c->bad, from));
        }
        return true;
    }
    for (bool written; c->look && mg__flow_next(&reads, &reg, &written);) {
        if (!written && mg__flow_holds(c->bad, reg))
            return refuse(c, i, reg, "is read where its slot was last written for another register");
        struct mg_flow_walk results = {L->func, insn, 0, 0};
        uint32_t to;
        for (bool result; !written && mg__flow_next(&results, &to, &result);)
            if (result && cut(L, reg, to))
                return refuse(c, i, reg, "is read where a part of its slot is written");
    }
    for (bool written; mg__flow_next(&writes, &reg, &written);)
        if (written)
            write(c, reg, insn->guard < 0);
    return true;
}

/* ---- all paths ---- */
static void flow_to(struct checker *c, uint32_t block)
{
    uint64_t *good = &c->good_in[c->words * block], *bad = &c->bad_in[c->words * block];
    uint64_t more = !c->done[block];
    c->done[block] = true;
    for (size_t w = 0; w < c->words; w++) {
        more |= (c->good[w] & ~good[w]) | (c->bad[w] & ~bad[w]);
        good[w] |= c->good[w];
        bad[w] |= c->bad[w];
    }
    c->changed |= more != 0;
}

static bool check_paths(struct checker *c)
{
    const struct mg_cfg *cfg = c->L->cfg;
    c->done[0] = c->changed = true;
    while (c->changed || !c->look) { /* once more at the end, to look */
        c->look = !c->changed;
        c->changed = false;
        for (uint32_t b = 0; b < cfg->nblocks; b++) {
            if (!c->done[b])
                continue;
            memcpy(c->good, &c->good_in[c->words * b], c->words * sizeof *c->good);
            memcpy(c->bad, &c->bad_in[c->words * b], c->words * sizeof *c->bad);
            for (uint32_t i = cfg->blocks[b].first; i < cfg->blocks[b].end; i++)
                if (!through(c, i))
                    return false;
            for (uint32_t s = 0; s < cfg->blocks[b].nsucc; s++)
                flow_to(c, cfg->blocks[b].succ[s]);
        }
    }
    return true;
}

bool mg__check_slots(const struct mg_lower *L, struct mg_strbuf *why)
{
    const struct mg_ptx_func *f = L->func;
    size_t nregs = f->nregs, words = nregs / 64 + 1, blocks = L->cfg->nblocks;
    struct checker c = {.L = L, .why = why, .words = words};
    if (!blocks)
        return true;
    c.extents = calloc(nregs + 1, sizeof *c.extents);
    c.place = calloc(nregs + 1, sizeof *c.place);
    c.done = calloc(blocks, sizeof *c.done);
    c.good_in = calloc(2 * words * (blocks + 1), sizeof *c.good_in);
    bool good = c.extents && c.place && c.done && c.good_in;
    if (good) {
        c.bad_in = &c.good_in[words * blocks];
        c.good = &c.bad_in[words * blocks];
        c.bad = &c.good[words];
        good = check_constants(&c) && lay_out(&c) && check_paths(&c);
    } else {
        mg__strbuf_printf(why, "no memory");
    }
    free(c.extents);
    free(c.place);
    free(c.done);
    free(c.good_in);
    return good;
}
