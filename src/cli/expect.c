/* expect.c - budgets: what a kernel's counters may be, so that a change that makes them worse fails a build.
 *
 *     --expect 'conflicts<=1.1,efficiency>=80%'      for every kernel
 *     --expect @budgets.txt                          a line each: BUDGETS [REGEX], and # begins a comment
 *
 * A name is one of the short ones below or any of docs/metrics.md; a share is a fraction or has a %. REGEX (POSIX
 * extended, as --kernel) says whose budgets they are; of several lines that fit a kernel, the last one that speaks of a
 * counter in that direction counts, so that exceptions stand below the rule. A kernel that has none of what a budget
 * is about (no shared memory: no conflicts) keeps to it. A line that fits no kernel of the run fails: it would guard
 * nothing. Of a sample of blocks (--sample) the estimates are judged, and not their intervals. A budget that is
 * exceeded is a finding, so that the report, the page and SARIF have it, too.
 */
#include "guard.h"

#include <ctype.h>
#include <math.h>
#include <regex.h>

#define CHECK "budget" /* what findings of exceeded budgets have as their check */

static const struct {
    const char *name;
    enum mg_metric metric;
} shorts[] = {
    {"conflicts", MG_METRIC_TIMES_IDEAL},        {"efficiency", MG_METRIC_EFFICIENCY},
    {"wavefronts", MG_METRIC_WAVEFRONTS_SHARED}, {"sectors", MG_METRIC_SECTORS_GLOBAL},
    {"divergent", MG_METRIC_DIVERGENT},          {"instructions", MG_METRIC_INST},
};

struct budget {
    const char *name; /* as the user wrote it */
    enum mg_metric metric;
    bool least; /* >= */
    double bound;
    size_t rule;
};
struct rule {            /* one line, or the option itself */
    const char *pattern; /* NULL: every kernel */
    regex_t regex;
    const char *file; /* NULL: the option */
    unsigned line;
};
struct mg_budgets {
    struct mg_arena arena;
    MG_VEC(struct rule) rules;
    MG_VEC(struct budget) at;
};

static bool find_metric(const char *name, enum mg_metric *metric)
{
    for (size_t i = 0; i < MG_COUNT(shorts); i++)
        if (!strcmp(name, shorts[i].name)) {
            *metric = shorts[i].metric;
            return true;
        }
    for (unsigned i = 0; i < MG_METRIC_ALL; i++)
        if (!strcmp(name, mg__metric_name((enum mg_metric)i))) {
            *metric = (enum mg_metric)i;
            return true;
        }
    return false;
}

/* "conflicts<=1.1". What is wrong with it, or NULL. `text` is changed. */
static const char *parse_budget(struct mg_budgets *b, char *text, size_t rule)
{
    struct budget budget = {.rule = rule};
    char *sign = strpbrk(text, "<>"), *end;
    if (!sign || sign[1] != '=' || sign == text)
        return "NAME<=NUMBER or NAME>=NUMBER is needed";
    budget.least = *sign == '>';
    *sign = 0;
    if (!find_metric(text, &budget.metric))
        return "no such counter: conflicts, efficiency, wavefronts, sectors, divergent, instructions, or a name of "
               "docs/metrics.md";
    budget.name = text;
    const char *number = sign + 2;
    budget.bound = strtod(number, &end);
    bool percent = *end == '%';
    if (end == number || end[percent] || !isfinite(budget.bound) || budget.bound < 0)
        return "a number from 0 on is needed behind the sign";
    if (mg__metric_type(budget.metric) != MG_TYPE_PERCENT)
        return percent ? "only a share has a %" : mg__vec_push(&b->at, budget) ? NULL : "out of memory";
    if (!percent && budget.bound > 1)
        return "a share is a number from 0 to 1, or has a %";
    budget.bound *= percent ? 1 : 100;
    return mg__vec_push(&b->at, budget) ? NULL : "out of memory";
}

static int complain_of(const struct mg_cli_options *o, const char *file, unsigned line, const char *text,
                       const char *wrong)
{
    if (file)
        return mg__cli_complain(o, "%s:%u: %s: %s", file, line, text, wrong);
    return mg__cli_complain(o, "--expect %s: %s", text, wrong);
}

static int read_file(struct mg_budgets *b, const struct mg_cli_options *o, const char *file);

/* Budgets with commas between, and in the option files with an @. Returns -1 to go on. */
static int parse_list(struct mg_budgets *b, const struct mg_cli_options *o, const char *list, const char *pattern,
                      const char *file, unsigned line)
{
    struct rule rule = {.pattern = pattern, .file = file, .line = line};
    int error = pattern ? regcomp(&rule.regex, pattern, REG_EXTENDED | REG_NOSUB) : 0;
    if (error) {
        char why[128];
        regerror(error, &rule.regex, why, sizeof(why));
        return complain_of(o, file, line, pattern, why);
    }
    if (!mg__vec_push(&b->rules, rule)) {
        if (pattern)
            regfree(&rule.regex);
        return mg__cli_complain(o, "out of memory");
    }
    size_t number = b->rules.count - 1;
    for (const char *at = list;; at++) {
        at += strspn(at, " ");
        size_t n = strcspn(at, ",");
        char *text = mg__arena_strndup(&b->arena, at, n);
        if (!text)
            return mg__cli_complain(o, "out of memory");
        for (size_t i = strlen(text); i && text[i - 1] == ' ';)
            text[--i] = 0;
        if (text[0] == '@' && !file) {
            int result = read_file(b, o, text + 1);
            if (result >= 0)
                return result;
        } else {
            const char *whole = mg__arena_strdup(&b->arena, text), *wrong = parse_budget(b, text, number);
            if (wrong)
                return complain_of(o, file, line, whole ? whole : "", wrong);
        }
        at += n;
        if (!*at)
            return -1;
    }
}

static int read_file(struct mg_budgets *b, const struct mg_cli_options *o, const char *file)
{
    char *data = NULL;
    size_t size = 0;
    struct mg_diag diag;
    if (mg__file_read(file, (size_t)16 << 20, &data, &size, &diag) != MG_OK)
        return mg__cli_complain(o, "--expect @%s: %s", file, diag.message);
    char *rest = mg__arena_strndup(&b->arena, data, size);
    free(data);
    if (!rest)
        return mg__cli_complain(o, "out of memory");
    for (unsigned line = 1; rest; line++) {
        char *text = strsep(&rest, "\n");
        text[strcspn(text, "#\r")] = 0;
        text += strspn(text, " \t");
        char *list = strsep(&text, " \t"), *pattern = text ? text + strspn(text, " \t") : NULL;
        for (size_t i = pattern ? strlen(pattern) : 0; i && isspace((unsigned char)pattern[i - 1]);)
            pattern[--i] = 0;
        if (!list[0])
            continue;
        int result = parse_list(b, o, list, pattern && pattern[0] ? pattern : NULL, file, line);
        if (result >= 0)
            return result;
    }
    return -1;
}

int mg__budgets_load(const struct mg_cli_options *o, const char *text, struct mg_budgets **budgets)
{
    struct mg_budgets *b = calloc(1, sizeof(*b));
    *budgets = b;
    if (!b)
        return mg__cli_complain(o, "out of memory");
    mg__arena_init(&b->arena);
    int result = parse_list(b, o, text, NULL, NULL, 0);
    if (result < 0 && !b->at.count)
        return mg__cli_complain(o, "--expect %s: there is no budget", text);
    return result;
}

void mg__budgets_free(struct mg_budgets *b)
{
    if (!b)
        return;
    for (size_t i = 0; i < b->rules.count; i++)
        if (b->rules.at[i].pattern)
            regfree(&b->rules.at[i].regex);
    mg__vec_free(&b->rules);
    mg__vec_free(&b->at);
    mg__arena_free(&b->arena);
    free(b);
}

/* ---- a run held to them ---- */
static bool fits(const struct rule *rule, const struct mg_tally_kernel *k)
{
    return !rule->pattern || regexec(&rule->regex, k->kernel, 0, NULL, 0) == 0 ||
           regexec(&rule->regex, k->mangled, 0, NULL, 0) == 0;
}

/* Whether a later budget for the same kernel speaks of the same. */
static bool overruled(const struct mg_budgets *b, size_t at, const struct mg_tally_kernel *k)
{
    for (size_t i = at + 1; i < b->at.count; i++)
        if (b->at.at[i].metric == b->at.at[at].metric && b->at.at[i].least == b->at.at[at].least &&
            fits(&b->rules.at[b->at.at[i].rule], k))
            return true;
    return false;
}

/* What a line adds to what is too much: excess, or the counter itself. */
static double weight(const struct mg_metrics *m, enum mg_metric metric)
{
    enum mg_metric first, second;
    double value = 0;
    switch (metric < MG_METRIC_COUNT ? MG_ADDS_SUM : mg__metric_adds(metric)) {
    case MG_ADDS_RATIO:
        mg__metric_parts(metric, &first, &second);
        return (double)m->v[first] - (double)m->v[second];
    case MG_ADDS_SHARE:
        mg__metric_parts(metric, &first, &second);
        return (double)m->v[second] - (double)m->v[first];
    default:
        (void)mg__metric_value(m, metric, &value);
        return value;
    }
}

static const struct mg_report_line *worst_line(const struct mg_tally_kernel *k, enum mg_metric metric)
{
    const struct mg_report_line *worst = NULL;
    double most = 0;
    for (size_t i = 0; i < k->lines.count; i++) {
        double w = k->lines.at[i].line ? weight(&k->lines.at[i].metrics, metric) : 0;
        if (w > most) {
            most = w;
            worst = &k->lines.at[i];
        }
    }
    return worst;
}

/* "16.5", "22.2 %", "1048576" */
static void write_value(char *text, size_t size, enum mg_metric metric, double value)
{
    snprintf(text, size, mg__metric_type(metric) == MG_TYPE_PERCENT ? "%.6g %%" : "%.10g", value);
}

static enum mg_status add(const struct budget *budget, const struct rule *rule, const struct mg_tally_kernel *k,
                          double value, const struct mg_style *style, struct mg_findings *findings)
{
    char is[48], bound[48];
    struct mg_strbuf message = {0};
    const struct mg_report_line *line = worst_line(k, budget->metric);
    write_value(is, sizeof(is), budget->metric, value);
    write_value(bound, sizeof(bound), budget->metric, budget->bound);
    bool ok = mg__strbuf_printf(&message, "%s is %s, and the budget is at %s %s", budget->name, is,
                                budget->least ? "least" : "most", bound) &&
              (k->sample.counted >= k->sample.blocks ||
               mg__strbuf_printf(&message, ", estimated from %llu of %llu blocks",
                                 (unsigned long long)k->sample.counted, (unsigned long long)k->sample.blocks)) &&
              (!rule->file || mg__strbuf_printf(&message, " (%s:%u)", rule->file, rule->line)) &&
              mg__strbuf_printf(&message, ", with grid ") && mg__layout_dim3(&message, style, k->grid) &&
              mg__strbuf_printf(&message, ", block ") && mg__layout_dim3(&message, style, k->block);
    const struct mg_report_finding f = {.check = CHECK,
                                        .kind = budget->name,
                                        .severity = MG_SEVERITY_ERROR,
                                        .kernel = k->kernel,
                                        .mangled = k->mangled,
                                        .file = line ? line->file : "",
                                        .line = line ? line->line : 0,
                                        .count = 1,
                                        .message = message.at};
    enum mg_status status = ok ? mg__findings_keep(findings, &f) : MG_ERR_NOMEM;
    mg__strbuf_free(&message);
    return status;
}

enum mg_status mg__budgets_judge(const struct mg_budgets *b, const struct mg_style *style, const struct mg_tally *tally,
                                 struct mg_findings *findings)
{
    enum mg_status status = MG_OK;
    for (size_t i = 0; i < b->at.count; i++)
        for (size_t j = 0; status == MG_OK && j < tally->kernels.count; j++) {
            const struct budget *budget = &b->at.at[i];
            const struct rule *rule = &b->rules.at[budget->rule];
            const struct mg_tally_kernel *k = tally->kernels.at[j];
            double value;
            if (!fits(rule, k) || overruled(b, i, k) || !mg__metric_value(&k->metrics, budget->metric, &value) ||
                (budget->least ? value >= budget->bound : value <= budget->bound))
                continue;
            status = add(budget, rule, k, value, style, findings);
        }
    return status;
}

static bool guards(const struct rule *rule, const struct mg_tally *tally)
{
    for (size_t i = 0; i < tally->kernels.count; i++)
        if (fits(rule, tally->kernels.at[i]))
            return true;
    return false;
}

int mg__budgets_tell(const struct mg_budgets *b, const struct mg_cli_options *o, const struct mg_tally *tally,
                     const struct mg_findings *findings, struct mg_strbuf *out)
{
    enum mg_format format = (enum mg_format)o->format;
    struct mg_sources sources;
    bool ok = true;
    int result = -1;
    mg__sources_init(&sources, o->style.given);
    for (size_t i = 0; ok && i < findings->at.count; i++) {
        if (strcmp(findings->at.at[i]->check, CHECK))
            continue;
        ok = mg__format_finding(format, findings->at.at[i], &sources, &o->style, out) &&
             (format != MG_FORMAT_TEXT || mg__strbuf_append(out, "\n", 1));
        result = MG_EXIT_FINDINGS;
    }
    mg__sources_free(&sources);
    if (!tally->kernels.count)
        return mg__cli_complain(o, "no kernel was launched: the budgets guard nothing");
    for (size_t i = 0; i < b->rules.count; i++) {
        const struct rule *rule = &b->rules.at[i];
        if (!guards(rule, tally))
            result = complain_of(o, rule->file, rule->line, rule->pattern ? rule->pattern : "",
                                 "no kernel of the run has that name, so its budget guards nothing");
    }
    return ok ? result : mg__cli_complain(o, "out of memory");
}

/* ---- for SARIF ---- */
size_t mg__budgets_count(const struct mg_budgets *b)
{
    return b->at.count;
}

size_t mg__budgets_rules(const struct mg_budgets *b, struct mg_sarif_rule *rules)
{
    size_t n = 0;
    for (size_t i = 0; i < b->at.count; i++) {
        bool known = false;
        for (size_t j = 0; j < n; j++)
            known |= !strcmp(rules[j].kind, b->at.at[i].name);
        if (!known)
            rules[n++] = (struct mg_sarif_rule){
                CHECK, b->at.at[i].name, "A kernel's counter is beyond the budget that --expect gives it",
                "`margay advise` says what would make the counter better.", MG_SEVERITY_ERROR};
    }
    return n;
}
