/* regs.c - how many registers a thread of a kernel needs, about.
 *
 * PTX has as many virtual registers as it likes; the machine's allocator runs in ptxas. What can be known from PTX is
 * how many values are live at once: a backward dataflow over basic blocks (the classic liveness equations), counting
 * 32-bit units, predicates apart. The device code needs a few more for addresses and reserves; 8 is what ptxas 13 was
 * seen to add on the programs in examples/.
 */
#include "simt/simt_priv.h"

#define RESERVE 8u

static void put(uint64_t *set, uint32_t i, bool on)
{
    if (on)
        set[i / 64] |= 1ull << (i % 64);
    else
        set[i / 64] &= ~(1ull << (i % 64));
}

static bool writes(const struct mg_ptx_insn *i, unsigned n)
{
    switch (i->opcode) {
    case MG_OP_ST: case MG_OP_RED: case MG_OP_BRA: case MG_OP_BRX_IDX: case MG_OP_CALL: case MG_OP_CP_ASYNC:
    case MG_OP_BAR_WARP: case MG_OP_STACKRESTORE: case MG_OP_NANOSLEEP:
        return false;
    case MG_OP_BAR:
        return i->sub == MG_SUB_RED && n == 0;
    default:
        return n == 0 || (n == 1 && i->flags & MG_F_DUAL);
    }
}

/* Applies the instruction backwards to the live set. */
static void step(const struct mg_ptx_func *f, const struct mg_ptx_insn *i, uint64_t *live)
{
    for (unsigned pass = 0; pass < 2; pass++) /* definitions die before uses are born */
        for (unsigned n = 0; n < i->nops; n++) {
            const struct mg_ptx_opnd *o = mg__ptx_op(f, i, n);
            bool def = writes(i, n);
            uint32_t count = o->kind == MG_OPND_VEC ? o->count : 1;
            const struct mg_ptx_opnd *e = o->kind == MG_OPND_VEC ? &f->operands[o->first] : o;
            for (uint32_t k = 0; k < count; k++) {
                if (e[k].kind == MG_OPND_REG && def == (pass == 0) && !(def && i->guard >= 0))
                    put(live, e[k].index, !def);
                else if (e[k].kind == MG_OPND_ADDR && e[k].has_reg && pass == 1)
                    put(live, e[k].index, true);
            }
        }
    if (i->guard >= 0)
        put(live, (uint32_t)i->guard, true);
}

static uint32_t weight(const struct mg_ptx_func *f, const uint64_t *live, size_t words)
{
    uint32_t total = 0;
    for (size_t w = 0; w < words; w++)
        for (uint64_t rest = live[w]; rest; rest &= rest - 1) {
            unsigned size = mg__ptx_type_size((enum mg_ptx_type)f->regs[w * 64 + (size_t)__builtin_ctzll(rest)].type);
            total += size == 0 ? 0 : (size + 3) / 4;
        }
    return total;
}

uint32_t mg__estimate_regs(const struct mg_ptx_func *func)
{
    struct mg_cfg *cfg;
    if (!func->ninsns || mg__cfg_build(func, &cfg) != MG_OK)
        return 16;
    size_t words = func->nregs / 64 + 1;
    uint64_t *in = calloc(words * (cfg->nblocks + 1), sizeof *in);
    uint32_t most = 0;
    if (in) {
        uint64_t *live = &in[words * cfg->nblocks];
        bool changed = true;
        while (changed) {
            changed = false;
            most = 0;
            for (uint32_t b = cfg->nblocks; b-- > 0;) {
                const struct mg_cfg_block *k = &cfg->blocks[b];
                memset(live, 0, words * sizeof *live);
                for (uint32_t s = 0; s < k->nsucc; s++)
                    for (size_t w = 0; w < words; w++)
                        live[w] |= in[words * k->succ[s] + w];
                for (uint32_t i = k->end; i-- > k->first;) {
                    step(func, &func->insns[i], live);
                    most = MG_MAX(most, weight(func, live, words));
                }
                if (memcmp(&in[words * b], live, words * sizeof *live) != 0) {
                    memcpy(&in[words * b], live, words * sizeof *live);
                    changed = true;
                }
            }
        }
    }
    free(in);
    mg__cfg_free(cfg);
    return MG_MAX(most + RESERVE, 16);
}
