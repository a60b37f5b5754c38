/* touched.c - which words the additions of compiled code touch (lanes_add.c), from there to the observers. */
#include "simt/engine_priv.h"

#define SERVES 8u        /* accesses that a window must serve to be worth its opening */
#define ASTRAY_AFTER 8u  /* windows in a row that do not */
#define ASTRAY_FOR 1000u /* accesses until they are looked at again */

void mg__touched_settle(struct mg_worker *worker, struct mg_touched *t)
{
    if (!t->untold)
        return;
    struct mg_access *e = mg__access_begin(worker, t->op->insn, t->op->u.mem, MG_SPACE_SHARED, ~0u, t->var);
    e->base = t->first;
    e->reach = t->reach;
    e->word = t->word[0];
    e->touched = t->map;
    e->rows = t->untold;
    mg__access_event(worker, e, MG_OBSERVE_SHAPES);
    t->untold = 0;
}

/* The window around words from offset `least` to `most`. */
static bool open_window(const struct mg_warp *w, struct mg_touched *t, uint32_t least, uint32_t most)
{
    uint32_t size = w->block->shared_size;
    uint64_t from, to;
    if (least & 3 || most - least >= 4 * MG_TOUCHED || size < 4 || most > size - 4)
        return false;
    t->var = mg__shared_object(w, least, (uint64_t)most + 4, &from, &to);
    t->first = to - from > 4 * MG_TOUCHED ? least : ((uint32_t)from + 3) & ~3u; /* all of a small array */
    t->reach = MG_MIN(((uint32_t)to - 4 - t->first) / 4, MG_TOUCHED - 1);
    t->told = w->worker->run->want_shapes;
    return true;
}

struct mg_touched *mg__touched_window(struct mg_warp *w, const struct mg_op *op)
{
    const struct mg_mem *m = op->u.mem;
    const uint32_t *a = mg__slot(w, m->addr);
    struct mg_site *site = &w->sites[m->site];
    struct mg_touched *t = site->touched;
    uint32_t least = ~0u, most = 0;
    if (!t) {
        if (!(t = site->touched = aligned_alloc(_Alignof(struct mg_touched), sizeof *t)))
            return NULL;
        memset(t, 0, sizeof *t);
    }
    if (t->skip) {
        t->skip--;
        return NULL;
    }
    for (unsigned i = 0; i < 32; i++) {
        uint32_t at = a[i] + (uint32_t)m->offset;
        least = MG_MIN(least, at);
        most = MG_MAX(most, at);
    }
    mg__touched_settle(w->worker, t);
    t->op = mg__lasting(w, op);
    t->astray = t->served >= SERVES ? 0 : t->astray + 1;
    t->served = 0;
    t->open = open_window(w, t, least, most);
    if (t->astray == ASTRAY_AFTER) {
        t->astray = 0;
        t->skip = ASTRAY_FOR;
    }
    return t->open ? t : NULL;
}
