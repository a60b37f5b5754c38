/* global.c - accesses to device memory: bounds, what was ever written, races in the block, and what is left for the
 * other blocks (grid.c). */
#include "check/grid.h"
#include "check/watch.h"

enum { UNWRITTEN_MOST = 1u << 16 };

static void race_global(const struct cells *c, unsigned lane, int32_t object, uint64_t offset)
{
    struct mg_order_who me = mg__cells_who(c, lane);
    uint64_t first = c->a->address[lane], last = first + c->a->width - 1;
    struct told told;
    mg__told_begin(&told);
    for (uint64_t u = first >> c->unit; u <= last >> c->unit; u++) {
        struct mg_order_row *row = mg__segment_row(&c->b->segments, u);
        unsigned from = (unsigned)((u << c->unit) - first);
        if (row)
            mg__cells_touch(c, row, u % 32, u, me, lane, from, object, offset + from, &told);
    }
    mg__told_end(c, &told);
}

int32_t mg__watch_allocation(const struct launch *l, uint64_t address, int32_t guess)
{
    const struct mg_allocation *list = l->info->allocations;
    if (guess >= 0 && address - list[guess].address < list[guess].size)
        return guess;
    size_t lo = 0, hi = l->info->nallocations;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (address - list[mid].address < list[mid].size)
            return (int32_t)mid;
        if (address < list[mid].address)
            hi = mid;
        else
            lo = mid + 1;
    }
    return -1;
}

/* Bytes of the region from `offset` on that neither the host nor this launch has written, or with what nobody made.
 */
static uint32_t missing_global(const struct region *r, uint64_t offset, unsigned width)
{
    uint32_t missing = 0;
    bool holes = mg__region_has_holes(r);
    if (!holes && mg__region_written(r, offset, offset + width))
        return 0;
    for (unsigned k = 0; k < width; k++) {
        uint64_t at = offset + k;
        bool written = mg__region_written(r, at, at + 1) ||
                       (r->own ? mg__own_written(r, at, false)
                               : r->tracked && r->cells && mg__grid_written(r, at / 4 * 4) >> at % 4 & 1);
        missing |= (uint32_t)(!written || (holes && mg__region_is_hole(r, at))) << k;
    }
    return missing;
}

/* Each word that a lane reaches, for the other blocks. */
static void touch_words(struct worker *w, const struct mg_access *a, const struct site *site, unsigned lane, int32_t k,
                        uint64_t offset, bool leaves_unwritten)
{
    const struct launch *l = w->launch;
    struct party who = {.block = a->block};
    if (l->ordered)
        who = mg__party(mg__watch_block(w, a->block), a, site);
    for (uint64_t word = offset / 4 * 4; word < offset + a->width; word += 4) {
        uint64_t lo = MG_MAX(word, offset), hi = MG_MIN(word + 4, offset + a->width);
        struct touch t = {.who = who,
                          .offset = word,
                          .site = site,
                          .leaves_unwritten = leaves_unwritten,
                          .bytes = (uint8_t)(((1u << (hi - lo)) - 1) << (lo - word))};
        uint8_t value[4];
        if (site->atomic && l->ordered) /* what it leaves hangs on what it finds */
            t.differs = true;
        else if (site->writes && l->ordered)
            t.differs = !mg__same_value(l, a, lane, (unsigned)(lo - offset), (unsigned)(hi - lo), false, 0);
        else if (site->writes &&
                 mg__value_of(a, mg__element_of(l, a), lane, (unsigned)(lo - offset), (unsigned)(hi - lo), value))
            t.value = mg__grid_value(value, (unsigned)(hi - lo));
        else
            t.value = VALUE_MANY;
        mg__grid_touch(w, k, &t, a->insn, mg__watch_actor(a, lane));
    }
}

/* The words that the active lanes access, by their number in the region; their count, or 0: of some only a part. */
MG_WIDE static size_t find_words(const struct mg_access *a, const struct region *r, uint32_t words[4 * 32])
{
    const unsigned each = a->width / 4;
    uint64_t bits = 0;
    size_t n = 0;
    if (a->mask == ~0u && each == 1)
        for (; n < 32; n++) {
            const uint64_t offset = a->address[n] - r->address;
            bits |= offset;
            words[n] = (uint32_t)(offset / 4);
        }
    for (uint32_t rest = n ? 0 : a->mask; rest; rest &= rest - 1) {
        const uint64_t offset = a->address[__builtin_ctz(rest)] - r->address;
        bits |= offset;
        for (unsigned k = 0; k < each && k < 4; k++)
            words[n++] = (uint32_t)(offset / 4 + k);
    }
    return bits & 3 || bits >> 34 || a->width & 3 || each > 4 ? 0 : n;
}

/* The same of all lanes, for blocks that run in order: mostly in a few instructions a word. */
static void touch_in_order(struct worker *w, struct mg_access *a, const struct site *site, int32_t k)
{
    struct launch *l = w->launch;
    struct region *r = l->regions[k];
    struct ordered_words o;
    uint32_t words[4 * 32];
    mg__access_lanes(a);
    mg__ordered_words_begin(w, a, site, &o);
    const size_t n = find_words(a, r, words);
    size_t done = 0, end = a->width / 4; /* words; a lane's end */
    for (uint32_t rest = a->mask; rest; rest &= rest - 1, end += a->width / 4) {
        const unsigned lane = (unsigned)__builtin_ctz(rest);
        if (n && done < end)
            done += mg__ordered_words(l, r, &o, words + done, n - done);
        if (n && done >= end)
            continue;
        touch_words(w, a, site, lane, k, a->address[lane] - r->address, false); /* what was done is done again */
        done = end;
    }
}

/* What a strong read takes, and a strong write publishes. */
static void take(struct launch *l, struct block *b, const struct mg_access *a, const struct site *site)
{
    if (site->takes)
        mg__flags_take(l, b, a, MG_SPACE_GLOBAL, site->class == MG_ORDER_POLL);
    const struct party who = mg__party(b, a, site);
    uint64_t last = 0; /* taken once more a release is the same */
    for (uint32_t rest = l->releases && site->takes && !site->in_block ? a->mask : 0; rest; rest &= rest - 1) {
        const uint64_t address = a->address[__builtin_ctz(rest)];
        if (address != last)
            mg__release_take(l, &who, address, site->writes);
        last = address;
    }
}

static void publish(struct launch *l, struct block *b, const struct mg_access *a, const struct site *site)
{
    if (site->publishes) {
        if (site->own_fence) {
            mg__order_fence(b->order, a->warp);
            mg__release_fence(l, a->block);
        }
        mg__flags_publish(l, b, a, MG_SPACE_GLOBAL);
        const struct party who = mg__party(b, a, site);
        for (uint32_t rest = !l->releases || site->in_block ? 0 : a->mask; rest; rest &= ~mg__lanes_at(a, rest))
            mg__release_publish(l, &who, a->address[__builtin_ctz(rest)], !site->atomic);
    }
}

/* Lanes that lie far apart, or on bytes of words: each by itself. What was done is done again, if it must, with the
 * same outcome. */
static __attribute__((noinline)) bool quick_apart(struct worker *w, struct block *b, struct mg_access *a,
                                                  const struct site *site, int32_t object)
{
    const struct launch *l = w->launch;
    const unsigned unit = l->code.unit_global;
    const struct mg_order_who me = {.site = site->number, .warp = (uint8_t)a->warp, .class = site->class};
    const uint32_t who = mg__order_pack_warp(me);
    struct mg_order_row *row = NULL;
    uint64_t key = 0;
    if (l->race && b->order->partial)
        return false;
    mg__access_lanes(a);
    for (uint32_t rest = l->race ? a->mask : 0; rest; rest &= rest - 1) {
        const uint32_t lane = (uint32_t)__builtin_ctz(rest);
        const uint32_t me_of = who | mg__order_pack_lane(lane);
        const uint64_t last = (a->address[lane] + a->width - 1) >> unit;
        for (uint64_t u = a->address[lane] >> unit; u <= last; u++) {
            if (!row || u / 32 != key) {
                key = u / 32;
                row = mg__segment_row(&b->segments, u);
            }
            if (!row || !(site->atomic   ? mg__quick_atomic_one(b->order, row, u % 32, me_of, false)
                          : site->writes ? mg__quick_write_one(b->order, row, u % 32, me_of)
                                         : mg__quick_read_one(b->order, row, u % 32, me_of, false)))
                return false;
        }
    }
    if (l->ordered)
        touch_in_order(w, a, site, object);
    else if (!mg__grid_touch_lanes(w, object, a, site))
        return false;
    b->order->now += site->writes;
    return true;
}

/* An atomic operation on written memory, where all of the launch are of one width. */
static bool quick_atomic(struct worker *w, struct block *b, struct mg_access *a, const struct site *site,
                         int32_t object)
{
    struct launch *l = w->launch;
    const struct region *r = l->regions[object];
    if (site->class != MG_ORDER_STRONG || !l->one_width || l->pedantic || !r->tracked || r->own)
        return false;
    mg__access_lanes(a);
    take(l, b, a, site); /* once more is the same */
    if (!quick_apart(w, b, a, site, object))
        return false;
    publish(l, b, a, site);
    return true;
}

/* Reads of memory that nothing in this launch writes to, and whole words of memory that only this warp has used; atomic
 * operations. */
bool mg__global_quick(struct worker *w, struct block *b, struct mg_access *a, const struct site *site)
{
    struct launch *l = w->launch;
    int32_t k = w->last[a->insn];
    uint64_t least, most;
    bool writes = site->writes && !site->async;
    if (l->by_lanes || (site->class != MG_ORDER_PLAIN && !site->async && !site->atomic))
        return false;
    const int32_t meant = site->async ? site->from_object : site->object;
    mg__access_reach(a, &least, &most);
    if (k < 0) { /* the instruction's first in this launch */
        const bool device = site->source.kind == MG_FLOW_POINTER && !site->async;
        if ((k = mg__watch_allocation(l, least, device ? meant : -1)) < 0)
            return false;
        w->last[a->insn] = k;
    }
    const struct mg_allocation *alloc = &l->info->allocations[k];
    struct region *r = l->regions[k];
    if (!r || mg__heap_is(alloc) || mg__region_has_holes(r) || (writes && a->follow && *a->follow))
        return false;
    if (least < alloc->address || most + a->width > alloc->address + alloc->size || (meant >= 0 && meant != k) ||
        (alloc->constant && writes))
        return false;
    uint64_t from = least - alloc->address, to = most + a->width - alloc->address;
    if ((!writes || site->atomic) && !mg__region_written(r, from, to))
        return false;
    if (site->atomic)
        return quick_atomic(w, b, a, site, k);
    if (r->own && writes)
        mg__own_mark(r, a, site->mark);
    if (!r->tracked || r->own)
        return true;
    if (site->async)
        return false;
    const bool words = l->code.unit_global == 2 && a->width % 4 == 0 && from % 4 == 0;
    const struct mg_memo *memo = words ? mg__access_memo(w, a, 2) : NULL;
    if (!memo || (memo->apart && (!l->ordered || (writes && memo->twice))))
        return quick_apart(w, b, a, site, k);
    if (writes && memo->twice)
        return false;
    if (l->race) {
        struct mg_order_who me = {.site = site->number, .warp = (uint8_t)a->warp, .class = site->class};
        if (b->order->partial ||
            !mg__segments_quick(b->order, &b->segments, least >> 2, memo, mg__order_pack_warp(me), writes, a->pattern))
            return quick_apart(w, b, a, site, k);
        b->order->now += writes;
    }
    if (l->ordered)
        touch_in_order(w, a, site, k);
    return l->ordered || mg__grid_touch_words(w, k, a, site, from, memo);
}

/* A lane stores nothing but what nobody made. */
static void note_copy(struct worker *w, const struct mg_access *a, int32_t to, const struct origin *from)
{
    struct occurrence o = {.kind = KIND_INIT_COPIED,
                           .place = from->place,
                           .insn = from->insn,
                           .other = a->insn,
                           .object = from->object,
                           .count = 1,
                           .who = from->who,
                           .with = from->who,
                           .offset = from->offset,
                           .width = from->width,
                           .value = {USE_COPY, (uint32_t)to}};
    mg__tally_note(&w->tally, &o);
}

/* The lane is not in the allocation that its pointer means. */
static void misses(struct worker *w, const struct mg_access *a, unsigned lane, int32_t meant)
{
    const struct mg_allocation *m = &w->launch->info->allocations[meant];
    if (w->launch->bounds && w->looks != LOOKS_RACES)
        mg__watch_note(w, m->name ? KIND_BOUNDS_VARIABLE : KIND_BOUNDS_ALLOCATION, PLACE_GLOBAL, meant,
                       a->address[lane] - m->address, mg__element_of(w->launch, a), a->insn, NO_INSN,
                       mg__watch_actor(a, lane), mg__nobody);
}

static void writes_constant(struct worker *w, const struct mg_access *a, unsigned lane, int32_t k, uint64_t offset)
{
    if (w->launch->bounds)
        mg__watch_note(w, KIND_BOUNDS_CONSTANT, PLACE_GLOBAL, k, offset, mg__element_of(w->launch, a), a->insn, NO_INSN,
                       mg__watch_actor(a, lane), mg__nobody);
}

/* What an asynchronous copy reads, for its store to shared memory. */
static void keep_async(struct worker *w, const struct mg_access *a, const uint32_t unread[32], int32_t object)
{
    memcpy(w->async, unread, sizeof(w->async));
    w->async_insn = object >= 0 ? a->insn + 1 : 0;
    w->async_origin = (struct origin){.insn = a->insn, .width = a->width, .object = object, .place = PLACE_GLOBAL};
}

/* Whether the text tells where the address comes from. */
static bool names_object(const struct site *site)
{
    if (site->async)
        return site->from.kind == MG_FLOW_POINTER || site->from.kind == MG_FLOW_VARIABLE;
    return site->source.kind == MG_FLOW_POINTER ||
           (site->source.kind == MG_FLOW_VARIABLE && site->source.var->space != MG_SPACE_SHARED &&
            site->source.var->space != MG_SPACE_LOCAL);
}

void mg__global_watch(struct worker *w, struct block *b, struct mg_access *a, const struct site *site)
{
    struct launch *l = w->launch;
    const struct mg_launch_info *info = l->info;
    mg__access_lanes(a);
    bool from = site->async; /* the global side of a copy: a read */
    struct site as_read = *site;
    const int32_t meant = from ? site->from_object : site->object;
    const bool known = names_object(site);
    if (from) {
        as_read.reads = true;
        as_read.writes = false;
        site = &as_read;
    }
    struct cells c = {l, w, b, a, site, PLACE_GLOBAL, l->code.unit_global};
    uint32_t missing[32] = {0}, unread[32] = {0}, piece[32] = {0};
    uint64_t piece_at = 0, piece_size = 0;
    int32_t unread_at = -1;
    struct origin origin;
    bool some = site->writes && l->init && mg__define_written(w, a, missing, &origin);
    take(l, b, a, site);
    for (uint32_t rest = a->mask; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        uint64_t address = a->address[lane];
        int32_t k = mg__watch_allocation(l, address, w->last[a->insn]);
        if (k < 0)
            continue;
        w->last[a->insn] = k;
        struct region *r = l->regions[k];
        const struct mg_allocation *alloc = &info->allocations[k];
        uint64_t offset = address - alloc->address;
        if (known && meant >= 0 && meant != k) {
            misses(w, a, lane, meant);
            continue;
        }
        if (mg__heap_is(alloc)) {
            piece[lane] = mg__heap_access(w, a, site, lane, missing[lane], &piece_at, &piece_size);
            if (r && r->tracked && l->race) {
                race_global(&c, lane, k, offset);
                touch_words(w, a, site, lane, k, offset, false);
            }
            continue;
        }
        if (!r)
            continue;
        if (alloc->constant && site->writes) {
            writes_constant(w, a, lane, k, offset);
            continue;
        }
        uint32_t fresh = site->reads ? missing_global(r, offset, a->width) : 0;
        if (fresh && l->init && w->looks != LOOKS_RACES) {
            unread[lane] = fresh;
            unread_at = k;
        }
        if (site->writes && (some || mg__region_has_holes(r)))
            mg__region_hole(r, offset, a->width, missing[lane]);
        if (some && missing[lane] == (a->width < 32 ? (1u << a->width) - 1 : ~0u))
            note_copy(w, a, k, &origin);
        if (r->own && site->writes)
            mg__own_mark_lane(r, offset, a->width, site->mark, some && missing[lane]);
        if (!r->tracked || r->own || w->looks == LOOKS_NOT_RACES)
            continue;
        if (l->race)
            race_global(&c, lane, k, offset);
        /* the sum of garbage and a number is garbage: not written before the launch ends */
        bool leaves_unwritten = fresh && site->writes;
        if (leaves_unwritten && w->unwritten.count < UNWRITTEN_MOST)
            (void)mg__vec_push(&w->unwritten, ((struct freed){address, a->width}));
        touch_words(w, a, site, lane, k, offset, leaves_unwritten);
    }
    if (from)
        keep_async(w, a, unread, unread_at);
    else if (unread_at >= 0)
        mg__watch_unwritten(w, b, a, unread, KIND_INIT_GLOBAL, PLACE_GLOBAL, unread_at,
                            info->allocations[unread_at].address);
    if (piece_size && l->init && site->reads && !from)
        mg__watch_unwritten(w, b, a, piece, KIND_INIT_HEAP, PLACE_HEAP, (int32_t)MG_MIN(piece_size, INT32_MAX),
                            piece_at);
    b->order->now += site->writes;
    publish(l, b, a, site);
}
