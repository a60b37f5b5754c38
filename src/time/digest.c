/* digest.c - what the accesses of some blocks (sample.c) say of all: which of their sectors the caches have.
 *
 * The accesses of the blocks that share a multiprocessor go through its first cache, turn by turn, and what that lacks
 * is known by instruction. The others, which are spread over the grid, tell how much blocks have in common: of n blocks
 * that touch u sectors of an array each, and U different ones together, the array is taken to have D sectors of which
 * each block touches u at random, U = D (1 - (1 - u/D)^n); the whole grid then touches as many as its blocks would, and
 * not more than the array has.
 *
 * An instruction that none of the first blocks came to is looked for in the others.
 */
#include "time/sample.h"

#include <math.h>

/* ---- sets of places ---- */
/* Open addressing, with neighbours side by side. They grow as they fill: whoever is about to add calls table_room
 * first, for all that it may add, and counts what it did. A slot begins with its key; 0: it is free. */
struct table {
    uint8_t *slots;
    uint64_t mask, count;
};
/* Four sectors. */
struct line {
    uint64_t key;
    uint32_t brought[4];       /* into the first cache, as the how manieth sector; 0: never */
    uint32_t insn[4], turn[4]; /* what brought it, and the how manieth time that its warp was there */
    uint32_t touched;          /* a bit for each half that a request was at */
};
/* Four pieces. */
struct pieces {
    uint64_t key;
    uint16_t blocks[4]; /* a bit for each sampled block that touches it */
};
_Static_assert(MG_TIME_BLOCKS <= 16, "a bit for each");

static bool table_make(struct table *t, size_t size)
{
    enum { FIRST = 16 };
    *t = (struct table){.slots = calloc(FIRST, size), .mask = FIRST - 1};
    return t->slots != NULL;
}

static inline void *table_find(const struct table *t, size_t size, uint64_t key)
{
    uint64_t at = ((key >> 2) * UINT64_C(0x9E3779B97F4A7C15)) >> 20 << 2 | (key & 3);
    for (;; at++) {
        uint64_t *slot = (uint64_t *)(void *)(t->slots + (at & t->mask) * size);
        if (*slot == key || !*slot)
            return slot;
    }
}

static bool table_room(struct table *t, size_t size, uint64_t more)
{
    if (2 * (t->count + more) <= t->mask)
        return true;
    struct table larger = {.mask = t->mask, .count = t->count};
    while (2 * (t->count + more) > larger.mask)
        larger.mask = 2 * larger.mask + 1;
    larger.slots = calloc(larger.mask + 1, size);
    if (!larger.slots)
        return false;
    for (uint64_t k = 0; k <= t->mask; k++) {
        const uint64_t *slot = (const uint64_t *)(const void *)(t->slots + k * size);
        if (*slot)
            memcpy(table_find(&larger, size, *slot), slot, size);
    }
    free(t->slots);
    *t = larger;
    return true;
}

/* ---- the first cache ---- */
/* Pieces: of 64 bytes as device memory is read, for atomics, too; of 512 as atomics are dealt out to the second cache;
 * sectors written; of managed memory, whatever is done with it, those that come to the device as one. */
enum what { READS, ATOMICS, WRITES, CHANGES, PAGES };
static const unsigned piece_shift[] = {
    [READS] = 1, [ATOMICS] = 4, [WRITES] = 0, [CHANGES] = 1, [PAGES] = 11}; /* of a sector */
_Static_assert(MG_PAGES_PIECE == 32u << 11, "a piece of managed memory");

/* The sectors of a request, after it: where it comes again, and they still are in the first cache, nothing is looked
 * up. Those that pass it by are as before in any case. */
enum { LISTS = 1024 };
struct list {
    uint32_t count, first; /* count 0: nothing is here */
    unsigned block;
    uint32_t oldest; /* of what was brought; all younger than that are still there if it is */
    uint32_t by;     /* the instruction that brought all, or UINT32_MAX: several */
    uint32_t turn;   /* the latest at which any was brought */
};

struct digest {
    struct mg_time_sample *const *samples;
    const struct mg_time_choice *choice;
    const struct mg_launch_info *info;
    const struct mg_insn_counts *counts;
    struct mg_time_access *access;
    uint32_t lines;     /* of the first cache */
    struct table cache; /* of struct line */
    uint32_t brought;   /* sectors that came into the first cache, … */
    uint32_t valid;     /* … and how many had when all of it was last made invalid */
    const struct mg_time_traffic *traffic;
    double room; /* of the second cache, bytes */
    struct list lists[LISTS];
    uint32_t *turns; /* by sampled block, warp and instruction: how often it was there */
    uint32_t warps;
    bool failed;           /* out of memory */
    double other_share;    /* of what was found in others, to have as many as the first blocks would */
    double constants;      /* lines of constant memory that a sampled block reads, most */
    bool has[PAGES + 1];   /* whether any request is of this kind */
};
struct array {
    double each, together, past, blocks, all;
    double touched;       /* by all blocks of the grid; again where the second cache has lost it */
    double common;        /* pieces that a quarter of the blocks touch, which are in neither of the first two */
    uint64_t least, most; /* pieces: from where to where */
    uint64_t pieces;      /* that it has; 0: not known */
};

static bool goes_past(const struct digest *d, const struct request *r)
{
    const struct mg_ptx_insn *insn = d->info->insns[r->insn].insn;
    return insn->cache == MG_CACHE_CG || insn->cache == MG_CACHE_CV || insn->sem > MG_PTX_SEM_WEAK ||
           (r->kind != MG_ACCESS_LD && r->kind != MG_ACCESS_CP_ASYNC);
}

/* What the first cache has is no longer true for those that come after. */
static bool invalidates(const struct mg_ptx_insn *insn)
{
    return (insn->sem == MG_PTX_SEM_ACQUIRE || insn->sem == MG_PTX_SEM_ACQ_REL || insn->sem == MG_PTX_SEM_SC) &&
           insn->scope >= MG_SCOPE_GPU;
}

static bool is_there(const struct digest *d, uint32_t brought)
{
    return brought > d->valid && d->brought - (brought - 1) < d->lines * 4;
}

struct outcome {
    double past, hits;
    bool fresh, together;
};

/* Sector by sector; *list: what is to be known of them the next time. */
static bool go_through(struct digest *d, const struct request *r, const uint64_t *sectors, uint32_t turn, bool kept,
                       struct outcome *o, struct list *list)
{
    const bool load = r->kind == MG_ACCESS_LD || r->kind == MG_ACCESS_CP_ASYNC;
    struct line *line = NULL;
    if (!table_room(&d->cache, sizeof(*line), r->count))
        return false;
    for (uint32_t k = 0; k < r->count; k++) {
        const uint64_t key = sectors[k] / 4 + 1;
        const unsigned at = sectors[k] % 4;
        if (!line || line->key != key) {
            line = table_find(&d->cache, sizeof(*line), key);
            d->cache.count += !line->key;
            line->key = key;
        }
        o->fresh |= !(line->touched >> at / 2 & 1);
        line->touched |= 1u << at / 2;
        const bool has = line->brought[at] && is_there(d, line->brought[at]);
        o->hits += has && kept;
        o->together |= has && line->insn[at] == r->insn && line->turn[at] == turn;
        o->past += !(load && has && kept);
        if (kept && !has) {
            line->brought[at] = ++d->brought;
            line->insn[at] = r->insn;
            line->turn[at] = turn;
        }
        list->oldest = MG_MIN(list->oldest, line->brought[at]);
        list->by = k && line->insn[at] != list->by ? UINT32_MAX : line->insn[at];
        list->turn = MG_MAX(list->turn, line->turn[at]);
    }
    return true;
}

static void look_up(struct digest *d, unsigned block, const struct request *r)
{
    const uint32_t turn = ++d->turns[((size_t)block * d->warps + r->warp) * d->info->ninsns + r->insn];
    struct mg_time_access *a = &d->access[r->insn];
    const bool load = r->kind == MG_ACCESS_LD || r->kind == MG_ACCESS_CP_ASYNC;
    const bool kept = load ? !goes_past(d, r) : r->kind == MG_ACCESS_ST;
    struct list *list = &d->lists[(r->first * UINT32_C(0x9E3779B1) >> 22) ^ block];
    struct outcome o = {0};
    const bool by_others = turn > list->turn || (list->by != UINT32_MAX && list->by != r->insn); /* this time round */
    const bool same = list->count == r->count && list->first == r->first && list->block == block;
    if (r->count && same && by_others && (!kept || is_there(d, list->oldest))) {
        o.hits = kept ? r->count : 0;
        o.past = load && kept ? 0 : r->count;
    } else if (r->count) {
        *list = (struct list){.count = r->count, .first = r->first, .block = block, .oldest = UINT32_MAX};
        if (!go_through(d, r, d->samples[block]->sectors.at + r->first, turn, kept, &o, list)) {
            d->failed = true;
            return;
        }
    }
    if (invalidates(d->info->insns[r->insn].insn))
        d->valid = d->brought;
    a->seen = true;
    a->space = r->space;
    a->kind = r->kind;
    a->requests++;
    a->wavefronts += r->wavefronts;
    a->sectors += r->count;
    a->lines += r->lines;
    a->passes += r->passes;
    a->past_l1 += o.past;
    a->misses += o.past > 0;
    a->fresh += o.past > 0 && o.fresh;
    a->hits += o.hits;
    a->shared += o.past <= 0 && o.together;
    a->rounds += r->rounds;
    a->turns += r->turns;
}

/* What none of the blocks so far came to, of the others. */
static void replay_others(struct digest *d)
{
    unsigned others = 0;
    for (uint32_t i = 0; i < d->info->ninsns; i++)
        d->access[i].elsewhere = !d->access[i].seen;
    for (unsigned i = d->choice->together; i < d->choice->n; i++) {
        const struct mg_time_sample *s = d->samples[i];
        for (size_t q = 0; s && q < s->requests.count; q++)
            if (d->access[s->requests.at[q].insn].elsewhere)
                look_up(d, i, &s->requests.at[q]);
        others += s != NULL;
    }
    d->other_share = others ? (double)d->choice->together / others : 0;
}

/* The sampled requests of a block, those first that are its warps' first ones: warps go on side by side, and not one
 * after the other as they were run. NULL: out of memory. */
static uint32_t *side_by_side(const struct digest *d, const struct mg_time_sample *s)
{
    size_t n = s ? s->requests.count : 0;
    uint32_t *order = malloc((n + 1) * sizeof(*order)), *rank = malloc((n + 1) * sizeof(*rank));
    uint32_t *first = calloc(n + 2, sizeof(*first)), *nth = calloc((size_t)d->warps + 1, sizeof(*nth));
    bool good = order && rank && first && nth;
    for (size_t q = 0; good && q < n; q++) {
        rank[q] = nth[MG_MIN(s->requests.at[q].warp, d->warps)]++;
        first[rank[q] + 1]++;
    }
    for (size_t q = 0; good && q < n; q++)
        first[q + 1] += first[q];
    for (size_t q = 0; good && q < n; q++)
        order[first[rank[q]]++] = (uint32_t)q;
    free(rank);
    free(first);
    free(nth);
    if (!good) {
        free(order);
        order = NULL;
    }
    return order;
}

/* The accesses of blocks that share a multiprocessor, a piece of each in turn. False: out of memory. */
static bool replay(struct digest *d)
{
    size_t at[MG_TIME_BLOCKS] = {0};
    uint32_t *order[MG_TIME_BLOCKS] = {0};
    bool more = true, good = true;
    for (unsigned i = 0; i < d->choice->together; i++)
        good = (order[i] = side_by_side(d, d->samples[i])) && good;
    more = good;
    while (more) {
        more = false;
        for (unsigned i = 0; i < d->choice->together; i++) {
            const struct mg_time_sample *s = d->samples[i];
            size_t n = s ? s->requests.count : 0, end = MG_MIN(at[i] + n / 64 + 8, n);
            for (; at[i] < end; at[i]++)
                look_up(d, i, &s->requests.at[order[i][at[i]]]);
            more |= at[i] < n;
        }
    }
    for (unsigned i = 0; i < d->choice->together; i++)
        free(order[i]);
    replay_others(d);
    for (uint32_t i = 0; i < d->info->ninsns; i++) {
        struct mg_time_access *a = &d->access[i];
        if (!a->seen)
            continue;
        a->wavefronts /= a->requests;
        a->sectors /= a->requests;
        a->lines /= a->requests;
        a->passes /= a->requests;
        a->past_l1 /= a->requests;
        a->misses /= a->requests;
        a->fresh /= a->requests;
        a->rounds /= a->requests;
        a->turns /= a->requests;
        a->hits /= a->requests;
        a->shared /= a->requests;
        if (a->space == MG_SPACE_CONST)
            a->places = d->constants;
        a->requests *= a->elsewhere ? d->other_share : 1;
    }
    return good && !d->failed;
}

/* ---- what blocks have in common ---- */
static size_t array_of(const struct mg_launch_info *info, uint64_t sector)
{
    size_t low = 0, high = info->nallocations;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (info->allocations[middle].address <= sector * 32 + 31)
            low = middle + 1;
        else
            high = middle;
    }
    return low; /* 0: in none */
}

/* The same, where the one before was mostly in the same; from which sector on, and up to which. */
struct near {
    uint64_t from, to;
    size_t array;
};
static size_t array_near(const struct mg_launch_info *info, struct near *near, uint64_t sector)
{
    if (sector < near->from || sector >= near->to) {
        const struct mg_allocation *all = info->allocations;
        near->array = array_of(info, sector);
        near->from = near->array ? all[near->array - 1].address / 32 : 0; /* whose end is in it belongs to it */
        near->to = near->array < info->nallocations ? all[near->array].address / 32 : UINT64_MAX;
    }
    return near->array;
}

/* D of U = D (1 - (1 - u/D)^n): by halves. */
static double population(double u, double together, double n)
{
    if (together >= 0.999 * u * n)
        return INFINITY;
    double low = together, high = together * 1e6;
    for (int i = 0; i < 60; i++) {
        double d = sqrt(low * high);
        *(d * (1 - pow(1 - MG_MIN(u / d, 1.0), n)) < together ? &low : &high) = d;
    }
    return low;
}

static double of_all(const struct array *a, double blocks)
{
    if (a->blocks < 1)
        return 0;
    double u = a->each / a->blocks, share = blocks * a->blocks / a->all;
    double d = population(u, a->together, a->blocks);
    double sum = isinf(d) ? u * share : d * (1 - pow(1 - MG_MIN(u / d, 1.0), share));
    /* of n numbers from a range, the largest and the least are (n - 1) / (n + 1) of it apart */
    double n = a->blocks, range = n > 4 ? (double)(a->most - a->least + 1) * (n + 1) / (n - 1) : INFINITY;
    sum = MG_MIN(sum + a->common, range);
    return a->pieces ? MG_MIN(sum, (double)a->pieces) : sum;
}

static bool is_of(const struct request *r, enum what what)
{
    bool atomic = r->kind == MG_ACCESS_ATOM || r->kind == MG_ACCESS_RED;
    enum what is = r->kind == MG_ACCESS_ST ? WRITES : !atomic ? READS : what == CHANGES ? CHANGES : ATOMICS;
    return (is == what || what == PAGES) && r->space == MG_SPACE_GLOBAL;
}

/* Which piece of its array's managed memory it is; UINT64_MAX: of none. */
static uint64_t page_of(const struct mg_launch_info *info, size_t array, uint64_t sector)
{
    const struct mg_pages *p = array ? info->allocations[array - 1].pages : NULL;
    const uint64_t at = p ? (sector >> piece_shift[PAGES]) - p->first : 0;
    return p && at < p->n ? at : UINT64_MAX;
}

/* Pieces of managed memory are each array's own, though the first and the last may be part of others' as well. */
#define PAGES_ARRAY 40 /* bits below the array's number */
static bool is_new_page(const struct mg_launch_info *info, size_t array, uint64_t sector)
{
    const uint64_t at = page_of(info, array, sector);
    return at != UINT64_MAX && !info->allocations[array - 1].pages->known[at];
}

/* Different pieces by array: each block's, and those of all sampled blocks together. */
static bool common(struct digest *d, struct array *arrays, enum what what)
{
    const unsigned shift = piece_shift[what];
    struct table all;
    unsigned sampled = 0;
    bool good = table_make(&all, sizeof(struct pieces));
    struct near near = {0};
    for (unsigned i = 0; good && i < d->choice->n; i++) {
        const struct mg_time_sample *s = d->samples[i];
        struct pieces *those = NULL;
        uint32_t done = 0; /* sectors up to here have been gone through */
        for (size_t k = 0; s && good && k < s->requests.count; k++) {
            const struct request *r = &s->requests.at[k];
            if (!is_of(r, what) || r->first < done)
                continue;
            done = r->first + r->count;
            const uint64_t before = all.mask;
            good = table_room(&all, sizeof(*those), r->count);
            those = all.mask == before ? those : NULL; /* it has moved */
            for (uint32_t j = 0; good && j < r->count; j++) {
                const uint64_t sector = s->sectors.at[r->first + j];
                const size_t array = what == PAGES ? array_near(d->info, &near, sector) : 0;
                if (what == PAGES && !is_new_page(d->info, array, sector))
                    continue;
                const uint64_t piece = sector >> shift | (uint64_t)array << PAGES_ARRAY, key = piece / 4 + 1;
                if (!those || those->key != key) {
                    those = table_find(&all, sizeof(*those), key);
                    all.count += !those->key;
                    those->key = key;
                }
                uint16_t *blocks = &those->blocks[piece % 4];
                if (*blocks >> i & 1)
                    continue;
                struct array *a = &arrays[array ? array : array_near(d->info, &near, sector)];
                a->each++;
                if (!*blocks) {
                    a->together++;
                    a->least = a->least ? MG_MIN(a->least, piece + 1) : piece + 1;
                    a->most = MG_MAX(a->most, piece + 1);
                }
                *blocks |= (uint16_t)(1u << i);
            }
        }
        sampled += s != NULL;
    }
    for (uint64_t k = 0; good && sampled > 2 && k <= all.mask; k++) {
        const struct pieces *those = (const struct pieces *)(const void *)all.slots + k;
        for (unsigned m = 0; m < 4 && those->key; m++) {
            const unsigned n = (unsigned)__builtin_popcount(those->blocks[m]);
            if (4 * n <= sampled)
                continue;
            const uint64_t piece = (those->key - 1) * 4 + m;
            struct array *a =
                &arrays[what == PAGES ? piece >> PAGES_ARRAY : array_near(d->info, &near, piece << shift)];
            a->common++;
            a->together--;
            a->each -= n;
        }
    }
    free(all.slots);
    return good;
}

/* What blocks that are far apart have in common comes again and again, if what the launch touches in between is more
 * than the second cache has room for. */
static double again(const struct digest *d, const struct array *a, double blocks, double read)
{
    double all = read + d->traffic->written, touches = a->blocks > 0 ? a->each / a->blocks * blocks : 0;
    if (all <= d->room || touches <= a->touched)
        return a->touched;
    return a->touched + (touches - a->touched) * (1 - d->room / all);
}

static void find_kinds(struct digest *d)
{
    for (unsigned i = 0; i < d->choice->n; i++) {
        const struct mg_time_sample *s = d->samples[i];
        for (size_t k = 0; s && k < s->requests.count; k++)
            for (enum what what = READS; what <= PAGES; what++)
                d->has[what] |= is_of(&s->requests.at[k], what);
    }
}

static double sampled_blocks(const struct digest *d)
{
    double sampled = 0;
    for (unsigned i = 0; i < d->choice->n; i++)
        sampled += d->samples[i] != NULL;
    return sampled;
}

/* Of each instruction's sectors past the first cache, how many nobody has touched yet; of atomics, how many places. */
static bool share_out(struct digest *d, enum what what, double *bytes)
{
    if (!d->has[what])
        return true;
    size_t n = d->info->nallocations + 1;
    double blocks = (double)d->info->grid.x * d->info->grid.y * d->info->grid.z;
    struct array *arrays = calloc(n, sizeof(*arrays));
    if (!arrays || !common(d, arrays, what)) {
        free(arrays);
        return false;
    }
    const double sampled = sampled_blocks(d);
    for (size_t k = 0; k < n; k++) {
        if (k && d->info->allocations[k - 1].host && what != ATOMICS) /* it does not come from device memory */
            continue;
        arrays[k].blocks = arrays[k].all = sampled;
        arrays[k].pieces = k ? d->info->allocations[k - 1].size / ((32u << piece_shift[what])) + 1 : 0;
        arrays[k].touched = of_all(&arrays[k], blocks);
        *bytes += arrays[k].touched * (32u << piece_shift[what]);
    }
    for (size_t k = 0; k < n && what == READS; k++)
        arrays[k].touched = again(d, &arrays[k], blocks, *bytes);
    /* the sectors past the first cache, by array: of the blocks that went through it */
    struct near near = {0};
    for (unsigned i = 0; i < d->choice->n; i++) {
        const struct mg_time_sample *s = d->samples[i];
        for (size_t q = 0; s && q < s->requests.count; q++) {
            const struct request *r = &s->requests.at[q];
            const struct mg_time_access *a = &d->access[r->insn];
            double share = a->elsewhere ? i < d->choice->together ? 0 : d->other_share : i < d->choice->together;
            if (r->count && a->sectors > 0 && is_of(r, what))
                arrays[array_near(d->info, &near, s->sectors.at[r->first])].past +=
                    share * r->count * a->past_l1 / a->sectors;
        }
    }
    for (unsigned i = 0; i < d->choice->n; i++) {
        const struct mg_time_sample *s = d->samples[i];
        for (size_t q = 0; s && q < s->requests.count; q++) {
            const struct request *r = &s->requests.at[q];
            struct mg_time_access *a = &d->access[r->insn];
            if (!is_of(r, what) || !r->count || (i >= d->choice->together && !a->elsewhere))
                continue;
            const struct array *array = &arrays[array_near(d->info, &near, s->sectors.at[r->first])];
            double all = array->touched;
            if (what == ATOMICS)
                a->places = MG_MAX(a->places, all);
            else if (what != WRITES && array->past > 0)
                a->first = MG_MIN(2 * all / (array->past * blocks / d->choice->together), 2.0);
        }
    }
    free(arrays);
    return true;
}

/* Which part of an instruction's sectors is memory of the host. */
static void share_host(const struct digest *d)
{
    bool any = false;
    for (size_t k = 0; k < d->info->nallocations; k++)
        any |= d->info->allocations[k].host;
    struct near near = {0};
    for (unsigned i = 0; any && i < d->choice->n; i++) {
        const struct mg_time_sample *s = d->samples[i];
        for (size_t q = 0; s && q < s->requests.count; q++) {
            const struct request *r = &s->requests.at[q];
            struct mg_time_access *a = &d->access[r->insn];
            if (!r->count || r->space != MG_SPACE_GLOBAL || (i >= d->choice->together && !a->elsewhere))
                continue;
            const size_t array = array_near(d->info, &near, s->sectors.at[r->first]);
            if (array && d->info->allocations[array - 1].host)
                a->host += r->count;
        }
    }
    for (uint32_t i = 0; any && i < d->info->ninsns; i++)
        if (d->access[i].host > 0) /* the others are means by now */
            d->access[i].host /=
                d->access[i].sectors * d->access[i].requests / (d->access[i].elsewhere ? d->other_share : 1);
}

/* Of a block's accesses only the first are kept: how many times as many the launch made as the samples say. */
static double cut_off(const struct digest *d, double blocks)
{
    double made = 0, kept = 0;
    for (uint32_t i = 0; i < d->info->ninsns; i++)
        if (d->access[i].seen && d->access[i].space == MG_SPACE_GLOBAL) {
            made += (double)d->counts[i].warps;
            kept += d->access[i].requests * blocks / MG_MAX(d->choice->together, 1u);
        }
    return made > 1.25 * kept && kept > 0 ? made / kept : 1;
}

/* Those that the samples touch are there for certain. */
static void mark_pages(const struct digest *d)
{
    struct near near = {0};
    for (unsigned i = 0; i < d->choice->n; i++) {
        const struct mg_time_sample *s = d->samples[i];
        for (size_t q = 0; s && q < s->requests.count; q++) {
            const struct request *r = &s->requests.at[q];
            for (uint32_t j = 0; j < r->count && is_of(r, PAGES); j++) {
                const uint64_t sector = s->sectors.at[r->first + j];
                const size_t array = array_near(d->info, &near, sector);
                if (is_new_page(d->info, array, sector))
                    mg__pages_mark(d->info->allocations[array - 1].pages, page_of(d->info, array, sector), true);
            }
        }
    }
}

#define MOSTLY 0.8 /* of an array's pieces that are not there */
/* Pieces of managed memory that nobody has touched come to the device, which has them from now on. */
static bool bring_pages(struct digest *d, struct mg_time_traffic *traffic)
{
    const size_t n = d->info->nallocations + 1;
    const double blocks = (double)d->info->grid.x * d->info->grid.y * d->info->grid.z;
    bool any = false;
    for (size_t k = 0; k + 1 < n && d->has[PAGES]; k++)
        any |= d->info->allocations[k].pages && d->info->allocations[k].pages->here < d->info->allocations[k].pages->n;
    struct array *arrays = any ? calloc(n, sizeof(*arrays)) : NULL;
    if (!arrays || !common(d, arrays, PAGES)) {
        free(arrays);
        return !any;
    }
    const double cut = cut_off(d, blocks);
    uint64_t latest = UINT64_MAX; /* piece: small arrays that share one come together */
    for (size_t k = 1; k < n; k++) {
        struct mg_pages *p = d->info->allocations[k - 1].pages;
        if (!p || p->here >= p->n)
            continue;
        if (p->n == 1 && p->first == latest && arrays[k].together > 0) {
            p->here = 1;
            continue;
        }
        arrays[k].blocks = arrays[k].all = sampled_blocks(d);
        arrays[k].pieces = p->n - p->here;
        double come = MG_MIN(of_all(&arrays[k], blocks) * cut, (double)arrays[k].pieces);
        if (come > MOSTLY * (double)arrays[k].pieces) /* of an array that is touched whole it is a little less */
            come = (double)arrays[k].pieces;
        traffic->pages += come;
        traffic->paged += come >= 0.5;
        latest = come >= 0.5 ? p->first + p->n - 1 : latest;
        p->here += (uint64_t)(come + 0.5);
    }
    free(arrays);
    mark_pages(d);
    return true;
}

/* Places in a block's shared memory that compare-and-swaps change. */
static void share_swaps(const struct digest *d)
{
    double places = 0, n = 0;
    for (unsigned i = 0; i < d->choice->n; i++)
        if (d->samples[i] && d->samples[i]->nswapped) {
            places += d->samples[i]->nswapped;
            n++;
        }
    for (uint32_t i = 0; i < d->info->ninsns && n > 0; i++)
        if (d->access[i].seen && d->access[i].space == MG_SPACE_SHARED)
            d->access[i].places = places / n;
}

/* Local memory of all warps that are there at once comes from device memory and goes back, as far as the second cache
 * has no room for it. */
static void share_local(const struct digest *d, struct mg_time_traffic *traffic)
{
    double all =
        (double)d->info->stack_bytes * d->info->block.x * d->info->block.y * d->info->block.z * d->choice->resident;
    double lost = all > d->room ? 1 - d->room / all : 0;
    double blocks = (double)d->info->grid.x * d->info->grid.y * d->info->grid.z;
    for (uint32_t i = 0; i < d->info->ninsns && lost > 0; i++) {
        struct mg_time_access *a = &d->access[i];
        if (!a->seen || a->space != MG_SPACE_LOCAL)
            continue;
        double bytes = lost * a->past_l1 * 32 * a->requests * blocks / MG_MAX(d->choice->together, 1u);
        a->first = lost;
        *(a->kind == MG_ACCESS_ST ? &traffic->local_written : &traffic->read) += bytes;
    }
}

bool mg__time_digest(struct mg_time_sample *const *samples, const struct mg_time_choice *c,
                     const struct mg_launch_info *info, const struct mg_insn_counts *counts, uint32_t cache_lines,
                     double room, struct mg_time_access *access, struct mg_time_traffic *traffic)
{
    struct digest d = {.samples = samples,
                       .choice = c,
                       .info = info,
                       .counts = counts,
                       .access = access,
                       .lines = cache_lines,
                       .traffic = traffic,
                       .room = room};
    d.warps = (uint32_t)((uint64_t)info->block.x * info->block.y * info->block.z + 31) / 32;
    d.turns = calloc((size_t)c->n * d.warps * info->ninsns + 1, sizeof(*d.turns));
    bool good = d.turns && table_make(&d.cache, sizeof(struct line));
    for (unsigned i = 0; i < c->n; i++) {
        uint32_t lines = 0;
        for (unsigned k = 0; samples[i] && k < CONSTANT_LINES / 64; k++)
            lines += (uint32_t)__builtin_popcountll(samples[i]->constants[k]);
        d.constants = MG_MAX(d.constants, lines);
    }
    good = good && replay(&d);
    free(d.cache.slots);
    free(d.turns);
    double atomics = 0;
    find_kinds(&d);
    share_swaps(&d);
    share_local(&d, traffic);
    share_host(&d);
    good = good && bring_pages(&d, traffic) && share_out(&d, WRITES, &traffic->written) &&
           share_out(&d, READS, &traffic->read) && share_out(&d, ATOMICS, &atomics) &&
           share_out(&d, CHANGES, &traffic->read);
    double blocks = (double)info->grid.x * info->grid.y * info->grid.z, share = blocks / MG_MAX(c->together, 1u);
    for (uint32_t i = 0; good && i < info->ninsns; i++) {
        const struct mg_time_access *a = &access[i];
        if (!a->seen || (a->space != MG_SPACE_GLOBAL && a->space != MG_SPACE_LOCAL))
            continue;
        bool load = a->kind == MG_ACCESS_LD || a->kind == MG_ACCESS_CP_ASYNC;
        double requests = a->requests * share;
        traffic->l1_sectors += a->sectors * requests;
        traffic->l1_hits += a->hits * requests;
        bool atomic = a->kind == MG_ACCESS_ATOM || a->kind == MG_ACCESS_RED;
        double asked = atomic ? MG_MAX(a->past_l1, a->wavefronts) : a->past_l1; /* lanes one after the other */
        traffic->l2_sectors += asked * requests;
        traffic->l2_hits += asked * (load ? 1 - MG_MIN(MG_MAX(a->first, a->host), 1.0) : 1) * requests;
    }
    return good;
}
