/* deferred.c - stores that compiled code defers (engine.h, struct mg_engine_deferred), and does here together.
 *
 * A warp whose lanes each write a word of another line, as in a transposition, misses the first cache 32 times, and so
 * does the next warp, which writes the words beside those. Lane by lane each line is fetched once for all of them.
 */
#include "simt/engine_priv.h"

#define LINES_AHEAD 6u

MG_NO_TSAN static inline void put(uint64_t to, uint32_t value)
{
    *(uint32_t *)(uintptr_t)to = value;
}

/* Of one lane after the other, each in the order in which they came. */
MG_NO_TSAN static void by_lane(const struct mg_engine_deferred *l, uint32_t row)
{
    for (uint32_t x = 0; x < row; x++) {
        const uint64_t offset = x * l->step, ahead = offset + LINES_AHEAD * l->step;
        __builtin_prefetch((void *)(uintptr_t)(l->least + ahead), 1);
        __builtin_prefetch((void *)(uintptr_t)(l->most + ahead), 1);
        for (uint64_t k = 0; k < l->n; k++)
            put(l->at[k] + offset, l->value[k][x]);
    }
}

MG_NO_TSAN static void in_order(const struct mg_engine_deferred *l, uint32_t row)
{
    for (uint64_t k = 0; k < l->n; k++)
        for (uint32_t x = 0; x < row; x++)
            put(l->at[k] + x * l->step, l->value[k][x]);
}

void mg__deferred_settle(struct mg_engine_deferred *l, uint32_t row)
{
    if (l->limit)
        by_lane(l, row);
    else
        in_order(l, row);
    l->n = l->limit = l->hi = 0;
    l->lo = UINT64_MAX;
}

void mg__deferred_begin(struct mg_engine_deferred *l, uint32_t row, uint64_t least, uint64_t most, uint64_t step)
{
    if (l->n)
        mg__deferred_settle(l, row);
    const bool down = (int64_t)step < 0;
    const uint64_t apart = down ? -step : step, reach = (row - 1) * apart;
    bool fits = apart >= 4 && most - least <= apart - 4; /* or the rows of this one may meet */
    l->limit = fits ? MG_ENGINE_DEFERRED : 0;
    l->room = fits ? apart - 4 : 0;
    l->step = step;
    /* Wherever the next ones begin: on_miss lets no lanes lie so far apart that this wraps, but at the very start. */
    uint64_t before = apart + (down ? reach : 0);
    l->lo = least > before ? least - before : 0;
    l->hi = most + apart + (down ? 0 : reach) + 4;
}
