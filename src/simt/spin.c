/* spin.c - launches that can never go on although their warps run: all of them go round in loops that change nothing.
 *
 * A warp's way is settled by what it holds (registers, local memory, where its lanes are) and by what it reads. So if
 * all warps that there are come back to what they held, each of them after turns of its own, and no memory that they
 * read has changed meanwhile, they do the same for ever, in whatever order: unless somebody else writes that memory,
 * which the queue has to rule out (device/queue.c), or time passes, which a kernel that reads a clock may wait for.
 *
 * What a launch holds is looked at when its turn ends because it only polled, as a hash. Memory has not changed if only
 * such segments were executed as have no stores but to shared and local memory, which are part of the hash, and no
 * atomic has changed anything.
 */
#include "simt/sched_priv.h"

#define PRINTS 32u /* the latest ones are kept */
#define CALM 64u   /* turns: each leaf of each warp has had some by then */
#define IDLE 64u   /* choices of a leaf in which each that could go on was chosen */

struct mg_spin {
    uint64_t prints[PRINTS];
    uint32_t turns;    /* in a row in which nothing changed */
    bool again;        /* the last print has been there before */
    uint64_t before[]; /* by segment: executed when the last turn ended */
};

static uint64_t mix(uint64_t h, uint64_t v)
{
    h = (h ^ v) * 0x9e3779b97f4a7c15ull;
    return h ^ h >> 29;
}

static uint64_t mix_bytes(uint64_t h, const void *at, size_t n)
{
    const uint8_t *p = at;
    uint64_t word = 0;
    for (; n >= 8; n -= 8, p += 8) {
        memcpy(&word, p, 8);
        h = mix(h, word);
    }
    word = 0;
    memcpy(&word, p, n);
    return mix(h, word ^ n << 56);
}

/* What these lanes have in registers: what others have there may be anything. */
static uint64_t of_frame(uint64_t h, const struct mg_frame *f, uint32_t lanes)
{
    for (uint32_t n = 0; n < f->code->nops; n++) {
        const struct mg_op_is *is = f->code->ops[n].is;
        for (uint32_t k = 0; k < is->nout; k++) {
            const struct mg_engine_operand *o = &is->of[k];
            const uint8_t *at = f->regs + (o->slot >= 0 ? o->slot : 0);
            uint32_t predicate;
            memcpy(&predicate, at, 4);
            if (o->slot >= 0 && o->bytes < 4)
                h = mix(h, predicate & lanes);
            for (uint32_t rest = o->slot >= 0 && o->bytes >= 4 ? lanes : 0; rest; rest &= rest - 1)
                h = mix_bytes(h, at + (size_t)__builtin_ctz(rest) * o->bytes, o->bytes);
        }
    }
    return mix_bytes(h, f->params, (size_t)f->code->param_bytes * 32);
}

/* Lanes that have stood still since that choice hold what they held then, and in registers that they do not need any
 * more whatever compiled code leaves there while others run. So those that stand for long are told by the choice alone.
 */
static uint64_t of_lanes(uint64_t h, const struct mg_warp *w, uint32_t since, const struct mg_frame *f, uint32_t lanes)
{
    return w->choices - since >= IDLE ? mix(h, since) : of_frame(h, f, lanes);
}

static uint64_t of_warp(uint64_t h, const struct mg_warp *w)
{
    h = mix(mix(h, w->index), (uint64_t)w->live << 32 | w->nleaves);
    h = mix(mix(h, (uint64_t)w->entry << 8 | w->place), (uintptr_t)w->point ^ w->interpreted);
    if (w->nleaves && w->cells)
        h = mix_bytes(h, w->cells, w->worker->ncells * sizeof(*w->cells));
    for (size_t i = 0; w->nleaves && i < w->splits.count; i++) {
        const struct mg_split *s = &w->splits.at[i];
        uint64_t later = 0; /* which of them is the next one's turn */
        if (!s->mask)
            continue;
        for (size_t k = 0; k < w->splits.count; k++)
            later += w->splits.at[k].mask && w->splits.at[k].chosen > s->chosen;
        h = mix(mix(h, (uintptr_t)s->pc), (uint64_t)s->mask << 32 | (uint64_t)s->wait << 16 | s->barrier);
        h = mix(mix(h, (uint64_t)s->member << 32 | s->result), later << 32 | (uint32_t)s->join);
        h = of_lanes(mix(h, s->resumed), w, s->chosen, s->frame, s->mask);
    }
    for (size_t i = 0; w->nleaves && i < w->joins.count; i++)
        if (w->joins.at[i].live) {
            h = mix(h, (uint64_t)w->joins.at[i].expected << 32 | w->joins.at[i].arrived);
            h = of_lanes(h, w, w->joins.at[i].since, w->joins.at[i].frame, w->joins.at[i].arrived);
        }
    return w->local ? mix_bytes(h, w->e.local, (size_t)w->e.local_bytes * 32) : h;
}

static uint64_t print_of(const struct mg_worker *worker)
{
    uint64_t h = worker->held;
    for (uint32_t k = 0; k < worker->nclusters; k++) {
        const struct mg_cluster *c = worker->clusters[k];
        for (uint32_t r = 0; c->busy && r < worker->run->cluster_size; r++) {
            const struct mg_block *b = &c->blocks[r];
            h = mix(mix(h, b->linear), (uint64_t)b->live_warps << 32 | b->live_threads);
            h = mix_bytes(h, b->barriers, sizeof(b->barriers));
            h = mix_bytes(h, b->shared, b->shared_size);
            for (uint32_t i = 0; b->live_warps && i < b->nwarps; i++)
                h = of_warp(h, &b->warps[i]);
        }
        h = mix(h, c->arrived);
    }
    return h;
}

/* Whether the instruction leaves memory beyond the block as it is, or says itself that it did not (worker->alters). */
static bool is_harmless(const struct mg_ptx_insn *i)
{
    enum mg_ptx_group group = mg__ptx_isa((enum mg_ptx_opcode)i->opcode)->group;
    bool own = i->space == MG_SPACE_SHARED || i->space == MG_SPACE_LOCAL || i->space == MG_SPACE_PARAM;
    return !(i->effects & MG_E_CALLS) && group != MG_G_BULK && group != MG_G_MBARRIER &&
           (i->access == MG_ACCESSES_NONE || i->access == MG_ACCESSES_LOAD || mg__ptx_is_atomic(i) ||
            (i->access == MG_ACCESSES_STORE && own));
}

static bool tells_time(const struct mg_program *p)
{
    for (uint32_t k = 0; k < p->ninsns; k++) {
        const struct mg_ptx_func *f = p->insns[k].func;
        for (size_t i = 0; (!k || p->insns[k - 1].func != f) && i < f->noperands; i++)
            if (f->operands[i].kind == MG_OPND_SREG && f->operands[i].index >= MG_SR_CLOCK &&
                f->operands[i].index <= MG_SR_GLOBALTIMER_HI)
                return true;
    }
    return false;
}

/* Whether only what is harmless was executed since the last time; `before` is brought up to date. */
static bool was_harmless(const struct mg_worker *worker, uint64_t *before)
{
    const struct mg_program *p = worker->run->program;
    bool harmless = !worker->alters;
    for (uint32_t s = 0; s < p->nsegments; s++) {
        uint64_t now = mg__executed(worker, s);
        for (uint32_t i = 0; harmless && now != before[s] && i < p->segments[s].ninsns; i++)
            harmless = is_harmless(p->insns[p->segments[s].first_insn + i].insn);
        before[s] = now;
    }
    return harmless;
}

void mg__spin_look(struct mg_worker *worker)
{
    struct mg_spin *s = worker->spin;
    if (worker->run->nworkers != 1)
        return;
    if (!s && !(s = worker->spin = calloc(1, sizeof(*s) + worker->run->program->nsegments * sizeof(s->before[0]))))
        return;
    s->again = false;
    s->turns = was_harmless(worker, s->before) && worker->spent == 0 ? s->turns + 1 : 0;
    worker->alters = false;
    if (!s->turns || tells_time(worker->run->program))
        return;
    uint64_t print = print_of(worker);
    for (uint32_t k = 1; k < MG_MIN(s->turns, PRINTS) && s->turns >= CALM && !s->again; k++)
        s->again = s->prints[(s->turns - k) % PRINTS] == print;
    s->prints[s->turns % PRINTS] = print;
}

bool mg__simt_spins(const struct mg_run *run)
{
    return run->workers && run->workers[0].spin && run->workers[0].spin->again && !run->workers[0].ended;
}

void mg__simt_stop(struct mg_run *run)
{
    run->spins = true;
    atomic_store(&run->deadline, 1);
}

/* The observers are told where all lanes are. */
void mg__spin_tell(struct mg_worker *worker)
{
    for (uint32_t k = 0; k < worker->nclusters; k++)
        for (uint32_t r = 0; worker->clusters[k]->busy && r < worker->run->cluster_size; r++) {
            const struct mg_block *b = &worker->clusters[k]->blocks[r];
            for (uint32_t i = 0; b->live_warps && i < b->nwarps; i++)
                mg__stuck_leaves(&b->warps[i]);
        }
}
