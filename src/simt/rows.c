/* rows.c - accesses whose lanes lie anywhere in one object (lanes_rows.c): which object that is, and what of them goes
 * to the observers.
 */
#include "simt/engine_priv.h"

#define SERVES 4u                 /* accesses that an object must serve to be worth its finding */
#define ASTRAY_AFTER 16u          /* objects in a row that do not */
#define ASTRAY_FOR 1000u          /* accesses until they are looked for again */
#define REACH ((uint64_t)1 << 30) /* bytes around an access, of an object that is larger */

/* Accesses with lane 0 at a byte of its sector and the others from there on, so many at each byte. */
static void settle_counted(struct mg_worker *worker, const struct mg_rows *r, uint32_t mask, const uint32_t from[32],
                           uint32_t times[32])
{
    struct mg_access *e = mg__access_begin(worker, r->op->insn, r->op->u.mem, r->op->u.mem->space, mask, r->var);
    const uint64_t base = r->base + REACH; /* lanes may lie below lane 0 */
    e->address = worker->spread.address;
    for (unsigned at = 0; at < 32; at++) {
        if (!times[at])
            continue;
        for (unsigned i = 0; i < 32; i++)
            worker->spread.address[i] = base + at + (uint64_t)(int64_t)(int32_t)from[i];
        e->times = times[at];
        mg__access_event(worker, e, MG_OBSERVE_SHAPES);
        times[at] = 0;
    }
}

void mg__rows_settle_shape(struct mg_worker *worker, const struct mg_rows *r, struct mg_rows_shape *s)
{
    if (s->counted)
        settle_counted(worker, r, s->mask, s->from, s->times);
    s->counted = false;
    s->again = 0;
}

void mg__rows_settle(struct mg_worker *worker, struct mg_rows *r)
{
    for (unsigned k = 0; k < MG_SHAPES; k++)
        mg__rows_settle_shape(worker, r, &r->shapes[k]);
    mg__rows_tell(worker, r);
}

void mg__rows_tell(struct mg_worker *worker, struct mg_rows *r)
{
    if (r->nlines) {
        uint32_t line[32];
        for (unsigned i = 0; i < 32; i++)
            line[i] = i << r->shift;
        settle_counted(worker, r, r->line_mask, line, r->lines);
        r->nlines = 0;
    }
    if (!r->untold)
        return;
    struct mg_access *e = mg__access_begin(worker, r->op->insn, r->op->u.mem, r->op->u.mem->space, r->mask[0], r->var);
    e->base = r->base;
    e->offset = (const uint32_t(*)[32])r->offset;
    e->masks = r->mask;
    e->rows = r->untold;
    mg__access_event(worker, e, MG_OBSERVE_SHAPES);
    r->untold = 0;
}

void mg__rows_window(struct mg_window *window, const struct mg_mem *m, const uint32_t from[32], uint32_t mask)
{
    const unsigned bytes = m->width;
    int32_t least = INT32_MAX, most = INT32_MIN;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int32_t at = (int32_t)from[__builtin_ctz(rest)];
        least = MG_MIN(least, at);
        most = MG_MAX(most, at);
    }
    const uint64_t span = (uint64_t)((int64_t)most - least) + bytes * m->vec;
    window->serves = m->kind == MG_ACCESS_LD && span <= MG_WINDOW && bytes == (m->dst64 ? 8 : 4);
    if (!window->serves)
        return;
    const uint32_t words = (uint32_t)((1ull << span / 4) - 1);
    window->least = (uint32_t)least;
    window->in[0] = (uint16_t)words;
    window->in[1] = (uint16_t)(words >> 16);
    for (unsigned i = 0; i < 32; i++)
        window->index[i] = mask >> i & 1 ? (from[i] - window->least) / bytes : 0;
}

/* Of a load that observers of every access need not hear of: where. */
static const struct mg_unheard *unheard_of(const struct mg_worker *worker, const struct mg_op *op)
{
    const bool loads = op->u.mem->kind == MG_ACCESS_LD && op->u.mem->space == MG_SPACE_GLOBAL;
    const struct mg_unheard *u = loads && worker->run->unheard ? &worker->run->unheard[op->insn] : NULL;
    return u && u->size && !(u->unfollowed && worker->following) ? u : NULL;
}

/* The object that has bytes least … end - 1, or as much of it as 32 bits reach. */
static bool find_object(const struct mg_warp *w, const struct mg_op *op, uint64_t least, uint64_t end,
                        struct mg_rows *r, uint64_t *lo, uint64_t *hi)
{
    const struct mg_mem *m = op->u.mem;
    const struct mg_run *run = w->worker->run;
    r->var = -1;
    if (m->space == MG_SPACE_SHARED) {
        if (end > w->block->shared_size)
            return false;
        r->var = mg__shared_object(w, least, end, lo, hi);
        return r->var >= 0 || run->nshared_vars == 0;
    }
    const struct mg_allocation *a = mg__snapshot_find(run, least);
    const struct mg_unheard *u = unheard_of(w->worker, op);
    if (!a || end > a->address + a->size ||
        (run->want_every && (!u || a->address < u->address || a->address + a->size > u->address + u->size)))
        return false;
    *lo = a->address;
    *hi = a->address + a->size;
    if (*hi - *lo >= 2 * REACH) {
        *lo = least - *lo > REACH ? (least - REACH) & ~(uint64_t)127 : *lo;
        *hi = MG_MIN(*hi, *lo + 2 * REACH - 256);
    }
    return end <= *hi;
}

static bool open_object(const struct mg_warp *w, struct mg_rows *r, const struct mg_op *op, uint32_t mask)
{
    const struct mg_mem *m = op->u.mem;
    const uint64_t bytes = (uint64_t)m->width * m->vec;
    uint64_t address[32], least = UINT64_MAX, most = 0, bits = 0, lo, hi;
    mg__address(w, m, address);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const uint64_t at = address[__builtin_ctz(rest)];
        least = MG_MIN(least, at);
        most = MG_MAX(most, at);
        bits |= at;
    }
    if (!mask || bits & (bytes - 1) || most + bytes < most || !find_object(w, op, least, most + bytes, r, &lo, &hi))
        return false;
    r->from = (lo + bytes - 1) & ~(bytes - 1);
    r->most = (hi - bytes - r->from) >> r->shift;
    r->base = r->from & ~(uint64_t)127;
    r->at = m->space == MG_SPACE_SHARED ? NULL : (uint8_t *)(uintptr_t)r->base;
    return true;
}

struct mg_rows *mg__rows_open(struct mg_warp *w, const struct mg_op *op, uint32_t mask)
{
    const struct mg_mem *m = op->u.mem;
    const struct mg_run *run = w->worker->run;
    struct mg_site *site = &w->sites[m->site];
    struct mg_rows *r = site->rows;
    if (run->want_every && !unheard_of(w->worker, op))
        return NULL;
    if (!r) {
        if (m->addr < 0 || m->cluster ||
            (m->space != MG_SPACE_SHARED && m->space != MG_SPACE_GLOBAL && m->space != MG_SPACE_CONST) ||
            !(r = aligned_alloc(_Alignof(struct mg_rows), sizeof *r)))
            return NULL;
        memset(r, 0, sizeof *r);
        r->op = mg__lasting(w, op);
        r->shift = (uint8_t)__builtin_ctz(m->width * m->vec);
        r->told = run->want_shapes;
        r->counts_lines = m->kind == MG_ACCESS_LD || m->kind == MG_ACCESS_ST;
        site->rows = r;
    }
    if (r->skip) {
        r->skip--;
        return NULL;
    }
    mg__rows_settle(w->worker, r);
    r->astray = r->served >= SERVES ? 0 : r->astray + 1;
    r->served = 0;
    r->open = open_object(w, r, op, mask);
    if (r->astray == ASTRAY_AFTER) {
        r->astray = 0;
        r->skip = ASTRAY_FOR;
    }
    return r->open ? r : NULL;
}
