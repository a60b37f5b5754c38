/* ptx_test.h - parse a text and fail the test with the parser's own message if it does not parse. */
#ifndef MG_PTX_TEST_H
#define MG_PTX_TEST_H
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "ptx/ptx.h"

#define HEAD ".version 9.0\n.target sm_90\n.address_size 64\n"

static inline struct mg_ptx_module *parse_ok(const char *text)
{
    struct mg_ptx_module *module;
    struct mg_diag diag;
    if (mg__ptx_parse(text, strlen(text), &module, &diag) != MG_OK)
        fail_msg("%u:%u: %s\n%s", diag.line, diag.column, diag.message, diag.excerpt);
    return module;
}

/* Prints the module, parses that, prints it again: both prints must be equal. Returns the first, to be freed. */
static inline char *round_trip(const struct mg_ptx_module *module)
{
    struct mg_strbuf first = {0}, second = {0};
    assert_true(mg__ptx_print(module, &first));
    struct mg_ptx_module *again = parse_ok(first.at);
    assert_true(mg__ptx_print(again, &second));
    assert_string_equal(first.at, second.at);
    mg__ptx_free(again);
    mg__strbuf_free(&second);
    return first.at;
}
#endif
