/* test_errors.c - what does not parse fails with a place, the offending line and words that help; limits hold. */
#include "ptx_test.h"

#define BODY HEAD ".global .b32 g;\n.entry k() {\n.reg .b32 r, s;\n.reg .pred p;\n.reg .b64 d;\n" /* 8 lines */

static const struct {
    const char *text;
    unsigned line, column;
    const char *message; /* a part of it */
} table[] = {
    {"", 1, 1, ".version"},
    {"hello", 1, 1, ".version"},
    {".version x", 1, 10, "9.0"},
    {HEAD ".target hop", 0, 0, NULL}, /* options of .target are not judged */
    {HEAD ".target sm_x", 4, 9, "no target"},
    {".version 9.0\n.address_size 32", 2, 15, "32 bits"},
    {HEAD "foo", 4, 1, "directive"},
    {HEAD ".globl x;", 4, 1, ".globl"},
    {HEAD "/* open", 4, 1, "no end"},
    {HEAD ".file 1 \"open", 4, 9, "no end"},
    {HEAD ".file 1 \"a\\000b\"", 4, 10, "zero byte"},
    {HEAD ".entry k() { ret;", 4, 12, "no '}'"},
    {HEAD ".entry k( { ret; }", 4, 11, ".param"},
    {HEAD ".entry k() .maxfoo 3 { }", 4, 12, ".maxfoo"},
    {HEAD ".entry k() { }\n.entry k() { }", 5, 8, "body already"},
    {HEAD ".entry k() { }\n.global .b32 k;", 5, 14, "function already"},
    {HEAD ".global .b32 a;\n.global .b32 a;", 5, 14, "twice"},
    {HEAD ".global .b32 a[];", 4, 14, "no size"},
    {HEAD ".global .b32 a[2] = {1, 2, 3};", 4, 28, "more initial values"},
    {HEAD ".global .b32 a[2] = {{1}, 2};", 4, 22, "more braces"},
    {HEAD ".global .b32 a[2][2] = {1, {2}};", 4, 28, "row"},
    {HEAD ".global .b32 a[2] = {1 2};", 4, 24, "','"},
    {HEAD ".global .b32 a = b;", 4, 18, "no variable"},
    {HEAD ".global .b32 a[4294967296];", 4, 16, "2^32"},
    {HEAD ".global .b64 a[4294967295][4294967295][4294967295];", 4, 51, "too large"},
    {HEAD ".global .b8 a[2000000000] = {1};", 4, 29, "initialised"},
    {HEAD ".global .align 3 .b8 a;", 4, 16, "power of two"},
    {HEAD ".shared .b32 a = 3;", 4, 14, "initial value"},
    {HEAD ".global .quux a;", 4, 9, ".quux"},
    {HEAD ".global a;", 4, 9, "no type"},
    {HEAD ".alias a, b;", 4, 8, "no function"},
    {BODY "frob.b32 r, s;\n}", 9, 1, "unknown instruction 'frob.b32'"},
    {BODY "add.s33 r, s, s;\n}", 9, 1, "'.s33'"},
    {BODY "  add.global.s32 r, s, s;\n}", 9, 3, "'.global'"},
    {BODY "add r, s, s;\n}", 9, 1, "needs a type"},
    {BODY "setp.s32 p, r, s;\n}", 9, 1, "needs a comparison"},
    {BODY "atom.global.u32 r, [d], 1;\n}", 9, 1, "needs an operation"},
    {BODY "shfl.sync.b32 r, s, 1, 31, -1;\n}", 9, 1, "needs a mode"},
    {BODY "cvt.s32 r, s;\n}", 9, 1, "two types"},
    {BODY "cvt.u4.s32 r, s;\n}", 9, 1, "'.u4'"},
    {BODY "cvt.pack.u16.s32 r, s, s;\n}", 9, 1, "needs .sat"},
    {BODY "cvt.pack.sat.u4.s32 r, s, s;\n}", 9, 1, ".u4.s32.b32"},
    {BODY "cvt.pack.sat.u4.u32.b32 r, s, s, s;\n}", 9, 1, ".u4.s32.b32"},
    {BODY "cvt.pack.sat.u4.s32.b32 r, s, s;\n}", 9, 1, "3 operands"},
    {BODY ".reg .u2 x;\n}", 9, 6, "no type of a register"},
    {BODY "ld.global.b32 r, g[s];\n}", 9, 20, "an index that is a register"},
    {BODY "ld.global.b32 r, g[1.5];\n}", 9, 20, "floating-point index"},
    {BODY "ld.global.b32 r, g[1;\n}", 9, 21, "']'"},
    {BODY "add.s32 r, s, d[1];\n}", 9, 16, "';'"},
    {BODY "lop3.xor.b32 r|p, s, s, s, 1, p;\n}", 9, 1, "'.xor'"},
    {BODY "lop3.or.b32 r, s, s, s, 1, p;\n}", 9, 1, "d|p"},
    {BODY "lop3.b32 r|p, s, s, s, 1;\n}", 9, 1, ".and or .or"},
    {BODY "lop3.or.b32 r|_, s, s, s, 1, p;\n}", 9, 1, "operand 2"},
    {BODY "lop3.or.b32 r|p, s, s, s, s, p;\n}", 9, 1, "must be a constant"},
    {BODY "lop3.or.b32 r|p, s, s, s, 1;\n}", 9, 1, "6 operands"},
    {BODY "add.s32 r, s;\n}", 9, 1, "2 operands"},
    {BODY "add.s32 r, s, s, s;\n}", 9, 1, "4 operands"},
    {BODY "add.s32 5, s, s;\n}", 9, 1, "operand 1"},
    {BODY "add.s32 r, [d], s;\n}", 9, 1, "operand 2"},
    {BODY "ld.global.v2.b32 r, [d];\n}", 9, 1, "vector"},
    {BODY "ld.global.v2.b32 {r, s, r}, [d];\n}", 9, 1, "vector"},
    {BODY "ld.global.b32 {r, s}, [d];\n}", 9, 1, "operand 1"},
    {BODY "st.global.b32 r, [d];\n}", 9, 1, "operand 1"},
    {BODY "cp.async.ca.global.shared [d], [d], 4;\n}", 9, 1, ".shared.global"},
    {BODY "add.s32 r, s, t;\n}", 9, 15, "'t' is not declared"},
    {BODY "mov.b32 r, %q;\n}", 9, 12, "'%q' is not declared"},
    {BODY "mov.b32 r, %tid;\n}", 9, 12, "not declared"},
    {BODY "@r bra x;\n}", 9, 2, "no predicate"},
    {BODY "bra nowhere;\n}", 9, 5, "'nowhere' is not declared"},
    {BODY "{ L: }\nbra L;\n}", 10, 5, "not declared"},
    {BODY "L: L: ret;\n}", 9, 4, "twice"},
    {BODY ".reg .b32 r;\n}", 9, 12, "twice"},
    {BODY "brx.idx r, L;\nL: ret;\n}", 9, 12, "not a list"},
    {BODY "T: .branchtargets T;\nbra T;\n}", 9, 19, "not a label"},
    {BODY "call nobody;\n}", 9, 6, "not declared"},
    {BODY "call g;\n}", 9, 6, "neither a function"},
    {BODY "mov.b32 r, 5 / 0;\n}", 9, 17, "division by zero"},
    {BODY "mov.b32 r, 99999999999999999999;\n}", 9, 12, "64 bits"},
    {BODY "mov.b32 r, 0f3F80;\n}", 9, 12, "8 hexadecimal"},
    {BODY "mov.b32 r, 08;\n}", 9, 12, "wrong digit"},
    {BODY "mov.b32 r, 12ab;\n}", 9, 12, "wrong digit"},
    {BODY "mov.b32 r, 0x;\n}", 9, 12, "digits"},
    {BODY "mov.b32 r, (1 + 2;\n}", 9, 18, "')'"},
    {BODY "mov.b32 r, 1.5 + 2;\n}", 9, 19, "floating"},
    {BODY "mov.b32 r, \x01;\n}", 9, 12, "no part of PTX"},
    {BODY "mov.b32 r, s\nmov.b32 r, s;\n}", 10, 1, "';'"},
    {BODY "ld.b32 r, [k];\n}", 9, 12, "function"},
    {BODY ".version 3.0\n}", 9, 1, "no directive"},
};

static void failures_have_a_place(void **state)
{
    (void)state;
    unsigned wrong = 0;
    for (size_t i = 0; i < MG_COUNT(table); i++) {
        struct mg_ptx_module *module = (struct mg_ptx_module *)1;
        struct mg_diag diag;
        enum mg_status status = mg__ptx_parse(table[i].text, strlen(table[i].text), &module, &diag);
        if (!table[i].message) {
            assert_int_equal(status, MG_OK);
            mg__ptx_free(module);
            continue;
        }
        if (status != MG_ERR_SYNTAX || module)
            fail_msg("%s: parses", table[i].text);
        if (diag.line != table[i].line || diag.column != table[i].column || !strstr(diag.message, table[i].message)) {
            print_error("%s: %u:%u: %s\n", table[i].text, diag.line, diag.column, diag.message);
            wrong++;
        }
        assert_int_equal(diag.status, MG_ERR_SYNTAX);
        assert_string_equal(diag.file, "<ptx>");
        assert_int_equal(mg__ptx_parse(table[i].text, strlen(table[i].text), &module, NULL), MG_ERR_SYNTAX);
    }
    assert_int_equal(wrong, 0);
}

static void the_excerpt_is_the_line(void **state)
{
    (void)state;
    struct mg_ptx_module *module;
    struct mg_diag diag;
    static const char text[] = BODY "    add.quux.s32 r, s, s; // here\n}";
    assert_int_equal(mg__ptx_parse(text, strlen(text), &module, &diag), MG_ERR_SYNTAX);
    assert_string_equal(diag.excerpt, "    add.quux.s32 r, s, s; // here");
    assert_true(diag.hint[0] != '\0');
}

/* Every prefix of a valid text is either a module or a failure inside it. */
static void every_prefix_ends_well(void **state)
{
    (void)state;
    static const char text[] = HEAD
        ".file 1 \"a.cu\"\n.global .b32 g[2] = {1, 2};\n.func (.param .b32 r) f (.param .b32 x);\n"
        ".visible .entry k(.param .u64 p) .maxntid 32 {\n.reg .b32 %r<4>; .reg .pred %p<2>; .reg .b64 d;\n.loc 1 2 3\n"
        "@!%p1 bra L;\nld.global.v2.b32 {%r1, _}, [d+-8];\n{ .param .b32 a; call (a), f, (a); }\nL: ret;\n}\n"
        ".section .debug_str { .b8 1, 2 }\n";
    unsigned parsed = 0;
    for (size_t length = 0; length < sizeof(text); length++) {
        char *copy = malloc(length ? length : 1); /* exact, so that the address sanitizer sees an overrun */
        memcpy(copy, text, length);
        struct mg_ptx_module *module;
        struct mg_diag diag;
        enum mg_status status = mg__ptx_parse(copy, length, &module, &diag);
        assert_true(status == MG_OK || status == MG_ERR_SYNTAX);
        parsed += status == MG_OK;
        mg__ptx_free(module);
        free(copy);
    }
    assert_in_range(parsed, 10, 60);
}

static void repeated(struct mg_strbuf *buf, const char *text, unsigned count)
{
    while (count--)
        assert_true(mg__strbuf_append(buf, text, strlen(text)));
}

static void must_fail(struct mg_strbuf *buf, const char *message)
{
    struct mg_ptx_module *module;
    struct mg_diag diag;
    assert_int_equal(mg__ptx_parse(buf->at, buf->count, &module, &diag), MG_ERR_SYNTAX);
    if (!strstr(diag.message, message))
        fail_msg("%s", diag.message);
    mg__strbuf_free(buf);
}

static void limits_hold(void **state)
{
    (void)state;
    struct mg_strbuf buf = {0};
    repeated(&buf, HEAD ".entry k() ", 1);
    repeated(&buf, "{", 1000000);
    must_fail(&buf, "nested");
    repeated(&buf, HEAD ".global .b32 a = ", 1);
    repeated(&buf, "(", 1000000);
    must_fail(&buf, "nested");
    repeated(&buf, HEAD ".global .b32 a = ", 1);
    repeated(&buf, "-", 1000000);
    must_fail(&buf, "nested");
    repeated(&buf, HEAD ".global .b32 a = 1", 1);
    repeated(&buf, "?1:1", 1000000);
    must_fail(&buf, "nested");
    repeated(&buf, HEAD ".global .b32 ", 1);
    repeated(&buf, "a", 100000);
    must_fail(&buf, "characters");
    repeated(&buf, HEAD ".entry k() { ", 1);
    repeated(&buf, "{.reg .b32 %r<60000>;}", 100);
    must_fail(&buf, "inner scopes");
    repeated(&buf, HEAD ".entry k() { .reg .b32 r; tcgen05.mma {", 1);
    repeated(&buf, "r,", 100000);
    must_fail(&buf, "elements");
    repeated(&buf, HEAD ".entry k() { .reg .b32 r; tcgen05.mma r", 1);
    repeated(&buf, ",r", 1000);
    must_fail(&buf, "operands");
    repeated(&buf, HEAD ".entry k() { mov", 1);
    repeated(&buf, " .b32", 100000);
    must_fail(&buf, "opcode");
    repeated(&buf, HEAD ".global .b8 a", 1);
    repeated(&buf, "[2]", 9);
    must_fail(&buf, "dimensions");
    repeated(&buf, HEAD ".entry k() {\n", 1);
    repeated(&buf, ".loc 1 1 1, inlined_at 1 1 1\n", 2000);
    must_fail(&buf, "inlined");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failures_have_a_place),
        cmocka_unit_test(the_excerpt_is_the_line),
        cmocka_unit_test(every_prefix_ends_well),
        cmocka_unit_test(limits_hold),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
