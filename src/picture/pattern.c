/* pattern.c - what the lanes of accesses to shared memory cost, as they are and in other layouts of their variable.
 *
 * The layouts are those of model/layout.h. What is tried is one access of each instruction, the one that is given, as
 * often as the instruction came; `margay advise` tries all different accesses of a launch, and its numbers are exact.
 */
#include "picture/picture.h"

#include "model/layout.h"
#include "model/model.h"

_Static_assert(MG_PICTURE_PHASES == MG_COUNT(((struct mg_phases *)0)->at), "a record holds all phases");

int mg__picture_kind(const char *operation)
{
    return !strcmp(operation, "load")     ? (int)MG_ACCESS_LD
           : !strcmp(operation, "store")  ? (int)MG_ACCESS_ST
           : !strcmp(operation, "atomic") ? (int)MG_ACCESS_ATOM
                                          : -1;
}

void mg__picture_cost(const struct mg_arch *arch, const struct mg_picture_lanes *as,
                      const struct mg_report_access *access, const uint64_t lanes[32], struct mg_report_cost *cost)
{
    struct mg_phases phases;
    struct mg_cost c =
        mg__model_phases(arch, (enum mg_access_kind)as->kind, as->insn, access->width, access->mask, lanes, &phases);
    *cost = (struct mg_report_cost){.taken = c.wavefronts, .ideal = c.ideal, .nphases = phases.n};
    for (unsigned i = 0; i < phases.n; i++) {
        cost->phases[i].from = phases.at[i].from;
        cost->phases[i].lanes = phases.at[i].lanes;
        cost->phases[i].wavefronts = phases.at[i].wavefronts;
    }
}

struct question {
    const struct mg_arch *arch;
    struct mg_report_access *const *access;
    const struct mg_picture_lanes *as;
    unsigned n;
};

static void move(const struct mg_layout *layout, const struct mg_report_access *a, uint64_t lanes[32])
{
    for (unsigned i = 0; i < 32; i++)
        lanes[i] = a->mask >> i & 1 ? a->offset + mg__layout_moved(layout, (uint32_t)(a->lanes[i] - a->offset)) : 0;
}

static void cost_of(void *arg, struct mg_layout_trial *trial)
{
    const struct question *q = arg;
    for (unsigned i = 0; i < q->n; i++) {
        uint64_t lanes[32];
        struct mg_report_cost cost;
        move(&trial->layout, q->access[i], lanes);
        mg__picture_cost(q->arch, &q->as[i], q->access[i], lanes, &cost);
        trial->wavefronts += cost.taken * (double)q->access[i]->count;
        trial->ideal += cost.ideal * (double)q->access[i]->count;
    }
}

static void add_layout(const struct question *q, const char *kind, const struct mg_layout_trial *t)
{
    for (unsigned i = 0; i < q->n; i++) {
        struct mg_report_access *a = q->access[i];
        struct mg_report_layout *l = &a->layouts[a->nlayouts++];
        *l = (struct mg_report_layout){.kind = kind,
                                       .element = t->layout.element,
                                       .row = t->layout.row,
                                       .pad = t->layout.pad,
                                       .xor_mask = t->layout.xor_mask,
                                       .xor_shift = t->layout.xor_shift,
                                       .xor_times = t->layout.xor_times,
                                       .added = t->added};
        move(&t->layout, a, l->lanes);
        mg__picture_cost(q->arch, &q->as[i], a, l->lanes, &l->cost);
    }
}

void mg__picture_layouts(const struct mg_arch *arch, struct mg_report_access *const *access,
                         const struct mg_picture_lanes *as, unsigned n, uint64_t room)
{
    struct question q = {arch, access, as, n};
    struct mg_layout_search search = {
        .arch = arch, .size = n ? access[0]->size : 0, .element = 1, .room = room, .cost = cost_of, .arg = &q};
    double now = 0, ideal = 0;
    for (unsigned i = 0; i < n; i++) {
        search.element = MG_MAX(search.element, access[i]->width);
        now += access[i]->cost.taken * (double)access[i]->count;
        ideal += access[i]->cost.ideal * (double)access[i]->count;
    }
    search.conflicts = now - ideal;
    if (search.conflicts <= 0 || search.size < 2 * search.element)
        return;
    struct mg_layout_rows rows = {.n = 0};
    for (unsigned i = 0; i < n; i++) {
        const struct mg_report_access *a = access[i];
        int32_t at[32];
        for (unsigned k = 0; k < 32; k++)
            at[k] = a->mask >> k & 1 ? (int32_t)a->lanes[k] : 0;
        if (a->cost.taken > a->cost.ideal)
            mg__layout_distances(&rows, search.element, search.size / search.element, a->mask, at,
                                 (a->cost.taken - a->cost.ideal) * (double)a->count);
    }
    mg__layout_search(&search, &rows);
    bool pad = search.pad.any && search.pad.wavefronts < now,
         swizzle = search.swizzle.any && search.swizzle.wavefronts < now;
    bool first = swizzle && (!pad || search.swizzle.wavefronts < search.pad.wavefronts);
    if (first)
        add_layout(&q, "swizzle", &search.swizzle);
    if (pad)
        add_layout(&q, "pad", &search.pad);
    if (swizzle && !first)
        add_layout(&q, "swizzle", &search.swizzle);
}
