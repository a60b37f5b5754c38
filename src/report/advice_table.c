/* advice_table.c - advice in short: a table of a program's kernels, at most a screen. For each kernel the estimate of
 * all launches of the shape that takes longest, what limits the longest of them, and the first piece of advice with
 * what it would save and its line. The pages of advice_text.c, which are of that one launch, have the reasons, the
 * rest, and the other shapes.
 *
 * MOST_KERNELS rows of two lines, a title of three and two lines below: 23 lines at most, whatever the program.
 */
#include "report/render.h"

enum { MOST_KERNELS = 9, NAME_AT = 28, ADVICE_AT = 10 };

static bool plain(struct mg_strbuf *out, const char *text)
{
    return mg__strbuf_append(out, text, strlen(text));
}

/* "22 %: Stage a, b in shared memory  matmul.cu:45": the title gives way to the rest. */
static bool first_advice(struct mg_strbuf *out, const struct mg_style *style, const struct mg_report_advice *a)
{
    const struct mg_report_advice_item *item = a->items;
    struct mg_strbuf place = {0};
    char gain[32] = "";
    unsigned used = 0;
    if (!a->nitems)
        return true;
    bool ok = mg__strbuf_append(&place, "", 0);
    if (strcmp(item->id, "nothing")) {
        snprintf(gain, sizeof(gain), "%.0f %%: ", 100 * item->gain);
        const char *slash = strrchr(item->file, '/'), *file = slash ? slash + 1 : item->file;
        if (item->file[0] && item->line)
            ok = ok && plain(&place, "  ") && mg__layout_text(&place, style, file, strlen(file), 24, &used) &&
                 mg__strbuf_printf(&place, ":%u", item->line);
    }
    unsigned taken = ADVICE_AT + (unsigned)(strlen(gain) + place.count);
    ok = ok && mg__strbuf_printf(out, "%*s%s", ADVICE_AT, "", gain) &&
         mg__layout_text(out, style, item->title, strlen(item->title),
                         MG_MAX(style->width - MG_MIN(style->width, taken), 16u), NULL) &&
         plain(out, place.at) && plain(out, "\n");
    mg__strbuf_free(&place);
    return ok;
}

static bool row(struct mg_strbuf *out, const struct mg_style *style, const struct mg_advice_row *r)
{
    const struct mg_report_advice *a = &r->advice;
    const char *own = mg__kernel_own_name(a->kernel);
    struct mg_strbuf shape = {0};
    char time[MG_DURATION];
    size_t start, length;
    mg__kernel_bare_name(own, &start, &length);
    mg__layout_duration(time, r->all);
    bool ok = plain(&shape, "  ") && mg__layout_dim3(&shape, style, a->grid) &&
              plain(&shape, (uint64_t)a->grid.x * a->grid.y * a->grid.z == 1 ? " block of " : " blocks of ") &&
              mg__layout_dim3(&shape, style, a->block) &&
              (r->launches <= 1 || mg__strbuf_printf(&shape, ", %llu launches", (unsigned long long)r->launches));
    unsigned room = style->width - MG_MIN(style->width, NAME_AT + (unsigned)shape.count);
    ok = ok && mg__strbuf_printf(out, "%8s  %-17s  ", time, a->status == MG_OK ? a->limiter : "it failed") &&
         mg__layout_tone(out, style, MG_TONE_BOLD, true) &&
         mg__layout_text(out, style, own, start + length, MG_MAX(room, 16u), NULL) &&
         mg__layout_tone(out, style, MG_TONE_BOLD, false) && plain(out, shape.at) && plain(out, "\n") &&
         first_advice(out, style, a);
    mg__strbuf_free(&shape);
    return ok;
}

/* Whether a shape that takes longer has the kernel's row. */
static bool has_row(const struct mg_advices *advices, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (!strcmp(advices->at.at[i]->advice.mangled, advices->at.at[at]->advice.mangled))
            return true;
    return false;
}

bool mg__render_advice_table(const struct mg_advices *advices, const struct mg_style *style, struct mg_strbuf *out)
{
    size_t kernels = 0, shapes = 0;
    bool further = false;
    if (!advices->at.count)
        return plain(out, "margay: no kernel was launched\n");
    const struct mg_report_advice *first = &advices->at.at[0]->advice;
    bool ok = mg__strbuf_printf(out, "margay %s: advice for the %s (compute capability %u.%u)\n\n", MG_VERSION_STRING,
                                first->board, first->cc / 10, first->cc % 10) &&
              mg__layout_tone(out, style, MG_TONE_DIM, true) &&
              plain(out, "estimate  limited by         kernel, and what would save most of its time\n") &&
              mg__layout_tone(out, style, MG_TONE_DIM, false);
    for (size_t i = 0; ok && i < advices->at.count; i++) {
        further |= advices->at.at[i]->advice.nitems > 1;
        if (has_row(advices, i))
            shapes++;
        else if (kernels++ < MOST_KERNELS)
            ok = row(out, style, advices->at.at[i]);
    }
    size_t hidden = kernels - MG_MIN(kernels, (size_t)MOST_KERNELS);
    uint64_t others = shapes + advices->left_out;
    if (ok && (hidden || others)) {
        ok = plain(out, "Not shown, as they take less: ") &&
             (!hidden || mg__strbuf_printf(out, "%zu kernel%s", hidden, hidden == 1 ? "" : "s")) &&
             (!hidden || !others || plain(out, ", ")) &&
             (!others ||
              mg__strbuf_printf(out, "%llu launch shape%s", (unsigned long long)others, others == 1 ? "" : "s")) &&
             plain(out, "\n");
    }
    return ok && mg__strbuf_printf(out, "Why and how%s: margay advise NAME, or --full\n",
                                   further ? ", and further advice" : "");
}
