/* ptx.h - PTX text in memory: modules, functions, instructions.
 *
 * The parser accepts the whole PTX grammar that nvcc 12 and 13 emit, whether the engine can run it or not; an
 * instruction that isa.def does not know is a syntax error with its line. Everything lives in the module's arena and is
 * immutable after parsing, so it may be read from any thread.
 *
 * Conventions of an instruction's operands, by group (PTX order, flattened):
 *   ALU           d, a, b, c …         a `p|q` destination is two operands, flag MG_F_DUAL; `_` is MG_OPND_SINK
 *   ld            d (REG or VEC), ADDR           st       ADDR, b (REG/IMM or VEC)
 *   atom          d, ADDR, b [, c]               red      ADDR, b
 *   cp.async      ADDR(shared), ADDR(global), IMM cp-size [, src-size]
 *   bra           LABEL                          brx.idx  a, LABEL-table (MG_OPND_TABLE)
 *   call          VEC of returned params (SYMBOL), target (FUNC or REG), VEC of argument params (SYMBOL)
 *                 [, PROTO or TABLE]; absent lists are empty VECs
 *   bar/barrier   ids, counts and predicates in PTX order; opcode MG_OP_BAR, sub-operation in `sub`
 *
 * The letters in isa.def give each operand its role. The parser holds every instruction that the engine executes to
 * this: the number and kinds of its operands, the
 * modifiers it must have and no others, vectors as long as .v2 .v4 .v8 say. A cache policy is one operand more at the
 * end. Only registers that the code names exist in func->regs: a range %r<1000> costs nothing by itself. Names there
 * and in func->vars need not be unique, for inner scopes may shadow outer ones; indices and pointers are.
 * cvta and isspacep carry their space in both `space` and `space2`.
 */
#ifndef MG_PTX_H
#define MG_PTX_H

#include "base/base.h"

enum mg_ptx_type {
    MG_T_NONE = 0,
    MG_T_B8, MG_T_B16, MG_T_B32, MG_T_B64, MG_T_B128,
    MG_T_U8, MG_T_U16, MG_T_U32, MG_T_U64,
    MG_T_S8, MG_T_S16, MG_T_S32, MG_T_S64,
    MG_T_F16, MG_T_BF16, MG_T_F32, MG_T_F64,
    MG_T_F16X2, MG_T_BF16X2, MG_T_U16X2, MG_T_S16X2,
    MG_T_TF32, MG_T_E4M3, MG_T_E5M2, MG_T_E4M3X2, MG_T_E5M2X2,
    MG_T_U4, MG_T_S4, MG_T_U2, MG_T_S2, MG_T_B1, /* cvt.pack's and matrices': no register or variable has them */
    MG_T_PRED,
    MG_T_OTHER, /* a type that parses and is not executed; its text is in insn->text */
    MG_T_COUNT
};
unsigned mg__ptx_type_size(enum mg_ptx_type type);         /* bytes; PRED, NONE and less than a byte: 0 */
const char *mg__ptx_type_name(enum mg_ptx_type type);      /* "u32" */

enum mg_ptx_space {
    MG_SPACE_GENERIC = 0, /* none written */
    MG_SPACE_REG, MG_SPACE_CONST, MG_SPACE_GLOBAL, MG_SPACE_LOCAL, MG_SPACE_PARAM, MG_SPACE_SHARED,
    MG_SPACE_COUNT
};
const char *mg__ptx_space_name(enum mg_ptx_space space);

/* One value a row of isa.def: MG_OP_ADD, MG_OP_LD, … */
enum mg_ptx_opcode {
    MG_OP_INVALID = 0,
#define ISA(id, name, group, since_ptx, since_sm, operands, access, effects, flops, ntypes, takes, needs, flags) \
    MG_OP_##id,
#include "ptx/isa.def"
#undef ISA
    MG_OP_COUNT
};
enum mg_ptx_group {
    MG_G_ALU,     /* computes registers from registers: a row or rows of sem.def */
    MG_G_MEM,     /* ld, st, atom, red, cp.async, … */
    MG_G_CONTROL, /* bra, brx, call, ret, exit, trap, … */
    MG_G_WARP,    /* shfl, vote, match, redux, activemask, elect */
    MG_G_SYNC,    /* bar, barrier, fence, membar */
    MG_G_MISC,    /* hints without a result: prefetch, discard, … */
    MG_G_CLUSTER, MG_G_MBARRIER, MG_G_BULK, MG_G_MATRIX, MG_G_TEXTURE, MG_G_VIDEO,
    MG_G_COUNT
};
enum mg_ptx_access_kind {
    MG_ACCESSES_NONE, MG_ACCESSES_LOAD, MG_ACCESSES_STORE,
    MG_ACCESSES_ATOM, /* reads and writes, and gives the old value */
    MG_ACCESSES_RED,  /* reads and writes */
    MG_ACCESSES_COPY  /* from its second address to its first */
};
enum mg_ptx_effect {
    MG_E_ENDS = 1,    /* ends a basic block */
    MG_E_LEAVES = 2,  /* the thread leaves the function for good: ret, exit */
    MG_E_TRAPS = 4,   /* the launch ends */
    MG_E_CALLS = 8,
    MG_E_SYNCS = 16,  /* threads of the block meet, or tell that they came */
    MG_E_WARP = 32,   /* lanes of the warp meet or exchange values */
    MG_E_ORDERS = 64, /* memory accesses */
    /* Asynchronous: what it writes is read then, too, and written when it is waited for; without results it is that
     * wait, and reads and writes all registers of the function that may be in flight. */
    MG_E_FLIES = 128
};
/* What a result is of its sources, as integers that wrap. */
enum mg_ptx_algebra {
    MG_ALG_NONE, /* made of all of them, somehow */
    MG_ALG_COPY, MG_ALG_CONVERT,
    MG_ALG_ADDRESS, /* the same place in another space */
    MG_ALG_ADD, MG_ALG_SUB, MG_ALG_MUL, MG_ALG_MAD, MG_ALG_SHL, MG_ALG_NEG, MG_ALG_AND, MG_ALG_OR, MG_ALG_XOR,
    MG_ALG_BITS,   /* bits of them, elsewhere */
    MG_ALG_SELECT, /* the first or the second */
    MG_ALG_TRUTH,  /* what is true of them: nothing of theirs is in it */
    MG_ALG_ROUGH = 16 /* or'd: not to the bit: a carry comes in, bits are lost, it rounds, it is another lane's */
};
/* What an instruction does with one of its operands. Of an ADDRESS, READ and WRITE are what is done to the memory; its
 * register is always read. */
enum mg_ptx_role {
    MG_ROLE_READ = 1, MG_ROLE_WRITE = 2, MG_ROLE_ADDRESS = 4, MG_ROLE_PREDICATE = 8, MG_ROLE_LABEL = 16
};
struct mg_ptx_isa { /* a row of isa.def */
    const char *name; /* up to the first '.', or with the parts that make it another instruction: "cp.async" */
    enum mg_ptx_group group;
    bool executed;
    uint8_t access;       /* enum mg_ptx_access_kind */
    uint8_t effects;      /* enum mg_ptx_effect, or'd */
    uint8_t flops;        /* floating-point operations of a lane, if its type is one */
    const char *operands; /* isa.def explains the letters; NULL: not executed, any */
    const char *since_ptx, *since_sm;
};
const struct mg_ptx_isa *mg__ptx_isa(enum mg_ptx_opcode opcode);

enum mg_ptx_round { MG_RND_NONE, MG_RND_RN, MG_RND_RZ, MG_RND_RM, MG_RND_RP, MG_RND_RNA,
                    MG_RND_RNI, MG_RND_RZI, MG_RND_RMI, MG_RND_RPI, MG_RND_RS };
enum mg_ptx_cmp { MG_CMP_NONE, MG_CMP_EQ, MG_CMP_NE, MG_CMP_LT, MG_CMP_LE, MG_CMP_GT, MG_CMP_GE,
                  MG_CMP_LO, MG_CMP_LS, MG_CMP_HI, MG_CMP_HS,
                  MG_CMP_EQU, MG_CMP_NEU, MG_CMP_LTU, MG_CMP_LEU, MG_CMP_GTU, MG_CMP_GEU, MG_CMP_NUM, MG_CMP_NAN };
const char *mg__ptx_cmp_name(enum mg_ptx_cmp cmp);
/* setp, set, bar.red; of redux.sync it is an enum mg_ptx_atomop */
enum mg_ptx_bool { MG_BOOL_NONE, MG_BOOL_AND, MG_BOOL_OR, MG_BOOL_XOR, MG_BOOL_POPC };
enum mg_ptx_atomop { MG_ATOM_NONE, MG_ATOM_AND, MG_ATOM_OR, MG_ATOM_XOR, MG_ATOM_CAS, MG_ATOM_EXCH, MG_ATOM_ADD,
                     MG_ATOM_INC, MG_ATOM_DEC, MG_ATOM_MIN, MG_ATOM_MAX }; /* atom, red, redux */
enum mg_ptx_sem { MG_PTX_SEM_NONE, MG_PTX_SEM_WEAK, MG_PTX_SEM_RELAXED, MG_PTX_SEM_ACQUIRE, MG_PTX_SEM_RELEASE,
                  MG_PTX_SEM_ACQ_REL, MG_PTX_SEM_SC, MG_PTX_SEM_VOLATILE, MG_PTX_SEM_MMIO };
enum mg_ptx_cache { MG_CACHE_NONE, MG_CACHE_CA, MG_CACHE_CG, MG_CACHE_CS, MG_CACHE_CV, MG_CACHE_LU, MG_CACHE_WB,
                    MG_CACHE_WT };
enum mg_ptx_evict { MG_EVICT_NONE, MG_EVICT_NORMAL, MG_EVICT_UNCHANGED, MG_EVICT_FIRST, MG_EVICT_LAST,
                    MG_EVICT_NO_ALLOCATE };
enum mg_ptx_proxy { MG_PROXY_NONE, MG_PROXY_ALIAS, MG_PROXY_ASYNC, MG_PROXY_ASYNC_GENERIC, MG_PROXY_MBARRIER_INIT,
                    MG_PROXY_TENSORMAP };
enum mg_ptx_scope { MG_SCOPE_NONE, MG_SCOPE_CTA, MG_SCOPE_CLUSTER, MG_SCOPE_GPU, MG_SCOPE_SYS };

/* `sub`: what an instruction does beyond its opcode, where the group has several */
enum mg_ptx_sub {
    MG_SUB_NONE,
    MG_SUB_UP, MG_SUB_DOWN, MG_SUB_BFLY, MG_SUB_IDX,                    /* shfl */
    MG_SUB_ALL, MG_SUB_ANY, MG_SUB_UNI, MG_SUB_BALLOT,                  /* vote, match */
    MG_SUB_SYNC, MG_SUB_ARRIVE, MG_SUB_RED,                             /* bar, barrier */
    MG_SUB_WARP_SYNC,                                                   /* bar.warp.sync */
    MG_SUB_F4E, MG_SUB_B4E, MG_SUB_RC8, MG_SUB_ECL, MG_SUB_ECR, MG_SUB_RC16, /* prmt */
    MG_SUB_L, MG_SUB_R,                                                 /* shf */
    MG_SUB_FINITE, MG_SUB_INFINITE, MG_SUB_NUMBER, MG_SUB_NOTANUMBER, MG_SUB_NORMAL, MG_SUB_SUBNORMAL, /* testp */
    MG_SUB_COMMIT_GROUP, MG_SUB_WAIT_GROUP, MG_SUB_WAIT_ALL,            /* cp.async; the copy itself: NONE */
    MG_SUB_PACK,                                                        /* cvt.pack */
    MG_SUB_FRACTIONAL, MG_SUB_RANGE, MG_SUB_CVT,                        /* createpolicy */
    MG_SUB_LAUNCH_DEPENDENTS, MG_SUB_WAIT,                              /* griddepcontrol; barrier.cluster: WAIT */
    MG_SUB_INC, MG_SUB_DEC,                                             /* setmaxnreg */
    MG_SUB_MASK,                                                        /* pmevent */
    MG_SUB_TRANS,                                                       /* movmatrix, ldmatrix, stmatrix */
    MG_SUB_SPARSE,                                                      /* mma.sp */
    MG_SUB_A, MG_SUB_B, MG_SUB_C, MG_SUB_D,                             /* wmma.load, wmma.store */
    MG_SUB_NO_COMPLETE, MG_SUB_EXPECT_TX,                               /* mbarrier.arrive */
    MG_SUB_PARITY,                                                      /* mbarrier.test_wait, .try_wait */
    MG_SUB_NOINC,                                                       /* cp.async.mbarrier.arrive */
    MG_SUB_MBARRIER_BYTES, MG_SUB_BULK_GROUP,                           /* cp.async.bulk: what tells that it is over */
    MG_SUB_READ,                                                        /* cp.async.bulk.wait_group */
    MG_SUB_MAP_ADDRESS, MG_SUB_MAP_RANK, MG_SUB_MAP_BOX, MG_SUB_MAP_DIM, MG_SUB_MAP_STRIDE, /* tensormap.replace */
    MG_SUB_MAP_STEP, MG_SUB_MAP_TYPE, MG_SUB_MAP_INTERLEAVE, MG_SUB_MAP_SWIZZLE, MG_SUB_MAP_FILL,
    MG_SUB_TEX_LEVEL, MG_SUB_TEX_GRAD,                                                      /* tex */
    MG_SUB_TLD4_R, MG_SUB_TLD4_G, MG_SUB_TLD4_B, MG_SUB_TLD4_A,                             /* tld4 */
    MG_SUB_SURFACE_B, MG_SUB_SURFACE_P,                                                     /* suld, sust, sured */
    MG_SUB_ASK_WIDTH, MG_SUB_ASK_HEIGHT, MG_SUB_ASK_DEPTH, MG_SUB_ASK_LAYERS, MG_SUB_ASK_NORMALIZED, /* txq, suq */
    MG_SUB_ASK_LEVELS, MG_SUB_ASK_SAMPLES
};
/* Of textures and surfaces: their shape, and what lies beyond a surface's edge. */
enum mg_ptx_geometry {
    MG_GEOMETRY_NONE, MG_GEOMETRY_1D, MG_GEOMETRY_2D, MG_GEOMETRY_3D, MG_GEOMETRY_A1D, MG_GEOMETRY_A2D,
    MG_GEOMETRY_CUBE, MG_GEOMETRY_ACUBE
};
enum mg_ptx_edge { MG_EDGE_TRAP, MG_EDGE_CLAMP, MG_EDGE_ZERO };

/* As written, without the dot; "" for none. */
const char *mg__ptx_sub_name(unsigned sub);
const char *mg__ptx_atomop_name(unsigned atomop);

enum { /* insn->flags */
    MG_F_FTZ = 1u << 0, MG_F_SAT = 1u << 1, MG_F_APPROX = 1u << 2, MG_F_FULL = 1u << 3,
    MG_F_LO = 1u << 4, MG_F_HI = 1u << 5, MG_F_WIDE = 1u << 6, MG_F_CC = 1u << 7,
    MG_F_UNI = 1u << 8, MG_F_DUAL = 1u << 9, MG_F_SYNC = 1u << 10, MG_F_ALIGNED = 1u << 11,
    MG_F_NAN = 1u << 12, MG_F_XORSIGN_ABS = 1u << 13, MG_F_RELU = 1u << 14, MG_F_SATFINITE = 1u << 15,
    MG_F_WRAP = 1u << 16, MG_F_CLAMP = 1u << 17, MG_F_SHIFTAMT = 1u << 18, MG_F_TO = 1u << 19 /* cvta.to */,
    MG_F_NC = 1u << 20, MG_F_NOFTZ = 1u << 21, MG_F_SHARED_CTA = 1u << 22, MG_F_SHARED_CLUSTER = 1u << 23,
    MG_F_LATER = 1u << 24, /* carries a modifier that the engine does not execute (named in `text`) */
    MG_F_PARAM_FUNC = 1u << 25, MG_F_ABS = 1u << 26,
    MG_F_CACHE_HINT = 1u << 27, /* one operand more, a cache policy */
    MG_F_MULTICAST = 1u << 28,  /* one operand more, the blocks that get a copy */
    MG_F_IM2COL = 1u << 29
};

enum mg_ptx_sreg {
    MG_SR_INVALID = 0,
    MG_SR_TID, MG_SR_NTID, MG_SR_CTAID, MG_SR_NCTAID, /* with `dim` 0..2; 3 is .w and reads 0 */
    MG_SR_LANEID, MG_SR_WARPID, MG_SR_NWARPID, MG_SR_SMID, MG_SR_NSMID, MG_SR_GRIDID,
    MG_SR_LANEMASK_EQ, MG_SR_LANEMASK_LE, MG_SR_LANEMASK_LT, MG_SR_LANEMASK_GE, MG_SR_LANEMASK_GT,
    MG_SR_CLOCK, MG_SR_CLOCK_HI, MG_SR_CLOCK64, MG_SR_GLOBALTIMER, MG_SR_GLOBALTIMER_LO, MG_SR_GLOBALTIMER_HI,
    MG_SR_DYNAMIC_SMEM_SIZE, MG_SR_TOTAL_SMEM_SIZE, MG_SR_ENVREG, /* dim: its number */
    MG_SR_RESERVED_SMEM, /* %reserved_smem_offset_*, %reserved_smem_cap: dim 0 begin, 1 end, 2 cap, 3.. offset_<n> */
    MG_SR_CLUSTER,       /* any cluster register; dim: enum mg_ptx_cluster_sreg */
    MG_SR_OTHER          /* dim: see mg__ptx_sreg_name */
};
enum mg_ptx_cluster_sreg { /* the vectors take four each, .x to .w */
    MG_CLUSTER_ID = 0, MG_CLUSTER_COUNT = 4, MG_CLUSTER_CTAID = 8, MG_CLUSTER_NCTAID = 12, MG_CLUSTER_CTARANK = 16,
    MG_CLUSTER_NCTARANK, MG_CLUSTER_EXPLICIT
};
const char *mg__ptx_sreg_name(enum mg_ptx_sreg sreg, unsigned dim); /* "%tid.x"; "" if there is none */

enum mg_ptx_opnd_kind {
    MG_OPND_NONE, MG_OPND_REG, MG_OPND_IMM, MG_OPND_SREG, MG_OPND_ADDR, MG_OPND_SYMBOL, MG_OPND_VEC,
    MG_OPND_LABEL, MG_OPND_TABLE, MG_OPND_FUNC, MG_OPND_PROTO, MG_OPND_SINK
};
struct mg_ptx_opnd {
    uint8_t kind;
    uint8_t role;     /* enum mg_ptx_role, or'd; elements of a VEC have the vector's */
    bool negate;      /* REG of type pred written !p */
    bool is_float;    /* IMM written as a float: `imm` holds the bits of a double if wide_float, else of an f32 */
    bool wide_float;  /* 0d… or a decimal float; the reader narrows by the instruction's type */
    uint8_t dim;      /* SREG */
    uint32_t index;   /* REG: register; SREG: enum mg_ptx_sreg; LABEL: instruction index; TABLE/PROTO: its index;
                         ADDR based on a register: that register, with var NULL */
    uint32_t first, count; /* VEC: operands func->operands[first … first+count-1]; ADDR of an instruction of group
                              LATER: what follows the address inside the brackets */
    int64_t imm;      /* IMM: value; ADDR and SYMBOL: byte offset. ADDR with neither var nor register: absolute */
    bool has_reg;     /* ADDR: `index` is a register */
    bool indexed;     /* SYMBOL written a[i]: where an address is wanted, that of the element */
    const struct mg_ptx_var *var;   /* ADDR, SYMBOL: the variable or parameter */
    const struct mg_ptx_func *func; /* FUNC; SYMBOL naming a function */
};

struct mg_ptx_loc {
    uint32_t file; /* index into module->files, 0: none */
    uint32_t line, column;
    uint32_t inlined_at; /* index into module->locs of the call site, 0: none */
};

struct mg_ptx_insn {
    uint16_t opcode; /* enum mg_ptx_opcode */
    uint8_t nops;
    uint8_t space, space2;      /* second: cp.async's source, cvta's, isspacep's */
    uint8_t type[4];            /* enum mg_ptx_type as written, left to right; e.g. cvt: [0] destination, [1] source */
    uint8_t ntypes;
    uint8_t round, cmp, boolop, atomop, sem, scope, sub, proxy;
    uint8_t cache;              /* enum mg_ptx_cache */
    uint8_t evict[2];           /* enum mg_ptx_evict, of L1 and of L2 */
    uint8_t fetch, level;       /* 64 bytes to be fetched into L2; prefetch: 1 L1, 2 L2 */
    uint8_t vec;                /* 1, 2, 4, 8; of ldmatrix and stmatrix, .x1 .x2 .x4 */
    uint8_t layout[2];          /* of a matrix, or of A and B: 0 not said, 1 .row, 2 .col */
    uint8_t m;                  /* shape of a matrix multiplication, .m16n8k16 */
    uint16_t n, k;
    uint8_t dims;               /* of a tensor: 1 … 5; of a texture or surface: enum mg_ptx_geometry */
    uint8_t edge;               /* enum mg_ptx_edge */
    uint8_t access;             /* enum mg_ptx_access_kind; NONE for forms without one */
    uint8_t effects;            /* enum mg_ptx_effect, or'd */
    uint8_t algebra;            /* enum mg_ptx_algebra */
    bool splits;                /* ptxas ends a basic block there: it is a call, a branch or a wall to it */
    uint8_t nresults;           /* operands that it writes: the first ones */
    uint8_t address;            /* operand of the (first) address of an access */
    int32_t guard;              /* predicate register of @p, or -1 */
    bool guard_negate;
    uint32_t flags;
    uint32_t first_op;          /* operands: func->operands[first_op … first_op+nops-1] */
    uint32_t loc;               /* index into module->locs, 0: no line known */
    uint32_t ptx_line;          /* line of the PTX text */
    const char *text;           /* the opcode with all modifiers as written: "ld.global.nc.v4.f32" */
};

enum mg_ptx_linkage { MG_LINK_NONE, MG_LINK_EXTERN, MG_LINK_VISIBLE, MG_LINK_WEAK, MG_LINK_COMMON };

struct mg_ptx_reloc { /* an initialiser that holds an address */
    uint64_t offset;
    const struct mg_ptx_var *var;   /* or */
    const struct mg_ptx_func *func;
    int64_t addend;
    uint8_t size;     /* bytes to write */
    bool generic;     /* generic(x): converted to a generic address */
    uint64_t mask;    /* mask(x) form: 0xFF << 8k picks a byte; ~0 otherwise */
};
struct mg_ptx_var {
    const char *name;
    uint8_t space, type, linkage, vec;
    uint32_t align;      /* bytes, at least the element's */
    uint64_t size;       /* bytes; 0 with `unsized` */
    bool unsized;        /* extern .shared x[]: dynamic shared memory */
    bool is_param;       /* a function's formal parameter or a call's argument block */
    uint32_t ndims, dims[8];
    uint8_t *init;       /* size bytes, or NULL */
    struct mg_ptx_reloc *relocs;
    size_t nrelocs;
    uint64_t offset;     /* kernel parameter: its offset in the parameter buffer */
    uint32_t id;         /* unique in the module: 0 … module->nvars-1 */
    const struct mg_ptx_func *owner; /* the function it is declared in, or NULL */
    uint32_t ptx_line;
};
struct mg_ptx_reg {
    const char *name;
    uint8_t type;
};
struct mg_ptx_table { /* .branchtargets, .calltargets */
    const char *name;
    uint32_t *labels; /* instruction indices */
    const struct mg_ptx_func **funcs;
    size_t count;
};
struct mg_ptx_proto {
    const char *name;
    struct mg_ptx_var **rets, **params;
    size_t nrets, nparams;
};
struct mg_ptx_func {
    const char *name;
    bool is_entry, defined, noreturn;
    uint8_t linkage;
    struct mg_ptx_var **rets, **params; /* formal */
    size_t nrets, nparams;
    uint64_t param_size;                /* of an entry's parameter buffer, bytes */
    struct mg_ptx_reg *regs;
    size_t nregs;
    struct mg_ptx_var **vars; /* declared inside: shared, local, param (call argument blocks), global, const */
    size_t nvars;
    struct mg_ptx_insn *insns;
    size_t ninsns;
    struct mg_ptx_opnd *operands;
    size_t noperands;
    uint32_t *flying; /* registers that instructions with MG_E_FLIES write */
    size_t nflying;
    struct mg_ptx_table *tables;
    size_t ntables;
    struct mg_ptx_proto *protos;
    size_t nprotos;
    uint32_t maxntid[3], reqntid[3], minnctapersm, maxnreg; /* 0: not given */
    uint32_t reqnctapercluster[3], maxclusterrank;
    bool explicitcluster, blocksareclusters;
    uint32_t id;  /* unique in the module: 0 … module->nfuncs-1 */
    uint32_t ptx_line;
    /* Of a copy that one call has for itself, with that call's location: what it is one of, and whose call it is. */
    const struct mg_ptx_func *copy_of, *copied_for;
};
struct mg_ptx_alias { /* .alias alias, target: calls and addresses of `alias` are those of `target` already */
    const struct mg_ptx_func *alias, *target;
};
struct mg_ptx_module {
    struct mg_arena arena;
    unsigned version_major, version_minor, target_sm; /* 90 */
    bool target_arch_specific;                        /* sm_90a */
    bool apart; /* nothing is fused: .target …, debug (nvcc -G), or set by who knows how it was built; not printed */
    const char **files; /* [0] is "" */
    size_t nfiles;
    struct mg_ptx_loc *locs; /* [0] is all zero */
    size_t nlocs;
    struct mg_ptx_var **vars; /* all of them: module scope and inside functions, by id */
    size_t nvars;
    struct mg_ptx_func **funcs; /* by id; declarations merged with their definition */
    size_t nfuncs;
    struct mg_ptx_alias *aliases;
    size_t naliases;
    struct mg_strtab names;     /* module scope: function and variable names; see mg__ptx_find_* */
};

/* Parses `length` bytes of text (a NUL ends it early). On failure *module is NULL and diag has file "<ptx>", line and
 * column. Never reads past the text, never recurses without bound: safe on hostile input. */
enum mg_status mg__ptx_parse(const char *text, size_t length, struct mg_ptx_module **module, struct mg_diag *diag);
void mg__ptx_free(struct mg_ptx_module *module);
/* Where the user finds a location: his own line, the header's whose code was inlined there ("", 0: none was), and the
 * call that his own line was inlined by (likewise). */
struct mg_ptx_place {
    const char *file;
    uint32_t line, column;
    const char *header;
    uint32_t header_line;
    const char *call;
    uint32_t call_line;
};
struct mg_ptx_place mg__ptx_place(const struct mg_ptx_module *module, uint32_t loc);
const struct mg_ptx_func *mg__ptx_find_func(const struct mg_ptx_module *module, const char *name);
const struct mg_ptx_var *mg__ptx_find_var(const struct mg_ptx_module *module, const char *name); /* module scope */

/* Prints PTX that parses to the same module (the printer and the parser are each other's test). */
bool mg__ptx_print(const struct mg_ptx_module *module, struct mg_strbuf *out);
/* One instruction as PTX text, without guard: for messages. */
bool mg__ptx_print_insn(const struct mg_ptx_module *module, const struct mg_ptx_func *func,
                        const struct mg_ptx_insn *insn, struct mg_strbuf *out);

static inline const struct mg_ptx_opnd *mg__ptx_op(const struct mg_ptx_func *f, const struct mg_ptx_insn *i, unsigned n)
{
    return &f->operands[i->first_op + n];
}
/* The instructions that it may go to: NULL and 0 if it only falls through; func->ninsns is the function's end. */
const uint32_t *mg__ptx_targets(const struct mg_ptx_func *func, const struct mg_ptx_insn *insn, uint32_t *count);
static inline bool mg__ptx_branches(const struct mg_ptx_insn *insn) /* goes to labels */
{
    return (insn->effects & (MG_E_ENDS | MG_E_LEAVES | MG_E_TRAPS)) == MG_E_ENDS;
}
/* Whether the next instruction may follow it. */
static inline bool mg__ptx_falls(const struct mg_ptx_insn *insn)
{
    return !(insn->effects & MG_E_ENDS) || insn->guard >= 0;
}
/* Whether the instruction writes its operand n. */
static inline bool mg__ptx_writes(const struct mg_ptx_insn *insn, unsigned n)
{
    return n < insn->nresults;
}
/* Whether it reads or writes memory: parameters are none, they are like registers. */
static inline bool mg__ptx_accesses(const struct mg_ptx_insn *insn)
{
    return insn->access != MG_ACCESSES_NONE && insn->space != MG_SPACE_PARAM;
}
/* Whether lanes that a mask names meet at it. */
static inline bool mg__ptx_meets_lanes(const struct mg_ptx_insn *insn)
{
    return insn->effects & MG_E_WARP && (insn->flags & MG_F_SYNC || insn->sub == MG_SUB_WARP_SYNC);
}
/* What it computes, to the bit; MG_ALG_NONE where that is not known. */
static inline enum mg_ptx_algebra mg__ptx_exactly(const struct mg_ptx_insn *insn)
{
    return insn->algebra & MG_ALG_ROUGH ? MG_ALG_NONE : (enum mg_ptx_algebra)insn->algebra;
}
static inline bool mg__ptx_is_atomic(const struct mg_ptx_insn *insn)
{
    return insn->access == MG_ACCESSES_ATOM || insn->access == MG_ACCESSES_RED;
}
#endif
