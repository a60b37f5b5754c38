/* cmd_summary.c - `margay summary`: what somebody who writes kernels, a person or a program, needs next, in a few
 * lines.
 *
 * Of reports (--json files of the other commands), or of a program: then `margay check` and `margay advise` are run on
 * it, and their reports are what is told. First whether it is right, then for each kernel, the longest first, what its
 * time goes into and what to change where. The JSON is under 2,000 characters: the longest form that fits is written,
 * of those in `forms`, and what was left out is counted. The reports have the rest.
 */
#include <getopt.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"

#define MOST_BYTES 1999
#define MOST_REPORTS 8
#define MOST_WORDS 32
#define FIXED_WORDS 5

enum { OPT_JSON = 1000, OPT_HELP, OPT_VERSION, OPT_PASSED };
static const struct mg_cli_option table[] = {
    {OPT_JSON, "json", NULL, "write JSON, under 2,000 characters", 1},
    {OPT_PASSED, "kernel", "REGEX", "of a program: look at kernels whose name matches alone", 1},
    {OPT_PASSED + 1, "launches", "N", "of a program: look at the first N launches alone", 1},
    {OPT_PASSED + 2, "device", "CC", "of a program: simulate compute capability CC; default: 9.0", 1},
    {OPT_PASSED + 3, "board", "NAME", "of a program: simulate a board, such as h200", 1},
    {OPT_PASSED + 4, "timeout", "SECONDS", "of a program: end a kernel that takes longer", 1},
    {OPT_PASSED + 5, "nvcc-args", "ARGS", "more arguments for nvcc, when a .cu file is given", 1},
    {OPT_HELP, "help", NULL, "show this help", 1},
    {OPT_VERSION, "version", NULL, "show the version", 1},
};

/* How much of each is told. */
static const struct form {
    unsigned findings, kernels, items, text;
} forms[] = {{8, 6, 3, 240}, {6, 5, 2, 200}, {4, 4, 2, 160}, {3, 3, 1, 140},
             {2, 2, 1, 120}, {1, 2, 1, 80},  {1, 1, 1, 40},  {1, 1, 1, 12}};

struct summary {
    bool json;
    const char *passed[MOST_WORDS]; /* options for the two runs, --name and value */
    unsigned npassed;
    char names[MOST_WORDS][16]; /* "--kernel" */
    struct mg_style style;
    struct mg_report_file reports[MOST_REPORTS];
    unsigned nreports;
    const struct mg_report_file *counts; /* the report that kernels are told of */
    size_t nfindings, nerrors;
    bool checked, wrong, ran;
    bool unsure;        /* the check could not tell */
    int program_status; /* of the second run: check's is about the check */
    const struct form *form;
    struct mg_strbuf out;
};

/* ---- the command line ---- */
static int help(void)
{
    fputs("usage: margay summary [options] REPORT.json...\n"
          "       margay summary [options] PROGRAM|FILE.cu [args...]\n"
          "\n"
          "Says in a few lines whether a program's kernels are right, what their time goes into, and what\n"
          "to change where: of reports that --json wrote, or of a program, which is then run twice (check\n"
          "and advise). The program's own output goes to standard error, that of the second run nowhere.\n",
          stdout);
    mg__cli_help_rows(&(struct mg_cli_reader){.table = table, .count = MG_COUNT(table), .command = 1});
    fputs("\nExit status: 0; 1 when something is wrong; 2, with a message, when it cannot be told.\n", stdout);
    return 0;
}

static int apply(void *arg, int id, const char *value)
{
    struct summary *s = arg;
    if (id == OPT_JSON) {
        s->json = true;
        return -1;
    }
    if (id == OPT_VERSION) {
        puts("margay " MG_VERSION_STRING);
        return 0;
    }
    if (id == OPT_HELP)
        return help();
    for (size_t i = 0; i < MG_COUNT(table); i++)
        if (table[i].id == id && s->npassed + 2 <= MOST_WORDS) {
            snprintf(s->names[s->npassed], sizeof(s->names[0]), "--%s", table[i].name);
            s->passed[s->npassed] = s->names[s->npassed];
            s->passed[s->npassed + 1] = value;
            s->npassed += 2;
            return -1;
        }
    return mg__cli_complain(NULL, "too many options");
}

/* ---- the runs ---- */
/* `margay COMMAND --json REPORT --output /dev/null … PROGRAM`. Returns its status, or -1. */
static int run_one(const struct summary *s, const char *command, const char *report, char **program, bool quiet)
{
    const char *options[FIXED_WORDS + MOST_WORDS + 1] = {"--json", report, "--output", "/dev/null", "--quiet"};
    memcpy(options + FIXED_WORDS, s->passed, s->npassed * sizeof(*options));
    return mg__self_run(&(struct mg_self){command, options, program, quiet ? "/dev/null" : NULL});
}

static int load(struct summary *s, const char *path)
{
    struct mg_diag diag;
    if (s->nreports == MOST_REPORTS)
        return mg__cli_complain(NULL, "at most %d reports are put together", MOST_REPORTS);
    mg__report_file_init(&s->reports[s->nreports], false);
    if (mg__report_load(&s->reports[s->nreports++], path, &diag) != MG_OK)
        return mg__cli_complain(NULL, "%s", diag.message);
    return -1;
}

static int run_both(struct summary *s, char **program)
{
    struct mg_compiled folder = {{0}, {0}}; /* of which the folder alone is used */
    static const char *const commands[] = {"check", "advise"};
    if (!mg__self_folder(&folder))
        return MG_EXIT_SETUP;
    int result = -1;
    for (size_t i = 0; result < 0 && i < MG_COUNT(commands); i++) {
        char report[sizeof(folder.dir) + 16];
        snprintf(report, sizeof(report), "%s/%s.json", folder.dir, commands[i]);
        int status = run_one(s, commands[i], report, program, i > 0);
        s->program_status = status;
        s->unsure |= i == 0 && status == MG_EXIT_SETUP;
        if (status >= 128) /* ended by a signal, as the user wanted */
            result = status;
        else if (access(report, R_OK) == 0)
            result = load(s, report);
        else /* the first run has said why */
            result = i ? mg__cli_complain(NULL, "the second run, for advice, left no report") : MG_EXIT_SETUP;
    }
    s->ran = result < 0;
    mg__compile_clean(&folder);
    return result;
}

/* ---- what is told ---- */
static bool has_counts(const struct mg_report_file *r)
{
    for (size_t i = 0; i < r->tally.kernels.count; i++)
        if (r->tally.kernels.at[i]->metrics.v[MG_METRIC_INST])
            return true;
    return false;
}

static bool take_stock(struct summary *s)
{
    for (unsigned i = 0; i < s->nreports; i++) {
        struct mg_report_file *r = &s->reports[i];
        s->checked |= r->checked;
        s->nfindings += r->findings.at.count;
        for (size_t j = 0; j < r->findings.at.count; j++)
            s->wrong |= r->findings.at.at[j]->severity >= MG_SEVERITY_WARNING &&
                        strcmp(r->findings.at.at[j]->check, "budget") != 0; /* dear, and right all the same */
        if (r->errors.count > s->nerrors)
            s->nerrors = r->errors.count; /* the same ones in every run */
        if (mg__advices_read(&r->advices) != MG_OK)
            return false;
        mg__advices_sort(&r->advices);
        mg__tally_sort(&r->tally);
        if (has_counts(r) && (!s->counts || (r->advised && !s->counts->advised)))
            s->counts = r;
    }
    s->wrong |= s->nerrors > 0 || (s->ran && s->program_status);
    return true;
}

static const char *verdict(const struct summary *s)
{
    return s->wrong ? "wrong" : s->checked && !s->unsure ? "right" : "not checked";
}

static const struct mg_report_advice *advice_of(const struct summary *s, const struct mg_tally_kernel *k)
{
    for (size_t i = 0; i < s->counts->advices.at.count; i++)
        if (!strcmp(s->counts->advices.at.at[i]->advice.mangled, k->mangled))
            return &s->counts->advices.at.at[i]->advice;
    return NULL;
}

/* Estimates first, where there are any: the tally's order is that of costs. */
static const struct mg_tally_kernel *kernel_at(const struct summary *s, size_t n)
{
    const struct mg_report_file *r = s->counts;
    for (size_t i = 0; i < r->advices.at.count; i++)
        for (size_t j = 0; j < r->tally.kernels.count; j++) {
            const char *mangled = r->advices.at.at[i]->advice.mangled;
            bool first = !strcmp(r->tally.kernels.at[j]->mangled, mangled);
            for (size_t before = 0; first && before < i; before++)
                first = strcmp(r->advices.at.at[before]->advice.mangled, mangled) != 0;
            if (first && n-- == 0)
                return r->tally.kernels.at[j];
        }
    for (size_t j = 0; j < r->tally.kernels.count; j++)
        if (!advice_of(s, r->tally.kernels.at[j]) && n-- == 0)
            return r->tally.kernels.at[j];
    return NULL;
}

static bool worth_doing(const struct mg_report_advice_item *item)
{
    return strcmp(item->id, "nothing") != 0;
}

/* ---- as JSON ---- */
static bool plain(struct summary *s, const char *text)
{
    return mg__strbuf_append(&s->out, text, strlen(text));
}

/* ,"key":"text", cut; of a path its end stays. Nothing of an empty one. */
static bool field(struct summary *s, const char *key, const char *text, bool path)
{
    char cut[512];
    size_t n = strlen(text), most = MG_MIN((size_t)s->form->text, sizeof(cut) - 8);
    if (!n)
        return true;
    if (n <= most) {
        snprintf(cut, sizeof(cut), "%s", text);
    } else if (path) {
        const char *from = text + n - most;
        while (((unsigned char)*from & 0xc0) == 0x80)
            from++;
        snprintf(cut, sizeof(cut), "\xe2\x80\xa6%s", from);
    } else {
        while (((unsigned char)text[most] & 0xc0) == 0x80)
            most--;
        snprintf(cut, sizeof(cut), "%.*s\xe2\x80\xa6", (int)most, text);
    }
    return mg__strbuf_printf(&s->out, ",\"%s\":", key) && mg__json_string(&s->out, cut);
}

static bool place(struct summary *s, const char *key, const char *file, uint32_t line)
{
    char text[PATH_MAX + 16];
    if (!file[0] || !line)
        return true;
    snprintf(text, sizeof(text), "%s:%u", mg__layout_path(&s->style, file), line);
    return field(s, key, text, true);
}

static bool own_name(struct summary *s, const char *key, const char *kernel)
{
    char text[1024];
    size_t at, n;
    mg__kernel_bare_name(kernel, &at, &n);
    snprintf(text, sizeof(text), "%.*s", (int)MG_MIN(n, sizeof(text) - 1), kernel + at);
    return field(s, key, text, false);
}

static bool json_findings(struct summary *s)
{
    unsigned told = 0;
    bool ok = plain(s, ",\"findings\":[");
    for (unsigned i = 0; ok && i < s->nreports; i++)
        for (size_t j = 0; ok && j < s->reports[i].findings.at.count && told < s->form->findings; j++, told++) {
            const struct mg_report_finding *f = s->reports[i].findings.at.at[j];
            ok = mg__strbuf_printf(&s->out, "%s{\"severity\":\"%s\"", told ? "," : "",
                                   mg__report_severity_name(f->severity)) &&
                 mg__strbuf_printf(&s->out, ",\"what\":\"%.30s/%.30s\"", f->check, f->kind) &&
                 own_name(s, "kernel", f->kernel) && place(s, "at", f->file, f->line) &&
                 place(s, "other", f->other_file[0] ? f->other_file : f->file, f->other_line) &&
                 field(s, "says", f->message, false) && field(s, "fix", f->advice, false) && plain(s, "}");
        }
    ok = ok && plain(s, "],\"errors\":[");
    unsigned errors = 0;
    for (unsigned i = 0; ok && i < s->nreports && !errors; i++)
        for (size_t j = 0; ok && j < s->reports[i].errors.count && errors < s->form->items; j++, errors++) {
            const struct mg_report_error *e = s->reports[i].errors.at[j];
            ok =
                mg__strbuf_printf(&s->out, "%s{\"status\":\"%s\"", errors ? "," : "", mg_status_name(e->diag.status)) &&
                own_name(s, "kernel", e->kernel) && place(s, "at", e->diag.file, e->diag.line) &&
                field(s, "says", e->diag.message, false) && field(s, "fix", e->diag.hint, false) && plain(s, "}");
        }
    return ok && plain(s, "]") &&
           (s->nfindings == told || mg__strbuf_printf(&s->out, ",\"findings_left_out\":%zu", s->nfindings - told)) &&
           (s->nerrors == errors || mg__strbuf_printf(&s->out, ",\"errors_left_out\":%zu", s->nerrors - errors));
}

static bool ratio(struct summary *s, const char *key, const struct mg_metrics *m, enum mg_metric metric, double scale)
{
    double value;
    return !mg__metric_value(m, metric, &value) || mg__strbuf_printf(&s->out, ",\"%s\":%.4g", key, value * scale);
}

static bool json_kernel(struct summary *s, const struct mg_tally_kernel *k)
{
    const struct mg_report_advice *a = advice_of(s, k);
    bool ok = mg__strbuf_printf(&s->out, "{\"launches\":%llu", (unsigned long long)k->launches) &&
              own_name(s, "kernel", k->kernel);
    if (ok && a) {
        ok = mg__strbuf_printf(&s->out, ",\"estimated_us\":%.3g", a->seconds * 1e6);
        if (a->nroofs > a->binding)
            ok = ok && field(s, "limit", a->roofs[a->binding].name, false);
        if (a->occupancy_max_warps)
            ok = ok &&
                 mg__strbuf_printf(&s->out, ",\"occupancy\":%.2g", (double)a->occupancy_warps / a->occupancy_max_warps);
    }
    ok = ok && ratio(s, "conflicts", &k->metrics, MG_METRIC_TIMES_IDEAL, 1) &&
         ratio(s, "efficiency", &k->metrics, MG_METRIC_EFFICIENCY, 0.01) &&
         mg__strbuf_printf(&s->out, ",\"divergent\":%llu,\"instructions\":%llu,\"do\":[",
                           (unsigned long long)k->metrics.v[MG_METRIC_DIVERGENT],
                           (unsigned long long)k->metrics.v[MG_METRIC_INST]);
    unsigned told = 0;
    for (size_t i = 0; ok && a && i < a->nitems && told < s->form->items; i++) {
        const struct mg_report_advice_item *item = &a->items[i];
        if (!worth_doing(item))
            continue;
        ok = mg__strbuf_printf(&s->out, "%s{\"gain\":%.2g", told++ ? "," : "", item->gain) &&
             field(s, "what", item->title, false) && place(s, "at", item->file, item->line) &&
             field(s, "how", item->how, false) && plain(s, "}");
    }
    return ok && plain(s, "]}");
}

static bool json_all(struct summary *s)
{
    s->out.count = 0;
    bool ok = mg__strbuf_printf(&s->out, "{\"margay\":\"" MG_VERSION_STRING "\",\"verdict\":\"%s\"", verdict(s)) &&
              (!s->nreports || field(s, "device", s->reports[0].device, false)) &&
              (!s->ran || mg__strbuf_printf(&s->out, ",\"program_exit\":%d", s->program_status)) && json_findings(s) &&
              plain(s, ",\"kernels\":[");
    size_t count = s->counts ? s->counts->tally.kernels.count : 0, told = 0;
    for (; ok && told < count && told < s->form->kernels; told++)
        ok = plain(s, told ? "," : "") && json_kernel(s, kernel_at(s, told));
    return ok && plain(s, "]") &&
           (told == count || mg__strbuf_printf(&s->out, ",\"kernels_left_out\":%zu", count - told)) && plain(s, "}\n");
}

/* ---- as text ---- */
static bool words(struct summary *s, const char *text)
{
    return mg__layout_text(&s->out, &s->style, text, strlen(text), UINT32_MAX, NULL);
}

static bool text_place(struct summary *s, const char *file, uint32_t line)
{
    return !file[0] || !line ||
           (words(s, mg__layout_path(&s->style, file)) && mg__strbuf_printf(&s->out, ":%u  ", line));
}

static bool text_findings(struct summary *s)
{
    unsigned told = 0;
    bool ok = mg__strbuf_printf(&s->out, "%s: %zu finding%s, %zu error%s\n", verdict(s), s->nfindings,
                                s->nfindings == 1 ? "" : "s", s->nerrors, s->nerrors == 1 ? "" : "s");
    if (ok && s->ran && s->program_status)
        ok = mg__strbuf_printf(&s->out, "  the program ended with status %d\n", s->program_status);
    for (unsigned i = 0; ok && i < s->nreports; i++)
        for (size_t j = 0; ok && j < s->reports[i].findings.at.count && told < s->form->findings; j++, told++) {
            const struct mg_report_finding *f = s->reports[i].findings.at.at[j];
            ok = plain(s, "  ") && text_place(s, f->file, f->line) && words(s, f->check) && plain(s, "/") &&
                 words(s, f->kind) && plain(s, ": ") && words(s, f->message) && plain(s, "\n") &&
                 (!f->advice[0] || (plain(s, "    fix: ") && words(s, f->advice) && plain(s, "\n")));
        }
    if (ok && told < s->nfindings)
        ok = mg__strbuf_printf(&s->out, "  and %zu more\n", s->nfindings - told);
    return ok;
}

static bool text_kernel(struct summary *s, const struct mg_tally_kernel *k)
{
    const struct mg_report_advice *a = advice_of(s, k);
    double value;
    bool ok = words(s, k->kernel) && plain(s, "\n  ");
    if (a)
        ok = ok && plain(s, "estimate ") && mg__layout_seconds(&s->out, a->seconds) &&
             (a->nroofs <= a->binding || (plain(s, ", bound by ") && words(s, a->roofs[a->binding].name))) &&
             plain(s, "; ");
    if (mg__metric_value(&k->metrics, MG_METRIC_TIMES_IDEAL, &value))
        ok = ok && mg__strbuf_printf(&s->out, "conflicts %.4g times the ideal; ", value);
    if (mg__metric_value(&k->metrics, MG_METRIC_EFFICIENCY, &value))
        ok = ok && mg__strbuf_printf(&s->out, "global efficiency %.0f %%; ", value);
    ok = ok && mg__layout_number(&s->out, k->metrics.v[MG_METRIC_DIVERGENT], 0) && plain(s, " divergent branches\n");
    unsigned told = 0;
    for (size_t i = 0; ok && a && i < a->nitems && told < s->form->items; i++) {
        const struct mg_report_advice_item *item = &a->items[i];
        if (!worth_doing(item))
            continue;
        told++;
        ok = mg__strbuf_printf(&s->out, "    %2.0f %%  ", item->gain * 100) && text_place(s, item->file, item->line) &&
             words(s, item->title) && plain(s, "\n");
    }
    return ok;
}

static bool text_all(struct summary *s)
{
    bool ok = text_findings(s);
    size_t count = s->counts ? s->counts->tally.kernels.count : 0, told = 0;
    for (; ok && told < count && told < s->form->kernels; told++)
        ok = text_kernel(s, kernel_at(s, told));
    if (ok && told < count)
        ok = mg__strbuf_printf(&s->out, "and %zu more kernels\n", count - told);
    return ok;
}

static int tell(struct summary *s)
{
    bool ok = take_stock(s);
    s->form = forms;
    if (!s->json) {
        ok = ok && text_all(s);
    } else {
        for (size_t i = 0; ok && i < MG_COUNT(forms) && (!i || s->out.count > MOST_BYTES); i++) {
            s->form = &forms[i];
            ok = json_all(s);
        }
    }
    if (!ok)
        return mg__cli_complain(NULL, "out of memory");
    if (fwrite(s->out.at, 1, s->out.count, stdout) != s->out.count || fflush(stdout) != 0)
        return mg__cli_complain(NULL, "standard output could not be written");
    if (!s->counts && !s->wrong)
        return mg__cli_complain(NULL, "no kernel was launched");
    return s->wrong ? MG_EXIT_FINDINGS : s->unsure ? MG_EXIT_SETUP : 0;
}

static bool is_report(const char *name)
{
    size_t n = strlen(name);
    return n > 5 && !strcmp(name + n - 5, ".json");
}

int mg__cmd_summary(int argc, char **argv)
{
    struct summary *s = calloc(1, sizeof(*s));
    char cwd[4096];
    if (!s)
        return mg__cli_complain(NULL, "out of memory");
    mg__cli_style(&s->style, STDOUT_FILENO);
    s->style.cwd = getcwd(cwd, sizeof(cwd)) ? cwd : NULL;
    int result = mg__cli_read(
        &(struct mg_cli_reader){
            .table = table, .count = MG_COUNT(table), .command = 1, .help = OPT_HELP, .apply = apply, .arg = s},
        argc, argv);
    if (result < 0 && optind >= argc)
        result = mg__cli_complain(NULL, "a report or a program is needed; see 'margay summary --help'");
    else if (result < 0 && is_report(argv[optind]))
        for (int i = optind; result < 0 && i < argc; i++)
            result = load(s, argv[i]);
    else if (result < 0)
        result = run_both(s, argv + optind);
    if (result < 0)
        result = tell(s);
    for (unsigned i = 0; i < s->nreports; i++)
        mg__report_file_free(&s->reports[i]);
    mg__strbuf_free(&s->out);
    free(s);
    return result;
}
