/* modifier.c - "atom.global.relaxed.gpu.add.u32" to an opcode and the fields of struct mg_ptx_insn.
 *
 * A modifier belongs to a class; an instruction's row in isa.def says which classes it takes. A word may belong to
 * several classes (`lo` is a half of a product or an unsigned comparison): the first that the row takes is meant.
 * Instructions that are not executed take anything; words that the table knows fill their fields all the same. The
 * result depends on the text alone, so each text is decoded once a module. To add a modifier: a row in `modifiers`, a
 * field for its class in struct mg_ptx_insn if it has none, and its class in the rows of isa.def that take it.
 */
#include <assert.h>

#include "ptx/ptx_priv.h"

/* Classes of modifiers: bits, for what isa.def says of an instruction. */
enum {
    TYPE = 1 << 0, ROUND = 1 << 1, CMP = 1 << 2, BOOL = 1 << 3, ATOMOP = 1 << 4, SEM = 1 << 5, SCOPE = 1 << 6,
    SPACE = 1 << 7, VEC = 1 << 8, FLAG = 1 << 9, CACHE = 1 << 10, LEVEL = 1 << 11, SHFL = 1 << 12, VOTE = 1 << 13,
    BAR = 1 << 14, PRMT = 1 << 15, SHF = 1 << 16, TESTP = 1 << 17, CPASYNC = 1 << 18, PACK = 1 << 19, LOGIC = 1 << 20,
    WORD = 1 << 21, PROXY = 1 << 22, LATER = 1 << 23, MEET = 1 << 24, SHAPE = 1 << 25, LAYOUT = 1 << 26,
    COUNT = 1 << 27, BULK = 1 << 28, TEXEL = 1 << 29
};

/* value2 of class BULK: what `value` is */
enum { OVER, FLAGGED, DIMS };
/* value2 of class TEXEL: what `value` is */
enum { HOW, GEOMETRY, EDGE };
/* value2 of class LEVEL: what `value` is */
enum { AT_LEVEL, EVICT_L1, EVICT_L2, FETCH_L2, POLICY };

struct modifier {
    const char *word;
    uint32_t class;
    uint32_t value, value2;
};
static const struct modifier modifiers[] = {
    {"rn", ROUND, MG_RND_RN, 0},
    {"rz", ROUND, MG_RND_RZ, 0},
    {"rm", ROUND, MG_RND_RM, 0},
    {"rp", ROUND, MG_RND_RP, 0},
    {"rna", ROUND, MG_RND_RNA, 0},
    {"rni", ROUND, MG_RND_RNI, 0},
    {"rzi", ROUND, MG_RND_RZI, 0},
    {"rmi", ROUND, MG_RND_RMI, 0},
    {"rpi", ROUND, MG_RND_RPI, 0},
    {"rs", ROUND, MG_RND_RS, 0},
    {"lo", FLAG, MG_F_LO, 0},
    {"hi", FLAG, MG_F_HI, 0},
    {"eq", CMP, MG_CMP_EQ, 0},
    {"ne", CMP, MG_CMP_NE, 0},
    {"lt", CMP, MG_CMP_LT, 0},
    {"le", CMP, MG_CMP_LE, 0},
    {"gt", CMP, MG_CMP_GT, 0},
    {"ge", CMP, MG_CMP_GE, 0},
    {"lo", CMP, MG_CMP_LO, 0},
    {"ls", CMP, MG_CMP_LS, 0},
    {"hi", CMP, MG_CMP_HI, 0},
    {"hs", CMP, MG_CMP_HS, 0},
    {"equ", CMP, MG_CMP_EQU, 0},
    {"neu", CMP, MG_CMP_NEU, 0},
    {"ltu", CMP, MG_CMP_LTU, 0},
    {"leu", CMP, MG_CMP_LEU, 0},
    {"gtu", CMP, MG_CMP_GTU, 0},
    {"geu", CMP, MG_CMP_GEU, 0},
    {"num", CMP, MG_CMP_NUM, 0},
    {"nan", CMP, MG_CMP_NAN, 0},
    {"and", BOOL, MG_BOOL_AND, 0},
    {"or", BOOL, MG_BOOL_OR, 0},
    {"xor", BOOL, MG_BOOL_XOR, 0},
    {"popc", BOOL, MG_BOOL_POPC, 0},
    {"and", LOGIC, MG_BOOL_AND, 0}, /* lop3's have no .xor */
    {"or", LOGIC, MG_BOOL_OR, 0},
    {"and", ATOMOP, MG_ATOM_AND, 0},
    {"or", ATOMOP, MG_ATOM_OR, 0},
    {"xor", ATOMOP, MG_ATOM_XOR, 0},
    {"cas", ATOMOP, MG_ATOM_CAS, 0},
    {"exch", ATOMOP, MG_ATOM_EXCH, 0},
    {"add", ATOMOP, MG_ATOM_ADD, 0},
    {"inc", ATOMOP, MG_ATOM_INC, 0},
    {"dec", ATOMOP, MG_ATOM_DEC, 0},
    {"min", ATOMOP, MG_ATOM_MIN, 0},
    {"max", ATOMOP, MG_ATOM_MAX, 0},
    {"weak", SEM, MG_PTX_SEM_WEAK, 0},
    {"relaxed", SEM, MG_PTX_SEM_RELAXED, 0},
    {"acquire", SEM, MG_PTX_SEM_ACQUIRE, 0},
    {"release", SEM, MG_PTX_SEM_RELEASE, 0},
    {"acq_rel", SEM, MG_PTX_SEM_ACQ_REL, 0},
    {"sc", SEM, MG_PTX_SEM_SC, 0},
    {"volatile", SEM, MG_PTX_SEM_VOLATILE, 0},
    {"mmio", SEM, MG_PTX_SEM_MMIO, 0},
    {"cta", SCOPE, MG_SCOPE_CTA, 0},
    {"cluster", SCOPE, MG_SCOPE_CLUSTER, 0},
    {"gpu", SCOPE, MG_SCOPE_GPU, 0},
    {"gl", SCOPE, MG_SCOPE_GPU, 0}, /* membar's name for it */
    {"sys", SCOPE, MG_SCOPE_SYS, 0},
    {"const", SPACE, MG_SPACE_CONST, 0},
    {"global", SPACE, MG_SPACE_GLOBAL, 0},
    {"local", SPACE, MG_SPACE_LOCAL, 0},
    {"param", SPACE, MG_SPACE_PARAM, 0},
    {"param::entry", SPACE, MG_SPACE_PARAM, 0},
    {"param::func", SPACE, MG_SPACE_PARAM, MG_F_PARAM_FUNC},
    {"shared", SPACE, MG_SPACE_SHARED, 0},
    {"shared::cta", SPACE, MG_SPACE_SHARED, MG_F_SHARED_CTA},
    {"shared::cluster", SPACE, MG_SPACE_SHARED, MG_F_SHARED_CLUSTER},
    {"v2", VEC, 2, 0},
    {"v4", VEC, 4, 0},
    {"v8", VEC, 8, 0},
    {"up", SHFL, MG_SUB_UP, 0},
    {"down", SHFL, MG_SUB_DOWN, 0},
    {"bfly", SHFL, MG_SUB_BFLY, 0},
    {"idx", SHFL, MG_SUB_IDX, 0},
    {"all", VOTE, MG_SUB_ALL, 0},
    {"any", VOTE, MG_SUB_ANY, 0},
    {"uni", VOTE, MG_SUB_UNI, 0},
    {"ballot", VOTE, MG_SUB_BALLOT, 0},
    {"sync", BAR, MG_SUB_SYNC, 0},
    {"arrive", BAR, MG_SUB_ARRIVE, 0},
    {"red", BAR, MG_SUB_RED, 0},
    {"arrive", MEET, MG_SUB_ARRIVE, 0},
    {"wait", MEET, MG_SUB_WAIT, 0},
    {"f4e", PRMT, MG_SUB_F4E, 0},
    {"b4e", PRMT, MG_SUB_B4E, 0},
    {"rc8", PRMT, MG_SUB_RC8, 0},
    {"ecl", PRMT, MG_SUB_ECL, 0},
    {"ecr", PRMT, MG_SUB_ECR, 0},
    {"rc16", PRMT, MG_SUB_RC16, 0},
    {"l", SHF, MG_SUB_L, 0},
    {"r", SHF, MG_SUB_R, 0},
    {"finite", TESTP, MG_SUB_FINITE, 0},
    {"infinite", TESTP, MG_SUB_INFINITE, 0},
    {"number", TESTP, MG_SUB_NUMBER, 0},
    {"notanumber", TESTP, MG_SUB_NOTANUMBER, 0},
    {"normal", TESTP, MG_SUB_NORMAL, 0},
    {"subnormal", TESTP, MG_SUB_SUBNORMAL, 0},
    {"commit_group", CPASYNC, MG_SUB_COMMIT_GROUP, 0},
    {"wait_group", CPASYNC, MG_SUB_WAIT_GROUP, 0},
    {"wait_all", CPASYNC, MG_SUB_WAIT_ALL, 0},
    {"pack", PACK, MG_SUB_PACK, 0},
    {"ftz", FLAG, MG_F_FTZ, 0},
    {"sat", FLAG, MG_F_SAT, 0},
    {"approx", FLAG, MG_F_APPROX, 0},
    {"full", FLAG, MG_F_FULL, 0},
    {"wide", FLAG, MG_F_WIDE, 0},
    {"cc", FLAG, MG_F_CC, 0},
    {"uni", FLAG, MG_F_UNI, 0},
    {"sync", FLAG, MG_F_SYNC, 0},
    {"aligned", FLAG, MG_F_ALIGNED, 0},
    {"NaN", FLAG, MG_F_NAN, 0},
    {"xorsign", FLAG, MG_F_XORSIGN_ABS, 0},
    {"abs", FLAG, MG_F_ABS, 0},
    {"relu", FLAG, MG_F_RELU, 0},
    {"satfinite", FLAG, MG_F_SATFINITE, 0},
    {"wrap", FLAG, MG_F_WRAP, 0},
    {"clamp", FLAG, MG_F_CLAMP, 0},
    {"shiftamt", FLAG, MG_F_SHIFTAMT, 0},
    {"to", FLAG, MG_F_TO, 0},
    {"nc", FLAG, MG_F_NC, 0},
    {"noftz", FLAG, MG_F_NOFTZ, 0},
    /* Hints, and words without an effect on results */
    {"ca", CACHE, MG_CACHE_CA, 0},
    {"cg", CACHE, MG_CACHE_CG, 0},
    {"cs", CACHE, MG_CACHE_CS, 0},
    {"cv", CACHE, MG_CACHE_CV, 0},
    {"lu", CACHE, MG_CACHE_LU, 0},
    {"wb", CACHE, MG_CACHE_WB, 0},
    {"wt", CACHE, MG_CACHE_WT, 0},
    {"unified", CACHE, 0, 0},
    {"L1", LEVEL, 1, AT_LEVEL},
    {"L2", LEVEL, 2, AT_LEVEL},
    {"tensormap", LEVEL, 0, AT_LEVEL},
    {"L1::evict_normal", LEVEL, MG_EVICT_NORMAL, EVICT_L1},
    {"L1::evict_unchanged", LEVEL, MG_EVICT_UNCHANGED, EVICT_L1},
    {"L1::evict_first", LEVEL, MG_EVICT_FIRST, EVICT_L1},
    {"L1::evict_last", LEVEL, MG_EVICT_LAST, EVICT_L1},
    {"L1::no_allocate", LEVEL, MG_EVICT_NO_ALLOCATE, EVICT_L1},
    {"L2::evict_normal", LEVEL, MG_EVICT_NORMAL, EVICT_L2},
    {"L2::evict_unchanged", LEVEL, MG_EVICT_UNCHANGED, EVICT_L2},
    {"L2::evict_first", LEVEL, MG_EVICT_FIRST, EVICT_L2},
    {"L2::evict_last", LEVEL, MG_EVICT_LAST, EVICT_L2},
    {"L2::64B", LEVEL, 1, FETCH_L2},
    {"L2::128B", LEVEL, 2, FETCH_L2},
    {"L2::256B", LEVEL, 4, FETCH_L2},
    {"L2::cache_hint", LEVEL, MG_F_CACHE_HINT, POLICY},
    {"fractional", WORD, MG_SUB_FRACTIONAL, 0},
    {"range", WORD, MG_SUB_RANGE, 0},
    {"cvt", WORD, MG_SUB_CVT, 0},
    {"mask", WORD, MG_SUB_MASK, 0},
    {"launch_dependents", WORD, MG_SUB_LAUNCH_DEPENDENTS, 0},
    {"wait", WORD, MG_SUB_WAIT, 0},
    {"inc", WORD, MG_SUB_INC, 0},
    {"dec", WORD, MG_SUB_DEC, 0},
    {"m8n8", WORD, MG_SUB_NONE, 0},
    {"trans", WORD, MG_SUB_TRANS, 0},
    {"sp", WORD, MG_SUB_SPARSE, 0},
    {"sp::ordered_metadata", WORD, MG_SUB_SPARSE, 0},
    {"a", WORD, MG_SUB_A, 0},
    {"b", WORD, MG_SUB_B, 0},
    {"c", WORD, MG_SUB_C, 0},
    {"d", WORD, MG_SUB_D, 0},
    {"popc", SHAPE, 0, 0}, /* b1: there is nothing else */
    {"row", LAYOUT, 1, 0},
    {"col", LAYOUT, 2, 0},
    {"x1", COUNT, 1, 0},
    {"x2", COUNT, 2, 0},
    {"x4", COUNT, 4, 0},
    {"noComplete", WORD, MG_SUB_NO_COMPLETE, 0},
    {"expect_tx", WORD, MG_SUB_EXPECT_TX, 0},
    {"parity", WORD, MG_SUB_PARITY, 0},
    {"noinc", WORD, MG_SUB_NOINC, 0},
    {"global_address", WORD, MG_SUB_MAP_ADDRESS, 0},
    {"rank", WORD, MG_SUB_MAP_RANK, 0},
    {"box_dim", WORD, MG_SUB_MAP_BOX, 0},
    {"global_dim", WORD, MG_SUB_MAP_DIM, 0},
    {"global_stride", WORD, MG_SUB_MAP_STRIDE, 0},
    {"element_stride", WORD, MG_SUB_MAP_STEP, 0},
    {"elemtype", WORD, MG_SUB_MAP_TYPE, 0},
    {"interleave_layout", WORD, MG_SUB_MAP_INTERLEAVE, 0},
    {"swizzle_mode", WORD, MG_SUB_MAP_SWIZZLE, 0},
    {"fill_mode", WORD, MG_SUB_MAP_FILL, 0},
    {"b1024", LEVEL, 0, AT_LEVEL},
    {"mbarrier::complete_tx::bytes", BULK, MG_SUB_MBARRIER_BYTES, OVER},
    {"bulk_group", BULK, MG_SUB_BULK_GROUP, OVER},
    {"read", BULK, MG_SUB_READ, OVER},
    {"multicast::cluster", BULK, MG_F_MULTICAST, FLAGGED},
    {"im2col", BULK, MG_F_IM2COL, FLAGGED},
    {"im2col_no_offs", BULK, MG_F_IM2COL, FLAGGED},
    {"tile", BULK, 0, FLAGGED},
    {"1d", BULK, 1, DIMS},
    {"2d", BULK, 2, DIMS},
    {"3d", BULK, 3, DIMS},
    {"4d", BULK, 4, DIMS},
    {"5d", BULK, 5, DIMS},
    {"1d", TEXEL, MG_GEOMETRY_1D, GEOMETRY},
    {"2d", TEXEL, MG_GEOMETRY_2D, GEOMETRY},
    {"3d", TEXEL, MG_GEOMETRY_3D, GEOMETRY},
    {"a1d", TEXEL, MG_GEOMETRY_A1D, GEOMETRY},
    {"a2d", TEXEL, MG_GEOMETRY_A2D, GEOMETRY},
    {"cube", TEXEL, MG_GEOMETRY_CUBE, GEOMETRY},
    {"acube", TEXEL, MG_GEOMETRY_ACUBE, GEOMETRY},
    {"trap", TEXEL, MG_EDGE_TRAP, EDGE},
    {"clamp", TEXEL, MG_EDGE_CLAMP, EDGE},
    {"zero", TEXEL, MG_EDGE_ZERO, EDGE},
    {"level", TEXEL, MG_SUB_TEX_LEVEL, HOW},
    {"grad", TEXEL, MG_SUB_TEX_GRAD, HOW},
    {"r", TEXEL, MG_SUB_TLD4_R, HOW},
    {"g", TEXEL, MG_SUB_TLD4_G, HOW},
    {"a", TEXEL, MG_SUB_TLD4_A, HOW},
    {"b", TEXEL, MG_SUB_SURFACE_B, HOW}, /* of tld4 the blue one */
    {"p", TEXEL, MG_SUB_SURFACE_P, HOW},
    {"width", TEXEL, MG_SUB_ASK_WIDTH, HOW},
    {"height", TEXEL, MG_SUB_ASK_HEIGHT, HOW},
    {"depth", TEXEL, MG_SUB_ASK_DEPTH, HOW},
    {"array_size", TEXEL, MG_SUB_ASK_LAYERS, HOW},
    {"normalized_coords", TEXEL, MG_SUB_ASK_NORMALIZED, HOW},
    {"num_mipmap_levels", TEXEL, MG_SUB_ASK_LEVELS, HOW},
    {"num_samples", TEXEL, MG_SUB_ASK_SAMPLES, HOW},
    {"alias", PROXY, MG_PROXY_ALIAS, 0},
    {"async", PROXY, MG_PROXY_ASYNC, 0},
    {"async::generic", PROXY, MG_PROXY_ASYNC_GENERIC, 0},
    {"sync_restrict::shared::cta", PROXY, MG_PROXY_NONE, 0},
    {"sync_restrict::shared::cluster", PROXY, MG_PROXY_NONE, 0},
    {"mbarrier_init", PROXY, MG_PROXY_MBARRIER_INIT, 0},
    {"tensormap::generic", PROXY, MG_PROXY_TENSORMAP, 0},
    {"proxy::async", PROXY, MG_PROXY_NONE, 0},
    /* Known, and not executed: the instruction becomes one for later */
    {"base", LATER, 0, 0},
    {"2dms", LATER, 0, 0},
    {"a2dms", LATER, 0, 0},
    {"channel_data_type", LATER, 0, 0},
    {"channel_order", LATER, 0, 0},
    {"filter_mode", LATER, 0, 0},
    {"addr_mode_0", LATER, 0, 0},
    {"addr_mode_1", LATER, 0, 0},
    {"addr_mode_2", LATER, 0, 0},
    {"force_unnormalized_coords", LATER, 0, 0},
    {"memory_layout", LATER, 0, 0},
    {"cp_mask", LATER, 0, 0},
    {"ignore_oob", LATER, 0, 0},
    {"im2col::w", LATER, 0, 0},
    {"im2col::w::128", LATER, 0, 0},
    {"tile::gather4", LATER, 0, 0},
    {"tile::scatter4", LATER, 0, 0},
    {"cta_group::1", LATER, 0, 0},
    {"cta_group::2", LATER, 0, 0},
    {"f32x2", LATER, 1, 0},
    {"e2m1", LATER, 1, 0},
    {"e2m1x2", LATER, 1, 0},
    {"e2m1x4", LATER, 1, 0},
    {"e2m3", LATER, 1, 0},
    {"e2m3x2", LATER, 1, 0},
    {"e2m3x4", LATER, 1, 0},
    {"e3m2", LATER, 1, 0},
    {"e3m2x2", LATER, 1, 0},
    {"e3m2x4", LATER, 1, 0},
    {"e4m3x4", LATER, 1, 0},
    {"e5m2x4", LATER, 1, 0},
    {"ue8m0", LATER, 1, 0},
    {"ue8m0x2", LATER, 1, 0},
    {"u8x4", LATER, 1, 0},
    {"s8x4", LATER, 1, 0},
    {"s2f6x2", LATER, 1, 0},
    {"scaled::n2::ue8m0", LATER, 0, 0},
    {"ue4m3", LATER, 1, 0},
    {"kind::f8f6f4", LATER, 0, 0},
    {"kind::mxf8f6f4", LATER, 0, 0},
    {"kind::mxf4", LATER, 0, 0},
    {"kind::mxf4nvf4", LATER, 0, 0},
    {"block_scale", LATER, 0, 0},
    {"scale_vec::1X", LATER, 0, 0},
    {"scale_vec::2X", LATER, 0, 0},
    {"scale_vec::4X", LATER, 0, 0},
    {"m8n16", LATER, 0, 0},
    {"m16n16", LATER, 0, 0},
    {"m16n8", LATER, 0, 0},
    {"b8x16", LATER, 1, 0},
    {"b6x16_p32", LATER, 1, 0},
    {"b4x16_p64", LATER, 1, 0},
};

/* What an instruction's row says of its modifiers: the classes that it takes, those of which it must have one each, and
 * of the flags those that it takes. */
struct rule {
    uint32_t classes, needs, flags;
    uint8_t ntypes; /* at least */
};
/* What takes a type takes those that are not executed, too. */
static const struct rule rules[MG_OP_COUNT] = {
#define ISA(id, name, group, since_ptx, since_sm, operands, access, effects, flops, ntypes, takes, needs, flags) \
    [MG_OP_##id] = {(takes) | ((takes) & TYPE ? LATER : 0), (needs), (flags), (ntypes)},
#include "ptx/isa.def"
#undef ISA
};

static const char *word_of(uint32_t classes, uint32_t value)
{
    for (size_t i = 0; value && i < MG_COUNT(modifiers); i++)
        if (modifiers[i].class & classes && modifiers[i].value == value)
            return modifiers[i].word;
    return "";
}

const char *mg__ptx_sub_name(unsigned sub)
{
    return word_of(SHFL | VOTE | BAR | PRMT | SHF | TESTP | CPASYNC | PACK | WORD, sub);
}

const char *mg__ptx_atomop_name(unsigned atomop)
{
    return word_of(ATOMOP, atomop);
}

static bool is_word(const struct modifier *modifier, const char *word, size_t length)
{
    return strlen(modifier->word) == length && memcmp(modifier->word, word, length) == 0;
}

static void set_level(struct mg_ptx_insn *insn, const struct modifier *m)
{
    switch (m->value2) {
    case EVICT_L1:
    case EVICT_L2:
        insn->evict[m->value2 - EVICT_L1] = (uint8_t)m->value;
        break;
    case FETCH_L2:
        insn->fetch = (uint8_t)m->value;
        break;
    case POLICY:
        insn->flags |= m->value;
        break;
    default:
        insn->level = (uint8_t)m->value;
    }
}

static void set_bulk(struct mg_ptx_insn *insn, const struct modifier *m)
{
    if (m->value2 == OVER)
        insn->sub = (uint8_t)m->value;
    else if (m->value2 == FLAGGED)
        insn->flags |= m->value;
    else
        insn->dims = (uint8_t)m->value;
}

/* Records one modifier of a class that the rule takes. */
static void set(struct mg_ptx_insn *insn, const struct modifier *m, bool *later)
{
    switch (m->class) {
    case ROUND:
        insn->round = (uint8_t)m->value;
        break;
    case CMP:
        insn->cmp = (uint8_t)m->value;
        break;
    case BOOL:
    case LOGIC:
        insn->boolop = (uint8_t)m->value;
        break;
    case ATOMOP:
        insn->atomop = (uint8_t)m->value;
        break;
    case SCOPE:
        insn->scope = (uint8_t)m->value;
        break;
    case VEC:
    case COUNT:
        insn->vec = (uint8_t)m->value;
        break;
    case LAYOUT:
        insn->layout[insn->layout[0] != 0] = (uint8_t)m->value;
        break;
    case SHAPE:
        break;
    case FLAG:
        insn->flags |= m->value;
        break;
    case SEM: /* .mmio.relaxed is mmio */
        if (insn->sem != MG_PTX_SEM_MMIO)
            insn->sem = (uint8_t)m->value;
        break;
    case SPACE:
        if (insn->space == MG_SPACE_GENERIC)
            insn->space = (uint8_t)m->value;
        else
            insn->space2 = (uint8_t)m->value;
        insn->flags |= m->value2;
        break;
    case SHFL:
    case VOTE:
    case BAR:
    case MEET:
    case PRMT:
    case SHF:
    case TESTP:
    case CPASYNC:
    case PACK:
    case WORD:
        if (m->value) /* .m8n8 says nothing, wherever it stands */
            insn->sub = (uint8_t)m->value;
        break;
    case CACHE:
        if (m->value)
            insn->cache = (uint8_t)m->value;
        break;
    case LEVEL:
        set_level(insn, m);
        break;
    case BULK:
        set_bulk(insn, m);
        break;
    case TEXEL:
        *(m->value2 == HOW ? &insn->sub : m->value2 == GEOMETRY ? &insn->dims : &insn->edge) = (uint8_t)m->value;
        break;
    case PROXY:
        if (m->value)
            insn->proxy = (uint8_t)m->value;
        break;
    case LATER:
        *later = true;
        if (m->value && insn->ntypes < MG_COUNT(insn->type))
            insn->type[insn->ntypes++] = MG_T_OTHER;
        break;
    default:
        assert(!"a class of modifiers that no field holds");
    }
}

/* .m16n8k16 and its kin. */
static bool shape(struct mg_ptx_insn *insn, const char *word, size_t length)
{
    char text[16];
    unsigned m, n, k;
    int used = 0;
    if (length >= sizeof(text))
        return false;
    memcpy(text, word, length);
    text[length] = 0;
    if (sscanf(text, "m%3un%3uk%4u%n", &m, &n, &k, &used) != 3 || (size_t)used != length || m > 64 || n > 256)
        return false;
    insn->m = (uint8_t)m;
    insn->n = (uint16_t)n;
    insn->k = (uint16_t)k;
    return true;
}

static bool one_modifier(struct mg_ptx_insn *insn, const struct rule *rule, const char *word, size_t length,
                         uint32_t *seen, bool *later)
{
    enum mg_ptx_type type;
    bool parts = !rule || *seen & (PACK | SHAPE);
    if ((!rule || rule->classes & TYPE) && mg__ptx_type_word(word, length, parts, &type)) {
        if (insn->ntypes < MG_COUNT(insn->type))
            insn->type[insn->ntypes++] = (uint8_t)type;
        else if (rule)
            return false;
        return true;
    }
    if (rule && rule->classes & SHAPE && shape(insn, word, length)) {
        *seen |= SHAPE;
        return true;
    }
    for (size_t i = 0; i < MG_COUNT(modifiers); i++) {
        const struct modifier *m = &modifiers[i];
        if (!is_word(m, word, length))
            continue;
        if (m->class == FLAG) {
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
static const char *missing(const struct mg_ptx_insn *insn, const struct rule *rule, uint32_t seen)
{
    if (insn->ntypes < rule->ntypes)
        return rule->ntypes == 1 ? "a type, such as .u32" : "two types, such as .f32.s32";
    if (insn->sub == MG_SUB_PACK && !pack_fits(insn))
        return ".sat, and types as in .u16.s32 or .u4.s32.b32";
    uint32_t lack = rule->needs & ~seen;
    if (!lack)
        return NULL;
    switch (lack & -lack) {
    case CMP:
        return "a comparison, such as .lt";
    case ATOMOP:
        return "an operation, such as .add";
    case SPACE:
        return "a state space, such as .global";
    case SCOPE:
        return "a level, such as .gl";
    case SHFL:
        return "a mode: .up, .down, .bfly or .idx";
    case VOTE:
        return "a mode, such as .any";
    case BAR:
        return ".sync, .arrive or .red";
    case MEET:
        return ".arrive or .wait";
    case BULK:
        return "what tells that it is over: .mbarrier::complete_tx::bytes or .bulk_group";
    case SHF:
        return "a direction: .l or .r";
    case SHAPE:
        return "a shape, such as .m16n8k16";
    case COUNT:
        return "a number of matrices: .x1, .x2 or .x4";
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
    const struct mg_ptx_isa *row = mg__ptx_isa(opcode);
    const struct rule *rule = row->executed ? &rules[opcode] : NULL;
    insn->vec = 1;
    insn->guard = -1;
    insn->access = row->access;
    insn->effects = row->effects;
    insn->algebra = mg__ptx_algebra(opcode);
    uint32_t seen = 0;
    bool later = !rule;
    for (size_t at = used; at < length;) {
        size_t start = ++at; /* behind the dot */
        while (at < length && text[at] != '.')
            at++;
        if (!one_modifier(insn, rule, text + start, at - start, &seen, &later)) {
            mg__ptx_fail(p, "'%s' does not take the modifier '.%.*s'", row->name,
                         (int)MG_MIN(at - start, (size_t)60), text + start);
            return mg__ptx_hint(p, "Margay knows the modifiers of PTX ISA 9.0.");
        }
    }
    const char *lack = rule ? missing(insn, rule, seen) : NULL;
    if (lack && !(later && insn->opcode == MG_OP_PREFETCH))
        return mg__ptx_fail(p, "'%.*s' needs %s", (int)MG_MIN(length, (size_t)80), text, lack);
    settle(insn, later, opcode == MG_OP_BAR && text[3] != 'r');
    insn->splits = mg__ptx_splits(insn);
    insn->text = mg__arena_strndup(&p->module->arena, text, length);
    if (!insn->text || !mg__strtab_put(&p->insns, text, length, insn))
        return mg__ptx_nomem(p);
    *result = insn;
    return true;
}
