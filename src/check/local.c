/* local.c - accesses to threads' local memory, of which a bit a byte says whether its thread has written it. */
#include "check/watch.h"

/* Of at most 32 bytes, which most often are in one word of bits. */
static inline uint32_t unset(const uint64_t *bits, uint64_t from, unsigned n)
{
    uint64_t missing = ~bits[from / 64] >> (from % 64);
    if (from % 64 + n > 64)
        missing |= ~bits[from / 64 + 1] << (64 - from % 64);
    return (uint32_t)(missing & ((1ull << n) - 1));
}

static inline void set_bits(uint64_t *bits, uint64_t from, unsigned n, uint32_t missing)
{
    const uint64_t all = (1ull << n) - 1;
    const unsigned by = from % 64;
    bits[from / 64] = (bits[from / 64] | all << by) & ~((uint64_t)missing << by);
    if (by + n > 64)
        bits[from / 64 + 1] = (bits[from / 64 + 1] | all >> (64 - by)) & ~((uint64_t)missing >> (64 - by));
}

/* A store of the same bytes by all lanes of the warp: they may follow on what all have written. */
static inline void extend(struct local_all *all, uint64_t from, uint64_t to)
{
    if (all->from == all->to || from > all->to || to < all->from) {
        if (to - from > all->to - all->from)
            *all = (struct local_all){from, to};
    } else {
        all->from = MG_MIN(all->from, from);
        all->to = MG_MAX(all->to, to);
    }
}

void mg__local_watch(struct worker *w, struct block *b, struct mg_access *a, const struct site *site)
{
    struct launch *l = w->launch;
    size_t words = mg__block_local_words(l);
    uint32_t mask = a->mask;
    mg__access_lanes(a);
    if (site->source.kind == MG_FLOW_VARIABLE && site->source.var->space == MG_SPACE_LOCAL && l->bounds) {
        for (uint32_t rest = mask; rest && site->object_end; rest &= rest - 1) {
            unsigned lane = (unsigned)__builtin_ctz(rest);
            if (a->address[lane] + a->width <= site->object_end)
                continue;
            mask &= ~(1u << lane);
            mg__watch_note(w, KIND_BOUNDS_VARIABLE, PLACE_LOCAL, -1, a->address[lane], mg__element_of(l, a), a->insn,
                           NO_INSN, mg__watch_actor(a, lane), mg__nobody);
        }
    }
    if (!l->init)
        return;
    if (!b->local[a->warp] && !(b->local[a->warp] = calloc(words * 8, 32)))
        return;
    uint64_t *bits = (uint64_t *)(void *)b->local[a->warp];
    uint32_t missing[32] = {0}, any = 0;
    struct local_all *all = &b->local_all[a->warp];
    uint64_t least, most;
    mg__access_reach(a, &least, &most);
    const bool known = !l->by_lanes && least >= all->from && most + a->width <= all->to;
    for (uint32_t rest = site->reads && !known ? mask : 0; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        any |= missing[lane] = unset(bits + lane * words, a->address[lane], a->width);
    }
    if (any)
        mg__watch_unwritten(w, b, a, missing, KIND_INIT_LOCAL, PLACE_LOCAL, -1, 0);
    if (!site->writes)
        return;
    struct origin origin;
    const bool some = mg__define_written(w, a, missing, &origin);
    if (some)
        *all = (struct local_all){0};
    else if (mask == b->order->live[a->warp] && least == most)
        extend(all, least, least + a->width);
    for (uint32_t rest = some || !known ? mask : 0; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        set_bits(bits + lane * words, a->address[lane], a->width, missing[lane]);
    }
}
