/* noted.c - accesses to shared memory that compiled code makes without a call (simt/observe.h, mg_notes).
 *
 * A plain load of what was written in this block, and a plain store, by a whole warp or some of its lanes, need not be
 * looked at when they are made: compiled code makes them by itself and leaves notes, in their order: which shape, which
 * warp, where. The notes are read when the block meets, and before anything is told that they may hang on, as if each
 * access had been told when it was made. Nothing has changed since then that they depend on, but the memory itself,
 * which the sentence for two stores of the same value asks for: compiled code has kept what its stores have
 * overwritten, so that where an access is not plainly in order, the memory is brought back to what it was then.
 *
 * Where the block meets, most notes are just forgotten: loads of rows that nobody has written since it last met matter
 * no more, and stores neither, where each word of theirs was one thread's (phase.h).
 *
 * A read or an atomic operation that is told in between, of lanes at words of their own choice, becomes a note as well
 * (mg__notes_lanes), so that those before it need not be read for it. An atomic operation is none behind a store:
 * memory could not be brought back to what it was then.
 *
 * Where a whole warp meets in between (__syncwarp, a shuffle), that is a note, too: what lies behind it in the notes is
 * judged behind it.
 *
 * No notes are made where an access would have to be looked at (quick_read in watch.c, mg__shared_quick): a block with
 * rows above the floor, with values that nobody made, or with accesses that are not plain; and none any more once there
 * was a bulk copy, an mbarrier or a use of another block's shared memory, which may come between what is told of two
 * blocks.
 */
#include "check/watch.h"

enum {
    SHAPES = 1024,
    PATTERNS = 256,   /* of accesses that are told, and have a shape */
    LANES_WAIT = 1024 /* accesses that are told before there are notes of lanes again, where these had to be read */
};

struct noted {
    struct mg_access access; /* what is the same each time, and no more */
    struct mg_memo *memo;    /* NULL: lanes at words of their own choice, whose number is in the note */
    bool meets;              /* it is no access: the warp has met */
    uint64_t delta[32]; /* from the first active lane's; 0 in idle lanes */
    uint32_t bytes;     /* of all 32 lanes, of a store; or 0 */
    /* Of loads of a run: these, in how many notes that is told, and their units, from and to, from the note's place. */
    struct mg_noted_load *loads;
    uint32_t nloads, notes; /* 0: it is one access */
    int64_t least, most;
};

bool mg__notes_begin(struct worker *w)
{
    const struct launch *l = w->launch;
    w->unwritten_words = calloc(l->shared_units / 8 + 16, 1);
    w->notes.written = w->unwritten_words;
    w->takes_notes = l->init && l->code.unit_shared == 2 && !l->by_lanes;
    return w->unwritten_words;
}

void mg__notes_free(struct worker *w)
{
    for (size_t k = 0; k < w->noted.count; k++) {
        free(w->noted.at[k]->memo);
        free(w->noted.at[k]->loads);
        free(w->noted.at[k]);
    }
    mg__vec_free(&w->noted);
    free(w->unwritten_words);
    free(w->notes.saved);
    free(w->noted_lanes);
    free(w->lanes_shape);
    free(w->noted_patterns);
    mg__phase_free(&w->phase);
}

struct mg_notes *mg__notes_of(void *worker)
{
    struct worker *w = worker;
    return w->takes_notes ? &w->notes : NULL;
}

/* ---- what they say ---- */
static inline const struct noted *shape_of(const struct worker *w, uint64_t note)
{
    return w->noted.at[note >> 40];
}

static inline uint32_t warp_of(uint64_t note)
{
    return (uint32_t)(note >> 32) & 255;
}

/* Whether one of the run's loads is of a row in which somebody has stored since the block last met. */
static inline bool stale(const struct block *b, const struct noted *run, uint64_t note)
{
    const int64_t unit = (int64_t)((uint32_t)note >> 2);
    return mg__shadow_was_written(&b->shared, (uint64_t)(unit + run->least), (uint64_t)(unit + run->most));
}

/* A store is undone, or done again: its lanes' bytes change places with what was kept. */
static void exchange(struct worker *w, const struct noted *s, uint64_t note, uint8_t *saved)
{
    const uint64_t first = (uint32_t)note - (uint64_t)(int64_t)s->memo->low;
    const uint32_t width = s->access.width;
    for (uint32_t rest = s->access.mask; rest; rest &= rest - 1) {
        const unsigned i = (unsigned)__builtin_ctz(rest);
        uint8_t *at = w->notes.shared + first + s->delta[i], keep[MG_NOTE_BYTES / 32];
        memcpy(keep, at, width);
        memcpy(at, saved + (size_t)i * width, width);
        memcpy(saved + (size_t)i * width, keep, width);
    }
}

/* Stores from the last one back to note `k`; returns where its bytes are. */
static uint8_t *undo(struct worker *w, uint64_t k)
{
    uint8_t *saved = w->notes.saved + w->notes.nsaved;
    for (uint64_t n = w->notes.n; n-- > k;) {
        const struct noted *s = shape_of(w, w->notes.at[n]);
        saved -= s->bytes;
        if (s->bytes)
            exchange(w, s, w->notes.at[n], saved);
    }
    return saved;
}

static void tell_access(struct worker *w, struct block *b, struct mg_access *a, uint32_t warp)
{
    a->block = a->target = b->linear;
    a->warp = warp;
    mg__watch_shared(w, b, a, &w->launch->code.sites[a->insn]);
}

/* As it would have been told. Memory is as it was before it; `saved`: what it stores. */
static void tell(struct worker *w, struct block *b, const struct noted *s, uint64_t note, const uint8_t *saved)
{
    struct mg_access a = s->access;
    const uint64_t first = (uint32_t)note - (uint64_t)(int64_t)s->memo->low;
    uint64_t address[32], values[MG_NOTE_BYTES / 32][32];
    uint8_t *where[32];
    const void *value[MG_NOTE_BYTES / 32];
    const uint32_t parts = a.width / a.element, stride = a.value64 ? 8 : 4;
    for (unsigned i = 0; i < 32; i++) {
        address[i] = first + s->delta[i];
        where[i] = w->notes.shared + address[i];
    }
    for (uint32_t v = 0; s->bytes && v < parts; v++) {
        value[v] = values[v];
        for (unsigned i = 0; i < 32; i++)
            memcpy((uint8_t *)values[v] + (size_t)i * stride, saved + (size_t)i * a.width + (size_t)v * a.element,
                   a.element);
    }
    a.address = address;
    a.where = where;
    a.value = s->bytes ? value : NULL;
    tell_access(w, b, &a, warp_of(note));
}

static void tell_lanes(struct worker *w, struct block *b, const struct noted *s, uint64_t note)
{
    struct mg_access a = s->access;
    const struct mg_held_lanes *lanes = &w->noted_lanes[(uint32_t)note];
    uint64_t address[32];
    for (unsigned i = 0; i < 32; i++)
        address[i] = (uint64_t)lanes->unit[i] * 4;
    a.mask = lanes->mask;
    a.address = address;
    a.where = NULL; /* only what is stored is held against what is there */
    tell_access(w, b, &a, warp_of(note));
}

/* Whether it is plainly in order; the cells then know of it. */
static inline bool in_order(struct block *b, const struct noted *s, uint64_t unit, uint32_t who)
{
    struct mg_order *o = b->order;
    if (!s->bytes)
        return mg__shadow_read(o, &b->shared, unit, s->memo, who, true, true) ||
               mg__shadow_read_own(o, &b->shared, unit, s->memo, who);
    if (!mg__shadow_write(o, &b->shared, unit, s->memo, who))
        return false;
    o->now++;
    return true;
}

struct reading {
    struct block *block;
    bool met;       /* as the block meets */
    uint8_t *saved; /* once memory is not as it is now: what the next store overwrote */
};

/* Note `k`, or what it says of one load. */
static void read_note(struct worker *w, struct reading *r, uint64_t k, const struct noted *s, uint64_t note)
{
    struct block *b = r->block;
    const uint64_t unit = (uint32_t)note >> 2;
    const uint32_t warp = warp_of(note),
                   who = (uint32_t)w->launch->code.sites[s->access.insn].number | warp << 16; /* mg__order_pack_warp */
    if (r->met && !s->bytes && !mg__shadow_was_written(&b->shared, unit, unit + s->memo->span - 1))
        return;
    mg__order_uses(b->order, warp, s->access.mask, false);
    if (!in_order(b, s, unit, who)) {
        if (!r->saved)
            r->saved = undo(w, k);
        tell(w, b, s, note, r->saved);
    }
    if (r->saved && s->bytes)
        exchange(w, s, note, r->saved);
    r->saved = r->saved ? r->saved + s->bytes : NULL;
}

/* The run that begins with note `k`: its loads in their order, as far as they are in notes that matter. */
static void read_run(struct worker *w, struct reading *r, uint64_t k, uint32_t notes)
{
    struct run_note {
        const struct noted *shape;
        uint64_t note;
        uint32_t next;
    } left[MG_NOTED_RUN];
    uint32_t n = 0;
    for (uint32_t i = 0; i < notes; i++) {
        const uint64_t note = w->notes.at[k + i];
        const struct noted *s = shape_of(w, note);
        if (r->met && !stale(r->block, s, note))
            continue;
        left[n++] = (struct run_note){s, note, 0};
    }
    while (n) {
        uint32_t first = 0;
        for (uint32_t i = 1; i < n; i++)
            if (left[i].shape->loads[left[i].next].order < left[first].shape->loads[left[first].next].order)
                first = i;
        struct run_note *f = &left[first];
        const struct mg_noted_load *l = &f->shape->loads[f->next++];
        read_note(w, r, k, w->noted.at[l->shape], f->note + (uint64_t)(int64_t)l->offset);
        if (f->next == f->shape->nloads)
            *f = left[--n];
    }
}

static void read_notes(struct worker *w, struct block *b, bool met)
{
    if (w->nlanes)
        w->lanes_wait = LANES_WAIT;
    struct reading r = {b, met, NULL};
    for (uint64_t k = 0, n; k < w->notes.n; k += n) {
        const struct noted *s = shape_of(w, w->notes.at[k]);
        n = s->nloads ? MG_MIN(s->notes, w->notes.n - k) : 1;
        if (s->nloads)
            read_run(w, &r, k, (uint32_t)n);
        else if (s->memo)
            read_note(w, &r, k, s, w->notes.at[k]);
        else if (s->meets)
            mg__order_warp(b->order, warp_of(w->notes.at[k]), ~0u);
        else
            tell_lanes(w, b, s, w->notes.at[k]);
    }
}

static inline void forget_notes(struct worker *w)
{
    w->notes.n = w->notes.nsaved = 0;
    w->nlanes = w->natomics = w->noted_meets = 0;
}

void mg__notes_read(struct worker *w)
{
    struct block *b = w->notes_of;
    if (b && b->busy && b->linear == w->notes.block)
        read_notes(w, b, false);
    forget_notes(w);
}

static void will_write_lanes(struct mg_shadow *s, const struct mg_held_lanes *lanes)
{
    for (uint32_t rest = lanes->mask; rest; rest &= rest - 1) {
        const uint64_t r = lanes->unit[__builtin_ctz(rest)] / 32;
        s->stale[r / 64] |= 1ull << r % 64;
    }
}

/* Whether rows in which there were atomic operations were used by nothing else. */
static bool atomics_apart(const struct worker *w, const struct mg_shadow *s, uint32_t floor)
{
    uint64_t rows = 0, others = 0;
    for (uint32_t k = 0; k < w->nlanes; k++)
        *(w->noted_lanes[k].atomic ? &rows : &others) |= w->noted_lanes[k].rows;
    for (uint64_t k = 0; k < w->notes.n; k++) {
        const struct noted *n = shape_of(w, w->notes.at[k]);
        const int64_t unit = (int64_t)((uint32_t)w->notes.at[k] >> 2);
        if (n->nloads)
            others |= mg__shadow_rows((uint64_t)(unit + n->least) / 32, (uint64_t)(unit + n->most) / 32);
        else if (n->memo)
            others |= mg__shadow_rows((uint64_t)unit / 32, (uint64_t)(unit + n->memo->span - 1) / 32);
    }
    return s->read <= floor && !s->nheld && !(rows & others);
}

/* Whether each word that noted stores wrote was used by one thread alone, and each that was added to by nothing else;
 * then there is no more to it. The rows of these words are stale from here on. */
static bool plainly_met(struct worker *w, struct block *b)
{
    struct mg_phase *p = &w->phase;
    bool plain = !w->launch->code.asks_later && mg__phase_begin(p, b->order, &b->shared, w->launch->shared_units);
    uint32_t stores = 0;
    for (uint64_t k = 0; k < w->notes.n; k++) {
        const uint64_t note = w->notes.at[k];
        const struct noted *s = shape_of(w, note);
        if (!s->bytes)
            continue;
        mg__shadow_will_write(&b->shared, (uint32_t)note >> 2, s->memo);
        plain = plain && mg__phase_write(p, b->order, &b->shared, (uint32_t)note >> 2, s->memo, warp_of(note));
        stores++;
    }
    const bool atomics = w->natomics && !atomics_apart(w, &b->shared, b->order->floor);
    for (uint32_t k = 0; atomics && k < w->nlanes; k++)
        if (w->noted_lanes[k].atomic) {
            will_write_lanes(&b->shared, &w->noted_lanes[k]);
            plain = plain && mg__phase_atomic(p, b->order, &b->shared, &w->noted_lanes[k]);
        }
    for (uint64_t k = 0; plain && k < w->notes.n; k++) {
        const uint64_t note = w->notes.at[k];
        const struct noted *s = shape_of(w, note);
        if (s->meets)
            continue;
        if (!s->nloads && !s->memo) {
            const struct mg_held_lanes *lanes = &w->noted_lanes[(uint32_t)note];
            plain = lanes->atomic || mg__phase_read_lanes(p, lanes, warp_of(note));
        } else if (!s->nloads && !s->bytes) {
            plain = mg__phase_read(p, (uint32_t)note >> 2, s->memo, warp_of(note));
        }
        if (!s->nloads || !stale(b, s, note))
            continue;
        for (uint32_t i = 0; plain && i < s->nloads; i++)
            plain = mg__phase_read(p, (uint64_t)((int64_t)(uint32_t)note + s->loads[i].offset) >> 2,
                                   w->noted.at[s->loads[i].shape]->memo, warp_of(note));
    }
    b->order->now += plain ? stores + w->natomics : 0;
    mg__phase_end(p, b->order, &b->shared, plain);
    return plain;
}

void mg__notes_met(struct worker *w)
{
    struct block *b = w->notes_of;
    if (b && b->busy && b->linear == w->notes.block &&
        (w->notes.nsaved || w->natomics ? !plainly_met(w, b) : mg__shadow_any_written(&b->shared)))
        read_notes(w, b, true);
    forget_notes(w);
}

void mg__notes_go_on(struct worker *w)
{
    struct block *b = w->current;
    w->notes.most = 0;
    if (!w->takes_notes || !b || !b->busy || b->order->partial || b->hollow || b->far.count ||
        b->shared.odd > b->order->floor)
        return;
    if (w->notes.block != b->linear || w->notes_of != b)
        w->notes.shared = w->notes.running;
    w->notes_of = b;
    w->notes.block = b->linear;
    w->notes.written = (uint8_t *)b->shared.written;
    w->notes.most = MG_NOTES;
}

/* ---- shapes ---- */
/* The same units, by the same lanes. */
static bool same_memo(const struct mg_memo *a, const struct mg_memo *b)
{
    return a->n == b->n && a->span == b->span && a->low == b->low && a->width == b->width && a->twice == b->twice &&
           !memcmp(a->unit, b->unit, a->n * sizeof(*a->unit)) && !memcmp(a->lane, b->lane, a->n * sizeof(*a->lane));
}

static struct noted *make_shape(struct worker *w, const struct mg_access *a, const uint64_t delta[32],
                                struct mg_memo *m)
{
    struct noted *s = calloc(1, sizeof(*s));
    if (!s || !mg__vec_push(&w->noted, s)) {
        free(s);
        return NULL;
    }
    s->access = (struct mg_access){.insn = a->insn,
                                   .kind = a->kind,
                                   .space = a->space,
                                   .generic = a->generic,
                                   .value64 = a->value64,
                                   .mask = a->mask,
                                   .width = a->width,
                                   .element = a->element,
                                   .shared_var = -1,
                                   .times = 1,
                                   .rows = 1};
    s->memo = m;
    s->bytes = a->kind == MG_ACCESS_ST ? 32 * a->width : 0;
    memcpy(s->delta, delta, sizeof(s->delta));
    return s;
}

bool mg__notes_shape(void *worker, struct mg_access *a, uint64_t lo, uint64_t hi, uint64_t *shape)
{
    struct worker *w = worker;
    const struct site *site = &w->launch->code.sites[a->insn];
    const bool stores = a->kind == MG_ACCESS_ST;
    uint64_t delta[32];
    if (!w->takes_notes || lo < site->lo || hi > site->hi || !site->number ||
        (stores ? site->class != MG_ORDER_PLAIN || site->publishes || site->reads || site->async || site->atomic ||
                      32 * a->width > MG_NOTE_BYTES
                : !site->plain_read))
        return false;
    if (stores && !w->notes.saved && !(w->notes.saved = malloc((size_t)MG_NOTES * MG_NOTE_BYTES)))
        return false;
    const uint64_t first = a->address[__builtin_ctz(a->mask)];
    for (unsigned i = 0; i < 32; i++)
        delta[i] = a->mask >> i & 1 ? a->address[i] - first : 0;
    struct mg_memo *m = mg__memo_new(delta, a->mask, a->width, 2);
    if (!m || !m->n || (stores && m->twice) || (first + (uint64_t)(int64_t)m->low) % 4)
        goto fail;
    for (*shape = 0; *shape < w->noted.count; ++*shape) {
        const struct noted *s = w->noted.at[*shape];
        if (!s->nloads && s->memo && s->access.insn == a->insn && s->access.mask == a->mask &&
            !memcmp(s->delta, delta, sizeof(delta)) && same_memo(s->memo, m))
            break;
    }
    if (*shape == w->noted.count) {
        if (*shape >= (a->mask == ~0u ? SHAPES : SHAPES / 2) || !make_shape(w, a, delta, m))
            goto fail;
    } else {
        free(m);
    }
    return true;
fail:
    free(m);
    return false;
}

/* ---- lanes at words of their own choice ---- */
/* The shape that stands for those of the instruction; false: there is none. */
static bool lanes_shape(struct worker *w, const struct mg_access *a, uint64_t *shape)
{
    static const uint64_t none[32];
    if (!w->lanes_shape && !(w->lanes_shape = calloc(w->launch->info->ninsns + 1, sizeof(*w->lanes_shape))))
        return false;
    if (!w->lanes_shape[a->insn] && w->noted.count < SHAPES && make_shape(w, a, none, NULL))
        w->lanes_shape[a->insn] = (uint32_t)w->noted.count;
    *shape = w->lanes_shape[a->insn] - 1u;
    return w->lanes_shape[a->insn];
}

bool mg__notes_lanes(struct worker *w, struct mg_access *a)
{
    const struct launch *l = w->launch;
    const struct site *site = &l->code.sites[a->insn];
    const struct mg_order *o = w->current->order;
    uint64_t least, most, shape;
    if (w->lanes_wait) {
        w->lanes_wait--;
        return false;
    }
    if (!site->number || a->width < 4 || a->width > 16 || w->nlanes == MG_HELD || w->notes.n == MG_NOTES ||
        (a->follow && *a->follow))
        return false;
    const bool orders = site->class != MG_ORDER_STRONG || site->own_fence || o->flagged || o->fences >> a->warp & 1;
    if (site->atomic ? orders || !l->one_width || l->pedantic || w->notes.nsaved : !site->plain_read)
        return false;
    mg__access_reach(a, &least, &most);
    if (least < site->lo || most + a->width > site->hi || !lanes_shape(w, a, &shape) ||
        !(w->noted_lanes || (w->noted_lanes = malloc(MG_HELD * sizeof(*w->noted_lanes)))))
        return false;
    mg__access_lanes(a);
    if (!mg__shadow_lanes_written(&w->current->shared, a, &w->noted_lanes[w->nlanes]))
        return false;
    w->noted_lanes[w->nlanes].atomic = site->atomic;
    w->natomics += site->atomic;
    w->notes.at[w->notes.n++] = shape << 40 | (uint64_t)a->warp << 32 | w->nlanes++;
    return true;
}

/* ---- lanes of a known pattern ---- */
struct mg_noted_pattern {
    uint32_t insn, id; /* of the pattern; within a launch it stays that one's */
    uint64_t shape;    /* + 1 */
};

bool mg__notes_pattern(struct worker *w, struct mg_access *a)
{
    const struct site *site = &w->launch->code.sites[a->insn];
    uint64_t least, most;
    if (!site->plain_read || w->notes.n == MG_NOTES || (a->follow && *a->follow) ||
        !(w->noted_patterns || (w->noted_patterns = calloc(PATTERNS, sizeof(*w->noted_patterns)))))
        return false;
    mg__access_reach(a, &least, &most);
    const struct mg_memo *memo = least % 4 ? NULL : mg__memos_find(&w->learnt.memos, a, 2);
    if (!memo || !mg__shadow_is_written(&w->current->shared, least / 4, memo))
        return false;
    struct mg_noted_pattern *p = &w->noted_patterns[(a->insn * 31 + a->pattern->id) % PATTERNS];
    if (!p->shape || p->insn != a->insn || p->id != a->pattern->id) {
        uint64_t shape;
        mg__access_lanes(a);
        if (!mg__notes_shape(w, a, least, most + a->width, &shape))
            return false;
        *p = (struct mg_noted_pattern){a->insn, a->pattern->id, shape + 1};
    } else if (least < site->lo || most + a->width > site->hi) {
        return false;
    }
    w->notes.at[w->notes.n++] = (p->shape - 1) << 40 | (uint64_t)a->warp << 32 | least;
    return true;
}

/* ---- a warp that meets ---- */
bool mg__notes_warp(struct worker *w, const struct mg_sync *e)
{
    static const uint64_t none[32];
    uint32_t others = 0;
    for (unsigned i = 0; i < 32; i++)
        others |= ~e->members[i];
    if (e->kind != MG_SYNC_WARP || ~e->mask | others || w->notes.n >= w->notes.most ||
        w->notes_of->owed[e->warp].lanes)
        return false;
    if (!w->meets_shape) {
        const struct mg_access nothing = {.insn = e->insn};
        if (w->noted.count >= SHAPES || !make_shape(w, &nothing, none, NULL))
            return false;
        w->meets_shape = (uint32_t)w->noted.count;
        w->noted.at[w->noted.count - 1]->meets = true;
    }
    w->notes_of->waits[e->warp] = 0; /* as in mg__meet */
    w->noted_meets |= UINT32_C(1) << e->warp;
    w->notes.at[w->notes.n++] = (uint64_t)(w->meets_shape - 1) << 40 | (uint64_t)e->warp << 32;
    return true;
}

/* ---- runs ---- */
bool mg__notes_run(void *worker, const struct mg_noted_load *loads, uint32_t n, uint32_t notes, uint64_t *shape)
{
    struct worker *w = worker;
    for (*shape = 0; *shape < w->noted.count; ++*shape) {
        const struct noted *s = w->noted.at[*shape];
        bool same = s->nloads == n && s->notes == notes;
        for (uint32_t k = 0; k < n && same; k++)
            same = s->loads[k].shape == loads[k].shape && s->loads[k].offset == loads[k].offset &&
                   s->loads[k].order == loads[k].order;
        if (same)
            return true;
    }
    struct noted *s = *shape < SHAPES && n && notes <= MG_NOTED_RUN ? calloc(1, sizeof(*s)) : NULL;
    if (!s || !(s->loads = malloc(n * sizeof(*loads))) || !mg__vec_push(&w->noted, s)) {
        if (s)
            free(s->loads);
        free(s);
        return false;
    }
    memcpy(s->loads, loads, n * sizeof(*loads));
    s->nloads = n;
    s->notes = notes;
    s->least = INT64_MAX;
    s->most = INT64_MIN;
    for (uint32_t k = 0; k < n; k++) {
        const int64_t unit = loads[k].offset / 4;
        s->least = MG_MIN(s->least, unit);
        s->most = MG_MAX(s->most, unit + w->noted.at[loads[k].shape]->memo->span - 1);
    }
    return true;
}
