/* fuse.c - pairs of PTX instructions of which ptxas makes one: an address, a sum of three, a function of three bits.
 *
 * IMAD and IMAD.WIDE multiply and add, LEA shifts and adds, IADD3 adds three, LOP3 is any function of three words. One
 * whose only reader is its partner, further down in the same block, takes no slot then; the partner is what both are.
 */
#include "time/time_priv.h"

enum does { OTHER, SUM, PRODUCT, WIDE_PRODUCT, SHIFT, LOGIC };

static enum does what_it_does(const struct mg_ptx_insn *insn, unsigned *size)
{
    enum mg_ptx_type type = insn->ntypes ? (enum mg_ptx_type)insn->type[0] : MG_T_NONE;
    *size = mg__ptx_type_size(type);
    if (insn->guard >= 0 || (*size != 4 && *size != 8) || type == MG_T_F32 || type == MG_T_F64)
        return OTHER;
    if (insn->flags & MG_F_WIDE) {
        *size = 8;
        return insn->algebra == MG_ALG_MUL ? WIDE_PRODUCT : OTHER;
    }
    switch (insn->algebra) {
    case MG_ALG_ADD:
    case MG_ALG_SUB:
        return SUM;
    case MG_ALG_MUL:
        return *size == 4 ? PRODUCT : OTHER;
    case MG_ALG_SHL:
        return SHIFT;
    case MG_ALG_AND:
    case MG_ALG_OR:
    case MG_ALG_XOR:
        return LOGIC;
    default:
        return OTHER;
    }
}

static bool go_together(enum does first, enum does second)
{
    return second == SUM ? first == PRODUCT || first == WIDE_PRODUCT || first == SHIFT || first == SUM
                         : second == LOGIC && first == LOGIC;
}

static void fuse(struct mg_time_op *first, struct mg_time_op *second, enum does how, unsigned size)
{
    first->pipe = MG_PIPE_NONE;
    first->slots = first->interval = 0;
    first->latency = 0;
    if (how == PRODUCT || how == WIDE_PRODUCT) {
        second->pipe = MG_PIPE_FMA;
        second->slots = 1;
        second->interval = 2;
        second->latency = 5;
    } else if (how == SHIFT && size == 4) {
        second->pipe = MG_PIPE_ALU;
    }
}

/* How often each register is read and written. */
static uint8_t *count_uses(const struct mg_time_code *code)
{
    uint8_t *uses = calloc(2 * (size_t)code->nregs + 1, 1);
    for (uint32_t i = 0; uses && i < code->nops; i++)
        for (uint32_t k = 0; k < (uint32_t)code->ops[i].reads + code->ops[i].writes; k++) {
            uint8_t *n = &uses[2 * code->regs[code->ops[i].regs + k] + (k >= code->ops[i].reads)];
            *n = (uint8_t)MG_MIN(*n + 1, 2);
        }
    return uses;
}

bool mg__time_fuse(const struct mg_time_builder *b)
{
    struct mg_time_code *code = b->code;
    uint8_t *uses = count_uses(code);
    uint32_t *by = calloc((size_t)code->nregs + 1, sizeof(*by)); /* the op that writes it in this block, and 1 */
    for (uint32_t k = 0; uses && by && k < code->nblocks; k++)
        for (uint32_t i = code->blocks[k].first; i < code->blocks[k].end; i++) {
            struct mg_time_op *op = &code->ops[i];
            unsigned size, of;
            enum does second = what_it_does(b->info->insns[op->insn].insn, &size);
            for (uint32_t r = 0; r < op->reads && second != OTHER; r++) {
                uint32_t reg = code->regs[op->regs + r], at = by[reg];
                if (at <= code->blocks[k].first || uses[2 * reg] != 1 || uses[2 * reg + 1] != 1)
                    continue;
                enum does first = what_it_does(b->info->insns[code->ops[at - 1].insn].insn, &of);
                if (code->ops[at - 1].pipe == MG_PIPE_NONE || of != size || !go_together(first, second) ||
                    (size == 8 && first == SUM))
                    continue;
                fuse(&code->ops[at - 1], op, first, size);
                second = OTHER;
            }
            for (uint32_t r = 0; r < op->writes && second != OTHER; r++)
                by[code->regs[op->regs + op->reads + r]] = i + 1;
        }
    bool good = uses && by;
    free(uses);
    free(by);
    return good;
}
