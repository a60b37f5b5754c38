/* test_wgmma.c - warpgroup multiplications through the engine, against what an H200 answered (wgmma-h200.txt, which
 * wgmma_device.c wrote): a million results of each, random and directed, every width, and which elements of shared
 * memory a descriptor names. */
#include "isa/embedded.h"
#include "isa/wgmma.h"

/* Whether the file has the line. */
static bool kept(const char *want)
{
    static char *all;
    static size_t size;
    if (!all) {
        FILE *file = fopen(WGMMA_MEASURED, "r");
        assert_non_null(file);
        FILE *copy = open_memstream(&all, &size);
        fputc('\n', copy);
        for (int c; (c = fgetc(file)) != EOF;)
            fputc(c, copy);
        fclose(copy);
        fclose(file);
    }
    char line[256];
    snprintf(line, sizeof line, "\n%s\n", want);
    return strstr(all, line) != NULL;
}

static uint64_t hash(uint64_t h, uint32_t word)
{
    return (h ^ word) * 0x100000001b3u;
}

/* As wgmma_device.c has it. */
static uint64_t plain(const struct wgmma_case *c, bool of_b)
{
    uint64_t start = of_b ? 4 * (uint64_t)c->a_words : 0, rows = of_b ? (uint64_t)c->n : 64;
    return start >> 4 | rows << 16 | 8ull << 32;
}

static int wrong_kinds(const struct wgmma_case *c)
{
    const size_t n = (size_t)wgmma_blocks(c), in_words = (size_t)c->in_words, out_words = (size_t)c->out_words;
    uint32_t *in = calloc(n * in_words, 4), *out = calloc(n * out_words, 4);
    for (size_t b = 0; b < n; b++)
        wgmma_input(c, (int)b, in + b * in_words);
    char *text;
    size_t length;
    FILE *file = open_memstream(&text, &length);
    wgmma_module(file, c);
    fclose(file);
    const bool ran = embedded_run(text, length, (unsigned)n, 128, plain(c, false), plain(c, true), in, 4 * n * in_words,
                                  out, 4 * n * out_words);
    int wrong = !ran;
    for (unsigned kind = 0; kind < MATRIX_KINDS && ran; kind++) {
        uint64_t h = 0xcbf29ce484222325u;
        for (size_t b = kind; b < n; b += MATRIX_KINDS)
            for (size_t i = 0; i < out_words; i++)
                h = hash(h, out[b * out_words + i]);
        char want[192];
        snprintf(want, sizeof want, "digest %016llx %u %s", (unsigned long long)h, kind, c->text);
        if (!kept(want)) {
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
    struct wgmma_case c;
    int wrong = 0;
    for (int i = 0; wgmma_case(i, &c); i++)
        wrong += wrong_kinds(&c);
    assert_int_equal(wrong, 0);
}

static bool is_right(const struct wgmma_layout *l)
{
    const int rows = l->of_b ? l->n : 64;
    const size_t in_words = (size_t)wgmma_layout_words(l), out_words = (size_t)l->c.out_words;
    uint32_t *in = calloc(in_words, 4), *out = calloc(out_words, 4);
    unsigned number[96 * 32] = {0};
    const uint64_t ones = (WGMMA_SHARED - 2048) >> 4 | 8ull << 16 | 16ull << 32;
    bool good = true;
    for (int part = 0; part < l->parts && good; part++) {
        char *text;
        size_t length;
        FILE *file = open_memstream(&text, &length);
        wgmma_layout_module(file, l);
        fclose(file);
        wgmma_layout_input(l, part, in);
        good = embedded_run(text, length, 1, 128, l->of_b ? 0 : l->descriptor, l->of_b ? l->descriptor : ones, in,
                            4 * in_words, out, 4 * out_words);
        for (int i = 0; i < rows; i++)
            for (int k = 0; k < l->k; k++)
                number[i * l->k + k] |= wgmma_layout_number(l, out, l->of_b ? k : i, l->of_b ? i : k) << 8 * part;
    }
    uint64_t h = 0xcbf29ce484222325u;
    for (int i = 0; i < rows * l->k; i++)
        h = hash(h, number[i]);
    char want[192];
    snprintf(want, sizeof want, "layout %016llx %s", (unsigned long long)h, l->text);
    good = good && kept(want);
    if (!good)
        print_error("%s: other elements than the device's\n", l->text);
    free(in);
    free(out);
    return good;
}

static void layouts_are_the_devices(void **state)
{
    (void)state;
    struct wgmma_layout l;
    int wrong = 0;
    for (int i = 0; wgmma_layout(i, &l); i++)
        wrong += !is_right(&l);
    assert_int_equal(wrong, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layouts_are_the_devices),
        cmocka_unit_test(results_are_the_devices),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
