/* graph.h - graphs: work that is described once and launched often, as nodes and what each has to wait for.
 *
 * A node is an operation of a stream with its arguments (struct mg_graph_op); what is copied or launched is checked
 * when the node is made. An instance is a graph of its own, copied from the one that it was made of, with a plan: its
 * nodes in an order that their edges allow, dealt out over lanes, which are streams (graph_exec.c). A launch gives each
 * lane its work, and orders lanes by events; so the engine, the reports and the checks see of a graph what they would
 * see of a program with as many streams, and nodes without an order between them race as streams do.
 *
 * A stream that is captured has a struct mg_capture (capture.c): what it is given becomes nodes. All of this is under
 * the lock of the process (mg__cudart_lock). Nodes' memory is never given back to the host but kept for other nodes, so
 * that a stale handle is an error and no crash.
 */
#ifndef MG_CUDART_GRAPH_H
#define MG_CUDART_GRAPH_H
#include "cudart/cudart.h"

enum mg_graph_type { /* cudaGraphNodeType and CUgraphNodeType */
                     MG_GRAPH_KERNEL,
                     MG_GRAPH_COPY,
                     MG_GRAPH_FILL,
                     MG_GRAPH_HOST,
                     MG_GRAPH_CHILD,
                     MG_GRAPH_EMPTY,
                     MG_GRAPH_WAIT_EVENT,
                     MG_GRAPH_RECORD_EVENT,
                     MG_GRAPH_ALLOC = 10,
                     MG_GRAPH_UNALLOC,
                     MG_GRAPH_MEMOPS,
                     MG_GRAPH_CONDITIONAL
};
enum mg_condition_type { MG_CONDITION_IF, MG_CONDITION_WHILE, MG_CONDITION_SWITCH }; /* cudaGraphConditionalNodeType */
struct mg_graph_memory;    /* what nodes allocate and free (graph_memory.c) */
struct mg_graph_condition; /* a value that kernels set (graph_condition.c) */
struct mg_graph_if {
    struct mg_graph_condition *condition;
    int type; /* enum mg_condition_type */
    unsigned size;
    struct mg_graph **bodies; /* so many, the node's own */
};
struct mg_graph_kernel {
    const void *function;          /* as the program named it */
    struct cudart_request request; /* args: one pointer a parameter, the node's own */
    MG_VEC(struct cu_launch_attribute) attributes;
};
struct mg_graph_fill {
    void *to;
    size_t pitch, slice;
    uint32_t value, unit;
    size_t width, height, depth; /* width: in units */
};
struct mg_graph_op {
    enum mg_graph_type type;
    union {
        struct mg_graph_kernel kernel;
        struct cu_memcpy_3d copy;
        struct mg_graph_fill fill;
        struct {
            void (*call)(void *arg);
            void *arg;
        } host;
        struct mg_graph *child; /* the node's own */
        void *event;
        struct mg_graph_memory *memory;
        struct cu_batch_node memops; /* the list is the node's own */
        struct mg_graph_if condition;
    };
};
struct mg_graph_node {
    struct mg_graph *graph; /* NULL: the node is gone */
    uint64_t id;            /* of all nodes of the process; 0: gone */
    uint64_t origin;        /* the node that it is a copy of, or 0 */
    struct mg_graph_op op;
    struct cudart_device *device; /* where it runs */
    MG_VEC(struct mg_graph_node *) before, after;
    bool disabled; /* in an instance: nothing is done */
    size_t mark;   /* for walks: its place in a list */
    struct mg_graph_node *free;
};
struct mg_graph_user; /* an object that lives as long as the graphs that keep it */
struct mg_graph_kept {
    struct mg_graph_user *user;
    uint64_t count;
};
struct mg_graph {
    struct mg_graph *next; /* of those that the program has handles for */
    uint64_t id;
    uint64_t origin;                      /* the graph that it is a copy of, or 0 */
    struct mg_graph_node *parent;         /* whose child it is */
    MG_VEC(struct mg_graph_node *) nodes; /* in the order in which they were made */
    MG_VEC(struct mg_graph_kept) users;
    MG_VEC(struct mg_graph_condition *) conditions; /* of an outermost graph: whose handles were made for it */
    size_t instances;                               /* that were made of it and are not gone */
};

/* ---- graph.c: graphs and nodes ---- */
struct mg_graph *mg__graph_known(const void *handle); /* NULL: none of ours */
struct mg_graph_node *mg__graph_node_known(const void *handle);
struct mg_graph *mg__graph_at(uint64_t id); /* of those with handles, under the lock; NULL: it is gone */
struct mg_graph *mg__graph_make(void);      /* NULL: no memory */
void mg__graph_free(struct mg_graph *graph);
int mg__graph_publish(struct mg_graph *graph);                 /* it gets a handle */
struct mg_graph *mg__graph_copy(const struct mg_graph *graph); /* NULL: no memory */
/* The copy of `node` in `graph` or in a child of it; NULL: there is none. */
struct mg_graph_node *mg__graph_copy_of(const struct mg_graph *graph, uint64_t node);
/* Takes *op, and frees it if it fails. The error of the call. */
int mg__graph_add(struct mg_graph *graph, struct mg_graph_node *const *before, size_t n, struct mg_graph_op *op,
                  struct mg_graph_node **made);
void mg__graph_node_free(struct mg_graph_node *node);
void mg__graph_node_set(struct mg_graph_node *node, struct mg_graph_op *op); /* takes *op in the place of its own */
bool mg__graph_has_edge(const struct mg_graph_node *from, const struct mg_graph_node *to);
/* Graphs of conditions, as those `within` them are, have no nodes that do without the device. */
bool mg__graph_can_run(const struct mg_graph *graph, bool within);
int mg__graph_users_share(const struct mg_graph *from, struct mg_graph *to);
void mg__graph_users_release(struct mg_graph *graph);
int mg__graph_connect(struct mg_graph_node *from, struct mg_graph_node *to);
bool mg__graph_disconnect(struct mg_graph_node *from, struct mg_graph_node *to);
/* Its nodes, each behind those that it waits for; *order is for the caller to free. The error: there is a circle. */
int mg__graph_sorted(struct mg_graph *graph, struct mg_graph_node ***order);

/* ---- graph_op.c: operations ---- */
/* Each makes *op, or returns the error of the call. */
int mg__graph_kernel(const void *function, const struct cudart_request *request, struct mg_graph_op *op);
int mg__graph_copy_op(const struct cu_memcpy_3d *copy, struct mg_graph_op *op);
int mg__graph_fill_op(const struct mg_graph_fill *fill, struct mg_graph_op *op);
int mg__graph_host(void (*call)(void *arg), void *arg, struct mg_graph_op *op);
int mg__graph_event(enum mg_graph_type type, void *event, struct mg_graph_op *op);
int mg__graph_child(const struct mg_graph *child, struct mg_graph_op *op);
int mg__graph_op_copy(const struct mg_graph_op *from, struct mg_graph_op *to);
void mg__graph_op_free(struct mg_graph_op *op);
int mg__graph_op_run(const struct mg_graph_op *op); /* in the stream of the call */
/* The graphs that are part of the operation: a child, or what a condition chooses from. NULL: no more. */
struct mg_graph *mg__graph_part(const struct mg_graph_op *op, size_t i);
struct cu_memcpy_3d mg__graph_line(void *to, const void *from, size_t count, int kind);

/* ---- graph_exec.c: instances ---- */
struct mg_graph_exec;
struct mg_graph_exec *mg__graph_exec_known(const void *handle);
int mg__graph_instantiate(struct mg_graph *graph, uint64_t flags, struct mg_graph_exec **made);
int mg__graph_launch(struct mg_graph_exec *exec, void *stream);
uint64_t mg__graph_exec_flags(const struct mg_graph_exec *exec);
int mg__graph_exec_drop(struct mg_graph_exec *exec);
/* The node of the instance that stands for `node`; NULL: none. */
struct mg_graph_node *mg__graph_exec_node(struct mg_graph_exec *exec, const struct mg_graph_node *node);
/* Takes *op in the place of the node's. */
int mg__graph_exec_set(struct mg_graph_exec *exec, const struct mg_graph_node *node, struct mg_graph_op *op);
/* cudaGraphExecUpdateResult */
enum { MG_UPDATE_DONE, MG_UPDATE_ERROR, MG_UPDATE_TOPOLOGY, MG_UPDATE_TYPE, MG_UPDATE_NOT_SUPPORTED = 6 };
struct mg_graph_update { /* cudaGraphExecUpdateResultInfo */
    int result;
    struct mg_graph_node *node, *from;
};
int mg__graph_exec_update(struct mg_graph_exec *exec, struct mg_graph *graph, struct mg_graph_update *update);
/* A graph like the one that the instance was made of, as it is now. */
const struct mg_graph *mg__graph_exec_body(const struct mg_graph_exec *exec);

/* ---- graph_memory.c: memory that graphs allocate ---- */
/* The first makes *op and *params.at; both return the error of the call. */
int mg__graph_alloc(struct cu_alloc_node *params, struct mg_graph_op *op);
int mg__graph_unalloc(const void *pointer, struct mg_graph_op *op);
bool mg__graph_has_unalloc(const struct mg_graph *graph, const struct mg_graph_memory *memory);
bool mg__graph_has_memory(const struct mg_graph *graph); /* nodes of either kind */
void mg__graph_memory_keep(struct mg_graph_memory *memory);
void mg__graph_memory_release(struct mg_graph_memory *memory);
void mg__graph_memory_params(const struct mg_graph_memory *memory, struct cu_alloc_node *params);
void *mg__graph_memory_address(const struct mg_graph_memory *memory);
/* In the stream of the call. */
int mg__graph_memory_alloc(struct mg_graph_memory *memory);
int mg__graph_memory_free(struct mg_graph_memory *memory);
bool mg__graph_memory_freed(void *pointer, int *error); /* by a call, not a node; false: no graph's */
/* Before a launch: the error if what the last one allocated is still there, or `frees` it. */
int mg__graph_memory_begin(const struct mg_graph *graph, bool frees);
bool mg__graph_memory_absent(const void *pointer); /* a graph's, and not allocated now */

/* ---- graph_condition.c: what is done if, while, by number ---- */
int mg__graph_conditional(const struct cu_condition_node *params, struct mg_graph *into, struct mg_graph_op *op);
int mg__graph_conditional_copy(const struct mg_graph_op *from, struct mg_graph_op *to);
void mg__graph_conditional_free(struct mg_graph_if *condition);
void mg__graph_condition_keep(struct mg_graph_condition *condition);
void mg__graph_condition_release(struct mg_graph_condition *condition);
int mg__graph_conditions_begin(const struct mg_graph *graph);
/* When what its stream was given is over. */
int mg__graph_condition_read(const struct mg_graph_condition *condition, uint32_t *value);

/* ---- memop.c: waits for memory, and writes to it ---- */
int mg__graph_memops(const struct cu_batch_node *params, struct mg_graph_op *op);
int mg__graph_memops_run(const struct cu_batch_node *params);
int mg__cudart_memops(const struct cu_memop *ops, unsigned count); /* in the stream of the call, captured or not */

/* ---- capture.c: streams that are captured ---- */
extern atomic_uint mg__captures; /* that go on; none: nothing below is asked */
struct mg_capture;
/* What is given to the stream of the call, or to none, while captures go on. *capture NULL: it is to be done. */
int mg__capture_asked(struct mg_capture **capture);
bool mg__capture_goes_on(void); /* in the stream of the call */
/* It becomes a node of the capture, behind what the stream was given before. Takes *op. */
int mg__capture_add(struct mg_capture *capture, struct mg_graph_op *op);
/* A call that waits for the stream, or for all; and one that may do so (cudaMalloc): the error, or 0. */
int mg__capture_forbids_wait(bool all);
int mg__capture_forbids(void);
/* What no graph can hold: the error, if the stream of the call is captured. */
int mg__capture_refused(const char *what);
void mg__capture_lost(uint64_t stream); /* the stream of that number is about to go */
int mg__capture_record(struct mg_capture *capture, void *event, bool external);
/* An event that a captured stream recorded: *error is what the call returns. */
bool mg__capture_event_waited(void *event, bool external, int *error);
bool mg__capture_event_asked(const void *event, int *error);
void mg__capture_event_forget(const void *event);
#endif
