/* wgmma.c - multiplications by warpgroups, which are in flight from wgmma.mma_async to the wgmma.wait_group of theirs.
 *
 * Shared memory. The engine reads the operands when the warp waits. What was written since the multiplication was asked
 * for was written too early; what it could not rely on then races with it, and what a thread wrote needs a
 * fence.proxy.async behind it, as for a bulk copy (async.c). For whoever writes there later it is a read of that
 * warp's, which all of its warpgroup know of that have waited.
 *
 * Registers are told by the text alone: by how many groups ago each may still be in flight, over all ways to each
 * instruction. Another instruction must not use it then; and what others wrote needs a wgmma.fence in front of the next
 * multiplication (PTX ISA, "wgmma.fence"), where plain copies do not count, which compilers put anywhere. It is told
 * when the multiplication is executed.
 */
#include "cfg/cfg.h"
#include "check/watch.h"

enum { AGES = 9 }; /* of a multiplication that may be in flight: how many groups ago it was asked for, + 1 */

/* A state has a byte for each register, of 1 if it was written since the fence; one for whether no fence was passed;
 * and one for each multiplication, its age. */
struct registers {
    const struct mg_launch_info *info;
    const struct mg_ptx_func *func;
    uint32_t first;  /* instruction of the launch that is the function's first */
    uint32_t *index; /* by register: which of those that are ever in flight, + 1 */
    uint32_t *mma;   /* the multiplications: instructions */
    uint8_t *makes;  /* by multiplication and register: whether that is its result */
    uint32_t n, nmma;
};

static bool add(struct launch *l, const struct registers *r, enum check_kind kind, uint32_t mma, uint32_t insn)
{
    const struct in_flight f = {r->first + mma, insn == NO_INSN ? NO_INSN : r->first + insn, (uint32_t)kind};
    for (size_t i = 0; i < l->in_flight.count; i++)
        if (!memcmp(&l->in_flight.at[i], &f, sizeof f))
            return true;
    return mg__vec_push(&l->in_flight, f);
}

static bool multiplies(const struct mg_ptx_insn *i)
{
    return i->effects & MG_E_FLIES && i->nresults; /* the others wait */
}

/* Number `which` of those that multiply. */
static bool multiply(struct launch *l, const struct registers *r, uint32_t which, uint8_t *state, bool tell)
{
    struct mg_flow_walk w = {r->func, &r->func->insns[r->mma[which]], 0, 0};
    uint32_t reg;
    bool dirty = state[r->n];
    for (bool written; mg__flow_next(&w, &reg, &written);) {
        if (!r->index[reg])
            continue;
        dirty |= state[r->index[reg] - 1];
        if (written)
            state[r->index[reg] - 1] = 0;
    }
    state[r->n + 1 + which] = 1;
    return !(tell && dirty) || add(l, r, KIND_RACE_WGMMA_FENCE, r->mma[which], NO_INSN);
}

/* Another instruction uses the register. */
static bool use(struct launch *l, const struct registers *r, uint32_t at, uint32_t reg, const uint8_t *state)
{
    bool good = true;
    for (uint32_t k = 0; k < r->nmma; k++)
        if (state[r->n + 1 + k] && r->makes[(size_t)k * r->n + reg])
            good &= add(l, r, KIND_RACE_WGMMA_REGISTERS, r->mma[k], at);
    return good;
}

static bool step(struct launch *l, const struct registers *r, uint32_t at, uint8_t *state, bool tell)
{
    const struct mg_ptx_insn *i = &r->func->insns[at];
    struct mg_flow_walk w = {r->func, i, 0, 0};
    uint8_t *const ages = state + r->n + 1;
    uint32_t reg;
    bool good = true;
    if (multiplies(i)) {
        for (uint32_t k = 0; k < r->nmma; k++)
            if (r->mma[k] == at)
                return multiply(l, r, k, state, tell);
        return true;
    }
    if (i->effects & MG_E_FLIES) {
        const int64_t left = mg__ptx_op(r->func, i, 0)->imm;
        for (uint32_t k = 0; k < r->nmma; k++)
            ages[k] = ages[k] > left + 1 ? 0 : ages[k];
        return true;
    }
    if (i->opcode == MG_OP_WGMMA_COMMIT_GROUP) {
        for (uint32_t k = 0; k < r->nmma; k++)
            ages[k] = (uint8_t)(ages[k] + (ages[k] && ages[k] < AGES));
        return true;
    }
    if (i->opcode == MG_OP_WGMMA_FENCE) {
        memset(state, 0, r->n + 1);
        return true;
    }
    const bool copies = mg__ptx_exactly(i) == MG_ALG_COPY;
    for (bool written; mg__flow_next(&w, &reg, &written);) {
        if (!r->index[reg])
            continue;
        if (tell)
            good &= use(l, r, at, r->index[reg] - 1, state);
        if (written && !copies)
            state[r->index[reg] - 1] = 1;
    }
    return good;
}

/* What may be on one way or another: of what is in flight the least age. True: there is more than before. */
static bool join(uint8_t *to, const uint8_t *from, size_t size)
{
    bool more = false;
    for (size_t k = 0; k < size; k++) {
        const uint8_t both = (uint8_t)(!to[k] || !from[k] ? to[k] | from[k] : MG_MIN(to[k], from[k]));
        more |= both != to[k];
        to[k] = both;
    }
    return more;
}

static bool follow(struct launch *l, const struct registers *r, const struct mg_cfg *cfg)
{
    const size_t size = (size_t)r->n + 1 + r->nmma;
    uint8_t *in = calloc(cfg->nblocks + 1, size), *now = malloc(size);
    bool good = in && now;
    for (bool again = good, tell = false; good && (again || !tell);) {
        tell = !again; /* once more when nothing changes */
        again = false;
        in[r->n] |= 1;
        for (uint32_t b = 0; b < cfg->nblocks && good; b++) {
            const struct mg_cfg_block *k = &cfg->blocks[b];
            if (!k->reachable)
                continue;
            memcpy(now, in + b * size, size);
            for (uint32_t i = k->first; i < k->end && good; i++)
                good = step(l, r, i, now, tell);
            for (uint32_t s = 0; s < k->nsucc; s++)
                again |= k->succ[s] < cfg->nblocks && join(in + k->succ[s] * size, now, size);
        }
    }
    free(in);
    free(now);
    return good;
}

static bool find_multiplications(struct registers *r)
{
    for (uint32_t k = 0; k < r->func->ninsns; k++)
        r->nmma += multiplies(&r->func->insns[k]);
    r->mma = calloc(r->nmma + 1, sizeof *r->mma);
    r->makes = calloc((size_t)r->nmma * r->n + 1, sizeof *r->makes);
    if (!r->mma || !r->makes)
        return false;
    uint32_t n = 0, reg;
    for (uint32_t k = 0; k < r->func->ninsns; k++) {
        if (!multiplies(&r->func->insns[k]))
            continue;
        struct mg_flow_walk w = {r->func, &r->func->insns[k], 0, 0};
        for (bool written; mg__flow_next(&w, &reg, &written);)
            if (written && r->index[reg])
                r->makes[(size_t)n * r->n + r->index[reg] - 1] = 1;
        r->mma[n++] = k;
    }
    return true;
}

static bool read_function(struct launch *l, struct registers *r)
{
    struct mg_cfg *cfg;
    r->n = (uint32_t)r->func->nflying;
    r->nmma = 0;
    r->mma = NULL;
    r->makes = NULL;
    r->index = calloc(r->func->nregs + 1, sizeof *r->index);
    for (uint32_t k = 0; r->index && k < r->n; k++)
        r->index[r->func->flying[k]] = k + 1;
    bool good = r->index && find_multiplications(r) && mg__cfg_build(r->func, &cfg) == MG_OK;
    if (good) {
        good = follow(l, r, cfg);
        mg__cfg_free(cfg);
    }
    free(r->index);
    free(r->mma);
    free(r->makes);
    return good;
}

bool mg__wgmma_read(const struct mg_launch_info *info, struct launch *l)
{
    struct registers r = {.info = info};
    bool good = true;
    for (uint32_t k = 0; good && k < info->ninsns; k++) {
        if (info->insns[k].func == r.func)
            continue;
        r.func = info->insns[k].func;
        r.first = k;
        good = !r.func->nflying || read_function(l, &r);
    }
    return good;
}

/* ---- while it runs ---- */
static struct copy *find(struct block *b, uint32_t number)
{
    for (size_t i = 0; i < b->copies.count; i++)
        if (b->copies.at[i].number == number)
            return &b->copies.at[i];
    return NULL;
}

static void begin(struct worker *w, struct block *b, const struct mg_sync *e)
{
    const struct launch *l = w->launch;
    const struct actor who = {b->linear, (uint16_t)e->warp, (uint8_t)__builtin_ctz(e->mask)};
    for (size_t i = 0; l->race && i < l->in_flight.count; i++) {
        const struct in_flight *f = &l->in_flight.at[i];
        if (f->mma != e->insn)
            continue;
        const bool used = f->insn != NO_INSN;
        mg__watch_note(w, (enum check_kind)f->kind, PLACE_NONE, -1, 0, 4, used ? f->insn : f->mma,
                       used ? f->mma : NO_INSN, who, mg__nobody);
    }
    mg__async_ask(b, b, e);
}

/* Those of the warp that were done. The warps of a warpgroup multiply together: who has waited for its share knows that
 * the others' operands have been read. */
static void end(struct block *b, uint32_t warp, uint32_t lanes)
{
    uint32_t known[MG_ORDER_WARPS] = {0};
    for (uint32_t k = warp / 4 * 4; k < warp / 4 * 4 + 4; k++)
        known[k] = k == warp ? 0 : b->multiplied[warp / 4];
    mg__order_learn(b->order, warp, lanes, known);
    for (size_t i = b->copies.count; i-- > 0;)
        if (b->copies.at[i].landed && b->copies.at[i].warp == warp)
            b->copies.at[i] = b->copies.at[--b->copies.count];
}

void mg__wgmma_sync(struct worker *w, struct block *b, const struct mg_sync *e)
{
    if (e->kind == MG_SYNC_WGMMA)
        begin(w, b, e);
    else if (e->kind == MG_SYNC_WGMMA_WAIT)
        end(b, e->warp, e->mask);
}

/* One unit that is read. True: something was told. */
static bool meets(struct worker *w, struct block *b, const struct mg_access *a, const struct copy *c, uint64_t unit)
{
    const struct mg_order_row *row = &b->shared.rows[unit / 32];
    const uint32_t wrote = row->w_time[unit % 32];
    const struct mg_order_who writer = mg__order_unpack(row->w_who[unit % 32]);
    enum check_kind kind;
    if (!wrote || wrote <= b->order->begin)
        return false;
    if (writer.async && writer.warp != MG_ORDER_AGENT && wrote <= c->own.time && wrote > c->copied[writer.warp]) {
        mg__async_early(w, b, a, unit, writer);
        return true;
    }
    if (wrote > c->own.time)
        kind = KIND_RACE_WGMMA;
    else if (wrote > c->own.known[writer.warp])
        kind = KIND_RACE_SOURCE;
    else if (!writer.async && wrote > MG_MAX(c->fenced[writer.warp], c->fenced[c->warp]))
        kind = KIND_RACE_PROXY;
    else
        return false;
    mg__async_note(w, b, a, kind, unit, writer, true);
    return true;
}

void mg__wgmma_access(struct worker *w, struct block *b, const struct mg_access *a)
{
    const struct launch *l = w->launch;
    const unsigned unit = l->code.unit_shared;
    struct copy *c = find(b, a->copy);
    if (!c || !b->shared.rows)
        return;
    const struct mg_order_who me = {.site = l->code.sites[a->insn].number, .warp = (uint8_t)a->warp};
    bool told = !l->race, mixed = !l->bounds;
    c->landed = true;
    mg__shadow_settle(b->order, &b->shared);
    for (uint32_t rest = a->mask; rest; rest &= rest - 1) {
        const uint64_t at = a->address[__builtin_ctz(rest)], first = at >> unit, last = (at + a->width - 1) >> unit;
        mixed = mixed || (last < l->shared_units && mg__swizzle_read(w, b, a, first));
        for (uint64_t u = first; u <= last && last < l->shared_units; u++) {
            struct mg_order_row *row = &b->shared.rows[u / 32];
            told = told || meets(w, b, a, c, u);
            row->r_time[u % 32] = b->order->now;
            row->r_who[u % 32] = mg__order_pack(me);
        }
        mg__shadow_changed(b->order, &b->shared, first, last);
    }
    b->shared.odd = ~0u;
    b->multiplied[a->warp / 4] = b->order->now++;
}
