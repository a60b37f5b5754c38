/* memo.h - the shapes of accesses: the units (order.h) that they fall on, by the engine's patterns, or by the last
 * access of an instruction. */
#ifndef MG_CHECK_MEMO_H
#define MG_CHECK_MEMO_H
#include "check/order.h"
#include "simt/observe.h"

#define MG_MEMO_UNITS 128u
#define MG_MEMO_SPAN (16 * MG_MEMO_UNITS)
struct mg_memo {
    uint32_t width;
    uint8_t unit_log;
    bool twice;           /* several lanes on one unit */
    bool in_order;        /* units in a row: those of lane 0, of lane 1 and so on, of all 32 */
    bool in_a_row;        /* of one lane each, which are as far apart as their units; the lowest is lane `first`'s */
    uint8_t first;
    uint32_t units;       /* a bit each, of a span of 32 at most; else 0 */
    bool apart;           /* there are gaps, a few units on */
    uint16_t n, span;     /* different units; from the first to past the last */
    int32_t low;          /* bytes: from the first active lane's address to the lowest */
    const uint16_t *unit; /* n, from the lowest on; only if the span has gaps */
    const uint32_t *lane; /* n: as in a packed mg_order_who */
    struct mg_memo *next; /* of the same pattern and another width */
};
/* Those of the patterns that the engine remembers: by mg_pattern's id, made when first asked for. In another launch the
 * id may be another pattern's, and mostly is the same one's. */
struct mg_memos_of { /* the pattern, as it was when the memos were made */
    uint32_t launch, mask;
    int32_t delta[32];
};
struct mg_memos {
    struct mg_memo **at;
    struct mg_memos_of *of;
    uint32_t capacity;
    uint32_t launch; /* its number */
};
const struct mg_memo *mg__memos_other(struct mg_memos *memos, const struct mg_access *a, unsigned unit);
/* NULL: too wide or uneven a shape, or no memory. */
static inline const struct mg_memo *mg__memos_find(struct mg_memos *memos, const struct mg_access *a, unsigned unit)
{
    const uint32_t id = a->pattern->id;
    const struct mg_memo *m = id < memos->capacity && memos->of[id].launch == memos->launch ? memos->at[id] : NULL;
    return m && m->width == a->width && m->unit_log == unit && m->n ? m : mg__memos_other(memos, a, unit);
}
void mg__memos_free(struct mg_memos *memos);
/* One for lanes at these distances from the first active one, which is the caller's to free; NULL: as above. */
struct mg_memo *mg__memo_new(const uint64_t delta[32], uint32_t mask, uint32_t width, unsigned unit);
/* What an instruction's last access looked like, of those that come as addresses; the memo is made once there was
 * another one like it. */
struct mg_last {
    uint32_t mask, first, misses;
    bool known;
    struct mg_memo memo; /* n is 0: there is none */
    uint64_t delta[32];
    uint16_t unit[MG_MEMO_UNITS];
    uint32_t lane[MG_MEMO_UNITS];
};
/* Whether the access is of the last one's shape, and that has a memo; from here on it is the last one. */
bool mg__memo_last(struct mg_last *last, const struct mg_access *a, unsigned unit);
/* The least and the greatest address of the active lanes. */
void mg__memo_bounds(const struct mg_access *a, uint64_t *least, uint64_t *most);
#endif
