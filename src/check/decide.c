/* decide.c - kernels whose way depends on which of their blocks came first.
 *
 * A block that reads what another one writes, and nothing orders the two, finds one value or the other. Where that
 * decides a branch, an address or who takes part, the accesses that follow, and so what is found, would depend on luck.
 * Such a launch has its blocks in their order, one after the other: it may be any, if it is always the same.
 *
 * Told by the text, without regard to order: values of plain loads of device memory that the launch also writes are
 * followed through registers, and through memory as a whole. Not counted is what is a thread's own: an address that
 * sums and products make of the numbers of thread and block, in the register that all writes to that memory use, too.
 * Atomics whose results are used, and volatile loads, have the engine run blocks in order by itself.
 */
#include "check/check_priv.h"

struct taint {
    const struct mg_launch_info *info;
    const struct launch *l;
    bool *written;  /* by allocation; [nallocations]: one that is not known, or any */
    bool any;       /* something is written by an address that nobody knows */
    bool memory[2]; /* a value went to memory of the block or its threads, of the device: what is loaded may be it */
    bool decides;
    /* of the function */
    const struct mg_ptx_func *func;
    struct mg_flow_chains chains;
    uint8_t *regs;
    bool more;
};

static bool of_the_device(const struct site *s, const struct mg_ptx_insn *i)
{
    bool own = s->source.kind == MG_FLOW_VARIABLE && (s->source.var->space != MG_SPACE_GLOBAL);
    return i->space == MG_SPACE_GLOBAL || (i->space == MG_SPACE_GENERIC && !own);
}

static bool writes_device(const struct site *s, const struct mg_ptx_insn *i)
{
    return s->number && (s->writes || s->atomic) && of_the_device(s, i);
}

/* ---- a thread's own elements ---- */
enum { OF_THREAD = 1, OF_BLOCK = 2, OF_OTHERS = 4, DEPTH = 12 };

static unsigned made_of(const struct taint *t, const struct mg_ptx_opnd *o, unsigned depth);

static unsigned made_by(const struct taint *t, uint32_t reg, unsigned depth)
{
    if (!depth || mg__flow_ndefs(&t->chains, reg) != 1)
        return OF_OTHERS;
    const struct mg_ptx_insn *i = &t->func->insns[t->chains.defs[t->chains.def_at[reg]]];
    enum mg_ptx_algebra how = mg__ptx_exactly(i);
    unsigned of = 0;
    if (i->access == MG_ACCESSES_LOAD && i->space == MG_SPACE_PARAM)
        return 0;
    if (i->access != MG_ACCESSES_NONE || i->guard >= 0 ||
        !(how == MG_ALG_COPY || how == MG_ALG_CONVERT || how == MG_ALG_ADDRESS || how == MG_ALG_ADD ||
          how == MG_ALG_SUB || how == MG_ALG_MUL || how == MG_ALG_MAD || how == MG_ALG_SHL))
        return OF_OTHERS;
    for (unsigned n = i->nresults; n < i->nops; n++)
        of |= made_of(t, mg__ptx_op(t->func, i, n), depth - 1);
    return of;
}

static unsigned made_of(const struct taint *t, const struct mg_ptx_opnd *o, unsigned depth)
{
    if (o->kind == MG_OPND_REG || (o->kind == MG_OPND_ADDR && o->has_reg))
        return made_by(t, o->index, depth);
    if (o->kind == MG_OPND_SREG)
        return o->index == MG_SR_TID     ? OF_THREAD
               : o->index == MG_SR_CTAID ? OF_BLOCK
               : o->index == MG_SR_NTID  ? 0
                                         : OF_OTHERS;
    return o->kind == MG_OPND_IMM ? 0 : OF_OTHERS;
}

/* Whether only the thread itself writes what it loads here, as far as that can be told. */
static bool is_own(const struct taint *t, const struct mg_ptx_insn *load, int32_t object)
{
    const struct mg_ptx_opnd *at = mg__ptx_op(t->func, load, load->address);
    if (object < 0 || at->kind != MG_OPND_ADDR || !at->has_reg ||
        made_by(t, at->index, DEPTH) != (OF_THREAD | OF_BLOCK))
        return false;
    for (uint32_t k = 0; k < t->info->ninsns; k++) {
        const struct mg_ptx_insn *i = t->info->insns[k].insn;
        const struct site *s = &t->l->code.sites[k];
        if (!writes_device(s, i) || s->object != object)
            continue;
        const struct mg_ptx_opnd *to = mg__ptx_op(t->info->insns[k].func, i, i->address);
        if (t->info->insns[k].func != t->func || s->async || to->kind != MG_OPND_ADDR || !to->has_reg ||
            to->index != at->index || to->imm != at->imm)
            return false;
    }
    return true;
}

/* ---- where values go ---- */
static bool reads_tainted(const struct taint *t, const struct mg_ptx_opnd *o)
{
    bool found = (o->kind == MG_OPND_REG || (o->kind == MG_OPND_ADDR && o->has_reg)) && t->regs[o->index];
    for (uint32_t k = 0; o->kind == MG_OPND_VEC && k < o->count; k++)
        found |= reads_tainted(t, &t->func->operands[o->first + k]);
    return found;
}

static void taint(struct taint *t, const struct mg_ptx_opnd *o)
{
    if (o->kind == MG_OPND_REG && !t->regs[o->index])
        t->regs[o->index] = t->more = true;
    for (uint32_t k = 0; o->kind == MG_OPND_VEC && k < o->count; k++)
        taint(t, &t->func->operands[o->first + k]);
}

/* Whether what the instruction loads may be another block's. */
static bool loads_tainted(const struct taint *t, const struct site *s, const struct mg_ptx_insn *i)
{
    if (!s->number || !(s->reads || s->async))
        return false;
    int32_t object = s->async ? s->from_object : s->object;
    if (i->space == MG_SPACE_CONST || s->class != MG_ORDER_PLAIN)
        return false;
    if (!s->async && !of_the_device(s, i))
        return t->memory[0];
    if (!t->any && !t->written[object < 0 ? (int32_t)t->info->nallocations : object])
        return false;
    return s->async || t->any || t->memory[1] || !is_own(t, i, object);
}

static void follow(struct taint *t, uint32_t insn)
{
    const struct mg_ptx_insn *i = t->info->insns[insn].insn;
    const struct site *s = &t->l->code.sites[insn];
    const bool accesses = mg__ptx_accesses(i), warp = i->effects & MG_E_WARP;
    bool value = loads_tainted(t, s, i), guard = i->guard >= 0 && t->regs[i->guard];
    for (unsigned n = i->nresults; n < i->nops; n++) {
        if (!reads_tainted(t, mg__ptx_op(t->func, i, n)))
            continue;
        value = true;
        t->decides |= (accesses && n == i->address) || (warp && i->flags & MG_F_SYNC && n + 1 == i->nops);
    }
    t->decides |= guard && (accesses || warp || !i->nresults);
    t->decides |= value && !accesses && (!i->nresults || i->effects & MG_E_CALLS);
    if (value && accesses && (s->writes || s->atomic || s->async || !s->number)) {
        bool *memory = &t->memory[!s->async && of_the_device(s, i)];
        t->more |= !*memory;
        *memory = true;
    }
    for (unsigned n = 0; n < i->nresults && (value || guard); n++)
        taint(t, mg__ptx_op(t->func, i, n));
}

static bool decides(struct taint *t)
{
    bool good = true;
    for (bool more = true; more && good && !t->decides;) { /* what one function stores another one may load */
        const bool before[2] = {t->memory[0], t->memory[1]};
        for (uint32_t k = 0, end; k < t->info->ninsns && good && !t->decides; k = end) {
            t->func = t->info->insns[k].func;
            for (end = k + 1; end < t->info->ninsns && t->info->insns[end].func == t->func;)
                end++;
            t->regs = calloc(t->func->nregs + 1, 1);
            good = t->regs && mg__flow_chains(t->func, &t->chains);
            do {
                t->more = false;
                for (uint32_t i = k; good && i < end && !t->decides; i++)
                    follow(t, i);
            } while (t->more && !t->decides);
            mg__flow_chains_free(&t->chains);
            free(t->regs);
        }
        more = memcmp(before, t->memory, sizeof(before)) != 0;
    }
    return t->decides || !good;
}

bool mg__decides(const struct launch *l)
{
    const struct mg_launch_info *info = l->info;
    struct taint t = {.info = info, .l = l, .written = calloc(info->nallocations + 1, sizeof(bool))};
    bool loads = false, result = !t.written;
    for (uint32_t k = 0; t.written && k < info->ninsns; k++) {
        const struct site *s = &l->code.sites[k];
        const struct mg_ptx_insn *i = info->insns[k].insn;
        bool writes = writes_device(s, i) && !(s->async && s->object >= 0 && i->space == MG_SPACE_SHARED);
        if (writes && s->object >= 0 && s->source.kind != MG_FLOW_SEVERAL)
            t.written[s->object] = t.written[info->nallocations] = true;
        else
            t.any |= writes;
        loads |= s->number && s->reads && !s->writes && (s->async || of_the_device(s, i));
    }
    if (t.written && loads && (t.any || t.written[info->nallocations]))
        result = decides(&t);
    free(t.written);
    return result;
}
