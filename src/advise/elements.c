/* elements.c - what a thread does with each of its elements, and what it does once, however many it has.
 *
 * A thread that takes four elements in place of one reckons its index once, goes through a loop once and joins the
 * block's values once, but what it does with an element it does four times. Which is which, registers tell:
 *   element  it holds what memory brought, or what was computed of that
 *   index    it was computed of where the thread is, and of nothing that memory brought
 *   joined   it holds what lanes or threads have joined already: a shuffle's result, or a word of a variable that is
 *            folded (tiles.c), and what these were added up with
 * An instruction is done with each element when it reads an element, or when it makes, of an index, what is stored.
 * So is what is executed many times for each access: no index takes so long, and no joining of values. It is a loop
 * that works out what is stored, however it may hang on where the thread is, or the steps of a wavefront; and where
 * there are as many shuffles, these are such steps. Constant memory that all elements read at one place is theirs
 * together, as parameters are.
 *
 * Left out: that elements could share what they load (the taps of a filter, a neighbour's value).
 */
#include "advise/facts.h"

enum { INDEX = 1, JOINED = 2, ELEMENT = 4 };
enum { MANY = 16 }; /* times; a block of 1,024 joins its values in ten steps */

struct elements {
    struct mg_facts *facts;
    const struct mg_ptx_func *func;
    uint32_t first; /* index of its first instruction in the launch */
    struct mg_flow_chains chains;
    bool steps;            /* shuffles hand elements on, from step to step, and join nothing */
    uint8_t *regs;         /* by register: what it may hold */
    bool *each;            /* by instruction of the launch */
    bool *waits;           /* by instruction of the function: it is in the list */
    uint32_t *list, nlist; /* of instructions, of registers */
};

static bool is_exchange(const struct mg_ptx_insn *insn)
{
    return insn->effects & MG_E_WARP && insn->nresults && insn->access == MG_ACCESSES_NONE;
}

/* What a load brings: `from` is what its address is made of. */
static uint8_t loaded(const struct elements *e, uint32_t i, uint8_t from)
{
    const struct mg_ptx_insn *insn = &e->func->insns[i];
    uint64_t offset;
    if (insn->space == MG_SPACE_PARAM && mg__flow_param(e->func, insn, &offset))
        return 0;
    if (insn->space == MG_SPACE_CONST)
        return from & ELEMENT;
    for (uint32_t v = 0; insn->space == MG_SPACE_SHARED && v < e->facts->info->nshared_vars; v++)
        if (mg__facts_folded(e->facts, v) && mg__change_of_var(e->facts, e->first + i, v))
            return JOINED;
    return ELEMENT;
}

/* What an instruction reads, and makes of it. */
static uint8_t reads(const struct elements *e, uint32_t i)
{
    const struct mg_ptx_insn *insn = &e->func->insns[i];
    uint8_t from = 0;
    uint32_t reg;
    bool written;
    for (struct mg_flow_walk w = {e->func, insn, 0, 0}; mg__flow_next(&w, &reg, &written);)
        from |= written ? 0 : e->regs[reg];
    for (uint32_t k = 0; k < insn->nops; k++)
        if (mg__ptx_op(e->func, insn, k)->kind == MG_OPND_SREG)
            from |= INDEX;
    return from;
}

static uint8_t makes(const struct elements *e, uint32_t i, uint8_t from)
{
    const struct mg_ptx_insn *insn = &e->func->insns[i];
    if (insn->access != MG_ACCESSES_NONE)
        return loaded(e, i, from);
    if (is_exchange(insn))
        return !from ? 0 : e->steps ? ELEMENT : JOINED;
    return from & JOINED ? (mg__facts_joins_by(insn) != MG_ALG_NONE ? JOINED : ELEMENT) : from;
}

static void ask_uses(struct elements *e, uint32_t reg)
{
    for (uint32_t u = e->chains.use_at[reg]; u < e->chains.use_at[reg + 1]; u++)
        if (!e->waits[e->chains.uses[u]]) {
            e->waits[e->chains.uses[u]] = true;
            e->list[e->nlist++] = e->chains.uses[u];
        }
}

/* What all registers may hold. */
static void spread(struct elements *e)
{
    uint32_t reg;
    bool written;
    for (uint32_t i = (uint32_t)e->func->ninsns; i-- > 0;) {
        e->waits[i] = true;
        e->list[e->nlist++] = i;
    }
    while (e->nlist) {
        const uint32_t i = e->list[--e->nlist];
        const uint8_t made = makes(e, i, reads(e, i));
        e->waits[i] = false;
        for (struct mg_flow_walk w = {e->func, &e->func->insns[i], 0, 0}; mg__flow_next(&w, &reg, &written);)
            if (written && (made & ~e->regs[reg])) {
                e->regs[reg] |= made;
                ask_uses(e, reg);
            }
    }
}

/* What of an index makes the values that are stored. */
static void mark_stored(struct elements *e)
{
    bool *seen = e->waits; /* nothing is in the list: of instructions that are done with */
    uint32_t reg;
    bool written;
    for (uint32_t i = 0; i < e->func->ninsns; i++) {
        const struct mg_ptx_insn *insn = &e->func->insns[i];
        if (e->facts->seen->sites.of[e->first + i] == UINT32_MAX || insn->access == MG_ACCESSES_LOAD || seen[i])
            continue;
        seen[i] = true;
        e->list[e->nlist++] = i;
        while (e->nlist) {
            const uint32_t at = e->list[--e->nlist];
            struct mg_flow_walk w = {e->func, &e->func->insns[at], 0, 0};
            while (mg__flow_next(&w, &reg, &written)) {
                const bool value =
                    at != i || (w.operand < insn->nops && mg__ptx_op(e->func, insn, w.operand)->kind != MG_OPND_ADDR);
                for (uint32_t d = e->chains.def_at[reg]; !written && value && d < e->chains.def_at[reg + 1]; d++) {
                    const uint32_t def = e->chains.defs[d];
                    const struct mg_ptx_insn *from = &e->func->insns[def];
                    struct mg_flow_fixed fixed;
                    if (seen[def] || from->access != MG_ACCESSES_NONE || is_exchange(from) ||
                        mg__flow_fixed(e->func, from, &fixed) || !(reads(e, def) & (INDEX | ELEMENT)) ||
                        makes(e, def, reads(e, def)) & JOINED)
                        continue;
                    seen[def] = e->each[e->first + def] = true;
                    e->list[e->nlist++] = def;
                }
            }
        }
    }
}

static void mark(struct elements *e)
{
    uint32_t reg;
    bool written;
    for (uint32_t i = 0; i < e->func->ninsns; i++) {
        const uint8_t from = reads(e, i), made = makes(e, i, from);
        const struct mg_ptx_insn *insn = &e->func->insns[i];
        e->each[e->first + i] |=
            !is_exchange(insn) && !(insn->effects & MG_E_SYNCS) &&
            (insn->access != MG_ACCESSES_NONE || !insn->nresults ? from & ELEMENT : made & ELEMENT);
    }
    for (uint32_t i = 0; i < e->func->ninsns; i++) /* elements are handed to neighbours, not joined with them */
        for (struct mg_flow_walk w = {e->func, &e->func->insns[i], 0, 0};
             is_exchange(&e->func->insns[i]) && mg__flow_next(&w, &reg, &written);)
            for (uint32_t u = e->chains.use_at[reg]; written && u < e->chains.use_at[reg + 1]; u++)
                e->each[e->first + i] |= e->each[e->first + e->chains.uses[u]];
}

static bool look_at(struct elements *e)
{
    const size_t n = MG_MAX(e->func->ninsns, e->func->nregs) + (size_t)1;
    if (!mg__flow_chains(e->func, &e->chains))
        return false;
    e->regs = calloc((size_t)e->func->nregs + 1, 1);
    e->waits = calloc(n, sizeof(*e->waits));
    e->list = calloc(n, sizeof(*e->list));
    if (!e->regs || !e->waits || !e->list)
        return false;
    spread(e);
    mark(e);
    mark_stored(e);
    return true;
}

static bool has_steps(const struct mg_facts *f)
{
    double accesses = 0, exchanges = 0;
    for (uint32_t i = 0; i < f->info->ninsns; i++) {
        accesses += f->seen->sites.of[i] != UINT32_MAX ? mg__change_often(f, i) : 0;
        exchanges += is_exchange(f->info->insns[i].insn) ? mg__change_often(f, i) : 0;
    }
    return exchanges > 2 * MANY * accesses; /* two values may be joined in a block */
}

static void mark_often(struct mg_facts *f, bool *each)
{
    double most = 0;
    for (uint32_t i = 0; i < f->info->ninsns; i++)
        if (f->seen->sites.of[i] != UINT32_MAX)
            most = MG_MAX(most, mg__change_often(f, i));
    for (uint32_t i = 0; most > 0 && i < f->info->ninsns; i++)
        each[i] |= mg__change_often(f, i) > MANY * most;
}

bool *mg__facts_of_elements(struct mg_facts *f)
{
    const struct mg_launch_info *info = f->info;
    bool *each = mg__arena_array(&f->arena, (size_t)info->ninsns + 1, sizeof(*each));
    const bool steps = has_steps(f);
    bool ok = each != NULL;
    for (uint32_t i = 0; ok && i < info->ninsns; i++) {
        struct elements e = {.facts = f, .func = mg__facts_whole(f, i), .first = i, .steps = steps, .each = each};
        if (!e.func || mg__change_often(f, i) <= 0)
            continue;
        ok = look_at(&e);
        mg__flow_chains_free(&e.chains);
        free(e.regs);
        free(e.waits);
        free(e.list);
    }
    if (ok)
        mark_often(f, each);
    return ok ? each : NULL;
}
