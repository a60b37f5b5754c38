/* graph_condition.c - conditions: values that kernels set, and nodes that choose by them what is done, and how often.
 *
 * A handle is the address of a word of device memory; cudaGraphSetConditional stores there (simt/system.c). It belongs
 * to the graph that it was made for, and to that graph's copies. A launch that comes to such a node waits on the host
 * until what is before it is over, and reads the word; so cudaGraphLaunch returns when the last condition was looked
 * at, where a GPU would go on by itself.
 */
#include "cudart/graph.h"

struct mg_graph_condition {
    struct mg_graph_condition *next;
    uint32_t *word;
    uint64_t id; /* of its allocation: a context that was reset has it no more */
    struct cudart_device *device;
    uint32_t value;
    bool assigned; /* at each launch */
    bool taken;    /* by a node */
    uint64_t graph, uses;
};
static struct mg_graph_condition *conditions; /* under the lock */

static bool is_there(const struct mg_graph_condition *c)
{
    struct cudart_alloc alloc;
    mg__cudart_classify(c->word, NULL, &alloc);
    return alloc.address == (uint64_t)(uintptr_t)c->word && alloc.id == c->id;
}

static struct mg_graph_condition *known(uint64_t handle)
{
    struct mg_graph_condition *c = conditions;
    while (c && (uint64_t)(uintptr_t)c->word != handle)
        c = c->next;
    return c;
}

void mg__graph_condition_keep(struct mg_graph_condition *c)
{
    mg__cudart_lock();
    c->uses++;
    mg__cudart_unlock();
}

void mg__graph_condition_release(struct mg_graph_condition *c)
{
    mg__cudart_lock();
    bool last = --c->uses == 0;
    struct mg_graph_condition **at = &conditions;
    while (last && *at != c)
        at = &(*at)->next;
    if (last)
        *at = c->next;
    mg__cudart_unlock();
    if (!last)
        return;
    if (is_there(c))
        mg__cudart_free(c->word, false);
    free(c);
}

/* The outermost graph that it is part of. */
static struct mg_graph *root_of(struct mg_graph *g)
{
    while (g->parent && g->parent->graph)
        g = g->parent->graph;
    return g;
}

int mg__cudaGraphConditionalHandleCreate(uint64_t *handle, void *graph, unsigned value, unsigned flags)
{
    enum { ASSIGN = 1 };
    CUDART_ENTER();
    struct mg_graph *g = mg__graph_known(graph);
    if (!handle || !g || (flags & ~(unsigned)ASSIGN))
        return mg__cudart_done(cudaErrorInvalidValue);
    struct mg_graph_condition *c = calloc(1, sizeof(*c));
    void *word = NULL;
    const bool async = mg__cudart_call.async;
    mg__cudart_call.async = true;
    struct cudart_device *here = mg__cudart_here();
    int error = c ? mg__cudart_alloc(&word, sizeof(uint64_t), CUDART_DEVICE, here) : cudaErrorMemoryAllocation;
    mg__cudart_call.async = async;
    g = root_of(g);
    if (!error && !mg__vec_push(&g->conditions, c)) {
        mg__cudart_free(word, false);
        error = cudaErrorMemoryAllocation;
    }
    if (error) {
        free(c);
        return mg__cudart_done(error);
    }
    struct cudart_alloc alloc;
    mg__cudart_classify(word, NULL, &alloc);
    *c = (struct mg_graph_condition){.word = word, .id = alloc.id, .device = here, .value = value};
    c->assigned = flags & ASSIGN;
    c->graph = g->id;
    c->uses = 1;
    mg__cudart_lock();
    c->next = conditions;
    conditions = c;
    mg__cudart_unlock();
    *handle = (uint64_t)(uintptr_t)word;
    return mg__cudart_done(0);
}

int mg__graph_conditional(const struct cu_condition_node *p, struct mg_graph *into, struct mg_graph_op *op)
{
    const bool sizes = p->type == MG_CONDITION_IF      ? p->size == 1 || p->size == 2
                       : p->type == MG_CONDITION_WHILE ? p->size == 1
                                                       : p->type == MG_CONDITION_SWITCH && p->size;
    const unsigned most = 1 << 16;
    mg__cudart_lock();
    struct mg_graph_condition *c = known(p->handle);
    const bool good = c && !c->taken && sizes && p->size <= most && into && root_of(into)->id == c->graph;
    if (good) {
        c->taken = true;
        c->uses++;
    }
    mg__cudart_unlock();
    if (!good)
        return cudaErrorInvalidValue;
    *op = (struct mg_graph_op){.type = MG_GRAPH_CONDITIONAL, .condition = {c, p->type, p->size, NULL}};
    op->condition.bodies = calloc(p->size, sizeof(struct mg_graph *));
    bool made = op->condition.bodies != NULL;
    for (unsigned i = 0; i < p->size && made; i++)
        made = (op->condition.bodies[i] = mg__graph_make()) != NULL;
    if (made)
        return 0;
    c->taken = false;
    mg__graph_op_free(op);
    return cudaErrorMemoryAllocation;
}

int mg__graph_conditional_copy(const struct mg_graph_op *from, struct mg_graph_op *to)
{
    const struct mg_graph_if *f = &from->condition;
    *to = (struct mg_graph_op){.type = MG_GRAPH_CONDITIONAL, .condition = {f->condition, f->type, f->size, NULL}};
    mg__graph_condition_keep(f->condition);
    to->condition.bodies = calloc(f->size, sizeof(struct mg_graph *));
    bool made = to->condition.bodies != NULL;
    for (unsigned i = 0; i < f->size && made; i++)
        made = (to->condition.bodies[i] = mg__graph_copy(f->bodies[i])) != NULL;
    if (made)
        return 0;
    mg__graph_op_free(to);
    return cudaErrorMemoryAllocation;
}

void mg__graph_conditional_free(struct mg_graph_if *f)
{
    for (unsigned i = 0; i < f->size && f->bodies; i++)
        mg__graph_free(f->bodies[i]);
    free(f->bodies);
    mg__graph_condition_release(f->condition);
}

/* ---- launches ---- */
static uint32_t *word_of(const struct mg_graph_condition *c)
{
    return is_there(c) ? c->word : NULL;
}

int mg__graph_conditions_begin(const struct mg_graph *g)
{
    int error = 0;
    for (size_t i = 0; i < g->conditions.count && !error; i++) {
        const struct mg_graph_condition *c = g->conditions.at[i];
        uint32_t *word = word_of(c);
        if (!word)
            error = cudaErrorInvalidValue;
        else if (c->assigned)
            __atomic_store_n(word, c->value, __ATOMIC_RELEASE);
    }
    return error;
}

int mg__graph_condition_read(const struct mg_graph_condition *c, uint32_t *value)
{
    const bool may = mg__queue_wait(mg__cudart_call.device->device, mg__cudart_call.order);
    int error = mg__cudart_waited(mg__cudart_call.device, may);
    const uint32_t *word = word_of(c);
    if (!error && !word)
        error = cudaErrorInvalidValue;
    if (!error)
        *value = __atomic_load_n(word, __ATOMIC_ACQUIRE);
    return error;
}
