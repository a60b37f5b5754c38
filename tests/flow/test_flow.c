/* test_flow.c - facts about kernels written by hand, with what is expected beside them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "flow/flow.h"

struct built {
    struct mg_ptx_module *module;
    const struct mg_ptx_func *func;
    struct mg_cfg *cfg;
    struct mg_flow_shared shared;
    struct mg_flow_values values;
};

static struct mg_ptx_module *parse(const char *text)
{
    struct mg_ptx_module *module;
    struct mg_diag diag;
    struct mg_strbuf all = {0};
    assert_true(mg__strbuf_printf(&all, ".version 8.8\n.target sm_90\n.address_size 64\n%s", text));
    if (mg__ptx_parse(all.at, all.count, &module, &diag) != MG_OK)
        fail_msg("%u: %s\n%s", diag.line, diag.message, diag.excerpt);
    mg__strbuf_free(&all);
    return module;
}

#define HEAD                                                                                                           \
    ".visible .entry k(.param .u64 p, .param .u64 q, .param .u64 n) {\n"                                               \
    ".reg .pred c, e; .reg .b16 h; .reg .b32 a, b, d, i, t; .reg .b64 A, B, D;\n.shared .align 16 .b8 s[64], u[64];\n" \
    ".local .align 8 .b8 l[64];\n"

static struct built build(const char *body)
{
    struct built b;
    struct mg_strbuf text = {0};
    assert_true(mg__strbuf_printf(&text, HEAD "%s\n}\n", body));
    b.module = parse(text.at);
    mg__strbuf_free(&text);
    b.func = mg__ptx_find_func(b.module, "k");
    assert_int_equal(mg__cfg_build(b.func, &b.cfg), MG_OK);
    assert_true(mg__flow_shared(b.module, &b.func, 1, &b.shared));
    assert_true(mg__flow_values(b.func, b.cfg, &b.shared, &b.values));
    return b;
}

static void drop(struct built *b);

/* Of each result all that the instruction reads is noted: more pairs than there are operands. */
static void many_results(void **state)
{
    struct mg_strbuf text = {0};
    (void)state;
    assert_true(mg__strbuf_printf(&text, ".reg .f32 x<8>, y<8>; .reg .b32 m<8>, o<8>;\n"));
    for (int k = 0; k < 8; k++)
        assert_true(
            mg__strbuf_printf(&text, "mov.b32 m%d, %d; mov.b32 o%d, %d; mov.f32 x%d, 0f00000000;\n", k, k, k, k, k));
    assert_true(mg__strbuf_printf(&text, "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32 {y0,y1,y2,y3,y4,y5,y6,y7}, "
                                         "{m0,m1,m2,m3,m4,m5,m6,m7}, {o0,o1,o2,o3,o4,o5,o6,o7}, "
                                         "{x0,x1,x2,x3,x4,x5,x6,x7};\nret;"));
    struct built b = build(text.at);
    assert_true(b.values.through.nlinks >= 8 * 24);
    drop(&b);
    mg__strbuf_free(&text);
}

static void drop(struct built *b)
{
    mg__flow_values_free(&b->values);
    mg__flow_shared_free(&b->shared);
    mg__cfg_free(b->cfg);
    mg__ptx_free(b->module);
}

static uint32_t reg_of(const struct built *b, const char *name)
{
    for (uint32_t r = 0; r < b->func->nregs; r++)
        if (!strcmp(b->func->regs[r].name, name))
            return r;
    fail_msg("no register %s", name);
    return 0;
}

/* ---- liveness ---- */
/* The registers that are live where each block begins: "a b|c". */
static void expect_live(const char *body, const char *expected)
{
    struct built b = build(body);
    struct mg_flow_live l;
    struct mg_strbuf got = {0};
    assert_true(mg__flow_live(b.func, b.cfg, &l) && mg__strbuf_append(&got, "", 0));
    for (uint32_t k = 0; k < b.cfg->nblocks; k++) {
        mg__strbuf_printf(&got, "%s", k ? "|" : "");
        for (uint32_t r = 0; r < b.func->nregs; r++)
            if (mg__flow_holds(&l.in[l.words * k], r))
                mg__strbuf_printf(&got, "%s", b.func->regs[r].name);
    }
    assert_string_equal(got.at, expected);
    mg__strbuf_free(&got);
    mg__flow_live_free(&l);
    drop(&b);
}

static void liveness(void **state)
{
    (void)state;
    expect_live("mov.u32 a, 1; st.shared.u32 [s], a; ret;", "");
    expect_live("st.shared.u32 [s], a; ret;", "a"); /* read without having been written */
    expect_live("setp.eq.u32 c, a, 1; @c mov.u32 b, 1; st.shared.u32 [s], b; ret;", "ab"); /* a guard may be false */
    expect_live("setp.eq.u32 c, a, 1; @c bra L; mov.u32 b, 1; bra M; L: mov.u32 b, 2; M: st.shared.u32 [s], b; ret;",
                "a|||b");
    expect_live("mov.u32 a, 0; L: add.u32 a, a, d; setp.lt.u32 c, a, 9; @c bra L; ret;", "d|ad|"); /* round the loop */
    expect_live("mov.b64 A, {a, b}; mov.b64 {d, _}, A; st.shared.v2.u32 [t], {d, i}; ret;", "abit");
}

/* ---- low bits, lanes ---- */
static void expect_register(const char *body, const char *name, unsigned zeros, bool varies)
{
    struct built b = build(body);
    uint32_t r = reg_of(&b, name);
    if (b.values.zeros[r] != zeros || b.values.varies[r] != varies)
        fail_msg("%s: %u zeros, varies: %d", body, b.values.zeros[r], b.values.varies[r]);
    drop(&b);
}

static void registers(void **state)
{
    (void)state;
    expect_register("mov.u32 a, %tid.x;", "a", 0, true);
    expect_register("mov.u32 a, %ctaid.x; shl.b32 b, a, 3;", "b", 3, false);
    expect_register("mov.u32 a, %tid.x; mul.lo.u32 b, a, 24; add.u32 d, b, 4;", "d", 2, true);
    expect_register("mov.u32 a, %tid.x; and.b32 b, a, -8;", "b", 3, true);
    expect_register("mov.u32 a, %tid.x; mul.wide.u32 A, a, 48; ld.param.u64 B, [n]; and.b64 D, B, A;", "D", 4, true);
    expect_register("mov.u32 a, 16; mul.hi.u32 b, a, 32;", "b", 0, false);
    expect_register("mov.u32 a, 16; add.sat.s32 b, a, 2147483632;", "b", 0, false); /* 2147483647 */
    expect_register("mov.u32 a, 16; @c mov.u32 a, 8;", "a", 3, true);               /* of all definitions */
    expect_register("mov.u32 a, 0; L: add.u32 a, a, 12; bra L;", "a", 2, true);
    expect_register("mov.u32 a, s; add.u32 b, a, 32;", "b", 5, false);
    expect_register("mov.b32 a, 0f40000000; mul.f32 b, a, a;", "b", 0, false); /* no integers */
    expect_register("ld.param.u32 a, [n]; ld.shared.u32 b, [s]; add.u32 d, a, b;", "d", 0, false);
    expect_register("ld.local.u32 a, [l];", "a", 0, true); /* threads' own */
    expect_register("setp.eq.u32 c|e, a, 1; mov.u32 a, %tid.x;", "e", 0, true);
    expect_register("mov.u32 a, 1; setp.eq.u32 c, a, 1; vote.sync.ballot.b32 b, c, -1;", "b", 0, true);
    expect_register("mov.u32 a, 7; shfl.sync.idx.b32 b, a, 0, 31, -1;", "b", 0, false);
    expect_register("mov.u32 b, 1; atom.shared.add.u32 a, [s], b;", "a", 0, true);
}

/* ---- linear forms ---- */
static void describe(const struct built *b, const struct mg_flow_form *f, struct mg_strbuf *out)
{
    mg__strbuf_printf(out, "%lld", (long long)f->add);
    if (f->var)
        mg__strbuf_printf(out, " %s", f->var->name);
    for (unsigned i = 0; i < f->nterms; i++) {
        const struct mg_flow_term *t = &f->term[i];
        mg__strbuf_printf(out, " %lld", (long long)t->times);
        if (t->kind == MG_FLOW_TERM_REG)
            mg__strbuf_printf(out, "%s@%u", b->func->regs[t->index].name, t->at);
        else if (t->kind == MG_FLOW_TERM_PARAM)
            mg__strbuf_printf(out, "[%u]", t->index);
        else
            mg__strbuf_printf(out, "%s", mg__ptx_sreg_name((enum mg_ptx_sreg)t->index, t->at));
    }
}

/* Of the address of the last access of the kernel. */
static void expect_form(const char *body, const char *expected)
{
    struct built b = build(body);
    struct mg_strbuf got = {0};
    struct mg_flow_form form;
    uint32_t i = (uint32_t)b.func->ninsns;
    while (!mg__ptx_accesses(&b.func->insns[--i]))
        ;
    const struct mg_ptx_insn *insn = &b.func->insns[i];
    if (!mg__flow_form(&b.values, i, mg__ptx_op(b.func, insn, insn->address), &form))
        mg__strbuf_printf(&got, "none");
    else
        describe(&b, &form, &got);
    if (strcmp(got.at, expected))
        fail_msg("%s: \"%s\", expected \"%s\"", body, got.at, expected);
    mg__strbuf_free(&got);
    drop(&b);
}

static void forms(void **state)
{
    (void)state;
    expect_form("mov.u32 a, %tid.x; mov.u32 b, s; mad.lo.u32 d, a, 4, b; st.shared.u32 [d+8], a;", "8 s 4%tid.x");
    expect_form("ld.param.u64 A, [p]; mov.u32 a, %tid.y; cvt.u64.u32 B, a; shl.b64 B, B, 2; add.s64 D, A, B;\n"
                "st.global.u32 [D-4], a;",
                "-4 1[0] 4%tid.y");
    expect_form("mov.u32 a, %tid.x; or.b32 b, a, 4; st.shared.u32 [b], a;", "0 1b@2"); /* bits may be there */
    expect_form("mov.u32 a, %tid.x; shl.b32 b, a, 3; or.b32 d, b, 4; st.shared.u32 [d], a;", "4 8%tid.x");
    expect_form("sub.u32 b, 64, a; sub.u32 d, b, a; st.shared.u32 [d], a;", "64 -2a@0");
    expect_form("st.shared.u32 [u+4], a;", "4 u");
    /* PTX is not SSA: a definition is seen through where it is what was executed last, on every path, and no longer
     * than what it reads stays */
    expect_form("add.u32 b, a, 4; add.u32 a, a, 1; st.shared.u32 [b], d;", "4 1a@0");
    expect_form("add.u32 b, a, 4; @c bra L; L: st.shared.u32 [b], d;", "4 1a@0");
    expect_form("add.u32 b, a, 4; @c add.u32 a, a, 1; L: @c bra L; st.shared.u32 [b], d;", "0 1b@0");
    expect_form("@c bra L; add.u32 b, a, 4; L: st.shared.u32 [b], d;", "0 1b@0");
    expect_form("@c add.u32 b, a, 4; st.shared.u32 [b], d;", "0 1b@1");
    expect_form("L: add.u32 b, a, 4; @c bra M; bra L; M: add.u32 a, a, 1; st.shared.u32 [b], d;", "4 1a@0");
    expect_form("L: @c add.u32 i, i, 4; @e bra L; add.u32 b, i, 4; st.shared.u32 [b], d;", "4 1i@0");
    expect_form("add.u32 a, a, 4; st.shared.u32 [a], d;", "4 1a@0");
    expect_form("L: add.u32 a, a, 4; @c bra L; st.shared.u32 [a], d;", "0 1a@0");
    expect_form("add.u16 h, h, 1; cvt.u32.u16 a, h; st.shared.u32 [a], d;", "0 1a@2"); /* wraps elsewhere */
    expect_form("mul.wide.u32 A, a, 4; st.global.u32 [A], d;", "0 1A@1");
    expect_form("mov.b64 A, {a, b}; st.global.u32 [A], d;", "0 1A@1");
}

/* ---- definitions and uses ---- */
static void chains(void **state)
{
    (void)state;
    struct built b = build("mov.u32 a, 1; add.u32 a, a, a; st.shared.v2.u32 [d], {a, b}; @c mov.u32 a, 2; ret;");
    const struct mg_flow_chains *c = &b.values.chains;
    uint32_t a = reg_of(&b, "a"), p = reg_of(&b, "c");
    const uint32_t defs[] = {0, 1, 3}, uses[] = {1, 1, 2};
    assert_int_equal(mg__flow_ndefs(c, a), 3);
    assert_memory_equal(&c->defs[c->def_at[a]], defs, sizeof defs);
    assert_int_equal(c->use_at[a + 1] - c->use_at[a], 3);
    assert_memory_equal(&c->uses[c->use_at[a]], uses, sizeof uses);
    assert_int_equal(mg__flow_ndefs(c, p), 0);
    assert_true(mg__flow_is_read(c, p) && c->uses[c->use_at[p]] == 3);
    drop(&b);
}

/* ---- loads that are chosen afterwards ---- */
/* Of the first load: "c at 3", "!c at 3", or "". */
static void expect_choice(const char *body, const char *expected)
{
    struct built b = build(body);
    struct mg_flow_choice *choices = calloc(b.func->ninsns + 1, sizeof *choices);
    char got[64] = "";
    size_t k = 0;
    assert_non_null(choices);
    mg__flow_choices(b.func, b.cfg, &b.values.chains, choices);
    while (b.func->insns[k].access != MG_ACCESSES_LOAD)
        k++;
    if (choices[k].at)
        snprintf(got, sizeof got, "%s%s at %u", choices[k].when ? "" : "!", b.func->regs[choices[k].predicate].name,
                 choices[k].at);
    if (strcmp(got, expected))
        fail_msg("%s: %s, expected %s", body, got, expected);
    free(choices);
    drop(&b);
}

static void choices(void **state)
{
    (void)state;
#define SET "setp.eq.u32 c, t, 0; " /* instruction 0 */
    expect_choice(SET "ld.shared.u32 a, [s]; selp.b32 d, a, i, c;", "c at 2");
    expect_choice(SET "ld.shared.u32 a, [s]; selp.b32 d, i, a, c;", "!c at 2");
    expect_choice("ld.shared.u32 a, [s]; add.u32 b, a, 1; " SET "selp.b32 d, b, 0, c;", "c at 3");
    expect_choice(SET "ld.shared.v2.u32 {a, b}, [s]; add.u32 d, a, b; selp.b32 i, d, 0, c;", "c at 3");
    expect_choice(SET "ld.shared.u32 a, [s]; @c bra L; ret; L: st.shared.u32 [u], a;", "c at 2");
    expect_choice(SET "ld.shared.u32 a, [s]; @c bra L; st.shared.u32 [u], a; L: ret;", "!c at 2");
    expect_choice(SET "ld.shared.u32 a, [s]; @c bra L; st.shared.u32 [u], a; L: st.shared.u32 [s], a;", "");
    expect_choice(SET "ld.shared.u32 a, [s]; selp.b32 d, a, a, c;", "");
    expect_choice(SET "ld.shared.u32 a, [s]; selp.b32 d, a, 0, c; add.u32 b, a, d;", "c at 2"); /* nobody uses b */
    expect_choice(SET "ld.shared.u32 a, [s]; selp.b32 d, a, 0, c; st.shared.u32 [u], a;", "");
    expect_choice(SET "ld.shared.u32 a, [s]; selp.b32 d, a, 0, c; selp.b32 b, 0, a, c; st.shared.u32 [u], b;", "");
    expect_choice(SET "ld.shared.u32 a, [s]; selp.b32 d, a, 0, c; selp.b32 b, a, 0, e; st.shared.u32 [u], b;", "");
    expect_choice("ld.shared.u32 a, [s]; setp.eq.u32 c, a, 0; selp.b32 d, a, 0, c; st.shared.u32 [u], d;", "");
    expect_choice(SET "ld.shared.u32 a, [s]; bar.sync 0; selp.b32 d, a, 0, c;", ""); /* others may notice */
    expect_choice(SET "ld.shared.u32 a, [s]; st.shared.u32 [s], i; selp.b32 d, a, 0, c;", "");
    expect_choice(SET "@c ld.shared.u32 a, [s]; selp.b32 d, a, 0, c;", "");
    expect_choice("L: ld.shared.u32 a, [s]; selp.b32 d, a, 0, c; " SET "@e bra L;", ""); /* another round's */
    expect_choice("setp.eq.u32 c, t, 0; setp.ne.u32 c, i, 0; ld.shared.u32 a, [s]; selp.b32 d, a, 0, c;", "");
}

/* ---- origins ---- */
static bool is_pointer(const void *arg, uint64_t offset)
{
    (void)arg;
    return offset < 16; /* p and q; n is a number */
}

/* "p", "q" or a variable's name, "number", "several"; " or memory". */
static void expect_origin(const char *body, const char *name, const char *expected)
{
    struct built b = build(body);
    struct mg_flow_origin *regs = calloc(b.func->nregs, sizeof *regs);
    char got[64];
    assert_non_null(regs);
    mg__flow_origins(b.func, is_pointer, NULL, regs);
    struct mg_flow_origin from = regs[reg_of(&b, name)];
    snprintf(got, sizeof got, "%s%s",
             from.kind == MG_FLOW_NUMBER     ? "number"
             : from.kind == MG_FLOW_VARIABLE ? from.var->name
             : from.kind == MG_FLOW_POINTER  ? b.func->params[from.offset / 8]->name
                                             : "several",
             from.some ? " or memory" : "");
    if (strcmp(got, expected))
        fail_msg("%s: %s, expected %s", body, got, expected);
    free(regs);
    drop(&b);
}

static void origins(void **state)
{
    (void)state;
#define LOAD "ld.param.u64 A, [p]; ld.param.u64 B, [q]; "
    expect_origin(LOAD "cvta.to.global.u64 D, A; add.s64 D, D, 8;", "D", "p");
    expect_origin("ld.param.u64 B, [q]; mul.wide.u32 A, a, 4; add.s64 D, B, A;", "D", "q"); /* a product is a number */
    expect_origin(LOAD "selp.b64 D, A, B, c;", "D", "several");
    expect_origin(LOAD "sub.s64 D, A, B;", "D", "several");
    expect_origin(LOAD "shl.b64 D, A, 1;", "D", "several");
    expect_origin("ld.param.u64 A, [p]; ld.param.u64 B, [n]; mad.lo.s64 D, B, 8, A;", "D", "p");
    expect_origin(LOAD "ld.global.u64 D, [A];", "D", "number or memory");
    expect_origin(LOAD "ldu.global.u64 D, [A];", "D", "number or memory");
    expect_origin("ld.param.u64 A, [p]; ld.global.u64 B, [A]; add.s64 D, A, B;", "D", "p"); /* an index */
    expect_origin(LOAD "ld.global.u64 B, [A]; mov.u64 D, B;", "D", "q or memory");
    expect_origin("mov.u32 a, s; add.u32 b, a, i;", "b", "s");
    expect_origin("mov.u32 a, s; @c mov.u32 a, u;", "a", "several");
    expect_origin("mov.u64 A, l; cvta.local.u64 D, A;", "D", "l");
    expect_origin(LOAD "setp.lt.u64 c, A, B; selp.b64 D, 1, 2, c;", "D", "number");
}

/* ---- shared memory ---- */
static void expect_layout(const char *text, const char *expected)
{
    struct mg_ptx_module *m = parse(text);
    struct mg_flow_shared s;
    struct mg_strbuf got = {0};
    const struct mg_ptx_func *funcs[4];
    size_t nfuncs = 0;
    for (const char *name = "kfg"; *name; name++) {
        const struct mg_ptx_func *f = mg__ptx_find_func(m, (char[2]){*name, 0});
        if (f)
            funcs[nfuncs++] = f;
    }
    assert_true(mg__flow_shared(m, funcs, nfuncs, &s));
    for (size_t i = 0; i < s.count; i++)
        mg__strbuf_printf(&got, "%s %llu ", s.order[i]->name, (unsigned long long)s.at[s.order[i]->id]);
    for (size_t i = 0; i < m->nvars; i++)
        if (m->vars[i]->unsized)
            mg__strbuf_printf(&got, "%s %llu ", m->vars[i]->name, (unsigned long long)s.at[i]);
    mg__strbuf_printf(&got, "of %llu", (unsigned long long)s.size);
    if (s.section != s.size)
        mg__strbuf_printf(&got, " in %llu", (unsigned long long)s.section);
    assert_string_equal(got.at, expected);
    mg__strbuf_free(&got);
    mg__flow_shared_free(&s);
    mg__ptx_free(m);
}

/* The offsets and the sections' sizes are those in the machine code that ptxas 13.0.88 made of these for sm_90. */
static void shared(void **state)
{
    (void)state;
#define G(own)                                                                                  \
    ".func g(.param .b64 a) { .reg .b32 r; .shared .align " own " .b8 go[20]; mov.u32 r, go;\n" \
    "st.shared.u32 [r], r; mov.u32 r, m3; st.shared.u32 [r], r; ret; }\n"
#define F                                                                                 \
    ".func f(.param .b64 a) { .reg .b32 r; .shared .align 4 .b8 fo[36]; mov.u32 r, fo;\n" \
    "st.shared.u32 [r], r; mov.u32 r, m2; st.shared.u32 [r], r; ret; }\n"
#define K(third)                                                                                             \
    ".visible .entry k() { .reg .b32 r; .shared .align 4 .b8 k1[4]; .shared .align 16 .b8 k2[100]; .shared " \
    ".align " third                                                                                          \
    " .b8 k3[8];\nmov.u32 r, m1; mov.u32 r, k1; mov.u32 r, k2; mov.u32 r, k3; mov.u32 r, dyn; ret; }\n"
#define DYN ".extern .shared .align 4 .b8 dyn[];\n"
    expect_layout(DYN ".shared .align 4 .b8 m1[12]; .shared .align 8 .b8 m2[24]; .shared .align 8 .b8 m3[40];\n" G("4")
                      F K("4"),
                  "k1 0 k2 16 k3 116 m1 124 m2 136 m3 160 go 200 fo 220 dyn 256 of 256");
    expect_layout(DYN ".shared .align 4 .b8 m1[12]; .shared .align 8 .b8 m2[24]; .shared .align 8 .b8 m3[40];\n"
                      ".func g(.param .b64 a);\n" F G("4") K("4"), /* in the order of their first declarations */
                  "k1 0 k2 16 k3 116 m1 124 m2 136 m3 160 go 200 fo 220 dyn 256 of 256");
    expect_layout(DYN ".shared .align 8 .b8 m3[40]; .shared .align 4 .b8 m1[12]; .shared .align 8 .b8 m2[24];\n" G("64")
                      F K("32"),
                  "k1 0 k2 16 k3 128 m3 136 m1 176 m2 192 go 256 fo 276 dyn 320 of 312 in 320");
    expect_layout(".extern .shared .align 128 .b8 dyn[];\n" /* what is not named takes no room */
                  ".visible .entry k() { .reg .b32 r; .shared .align 4 .b8 k0[64]; .shared .align 4 .b8 k1[36];\n"
                  "mov.u32 r, k1; mov.u32 r, dyn; ret; }",
                  "k1 0 dyn 128 of 36 in 128");
    expect_layout(".extern .shared .align 16 .b8 dyn[];\n" /* rounded though the entry does not name it */
                  ".visible .entry k() { .reg .b32 r; .shared .align 64 .b8 k0[65]; mov.u32 r, k0; ret; }",
                  "k0 0 dyn 80 of 65 in 80");
    expect_layout(".visible .entry k() { .reg .b32 r; .shared .align 64 .b8 k0[65]; mov.u32 r, k0; ret; }",
                  "k0 0 of 65");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(many_results), cmocka_unit_test(liveness),
                                       cmocka_unit_test(registers),    cmocka_unit_test(forms),
                                       cmocka_unit_test(chains),       cmocka_unit_test(choices),
                                       cmocka_unit_test(origins),      cmocka_unit_test(shared)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
