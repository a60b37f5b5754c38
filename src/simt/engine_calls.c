/* engine_calls.c - what compiled code calls (engine.h, mg_engine_calls), and the accesses that it has counted, on their
 * way to the observers.
 *
 * An access whose lanes lie on a line is compared with the record of its site; where it does not fit, on_miss looks
 * whether the record can be made to. Operations that are not compiled are the interpreter's handlers, called with
 * operands in the frame.
 */
#include "simt/engine_priv.h"

/* All lanes from lane 0: by the site's shape among the phase's, else by the record's coefficients. */
static void deltas_of(const struct mg_worker *worker, const struct mg_engine_shape *shapes,
                      const struct mg_engine_site *site, uint64_t cx, uint64_t cy, int64_t delta[32])
{
    const uint32_t row = worker->tier->code->row;
    uint64_t begins = 0, at = 0;
    for (uint32_t lane = 0, x = 0; lane < 32; lane++) { /* no division for each */
        const bool over = ++x == row;
        delta[lane] = site->shape ? (int32_t)shapes[site->shape - 1].from[lane] : (int64_t)at;
        x = over ? 0 : x;
        begins += over ? cy : 0;
        at = over ? begins : at + cx;
    }
}

/* Lanes that lie farther from lane 0 go by a call. */
#define FAR (UINT64_C(1) << 30)

/* How far the lanes that make an access lie from lane 0; `bits` has one below an alignment if any of them is without
 * it, and may have one where none is. */
struct reach {
    int64_t low, high;
    uint64_t bits;
};
static struct reach reach_of(const struct mg_worker *worker, const struct mg_engine_shape *shapes,
                             const struct mg_engine_site *site, uint64_t cx, uint64_t cy, uint32_t mask)
{
    if (!site->shape && worker->tier->code->row == 32 && cx + FAR <= 2 * FAR) { /* and no lane comes round */
        const int64_t first = (int64_t)(cx * (uint64_t)__builtin_ctz(mask)),
                      last = (int64_t)(cx * (31 - (uint64_t)__builtin_clz(mask)));
        return (struct reach){MG_MIN(first, last), MG_MAX(first, last), (uint64_t)first | (mask & (mask - 1) ? cx : 0)};
    }
    struct reach r = {INT64_MAX, INT64_MIN, 0};
    int64_t delta[32];
    deltas_of(worker, shapes, site, cx, cy, delta);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const int64_t d = delta[__builtin_ctz(rest)];
        r = (struct reach){MG_MIN(r.low, d), MG_MAX(r.high, d), r.bits | (uint64_t)d};
    }
    return r;
}

/* ---- counts of accesses ---- */
/* Of the records that were ever made to fit, one number after the other: no other counted anything. */
#define EACH_FITTED(worker, s)                                                                                         \
    for (uint32_t s##_ = (worker)->fitted, s; s##_ && s##_ != UINT32_MAX && (s = s##_ - 1, true);                      \
         s##_ = (worker)->records[s].next)

static void report_member(struct mg_worker *worker, const struct mg_engine_site *site,
                          const struct mg_engine_record *rec, const struct mg_engine_member *member, unsigned word,
                          uint64_t times)
{
    const struct mg_engine_code *code = worker->tier->code;
    const struct mg_engine_shape *shapes =
        worker->shapes + (size_t)(rec - worker->records) / code->nsites * code->nshapes;
    const struct mg_op *op = &worker->run->program->entry->ops[member->op];
    struct mg_access *e = mg__access_begin(worker, op->insn, op->u.mem, op->u.mem->space, rec->mask, rec->var);
    const uint64_t first = ((uint64_t)1 << 40) + 4 * word + rec->phase + (uint64_t)member->offset;
    int64_t delta[32];
    deltas_of(worker, shapes, site, rec->cx, rec->cy, delta);
    for (unsigned i = 0; i < 32; i++)
        worker->spread.address[i] = first + (uint64_t)delta[i];
    e->address = worker->spread.address;
    e->times = times;
    e->block = e->target = UINT64_MAX;
    mg__access_event(worker, e, worker->together ? MG_OBSERVE_SHAPES | MG_OBSERVE_EVERY : MG_OBSERVE_SHAPES);
}

/* Whose loads those are that wait to be told. */
static void tell_joined(struct mg_worker *worker)
{
    const struct mg_run *run = worker->run;
    uint64_t sum = 0;
    if (!worker->together || !worker->tier)
        return;
    EACH_FITTED (worker, s)
        for (unsigned m = 0; m < 8; m++)
            sum += worker->records[s].times[m];
    for (unsigned i = 0; i < run->nobservers && sum > worker->joined; i++)
        if (run->observers[i].together)
            run->observers[i].together(worker->observers[i], worker->joined_block, sum - worker->joined);
    worker->joined = sum;
}

static void flush_record(struct mg_worker *worker, uint32_t index)
{
    struct mg_engine_record *rec = &worker->records[index];
    const struct mg_engine_code *code = worker->tier->code;
    const struct mg_engine_site *site = &code->sites[index % code->nsites];
    for (unsigned m = 0; m < 8; m++) {
        for (uint32_t k = 0; rec->times[m] && k < site->nmembers && (worker->run->want_shapes || worker->together); k++)
            report_member(worker, site, rec, &code->members[site->first_member + k], m, rec->times[m]);
        worker->joined -= worker->together ? rec->times[m] : 0;
        rec->times[m] = 0;
    }
}

/* Of a site for each place in a word, which one. */
static uint32_t place_of(const struct mg_engine_site *site, uint64_t at)
{
    return site->found && site->bytes < 4 ? (uint32_t)(at & 3) / site->bytes : 0;
}

/* Accesses of groups that were counted whole, of which the last have not come. */
void mg__engine_open(struct mg_warp *w, const struct mg_engine_point *p)
{
    const struct mg_engine_code *code = w->worker->tier->code;
    for (uint32_t k = 0; k < p->nopen; k++) {
        const struct mg_engine_open *o = &code->opens[p->first_open + k];
        const struct mg_engine_site *site = &code->sites[o->site];
        const uint64_t at = w->cells[o->cell];
        if (at == MG_ENGINE_UNCOUNTED)
            continue;
        struct mg_engine_record *rec = &w->e.records[o->site + place_of(site, at)];
        unsigned word = at >> 2 & 7;
        rec->times[word]--;
        for (uint32_t m = 0; m < o->done && w->worker->run->want_shapes; m++)
            report_member(w->worker, site, rec, &code->members[site->first_member + m], word, 1);
    }
}

void mg__engine_flush(struct mg_worker *worker)
{
    if (!worker->tier)
        return;
    tell_joined(worker);
    EACH_FITTED (worker, s)
        flush_record(worker, s);
    for (uint32_t s = 0; s < worker->run->program->nsegments; s++) {
        worker->counts[s].warps += worker->full[s];
        worker->counts[s].threads += 32 * worker->full[s];
        worker->full[s] = 0;
    }
}

/* Another block's warps go on. What may be told together of one must be told by itself of another. */
void mg__engine_turn(struct mg_worker *worker, uint64_t block)
{
    const struct mg_run *run = worker->run;
    bool together = true;
    tell_joined(worker);
    worker->joined_block = block;
    for (unsigned i = 0; i < run->nobservers && together; i++)
        together = !(run->observers[i].wants & MG_OBSERVE_EVERY) ||
                   !run->observers[i].closely(worker->observers[i], block);
    if (worker->together && !together)
        EACH_FITTED (worker, s) {
            flush_record(worker, s);
            worker->records[s].lo = UINT64_MAX;
        }
    worker->together = together;
}

/* An observer follows a warp, the first one of the worker: what it need not have heard until then is looked at anew. */
void mg__engine_following(struct mg_worker *worker)
{
    if (worker->following)
        return;
    worker->following = true;
    for (uint32_t s = 0; s < worker->run->program->nsites; s++)
        if (worker->sites[s].rows)
            worker->sites[s].rows->open = false;
    if (worker->tier)
        EACH_FITTED (worker, s)
            worker->records[s].lo = UINT64_MAX;
}

/* ---- what compiled code calls ---- */
/* A record that fits no better is left alone: one whose loads are told together; one of some of the lanes. */
enum { REFITS = 4096, RENOTES = 64 };

/* Whether accesses of this shape, which are in bytes [lo, hi), are noted; those of several loads, together. Of some of
 * the lanes: only if their words are bits of one integer, with those of a byte before them. */
enum { CLOSE = 56 };
static void note_shape(struct mg_warp *w, const struct mg_engine_site *site, struct mg_engine_record *rec,
                       uint64_t address, uint64_t cx, uint64_t cy, uint32_t mask, struct reach reach, uint64_t lo,
                       uint64_t hi)
{
    struct mg_worker *worker = w->worker;
    const int sole = worker->run->sole;
    const struct mg_observer *o = &worker->run->observers[sole];
    const struct mg_engine_member *members = &worker->tier->code->members[site->first_member];
    const int64_t low = reach.low;
    int64_t delta[32];
    uint64_t shape = 0;
    struct mg_noted_load loads[MG_NOTED_TOGETHER];
    deltas_of(worker, w->e.shapes, site, cx, cy, delta);
    const bool close = reach.high - low + site->bytes <= 4 * CLOSE;
    bool noted = (close || mask == ~0u) && site->nmembers <= MG_NOTED_TOGETHER;
    for (uint32_t k = 0; noted && k < site->nmembers; k++) {
        struct mg_access *e = mg__access_of_warp(w, &worker->run->program->entry->ops[members[k].op], mask,
                                                 MG_SPACE_SHARED, -1);
        for (unsigned i = 0; i < 32; i++)
            worker->spread.address[i] = address + (uint64_t)(delta[i] + members[k].offset);
        e->address = worker->spread.address;
        noted = o->noted(worker->observers[sole], e, lo, hi, &shape);
        loads[k] = (struct mg_noted_load){shape, (int32_t)members[k].offset, members[k].op};
    }
    if (noted && site->notes)
        noted = o->noted_run(worker->observers[sole], loads, site->nmembers, site->notes, &shape);
    rec->low = (uint64_t)low;
    rec->told = noted ? 0 : MG_NOTES;
    rec->shape = shape << 40;
    rec->covers = 0;
    for (uint32_t rest = close ? mask : 0; rest; rest &= rest - 1)
        rec->covers |= ((UINT64_C(1) << site->bytes / 4) - 1) << (delta[__builtin_ctz(rest)] - low) / 4;
}

static bool make_fit(struct mg_engine_warp *e, uint32_t index, uint64_t address, uint64_t cx, uint64_t cy,
                     uint32_t mask)
{
    struct mg_warp *w = mg__warp_of(e);
    struct mg_worker *worker = w->worker;
    const struct mg_run *run = worker->run;
    const struct mg_engine_code *code = worker->tier->code;
    const struct mg_engine_site *site = &code->sites[index];
    struct mg_engine_record *rec = &e->records[index];
    int64_t least = 0, greatest = 0;
    uint64_t align = site->bytes;
    const bool noted = run->want_every && site->space == MG_SPACE_SHARED;
    const struct mg_unheard *unheard = run->want_every && !noted && run->unheard ? &run->unheard[site->insn] : NULL;
    const struct mg_mem *m = run->program->entry->ops[code->members[site->first_member].op].u.mem;
    const bool together = worker->together && !noted && m->kind == MG_ACCESS_LD && rec->fits++ < REFITS;
    if (noted ? !worker->notes || (mask != ~0u && rec->fits++ >= RENOTES)
              : run->want_every && !together &&
                    (!unheard || !unheard->size || (unheard->unfollowed && worker->following)))
        return false;
    if (!mask)
        return false;
    const struct reach reach = reach_of(worker, e->shapes, site, cx, cy, mask);
    const int64_t low = reach.low, high = reach.high;
    uint64_t bits = address | reach.bits;
    for (uint32_t k = 0; k < site->nmembers; k++) {
        int64_t offset = code->members[site->first_member + k].offset;
        least = MG_MIN(least, offset);
        greatest = MG_MAX(greatest, offset);
        bits |= (uint64_t)offset;
    }
    const int64_t far = FAR;
    if (low < -far || high > far || least < -far || greatest > far || bits & (align - 1))
        return false;
    uint64_t from = address + (uint64_t)(low + least), to = address + (uint64_t)(high + greatest) + align, lo, hi;
    int32_t var = -1;
    if (site->space == MG_SPACE_SHARED) {
        if (from >= to || (var = mg__shared_object(w, from, to, &lo, &hi)) < 0)
            return false;
    } else if (unheard && !together) {
        lo = unheard->address;
        hi = lo + unheard->size;
        if (from < lo || to > hi || from >= to)
            return false;
        rec->marks = (uint64_t)(uintptr_t)unheard->marks - (lo >> __builtin_ctz(MG_MIN(m->width, 4u)));
        rec->mark = unheard->mark * UINT64_C(0x0101010101010101);
    } else {
        const struct mg_allocation *a = mg__snapshot_find(run, from);
        if (!a || to > a->address + a->size || from >= to)
            return false;
        lo = a->address;
        hi = a->address + a->size;
    }
    uint64_t unit = MG_MAX(align, 4);
    if (noted)
        note_shape(w, site, rec, address, cx, cy, mask, reach, lo, hi);
    lo -= (uint64_t)(low + least);
    lo += (address - lo) % unit;
    uint64_t range = hi - align - (uint64_t)(high + greatest) - lo;
    if (address - lo > range)
        return false;
    tell_joined(worker);
    const uint32_t number = (uint32_t)(rec - worker->records);
    flush_record(worker, number);
    rec->lo = lo;
    rec->range = range / unit;
    rec->cx = cx;
    rec->cy = cy;
    rec->mask = mask;
    rec->phase = address & 3;
    rec->var = var;
    if (!rec->next) {
        rec->next = worker->fitted ? worker->fitted : UINT32_MAX;
        worker->fitted = number + 1;
    }
    return true;
}

/* A line that was found can go by a call as well, which is better where it is in another object each time; and so can
 * one of some of the lanes, where these are others each time. */
#define SERVES 32u
#define SERVES_SOME 1u
#define ASTRAY_AFTER 2u
#define ASTRAY_SOME 8u
#define ASTRAY_FOR 200u
static bool on_miss(struct mg_engine_warp *e, uint32_t index, uint64_t address, uint64_t cx, uint64_t cy, uint32_t mask)
{
    struct mg_engine_record *rec = &e->records[index];
    if (mask == ~0u && !mg__warp_of(e)->worker->tier->code->sites[index].found)
        return make_fit(e, index, address, cx, cy, mask);
    if (rec->skip) {
        rec->skip--;
        return false;
    }
    uint64_t served = 0;
    for (unsigned m = 0; m < MG_COUNT(rec->times); m++)
        served += rec->times[m];
    const bool good = make_fit(e, index, address, cx, cy, mask);
    rec->astray = good && served >= (mask == ~0u ? SERVES : SERVES_SOME) ? 0 : rec->astray + 1;
    if (rec->astray >= (mask == ~0u ? ASTRAY_AFTER : ASTRAY_SOME)) {
        rec->astray = 0;
        rec->skip = ASTRAY_FOR;
    }
    return good;
}

/* ---- shapes ---- */
static void make_shape(const struct mg_run *run, struct mg_engine_shape *s, const struct mg_mem *m,
                       const uint32_t from[32], uint32_t row)
{
    row = run->engine->program.row ? row : MG_ENGINE_PIECE;
    const uint32_t bytes = (uint32_t)m->width * m->vec;
    int32_t least = 0;
    bool line = true, one = true, lines = true, places = true;
    for (unsigned i = 0; i < 32; i++) {
        const uint32_t in_row = from[i] - from[i - i % row];
        s->from[i] = from[i];
        least = MG_MIN(least, (int32_t)from[i]);
        line &= from[i] == i * bytes;
        one &= from[i] == 0;
        lines &= in_row == i % row * bytes;
        places &= in_row == 0;
    }
    for (unsigned i = 0; i < 32; i++)
        s->offset[i] = from[i] - (uint32_t)least;
    s->credit = 0;
    s->served = 0;
    s->least = (uint32_t)least;
    s->lie = line     ? MG_ENGINE_LINE
             : one    ? MG_ENGINE_ONE_PLACE
             : lines  ? MG_ENGINE_LINES
             : places ? MG_ENGINE_PLACES
                      : MG_ENGINE_OTHERWISE;
    mg__rows_window(&s->window, m, from, ~0u);
}

struct mg_engine_shape *mg__engine_shapes(const struct mg_run *run, const struct mg_engine_code *code, uint32_t phases)
{
    const struct mg_op *ops = run->program->entry->ops;
    uint32_t line[32];
    struct mg_engine_shape *shapes =
        aligned_alloc(_Alignof(struct mg_engine_shape), (phases * code->nshapes + 1) * sizeof *shapes);
    for (uint32_t s = 0; s < code->nsites && shapes; s++) {
        const struct mg_engine_site *site = &code->sites[s];
        for (unsigned i = 0; i < 32; i++)
            line[i] = i * site->bytes;
        for (uint32_t k = 0; k < phases && site->shape; k++)
            make_shape(run, &shapes[k * code->nshapes + site->shape - 1],
                       ops[code->members[site->first_member].op].u.mem, line, code->row);
    }
    return shapes;
}

/* Whether the shape serves more accesses than others come: where warps take turns at several it stays as it is, for
 * making another one takes longer than a call. */
#define CREDIT 4
static bool serves(struct mg_engine_shape *shape, uint64_t served)
{
    const uint64_t more = served - (served >= shape->served ? shape->served : 0);
    shape->served = served;
    shape->credit = (int8_t)(MG_MIN((uint64_t)shape->credit + more, CREDIT) - 1);
    return shape->credit >= 0;
}

static void on_learn(struct mg_engine_warp *e, uint32_t index, uint32_t op)
{
    struct mg_warp *w = mg__warp_of(e);
    const struct mg_engine_site *sites = w->worker->tier->code->sites;
    const struct mg_rows *rows = w->sites[w->ops[op].u.mem->site].rows;
    struct mg_engine_shape *shape = &e->shapes[sites[index].shape - 1];
    uint64_t served = 0;
    uint32_t from[32];
    for (unsigned i = 0; i < 32; i++)
        from[i] = e->line == MG_ENGINE_LINE ? i * sites[index].bytes : rows->shapes[rows->current].from[i];
    if (!memcmp(from, shape->from, sizeof from))
        return;
    for (uint32_t s = index; s < w->worker->tier->code->nsites && sites[s].shape == sites[index].shape; s++)
        for (unsigned k = 0; k < MG_COUNT(e->records[s].times); k++)
            served += e->records[s].times[k];
    if (serves(shape, served))
        return;
    tell_joined(w->worker);
    for (uint32_t s = index; s < w->worker->tier->code->nsites && sites[s].shape == sites[index].shape; s++) {
        flush_record(w->worker, (uint32_t)(&e->records[s] - w->worker->records));
        e->records[s].lo = UINT64_MAX;
        e->records[s].astray = 0; /* it was another shape that did not serve */
    }
    make_shape(w->worker->run, shape, w->ops[op].u.mem, from, w->worker->tier->code->row);
}

static bool call(struct mg_engine_warp *e, uint32_t index, mg_handler f, uint32_t mask)
{
    struct mg_warp *w = mg__warp_of(e);
    if (!w->filled)
        mg__fill_block(w, 32);
    const struct mg_op *next = f(w, &w->ops[index], mask);
    w->worker->run->simt->lanes->leave();
    e->leave = w->followed;
    return next != NULL;
}

bool mg__engine_op(struct mg_engine_warp *e, uint32_t index, uint32_t mask)
{
    const struct mg_warp *w = mg__warp_of(e);
    const struct mg_described *d = w->worker->run->engine;
    const mg_handler *handlers = w->ops == w->root->code->ops ? d->call : d->functions[w->frame->code->id].call;
    return call(e, index, handlers[index], mask);
}

static bool on_checked(struct mg_engine_warp *e, uint32_t index, uint32_t mask)
{
    return call(e, index, mg__op_atom_checked, mask);
}

static void on_met(struct mg_engine_warp *e, uint32_t index)
{
    struct mg_warp *w = mg__warp_of(e);
    mg__warp_met(w, &w->worker->run->program->entry->ops[index]);
}

static bool on_slice(struct mg_engine_warp *e)
{
    return mg__slice_over(mg__warp_of(e));
}

static void on_stay(struct mg_engine_warp *e, uint32_t insn, uint32_t lanes)
{
    struct mg_warp *w = mg__warp_of(e);
    w->worker->by_insn[insn].divergent++;
    mg__leaf_stay(w, lanes);
}

void mg__engine_calls(struct mg_worker *worker)
{
    worker->calls = (struct mg_engine_calls){.miss = on_miss,
                                             .op = mg__engine_op,
                                             .checked = on_checked,
                                             .add = worker->run->simt->lanes->add_words,
                                             .load = worker->run->simt->lanes->load_rows,
                                             .store = worker->run->simt->lanes->store_rows,
                                             .learn = on_learn,
                                             .move = worker->run->simt->lanes->move_shape,
                                             .met = on_met,
                                             .notes = worker->notes,
                                             .quiet = worker->calls.quiet,
                                             .slice = on_slice,
                                             .stay = on_stay,
                                             .settle = mg__deferred_settle,
                                             .defer = mg__deferred_begin};
}
