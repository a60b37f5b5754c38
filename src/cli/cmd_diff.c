/* cmd_diff.c - `margay diff A.json B.json`: what changed between two reports, by kernel and source line.
 *
 * Counts are those of a launch, on average, where the runs launched a kernel differently often. Which of them must not
 * become worse is the user's to say (--fail-on); launches whose counts depend on the order in which warps waited for
 * one another are shown and never judged. A finding is the same one where kernel, kind and variable are: lines move.
 * compare.c says which kernel and line is which.
 */
#include "compare.h"
#include "cli.h"

#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <unistd.h>

enum { OPT_JSON = 1000, OPT_FAIL_ON, OPT_TOLERANCE, OPT_HELP, OPT_VERSION };
static const struct mg_cli_option table[] = {
    {OPT_JSON, "json", NULL, "write JSON", 1},
    {OPT_FAIL_ON, "fail-on", "LIST",
     "what may not become worse; default: conflicts,sectors,divergent,findings; or never", 1},
    {OPT_TOLERANCE, "tolerance", "PERCENT", "let a count grow by so much; default: 0", 1},
    {OPT_HELP, "help", NULL, "show this help", 1},
    {OPT_VERSION, "version", NULL, "show the version", 1},
};

/* What is shown, in this order. Less is better of all of them. */
static const struct {
    const char *name;
    enum mg_metric metric;
    bool judged; /* unless --fail-on says otherwise */
} shown[] = {
    {"conflicts", MG_METRIC_CONFLICTS, true},    {"wavefronts", MG_METRIC_WAVEFRONTS_SHARED, false},
    {"sectors", MG_METRIC_SECTORS_GLOBAL, true}, {"divergent", MG_METRIC_DIVERGENT, true},
    {"instructions", MG_METRIC_INST, false},
};
#define SHOWN MG_COUNT(shown)

enum change { SAME, BETTER, WORSE, MIXED, CHANGED, NEW, GONE, CHANGES };
static const char *const change_names[CHANGES] = {"same", "better", "worse", "mixed", "changed", "new", "gone"};

struct diff {
    bool json, judged[SHOWN], judge_findings;
    double tolerance;
    struct mg_style style;
    struct mg_report_file a, b;
    struct mg_comparison pairs;
    MG_VEC(const struct mg_report_finding *) found, gone;
    bool worse;
    unsigned count[CHANGES];
    struct mg_strbuf out;
};

/* ---- the command line ---- */
static int help(void)
{
    fputs("usage: margay diff [options] A.json B.json\n"
          "\n"
          "Shows what changed between two reports (of --json), for every kernel and source line.\n",
          stdout);
    mg__cli_help_rows(&(struct mg_cli_reader){.table = table, .count = MG_COUNT(table), .command = 1});
    fputs("\n--fail-on takes conflicts, wavefronts, sectors, divergent, instructions and findings.\n"
          "\n"
          "Exit status: 0; 1 when one of these became worse; 2, with a message, when a file is no report.\n",
          stdout);
    return 0;
}

static int parse_fail_on(struct diff *d, const char *list)
{
    memset(d->judged, 0, sizeof(d->judged));
    d->judge_findings = false;
    if (!strcmp(list, "never"))
        return -1;
    for (const char *at = list;; at++) {
        size_t n = strcspn(at, ",");
        bool known = n == 8 && !strncmp(at, "findings", n);
        d->judge_findings |= known;
        for (size_t i = 0; i < SHOWN; i++)
            if (strlen(shown[i].name) == n && !strncmp(at, shown[i].name, n))
                d->judged[i] = known = true;
        if (!known)
            return mg__cli_complain(NULL,
                                    "--fail-on %s: a list of conflicts, wavefronts, sectors, divergent, "
                                    "instructions and findings is needed, or never",
                                    list);
        at += n;
        if (!*at)
            return -1;
    }
}

static int apply(void *arg, int id, const char *value)
{
    struct diff *d = arg;
    char *end;
    switch (id) {
    case OPT_JSON:
        d->json = true;
        return -1;
    case OPT_FAIL_ON:
        return parse_fail_on(d, value);
    case OPT_TOLERANCE:
        errno = 0;
        d->tolerance = strtod(value, &end) / 100;
        if (errno || end == value || *end || !isfinite(d->tolerance) || d->tolerance < 0)
            return mg__cli_complain(NULL, "--tolerance %s: a percentage is needed, such as 2", value);
        return -1;
    case OPT_VERSION:
        puts("margay " MG_VERSION_STRING);
        return 0;
    default:
        return help();
    }
}

/* ---- what changed ---- */
static double value_of(const struct mg_metrics *m, enum mg_metric metric, uint64_t launches)
{
    return (double)mg__metric_whole(m, metric) / (double)MG_MAX(launches, 1u);
}

/* Counts are sums, unless the two programs launched it differently often. */
static void values_of(const struct mg_pair *p, const struct mg_metrics *a, const struct mg_metrics *b,
                      enum mg_metric metric, double *va, double *vb)
{
    bool each = p->a->launches != p->b->launches;
    *va = value_of(a, metric, each ? p->a->launches : 1);
    *vb = value_of(b, metric, each ? p->b->launches : 1);
}

static bool same_dim(struct mg_dim3 a, struct mg_dim3 b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

static bool depends_on_order(const struct mg_pair *p)
{
    return p->a->waits || p->b->waits;
}

static enum change change_of(const struct diff *d, const struct mg_pair *p)
{
    bool better = false, worse = false, changed = false;
    if (!p->a || !p->b)
        return p->a ? GONE : NEW;
    for (size_t i = 0; i < SHOWN; i++) {
        double a, b;
        values_of(p, &p->a->metrics, &p->b->metrics, shown[i].metric, &a, &b);
        changed |= a != b;
        better |= d->judged[i] && b < a;
        worse |= d->judged[i] && b > a * (1 + d->tolerance);
    }
    changed |= p->a->regs != p->b->regs || p->a->shared_static != p->b->shared_static ||
               p->a->shared_dynamic != p->b->shared_dynamic || !same_dim(p->a->grid, p->b->grid) ||
               !same_dim(p->a->block, p->b->block) || p->a->launches != p->b->launches;
    if (depends_on_order(p))
        return changed ? CHANGED : SAME;
    return better && worse ? MIXED : worse ? WORSE : better ? BETTER : changed ? CHANGED : SAME;
}

static bool line_changed(const struct mg_pair *p, const struct mg_pair_line *l)
{
    static const struct mg_metrics none;
    for (size_t i = 0; i < SHOWN; i++) {
        double a, b;
        values_of(p, l->a ? &l->a->metrics : &none, l->b ? &l->b->metrics : &none, shown[i].metric, &a, &b);
        if (a != b)
            return true;
    }
    return false;
}

static bool same_finding(const struct mg_report_finding *f, const struct mg_report_finding *g)
{
    size_t n = mg__finding_variable_name(f->variable);
    return !strcmp(f->check, g->check) && !strcmp(f->kind, g->kind) && !strcmp(f->mangled, g->mangled) &&
           n == mg__finding_variable_name(g->variable) && !strncmp(f->variable, g->variable, n);
}

/* Those of `from` that `in` has not: of as many of one kind as there are more here than there. */
static bool missing(const struct mg_findings *from, const struct mg_findings *in,
                    bool (*add)(struct diff *, const struct mg_report_finding *), struct diff *d)
{
    bool ok = true;
    for (size_t i = 0; ok && i < from->at.count; i++) {
        size_t before = 0, there = 0;
        for (size_t j = 0; j < i; j++)
            before += same_finding(from->at.at[i], from->at.at[j]);
        for (size_t j = 0; j < in->at.count; j++)
            there += same_finding(from->at.at[i], in->at.at[j]);
        ok = before < there || add(d, from->at.at[i]);
    }
    return ok;
}

static bool add_found(struct diff *d, const struct mg_report_finding *f)
{
    return mg__vec_push(&d->found, f);
}

static bool add_gone(struct diff *d, const struct mg_report_finding *f)
{
    return mg__vec_push(&d->gone, f);
}

static bool judge(struct diff *d)
{
    bool ok = mg__compare(&d->a.tally, &d->b.tally, &d->pairs) &&
              missing(&d->b.findings, &d->a.findings, add_found, d) &&
              missing(&d->a.findings, &d->b.findings, add_gone, d);
    for (size_t i = 0; ok && i < d->pairs.kernels.count; i++) {
        enum change c = change_of(d, &d->pairs.kernels.at[i]);
        d->count[c]++;
        d->worse |= c == WORSE || c == MIXED;
    }
    d->worse |= d->judge_findings && d->found.count;
    return ok;
}

/* ---- for people ---- */
static bool plain(struct diff *d, const char *text)
{
    return mg__strbuf_append(&d->out, text, strlen(text));
}

static bool name(struct diff *d, const char *text)
{
    return mg__layout_text(&d->out, &d->style, text, strlen(text), UINT32_MAX, NULL);
}

static bool number(struct mg_strbuf *out, double v)
{
    return v == floor(v) ? mg__layout_number(out, (uint64_t)v, 0) : mg__strbuf_printf(out, "%.1f", v);
}

static const char *arrow(const struct diff *d)
{
    return d->style.utf8 ? " \xe2\x86\x92 " : " -> ";
}

/* "    conflicts     1,015,808 → 0" for each that changed. */
static bool show_metrics(struct diff *d, const struct mg_pair *p, const struct mg_metrics *a,
                         const struct mg_metrics *b, const char *indent)
{
    bool ok = true;
    for (size_t i = 0; ok && i < SHOWN; i++) {
        double va, vb;
        values_of(p, a, b, shown[i].metric, &va, &vb);
        if (va == vb)
            continue;
        ok = mg__strbuf_printf(&d->out, "%s%-13s ", indent, shown[i].name) && number(&d->out, va) &&
             plain(d, arrow(d)) && number(&d->out, vb) &&
             (!va || (vb >= 2 * va ? mg__strbuf_printf(&d->out, "  (%.3g times)", vb / va)
                                   : mg__strbuf_printf(&d->out, "  (%+.3g %%)", (vb - va) / va * 100))) &&
             plain(d, "\n");
    }
    return ok;
}

static bool show_count(struct diff *d, const char *what, uint64_t a, uint64_t b)
{
    return a == b || (mg__strbuf_printf(&d->out, "    %-13s ", what) && number(&d->out, (double)a) &&
                      plain(d, arrow(d)) && number(&d->out, (double)b) && plain(d, "\n"));
}

static bool show_shape(struct diff *d, const char *what, struct mg_dim3 a, struct mg_dim3 b)
{
    return same_dim(a, b) ||
           (mg__strbuf_printf(&d->out, "    %-13s ", what) && mg__layout_dim3(&d->out, &d->style, a) &&
            plain(d, arrow(d)) && mg__layout_dim3(&d->out, &d->style, b) && plain(d, "\n"));
}

static bool show_place(struct diff *d, const struct mg_pair_line *l)
{
    const struct mg_report_line *one = l->a ? l->a : l->b;
    bool ok = plain(d, "    ") && name(d, one->file[0] ? mg__layout_path(&d->style, one->file) : "(no source line)");
    if (one->line)
        ok = ok && mg__strbuf_printf(&d->out, ":%u", one->line);
    if (l->a && l->b && (l->a->line != l->b->line || strcmp(l->a->file, l->b->file))) {
        ok = ok && plain(d, arrow(d));
        if (strcmp(l->a->file, l->b->file))
            ok = ok && name(d, mg__layout_path(&d->style, l->b->file));
        ok = ok && mg__strbuf_printf(&d->out, ":%u", l->b->line);
    }
    return ok && plain(d, l->a && l->b ? "\n" : l->a ? "  gone\n" : "  new\n");
}

static bool show_pair(struct diff *d, const struct mg_pair *p)
{
    static const struct mg_metrics none;
    enum change c = change_of(d, p);
    if (c == SAME)
        return true;
    bool ok = name(d, p->b ? p->b->kernel : p->a->kernel) && mg__strbuf_printf(&d->out, ": %s", change_names[c]);
    if (c == NEW || c == GONE)
        return ok && plain(d, "\n\n");
    if (depends_on_order(p))
        ok = ok && plain(d, " (its counts depend on the order in which warps wait: not judged)");
    if (p->a->launches != p->b->launches)
        ok = ok && plain(d, " (counts are those of one launch, on average)");
    ok = ok && plain(d, "\n") && show_metrics(d, p, &p->a->metrics, &p->b->metrics, "    ") &&
         show_count(d, "launches", p->a->launches, p->b->launches) && show_shape(d, "grid", p->a->grid, p->b->grid) &&
         show_shape(d, "block", p->a->block, p->b->block) && show_count(d, "registers", p->a->regs, p->b->regs) &&
         show_count(d, "static bytes", p->a->shared_static, p->b->shared_static) &&
         show_count(d, "dynamic bytes", p->a->shared_dynamic, p->b->shared_dynamic);
    for (size_t i = 0; ok && i < p->lines.count; i++) {
        const struct mg_pair_line *l = &p->lines.at[i];
        if (line_changed(p, l))
            ok = show_place(d, l) &&
                 show_metrics(d, p, l->a ? &l->a->metrics : &none, l->b ? &l->b->metrics : &none, "        ");
    }
    return ok && plain(d, "\n");
}

static bool show_finding(struct diff *d, const char *what, const struct mg_report_finding *f)
{
    bool ok = mg__strbuf_printf(&d->out, "%s %s ", what, mg__report_severity_name(f->severity)) && name(d, f->check) &&
              plain(d, "/") && name(d, f->kind);
    if (f->kernel[0])
        ok = ok && plain(d, " in ") && name(d, f->kernel);
    if (f->file[0] && f->line)
        ok = ok && plain(d, "\n    ") && name(d, mg__layout_path(&d->style, f->file)) &&
             mg__strbuf_printf(&d->out, ":%u", f->line);
    return ok && plain(d, "\n    ") && name(d, f->message) && plain(d, "\n\n");
}

static bool show_all(struct diff *d)
{
    bool ok = true, any = false;
    for (size_t i = 0; ok && i < d->pairs.kernels.count; i++)
        ok = show_pair(d, &d->pairs.kernels.at[i]);
    for (size_t i = 0; ok && i < d->found.count; i++)
        ok = show_finding(d, "new", d->found.at[i]);
    for (size_t i = 0; ok && i < d->gone.count; i++)
        ok = show_finding(d, "gone:", d->gone.at[i]);
    ok = ok && plain(d, "kernels:");
    for (int c = BETTER; ok && c <= CHANGES; c++) {
        int which = c == CHANGES ? SAME : c;
        if (d->count[which])
            ok = mg__strbuf_printf(&d->out, "%s %u %s", any ? "," : "", d->count[which], change_names[which]);
        any |= d->count[which] != 0;
    }
    ok = ok && plain(d, any ? "" : " none");
    if (d->found.count || d->gone.count)
        ok = ok && mg__strbuf_printf(&d->out, "; findings: %zu new, %zu gone", d->found.count, d->gone.count);
    return ok && plain(d, d->worse ? "; worse\n" : "; nothing is worse\n");
}

/* ---- for programs ---- */
static bool json_number(struct mg_strbuf *out, double v)
{
    return mg__strbuf_printf(out, v == floor(v) ? "%.0f" : "%.17g", v);
}

/* {"memory_l1_wavefronts_shared": [a, b], …} of what changed */
static bool json_metrics(struct diff *d, const struct mg_pair *p, const struct mg_metrics *a,
                         const struct mg_metrics *b)
{
    bool ok = plain(d, "{"), any = false;
    for (unsigned m = 0; ok && m < MG_METRIC_ALL; m++) {
        double va, vb;
        if (m >= MG_METRIC_COUNT && mg__metric_adds((enum mg_metric)m) != MG_ADDS_EXCESS)
            continue;
        values_of(p, a, b, (enum mg_metric)m, &va, &vb);
        if (va == vb)
            continue;
        ok = mg__strbuf_printf(&d->out, "%s\"%s\": [", any ? ", " : "", mg__metric_name((enum mg_metric)m)) &&
             json_number(&d->out, va) && plain(d, ", ") && json_number(&d->out, vb) && plain(d, "]");
        any = true;
    }
    return ok && plain(d, "}");
}

static bool json_place(struct diff *d, const struct mg_report_line *l)
{
    if (!l)
        return plain(d, "null");
    return plain(d, "{\"file\": ") && mg__json_string(&d->out, l->file) &&
           mg__strbuf_printf(&d->out, ", \"line\": %u}", l->line);
}

static bool json_side(struct diff *d, const struct mg_tally_kernel *k)
{
    if (!k)
        return plain(d, "null");
    return mg__strbuf_printf(&d->out,
                             "{\"launches\": %llu, \"grid\": [%u, %u, %u], \"block\": [%u, %u, %u], \"regs\": %u, "
                             "\"shared_static\": %u, \"shared_dynamic\": %u}",
                             (unsigned long long)k->launches, k->grid.x, k->grid.y, k->grid.z, k->block.x, k->block.y,
                             k->block.z, k->regs, k->shared_static, k->shared_dynamic);
}

static bool json_pair(struct diff *d, const struct mg_pair *p)
{
    static const struct mg_metrics none;
    const struct mg_tally_kernel *k = p->b ? p->b : p->a;
    bool ok = plain(d, "{\"kernel\": ") && mg__json_string(&d->out, k->kernel) && plain(d, ", \"mangled\": ") &&
              mg__json_string(&d->out, k->mangled) &&
              mg__strbuf_printf(&d->out, ", \"change\": \"%s\", \"a\": ", change_names[change_of(d, p)]) &&
              json_side(d, p->a) && plain(d, ", \"b\": ") && json_side(d, p->b);
    if (!p->a || !p->b)
        return ok && plain(d, "}");
    bool any = false;
    ok = ok && mg__strbuf_printf(&d->out, ", \"judged\": %s, \"metrics\": ", depends_on_order(p) ? "false" : "true") &&
         json_metrics(d, p, &p->a->metrics, &p->b->metrics) && plain(d, ", \"lines\": [");
    for (size_t i = 0; ok && i < p->lines.count; i++) {
        const struct mg_pair_line *l = &p->lines.at[i];
        if (!line_changed(p, l))
            continue;
        ok = plain(d, any ? ",\n  {\"a\": " : "\n  {\"a\": ") && json_place(d, l->a) && plain(d, ", \"b\": ") &&
             json_place(d, l->b) && plain(d, ", \"metrics\": ") &&
             json_metrics(d, p, l->a ? &l->a->metrics : &none, l->b ? &l->b->metrics : &none) && plain(d, "}");
        any = true;
    }
    return ok && plain(d, "]}");
}

static bool json_all(struct diff *d, const char *a, const char *b)
{
    bool ok =
        mg__strbuf_printf(&d->out, "{\"margay\": {\"version\": \"" MG_VERSION_STRING "\", \"schema\": %d},\n\"a\": ",
                          MG_REPORT_SCHEMA) &&
        mg__json_string(&d->out, a) && plain(d, ", \"b\": ") && mg__json_string(&d->out, b) &&
        mg__strbuf_printf(&d->out, ", \"worse\": %s,\n\"kernels\": [", d->worse ? "true" : "false");
    for (size_t i = 0; ok && i < d->pairs.kernels.count; i++)
        ok = plain(d, i ? ",\n" : "\n") && json_pair(d, &d->pairs.kernels.at[i]);
    ok = ok && plain(d, "],\n\"findings\": {\"new\": [");
    for (size_t i = 0; ok && i < d->found.count; i++)
        ok = plain(d, i ? ",\n" : "\n") && mg__report_finding_json(d->found.at[i], &d->out);
    ok = ok && plain(d, "],\n\"gone\": [");
    for (size_t i = 0; ok && i < d->gone.count; i++)
        ok = plain(d, i ? ",\n" : "\n") && mg__report_finding_json(d->gone.at[i], &d->out);
    return ok && plain(d, "]}}\n");
}

int mg__cmd_diff(int argc, char **argv)
{
    struct diff d = {.judge_findings = true};
    char cwd[4096];
    struct mg_diag diag;
    for (size_t i = 0; i < SHOWN; i++)
        d.judged[i] = shown[i].judged;
    mg__cli_style(&d.style, STDOUT_FILENO);
    d.style.cwd = getcwd(cwd, sizeof(cwd)) ? cwd : NULL;
    int result = mg__cli_read(&(struct mg_cli_reader){.table = table,
                                                      .count = MG_COUNT(table),
                                                      .command = 1,
                                                      .mixed = true,
                                                      .help = OPT_HELP,
                                                      .apply = apply,
                                                      .arg = &d},
                              argc, argv);
    if (result >= 0)
        return result;
    if (argc - optind != 2)
        return mg__cli_complain(NULL, "two reports are needed; usage: margay diff [options] A.json B.json");
    const char *a = argv[optind], *b = argv[optind + 1];
    mg__report_file_init(&d.a, false);
    mg__report_file_init(&d.b, false);
    if (mg__report_load(&d.a, a, &diag) != MG_OK || mg__report_load(&d.b, b, &diag) != MG_OK)
        result = mg__cli_complain(NULL, "%s", diag.message);
    else if (strcmp(d.a.device, d.b.device))
        result = mg__cli_complain(NULL, "%s is of a %s, %s of a %s: counts of different devices do not compare", a,
                                  d.a.device, b, d.b.device);
    else if (!judge(&d) || !(d.json ? json_all(&d, a, b) : show_all(&d)))
        result = mg__cli_complain(NULL, "out of memory");
    else if (fwrite(d.out.at, 1, d.out.count, stdout) != d.out.count || fflush(stdout) != 0)
        result = mg__cli_complain(NULL, "standard output could not be written");
    else
        result = d.worse ? MG_EXIT_FINDINGS : 0;
    mg__comparison_free(&d.pairs);
    mg__vec_free(&d.found);
    mg__vec_free(&d.gone);
    mg__strbuf_free(&d.out);
    mg__report_file_free(&d.a);
    mg__report_file_free(&d.b);
    return result;
}
