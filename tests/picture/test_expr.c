/* test_expr.c - the address of an expression against C itself: each is compiled here, and read as text by expr.c, for
 * every thread of a block. Then what is wrong, with its column; then noise, which must neither crash nor read past its
 * end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "picture/expr.h"

/* Expressions are written as people do. */
#pragma GCC diagnostic ignored "-Wparentheses"
#pragma GCC diagnostic ignored "-Wsign-conversion"

struct float4 {
    float x, y, z, w;
};
struct double2 {
    double x, y;
};
static float tile[32][33];
static struct float4 quads[16][20];
static struct double2 pairs[64];
static unsigned char bytes[4096];
static short deep[4][8][16];

static struct mg_dim3 threadIdx, blockIdx, blockDim, gridDim;
static int tx, ty;
static int i = 3, n = 8;

/* The text that expr.c reads, and what C makes of the same. */
#define CASES                                                                                              \
    CASE("float tile[32][33]", tile, tile[ty][tx])                                                         \
    CASE("__shared__ float tile[32][32 + 1];", tile, tile[tx][ty])                                         \
    CASE("float tile[32][33]", tile, tile[threadIdx.y][threadIdx.x])                                       \
    CASE("float tile[32][33]", tile, tile[tx][tx ^ ty])                                                    \
    CASE("float tile[32][33]", tile, tile[(tx + 5) % 32][tx >= 16 ? tx - 16 : tx + 16])                    \
    CASE("float tile[32][33]", tile, tile[tx & 7 | ty << 3 & 8][tx / 2 * 2 + (tx + ty) % 2])               \
    CASE("float tile[32][33]", tile, tile[i + ~-1][n - (tx > 3 && ty != 2 || !tx)])                        \
    CASE("float tile[32][33]", tile, tile[0x1f & tx * 07][-(-tx)])                                         \
    CASE("float tile[32][33]", tile, tile[(int)(tx << 1) >> 1][+ty])                                       \
    CASE("float tile[32][33]", tile, tile[tx == ty ? 1 : tx <= ty ? 2 : 3][blockDim.x - threadIdx.x - 1u]) \
    CASE("float tile[32][33]", tile, tile[tx % 4 < 2 ? tx ? 32 / tx % 32 : 0 : 1][0])                      \
    CASE("float4 quads[16][20]", quads, quads[ty][tx % 20])                                                \
    CASE("const float4 quads[16][20]", quads, quads[ty][tx % 20].z)                                        \
    CASE("double2 pairs[64]", pairs, pairs[tx + blockIdx.x].y)                                             \
    CASE("unsigned char bytes[1 << 12]", bytes, bytes[tx * 97 + ty])                                       \
    CASE("short deep[4][8][16]", deep, deep[ty % 4][ty % 8][tx % 16])

static void cases_agree_with_c(void **state)
{
    (void)state;
    blockDim = (struct mg_dim3){32, 8, 1};
    gridDim = (struct mg_dim3){1, 1, 1};
    (void)gridDim;
    for (uint32_t t = 0; t < 256; t++) {
        threadIdx = (struct mg_dim3){t % 32, t / 32, 0};
        tx = (int)threadIdx.x;
        ty = (int)threadIdx.y;
        struct mg_expr_thread thread = {threadIdx, blockIdx, blockDim, gridDim};
        struct mg_expr e;
        struct mg_expr_place place;
        struct mg_diag diag;
#define CASE(decl_, array_, access_)                                                   \
    memset(&e, 0, sizeof(e));                                                          \
    e.text = #access_;                                                                 \
    assert_int_equal(mg__expr_declare(decl_, &e, &diag), MG_OK);                       \
    assert_int_equal(mg__expr_let("i = 3, n = i + 5", &e, &diag), MG_OK);              \
    if (mg__expr_place(&e, &thread, &place, &diag) != MG_OK)                           \
        fail_msg("%s: %s", e.text, diag.message);                                      \
    if (place.offset != (uint32_t)((const char *)&(access_) - (const char *)(array_))) \
        fail_msg("%s of thread %u: %u", e.text, t, place.offset);                      \
    assert_int_equal(place.width, sizeof(access_));                                    \
    assert_int_equal(e.array.size, sizeof(array_));
        CASES
    }
}

static void place_of(const char *decl, const char *text, uint32_t width, uint32_t offset, bool assigned)
{
    struct mg_expr e = {.text = text};
    struct mg_expr_place place;
    struct mg_diag diag;
    const struct mg_expr_thread thread = {{5, 1, 0}, {2, 0, 0}, {40, 2, 1}, {9, 1, 1}};
    assert_int_equal(mg__expr_declare(decl, &e, &diag), MG_OK);
    if (mg__expr_place(&e, &thread, &place, &diag) != MG_OK)
        fail_msg("%s: %s", text, diag.message);
    assert_int_equal(place.width, width);
    assert_int_equal(place.offset, offset);
    assert_int_equal(place.assigned, assigned);
}

static void types_and_names(void **state)
{
    (void)state;
    place_of("unsigned long long a[64]", "a[tid]", 8, 8 * 45, false); /* 5 + 40 * 1 */
    place_of("long a[64]", "a[lane]", 8, 8 * 13, false);
    place_of("long int a[64]", "a[warp]", 8, 8, false);
    place_of("unsigned a[64]", "a[warpSize]", 4, 4 * 32, false);
    place_of("unsigned short a[64]", "a[bx]", 2, 4, false);
    place_of("__half2 a[64]", "a[blockDim.x + gridDim.x]", 4, 4 * 49, false);
    place_of("uchar4 a[64]", "a[1].w", 1, 7, false);
    place_of("longlong2 a[8]", "a[3]", 16, 48, false);
    place_of("float3 a[8]", "a[2].y", 4, 28, false);
    place_of("float a[8]", "a[1] += 2.5f * b[7];", 4, 4, true); /* what is stored is nobody's business */
    place_of("float a[8]", "a[2] = 1", 4, 8, true);
    place_of("float a[8]", " a [ 0b11 ] ; ", 4, 12, false);
    place_of("float a[8]", "a[0 && 1 / 0]", 4, 0, false); /* C does not evaluate it either */
    place_of("float a[8]", "a[1 || 1 % 0]", 4, 4, false);
    place_of("float a[8]", "a[0 ? 1 / 0 : 2]", 4, 8, false);
}

static void wrong(const char *decl, const char *let, const char *text, const char *option, unsigned column,
                  const char *says)
{
    struct mg_expr e = {.text = text};
    struct mg_expr_place place;
    struct mg_diag diag = {.status = MG_OK};
    const struct mg_expr_thread thread = {{5, 1, 0}, {0, 0, 0}, {32, 2, 1}, {1, 1, 1}};
    enum mg_status status = mg__expr_declare(decl, &e, &diag);
    if (!status && let)
        status = mg__expr_let(let, &e, &diag);
    if (!status)
        status = mg__expr_place(&e, &thread, &place, &diag);
    if (!status || !strstr(diag.message, says) || strcmp(diag.file, option) || diag.column != column)
        fail_msg("%s | %s: status %d, %s: %u: %s", decl, text, status, diag.file, diag.column, diag.message);
}

static void mistakes_are_told_with_their_column(void **state)
{
    (void)state;
    wrong("float tile", NULL, "", "--decl", 11, "an array is needed");
    wrong("flaot tile[3]", NULL, "", "--decl", 1, "'flaot' is no type");
    wrong("", NULL, "", "--decl", 1, "a type is needed");
    wrong("float tile[0]", NULL, "", "--decl", 12, "at least 1");
    wrong("float tile[n]", NULL, "", "--decl", 12, "'n' has no value");
    wrong("float tile[1 << 40]", NULL, "", "--decl", 12, "larger than any");
    wrong("float tile[4096][4096][4096]", NULL, "", "--decl", 18, "larger than any");
    wrong("float tile[32", NULL, "", "--decl", 14, "] is missing");
    wrong("float a[4], b[4]", NULL, "", "--decl", 11, "nothing more");
    wrong("float a[4]", "i", "", "--let", 2, "a value is needed");
    wrong("float a[4]", "i=1 j=2", "", "--let", 5, "comma");
    wrong("float a[4]", NULL, "a[k]", "EXPRESSION", 3, "'k' is not known");
    wrong("float a[4]", NULL, "b[0]", "EXPRESSION", 1, "must begin with");
    wrong("float a[4][4]", NULL, "a[0]", "EXPRESSION", 5, "more dimensions");
    wrong("float a[4]", NULL, "a[threadIdx]", "EXPRESSION", 3, "needs .x");
    wrong("float a[4]", NULL, "a[1 / (tx - 5)]", "EXPRESSION", 5, "divides by zero");
    wrong("float a[4]", NULL, "a[1 << 64]", "EXPRESSION", 5, "shifts by");
    wrong("float a[4]", NULL, "a[1.5]", "EXPRESSION", 3, "'1.5' is no whole number");
    wrong("float a[4]", NULL, "a[99999999999999999999]", "EXPRESSION", 3, "no whole number");
    wrong("float a[4]", NULL, "a[f(1)]", "EXPRESSION", 3, "'f' is not known");
    wrong("float a[4]", NULL, "a[(1]", "EXPRESSION", 5, ") is missing");
    wrong("float a[4]", NULL, "a[1 ? 2]", "EXPRESSION", 8, ": is missing");
    wrong("float a[4]", NULL, "a[]", "EXPRESSION", 3, "a value is needed");
    wrong("float a[4]", NULL, "a[1] b", "EXPRESSION", 6, "nothing more");
    wrong("float a[4]", NULL, "a[0].x", "EXPRESSION", 6, "no component");
    wrong("float2 a[4]", NULL, "a[0].z", "EXPRESSION", 6, "no component");
    wrong("float a[4]", NULL, "a[tx]", "EXPRESSION", 1, "thread (5,1,0) accesses element 5 of 'a', which has 4");
    wrong("float a[4]", NULL, "a[0 - 1]", "EXPRESSION", 1, "element -1");
}

static void deep_and_long_texts_end(void **state)
{
    (void)state;
    char text[3 * MG_EXPR_TEXT];
    memset(text, '(', sizeof(text));
    memcpy(text, "a[", 2);
    text[2000] = 0;
    wrong("float a[4]", NULL, text, "EXPRESSION", 53, "nested too deeply"); /* two levels a parenthesis */
    memset(text + 2, '-', sizeof(text) - 2);
    text[2000] = 0;
    wrong("float a[4]", NULL, text, "EXPRESSION", 102, "nested too deeply");
    memset(text, 'a', sizeof(text));
    text[sizeof(text) - 1] = 0;
    wrong("float a[4]", NULL, text, "EXPRESSION", 1, "too long");
}

static uint64_t seed = 20261122;
static uint32_t dice(uint32_t sides)
{
    seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(seed >> 33) % sides;
}

/* Pieces of expressions in no order, and single bytes changed: the text lies in memory of its own length. */
static void noise_is_refused_or_read(void **state)
{
    (void)state;
    static const char *const pieces[] = {"tile",  "[",
                                         "]",     "[ty]",
                                         "tx",    "threadIdx.x",
                                         "+",     "-",
                                         "*",     "/",
                                         "%",     "<<",
                                         ">>",    "&&",
                                         "||",    "?",
                                         ":",     "(",
                                         ")",     "~",
                                         "!",     "0",
                                         "33",    "0x",
                                         "float", "4",
                                         ".x",    "=",
                                         ";",     " ",
                                         "(int)", "unsigned",
                                         "long",  "-9223372036854775807",
                                         "i",     ",",
                                         "\x80",  "\xff",
                                         "\n"};
    unsigned read = 0;
    for (unsigned round = 0; round < 60000; round++) {
        char text[256] = "", *own[3];
        for (unsigned k = 0; k < 3; k++) {
            snprintf(text, sizeof(text), "%s",
                     k == 0   ? "float tile[32][33]"
                     : k == 1 ? "i=3, n=4"
                              : "tile[ty * 2 + i][tx]");
            if (dice(3) == 0) {
                text[0] = 0;
                for (unsigned p = dice(20); p; p--)
                    strncat(text, pieces[dice(MG_COUNT(pieces))], sizeof(text) - strlen(text) - 1);
            }
            for (unsigned p = dice(3); p && *text; p--)
                text[dice((uint32_t)strlen(text))] = (char)(1 + dice(255));
            own[k] = strdup(text); /* a sanitizer sees what reads behind it */
            assert_non_null(own[k]);
        }
        struct mg_expr e = {.text = own[2]};
        struct mg_expr_place place;
        struct mg_diag diag;
        const struct mg_expr_thread thread = {{dice(32), dice(8), 0}, {0, 0, 0}, {32, 8, 1}, {1, 1, 1}};
        bool good = mg__expr_declare(own[0], &e, &diag) == MG_OK && mg__expr_let(own[1], &e, &diag) == MG_OK &&
                    mg__expr_place(&e, &thread, &place, &diag) == MG_OK;
        if (good) {
            assert_true(place.width > 0 && place.offset + place.width <= e.array.size);
            read++;
        } else {
            assert_true(diag.message[0] && diag.column > 0);
        }
        for (unsigned k = 0; k < 3; k++)
            free(own[k]);
    }
    if (read < 300) /* most are refused, and not all */
        fail_msg("%u were read", read);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cases_agree_with_c),
        cmocka_unit_test(types_and_names),
        cmocka_unit_test(mistakes_are_told_with_their_column),
        cmocka_unit_test(deep_and_long_texts_end),
        cmocka_unit_test(noise_is_refused_or_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
