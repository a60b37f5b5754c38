/* wgmma.c - warpgroup matrix multiplications, in flight until they are waited for.
 *
 * Each warp of a warpgroup multiplies 16 rows of its own. What is asked for is looked at at once (descriptors, that all
 * of it is shared memory); A's registers are read then, too. All else happens when the first of the warpgroup's warps
 * waits for it, and all four have asked: shared memory is read as it is then, for all of them, and D's registers are
 * read and written. So one thread of a warpgroup may say for all that operands have been read; a program that reads D
 * too early has what was there before, and one that writes over its operands too early multiplies what it wrote. What
 * nobody waits for never comes.
 */
#include "simt/wgmma.h"
#include "simt/engine_priv.h"

struct flight {
    struct mg_warp *warp;
    struct mg_op op; /* itself: where steps are followed handlers get a copy that does not last */
    uint64_t a, b;   /* descriptors */
    uint32_t group;  /* from the latest back; 0 is the one that is being made */
    uint32_t number;
    uint32_t nth; /* of its warp's */
    bool adds;
    uint32_t registers[4][32], metadata[32];
};
struct mg_wgmmas {
    MG_VEC(struct flight) list;
    uint32_t made;
};
/* Turns after which a warp goes on without the rest of its warpgroup, which PTX has do the same: no deadlock comes of
 * it. */
enum { LAGS = 64 };
enum { ADDS, A, B = 5, METADATA }; /* an op's sources: A's are four registers, or a descriptor */

static const struct mg_engine_operand *source(const struct mg_op *op, unsigned n)
{
    return &op->is->of[op->is->nout + n];
}

/* ---- memory ---- */
static void tell(struct mg_warp *w, const struct mg_op *op, enum mg_sync_kind kind, uint32_t count)
{
    if (!mg__wants_sync(w))
        return;
    mg__sync_event(w, op, kind, ~0u)->count = count;
    mg__sync_emit(w->worker);
}

/* Lines and chunks of an operand, as sem_wgmma_at counts them. */
struct reach {
    uint64_t descriptor;
    unsigned first, lines, chunks;
    bool mn;
};
static struct reach reach_of(const struct mg_wgmma *g, const struct flight *f, bool of_b)
{
    const struct mg_sem_wgmma *what = &g->what;
    const bool mn = what->flags & (of_b ? SEM_WGMMA_B_MN : SEM_WGMMA_A_MN);
    const unsigned bytes = of_b ? sem_wgmma_b_bytes(what) : SEM_WGMMA_A_BYTES;
    return (struct reach){.descriptor = of_b ? f->b : f->a,
                          .first = of_b ? 0 : f->warp->index % 4 * 16,
                          .lines = of_b ? what->n : 16,
                          .chunks = mn ? bytes / 2 : bytes / 16,
                          .mn = mn};
}

static uint32_t at(const struct reach *r, unsigned line, unsigned chunk)
{
    return sem_wgmma_at(r->descriptor, r->mn, r->first + line, chunk);
}

/* All of it is shared memory of the block. */
static bool lies_in_shared(struct mg_warp *w, const struct mg_op *op, const struct reach *r, char which)
{
    const uint64_t size = w->block->shared_size;
    for (unsigned line = 0; line < r->lines; line += r->mn ? 8 : 1)
        for (unsigned chunk = 0; chunk < r->chunks; chunk++)
            if (at(r, line, chunk) + 16ull > size) {
                mg__fault(w, op, 0, MG_ERR_ADDRESS,
                          "the descriptor of %c, 0x%llx, names bytes from 0x%x on, and the block has %llu bytes of "
                          "shared memory",
                          which, (unsigned long long)r->descriptor, at(r, line, chunk), (unsigned long long)size);
                mg__fault_hint(w, "A descriptor holds the start address, the leading and the stride byte offset, each "
                                  "divided by 16 (PTX ISA, \"Matrix descriptor format\").");
                return false;
            }
    return true;
}

static void fetch(const struct mg_warp *w, const struct reach *r, uint8_t *to, size_t pitch)
{
    const uint8_t *shared = w->block->shared;
    if (!r->mn) {
        for (unsigned line = 0; line < r->lines; line++)
            for (unsigned chunk = 0; chunk < r->chunks; chunk++)
                memcpy(to + line * pitch + 16 * chunk, shared + at(r, line, chunk), 16);
        return;
    }
    for (unsigned line = 0; line < r->lines; line += 8)
        for (unsigned k = 0; k < r->chunks; k++) {
            const uint8_t *from = shared + at(r, line, k);
            for (unsigned i = 0; i < 8; i++)
                memcpy(to + (line + i) * pitch + 2 * k, from + 2 * i, 2);
        }
}

/* A's registers as rows: as of mma (PTX ISA, "Register fragments for wgmma"). */
static void lay_down(const struct flight *f, uint8_t a[16][SEM_WGMMA_A_BYTES])
{
    for (unsigned r = 0; r < 4; r++)
        for (unsigned lane = 0; lane < 32; lane++)
            memcpy(&a[lane / 4 + r % 2 * 8][r / 2 * 16 + lane % 4 * 4], &f->registers[r][lane], 4);
}

/* What is read: 32 chunks an access. */
static void tell_reads(const struct flight *f, const struct reach *r, bool of_b)
{
    struct mg_worker *worker = f->warp->worker;
    if (!worker->run->want_every)
        return;
    uint64_t address[32] = {0};
    uint8_t *where[32] = {0};
    unsigned n = 0;
    const unsigned mode = (unsigned)(r->descriptor >> 62);
    const struct mg_mem mem = {.kind = MG_ACCESS_BULK_LD, .width = 16, .vec = 1};
    const unsigned step = r->mn ? 8 : 1;
    for (unsigned line = 0; line < r->lines; line += step)
        for (unsigned chunk = 0; chunk < r->chunks; chunk++) {
            address[n] = at(r, line, chunk);
            where[n] = f->warp->block->shared + address[n];
            if (++n < 32 && (line + step < r->lines || chunk + 1 < r->chunks))
                continue;
            struct mg_access *e =
                mg__access_begin(worker, f->op.insn, &mem, MG_SPACE_SHARED, n == 32 ? ~0u : (1u << n) - 1, -1);
            e->width = 16;
            e->block = e->target = f->warp->block->linear;
            e->warp = f->warp->index;
            e->address = address;
            e->where = where;
            e->copy = f->number;
            e->swizzle = mode ? (uint8_t)(5 - mode) : 1;
            e->of_b = of_b;
            mg__access_event(worker, e, MG_OBSERVE_WGMMA);
            n = 0;
        }
}

static void land(const struct flight *f)
{
    const struct mg_wgmma *g = f->op.u.wgmma;
    const struct reach of_a = reach_of(g, f, false), of_b = reach_of(g, f, true);
    struct mg_wgmma_call c;
    c.what = &g->what;
    c.metadata = f->metadata;
    c.adds = f->adds;
    if (g->what.flags & SEM_WGMMA_A_REGISTERS) {
        lay_down(f, c.a);
    } else {
        tell_reads(f, &of_a, false);
        fetch(f->warp, &of_a, c.a[0], sizeof c.a[0]);
    }
    tell_reads(f, &of_b, true);
    fetch(f->warp, &of_b, c.b[0], sizeof c.b[0]);
    for (unsigned k = 0; k < sem_wgmma_registers(&g->what); k++)
        c.d[k] = mg__slot(f->warp, g->d[k]);
    f->warp->worker->run->simt->lanes->wgmma(&c);
}

/* ---- operations ---- */
MG_HANDLER(mg__op_wgmma_fence)
{
    (void)mask;
    tell(w, op, MG_SYNC_WGMMA_FENCE, 0);
    return op + 1;
}

static void take(const struct mg_warp *w, const struct mg_op *op, unsigned n, uint32_t to[32])
{
    memcpy(to, mg__slot(w, source(op, n)->slot), 32 * sizeof *to);
}

MG_HANDLER(mg__op_wgmma)
{
    const struct mg_wgmma *g = op->u.wgmma;
    struct mg_cluster *c = w->block->cluster;
    struct flight f = {.warp = w, .op = *op};
    const unsigned lane = (unsigned)__builtin_ctz(mask);
    if (!c->wgmmas)
        c->wgmmas = calloc(1, sizeof *c->wgmmas);
    if (!c->wgmmas)
        return mg__fault(w, op, 0, MG_ERR_NOMEM, "no host memory for an asynchronous multiplication");
    f.adds = source(op, ADDS)->slot < 0 || *(const uint32_t *)mg__slot(w, source(op, ADDS)->slot) >> lane & 1;
    f.b = mg__lane64(w, source(op, B)->slot, lane);
    const struct reach of_b = reach_of(g, &f, true);
    if (g->what.flags & SEM_WGMMA_A_REGISTERS) {
        for (unsigned k = 0; k < 4; k++)
            take(w, op, A + k, f.registers[k]);
    } else {
        f.a = mg__lane64(w, source(op, A)->slot, lane);
        const struct reach of_a = reach_of(g, &f, false);
        if (!lies_in_shared(w, op, &of_a, 'A'))
            return NULL;
    }
    if (!lies_in_shared(w, op, &of_b, 'B'))
        return NULL;
    if (g->sparse)
        take(w, op, METADATA, f.metadata);
    f.number = 1u << 31 | ++c->wgmmas->made;
    f.nth = ++w->multiplies;
    tell(w, op, MG_SYNC_WGMMA, f.number);
    if (!mg__vec_push(&c->wgmmas->list, f))
        return mg__fault(w, op, 0, MG_ERR_NOMEM, "no host memory for an asynchronous multiplication");
    return op + 1;
}

MG_HANDLER(mg__op_wgmma_commit)
{
    struct mg_wgmmas *all = w->block->cluster->wgmmas;
    (void)mask;
    for (size_t i = 0; all && i < all->list.count; i++)
        all->list.at[i].group += all->list.at[i].warp == w;
    tell(w, op, MG_SYNC_WGMMA_COMMIT, 0);
    return op + 1;
}

static bool of_warpgroup(const struct mg_warp *w, const struct mg_warp *other)
{
    return w->block == other->block && w->index / 4 == other->index / 4;
}

/* Whether a warp of the warpgroup that has not ended still has to ask for its share of the nth. */
static bool others_lag(const struct mg_warp *w, uint32_t nth)
{
    const struct mg_block *b = w->block;
    bool lag = false;
    for (uint32_t k = w->index / 4 * 4; k < MG_MIN(w->index / 4 * 4 + 4, b->nwarps); k++)
        lag |= b->warps[k].live && b->warps[k].multiplies < nth;
    return lag;
}

/* Those of groups before the latest u.imm are done, in the order in which they were asked for, for all warps. */
MG_HANDLER(mg__op_wgmma_wait)
{
    struct mg_wgmmas *all = w->block->cluster->wgmmas;
    size_t kept = 0;
    uint32_t nth = 0;
    (void)mask;
    for (size_t i = 0; all && i < all->list.count; i++)
        if (all->list.at[i].warp == w && all->list.at[i].group > op->u.imm)
            nth = MG_MAX(nth, all->list.at[i].nth);
    if (nth && w->lags < LAGS && others_lag(w, nth)) {
        w->lags++;
        w->splits.at[w->current].pc = op;
        w->stop = MG_STOP_WAIT;
        return NULL;
    }
    w->lags = 0;
    for (size_t i = 0; nth && i < all->list.count; i++) {
        struct flight *f = &all->list.at[i];
        if (of_warpgroup(w, f->warp) && f->nth <= nth) {
            land(f);
            continue;
        }
        if (kept != i)
            all->list.at[kept] = *f;
        kept++;
    }
    if (nth)
        all->list.count = kept;
    tell(w, op, MG_SYNC_WGMMA_WAIT, (uint32_t)op->u.imm);
    return op + 1;
}

void mg__wgmma_forget(struct mg_cluster *c)
{
    if (c->wgmmas)
        c->wgmmas->list.count = 0;
}

void mg__wgmma_free(struct mg_cluster *c)
{
    if (c->wgmmas)
        mg__vec_free(&c->wgmmas->list);
    free(c->wgmmas);
}
