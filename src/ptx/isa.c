/* isa.c - the tables of names: instructions (isa.def), types, spaces, comparisons, special registers. */
#include "ptx/ptx_priv.h"

static const struct mg_ptx_isa isa[MG_OP_COUNT] = {
    [MG_OP_INVALID] = {.name = "", .since_ptx = "", .since_sm = ""},
#define ISA(id, name, group, since_ptx, since_sm, operands, access, effects, flops, ntypes, takes, needs, flags) \
    [MG_OP_##id] = {(name),     MG_G_##group, (operands) != NULL, MG_ACCESSES_##access, (effects), (flops),      \
                    (operands), (since_ptx),  (since_sm)},
#include "ptx/isa.def"
#undef ISA
};

const struct mg_ptx_isa *mg__ptx_isa(enum mg_ptx_opcode opcode)
{
    return &isa[(unsigned)opcode < MG_OP_COUNT ? opcode : MG_OP_INVALID];
}

uint8_t mg__ptx_algebra(enum mg_ptx_opcode opcode)
{
    static const uint8_t algebras[MG_OP_COUNT] = {
#define ISA(id, name, group, since_ptx, since_sm, operands, access, effects, flops, ntypes, takes, needs, flags)
#define ALGEBRA(id, kind) [MG_OP_##id] = (kind),
#include "ptx/isa.def"
#undef ISA
    };
    return algebras[opcode];
}

bool mg__ptx_splits(const struct mg_ptx_insn *i)
{
#define ISA(id, name, group, since_ptx, since_sm, operands, access, effects, flops, ntypes, takes, needs, flags)
#define SPLITS(id, condition)                   \
    if (i->opcode == MG_OP_##id && (condition)) \
        return true;
#include "ptx/isa.def"
#undef ISA
    return false;
}

const char *mg__ptx_operands(const struct mg_ptx_insn *i)
{
#define ISA(id, name, group, since_ptx, since_sm, operands, access, effects, flops, ntypes, takes, needs, flags)
#define FORM(id, condition, operands)           \
    if (i->opcode == MG_OP_##id && (condition)) \
        return (operands);
#include "ptx/isa.def"
#undef ISA
    return mg__ptx_isa((enum mg_ptx_opcode)i->opcode)->operands;
}

const uint32_t *mg__ptx_targets(const struct mg_ptx_func *func, const struct mg_ptx_insn *insn, uint32_t *count)
{
    *count = 0;
    for (unsigned n = 0; insn->effects & MG_E_ENDS && n < insn->nops; n++) {
        const struct mg_ptx_opnd *o = mg__ptx_op(func, insn, n);
        if (o->kind == MG_OPND_LABEL) {
            *count = 1;
            return &o->index;
        }
        if (o->kind == MG_OPND_TABLE) {
            const struct mg_ptx_table *table = &func->tables[o->index];
            *count = table->labels ? (uint32_t)table->count : 0;
            return table->labels;
        }
    }
    return NULL;
}

/* Does `text` begin with the whole dotted parts of `name`? */
static bool begins(const char *text, size_t length, const char *name, size_t name_length)
{
    return name_length <= length && memcmp(text, name, name_length) == 0 &&
           (name_length == length || text[name_length] == '.');
}

enum mg_ptx_opcode mg__ptx_find_opcode(const char *text, size_t length, size_t *used)
{
    enum mg_ptx_opcode best = MG_OP_INVALID;
    *used = 0;
    for (unsigned i = 1; i < MG_OP_COUNT; i++) { /* a plain search: each opcode text is decoded once a module */
        size_t n = strlen(isa[i].name);
        if (n > *used && begins(text, length, isa[i].name, n)) {
            best = (enum mg_ptx_opcode)i;
            *used = n;
        }
    }
    if (best == MG_OP_INVALID && begins(text, length, "barrier", 7)) {
        best = MG_OP_BAR;
        *used = 7;
    }
    return best;
}

static const struct {
    const char *name;
    uint8_t size;
} types[MG_T_COUNT] = {
    [MG_T_NONE] = {"", 0},       [MG_T_B8] = {"b8", 1},         [MG_T_B16] = {"b16", 2},
    [MG_T_B32] = {"b32", 4},     [MG_T_B64] = {"b64", 8},       [MG_T_B128] = {"b128", 16},
    [MG_T_U8] = {"u8", 1},       [MG_T_U16] = {"u16", 2},       [MG_T_U32] = {"u32", 4},
    [MG_T_U64] = {"u64", 8},     [MG_T_S8] = {"s8", 1},         [MG_T_S16] = {"s16", 2},
    [MG_T_S32] = {"s32", 4},     [MG_T_S64] = {"s64", 8},       [MG_T_F16] = {"f16", 2},
    [MG_T_BF16] = {"bf16", 2},   [MG_T_F32] = {"f32", 4},       [MG_T_F64] = {"f64", 8},
    [MG_T_F16X2] = {"f16x2", 4}, [MG_T_BF16X2] = {"bf16x2", 4}, [MG_T_U16X2] = {"u16x2", 4},
    [MG_T_S16X2] = {"s16x2", 4}, [MG_T_TF32] = {"tf32", 4},     [MG_T_E4M3] = {"e4m3", 1},
    [MG_T_E5M2] = {"e5m2", 1},   [MG_T_E4M3X2] = {"e4m3x2", 2}, [MG_T_E5M2X2] = {"e5m2x2", 2},
    [MG_T_U4] = {"u4", 0},       [MG_T_S4] = {"s4", 0},         [MG_T_U2] = {"u2", 0},
    [MG_T_S2] = {"s2", 0},       [MG_T_B1] = {"b1", 0},
    [MG_T_PRED] = {"pred", 0},     [MG_T_OTHER] = {"(other)", 0},
};

unsigned mg__ptx_type_size(enum mg_ptx_type type)
{
    return (unsigned)type < MG_T_COUNT ? types[type].size : 0;
}

const char *mg__ptx_type_name(enum mg_ptx_type type)
{
    return (unsigned)type < MG_T_COUNT ? types[type].name : "";
}

bool mg__ptx_type_word(const char *word, size_t length, bool parts, enum mg_ptx_type *type)
{
    for (unsigned i = MG_T_NONE + 1; i < MG_T_OTHER; i++) {
        bool part = i >= MG_T_U4 && i <= MG_T_B1;
        if ((parts || !part) && strlen(types[i].name) == length && memcmp(types[i].name, word, length) == 0) {
            *type = (enum mg_ptx_type)i;
            return true;
        }
    }
    return false;
}

const char *mg__ptx_space_name(enum mg_ptx_space space)
{
    static const char *const names[MG_SPACE_COUNT] = {
        [MG_SPACE_GENERIC] = "generic", [MG_SPACE_REG] = "reg",     [MG_SPACE_CONST] = "const",
        [MG_SPACE_GLOBAL] = "global",   [MG_SPACE_LOCAL] = "local", [MG_SPACE_PARAM] = "param",
        [MG_SPACE_SHARED] = "shared",
    };
    return (unsigned)space < MG_SPACE_COUNT ? names[space] : "";
}

const char *mg__ptx_cmp_name(enum mg_ptx_cmp cmp)
{
    static const char *const names[] = {
        [MG_CMP_NONE] = "",   [MG_CMP_EQ] = "eq",   [MG_CMP_NE] = "ne",   [MG_CMP_LT] = "lt",   [MG_CMP_LE] = "le",
        [MG_CMP_GT] = "gt",   [MG_CMP_GE] = "ge",   [MG_CMP_LO] = "lo",   [MG_CMP_LS] = "ls",   [MG_CMP_HI] = "hi",
        [MG_CMP_HS] = "hs",   [MG_CMP_EQU] = "equ", [MG_CMP_NEU] = "neu", [MG_CMP_LTU] = "ltu", [MG_CMP_LEU] = "leu",
        [MG_CMP_GTU] = "gtu", [MG_CMP_GEU] = "geu", [MG_CMP_NUM] = "num", [MG_CMP_NAN] = "nan",
    };
    return (unsigned)cmp < MG_COUNT(names) ? names[cmp] : "";
}

/* PTX ISA chapter 10. `dim` counts the parts of one enum value; for CLUSTER and OTHER it is the row's place. */
const struct sreg_entry mg__ptx_sregs[] = {
#define XYZW(name, sreg)                                              \
    {name ".x", sreg, 0}, {name ".y", sreg, 1}, {name ".z", sreg, 2}, \
    {                                                                 \
        name ".w", sreg, 3                                            \
    }
    XYZW("%tid", MG_SR_TID),
    XYZW("%ntid", MG_SR_NTID),
    XYZW("%ctaid", MG_SR_CTAID),
    XYZW("%nctaid", MG_SR_NCTAID),
#undef XYZW
    {"%laneid", MG_SR_LANEID, 0},
    {"%warpid", MG_SR_WARPID, 0},
    {"%nwarpid", MG_SR_NWARPID, 0},
    {"%smid", MG_SR_SMID, 0},
    {"%nsmid", MG_SR_NSMID, 0},
    {"%gridid", MG_SR_GRIDID, 0},
    {"%lanemask_eq", MG_SR_LANEMASK_EQ, 0},
    {"%lanemask_le", MG_SR_LANEMASK_LE, 0},
    {"%lanemask_lt", MG_SR_LANEMASK_LT, 0},
    {"%lanemask_ge", MG_SR_LANEMASK_GE, 0},
    {"%lanemask_gt", MG_SR_LANEMASK_GT, 0},
    {"%clock", MG_SR_CLOCK, 0},
    {"%clock_hi", MG_SR_CLOCK_HI, 0},
    {"%clock64", MG_SR_CLOCK64, 0},
    {"%globaltimer", MG_SR_GLOBALTIMER, 0},
    {"%globaltimer_lo", MG_SR_GLOBALTIMER_LO, 0},
    {"%globaltimer_hi", MG_SR_GLOBALTIMER_HI, 0},
    {"%dynamic_smem_size", MG_SR_DYNAMIC_SMEM_SIZE, 0},
    {"%total_smem_size", MG_SR_TOTAL_SMEM_SIZE, 0},
    {"%envreg0", MG_SR_ENVREG, 0},
    {"%envreg1", MG_SR_ENVREG, 1},
    {"%envreg2", MG_SR_ENVREG, 2},
    {"%envreg3", MG_SR_ENVREG, 3},
    {"%envreg4", MG_SR_ENVREG, 4},
    {"%envreg5", MG_SR_ENVREG, 5},
    {"%envreg6", MG_SR_ENVREG, 6},
    {"%envreg7", MG_SR_ENVREG, 7},
    {"%envreg8", MG_SR_ENVREG, 8},
    {"%envreg9", MG_SR_ENVREG, 9},
    {"%envreg10", MG_SR_ENVREG, 10},
    {"%envreg11", MG_SR_ENVREG, 11},
    {"%envreg12", MG_SR_ENVREG, 12},
    {"%envreg13", MG_SR_ENVREG, 13},
    {"%envreg14", MG_SR_ENVREG, 14},
    {"%envreg15", MG_SR_ENVREG, 15},
    {"%envreg16", MG_SR_ENVREG, 16},
    {"%envreg17", MG_SR_ENVREG, 17},
    {"%envreg18", MG_SR_ENVREG, 18},
    {"%envreg19", MG_SR_ENVREG, 19},
    {"%envreg20", MG_SR_ENVREG, 20},
    {"%envreg21", MG_SR_ENVREG, 21},
    {"%envreg22", MG_SR_ENVREG, 22},
    {"%envreg23", MG_SR_ENVREG, 23},
    {"%envreg24", MG_SR_ENVREG, 24},
    {"%envreg25", MG_SR_ENVREG, 25},
    {"%envreg26", MG_SR_ENVREG, 26},
    {"%envreg27", MG_SR_ENVREG, 27},
    {"%envreg28", MG_SR_ENVREG, 28},
    {"%envreg29", MG_SR_ENVREG, 29},
    {"%envreg30", MG_SR_ENVREG, 30},
    {"%envreg31", MG_SR_ENVREG, 31},
    {"%reserved_smem_offset_begin", MG_SR_RESERVED_SMEM, 0},
    {"%reserved_smem_offset_end", MG_SR_RESERVED_SMEM, 1},
    {"%reserved_smem_offset_cap", MG_SR_RESERVED_SMEM, 2},
    {"%reserved_smem_offset_0", MG_SR_RESERVED_SMEM, 3},
    {"%reserved_smem_offset_1", MG_SR_RESERVED_SMEM, 4},
#define CLUSTER_XYZW(name, first)                                               \
    {name ".x", MG_SR_CLUSTER, first}, {name ".y", MG_SR_CLUSTER, (first) + 1}, \
        {name ".z", MG_SR_CLUSTER, (first) + 2},                                \
    {                                                                           \
        name ".w", MG_SR_CLUSTER, (first) + 3                                   \
    }
    CLUSTER_XYZW("%clusterid", MG_CLUSTER_ID),
    CLUSTER_XYZW("%nclusterid", MG_CLUSTER_COUNT),
    CLUSTER_XYZW("%cluster_ctaid", MG_CLUSTER_CTAID),
    CLUSTER_XYZW("%cluster_nctaid", MG_CLUSTER_NCTAID),
#undef CLUSTER_XYZW
    {"%cluster_ctarank", MG_SR_CLUSTER, MG_CLUSTER_CTARANK},
    {"%cluster_nctarank", MG_SR_CLUSTER, MG_CLUSTER_NCTARANK},
    {"%is_explicit_cluster", MG_SR_CLUSTER, MG_CLUSTER_EXPLICIT},
    {"%pm0", MG_SR_OTHER, 0},
    {"%pm1", MG_SR_OTHER, 1},
    {"%pm2", MG_SR_OTHER, 2},
    {"%pm3", MG_SR_OTHER, 3},
    {"%pm4", MG_SR_OTHER, 4},
    {"%pm5", MG_SR_OTHER, 5},
    {"%pm6", MG_SR_OTHER, 6},
    {"%pm7", MG_SR_OTHER, 7},
    {"%pm0_64", MG_SR_OTHER, 8},
    {"%pm1_64", MG_SR_OTHER, 9},
    {"%pm2_64", MG_SR_OTHER, 10},
    {"%pm3_64", MG_SR_OTHER, 11},
    {"%pm4_64", MG_SR_OTHER, 12},
    {"%pm5_64", MG_SR_OTHER, 13},
    {"%pm6_64", MG_SR_OTHER, 14},
    {"%pm7_64", MG_SR_OTHER, 15},
    {"%aggr_smem_size", MG_SR_OTHER, 16},
    {"%current_graph_exec", MG_SR_OTHER, 17},
};
const size_t mg__ptx_nsregs = MG_COUNT(mg__ptx_sregs);

const char *mg__ptx_sreg_name(enum mg_ptx_sreg sreg, unsigned dim)
{
    for (size_t i = 0; i < mg__ptx_nsregs; i++) {
        if (mg__ptx_sregs[i].sreg == sreg && mg__ptx_sregs[i].dim == dim)
            return mg__ptx_sregs[i].name;
    }
    return "";
}
