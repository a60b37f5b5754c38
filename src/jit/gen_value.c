/* gen_value.c - registers as values: read and written in the form that forms.c found for them, and arithmetic on them.
 *
 * A register has up to four homes (base, two coefficients, vector), which LLVM turns into SSA values. Arithmetic on
 * what is the same in all lanes is done once; on lines it is done on the base, and the coefficients follow by the rules
 * of forms.c; on anything else it is the operation's function over a vector of 32 lanes.
 */
#include "jit/gen.h"

struct mg_gen_value mg__gen_of_vector(LLVMValueRef vec)
{
    return (struct mg_gen_value){.form = {.reached = true, .vector = true}, .vec = vec};
}

struct mg_gen_value mg__gen_of_base(LLVMValueRef base)
{
    return (struct mg_gen_value){.form = {.reached = true}, .base = base};
}

static LLVMTypeRef vector_type(const struct mg_gen *g, unsigned bytes)
{
    return bytes == 0 ? g->i32 : LLVMVectorType(mg__gen_int(g, bytes), 32);
}

static LLVMValueRef integer(const struct mg_gen *g, unsigned bytes, int64_t v)
{
    return LLVMConstInt(mg__gen_int(g, bytes), (uint64_t)v, 0);
}

static LLVMValueRef splat(struct mg_gen *g, LLVMValueRef v)
{
    LLVMTypeRef type = LLVMVectorType(LLVMTypeOf(v), 32);
    LLVMValueRef one = LLVMBuildInsertElement(g->b, LLVMGetPoison(type), v, mg__gen_c32(g, 0), "");
    return LLVMBuildShuffleVector(g->b, one, LLVMGetPoison(type), LLVMConstNull(LLVMVectorType(g->i32, 32)), "");
}

LLVMValueRef mg__gen_cx(struct mg_gen *g, const struct mg_gen_value *v, unsigned bytes)
{
    return v->form.dx ? v->cx : integer(g, bytes, v->form.kx);
}
LLVMValueRef mg__gen_cy(struct mg_gen *g, const struct mg_gen_value *v, unsigned bytes)
{
    return v->form.dy ? v->cy : integer(g, bytes, v->form.ky);
}

LLVMValueRef mg__gen_vector(struct mg_gen *g, struct mg_gen_value *v, unsigned bytes)
{
    if (v->vec)
        return v->vec;
    if (bytes == 0)
        return v->vec = LLVMBuildSExt(g->b, v->base, g->i32, "");
    LLVMValueRef r = splat(g, v->base);
    unsigned wide = bytes == 8;
    if (v->form.dx || v->form.kx)
        r = LLVMBuildAdd(g->b, r, LLVMBuildMul(g->b, splat(g, mg__gen_cx(g, v, bytes)), g->lane_x[wide], ""), "");
    if (v->form.dy || v->form.ky)
        r = LLVMBuildAdd(g->b, r, LLVMBuildMul(g->b, splat(g, mg__gen_cy(g, v, bytes)), g->lane_y[wide], ""), "");
    return v->vec = r;
}

/* Through an empty piece of assembly: where LLVM sees that logic on masks could as well be logic on integers, and the
 * other way round, its instruction selection (19) goes to and fro for ever. */
LLVMValueRef mg__gen_lanes(struct mg_gen *g, LLVMValueRef mask)
{
    if (LLVMIsConstant(mask))
        return LLVMBuildBitCast(g->b, mask, LLVMVectorType(g->i1, 32), "");
    LLVMTypeRef type = LLVMFunctionType(g->i32, &g->i32, 1, 0);
    LLVMValueRef same = LLVMGetInlineAsm(type, "", 0, "=r,0", 4, 0, 0, LLVMInlineAsmDialectATT, 0);
    return LLVMBuildBitCast(g->b, LLVMBuildCall2(g->b, type, same, &mask, 1, ""), LLVMVectorType(g->i1, 32), "");
}

static LLVMValueRef home(struct mg_gen *g, LLVMValueRef *at, LLVMTypeRef type)
{
    if (!*at)
        *at = mg__gen_alloca(g, type);
    return *at;
}

static struct mg_gen_value load_var(struct mg_gen *g, struct mg_gen_var *v, struct mg_gen_form form)
{
    struct mg_gen_value r = {.form = form};
    LLVMTypeRef type = v->bytes ? mg__gen_int(g, v->bytes) : g->i1;
    if (form.vector || !form.reached) {
        r.form.vector = true;
        r.vec = LLVMBuildLoad2(g->b, vector_type(g, v->bytes), home(g, &v->vec, vector_type(g, v->bytes)), "");
        return r;
    }
    r.base = LLVMBuildLoad2(g->b, type, home(g, &v->base, type), "");
    if (form.dx)
        r.cx = LLVMBuildLoad2(g->b, type, home(g, &v->cx, type), "");
    if (form.dy)
        r.cy = LLVMBuildLoad2(g->b, type, home(g, &v->cy, type), "");
    return r;
}

static void store_var(struct mg_gen *g, struct mg_gen_var *v, const struct mg_gen_value *value)
{
    LLVMTypeRef type = v->bytes ? mg__gen_int(g, v->bytes) : g->i1;
    if (value->form.vector) {
        LLVMBuildStore(g->b, value->vec, home(g, &v->vec, vector_type(g, v->bytes)));
        return;
    }
    LLVMBuildStore(g->b, value->base, home(g, &v->base, type));
    if (value->form.dx)
        LLVMBuildStore(g->b, value->cx, home(g, &v->cx, type));
    if (value->form.dy)
        LLVMBuildStore(g->b, value->cy, home(g, &v->cy, type));
}

/* The same value, known less of. */
static struct mg_gen_value weaken(struct mg_gen *g, struct mg_gen_value v, struct mg_gen_form to, unsigned bytes)
{
    if (to.vector && !v.form.vector)
        return mg__gen_of_vector(mg__gen_vector(g, &v, bytes));
    if (to.dx && !v.form.dx)
        v.cx = mg__gen_cx(g, &v, bytes);
    if (to.dy && !v.form.dy)
        v.cy = mg__gen_cy(g, &v, bytes);
    v.form = to;
    return v;
}

void mg__gen_settle(struct mg_gen *g, uint32_t var, struct mg_gen_form to)
{
    struct mg_gen_form *now = &g->form[var];
    if (memcmp(now, &to, sizeof to) == 0)
        return;
    if (now->reached && to.reached && !(now->vector && to.vector)) {
        struct mg_gen_value v = weaken(g, load_var(g, &g->vars[var], *now), to, g->vars[var].bytes);
        store_var(g, &g->vars[var], &v);
    }
    *now = to;
}

/* Of doubles NaN's bits are told apart, and which ones come out is the processor's (sem_float.h). LLVM thinks less of
 * them: x * 1 is x to it, though it be a signalling NaN, and of infinities it makes NaNs of its own. So it is not shown
 * ±1, -0, and what is not finite; no other type has much use of their bits. */
static LLVMValueRef hidden_double(struct mg_gen *g, int64_t bits)
{
    const uint64_t v = (uint64_t)bits, magnitude = v & INT64_MAX, one = UINT64_C(0x3ff0000000000000),
                   infinity = UINT64_C(0x7ff0000000000000);
    LLVMValueRef c = mg__gen_c64(g, v);
    if (magnitude != one && magnitude < infinity && (magnitude != 0 || v == 0))
        return c;
    if (v >> 48 == 0xffff) /* a small number below 0, more likely: as a double it is a quiet NaN */
        return c;
    LLVMTypeRef type = LLVMFunctionType(g->i64, &g->i64, 1, 0);
    LLVMValueRef same = LLVMGetInlineAsm(type, "", 0, "=r,0", 4, 0, 0, LLVMInlineAsmDialectATT, 0);
    return LLVMBuildCall2(g->b, type, same, &c, 1, "");
}

static struct mg_gen_value read_constant(struct mg_gen *g, int32_t slot, unsigned bytes)
{
    int64_t c;
    for (uint32_t k = 0; k < g->p->nfills; k++)
        if (g->p->fills[k].slot == slot)
            return g->fills[k];
    if (mg__gen_constant(g, slot, bytes, &c)) {
        if (bytes)
            return mg__gen_of_base(bytes == 8 ? hidden_double(g, c) : integer(g, bytes, c));
        return c == 0 || c == -1 ? mg__gen_of_base(LLVMConstInt(g->i1, c != 0, 0))
                                 : mg__gen_of_vector(mg__gen_c32(g, (uint32_t)c));
    }
    return mg__gen_of_base(mg__gen_load(g, mg__gen_int(g, bytes), mg__gen_at(g, g->regs, (uint32_t)slot), bytes));
}

struct mg_gen_value mg__gen_read(struct mg_gen *g, int32_t slot, unsigned bytes)
{
    uint32_t var = mg__gen_var(g, slot, bytes);
    if (var != UINT32_MAX)
        return load_var(g, &g->vars[var], g->form[var]);
    struct mg_gen_value v = read_constant(g, slot, bytes);
    v.form.zeros = mg__gen_form(g, g->form, slot, bytes).zeros;
    return v;
}

/* What is `after` in the lanes of the mask, and `before` in the others; `lanes`: the mask as a vector, or NULL. */
static LLVMValueRef blend(struct mg_gen *g, LLVMValueRef mask, LLVMValueRef lanes, LLVMValueRef after,
                          LLVMValueRef before, unsigned bytes)
{
    if (bytes == 0)
        return LLVMBuildOr(g->b, LLVMBuildAnd(g->b, after, mask, ""),
                           LLVMBuildAnd(g->b, before, LLVMBuildNot(g->b, mask, ""), ""), "");
    return LLVMBuildSelect(g->b, lanes ? lanes : mg__gen_lanes(g, mask), after, before, "");
}

void mg__gen_write(struct mg_gen *g, int32_t slot, unsigned bytes, struct mg_gen_value value)
{
    uint32_t var = mg__gen_var(g, slot, bytes);
    if (var == UINT32_MAX)
        return;
    if (g->mask && mg__gen_keeps(g, var)) {
        struct mg_gen_value old = load_var(g, &g->vars[var], g->form[var]);
        LLVMValueRef before = mg__gen_vector(g, &old, bytes), after = mg__gen_vector(g, &value, bytes);
        value = mg__gen_of_vector(blend(g, g->mask, NULL, after, before, bytes));
    }
    store_var(g, &g->vars[var], &value);
    g->form[var] = value.form;
    g->vars[var].serial = 0;
    g->vars[var].framed = 0;
}

void mg__gen_to_slot(struct mg_gen *g, uint32_t var)
{
    const struct mg_gen_var *v = &g->vars[var];
    struct mg_gen_value value = load_var(g, &g->vars[var], g->form[var]);
    LLVMValueRef vec = mg__gen_vector(g, &value, v->bytes), at = mg__gen_at(g, g->regs, (uint32_t)v->slot);
    const unsigned align = v->bytes ? v->bytes : 4;
    if (mg__gen_blends_late(g) && mg__gen_is_live(g->slots, var))
        vec = blend(g, g->running, g->running_lanes, vec, mg__gen_load(g, LLVMTypeOf(vec), at, align), v->bytes);
    mg__gen_store(g, vec, at, align);
}

static int32_t end_of(const struct mg_gen_var *v)
{
    return v->slot + (v->bytes ? 32 * v->bytes : 4);
}

void mg__gen_framed(struct mg_gen *g, uint32_t var)
{
    struct mg_gen_var *now = &g->vars[var];
    for (struct mg_gen_var *v = g->vars; v < g->vars + g->nvars; v++)
        if (v->slot < end_of(now) && now->slot < end_of(v))
            v->framed = 0;
    now->framed = g->framed;
}

bool mg__gen_is_framed(const struct mg_gen *g, uint32_t var)
{
    return g->framed && g->vars[var].framed == g->framed;
}

/* ---- arithmetic ---- */
static unsigned carrier_bytes(uint8_t carrier)
{
    return carrier == MG_SEM_B64 ? 8 : carrier == MG_SEM_B1 ? 0 : 4;
}

/* An operand as the row's function takes it: of its carrier's type. */
static LLVMValueRef argument(struct mg_gen *g, struct mg_gen_value *v, uint8_t carrier, bool vector)
{
    LLVMTypeRef i16 = vector ? LLVMVectorType(g->i16, 32) : g->i16, i32 = vector ? LLVMVectorType(g->i32, 32) : g->i32;
    LLVMValueRef x = vector ? mg__gen_vector(g, v, carrier_bytes(carrier)) : v->base;
    if (carrier == MG_SEM_B1)
        return LLVMBuildZExt(g->b, vector ? mg__gen_lanes(g, x) : x, i32, "");
    return carrier == MG_SEM_B16 ? LLVMBuildTrunc(g->b, x, i16, "") : x;
}

static LLVMValueRef apply(struct mg_gen *g, const struct mg_engine_op *op, struct mg_gen_value *in, bool vector)
{
    const struct mg_sem_row *row = &mg_sem_rows[op->row];
    LLVMValueRef args[4] = {0};
    for (unsigned k = 0; k < row->nargs; k++)
        args[k] = argument(g, &in[k], row->arg[k], vector);
    LLVMValueRef r = mg__gen_row(g, op->row, op->mode, args, vector);
    if (row->ret == MG_SEM_B16)
        return LLVMBuildZExt(g->b, r, vector ? LLVMVectorType(g->i32, 32) : g->i32, "");
    if (row->ret != MG_SEM_B1)
        return r;
    r = LLVMBuildICmp(g->b, LLVMIntNE, r, LLVMConstNull(LLVMTypeOf(r)), "");
    return vector ? LLVMBuildBitCast(g->b, r, g->i32, "") : r;
}

static LLVMValueRef least(struct mg_gen *g, LLVMValueRef v, bool most)
{
    LLVMValueRef zero = mg__gen_c64(g, 0);
    return LLVMBuildSelect(g->b, LLVMBuildICmp(g->b, most ? LLVMIntSGT : LLVMIntSLT, v, zero, ""), v, zero, "");
}

/* A 32-bit line as a 64-bit one, which it is if no lane wraps; or the interpreter goes on here. */
static struct mg_gen_value extend(struct mg_gen *g, struct mg_gen_value v, bool is_signed)
{
    struct mg_gen_value r = {.form = v.form};
    r.base = is_signed ? LLVMBuildSExt(g->b, v.base, g->i64, "") : LLVMBuildZExt(g->b, v.base, g->i64, "");
    if (mg__gen_uniform(v.form))
        return r;
    LLVMValueRef x = LLVMBuildSExt(g->b, mg__gen_cx(g, &v, 4), g->i64, ""),
                 y = LLVMBuildSExt(g->b, mg__gen_cy(g, &v, 4), g->i64, "");
    if (v.form.dx)
        r.cx = x;
    if (v.form.dy)
        r.cy = y;
    LLVMValueRef sx = LLVMBuildMul(g->b, x, mg__gen_c64(g, g->row - 1), ""),
                 sy = LLVMBuildMul(g->b, y, mg__gen_c64(g, 32 / g->row - 1), "");
    LLVMValueRef lo = LLVMBuildAdd(g->b, least(g, sx, false), least(g, sy, false), "");
    LLVMValueRef hi = LLVMBuildAdd(g->b, least(g, sx, true), least(g, sy, true), "");
    LLVMValueRef bias = mg__gen_c64(g, is_signed ? 0x80000000u : 0), top = mg__gen_c64(g, 0xffffffffu);
    lo = LLVMBuildAdd(g->b, LLVMBuildAdd(g->b, r.base, bias, ""), lo, "");
    hi = LLVMBuildAdd(g->b, LLVMBuildAdd(g->b, r.base, bias, ""), hi, "");
    LLVMValueRef fits = LLVMBuildAnd(g->b, LLVMBuildICmp(g->b, LLVMIntULE, lo, top, ""),
                                     LLVMBuildICmp(g->b, LLVMIntULE, hi, top, ""), "");
    LLVMBasicBlockRef good = mg__gen_bb(g);
    mg__gen_expect(g, fits, good, mg__gen_exit(g));
    LLVMPositionBuilderAtEnd(g->b, good);
    return r;
}

/* Or the interpreter goes on here. */
static void not_below_zero(struct mg_gen *g, LLVMValueRef v)
{
    LLVMBasicBlockRef good = mg__gen_bb(g);
    mg__gen_expect(g, LLVMBuildICmp(g->b, LLVMIntSGE, v, LLVMConstNull(LLVMTypeOf(v)), ""), good, mg__gen_exit(g));
    LLVMPositionBuilderAtEnd(g->b, good);
}

static struct mg_gen_value sum(struct mg_gen *g, struct mg_gen_value a, struct mg_gen_value b, bool minus,
                               struct mg_gen_form to, unsigned bytes)
{
    struct mg_gen_value r = {.form = to};
    LLVMOpcode code = minus ? LLVMSub : LLVMAdd;
    r.base = LLVMBuildBinOp(g->b, code, a.base, b.base, "");
    if (to.dx)
        r.cx = LLVMBuildBinOp(g->b, code, mg__gen_cx(g, &a, bytes), mg__gen_cx(g, &b, bytes), "");
    if (to.dy)
        r.cy = LLVMBuildBinOp(g->b, code, mg__gen_cy(g, &a, bytes), mg__gen_cy(g, &b, bytes), "");
    return r;
}

static struct mg_gen_value times(struct mg_gen *g, struct mg_gen_value a, LLVMValueRef by, unsigned bytes)
{
    struct mg_gen_value r = {.base = LLVMBuildMul(g->b, a.base, by, "")};
    r.cx = LLVMBuildMul(g->b, mg__gen_cx(g, &a, bytes), by, "");
    r.cy = LLVMBuildMul(g->b, mg__gen_cy(g, &a, bytes), by, "");
    r.form = (struct mg_gen_form){.reached = true, .dx = true, .dy = true}; /* what is constant folds away */
    return r;
}

static struct mg_gen_value on_line(struct mg_gen *g, const struct mg_engine_op *op, struct mg_gen_value *in,
                                   struct mg_gen_form to)
{
    struct mg_gen_rule_of r = mg__gen_rule(op->row);
    unsigned bytes = mg_sem_rows[op->row].ret == MG_SEM_B64 ? 8 : 4;
    struct mg_gen_value v = in[0];
    switch (r.rule) {
    case MG_RULE_ADD:
    case MG_RULE_SUB:
        return sum(g, in[0], in[1], r.rule == MG_RULE_SUB, to, bytes);
    case MG_RULE_SHL: {
        int64_t c = 0;
        mg__gen_constant(g, op->in[1].slot, 4, &c);
        v = times(g, in[0], integer(g, bytes, (uint64_t)c < 8 * bytes ? (int64_t)((uint64_t)1 << c) : 0), bytes);
        break;
    }
    case MG_RULE_MUL:
    case MG_RULE_MAD:
    case MG_RULE_WIDE:
    case MG_RULE_MADWIDE: {
        bool second = mg__gen_uniform(in[1].form);
        struct mg_gen_value line = in[!second], by = in[second];
        if (r.rule == MG_RULE_WIDE || r.rule == MG_RULE_MADWIDE) {
            line = extend(g, line, r.is_signed);
            by = extend(g, by, r.is_signed);
        }
        v = times(g, line, by.base, bytes);
        if (r.rule == MG_RULE_MAD || r.rule == MG_RULE_MADWIDE)
            return sum(g, v, in[2], false, to, bytes);
        break;
    }
    case MG_RULE_EXTEND:
        return extend(g, in[0], r.is_signed);
    case MG_RULE_OR:
        return sum(g, in[0], in[1], false, to, bytes);
    case MG_RULE_NEG: case MG_RULE_NOT:
        return sum(g, mg__gen_of_base(integer(g, bytes, r.rule == MG_RULE_NOT ? -1 : 0)), in[0], true, to, bytes);
    case MG_RULE_AND: case MG_RULE_SHR: case MG_RULE_FIELD: {
        struct mg_gen_value base[4];
        for (unsigned k = 0; k < op->nin; k++)
            base[k] = mg__gen_of_base(in[k].base);
        if (mg__gen_takes_sign(g, op, r))
            not_below_zero(g, v.base);
        v = mg__gen_of_base(to.zeros == MG_GEN_ZERO ? integer(g, bytes, 0) : apply(g, op, base, false));
        break;
    }
    default: /* KEEP */
        if (op->in[0].bytes == 8) {
            v.base = LLVMBuildTrunc(g->b, v.base, g->i32, "");
            v.cx = v.form.dx ? LLVMBuildTrunc(g->b, v.cx, g->i32, "") : NULL;
            v.cy = v.form.dy ? LLVMBuildTrunc(g->b, v.cy, g->i32, "") : NULL;
        }
        break;
    }
    v.form = to;
    return v;
}

/* ---- predicates of lines ----
 * Of a comparison of lines the ends tell whether it holds for all lanes, or for none: two scalar comparisons, where
 * most branches need no more. What lanes hold in between is worked out where it is wanted. */
struct ends {
    LLVMValueRef lo, hi, good; /* i64; good: no lane wraps */
};

static int64_t reach(const struct mg_gen *g, const struct mg_gen_form *f, bool most)
{
    int64_t x = f->kx * (int64_t)(g->row - 1), y = f->ky * (int64_t)(32 / g->row - 1);
    return most ? MG_MAX(x, 0) + MG_MAX(y, 0) : MG_MIN(x, 0) + MG_MIN(y, 0);
}

static struct ends ends_of(struct mg_gen *g, const struct mg_gen_value *v, bool is_signed)
{
    LLVMValueRef base = is_signed ? LLVMBuildSExt(g->b, v->base, g->i64, "") : LLVMBuildZExt(g->b, v->base, g->i64, "");
    struct ends e = {LLVMBuildAdd(g->b, base, mg__gen_c64(g, (uint64_t)reach(g, &v->form, false)), ""),
                     LLVMBuildAdd(g->b, base, mg__gen_c64(g, (uint64_t)reach(g, &v->form, true)), ""), NULL};
    if (mg__gen_uniform(v->form)) {
        e.good = LLVMConstInt(g->i1, 1, 0);
        return e;
    }
    LLVMValueRef least = mg__gen_c64(g, is_signed ? (uint64_t)INT32_MIN : 0),
                 most = mg__gen_c64(g, is_signed ? INT32_MAX : UINT32_MAX);
    e.good = LLVMBuildAnd(g->b, LLVMBuildICmp(g->b, LLVMIntSGE, e.lo, least, ""),
                          LLVMBuildICmp(g->b, LLVMIntSLE, e.hi, most, ""), "");
    return e;
}

bool mg__gen_known(struct mg_gen *g, int32_t slot, LLVMValueRef *all, LLVMValueRef *none)
{
    uint32_t var = mg__gen_var(g, slot, 0);
    struct mg_gen_form form = mg__gen_form(g, g->form, slot, 0);
    if (!form.vector) {
        *all = mg__gen_read(g, slot, 0).base;
        *none = LLVMBuildNot(g->b, *all, "");
        return true;
    }
    if (var == UINT32_MAX || g->vars[var].serial != g->serial)
        return false;
    *all = g->vars[var].all;
    *none = g->vars[var].none;
    return true;
}

static bool compare_ends(struct mg_gen *g, const char *name, struct mg_gen_value *in, LLVMValueRef *all,
                         LLVMValueRef *none)
{
    static const char *const how[] = {"lt", "le", "gt", "ge"};
    unsigned k = 0;
    bool is_signed = strcmp(name + 7, "_s32") == 0;
    while (k < 4 && memcmp(name + 5, how[k], 2) != 0)
        k++;
    if (k == 4 || (!is_signed && strcmp(name + 7, "_u32") != 0) || in[0].form.dx || in[0].form.dy || in[1].form.dx ||
        in[1].form.dy)
        return false;
    struct ends a = ends_of(g, &in[k >= 2], is_signed), b = ends_of(g, &in[k < 2], is_signed); /* a < b, or a <= b */
    bool equal = k & 1;
    LLVMValueRef good = LLVMBuildAnd(g->b, a.good, b.good, "");
    *all = LLVMBuildAnd(g->b, good, LLVMBuildICmp(g->b, equal ? LLVMIntSLE : LLVMIntSLT, a.hi, b.lo, ""), "");
    *none = LLVMBuildAnd(g->b, good, LLVMBuildICmp(g->b, equal ? LLVMIntSGT : LLVMIntSGE, a.lo, b.hi, ""), "");
    return true;
}

/* After the op has written its predicate. */
static void learn(struct mg_gen *g, const struct mg_engine_op *op, struct mg_gen_value *in)
{
    const char *name = mg_sem_rows[op->row].name;
    uint32_t var = mg__gen_var(g, op->out[0].slot, 0);
    LLVMValueRef all, none, also, nor;
    if (var == UINT32_MAX || g->mask || !g->form[var].vector)
        return;
    if (memcmp(name, "setp_", 5) == 0 && strlen(name) == 11) {
        if (in[0].form.vector || in[1].form.vector || !compare_ends(g, name, in, &all, &none))
            return;
    } else if (strcmp(name, "or_pred") == 0 || strcmp(name, "and_pred") == 0) {
        bool either = name[0] == 'o';
        if (!mg__gen_known(g, op->in[0].slot, &all, &none) || !mg__gen_known(g, op->in[1].slot, &also, &nor))
            return;
        all = either ? LLVMBuildOr(g->b, all, also, "") : LLVMBuildAnd(g->b, all, also, "");
        none = either ? LLVMBuildAnd(g->b, none, nor, "") : LLVMBuildOr(g->b, none, nor, "");
    } else {
        return;
    }
    g->vars[var].all = all;
    g->vars[var].none = none;
    g->vars[var].serial = g->serial;
}

void mg__gen_alu(struct mg_gen *g, const struct mg_engine_op *op)
{
    struct mg_gen_form to = mg__gen_result(g, op, g->form);
    const uint32_t var = mg__gen_var(g, op->out[0].slot, op->out[0].bytes);
    struct mg_gen_value in[4], r;
    bool uniform = true;
    for (unsigned k = 0; k < op->nin; k++) {
        in[k] = mg__gen_read(g, op->in[k].slot, op->in[k].bytes);
        uniform &= mg__gen_uniform(in[k].form);
    }
    if (uniform) {
        r = mg__gen_of_base(apply(g, op, in, false));
        r.form.zeros = to.zeros;
    } else if (to.vector || g->some || (g->mask && mg__gen_keeps(g, var))) {
        r = mg__gen_of_vector(apply(g, op, in, true));
    } else {
        r = on_line(g, op, in, to);
    }
    mg__gen_write(g, op->out[0].slot, op->out[0].bytes, r);
    if (op->out[0].bytes == 0)
        learn(g, op, in);
}

/* ---- predicates ---- */
static LLVMValueRef combine(struct mg_gen *g, LLVMValueRef a, LLVMValueRef c, uint32_t how)
{
    return how == MG_BOOL_AND   ? LLVMBuildAnd(g->b, a, c, "")
           : how == MG_BOOL_OR  ? LLVMBuildOr(g->b, a, c, "")
           : how == MG_BOOL_XOR ? LLVMBuildXor(g->b, a, c, "")
                                : a;
}

void mg__gen_setp(struct mg_gen *g, const struct mg_engine_op *op)
{
    bool vector = mg__gen_result(g, op, g->form).vector;
    LLVMValueRef v[3] = {0};
    for (unsigned k = 0; k < op->nin; k++)
        if (op->in[k].slot >= 0) {
            struct mg_gen_value x = mg__gen_read(g, op->in[k].slot, 0);
            v[k] = vector ? mg__gen_vector(g, &x, 0) : x.base;
        }
    if (!v[1])
        v[1] = LLVMBuildNot(g->b, v[0], "");
    if (!v[2])
        v[2] = LLVMConstNull(LLVMTypeOf(v[0]));
    for (unsigned k = 0; k < op->nout; k++) {
        LLVMValueRef x = combine(g, v[k], v[2], op->mode);
        if (op->out[k].slot >= 0)
            mg__gen_write(g, op->out[k].slot, 0, vector ? mg__gen_of_vector(x) : mg__gen_of_base(x));
    }
}

void mg__gen_pack(struct mg_gen *g, const struct mg_engine_op *op)
{
    bool vector = mg__gen_result(g, op, g->form).vector;
    const bool unpack = op->kind == MG_ENGINE_UNPACK;
    const struct mg_engine_operand *w = unpack ? &op->in[0] : &op->out[0], *part = unpack ? op->out : op->in;
    unsigned n = unpack ? op->nout : op->nin, bytes = op->mode >> 8 & 0xff, wide = w->bytes;
    LLVMTypeRef whole = vector ? vector_type(g, wide) : mg__gen_int(g, wide),
                piece = vector ? vector_type(g, 4) : g->i32;
    struct mg_gen_value v;
    LLVMValueRef all = LLVMConstNull(whole),
                 keep = vector ? splat(g, mg__gen_c32(g, bytes == 4 ? ~0u : (1u << 8 * bytes) - 1))
                               : mg__gen_c32(g, bytes == 4 ? ~0u : (1u << 8 * bytes) - 1);
    if (unpack) {
        v = mg__gen_read(g, w->slot, wide);
        all = vector ? mg__gen_vector(g, &v, wide) : v.base;
    }
    for (unsigned k = 0; k < n; k++) {
        LLVMValueRef by = integer(g, wide, 8 * bytes * k);
        by = vector ? splat(g, by) : by;
        if (!unpack) {
            v = mg__gen_read(g, part[k].slot, 4);
            LLVMValueRef x = LLVMBuildAnd(g->b, vector ? mg__gen_vector(g, &v, 4) : v.base, keep, "");
            x = wide == 8 ? LLVMBuildZExt(g->b, x, whole, "") : x;
            all = LLVMBuildOr(g->b, all, LLVMBuildShl(g->b, x, by, ""), "");
        } else if (part[k].slot >= 0) {
            LLVMValueRef x = LLVMBuildLShr(g->b, all, by, "");
            x = LLVMBuildAnd(g->b, wide == 8 ? LLVMBuildTrunc(g->b, x, piece, "") : x, keep, "");
            mg__gen_write(g, part[k].slot, 4, vector ? mg__gen_of_vector(x) : mg__gen_of_base(x));
        }
    }
    if (!unpack)
        mg__gen_write(g, w->slot, wide, vector ? mg__gen_of_vector(all) : mg__gen_of_base(all));
}

void mg__gen_param(struct mg_gen *g, const struct mg_engine_op *op)
{
    LLVMTypeRef row = LLVMVectorType(g->i32, 32);
    LLVMValueRef at = mg__gen_at(g, g->regs, op->mode);
    if (op->nout) {
        mg__gen_write(g, op->out[0].slot, 4, mg__gen_of_vector(mg__gen_load(g, row, at, 64)));
        return;
    }
    struct mg_gen_value value = mg__gen_read(g, op->in[0].slot, 4);
    LLVMValueRef v = mg__gen_vector(g, &value, 4);
    if (g->mask)
        v = LLVMBuildSelect(g->b, mg__gen_lanes(g, g->mask), v, mg__gen_load(g, row, at, 64), "");
    mg__gen_store(g, v, at, 64);
}
