/* graph_memory.c - memory that graphs allocate and free: nodes of that kind, and what is asked of it.
 *
 * The address of a node's memory is known when the node is made, so the memory is there from then on, until no graph,
 * no instance and no program has it any more. Between a launch that allocates it and what frees it it is `live`; at
 * other times the checks know it as freed, and calls of the API as nobody's. Which launch comes first is the order in
 * which the host gives them; a free that waits in its stream while the next launch allocates again is told by the
 * number of that allocation (`born`).
 *
 * Left out: memory of one address for two nodes, which a GPU shares where lifetimes are apart.
 */
#include "cudart/graph.h"

struct mg_graph_memory {
    struct mg_graph_memory *next;
    void *at;
    uint64_t id, size; /* of the allocation: a context that was reset has it no more */
    struct cudart_device *device;
    struct cu_alloc_node params; /* the list of who may access it is our own */
    uint64_t uses;               /* nodes that allocate or free it; and one while it is live */
    uint64_t born;               /* how often it was allocated */
    bool live;
};
static struct mg_graph_memory *memories; /* under the lock */
static struct {
    uint64_t used, most_used, reserved, most_reserved;
} amounts[MG_MOST_DEVICES];
enum { GRANULE = 32 << 20 }; /* what an H100 counts, and holds, for graphs */

/* ---- what is used ---- */
static void count(const struct mg_graph_memory *m, uint64_t used, uint64_t reserved, bool more)
{
    const unsigned n = m->device->ordinal;
    amounts[n].used += more ? used : -used;
    amounts[n].reserved += more ? reserved : -reserved;
    amounts[n].most_used = MG_MAX(amounts[n].most_used, amounts[n].used);
    amounts[n].most_reserved = MG_MAX(amounts[n].most_reserved, amounts[n].reserved);
}

static uint64_t whole(const struct mg_graph_memory *m)
{
    return (m->size + GRANULE - 1) / GRANULE * GRANULE;
}

static struct mg_graph_memory *memory_at(const void *pointer)
{
    struct mg_graph_memory *m = memories;
    while (m && m->at != pointer)
        m = m->next;
    return m;
}

bool mg__graph_memory_absent(const void *pointer)
{
    mg__cudart_lock();
    const struct mg_graph_memory *m = memories;
    while (m && (uint64_t)((const char *)pointer - (const char *)m->at) >= m->size)
        m = m->next;
    bool absent = m && !m->live;
    mg__cudart_unlock();
    return absent;
}

/* ---- made, shared, given up ---- */
static bool is_there(const struct mg_graph_memory *m)
{
    struct cudart_alloc alloc;
    const bool plans = mg__cudart_call.plans;
    mg__cudart_call.plans = true;
    mg__cudart_classify(m->at, NULL, &alloc);
    mg__cudart_call.plans = plans;
    return alloc.address == (uint64_t)(uintptr_t)m->at && alloc.id == m->id;
}

void mg__graph_memory_keep(struct mg_graph_memory *m)
{
    mg__cudart_lock();
    m->uses++;
    mg__cudart_unlock();
}

void mg__graph_memory_release(struct mg_graph_memory *m)
{
    mg__cudart_lock();
    bool last = --m->uses == 0;
    struct mg_graph_memory **at = &memories;
    while (last && *at != m)
        at = &(*at)->next;
    if (last) {
        *at = m->next;
        count(m, 0, whole(m), false);
    }
    mg__cudart_unlock();
    if (!last)
        return;
    if (is_there(m)) { /* what no launch ever had nobody can be at work on, and it may be a capture that ends */
        const struct cudart_call call = mg__cudart_call;
        if (m->born)
            mg__queue_wait_all(m->device->device);
        mg__cudart_free(m->at, false);
        mg__cudart_call = call;
    }
    free((void *)(uintptr_t)m->params.access);
    free(m);
}

static int check(const struct cu_alloc_node *p)
{
    enum { PINNED = 1, ON_DEVICE = 1 };
    if (!p || !p->size || p->pool.allocation != PINNED || p->pool.location.type != ON_DEVICE ||
        (p->naccess && !p->access) || p->naccess > MG_MOST_DEVICES)
        return cudaErrorInvalidValue;
    for (size_t i = 0; i < p->naccess; i++)
        if (p->access[i].location.type != ON_DEVICE || !mg__cudart_at(p->access[i].location.id))
            return cudaErrorInvalidValue;
    if (!mg__cudart_at(p->pool.location.id))
        return cudaErrorInvalidValue;
    return p->pool.handles ? cudaErrorNotSupported : 0;
}

int mg__graph_alloc(struct cu_alloc_node *p, struct mg_graph_op *op)
{
    int error = check(p);
    if (error)
        return error;
    struct cudart_device *here = mg__cudart_here();
    struct cudart_device *device =
        here->ordinal == (unsigned)p->pool.location.id ? here : mg__cudart_at(p->pool.location.id);
    struct mg_graph_memory *m = calloc(1, sizeof(*m));
    struct cu_access_desc *access = p->naccess ? malloc(p->naccess * sizeof(*access)) : NULL;
    error = m && (access || !p->naccess) ? mg__cudart_use(device) : cudaErrorMemoryAllocation;
    const bool async = mg__cudart_call.async;
    mg__cudart_call.async = true; /* a node may be made while something is captured */
    void *at = NULL;
    if (!error)
        error = mg__cudart_alloc(&at, p->size, CUDART_DEVICE, device);
    mg__cudart_call.async = async;
    if (error) {
        free(access);
        free(m);
        return error;
    }
    mg__check_freed(device->device->check, (uint64_t)(uintptr_t)at);
    *m = (struct mg_graph_memory){
        .at = at, .id = mg__cudart_graphs_own(at), .size = p->size, .device = device, .uses = 1};
    if (access)
        memcpy(access, p->access, p->naccess * sizeof(*access));
    p->at = at;
    m->params = *p;
    m->params.access = access;
    mg__cudart_lock();
    m->next = memories;
    memories = m;
    count(m, 0, whole(m), true);
    mg__cudart_unlock();
    *op = (struct mg_graph_op){.type = MG_GRAPH_ALLOC, .memory = m};
    return 0;
}

int mg__graph_unalloc(const void *pointer, struct mg_graph_op *op)
{
    mg__cudart_lock();
    struct mg_graph_memory *m = pointer ? memory_at(pointer) : NULL;
    if (m)
        m->uses++;
    mg__cudart_unlock();
    if (!m)
        return cudaErrorInvalidValue;
    *op = (struct mg_graph_op){.type = MG_GRAPH_UNALLOC, .memory = m};
    return 0;
}

bool mg__graph_has_unalloc(const struct mg_graph *g, const struct mg_graph_memory *m)
{
    for (size_t i = 0; i < g->nodes.count; i++)
        if (g->nodes.at[i]->op.type == MG_GRAPH_UNALLOC && g->nodes.at[i]->op.memory == m)
            return true;
    return false;
}

bool mg__graph_has_memory(const struct mg_graph *g)
{
    for (size_t i = 0; i < g->nodes.count; i++)
        if (g->nodes.at[i]->op.type == MG_GRAPH_ALLOC || g->nodes.at[i]->op.type == MG_GRAPH_UNALLOC)
            return true;
    return false;
}

/* ---- launches ---- */
/* Live from now on, or no more, as the host gives the work. True: it changed. */
static bool set_live(struct mg_graph_memory *m, bool live)
{
    mg__cudart_lock();
    const bool changes = m->live != live;
    if (changes) {
        m->live = live;
        m->born += live;
        m->uses += live;
        count(m, whole(m), 0, live);
    }
    mg__cudart_unlock();
    return changes;
}

int mg__graph_memory_alloc(struct mg_graph_memory *m)
{
    struct mg_check *check = m->device->device->check;
    if (!is_there(m))
        return cudaErrorInvalidValue; /* its context was reset */
    if (!set_live(m, true))
        return 0;
    mg__check_freed(check, (uint64_t)(uintptr_t)m->at); /* a free that still waits comes to nothing */
    mg__check_allocated(check, (uint64_t)(uintptr_t)m->at, m->size, MG_CHECK_DEVICE);
    if (m->device == mg__cudart_call.device)
        mg__check_in_order(check, mg__cudart_call.name, mg__cudart_call.stream, (uint64_t)(uintptr_t)m->at);
    return 0;
}

struct ending {
    struct mg_graph_memory *memory;
    uint64_t born;
    struct cudart_call call;
};

static void tell_freed(struct mg_graph_memory *m, uint64_t born)
{
    struct mg_check *check = m->device->device->check;
    if (m->device == mg__cudart_call.device)
        mg__check_in_order(check, mg__cudart_call.name, mg__cudart_call.stream, (uint64_t)(uintptr_t)m->at);
    mg__cudart_lock();
    if (m->born == born && is_there(m))
        mg__check_freed(check, (uint64_t)(uintptr_t)m->at);
    mg__cudart_unlock();
}

static void end_later(void *arg)
{
    struct ending *e = arg;
    const struct cudart_call call = mg__cudart_call;
    mg__cudart_call = e->call;
    tell_freed(e->memory, e->born);
    mg__cudart_call = call;
    mg__graph_memory_release(e->memory);
    free(e);
}

int mg__graph_memory_free(struct mg_graph_memory *m)
{
    struct mg_device *d = mg__cudart_call.device->device;
    const uint64_t born = m->born;
    if (!set_live(m, false))
        return cudaErrorInvalidValue;
    struct ending *e = mg__queue_clear(d, mg__cudart_call.order) ? NULL : malloc(sizeof(*e));
    if (e) {
        *e = (struct ending){m, born, mg__cudart_call};
        if (!mg__queue_call(d, mg__cudart_call.order, end_later, e))
            return 0;
        free(e);
    }
    tell_freed(m, born);
    mg__graph_memory_release(m);
    return 0;
}

bool mg__graph_memory_freed(void *pointer, int *error)
{
    mg__cudart_lock();
    struct mg_graph_memory *m = pointer ? memory_at(pointer) : NULL;
    if (m)
        m->uses++;
    mg__cudart_unlock();
    if (!m)
        return false;
    *error = mg__graph_memory_free(m);
    mg__graph_memory_release(m);
    return true;
}

/* What a launch finds that the last one left: an error, or freed with the flag for that. */
int mg__graph_memory_begin(const struct mg_graph *g, bool frees)
{
    int error = 0;
    for (size_t i = 0; i < g->nodes.count && !error; i++) {
        const struct mg_graph_op *op = &g->nodes.at[i]->op;
        if (op->type == MG_GRAPH_ALLOC && op->memory->live)
            error = frees ? mg__graph_memory_free(op->memory) : cudaErrorInvalidValue;
        for (size_t k = 0; op->type == MG_GRAPH_UNALLOC && !op->memory->live && !error; k++) {
            if (k == g->nodes.count)
                error = cudaErrorInvalidValue;
            else if (g->nodes.at[k]->op.type == MG_GRAPH_ALLOC && g->nodes.at[k]->op.memory == op->memory)
                break;
        }
    }
    return error;
}

/* ---- asked ---- */
void mg__graph_memory_params(const struct mg_graph_memory *m, struct cu_alloc_node *p)
{
    *p = m->params;
}

void *mg__graph_memory_address(const struct mg_graph_memory *m)
{
    return m->at;
}

enum { USED, MOST_USED, RESERVED, MOST_RESERVED };

int mg__cudaDeviceGetGraphMemAttribute(int device, int attribute, void *value)
{
    CUDART_ENTER();
    if (!mg__cudart_at(device))
        return mg__cudart_done(cudaErrorInvalidDevice);
    if (!value || attribute < USED || attribute > MOST_RESERVED)
        return mg__cudart_done(cudaErrorInvalidValue);
    mg__cudart_lock();
    const uint64_t of[] = {amounts[device].used, amounts[device].most_used, amounts[device].reserved,
                           amounts[device].most_reserved};
    mg__cudart_unlock();
    memcpy(value, &of[attribute], sizeof(of[0]));
    return mg__cudart_done(0);
}

/* The most that there were can be set to what there is now, and to nothing else. */
int mg__cudaDeviceSetGraphMemAttribute(int device, int attribute, void *value)
{
    uint64_t to;
    CUDART_ENTER();
    if (!mg__cudart_at(device))
        return mg__cudart_done(cudaErrorInvalidDevice);
    if (!value || (attribute != MOST_USED && attribute != MOST_RESERVED))
        return mg__cudart_done(cudaErrorInvalidValue);
    memcpy(&to, value, sizeof(to));
    if (to)
        return mg__cudart_done(cudaErrorInvalidValue);
    mg__cudart_lock();
    if (attribute == MOST_USED)
        amounts[device].most_used = amounts[device].used;
    else
        amounts[device].most_reserved = amounts[device].reserved;
    mg__cudart_unlock();
    return mg__cudart_done(0);
}

int mg__cudaDeviceGraphMemTrim(int device)
{
    CUDART_ENTER(); /* what no graph has is given back at once */
    return mg__cudart_done(mg__cudart_at(device) ? 0 : cudaErrorInvalidDevice);
}
