/* check_priv.h - what the files of this room share.
 *
 *   order.c    happens-before in a block            grid.c, ordered.c, mixed.c   between blocks of a launch
 *   release.c  which block relies on which one       own.c     memory in which threads cannot meet; rounds.c loops
 *   code.c     what the instructions tell: classes, where an address comes from, what leads where
 *   idiom.c    flags, and the first read of a compare-and-swap loop
 *   region.c   device memory: what is written, and the cells of a launch
 *   heap.c     the heap of device-side malloc
 *   copied.c   what kernels copied of them
 *   chosen.c   loads whose value some lanes throw away
 *   define.c   values that nobody made, through registers; bits.c through one instruction
 *   registers.c   setmaxnreg                         swizzle.c how tiles were written
 *   async.c    bulk copies, mbarrier.c what tells of them, beyond.c other blocks of the cluster
 *   watch.c    the observer                          meet.c    barriers and warp operations
 *   noted.c    accesses that compiled code notes
 *   shared.c, global.c, local.c, fault.c   accesses, by memory; cells.c which race and what flags carry (watch.h)
 *   quick.c    whole warps at once                   segment.c global memory that a block touched
 *   tally.c    occurrences, counted                  find.c    occurrences to findings; found.c findings of the host
 *   say.c      findings in sentences                 name.c    variables and threads in words
 *   stream.c   what orders streams                   early.c   the host beside work under way
 *   chain.c    launches that begin early
 *   beside.c   launches in turns
 *   host.c     the host's calls                      limits.c  refused launches; calls.c other calls that fail
 */
#ifndef MG_CHECK_PRIV_H
#define MG_CHECK_PRIV_H
#include <pthread.h>
#include <stdatomic.h>

#include "check/check.h"
#include "check/order.h"
#include "check/phase.h"
#include "check/quick.h"
#include "flow/flow.h"
#include "ptx/ptx.h"

enum check_kind {
#define CHECK_KIND(id, check, name, severity, title, advice) KIND_##id,
#include "check/kind.def"
#undef CHECK_KIND
    KIND_COUNT
};
#define NO_INSN UINT32_MAX
struct kind {
    const char *check, *name, *advice;
    enum mg_severity severity;
};
extern const struct kind mg__kinds[]; /* by enum check_kind */
/* A race of plain accesses of one block that a barrier of the block would have kept apart. */
static inline bool mg__kind_in_block(uint8_t kind)
{
    return kind == KIND_RACE_WRITE_READ || kind == KIND_RACE_READ_WRITE || kind == KIND_RACE_WRITE_WRITE;
}

/* ---- code.c ---- */
struct site {                           /* one instruction that accesses memory */
    struct mg_flow_origin source, from; /* where its address comes from; from: of an asynchronous copy */
    uint16_t number; /* 1 …: among those that access memory, odd: mg__order_own; the last one stands for all above */
    uint8_t class;   /* enum mg_order_class */
    bool reads, writes, atomic;
    bool async;
    bool named; /* source is known, and from */
    bool plain_read;
    bool publishes, takes;       /* a strong write, a strong read */
    bool own_fence;              /* .release or .acq_rel: it is its own fence */
    bool in_block;               /* strong, for the block alone */
    bool letter;                 /* a plain read that races by the letter alone */
    bool goes_back;              /* a volatile read; what is computed from it is stored there again */
    uint8_t mark;                /* launch: what its stores leave in the marks of own.c; 0: it has none */
    uint8_t width;               /* bytes of an atomic */
    uint64_t lo, hi;             /* launch: the shared variable that it means; 0 and ~0: not known */
    int32_t object, from_object; /* launch: index into allocations or shared_vars that it means, -1: not known */
    struct mg_flow_choice choice; /* of a load: for which lanes it counts; `at` is a launch instruction; launch: 0 where
                                     nothing hangs on it */
    uint8_t parts;                /* of a vector's load: elements that are read, a bit each; launch: 0 as above */
    uint32_t object_end;         /* of a local variable: where its function's frame ends */
};
struct code {
    struct site *sites; /* by launch instruction */
    uint32_t *insn_of;  /* by number: the instruction */
    uint32_t ninsns, nnumbers;
    uint32_t unit_shared, unit_global; /* bytes of the narrowest access: log2 */
    bool asks_later; /* something may ask who wrote shared memory before the block last met */
};
enum { CODE_KEPT = 16 };
struct code_kept {              /* of a launch that may be over */
    uint64_t program, pointers; /* mg_launch_info.program, 0: none; mg__launch_pointers */
    struct code code;           /* as it is read, without objects */
};
bool mg__code_read(struct code_kept kept[CODE_KEPT], const struct mg_launch_info *info, struct code *code);
void mg__code_free(struct code *code);
void mg__code_forget(struct code_kept kept[CODE_KEPT]);
/* Whether control can go from instruction `from` to `to` without meeting a barrier of the block (or, `warp`, one of a
 * warp either); `stops` false: meeting what it may. */
bool mg__code_leads(const struct mg_launch_info *info, uint32_t from, uint32_t to, bool stops, bool warp);
/* Whether a thread that goes on at instruction `from` of the kernel itself ends without doing anything more. */
bool mg__code_ends(const struct mg_launch_info *info, uint32_t from);
/* Whether a thread that never meets `barrier` goes on with what follows it, instead of ending. */
bool mg__code_goes_around(const struct mg_launch_info *info, uint32_t barrier);
/* Whether the barrier stands in one arm of a branch, and threads that take the other come to what follows it, too;
 * LOOP: that is so only because they leave the loop that it stands in. */
enum code_inside { INSIDE_NOTHING, INSIDE_BRANCH, INSIDE_LOOP };
enum code_inside mg__code_inside(const struct mg_launch_info *info, uint32_t barrier);
/* Whether an instruction stands in a branch or a loop, not in its first line, of which the other one is outside. */
enum code_inside mg__code_alone(const struct mg_launch_info *info, uint32_t insn, uint32_t other);
/* Whether the two stand in two arms only because the compiler has the writing threads keep the value: the other arm
 * holds nothing but the read. */
bool mg__code_forwarded(const struct mg_launch_info *info, const struct code *code, uint32_t write, uint32_t read);
/* A lock that both instructions are under: where it is taken, by an atomic operation that is tried again, and a write
 * that gives it back. */
struct code_lock {
    uint32_t taken, given;
};
bool mg__code_locked(const struct mg_launch_info *info, const struct code *code, uint32_t insn, uint32_t other,
                     struct code_lock *lock);

/* ---- idiom.c ---- */
struct launch;
bool mg__wgmma_read(const struct mg_launch_info *info, struct launch *l);  /* wgmma.c, likewise */
bool mg__idiom_read(const struct mg_launch_info *info, struct code *code); /* false: no memory */
/* Whether two accesses of a function name one place by the same register. */
bool mg__idiom_same_place(const struct mg_ptx_func *f, const struct mg_ptx_insn *a, const struct mg_ptx_insn *b);

/* ---- decide.c ---- */
/* Whether what the launch does may depend on which of its blocks come first, for what they read of one another. */
bool mg__decides(const struct launch *l);

/* ---- region.c ---- */
/* Device memory of one allocation. A cell of 64 bits stands for 4 bytes while a launch runs, and one for all of a group
 * of CELLS_GROUP as long as they are alike (grid.c). */
enum { CELLS_GROUP = 8, CELLS_CHUNK = 1024 };
struct region {
    struct mg_check *check;
    uint64_t address, size;
    const char *name;
    bool watched;                        /* what the host does there is seen */
    bool constant, host, managed, found; /* found: no call of this device's host made it; a launch came upon it */
    enum { WRITTEN_NONE, WRITTEN_SOME, WRITTEN_ALL } written;
    uint64_t *bits;          /* SOME: a bit a byte, set when written before the launch */
    _Atomic uint64_t *cells; /* NULL: no kernel has written here yet */
    _Atomic uint64_t *groups;
    /* by group, a byte a cell from the lowest on: what blocks wrote there, mg__grid_value */
    _Atomic uint64_t *values;
    atomic_uchar *touched; /* a byte for each CELLS_CHUNK cells */
    bool tracked;          /* the launch under way may write here */
    bool own;              /* likewise, but two of its threads cannot meet here (own.c): no cells are kept then */
    uint8_t *marks;        /* what wrote there, by granule of 1 << mark_log bytes; NULL: none were needed yet */
    uint64_t marks_size;
    uint8_t mark_log;
    /* a bit a byte, set where a kernel copied to what nobody had written; NULL: nowhere */
    _Atomic(_Atomic uint64_t *) holes;
    uint64_t serial; /* order of allocation */
};
struct freed {
    uint64_t address, size;
};
struct copied {      /* copied.c: a finding that waits for its consequence */
    uint64_t serial; /* of the region that was written */
    uint8_t place;
    bool used; /* and a use of the copy was told, with where it comes from */
    struct mg_report_finding finding;
};
struct piece { /* of the device's heap */
    uint64_t address, size, launch;
    uint8_t *made; /* by byte: written, with what somebody made */
    uint32_t insn; /* of that launch: where it was got, or freed */
    bool freed;
    char *kernel, *file; /* where it was got; NULL: not known, or the launch goes on */
    uint32_t line, column;
};
struct failed_call { /* calls.c */
    enum mg_check_call kind;
    const char *call, *error;
    uint64_t from;
    char *file;
    uint32_t line;
    bool looked; /* or told */
};
struct streams;
/* What a worker has learnt of a program's accesses, for the next launch of it: short ones would learn it anew each
 * time. */
struct learnt {
    uint64_t program;       /* mg_launch_info.program; 0: nothing */
    struct mg_last *shapes; /* by instruction: where accesses come as addresses */
    struct mg_memos memos;  /* by pattern */
};
struct mg_check {
    unsigned checks;
    void (*found)(void *arg, const struct mg_report_finding *finding);
    void *arg;
    pthread_mutex_t lock;
    MG_VEC(struct region *) regions; /* by address */
    MG_VEC(struct freed) freed;      /* oldest first; a ring once it is full */
    size_t next_freed;
    uint64_t serial;
    struct launch *current;       /* whose turn it is, of those under way */
    unsigned open;                /* launches under way */
    bool running;                 /* a launch is under way: what its workers may look at is not freed … */
    MG_VEC(struct region *) gone; /* … until it is over */
    MG_VEC(struct copied) copied;
    MG_VEC(struct piece) pieces; /* by address */
    MG_VEC(struct failed_call) calls;
    bool told; /* a finding about the host's call that is under way */
    bool lost; /* a launch has ended with a fault: the context takes no more calls */
    const struct mg_check_asked *asked; /* for its line; NULL: nobody knows */
    unsigned located;                   /* lines for which it was */
    uint64_t launches;
    struct streams *streams;          /* stream.c; NULL: none was made */
    struct chain *chain, *next_chain; /* chain.c: what the last launch wrote, and the one under way does */
    struct code_kept kept[CODE_KEPT]; /* code.c */
    struct learnt learnt;
    bool watched;                     /* somebody sees what the host does to managed and pinned memory */
    atomic_bool flies;                /* work that the host has not waited for uses such memory */
};
struct region *mg__region_find(struct mg_check *check, uint64_t address);
struct region *mg__region_add(struct mg_check *check, uint64_t address, uint64_t size);
void mg__region_remove(struct mg_check *check, struct region *region);
void mg__region_free(struct region *region);
void mg__region_free_cells(struct region *region);
void mg__region_bury(struct mg_check *check); /* frees what had to wait for the end of a launch */
bool mg__region_cells(struct region *region); /* makes them; false: no memory */
void mg__region_mark(struct region *region, uint64_t from, uint64_t to, bool written);
void mg__region_settle(struct region *region); /* after the last of several marks: all written needs no bits */
bool mg__region_written(const struct region *region, uint64_t from, uint64_t to);
/* What kernels store: lanes' bytes of which nobody made the value, or of which somebody did. */
void mg__region_hole(struct region *region, uint64_t from, unsigned bytes, uint32_t missing);
void mg__region_filled(struct region *region, uint64_t from, uint64_t to); /* by the host */
static inline bool mg__region_has_holes(const struct region *r)
{
    return atomic_load_explicit(&r->holes, memory_order_acquire) != NULL;
}
bool mg__region_is_hole(const struct region *region, uint64_t at);
const struct freed *mg__freed_find(const struct mg_check *check, uint64_t address);

/* ---- tally.c: occurrences, added up ---- */
enum place_kind { PLACE_NONE, PLACE_SHARED, PLACE_GLOBAL, PLACE_LOCAL, PLACE_FREED, PLACE_ADDRESS, PLACE_HEAP };
enum { ACTOR_COPY = 0xfe }; /* as a lane: no thread, but a bulk copy */
struct actor {
    uint64_t block;
    uint16_t warp;
    uint8_t lane; /* MG_ORDER_MANY: several; 0xff: not known */
};
struct occurrence {
    uint8_t kind;         /* enum check_kind */
    uint8_t place;        /* enum place_kind */
    uint32_t insn, other; /* NO_INSN: none */
    int32_t object;       /* index of the shared variable or allocation, -1: none */
    uint64_t count;
    struct actor who, with; /* of the first time */
    uint64_t offset;        /* in the object, or an address */
    uint32_t width;
    uint32_t value[4]; /* what the message of the kind needs */
};
struct origin { /* the read of a value that nobody made */
    uint32_t insn, width;
    int32_t object;
    uint8_t place;
    bool computed; /* more than copied since */
    struct actor who;
    uint64_t offset;
};
struct tally {
    uint64_t notes; /* calls of mg__tally_note */
    struct occurrence *at;
    uint32_t count, capacity;
    uint32_t *index;
    uint32_t nindex;
};
struct stuck { /* lanes that wait for ever */
    uint32_t insn, barrier, missing;
    bool spins; /* in a loop */
    struct actor who;
};
struct owed { /* lanes that others wait for at a warp operation, and that were let go elsewhere, at `at` */
    uint32_t insn, at, lanes, named;
};
struct occurrence *mg__tally_note(struct tally *tally, const struct occurrence *occurrence); /* NULL: no memory */
void mg__tally_free(struct tally *tally);

/* ---- the launch ---- */
struct in_flight {      /* instructions of the launch: registers of a multiplication, and what uses them too early */
    uint32_t mma, insn; /* NO_INSN: there is no fence */
    uint32_t kind;
};
struct launch {
    struct mg_check *check;
    uint64_t number; /* from 1 */
    const struct mg_launch_info *info;
    struct code code;
    struct region **regions; /* by launch allocation; NULL: none of ours (the engine's own) */
    struct aside *aside;     /* likewise: its cells, while another launch has its turn */
    struct tally tally;
    unsigned workers;
    size_t shared_units;
    bool polls;           /* an instruction waits in a loop for a flag */
    bool relaxed;         /* no arrival at the cluster's barrier releases what was written before it */
    bool one_width;       /* of all its atomic operations */
    bool kept, dependent; /* chain.c: what it writes is kept; it may begin before the one in front of it has ended */
    bool reads;           /* what it reads matters, too, of memory that it does not write to: constants as well */
    uint64_t stream;
    bool talks; /* it may tell the host something while it runs, or be told */
    bool ordered, race, init, bounds, barrier, pedantic;
    bool by_lanes; /* nothing is judged as a whole */
    /* grid.c */
    uint32_t block_shift, block_bits, site_bits, epoch_bits, kind_bits;
    struct releases *releases;
    struct mixed *mixed;
    MG_VEC(struct in_flight) in_flight;
    MG_VEC(const char *) texts; /* why bulk copies were refused; the engine's */
    MG_VEC(struct stuck) stuck; /* of the first block that waits for ever: where each of its warps is */
    pthread_mutex_t lock;
};
struct segment { /* a row of 32 units of global memory */
    uint64_t key;
    uint32_t stamp;
    struct mg_order_row *row; /* NULL: it was used by one warp and in one way, as follows */
    const struct mg_memo *memo;
    uint64_t base; /* unit that the memo starts at */
    uint32_t w_time, w_who, r_time, r_who;
};
struct segments {          /* those that a block has touched: a hash table */
    struct segment *slots; /* free if they have another stamp */
    uint32_t capacity, count, stamp, nrows;
    MG_VEC(struct mg_order_row *) rows;
};
struct meeting { /* at one barrier */
    uint32_t insn, count, arrived;
    struct actor who;
};
struct far_use { /* of a unit of shared memory, by another block of the cluster since they all met */
    uint64_t unit;
    uint32_t insn, time; /* in that block's time */
    struct actor who;
};
#define MG_NO_BLOCK UINT64_MAX
struct beyond { /* of another block of the cluster, in its time */
    uint64_t block;
    uint32_t known[MG_ORDER_WARPS];
};
struct beyonds {
    MG_VEC(struct beyond) list;
};
struct mbarrier {
    uint64_t address;
    bool ended;          /* it was invalidated */
    bool fenced;         /* its maker has gone through a fence since, which other blocks may need */
    uint32_t insn, made; /* where and when that was, or its initialisation */
    struct actor by;
    uint32_t used[MG_ORDER_AGENT], used_by[MG_ORDER_AGENT]; /* when and by which instruction each warp used it last */
    uint32_t came[MG_ORDER_AGENT];                          /* when it arrived here last; 0: never */
    struct far_use remote;                                  /* the latest arrival from another block; time 0: none */
    struct beyonds far_open, far_over;
    uint32_t open[MG_ORDER_WARPS]; /* what arrivals have brought to the phase that is open, as a row of the order's */
    uint32_t over[MG_ORDER_WARPS]; /* to those that are over */
    /* up to when each warp's copies are over when the open phase is, and those before are; `tells`: any are */
    uint32_t told_open[MG_ORDER_WARPS], told[MG_ORDER_WARPS];
    bool tells;
    uint32_t phases;                /* that are over */
    uint32_t seen[MG_ORDER_AGENT];  /* how many were when each warp last saw one end … */
    uint32_t looks[MG_ORDER_AGENT]; /* … and how many it has seen */
    /* the wait by which each warp saw the latest, and its lanes; NO_INSN: none; its latest wait that ended at once, for
     * a phase that it had seen or for none at all, when no phase was over, and when that was; 0: none since then */
    uint32_t look[MG_ORDER_AGENT], look_mask[MG_ORDER_AGENT], vain[MG_ORDER_AGENT], vain_at[MG_ORDER_AGENT];
    uint32_t ever_vain;             /* the first of those of all warps, + 1; 0: none */
    uint32_t after_vain;            /* what the latest arrival may have been too early for, + 1; 0: nothing */
    uint32_t latest;                /* the instruction that last arrived or announced bytes, … */
    struct actor latest_by;         /* … and whose it was */
};
struct since { /* what the thread of a copy could rely on of a block when it asked for it, and when that was */
    uint32_t time, known[MG_ORDER_WARPS];
};
struct copy { /* a bulk copy under way */
    uint32_t number, warp, insn;
    uint64_t target;         /* the block that it writes to, if it tells an mbarrier … */
    uint64_t tells;          /* … there; ~0: none */
    struct since own, there; /* of its own block, and of that one */
    uint32_t fenced[MG_ORDER_WARPS];
    uint32_t copied[MG_ORDER_WARPS]; /* up to when each warp's cp.async were over for it */
    uint32_t mask, group, over; /* of those without an mbarrier: its lane, groups since, and when it was done, or 0 */
    bool landed;                /* wgmma.c */
};
struct polled { /* a warp's latest poll of one place in device memory, of which there was nothing to say */
    uint64_t address, told; /* worker.told, then */
    uint32_t insn, mask;
};
struct block {
    bool busy;
    uint64_t linear;
    struct mg_order *order;
    struct mg_shadow shared;
    uint8_t **local; /* by warp: a bit a byte a lane, made when needed */
    struct local_all {
        uint64_t from, to; /* bytes that all lanes of the warp have written: some of them */
    } local_all[MG_ORDER_AGENT];
    uint8_t *holes;  /* of shared memory, by byte: written with what nobody made, its origin + 1; or 0 */
    MG_VEC(struct origin) origins;
    bool hollow; /* there are such */
    struct segments segments;
    struct meeting meetings[16];
    uint32_t met;                          /* when the blocks of the cluster met last */
    struct beyonds beyond[MG_ORDER_AGENT]; /* by warp */
    MG_VEC(struct far_use) far;
    uint32_t *far_at; /* by unit, of reads and of writes: the first in `far`, + 1 */
    uint32_t exited;  /* threads */
    struct {
        uint32_t insn;
        struct actor who;
    } left; /* the first that ended */
    /* at a warp operation: its instruction + 1, and for whom */
    uint32_t waits[MG_ORDER_WARPS], waits_for[MG_ORDER_WARPS];
    struct owed owed[MG_ORDER_WARPS];
    MG_VEC(struct stuck) stuck;
    MG_VEC(struct mbarrier) mbarriers;
    MG_VEC(struct copy) copies;
    uint32_t proxy[MG_ORDER_WARPS]; /* when each warp last went through a fence.proxy.async */
    uint32_t multiplied[MG_ORDER_AGENT / 4]; /* by warpgroup: when its operands were last read */
    struct polled polled[MG_ORDER_AGENT];    /* by warp */
    struct tiles *tiles;            /* swizzle.c; NULL: no tensor copy wrote any */
    struct registers *registers;    /* registers.c; NULL: none were given or taken */
};
struct worker {
    struct launch *launch;
    unsigned index;
    struct tally tally;
    MG_VEC(struct block *) blocks;
    struct block *current;
    uint64_t told; /* accesses and events, but for polls that change nothing */
    struct learnt learnt;
    int32_t *last;           /* by instruction: index of the allocation it accessed last */
    struct shadows *shadows; /* define.c */
    struct choices *choices; /* chosen.c */
    /* at accesses: of a load that is chosen afterwards first all but races, then these */
    enum { LOOKS_ALL, LOOKS_NOT_RACES, LOOKS_RACES } looks;
    struct origin async_origin;
    uint32_t async[32], async_insn; /* bytes that nobody wrote, of the copy under way to shared memory */
    MG_VEC(struct freed) unwritten; /* bytes that atomics wrote over unwritten ones */
    bool takes_notes;
    struct block *notes_of;
    MG_VEC(struct noted *) noted;   /* by shape */
    uint8_t *unwritten_words;       /* while there is no block */
    struct mg_held_lanes *noted_lanes; /* MG_HELD, made when needed; how many there are, and atomic operations */
    uint32_t nlanes, natomics, lanes_wait;
    uint32_t noted_meets, meets_shape; /* warps that have met among them; the shape of such a note, + 1 */
    uint32_t *lanes_shape;          /* by instruction, + 1; likewise */
    struct mg_noted_pattern *noted_patterns; /* noted.c */
    struct mg_phase phase;
    struct mg_notes notes;          /* noted.c; the last, for mg__worker_clear */
};
/* All but the room for notes, which is large. */
static inline void mg__worker_clear(struct worker *w, struct launch *l)
{
    memset(w, 0, offsetof(struct worker, notes.at));
    w->launch = l;
}
/* Of bits for one lane's local memory. */
static inline size_t mg__block_local_words(const struct launch *l)
{
    return l->info->stack_bytes / 64 + 1;
}
/* ---- async.c ---- */
/* A copy, or what is as one, is under way; `to`: the block that it writes to, or b. */
void mg__async_ask(struct block *b, const struct block *to, const struct mg_sync *e);
void mg__async_note(struct worker *w, const struct block *b, const struct mg_access *a, enum check_kind kind,
                    uint64_t unit, struct mg_order_who who, bool wrote);
/* What is read was copied there by cp.async, which the reader has not waited for. */
void mg__async_early(struct worker *w, const struct block *b, const struct mg_access *a, uint64_t unit,
                     struct mg_order_who who);
/* wgmma.c */
void mg__wgmma_sync(struct worker *w, struct block *b, const struct mg_sync *e);
void mg__wgmma_access(struct worker *w, struct block *b, const struct mg_access *a);
void mg__async_sync(struct worker *w, struct block *b, const struct mg_sync *e);
void mg__async_access(struct worker *w, struct block *b, const struct mg_access *a);
/* ---- swizzle.c ---- */
/* A bulk copy fills these units. */
void mg__swizzle_wrote(struct block *of, const struct mg_access *a, uint64_t first, uint64_t last);
/* A multiplication reads the unit. True: something was told. */
bool mg__swizzle_read(struct worker *w, const struct block *b, const struct mg_access *a, uint64_t unit);
void mg__swizzle_forget(struct block *b, bool all);
/* ---- registers.c ---- */
void mg__registers_sync(struct worker *w, struct block *b, const struct mg_sync *e);
void mg__registers_end(struct worker *w, struct block *b); /* it has come to its end */
void mg__registers_forget(struct block *b);
/* ---- mbarrier.c ---- */
void mg__mbarrier_sync(struct worker *w, struct block *b, const struct mg_sync *e);
void mg__mbarrier_used(struct worker *w, struct block *b, struct block *of, const struct mg_sync *e);
/* The wait of the mbarrier at `address` that `warp` relied on at that time and that was for no new phase; NO_INSN:
 * none. */
uint32_t mg__mbarrier_vain(struct block *of, uint64_t address, uint32_t warp, uint32_t time);
void mg__mbarrier_landed(struct block *b, struct block *of, uint64_t address); /* a bulk copy of b that tells it */
void mg__mbarriers_end(struct worker *w, struct block *b);
void mg__mbarriers_forget(struct block *b);
void mg__mbarriers_fenced(struct block *b, uint32_t warp);
/* ---- beyond.c ---- */
void mg__beyond_bring(struct beyonds *to, uint64_t block, const uint32_t known[MG_ORDER_WARPS]);
void mg__beyond_join(struct beyonds *to, const struct beyonds *from, uint64_t except);
/* What a warp of `b` may rely on of block `of`, or of warp `its` of one beyond what all know. */
void mg__beyond_known(const struct block *b, uint32_t warp, const struct block *of, uint32_t known[MG_ORDER_WARPS]);
uint32_t mg__beyond_of(const struct block *b, uint32_t warp, uint64_t block, uint32_t its);
bool mg__beyond_begun(const struct block *b, uint32_t warp, const struct block *of); /* it knows that it has begun */
void mg__beyond_meet(struct block *b, uint32_t warps);
void mg__beyond_forget(struct block *b, bool all);
/* ---- launch.c ---- */
void mg__learnt_free(struct learnt *learnt);
void mg__block_begin(struct worker *w, uint64_t linear); /* without memory for it the block goes unchecked */

/* ---- beside.c ---- */
void mg__beside_turn(struct launch *launch, bool first); /* its turn begins, its first one or another */
void mg__beside_over(struct launch *launch);

/* ---- segment.c ---- */
struct mg_order_row *mg__segment_row(struct segments *segments, uint64_t unit);   /* NULL: no more are kept */
struct mg_order_row *mg__segment_known(struct segments *segments, uint64_t unit); /* NULL: not touched */
/* As mg__shadow_read and mg__shadow_write. */
bool mg__segments_quick(const struct mg_order *order, struct segments *segments, uint64_t base,
                        const struct mg_memo *memo, uint32_t who, bool writes, bool lasts);
void mg__segments_forget(struct segments *segments);
void mg__segments_free(struct segments *segments);

/* ---- watch.c ---- */
void mg__watch_access(void *worker, struct mg_access *access);
void mg__watch_sync(void *worker, const struct mg_sync *event);
bool mg__watch_step(void *worker, const struct mg_step *step);
bool mg__watch_met(void *worker, uint64_t block, uint32_t barrier);
void mg__watch_fault(void *worker, struct mg_access *access, enum mg_fault_kind fault);
void mg__watch_note(struct worker *w, enum check_kind kind, enum place_kind place, int32_t object, uint64_t offset,
                    uint32_t width, uint32_t insn, uint32_t other, struct actor who, struct actor with);

/* ---- noted.c ---- */
bool mg__notes_begin(struct worker *w); /* false: no memory */
void mg__notes_free(struct worker *w);
struct mg_notes *mg__notes_of(void *worker);
bool mg__notes_shape(void *worker, struct mg_access *access, uint64_t lo, uint64_t hi, uint64_t *shape);
/* A read or an atomic operation, of lanes at words of their own choice in the running block's shared memory, while it
 * takes notes. False: it must be looked at. */
bool mg__notes_lanes(struct worker *w, struct mg_access *access);
/* The same, of a read of a known pattern. */
bool mg__notes_pattern(struct worker *w, struct mg_access *access);
/* While there are notes of the event's block: a warp all of whose lanes have met. False: it must be looked at. */
bool mg__notes_warp(struct worker *w, const struct mg_sync *event);
bool mg__notes_run(void *worker, const struct mg_noted_load *loads, uint32_t n, uint32_t notes, uint64_t *shape);
void mg__notes_read(struct worker *w);  /* they are as if they had been told, and gone */
void mg__notes_met(struct worker *w);   /* the same, where the whole block has met, and will be told so */
void mg__notes_go_on(struct worker *w); /* there may be more, if the block that was last told of may have them */

/* ---- chosen.c ---- */
bool mg__chosen_find(const struct mg_launch_info *info, struct code *code); /* false: no memory */
/* The access has been looked at for races, of the parts that count. */
bool mg__chosen_parts(struct worker *w, struct mg_access *a, const struct site *site);
/* The access will be looked at for races when it is plain which lanes it counts for. */
bool mg__chosen_wait(struct worker *w, struct mg_access *a, const struct site *site);
void mg__chosen_settle(struct worker *w, uint64_t block, uint32_t warp); /* another warp goes on than those that wait */
bool mg__chosen_step(struct worker *w, const struct mg_step *step);      /* true: the warp has more that wait */
void mg__chosen_free(struct worker *w);
/* ---- define.c ---- */
enum define_use { USE_HERE, USE_BRANCH, USE_ADDRESS, USE_ATOMIC, USE_RESULT, USE_COPY }; /* occurrence.value[0] */
/* A load gets bytes that nobody wrote, of each lane a bit a byte. False: it cannot be followed. */
bool mg__define_read(struct worker *w, const struct mg_access *a, const uint32_t missing[32],
                     const struct origin *origin);
/* What a store is about to write, likewise; true: some of it nobody made. */
bool mg__define_written(struct worker *w, const struct mg_access *a, uint32_t missing[32], struct origin *origin);
enum check_kind mg__define_kind(enum place_kind place); /* of a value that nobody made */
/* What lanes get from lanes that do not take part; false: it cannot be followed. */
bool mg__define_shuffled(struct worker *w, const struct mg_sync *event);
bool mg__define_step(void *worker, const struct mg_step *step);
void mg__define_forget(struct worker *w, uint64_t block); /* it has ended */
void mg__define_free(struct worker *w);

/* ---- heap.c ---- */
bool mg__heap_is(const struct mg_allocation *allocation);
void mg__heap_given(struct worker *w, const struct mg_sync *event);
void mg__heap_taken_back(struct worker *w, const struct mg_sync *event);
/* A lane's access, which writes `missing` bytes that nobody made: the bytes it reads that nobody has written, and of
 * which piece. */
uint32_t mg__heap_access(struct worker *w, const struct mg_access *access, const struct site *site, unsigned lane,
                         uint32_t missing, uint64_t *base, uint64_t *size);
void mg__heap_launch_ended(struct launch *l);
void mg__heap_leaks(struct mg_check *check);
void mg__heap_free_all(struct mg_check *check);

/* ---- copied.c ---- */
void mg__copied_keep(struct mg_check *check, const struct region *to, enum place_kind place,
                     const struct mg_report_finding *finding);
bool mg__copied_made(const struct region *region, uint64_t at); /* the byte was written, with what somebody made */
/* `call`: who reads them; NULL: a copy to the host. */
void mg__copied_out(struct mg_check *check, const char *call, const struct region *region, uint64_t from,
                    uint64_t size);
/* Of a byte of device memory that a kernel copied there though nobody had made it: that finding. NULL: it was not. */
const struct mg_report_finding *mg__copied_there(struct mg_check *check, const struct region *region, uint64_t at);
void mg__copied_ended(struct mg_check *check, bool tell);

/* ---- calls.c ---- */
void mg__calls_ended(struct mg_check *check);
void mg__calls_free(struct mg_check *check);

/* ---- release.c: for launches whose blocks run in order; where they do not, nothing happens ---- */
bool mg__releases_begin(struct launch *l, uint64_t nblocks);
void mg__releases_end(struct launch *l);
/* KIND_RACE_BLOCKS_WRITE_READ, occurrence.value[0]: where a flag was waited for, what is wrong with it all the same. */
enum { FLAG_NO_FENCE = 1, FLAG_RAISED_ALONE, FLAG_READ_ALONE };
struct party { /* who asks or does something: of a block, or a warp of it, if the order between its warps is given */
    uint64_t block;
    uint32_t warp;
    const struct mg_order *order; /* NULL: what any warp of the block knows, it knows */
};
static inline struct party mg__party(const struct block *b, const struct mg_access *a, const struct site *site)
{
    return (struct party){a->block, a->warp, site->async ? NULL : b->order};
}
void mg__release_fence(struct launch *l, uint64_t block);
void mg__release_wrote(struct launch *l, const struct party *who); /* it is about to write to global memory */
void mg__release_publish(struct launch *l, const struct party *who, uint64_t address, bool stores); /* no atomic */
void mg__release_take(struct launch *l, const struct party *who, uint64_t address, bool arrives); /* it writes, too */
/* In order: how many steps the block has gone, and whether `who` may rely on what `other` did when it had gone `epoch`
 * of them; `loose`: without the fences that the letter asks for, and not by the word at `except` itself. `writer`: the
 * warp of `other` that did it, and 1; 0: any. */
uint32_t mg__release_steps(const struct launch *l, uint64_t block);
bool mg__release_parts(const struct launch *l); /* some release does not bring what all warps of its block have done */
struct reliance {
    uint64_t other;
    uint32_t writer, epoch, most;
    bool loose;
    uint64_t except;
};
bool mg__release_relies(struct launch *l, const struct party *who, const struct reliance *of);

/* ---- grid.c ---- */
bool mg__grid_begin(struct launch *l);
void mg__grid_end(struct launch *l);
/* An access to the 4 bytes at `offset` (a multiple of 4) of the region, `bytes` of them: a bit each. */
struct touch {
    struct party who; /* its warp and order where blocks run in order */
    uint64_t offset;
    const struct site *site;
    uint8_t bytes;
    bool differs;          /* a write where blocks run in order: of another value than is there */
    uint8_t value;         /* a write elsewhere: mg__grid_value */
    bool leaves_unwritten; /* it does not make the bytes written */
};
void mg__grid_touch(struct worker *w, int32_t object, const struct touch *touch, uint32_t insn, struct actor who);
/* What is written, in one byte that is different for most different values; VALUE_MANY: not known, or several. */
enum { VALUE_NONE, VALUE_MANY = 255 };
uint8_t mg__grid_value(const uint8_t *bytes, unsigned n);
/* A plain access of the warp to the memo's words, in a row from `offset` on, each of them by one lane if it is a write.
 * False: look at each word, which does no harm to what was done. */
bool mg__grid_touch_words(struct worker *w, int32_t object, const struct mg_access *a, const struct site *site,
                          uint64_t offset, const struct mg_memo *memo);
/* The same of each lane's bytes, wherever they are in the region. */
bool mg__grid_touch_lanes(struct worker *w, int32_t object, const struct mg_access *a, const struct site *site);
/* Bytes of the 4 at `offset` that the launch has written so far: a bit each. */
unsigned mg__grid_written(const struct region *region, uint64_t offset);
void mg__grid_forget(struct region *region, uint64_t from, uint64_t to); /* whole words: nobody has touched them */
/* After the launch: races between blocks, from the cells; what was written is then written for good. */
void mg__grid_collect(struct launch *l);

/* ---- own.c ---- */
void mg__own_find(struct launch *l); /* of which regions it can be said */
void mg__own_mark(struct region *region, struct mg_access *a, uint8_t mark);
/* `hole`: nobody made what is written. */
void mg__own_mark_lane(struct region *region, uint64_t offset, unsigned width, uint8_t mark, bool hole);
void mg__own_collect(struct launch *l, int32_t object, bool streams);
/* The byte was written in this launch; `made`: and with what somebody made. */
static inline bool mg__own_written(const struct region *r, uint64_t at, bool made)
{
    const uint8_t mark = r->own ? r->marks[at >> r->mark_log] : 0;
    return mark && !(made && mark == 255);
}

/* ---- stream.c ---- */
enum mg__use { MG__USE_WRITE, MG__USE_READ, MG__USE_ATOMIC };
bool mg__streams_matter(const struct mg_check *check);
/* Whether what is done to the region is kept: streams matter, or the host's accesses to it are seen. */
bool mg__streams_follow(const struct mg_check *check, const struct region *region);
/* The work under way used these bytes of the region; `launch` is NULL for what the host's calls do. */
void mg__streams_use(const struct region *region, enum mg__use use, uint64_t from, uint64_t to,
                     const struct launch *launch, uint32_t insn);
void mg__streams_free(struct streams *streams);
struct streams *mg__streams_of(struct mg_check *check); /* made if need be; NULL: no memory */

/* ---- chain.c ---- */
void mg__chain_begin(struct launch *l);
void mg__chain_collects(struct launch *l);
void mg__chain_wrote(struct launch *l, const struct region *region, uint64_t from, uint64_t to, uint32_t insn);
void mg__chain_used(struct launch *l, const struct region *region, uint64_t from, uint64_t to, uint32_t insn);
void mg__chain_collected(struct launch *l);
void mg__chain_break(struct mg_check *check); /* what comes next waits for all that was launched */
void mg__chain_free(struct mg_check *check);

/* ---- meet.c ---- */
void mg__meet(struct worker *w, struct block *b, const struct mg_sync *e);
void mg__meet_end(struct worker *w, struct block *b); /* the launch is over, and the block perhaps not */

/* ---- find.c, say.c, found.c, name.c ---- */
struct line { /* of the source: where the program's author would look for the instruction */
    const char *file;
    uint32_t line, column;
};
/* A load that the compiler made of several lines', or put elsewhere, has line 0: it is told by the first use of what it
 * loads, the instruction that comes back. */
uint32_t mg__name_told(const struct mg_launch_info *info, uint32_t insn);
struct line mg__name_line(const struct mg_launch_info *info, uint32_t insn);
/* The call that the line was inlined by; its line is 0 if it was not. */
struct line mg__name_call(const struct mg_launch_info *info, uint32_t insn);
void mg__find_report(struct launch *l);
/* What to do about it: put into `out`, or of the catalogue. */
const char *mg__fix(const struct launch *l, const struct occurrence *o, const struct line *line,
                    const struct line *other, struct mg_strbuf *out); /* what fits the idiom, or else the kind */
bool mg__say(const struct launch *l, const struct occurrence *o, const char *name, const struct line *line,
             const struct line *other, struct mg_strbuf *out);
bool mg__swizzle_say(const struct occurrence *o, const char *name, struct mg_strbuf *out); /* behind who */
bool mg__swizzle_fix(const struct occurrence *o, struct mg_strbuf *out);
bool mg__registers_say(const struct launch *l, const struct occurrence *o, struct mg_strbuf *out); /* behind who */
void mg__find_host(struct mg_check *check, enum check_kind kind, const char *kernel, const char *variable,
                   const char *format, ...) MG_PRINTF(5, 6);
/* The line of a call that was made there; 0: not known, or too many were asked for. */
uint32_t mg__find_line(struct mg_check *check, void *const *frames, int n, char *file, size_t size);
/* `at`: the places and the variable. */
void mg__find_at(struct mg_check *check, enum check_kind kind, const char *kernel, struct mg_report_finding at,
                 const char *format, ...) MG_PRINTF(5, 6);
void mg__find_copied(struct mg_check *check, enum place_kind place, struct mg_report_finding finding);
bool mg__name_object(const struct launch *l, const struct occurrence *o, struct mg_strbuf *out);
bool mg__name_thread(const struct launch *l, const struct actor *who, bool block, struct mg_strbuf *out);
#endif
