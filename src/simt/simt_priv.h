/* simt_priv.h - the engine's own structures.
 *
 * A kernel is lowered to an array of `struct mg_op`, one handler each, a basic block after the other. A register is a
 * slot of 32 lanes in the frame's register file: 128 bytes for types up to 32 bits (16-bit values zero-extended), 256
 * for 64 bits, and a 32-bit mask for a predicate. Immediates stand behind the registers, broadcast over 32 lanes. An
 * operand is the byte offset of a slot in the frame.
 *
 * A warp is a tree. Its leaves (struct mg_split) are groups of lanes that run together; its inner nodes (struct
 * mg_join) are the places where diverged leaves meet: the branch's immediate post-dominator, or the instruction after a
 * call. Leaves run one at a time, last made first, so that without spinning the tree behaves as the classic
 * reconvergence stack; when a leaf spins, others get their turn, and lanes that wait at a join are let go (see
 * split.c).
 */
#ifndef MG_SIMT_PRIV_H
#define MG_SIMT_PRIV_H

#include <pthread.h>
#include <stdatomic.h>

#include "cfg/cfg.h"
#include "sem/sem.h"
#include "simt/engine.h"
#include "simt/simt.h"

#define MG_LANES 32u
#define MG_MAX_WARPS 32u
#define MG_MAX_OBSERVERS 6u
#define MG_GRANULE (2ull << 20)     /* in which a device maps its memory */
#define MG_HOST_GRANULE 4096u       /* and the host its own */
#define MG_WINDOW_SIZE (1ull << 24) /* bytes of the shared, the local and the parameter window */
#define MG_MAX_CLUSTER 16u          /* blocks; each has one more window, in which the others see its shared memory */
#define MG_LOCAL_LIMIT (512u << 10) /* bytes of local memory a thread, as on every device since 2.0 */
/* What a warp runs before others get their turn is told by what all engines count alike: how often it begins a loop or
 * a function, and how often it does what a wait is made of (mem->poll), in units of MG_POLL_COST. */
#define MG_SLICE 4096  /* then it looks what is due, and where it has mostly polled, its turn is over */
#define MG_LOOKS 16    /* slices of a turn in which a warp does not poll */
#define MG_POLL_COST 32
#define MG_PAD 256                  /* readable bytes after shared memory, for whole-vector loads */
#define MG_SHARED_RESERVED 1024u      /* of a block, for the system: compute capability 8.0 on */

#if defined(__SANITIZE_THREAD__)
#define MG_NO_TSAN __attribute__((no_sanitize("thread")))
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define MG_NO_TSAN __attribute__((no_sanitize("thread")))
#endif
#endif
#ifndef MG_NO_TSAN
#define MG_NO_TSAN
#endif

struct mg_warp;
struct mg_block;
struct mg_worker;
struct mg_run;
struct mg_op;

/* Executes `op` for the lanes of `mask` and returns the next one, or NULL when the leaf
 * must stop (w->stop says why). */
typedef const struct mg_op *(*mg_handler)(struct mg_warp *w, const struct mg_op *op, uint32_t mask);
#define MG_HANDLER(name) const struct mg_op *name(struct mg_warp *w, const struct mg_op *op, uint32_t mask)

/* ---- code ---- */
enum mg_op_id {
#define OP(id, handler, kind, results, sources, effects) MG_DO_##id,
#include "simt/op.def"
#undef OP
    MG_DO_COUNT
};
struct mg_op_row {
    const char *name, *results, *sources; /* op.def explains the letters */
    uint8_t kind;                         /* enum mg_engine_kind */
    uint16_t effects;                     /* enum mg_engine_effect, or'd */
};
extern const struct mg_op_row mg__op_rows[MG_DO_COUNT];
/* What an op is, and all its operands: results, then sources; what is absent has slot -1. */
struct mg_op_is {
    uint16_t id, nout, nin;
    struct mg_engine_operand of[];
};
struct mg_op {
    mg_handler fn;
    /* operands where handlers look for them, the same as in `is`: see mg__slot */
    int32_t d, a, b, c;
    int32_t e, d2;
    uint32_t mode;   /* of the sem row; else handler-specific */
    uint32_t insn;   /* index into code->insns */
    union {
        uint64_t imm;
        const struct mg_op *target;
        const struct mg_mem *mem;
        const struct mg_callsite *call;
        const struct mg_switch *table;
        const struct mg_bulk *bulk;
        const struct mg_wgmma *wgmma;
        const struct mg_texel *texel;
        const struct mg_ptx_var *var;
    } u;
    int32_t guard;   /* predicate operand of a branch, exit or guard op; -1: none */
    uint32_t invert; /* ~0 for @!p */
    struct mg_op_is *is;
};
static inline bool mg__op_has(const struct mg_op *op, unsigned effects)
{
    return mg__op_rows[op->is->id].effects & effects;
}
/* Accesses of one block by one address register, words all of them: when the first is in bounds for all, it counts for
 * all, and the others need no look at their own site. */
struct mg_group {
    uint32_t count;          /* members, the first included */
    int32_t least, greatest; /* offsets from the first's address */
    struct mg_member {
        uint32_t insn;
        int32_t offset;
        const struct mg_mem *mem;
    } *members;
};
#define MG_LEADS 16u /* address registers of a basic block whose lanes are compared once for several accesses */

/* What a memory instruction is, beyond its operands. */
struct mg_mem {
    uint32_t site;   /* index into the worker's sites */
    uint8_t space;   /* MG_SPACE_*; GENERIC: per lane */
    uint8_t kind;    /* enum mg_access_kind */
    uint8_t width;   /* bytes an element */
    uint8_t vec;     /* elements */
    uint8_t dst64;   /* elements go to 64-bit registers */
    uint8_t sext;    /* sign-extend elements to the register */
    uint8_t addr64;  /* the address register has 64 bits */
    /* a volatile, relaxed or acquire load, or an atomic that gives the old value: may be spinning, 1 in shared memory,
     * 2 elsewhere; of an atomic only what leaves memory as it was */
    uint8_t poll;
    uint8_t atomop, type, scope;
    int16_t sem_row; /* atomics: the operation's row, -1: exch or cas */
    /* elements: destinations, or sources of a store; of atomics that are no vectors: old value, operands */
    int32_t reg[8];
    int32_t with[8]; /* atomics on vectors: the elements' operands */
    int32_t addr;    /* operand of the address, -1: `offset` alone */
    int64_t offset;
    bool no_shape;    /* this site's shapes are not remembered */
    int8_t lead;      /* index into the warp's leads, -1: none */
    const struct mg_group *group; /* of the first access; NULL: it has no followers */
    bool leads;       /* the first access of the block by that register: it compares, the others follow */
    bool cluster;     /* .shared::cluster: a GENERIC one by offsets in the shared window and those behind it */
    bool local_frame; /* `offset` is relative to the frame's local memory */
};
/* A bulk copy, or a store that tells an mbarrier. Its addresses and other sources are the op's, in its row's order. */
enum mg_texel_what { MG_TEXEL_SAMPLE, MG_TEXEL_GATHER, MG_TEXEL_LOAD, MG_TEXEL_STORE, MG_TEXEL_REDUCE, MG_TEXEL_QUERY };
struct mg_texel { /* an instruction of textures or surfaces */
    uint8_t what, sub, geometry, edge; /* enum mg_texel_what, mg_ptx_sub, _geometry, _edge */
    bool surface;
    uint8_t bytes, vec;                  /* an element, elements: what a surface's access moves */
    uint8_t atomop, type;
    bool whole; /* coordinates are integers */
    uint8_t ncoordinates, nmore; /* behind them: the level, or two gradients */
};
struct mg_bulk {
    const struct mg_mem *to, *from, *word, *map; /* NULL: there is none; `to` says what a reduction does as well */
    bool tensor, im2col, multicast, reduces, to_shared, from_shared;
    uint8_t dims, nvalues;
};
struct mg_callsite {
    const struct mg_code *callee; /* NULL: indirect (op->a has function addresses), or a system routine */
    uint8_t system;               /* enum mg_system_call, 0: none */
    uint32_t nargs, nrets;
    uint32_t *args, *arg_sizes;   /* offsets into the caller's parameter block */
    uint32_t *rets, *ret_sizes;
};
enum mg_system_call { MG_SYS_NONE, MG_SYS_VPRINTF, MG_SYS_ASSERTFAIL, MG_SYS_MALLOC, MG_SYS_FREE, MG_SYS_CONDITION };
struct mg_switch {
    const struct mg_op **targets;
    size_t count;
};
struct mg_segment { /* straight-line run of instructions with one count */
    uint32_t first_insn, ninsns; /* into code->insns */
};
/* A slot of the kernel's own frame that is filled before the first instruction: what the launch, the warp or the block
 * fixes needs no instruction to fetch it. */
enum mg_fill_kind { MG_FILL_PARAM, MG_FILL_SREG };
struct mg_fill {
    uint8_t kind, bytes;
    uint8_t dim;
    uint16_t sreg;
    uint32_t offset; /* PARAM: in the parameter buffer */
    int32_t slot;
};
/* One function, lowered. */
struct mg_code {
    const struct mg_ptx_func *func;
    struct mg_op *ops;
    uint32_t nops;
    uint32_t frame_bytes;  /* predicates, registers, constants */
    const uint8_t *pool;   /* constants: copied into each frame */
    uint32_t pool_at, pool_bytes;
    struct mg_fill *fills;
    uint32_t nfills;
    uint32_t param_bytes;  /* call argument blocks and formal parameters, a lane */
    uint32_t local_bytes;  /* a lane */
    uint32_t stack_bytes;  /* a lane: local_bytes, and what compiled code saves on the stack */
    const uint32_t *formal, *formal_sizes; /* parameters' offsets in the parameter block */
    const uint32_t *ret, *ret_sizes;
    uint32_t nformal, nret;
    uint32_t id;           /* in the program */
    uint32_t first_op;     /* ops of the codes before it there */
    const int32_t *slots;  /* by register of the PTX */
};
static inline uint32_t mg__rows_at(const struct mg_code *code) /* of a frame's params, from its registers */
{
    return (code->frame_bytes + 63u) / 64u * 64u;
}
/* A kernel with all that it calls, ready to run. Immutable once made. */
struct mg_program {
    struct mg_arena arena;
    const struct mg_ptx_func *kernel;
    uint64_t number; /* from 1, of this simulator's programs */
    struct mg_code **codes;
    uint32_t ncodes;
    uint32_t nops; /* of all */
    struct mg_code *entry;
    struct mg_insn_info *insns;
    uint32_t ninsns;
    struct mg_segment *segments;
    uint32_t nsegments;
    uint32_t nsites;
    struct mg_shared_var *shared_vars; /* static ones; the launch appends "(dynamic)" */
    uint32_t nshared_vars;
    uint32_t shared_static, dynamic_align;
    uint32_t shared_section; /* shared_static as ptxas rounds it, which is what is told */
    bool ordered; /* what it does may depend on the order of blocks: they run in order on one worker */
    bool stack;    /* alloca is used: its frames may grow */
    bool indirect; /* holds indirect calls: their targets are looked up among codes */
    bool heap;     /* calls malloc or free */
    bool prints;   /* calls printf */
    bool reserved; /* asks where the system's part of shared memory lies */
    bool deep;     /* recursion, indirect calls or alloca: the stack's limit matters */
    uint32_t stack_need; /* bytes of the deepest chain of calls, each function once */
    struct mg_diag error; /* not MG_OK: it cannot be lowered */
};

/* ---- shapes: what a memory instruction's addresses looked like before ---- */
enum mg_plan { MG_PLAN_LANES, MG_PLAN_UNIFORM, MG_PLAN_CONTIGUOUS, MG_PLAN_WINDOW };
#define MG_SHAPES 4u
#define MG_PATTERN_HASH 256u
/* A pattern at one instruction: where it is known to be in bounds, and how often it occurred. */
struct mg_shape {
    const struct mg_pattern *pattern; /* NULL: free */
    uint64_t lo, range; /* all lanes are inside one object when base - lo <= range */
    uint8_t plan, space;
    int32_t var;        /* shared: index of the variable */
    uint64_t times[8]; /* by the base's 32-bit word in its sector */
    uint64_t group_lo, group_range; /* as lo and range, for all members of the group */
    uint64_t group_times[8];
};
/* Words of shared memory that additions of compiled code touch at a site, all of them within 1 KB (lanes_add.c).
 * Observers are told of several additions together. */
struct mg_touched {
    const struct mg_op *op;
    uint32_t first, reach; /* the first word's offset, and how many may follow */
    int32_t var;
    bool open;             /* there are such words */
    bool told;             /* somebody wants to know */
    uint16_t astray, skip; /* as misses and skip of a site */
    uint32_t served;       /* accesses by these words */
    uint32_t untold;       /* of these additions */
    uint32_t word[8][32] __attribute__((aligned(64)));       /* the lanes' words, from the first on */
    uint8_t map[8][MG_TOUCHED] __attribute__((aligned(64))); /* by word from the first on: 1, some lane's */
};
/* Accesses at a site whose lanes lie anywhere in one object (lanes_rows.c). Observers are told of several together: of
 * those whose lanes are contiguous how often they began at each byte of a sector, of others the lanes. */
#define MG_ROWS 8u
/* How lanes of an access lay: those that lie so again, elsewhere, are counted as lines are. */
struct mg_rows_shape {
    uint32_t from[32] __attribute__((aligned(64))); /* from lane 0's place on a line */
    struct mg_window window;                        /* likewise */
    uint32_t mask;     /* its lanes; 0: none */
    uint8_t again;     /* times that they did since it was told, up to where they are counted */
    uint8_t credit;    /* others that it stays for */
    bool looked;       /* for its window */
    bool counted;
    uint32_t times[32]; /* by the first lane's byte in its sector, were it active */
};
struct mg_rows {
    const struct mg_op *op;
    uint64_t from, most;   /* lanes may be at from + k * the access's bytes, k <= most */
    uint64_t base;         /* of `offset`: a multiple of 128 below `from` */
    uint8_t *at;           /* it, of device memory; of shared memory it is an offset, and this is NULL */
    int32_t var;
    bool open, told;       /* there is such an object; somebody wants to know */
    bool counts_lines;     /* of an atomic it matters in which line of the allocation it is */
    uint8_t shift;         /* log2 of the access's bytes */
    uint16_t astray, skip; /* as misses and skip of a site */
    uint32_t served;       /* accesses in this object */
    uint32_t last;         /* where lane 0 was of the latest that were contiguous, or would have been */
    uint32_t line_mask;    /* the lanes of those that were contiguous; 0: none */
    uint32_t nlines;
    uint32_t lines[32];    /* by the first lane's byte in its sector, were it active */
    uint8_t current;       /* of `shapes`, the latest */
    uint8_t alike;         /* of it, in a row, up to a limit */
    uint8_t strange;       /* in a row, that lay as none of them */
    uint8_t tired;         /* accesses for which nobody looks */
    uint32_t untold;
    uint32_t mask[MG_ROWS];
    uint32_t offset[MG_ROWS][32] __attribute__((aligned(64)));
    struct mg_rows_shape shapes[MG_SHAPES];
};
struct mg_site {
    struct mg_shape first;   /* the latest */
    struct mg_shape *others; /* MG_SHAPES - 1 of them, made when needed */
    uint16_t misses;         /* in a row; past a limit the site counts as irregular */
    uint16_t skip;           /* accesses to go before shapes are tried again */
    uint64_t lo, hi;         /* the object of the last irregular access */
    struct mg_touched *touched; /* made when needed */
    struct mg_rows *rows;       /* likewise */
};
struct mg_lead { /* an address register whose lanes were just compared */
    const struct mg_pattern *pattern; /* NULL: unknown */
    uint64_t base;                    /* the first active lane's value */
    /* the whole group is in bounds and counted: move by this; NULL: look for oneself */
    const struct mg_shape *shape;
};

/* ---- warps ---- */
struct mg_frame {
    struct mg_frame *next; /* in the free list */
    const struct mg_code *code;
    uint8_t *regs;
    uint8_t *params;       /* arguments and results of calls: code->param_bytes a lane, in rows of a word of each */
    uint32_t local_base, local_top; /* bytes in each lane's local memory */
};
enum mg_wait { MG_WAIT_NONE, MG_WAIT_BARRIER, MG_WAIT_WARP, MG_WAIT_CLUSTER };
struct mg_split { /* a leaf */
    const struct mg_op *pc;
    struct mg_frame *frame;
    uint32_t mask;
    int32_t join;    /* index of the join it will arrive at, -1: none */
    uint8_t wait;
    uint8_t barrier;
    bool resumed;    /* the wait is over: the handler at pc finishes its work */
    uint32_t member; /* MG_WAIT_WARP: lanes that must come */
    uint32_t chosen; /* w->choices when it was last made current */
    uint32_t result; /* bar.red: its value */
};
struct mg_join {
    const struct mg_op *pc; /* where lanes go on */
    struct mg_frame *frame; /* with this frame */
    struct mg_frame *callee; /* a call: its frame, freed when all have returned */
    const struct mg_callsite *call;
    uint32_t expected, arrived;
    uint32_t since; /* w->choices when a lane last came */
    bool rested;    /* its block has been parked meanwhile, and others have run */
    bool nested;    /* it has a level, or one around it in its frame has */
    uint32_t level; /* of a branch's inner block (cfg.h): how many regions it is in, its own included; 0: elsewhere */
    int32_t parent;
    int32_t next_free;
    bool live;
};
enum mg_stop {
    MG_STOP_NONE,
    MG_STOP_YIELD, /* its turn is over */
    MG_STOP_LOOK,  /* in the midst of its turn: the worker has to look at something */
    MG_STOP_WAIT,
    MG_STOP_SWITCH /* tree changed: choose a leaf */,
    MG_STOP_DONE,
    MG_STOP_FAULT,
    MG_STOP_ENTER /* compiled code can go on */
};
struct mg_warp {
    /* of the running leaf, kept here for speed */
    uint8_t *regs;    /* of the leaf's frame */
    const struct mg_op *join_pc;
    uint32_t mask;
    int32_t active;   /* number of lanes in mask */
    uint8_t stop;
    struct mg_frame *frame;
    struct mg_block *block;
    struct mg_worker *worker;
    struct mg_site *sites;
    /* of the code that is compiled and runs, which is the kernel's own but in a function: */
    struct mg_rows **rows_of; /* the worker's */
    const struct mg_op *ops;
    struct mg_insn_counts *counts; /* by segment */
    uint32_t index;   /* in the block */
    uint32_t live;    /* lanes that exist and have not exited */
    int32_t current;  /* index of the running leaf */
    MG_VEC(struct mg_split) splits; /* mask 0: dead; compacted when the warp ends */
    MG_VEC(struct mg_join) joins;
    int32_t free_join;
    uint32_t nleaves;
    uint32_t choices; /* of a leaf to run */
    uint32_t polls, apart; /* turns, since a join was last let go, that ended polling, and that did not */
    /* The mbarrier that a lane last waited for in vain; its word is at `wanted`, NULL: none. `waits`: that ended the
     * turn, and the loop has no other end than the wait's. */
    uint8_t *wanted;
    const struct mg_op *wanted_by;
    uint32_t wanted_lane;
    bool waits;
    uint32_t multiplies, lags; /* wgmma asked for; turns that its wait has given to the rest of its warpgroup */
    uint32_t came, owed;   /* lanes that have come to the cluster's barrier, which is closed; that have still to wait */
    struct mg_frame *root;
    void *local;      /* what e.local lies in, made when first needed */
    uint64_t issued;  /* instructions, for clock */
    struct mg_lead leads[MG_LEADS];
    /* of compiled code (engine.c) */
    struct mg_engine_warp e; /* its `slice` is what is left of the slice under all engines */
    uint32_t polled, outside; /* polls of this slice, in MG_POLL_COST; those of them that may be for another block */
    uint32_t looks;           /* slices since its turn was last over for them */
    int32_t gives;            /* what is left of its slice, put by: at the next loop others get their turn; 0: not */
    bool gave;                /* its turn ends for that */
    uint64_t *cells;
    uint32_t (*some)(struct mg_engine_warp *e, uint32_t op, uint32_t mask, uint32_t meet); /* or NULL */
    const bool *some_at; /* by op */
    const struct mg_engine_point *point; /* the barrier that it stands at, or has just left; NULL: it has not begun */
    uint32_t entry;
    const struct mg_op *refused; /* where compiled code could have gone on, but for the registers */
    uint8_t place;
    bool interpreted; /* until it can */
    bool followed;    /* an observer wants its steps: the handler that runs has a copy of this op */
    const struct mg_op *copied, *copy;
    bool told;        /* that it has come to the barrier at which it stands */
    bool has_some;    /* blocks for some lanes: the kernel has them, or a function that it calls */
    /* the block's number is in its frame; compiled code needs it in the first lane of the first warp only */
    bool filled;
    uint32_t tid[3][32] __attribute__((aligned(64)));
};
struct mg_barrier {
    uint32_t arrived, expected; /* threads; expected 0: all of the block */
    uint32_t warps;             /* that take part, a bit each */
    uint32_t any, all_false;    /* bar.red: lanes with a true and with a false predicate were seen */
    uint32_t count;             /* bar.red.popc */
    uint32_t lanes[32];         /* that have come, by warp: one that came (bar.arrive) and then exited counts once */
};
/* A round: each warp of a block that can run has a turn. */
struct mg_round {
    uint32_t turn; /* whose turn it is */
    bool mid;      /* that warp is in the midst of it */
    bool ran, yielded, unpolled, outside, ended; /* some warp has, or was not polling when its turn ended */
    bool moved; /* some turn ended elsewhere than in vain at an mbarrier */
    bool met;   /* a barrier for all threads has opened */
    bool gave;  /* some turn ended so that others may take what an atomic operation gives */
};
struct mg_block {
    struct mg_warp *warps;
    uint32_t nwarps, live_warps;
    uint32_t live_threads;
    struct mg_barrier barriers[16];
    uint8_t *shared;
    uint32_t shared_size;
    uint32_t ctaid[3];
    uint64_t linear;
    struct mg_cluster *cluster;
    uint32_t rank;  /* in it */
    bool waits;     /* for the cluster's barrier: no warp can run before it opens */
    bool compiled;  /* it began as compiled code */
    bool engine;    /* engine.c runs its warps; else turns.c interprets them */
    bool fresh;     /* of engine.c: no warp has run */
    bool looked;    /* since all of it met some warp has polled what may be for another block */
    bool as_begun;  /* the last block here ran compiled from end to end: its warps' state is what one begins with */
    const struct mg_tier *tier; /* that it began with, or went on as */
    struct mg_round round;
    bool opened;       /* a barrier for all threads has opened: the round is over */
    const struct mg_op *untold_at; /* the barrier that these warps, in this order, have come to, and nobody was told */
    uint8_t untold[32];
    uint32_t nuntold;
    uint64_t looks, rounds; /* slices used up, and rounds, since it was last taken up */
    uint32_t stuck;    /* how sure it is that its warps wait for another block */
    bool hinted;       /* some warp has polled outside */
    uint32_t poll_reach; /* of mem->poll, what may be for another block: in a cluster shared memory, too */
    bool polled;       /* some warp may have polled in its last turn */
    uint32_t in_vain;  /* rounds in a row that ended so */
    struct mg_run *run;
};
/* What a worker takes up, parks and counts: blocks that are resident together and take turns. A launch that names no
 * cluster has clusters of one. */
struct mg_cluster {
    struct mg_block *blocks; /* run->cluster_size, by rank */
    uint64_t linear;
    size_t unit;      /* in run->sample, SIZE_MAX: it is not counted */
    uint32_t live;    /* blocks that have not ended */
    uint32_t arrived; /* threads that have come to the barrier, those that then ended as well */
    bool busy;        /* holds a cluster that has begun and not ended */
    bool lost;        /* it has gone wrong */
    uint64_t slices;  /* of its shares that are over (ending.c) */
    struct mg_wgmmas *wgmmas;       /* likewise, multiplications (wgmma.c) */
    struct mg_flights *flights;     /* bulk copies under way; likewise (bulk.c) */
    struct mg_mbarriers *mbarriers; /* bytes that they expect; made when needed (mbarrier.c) */
};
/* How often compiled code was left, and what blocks took (engine.c). */
struct mg_block_times {
    uint64_t leaves;
    uint64_t blocks[2], least[2]; /* interpreted and compiled: how many were timed, and the least time */
    bool off;                     /* blocks are run in pieces: times say nothing */
};
/* Of the accesses of one instruction that a device would let pass, the first of the first block that a worker had. */
struct mg_warning {
    const struct mg_op *op;
    uint64_t block, cluster;
    struct mg_diag diag;
};
struct mg_worker {
    struct mg_run *run;
    unsigned index;
    struct mg_site *sites;
    const uint64_t *other_side;      /* of the cp.async that is under way: mg_access.other; or NULL */
    struct mg_rows **rows_of;        /* of its sites, by op of all codes, as compiled code asks for them; or NULL */
    uint8_t *apart;                  /* likewise: mg_engine_warp */
    struct mg_insn_counts *counts;   /* by segment */
    struct mg_insn_counts *by_insn;  /* divergent branches, and the final sums */
    const struct mg_tier *tier;      /* compiled code; NULL: none yet */
    struct mg_engine_calls calls;    /* what it calls */
    bool joins, together;            /* loads of some blocks may be told together; those of the block under way are */
    uint64_t joined_block, joined;   /* that block; of the loads that wait to be told, those whose block was told */
    struct mg_notes *notes;          /* of the only observer of every access; NULL: it takes none */
    bool following;                  /* an observer has asked to follow a warp in this launch */
    uint32_t ncells;                 /* that its warps have */
    uint64_t told;                   /* of its work, to the kernel */
    /* Of compiled code, by its sites, and by their shapes; of each phase one after the other. Where rows of the block
     * end anywhere in a warp, the lanes of as many warps one after the other lie differently. */
    struct mg_engine_record *records;
    struct mg_engine_shape *shapes;
    uint32_t phases;
    uint32_t fitted;                 /* the first one that was made to fit, + 1 */
    uint64_t *full;                  /* by segment: times that compiled code executed it with all lanes */
    struct mg_block_times times;              /* of the tier */
    struct mg_frame **free_frames;   /* by code id */
    struct mg_pattern **patterns;    /* hash table */
    uint32_t npatterns;
    struct mg_cluster **clusters;    /* contexts, all of them */
    uint32_t nclusters;
    uint64_t next, end;              /* clusters taken and not begun */
    atomic_ullong done, begun;       /* clusters */
    bool made, ended;                /* its memory; all that it had to run */
    bool parked_last;                /* the last cluster was parked: begin another */
    bool mixed;                      /* … behind a round, for others to come between */
    const struct mg_cluster *last;   /* that it ran */
    uint32_t at;                     /* its place among them */
    bool drained;                    /* there are no more to begin */
    bool rests;                      /* the turn of a patient launch is over */
    uint32_t idle;                   /* shares in a row in which blocks only polled */
    uint64_t idle_since;             /* mg__time_ns at the end of the first of them */
    uint64_t spent;                  /* slices of the turn */
    uint64_t *seen; /* by segment: executed before the turn, and when half of its idle shares were over */
    struct mg_spin *spin;            /* whether it only goes round (spin.c) */
    bool alters;                     /* an atomic has changed something since the last turn's end */
    bool alone;                      /* there is no other block to run instead of the one that runs */
    const struct mg_cluster *timed_out; /* that it had when the launch's time was over */
    bool due;                        /* the launch's end, its time, or better code: to be looked at */
    uint32_t held;                   /* clusters that have begun and not ended */
    uint64_t room;                   /* clusters with lower numbers would be resident */
    uint32_t waits;                  /* MG_WAITED_* of its blocks */
    uint64_t fault_cluster;          /* of `diag` */
    bool told_fault;                 /* the last fault became `diag`, and a hint is of it */
    void *observers[MG_MAX_OBSERVERS];
    struct mg_access event;
    struct mg_access_room spread;
    const void *values[8]; /* the event's */
    struct mg_sync sync;
    const struct mg_warp *met; /* what was told last is that all its lanes did something together; or NULL */
    uint64_t met_notes;        /* how many notes there were then */
    struct mg_warning *warnings;     /* what a device would let pass */
    size_t nwarnings;
    size_t unit;                     /* that runs, of run->sample, SIZE_MAX: none of those */
    struct mg_insn_counts *given[3]; /* of a launch with a sample: counts and by_insn as told, room for what is new */
    bool quiet;                      /* accesses are not told: that unit is not counted */
    uint64_t memory_changes;         /* as its sites and records know memory */
    uint64_t sink[4];                /* where faulting lanes read and write when the launch goes on */
    bool passes;                     /* a fault now does not stop the launch */
    struct mg_diag diag;
};
#define MG_PART_MOST 64u  /* blocks that observers ask for, of a launch in two parts */
#define MG_PART_LEAST 16u /* of a grid in two parts */
/* One launch under way. */
struct mg_run {
    struct mg_simt *simt;
    const struct mg_program *program;
    struct mg_launch_info info;
    struct mg_simt_launch asked;
    const struct mg_simt_launch *launch; /* the same */
    uint8_t *params;
    uint32_t param_size;
    uint32_t shared_total;
    uint32_t shared_size; /* that, and behind it the system's part if the program asks for it */
    uint32_t stack_bytes;
    unsigned nworkers;
    bool serial; /* one worker: atomics need no lock prefix */
    bool want_shapes, want_sync, want_steps, want_bulk, want_far, want_params;
    bool want_every; /* the program is the watched one */
    struct mg_unheard *unheard; /* by instruction, if `sole` wants every access: what it need not be told */
    bool goes_on;    /* an observer takes faults: the launch ends with its error, but later */
    bool lets_pass;  /* what a device only happens to let pass goes on, with a warning: an access beyond its allocation
                        in memory that a device has mapped, the number of a barrier that there is not */
    struct mg_observer *observers;
    unsigned nobservers;
    int sole; /* the only observer that is told anything but counts, -1: there are several, or none */
    void *observer_state[MG_MAX_OBSERVERS];
    unsigned wants; /* MG_OBSERVE_* of all of them */
    struct mg_allocation *allocations; /* snapshot, by address */
    size_t nallocations;
    uint64_t memory_changes; /* when it was taken */
    struct mg_dim3 cluster, clusters; /* blocks of a cluster, clusters of the grid */
    uint32_t cluster_size;
    bool cluster_named;   /* by the kernel or the launch */
    uint64_t nclusters;
    uint32_t fit;         /* clusters that the device holds at once */
    uint32_t takes[4];    /* a block, of its SM: blocks, warps, registers, bytes of shared memory */
    uint32_t resident;    /* most that have begun and not ended: what others leave of those */
    struct mg_run *next_open; /* of the launches that have begun and not ended */
    struct mg_run *next_kept;
    struct mg_sample *sample; /* NULL: all is counted */
    bool begun, rested;   /* it has; a turn of it has ended before */
    bool patient;         /* its turn may end before it does */
    bool moved;           /* in its last turn it did more than wait */
    bool abandoned;       /* nobody waits for it any more */
    bool spins;           /* it ends because it can never go on */
    bool in_order;        /* an observer asks for one worker */
    bool mixes;           /* blocks that may wait for one another have short shares, for observers of their order */
    bool gives;           /* and warps short turns, where an atomic operation hands out work */
    bool own_workspace;
    int clock;            /* the observer that is its clock, -1: none */
    uint64_t polls_since; /* its last turn ended because it only polls since then (mg__time_ns); 0: for else */
    unsigned observing;   /* observers that have begun it */
    enum mg_status status; /* how it ended, and why */
    struct mg_diag diag;
    atomic_int stop;      /* MG_STOPS_*: a fault, a time-out */
    atomic_ullong until;  /* clusters behind this one do not go on */
    atomic_ullong deadline; /* ns, 0: none; while code is made it waits, and then moves on by as much */
    uint64_t began_at, last_progress;
    struct mg_worker *workers;
    struct mg_described *engine; /* the kernel's code, or what it will be made of; NULL: interpret */
    uint64_t workspace;   /* device address of the grid barrier's word pair */
    /* part.c: of a launch in two parts the second one, or NULL; the blocks that are the first one's */
    struct mg_run *rest;
    bool is_rest;
    unsigned nchosen, first_worker; /* 0 of a launch that is whole; what observers know its first worker as */
    uint64_t chosen[MG_PART_MOST];
    uint32_t *accesses; /* by segment */
    struct mg_observer own_observers[MG_MAX_OBSERVERS];
    struct mg_shared_var *shared_vars;
    uint32_t nshared_vars;
    /* written all the time, and so in a line of its own: the fields above are read by all workers at every block */
    _Alignas(64) atomic_ullong next_cluster;
};

/* ---- the device ---- */
struct mg_simt_module {
    struct mg_simt *simt;
    struct mg_ptx_module *ptx;
    uint64_t *addresses; /* by variable id: device address of module-scope global and const variables, 0: none */
    struct mg_simt_kernel **kernels; /* by function id */
    struct mg_simt_module *next;
};
/* The warps of a block: all have 32 threads, all but the last, or there is one that has fewer. */
enum mg_warps_are { MG_WARPS_WHOLE, MG_WARPS_RAGGED, MG_WARPS_PARTIAL, MG_WARPS_KINDS };
struct mg_simt_kernel {
    struct mg_simt_module *module;
    const struct mg_ptx_func *func;
    struct mg_program *program;
    struct mg_program *watched;        /* the same, for launches of which every access is observed; made at the first */
    /* For the code generator, the program and the watched one, for blocks with 2^i lanes a row (0: irregular). */
    struct mg_described *described[2][MG_WARPS_KINDS][6];
    struct mg_simt_kernel_info info;
};
struct mg_simt {
    struct mg_simt_options options;
    const struct mg_arch *arch;
    struct mg_pool *pool;
    struct mg_observer observers[MG_MAX_OBSERVERS];
    unsigned nobservers;
    bool observe;
    unsigned observe_first, observe_end; /* of the observers, when they are on */
    uint64_t sample_every;  /* one block of so many is counted, 0: all, or MG_SAMPLE_AUTO */
    bool sample_alone;      /* and only those run, where that can be */
    pthread_mutex_t lock; /* memory */
    pthread_mutex_t launch_lock, print_lock;
    struct mg_memory *memory;
    struct mg_simt_module *modules;
    struct mg_run *open;    /* launches that have begun and not ended */
    struct mg_run *kept;    /* some that have ended, the latest first (keep.c) */
    atomic_ullong programs; /* that were made */
    const struct mg_lanes *lanes;
    const struct mg_engine *engine;
    uint64_t shared_window, local_window, param_window, func_window;
    uint64_t heap, heap_size; /* device-side malloc; made when first needed */
    struct mg_heap *heap_state;
    bool heap_used;      /* a kernel that calls malloc or free was launched */
    bool print_used;     /* one that calls printf */
    uint64_t stack_size; /* bytes a thread, where a kernel's need is not known */
    uint64_t workspace;
    struct mg_textures *textures; /* made when first needed: texture.c */
};

/* ---- the parts that are compiled for several vector extensions (lanes.c) ---- */
struct mg_sem_mma;
struct mg_wgmma_call;
struct mg_lanes {
    const char *isa;
    const mg_handler (*alu)[3]; /* by sem row: mode 0, mode FTZ, any mode */
    mg_handler ld_shared32, ld_shared64, ld_global, ld_lanes;
    mg_handler st_shared32, st_shared64, st_global, st_lanes;
    mg_handler mov32, mov64;
    /* 32-bit elements, one a lane, 32-bit shared or 64-bit global addresses: op->a address, op->c offset, op->d
     * element, op->b site; the second of each follows a lead */
    mg_handler ld_shared_word[2], ld_global_word[2], st_shared_word[2], st_global_word[2];
    /* for programs of which every access is observed: the second of each does not go on to the next op, as compiled
     * code wants it; of these of shared memory the second has 64-bit addresses */
    mg_handler ld_shared_watched[2][2], st_shared_watched[2][2], ld_global_watched[2], st_global_watched[2];
    mg_handler red_shared_add, red_shared_add_alone; /* likewise */
    void (*mma)(const struct mg_sem_mma *what, unsigned cc, const struct mg_sem_warp *io);
    void (*wgmma)(const struct mg_wgmma_call *call);
    /* calls->add, ->load and ->store of compiled code */
    bool (*add_words)(struct mg_engine_warp *e, uint32_t index, uint32_t mask);
    bool (*load_rows)(struct mg_engine_warp *e, uint32_t index, uint32_t mask);
    bool (*store_rows)(struct mg_engine_warp *e, uint32_t index, uint32_t mask);
    void (*move_shape)(struct mg_engine_warp *e, uint32_t index, const struct mg_engine_shape *shape, uint64_t at);
    /* The lanes' host pointers, if they are in one object, and told; false: nothing was done. */
    bool (*places)(struct mg_warp *w, const struct mg_op *op, uint32_t mask, uint8_t *where[32]);
    void (*leave)(void); /* before other code runs: ends the use of wide registers */
};
const struct mg_lanes *mg__lanes_select(void); /* the best that this processor runs */

/* How a launch ends early (ending.c). */
enum { MG_STOPS_EARLY = 1, MG_STOPS_NOW = 2 }; /* some cluster has gone wrong; all end */
void mg__end_now(struct mg_run *run);
void mg__end_early(struct mg_cluster *cluster);       /* it goes wrong */
bool mg__given_up(const struct mg_cluster *cluster);  /* of a launch that has stopped */
bool mg__begins(const struct mg_run *run, uint64_t cluster); /* whether it may */
static inline bool mg__stops(const struct mg_run *run, const struct mg_cluster *cluster)
{
    return MG_UNLIKELY(atomic_load_explicit(&run->stop, memory_order_relaxed)) && mg__given_up(cluster);
}

/* Turns. */
static inline void mg__slice_begin(struct mg_warp *w)
{
    w->e.slice = MG_SLICE;
    w->polled = w->outside = w->looks = 0;
    w->gives = 0;
    w->gave = false;
}
/* A turn goes on with the slice of the last one, where that has not polled: most turns end at a barrier, and compiled
 * code then need not look at each warp. */
static inline void mg__turn_begin(struct mg_warp *w)
{
    if (w->polled)
        mg__slice_begin(w);
    w->e.slice += w->gives;
    w->gives = 0;
}
/* An atomic operation has changed what it returns, as one does that hands out work: an observer of order sees more
 * where several warps have some of it, so others get their turn when this one comes to a loop. */
static inline void mg__give(struct mg_warp *w)
{
    if (w->e.slice <= 0)
        return;
    w->gives += w->e.slice;
    w->e.slice = 0;
    w->block->polled = true; /* compiled code looks at each warp */
}
static inline void mg__poll(struct mg_warp *w, uint32_t how)
{
    w->e.slice -= (int32_t)how * MG_POLL_COST;
    w->polled += how;
    w->outside += how & w->block->poll_reach;
    w->block->polled = true;
}
static inline bool mg__has_polled(const struct mg_warp *w)
{
    return w->polled >= MG_SLICE / MG_POLL_COST / 2;
}

/* Operands. */
/* Where byte `address` of a lane's stack lies in e.local; _free: and it has none. */
static inline size_t mg__local_at(uint64_t address, unsigned lane)
{
    return (size_t)(address / 4 * 128 + lane * 4 + address % 4);
}
void mg__local_free(struct mg_warp *w);

static inline void *mg__slot(const struct mg_warp *w, int32_t operand)
{
    return w->regs + (uint32_t)operand;
}
static inline uint32_t mg__pred(const struct mg_warp *w, int32_t operand)
{
    uint32_t mask;
    memcpy(&mask, mg__slot(w, operand), sizeof mask);
    return mask;
}
static inline void mg__pred_set(struct mg_warp *w, int32_t operand, uint32_t value, uint32_t mask)
{
    uint32_t *p = mg__slot(w, operand);
    *p = (*p & ~mask) | (value & mask);
}
static inline uint64_t mg__lane64(const struct mg_warp *w, int32_t operand, unsigned lane)
{
    return ((const uint64_t *)mg__slot(w, operand))[lane];
}
static inline uint32_t mg__lane32(const struct mg_warp *w, int32_t operand, unsigned lane)
{
    return ((const uint32_t *)mg__slot(w, operand))[lane];
}

#include "simt/calls_priv.h"
#endif
