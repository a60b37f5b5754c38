/* mixed.c - words of global memory of which several blocks use different bytes: a table of who used which. */
#include "check/grid.h"

struct mixed_use {
    int32_t object;
    uint64_t offset, block;
    uint8_t written, read;
    uint32_t insn_w, insn_r;
    uint8_t value;
};
struct mixed {
    MG_VEC(struct mixed_use) uses;
    uint32_t *index;
    size_t nindex;
};

bool mg__mixed_begin(struct launch *l)
{
    l->mixed = calloc(1, sizeof(*l->mixed));
    return l->mixed != NULL;
}

void mg__mixed_end(struct launch *l)
{
    if (!l->mixed)
        return;
    mg__vec_free(&l->mixed->uses);
    free(l->mixed->index);
    free(l->mixed);
}

static uint64_t scatter(uint64_t key)
{
    key *= 0x9e3779b97f4a7c15ull;
    return key ^ key >> 29;
}

static uint64_t key_of(const struct mixed_use *u)
{
    return scatter(((uint64_t)(uint32_t)u->object << 44) ^ u->offset ^ u->block << 20);
}

static void add(struct mixed_use *u, const struct mixed_use *more)
{
    if (more->written && (!u->written || more->insn_w < u->insn_w))
        u->insn_w = more->insn_w;
    if (more->read && (!u->read || more->insn_r < u->insn_r))
        u->insn_r = more->insn_r;
    if (more->written)
        u->value = u->written && u->value != more->value ? VALUE_MANY : more->value;
    u->written |= more->written;
    u->read |= more->read;
}

static bool grow(struct mixed *m)
{
    size_t size = MG_MAX(m->nindex * 2, 256);
    uint32_t *index = calloc(size, sizeof(*index));
    if (!index)
        return false;
    free(m->index);
    m->index = index;
    m->nindex = size;
    for (size_t i = 0; i < m->uses.count; i++) {
        size_t h = key_of(&m->uses.at[i]) & (size - 1);
        while (index[h])
            h = (h + 1) & (size - 1);
        index[h] = (uint32_t)i + 1;
    }
    return true;
}

/* Without memory for it the use goes unchecked. */
static void keep(struct mixed *m, const struct mixed_use *use)
{
    if ((m->uses.count + 1) * 2 > m->nindex && !grow(m))
        return;
    size_t h = key_of(use) & (m->nindex - 1);
    for (; m->index[h]; h = (h + 1) & (m->nindex - 1)) {
        struct mixed_use *u = &m->uses.at[m->index[h] - 1];
        if (u->object == use->object && u->offset == use->offset && u->block == use->block) {
            add(u, use);
            return;
        }
    }
    if (mg__vec_push(&m->uses, *use))
        m->index[h] = (uint32_t)m->uses.count;
}

/* What a cell's entry says of a block that was there before. */
static void keep_entry(const struct launch *l, int32_t object, const struct touch *t, uint64_t cell, uint64_t entry)
{
    uint64_t real = ENTRY_MASK - entry;
    unsigned kind = kind_in(l, real);
    struct alone did = {.read = kind == PLAIN_READ ? 15 : 0, .value = VALUE_MANY};
    if (cell >> FLAG_ALONE & 1)
        did = alone_in(cell);
    struct mixed_use use = {.object = object,
                            .offset = t->offset,
                            .block = block_in(l, real) << l->block_shift,
                            .insn_w = insn_in(l, real),
                            .insn_r = cell >> FLAG_ALONE & 1 ? l->code.insn_of[did.site] : insn_in(l, real),
                            .written = kind == PLAIN_WRITE ? (uint8_t)(cell >> 60) : 0,
                            .read = did.read,
                            .value = did.value};
    if (entry)
        keep(l->mixed, &use);
}

/* Whatever the order in which blocks come, the same is kept of each: no thread, for it is not known of the first. */
void mg__mixed_touch(struct worker *w, int32_t object, const struct touch *t, uint32_t insn, uint64_t before)
{
    struct launch *l = w->launch;
    bool strong = t->site->class >= MG_ORDER_STRONG && !t->site->in_block;
    struct mixed_use use = {.object = object,
                            .offset = t->offset,
                            .block = t->who.block,
                            .insn_w = insn,
                            .insn_r = insn,
                            .written = t->site->writes ? t->bytes : 0,
                            .read = t->site->reads ? t->bytes : 0,
                            .value = t->value};
    pthread_mutex_lock(&l->lock);
    if (!(before >> FLAG_MIXED & 1)) {
        keep_entry(l, object, t, before, before >> ENTRY_BITS & ENTRY_MASK);
        keep_entry(l, object, t, before, before >> FLAG_ALONE & 1 ? 0 : before & ENTRY_MASK);
    }
    if (!strong)
        keep(l->mixed, &use);
    pthread_mutex_unlock(&l->lock);
}

static int by_place(const void *a, const void *b)
{
    const struct mixed_use *x = a, *y = b;
    if (x->object != y->object)
        return x->object < y->object ? -1 : 1;
    if (x->offset != y->offset)
        return x->offset < y->offset ? -1 : 1;
    return x->block < y->block ? -1 : x->block > y->block;
}

void mg__mixed_collect(struct worker *w)
{
    struct mixed *m = w->launch->mixed;
    if (m->uses.count)
        qsort(m->uses.at, m->uses.count, sizeof(*m->uses.at), by_place);
    for (size_t i = 0; i < m->uses.count; i++)
        for (size_t k = i + 1; k < m->uses.count && k < i + 8 && m->uses.at[k].object == m->uses.at[i].object &&
                               m->uses.at[k].offset == m->uses.at[i].offset;
             k++) {
            const struct mixed_use *a = &m->uses.at[i], *b = &m->uses.at[k];
            uint64_t byte = a->offset;
            if (a->written & b->written)
                mg__grid_note(w, w->launch, a->object, byte + (unsigned)__builtin_ctz(a->written & b->written), 1,
                              PLAIN_WRITE, a->insn_w, some_thread(a->block), PLAIN_WRITE, b->insn_w,
                              some_thread(b->block),
                              a->value != b->value || a->value == VALUE_MANY || a->written != b->written);
            else if (a->written & b->read)
                mg__grid_note(w, w->launch, a->object, byte + (unsigned)__builtin_ctz(a->written & b->read), 1,
                              PLAIN_WRITE, a->insn_w, some_thread(a->block), PLAIN_READ, b->insn_r,
                              some_thread(b->block), true);
            else if (a->read & b->written)
                mg__grid_note(w, w->launch, a->object, byte + (unsigned)__builtin_ctz(a->read & b->written), 1,
                              PLAIN_READ, a->insn_r, some_thread(a->block), PLAIN_WRITE, b->insn_w,
                              some_thread(b->block), true);
        }
}
