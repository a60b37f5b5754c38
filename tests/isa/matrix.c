/* matrix.c - see matrix.h. An instruction's name is taken apart for all else: shape, layouts and types. */
#include "isa/matrix.h"
#include <string.h>

static const struct matrix_type types[] = {
    {"f16", 16, 5, 10, true},  {"bf16", 16, 8, 7, true}, {"tf32", 32, 8, 23, true}, {"f32", 32, 8, 23, true},
    {"f64", 64, 11, 52, true}, {"e4m3", 8, 4, 3, true},  {"e5m2", 8, 5, 2, true},   {"s8", 8, 0, 0, true},
    {"u8", 8, 0, 0, false},    {"s4", 4, 0, 0, true},    {"u4", 4, 0, 0, false},    {"b1", 1, 0, 0, false},
    {"s32", 32, 0, 0, true},
};
static const char *const texts[] = {
#define MATRIX(text) text,
#include "isa/matrix.def"
};

const struct matrix_type *matrix_type_named(const char *name)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
        if (!strcmp(types[i].name, name))
            return &types[i];
    return NULL;
}

int matrix_count(void)
{
    return (int)(sizeof texts / sizeof texts[0]);
}

bool matrix_case(int which, struct matrix_case *c)
{
    memset(c, 0, sizeof *c);
    c->text = texts[which];
    sscanf(c->text, "%95s %d", c->name, &c->selector);
    c->wmma = !strncmp(c->name, "wmma", 4);
    c->sparse = strstr(c->name, ".sp.") != NULL;
    c->times = 1;
    const struct matrix_type *seen[4];
    int layouts = 0, kinds = 0;
    char parts[96];
    strcpy(parts, c->name);
    for (char *part = strtok(parts, "."); part; part = strtok(NULL, ".")) {
        if (!strcmp(part, "row") || !strcmp(part, "col"))
            *(layouts++ ? &c->b_col : &c->a_col) = part[0] == 'c';
        else if (matrix_type_named(part) && kinds < 4)
            seen[kinds++] = matrix_type_named(part);
        else
            sscanf(part, "m%dn%dk%d", &c->m, &c->n, &c->k);
    }
    if (kinds == 2) /* wmma of f16 names D and C alone */
        c->d = seen[0], c->a = c->b = matrix_type_named("f16"), c->c = seen[1];
    else if (kinds == 4)
        c->d = seen[0], c->a = seen[1], c->b = seen[2], c->c = seen[3];
    if (layouts != 2 || !c->m || !c->d)
        return false;
    if (!c->wmma && c->m == 8 && c->k == 4 && c->a->bits == 16)
        c->times = 4;
    int lanes = c->wmma ? 1 : 32;
    c->a_words = c->times * c->m * c->k * c->a->bits / 32 / lanes / (c->sparse ? 2 : 1);
    c->b_words = c->times * c->k * c->n * c->b->bits / 32 / lanes;
    c->c_words = c->times * c->m * c->n * c->c->bits / 32 / lanes;
    c->d_words = c->times * c->m * c->n * c->d->bits / 32 / lanes;
    c->in_words = lanes * (c->a_words + c->b_words + c->c_words + (c->sparse ? 1 : 0));
    c->out_words = lanes * c->d_words;
    return true;
}

int matrix_warps(const struct matrix_case *c)
{
    return MATRIX_RESULTS / (c->m * c->n * c->times);
}

/* ---- operands ---- */

uint64_t matrix_random(uint64_t *state) /* splitmix64 */
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}
static int between(uint64_t *state, int low, int high)
{
    return low + (int)((matrix_random(state) >> 32) % (uint64_t)(high - low + 1));
}
static bool one_in(uint64_t *state, int n)
{
    return between(state, 1, n) == 1;
}

/* A number of this biased exponent, moved to the nearest finite one. */
static uint64_t number(const struct matrix_type *t, uint64_t random, int exponent, uint64_t mantissa)
{
    int most = (1 << t->exponent) - 2;
    exponent = exponent < 0 ? 0 : exponent > most ? most : exponent;
    return (random >> 63) << (t->bits - 1) | (uint64_t)exponent << t->mantissa |
           (mantissa & ((1ull << t->mantissa) - 1));
}

static uint64_t special(const struct matrix_type *t, uint64_t *state)
{
    uint64_t mantissa = (1ull << t->mantissa) - 1, sign = matrix_random(state) >> 63 << (t->bits - 1);
    uint64_t all = (1ull << (t->bits - 1)) - 1, infinity = all - mantissa, r = matrix_random(state);
    switch (between(state, 0, 9)) {
    case 0:
        return sign;
    case 1:
        return sign | 1;
    case 2:
        return sign | mantissa;
    case 3:
        return sign | (mantissa + 1);
    case 4:
    case 5:
        return sign | infinity;
    case 6:
        return sign | infinity | (r & mantissa);
    case 7:
        return sign | (infinity - 1);
    case 8:
        return sign | all;
    }
    return sign | (uint64_t)((1 << (t->exponent - 1)) - 1) << t->mantissa;
}

enum { ANY, NEAR, WIDE, SPREAD, FEW, CANCEL, TINY, SPECIAL, HUGE_ONES };

/* An element of A or B, or, with `sum`, of C. The kinds: any bits; near 1; any finite number; exponents far from each
 * other; few that are not 0; sums that cancel; subnormal ones; infinities, NaN and limits; sums at the largest number.
 */
static uint64_t element(const struct matrix_type *t, int kind, bool sum, bool b, uint64_t *state)
{
    uint64_t r = matrix_random(state);
    if (!t->exponent) {
        uint64_t mask = (1ull << t->bits) - 1, top = 1ull << (t->bits - 1);
        static const int of_kind[MATRIX_KINDS] = {0, 0, 0, 1, 1, 2, 2, 3, 3};
        switch (of_kind[kind]) {
        case 1: /* the largest and smallest */
            return (r & 1 ? top : top - 1) ^ (r >> 8 & r >> 16 & (sum ? 0xffff : 1) & mask);
        case 2:
            return one_in(state, 2) ? 0 : r & mask;
        case 3: /* all of one sign: sums run over */
            return sum ? ((r & 1 ? top : top - 1) ^ (r >> 8 & 0xffff)) & mask : ((top - 1) | (b ? 0 : top)) & mask;
        }
        return r & mask;
    }
    int bias = (1 << (t->exponent - 1)) - 1, most = (1 << t->exponent) - 2, half = bias / 2;
    uint64_t full = (1ull << t->mantissa) - 1;
    switch (kind) {
    case NEAR:
        return number(t, r, bias + between(state, -2, 2), r);
    case WIDE:
        return number(t, r, between(state, 0, most), r);
    case SPREAD:
        return number(t, r, bias + (sum ? between(state, -28, 28) : between(state, -14, 14)), r);
    case FEW:
        if (!one_in(state, sum ? 2 : 3))
            return one_in(state, 8) ? 1ull << (t->bits - 1) : 0;
        return number(t, r, bias + (sum ? between(state, -24, 24) : between(state, -12, 12)),
                      one_in(state, 2)   ? r
                      : one_in(state, 2) ? full
                                         : r & 1);
    case CANCEL: {
        int far = one_in(state, 3) ? 0 : 10;
        return number(t, r, bias + (sum ? 2 * between(state, -1, 1) * far : between(state, 0, 1) * far),
                      one_in(state, 2)   ? 0
                      : one_in(state, 2) ? 1
                                         : full);
    }
    case TINY:
        return number(t, r,
                      sum ? between(state, 0, t->exponent == 8 ? 24 : 3)
                      : b ? bias + between(state, -4, 0)
                          : between(state, 0, 3),
                      r);
    case SPECIAL:
        return one_in(state, sum ? 8 : 48) ? special(t, state) : number(t, r, bias + between(state, -3, 3), r);
    case HUGE_ONES:
        return number(t, r, sum ? most - between(state, 0, 3) : bias + half + between(state, -2, 1), r);
    }
    return t->bits == 64 ? r : r & ((1ull << t->bits) - 1);
}

void matrix_fill(const struct matrix_type *t, int kind, bool sum, bool b, int count, uint64_t *state, uint32_t *words)
{
    if (t->bits == 64) {
        for (int i = 0; i < count; i += 2) {
            uint64_t e = element(t, kind, sum, b, state);
            words[i] = (uint32_t)e, words[i + 1] = (uint32_t)(e >> 32);
        }
        return;
    }
    for (int i = 0; i < count; i++) {
        words[i] = 0;
        if (t->bits == 1)
            words[i] = (uint32_t)(kind == FEW ? matrix_random(state) & matrix_random(state) : matrix_random(state));
        else
            for (int at = 0; at < 32; at += t->bits)
                words[i] |= (uint32_t)element(t, kind, sum, b, state) << at;
    }
}

void matrix_input(const struct matrix_case *c, int warp, uint32_t *words)
{
    uint64_t state = 0xcbf29ce484222325u;
    for (const char *p = c->text; *p; p++)
        state = (state ^ (uint8_t)*p) * 0x100000001b3u;
    state ^= (uint64_t)warp * 0xd6e8feb86659fd93u;
    int lanes = c->wmma ? 1 : 32, kind = warp % MATRIX_KINDS;
    memset(words, 0, sizeof words[0] * (size_t)c->in_words);
    for (int lane = 0; lane < lanes; lane++) {
        uint32_t *at = words + lane * (c->in_words / lanes);
        matrix_fill(c->a, kind, false, false, c->a_words, &state, at);
        matrix_fill(c->b, kind, false, true, c->b_words, &state, at + c->a_words);
        matrix_fill(c->c, kind, true, false, c->c_words, &state, at + c->a_words + c->b_words);
        if (c->sparse) { /* which two of four, or which of two for tf32 */
            uint32_t *e = at + c->a_words + c->b_words + c->c_words;
            for (int i = 0; i < 32; i += 4)
                *e |= (uint32_t)(c->a->bits == 32 ? "\x4\xe"[matrix_random(&state) % 2]
                                                  : "\x4\x8\xc\x9\xd\xe"[matrix_random(&state) % 6])
                      << i;
        }
    }
}

/* ---- PTX ---- */

static void begin(FILE *out, int target_words_in, int target_words_out)
{
    fprintf(
        out,
        ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry run(.param .u64 in, .param .u64 out)\n{\n"
        ".reg .b32 %%r<8>, %%a<32>, %%b<32>, %%c<32>, %%d<32>, %%e; .reg .f32 %%fc<32>, %%fd<32>;\n"
        ".reg .f64 %%da<16>, %%db<16>, %%dc<16>, %%dd<16>; .reg .b64 %%in, %%out, %%o, %%pa, %%pb, %%pc;\n"
        "ld.param.u64 %%in, [in]; ld.param.u64 %%out, [out];\n"
        "mov.u32 %%r0, %%ctaid.x; mov.u32 %%r1, %%ntid.x; mov.u32 %%r2, %%tid.x; mad.lo.u32 %%r0, %%r0, %%r1, %%r2;\n"
        "mul.wide.u32 %%o, %%r0, %d; add.u64 %%in, %%in, %%o; mul.wide.u32 %%o, %%r0, %d; add.u64 %%out, %%out, %%o;\n",
        4 * target_words_in, 4 * target_words_out);
}

static int registers(const struct matrix_type *t, int words)
{
    return t->bits == 64 ? words / 2 : words;
}
/* The registers' name: those of f32 and f64 accumulators have their type. */
static const char *prefix(const struct matrix_type *t, char operand)
{
    static const char *const of_f32[] = {"fc", "fd"}, *const of_f64[] = {"da", "db", "dc", "dd"};
    static const char *const of_b32[] = {"a", "b", "c", "d"};
    return t->bits == 64             ? of_f64[operand - 'a']
           : !strcmp(t->name, "f32") ? of_f32[operand - 'c']
                                     : of_b32[operand - 'a'];
}
static void list(FILE *out, const struct matrix_type *t, char operand, int words)
{
    fputc('{', out);
    for (int i = 0; i < registers(t, words); i++)
        fprintf(out, "%s%%%s%d", i ? ", " : "", prefix(t, operand), i);
    fputc('}', out);
}
static void move(FILE *out, bool load, const struct matrix_type *t, char operand, int words, int at)
{
    const char *kind = t->bits == 64 ? "f64" : !strcmp(t->name, "f32") ? "f32" : "b32";
    for (int i = 0; i < registers(t, words); i++) {
        int offset = 4 * at + i * (t->bits == 64 ? 8 : 4);
        if (load)
            fprintf(out, "ld.global.%s %%%s%d, [%%in+%d];\n", kind, prefix(t, operand), i, offset);
        else
            fprintf(out, "st.global.%s [%%out+%d], %%%s%d;\n", kind, offset, prefix(t, operand), i);
    }
}

static int fragment_words(const struct matrix_type *t, int elements)
{
    return elements * t->bits / 32 / 32;
}

static void wmma_module(FILE *out, const struct matrix_case *c)
{
    static const char *const layout[] = {"row", "col"};
    begin(out, 0, 0);
    char shape[32];
    snprintf(shape, sizeof shape, "m%dn%dk%d", c->m, c->n, c->k);
    bool f16 = !strcmp(c->a->name, "f16");
    int a = f16 ? 8 : fragment_words(c->a, c->m * c->k), b = f16 ? 8 : fragment_words(c->b, c->k * c->n);
    int wc = fragment_words(c->c, c->m * c->n), wd = fragment_words(c->d, c->m * c->n);
    fprintf(out, "shr.u32 %%r0, %%r0, 5; mul.wide.u32 %%o, %%r0, %d; add.u64 %%in, %%in, %%o;\n", 4 * c->in_words);
    fprintf(out, "mul.wide.u32 %%o, %%r0, %d; add.u64 %%out, %%out, %%o;\n", 4 * c->out_words);
    fprintf(out, "add.u64 %%pa, %%in, 0; add.u64 %%pb, %%in, %d; add.u64 %%pc, %%in, %d;\n", 4 * c->a_words,
            4 * (c->a_words + c->b_words));
    fprintf(out, "wmma.load.a.sync.aligned.%s.%s.global.%s ", layout[c->a_col], shape, c->a->name);
    list(out, c->a, 'a', a);
    fprintf(out, ", [%%pa], %d;\nwmma.load.b.sync.aligned.%s.%s.global.%s ", c->a_col ? c->m : c->k, layout[c->b_col],
            shape, c->b->name);
    list(out, c->b, 'b', b);
    fprintf(out, ", [%%pb], %d;\nwmma.load.c.sync.aligned.row.%s.global.%s ", c->b_col ? c->k : c->n, shape,
            c->c->name);
    list(out, c->c, 'c', wc);
    fprintf(out, ", [%%pc], %d;\n%s ", c->n, c->name);
    list(out, c->d, 'd', wd);
    fputs(", ", out);
    list(out, c->a, 'a', a);
    fputs(", ", out);
    list(out, c->b, 'b', b);
    fputs(", ", out);
    list(out, c->c, 'c', wc);
    fprintf(out, ";\nwmma.store.d.sync.aligned.row.%s.global.%s [%%out], ", shape, c->d->name);
    list(out, c->d, 'd', wd);
    fprintf(out, ", %d;\nret;\n}\n", c->n);
}

void matrix_module(FILE *out, const struct matrix_case *c)
{
    if (c->wmma) {
        wmma_module(out, c);
        return;
    }
    begin(out, c->in_words / 32, c->out_words / 32);
    move(out, true, c->a, 'a', c->a_words, 0);
    move(out, true, c->b, 'b', c->b_words, c->a_words);
    move(out, true, c->c, 'c', c->c_words, c->a_words + c->b_words);
    if (c->sparse)
        fprintf(out, "ld.global.b32 %%e, [%%in+%d];\n", 4 * (c->a_words + c->b_words + c->c_words));
    fprintf(out, "%s ", c->name);
    list(out, c->d, 'd', c->d_words);
    fputs(", ", out);
    list(out, c->a, 'a', c->a_words);
    fputs(", ", out);
    list(out, c->b, 'b', c->b_words);
    fputs(", ", out);
    list(out, c->c, 'c', c->c_words);
    if (c->sparse)
        fprintf(out, ", %%e, 0x%x", (unsigned)c->selector);
    fputs(";\n", out);
    move(out, false, c->d, 'd', c->d_words, 0);
    fputs("ret;\n}\n", out);
}

/* ---- wmma's fragments ---- */

static bool fragment(int operand, bool col, int m, int n, int k, const char *type, struct matrix_fragment *f)
{
    memset(f, 0, sizeof *f);
    snprintf(f->text, sizeof f->text, "wmma.load.%c.sync.aligned.%s.m%dn%dk%d.%s", "abc"[operand], col ? "col" : "row",
             m, n, k, type);
    f->type = matrix_type_named(type);
    f->rows = operand == 1 ? k : m;
    f->columns = operand == 0 ? k : n;
    f->col = col;
    f->stride = col ? f->rows : f->columns;
    if (f->stride * f->type->bits < 128) /* the least that wmma.load takes */
        f->stride = 128 / f->type->bits;
    f->words = !strcmp(type, "f16") && operand < 2 ? 8 : fragment_words(f->type, f->rows * f->columns);
    return true;
}

bool matrix_fragment(int which, struct matrix_fragment *f)
{
    static const struct {
        int m, n, k;
        const char *type, *sum;
    } shapes[] = {
        {16, 16, 16, "f16", "f16"}, {32, 8, 16, "f16", "f16"},  {8, 32, 16, "f16", "f16"},  {16, 16, 16, "bf16", "f32"},
        {32, 8, 16, "bf16", "f32"}, {8, 32, 16, "bf16", "f32"}, {16, 16, 8, "tf32", "f32"}, {8, 8, 4, "f64", "f64"},
        {16, 16, 16, "s8", "s32"},  {32, 8, 16, "s8", "s32"},   {8, 32, 16, "s8", "s32"},   {8, 8, 32, "s4", "s32"},
        {8, 8, 128, "b1", "s32"},
    };
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++)
        for (int operand = 0; operand < 3; operand++)
            for (int col = 0; col < 2; col++) {
                bool sub_byte = matrix_type_named(shapes[s].type)->bits < 8;
                if (sub_byte && operand < 2 && col != operand) /* A row by row, B column by column alone */
                    continue;
                if (which-- == 0)
                    return fragment(operand, col, shapes[s].m, shapes[s].n, shapes[s].k,
                                    operand == 2 ? shapes[s].sum : shapes[s].type, f);
            }
    return false;
}

void matrix_fragment_module(FILE *out, const struct matrix_fragment *f)
{
    begin(out, 0, f->words);
    const char *dot = strrchr(f->text, '.');
    fprintf(out, "%.*s.global%s ", (int)(dot - f->text), f->text, dot);
    list(out, f->type, 'c', f->words);
    fprintf(out, ", [%%in], %d;\n", f->stride);
    move(out, false, f->type, 'c', f->words, 0);
    fputs("ret;\n}\n", out);
}

void matrix_fragment_input(const struct matrix_fragment *f, int shift, uint32_t words[1024])
{
    memset(words, 0, 4096);
    for (uint32_t i = 0; i < (uint32_t)(f->rows * f->columns); i++) {
        uint32_t line = i / (uint32_t)(f->col ? f->rows : f->columns),
                 in_line = i % (uint32_t)(f->col ? f->rows : f->columns);
        uint32_t at = (line * (uint32_t)f->stride + in_line) * (uint32_t)f->type->bits,
                 mask = f->type->bits < 32 ? (1u << f->type->bits) - 1 : ~0u;
        words[at / 32] |= (i >> shift & mask) << at % 32;
    }
}
