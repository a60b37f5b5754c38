/* registers.c - setmaxnreg: how many registers a warp's threads have, given and taken while a block runs.
 *
 * A block begins with so many registers a thread as it was compiled for, which setmaxnreg.dec lays into a pool of the
 * block and setmaxnreg.inc takes out of it, waiting until they are there (PTX ISA, "setmaxnreg"). The engine has all
 * registers that anybody wants and never waits: what a device would wait for is found here.
 *
 *   whole warpgroups   each of its four warps executes the instruction as often as the others; counted at the end
 *   directions         .inc to less than the warp has, .dec to more, are undefined
 *   the pool           an .inc whose registers no other warp gives back, but such as wait, one way or another, for what
 *                      comes behind it (order.c); and more in the end than the block began with at all
 *   no effect          ptxas ignores it where neither .maxnreg nor .maxntid with .minnctapersm says how many there are
 *
 * What a block begins with is known as a limit: ptxas takes less where no .inc asks for as much. So nothing is said of
 * an .inc that is a warp's first. A warp that has ended keeps what it has: an H200 waits for ever there.
 */
#include "check/watch.h"

enum { GROUP = 4, FILE_REGISTERS = 65536, EACH = 8, ASKED_MOST = 64 };

struct asked { /* an .inc whose registers are not there yet */
    uint32_t insn, warp, time;
    uint16_t value, held[MG_ORDER_AGENT]; /* by warp: the least that it had when it need not have waited for this one */
};
struct executed {
    uint32_t insn, times[MG_ORDER_AGENT];
};
struct registers {
    uint16_t now[MG_ORDER_AGENT]; /* by warp; 0: as it began */
    uint32_t last, last_warp;     /* the latest .inc */
    MG_VEC(struct asked) asked;
    MG_VEC(struct executed) executed;
};

/* What ptxas 13.0 lets a thread of the kernel begin with: of .maxnreg, or its part of the register file, which four
 * processors share warp by warp. 0: it is not told. */
static uint32_t limit_of(const struct mg_launch_info *info)
{
    const struct mg_ptx_func *f = info->func;
    uint32_t limit = (f->maxnreg + EACH - 1) / EACH * EACH;
    uint32_t threads = f->maxntid[0] * MG_MAX(f->maxntid[1], 1) * MG_MAX(f->maxntid[2], 1);
    if (f->reqntid[0])
        threads = f->reqntid[0] * MG_MAX(f->reqntid[1], 1) * MG_MAX(f->reqntid[2], 1);
    if (f->minnctapersm && threads) {
        const uint64_t warps = ((threads + 31) / 32 * (uint64_t)f->minnctapersm + GROUP - 1) / GROUP * GROUP;
        const uint32_t part = (uint32_t)(FILE_REGISTERS / (32 * warps) / EACH * EACH);
        limit = limit ? MG_MIN(limit, part) : part;
    }
    return MG_MIN(limit, 256);
}

static uint32_t warps_of(const struct launch *l)
{
    return (l->info->block.x * l->info->block.y * l->info->block.z + 31) / 32;
}

static void note(struct worker *w, enum check_kind kind, uint32_t insn, struct actor who, struct actor with,
                 const uint32_t value[4])
{
    struct occurrence o = {.kind = (uint8_t)kind,
                           .place = PLACE_NONE,
                           .insn = insn,
                           .other = NO_INSN,
                           .object = -1,
                           .count = 1,
                           .who = who,
                           .with = with};
    memcpy(o.value, value, sizeof o.value);
    mg__tally_note(&w->tally, &o);
}

static struct actor warp_of(const struct block *b, uint32_t warp)
{
    return (struct actor){b->linear, (uint16_t)warp, MG_ORDER_MANY};
}

/* ---- while the block runs ---- */
static void count(struct registers *r, const struct mg_sync *e)
{
    size_t k = 0;
    while (k < r->executed.count && r->executed.at[k].insn != e->insn)
        k++;
    if (k < r->executed.count || mg__vec_push(&r->executed, (struct executed){.insn = e->insn}))
        r->executed.at[k].times[e->warp]++;
}

/* Registers a thread that all warps have, if the one that asked has got its own. */
static uint32_t together(const struct asked *a, uint32_t warps)
{
    uint32_t sum = a->value;
    for (uint32_t v = 0; v < warps; v++)
        sum += v == a->warp ? 0 : a->held[v];
    return sum;
}

static void give(struct block *b, uint32_t warp, uint32_t value, uint32_t pool, uint32_t warps)
{
    struct registers *r = b->registers;
    uint32_t known[MG_ORDER_WARPS];
    mg__order_known(b->order, warp, known);
    for (size_t i = r->asked.count; i-- > 0;) {
        struct asked *a = &r->asked.at[i];
        if (a->warp != warp && known[a->warp] < a->time)
            a->held[warp] = (uint16_t)MG_MIN(a->held[warp], value);
        if (together(a, warps) <= pool)
            *a = r->asked.at[--r->asked.count];
    }
}

static void ask(struct block *b, const struct mg_sync *e, uint32_t limit, uint32_t warps)
{
    struct registers *r = b->registers;
    struct asked a = {.insn = e->insn, .warp = e->warp, .time = b->order->now++, .value = (uint16_t)e->count};
    for (uint32_t v = 0; v < warps; v++)
        a.held[v] = (uint16_t)(r->now[v] ? r->now[v] : limit);
    r->last = e->insn;
    r->last_warp = e->warp;
    if (together(&a, warps) > limit * warps && r->asked.count < ASKED_MOST)
        (void)mg__vec_push(&r->asked, a);
}

void mg__registers_sync(struct worker *w, struct block *b, const struct mg_sync *e)
{
    const struct launch *l = w->launch;
    const uint32_t warps = MG_MIN(warps_of(l), (uint32_t)MG_ORDER_AGENT), limit = limit_of(l->info);
    if (!l->barrier || e->warp >= warps || (!b->registers && !(b->registers = calloc(1, sizeof *b->registers))))
        return;
    struct registers *r = b->registers;
    const uint32_t had = r->now[e->warp];
    count(r, e);
    if (!limit) {
        note(w, KIND_BARRIER_REGISTERS_IGNORED, e->insn, warp_of(b, e->warp), mg__nobody, (uint32_t[4]){0});
        return;
    }
    if (e->arrive ? had && e->count < had : e->count > (had ? had : limit))
        note(w, KIND_BARRIER_REGISTERS_DIRECTION, e->insn, warp_of(b, e->warp), mg__nobody,
             (uint32_t[4]){e->count, had ? had : limit, e->arrive});
    r->now[e->warp] = (uint16_t)e->count;
    if (e->arrive)
        ask(b, e, limit, warps);
    else
        give(b, e->warp, e->count, limit * warps, warps);
}

/* ---- at its end ---- */
static void whole_groups(struct worker *w, const struct block *b, uint32_t warps)
{
    const struct registers *r = b->registers;
    for (size_t i = 0; i < r->executed.count; i++)
        for (uint32_t first = 0; first < warps; first += GROUP) {
            const uint32_t *times = r->executed.at[i].times;
            uint32_t most = first, least = first;
            for (uint32_t v = first; v < MG_MIN(first + GROUP, warps); v++) {
                most = times[v] > times[most] ? v : most;
                least = times[v] < times[least] ? v : least;
            }
            const bool part = first + GROUP > warps;
            if (times[most] && (part || times[least] < times[most]))
                note(w, KIND_BARRIER_REGISTERS_GROUP, r->executed.at[i].insn, warp_of(b, most), warp_of(b, least),
                     (uint32_t[4]){times[most], times[least], part, warps - first});
        }
}

static void overdrawn(struct worker *w, const struct block *b, uint32_t limit, uint32_t warps)
{
    const struct registers *r = b->registers;
    uint32_t sum = 0;
    for (size_t i = 0; i < r->asked.count; i++) {
        const struct asked *a = &r->asked.at[i];
        note(w, KIND_BARRIER_REGISTERS, a->insn, warp_of(b, a->warp), mg__nobody,
             (uint32_t[4]){a->value, together(a, warps) * 32, limit, warps});
    }
    for (uint32_t v = 0; v < warps; v++)
        sum += r->now[v] ? r->now[v] : limit;
    if (!r->asked.count && sum > limit * warps)
        note(w, KIND_BARRIER_REGISTERS, r->last, warp_of(b, r->last_warp), mg__nobody,
             (uint32_t[4]){r->now[r->last_warp], sum * 32, limit, warps});
}

void mg__registers_end(struct worker *w, struct block *b)
{
    const struct launch *l = w->launch;
    const uint32_t warps = MG_MIN(warps_of(l), (uint32_t)MG_ORDER_AGENT), limit = limit_of(l->info);
    if (b->registers && limit) {
        whole_groups(w, b, warps);
        overdrawn(w, b, limit, warps);
    }
}

void mg__registers_forget(struct block *b)
{
    if (b->registers) {
        mg__vec_free(&b->registers->asked);
        mg__vec_free(&b->registers->executed);
    }
    free(b->registers);
    b->registers = NULL;
}

/* ---- in words ---- */
bool mg__registers_say(const struct launch *l, const struct occurrence *o, struct mg_strbuf *out)
{
    const uint32_t *v = o->value;
    switch (o->kind) {
    case KIND_BARRIER_REGISTERS_GROUP:
        if (v[2])
            return mg__strbuf_printf(out, " execute setmaxnreg, and their warpgroup has %u of four warps", v[3]);
        if (!mg__strbuf_printf(out, v[1] ? " execute setmaxnreg %u times here, " : " execute setmaxnreg here, ",
                               v[0]) ||
            !mg__name_thread(l, &o->with, false, out))
            return false;
        return mg__strbuf_printf(out, v[1] ? ", of the same warpgroup, %u times" : ", of the same warpgroup, do not",
                                 v[1]);
    case KIND_BARRIER_REGISTERS_DIRECTION:
        return mg__strbuf_printf(out,
                                 v[2] ? " ask for an increase to %u registers and have %u"
                                      : " ask for a decrease to %u registers and have at most %u",
                                 v[0], v[1]);
    case KIND_BARRIER_REGISTERS:
        return mg__strbuf_printf(out,
                                 " ask for %u registers a thread: the block's warps would then have %u, and it began "
                                 "with no more than %u (%u warps with %u a thread)",
                                 v[0], v[1], 32 * v[2] * v[3], v[3], v[2]);
    default:
        return mg__strbuf_printf(out,
                                 " execute a setmaxnreg that has no effect, because the compiler does not know how "
                                 "many registers the kernel begins with");
    }
}
