/* segment.c - the cells of global memory that a block has touched since its last barrier, in rows of 32 units.
 *
 * A row is found in a hash table by its address. Most rows are used by one warp in one way, each unit by the same lane:
 * of such a row the table says all that there is to say (a slot: the shape, where it lies, the latest write and read).
 * When somebody else comes the row gets cells, one for each unit, as shared memory has (order.h).
 */
#include "check/check_priv.h"

enum { SEGMENTS_MOST = 1u << 16, ROWS_AT_ONCE = 64 };

static size_t place_of(const struct segments *s, uint64_t key)
{
    return key * 0x9e3779b97f4a7c15ull >> 20 & (s->capacity - 1);
}

static bool grow(struct segments *s)
{
    struct segments old = *s;
    s->capacity = MG_MAX(old.capacity * 2, 64u);
    s->slots = calloc(s->capacity, sizeof(*s->slots));
    if (!s->slots) {
        *s = old;
        return false;
    }
    s->stamp = MG_MAX(s->stamp, 1u);
    for (uint32_t k = 0; k < old.capacity; k++) {
        if (old.slots[k].stamp != s->stamp)
            continue;
        size_t h = place_of(s, old.slots[k].key);
        while (s->slots[h].stamp == s->stamp)
            h = (h + 1) & (s->capacity - 1);
        s->slots[h] = old.slots[k];
    }
    free(old.slots);
    return true;
}

/* The slot of the row, made if need be; NULL: no more are kept. */
static struct segment *find(struct segments *s, uint64_t key)
{
    size_t h = s->capacity ? place_of(s, key) : 0;
    for (; s->capacity && s->slots[h].stamp == s->stamp; h = (h + 1) & (s->capacity - 1))
        if (s->slots[h].key == key)
            return &s->slots[h];
    if (s->count == SEGMENTS_MOST)
        return NULL;
    if (s->count * 2 >= s->capacity) {
        if (!grow(s))
            return NULL;
        for (h = place_of(s, key); s->slots[h].stamp == s->stamp; h = (h + 1) & (s->capacity - 1))
            ;
    }
    s->count++;
    s->slots[h] = (struct segment){.key = key, .stamp = s->stamp};
    return &s->slots[h];
}

/* The slot's row, given cells if it has none; NULL: no memory. Rows stay where they are. */
static struct mg_order_row *cells_of(struct segments *s, struct segment *slot)
{
    if (slot->row)
        return slot->row;
    if (s->nrows == s->rows.count * ROWS_AT_ONCE) {
        struct mg_order_row *more = malloc(ROWS_AT_ONCE * sizeof(*more));
        if (!more || !mg__vec_push(&s->rows, more)) {
            free(more);
            return NULL;
        }
    }
    struct mg_order_row *row = &s->rows.at[s->nrows / ROWS_AT_ONCE][s->nrows % ROWS_AT_ONCE];
    s->nrows++;
    memset(row, 0, sizeof(*row));
    const struct mg_memo *m = slot->memo;
    for (unsigned k = 0; m && k < m->n; k++) {
        uint64_t u = slot->base + (m->n == m->span ? k : m->unit[k]);
        if (u / 32 != slot->key)
            continue;
        if (slot->r_time) {
            row->r_time[u % 32] = slot->r_time;
            row->r_who[u % 32] = slot->r_who | m->lane[k];
        }
        if (slot->w_time) {
            row->w_time[u % 32] = slot->w_time;
            row->w_who[u % 32] = slot->w_who | m->lane[k];
        }
    }
    return slot->row = row;
}

struct mg_order_row *mg__segment_row(struct segments *s, uint64_t unit)
{
    struct segment *slot = find(s, unit / 32);
    return slot ? cells_of(s, slot) : NULL;
}

struct mg_order_row *mg__segment_known(struct segments *s, uint64_t unit)
{
    for (size_t h = s->capacity ? place_of(s, unit / 32) : 0; s->capacity && s->slots[h].stamp == s->stamp;
         h = (h + 1) & (s->capacity - 1))
        if (s->slots[h].key == unit / 32)
            return cells_of(s, &s->slots[h]);
    return NULL;
}

/* Whether a slot without cells can stand for this access too. */
static bool agrees(const struct mg_order *o, const struct segment *slot, uint64_t base, const struct mg_memo *m,
                   uint32_t who)
{
    if (slot->w_time <= o->floor && slot->r_time <= o->floor)
        return true; /* what was, matters no more */
    uint32_t old = slot->w_time ? slot->w_who : slot->r_who;
    return slot->memo == m && slot->base == base && !((old ^ who) & 31u << 16) /* the warp */;
}

bool mg__segments_quick(const struct mg_order *o, struct segments *s, uint64_t base, const struct mg_memo *m,
                        uint32_t who, bool writes, bool lasts)
{
    const bool dense = m->n == m->span;
    bool waits = true; /* something is to be done once all is known to be free */
    for (unsigned apply = 0; apply < 2 && waits; apply++) {
        waits = false;
        for (unsigned k = 0, n; k < m->n; k += n) {
            uint64_t first = base + (dense ? k : m->unit[k]);
            unsigned at = first % 32;
            n = 1;
            if (dense)
                n = MG_MIN(m->n - k, 32 - at);
            else
                while (k + n < m->n && (base + m->unit[k + n]) / 32 == first / 32)
                    n++;
            struct segment *slot = find(s, first / 32);
            if (!slot)
                return false;
            if (lasts && !slot->row && (apply || agrees(o, slot, base, m, who))) {
                waits = true;
                if (!apply)
                    continue;
                if (slot->w_time <= o->floor)
                    slot->w_time = 0;
                if (slot->r_time <= o->floor)
                    slot->r_time = 0;
                slot->memo = m;
                slot->base = base;
                const bool both =
                    !writes && slot->r_time > mg__quick_met(o, who); /* quick.c: the site that tells more */
                const uint32_t site = (both && mg__order_own(who) && !mg__order_own(slot->r_who) ? slot->r_who : who);
                *(writes ? &slot->w_time : &slot->r_time) = o->now;
                *(writes ? &slot->w_who : &slot->r_who) = (who & ~(uint32_t)UINT16_MAX) | (site & UINT16_MAX);
                continue;
            }
            struct mg_order_row *row = cells_of(s, slot);
            if (!row)
                return false;
            waits |= dense;
            if (dense ? !mg__quick_row(o, row, at, n, who, &m->lane[k], writes, apply)
                      : !apply && !mg__quick_units(o, row, base, m->unit + k, m->lane + k, n, who, writes))
                return false;
        }
    }
    return true;
}

void mg__segments_forget(struct segments *s)
{
    s->count = s->nrows = 0;
    if (++s->stamp == 0 && s->slots) {
        memset(s->slots, 0, s->capacity * sizeof(*s->slots));
        s->stamp = 1;
    }
}

void mg__segments_free(struct segments *s)
{
    for (size_t k = 0; k < s->rows.count; k++)
        free(s->rows.at[k]);
    mg__vec_free(&s->rows);
    free(s->slots);
}
