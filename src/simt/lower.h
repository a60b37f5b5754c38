/* lower.h - the state of lowering one kernel: shared by lower.c and lower_insn.c, which has
 * a function an instruction. */
#ifndef MG_LOWER_H
#define MG_LOWER_H
#include "flow/flow.h"
#include "simt/simt_priv.h"

struct mg_fixup { /* a branch whose targets are known when all blocks are placed */
    uint32_t op, block, label;
    struct mg_switch *table;
    const uint32_t *labels;
};
struct mg_fused { /* what fuse.c made of an instruction */
    bool gone;    /* nothing: it is counted, and does nothing */
    bool fma;     /* a fma, with */
    bool negate_product, negate_addend;
    bool saves; /* operand 0 is a vector: the product or `_`, and registers for its factors */
};
struct mg_lower {
    struct mg_simt_module *module;
    struct mg_program *program;
    const struct mg_lanes *lanes;
    bool watched; /* every access will be observed */
    struct mg_code *code;
    const struct mg_ptx_func *func; /* the function's text, or what fuse.c made of it: as many instructions */
    const struct mg_fused *fused;   /* by instruction, or NULL */
    const struct mg_cfg *cfg;
    const struct mg_ptx_insn *insn;
    uint32_t insn_index, block;
    MG_VEC(struct mg_op) ops;
    MG_VEC(struct mg_segment) segments;
    MG_VEC(struct mg_fixup) fixups;
    MG_VEC(struct mg_mem *) mems;
    struct { /* address registers of the block so far */
        uint32_t reg;
        bool open;
    } leads[MG_LEADS];
    uint32_t nleads;
    struct mg_strbuf pool;
    struct mg_strtab pool_index;
    uint32_t frame_bytes;
    int32_t *slots;     /* by register */
    bool *skip;         /* by instruction: its result is a slot that another value fills */
    MG_VEC(struct mg_fill) fills;
    uint32_t *reads;    /* by register: times it is named */
    uint32_t *var_at;   /* by variable id: offset of params and locals in the frame */
    uint32_t *shared_at; /* by variable id */
    int32_t carry, temp_pred[3], temp[6];
    int32_t quad[12];   /* words of an atomic operation on 128 bits; made when first needed, -1 before */
    struct mg_op spare; /* written, never run: there was no memory for an op */
    int32_t only;       /* a predicate that stands for the guard, or -1 */
    enum mg_status status;
};
uint32_t mg__lower_new_slot(struct mg_lower *L, unsigned bytes);
/* An operand of the pool: the value in 32 lanes of 32 or, if wide, 64 bits. As a predicate, 0 or ~0. */
int32_t mg__lower_const(struct mg_lower *L, uint64_t value, bool wide);
/* A slot among the constants that a mg_fill fills. */
int32_t mg__lower_fill(struct mg_lower *L, struct mg_fill fill);
/* An op of that id under the instruction's guard, with the operands `of`, `nout` results and then sources. What else it
 * has, mode, u and insn, is for the caller to set; its fields for operands and its handler are set when all slots are
 * known (mg__op_finish). */
struct mg_op *mg__lower_op(struct mg_lower *L, enum mg_op_id id, unsigned nout, const struct mg_engine_operand *of,
                           unsigned n);
/* The same without: the handler looks at the guard itself, and it is an operand. */
struct mg_op *mg__lower_op_bare(struct mg_lower *L, enum mg_op_id id, unsigned nout, const struct mg_engine_operand *of,
                                unsigned n);
/* `of` and `n` from a list: of a predicate, of 32 and 64 bits, of so many bytes. */
#define MG_PRED(slot) {(slot), 0}
#define MG_WORD(slot) {(slot), 4}
#define MG_LONG(slot) {(slot), 8}
#define MG_SIZED(slot, bytes) {(slot), (uint8_t)(bytes)}
#define MG_OPERANDS(...)                             \
    (const struct mg_engine_operand[]){__VA_ARGS__}, \
        sizeof((const struct mg_engine_operand[]){__VA_ARGS__}) / sizeof(struct mg_engine_operand)
/* What copies a slot of 64 bits, or of up to 32. */
void mg__lower_copy(struct mg_lower *L, unsigned bytes, int32_t to, int32_t from);
/* lower_operand.c */
static inline const struct mg_ptx_opnd *mg__lower_opnd(const struct mg_lower *L, unsigned n)
{
    return mg__ptx_op(L->func, L->insn, n);
}
static inline unsigned mg__lower_type_size(uint8_t type)
{
    return mg__ptx_type_size((enum mg_ptx_type)type);
}
static inline unsigned mg__lower_reg_size(const struct mg_lower *L, const struct mg_ptx_opnd *o)
{
    return mg__lower_type_size(L->func->regs[o->index].type); /* 0: a predicate */
}
static inline bool mg__lower_is_signed(uint8_t type)
{
    return type >= MG_T_S8 && type <= MG_T_S64;
}
static inline unsigned mg__lower_carrier_bytes(uint8_t carrier)
{
    return carrier == MG_SEM_B64 ? 8 : carrier == MG_SEM_B32 ? 4 : carrier == MG_SEM_B16 ? 2 : 0;
}
void mg__lower_unsupported(struct mg_lower *L); /* the instruction stops the launch when it is reached */
/* Where a variable's address is known when the kernel is lowered; local ones depend on the frame: false. */
bool mg__lower_address(const struct mg_lower *L, const struct mg_ptx_opnd *o, uint64_t *address);
/* A special register. */
void mg__lower_sreg(struct mg_lower *L, const struct mg_ptx_opnd *o, int32_t to, unsigned bytes);
/* The operand as a slot of the carrier's size; conversions on the way are emitted. -1: it cannot be. */
int32_t mg__lower_source(struct mg_lower *L, const struct mg_ptx_opnd *o, unsigned bytes, uint8_t type, unsigned temp);
/* The slot that an operation of `bytes` writes for destination `o`; mg__lower_widen then emits what a wider register
 * needs. */
int32_t mg__lower_destination(struct mg_lower *L, const struct mg_ptx_opnd *o, unsigned bytes);
void mg__lower_widen(struct mg_lower *L, const struct mg_ptx_opnd *o, unsigned bytes, uint8_t type);
/* A register of 128 bits is two slots of 64, the low half first; so is a constant. False: the operand is neither. */
bool mg__lower_halves(struct mg_lower *L, const struct mg_ptx_opnd *o, bool dest, int32_t half[2]);
/* Between a 64-bit slot and two of 32. */
void mg__lower_pack(struct mg_lower *L, int32_t whole, int32_t low, int32_t high);
void mg__lower_unpack(struct mg_lower *L, int32_t whole, int32_t low, int32_t high);

/* lower_alu.c */
/* Emits row(d; args…). */
void mg__lower_row(struct mg_lower *L, int row, uint32_t mode, int32_t d, const int32_t *args);
/* The same of one argument, by name: gives d. */
int32_t mg__lower_unary(struct mg_lower *L, const char *row, int32_t d, int32_t arg);
void mg__lower_alu(struct mg_lower *L);

/* lower_matrix.c: an enum mg_ptx_type as an enum mg_sem_mma_type; SEM_MMA_NONE: it is none */
unsigned mg__lower_mma_type(uint8_t type);

/* lower_mem.c */
void mg__lower_load(struct mg_lower *L);
void mg__lower_store(struct mg_lower *L);
void mg__lower_atomic(struct mg_lower *L);
void mg__lower_cp_async(struct mg_lower *L);
/* What a memory operand is, of which mg__address gives the addresses; NULL: it is none. */
struct mg_mem *mg__lower_where(struct mg_lower *L, uint8_t space, const struct mg_ptx_opnd *o);
void mg__lower_close_leads(struct mg_lower *L);
/* Accesses of an instruction that are made one by one: the instruction's address, or NULL, and a copy of it; width, vec
 * and reg are for the caller to set. Then the op. */
struct mg_mem *mg__lower_place(struct mg_lower *L, bool load, const struct mg_ptx_opnd *address);
struct mg_mem *mg__lower_again(struct mg_lower *L, const struct mg_mem *like);
void mg__lower_words(struct mg_lower *L, struct mg_mem *m);

/* What executes the others, by the rows of isa.def. */
#define ISA(id, name, group, since_ptx, since_sm, operands, access, effects, flops, ntypes, takes, needs, flags)
#define DOES(id, condition, how) void mg__lower_##how(struct mg_lower *L);
#include "ptx/isa.def"
#undef ISA

/* copies.c: what a register is given by a plain move, if that never changes while a frame lives. */
struct mg_fixed {
    bool constant; /* `bits`; otherwise what `fill` says, but for its slot */
    uint64_t bits;
    struct mg_fill fill; /* its size, too */
};
bool mg__fixed_value(const struct mg_ptx_func *f, const struct mg_ptx_insn *i, struct mg_fixed *value);
/* Whether the instruction copies a whole register as it is, and which. */
bool mg__copied_register(const struct mg_ptx_func *f, const struct mg_ptx_insn *i, uint32_t *from);
/* Fills same[] (by register: itself, or the register whose slot it has), L->skip, and fixed[] with the slots of those
 * that a constant or a fill stands for. */
bool mg__find_copies(struct mg_lower *L, uint32_t *same, bool *fixed);

/* fuse.c: L->func becomes a function with products and sums fused as ptxas does; and the lowering of instruction `at`
 * of it, where it was changed (else false). */
bool mg__fuse(struct mg_lower *L);
bool mg__lower_fused(struct mg_lower *L, uint32_t at);

/* regs.c: a slot of the frame for each register of the function; registers that are never live together share. */
bool mg__assign_slots(struct mg_lower *L);
/* regs_check.c: whether every use of a register finds its value in its slot, whichever way a thread takes; if not, *why
 * is a sentence. Of L it reads func, cfg, slots, skip, frame_bytes, the constants and the slots of its own. */
bool mg__check_slots(const struct mg_lower *L, struct mg_strbuf *why);
/* Gives accesses the interpreter's quicker forms, once ops are finished. */
void mg__lower_forms(struct mg_lower *L);
void mg__lower_insn(struct mg_lower *L);
enum mg_system_call mg__system_find(const char *name);
#endif
