/* grid.c - between the blocks of a launch: who touched each 4 bytes of global memory.
 *
 * A cell of 64 bits stands for 4 bytes of an allocation that the launch may write to:
 *
 *     bits 60-63  bytes written in this launch
 *     bit  59     MIXED: blocks have touched different bytes of it; the details are in a table of their own
 *     bit  58     of a group: SPLIT, its cells count; of a cell: ALONE, one block has touched it, and the second entry
 *                 is what it did with which bytes (in kernels that move less than 4)
 *     bit  57     written by an atomic or another strong operation
 *     bit  56     of a group: its cells are being filled
 *     bits 28-55  an entry, and bits 0-27 another; 0: none
 *
 * Beside it a byte stands for the value that was written, so that it is known whether all wrote the same. Most
 * accesses touch many words alike: eight cells in a row are one as long as they are the same (a group), and made eight
 * when they are not.
 *
 * Most launches have blocks that never wait for one another and run on all threads, in any order. Their cells keep
 * what does not depend on the order: of each block its gravest access (plain write, plain read, strong write, strong
 * read), and of all blocks the two gravest, the lower block first. If the first is a write there is a race, and these
 * two name it.
 *
 * Launches whose blocks may wait for one another run in order. There the entries are the last write and a read, with
 * the number of steps that the block had gone (ordered.c).
 */
#include "check/grid.h"
#include "check/watch.h"

bool mg__grid_begin(struct launch *l)
{
    const struct mg_dim3 *g = &l->info->grid;
    uint64_t nblocks = (uint64_t)g->x * g->y * g->z;
    unsigned site_bits = 1, block_bits = 1;
    while (l->code.nnumbers >> site_bits)
        site_bits++;
    site_bits = MG_MIN(site_bits, 12u);
    while (nblocks >> block_bits)
        block_bits++;
    l->kind_bits = l->ordered ? 3 : 2;
    unsigned room = ENTRY_BITS - l->kind_bits - site_bits - (l->ordered ? 4 : 0);
    l->block_shift = block_bits > room ? block_bits - room : 0;
    l->block_bits = MG_MIN(block_bits, room);
    l->site_bits = site_bits;
    l->epoch_bits = l->ordered ? ENTRY_BITS - l->kind_bits - site_bits - l->block_bits : 0;
    return mg__mixed_begin(l) && (!l->ordered || mg__releases_begin(l, nblocks));
}

void mg__grid_end(struct launch *l)
{
    mg__releases_end(l);
    mg__mixed_end(l);
}

/* ---- groups ---- */
/* From now on each cell of the group stands for itself. */
static void split(struct region *r, uint64_t g)
{
    _Atomic uint64_t *at = &r->groups[g];
    uint64_t old = atomic_load_explicit(at, memory_order_acquire);
    while (!(old >> FLAG_SPLIT & 1)) {
        if (old >> FLAG_BUSY & 1) { /* by another worker: for a few instructions */
            old = atomic_load_explicit(at, memory_order_acquire);
            continue;
        }
        uint64_t next = old ? old | 1ull << FLAG_BUSY : 1ull << FLAG_SPLIT; /* the cells of an untouched one are 0 */
        if (!atomic_compare_exchange_weak_explicit(at, &old, next, memory_order_acq_rel, memory_order_acquire))
            continue;
        if (!old)
            return;
        for (unsigned k = 0; k < CELLS_GROUP; k++)
            atomic_store_explicit(&r->cells[g * CELLS_GROUP + k], old, memory_order_relaxed);
        atomic_store_explicit(at, 1ull << FLAG_SPLIT, memory_order_release);
        return;
    }
}

unsigned mg__grid_written(const struct region *r, uint64_t offset)
{
    uint64_t cell = atomic_load_explicit(&r->groups[offset / 4 / CELLS_GROUP], memory_order_acquire);
    if (cell >> FLAG_SPLIT & 1)
        cell = atomic_load_explicit(&r->cells[offset / 4], memory_order_relaxed);
    return (unsigned)(cell >> 60);
}

static uint8_t value_at(const struct region *r, uint64_t word)
{
    return (uint8_t)(atomic_load_explicit(&r->values[word / CELLS_GROUP], memory_order_relaxed) >>
                     8 * (word % CELLS_GROUP));
}

static bool by_the_letter(const struct launch *l, uint32_t insn, unsigned kind, unsigned other)
{
    return insn != NO_INSN && l->code.sites[insn].letter && kind == PLAIN_READ && other >= STRONG_WRITE;
}

void mg__grid_note(struct worker *w, const struct launch *l, int32_t object, uint64_t offset, uint32_t width,
                   unsigned kind_a, uint32_t insn_a, struct actor a, unsigned kind_b, uint32_t insn_b, struct actor b,
                   bool differs)
{
    bool write_a = is_write(kind_a), write_b = is_write(kind_b);
    enum check_kind kind = write_a && write_b ? (differs ? KIND_RACE_BLOCKS_WRITE_WRITE : KIND_RACE_SAME_VALUE)
                                              /* find.c tells write-read from read-write */
                                              : KIND_RACE_BLOCKS_WRITE_READ;
    if (of_block_scope(l, insn_a) || of_block_scope(l, insn_b))
        kind = KIND_RACE_SCOPE;
    else if (by_the_letter(l, insn_a, kind_a, kind_b) || by_the_letter(l, insn_b, kind_b, kind_a))
        kind = KIND_RACE_LETTER;
    if (write_a && !write_b) /* the read first: as with races in a block */
        mg__watch_note(w, kind, PLACE_GLOBAL, object, offset, width, insn_b, insn_a, b, a);
    else
        mg__watch_note(w, kind, PLACE_GLOBAL, object, offset, width, insn_a, insn_b, a, b);
}

/* ---- any order ---- */
/* Entries are kept as ENTRY_MASK - key, so that 0 is none and the gravest is the greatest. */
static uint64_t put_in(const struct launch *l, uint64_t cell, uint64_t entry)
{
    uint64_t one = cell >> ENTRY_BITS & ENTRY_MASK, two = cell & ENTRY_MASK, mine = ENTRY_MASK - entry;
    uint64_t block = block_in(l, entry);
    if (one && block_in(l, ENTRY_MASK - one) == block) {
        one = MG_MAX(one, mine);
    } else if (two && block_in(l, ENTRY_MASK - two) == block) {
        two = MG_MAX(two, mine);
    } else if (mine > two) {
        two = mine;
    }
    if (two > one) {
        uint64_t swap = one;
        one = two;
        two = swap;
    }
    return (cell & ~(ENTRY_MASK | ENTRY_MASK << ENTRY_BITS)) | one << ENTRY_BITS | two;
}

/* Whether a cell that has all of `flags` is as it was behind one more touch of whole words: the entry is none of the
 * two gravest, or the gravest. `alone`: it would not become that of one block, either. */
static inline bool stays(uint64_t cell, uint64_t entry, uint64_t flags, bool alone)
{
    const uint64_t one = cell >> ENTRY_BITS & ENTRY_MASK, two = cell & ENTRY_MASK, mine = ENTRY_MASK - entry;
    const bool whole = cell >> 60 == 0 || cell >> 60 == 15;
    return !(cell >> FLAG_BUSY & 13) && whole && (cell & flags) == flags && /* nor SPLIT or ALONE, nor MIXED */
           ((two && two >= mine) || (alone && one == mine));
}

static inline uint8_t value_in(uint32_t v, unsigned n)
{
    v = (v ^ v >> 15) * 0x85ebca6bu + n;
    return (uint8_t)(1 + ((v >> 16) * 254 >> 16));
}

uint8_t mg__grid_value(const uint8_t *bytes, unsigned n)
{
    uint32_t v = 0;
    memcpy(&v, bytes, n);
    return value_in(v, n);
}

/* Of 32 lanes' words, `stride` bytes apart. */
MG_WIDE static void values_of(const uint8_t *words, unsigned stride, uint8_t value[32])
{
    uint32_t v[32];
    if (stride == 4)
        memcpy(v, words, sizeof v);
    for (unsigned i = 0; i < 32 && stride != 4; i++)
        memcpy(&v[i], words + (size_t)i * stride, 4);
    for (unsigned i = 0; i < 32; i++)
        value[i] = value_in(v[i], 4);
}

/* The set of values written, as far as it matters: none, one, several. The same for any order. `value`: a byte a word
 * of the group, VALUE_NONE for those that were not written. */
static void wrote(_Atomic uint64_t *at, uint64_t value, bool alone)
{
    uint64_t old = atomic_load_explicit(at, memory_order_relaxed), new;
    do {
        new = value;
        if (old == value)
            return;
        for (unsigned k = 0; old && k < 64; k += 8) {
            uint8_t before = (uint8_t)(old >> k), now = (uint8_t)(value >> k);
            if (before && before != now)
                new = (new & ~(255ull << k)) | (uint64_t)(now ? VALUE_MANY : before) << k;
        }
        if (alone) {
            atomic_store_explicit(at, new, memory_order_relaxed);
            return;
        }
    } while (new != old &&
             !atomic_compare_exchange_weak_explicit(at, &old, new, memory_order_relaxed, memory_order_relaxed));
}

/* The same of one word, on the only worker. */
static inline void wrote_alone(_Atomic uint64_t *at, unsigned shift, uint8_t value)
{
    const uint64_t old = atomic_load_explicit(at, memory_order_relaxed);
    const uint8_t before = (uint8_t)(old >> shift);
    if (before == value)
        return;
    const uint64_t now = before ? VALUE_MANY : value;
    atomic_store_explicit(at, (old & ~(255ull << shift)) | now << shift, memory_order_relaxed);
}

/* What the cell's one block did, this touch included. */
static struct alone with_touch(const struct launch *l, struct alone a, const struct touch *t)
{
    uint16_t site = (uint16_t)MG_MIN(t->site->number, (1u << l->site_bits) - 1);
    if (t->site->reads && (!a.read || site < a.site))
        a.site = site;
    if (t->site->reads)
        a.read |= t->bytes;
    if (t->site->writes)
        a.value = a.value && a.value != t->value ? VALUE_MANY : t->value;
    return a;
}

/* What the touch makes of a cell; `part`: it is of some of its bytes, and not the same for each. */
static inline uint64_t touched_cell(const struct launch *l, uint64_t old, uint64_t entry, const struct touch *t,
                                    bool part)
{
    const bool alone = old >> FLAG_ALONE & 1;
    const uint64_t was = alone ? old & ~(ENTRY_MASK | 1ull << FLAG_ALONE) : old;
    const uint64_t one = was >> ENTRY_BITS & ENTRY_MASK, two = was & ENTRY_MASK;
    const bool another = (one && block_in(l, ENTRY_MASK - one) != block_in(l, entry)) || two;
    const uint8_t read = alone ? alone_in(old).read : 0;
    uint64_t new;
    if (was >> FLAG_MIXED & 1 || (another && (part || (was >> 60 && was >> 60 != 15) || (read && read != 15)))) {
        new = was | 1ull << FLAG_MIXED;
    } else {
        new = was ? put_in(l, was, entry) : (ENTRY_MASK - entry) << ENTRY_BITS;
        if (t->site->writes && t->site->class >= MG_ORDER_STRONG)
            new |= 1ull << FLAG_STRONG;
        if (l->code.unit_global < 2 && !another)
            new |= alone_of(with_touch(l, alone ? alone_in(old) : (struct alone){0}, t));
    }
    if (t->site->writes && !t->leaves_unwritten)
        new |= (uint64_t)t->bytes << 60;
    return new;
}

static void touch_any(struct worker *w, int32_t object, const struct touch *t, uint32_t insn)
{
    struct launch *l = w->launch;
    struct region *r = l->regions[object];
    _Atomic uint64_t *at = &r->cells[t->offset / 4];
    uint64_t entry = entry_of(l, cell_kind(l, t->site, t->site->writes), t->who.block, t->site->number);
    uint64_t old = atomic_load_explicit(at, memory_order_relaxed), new;
    uint64_t word = t->offset / 4;
    do
        new = touched_cell(l, old, entry, t, t->bytes != 15);
    while (new != old &&
           !atomic_compare_exchange_weak_explicit(at, &old, new, memory_order_relaxed, memory_order_relaxed));
    if (t->site->writes)
        wrote(&r->values[word / CELLS_GROUP], (uint64_t)t->value << 8 * (word % CELLS_GROUP), false);
    if (new >> FLAG_MIXED & 1)
        mg__mixed_touch(w, object, t, insn, old);
}

void mg__grid_touch(struct worker *w, int32_t object, const struct touch *t, uint32_t insn, struct actor who)
{
    struct launch *l = w->launch;
    struct region *r = l->regions[object];
    atomic_uchar *touched = &r->touched[t->offset / (4 * CELLS_CHUNK)];
    if (!atomic_load_explicit(touched, memory_order_relaxed))
        atomic_store_explicit(touched, 1, memory_order_relaxed);
    split(r, t->offset / 4 / CELLS_GROUP);
    if (l->ordered)
        mg__ordered_touch(w, object, t, insn, who);
    else
        touch_any(w, object, t, insn);
}

void mg__grid_forget(struct region *r, uint64_t from, uint64_t to)
{
    for (uint64_t word = from / 4; word < (to + 3) / 4; word++) {
        split(r, word / CELLS_GROUP);
        atomic_store_explicit(&r->cells[word], 0, memory_order_relaxed);
    }
}

/* Two or four words of each lane, the lanes' one behind the other. */
MG_WIDE static void join_values(uint8_t value[4][32], unsigned each, uint8_t *of)
{
    uint32_t four[32];
    uint16_t two[32];
    for (unsigned i = 0; i < 32; i++) {
        two[i] = (uint16_t)(value[0][i] | value[1][i] << 8);
        four[i] = two[i] | (uint32_t)value[2][i] << 16 | (uint32_t)value[3][i] << 24;
    }
    if (each == 2)
        memcpy(of, two, sizeof two);
    else
        memcpy(of, four, sizeof four);
}

/* What the lanes of a store write to each of the memo's words, by its distance from the first. */
static void values_in_a_row(const struct mg_access *a, const struct mg_memo *memo, uint8_t *of)
{
    const unsigned each = a->width / 4, element = MG_MIN(a->element, a->value64 ? 8u : 4u);
    if (!a->value || (element != 4 && element != 8) || a->value64 != (element == 8)) {
        memset(of, VALUE_MANY, memo->span);
        return;
    }
    if (each == 1 && memo->in_order) {
        values_of(a->value[0], 4, of);
        return;
    }
    uint8_t values[4][32] = {{0}};
    const bool joined = memo->in_order && each <= 4;
    unsigned first = (unsigned)__builtin_ctz(a->mask);
    for (unsigned k = 0; k < each; k++) {
        uint8_t *const value = values[k % 4];
        values_of((const uint8_t *)a->value[4 * k / element] + 4 * k % element, element, value);
        if (joined)
            continue;
        for (uint32_t rest = a->mask; rest; rest &= rest - 1) {
            unsigned lane = (unsigned)__builtin_ctz(rest);
            int64_t delta = a->pattern ? a->pattern->delta[lane] : (int64_t)(a->address[lane] - a->address[first]);
            of[(delta - memo->low) / 4 + k] = value[lane];
        }
    }
    if (joined)
        join_values(values, each, of);
}

/* As touch_any, of all bytes of a cell, or of all cells of a group. False: it is for touch_any. */
static bool put(const struct launch *l, _Atomic uint64_t *at, uint64_t entry, uint64_t bytes, bool alone)
{
    uint64_t old = atomic_load_explicit(at, memory_order_relaxed), new;
    do {
        uint64_t one = old >> ENTRY_BITS & ENTRY_MASK;
        bool another = (one && block_in(l, ENTRY_MASK - one) != block_in(l, entry)) || old & ENTRY_MASK;
        if (stays(old, entry, bytes, true))
            return true;
        if (old >> FLAG_BUSY & 13 || (another && old >> 60 && old >> 60 != 15)) /* or SPLIT, or MIXED */
            return false;
        new = (old ? put_in(l, old, entry) : (ENTRY_MASK - entry) << ENTRY_BITS) | bytes;
        if (alone) {
            atomic_store_explicit(at, new, memory_order_relaxed);
            return true;
        }
    } while (new != old &&
             !atomic_compare_exchange_weak_explicit(at, &old, new, memory_order_acq_rel, memory_order_relaxed));
    return true;
}

/* A store to all of a group that nobody has touched, on the only worker. */
static inline bool put_first(struct region *r, uint64_t g, uint64_t cell, const uint8_t of[CELLS_GROUP])
{
    uint64_t value = 0;
    if (atomic_load_explicit(&r->groups[g], memory_order_relaxed) ||
        atomic_load_explicit(&r->values[g], memory_order_relaxed))
        return false;
    for (unsigned k = 0; k < CELLS_GROUP; k++)
        value |= (uint64_t)of[k] << 8 * k;
    atomic_store_explicit(&r->groups[g], cell, memory_order_relaxed);
    atomic_store_explicit(&r->values[g], value, memory_order_relaxed);
    return true;
}

/* Words in a row; `of`: their values, NULL for reads. */
static bool put_run(const struct launch *l, struct region *r, uint64_t entry, uint64_t first, uint64_t n,
                    const uint8_t *of)
{
    uint64_t past = first + n, bytes = of ? 15ull << 60 : 0;
    bool alone = l->workers == 1;
    for (uint64_t c = first / CELLS_CHUNK; c <= (past - 1) / CELLS_CHUNK; c++)
        if (!atomic_load_explicit(&r->touched[c], memory_order_relaxed))
            atomic_store_explicit(&r->touched[c], 1, memory_order_relaxed);
    for (uint64_t g = first / CELLS_GROUP; g <= (past - 1) / CELLS_GROUP; g++) {
        uint64_t from = MG_MAX(g * CELLS_GROUP, first), to = MG_MIN((g + 1) * CELLS_GROUP, past), value = 0;
        if (alone && of && to - from == CELLS_GROUP &&
            put_first(r, g, (ENTRY_MASK - entry) << ENTRY_BITS | bytes, of + (from - first)))
            continue;
        if (to - from < CELLS_GROUP || !put(l, &r->groups[g], entry, bytes, alone)) {
            split(r, g);
            for (uint64_t word = from; word < to; word++)
                if (!put(l, &r->cells[word], entry, bytes, alone))
                    return false;
        }
        for (uint64_t word = from; of && word < to; word++)
            value |= (uint64_t)of[word - first] << 8 * (word % CELLS_GROUP);
        if (of)
            wrote(&r->values[g], value, alone);
    }
    return true;
}

bool mg__grid_touch_words(struct worker *w, int32_t object, const struct mg_access *a, const struct site *site,
                          uint64_t offset, const struct mg_memo *memo)
{
    struct launch *l = w->launch;
    struct region *r = l->regions[object];
    uint64_t entry = entry_of(l, cell_kind(l, site, site->writes), a->block, site->number);
    uint8_t of[MG_MEMO_SPAN];
    if (site->writes)
        values_in_a_row(a, memo, of);
    if (memo->n == memo->span)
        return put_run(l, r, entry, offset / 4, memo->n, site->writes ? of : NULL);
    for (unsigned k = 0, n; k < memo->n; k += n) {
        unsigned at = memo->unit[k];
        for (n = 1; k + n < memo->n && memo->unit[k + n] == at + n; n++)
            ;
        if (!put_run(l, r, entry, offset / 4 + at, n, site->writes ? of + at : NULL))
            return false;
    }
    return true;
}

/* What a lane stores to bytes of a word: as mg__grid_value. */
static inline uint8_t value_of_lane(const struct mg_access *a, unsigned element, unsigned lane, unsigned from,
                                    unsigned n)
{
    uint8_t bytes[4];
    uint32_t v;
    if (a->kind == MG_ACCESS_ST && a->value && element >= 4 && n == 4 && from % 4 == 0) {
        const uint8_t *lanes = a->value[from / element];
        memcpy(&v, lanes + (size_t)lane * (a->value64 ? 8 : 4) + from % element, 4);
        return value_in(v, 4);
    }
    if (a->kind == MG_ACCESS_ST && a->value && element == 1 && n == 1 && !a->value64)
        return value_in(((const uint32_t *)a->value[from])[lane] & 255, 1);
    return mg__value_of(a, element, lane, from, n, bytes) ? mg__grid_value(bytes, n) : VALUE_MANY;
}

/* The same word's touches, of one block and one instruction, together. False: other blocks share it, by bytes. */
static inline bool touch_together(const struct launch *l, struct region *r, uint64_t entry, const struct touch *t,
                                  bool part)
{
    const uint64_t word = t->offset / 4, group = word / CELLS_GROUP;
    const bool alone = l->workers == 1;
    atomic_uchar *touched = &r->touched[word / CELLS_CHUNK];
    _Atomic uint64_t *at = &r->cells[word];
    if (!atomic_load_explicit(touched, memory_order_relaxed))
        atomic_store_explicit(touched, 1, memory_order_relaxed);
    if (!(atomic_load_explicit(&r->groups[group], memory_order_acquire) >> FLAG_SPLIT & 1))
        split(r, group);
    uint64_t old = atomic_load_explicit(at, memory_order_relaxed), new;
    do {
        new = touched_cell(l, old, entry, t, part);
        if (new >> FLAG_MIXED & 1)
            return false;
        if (alone) {
            atomic_store_explicit(at, new, memory_order_relaxed);
            break;
        }
    } while (new != old &&
             !atomic_compare_exchange_weak_explicit(at, &old, new, memory_order_relaxed, memory_order_relaxed));
    if (t->site->writes && alone)
        wrote_alone(&r->values[group], 8 * (word % CELLS_GROUP), t->value);
    else if (t->site->writes)
        wrote(&r->values[group], (uint64_t)t->value << 8 * (word % CELLS_GROUP), false);
    return true;
}

/* Whether the word has been touched so before, as most are that many lanes touch, and is as it was. */
static inline bool same_again(const struct launch *l, const struct region *r, uint64_t entry, const struct site *site,
                              uint64_t word, uint8_t value)
{
    const uint64_t strong = site->class >= MG_ORDER_STRONG ? UINT64_C(1) << FLAG_STRONG : 0,
                   flags = site->writes ? UINT64_C(15) << 60 | strong : 0;
    if (!(atomic_load_explicit(&r->groups[word / CELLS_GROUP], memory_order_acquire) >> FLAG_SPLIT & 1) ||
        !stays(atomic_load_explicit(&r->cells[word], memory_order_relaxed), entry, flags, l->code.unit_global == 2))
        return false;
    const uint8_t before = site->writes ? value_at(r, word) : value;
    return before == value || before == VALUE_MANY;
}

bool mg__grid_touch_lanes(struct worker *w, int32_t object, const struct mg_access *a, const struct site *site)
{
    const struct launch *l = w->launch;
    struct region *r = l->regions[object];
    const uint64_t entry = entry_of(l, cell_kind(l, site, site->writes), a->block, site->number);
    const unsigned element = site->writes ? mg__element_of(l, a) : 0;
    struct touch t = {.who = {.block = a->block}, .offset = UINT64_MAX, .site = site};
    bool part = false;
    for (uint32_t rest = a->mask; rest; rest &= rest - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(rest);
        const uint64_t from = a->address[lane] - r->address, to = from + a->width;
        for (uint64_t word = from / 4 * 4; word < to; word += 4) {
            const uint64_t lo = MG_MAX(word, from), hi = MG_MIN(word + 4, to);
            const uint8_t bytes = (uint8_t)(((1u << (hi - lo)) - 1) << (lo - word)),
                          value = site->writes ? value_of_lane(a, element, lane, (unsigned)(lo - from),
                                                               (unsigned)(hi - lo))
                                               : VALUE_NONE;
            if (bytes == 15 && same_again(l, r, entry, site, word / 4, value))
                continue;
            if (word == t.offset) {
                t.bytes |= bytes;
                t.value = t.value == value ? value : VALUE_MANY;
                part |= bytes != 15;
                continue;
            }
            if (t.offset != UINT64_MAX && !touch_together(l, r, entry, &t, part))
                return false;
            t.offset = word;
            t.bytes = bytes;
            t.value = value;
            part = bytes != 15;
        }
    }
    return t.offset == UINT64_MAX || touch_together(l, r, entry, &t, part);
}

/* ---- the end ---- */
static void judge(struct worker *w, int32_t object, uint64_t offset, uint64_t cell)
{
    struct launch *l = w->launch;
    uint64_t one = cell >> ENTRY_BITS & ENTRY_MASK, two = cell & ENTRY_MASK;
    if (!one || !two || cell >> FLAG_MIXED & 1 || cell >> FLAG_ALONE & 1)
        return;
    one = ENTRY_MASK - one;
    two = ENTRY_MASK - two;
    unsigned a = kind_in(l, one), b = kind_in(l, two);
    struct actor who = some_thread(block_in(l, one) << l->block_shift),
                 with = some_thread(block_in(l, two) << l->block_shift);
    if (kinds_race(a, b))
        mg__grid_note(w, l, object, offset, 4, a, insn_in(l, one), who, b, insn_in(l, two), with,
                      value_at(l->regions[object], offset / 4) == VALUE_MANY);
    else if (a == PLAIN_READ && b == PLAIN_READ &&
             cell >> FLAG_STRONG & 1) /* an atomic of some block, and two that read */
        mg__grid_note(w, l, object, offset, 4, a, insn_in(l, one), who, STRONG_WRITE, NO_INSN, with, true);
}

/* The bytes of the cell that the launch is sure to have used: `one` entry's, of blocks in any order. */
static unsigned used_bytes(const struct launch *l, uint64_t cell, unsigned kind)
{
    if (l->code.unit_global == 2)
        return 15;
    if (is_write(kind))
        return (unsigned)(cell >> 60);
    return cell >> FLAG_ALONE & 1 ? alone_in(cell).read : 0;
}

/* A run of bytes that are used in one way: told when it ends. */
struct used_run {
    uint64_t from, to;
    enum mg__use use;
    uint32_t insn;
};

static void tell_run(const struct launch *l, struct region *r, struct used_run *run)
{
    if (run->to > run->from)
        mg__streams_use(r, run->use, run->from, run->to, l, run->insn);
    run->to = run->from = 0;
}

static inline void use_bytes(const struct launch *l, struct region *r, struct used_run *run, enum mg__use use,
                             uint64_t from, uint64_t to, uint32_t insn)
{
    if (run->to == from && run->use == use && run->to > run->from) {
        run->to = to;
        return;
    }
    tell_run(l, r, run);
    *run = (struct used_run){from, to, use, insn};
}

static void use_some(const struct launch *l, struct region *r, struct used_run *run, enum mg__use use, uint64_t from,
                     uint64_t to, unsigned bytes, uint32_t insn)
{
    if (bytes == 15)
        use_bytes(l, r, run, use, from, to, insn);
    for (uint64_t at = from; bytes && bytes != 15 && at < to; at++)
        if (bytes >> at % 4 & 1)
            use_bytes(l, r, run, use, at, at + 1, insn);
}

/* What work in another stream must not touch before this launch is over: of the cells from one offset to another, which
 * are alike. Where accesses are of less than 4 bytes, other work may use the bytes beside them. Which were read is not
 * known of a word that several blocks use, nor in order: all of it, or none where the host is watched. */
static void leave(struct launch *l, struct region *r, struct used_run run[2], uint64_t from, uint64_t to, uint64_t cell)
{
    static const enum mg__use uses[] = {MG__USE_WRITE, MG__USE_READ,  MG__USE_ATOMIC,
                                        MG__USE_READ,  MG__USE_WRITE, MG__USE_READ};
    const uint64_t one = cell >> ENTRY_BITS & ENTRY_MASK, two = cell & ENTRY_MASK;
    const uint64_t entry = l->ordered ? one : ENTRY_MASK - one;
    const unsigned kind = kind_in(l, entry); /* in order one is a write */
    const bool whole = l->code.unit_global == 2, mixed = cell >> FLAG_MIXED & 1;
    unsigned bytes = whole ? 15 : l->ordered ? (unsigned)(cell >> 60) : used_bytes(l, cell, kind), read = 0;
    if (!bytes && !r->watched)
        bytes = 15;
    if (!l->ordered && !whole && cell >> FLAG_ALONE & 1)
        read = alone_in(cell).read;
    else if (!l->ordered && mixed && !r->watched)
        read = 15;
    if (one)
        use_some(l, r, run, uses[kind], from, to, bytes, insn_in(l, entry));
    if (one && !l->ordered)
        use_some(l, r, run + 1, MG__USE_READ, from, to, read & ~bytes, insn_in(l, entry));
    if (l->ordered && two && (whole || !r->watched))
        use_bytes(l, r, run + 1, uses[kind_in(l, two)], from, to, insn_in(l, two));
}

/* Bytes that were written, one behind the other, and the instruction that wrote the first. */
struct wrote_run {
    uint64_t from, to;
    uint32_t insn;
};

static void chain_run(struct launch *l, const struct region *r, struct wrote_run *run)
{
    if (run->to > run->from)
        mg__chain_wrote(l, r, run->from, run->to, run->insn);
    run->to = run->from = 0;
}

/* For the launch behind this one, and for this one if it may have begun early. */
static void chain(struct launch *l, const struct region *r, struct wrote_run *run, uint64_t from, uint64_t to,
                  uint64_t cell)
{
    const uint64_t one = cell >> ENTRY_BITS & ENTRY_MASK;
    if (l->dependent)
        mg__chain_used(l, r, from, to, one ? insn_in(l, ENTRY_MASK - one) : NO_INSN);
    if (!(cell >> 60))
        return;
    if (run->to == from && run->to > run->from) {
        run->to = to;
        return;
    }
    chain_run(l, r, run);
    *run = (struct wrote_run){from, to, one ? insn_in(l, ENTRY_MASK - one) : NO_INSN};
}

/* Cells that had to be split, and came to be alike again. */
static bool same_cells(const _Atomic uint64_t *cells)
{
    uint64_t first = atomic_load_explicit(cells, memory_order_relaxed), differ = 0;
    for (unsigned k = 1; k < CELLS_GROUP; k++)
        differ |= first ^ atomic_load_explicit(&cells[k], memory_order_relaxed);
    return differ == 0;
}

/* The cells of a chunk, up to the region's last: judged, and what they say was written is
 * marked. They are empty then. */
static void collect_chunk(struct worker *w, int32_t object, uint64_t chunk, uint64_t n, bool streams)
{
    struct launch *l = w->launch;
    struct region *r = l->regions[object];
    bool judges = l->race && !l->ordered, marks = r->written != WRITTEN_ALL;
    struct used_run used[2] = {{0}, {0}};
    struct wrote_run written = {0};
    /* from `run` on all is written */
    uint64_t from = chunk * CELLS_CHUNK, to = MG_MIN(from + CELLS_CHUNK, n), run = from;
    for (uint64_t first = from; first < to; first += CELLS_GROUP) {
        uint64_t group = atomic_load_explicit(&r->groups[first / CELLS_GROUP], memory_order_relaxed);
        uint64_t past = MG_MIN(first + CELLS_GROUP, to);
        const bool is_split = group >> FLAG_SPLIT & 1;
        bool alike = !is_split || (!l->dependent && same_cells(&r->cells[first]));
        if (is_split && alike)
            group = atomic_load_explicit(&r->cells[first], memory_order_relaxed);
        if (alike && group && l->kept)
            chain(l, r, &written, 4 * first, MG_MIN(4 * past, r->size), group);
        if (is_split && alike)
            memset((void *)&r->cells[first], 0, CELLS_GROUP * sizeof(*r->cells));
        if (alike && streams && group)
            leave(l, r, used, 4 * first, 4 * past, group);
        if (alike && !(judges && group & ENTRY_MASK && !(group >> FLAG_ALONE & 1)) && (!marks || group >> 60 == 15))
            continue;
        if (!group) {
            if (run < first)
                mg__region_mark(r, 4 * run, 4 * first, true);
            run = past;
            continue;
        }
        for (uint64_t i = first; i < past; i++) {
            uint64_t cell = alike ? group : atomic_load_explicit(&r->cells[i], memory_order_relaxed);
            if (judges && cell & ENTRY_MASK)
                judge(w, object, 4 * i, cell);
            if (!alike && cell && l->kept)
                chain(l, r, &written, 4 * i, 4 * i + 4, cell);
            if (!alike && streams && cell)
                leave(l, r, used, 4 * i, 4 * i + 4, cell);
            if (!marks || cell >> 60 == 15)
                continue;
            if (run < i)
                mg__region_mark(r, 4 * run, 4 * i, true);
            run = i + 1;
            for (unsigned byte = 0; byte < 4; byte++)
                if (cell >> (60 + byte) & 1)
                    mg__region_mark(r, 4 * i + byte, 4 * i + byte + 1, true);
        }
        if (!alike)
            memset((void *)&r->cells[first], 0, CELLS_GROUP * sizeof(*r->cells));
    }
    tell_run(l, r, &used[0]);
    tell_run(l, r, &used[1]);
    chain_run(l, r, &written);
    if (run < to && marks)
        mg__region_mark(r, 4 * run, 4 * to, true);
    uint64_t groups = (to - from + CELLS_GROUP - 1) / CELLS_GROUP;
    memset((void *)&r->groups[from / CELLS_GROUP], 0, groups * sizeof(*r->groups));
    memset((void *)&r->values[from / CELLS_GROUP], 0, groups * sizeof(*r->values));
}

void mg__grid_collect(struct launch *l)
{
    struct worker w;
    mg__worker_clear(&w, l);
    if (l->race)
        mg__mixed_collect(&w);
    mg__chain_collects(l);
    for (size_t k = 0; k < l->info->nallocations; k++) {
        struct region *r = l->regions[k];
        if (!r || !r->tracked || !r->cells)
            continue;
        if (r->own) {
            mg__own_collect(l, (int32_t)k, l->race && mg__streams_follow(l->check, r));
            mg__region_settle(r);
            continue;
        }
        uint64_t n = (r->size + 3) / 4;
        for (uint64_t chunk = 0; chunk <= n / CELLS_CHUNK; chunk++) {
            if (!atomic_load_explicit(&r->touched[chunk], memory_order_relaxed))
                continue;
            atomic_store_explicit(&r->touched[chunk], 0, memory_order_relaxed);
            collect_chunk(&w, (int32_t)k, chunk, n, l->race && mg__streams_follow(l->check, r));
        }
        mg__region_settle(r);
    }
    mg__chain_collected(l);
    for (uint32_t i = 0; i < w.tally.count; i++)
        mg__tally_note(&l->tally, &w.tally.at[i]);
    mg__tally_free(&w.tally);
}
