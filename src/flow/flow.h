/* flow.h - what the text of a kernel tells, whatever runs it: found here once, for the engine, models, checks and
 * advice.
 *
 * Everything is a pure function of a parsed function (and its basic blocks); what it needs of opcodes stands in their
 * rows of isa.def: roles, access, algebra. PTX is not SSA. A register may be written at several places, and read on a
 * path on which it was never written; what is claimed of a register is claimed where it has a value. Claims are about
 * one thread, and lanes of a warp that diverge keep to their own paths, so they hold for warps, too.
 *
 * Each part is made by the function that bears its name and released by its _free, also after a failure; false: no
 * memory.
 */
#ifndef MG_FLOW_H
#define MG_FLOW_H
#include "cfg/cfg.h"
#include "ptx/ptx.h"

/* ---- the registers that an instruction names ---- */
/* One after the other: its operands, parts of vectors and addresses included, then its guard. */
struct mg_flow_walk {
    const struct mg_ptx_func *func;
    const struct mg_ptx_insn *insn;
    uint32_t operand, part;
};
/* Registers in flight: behind its operands, those of an asynchronous instruction's result are read; a wait for such
 * reads and writes all that there are. */
static inline bool mg__flow_flying(struct mg_flow_walk *w, uint32_t *reg, bool *written)
{
    const struct mg_ptx_insn *i = w->insn;
    const uint32_t part = w->part++;
    *written = false;
    if (i->nresults) {
        const struct mg_ptx_opnd *d = mg__ptx_op(w->func, i, 0), *e = &w->func->operands[d->first];
        for (uint32_t k = part; d->kind == MG_OPND_VEC && k < d->count; k++, w->part++)
            if (e[k].kind == MG_OPND_REG) {
                *reg = e[k].index;
                return true;
            }
    } else if (part < 2 * w->func->nflying) {
        *reg = w->func->flying[part / 2];
        *written = part % 2;
        return true;
    }
    return false;
}
/* *written: it is a result; otherwise it is read. False: there are no more. */
static inline bool mg__flow_next(struct mg_flow_walk *w, uint32_t *reg, bool *written)
{
    const struct mg_ptx_insn *i = w->insn;
    for (; w->operand < i->nops; w->operand++, w->part = 0) {
        const struct mg_ptx_opnd *o = mg__ptx_op(w->func, i, w->operand);
        uint32_t parts = o->kind == MG_OPND_VEC || o->kind == MG_OPND_ADDR ? o->count : 0;
        while (w->part <= parts) { /* the operand itself, then what is in it */
            const struct mg_ptx_opnd *e = w->part ? &w->func->operands[o->first + w->part - 1] : o;
            w->part++;
            if (e->kind != MG_OPND_REG && (e->kind != MG_OPND_ADDR || !e->has_reg))
                continue;
            *reg = e->index;
            *written = e->kind == MG_OPND_REG && o->kind != MG_OPND_ADDR && mg__ptx_writes(i, w->operand);
            return true;
        }
    }
    if (w->operand == i->nops && i->effects & MG_E_FLIES && mg__flow_flying(w, reg, written))
        return true;
    if (w->operand++ > i->nops || i->guard < 0)
        return false;
    *reg = (uint32_t)i->guard;
    *written = false;
    return true;
}

/* ---- chains.c: definitions and uses ---- */
/* By register, the instructions that write it and those that read it, in program order, an instruction once for each
 * time that it names the register: defs[def_at[r]] … defs[def_at[r + 1] - 1]. */
struct mg_flow_chains {
    uint32_t *def_at, *use_at, *defs, *uses;
};
bool mg__flow_chains(const struct mg_ptx_func *func, struct mg_flow_chains *c);
void mg__flow_chains_free(struct mg_flow_chains *c);
static inline uint32_t mg__flow_ndefs(const struct mg_flow_chains *c, uint32_t reg)
{
    return c->def_at[reg + 1] - c->def_at[reg];
}
static inline bool mg__flow_is_read(const struct mg_flow_chains *c, uint32_t reg)
{
    return c->use_at[reg + 1] > c->use_at[reg];
}
/* Of a vector that is loaded the elements whose registers are read, a bit each; 0 of any other instruction. */
uint8_t mg__flow_elements(const struct mg_ptx_func *func, const struct mg_flow_chains *c,
                          const struct mg_ptx_insn *insn);

/* ---- live.c: the registers whose value may still be read ---- */
struct mg_flow_live {
    size_t words;
    uint64_t *in;   /* by block, `words` each: a bit a register that is live where the block begins */
    uint64_t *live; /* a set to work with */
};
bool mg__flow_live(const struct mg_ptx_func *func, const struct mg_cfg *cfg, struct mg_flow_live *l);
void mg__flow_live_free(struct mg_flow_live *l);
void mg__flow_live_out(struct mg_flow_live *l, const struct mg_cfg_block *block); /* behind it, into l->live */
/* From the registers that are live behind the instruction to those before it. */
void mg__flow_live_before(const struct mg_ptx_func *func, const struct mg_ptx_insn *insn, uint64_t *live);

/* ---- chosen.c: loads whose value counts for some lanes alone ---- */
struct mg_flow_choice {
    uint32_t at; /* the instruction before which the predicate says it, behind the load in its basic block; 0: none */
    uint32_t predicate; /* register */
    bool when;          /* what it is in lanes for which the value counts */
};
/* Of all instructions of the function. */
void mg__flow_choices(const struct mg_ptx_func *func, const struct mg_cfg *cfg, const struct mg_flow_chains *chains,
                      struct mg_flow_choice *by_insn);

/* ---- available.c: which facts hold where, on every path ---- */
/* A fact is made where one register is written, which has no other definition, and undone where one of others is. */
struct mg_flow_available {
    const struct mg_ptx_func *func;
    const struct mg_cfg *cfg;
    size_t words;
    uint64_t *in;  /* by block, `words` each: a bit a fact that holds where the block begins */
    uint64_t *now; /* after _enter and _through: those that hold here */
    uint64_t *out;
    uint32_t *made;        /* by register: the fact that it makes + 1, or 0 */
    uint32_t *undone;      /* by register: the first link + 1 of those that it undoes */
    uint32_t *next, *fact; /* by link */
    uint32_t nlinks;
};
/* For so many facts, and pairs of a fact and a register that undoes it. */
bool mg__flow_available(const struct mg_ptx_func *func, const struct mg_cfg *cfg, size_t facts, size_t links,
                        struct mg_flow_available *a);
void mg__flow_available_free(struct mg_flow_available *a);
void mg__flow_available_undo(struct mg_flow_available *a, uint32_t fact, uint32_t reg);
void mg__flow_available_clear(struct mg_flow_available *a); /* nothing is undone any more */
void mg__flow_available_solve(struct mg_flow_available *a); /* fills `in` */
void mg__flow_available_enter(struct mg_flow_available *a, uint32_t block);
void mg__flow_available_through(struct mg_flow_available *a, uint32_t insn); /* from before it to behind it */
static inline bool mg__flow_holds(const uint64_t *set, uint32_t fact)
{
    return set[fact / 64] >> fact % 64 & 1;
}

/* ---- shared.c: where ptxas puts shared variables ---- */
struct mg_flow_shared {
    uint64_t *at;                    /* by variable id: its offset */
    const struct mg_ptx_var **order; /* those of a known size, by offset */
    size_t count;
    uint64_t size;    /* of these; dynamic shared memory follows at a multiple of dynamic_align */
    uint64_t section; /* what ptxas says that they take: rounded up */
    uint32_t dynamic_align;
};
/* Of an entry, funcs[0], and the functions that may be called from it. */
bool mg__flow_shared(const struct mg_ptx_module *module, const struct mg_ptx_func *const *funcs, size_t nfuncs,
                     struct mg_flow_shared *s);
void mg__flow_shared_free(struct mg_flow_shared *s);

/* ---- fixed.c: what never changes while a function runs ---- */
enum mg_flow_fixed_kind { MG_FLOW_CONSTANT, MG_FLOW_SREG, MG_FLOW_PARAM };
struct mg_flow_fixed {
    uint8_t kind, size; /* 4 or 8 bytes */
    uint8_t dim;        /* SREG: as of an operand */
    uint16_t sreg;
    uint32_t offset; /* PARAM: in the parameter buffer of the entry */
    uint64_t bits;   /* CONSTANT */
};
/* Whether the instruction moves such a value into a whole register, under no guard. */
bool mg__flow_fixed(const struct mg_ptx_func *func, const struct mg_ptx_insn *insn, struct mg_flow_fixed *value);
/* The offset in the parameter buffer of what is loaded from the entry's own parameters; false: it is not. */
bool mg__flow_param(const struct mg_ptx_func *func, const struct mg_ptx_insn *insn, uint64_t *offset);

/* ---- values.c: low bits, lanes, and linear forms ---- */
enum { MG_FLOW_TERMS = 4, MG_FLOW_ZEROS = 16 };
struct mg_flow_term { /* a number of times what never changes (enum mg_flow_fixed_kind), or what a register holds */
    enum { MG_FLOW_TERM_REG, MG_FLOW_TERM_SREG, MG_FLOW_TERM_PARAM } kind;
    uint32_t index; /* REG: the register; SREG: enum mg_ptx_sreg; PARAM: offset in the parameter buffer */
    uint32_t at;    /* REG: since this instruction of the block + 1, or 0: since the block began; SREG: dim */
    int64_t times;
};
/* add + var + the sum of its terms, modulo 2^32. An address in shared memory and the generic address of the same place
 * count as one. */
struct mg_flow_form {
    int64_t add;
    const struct mg_ptx_var *var; /* in shared memory */
    struct mg_flow_term term[MG_FLOW_TERMS];
    unsigned nterms;
};
struct mg_flow_values {
    const struct mg_ptx_func *func;
    const struct mg_cfg *cfg;
    const struct mg_flow_shared *shared;
    struct mg_flow_chains chains;
    struct mg_flow_available through; /* a fact a register: its one definition still says what it is */
    uint8_t *zeros;                   /* by register: low bits known to be zero, MG_FLOW_ZEROS at most */
    bool *varies;                     /* by register: may differ between threads of a block that execute it together */
    struct mg_flow_form *forms;       /* by instruction: its result, where */
    bool *known;                      /* … it is one register with a linear form */
};
bool mg__flow_values(const struct mg_ptx_func *func, const struct mg_cfg *cfg, const struct mg_flow_shared *shared,
                     struct mg_flow_values *v);
void mg__flow_values_free(struct mg_flow_values *v);
/* The operand as the instruction finds it: a register, number, symbol or address. False: no linear form is known. */
bool mg__flow_form(const struct mg_flow_values *v, uint32_t insn, const struct mg_ptx_opnd *o,
                   struct mg_flow_form *form);
/* Whether two forms differ by a constant at most. Both are of places in one block. */
bool mg__flow_same_base(const struct mg_flow_form *a, const struct mg_flow_form *b);
/* The low bits that are zero of what the form is without `add`. */
unsigned mg__flow_base_zeros(const struct mg_flow_values *v, const struct mg_flow_form *form);
/* Whether an operand may differ between threads of a block. What memory holds is taken to stay as it is meanwhile. */
bool mg__flow_varies(const struct mg_flow_values *v, const struct mg_ptx_opnd *o);

/* ---- origin.c: where addresses come from ---- */
enum mg_flow_origin_kind {
    MG_FLOW_NUMBER, /* no address */
    MG_FLOW_VARIABLE,
    MG_FLOW_POINTER, /* a parameter that is an address */
    MG_FLOW_SEVERAL
};
struct mg_flow_origin {
    uint8_t kind;
    bool some;                    /* or it comes out of memory, or from another function: it may be anything */
    uint32_t offset;              /* POINTER: in the parameter buffer */
    const struct mg_ptx_var *var; /* VARIABLE */
};
/* By register, of all its definitions: regs[] is the caller's, zeroed. is_pointer: whether the 8 bytes at an offset of
 * the parameter buffer are an address, or NULL: all are. */
void mg__flow_origins(const struct mg_ptx_func *func, bool (*is_pointer)(const void *arg, uint64_t offset),
                      const void *arg, struct mg_flow_origin *regs);
struct mg_flow_origin mg__flow_origin_of(const struct mg_flow_origin *regs, const struct mg_ptx_opnd *o);
#endif
