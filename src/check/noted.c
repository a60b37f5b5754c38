/* noted.c - loads of shared memory that compiled code makes without a call (simt/observe.h, mg_notes).
 *
 * A plain read of what was written before the last barrier of the whole block is in order, and matters only to a write
 * that comes before the next one (quick.c). So compiled code may make it by itself, where all of its words are settled,
 * and leave a note: which instruction, which warp, and where. Whatever is told next, the notes are read first, as if
 * each had been told when it was made; nothing that they depend on has changed since then. If that is the barrier of
 * the whole block, they are forgotten, as held reads are.
 *
 * No notes are made where a read would have to be looked at (quick_read in watch.c): a block with rows above the floor,
 * with values that nobody made, or with accesses that are not plain; and none any more once there was a bulk copy, an
 * mbarrier or a use of another block's shared memory, which may come between what is told of two blocks.
 */
#include "check/watch.h"

enum { NOTED_SPAN = 56 };

bool mg__notes_begin(struct worker *w)
{
    const struct launch *l = w->launch;
    w->noted = calloc(l->info->ninsns + 1, sizeof(*w->noted));
    w->unsettled = calloc(l->shared_units / 8 + 16, 1); /* while there is no block */
    w->notes.settled = w->unsettled;
    w->takes_notes = l->init && l->code.unit_shared == 2;
    return w->noted && w->unsettled;
}

void mg__notes_free(struct worker *w)
{
    for (uint32_t k = 0; w->noted && k < w->launch->info->ninsns; k++)
        free(w->noted[k]);
    free(w->noted);
    free(w->unsettled);
}

struct mg_notes *mg__notes_of(void *worker)
{
    struct worker *w = worker;
    return w->takes_notes ? &w->notes : NULL;
}

void mg__notes_read(struct worker *w)
{
    struct block *b = w->notes_of;
    for (uint64_t k = 0; b && b->busy && b->linear == w->notes.block && k < w->notes.n; k++) {
        const uint64_t note = w->notes.at[k];
        const uint32_t insn = (uint32_t)(note >> 40), warp = (uint32_t)(note >> 32) & 255;
        mg__order_uses(b->order, warp, ~0u, false);
        mg__shadow_noted(b->order, &b->shared, (uint32_t)note >> 2, w->noted[insn],
                         (uint32_t)w->launch->code.sites[insn].number | warp << 16); /* as mg__order_pack */
    }
    w->notes.n = 0;
}

void mg__notes_go_on(struct worker *w)
{
    struct block *b = w->current;
    w->notes.most = 0;
    if (!w->takes_notes || !b || !b->busy || b->order->partial || b->hollow || b->far.count ||
        b->shared.odd > b->order->floor)
        return;
    w->notes_of = b;
    w->notes.block = b->linear;
    w->notes.settled = (const uint8_t *)b->shared.settled;
    w->notes.most = MG_NOTES;
}

/* The same units, by the same lanes. */
static bool same_memo(const struct mg_memo *a, const struct mg_memo *b)
{
    return a->n == b->n && a->span == b->span && a->low == b->low && a->width == b->width && a->twice == b->twice &&
           !memcmp(a->unit, b->unit, a->n * sizeof(*a->unit)) && !memcmp(a->lane, b->lane, a->n * sizeof(*a->lane));
}

uint64_t mg__notes_shape(void *worker, struct mg_access *a, uint64_t lo, uint64_t hi)
{
    struct worker *w = worker;
    const struct site *site = &w->launch->code.sites[a->insn];
    uint64_t delta[32], words = 0;
    if (!w->takes_notes || !site->plain_read || lo < site->lo || hi > site->hi || a->mask != ~0u)
        return 0;
    for (unsigned i = 0; i < 32; i++)
        delta[i] = a->address[i] - a->address[0];
    struct mg_memo *m = mg__memo_new(delta, a->mask, a->width, 2);
    if (!m || !m->n || m->span > NOTED_SPAN || (a->address[0] + (uint64_t)(int64_t)m->low) % 4) {
        free(m);
        return 0;
    }
    if (!w->noted[a->insn]) {
        w->noted[a->insn] = m;
    } else { /* an instruction has one shape, or is told */
        const bool same = same_memo(w->noted[a->insn], m);
        free(m);
        if (!same)
            return 0;
    }
    m = w->noted[a->insn];
    for (unsigned k = 0; k < m->n; k++)
        words |= 1ull << (m->n == m->span ? k : m->unit[k]);
    return words;
}
