/* test_merge.c - mg__model_merge against what ptxas wrote: the cases of merge.cases, and what becomes of atomics. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/model_priv.h"
#include "ptx/ptx.h"

static const char CASE_HEAD[] =
    ".version 8.8\n.target sm_90\n.address_size 64\n%s\n"
    ".visible .entry k(.param .u64 p, .param .u32 q){\n"
    ".reg .b64 %%rd<19>; .reg .b32 %%r<49>; .reg .f32 %%f<49>; .reg .f64 %%d<19>; .reg .b16 %%h<9>; .reg .pred "
    "%%p<4>;\n"
    "%s\n"
    "ld.param.u64 %%rd18,[p]; cvta.to.global.u64 %%rd1,%%rd18; ld.param.u32 %%r20,[q];\n"
    "mov.u32 %%r1,%%tid.x; mul.wide.u32 %%rd4,%%r1,64; add.s64 %%rd3,%%rd1,%%rd4; mov.u32 %%r21,%%tid.y;\n"
    "%s\nret;}\n";

static const char *cases_path;

static struct mg_model_plan *plan_of(const char *module_text, const char *vars, const char *body,
                                     struct mg_ptx_module **module)
{
    struct mg_diag diag;
    struct mg_strbuf text = {0};
    assert_true(mg__strbuf_printf(&text, CASE_HEAD, module_text, vars, body));
    if (mg__ptx_parse(text.at, text.count, module, &diag) != MG_OK)
        fail_msg("line %u: %s\n%s", diag.line, diag.message, text.at);
    mg__strbuf_free(&text);
    const struct mg_ptx_func *func = mg__ptx_find_func(*module, "k");
    struct mg_flow_shared shared;
    assert_true(mg__flow_shared(*module, &func, 1, &shared));
    struct mg_model_plan *plan = mg__model_merge(func, &shared);
    mg__flow_shared_free(&shared);
    assert_non_null(plan);
    return plan;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* "ld16 ld4 st4": the shared accesses that are counted, sorted. */
static void describe(const struct mg_ptx_func *f, const struct mg_model_plan *plan, char out[1024])
{
    char words[64][16];
    size_t n = 0;
    for (size_t i = 0; i < f->ninsns && n < MG_COUNT(words); i++) {
        const struct mg_ptx_insn *insn = &f->insns[i];
        if (insn->space != MG_SPACE_SHARED || (insn->opcode != MG_OP_LD && insn->opcode != MG_OP_ST))
            continue;
        unsigned width = mg__ptx_type_size((enum mg_ptx_type)insn->type[insn->ntypes - 1]) * MG_MAX(insn->vec, 1);
        width = plan[i].changed ? plan[i].width : width;
        for (int k = 0; width && k < (plan[i].second ? 2 : 1); k++)
            snprintf(words[n++], sizeof(words[0]), "%s%u", insn->opcode == MG_OP_LD ? "ld" : "st", width);
    }
    qsort(words, n, sizeof(words[0]), by_text);
    out[0] = 0;
    for (size_t i = 0; i < n; i++)
        snprintf(out + strlen(out), 1024 - strlen(out), "%s%s", i ? " " : "", words[i]);
}

static const char *after(const char *line, const char *key)
{
    size_t n = strlen(key);
    return strncmp(line, key, n) ? NULL : line + n;
}

static void cases(void **state)
{
    (void)state;
    char *text;
    size_t size, count = 0, wrong = 0;
    struct mg_diag diag;
    assert_int_equal(mg__file_read(cases_path, 1 << 20, &text, &size, &diag), MG_OK);
    char name[128] = "", module_text[256] = "", vars[512] = "", sass[1024] = "", model[1024] = "";
    struct mg_strbuf body = {0};
    for (char *line = text, *next; line; line = next) {
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        const char *value;
        if (*line == '#')
            continue;
        if ((value = after(line, "case "))) {
            snprintf(name, sizeof(name), "%s", value);
            module_text[0] = vars[0] = sass[0] = model[0] = 0;
        } else if ((value = after(line, "module "))) {
            snprintf(module_text, sizeof(module_text), "%s", value);
        } else if ((value = after(line, "vars "))) {
            snprintf(vars, sizeof(vars), "%s", value);
        } else if ((value = after(line, "sass"))) {
            snprintf(sass, sizeof(sass), "%s", *value ? value + 1 : value);
        } else if ((value = after(line, "model "))) {
            snprintf(model, sizeof(model), "%.*s", (int)strcspn(value, ":"), value);
        } else if (*line) {
            assert_true(mg__strbuf_printf(&body, "%s\n", line));
        } else if (name[0]) {
            struct mg_ptx_module *module;
            char got[1024];
            struct mg_model_plan *plan = plan_of(module_text, vars, body.at ? body.at : "", &module);
            describe(mg__ptx_find_func(module, "k"), plan, got);
            free(plan);
            mg__ptx_free(module);
            const char *want = model[0] ? model : sass;
            if (strcmp(got, want)) {
                print_error("%s: \"%s\", expected \"%s\"\n", name, got, want);
                wrong++;
            }
            if (model[0] && !strcmp(model, sass)) {
                print_error("%s: no longer differs from ptxas\n", name);
                wrong++;
            }
            count++;
            name[0] = 0;
            mg__strbuf_free(&body);
            memset(&body, 0, sizeof(body));
        }
    }
    mg__strbuf_free(&body);
    free(text);
    assert_true(count > 100);
    assert_int_equal(wrong, 0);
}

static void atomics(void **state)
{
    (void)state;
    static const struct {
        const char *body;
        bool red; /* else an atomic with a result, be it read or not */
        enum mg_model_lanes lanes;
    } rows[] = {
        /* as ptxas 13.0 writes them for sm_90: RED or ATOM, with REDUX or VOTE before, or without */
        {"mov.u32 %r2,t; shl.b32 %r3,%r1,2; add.s32 %r4,%r2,%r3; atom.shared.add.u32 %r5,[%r4],1;", true,
         MG_MODEL_ALL_LANES},
        {"mov.u32 %r2,t; shl.b32 %r3,%r1,2; add.s32 %r4,%r2,%r3; atom.shared.add.u32 %r5,[%r4],1; st.global.u32 "
         "[%rd3],%r5;",
         false, MG_MODEL_ALL_LANES},
        {"atom.shared.add.u32 %r5,[t],%r1;", true, MG_MODEL_ONE_LANE},
        {"atom.shared.add.u32 %r5,[t],%r1; st.global.u32 [%rd3],%r5;", false, MG_MODEL_ONE_IF_FULL},
        {"atom.shared.add.u32 %r5,[t],%r20; st.global.u32 [%rd3],%r5;", false, MG_MODEL_ONE_LANE},
        {"atom.shared.max.u32 %r5,[t],%r1; st.global.u32 [%rd3],%r5;", false, MG_MODEL_ALL_LANES},
        {"red.shared.max.u32 [t],%r1;", true, MG_MODEL_ONE_LANE},
        {"red.shared.add.u64 [t],%rd4;", true, MG_MODEL_ALL_LANES},
        {"cvt.u64.u32 %rd9,%r20; red.shared.add.u64 [t],%rd9;", true, MG_MODEL_ONE_LANE},
        {"red.shared.add.f32 [t],%f1;", true, MG_MODEL_ALL_LANES},
        {"red.shared.inc.u32 [t],%r20;", true, MG_MODEL_ALL_LANES},
        {"red.global.add.u32 [%rd1],%r1;", true, MG_MODEL_ONE_LANE},
        {"red.global.add.u32 [%rd3],%r1;", true, MG_MODEL_ALL_LANES},
        {"ld.global.u32 %r8,[%rd1]; mov.u32 %r2,t; mad.lo.u32 %r9,%r8,4,%r2; red.shared.add.u32 [%r9],%r1;", true,
         MG_MODEL_ONE_LANE},
        {"mov.u32 %r2,t; mad.lo.u32 %r9,%r21,4,%r2; red.shared.add.u32 [%r9],%r1;", true, MG_MODEL_ALL_LANES},
        {"atom.shared.exch.b32 %r5,[t],%r20;", false, MG_MODEL_ALL_LANES},
        {"atom.global.release.gpu.add.u32 %r5,[%rd3],%r1;", true, MG_MODEL_ALL_LANES},
        {"atom.global.acquire.gpu.add.u32 %r5,[%rd3],%r1;", false, MG_MODEL_ALL_LANES},
        {"atom.global.acq_rel.gpu.max.u32 %r5,[%rd1],%r1;", false, MG_MODEL_ONE_LANE},
        {"atom.shared.acquire.cta.add.u32 %r5,[t],%r1;", true, MG_MODEL_ONE_LANE},
        {"atom.relaxed.gpu.add.u32 %r5,[%rd3],%r1;", false, MG_MODEL_ALL_LANES},
        {"atom.relaxed.gpu.add.u32 %r5,[%rd1],%r1;", false, MG_MODEL_ONE_LANE},
        {"red.relaxed.gpu.add.u32 [%rd3],1;", false, MG_MODEL_ALL_LANES},
    };
    for (size_t r = 0; r < MG_COUNT(rows); r++) {
        struct mg_ptx_module *module;
        struct mg_model_plan *plan = plan_of("", ".shared .align 16 .b8 t[4096];", rows[r].body, &module);
        const struct mg_ptx_func *f = mg__ptx_find_func(module, "k");
        size_t i = 0;
        while (i < f->ninsns && f->insns[i].opcode != MG_OP_ATOM && f->insns[i].opcode != MG_OP_RED)
            i++;
        assert_true(i < f->ninsns);
        bool counts = r == 0; /* the one row of a constant 1 without a result */
        const bool red = plan[i].kind == MG_ACCESS_RED;
        if (red != rows[r].red || plan[i].lanes != rows[r].lanes || plan[i].counts != counts)
            fail_msg("%s: red %d lanes %d", rows[r].body, red, plan[i].lanes);
        free(plan);
        mg__ptx_free(module);
    }
}

int main(int argc, char **argv)
{
    cases_path = argc > 1 ? argv[1] : "tests/model/merge.cases";
    const struct CMUnitTest tests[] = {cmocka_unit_test(cases), cmocka_unit_test(atomics)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
