/* gen_local.c - loads and stores of local memory, which lies as a device has it: a word of every lane, then the next
 * word of every lane (struct mg_engine_warp).
 *
 * So lanes at one address of theirs have a row of words, which is a vector; 64 bits are two rows, bytes and halves
 * parts of one. Where that is not known beforehand it is looked at, and words are gathered and scattered, of idle lanes
 * to where nobody reads. All else is the call's, and what is not within the stacks, or not aligned. An address has 32
 * bits, as on a device: what a register has above them is not looked at.
 */
#include "jit/gen_mem.h"

#define FIELD(g, field) mg__gen_at(g, (g)->e, offsetof(struct mg_engine_warp, field))
#define ROW 128u /* bytes */
#define MOST 48u /* of a program's accesses that look at their lanes: they take LLVM long */

struct local {
    const struct mg_engine_op *op;
    LLVMValueRef row;    /* which has the first element, */
    LLVMValueRef places; /* <32 x i32>: or where its lanes have it from there on */
    LLVMValueRef bits;   /* i32: how far on in its words, if that is not known to be 0 */
    LLVMValueRef on;     /* <32 x i1>; NULL: all lanes */
};

static LLVMTypeRef words(const struct mg_gen *g)
{
    return LLVMVectorType(g->i32, 32);
}

static LLVMTypeRef elements(const struct mg_gen *g, const struct mg_engine_mem *m)
{
    return LLVMVectorType(mg__gen_int(g, m->width), 32);
}

static LLVMValueRef scattered(struct mg_gen *g, const struct local *l, LLVMValueRef x, LLVMValueRef row)
{
    LLVMValueRef places = l->places;
    return mg__gen_scattered(g, !x, words(g), x, LLVMBuildGEP2(g->b, g->i8, row, &places, 1, ""), 4, NULL);
}

static LLVMValueRef load_row(struct mg_gen *g, const struct local *l, LLVMValueRef row)
{
    return l->places ? scattered(g, l, NULL, row) : mg__gen_load(g, words(g), row, 64);
}

static void store_row(struct mg_gen *g, const struct local *l, LLVMValueRef x, LLVMValueRef row)
{
    if (l->places) {
        scattered(g, l, x, row);
        return;
    }
    mg__gen_store(g, l->on ? LLVMBuildSelect(g->b, l->on, x, load_row(g, l, row), "") : x, row, 64);
}

/* The low or high words of 64 bits. */
static LLVMValueRef half_of(struct mg_gen *g, LLVMValueRef x, int high)
{
    int index[32];
    for (int i = 0; i < 32; i++)
        index[i] = 2 * i + high;
    return mg__gen_shuffle(g, LLVMBuildBitCast(g->b, x, LLVMVectorType(g->i32, 64), ""), NULL, index, 32);
}

/* How far on in its row's words element v is. */
static LLVMValueRef bits_of(struct mg_gen *g, const struct local *l, unsigned v)
{
    LLVMValueRef bits = mg__gen_c32(g, v * l->op->mem->width % 4 * 8);
    return mg__gen_splat(g, l->bits ? LLVMBuildAdd(g->b, l->bits, bits, "") : bits, 32);
}

static LLVMValueRef load_elements(struct mg_gen *g, const struct local *l, unsigned v, LLVMValueRef row)
{
    const struct mg_engine_mem *m = l->op->mem;
    LLVMValueRef x = load_row(g, l, row);
    int index[64];
    if (m->width == 4)
        return x;
    if (m->width < 4)
        return LLVMBuildTrunc(g->b, LLVMBuildLShr(g->b, x, bits_of(g, l, v), ""), elements(g, m), "");
    for (int i = 0; i < 64; i++)
        index[i] = i / 2 + i % 2 * 32;
    x = mg__gen_shuffle(g, x, load_row(g, l, mg__gen_at(g, row, ROW)), index, 64);
    return LLVMBuildBitCast(g->b, x, elements(g, m), "");
}

static void store_elements(struct mg_gen *g, const struct local *l, unsigned v, LLVMValueRef row)
{
    const struct mg_engine_mem *m = l->op->mem;
    const struct mg_engine_operand *o = &l->op->in[1 + v];
    struct mg_gen_value r = mg__gen_read(g, o->slot, o->bytes);
    LLVMValueRef x = mg__gen_vector(g, &r, o->bytes);
    if (m->width != o->bytes)
        x = m->width < o->bytes ? LLVMBuildTrunc(g->b, x, elements(g, m), "")
                                : LLVMBuildZExt(g->b, x, elements(g, m), "");
    if (m->width == 8) {
        store_row(g, l, half_of(g, x, 0), row);
        store_row(g, l, half_of(g, x, 1), mg__gen_at(g, row, ROW));
    } else if (m->width == 4) {
        store_row(g, l, x, row);
    } else {
        LLVMValueRef bits = bits_of(g, l, v), all = mg__gen_splat(g, mg__gen_c32(g, (1u << 8 * m->width) - 1), 32),
                     others = LLVMBuildNot(g->b, LLVMBuildShl(g->b, all, bits, ""), "");
        x = LLVMBuildShl(g->b, LLVMBuildZExt(g->b, x, words(g), ""), bits, "");
        store_row(g, l, LLVMBuildOr(g->b, x, LLVMBuildAnd(g->b, load_row(g, l, row), others, ""), ""), row);
    }
}

static void move(struct mg_gen *g, const struct local *l)
{
    const struct mg_engine_mem *m = l->op->mem;
    const bool loads = mg__gen_loads(l->op);
    LLVMValueRef x[4] = {NULL};
    for (unsigned v = 0; v < m->vec; v++) {
        LLVMValueRef row = mg__gen_at(g, l->row, v * m->width / 4 * ROW);
        if (!loads)
            store_elements(g, l, v, row);
        else if (l->op->out[v].slot >= 0)
            x[v] = load_elements(g, l, v, row);
    }
    for (unsigned v = 0; v < m->vec; v++) {
        const struct mg_engine_operand *o = &l->op->out[v];
        if (x[v])
            mg__gen_write(g, o->slot, o->bytes, mg__gen_of_vector(mg__gen_to_register(g, m, x[v], true, o->bytes)));
    }
}

/* Results go to the frame; what is known of them holds on this way alone. */
static void end_way(struct mg_gen *g, const struct local *l, LLVMBasicBlockRef after)
{
    struct mg_gen_form before[4];
    for (unsigned k = 0; k < l->op->nout; k++) {
        const uint32_t v = mg__gen_var(g, l->op->out[k].slot, l->op->out[k].bytes);
        before[k] = v == UINT32_MAX ? (struct mg_gen_form){0} : g->form[v];
    }
    move(g, l);
    for (unsigned k = 0; k < l->op->nout; k++)
        mg__gen_to_frame(g, &l->op->out[k]);
    for (unsigned k = 0; k < l->op->nout; k++) {
        const uint32_t v = mg__gen_var(g, l->op->out[k].slot, l->op->out[k].bytes);
        if (v != UINT32_MAX) {
            g->form[v] = before[k];
            g->vars[v].framed = 0;
        }
    }
    LLVMBuildBr(g->b, after);
}

/* Whether an address (i32), or each of a vector, is aligned and within the stack: turned, so that what makes it odd
 * comes first, it is less than there are such places. */
static LLVMValueRef is_within(struct mg_gen *g, const struct mg_engine_mem *m, LLVMValueRef at)
{
    const bool vector = LLVMGetTypeKind(LLVMTypeOf(at)) == LLVMVectorTypeKind;
    const unsigned by = mg__gen_log2(m->width * m->vec);
    LLVMValueRef limit = mg__gen_load(g, g->i64, FIELD(g, local_bytes), 8), down = mg__gen_c32(g, by),
                 up = mg__gen_c32(g, 32 - by),
                 places = LLVMBuildTrunc(g->b, LLVMBuildLShr(g->b, limit, mg__gen_c64(g, by), ""), g->i32, "");
    if (vector) {
        places = mg__gen_splat(g, places, 32);
        down = mg__gen_splat(g, down, 32);
        up = mg__gen_splat(g, up, 32);
    }
    if (by)
        at = LLVMBuildOr(g->b, LLVMBuildLShr(g->b, at, down, ""), LLVMBuildShl(g->b, at, up, ""), "");
    return LLVMBuildICmp(g->b, LLVMIntULT, at, places, "");
}

/* All lanes at the address (i32). */
static void set_row(struct mg_gen *g, struct local *l, LLVMValueRef at)
{
    if (l->op->mem->width * l->op->mem->vec < 4) {
        LLVMValueRef byte = LLVMBuildAnd(g->b, at, mg__gen_c32(g, 3), "");
        l->bits = LLVMBuildShl(g->b, byte, mg__gen_c32(g, 3), "");
        at = LLVMBuildSub(g->b, at, byte, "");
    }
    at = LLVMBuildShl(g->b, LLVMBuildZExt(g->b, at, g->i64, ""), mg__gen_c64(g, 5), "");
    l->row = LLVMBuildGEP2(g->b, g->i8, l->row, &at, 1, "");
}

static void by_row(struct mg_gen *g, struct local *l, LLVMValueRef at, LLVMBasicBlockRef call, struct mg_gen_ways *ways)
{
    const struct mg_engine_op *op = l->op;
    const struct mg_engine_mem *m = op->mem;
    LLVMBasicBlockRef in = mg__gen_bb(g);
    mg__gen_expect(g, is_within(g, m, at), in, call);
    LLVMPositionBuilderAtEnd(g->b, in);
    set_row(g, l, at);
    ways->from = in;
    if (mg__gen_loads(op) && !g->mask && m->width == 4 && m->vec == 1 && op->out[0].slot >= 0 &&
        op->out[0].bytes == 4 && g->row >= 4) { /* behind both ways */
        ways->form = (struct mg_gen_form){.reached = true, .kx = 4, .ky = g->row == 32 ? 0 : 4 * (int64_t)g->row};
        for (unsigned y = 0; y < 32 / g->row; y++)
            ways->row[ways->nrows++] = mg__gen_at(g, l->row, 4 * (uint64_t)g->row * y);
        LLVMBuildBr(g->b, ways->after);
    } else {
        end_way(g, l, ways->after);
    }
}

/* Whether it is so of all lanes that run. */
static LLVMValueRef of_all(struct mg_gen *g, LLVMValueRef lanes)
{
    LLVMValueRef bits = LLVMBuildBitCast(g->b, lanes, g->i32, "");
    if (g->mask)
        bits = LLVMBuildOr(g->b, bits, LLVMBuildNot(g->b, g->mask, ""), "");
    return LLVMBuildICmp(g->b, LLVMIntEQ, bits, mg__gen_c32(g, ~0u), "");
}

static void by_look(struct mg_gen *g, struct local *l, LLVMValueRef at, LLVMBasicBlockRef call, LLVMBasicBlockRef after)
{
    const struct local any = *l;
    LLVMBasicBlockRef in = mg__gen_bb(g), one = mg__gen_bb(g), each = mg__gen_bb(g);
    LLVMValueRef first = mg__gen_c32(g, 0), lane[32];
    mg__gen_expect(g, of_all(g, is_within(g, l->op->mem, at)), in, call);
    LLVMPositionBuilderAtEnd(g->b, in);
    if (g->mask)
        first = mg__gen_count_bits(g, "llvm.cttz", g->mask);
    first = LLVMBuildExtractElement(g->b, at, first, "");
    LLVMBuildCondBr(g->b, of_all(g, LLVMBuildICmp(g->b, LLVMIntEQ, at, mg__gen_splat(g, first, 32), "")), one, each);
    LLVMPositionBuilderAtEnd(g->b, one);
    set_row(g, l, first);
    end_way(g, l, after);
    LLVMPositionBuilderAtEnd(g->b, each);
    *l = any;
    l->places = LLVMBuildShl(g->b, at, mg__gen_splat(g, mg__gen_c32(g, 5), 32), "");
    if (l->on) { /* idle ones load their first word, and store behind the stacks */
        LLVMValueRef end = LLVMBuildShl(g->b, mg__gen_load(g, g->i64, FIELD(g, local_bytes), 8), mg__gen_c64(g, 5), ""),
                     idle = mg__gen_loads(l->op) ? mg__gen_c32(g, 0) : LLVMBuildTrunc(g->b, end, g->i32, "");
        l->places = LLVMBuildSelect(g->b, l->on, l->places, mg__gen_splat(g, idle, 32), "");
    }
    for (unsigned i = 0; i < 32; i++)
        lane[i] = mg__gen_c32(g, 4 * i);
    l->places = LLVMBuildAdd(g->b, l->places, LLVMConstVector(lane, 32), "");
    end_way(g, l, after);
}

struct mg_gen_ways mg__gen_local(struct mg_gen *g, const struct mg_engine_op *op)
{
    const struct mg_engine_mem *m = op->mem;
    struct mg_gen_value address = mg__gen_read(g, op->in[0].slot, op->in[0].bytes);
    struct mg_gen_ways ways = {.form = address.form};
    const bool uniform = mg__gen_uniform(address.form);
    if (m->vec > 4 || m->width * m->vec > 16 || (!uniform && (m->width < 4 || g->quick || g->nlocal == MOST)))
        return ways;
    LLVMBasicBlockRef call = mg__gen_bb(g);
    LLVMValueRef at = uniform ? address.base : mg__gen_vector(g, &address, op->in[0].bytes);
    LLVMTypeRef narrow = uniform ? g->i32 : words(g);
    if (op->in[0].bytes == 8)
        at = LLVMBuildTrunc(g->b, at, narrow, "");
    LLVMValueRef more = mg__gen_c32(g, (uint32_t)m->offset);
    at = LLVMBuildAdd(g->b, at, uniform ? more : mg__gen_splat(g, more, 32), "");
    struct local l = {
        .op = op, .row = mg__gen_load(g, g->ptr, FIELD(g, local), 8), .on = g->mask ? mg__gen_lanes(g, g->mask) : NULL};
    ways.after = mg__gen_bb(g);
    g->nlocal += !uniform;
    if (uniform)
        by_row(g, &l, at, call, &ways);
    else
        by_look(g, &l, at, call, ways.after);
    LLVMPositionBuilderAtEnd(g->b, call);
    return ways;
}
