/* copies.c - code that was compiled without inlining (nvcc -G): each call of a small function gets a copy of it, whose
 * locations are inlined at the call. So an instruction there is known by whoever called it, as it is in other code: the
 * atomics, shuffles and barriers of CUDA are functions of the toolkit's headers, and nobody wants to read their lines.
 *
 * What is executed, and what is counted of it, is the same. The printer leaves copies out.
 */
#include "ptx/ptx_priv.h"

enum {
    SMALL = 200,    /* instructions of a function that is copied, most */
    ALL = 50000,    /* instructions and operands of all copies for an entry, … */
    EVER = 1000000, /* … after which no further entry has any */
    DEEP = 16       /* copies called by copies */
};

/* Its own location, as if it had been inlined at the call. */
static bool relocate(struct parser *p, uint32_t call, uint32_t *loc)
{
    struct mg_ptx_loc at = p->locs.at[*loc];
    if (!*loc || !call) {
        *loc = call;
        return true;
    }
    if (at.inlined_at && !relocate(p, call, &at.inlined_at))
        return false;
    if (!at.inlined_at)
        at.inlined_at = call;
    return mg__ptx_intern_loc(p, &at, loc);
}

static bool calls_itself(const struct mg_ptx_func *f, const struct mg_ptx_func *called)
{
    for (; f; f = f->copied_for)
        if (f == called || f->copy_of == called)
            return true;
    return false;
}

static struct mg_ptx_func *copy(struct parser *p, const struct mg_ptx_func *of, const struct mg_ptx_func *caller,
                                uint32_t call)
{
    struct mg_arena *arena = &p->module->arena;
    struct mg_ptx_func *f = mg__arena_alloc(arena, sizeof(*f));
    struct mg_ptx_insn *insns = mg__arena_array(arena, of->ninsns + 1, sizeof(*insns));
    struct mg_ptx_opnd *operands = mg__arena_array(arena, of->noperands + 1, sizeof(*operands));
    if (!f || !insns || !operands || p->funcs.count >= UINT32_MAX || !mg__vec_push(&p->funcs, f)) {
        mg__ptx_nomem(p);
        return NULL;
    }
    *f = *of;
    f->id = (uint32_t)p->funcs.count - 1;
    f->insns = insns;
    f->operands = operands;
    f->copy_of = of;
    f->copied_for = caller;
    memcpy(operands, of->operands, of->noperands * sizeof(*operands));
    memcpy(insns, of->insns, of->ninsns * sizeof(*insns));
    for (size_t k = 0; k < of->ninsns; k++)
        if (!relocate(p, call, &insns[k].loc))
            return NULL;
    return f;
}

static size_t size_of(const struct mg_ptx_func *f)
{
    return 1 + f->ninsns + f->noperands;
}

/* The calls of an entry or of a copy. *all: the size of the entry's copies so far. */
static bool copy_calls(struct parser *p, struct mg_ptx_func *f, size_t *all)
{
    unsigned deep = 0;
    for (const struct mg_ptx_func *c = f; c->copied_for; c = c->copied_for)
        deep++;
    for (size_t k = 0; deep < DEEP && k < f->ninsns; k++) {
        const struct mg_ptx_insn *call = &f->insns[k];
        struct mg_ptx_opnd *target = call->effects & MG_E_CALLS ? &f->operands[call->first_op + 1] : NULL;
        const struct mg_ptx_func *to = target && target->kind == MG_OPND_FUNC ? target->func : NULL;
        if (!to || !to->defined || to->is_entry || to->ninsns > SMALL || *all + size_of(to) > ALL || !call->loc ||
            calls_itself(f, to))
            continue;
        *all += size_of(to);
        target->func = copy(p, to, f, call->loc);
        if (!target->func)
            return false;
    }
    return true;
}

/* Such code does not tell, either, where a header's functions that are always inlined were: after the user's last line
 * before them, which is theirs or the one before it. */
static bool place_inlined(struct parser *p, const struct mg_ptx_func *f)
{
    uint32_t user = 0;
    for (size_t k = 0; k < f->ninsns; k++) {
        const struct mg_ptx_loc *at = &p->locs.at[f->insns[k].loc];
        const bool of_header = at->file < p->files.count && mg__file_is_system(p->files.at[at->file]);
        if (f->insns[k].loc && !of_header)
            user = f->insns[k].loc;
        else if (f->insns[k].loc && !at->inlined_at && user && !relocate(p, user, &f->insns[k].loc))
            return false;
    }
    return true;
}

bool mg__ptx_copy_called(struct parser *p)
{
    const size_t written = p->funcs.count;
    size_t ever = 0;
    for (size_t i = 0; p->module->apart && i < written; i++)
        if (!place_inlined(p, p->funcs.at[i]))
            return false;
    for (size_t i = 0; p->module->apart && i < written && ever < EVER; i++) {
        size_t all = 0, next = p->funcs.count;
        if (!p->funcs.at[i]->is_entry)
            continue;
        bool good = copy_calls(p, p->funcs.at[i], &all);
        for (; good && next < p->funcs.count; next++) /* and those that come to be meanwhile */
            good = copy_calls(p, p->funcs.at[next], &all);
        if (!good)
            return false;
        ever += all;
    }
    return true;
}
