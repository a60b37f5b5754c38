/* bulk.c - bulk copies, and stores that tell an mbarrier: asynchronous, in flight until somebody waits for them.
 *
 * What is asked for is looked at at once (addresses, sizes, tensor maps), and lies in a list of the cluster then. It is
 * done, reading its source only now,
 *
 *   - when its mbarrier is tried, by whomever, or its thread waits for its group: who reads before he waits reads old
 *     bytes, and a source that is changed too early is copied as changed;
 *   - at the latest when its block's round after next begins, or the block ends: what nobody waits for comes, too.
 *
 * Of a cluster that a fault ends observers are told what was in flight, for others may have used it already.
 *
 * All of it belongs to one worker, so that what happens is the same in every run. cp.async, which is not bulk, is done
 * at once (sync.c).
 */
#include "simt/engine_priv.h"
#include "simt/tensormap.h"

struct flight {
    struct mg_warp *warp;     /* whose it is */
    struct mg_op op;          /* itself: where steps are followed handlers get a copy that does not last */
    struct mg_block *to, *of; /* whose shared memory is written; whose mbarrier is told, NULL: none */
    uint8_t *word;            /* the mbarrier */
    uint8_t *dst;
    const uint8_t *src;
    uint32_t bytes, lane, group, number;
    bool round_over; /* a round has ended since */
    struct mg_tensormap map;
    int32_t at[MG_TENSORMAP_DIMS];
    uint16_t offsets[MG_TENSORMAP_DIMS - 2];
    uint64_t value[4];
};
struct mg_flights {
    MG_VEC(struct flight) list;
    uint32_t made;
};

enum { TO, FROM, WORD, SIZE, MASK, REST }; /* an op's sources, in its row's order */

static uint64_t source(const struct mg_warp *w, const struct mg_op *op, unsigned n, unsigned lane)
{
    const struct mg_engine_operand *o = &op->is->of[op->is->nout + n];
    return o->bytes == 8 ? mg__lane64(w, o->slot, lane) : mg__lane32(w, o->slot, lane);
}

static bool has(const struct mg_op *op, unsigned n)
{
    return n < op->is->nin && op->is->of[op->is->nout + n].slot >= 0;
}

static uint64_t address_of(const struct mg_warp *w, const struct mg_mem *mem, unsigned lane)
{
    uint64_t address[32];
    mg__address(w, mem, address);
    return address[lane];
}

/* ---- what observers are told ---- */
/* `other`: the byte of shared memory on its other side. Of lanes but that which asks nothing is said. */
static void tell_rows(const struct flight *f, enum mg_access_kind kind, const struct mg_block *of, const uint8_t *at,
                      uint64_t other, const struct mg_tensor_piece *p)
{
    struct mg_worker *worker = f->warp->worker;
    if (!worker->run->want_bulk || !p->bytes)
        return;
    uint64_t address[32];
    uint8_t *where[32];
    const struct mg_mem mem = {.kind = (uint8_t)kind, .width = 4, .vec = 1};
    struct mg_access *e =
        mg__access_begin(worker, f->op.insn, &mem, of ? MG_SPACE_SHARED : MG_SPACE_GLOBAL, 1u << f->lane, -1);
    address[f->lane] = of ? (uint64_t)(at - of->shared) : (uint64_t)(uintptr_t)at;
    where[f->lane] = (uint8_t *)(uintptr_t)at;
    e->width = p->bytes;
    e->lines = p->rows;
    e->apart = p->apart;
    e->pitch = p->pitch;
    e->block = f->warp->block->linear;
    e->target = of ? of->linear : e->block;
    e->warp = f->warp->index;
    e->address = address;
    e->where = where;
    e->copy = f->number;
    e->swizzle = f->op.u.bulk->tensor && f->map.rank > 1 && !f->map.interleave ? (uint8_t)(1 + f->map.swizzle) : 0;
    e->base = other;
    mg__access_event(worker, e, MG_OBSERVE_BULK);
}

static void tell_access(const struct flight *f, enum mg_access_kind kind, const struct mg_block *of, const uint8_t *at,
                        uint32_t bytes, uint64_t other)
{
    tell_rows(f, kind, of, at, other, &(struct mg_tensor_piece){.bytes = bytes, .rows = 1});
}

static void tell(struct mg_warp *w, const struct mg_op *op, enum mg_sync_kind kind, uint32_t mask,
                 const struct flight *f)
{
    if (!mg__wants_sync(w))
        return;
    struct mg_sync *e = mg__sync_event(w, op, kind, mask);
    e->count = f ? f->number : 0;
    e->arrive = f && f->of;
    if (e->arrive) {
        e->target = f->of->linear;
        e->address = (uint64_t)(f->word - f->of->shared);
    }
    mg__sync_emit(w->worker);
}

static void tell_count(struct mg_warp *w, const struct mg_op *op, enum mg_sync_kind kind, uint32_t mask, uint32_t count)
{
    if (!mg__wants_sync(w))
        return;
    mg__sync_event(w, op, kind, mask)->count = count;
    mg__sync_emit(w->worker);
}

/* ---- landing ---- */
#define SOON 8 /* rows */

struct tile {
    const struct flight *f;
    const struct mg_mem *how; /* a reduction, or NULL */
    uint64_t shared;          /* the tile's address in its block */
    uint8_t *base;            /* that block's shared memory */
    bool loads;
};

/* What an H200 fills in, of whatever size elements are. */
static void fill(const struct mg_tensormap *m, uint8_t *at, uint32_t offset)
{
    static const uint8_t nan[2] = {0xf7, 0x7f};
    *at = m->nan ? nan[offset % 2] : 0;
}

/* Whole pieces of 16 bytes, which is all there is as a rule. Those of a line of 128 bytes all go as its first one. */
static void move_sixteens(const struct tile *t, uint8_t *restrict global, uint64_t shared, uint32_t bytes)
{
    const unsigned swizzle = t->f->map.swizzle;
    uint8_t *restrict base = t->base;
    const bool loads = t->loads;
    for (uint32_t k = 0; k < bytes;) {
        const uint64_t at = shared + k, places = mg__tensormap_swizzle(swizzle, at) ^ at;
        const uint32_t line = MG_MIN(bytes - k, 128u - (uint32_t)(at & 127));
        uint8_t *restrict here = base + (at & ~127ull);
        if (loads)
            for (uint32_t b = 0, i = at & 127; b < line; b += 16)
                memcpy(here + ((i + b) ^ places), global + k + b, 16);
        else
            for (uint32_t b = 0, i = at & 127; b < line; b += 16)
                memcpy(global + k + b, here + ((i + b) ^ places), 16);
        k += line;
    }
}

static void move_row(const struct tile *t, uint8_t *global, uint32_t offset, uint32_t bytes)
{
    const struct mg_tensormap *m = &t->f->map;
    for (uint32_t k = 0; k < bytes;) { /* 16 bytes stay together */
        uint64_t at = t->shared + offset + k;
        uint32_t n = MG_MIN(bytes - k, 16u - (uint32_t)(at & 15));
        uint8_t *here = t->base + mg__tensormap_swizzle(m->swizzle, at);
        if (t->loads && global)
            memcpy(here, global + k, n);
        else if (t->loads)
            for (uint32_t b = 0; b < n; b++)
                fill(m, here + b, offset + k + b);
        else if (global && t->how)
            for (uint32_t b = 0; b < n; b += t->how->width)
                mg__atomic_one(t->how, global + k + b, here + b, t->f->warp->worker->run->serial);
        else if (global)
            memcpy(global + k, here, n);
        k += n;
    }
}

static bool move_piece(void *arg, const struct mg_tensor_piece *p)
{
    const struct tile *t = arg;
    const bool sixteens =
        p->global && !t->how && (t->shared + p->offset) % 16 == 0 && p->pitch % 16 == 0 && p->bytes % 16 == 0;
    uint8_t *global = (uint8_t *)(uintptr_t)p->global;
    uint32_t offset = p->offset;
    for (uint32_t r = 0; r < p->rows; r++, offset += p->pitch, global += p->global ? p->apart : 0) {
        const uint8_t *soon =
            global + SOON * p->apart; /* rows lie apart: the processor does not expect the next ones */
        for (uint32_t k = 0; sixteens && k < p->bytes; k += 64)
            t->loads ? __builtin_prefetch(soon + k, 0) : __builtin_prefetch(soon + k, 1);
        if (sixteens)
            move_sixteens(t, global, t->shared + offset, p->bytes);
        else
            move_row(t, global, offset, p->bytes);
    }
    return true;
}

/* A reduction of the map's elements. False: there is none of that type. */
static bool reduction_of(const struct mg_bulk *b, const struct mg_tensormap *map, struct mg_mem *how)
{
    static const uint8_t types[MG_TENSOR_TYPES] = {
        [MG_TENSOR_U32] = MG_T_U32, [MG_TENSOR_S32] = MG_T_S32,  [MG_TENSOR_U64] = MG_T_U64,
        [MG_TENSOR_S64] = MG_T_S64, [MG_TENSOR_F16] = MG_T_F16,  [MG_TENSOR_F32] = MG_T_F32,
        [MG_TENSOR_F64] = MG_T_F64, [MG_TENSOR_BF16] = MG_T_BF16};
    const bool bits = b->to->atomop <= MG_ATOM_XOR;
    *how = (struct mg_mem){.atomop = b->to->atomop, .type = types[map->type]};
    how->width = (uint8_t)mg__tensormap_size(map->type);
    if (bits && (how->type == MG_T_U32 || how->type == MG_T_S32))
        how->type = MG_T_B32;
    if (bits && (how->type == MG_T_U64 || how->type == MG_T_S64))
        how->type = MG_T_B64;
    return mg__atomic_known(how);
}

static void land(const struct flight *f)
{
    const struct mg_bulk *b = f->op.u.bulk;
    const bool own = f->to || f->warp->worker->run->serial;
    struct mg_mem how;
    if (b->tensor) {
        struct tile t = {f, b->reduces && reduction_of(b, &f->map, &how) ? &how : NULL, 0, NULL, f->to != NULL};
        t.base = f->to ? f->to->shared : f->warp->block->shared;
        t.shared = (uint64_t)((f->to ? f->dst : f->src) - t.base);
        mg__tensormap_walk(&f->map, f->at, f->offsets, move_piece, &t);
    } else if (b->reduces) {
        const uint8_t *from = b->from ? f->src : (const uint8_t *)f->value;
        for (uint32_t k = 0; k < f->bytes; k += b->to->width)
            mg__atomic_one(b->to, f->dst + k, from + k, own);
    } else if (b->from) {
        memmove(f->dst, f->src, f->bytes);
    } else {
        memcpy(f->dst, f->value, f->bytes);
    }
}

/* Bytes of shared memory from the first to the last: rows of a tile may lie apart. */
static uint32_t room_of(const struct flight *f)
{
    return f->op.u.bulk->tensor ? (uint32_t)mg__tensormap_room(&f->map) : f->bytes;
}

static bool tell_piece(void *arg, const struct mg_tensor_piece *p)
{
    const struct flight *f = arg;
    if (p->global)
        tell_rows(f, f->to ? MG_ACCESS_BULK_LD : MG_ACCESS_BULK_ST, NULL, (uint8_t *)(uintptr_t)p->global,
                  (uint64_t)(f->to ? f->dst - f->to->shared : f->src - f->warp->block->shared) + p->offset, p);
    return true;
}

static void tell_sides(struct flight *f)
{
    const struct mg_bulk *b = f->op.u.bulk;
    const struct mg_block *own = f->warp->block;
    if (!own->run->want_bulk)
        return;
    if (b->tensor)
        mg__tensormap_walk(&f->map, f->at, f->offsets, tell_piece, f);
    if (f->src)
        tell_access(f, MG_ACCESS_BULK_LD, b->from_shared ? own : NULL, f->src, f->bytes,
                    f->to ? (uint64_t)(f->dst - f->to->shared) : 0);
    if (f->dst)
        tell_access(f, MG_ACCESS_BULK_ST, f->to, f->dst, room_of(f),
                    b->from_shared && f->src ? (uint64_t)(f->src - own->shared) : 0);
}

/* Those that `which` names are done, in the order in which they were asked for. False: a fault. */
typedef bool (*chosen)(const struct flight *f, const void *arg);
static bool land_all(struct mg_cluster *c, chosen which, const void *arg)
{
    struct mg_flights *all = c->flights;
    size_t kept = 0;
    bool good = true;
    for (size_t i = 0; all && i < all->list.count; i++) {
        struct flight *f = &all->list.at[i];
        if (!which(f, arg)) {
            all->list.at[kept++] = *f;
            continue;
        }
        tell_sides(f);
        land(f);
        tell(f->warp, &f->op, MG_SYNC_BULK_LANDED, 1u << f->lane, f);
        good &= !f->of || mg__mbarrier_complete(f->warp, &f->op, f->lane, f->of, f->word, f->bytes);
    }
    if (all)
        all->list.count = kept;
    return good;
}

static bool at_word(const struct flight *f, const void *word)
{
    return f->word == word;
}

bool mg__bulk_tried(struct mg_cluster *c, const uint8_t *word)
{
    return !c->flights || !c->flights->list.count || land_all(c, at_word, word);
}

static bool was_late(const struct flight *f, const void *block)
{
    return f->round_over && f->warp->block == block;
}

static bool of_block(const struct flight *f, const void *block)
{
    return f->warp->block == block;
}

bool mg__bulk_round(struct mg_block *b)
{
    struct mg_flights *all = b->cluster->flights;
    if (!all || !all->list.count)
        return true;
    bool good = land_all(b->cluster, b->live_warps ? was_late : of_block, b);
    for (size_t i = 0; i < all->list.count; i++)
        all->list.at[i].round_over |= all->list.at[i].warp->block == b;
    return good;
}

void mg__bulk_lost(struct mg_cluster *c)
{
    for (size_t i = 0; c->flights && i < c->flights->list.count; i++)
        tell_sides(&c->flights->list.at[i]);
    mg__bulk_forget(c);
}

void mg__bulk_forget(struct mg_cluster *c)
{
    if (c->flights)
        c->flights->list.count = 0;
}

void mg__bulk_free(struct mg_cluster *c)
{
    if (c->flights)
        mg__vec_free(&c->flights->list);
    free(c->flights);
}

/* ---- asking ---- */
static void tell_refused(struct mg_warp *w, const struct mg_op *op, unsigned lane, const char *text)
{
    if (!mg__wants_sync(w))
        return;
    mg__sync_event(w, op, MG_SYNC_BULK_REFUSED, 1u << lane)->text = text;
    mg__sync_emit(w->worker);
}

/* `text`: the same for observers, without numbers that differ from run to run. */
static bool refuse(struct mg_warp *w, const struct mg_op *op, unsigned lane, enum mg_status status, const char *text,
                   const char *what, uint64_t number)
{
    tell_refused(w, op, lane, text);
    mg__fault(w, op, lane, status, what, (unsigned long long)number);
    mg__fault_hint(w, "Bulk copies take addresses and sizes that are multiples of 16 bytes (PTX ISA, cp.async.bulk).");
    return false;
}

/* `bytes` of device memory. */
static uint8_t *global_at(struct mg_warp *w, const struct mg_op *op, unsigned lane, uint64_t address, uint32_t bytes)
{
    const struct mg_allocation *a = mg__snapshot_find(w->worker->run, address);
    uint64_t lo, hi;
    if (a && address + bytes <= a->address + a->size)
        return (uint8_t *)(uintptr_t)address;
    return mg__access_outside(w, op, lane, address, bytes, &lo, &hi);
}

static bool shared_at(struct mg_warp *w, const struct mg_op *op, const struct mg_mem *mem, unsigned lane,
                      uint32_t bytes, struct mg_block **of, uint8_t **where)
{
    return (*of = mg__cluster_at(w, op, mem, lane, address_of(w, mem, lane), bytes, where)) != NULL;
}

/* Of im2col: a tile begins at a pixel between the corners, and a store in the tensor. An H200 says: an illegal
 * instruction. */
static bool begins_outside(const struct mg_bulk *b, const struct flight *f, unsigned *dim)
{
    const unsigned first = mg__tensormap_spatial(&f->map);
    for (*dim = first; b->im2col && *dim + 2 < b->dims + first; ++*dim) {
        const int64_t at = f->at[*dim], least = f->map.lower[*dim - first];
        if (at < (b->to_shared ? least : MG_MAX(least, 0)) ||
            at > (int64_t)f->map.last[*dim] + f->map.upper[*dim - first])
            return true;
    }
    return false;
}

static bool take_map(struct mg_warp *w, const struct mg_op *op, unsigned lane, struct flight *f)
{
    const struct mg_bulk *b = op->u.bulk;
    const struct mg_mem *mem = b->map;
    const struct mg_run *run = w->worker->run;
    uint64_t address = address_of(w, mem, lane), param = address - run->simt->param_window;
    const uint8_t *at;
    if (mem->space == MG_SPACE_GENERIC && param < MG_WINDOW_SIZE)
        at = param + sizeof f->map <= run->param_size ? run->params + param : NULL;
    else
        at = global_at(w, op, lane, address, sizeof f->map);
    if (!at)
        return w->stop == MG_STOP_FAULT
                   ? false
                   : refuse(w, op, lane, MG_ERR_ADDRESS, "there is no tensor map", "no tensor map at 0x%llx", address);
    memcpy(&f->map, at, sizeof f->map);
    const char *wrong = f->map.magic != MG_TENSORMAP_MAGIC ? "the map was not made by cuTensorMapEncodeTiled or …Im2col"
                        : f->map.rank != b->dims           ? "the map has another number of dimensions"
                        : f->map.im2col != b->im2col       ? "the map is for the other mode, tile or im2col"
                        : address % 64                     ? "the map's address must be a multiple of 64"
                                                           : mg__tensormap_wrong(&f->map);
    if (wrong) {
        tell_refused(w, op, lane, wrong);
        mg__fault(w, op, lane, MG_ERR_TRAP, "tensor map at 0x%llx: %s", (unsigned long long)address, wrong);
        mg__fault_hint(w, "Make it on the host and pass it as a const __grid_constant__ CUtensorMap.");
        return false;
    }
    struct mg_mem how;
    if (b->reduces && !reduction_of(b, &f->map, &how))
        return refuse(w, op, lane, MG_ERR_TRAP, "the tensor map's type of elements has no such reduction",
                      "the tensor map's type of elements (%llu) has no such reduction", f->map.type);
    for (unsigned d = 0; d < b->dims; d++)
        f->at[d] = (int32_t)source(w, op, REST + d, lane);
    for (unsigned d = 0; b->im2col && has(op, REST + b->dims + d) && d < MG_COUNT(f->offsets); d++)
        f->offsets[d] = (uint16_t)source(w, op, REST + b->dims + d, lane);
    if (!f->map.interleave &&
        (int64_t)f->at[0] * mg__tensormap_size(f->map.type) % 16) { /* an H200 says: an illegal instruction */
        tell_refused(w, op, lane, "the tile does not begin at a multiple of 16 bytes of the tensor's rows");
        mg__fault(w, op, lane, MG_ERR_TRAP,
                  "the tile begins at element %d of the tensor's rows, %lld bytes from their start", f->at[0],
                  (long long)f->at[0] * mg__tensormap_size(f->map.type));
        mg__fault_hint(w, "That must be a multiple of 16 bytes.");
        return false;
    }
    unsigned dim;
    if (begins_outside(b, f, &dim)) {
        tell_refused(w, op, lane, "the tile begins outside of the map's corners");
        mg__fault(w, op, lane, MG_ERR_TRAP, "the tile begins at pixel %d of dimension %u, outside of the map's corners",
                  f->at[dim], dim);
        mg__fault_hint(w, "It must begin between the lower corner and the tensor's end plus the upper one.");
        return false;
    }
    f->bytes = (uint32_t)mg__tensormap_tile(&f->map);
    return true;
}

struct reaching { /* the tensor's memory, before any of it is touched */
    struct mg_warp *w;
    const struct mg_op *op;
    unsigned lane;
};
static bool reach_piece(void *arg, const struct mg_tensor_piece *p)
{
    const struct reaching *r = arg;
    const struct mg_allocation *a = p->global ? mg__snapshot_find(r->w->worker->run, p->global) : NULL;
    const uint64_t end = p->global + (p->rows - 1) * p->apart + p->bytes;
    const bool good = !p->global || (a && p->apart < UINT32_MAX && end <= a->address + a->size);
    for (uint32_t k = 0; k < p->rows && !good; k++) /* not all in one allocation: which row is not in any? */
        if (!global_at(r->w, r->op, r->lane, p->global + k * p->apart, p->bytes))
            return false;
    return true;
}

/* The two sides, for one block that gets it. */
static bool sides(struct mg_warp *w, const struct mg_op *op, unsigned lane, struct flight *f)
{
    const struct mg_bulk *b = op->u.bulk;
    struct mg_block *from;
    if (b->tensor) {
        struct reaching r = {w, op, lane};
        if (!take_map(w, op, lane, f) || !mg__tensormap_walk(&f->map, f->at, f->offsets, reach_piece, &r))
            return false;
    }
    if (b->to_shared) {
        if (!shared_at(w, op, b->to, lane, room_of(f), &f->to, &f->dst))
            return false;
    } else if (!b->tensor && !(f->dst = global_at(w, op, lane, address_of(w, b->to, lane), f->bytes))) {
        return false;
    }
    if (b->from_shared) {
        uint8_t *src;
        if (!shared_at(w, op, b->from, lane, room_of(f), &from, &src))
            return false;
        f->src = src;
    } else if (b->from && !(f->src = global_at(w, op, lane, address_of(w, b->from, lane), f->bytes))) {
        return false;
    }
    if (!b->word)
        return true;
    if (!shared_at(w, op, b->word, lane, 8, &f->of, &f->word))
        return false;
    return (f->word - f->of->shared) % 8 == 0 ||
           refuse(w, op, lane, MG_ERR_MISALIGNED, "the mbarrier's address is not a multiple of 8",
                  "the mbarrier's address 0x%llx is not a multiple of 8", (uint64_t)(f->word - f->of->shared));
}

static bool aligned(struct mg_warp *w, const struct mg_op *op, unsigned lane, const struct flight *f)
{
    const struct mg_bulk *b = op->u.bulk;
    uint32_t unit = b->nvalues ? f->bytes : b->tensor ? 128 : 16;
    uint64_t to = b->to_shared ? (uint64_t)(f->dst - f->to->shared) : (uint64_t)(uintptr_t)f->dst;
    if ((b->to_shared || !b->tensor) && to % unit)
        return refuse(w, op, lane, MG_ERR_MISALIGNED,
                      b->tensor    ? "the tile's shared address is not a multiple of 128"
                      : b->nvalues ? "its address is not a multiple of the store's size"
                                   : "its destination is not a multiple of 16",
                      b->tensor    ? "the tile's shared address 0x%llx is not a multiple of 128"
                      : b->nvalues ? "address 0x%llx is not a multiple of the store's size"
                                   : "destination 0x%llx is not a multiple of 16",
                      to);
    uint64_t from = b->from_shared ? (uint64_t)(f->src - w->block->shared) : (uint64_t)(uintptr_t)f->src;
    if (f->src && from % (b->tensor ? unit : 16))
        return refuse(w, op, lane, MG_ERR_MISALIGNED,
                      b->tensor ? "the tile's shared address is not a multiple of 128"
                                : "its source is not a multiple of 16",
                      "source 0x%llx is not aligned", from);
    if (f->bytes % 16 && !b->nvalues && !b->tensor)
        return refuse(w, op, lane, MG_ERR_TRAP, "its size is not a multiple of 16",
                      "a size of %llu bytes is not a multiple of 16", f->bytes);
    return true;
}

static bool push(struct mg_warp *w, const struct mg_op *op, unsigned lane, struct flight *f)
{
    struct mg_cluster *c = w->block->cluster;
    if (!c->flights)
        c->flights = calloc(1, sizeof *c->flights);
    if (c->flights) {
        f->number = ++c->flights->made;
        tell(w, op, MG_SYNC_BULK, 1u << lane, f);
        if (mg__vec_push(&c->flights->list, *f))
            return true;
    }
    mg__fault(w, op, lane, MG_ERR_NOMEM, "no host memory for an asynchronous copy");
    return false;
}

/* To each block of the mask the same offsets, in its own shared memory. */
static bool multicast(struct mg_warp *w, const struct mg_op *op, unsigned lane, const struct flight *f)
{
    uint32_t mask = (uint32_t)source(w, op, MASK, lane) & 0xffff, size = w->block->run->cluster_size;
    if (mask >> size)
        return refuse(w, op, lane, MG_ERR_TRAP, "a multicast to blocks that the cluster has not",
                      "multicast to blocks 0x%llx, which the cluster has not", mask);
    for (; mask; mask &= mask - 1) {
        struct flight one = *f;
        struct mg_block *to = &w->block->cluster->blocks[__builtin_ctz(mask)];
        one.to = one.of = to;
        one.dst = to->shared + (f->dst - f->to->shared);
        one.word = to->shared + (f->word - f->of->shared);
        if (!push(w, op, lane, &one))
            return false;
    }
    return true;
}

/* st.async and red.async, as one access of the warp. */
static void tell_sent(struct mg_warp *w, const struct mg_op *op, uint32_t mask)
{
    const struct mg_mem *to = op->u.bulk->to;
    const unsigned bytes = op->u.bulk->nvalues * to->width;
    if (!w->worker->run->want_far)
        return;
    uint64_t address[32], at[32];
    uint32_t blocks = 0;
    uint8_t *where;
    mg__address(w, to, address);
    for (uint32_t m = mask; m; m &= m - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(m);
        const struct mg_block *of = mg__cluster_at(w, op, to, lane, address[lane], bytes, &where);
        at[lane] = of->rank * MG_WINDOW_SIZE + (uint64_t)(where - of->shared);
        blocks |= 1u << of->rank;
    }
    mg__access_far(w, op, to, bytes, mask, (unsigned)__builtin_popcount(blocks), at);
}

MG_HANDLER(mg__op_bulk)
{
    const struct mg_bulk *b = op->u.bulk;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        unsigned lane = (unsigned)__builtin_ctz(rest);
        struct flight f = {.warp = w, .op = *op, .lane = lane};
        if (has(op, SIZE))
            f.bytes = (uint32_t)source(w, op, SIZE, lane);
        if (b->nvalues)
            f.bytes = (uint32_t)b->nvalues * b->to->width;
        for (unsigned k = 0; k < b->nvalues; k++) {
            uint64_t value = source(w, op, REST + k, lane);
            memcpy((uint8_t *)f.value + (size_t)k * b->to->width, &value, b->to->width);
        }
        if (!sides(w, op, lane, &f) || !aligned(w, op, lane, &f) ||
            !(b->multicast ? multicast(w, op, lane, &f) : push(w, op, lane, &f)))
            return NULL;
    }
    if (b->nvalues)
        tell_sent(w, op, mask);
    return op + 1;
}

/* ---- groups: numbered from the latest back; 0 is the one that is being made ---- */
struct waiting {
    const struct mg_warp *warp;
    uint32_t mask, pending;
};

static bool of_groups(const struct flight *f, const void *arg)
{
    const struct waiting *a = arg;
    return f->warp == a->warp && a->mask >> f->lane & 1 && !f->word && f->group > a->pending;
}

MG_HANDLER(mg__op_bulk_group)
{
    struct mg_flights *all = w->block->cluster->flights;
    if (op->mode == MG_SUB_COMMIT_GROUP) {
        for (size_t i = 0; all && i < all->list.count; i++)
            if (all->list.at[i].warp == w && mask >> all->list.at[i].lane & 1 && !all->list.at[i].word)
                all->list.at[i].group++;
        tell_count(w, op, MG_SYNC_BULK_COMMIT, mask, 0);
        return op + 1;
    }
    struct waiting a = {w, mask, (uint32_t)op->u.imm};
    if (!land_all(w->block->cluster, of_groups, &a))
        return NULL;
    tell_count(w, op, MG_SYNC_BULK_WAIT, mask, a.pending);
    return op + 1;
}
