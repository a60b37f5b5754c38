/* touched.c - which words the additions of compiled code touch (lanes_add.c), from there to the observers. */
#include "simt/engine_priv.h"

void mg__touched_settle(struct mg_worker *worker)
{
    struct mg_touched *t = &worker->touched;
    const struct mg_run *run = worker->run;
    for (unsigned k = 0; k < run->nobservers && t->nmaps; k++)
        if (run->observers[k].wants & MG_OBSERVE_SHAPES)
            run->observers[k].touched(worker->observers[k], t->insn, t->var, t->map, t->nmaps);
    t->nmaps = 0;
}

bool mg__touched_aim(struct mg_warp *w, const struct mg_op *op)
{
    const struct mg_run *run = w->worker->run;
    const struct mg_mem *m = op->u.mem;
    const uint32_t *a = mg__slot(w, m->addr);
    struct mg_touched *t = &w->worker->touched;
    uint32_t least = ~0u, most = 0;
    for (unsigned i = 0; i < 32; i++) {
        uint32_t at = a[i] + (uint32_t)m->offset;
        least = MG_MIN(least, at);
        most = MG_MAX(most, at);
    }
    if (least & 3 || most - least >= 4 * MG_TOUCHED || most > w->block->shared_size - 4u || w->block->shared_size < 4)
        return false;
    int32_t var = mg__shared_var_of(run, least, (uint64_t)most + 4);
    uint32_t from = var < 0 ? 0 : run->shared_vars[var].offset,
             to = var < 0 ? w->block->shared_size : from + run->shared_vars[var].size;
    for (unsigned k = 0; k < run->nobservers; k++) {
        const struct mg_observer *o = &run->observers[k];
        if ((o->wants & MG_OBSERVE_SHAPES) && (!o->touched || !o->touched(w->worker->observers[k], op->insn, var, NULL, 0)))
            return false;
    }
    mg__touched_settle(w->worker);
    t->insn = op->insn;
    t->var = var;
    t->told = run->want_shapes;
    t->first = to - from > 4 * MG_TOUCHED ? least : (from + 3) & ~3u; /* all of a small array */
    t->reach = MG_MIN((to - 4 - t->first) / 4, MG_TOUCHED - 1);
    return true;
}
