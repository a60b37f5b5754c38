/* global.c - global accesses that do not coalesce: why, and which of the remedies fixes them.
 *
 * A site fails when its accesses touch a quarter more sectors than their bytes would fill (a tenth, of contiguous
 * ones). Why is read off the middle one of the sampled blocks:
 *   a thread's own neighbours  lanes are 8 or 16 bytes apart and each thread uses all of them: a vector load (VECTOR)
 *   the other index            threads next to one another in y, or a thread's next access, are neighbours: the
 *                              indices, or the loop and the thread index, are the wrong way round (ORDER)
 *   another order              all bytes of the sectors are used by the block, in some other order (ORDER too)
 *   records                    lanes are a record apart, and its fields are read in several places: an array for each
 *                              field (FIELDS), before any tile
 *   holes                      the block does not use what lies between: fields of records (FIELDS)
 *   a column                   the same, but lanes are a row apart, or other blocks use what lies between: other
 *                              columns (NARROW)
 *   an offset                  lanes, or rows of them, are neighbours that start in the middle of a sector (OFFSET);
 *                              where that is because the block is no multiple of 32 threads, whole warps fix it
 *                              (DRIFT, lanes.c)
 *   anywhere                   the block's sectors lie in no rows: the work can be sorted by address (SCATTER), which
 *                              gains nothing where a thread uses whole sectors
 *   idle lanes                 neighbours, but the lanes between do nothing: no order of the data fixes that (IDLE)
 *   narrow rows                the block's rows are shorter than a sector, so that a warp is made of pieces (NARROW)
 * ORDER is fixed by exchanging the indices where nothing else depends on their order, that is, where no other site is
 * in order now and would be out of it then, or where the load fills a tile; else by a tile in shared memory. Each
 * remedy covers all the sites that it fixes.
 */
#include "advise/facts.h"

#include <math.h>

enum { MOST_RECORD = 128, MOST_FIELDS = 32 }; /* bytes, a longer distance is a row's; and what is told apart */
enum { LEAST_RUNS = 16, SHORT_RUN = 4 }; /* of neighbouring sectors: so many tell, and so many in one are an order */

static bool fails(const struct mg_site_fact *s)
{
    uint64_t more = s->pattern == MG_PATTERN_UNIT ? 110 : 125; /* neighbours can only start in the wrong place */
    return s->site->direction != MG_DIR_ATOMIC && s->sum.touched * 100 > s->sum.ideal * more;
}

/* The part of the group's sectors' bytes that its blocks use. */
static double fill(const struct mg_advise_group *g)
{
    return g->use.sectors > 0 ? g->use.bytes / (g->use.sectors * 32) : 1;
}

static int64_t size_of(int64_t v)
{
    return v < 0 ? -v : v;
}

/* Neighbours that touch more sectors than their bytes fill: for where they start, or for the lanes between that are
 * idle. */
static enum mg_cause not_filled(const struct mg_site_fact *s)
{
    if (s->aligned > 0.95)
        return MG_IDLE;
    return s->drifts ? MG_DRIFT : MG_OFFSET;
}

/* Whether threads next to one another take records next to one another: their fields are read in as many places of the
 * source as half of the record has elements, or they are three, five, six … elements long. (A loop over a thread's own
 * share that was unrolled reads as many, in one place; such shares are powers of two.) An array for each field needs no
 * tile then. */
static bool is_record(const struct mg_facts *f, const struct mg_site_fact *s)
{
    uint32_t lines[MOST_FIELDS], columns[MOST_FIELDS], fields = 0;
    int64_t elements = size_of(s->stride) / s->width;
    if (s->step_x != s->stride || size_of(s->stride) > MOST_RECORD)
        return false;
    if (elements & (elements - 1))
        return true;
    for (uint32_t i = 0; i < f->info->ninsns && fields < MOST_FIELDS; i++) {
        uint32_t site = f->seen->sites.of[i];
        if (site == UINT32_MAX || !f->seen->insns[i].requests || f->sites[site].stride != s->stride ||
            f->sites[site].site->direction != s->site->direction || f->sites[site].site->param != s->site->param ||
            f->sites[site].site->global != s->site->global)
            continue;
        struct mg_ptx_place place = mg__ptx_place(f->info->module, f->info->insns[i].insn->loc);
        uint32_t k = 0;
        while (k < fields && (lines[k] != place.line || columns[k] != place.column))
            k++;
        if (k == fields) {
            lines[fields] = place.line;
            columns[fields++] = place.column;
        }
    }
    return fields > 1 && 2 * fields * s->width >= size_of(s->stride);
}

struct touched { /* of a sector: the granules that a block uses at the site */
    uint64_t sector;
    uint32_t granules;
    unsigned block;
};

static int by_sector(const void *left, const void *right)
{
    const struct touched *a = left, *b = right;
    return a->sector != b->sector ? (a->sector > b->sector) - (a->sector < b->sector)
                                  : (a->block > b->block) - (a->block < b->block);
}

/* Whether most sectors that the site's blocks touch are used by several of them, by each in another place: then other
 * blocks use what a block leaves out, and lanes are a row apart, no record. */
static bool blocks_interleave(const struct mg_facts *f, const struct mg_site_fact *s)
{
    const unsigned shift = f->seen->sites.shift;
    MG_VEC(struct touched) all = {0};
    size_t sectors = 0, several = 0;
    bool ok = true;
    for (unsigned n = 0; n < f->seen->nsampled; n++) {
        const struct mg_advise_block *b = f->seen->blocks[n];
        for (uint32_t i = 0; b && ok && i < b->ngrains; i++) {
            const uint64_t sector = b->grains[i].key << shift >> 5;
            const uint32_t granule = 1u << (b->grains[i].key & ((32u >> shift) - 1));
            if (f->sites[b->grains[i].site].site != s->site)
                continue;
            if (all.count && all.at[all.count - 1].sector == sector && all.at[all.count - 1].block == n)
                all.at[all.count - 1].granules |= granule;
            else
                ok = mg__vec_push(&all, ((struct touched){sector, granule, n}));
        }
    }
    if (all.count > 1)
        qsort(all.at, all.count, sizeof(*all.at), by_sector);
    for (size_t i = 0, end; i < all.count; i = end) {
        uint32_t used = 0;
        bool apart = true;
        for (end = i; end < all.count && all.at[end].sector == all.at[i].sector; end++) {
            apart &= !(used & all.at[end].granules);
            used |= all.at[end].granules;
        }
        sectors++;
        several += end > i + 1 && apart;
    }
    mg__vec_free(&all);
    return ok && 2 * several > sectors;
}

/* Whether the sectors that a block touches at the site lie anywhere: in short runs, at no common distance. Then there
 * is no order in which neighbouring threads could read neighbours. */
static bool lies_anywhere(const struct mg_facts *f, const struct mg_site_fact *s)
{
    const struct mg_advise_block *b = f->seen->blocks[f->seen->nsampled / 2];
    uint64_t last = UINT64_MAX, start = UINT64_MAX, distance = 0;
    uint32_t sectors = 0, runs = 0, alike = 0, lead = 0;
    for (uint32_t i = 0; b && !b->level && i < b->ngrains; i++) { /* by address */
        const uint64_t sector = b->grains[i].key << f->seen->sites.shift >> 5;
        if (f->sites[b->grains[i].site].site != s->site || sector == last)
            continue;
        sectors++;
        if (last == UINT64_MAX || sector != last + 1) {
            const uint64_t d = sector - start; /* the distance that most runs have keeps its lead */
            alike += lead && d == distance;
            distance = lead ? distance : d;
            lead += d == distance ? 1 : lead ? -1u : 1;
            start = sector;
            runs++;
        }
        last = sector;
    }
    return runs >= LEAST_RUNS && sectors < SHORT_RUN * runs && 2 * alike < runs;
}

/* The part of a sector that one thread uses of the array, in one place: so many sectors of an access are left in the
 * best order of the work, where neighbouring threads have neighbouring places. */
static double own_part(const struct mg_facts *f, uint32_t group)
{
    double bytes = 0, places = 0;
    for (unsigned n = 0; n < f->seen->nsampled; n++) {
        const struct mg_advise_block *b = f->seen->blocks[n];
        uint32_t before[MG_MAX_THREADS / 32] = {0}; /* of the sector before: a place goes on */
        uint64_t last = 0;
        for (uint32_t i = 0, end; b && i < b->ngrains; i = end) {
            uint32_t threads[MG_MAX_THREADS / 32] = {0};
            const uint64_t sector = b->grains[i].key << f->seen->sites.shift >> 5;
            for (end = i; end < b->ngrains && b->grains[end].key << f->seen->sites.shift >> 5 == sector; end++)
                for (unsigned w = 0; f->sites[b->grains[end].site].group == group && w < b->nwarps; w++) {
                    const uint32_t set = mg__grain_threads(b, &b->grains[end])[w];
                    bytes += (double)((unsigned)__builtin_popcount(set) << f->seen->sites.shift);
                    threads[w] |= set;
                }
            for (unsigned w = 0; w < b->nwarps; w++)
                places += __builtin_popcount(sector == last + 1 ? threads[w] & ~before[w] : threads[w]);
            memcpy(before, threads, sizeof(before));
            last = sector;
        }
    }
    return places > 0 ? MG_MIN(bytes / places / f->arch->sector_bytes, 1) : 1;
}

static enum mg_cause cause_of(const struct mg_facts *f, const struct mg_site_fact *s)
{
    const struct mg_advise_group *g = &f->groups[s->group];
    if (!fails(s))
        return MG_FINE;
    bool full = fill(g) >= 0.75;
    switch (s->pattern) {
    case MG_PATTERN_UNIT:
        return not_filled(s);
    case MG_PATTERN_RUNS:
        if (f->info->block.x * s->width < 32)
            return MG_NARROW;
        return size_of(s->step_x) == s->width ? not_filled(s) : full ? MG_ORDER : MG_SCATTER;
    case MG_PATTERN_STRIDED: {
        int64_t stride = size_of(s->stride), width = s->width;
        if ((full || size_of(s->step_next) == width) && (stride == 8 || stride == 16) && stride > width)
            return MG_VECTOR;
        if (s->stride == s->step_y && s->step_y && f->info->block.x * s->width < 32)
            return MG_NARROW; /* a column of threads */
        if (is_record(f, s))
            return blocks_interleave(f, s) ? MG_NARROW : MG_FIELDS;
        if (size_of(s->step_y) == width || size_of(s->step_next) == width || full)
            return MG_ORDER;
        return stride > MOST_RECORD || blocks_interleave(f, s) ? MG_NARROW : MG_FIELDS; /* a column, or a record */
    }
    default:
        if (lies_anywhere(f, s))
            return MG_SCATTER;
        if (size_of(s->step_y) == s->width || (full && size_of(s->step_next) == s->width))
            return MG_ORDER; /* rows of a block narrower than a warp, each lane in another */
        return full && g->use.uses < 1.5 * g->use.bytes ? MG_ORDER : MG_SCATTER;
    }
}

/* Whether an exchange of the thread indices would bring a site out of order that is in order now, if not aligned. */
static bool would_break(const struct mg_site_fact *s)
{
    if (!s->sum.requests || s->pattern == MG_PATTERN_UNIFORM || s->pattern == MG_PATTERN_NONE)
        return false;
    return size_of(s->step_x) == s->width && size_of(s->step_next) != s->width;
}

struct remedy {
    const char *id;
    struct mg_change *change;
    double before, after; /* sectors touched by the sites that it fixes, now and then */
    uint32_t worst;
    double worst_saved;
    unsigned sites;
    uint64_t requests;
};

static void cover(struct mg_facts *f, struct remedy *r, uint32_t site, double sectors)
{
    const struct mg_site_fact *s = &f->sites[site];
    double touched = (double)s->sum.touched, saved = touched - sectors, part = touched > 0 ? sectors / touched : 1;
    if (!r->sites++ || saved > r->worst_saved) {
        r->worst = site;
        r->worst_saved = saved;
    }
    if (!r->change)
        r->change = mg__change(f);
    if (s->cause == MG_VECTOR)
        mg__change_first(f, r->change, site, UINT32_MAX, part);
    else
        mg__change_sites(f, r->change, site, part, s->cause == MG_FIELDS ? fill(&f->groups[s->group]) : 1, false);
    r->before += (double)s->sum.touched;
    r->after += sectors;
    r->requests += s->sum.requests;
}

/* Sectors of a site when each of its bytes is moved once a block, whole sectors at a time. */
static double sectors_once(const struct mg_facts *f, const struct mg_site_fact *s)
{
    return MG_MIN(mg__facts_distinct(&s->use, s->sum.bytes) / f->arch->sector_bytes, (double)s->sum.touched);
}

static const char *place(struct mg_facts *f, const struct mg_site_fact *s)
{
    static const char *const verbs[] = {"read", "written", "updated"};
    const char *array = mg__facts_array(f, s->site);
    return mg__advise_text(f, "%s%s%s", array[0] ? array : "memory", " is ", verbs[s->site->direction]);
}

static void tell(struct mg_facts *f, const struct remedy *r, const char *title, const char *how)
{
    if (!r->sites)
        return;
    struct mg_report_advice_item *item = mg__advise_add(f, r->id, r->change);
    if (!item)
        return;
    const struct mg_site_fact *s = &f->sites[r->worst];
    item->title = title;
    item->how = how;
    item->file = s->site->file;
    item->line = s->site->line;
    item->variable = mg__facts_array(f, s->site);
    double requests = (double)s->sum.requests;
    item->why = mg__advise_text(
        f, "%s with a pattern of '%s': %.1f sectors a request, where its bytes would fill %.1f.%s", place(f, s),
        mg__facts_pattern(f, s), (double)s->sum.touched / requests, (double)s->sum.ideal / requests,
        r->sites > 1 ? mg__advise_text(f, " %u access sites are concerned.", r->sites) : "");
    mg__advise_value(f, item, "sites", r->sites);
    mg__advise_value(f, item, "sectors_now", r->before);
    mg__advise_value(f, item, "sectors_then", (double)mg__facts_round(r->after));
    mg__advise_value(f, item, "stride", (double)s->stride);
    mg__advise_predict(f, item, MG_METRIC_SECTORS_GLOBAL,
                       (double)mg__facts_round((double)f->total.touched - r->before + r->after));
}

const char *mg__advise_remedy(const struct mg_facts *f, const struct mg_site_fact *s)
{
    static const char *const remedies[] = {"",      "vectorise", "stage-order", "fields",    "align",
                                           "widen", "gather",    "divergence",  "block-size"};
    const char *id = s->cause == MG_ORDER && s->swaps ? "swap" : remedies[s->cause];
    if (f->groups[s->group].stages)
        id = "stage";
    if (s->site->direction == MG_DIR_ATOMIC)
        id = "privatise";
    return mg__advise_has(f, id) ? id : "";
}

/* Whether the site's loads go to shared memory: then it is free to load in any order. */
static bool fills_tile(const struct mg_facts *f, uint32_t site)
{
    for (uint32_t i = 0; i < f->info->ninsns; i++)
        if (f->seen->sites.of[i] == site && f->tile_of[i] >= 0)
            return true;
    return false;
}

/* Whether two sites are of one array in one line. */
static bool same_place(const struct mg_advise_site *a, const struct mg_advise_site *b)
{
    return a != b && a->line == b->line && !strcmp(a->file, b->file) && a->param == b->param &&
           a->global == b->global && (a->param >= 0 || a->global);
}

void mg__advise_causes(struct mg_facts *f)
{
    bool breaks = false;
    for (uint32_t i = 0; i < f->nsites; i++)
        breaks |= would_break(&f->sites[i]);
    for (uint32_t i = 0; i < f->nsites; i++) {
        struct mg_site_fact *s = &f->sites[i];
        s->cause = (uint8_t)cause_of(f, s);
        s->swaps =
            s->cause == MG_ORDER &&
            (fills_tile(f, i) || (!breaks && (size_of(s->step_y) == s->width || size_of(s->step_next) == s->width)));
    }
    /* `a[i] -= b * a[k]`: the loads of the line are one site, whose steps may be those of another of them than the
     * element that is stored; that one goes as the store does. */
    for (uint32_t i = 0; i < f->nsites; i++)
        for (uint32_t k = 0; k < f->nsites; k++)
            if (f->sites[i].cause == MG_SCATTER && f->sites[k].swaps &&
                same_place(f->sites[i].site, f->sites[k].site)) {
                f->sites[i].cause = MG_ORDER;
                f->sites[i].swaps = true;
            }
}

/* Sectors that the first accesses of a block's threads to a site touch, warp by warp, in the order of the threads; or
 * with the indices in x and y exchanged. */
static unsigned sectors_of_block(const struct mg_facts *f, const struct mg_walk *walk, unsigned width, bool exchanged,
                                 unsigned *requests)
{
    unsigned bx = f->info->block.x, by = f->info->block.y, total = 0;
    *requests = 0;
    for (unsigned warp = 0; warp < f->warps; warp++) {
        uint64_t seen[64];
        unsigned n = 0;
        for (unsigned t = 32 * warp; t < MG_MIN(32 * warp + 32, f->threads); t++) {
            unsigned in = t % (bx * by), from = exchanged ? t - in + in % by * bx + in / by : t;
            uint64_t at = walk[from].first;
            const unsigned sector = f->arch->sector_bytes;
            for (uint64_t s = at / sector; at && s <= (at + width - 1) / sector && n < MG_COUNT(seen); s++) {
                unsigned k = 0;
                while (k < n && seen[k] != s)
                    k++;
                if (k == n)
                    seen[n++] = s;
            }
        }
        total += n;
        *requests += n > 0;
    }
    return total;
}

/* What an exchange of the indices makes of a site's sectors: the part that it touches then, tried on the middle one of
 * the sampled blocks. Negative: its first accesses are not like all of them. */
static double exchanged(const struct mg_facts *f, uint32_t site)
{
    const struct mg_advise_block *b = f->seen->blocks[f->seen->nsampled / 2];
    const struct mg_walk *walk = b && b->walks ? b->walks[site] : NULL;
    const struct mg_site_fact *s = &f->sites[site];
    unsigned requests, then;
    unsigned now = walk ? sectors_of_block(f, walk, s->width, false, &requests) : 0;
    if (!now || !s->sum.requests ||
        fabs((double)now / requests * (double)s->sum.requests / (double)s->sum.touched - 1) > 0.1)
        return -1;
    return (double)sectors_of_block(f, walk, s->width, true, &then) / now;
}

/* The exchange is of the whole kernel's: what it does to each access site. */
static void exchange_all(struct mg_facts *f, struct remedy *swap)
{
    for (uint32_t i = 0; i < f->nsites; i++) {
        const struct mg_site_fact *s = &f->sites[i];
        double touched = (double)s->sum.touched, part = exchanged(f, i);
        if (s->swaps) {
            cover(f, swap, i, part < 0 ? sectors_once(f, s) : MG_MIN(touched * part, touched));
        } else if (part >= 0 && part != 1) {
            swap->before += touched;
            swap->after += touched * part;
            if (!swap->change)
                swap->change = mg__change(f);
            mg__change_sites(f, swap->change, i, part, 1, true);
        }
    }
}

enum { SWAP, ORDER, VECTOR, FIELDS, OFFSET, NARROW, SCATTER, DRIFT, REMEDIES };

/* Gives each site that fails to the remedy of its cause. `all`: an exchange of indices is judged as a whole. */
static void sort_out(struct mg_facts *f, struct remedy *r, bool all)
{
    for (uint32_t i = 0; i < f->nsites; i++) {
        const struct mg_site_fact *s = &f->sites[i];
        if (f->groups[s->group].stages && (s->cause == MG_SCATTER || (s->cause == MG_ORDER && !s->swaps)))
            continue; /* the tile that is advised for its reuse fixes this too */
        switch ((enum mg_cause)s->cause) {
        case MG_VECTOR:
            cover(f, &r[VECTOR], i, sectors_once(f, s));
            break;
        case MG_ORDER:
            if (!s->swaps || !all)
                cover(f, &r[s->swaps ? SWAP : ORDER], i, sectors_once(f, s));
            break;
        case MG_FIELDS:
            cover(f, &r[FIELDS], i, (double)s->sum.ideal);
            break;
        case MG_OFFSET:
            if (f->groups[s->group].use.uses < 1.5 * f->groups[s->group].use.bytes)
                cover(f, &r[OFFSET], i, s->aligned * (double)s->sum.touched);
            break;
        case MG_DRIFT:
            cover(f, &r[DRIFT], i, s->aligned * (double)s->sum.touched);
            break;
        case MG_NARROW:
            cover(f, &r[NARROW], i, sectors_once(f, s));
            break;
        case MG_SCATTER: {
            const double touched = (double)s->sum.touched,
                         then = MG_MAX((double)s->sum.ideal, own_part(f, s->group) * touched);
            if (then < 0.9 * touched)
                cover(f, &r[SCATTER], i, then);
            break;
        }
        case MG_IDLE:
        case MG_FINE:
            break;
        }
    }
}

static void go_through_tile(struct mg_facts *f, struct remedy *r)
{
    const double warps = (double)f->warps * (double)f->seen->nblocks;
    for (uint32_t i = 0; i < f->info->ninsns; i++) /* before the first access that is put in order */
        if (f->seen->sites.of[i] == r->worst && f->seen->insns[i].requests) {
            mg__change_add(f, r->change, i, MG_TIME_NEW_SHARED, 2 * (double)r->requests / warps,
                           f->sites[r->worst].width / 4.0, 0);
            mg__change_add(f, r->change, i, MG_TIME_NEW_BARRIER, 1, 0, 0);
            return;
        }
}

/* What to do about threads that walk through neighbouring elements each by itself: whether they could take others. */
static const char *how_to_swap(struct mg_facts *f, uint32_t site)
{
    const float *left = mg__facts_steps_left(f);
    bool waits = false;
    for (uint32_t i = 0; left && i < f->info->ninsns; i++)
        waits |= f->seen->sites.of[i] == site && f->seen->insns[i].requests && left[i] > 1 &&
                 2 * left[i] > mg__change_often(f, i);
    return waits
               ? "Each thread walks through neighbouring elements by itself, and its steps wait for one another. Keep "
                 "the array the other way round, with element k of all threads side by side (k * threads + thread), "
                 "so that at each step the warp's lanes are neighbours. Or take pieces of 32 rows through a tile in "
                 "shared memory (32 x 33 words) that is filled and emptied along the rows."
               : "Each thread walks through neighbouring elements by itself. Start at the thread's index and advance "
                 "by the number of threads, so that at each step the warp's lanes are neighbours. Where a thread "
                 "needs its elements together, keep the array the other way round instead, with element k of all "
                 "threads side by side (k * threads + thread).";
}

static void tell_order(struct mg_facts *f, struct remedy *r, bool exchange)
{
    tell(f, &r[SWAP],
         exchange ? "Exchange the roles of threadIdx.x and threadIdx.y"
                  : "Let neighbouring threads take neighbouring elements",
         exchange
             ? "Threads next to one another in y touch neighbouring elements; a warp runs along x. Index the fastest "
               "dimension with threadIdx.x. No other access site depends on the order."
         : r[SWAP].sites ? how_to_swap(f, r[SWAP].worst)
                         : "");
    /* Through a tile: each request becomes one to shared memory as well, there and back, and the block meets once. */
    if (r[ORDER].sites)
        go_through_tile(f, &r[ORDER]);
    tell(f, &r[ORDER], "Go through a tile in shared memory",
         "Read and write global memory with neighbouring threads on neighbouring elements, and change the order in a "
         "tile in shared memory between, with __syncthreads() after it is filled and a padded row (32 x 33 words) so "
         "that its columns are free of bank conflicts.");
}

static void tell_rest(struct mg_facts *f, struct remedy *r)
{
    const struct mg_site_fact *s = &f->sites[r[VECTOR].worst];
    tell(f, &r[VECTOR], "Load what a thread uses as one vector",
         mg__advise_text(f,
                         "A thread uses %lld neighbouring bytes by accesses of %u: one access of a %lld-byte vector "
                         "type (float2, float4, uint4 or an aligned struct) moves the same sectors once.",
                         (long long)size_of(s->stride), s->width, (long long)size_of(s->stride)));
    s = &f->sites[r[FIELDS].worst];
    tell(f, &r[FIELDS], "Keep each field in an array of its own",
         mg__advise_text(f,
                         "Lanes are %lld bytes apart and the block uses %.0f %% of the bytes that it moves. A "
                         "structure of arrays (all x, then all y) lets lanes be neighbours.",
                         (long long)size_of(s->stride), 100 * fill(&f->groups[s->group])));
    tell(
        f, &r[OFFSET], "Align the array",
        "Each warp's bytes are neighbours but start inside a sector, so that they touch one sector more. Pad rows to a "
        "multiple of 32 bytes (cudaMallocPitch), or shift the index so that a warp starts at a multiple of 8 words.");
    s = &f->sites[r[NARROW].worst];
    const bool columns = s->pattern == MG_PATTERN_STRIDED && f->info->block.x * s->width >= 32;
    tell(f, &r[NARROW], columns ? "Give the block several columns" : "Make the block wider in x",
         columns ? mg__advise_text(f,
                                   "Lanes go down a column, %lld bytes apart, and the block takes a piece of each row "
                                   "that is less than a sector. Let it take neighbouring columns as well, with "
                                   "threadIdx.x along the row, over at least %u elements.",
                                   (long long)size_of(s->stride), 32 / MG_MIN(s->width, 16u))
                 : mg__advise_text(
                       f,
                       "The block is %u thread%s wide, which is less than a sector of elements. Let threadIdx.x run "
                       "over at least %u.",
                       f->info->block.x, f->info->block.x == 1 ? "" : "s", 32 / MG_MIN(s->width, 16u)));
    tell(
        f, &r[SCATTER], "Bring the indices into order",
        "Lanes go to addresses that follow no pattern, a sector for each. Sort the work by address, or stage the table "
        "in shared memory where it fits.");
}

void mg__advise_global(struct mg_facts *f)
{
    struct remedy r[REMEDIES] = {
        [SWAP] = {.id = "swap"},      [ORDER] = {.id = "stage-order"}, [VECTOR] = {.id = "vectorise"},
        [FIELDS] = {.id = "fields"},  [OFFSET] = {.id = "align"},      [NARROW] = {.id = "widen"},
        [SCATTER] = {.id = "gather"}, [DRIFT] = {.id = "block-size"}};
    bool exchange = false;
    if (!f->nsites)
        return; /* no access to global memory, and so no worst one whose width and stride could be told */
    for (uint32_t i = 0; i < f->nsites; i++)
        exchange |= f->sites[i].swaps && size_of(f->sites[i].step_y) == f->sites[i].width;
    bool all = exchange && !f->tiles.count;
    sort_out(f, r, all);
    f->drift.sectors = r[DRIFT].before - r[DRIFT].after;
    f->drift.sites = r[DRIFT].sites;
    if (all)
        exchange_all(f, &r[SWAP]);
    tell_order(f, r, exchange);
    tell_rest(f, r);
}
