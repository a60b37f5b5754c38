/* chain.c - see chain.h. What an instruction gives is taken from sums and differences of 128 bits: the flag after an
 * addition is what goes beyond the width, after a subtraction whether the difference is not negative. */
#include "chain.h"

enum { OP_ADD, OP_SUB, OP_MAD_LO, OP_MAD_HI, OP_XOR, OP_COUNT };
enum { REGS = 6 };

static uint64_t next(uint64_t *state) /* splitmix64 */
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* Zero, one and all ones come often: they carry, or borrow, at the edge. */
static uint64_t value(uint64_t *state)
{
    uint64_t r = next(state);
    switch (next(state) % 8) {
    case 0:
        return 0;
    case 1:
        return ~(uint64_t)0;
    case 2:
        return r % 3;
    case 3:
        return 0xffffffff00000000u;
    case 4:
        return 0xffffffffu;
    default:
        return r;
    }
}

void chain_make(uint32_t seed, struct chain *chain)
{
    uint64_t state = seed;
    for (unsigned k = 0; k < CHAIN_LENGTH; k++) {
        struct chain_step *s = &chain->step[k];
        uint64_t r = next(&state);
        *s = (struct chain_step){.op = (uint8_t)(r % 16 < 6    ? OP_ADD
                                                 : r % 16 < 12 ? OP_SUB
                                                 : r % 16 < 13 ? OP_MAD_LO
                                                 : r % 16 < 15 ? OP_MAD_HI
                                                               : OP_XOR),
                                 .dst = r >> 8 & 0xff,
                                 .src = {r >> 16 & 0xff, r >> 24 & 0xff, r >> 32 & 0xff},
                                 .wide = r >> 40 & 1,
                                 .is_signed = r >> 41 & 1,
                                 .in = r >> 42 & 3,
                                 .out = r >> 44 & 7,
                                 .immediate = (r >> 47 & 7) == 0,
                                 .guarded = seed & 1 && (r >> 50 & 3) == 0,
                                 .when = r >> 52 & 1};
        s->value = value(&state) & 0x7fffffff;
        s->dst %= REGS;
        for (unsigned i = 0; i < 3; i++)
            s->src[i] %= REGS;
        if (k == 0) { /* before it there is no flag */
            s->op = seed & 2 ? OP_SUB : OP_ADD;
            s->in = s->guarded = false;
            s->out = true;
        }
        if (s->op == OP_XOR)
            s->in = s->out = false;
        else if (!s->in)
            s->out = true;
    }
}

static void operand(FILE *out, const struct chain_step *s, unsigned which, bool last)
{
    if (last && s->immediate)
        fprintf(out, ", %llu", (unsigned long long)s->value);
    else
        fprintf(out, ", %%%c%u", s->wide ? 'd' : 'r', s->src[which]);
}

void chain_ptx(FILE *out, const struct chain *chain)
{
    static const char *const name[OP_COUNT] = {"add", "sub", "mad", "mad", "xor"};
    fprintf(out,
            ".version 8.3\n.target sm_90\n.address_size 64\n.visible .entry run(.param .u64 in, .param .u64 out)\n{\n"
            ".reg .b64 %%d<%d>, %%in, %%out, %%at;\n.reg .b32 %%r<%d>, %%t, %%n;\n.reg .pred %%p;\n"
            "ld.param.u64 %%in, [in];\nld.param.u64 %%out, [out];\n"
            "mov.u32 %%t, %%ctaid.x;\nmov.u32 %%n, %%ntid.x;\nmov.u32 %%r0, %%tid.x;\n"
            "mad.lo.u32 %%t, %%t, %%n, %%r0;\nmul.wide.u32 %%at, %%t, 32;\n"
            "add.u64 %%in, %%in, %%at;\nadd.u64 %%out, %%out, %%at;\n"
            "and.b32 %%n, %%t, 1;\nsetp.eq.u32 %%p, %%n, 1;\n",
            REGS, REGS);
    for (int i = 0; i < CHAIN_SLOTS; i++)
        fprintf(out, "ld.global.b64 %%d%d, [%%in+%d];\ncvt.u32.u64 %%r%d, %%d%d;\n", i, 8 * i, i, i);
    for (int i = CHAIN_SLOTS; i < REGS; i++)
        fprintf(out, "shl.b64 %%d%d, %%d%d, 7;\nshr.u64 %%at, %%d%d, 32;\ncvt.u32.u64 %%r%d, %%at;\n", i,
                i - CHAIN_SLOTS, i - CHAIN_SLOTS, i);
    for (unsigned k = 0; k < CHAIN_LENGTH; k++) {
        const struct chain_step *s = &chain->step[k];
        bool mad = s->op == OP_MAD_LO || s->op == OP_MAD_HI;
        if (s->guarded)
            fprintf(out, "@%s%%p ", s->when ? "" : "!");
        fprintf(out, "%s%s%s%s.%c%d %%%c%u", name[s->op], s->in ? "c" : "",
                !mad                 ? ""
                : s->op == OP_MAD_LO ? ".lo"
                                     : ".hi",
                s->out ? ".cc" : "",
                s->op == OP_XOR ? 'b'
                : s->is_signed  ? 's'
                                : 'u',
                s->wide ? 64 : 32, s->wide ? 'd' : 'r', s->dst);
        for (unsigned i = 0; i < (mad ? 3 : 2); i++)
            operand(out, s, i, i == (mad ? 2 : 1));
        fprintf(out, ";\n");
    }
    for (int i = 0; i < CHAIN_SLOTS; i++)
        fprintf(out, "cvt.u64.u32 %%at, %%r%d;\nshl.b64 %%at, %%at, %d;\nxor.b64 %%d%d, %%d%d, %%at;\n", i, 8 * i, i,
                i);
    for (int i = CHAIN_SLOTS; i < REGS; i++)
        fprintf(out, "cvt.u64.u32 %%at, %%r%d;\nadd.u64 %%d%d, %%d%d, %%d%d;\nxor.b64 %%d%d, %%d%d, %%at;\n", i,
                i - CHAIN_SLOTS, i - CHAIN_SLOTS, i, i - 2, i - 2);
    for (int i = 0; i < CHAIN_SLOTS; i++)
        fprintf(out, "st.global.b64 [%%out+%d], %%d%d;\n", 8 * i, i);
    fprintf(out, "ret;\n}\n");
}

void chain_input(uint32_t seed, uint32_t thread, uint64_t in[CHAIN_SLOTS])
{
    uint64_t state = (uint64_t)seed << 32 | thread;
    for (int i = 0; i < CHAIN_SLOTS; i++)
        in[i] = value(&state);
}

/* a, b and c fit in the width. */
static uint64_t step(const struct chain_step *s, uint64_t a, uint64_t b, uint64_t c, bool *flag)
{
    unsigned bits = s->wide ? 64 : 32;
    unsigned __int128 u = a, sum;
    if (s->op == OP_XOR)
        return a ^ b;
    if (s->op == OP_SUB) {
        __int128 difference = (__int128)a - (__int128)b - (s->in && !*flag);
        if (s->out)
            *flag = difference >= 0;
        return (uint64_t)difference;
    }
    if (s->op == OP_ADD) {
        sum = u + b;
    } else {
        u = u * b;
        uint64_t part = (uint64_t)u;
        if (s->op == OP_MAD_HI && s->is_signed && s->wide)
            part = (uint64_t)((unsigned __int128)((__int128)(int64_t)a * (int64_t)b) >> 64);
        else if (s->op == OP_MAD_HI && s->is_signed)
            part = (uint64_t)((int64_t)(int32_t)(uint32_t)a * (int32_t)(uint32_t)b) >> 32;
        else if (s->op == OP_MAD_HI)
            part = (uint64_t)(u >> bits);
        sum = (unsigned __int128)(s->wide ? part : (uint32_t)part) + c;
    }
    sum += s->in && *flag;
    if (s->out)
        *flag = sum >> bits;
    return (uint64_t)sum;
}

void chain_expect(const struct chain *chain, uint32_t thread, const uint64_t in[CHAIN_SLOTS], uint64_t out[CHAIN_SLOTS])
{
    uint64_t d[REGS];
    uint32_t r[REGS];
    bool flag = false;
    for (int i = 0; i < REGS; i++) {
        d[i] = i < CHAIN_SLOTS ? in[i] : in[i - CHAIN_SLOTS] << 7;
        r[i] = (uint32_t)(i < CHAIN_SLOTS ? in[i] : in[i - CHAIN_SLOTS] >> 32);
    }
    for (unsigned k = 0; k < CHAIN_LENGTH; k++) {
        const struct chain_step *s = &chain->step[k];
        if (s->guarded && s->when != (thread & 1))
            continue;
        uint64_t v[3];
        unsigned n = s->op == OP_MAD_LO || s->op == OP_MAD_HI ? 3 : 2;
        for (unsigned i = 0; i < 3; i++)
            v[i] = i == n - 1 && s->immediate ? s->value : s->wide ? d[s->src[i]] : r[s->src[i]];
        uint64_t result = step(s, v[0], v[1], v[2], &flag);
        if (s->wide)
            d[s->dst] = result;
        else
            r[s->dst] = (uint32_t)result;
    }
    for (int i = 0; i < CHAIN_SLOTS; i++)
        d[i] ^= (uint64_t)r[i] << 8 * i;
    for (int i = CHAIN_SLOTS; i < REGS; i++) {
        d[i - CHAIN_SLOTS] += d[i];
        d[i - 2] ^= r[i];
    }
    for (int i = 0; i < CHAIN_SLOTS; i++)
        out[i] = d[i];
}
