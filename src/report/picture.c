/* picture.c - pictures as JSON text. Files are a list, and places index it: a kernel has thousands of instructions in a
 * few files. Lanes that do not take part are null. */
#include "report/picture.h"

#include "report/report_priv.h"

struct files {
    const char **at;
    size_t count;
};

/* The index of `name`, which is added when it is new. */
static size_t file_index(struct files *files, const char *name)
{
    name = name ? name : "";
    for (size_t i = files->count; i-- > 0;)
        if (!strcmp(files->at[i], name))
            return i;
    files->at[files->count] = name;
    return files->count++;
}

static bool text(struct mg_strbuf *out, const char *name, const char *value)
{
    return mg__strbuf_printf(out, "\"%s\": ", name) && mg__json_string(out, value) && mg__strbuf_append(out, ", ", 2);
}

static bool lanes(struct mg_strbuf *out, uint32_t mask, const uint64_t at[32])
{
    bool ok = mg__strbuf_printf(out, "\"lanes\": [");
    for (unsigned i = 0; ok && i < 32; i++)
        ok = mask >> i & 1 ? mg__strbuf_printf(out, "%s%llu", i ? "," : "", (unsigned long long)at[i])
                           : mg__strbuf_printf(out, "%snull", i ? "," : "");
    return ok && mg__strbuf_append(out, "], ", 3);
}

static bool cost(struct mg_strbuf *out, const char *unit, const struct mg_report_cost *c)
{
    bool ok = mg__strbuf_printf(out, "\"%s\": %u, \"%s_ideal\": %u, \"phases\": [", unit, c->taken, unit, c->ideal);
    for (unsigned i = 0; ok && i < c->nphases; i++)
        ok = mg__strbuf_printf(out, "%s[%u,%u,%u]", i ? "," : "", c->phases[i].from, c->phases[i].lanes,
                               c->phases[i].wavefronts);
    return ok && mg__strbuf_append(out, "]", 1);
}

static bool layout(struct mg_strbuf *out, uint32_t mask, const struct mg_report_layout *l)
{
    return mg__strbuf_append(out, "{", 1) && text(out, "kind", l->kind) &&
           mg__strbuf_printf(out, "\"element\": %u, \"row\": %u, \"pad\": %u, ", l->element, l->row, l->pad) &&
           mg__strbuf_printf(out, "\"xor_mask\": %u, \"xor_shift\": %u, \"xor_times\": %u, \"added\": %u, ",
                             l->xor_mask, l->xor_shift, l->xor_times, l->added) &&
           lanes(out, mask, l->lanes) && cost(out, "wavefronts", &l->cost) && mg__strbuf_append(out, "}", 1);
}

static bool access_json(struct mg_strbuf *out, const struct mg_report_access *a, size_t file)
{
    const char *unit = !strcmp(a->space, "global") ? "sectors" : "wavefronts";
    bool ok =
        mg__strbuf_printf(out, "{\"file\": %zu, \"line\": %u, \"insn\": ", file, a->line) &&
        (a->insn == ~0u ? mg__strbuf_printf(out, "null, ") : mg__strbuf_printf(out, "%u, ", a->insn)) &&
        text(out, "space", a->space) && text(out, "operation", a->operation) && text(out, "variable", a->variable) &&
        mg__strbuf_printf(out, "\"offset\": %u, \"size\": %u, \"count\": %llu, \"total\": %llu, ", a->offset, a->size,
                          (unsigned long long)a->count, (unsigned long long)a->taken) &&
        mg__strbuf_printf(out, "\"total_ideal\": %llu, \"width\": %u, ", (unsigned long long)a->ideal, a->width) &&
        lanes(out, a->mask, a->lanes) && cost(out, unit, &a->cost) && mg__strbuf_printf(out, ", \"layouts\": [");
    for (unsigned i = 0; ok && i < a->nlayouts; i++)
        ok = mg__strbuf_append(out, ", ", i ? 2 : 0) && layout(out, a->mask, &a->layouts[i]);
    return ok && mg__strbuf_append(out, "]}", 2);
}

static bool head(struct mg_strbuf *out, const struct mg_report_picture *p)
{
    char *name = mg__report_demangle(p->mangled ? p->mangled : "");
    bool ok =
        mg__strbuf_append(out, "{", 1) && text(out, "kernel", p->kernel && p->kernel[0] ? p->kernel : name) &&
        text(out, "mangled", p->mangled) &&
        mg__strbuf_printf(out, "\"device\": %u, \"grid\": [%u, %u, %u], \"block\": [%u, %u, %u], ", p->device,
                          p->grid.x, p->grid.y, p->grid.z, p->block.x, p->block.y, p->block.z) &&
        mg__strbuf_printf(out, "\"shared_dynamic\": %u, \"banks\": %u, \"bank_bytes\": %u, \"sector_bytes\": %u, ",
                          p->shared_dynamic, p->banks, p->bank_bytes, p->sector_bytes) &&
        mg__strbuf_printf(out, "\"line_bytes\": %u, ", p->line_bytes);
    free(name);
    return ok;
}

static bool insns_json(struct mg_strbuf *out, const struct mg_report_picture *p, struct files *files)
{
    bool ok = mg__strbuf_printf(out, "\"ptx\": [");
    for (size_t i = 0; ok && i < p->ninsns; i++)
        ok = mg__strbuf_printf(out, "%s[%zu,%u,%llu,", i ? ", " : "", file_index(files, p->insns[i].file),
                               p->insns[i].line, (unsigned long long)p->insns[i].warps) &&
             mg__json_string(out, p->insns[i].text) && mg__strbuf_append(out, "]", 1);
    return ok && mg__strbuf_printf(out, "], \"ptx_left_out\": %zu, ", p->insns_left_out);
}

static bool steps_json(struct mg_strbuf *out, const struct mg_report_picture *p, struct files *files)
{
    bool ok = mg__strbuf_printf(out, "\"copies\": [");
    for (size_t i = 0; ok && i < p->nsteps; i++)
        ok = mg__strbuf_printf(out, "%s{\"file\": %zu, \"line\": %u, ", i ? ", " : "",
                               file_index(files, p->steps[i].file), p->steps[i].line) &&
             text(out, "what", p->steps[i].what) &&
             mg__strbuf_printf(out, "\"bytes\": %llu, \"pending\": %u}", (unsigned long long)p->steps[i].bytes,
                               p->steps[i].pending);
    return ok && mg__strbuf_printf(out, "], \"copies_left_out\": %zu, \"copies_warp\": %u, ", p->steps_left_out,
                                   p->steps_warp);
}

bool mg__report_picture_json(const struct mg_report_picture *p, struct mg_strbuf *out)
{
    struct files files = {.at = calloc(p->ninsns + p->naccesses + p->nsteps + 1, sizeof(*files.at))};
    bool ok = files.at && head(out, p) && mg__strbuf_printf(out, "\"accesses\": [");
    for (size_t i = 0; ok && i < p->naccesses; i++)
        ok = mg__strbuf_append(out, ", ", i ? 2 : 0) &&
             access_json(out, &p->accesses[i], file_index(&files, p->accesses[i].file));
    ok = ok && mg__strbuf_printf(out, "], \"accesses_left_out\": %zu, ", p->accesses_left_out) &&
         steps_json(out, p, &files) && insns_json(out, p, &files) && mg__strbuf_printf(out, "\"files\": [");
    for (size_t i = 0; ok && i < files.count; i++)
        ok = mg__strbuf_append(out, ", ", i ? 2 : 0) && mg__json_string(out, files.at[i]);
    free(files.at);
    return ok && mg__strbuf_append(out, "]}", 2);
}
