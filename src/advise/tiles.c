/* tiles.c - what the kernel has staged in shared memory already, and what its reads would cost without.
 *
 * A variable is a copy of global memory when every store into it writes what a load of global memory brought (or a
 * constant: zeros beyond an edge), or is an asynchronous copy. That is read off the definitions of the stored
 * registers, through moves and selections; a value that was computed makes the variable no copy. For a copy there is an
 * alternative, no shared memory at all; so its recorded reads are counted as if they went to global memory: the fewest
 * pieces of 32 bytes that cover the bytes of each access, where they lie in the variable. Where a tile holds rows that
 * are apart in global memory this is a lower bound, so a tile that pays by this count pays.
 */
#include "advise/facts.h"

#include <math.h>

enum { MOST_STEPS = 8 };

struct tiles {
    struct mg_facts *facts;
    const struct mg_ptx_func *func;
    uint32_t first; /* index of its first instruction in the launch */
    struct mg_flow_chains chains;
    uint32_t path[MOST_STEPS + 2]; /* registers that are being asked about: a loop of moves brings nothing new */
    bool outside;                  /* a load brought something that is not in global memory: a parameter, a constant */
};

/* The registers of an operand: itself, or the parts of a vector. */
static const struct mg_ptx_opnd *parts(const struct mg_ptx_func *f, const struct mg_ptx_opnd *o, uint32_t *n)
{
    *n = o->kind == MG_OPND_VEC ? o->count : 1;
    return o->kind == MG_OPND_VEC ? &f->operands[o->first] : o;
}

static bool from_global(struct tiles *w, const struct mg_ptx_opnd *o, int32_t var, unsigned steps, bool *any);

/* Whether an instruction gives what a load of global memory brings, or passes on what others gave. */
static bool brings(struct tiles *w, uint32_t i, int32_t var, unsigned steps, bool *any)
{
    const struct mg_ptx_insn *insn = &w->func->insns[i];
    enum mg_ptx_algebra algebra = mg__ptx_exactly(insn);
    if (insn->access == MG_ACCESSES_LOAD) {
        if (insn->space == MG_SPACE_SHARED || w->first + i >= w->facts->info->ninsns)
            return false;
        if (insn->space != MG_SPACE_GLOBAL) {
            w->outside = true;
            return true;
        }
        w->facts->tile_of[w->first + i] = var;
        *any = true;
        return true;
    }
    return (algebra == MG_ALG_COPY || algebra == MG_ALG_SELECT) &&
           from_global(w, mg__ptx_op(w->func, insn, 1), var, steps + 1, any) &&
           (algebra == MG_ALG_COPY || from_global(w, mg__ptx_op(w->func, insn, 2), var, steps + 1, any));
}

/* Whether a register holds what loads of global memory brought, or constants; those loads
 * are charged to the variable. */
static bool from_global(struct tiles *w, const struct mg_ptx_opnd *o, int32_t var, unsigned steps, bool *any)
{
    if (o->kind == MG_OPND_IMM)
        return true;
    if (o->kind != MG_OPND_REG || steps > MOST_STEPS || !mg__flow_ndefs(&w->chains, o->index))
        return false;
    for (unsigned i = 0; i < steps; i++)
        if (w->path[i] == o->index)
            return true;
    w->path[steps] = o->index;
    for (uint32_t d = w->chains.def_at[o->index + 1]; d-- > w->chains.def_at[o->index];)
        if (!brings(w, w->chains.defs[d], var, steps, any))
            return false;
    return true;
}

/* The variable that an instruction's accesses went to: -1 none, -2 several. */
static int32_t variable_of(const struct mg_shapes *set)
{
    int32_t var = -1;
    for (uint32_t k = 0; k < set->count; k++) {
        if (set->at[k].var < 0)
            continue;
        if (var >= 0 && set->at[k].var != var)
            return -2;
        var = set->at[k].var;
    }
    return var;
}

static void refuse(struct mg_facts *f, const struct mg_shapes *set)
{
    for (uint32_t k = 0; k < set->count; k++)
        if (set->at[k].var >= 0 && (uint32_t)set->at[k].var < f->info->nshared_vars)
            f->vars[set->at[k].var].computed = true;
}

static int by_value(const void *left, const void *right)
{
    const uint32_t *a = left, *b = right;
    return (*a > *b) - (*a < *b);
}

/* The fewest pieces of 32 bytes that hold all bytes of an access. */
static unsigned cover(const struct mg_advise_shape *s)
{
    uint32_t at[32];
    unsigned n = 0, pieces = 0;
    uint64_t end = 0;
    for (unsigned lane = 0; lane < 32; lane++)
        if (s->mask >> lane & 1)
            at[n++] = (uint32_t)s->at[lane];
    qsort(at, n, sizeof(*at), by_value);
    for (unsigned i = 0; i < n; i++) {
        uint64_t from = MG_MAX((uint64_t)at[i], end), to = (uint64_t)at[i] + s->width;
        while (from < to) {
            pieces++;
            end = from + 32;
            from = end;
        }
    }
    return pieces;
}

static bool look_at(struct tiles *w, const struct mg_ptx_func *func, uint32_t first)
{
    mg__flow_chains_free(&w->chains);
    w->func = func;
    w->first = first;
    if (mg__flow_chains(func, &w->chains))
        return true;
    mg__flow_chains_free(&w->chains);
    return false;
}

/* The operand whose registers a store into shared memory writes; NULL: the launch is not laid out as thought. */
static const struct mg_ptx_opnd *stored(struct tiles *w, uint32_t i, uint32_t *n, bool *failed)
{
    const struct mg_launch_info *info = w->facts->info;
    const struct mg_ptx_insn *insn = info->insns[i].insn;
    const struct mg_ptx_func *func = info->insns[i].func;
    uint32_t local = (uint32_t)(insn - func->insns);
    if (insn < func->insns || local >= func->ninsns || local > i || info->insns[i - local].func != func)
        return NULL;
    if (w->func != func && !look_at(w, func, i - local)) {
        *failed = true;
        return NULL;
    }
    return parts(func, mg__ptx_op(func, insn, 1), n);
}

enum mg_ptx_algebra mg__facts_joins_by(const struct mg_ptx_insn *insn)
{
    const unsigned algebra = insn->algebra & ~(unsigned)MG_ALG_ROUGH;
    if (insn->access != MG_ACCESSES_NONE)
        return MG_ALG_NONE;
    switch (algebra) {
    case MG_ALG_COPY: /* a shuffle, too: of another lane */
    case MG_ALG_CONVERT:
    case MG_ALG_ADDRESS:
        return MG_ALG_COPY;
    case MG_ALG_SELECT:
        return insn->opcode == MG_OP_SELP ? MG_ALG_COPY : MG_ALG_SELECT;
    case MG_ALG_ADD:
    case MG_ALG_MUL:
    case MG_ALG_AND:
    case MG_ALG_OR:
    case MG_ALG_XOR:
    case MG_ALG_TRUTH:
        return (enum mg_ptx_algebra)algebra;
    default:
        return MG_ALG_NONE;
    }
}

/* By register, whether it may hold what was loaded from shared memory, or computed of that; `todo` has room for all. */
static void find_shared(struct tiles *w, uint8_t *from, uint32_t *todo)
{
    uint32_t n = 0, reg;
    bool written;
    for (uint32_t i = 0; i < w->func->ninsns; i++) {
        const struct mg_ptx_insn *insn = &w->func->insns[i];
        if (insn->access != MG_ACCESSES_LOAD || insn->space != MG_SPACE_SHARED)
            continue;
        for (struct mg_flow_walk walk = {w->func, insn, 0, 0}; mg__flow_next(&walk, &reg, &written);)
            if (written && !from[reg]) {
                from[reg] = 1;
                todo[n++] = reg;
            }
    }
    while (n) {
        const uint32_t at = todo[--n];
        for (uint32_t u = w->chains.use_at[at]; u < w->chains.use_at[at + 1]; u++) {
            const struct mg_ptx_insn *insn = &w->func->insns[w->chains.uses[u]];
            struct mg_flow_walk walk = {w->func, insn, 0, 0};
            while (insn->access == MG_ACCESSES_NONE && mg__flow_next(&walk, &reg, &written))
                if (written && !from[reg]) {
                    from[reg] = 1;
                    todo[n++] = reg;
                }
        }
    }
}

/* Of a value that is stored into the variable: whether it is computed from what was loaded from shared memory, and
 * whether by more than one operation, or from other variables as well. */
static bool from_shared(struct tiles *w, const struct mg_ptx_opnd *o, int32_t var, bool *mixed)
{
    const size_t nregs = (size_t)w->func->nregs + 1;
    uint8_t *seen = calloc(nregs, 1), *from = calloc(nregs, 1);
    uint32_t *todo = calloc(nregs, sizeof(*todo)), n = 0;
    unsigned by = MG_ALG_COPY;
    bool found = false;
    if (seen && from && todo && o->kind == MG_OPND_REG && o->index < w->func->nregs) {
        find_shared(w, from, todo);
        found = from[o->index];
        seen[o->index] = 1;
        todo[n++] = o->index;
    }
    while (n && found) {
        uint32_t reg = todo[--n];
        for (uint32_t d = w->chains.def_at[reg]; d < w->chains.def_at[reg + 1]; d++) {
            const struct mg_ptx_insn *insn = &w->func->insns[w->chains.defs[d]];
            struct mg_flow_walk walk = {w->func, insn, 0, 0};
            const unsigned how = mg__facts_joins_by(insn);
            uint32_t read;
            bool of_shared = false;
            if (insn->access == MG_ACCESSES_LOAD && insn->space == MG_SPACE_SHARED)
                *mixed |= variable_of(&w->facts->seen->shared[w->first + w->chains.defs[d]]) != var;
            for (bool written;
                 insn->access == MG_ACCESSES_NONE && how != MG_ALG_TRUTH && mg__flow_next(&walk, &read, &written);)
                if (!written && from[read]) {
                    of_shared = true;
                    if (!seen[read])
                        todo[n++] = read;
                    seen[read] = 1;
                }
            if (!of_shared || how == MG_ALG_COPY)
                continue;
            *mixed |= how == MG_ALG_NONE || (by != MG_ALG_COPY && how != by);
            by = how;
        }
    }
    free(seen);
    free(from);
    free(todo);
    return found;
}

/* What an instruction that writes shared memory makes of its variables. False: out of memory. */
static bool judge_store(struct tiles *w, uint32_t i)
{
    struct mg_facts *f = w->facts;
    const struct mg_ptx_insn *insn = f->info->insns[i].insn;
    const struct mg_shapes *set = &f->seen->shared[i];
    int32_t var = variable_of(set);
    bool good = false, any = false, failed = false;
    w->outside = false;
    if (insn->access == MG_ACCESSES_COPY && var >= 0) {
        f->tile_of[i] = var;
        good = any = true;
    } else if (insn->access == MG_ACCESSES_STORE && var >= 0) {
        uint32_t n = 0;
        const struct mg_ptx_opnd *o = stored(w, i, &n, &failed);
        good = n > 0;
        for (uint32_t k = 0; k < n && good; k++)
            good = from_global(w, &o[k], var, 0, &any);
        for (uint32_t k = 0; k < n && !good && (uint32_t)var < f->info->nshared_vars; k++)
            f->vars[var].joined |= from_shared(w, &o[k], var, &f->vars[var].mixed);
    }
    if (var >= 0 && (uint32_t)var < f->info->nshared_vars)
        f->vars[var].made |= !good;
    if (!good || w->outside)
        refuse(f, set);
    else if (any && var >= 0)
        f->vars[var].filled_any = true;
    return !failed;
}

static void add_up(struct mg_facts *f)
{
    const struct mg_launch_info *info = f->info;
    for (uint32_t i = 0; i < info->ninsns; i++) {
        const struct mg_shapes *set = &f->seen->shared[i];
        double scale = f->scale[i];
        if (f->tile_of[i] >= 0)
            f->vars[f->tile_of[i]].filled += (double)f->seen->insns[i].moved;
        for (uint32_t k = 0; k < set->count; k++)
            if (set->at[k].kind == MG_ACCESS_LD && set->at[k].var >= 0 && (uint32_t)set->at[k].var < info->nshared_vars)
                f->vars[set->at[k].var].as_global += cover(&set->at[k]) * (double)set->at[k].times * scale;
    }
    f->tiles.only = true;
    for (uint32_t v = 0; v < info->nshared_vars; v++) {
        struct mg_var_fact *var = &f->vars[v];
        var->copy = var->filled_any && !var->computed && !var->atomics && var->loads;
        if (!var->used)
            continue;
        f->tiles.only &= var->copy;
        if (!var->copy)
            continue;
        f->tiles.count++;
        f->tiles.filled += var->filled;
        f->tiles.as_global += var->as_global;
        f->tiles.wavefronts += (double)var->wavefronts;
        f->tiles.ideal += (double)var->ideal;
    }
}

bool mg__facts_tiles(struct mg_facts *f)
{
    const struct mg_launch_info *info = f->info;
    struct tiles w = {.facts = f};
    bool ok = true;
    f->tile_of = mg__arena_array(&f->arena, (size_t)info->ninsns + 1, sizeof(*f->tile_of));
    if (!f->tile_of)
        return false;
    for (uint32_t i = 0; i < info->ninsns; i++)
        f->tile_of[i] = -1;
    for (uint32_t i = 0; ok && i < info->ninsns; i++) {
        const struct mg_ptx_insn *insn = info->insns[i].insn;
        if (insn && info->insns[i].func && f->seen->shared[i].count && insn->access != MG_ACCESSES_LOAD)
            ok = judge_store(&w, i);
    }
    mg__flow_chains_free(&w.chains);
    add_up(f);
    return ok;
}
