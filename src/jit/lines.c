/* lines.c - what an operation makes of registers whose lanes lie on a line, base + cx x + cy y: another line, or
 * nothing that is known.
 *
 * Sums, differences and products with what all lanes share are plain. Kernels take indices apart as well,
 * threadIdx.x % 32 and / 32: there the line is taken apart. Its lanes' part is a number of a few bits, at most
 * cx (row - 1) + cy (rows - 1); the base has zeros there (`zeros`), if it counts warps or blocks; so the two have no
 * bit in common, and logic and shifts do with each of them what they do with their sum. The same holds of x's part and
 * y's. To give another operation lines, add it to `rules`, here and in gen_value.c.
 */
#include "jit/gen.h"

static const struct {
    const char *name;
    uint8_t rule;
    bool is_signed;
} rules[] = {
    {"add_s32", MG_RULE_ADD, false},         {"add_u32", MG_RULE_ADD, false},
    {"add_s64", MG_RULE_ADD, false},         {"add_u64", MG_RULE_ADD, false},
    {"sub_s32", MG_RULE_SUB, false},         {"sub_u32", MG_RULE_SUB, false},
    {"sub_s64", MG_RULE_SUB, false},         {"sub_u64", MG_RULE_SUB, false},
    {"mul_lo_s32", MG_RULE_MUL, false},      {"mul_lo_u32", MG_RULE_MUL, false},
    {"mul_lo_s64", MG_RULE_MUL, false},      {"mul_lo_u64", MG_RULE_MUL, false},
    {"mad_lo_s32", MG_RULE_MAD, false},      {"mad_lo_u32", MG_RULE_MAD, false},
    {"mad_lo_s64", MG_RULE_MAD, false},      {"mad_lo_u64", MG_RULE_MAD, false},
    {"shl_b32", MG_RULE_SHL, false},         {"shl_b64", MG_RULE_SHL, false},
    {"mul_wide_s32", MG_RULE_WIDE, true},    {"mul_wide_u32", MG_RULE_WIDE, false},
    {"mad_wide_s32", MG_RULE_MADWIDE, true}, {"mad_wide_u32", MG_RULE_MADWIDE, false},
    {"cvt_s64_s32", MG_RULE_EXTEND, true},   {"cvt_u64_s32", MG_RULE_EXTEND, true},
    {"cvt_s64_u32", MG_RULE_EXTEND, false},  {"cvt_u64_u32", MG_RULE_EXTEND, false},
    {"cvt_u32_u64", MG_RULE_KEEP, false},    {"cvt_s32_u64", MG_RULE_KEEP, false},
    {"cvt_u32_s64", MG_RULE_KEEP, false},    {"cvt_s32_s64", MG_RULE_KEEP, false},
    {"cvt_u32_s32", MG_RULE_KEEP, false},    {"cvt_s32_u32", MG_RULE_KEEP, false},
    {"and_b32", MG_RULE_AND, false},         {"and_b64", MG_RULE_AND, false},
    {"or_b32", MG_RULE_OR, false},           {"or_b64", MG_RULE_OR, false},
    {"xor_b32", MG_RULE_OR, false},          {"xor_b64", MG_RULE_OR, false},
    {"shr_b32", MG_RULE_SHR, false},         {"shr_b64", MG_RULE_SHR, false},
    {"shr_u32", MG_RULE_SHR, false},         {"shr_u64", MG_RULE_SHR, false},
    {"shr_s32", MG_RULE_SHR, true},          {"shr_s64", MG_RULE_SHR, true},
    {"bfe_u32", MG_RULE_FIELD, false},       {"neg_s32", MG_RULE_NEG, false},
    {"neg_s64", MG_RULE_NEG, false},         {"not_b32", MG_RULE_NOT, false},
    {"not_b64", MG_RULE_NOT, false},
};

struct mg_gen_rule_of mg__gen_rule(int row)
{
    for (unsigned k = 0; k < MG_COUNT(rules); k++)
        if (strcmp(rules[k].name, mg_sem_rows[row].name) == 0)
            return (struct mg_gen_rule_of){rules[k].rule, rules[k].is_signed};
    return (struct mg_gen_rule_of){0};
}

static int64_t narrow(int64_t v, unsigned bytes)
{
    return bytes == 4 ? (int32_t)(uint32_t)v : v;
}

/* Of a base with so many zeros, in a register of so many bytes: none of its bits is left. */
static uint32_t zeros_within(uint32_t zeros, unsigned bytes)
{
    return zeros < 8 * bytes ? zeros : MG_GEN_ZERO;
}

/* ---- sums and products ---- */
static struct mg_gen_form sum(struct mg_gen_form a, struct mg_gen_form b, bool minus, unsigned bytes)
{
    struct mg_gen_form r = {
        .reached = true, .dx = a.dx || b.dx, .dy = a.dy || b.dy, .zeros = MG_MIN(a.zeros, b.zeros)};
    if (!r.dx)
        r.kx = narrow(minus ? (int64_t)((uint64_t)a.kx - (uint64_t)b.kx) : (int64_t)((uint64_t)a.kx + (uint64_t)b.kx),
                      bytes);
    if (!r.dy)
        r.ky = narrow(minus ? (int64_t)((uint64_t)a.ky - (uint64_t)b.ky) : (int64_t)((uint64_t)a.ky + (uint64_t)b.ky),
                      bytes);
    return r;
}

/* A line times what is the same in all lanes, `slot`; `zero`: which is extended with zeros. */
static struct mg_gen_form times(const struct mg_gen *g, struct mg_gen_form a, int32_t slot, uint32_t zeros,
                                unsigned from, unsigned bytes, bool shift, bool zero)
{
    int64_t c = 0;
    bool known = mg__gen_constant(g, slot, from, &c);
    if (zero)
        c = (uint32_t)c;
    if (shift) {
        zeros = (uint64_t)c < 8 * bytes ? (uint32_t)c : MG_GEN_ZERO;
        c = (uint64_t)c < 8 * bytes ? (int64_t)((uint64_t)1 << c) : 0;
    }
    struct mg_gen_form r = {
        .reached = true, .dx = a.dx, .dy = a.dy, .zeros = zeros_within(a.zeros + zeros, bytes)};
    if (!known) {
        r.dx |= a.kx != 0;
        r.dy |= a.ky != 0;
    } else {
        r.kx = a.dx ? 0 : narrow((int64_t)((uint64_t)a.kx * (uint64_t)c), bytes);
        r.ky = a.dy ? 0 : narrow((int64_t)((uint64_t)a.ky * (uint64_t)c), bytes);
    }
    return r;
}

/* ---- bits ---- */
static unsigned length(uint64_t v)
{
    return v ? 64 - (unsigned)__builtin_clzll(v) : 0;
}
/* Below it no lane adds a bit. */
static uint32_t lowest_of(const struct mg_gen_form *f)
{
    return MG_MIN(mg__gen_low_zeros((uint64_t)f->kx), mg__gen_low_zeros((uint64_t)f->ky));
}
static uint64_t ones(unsigned n)
{
    return n < 64 ? ((uint64_t)1 << n) - 1 : UINT64_MAX;
}

struct part { /* of the lanes: what x, or y, adds */
    int64_t *k;
    uint64_t most;
};

/* What the lanes add to the base, if it is known and not below 0; the most of it. */
static bool parts_of(const struct mg_gen *g, struct mg_gen_form *f, struct part part[2], uint64_t *most)
{
    if (f->vector || f->dx || f->dy || f->kx < 0 || f->ky < 0 || f->kx > INT32_MAX || f->ky > INT32_MAX)
        return false;
    part[0] = (struct part){&f->kx, (uint64_t)f->kx * (g->row - 1)};
    part[1] = (struct part){&f->ky, (uint64_t)f->ky * (32 / g->row - 1)};
    *most = part[0].most + part[1].most;
    return true;
}

/* Whether that has no bit in common with the base, nor with a sign. */
static bool apart(const struct mg_gen *g, struct mg_gen_form *f, unsigned bytes, struct part part[2], uint64_t *most)
{
    return parts_of(g, f, part, most) && length(*most) <= f->zeros && length(*most) < 8 * bytes;
}

static bool masked(const struct mg_gen *g, struct mg_gen_form *f, uint64_t mask, unsigned bytes)
{
    struct part part[2];
    uint64_t most;
    if (bytes == 4)
        mask = (uint32_t)mask;
    if (!apart(g, f, bytes, part, &most))
        return false;
    f->zeros = length(mask) <= f->zeros ? MG_GEN_ZERO : MG_MAX(f->zeros, mg__gen_low_zeros(mask));
    for (unsigned k = 0; k < 2; k++) {
        const struct part *other = &part[!k];
        uint64_t bits = ones(length(part[k].most)) & ~ones(mg__gen_low_zeros((uint64_t)*part[k].k));
        if (mg__gen_low_zeros((uint64_t)*other->k) < length(part[k].most) &&
            length(other->most) > mg__gen_low_zeros((uint64_t)*part[k].k)) /* they have bits in common */
            bits = ones(length(most)) & ~ones(lowest_of(f));
        if (!part[k].most || (mask & bits) == bits)
            continue;
        if (mask & bits)
            return false;
        part[k].most = 0; /* its factor is still wanted for the other one */
    }
    for (unsigned k = 0; k < 2; k++)
        *part[k].k = part[k].most ? *part[k].k : 0;
    return true;
}

static bool shifted_right(const struct mg_gen *g, struct mg_gen_form *f, uint64_t by, unsigned bytes)
{
    struct part part[2];
    uint64_t most, below = 0;
    if (by >= 8 * bytes || !apart(g, f, bytes, part, &most))
        return false;
    f->zeros = f->zeros == MG_GEN_ZERO ? MG_GEN_ZERO : f->zeros - (uint32_t)MG_MIN(by, f->zeros);
    for (unsigned k = 0; k < 2; k++) {
        if (mg__gen_low_zeros((uint64_t)*part[k].k) >= by) {
            *part[k].k >>= by;
            continue;
        }
        below += part[k].most;
        *part[k].k = 0;
    }
    return length(below) <= by;
}

/* a | b and a ^ b are a + b where all bits of one are below those of the other. */
static bool below(const struct mg_gen *g, const struct mg_engine_operand *o, struct mg_gen_form b, struct mg_gen_form a)
{
    struct part part[2];
    uint64_t most;
    int64_t c;
    if (a.vector || a.dx || a.dy)
        return false;
    if (mg__gen_constant(g, o->slot, o->bytes, &c))
        most = o->bytes == 4 ? (uint32_t)c : (uint64_t)c;
    else if (b.zeros != MG_GEN_ZERO || !parts_of(g, &b, part, &most))
        return false;
    return length(most) <= MG_MIN(a.zeros, lowest_of(&a));
}

/* Of a line that steps by a power of two, from bit `low` on, up to bit `high`: which rows end at bit `at`. */
static unsigned rows_at(unsigned low, unsigned high, unsigned at)
{
    return at > low + 1 && at < low + 5 && at < high ? 1u << (at - low) : 0;
}

unsigned mg__gen_rows_for(const struct mg_gen *g, const struct mg_engine_op *op, const struct mg_gen_form *forms)
{
    const struct mg_gen_rule_of r = op->kind == MG_ENGINE_ALU ? mg__gen_rule(op->row) : (struct mg_gen_rule_of){0};
    struct part part[2];
    uint64_t most;
    int64_t c, n;
    const unsigned sides = r.rule == MG_RULE_AND ? 2 : r.rule == MG_RULE_SHR || r.rule == MG_RULE_FIELD ? 1 : 0;
    for (unsigned k = 0; k < sides; k++) {
        struct mg_gen_form f = mg__gen_form(g, forms, op->in[k].slot, op->in[k].bytes);
        const unsigned bytes = op->in[k].bytes;
        if (mg__gen_uniform(f) || !apart(g, &f, bytes, part, &most) || (f.kx & (f.kx - 1)) ||
            !mg__gen_constant(g, op->in[!k].slot, r.rule == MG_RULE_AND ? bytes : 4, &c))
            continue;
        const unsigned low = mg__gen_low_zeros((uint64_t)f.kx), high = length(most);
        const uint64_t all = ones(high) & ~ones(low), some = (uint64_t)c & all;
        if (r.rule == MG_RULE_AND) /* ones below some bit, or above it */
            return rows_at(low, high, some & (uint64_t)1 << low ? length(some) : length(all & ~some));
        if (r.rule == MG_RULE_SHR)
            return rows_at(low, high, (unsigned)MG_MIN((uint32_t)c, 64u));
        if (r.rule == MG_RULE_FIELD && mg__gen_constant(g, op->in[2].slot, 4, &n))
            return rows_at(low, high, (uint32_t)c > low ? (unsigned)((uint32_t)c & 255) : (unsigned)((c + n) & 255));
    }
    return 0;
}

bool mg__gen_takes_sign(const struct mg_gen *g, const struct mg_engine_op *op, struct mg_gen_rule_of r)
{
    int64_t by;
    return r.rule == MG_RULE_SHR && r.is_signed && mg__gen_constant(g, op->in[1].slot, 4, &by) &&
           by == 8 * op->in[0].bytes - 1;
}

/* ---- all of them ---- */
static struct mg_gen_form by_rule(const struct mg_gen *g, const struct mg_engine_op *op, struct mg_gen_rule_of r,
                                  struct mg_gen_form *in, unsigned bytes)
{
    const unsigned from = op->in[0].bytes;
    const bool zero = (r.rule == MG_RULE_WIDE || r.rule == MG_RULE_MADWIDE) && !r.is_signed;
    struct mg_gen_form f = in[0];
    int64_t c, n;
    switch (r.rule) {
    case MG_RULE_ADD: case MG_RULE_SUB:
        return sum(in[0], in[1], r.rule == MG_RULE_SUB, bytes);
    case MG_RULE_NEG: case MG_RULE_NOT: /* from 0, and from -1 */
        return sum((struct mg_gen_form){.zeros = r.rule == MG_RULE_NEG ? MG_GEN_ZERO : 0}, in[0], true, bytes);
    case MG_RULE_MUL: case MG_RULE_MAD: case MG_RULE_WIDE: case MG_RULE_MADWIDE: {
        const bool second = mg__gen_uniform(in[1]);
        if (!second && !mg__gen_uniform(in[0]))
            return mg__gen_no_line();
        f = times(g, in[!second], op->in[second].slot, in[second].zeros, from, bytes, false, zero);
        return r.rule == MG_RULE_MAD || r.rule == MG_RULE_MADWIDE ? sum(f, in[2], false, bytes) : f;
    }
    case MG_RULE_SHL:
        return mg__gen_constant(g, op->in[1].slot, 4, &c) ? times(g, f, op->in[1].slot, 0, 4, bytes, true, false)
                                                          : mg__gen_no_line();
    case MG_RULE_EXTEND:
        return f;
    case MG_RULE_AND:
        for (unsigned k = 0; k < 2; k++)
            if (mg__gen_constant(g, op->in[k].slot, bytes, &c) && masked(g, &in[!k], (uint64_t)c, bytes))
                return in[!k];
        return mg__gen_no_line();
    case MG_RULE_OR:
        if (below(g, &op->in[1], in[1], in[0]) || below(g, &op->in[0], in[0], in[1]))
            return sum(in[0], in[1], false, bytes);
        return mg__gen_no_line();
    case MG_RULE_SHR:
        if (!mg__gen_constant(g, op->in[1].slot, 4, &c) || !shifted_right(g, &f, (uint32_t)c, bytes))
            return mg__gen_no_line();
        if (mg__gen_takes_sign(g, op, r) && !mg__gen_uniform(in[0]))
            f.zeros = MG_GEN_ZERO;
        return f;
    case MG_RULE_FIELD:
        return mg__gen_constant(g, op->in[1].slot, 4, &c) && mg__gen_constant(g, op->in[2].slot, 4, &n) &&
                       shifted_right(g, &f, (uint32_t)c & 255, bytes) && masked(g, &f, ones((uint32_t)n & 255), bytes)
                   ? f
                   : mg__gen_no_line();
    default: /* KEEP */
        f.kx = narrow(f.kx, bytes);
        f.ky = narrow(f.ky, bytes);
        f.zeros = zeros_within(f.zeros, bytes);
        return f;
    }
}

struct mg_gen_form mg__gen_alu_form(const struct mg_gen *g, const struct mg_engine_op *op,
                                    const struct mg_gen_form *forms)
{
    const struct mg_sem_row *row = &mg_sem_rows[op->row];
    struct mg_gen_form in[4], f = {.reached = true};
    bool uniform = true, vector = false;
    for (unsigned k = 0; k < op->nin; k++) {
        in[k] = mg__gen_form(g, forms, op->in[k].slot, op->in[k].bytes);
        uniform &= mg__gen_uniform(in[k]);
        vector |= in[k].vector;
    }
    const struct mg_gen_rule_of r = mg__gen_rule(op->row);
    if (!vector && r.rule != MG_RULE_NONE && !(row->mode && op->mode != 0))
        f = by_rule(g, op, r, in, row->ret == MG_SEM_B64 ? 8 : 4);
    else if (!uniform)
        return mg__gen_no_line();
    if (uniform) /* whatever it is: of logic with what is not known the rules know nothing */
        f = (struct mg_gen_form){.reached = true, .zeros = f.vector ? 0 : f.zeros};
    return f;
}
