/* graph.c - graphs as such: nodes, edges, copies, and which handles are live. graph.h says what they are. */
#include "cudart/graph.h"

static struct mg_graph *graphs;      /* with handles */
static struct mg_graph_node *unused; /* nodes that are gone */
static uint64_t last_id;

/* ---- handles ---- */
struct mg_graph *mg__graph_known(const void *handle)
{
    mg__cudart_lock();
    struct mg_graph *g = graphs;
    while (g && g != handle)
        g = g->next;
    mg__cudart_unlock();
    return g;
}

struct mg_graph *mg__graph_at(uint64_t id)
{
    struct mg_graph *g = graphs;
    while (g && g->id != id)
        g = g->next;
    return g;
}

struct mg_graph_node *mg__graph_node_known(const void *handle)
{
    struct mg_graph_node *node = (struct mg_graph_node *)(uintptr_t)handle;
    return node && node->id ? node : NULL;
}

int mg__graph_publish(struct mg_graph *g)
{
    if (!g)
        return cudaErrorMemoryAllocation;
    mg__cudart_lock();
    g->next = graphs;
    graphs = g;
    mg__cudart_unlock();
    struct mg_graph *part;
    for (size_t i = 0; i < g->nodes.count; i++)
        for (size_t k = 0; (part = mg__graph_part(&g->nodes.at[i]->op, k)) != NULL; k++)
            mg__graph_publish(part);
    return 0;
}

static void withdraw(struct mg_graph *g)
{
    mg__cudart_lock();
    struct mg_graph **at = &graphs;
    while (*at && *at != g)
        at = &(*at)->next;
    if (*at)
        *at = g->next;
    mg__cudart_unlock();
}

/* ---- graphs ---- */
struct mg_graph *mg__graph_make(void)
{
    struct mg_graph *g = calloc(1, sizeof(*g));
    if (!g)
        return NULL;
    mg__cudart_lock();
    g->id = ++last_id;
    mg__cudart_unlock();
    return g;
}

void mg__graph_free(struct mg_graph *g)
{
    if (!g)
        return;
    withdraw(g);
    while (g->nodes.count)
        mg__graph_node_free(g->nodes.at[g->nodes.count - 1]);
    mg__vec_free(&g->nodes);
    mg__graph_users_release(g);
    for (size_t i = 0; i < g->conditions.count; i++)
        mg__graph_condition_release(g->conditions.at[i]);
    mg__vec_free(&g->conditions);
    free(g);
}

static struct mg_graph_node *make_node(void)
{
    mg__cudart_lock();
    struct mg_graph_node *node = unused;
    if (node) {
        unused = node->free;
        memset(node, 0, sizeof(*node));
    } else {
        node = calloc(1, sizeof(*node));
    }
    if (node)
        node->id = ++last_id;
    mg__cudart_unlock();
    return node;
}

static void drop_from(struct mg_graph_node **at, size_t *count, const struct mg_graph_node *node)
{
    size_t i = 0;
    while (i < *count && at[i] != node)
        i++;
    if (i == *count)
        return;
    memmove(at + i, at + i + 1, (*count - i - 1) * sizeof(*at));
    --*count;
}

void mg__graph_node_free(struct mg_graph_node *node)
{
    while (node->before.count)
        mg__graph_disconnect(node->before.at[node->before.count - 1], node);
    while (node->after.count)
        mg__graph_disconnect(node, node->after.at[node->after.count - 1]);
    mg__vec_free(&node->before);
    mg__vec_free(&node->after);
    if (node->graph)
        drop_from(node->graph->nodes.at, &node->graph->nodes.count, node);
    mg__graph_op_free(&node->op);
    mg__cudart_lock();
    node->id = 0;
    node->graph = NULL;
    node->free = unused;
    unused = node;
    mg__cudart_unlock();
}

static void adopt(struct mg_graph_node *node)
{
    struct mg_graph *part;
    for (size_t k = 0; (part = mg__graph_part(&node->op, k)) != NULL; k++)
        part->parent = node;
}

void mg__graph_node_set(struct mg_graph_node *node, struct mg_graph_op *op)
{
    mg__graph_op_free(&node->op);
    node->op = *op;
    adopt(node);
}

/* Memory is freed once. */
static int can_hold(const struct mg_graph *g, const struct mg_graph_op *op)
{
    return op->type == MG_GRAPH_UNALLOC && mg__graph_has_unalloc(g, op->memory) ? cudaErrorInvalidValue : 0;
}

bool mg__graph_can_run(const struct mg_graph *g, bool within)
{
    static const uint32_t by_device = 1u << MG_GRAPH_KERNEL | 1u << MG_GRAPH_COPY | 1u << MG_GRAPH_FILL |
                                      1u << MG_GRAPH_CHILD | 1u << MG_GRAPH_EMPTY | 1u << MG_GRAPH_CONDITIONAL;
    bool good = true;
    for (size_t i = 0; i < g->nodes.count && good; i++) {
        const struct mg_graph_op *op = &g->nodes.at[i]->op;
        const struct mg_graph *part;
        good = !within || by_device >> op->type & 1;
        for (size_t k = 0; good && (part = mg__graph_part(op, k)) != NULL; k++)
            good = mg__graph_can_run(part, within || op->type == MG_GRAPH_CONDITIONAL);
    }
    return good;
}

int mg__graph_add(struct mg_graph *g, struct mg_graph_node *const *before, size_t n, struct mg_graph_op *op,
                  struct mg_graph_node **made)
{
    int error = can_hold(g, op);
    struct mg_graph_node *node = error ? NULL : make_node();
    if (!node) {
        mg__graph_op_free(op);
        return error ? error : cudaErrorMemoryAllocation;
    }
    node->op = *op;
    node->device = mg__cudart_here();
    adopt(node);
    if (!mg__vec_push(&g->nodes, node))
        error = cudaErrorMemoryAllocation;
    else
        node->graph = g;
    for (size_t i = 0; i < n && !error; i++)
        error = mg__graph_connect(before[i], node);
    if (error)
        mg__graph_node_free(node);
    else
        *made = node;
    return error;
}

/* ---- edges ---- */
bool mg__graph_has_edge(const struct mg_graph_node *from, const struct mg_graph_node *to)
{
    for (size_t i = 0; i < to->before.count; i++)
        if (to->before.at[i] == from)
            return true;
    return false;
}

int mg__graph_connect(struct mg_graph_node *from, struct mg_graph_node *to)
{
    if (!from || from->graph != to->graph || from == to || mg__graph_has_edge(from, to))
        return cudaErrorInvalidValue;
    if (!mg__vec_push(&to->before, from))
        return cudaErrorMemoryAllocation;
    if (!mg__vec_push(&from->after, to)) {
        to->before.count--;
        return cudaErrorMemoryAllocation;
    }
    return 0;
}

bool mg__graph_disconnect(struct mg_graph_node *from, struct mg_graph_node *to)
{
    if (!mg__graph_has_edge(from, to))
        return false;
    drop_from(to->before.at, &to->before.count, from);
    drop_from(from->after.at, &from->after.count, to);
    return true;
}

/* Of what can come next the node that was made first: so a program's own order stays where it is one. */
int mg__graph_sorted(struct mg_graph *g, struct mg_graph_node ***order)
{
    size_t n = g->nodes.count, done = 0;
    struct mg_graph_node **list = malloc((n + 1) * sizeof(struct mg_graph_node *));
    size_t *left = malloc((n + 1) * sizeof(size_t)); /* that a node still waits for */
    *order = list;
    if (!list || !left) {
        free(left);
        free(list);
        return cudaErrorMemoryAllocation;
    }
    for (size_t i = 0; i < n; i++) {
        g->nodes.at[i]->mark = i;
        left[i] = g->nodes.at[i]->before.count;
    }
    for (size_t i = 0; i < n;) {
        struct mg_graph_node *node = g->nodes.at[i];
        if (left[i]) {
            i++;
            continue;
        }
        left[i] = SIZE_MAX; /* it has its place */
        list[done++] = node;
        for (size_t k = 0; k < node->after.count; k++) {
            size_t next = node->after.at[k]->mark;
            if (--left[next] == 0 && next < i)
                i = next;
        }
    }
    free(left);
    if (done == n)
        return 0;
    free(list);
    return cudaErrorInvalidValue;
}

/* ---- copies ---- */
static int copy_into(const struct mg_graph *from, struct mg_graph *to)
{
    for (size_t i = 0; i < from->nodes.count; i++) {
        struct mg_graph_node *node = from->nodes.at[i], *made;
        struct mg_graph_op op;
        int error = mg__graph_op_copy(&node->op, &op);
        if (!error)
            error = mg__graph_add(to, NULL, 0, &op, &made);
        if (error)
            return error;
        made->origin = node->id;
        made->device = node->device;
        made->disabled = node->disabled;
        node->mark = i;
    }
    for (size_t i = 0; i < from->nodes.count; i++)
        for (size_t k = 0; k < from->nodes.at[i]->before.count; k++) {
            int error = mg__graph_connect(to->nodes.at[from->nodes.at[i]->before.at[k]->mark], to->nodes.at[i]);
            if (error)
                return error;
        }
    for (size_t i = 0; i < from->conditions.count; i++) {
        if (!mg__vec_push(&to->conditions, from->conditions.at[i]))
            return cudaErrorMemoryAllocation;
        mg__graph_condition_keep(from->conditions.at[i]);
    }
    return mg__graph_users_share(from, to);
}

struct mg_graph *mg__graph_copy(const struct mg_graph *from)
{
    struct mg_graph *g = mg__graph_make();
    if (g && copy_into(from, g)) {
        mg__graph_free(g);
        return NULL;
    }
    if (g)
        g->origin = from->id;
    return g;
}

struct mg_graph_node *mg__graph_copy_of(const struct mg_graph *g, uint64_t node)
{
    for (size_t i = 0; i < g->nodes.count; i++) {
        struct mg_graph_node *found = g->nodes.at[i];
        if (found->origin == node)
            return found;
        const struct mg_graph_op *op = &found->op;
        const struct mg_graph *part;
        for (size_t k = 0; (part = mg__graph_part(op, k)) != NULL; k++)
            if ((found = mg__graph_copy_of(part, node)) != NULL)
                return found;
    }
    return NULL;
}

/* ---- objects of the user ---- */
struct mg_graph_user {
    struct mg_graph_user *next;
    void *object;
    void (*destroy)(void *object);
    uint64_t own, kept; /* references: the program's, and those of graphs */
};
static struct mg_graph_user *users;

static struct mg_graph_user *user_known(const void *handle)
{
    struct mg_graph_user *u = users;
    while (u && u != handle)
        u = u->next;
    return u;
}

/* Under the lock, which it gives up: the program's function is called without. */
static void release(struct mg_graph_user *u, uint64_t own, uint64_t kept)
{
    u->own -= own;
    u->kept -= kept;
    bool last = !u->own && !u->kept;
    struct mg_graph_user **at = &users;
    while (last && *at != u)
        at = &(*at)->next;
    if (last)
        *at = u->next;
    mg__cudart_unlock();
    if (!last)
        return;
    u->destroy(u->object);
    free(u);
}

/* Under the lock. */
static bool keep_user(struct mg_graph *g, struct mg_graph_user *u, uint64_t count)
{
    struct mg_graph_kept fresh = {u, 0}, *k = NULL;
    for (size_t i = 0; i < g->users.count && !k; i++)
        if (g->users.at[i].user == u)
            k = &g->users.at[i];
    if (!k && mg__vec_push(&g->users, fresh))
        k = &g->users.at[g->users.count - 1];
    if (!k)
        return false;
    k->count += count;
    u->kept += count;
    return true;
}

int mg__graph_users_share(const struct mg_graph *from, struct mg_graph *to)
{
    bool good = true;
    mg__cudart_lock();
    for (size_t i = 0; i < from->users.count && good; i++)
        good = keep_user(to, from->users.at[i].user, from->users.at[i].count);
    mg__cudart_unlock();
    return good ? 0 : cudaErrorMemoryAllocation;
}

void mg__graph_users_release(struct mg_graph *g)
{
    for (size_t i = 0; i < g->users.count; i++) {
        mg__cudart_lock();
        release(g->users.at[i].user, 0, g->users.at[i].count);
    }
    mg__vec_free(&g->users);
}

int mg__cudaUserObjectCreate(void **made, void *object, void (*destroy)(void *), unsigned uses, unsigned flags)
{
    enum { NO_DESTRUCTOR_SYNC = 1 };
    CUDART_ENTER();
    if (!made || !destroy || !uses || uses > INT32_MAX || flags != NO_DESTRUCTOR_SYNC)
        return mg__cudart_done(cudaErrorInvalidValue);
    struct mg_graph_user *u = calloc(1, sizeof(*u));
    if (!u)
        return mg__cudart_done(cudaErrorMemoryAllocation);
    *u = (struct mg_graph_user){.object = object, .destroy = destroy, .own = uses};
    mg__cudart_lock();
    u->next = users;
    users = u;
    mg__cudart_unlock();
    *made = u;
    return mg__cudart_done(0);
}

int mg__cudaUserObjectRetain(void *handle, unsigned count)
{
    CUDART_ENTER();
    mg__cudart_lock();
    struct mg_graph_user *u = count && count <= INT32_MAX ? user_known(handle) : NULL;
    if (u)
        u->own += count;
    mg__cudart_unlock();
    return mg__cudart_done(u ? 0 : cudaErrorInvalidValue);
}

/* Graphs' references are not the program's to release: not more than it has itself. */
int mg__cudaUserObjectRelease(void *handle, unsigned count)
{
    CUDART_ENTER();
    mg__cudart_lock();
    struct mg_graph_user *u = count && count <= INT32_MAX ? user_known(handle) : NULL;
    const bool good = u && u->own >= count;
    if (good)
        release(u, count, 0);
    else
        mg__cudart_unlock();
    return mg__cudart_done(good ? 0 : cudaErrorInvalidValue);
}

int mg__cudaGraphRetainUserObject(void *graph, void *handle, unsigned count, unsigned flags)
{
    enum { MOVE = 1 };
    CUDART_ENTER();
    struct mg_graph *g = mg__graph_known(graph);
    int error = g && count && count <= INT32_MAX && flags <= MOVE ? 0 : cudaErrorInvalidValue;
    mg__cudart_lock();
    struct mg_graph_user *u = user_known(handle);
    if (!u || (flags & MOVE && u->own < count))
        error = cudaErrorInvalidValue;
    if (!error && !keep_user(g, u, count))
        error = cudaErrorMemoryAllocation;
    if (!error && flags & MOVE)
        u->own -= count;
    mg__cudart_unlock();
    return mg__cudart_done(error);
}

int mg__cudaGraphReleaseUserObject(void *graph, void *handle, unsigned count)
{
    CUDART_ENTER();
    struct mg_graph *g = mg__graph_known(graph);
    struct mg_graph_kept *k = NULL;
    mg__cudart_lock();
    for (size_t i = 0; g && i < g->users.count && !k; i++)
        if (g->users.at[i].user == handle)
            k = &g->users.at[i];
    const bool good = k && count && k->count >= count;
    if (good) {
        struct mg_graph_user *u = k->user;
        k->count -= count;
        if (!k->count)
            *k = g->users.at[--g->users.count];
        release(u, 0, count);
    } else {
        mg__cudart_unlock();
    }
    return mg__cudart_done(good ? 0 : cudaErrorInvalidValue);
}
