/* json.c - the records as JSON text.
 *
 * Written by hand and not with a library: this code runs inside the simulated program, whose own libraries and locale
 * are none of our business (a printf of a double would follow the program's decimal comma, so times are written as
 * integers). Strings come from file names, kernel names and source lines, which may hold any bytes; the output is valid
 * UTF-8 always. The layout is documented in docs/report.md. A field may be added; one that is there keeps its name and
 * meaning.
 */
#include "report/report_priv.h"

/* The length of the well-formed UTF-8 sequence at `s`, or 0 (RFC 3629: no overlong forms, no surrogates). */
static size_t utf8_sequence(const unsigned char *s)
{
    if (s[0] < 0x80)
        return 1;
    unsigned low = 0x80, high = 0xBF, more;
    if (s[0] >= 0xC2 && s[0] <= 0xDF) {
        more = 1;
    } else if (s[0] >= 0xE0 && s[0] <= 0xEF) {
        more = 2;
        if (s[0] == 0xE0)
            low = 0xA0;
        if (s[0] == 0xED)
            high = 0x9F;
    } else if (s[0] >= 0xF0 && s[0] <= 0xF4) {
        more = 3;
        if (s[0] == 0xF0)
            low = 0x90;
        if (s[0] == 0xF4)
            high = 0x8F;
    } else {
        return 0;
    }
    for (unsigned i = 1; i <= more; i++) {
        if (s[i] < low || s[i] > high)
            return 0; /* a NUL ends up here too, so nothing is read past the end */
        low = 0x80;
        high = 0xBF;
    }
    return more + 1;
}

bool mg__json_string(struct mg_strbuf *out, const char *text)
{
    const unsigned char *s = (const unsigned char *)(text ? text : "");
    bool ok = mg__strbuf_append(out, "\"", 1);
    while (ok && *s) {
        const unsigned char *run = s;
        size_t n;
        while (*s >= 0x20 && *s != '"' && *s != '\\' && *s != 0x7F && (n = utf8_sequence(s)) > 0)
            s += n;
        if (s > run)
            ok = mg__strbuf_append(out, (const char *)run, (size_t)(s - run));
        if (!ok || !*s)
            break;
        if (*s == '"' || *s == '\\') {
            char pair[2] = {'\\', (char)*s};
            ok = mg__strbuf_append(out, pair, 2);
        } else if (*s == '\n') {
            ok = mg__strbuf_append(out, "\\n", 2);
        } else if (*s == '\t') {
            ok = mg__strbuf_append(out, "\\t", 2);
        } else if (*s < 0x80) {
            ok = mg__strbuf_printf(out, "\\u%04x", *s);
        } else {
            ok = mg__strbuf_append(out, "\xEF\xBF\xBD", 3);
        }
        s++;
    }
    return ok && mg__strbuf_append(out, "\"", 1);
}

static bool field(struct mg_strbuf *out, const char *name, const char *text)
{
    return mg__strbuf_printf(out, "\"%s\": ", name) && mg__json_string(out, text);
}

static bool dim3(struct mg_strbuf *out, const char *name, struct mg_dim3 d)
{
    return mg__strbuf_printf(out, "\"%s\": [%u, %u, %u]", name, d.x, d.y, d.z);
}

/* Six places, without printf's: a program may have set a decimal comma. */
static bool fraction(struct mg_strbuf *out, double value)
{
    uint64_t millionths = value < 1e12 ? (uint64_t)(value * 1e6 + 0.5) : UINT64_C(1000000000000000000);
    return mg__strbuf_printf(out, "%llu.%06llu", (unsigned long long)(millionths / 1000000),
                             (unsigned long long)(millionths % 1000000));
}

static bool whole(struct mg_strbuf *out, uint64_t value)
{
    char digits[20];
    size_t at = sizeof(digits);
    do
        digits[--at] = (char)('0' + value % 10);
    while (value /= 10);
    return mg__strbuf_append(out, digits + at, sizeof(digits) - at);
}

/* A launch has thousands of them, so that they are not printf's. */
static bool metric_name(struct mg_strbuf *out, bool first, enum mg_metric metric)
{
    const char *name = mg__metric_name(metric);
    return mg__strbuf_append(out, first ? "\"" : ", \"", first ? 1 : 3) && mg__strbuf_append(out, name, strlen(name)) &&
           mg__strbuf_append(out, "\": ", 3);
}

static bool derived(struct mg_strbuf *out, const struct mg_metrics *values, enum mg_metric_scope scope)
{
    bool ok = mg__strbuf_append(out, ", \"derived\": {", 14), first = true;
    for (unsigned m = MG_METRIC_COUNT; ok && m < MG_METRIC_ALL; m++) {
        double value;
        if (mg__metric_scope((enum mg_metric)m) > scope || !mg__metric_value(values, (enum mg_metric)m, &value))
            continue;
        ok =
            metric_name(out, first, (enum mg_metric)m) && (mg__metric_type((enum mg_metric)m) == MG_TYPE_COUNT
                                                               ? whole(out, mg__metric_whole(values, (enum mg_metric)m))
                                                               : fraction(out, value));
        first = false;
    }
    return ok && mg__strbuf_append(out, "}", 1);
}

/* Those that an object of this scope has. A zero is written like any other number, unless the text is to be brief: a
 * reader need not ask whether it is there; but estimates of time have to be asked for. Derived ones stand apart, where
 * there is anything to derive them from. */
static bool metrics(struct mg_strbuf *out, const struct mg_metrics *values, enum mg_metric_scope scope, bool brief)
{
    bool ok = mg__strbuf_append(out, "\"metrics\": {", 12), first = true;
    for (unsigned m = 0; ok && m < MG_METRIC_COUNT; m++) {
        if (mg__metric_scope((enum mg_metric)m) > scope || !mg__metric_known(values, (enum mg_metric)m) ||
            (brief && !values->v[m]))
            continue;
        ok = metric_name(out, first, (enum mg_metric)m) && whole(out, values->v[m]);
        first = false;
    }
    return ok && mg__strbuf_append(out, "}", 1) && (brief || derived(out, values, scope));
}

static bool written(struct mg_strbuf *out, const struct mg_report_written *w)
{
    if (!(w->loads | w->stores | w->atomics))
        return true;
    return mg__strbuf_printf(out, ", \"written\": {\"loads\": %u, \"stores\": %u, \"atomics\": %u, \"guarded\": %u}",
                             w->loads, w->stores, w->atomics, w->guarded);
}

const char *mg__report_wait_name(unsigned bit)
{
    static const char *const names[MG_REPORT_WAITS] = {"polling", "parked", "apart", "swap"};
    return bit < MG_REPORT_WAITS ? names[bit] : "";
}

static bool waits(struct mg_strbuf *out, uint32_t bits)
{
    bool ok = mg__strbuf_printf(out, "\"waits\": [");
    const char *comma = "";
    for (unsigned i = 0; i < MG_REPORT_WAITS; i++)
        if (bits >> i & 1) {
            ok = ok && mg__strbuf_printf(out, "%s\"%s\"", comma, mg__report_wait_name(i));
            comma = ", ";
        }
    return ok && mg__strbuf_printf(out, "], ");
}

/* Estimates are written as the numbers that they stand for; here is how far off they may be. */
static bool sample(struct mg_strbuf *out, const struct mg_report_sample *s)
{
    if (!s)
        return true;
    bool ok = mg__strbuf_printf(
        out, "\"sample\": {\"blocks\": %llu, \"counted\": %llu, \"others\": \"%s\", \"within\": {",
        (unsigned long long)s->blocks, (unsigned long long)s->counted, s->left_out ? "left out" : "run");
    const char *comma = "";
    for (unsigned m = 0; ok && m < MG_METRIC_COUNT; m++)
        if (s->half[m] > 0) {
            ok = mg__strbuf_printf(out, "%s\"%s\": ", comma, mg__metric_name((enum mg_metric)m)) &&
                 fraction(out, s->half[m]);
            comma = ", ";
        }
    return ok && mg__strbuf_printf(out, "}}, ");
}

bool mg__json_seconds(struct mg_strbuf *out, double seconds)
{
    uint64_t ns = (uint64_t)((seconds > 0 && seconds < 1e9 ? seconds : 0) * 1e9 + 0.5);
    return mg__strbuf_printf(out, "%llu.%09llu", (unsigned long long)(ns / 1000000000u),
                             (unsigned long long)(ns % 1000000000u));
}

bool mg__report_launch_json(const struct mg_report_launch *launch, bool brief, struct mg_strbuf *out)
{
    char *demangled = NULL;
    const char *kernel = launch->kernel;
    if (!kernel || !kernel[0] || !strncmp(kernel, "_Z", 2)) {
        demangled = mg__report_demangle(launch->mangled ? launch->mangled : kernel);
        kernel = demangled ? demangled : launch->mangled;
    }
    bool ok = mg__strbuf_append(out, "{", 1) && field(out, "kernel", kernel) && mg__strbuf_append(out, ", ", 2) &&
              field(out, "mangled", launch->mangled) && mg__strbuf_printf(out, ", \"device\": %u, ", launch->device) &&
              dim3(out, "grid", launch->grid) && mg__strbuf_append(out, ", ", 2) && dim3(out, "block", launch->block) &&
              mg__strbuf_printf(out, ", \"shared_static\": %u, \"shared_dynamic\": %u, \"regs\": %u",
                                launch->shared_static, launch->shared_dynamic, launch->regs) &&
              (!launch->regs_from || (mg__strbuf_append(out, ", ", 2) && field(out, "regs_from", launch->regs_from))) &&
              mg__strbuf_printf(out, ", \"seconds\": ") && mg__json_seconds(out, launch->seconds) &&
              mg__strbuf_append(out, ", ", 2) && field(out, "status", mg_status_name(launch->status)) &&
              mg__strbuf_append(out, ", ", 2) && waits(out, launch->waits) && sample(out, launch->sample) &&
              metrics(out, &launch->metrics, MG_SCOPE_OF_LAUNCH, brief) && mg__strbuf_printf(out, ", \"lines\": [");
    free(demangled);
    for (size_t i = 0; ok && i < launch->nlines; i++)
        ok = mg__strbuf_append(out, i ? ", {" : "{", i ? 3 : 1) && field(out, "file", launch->lines[i].file) &&
             mg__strbuf_printf(out, ", \"line\": %u, ", launch->lines[i].line) &&
             metrics(out, &launch->lines[i].metrics, MG_SCOPE_OF_LINE, brief) &&
             written(out, &launch->lines[i].written) && mg__strbuf_append(out, "}", 1);
    ok = ok && mg__strbuf_printf(out, "], \"variables\": [");
    for (size_t i = 0; ok && i < launch->nvars; i++) {
        const struct mg_report_var *var = &launch->vars[i];
        char *name = mg__report_variable_name(var->name);
        ok = mg__strbuf_append(out, i ? ", {" : "{", i ? 3 : 1) && field(out, "name", name ? name : var->name) &&
             mg__strbuf_printf(out, ", \"offset\": %u, \"size\": %u, ", var->offset, var->size) &&
             metrics(out, &var->metrics, MG_SCOPE_OF_VARIABLE, brief) && mg__strbuf_append(out, "}", 1);
        free(name);
    }
    return ok && mg__strbuf_append(out, "]}", 2);
}

const char *mg__report_severity_name(enum mg_severity severity)
{
    return severity == MG_SEVERITY_ERROR ? "error" : severity == MG_SEVERITY_WARNING ? "warning" : "note";
}

bool mg__report_finding_json(const struct mg_report_finding *f, struct mg_strbuf *out)
{
    char *demangled = NULL;
    const char *kernel = f->kernel;
    if (!kernel || !kernel[0] || !strncmp(kernel, "_Z", 2)) {
        demangled = mg__report_demangle(f->mangled ? f->mangled : kernel ? kernel : "");
        kernel = demangled ? demangled : f->mangled;
    }
    const char *other = f->other_file ? f->other_file : f->other_line ? f->file : NULL;
    const struct {
        const char *name, *text;
    } texts[] = {
        {"check", f->check},
        {"kind", f->kind},
        {"severity", mg__report_severity_name(f->severity)},
        {"kernel", kernel},
        {"mangled", f->mangled ? f->mangled : f->kernel},
        {"variable", f->variable},
        {"message", f->message},
        {"advice", f->advice},
        {"file", f->file},
        {"other_file", other},
    };
    bool ok = true;
    for (size_t i = 0; ok && i < MG_COUNT(texts); i++)
        ok = mg__strbuf_append(out, i ? ", " : "{", i ? 2 : 1) && field(out, texts[i].name, texts[i].text);
    free(demangled);
    return ok && mg__strbuf_printf(
                     out, ", \"line\": %u, \"column\": %u, \"other_line\": %u, \"other_column\": %u, \"count\": %llu}",
                     f->line, f->column, f->other_line, f->other_column, (unsigned long long)f->count);
}

bool mg__json_device(struct mg_strbuf *out, const struct mg_report_device *device)
{
    return mg__strbuf_append(out, "{", 1) && field(out, "name", device->name) &&
           mg__strbuf_printf(out, ", \"compute_capability\": \"%u.%u\", \"sm_count\": %u}", device->cc / 10,
                             device->cc % 10, device->sm_count);
}

bool mg__json_diag(struct mg_strbuf *out, const char *kernel, const struct mg_diag *diag)
{
    return field(out, "kernel", kernel) && mg__strbuf_append(out, ", ", 2) &&
           field(out, "status", mg_status_name(diag->status)) && mg__strbuf_append(out, ", ", 2) &&
           field(out, "message", diag->message) && mg__strbuf_append(out, ", ", 2) && field(out, "file", diag->file) &&
           mg__strbuf_printf(out, ", \"line\": %u, \"column\": %u, ", diag->line, diag->column) &&
           field(out, "excerpt", diag->excerpt) && mg__strbuf_append(out, ", ", 2) && field(out, "hint", diag->hint) &&
           mg__strbuf_append(out, ", ", 2) && field(out, "inlined_file", diag->inlined_file) &&
           mg__strbuf_printf(out, ", \"inlined_line\": %u", diag->inlined_line);
}

bool mg__report_begin_json(const struct mg_report_device *device, struct mg_strbuf *out)
{
    return mg__strbuf_printf(out,
                             "{\"margay\": {\"version\": \"%s\", \"schema\": %d},\n\"device\": ", MG_VERSION_STRING,
                             MG_REPORT_SCHEMA) &&
           mg__json_device(out, device) && mg__strbuf_printf(out, ",\n\"launches\": [");
}

bool mg__report_end_json(struct mg_strbuf *out, const char *findings)
{
    return mg__strbuf_printf(out, "],\n\"findings\": [%s]}\n", findings);
}
