/* quick.h - the accesses that most kernels make, in a few instructions a lane; what is out of the ordinary is for
 * watch.c. */
#ifndef MG_CHECK_QUICK_H
#define MG_CHECK_QUICK_H
#include "check/memo.h"

/* ---- a block's shared memory ---- */
#define MG_HELD 2048u
struct mg_row_sum {
    uint32_t written, read; /* no cell of the row has a later time */
    uint32_t clean;         /* order->begin of a block: all units were written since then, and before the floor */
    uint32_t unclean;       /* the floor at which that was not so */
    uint32_t begun, units;  /* order->begin of a block, whose cells say of these units that they are written */
};
/* Up to when all lanes of the warp have met, of a packed `who`. */
static inline uint32_t mg__quick_met(const struct mg_order *o, uint32_t who)
{
    return o->lanes[mg__order_unpack(who).warp];
}
struct mg_held { /* a read that the cells do not know of yet, or an atomic operation */
    uint64_t base;              /* of one without a memo: its number in `lanes` */
    const struct mg_memo *memo; /* NULL: lanes on units of their own choice */
    uint32_t now, met, who;
};
struct mg_held_lanes {
    uint64_t rows; /* a bit each, modulo 64 */
    uint32_t mask;
    bool atomic;
    uint8_t each; /* units of a lane, from unit[lane] on, in one row */
    uint16_t unit[32];
};
/* The lane's units, a bit each in their row. */
static inline uint32_t mg__held_units(const struct mg_held_lanes *l, unsigned lane)
{
    return ((UINT32_C(1) << l->each) - 1) << l->unit[lane] % 32;
}
struct mg_shadow {
    struct mg_order_row *rows;
    struct mg_row_sum *sums; /* by row */
    /* time of the last access that is not plain; ~0: a copy. No read is held that may meet it */
    uint32_t odd;
    uint32_t read; /* when a read went into the cells, or what may be one, last */
    uint32_t nheld, nlanes;
    uint64_t read_rows, atom_rows; /* rows that they touch, a bit each, modulo 64 */
    struct mg_held *held;          /* MG_HELD, made when needed; likewise */
    struct mg_held_lanes *lanes;
    uint32_t *atoms;         /* by row: the floor since which held atomic operations alone have used it */
    uint32_t *written;       /* by row, a bit a unit: written in this block; not all are known … */
    uint64_t *unsure;        /* … of these rows, a bit each */
    uint32_t *fresh;         /* like `written`, since the block met; a bit may be set in vain */
    uint64_t *stale;         /* rows, likewise, that were written since the block met */
    size_t nstale;           /* words of it */
};
bool mg__shadow_make(struct mg_shadow *s, size_t units);
void mg__shadow_free(struct mg_shadow *s);
void mg__shadow_begin(struct mg_shadow *s, size_t units, bool clear); /* a block; `clear`: times begin again */
/* The whole access at unit `base` on. False: nothing was done that may not be done again; look at each lane. `who`:
 * packed, of lane 0. */
bool mg__shadow_write(const struct mg_order *o, struct mg_shadow *s, uint64_t base, const struct mg_memo *memo,
                      uint32_t who);
/* Writes the held reads into the cells: before anybody else looks at them. */
void mg__shadow_settle(const struct mg_order *o, struct mg_shadow *s);
/* A unit of the row has been written. */
static inline void mg__shadow_wrote(struct mg_shadow *s, uint64_t row, uint32_t units)
{
    s->written[row] |= units;
    s->fresh[row] |= units;
}
/* The row's cells are about to be written, or may be. */
static inline void mg__shadow_stale(struct mg_shadow *s, uint64_t row)
{
    s->sums[row].clean = 0;
    s->stale[row / 64] |= 1ull << row % 64;
}
/* The whole block has met, and `written` is to say all. */
void mg__shadow_all_written(const struct mg_order *o, struct mg_shadow *s);
/* Rows from the first to the last one, a bit each, modulo 64. */
static inline uint64_t mg__shadow_rows(uint64_t first, uint64_t last)
{
    if (last - first >= 63)
        return ~0ull;
    uint64_t bits = (2ull << (last - first)) - 1;
    unsigned by = first % 64;
    return by ? bits << by | bits >> (64 - by) : bits;
}
/* mg__shadow_settle, if what is held touches rows of these units: before cells of a few of them are looked at. */
static inline void mg__shadow_settle_near(const struct mg_order *o, struct mg_shadow *s, uint64_t first, uint64_t last)
{
    if ((s->read_rows | s->atom_rows) & mg__shadow_rows(first / 32, last / 32))
        mg__shadow_settle(o, s);
}
/* Rows of the units are about to be written; whether one of units [first, last] was, since the block met. */
void mg__shadow_will_write(struct mg_shadow *s, uint64_t base, const struct mg_memo *memo);
bool mg__shadow_was_written(const struct mg_shadow *s, uint64_t first, uint64_t last);
/* The whole block has met: what was read before matters no more. */
static inline void mg__shadow_met(struct mg_shadow *s)
{
    s->nheld = s->nlanes = 0;
    s->read_rows = s->atom_rows = 0;
}
/* Whether the memo's units from `base` on are all written, as far as is known. */
bool mg__shadow_is_written(const struct mg_shadow *s, uint64_t base, const struct mg_memo *memo);
/* Whether the lanes' words are all written; where they are goes to *lanes. */
bool mg__shadow_lanes_written(const struct mg_shadow *s, const struct mg_access *a, struct mg_held_lanes *lanes);
/* Lanes on words of their own choice, all of which are written: a read of what nobody has written since the block met,
 * or an atomic operation where nobody has done anything else since then, is held. False: nothing was done. */
bool mg__shadow_hold(const struct mg_order *o, struct mg_shadow *s, const struct mg_access *a, uint32_t who,
                     bool atomic);
/* The same. Reads of units that were not written since `begin` count as out of the ordinary, if `init`. `lasts`: the
 * memo lives as long as the block. */
bool mg__shadow_read_any(const struct mg_order *o, struct mg_shadow *s, uint64_t base, const struct mg_memo *memo,
                         uint32_t who, bool init, bool lasts);
static inline bool mg__shadow_read(const struct mg_order *o, struct mg_shadow *s, uint64_t base,
                                   const struct mg_memo *memo, uint32_t who, bool init, bool lasts)
{
    uint64_t r = base / 32;
    if (base % 32 + memo->span > 32 || s->sums[r].clean != o->begin || s->odd > o->floor || s->nheld == MG_HELD ||
        !lasts || !s->held)
        return mg__shadow_read_any(o, s, base, memo, who, init, lasts);
    s->held[s->nheld++] = (struct mg_held){base, memo, o->now, mg__quick_met(o, who), who}; /* that is clean */
    s->read_rows |= 1ull << r % 64;
    return true;
}
static inline bool mg__shadow_any_written(const struct mg_shadow *s)
{
    uint64_t any = 0;
    for (size_t k = 0; k < s->nstale; k++)
        any |= s->stale[k];
    return any;
}
/* A read of units that are all written, some of them since the block met: by the lanes that now read, or by others of
 * their warp before it met. */
bool mg__shadow_read_own(const struct mg_order *o, struct mg_shadow *s, uint64_t base, const struct mg_memo *memo,
                         uint32_t who);
/* Lanes on units of their own choice, each looked at by itself. False: what was done is done again, if it must, with
 * the same outcome. `init`: as above, of reads and of atomic operations. */
enum mg_lanes { MG_LANES_READ, MG_LANES_WRITE, MG_LANES_ATOMIC };
bool mg__shadow_lanes(const struct mg_order *o, struct mg_shadow *s, const struct mg_access *a, unsigned unit,
                      uint32_t who, enum mg_lanes what, bool init);
/* Cells of the units were changed by others than the functions above. */
static inline void mg__shadow_changed(const struct mg_order *o, struct mg_shadow *s, uint64_t first, uint64_t last)
{
    for (uint64_t r = first / 32; r <= last / 32; r++) {
        s->sums[r].written = s->sums[r].read = s->read = o->now;
        s->unsure[r / 64] |= 1ull << r % 64;
        s->fresh[r] = ~0u;
        mg__shadow_stale(s, r);
    }
}

/* `n` units of a row from `at` on: whether they may be read or written, or, `apply`, that they were. */
bool mg__quick_row(const struct mg_order *o, struct mg_order_row *row, unsigned at, unsigned n, uint32_t who,
                   const uint32_t *lane, bool writes, bool apply);
/* One unit of a plain read, a plain write, an atomic operation; false: nothing was done. */
bool mg__quick_read_one(const struct mg_order *o, struct mg_order_row *row, unsigned at, uint32_t who, bool init);
bool mg__quick_write_one(const struct mg_order *o, struct mg_order_row *row, unsigned at, uint32_t who);
bool mg__quick_atomic_one(const struct mg_order *o, struct mg_order_row *row, unsigned at, uint32_t who, bool init);
/* The same of n units of one row, numbered from `base` on, by the lane of each: whether all may be used, and were. */
bool mg__quick_units(const struct mg_order *o, struct mg_order_row *row, uint64_t base, const uint16_t *unit,
                     const uint32_t *lane, unsigned n, uint32_t who, bool writes);
#endif
