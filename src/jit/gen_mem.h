/* gen_mem.h - what accesses by their lines (gen_mem.c), several elements a lane (gen_elements.c), and accesses that are
 * looked at (gen_look.c) share. */
#ifndef MARGAY_JIT_GEN_MEM_H
#define MARGAY_JIT_GEN_MEM_H
#include "jit/gen.h"

struct mg_gen_line {
    struct mg_gen_value address; /* 64-bit coefficients, if they are values */
    LLVMValueRef at;             /* i64: of lane 0, which may be idle */
    LLVMValueRef ptr;
    LLVMValueRef on;  /* <32 x i1>: lanes that take part; NULL: all */
    LLVMValueRef rec; /* its record, once it was compared with it */
};

/* Of a LOAD, a STORE or a CALL that stands for one. */
static inline bool mg__gen_loads(const struct mg_engine_op *op)
{
    return op->mem->kind == MG_ACCESS_LD;
}
/* Of a CALL: it loads or stores local memory, which may be done without one. */
static inline bool mg__gen_is_local(const struct mg_engine_op *op)
{
    return op->kind == MG_ENGINE_CALL && op->mem && op->mem->space == MG_SPACE_LOCAL &&
           op->mem->kind <= MG_ACCESS_ST;
}
LLVMValueRef mg__gen_count_bits(struct mg_gen *g, const char *name, LLVMValueRef v); /* llvm.ctpop, .cttz, .ctlz */
LLVMValueRef mg__gen_wide(struct mg_gen *g, LLVMValueRef v); /* to an i64 */
/* Lanes that lie one behind the other are moved as they lie. */
bool mg__gen_may_be_found(const struct mg_engine_op *op);
/* Through the same register, and of the same bytes a lane. */
bool mg__gen_same_shape(const struct mg_engine_op *a, const struct mg_engine_op *b);
bool mg__gen_writes(const struct mg_engine_op *op, int32_t slot);
/* A new site for the access and those behind it in its block through the same, unchanged, register. */
struct mg_gen_group *mg__gen_site(struct mg_gen *g, uint32_t index, const struct mg_gen_form *form, bool found);
/* The group that has counted this access already. */
struct mg_gen_group *mg__gen_open_group(struct mg_gen *g, uint32_t index);
/* Compares with the record of the site, which is returned, and counts; where that cannot be, on to `out`. */
LLVMValueRef mg__gen_fits_record(struct mg_gen *g, const struct mg_gen_group *group, const struct mg_gen_line *l,
                                 const struct mg_engine_site *site, LLVMBasicBlockRef out);
/* A site of its own for the access, compared and, unless it is `noted`, counted; `out`: as for mg__gen_fits_record. */
struct mg_gen_group *mg__gen_first_of_site(struct mg_gen *g, uint32_t index, struct mg_gen_line *l, bool noted,
                                           LLVMBasicBlockRef out);
LLVMValueRef mg__gen_at_offset(struct mg_gen *g, const struct mg_engine_op *op, LLVMValueRef base);
LLVMValueRef mg__gen_of_member(struct mg_gen *g, const struct mg_gen_group *group);
LLVMValueRef mg__gen_place(struct mg_gen *g, const struct mg_engine_op *op, LLVMValueRef at); /* the host's */
/* Where it is, and no deferred store is. True: it is deferred itself. */
bool mg__gen_point_to(struct mg_gen *g, const struct mg_engine_op *op, struct mg_gen_line *l);
/* The access itself, of a line that is in bounds and counted. */
void mg__gen_move_line(struct mg_gen *g, const struct mg_engine_op *op, struct mg_gen_line *l);
void mg__gen_load_line(struct mg_gen *g, const struct mg_engine_op *op, const struct mg_gen_line *l);
void mg__gen_store_line(struct mg_gen *g, const struct mg_engine_op *op, const struct mg_gen_line *l);
void mg__gen_fetch_ahead(struct mg_gen *g, const struct mg_gen_group *group, const struct mg_engine_mem *m,
                         struct mg_gen_line *l);
LLVMValueRef mg__gen_row_ptr(struct mg_gen *g, const struct mg_gen_line *l, unsigned y, uint64_t more);
LLVMValueRef mg__gen_lane_ptrs(struct mg_gen *g, const struct mg_gen_line *l, uint64_t more);
/* A gather or a scatter. */
LLVMValueRef mg__gen_scattered(struct mg_gen *g, bool load, LLVMTypeRef vector, LLVMValueRef value, LLVMValueRef ptrs,
                               unsigned align, LLVMValueRef on);
LLVMValueRef mg__gen_concat(struct mg_gen *g, LLVMValueRef *piece, unsigned n); /* they are lost */
LLVMValueRef mg__gen_part_of(struct mg_gen *g, LLVMValueRef v, unsigned from, unsigned n); /* so many elements */
LLVMValueRef mg__gen_splat(struct mg_gen *g, LLVMValueRef v, unsigned n);
/* An element as a register holds it. */
LLVMValueRef mg__gen_to_register(struct mg_gen *g, const struct mg_engine_mem *m, LLVMValueRef v, bool vector,
                                 unsigned bytes);

/* The two ways of an access that may be made by a call or without one; both go on at `after`. */
struct mg_gen_ways {
    LLVMBasicBlockRef after; /* NULL: there is only the call */
    /* Where it loads its rows from, by itself and behind the call, from the block `from`; no rows: its results are in
     * the frame, or else where mg__gen_write has them. */
    LLVMValueRef row[8];
    unsigned nrows;
    LLVMBasicBlockRef from;
    struct mg_gen_form form; /* of the address */
};
/* gen_local.c: an access of local memory by itself. The builder then stands where there is a call all the same. */
struct mg_gen_ways mg__gen_local(struct mg_gen *g, const struct mg_engine_op *op);

/* gen_look.c */
bool mg__gen_is_looked_at(const struct mg_gen *g, uint32_t index);
void mg__gen_by_look(struct mg_gen *g, uint32_t index, struct mg_gen_value address);

/* gen_elements.c: `row` is a row of lanes in memory, x[v] all lanes' elements v (of the loads: the row's). */
LLVMValueRef mg__gen_shuffle(struct mg_gen *g, LLVMValueRef a, LLVMValueRef b, const int *index, unsigned n);
/* Bytes of the number that a lane's elements are moved as; 0: they are not. */
unsigned mg__gen_packed_in(const struct mg_engine_mem *m);
LLVMValueRef mg__gen_packed(struct mg_gen *g, const struct mg_engine_mem *m, LLVMValueRef *x); /* these numbers */
/* Whether four words a lane are moved by the two that follow. */
bool mg__gen_by_eights(const struct mg_gen *g, const struct mg_engine_mem *m, const struct mg_gen_line *l);
void mg__gen_load_eights(struct mg_gen *g, LLVMValueRef row, LLVMValueRef x[4]);
void mg__gen_store_eights(struct mg_gen *g, LLVMValueRef row, unsigned from, LLVMValueRef x[4]);
/* The elements v of a row that was loaded as it lies, or as such numbers. */
LLVMValueRef mg__gen_element(struct mg_gen *g, const struct mg_engine_mem *m, LLVMValueRef row, unsigned v);
/* Of `n` lanes from `from` on, as they are to lie. */
LLVMValueRef mg__gen_lane_by_lane(struct mg_gen *g, LLVMValueRef *x, unsigned vec, unsigned from, unsigned n);
#endif
