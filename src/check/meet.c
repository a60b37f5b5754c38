/* meet.c - barriers and warp operations: who was expected and did not come.
 *
 * A device lets threads that have ended count as arrived (compute capability 7.0 on), so such a barrier opens, here as
 * there. It is told all the same: code that every thread comes to, barrier or not, makes it a barrier in a branch;
 * otherwise the threads returned early (find.c asks code.c which).
 *
 * A mask is wrong when the lanes it names have to be let go from where they waited for the others to come back, and
 * have something left to do; lanes that have ended, are about to, or never were are what the documentation allows ("all
 * non-exited threads named in mask").
 */
#include "check/check_priv.h"

enum { STUCK_MOST = 64 };

static struct actor first_of(const struct mg_sync *e)
{
    return (struct actor){e->block, (uint16_t)e->warp, (uint8_t)(e->mask ? __builtin_ctz(e->mask) : 0)};
}

static const struct actor nobody = {.lane = 0xff};

static void note(struct worker *w, enum check_kind kind, uint32_t insn, uint32_t other, struct actor who,
                 struct actor with, uint32_t a, uint32_t b)
{
    if (insn == NO_INSN)
        return;
    struct occurrence o = {.kind = (uint8_t)kind,
                           .place = PLACE_NONE,
                           .insn = insn,
                           .other = other,
                           .object = -1,
                           .count = 1,
                           .who = who,
                           .with = with,
                           .value = {a, b}};
    mg__tally_note(&w->tally, &o);
}

static uint32_t threads_of(const struct launch *l)
{
    return l->info->block.x * l->info->block.y * l->info->block.z;
}

static void arrive(struct worker *w, struct block *b, const struct mg_sync *e)
{
    if (e->wrong) {
        note(w, KIND_BARRIER_COUNT, e->insn, NO_INSN, first_of(e), nobody, e->count, e->barrier);
        return;
    }
    struct meeting *m = &b->meetings[e->barrier];
    const struct mg_launch_info *info = w->launch->info;
    uint32_t n = (uint32_t)__builtin_popcount(e->mask);
    if (m->arrived && m->count != e->count) {
        note(w, KIND_BARRIER_COUNT, e->insn, m->insn, first_of(e), m->who, e->count, m->count);
        return;
    }
    const struct mg_ptx_insn *i = info->insns[e->insn].insn;
    if (m->arrived && !e->count && m->insn != e->insn && i && i->flags & MG_F_ALIGNED) {
        struct line a = mg__name_line(info, m->insn), c = mg__name_line(info, e->insn);
        if (a.line != c.line || strcmp(a.file, c.file))
            note(w, KIND_BARRIER_DIFFERENT, e->insn, m->insn, first_of(e), m->who, 0, 0);
    }
    if (!m->arrived) {
        m->insn = e->insn;
        m->who = first_of(e);
    }
    uint32_t other;
    if (e->count && mg__order_apart(b->order, e->barrier, e->warp, &other))
        note(w, KIND_BARRIER_SHARED, e->insn, NO_INSN, first_of(e),
             (struct actor){e->block, (uint16_t)other, MG_ORDER_MANY}, e->barrier,
             b->order->arrivals >> (e->barrier & 15) & 1);
    m->arrived += n;
}

static void open(struct worker *w, struct block *b, const struct mg_sync *e)
{
    const struct meeting *m = &b->meetings[e->barrier & 15];
    uint32_t all = threads_of(w->launch);
    if (m->arrived && !m->count && m->arrived < all && b->exited)
        note(w, KIND_BARRIER_LEFT, m->insn, b->left.insn, m->who, b->left.who, m->arrived, all - m->arrived);
}

/* Whether all lanes of `mask` name the same lanes, as nearly always. */
static bool alike(const uint32_t members[32], uint32_t mask)
{
    const uint32_t first = members[__builtin_ctz(mask)];
    uint32_t differ = 0;
    for (unsigned i = 0; i < 32; i++)
        differ |= (members[i] ^ first) & (0u - (mask >> i & 1));
    return !differ;
}

/* ---- lanes that others wait for ---- */
static void note_owed(struct worker *w, struct block *b, uint32_t warp)
{
    struct owed *const o = &b->owed[warp];
    if (!o->lanes)
        return;
    const struct actor who = {b->linear, (uint16_t)warp, MG_ORDER_MANY},
                       with = {b->linear, (uint16_t)warp, (uint8_t)__builtin_ctz(o->lanes)};
    note(w, KIND_BARRIER_MASK, o->insn, o->at, who, with, 0, o->named);
    o->lanes = 0;
}

/* Some of these lanes may be waited for elsewhere. They have come if they are at a copy of the line: nvcc makes several
 * of a loop's body, and does not mind which lanes go through which. Where lines are not known they have not. */
static void settle_owed(struct worker *w, struct block *b, const struct mg_sync *e)
{
    struct owed *const o = &b->owed[e->warp];
    if (!(o->lanes & e->mask))
        return;
    const struct line here = mg__name_line(w->launch->info, e->insn), there = mg__name_line(w->launch->info, o->insn);
    if (e->kind == MG_SYNC_EXIT || !here.line || here.line != there.line || strcmp(here.file, there.file))
        note_owed(w, b, e->warp);
    o->lanes = 0;
}

/* What is still owed when the block ends. */
static void end_owed(struct worker *w, struct block *b)
{
    for (uint32_t k = 0; k < MG_ORDER_WARPS; k++)
        note_owed(w, b, k);
}

static void warp_operation(struct worker *w, struct block *b, const struct mg_sync *e)
{
    uint32_t self = 0;
    bool named = e->insn < w->launch->info->ninsns && mg__ptx_meets_lanes(w->launch->info->insns[e->insn].insn);
    bool told = false;
    settle_owed(w, b, e);
    b->waits[e->warp] = 0;
    if (e->mask && alike(e->members, e->mask))
        self = named ? e->mask & ~e->members[__builtin_ctz(e->mask)] : 0;
    else
        for (uint32_t rest = e->mask; named && rest; rest &= rest - 1) {
            unsigned i = (unsigned)__builtin_ctz(rest);
            uint32_t others = e->members[i] & e->mask;
            for (; others && !told && e->members[__builtin_ctz(others)] == e->members[i]; others &= others - 1)
                ;
            if (others && !told) { /* of those that come together, not all name the same */
                told = true;
                note(w, KIND_BARRIER_MASK, e->insn, NO_INSN, (struct actor){e->block, (uint16_t)e->warp, (uint8_t)i},
                     nobody, e->members[i], e->members[__builtin_ctz(others)]);
            }
            self |= (~e->members[i] >> i & 1) << i;
        }
    if (self) {
        unsigned i = (unsigned)__builtin_ctz(self);
        note(w, KIND_BARRIER_MASK_SELF, e->insn, NO_INSN, (struct actor){e->block, (uint16_t)e->warp, (uint8_t)i},
             nobody, e->members[i], 0);
    }
}

static void let_go(struct worker *w, struct block *b, const struct mg_sync *e)
{
    uint32_t waits = b->waits[e->warp], missing = b->waits_for[e->warp] & e->mask;
    if (!waits || !missing || e->arrive || (e->insn != NO_INSN && mg__code_ends(w->launch->info, e->insn)))
        return;
    if (!b->owed[e->warp].lanes)
        b->owed[e->warp] = (struct owed){waits - 1, e->insn, missing, b->waits_for[e->warp]};
    b->waits[e->warp] = 0;
}

void mg__meet(struct worker *w, struct block *b, const struct mg_sync *e)
{
    switch (e->kind) {
    case MG_SYNC_BARRIER:
        arrive(w, b, e);
        break;
    case MG_SYNC_BARRIER_OPEN:
        open(w, b, e);
        break;
    case MG_SYNC_WARP:
        warp_operation(w, b, e);
        break;
    case MG_SYNC_WARP_WAIT:
        settle_owed(w, b, e);
        b->waits[e->warp] = e->insn + 1;
        b->waits_for[e->warp] = e->missing;
        break;
    case MG_SYNC_WARP_SOURCE: {
        unsigned i = (unsigned)__builtin_ctz(e->mask);
        if (w->launch->init && mg__define_shuffled(w, e)) /* told where it is used */
            break;
        note(w, KIND_BARRIER_SHUFFLE_SOURCE, e->insn, NO_INSN, first_of(e), nobody, e->members[i], 0);
        break;
    }
    case MG_SYNC_EXIT:
        settle_owed(w, b, e);
        if (!b->exited) {
            b->left.insn = e->insn;
            b->left.who = first_of(e);
        }
        b->exited += (uint32_t)__builtin_popcount(e->mask);
        break;
    case MG_SYNC_RELEASE:
        let_go(w, b, e);
        break;
    case MG_SYNC_BLOCK_END:
        end_owed(w, b);
        break;
    case MG_SYNC_STUCK:
        if (b->stuck.count < STUCK_MOST)
            (void)mg__vec_push(&b->stuck, ((struct stuck){e->insn, e->barrier, e->missing, e->arrive, first_of(e)}));
        break;
    case MG_SYNC_TIMEOUT:
        if (e->arrive) /* whose turn it was when the time was up is chance */
            note(w, KIND_BARRIER_NO_PROGRESS, e->insn, NO_INSN, nobody, nobody, 0, 0);
        break;
    default:
        break;
    }
}

/* Where all warps of the block are, for the sentence: of the first such block. */
static void keep(struct launch *l, const struct block *b)
{
    pthread_mutex_lock(&l->lock);
    if (!l->stuck.count || b->linear < l->stuck.at[0].who.block) {
        l->stuck.count = 0;
        for (size_t i = 0; i < b->stuck.count; i++)
            (void)mg__vec_push(&l->stuck, b->stuck.at[i]);
    }
    pthread_mutex_unlock(&l->lock);
}

static unsigned gravity(const struct stuck *s)
{
    return s->spins ? 2 : s->barrier != ~0u;
}

void mg__meet_end(struct worker *w, struct block *b)
{
    const struct stuck *at = NULL, *other = NULL;
    end_owed(w, b);
    for (size_t i = 0; i < b->stuck.count; i++) { /* a loop first, then a barrier, then what is first in the program */
        const struct stuck *s = &b->stuck.at[i];
        if (!at || gravity(s) > gravity(at) || (gravity(s) == gravity(at) && s->insn < at->insn))
            at = s;
    }
    for (size_t i = 0; at && i < b->stuck.count; i++)
        if (b->stuck.at[i].insn != at->insn && (!other || b->stuck.at[i].insn < other->insn))
            other = &b->stuck.at[i];
    if (!at)
        return;
    keep(w->launch, b);
    uint32_t insn = other ? other->insn : b->exited ? b->left.insn : NO_INSN;
    struct actor with = other ? other->who : b->exited ? b->left.who : nobody;
    if (at->spins)
        note(w, KIND_BARRIER_NO_PROGRESS, at->insn, insn, at->who, with, 1, other != NULL);
    else if (at->barrier != ~0u)
        note(w, KIND_BARRIER_NOT_REACHED, at->insn, insn, at->who, with, b->meetings[at->barrier & 15].arrived,
             other       ? 1
             : b->exited ? 2
                         : 0);
    else
        note(w, KIND_BARRIER_MASK, at->insn, insn, at->who, with, 0, at->missing);
    b->stuck.count = 0;
}
