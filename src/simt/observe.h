/* observe.h - the engine's only window: what models and checks see of a launch.
 *
 * Events are per warp, never per lane. An access is one record, whatever its size and its form; what an observer wants
 * decides when it gets them, and nobody's wish changes what the others get:
 *
 *  MG_OBSERVE_SHAPES  the cost of an access depends on its shape alone: the active lanes, the distances of their
 *                     addresses, and the base modulo 32. The engine remembers shapes and reports each once, with the
 *                     number of `times` it occurred, at the end of the launch or when its memory of them is full.
 *                     Addresses are then right modulo 32 and in their distances, not absolutely. What lies anywhere
 *                     is told several accesses together. Nothing need be told of local memory.
 *  MG_OBSERVE_EVERY   instead: every access, in each warp's program order, with exact addresses, before it takes
 *                     effect.
 *  MG_OBSERVE_SYNC    what orders accesses, in the order in which it happens in a block: barriers, warp operations,
 *                     fences, asynchronous copies, exits, and what the scheduler had to do so that the block went on.
 *  MG_OBSERVE_BULK    what bulk copies read and write, when they are done.
 *  MG_OBSERVE_STEPS   each instruction of the warps that the observer asked to follow, before it is executed; asked for
 *                     by mg_access.follow, with EVERY, or mg_sync.follow; of all warps where an observer is the
 *                     kernel's clock.
 *
 * Where its lanes go comes as whatever the engine has at hand: their addresses, a pattern that it has seen before and a
 * base, or words of shared memory. mg__access_lanes makes addresses of it, once for all observers that ask. Who can do
 * with a pattern need not ask, and that takes a small part of the time that 32 addresses take.
 *
 * Compiled code tells of all this, too, and in the same order, since it leaves accesses and what orders them to the
 * interpreter's functions, but for accesses that it finds noted (mg_notes); those that the observer need not hear
 * (mg_unheard) neither tells. Of a warp whose steps are wanted compiled code lets go until they are not. A launch runs
 * interpreted where an observer wants MG_OBSERVE_SYNC and none MG_OBSERVE_EVERY.
 *
 * A launch runs on several workers. Each has its own observer state, which worker_begin makes and all calls but the
 * last get on that worker's thread; `worker_end` gets it on the launching thread, in worker order, after the last
 * block: no locks are needed. A worker that comes too late for any block has none. Sums over workers are the same for
 * any number of them.
 */
#ifndef MG_OBSERVE_H
#define MG_OBSERVE_H
#include "base/base.h"

struct mg_ptx_module;
struct mg_ptx_func;
struct mg_ptx_insn;

enum mg_access_kind { MG_ACCESS_LD, MG_ACCESS_ST, MG_ACCESS_ATOM, MG_ACCESS_RED, MG_ACCESS_CP_ASYNC,
                      MG_ACCESS_BULK_LD, MG_ACCESS_BULK_ST }; /* what a bulk copy reads and writes, when it is done */

/* One instruction of a launched kernel, functions it calls included. Indexed 0 … launch->ninsns-1. */
struct mg_insn_info {
    const struct mg_ptx_func *func;
    const struct mg_ptx_insn *insn;
    const char *file; /* source file, or "" */
    uint32_t line;    /* source line, or 0 */
};
struct mg_shared_var { /* a variable in the block's shared memory */
    const char *name;  /* as in PTX (mangled); "(dynamic)" for dynamic shared memory */
    const struct mg_ptx_var *var;
    uint32_t offset, size;
};
/* Of managed memory: which pieces of it the device has, as far as its copies and its launches' observers said. */
#define MG_PAGES_PIECE 65536u /* bytes */
struct mg_pages {
    uint64_t first, n;       /* address / MG_PAGES_PIECE; pieces, the first and the last of which others may share */
    _Atomic uint64_t here;   /* how many it has, by and large; … */
    _Atomic uint64_t nknown; /* … of how many it is known which they are, … */
    _Atomic uint8_t known[]; /* … namely those with a 1 */
};
static inline void mg__pages_mark(struct mg_pages *pages, uint64_t piece, bool here)
{
    pages->nknown += (uint64_t)here - pages->known[piece];
    pages->known[piece] = here;
}
struct mg_allocation { /* live device memory, or registered host memory */
    uint64_t address, size;
    const char *name; /* a module variable's, or NULL for mg__mem_alloc's; "(…)": the engine's own */
    bool constant;    /* a variable of the constant bank */
    bool host;        /* registered host memory */
    struct mg_pages *pages; /* of managed memory; NULL: of any other */
};
/* What happened in a launch that makes its counts depend on who waited for whom, and who came first. */
enum {
    MG_WAITED_POLLING = 1, /* the turn of a warp ended polling */
    MG_WAITED_PARKED = 2,  /* a block was left for another one before its end */
    MG_WAITED_APART = 4,   /* lanes that waited for others to reconverge were let go without them */
    MG_WAITED_SWAP = 8     /* a compare-and-swap failed */
};
/* Of a launch of which only some blocks are counted, or, where it names clusters, some clusters. */
struct mg_sample_unit {
    uint64_t number; /* of the block, or cluster */
    uint32_t stratum;
};
struct mg_sample {
    struct mg_sample_unit *at; /* by number */
    size_t n;
    uint64_t units;  /* of the launch */
    uint64_t *sizes; /* units of each stratum, of which two are counted, or its only one */
    uint32_t nstrata;
    uint64_t every; /* as it was asked for */
    bool left_out;  /* the others did not run: MG_OBSERVE_COUNTS has these alone, too */
};
/* Filled by launch_begin of an observer of MG_OBSERVE_EVERY that is the only one: a load or a store of the instruction,
 * all of whose lanes lie in these bytes of device memory, need not be told. It may be told all the same. Of a store
 * that is not, `mark` goes to the bytes of `marks` that stand for what it writes: one for each 4 bytes from `address`
 * on, or for each element where these are smaller. With `unfollowed`: only on a worker that has not followed any warp
 * of the launch yet (MG_OBSERVE_STEPS). */
struct mg_unheard {
    uint64_t address, size;
    uint8_t *marks;
    uint8_t mark;
    bool unfollowed;
};
/* Accesses to shared memory that compiled code makes by itself, where one observer alone wants every access: in shapes
 * that the observer knows (mg_observer.noted), and loads only of words of which it says that they are written. They are
 * noted, in the order in which they are made, and the observer looks at the notes when it is told anything that may
 * hang on them. */
#define MG_NOTES 8192u
#define MG_NOTE_BYTES 512u /* that one store overwrites at most */
#define MG_NOTED_TOGETHER 64u /* loads of a run in one note, at most */
#define MG_NOTED_RUN 4u       /* notes of a run, at most */
struct mg_noted_load {
    uint64_t shape; /* its own */
    int32_t offset; /* bytes from where the note is */
    uint32_t order; /* in its run: ascending, also in a note */
};
struct mg_notes {
    uint64_t n, most;      /* how many there are, and may be; 0: all are told */
    uint64_t block;        /* whose they are; before another one runs the engine sets `most` to 0 */
    uint8_t *written;      /* a bit for each 32-bit word of shared memory, and 8 bytes more; stores may set them */
    uint8_t *shared;       /* that block's memory, … */
    uint8_t *running;      /* … and that of the block that runs, which is it when the observer names another block */
    uint8_t *saved;        /* what noted stores have overwritten, one behind the other, lane by lane: the observer's
                              and large enough for MG_NOTES of MG_NOTE_BYTES */
    uint64_t nsaved;       /* so many bytes */
    uint64_t at[MG_NOTES]; /* the least address; from bit 32 on the warp, from bit 40 on the shape */
};
struct mg_launch_info {
    const char *kernel; /* mangled */
    struct mg_dim3 grid, block;
    uint32_t shared_static, shared_dynamic;
    uint32_t shared_size, shared_reserved; /* all that the block has; of that the system's part, at the end */
    const struct mg_ptx_module *module;
    const struct mg_insn_info *insns;
    uint32_t ninsns;
    uint64_t program; /* a number of these instructions that no others get; 0: none */
    const struct mg_shared_var *shared_vars;
    uint32_t nshared_vars;
    unsigned device_cc;
    const struct mg_ptx_func *func;
    const struct mg_allocation *allocations; /* by address */
    size_t nallocations;
    const uint8_t *params; /* the kernel's, laid out as func->params[i]->offset says */
    uint32_t param_size;
    uint32_t stack_bytes;   /* bytes of local memory a thread has */
    bool ordered;            /* blocks run on one worker, because they may wait for one another */
    bool cooperative;        /* its blocks are there together, and may have a grid's barrier */
    bool *in_order;          /* set by launch_begin of an observer: they shall, one after the other */
    uint32_t waits;          /* MG_WAITED_*, at the launch's end */
    uint64_t range, range_size; /* device addresses lie in here */
    uint64_t shared_window;     /* generic addresses of a block's shared memory begin here */
    const struct mg_sample *sample; /* NULL: all blocks are counted */
    struct mg_unheard *unheard;     /* by instruction; NULL: another observer wants to hear of all */
    bool parting, parted;           /* it may be parted, and it is; set before workers begin: mg_observer.blocks */
};
/* Whether the 8 bytes at an offset of the parameters are an address: of live memory, or of memory that was. `info` is a
 * struct mg_launch_info. */
static inline bool mg__launch_is_pointer(const void *info, uint64_t offset)
{
    const struct mg_launch_info *l = (const struct mg_launch_info *)info;
    uint64_t value;
    if (offset > l->param_size || sizeof(value) > l->param_size - offset)
        return false;
    memcpy(&value, l->params + offset, sizeof(value));
    bool found = value - l->range < l->range_size;
    for (size_t i = 0; i < l->nallocations && !found; i++)
        found = value - l->allocations[i].address < l->allocations[i].size;
    return found;
}
/* A bit for each word of the parameters at which an address begins. False: there are too many words. */
static inline bool mg__launch_pointers(const struct mg_launch_info *info, uint64_t *pointers)
{
    *pointers = 0;
    for (uint32_t word = 0; word < 64 && word * 4 < info->param_size; word++)
        *pointers |= (uint64_t)mg__launch_is_pointer(info, word * 4) << word;
    return info->param_size <= 256;
}
/* Distances of the lanes' addresses from the first active lane's: one object for each in a worker, until its
 * `counts`. */
#define MG_PATTERN_LIMIT 4096u /* of a worker; more count as irregular */
struct mg_pattern {
    int32_t delta[32] __attribute__((aligned(64)));  /* 0 in idle lanes */
    uint32_t index[32] __attribute__((aligned(64))); /* the lane's 32-bit word, from `low` */
    uint32_t mask;
    uint32_t phase;    /* base modulo 4 */
    int32_t low, high; /* least and greatest delta */
    uint32_t id;       /* 0 … MG_PATTERN_LIMIT - 1, in the order in which the worker met them */
    struct mg_pattern *next; /* the engine's */
};
/* The engine's: makes addresses of an access that came without, here. */
struct mg_access;
struct mg_access_room {
    void (*spread)(struct mg_access *access, uint32_t row);
    uint64_t address[32];
    uint8_t *where[32];
};
#define MG_TOUCHED 256u /* words */
struct mg_access {
    uint32_t insn; /* index into launch->insns */
    uint8_t kind;  /* enum mg_access_kind */
    uint8_t space; /* MG_SPACE_SHARED, _GLOBAL, _LOCAL or _CONST, and _PARAM to those who asked: generic addresses
                      are resolved, and an access whose lanes reach several spaces is reported once for each */
    bool generic;  /* the instruction used a generic address */
    bool value64;
    uint8_t far;   /* of MG_OBSERVE_FAR: in the shared memory of so many blocks of the cluster, each behind the other */
    uint32_t mask;      /* lanes that access, never 0; of a bulk copy the one that asks for it */
    uint32_t width;     /* bytes a lane, of any number */
    uint32_t element;   /* of that many bytes each; a multiple of it */
    int32_t shared_var; /* index into launch->shared_vars, -1: none or not shared */
    uint64_t times;     /* 1 for MG_OBSERVE_EVERY */
    uint32_t copy;      /* its number, of MG_OBSERVE_BULK; from 2^31 on of MG_OBSERVE_WGMMA */
    /* Of these two: 1: none, 2: of 32 bytes, 3: of 64, 4: of 128, as the tensor map, of two dimensions and more, or the
     * descriptor of matrix A or B says; 0: neither does. */
    uint8_t swizzle;
    bool of_b;
    /* MG_OBSERVE_EVERY: linear index of the block and the warp in it; the block whose shared memory it is, which in a
     * cluster may be another */
    uint64_t block, target;
    uint32_t warp;

    /* By lane, NULL: see mg__access_lanes. Shared, local, const, param: offset in that space; global: device
     * address. Junk in idle lanes. */
    const uint64_t *address;
    uint64_t least, most; /* of these addresses; `most` is 0: nobody has looked */
    /* Likewise; MG_OBSERVE_EVERY: where each lane reads or writes, as host pointers. NULL of an access that faults. */
    uint8_t *const *where;
    /* If not NULL all lanes lie in one variable or allocation, and a lane's address is `base`, the first active lane's,
     * and its delta; likewise its host pointer with `at`. Of a bulk copy's device memory `base` is the byte of shared
     * memory that it goes to, or comes from. */
    const struct mg_pattern *pattern;
    /* Of a bulk copy's device memory: so many lines of `width` bytes, `apart` from each other, in
     * shared memory `pitch`. */
    uint32_t lines, pitch;
    uint64_t apart;
    /* If not NULL 32-bit words of shared memory: the lane's distance in words from `base`, and its host pointer's from
     * `at`, none more than `reach`. With MG_OBSERVE_SHAPES it may be several accesses of one instruction, a row of 32
     * each. */
    const uint32_t *word;
    uint32_t rows, reach; /* rows: else 1 */
    /* Of these rows, if not NULL: by word from `base` on, 1 if some lane's is this one, else 0. */
    const uint8_t (*touched)[MG_TOUCHED];
    /* If not NULL, with MG_OBSERVE_SHAPES: `rows` accesses of one instruction, and of each the lanes' distances in
     * bytes from `base`, which is a multiple of 128, and which lanes access. Junk in idle lanes. */
    const uint32_t (*offset)[32];
    const uint32_t *masks;
    uint64_t base;
    uint8_t *at;
    /* MG_OBSERVE_EVERY: what a store is about to write: for each element 32 lanes of 32 or, if value64, 64 bits. NULL
     * for other operations. */
    const void *const *value;
    /* Of cp.async the other side's addresses by lane, whole; NULL of all other accesses. Junk in idle lanes. */
    const uint64_t *other;
    bool *follow;      /* set by an observer of MG_OBSERVE_STEPS: it wants the warp's steps from here on; or NULL */
    const void *frame; /* as mg_step's */
    struct mg_access_room *room;
};
/* A warp is about to execute instructions `from` to `to`, one behind the other; those before `to` are moves and the
 * like, which the engine need not do. */
struct mg_step {
    uint32_t from, to; /* indices into launch->insns */
    uint32_t warp, mask;
    uint64_t block;
    const void *frame; /* of the function's call: the same in all its steps, and free for another when it has ended */
    /* Of instruction `to`: registers as they are before it. By PTX register, where its 32 lanes lie from `regs` on, of
     * 32 or 64 bits, or for a predicate a mask; -1: it has no place. */
    const uint8_t *regs;
    const int32_t *slots;
};
/* The access has its addresses from here on. */
static inline void mg__access_lanes(struct mg_access *access)
{
    if (!access->address)
        access->room->spread(access, 0);
}
/* The same of one of its rows, for an observer of shapes; `mask` is then that row's, too. */
static inline void mg__access_row(struct mg_access *access, uint32_t row)
{
    if (!access->address || access->rows > 1)
        access->room->spread(access, row);
}
/* An access that no device would make: `mask` are the lanes at fault; their loads give 0
 * and their stores are dropped. */
enum mg_fault_kind { MG_FAULT_ADDRESS, MG_FAULT_MISALIGNED };

/* ---- MG_OBSERVE_SYNC ---- */
enum mg_sync_kind {
    MG_SYNC_BLOCK_BEGIN,
    MG_SYNC_BLOCK_END, /* `wrong`: it is given up before its end, and the launch goes on without it */
    /* lanes arrive at barrier `barrier` for `count` threads, 0: all; `arrive`: they do not wait; `wrong`: there is no
     * such barrier, or none for so many, and the launch ends */
    MG_SYNC_BARRIER,
    MG_SYNC_BARRIER_OPEN, /* `barrier` opens: `count` threads had arrived. Those that wait go on */
    /* lanes execute a warp operation together; members[i]: the mask that lane i names. Of all lanes of a warp once, and
     * not again until something else is told */
    MG_SYNC_WARP,
    MG_SYNC_WARP_WAIT,    /* lanes arrive at one and wait for `missing` */
    MG_SYNC_WARP_SOURCE,  /* a shuffle: lanes read from lanes members[i] that do not take part with them */
    MG_SYNC_CLUSTER,      /* the barrier of the block's cluster opens */
    MG_SYNC_FENCE,
    MG_SYNC_COPY_COMMIT, /* cp.async.commit_group */
    MG_SYNC_COPY_WAIT,   /* at most `count` groups may be pending, ~0u: wait_all */
    /* mbarriers: the word is at `address` in the shared memory of block `target`, which in a cluster may be another */
    MG_SYNC_MBARRIER_INIT,   /* for `count` arrivals */
    MG_SYNC_MBARRIER_INVAL,
    MG_SYNC_MBARRIER_BYTES,  /* `count` of them are expected, or made to have come */
    MG_SYNC_MBARRIER_ARRIVE, /* lanes arrive */
    MG_SYNC_MBARRIER_COPIES, /* lanes arrive when their copies that are not bulk have come */
    MG_SYNC_MBARRIER_OPEN,   /* a phase is over */
    MG_SYNC_MBARRIER_OVER,   /* lanes have seen that it is */
    MG_SYNC_MBARRIER_NONE,   /* there is none where lanes use one: the launch ends */
    MG_SYNC_MBARRIER_MANY,   /* `count` arrivals, and the phase waits for `missing` more of `size`: likewise */
    MG_SYNC_MBARRIER_STUCK,  /* deadlock: of `missing` arrivals `count` lack; of `size` bytes `barrier` came */
    /* Bulk copies, and stores that tell an mbarrier, by their number `count` */
    MG_SYNC_BULK,            /* a lane asks for one */
    MG_SYNC_BULK_LANDED,     /* it is done; if `arrive` its mbarrier, as above, is told */
    MG_SYNC_BULK_REFUSED,    /* it cannot be done, says `text`: the launch ends */
    MG_SYNC_BULK_COMMIT,     /* lanes close the group of those without an mbarrier */
    MG_SYNC_BULK_WAIT,       /* lanes have waited for all groups but the latest `count` */
    MG_SYNC_FAR_ENDED,       /* lanes reach into the shared memory of `target`, which has ended: the launch ends */
    /* Warpgroup multiplications */
    MG_SYNC_WGMMA,           /* a warp asks for one, of number `count`; it reads its operands when it is waited for */
    MG_SYNC_WGMMA_FENCE,
    MG_SYNC_WGMMA_COMMIT,
    MG_SYNC_WGMMA_WAIT,      /* at most `count` groups are in flight now */
    MG_SYNC_REGISTERS,       /* setmaxnreg: a warp's threads shall have `count` registers each; `arrive`: .inc */
    MG_SYNC_EXIT,        /* lanes end */
    MG_SYNC_MALLOC,      /* a lane gets `size` bytes of the device's heap at `address`, 0: there was no room */
    MG_SYNC_FREE,        /* a lane is about to give back `address` */
    MG_SYNC_RELEASE, /* lanes that waited for reconvergence at `insn` are let go, because no lane of the block could go
                        on, or if `arrive` because all others of the warp poll */
    MG_SYNC_STUCK,   /* deadlock: lanes wait for ever, if `arrive` in a loop, else at `barrier` or, if that is ~0u, for
                        lanes `missing` */
    MG_SYNC_TIMEOUT  /* out of time: where a warp of the block was; `arrive`: it was polling */
};
struct mg_sync {
    uint8_t kind;      /* enum mg_sync_kind */
    bool arrive, wrong;
    uint32_t insn;     /* index into launch->insns, ~0u: none */
    uint64_t block, target;
    uint32_t warp, mask;
    uint32_t barrier, count, missing;
    uint64_t address, size;
    uint32_t members[32];
    const char *text; /* for ever there */
    /* MG_SYNC_WARP_SOURCE: as in struct mg_access; NULL: its steps cannot be told from here on */
    bool *follow;
    const void *frame;
};
struct mg_insn_counts {
    uint64_t warps;     /* times a warp issued it (a guard that is false for all lanes included) */
    uint64_t threads;   /* active threads, before the guard */
    uint64_t divergent; /* branches: times that active lanes went different ways */
};
enum {
    MG_OBSERVE_SHAPES = 1,
    MG_OBSERVE_EVERY = 2,
    MG_OBSERVE_COUNTS = 4,
    MG_OBSERVE_SYNC = 8,
    MG_OBSERVE_STEPS = 16,
    MG_OBSERVE_BULK = 32, /* accesses of bulk copies as well, of one lane each, and of any width */
    MG_OBSERVE_WGMMA = 64, /* with EVERY: what warpgroup multiplications read, 16 bytes a lane */
    MG_OBSERVE_FAR = 128,  /* with SHAPES: accesses of other blocks' shared memory, each as it is; st.async at once */
    MG_OBSERVE_PARAMS = 512, /* with EVERY: loads of the kernel's parameters by a register; MG_SPACE_PARAM */
    MG_OBSERVE_REST = 1024, /* with EVERY: of the blocks that a parted launch leaves (mg_observer.blocks) SHAPES */
    MG_OBSERVE_UNITS = 256 /* it can do with some of the blocks, where that is asked for: mg_launch_info.sample */
};
struct mg_observer {
    void *self;
    unsigned wants; /* MG_OBSERVE_* */
    enum mg_status (*launch_begin)(void *self, const struct mg_launch_info *launch, unsigned workers, void **state);
    void *(*worker_begin)(void *state, unsigned worker); /* NULL: out of memory */
    void (*access)(void *worker, struct mg_access *access);
    /* once a worker, before worker_end: counts of its blocks, by instruction index; of a launch with a sample once for
     * each unit as well, and then what came since */
    void (*counts)(void *worker, const struct mg_insn_counts *counts, uint32_t ninsns);
    void (*worker_end)(void *state, void *worker);
    /* `status`: how the launch ended. The last call of the launch; frees `state`. */
    void (*launch_end)(void *state, enum mg_status status);
    /* MG_OBSERVE_UNITS, of a launch with a sample: accesses and counts up to here were the last unit's (at first of
     * none); what follows is that of sample->at[unit], or SIZE_MAX: of any that is not counted, of which no accesses
     * are told, but `counts` are. */
    void (*unit)(void *worker, size_t unit);
    void (*turn)(void *state); /* the launch goes on; others may have had turns since it did */
    void (*sync)(void *worker, const struct mg_sync *sync);
    bool (*step)(void *worker, const struct mg_step *step); /* false: it need not be told any more */
    /* With one of these attached, a kernel that reads the clock reads this: cycles, or nanoseconds since 1970. It
     * is told every warp's steps from its begin. */
    uint64_t (*clock)(void *worker, uint64_t block, uint32_t warp, bool nanoseconds);
    /* With one of these attached a faulting access does not end the launch: it goes on without those lanes, and ends
     * with the error all the same. `access` has no `where`, and times and shared_var mean nothing. */
    void (*fault)(void *worker, struct mg_access *access, enum mg_fault_kind kind);
    /* With EVERY: whether it must be told each access of a block by itself. Of blocks of which no observer must, loads
     * of global memory may be told together, with `times` and addresses as MG_OBSERVE_SHAPES has them, as those of
     * block UINT64_MAX; how many of a block will be, or were, `together` says. NULL: of all blocks; and who cares for
     * the number alone. */
    bool (*closely)(void *worker, uint64_t block);
    void (*together)(void *worker, uint64_t block, uint64_t accesses);
    /* With EVERY: the blocks of which it must be told each access, into `at`; how many they are, more than `most`: too
     * many. Asked after launch_begin. The engine may part the launch by that (info->parted): no accesses of the other
     * blocks are told to who says so but what MG_OBSERVE_SHAPES is, and `together` is told of all blocks, with how
     * often access instructions were executed. Workers from launch_begin's `workers` on are of those others. */
    unsigned (*blocks)(void *state, uint64_t *at, unsigned most);
    /* With EVERY: the worker's notes, which it keeps till its end; or NULL. `noted`: whether loads or stores like this
     * one, anywhere in bytes [lo, hi) of shared memory, are to be noted, as *shape; false: they are to be told.
     * `noted_run`: the shape of one of `notes` notes, one behind the other, which say what a run of loads of a warp
     * did; in this one are those `n`. */
    struct mg_notes *(*notes)(void *worker);
    bool (*noted)(void *worker, struct mg_access *access, uint64_t lo, uint64_t hi, uint64_t *shape);
    bool (*noted_run)(void *worker, const struct mg_noted_load *loads, uint32_t n, uint32_t notes, uint64_t *shape);
    /* With EVERY and SYNC, of an observer that is the only one: all warps of the block, whole, have come to `barrier`,
     * for all of its threads, by the same instruction, and it opens. False: nothing was done, and each is to be told by
     * itself. Who has this is told of warps that come to such a barrier, or end, when something else than an access is
     * told of the block, or the warp's next one; and of none that ends if all of them do so together. */
    bool (*met)(void *worker, uint64_t block, uint32_t barrier);
};
#endif
