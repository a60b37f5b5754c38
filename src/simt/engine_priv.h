/* engine_priv.h - compiled code inside the engine: descriptions of kernels, and blocks that run it. */
#ifndef MG_ENGINE_PRIV_H
#define MG_ENGINE_PRIV_H
#include <pthread.h>

#include "simt/engine.h"
#include "simt/simt_priv.h"

struct mg_some { /* of a function, with one effort */
    struct mg_engine_code *code; /* NULL: none */
    bool *at;                    /* by op: code->some begins there */
};
struct mg_tier { /* a kernel's code, made with one effort */
    struct mg_engine_code *code;
    uint32_t *entry_of; /* by op: the point of its entry, or that of the barrier that it is; 0: none */
    struct mg_some *some; /* by the code's id: of the kernel, and of the functions that it calls */
};
struct mg_function { /* as described to the code generator */
    struct mg_engine_program program;
    mg_handler *call; /* by op: what calls->op runs */
};
/* A kernel for blocks of one shape, as described to the code generator, and what became of it (tier.c). */
struct mg_described {
    struct mg_arena arena;
    struct mg_engine_program program;
    mg_handler *call;
    /* By the code's id. The kernel is the first; of the others only `some` is made, and calls and returns are the
     * interpreter's. */
    struct mg_function *functions;
    uint32_t nfunctions;
    bool watched;     /* every access is observed: those are calls, and where lanes part they take the arms of branches
                         as when interpreted */
    struct mg_tier tiers[MG_ENGINE_EFFORTS];
    bool tried[MG_ENGINE_EFFORTS];
    atomic_int best; /* of the tiers that there are; -1: none */
    /* warp instructions that have run, and when a better tier is made of it; due UINT64_MAX: never */
    atomic_ullong work, due;
    atomic_bool making; /* by a worker, or by `maker`, now: who sets it may touch what follows, and `tried` */
    pthread_t maker;    /* makes thorough code while quick code runs */
    bool made;          /* `maker` was begun, and nobody has joined it */
    const struct mg_engine *engine; /* the maker's */
};
uint32_t mg__described_row(const struct mg_dim3 *block); /* lanes a row of such a block, 0: irregular */
struct mg_described *mg__describe(const struct mg_program *program, const struct mg_lanes *lanes, uint32_t row,
                                  enum mg_warps_are warps, bool watched);
void mg__described_free(struct mg_described *described);

void mg__deferred_settle(struct mg_engine_deferred *deferred, uint32_t row);
void mg__deferred_begin(struct mg_engine_deferred *deferred, uint32_t row, uint64_t least, uint64_t most,
                        uint64_t step);

/* A kernel whose warps leave compiled code often may be interpreted in less time: then some blocks are timed either
 * way. Results and counts are the same. Whether the worker's next block is to be compiled code's; and what one took. */
bool mg__engine_pays(struct mg_worker *worker);
bool mg__engine_timed(const struct mg_worker *worker); /* whether to tell how long the next one takes */
void mg__engine_took(struct mg_worker *worker, bool compiled, bool done, uint64_t ns);

/* Blocks between the interpreter and compiled code. */
bool mg__engine_warp(struct mg_warp *w); /* has what the worker's tier needs; false: out of memory */
enum mg_engine_outcome {
    MG_ENGINE_DONE,
    MG_ENGINE_STOPPED,
    MG_ENGINE_PARKED,
    MG_ENGINE_WAITS,    /* at the cluster's barrier */
    MG_ENGINE_LOOK,     /* what is due (worker->due) has to be done, then it can go on */
    MG_ENGINE_INTERPRET /* the interpreter goes on */
};
enum mg_engine_outcome mg__engine_block(struct mg_worker *worker, struct mg_block *b);
/* turns.c: a warp's turn and a round have ended, w->stop says how; true: the block is to be parked. */
void mg__turn_over(struct mg_block *b, struct mg_warp *w);
bool mg__round_over(struct mg_block *b);

/* places.c: where the warps of a cluster are, or of all that the workers hold (NULL; they have stopped), as text. */
#define MG_PLACES 256u
void mg__places(const struct mg_run *run, const struct mg_cluster *only, char *text, size_t size);

/* Whether blocks of the launch can run as compiled code, and not only the blocks of their warps' code. Where a warp has
 * idle lanes and meets others of a cluster, the order of warps would be another one than the interpreter's. */
bool mg__engine_may(const struct mg_run *run);
bool mg__engine_take(struct mg_block *b); /* a block that is being interpreted can go on as compiled code */
bool mg__engine_yield(struct mg_block *b); /* the interpreter shall go on with it; false: it does */
bool mg__engine_waits(const struct mg_warp *w); /* at the barrier that it is at, whatever its leaf says */
/* The warps of all blocks that the worker holds, and that do not run now, as the interpreter has them. */
void mg__engine_settle(const struct mg_worker *worker);
void mg__engine_flush(struct mg_worker *worker);
void mg__engine_turn(struct mg_worker *worker, uint64_t block); /* it goes on */
void mg__engine_open(struct mg_warp *w, const struct mg_engine_point *p); /* w has left there: what it had counted */
void mg__engine_calls(struct mg_worker *worker);                             /* what its compiled code calls */
struct mg_engine_shape *mg__engine_shapes(const struct mg_run *run, const struct mg_engine_code *code,
                                          uint32_t phases); /* lines */
bool mg__engine_op(struct mg_engine_warp *e, uint32_t index, uint32_t mask); /* calls->op */
static inline struct mg_warp *mg__warp_of(struct mg_engine_warp *e)
{
    return (struct mg_warp *)(void *)((char *)e - offsetof(struct mg_warp, e));
}

/* tier.c */
/* Counts the worker's work, and makes the next tier when it is due; true: there is a better one than its own. */
bool mg__tier_due(struct mg_worker *worker);
bool mg__tier_worker(struct mg_worker *worker); /* gets the best one, between blocks; false: out of memory */
void mg__tier_end(struct mg_worker *worker);    /* the launch is over */
#endif
