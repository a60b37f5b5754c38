/* quick.h - the accesses that most kernels make, in a few instructions a lane; what is out of the ordinary is for watch.c. */
#ifndef MG_CHECK_QUICK_H
#define MG_CHECK_QUICK_H
#include "check/order.h"
#include "simt/observe.h"

/* What an instruction's last access looked like: distances of its lanes, and the units (order.h) they fall on. */
struct mg_memo {
    uint32_t mask, width;
    uint32_t misses;
    uint16_t n, span;   /* different units; from the first to past the last */
    bool twice;         /* several lanes on one unit */
    uint32_t first;     /* the lane that distances are counted from */
    int32_t low;        /* bytes: the lowest unit's distance */
    uint64_t delta[32];
    uint16_t unit[128]; /* from the lowest on */
    uint32_t lane[128]; /* as in a packed mg_order_who, 0 where the span has a gap */
};
/* Whether the access is of the memo's shape; makes the memo anew if it is not (and false if it cannot). */
bool mg__quick_shape(struct mg_memo *memo, const struct mg_access *a, unsigned unit);
/* The least and the greatest address of the active lanes. */
void mg__quick_bounds(const struct mg_access *a, uint64_t *least, uint64_t *most);

/* The whole access at unit `base` on of `rows`; false: nothing was done that may not be done again; look at each lane. `who`: packed, of lane 0.
 * Reads of units that were not written since `begin` count as out of the ordinary, if `init`. */
bool mg__quick_read(const struct mg_order *o, struct mg_order_row *rows, uint64_t base, const struct mg_memo *memo, uint32_t who,
                    bool init);
bool mg__quick_write(const struct mg_order *o, struct mg_order_row *rows, uint64_t base, const struct mg_memo *memo, uint32_t who);
/* The same in rows that do not lie side by side: rows[0] holds unit `base`. For shapes without gaps. */
bool mg__quick_read_rows(const struct mg_order *o, struct mg_order_row **rows, uint64_t base, const struct mg_memo *memo,
                         uint32_t who);
bool mg__quick_write_rows(const struct mg_order *o, struct mg_order_row **rows, uint64_t base, const struct mg_memo *memo,
                          uint32_t who);
/* One unit of a plain read, a plain write, an atomic operation; false: nothing was done. */
bool mg__quick_read_one(const struct mg_order *o, struct mg_order_row *row, unsigned at, uint32_t who, bool init);
bool mg__quick_write_one(const struct mg_order *o, struct mg_order_row *row, unsigned at, uint32_t who);
bool mg__quick_atomic_one(const struct mg_order *o, struct mg_order_row *row, unsigned at, uint32_t who, bool init);
#endif
