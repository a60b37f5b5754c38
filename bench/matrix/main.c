/* main.c - bench_matrix: products of matrices by mma.sync and wgmma, bulk and tensor copies, with counters on, beside
 * plain C.
 *
 *     bench_matrix [--size N] [--large N] [--reps N] [--only NAME] [--strict]
 *
 * One worker; processor time, so that other work on the machine counts little; the best of the rounds. The peer of a
 * product is plain C that gives the same bits (plain.c), and each result is first compared with it; the peer of a copy
 * is memcpy. The large product is one of f16, verified as well. Exit status: 0; 1 if a result is wrong; 2 for a bad
 * argument; with --strict 3 if a target is missed: 1 G multiply-adds a second, 2 s for the large product, and copies
 * within three times of memcpy.
 */
#define _GNU_SOURCE
#include "margay/margay.h"
#include "matrix.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef BENCH_MATRIX_PTX
#define BENCH_MATRIX_PTX "bench/matrix/kernels.ptx"
#endif

static const struct matrix_type types[] = {
    {"f16", "gemm_f16", 2, 5, 10, 0, 16, 25, false, false},
    {"bf16", "gemm_bf16", 2, 8, 7, 0, 16, 25, false, false},
    {"tf32", "gemm_tf32", 4, 8, 10, 13, 8, 25, false, false},
    {"e4m3", "gemm_e4m3", 1, 4, 3, 0, 32, 25, true, false},
    {"s8", "gemm_s8", 1, 0, 0, 0, 32, 0, false, false},
    {"wgmma f16", "wgmma_f16", 2, 5, 10, 0, 16, 25, false, true},
    {"wgmma bf16", "wgmma_bf16", 2, 8, 7, 0, 16, 25, false, true},
    {"wgmma tf32", "wgmma_tf32", 4, 8, 10, 13, 8, 25, false, true},
    {"wgmma e4m3", "wgmma_e4m3", 1, 4, 3, 0, 32, 13, false, true},
    {"wgmma s8", "wgmma_s8", 1, 0, 0, 0, 32, 0, false, true},
};

static struct mg_context *context;
static struct mg_module *module;
static unsigned reps = 5;
static const char *only;
static bool missed;

static double processor_time(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static bool failed(const char *what)
{
    const struct mg_diag *d = mg_last_error(context);
    fprintf(stderr, "bench_matrix: %s: %s [%s]\n", what, d->message, d->excerpt);
    return false;
}

static void report(const char *name, double amount, const char *unit, double ours, double peer, bool met)
{
    printf("%-11s %8.2f ms  %7.2f %s   plain C %8.2f ms   x C %6.2f   %s\n", name, ours * 1e3, amount / ours * 1e-9,
           unit, peer * 1e3, peer / ours, met ? "met" : "NOT MET");
    missed |= !met;
}

/* Best of the rounds of a launch. */
static bool time_launch(const char *name, struct mg_dim3 grid, unsigned threads, unsigned shared, void **args,
                        double *best)
{
    const struct mg_dim3 block = {threads, 1, 1};
    struct mg_kernel *kernel;
    *best = 1e9;
    if (mg_kernel_find(module, name, &kernel) != MG_OK)
        return failed(name);
    for (unsigned round = 0; round <= reps; round++) { /* the first one compiles */
        const double start = processor_time();
        if (mg_launch(context, kernel, grid, block, shared, args) != MG_OK)
            return failed(name);
        const double took = processor_time() - start;
        if (round && took < *best)
            *best = took;
    }
    return true;
}

/* Elements of several binades and either sign. */
static void fill(const struct matrix_type *t, unsigned char *to, size_t count, uint32_t seed)
{
    for (size_t i = 0; i < count; i++) {
        seed = seed * 1664525u + 1013904223u;
        uint32_t bits = seed >> (32 - 8 * t->bytes);
        if (t->kept) {
            const int at = t->fraction + t->unused, middle = (1 << t->exponent) / 2 - 1;
            bits &= ~(((1u << t->exponent) - 1) << at);
            bits |= (uint32_t)(middle - 3 + (int)(seed >> 9 & 7)) << at;
        }
        memcpy(to + i * t->bytes, &bits, t->bytes);
    }
}

/* A tensor map of `lines` lines of `pitch` bytes, on the device. */
static bool map_of(uint64_t matrix, unsigned lines, unsigned pitch, uint64_t *map)
{
    struct mg_kernel *kernel;
    int of_lines = (int)lines, of_pitch = (int)pitch;
    void *args[] = {map, &matrix, &of_lines, &of_pitch};
    return mg_mem_alloc(context, 128, map) == MG_OK && mg_kernel_find(module, "make_map", &kernel) == MG_OK &&
           mg_launch(context, kernel, (struct mg_dim3){1, 1, 1}, (struct mg_dim3){32, 1, 1}, 0, args) == MG_OK;
}

static bool wanted(const char *name)
{
    return !only || !strcmp(only, name);
}

/* `seconds`: the target, or 0 for 1 G multiply-adds a second. */
static bool product(const char *name, const struct matrix_type *t, unsigned size, double seconds)
{
    const size_t bytes = (size_t)size * size * t->bytes, out = (size_t)size * size * 4;
    uint64_t a = 0, b = 0, c = 0, map_a = 0, map_b = 0;
    if (!wanted(name))
        return true;
    uint32_t *want = calloc(1, out);
    bool good = want && mg_mem_alloc(context, bytes, &a) == MG_OK && mg_mem_alloc(context, bytes, &b) == MG_OK &&
                mg_mem_alloc(context, out, &c) == MG_OK;
    if (good && t->warpgroup)
        good = map_of(a, size, size * t->bytes, &map_a) && map_of(b, size, size * t->bytes, &map_b);
    if (good) {
        int n = (int)size, pitch = (int)(size * t->bytes);
        double ours, peer = 1e9;
        void *args[] = {&c, t->warpgroup ? &map_a : &a, t->warpgroup ? &map_b : &b, &n, &pitch};
        fill(t, (unsigned char *)(uintptr_t)a, (size_t)size * size, 1);
        fill(t, (unsigned char *)(uintptr_t)b, (size_t)size * size, 2);
        for (unsigned round = 0; round < 2; round++) {
            const double start = processor_time();
            matrix_plain(t, want, (const void *)(uintptr_t)a, (const void *)(uintptr_t)b, size, size);
            const double took = processor_time() - start;
            peer = took < peer ? took : peer;
        }
        good = time_launch(t->kernel, (struct mg_dim3){size / 128, size / 128, 1}, 256, t->warpgroup ? 99 * 1024 : 0,
                           args, &ours);
        if (good && memcmp(want, (const void *)(uintptr_t)c, out) != 0) {
            fprintf(stderr, "bench_matrix: %s: the result is wrong\n", name);
            good = false;
        }
        const double adds = (double)size * size * size;
        if (good)
            report(name, adds, "G multiply-adds/s", ours, peer, seconds > 0 ? ours < seconds : adds / ours >= 1e9);
    } else {
        failed(name);
    }
    const uint64_t all[] = {a, b, c, map_a, map_b};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        mg_mem_free(context, all[i]);
    free(want);
    return good;
}

enum { COPIED = 64 << 20, PIECE = 32768, TILE = 128, PITCH = 8192 };

static bool copy(const char *name, bool tensor)
{
    const size_t bytes = COPIED;
    uint64_t from = 0, to = 0, map_from = 0, map_to = 0;
    if (!wanted(name))
        return true;
    bool good = mg_mem_alloc(context, bytes, &from) == MG_OK && mg_mem_alloc(context, bytes, &to) == MG_OK;
    if (good && tensor)
        good = map_of(from, COPIED / PITCH, PITCH, &map_from) && map_of(to, COPIED / PITCH, PITCH, &map_to);
    if (good) {
        int pieces = COPIED / PIECE, across = PITCH / TILE, tiles = COPIED / (TILE * TILE);
        double ours, peer = 1e9;
        void *of_bulk[] = {&to, &from, &pieces}, *of_tensor[] = {&map_to, &map_from, &across, &tiles};
        void *there = (void *)(uintptr_t)to, *here = (void *)(uintptr_t)from;
        for (size_t i = 0; i < bytes / 4; i++)
            ((uint32_t *)here)[i] = (uint32_t)i * 2654435761u;
        for (unsigned round = 0; round <= reps; round++) {
            const double start = processor_time();
            memcpy(there, here, bytes);
            const double took = processor_time() - start;
            peer = took < peer && round ? took : peer;
        }
        memset(there, 0, bytes);
        good = time_launch(tensor ? "tensor_copy" : "bulk_copy", (struct mg_dim3){132, 1, 1}, 32, 0,
                           tensor ? of_tensor : of_bulk, &ours);
        if (good && memcmp(here, there, bytes) != 0) {
            fprintf(stderr, "bench_matrix: %s: the result is wrong\n", name);
            good = false;
        }
        if (good)
            report(name, (double)bytes, "GB/s             ", ours, peer, ours <= 3 * peer);
    } else {
        failed(name);
    }
    const uint64_t all[] = {from, to, map_from, map_to};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        mg_mem_free(context, all[i]);
    return good;
}

static bool load(void)
{
    static char text[1 << 20];
    FILE *file = fopen(BENCH_MATRIX_PTX, "r");
    const size_t length = file ? fread(text, 1, sizeof text, file) : 0;
    if (file)
        fclose(file);
    if (!length || length == sizeof text) {
        fprintf(stderr, "bench_matrix: %s cannot be read\n", BENCH_MATRIX_PTX);
        return false;
    }
    struct mg_options options = {.threads = 1, .profile = 1};
    if (mg_context_create(&options, &context) != MG_OK) {
        fprintf(stderr, "bench_matrix: the simulator does not start\n");
        return false;
    }
    return mg_module_load(context, text, length, &module) == MG_OK || failed("kernels.ptx");
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"size", required_argument, NULL, 'n'}, {"large", required_argument, NULL, 'l'},
        {"reps", required_argument, NULL, 'r'}, {"only", required_argument, NULL, 'o'},
        {"strict", no_argument, NULL, 's'},     {0}};
    unsigned size = 512, large = 1024;
    bool strict = false, good = true;
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;)
        if (c == 's')
            strict = true;
        else if (c == 'o')
            only = optarg;
        else if (c == 'n' || c == 'r' || c == 'l')
            *(c == 'n' ? &size : c == 'l' ? &large : &reps) = (unsigned)strtoul(optarg, NULL, 10);
        else
            return 2;
    if (!size || size % 128 || !large || large % 128 || !reps || optind < argc) {
        fprintf(stderr, "usage: bench_matrix [--size N] [--large N] [--reps N] [--only NAME] [--strict]\n"
                        "Sizes are multiples of 128.\n");
        return 2;
    }
    good = load();
    if (good)
        printf(
            "products of %ux%ux%u by mma.sync and wgmma, one of %ux%ux%u, and copies of 64 MiB; one worker, counters "
            "on, processor time\n",
            size, size, size, large, large, large);
    for (size_t i = 0; good && i < sizeof types / sizeof *types; i++)
        good = product(types[i].name, &types[i], size, 0);
    good = good && product("large f16", &types[0], large, 2) && copy("bulk copy", false) && copy("tensor copy", true);
    mg_context_destroy(context);
    return !good ? 1 : strict && missed ? 3 : 0;
}
