/* note.c - what the watching files have noticed: a worker's block by its number, an occurrence, lanes that read what
 * nobody wrote.
 */
#include "check/watch.h"

/* ---- blocks ---- */
struct block *mg__watch_block(struct worker *w, uint64_t linear)
{
    if (w->current && w->current->busy && w->current->linear == linear)
        return w->current;
    for (size_t i = 0; i < w->blocks.count; i++)
        if (w->blocks.at[i]->busy && w->blocks.at[i]->linear == linear)
            return w->current = w->blocks.at[i];
    return NULL;
}

/* ---- what was noticed ---- */
void mg__watch_note(struct worker *w, enum check_kind kind, enum place_kind place, int32_t object, uint64_t offset,
                    uint32_t width, uint32_t insn, uint32_t other, struct actor who, struct actor with)
{
    struct occurrence o = {.kind = (uint8_t)kind,
                           .place = (uint8_t)place,
                           .insn = insn,
                           .other = other,
                           .object = object,
                           .count = 1,
                           .who = who,
                           .with = with,
                           .offset = offset,
                           .width = width};
    mg__tally_note(&w->tally, &o);
}

/* Lanes read bytes that nobody wrote. What can be followed is; else it is told at once. */
void mg__watch_unwritten(struct worker *w, const struct block *b, const struct mg_access *a, uint32_t missing[32],
                         enum check_kind kind, enum place_kind place, int32_t object, uint64_t base)
{
    struct launch *l = w->launch;
    unsigned first = 0;
    while (first < 32 && !(a->mask >> first & 1 && missing[first]))
        first++;
    if (first == 32)
        return;
    unsigned element = mg__element_of(l, a);
    struct origin origin = {.insn = a->insn,
                            .width = element,
                            .object = object,
                            .place = (uint8_t)place,
                            .who = mg__watch_actor(a, first),
                            .offset = a->address[first] + (unsigned)__builtin_ctz(missing[first]) - base};
    if (place == PLACE_SHARED)
        mg__hole_origin(b, a->address[first], missing[first], &origin);
    if (mg__define_read(w, a, missing, &origin))
        return;
    for (uint32_t rest = a->mask; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        if (missing[lane])
            mg__watch_note(w, kind, place, object, a->address[lane] + (unsigned)__builtin_ctz(missing[lane]) - base,
                           element, a->insn, NO_INSN, mg__watch_actor(a, lane), mg__nobody);
    }
}
