/* sample.c - large grids: some blocks are counted, the others run without observers or not at all.
 *
 * What is drawn are blocks, or clusters where a launch names some. They lie in strata: runs of consecutive ones, those
 * at the grid's rim apart, whose work often differs, and of each stratum two are drawn, so that the spread inside of
 * it is known. Which two is a hash of the stratum's number and the grid's size: the same in every run, for any number
 * of threads. Of small grids, of which more than half would be drawn, everything is counted.
 *
 * What is learnt while a block runs that is not counted is dropped when the next one that is begins.
 */
#include "simt/sched_priv.h"

#define LEAST_STRATA 16u         /* of the rim, and of what lies inside: half as many drawn would tell too little */
#define MOST_STRATA (1u << 16)   /* what is drawn is kept until the launch's end */
#define MOST_LISTED (1ull << 24) /* of a larger grid the rim is its first and its last block */
#define AUTO_DRAWN 512u

static uint64_t hash(uint64_t h)
{
    h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9ull;
    h = (h ^ h >> 27) * 0x94d049bb133111ebull;
    return h ^ h >> 31;
}

/* ---- what is drawn ---- */
static bool at_rim(const struct mg_dim3 *grid, uint64_t units, uint64_t number)
{
    if (number == 0 || number + 1 == units)
        return true;
    if (units > MOST_LISTED)
        return false;
    const uint32_t size[3] = {grid->x, grid->y, grid->z};
    bool rim = false, several = (size[0] > 2) + (size[1] > 2) + (size[2] > 2) > 1;
    for (unsigned d = 0; d < 3; d++) {
        uint64_t at = number % size[d];
        rim |= several && size[d] > 2 && (at == 0 || at + 1 == size[d]);
        number /= size[d];
    }
    return rim;
}

/* The stratum's own numbers that are drawn, fewer than `size` only by being two. */
static unsigned draw(uint64_t stratum, uint64_t units, uint64_t size, uint64_t drawn[2])
{
    drawn[0] = hash(2 * stratum + 1 + hash(units)) % size;
    drawn[1] = size > 1 ? hash(2 * stratum + 2 + hash(units)) % (size - 1) : 0;
    drawn[1] += drawn[1] >= drawn[0];
    if (drawn[1] < drawn[0] && size > 1) {
        uint64_t first = drawn[1];
        drawn[1] = drawn[0];
        drawn[0] = first;
    }
    return size > 1 ? 2 : 1;
}

struct part {                                    /* the rim, or what lies inside */
    uint64_t units, strata, seen, stratum, from; /* seen: those before; from: where the stratum begins among them */
};

static uint64_t strata_of(uint64_t units, uint64_t every)
{
    uint64_t n = MG_MAX(units / (2 * every), LEAST_STRATA);
    return MG_MIN(MG_MIN(n, MOST_STRATA), (units + 1) / 2);
}

/* The next one of the part is `number`: whether it is drawn. */
static void look_at(struct mg_sample *s, struct part *p, uint64_t base, uint64_t number)
{
    uint64_t drawn[2], end = (uint64_t)((__uint128_t)(p->stratum + 1) * p->units / p->strata);
    if (p->seen == end) {
        p->from = end;
        p->stratum++;
        end = (uint64_t)((__uint128_t)(p->stratum + 1) * p->units / p->strata);
    }
    uint64_t size = end - p->from, at = p->seen++ - p->from;
    unsigned n = draw(base + p->stratum, s->units, size, drawn);
    s->sizes[base + p->stratum] = size;
    if (at == drawn[0] || (n > 1 && at == drawn[1]))
        s->at[s->n++] = (struct mg_sample_unit){number, (uint32_t)(base + p->stratum)};
}

static struct mg_sample *make(const struct mg_dim3 *grid, uint64_t units, uint64_t every)
{
    struct part rim = {0}, inside = {0};
    if (every == MG_SAMPLE_AUTO)
        every = MG_MAX(units / AUTO_DRAWN, 1);
    for (uint64_t u = 0; u < units && units <= MOST_LISTED; u++)
        rim.units += at_rim(grid, units, u);
    rim.units = units > MOST_LISTED ? 2 : rim.units;
    inside.units = units - rim.units;
    rim.strata = strata_of(rim.units, every);
    inside.strata = strata_of(inside.units, every);
    uint64_t n = rim.strata + inside.strata;
    struct mg_sample *s = calloc(1, sizeof *s);
    if (s) {
        s->at = calloc(2 * n + 1, sizeof *s->at);
        s->sizes = calloc(n + 1, sizeof *s->sizes);
    }
    if (!s || !s->at || !s->sizes) {
        mg__sample_free(s);
        return NULL;
    }
    s->units = units;
    s->nstrata = (uint32_t)n;
    for (uint64_t u = 0; u < units; u++) {
        bool outer = at_rim(grid, units, u);
        look_at(s, outer ? &rim : &inside, outer ? 0 : rim.strata, u);
    }
    return s;
}

void mg__sample_free(struct mg_sample *s)
{
    if (!s)
        return;
    free(s->at);
    free(s->sizes);
    free(s);
}

/* Whether all that look at accesses can do with some blocks. */
static bool may(const struct mg_run *run)
{
    bool any = false;
    for (unsigned i = 0; i < run->nobservers; i++) {
        unsigned wants = run->observers[i].wants;
        if (wants & (MG_OBSERVE_SHAPES | MG_OBSERVE_EVERY | MG_OBSERVE_SYNC) && !(wants & MG_OBSERVE_UNITS))
            return false;
        any |= (wants & MG_OBSERVE_UNITS) != 0;
    }
    return any;
}

bool mg__sample_plan(struct mg_run *run, struct mg_run *was)
{
    const struct mg_simt *s = run->simt;
    const struct mg_dim3 *is = &run->clusters, *had = &was->clusters;
    struct mg_sample *kept = was->sample;
    was->sample = NULL;
    if (kept && (kept->every != s->sample_every || is->x != had->x || is->y != had->y || is->z != had->z)) {
        mg__sample_free(kept);
        kept = NULL;
    }
    if (!s->sample_every || !may(run)) {
        mg__sample_free(kept);
        return true;
    }
    run->sample = kept ? kept : make(&run->clusters, run->nclusters, s->sample_every);
    if (!run->sample)
        return false;
    if (2 * run->sample->n > run->nclusters) { /* then rather all of them */
        mg__sample_free(run->sample);
        run->sample = NULL;
        return true;
    }
    run->sample->every = s->sample_every;
    run->sample->left_out = s->sample_alone && !run->program->ordered && !run->asked.cooperative;
    if (run->sample->left_out)
        run->nclusters = run->sample->n;
    return true;
}

/* ---- while it runs ---- */
size_t mg__sample_find(const struct mg_sample *s, uint64_t number)
{
    size_t lo = 0, hi = s->n;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (s->at[mid].number < number)
            lo = mid + 1;
        else
            hi = mid;
    }
    return lo < s->n && s->at[lo].number == number ? lo : SIZE_MAX;
}

/* The observers hear the rest of what the last one did. */
void mg__sample_switch(struct mg_worker *worker, size_t unit)
{
    const struct mg_run *run = worker->run;
    if (unit == worker->unit)
        return;
    mg__sites_flush(worker);
    mg__engine_flush(worker);
    mg__worker_tell_counts(worker);
    worker->unit = unit;
    worker->quiet = unit == SIZE_MAX;
    for (unsigned i = 0; i < run->nobservers; i++)
        if (run->observers[i].unit && worker->observers[i])
            run->observers[i].unit(worker->observers[i], unit);
}
