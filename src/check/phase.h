/* phase.h - what a block did to its shared memory from one of its barriers to the next, as a whole.
 *
 * Where each unit that was written was used by one thread alone, nothing can be in conflict, whatever came first, and
 * the cells need not know who did what: all of it lies before the barrier. That is so in most phases, and is found by
 * a mask or two for each row of units. Where it is not so, or not plain, nothing is decided here.
 */
#ifndef MG_CHECK_PHASE_H
#define MG_CHECK_PHASE_H
#include "check/quick.h"

enum { MG_PHASE_OWNERS = 2 };
/* Whose the units are, which are all of one warp: lane k has unit from + k, or what `memo` says, at unit `from`. */
struct mg_phase_owner {
    uint32_t units; /* of the row, a bit each */
    uint32_t warp;
    const struct mg_memo *memo; /* NULL: a lane has one unit, its neighbour the next */
    int64_t from;
};
struct mg_phase_row {
    uint32_t n;
    uint32_t atomic; /* units of atomic operations */
    struct mg_phase_owner by[MG_PHASE_OWNERS];
};
struct mg_phase {
    struct mg_phase_row *rows; /* by row of the block's memory; made when first needed */
    uint32_t *used;            /* of these, `nused` */
    uint32_t nused;
};
void mg__phase_free(struct mg_phase *phase);
/* Whether it can be told at all; `units`: of the memory. */
bool mg__phase_begin(struct mg_phase *phase, const struct mg_order *order, const struct mg_shadow *shadow,
                     size_t units);
/* A store; after all of these an atomic operation; and after all of these a load. False: it is not plain that nothing
 * is in conflict. */
bool mg__phase_write(struct mg_phase *phase, const struct mg_order *order, const struct mg_shadow *shadow,
                     uint64_t base, const struct mg_memo *memo, uint32_t warp);
bool mg__phase_atomic(struct mg_phase *phase, const struct mg_order *order, const struct mg_shadow *shadow,
                      const struct mg_held_lanes *lanes);
bool mg__phase_read_lanes(const struct mg_phase *phase, const struct mg_held_lanes *lanes, uint32_t warp);
bool mg__phase_read(const struct mg_phase *phase, uint64_t base, const struct mg_memo *memo, uint32_t warp);
/* Its end. `plain`: nothing was in conflict, and what was written is; the block meets at once. */
void mg__phase_end(struct mg_phase *phase, const struct mg_order *order, struct mg_shadow *shadow, bool plain);
#endif
