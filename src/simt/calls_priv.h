/* calls_priv.h - the functions of the room, by the file that has them. simt_priv.h ends with it. */
#ifndef MG_SIMT_CALLS_PRIV_H
#define MG_SIMT_CALLS_PRIV_H
#include "simt/simt_priv.h"

/* misc.c: arguments and results, in the frame's parameter rows; variables there begin with a word. */
static inline uint32_t *mg__param_row(const struct mg_frame *f, uint32_t offset)
{
    return (uint32_t *)(void *)(f->params + (size_t)(offset / 4) * 128);
}
uint64_t mg__param_read(const struct mg_frame *f, uint32_t offset, unsigned bytes, unsigned lane); /* at most 8 */
void mg__param_write(const struct mg_frame *f, uint32_t offset, unsigned bytes, unsigned lane, uint64_t value);
void mg__lanes_copy(uint32_t *to, const uint32_t *from, uint32_t mask); /* a row */

/* memory.c */
enum mg_status mg__memory_create(struct mg_simt *simt);
void mg__memory_destroy(struct mg_simt *simt);
enum mg_status mg__memory_alloc_named(struct mg_simt *simt, uint64_t size, uint64_t align, const char *name,
                                      uint64_t *address);
void mg__memory_range(const struct mg_simt *simt, uint64_t *base, uint64_t *size);
void mg__memory_mark_constant(struct mg_simt *simt, uint64_t address);
enum mg_status mg__memory_snapshot(struct mg_simt *simt, struct mg_allocation **list, size_t *count);
uint64_t mg__memory_changes(struct mg_simt *simt); /* the same number: a snapshot would be the same */
const struct mg_allocation *mg__snapshot_find(const struct mg_run *run, uint64_t address);
/* What lies around an address that is in no allocation: those before and after it (NULL: none), and, if a device has
 * that memory mapped, which bytes around the address are so, and in no allocation either. */
struct mg_outside {
    const struct mg_allocation *before, *after;
    bool mapped;
    uint64_t lo, hi;
};
void mg__snapshot_around(const struct mg_run *run, uint64_t address, struct mg_outside *outside);
uint64_t mg__heap_alloc(struct mg_simt *simt, uint64_t size);
enum mg_status mg__heap_create(struct mg_simt *simt);
void mg__heap_destroy(struct mg_simt *simt);
void mg__heap_free(struct mg_simt *simt, uint64_t address);

/* op.c */
/* Whether a row takes these operands, the first `nout` of them results. */
bool mg__op_fits(enum mg_op_id id, const struct mg_engine_operand *of, unsigned nout, unsigned n);
mg_handler mg__op_handler(const struct mg_lanes *lanes, const struct mg_op *op); /* its row's */
void mg__op_finish(struct mg_op *op, const struct mg_lanes *lanes); /* fields and handler, once op->is is settled */

/* lower.c */
/* What compiled code calls for an op of a program of which every access is observed. */
mg_handler mg__watched_call(const struct mg_lanes *l, const struct mg_op *op);
/* `watched`: every access is observed. */
enum mg_status mg__lower(struct mg_simt_module *module, const struct mg_ptx_func *kernel, bool watched,
                         struct mg_program **program);
void mg__program_free(struct mg_program *program);
uint32_t mg__estimate_regs(const struct mg_ptx_func *func);
uint32_t mg__estimate_saved(const struct mg_ptx_func *func);

/* stack.c */
uint32_t mg__stack_frame(const struct mg_ptx_func *func, uint32_t local_bytes); /* bytes of a frame */
bool mg__stack_measure(struct mg_program *program);                             /* deep and stack_need */
uint32_t mg__stack_size(const struct mg_program *program, uint64_t limit);      /* of a launch, bytes a thread */

/* block.c: contexts of clusters, which are used again and again */
struct mg_cluster *mg__cluster_make(struct mg_worker *worker); /* NULL: out of memory */
void mg__cluster_free(const struct mg_worker *worker, struct mg_cluster *cluster);
bool mg__cluster_begin(struct mg_worker *worker, struct mg_cluster *cluster, uint64_t linear);
void mg__block_event(struct mg_block *b, enum mg_sync_kind kind);

/* cluster.c: what the blocks of one have in common */
void mg__cluster_check(struct mg_cluster *cluster);                      /* opens the barrier if all have come */
uint64_t mg__cluster_register(const struct mg_block *b, unsigned place); /* by its row in isa.c */
/* Of an offset in the shared window and those behind it, which becomes an offset in that block; NULL: there is none. */
struct mg_block *mg__cluster_block(const struct mg_block *b, uint64_t *offset);
/* The block that has a lane's `bytes`, which are at *where; *offset, as above, becomes one in that block. NULL: a
 * fault. */
struct mg_block *mg__cluster_reach(struct mg_warp *w, const struct mg_op *op, unsigned lane, unsigned bytes,
                                   uint64_t *offset, uint8_t **where);
/* The same of an address as `mem` says it, which must be one of shared memory. */
struct mg_block *mg__cluster_at(struct mg_warp *w, const struct mg_op *op, const struct mg_mem *mem, unsigned lane,
                                uint64_t address, unsigned bytes, uint8_t **where);
bool mg__cluster_holds(const struct mg_block *b, const uint8_t *at); /* in the shared memory of one of its blocks */
/* As mg__access_slow, for lanes that are in those windows. */
bool mg__access_cluster(struct mg_warp *w, const struct mg_op *op, uint32_t mask, const uint64_t offset[32],
                        uint8_t *where[32]);
MG_HANDLER(mg__op_cluster_arrive);
MG_HANDLER(mg__op_cluster_wait);
MG_HANDLER(mg__op_cluster_named);
MG_HANDLER(mg__op_mapa);
MG_HANDLER(mg__op_getctarank);

/* mbarrier.c: what changes one, and the bits of a wait */
enum mg_mbarrier {
    MG_MBARRIER_INIT,
    MG_MBARRIER_INVAL,
    MG_MBARRIER_EXPECT,
    MG_MBARRIER_COMPLETE,
    MG_MBARRIER_ARRIVE,
    MG_MBARRIER_ARRIVE_EXPECT,
    MG_MBARRIER_ARRIVE_ONLY, /* .noComplete */
    MG_MBARRIER_DROP,
    MG_MBARRIER_DROP_EXPECT,
    MG_MBARRIER_DROP_ONLY,
    MG_MBARRIER_COPIES,     /* when the thread's copies have come; the phase was made to wait for one more */
    MG_MBARRIER_COPIES_ONE, /* .noinc: it is one of its arrivals */
};
enum { MG_WAIT_PARITY = 1, MG_WAIT_ALONE = 2 };
MG_HANDLER(mg__op_mbarrier);
MG_HANDLER(mg__op_mbarrier_wait);
MG_HANDLER(mg__op_mbarrier_pending);
/* Bytes have come. False: a fault. */
bool mg__mbarrier_complete(struct mg_warp *w, const struct mg_op *op, unsigned lane, const struct mg_block *of,
                           uint8_t *word, uint32_t bytes);
void mg__mbarrier_forget(struct mg_cluster *cluster); /* of its last blocks */
void mg__mbarrier_free(struct mg_cluster *cluster);
/* A block's round is over. If no block of its cluster can go on, for all wait at such barriers, the launch ends. */
void mg__mbarrier_round(struct mg_block *block);
/* Its rounds end in vain, and it is told soon whether for ever: until then it is not given up for its waiting
 * (ending.c). */
bool mg__mbarrier_may_hang(const struct mg_block *block);

/* bulk.c */
MG_HANDLER(mg__op_bulk);
MG_HANDLER(mg__op_bulk_group);
/* What tells the mbarrier whose word it is has come; a block's round is over, or the block. False: a fault. */
bool mg__bulk_tried(struct mg_cluster *cluster, const uint8_t *word);
bool mg__bulk_round(struct mg_block *block);
void mg__bulk_forget(struct mg_cluster *cluster);
void mg__bulk_lost(struct mg_cluster *cluster); /* a fault has ended it: what is in flight is told, and not done */
void mg__bulk_free(struct mg_cluster *cluster);
/* wgmma.c, likewise */
void mg__wgmma_forget(struct mg_cluster *cluster);
void mg__wgmma_free(struct mg_cluster *cluster);

/* split.c: the tree of lanes */
bool mg__warp_begin(struct mg_warp *w, uint32_t live);
bool mg__warp_choose(struct mg_warp *w);                 /* makes a runnable leaf current; false: none */
void mg__warp_load(struct mg_warp *w);                   /* the current leaf is run next */
void mg__warp_run(struct mg_warp *w);                    /* runs the current leaf until it stops */
/* steps.c: what a handler may keep of its op. */
static inline const struct mg_op *mg__lasting(const struct mg_warp *w, const struct mg_op *op)
{
    return op == w->copy ? w->copied : op;
}
const struct mg_op *mg__leaf_arrive(struct mg_warp *w, uint32_t mask);  /* lanes reach their join */
void mg__leaf_exit(struct mg_warp *w, const struct mg_op *op, uint32_t mask);
const struct mg_op *mg__warp_next(struct mg_warp *w);    /* the current leaf ended or waits: another, or NULL */
/* Lanes that part meet at `meet`, and before, of them those that come there, at `inner`; NULL: nowhere. */
struct mg_meeting {
    const struct mg_op *meet, *inner;
    uint32_t level; /* of `inner` */
};
/* Of the leaf's lanes those not in `stay` go on at `others`, where they may meet already. */
bool mg__leaf_part(struct mg_warp *w, const struct mg_meeting *at, uint32_t lanes, uint32_t stay,
                   const struct mg_op *others);
bool mg__leaf_nested(const struct mg_warp *w); /* its lanes are in a region of a branch's inner block */
void mg__leaf_stay(struct mg_warp *w, uint32_t stay); /* the leaf's lanes not in `stay` come to its join */
bool mg__leaf_split(struct mg_warp *w, uint32_t stay, const struct mg_op *others); /* lanes not in `stay` go on there */
struct mg_frame *mg__frame_new(struct mg_worker *worker, const struct mg_code *code);
bool mg__warp_release(struct mg_warp *w, bool polled);   /* lets lanes go that wait at a join; false: none do */
bool mg__warp_rested(struct mg_warp *w); /* since they wait there the block has been parked */
void mg__warp_rest(struct mg_warp *w);   /* it is */
MG_HANDLER(mg__op_block);
MG_HANDLER(mg__op_block_join);
MG_HANDLER(mg__op_loop); /* the same where a loop or a function begins: they charge the slice */
MG_HANDLER(mg__op_loop_join);
MG_HANDLER(mg__op_guard);
MG_HANDLER(mg__op_bra);
MG_HANDLER(mg__op_jump);
MG_HANDLER(mg__op_brx);
MG_HANDLER(mg__op_call);
MG_HANDLER(mg__op_ret);
MG_HANDLER(mg__op_exit);
MG_HANDLER(mg__op_trap);
MG_HANDLER(mg__op_unsupported);

/* misc.c: the slots that are filled when a warp is made, or when it begins a block */
void mg__fill_warp(struct mg_warp *w);
void mg__fill_block(struct mg_warp *w, unsigned lanes); /* the number of the block, into so many lanes */

/* misc.c, warp.c, sync.c: handlers that are not worth several builds */
MG_HANDLER(mg__op_mov_pred);
MG_HANDLER(mg__op_pack);
MG_HANDLER(mg__op_unpack);
MG_HANDLER(mg__op_sreg);
MG_HANDLER(mg__op_local_address);
MG_HANDLER(mg__op_isspacep);
MG_HANDLER(mg__op_setp_bool);
MG_HANDLER(mg__op_set);
MG_HANDLER(mg__op_halves);
MG_HANDLER(mg__op_ld_kparam);
MG_HANDLER(mg__op_ld_param);
MG_HANDLER(mg__op_st_param);
MG_HANDLER(mg__op_alloca);
MG_HANDLER(mg__op_stack);
MG_HANDLER(mg__op_nop);
MG_HANDLER(mg__op_nanosleep);
MG_HANDLER(mg__op_fence);
MG_HANDLER(mg__op_setmaxnreg);
MG_HANDLER(mg__op_warp);
MG_HANDLER(mg__op_mma);
MG_HANDLER(mg__op_texture);
MG_HANDLER(mg__op_surface);
MG_HANDLER(mg__op_texture_query);
MG_HANDLER(mg__op_tensormap_replace);
MG_HANDLER(mg__op_tensormap_copy);
MG_HANDLER(mg__op_wgmma);
MG_HANDLER(mg__op_wgmma_fence);
MG_HANDLER(mg__op_wgmma_commit);
MG_HANDLER(mg__op_wgmma_wait);
MG_HANDLER(mg__op_matrix_address);
MG_HANDLER(mg__op_activemask);
MG_HANDLER(mg__op_bar);
/* Observers hear that the warp has come to a barrier of all of the block, or to its end, as compiled code has it; and
 * that such a barrier has opened. */
MG_HANDLER(mg__tell_bar);
MG_HANDLER(mg__tell_exit);
void mg__tell_open(struct mg_block *block, uint32_t id, uint32_t threads);
void mg__tell_untold(struct mg_block *block); /* warps that have come to a barrier */
/* All have come to this one, and it opens: false: nobody was told. */
bool mg__tell_met(struct mg_block *block, const struct mg_op *at);
MG_HANDLER(mg__op_bar_warp);
MG_HANDLER(mg__op_cp_async);
MG_HANDLER(mg__op_cp_group);
MG_HANDLER(mg__op_atom);
/* whether there is a form of it for compiled code that has checked and counted: */
bool mg__atom_checks(const struct mg_mem *mem);
MG_HANDLER(mg__op_atom_checked);
/* One element of what `mem` says, with the value at `with`; `own`: nobody else can reach it now. */
void mg__atomic_one(const struct mg_mem *mem, uint8_t *at, const uint8_t *with, bool own);
bool mg__atomic_known(const struct mg_mem *mem);

/* touched.c */
void mg__touched_settle(struct mg_worker *worker, struct mg_touched *touched); /* tells the observers */
/* With a window that has the words of this access; NULL: they lie too far apart. */
struct mg_touched *mg__touched_window(struct mg_warp *w, const struct mg_op *op);

/* rows.c */
void mg__rows_settle(struct mg_worker *worker, struct mg_rows *rows); /* tells the observers all */
void mg__rows_tell(struct mg_worker *worker, struct mg_rows *rows);   /* but what is counted by its shape */
void mg__rows_settle_shape(struct mg_worker *worker, const struct mg_rows *rows, struct mg_rows_shape *shape);
/* That of an access whose lanes are `from` some place on, if it has one. */
void mg__rows_window(struct mg_window *window, const struct mg_mem *m, const uint32_t from[32], uint32_t mask);
/* The site's, around the object of this access, with nothing untold; NULL: its lanes are not in one. */
struct mg_rows *mg__rows_open(struct mg_warp *w, const struct mg_op *op, uint32_t mask);

/* access.c: what all engines share of a memory access */
/* The variable that has bytes least … end - 1 of shared memory, which is at lo … hi - 1; -1: none, and all of them are
 * the block's. */
int32_t mg__shared_object(const struct mg_warp *w, uint64_t least, uint64_t end, uint64_t *lo, uint64_t *hi);
/* Resolves the lanes' addresses into `where` (host pointers), reports the access, remembers
 * its shape. False: a fault. */
/* What lanes reach in local memory in more than one word: `where` is a copy then, which _put writes back. */
struct mg_local_copy {
    uint32_t lanes, bytes;
    uint8_t *where[32];
    uint8_t of[32][32] __attribute__((aligned(16)));
};
void mg__local_take(const struct mg_warp *w, const struct mg_mem *mem, uint32_t mask, uint8_t *where[32],
                    struct mg_local_copy *copy);
void mg__local_put(const struct mg_local_copy *copy);
bool mg__access_slow(struct mg_warp *w, const struct mg_op *op, uint32_t mask, const uint64_t address[32],
                     uint8_t *where[32]);
/* An access that is in no allocation, or leaves one: where the launch lets it pass and a device has the memory mapped,
 * its bytes, else NULL and a fault. [*lo, *hi): what need not be looked at again. */
uint8_t *mg__access_outside(struct mg_warp *w, const struct mg_op *op, unsigned lane, uint64_t address, unsigned bytes,
                            uint64_t *lo, uint64_t *hi);
/* A load of the kernel's parameters by a register, to those who asked for them. */
void mg__access_params(struct mg_warp *w, const struct mg_op *op, uint32_t mask);
/* Tells of one to the shared memory of another block of the cluster. */
void mg__access_remote(struct mg_warp *w, const struct mg_op *op, uint32_t mask, const uint64_t *address,
                       uint8_t *const where[32], const struct mg_block *to);
/* Of all of them at once, to those who asked for that, `bytes` a lane; address: of different blocks in different
 * windows. */
void mg__access_far(struct mg_warp *w, const struct mg_op *op, const struct mg_mem *mem, unsigned bytes, uint32_t mask,
                    unsigned blocks, const uint64_t address[32]);
/* An access of a remembered shape, for observers of every access. */
void mg__access_watched(struct mg_warp *w, const struct mg_op *op, const struct mg_shape *shape, uint64_t base,
                        uint8_t *at);
/* The worker's event, begun: what the instruction says, once, with nothing of what only some events have. Lacks
 * addresses. */
struct mg_access *mg__access_begin(struct mg_worker *worker, uint32_t insn, const struct mg_mem *mem, uint8_t space,
                                   uint32_t mask, int32_t var);
/* The same of an access that a warp is about to make, with what it stores. */
struct mg_access *mg__access_of_warp(struct mg_warp *w, const struct mg_op *op, uint32_t mask, uint8_t space,
                                     int32_t var);
void mg__access_spread(struct mg_access *event, uint32_t row); /* event->room->spread */
/* The one way to the observers: those that want any of `to`, MG_OBSERVE_EVERY and _SHAPES. */
void mg__access_event(struct mg_worker *worker, struct mg_access *event, unsigned to);
void mg__sites_flush(struct mg_worker *worker);
void mg__address(const struct mg_warp *w, const struct mg_mem *mem, uint64_t address[32]);

/* All lanes of the warp do something together. Nothing is said if nothing else was told since they did last. */
void mg__warp_met(struct mg_warp *w, const struct mg_op *op);
/* For observers of MG_OBSERVE_SYNC: fills worker->sync; the caller adds what the kind needs and calls mg__sync_emit. */
struct mg_sync *mg__sync_event(struct mg_warp *w, const struct mg_op *op, enum mg_sync_kind kind, uint32_t mask);
void mg__sync_emit(struct mg_worker *worker);
static inline bool mg__wants_sync(const struct mg_warp *w)
{
    return MG_UNLIKELY(w->worker->run->want_sync);
}

/* fault.c */
const struct mg_op *mg__fault(struct mg_warp *w, const struct mg_op *op, uint32_t lane, enum mg_status status,
                              const char *format, ...) MG_PRINTF(5, 6);
void mg__fault_hint(struct mg_warp *w, const char *format, ...) MG_PRINTF(2, 3);
/* The launch goes on. Of each instruction the first that its first block gives is kept; NULL: this one is not. */
struct mg_diag *mg__warn(struct mg_warp *w, const struct mg_op *op, uint32_t lane, const char *format, ...)
    MG_PRINTF(4, 5);
/* Tells what the workers kept, if the launch wants to know, and frees it. */
void mg__warnings_tell(struct mg_run *run);

/* system.c: printf, assert, malloc, free of kernels */
const struct mg_op *mg__system_call(struct mg_warp *w, const struct mg_op *op, uint32_t mask);

/* engine.c, tier.c: compiled code; more in engine_priv.h */
/* at op: w->stop says to enter compiled code */
bool mg__engine_back(struct mg_warp *w, const struct mg_op *op, uint32_t mask);
const struct mg_op *mg__engine_some(struct mg_warp *w, const struct mg_op *op, uint32_t mask); /* behind a BLOCK op */
const struct mg_op *mg__engine_behind(struct mg_warp *w, const struct mg_op *op, uint32_t mask); /* behind a barrier */
void mg__engine_following(struct mg_worker *worker); /* a warp of it */
/* For a launch of that many blocks. NULL: interpret. */
struct mg_described *mg__tier_kernel(struct mg_simt_kernel *kernel, const struct mg_dim3 *block, uint64_t blocks,
                                     bool watched);
void mg__tier_kernel_free(struct mg_simt_kernel *kernel);

/* launch.c */
void mg__run_free(struct mg_run *run);
/* sample.c */
bool mg__sample_plan(struct mg_run *run, struct mg_run *was); /* which blocks are counted. False: out of memory */
void mg__sample_free(struct mg_sample *sample);
size_t mg__sample_find(const struct mg_sample *sample, uint64_t number); /* SIZE_MAX: it is not counted */
void mg__sample_switch(struct mg_worker *worker, size_t unit);           /* what runs next is of that unit */
/* keep.c: launches that have ended, under the launch lock */
struct mg_run *mg__keep_take(const struct mg_simt_kernel *kernel, const struct mg_program *program,
                             const struct mg_simt_launch *launch, bool rest); /* NULL: there is none like it */
bool mg__keep_fits(const struct mg_run *was, const struct mg_run *run); /* its workers may be those that it had */
void mg__worker_renew(struct mg_worker *worker);                        /* what others look at */
bool mg__keep_give(struct mg_run *run);                                 /* false: it is not worth it */
void mg__keep_drop(struct mg_simt *simt, const struct mg_simt_module *module); /* all of a module, NULL: all */

/* deadlock.c */
bool mg__run_due(struct mg_worker *worker); /* the launch's time is over; shows progress on the way */
/* turns.c: the slice is used up. True: it goes on with another one; else w->stop says why not. */
bool mg__slice_over(struct mg_warp *w);
/* sched.c: a turn of the launch. True: it is over, with run->status; else run->moved says what came of the turn. */
bool mg__run(struct mg_run *run);
void mg__barrier_check(struct mg_block *block, unsigned index);
#endif
