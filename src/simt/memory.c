/* memory.c - device memory: one reserved range of addresses, handed out in order and never reused soon.
 *
 * A device maps memory in pieces of 2 MiB (MG_GRANULE), and several small allocations share one: an access that leaves
 * its allocation and stays in a mapped piece does not fault there. So it is here: the range is reserved without access,
 * an allocation makes its pieces readable and writable, and one of more than half a piece has its pieces to itself.
 * Freeing a large one gives the pages back to the host. The search for room goes on from where the last one ended, so
 * that a freed address stays invalid for as long as the range lasts and a use after free is seen. At least MG_PAD bytes
 * lie between two allocations, so that a small overrun hits nothing, and so that a vector load that starts inside one
 * stays readable.
 *
 * Pieces that other processes are to see (mg__mem_share) are moved into a file without a name, each once, and stay
 * there.
 *
 * The windows of shared, local and parameter memory, and one whose addresses stand for functions, are ranges behind
 * device memory that are never made accessible: they only tell generic addresses apart.
 */
#define _GNU_SOURCE
#include <sys/mman.h>
#include <unistd.h>

#include "simt/simt_priv.h"

#define WINDOWS (MG_MAX_CLUSTER + 5) /* the block's and its cluster's shared memory, 3 more, and a part to align */

struct mg_block_of_memory {
    uint64_t address, size;
    const char *name;
    bool host; /* registered, not ours */
    bool constant;
    struct mg_pages *pages; /* of managed memory */
};
struct mg_memory {
    uint8_t *base;
    uint64_t reserved, capacity, used, rover;
    uint64_t in_large_pages; /* bytes of `used`, at most: a page that is touched at all is there as a whole, and a fault
                                for each 4 KB costs some programs more than their kernels do */
    MG_VEC(struct mg_block_of_memory) live; /* by address */
    uint64_t changes;                       /* of what a snapshot holds */
    _Atomic uint64_t moves;                 /* of managed memory, by the host */
    MG_VEC(struct mg_pages *) gone;         /* of freed memory: a launch under way may have a snapshot with them */
    struct mg_simt *peers[MG_MAX_PEERS];    /* whose memory our launches may touch, too */
    size_t npeers;
    int file;                /* of pieces that are shared; -1: none yet */
    MG_VEC(uint64_t) shared; /* their addresses */
};

static uint64_t round_up(uint64_t value, uint64_t align)
{
    return (value + align - 1) & ~(align - 1);
}

enum mg_status mg__memory_create(struct mg_simt *simt)
{
    struct mg_memory *m = calloc(1, sizeof *m);
    if (!m)
        return MG_ERR_NOMEM;
    m->capacity = simt->options.memory ? simt->options.memory : simt->arch->board->memory;
    /* Twice the addresses, so that gaps do not make memory smaller than promised. */
    m->reserved = round_up(2 * m->capacity + (64ull << 20), MG_WINDOW_SIZE);
    void *at = mmap(NULL, m->reserved + WINDOWS * MG_WINDOW_SIZE, PROT_NONE,
                    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (at == MAP_FAILED) {
        free(m);
        return MG_ERR_NOMEM;
    }
    m->base = at;
    m->in_large_pages = (uint64_t)sysconf(_SC_PHYS_PAGES) / 4 * (uint64_t)sysconf(_SC_PAGESIZE);
    m->file = -1;
    m->rover = round_up((uintptr_t)at, MG_GRANULE);
    uint64_t windows = round_up((uintptr_t)at + m->reserved, MG_WINDOW_SIZE);
    simt->shared_window = windows;
    simt->local_window = windows + (MG_MAX_CLUSTER + 1) * MG_WINDOW_SIZE;
    simt->param_window = simt->local_window + MG_WINDOW_SIZE;
    simt->func_window = simt->param_window + MG_WINDOW_SIZE;
    simt->memory = m;
    return MG_OK;
}

void mg__memory_destroy(struct mg_simt *simt)
{
    struct mg_memory *m = simt->memory;
    if (!m)
        return;
    munmap(m->base, m->reserved + WINDOWS * MG_WINDOW_SIZE);
    for (size_t i = 0; i < m->live.count; i++)
        free(m->live.at[i].pages);
    for (size_t i = 0; i < m->gone.count; i++)
        free(m->gone.at[i]);
    mg__vec_free(&m->gone);
    mg__vec_free(&m->live);
    mg__vec_free(&m->shared);
    if (m->file >= 0)
        close(m->file);
    free(m);
    simt->memory = NULL;
}

/* The first live block whose end lies behind `address`. */
static size_t first_after(const struct mg_memory *m, uint64_t address)
{
    size_t lo = 0, hi = m->live.count;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (m->live.at[mid].address + m->live.at[mid].size > address)
            hi = mid;
        else
            lo = mid + 1;
    }
    return lo;
}

/* The live one that holds the address; NULL: none does. */
static struct mg_block_of_memory *block_at(const struct mg_memory *m, uint64_t address)
{
    const size_t i = first_after(m, address);
    return i < m->live.count && m->live.at[i].address <= address ? &m->live.at[i] : NULL;
}

static enum mg_status insert(struct mg_memory *m, size_t at, struct mg_block_of_memory block)
{
    if (!mg__vec_push(&m->live, block))
        return MG_ERR_NOMEM;
    memmove(&m->live.at[at + 1], &m->live.at[at], (m->live.count - 1 - at) * sizeof block);
    m->changes++;
    m->live.at[at] = block;
    return MG_OK;
}

/* Room for `size` bytes in [from, to): its address, or 0. */
static uint64_t find_room(const struct mg_memory *m, uint64_t from, uint64_t to, uint64_t size, uint64_t align)
{
    uint64_t at = round_up(from, align);
    for (size_t i = first_after(m, from); at < to && size <= to - at; i++) {
        const struct mg_block_of_memory *b = i < m->live.count ? &m->live.at[i] : NULL;
        if (!b || at + size + MG_PAD <= b->address)
            return at;
        at = MG_MAX(at, round_up(b->address + b->size + MG_PAD, align));
    }
    return 0;
}

/* Room from the rover on, and then from the start; 0: there is none. */
static uint64_t find_place(const struct mg_memory *m, uint64_t size, uint64_t align)
{
    uint64_t begin = round_up((uintptr_t)m->base, MG_GRANULE);
    uint64_t end = (uintptr_t)m->base + m->reserved - 2 * MG_GRANULE;
    uint64_t at = find_room(m, m->rover, end, size, align);
    return at ? at : find_room(m, begin, end, size, align);
}

enum mg_status mg__memory_alloc_named(struct mg_simt *simt, uint64_t size, uint64_t align, const char *name,
                                      uint64_t *address)
{
    struct mg_memory *m = simt->memory;
    *address = 0;
    if (size == 0)
        size = 1;
    align = MG_MAX(align, 512);
    if (size > m->capacity)
        return MG_ERR_NOMEM;
    bool large = size > MG_GRANULE / 2;
    pthread_mutex_lock(&simt->lock);
    enum mg_status status = MG_ERR_NOMEM;
    if (m->used + size <= m->capacity) {
        uint64_t at = find_place(m, size, large ? MG_MAX(align, MG_GRANULE) : align);
        if (!at)
            at = find_place(m, size, align);
        uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
        uint64_t from = at / MG_GRANULE * MG_GRANULE, to = round_up(at + size, MG_GRANULE) + round_up(MG_PAD, page);
        if (at && mprotect((void *)(uintptr_t)from, to - from, PROT_READ | PROT_WRITE) == 0) {
            struct mg_block_of_memory block = {.address = at, .size = size, .name = name};
            if (large && m->used + size <= m->in_large_pages)
                madvise((void *)(uintptr_t)from, to - from, MADV_HUGEPAGE);
            status = insert(m, first_after(m, at), block);
            if (status == MG_OK) {
                m->used += size;
                m->rover = large ? round_up(at + size + MG_PAD, MG_GRANULE) : at + size + MG_PAD;
                *address = at;
            }
        }
    }
    pthread_mutex_unlock(&simt->lock);
    return status;
}

enum mg_status mg__mem_alloc(struct mg_simt *simt, uint64_t size, uint64_t align, uint64_t *address)
{
    return mg__memory_alloc_named(simt, size, align, NULL, address);
}

static enum mg_status remove_block(struct mg_simt *simt, uint64_t address, bool host)
{
    struct mg_memory *m = simt->memory;
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    pthread_mutex_lock(&simt->lock);
    size_t i = first_after(m, address);
    enum mg_status status = MG_ERR_INVALID;
    if (i < m->live.count && m->live.at[i].address == address && m->live.at[i].host == host) {
        uint64_t size = m->live.at[i].size;
        if (m->live.at[i].pages) /* without memory they are lost */
            (void)mg__vec_push(&m->gone, m->live.at[i].pages);
        m->live.count--;
        m->changes++;
        memmove(&m->live.at[i], &m->live.at[i + 1], (m->live.count - i) * sizeof m->live.at[0]);
        if (!host) {
            uint64_t from = round_up(address, page), to = (address + size) / page * page;
            if (to > from)
                madvise((void *)(uintptr_t)from, to - from, MADV_DONTNEED);
            m->used -= size;
        }
        status = MG_OK;
    }
    pthread_mutex_unlock(&simt->lock);
    return status;
}

enum mg_status mg__mem_free(struct mg_simt *simt, uint64_t address)
{
    return remove_block(simt, address, false);
}

/* ---- managed memory ---- */
enum mg_status mg__mem_managed(struct mg_simt *simt, uint64_t address)
{
    pthread_mutex_lock(&simt->lock);
    struct mg_block_of_memory *b = block_at(simt->memory, address);
    enum mg_status status = b && !b->host ? MG_OK : MG_ERR_INVALID;
    if (!status && !b->pages) {
        const uint64_t first = b->address / MG_PAGES_PIECE, n = (b->address + b->size - 1) / MG_PAGES_PIECE - first + 1;
        b->pages = calloc(1, sizeof(*b->pages) + n);
        status = b->pages ? MG_OK : MG_ERR_NOMEM;
        if (!status) {
            b->pages->first = first;
            b->pages->n = n;
            simt->memory->changes++;
            simt->memory->moves++;
        }
    }
    pthread_mutex_unlock(&simt->lock);
    return status;
}

uint64_t mg__mem_moves(const struct mg_simt *simt)
{
    return simt->memory->moves;
}

void mg__mem_move(struct mg_simt *simt, uint64_t address, uint64_t size, bool here)
{
    pthread_mutex_lock(&simt->lock);
    const struct mg_block_of_memory *b = block_at(simt->memory, address);
    struct mg_pages *p = b ? b->pages : NULL;
    if (size && p) {
        simt->memory->moves++;
        const uint64_t from = address / MG_PAGES_PIECE - p->first;
        const uint64_t end = MG_MIN((address + size - 1) / MG_PAGES_PIECE - p->first + 1, p->n);
        for (uint64_t k = from; k < end; k++)
            mg__pages_mark(p, k, here);
        p->here =
            here ? MG_MAX((uint64_t)p->here, (uint64_t)p->nknown) : MG_MIN((uint64_t)p->here, p->n - (end - from));
    }
    pthread_mutex_unlock(&simt->lock);
}

/* ---- pieces that other processes see ---- */
static bool is_shared(const struct mg_memory *m, uint64_t piece)
{
    for (size_t i = 0; i < m->shared.count; i++)
        if (m->shared.at[i] == piece)
            return true;
    return false;
}

/* Into the file, page by page as far as there is anything in it. */
static bool move_piece(struct mg_memory *m, uint64_t piece, uint64_t page)
{
    static const uint8_t nothing[4096];
    const uint64_t at = piece - (uintptr_t)m->base;
    bool good = mg__vec_push(&m->shared, piece);
    for (uint64_t k = 0; good && k < MG_GRANULE; k += page) {
        const uint8_t *from = (const uint8_t *)(uintptr_t)(piece + k);
        bool empty = true;
        for (uint64_t j = 0; empty && j < page; j += sizeof nothing)
            empty = !memcmp(from + j, nothing, sizeof nothing);
        good = empty || pwrite(m->file, from, page, (off_t)(at + k)) == (ssize_t)page;
    }
    if (good)
        good = mmap((void *)(uintptr_t)piece, MG_GRANULE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, m->file,
                    (off_t)at) != MAP_FAILED;
    else if (m->shared.count && m->shared.at[m->shared.count - 1] == piece)
        m->shared.count--;
    return good;
}

enum mg_status mg__mem_share(struct mg_simt *simt, uint64_t address, int *file, uint64_t *offset, uint64_t *end)
{
    struct mg_memory *m = simt->memory;
    const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    pthread_mutex_lock(&simt->lock);
    const struct mg_block_of_memory *b = block_at(m, address);
    enum mg_status status = b && !b->host ? MG_OK : MG_ERR_INVALID;
    if (!status && m->file < 0) {
        m->file = memfd_create("margay-memory", MFD_CLOEXEC);
        if (m->file < 0 || ftruncate(m->file, (off_t)(m->reserved + page)))
            status = MG_ERR_NOMEM;
        if (status && m->file >= 0)
            close(m->file);
        if (status)
            m->file = -1;
    }
    if (!status)
        for (uint64_t p = b->address / MG_GRANULE * MG_GRANULE; p < b->address + b->size && !status; p += MG_GRANULE)
            status = is_shared(m, p) || move_piece(m, p, page) ? MG_OK : MG_ERR_NOMEM;
    if (!status) {
        *file = m->file;
        *offset = b->address - (uintptr_t)m->base;
        *end = m->reserved;
    }
    pthread_mutex_unlock(&simt->lock);
    return status;
}

enum mg_status mg__mem_register_host(struct mg_simt *simt, void *host, uint64_t size)
{
    uint64_t address = (uintptr_t)host;
    if (!host || size == 0 || address + size < address)
        return MG_ERR_INVALID;
    pthread_mutex_lock(&simt->lock);
    struct mg_memory *m = simt->memory;
    size_t i = first_after(m, address);
    enum mg_status status = MG_ERR_INVALID; /* overlaps */
    if (i == m->live.count || address + size <= m->live.at[i].address)
        status = insert(m, i, (struct mg_block_of_memory){.address = address, .size = size, .host = true});
    pthread_mutex_unlock(&simt->lock);
    return status;
}

enum mg_status mg__mem_trust_host(struct mg_simt *simt)
{
    const uint64_t least = 1u << 16, most = 1ull << 47; /* no process has the first pages, or addresses from there on */
    const struct mg_memory *m = simt->memory;
    uint64_t base = (uintptr_t)m->base, end = base + m->reserved + WINDOWS * MG_WINDOW_SIZE;
    enum mg_status below = mg__mem_register_host(simt, (void *)(uintptr_t)least, base - least);
    return below ? below : mg__mem_register_host(simt, (void *)(uintptr_t)end, most - end);
}

enum mg_status mg__mem_unregister_host(struct mg_simt *simt, void *host)
{
    return remove_block(simt, (uintptr_t)host, true);
}

static struct mg_allocation describe(const struct mg_block_of_memory *b)
{
    return (struct mg_allocation){b->address, b->size, b->name, b->constant, b->host, b->pages};
}

void mg__memory_mark_constant(struct mg_simt *simt, uint64_t address)
{
    pthread_mutex_lock(&simt->lock);
    size_t i = first_after(simt->memory, address);
    if (i < simt->memory->live.count && simt->memory->live.at[i].address == address)
        simt->memory->live.at[i].constant = true;
    simt->memory->changes++;
    pthread_mutex_unlock(&simt->lock);
}

bool mg__mem_find(const struct mg_simt *simt, uint64_t address, struct mg_allocation *found)
{
    struct mg_simt *s = (struct mg_simt *)simt; /* the lock is the only thing written */
    pthread_mutex_lock(&s->lock);
    const struct mg_block_of_memory *b = block_at(s->memory, address);
    if (b)
        *found = describe(b);
    pthread_mutex_unlock(&s->lock);
    return b != NULL;
}

void mg__memory_range(const struct mg_simt *simt, uint64_t *base, uint64_t *size)
{
    *base = (uintptr_t)simt->memory->base;
    *size = simt->memory->reserved;
}

bool mg__mem_in_range(const struct mg_simt *simt, uint64_t address)
{
    return address - (uintptr_t)simt->memory->base < simt->memory->reserved;
}

void mg__mem_info(const struct mg_simt *simt, uint64_t *free_bytes, uint64_t *total_bytes)
{
    struct mg_simt *s = (struct mg_simt *)simt;
    pthread_mutex_lock(&s->lock);
    *total_bytes = s->memory->capacity;
    *free_bytes = s->memory->capacity - s->memory->used;
    pthread_mutex_unlock(&s->lock);
}

enum mg_status mg__mem_peer(struct mg_simt *simt, struct mg_simt *peer, bool may)
{
    struct mg_memory *m = simt->memory;
    size_t i = 0;
    pthread_mutex_lock(&simt->lock);
    while (i < m->npeers && m->peers[i] != peer)
        i++;
    bool is = i < m->npeers, full = m->npeers == MG_MAX_PEERS;
    if (may && !is && !full)
        m->peers[m->npeers++] = peer;
    else if (!may && is)
        m->peers[i] = m->peers[--m->npeers];
    m->changes += 1ull << 32; /* whatever the peers' own numbers are */
    pthread_mutex_unlock(&simt->lock);
    return may && !is && full ? MG_ERR_INVALID : MG_OK;
}

/* Appends what is live on `simt`; of a peer, what is its own. */
static bool add_live(struct mg_simt *simt, bool own, struct mg_allocation **list, size_t *count)
{
    const struct mg_memory *m = simt->memory;
    pthread_mutex_lock(&simt->lock);
    struct mg_allocation *grown = realloc(*list, MG_MAX(*count + m->live.count, 1) * sizeof **list);
    for (size_t i = 0; grown && i < m->live.count; i++)
        if (own || !m->live.at[i].host)
            grown[(*count)++] = describe(&m->live.at[i]);
    pthread_mutex_unlock(&simt->lock);
    *list = grown ? grown : *list;
    return grown;
}

static int by_address(const void *a, const void *b)
{
    const struct mg_allocation *x = a, *y = b;
    return x->address < y->address ? -1 : x->address > y->address;
}

enum mg_status mg__memory_snapshot(struct mg_simt *simt, struct mg_allocation **list, size_t *count)
{
    *list = NULL;
    *count = 0;
    bool good = add_live(simt, true, list, count);
    struct mg_simt *peers[MG_MAX_PEERS];
    pthread_mutex_lock(&simt->lock);
    size_t npeers = simt->memory->npeers;
    memcpy(peers, simt->memory->peers, sizeof peers);
    pthread_mutex_unlock(&simt->lock);
    for (size_t i = 0; good && i < npeers; i++)
        good = add_live(peers[i], false, list, count);
    if (npeers && good && *count) {
        size_t kept = 1;
        qsort(*list, *count, sizeof **list, by_address);
        for (size_t i = 1; i < *count; i++) /* managed memory is registered here, and the peer's own */
            if ((*list)[i].address != (*list)[kept - 1].address)
                (*list)[kept++] = (*list)[i];
        *count = kept;
    }
    return good ? MG_OK : MG_ERR_NOMEM;
}

/* All of them only grow, and more than any of them ever will when the peers become others. */
uint64_t mg__memory_changes(struct mg_simt *simt)
{
    pthread_mutex_lock(&simt->lock);
    const struct mg_memory *m = simt->memory;
    struct mg_simt *peers[MG_MAX_PEERS];
    size_t npeers = m->npeers;
    uint64_t changes = m->changes;
    memcpy(peers, m->peers, npeers * sizeof(struct mg_simt *));
    pthread_mutex_unlock(&simt->lock);
    for (size_t i = 0; i < npeers; i++) {
        pthread_mutex_lock(&peers[i]->lock);
        changes += peers[i]->memory->changes;
        pthread_mutex_unlock(&peers[i]->lock);
    }
    return changes;
}

const struct mg_allocation *mg__snapshot_find(const struct mg_run *run, uint64_t address)
{
    size_t lo = 0, hi = run->nallocations;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        const struct mg_allocation *a = &run->allocations[mid];
        if (address - a->address < a->size)
            return a;
        if (address < a->address)
            hi = mid;
        else
            lo = mid + 1;
    }
    return NULL;
}

void mg__snapshot_around(const struct mg_run *run, uint64_t address, struct mg_outside *outside)
{
    size_t lo = 0, hi = run->nallocations;
    while (lo < hi) { /* the first that begins beyond the address */
        size_t mid = lo + (hi - lo) / 2;
        if (run->allocations[mid].address <= address)
            lo = mid + 1;
        else
            hi = mid;
    }
    const struct mg_allocation *before = lo ? &run->allocations[lo - 1] : NULL;
    const struct mg_allocation *after = lo < run->nallocations ? &run->allocations[lo] : NULL;
    *outside = (struct mg_outside){.before = before, .after = after};
    uint64_t from = before ? before->address + before->size : 0, to = after ? after->address : UINT64_MAX;
    uint64_t until = before ? round_up(from, before->host ? MG_HOST_GRANULE : MG_GRANULE) : 0;
    uint64_t since = after ? to & ~((after->host ? MG_HOST_GRANULE : (uint64_t)MG_GRANULE) - 1) : UINT64_MAX;
    outside->lo = from;
    outside->hi = to;
    if (address < until)
        outside->hi = MG_MIN(since <= until ? to : until, to);
    if (address >= since)
        outside->lo = MG_MAX(since <= until ? from : since, from);
    outside->mapped = address < until || address >= since;
}

/* ---- the heap of device-side malloc: first fit over a list of blocks inside one allocation ---- */
struct mg_heap_block {
    uint64_t at, size;
    bool taken;
};
struct mg_heap {
    MG_VEC(struct mg_heap_block) blocks; /* by address, without gaps */
    size_t full;                         /* that many at the start are taken */
};

/* Behind each piece, where somebody looks at every access: what runs over its end is not in the next one. */
static uint64_t gap(const struct mg_simt *simt)
{
    unsigned wants = 0;
    for (unsigned i = 0; i < simt->nobservers; i++)
        wants |= simt->observers[i].wants;
    return wants & MG_OBSERVE_SYNC ? 32 : 0;
}

uint64_t mg__heap_alloc(struct mg_simt *simt, uint64_t size)
{
    struct mg_heap *h = simt->heap_state;
    uint64_t result = 0;
    if (!h || size == 0 || size > simt->heap_size)
        return 0;
    size = round_up(size, 16) + gap(simt);
    pthread_mutex_lock(&simt->lock);
    if (h->blocks.count == 0)
        (void)mg__vec_push(&h->blocks, ((struct mg_heap_block){simt->heap, simt->heap_size, false}));
    while (h->full < h->blocks.count && h->blocks.at[h->full].taken)
        h->full++;
    for (size_t i = h->full; i < h->blocks.count; i++) {
        struct mg_heap_block *b = &h->blocks.at[i];
        if (b->taken || b->size < size)
            continue;
        struct mg_heap_block rest = {b->at + size, b->size - size, false};
        if (rest.size) {
            if (!mg__vec_push(&h->blocks, rest))
                break;
            memmove(&h->blocks.at[i + 2], &h->blocks.at[i + 1], (h->blocks.count - i - 2) * sizeof rest);
            h->blocks.at[i + 1] = rest;
        }
        h->blocks.at[i].size = size;
        h->blocks.at[i].taken = true;
        result = h->blocks.at[i].at;
        break;
    }
    pthread_mutex_unlock(&simt->lock);
    return result;
}

/* Block `i` takes in the one after it. */
static void join_next(struct mg_heap *h, size_t i)
{
    h->blocks.at[i].size += h->blocks.at[i + 1].size;
    h->blocks.count--;
    memmove(&h->blocks.at[i + 1], &h->blocks.at[i + 2], (h->blocks.count - i - 1) * sizeof h->blocks.at[0]);
}

void mg__heap_free(struct mg_simt *simt, uint64_t address)
{
    struct mg_heap *h = simt->heap_state;
    if (!h)
        return;
    pthread_mutex_lock(&simt->lock);
    size_t i = 0, end = h->blocks.count;
    while (i < end) { /* the first that does not begin before the address */
        size_t mid = i + (end - i) / 2;
        if (h->blocks.at[mid].at < address)
            i = mid + 1;
        else
            end = mid;
    }
    if (i < h->blocks.count && h->blocks.at[i].at == address && h->blocks.at[i].taken) {
        h->blocks.at[i].taken = false;
        if (i + 1 < h->blocks.count && !h->blocks.at[i + 1].taken)
            join_next(h, i);
        if (i > 0 && !h->blocks.at[i - 1].taken)
            join_next(h, --i);
        h->full = MG_MIN(h->full, i);
    }
    pthread_mutex_unlock(&simt->lock);
}

enum mg_status mg__heap_create(struct mg_simt *simt)
{
    if (simt->heap_state)
        return MG_OK;
    struct mg_heap *h = calloc(1, sizeof *h);
    if (!h)
        return MG_ERR_NOMEM;
    simt->heap_size = simt->heap_size ? simt->heap_size : 8u << 20; /* cudaLimitMallocHeapSize's default */
    enum mg_status status = mg__memory_alloc_named(simt, simt->heap_size, 512, "(device heap)", &simt->heap);
    if (status != MG_OK) {
        free(h);
        return status;
    }
    simt->heap_state = h;
    return MG_OK;
}

void mg__heap_destroy(struct mg_simt *simt)
{
    if (!simt->heap_state)
        return;
    mg__mem_free(simt, simt->heap);
    mg__vec_free(&simt->heap_state->blocks);
    free(simt->heap_state);
    simt->heap_state = NULL;
}
