/* wgmma_device.c - what this machine's GPU answers to the multiplications of tests/isa/wgmma.def, on standard output.
 *
 * From the repository's root, on a machine with NVIDIA's driver (a compiler and no toolkit; a minute):
 *     cc -O2 -I tests -o /tmp/wgmma_device tests/isa/wgmma_device.c tests/isa/wgmma.c tests/isa/matrix.c -ldl
 *     /tmp/wgmma_device >wgmma-h200.txt
 * Some only: /tmp/wgmma_device bf16. PTX alone, without a GPU: /tmp/wgmma_device --ptx DIRECTORY. With raw results of
 * some blocks too: /tmp/wgmma_device --raw.
 *
 * Lines: "digest <hash> <kind> <case>", over the results of all blocks of a kind, in their order; "layout <hash>
 * <case>", over the numbers of the elements, row by row; with --raw "probe <block> <case> : <words>", registers thread
 * after thread, and "map <case> : <numbers>", in runs. "failed" and the driver's number: what could not be run.
 */
#include "isa/gpu.h"
#include "isa/wgmma.h"
#include <stdlib.h>
#include <string.h>

enum { RAW = 27 };

/* The kernel of a module; each is loaded once. */
static int kernel_of(const char *text, void **kernel)
{
    static struct {
        char *text;
        void *kernel;
    } known[1024];
    static int count;
    for (int i = 0; i < count; i++)
        if (!strcmp(known[i].text, text)) {
            *kernel = known[i].kernel;
            return 0;
        }
    void *module;
    int error = CALL("cuModuleLoadData", &module, text);
    error = error ? error : CALL("cuModuleGetFunction", kernel, module, "run");
    if (!error && count < 1024) {
        known[count].text = strdup(text);
        known[count++].kernel = *kernel;
    }
    return error;
}

static int answer(const char *text, unsigned blocks, uint64_t a, uint64_t b, const void *in, size_t in_bytes, void *out,
                  size_t out_bytes)
{
    void *kernel;
    int error = kernel_of(text, &kernel);
    return error ? error : gpu_run(kernel, blocks, 128, a, b, in, in_bytes, out, out_bytes);
}

static char *ptx_of(const struct wgmma_case *c, const struct wgmma_layout *l)
{
    char *text;
    size_t length;
    FILE *file = open_memstream(&text, &length);
    if (c)
        wgmma_module(file, c);
    else
        wgmma_layout_module(file, l);
    fclose(file);
    return text;
}

/* Matrices without a swizzle: core matrices lie behind each other along rows or columns first, then along k. */
static uint64_t plain(const struct wgmma_case *c, bool of_b)
{
    uint64_t start = of_b ? 4 * (uint64_t)c->a_words : 0, rows = of_b ? (uint64_t)c->n : 64;
    return start >> 4 | rows << 16 | 8ull << 32;
}

static void run_case(const struct wgmma_case *c, bool raw)
{
    int blocks = wgmma_blocks(c);
    size_t in_words = (size_t)c->in_words, out_words = (size_t)c->out_words, n = (size_t)blocks;
    uint32_t *in = malloc(4 * n * in_words), *out = calloc(n * out_words, 4);
    for (int b = 0; b < blocks; b++)
        wgmma_input(c, b, in + (size_t)b * in_words);
    char *text = ptx_of(c, NULL);
    int error =
        answer(text, (unsigned)blocks, plain(c, false), plain(c, true), in, 4 * n * in_words, out, 4 * n * out_words);
    if (error)
        printf("failed %d %s\n", error, c->text);
    for (int kind = 0; kind < MATRIX_KINDS && !error; kind++) {
        uint64_t h = 0xcbf29ce484222325u;
        for (size_t b = (size_t)kind; b < n; b += MATRIX_KINDS)
            for (size_t i = 0; i < out_words; i++)
                h = (h ^ out[b * out_words + i]) * 0x100000001b3u;
        printf("digest %016llx %d %s\n", (unsigned long long)h, kind, c->text);
    }
    for (size_t b = 0; b < RAW && b < n && raw && !error && c->n == 8; b++) {
        printf("probe %zu %s :", b, c->text);
        for (size_t i = 0; i < out_words; i++)
            printf(" %x", out[b * out_words + i]);
        putchar('\n');
    }
    free(text);
    free(in);
    free(out);
}

static void run_layout(const struct wgmma_layout *l, bool raw)
{
    const int rows = l->of_b ? l->n : 64, words = wgmma_layout_words(l);
    uint32_t *in = malloc(4 * (size_t)words), *out = calloc((size_t)l->c.out_words, 4);
    unsigned number[96 * 32] = {0};
    char *text = ptx_of(NULL, l);
    int error = 0;
    for (int part = 0; part < l->parts && !error; part++) {
        const uint64_t ones = (WGMMA_SHARED - 2048) >> 4 | 8ull << 16 | 16ull << 32;
        wgmma_layout_input(l, part, in);
        error = answer(text, 1, l->of_b ? 0 : l->descriptor, l->of_b ? l->descriptor : ones, in, 4 * (size_t)words, out,
                       4 * (size_t)l->c.out_words);
        for (int i = 0; i < rows; i++) /* of B, columns */
            for (int k = 0; k < l->k; k++)
                number[i * l->k + k] |= wgmma_layout_number(l, out, l->of_b ? k : i, l->of_b ? i : k) << 8 * part;
    }
    uint64_t h = 0xcbf29ce484222325u;
    for (int i = 0; i < rows * l->k; i++)
        h = (h ^ number[i]) * 0x100000001b3u;
    if (error)
        printf("failed %d %s\n", error, l->text);
    else
        printf("layout %016llx %s\n", (unsigned long long)h, l->text);
    if (raw && !error) {
        printf("map %s :", l->text);
        for (int i = 0; i < rows * l->k;) {
            int from = i++;
            while (i % l->k && number[i] == number[i - 1] + 1)
                i++;
            printf(" %x+%d", number[from], i - from);
        }
        putchar('\n');
    }
    free(text);
    free(in);
    free(out);
}

static int write_ptx(const char *directory)
{
    struct wgmma_case c;
    struct wgmma_layout l;
    int written = 0;
    bool cases = true;
    for (int i = 0, from = 0;; i++) {
        if (cases && !wgmma_case(i, &c))
            cases = false, from = i;
        if (!cases && !wgmma_layout(i - from, &l))
            break;
        char path[512], *text = ptx_of(cases ? &c : NULL, &l);
        snprintf(path, sizeof path, "%s/%d.ptx", directory, i);
        FILE *file = fopen(path, "w");
        if (!file)
            return 1;
        fprintf(file, "// %s\n%s", cases ? c.text : l.text, text);
        fclose(file);
        free(text);
        written++;
    }
    printf("%d modules\n", written);
    return 0;
}

int main(int argc, char **argv)
{
    struct wgmma_case c;
    struct wgmma_layout l;
    if (argc > 2 && !strcmp(argv[1], "--ptx"))
        return write_ptx(argv[2]);
    const bool raw = argc > 1 && !strcmp(argv[1], "--raw");
    const char *wanted = argc > 1 && !raw ? argv[1] : "";
    if (!gpu_open())
        return 2;
    for (int i = 0; wgmma_layout(i, &l); i++)
        if (strstr(l.text, wanted))
            run_layout(&l, raw);
    for (int i = 0; wgmma_case(i, &c); i++)
        if (strstr(c.text, wanted))
            run_case(&c, raw);
    return 0;
}
