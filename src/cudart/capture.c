/* capture.c - streams that are captured: what they are given becomes nodes of a graph, and is not done.
 *
 * A capture has the stream that it began in, and those that came to it by waiting for an event of it; each knows the
 * nodes that the next one is behind. Events that a captured stream recorded stand for such nodes. Calls that cannot be
 * part of a graph, or would wait for work that nobody does, are refused and make the capture invalid, which its end
 * tells. Streams are known by their numbers, which the thread's own default stream has too.
 */
#include "cudart/graph.h"

typedef MG_VEC(struct mg_graph_node *) node_list;
struct member {
    uint64_t stream;
    bool blocking;
    node_list last;
};
struct mg_capture {
    struct mg_capture *next;
    unsigned long long id;
    enum { GLOBAL, THREAD_LOCAL, RELAXED } mode;
    pthread_t thread;
    struct mg_graph *graph;
    bool own;                      /* the graph: made for it */
    int invalid;                   /* why it is: the error of the call */
    MG_VEC(struct member) members; /* the first: where it began */
    struct cudart_device *device;
};
struct captured_event {
    void *event;
    unsigned long long capture;
    node_list nodes;
};
enum { STATUS_NONE, STATUS_ACTIVE, STATUS_INVALID };

atomic_uint mg__captures;
static struct mg_capture *captures;
static unsigned long long last_id;
static MG_VEC(struct captured_event) events;
static atomic_uint nevents;           /* as many; none: the list is not looked at */
static _Thread_local int thread_mode; /* as cudaThreadExchangeStreamCaptureMode has it */

/* ---- who is captured ---- */
static struct member *member_of(uint64_t stream, struct mg_capture **capture)
{
    for (struct mg_capture *c = stream ? captures : NULL; c; c = c->next)
        for (size_t i = 0; i < c->members.count; i++)
            if (c->members.at[i].stream == stream) {
                *capture = c;
                return &c->members.at[i];
            }
    *capture = NULL;
    return NULL;
}

static struct mg_capture *capture_at(unsigned long long id)
{
    struct mg_capture *c = captures;
    while (c && c->id != id)
        c = c->next;
    return c;
}

static int spoil(struct mg_capture *c, int error)
{
    if (!c->invalid)
        c->invalid = error;
    return error;
}

/* The legacy default stream would wait for a captured one. */
static int spoil_blocking(void)
{
    int error = 0;
    for (struct mg_capture *c = captures; c; c = c->next)
        for (size_t i = 0; i < c->members.count && c->device == mg__cudart_call.device; i++)
            if (c->members.at[i].blocking)
                error = spoil(c, cudaErrorStreamCaptureImplicit);
    return error;
}

static int forbids(void)
{
    int error = 0;
    for (struct mg_capture *c = captures; c && thread_mode != RELAXED; c = c->next) {
        bool own = pthread_equal(c->thread, pthread_self());
        if (c->mode != RELAXED && (own || (c->mode == GLOBAL && thread_mode == GLOBAL)))
            error = spoil(c, cudaErrorStreamCaptureUnsupported);
    }
    return error;
}

int mg__capture_forbids(void)
{
    if (!atomic_load(&mg__captures))
        return 0;
    mg__cudart_lock();
    int error = forbids();
    mg__cudart_unlock();
    return error;
}

int mg__capture_forbids_wait(bool all)
{
    struct mg_capture *c;
    int error = 0;
    if (!atomic_load(&mg__captures))
        return 0;
    mg__cudart_lock();
    member_of(all ? 0 : mg__cudart_call.order.stream, &c);
    if (c)
        error = spoil(c, cudaErrorStreamCaptureUnsupported);
    for (c = captures; c && all; c = c->next)
        if (c->device == mg__cudart_call.device)
            error = spoil(c, cudaErrorStreamCaptureUnsupported);
    if (!error && !all && !mg__cudart_call.order.stream)
        error = spoil_blocking();
    if (!error)
        error = forbids();
    mg__cudart_unlock();
    return error;
}

int mg__capture_asked(struct mg_capture **capture)
{
    int error = 0;
    *capture = NULL;
    if (!atomic_load(&mg__captures) || mg__cudart_call.replays)
        return 0;
    uint64_t stream = mg__cudart_order().stream;
    mg__cudart_lock();
    if (!stream)
        error = spoil_blocking();
    else if (member_of(stream, capture) && (*capture)->invalid)
        error = cudaErrorStreamCaptureInvalidated;
    if (!error && !mg__cudart_call.async)
        error = forbids();
    mg__cudart_unlock();
    return error;
}

bool mg__capture_goes_on(void)
{
    struct mg_capture *c = NULL;
    if (!atomic_load(&mg__captures) || mg__cudart_call.replays)
        return false;
    mg__cudart_lock();
    member_of(mg__cudart_order().stream, &c);
    mg__cudart_unlock();
    return c != NULL;
}

int mg__capture_refused(const char *what)
{
    struct mg_capture *c;
    int error = mg__capture_asked(&c);
    if (error || !c)
        return error;
    spoil(c, cudaErrorStreamCaptureUnsupported);
    mg__cudart_missing(what);
    return cudaErrorStreamCaptureUnsupported;
}

/* ---- nodes ---- */
static bool set_last(node_list *list, struct mg_graph_node *const *nodes, size_t n)
{
    list->count = 0;
    bool good = true;
    for (size_t i = 0; i < n && good; i++)
        good = mg__vec_push(list, nodes[i]);
    return good;
}

static bool join_last(node_list *list, const node_list *more)
{
    bool good = true;
    for (size_t i = 0; i < more->count && good; i++) {
        bool there = false;
        for (size_t k = 0; k < list->count; k++)
            there |= list->at[k] == more->at[i];
        good = there || mg__vec_push(list, more->at[i]);
    }
    return good;
}

int mg__capture_add(struct mg_capture *c, struct mg_graph_op *op)
{
    struct mg_capture *same;
    struct mg_graph_node *node;
    mg__cudart_lock();
    struct member *m = member_of(mg__cudart_call.order.stream, &same);
    int error = m && same == c && mg__graph_known(c->graph) ? 0 : cudaErrorStreamCaptureInvalidated;
    if (error)
        mg__graph_op_free(op);
    else
        error = mg__graph_add(c->graph, m->last.at, m->last.count, op, &node);
    if (!error && !set_last(&m->last, &node, 1))
        error = cudaErrorMemoryAllocation;
    if (error && m && error != cudaErrorInvalidValue) /* memory that is freed twice: the capture goes on */
        spoil(c, error);
    mg__cudart_unlock();
    return error;
}

/* ---- events ---- */
static struct captured_event *event_at(const void *event)
{
    for (size_t i = 0; i < events.count; i++)
        if (events.at[i].event == event)
            return &events.at[i];
    return NULL;
}

static void forget(struct captured_event *e)
{
    mg__vec_free(&e->nodes);
    *e = events.at[--events.count];
    atomic_fetch_sub(&nevents, 1);
}

void mg__capture_event_forget(const void *event)
{
    if (!atomic_load(&nevents))
        return;
    mg__cudart_lock();
    struct captured_event *e = event_at(event);
    if (e)
        forget(e);
    mg__cudart_unlock();
}

int mg__capture_record(struct mg_capture *c, void *event, bool external)
{
    struct mg_graph_op op;
    struct mg_capture *same;
    int error = mg__graph_event(MG_GRAPH_RECORD_EVENT, event, &op);
    if (error)
        return error;
    if (external)
        return mg__capture_add(c, &op);
    mg__cudart_lock();
    const struct member *m = member_of(mg__cudart_call.order.stream, &same);
    struct captured_event *e = event_at(event), none = {.event = event};
    if (!e && mg__vec_push(&events, none)) {
        e = &events.at[events.count - 1];
        atomic_fetch_add(&nevents, 1);
    }
    if (!m || !e || !set_last(&e->nodes, m->last.at, m->last.count))
        error = cudaErrorMemoryAllocation;
    else
        e->capture = c->id;
    mg__cudart_unlock();
    return error;
}

/* A stream waits for an event of a capture that goes on: it is part of the capture from now on. */
static int join(struct mg_capture *to, const struct captured_event *e)
{
    struct mg_capture *c;
    const struct mg_order order = mg__cudart_call.order;
    struct member *m = member_of(order.stream, &c), fresh = {order.stream, order.blocking, {0}};
    if (!order.stream)
        return spoil(to, cudaErrorStreamCaptureImplicit);
    if (c && c != to) {
        spoil(c, cudaErrorStreamCaptureMerge);
        return spoil(to, cudaErrorStreamCaptureMerge);
    }
    if (to->invalid)
        return cudaErrorStreamCaptureInvalidated;
    if (!m && mg__vec_push(&to->members, fresh))
        m = &to->members.at[to->members.count - 1];
    return m && join_last(&m->last, &e->nodes) ? 0 : spoil(to, cudaErrorMemoryAllocation);
}

bool mg__capture_event_waited(void *event, bool external, int *error)
{
    struct mg_capture *c = NULL;
    struct mg_graph_op op;
    *error = 0;
    if (!atomic_load(&mg__captures) && !atomic_load(&nevents))
        return false;
    mg__cudart_lock();
    struct captured_event *e = event_at(event);
    struct mg_capture *of = e ? capture_at(e->capture) : NULL;
    member_of(mg__cudart_call.order.stream, &c);
    bool handled = e || c;
    if (of)
        *error = join(of, e);
    else if (c && c->invalid)
        *error = cudaErrorStreamCaptureInvalidated;
    else if (c && external && !e)
        *error = mg__graph_event(MG_GRAPH_WAIT_EVENT, event, &op);
    else if (c)
        *error = spoil(c, cudaErrorStreamCaptureIsolation);
    else if (e)
        *error = cudaErrorCapturedEvent;
    mg__cudart_unlock();
    if (!of && c && external && !e && !*error)
        *error = mg__capture_add(c, &op);
    return handled;
}

bool mg__capture_event_asked(const void *event, int *error)
{
    *error = 0;
    if (!atomic_load(&mg__captures) && !atomic_load(&nevents))
        return false;
    mg__cudart_lock();
    const struct captured_event *e = event_at(event);
    struct mg_capture *of = e ? capture_at(e->capture) : NULL;
    if (of)
        spoil(of, cudaErrorCapturedEvent);
    *error = e ? cudaErrorCapturedEvent : forbids();
    mg__cudart_unlock();
    return *error != 0;
}

/* ---- beginning and end ---- */
static int begin(void *stream, struct mg_graph *graph, struct mg_graph_node *const *nodes, size_t n, int mode)
{
    struct mg_capture *c;
    if (!mg__cudart_stream_ok(stream))
        return cudaErrorInvalidResourceHandle;
    if (mode < GLOBAL || mode > RELAXED)
        return cudaErrorInvalidValue;
    const struct mg_order order = mg__cudart_call.order;
    if (!order.stream)
        return cudaErrorStreamCaptureUnsupported;
    if (member_of(order.stream, &c))
        return cudaErrorIllegalState;
    struct member first = {order.stream, order.blocking, {0}};
    c = calloc(1, sizeof(*c));
    if (!c)
        return cudaErrorMemoryAllocation;
    c->own = !graph;
    c->graph = graph ? graph : mg__graph_make();
    c->mode = mode;
    c->thread = pthread_self();
    c->device = mg__cudart_call.device;
    if (!c->graph || !set_last(&first.last, nodes, n) || !mg__vec_push(&c->members, first)) {
        if (c->own)
            mg__graph_free(c->graph);
        mg__vec_free(&first.last);
        free(c);
        return cudaErrorMemoryAllocation;
    }
    if (c->own)
        mg__graph_publish(c->graph);
    c->id = ++last_id;
    c->next = captures;
    captures = c;
    atomic_fetch_add(&mg__captures, 1);
    return 0;
}

static void finish(struct mg_capture *c, bool keep)
{
    struct mg_capture **at = &captures;
    while (*at != c)
        at = &(*at)->next;
    *at = c->next;
    atomic_fetch_sub(&mg__captures, 1);
    for (size_t i = 0; i < c->members.count; i++)
        mg__vec_free(&c->members.at[i].last);
    mg__vec_free(&c->members);
    if (c->own && !keep && mg__graph_known(c->graph))
        mg__graph_free(c->graph);
    free(c);
}

/* What every other stream of the capture was given is behind in the stream where it began. */
static bool joined(const struct mg_capture *c)
{
    node_list todo = {0};
    bool good = join_last(&todo, &c->members.at[0].last);
    for (size_t i = 0; i < c->graph->nodes.count; i++)
        c->graph->nodes.at[i]->mark = 0;
    while (todo.count && good) {
        const struct mg_graph_node *node = todo.at[--todo.count];
        for (size_t i = 0; i < node->before.count && good; i++)
            if (!node->before.at[i]->mark) {
                node->before.at[i]->mark = 1;
                good = mg__vec_push(&todo, node->before.at[i]);
            }
    }
    mg__vec_free(&todo);
    for (size_t i = 0; i < c->members.at[0].last.count; i++)
        c->members.at[0].last.at[i]->mark = 1;
    for (size_t i = 1; i < c->members.count; i++)
        for (size_t k = 0; k < c->members.at[i].last.count; k++)
            good &= c->members.at[i].last.at[k]->mark == 1;
    return good;
}

static int end(void *stream, struct mg_graph **graph)
{
    struct mg_capture *c;
    if (!graph)
        return cudaErrorInvalidValue;
    if (!mg__cudart_stream_ok(stream))
        return cudaErrorInvalidResourceHandle;
    const struct member *m = member_of(mg__cudart_call.order.stream, &c);
    if (!m)
        return cudaErrorIllegalState;
    *graph = NULL;
    if (c->mode != RELAXED && !pthread_equal(c->thread, pthread_self()))
        return spoil(c, cudaErrorStreamCaptureWrongThread);
    if (m != &c->members.at[0])
        return spoil(c, cudaErrorStreamCaptureUnmatched);
    int error = c->invalid || !mg__graph_known(c->graph) ? cudaErrorStreamCaptureInvalidated : 0;
    if (!error && !joined(c))
        error = cudaErrorStreamCaptureUnjoined;
    if (!error)
        *graph = c->graph;
    finish(c, !error);
    return error;
}

void mg__capture_lost(uint64_t stream)
{
    struct mg_capture *c;
    if (!atomic_load(&mg__captures))
        return;
    mg__cudart_lock();
    struct member *m = member_of(stream, &c);
    if (m && m == &c->members.at[0])
        finish(c, false);
    else if (m)
        spoil(c, cudaErrorStreamCaptureUnjoined);
    mg__cudart_unlock();
}

int mg__cudaStreamBeginCapture(void *stream, int mode)
{
    CUDART_ENTER();
    mg__cudart_lock();
    int error = begin(stream, NULL, NULL, 0, mode);
    mg__cudart_unlock();
    return mg__cudart_done(error);
}

int mg__cudaStreamBeginCaptureToGraph(void *stream, void *graph, void *const *nodes, const void *edges, size_t n,
                                      int mode)
{
    CUDART_ENTER();
    struct mg_graph *g = mg__graph_known(graph);
    int error = g && (nodes || !n) ? 0 : cudaErrorInvalidValue;
    (void)edges; /* every edge is a whole dependency here */
    for (size_t i = 0; i < n && !error; i++)
        if (!mg__graph_node_known(nodes[i]) || mg__graph_node_known(nodes[i])->graph != g)
            error = cudaErrorInvalidValue;
    mg__cudart_lock();
    if (!error)
        error = begin(stream, g, (struct mg_graph_node *const *)nodes, n, mode);
    mg__cudart_unlock();
    return mg__cudart_done(error);
}

int mg__cudaStreamEndCapture(void *stream, struct mg_graph **graph)
{
    CUDART_ENTER();
    mg__cudart_lock();
    int error = end(stream, graph);
    mg__cudart_unlock();
    return mg__cudart_done(error);
}

int mg__cudaThreadExchangeStreamCaptureMode(int *mode)
{
    if (!mode || *mode < GLOBAL || *mode > RELAXED)
        return mg__cudart_done(cudaErrorInvalidValue);
    int old = thread_mode;
    thread_mode = *mode;
    *mode = old;
    return mg__cudart_done(0);
}

/* ---- asking ---- */
int mg__cudaStreamGetCaptureInfo(void *stream, int *status, unsigned long long *id, struct mg_graph **graph,
                                 struct mg_graph_node *const **nodes, const void **edges, size_t *n)
{
    struct mg_capture *c;
    CUDART_ENTER();
    if (!status)
        return mg__cudart_done(cudaErrorInvalidValue);
    if (!mg__cudart_stream_ok(stream))
        return mg__cudart_done(cudaErrorInvalidResourceHandle);
    mg__cudart_lock();
    const struct member *m = member_of(mg__cudart_call.order.stream, &c);
    int error = mg__cudart_call.order.stream ? 0 : spoil_blocking();
    *status = !m ? STATUS_NONE : c->invalid ? STATUS_INVALID : STATUS_ACTIVE;
    if (m && id)
        *id = c->id;
    if (*status == STATUS_ACTIVE) {
        if (graph)
            *graph = c->graph;
        if (nodes)
            *nodes = m->last.at;
        if (n)
            *n = m->last.count;
        if (edges)
            *edges = NULL;
    }
    mg__cudart_unlock();
    return mg__cudart_done(error);
}

int mg__cudaStreamGetCaptureInfo_v2(void *stream, int *status, unsigned long long *id, struct mg_graph **graph,
                                    struct mg_graph_node *const **nodes, size_t *n)
{
    return mg__cudaStreamGetCaptureInfo(stream, status, id, graph, nodes, NULL, n);
}

int mg__cudaStreamGetCaptureInfo_10(void *stream, int *status, unsigned long long *id)
{
    return mg__cudaStreamGetCaptureInfo(stream, status, id, NULL, NULL, NULL, NULL);
}

int mg__cudaStreamIsCapturing(void *stream, int *status)
{
    return mg__cudaStreamGetCaptureInfo(stream, status, NULL, NULL, NULL, NULL, NULL);
}

int mg__cudaStreamUpdateCaptureDependencies(void *stream, void **nodes, const void *edges, size_t n, unsigned flags)
{
    struct mg_capture *c;
    enum { ADD, SET };
    CUDART_ENTER();
    (void)edges;
    if (flags > SET || (n && !nodes))
        return mg__cudart_done(cudaErrorInvalidValue);
    if (!mg__cudart_stream_ok(stream))
        return mg__cudart_done(cudaErrorInvalidResourceHandle);
    mg__cudart_lock();
    struct member *m = member_of(mg__cudart_call.order.stream, &c);
    int error = !m ? cudaErrorIllegalState : c->invalid ? cudaErrorStreamCaptureInvalidated : 0;
    for (size_t i = 0; i < n && !error; i++)
        if (!mg__graph_node_known(nodes[i]) || mg__graph_node_known(nodes[i])->graph != c->graph)
            error = cudaErrorInvalidValue;
    if (!error && flags == SET)
        m->last.count = 0;
    const node_list more = {(struct mg_graph_node **)nodes, n, n};
    if (!error && !join_last(&m->last, &more))
        error = cudaErrorMemoryAllocation;
    mg__cudart_unlock();
    return mg__cudart_done(error);
}

int mg__cudaStreamUpdateCaptureDependencies_v1(void *stream, void **nodes, size_t n, unsigned flags)
{
    return mg__cudaStreamUpdateCaptureDependencies(stream, nodes, NULL, n, flags);
}
