/* launch.c - what the checker keeps for a launch, its workers and the blocks in flight: made, cleared, added up and
 * freed. What is done with it, access by access, is in watch.c.
 */
#include "check/watch.h"

/* ---- blocks ---- */
static size_t shared_units(const struct launch *l)
{
    const struct mg_launch_info *info = l->info;
    uint32_t size = MG_MAX(info->shared_static, info->shared_reserved ? info->shared_size : 0);
    for (uint32_t k = 0; k < info->nshared_vars; k++)
        size = MG_MAX(size, info->shared_vars[k].offset + info->shared_vars[k].size);
    return size >> l->code.unit_shared;
}

static void free_block(struct block *b, uint32_t nwarps)
{
    mg__registers_forget(b);
    mg__swizzle_forget(b, true);
    mg__mbarriers_forget(b);
    mg__vec_free(&b->mbarriers);
    mg__beyond_forget(b, true);
    mg__vec_free(&b->copies);
    mg__order_free(b->order);
    mg__shadow_free(&b->shared);
    for (uint32_t k = 0; b->local && k < nwarps; k++)
        free(b->local[k]);
    free(b->local);
    mg__segments_free(&b->segments);
    free(b->holes);
    mg__vec_free(&b->origins);
    mg__vec_free(&b->stuck);
    mg__vec_free(&b->far);
    free(b->far_at);
    free(b);
}

static uint32_t threads_of(const struct launch *l)
{
    return l->info->block.x * l->info->block.y * l->info->block.z;
}

static uint32_t warps_of(const struct launch *l)
{
    return (threads_of(l) + 31) / 32;
}

static struct block *make_block(const struct launch *l)
{
    struct block *b = calloc(1, sizeof(*b));
    if (!b)
        return NULL;
    b->order = mg__order_new();
    b->local = calloc(MG_ORDER_WARPS, sizeof(*b->local));
    if (!b->order || !mg__shadow_make(&b->shared, l->shared_units) || !b->local) {
        free_block(b, MG_ORDER_WARPS);
        return NULL;
    }
    return b;
}

void mg__block_begin(struct worker *w, uint64_t linear)
{
    struct launch *l = w->launch;
    struct block *b = NULL;
    for (size_t i = 0; i < w->blocks.count && !b; i++)
        if (!w->blocks.at[i]->busy)
            b = w->blocks.at[i];
    if (!b) {
        b = make_block(l);
        if (!b || !mg__vec_push(&w->blocks, b)) {
            if (b)
                free_block(b, MG_ORDER_WARPS);
            return; /* without memory the block goes unchecked */
        }
    }
    b->busy = true;
    b->linear = linear;
    bool goes_on = mg__order_begin(b->order, threads_of(l));
    mg__shadow_begin(&b->shared, l->shared_units, !goes_on);
    for (uint32_t k = 0; k < warps_of(l); k++)
        if (b->local[k])
            memset(b->local[k], 0, mg__block_local_words(l) * 8 * 32);
    memset(b->local_all, 0, sizeof(b->local_all));
    mg__segments_forget(&b->segments);
    free(b->holes);
    b->holes = NULL;
    b->origins.count = 0;
    b->hollow = false;
    memset(b->meetings, 0, sizeof(b->meetings));
    memset(b->waits, 0, sizeof(b->waits));
    memset(b->owed, 0, sizeof(b->owed));
    mg__cluster_met(b);
    b->met = b->order->begin;
    b->exited = 0;
    mg__registers_forget(b);
    mg__swizzle_forget(b, false);
    mg__mbarriers_forget(b);
    mg__beyond_forget(b, false);
    b->copies.count = 0;
    memset(b->proxy, 0, sizeof(b->proxy));
    memset(b->multiplied, 0, sizeof(b->multiplied));
    b->left.insn = NO_INSN;
    w->current = b;
}

/* ---- launches ---- */
static void end_launch(struct launch *l)
{
    mg__grid_end(l);
    mg__code_free(&l->code);
    mg__tally_free(&l->tally);
    mg__vec_free(&l->in_flight);
    mg__vec_free(&l->texts);
    mg__vec_free(&l->stuck);
    pthread_mutex_destroy(&l->lock);
    free(l->regions);
    free(l);
}

/* Which allocations the launch may write to: those that a store's address comes from, or
 * all when one's is not known. */
static bool track(struct launch *l)
{
    const struct mg_launch_info *info = l->info;
    l->reads = l->dependent || (l->race && mg__streams_matter(l->check));
    bool all = l->reads;
    bool watched = l->race && l->check->watched;
    l->regions = calloc(info->nallocations + 1, sizeof(struct region *));
    if (!l->regions)
        return false;
    for (size_t k = 0; k < info->nallocations; k++) {
        const struct mg_allocation *a = &info->allocations[k];
        if (a->name && a->name[0] == '(' && !mg__heap_is(a))
            continue;
        struct region *r = mg__region_find(l->check, a->address);
        if (r && (r->address != a->address || r->size != a->size))
            r = NULL;
        if (!r && (r = mg__region_add(l->check, a->address, a->size))) {
            r->written = WRITTEN_ALL; /* a module's variable: zero or as initialised; another device's memory */
            r->found = true;
        }
        if (r) {
            r->name = a->name;
            r->constant = a->constant;
            r->tracked = r->own = false;
        }
        l->regions[k] = r;
    }
    for (uint32_t k = 0; k < info->ninsns; k++) {
        const struct site *s = &l->code.sites[k];
        uint8_t space = info->insns[k].insn->space;
        if (!s->number || !s->writes || s->async || space == MG_SPACE_SHARED || space == MG_SPACE_LOCAL)
            continue;
        if (s->source.kind == MG_FLOW_VARIABLE &&
            (s->source.var->space == MG_SPACE_SHARED || s->source.var->space == MG_SPACE_LOCAL))
            continue;
        if (s->object >= 0 && s->source.kind != MG_FLOW_SEVERAL && l->regions[s->object])
            l->regions[s->object]->tracked = true;
        else
            all |= s->object < 0;
    }
    for (size_t k = 0; k < info->nallocations; k++) {
        struct region *r = l->regions[k];
        if (r && (!r->constant || l->reads) && (all || r->tracked || (watched && r->watched)))
            r->tracked = mg__region_cells(r);
    }
    return true;
}

/* The end of a kernel's own frame of local variables, as the engine lays it out: in the order of their declaration. */
static uint32_t frame_end(const struct mg_ptx_func *f)
{
    uint32_t top = 0;
    for (size_t i = 0; i < f->nvars; i++)
        if (f->vars[i]->space == MG_SPACE_LOCAL) {
            uint32_t align = MG_MAX(f->vars[i]->align, 1);
            top = (top + align - 1) / align * align + (uint32_t)f->vars[i]->size;
        }
    return top;
}

/* Whether the launch may be in touch with the host while it runs: by a fence for the system, or by an access of the
 * system's scope, as volatile ones are (PTX ISA, "Operation Types"), to memory that the host may see. */
static bool talks(const struct launch *l)
{
    for (uint32_t k = 0; k < l->info->ninsns; k++) {
        const struct mg_ptx_insn *i = l->info->insns[k].insn;
        const struct site *s = &l->code.sites[k];
        bool system = i->scope == MG_SCOPE_SYS || i->sem == MG_PTX_SEM_VOLATILE || i->sem == MG_PTX_SEM_MMIO;
        bool elsewhere = i->space == MG_SPACE_SHARED || i->space == MG_SPACE_LOCAL || i->space == MG_SPACE_PARAM ||
                         (s->source.kind == MG_FLOW_VARIABLE &&
                          (s->source.var->space == MG_SPACE_SHARED || s->source.var->space == MG_SPACE_LOCAL));
        const struct region *r =
            s->number && s->object >= 0 && s->source.kind != MG_FLOW_SEVERAL ? l->regions[s->object] : NULL;
        if (system && !(s->number && (elsewhere || (r && !r->host && !r->managed))))
            return true;
    }
    return false;
}

/* Whether the read's place may be written in this launch, as far as the text tells. */
static bool conflicts(const struct launch *l, const struct site *s)
{
    const bool shared = s->source.kind == MG_FLOW_VARIABLE && s->source.var->space == MG_SPACE_SHARED;
    const struct region *r = !shared && s->object >= 0 ? l->regions[s->object] : NULL;
    return s->object >= 0 && (shared || (r && r->tracked && !mg__heap_is(&l->info->allocations[s->object])));
}

/* Reads of what is written whole, and by nobody while the launch runs, through a pointer that means just that. */
static void leave_unheard(const struct launch *l)
{
    const struct mg_launch_info *info = l->info;
    for (uint32_t k = 0; info->unheard && k < info->ninsns; k++) {
        const struct site *s = &l->code.sites[k];
        const uint8_t space = info->insns[k].insn->space;
        const struct region *r = s->plain_read && s->object >= 0 && space != MG_SPACE_SHARED &&
                                         space != MG_SPACE_LOCAL && s->source.kind == MG_FLOW_POINTER
                                     ? l->regions[s->object]
                                     : NULL;
        if (r && !r->tracked && r->written == WRITTEN_ALL && !mg__region_has_holes(r) && !r->watched &&
            !mg__heap_is(&info->allocations[s->object]))
            info->unheard[k] = (struct mg_unheard){.address = info->allocations[s->object].address,
                                                   .size = info->allocations[s->object].size};
    }
}

static enum mg_status launch_begin(void *self, const struct mg_launch_info *info, unsigned workers, void **state)
{
    struct mg_check *check = self;
    struct launch *l = calloc(1, sizeof(*l));
    if (!l)
        return MG_ERR_NOMEM;
    l->check = check;
    l->number = ++check->launches;
    l->info = info;
    l->workers = workers;
    l->ordered = info->ordered;
    l->race = check->checks & MG_CHECK_RACE;
    l->pedantic = check->checks & MG_CHECK_PEDANTIC;
    l->init = check->checks & MG_CHECK_INIT;
    l->bounds = check->checks & MG_CHECK_BOUNDS;
    l->barrier = check->checks & MG_CHECK_BARRIER;
    l->by_lanes = check->checks & MG_CHECK_LONG;
    pthread_mutex_init(&l->lock, NULL);
    pthread_mutex_lock(&check->lock);
    mg__beside_turn(l, true);
    mg__chain_begin(l);
    bool good = mg__code_read(check->kept, info, &l->code) && mg__wgmma_read(info, l) && mg__grid_begin(l) && track(l);
    check->open += good;
    check->running = check->open;
    if (!good)
        mg__beside_over(l);
    pthread_mutex_unlock(&check->lock);
    if (!good) {
        end_launch(l);
        return MG_ERR_NOMEM;
    }
    l->talks = check->watched && talks(l);
    l->shared_units = shared_units(l);
    uint32_t frame = frame_end(info->func);
    l->relaxed = l->one_width = true;
    uint8_t width = 0; /* of its atomics */
    for (uint32_t k = 0; k < info->ninsns; k++) {
        struct site *s = &l->code.sites[k];
        if (info->insns[k].func == info->func)
            s->object_end = frame;
        bool known = s->source.kind == MG_FLOW_VARIABLE && s->source.var->space == MG_SPACE_SHARED && s->object >= 0;
        s->plain_read = !l->by_lanes && s->number && s->reads &&
                        !s->writes && !s->atomic && !s->async && s->class == MG_ORDER_PLAIN;
        if ((s->choice.at || s->parts) && !(s->plain_read && l->race && conflicts(l, s)))
            s->choice.at = s->parts = 0;
        s->plain_read &= !s->choice.at && !s->parts;
        const struct mg_ptx_insn *insn = info->insns[k].insn;
        l->relaxed &=
            insn->opcode != MG_OP_BARRIER_CLUSTER || insn->sub != MG_SUB_ARRIVE || insn->sem == MG_PTX_SEM_RELAXED;
        l->one_width &= !s->atomic || !width || width == s->width;
        width = s->atomic ? s->width : width;
        l->polls |= s->number && s->class == MG_ORDER_POLL && !s->letter;
        s->lo = known ? info->shared_vars[s->object].offset : 0;
        s->hi = known ? s->lo + info->shared_vars[s->object].size : UINT64_MAX;
    }
    leave_unheard(l);
    mg__own_find(l);
    bool apart = (workers > 1 || info->parting) && l->race && info->in_order && !info->ordered;
    if (apart && mg__decides(l))
        *info->in_order = true;
    *state = l;
    return MG_OK;
}

static bool take_learnt(struct launch *l, struct learnt *to)
{
    struct mg_check *check = l->check;
    pthread_mutex_lock(&check->lock);
    if (check->learnt.program && check->learnt.program == l->info->program) {
        *to = check->learnt;
        check->learnt = (struct learnt){0};
    }
    pthread_mutex_unlock(&check->lock);
    to->program = l->info->program;
    to->memos.launch++;
    return to->shapes || (to->shapes = calloc(l->info->ninsns + 1, sizeof(*to->shapes)));
}

void mg__learnt_free(struct learnt *learnt)
{
    free(learnt->shapes);
    mg__memos_free(&learnt->memos);
}

static void *worker_begin(void *state, unsigned index)
{
    struct launch *l = state;
    struct worker *w = malloc(sizeof(*w));
    if (w)
        mg__worker_clear(w, l);
    if (!w || !(w->last = malloc((l->info->ninsns + 1) * sizeof(*w->last))) || !take_learnt(l, &w->learnt)) {
        if (w)
            free(w->last);
        free(w);
        return NULL;
    }
    for (uint32_t k = 0; k < l->info->ninsns; k++)
        w->last[k] = -1;
    w->index = index;
    if (!mg__notes_begin(w)) {
        mg__notes_free(w);
        free(w->last);
        mg__learnt_free(&w->learnt);
        free(w);
        return NULL;
    }
    return w;
}

static void worker_end(void *state, void *worker)
{
    struct launch *l = state;
    struct worker *w = worker;
    for (size_t i = 0; i < w->blocks.count; i++)
        mg__meet_end(w, w->blocks.at[i]);
    for (uint32_t i = 0; i < w->tally.count; i++)
        mg__tally_note(&l->tally, &w->tally.at[i]);
    pthread_mutex_lock(&l->check->lock);
    for (size_t i = 0; i < w->unwritten.count; i++) {
        struct region *r = mg__region_find(l->check, w->unwritten.at[i].address);
        if (r)
            mg__region_mark(r, w->unwritten.at[i].address - r->address,
                            w->unwritten.at[i].address - r->address + w->unwritten.at[i].size, true);
    }
    struct learnt old = w->learnt;
    if (old.program) {
        old = l->check->learnt;
        l->check->learnt = w->learnt;
    }
    pthread_mutex_unlock(&l->check->lock);
    for (size_t i = 0; i < w->blocks.count; i++)
        free_block(w->blocks.at[i], MG_ORDER_WARPS);
    mg__vec_free(&w->blocks);
    mg__vec_free(&w->unwritten);
    mg__tally_free(&w->tally);
    free(w->last);
    mg__learnt_free(&old);
    mg__notes_free(w);
    mg__chosen_free(w);
    mg__define_free(w);
    free(w);
}

static void launch_end(void *state, enum mg_status status)
{
    struct launch *l = state;
    pthread_mutex_lock(&l->check->lock);
    l->check->lost |= status == MG_ERR_ADDRESS || status == MG_ERR_MISALIGNED || status == MG_ERR_ASSERT ||
                      status == MG_ERR_TRAP || status == MG_ERR_DEADLOCK || status == MG_ERR_TIMEOUT;
    l->check->running = --l->check->open;
    mg__grid_collect(l);
    mg__find_report(l);
    mg__heap_launch_ended(l);
    mg__beside_over(l);
    if (!l->check->open)
        mg__region_bury(l->check);
    pthread_mutex_unlock(&l->check->lock);
    end_launch(l);
}

static void on_turn(void *state)
{
    struct launch *l = state;
    pthread_mutex_lock(&l->check->lock);
    mg__beside_turn(l, false);
    pthread_mutex_unlock(&l->check->lock);
}

struct mg_observer mg__check_observer(struct mg_check *check)
{
    return (struct mg_observer){.self = check,
                                .wants = MG_OBSERVE_EVERY | MG_OBSERVE_SYNC | MG_OBSERVE_BULK | MG_OBSERVE_WGMMA |
                                         (check->checks & (MG_CHECK_INIT | MG_CHECK_RACE) ? MG_OBSERVE_STEPS : 0),
                                .launch_begin = launch_begin,
                                .worker_begin = worker_begin,
                                .access = mg__watch_access,
                                .worker_end = worker_end,
                                .launch_end = launch_end,
                                .turn = on_turn,
                                .sync = mg__watch_sync,
                                .step = mg__watch_step,
                                .fault = mg__watch_fault,
                                .notes = mg__notes_of,
                                .noted = mg__notes_shape,
                                .noted_run = mg__notes_run,
                                .met = mg__watch_met};
}
