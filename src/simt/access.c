/* access.c - the slow path of memory accesses: resolve every lane's address, report the access, remember its shape.
 *
 * The vector handlers (lanes.c) come here when an access has a shape that its instruction has not shown lately. What is
 * found out here about a shape, which object it stays inside and how its lanes may be loaded, makes the next access of
 * that shape a comparison of two vectors, for observers of every access too (mg__access_watched).
 */
#include "simt/simt_priv.h"

#define MG_IRREGULAR_AFTER 12  /* misses in a row that make a site irregular */
#define MG_IRREGULAR_FOR 16384 /* accesses until shapes are tried again */
#define MG_SHAPE_BASE ((uint64_t)1 << 40)

void mg__access_event(struct mg_worker *worker, struct mg_access *event, unsigned to)
{
    const struct mg_run *run = worker->run;
    worker->met = NULL;
    for (unsigned i = 0; i < run->nobservers && !worker->quiet; i++)
        if (run->observers[i].wants & to)
            run->observers[i].access(worker->observers[i], event);
    if (event->follow && *event->follow)
        mg__engine_following(worker);
}

struct mg_sync *mg__sync_event(struct mg_warp *w, const struct mg_op *op, enum mg_sync_kind kind, uint32_t mask)
{
    if (MG_UNLIKELY(w->block->nuntold))
        mg__tell_untold(w->block);
    struct mg_sync *e = &w->worker->sync;
    e->kind = (uint8_t)kind;
    e->arrive = e->wrong = false;
    e->insn = op ? op->insn : ~0u;
    e->block = e->target = w->block->linear;
    e->warp = w->index;
    e->mask = mask;
    e->barrier = e->count = e->missing = 0;
    e->follow = NULL;
    return e;
}

void mg__sync_emit(struct mg_worker *worker)
{
    worker->met = NULL;
    const struct mg_run *run = worker->run;
    for (unsigned i = 0; i < run->nobservers; i++) {
        const struct mg_observer *o = &run->observers[i];
        if (o->sync && (o->wants & MG_OBSERVE_SYNC))
            o->sync(worker->observers[i], &worker->sync);
    }
}

MG_WIDE void mg__access_spread(struct mg_access *e, uint32_t row)
{
    uint64_t *address = e->room->address, base = e->base, to_host = (uint64_t)(uintptr_t)e->at - base;
    uint8_t **where = e->room->where;
    const uint32_t *word = e->word ? e->word + 32 * row : NULL;
    if (e->offset) {
        e->mask = e->masks[row];
        for (unsigned i = 0; i < 32; i++)
            address[i] = base + e->offset[row][i];
    } else if (e->pattern)
        for (unsigned i = 0; i < 32; i++)
            address[i] = base + (uint64_t)(int64_t)e->pattern->delta[i];
    else
        for (unsigned i = 0; i < 32; i++)
            address[i] = base + 4 * (uint64_t)word[i];
    for (unsigned i = 0; i < 32; i++)
        where[i] = (uint8_t *)(uintptr_t)(address[i] + to_host);
    e->address = address;
    e->where = e->at ? where : NULL;
}

static inline __attribute__((always_inline)) struct mg_access *
begin(struct mg_worker *worker, uint32_t insn, const struct mg_mem *mem, uint8_t space, uint32_t mask, int32_t var)
{
    struct mg_access *e = &worker->event;
    e->insn = insn;
    e->kind = mem->kind;
    e->space = space;
    e->generic = mem->space == MG_SPACE_GENERIC;
    e->value64 = mem->dst64;
    e->mask = mask;
    e->width = (uint32_t)mem->width * mem->vec;
    e->element = mem->width;
    e->shared_var = var;
    e->times = 1;
    e->block = e->target = 0;
    e->warp = 0;
    e->address = NULL;
    e->most = 0;
    e->where = NULL;
    e->at = NULL;
    e->pattern = NULL;
    e->word = NULL;
    e->rows = 1;
    e->far = 0;
    e->touched = NULL;
    e->offset = NULL;
    e->masks = NULL;
    e->value = NULL;
    e->other = worker->other_side;
    e->follow = NULL;
    e->frame = NULL;
    return e;
}

static inline __attribute__((always_inline)) struct mg_access *of_warp(struct mg_warp *w, const struct mg_op *op,
                                                                       uint32_t mask, uint8_t space, int32_t var)
{
    const struct mg_mem *mem = op->u.mem;
    struct mg_access *e = begin(w->worker, op->insn, mem, space, mask, var);
    e->block = e->target = w->block->linear;
    e->warp = w->index;
    e->follow = &w->followed;
    e->frame = w->frame;
    if (mem->kind == MG_ACCESS_ST) {
        e->value = w->worker->values;
        for (unsigned v = 0; v < mem->vec; v++)
            w->worker->values[v] = mg__slot(w, mem->reg[v]);
    }
    return e;
}

struct mg_access *mg__access_begin(struct mg_worker *worker, uint32_t insn, const struct mg_mem *mem, uint8_t space,
                                   uint32_t mask, int32_t var)
{
    return begin(worker, insn, mem, space, mask, var);
}

struct mg_access *mg__access_of_warp(struct mg_warp *w, const struct mg_op *op, uint32_t mask, uint8_t space,
                                     int32_t var)
{
    return of_warp(w, op, mask, space, var);
}

/* What a store that nobody hears of leaves behind, for every piece that it has written. */
static void leave_marks(const struct mg_unheard *u, const struct mg_mem *m, uint32_t mask, uint64_t base,
                        const int32_t *delta, const uint64_t *address)
{
    const unsigned by = (unsigned)__builtin_ctz(MG_MIN(m->width, 4u)), each = (unsigned)(m->width * m->vec) >> by;
    uint8_t *const marks = u->marks;
    const uint8_t mark = u->mark;
    const uint64_t from = u->address;
    if (mask == ~0u && each == 1 && !address) { /* as most do */
        for (unsigned lane = 0; lane < 32; lane++)
            marks[(base - from + (uint64_t)(int64_t)delta[lane]) >> by] = mark;
        return;
    }
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(rest);
        const uint64_t at = address ? address[lane] : base + (uint64_t)(int64_t)delta[lane];
        for (unsigned k = 0; k < each; k++)
            marks[((at - from) >> by) + k] = mark;
    }
}

/* Whether nobody need hear of an access in bytes [least, end); where a lane is: by `address`, or else by its distance
 * from `base`. A store leaves its marks. */
static bool goes_unheard(const struct mg_warp *w, const struct mg_op *op, uint8_t space, uint32_t mask, uint64_t least,
                         uint64_t end, uint64_t base, const int32_t *delta, const uint64_t *address)
{
    const struct mg_run *run = w->worker->run;
    const struct mg_unheard *u = run->unheard ? &run->unheard[op->insn] : NULL;
    const struct mg_mem *m = op->u.mem;
    if (!u || !u->size || space == MG_SPACE_SHARED || space == MG_SPACE_LOCAL || w->followed ||
        least < u->address || end > u->address + u->size || (u->unfollowed && w->worker->following) ||
        (m->kind != MG_ACCESS_LD && (m->kind != MG_ACCESS_ST || !u->marks)))
        return false;
    if (m->kind == MG_ACCESS_ST)
        leave_marks(u, m, mask, base, delta, address);
    return true;
}

/* To all: an access whose shape is not remembered is one that occurred once. */
static void report(struct mg_warp *w, const struct mg_op *op, uint32_t mask, uint8_t space, const uint64_t *address,
                   uint64_t least, uint64_t most, int32_t var, uint8_t *const where[32])
{
    struct mg_access *e = of_warp(w, op, mask, space, var);
    e->address = address;
    e->least = least;
    e->most = most;
    e->where = where;
    mg__access_event(w->worker, e, MG_OBSERVE_EVERY | MG_OBSERVE_SHAPES);
}

void mg__access_params(struct mg_warp *w, const struct mg_op *op, uint32_t mask)
{
    uint64_t address[32];
    struct mg_access *e = of_warp(w, op, mask, MG_SPACE_PARAM, -1);
    mg__address(w, op->u.mem, address);
    e->address = address;
    mg__access_event(w->worker, e, MG_OBSERVE_PARAMS);
    e->address = NULL;
}

void mg__access_remote(struct mg_warp *w, const struct mg_op *op, uint32_t mask, const uint64_t *address,
                       uint8_t *const where[32], const struct mg_block *to)
{
    struct mg_access *e = of_warp(w, op, mask, MG_SPACE_SHARED, -1);
    e->target = to->linear;
    e->address = address;
    e->where = where;
    mg__access_event(w->worker, e, MG_OBSERVE_EVERY);
}

void mg__access_far(struct mg_warp *w, const struct mg_op *op, const struct mg_mem *mem, unsigned bytes, uint32_t mask,
                    unsigned blocks, const uint64_t address[32])
{
    struct mg_access *e = begin(w->worker, op->insn, mem, MG_SPACE_SHARED, mask, -1);
    e->width = bytes;
    e->far = (uint8_t)blocks;
    e->address = address;
    mg__access_event(w->worker, e, MG_OBSERVE_FAR);
}

void mg__access_watched(struct mg_warp *w, const struct mg_op *op, const struct mg_shape *shape, uint64_t base,
                        uint8_t *at)
{
    struct mg_worker *worker = w->worker;
    const struct mg_run *run = worker->run;
    const struct mg_pattern *p = shape->pattern;
    if (worker->quiet) {
        worker->met = NULL;
        return;
    }
    if (run->unheard && run->unheard[op->insn].size &&
        goes_unheard(w, op, shape->space, p->mask, base + (uint64_t)(int64_t)p->low,
                     base + (uint64_t)(int64_t)p->high + (uint64_t)op->u.mem->width * op->u.mem->vec, base, p->delta,
                     NULL))
        return;
    worker->met = NULL;
    struct mg_access *e = of_warp(w, op, p->mask, shape->space, shape->var);
    e->pattern = p;
    e->base = base;
    e->at = at;
    if (run->sole >= 0) { /* as mostly */
        run->observers[run->sole].access(worker->observers[run->sole], e);
        if (MG_UNLIKELY(w->followed))
            mg__engine_following(worker);
    } else {
        mg__access_event(worker, e, MG_OBSERVE_EVERY);
    }
}

/* Lanes that no device would let through: the observers that asked for them are told. */
static void report_faults(struct mg_warp *w, const struct mg_op *op, uint32_t mask, uint8_t space,
                          const uint64_t *address, enum mg_fault_kind kind)
{
    const struct mg_run *run = w->worker->run;
    struct mg_access *e = mg__access_of_warp(w, op, mask, space, -1);
    e->address = address;
    for (unsigned i = 0; mask && i < run->nobservers; i++)
        if (run->observers[i].fault)
            run->observers[i].fault(w->worker->observers[i], e, kind);
}

static void report_times(struct mg_worker *worker, uint32_t insn, const struct mg_mem *mem, const struct mg_shape *s,
                         const uint64_t times[8], int32_t offset)
{
    uint64_t any = 0;
    for (unsigned m = 0; m < 8; m++)
        any |= times[m];
    if (!any)
        return;
    struct mg_access *e = mg__access_begin(worker, insn, mem, s->space, s->pattern->mask, s->var);
    e->pattern = s->pattern;
    for (unsigned m = 0; m < 8; m++) {
        if (!times[m])
            continue;
        e->base = MG_SHAPE_BASE + 4 * m + s->pattern->phase + (uint64_t)(int64_t)offset;
        e->address = NULL;
        e->times = times[m];
        mg__access_event(worker, e, MG_OBSERVE_SHAPES);
    }
}

/* Its counts; what it looks like stays. */
static void flush_shape(struct mg_worker *worker, uint32_t insn, const struct mg_mem *mem, struct mg_shape *s)
{
    if (!s->pattern)
        return;
    if (worker->run->want_shapes) {
        report_times(worker, insn, mem, s, s->times, 0);
        for (uint32_t k = 0; mem->group && k < mem->group->count; k++)
            report_times(worker, mem->group->members[k].insn, mem->group->members[k].mem, s, s->group_times,
                         mem->group->members[k].offset);
    }
    memset(s->times, 0, sizeof s->times);
    memset(s->group_times, 0, sizeof s->group_times);
}

void mg__sites_flush(struct mg_worker *worker)
{
    const struct mg_program *p = worker->run->program;
    for (uint32_t c = 0; c < p->ncodes; c++) {
        for (uint32_t i = 0; i < p->codes[c]->nops; i++) {
            const struct mg_op *op = &p->codes[c]->ops[i];
            if (!mg__op_has(op, MG_ENGINE_ACCESS))
                continue;
            struct mg_site *site = &worker->sites[op->u.mem->site];
            flush_shape(worker, op->insn, op->u.mem, &site->first);
            for (unsigned k = 0; site->others && k < MG_SHAPES - 1; k++)
                flush_shape(worker, op->insn, op->u.mem, &site->others[k]);
        }
    }
    for (uint32_t s = 0; s < p->nsites; s++) {
        if (worker->sites[s].touched)
            mg__touched_settle(worker, worker->sites[s].touched);
        if (worker->sites[s].rows)
            mg__rows_settle(worker, worker->sites[s].rows);
    }
}

int32_t mg__shared_object(const struct mg_warp *w, uint64_t least, uint64_t end, uint64_t *lo, uint64_t *hi)
{
    const struct mg_run *run = w->worker->run;
    *lo = 0;
    *hi = w->block->shared_size;
    for (uint32_t i = 0; i < run->nshared_vars; i++) {
        const struct mg_shared_var *v = &run->shared_vars[i];
        if (least >= v->offset && end <= (uint64_t)v->offset + v->size) {
            *lo = v->offset;
            *hi = *lo + v->size;
            return (int32_t)i;
        }
    }
    return -1;
}

/* The worker's one object for these distances; NULL when it has too many, or no memory. */
static const struct mg_pattern *intern(struct mg_worker *worker, uint32_t mask, const uint64_t *address)
{
    uint64_t base = address[__builtin_ctz(mask)];
    struct mg_pattern p = {.mask = mask, .phase = base & 3};
    for (unsigned i = 0; i < 32; i++) {
        p.delta[i] = mask >> i & 1 ? (int32_t)(address[i] - base) : 0;
        p.low = MG_MIN(p.low, p.delta[i]);
        p.high = MG_MAX(p.high, p.delta[i]);
    }
    uint32_t h = (uint32_t)(mg__hash(p.delta, sizeof p.delta) ^ mask ^ p.phase) % MG_PATTERN_HASH;
    for (struct mg_pattern *at = worker->patterns[h]; at; at = at->next)
        if (at->mask == mask && at->phase == p.phase && memcmp(at->delta, p.delta, sizeof p.delta) == 0)
            return at;
    struct mg_pattern *fresh;
    if (worker->npatterns == MG_PATTERN_LIMIT || !(fresh = aligned_alloc(64, sizeof *fresh)))
        return NULL;
    for (unsigned i = 0; i < 32; i++)
        p.index[i] = (uint32_t)((int64_t)p.delta[i] - p.low) / 4;
    p.next = worker->patterns[h];
    *fresh = p;
    worker->patterns[h] = fresh;
    fresh->id = worker->npatterns++;
    return fresh;
}

/* Remembers the shape in place of the site's oldest; the lanes are known to lie in one object [lo, hi). False: it
 * cannot. */
static bool remember(struct mg_warp *w, const struct mg_op *op, uint32_t mask, const uint64_t *address, uint8_t space,
                     uint64_t lo, uint64_t hi, int32_t var)
{
    const struct mg_mem *mem = op->u.mem;
    struct mg_site *site = &w->sites[mem->site];
    unsigned bytes = mem->width * mem->vec;
    const struct mg_pattern *p = intern(w->worker, mask, address);
    if (!p || (!site->others && !(site->others = calloc(MG_SHAPES - 1, sizeof *site->others))))
        return false;
    if (site->first.pattern) {
        flush_shape(w->worker, op->insn, mem, &site->others[MG_SHAPES - 2]);
        memmove(&site->others[1], &site->others[0], (MG_SHAPES - 2) * sizeof site->others[0]);
        site->others[0] = site->first;
    }
    /* A window load may read past the object: our own memory is padded for that, registered host memory is not. */
    bool padded = space == MG_SPACE_SHARED || mg__mem_in_range(w->worker->run->simt, lo);
    bool words = true, contiguous = mask == ~0u;
    for (unsigned i = 0; i < 32; i++) {
        words &= p->delta[i] % 4 == 0;
        contiguous &= p->delta[i] == (int32_t)(i * bytes);
    }
    uint64_t base = address[__builtin_ctz(mask)];
    site->first = (struct mg_shape){.pattern = p,
                                    .lo = lo - (uint64_t)(int64_t)p->low,
                                    .range = hi - bytes - (uint64_t)(int64_t)p->high - (lo - (uint64_t)(int64_t)p->low),
                                    .space = space,
                                    .var = var,
                                    .plan = p->low == p->high ? MG_PLAN_UNIFORM
                                            : contiguous      ? MG_PLAN_CONTIGUOUS
                                            : words && bytes == 4 && p->high - p->low < 128 && padded ? MG_PLAN_WINDOW
                                                                                                      : MG_PLAN_LANES};
    site->first.times[base >> 2 & 7] = 1;
    if (mem->group) {
        int64_t from = (int64_t)lo - p->low - mem->group->least;
        int64_t to = (int64_t)hi - bytes - p->high - mem->group->greatest;
        site->first.group_lo = to >= from ? (uint64_t)from : 1; /* 1 is no aligned address: never */
        site->first.group_range = to >= from ? (uint64_t)(to - from) : 0;
    }
    return true;
}

static bool fault_at(struct mg_warp *w, const struct mg_op *op, unsigned lane, uint64_t address, unsigned bytes,
                     const char *space)
{
    if (address & (bytes - 1)) {
        mg__fault(w, op, lane, MG_ERR_MISALIGNED, "%s address 0x%llx is not a multiple of the access's %u bytes", space,
                  (unsigned long long)address, bytes);
        mg__fault_hint(w, "Align the pointer: a vector access needs an address that is a multiple of its whole size.");
        return false;
    }
    return true;
}

/* "access of 4 bytes at 0x…, 8 bytes before an allocation of 64 bytes ('table')", by the nearest allocation within
 * MG_NEAR bytes; false: there is none. Most often an index ran past the end. */
#define MG_NEAR (64u << 10)
static bool say_where(const struct mg_outside *o, uint64_t address, unsigned bytes, char text[256])
{
    uint64_t past = o->before ? address + bytes - (o->before->address + o->before->size) : UINT64_MAX;
    uint64_t early = o->after ? o->after->address - address : UINT64_MAX;
    const struct mg_allocation *near = past <= early ? o->before : o->after;
    if (MG_MIN(past, early) > MG_NEAR)
        return false;
    snprintf(text, 256, "access of %u bytes at 0x%llx, %llu bytes %s an allocation of %llu bytes%s%.80s%s", bytes,
             (unsigned long long)address, (unsigned long long)MG_MIN(past, early),
             past <= early ? "past the end of" : "before", (unsigned long long)near->size, near->name ? " ('" : "",
             near->name ? near->name : "", near->name ? "')" : "");
    return true;
}

uint8_t *mg__access_outside(struct mg_warp *w, const struct mg_op *op, unsigned lane, uint64_t address, unsigned bytes,
                            uint64_t *lo, uint64_t *hi)
{
    const struct mg_run *run = w->worker->run;
    struct mg_outside o;
    char where[256];
    static const char check_index[] = "Check the index against the number of elements before the access.";
    if (address < 4096) {
        mg__fault(w, op, lane, MG_ERR_ADDRESS, "null pointer: access of %u bytes at 0x%llx", bytes,
                  (unsigned long long)address);
        mg__fault_hint(w, "A pointer argument is null, or an index was added to a null pointer.");
        return NULL;
    }
    const uint64_t before = run->simt->shared_window - address;
    if (before <= MG_NEAR) {
        mg__fault(w, op, lane, MG_ERR_ADDRESS, "access of %u bytes at 0x%llx, %llu bytes before shared memory", bytes,
                  (unsigned long long)address, (unsigned long long)before);
        mg__fault_hint(w, "%s", check_index);
        return NULL;
    }
    mg__snapshot_around(run, address, &o);
    bool near = say_where(&o, address, bytes, where), leaves = o.before && address < o.before->address + o.before->size;
    if (leaves) { /* a vector over the end: its last byte decides */
        mg__snapshot_around(run, address + bytes - 1, &o);
        o.lo = address;
        o.hi = address + bytes;
    }
    if (run->lets_pass && o.mapped) {
        struct mg_diag *warning =
            near ? mg__warn(w, op, lane, "%s", where)
                 : mg__warn(w, op, lane, "access of %u bytes at 0x%llx, which is in no live allocation", bytes,
                            (unsigned long long)address);
        if (warning)
            mg__diag_hint(warning,
                          "A GPU lets it pass, because it maps memory in pieces of 2 MiB; --strict stops here.");
        *lo = o.lo;
        *hi = o.hi;
        return (uint8_t *)(uintptr_t)address;
    }
    if (near) {
        mg__fault(w, op, lane, MG_ERR_ADDRESS, "%s", where);
        mg__fault_hint(w, "%s", check_index);
    } else {
        mg__fault(w, op, lane, MG_ERR_ADDRESS, "access of %u bytes at 0x%llx, which is in no live allocation", bytes,
                  (unsigned long long)address);
        mg__fault_hint(w, "The pointer was freed, never allocated, or is a host pointer.");
    }
    return NULL;
}

static uint8_t *resolve_global(struct mg_warp *w, const struct mg_op *op, unsigned lane, uint64_t address,
                               unsigned bytes, uint64_t *lo, uint64_t *hi)
{
    if (!fault_at(w, op, lane, address, bytes, "global"))
        return NULL;
    if (!(address >= *lo && address + bytes <= *hi && address + bytes > address)) {
        const struct mg_allocation *a = mg__snapshot_find(w->worker->run, address);
        if (!a || address + bytes > a->address + a->size)
            return mg__access_outside(w, op, lane, address, bytes, lo, hi);
        *lo = a->address;
        *hi = a->address + a->size;
    }
    return (uint8_t *)(uintptr_t)address;
}

static uint8_t *resolve_shared(struct mg_warp *w, const struct mg_op *op, unsigned lane, uint64_t offset,
                               unsigned bytes)
{
    if (!fault_at(w, op, lane, offset, bytes, "shared"))
        return NULL;
    uint32_t size = w->block->shared_size;
    if (offset > size || bytes > size - offset) {
        mg__fault(w, op, lane, MG_ERR_ADDRESS,
                  "access of %u bytes at shared address 0x%llx: the block has %u bytes of shared memory", bytes,
                  (unsigned long long)offset, size);
        mg__fault_hint(w, "An index runs past the array, or the launch asks for too little dynamic shared memory.");
        return NULL;
    }
    return w->block->shared + offset;
}

static bool local_memory(struct mg_warp *w)
{
    const uint32_t bytes = w->worker->run->stack_bytes;
    if (!w->local && (w->local = calloc(1, 64 + (size_t)bytes * 32 + MG_ENGINE_NOWHERE))) {
        w->e.local = (uint8_t *)(((uintptr_t)w->local + 63) & ~(uintptr_t)63);
        w->e.local_bytes = bytes;
    }
    return w->local != NULL;
}

void mg__local_free(struct mg_warp *w)
{
    free(w->local);
    w->local = w->e.local = NULL;
    w->e.local_bytes = 0;
}

static void copy_words(uint8_t *to, size_t to_step, const uint8_t *from, size_t from_step, unsigned bytes)
{
    for (unsigned at = 0; at < bytes; at += 4)
        memcpy(to + at / 4 * to_step, from + at / 4 * from_step, 4);
}

void mg__local_take(const struct mg_warp *w, const struct mg_mem *mem, uint32_t mask, uint8_t *where[32],
                    struct mg_local_copy *copy)
{
    copy->bytes = mem->width * mem->vec;
    copy->lanes = 0;
    for (uint32_t rest = w->local && copy->bytes > 4 ? mask : 0; rest; rest &= rest - 1) {
        const unsigned i = (unsigned)__builtin_ctz(rest);
        if ((uintptr_t)where[i] - (uintptr_t)w->e.local >= w->e.local_bytes * 32)
            continue;
        copy->lanes |= 1u << i;
        copy->where[i] = where[i];
        copy_words(copy->of[i], 4, where[i], mg__local_at(4, 0), copy->bytes);
        where[i] = copy->of[i];
    }
}

void mg__local_put(const struct mg_local_copy *copy)
{
    for (uint32_t rest = copy->lanes; rest; rest &= rest - 1) {
        const unsigned i = (unsigned)__builtin_ctz(rest);
        copy_words(copy->where[i], mg__local_at(4, 0), copy->of[i], 4, copy->bytes);
    }
}

static uint8_t *resolve_local(struct mg_warp *w, const struct mg_op *op, unsigned lane, uint64_t offset, unsigned bytes)
{
    if (!fault_at(w, op, lane, offset, bytes, "local"))
        return NULL;
    if (!local_memory(w)) {
        mg__fault(w, op, lane, MG_ERR_NOMEM, "no host memory for local memory");
        return NULL;
    }
    if (offset > w->e.local_bytes || bytes > w->e.local_bytes - offset) {
        mg__fault(w, op, lane, MG_ERR_ADDRESS,
                  "access of %u bytes at local address 0x%llx is outside the thread's stack", bytes,
                  (unsigned long long)offset);
        mg__fault_hint(w, "An index runs past a local array.");
        return NULL;
    }
    return w->e.local + mg__local_at(offset, lane);
}

/* Least, greatest and all bits of the active lanes' addresses; good for addresses below 2^63, for signed compares are
 * what vectors have. */
MG_WIDE static void bounds_of(const uint64_t address[32], uint32_t mask, uint64_t *least, uint64_t *most, uint64_t *all)
{
    int64_t low = INT64_MAX, high = 0, bits = 0;
    if (mask == ~0u) {
        for (unsigned i = 0; i < 32; i++) {
            int64_t at = (int64_t)address[i];
            low = at < low ? at : low;
            high = at > high ? at : high;
            bits |= at;
        }
    } else {
        for (uint32_t rest = mask; rest; rest &= rest - 1) {
            int64_t at = (int64_t)address[__builtin_ctz(rest)];
            low = at < low ? at : low;
            high = at > high ? at : high;
            bits |= at;
        }
    }
    *least = (uint64_t)low;
    *most = (uint64_t)high;
    *all = (uint64_t)bits;
}

MG_WIDE static uint32_t lanes_below(const uint64_t address[32], uint64_t end)
{
    uint32_t lanes = 0;
    for (unsigned i = 0; i < 32; i++)
        lanes |= (uint32_t)((int64_t)(address[i] - end) < 0) << i;
    return lanes;
}

/* All lanes at once, if they are aligned and in the block's shared memory, in their stacks, or in the object that the
 * site reached last. */
static bool all_inside(const struct mg_warp *w, const struct mg_site *site, uint32_t mask, uint8_t space,
                       const uint64_t address[32], unsigned bytes, uint8_t *where[32], uint64_t *least, uint64_t *most)
{
    uint64_t low, high, bits;
    bounds_of(address, mask, &low, &high, &bits);
    const bool local = space == MG_SPACE_LOCAL;
    uint64_t from = space == MG_SPACE_SHARED || local ? 0 : site->lo,
             to = space == MG_SPACE_SHARED ? w->block->shared_size : local ? w->e.local_bytes : site->hi;
    if (bits >> 63 || bits & (bytes - 1) || low < from || high > to || bytes > to - high || (local && !w->local))
        return false;
    uint64_t base = space == MG_SPACE_SHARED ? (uint64_t)(uintptr_t)w->block->shared : 0;
    if (local) {
        for (uint32_t rest = mask; rest; rest &= rest - 1) {
            const unsigned lane = (unsigned)__builtin_ctz(rest);
            where[lane] = w->e.local + mg__local_at(address[lane], lane);
        }
    } else if (mask == ~0u) {
        for (unsigned i = 0; i < 32; i++)
            where[i] = (uint8_t *)(uintptr_t)(base + address[i]);
    } else { /* the other lanes may have been resolved in another space */
        for (uint32_t rest = mask; rest; rest &= rest - 1)
            where[__builtin_ctz(rest)] = (uint8_t *)(uintptr_t)(base + address[__builtin_ctz(rest)]);
    }
    *least = low;
    *most = high;
    return true;
}

/* One space's lanes of an access. Addresses are offsets in the space. */
static bool access_space(struct mg_warp *w, const struct mg_op *op, uint32_t mask, uint8_t space,
                         const uint64_t address[32], uint8_t *where[32], bool generic)
{
    const struct mg_mem *mem = op->u.mem;
    const struct mg_run *run = w->worker->run;
    struct mg_site *site = &w->sites[mem->site];
    unsigned bytes = mem->width * mem->vec;
    uint64_t lo = site->lo, hi = site->hi, least = UINT64_MAX, most = 0;
    bool one_object = true;
    uint32_t outside = 0, misaligned = 0;
    w->worker->passes = run->goes_on;
    uint32_t todo = all_inside(w, site, mask, space, address, bytes, where, &least, &most) ? 0 : mask;
    for (uint32_t rest = todo; rest; rest &= rest - 1) {
        unsigned i = (unsigned)__builtin_ctz(rest);
        uint64_t before = lo;
        if (space == MG_SPACE_SHARED)
            where[i] = resolve_shared(w, op, i, address[i], bytes);
        else if (space == MG_SPACE_LOCAL)
            where[i] = resolve_local(w, op, i, address[i], bytes);
        else
            where[i] = resolve_global(w, op, i, address[i], bytes, &lo, &hi);
        if (MG_UNLIKELY(!where[i])) {
            if (!w->worker->passes || w->stop == MG_STOP_FAULT)
                return false;
            *(address[i] & (bytes - 1) ? &misaligned : &outside) |= 1u << i;
            where[i] = memset(w->worker->sink, 0, sizeof w->worker->sink);
            continue;
        }
        one_object &= rest == mask || lo == before;
        least = MG_MIN(least, address[i]);
        most = MG_MAX(most, address[i]);
    }
    w->worker->passes = false;
    if (MG_UNLIKELY(outside | misaligned)) {
        report_faults(w, op, outside, space, address, MG_FAULT_ADDRESS);
        report_faults(w, op, misaligned, space, address, MG_FAULT_MISALIGNED);
        mask &= ~(outside | misaligned);
        if (!mask)
            return true;
    }
    int32_t var = -1;
    if (space == MG_SPACE_SHARED) {
        var = mg__shared_object(w, least, most + bytes, &lo, &hi);
    } else if (space == MG_SPACE_LOCAL) {
        lo = 0;
        hi = w->e.local_bytes;
    } else {
        site->lo = lo;
        site->hi = hi;
    }
    /* Shapes serve loads and stores of known space; a site that keeps changing is left alone for a while. */
    bool remembers = !generic && !mem->no_shape && space != MG_SPACE_LOCAL && one_object && most - least < (1u << 30) &&
                     !(outside | misaligned) && site->skip == 0;
    if (remembers) {
        uint64_t hits = 0;
        for (unsigned i = 0; i < 8; i++)
            hits += site->first.times[i];
        site->misses = hits > 8 ? 0 : (uint16_t)(site->misses + 1);
        if (site->misses >= MG_IRREGULAR_AFTER) {
            site->misses = 0;
            site->skip = MG_IRREGULAR_FOR;
        }
        if (remember(w, op, mask, address, space, lo, hi, var)) {
            unsigned first = (unsigned)__builtin_ctz(mask);
            if (run->want_every)
                mg__access_watched(w, op, &site->first, address[first], where[first]);
            return true;
        }
    } else if (site->skip) {
        site->skip--;
    }
    if (run->want_every && one_object && goes_unheard(w, op, space, mask, least, most + bytes, 0, NULL, address))
        return true;
    if (run->want_shapes || run->want_every)
        report(w, op, mask, space, address, least, most, var, where);
    return true;
}

/* Generic addresses that all lie in one window, as they mostly do; or outside of any, where those of lane 0 do, and
 * within the size of one. False: they do not. */
static bool access_window(struct mg_warp *w, const struct mg_op *op, uint32_t mask, const uint64_t address[32],
                          uint8_t *where[32], bool *good)
{
    const struct mg_simt *simt = w->worker->run->simt;
    const uint64_t base = op->u.mem->cluster ? simt->shared_window : 0, first = address[__builtin_ctz(mask)] + base;
    uint64_t apart = 0, offset[32];
    for (unsigned i = 0; i < 32; i++)
        apart |= mask >> i & 1 ? (address[i] + base) ^ first : 0;
    if (apart >= MG_WINDOW_SIZE || first - simt->param_window < MG_WINDOW_SIZE)
        return false;
    const uint64_t s = first - simt->shared_window, l = first - simt->local_window;
    const bool shared = s < (MG_MAX_CLUSTER + 1) * MG_WINDOW_SIZE, local = l < MG_WINDOW_SIZE;
    const uint64_t more = base - (shared ? simt->shared_window : local ? simt->local_window : 0);
    for (unsigned i = 0; i < 32; i++)
        offset[i] = address[i] + more;
    *good = shared && s >= MG_WINDOW_SIZE
                ? mg__access_cluster(w, op, mask, offset, where)
                : access_space(w, op, mask, shared ? MG_SPACE_SHARED : local ? MG_SPACE_LOCAL : MG_SPACE_GLOBAL, offset,
                               where, true);
    return true;
}

bool mg__access_slow(struct mg_warp *w, const struct mg_op *op, uint32_t mask, const uint64_t address[32],
                     uint8_t *where[32])
{
    const struct mg_mem *mem = op->u.mem;
    const struct mg_simt *simt = w->worker->run->simt;
    bool good = false;
    if (mem->space != MG_SPACE_GENERIC)
        return access_space(w, op, mask, mem->space, address, where, false);
    if (access_window(w, op, mask, address, where, &good))
        return good;
    uint32_t shared = 0, cluster = 0, local = 0, param = 0;
    uint64_t offset[32], base = mem->cluster ? simt->shared_window : 0, low, high, bits;
    for (unsigned i = 0; i < 32; i++)
        offset[i] = address[i] + base - simt->shared_window;
    bounds_of(offset, mask, &low, &high, &bits);
    if (!(bits >> 63) && high < (MG_MAX_CLUSTER + 1) * MG_WINDOW_SIZE) { /* the blocks of a cluster */
        shared = lanes_below(offset, MG_WINDOW_SIZE) & mask;
        return (!shared || access_space(w, op, shared, MG_SPACE_SHARED, offset, where, true)) &&
               (shared == mask || mg__access_cluster(w, op, mask & ~shared, offset, where));
    }
    for (unsigned i = 0; i < 32; i++)
        offset[i] += simt->shared_window;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const unsigned i = (unsigned)__builtin_ctz(rest);
        const uint64_t s = offset[i] - simt->shared_window, l = offset[i] - simt->local_window,
                       p = offset[i] - simt->param_window;
        if (s < (MG_MAX_CLUSTER + 1) * MG_WINDOW_SIZE) {
            const bool own = s < MG_WINDOW_SIZE;
            shared |= (uint32_t)own << i;
            cluster |= (uint32_t)!own << i;
            offset[i] = s;
        } else if (l < MG_WINDOW_SIZE) {
            local |= 1u << i;
            offset[i] = l;
        } else if (p < MG_WINDOW_SIZE) {
            param |= 1u << i;
            offset[i] = p;
        }
    }
    uint32_t global = mask & ~(shared | cluster | local | param);
    unsigned bytes = mem->width * mem->vec;
    for (uint32_t rest = param; rest; rest &= rest - 1) {
        unsigned i = (unsigned)__builtin_ctz(rest);
        const struct mg_run *run = w->worker->run;
        if (mem->kind != MG_ACCESS_LD || offset[i] > run->param_size || bytes > run->param_size - offset[i]) {
            mg__fault(w, op, i, MG_ERR_ADDRESS, "access outside the kernel's parameters, or a write to them");
            return false;
        }
        where[i] = (uint8_t *)(uintptr_t)(run->params + offset[i]);
    }
    return (!global || access_space(w, op, global, MG_SPACE_GLOBAL, offset, where, true)) &&
           (!shared || access_space(w, op, shared, MG_SPACE_SHARED, offset, where, true)) &&
           (!cluster || mg__access_cluster(w, op, cluster, offset, where)) &&
           (!local || access_space(w, op, local, MG_SPACE_LOCAL, offset, where, true));
}

void mg__address(const struct mg_warp *w, const struct mg_mem *mem, uint64_t address[32])
{
    uint64_t offset = (uint64_t)mem->offset + (mem->local_frame ? w->frame->local_base : 0);
    if (mem->addr < 0) {
        for (unsigned i = 0; i < 32; i++)
            address[i] = offset;
    } else if (mem->addr64) {
        const uint64_t *a = mg__slot(w, mem->addr);
        for (unsigned i = 0; i < 32; i++)
            address[i] = a[i] + offset;
        for (unsigned i = 0; i < 32 && mem->space == MG_SPACE_LOCAL; i++)
            address[i] = (uint32_t)address[i]; /* LDL and STL take registers of 32 bits */
    } else {
        const uint32_t *a = mg__slot(w, mem->addr);
        for (unsigned i = 0; i < 32; i++)
            address[i] = (uint32_t)(a[i] + (uint32_t)offset);
    }
}
