/* report.c - what bench_engine prints: the table, the targets, and the same as JSON.
 *
 * Ratios are of the best times of one run in which the contenders took turns; the speed-up by several workers is the
 * median of the rounds' own, for two best times need not have met the same machine. A target is only judged where both
 * of its sides were measured.
 */
#include "bench.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static double best(const struct bench_row *row, enum bench_column column)
{
    return row->time[column].runs ? row->time[column].best : 0.0;
}

/* x / y where both were measured, or 0. */
static double ratio(double x, double y)
{
    return x > 0.0 && y > 0.0 ? x / y : 0.0;
}

static double rate(const struct bench_row *row)
{
    return ratio((double)row->warp_instructions, best(row, COL_MODELS)) * 1e-6;
}

static const char *cell(char *text, size_t size, const char *format, double value)
{
    if (value > 0.0)
        snprintf(text, size, format, value);
    else
        snprintf(text, size, "-");
    return text;
}

enum { CELLS = 14 };
struct table {
    unsigned cells;
    const char *heads[CELLS];
    int widths[CELLS];
};
static const struct table kernels = {14,
                                     {"kernel", "warp insns", "Margay", "M insn/s", "PoCL", "x PoCL", "plain C", "x C",
                                      "interp", "x interp", "no model", "model x", "threads", "speed-up"},
                                     {17, 10, 10, 8, 10, 7, 10, 7, 10, 8, 10, 7, 10, 8}};
static const struct table commands = {
    9, {"kernel", "profile", "check", "x", "advise", "x", "timed", "check", "x"}, {17, 12, 12, 5, 12, 5, 12, 12, 5}};

static void row_cells(const struct bench_row *row, char text[CELLS][32])
{
    snprintf(text[0], 32, "%s", row->name);
    snprintf(text[1], 32, "%llu", (unsigned long long)row->warp_instructions);
    cell(text[2], 32, "%.3f ms", best(row, COL_MODELS) * 1e3);
    cell(text[3], 32, "%.0f", rate(row));
    cell(text[4], 32, "%.3f ms", best(row, COL_OPENCL) * 1e3);
    cell(text[5], 32, "%.2f", ratio(best(row, COL_MODELS), best(row, COL_OPENCL)));
    cell(text[6], 32, "%.3f ms", best(row, COL_PLAIN) * 1e3);
    cell(text[7], 32, "%.2f", ratio(best(row, COL_MODELS), best(row, COL_PLAIN)));
    cell(text[8], 32, "%.3f ms", best(row, COL_INTERPRET) * 1e3);
    cell(text[9], 32, "%.2f", ratio(best(row, COL_MODELS), best(row, COL_INTERPRET)));
    cell(text[10], 32, "%.3f ms", best(row, COL_BARE) * 1e3);
    cell(text[11], 32, "%.2f", ratio(best(row, COL_MODELS), best(row, COL_BARE)));
    cell(text[12], 32, "%.3f ms", best(row, COL_THREADS) * 1e3);
    cell(text[13], 32, "%.2f", row->pairs);
}

static void print_cells(const struct table *t, const char text[CELLS][32], bool markdown)
{
    for (unsigned i = 0; i < t->cells; i++)
        if (markdown)
            printf("| %s %s", text[i], i == t->cells - 1 ? "|\n" : "");
        else
            printf(i ? "  %*s" : "%-*s", t->widths[i], text[i]);
    if (!markdown)
        printf("\n");
}

static void print_heads(const struct table *t, bool markdown)
{
    char text[CELLS][32];
    for (unsigned i = 0; i < t->cells; i++)
        snprintf(text[i], sizeof text[i], "%s", t->heads[i]);
    print_cells(t, (const char(*)[32])text, markdown);
    for (unsigned i = 0; markdown && i < t->cells; i++)
        printf(i ? "| ---: " : "| --- ");
    printf(markdown ? "|\n" : "");
}

static int judge(bool markdown, bool measured, bool met, const char *target, const char *detail)
{
    const char *verdict = !measured ? "not measured" : met ? "met" : "NOT MET";
    if (markdown)
        printf("| %s | %s | %s |\n", target, detail, verdict);
    else
        printf("  %-12s %-55s %s\n", verdict, target, detail);
    return measured && !met;
}

/* The rows on the wrong side of `limit`, and the worst value; `above`: more than the limit is wrong. */
static int judge_rows(const struct bench_report *report, bool markdown, const char *target, double limit, bool above,
                      double (*value)(const struct bench_row *row))
{
    char detail[512] = "";
    size_t used = 0;
    double worst = 0.0;
    bool met = true, measured = false;
    const char *worst_name = "";
    for (size_t i = 0; i < report->nrows; i++) {
        double v = value(&report->rows[i]);
        if (!(v > 0.0))
            continue;
        if (!measured || (above ? v > worst : v < worst))
            worst = v, worst_name = report->rows[i].name;
        measured = true;
        met = met && (above ? v <= limit : v >= limit);
    }
    if (measured)
        used = (size_t)snprintf(detail, sizeof detail, "worst: %s %.2f", worst_name, worst);
    for (size_t i = 0; i < report->nrows && !met; i++) {
        double v = value(&report->rows[i]);
        if (v > 0.0 && (above ? v > limit : v < limit) && strcmp(report->rows[i].name, worst_name) != 0 &&
            used < sizeof detail)
            used += (size_t)snprintf(detail + used, sizeof detail - used, ", %s %.2f", report->rows[i].name, v);
    }
    return judge(markdown, measured, met, target, detail);
}

/* Rows of wild.c have targets of their own, and those of what a launch costs. */
static bool of_launches(const struct bench_row *row)
{
    return strncmp(row->name, "launch_", 7) == 0;
}
static double own_rate(const struct bench_row *row)
{
    return row->wild ? 0.0 : rate(row);
}
static double wild_rate(const struct bench_row *row)
{
    return row->wild && !of_launches(row) ? rate(row) : 0.0;
}
static double empty_launch(const struct bench_row *row) /* us */
{
    return strcmp(row->name, "launch_empty") == 0 ? best(row, COL_MODELS) * 1e6 / row->launches : 0.0;
}
static double small_launches(const struct bench_row *row) /* ms */
{
    return strcmp(row->name, "launch_small") == 0 ? best(row, COL_MODELS) * 1e3 : 0.0;
}

/* The geometric mean of the rows of wild.c. */
static int judge_mean(const struct bench_report *report, bool markdown)
{
    char detail[64] = "";
    double sum = 0.0;
    unsigned n = 0;
    for (size_t i = 0; i < report->nrows; i++)
        if (wild_rate(&report->rows[i]) > 0.0) {
            sum += log(wild_rate(&report->rows[i]));
            n++;
        }
    double mean = n ? exp(sum / n) : 0.0;
    if (n)
        snprintf(detail, sizeof detail, "%.1f over %u kernels", mean, n);
    return judge(markdown, n > 1, mean >= 350.0, "from the wild: geometric mean of 350 M warp instructions/s", detail);
}

static double models_cost(const struct bench_row *row)
{
    return row->wild ? 0.0 : ratio(best(row, COL_MODELS), best(row, COL_BARE));
}

/* Of rows of 5 ms and more whose blocks may run beside one another. */
static double second_core(const struct bench_row *row)
{
    return row->ordered || best(row, COL_MODELS) < 5e-3 ? 0.0 : row->pairs;
}

/* PoCL's time over ours. */
static double tiled(const struct bench_row *row)
{
    return strncmp(row->name, "matmul_tiled", 12) == 0 ? ratio(best(row, COL_OPENCL), best(row, COL_MODELS)) : 0.0;
}
static double naive(const struct bench_row *row)
{
    return strncmp(row->name, "matmul_naive", 12) == 0 ? ratio(best(row, COL_OPENCL), best(row, COL_MODELS)) : 0.0;
}
static double others(const struct bench_row *row)
{
    return strncmp(row->name, "matmul", 6) != 0 ? ratio(best(row, COL_OPENCL), best(row, COL_MODELS)) : 0.0;
}

static double to_interpreter(const struct bench_row *row)
{
    return row->wild ? 0.0 : ratio(best(row, COL_INTERPRET), best(row, COL_MODELS));
}

/* Seconds a 1,000 instructions of PTX. */
static double making_quick(const struct bench_row *row)
{
    return ratio(row->making.quick * 1e3, row->making.instructions);
}
static double making_thorough(const struct bench_row *row)
{
    return ratio(row->making.thorough * 1e3, row->making.instructions);
}
static double loading(const struct bench_row *row) /* ms */
{
    return row->making.load * 1e3;
}

static void print_making(const struct bench_report *report, bool markdown)
{
    static const char *const column[6] = {"kernel", "PTX insns", "quickly", "s/1000", "thoroughly", "s/1000"};
    bool any = false;
    for (size_t i = 0; i < report->nrows; i++) {
        const struct bench_row *row = &report->rows[i];
        if (!row->making.instructions || row->making.quick == 0)
            continue;
        if (!any) {
            printf("\nHow long it takes to make a kernel into code, and to load what was kept; best of three\n%s",
                   markdown ? "\n" : "");
            printf(markdown
                       ? "| %s | %s | %s | %s | %s | %s | %s |\n| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n"
                       : "%-17s  %9s  %9s  %6s  %10s  %6s  %8s\n",
                   column[0], column[1], column[2], column[3], column[4], column[5], "loaded");
        }
        any = true;
        printf(markdown ? "| %s | %u | %.1f ms | %.2f | %.1f ms | %.2f | %.2f ms |\n"
                        : "%-17s  %9u  %6.1f ms  %6.2f  %7.1f ms  %6.2f  %5.2f ms\n",
               row->name, row->making.instructions, row->making.quick * 1e3, making_quick(row),
               row->making.thorough * 1e3, making_thorough(row), loading(row));
    }
}

/* What `margay check` and `margay advise` attach, beside the models, which are what `margay profile` does; and to
 * launches that the program times, beside what that attaches to those. */
static double checks_cost(const struct bench_row *row)
{
    return of_launches(row) ? 0.0 : ratio(best(row, COL_CHECK), best(row, COL_MODELS));
}

static double advice_cost(const struct bench_row *row)
{
    return of_launches(row) ? 0.0 : ratio(best(row, COL_ADVISE), best(row, COL_MODELS));
}

static double timed_checks_cost(const struct bench_row *row)
{
    return of_launches(row) ? 0.0 : ratio(best(row, COL_CHECK_TIMED), best(row, COL_TIMED));
}

static void print_commands(const struct bench_report *report, bool markdown)
{
    char text[CELLS][32];
    bool any = false;
    for (size_t i = 0; i < report->nrows; i++) {
        const struct bench_row *row = &report->rows[i];
        const double profile = best(row, COL_MODELS), timed = best(row, COL_TIMED);
        if (!row->time[COL_CHECK].runs && !row->time[COL_ADVISE].runs && !row->time[COL_TIMED].runs)
            continue;
        if (!any) {
            printf("\nWhat commands cost: `margay check` and `margay advise` beside `margay profile`; the same of "
                   "launches that the program times\n%s",
                   markdown ? "\n" : "");
            print_heads(&commands, markdown);
        }
        any = true;
        snprintf(text[0], 32, "%s", row->name);
        cell(text[1], 32, "%.3f ms", profile * 1e3);
        cell(text[2], 32, "%.3f ms", best(row, COL_CHECK) * 1e3);
        cell(text[3], 32, "%.1f", ratio(best(row, COL_CHECK), profile));
        cell(text[4], 32, "%.3f ms", best(row, COL_ADVISE) * 1e3);
        cell(text[5], 32, "%.1f", ratio(best(row, COL_ADVISE), profile));
        cell(text[6], 32, "%.3f ms", timed * 1e3);
        cell(text[7], 32, "%.3f ms", best(row, COL_CHECK_TIMED) * 1e3);
        cell(text[8], 32, "%.1f", ratio(best(row, COL_CHECK_TIMED), timed));
        print_cells(&commands, (const char(*)[32])text, markdown);
    }
}

int bench_report_print(const struct bench_report *report, bool markdown)
{
    char text[CELLS][32];
    int missed = 0;
    printf(
        "%sProcessor: %s, %u allowed to this process.\nOpenCL: %s.\n"
        "Best of %d runs (of long ones fewer), contenders in turn; %s; one core, but for the column \"threads\" (%u).\n"
        "\"Margay\" is with the models on; x is its time over the peer's; speed-up is the median of the rounds' "
        "ratios.\n\n",
        markdown ? "" : "\n", report->processor, report->processors, report->opencl, report->reps,
        report->cpu_time ? "processor time" : "time that passes", report->threads);
    print_heads(&kernels, markdown);
    for (size_t i = 0; i < report->nrows; i++) {
        row_cells(&report->rows[i], text);
        print_cells(&kernels, (const char(*)[32])text, markdown);
    }
    print_making(report, markdown);
    print_commands(report, markdown);
    printf(markdown ? "\n| target | measured | verdict |\n| --- | --- | --- |\n" : "\nTargets\n");
    missed += judge_rows(report, markdown, "at least 200 M warp instructions/s, models on", 200.0, false, own_rate);
    missed += judge_mean(report, markdown);
    missed += judge_rows(report, markdown, "from the wild: at least 100 M", 100.0, false, wild_rate);
    missed += judge_rows(report, markdown, "an empty kernel: at most 3 us a launch", 3.0, true, empty_launch);
    missed += judge_rows(report, markdown, "10,000 launches of one block: at most 50 ms", 50.0, true, small_launches);
    missed += judge_rows(report, markdown, "tiled matmul 4 times faster than PoCL", 4.0, false, tiled);
    missed += judge_rows(report, markdown, "naive matmul 8 times faster than PoCL", 8.0, false, naive);
    missed += judge_rows(report, markdown, "the others not slower than PoCL", 1.0, false, others);
    missed += judge_rows(report, markdown, "3 times faster than the interpreter", 3.0, false, to_interpreter);
    missed += judge_rows(report, markdown, "the models cost at most 1.7 times", 1.7, true, models_cost);
    missed += judge_rows(report, markdown, "check takes at most 4 times as long as profile", 4.0, true, checks_cost);
    missed += judge_rows(report, markdown, "the same of launches that the program times", 4.0, true, timed_checks_cost);
    missed += judge_rows(report, markdown, "advise takes at most 3 times as long as profile", 3.0, true, advice_cost);
    missed += judge_rows(report, markdown, "compiled in 0.2 s a 1,000 PTX instructions", 0.2, true, making_quick);
    missed += judge_rows(report, markdown, "compiled before: loaded in 5 ms a kernel", 5.0, true, loading);
    if (report->threads == 2)
        missed += judge_rows(report, markdown, "a second core brings at least 1.85 times, from 5 ms on", 1.85, false,
                             second_core);
    return missed;
}

static void json_string(FILE *out, const char *text)
{
    fputc('"', out);
    for (; *text; text++)
        if (*text == '"' || *text == '\\')
            fprintf(out, "\\%c", *text);
        else
            fputc((unsigned char)*text < 0x20 ? ' ' : *text, out);
    fputc('"', out);
}

bool bench_report_json(const struct bench_report *report, const char *path)
{
    static const char *const names[COL_COUNT] = {
        "margay_models", "margay_interpreted", "margay_bare",    "margay_check", "margay_advise",
        "margay_timed",  "margay_check_timed", "margay_threads", "opencl",       "plain_c"};
    FILE *out = fopen(path, "w");
    if (!out)
        return false;
    fprintf(out, "{\"schema\": 1, \"processor\": ");
    json_string(out, report->processor);
    fprintf(out,
            ", \"processors\": %u, \"threads\": %u, \"reps\": %d, \"cpu_time\": %s, \"opencl\": ", report->processors,
            report->threads, report->reps, report->cpu_time ? "true" : "false");
    json_string(out, report->opencl);
    fprintf(out, ",\n \"kernels\": [");
    for (size_t i = 0; i < report->nrows; i++) {
        const struct bench_row *row = &report->rows[i];
        fprintf(out,
                "%s\n  {\"name\": \"%s\", \"size\": \"%s\", \"warp_instructions\": %llu, \"wavefronts_shared\": %llu",
                i ? "," : "", row->name, row->size, (unsigned long long)row->warp_instructions,
                (unsigned long long)row->wavefronts);
        for (int k = 0; k < COL_COUNT; k++)
            if (row->time[k].runs)
                fprintf(out, ",\n   \"%s\": {\"best_s\": %.9f, \"median_s\": %.9f, \"cpu_s\": %.9f, \"runs\": %d}",
                        names[k], row->time[k].best, row->time[k].median, row->time[k].cpu, row->time[k].runs);
        if (row->pairs > 0.0)
            fprintf(out, ",\n   \"speed_up\": %.4f, \"ordered\": %s", row->pairs, row->ordered ? "true" : "false");
        if (row->making.instructions)
            fprintf(out,
                    ",\n   \"making\": {\"instructions\": %u, \"quickly_s\": %.9f, \"thoroughly_s\": %.9f, \"load_s\": "
                    "%.9f}",
                    row->making.instructions, row->making.quick, row->making.thorough, row->making.load);
        fprintf(out, "}");
    }
    fprintf(out, "\n ]}\n");
    bool bad = ferror(out) != 0;
    return fclose(out) == 0 && !bad;
}
