/* test_signature.c - names of a kernel's parameters, read off sources as people write them; and kernels' own names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <unistd.h>

#include "report/render.h"

static const struct {
    const char *source, *kernel;
    const char *names[5]; /* of the parameters, and NULL behind the last that is known */
} cases[] = {
    {"__global__ void add(float *c, const float *a, int n) {}", "add(float*, float const*, int)", {"c", "a", "n"}},
    {"template <typename T, int N = (3 > 2)>\n__global__ void __launch_bounds__(256, 2)\n    add(const T *__restrict__ "
     "x,\n"
     "        int64_t stride = f(1, 2), // add(float *wrong)\n        bool last = N < 4)\n{\n}",
     "void ns::add<float, 3>(float const*, long, bool)",
     {"x", "stride", "last"}},
    {"/* __global__ void k(int no) */ __global__ void k(/* the output */ int out[], std::array<int, 4> in,\n"
     "#define MORE\n int /* n */ n)",
     "k(int*, std::array<int, 4>, int)",
     {"out", "in", "n"}},
    {"void k(int host) {}\n__global__ void other(int *p);\nvoid call() { k(1); }\n__global__ static void k(unsigned "
     "*bins) {}",
     "k(unsigned int*)",
     {"bins", NULL}},
    {"__global__ void k() {}", "k()", {NULL}},
    {"#define KERNEL(name) __global__ void name(int *p)\nKERNEL(k) {}", "k(int*)", {NULL}},
    {"__global__ void k(int *a", "k(int*)", {NULL}}, /* the file ends */
    {"__global__ void k(int *a /* ", "k(int*)", {NULL}},
    {"__global__ void k(", "k(int*)", {NULL}},
    {"__global__ /", "k(int*)", {NULL}},
    {"", "k(int*)", {NULL}},
};

static void names(void **state)
{
    (void)state;
    char file[] = "/tmp/margay-signature-XXXXXX";
    int fd = mkstemp(file);
    assert_true(fd >= 0);
    close(fd);
    for (size_t i = 0; i < MG_COUNT(cases); i++) {
        FILE *f = fopen(file, "w");
        assert_non_null(f);
        fputs(cases[i].source, f);
        fclose(f);
        struct mg_sources sources;
        mg__sources_init(&sources, NULL);
        for (unsigned k = 0; k < 5; k++) {
            const char *name = NULL;
            size_t length = 0;
            bool found = mg__sources_parameter(&sources, file, cases[i].kernel, k, &name, &length);
            if (!cases[i].names[k]) {
                assert_false(found);
                break;
            }
            assert_true(found);
            assert_int_equal(length, strlen(cases[i].names[k]));
            assert_memory_equal(name, cases[i].names[k], length);
        }
        mg__sources_free(&sources);
    }
    remove(file);
}

/* A text cut anywhere, or with any byte changed, gives a name within it or none. */
static void any_text(void **state)
{
    (void)state;
    char file[] = "/tmp/margay-signature-XXXXXX", text[512];
    int fd = mkstemp(file);
    assert_true(fd >= 0);
    close(fd);
    snprintf(text, sizeof(text), "%s", cases[1].source);
    size_t size = strlen(text);
    for (size_t at = 0; at < 2 * size; at++) {
        char changed[512];
        memcpy(changed, text, size);
        if (at >= size)
            changed[at - size] = "(),*/<>\"="[at % 9];
        size_t n = at < size ? at : size;
        FILE *f = fopen(file, "w");
        assert_non_null(f);
        assert_int_equal(fwrite(changed, 1, n, f), n);
        fclose(f);
        struct mg_sources sources;
        const char *whole, *name;
        size_t all, length;
        mg__sources_init(&sources, NULL);
        if (mg__sources_text(&sources, file, &whole, &all) &&
            mg__sources_parameter(&sources, file, cases[1].kernel, 1, &name, &length)) {
            assert_true(name >= whole && length > 0 && name + length <= whole + all);
        }
        mg__sources_free(&sources);
    }
    remove(file);
}

static void own_names(void **state)
{
    static const char *const pairs[][2] = {
        {"add(float*, int)", "add(float*, int)"},
        {"void cub::detail::f<cub::g<int>, 2>(int)", "f<cub::g<int>, 2>(int)"},
        {"(anonymous namespace)::k(int)", "k(int)"},
        {"void a::b<(a::kind)0>(a::c::d*)", "b<(a::kind)0>(a::c::d*)"},
    };
    (void)state;
    for (size_t i = 0; i < MG_COUNT(pairs); i++)
        assert_string_equal(mg__kernel_own_name(pairs[i][0]), pairs[i][1]);
}

/* What Numba calls a kernel: the hash of its compilation goes first where room is short. */
static void numba_names(void **state)
{
    static const char name[] =
        "__main__::turned[abi:v1][abi:cw51cXTLSUwv1sDUaKthqaNgoKmjgMVuW1AiA8rAEg2UjxRKtuAI0FEA2gSVRE8c]"
        "(Array<float, 1, C, mutable, aligned>)";
    const struct mg_style style = {.width = 80};
    struct mg_report_finding f = {.check = "race",
                                  .kind = "write-read",
                                  .kernel = name,
                                  .file = "",
                                  .other_file = "",
                                  .variable = "",
                                  .message = "here",
                                  .advice = ""};
    struct mg_strbuf out = {0};
    (void)state;
    assert_true(mg__layout_kernel(&out, &style, name, 60, NULL));
    assert_string_equal(out.at, "turned(Array<float, 1, C, mutable, aligned>)");
    out.count = 0;
    assert_true(mg__layout_kernel(&out, &style, name, 300, NULL));
    assert_string_equal(out.at, name);
    out.count = 0;
    struct mg_given given;
    struct mg_sources sources;
    mg__given_init(&given);
    mg__sources_init(&sources, &given);
    assert_true(mg__render_finding(&f, &sources, &style, &out));
    assert_non_null(strstr(out.at, "race/write-read in turned(Array<float, 1, C, mutable, aligned>)\n"));
    mg__sources_free(&sources);
    mg__given_free(&given);
    mg__strbuf_free(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(names), cmocka_unit_test(any_text), cmocka_unit_test(own_names),
                                       cmocka_unit_test(numba_names)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
