/* advice.c - a launch's advice as JSON: what the "advice" array of a report file holds. docs/report.md is its manual.
 *
 * Runs inside the simulated program, so numbers are written without the C library's idea of a decimal point.
 */
#include "report/report_priv.h"

#include <math.h>

/* A double with nine significant digits, in plain or scientific notation; always a JSON number. */
static bool number(struct mg_strbuf *out, double v)
{
    if (!(v == v) || v > 1e300 || v < -1e300)
        return mg__strbuf_printf(out, "0");
    if (v < 0)
        return mg__strbuf_printf(out, "-") && number(out, -v);
    if (v == 0)
        return mg__strbuf_printf(out, "0");
    if (v < 9e15 && v == floor(v))
        return mg__strbuf_printf(out, "%llu", (unsigned long long)v);
    int exponent = (int)floor(log10(v));
    uint64_t digits = (uint64_t)(v / pow(10, exponent) * 1e8 + 0.5);
    if (digits >= 1000000000u) {
        digits /= 10;
        exponent++;
    }
    return mg__strbuf_printf(out, "%llu.%08llue%d", (unsigned long long)(digits / 100000000u),
                             (unsigned long long)(digits % 100000000u), exponent);
}

static bool key(struct mg_strbuf *out, const char *name)
{
    return mg__strbuf_printf(out, "%s\"%s\": ", out->count && out->at[out->count - 1] != '{' ? ", " : "", name);
}

static bool text(struct mg_strbuf *out, const char *name, const char *value)
{
    return key(out, name) && mg__json_string(out, value);
}

static bool real(struct mg_strbuf *out, const char *name, double value)
{
    return key(out, name) && number(out, value);
}

static bool whole(struct mg_strbuf *out, const char *name, uint64_t value)
{
    return key(out, name) && mg__strbuf_printf(out, "%llu", (unsigned long long)value);
}

static bool dim3(struct mg_strbuf *out, const char *name, struct mg_dim3 d)
{
    return key(out, name) && mg__strbuf_printf(out, "[%u, %u, %u]", d.x, d.y, d.z);
}

static bool values(struct mg_strbuf *out, const char *name, const struct mg_report_value *v, size_t n)
{
    bool ok = key(out, name) && mg__strbuf_append(out, "{", 1);
    for (size_t i = 0; ok && i < n; i++)
        ok = real(out, v[i].name, v[i].value);
    return ok && mg__strbuf_append(out, "}", 1);
}

static bool item(struct mg_strbuf *out, const struct mg_report_advice_item *i)
{
    return mg__strbuf_append(out, "{", 1) && text(out, "id", i->id) && text(out, "title", i->title) &&
           text(out, "why", i->why) && text(out, "how", i->how) && text(out, "file", i->file) &&
           whole(out, "line", i->line) && text(out, "variable", i->variable) && real(out, "gain", i->gain) &&
           real(out, "gain_least", i->gain_least) && real(out, "gain_most", i->gain_most) &&
           real(out, "seconds", i->seconds) && values(out, "values", i->values, i->nvalues) &&
           values(out, "predicted", i->predicted, i->npredicted) && mg__strbuf_append(out, "}", 1);
}

static bool site(struct mg_strbuf *out, const struct mg_report_advice_site *s)
{
    return mg__strbuf_append(out, "{", 1) && text(out, "file", s->file) && whole(out, "line", s->line) &&
           text(out, "operation", s->operation) && text(out, "array", s->array) && text(out, "pattern", s->pattern) &&
           whole(out, "requests", s->requests) && whole(out, "sectors", s->sectors) &&
           whole(out, "sectors_ideal", s->ideal) && real(out, "uses_per_byte", s->uses_byte) &&
           real(out, "threads_per_byte", s->threads_byte) && whole(out, "bytes_per_block", s->bytes_block) &&
           key(out, "sampled") && mg__strbuf_printf(out, s->sampled ? "true" : "false") &&
           text(out, "remedy", s->remedy) && text(out, "staging", s->staging) &&
           real(out, "staging_sectors_saved", s->stage_sectors) &&
           real(out, "staging_wavefronts", s->stage_wavefronts) &&
           real(out, "staging_warps_at_barriers", s->stage_barriers) && mg__strbuf_append(out, "}", 1);
}

static bool rows(struct mg_strbuf *out, const char *name, const struct mg_report_advice_row *r, size_t n)
{
    bool ok = key(out, name) && mg__strbuf_append(out, "[", 1);
    for (size_t i = 0; ok && i < n; i++)
        ok = mg__strbuf_append(out, i ? ", {" : "{", i ? 3 : 1) && text(out, "id", r[i].id) &&
             text(out, "text", r[i].text) && text(out, "result", r[i].result) && text(out, "counts", r[i].counts) &&
             mg__strbuf_append(out, "}", 1);
    return ok && mg__strbuf_append(out, "]", 1);
}

static bool roofline(struct mg_strbuf *out, const struct mg_report_advice *a)
{
    bool ok = key(out, "roofline") && mg__strbuf_append(out, "{", 1) && whole(out, "flops_f16", a->flops_f16) &&
              whole(out, "flops_f32", a->flops_f32) && whole(out, "flops_f64", a->flops_f64) &&
              real(out, "attainable_flops_per_second", a->attainable) &&
              text(out, "binding", a->binding < a->nroofs ? a->roofs[a->binding].name : "") && key(out, "roofs") &&
              mg__strbuf_append(out, "[", 1);
    for (size_t i = 0; ok && i < a->nroofs; i++)
        ok = mg__strbuf_append(out, i ? ", {" : "{", i ? 3 : 1) && text(out, "name", a->roofs[i].name) &&
             real(out, "peak", a->roofs[i].peak) && real(out, "amount", a->roofs[i].amount) &&
             real(out, "intensity", a->roofs[i].intensity) && real(out, "seconds", a->roofs[i].seconds) &&
             mg__strbuf_append(out, "}", 1);
    return ok && mg__strbuf_append(out, "]}", 2);
}

/* What the reader tells launches apart by, and which of them stands for others. */
static bool shorter(const struct mg_report_advice *a, struct mg_strbuf *out)
{
    return mg__strbuf_append(out, "{", 1) && text(out, "mangled", a->mangled) && dim3(out, "grid", a->grid) &&
           dim3(out, "block", a->block) && whole(out, "shared_static", a->shared_static) &&
           whole(out, "shared_dynamic", a->shared_dynamic) && text(out, "status", mg_status_name(a->status)) &&
           real(out, "seconds", a->seconds) && real(out, "pages_seconds", a->pages) &&
           (!a->as_before || mg__strbuf_printf(out, ", \"looked_at\": 0")) && mg__strbuf_append(out, "}", 1);
}

bool mg__report_advice_json(const struct mg_report_advice *a, struct mg_strbuf *out)
{
    char cc[16];
    if (a->shorter)
        return shorter(a, out);
    snprintf(cc, sizeof(cc), "%u.%u", a->cc / 10, a->cc % 10);
    bool ok = mg__strbuf_append(out, "{", 1) && text(out, "kernel", a->kernel) && text(out, "mangled", a->mangled) &&
              dim3(out, "grid", a->grid) && dim3(out, "block", a->block) && text(out, "board", a->board) &&
              text(out, "compute_capability", cc) && whole(out, "shared_static", a->shared_static) &&
              whole(out, "shared_dynamic", a->shared_dynamic) && whole(out, "regs", a->regs) &&
              text(out, "regs_from", a->regs_from) && key(out, "regs_exact") &&
              mg__strbuf_printf(out, a->regs_exact ? "true" : "false") &&
              text(out, "status", mg_status_name(a->status)) && whole(out, "blocks", a->blocks) &&
              whole(out, "blocks_sampled", a->blocks_sampled) && real(out, "seconds", a->seconds) &&
              real(out, "pages_seconds", a->pages) && text(out, "limited_by", a->limiter) && key(out, "occupancy") &&
              mg__strbuf_append(out, "{", 1) && whole(out, "blocks", a->occupancy_blocks) &&
              whole(out, "warps", a->occupancy_warps) && whole(out, "max_warps", a->occupancy_max_warps) &&
              text(out, "limiter", a->occupancy_limiter) && text(out, "step", a->occupancy_step) &&
              mg__strbuf_append(out, "}", 1) && roofline(out, a) && text(out, "verdict", a->verdict) &&
              rows(out, "chart", a->chart, a->nchart) && rows(out, "checklist", a->checks, a->nchecks) &&
              key(out, "sites") && mg__strbuf_append(out, "[", 1);
    for (size_t i = 0; ok && i < a->nsites; i++)
        ok = (!i || mg__strbuf_append(out, ", ", 2)) && site(out, &a->sites[i]);
    ok = ok && mg__strbuf_append(out, "]", 1) && key(out, "advice") && mg__strbuf_append(out, "[", 1);
    for (size_t i = 0; ok && i < a->nitems; i++)
        ok = (!i || mg__strbuf_append(out, ", ", 2)) && item(out, &a->items[i]);
    return ok && mg__strbuf_append(out, "]}", 2);
}
