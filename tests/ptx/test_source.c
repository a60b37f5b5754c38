/* Source text inside PTX: what is written comes back, and hostile blocks give nothing or what they hold. The encoding
 * is held to a plain reading of RFC 4648, written here a second time. */
#include "base/base.h"
#include "ptx/source.h"

#include <setjmp.h>
#include <cmocka.h>

static uint32_t seed = 7;
static uint32_t any(void)
{
    seed = seed * 1664525 + 1013904223;
    return seed >> 8;
}

static void there_and_back(void **state)
{
    (void)state;
    for (size_t size = 0; size < 400; size++) {
        char text[400];
        for (size_t i = 0; i < size; i++)
            text[i] = (char)(1 + any() % 255);
        size_t length;
        char *block = mg__ptx_source_block((unsigned)size, text, size, &length);
        assert_non_null(block);
        assert_int_equal(strlen(block), length);
        for (const char *line = block + 1; *line; line = strchr(line, '\n') + 1)
            assert_true(line[0] == '/' && line[1] == '/' && strcspn(line, "\n") <= 98);
        struct mg_ptx_source source;
        const char *at = block, *end = block + length;
        assert_true(mg__ptx_source_next(&at, end, &source));
        assert_int_equal(source.file, size);
        char *back = mg__ptx_source_text(&source);
        assert_non_null(back);
        assert_int_equal(source.size, size);
        assert_memory_equal(back, text, size);
        assert_int_equal(back[size], 0);
        free(back);
        assert_false(mg__ptx_source_next(&at, end, &source));
        free(block);
    }
}

/* RFC 4648, section 10. */
static void the_standard(void **state)
{
    static const char *const known[][2] = {{"f", "Zg=="},        {"fo", "Zm8="},        {"foo", "Zm9v"},
                                           {"foob", "Zm9vYg=="}, {"fooba", "Zm9vYmE="}, {"foobar", "Zm9vYmFy"}};
    (void)state;
    for (size_t i = 0; i < MG_COUNT(known); i++) {
        char want[64];
        size_t length;
        snprintf(want, sizeof(want), "\n//margay:source 3 %zu\n//%s\n", strlen(known[i][0]), known[i][1]);
        char *block = mg__ptx_source_block(3, known[i][0], strlen(known[i][0]), &length);
        assert_string_equal(block, want);
        free(block);
    }
}

static void several(void **state)
{
    (void)state;
    struct mg_strbuf text = {0};
    static const char *const parts[] = {"one\n", "", "//margay:source 9 3\n//AAAA\n", "x"};
    assert_true(mg__strbuf_printf(&text, ".version 8.0\n\t.file\t1 \"a\"\n"));
    for (unsigned i = 0; i < MG_COUNT(parts); i++) {
        size_t length;
        char *block = mg__ptx_source_block(i, parts[i], strlen(parts[i]), &length);
        assert_true(mg__strbuf_append(&text, block, length) &&
                    mg__strbuf_printf(&text, i % 2 ? "// other\nret;\n" : ""));
        free(block);
    }
    const char *at = text.at;
    struct mg_ptx_source source;
    for (unsigned i = 0; i < MG_COUNT(parts); i++) { /* a text that is a block is no block */
        assert_true(mg__ptx_source_next(&at, text.at + text.count, &source));
        assert_int_equal(source.file, i);
        char *back = mg__ptx_source_text(&source);
        assert_string_equal(back, parts[i]);
        free(back);
    }
    assert_false(mg__ptx_source_next(&at, text.at + text.count, &source));
    mg__strbuf_free(&text);
}

/* Each gives no text. */
static void damaged(void **state)
{
    static const char *const texts[] = {
        "\n//margay:source",
        "\n//margay:source 1",
        "\n//margay:source 1 3",
        "\n//margay:source 1 3\n",
        "\n//margay:source 1 3\n//AAA",
        "\n//margay:source 1 3\n//AAAA\n",     /* zero bytes */
        "\n//margay:source 1 3\n//Zm9\n",      /* short */
        "\n//margay:source 1 3\n//Zm9vYg==\n", /* long */
        "\n//margay:source 1 3\n//Zm9=\n",     /* padding that is none */
        "\n//margay:source 1 1\n//Zgg=\n",     /* and none where it should be */
        "\n//margay:source 1 3\n//Z m9\n",
        "\n//margay:source 1 3\n/Zm9v\n",
        "\n//margay:source 1 3\nret; //Zm9v\n",
        "\n//margay:source 1 4294967296\n//Zm9v\n",
        "\n//margay:source 1 99999999999999999999\n//Zm9v\n",
        "\n//margay:source 1 1048577\n//Zm9v\n",
        "\n//margay:source -1 3\n//Zm9v\n",
        "\n//margay:source 1  3\n//Zm9v\n",
        "\n//margay:source 1 3x\n//Zm9v\n",
        "//margay:source 1 3\n//Zm9v\n", /* in no line of its own */
        "ret; //margay:source 1 3\n//Zm9v\n",
    };
    (void)state;
    for (size_t i = 0; i < MG_COUNT(texts); i++) {
        size_t length = strlen(texts[i]);
        char *copy = malloc(length); /* without a zero, so that a sanitizer sees what is read behind it */
        memcpy(copy, texts[i], length);
        const char *at = copy;
        struct mg_ptx_source source;
        for (unsigned n = 0; mg__ptx_source_next(&at, copy + length, &source); n++) {
            assert_null(mg__ptx_source_text(&source));
            assert_true(n < 4);
        }
        free(copy);
    }
}

/* What bytes are changed or lost: every text that comes out has the size that the block tells, and the walk ends. */
static void mutated(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 20000; round++) {
        char text[64];
        size_t size = any() % sizeof(text), length, n = 0;
        memset(text, 'a', size);
        char *block = mg__ptx_source_block(any() % 9, text, size, &length);
        for (unsigned k = any() % 4; k > 0; k--)
            block[any() % length] = "\n/ =AZ09\0\xff"[any() % 10];
        length -= any() % 3 ? 0 : any() % length;
        const char *at = block;
        struct mg_ptx_source source;
        while (mg__ptx_source_next(&at, block + length, &source)) {
            char *back = mg__ptx_source_text(&source);
            if (back)
                assert_int_equal(strlen(back), source.size);
            free(back);
            assert_true(++n < 10);
        }
        free(block);
    }
}

static void too_long(void **state)
{
    size_t length, size = MG_PTX_SOURCE_MOST;
    char *text = malloc(size + 1);
    (void)state;
    memset(text, 'x', size + 1);
    assert_null(mg__ptx_source_block(1, text, size + 1, &length));
    char *block = mg__ptx_source_block(1, text, size, &length);
    const char *at = block;
    struct mg_ptx_source source;
    assert_true(mg__ptx_source_next(&at, block + length, &source));
    char *back = mg__ptx_source_text(&source);
    assert_memory_equal(back, text, size);
    free(back);
    free(block);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(there_and_back), cmocka_unit_test(the_standard), cmocka_unit_test(several),
        cmocka_unit_test(damaged),        cmocka_unit_test(mutated),      cmocka_unit_test(too_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
