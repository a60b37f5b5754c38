/* phase.c - phase.h: a few masks for each row of units that was written. */
#include "check/phase.h"

void mg__phase_free(struct mg_phase *p)
{
    free(p->rows);
    free(p->used);
}

bool mg__phase_begin(struct mg_phase *p, const struct mg_order *o, const struct mg_shadow *s, size_t units)
{
    const size_t rows = (units + 32) / 32;
    if (o->partial || s->odd > o->floor || mg__shadow_any_written(s))
        return false;
    if (!p->rows) {
        p->rows = calloc(rows, sizeof(*p->rows));
        p->used = calloc(rows, sizeof(*p->used));
    }
    if (!p->rows || !p->used) {
        mg__phase_free(p);
        *p = (struct mg_phase){0};
    }
    return p->rows;
}

/* The units of an access in one row; those of the next row are asked for with the *k that comes back, which is below
 * m->n as long as there are any. */
static inline uint32_t units_in_row(uint64_t base, const struct mg_memo *m, unsigned *k, uint64_t *row)
{
    if (m->units) { /* of one row, or of two: *k is 0, or what of them is in the first */
        const uint64_t both = (uint64_t)m->units << base % 32;
        *row = base / 32 + (*k != 0);
        *k = *k || !(both >> 32) ? m->n : (unsigned)__builtin_popcount((uint32_t)both);
        return (uint32_t)(*row == base / 32 ? both : both >> 32);
    }
    if (m->n == m->span) {
        const unsigned at = (unsigned)((base + *k) % 32), n = MG_MIN(m->span - *k, 32 - at);
        *row = (base + *k) / 32;
        *k += n;
        return (uint32_t)(((1ull << n) - 1) << at);
    }
    uint32_t units = 0;
    *row = (base + m->unit[*k]) / 32;
    for (; *k < m->n && (base + m->unit[*k]) / 32 == *row; ++*k)
        units |= 1u << (base + m->unit[*k]) % 32;
    return units;
}

static inline struct mg_phase_owner owner_of(uint64_t base, const struct mg_memo *m, uint32_t warp)
{
    return (struct mg_phase_owner){.warp = warp,
                                   .memo = m->in_a_row ? NULL : m,
                                   .from = (int64_t)base - (m->in_a_row ? (int64_t)m->first : 0)};
}

static inline bool same_lanes(const struct mg_phase_owner *a, const struct mg_phase_owner *b)
{
    return a->warp == b->warp && a->memo == b->memo && a->from == b->from;
}

/* The row, in which nobody did anything since the floor but what is told here; NULL: somebody did. */
static inline struct mg_phase_row *row_of(struct mg_phase *p, const struct mg_order *o, const struct mg_shadow *s,
                                          uint64_t r)
{
    struct mg_phase_row *row = &p->rows[r];
    if (!row->n && !row->atomic) {
        if (s->sums[r].read > o->floor || (s->read_rows | s->atom_rows) >> r % 64 & 1)
            return NULL;
        p->used[p->nused++] = (uint32_t)r;
    }
    return row;
}

bool mg__phase_write(struct mg_phase *p, const struct mg_order *o, const struct mg_shadow *s, uint64_t base,
                     const struct mg_memo *m, uint32_t warp)
{
    struct mg_phase_owner me = owner_of(base, m, warp);
    if (m->twice)
        return false;
    for (unsigned k = 0; k < m->n;) {
        uint64_t r;
        me.units = units_in_row(base, m, &k, &r);
        struct mg_phase_row *row = row_of(p, o, s, r);
        if (!row)
            return false;
        struct mg_phase_owner *mine = NULL;
        for (uint32_t i = 0; i < row->n; i++) {
            if (same_lanes(&row->by[i], &me))
                mine = &row->by[i];
            else if (row->by[i].units & me.units)
                return false;
        }
        if (mine)
            mine->units |= me.units;
        else if (row->n < MG_PHASE_OWNERS)
            row->by[row->n++] = me;
        else
            return false;
    }
    return true;
}

bool mg__phase_atomic(struct mg_phase *p, const struct mg_order *o, const struct mg_shadow *s,
                      const struct mg_held_lanes *lanes)
{
    for (uint32_t rest = lanes->mask; rest; rest &= rest - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(rest);
        const uint32_t units = mg__held_units(lanes, lane);
        struct mg_phase_row *row = row_of(p, o, s, lanes->unit[lane] / 32);
        if (!row)
            return false;
        for (uint32_t i = 0; i < row->n; i++)
            if (row->by[i].units & units)
                return false;
        row->atomic |= units;
    }
    return true;
}

bool mg__phase_read_lanes(const struct mg_phase *p, const struct mg_held_lanes *lanes, uint32_t warp)
{
    for (uint32_t rest = lanes->mask; rest; rest &= rest - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(rest);
        const uint32_t u = lanes->unit[lane], units = mg__held_units(lanes, lane);
        const struct mg_phase_row *row = &p->rows[u / 32];
        bool conflict = row->atomic & units;
        for (uint32_t i = 0; i < row->n; i++) {
            const struct mg_phase_owner *by = &row->by[i];
            conflict |= by->units & units && (by->warp != warp || by->memo || lanes->each > 1 || by->from + lane != u);
        }
        if (conflict)
            return false;
    }
    return true;
}

bool mg__phase_read(const struct mg_phase *p, uint64_t base, const struct mg_memo *m, uint32_t warp)
{
    const struct mg_phase_owner me = owner_of(base, m, warp);
    for (unsigned k = 0; k < m->n;) {
        uint64_t r;
        const uint32_t units = units_in_row(base, m, &k, &r);
        const struct mg_phase_row *row = &p->rows[r];
        if (row->atomic & units)
            return false;
        for (uint32_t i = 0; i < row->n; i++)
            if (row->by[i].units & units && !same_lanes(&row->by[i], &me))
                return false;
    }
    return true;
}

void mg__phase_end(struct mg_phase *p, const struct mg_order *o, struct mg_shadow *s, bool plain)
{
    for (uint32_t i = 0; i < p->nused; i++) {
        const uint32_t r = p->used[i];
        struct mg_phase_row *row = &p->rows[r];
        struct mg_row_sum *sum = &s->sums[r];
        uint32_t units = 0;
        for (uint32_t k = 0; k < row->n; k++)
            units |= row->by[k].units;
        row->n = row->atomic = 0;
        if (!plain || !units || (sum->begun == o->begin && !(units & ~sum->units)))
            continue;
        struct mg_order_row *cells = &s->rows[r];
        for (unsigned k = 0; k < 32; k++) { /* by whom is nobody's question any more */
            cells->w_time[k] = units >> k & 1 ? o->now : cells->w_time[k];
            cells->w_who[k] = units >> k & 1 ? 0 : cells->w_who[k];
        }
        s->written[r] |= units;
        sum->written = o->now;
        sum->units = units | (sum->begun == o->begin ? sum->units : 0);
        sum->begun = o->begin;
    }
    p->nused = 0;
}
