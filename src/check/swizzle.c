/* swizzle.c - tiles that a tensor copy wrote with one swizzle and a warpgroup multiplication reads with another.
 *
 * Nothing is out of order and nothing out of bounds: only the elements are not where the descriptor looks for them. A
 * block keeps which bytes of its shared memory tensor copies wrote, and how; the cells of order.c tell whether the
 * bytes that are multiplied are still those. What else wrote them (threads, plain bulk copies) may have laid them out
 * in any way, as may have, before the launch, who fills tensors of one dimension or with interleaved channels.
 */
#include "check/watch.h"

enum { MOST = 256 };

struct tile { /* the units from `first` to `last`, by this instruction */
    uint64_t first, last;
    uint32_t insn;
    uint8_t swizzle;
};
struct tiles {
    MG_VEC(struct tile) list;
};

void mg__swizzle_wrote(struct block *of, const struct mg_access *a, uint64_t first, uint64_t last)
{
    struct tiles *t = of->tiles;
    for (size_t i = t ? t->list.count : 0; i-- > 0;) {
        const struct tile *old = &t->list.at[i];
        if (old->first <= last && first <= old->last &&
            (old->insn == a->insn || (first <= old->first && old->last <= last)))
            t->list.at[i] = t->list.at[--t->list.count];
    }
    if (!a->swizzle || (!t && !(t = of->tiles = calloc(1, sizeof *t))) || t->list.count == MOST)
        return;
    (void)mg__vec_push(&t->list, ((struct tile){first, last, a->insn, a->swizzle}));
}

bool mg__swizzle_read(struct worker *w, const struct block *b, const struct mg_access *a, uint64_t unit)
{
    const struct launch *l = w->launch;
    const struct mg_order_row *row = &b->shared.rows[unit / 32];
    const struct mg_order_who who = mg__order_unpack(row->w_who[unit % 32]);
    const uint32_t wrote = row->w_time[unit % 32];
    if (!b->tiles || !wrote || wrote <= b->order->begin || who.warp != MG_ORDER_AGENT || !who.site ||
        who.site > l->code.nnumbers)
        return false;
    const uint32_t insn = l->code.insn_of[who.site];
    const struct tile *found = NULL;
    for (size_t i = 0; i < b->tiles->list.count && !found; i++) {
        const struct tile *t = &b->tiles->list.at[i];
        if (t->insn == insn && t->first <= unit && unit <= t->last)
            found = t;
    }
    if (!found || found->swizzle == a->swizzle)
        return false;
    const uint64_t offset = unit << l->code.unit_shared;
    const int32_t object = mg__watch_shared_object(l, offset);
    mg__tally_note(&w->tally,
                   &(struct occurrence){.kind = KIND_BOUNDS_SWIZZLE,
                                        .place = PLACE_SHARED,
                                        .insn = a->insn,
                                        .other = insn,
                                        .object = object,
                                        .count = 1,
                                        .who = {b->linear, (uint16_t)a->warp, MG_ORDER_MANY},
                                        .with = mg__nobody,
                                        .offset = object < 0 ? offset : offset - l->info->shared_vars[object].offset,
                                        .width = 4,
                                        .value = {a->swizzle, found->swizzle, a->of_b}});
    return true;
}

void mg__swizzle_forget(struct block *b, bool all)
{
    if (b->tiles)
        b->tiles->list.count = 0;
    if (b->tiles && all) {
        mg__vec_free(&b->tiles->list);
        free(b->tiles);
        b->tiles = NULL;
    }
}

/* ---- in words ---- */
static bool put(struct mg_strbuf *out, uint32_t swizzle)
{
    return swizzle > 1 ? mg__strbuf_printf(out, "a swizzle of %u bytes", 16u << (swizzle - 1))
                       : mg__strbuf_printf(out, "no swizzle");
}

bool mg__swizzle_say(const struct occurrence *o, const char *name, struct mg_strbuf *out)
{
    return mg__strbuf_printf(out, " multiply %s as matrix %c, whose descriptor says ", name, o->value[2] ? 'B' : 'A') &&
           put(out, o->value[0]) && mg__strbuf_printf(out, ", and the tensor map of the copy that wrote it says ") &&
           put(out, o->value[1]);
}

bool mg__swizzle_fix(const struct occurrence *o, struct mg_strbuf *out)
{
    static const char *const names[] = {"NONE", "32B", "64B", "128B"};
    const uint32_t map = (o->value[1] - 1) & 3;
    return mg__strbuf_printf(
        out,
        "Make the map with CU_TENSOR_MAP_SWIZZLE_%s, or the descriptor for what the map says: bits "
        "62 and 63 are %u, and lines lie %u bytes apart.",
        names[(o->value[0] - 1) & 3], map ? 4 - map : 0, 16u << map);
}
