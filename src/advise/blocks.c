/* blocks.c - a sampled block: which bytes of global memory each site of it touched, how often and by which threads, and
 * how its words of shared memory passed between threads.
 *
 * Global memory is followed in granules, the smallest access of the kernel, and found by sectors, which lanes that lie
 * together share. A block may touch more granules than there is room for: then whole sectors are sampled, by a hash of
 * their address, so that what is kept of a sector is all of it, and which these are does not depend on any order.
 * Shared memory is followed whole, in words of four bytes.
 *
 * Accesses come in the order in which the engine ran the warps, with a barrier's two sides on their right sides; that
 * is all that "who wrote it" needs in a program without races.
 */
#include "advise/advise_priv.h"

enum { FIRST_SLOTS = 256, SECTOR_SHIFT = 5, MOST_LEVELS = 40 };

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
    if (warps > b->nlanes) {
        free(b->lanes);
        b->lanes = calloc((size_t)warps * MG_LANES_APART, sizeof(*b->lanes));
        b->nlanes = b->lanes ? warps : 0;
    }
    if (!b->uses)
        b->uses = calloc(MG_GRAINS_KEPT, sizeof(*b->uses));
    b->words = calloc((size_t)b->nwords + 1, sizeof(*b->words));
    b->moved = calloc((size_t)nsites + 1, sizeof(*b->moved));
    b->walks = walk ? calloc((size_t)nsites + 1, sizeof(*b->walks)) : NULL;
    b->latest = calloc((size_t)nsites + 1, sizeof(*b->latest));
    if (!b->lanes || !b->uses || !b->words || !b->moved || !b->latest || (walk && !b->walks)) {
        mg__block_free(b);
        return NULL;
    }
    return b;
}

/* Grains from number n on are none any more. */
static void clear_from(struct mg_advise_block *b, uint32_t n)
{
    const size_t bytes = (b->ngrains - n) * sizeof(*b->uses);
    if (b->uses)
        memset(b->uses + n, 0, bytes);
    for (uint32_t w = 0; b->lanes && w < b->nwarps; w++)
        memset(b->lanes + (size_t)w * MG_LANES_APART + n, 0, bytes);
    b->ngrains = n;
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
    free(b->sets);
    b->sets = NULL;
    b->latest = NULL;
    b->walks = NULL;
    b->words = NULL;
    b->moved = NULL;
    if (b->slots)
        memset(b->slots, 0, b->nslots * sizeof(*b->slots));
    clear_from(b, 0);
    b->nsectors = 0;
    b->level = 0;
}

void mg__block_free(struct mg_advise_block *b)
{
    if (!b)
        return;
    mg__block_end(b);
    free(b->grains);
    free(b->uses);
    free(b->lanes);
    free(b->sectors);
    free(b->slots);
    free(b);
}

/* By the address in the device's range: where that lies differs from run to run. */
static bool kept(const struct mg_advise_block *b, uint64_t sector)
{
    return (mix(sector - (b->range >> SECTOR_SHIFT)) & ((UINT64_C(1) << b->level) - 1)) == 0;
}

static struct mg_advise_sector *sector_at(const struct mg_advise_block *b, uint32_t i)
{
    return (struct mg_advise_sector *)(void *)(b->sectors + (size_t)i * b->sector_bytes);
}

static bool is_at(const struct mg_advise_block *b, uint32_t i, uint64_t number, uint32_t site)
{
    return i < b->nsectors && sector_at(b, i)->number == number && sector_at(b, i)->site == site;
}

static void begin_sectors(struct mg_advise_block *b, unsigned shift)
{
    const uint32_t bytes =
        (uint32_t)(sizeof(struct mg_advise_sector) + (sizeof(uint16_t) << (SECTOR_SHIFT - shift)) + 7) / 8 * 8;
    if (b->nsectors)
        return;
    if (bytes != b->sector_bytes) { /* of another launch */
        free(b->sectors);
        b->sectors = NULL;
        b->sectors_capacity = 0;
    }
    b->sector_bytes = bytes;
    b->shift = shift;
}

/* Where it is, or is to be. */
static uint32_t *slot_of(const struct mg_advise_block *b, uint64_t number, uint32_t site)
{
    uint32_t h = (uint32_t)(mix(number * 64 + site) >> 24);
    for (;; h++) {
        uint32_t *slot = &b->slots[h & (b->nslots - 1)];
        if (!*slot || is_at(b, *slot - 1, number, site))
            return slot;
    }
}

static bool make_room(struct mg_advise_block *b)
{
    if (b->nsectors == b->sectors_capacity) {
        const uint32_t capacity = b->sectors_capacity ? b->sectors_capacity * 2 : FIRST_SLOTS / 2;
        uint8_t *sectors = realloc(b->sectors, (size_t)capacity * b->sector_bytes);
        if (!sectors)
            return false;
        b->sectors = sectors;
        b->sectors_capacity = capacity;
    }
    if ((b->nsectors + 1) * 2 <= b->nslots)
        return true;
    const uint32_t nslots = b->nslots ? b->nslots * 2 : FIRST_SLOTS;
    uint32_t *slots = calloc(nslots, sizeof(*slots));
    if (!slots)
        return false;
    free(b->slots);
    b->slots = slots;
    b->nslots = nslots;
    for (uint32_t i = 0; i < b->nsectors; i++)
        *slot_of(b, sector_at(b, i)->number, sector_at(b, i)->site) = i + 1;
    return true;
}

/* The sector's place; UINT32_MAX: out of memory. */
static uint32_t sector_of(struct mg_advise_block *b, uint64_t number, uint32_t site)
{
    if (!make_room(b))
        return UINT32_MAX;
    uint32_t *slot = slot_of(b, number, site);
    if (!*slot) {
        struct mg_advise_sector *s = sector_at(b, b->nsectors);
        memset(s, 0, b->sector_bytes);
        s->number = number;
        s->site = site;
        *slot = ++b->nsectors;
    }
    return *slot - 1;
}

static uint16_t *grain_of(const struct mg_advise_block *b, struct mg_advise_sector *s, uint64_t key)
{
    return &s->grain[key & ((1u << (SECTOR_SHIFT - b->shift)) - 1)];
}

/* Their number; which ones goes to `at`, and what becomes of each of all to `now`: its new number and 1, or 0. */
static uint32_t grains_kept(const struct mg_advise_block *b, uint16_t at[MG_GRAINS_KEPT], uint16_t now[MG_GRAINS_KEPT])
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < b->ngrains; i++) {
        const bool keep = kept(b, b->grains[i].key << b->shift >> SECTOR_SHIFT);
        at[n] = (uint16_t)i;
        n += keep;
        now[i] = (uint16_t)(keep ? n : 0);
    }
    return n;
}

/* Leaves out more sectors, until there is room for another grain. */
static void thin(struct mg_advise_block *b)
{
    uint16_t at[MG_GRAINS_KEPT], now[MG_GRAINS_KEPT];
    uint32_t n, nsectors = 0;
    do {
        b->level++;
        n = grains_kept(b, at, now);
    } while (n >= MG_GRAINS_KEPT && b->level < MOST_LEVELS);
    for (uint32_t i = 0; i < n; i++) {
        b->grains[i] = b->grains[at[i]];
        b->uses[i] = b->uses[at[i]];
    }
    for (uint32_t w = 0; w < b->nwarps; w++) {
        uint32_t *lanes = b->lanes + (size_t)w * MG_LANES_APART;
        for (uint32_t i = 0; i < n; i++)
            lanes[i] = lanes[at[i]];
    }
    clear_from(b, n);
    memset(b->slots, 0, b->nslots * sizeof(*b->slots));
    const uint32_t all = b->nsectors;
    b->nsectors = 0;
    for (uint32_t i = 0; i < all; i++) {
        struct mg_advise_sector *s = sector_at(b, nsectors);
        if (!kept(b, sector_at(b, i)->number))
            continue;
        memmove(s, sector_at(b, i), b->sector_bytes);
        for (unsigned k = 0; k < (1u << SECTOR_SHIFT) >> b->shift; k++)
            s->grain[k] = s->grain[k] ? now[s->grain[k] - 1] : 0;
        *slot_of(b, s->number, s->site) = ++nsectors;
        b->nsectors = nsectors;
    }
}

/* Into `place`, its number and 1. */
static bool add_grain(struct mg_advise_block *b, uint64_t key, uint32_t site, uint16_t *place)
{
    if (b->ngrains == b->capacity) {
        uint32_t capacity = b->capacity ? b->capacity * 2 : FIRST_SLOTS / 2;
        struct mg_grain *grains = realloc(b->grains, capacity * sizeof(*grains));
        if (!grains)
            return false;
        b->grains = grains;
        b->capacity = capacity;
    }
    b->grains[b->ngrains] = (struct mg_grain){.key = key, .site = (uint16_t)site};
    *place = (uint16_t)++b->ngrains;
    return true;
}

/* `grain`: its number and 1. */
static inline void add_use(struct mg_advise_block *b, uint16_t grain, uint32_t warp, uint32_t lanes)
{
    b->uses[grain - 1] += lanes & (lanes - 1) ? (uint32_t)__builtin_popcount(lanes) : 1;
    b->lanes[(size_t)warp * MG_LANES_APART + grain - 1u] |= lanes;
}

/* Each thread's first two addresses. */
static void walk_on(struct mg_walk *walk, const struct mg_access *a)
{
    for (uint32_t m = a->mask; m; m &= m - 1) {
        unsigned lane = (unsigned)__builtin_ctz(m), thread = a->warp * 32 + lane;
        if (!walk[thread].first)
            walk[thread].first = a->address[lane];
        else if (!walk[thread].second)
            walk[thread].second = a->address[lane];
    }
}

static bool in_one_sector(const struct mg_access *a, unsigned lane)
{
    return a->address[lane] >> SECTOR_SHIFT == (a->address[lane] + a->width - 1) >> SECTOR_SHIFT;
}

/* Of the granule `key`; its sector is at *at, or else looked up. NULL: out of memory. */
static uint16_t *place_of(struct mg_advise_block *b, uint64_t key, uint32_t site, uint32_t *at)
{
    const uint64_t number = key << b->shift >> SECTOR_SHIFT;
    if (!is_at(b, *at, number, site) && (*at = sector_of(b, number, site)) == UINT32_MAX)
        return NULL;
    return grain_of(b, sector_at(b, *at), key);
}

/* Lanes use the granules from `from` to `to`, which are in one sector; that is at *at then, or nowhere (UINT32_MAX), if
 * it was left out to make room. False: out of memory. */
static bool use(struct mg_advise_block *b, uint32_t warp, uint32_t lanes, uint64_t from, uint64_t to, uint32_t site,
                uint32_t *at)
{
    for (uint64_t key = from; key <= to; key++) {
        uint16_t *place = place_of(b, key, site, at);
        if (place && !*place && b->ngrains >= MG_GRAINS_KEPT) {
            if (b->level < MOST_LEVELS)
                thin(b);
            *at = UINT32_MAX;
            if (!kept(b, key << b->shift >> SECTOR_SHIFT) || b->ngrains >= MG_GRAINS_KEPT)
                return true;
            place = place_of(b, key, site, at);
        }
        if (!place || (!*place && !add_grain(b, key, site, place)))
            return false;
        add_use(b, *place, warp, lanes);
    }
    return true;
}

/* The same of a lane in the sector at `at`, if all of its granules there were used before. */
static bool use_known(struct mg_advise_block *b, const struct mg_access *a, uint32_t at, uint64_t address,
                      uint32_t lanes)
{
    const uint32_t n = (uint32_t)(((address + a->width - 1) >> b->shift) - (address >> b->shift)) + 1;
    if (at >= b->nsectors)
        return false;
    const uint16_t *grain = grain_of(b, sector_at(b, at), address >> b->shift);
    for (uint32_t k = 0; k < n; k++)
        if (!grain[k])
            return false;
    for (uint32_t k = 0; k < n; k++)
        add_use(b, grain[k], a->warp, lanes);
    return true;
}

/* Neighbouring lanes touch one sector, or sectors that came one behind the other; a lane its own latest one once more,
 * or one as far from that as the lane before found its own. Only then the table is asked. */
static uint32_t near(const struct mg_advise_block *b, uint64_t number, uint32_t site, uint32_t last, uint32_t latest,
                     uint32_t far)
{
    const uint32_t places[] = {last, last + 1, latest, latest + far};
    for (unsigned k = 0; k < MG_COUNT(places); k++)
        if (is_at(b, places[k], number, site))
            return places[k];
    return UINT32_MAX;
}

/* The same of a lane anywhere. */
static bool use_all(struct mg_advise_block *b, const struct mg_access *a, unsigned lane, uint32_t lanes, uint32_t site,
                    uint32_t *at)
{
    const unsigned each = SECTOR_SHIFT - b->shift; /* granules of a sector, log2 */
    const uint64_t from = a->address[lane] >> b->shift, to = (a->address[lane] + a->width - 1) >> b->shift;
    for (uint64_t number = from >> each; number <= to >> each; number++) {
        if (b->level && !kept(b, number))
            continue;
        if (!use(b, a->warp, lanes, MG_MAX(from, number << each), MG_MIN(to, ((number + 1) << each) - 1), site, at))
            return false;
    }
    return true;
}

/* Whether all lanes take part, each behind the one before. */
MG_WIDE static bool in_a_row(const struct mg_access *a)
{
    uint64_t differ = 0;
    for (unsigned i = 0; i < 32; i++)
        differ |= a->address[i] ^ (a->address[0] + (uint64_t)i * a->width);
    return a->mask == UINT32_MAX && !differ;
}

/* Lanes whose sectors are kept, or that are in two. */
MG_WIDE static uint32_t lanes_kept(const struct mg_advise_block *b, const struct mg_access *a)
{
    const uint64_t range = b->range >> SECTOR_SHIFT, left_out = (UINT64_C(1) << b->level) - 1;
    uint32_t lanes = 0;
    for (unsigned i = 0; i < 32; i++) {
        const uint64_t number = a->address[i] >> SECTOR_SHIFT;
        const bool inside = number == (a->address[i] + a->width - 1) >> SECTOR_SHIFT;
        lanes |= (uint32_t)(!inside | !(mix(number - range) & left_out)) << i;
    }
    return lanes & a->mask;
}

/* Lanes in a row use n granules of the sector at `at` from `key` on, whose numbers follow one another, or which are
 * new: `each` of them a lane's, the first ones lane `first`'s. False: they are neither, and nothing was done. */
static bool use_row(struct mg_advise_block *b, uint32_t warp, unsigned first, unsigned each, uint64_t key, unsigned n,
                    uint32_t site, uint32_t at)
{
    uint16_t *grain = grain_of(b, sector_at(b, at), key);
    const uint16_t begin = *grain;
    bool alike = true;
    for (unsigned k = 0; k < n; k++)
        alike &= grain[k] == (begin ? begin + k : 0);
    if (!alike || (!begin && b->ngrains + n > MG_GRAINS_KEPT))
        return false;
    for (unsigned k = 0; k < n && !begin; k++)
        if (!add_grain(b, key + k, site, &grain[k]))
            return false;
    uint32_t *uses = b->uses + *grain - 1, *lanes = b->lanes + (size_t)warp * MG_LANES_APART + *grain - 1;
    for (unsigned k = 0; k < n; k++) {
        uses[k]++;
        lanes[k] |= 1u << (first + k / each);
    }
    return true;
}

/* The lanes that were told for, from lane 0 on; the others are told one by one. */
static uint32_t use_rows(struct mg_advise_block *b, const struct mg_access *a, uint32_t site, uint32_t *latest,
                         uint32_t *at)
{
    const unsigned lanes = (1u << SECTOR_SHIFT) / a->width, grains = (1u << SECTOR_SHIFT) >> b->shift;
    const uint64_t base = a->address[0];
    if (a->width > 1u << SECTOR_SHIFT || base % a->width || (a->width & (a->width - 1)) || a->width >> b->shift == 0 ||
        !in_a_row(a))
        return 0;
    for (unsigned lane = 0, n; lane < 32; lane += n) {
        const uint64_t address = base + (uint64_t)lane * a->width, number = address >> SECTOR_SHIFT;
        n = MG_MIN(lanes - (unsigned)(address / a->width) % lanes, 32 - lane);
        if (b->level && !kept(b, number))
            continue;
        *at = near(b, number, site, *at, latest[lane], 0);
        if (*at == UINT32_MAX && (*at = sector_of(b, number, site)) == UINT32_MAX)
            return (1u << lane) - 1;
        if (!use_row(b, a->warp, lane, a->width >> b->shift, address >> b->shift, n * grains / lanes, site, *at))
            return (1u << lane) - 1;
        latest[lane] = *at;
    }
    return UINT32_MAX;
}

bool mg__block_global(struct mg_advise_block *b, const struct mg_access *a, uint32_t site, unsigned shift)
{
    if (a->warp >= b->nwarps || site > UINT16_MAX)
        return true;
    bool walks = b->walks && site < MG_WALKS;
    if (walks && !b->walks[site])
        b->walks[site] = calloc((size_t)b->nwarps * 32, sizeof(**b->walks));
    if (!b->latest[site])
        b->latest[site] = calloc((size_t)b->nwarps * 32, sizeof(**b->latest));
    if ((walks && !b->walks[site]) || !b->latest[site])
        return false;
    if (walks)
        walk_on(b->walks[site], a);
    begin_sectors(b, shift);
    const bool one = a->pattern && a->pattern->low == a->pattern->high;
    uint32_t *latest = b->latest[site] + a->warp * 32, at = UINT32_MAX, far = 0;
    uint64_t last = UINT64_MAX; /* the sector of the lane before, which is kept, or not */
    bool keep = false;
    uint32_t rest = a->mask & ~use_rows(b, a, site, latest, &at);
    if (rest && b->level && !one)
        rest &= lanes_kept(b, a);
    for (uint32_t lanes = rest; lanes; lanes = one ? 0 : lanes & (lanes - 1)) {
        const unsigned lane = (unsigned)__builtin_ctz(lanes);
        const uint64_t address = a->address[lane], number = address >> SECTOR_SHIFT;
        const uint32_t together = one ? lanes : lanes & -lanes;
        if (number != last) {
            last = number;
            keep = !b->level || kept(b, number);
            if (keep && (at = near(b, number, site, at, latest[lane], far)) != UINT32_MAX) {
                far = at - latest[lane];
                latest[lane] = at;
            }
        }
        const bool inside = in_one_sector(a, lane);
        if (inside && (!keep || use_known(b, a, at, address, together)))
            continue;
        if (!use_all(b, a, lane, together, site, &at))
            return false;
        if (at != UINT32_MAX)
            latest[lane] = at;
        if (at == UINT32_MAX || !inside) /* it may have been left out, to make room */
            last = UINT64_MAX;
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

void mg__block_shared(struct mg_advise_block *b, struct mg_access *a, bool spread)
{
    if (!spread && a->kind == MG_ACCESS_LD && a->pattern && a->pattern->low == a->pattern->high) {
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
                w->by_other_thread |= other || (spread && (w->writer || pass == 1));
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
    b->sets = malloc(((size_t)n * b->nwarps + 1) * sizeof(*b->sets));
    if (!places || !grains || !b->sets) {
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
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t at = order[i].at;
        grains[i] = b->grains[at];
        grains[i].uses = b->uses[at];
        grains[i].set = i;
        for (uint32_t w = 0; w < b->nwarps; w++)
            b->sets[(size_t)i * b->nwarps + w] = b->lanes[(size_t)w * MG_LANES_APART + at];
    }
    free(b->grains);
    b->grains = grains;
    b->capacity = n + 1;
    free(places);
    return true;
}
