/* page.c - --html: the run as a page, when it is over.
 *
 * The page is made of the records alone (report/html.c); what it says of occupancy is worked out here, as `margay
 * occupancy` does.
 */
#include "cli.h"

static bool step_json(const struct mg_arch *arch, const struct mg_occupancy_query *q, struct mg_strbuf *out)
{
    struct mg_occupancy_step n;
    bool ok = mg__strbuf_printf(out, ", \"step\": {");
    if (mg_arch_next_step(arch, q, &n) == MG_OK && n.blocks) {
        ok = ok && mg__strbuf_printf(out, "\"blocks\": %u", n.blocks) &&
             (!n.by_threads || mg__strbuf_printf(out, ", \"threads\": %u", n.threads)) &&
             (!n.by_regs || mg__strbuf_printf(out, ", \"registers\": %u", n.regs)) &&
             (!n.by_shared || mg__strbuf_printf(out, ", \"shared\": %u", n.shared));
    }
    return ok && mg__strbuf_append(out, "}", 1);
}

static bool occupancy(void *arg, const struct mg_tally_kernel *k, struct mg_strbuf *out)
{
    const struct mg_cli_options *o = arg;
    struct mg_occupancy_query q =
        mg_arch_query(k->block.x * k->block.y * k->block.z, k->regs, k->shared_static, k->shared_dynamic);
    struct mg_occupancy r;
    if (!q.threads || mg_arch_occupancy(o->arch, &q, &r))
        return true;
    bool ok = mg__strbuf_printf(out, "{\"blocks\": %u, \"warps\": %u, \"max_warps\": %u, \"binding\": \"%s\", ",
                                r.blocks, r.warps, o->arch->max_warps_sm, mg_limiter_name(r.binding)) &&
              mg__strbuf_printf(out, "\"threads\": %u, \"limits\": [", q.threads);
    const char *comma = "";
    for (unsigned i = 0; ok && i < MG_LIMITER_COUNT; i++) {
        if (r.limit[i] == MG_NO_LIMIT)
            continue;
        ok = mg__strbuf_printf(out, "%s[\"%s\", %u]", comma, mg_limiter_name((enum mg_limiter)i), r.limit[i]);
        comma = ", ";
    }
    return ok && mg__strbuf_append(out, "]", 1) && step_json(o->arch, &q, out) && mg__strbuf_append(out, "}", 1);
}

int mg__cli_page(struct mg_session *session, const char *program)
{
    const struct mg_cli_options *o = session->options;
    if (!o->html)
        return -1;
    struct mg_strbuf text = {0};
    struct mg_page page = {.command = o->name,
                           .program = program,
                           .cwd = o->style.cwd,
                           .device = &session->device,
                           .tally = &session->tally,
                           .findings = &session->findings,
                           .advices = &session->advices,
                           .pictures = &session->pictures,
                           .given = &session->given,
                           .errors = session->error_objects.at,
                           .occupancy = occupancy,
                           .arg = (void *)(uintptr_t)o};
    mg__tally_sort(&session->tally);
    if (!mg__render_html(&page, &text)) {
        mg__strbuf_free(&text);
        return mg__cli_complain(o, "--html %s: out of memory", o->html);
    }
    bool written = mg__output_write(o, o->html, &text);
    mg__strbuf_free(&text);
    if (!written)
        return MG_EXIT_SETUP;
    mg__cli_say(o, "%s: open it in a browser", o->html);
    return -1;
}
