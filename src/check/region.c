/* region.c - device memory as the checks see it: which bytes were ever written, and room for a launch's cells.
 *
 * Most allocations are wholly written or not at all, so a bit for each byte is kept only in between. What a kernel
 * writes stands in the cells of its launch (grid.c) and becomes bits when it ends: until then the bits say what was
 * written before, which makes what is found the same for any order of blocks.
 */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "check/check_priv.h"

#include <sys/mman.h>

enum { FREED_KEPT = 4096 };

static size_t first_after(const struct mg_check *c, uint64_t address)
{
    size_t lo = 0, hi = c->regions.count;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (c->regions.at[mid]->address + c->regions.at[mid]->size > address)
            hi = mid;
        else
            lo = mid + 1;
    }
    return lo;
}

struct region *mg__region_find(struct mg_check *c, uint64_t address)
{
    size_t i = first_after(c, address);
    return i < c->regions.count && c->regions.at[i]->address <= address ? c->regions.at[i] : NULL;
}

static uint64_t group_count(const struct region *r)
{
    return (r->size + 4 * CELLS_GROUP - 1) / (4 * CELLS_GROUP);
}

/* Address space: of the cells, the groups and their values. What nobody touches takes no memory. */
static uint64_t cell_bytes(const struct region *r)
{
    return group_count(r) * (CELLS_GROUP + 2) * sizeof(uint64_t);
}

void mg__region_free_cells(struct region *r)
{
    if (r->cells)
        munmap((void *)r->cells, cell_bytes(r));
    if (r->marks)
        munmap(r->marks, r->marks_size);
    r->marks = NULL;
    free(r->touched);
    r->cells = NULL;
    r->touched = NULL;
}

void mg__region_free(struct region *r)
{
    mg__region_free_cells(r);
    free(r->bits);
    free((void *)atomic_load_explicit(&r->holes, memory_order_relaxed));
    free(r);
}

void mg__region_bury(struct mg_check *c)
{
    for (size_t i = 0; i < c->gone.count; i++)
        mg__region_free(c->gone.at[i]);
    mg__vec_free(&c->gone);
}

static void drop(struct mg_check *c, size_t i)
{
    if (!c->running)
        mg__region_free(c->regions.at[i]);
    else /* without memory it is lost */
        (void)mg__vec_push(&c->gone, c->regions.at[i]);
    c->regions.count--;
    memmove(&c->regions.at[i], &c->regions.at[i + 1], (c->regions.count - i) * sizeof(struct region *));
}

struct region *mg__region_add(struct mg_check *c, uint64_t address, uint64_t size)
{
    size_t i = first_after(c, address);
    while (size && i < c->regions.count && c->regions.at[i]->address < address + size)
        drop(c, i); /* of a module that was unloaded */
    if (size == 0)
        return NULL;
    struct region *r = calloc(1, sizeof(*r));
    if (!r || !mg__vec_push(&c->regions, r)) {
        free(r);
        return NULL;
    }
    memmove(&c->regions.at[i + 1], &c->regions.at[i], (c->regions.count - 1 - i) * sizeof(struct region *));
    c->regions.at[i] = r;
    r->check = c;
    r->address = address;
    r->size = size;
    r->serial = c->serial++;
    return r;
}

void mg__region_remove(struct mg_check *c, struct region *r)
{
    size_t i = first_after(c, r->address);
    if (i == c->regions.count || c->regions.at[i] != r)
        return;
    if (!r->host) {
        struct freed f = {r->address, r->size};
        if (c->freed.count < FREED_KEPT)
            (void)mg__vec_push(&c->freed, f);
        else
            c->freed.at[c->next_freed++ % FREED_KEPT] = f;
    }
    drop(c, i);
}

const struct freed *mg__freed_find(const struct mg_check *c, uint64_t address)
{
    for (size_t i = 0; i < c->freed.count; i++)
        if (address - c->freed.at[i].address < c->freed.at[i].size)
            return &c->freed.at[i];
    return NULL;
}

bool mg__region_cells(struct region *r)
{
    if (r->cells)
        return true;
    uint64_t n = group_count(r);
    void *at = mmap(NULL, cell_bytes(r), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED)
        return false;
    r->touched = calloc(n * CELLS_GROUP / CELLS_CHUNK + 1, sizeof(*r->touched));
    if (!r->touched) {
        munmap(at, cell_bytes(r));
        return false;
    }
    r->cells = at;
    r->groups = r->cells + n * CELLS_GROUP;
    r->values = r->groups + n;
    return true;
}

/* ---- written bytes ---- */
static bool all_set(const uint64_t *bits, uint64_t from, uint64_t to)
{
    for (; from < to && from % 64; from++)
        if (!(bits[from / 64] >> (from % 64) & 1))
            return false;
    for (; from + 64 <= to; from += 64)
        if (bits[from / 64] != ~0ull)
            return false;
    for (; from < to; from++)
        if (!(bits[from / 64] >> (from % 64) & 1))
            return false;
    return true;
}

bool mg__region_written(const struct region *r, uint64_t from, uint64_t to)
{
    return r->written == WRITTEN_ALL || (r->written == WRITTEN_SOME && all_set(r->bits, from, to));
}

static void set(uint64_t *bits, uint64_t from, uint64_t to, bool on)
{
    while (from < to) {
        uint64_t n = MG_MIN(64 - from % 64, to - from), mask = (n == 64 ? ~0ull : (1ull << n) - 1) << (from % 64);
        bits[from / 64] = on ? bits[from / 64] | mask : bits[from / 64] & ~mask;
        from += n;
    }
}

void mg__region_mark(struct region *r, uint64_t from, uint64_t to, bool written)
{
    to = MG_MIN(to, r->size);
    if (from >= to || r->written == (written ? WRITTEN_ALL : WRITTEN_NONE))
        return;
    if (from == 0 && to == r->size && !(r->check->running && r->bits)) {
        free(r->bits);
        r->bits = NULL;
        r->written = written ? WRITTEN_ALL : WRITTEN_NONE;
        return;
    }
    if (!r->bits) {
        r->bits = calloc(r->size / 64 + 1, sizeof(*r->bits));
        if (!r->bits) {
            r->written = WRITTEN_ALL; /* no memory: claim nothing */
            return;
        }
        if (r->written == WRITTEN_ALL)
            set(r->bits, 0, r->size, true);
        r->written = WRITTEN_SOME;
    }
    set(r->bits, from, to, written);
}

void mg__region_settle(struct region *r)
{
    if (r->written == WRITTEN_SOME && !r->check->running && all_set(r->bits, 0, r->size)) {
        free(r->bits);
        r->bits = NULL;
        r->written = WRITTEN_ALL;
    }
}

/* ---- written, with what nobody made ---- */
void mg__region_hole(struct region *r, uint64_t from, unsigned bytes, uint32_t missing)
{
    _Atomic uint64_t *bits = atomic_load_explicit(&r->holes, memory_order_acquire), *none = NULL;
    if (!bits && missing) {
        bits = (_Atomic uint64_t *)calloc(r->size / 64 + 1, sizeof(*bits));
        if (bits && !atomic_compare_exchange_strong(&r->holes, &none, bits)) {
            free((void *)bits);
            bits = none;
        }
    }
    for (unsigned k = 0; bits && k < bytes; k++) {
        uint64_t at = from + k, bit = 1ull << (at % 64);
        if (missing >> k & 1)
            atomic_fetch_or_explicit(&bits[at / 64], bit, memory_order_relaxed);
        else if (atomic_load_explicit(&bits[at / 64], memory_order_relaxed) & bit)
            atomic_fetch_and_explicit(&bits[at / 64], ~bit, memory_order_relaxed);
    }
}

void mg__region_filled(struct region *r, uint64_t from, uint64_t to)
{
    for (; mg__region_has_holes(r) && from < MG_MIN(to, r->size); from++)
        if (mg__region_is_hole(r, from))
            mg__region_hole(r, from, 1, 0);
}

bool mg__region_is_hole(const struct region *r, uint64_t at)
{
    _Atomic uint64_t *bits = atomic_load_explicit(&r->holes, memory_order_acquire);
    return bits && atomic_load_explicit(&bits[at / 64], memory_order_relaxed) >> (at % 64) & 1 &&
           !mg__own_written(r, at, true); /* filled since, by a store that was not told */
}
