/* pictures.c - records of pictures, kept as they came: one a kernel and shape of launch, in the order of launches. */
#include "report/render.h"

enum { MOST = 1000 };
#define MOST_BYTES ((size_t)64 << 20)

void mg__pictures_init(struct mg_picture_rows *p)
{
    memset(p, 0, sizeof(*p));
}

void mg__pictures_free(struct mg_picture_rows *p)
{
    for (size_t i = 0; i < p->at.count; i++) {
        free(p->at.at[i].json);
        free(p->at.at[i].mangled);
    }
    mg__vec_free(&p->at);
}

enum mg_status mg__pictures_add(struct mg_picture_rows *p, const struct mg_record *record)
{
    const struct mg_report_launch *of = &record->launch;
    size_t size = strlen(record->json);
    if (p->at.count == MOST || size > MOST_BYTES - p->bytes) {
        p->left_out++;
        return MG_OK;
    }
    struct mg_picture_row row = {.json = strdup(record->json),
                                 .mangled = strdup(of->mangled),
                                 .grid = of->grid,
                                 .block = of->block,
                                 .shared_dynamic = of->shared_dynamic};
    if (!row.json || !row.mangled || !mg__vec_push(&p->at, row)) {
        free(row.json);
        free(row.mangled);
        return MG_ERR_NOMEM;
    }
    p->bytes += size;
    return MG_OK;
}

bool mg__pictures_json(const struct mg_picture_rows *p, struct mg_strbuf *out)
{
    bool ok = mg__strbuf_append(out, "[", 1);
    for (size_t i = 0; ok && i < p->at.count; i++)
        ok = mg__strbuf_printf(out, "%s%s", i ? ",\n" : "\n", p->at.at[i].json);
    return ok && mg__strbuf_append(out, "]", 1);
}
