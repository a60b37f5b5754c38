/* test_ptx.c - module scope: functions, parameters, variables, initialisers, locations, aliases. */
#include "ptx_test.h"

static void header_is_read(void **state)
{
    (void)state;
    struct mg_ptx_module *module = parse_ok("// c\n/* d\n */ .version 8.3\n.target sm_90a, debug\n.address_size 64\n");
    assert_int_equal(module->version_major, 8);
    assert_int_equal(module->version_minor, 3);
    assert_int_equal(module->target_sm, 90);
    assert_true(module->target_arch_specific);
    assert_int_equal(module->nfuncs + module->nvars, 0);
    free(round_trip(module));
    mg__ptx_free(module);
    mg__ptx_free(NULL);
}

static void a_nul_ends_the_text(void **state)
{
    (void)state;
    static const char text[] = HEAD "\0 garbage {";
    struct mg_ptx_module *module;
    assert_int_equal(mg__ptx_parse(text, sizeof(text) - 1, &module, NULL), MG_OK);
    mg__ptx_free(module);
}

static void kernel_parameters_are_laid_out(void **state)
{
    (void)state;
    struct mg_ptx_module *module =
        parse_ok(HEAD ".visible .entry k(.param .u8 a, .param .u64 .ptr .global .align 1 b, .param .align 4 .b8 c[5],\n"
                      ".param .f32 d, .param .align 16 .b8 e[20], .param .v2 .f32 f, .param .b16 g)\n"
                      ".maxntid 256, 2\n.minnctapersm 3 .maxnreg 40 .reqntid 64,1,1 { ret; }\n");
    const struct mg_ptx_func *k = mg__ptx_find_func(module, "k");
    static const uint64_t offsets[] = {0, 8, 16, 24, 32, 56, 64}, sizes[] = {1, 8, 5, 4, 20, 8, 2};
    assert_int_equal(k->nparams, 7);
    for (size_t i = 0; i < 7; i++) {
        assert_int_equal(k->params[i]->offset, offsets[i]);
        assert_int_equal(k->params[i]->size, sizes[i]);
        assert_true(k->params[i]->is_param && k->params[i]->owner == k);
    }
    assert_int_equal(k->param_size, 66);
    assert_true(k->is_entry && k->defined);
    assert_int_equal(k->linkage, MG_LINK_VISIBLE);
    assert_int_equal(k->maxntid[0], 256);
    assert_int_equal(k->maxntid[1], 2);
    assert_int_equal(k->maxntid[2], 1);
    assert_int_equal(k->reqntid[0], 64);
    assert_int_equal(k->minnctapersm, 3);
    assert_int_equal(k->maxnreg, 40);
    assert_false(k->explicitcluster);
    free(round_trip(module));
    mg__ptx_free(module);
}

static void cluster_directives_are_seen(void **state)
{
    (void)state;
    struct mg_ptx_module *module =
        parse_ok(HEAD ".entry k() .explicitcluster .reqnctapercluster 2, 3 .maxclusterrank 8 "
                      ".blocksareclusters { ret; }\n.entry j() { ret; }");
    const struct mg_ptx_func *k = module->funcs[0], *j = module->funcs[1];
    assert_true(k->explicitcluster && k->blocksareclusters);
    assert_int_equal(k->reqnctapercluster[0], 2);
    assert_int_equal(k->reqnctapercluster[1], 3);
    assert_int_equal(k->reqnctapercluster[2], 1);
    assert_int_equal(k->maxclusterrank, 8);
    assert_false(j->explicitcluster || j->blocksareclusters || j->maxclusterrank || j->reqnctapercluster[0]);
    free(round_trip(module));
    mg__ptx_free(module);
}

/* Whose line it is: outwards from the toolkit's headers to the user's, and no further. */
static void places(void **state)
{
    (void)state;
    struct mg_ptx_module *module = parse_ok(
        HEAD ".file 1 \"/home/a/x.cu\"\n.file 2 \"/usr/local/cuda/include/crt/mma.hpp\"\n.file 3 \"/home/a/own.cuh\"\n"
             ".file 4 \"/opt/nvidia/cu13/include/cub/block.cuh\"\n"
             ".entry k() {\n.loc 1 5 9\nbar.sync 0;\n"
             ".loc 2 91 3, function_name $f, inlined_at 1 6 2\nbar.sync 0;\n"
             ".loc 3 7 1, function_name $f, inlined_at 1 8 4\nbar.sync 0;\n"
             ".loc 2 92 3, function_name $f, inlined_at 3 7 1\nbar.sync 0;\n"
             ".loc 4 10 3\nbar.sync 0;\n.loc 2 93 3, function_name $f, inlined_at 4 10 3\nbar.sync 0;\nret; }\n"
             ".section .debug_str\n{\n$f:\n.b8 0\n}\n");
    static const struct mg_ptx_place want[] = {
        {"/home/a/x.cu", 5, 9, "", 0, "", 0},
        {"/home/a/x.cu", 6, 2, "/usr/local/cuda/include/crt/mma.hpp", 91, "", 0},
        {"/home/a/own.cuh", 7, 1, "", 0, "/home/a/x.cu", 8}, /* the user's own header is the user's */
        {"/home/a/own.cuh", 7, 1, "/usr/local/cuda/include/crt/mma.hpp", 92, "/home/a/x.cu", 8},
        {"/opt/nvidia/cu13/include/cub/block.cuh", 10, 3, "", 0, "", 0}, /* nobody of the user's called it */
        {"/opt/nvidia/cu13/include/cub/block.cuh", 10, 3, "/usr/local/cuda/include/crt/mma.hpp", 93, "", 0},
    };
    for (size_t i = 0; i < MG_COUNT(want); i++) {
        struct mg_ptx_place got = mg__ptx_place(module, module->funcs[0]->insns[i].loc);
        assert_string_equal(got.file, want[i].file);
        assert_int_equal(got.line, want[i].line);
        assert_int_equal(got.column, want[i].column);
        assert_string_equal(got.header, want[i].header);
        assert_int_equal(got.header_line, want[i].header_line);
        assert_string_equal(got.call, want[i].call);
        assert_int_equal(got.call_line, want[i].call_line);
    }
    assert_int_equal(mg__ptx_place(module, 0).line, 0);
    assert_int_equal(mg__ptx_place(module, UINT32_MAX).line, 0);
    mg__ptx_free(module);
}

static void declarations_merge_with_definitions(void **state)
{
    (void)state;
    struct mg_ptx_module *module =
        parse_ok(HEAD ".func (.param .b32 r) f (.param .b32 x);\n.extern .func g () .noreturn;\n"
                      ".visible .func (.param .b32 q) f (.param .b32 y) { ret; }\n"
                      ".extern .global .b32 v[4];\n.global .u64 to = v;\n.visible .global .b32 v[4] = {1, 2};\n");
    assert_int_equal(module->nfuncs, 2);
    const struct mg_ptx_func *f = mg__ptx_find_func(module, "f"), *g = mg__ptx_find_func(module, "g");
    assert_true(f->defined && !g->defined && g->noreturn);
    assert_int_equal(g->linkage, MG_LINK_EXTERN);
    assert_int_equal(f->linkage, MG_LINK_VISIBLE);
    assert_string_equal(f->params[0]->name, "y");
    assert_string_equal(f->rets[0]->name, "q");
    const struct mg_ptx_var *v = mg__ptx_find_var(module, "v"), *to = mg__ptx_find_var(module, "to");
    assert_int_equal(v->linkage, MG_LINK_VISIBLE);
    assert_ptr_equal(to->relocs[0].var, v);
    assert_null(mg__ptx_find_func(module, "v"));
    assert_null(mg__ptx_find_var(module, "f"));
    assert_null(mg__ptx_find_var(module, "nothing"));
    for (size_t i = 0; i < module->nvars; i++)
        assert_int_equal(module->vars[i]->id, i);
    free(round_trip(module));
    mg__ptx_free(module);
}

static void check_bytes(const struct mg_ptx_module *module, const char *name, const void *bytes, size_t size)
{
    const struct mg_ptx_var *var = mg__ptx_find_var(module, name);
    assert_non_null(var);
    assert_int_equal(var->size, size);
    assert_non_null(var->init);
    assert_memory_equal(var->init, bytes, size);
}

static void initialisers_are_bytes(void **state)
{
    (void)state;
    struct mg_ptx_module *module =
        parse_ok(HEAD ".global .b8 a[4] = {1, -2, 0xFF};\n"
                      ".const .f32 b[2][3] = {{1.0, 0f40000000}, {3, 0d4010000000000000, 5.5}};\n"
                      ".global .b32 c[2][2][2] = {{{1, 2}, {3}}, {{5}}};\n"
                      ".global .b32 d[2][2] = {1, 2, 3};\n"
                      ".global .s16 e[] = {1, 2, 3};\n"
                      ".global .b32 f[][2] = {{1}, {2, 3}, 4};\n"
                      ".global .f64 g = 1.5;\n.global .v4 .s32 h = {1, -2, WARP_SZ, (3 + 4) * 2};\n"
                      ".global .v2 .b8 i[2] = {{1, 2}, {3, 4}};\n.global .b64 j = 0xFFFFFFFFFFFFFFFF;\n"
                      ".global .b128 k = -1;\n.global .align 64 .b8 l[1000000];\n.global .f64 m[2] = {3, 0f3F800000};\n"
                      ".global .f32 n = 0f7FC12345;\n");
    check_bytes(module, "a", "\x01\xFE\xFF\0", 4);
    const float b[] = {1, 2, 0, 3, 4, 5.5f};
    check_bytes(module, "b", b, sizeof(b));
    const uint32_t c[] = {1, 2, 3, 0, 5, 0, 0, 0}, d[] = {1, 2, 3, 0}, f[] = {1, 0, 2, 3, 4, 0};
    check_bytes(module, "c", c, sizeof(c));
    check_bytes(module, "d", d, sizeof(d));
    const uint16_t e[] = {1, 2, 3};
    check_bytes(module, "e", e, sizeof(e));
    check_bytes(module, "f", f, sizeof(f));
    assert_int_equal(mg__ptx_find_var(module, "f")->dims[0], 3);
    const double g = 1.5, m[] = {3, 1};
    check_bytes(module, "g", &g, 8);
    const int32_t h[] = {1, -2, 32, 14};
    check_bytes(module, "h", h, 16);
    assert_int_equal(mg__ptx_find_var(module, "h")->align, 16);
    check_bytes(module, "i", "\1\2\3\4", 4);
    check_bytes(module, "j", "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 8);
    check_bytes(module, "k", "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", 16);
    check_bytes(module, "m", m, 16);
    const uint32_t n = 0x7FC12345; /* a NaN keeps its bits */
    check_bytes(module, "n", &n, 4);
    const struct mg_ptx_var *l = mg__ptx_find_var(module, "l");
    assert_null(l->init);
    assert_int_equal(l->align, 64);
    assert_int_equal(l->size, 1000000);
    free(round_trip(module));
    mg__ptx_free(module);
}

static void addresses_are_relocations(void **state)
{
    (void)state;
    struct mg_ptx_module *module = parse_ok(
        HEAD ".func f;\n.global .b32 v[4];\n"
             ".global .u64 t[6] = {f, v+4, generic(v)+8, 7, generic(v), v - 4};\n"
             ".global .u8 b[4] = {0xFF(v), 0xFF00(generic(v)+1), 0xFF0000(f), 9};\n.global .u64 s = generic(v);\n");
    const struct mg_ptx_var *t = mg__ptx_find_var(module, "t"), *b = mg__ptx_find_var(module, "b");
    const struct mg_ptx_var *v = mg__ptx_find_var(module, "v");
    assert_int_equal(t->nrelocs, 5);
    assert_ptr_equal(t->relocs[0].func, mg__ptx_find_func(module, "f"));
    assert_ptr_equal(t->relocs[1].var, v);
    assert_int_equal(t->relocs[1].offset, 8);
    assert_int_equal(t->relocs[1].addend, 4);
    assert_int_equal(t->relocs[1].size, 8);
    assert_true(t->relocs[1].mask == UINT64_MAX);
    assert_false(t->relocs[1].generic);
    assert_true(t->relocs[2].generic);
    assert_int_equal(t->relocs[2].addend, 8);
    assert_int_equal(t->init[24], 7);
    assert_int_equal(t->relocs[4].offset, 40);
    assert_int_equal(t->relocs[4].addend, -4);
    assert_int_equal(b->nrelocs, 3);
    assert_int_equal(b->relocs[0].mask, 0xFF);
    assert_int_equal(b->relocs[1].mask, 0xFF00);
    assert_true(b->relocs[1].generic);
    assert_int_equal(b->relocs[1].addend, 1);
    assert_int_equal(b->relocs[2].size, 1);
    assert_int_equal(mg__ptx_find_var(module, "s")->nrelocs, 1);
    free(round_trip(module));
    mg__ptx_free(module);
}

/* Two variables that hold each other's address need declarations before, in print too. */
static void rings_of_addresses_print(void **state)
{
    (void)state;
    struct mg_ptx_module *module =
        parse_ok(HEAD ".extern .global .u64 b;\n.global .u64 a = b;\n.global .u64 b = a;\n.global .u64 c = a;\n"
                      ".extern .global .u64 d;\n.global .u64 e = d;\n.global .u64 d = 3;\n");
    free(round_trip(module));
    mg__ptx_free(module);
}

static void variables_in_functions(void **state)
{
    (void)state;
    struct mg_ptx_module *module = parse_ok(
        HEAD ".extern .shared .align 16 .b8 dyn[];\n.shared .b32 stat[8];\n"
             ".entry k() { .shared .align 8 .b8 x[24], y[8]; .local .b64 depot[2]; { .param .b32 p0; .shared .b32 x; "
             "st.shared.b32 [x], 1; } .const .b32 c = 5; st.shared.b32 [x+4], 2; }\n");
    const struct mg_ptx_func *k = mg__ptx_find_func(module, "k");
    assert_int_equal(k->nvars, 6);
    assert_string_equal(k->vars[1]->name, "y");
    assert_int_equal(k->vars[1]->size, 8);
    assert_int_equal(k->vars[1]->align, 8);
    assert_int_equal(k->vars[2]->space, MG_SPACE_LOCAL);
    assert_true(k->vars[3]->is_param);
    assert_int_equal(k->vars[5]->init[0], 5);
    assert_ptr_equal(mg__ptx_op(k, &k->insns[0], 0)->var, k->vars[4]);
    assert_ptr_equal(mg__ptx_op(k, &k->insns[1], 0)->var, k->vars[0]);
    const struct mg_ptx_var *dyn = mg__ptx_find_var(module, "dyn");
    assert_true(dyn->unsized && dyn->size == 0 && dyn->align == 16 && dyn->linkage == MG_LINK_EXTERN);
    assert_null(mg__ptx_find_var(module, "x")); /* not at module scope */
    assert_null(dyn->owner);
    assert_ptr_equal(k->vars[0]->owner, k);
    free(round_trip(module));
    mg__ptx_free(module);
}

static void locations_chain(void **state)
{
    (void)state;
    struct mg_ptx_module *module = parse_ok(
        HEAD ".entry k() {\n.loc 1 10 1\nmembar.gl;\n"
             ".loc 2 20 2, function_name $L__info_string1, inlined_at 1 10 1\nmembar.gl;\n"
             ".loc 2 30 3, function_name $L__info_string2+4, inlined_at 2 20 2\nmembar.gl;\nmembar.gl;\n"
             ".loc 1 10 1\nmembar.gl;\n.loc 9 1 1\nret;\n}\n"
             ".file 1 \"a.cu\"\n.file 2 \"dir/b.h\", 12, 34\n.section .debug_str\n{\n$L__info_string1:\n.b8 1, 2\n}\n");
    const struct mg_ptx_insn *insns = module->funcs[0]->insns;
    const struct mg_ptx_loc *first = &module->locs[insns[0].loc], *third = &module->locs[insns[2].loc];
    assert_string_equal(module->files[first->file], "a.cu");
    assert_int_equal(first->line, 10);
    assert_int_equal(first->inlined_at, 0);
    assert_string_equal(module->files[third->file], "dir/b.h");
    assert_int_equal(third->line, 30);
    assert_int_equal(third->column, 3);
    assert_int_equal(third->inlined_at, insns[1].loc);
    assert_int_equal(module->locs[insns[1].loc].inlined_at, insns[0].loc);
    assert_int_equal(insns[3].loc, insns[2].loc);
    assert_int_equal(insns[4].loc, insns[0].loc);
    assert_int_equal(module->locs[insns[5].loc].file, 0); /* no .file for it */
    assert_int_equal(insns[4].ptx_line, 13);
    free(round_trip(module));
    mg__ptx_free(module);
}

/* Names of files as nvcc quotes them, and printed again: UTF-8, blanks, quotes, bytes of GBK. */
static void names_of_files(void **state)
{
    (void)state;
    struct mg_ptx_module *module = parse_ok(
        HEAD ".entry k() {\n.loc 1 1 1\nret; }\n.file 1 \"/\\346\\226\\207/\\345\\206\\205.cu\"\n"
             ".file 2 \"q\\\"r/t u\\\\v.cu\"\n.file 3 \"\\316\\304\\t\\7x\\0018.cu\"\n.file 4 \"a/\xE6\x96\x87\"\n");
    static const char *const want[] = {"/\xE6\x96\x87/\xE5\x86\x85.cu", "q\"r/t u\\v.cu", "\xCE\xC4\t\ax\0018.cu",
                                       "a/\xE6\x96\x87"};
    for (size_t i = 0; i < MG_COUNT(want); i++)
        assert_string_equal(module->files[i + 1], want[i]);
    char *text = round_trip(module);
    assert_non_null(strstr(text, ".file 1 \"/\\346\\226\\207/\\345\\206\\205.cu\"\n"));
    assert_non_null(strstr(text, ".file 2 \"q\\\"r/t u\\\\v.cu\"\n"));
    free(text);
    mg__ptx_free(module);
}

static void branch_tables(void **state)
{
    (void)state;
    struct mg_ptx_module *module = parse_ok(
        HEAD ".entry k() { .reg .b32 %r<3>; mov.b32 %r1, 0;\n$T: .branchtargets A, B, A, E;\nbrx.idx.uni %r1, $T;\n"
             "A: membar.gl;\nB: ret;\nE:\n}\n");
    const struct mg_ptx_func *k = module->funcs[0];
    assert_int_equal(mg__ptx_op(k, &k->insns[1], 1)->kind, MG_OPND_TABLE);
    const struct mg_ptx_table *table = &k->tables[mg__ptx_op(k, &k->insns[1], 1)->index];
    assert_int_equal(table->count, 4);
    assert_int_equal(table->labels[0], 2);
    assert_int_equal(table->labels[1], 3);
    assert_int_equal(table->labels[2], 2);
    assert_int_equal(table->labels[3], 4);
    free(round_trip(module));
    mg__ptx_free(module);
}

static void aliases_stand_for_their_target(void **state)
{
    (void)state;
    struct mg_ptx_module *module =
        parse_ok(HEAD ".func a;\n.func b;\n.func c { ret; }\n.alias b, c;\n.alias a, b;\n.global .u64 p = a;\n"
                      ".entry k() { call a; }\n");
    const struct mg_ptx_func *c = mg__ptx_find_func(module, "c"), *k = mg__ptx_find_func(module, "k");
    assert_ptr_equal(mg__ptx_find_func(module, "a"), c);
    assert_ptr_equal(mg__ptx_op(k, &k->insns[0], 1)->func, c);
    assert_ptr_equal(mg__ptx_find_var(module, "p")->relocs[0].func, c);
    free(round_trip(module));
    mg__ptx_free(module);
    module = parse_ok(HEAD ".func a;\n.func b;\n.alias a, b;\n.alias b, a;\n"); /* a ring must end */
    mg__ptx_free(module);
}

static void old_register_parameters(void **state)
{
    (void)state;
    struct mg_ptx_module *module = parse_ok(HEAD ".func (.reg .b32 r) f (.reg .b32 x) { add.s32 r, x, 1; ret; }\n"
                                                 ".entry k() { .reg .b32 a; call (a), f, (5); }\n");
    assert_int_equal(mg__ptx_find_func(module, "f")->params[0]->space, MG_SPACE_REG);
    free(round_trip(module));
    mg__ptx_free(module);
}

static void every_instruction_is_found_by_its_name(void **state)
{
    (void)state;
    for (unsigned op = 1; op < MG_OP_COUNT; op++) {
        const struct mg_ptx_isa *isa = mg__ptx_isa((enum mg_ptx_opcode)op);
        assert_true(isa->name[0] && isa->since_ptx[0] && isa->since_sm[0]);
        assert_true(isa->executed || isa->group >= MG_G_CLUSTER); /* of the later groups some */
        for (unsigned other = 1; other < op; other++)
            assert_string_not_equal(isa->name, mg__ptx_isa((enum mg_ptx_opcode)other)->name);
        if (isa->executed)
            continue;
        char text[256]; /* those for later take any modifier and any operands */
        snprintf(text, sizeof(text), HEAD ".entry k() { .reg .b32 r; %s.some::thing.m16n8k8 {r}, [r], 5; }", isa->name);
        struct mg_ptx_module *module = parse_ok(text);
        assert_int_equal(module->funcs[0]->insns[0].opcode, op);
        assert_true(module->funcs[0]->insns[0].flags & MG_F_LATER);
        free(round_trip(module));
        mg__ptx_free(module);
    }
}

static void types_have_sizes(void **state)
{
    (void)state;
    static const unsigned sizes[MG_T_COUNT] = {
        [MG_T_B8] = 1,     [MG_T_B16] = 2,   [MG_T_B32] = 4,   [MG_T_B64] = 8,  [MG_T_B128] = 16, [MG_T_U8] = 1,
        [MG_T_U16] = 2,    [MG_T_U32] = 4,   [MG_T_U64] = 8,   [MG_T_S8] = 1,   [MG_T_S16] = 2,   [MG_T_S32] = 4,
        [MG_T_S64] = 8,    [MG_T_F16] = 2,   [MG_T_BF16] = 2,  [MG_T_F32] = 4,  [MG_T_F64] = 8,   [MG_T_F16X2] = 4,
        [MG_T_BF16X2] = 4, [MG_T_U16X2] = 4, [MG_T_S16X2] = 4, [MG_T_TF32] = 4, [MG_T_E4M3] = 1,  [MG_T_E5M2] = 1,
        [MG_T_E4M3X2] = 2, [MG_T_E5M2X2] = 2};
    for (unsigned type = 0; type < MG_T_COUNT; type++) {
        assert_int_equal(mg__ptx_type_size((enum mg_ptx_type)type), sizes[type]);
        assert_true(type == MG_T_NONE || mg__ptx_type_name((enum mg_ptx_type)type)[0]);
    }
    assert_string_equal(mg__ptx_type_name(MG_T_BF16X2), "bf16x2");
    assert_string_equal(mg__ptx_space_name(MG_SPACE_SHARED), "shared");
    assert_string_equal(mg__ptx_cmp_name(MG_CMP_GEU), "geu");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(header_is_read),
        cmocka_unit_test(a_nul_ends_the_text),
        cmocka_unit_test(kernel_parameters_are_laid_out),
        cmocka_unit_test(cluster_directives_are_seen),
        cmocka_unit_test(places),
        cmocka_unit_test(declarations_merge_with_definitions),
        cmocka_unit_test(initialisers_are_bytes),
        cmocka_unit_test(addresses_are_relocations),
        cmocka_unit_test(rings_of_addresses_print),
        cmocka_unit_test(variables_in_functions),
        cmocka_unit_test(locations_chain),
        cmocka_unit_test(names_of_files),
        cmocka_unit_test(branch_tables),
        cmocka_unit_test(aliases_stand_for_their_target),
        cmocka_unit_test(old_register_parameters),
        cmocka_unit_test(every_instruction_is_found_by_its_name),
        cmocka_unit_test(types_have_sizes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
