/* main.c - margay-bench: the ladders, verified and timed.
 *
 *     margay-bench [options] [OPERATION...]
 *
 * An ordinary CUDA program over the library. On a GPU it measures; under the simulator (that is how `margay bench` runs
 * it where there is no GPU) it runs every rung once, a mark before each, and writes which row is which to --rows. Exit
 * status: 0; 1 a rung's result is wrong; 2 it could not run.
 */
#include "bench_priv.h"

#include <cuda_runtime_api.h>
#include <ctype.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define OP(name) extern const struct bench_op bench_##name;
#include "op.def"
#undef OP
const struct bench_op *const bench_ops[] = {
#define OP(name) &bench_##name,
#include "op.def"
#undef OP
    NULL,
};

static const char usage[] =
    "usage: margay-bench [options] [OPERATION...]\n"
    "\n"
    "Verifies every rung of the collection's operations against plain C, then times it beside\n"
    "cuBLAS, CUB and a device copy, whichever there are. Without OPERATION: all of them.\n"
    "\n"
    "  --sizes LIST     sizes in place of the usual ones: 4096x4096x4096,2^28 (one operation only)\n"
    "  --reps N         repetitions of each timing, at least 20; default: 25\n"
    "  --json FILE      write the results as JSON\n"
    "  --rows FILE      write one line a row: what `margay bench` reads under the simulator\n"
    "  --list           list operations and their rungs\n"
    "  --device         print the device's name as a file name has it: nvidia-h100-80gb-hbm3\n"
    "  --quiet          no progress\n"
    "  --help           this text\n"
    "\n"
    "Exit status: 0; 1 when a rung's result is wrong; 2 when it could not run.\n";

static int complain(const char *what, const char *about)
{
    fprintf(stderr, "margay-bench: error: %s%s%s; see margay-bench --help\n", what, about ? ": " : "",
            about ? about : "");
    return 2;
}

/* "2^28", "4096", "2048x512x1024": `dims` numbers, or one that stands for all. */
bool bench_parse_size(const char *text, int dims, struct bench_size *size, const char **end)
{
    *size = (struct bench_size){{1, 1, 1}};
    int i = 0;
    for (;; i++) {
        char *stop;
        if (i == dims || *text < '0' || *text > '9')
            return false;
        unsigned long long v = strtoull(text, &stop, 10);
        if (*stop == '^') {
            char *power;
            if (v != 2 || stop[1] < '0' || stop[1] > '9')
                return false;
            unsigned long long e = strtoull(stop + 1, &power, 10);
            if (e > 40)
                return false;
            v = 1ull << e;
            stop = power;
        }
        if (v > 1ull << 40)
            return false;
        size->d[i] = (int64_t)v;
        text = stop;
        if (*text != 'x')
            break;
        text++;
    }
    for (int j = i + 1; i == 0 && j < dims; j++)
        size->d[j] = size->d[0];
    *end = text;
    return (i == 0 || i == dims - 1) && (*text == ',' || *text == 0);
}

static bool power_of_two(int64_t v, int *power)
{
    for (*power = 0; *power < 41; ++*power)
        if (v == (int64_t)1 << *power)
            return *power >= 16;
    return false;
}

void bench_print_size(const struct bench_size *size, int dims, char *text, size_t room)
{
    size_t at = 0;
    int power;
    text[0] = 0;
    for (int i = 0; i < dims && at < room; i++) {
        int n = dims == 1 && power_of_two(size->d[i], &power)
                    ? snprintf(text + at, room - at, "2^%d", power)
                    : snprintf(text + at, room - at, "%s%" PRId64, i ? "x" : "", size->d[i]);
        at += n > 0 ? (size_t)n : 0;
    }
}

static void list(void)
{
    for (size_t o = 0; bench_ops[o]; o++) {
        size_t count = 0;
        const struct mg_variant *v = bench_ops[o]->variants(&count);
        printf("%s %s (sizes %s; simulated %s)\n", bench_ops[o]->name, bench_ops[o]->type, bench_ops[o]->sizes_gpu,
               bench_ops[o]->sizes_sim);
        for (size_t i = 0; i < count; i++)
            printf("  %-24s %s\n", v[i].name, v[i].idea);
    }
}

/* The device's name in lower case, with dashes. */
static int print_device(void)
{
    struct cudaDeviceProp prop;
    if (cudaGetDeviceProperties(&prop, 0) != cudaSuccess)
        return complain("no GPU", NULL);
    bool dash = false;
    for (const char *p = prop.name; *p; p++) {
        bool plain = isalnum((unsigned char)*p) != 0;
        if (plain && dash)
            putchar('-');
        if (plain)
            putchar(tolower((unsigned char)*p));
        dash = !plain && p != prop.name;
    }
    putchar('\n');
    return 0;
}

static bool wanted(const struct bench_options *options, const struct bench_op *op)
{
    for (int i = 0; i < options->nnames; i++)
        if (!strcmp(options->names[i], op->name))
            return true;
    return options->nnames == 0;
}

static void fill_rows(struct bench_case *c)
{
    size_t count = 0;
    const struct mg_variant *v = c->op->variants(&count);
    c->rows = 0;
    if (c->op->plain)
        c->row[c->rows++] = (struct bench_row){.kind = BENCH_PLAIN,
                                               .name = "plain C",
                                               .idea = "one thread of the host",
                                               .gain = "the answer that the others are held to",
                                               .mark = -1,
                                               .figure = -1};
    for (size_t i = 0; i < count && c->rows < BENCH_MAX_ROWS; i++) {
        bool skip = c->op->skip && c->op->skip(&c->size, (int)i);
        c->row[c->rows++] = (struct bench_row){.kind = BENCH_RUNG,
                                               .index = (int)i,
                                               .name = v[i].name,
                                               .idea = v[i].idea,
                                               .gain = v[i].gain,
                                               .mark = -1,
                                               .figure = -1,
                                               .why = skip ? "too slow at this size" : NULL};
    }
    if (!bench_on_simulator())
        for (int i = 0; c->op->peers && c->op->peers[i] && c->rows < BENCH_MAX_ROWS; i++)
            c->row[c->rows++] = (struct bench_row){.kind = BENCH_PEER, .index = i, .name = c->op->peers[i], .idea = "",
                                                   .gain = "", .mark = -1, .figure = -1};
}

/* Whether --sizes is a list of sizes of the operation, which may have several element types: told once. */
static bool sizes_fit(const struct bench_options *options)
{
    for (size_t o = 0; bench_ops[o]; o++) {
        const char *at = options->sizes;
        struct bench_size size;
        if (!wanted(options, bench_ops[o]))
            continue;
        while (*at) {
            if (!bench_parse_size(at, bench_ops[o]->dims, &size, &at)) {
                complain("this is no list of sizes of the operation", at);
                return false;
            }
            at += *at == ',';
        }
    }
    return true;
}

/* 0, 1 or 2 as for the exit status. */
static int run_op(const struct bench_op *op, const struct bench_options *options)
{
    const char *sizes = options->sizes ? options->sizes : bench_on_simulator() ? op->sizes_sim : op->sizes_gpu;
    int worst = 0;
    while (*sizes) {
        static struct bench_case c;
        memset(&c, 0, sizeof c);
        c.op = op;
        if (!bench_parse_size(sizes, op->dims, &c.size, &sizes))
            return 2; /* not one of ours: sizes_fit has read the user's */
        sizes += *sizes == ',';
        bench_print_size(&c.size, op->dims, c.size_text, sizeof c.size_text);
        c.work = op->work(&c.size);
        fill_rows(&c);
        void *state = op->make(&c.size);
        if (!state) {
            fprintf(stderr, "margay-bench: %s %s %s: does not fit into the device's memory\n", op->name, op->type,
                    c.size_text);
            worst = 2;
            continue;
        }
        bool alive = bench_measure(&c, options, state);
        op->free(state);
        if (!alive)
            return 2;
        bench_output_case(&c, options);
        for (int i = 0; i < c.rows; i++)
            if (c.row[i].ran && !c.row[i].ok && worst == 0)
                worst = 1;
    }
    return worst;
}

int main(int argc, char **argv)
{
    static const struct option longs[] = {{"sizes", required_argument, NULL, 's'},
                                          {"reps", required_argument, NULL, 'r'},
                                          {"json", required_argument, NULL, 'j'},
                                          {"rows", required_argument, NULL, 'w'},
                                          {"list", no_argument, NULL, 'l'},
                                          {"quiet", no_argument, NULL, 'q'},
                                          {"device", no_argument, NULL, 'd'},
                                          {"help", no_argument, NULL, 'h'},
                                          {NULL, 0, NULL, 0}};
    struct bench_options options = {.reps = 25};
    int letter, result = 0, devices = 0;
    while ((letter = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
        switch (letter) {
        case 's': options.sizes = optarg; break;
        case 'r': options.reps = atoi(optarg); break;
        case 'j': options.json = optarg; break;
        case 'w': options.rows = optarg; break;
        case 'l': list(); return 0;
        case 'd': return print_device();
        case 'q': options.quiet = true; break;
        case 'h': fputs(usage, stdout); return 0;
        default: return 2;
        }
    }
    if (options.reps < 20 || options.reps > BENCH_MAX_REPS)
        return complain("--reps wants a number from 20 to 1000", NULL);
    options.names = argv + optind;
    options.nnames = argc - optind;
    for (int i = 0; i < options.nnames; i++) {
        bool known = false;
        for (size_t o = 0; bench_ops[o]; o++)
            known = known || !strcmp(bench_ops[o]->name, options.names[i]);
        if (!known)
            return complain("no such operation", options.names[i]);
    }
    if (options.sizes && options.nnames != 1)
        return complain("--sizes wants one operation", NULL);
    if (options.sizes && !sizes_fit(&options))
        return 2;
    if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) {
        fputs("margay-bench: error: no GPU; `margay bench` runs it without one\n", stderr);
        return 2;
    }
    if (!bench_rates(&options) || !bench_output_begin(&options))
        return 2;
    for (size_t o = 0; bench_ops[o]; o++) {
        if (!wanted(&options, bench_ops[o]))
            continue;
        int one = run_op(bench_ops[o], &options);
        result = one > result ? one : result;
        if (one == 2 && cudaDeviceSynchronize() != cudaSuccess)
            break;
    }
    bench_release();
    if (!bench_output_end(&options))
        result = 2;
    return result;
}
