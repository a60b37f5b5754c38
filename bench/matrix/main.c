/* main.c - bench_matrix: products of matrices by mma.sync, and bulk copies, with counters on, beside plain C.
 *
 *     bench_matrix [--size N] [--reps N] [--strict]
 *
 * One worker; processor time, so that other work on the machine counts little; the best of the rounds. The peer of a
 * product is plain C that gives the same bits (plain.c), and each result is first compared with it; the peer of a copy
 * is memcpy. Exit status: 0; 1 if a result is wrong; 2 for a bad argument; with --strict 3 if a target is missed: 1 G
 * multiply-adds a second, and copies within three times of memcpy.
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
    {"f16", "gemm_f16", 2, 5, 10, 0, 16, false},   {"bf16", "gemm_bf16", 2, 8, 7, 0, 16, false},
    {"tf32", "gemm_tf32", 4, 8, 10, 13, 8, false}, {"e4m3", "gemm_e4m3", 1, 4, 3, 0, 32, false},
    {"s8", "gemm_s8", 1, 0, 0, 0, 32, true},
};

static struct mg_context *context;
static struct mg_module *module;
static unsigned size = 512, reps = 5;
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
    printf("%-10s %8.2f ms  %7.2f %s   plain C %8.2f ms   x C %6.2f   %s\n", name, ours * 1e3, amount / ours * 1e-9,
           unit, peer * 1e3, peer / ours, met ? "met" : "NOT MET");
    missed |= !met;
}

/* Best of the rounds of a launch. */
static bool time_launch(const char *name, struct mg_dim3 grid, struct mg_dim3 block, void **args, double *best)
{
    struct mg_kernel *kernel;
    *best = 1e9;
    if (mg_kernel_find(module, name, &kernel) != MG_OK)
        return failed(name);
    for (unsigned round = 0; round <= reps; round++) { /* the first one compiles */
        const double start = processor_time();
        if (mg_launch(context, kernel, grid, block, 0, args) != MG_OK)
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
        if (!t->whole) {
            const int at = t->fraction + t->unused, middle = (1 << t->exponent) / 2 - 1;
            bits &= ~(((1u << t->exponent) - 1) << at);
            bits |= (uint32_t)(middle - 3 + (int)(seed >> 9 & 7)) << at;
        }
        memcpy(to + i * t->bytes, &bits, t->bytes);
    }
}

static bool product(const struct matrix_type *t)
{
    const size_t bytes = (size_t)size * size * t->bytes, out = (size_t)size * size * 4;
    uint64_t a = 0, b = 0, c = 0;
    uint32_t *want = calloc(1, out);
    bool good = want && mg_mem_alloc(context, bytes, &a) == MG_OK && mg_mem_alloc(context, bytes, &b) == MG_OK &&
                mg_mem_alloc(context, out, &c) == MG_OK;
    if (good) {
        int n = (int)size, pitch = (int)(size * t->bytes);
        double ours, peer = 1e9;
        void *args[] = {&c, &a, &b, &n, &pitch};
        fill(t, (unsigned char *)(uintptr_t)a, (size_t)size * size, 1);
        fill(t, (unsigned char *)(uintptr_t)b, (size_t)size * size, 2);
        for (unsigned round = 0; round < 2; round++) {
            const double start = processor_time();
            matrix_plain(t, want, (const void *)(uintptr_t)a, (const void *)(uintptr_t)b, size, size);
            const double took = processor_time() - start;
            peer = took < peer ? took : peer;
        }
        good = time_launch(t->kernel, (struct mg_dim3){size / 128, size / 128, 1}, (struct mg_dim3){256, 1, 1}, args,
                           &ours);
        if (good && memcmp(want, (const void *)(uintptr_t)c, out) != 0) {
            fprintf(stderr, "bench_matrix: %s: the result is wrong\n", t->name);
            good = false;
        }
        const double adds = (double)size * size * size;
        if (good)
            report(t->name, adds, "G multiply-adds/s", ours, peer, adds / ours >= 1e9);
    } else {
        failed(t->name);
    }
    mg_mem_free(context, a);
    mg_mem_free(context, b);
    mg_mem_free(context, c);
    free(want);
    return good;
}

static bool copy(void)
{
    const size_t bytes = (size_t)64 << 20;
    uint64_t from = 0, to = 0;
    bool good = mg_mem_alloc(context, bytes, &from) == MG_OK && mg_mem_alloc(context, bytes, &to) == MG_OK;
    if (good) {
        int pieces = (int)(bytes / 32768);
        double ours, peer = 1e9;
        void *args[] = {&to, &from, &pieces}, *there = (void *)(uintptr_t)to, *here = (void *)(uintptr_t)from;
        for (size_t i = 0; i < bytes / 4; i++)
            ((uint32_t *)here)[i] = (uint32_t)i * 2654435761u;
        for (unsigned round = 0; round <= reps; round++) {
            const double start = processor_time();
            memcpy(there, here, bytes);
            const double took = processor_time() - start;
            peer = took < peer && round ? took : peer;
        }
        memset(there, 0, bytes);
        good = time_launch("bulk_copy", (struct mg_dim3){132, 1, 1}, (struct mg_dim3){32, 1, 1}, args, &ours);
        if (good && memcmp(here, there, bytes) != 0) {
            fprintf(stderr, "bench_matrix: bulk_copy: the result is wrong\n");
            good = false;
        }
        if (good)
            report("bulk copy", (double)bytes, "GB/s             ", ours, peer, ours <= 3 * peer);
    } else {
        failed("bulk_copy");
    }
    mg_mem_free(context, from);
    mg_mem_free(context, to);
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
    static const struct option options[] = {{"size", required_argument, NULL, 'n'},
                                            {"reps", required_argument, NULL, 'r'},
                                            {"strict", no_argument, NULL, 's'},
                                            {0}};
    bool strict = false, good = true;
    for (int c; (c = getopt_long(argc, argv, "", options, NULL)) != -1;)
        if (c == 's')
            strict = true;
        else if (c == 'n' || c == 'r')
            *(c == 'n' ? &size : &reps) = (unsigned)strtoul(optarg, NULL, 10);
        else
            return 2;
    if (!size || size % 128 || !reps || optind < argc) {
        fprintf(stderr, "usage: bench_matrix [--size N, a multiple of 128] [--reps N] [--strict]\n");
        return 2;
    }
    good = load();
    if (good)
        printf("products of %ux%ux%u by mma.sync, and 64 MiB by bulk copies; one worker, counters on, processor time\n",
               size, size, size);
    for (size_t i = 0; good && i < sizeof types / sizeof *types; i++)
        good = product(&types[i]);
    good = good && copy();
    mg_context_destroy(context);
    return !good ? 1 : strict && missed ? 3 : 0;
}
