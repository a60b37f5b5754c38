/* ordered.c - global memory between blocks that run in order, because they may wait for one another.
 *
 * A cell's entries are the last write and a read, with the steps that the block had gone (release.c), which says who
 * may rely on them. Here the real order is known, and with it what is missing: a fence beside a flag that was waited
 * for.
 */
#include "check/grid.h"
#include "check/watch.h"

/* Of each word the warp of the last block that wrote it, and 1; 0: not known. */
static inline uint8_t *writers(const struct region *r)
{
    return (uint8_t *)r->values; /* which nobody else has a use for where blocks run in order */
}

static inline uint8_t writer(const struct touch *t)
{
    return t->who.order && t->who.warp < 32 ? (uint8_t)(t->who.warp + 1) : 0;
}

/* By the party's own knowledge, of what the writer did (0: any warp); `except`: loosely, and not by the word there. */
static bool relies_on(struct launch *l, const struct party *who, uint64_t entry, uint32_t writer, uint64_t except)
{
    const uint32_t most = (1u << l->epoch_bits) - 1;
    struct reliance of = {0, writer, (uint32_t)entry & most, most, except != 0, except};
    for (uint64_t k = 0; k < 1ull << l->block_shift; k++) { /* which of several it was is not known */
        of.other = (block_in(l, entry) << l->block_shift) + k;
        if (mg__release_relies(l, who, &of))
            return true;
    }
    return false;
}

static bool relies(struct launch *l, const struct touch *t, uint64_t entry, uint32_t writer, uint64_t except)
{
    return relies_on(l, &t->who, entry, writer, except);
}

static bool conflict(struct launch *l, const struct touch *t, uint64_t entry, uint32_t writer, bool write)
{
    uint64_t block = block_in(l, entry);
    unsigned mine = cell_kind(l, t->site, write), theirs = kind_in(l, entry);
    return l->race && entry && block != t->who.block >> l->block_shift && kinds_race(mine, theirs) &&
           !relies(l, t, entry, writer, 0);
}

/* What is missing, where the reader's block has waited for a flag of the writer's: a fence, or in one of the two blocks
 * a barrier between the warp that has to do with the flag and the one that reads or writes. 0: they did not wait. */
static uint32_t missing(struct launch *l, const struct touch *t, uint64_t wrote, uint32_t writer, uint64_t address)
{
    const struct party all = {.block = t->who.block};
    if (relies_on(l, &t->who, wrote, writer, address))
        return FLAG_NO_FENCE;
    if (relies_on(l, &t->who, wrote, 0, 0))
        return FLAG_RAISED_ALONE;
    return relies_on(l, &all, wrote, writer, 0) ? FLAG_READ_ALONE : 0;
}

/* An access to what another block has written. */
static void after_write(struct worker *w, int32_t object, const struct touch *t, uint32_t insn, struct actor who,
                        uint64_t wrote, uint32_t writer)
{
    struct launch *l = w->launch;
    struct actor with = some_thread(block_in(l, wrote) << l->block_shift);
    uint32_t other = insn_in(l, wrote), why = 0;
    if (!t->site->writes && !of_block_scope(l, insn) && !of_block_scope(l, other))
        why = missing(l, t, wrote, writer, l->regions[object]->address + t->offset);
    if (why)
        mg__tally_note(&w->tally, &(struct occurrence){.kind = KIND_RACE_BLOCKS_WRITE_READ,
                                                       .place = PLACE_GLOBAL,
                                                       .insn = insn,
                                                       .other = other,
                                                       .object = object,
                                                       .count = 1,
                                                       .who = who,
                                                       .with = with,
                                                       .offset = t->offset,
                                                       .width = 4,
                                                       .value = {why}});
    else
        mg__grid_note(w, l, object, t->offset, 4, cell_kind(l, t->site, t->site->writes), insn, who, kind_in(l, wrote),
                      other, with, t->differs);
}

/* A write to what another block has read. */
static void after_read(struct worker *w, int32_t object, const struct touch *t, uint32_t insn, struct actor who,
                       uint64_t read)
{
    struct launch *l = w->launch;
    struct actor reader = some_thread(block_in(l, read) << l->block_shift);
    if (!relies(l, t, read, 0, l->regions[object]->address + t->offset))
        mg__grid_note(w, l, object, t->offset, 4, cell_kind(l, t->site, true), insn, who, kind_in(l, read),
                      insn_in(l, read), reader, true);
    else if (l->pedantic)
        mg__watch_note(w, KIND_RACE_LETTER, PLACE_GLOBAL, object, t->offset, 4, insn, insn_in(l, read), who, reader);
}

/* A descriptor of 8 bytes that is polled at once, and was stored in halves without a fence between. Stores are steps,
 * too: the second half is one step later, or more if there was a fence (release.c), as long as steps are counted. */
static void torn(struct worker *w, int32_t object, const struct touch *t, uint32_t insn, struct actor who)
{
    struct launch *l = w->launch;
    const struct region *r = l->regions[object];
    if (t->site->writes || t->site->width != 8 || t->site->class < MG_ORDER_VOLATILE || t->offset % 8 != 4)
        return;
    uint64_t halves[2];
    uint32_t insns[2], steps[2], most = (1u << l->epoch_bits) - 1;
    for (unsigned k = 0; k < 2; k++) {
        uint64_t cell = atomic_load_explicit(&r->cells[t->offset / 4 - 1 + k], memory_order_relaxed);
        halves[k] = cell >> ENTRY_BITS & ENTRY_MASK;
        insns[k] = insn_in(l, halves[k]);
        steps[k] = (uint32_t)halves[k] & most;
        if (!halves[k] || insns[k] == NO_INSN || kind_in(l, halves[k]) < STRONG_WRITE ||
            l->code.sites[insns[k]].width != 4 || l->code.sites[insns[k]].atomic || steps[k] > most / 2)
            return;
    }
    uint32_t apart = steps[1] > steps[0] ? steps[1] - steps[0] : steps[0] - steps[1];
    uint64_t block = block_in(l, halves[0]);
    if (insns[0] != insns[1] && apart <= 1 && block == block_in(l, halves[1]) &&
        block != t->who.block >> l->block_shift)
        mg__watch_note(w, KIND_RACE_TORN, PLACE_GLOBAL, object, t->offset - 4, 8, insn, insns[0], who,
                       some_thread(block << l->block_shift));
}

/* Whether a read in the cell gives way to this one. */
static bool gives_way(struct launch *l, const struct touch *t, uint64_t read)
{
    return !read || block_in(l, read) == t->who.block >> l->block_shift || kind_in(l, read) == STRONG_READ ||
           (kind_in(l, read) == VOLATILE_READ && cell_kind(l, t->site, false) == PLAIN_READ) ||
           relies(l, t, read, 0, 0);
}

static uint64_t entry_now(struct launch *l, const struct touch *t)
{
    if (t->site->writes)
        mg__release_wrote(l, &t->who);
    const uint32_t most = (1u << l->epoch_bits) - 1, epoch = MG_MIN(mg__release_steps(l, t->who.block), most);
    return entry_of(l, cell_kind(l, t->site, t->site->writes), t->who.block, t->site->number) | epoch;
}

void mg__ordered_words_begin(struct worker *w, const struct mg_access *a, const struct site *site,
                             struct ordered_words *o)
{
    const struct party who = mg__party(mg__watch_block(w, a->block), a, site);
    *o = (struct ordered_words){.touch = {.who = who, .site = site, .bytes = 15},
                                .same = ~(((1ull << w->launch->site_bits) - 1) << w->launch->epoch_bits),
                                .free_of_write = true,
                                .free_of_read = true,
                                .follows_read = true};
    o->entry = entry_now(w->launch, &o->touch);
}

/* By the same block in the same way at the same step. */
static inline bool alike(const struct ordered_words *o, uint64_t a, uint64_t b)
{
    return a == b || (a && b && !((a ^ b) & o->same));
}

/* Whether this access may come behind a cell's entries: asked once for all that are alike, as neighbours mostly are,
 * whichever instruction it was. */
static inline bool may_follow(struct launch *l, struct ordered_words *o, uint64_t wrote, uint32_t writer, uint64_t read)
{
    const struct touch *t = &o->touch;
    const bool writes = t->site->writes;
    if (!alike(o, wrote, o->wrote) || writer != o->writer) {
        o->wrote = wrote;
        o->writer = writer;
        o->free_of_write = !conflict(l, t, wrote, writer, writes);
    }
    if (!alike(o, read, o->read)) {
        o->read = read;
        o->free_of_read = !writes || !conflict(l, t, read, 0, true);
        o->follows_read = writes || gives_way(l, t, read);
    }
    return o->free_of_write && o->free_of_read;
}

/* What a cell keeps of its own, and what it gets. */
static inline void changes(const struct ordered_words *o, uint64_t *keep, uint64_t *put)
{
    const bool writes = o->touch.site->writes;
    *keep = writes ? ~(ENTRY_MASK << ENTRY_BITS | 15ull << 60) : o->follows_read ? ~ENTRY_MASK : UINT64_MAX;
    *put = writes ? o->entry << ENTRY_BITS | 15ull << 60 : o->follows_read ? o->entry : 0;
}

/* Whether the word's cell counts, and not its group's; the cells of a group that nobody has touched are 0. */
static inline bool is_split(struct region *r, uint64_t word)
{
    uint64_t *const group = (uint64_t *)&r->groups[word / CELLS_GROUP];
    if (*group)
        return *group >> FLAG_SPLIT & 1;
    *group = 1ull << FLAG_SPLIT;
    atomic_store_explicit(&r->touched[word / CELLS_CHUNK], 1, memory_order_relaxed);
    return true;
}

/* Whether all groups are split, and all cells in the bits `same` as this one. */
MG_WIDE static bool all_like(uint64_t cell, const uint64_t *cells, const uint64_t *groups, const uint32_t *words,
                             size_t n, uint64_t same)
{
    uint64_t split = UINT64_MAX, differ = 0;
    for (size_t i = 0; i < n; i++) {
        differ |= cells[words[i]] ^ cell;
        split &= groups[words[i] / CELLS_GROUP];
    }
    return !(differ & same) && split >> FLAG_SPLIT & 1;
}

size_t mg__ordered_words(struct launch *l, struct region *r, struct ordered_words *o, const uint32_t *words, size_t n)
{
    uint64_t *const cells = (uint64_t *)r->cells; /* the launch has one worker, so it is memory like any other */
    const bool parts = mg__release_parts(l), writes = o->touch.site->writes;
    uint8_t *const by = writers(r), mine = writer(&o->touch);
    size_t done = 0, end;
    for (; done < n; done = end) {
        const uint64_t first = cells[words[done]], wrote = first >> ENTRY_BITS & ENTRY_MASK, read = first & ENTRY_MASK;
        /* An entry that is 0 but for its site's bits may be none in another cell. */
        const uint64_t same = (wrote & o->same ? o->same & ENTRY_MASK : ENTRY_MASK) << ENTRY_BITS |
                              (read & o->same ? o->same & ENTRY_MASK : ENTRY_MASK) | 15ull << 60;
        if (!is_split(r, words[done]) || (first >> 60 && first >> 60 != 15) ||
            !may_follow(l, o, wrote, parts ? by[words[done]] : 0, read))
            break;
        end = done + 1;
        if (!done && !parts && all_like(first, cells, (const uint64_t *)r->groups, words, n, same))
            end = n;
        while (end < n && (!parts || by[words[end]] == by[words[done]]) && !((cells[words[end]] ^ first) & same) &&
               is_split(r, words[end]))
            end++;
        uint64_t keep, put;
        changes(o, &keep, &put);
        for (size_t i = done; put && i < end; i++) {
            cells[words[i]] = (cells[words[i]] & keep) | put;
            if (writes)
                by[words[i]] = mine;
        }
    }
    return done;
}

void mg__ordered_touch(struct worker *w, int32_t object, const struct touch *t, uint32_t insn, struct actor who)
{
    struct launch *l = w->launch;
    struct region *r = l->regions[object];
    _Atomic uint64_t *at = &r->cells[t->offset / 4];
    uint64_t old = atomic_load_explicit(at, memory_order_relaxed), new = old;
    uint64_t wrote = old >> ENTRY_BITS & ENTRY_MASK, read = old & ENTRY_MASK;
    uint64_t entry = entry_now(l, t);
    uint8_t *const by = &writers(r)[t->offset / 4];
    bool part = t->bytes != 15 || (old >> 60 && old >> 60 != 15);
    uint64_t block = t->who.block >> l->block_shift;
    if (part && ((wrote && block_in(l, wrote) != block) || (read && block_in(l, read) != block)) &&
        !(t->bytes & old >> 60)) {
        /* other bytes of the same word: not told apart, not a race */
        new |= t->site->writes ? (uint64_t)t->bytes << 60 : 0;
        atomic_store_explicit(at, new, memory_order_relaxed);
        return;
    }
    if (l->race)
        torn(w, object, t, insn, who);
    if (conflict(l, t, wrote, *by, t->site->writes))
        after_write(w, object, t, insn, who, wrote, *by);
    else if (t->site->writes && conflict(l, t, read, 0, true))
        after_read(w, object, t, insn, who, read);
    if (t->site->writes) {
        new = (new & ~(ENTRY_MASK << ENTRY_BITS)) | entry << ENTRY_BITS |
              (t->leaves_unwritten ? 0 : (uint64_t)t->bytes << 60);
        *by = writer(t);
    } else if (gives_way(l, t, read)) {
        new = (new & ~ENTRY_MASK) | entry;
    }
    atomic_store_explicit(at, new, memory_order_relaxed);
}
