/* graph_exec.c - instances of graphs: a plan of what is done in which lane, launches, and changes.
 *
 * A plan is a list of steps, each behind all that it waits for, children's nodes in the place of the child. A step goes
 * on in the lane of a step that it waits for, where nothing came behind that yet; else in one whose last step it is
 * behind anyway; else in a new one. Lane 0 is the stream of the launch, so that a graph that is a line is done as if
 * its nodes had been given to the stream; the others are streams of the instance. Every step knows how far it is behind
 * each lane
 * (`seen`), so it waits for no more than it has to. Launches of one instance are one behind the other, as CUDA has
 * them.
 */
#include "cudart/graph.h"

#include <assert.h>

struct step {
    struct mg_graph_node *node;
    MG_VEC(size_t) needs; /* steps: all of them; and those that it waits for in other lanes, by events */
    MG_VEC(size_t) waits;
    MG_VEC(size_t) seen; /* by lane: so many of the list's steps, counted from 1, may be over before it begins */
    size_t lane;
    struct mg_event *event; /* NULL: no other lane waits for it */
    bool waited;
    MG_VEC(struct mg_graph_exec *) choices; /* of a condition: an instance of each of its graphs */
};
struct lane {
    struct mg_stream *stream; /* NULL: the launch's */
    size_t last;              /* its last step, counted from 1 */
    bool begun;               /* in the launch that goes on */
};
typedef MG_VEC(size_t) step_list;
struct mg_graph_exec {
    struct mg_graph_exec *next;
    struct mg_graph *body;
    bool borrows; /* the body: it is a part of another instance's */
    struct cudart_device *device;
    uint64_t flags;
    pthread_mutex_t launching;
    bool planned;
    MG_VEC(struct step) steps;
    MG_VEC(struct lane) lanes;
    struct mg_event *fork, *over; /* the launch begins; it is over */
};
static struct mg_graph_exec *instances;

struct mg_graph_exec *mg__graph_exec_known(const void *handle)
{
    mg__cudart_lock();
    struct mg_graph_exec *x = instances;
    while (x && x != handle)
        x = x->next;
    mg__cudart_unlock();
    return x;
}

uint64_t mg__graph_exec_flags(const struct mg_graph_exec *x)
{
    return x->flags;
}

const struct mg_graph *mg__graph_exec_body(const struct mg_graph_exec *x)
{
    return x->body;
}

/* ---- the plan ---- */
static void drop_event(const struct mg_graph_exec *x, struct mg_event **event)
{
    if (*event && mg__event_drop(x->device->device, *event))
        mg__check_event_gone(x->device->device->check, (uint64_t)(uintptr_t)*event);
    *event = NULL;
}

static void free_exec(struct mg_graph_exec *x);

static void drop_plan(struct mg_graph_exec *x)
{
    for (size_t i = 0; i < x->steps.count; i++) {
        struct step *s = &x->steps.at[i];
        for (size_t k = 0; k < s->choices.count; k++)
            free_exec(s->choices.at[k]);
        mg__vec_free(&s->choices);
        drop_event(x, &s->event);
        mg__vec_free(&s->needs);
        mg__vec_free(&s->waits);
        mg__vec_free(&s->seen);
    }
    x->steps.count = 0;
    for (size_t i = 0; i < x->lanes.count; i++)
        x->lanes.at[i].last = 0;
    x->planned = false;
}

/* Steps for the nodes of `g`, all behind `entry`; *exits gets the last ones. */
static int add_steps(struct mg_graph_exec *x, struct mg_graph *g, const step_list *entry, step_list *exits)
{
    struct mg_graph_node **order;
    int error = mg__graph_sorted(g, &order);
    size_t n = g->nodes.count;
    step_list *ends =
        error ? NULL : calloc(n + 1, sizeof(*ends)); /* by node: the steps that whoever is behind it needs */
    if (error)
        return error;
    for (size_t i = 0; i < n && ends; i++)
        g->nodes.at[i]->mark = i;
    for (size_t i = 0; i < n && ends && !error; i++) {
        struct mg_graph_node *node = order[i];
        step_list needs = {0};
        bool good = true;
        for (size_t k = 0; k < node->before.count; k++) {
            const step_list *e = &ends[node->before.at[k]->mark];
            for (size_t j = 0; j < e->count; j++)
                good &= mg__vec_push(&needs, e->at[j]);
        }
        for (size_t k = 0; k < entry->count && !node->before.count; k++)
            good &= mg__vec_push(&needs, entry->at[k]);
        if (good && node->op.type == MG_GRAPH_CHILD) {
            error = add_steps(x, node->op.child, &needs, &ends[node->mark]);
            mg__vec_free(&needs);
        } else if (good) {
            struct step s = {.node = node, .needs = {needs.at, needs.count, needs.capacity}};
            good = mg__vec_push(&ends[node->mark], x->steps.count) && mg__vec_push(&x->steps, s);
        }
        if (!good)
            error = cudaErrorMemoryAllocation;
    }
    for (size_t i = 0; i < n && ends && !error; i++)
        for (size_t k = 0; k < ends[i].count && !g->nodes.at[i]->after.count; k++)
            if (!mg__vec_push(exits, ends[i].at[k]))
                error = cudaErrorMemoryAllocation;
    for (size_t k = 0; k < entry->count && !n; k++) /* nothing in it: what is behind it is behind its entry */
        if (!mg__vec_push(exits, entry->at[k]))
            error = cudaErrorMemoryAllocation;
    for (size_t i = 0; i < n && ends; i++)
        mg__vec_free(&ends[i]);
    free(order);
    if (!ends)
        return cudaErrorMemoryAllocation;
    free(ends);
    return error;
}

/* The step is behind `other`, too, and all that this is behind. */
static bool see(struct step *s, const struct mg_graph_exec *x, size_t other)
{
    const struct step *o = &x->steps.at[other];
    while (s->seen.count <= o->lane || s->seen.count < o->seen.count)
        if (!mg__vec_push(&s->seen, (size_t)0))
            return false;
    for (size_t l = 0; l < o->seen.count; l++)
        s->seen.at[l] = MG_MAX(s->seen.at[l], o->seen.at[l]);
    s->seen.at[o->lane] = MG_MAX(s->seen.at[o->lane], other + 1);
    return true;
}

static int choose_lane(struct mg_graph_exec *x, struct step *s)
{
    for (size_t l = 0; l < x->lanes.count; l++) {
        size_t seen = l < s->seen.count ? s->seen.at[l] : 0;
        if (x->lanes.at[l].last == seen) {
            s->lane = l;
            return 0;
        }
    }
    struct lane lane = {0};
    struct mg_device *d = x->device->device;
    if (x->lanes.count) {
        if (mg__stream_make(d, false, 0, &lane.stream))
            return cudaErrorMemoryAllocation;
        mg__check_stream_made(d->check, (uint64_t)(uintptr_t)lane.stream, false);
    }
    s->lane = x->lanes.count;
    return mg__vec_push(&x->lanes, lane) ? 0 : cudaErrorMemoryAllocation;
}

/* Of the steps that it needs, the last of each lane, if no other one is behind it anyway. */
static int find_waits(struct mg_graph_exec *x, struct step *s)
{
    for (size_t i = 0; i < s->needs.count; i++) {
        size_t need = s->needs.at[i], lane = x->steps.at[need].lane;
        bool implied = lane == s->lane || s->seen.at[lane] != need + 1;
        for (size_t k = 0; k < s->needs.count && !implied; k++) {
            const struct step *other = &x->steps.at[s->needs.at[k]];
            implied = s->needs.at[k] != need && lane < other->seen.count && other->seen.at[lane] >= need + 1;
        }
        for (size_t k = 0; k < s->waits.count && !implied; k++)
            implied = s->waits.at[k] == need;
        if (implied)
            continue;
        x->steps.at[need].waited = true;
        if (!mg__vec_push(&s->waits, need))
            return cudaErrorMemoryAllocation;
    }
    return 0;
}

static int make_exec(struct mg_graph *body, bool borrows, struct cudart_device *device, uint64_t flags,
                     struct mg_graph_exec **made);

static int add_choices(const struct mg_graph_exec *x, struct step *s)
{
    const struct mg_graph_op *op = &s->node->op;
    struct mg_graph *part;
    int error = 0;
    if (op->type != MG_GRAPH_CONDITIONAL)
        return 0;
    for (size_t k = 0; !error && (part = mg__graph_part(op, k)) != NULL; k++) {
        struct mg_graph_exec *choice;
        error = make_exec(part, true, x->device, x->flags, &choice);
        if (!error && !mg__vec_push(&s->choices, choice)) {
            free_exec(choice);
            error = cudaErrorMemoryAllocation;
        }
    }
    return error;
}

static int plan(struct mg_graph_exec *x)
{
    step_list none = {0}, exits = {0};
    drop_plan(x);
    int error = add_steps(x, x->body, &none, &exits);
    mg__vec_free(&exits);
    for (size_t i = 0; i < x->steps.count && !error; i++) {
        struct step *s = &x->steps.at[i];
        for (size_t k = 0; k < s->needs.count && !error; k++)
            error = see(s, x, s->needs.at[k]) ? 0 : cudaErrorMemoryAllocation;
        if (!error)
            error = choose_lane(x, s);
        if (!error)
            error = find_waits(x, s);
        if (!error)
            x->lanes.at[s->lane].last = i + 1;
        if (!error)
            error = add_choices(x, s);
    }
    for (size_t l = 1; l < x->lanes.count && !error; l++) /* the launch's stream waits for them all */
        if (x->lanes.at[l].last)
            x->steps.at[x->lanes.at[l].last - 1].waited = true;
    for (size_t i = 0; i < x->steps.count && !error; i++)
        if (x->steps.at[i].waited &&
            mg__event_make(x->device->device, CU_EVENT_NO_TIMING, false, &x->steps.at[i].event))
            error = cudaErrorMemoryAllocation;
    x->planned = !error;
    return error;
}

/* ---- instances ---- */
static bool of_device(const struct mg_graph *g, const struct cudart_device *device)
{
    bool good = true;
    for (size_t i = 0; i < g->nodes.count && good; i++) {
        const struct mg_graph_node *node = g->nodes.at[i];
        const struct mg_graph *part;
        good = node->op.type == MG_GRAPH_CHILD || node->device == device;
        for (size_t k = 0; good && (part = mg__graph_part(&node->op, k)) != NULL; k++)
            good = of_device(part, device);
    }
    return good;
}

static void free_exec(struct mg_graph_exec *x)
{
    struct mg_device *d = x->device->device;
    drop_plan(x);
    for (size_t l = 1; l < x->lanes.count; l++)
        if (mg__stream_drop(d, x->lanes.at[l].stream))
            mg__check_stream_gone(d->check, (uint64_t)(uintptr_t)x->lanes.at[l].stream);
    drop_event(x, &x->fork);
    drop_event(x, &x->over);
    mg__vec_free(&x->steps);
    mg__vec_free(&x->lanes);
    if (!x->borrows)
        mg__graph_free(x->body);
    pthread_mutex_destroy(&x->launching);
    free(x);
}

static int make_exec(struct mg_graph *body, bool borrows, struct cudart_device *device, uint64_t flags,
                     struct mg_graph_exec **made)
{
    struct mg_graph_exec *x = calloc(1, sizeof(*x));
    if (!x) {
        if (!borrows)
            mg__graph_free(body);
        return cudaErrorMemoryAllocation;
    }
    pthread_mutex_init(&x->launching, NULL);
    x->device = device;
    x->flags = flags;
    x->body = body;
    x->borrows = borrows;
    int error = body ? 0 : cudaErrorMemoryAllocation;
    if (!error && (mg__event_make(device->device, CU_EVENT_NO_TIMING, false, &x->fork) ||
                   mg__event_make(device->device, CU_EVENT_NO_TIMING, false, &x->over)))
        error = cudaErrorMemoryAllocation;
    if (!error)
        error = plan(x);
    if (error)
        free_exec(x);
    else
        *made = x;
    return error;
}

/* A graph that allocates has one instance at a time: its memory is there once. */
int mg__graph_instantiate(struct mg_graph *g, uint64_t flags, struct mg_graph_exec **made)
{
    struct cudart_device *device = g->nodes.count ? g->nodes.at[0]->device : mg__cudart_here();
    struct mg_graph_exec *x;
    if (!of_device(g, device))
        return mg__cudart_missing("cudaGraphInstantiate of a graph over several devices");
    if (g->instances && mg__graph_has_memory(g))
        return cudaErrorNotSupported;
    if (!mg__graph_can_run(g, false))
        return cudaErrorInvalidValue;
    int error = make_exec(mg__graph_copy(g), false, device, flags, &x);
    if (error)
        return error;
    mg__cudart_lock();
    g->instances++;
    x->next = instances;
    instances = x;
    mg__cudart_unlock();
    *made = x;
    return 0;
}

int mg__graph_exec_drop(struct mg_graph_exec *x)
{
    mg__cudart_lock();
    struct mg_graph_exec **at = &instances;
    while (*at && *at != x)
        at = &(*at)->next;
    if (*at)
        *at = x->next;
    struct mg_graph *of = mg__graph_at(x->body->origin);
    if (of && of->instances)
        of->instances--;
    mg__cudart_unlock();
    pthread_mutex_lock(&x->launching);
    pthread_mutex_unlock(&x->launching);
    free_exec(x);
    return 0;
}

/* ---- launches ---- */
/* The call is of that lane from now on. */
static int in_lane(struct mg_graph_exec *x, size_t lane, const struct cudart_call *launch)
{
    struct lane *l = &x->lanes.at[lane];
    bool first = lane && !l->begun;
    mg__cudart_call = *launch;
    if (lane && !mg__cudart_stream_ok(l->stream))
        return cudaErrorInvalidResourceHandle; /* its context was reset */
    mg__cudart_call.replays = true;
    l->begun = true;
    return first ? mg__cudart_event_wait(x->fork) : 0;
}

static int run(struct mg_graph_exec *x);

/* Of the graphs of a condition the one that its value names, and while it does so. */
static int choose(const struct step *s)
{
    const struct mg_graph_if *c = &s->node->op.condition;
    const struct cudart_call call = mg__cudart_call;
    int error;
    bool again;
    do {
        uint32_t value = 0;
        error = mg__graph_condition_read(c->condition, &value);
        const uint32_t which = c->type == MG_CONDITION_SWITCH ? value : !value;
        again = c->type == MG_CONDITION_WHILE && value && !error;
        if (!error && which < s->choices.count)
            error = run(s->choices.at[which]);
        mg__cudart_call = call;
    } while (again && !error);
    return error;
}

static int run_step(struct mg_graph_exec *x, const struct step *s)
{
    int error = 0;
    for (size_t i = 0; i < s->waits.count && !error; i++)
        error = mg__cudart_event_wait(x->steps.at[s->waits.at[i]].event);
    if (!error && s->node->op.type == MG_GRAPH_CONDITIONAL)
        error = choose(s);
    else if (!error && !s->node->disabled)
        error = mg__graph_op_run(&s->node->op);
    if (!error && s->event)
        error = mg__cudart_event_record(s->event);
    return error;
}

static int run(struct mg_graph_exec *x)
{
    const struct cudart_call launch = mg__cudart_call;
    int error = x->planned ? 0 : plan(x);
    for (size_t l = 0; l < x->lanes.count; l++)
        x->lanes.at[l].begun = false;
    if (!error)
        error = mg__cudart_event_wait(x->over);
    if (!error && x->lanes.count > 1)
        error = mg__cudart_event_record(x->fork);
    for (size_t i = 0; i < x->steps.count && !error; i++) {
        error = in_lane(x, x->steps.at[i].lane, &launch);
        if (!error)
            error = run_step(x, &x->steps.at[i]);
    }
    mg__cudart_call = launch;
    for (size_t l = 1; l < x->lanes.count && !error; l++)
        if (x->lanes.at[l].last)
            error = mg__cudart_event_wait(x->steps.at[x->lanes.at[l].last - 1].event);
    return error ? error : mg__cudart_event_record(x->over);
}

/* Values are assigned anew, those of graphs within it, too. */
static int begin_conditions(const struct mg_graph *g)
{
    int error = mg__graph_conditions_begin(g);
    for (size_t i = 0; i < g->nodes.count && !error; i++) {
        const struct mg_graph *part;
        for (size_t k = 0; !error && (part = mg__graph_part(&g->nodes.at[i]->op, k)) != NULL; k++)
            error = begin_conditions(part);
    }
    return error;
}

static bool has_conditions(const struct mg_graph *g)
{
    bool has = g->conditions.count > 0;
    for (size_t i = 0; i < g->nodes.count && !has; i++)
        has = g->nodes.at[i]->op.type == MG_GRAPH_CHILD && has_conditions(g->nodes.at[i]->op.child);
    return has;
}

/* What the launch begins with. Words of conditions are the host's to write when no launch before reads them any more.
 */
static int prepare(struct mg_graph_exec *x)
{
    enum { FREE_ON_LAUNCH = 1 };
    int error = mg__graph_memory_begin(x->body, x->flags & FREE_ON_LAUNCH);
    if (error || !has_conditions(x->body))
        return error;
    const bool may = mg__queue_wait(mg__cudart_call.device->device, mg__cudart_call.order);
    error = mg__cudart_waited(mg__cudart_call.device, may);
    return error ? error : begin_conditions(x->body);
}

int mg__graph_launch(struct mg_graph_exec *x, void *stream)
{
    struct mg_capture *capture = NULL;
    if (!mg__cudart_stream_ok(stream))
        return cudaErrorInvalidResourceHandle;
    int error = mg__capture_asked(&capture);
    if (!error && capture) {
        struct mg_graph_op op;
        error = mg__graph_has_memory(x->body) ? cudaErrorNotSupported : mg__graph_child(x->body, &op);
        return error ? error : mg__capture_add(capture, &op);
    }
    if (!error && mg__cudart_call.device != x->device)
        error = mg__cudart_missing("cudaGraphLaunch in a stream of another device");
    if (error)
        return error;
    pthread_mutex_lock(&x->launching);
    error = prepare(x);
    if (!error)
        error = run(x);
    pthread_mutex_unlock(&x->launching);
    return error;
}

/* ---- changes ---- */
struct mg_graph_node *mg__graph_exec_node(struct mg_graph_exec *x, const struct mg_graph_node *node)
{
    return mg__graph_copy_of(x->body, node->id);
}

/* What no update changes: memory, and which condition is looked at how. */
static bool same_fixed(const struct mg_graph_op *a, const struct mg_graph_op *b)
{
    if (a->type == MG_GRAPH_ALLOC || a->type == MG_GRAPH_UNALLOC)
        return a->memory == b->memory;
    return a->type != MG_GRAPH_CONDITIONAL ||
           (a->condition.condition == b->condition.condition && a->condition.type == b->condition.type &&
            a->condition.size == b->condition.size);
}

/* Whether the graphs are of one shape, node by node in the order in which they were made. */
static bool compare(const struct mg_graph *own, const struct mg_graph *g, struct mg_graph_update *u)
{
    for (size_t i = 0; i < g->nodes.count; i++)
        g->nodes.at[i]->mark = i;
    for (size_t i = 0; i < own->nodes.count; i++)
        own->nodes.at[i]->mark = i;
    u->result = MG_UPDATE_TOPOLOGY;
    if (own->nodes.count != g->nodes.count)
        return false;
    for (size_t i = 0; i < g->nodes.count; i++) {
        const struct mg_graph_node *a = own->nodes.at[i], *b = g->nodes.at[i];
        u->node = g->nodes.at[i];
        if (a->before.count != b->before.count)
            return false;
        for (size_t k = 0; k < a->before.count; k++) {
            u->from = b->before.at[k];
            if (a->before.at[k]->mark != b->before.at[k]->mark)
                return false;
        }
        u->from = NULL;
        if (a->op.type != b->op.type) {
            u->result = MG_UPDATE_TYPE;
            return false;
        }
        if (!same_fixed(&a->op, &b->op)) {
            u->result = MG_UPDATE_NOT_SUPPORTED;
            return false;
        }
    }
    u->node = NULL;
    for (size_t i = 0; i < g->nodes.count; i++) {
        const struct mg_graph *part;
        for (size_t k = 0; (part = mg__graph_part(&g->nodes.at[i]->op, k)) != NULL; k++)
            if (!compare(mg__graph_part(&own->nodes.at[i]->op, k), part, u))
                return false;
    }
    u->result = MG_UPDATE_DONE;
    return true;
}

static int follow(struct mg_graph *own, const struct mg_graph *g)
{
    for (size_t i = 0; i < g->nodes.count; i++) {
        struct mg_graph_node *a = own->nodes.at[i];
        const struct mg_graph_node *b = g->nodes.at[i];
        struct mg_graph_op op;
        struct mg_graph *part = mg__graph_part(&b->op, 0);
        int error = 0;
        for (size_t k = 0; part && !error; part = mg__graph_part(&b->op, ++k))
            error = follow(mg__graph_part(&a->op, k), part);
        if (!error && !mg__graph_part(&b->op, 0)) {
            error = mg__graph_op_copy(&b->op, &op);
            if (!error)
                mg__graph_node_set(a, &op);
        }
        if (error)
            return error;
    }
    return 0;
}

int mg__graph_exec_set(struct mg_graph_exec *x, const struct mg_graph_node *node, struct mg_graph_op *op)
{
    struct mg_graph_node *own = mg__graph_exec_node(x, node);
    struct mg_graph_update u;
    int error = own && own->op.type == op->type ? 0 : cudaErrorInvalidValue;
    if (!error && op->type == MG_GRAPH_CHILD && !compare(own->op.child, op->child, &u))
        error = cudaErrorInvalidValue;
    if (!error && op->type == MG_GRAPH_CHILD)
        error = follow(own->op.child, op->child);
    if (error || op->type == MG_GRAPH_CHILD)
        mg__graph_op_free(op);
    else
        mg__graph_node_set(own, op);
    return error;
}

int mg__graph_exec_update(struct mg_graph_exec *x, struct mg_graph *g, struct mg_graph_update *u)
{
    *u = (struct mg_graph_update){0};
    if (!compare(x->body, g, u))
        return cudaErrorGraphExecUpdateFailure;
    int error = of_device(g, x->device) ? follow(x->body, g) : cudaErrorGraphExecUpdateFailure;
    if (error)
        u->result = MG_UPDATE_ERROR;
    return error;
}
