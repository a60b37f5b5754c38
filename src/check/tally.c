/* tally.c - occurrences, counted by kind, instructions and variable while a launch runs. */
#include "check/check_priv.h"

static size_t slot_of(const struct occurrence *o, size_t n)
{
    uint64_t key = o->kind;
    key = key * 0x9e3779b97f4a7c15ull + o->insn;
    key = (key ^ key >> 31) * 0x9e3779b97f4a7c15ull + o->other;
    key = (key ^ key >> 31) * 0x9e3779b97f4a7c15ull + (uint32_t)o->object;
    key = (key ^ key >> 31) * 0x9e3779b97f4a7c15ull + o->place;
    return (size_t)(key ^ key >> 29) & (n - 1);
}

static bool same(const struct occurrence *a, const struct occurrence *b)
{
    return a->kind == b->kind && a->insn == b->insn && a->other == b->other && a->object == b->object &&
           a->place == b->place;
}

struct occurrence *mg__tally_note(struct tally *t, const struct occurrence *o)
{
    t->notes++;
    for (size_t h = t->nindex ? slot_of(o, t->nindex) : 0; t->nindex && t->index[h]; h = (h + 1) & (t->nindex - 1)) {
        struct occurrence *at = &t->at[t->index[h] - 1];
        if (!same(at, o))
            continue;
        uint64_t count = at->count + o->count;
        if (o->who.block < at->who.block) /* the first block's: the same for any number of workers */
            *at = *o;
        at->count = count;
        return at;
    }
    if (t->count == t->capacity) {
        uint32_t capacity = MG_MAX(t->capacity * 2, 32);
        struct occurrence *at = realloc(t->at, capacity * sizeof(*at));
        uint32_t *index = at ? calloc(capacity * 2, sizeof(*index)) : NULL;
        if (at)
            t->at = at;
        if (!index)
            return NULL;
        free(t->index);
        t->index = index;
        t->nindex = capacity * 2;
        t->capacity = capacity;
        for (uint32_t i = 0; i < t->count; i++) {
            size_t h = slot_of(&t->at[i], t->nindex);
            while (index[h])
                h = (h + 1) & (t->nindex - 1);
            index[h] = i + 1;
        }
    }
    size_t h = slot_of(o, t->nindex);
    while (t->index[h])
        h = (h + 1) & (t->nindex - 1);
    t->at[t->count] = *o;
    t->index[h] = ++t->count;
    return &t->at[t->count - 1];
}

void mg__tally_free(struct tally *t)
{
    free(t->at);
    free(t->index);
    *t = (struct tally){0};
}
