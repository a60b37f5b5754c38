/* test_matrix.c - the matrix instructions through the engine, against what an H200 answered (matrix-h200.txt, which
 * matrix_device.c wrote): a million results of each, random and directed, and the fragments of wmma. */
#include "isa/embedded.h"
#include "isa/matrix.h"

static bool run_warps(char *text, size_t length, unsigned warps, const void *in, size_t in_bytes, void *out,
                      size_t out_bytes)
{
    return embedded_run(text, length, warps > 4 ? warps / 4 : 1, warps > 4 ? 128 : 32 * warps, 0, 0, in, in_bytes, out,
                        out_bytes);
}

/* The line of the file that ends so; "": there is none. */
static char *kept(const char *start, const char *end)
{
    static char line[1 << 15];
    FILE *file = fopen(MATRIX_MEASURED, "r");
    assert_non_null(file);
    bool found = false;
    while (!found && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        char *text = strstr(line, end);
        found = text && !strncmp(line, start, strlen(start)) && (text[strlen(end)] == 0 || text[strlen(end)] == ' ');
    }
    fclose(file);
    if (!found)
        line[0] = 0;
    return line;
}

static int wrong_kinds(const struct matrix_case *c)
{
    unsigned warps = (unsigned)matrix_warps(c) / 4 * 4;
    size_t in_words = (size_t)c->in_words, out_words = (size_t)c->out_words;
    uint32_t *in = calloc(warps * in_words, 4), *out = calloc(warps * out_words, 4);
    int wrong;
    for (unsigned w = 0; w < warps; w++)
        matrix_input(c, (int)w, in + w * in_words);
    char *text;
    size_t length;
    FILE *file = open_memstream(&text, &length);
    matrix_module(file, c);
    fclose(file);
    const bool ran = run_warps(text, length, warps, in, 4 * warps * in_words, out, 4 * warps * out_words);
    wrong = !ran;
    for (unsigned kind = 0; kind < MATRIX_KINDS && ran; kind++) {
        uint64_t h = 0xcbf29ce484222325u;
        for (unsigned w = kind; w < warps; w += MATRIX_KINDS)
            for (size_t i = 0; i < out_words; i++)
                h = (h ^ out[w * out_words + i]) * 0x100000001b3u;
        char want[160];
        snprintf(want, sizeof want, "digest %016llx %u %s", (unsigned long long)h, kind, c->text);
        if (strcmp(kept(want, c->text), want) != 0) {
            print_error("kind %u of %s: other results than the device's\n", kind, c->text);
            wrong++;
        }
    }
    free(in);
    free(out);
    return wrong;
}

static void results_are_the_devices(void **state)
{
    (void)state;
    int wrong = 0;
    for (int i = 0; i < matrix_count(); i++) {
        struct matrix_case c;
        assert_true(matrix_case(i, &c));
        wrong += wrong_kinds(&c);
    }
    assert_int_equal(wrong, 0);
}

static void fragments_are_the_devices(void **state)
{
    (void)state;
    struct matrix_fragment f;
    int wrong = 0;
    for (int i = 0; matrix_fragment(i, &f); i++)
        for (int shift = 0; shift < 32 && f.rows * f.columns >> shift; shift += f.type->bits) {
            uint32_t in[1024], out[1024];
            char *text, start[32], *at;
            size_t length;
            FILE *file = open_memstream(&text, &length);
            matrix_fragment_module(file, &f);
            fclose(file);
            matrix_fragment_input(&f, shift, in);
            bool good = run_warps(text, length, 1, in, sizeof in, out, 128 * (size_t)f.words);
            snprintf(start, sizeof start, "fragment %d ", shift);
            at = kept(start, f.text);
            assert_true(at[0]);
            at = strchr(at, ':') + 1;
            for (int k = 0; k < 32 * f.words; k++)
                good &= strtoul(at, &at, 16) == out[k];
            if (!good)
                print_error("%s\n", f.text);
            wrong += !good;
        }
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(results_are_the_devices),
        cmocka_unit_test(fragments_are_the_devices),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
