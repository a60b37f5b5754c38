/* sample.c - what the accesses of some blocks say of all: sectors, lines, and which of them the caches have.
 *
 * Some of the sampled blocks would share a multiprocessor, which gets every so many blocks of the grid: their accesses
 * go through its first cache, turn by turn, and what that lacks is known by instruction. The others are spread over the
 * grid, and tell how much blocks have in common: of n blocks that touch u sectors of an array each, and U different
 * ones together, the array is taken to have D sectors of which each block touches u at random, U = D (1 - (1 - u/D)^n);
 * the whole grid then touches as many as its blocks would, and not more than the array has.
 *
 * An instruction that none of the first blocks came to is looked for in the others. Local memory is where the device
 * has it: a thread's words are 128 bytes apart, those of its warp's other lanes between them.
 */
#include "time/time_priv.h"

#include <math.h>

struct request {
    uint32_t insn;
    uint32_t first, count; /* of the sample's sectors */
    uint16_t wavefronts, lines, rounds, turns, warp;
    uint8_t kind, space;
};
#define LOCAL (UINT64_C(1) << 56) /* from here on: local memory, by block and warp */
struct mg_time_sample {
    MG_VEC(struct request) requests;
    MG_VEC(uint64_t) sectors; /* addresses / 32 */
    uint64_t *swapped;        /* a bit for each word of shared memory that compare-and-swaps change; NULL: none */
    uint32_t nswapped;
};
enum { SHARED_WORDS = 65536 };

enum {
    SMALL = 16 /* blocks: a grid of fewer is looked at whole; of others one block in … */,
    PART = 4,
    LEAST = 8 /* and so many at least, which are enough to tell what blocks have in common */
};

void mg__time_choose(struct mg_time_choice *c, uint64_t blocks, unsigned sms, unsigned resident)
{
    unsigned most = MG_MIN(resident, MG_TIME_BLOCKS / 2);
    const uint64_t all =
        blocks < SMALL ? MG_TIME_BLOCKS : MG_MIN(MG_MAX(blocks / PART, (uint64_t)LEAST), (uint64_t)MG_TIME_BLOCKS);
    c->n = 0;
    uint64_t from = MG_MIN(blocks, (uint64_t)sms) / 2;
    for (uint64_t at = from; c->n < most && at < blocks; at += sms)
        c->block[c->n++] = at;
    c->together = c->n;
    c->resident = (double)MG_MIN(blocks, (uint64_t)sms * resident);
    for (unsigned i = 0; c->n < all && i < 4 * MG_TIME_BLOCKS; i++) {
        double part = 0.6180339887498949 * (i + 1);
        uint64_t at = (uint64_t)((double)blocks * (part - floor(part)));
        bool fresh = at < blocks;
        for (unsigned k = 0; k < c->n; k++)
            fresh &= c->block[k] != at;
        if (fresh)
            c->block[c->n++] = at;
    }
}

struct mg_time_sample *mg__time_sample_create(void)
{
    return calloc(1, sizeof(struct mg_time_sample));
}

bool mg__time_sample_clear(struct mg_time_sample *s)
{
    enum { KEPT = 65536 };
    free(s->swapped);
    s->swapped = NULL;
    s->nswapped = 0;
    s->requests.count = s->sectors.count = 0;
    return s->requests.capacity <= KEPT && s->sectors.capacity <= KEPT;
}

void mg__time_sample_free(struct mg_time_sample *s)
{
    if (!s)
        return;
    mg__vec_free(&s->requests);
    mg__vec_free(&s->sectors);
    free(s->swapped);
    free(s);
}

size_t mg__time_sample_requests(const struct mg_time_sample *s)
{
    return s->requests.count;
}

/* Lanes at the place that most of them go to. */
static unsigned most_together(const struct mg_model_access *made)
{
    unsigned most = 1;
    for (uint32_t rest = made->mask; (unsigned)__builtin_popcount(rest) > most;) {
        const uint32_t here = rest & mg__model_lanes_at(made->address, 0, made->address[__builtin_ctz(rest)]);
        most = MG_MAX(most, (unsigned)__builtin_popcount(here));
        rest &= ~here;
    }
    return most;
}

/* Lanes whose words lie in one bank, at most: compare-and-swaps of shared memory change one word of each at a time. */
static unsigned most_in_bank(const struct mg_model_access *made)
{
    unsigned most = 1, in[32] = {0};
    for (unsigned i = 0; i < 32; i++) {
        unsigned *n = &in[made->address[i] / 4 % 32];
        *n += made->mask >> i & 1;
        most = MG_MAX(most, *n);
    }
    return most;
}

static bool keep_swapped(struct mg_time_sample *s, const struct mg_model_access *made)
{
    if (!s->swapped && !(s->swapped = calloc(SHARED_WORDS / 64, sizeof(*s->swapped))))
        return false;
    for (unsigned i = 0; i < 32; i++) {
        uint64_t word = made->address[i] / 4 % SHARED_WORDS, bit = UINT64_C(1) << word % 64;
        if (!(made->mask >> i & 1))
            continue;
        s->nswapped += !(s->swapped[word / 64] & bit);
        s->swapped[word / 64] |= bit;
    }
    return true;
}

static unsigned different_words(const struct mg_model_access *made)
{
    unsigned n = 0;
    for (unsigned i = 0; i < 32; i++) {
        bool fresh = made->mask >> i & 1;
        for (unsigned k = 0; k < i && fresh; k++)
            fresh = !(made->mask >> k & 1) || made->address[i] / 4 != made->address[k] / 4;
        n += fresh;
    }
    return n;
}

/* The sectors that the lanes touch, each once, and how many lines that is. */
static uint32_t sectors_of(const struct mg_model_access *made, uint64_t seen[256], uint32_t *lines)
{
    uint32_t n = 0;
    *lines = 0;
    for (unsigned lane = 0; lane < 32; lane++) {
        if (!(made->mask >> lane & 1))
            continue;
        uint64_t from = made->address[lane] / 32, to = (made->address[lane] + made->width - 1) / 32;
        for (uint64_t sector = from; sector <= to && n < 256; sector++) {
            bool fresh = true, line = true;
            for (uint32_t k = n; k-- > 0 && fresh;) {
                fresh = seen[k] != sector;
                line &= seen[k] / 4 != sector / 4;
            }
            if (fresh) {
                seen[n++] = sector;
                *lines += line;
            }
        }
    }
    return n;
}

/* The same of local memory, of which the lanes' words lie beside one another. */
static uint32_t local_sectors_of(const struct mg_launch_info *info, const struct mg_model_access *made,
                                 const struct mg_access *a, uint64_t seen[256], uint32_t *lines)
{
    uint64_t warps = ((uint64_t)info->block.x * info->block.y * info->block.z + 31) / 32;
    uint64_t base = LOCAL + (a->block * warps + a->warp) * ((info->local_stride + UINT64_C(3)) / 4 * 128);
    struct mg_model_access word = *made;
    uint32_t n = 0;
    *lines = 0;
    word.width = MG_MIN(made->width, 4u);
    word.address = word.moved;
    for (unsigned k = 0; k < made->width && n <= 224; k += 4) {
        uint32_t some;
        for (unsigned lane = 0; lane < 32; lane++)
            word.moved[lane] =
                base + (made->address[lane] + k) / 4 * 128 + lane * UINT64_C(4) + made->address[lane] % 4;
        n += sectors_of(&word, seen + n, &some);
        *lines += some;
    }
    return n;
}

static bool keep_sectors(struct mg_time_sample *s, struct request *r, const uint64_t *seen, uint32_t n, uint32_t lines)
{
    r->count = n;
    r->lines = (uint16_t)lines;
    if (!mg__vec_grow((void **)&s->sectors.at, &s->sectors.capacity, s->sectors.count + n, sizeof(uint64_t)))
        return false;
    memcpy(s->sectors.at + s->sectors.count, seen, n * sizeof(uint64_t));
    s->sectors.count += n;
    return true;
}

bool mg__time_sample_add(struct mg_time_sample *s, const struct mg_arch *arch, const struct mg_launch_info *info,
                         const struct mg_model_access *made, const struct mg_access *a)
{
    const struct mg_ptx_insn *insn = info->insns[a->insn].insn;
    struct request r = {.insn = a->insn,
                        .first = (uint32_t)s->sectors.count,
                        .warp = (uint16_t)a->warp,
                        .kind = (uint8_t)made->kind,
                        .space = a->space};
    uint64_t seen[256];
    if (s->sectors.count + s->requests.count > MG_TIME_SECTORS)
        return true;
    if (insn->access == MG_ACCESSES_COPY &&
        a->space == MG_SPACE_SHARED) /* where it goes; it waits for where it comes from */
        return true;
    if (a->space == MG_SPACE_SHARED) {
        r.wavefronts =
            (uint16_t)mg__model_shared(arch, made->cost, insn, made->width, made->mask, made->address).wavefronts;
        if (made->kind == MG_ACCESS_ATOM || made->kind == MG_ACCESS_RED)
            r.rounds = (uint16_t)most_together(made);
        if (mg__time_swaps(insn)) {
            r.turns = (uint16_t)most_in_bank(made);
            if (!keep_swapped(s, made))
                return false;
        }
    } else if (a->space == MG_SPACE_GLOBAL) {
        uint32_t lines, n = sectors_of(made, seen, &lines);
        uint64_t origin = mg__model_origin(info, made->address[__builtin_ctz(made->mask)]);
        r.wavefronts = (uint16_t)MG_MIN(mg__model_access_global(arch, insn, made, origin).moved, UINT16_MAX);
        if (!keep_sectors(s, &r, seen, n, lines))
            return false;
    } else if (a->space == MG_SPACE_CONST || a->space == MG_SPACE_PARAM) {
        r.rounds = (uint16_t)different_words(made);
    } else if (a->space == MG_SPACE_LOCAL) {
        uint32_t lines, n = local_sectors_of(info, made, a, seen, &lines);
        r.wavefronts = (uint16_t)((made->width + 3) / 4);
        if (!keep_sectors(s, &r, seen, n, lines))
            return false;
    } else {
        r.wavefronts = (uint16_t)((made->width + 3) / 4);
    }
    if (!mg__vec_grow((void **)&s->requests.at, &s->requests.capacity, s->requests.count + 1, sizeof(r)))
        return false;
    s->requests.at[s->requests.count++] = r;
    return true;
}

/* ---- the same again ---- */
enum {
    MET_BYTES = 256 /* places that are so far apart are alike to banks and lines */,
    MET_SECTORS_EACH = MET_BYTES / 32
};

static uint32_t met_phase(const struct mg_access *a)
{
    return (uint32_t)(a->base % MET_BYTES) << 8 | a->space;
}

bool mg__time_sample_met(struct mg_time_sample *s, const struct mg_time_met *met, const struct mg_access *a,
                         bool *failed)
{
    if (met->pattern != a->pattern || met->insn != a->insn || met->phase != met_phase(a))
        return false;
    if (met->none || s->sectors.count + s->requests.count > MG_TIME_SECTORS)
        return true;
    if (!mg__vec_grow((void **)&s->requests.at, &s->requests.capacity, s->requests.count + 1,
                      sizeof(*s->requests.at)) ||
        !mg__vec_grow((void **)&s->sectors.at, &s->sectors.capacity, s->sectors.count + met->count, sizeof(uint64_t))) {
        *failed = true;
        return true;
    }
    s->requests.at[s->requests.count++] = (struct request){.insn = a->insn,
                                                           .first = (uint32_t)s->sectors.count,
                                                           .count = met->count,
                                                           .wavefronts = met->wavefronts,
                                                           .lines = met->lines,
                                                           .rounds = met->rounds,
                                                           .turns = met->turns,
                                                           .warp = (uint16_t)a->warp,
                                                           .kind = met->kind,
                                                           .space = met->space};
    const uint64_t base = a->base / MET_BYTES * MET_SECTORS_EACH;
    for (uint32_t k = 0; k < met->count; k++)
        s->sectors.at[s->sectors.count++] = base + (uint64_t)(int64_t)met->sector[k];
    return true;
}

/* What depends on more than its pattern is left out: where an atomic's array begins, which words are swapped, the other
 * side of a copy, the thread's place in local memory. */
void mg__time_sample_meet(const struct mg_time_sample *s, struct mg_time_met *met, const struct mg_launch_info *info,
                          const struct mg_model_access *made, const struct mg_access *a)
{
    const bool atomic = a->kind == MG_ACCESS_ATOM || a->kind == MG_ACCESS_RED;
    const struct request *r = s->requests.count ? &s->requests.at[s->requests.count - 1] : NULL;
    met->pattern = NULL;
    if (a->other || (a->space == MG_SPACE_GLOBAL ? atomic : a->space != MG_SPACE_SHARED) ||
        mg__time_swaps(info->insns[a->insn].insn) || (made && (!r || r->insn != a->insn)))
        return;
    *met = (struct mg_time_met){.pattern = a->pattern, .insn = a->insn, .phase = met_phase(a), .none = !made};
    if (!made)
        return;
    met->count = r->count;
    met->wavefronts = r->wavefronts;
    met->lines = r->lines;
    met->rounds = r->rounds;
    met->turns = r->turns;
    met->kind = r->kind;
    met->space = r->space;
    for (uint32_t k = 0; k < r->count && r->count <= MG_TIME_MET_SECTORS; k++)
        met->sector[k] = (int32_t)(s->sectors.at[r->first + k] - a->base / MET_BYTES * MET_SECTORS_EACH);
    if (r->count > MG_TIME_MET_SECTORS)
        met->pattern = NULL;
}

/* ---- sets of sectors ---- */
/* Open addressing, with neighbours side by side. They grow as they fill: whoever is about to add calls table_room
 * first, for all that it may add, and counts what it did. */
struct slot {
    uint64_t key; /* 0: free */
    uint64_t value;
    uint32_t insn, turn; /* of the first cache: what brought it, and the how manieth time that its warp was there */
};
struct table {
    struct slot *slots;
    uint64_t mask, count;
};

static bool table_make(struct table *t)
{
    enum { FIRST = 256 };
    t->slots = calloc(FIRST, sizeof(*t->slots));
    t->mask = FIRST - 1;
    t->count = 0;
    return t->slots != NULL;
}

static inline struct slot *table_find(struct table *t, uint64_t key)
{
    uint64_t at = ((key >> 3) * UINT64_C(0x9E3779B97F4A7C15)) >> 20 << 3 | (key & 7);
    for (;; at++) {
        struct slot *s = &t->slots[at & t->mask];
        if (s->key == key || !s->key)
            return s;
    }
}

static bool table_room(struct table *t, uint64_t more)
{
    if (2 * (t->count + more) <= t->mask)
        return true;
    struct table larger = {.mask = t->mask, .count = t->count};
    while (2 * (t->count + more) > larger.mask)
        larger.mask = 2 * larger.mask + 1;
    larger.slots = calloc(larger.mask + 1, sizeof(*larger.slots));
    if (!larger.slots)
        return false;
    for (uint64_t k = 0; k <= t->mask; k++)
        if (t->slots[k].key)
            *table_find(&larger, t->slots[k].key) = t->slots[k];
    free(t->slots);
    *t = larger;
    return true;
}

/* ---- the first cache ---- */
/* Pieces: of 64 bytes as device memory is read, for atomics, too; of 512 as atomics are dealt out to the second cache;
 * sectors written. */
enum what { READS, ATOMICS, WRITES, CHANGES };
static const uint32_t piece_sectors[] = {[READS] = 2, [ATOMICS] = 16, [WRITES] = 1, [CHANGES] = 2};

struct digest {
    struct mg_time_sample *const *samples;
    const struct mg_time_choice *choice;
    const struct mg_launch_info *info;
    struct mg_time_access *access;
    uint32_t lines; /* of the first cache */
    struct table table, touched;
    uint64_t brought; /* sectors that came into the first cache, … */
    uint64_t valid;   /* … and how many had when all of it was last made invalid */
    const struct mg_time_traffic *traffic;
    double room;     /* of the second cache, bytes */
    uint32_t *turns; /* by sampled block, warp and instruction: how often it was there */
    uint32_t warps;
    bool failed;           /* out of memory */
    double other_share;    /* of what was found in others, to have as many as the first blocks would */
    bool has[CHANGES + 1]; /* whether any request is of this kind */
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

static void look_up(struct digest *d, unsigned block, const struct request *r)
{
    const struct mg_time_sample *s = d->samples[block];
    const uint32_t turn = ++d->turns[((size_t)block * d->warps + r->warp) * d->info->ninsns + r->insn];
    struct mg_time_access *a = &d->access[r->insn];
    double past = 0, hits = 0;
    bool load = r->kind == MG_ACCESS_LD || r->kind == MG_ACCESS_CP_ASYNC;
    bool fresh = false, together = false;
    if (!table_room(&d->touched, r->count) || !table_room(&d->table, r->count)) {
        d->failed = true;
        return;
    }
    for (uint32_t k = 0; k < r->count; k++) {
        const uint64_t half = s->sectors.at[r->first + k] / 2 + 1;
        if (!k || half != s->sectors.at[r->first + k - 1] / 2 + 1) {
            struct slot *seen = table_find(&d->touched, half);
            fresh |= !seen->key;
            d->touched.count += !seen->key;
            seen->key = half;
        }
        struct slot *slot = table_find(&d->table, s->sectors.at[r->first + k] + 1);
        bool has = slot->key && d->brought - slot->value < (uint64_t)d->lines * 4 && slot->value >= d->valid;
        bool kept = load ? !goes_past(d, r) : r->kind == MG_ACCESS_ST;
        hits += has && kept;
        together |= has && slot->insn == r->insn && slot->turn == turn;
        if (load && has && kept)
            continue;
        past++;
        if (kept && !(has && !load)) {
            d->table.count += !slot->key;
            slot->key = s->sectors.at[r->first + k] + 1;
            slot->value = d->brought++;
            slot->insn = r->insn;
            slot->turn = turn;
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
    a->past_l1 += past;
    a->misses += past > 0;
    a->fresh += past > 0 && fresh;
    a->hits += hits;
    a->shared += past <= 0 && together;
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
        a->past_l1 /= a->requests;
        a->misses /= a->requests;
        a->fresh /= a->requests;
        a->rounds /= a->requests;
        a->turns /= a->requests;
        a->hits /= a->requests;
        a->shared /= a->requests;
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
    return is == what && r->space == MG_SPACE_GLOBAL;
}

/* Different pieces by array: each block's, and those of all sampled blocks together. */
static bool common(struct digest *d, struct array *arrays, enum what what)
{
    struct table all = {0};
    uint64_t sampled = 0;
    bool good = table_make(&all);
    struct near near = {0};
    for (unsigned i = 0; good && i < d->choice->n; i++) {
        const struct mg_time_sample *s = d->samples[i];
        uint64_t last = 0; /* the same piece again says nothing new of the block */
        for (size_t k = 0; s && good && k < s->requests.count; k++) {
            const struct request *r = &s->requests.at[k];
            if (!is_of(r, what))
                continue;
            good = table_room(&all, r->count);
            for (uint32_t j = 0; good && j < r->count; j++) {
                uint64_t sector = s->sectors.at[r->first + j], piece = sector / piece_sectors[what] + 1;
                if (piece == last)
                    continue;
                last = piece;
                struct array *a = &arrays[array_near(d->info, &near, sector)];
                struct slot *any = table_find(&all, piece);
                if (any->turn != i + 1) /* the block's first */
                    a->each++;
                if (!any->key) {
                    any->key = piece;
                    all.count++;
                    a->together++;
                    a->least = a->least ? MG_MIN(a->least, piece) : piece;
                    a->most = MG_MAX(a->most, piece);
                }
                if (any->turn != i + 1) { /* in how many blocks it is */
                    any->turn = i + 1;
                    any->value++;
                }
            }
        }
        sampled += s != NULL;
    }
    for (uint64_t k = 0; good && sampled > 2 && k <= all.mask; k++) {
        const struct slot *s = &all.slots[k];
        if (!s->key || 4 * s->value <= sampled)
            continue;
        struct array *a = &arrays[array_near(d->info, &near, (s->key - 1) * piece_sectors[what])];
        a->common++;
        a->together--;
        a->each -= (double)s->value;
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
            for (enum what what = READS; what <= CHANGES; what++)
                d->has[what] |= is_of(&s->requests.at[k], what);
    }
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
    double sampled = 0;
    for (unsigned i = 0; i < d->choice->n; i++)
        sampled += d->samples[i] != NULL;
    for (size_t k = 0; k < n; k++) {
        arrays[k].blocks = arrays[k].all = sampled;
        arrays[k].pieces = k ? d->info->allocations[k - 1].size / (32 * piece_sectors[what]) + 1 : 0;
        arrays[k].touched = of_all(&arrays[k], blocks);
        *bytes += arrays[k].touched * 32 * piece_sectors[what];
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
        (double)d->info->local_stride * d->info->block.x * d->info->block.y * d->info->block.z * d->choice->resident;
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
                     const struct mg_launch_info *info, uint32_t cache_lines, double room,
                     struct mg_time_access *access, struct mg_time_traffic *traffic)
{
    struct digest d = {.samples = samples,
                       .choice = c,
                       .info = info,
                       .access = access,
                       .lines = cache_lines,
                       .traffic = traffic,
                       .room = room};
    d.warps = (uint32_t)((uint64_t)info->block.x * info->block.y * info->block.z + 31) / 32;
    d.turns = calloc((size_t)c->n * d.warps * info->ninsns + 1, sizeof(*d.turns));
    bool good = d.turns && table_make(&d.table) && table_make(&d.touched);
    good = good && replay(&d);
    free(d.table.slots);
    free(d.touched.slots);
    free(d.turns);
    double atomics = 0;
    find_kinds(&d);
    share_swaps(&d);
    share_local(&d, traffic);
    good = good && share_out(&d, WRITES, &traffic->written) && share_out(&d, READS, &traffic->read) &&
           share_out(&d, ATOMICS, &atomics) && share_out(&d, CHANGES, &traffic->read);
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
        traffic->l2_hits += asked * (load ? 1 - MG_MIN(a->first, 1.0) : 1) * requests;
    }
    return good;
}
