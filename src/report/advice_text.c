/* advice_text.c - advice as people read it: for each kernel what to do, then what that rests on.
 *
 * In order: the pieces of advice, largest gain first, each with its source line; whether shared memory is of use (the
 * decision chart); occupancy; the roofline; the access sites; the checklist. What is long is wrapped at the width.
 */
#include "report/plot.h"

#define MAX_KERNELS 20 /* and the same of kernels and shapes */
#define MAX_SITES 12   /* more would bury the rest; the JSON has them all */

static bool plain(struct mg_strbuf *out, const char *text)
{
    return mg__strbuf_append(out, text, strlen(text));
}

/* Whole numbers of five digits and more with commas, as the tables have them: "67584 wavefronts" is hard to read. */
static bool group_digits(struct mg_strbuf *out, const char *text)
{
    bool ok = true;
    for (size_t i = 0; ok && text[i];) {
        size_t n = strspn(text + i, "0123456789");
        bool whole = n >= 5 && (!i || !(strchr("._", text[i - 1]) || (text[i - 1] >= 'A' && text[i - 1] <= 'z')));
        for (size_t k = 0; ok && k < n; k++)
            ok = mg__strbuf_append(out, text + i + k, 1) &&
                 (!whole || (n - k) % 3 != 1 || k + 1 == n || mg__strbuf_append(out, ",", 1));
        i += n;
        if (ok && !n)
            ok = mg__strbuf_append(out, text + i++, 1);
    }
    return ok;
}

/* Words of `text` in lines of at most the style's width, each line indented; the first continues at column `at`. */
static bool wrap(struct mg_strbuf *out, const struct mg_style *style, const char *words, unsigned indent, unsigned at)
{
    struct mg_strbuf grouped = {0};
    bool ok = group_digits(&grouped, words), fresh = true;
    const char *text = ok && grouped.at ? grouped.at : "";
    while (ok && *text) {
        size_t n = strcspn(text, " ");
        if (n) {
            if (!fresh && at + 1 + n > style->width) {
                ok = mg__strbuf_printf(out, "\n%*s", (int)indent, "");
                at = indent;
                fresh = true;
            }
            if (ok && !fresh)
                ok = plain(out, " ");
            unsigned used = 0;
            ok = ok && mg__layout_text(out, style, text, n, UINT32_MAX, &used);
            at += used + !fresh;
            fresh = false;
        }
        text += n + strspn(text + n, " ");
    }
    mg__strbuf_free(&grouped);
    return ok && plain(out, "\n");
}

static bool place(struct mg_strbuf *out, const struct mg_style *style, struct mg_sources *sources, const char *file,
                  uint32_t line, unsigned indent)
{
    const char *source;
    size_t length;
    unsigned used = 0;
    char number[16];
    if (!file[0] || !line)
        return true;
    const char *shown = mg__layout_path(style, file);
    snprintf(number, sizeof(number), ":%u", line);
    bool ok = mg__strbuf_printf(out, "%*s", (int)indent, "") &&
              mg__layout_text(out, style, shown, strlen(shown), style->width / 2, &used) && plain(out, number);
    used += indent + (unsigned)strlen(number) + 2;
    if (ok && mg__sources_line(sources, file, line, &source, &length, NULL) && used < style->width)
        ok = plain(out, "  ") && mg__layout_text(out, style, source, length, style->width - used, NULL);
    return ok && plain(out, "\n");
}

static bool items(struct mg_strbuf *out, const struct mg_style *style, struct mg_sources *sources,
                  const struct mg_report_advice *a)
{
    bool ok = true;
    for (size_t i = 0; ok && i < a->nitems; i++) {
        const struct mg_report_advice_item *item = &a->items[i];
        bool nothing = !strcmp(item->id, "nothing");
        char gain[80];
        unsigned at = (unsigned)snprintf(gain, sizeof(gain), nothing ? "  " : "  %zu. ", i + 1), used = 0;
        ok = plain(out, gain) && mg__layout_tone(out, style, MG_TONE_BOLD, true) &&
             mg__layout_text(out, style, item->title, strlen(item->title), UINT32_MAX, &used) &&
             mg__layout_tone(out, style, MG_TONE_BOLD, false);
        unsigned more = (unsigned)snprintf(gain, sizeof(gain), "[%s]: about %.0f %% (%.0f to %.0f)", item->id,
                                           100 * item->gain, 100 * item->gain_least, 100 * item->gain_most);
        if (ok && !nothing) /* in the next line where the title leaves it no room */
            ok = mg__strbuf_printf(out, at + used + 1 + more <= style->width ? "%s%*s" : "\n%s%*s", "",
                                   at + used + 1 + more <= style->width ? 1 : (int)at, "") &&
                 plain(out, gain);
        ok = ok && plain(out, "\n") && place(out, style, sources, item->file, item->line, at);
        if (ok && item->why[0])
            ok = mg__strbuf_printf(out, "%*s", (int)at, "") && wrap(out, style, item->why, at, at);
        if (ok && item->how[0])
            ok = mg__strbuf_printf(out, "%*s", (int)at, "") && wrap(out, style, item->how, at, at);
        for (size_t k = 0; ok && k < item->npredicted; k++)
            ok = mg__strbuf_printf(out, "%*safterwards: %s = ", (int)at, "", item->predicted[k].name) &&
                 mg__layout_number(out, (uint64_t)item->predicted[k].value, 0) && plain(out, "\n");
    }
    return ok;
}

static bool heading(struct mg_strbuf *out, const struct mg_style *style, const char *text)
{
    return mg__layout_tone(out, style, MG_TONE_DIM, true) && mg__strbuf_printf(out, "  %s\n", text) &&
           mg__layout_tone(out, style, MG_TONE_DIM, false);
}

static bool chart(struct mg_strbuf *out, const struct mg_style *style, const struct mg_report_advice *a)
{
    bool ok =
        heading(out, style, "Should it use shared memory?") && plain(out, "    ") && wrap(out, style, a->verdict, 4, 4);
    for (size_t i = 0; ok && i < a->nchart; i++) {
        struct mg_strbuf line = {0};
        if (!strcmp(a->chart[i].id, "coalesced") == !strcmp(a->chart[i].result, "yes"))
            continue; /* as it should be, or as it may be; the verdict says what follows */
        ok = mg__strbuf_printf(&line, "%s %s: %s.", a->chart[i].text, a->chart[i].result, a->chart[i].counts) &&
             plain(out, "    - ") && wrap(out, style, line.at, 6, 6);
        mg__strbuf_free(&line);
    }
    return ok;
}

static bool occupancy(struct mg_strbuf *out, const struct mg_style *style, const struct mg_report_advice *a)
{
    struct mg_strbuf line = {0};
    if (!a->occupancy_max_warps || !a->occupancy_blocks)
        return true;
    bool ok = mg__strbuf_printf(
        &line,
        "%.0f %%: %u block%s, %u of %u warps on an SM; held back by %s (%u registers a thread%s%s; "
        "%u bytes of shared memory a block).",
        100.0 * a->occupancy_warps / a->occupancy_max_warps, a->occupancy_blocks, a->occupancy_blocks == 1 ? "" : "s",
        a->occupancy_warps, a->occupancy_max_warps, a->occupancy_limiter, a->regs, a->regs_from[0] ? ", " : "",
        a->regs_from, a->shared_static + a->shared_dynamic);
    if (a->occupancy_step[0])
        ok = ok && mg__strbuf_printf(&line, " Next: %s.", a->occupancy_step);
    if (a->regs_from[0] && !a->regs_exact)
        ok = ok && mg__strbuf_printf(&line,
                                     " The device would compile the program's PTX: its registers are those of nvcc "
                                     "-arch=sm_%u, or of margay occupancy --kernel.",
                                     a->cc);
    ok = ok && heading(out, style, "Occupancy") && plain(out, "    ") && wrap(out, style, line.at, 4, 4);
    mg__strbuf_free(&line);
    return ok;
}

/* "1.2 T" of a number of something a second or of bytes */
static void scaled(char text[32], double v)
{
    static const char *const units[] = {"", " k", " M", " G", " T", " P"};
    unsigned u = 0;
    while (v >= 999.5 && u + 1 < MG_COUNT(units)) {
        v /= 1000;
        u++;
    }
    snprintf(text, 32, v < 9.95 ? "%.2f%s" : v < 99.5 ? "%.1f%s" : "%.0f%s", v, units[u]);
}

/* ---- the roofline ---- */
enum { ROOF_MEMORY = 1, ROOF_SHARED, ROOF_ISSUE, ROOF_TENSOR };
enum { FEW_KERNELS = 8 }; /* more, and long labels would cover one another */

/* Roofs from left to right: bandwidth times intensity up to the arithmetic roof, then flat. */
static void draw_roof(double x[8], double y[8], double bandwidth, double peak, double low, double high)
{
    x[0] = low;
    y[0] = MG_MIN(low * bandwidth, peak) / 1e9;
    x[1] = MG_MIN(MG_MAX(peak / bandwidth, low), high);
    y[1] = MG_MIN(x[1] * bandwidth, peak) / 1e9;
    x[2] = high;
    y[2] = MG_MIN(high * bandwidth, peak) / 1e9;
}

/* The roof of matrix multiplications; NULL: there are none. */
static const struct mg_report_roof *tensor_roof(const struct mg_report_advice *a)
{
    return a->nroofs > ROOF_TENSOR ? &a->roofs[ROOF_TENSOR] : NULL;
}

/* Operations, those of matrices too. */
static double flops(const struct mg_report_advice *a)
{
    return (double)(a->flops_f16 + a->flops_f32 + a->flops_f64) + (tensor_roof(a) ? tensor_roof(a)->amount : 0);
}

/* The flat roof: that of the arithmetic which most is done by. */
static double flat(const struct mg_report_advice *a)
{
    const struct mg_report_roof *tensor = tensor_roof(a);
    return tensor && tensor->peak > 0 && tensor->amount > a->roofs[0].amount ? tensor->peak : a->roofs[0].peak;
}

static bool has_roofline(const struct mg_report_advice *a)
{
    return a->nroofs > ROOF_SHARED && flops(a) > 0 && a->roofs[ROOF_MEMORY].peak > 0 &&
           a->roofs[ROOF_SHARED].peak > 0 && a->attainable > 0;
}

/* The kernels in the picture: by global and by shared traffic, with their labels. */
struct marks {
    double *points; /* n of each: x and y by global traffic, x and y by shared traffic */
    const char **names;
    struct mg_arena arena; /* of the names */
    size_t nglobal, nshared;
    double low, high; /* intensities */
};

static void free_marks(struct marks *m)
{
    free(m->points);
    free(m->names);
    mg__arena_free(&m->arena);
}

static void put_mark(struct marks *m, double x, double y, const char *name, size_t n, bool shared)
{
    size_t at = shared ? m->nshared++ : m->nglobal++, first = shared ? 2 * n : 0;
    m->points[first + at] = x;
    m->points[first + n + at] = y;
    m->names[(shared ? n : 0) + at] = name;
    m->low = MG_MIN(m->low, x);
    m->high = MG_MAX(m->high, x);
}

/* Text has one kernel and names the traffic; SVG names kernels, and of a few of them the roof that binds. */
static bool gather_marks(const struct mg_report_advice *const *kernels, size_t n, bool svg, struct marks *m)
{
    *m = (struct marks){
        .points = calloc(n * 4 + 1, sizeof(*m->points)), .names = calloc(2 * n + 1, sizeof(*m->names)), .low = 1e300};
    mg__arena_init(&m->arena);
    bool ok = m->points && m->names;
    for (size_t i = 0; ok && i < n; i++) {
        const struct mg_report_advice *k = kernels[i];
        const char *binds = k->binding < k->nroofs ? k->roofs[k->binding].name : "";
        size_t start, length;
        mg__kernel_bare_name(k->kernel, &start, &length);
        const size_t room = length + strlen(binds) + 3;
        char *name = mg__arena_strndup(&m->arena, k->kernel + start, length), *both = mg__arena_alloc(&m->arena, room);
        ok = name && both;
        if (!ok)
            break;
        snprintf(both, room, "%s: %s", name, binds);
        double x = k->roofs[ROOF_MEMORY].intensity, s = k->roofs[ROOF_SHARED].intensity, y = k->attainable / 1e9;
        if (x > 0)
            put_mark(m, x, y, !svg ? "by global traffic" : n <= FEW_KERNELS ? both : name, n, false);
        if (s > 0)
            put_mark(m, s, y, svg ? name : "by shared traffic", n, true);
    }
    return ok;
}

/* The picture of n kernels on one board; the style is for text. */
static bool roofline_plot(const struct mg_report_advice *const *kernels, size_t n, const struct mg_style *style,
                          bool svg, struct mg_strbuf *out)
{
    const struct mg_report_advice *a = kernels[0];
    struct marks m;
    bool ok = gather_marks(kernels, n, svg, &m);
    if (!ok || (!m.nglobal && !m.nshared)) {
        free_marks(&m);
        return ok;
    }
    double ridge = flat(a) / a->roofs[ROOF_MEMORY].peak;
    double low = MG_MIN(m.low, 0.1) / 2, high = MG_MAX(m.high, ridge) * 4;
    double x[2][8], y[2][8];
    draw_roof(x[0], y[0], a->roofs[ROOF_MEMORY].peak, flat(a), low, high);
    draw_roof(x[1], y[1], a->roofs[ROOF_SHARED].peak, flat(a), low, high);
    struct mg_plot_series series[] = {
        {.name = "roof of device memory and arithmetic", .kind = MG_PLOT_LINE, .x = x[0], .y = y[0], .n = 3},
        {.name = "roof of shared memory", .kind = MG_PLOT_LINE, .x = x[1], .y = y[1], .n = 3, .muted = true},
        {.name =
             n <= FEW_KERNELS ? "kernel and the roof that binds it, by global traffic" : "kernel, by global traffic",
         .kind = MG_PLOT_POINTS,
         .x = m.points,
         .y = m.points + n,
         .labels = m.names,
         .n = m.nglobal},
        {.name = "kernel, by shared traffic",
         .kind = MG_PLOT_POINTS,
         .x = m.points + 2 * n,
         .y = m.points + 3 * n,
         .labels = m.names + n,
         .n = m.nshared},
    };
    struct mg_plot plot = {.title = svg ? "Roofline" : NULL, /* the text has a heading of its own */
                           .subtitle = svg ? a->board : NULL,
                           .x = {"arithmetic intensity (FLOP/byte)", MG_PLOT_LOG, low, high, 0},
                           .y = {"attainable (GFLOP/s)", MG_PLOT_LOG, 0, 0, 0},
                           .series = series,
                           .nseries = m.nshared ? 4 : 3,
                           .rows = 12};
    ok = svg ? mg__plot_svg(&plot, out) : mg__plot_text(&plot, style, out);
    free_marks(&m);
    return ok;
}

static bool roofline(struct mg_strbuf *out, const struct mg_style *style, const struct mg_report_advice *a)
{
    bool ok = heading(out, style, "Roofline");
    for (size_t i = 0; ok && i < a->nroofs; i++) {
        const struct mg_report_roof *r = &a->roofs[i];
        static const char *const unit[] = {"FLOP", "byte", "byte", "inst", "op"};
        char amount[32], peak[32];
        char time[MG_DURATION];
        scaled(amount, r->amount);
        scaled(peak, r->peak);
        mg__layout_duration(time, r->seconds);
        ok = mg__strbuf_printf(out, "    %c %-17s %7s %s of %7s %s/s", i == a->binding ? '>' : ' ', r->name, amount,
                               i < MG_COUNT(unit) ? unit[i] : "", peak, i < MG_COUNT(unit) ? unit[i] : "") &&
             mg__strbuf_printf(out, " %7s", time);
        if (ok && i && i < 3 && r->intensity > 0)
            ok = mg__strbuf_printf(out, " %6.3g FLOP/byte", r->intensity);
        ok = ok && plain(out, "\n");
    }
    char reach[32];
    struct mg_strbuf line = {0};
    if (!ok || a->binding >= a->nroofs)
        return ok;
    if (flops(a) <= 0)
        return mg__strbuf_printf(out, "    What binds is %s. There are no floating-point operations.\n",
                                 a->roofs[a->binding].name);
    scaled(reach, a->attainable);
    ok = mg__strbuf_printf(&line, "What binds is %s: %sFLOP/s are in reach, %.1f %% of the peak.",
                           a->roofs[a->binding].name, reach, flat(a) > 0 ? 100 * a->attainable / flat(a) : 0) &&
         plain(out, "    ") && wrap(out, style, line.at, 4, 4);
    mg__strbuf_free(&line);
    return ok && (!has_roofline(a) || roofline_plot(&a, 1, style, false, out));
}

/* "load of parameter 2: stride of 16 bytes, fixed by 1" and what staging would do; one
 * array's staging is told once. */
static bool site_words(struct mg_strbuf *out, const struct mg_report_advice *a, size_t at)
{
    const struct mg_report_advice_site *s = &a->sites[at];
    bool ok = mg__strbuf_printf(out, "%s%s%s: %s", s->operation, s->array[0] ? " of " : "", s->array, s->pattern);
    for (size_t i = 0; ok && s->remedy[0] && i < a->nitems; i++)
        if (!strcmp(a->items[i].id, s->remedy)) {
            ok = mg__strbuf_printf(out, "; fixed by %zu.", i + 1);
            break;
        }
    for (size_t i = 0; i < at; i++)
        if (!strcmp(a->sites[i].array, s->array) && !strcmp(a->sites[i].staging, s->staging) &&
            a->sites[i].stage_sectors == s->stage_sectors && s->array[0])
            return ok;
    if (ok && s->staging[0])
        ok = mg__strbuf_printf(out, "%s A tile %s: %.0f sectors saved for %.0f wavefronts and %.0f warps at barriers.",
                               s->remedy[0] ? "" : ".", s->staging, s->stage_sectors, s->stage_wavefronts,
                               s->stage_barriers);
    return ok;
}

static bool sites(struct mg_strbuf *out, const struct mg_style *style, struct mg_sources *sources,
                  const struct mg_report_advice *a)
{
    bool ok =
        !a->nsites || (heading(out, style, "Global access sites") && mg__layout_tone(out, style, MG_TONE_DIM, true) &&
                       mg__strbuf_printf(out, "    %11s %11s %11s %8s %8s  %s\n", "requests", "sectors", "ideal",
                                         "uses", "threads", "of a byte in a block") &&
                       mg__layout_tone(out, style, MG_TONE_DIM, false));
    for (size_t i = 0; ok && i < a->nsites && i < MAX_SITES; i++) {
        const struct mg_report_advice_site *s = &a->sites[i];
        struct mg_strbuf what = {0};
        bool again = i && s->line == a->sites[i - 1].line && !strcmp(s->file, a->sites[i - 1].file);
        ok = (again || place(out, style, sources, s->file, s->line, 4)) && plain(out, "    ") &&
             mg__layout_number(out, s->requests, 11) && plain(out, " ") && mg__layout_number(out, s->sectors, 11) &&
             plain(out, " ") && mg__layout_number(out, s->ideal, 11) &&
             mg__strbuf_printf(out, " %8.1f %8.1f%s\n      ", s->uses_byte, s->threads_byte,
                               s->sampled ? "  sampled" : "") &&
             site_words(&what, a, i) && wrap(out, style, what.at, 6, 6);
        mg__strbuf_free(&what);
    }
    if (ok && a->nsites > MAX_SITES)
        ok = mg__strbuf_printf(out, "    and %zu more: --json FILE has them all\n", a->nsites - MAX_SITES);
    return ok;
}

static bool checklist(struct mg_strbuf *out, const struct mg_style *style, const struct mg_report_advice *a)
{
    size_t failed = 0, passed = 0;
    bool ok = true;
    for (size_t i = 0; i < a->nchecks; i++) {
        failed += !strcmp(a->checks[i].result, "failed");
        passed += !strcmp(a->checks[i].result, "passed");
    }
    char words[64];
    snprintf(words, sizeof(words), "Checklist: %zu failed, %zu passed", failed, passed);
    if (a->nchecks)
        ok = heading(out, style, words);
    for (size_t i = 0; ok && i < a->nchecks; i++) {
        const struct mg_report_advice_row *r = &a->checks[i];
        struct mg_strbuf line = {0};
        if (strcmp(r->result, "failed"))
            continue;
        ok = mg__strbuf_printf(&line, "%s%s%s%s", r->text, r->counts[0] ? " (" : "", r->counts,
                               r->counts[0] ? ")" : "") &&
             plain(out, "    ") && mg__layout_tone(out, style, MG_TONE_RED, true) && plain(out, "failed") &&
             mg__layout_tone(out, style, MG_TONE_RED, false) && plain(out, "  ") && wrap(out, style, line.at, 12, 12);
        mg__strbuf_free(&line);
    }
    return ok;
}

static bool title(struct mg_strbuf *out, const struct mg_style *style, const struct mg_advice_row *row)
{
    const struct mg_report_advice *a = &row->advice;
    uint64_t shared = (uint64_t)a->shared_static + a->shared_dynamic;
    bool ok = plain(out, "\n") && mg__layout_tone(out, style, MG_TONE_BOLD, true) &&
              mg__layout_kernel(out, style, a->kernel, style->width, NULL) &&
              mg__layout_tone(out, style, MG_TONE_BOLD, false) && plain(out, "\n  grid ") &&
              mg__layout_dim3(out, style, a->grid) && plain(out, ", block ") && mg__layout_dim3(out, style, a->block);
    if (ok && shared)
        ok = plain(out, ", ") && mg__layout_bytes(out, shared) && plain(out, " shared");
    if (ok && row->launches > 1)
        ok = mg__strbuf_printf(out, ", the longest of %llu launches", (unsigned long long)row->launches);
    if (ok && row->looked < row->launches)
        ok = mg__strbuf_printf(out, " (%llu looked at: docs/advise.md)", (unsigned long long)row->looked);
    char time[MG_DURATION];
    mg__layout_duration(time, a->seconds);
    ok = ok && mg__strbuf_printf(out, ", estimate %s", time);
    mg__layout_duration(time, row->all);
    if (ok && row->launches > 1)
        ok = mg__strbuf_printf(out, " (all: %s)", time);
    ok = ok && plain(out, "\n");
    if (ok && a->status != MG_OK)
        ok = plain(out, "  The launch failed: the counts are of the part that ran.\n");
    bool lines = !a->nsites;
    for (size_t i = 0; i < a->nsites; i++)
        lines |= a->sites[i].line > 0;
    if (ok && !lines)
        ok = plain(out, "  No source lines are known: compile with -lineinfo.\n");
    if (ok && a->blocks_sampled < a->blocks)
        ok = mg__strbuf_printf(out,
                               "  Bytes were followed in %llu of %llu blocks; all other counts are of all blocks.\n",
                               (unsigned long long)a->blocks_sampled, (unsigned long long)a->blocks);
    return ok;
}

bool mg__render_advice(const struct mg_advices *advices, const struct mg_style *style, struct mg_strbuf *out)
{
    struct mg_sources sources;
    bool ok = true;
    if (!advices->at.count)
        return mg__strbuf_printf(out, "margay: no kernel was launched\n");
    const struct mg_report_advice *first = &advices->at.at[0]->advice;
    ok = mg__strbuf_printf(out, "margay %s: advice for the %s (compute capability %u.%u)\n", MG_VERSION_STRING,
                           first->board, first->cc / 10, first->cc % 10);
    mg__sources_init(&sources, style->given);
    for (size_t i = 0; ok && i < advices->at.count && i < MAX_KERNELS; i++) {
        const struct mg_report_advice *a = &advices->at.at[i]->advice;
        ok = title(out, style, advices->at.at[i]) && items(out, style, &sources, a) && chart(out, style, a) &&
             occupancy(out, style, a) && roofline(out, style, a) && sites(out, style, &sources, a) &&
             checklist(out, style, a);
    }
    mg__sources_free(&sources);
    if (ok && advices->at.count > MAX_KERNELS)
        ok = mg__strbuf_printf(out,
                               "\nmargay: %zu more kernels and shapes took less time;\n"
                               "        --json FILE has them, --kernel chooses\n",
                               advices->at.count - MAX_KERNELS);
    if (ok && advices->left_out)
        ok = mg__strbuf_printf(out,
                               "\nmargay: %llu launches of further kernels and shapes are left out;\n"
                               "        --kernel chooses\n",
                               (unsigned long long)advices->left_out);
    return ok;
}

bool mg__render_roofline_svg(const struct mg_advices *advices, struct mg_strbuf *out)
{
    const struct mg_report_advice **kernels = calloc(advices->at.count + 1, sizeof(*kernels));
    size_t n = 0;
    bool ok = kernels != NULL;
    for (size_t i = 0; ok && i < advices->at.count; i++)
        if (has_roofline(&advices->at.at[i]->advice))
            kernels[n++] = &advices->at.at[i]->advice;
    ok = ok && n && roofline_plot(kernels, n, NULL, true, out);
    free(kernels);
    return ok;
}
