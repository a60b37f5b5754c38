/* again.c - multiprocessors that were gone through before: what one comes to is a function of what it is given, and
 * programs launch the same kernel on as much data again and again.
 *
 * What was given is kept whole, and compared byte by byte: an answer is taken again only where all of it is the same.
 * The latest KEPT are kept, and none that takes more than MOST bytes.
 */
#include "time/time_priv.h"

enum { KEPT = 32, MOST = 1 << 20 };

struct part {
    const void *at;
    size_t bytes;
};
struct given { /* all that mg__time_run reads */
    struct {
        const struct mg_arch *arch;
        uint64_t blocks, most, enough;
        double unequal, written, all_ops;
        uint32_t warps, resident, ninsns, nops, nblocks, nregs, flags, unused; /* no bytes between them */
    } scalars;
    struct part part[5];
    size_t bytes;
    uint64_t hash;
};
struct entry {
    uint8_t *given; /* NULL: nothing is here */
    size_t bytes;
    uint64_t hash, used;
    struct mg_time_result result;
    double (*stalled)[MG_STALLS];
};
struct mg_time_again {
    struct entry at[KEPT];
    uint64_t turn;
};

/* To find it by; in four rows side by side, which take half the time of one, for all of it is gone through for each
 * launch. */
static uint64_t mixed(const struct part *p)
{
    uint64_t h[4] = {p->bytes, 1, 2, 3}, word[4];
    size_t k = 0;
    for (; k + sizeof(word) <= p->bytes; k += sizeof(word)) {
        memcpy(word, (const uint8_t *)p->at + k, sizeof(word));
        for (unsigned i = 0; i < 4; i++) {
            h[i] = (h[i] ^ word[i]) * UINT64_C(0x9E3779B97F4A7C15);
            h[i] ^= h[i] >> (29 + i); /* not alike: vectors of 128 bits multiply slower than this does */
        }
    }
    h[0] ^= mg__hash((const uint8_t *)p->at + k, p->bytes - k);
    return mg__hash(h, sizeof(h));
}

static void look_at(struct given *g, const struct mg_time_machine *m)
{
    const struct mg_time_code *code = m->code;
    size_t regs = 0;
    *g = (struct given){.scalars = {.arch = m->arch,
                                    .blocks = m->blocks,
                                    .most = m->most,
                                    .enough = m->enough,
                                    .unequal = m->unequal,
                                    .written = m->written,
                                    .all_ops = m->all_ops,
                                    .warps = m->warps,
                                    .resident = m->resident,
                                    .ninsns = m->ninsns,
                                    .nops = code->nops,
                                    .nblocks = code->nblocks,
                                    .nregs = code->nregs,
                                    .flags = (uint32_t)(code->parts | code->exits << 1 | code->native << 2)}};
    for (uint32_t i = 0; i < code->nops; i++)
        regs = MG_MAX(regs, (size_t)code->ops[i].regs + code->ops[i].reads + code->ops[i].writes);
    g->part[0] = (struct part){&g->scalars, sizeof(g->scalars)};
    g->part[1] = (struct part){code->ops, code->nops * sizeof(*code->ops)};
    g->part[2] = (struct part){code->blocks, code->nblocks * sizeof(*code->blocks)};
    g->part[3] = (struct part){code->regs, regs * sizeof(*code->regs)};
    g->part[4] = (struct part){m->access, m->ninsns * sizeof(*m->access)};
    for (size_t k = 0; k < MG_COUNT(g->part); k++) {
        g->bytes += g->part[k].bytes;
        g->hash = 31 * g->hash + (g->part[k].bytes ? mixed(&g->part[k]) : 0);
    }
}

static bool same(const struct entry *e, const struct given *g)
{
    const uint8_t *at = e->given;
    if (!at || e->hash != g->hash || e->bytes != g->bytes)
        return false;
    for (size_t k = 0; k < MG_COUNT(g->part); at += g->part[k++].bytes)
        if (g->part[k].bytes && memcmp(at, g->part[k].at, g->part[k].bytes))
            return false;
    return true;
}

static void forget(struct entry *e)
{
    free(e->given);
    free(e->stalled);
    *e = (struct entry){0};
}

/* In place of the one that was not asked for longest. Without memory it is not kept. */
static void keep(struct mg_time_again *again, const struct given *g, const struct mg_time_machine *m,
                 const struct mg_time_result *r)
{
    struct entry *e = &again->at[0];
    size_t bytes = m->ninsns * sizeof(*m->stalled);
    for (unsigned k = 1; k < KEPT; k++)
        e = again->at[k].used < e->used ? &again->at[k] : e;
    forget(e);
    e->given = malloc(g->bytes);
    e->stalled = malloc(bytes + 1);
    if (!e->given || !e->stalled) {
        forget(e);
        return;
    }
    uint8_t *to = e->given;
    for (size_t k = 0; k < MG_COUNT(g->part); to += g->part[k++].bytes)
        if (g->part[k].bytes)
            memcpy(to, g->part[k].at, g->part[k].bytes);
    memcpy(e->stalled, m->stalled, bytes);
    e->bytes = g->bytes;
    e->hash = g->hash;
    e->used = ++again->turn;
    e->result = *r;
}

bool mg__time_run_again(struct mg_time_again *again, const struct mg_time_machine *m, struct mg_time_result *r)
{
    struct given g;
    look_at(&g, m);
    for (unsigned k = 0; again && k < KEPT; k++)
        if (same(&again->at[k], &g)) {
            memcpy(m->stalled, again->at[k].stalled, m->ninsns * sizeof(*m->stalled));
            again->at[k].used = ++again->turn;
            *r = again->at[k].result;
            return true;
        }
    bool good = mg__time_run(m, r);
    if (good && again && g.bytes + m->ninsns * sizeof(*m->stalled) <= MOST)
        keep(again, &g, m, r);
    return good;
}

struct mg_time_again *mg__time_again_create(void)
{
    return calloc(1, sizeof(struct mg_time_again));
}

void mg__time_again_free(struct mg_time_again *again)
{
    for (unsigned k = 0; again && k < KEPT; k++)
        forget(&again->at[k]);
    free(again);
}
