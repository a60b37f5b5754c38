/* gen.h - the code generator's own state: one kernel on its way from ops (simt/engine.h) to a relocatable object. */
#ifndef MG_JIT_GEN_H
#define MG_JIT_GEN_H
#include <llvm-c/Analysis.h>
#include <llvm-c/BitReader.h>
#include <llvm-c/Core.h>
#include <llvm-c/Error.h>
#include <llvm-c/Linker.h>
#include <llvm-c/Target.h>
#include <llvm-c/TargetMachine.h>
#include <llvm-c/Transforms/PassBuilder.h>

#include <llvm/Config/llvm-config.h>

#include "jit/jit_priv.h"
#include "ptx/ptx.h"
#include "sem/sem.h"
#include "simt/observe.h"

/* What is known of a register's 32 lanes: on a line, base + cx x + cy y, or nothing. The coefficients are constants
 * (kx, ky), or values of their own (dx, dy). A predicate is the same in all lanes, or a vector. */
struct mg_gen_form {
    bool reached, vector, dx, dy; /* !reached: no value has come here yet */
    uint32_t zeros;               /* low bits of the base that are known to be 0 */
    int64_t kx, ky;
}; /* compared as bytes */
#define MG_GEN_ZERO 64u /* zeros: the base is 0 */
static inline uint32_t mg__gen_low_zeros(uint64_t v)
{
    return v ? (uint32_t)__builtin_ctzll(v) : MG_GEN_ZERO;
}
static inline struct mg_gen_form mg__gen_no_line(void)
{
    return (struct mg_gen_form){.reached = true, .vector = true};
}
struct mg_gen_value {
    struct mg_gen_form form;
    LLVMValueRef base, cx, cy, vec; /* of a predicate: base is i1, vec an i32 with a bit a lane */
};
struct mg_gen_var { /* a register: a slot of the frame, of one size */
    int32_t slot;
    uint8_t bytes;
    LLVMValueRef base, cx, cy, vec; /* where its value is */
    LLVMValueRef all,
        none;        /* of a predicate, i1: that it holds for all lanes, for none; neither may be known to hold */
    uint32_t serial; /* all and none are good while it is g->serial */
    uint32_t framed; /* its slot has its value while this is g->framed */
};
struct mg_gen_block {
    uint32_t first, end; /* ops */
    LLVMBasicBlockRef bb;
    bool reached, loop, entry;
    bool inside;            /* of a tight loop */
    bool maybe;             /* an entry here would be of use */
    bool diverges;          /* it ends with a branch whose lanes may disagree */
    bool fits;              /* it ends with a branch whose arms are small, for any lanes of a warp */
    bool parts;             /* or for all of them */
    uint32_t latch;         /* of a loop: the last block that goes back to it */
    uint32_t point;         /* of the entry */
    struct mg_gen_form *in; /* by variable */
    uint64_t *live;         /* before the first op */
    uint64_t *loaded;       /* there: variables whose lanes come from what lanes have loaded */
};
struct mg_gen_group { /* accesses through one address that are counted together */
    int32_t slot;
    uint32_t site, done, count;
    uint32_t mark;   /* done at the checkpoint */
    bool noted;      /* not counted: who has notes wants no counts */
    LLVMValueRef at;    /* i64: the first one's address */
    LLVMValueRef found; /* i1: there is such a line, and `at` is good; NULL: it is known to be one */
    LLVMValueRef lie;   /* i8: of a shape, enum mg_engine_lie; NULL: it is a line */
};
struct mg_gen_noted { /* a load whose note one before it has left */
    LLVMValueRef ok; /* i1: it has; NULL: nobody has yet said whether it may be noted */
    LLVMValueRef at; /* i64 */
};
#if LLVM_VERSION_MAJOR >= 18 /* since when it insists on a fixpoint, and ends the process without one */
#define MG_GEN_COMBINE "instcombine<no-verify-fixpoint>"
#else
#define MG_GEN_COMBINE "instcombine"
#endif
/* A place that exits of later ops go back to: nothing in between has an effect that is seen, so the interpreter may
 * execute it again. What is live there is saved by one piece of code for all of them. */
struct mg_gen_checkpoint {
    bool valid;
    uint32_t op, first_form, nforms;
    LLVMBasicBlockRef save;
    LLVMValueRef point; /* a phi */
};
/* An arm of a branch whose lanes disagree. */
struct mg_gen_level {
    uint32_t meet, other;
    bool second;
    LLVMValueRef lanes, mine; /* i32: that came to the branch, and that are in this arm */
};
#define MG_GEN_GROUPS 256u
#define MG_GEN_LEVELS 4u  /* arms in arms */
#define MG_GEN_REGION 64u /* ops of all arms between a branch and where they meet */
/* Larger kernels are interpreted. Those with arms of branches whose lanes disagree go without looks at lanes where they
 * would be larger than MG_GEN_PARTS, and without arms where they are larger than MG_GEN_BLIND even so. LLVM needs some
 * 0.1 ms for an instruction of its own, 0.02 with little effort, and most of those save and restore registers where
 * compiled code is left and entered. */
#define MG_GEN_OPS 6000u
#define MG_GEN_SIZE 40000u /* LLVM's instructions */
#define MG_GEN_PARTS 24000u
#define MG_GEN_BLIND 10000u
#define MG_GEN_APART 40u      /* ops between two entries that are not needed, in a kernel of more than MG_GEN_SMALL */
#define MG_GEN_SMALL 300u

struct mg_gen {
    const struct mg_engine_program *p;
    struct mg_arena arena;
    const char *reason; /* why not: a row of reason.def */
    bool quick;         /* little effort */
    bool whole;         /* no arms of branches whose lanes disagree */
    bool blind;         /* no look at lanes for a line */
    bool parts;         /* it has such arms */
    bool masks;         /* the processor moves some of the lanes in one instruction, of whatever size */
    bool *far;          /* by op: an access whose address comes from what lanes have loaded */
    bool tells;         /* accesses are calls that may ask to leave */
    bool some;          /* it is the second function that is made (gen_some.c) */
    LLVMContextRef cx;
    LLVMModuleRef module, sem;
    LLVMBuilderRef b;
    LLVMTargetMachineRef tm;
    LLVMBasicBlockRef at_end, at_leave;  /* of one warp: at a barrier or the kernel's end, and elsewhere */
    LLVMValueRef end_point, leave_point; /* phis in these */
    uint32_t exit_point;                 /* 0: none yet */
    LLVMValueRef fn, e, regs, shared, cells, records, full, calls, apart;
    LLVMValueRef notes, tag; /* of the first function alone */
    LLVMBasicBlockRef start;
    LLVMValueRef deferred; /* struct mg_engine_deferred; NULL: nothing is deferred */
    LLVMTypeRef i1, i8, i16, i32, i64, ptr;
    LLVMValueRef lane_x[2], lane_y[2]; /* vectors of i32 and i64 */
    uint32_t own_row; /* lanes a row, in all of the code */
    uint32_t row;     /* the same, or 32 while an access is made that takes all lanes as one row */
    struct mg_gen_var *vars;
    uint32_t nvars, words;
    uint32_t *var_of; /* by slot / 4 * 3 + size class: index + 1 */
    struct mg_gen_block *blocks;
    uint32_t nblocks;
    uint32_t *block_at; /* by op: block that begins there, + 1 */
    struct mg_gen_value *fills;
    /* while ops are emitted */
    struct mg_gen_form *form; /* by variable: now */
    uint64_t *live;           /* before the op, or before its guard */
    uint64_t *lives;          /* of the block's ops, one set each */
    uint32_t op;              /* where an exit lets the interpreter go on */
    LLVMValueRef mask;        /* i32: lanes that execute the op; NULL: all */
    LLVMValueRef lanes;       /* i32: lanes in this arm, before a guard; NULL: all */
    const uint64_t *keep;     /* in an arm: variables whose values in idle lanes are still wanted */
    const uint64_t *slots;    /* of the second function: those in whose slots idle lanes have something */
    LLVMValueRef running;     /* and which of its lanes are not */
    LLVMValueRef running_lanes; /* the same as a vector of bits, where it has been made for several; or NULL */
    bool guarded;             /* lanes that the op leaves out are not idle: all keep theirs */
    struct mg_gen_level levels[MG_GEN_LEVELS];
    unsigned nlevels;
    LLVMBasicBlockRef exit; /* of this op, if it has one already */
    struct mg_gen_checkpoint checkpoint;
    bool inside;     /* of a tight loop */
    uint32_t serial; /* of the straight piece of code that is being made */
    uint32_t framed; /* likewise, of one that is not left on the way to any use of it */
    bool called;     /* this op became a call of the interpreter */
    bool alone;      /* and it is neither guarded nor in an arm */
    bool asked;      /* whether to leave behind it, where the call was */
    struct mg_gen_noted *noted; /* by op */
    uint32_t *stamps; /* by variable: `framed`, in another way through the op */
    struct mg_gen_group groups[MG_GEN_GROUPS];
    uint32_t ngroups;
    MG_VEC(struct mg_engine_point) points;
    MG_VEC(struct mg_engine_form) forms;
    MG_VEC(struct mg_engine_open) opens;
    MG_VEC(struct mg_engine_site) sites;
    MG_VEC(struct mg_engine_member) members;
    MG_VEC(struct mg_engine_level) point_levels;
    MG_VEC(uint32_t) somes; /* ops: where blocks of the second function begin */
    LLVMValueRef first; /* the function that it comes after */
    uint32_t ncells, nshapes, nlocal; /* nlocal: accesses of local memory that look at their lanes (gen_local.c) */
    LLVMValueRef special[MG_SEM_OP_COUNT]; /* rows compiled for a mode */
    uint32_t special_mode[MG_SEM_OP_COUNT];
};

static inline unsigned mg__gen_log2(unsigned n)
{
    return (unsigned)__builtin_ctz(n);
}

/* forms.c: registers, control flow, liveness, and what is known of lanes */
bool mg__gen_analyse(struct mg_gen *g);
uint32_t mg__gen_var(const struct mg_gen *g, int32_t slot,
                     unsigned bytes); /* index; UINT32_MAX: a constant or a fill */
bool mg__gen_constant(const struct mg_gen *g, int32_t slot, unsigned bytes, int64_t *value);
struct mg_gen_form mg__gen_form(const struct mg_gen *g, const struct mg_gen_form *forms, int32_t slot, unsigned bytes);
struct mg_gen_form mg__gen_meet(struct mg_gen_form a, struct mg_gen_form b);
static inline bool mg__gen_uniform(struct mg_gen_form f)
{
    return !f.vector && !f.dx && !f.dy && f.kx == 0 && f.ky == 0;
}
/* The form of the op's k-th result when it is not guarded. */
struct mg_gen_form mg__gen_result(const struct mg_gen *g, const struct mg_engine_op *op,
                                  const struct mg_gen_form *forms);
/* All results of op `i`, into forms[]; with its guard if it has one. */
void mg__gen_step(const struct mg_gen *g, uint32_t i, struct mg_gen_form *forms);
enum mg_gen_rule {
    MG_RULE_NONE,
    MG_RULE_ADD,
    MG_RULE_SUB,
    MG_RULE_MUL,
    MG_RULE_MAD,
    MG_RULE_SHL,
    MG_RULE_WIDE,
    MG_RULE_MADWIDE,
    MG_RULE_EXTEND,
    MG_RULE_KEEP,
    MG_RULE_AND,
    MG_RULE_OR, /* what is exclusive, too */
    MG_RULE_SHR,
    MG_RULE_FIELD,
    MG_RULE_NEG,
    MG_RULE_NOT
};
struct mg_gen_rule_of {
    uint8_t rule;
    bool is_signed;
};
/* lines.c */
struct mg_gen_rule_of mg__gen_rule(int row);
/* Rows of how many lanes, 4 to 16, would make a line of what the op makes of one; 0: none. */
unsigned mg__gen_rows_for(const struct mg_gen *g, const struct mg_engine_op *op, const struct mg_gen_form *forms);
/* A shift that leaves the sign alone, as in what nvcc makes of i / 32: of lines it is taken to be none. */
bool mg__gen_takes_sign(const struct mg_gen *g, const struct mg_engine_op *op, struct mg_gen_rule_of r);
struct mg_gen_form mg__gen_alu_form(const struct mg_gen *g, const struct mg_engine_op *op,
                                    const struct mg_gen_form *forms);
void mg__gen_live_step(const struct mg_gen *g, uint32_t i, uint64_t *live); /* from after op i to before it */
bool mg__gen_is_live(const uint64_t *live, uint32_t var);
void mg__gen_lives(struct mg_gen *g, const struct mg_gen_block *b); /* of all ops of the block, into g->lives */

/* gen_mask.c */
void mg__gen_regions(struct mg_gen *g); /* which blocks part; needs the forms */
/* The arms of the branch `i`, one after the other, for the lanes that take it and those that do not, neither of them
 * none. What is live where they meet has then the form that the block there wants. */
void mg__gen_part(struct mg_gen *g, uint32_t i, LLVMValueRef taken);
/* The same of those of `lanes`, and it goes on here. */
void mg__gen_arms(struct mg_gen *g, uint32_t i, LLVMValueRef lanes, LLVMValueRef taken);
static inline bool mg__gen_keeps(const struct mg_gen *g, uint32_t var)
{
    return !g->keep || g->guarded || var == UINT32_MAX || mg__gen_is_live(g->keep, var);
}

/* In the second function: whether registers are blended where they go to the frame, and have junk in idle lanes until
 * then, or each time that they are written: with masks in registers of their own that costs nothing, and no load. */
static inline bool mg__gen_blends_late(const struct mg_gen *g)
{
    return g->some && !g->masks;
}

void mg__gen_count_block(struct mg_gen *g, const struct mg_engine_op *op); /* once more, by g->lanes */

/* gen_some.c: the second function, if it is of use; g->fn is then it. */
void mg__gen_some(struct mg_gen *g);

/* gen_value.c */
void mg__gen_to_slot(struct mg_gen *g, uint32_t var); /* its value; what idle lanes have there stays */
/* The variable's slot has its value now, and no other variable's that shares it. */
void mg__gen_framed(struct mg_gen *g, uint32_t var);
bool mg__gen_is_framed(const struct mg_gen *g, uint32_t var);
struct mg_gen_value mg__gen_read(struct mg_gen *g, int32_t slot, unsigned bytes);
void mg__gen_write(struct mg_gen *g, int32_t slot, unsigned bytes, struct mg_gen_value value); /* blends under a mask */
LLVMValueRef mg__gen_vector(struct mg_gen *g, struct mg_gen_value *value,
                            unsigned bytes);                     /* <32 x iN>, or a predicate's i32 */
LLVMValueRef mg__gen_lanes(struct mg_gen *g, LLVMValueRef mask); /* i32 -> <32 x i1> */
struct mg_gen_value mg__gen_of_vector(LLVMValueRef vec);
struct mg_gen_value mg__gen_of_base(LLVMValueRef base);
LLVMValueRef mg__gen_cx(struct mg_gen *g, const struct mg_gen_value *v, unsigned bytes); /* as an iN */
LLVMValueRef mg__gen_cy(struct mg_gen *g, const struct mg_gen_value *v, unsigned bytes);
void mg__gen_settle(struct mg_gen *g, uint32_t var, struct mg_gen_form form); /* its value, to a weaker form */
void mg__gen_alu(struct mg_gen *g, const struct mg_engine_op *op);
/* Whether it is known, without a look at the lanes, that the predicate holds for all of them, and for none. */
bool mg__gen_known(struct mg_gen *g, int32_t slot, LLVMValueRef *all, LLVMValueRef *none);
void mg__gen_setp(struct mg_gen *g, const struct mg_engine_op *op);
void mg__gen_pack(struct mg_gen *g, const struct mg_engine_op *op);
void mg__gen_param(struct mg_gen *g, const struct mg_engine_op *op); /* a ROW */

/* gen_sem.c */
bool mg__gen_operations(struct mg_gen *g, bool fused); /* reads those of the kernel that g->sem does not have yet */
LLVMValueRef mg__gen_row(struct mg_gen *g, int row, uint32_t mode, LLVMValueRef *args, bool vector);

void mg__gen_lazy_nans(struct mg_gen *g);

/* gen_mem.c */
void mg__gen_access(struct mg_gen *g, uint32_t index);

/* gen_call.c */
void mg__gen_call(struct mg_gen *g, uint32_t index);
void mg__gen_call_of(struct mg_gen *g, uint32_t index); /* of lanes that are not looked at, or were in vain */
void mg__gen_to_frame(struct mg_gen *g, const struct mg_engine_operand *o); /* where it is not there yet */

/* gen_note.c: accesses to shared memory that an observer finds noted. */
bool mg__gen_notes(const struct mg_gen *g, const struct mg_engine_mem *m, const struct mg_gen_form *form);
/* One that fits the record, with lane 0 at `at`, is noted and goes on here if it may be; else on to `out`. `on`: as in
 * struct mg_gen_line. */
void mg__gen_note(struct mg_gen *g, const struct mg_engine_op *op, LLVMValueRef rec, const struct mg_gen_value *address,
                  LLVMValueRef at, LLVMValueRef on, LLVMBasicBlockRef out);
/* A load by all lanes that begins a run: all of it is noted, and this one, `first`, goes on here; or on to `general`.
 * Of the others g->noted says which. False: it is alone, and nothing was done. */
bool mg__gen_note_run(struct mg_gen *g, uint32_t index, LLVMBasicBlockRef general, struct mg_gen_noted *first);

/* gen_warp.c: an operation of the whole warp, as instructions; false: it is a call. */
bool mg__gen_warp(struct mg_gen *g, const struct mg_engine_op *op);

/* gen_deferred.c */
void mg__gen_deferred_begin(struct mg_gen *g); /* in g->start */
bool mg__gen_is_deferred(const struct mg_gen *g, const struct mg_engine_op *op, const struct mg_gen_form *address);
/* A store of `slot` with lane 0 at `at`, that was compared with its record. */
void mg__gen_deferred_store(struct mg_gen *g, int32_t slot, const struct mg_gen_value *address, LLVMValueRef at);
/* Before what reads or writes `bytes` in each lane; before what may read or write anything. */
void mg__gen_deferred_check(struct mg_gen *g, const struct mg_gen_value *address, LLVMValueRef at, unsigned bytes);
void mg__gen_deferred_settle(struct mg_gen *g);

/* gen.c */
bool mg__gen_emit(struct mg_gen *g);
void mg__gen_op(struct mg_gen *g, const struct mg_gen_block *b, uint32_t i); /* one that is no branch and no barrier */
void mg__gen_op_some(struct mg_gen *g, uint32_t i); /* the same, for g->mask */
void mg__gen_function(struct mg_gen *g, const char *name, LLVMTypeRef type); /* g->fn and g->start are its */
void mg__gen_begin(struct mg_gen *g, LLVMValueRef e); /* in it: the warp's fields, and what is filled */
void mg__gen_settle_for(struct mg_gen *g, const struct mg_gen_block *b);
void mg__gen_add(struct mg_gen *g, LLVMValueRef at, LLVMValueRef more); /* to a 64-bit counter */
LLVMBasicBlockRef mg__gen_bb(struct mg_gen *g);
/* A block that leaves before the current op, or before one from which on nothing was changed. To be called where the
 * op's operands are still what they were, and in a block that comes before all that follows. */
LLVMBasicBlockRef mg__gen_exit(struct mg_gen *g);
LLVMBasicBlockRef mg__gen_fault(struct mg_gen *g);
void mg__gen_leave_if_asked(struct mg_gen *g); /* before g->op, if a call has asked for it */
void mg__gen_expect(struct mg_gen *g, LLVMValueRef likely, LLVMBasicBlockRef yes, LLVMBasicBlockRef no);
LLVMValueRef mg__gen_at(struct mg_gen *g, LLVMValueRef base, uint64_t offset);
LLVMValueRef mg__gen_c64(const struct mg_gen *g, uint64_t value);
LLVMValueRef mg__gen_c32(const struct mg_gen *g, uint32_t value);
LLVMValueRef mg__gen_alloca(struct mg_gen *g, LLVMTypeRef type);
LLVMTypeRef mg__gen_int(const struct mg_gen *g, unsigned bytes);
LLVMValueRef mg__gen_load(struct mg_gen *g, LLVMTypeRef type, LLVMValueRef from, unsigned align);
void mg__gen_store(struct mg_gen *g, LLVMValueRef value, LLVMValueRef to, unsigned align);
#endif
