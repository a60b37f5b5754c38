/* cmd_bench.c - `margay bench`: the collection's ladders, measured on a GPU or counted without one.
 *
 * The work is margay-bench's (kernels/bench), an ordinary CUDA program. Where there is a GPU it is simply executed.
 * Where there is none it runs under Margay like any program: it launches a kernel without work, the mark, before each
 * rung, whose grid tells the number of the row; the launches after it are that rung's, and their counters are added up.
 * Which row is which comes in a file of tab-separated lines. Kernels named bench_… are the bench's own and not counted.
 */
#include "cli.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <unistd.h>

#define MARK "bench_mark_row"
#define OWN "bench_"

struct counted {
    struct mg_metrics metrics;
    uint64_t launches;
};
struct bench {
    MG_VEC(struct counted) rows;
    struct counted *now; /* the row whose mark was seen last */
    bool failed;         /* out of memory */
};
struct row { /* a line of the rows file: the fields point into its text */
    const char *operation, *type, *size, *kind, *name, *verdict, *error;
    long mark;
};

static bool gpu_present(void)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
    int count = 0;
    if (!driver)
        return false;
    int (*init)(unsigned) = (int (*)(unsigned))dlsym(driver, "cuInit");
    int (*devices)(int *) = (int (*)(int *))dlsym(driver, "cuDeviceGetCount");
    bool present = init && devices && init(0) == 0 && devices(&count) == 0 && count > 0;
    dlclose(driver);
    return present;
}

/* ---- launches, as they come ---- */
static void on_launch(void *arg, const struct mg_report_launch *launch)
{
    struct bench *b = arg;
    if (strstr(launch->mangled, MARK)) {
        size_t row = launch->grid.x - 1;
        while (!b->failed && b->rows.count <= row)
            b->failed = !mg__vec_push(&b->rows, ((struct counted){{{0}}, 0}));
        b->now = b->failed ? NULL : &b->rows.at[row];
    } else if (b->now && !strstr(launch->mangled, OWN)) {
        b->now->launches++;
        mg__metrics_add(&b->now->metrics, &launch->metrics);
    }
}

/* ---- the rows ---- */
static bool next_row(char **text, struct row *row)
{
    char *field[8], *line = *text, *end = strchr(line, '\n');
    if (!end)
        return false;
    *end = 0;
    *text = end + 1;
    for (int i = 0; i < 8; i++) {
        field[i] = line;
        char *tab = line ? strchr(line, '\t') : NULL;
        if (!tab && i < 7)
            return false;
        if (tab)
            *tab = 0;
        line = tab ? tab + 1 : NULL;
    }
    *row =
        (struct row){field[0], field[1], field[2], field[3], field[4], field[6], field[7], strtol(field[5], NULL, 10)};
    return true;
}

static const struct counted *counted_of(const struct bench *b, const struct row *row)
{
    return row->mark >= 0 && (size_t)row->mark < b->rows.count && b->rows.at[row->mark].launches
               ? &b->rows.at[row->mark]
               : NULL;
}

static bool same_case(const struct row *a, const struct row *b)
{
    return a->operation && !strcmp(a->operation, b->operation) && !strcmp(a->type, b->type) &&
           !strcmp(a->size, b->size);
}

static bool put_row(const struct bench *b, const struct row *row, struct mg_strbuf *out)
{
    const struct counted *c = counted_of(b, row);
    bool ok = mg__strbuf_printf(out, "  %-22.22s", row->name);
    if (!c)
        return ok && mg__strbuf_printf(out, "%56s\n", row->verdict);
    const uint64_t *v = c->metrics.v;
    return ok && mg__layout_number(out, v[MG_METRIC_WAVEFRONTS_SHARED], 12) &&
           mg__layout_number(out, mg__metric_whole(&c->metrics, MG_METRIC_CONFLICTS), 11) &&
           mg__layout_number(out, v[MG_METRIC_SECTORS_GLOBAL], 12) && mg__layout_number(out, v[MG_METRIC_INST], 12) &&
           mg__strbuf_printf(out, "  %s\n", row->verdict);
}

static bool put_json_text(struct mg_strbuf *out, const char *key, const char *value)
{
    bool ok = mg__strbuf_printf(out, "\"%s\": \"", key);
    for (; ok && *value; value++) {
        unsigned char ch = (unsigned char)*value;
        ok = ch < 32 || ch == '"' || ch == '\\' ? mg__strbuf_printf(out, "\\u%04x", ch)
                                                : mg__strbuf_append(out, value, 1);
    }
    return ok && mg__strbuf_append(out, "\"", 1);
}

static bool put_json(const struct bench *b, const struct row *row, bool first_case, bool same, struct mg_strbuf *out)
{
    const struct counted *c = counted_of(b, row);
    bool ok = true;
    if (!same)
        ok = mg__strbuf_printf(out, "%s\n{", first_case ? "" : "]},") &&
             put_json_text(out, "operation", row->operation) && mg__strbuf_append(out, ", ", 2) &&
             put_json_text(out, "type", row->type) && mg__strbuf_append(out, ", ", 2) &&
             put_json_text(out, "size", row->size) && mg__strbuf_printf(out, ", \"rows\": [");
    ok = ok && mg__strbuf_printf(out, "%s\n  {", same ? "," : "") && put_json_text(out, "kind", row->kind) &&
         mg__strbuf_append(out, ", ", 2) && put_json_text(out, "name", row->name) &&
         mg__strbuf_printf(out, ", \"ran\": %s", strcmp(row->verdict, "not run") ? "true" : "false");
    if (ok && strcmp(row->verdict, "not run"))
        ok = mg__strbuf_printf(out, ", \"ok\": %s, \"error\": %s", strcmp(row->verdict, "wrong") ? "true" : "false",
                               row->error);
    if (c && ok) {
        ok = mg__strbuf_printf(out, ", \"launches\": %llu, \"counters\": {", (unsigned long long)c->launches);
        for (int i = 0; ok && i < MG_METRIC_COUNT; i++)
            ok = mg__strbuf_printf(out, "%s\"%s\": %llu", i ? ", " : "", mg__metric_name((enum mg_metric)i),
                                   (unsigned long long)c->metrics.v[i]);
        ok = ok && mg__strbuf_append(out, "}", 1);
    }
    return ok && mg__strbuf_append(out, "}", 1);
}

/* Prints the tables and makes the JSON. Returns -1 to go on: the rows are all there. */
static int show(const struct bench *b, const struct mg_cli_options *o, char *text)
{
    struct mg_strbuf out = {0}, json = {0};
    struct row row, last = {0};
    bool ok = true;
    int result = -1;
    size_t count = 0;
    ok = mg__strbuf_printf(&json,
                           "{\"margay\": {\"bench\": 1, \"version\": \"%s\"},\n\"device\": {\"name\": \"%s\", "
                           "\"simulated\": true},\n\"measured\": false,\n\"cases\": [",
                           MG_VERSION_STRING, o->arch->board->name);
    while (ok && next_row(&text, &row)) {
        bool same = same_case(&last, &row);
        if (!same)
            ok = mg__strbuf_printf(&out, "%s%s %s %s\n  %-22s%12s%11s%12s%12s\n", count ? "\n" : "", row.operation,
                                   row.type, row.size, "", "wavefronts", "excess", "sectors", "instr.");
        ok = ok && put_row(b, &row, &out) && put_json(b, &row, count == 0, same, &json);
        last = row;
        count++;
    }
    ok = ok && mg__strbuf_printf(&json, "%s\n]}\n", count ? "]}" : "");
    if (!ok) {
        result = mg__cli_complain(o, "out of memory");
    } else {
        if (count)
            printf("Simulated %s: shared-memory wavefronts and those that conflicts cost (excess),\n"
                   "global sectors and warp instructions. Nothing is timed; on a GPU it is.\n\n%s",
                   o->arch->board->name, out.at);
        if (o->json) {
            FILE *f = fopen(o->json, "we");
            bool bad = !f || fwrite(json.at, 1, json.count, f) != json.count;
            if ((f && fclose(f) != 0) || bad)
                result = mg__cli_complain(o, "%s: %s", o->json, strerror(errno));
        }
        if (fflush(stdout) != 0)
            result = mg__cli_complain(o, "standard output could not be written");
    }
    mg__strbuf_free(&out);
    mg__strbuf_free(&json);
    return result;
}

/* argv of margay-bench: at most `room` words. */
static void command_line(const struct mg_cli_options *o, char *path, const char *rows, char **argv, size_t room)
{
    size_t n = 0;
    argv[n++] = path;
    if (rows) {
        argv[n++] = "--rows";
        argv[n++] = (char *)rows;
    } else if (o->json) {
        argv[n++] = "--json";
        argv[n++] = (char *)o->json;
    }
    if (o->sizes) {
        argv[n++] = "--sizes";
        argv[n++] = (char *)o->sizes;
    }
    if (o->reps && !rows) {
        argv[n++] = "--reps";
        argv[n++] = (char *)o->reps;
    }
    for (char **name = o->program; *name && n + 1 < room; name++)
        argv[n++] = *name;
    argv[n] = NULL;
}

static int simulate(struct mg_cli_options *o, char *path)
{
    struct bench bench = {0};
    struct mg_session session;
    char rows[PATH_MAX], *argv[64], *text = NULL;
    const char *tmp = getenv("TMPDIR");
    size_t size;
    int status = 0, result;
    snprintf(rows, sizeof(rows), "%s/margay-bench-XXXXXX", tmp && tmp[0] == '/' ? tmp : "/tmp");
    int fd = mkstemp(rows);
    if (fd < 0)
        return mg__cli_complain(o, "%s: %s", rows, strerror(errno));
    close(fd);
    struct mg_cli_options run = *o;
    command_line(o, path, rows, argv, MG_COUNT(argv));
    run.program = argv;
    run.json = NULL; /* ours is another report than the session's */
    run.on_launch = on_launch;
    run.on_launch_arg = &bench;
    result = mg__session_run(&session, &run, &status);
    if (result < 0 && bench.failed)
        result = mg__cli_complain(o, "out of memory");
    if (result < 0 && mg__file_read(rows, (size_t)64 << 20, &text, &size, NULL) != MG_OK)
        result = mg__cli_complain(o, "%s: %s", rows, strerror(errno));
    if (result < 0)
        result = show(&bench, o, text);
    (void)unlink(rows);
    free(text);
    mg__vec_free(&bench.rows);
    mg__session_free(&session);
    return result < 0 ? status : result;
}

int mg__cmd_bench(int argc, char **argv)
{
    struct mg_cli_options options;
    char path[PATH_MAX], dir[PATH_MAX - 16], *words[64];
    int why = 0, result = mg__cli_parse(MG_CMD_BENCH, argc, argv, &options);
    if (result >= 0)
        return result;
    if (mg__find_own_dir(dir, sizeof(dir)))
        snprintf(path, sizeof(path), "%s/margay-bench", dir);
    if (access(path, X_OK) != 0 && !mg__find_program("margay-bench", path, sizeof(path), &why))
        return mg__cli_complain(&options,
                                "margay-bench was not found beside the command: the collection is built where "
                                "nvcc is (`make`)");
    if (options.simulate || !gpu_present())
        return simulate(&options, path);
    mg__cli_say(&options, "a GPU is here: running %s on it", path);
    command_line(&options, path, NULL, words, MG_COUNT(words));
    execv(path, words);
    return mg__cli_complain(&options, "%s: %s", path, strerror(errno));
}
