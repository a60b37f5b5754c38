/* products.c - kernels that compute from tiles: how many products a thread makes of what it loads, and whether the next
 * tile is on its way meanwhile.
 *
 * COARSEN. A thread that computes one element loads two operands for each product; one that computes n x n of them
 * loads 2n for n * n. So the recorded loads of tiles are counted again with each value used for as many products as the
 * elements allow: loads, and the wavefronts that they take, in the proportion of the operands a product. The block's
 * tile grows with the elements, so that each byte of global memory that fills it serves more products, and there are
 * fewer blocks; n is the largest of 8, 4 and 2 with which a block is left for every second multiprocessor and registers
 * suffice. What a thread computes now is read off its stores. It is said where every LOADS-th product, or more, costs a
 * word of a tile. Where there is one tile, and the other operand is a register, a constant or the tile itself (a
 * filter, forces between bodies), there are no rows and columns: n elements of a thread use each word that it loads n
 * times, and the tile is filled as it was.
 *
 * READ_AHEAD. Where a tile is filled through registers again and again, loading it and using it take turns; the
 * resident blocks overlap, a block with itself does not. Then nobody waits for what is loaded until the next barrier,
 * the instructions that stored the tile go, and where two barriers enclose each tile, one of them; against it stands
 * the second buffer. Devices from 8.0 on copy asynchronously.
 *
 * UNIFORM. A table in shared memory, filled once, of which all lanes of each warp read one word at a time, each word by
 * every thread: constant memory serves that without a wavefront, and its operands need no load instruction.
 */
#include "advise/facts.h"

#include <math.h>

enum { LOADS = 4, LEAST_REUSE = 4, MOST_TABLE = 4096, MOST_REGS = 128, COPYING = 3 /* instructions around a copy */ };

struct tiles {                     /* what tiles are read for */
    double loads, load_wavefronts; /* of warps */
    double words;                  /* that a lane loads, of all warps */
    double writes, reads;          /* of words, in the sampled blocks */
    uint32_t worst;                /* the load with most wavefronts */
    double most;
    unsigned count; /* of tiles */
};

static void add_loads(const struct mg_facts *f, uint32_t insn, struct tiles *t)
{
    const struct mg_shapes *set = &f->seen->shared[insn];
    double taken = 0, times = 0, bytes = 0;
    for (uint32_t k = 0; k < set->count; k++) {
        const struct mg_advise_shape *s = &set->at[k];
        if (s->kind != MG_ACCESS_LD || s->var < 0 || (uint32_t)s->var >= f->info->nshared_vars || !f->vars[s->var].copy)
            continue;
        times += (double)s->times * f->scale[insn];
        bytes += (double)s->times * f->scale[insn] * s->width;
        taken += s->taken * (double)s->times * f->scale[insn];
    }
    t->loads += times;
    t->words += bytes / (f->flops_f64 > f->flops_f32 ? 8 : 4);
    t->load_wavefronts += taken;
    if (taken > t->most) {
        t->most = taken;
        t->worst = insn;
    }
}

static struct tiles gather(const struct mg_facts *f)
{
    struct tiles t = {.worst = UINT32_MAX};
    for (uint32_t i = 0; i < f->info->ninsns; i++)
        add_loads(f, i, &t);
    for (uint32_t v = 0; v < f->info->nshared_vars; v++)
        if (f->vars[v].copy) {
            t.writes += (double)f->vars[v].writes;
            t.reads += (double)f->vars[v].reads;
            t.count++;
        }
    return t;
}

/* Elements that a thread computes: bytes that it stores, by the width of a float. */
static double elements(const struct mg_facts *f)
{
    double bytes = 0, threads = (double)f->threads * (double)f->seen->nblocks;
    for (uint32_t i = 0; i < f->nsites; i++)
        if (f->sites[i].site->direction == MG_DIR_STORE)
            bytes += (double)f->sites[i].sum.bytes;
    unsigned width = f->flops_f64 > f->flops_f32 ? 8 : 4;
    return threads > 0 ? MG_MAX(bytes / width / threads, 1) : 1;
}

struct coarser {
    unsigned side;                   /* elements a thread, in each direction */
    double now, then;                /* elements of a thread */
    double loads, wavefronts, fills; /* the part of each that is left */
    double blocks;
    struct mg_change *change;
};

static bool fills(const struct mg_facts *f, uint32_t insn)
{
    return f->tile_of[insn] >= 0 && f->vars[f->tile_of[insn]].copy;
}

static bool loads_tile(const struct mg_facts *f, uint32_t insn, bool *stores)
{
    for (uint32_t v = 0; v < f->info->nshared_vars; v++)
        if (f->vars[v].copy && mg__change_of_var(f, insn, v)) {
            *stores = f->info->insns[insn].insn->access != MG_ACCESSES_LOAD;
            return true;
        }
    return false;
}

static bool computes(const struct mg_facts *f, uint32_t insn)
{
    const struct mg_ptx_insn *i = f->info->insns[insn].insn;
    return i && mg__ptx_isa((enum mg_ptx_opcode)i->opcode)->flops > 0;
}

/* Fewer blocks, whose threads make all products of what they load. */
static void change_coarser(struct mg_facts *f, struct coarser *c)
{
    const double more = c->then / c->now;
    struct mg_occupancy_query q = f->query;
    struct mg_occupancy o;
    struct mg_change *change = c->change = mg__change(f);
    for (uint32_t i = 0; change && i < f->info->ninsns; i++) {
        const uint32_t site = f->seen->sites.of[i];
        bool stores = false;
        if (loads_tile(f, i, &stores))
            change->edits[i].times = (float)(more * (stores ? c->fills : c->loads));
        else if (fills(f, i))
            change->edits[i].times = (float)(more * c->fills);
        else if (computes(f, i) || (site != UINT32_MAX && f->sites[site].site->direction == MG_DIR_STORE))
            change->edits[i].times = (float)more;
    }
    if (!change)
        return;
    change->blocks = (uint64_t)MG_MAX(c->blocks + 0.5, 1);
    q.regs += (unsigned)(c->then + 2.0 * c->side - c->now);
    for (uint32_t v = 0; v < f->info->nshared_vars; v++)
        q.shared_dynamic += f->vars[v].copy ? (uint32_t)(f->info->shared_vars[v].size * (more * c->fills - 1)) : 0;
    q.shared_optin = q.shared_dynamic;
    if (mg_arch_occupancy(f->arch, &q, &o) == MG_OK && o.blocks)
        change->resident = o.blocks;
}

static struct coarser try_side(struct mg_facts *f, const struct tiles *t, unsigned side)
{
    const bool one = t->count == 1;
    double now = elements(f), then = one ? side : (double)side * side;
    struct coarser c = {.side = side, .now = now, .then = then, .blocks = (double)f->seen->nblocks * now / then};
    double operands = t->words / f->arithmetic, wanted = 2.0 / side;
    c.loads = one ? now / then : wanted / operands;
    c.wavefronts = c.loads;
    c.fills = one ? 1 : MG_MIN(sqrt(now / then), 1);
    double room = f->query.regs + then + 2.0 * side - now;
    if (c.loads >= 1 || then <= now || room > MOST_REGS || c.blocks * 2 < f->arch->board->sm_count)
        return c;
    change_coarser(f, &c);
    return c;
}

static const char *how_products(struct mg_facts *f, const struct tiles *t, const struct coarser *c, double words)
{
    return mg__advise_text(
        f,
        "Keep %u sums in registers; at each step load %u + %u operands (two or four of them at once, "
        "float4) and multiply all pairs: %.2f words for each product, %.0f wavefronts. The block's "
        "tile grows, so that filling it moves %.0f %% of the sectors; %.0f blocks are left, and the "
        "sums of a thread, which do not wait for one another, hide latency in place of warps.",
        c->side * c->side, c->side, c->side, words * c->loads, t->load_wavefronts * c->wavefronts, 100 * c->fills,
        c->blocks);
}

static const char *how_one(struct mg_facts *f, const struct tiles *t, const struct coarser *c, double words)
{
    return mg__advise_text(
        f,
        "Keep %u sums in registers, and use each word of the tile that is loaded for all of them that "
        "need it (neighbours in a filter need mostly the same words, which float4 loads four at "
        "once): %.2f words for each product, %.0f wavefronts. %.0f blocks are left, and the sums of a "
        "thread, which do not wait for one another, hide latency in place of warps.",
        c->side, words * c->loads, t->load_wavefronts * c->wavefronts, c->blocks);
}

static void coarsen(struct mg_facts *f, const struct tiles *t)
{
    struct coarser best = {.change = NULL};
    if (f->arithmetic <= 0 || t->words * LOADS < f->arithmetic || t->reads < LEAST_REUSE * t->writes)
        return;
    for (unsigned side = 2; side <= 8; side *= 2) {
        struct coarser c = try_side(f, t, side);
        if (c.change && mg__change_saves(f, c.change) > mg__change_saves(f, best.change))
            best = c;
    }
    struct mg_report_advice_item *item = best.change ? mg__advise_add(f, "coarsen", best.change) : NULL;
    if (!item)
        return;
    double words = t->words / f->arithmetic;
    mg__advise_at(f, item, t->worst);
    item->title = t->count == 1 ? mg__advise_text(f, "Let each thread compute %u elements", best.side)
                                : mg__advise_text(f, "Let each thread compute %u x %u elements of a larger tile",
                                                  best.side, best.side);
    item->why = mg__advise_text(f,
                                "%.2f words from tiles for each arithmetic instruction, %.0f wavefronts; a thread "
                                "computes about %.0f element%s, and a word of a tile is read %.0f times.",
                                words, t->load_wavefronts, best.now, best.now < 1.5 ? "" : "s", t->reads / t->writes);
    item->how = t->count == 1 ? how_one(f, t, &best, words) : how_products(f, t, &best, words);
    mg__advise_value(f, item, "words_per_product", words);
    mg__advise_value(f, item, "words_per_product_then", words * best.loads);
    mg__advise_value(f, item, "elements", best.now);
    mg__advise_value(f, item, "elements_then", best.then);
    mg__advise_value(f, item, "wavefronts_now", (double)mg__facts_round(t->load_wavefronts));
    mg__advise_value(f, item, "wavefronts_then", (double)mg__facts_round(t->load_wavefronts * best.wavefronts));
    mg__advise_value(f, item, "blocks_then", best.blocks);
}

/* ---- the next tile ---- */
struct filling {
    double instructions; /* that store into tiles */
    double rounds;       /* tilefuls, one after another */
    uint32_t insn;       /* the load that brings most */
};

/* How tiles are filled through registers; rounds 0: they are not, or by asynchronous copies. */
static struct filling filling(const struct mg_facts *f)
{
    struct filling r = {.insn = UINT32_MAX};
    double warps = (double)f->warps * (double)f->seen->nblocks;
    for (uint32_t i = 0; i < f->info->ninsns; i++) {
        const struct mg_ptx_insn *insn = f->info->insns[i].insn;
        const struct mg_tried *t = &f->seen->insns[i];
        if (!insn || !t->warps)
            continue;
        if (insn->access == MG_ACCESSES_COPY)
            return (struct filling){.insn = UINT32_MAX};
        if (f->tile_of[i] >= 0 && f->vars[f->tile_of[i]].copy && (double)t->warps / warps > r.rounds) {
            r.rounds = (double)t->warps / warps;
            r.insn = i;
        }
    }
    for (uint32_t v = 0; v < f->info->nshared_vars; v++)
        r.instructions += f->vars[v].copy ? (double)f->vars[v].stores : 0;
    return r;
}

/* Loads of tiles go ahead, no instruction stores them, and every second barrier goes. */
static struct mg_change *ahead(struct mg_facts *f, double rounds, bool two)
{
    struct mg_change *c = mg__change(f);
    unsigned barriers = 0;
    for (uint32_t i = 0; c && i < f->info->ninsns; i++) {
        const struct mg_ptx_insn *insn = f->info->insns[i].insn;
        bool stores = false;
        if (fills(f, i)) { /* the copy takes the path to shared memory, too, and is waited for by groups */
            c->edits[i].ahead = true;
            mg__change_add(f, c, i, MG_TIME_NEW_SHARED, mg__change_often(f, i), 1, 0);
            mg__change_add(f, c, i, MG_TIME_NEW_ALU, COPYING * mg__change_often(f, i), 0, 0);
        } else if (loads_tile(f, i, &stores) && stores)
            mg__change_gone(c, i);
        else if (two && insn && insn->effects & MG_E_SYNCS && mg__change_often(f, i) > 0.7 * rounds && barriers++ % 2)
            mg__change_gone(c, i);
    }
    return c;
}

static void read_ahead(struct mg_facts *f, const struct tiles *t)
{
    struct filling r = filling(f);
    if (f->arch->cc < 80 || r.rounds < 1.5 || r.insn == UINT32_MAX || !f->has_occupancy || t->reads < 2 * t->writes)
        return;
    double barriers = f->barriers / ((double)f->warps * (double)f->seen->nblocks) / r.rounds; /* for each tile */
    uint32_t size = 0;
    for (uint32_t v = 0; v < f->info->nshared_vars; v++)
        size += f->vars[v].copy ? f->info->shared_vars[v].size : 0;
    if (barriers < 0.9) /* the rounds are one tile's parts */
        return;
    struct mg_change *change = ahead(f, r.rounds, barriers > 1.5);
    unsigned blocks = mg__change_room(f, change, barriers > 1.5 ? size : 0);
    struct mg_report_advice_item *item = blocks ? mg__advise_add(f, "read-ahead", change) : NULL;
    if (!item)
        return;
    mg__advise_at(f, item, r.insn);
    item->title = "Copy the next tile with cp.async while this one is used";
    item->why =
        mg__advise_text(f,
                        "A block fills its tiles %.0f times, through registers, and uses them in between: %.0f "
                        "warps' stores, %.1f barriers for each filling, %u block%s on an SM to overlap.",
                        r.rounds, r.instructions, barriers, f->occupancy.blocks, f->occupancy.blocks == 1 ? "" : "s");
    item->how = mg__advise_text(
        f,
        "Keep two or more buffers. Start the copy of the next tile (__pipeline_memcpy_async, cuda::memcpy_async) "
        "before "
        "computing from this one, and wait for it behind that: one barrier for each tile, and no register holds what "
        "travels. %s%u blocks fit on an SM, now %u.",
        barriers > 1.5 ? mg__advise_text(f, "A second buffer takes %u bytes; ", size) : "", blocks,
        f->occupancy.blocks);
    mg__advise_value(f, item, "rounds", r.rounds);
    mg__advise_value(f, item, "barriers_per_round", barriers);
    mg__advise_value(f, item, "blocks_now", f->occupancy.blocks);
    mg__advise_value(f, item, "blocks_then", blocks);
}

/* ---- tables that all lanes read together ---- */
static void uniform(struct mg_facts *f, uint32_t var)
{
    const struct mg_var_fact *v = &f->vars[var];
    const uint32_t size = f->info->shared_vars[var].size;
    double loads = 0, wavefronts = 0;
    uint32_t worst = UINT32_MAX;
    if (!v->loads || v->atomics || v->made || v->writes > v->words || size > MOST_TABLE || !v->writes ||
        (double)v->words < 4 * f->sampled_blocks || (double)v->reads < 0.9 * f->threads * (double)v->writes)
        return;
    for (uint32_t i = 0; i < f->info->ninsns; i++) {
        const struct mg_shapes *set = &f->seen->shared[i];
        for (uint32_t k = 0; k < set->count; k++) {
            const struct mg_advise_shape *s = &set->at[k];
            if (s->kind != MG_ACCESS_LD || s->var != (int32_t)var)
                continue;
            for (unsigned lane = 0; lane < 32; lane++)
                if ((s->mask >> lane & 1) && s->at[lane] != s->at[__builtin_ctz(s->mask)])
                    return;
            loads += (double)s->times * f->scale[i];
            wavefronts += s->taken * (double)s->times * f->scale[i];
            worst = i;
        }
    }
    struct mg_change *change = mg__change(f);
    for (uint32_t i = 0; change && i < f->info->ninsns; i++)
        if (mg__change_of_var(f, i, var))
            mg__change_gone(change, i);
    struct mg_report_advice_item *item = mg__advise_add(f, "uniform", change);
    if (!item)
        return;
    const char *name = mg__facts_variable(f, var);
    mg__advise_at(f, item, worst);
    item->variable = name;
    item->title = mg__advise_text(f, "Read '%s' from constant memory", name);
    item->why = mg__advise_text(f,
                                "All lanes read the same word of it each time: %.0f loads and %.0f wavefronts, and a "
                                "block reads each word %.0f times.",
                                loads, wavefronts, (double)v->reads / (double)v->writes);
    item->how = "If it is the same for all blocks and known at the launch, pass it in a structure by value, or in a "
                "__constant__ array: an operand of constant memory takes no load and no wavefront, where the index is "
                "known when a loop is unrolled.";
    mg__advise_value(f, item, "loads", loads);
    mg__advise_value(f, item, "wavefronts_now", (double)v->wavefronts);
    mg__advise_predict(f, item, MG_METRIC_WAVEFRONTS_SHARED, (double)f->total.wavefronts - (double)v->wavefronts);
}

void mg__advise_products(struct mg_facts *f)
{
    struct tiles t = gather(f);
    coarsen(f, &t);
    read_ahead(f, &t);
    for (uint32_t v = 0; v < f->info->nshared_vars; v++)
        uniform(f, v);
}
