/* plain.c - see plain.h.
 *
 * The random programs are run a second time by what is written here from the PTX ISA's words alone, without anything of
 * src/: a thread has registers and a place in the text, and goes on by itself until it has to wait for others (a
 * barrier, an operation of its warp) or has gone round for long. Then the next one goes on. Registers begin with
 * something that differs from thread to thread, so that a program's results must not rest on what was never set.
 * Blocks run one after the other: a block may wait for one before it, not for a later one.
 *
 * The carry is the hardware's: of an addition what does not fit, of a subtraction a - b the carry of a + ~b + 1, which
 * is 1 where nothing was borrowed. addc adds it, subc is a + ~b + it, whatever set it last. (Between add.cc and addc,
 * and between sub.cc and subc, the PTX ISA says the same.)
 *
 * What is not modelled (floats but as bits, masks of what is active, calls) makes a program unknown, as does what the
 * PTX ISA leaves open: a division by zero, a shuffle from a lane that is not there. A shared address is an offset of
 * this file's own: programs use it as an address only.
 */
#include "plain_priv.h"

typedef unsigned __int128 u128;

enum { ROUND = 20000, ROUNDS = 4000 }; /* instructions of a thread before the next one goes on; turns of a block */

void p_stop(struct p_machine *m, enum plain_result result, const char *why, const struct p_insn *i)
{
    if (m->result != PLAIN_DONE)
        return;
    m->result = result;
    mg__strbuf_printf(m->why, "%s: %.*s", why, i ? (int)strcspn(i->text, ";") : 0, i ? i->text : "");
}

static u64 low(u64 v, unsigned bits)
{
    return bits >= 64 ? v : v & ((UINT64_C(1) << bits) - 1);
}
static int64_t sext(u64 v, unsigned bits)
{
    return bits >= 64 ? (int64_t)v : (int64_t)(v << (64 - bits)) >> (64 - bits);
}

/* ---- operands ---- */
static u64 special(const struct p_machine *m, const struct p_thread *t, const struct p_opnd *o)
{
    const uint32_t sizes[2][3] = {{m->block.x, m->block.y, m->block.z}, {m->grid.x, m->grid.y, m->grid.z}};
    switch (o->reg) {
    case 0:
        return t->id[o->imm];
    case 1:
        return sizes[0][o->imm];
    case 2:
        return o->imm == 0 ? m->ctaid : 0;
    case 3:
        return sizes[1][o->imm];
    default:
        return (u64)(t - m->threads) % 32;
    }
}

/* The operand as the type takes it, extended to 64 bits as its sign wants. */
u64 p_get(const struct p_machine *m, const struct p_thread *t, const struct p_opnd *o, struct p_type type)
{
    u64 v = o->kind == O_REG ? t->regs[o->reg][0] : o->kind == O_SPECIAL ? special(m, t, o) : (u64)o->imm;
    if (o->negate)
        v = !v;
    v = low(v, type.bits);
    return type.is_signed ? (u64)sext(v, type.bits) : v;
}

void p_put(struct p_machine *m, struct p_thread *t, const struct p_opnd *o, u64 v, struct p_type type)
{
    if (o->kind == O_SINK)
        return;
    if (o->kind != O_REG) {
        p_stop(m, PLAIN_UNKNOWN, "a result that is no register", NULL);
        return;
    }
    unsigned bits = m->code->regs[o->reg].bits;
    v = low(v, type.bits);
    t->regs[o->reg][0] = low(type.is_signed ? (u64)sext(v, type.bits) : v, bits);
}

static int parts(const struct p_opnd *o)
{
    return o->kind == O_VEC ? o->count : 1;
}

/* ---- memory ---- */
static uint8_t *place(struct p_machine *m, struct p_thread *t, const struct p_insn *i, const struct p_opnd *o,
                      unsigned bytes)
{
    u64 at = (u64)o->imm + (o->reg >= 0 ? t->regs[o->reg][0] : 0);
    struct plain_region own = {0};
    if (p_has(i, W_SHARED))
        own = (struct plain_region){m->shared, m->code->shared_bytes};
    else if (p_has(i, W_CONST))
        own = (struct plain_region){(uint8_t *)(uintptr_t)m->code->constants, m->code->const_bytes};
    else if (p_has(i, W_LOCAL))
        own = (struct plain_region){t->local, m->code->local_bytes};
    else if (p_has(i, W_PARAM))
        own = (struct plain_region){(uint8_t *)(uintptr_t)m->params, 32};
    if (own.at && at % bytes == 0 && at < own.size && bytes <= own.size - at)
        return own.at + at;
    for (size_t k = 0; !own.at && at % bytes == 0 && k < m->nregions; k++)
        if (at - (uintptr_t)m->regions[k].at < m->regions[k].size &&
            bytes <= m->regions[k].size - (at - (uintptr_t)m->regions[k].at))
            return (uint8_t *)(uintptr_t)at;
    p_stop(m, PLAIN_FAULT, "an access beyond memory, or misaligned", i);
    return NULL;
}

static void access(struct p_machine *m, struct p_thread *t, const struct p_insn *i)
{
    bool load = i->op == P_LD;
    const struct p_opnd *values = &i->ops[load ? 0 : 1], *address = &i->ops[load ? 1 : 0];
    unsigned bytes = i->type[0].bits / 8u;
    int n = parts(values);
    uint8_t *p = place(m, t, i, address, bytes * (unsigned)n);
    for (int k = 0; p && k < n; k++) {
        u64 v = 0;
        if (load) {
            memcpy(&v, p + (size_t)k * bytes, bytes);
            p_put(m, t, p_part(m, values, k), v, i->type[0]);
        } else {
            v = p_get(m, t, p_part(m, values, k), i->type[0]);
            memcpy(p + (size_t)k * bytes, &v, bytes);
        }
    }
}

static void atomic(struct p_machine *m, struct p_thread *t, const struct p_insn *i)
{
    const struct p_opnd *o = &i->ops[i->op == P_ATOM];
    unsigned bytes = i->type[0].bits / 8u;
    uint8_t *p = place(m, t, i, o, bytes);
    if (!p)
        return;
    u64 old = 0, with = p_get(m, t, o + 1, i->type[0]);
    memcpy(&old, p, bytes);
    u64 was = i->type[0].is_signed ? (u64)sext(old, i->type[0].bits) : old;
    bool less = i->type[0].is_signed ? (int64_t)was < (int64_t)with : was < with;
    u64 now = was + with;
    if (p_has(i, W_MAX))
        now = less ? with : was;
    else if (p_has(i, W_MIN))
        now = less ? was : with;
    else if (!p_has(i, W_ADD))
        p_stop(m, PLAIN_UNKNOWN, "an atomic operation", i);
    memcpy(p, &now, bytes);
    if (i->op == P_ATOM)
        p_put(m, t, &i->ops[0], old, i->type[0]);
}

/* ---- arithmetic ---- */
static bool compare(const struct p_insn *i, u64 a, u64 b)
{
    bool is_signed = i->type[0].is_signed, less = is_signed ? (int64_t)a < (int64_t)b : a < b, same = a == b;
    if (p_has(i, W_EQ) || p_has(i, W_NE))
        return same == p_has(i, W_EQ);
    if (p_has(i, W_LT) || p_has(i, W_LO))
        return less;
    if (p_has(i, W_LE) || p_has(i, W_LS))
        return less || same;
    return p_has(i, W_GT) || p_has(i, W_HI) ? !less && !same : !less;
}

static bool combine(const struct p_insn *i, bool a, bool b)
{
    return p_has(i, W_AND) ? a && b : p_has(i, W_OR) ? a || b : a != b;
}

static void compare_and_set(struct p_machine *m, struct p_thread *t, const struct p_insn *i)
{
    const struct p_type one = {.bits = 1};
    bool is = compare(i, p_get(m, t, &i->ops[1], i->type[0]), p_get(m, t, &i->ops[2], i->type[0]));
    bool with = i->nops == 4 && p_get(m, t, &i->ops[3], one);
    p_put(m, t, p_part(m, &i->ops[0], 0), i->nops == 4 ? combine(i, is, with) : is, one);
    if (i->ops[0].kind == O_PAIR)
        p_put(m, t, p_part(m, &i->ops[0], 1), i->nops == 4 ? combine(i, !is, with) : !is, one);
}

static u64 bit_field(const struct p_insn *i, u64 a, unsigned from, unsigned n)
{
    unsigned top = i->type[0].bits - 1u;
    u64 d = 0, sign = i->type[0].is_signed && n ? a >> MG_MIN(from + n - 1, top) & 1 : 0;
    for (unsigned k = 0; k <= top; k++)
        d |= (k < n && from + k <= top ? a >> (from + k) & 1 : sign) << k;
    return d;
}

static u64 permute(u64 a, u64 b, u64 how)
{
    u64 both = low(a, 32) | b << 32, d = 0;
    for (unsigned k = 0; k < 4; k++) {
        u64 pick = how >> 4 * k & 15, byte = both >> 8 * (pick & 7) & 255;
        d |= (pick & 8 ? (byte & 128 ? 255u : 0u) : byte) << 8 * k;
    }
    return d;
}

static u64 logic(u64 a, u64 b, u64 c, u64 table)
{
    u64 d = 0;
    for (unsigned k = 0; k < 32; k++)
        d |= (table >> ((a >> k & 1) * 4 + (b >> k & 1) * 2 + (c >> k & 1)) & 1) << k;
    return d;
}

static u64 shift(const struct p_insn *i, u64 a, u64 by)
{
    unsigned bits = i->type[0].bits;
    bool sign = i->op == P_SHR && i->type[0].is_signed;
    if (by >= bits)
        return sign && (int64_t)a < 0 ? ~UINT64_C(0) : 0;
    return i->op == P_SHL ? a << by : sign ? (u64)((int64_t)a >> by) : a >> by;
}

static u64 funnel(const struct p_insn *i, u64 a, u64 b, u64 by)
{
    u64 both = low(a, 32) | low(b, 32) << 32, n = p_has(i, W_WRAP) ? by & 31 : MG_MIN(by, 32u);
    return p_has(i, W_L) ? low(both << n >> 32, 32) : n == 32 ? both >> 32 : low(both >> n, 32);
}

/* The product's half that is wanted, as wide as the operands. */
static u64 product(const struct p_insn *i, u64 a, u64 b)
{
    unsigned bits = i->type[0].bits;
    if (!p_has(i, W_HI))
        return a * b;
    if (bits < 64)
        return a * b >> bits; /* both are extended: the sign's bits of the product are right */
    return i->type[0].is_signed ? (u64)((__int128)(int64_t)a * (int64_t)b >> 64) : (u64)((u128)a * b >> 64);
}

/* a + b + more, of the type's width; what does not fit becomes the carry if the instruction sets it. */
static u64 sum(struct p_thread *t, const struct p_insn *i, u64 a, u64 b, bool more)
{
    unsigned bits = i->type[0].bits;
    u128 s = (u128)low(a, bits) + low(b, bits) + more;
    if (p_has(i, W_CC))
        t->carry = s >> bits & 1;
    return (u64)s;
}

static u64 divide(struct p_machine *m, const struct p_insn *i, u64 a, u64 b)
{
    bool is_signed = i->type[0].is_signed, over = is_signed && (int64_t)b == -1;
    if (!b)
        p_stop(m, PLAIN_UNKNOWN, "a division by zero", i);
    if (!b || over) /* by -1: the least number has no opposite, and stays as it is */
        return !b ? 0 : i->op == P_DIV ? 0 - a : 0;
    if (is_signed)
        return (u64)(i->op == P_DIV ? (int64_t)a / (int64_t)b : (int64_t)a % (int64_t)b);
    return i->op == P_DIV ? a / b : a % b;
}

static u64 count_bits(const struct p_insn *i, u64 a)
{
    unsigned bits = i->type[0].bits, n = 0;
    if (i->op == P_POPC)
        return (u64)__builtin_popcountll(a);
    while (n < bits && !(a >> (bits - 1 - n) & 1))
        n++;
    return n;
}

static u64 reverse(u64 a, unsigned bits)
{
    u64 d = 0;
    for (unsigned k = 0; k < bits; k++)
        d |= (a >> k & 1) << (bits - 1 - k);
    return d;
}

static u64 insert(u64 a, u64 b, u64 from, u64 n, unsigned bits)
{
    for (u64 k = 0; k < n && from + k < bits; k++)
        b = (b & ~(UINT64_C(1) << (from + k))) | (a >> k & 1) << (from + k);
    return b;
}

static u64 result_of(struct p_machine *m, struct p_thread *t, const struct p_insn *i, const u64 v[5])
{
    u64 a = v[0], b = v[1], c = v[2];
    bool less = i->type[0].is_signed ? (int64_t)a < (int64_t)b : a < b;
    switch (i->op) {
    case P_ADD:
        return sum(t, i, a, b, false);
    case P_ADDC:
        return sum(t, i, a, b, t->carry);
    case P_SUB:
        return sum(t, i, a, ~b, true);
    case P_SUBC:
        return sum(t, i, a, ~b, t->carry);
    case P_MUL:
        return product(i, a, b);
    case P_MAD:
        return p_has(i, W_WIDE) ? a * b + c : sum(t, i, product(i, a, b), c, false);
    case P_MADC:
        return sum(t, i, product(i, a, b), c, t->carry);
    case P_MIN:
        return less ? a : b;
    case P_MAX:
        return less ? b : a;
    case P_AND:
        return a & b;
    case P_OR:
        return a | b;
    case P_XOR:
        return a ^ b;
    case P_NOT:
        return i->type[0].bits == 1 ? !a : ~a;
    case P_SHL:
    case P_SHR:
        return shift(i, a, b);
    case P_NEG:
        return 0 - a;
    case P_ABS:
        return (int64_t)a < 0 ? 0 - a : a;
    case P_POPC:
    case P_CLZ:
        return count_bits(i, a);
    case P_BREV:
        return reverse(a, i->type[0].bits);
    case P_BFE:
        return bit_field(i, a, b & 255, c & 255);
    case P_BFI:
        return insert(a, b, c & 255, v[3] & 255, i->type[0].bits);
    case P_PRMT:
        return permute(a, b, c);
    case P_LOP3:
        return logic(a, b, c, v[3]);
    case P_SHF:
        return funnel(i, a, b, c);
    case P_SAD:
        return c + (less ? b - a : a - b);
    case P_DIV:
    case P_REM:
        return divide(m, i, a, b);
    case P_SELP:
        return c ? a : b;
    default: /* P_SLCT */
        return (int64_t)c >= 0 ? a : b;
    }
}

static void compute(struct p_machine *m, struct p_thread *t, const struct p_insn *i)
{
    struct p_type to = i->type[0], amount = {.bits = 32}, wide = to;
    u64 v[5] = {0};
    wide.bits = (uint8_t)(2 * to.bits);
    for (int k = 1; k < i->nops && k <= 5; k++) {
        struct p_type type = to;
        if (((i->op == P_SHL || i->op == P_SHR) && k == 2) ||
            ((i->op == P_BFE || i->op == P_BFI) && k >= 2 + (i->op == P_BFI)) || (i->op == P_LOP3 && k == 4))
            type = amount;
        else if (i->op == P_SELP && k == 3)
            type = (struct p_type){.bits = 1};
        else if (i->op == P_MAD && k == 3 && p_has(i, W_WIDE))
            type = wide;
        else if (i->op == P_SLCT && k == 3)
            type = i->type[1];
        v[k - 1] = p_get(m, t, &i->ops[k], type);
    }
    if (i->op == P_LOP3 && (i->nops != 5 || i->ops[0].kind == O_PAIR)) {
        p_stop(m, PLAIN_UNKNOWN, "lop3 with a predicate", i);
        return;
    }
    u64 d = result_of(m, t, i, v);
    if (i->op == P_POPC || i->op == P_CLZ)
        to = amount;
    p_put(m, t, &i->ops[0], d, p_has(i, W_WIDE) ? wide : to);
}

static void move(struct p_machine *m, struct p_thread *t, const struct p_insn *i)
{
    const struct p_opnd *d = &i->ops[0], *s = &i->ops[1];
    int n = MG_MAX(parts(d), parts(s));
    struct p_type piece = {.bits = (uint8_t)(i->type[0].bits / n)};
    u64 whole[2] = {0};
    bool wide = i->type[0].bits == 128;
    for (int k = 0; k < n && s->kind == O_VEC; k++) {
        unsigned at = (unsigned)k * piece.bits;
        whole[at / 64] |= p_get(m, t, p_part(m, s, k), piece) << at % 64;
    }
    if (s->kind != O_VEC) {
        whole[0] = wide && s->kind == O_REG ? t->regs[s->reg][0] : p_get(m, t, s, i->type[0]);
        whole[1] = wide && s->kind == O_REG ? t->regs[s->reg][1] : 0;
    }
    for (int k = 0; k < n && d->kind == O_VEC; k++) {
        unsigned at = (unsigned)k * piece.bits;
        p_put(m, t, p_part(m, d, k), whole[at / 64] >> at % 64, piece);
    }
    if (d->kind == O_REG && wide)
        memcpy(t->regs[d->reg], whole, sizeof whole);
    else if (d->kind != O_VEC)
        p_put(m, t, d, whole[0], i->type[0]);
}

static void convert(struct p_machine *m, struct p_thread *t, const struct p_insn *i)
{
    u64 a = p_get(m, t, &i->ops[1], i->type[1]);
    bool is_signed = i->type[1].is_signed;
    if (i->type[0].is_float && i->type[0].bits == 32) {
        float f = is_signed ? (float)(int64_t)a : (float)a;
        a = 0;
        memcpy(&a, &f, 4);
    } else if (i->type[0].is_float) {
        double f = is_signed ? (double)(int64_t)a : (double)a;
        memcpy(&a, &f, 8);
    }
    p_put(m, t, &i->ops[0], a, i->type[0]);
}

/* ---- control ---- */
/* One instruction; the thread stays where it is if it has to wait. */
static void step(struct p_machine *m, struct p_thread *t)
{
    const struct p_insn *i = &m->code->insns[t->at];
    if (m->watch)
        m->watch(m->watch_arg, m, t);
    if (i->guard >= 0 && (t->regs[i->guard][0] != 0) == i->guard_negate) {
        t->at++;
        return;
    }
    int next = t->at + 1;
    switch (i->op) {
    case P_MOV:
        move(m, t, i);
        break;
    case P_CVT:
        convert(m, t, i);
        break;
    case P_SETP:
        compare_and_set(m, t, i);
        break;
    case P_LD:
    case P_ST:
        access(m, t, i);
        break;
    case P_RED:
    case P_ATOM:
        atomic(m, t, i);
        break;
    case P_BRA:
        next = (int)i->ops[0].imm;
        break;
    case P_BRX:
        next = p_target(m->code, i->ops[1].name, (unsigned)t->regs[i->ops[0].reg][0]);
        break;
    case P_RET:
        t->state = ENDED;
        break;
    case P_BAR:
    case P_SHFL:
    case P_VOTE:
    case P_REDUX:
        t->state = WAITS;
        next = t->at;
        break;
    case P_MEMBAR:
        break;
    default:
        compute(m, t, i);
        break;
    }
    t->at = next;
    if (next < 0)
        p_stop(m, PLAIN_FAULT, "a branch to nowhere", i);
    else if (next >= m->code->ninsns)
        t->state = ENDED;
}

static void run_block(struct p_machine *m)
{
    for (unsigned turn = 0; m->result == PLAIN_DONE; turn++) {
        bool went = false, left = false;
        for (uint32_t k = 0; k < m->nthreads && m->result == PLAIN_DONE; k++) {
            struct p_thread *t = &m->threads[k];
            went |= t->state == GOES;
            for (unsigned n = 0; n < ROUND && t->state == GOES && m->result == PLAIN_DONE; n++)
                step(m, t);
            left |= t->state != ENDED;
        }
        if (!left)
            return;
        bool met = p_meet(m);
        if ((!went && !met) || turn == ROUNDS)
            p_stop(m, PLAIN_FAULT, "it does not end", NULL);
    }
}

static void begin_block(struct p_machine *m, u64 (*regs)[2], uint8_t *local, u64 *noise)
{
    memset(m->shared, 0x5c, m->code->shared_bytes);
    for (uint32_t k = 0; k < m->nthreads; k++) {
        uint32_t x = m->block.x, y = m->block.y;
        m->threads[k] = (struct p_thread){.id = {k % x, k / x % y, k / (x * y)},
                                          .regs = regs + (size_t)k * (size_t)m->code->nregs,
                                          .local = local + (size_t)k * m->code->local_bytes};
        for (int r = 0; r < m->code->nregs; r++)
            for (unsigned h = 0; h < 2; h++) {
                *noise = *noise * 6364136223846793005u + 1442695040888963407u;
                m->threads[k].regs[r][h] =
                    h && m->code->regs[r].bits < 128 ? 0 : low(*noise >> 7, m->code->regs[r].bits);
            }
    }
}

enum plain_result plain_run(const char *ptx, struct mg_dim3 grid, struct mg_dim3 block, const uint64_t params[4],
                            const struct plain_region *regions, size_t nregions, struct mg_strbuf *why)
{
    return plain_run_watched(ptx, grid, block, params, regions, nregions, why, NULL, NULL);
}

enum plain_result plain_run_watched(const char *ptx, struct mg_dim3 grid, struct mg_dim3 block,
                                    const uint64_t params[4], const struct plain_region *regions, size_t nregions,
                                    struct mg_strbuf *why, plain_watcher *watch, void *arg)
{
    struct p_code *code = calloc(1, sizeof *code);
    uint32_t nthreads = block.x * block.y * block.z;
    struct p_machine m = {.code = code,
                          .grid = grid,
                          .block = block,
                          .nthreads = nthreads,
                          .params = params,
                          .regions = regions,
                          .nregions = nregions,
                          .why = why,
                          .watch = watch,
                          .watch_arg = arg};
    u64 noise = 1, (*regs)[2] = NULL;
    uint8_t *local = NULL;
    if (!code || !p_read(code, ptx)) {
        m.result = PLAIN_UNKNOWN;
        mg__strbuf_printf(why, "not read: %.*s", code && code->where ? (int)strcspn(code->where, "\n") : 0,
                          code && code->where ? code->where : "");
        goto done;
    }
    regs = calloc((size_t)nthreads * (size_t)code->nregs + 1, sizeof *regs);
    local = calloc((size_t)nthreads * code->local_bytes + 1, 1);
    m.shared = calloc(code->shared_bytes + 1, 1);
    m.threads = calloc(nthreads, sizeof *m.threads);
    if (!regs || !local || !m.shared || !m.threads)
        p_stop(&m, PLAIN_UNKNOWN, "no memory", NULL);
    for (m.ctaid = 0; m.ctaid < grid.x && m.result == PLAIN_DONE; m.ctaid++) {
        begin_block(&m, regs, local, &noise);
        run_block(&m);
    }
done:
    free(regs);
    free(local);
    free(m.shared);
    free(m.threads);
    free(code);
    return m.result;
}
