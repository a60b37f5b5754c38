/* output.c - where results go: a table on standard output, JSON, and the rows that `margay bench` asks for.
 *
 * The JSON is whole after every case: its end is written, and overwritten by the next case. What was cut short can be
 * read.
 */
#include "bench_priv.h"

#include <cuda_runtime_api.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static FILE *json, *rows;
static bool any_case, failed, shown;

static const char *const kinds[] = {"rung", "plain", "peer"};

static void put_string(FILE *to, const char *text)
{
    fputc('"', to);
    for (; *text; text++) {
        unsigned char ch = (unsigned char)*text;
        if (ch == '"' || ch == '\\')
            fputc('\\', to);
        if (ch < 32)
            fprintf(to, "\\u%04x", ch);
        else
            fputc(ch, to);
    }
    fputc('"', to);
}

static bool open_one(const char *path, FILE **file)
{
    if (!path)
        return true;
    *file = fopen(path, "we");
    if (!*file)
        perror(path);
    return *file != NULL;
}

/* The kernel driver's version, such as 580.159.04: the first word of digits and points in the file that it keeps. */
static void driver_version(char *version, size_t room)
{
    char line[256];
    FILE *file = fopen("/proc/driver/nvidia/version", "re");
    snprintf(version, room, "unknown");
    if (!file)
        return;
    if (fgets(line, sizeof line, file))
        for (char *at = NULL, *word = strtok_r(line, " \t\n", &at); word; word = strtok_r(NULL, " \t\n", &at))
            if (strchr(word, '.') && strspn(word, "0123456789.") == strlen(word)) {
                snprintf(version, room, "%s", word);
                break;
            }
    fclose(file);
}

/* The machine's name, the runtime, the date: what a figure must name. */
static void describe(char *name, size_t room, int *runtime, char date[16])
{
    struct cudaDeviceProp prop;
    int device = 0;
    time_t t = time(NULL);
    struct tm tm;
    *runtime = 0;
    snprintf(name, room, "unknown device");
    if (cudaGetDevice(&device) == cudaSuccess && cudaGetDeviceProperties(&prop, device) == cudaSuccess)
        snprintf(name, room, "%s", prop.name);
    (void)cudaRuntimeGetVersion(runtime);
    strftime(date, 16, "%Y-%m-%d", gmtime_r(&t, &tm));
}

bool bench_output_begin(const struct bench_options *options)
{
    char name[300], date[16], driver[64];
    int runtime;
    if (!open_one(options->json, &json) || !open_one(options->rows, &rows))
        return false;
    describe(name, sizeof name, &runtime, date);
    if (json) {
        driver_version(driver, sizeof driver);
        fprintf(json, "{\"margay\": {\"bench\": %d, \"kernels\": \"0.1.0\"},\n\"device\": {\"name\": ", BENCH_VERSION);
        put_string(json, name);
        fprintf(json,
                ", \"runtime\": %d, \"driver\": \"%s\", \"copy_bytes_per_second\": %.4g, \"fp32_flops_per_second\": "
                "%.4g},\n"
                "\"measured\": %s, \"date\": \"%s\", \"repetitions\": %d,\n\"cases\": [",
                runtime, driver, options->copy_rate, options->fp32_rate, bench_on_simulator() ? "false" : "true", date,
                options->reps);
    }
    if (!bench_on_simulator())
        printf("%s, %s: device copy %.0f GB/s, FP32 FMA %.1f TFLOP/s\n", name, date, 1e-9 * options->copy_rate,
               1e-12 * options->fp32_rate);
    return true;
}

void bench_output_progress(const struct bench_case *c, int done, int total)
{
    static int quiet = -1;
    if (quiet < 0)
        quiet = !isatty(STDERR_FILENO) || bench_on_simulator();
    if (quiet)
        return;
    int full = total ? 30 * done / total : 30;
    fprintf(stderr, "\r\x1b[K%s %s %s [%.*s%.*s]", c->op->name, c->op->type, c->size_text, full,
            "##############################", 30 - full, "..............................");
    if (done == total)
        fputs("\r\x1b[K", stderr);
    fflush(stderr);
    shown = done != total;
}

static bool by_flops(const struct bench_case *c)
{
    return !strcmp(c->op->limit, "fp32");
}

static void time_text(double seconds, char *text, size_t room)
{
    if (seconds >= 1)
        snprintf(text, room, "%.3g s", seconds);
    else if (seconds >= 1e-3)
        snprintf(text, room, "%.4g ms", 1e3 * seconds);
    else
        snprintf(text, room, "%.4g us", 1e6 * seconds);
}

static void rate_text(const struct bench_case *c, const struct bench_row *row, char *text, size_t room)
{
    if (row->figure >= 0)
        snprintf(text, room, "%.4g %s", row->figure, row->unit ? row->unit : "");
    else if (by_flops(c))
        snprintf(text, room, "%.4g TFLOP/s", 1e-12 * c->work.flops / row->seconds);
    else
        snprintf(text, room, "%.4g GB/s", 1e-9 * c->work.bytes / row->seconds);
}

static void ratio_text(double ratio, const char *format, char *text, size_t room)
{
    if (ratio > 0)
        snprintf(text, room, format, ratio);
    else
        snprintf(text, room, "-");
}

/* One row as the cells of a table. */
struct cells {
    char time[24], rate[40], first[16], peer[16], limit[16];
};
static struct cells cells_of(const struct bench_case *c, const struct bench_row *row)
{
    struct cells t;
    time_text(row->seconds, t.time, sizeof t.time);
    rate_text(c, row, t.rate, sizeof t.rate);
    ratio_text(row->times_first, "%.2f", t.first, sizeof t.first);
    ratio_text(row->to_peer, "%.3f", t.peer, sizeof t.peer);
    ratio_text(100 * row->of_limit, "%.0f %%", t.limit, sizeof t.limit);
    return t;
}

static void put_table(const struct bench_case *c)
{
    const char *peer = c->peer_row < 0 ? "peer" : c->row[c->peer_row].name;
    printf("\n%s %s %s\n  %-22s %12s %18s %9s %*s %9s\n", c->op->name, c->op->type, c->size_text, "", "time", "rate",
           "x first", (int)(strlen(peer) > 5 ? strlen(peer) + 2 : 8), peer, "of limit");
    for (int i = 0; i < c->rows; i++) {
        const struct bench_row *row = &c->row[i];
        if (!row->ran) {
            if (row->kind != BENCH_PEER)
                printf("  %-22s not run: %s\n", row->name, row->why ? row->why : "");
            continue;
        }
        if (bench_on_simulator()) {
            printf("  %-22s %s (error %.3g of the bound)\n", row->name, row->ok ? "verified" : "WRONG", row->error);
            continue;
        }
        struct cells t = cells_of(c, row);
        printf("  %-22s %12s %18s %9s %*s %9s%s\n", row->name, t.time, t.rate, t.first,
               (int)(strlen(peer) > 5 ? strlen(peer) + 2 : 8), t.peer, t.limit, row->ok ? "" : "  WRONG");
    }
}

static void put_json(const struct bench_case *c)
{
    fprintf(json,
            "%s\n{\"operation\": \"%s\", \"type\": \"%s\", \"size\": \"%s\", \"limit\": \"%s\", \"bytes\": %.17g, "
            "\"flops\": %.17g, \"rows\": [",
            any_case ? "," : "", c->op->name, c->op->type, c->size_text, c->op->limit, c->work.bytes, c->work.flops);
    for (int i = 0; i < c->rows; i++) {
        const struct bench_row *row = &c->row[i];
        fprintf(json, "%s\n  {\"kind\": \"%s\", \"name\": ", i ? "," : "", kinds[row->kind]);
        put_string(json, row->name);
        fprintf(json, ", \"ran\": %s", row->ran ? "true" : "false");
        if (row->ran)
            fprintf(json, ", \"ok\": %s, \"error\": %.4g", row->ok ? "true" : "false", row->error);
        else if (row->why) {
            fprintf(json, ", \"why\": ");
            put_string(json, row->why);
        }
        if (row->seconds > 0)
            fprintf(json, ", \"seconds\": %.5g, \"low\": %.5g, \"high\": %.5g", row->seconds, row->low, row->high);
        if (row->ran && row->figure >= 0) {
            fprintf(json, ", \"figure\": %.5g, \"unit\": ", row->figure);
            put_string(json, row->unit ? row->unit : "");
        }
        if (row->times_first > 0)
            fprintf(json, ", \"times_first\": %.4g", row->times_first);
        if (row->to_peer > 0)
            fprintf(json, ", \"to_peer\": %.4g", row->to_peer);
        if (row->of_limit > 0)
            fprintf(json, ", \"of_limit\": %.4g", row->of_limit);
        fputc('}', json);
    }
    fprintf(json, "]}");
}

/* The end of the JSON; but for the last time the next case will overwrite it, where the
 * file is one that can be sought. */
static void end_json(bool last)
{
    long at = ftell(json);
    if (!last && at < 0)
        return;
    fputs("\n]}\n", json);
    fflush(json);
    if (!last)
        (void)fseek(json, at, SEEK_SET);
}

/* operation, type, size, kind, rung, its mark (-1: it launched nothing), verdict, error: tab-separated. */
static void put_rows(const struct bench_case *c)
{
    for (int i = 0; i < c->rows; i++) {
        const struct bench_row *row = &c->row[i];
        fprintf(rows, "%s\t%s\t%s\t%s\t%s\t%ld\t%s\t%.4g\n", c->op->name, c->op->type, c->size_text, kinds[row->kind],
                row->name, row->mark, !row->ran ? "not run" : row->ok ? "ok" : "wrong", row->error);
    }
}

void bench_output_case(const struct bench_case *c, const struct bench_options *options)
{
    (void)options;
    if (shown)
        fputs("\r\x1b[K", stderr);
    if (!rows)
        put_table(c);
    if (json) {
        put_json(c);
        end_json(false);
    }
    if (rows)
        put_rows(c);
    any_case = true;
    fflush(stdout);
}

static void close_one(FILE *file, const char *path)
{
    if (!file)
        return;
    bool bad = ferror(file) != 0;
    if (fclose(file) != 0 || bad) {
        fprintf(stderr, "margay-bench: error: %s could not be written\n", path);
        failed = true;
    }
}

bool bench_output_end(const struct bench_options *options)
{
    if (json)
        end_json(true);
    close_one(json, options->json);
    close_one(rows, options->rows);
    return !failed;
}
