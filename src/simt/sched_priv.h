/* sched_priv.h - what sched.c, turns.c, deadlock.c and worker.c share: how blocks are run, and what ends a launch. */
#ifndef MG_SCHED_PRIV_H
#define MG_SCHED_PRIV_H
#include "simt/engine_priv.h"

/* TAKEN: compiled code can go on; WAITS: no warp can run, and some wait for the cluster's barrier */
enum mg_outcome { MG_BLOCK_DONE, MG_BLOCK_PARKED, MG_BLOCK_STOPPED, MG_BLOCK_TAKEN, MG_BLOCK_WAITS };

/* Blocks that have short shares beside one another (run->mixes). Where more are held, some wait in vain: then one that
 * may be waited for goes on. */
#define MG_MIXED 8u

/* sched.c: of a patient launch a block has used up its share, so many slices; `idle`: it only polled. */
void mg__share_over(struct mg_worker *worker, bool idle, uint64_t slices);

/* part.c */
bool mg__part_may(const struct mg_run *run);    /* it can be parted, as far as is known before it begins */
unsigned mg__part_wants(const struct mg_observer *observer); /* MG_OBSERVE_* of a second part */
void mg__part_rest(struct mg_run *run);                      /* it is a second part: its observers want that */
void mg__part_begin(struct mg_run *run);        /* its observers know of it; run->rest stays if it is parted */
uint64_t mg__part_number(const struct mg_run *run, uint64_t next); /* of its cluster that comes at that place */
void mg__part_tell(struct mg_worker *worker, uint64_t block);      /* what it did since was the block's */
void mg__part_follow(struct mg_run *rest, const struct mg_run *first);

/* turns.c */
/* A turn for each of its blocks, and more as long as none of them was parked. */
enum mg_outcome mg__run_cluster(struct mg_worker *worker, struct mg_cluster *cluster);
/* The worker goes over to better code if there is some. False: out of memory. */
bool mg__worker_rise(struct mg_worker *worker);

/* ending.c */
void mg__share_used(struct mg_cluster *cluster, bool polled, uint64_t slices);
/* The cluster at place `at` does not go on, and its place is made free. False: nor does the launch. */
bool mg__cluster_drop(struct mg_worker *worker, uint32_t at);

/* deadlock.c */
void mg__deadlock(struct mg_cluster *cluster);
bool mg__out_of_time(struct mg_worker *worker, const struct mg_cluster *cluster);
void mg__tell_late(struct mg_run *run); /* all workers have stopped, and hold what they had */
void mg__no_memory(struct mg_worker *worker);

/* Of a warp's leaves those that wait, or, in a launch that spins, all. */
void mg__stuck_leaves(struct mg_warp *warp);

/* spin.c */
uint64_t mg__executed(const struct mg_worker *worker, uint32_t segment); /* sched.c */
void mg__spin_look(struct mg_worker *worker);                            /* a turn of the launch has ended */
void mg__spin_tell(struct mg_worker *worker);

/* worker.c */
bool mg__worker_make(struct mg_worker *worker);
void mg__worker_tell(struct mg_worker *worker); /* the observers, what they have not been told yet */
void mg__worker_tell_counts(struct mg_worker *worker); /* of a launch with a sample: those since it last did */
void mg__worker_free(struct mg_worker *worker);
void mg__frames_free(struct mg_worker *worker); /* those of calls that have returned */
void mg__patterns_free(struct mg_worker *worker);

/* keep.c */
/* Nothing is left of what only the launch needed; the counters are zero. */
void mg__worker_keep(struct mg_worker *worker);
bool mg__worker_again(struct mg_worker *worker); /* on its thread: as if it were new. False: out of memory */
#endif
