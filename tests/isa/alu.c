/* alu.c - see alu.h. Expansion of alu.def, naming, kernels, inputs. */
#include "alu.h"
#include <stdlib.h>

static const struct {
    const char *text, *operands;
} patterns[] = {
#define ALU(text, operands) {text, operands},
#include "alu.def"
#undef ALU
};

/* Operations that take more than one instruction, or an immediate: name of the row, and the lines. */
static const struct {
    const char *row, *body;
} bodies[] = {
    {"addx_u32", "add.cc.u32 %t, %cc, 0xffffffff; addc.u32 %d, %a, %b;"},
    {"addx_carry_u32", "add.cc.u32 %t, %cc, 0xffffffff; addc.cc.u32 %t, %a, %b; addc.u32 %d, 0, 0;"},
    {"addx_u64", "add.cc.u32 %t, %cc, 0xffffffff; addc.u64 %d, %a, %b;"},
    {"addx_carry_u64", "add.cc.u32 %t, %cc, 0xffffffff; addc.cc.u64 %t64, %a, %b; addc.u32 %d, 0, 0;"},
    {"madx_lo_u32", "add.cc.u32 %t, %cc, 0xffffffff; madc.lo.u32 %d, %a, %b, %c;"},
    {"madx_lo_carry_u32", "add.cc.u32 %t, %cc, 0xffffffff; madc.lo.cc.u32 %t, %a, %b, %c; addc.u32 %d, 0, 0;"},
    {"madx_hi_u32", "add.cc.u32 %t, %cc, 0xffffffff; madc.hi.u32 %d, %a, %b, %c;"},
    {"madx_hi_carry_u32", "add.cc.u32 %t, %cc, 0xffffffff; madc.hi.cc.u32 %t, %a, %b, %c; addc.u32 %d, 0, 0;"},
    {"madx_hi_s32", "add.cc.u32 %t, %cc, 0xffffffff; madc.hi.s32 %d, %a, %b, %c;"},
    {"madx_hi_carry_s32", "add.cc.u32 %t, %cc, 0xffffffff; madc.hi.cc.s32 %t, %a, %b, %c; addc.u32 %d, 0, 0;"},
    {"madx_lo_u64", "add.cc.u32 %t, %cc, 0xffffffff; madc.lo.u64 %d, %a, %b, %c;"},
    {"madx_lo_carry_u64", "add.cc.u32 %t, %cc, 0xffffffff; madc.lo.cc.u64 %t64, %a, %b, %c; addc.u32 %d, 0, 0;"},
    {"madx_hi_u64", "add.cc.u32 %t, %cc, 0xffffffff; madc.hi.u64 %d, %a, %b, %c;"},
    {"madx_hi_carry_u64", "add.cc.u32 %t, %cc, 0xffffffff; madc.hi.cc.u64 %t64, %a, %b, %c; addc.u32 %d, 0, 0;"},
    {"madx_hi_s64", "add.cc.u32 %t, %cc, 0xffffffff; madc.hi.s64 %d, %a, %b, %c;"},
    {"madx_hi_carry_s64", "add.cc.u32 %t, %cc, 0xffffffff; madc.hi.cc.s64 %t64, %a, %b, %c; addc.u32 %d, 0, 0;"},
    /* the functions of three bits are immediates: eight that differ in every bit, lane by lane */
    {"lop3_b32", "setp.eq.u32 %q, %e, 0x01; @%q lop3.b32 %d, %a, %b, %c, 0x01; "
                 "setp.eq.u32 %q, %e, 0xe8; @%q lop3.b32 %d, %a, %b, %c, 0xe8; "
                 "setp.eq.u32 %q, %e, 0x96; @%q lop3.b32 %d, %a, %b, %c, 0x96; "
                 "setp.eq.u32 %q, %e, 0xca; @%q lop3.b32 %d, %a, %b, %c, 0xca; "
                 "setp.eq.u32 %q, %e, 0x0f; @%q lop3.b32 %d, %a, %b, %c, 0x0f; "
                 "setp.eq.u32 %q, %e, 0x35; @%q lop3.b32 %d, %a, %b, %c, 0x35; "
                 "setp.eq.u32 %q, %e, 0x7e; @%q lop3.b32 %d, %a, %b, %c, 0x7e; "
                 "setp.eq.u32 %q, %e, 0xb4; @%q lop3.b32 %d, %a, %b, %c, 0xb4; "},
    {"atom_inc_u32", "st.global.b32 [%o], %a; atom.global.inc.u32 %t, [%o], %b; ld.global.b32 %d, [%o];"},
    {"atom_dec_u32", "st.global.b32 [%o], %a; atom.global.dec.u32 %t, [%o], %b; ld.global.b32 %d, [%o];"},
};
static const uint8_t lop3_tables[8] = {0x01, 0xe8, 0x96, 0xca, 0x0f, 0x35, 0x7e, 0xb4};

/* ---- which operation, which mode ---- */
static const struct {
    const char *word;
    uint32_t mode;
} modifiers[] = {{"rn", 0},
                 {"rni", 0},
                 {"rz", SEM_RZ},
                 {"rzi", SEM_RZ},
                 {"rm", SEM_RM},
                 {"rmi", SEM_RM},
                 {"rp", SEM_RP},
                 {"rpi", SEM_RP},
                 {"rna", SEM_RNA},
                 {"ftz", SEM_FTZ},
                 {"sat", SEM_SAT},
                 {"relu", SEM_RELU},
                 {"NaN", SEM_NAN},
                 {"xorsign", SEM_XORSIGN_ABS},
                 {"abs", SEM_XORSIGN_ABS},
                 {"satfinite", SEM_SATFINITE}};

/* keep_ftz: some rows exist in their .ftz form alone and are named so. */
static int find_row(const char *text, bool keep_ftz, uint32_t *mode)
{
    char name[96] = "", word[32], tail[40] = "";
    const char *p = text;
    *mode = 0;
    bool integral = false;
    for (int n = 0; *p; n++) {
        size_t len = strcspn(p, ".");
        snprintf(word, sizeof(word), "%.*s", (int)len, p);
        p += len + (p[len] == '.');
        bool modifier = false;
        for (size_t i = 0; n > 0 && i < sizeof(modifiers) / sizeof(modifiers[0]); i++) {
            if (strcmp(word, modifiers[i].word) == 0 && !(keep_ftz && strcmp(word, "ftz") == 0)) {
                *mode |= modifiers[i].mode;
                integral |= strlen(word) == 3 && word[0] == 'r' && word[2] == 'i';
                modifier = true;
            }
        }
        if (modifier)
            continue;
        if (strncmp(text, "prmt", 4) == 0 && n == 1) { /* prmt.b32.f4e is written type first */
            snprintf(tail, sizeof(tail), "_%s", word);
            continue;
        }
        if (strncmp(text, "cvt.pack", 8) == 0 && strcmp(word, "b32") == 0)
            continue;
        size_t at = strlen(name);
        snprintf(name + at, sizeof(name) - at, "%s%s", at ? "_" : "", word);
    }
    size_t at = strlen(name);
    snprintf(name + at, sizeof(name) - at, "%s", tail);
    if (strncmp(text, "cvt.pack", 8) == 0)
        *mode = 0;
    if (integral && (strstr(name, "f32_f32") || strstr(name, "f64_f64") || strstr(name, "f16_f16") ||
                     strstr(name, "bf16_bf16")))
        *mode |= SEM_INTEGRAL;
    return mg__sem_find(name);
}

static bool add_case(struct alu_list *list, const char *text, const char *operands, const char *body, int op,
                     uint32_t mode)
{
    if ((list->count & (list->count + 1)) == 0) {
        struct alu_case *grown = realloc(list->at, (2 * list->count + 2) * sizeof(*grown));
        if (!grown)
            return false;
        list->at = grown;
    }
    struct alu_case *c = &list->at[list->count++];
    memset(c, 0, sizeof(*c));
    snprintf(c->text, sizeof(c->text), "%s", text);
    snprintf(c->operands, sizeof(c->operands), "%s", operands);
    c->body = body;
    c->op = op;
    c->mode = mode;
    return true;
}
static const char *skip_group(const char *p) /* from a '{' to its '}' */
{
    for (int depth = 0;; p++) {
        depth += (*p == '{') - (*p == '}');
        if (depth == 0)
            return p;
    }
}
static bool expand(struct alu_list *list, const char *pattern, const char *operands, char wrong[96])
{
    const char *open = strchr(pattern, '{');
    if (!open) {
        uint32_t mode;
        int op = find_row(pattern, true, &mode);
        if (op < 0)
            op = find_row(pattern, false, &mode);
        if (op < 0) {
            snprintf(wrong, 96, "%s", pattern);
            return false;
        }
        return add_case(list, pattern, operands, NULL, op, mode);
    }
    const char *close = skip_group(open);
    for (const char *p = open + 1;; p++) {
        const char *end = p;
        while (*end != '|' && *end != '}')
            end = *end == '{' ? skip_group(end) + 1 : end + 1;
        char text[256];
        snprintf(text, sizeof(text), "%.*s%.*s%s", (int)(open - pattern), pattern, (int)(end - p), p, close + 1);
        if (!expand(list, text, operands, wrong))
            return false;
        p = end;
        if (*p == '}')
            return true;
    }
}
bool alu_cases(struct alu_list *list, char wrong[96])
{
    list->at = NULL;
    list->count = 0;
    wrong[0] = 0;
    for (size_t i = 0; i < sizeof(patterns) / sizeof(patterns[0]); i++) {
        if (!expand(list, patterns[i].text, patterns[i].operands, wrong))
            return false;
    }
    for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
        int op = mg__sem_find(bodies[i].row);
        if (op < 0) {
            snprintf(wrong, 96, "%s", bodies[i].row);
            return false;
        }
        if (!add_case(list, bodies[i].row, "", bodies[i].body, op, 0))
            return false;
    }
    return true;
}
void alu_free(struct alu_list *list)
{
    free(list->at);
    list->at = NULL;
    list->count = 0;
}

/* ---- kernels ---- */
static const char *const width[] = {"", "b32", "b16", "b32", "b64"};

void alu_module(FILE *out, const struct alu_case *cases, size_t first, size_t count)
{
    fprintf(out, ".version 8.3\n.target sm_90\n.address_size 64\n");
    for (size_t k = first; k < first + count; k++) {
        const struct alu_case *c = &cases[k];
        const struct mg_sem_row *row = &mg_sem_rows[c->op];
        fprintf(out, "// %s\n.visible .entry k%zu(.param .u64 in, .param .u64 out)\n{\n", c->text, k);
        fprintf(out, ".reg .b64 %%i, %%o, %%x, %%t64;\n.reg .b32 %%n, %%m, %%t, %%cc;\n.reg .pred %%q;\n");
        fprintf(out, "ld.param.u64 %%i, [in];\nld.param.u64 %%o, [out];\n");
        fprintf(out, "mov.u32 %%n, %%ctaid.x;\nmov.u32 %%m, %%ntid.x;\nmov.u32 %%t, %%tid.x;\n");
        fprintf(out, "mad.lo.u32 %%n, %%n, %%m, %%t;\n");
        fprintf(out, "mul.wide.u32 %%x, %%n, 32;\nadd.u64 %%i, %%i, %%x;\n");
        fprintf(out, "mul.wide.u32 %%x, %%n, 8;\nadd.u64 %%o, %%o, %%x;\n");
        static const char *const reg[] = {"%a", "%b", "%c", "%e"};
        for (int a = 0; a < row->nargs; a++) {
            const char *w = width[row->arg[a]];
            if (row->arg[a] == MG_SEM_B1) {
                fprintf(out, ".reg .pred %s;\nld.global.b32 %%cc, [%%i+%d];\n", reg[a], 8 * a);
                fprintf(out, "setp.ne.u32 %s, %%cc, 0;\n", reg[a]);
            } else {
                fprintf(out, ".reg .%s %s;\nld.global.%s %s, [%%i+%d];\n", w, reg[a], w, reg[a], 8 * a);
            }
        }
        bool pred = row->ret == MG_SEM_B1 && !c->body;
        fprintf(out, ".reg .%s %%d;\n", pred ? "pred" : width[row->ret]);
        if (c->body)
            fprintf(out, "%s\n", c->body);
        else
            fprintf(out, "%s %s;\n", c->text, c->operands);
        if (pred)
            fprintf(out, "selp.u64 %%x, 1, 0, %%d;\n");
        else if (row->ret == MG_SEM_B64)
            fprintf(out, "mov.b64 %%x, %%d;\n");
        else
            fprintf(out, "cvt.u64.u%s %%x, %%d;\n", width[row->ret] + 1);
        fprintf(out, "st.global.b64 [%%o], %%x;\nret;\n}\n");
    }
}

bool alu_is_exact(const struct alu_case *c)
{
    return !strstr(c->text, "approx") && !strstr(c->text, "full");
}
uint64_t alu_hash(uint64_t hash, uint64_t result)
{
    for (int i = 0; i < 8; i++)
        hash = (hash ^ (result >> (8 * i) & 0xff)) * 0x100000001b3u;
    return hash;
}

/* ---- inputs ---- */
static const uint64_t edges16[] = {
    0x0000, 0x8000, 0x0001, 0x8001, 0x0002, 0x0003, 0x0007, 0x0008, 0x0010, 0x001f, 0x0020, 0x0040, 0x007f, 0x0080,
    0x00ff, 0x0100, 0x03ff, 0x0400, 0x83ff, 0x8400, 0x3800, 0x3c00, 0xbc00, 0x3c01, 0x3bff, 0x3f80, 0xbf80, 0x3f81,
    0x4000, 0x4f00, 0x5bff, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7c01, 0x7e00, 0xfe00, 0x7f7f, 0xff7f, 0x7f80, 0xff80,
    0x7f81, 0x7fc0, 0xffc0, 0x7fff, 0xffff, 0x0fff, 0xfffe};
static const uint64_t edges32[] = {
    0x00000000, 0x80000000, 0x00000001, 0x80000001, 0x00000002, 0x00000003, 0x00000007, 0x00000008, 0x00000010,
    0x0000001f, 0x00000020, 0x00000021, 0x0000003f, 0x00000040, 0x0000007f, 0x00000080, 0x000000ff, 0x00000100,
    0x00007fff, 0x00008000, 0x0000ffff, 0x00010000, 0x007fffff, 0x00800000, 0x807fffff, 0x80800000, 0x00ffffff,
    0x3f800000, 0xbf800000, 0x3f800001, 0x3f7fffff, 0x3f000000, 0xbf000000, 0x3fc00000, 0x40200000, 0x40490fdb,
    0x42fe0000, 0x43000000, 0x437f8000, 0x43800000, 0x46fffe00, 0x477fe000, 0x477ff000, 0x4b000000, 0x4b7fffff,
    0x4effffff, 0x4f000000, 0xcf000000, 0x4f800000, 0x5f000000, 0xdf000000, 0x5f800000, 0x7e800000, 0x7f000000,
    0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7f800001, 0x7fc00000, 0xffc00001, 0x7fffffff, 0xffffffff,
    0xfffffffe, 0x33000000, 0x33800000, 0x387fffff, 0x477ff001, 0xc2fc0000, 0xc3150000};
static const uint64_t edges64[] = {0x0000000000000000,
                                   0x8000000000000000,
                                   0x0000000000000001,
                                   0x8000000000000001,
                                   0x0000000000000002,
                                   0x0000000000000003,
                                   0x000000000000001f,
                                   0x0000000000000020,
                                   0x0000000000000040,
                                   0x00000000ffffffff,
                                   0x0000000100000000,
                                   0x000fffffffffffff,
                                   0x0010000000000000,
                                   0x800fffffffffffff,
                                   0x8010000000000000,
                                   0x3ff0000000000000,
                                   0xbff0000000000000,
                                   0x3ff0000000000001,
                                   0x3fefffffffffffff,
                                   0x3fe0000000000000,
                                   0x3ff8000000000000,
                                   0x4004000000000000,
                                   0x400921fb54442d18,
                                   0x40efffffffffffff,
                                   0x40f0000000000000,
                                   0x41dfffffffc00000,
                                   0x41dfffffffe00000,
                                   0x41e0000000000000,
                                   0xc1e0000000000000,
                                   0x41efffffffe00000,
                                   0x41f0000000000000,
                                   0x43e0000000000000,
                                   0xc3e0000000000000,
                                   0x43f0000000000000,
                                   0x47efffffe0000000,
                                   0x47efffffefffffff,
                                   0x47effffff0000000,
                                   0x3810000000000000,
                                   0x380fffffffffffff,
                                   0x36a0000000000000,
                                   0x3690000000000000,
                                   0x3690000000000001,
                                   0x7fefffffffffffff,
                                   0xffefffffffffffff,
                                   0x7ff0000000000000,
                                   0xfff0000000000000,
                                   0x7ff0000000000001,
                                   0x7ff8000000000000,
                                   0x7ff8000000001234,
                                   0xfff8000000000001,
                                   0x7fffffffffffffff,
                                   0xffffffffffffffff,
                                   0xfffffffffffffffe,
                                   0x7f80000000000000,
                                   0x7fd0000000000000,
                                   0x40effdffffffffff,
                                   0x40effe0000000000,
                                   0x380fffffe0000000,
                                   0x380ffffff0000000,
                                   0x380fffffefffffff,
                                   0x380ffffff8000000,
                                   0x380fffffffffffff,
                                   0x3f0ffe0000000000,
                                   0x3f0fff0000000000};

static uint64_t next(uint64_t *state) /* splitmix64 */
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15u);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}
/* A random value of a carrier: raw bits, a small integer, a float of middling exponent, a float near the smallest. */
static uint64_t random_value(unsigned carrier, uint64_t *state)
{
    uint64_t r = next(state), kind = next(state) % 8;
    switch (carrier) {
    case MG_SEM_B1:
        return r & 1;
    case MG_SEM_B16:
        if (kind < 5)
            return r & 0xffff;
        if (kind == 5)
            return (r & 0x83ff) | 0x3800 | (r >> 20 & 0x0c00);
        return kind == 6 ? r & 0x7f : (uint16_t)(0 - (r & 0x7f));
    case MG_SEM_B32:
        if (kind < 3)
            return r & 0xffffffff;
        if (kind == 3)
            return (uint32_t)(r & 0x807fffff) | (uint32_t)(0x78 + (r >> 40) % 16) << 23;
        if (kind == 4)
            return (uint32_t)(r & 0x807fffff) | (uint32_t)((r >> 40) % 4 * ((r >> 50) % 40)) << 23;
        if (kind == 5) /* two halves near one */
            return (uint32_t)((r & 0x83ff83ff) | 0x38003800 | (r >> 20 & 0x0c000c00));
        if (kind == 6)
            return r & 0x7f;
        return (uint32_t)(0 - (r & 0xff)) << (r >> 60);
    default:
        if (kind < 3)
            return r;
        if (kind == 3)
            return (r & 0x800fffffffffffff) | (uint64_t)(0x3f8 + (r >> 52) % 16) << 52;
        if (kind == 4)
            return (r & 0x800fffffffffffff) | (uint64_t)((r >> 40) % 4 * ((r >> 50) % 40)) << 52;
        if (kind == 5) /* in and around f32's range, often just beside a value of it */
            return (r & 0x800fffffe0000000) | (uint64_t)(0x360 + (r >> 20) % 0x120) << 52 |
                   (uint64_t)((int64_t)(r >> 8 & 7) - 3 > 0 ? (r >> 8 & 7) : 0x10000000 + (r >> 11 & 1));
        if (kind == 6)
            return r & 0x7f;
        return (uint64_t)(int64_t)(int32_t)(uint32_t)r;
    }
}
void alu_input(const struct alu_case *c, uint32_t i, uint32_t n, uint64_t slots[4])
{
    const struct mg_sem_row *row = &mg_sem_rows[c->op];
    uint64_t state = ((uint64_t)i << 32) ^ 0x1234567u;
    for (const char *p = row->name; *p; p++)
        state = state * 31 + (uint8_t)*p;
    memset(slots, 0, 4 * sizeof(slots[0]));
    uint32_t edge = i;
    for (int a = 0; a < row->nargs; a++) {
        const uint64_t *edges = row->arg[a] == MG_SEM_B16 ? edges16 : row->arg[a] == MG_SEM_B64 ? edges64 : edges32;
        uint32_t count = (uint32_t)(row->arg[a] == MG_SEM_B16   ? sizeof(edges16)
                                    : row->arg[a] == MG_SEM_B64 ? sizeof(edges64)
                                                                : sizeof(edges32)) /
                         8;
        bool use_edge = i < n / 2;
        if (row->nargs == 1) {
            edge = i;
            use_edge = i < count;
        } else if (i < n / 2) {
            edge = (uint32_t)next(&state);
            use_edge = next(&state) % 4 != 0;
        }
        slots[a] = use_edge ? edges[edge % count] : random_value(row->arg[a], &state);
        if (row->arg[a] == MG_SEM_B1)
            slots[a] &= 1;
        if (row->arg[a] == MG_SEM_B32 && row->ret != MG_SEM_B64 && use_edge && (i & 1) && strstr(row->name, "16x2"))
            slots[a] = edges16[edge % 49] << 16 | edges16[(edge >> 8) % 49];
    }
    if (strcmp(row->name, "lop3_b32") == 0)
        slots[3] = lop3_tables[next(&state) & 7];
    if (strcmp(row->name, "fns_b32") == 0) { /* PTX ISA: a base outside of the word is undefined */
        slots[1] &= 31;
        slots[2] ^= slots[2] == 0x80000000; /* and so is what the magnitude of this offset would be */
    }
    if ((c->mode & SEM_FTZ) && row->nargs > 1 && i % 8 == 5) { /* results around the smallest normal number */
        uint64_t r = next(&state);
        bool half = strstr(row->name, "f16") != NULL;
        uint32_t one = half ? 0x3c003c00 : 0x3f800000, least = half ? 0x04000400 : 0x00800000;
        uint32_t step = half ? 0x00010001 : 1, mask = half ? 0xffff : 0xffffffff;
        if (row->arg[0] == MG_SEM_B32 && half)
            mask = 0xffffffff;
        slots[0] = (one + step * (2 - (uint32_t)(r & 7))) & mask;
        slots[1] = (least + step * (uint32_t)(r >> 8 & 3)) & mask;
        if (strncmp(row->name, "div", 3) == 0) {
            slots[1] = slots[0];
            slots[0] = least + (uint32_t)(r >> 8 & 3);
        }
        if (row->nargs > 2 && (r & 0x10000))
            slots[2] = (r & 0x20000) ? least & mask : 0;
        slots[0] ^= (r & 0x40000) ? (half ? 0x80008000 : 0x80000000) & mask : 0;
    }
    for (int a = 0; a < row->nargs; a++)
        slots[a] &= row->arg[a] == MG_SEM_B16 ? 0xffff : ~(uint64_t)0;
}
