/* matrix_device.c - what this machine's GPU answers to the matrix instructions of tests/isa/matrix.def, on standard
 * output.
 *
 * From the repository's root, on a machine with NVIDIA's driver (a compiler and no toolkit; a minute):
 *     cc -O2 -I tests -o /tmp/matrix_device tests/isa/matrix_device.c tests/isa/matrix.c -ldl
 *     /tmp/matrix_device >matrix-h200.txt
 * Some instructions only: /tmp/matrix_device bf16. PTX alone, without a GPU: /tmp/matrix_device --ptx DIRECTORY.
 *
 * Lines: "digest <hash> <kind> <instruction>", over the results of all warps of a kind, in their order;
 * "probe <warp> <instruction> : <words>", the results of one warp, registers lane after lane (of wmma, the matrix);
 * "fragment <shift> <wmma.load> : <words>", the registers lane after lane. What they are the results of,
 * matrix_input and matrix_fragment_input say. "failed" and the driver's number: what could not be run.
 */
#include "isa/gpu.h"
#include "isa/matrix.h"
#include <stdlib.h>
#include <string.h>

enum { PROBES = 54, THREADS = 128 };

static int answer(const char *text, unsigned threads, const void *in, size_t in_bytes, void *out, size_t out_bytes)
{
    void *module, *kernel;
    int error = CALL("cuModuleLoadData", &module, text);
    if (error)
        return error;
    unsigned block = threads < THREADS ? threads : THREADS;
    error = CALL("cuModuleGetFunction", &kernel, module, "run");
    error = error ? error : gpu_run(kernel, threads / block, block, 0, 0, in, in_bytes, out, out_bytes);
    CALL("cuModuleUnload", module);
    return error;
}

static char *ptx_of_case(const struct matrix_case *c, const struct matrix_fragment *f)
{
    char *text;
    size_t length;
    FILE *file = open_memstream(&text, &length);
    if (c)
        matrix_module(file, c);
    else
        matrix_fragment_module(file, f);
    fclose(file);
    return text;
}

static void words(const uint32_t *at, int count)
{
    for (int i = 0; i < count; i++)
        printf(" %x", at[i]);
    putchar('\n');
}

static void run_case(const struct matrix_case *c)
{
    int warps = matrix_warps(c) / 4 * 4;
    size_t in_bytes = 4 * (size_t)warps * (size_t)c->in_words, out_bytes = 4 * (size_t)warps * (size_t)c->out_words;
    uint32_t *in = malloc(in_bytes), *out = calloc(1, out_bytes);
    for (int w = 0; w < warps; w++)
        matrix_input(c, w, in + (size_t)w * (size_t)c->in_words);
    char *text = ptx_of_case(c, NULL);
    int error = answer(text, 32 * (unsigned)warps, in, in_bytes, out, out_bytes);
    if (error)
        printf("failed %d %s\n", error, c->text);
    for (int kind = 0; kind < MATRIX_KINDS && !error; kind++) {
        uint64_t h = 0xcbf29ce484222325u;
        for (int w = kind; w < warps; w += MATRIX_KINDS)
            for (int i = 0; i < c->out_words; i++)
                h = (h ^ out[(size_t)w * (size_t)c->out_words + (size_t)i]) * 0x100000001b3u;
        printf("digest %016llx %d %s\n", (unsigned long long)h, kind, c->text);
    }
    for (int w = 0; w < (c->a->exponent ? PROBES : MATRIX_KINDS) && !error; w++) {
        printf("probe %d %s :", w, c->text);
        words(out + w * c->out_words, c->out_words);
    }
    free(text);
    free(in);
    free(out);
}

static void run_fragment(const struct matrix_fragment *f)
{
    uint32_t in[1024], out[1024];
    char *text = ptx_of_case(NULL, f);
    for (int shift = 0; shift < 32 && f->rows * f->columns >> shift; shift += f->type->bits) {
        matrix_fragment_input(f, shift, in);
        int error = answer(text, 32, in, sizeof in, out, 128 * (size_t)f->words);
        if (error) {
            printf("failed %d %s\n", error, f->text);
            break;
        }
        printf("fragment %d %s :", shift, f->text);
        words(out, 32 * f->words);
    }
    free(text);
}

static bool wanted(const char *text, int argc, char **argv)
{
    return argc < 2 || strstr(text, argv[1]);
}

static int write_ptx(const char *directory)
{
    struct matrix_case c;
    struct matrix_fragment f;
    int written = 0;
    for (int i = 0;; i++) {
        bool is_case = i < matrix_count();
        if (is_case ? !matrix_case(i, &c) : !matrix_fragment(i - matrix_count(), &f))
            break;
        char path[512], *text = ptx_of_case(is_case ? &c : NULL, &f);
        snprintf(path, sizeof path, "%s/%d.ptx", directory, i);
        FILE *file = fopen(path, "w");
        if (!file)
            return 1;
        fprintf(file, "// %s\n%s", is_case ? c.text : f.text, text);
        fclose(file);
        free(text);
        written++;
    }
    printf("%d modules\n", written);
    return 0;
}

int main(int argc, char **argv)
{
    struct matrix_case c;
    struct matrix_fragment f;
    if (argc > 2 && !strcmp(argv[1], "--ptx"))
        return write_ptx(argv[2]);
    if (!gpu_open())
        return 2;
    for (int i = 0; i < matrix_count(); i++)
        if (!matrix_case(i, &c))
            printf("failed 0 %s\n", c.text);
        else if (wanted(c.text, argc, argv))
            run_case(&c);
    for (int i = 0; matrix_fragment(i, &f); i++)
        if (wanted(f.text, argc, argv))
            run_fragment(&f);
    return 0;
}
