/* again.c - the same launch once more: a program launches a kernel a thousand times, and but for how long the host took
 * each time its records are one. Making the text of one takes some 30 us, so the latest texts are kept.
 *
 * Two launches are the same if all that goes into the text is, byte by byte; nothing rests on a hash alone.
 */
#include "report/report_priv.h"

#define LARGEST ((size_t)256 * 1024) /* bytes of one launch that are kept */

static bool put(struct mg_strbuf *key, const void *data, size_t size)
{
    return mg__strbuf_append(key, data, size);
}

/* NULL and "" differ. */
static bool put_text(struct mg_strbuf *key, const char *text)
{
    return put(key, text ? "+" : "-", 1) && put(key, text ? text : "", text ? strlen(text) + 1 : 1);
}

/* All that is said of a launch but its time. */
static bool make_key(struct mg_strbuf *key, const struct mg_report_launch *l)
{
    const uint32_t numbers[] = {l->device,         l->grid.x,  l->grid.y,           l->grid.z,
                                l->block.x,        l->block.y, l->block.z,          l->shared_static,
                                l->shared_dynamic, l->regs,    (uint32_t)l->status, l->waits};
    const uint64_t counts[] = {l->nlines, l->nvars};
    bool ok = put(key, numbers, sizeof(numbers)) && put(key, counts, sizeof(counts)) && put_text(key, l->kernel) &&
              put_text(key, l->mangled) && put_text(key, l->regs_from) && put(key, l->metrics.v, sizeof(l->metrics.v));
    for (size_t i = 0; ok && i < l->nlines; i++) {
        const struct mg_report_line *line = &l->lines[i];
        const uint32_t where[] = {line->line, line->written.loads, line->written.stores, line->written.atomics,
                                  line->written.guarded};
        ok = put(key, where, sizeof(where)) && put_text(key, line->file) &&
             put(key, line->metrics.v, sizeof(line->metrics.v));
    }
    for (size_t i = 0; ok && i < l->nvars; i++) {
        const uint32_t where[] = {l->vars[i].offset, l->vars[i].size};
        ok = put(key, where, sizeof(where)) && put_text(key, l->vars[i].name) &&
             put(key, l->vars[i].metrics.v, sizeof(l->vars[i].metrics.v));
    }
    return ok;
}

/* Where the number behind `"seconds": ` is in the text. No string of JSON has a bare quote, so this is the name. */
static bool find_seconds(const char *text, size_t *from, size_t *to)
{
    static const char name[] = "\"seconds\": ";
    const char *at = strstr(text, name);
    if (!at)
        return false;
    *from = (size_t)(at - text) + sizeof(name) - 1;
    *to = *from + strspn(text + *from, "0123456789.");
    return true;
}

bool mg__again_launch(struct mg_again *again, const struct mg_report_launch *launch, struct mg_strbuf *out)
{
    struct mg_strbuf key = {0}, text = {0};
    if (launch->sample || !make_key(&key, launch)) {
        mg__strbuf_free(&key);
        return mg__report_launch_json(launch, again->brief, out);
    }
    const uint64_t hash = mg__hash(key.at, key.count);
    struct mg_again_text *t = &again->at[hash % MG_AGAIN];
    if (t->hash == hash && t->key.count == key.count && !memcmp(t->key.at, key.at, key.count)) {
        mg__strbuf_free(&key);
        return mg__strbuf_append(out, t->text.at, t->from) && mg__json_seconds(out, launch->seconds) &&
               mg__strbuf_append(out, t->text.at + t->to, t->text.count - t->to);
    }
    size_t from, to;
    if (!mg__report_launch_json(launch, again->brief, &text) || !mg__strbuf_append(out, text.at, text.count)) {
        mg__strbuf_free(&key);
        mg__strbuf_free(&text);
        return false;
    }
    if (key.count > LARGEST || text.count > LARGEST || !find_seconds(text.at, &from, &to)) {
        mg__strbuf_free(&key);
        mg__strbuf_free(&text);
        return true;
    }
    mg__strbuf_free(&t->key);
    mg__strbuf_free(&t->text);
    *t = (struct mg_again_text){.hash = hash, .key = key, .text = text, .from = from, .to = to};
    return true;
}

void mg__again_free(struct mg_again *again)
{
    for (unsigned i = 0; i < MG_AGAIN; i++) {
        mg__strbuf_free(&again->at[i].key);
        mg__strbuf_free(&again->at[i].text);
    }
}
