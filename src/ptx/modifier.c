/* modifier.c - "atom.global.relaxed.gpu.add.u32" to an opcode and the fields of struct mg_ptx_insn.
 *
 * A modifier belongs to a class; an instruction's rule says which classes it takes. A word may belong to several
 * classes (`lo` is a half of a product or an unsigned comparison): the first that the rule takes is meant. Instructions
 * of group LATER have no rule and take anything. The result depends on the text alone, so each text is decoded once a
 * module. To add a modifier: a row in `modifiers`, and its class in the rules that take it.
 *
 * The rules also hold the kinds of operands, checked in insn.c: d destination register, v the same or a vector, s
 * source (register, constant, special register, symbol), w the same or a vector, i constant, m address, l label, t
 * branch table; what follows a `?` may be absent, `*` is anything. The second half of a dual destination is not
 * counted.
 */
#include "ptx/ptx_priv.h"

#define CLASSES(X)                                                                                                     \
    X(TYPE)                                                                                                            \
    X(ROUND) X(CMP) X(BOOL) X(ATOMOP) X(SEM) X(SCOPE) X(SPACE) X(VEC) X(FLAG) X(CACHE) X(LEVEL) X(SHFL) X(VOTE) X(BAR) \
        X(PRMT) X(SHF) X(TESTP) X(CPASYNC) X(PACK) X(LOGIC) X(WORD) X(PROXY) X(LATER)
enum {
#define BIT_NUMBER(name) BIT_##name,
    CLASSES(BIT_NUMBER)
#undef BIT_NUMBER
};
#define C(name) (UINT64_C(1) << BIT_##name)

struct modifier {
    const char *word;
    uint64_t class;
    uint32_t value, value2;
};
static const struct modifier modifiers[] = {
    {"rn", C(ROUND), MG_RND_RN, 0},
    {"rz", C(ROUND), MG_RND_RZ, 0},
    {"rm", C(ROUND), MG_RND_RM, 0},
    {"rp", C(ROUND), MG_RND_RP, 0},
    {"rna", C(ROUND), MG_RND_RNA, 0},
    {"rni", C(ROUND), MG_RND_RNI, 0},
    {"rzi", C(ROUND), MG_RND_RZI, 0},
    {"rmi", C(ROUND), MG_RND_RMI, 0},
    {"rpi", C(ROUND), MG_RND_RPI, 0},
    {"rs", C(ROUND), MG_RND_RS, 0},
    {"lo", C(FLAG), MG_F_LO, 0},
    {"hi", C(FLAG), MG_F_HI, 0},
    {"eq", C(CMP), MG_CMP_EQ, 0},
    {"ne", C(CMP), MG_CMP_NE, 0},
    {"lt", C(CMP), MG_CMP_LT, 0},
    {"le", C(CMP), MG_CMP_LE, 0},
    {"gt", C(CMP), MG_CMP_GT, 0},
    {"ge", C(CMP), MG_CMP_GE, 0},
    {"lo", C(CMP), MG_CMP_LO, 0},
    {"ls", C(CMP), MG_CMP_LS, 0},
    {"hi", C(CMP), MG_CMP_HI, 0},
    {"hs", C(CMP), MG_CMP_HS, 0},
    {"equ", C(CMP), MG_CMP_EQU, 0},
    {"neu", C(CMP), MG_CMP_NEU, 0},
    {"ltu", C(CMP), MG_CMP_LTU, 0},
    {"leu", C(CMP), MG_CMP_LEU, 0},
    {"gtu", C(CMP), MG_CMP_GTU, 0},
    {"geu", C(CMP), MG_CMP_GEU, 0},
    {"num", C(CMP), MG_CMP_NUM, 0},
    {"nan", C(CMP), MG_CMP_NAN, 0},
    {"and", C(BOOL), MG_BOOL_AND, 0},
    {"or", C(BOOL), MG_BOOL_OR, 0},
    {"xor", C(BOOL), MG_BOOL_XOR, 0},
    {"popc", C(BOOL), MG_BOOL_POPC, 0},
    {"and", C(LOGIC), MG_BOOL_AND, 0}, /* lop3's have no .xor */
    {"or", C(LOGIC), MG_BOOL_OR, 0},
    {"and", C(ATOMOP), MG_ATOM_AND, 0},
    {"or", C(ATOMOP), MG_ATOM_OR, 0},
    {"xor", C(ATOMOP), MG_ATOM_XOR, 0},
    {"cas", C(ATOMOP), MG_ATOM_CAS, 0},
    {"exch", C(ATOMOP), MG_ATOM_EXCH, 0},
    {"add", C(ATOMOP), MG_ATOM_ADD, 0},
    {"inc", C(ATOMOP), MG_ATOM_INC, 0},
    {"dec", C(ATOMOP), MG_ATOM_DEC, 0},
    {"min", C(ATOMOP), MG_ATOM_MIN, 0},
    {"max", C(ATOMOP), MG_ATOM_MAX, 0},
    {"weak", C(SEM), MG_SEM_WEAK, 0},
    {"relaxed", C(SEM), MG_SEM_RELAXED, 0},
    {"acquire", C(SEM), MG_SEM_ACQUIRE, 0},
    {"release", C(SEM), MG_SEM_RELEASE, 0},
    {"acq_rel", C(SEM), MG_SEM_ACQ_REL, 0},
    {"sc", C(SEM), MG_SEM_SC, 0},
    {"volatile", C(SEM), MG_SEM_VOLATILE, 0},
    {"mmio", C(SEM), MG_SEM_MMIO, 0},
    {"cta", C(SCOPE), MG_SCOPE_CTA, 0},
    {"cluster", C(SCOPE), MG_SCOPE_CLUSTER, 0},
    {"gpu", C(SCOPE), MG_SCOPE_GPU, 0},
    {"gl", C(SCOPE), MG_SCOPE_GPU, 0}, /* membar's name for it */
    {"sys", C(SCOPE), MG_SCOPE_SYS, 0},
    {"const", C(SPACE), MG_SPACE_CONST, 0},
    {"global", C(SPACE), MG_SPACE_GLOBAL, 0},
    {"local", C(SPACE), MG_SPACE_LOCAL, 0},
    {"param", C(SPACE), MG_SPACE_PARAM, 0},
    {"param::entry", C(SPACE), MG_SPACE_PARAM, 0},
    {"param::func", C(SPACE), MG_SPACE_PARAM, MG_F_PARAM_FUNC},
    {"shared", C(SPACE), MG_SPACE_SHARED, 0},
    {"shared::cta", C(SPACE), MG_SPACE_SHARED, MG_F_SHARED_CTA},
    {"shared::cluster", C(SPACE), MG_SPACE_SHARED, MG_F_SHARED_CLUSTER},
    {"v2", C(VEC), 2, 0},
    {"v4", C(VEC), 4, 0},
    {"v8", C(VEC), 8, 0},
    {"up", C(SHFL), MG_SUB_UP, 0},
    {"down", C(SHFL), MG_SUB_DOWN, 0},
    {"bfly", C(SHFL), MG_SUB_BFLY, 0},
    {"idx", C(SHFL), MG_SUB_IDX, 0},
    {"all", C(VOTE), MG_SUB_ALL, 0},
    {"any", C(VOTE), MG_SUB_ANY, 0},
    {"uni", C(VOTE), MG_SUB_UNI, 0},
    {"ballot", C(VOTE), MG_SUB_BALLOT, 0},
    {"sync", C(BAR), MG_SUB_SYNC, 0},
    {"arrive", C(BAR), MG_SUB_ARRIVE, 0},
    {"red", C(BAR), MG_SUB_RED, 0},
    {"f4e", C(PRMT), MG_SUB_F4E, 0},
    {"b4e", C(PRMT), MG_SUB_B4E, 0},
    {"rc8", C(PRMT), MG_SUB_RC8, 0},
    {"ecl", C(PRMT), MG_SUB_ECL, 0},
    {"ecr", C(PRMT), MG_SUB_ECR, 0},
    {"rc16", C(PRMT), MG_SUB_RC16, 0},
    {"l", C(SHF), MG_SUB_L, 0},
    {"r", C(SHF), MG_SUB_R, 0},
    {"finite", C(TESTP), MG_SUB_FINITE, 0},
    {"infinite", C(TESTP), MG_SUB_INFINITE, 0},
    {"number", C(TESTP), MG_SUB_NUMBER, 0},
    {"notanumber", C(TESTP), MG_SUB_NOTANUMBER, 0},
    {"normal", C(TESTP), MG_SUB_NORMAL, 0},
    {"subnormal", C(TESTP), MG_SUB_SUBNORMAL, 0},
    {"commit_group", C(CPASYNC), MG_SUB_COMMIT_GROUP, 0},
    {"wait_group", C(CPASYNC), MG_SUB_WAIT_GROUP, 0},
    {"wait_all", C(CPASYNC), MG_SUB_WAIT_ALL, 0},
    {"pack", C(PACK), MG_SUB_PACK, 0},
    {"ftz", C(FLAG), MG_F_FTZ, 0},
    {"sat", C(FLAG), MG_F_SAT, 0},
    {"approx", C(FLAG), MG_F_APPROX, 0},
    {"full", C(FLAG), MG_F_FULL, 0},
    {"wide", C(FLAG), MG_F_WIDE, 0},
    {"cc", C(FLAG), MG_F_CC, 0},
    {"uni", C(FLAG), MG_F_UNI, 0},
    {"sync", C(FLAG), MG_F_SYNC, 0},
    {"aligned", C(FLAG), MG_F_ALIGNED, 0},
    {"NaN", C(FLAG), MG_F_NAN, 0},
    {"xorsign", C(FLAG), MG_F_XORSIGN_ABS, 0},
    {"abs", C(FLAG), MG_F_ABS, 0},
    {"relu", C(FLAG), MG_F_RELU, 0},
    {"satfinite", C(FLAG), MG_F_SATFINITE, 0},
    {"wrap", C(FLAG), MG_F_WRAP, 0},
    {"clamp", C(FLAG), MG_F_CLAMP, 0},
    {"shiftamt", C(FLAG), MG_F_SHIFTAMT, 0},
    {"to", C(FLAG), MG_F_TO, 0},
    {"nc", C(FLAG), MG_F_NC, 0},
    {"noftz", C(FLAG), MG_F_NOFTZ, 0},
    /* Words without an effect on results */
    {"ca", C(CACHE), 0, 0},
    {"cg", C(CACHE), 0, 0},
    {"cs", C(CACHE), 0, 0},
    {"cv", C(CACHE), 0, 0},
    {"lu", C(CACHE), 0, 0},
    {"wb", C(CACHE), 0, 0},
    {"wt", C(CACHE), 0, 0},
    {"unified", C(CACHE), 0, 0},
    {"L1", C(LEVEL), 0, 0},
    {"L2", C(LEVEL), 0, 0},
    {"L1::evict_normal", C(LEVEL), 0, 0},
    {"L1::evict_unchanged", C(LEVEL), 0, 0},
    {"L1::evict_first", C(LEVEL), 0, 0},
    {"L1::evict_last", C(LEVEL), 0, 0},
    {"L1::no_allocate", C(LEVEL), 0, 0},
    {"L2::evict_normal", C(LEVEL), 0, 0},
    {"L2::evict_unchanged", C(LEVEL), 0, 0},
    {"L2::evict_first", C(LEVEL), 0, 0},
    {"L2::evict_last", C(LEVEL), 0, 0},
    {"L2::64B", C(LEVEL), 0, 0},
    {"L2::128B", C(LEVEL), 0, 0},
    {"L2::256B", C(LEVEL), 0, 0},
    {"L2::cache_hint", C(LEVEL), 0, 0},
    {"fractional", C(WORD), 0, 0},
    {"range", C(WORD), 0, 0},
    {"cvt", C(WORD), 0, 0},
    {"mask", C(WORD), 0, 0},
    {"launch_dependents", C(WORD), 0, 0},
    {"wait", C(WORD), 0, 0},
    {"inc", C(WORD), 0, 0},
    {"dec", C(WORD), 0, 0},
    {"alias", C(PROXY), 0, 0},
    {"async", C(PROXY), 0, 0},
    {"async::generic", C(PROXY), 0, 0},
    {"sync_restrict::shared::cta", C(PROXY), 0, 0},
    {"sync_restrict::shared::cluster", C(PROXY), 0, 0},
    {"mbarrier_init", C(PROXY), 0, 0},
    {"tensormap::generic", C(PROXY), 0, 0},
    {"proxy::async", C(PROXY), 0, 0},
    /* Known, and not executed: the instruction becomes one for later */
    {"tensormap", C(LATER), 0, 0},
    {"f32x2", C(LATER), 1, 0},
    {"e2m1", C(LATER), 1, 0},
    {"e2m1x2", C(LATER), 1, 0},
    {"e2m1x4", C(LATER), 1, 0},
    {"e2m3", C(LATER), 1, 0},
    {"e2m3x2", C(LATER), 1, 0},
    {"e2m3x4", C(LATER), 1, 0},
    {"e3m2", C(LATER), 1, 0},
    {"e3m2x2", C(LATER), 1, 0},
    {"e3m2x4", C(LATER), 1, 0},
    {"e4m3x4", C(LATER), 1, 0},
    {"e5m2x4", C(LATER), 1, 0},
    {"ue8m0", C(LATER), 1, 0},
    {"ue8m0x2", C(LATER), 1, 0},
    {"u8x4", C(LATER), 1, 0},
    {"s8x4", C(LATER), 1, 0},
    {"s2f6x2", C(LATER), 1, 0},
    {"scaled::n2::ue8m0", C(LATER), 0, 0},
};

#define HALF (MG_F_LO | MG_F_HI)
#define FLOAT_FLAGS (MG_F_FTZ | MG_F_SAT)
#define T (C(TYPE) | C(LATER))
#define ACCESS (T | C(SEM) | C(SCOPE) | C(SPACE) | C(VEC) | C(CACHE) | C(LEVEL))

static const struct rule rules[MG_OP_COUNT] = {
    [MG_OP_ADD] = {T | C(ROUND), 0, FLOAT_FLAGS | MG_F_CC, 1, "dss"},
    [MG_OP_SUB] = {T | C(ROUND), 0, FLOAT_FLAGS | MG_F_CC, 1, "dss"},
    [MG_OP_MUL] = {T | C(ROUND), 0, FLOAT_FLAGS | HALF | MG_F_WIDE, 1, "dss"},
    [MG_OP_MAD] = {T | C(ROUND), 0, FLOAT_FLAGS | HALF | MG_F_WIDE | MG_F_CC, 1, "dsss"},
    [MG_OP_MUL24] = {T, 0, HALF, 1, "dss"},
    [MG_OP_MAD24] = {T, 0, HALF | MG_F_SAT, 1, "dsss"},
    [MG_OP_SAD] = {T, 0, 0, 1, "dsss"},
    [MG_OP_DIV] = {T | C(ROUND), 0, MG_F_FTZ | MG_F_APPROX | MG_F_FULL, 1, "dss"},
    [MG_OP_REM] = {T, 0, 0, 1, "dss"},
    [MG_OP_ABS] = {T, 0, MG_F_FTZ, 1, "ds"},
    [MG_OP_NEG] = {T, 0, MG_F_FTZ, 1, "ds"},
    [MG_OP_MIN] = {T, 0, MG_F_FTZ | MG_F_NAN | MG_F_XORSIGN_ABS | MG_F_ABS | MG_F_RELU, 1, "dss?s"},
    [MG_OP_MAX] = {T, 0, MG_F_FTZ | MG_F_NAN | MG_F_XORSIGN_ABS | MG_F_ABS | MG_F_RELU, 1, "dss?s"},
    [MG_OP_POPC] = {T, 0, 0, 1, "ds"},
    [MG_OP_CLZ] = {T, 0, 0, 1, "ds"},
    [MG_OP_BFIND] = {T, 0, MG_F_SHIFTAMT, 1, "ds"},
    [MG_OP_FNS] = {T, 0, 0, 1, "dsss"},
    [MG_OP_BREV] = {T, 0, 0, 1, "ds"},
    [MG_OP_BFE] = {T, 0, 0, 1, "dsss"},
    [MG_OP_BFI] = {T, 0, 0, 1, "dssss"},
    [MG_OP_SZEXT] = {T, 0, MG_F_WRAP | MG_F_CLAMP, 1, "dss"},
    [MG_OP_BMSK] = {T, 0, MG_F_WRAP | MG_F_CLAMP, 1, "dss"},
    [MG_OP_DP4A] = {T, 0, 0, 2, "dsss"},
    [MG_OP_DP2A] = {T, 0, HALF, 2, "dsss"},
    [MG_OP_ADDC] = {T, 0, MG_F_CC, 1, "dss"},
    [MG_OP_SUBC] = {T, 0, MG_F_CC, 1, "dss"},
    [MG_OP_MADC] = {T, 0, HALF | MG_F_CC, 1, "dsss"},
    [MG_OP_TESTP] = {T | C(TESTP), C(TESTP), 0, 1, "ds"},
    [MG_OP_COPYSIGN] = {T, 0, 0, 1, "dss"},
    [MG_OP_FMA] = {T | C(ROUND), 0, FLOAT_FLAGS | MG_F_RELU, 1, "dsss"},
    [MG_OP_RCP] = {T | C(ROUND), 0, MG_F_FTZ | MG_F_APPROX, 1, "ds"},
    [MG_OP_SQRT] = {T | C(ROUND), 0, MG_F_FTZ | MG_F_APPROX, 1, "ds"},
    [MG_OP_RSQRT] = {T, 0, MG_F_FTZ | MG_F_APPROX, 1, "ds"},
    [MG_OP_SIN] = {T, 0, MG_F_FTZ | MG_F_APPROX, 1, "ds"},
    [MG_OP_COS] = {T, 0, MG_F_FTZ | MG_F_APPROX, 1, "ds"},
    [MG_OP_LG2] = {T, 0, MG_F_FTZ | MG_F_APPROX, 1, "ds"},
    [MG_OP_EX2] = {T, 0, MG_F_FTZ | MG_F_APPROX, 1, "ds"},
    [MG_OP_TANH] = {T, 0, MG_F_APPROX, 1, "ds"},
    [MG_OP_SET] = {T | C(CMP) | C(BOOL), C(CMP), MG_F_FTZ, 2, "dss?s"},
    [MG_OP_SETP] = {T | C(CMP) | C(BOOL), C(CMP), MG_F_FTZ, 1, "dss?s"},
    [MG_OP_SELP] = {T, 0, 0, 1, "dsss"},
    [MG_OP_SLCT] = {T, 0, MG_F_FTZ, 2, "dsss"},
    [MG_OP_AND] = {T, 0, 0, 1, "dss"},
    [MG_OP_OR] = {T, 0, 0, 1, "dss"},
    [MG_OP_XOR] = {T, 0, 0, 1, "dss"},
    [MG_OP_NOT] = {T, 0, 0, 1, "ds"},
    [MG_OP_CNOT] = {T, 0, 0, 1, "ds"},
    [MG_OP_LOP3] = {T | C(LOGIC), 0, 0, 1, "dsssi"},
    [MG_OP_SHF] = {T | C(SHF), C(SHF), MG_F_WRAP | MG_F_CLAMP, 1, "dsss"},
    [MG_OP_SHL] = {T, 0, 0, 1, "dss"},
    [MG_OP_SHR] = {T, 0, 0, 1, "dss"},
    [MG_OP_MOV] = {T | C(VEC), 0, 0, 1, "vw"},
    [MG_OP_PRMT] = {T | C(PRMT), 0, 0, 1, "dsss"},
    [MG_OP_CVT] = {T | C(ROUND) | C(PACK), 0, FLOAT_FLAGS | MG_F_RELU | MG_F_SATFINITE, 2, "dw?ss"},
    [MG_OP_LD] = {ACCESS, 0, MG_F_NC, 1, "vm?s"},
    [MG_OP_LDU] = {T | C(SPACE) | C(VEC), 0, 0, 1, "vm"},
    [MG_OP_ST] = {ACCESS, 0, 0, 1, "mw?s"},
    [MG_OP_ATOM] = {ACCESS | C(ATOMOP), C(ATOMOP), MG_F_NOFTZ, 1, "vmw?ss"},
    [MG_OP_RED] = {ACCESS | C(ATOMOP), C(ATOMOP), MG_F_NOFTZ, 1, "mw?s"},
    [MG_OP_CVTA] = {T | C(SPACE), C(SPACE), MG_F_TO, 1, "ds"},
    [MG_OP_ISSPACEP] = {C(SPACE), C(SPACE), 0, 0, "ds"},
    [MG_OP_CP_ASYNC] = {C(CPASYNC) | C(SPACE) | C(CACHE) | C(LEVEL), 0, 0, 0, "*"},
    [MG_OP_ALLOCA] = {T, 0, 0, 1, "ds?s"},
    [MG_OP_STACKSAVE] = {T, 0, 0, 1, "d"},
    [MG_OP_STACKRESTORE] = {T, 0, 0, 1, "s"},
    [MG_OP_PREFETCH] = {C(SPACE) | C(LEVEL) | C(LATER), 0, 0, 0, "m"},
    [MG_OP_PREFETCHU] = {C(LEVEL), 0, 0, 0, "m"},
    [MG_OP_APPLYPRIORITY] = {C(SPACE) | C(LEVEL), 0, 0, 0, "ms"},
    [MG_OP_DISCARD] = {C(SPACE) | C(LEVEL), 0, 0, 0, "ms"},
    [MG_OP_CREATEPOLICY] = {T | C(WORD) | C(LEVEL) | C(SPACE), 0, 0, 1, "d*"},
    [MG_OP_NANOSLEEP] = {T, 0, 0, 0, "s"},
    [MG_OP_PMEVENT] = {C(WORD), 0, 0, 0, "s"},
    [MG_OP_GRIDDEPCONTROL] = {C(WORD), 0, 0, 0, ""},
    [MG_OP_SETMAXNREG] = {T | C(WORD), 0, MG_F_SYNC | MG_F_ALIGNED, 0, "s"},
    [MG_OP_BRA] = {0, 0, MG_F_UNI, 0, "l"},
    [MG_OP_BRX_IDX] = {0, 0, MG_F_UNI, 0, "st"},
    [MG_OP_CALL] = {0, 0, MG_F_UNI, 0, "*"},
    [MG_OP_RET] = {0, 0, MG_F_UNI, 0, ""},
    [MG_OP_EXIT] = {0, 0, 0, 0, ""},
    [MG_OP_TRAP] = {0, 0, 0, 0, ""},
    [MG_OP_BRKPT] = {0, 0, 0, 0, ""},
    [MG_OP_SHFL] = {T | C(SHFL), C(SHFL), MG_F_SYNC, 1, "dsss?s"},
    [MG_OP_VOTE] = {T | C(VOTE), C(VOTE), MG_F_SYNC, 1, "ds?s"},
    [MG_OP_MATCH] = {T | C(VOTE), C(VOTE), MG_F_SYNC, 1, "dss"},
    [MG_OP_REDUX] = {T | C(ATOMOP), C(ATOMOP), MG_F_SYNC | MG_F_NAN | MG_F_ABS, 1, "dss"},
    [MG_OP_ACTIVEMASK] = {T, 0, 0, 1, "d"},
    [MG_OP_ELECT] = {0, 0, MG_F_SYNC, 0, "ds"},
    [MG_OP_BAR] = {T | C(BAR) | C(BOOL) | C(SCOPE), C(BAR), MG_F_ALIGNED, 0, "*"},
    [MG_OP_BAR_WARP] = {C(BAR), C(BAR), 0, 0, "s"},
    [MG_OP_MEMBAR] = {C(SCOPE), C(SCOPE), 0, 0, ""},
    [MG_OP_FENCE] = {C(SEM) | C(SCOPE) | C(PROXY), 0, 0, 0, ""},
    [MG_OP_FENCE_PROXY] = {C(SEM) | C(SCOPE) | C(PROXY) | C(SPACE), 0, 0, 0, "*"},
};

const struct rule *mg__ptx_rule(enum mg_ptx_opcode opcode)
{
    return mg__ptx_isa(opcode)->engine && rules[opcode].operands ? &rules[opcode] : NULL;
}

static bool is_word(const struct modifier *modifier, const char *word, size_t length)
{
    return strlen(modifier->word) == length && memcmp(modifier->word, word, length) == 0;
}

/* Records one modifier of a class that the rule takes. */
static void set(struct mg_ptx_insn *insn, const struct modifier *m, bool *later)
{
    switch (__builtin_ctzll(m->class)) {
    case BIT_ROUND:
        insn->round = (uint8_t)m->value;
        break;
    case BIT_CMP:
        insn->cmp = (uint8_t)m->value;
        break;
    case BIT_BOOL:
    case BIT_LOGIC:
        insn->boolop = (uint8_t)m->value;
        break;
    case BIT_ATOMOP:
        insn->atomop = (uint8_t)m->value;
        break;
    case BIT_SCOPE:
        insn->scope = (uint8_t)m->value;
        break;
    case BIT_VEC:
        insn->vec = (uint8_t)m->value;
        break;
    case BIT_FLAG:
        insn->flags |= m->value;
        break;
    case BIT_SEM: /* .mmio.relaxed is mmio */
        if (insn->sem != MG_SEM_MMIO)
            insn->sem = (uint8_t)m->value;
        break;
    case BIT_SPACE:
        if (insn->space == MG_SPACE_GENERIC)
            insn->space = (uint8_t)m->value;
        else
            insn->space2 = (uint8_t)m->value;
        insn->flags |= m->value2;
        break;
    case BIT_SHFL:
    case BIT_VOTE:
    case BIT_BAR:
    case BIT_PRMT:
    case BIT_SHF:
    case BIT_TESTP:
    case BIT_CPASYNC:
    case BIT_PACK:
        insn->sub = (uint8_t)m->value;
        break;
    case BIT_LATER:
        *later = true;
        if (m->value && insn->ntypes < MG_COUNT(insn->type))
            insn->type[insn->ntypes++] = MG_T_OTHER;
        break;
    default:
        break; /* a hint */
    }
}

static bool one_modifier(struct mg_ptx_insn *insn, const struct rule *rule, const char *word, size_t length,
                         uint64_t *seen, bool *later)
{
    enum mg_ptx_type type;
    bool parts = !rule || *seen & C(PACK);
    if ((!rule || rule->classes & C(TYPE)) && mg__ptx_type_word(word, length, parts, &type)) {
        if (insn->ntypes < MG_COUNT(insn->type))
            insn->type[insn->ntypes++] = (uint8_t)type;
        else if (rule)
            return false;
        return true;
    }
    for (size_t i = 0; i < MG_COUNT(modifiers); i++) {
        const struct modifier *m = &modifiers[i];
        if (!is_word(m, word, length))
            continue;
        if (m->class == C(FLAG)) {
            if (rule && !(m->value & rule->flags))
                continue;
        } else if (rule && !(m->class & rule->classes)) {
            continue;
        }
        *seen |= m->class;
        set(insn, m, later);
        return true;
    }
    return !rule;
}

/* cvt.pack.sat of two numbers to 16 bits, or to 8, 4 or 2 bits in front of a third operand (PTX ISA, cvt.pack). */
static bool pack_fits(const struct mg_ptx_insn *insn)
{
    if (!(insn->flags & MG_F_SAT) || insn->type[1] != MG_T_S32)
        return false;
    switch (insn->type[0]) {
    case MG_T_U16:
    case MG_T_S16:
        return insn->ntypes == 2;
    case MG_T_U8:
    case MG_T_S8:
    case MG_T_U4:
    case MG_T_S4:
    case MG_T_U2:
    case MG_T_S2:
        return insn->ntypes == 3 && insn->type[2] == MG_T_B32;
    default:
        return false;
    }
}

/* What an instruction lacks, in words for the message. */
static const char *missing(const struct mg_ptx_insn *insn, const struct rule *rule, uint64_t seen)
{
    if (insn->ntypes < rule->ntypes)
        return rule->ntypes == 1 ? "a type, such as .u32" : "two types, such as .f32.s32";
    if (insn->sub == MG_SUB_PACK && !pack_fits(insn))
        return ".sat, and types as in .u16.s32 or .u4.s32.b32";
    uint64_t lack = rule->needs & ~seen;
    if (!lack)
        return NULL;
    switch (__builtin_ctzll(lack)) {
    case BIT_CMP:
        return "a comparison, such as .lt";
    case BIT_ATOMOP:
        return "an operation, such as .add";
    case BIT_SPACE:
        return "a state space, such as .global";
    case BIT_SCOPE:
        return "a level, such as .gl";
    case BIT_SHFL:
        return "a mode: .up, .down, .bfly or .idx";
    case BIT_VOTE:
        return "a mode, such as .any";
    case BIT_BAR:
        return ".sync, .arrive or .red";
    case BIT_SHF:
        return "a direction: .l or .r";
    default:
        return "a property, such as .finite";
    }
}

/* What the words mean together. */
static void settle(struct mg_ptx_insn *insn, bool later, bool is_bar)
{
    if (insn->flags & MG_F_XORSIGN_ABS)
        insn->flags &= ~(uint32_t)MG_F_ABS;
    if (insn->opcode == MG_OP_CVTA || insn->opcode == MG_OP_ISSPACEP)
        insn->space2 = insn->space;
    if (insn->opcode == MG_OP_BAR_WARP)
        insn->sub = MG_SUB_WARP_SYNC;
    if (is_bar) /* bar is barrier.aligned (PTX ISA 9.7.13.1) */
        insn->flags |= MG_F_ALIGNED;
    if (later)
        insn->flags |= MG_F_LATER;
}

bool mg__ptx_decode(struct parser *p, const char *text, size_t length, const struct mg_ptx_insn **result)
{
    struct mg_ptx_insn *insn = mg__strtab_get(&p->insns, text, length);
    *result = insn;
    if (insn)
        return true;
    size_t used;
    enum mg_ptx_opcode opcode = mg__ptx_find_opcode(text, length, &used);
    if (opcode == MG_OP_INVALID) {
        mg__ptx_fail(p, "unknown instruction '%.*s'", (int)MG_MIN(length, (size_t)80), text);
        return mg__ptx_hint(p, "docs/isa.md lists the instructions of PTX ISA 9.0.");
    }
    insn = mg__arena_alloc(&p->temp, sizeof(*insn));
    if (!insn)
        return mg__ptx_nomem(p);
    insn->opcode = (uint16_t)opcode;
    insn->vec = 1;
    insn->guard = -1;
    const struct rule *rule = mg__ptx_rule(opcode);
    uint64_t seen = 0;
    bool later = !rule;
    for (size_t at = used; at < length;) {
        size_t start = ++at; /* behind the dot */
        while (at < length && text[at] != '.')
            at++;
        if (!one_modifier(insn, rule, text + start, at - start, &seen, &later)) {
            mg__ptx_fail(p, "'%s' does not take the modifier '.%.*s'", mg__ptx_isa(opcode)->name,
                         (int)MG_MIN(at - start, (size_t)60), text + start);
            return mg__ptx_hint(p, "Margay knows the modifiers of PTX ISA 9.0.");
        }
    }
    const char *lack = rule ? missing(insn, rule, seen) : NULL;
    if (lack && !(later && insn->opcode == MG_OP_PREFETCH))
        return mg__ptx_fail(p, "'%.*s' needs %s", (int)MG_MIN(length, (size_t)80), text, lack);
    settle(insn, later, opcode == MG_OP_BAR && text[3] != 'r');
    insn->text = mg__arena_strndup(&p->module->arena, text, length);
    if (!insn->text || !mg__strtab_put(&p->insns, text, length, insn))
        return mg__ptx_nomem(p);
    *result = insn;
    return true;
}
