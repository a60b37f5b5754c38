/* layout.c - text that fits its place: columns, numbers, source lines.
 *
 * Width is counted in terminal columns: one a code point, none for combining marks, two for the East Asian wide ranges.
 * That is not all of Unicode's rules, but right for source code and names. Text from outside is made harmless first: a
 * source file must not be able to send escape sequences to the reader's terminal.
 */
#include "report/render.h"

/* Decodes one code point; 0xFFFD for a malformed byte. Returns its bytes. */
static size_t decode(const unsigned char *s, size_t left, uint32_t *code)
{
    static const unsigned char first_bits[5] = {0, 0x7F, 0x1F, 0x0F, 0x07};
    static const uint32_t least[5] = {0, 0, 0x80, 0x800, 0x10000};
    size_t n = s[0] < 0x80 ? 1 : (s[0] >> 5) == 6 ? 2 : (s[0] >> 4) == 14 ? 3 : (s[0] >> 3) == 30 ? 4 : 0;
    *code = 0xFFFD;
    if (n == 0 || n > left)
        return 1;
    uint32_t c = s[0] & first_bits[n];
    for (size_t i = 1; i < n; i++) {
        if ((s[i] & 0xC0) != 0x80)
            return 1;
        c = c << 6 | (s[i] & 0x3Fu);
    }
    if (c < least[n] || c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF))
        return 1;
    *code = c;
    return n;
}

static unsigned columns(uint32_t c)
{
    if ((c >= 0x300 && c <= 0x36F) || (c >= 0x200B && c <= 0x200F) || (c >= 0xFE00 && c <= 0xFE0F))
        return 0;
    if ((c >= 0x1100 && c <= 0x115F) || (c >= 0x2E80 && c <= 0xA4CF) || (c >= 0xAC00 && c <= 0xD7A3) ||
        (c >= 0xF900 && c <= 0xFAFF) || (c >= 0xFE30 && c <= 0xFE6F) || (c >= 0xFF00 && c <= 0xFF60) ||
        (c >= 0xFFE0 && c <= 0xFFE6) || (c >= 0x1F300 && c <= 0x1FAFF) || (c >= 0x20000 && c <= 0x3FFFD))
        return 2;
    return 1;
}

bool mg__layout_text(struct mg_strbuf *out, const struct mg_style *style, const char *text, size_t length,
                     unsigned width, unsigned *used)
{
    const char *dots = style->utf8 ? "…" : "...";
    unsigned dots_width = style->utf8 ? 1 : 3;
    size_t start = out->count, cut = start; /* cut: where the ellipsis goes if the text turns out too long */
    unsigned at = 0, cut_at = 0;
    bool ok = mg__strbuf_append(out, "", 0);
    for (size_t i = 0; ok && i < length;) {
        uint32_t c;
        size_t n = decode((const unsigned char *)text + i, length - i, &c);
        unsigned w = columns(c);
        if (at + w > width) {
            out->count = cut;
            out->at[cut] = 0;
            at = cut_at;
            if (width >= dots_width) {
                ok = mg__strbuf_append(out, dots, strlen(dots));
                at += dots_width;
            }
            break;
        }
        if (c == '\t')
            ok = mg__strbuf_append(out, " ", 1);
        else if (c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0x2028 || c == 0x2029 || (c >= 0x202A && c <= 0x202E) ||
                 (c >= 0x2066 && c <= 0x2069))
            ok = mg__strbuf_append(out, "?", 1);
        else if (c == 0xFFFD || (c >= 0x80 && !style->utf8))
            ok = mg__strbuf_append(out, "?", 1);
        else
            ok = mg__strbuf_append(out, text + i, n);
        at += w;
        i += n;
        if (at + dots_width <= width) {
            cut = out->count;
            cut_at = at;
        }
    }
    if (used)
        *used = at;
    return ok;
}

bool mg__layout_tone(struct mg_strbuf *out, const struct mg_style *style, enum mg_tone tone, bool on)
{
    static const char *const codes[] = {
        [MG_TONE_BOLD] = "\x1b[1m", [MG_TONE_RED] = "\x1b[31m", [MG_TONE_DIM] = "\x1b[2m"};
    const char *code = on ? codes[tone] : "\x1b[0m";
    return !style->color || mg__strbuf_append(out, code, strlen(code));
}

bool mg__layout_right(struct mg_strbuf *out, const char *text, unsigned width, unsigned used)
{
    return mg__strbuf_printf(out, "%*s%s", (int)(width > used ? width - used : 0), "", text);
}

static void with_commas(char *to, size_t size, uint64_t value)
{
    char digits[24];
    int n = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)value);
    size_t at = 0;
    for (int i = 0; i < n && at + 2 < size; i++) {
        if (i && (n - i) % 3 == 0)
            to[at++] = ',';
        to[at++] = digits[i];
    }
    to[at] = 0;
}

bool mg__layout_number(struct mg_strbuf *out, uint64_t value, unsigned width)
{
    static const char units[] = "MGTPE";
    char text[32];
    if (value < 100000000) {
        with_commas(text, sizeof(text), value);
    } else {
        double v = (double)value / 1e6;
        unsigned u = 0;
        for (; v >= 999.95 && u < 4; u++)
            v /= 1000;
        snprintf(text, sizeof(text), "%.1f %c", v, units[u]);
    }
    return mg__layout_right(out, text, width, (unsigned)strlen(text));
}

static bool right_of(struct mg_strbuf *out, struct mg_strbuf *text, bool ok, unsigned columns_more, unsigned width)
{
    ok = ok && mg__layout_right(out, text->at, width, (unsigned)text->count - columns_more);
    mg__strbuf_free(text);
    return ok;
}

bool mg__layout_metric(struct mg_strbuf *out, const struct mg_style *style, const struct mg_metrics *metrics,
                       enum mg_metric metric, unsigned width)
{
    struct mg_strbuf text = {0};
    double value;
    (void)mg__metric_value(metrics, metric, &value);
    switch (mg__metric_type(metric)) {
    case MG_TYPE_FACTOR:
        return right_of(out, &text,
                        mg__strbuf_printf(&text, "%.*f%s", value < 1000 ? 1 : 0, value, style->utf8 ? "×" : "x"),
                        style->utf8 ? 1 : 0, width);
    case MG_TYPE_PERCENT: /* 100 is all */
        return right_of(out, &text, mg__strbuf_printf(&text, "%.0f %%", value < 100 && value > 99 ? 99 : value), 0,
                        width);
    case MG_TYPE_TIME:
        return right_of(out, &text, mg__layout_seconds(&text, value * 1e-9), 0, width);
    case MG_TYPE_BYTES:
        return right_of(out, &text, mg__layout_bytes(&text, (uint64_t)value), 0, width);
    case MG_TYPE_RATE:
    case MG_TYPE_COUNT:
        break;
    }
    return mg__layout_number(out, mg__metric_whole(metrics, metric), width);
}

bool mg__layout_bytes(struct mg_strbuf *out, uint64_t bytes)
{
    char text[32];
    if (bytes >= 1024 && bytes % 1024 == 0) {
        with_commas(text, sizeof(text), bytes / 1024);
        return mg__strbuf_printf(out, "%s KiB", text);
    }
    with_commas(text, sizeof(text), bytes);
    return mg__strbuf_printf(out, "%s B", text);
}

bool mg__layout_seconds(struct mg_strbuf *out, double s)
{
    if (s < 1e-3)
        return mg__strbuf_printf(out, "%.0f us", s * 1e6);
    if (s < 1)
        return mg__strbuf_printf(out, "%.1f ms", s * 1e3);
    return mg__strbuf_printf(out, "%.2f s", s);
}

void mg__layout_duration(char text[MG_DURATION], double seconds)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};
    double v = seconds * 1e9;
    unsigned u = 0;
    while (v >= 999.5 && u + 1 < MG_COUNT(units)) {
        v /= 1000;
        u++;
    }
    snprintf(text, MG_DURATION, v > 0 && v < 9.95 ? "%.1f %s" : "%.0f %s", v, units[u]);
}

bool mg__layout_dim3(struct mg_strbuf *out, const struct mg_style *style, struct mg_dim3 d)
{
    const char *times = style->utf8 ? "×" : "x";
    if (d.z != 1)
        return mg__strbuf_printf(out, "%u%s%u%s%u", d.x, times, d.y, times, d.z);
    if (d.y != 1)
        return mg__strbuf_printf(out, "%u%s%u", d.x, times, d.y);
    return mg__strbuf_printf(out, "%u", d.x);
}

/* ---- source files ---- */
struct source_file {
    char *text;
    size_t size;
    size_t *starts; /* nlines + 1 offsets */
    uint32_t nlines;
};

void mg__sources_init(struct mg_sources *sources, const struct mg_given *given)
{
    sources->given = given;
    mg__arena_init(&sources->arena);
    mg__strtab_init(&sources->files, &sources->arena);
}

void mg__sources_free(struct mg_sources *sources)
{
    mg__arena_free(&sources->arena);
}

#define SOURCE_LIMIT ((size_t)64 << 20)

static struct source_file *load(struct mg_sources *sources, const char *file)
{
    struct source_file *f = mg__strtab_get(&sources->files, file, strlen(file));
    if (f)
        return f;
    f = mg__arena_alloc(&sources->arena, sizeof(*f));
    if (!f || !mg__strtab_put(&sources->files, file, strlen(file), f))
        return NULL;
    char *data;
    size_t size;
    struct mg_diag diag;
    const char *given;
    if (mg__given_text(sources->given, file, &given)) {
        data = given ? strdup(given) : NULL;
        size = data ? strlen(data) : 0;
        if (!data)
            return f;
    } else if (!file[0] || mg__file_read(file, SOURCE_LIMIT, &data, &size, &diag) != MG_OK) {
        return f; /* remembered as empty */
    }
    f->text = mg__arena_strndup(&sources->arena, data, size);
    free(data);
    uint32_t lines = 1;
    for (size_t i = 0; f->text && i < size; i++)
        lines += f->text[i] == '\n' && lines < UINT32_MAX - 1;
    f->starts = f->text ? mg__arena_array(&sources->arena, (size_t)lines + 1, sizeof(*f->starts)) : NULL;
    if (!f->starts)
        return f;
    uint32_t n = 1;
    for (size_t i = 0; i < size && n < lines; i++)
        if (f->text[i] == '\n')
            f->starts[n++] = i + 1;
    f->starts[n] = size + 1;
    f->size = size;
    f->nlines = n;
    return f;
}

bool mg__sources_line(struct mg_sources *sources, const char *file, uint32_t line, const char **text, size_t *length,
                      size_t *indent)
{
    struct source_file *f = load(sources, file);
    if (!f || line == 0 || line > f->nlines)
        return false;
    const char *begin = f->text + f->starts[line - 1], *end = f->text + f->starts[line] - 1, *all = begin;
    while (begin < end && (*begin == ' ' || *begin == '\t'))
        begin++;
    while (end > begin && (end[-1] == ' ' || end[-1] == '\t' || end[-1] == '\r'))
        end--;
    *text = begin;
    *length = (size_t)(end - begin);
    if (indent)
        *indent = (size_t)(begin - all);
    return *length > 0;
}

bool mg__sources_text(struct mg_sources *sources, const char *file, const char **text, size_t *size)
{
    const struct source_file *f = load(sources, file);
    *text = f ? f->text : NULL;
    *size = f && f->text ? f->size : 0;
    return *size > 0;
}

uint32_t mg__sources_count(struct mg_sources *sources, const char *file)
{
    const struct source_file *f = load(sources, file);
    return f ? f->nlines : 0;
}

const char *mg__layout_path(const struct mg_style *style, const char *file)
{
    size_t n = style->cwd ? strlen(style->cwd) : 0;
    if (n && !strncmp(file, style->cwd, n) && file[n] == '/' && file[n + 1])
        return file + n + 1;
    return file;
}

/* Return type and parameters left away: "void f<32>(int)" -> "f<32>". */
void mg__kernel_bare_name(const char *kernel, size_t *start, size_t *length)
{
    size_t open = strlen(kernel), begin = 0;
    int depth = 0;
    for (size_t i = 0; kernel[i]; i++) {
        if (kernel[i] == '<')
            depth++;
        else if (kernel[i] == '>')
            depth--;
        else if (depth == 0 && kernel[i] == '(' && strncmp(kernel + i, "(anonymous", 10)) {
            open = i;
            break;
        } else if (depth == 0 && kernel[i] == ' ' && (i < 10 || strncmp(kernel + i - 10, "(anonymous ", 11)))
            begin = i + 1;
    }
    *start = begin < open ? begin : 0;
    *length = open - *start;
}

bool mg__kernel_is_called(const char *kernel, const char *name, size_t n)
{
    size_t start, length;
    mg__kernel_bare_name(kernel, &start, &length);
    return n == length && !memcmp(kernel + start, name, n);
}

/* Namespaces and return type left away too, parameters kept: "void cub::detail::f<32>(int)" -> "f<32>(int)". */
const char *mg__kernel_own_name(const char *kernel)
{
    size_t start, length;
    int depth = 0;
    mg__kernel_bare_name(kernel, &start, &length);
    const char *own = kernel + start;
    for (const char *at = own; at < kernel + start + length; at++) {
        depth += (*at == '<' || *at == '(') - (*at == '>' || *at == ')');
        if (depth == 0 && at[0] == ':' && at[1] == ':')
            own = at + 2;
    }
    return own;
}

/* What Numba makes a name of its own with: "turned[abi:v1][abi:cw51…](int)" -> "turned(int)". */
static bool without_tags(struct mg_strbuf *out, const char *name)
{
    bool ok = true;
    while (ok && *name) {
        const char *tag = strstr(name, "[abi:"), *end = tag ? strchr(tag, ']') : NULL;
        size_t n = end ? (size_t)(tag - name) : strlen(name);
        ok = mg__strbuf_append(out, name, n);
        name = end ? end + 1 : name + n;
    }
    return ok;
}

bool mg__layout_kernel(struct mg_strbuf *out, const struct mg_style *style, const char *kernel, unsigned width,
                       unsigned *used)
{
    struct mg_strbuf whole = {0};
    unsigned columns_of_it = 0;
    bool ok = mg__layout_text(&whole, style, kernel, strlen(kernel), UINT32_MAX, &columns_of_it);
    whole.count = 0;
    ok = ok && (columns_of_it <= width ? mg__strbuf_append(&whole, kernel, strlen(kernel))
                                       : without_tags(&whole, mg__kernel_own_name(kernel)));
    ok = ok && mg__layout_text(out, style, whole.count ? whole.at : "", whole.count, width, used);
    mg__strbuf_free(&whole);
    return ok;
}
