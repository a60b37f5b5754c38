/* shapes.c - the different accesses of one instruction, each with the number of times it occurred.
 *
 * Regular code makes few different accesses however long it runs: they are all kept. Code whose addresses depend on
 * data may make millions: then a sample is kept, chosen by the access itself (its hash) and not by when it came, so
 * that the sample is the same for any number of workers. `level` says how thin: one in 2^level. What is kept was kept
 * from its first occurrence, so its count is exact; sums over a thinned set are scaled by those who make them.
 */
#include "advise/advise_priv.h"

enum { FIRST_SLOTS = 8 };

uint64_t mg__shape_hash(const struct mg_advise_shape *s)
{
    uint64_t h[4] = {s->mask, (uint64_t)(uint32_t)s->var << 8 | s->phase, 0x9E3779B9u + s->other, 0x85EBCA6B};
    for (unsigned i = 0; i < 32; i++)
        h[i & 3] = (h[i & 3] ^ (uint32_t)s->at[i]) * UINT64_C(0x9FB21C651E98DF25) + (h[i & 3] >> 29);
    uint64_t all = h[0];
    for (unsigned i = 1; i < 4; i++)
        all = (all ^ (all >> 32) ^ h[i]) * UINT64_C(0xD6E8FEB86659FD93);
    return all ^ (all >> 32);
}

static bool kept(uint64_t hash, unsigned level)
{
    return level >= 64 ? false : (hash & ((UINT64_C(1) << level) - 1)) == 0;
}

static bool same(const struct mg_advise_shape *a, const struct mg_advise_shape *b)
{
    return a->mask == b->mask && a->var == b->var && a->phase == b->phase && a->other == b->other &&
           memcmp(a->at, b->at, sizeof(a->at)) == 0;
}

static bool rebuild(struct mg_shapes *set, uint32_t nslots)
{
    if (nslots != set->nslots) {
        uint32_t *slots = malloc(nslots * sizeof(*slots));
        if (!slots)
            return false;
        free(set->slots);
        set->slots = slots;
        set->nslots = nslots;
    }
    memset(set->slots, 0, set->nslots * sizeof(*set->slots));
    for (uint32_t i = 0; i < set->count; i++) {
        uint32_t h = (uint32_t)(set->at[i].hash >> 32) & (set->nslots - 1);
        while (set->slots[h])
            h = (h + 1) & (set->nslots - 1);
        set->slots[h] = i + 1;
    }
    return true;
}

static void thin(struct mg_shapes *set, unsigned level)
{
    uint32_t n = 0;
    if (level <= set->level)
        return;
    set->level = level;
    for (uint32_t i = 0; i < set->count; i++)
        if (kept(set->at[i].hash, level))
            set->at[n++] = set->at[i];
    set->count = n;
    memset(set->recent, 0, sizeof(set->recent));
    if (set->nslots)
        (void)rebuild(set, set->nslots); /* of the same size: needs no memory */
}

/* Accesses of a loop differ in where they begin: by that. */
static unsigned place_of(const struct mg_advise_shape *s)
{
    return ((unsigned)s->at[__builtin_ctz(s->mask)] + s->phase) / 4 % MG_SHAPES_RECENT;
}

struct mg_advise_shape *mg__shapes_recent(const struct mg_shapes *set, const struct mg_advise_shape *like)
{
    uint32_t i = set->recent[place_of(like)];
    return i && same(&set->at[i - 1], like) ? &set->at[i - 1] : NULL;
}

struct mg_advise_shape *mg__shapes_find(struct mg_shapes *set, const struct mg_advise_shape *like)
{
    if (!set->nslots)
        return NULL;
    for (uint32_t h = (uint32_t)(like->hash >> 32) & (set->nslots - 1); set->slots[h]; h = (h + 1) & (set->nslots - 1))
        if (set->at[set->slots[h] - 1].hash == like->hash && same(&set->at[set->slots[h] - 1], like)) {
            set->recent[place_of(like)] = set->slots[h];
            return &set->at[set->slots[h] - 1];
        }
    return NULL;
}

bool mg__shapes_keeps(const struct mg_shapes *set, uint64_t hash)
{
    return kept(hash, set->level);
}

bool mg__shapes_add(struct mg_shapes *set, const struct mg_advise_shape *shape)
{
    if (!kept(shape->hash, set->level))
        return true;
    if (set->count == set->capacity) {
        uint32_t capacity = set->capacity ? set->capacity * 2 : FIRST_SLOTS / 2;
        struct mg_advise_shape *at = realloc(set->at, capacity * sizeof(*at));
        if (!at)
            return false;
        set->at = at;
        set->capacity = capacity;
    }
    if ((set->count + 1) * 2 > set->nslots && !rebuild(set, set->nslots ? set->nslots * 2 : FIRST_SLOTS))
        return false;
    uint32_t h = (uint32_t)(shape->hash >> 32) & (set->nslots - 1);
    while (set->slots[h])
        h = (h + 1) & (set->nslots - 1);
    set->at[set->count++] = *shape;
    set->slots[h] = set->count;
    while (set->count > (set->most ? set->most : (uint32_t)MG_SHAPES_KEPT))
        thin(set, set->level + 1);
    return true;
}

bool mg__shapes_merge(struct mg_shapes *to, struct mg_shapes *from)
{
    if (!to->count && to->level <= from->level) { /* as it is, of a launch with one worker */
        const struct mg_shapes was = *to;
        *to = *from;
        to->most = was.most;
        *from = was;
        return true;
    }
    thin(to, from->level);
    for (uint32_t i = 0; i < from->count; i++) {
        struct mg_advise_shape *have = mg__shapes_find(to, &from->at[i]);
        if (have)
            have->times += from->at[i].times;
        else if (!mg__shapes_add(to, &from->at[i]))
            return false;
    }
    return true;
}

void mg__shapes_free(struct mg_shapes *set)
{
    free(set->at);
    free(set->slots);
    memset(set, 0, sizeof(*set));
}

/* The order in which they were met differs with the number of workers; this one does not. */
static int by_content(const void *left, const void *right)
{
    const struct mg_advise_shape *a = left, *b = right;
    if (a->mask != b->mask)
        return a->mask < b->mask ? -1 : 1;
    if (a->phase != b->phase)
        return a->phase < b->phase ? -1 : 1;
    if (a->other != b->other)
        return a->other < b->other ? -1 : 1;
    if (a->var != b->var)
        return a->var < b->var ? -1 : 1;
    return memcmp(a->at, b->at, sizeof(a->at));
}

void mg__shapes_sort(struct mg_shapes *set)
{
    if (set->count > 1)
        qsort(set->at, set->count, sizeof(*set->at), by_content);
    memset(set->recent, 0, sizeof(set->recent));
    if (set->nslots)
        (void)rebuild(set, set->nslots);
}
