/* main.c - bench_engine: how fast the engine is, beside plain C and PoCL doing the same work.
 *
 * For each kernel every contender is first verified (its result must be that of double-precision arithmetic, bit for
 * bit) and then timed. The contenders take turns, one run each a round, because other work on the machine comes and
 * goes: what slows one slows its neighbours. The best time of each counts, and ratios are only taken within one run.
 *
 * One core is one core for all: the calling thread is pinned to a processor, the engine has one worker, PoCL is told to
 * use its device that runs on the calling thread. For the column with several threads the pin is lifted.
 *
 *     bench_engine [--only NAME] [--contenders LIST] [--reps N] [--threads N] [--json FILE] [--markdown] [--ptx FILE]
 *                  [--wild FILE] [--cl FILE] [--strict] [--cpu] [--quick] [--sample]
 *
 * --contenders names some of models, interp, bare, check, advise, timed, check_timed, threads, opencl, plain,
 * with commas: `--contenders models` is for a profiler; what compiling takes is measured without it. A kernel whose
 * rounds take long is given as many as fit into LONG seconds, two at least.
 * --cpu counts processor time instead of time that passes: for a machine that is busy with other work, as the ratios of
 * the one-core columns still mean something. The column with several threads is then left out. --quick has kernels
 * compiled with little effort. --sample times nothing: each case is counted whole and by a sample of one block in
 * eight, and the intervals of 95 % that come of the sample are held against the counts.
 *
 * Exit status: 0; 1 if a result is wrong or a contender fails; 2 for a bad argument; with --strict 3 if a target is
 * missed. To add a kernel: kernels.cu and kernels.cl, its data in cases.c, plain.c; or, of the group "wild", wild.cu,
 * wild_plain.c and a row in bench_wild.h. A NAME may be a group: own, wild.
 */
#define _GNU_SOURCE
#include "bench.h"

#include "base/base.h"

#include <getopt.h>
#include <sched.h>
#include <time.h>
#include <unistd.h>

#ifndef BENCH_PTX
#define BENCH_PTX "bench/engine/kernels.ptx"
#endif
#ifndef BENCH_WILD_PTX
#define BENCH_WILD_PTX "bench/engine/wild.ptx"
#endif
#ifndef BENCH_CL
#define BENCH_CL "bench/engine/kernels.cl"
#endif

enum { MAX_REPS = 1000 };
#define LONG 20.0 /* seconds of rounds */

struct contender {
    enum bench_column column;
    struct bench_peer *peer;
    bool loaded;
    double samples[MAX_REPS], cpu[MAX_REPS];
};

static cpu_set_t allowed;
static int first_cpu;
static clockid_t timer = CLOCK_MONOTONIC;

static void pin(bool one)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET((size_t)first_cpu, &set);
    sched_setaffinity(0, sizeof set, one ? &set : &allowed);
}

static unsigned processors(void)
{
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0)
        return 1;
    /* the last one: interrupts tend to land on the first */
    for (int i = 0; i < CPU_SETSIZE; i++)
        if (CPU_ISSET((size_t)i, &allowed))
            first_cpu = i;
    return (unsigned)CPU_COUNT(&allowed);
}

static void processor_name(char *name, size_t size)
{
    char line[256];
    FILE *file = fopen("/proc/cpuinfo", "r");
    snprintf(name, size, "unknown");
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, "model name", 10) == 0 && strchr(line, ':')) {
            snprintf(name, size, "%s", strchr(line, ':') + 2);
            name[strcspn(name, "\n")] = '\0';
            break;
        }
    if (file)
        fclose(file);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* On a terminal a line that is written over (and wiped at the end), else one line a kernel. */
static void progress(const char *name, int done, int reps)
{
    if (!isatty(STDERR_FILENO)) {
        if (done == 1 && reps)
            fprintf(stderr, "bench_engine: %s\n", name);
    } else if (reps) {
        fprintf(stderr, "\r%-16s %d/%d ", name, done, reps);
    } else {
        fprintf(stderr, "\r%32s\r", "");
    }
}

static const char *const names[COL_COUNT] = {"models", "interp",      "bare",    "check",  "advise",
                                             "timed",  "check_timed", "threads", "opencl", "plain"};

/* The columns that a list names; ends the process at a name that is none. */
static unsigned columns_of(const char *list)
{
    unsigned found = 0;
    for (const char *at = list; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL) {
        size_t length = strcspn(at, ","), k = 0;
        while (k < COL_COUNT && (strlen(names[k]) != length || memcmp(names[k], at, length) != 0))
            k++;
        if (k == COL_COUNT) {
            fprintf(stderr,
                    "bench_engine: --contenders: models, interp, bare, check, advise, timed, check_timed, "
                    "threads, opencl, plain; not \"%.*s\"\n",
                    (int)length, at);
            exit(2);
        }
        found |= 1u << k;
    }
    return found;
}

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* One run, verified; the time is only of the run. Negative: it failed or its result is wrong. */
static double run_once(struct contender *c, const struct bench_case *cs, double *cpu)
{
    struct bench_peer *peer = c->peer;
    pin(c->column != COL_THREADS);
    if (!peer->ops->reset(peer))
        return -1.0;
    uint64_t start = clock_ns(timer), before = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    bool good = peer->ops->run(peer);
    uint64_t end = clock_ns(timer);
    *cpu = (double)(clock_ns(CLOCK_PROCESS_CPUTIME_ID) - before) * 1e-9;
    if (!good)
        return -1.0;
    const void *result = peer->ops->result(peer);
    if (!result)
        return -1.0;
    if (memcmp(result, cs->expect, cs->result_bytes) != 0) {
        snprintf(peer->error, sizeof peer->error, "%s: the result is wrong", cs->name);
        return -1.0;
    }
    return (double)(end - start) * 1e-9;
}

/* Medians and bests, and what several workers bring: the two sides of a pair ran one after the other, so that what else
 * the machine does meets both. */
static void sum_up(struct contender *contenders, size_t count, int done, struct bench_row *row)
{
    const struct contender *one = NULL, *several = NULL;
    static double pairs[MAX_REPS];
    for (size_t i = 0; i < count; i++) {
        one = contenders[i].loaded && contenders[i].column == COL_MODELS ? &contenders[i] : one;
        several = contenders[i].loaded && contenders[i].column == COL_THREADS ? &contenders[i] : several;
    }
    if (one && several) {
        for (int rep = 0; rep < done; rep++)
            pairs[rep] = one->samples[rep] / several->samples[rep];
        qsort(pairs, (size_t)done, sizeof pairs[0], by_value);
        row->pairs = pairs[done / 2];
    }
    for (size_t i = 0; i < count; i++) {
        struct contender *c = &contenders[i];
        if (!c->loaded)
            continue;
        qsort(c->samples, (size_t)done, sizeof c->samples[0], by_value);
        qsort(c->cpu, (size_t)done, sizeof c->cpu[0], by_value);
        row->time[c->column] = (struct bench_time){c->samples[0], c->samples[done / 2], c->cpu[done / 2], done};
    }
}

/* Fills `row`; returns the number of contenders that failed. */
static int measure(struct contender *contenders, size_t count, struct bench_peer *counter, const struct bench_case *cs,
                   int reps, struct bench_row *row)
{
    int failures = 0, done = 0;
    uint64_t start = clock_ns(CLOCK_MONOTONIC);
    const struct bench_peer *models = NULL, *interpreted = NULL, *check = NULL, *check_timed = NULL;
    row->name = cs->name;
    row->size = cs->size;
    row->wild = cs->wild;
    row->launches = cs->launches;
    if (counter) {
        if (counter->ops->load(counter, cs) && counter->ops->run(counter)) {
            row->warp_instructions = bench_engine_warp_instructions(counter);
            row->ordered = bench_engine_ordered(counter);
        } else {
            fprintf(stderr, "bench_engine: %s: counting: %s\n", cs->name, counter->error);
            failures++;
        }
    }
    for (size_t i = 0; i < count; i++) {
        struct contender *c = &contenders[i];
        pin(c->column != COL_THREADS);
        c->loaded = false;
        if (c->column == COL_OPENCL && cs->wild) /* these have plain C alone beside them */
            continue;
        c->loaded = c->peer->ops->load(c->peer, cs) && run_once(c, cs, c->cpu) >= 0.0;
        if (!c->loaded) {
            fprintf(stderr, "bench_engine: %s: %s: %s\n", cs->name, names[c->column], c->peer->error);
            failures++;
        } else if (c->column == COL_MODELS) {
            row->wavefronts = bench_engine_wavefronts(c->peer);
            models = c->peer;
        } else if (c->column == COL_CHECK) {
            check = c->peer;
        } else if (c->column == COL_CHECK_TIMED) {
            check_timed = c->peer;
        } else if (c->column == COL_INTERPRET) {
            interpreted = c->peer;
        }
    }
    if (check && check_timed && bench_engine_findings(check) != bench_engine_findings(check_timed)) {
        fprintf(stderr, "bench_engine: %s: %u findings, and %u where the launch is timed\n", cs->name,
                bench_engine_findings(check), bench_engine_findings(check_timed));
        failures++;
    }
    char error[256];
    if (models && interpreted && !bench_engine_agree(models, interpreted, error, sizeof error)) {
        fprintf(stderr, "bench_engine: %s: %s\n", cs->name, error);
        failures++;
    }
    for (int rep = 0; rep < reps && (rep < 2 || (double)(clock_ns(CLOCK_MONOTONIC) - start) * 1e-9 < LONG);
         rep++, done++) {
        progress(cs->name, rep + 1, reps);
        for (size_t i = 0; i < count; i++) {
            struct contender *c = &contenders[i];
            if (!c->loaded)
                continue;
            c->samples[rep] = run_once(c, cs, &c->cpu[rep]);
            if (c->samples[rep] < 0.0) {
                fprintf(stderr, "\nbench_engine: %s: %s: %s\n", cs->name, names[c->column], c->peer->error);
                c->loaded = false;
                failures++;
            }
        }
    }
    progress(cs->name, reps, 0);
    sum_up(contenders, count, done, row);
    return failures;
}

static int number(const char *text, int least, int most, const char *option)
{
    char *end;
    long value = strtol(text, &end, 10);
    if (*end || end == text || value < least || value > most) {
        fprintf(stderr, "bench_engine: %s: a number from %d to %d, not \"%s\"\n", option, least, most, text);
        exit(2);
    }
    return (int)value;
}

static char *slurp(const char *path, size_t *size)
{
    char *data;
    struct mg_diag diag;
    if (mg__file_read(path, (size_t)16 << 20, &data, size, &diag) != MG_OK) {
        fprintf(stderr, "bench_engine: %s: %s\n", path, diag.message);
        exit(2);
    }
    return data;
}

/* --sample: each case is run whole and by samples. Returns how many sums lie outside of their intervals too often. */
static int judge_samples(const struct bench_texts *texts, const char *only)
{
    static const enum bench_engine_mode modes[2] = {BENCH_SAMPLE, BENCH_SAMPLE_ALONE};
    struct bench_peer *peers[3] = {NULL};
    struct bench_intervals all[2] = {{0}};
    char error[1024];
    int failures = 0;
    for (unsigned k = 0; k < 3 && !failures; k++)
        if (!(peers[k] = bench_engine_open(texts, 2, k ? modes[k - 1] : BENCH_MODELS, false, error, sizeof error)))
            failures = fprintf(stderr, "bench_engine: %s\n", error);
    printf("%-18s %26s %26s\n", "95 % intervals", "others run: held, widest", "left out: held, widest");
    for (size_t i = 0; i < bench_case_count() + bench_wild_count() && !failures; i++) {
        struct bench_case cs;
        bool wild = i >= bench_case_count();
        const char *name = wild ? bench_wild_name(i - bench_case_count()) : bench_case_name(i);
        if ((only && strcmp(only, name)) || !strncmp(name, "launch_", 7) ||
            !(wild ? bench_wild_make(i - bench_case_count(), &cs) : bench_case_make(i, &cs)))
            continue;
        printf("%-18s", name);
        for (unsigned k = 0; k < 3; k++)
            if (!peers[k]->ops->load(peers[k], &cs) || !peers[k]->ops->run(peers[k]))
                failures += fprintf(stderr, "bench_engine: %s: %s\n", name, peers[k]->error) > 0;
        for (unsigned k = 0; k < 2; k++) {
            struct bench_intervals one = {0};
            bench_engine_intervals(peers[k + 1], peers[0], &one);
            printf("%16u of %2u, %5.1f %%", one.held, one.sums, 100 * one.widest);
            all[k].sums += one.sums;
            all[k].held += one.held;
        }
        printf("\n");
        for (unsigned k = 0; k < 3; k++)
            peers[k]->current = NULL;
        bench_case_free(&cs);
    }
    for (unsigned k = 0; k < 2; k++) {
        printf("%s: %u of %u intervals hold\n", k ? "left out" : "others run", all[k].held, all[k].sums);
        failures += all[k].held * 100 < all[k].sums * 95;
    }
    for (unsigned k = 0; k < 3 && peers[k]; k++)
        peers[k]->ops->close(peers[k]);
    return failures;
}

int main(int argc, char **argv)
{
    static const struct option options[] = {
        {"only", required_argument, NULL, 'o'},
        {"contenders", required_argument, NULL, 'n'},
        {"reps", required_argument, NULL, 'r'},
        {"threads", required_argument, NULL, 't'},
        {"json", required_argument, NULL, 'j'},
        {"markdown", no_argument, NULL, 'm'},
        {"ptx", required_argument, NULL, 'p'},
        {"cl", required_argument, NULL, 'c'},
        {"wild", required_argument, NULL, 'w'},
        {"strict", no_argument, NULL, 's'},
        {"cpu", no_argument, NULL, 'u'},
        {"quick", no_argument, NULL, 'q'},
        {"sample", no_argument, NULL, 'S'},
        {"help", no_argument, NULL, 'h'},
        {NULL, 0, NULL, 0},
    };
    const char *only = NULL, *json = NULL, *ptx_path = BENCH_PTX, *wild_path = BENCH_WILD_PTX, *cl_path = BENCH_CL;
    static struct bench_report report;
    static struct contender contenders[COL_COUNT];
    bool markdown = false, strict = false, quick = false, sample = false;
    unsigned columns = (1u << COL_COUNT) - 1;
    report.reps = 15;
    report.processors = processors();
    report.threads = MG_MIN(2u, report.processors);
    for (int option; (option = getopt_long(argc, argv, "", options, NULL)) != -1;) {
        switch (option) {
        case 'o':
            only = optarg;
            break;
        case 'n':
            columns = columns_of(optarg);
            break;
        case 'r':
            report.reps = number(optarg, 1, MAX_REPS, "--reps");
            break;
        case 't':
            report.threads = (unsigned)number(optarg, 1, 1024, "--threads");
            break;
        case 'j':
            json = optarg;
            break;
        case 'm':
            markdown = true;
            break;
        case 'p':
            ptx_path = optarg;
            break;
        case 'w':
            wild_path = optarg;
            break;
        case 'c':
            cl_path = optarg;
            break;
        case 's':
            strict = true;
            break;
        case 'q':
            quick = true;
            break;
        case 'S':
            sample = true;
            break;
        case 'u':
            timer = CLOCK_PROCESS_CPUTIME_ID;
            report.cpu_time = true;
            break;
        default:
            fprintf(option == 'h' ? stdout : stderr,
                    "usage: bench_engine [--only NAME] [--contenders LIST] [--reps N] "
                    "[--threads N] [--json FILE] [--markdown] "
                    "[--ptx FILE] [--wild FILE] [--cl FILE] [--strict] [--cpu] [--quick] [--sample]\n");
            return option == 'h' ? 0 : 2;
        }
    }
    if (optind < argc) {
        fprintf(stderr, "bench_engine: what is \"%s\"?\n", argv[optind]);
        return 2;
    }
    processor_name(report.processor, sizeof report.processor);

    char error[1024];
    size_t cl_size, count = 0;
    struct bench_texts texts;
    int failures = 0;
    char *ptx = slurp(ptx_path, &texts.length), *wild = slurp(wild_path, &texts.wild_length),
         *cl = slurp(cl_path, &cl_size);
    texts.ptx = ptx, texts.wild = wild;
    if (sample)
        return judge_samples(&texts, only) != 0;
    struct bench_peer *counter = bench_engine_open(&texts, 1, BENCH_COUNT, false, error, sizeof error);
    static const struct {
        enum bench_column column;
        enum bench_engine_mode mode;
    } engines[] = {{COL_MODELS, BENCH_MODELS},
                   {COL_INTERPRET, BENCH_INTERPRET},
                   {COL_BARE, BENCH_BARE},
                   {COL_CHECK, BENCH_CHECK},
                   {COL_ADVISE, BENCH_ADVISE},
                   {COL_TIMED, BENCH_TIMED},
                   {COL_CHECK_TIMED, BENCH_CHECK_TIMED},
                   {COL_THREADS, BENCH_MODELS}};
    for (size_t i = 0; i < MG_COUNT(engines); i++) {
        bool several = engines[i].column == COL_THREADS;
        if (!(columns >> engines[i].column & 1) || (several && (report.threads < 2 || report.cpu_time)))
            continue;
        struct bench_peer *peer =
            bench_engine_open(&texts, several ? report.threads : 1, engines[i].mode, quick, error, sizeof error);
        if (peer) {
            contenders[count++] = (struct contender){.column = engines[i].column, .peer = peer};
        } else {
            fprintf(stderr, "bench_engine: %s\n", error);
            failures++;
        }
    }
    setenv("POCL_DEVICES", "basic", 0);
    setenv("POCL_WORK_GROUP_METHOD", "cbs", 0);
    pin(true); /* threads that the OpenCL library makes stay on this processor too */
    struct bench_peer *peer = columns >> COL_OPENCL & 1 ? bench_opencl_open(cl, cl_size, error, sizeof error) : NULL;
    if (!(columns >> COL_OPENCL & 1)) {
        snprintf(report.opencl, sizeof report.opencl, "not asked for");
    } else if (peer) {
        contenders[count++] = (struct contender){.column = COL_OPENCL, .peer = peer};
        snprintf(report.opencl, sizeof report.opencl, "%s", peer->description);
    } else {
        snprintf(report.opencl, sizeof report.opencl, "%.300s", error);
    }
    if (columns >> COL_PLAIN & 1 && (peer = bench_plain_open()))
        contenders[count++] = (struct contender){.column = COL_PLAIN, .peer = peer};

    for (size_t i = 0; i < bench_case_count() + bench_wild_count(); i++) {
        struct bench_case cs;
        bool of_wild = i >= bench_case_count();
        const char *name = of_wild ? bench_wild_name(i - bench_case_count()) : bench_case_name(i);
        if (only && strcmp(only, name) != 0 && !(of_wild && strcmp(only, "wild") == 0) &&
            !(!of_wild && strcmp(only, "own") == 0))
            continue;
        if (!(of_wild ? bench_wild_make(i - bench_case_count(), &cs) : bench_case_make(i, &cs))) {
            fprintf(stderr, "bench_engine: out of memory\n");
            return 1;
        }
        struct bench_row *row = &report.rows[report.nrows++];
        failures += measure(contenders, count, counter, &cs, report.reps, row);
        pin(true);
        if (columns == (1u << COL_COUNT) - 1 && strcmp(cs.name, cs.kernel) == 0 && /* not of a second size */
            !bench_engine_making(&texts, &cs, &row->making, error, sizeof error)) {
            fprintf(stderr, "bench_engine: %s: %s\n", cs.name, error);
            failures++;
        }
        for (size_t k = 0; k < count; k++)
            contenders[k].peer->current = NULL;
        bench_case_free(&cs);
    }
    if (report.nrows == 0) {
        fprintf(stderr, "bench_engine: no kernel is called \"%s\"\n", only ? only : "");
        return 2;
    }
    int missed = bench_report_print(&report, markdown);
    if (json && !bench_report_json(&report, json)) {
        fprintf(stderr, "bench_engine: %s cannot be written\n", json);
        failures++;
    }
    for (size_t i = 0; i < count; i++)
        contenders[i].peer->ops->close(contenders[i].peer);
    if (counter)
        counter->ops->close(counter);
    free(ptx);
    free(wild);
    free(cl);
    return failures ? 1 : strict && missed ? 3 : 0;
}
