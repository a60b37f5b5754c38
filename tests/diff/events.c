/* events.c - see events.h. Which warps it follows, and for how long, depends on what it is told alone. */
#include "events.h"

static void add(struct events *e, uint64_t block, uint64_t v)
{
    uint64_t *sum = &e->of[block % EVENT_BLOCKS];
    *sum = (*sum ^ v) * UINT64_C(0x9e3779b97f4a7c15);
    *sum ^= *sum >> 29;
}

static uint64_t place(const struct events *e, uint64_t address)
{
    for (unsigned r = 3; r-- > 0;)
        if (e->region[r] && address >= e->region[r])
            return ((uint64_t)r + 1) << 60 | (address - e->region[r]);
    return address;
}

static enum mg_status begin(void *self, const struct mg_launch_info *launch, unsigned workers, void **state)
{
    (void)launch, (void)workers;
    *state = self;
    return MG_OK;
}
static void *worker_begin(void *state, unsigned worker)
{
    (void)worker;
    return state;
}

static void on_access(void *worker, struct mg_access *a)
{
    struct events *e = worker;
    e->accesses++;
    mg__access_lanes(a);
    add(e, a->block, (uint64_t)a->insn << 32 | a->mask);
    add(e, a->block, (uint64_t)a->kind << 48 | (uint64_t)a->space << 40 | (uint64_t)a->generic << 39 | a->width);
    add(e, a->block, a->target << 32 | a->warp);
    add(e, a->block, (uint64_t)(uint32_t)a->shared_var);
    for (unsigned i = 0; i < 32; i++) {
        if (!(a->mask >> i & 1))
            continue;
        add(e, a->block, place(e, a->address[i]));
        for (uint32_t k = 0; a->value && k < a->width / a->element; k++)
            add(e, a->block, a->value64 ? ((const uint64_t *)a->value[k])[i] : ((const uint32_t *)a->value[k])[i]);
    }
    if (a->follow && a->kind == MG_ACCESS_LD && e->of[a->block % EVENT_BLOCKS] % 16 == 0) {
        *a->follow = true;
        e->left = e->of[a->block % EVENT_BLOCKS] >> 8 & 31;
    }
}

static void on_sync(void *worker, const struct mg_sync *s)
{
    struct events *e = worker;
    e->syncs++;
    add(e, s->block, (uint64_t)s->kind << 40 | (uint64_t)s->arrive << 33 | (uint64_t)s->wrong << 32 | s->insn);
    add(e, s->block, (uint64_t)s->warp << 32 | s->mask);
    add(e, s->block, (uint64_t)s->barrier << 32 | s->count);
    add(e, s->block, s->missing);
    bool named = s->kind == MG_SYNC_WARP || s->kind == MG_SYNC_WARP_SOURCE;
    for (unsigned i = 0; i < 32 && named; i++)
        add(e, s->block, s->mask >> i & 1 ? s->members[i] : 0);
}

static bool on_step(void *worker, const struct mg_step *s)
{
    struct events *e = worker;
    e->steps++;
    add(e, s->block, (uint64_t)s->from << 32 | s->to);
    add(e, s->block, (uint64_t)s->warp << 32 | s->mask);
    return e->left-- > 0;
}

void events_clear(struct events *e)
{
    memset(e->of, 0, sizeof e->of);
}

enum mg_status events_watch(struct mg_simt *simt, struct events *events)
{
    const struct mg_observer observer = {.self = events,
                                         .wants = MG_OBSERVE_EVERY | MG_OBSERVE_SYNC | MG_OBSERVE_STEPS,
                                         .launch_begin = begin,
                                         .worker_begin = worker_begin,
                                         .access = on_access,
                                         .sync = on_sync,
                                         .step = on_step};
    return mg__simt_observe(simt, &observer);
}
