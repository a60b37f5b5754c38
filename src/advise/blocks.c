/* blocks.c - a sampled block: which bytes of global memory each site of it touched, how often and by which threads, and
 * how its words of shared memory passed between threads.
 *
 * Global memory is followed in granules, the smallest access of the kernel. A block may touch more than there is room
 * for: then whole sectors are sampled, by a hash of their address, so that what is kept of a sector is all of it.
 * Shared memory is followed whole, in words of four bytes.
 *
 * Accesses come in the order in which the engine ran the warps, with a barrier's two sides on their right sides; that
 * is all that "who wrote it" needs in a program without races.
 */
#include "advise/advise_priv.h"

enum { FIRST_SLOTS = 256, SECTOR_SHIFT = 5 };

static uint64_t mix(uint64_t x)
{
    x = (x ^ (x >> 31)) * UINT64_C(0xD6E8FEB86659FD93);
    return x ^ (x >> 29);
}

struct mg_advise_block *mg__block_create(struct mg_advise_block *was, uint64_t index, uint64_t range, uint32_t nsites,
                                         uint32_t shared_bytes, uint32_t warps, bool walk)
{
    struct mg_advise_block *b = was ? was : calloc(1, sizeof(*b));
    if (!b)
        return NULL;
    b->index = index;
    b->range = range;
    b->nwarps = warps;
    b->nsites = nsites;
    b->nwords = (shared_bytes + 3) / 4;
    b->words = calloc((size_t)b->nwords + 1, sizeof(*b->words));
    b->moved = calloc((size_t)nsites + 1, sizeof(*b->moved));
    b->walks = walk ? calloc((size_t)nsites + 1, sizeof(*b->walks)) : NULL;
    b->latest = calloc((size_t)nsites + 1, sizeof(*b->latest));
    if (!b->words || !b->moved || !b->latest || (walk && !b->walks)) {
        mg__block_free(b);
        return NULL;
    }
    return b;
}

void mg__block_end(struct mg_advise_block *b)
{
    for (uint32_t i = 0; b->walks && i < b->nsites; i++)
        free(b->walks[i]);
    for (uint32_t i = 0; b->latest && i < b->nsites; i++)
        free(b->latest[i]);
    free(b->latest);
    free(b->walks);
    free(b->words);
    free(b->moved);
    b->latest = NULL;
    b->walks = NULL;
    b->words = NULL;
    b->moved = NULL;
    if (b->slots)
        memset(b->slots, 0, b->nslots * sizeof(*b->slots));
    b->ngrains = 0;
    b->level = 0;
}

void mg__block_free(struct mg_advise_block *b)
{
    if (!b)
        return;
    mg__block_end(b);
    free(b->grains);
    free(b->threads);
    free(b->slots);
    free(b);
}

static uint32_t slot_of(const struct mg_advise_block *b, uint64_t key, uint32_t site)
{
    return (uint32_t)(mix(key * 64 + site) >> 24) & (b->nslots - 1);
}

static bool rebuild(struct mg_advise_block *b, uint32_t nslots)
{
    if (nslots != b->nslots) {
        uint32_t *slots = malloc(nslots * sizeof(*slots));
        if (!slots)
            return false;
        free(b->slots);
        b->slots = slots;
        b->nslots = nslots;
    }
    memset(b->slots, 0, b->nslots * sizeof(*b->slots));
    for (uint32_t i = 0; i < b->ngrains; i++) {
        uint32_t h = slot_of(b, b->grains[i].key, b->grains[i].site);
        while (b->slots[h])
            h = (h + 1) & (b->nslots - 1);
        b->slots[h] = i + 1;
    }
    return true;
}

/* By the address in the device's range: where that lies differs from run to run. */
static bool kept(const struct mg_advise_block *b, uint64_t sector)
{
    return (mix(sector - (b->range >> SECTOR_SHIFT)) & ((UINT64_C(1) << b->level) - 1)) == 0;
}

static struct mg_grain *grain(struct mg_advise_block *b, uint64_t key, uint32_t site, unsigned shift)
{
    if (b->nslots) {
        uint32_t h = slot_of(b, key, site);
        for (; b->slots[h]; h = (h + 1) & (b->nslots - 1)) {
            struct mg_grain *g = &b->grains[b->slots[h] - 1];
            if (g->key == key && g->site == site)
                return g;
        }
    }
    while (b->ngrains >= MG_GRAINS_KEPT && b->level < 40) {
        uint32_t n = 0;
        b->level++;
        for (uint32_t i = 0; i < b->ngrains; i++)
            if (kept(b, b->grains[i].key << shift >> SECTOR_SHIFT)) {
                memmove(b->threads + (size_t)n * b->nwarps, b->threads + (size_t)b->grains[i].set * b->nwarps,
                        b->nwarps * sizeof(*b->threads)); /* until it is sorted, a set is where its grain is */
                b->grains[n] = b->grains[i];
                b->grains[n].set = n;
                n++;
            }
        b->ngrains = n;
        (void)rebuild(b, b->nslots);
    }
    if (b->ngrains == b->capacity) {
        uint32_t capacity = b->capacity ? b->capacity * 2 : FIRST_SLOTS / 2;
        struct mg_grain *grains = realloc(b->grains, capacity * sizeof(*grains));
        if (!grains)
            return NULL;
        b->grains = grains;
        b->capacity = capacity;
    }
    if ((b->ngrains + 1) * b->nwarps > b->nthreads) {
        uint32_t room = MG_MAX(b->capacity * b->nwarps, b->nthreads);
        uint32_t *threads = realloc(b->threads, room * sizeof(*threads));
        if (!threads)
            return NULL;
        b->threads = threads;
        b->nthreads = room;
    }
    if ((b->ngrains + 1) * 2 > b->nslots && !rebuild(b, b->nslots ? b->nslots * 2 : FIRST_SLOTS))
        return NULL;
    uint32_t h = slot_of(b, key, site);
    while (b->slots[h])
        h = (h + 1) & (b->nslots - 1);
    struct mg_grain *g = &b->grains[b->ngrains++];
    *g = (struct mg_grain){.key = key, .set = b->ngrains - 1, .site = (uint16_t)site};
    memset(b->threads + (size_t)g->set * b->nwarps, 0, b->nwarps * sizeof(*b->threads));
    b->slots[h] = b->ngrains;
    return g;
}

static bool is_at(const struct mg_advise_block *b, uint32_t i, uint64_t key, uint32_t site)
{
    return i < b->ngrains && b->grains[i].key == key && b->grains[i].site == site;
}

/* Neighbouring lanes touch neighbouring granules, which came one behind the other: that of the lane before, `last`, and
 * the next one are looked at first. Lanes that are apart mostly move on together, and so in the order in which granules
 * came: `then`, as far from the thread's latest as the lane before found its own. Only then in the table. */
static struct mg_grain *grain_near(struct mg_advise_block *b, uint32_t last, uint32_t then, uint64_t key, uint32_t site,
                                   unsigned shift)
{
    if (is_at(b, last, key, site))
        return &b->grains[last];
    if (last != UINT32_MAX && is_at(b, last + 1, key, site))
        return &b->grains[last + 1];
    if (is_at(b, then, key, site))
        return &b->grains[then];
    return grain(b, key, site, shift);
}

/* Each thread's first two addresses. */
static void walk_on(struct mg_walk *walk, const struct mg_access *a)
{
    for (uint32_t m = a->mask; m; m &= m - 1) {
        unsigned lane = (unsigned)__builtin_ctz(m), thread = a->warp * 32 + lane;
        if (!walk->first[thread])
            walk->first[thread] = a->address[lane];
        else if (!walk->second[thread])
            walk->second[thread] = a->address[lane];
    }
}

static bool in_one_sector(const struct mg_access *a, unsigned lane)
{
    return a->address[lane] >> SECTOR_SHIFT == (a->address[lane] + a->width - 1) >> SECTOR_SHIFT;
}

/* The active lanes some of whose sectors may be kept. */
static uint32_t lanes_kept(const struct mg_advise_block *b, const struct mg_access *a)
{
    uint32_t lanes = 0;
    uint64_t sector = UINT64_MAX; /* of the lane before */
    bool keep = false;
    for (unsigned i = 0; i < 32 && b->level; i++) {
        if (a->address[i] >> SECTOR_SHIFT != sector) {
            sector = a->address[i] >> SECTOR_SHIFT;
            keep = kept(b, sector);
        }
        lanes |= (uint32_t)(keep || !in_one_sector(a, i)) << i;
    }
    return b->level ? lanes & a->mask : a->mask;
}

/* Lanes of one address use a granule that is kept; `last` is its grain then, UINT32_MAX if it is no more. */
static bool use(struct mg_advise_block *b, const struct mg_access *a, uint32_t lanes, uint64_t key, uint32_t site,
                unsigned shift, uint32_t then, uint32_t *last)
{
    const unsigned level = b->level;
    struct mg_grain *g = grain_near(b, *last, then, key, site, shift);
    if (!g)
        return false;
    if (b->level != level && !kept(b, key << shift >> SECTOR_SHIFT)) { /* making room raised the level above it */
        b->ngrains--;
        (void)rebuild(b, b->nslots);
        *last = UINT32_MAX;
        return true;
    }
    *last = (uint32_t)(g - b->grains);
    g->uses += lanes & (lanes - 1) ? (uint32_t)__builtin_popcount(lanes) : 1;
    b->threads[(size_t)g->set * b->nwarps + a->warp] |= lanes;
    return true;
}

bool mg__block_global(struct mg_advise_block *b, const struct mg_access *a, uint32_t site, unsigned shift)
{
    if (a->warp >= b->nwarps || site > UINT16_MAX)
        return true;
    bool walks = b->walks && site < MG_WALKS;
    if (walks && !b->walks[site])
        b->walks[site] = calloc(1, sizeof(**b->walks));
    if (!b->latest[site])
        b->latest[site] = calloc((size_t)b->nwarps * 32, sizeof(**b->latest));
    if ((walks && !b->walks[site]) || !b->latest[site])
        return false;
    if (walks)
        walk_on(b->walks[site], a);
    const bool one = a->pattern && a->pattern->low == a->pattern->high;
    uint32_t *latest = b->latest[site] + a->warp * 32, last = UINT32_MAX, far = 0, lanes = lanes_kept(b, a);
    for (unsigned level = b->level; lanes; lanes = one ? 0 : lanes & (lanes - 1)) {
        const unsigned lane = (unsigned)__builtin_ctz(lanes);
        const uint64_t from = a->address[lane] >> shift, to = (a->address[lane] + a->width - 1) >> shift;
        for (uint64_t key = from; key <= to; key++) {
            if (b->level && !in_one_sector(a, lane) && !kept(b, key << shift >> SECTOR_SHIFT))
                continue;
            if (!use(b, a, one ? lanes : 1u << lane, key, site, shift, latest[lane] + far, &last))
                return false;
            if (key == from && last != UINT32_MAX) {
                far = last - latest[lane];
                latest[lane] = last;
            }
            if (b->level != level) { /* making room left some of them out */
                const uint32_t left = lanes_kept(b, a);
                level = b->level;
                lanes &= left | 1u << lane;
                if (!(left >> lane & 1))
                    break;
            }
        }
    }
    return true;
}

/* All lanes read one place. */
static void read_together(struct mg_advise_block *b, const struct mg_access *a)
{
    const unsigned lanes = (unsigned)__builtin_popcount(a->mask),
                   first = a->warp * 32 + (unsigned)__builtin_ctz(a->mask);
    for (uint64_t i = a->base / 4; i <= (a->base + a->width - 1) / 4 && i < b->nwords; i++) {
        struct mg_word *w = &b->words[i];
        w->by_other_thread |= w->writer && (lanes > 1 || w->writer != first + 1);
        w->by_other_warp |= w->writer && (w->writer - 1u) / 32 != a->warp;
        w->reads += lanes;
    }
}

void mg__block_shared(struct mg_advise_block *b, struct mg_access *a)
{
    if (a->kind == MG_ACCESS_LD && a->pattern && a->pattern->low == a->pattern->high) {
        read_together(b, a);
        return;
    }
    mg__access_lanes(a);
    bool reads = a->kind == MG_ACCESS_LD || a->kind == MG_ACCESS_ATOM || a->kind == MG_ACCESS_RED;
    bool writes = a->kind != MG_ACCESS_LD;
    for (unsigned pass = 0; pass < 2; pass++) { /* the lanes of one access read before any of them writes */
        if (pass == 0 ? !reads : !writes)
            continue;
        for (uint32_t m = a->mask; m; m &= m - 1) {
            unsigned lane = (unsigned)__builtin_ctz(m), thread = a->warp * 32 + lane;
            for (uint64_t i = a->address[lane] / 4; i <= (a->address[lane] + a->width - 1) / 4 && i < b->nwords; i++) {
                struct mg_word *w = &b->words[i];
                bool other = w->writer && w->writer != thread + 1;
                w->by_other_thread |= other;
                w->by_other_warp |= other && (w->writer - 1u) / 32 != a->warp;
                if (pass == 0) {
                    w->reads++;
                } else {
                    w->writes++;
                    w->writer = (uint16_t)(thread + 1);
                }
            }
        }
    }
}

/* ---- in order ---- */
struct place {
    uint64_t order; /* by key and site */
    uint32_t at;
};

/* Digit by digit; digits that all have are passed over. The result is in `places`, or else in `other`. */
static struct place *sort_places(struct place *places, struct place *other, uint32_t n, uint64_t all)
{
    for (unsigned shift = 0; shift < 64; shift += 8) {
        uint32_t begin[257] = {0};
        if (!(all >> shift & 255))
            continue;
        for (uint32_t i = 0; i < n; i++)
            begin[(places[i].order >> shift & 255) + 1]++;
        for (unsigned k = 0; k < 256; k++)
            begin[k + 1] += begin[k];
        for (uint32_t i = 0; i < n; i++)
            other[begin[places[i].order >> shift & 255]++] = places[i];
        struct place *sorted = other;
        other = places;
        places = sorted;
    }
    return places;
}

bool mg__block_sort(struct mg_advise_block *b)
{
    uint64_t least = UINT64_MAX, all = 0;
    const uint32_t n = b->ngrains;
    for (uint32_t i = 0; i < n; i++)
        least = MG_MIN(least, b->grains[i].key);
    struct place *places = malloc(2 * ((size_t)n + 1) * sizeof(*places));
    struct mg_grain *grains = malloc(((size_t)n + 1) * sizeof(*grains));
    if (!places || !grains) {
        free(places);
        free(grains);
        return false;
    }
    bool sorted = true;
    for (uint32_t i = 0; i < n; i++) {
        places[i] = (struct place){(b->grains[i].key - least) << 16 | b->grains[i].site, i};
        all |= places[i].order;
        sorted &= !i || places[i - 1].order < places[i].order;
    }
    const struct place *order = sorted ? places : sort_places(places, places + n, n, all);
    for (uint32_t i = 0; i < n && !sorted; i++)
        grains[i] = b->grains[order[i].at];
    if (!sorted) {
        struct mg_grain *old = b->grains;
        b->grains = grains;
        b->capacity = n + 1;
        grains = old;
    }
    free(places);
    free(grains);
    return true;
}
