/* Which text goes behind the PTX of which program: names as NVRTC tells them, headers, programs of one name, and names
 * made to confuse. */
#include "cuda/nvrtc_text.h"

#include "base/base.h"
#include "ptx/source.h"

#include <unistd.h>

#include <setjmp.h>
#include <cmocka.h>

#define PTX(entries) ".version 9.0\n.target sm_90\n.address_size 64\n.entry f()\n{\n\t.loc\t1 2 0\n\tret;\n}\n" entries

/* The text that stands behind the PTX for file `number`; malloc'd, NULL if there is none. */
static char *text_for(const void *program, const char *ptx, unsigned number)
{
    size_t length = 0;
    char *whole = mg__nvrtc_with_texts(program, ptx, &length), *found = NULL;
    if (!whole)
        return NULL;
    assert_int_equal(strlen(whole), length);
    assert_int_equal(strncmp(whole, ptx, strlen(ptx)), 0);
    const char *at = whole + strlen(ptx);
    struct mg_ptx_source source;
    while (mg__ptx_source_next(&at, whole + length, &source))
        if (source.file == number) {
            assert_null(found);
            found = mg__ptx_source_text(&source);
            assert_non_null(found);
        }
    free(whole);
    return found;
}

static void expect(const void *program, const char *path, const char *text)
{
    char ptx[5000];
    snprintf(ptx, sizeof(ptx), PTX("\n\t.file\t1 \"%s\"\n\n"), path);
    char *found = text_for(program, ptx, 1);
    if (text)
        assert_string_equal(found ? found : "(none)", text);
    else
        assert_null(found);
    free(found);
}

static const int handles[9];
static char folder[3000], path[4000];

static const char *here(const char *name)
{
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static void names(void **state)
{
    (void)state;
    mg__nvrtc_keep(&handles[0], "zero\n", NULL, 0, NULL, NULL);
    mg__nvrtc_keep(&handles[1], "one\n", "", 0, NULL, NULL);
    mg__nvrtc_keep(&handles[2], "two\n", "k.cu", 0, NULL, NULL);
    mg__nvrtc_keep(&handles[3], "three\n", "/abs/k.cu", 0, NULL, NULL);
    mg__nvrtc_keep(&handles[4], "four\n", "q\"\\\n\t\xe7\x8c\xab.cu", 0, NULL, NULL);
    for (int i = 0; i < 5; i++)
        mg__nvrtc_compiled(&handles[i]);
    expect(&handles[0], here("default_program"), "zero\n");
    expect(&handles[1], here("default_program"), "one\n");
    expect(&handles[2], here("k.cu"), "two\n");
    expect(&handles[2], "k.cu", "two\n");
    expect(&handles[2], "/abs/k.cu", NULL);
    expect(&handles[2], here("sub/k.cu"), NULL); /* a header of that name on the disk */
    expect(&handles[2], here("k.cuh"), NULL);
    expect(&handles[3], "/abs/k.cu", "three\n");
    expect(&handles[3], here("k.cu"), NULL);
    expect(&handles[4], here("q\\\"\\\\\\n\\t\\347\\214\\253.cu"), "four\n");
    expect(&handles[5], here("k.cu"), NULL); /* nobody's */
    for (int i = 0; i < 6; i++)
        mg__nvrtc_forget(&handles[i]);
    expect(&handles[2], here("k.cu"), NULL);
}

static void headers(void **state)
{
    const char *const texts[] = {"h\n", "sub\n", NULL, "last\n"}, *const called[] = {"h.cuh", "sub/k.cu", "x", NULL};
    char ptx[12000];
    (void)state;
    mg__nvrtc_keep(&handles[0], "main\n", "k.cu", 4, texts, called);
    mg__nvrtc_compiled(&handles[0]);
    snprintf(ptx, sizeof(ptx),
             PTX("\t.file\t1 \"%s/k.cu\"\n\t.file 2 \"%s/h.cuh\", 17, 99\n  .file\t7 \"%s/sub/k.cu\"\n"), folder,
             folder, folder);
    static const unsigned numbers[] = {1, 2, 7, 3};
    static const char *const want[] = {"main\n", "h\n", "sub\n", NULL};
    for (size_t i = 0; i < MG_COUNT(numbers); i++) {
        char *found = text_for(&handles[0], ptx, numbers[i]);
        if (want[i])
            assert_string_equal(found, want[i]);
        else
            assert_null(found);
        free(found);
    }
    mg__nvrtc_forget(&handles[0]);
}

static void clashes(void **state)
{
    char name[] = "k.cu", text[] = "first\n";
    (void)state;
    mg__nvrtc_keep(&handles[0], text, name, 0, NULL, NULL);
    memcpy(text, "other", 5); /* the program's memory, which it uses again */
    memcpy(name, "x", 1);
    mg__nvrtc_keep(&handles[1], "second\n", "k.cu", 0, NULL, NULL);
    mg__nvrtc_compiled(&handles[0]);
    mg__nvrtc_compiled(&handles[1]);
    expect(&handles[0], here("k.cu"), "first\n");
    expect(&handles[1], here("k.cu"), "second\n");
    mg__nvrtc_keep(&handles[1], "third\n", "k.cu", 0, NULL, NULL); /* a handle that is used again */
    mg__nvrtc_compiled(&handles[1]);
    expect(&handles[1], here("k.cu"), "third\n");
    mg__nvrtc_forget(&handles[0]);
    expect(&handles[1], here("k.cu"), "third\n");
    mg__nvrtc_forget(&handles[1]);
}

/* No entry, or none that is one: nothing is added, and nothing is read behind the text's end. */
static void hostile(void **state)
{
    static const char *const endings[] = {
        "",
        ".file",
        "\t.file\t",
        "\t.file\t1",
        "\t.file\t1 ",
        "\t.file\t1 \"",
        "\t.file\t1 \"k.cu",
        "\t.file\t0 \"k.cu\"",
        "\t.file\t-1 \"k.cu\"",
        "\t.file\t99999999999999999999 \"k.cu\"",
        "\t.file x \"k.cu\"",
        "// .file 1 \"k.cu\"",
        "\t.file\t1 k.cu",
        "\t.file\t1\n\"k.cu\"",
        "\t.file\t1 \"k.cu\\000\"",
        "\t.file\t1 \"\"",
        "\t.filed\t1 \"k.cu\"",
    };
    (void)state;
    mg__nvrtc_keep(&handles[0], "text\n", "k.cu", 0, NULL, NULL);
    mg__nvrtc_compiled(&handles[0]);
    expect(&handles[0], "k.cu", "text\n");
    for (size_t i = 0; i < MG_COUNT(endings); i++) {
        size_t length = 0;
        char *copy = strdup(endings[i]), *got = mg__nvrtc_with_texts(&handles[0], copy, &length);
        if (got)
            print_error("\"%s\" has a text\n", endings[i]);
        assert_null(got);
        free(copy);
    }
    mg__nvrtc_forget(&handles[0]);
    mg__nvrtc_keep(&handles[1], NULL, "k.cu", 3, NULL, NULL); /* what NVRTC would refuse */
    mg__nvrtc_compiled(&handles[1]);
    expect(&handles[1], "k.cu", NULL);
    mg__nvrtc_forget(&handles[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(headers),
        cmocka_unit_test(clashes),
        cmocka_unit_test(hostile),
    };
    if (!getcwd(folder, sizeof(folder)))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}
