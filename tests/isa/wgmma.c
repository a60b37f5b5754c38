/* wgmma.c - see wgmma.h. */
#include "isa/wgmma.h"
#include <string.h>

static const char *const texts[] = {
#define WGMMA(text) text,
#include "isa/wgmma.def"
};
enum { LISTED = sizeof texts / sizeof texts[0], EACH_WIDTH = 6 };

/* Those of every width: the n-th of its kind. */
static bool width_text(int which, char *text, size_t size)
{
    static const struct {
        const char *types;
        int k;
    } kinds[EACH_WIDTH] = {{"f32.bf16.bf16", 16}, {"f16.f16.f16", 16}, {"f32.tf32.tf32", 8},
                           {"f32.e4m3.e5m2", 32}, {"s32.s8.u8", 32},   {"s32.b1.b1.and.popc", 256}};
    int kind = which % EACH_WIDTH, n = which / EACH_WIDTH * 8 + 8;
    if (n > 256)
        return false;
    if (kind >= 4 && n > 32 && n % 16) /* integers have no such width */
        n = 24;
    snprintf(text, size, "wgmma.mma_async.sync.aligned.m64n%dk%d.%s%s", n, kinds[kind].k, kinds[kind].types,
             n / 8 % 3 == 1 ? " rs" : "");
    return true;
}

bool wgmma_case(int which, struct wgmma_case *c)
{
    memset(c, 0, sizeof *c);
    c->results = which < LISTED ? MATRIX_RESULTS : 1 << 13;
    if (which < LISTED)
        snprintf(c->text, sizeof c->text, "%s", texts[which]);
    else if (!width_text(which - LISTED, c->text, sizeof c->text))
        return false;
    const struct matrix_type *seen[3];
    int kinds = 0;
    char parts[112];
    strcpy(parts, c->text);
    sscanf(c->text, "%79s", c->name);
    c->sparse = strstr(c->name, ".sp.") != NULL;
    for (char *part = strtok(parts, ". "); part; part = strtok(NULL, ". ")) {
        c->rs |= !strcmp(part, "rs"), c->ta |= !strcmp(part, "ta"), c->tb |= !strcmp(part, "tb");
        c->minus_a |= !strcmp(part, "-a"), c->minus_b |= !strcmp(part, "-b");
        c->zero |= !strcmp(part, "zero"), c->twice |= !strcmp(part, "x2");
        if (matrix_type_named(part) && kinds < 3)
            seen[kinds++] = matrix_type_named(part);
        else if (part[0] == 'm')
            sscanf(part, "m64n%dk%d", &c->n, &c->k);
        else
            sscanf(part, "sel%d", &c->selector);
    }
    c->c = seen[0], c->a = seen[1], c->b = seen[2];
    c->a_words = c->rs ? 0 : 64 * 8;
    c->b_words = c->n * c->k * c->b->bits / 32;
    c->ra_words = c->rs ? 4 : 0;
    c->c_words = c->n / 2 * c->c->bits / 32;
    c->thread_words = c->ra_words + c->c_words + (c->sparse ? 1 : 0);
    c->in_words = c->a_words + c->b_words + 128 * c->thread_words;
    c->out_words = 128 * c->c_words;
    return true;
}

int wgmma_blocks(const struct wgmma_case *c)
{
    int blocks = c->results / (64 * c->n);
    return blocks < MATRIX_KINDS ? MATRIX_KINDS : blocks;
}

void wgmma_input(const struct wgmma_case *c, int block, uint32_t *words)
{
    uint64_t state = 0xcbf29ce484222325u;
    for (const char *p = c->text; *p; p++)
        state = (state ^ (uint8_t)*p) * 0x100000001b3u;
    state ^= (uint64_t)block * 0xd6e8feb86659fd93u;
    int kind = block % MATRIX_KINDS;
    matrix_fill(c->a, kind, false, false, c->a_words, &state, words);
    matrix_fill(c->b, kind, false, true, c->b_words, &state, words + c->a_words);
    for (int t = 0; t < 128; t++) {
        uint32_t *at = words + c->a_words + c->b_words + t * c->thread_words;
        matrix_fill(c->a, kind, false, false, c->ra_words, &state, at);
        matrix_fill(c->c, kind, true, false, c->c_words, &state, at + c->ra_words);
        if (c->sparse) { /* which two of four, or which of two for tf32 */
            uint32_t e = 0;
            for (int i = 0; i < 32; i += 4)
                e |= (uint32_t)(c->a->bits == 32 ? "\x4\xe"[matrix_random(&state) % 2]
                                                 : "\x4\x8\xc\x9\xd\xe"[matrix_random(&state) % 6])
                     << i;
            at[c->ra_words + c->c_words] = e;
        }
    }
}

/* ---- PTX ---- */

static const char *accumulator(const struct wgmma_case *c)
{
    return !strcmp(c->c->name, "f32") ? "f32" : "b32";
}

/* Shared memory is filled with `shared` words of the input, of block %ctaid.x; then thread's registers are loaded. */
static void begin(FILE *out, const struct wgmma_case *c, int shared)
{
    fprintf(out,
            ".version 8.7\n.target sm_90a\n.address_size 64\n.visible .entry run(.param .u64 in, .param .u64 out, "
            ".param .u64 da, .param .u64 db)\n{\n.shared .align 1024 .b8 smem[%d];\n"
            ".reg .b32 %%r<8>, %%a<4>, %%e; .reg .%s %%d<%d>; .reg .pred %%p, %%more;\n"
            ".reg .b64 %%in, %%out, %%o, %%da, %%db;\n",
            shared * 4, accumulator(c), c->c_words);
    fprintf(out,
            "ld.param.u64 %%in, [in]; ld.param.u64 %%out, [out]; ld.param.u64 %%da, [da]; ld.param.u64 %%db, [db];\n"
            "mov.u32 %%r0, %%ctaid.x; mov.u32 %%r1, %%tid.x;\n"
            "mul.wide.u32 %%o, %%r0, %d; add.u64 %%in, %%in, %%o; mul.wide.u32 %%o, %%r0, %d; add.u64 %%out, %%out, "
            "%%o;\n",
            4 * (shared + 128 * c->thread_words), 4 * c->out_words);
    fprintf(out,
            "mov.u32 %%r2, %%r1; mov.u32 %%r4, smem;\ncopy:\nsetp.lt.u32 %%more, %%r2, %d;\n@!%%more bra copied;\n"
            "mul.wide.u32 %%o, %%r2, 4; add.u64 %%o, %%in, %%o; ld.global.b32 %%r3, [%%o];\n"
            "shl.b32 %%r5, %%r2, 2; add.u32 %%r5, %%r4, %%r5; st.shared.b32 [%%r5], %%r3;\n"
            "add.u32 %%r2, %%r2, 128; bra copy;\ncopied:\n"
            "fence.proxy.async.shared::cta; bar.sync 0;\n",
            shared);
    fprintf(out,
            "add.u64 %%in, %%in, %d; mul.wide.u32 %%o, %%r1, %d; add.u64 %%in, %%in, %%o;\n"
            "mul.wide.u32 %%o, %%r1, %d; add.u64 %%out, %%out, %%o;\n",
            4 * shared, 4 * c->thread_words, 4 * c->c_words);
    for (int i = 0; i < c->ra_words; i++)
        fprintf(out, "ld.global.b32 %%a%d, [%%in+%d];\n", i, 4 * i);
    for (int i = 0; i < c->c_words; i++)
        fprintf(out, "ld.global.%s %%d%d, [%%in+%d];\n", accumulator(c), i, 4 * (c->ra_words + i));
    if (c->sparse)
        fprintf(out, "ld.global.b32 %%e, [%%in+%d];\n", 4 * (c->ra_words + c->c_words));
    fprintf(out, "setp.eq.u32 %%p, 0, %d;\n", c->zero);
    /* descriptors hold bits 4 to 17 of an address; those given are of matrices from the start on */
    fprintf(out, "and.b32 %%r4, %%r4, 0x3ffff; shr.u32 %%r4, %%r4, 4; cvt.u64.u32 %%o, %%r4;\n"
                 "add.u64 %%da, %%da, %%o; add.u64 %%db, %%db, %%o;\nwgmma.fence.sync.aligned;\n");
}

static void multiply(FILE *out, const struct wgmma_case *c)
{
    fprintf(out, "%s {", c->name);
    for (int i = 0; i < c->c_words; i++)
        fprintf(out, "%s%%d%d", i ? ", " : "", i);
    fprintf(out, "}, %s, %%db, ", c->rs ? "{%a0, %a1, %a2, %a3}" : "%da");
    if (c->sparse)
        fprintf(out, "%%e, %d, ", c->selector);
    fprintf(out, "%%p");
    if (c->a->exponent)
        fprintf(out, ", %d, %d", c->minus_a ? -1 : 1, c->minus_b ? -1 : 1);
    if (c->a->bits == 16 && !c->rs)
        fprintf(out, ", %d", c->ta);
    if (c->a->bits == 16)
        fprintf(out, ", %d", c->tb);
    fprintf(out, ";\n");
}

static void end(FILE *out, const struct wgmma_case *c)
{
    fprintf(out, "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n");
    for (int i = 0; i < c->c_words; i++)
        fprintf(out, "st.global.%s [%%out+%d], %%d%d;\n", accumulator(c), 4 * i, i);
    fprintf(out, "ret;\n}\n");
}

void wgmma_module(FILE *out, const struct wgmma_case *c)
{
    begin(out, c, c->a_words + c->b_words);
    multiply(out, c);
    if (c->twice)
        multiply(out, c);
    end(out, c);
}

/* ---- layouts ---- */

/* Offsets in bytes, of the descriptor's fields. */
static uint64_t descriptor(int start, int leading, int stride, int base, int swizzle)
{
    static const uint64_t mode[] = {0, 3, 2, 1}; /* none, 32, 64, 128 bytes */
    return (uint64_t)(start >> 4) | (uint64_t)(leading >> 4) << 16 | (uint64_t)(stride >> 4) << 32 |
           (uint64_t)base << 49 | mode[swizzle] << 62;
}

bool wgmma_layout(int which, struct wgmma_layout *l)
{
    static const struct {
        const char *type, *name;
        bool transposed;
        int k, parts;
    } kinds[] = {{"f16", "f32.f16.f16", false, 16, 2},
                 {"f16", "f32.f16.f16", true, 16, 2},
                 {"u8", "s32.u8.u8", false, 32, 2},
                 {"tf32", "f32.tf32.tf32", false, 8, 2}};
    static const struct {
        int start, leading, stride, base;
    } places[] = {{0, 1024, 2048, 0},   {0, 2304, 1280, 0}, {0, 16, 1024, 0},    {0, 4096, 512, 0},
                  {32, 2048, 1024, 0},  {64, 16, 1024, 0},  {256, 128, 256, 0},  {128, 2048, 1024, 1},
                  {384, 2048, 1024, 3}, {0, 2048, 1024, 5}, {896, 128, 2048, 7}, {256, 512, 1024, 0}};
    enum { KINDS = 4, PLACES = 12, SWIZZLES = 4, WIDTHS = 2 };
    memset(l, 0, sizeof *l);
    if (which >= KINDS * PLACES * SWIZZLES * 3)
        return false;
    const int kind = which % KINDS, place = which / KINDS % PLACES, swizzle = which / KINDS / PLACES % SWIZZLES;
    const int operand = which / KINDS / PLACES / SWIZZLES; /* A, B of 32 columns, B of 96 */
    l->type = matrix_type_named(kinds[kind].type);
    l->of_b = operand > 0;
    l->transposed = kinds[kind].transposed;
    l->k = kinds[kind].k;
    l->n = operand == 0 ? (l->k < 8 ? 8 : l->k) : operand == 1 ? 32 : 96;
    l->parts = kinds[kind].parts;
    l->descriptor =
        descriptor(places[place].start, places[place].leading, places[place].stride, places[place].base, swizzle);
    struct wgmma_case *c = &l->c;
    snprintf(c->name, sizeof c->name, "wgmma.mma_async.sync.aligned.m64n%dk%d.%s", l->n, l->k, kinds[kind].name);
    c->rs = l->of_b;
    c->ta = !l->of_b && l->transposed, c->tb = l->of_b && l->transposed;
    c->zero = true;
    c->n = l->n, c->k = l->k;
    c->a = c->b = l->type, c->c = matrix_type_named(l->type->exponent ? "f32" : "s32");
    c->ra_words = c->rs ? 4 : 0;
    c->c_words = c->n / 2;
    c->thread_words = c->ra_words + c->c_words;
    c->out_words = 128 * c->c_words;
    snprintf(l->text, sizeof l->text, "%c%s %s n%d swizzle %d start %d leading %d stride %d base %d", "AB"[l->of_b],
             l -> transposed ? "^T" : "", kinds[kind].type, l->n, swizzle ? 16 << swizzle : 0, places[place].start,
             places[place].leading, places[place].stride, places[place].base);
    return true;
}

/* Shared memory, and behind it B's ones, of core matrices without a swizzle. */
enum { ONES = 2048 };

int wgmma_layout_words(const struct wgmma_layout *l)
{
    return (WGMMA_SHARED - ONES) / 4 + ONES / 4 + 128 * l->c.thread_words;
}

void wgmma_layout_module(FILE *out, const struct wgmma_layout *l)
{
    begin(out, &l->c, WGMMA_SHARED / 4);
    multiply(out, &l->c);
    end(out, &l->c);
}

static uint32_t number(const struct matrix_type *t, unsigned n)
{
    if (!t->exponent)
        return n;
    if (!n)
        return 0;
    int top = 31 - __builtin_clz(n);
    uint32_t f32 = (uint32_t)(127 + top) << 23 | (n << (23 - top) & 0x7fffff);
    return t->bits == 32 ? f32 : ((uint32_t)(15 + top) << 10 | (f32 >> 13 & 0x3ff));
}

void wgmma_layout_input(const struct wgmma_layout *l, int part, uint32_t *words)
{
    const int bits = l->type->bits, each = 32 / bits;
    memset(words, 0, 4 * (size_t)wgmma_layout_words(l));
    for (int i = 0; i < (WGMMA_SHARED - ONES) * 8 / bits; i++)
        words[i / each] |= number(l->type, (unsigned)i >> 8 * part & 0xff) << i % each * bits;
    const uint32_t one = number(l->type, 1);
    if (l->of_b) { /* the registers of A: rows lane / 4 and 8 further, columns by words of four lanes */
        for (int t = 0; t < 128; t++)
            for (int r = 0; r < 4; r++)
                for (int e = 0; e < each; e++) {
                    int row = t / 32 * 16 + t % 32 / 4 + r % 2 * 8, column = (r / 2 * 4 + t % 4) * each + e;
                    if (row == column)
                        words[WGMMA_SHARED / 4 + t * l->c.thread_words + r] |= one << e * bits;
                }
        return;
    }
    for (int i = 0; i < l->k; i++) { /* core matrices of 8 columns of 16 bytes: along k, then along n */
        int chunk = i * bits / 128, at = (i / 8 * 2 + chunk) * 128 + i % 8 * 16 + i * bits / 8 % 16;
        words[(WGMMA_SHARED - ONES + at) / 4] |= one << at % 4 * 8;
    }
}

unsigned wgmma_layout_number(const struct wgmma_layout *l, const uint32_t *out, int row, int column)
{
    int thread = row / 16 * 32 + row % 8 * 4 + column % 8 / 2, reg = column / 8 * 4 + row % 16 / 8 * 2 + column % 2;
    uint32_t bits = out[thread * l->c.c_words + reg];
    float f;
    memcpy(&f, &bits, sizeof f);
    return l->type->exponent ? (unsigned)f : bits;
}
