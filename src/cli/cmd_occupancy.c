/* cmd_occupancy.c - `margay occupancy`: how many blocks an SM holds, what holds them back, and what would let one more
 * in.
 *
 * The numbers of a kernel come from the options, or from its machine code; a kernel's threads, where nobody gives them,
 * are its launch bounds or the size that fills an SM best. --sweep draws what other sizes would do.
 */
#include "device_cmd.h"
#include "report/plot.h"

#include <errno.h>
#include <regex.h>

#define MAX_POINTS 256

struct subject {
    char *name; /* demangled; NULL: numbers from the command line */
    const char *mangled, *threads_from;
    char regs_from[64];
    struct mg_occupancy_query q;
};
struct result {
    struct mg_occupancy o;
    struct mg_occupancy_step step;
    unsigned best_threads; /* 0: no size of block fills more */
    double best;
    char refused[512], hint[256]; /* why no device of the kind takes such a block; "" */
};
struct curve {
    double x[MAX_POINTS], occupancy[MAX_POINTS]; /* as drawn */
    unsigned size[MAX_POINTS], blocks[MAX_POINTS], warps[MAX_POINTS];
    size_t n;
};

static uint32_t shared_of(const struct mg_occupancy_query *q)
{
    return q->shared_static + q->shared_dynamic;
}

static void evaluate(const struct mg_device_options *o, const struct subject *s, struct result *r)
{
    struct mg_launch_shape shape = {
        .grid = {1, 1, 1}, .block = {s->q.threads, 1, 1}, .kernel = s->q, .board = o->board};
    struct mg_diag diag;
    memset(r, 0, sizeof(*r));
    memset(&diag, 0, sizeof(diag));
    mg_arch_occupancy(o->arch, &s->q, &r->o);
    mg_arch_next_step(o->arch, &s->q, &r->step);
    struct mg_occupancy most;
    if (mg_arch_best_threads(o->arch, &s->q, NULL, NULL, &r->best_threads, &most) == MG_OK && most.warps > r->o.warps)
        r->best = most.occupancy;
    else
        r->best_threads = 0;
    shape.kernel.shared_optin = s->q.shared_dynamic; /* what must be asked for is a remark, not a refusal */
    if (mg_arch_launch_check(o->arch, &shape, &diag)) {
        snprintf(r->refused, sizeof(r->refused), "%s", diag.message);
        snprintf(r->hint, sizeof(r->hint), "%s", diag.hint);
    }
}

/* ---- the curve ---- */
/* Points where the number of blocks or warps changes: each holds up to the next. Threads change by the warp, and a
 * block's shared memory by its allocation unit. */
static void sweep(const struct mg_device_options *o, const struct subject *s, enum mg_sweep over, struct curve *c)
{
    struct mg_occupancy_query q = s->q;
    struct mg_occupancy r;
    unsigned first = over == MG_SWEEP_SMEM ? 0 : 1;
    unsigned last = over == MG_SWEEP_THREADS ? o->arch->max_threads_block
                    : over == MG_SWEEP_REGS  ? o->arch->max_regs_thread
                                             : o->arch->shared_block_optin;
    unsigned by = over == MG_SWEEP_THREADS ? o->arch->warp_size
                  : over == MG_SWEEP_REGS  ? 1
                                           : o->arch->shared_alloc_unit;
    c->n = 0;
    for (unsigned x = first; x <= last && c->n < MAX_POINTS; x = x ? x + by : 1) {
        if (over == MG_SWEEP_THREADS)
            q.threads = x;
        else if (over == MG_SWEEP_REGS)
            q.regs = x;
        else
            q.shared_static = 0, q.shared_dynamic = x;
        if (mg_arch_occupancy(o->arch, &q, &r) ||
            (c->n && c->blocks[c->n - 1] == r.blocks && c->warps[c->n - 1] == r.warps))
            continue;
        c->x[c->n] = over == MG_SWEEP_SMEM ? x / 1024.0 : x;
        c->size[c->n] = x;
        c->occupancy[c->n] = 100 * r.occupancy;
        c->warps[c->n] = r.warps;
        c->blocks[c->n++] = r.blocks;
    }
}

static bool draw(const struct mg_device_options *o, const struct subject *s, const struct result *r, bool svg,
                 struct mg_strbuf *out)
{
    static const char *const labels[] = {"", "threads a block", "shared memory a block (KiB)", "registers a thread"};
    enum mg_sweep over = o->sweep ? o->sweep : MG_SWEEP_THREADS;
    struct curve *c = malloc(sizeof(*c));
    char title[256], subtitle[256], label[96];
    double x = over == MG_SWEEP_THREADS ? s->q.threads : over == MG_SWEEP_REGS ? s->q.regs : shared_of(&s->q) / 1024.0;
    double y = 100 * r->o.occupancy;
    const char *point = label;
    if (!c)
        return false;
    sweep(o, s, over, c);
    snprintf(title, sizeof(title), s->name ? "Occupancy of %s" : "Occupancy", s->name);
    struct mg_strbuf rest = {0};
    bool ok = (over == MG_SWEEP_THREADS || mg__strbuf_printf(&rest, "%u threads, ", s->q.threads)) &&
              (over == MG_SWEEP_REGS || mg__strbuf_printf(&rest, "%u registers, ", s->q.regs)) &&
              (over == MG_SWEEP_SMEM || mg__strbuf_printf(&rest, "%u B of shared memory, ", shared_of(&s->q)));
    snprintf(subtitle, sizeof(subtitle), "%scompute capability %u.%u", rest.at ? rest.at : "", o->arch->cc / 10,
             o->arch->cc % 10);
    mg__strbuf_free(&rest);
    snprintf(label, sizeof(label), svg ? "now: %.4g %s, %.3g %%" : "now", x, over == MG_SWEEP_THREADS ? "threads"
             : over == MG_SWEEP_REGS ? "registers" : "KiB", y);
    struct mg_plot_series series[] = {
        {.name = svg ? "occupancy" : NULL, .kind = MG_PLOT_STEPS, .x = c->x, .y = c->occupancy, .n = c->n},
        /* in the picture a label would cover the curve */
        {.name = label, .kind = MG_PLOT_POINTS, .x = &x, .y = &y, .labels = svg ? NULL : &point, .n = 1},
    };
    struct mg_plot plot = {.title = title,
                           .subtitle = subtitle,
                           .series = series,
                           .nseries = 2,
                           .x = {.label = labels[over],
                                 .max = over == MG_SWEEP_THREADS ? 1024
                                        : over == MG_SWEEP_REGS  ? 256
                                                                 : o->arch->shared_block_optin / 1024.0,
                                 .step = over == MG_SWEEP_SMEM   ? 32
                                         : over == MG_SWEEP_REGS ? 32
                                                                 : 128},
                           .y = {.label = "occupancy (% of the warp slots)", .max = 100, .step = 25}};
    ok = ok && (svg ? mg__plot_svg(&plot, out) : mg__plot_text(&plot, &o->style, out));
    free(c);
    return ok;
}

/* ---- text ---- */
/* Words in lines of at most the width, those after the first indented; the text begins at a line's start. */
static bool put_words(struct mg_strbuf *out, const struct mg_device_options *o, unsigned indent, const char *format,
                      ...) MG_PRINTF(4, 5);
static bool put_words(struct mg_strbuf *out, const struct mg_device_options *o, unsigned indent, const char *format,
                      ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    unsigned at = 0;
    bool ok = true;
    for (const char *word = text; ok && *word;) {
        size_t blanks = strspn(word, " "), n = strcspn(word + blanks, " ");
        if (at && at + blanks + n > o->style.width) {
            ok = mg__strbuf_printf(out, "\n%*s", (int)indent, "");
            at = indent;
        } else if (n) {
            ok = mg__strbuf_printf(out, "%*s", (int)blanks, "");
            at += (unsigned)blanks;
        }
        ok = ok && mg__strbuf_append(out, word + strspn(word, " "), n);
        at += (unsigned)n;
        word += strspn(word, " ") + n;
    }
    return ok && mg__strbuf_append(out, "\n", 1);
}

static bool put_limit(struct mg_strbuf *out, const struct mg_device_options *o, const struct result *r,
                      enum mg_limiter limiter, const char *format, ...) MG_PRINTF(5, 6);
static bool put_limit(struct mg_strbuf *out, const struct mg_device_options *o, const struct result *r,
                      enum mg_limiter limiter, const char *format, ...)
{
    char why[160], count[16];
    va_list args;
    va_start(args, format);
    vsnprintf(why, sizeof(why), format, args);
    va_end(args);
    snprintf(count, sizeof(count), r->o.limit[limiter] == MG_NO_LIMIT ? "-" : "%u", r->o.limit[limiter]);
    bool binds = limiter == r->o.binding;
    return mg__layout_tone(out, &o->style, MG_TONE_BOLD, binds) &&
           mg__strbuf_printf(out, "%s %-14s %6s  %s", binds ? ">" : " ", mg_limiter_name(limiter), count, why) &&
           (!binds || mg__layout_tone(out, &o->style, MG_TONE_BOLD, false)) && mg__strbuf_append(out, "\n", 1);
}

static double occupancy_at(const struct mg_device_options *o, const struct mg_occupancy_query *query, unsigned threads,
                           unsigned regs, uint32_t shared)
{
    struct mg_occupancy_query q = *query;
    struct mg_occupancy r;
    q.threads = threads;
    q.regs = regs;
    q.shared_static = 0;
    q.shared_dynamic = shared;
    return mg_arch_occupancy(o->arch, &q, &r) ? 0 : 100 * r.occupancy;
}

static double occupancy_with(const struct mg_device_options *o, const struct mg_occupancy_query *query,
                             unsigned barriers, int carveout)
{
    struct mg_occupancy_query q = *query;
    struct mg_occupancy r;
    q.barriers = barriers;
    q.carveout = carveout;
    return mg_arch_occupancy(o->arch, &q, &r) ? 0 : 100 * r.occupancy;
}

static bool put_step(struct mg_strbuf *out, const struct mg_device_options *o, const struct subject *s,
                     const struct result *r)
{
    const struct mg_occupancy_step *n = &r->step;
    const struct mg_occupancy_query *q = &s->q;
    uint32_t shared = shared_of(q);
    unsigned idle = r->o.warps_block * o->arch->warp_size - q->threads;
    bool ok = true;
    if (r->o.warps == o->arch->max_warps_sm) {
        ok = mg__strbuf_printf(out, "Next step: none, every warp slot is taken.\n");
    } else if (!n->blocks) {
        ok = put_words(out, o, 2,
                       "Next step: no change of threads, registers or shared memory alone admits another block%s.",
                       r->o.blocks == o->arch->max_blocks_sm ? "; all block slots are taken" : "");
    } else {
        ok = mg__strbuf_printf(
            out, "Next step: %u block%s, with %s\n", n->blocks, n->blocks == 1 ? "" : "s",
            n->by_threads + n->by_regs + n->by_shared + n->by_both + n->by_barriers + n->by_carveout > 1
                ? "one of these:"
                : "this:");
        if (ok && n->by_regs)
            ok = put_words(out, o, 4, "  at most %u registers a thread, %u fewer: %.4g %%", n->regs, q->regs - n->regs,
                           occupancy_at(o, q, q->threads, n->regs, shared));
        if (ok && n->by_shared)
            ok = put_words(out, o, 4, "  at most %u bytes of shared memory a block, %u fewer: %.4g %%", n->shared,
                           shared - n->shared, occupancy_at(o, q, q->threads, q->regs, n->shared));
        if (ok && n->by_both)
            ok = put_words(out, o, 4,
                           "  at most %u registers a thread (%u fewer) and %u bytes of shared memory a block (%u "
                           "fewer): %.4g %%",
                           n->both_regs, q->regs - n->both_regs, n->both_shared, shared - n->both_shared,
                           occupancy_at(o, q, q->threads, n->both_regs, n->both_shared));
        if (ok && n->by_barriers)
            ok = put_words(out, o, 4, "  at most %u named barrier%s a block, %u fewer: %.4g %%", n->barriers,
                           n->barriers == 1 ? "" : "s", q->barriers - n->barriers,
                           occupancy_with(o, q, n->barriers, q->carveout));
        if (ok && n->by_carveout)
            ok = put_words(out, o, 4, "  a preferred carve-out of %d %% or more, now %d %%: %.4g %%", n->carveout,
                           q->carveout, occupancy_with(o, q, q->barriers, n->carveout));
        if (ok && n->by_threads)
            ok = put_words(out, o, 4, "  blocks of at most %u threads: %.4g %%", n->threads,
                           occupancy_at(o, q, n->threads, q->regs, shared));
        if (ok && (n->by_regs || n->by_both))
            ok = put_words(out, o, 2, "For %u registers: __launch_bounds__(%u, %u), or nvcc -maxrregcount=%u.",
                           n->by_regs ? n->regs : n->both_regs, q->threads, n->blocks,
                           n->by_regs ? n->regs : n->both_regs);
    }
    if (ok && n->larger_threads)
        ok = mg__strbuf_printf(out, "A larger block, of %u threads, would fill %.4g %%.\n", n->larger_threads,
                               100 * n->larger_occupancy);
    double told = 100 * n->larger_occupancy;
    if (n->blocks && n->by_threads)
        told = MG_MAX(told, occupancy_at(o, q, n->threads, q->regs, shared));
    if (ok && r->best_threads && 100 * r->best > told)
        ok = mg__strbuf_printf(out, "Of all block sizes, %u threads fill most: %.4g %%.\n", r->best_threads,
                               100 * r->best);
    if (ok && idle)
        ok = put_words(out, o, 2,
                       "%u threads are no multiple of %u: %u of the block's %u lanes are idle in every instruction.",
                       q->threads, o->arch->warp_size, idle, r->o.warps_block * o->arch->warp_size);
    return ok;
}

static bool show(struct mg_strbuf *out, const struct mg_device_options *o, const struct subject *s,
                 const struct result *r)
{
    const struct mg_arch *a = o->arch;
    const struct mg_occupancy_query *q = &s->q;
    bool ok = true;
    if (s->name)
        ok = mg__layout_tone(out, &o->style, MG_TONE_BOLD, true) &&
             mg__layout_text(out, &o->style, s->name, strlen(s->name), o->style.width, NULL) &&
             mg__layout_tone(out, &o->style, MG_TONE_BOLD, false) && mg__strbuf_append(out, "\n", 1);
    ok = ok && mg__strbuf_printf(out, "Compute capability %u.%u, %s\n", a->cc / 10, a->cc % 10, o->board->name) &&
         mg__strbuf_printf(out, "  %u threads a block%s\n", q->threads, s->threads_from) &&
         mg__strbuf_printf(out, "  %u registers a thread%s\n", q->regs, s->regs_from) &&
         mg__strbuf_printf(out, "  %u bytes of shared memory a block", shared_of(q));
    if (ok && q->shared_static && q->shared_dynamic)
        ok = mg__strbuf_printf(out, ": %u static, %u dynamic", q->shared_static, q->shared_dynamic);
    ok = ok && mg__strbuf_append(out, "\n\n", 2);
    if (ok && r->refused[0])
        return put_words(out, o, 2, "No such block can run: %s.", r->refused) &&
               (!r->hint[0] ||
                put_words(out, o, 2, "%c%s.",
                          (char)(r->hint[0] >= 'a' && r->hint[0] <= 'z' ? r->hint[0] - 32 : r->hint[0]), r->hint + 1));
    ok = ok && mg__layout_tone(out, &o->style, MG_TONE_BOLD, true) &&
         mg__strbuf_printf(out, "%.4g %% occupancy: %u block%s, %u of %u warps on each SM\n", 100 * r->o.occupancy,
                           r->o.blocks, r->o.blocks == 1 ? "" : "s", r->o.warps, a->max_warps_sm) &&
         mg__layout_tone(out, &o->style, MG_TONE_BOLD, false) &&
         (r->o.warps == a->max_warps_sm ||
          mg__strbuf_printf(out, "Held back by %s.\n", mg_limiter_name(r->o.binding))) &&
         mg__strbuf_printf(out, "\n  %-14s %6s\n", "limit", "blocks") &&
         put_limit(out, o, r, MG_LIMITER_REGISTERS, "%u a block (by %u a warp) of %u in %u parts", r->o.regs_block,
                   a->reg_alloc_unit, a->regs_sm, a->partitions) &&
         put_limit(out, o, r, MG_LIMITER_SHARED, "%u B a block (%u the system's, by %u) of %u", r->o.shared_block,
                   a->shared_reserved, a->shared_alloc_unit, r->o.shared_sm) &&
         put_limit(out, o, r, MG_LIMITER_BARRIERS, q->barriers ? "%u a block of %u%s" : "none used", q->barriers,
                   a->barriers_sm, a->cc < 90 ? ", not counted before 9.0" : "") &&
         put_limit(out, o, r, MG_LIMITER_WARPS, "%u a block of %u", r->o.warps_block, a->max_warps_sm) &&
         put_limit(out, o, r, MG_LIMITER_BLOCKS, "an SM has %u", a->max_blocks_sm) && mg__strbuf_append(out, "\n", 1) &&
         put_step(out, o, s, r);
    uint32_t room = a->shared_block > q->shared_static ? a->shared_block - q->shared_static : 0;
    if (ok && q->shared_dynamic > room && (s->name || q->shared_dynamic > a->shared_block))
        ok =
            mg__strbuf_printf(out,
                              "More than %u bytes a block must be dynamic and asked for:\n"
                              "  cudaFuncSetAttribute(kernel,\n    cudaFuncAttributeMaxDynamicSharedMemorySize, %u).\n",
                              a->shared_block, q->shared_dynamic);
    return ok;
}

/* ---- JSON ---- */
static bool json_limit(struct mg_strbuf *out, const char *key, unsigned limit)
{
    return limit == MG_NO_LIMIT ? mg__strbuf_printf(out, "\"%s\": null", key)
                                : mg__strbuf_printf(out, "\"%s\": %u", key, limit);
}

static bool json_fields(struct mg_strbuf *out, const struct mg_device_options *o, const struct subject *s,
                        const struct result *r)
{
    const struct mg_occupancy_query *q = &s->q;
    const struct mg_occupancy_step *n = &r->step;
    const unsigned *limit = r->o.limit;
    bool ok = true;
    if (s->name)
        ok = mg__strbuf_printf(out, "\"kernel\": ") && mg__json_string(out, s->name) &&
             mg__strbuf_printf(out, ", \"mangled\": ") && mg__json_string(out, s->mangled) &&
             mg__strbuf_printf(out, ", \"regs_from\": ") &&
             mg__json_string(out, s->regs_from[0] ? s->regs_from + 2 : "--regs") && mg__strbuf_printf(out, ",\n ");
    ok = ok &&
         mg__strbuf_printf(
             out,
             "\"threads\": %u, \"regs\": %u, \"shared_static\": %u, \"shared_dynamic\": %u, \"barriers\": %u, "
             "\"carveout\": %d,\n \"blocks_per_sm\": %u, \"warps_per_sm\": %u, \"max_warps_per_sm\": %u, "
             "\"occupancy\": %.6f, \"binding\": \"%s\",\n \"limits\": {",
             q->threads, q->regs, q->shared_static, q->shared_dynamic, q->barriers, q->carveout,
             r->refused[0] ? 0 : r->o.blocks, r->refused[0] ? 0 : r->o.warps, o->arch->max_warps_sm,
             r->refused[0] ? 0 : r->o.occupancy, mg_limiter_name(r->o.binding)) &&
         json_limit(out, "registers", limit[MG_LIMITER_REGISTERS]) && mg__strbuf_append(out, ", ", 2) &&
         json_limit(out, "shared_memory", limit[MG_LIMITER_SHARED]) && mg__strbuf_append(out, ", ", 2) &&
         json_limit(out, "barriers", limit[MG_LIMITER_BARRIERS]) && mg__strbuf_append(out, ", ", 2) &&
         json_limit(out, "warps", limit[MG_LIMITER_WARPS]) && mg__strbuf_append(out, ", ", 2) &&
         json_limit(out, "blocks", limit[MG_LIMITER_BLOCKS]) &&
         mg__strbuf_printf(out,
                           "},\n \"allocated\": {\"registers_per_warp\": %u, \"registers_per_block\": %u, "
                           "\"shared_memory_per_block\": %u, \"shared_memory_of_sm\": %u},\n \"next_step\": ",
                           r->o.regs_warp, r->o.regs_block, r->o.shared_block, r->o.shared_sm);
    if (ok && !n->blocks)
        ok = mg__strbuf_printf(out, "null");
    if (ok && n->blocks) {
        ok = mg__strbuf_printf(out, "{\"blocks_per_sm\": %u", n->blocks) &&
             (!n->by_threads || mg__strbuf_printf(out, ", \"threads\": %u", n->threads)) &&
             (!n->by_regs || mg__strbuf_printf(out, ", \"regs\": %u", n->regs)) &&
             (!n->by_shared || mg__strbuf_printf(out, ", \"shared\": %u", n->shared)) &&
             (!n->by_barriers || mg__strbuf_printf(out, ", \"barriers\": %u", n->barriers)) &&
             (!n->by_carveout || mg__strbuf_printf(out, ", \"carveout\": %d", n->carveout)) &&
             (!n->by_both ||
              mg__strbuf_printf(out, ", \"both\": {\"regs\": %u, \"shared\": %u}", n->both_regs, n->both_shared)) &&
             mg__strbuf_printf(out, "}");
    }
    ok = ok && mg__strbuf_printf(out, ", \"larger_block\": ");
    if (ok && n->larger_threads)
        ok = mg__strbuf_printf(out, "{\"threads\": %u, \"occupancy\": %.6f}", n->larger_threads, n->larger_occupancy);
    else if (ok)
        ok = mg__strbuf_printf(out, "null");
    ok = ok && mg__strbuf_printf(out, ", \"best_block\": ");
    if (ok && r->best_threads)
        ok = mg__strbuf_printf(out, "{\"threads\": %u, \"occupancy\": %.6f}", r->best_threads, r->best);
    else if (ok)
        ok = mg__strbuf_printf(out, "null");
    ok = ok && mg__strbuf_printf(out, ",\n \"refused\": ") &&
         (r->refused[0] ? mg__json_string(out, r->refused) : mg__strbuf_printf(out, "null"));
    struct curve *c = ok && o->sweep ? malloc(sizeof(*c)) : NULL;
    if (ok && o->sweep) {
        static const char *const names[] = {"", "threads", "smem", "regs"};
        ok = c != NULL;
        if (ok) {
            sweep(o, s, o->sweep, c);
            ok = mg__strbuf_printf(out, ",\n \"sweep\": {\"over\": \"%s\", \"points\": [", names[o->sweep]);
        }
        for (size_t i = 0; ok && i < c->n; i++)
            ok = mg__strbuf_printf(out, "%s[%u, %u]", i ? ", " : "", c->size[i], c->blocks[i]);
        ok = ok && mg__strbuf_printf(out, "]}");
        free(c);
    }
    return ok;
}

static bool json(struct mg_strbuf *out, const struct mg_device_options *o, const struct subject *subjects, size_t count)
{
    struct result r;
    bool ok =
        mg__strbuf_printf(out, "{\"margay\": {\"version\": \"%s\"}, \"compute_capability\": \"%u.%u\", \"board\": ",
                          MG_VERSION_STRING, o->arch->cc / 10, o->arch->cc % 10) &&
        mg__json_string(out, o->board->name);
    if (ok && count == 1) {
        evaluate(o, &subjects[0], &r);
        ok = mg__strbuf_append(out, ",\n ", 3) && json_fields(out, o, &subjects[0], &r);
    }
    ok = ok && (!o->kernel || mg__strbuf_printf(out, ",\n\"kernels\": ["));
    for (size_t i = 0; ok && o->kernel && i < count; i++) {
        evaluate(o, &subjects[i], &r);
        ok = mg__strbuf_printf(out, "%s\n{", i ? "," : "") && json_fields(out, o, &subjects[i], &r) &&
             mg__strbuf_append(out, "}", 1);
    }
    return ok && mg__strbuf_printf(out, "%s}\n", o->kernel ? "\n]" : "");
}

/* ---- where the numbers come from ---- */
static void complete(const struct mg_device_options *o, struct subject *s)
{
    if (o->has_regs) {
        s->q.regs = o->regs;
        s->regs_from[0] = 0;
    }
    if (o->has_barriers)
        s->q.barriers = o->barriers;
    if (s->name)
        s->q.shared_dynamic = o->smem;
    else
        s->q.shared_dynamic = o->smem, s->q.shared_static = 0;
    s->q.carveout = o->carveout;
    s->threads_from = "";
    s->q.threads = o->threads;
    if (!s->q.threads && s->q.max_threads) {
        s->q.threads = s->q.max_threads;
        s->threads_from = ", its launch bounds (--threads)";
    } else if (!s->q.threads) {
        s->threads_from = ", the size that fills an SM best (--threads)";
        if (mg_arch_best_threads(o->arch, &s->q, NULL, NULL, &s->q.threads, NULL))
            s->q.threads = o->arch->warp_size;
    }
}

/* PROGRAM[:REGEX]: the whole when such a file is there, else split at the last colon. */
static bool split(const char *text, char *path, size_t size, const char **regex)
{
    int why;
    const char *colon = strrchr(text, ':');
    *regex = NULL;
    FILE *file = fopen(text, "re");
    if (file)
        fclose(file);
    else if (!mg__find_program(text, path, size, &why) && colon)
        *regex = colon + 1;
    return snprintf(path, size, "%.*s", (int)(*regex ? colon - text : (long)strlen(text)), text) < (int)size;
}

static int find_kernels(const struct mg_device_options *o, struct mg_arena *arena, struct subject **subjects,
                        size_t *count)
{
    char path[4096], found[4096];
    const char *pattern;
    struct mg_device_kernels program;
    regex_t regex;
    int why;
    if (!o->kernel[0] || o->kernel[0] == ':')
        return mg__cli_complain(NULL, "--kernel '%s': a program is needed, as in PROGRAM or PROGRAM:REGEX", o->kernel);
    if (!split(o->kernel, path, sizeof(path), &pattern))
        return mg__cli_complain(NULL, "--kernel: the name is too long");
    if (!strchr(path, '/') && mg__find_program(path, found, sizeof(found), &why)) {
        FILE *file = fopen(path, "re");
        if (file)
            fclose(file);
        else
            snprintf(path, sizeof(path), "%s", found);
    }
    int error = regcomp(&regex, pattern ? pattern : "", REG_EXTENDED | REG_NOSUB);
    if (error) {
        char text[128];
        regerror(error, &regex, text, sizeof(text));
        return mg__cli_complain(NULL, "--kernel '%s': %s", pattern, text);
    }
    int result = mg__device_program(o, path, arena, &program);
    if (result >= 0) {
        regfree(&regex);
        return result;
    }
    *subjects = mg__arena_array(arena, MG_MAX(program.n, (size_t)1), sizeof(**subjects));
    if (!*subjects) {
        regfree(&regex);
        return mg__device_out_of_memory();
    }
    for (size_t i = 0; i < program.n; i++) {
        const struct mg_cubin_kernel *k = &program.at[i].kernel;
        char *name = mg__report_demangle(k->name);
        struct subject *s = &(*subjects)[*count];
        if (!name || (regexec(&regex, name, 0, NULL, 0) && regexec(&regex, k->name, 0, NULL, 0))) {
            free(name);
            continue;
        }
        s->name = mg__arena_strdup(arena, name);
        free(name);
        s->mangled = k->name;
        s->q = mg_arch_query(0, k->regs, k->shared_static, 0);
        s->q.barriers = k->barriers;
        s->q.max_threads = k->max_threads;
        const struct mg_device_kernel *from = &program.at[i];
        snprintf(s->regs_from, sizeof(s->regs_from), ", %s for %u.%u%s", from->assembled ? "ptxas" : "machine code",
                 from->cc / 10, from->cc % 10,
                 !from->foreign     ? ""
                 : program.no_ptxas ? ", as there is no ptxas"
                                    : ": none is nearer");
        if (s->name)
            (*count)++;
    }
    regfree(&regex);
    if (!*count)
        return program.n ? mg__cli_complain(NULL, "%s: no kernel matches '%s'", path, pattern ? pattern : "")
                                : mg__cli_complain(NULL, "%s: it holds no kernels", path);
    return -1;
}

static int write_svg(const struct mg_device_options *o, const struct subject *s)
{
    struct mg_strbuf text = {0};
    struct result r;
    evaluate(o, s, &r);
    if (!draw(o, s, &r, true, &text)) {
        mg__strbuf_free(&text);
        return mg__device_out_of_memory();
    }
    FILE *file = fopen(o->svg, "we");
    int error = errno;
    bool ok = file && fwrite(text.at, 1, text.count, file) == text.count;
    if (ok || file)
        error = errno;
    if (file && fclose(file) != 0) {
        error = errno;
        ok = false;
    }
    mg__strbuf_free(&text);
    return ok ? 0 : mg__cli_complain(NULL, "%s: %s", o->svg, strerror(error));
}

int mg__cmd_occupancy(int argc, char **argv)
{
    struct mg_device_options o;
    struct mg_arena arena;
    struct subject one = {.threads_from = ""}, *subjects = &one;
    struct mg_strbuf out = {0};
    struct result r;
    size_t count = 0;
    int result = mg__device_parse(MG_DEVCMD_OCCUPANCY, argc, argv, &o);
    if (result >= 0)
        return result;
    if (!o.kernel && (!o.threads || !o.has_regs))
        return mg__cli_complain(
            NULL, "--threads and --regs are needed (and --smem, if it is not 0), or --kernel PROGRAM; see "
                  "'margay occupancy --help'");
    mg__arena_init(&arena);
    if (o.kernel) {
        result = find_kernels(&o, &arena, &subjects, &count);
    } else {
        count = 1;
        one.q = mg_arch_query(0, 0, 0, 0);
    }
    for (size_t i = 0; i < count; i++)
        complete(&o, &subjects[i]);
    if (result < 0 && o.svg && count != 1)
        result = mg__cli_complain(NULL, "--svg: %zu kernels match; one is needed: --kernel PROGRAM:REGEX", count);
    bool ok = true, refused = false;
    for (size_t i = 0; result < 0 && i < count; i++) {
        evaluate(&o, &subjects[i], &r);
        refused |= r.refused[0] != 0;
    }
    if (result < 0 && o.json)
        ok = json(&out, &o, subjects, count);
    for (size_t i = 0; ok && result < 0 && !o.json && i < count; i++) {
        evaluate(&o, &subjects[i], &r);
        ok = (!i || mg__strbuf_append(&out, "\n", 1)) && show(&out, &o, &subjects[i], &r) &&
             (!o.sweep || (mg__strbuf_append(&out, "\n", 1) && draw(&o, &subjects[i], &r, false, &out)));
    }
    if (result < 0) {
        if (ok)
            result = mg__device_print(&out);
        else
            result = mg__device_out_of_memory();
    }
    if (result == 0 && o.svg)
        result = write_svg(&o, &subjects[0]);
    if (result == 0 && refused)
        result = MG_EXIT_FINDINGS;
    mg__strbuf_free(&out);
    mg__arena_free(&arena);
    return result;
}
