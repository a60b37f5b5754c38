/* watch.h - what the files that look at accesses share: watch.c, cells.c, shared.c, global.c, local.c, fault.c. */
#ifndef MG_CHECK_WATCH_H
#define MG_CHECK_WATCH_H
#include "check/check_priv.h"

static const struct actor mg__nobody = {.lane = 0xff};
static inline struct actor mg__watch_actor(const struct mg_access *a, unsigned lane)
{
    return (struct actor){a->block, (uint16_t)a->warp, (uint8_t)lane};
}

/* ---- watch.c ---- */
struct block *mg__watch_block(struct worker *w, uint64_t linear);
/* Lanes read bytes that nobody wrote, of each lane a bit a byte. What can be followed is; else it is told at once. */
void mg__watch_unwritten(struct worker *w, const struct block *b, const struct mg_access *a, uint32_t missing[32],
                         enum check_kind kind, enum place_kind place, int32_t object, uint64_t base);

/* One of chosen.c, whose lanes are known now. */
void mg__watch_again(struct worker *w, struct mg_access *a);
/* An access to shared memory that was not told before. */
void mg__watch_shared(struct worker *w, struct block *b, struct mg_access *a, const struct site *site);

/* ---- cells.c ---- */
struct cells { /* an access to cells of one block */
    struct launch *l;
    struct worker *w;
    struct block *b;
    const struct mg_access *a;
    const struct site *site;
    enum place_kind place;
    unsigned unit;
};
struct mg_order_who mg__cells_who(const struct cells *c, unsigned lane);
/* One lane and one cell; `told`: of this lane a race was told, and one is enough. That of a cell in which both have
 * left the same value is held until all of the access is seen: in the next cell they may differ.
 */
struct told {
    bool any, same;         /* same: it is held */
    bool silent;            /* and is nothing by itself */
    struct occurrence held; /* not set before */
};
static inline void mg__told_begin(struct told *told)
{
    told->any = told->same = false;
}
void mg__told_end(const struct cells *c, struct told *told);
void mg__cells_touch(const struct cells *c, struct mg_order_row *row, unsigned at, uint64_t key, struct mg_order_who me,
                     unsigned lane, unsigned from, int32_t object, uint64_t offset, struct told *told);
/* What the lane is about to store, `bytes` of it from `from` on. False: not known. */
bool mg__value_of(const struct mg_access *a, unsigned element, unsigned lane, unsigned from, unsigned bytes,
                  uint8_t *out);
/* Whether it is what is there already, or, `at_once`, what lane `other` stores. */
bool mg__same_value(const struct launch *l, const struct mg_access *a, unsigned lane, unsigned from, unsigned bytes,
                    bool at_once, unsigned other);
unsigned mg__element_of(const struct launch *l, const struct mg_access *a);
/* The lanes of `rest` at the first one's address. */
uint32_t mg__lanes_at(const struct mg_access *a, uint32_t rest);
/* A strong write, at each unit that it touches; a strong read. */
void mg__flags_publish(const struct launch *l, struct block *b, const struct mg_access *a, uint8_t space);
void mg__flags_take(const struct launch *l, struct block *b, const struct mg_access *a, uint8_t space, bool waits);

/* ---- shared.c, far.c, global.c, local.c: quick ones are false where each lane must be looked at ---- */
bool mg__shared_quick(struct worker *w, struct block *b, struct mg_access *a, const struct site *site);
void mg__shared_watch(struct worker *w, struct block *b, struct mg_access *a, const struct site *site);
void mg__cluster_watch(struct worker *w, struct mg_access *a, const struct site *site);
void mg__cluster_met(struct block *b);
/* A use of `of`'s shared memory by a warp of `b`: whether that one has surely begun. One that `b` may not have known of
 * when it ended; and all of those. */
void mg__cluster_begun(struct worker *w, const struct block *b, const struct block *of, uint32_t warp, uint64_t address,
                       uint32_t insn, struct actor who);
void mg__cluster_ended(struct worker *w, const struct block *b, uint64_t address, const struct far_use *use);
void mg__cluster_end(struct worker *w, struct block *b);
void mg__cluster_over(struct worker *w, const struct mg_sync *event); /* it has ended */
/* Whether the block's access to its unit conflicts with one from another block of the cluster. */
void mg__cluster_meets(struct worker *w, struct block *b, uint64_t unit, const struct mg_access *a, unsigned lane);
/* The same of all lanes, which are in units [first, last]. */
void mg__cluster_meets_all(struct worker *w, struct block *b, struct mg_access *a, uint64_t first, uint64_t last);
int32_t mg__watch_shared_object(const struct launch *l, uint64_t offset); /* the variable there, -1: none */
bool mg__shared_is_system(const struct launch *l, uint64_t offset);
/* Where what a lane reads of a hole in shared memory comes from, if it is one. */
void mg__hole_origin(const struct block *b, uint64_t address, uint32_t missing, struct origin *origin);
bool mg__global_quick(struct worker *w, struct block *b, struct mg_access *a, const struct site *site);
void mg__global_watch(struct worker *w, struct block *b, struct mg_access *a, const struct site *site);
int32_t mg__watch_allocation(const struct launch *l, uint64_t address, int32_t guess); /* -1: none */
void mg__local_watch(struct worker *w, struct block *b, struct mg_access *a, const struct site *site);

/* The lowest and the highest address. */
static inline void mg__access_reach(struct mg_access *a, uint64_t *least, uint64_t *most)
{
    if (a->pattern) {
        *least = a->base + (uint64_t)(int64_t)a->pattern->low;
        *most = a->base + (uint64_t)(int64_t)a->pattern->high;
    } else if (a->most) {
        *least = a->least;
        *most = a->most;
    } else {
        mg__access_lanes(a);
        mg__memo_bounds(a, least, most);
    }
}

static inline const struct mg_memo *mg__access_memo(struct worker *w, const struct mg_access *a, unsigned unit)
{
    if (a->pattern)
        return mg__memos_find(&w->learnt.memos, a, unit);
    return mg__memo_last(&w->learnt.shapes[a->insn], a, unit) ? &w->learnt.shapes[a->insn].memo : NULL;
}
#endif
