/* patterns.c - the pattern of an access site: how the addresses of a warp's lanes lie to one another, and how those of
 * neighbouring threads and of a thread's own accesses do.
 *
 * A site makes many different accesses; the pattern is the one that costs most sectors, and so is the stride. Steps are
 * what most pairs of threads show in the middle one of the sampled blocks.
 */
#include "advise/facts.h"

#include <math.h>

static enum mg_pattern_kind classify(const struct mg_advise_shape *s, int64_t *stride)
{
    int first = -1, last = -1;
    int64_t step = 0;
    bool uniform = true, even = true, pieces = true;
    unsigned lanes = 0, jumps = 0, breaks = 0;
    for (int i = 0; i < 32; i++) {
        if (!(s->mask >> i & 1))
            continue;
        if (first >= 0) {
            int64_t d = (int64_t)s->at[i] - s->at[last], gap = i - last;
            if (lanes == 1)
                step = d / gap;
            uniform &= d == 0;
            jumps += d != 0;
            even &= d == step * gap;
            breaks += d != s->width * gap;
            pieces &= d == s->width * gap || ((i & 3) == 0 && d != 0);
        } else {
            first = i;
        }
        last = i;
        lanes++;
    }
    *stride = step;
    if (lanes == 1)
        return MG_PATTERN_NONE;
    if (uniform)
        return MG_PATTERN_UNIFORM;
    if (even)
        return step == s->width ? MG_PATTERN_UNIT : MG_PATTERN_STRIDED;
    if ((jumps + 1) * 4 <= lanes)
        return MG_PATTERN_FEW;
    return pieces || breaks * 8 <= lanes ? MG_PATTERN_RUNS : MG_PATTERN_SCATTERED;
}

/* Sectors of an access in which each run of neighbours, idle lanes within it included, started at a sector. */
static unsigned aligned_sectors(const struct mg_advise_shape *s, unsigned sector)
{
    int first = -1, last = -1;
    unsigned sectors = 0;
    for (int i = 0; i < 32; i++) {
        if (!(s->mask >> i & 1))
            continue;
        if (first >= 0 && (int64_t)s->at[i] - s->at[last] != (int64_t)s->width * (i - last)) {
            sectors += ((unsigned)(last - first + 1) * s->width + sector - 1) / sector;
            first = -1;
        }
        if (first < 0)
            first = i;
        last = i;
    }
    if (first >= 0)
        sectors += ((unsigned)(last - first + 1) * s->width + sector - 1) / sector;
    return MG_MIN(sectors, s->taken);
}

/* Blocks of 100 threads begin at every half sector, those of 128 all at the same place. */
static unsigned common_start(const struct mg_facts *f, unsigned width)
{
    unsigned a = f->threads * width & 31;
    return a ? 1u << __builtin_ctz(a) : 32;
}

void mg__facts_find_pattern(struct mg_facts *f, uint32_t site)
{
    enum { STRIDES = 16 };
    struct mg_site_fact *s = &f->sites[site];
    double weight[MG_PATTERN_SCATTERED + 1] = {0}, of_stride[STRIDES] = {0}, best = 0;
    int64_t strides[STRIDES];
    unsigned nstrides = 0;
    double widths[6] = {0}, taken = 0;
    const unsigned row = mg__facts_row(f);
    s->drifts = f->threads % 32 != 0;
    for (uint32_t i = 0; i < f->info->ninsns; i++) {
        const struct mg_shapes *set = &f->seen->global[i];
        if (f->seen->sites.of[i] != site)
            continue;
        double scale = ldexp(1, (int)set->level);
        for (uint32_t k = 0; k < set->count; k++) {
            const struct mg_advise_shape *shape = &set->at[k];
            int64_t stride;
            double times = (double)shape->times * scale, w = times * MG_MAX(shape->taken, 1u);
            enum mg_pattern_kind kind = classify(shape, &stride);
            unsigned lanes = (unsigned)__builtin_popcount(shape->mask);
            weight[kind] += kind == MG_PATTERN_NONE ? w * 1e-3 : w; /* one lane shows no pattern */
            widths[MG_MIN(__builtin_ctz(shape->width | 32), 5)] += times;
            taken += times * shape->taken;
            s->aligned += times * aligned_sectors(shape, f->arch->sector_bytes);
            unsigned start = common_start(f, shape->width),
                     before = (unsigned)__builtin_ctz(shape->mask) * shape->width;
            s->drifts &= start < 32 && (shape->phase - before) % start == 0;
            s->ideal_staged += times * (kind == MG_PATTERN_UNIFORM ? 1 : (lanes * shape->width + row - 1) / row);
            if (kind != MG_PATTERN_STRIDED)
                continue;
            unsigned at = 0;
            while (at < nstrides && strides[at] != stride)
                at++;
            if (at == nstrides && nstrides < STRIDES)
                strides[nstrides++] = stride;
            if (at < nstrides)
                of_stride[at] += w;
        }
    }
    s->aligned = taken > 0 ? s->aligned / taken : 1;
    for (unsigned k = 0; k <= MG_PATTERN_SCATTERED; k++)
        if (weight[k] > weight[s->pattern])
            s->pattern = (enum mg_pattern_kind)k;
    for (unsigned k = 0; k < nstrides; k++)
        if (of_stride[k] > best) {
            best = of_stride[k];
            s->stride = strides[k];
        }
    best = 0;
    for (unsigned k = 0; k < MG_COUNT(widths); k++)
        if (widths[k] > best) {
            best = widths[k];
            s->width = 1u << k;
        }
}

/* The difference that most pairs of threads show, or 0. */
struct vote {
    int64_t value;
    unsigned lead, votes, agree;
};

static void vote(struct vote *v, int64_t d)
{
    v->votes++;
    v->agree += v->lead && d == v->value; /* a lower bound */
    if (!v->lead) {
        v->value = d;
        v->agree = 1;
        v->lead = 1;
    } else if (d == v->value) {
        v->lead++;
    } else {
        v->lead--;
    }
}

static int64_t elected(const struct vote *v)
{
    return v->votes && v->agree * 2 > v->votes ? v->value : 0;
}

void mg__facts_find_steps(struct mg_facts *f, const struct mg_advise_block *b)
{
    uint32_t bx = f->info->block.x;
    for (uint32_t site = 0; b && b->walks && site < f->nsites; site++) {
        const struct mg_walk *w = b->walks[site];
        struct vote x = {0}, y = {0}, next = {0};
        for (uint32_t t = 0; w && t < f->threads; t++) {
            if (!w[t].first)
                continue;
            if (t % bx + 1 < bx && t + 1 < f->threads && w[t + 1].first)
                vote(&x, (int64_t)(w[t + 1].first - w[t].first));
            if (t + bx < f->threads && w[t + bx].first)
                vote(&y, (int64_t)(w[t + bx].first - w[t].first));
            if (w[t].second)
                vote(&next, (int64_t)(w[t].second - w[t].first));
        }
        f->sites[site].step_x = elected(&x);
        f->sites[site].step_y = f->info->block.y > 1 ? elected(&y) : 0;
        f->sites[site].step_next = elected(&next);
    }
}
