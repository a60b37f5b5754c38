/* order.h - the happens-before core: what a block's threads may rely on having happened. It knows no engine types.
 *
 * Time in a block is one counter, moved on by every access and every synchronisation in the order in which the engine
 * runs them; that order is the same in every run, and what is found does not depend on it, but on what orders two
 * accesses:
 *
 *   between warps   known[w][v]: warp w may rely on what warp v did up to that time. Barriers join rows; a barrier of
 *                   the whole block only raises `floor`, which stands below all rows.
 *   within a warp   lanes[w]: up to that time all lanes of the warp have met (__syncwarp, a shuffle, a vote). A mask
 *                   that names part of the warp fills a matrix of pairs, made when first needed. Lanes that have
 *                   used no memory since the warp or the block last met (idle) need not be among the pairs: they may
 *                   have left, and the engine keep them until the others do. Once part of the warp has met, when each
 *                   lane last used memory is known (used), and with it who of a group cannot have made an access.
 *   flags           a fence keeps a copy of the warp's row; a strong write publishes that copy at its address, and a
 *                   strong read of the same address takes it, for the lanes that read. Who read a flag may write it.
 *
 * For each unit of memory (4 bytes, or 1 or 2 when the kernel uses such) a cell remembers the last write and a read:
 * when, and by which lane at which site. Two accesses conflict if one of them writes and the later may not rely on the
 * earlier. One read is enough: while other warps have read as well, a flag says so, and a later write is then a race
 * unless some synchronisation came in between. What this cannot see: a race hidden behind another one at the same
 * place.
 */
#ifndef MG_CHECK_ORDER_H
#define MG_CHECK_ORDER_H
#include "base/base.h"

#define MG_ORDER_WARPS 33u /* 32 of a block, and one more: its bulk copies, which no barrier of the block waits for */
#define MG_ORDER_AGENT 32u
/* As a lane: several of the warp, any of them; and up to 62: those of a group such as a tile has, 16, 8, 4 or 2 of them
 * from a multiple of that on. */
#define MG_ORDER_MANY 32u

/* How an access takes part in synchronisation. Two that are not PLAIN do not race if one of
 * them is STRONG or a POLL. */
enum mg_order_class { MG_ORDER_PLAIN, MG_ORDER_VOLATILE, MG_ORDER_STRONG, MG_ORDER_POLL };

/* Who made an access, in 32 bits. */
struct mg_order_who {
    uint16_t site;
    uint8_t warp, lane; /* lane may be MG_ORDER_MANY, or a group */
    uint8_t class;
    bool async;  /* a copy that goes on by itself until it is waited for */
    bool others; /* other warps have done the same since, unordered */
    bool global; /* which memory; not kept */
};
/* The cells of 32 units in a row. A time of 0 is none. */
struct mg_order_row {
    uint32_t w_time[32], r_time[32], w_who[32], r_who[32];
};

/* Groups and lanes as numbers of 6 bits: twice the first lane and the group's size, 1 for a lane. A tree's nodes, from
 * left to right. */
static inline uint32_t mg__order_number(uint32_t lane)
{
    if (lane < MG_ORDER_MANY)
        return 2 * lane + 1;
    const uint32_t node = lane - MG_ORDER_MANY + 1, level = 31u - (uint32_t)__builtin_clz(node); /* of a heap */
    return (2 * (node - (1u << level)) + 1) << (5 - level);
}
static inline uint32_t mg__order_numbered(uint32_t number)
{
    const uint32_t level = number ? (uint32_t)__builtin_ctz(number) : 0;
    return level ? (1u << (5 - level)) + (number >> (level + 1)) - 1 + MG_ORDER_MANY : number >> 1;
}
/* The least that stands for both. */
static inline uint32_t mg__order_both(uint32_t a, uint32_t b)
{
    uint32_t over = (a & -a) | (b & -b) | (a ^ b);
    over |= over >> 1;
    over |= over >> 2;
    over |= over >> 4;
    return (a | over) ^ over >> 1;
}
/* The lanes that one stands for, by its number. */
static inline uint32_t mg__order_lanes(uint32_t number)
{
    const uint32_t n = number & -number;
    return (n == 32 ? ~0u : (1u << n) - 1) << (number - n) / 2;
}

/* When it was learnt of a warp's copies, the latest times, that those issued up to `upto` are over. A ring: a warp that
 * fills stages in turn may be told of one stage by another warp that was there several stages ago. */
struct mg_order_over {
    struct {
        uint32_t upto, at;
    } last[16];
    uint32_t count;
};
struct mg_order_copies { /* a warp's asynchronous copies */
    uint32_t commits[8]; /* times of the latest commits, a ring */
    uint32_t ncommits;
    struct mg_order_over waits; /* its own */
    uint32_t issued;            /* time of the latest copy */
    uint32_t told, met; /* those up to here were over by an mbarrier for some warp; for all that have met since */
};
struct mg_order_barrier {
    uint32_t known[MG_ORDER_WARPS]; /* what arrived */
    uint32_t waiting;               /* warps */
    uint32_t lanes[MG_ORDER_WARPS];
    uint32_t all; /* warps that arrived */
};
struct mg_order_flag { /* an address that warps, or lanes, synchronise by */
    uint64_t address;
    uint32_t known[MG_ORDER_WARPS]; /* what strong writes published there */
    uint32_t taken[MG_ORDER_WARPS]; /* when each warp last read it */
    bool published;                 /* something was */
};
struct mg_order_idle {
    uint32_t since, lanes; /* that have not used this memory since then */
};
struct mg_order {
    uint32_t now, floor;
    uint32_t begin;  /* of the block: what was written before is another block's */
    uint32_t agent;  /* what all may rely on of its bulk copies: floor does not stand below them */
    uint32_t fences; /* warps that have gone through a fence: what they publish counts */
    uint32_t released; /* when a warp last let others rely on what it had done, by an arrival or a flag */
    uint32_t nwarps;
    bool partial;                  /* a row of `known` is above the floor, or lanes have taken from lanes */
    uint32_t live[MG_ORDER_WARPS]; /* lanes */
    struct mg_order_idle idle[2][MG_ORDER_WARPS]; /* of shared memory, and of global memory */
    uint32_t known[MG_ORDER_WARPS][MG_ORDER_WARPS], fenced[MG_ORDER_WARPS][MG_ORDER_WARPS];
    struct mg_order_flag *flags;
    uint32_t nflags, room;
    uint32_t *index;               /* of flags, a hash table of 2 × room; 0: free */
    uint32_t lost[MG_ORDER_WARPS]; /* what was published where there was no room: believed of any address */
    bool flagged, loses;           /* something was published; where there was no room */
    uint32_t lanes[MG_ORDER_WARPS];
    uint32_t (*pairs[MG_ORDER_WARPS])[32]; /* [lane][other]; rows hold times above lanes[w], or stale ones */
    uint64_t parted; /* warps, a bit each, of which a part has met since all of it did */
    uint32_t used[2][MG_ORDER_WARPS][32]; /* of these: as `idle`, when each lane last did */
    struct mg_order_barrier barriers[16];
    uint32_t arrived; /* barriers to which somebody has come in this block, a bit each */
    uint32_t arrivals; /* barriers that opened last for arrivals alone: nobody waited */
    uint32_t met[16]; /* warps that met there last, and when each came */
    uint32_t came[16][MG_ORDER_WARPS];
    struct mg_order_copies copies[MG_ORDER_WARPS];
    struct mg_order_over (*seen)[MG_ORDER_WARPS]; /* by mbarriers: [whose copies][who knows]; NULL: of none */
    bool any_seen;                                /* of this block's */
};

struct mg_order *mg__order_new(void);
void mg__order_free(struct mg_order *order);
/* A new block: `threads` of them. Times go on, so that cells of the block before are old and need no clearing; false:
 * the counter would run over, and they must be cleared after all. */
bool mg__order_begin(struct mg_order *order, uint32_t threads);

/* ---- synchronisation ---- */
void mg__order_exit(struct mg_order *order, uint32_t warp, uint32_t lanes);
void mg__order_warp(struct mg_order *order, uint32_t warp, uint32_t lanes); /* these meet */
/* These are about to use memory. */
static inline void mg__order_uses(struct mg_order *o, uint32_t warp, uint32_t lanes, bool global)
{
    struct mg_order_idle *idle = &o->idle[global][warp];
    if (idle->since <= o->floor || idle->since <= o->lanes[warp])
        *idle = (struct mg_order_idle){o->now, ~0u};
    idle->lanes &= ~lanes;
    for (uint32_t rest = o->parted >> warp & 1 ? lanes : 0; rest; rest &= rest - 1)
        o->used[global][warp][__builtin_ctz(rest)] = o->now;
}
void mg__order_arrive(struct mg_order *order, uint32_t barrier, uint32_t warp, uint32_t lanes, bool waits);
/* Whether other warps have met at the barrier and this one, which now comes, was not with them nor knows of it: it
 * might have met one of them. *other gets the first of those. */
bool mg__order_apart(const struct mg_order *order, uint32_t barrier, uint32_t warp, uint32_t *other);
void mg__order_open(struct mg_order *order, uint32_t barrier, bool all);
void mg__order_meet(struct mg_order *order); /* the whole block, elsewhere than at a barrier of its own */
void mg__order_fence(struct mg_order *order, uint32_t warp);
void mg__order_publish(struct mg_order *order, uint32_t warp, uint64_t address); /* a strong write */
/* A strong read; `waits`: it polls, or decides by what it read, and what it read may be written by it afterwards. */
void mg__order_take(struct mg_order *order, uint32_t warp, uint32_t lanes, uint64_t address, bool waits);
/* Whether the warp has read the flag since. */
bool mg__order_taken(const struct mg_order *order, uint32_t warp, uint64_t address, uint32_t time);
void mg__order_commit(struct mg_order *order, uint32_t warp);
void mg__order_wait(struct mg_order *order, uint32_t warp, uint32_t pending); /* ~0u: all copies */
/* The warp's copies up to this time have been waited for by itself. */
uint32_t mg__order_waited(const struct mg_order *order, uint32_t warp);

/* Rows: what the warp may rely on goes to `known`; these lanes may rely on what is there. */
void mg__order_bring(struct mg_order *order, uint32_t warp, uint32_t known[MG_ORDER_WARPS]);
void mg__order_fenced(struct mg_order *order, uint32_t warp, uint32_t known[MG_ORDER_WARPS]); /* up to its last fence */
/* The end of the warp's copies so far is left to an mbarrier to tell: the time up to which they are. And a warp that
 * has been told so. */
uint32_t mg__order_told(struct mg_order *order, uint32_t warp, uint32_t known[MG_ORDER_WARPS]);
void mg__order_seen(struct mg_order *order, uint32_t warp, uint32_t of, uint32_t upto);
void mg__order_learn(struct mg_order *order, uint32_t warp, uint32_t lanes, const uint32_t known[MG_ORDER_WARPS]);

/* ---- accesses ---- */
/* Where a lane's or group's number is in 32 bits: from this bit on, in these. */
#define MG_WHO_NUMBER 21
#define MG_WHO_LANES (63u << MG_WHO_NUMBER)
/* Sites with odd numbers read what the same lane mostly stores to. Where several lanes have read, the site of another
 * kind is kept: it tells more of whom a write is in the way of. */
static inline bool mg__order_own(uint32_t site)
{
    return site & 1;
}
/* All but the lane. */
static inline uint32_t mg__order_pack_warp(struct mg_order_who w)
{
    return (uint32_t)w.site | (w.warp & 31u) << 16 | (uint32_t)w.class << 27 | (uint32_t)w.async << 29 |
           (uint32_t)w.others << 30 | (uint32_t)(w.warp >> 5) << 31;
}
static inline uint32_t mg__order_pack_lane(uint32_t lane)
{
    return (2 * lane + 1) << MG_WHO_NUMBER;
}
static inline uint32_t mg__order_pack(struct mg_order_who w)
{
    return mg__order_pack_warp(w) | mg__order_number(w.lane) << MG_WHO_NUMBER;
}
static inline struct mg_order_who mg__order_unpack(uint32_t v)
{
    return (struct mg_order_who){.site = (uint16_t)v,
                                 .warp = (uint8_t)((v >> 16 & 31) | v >> 31 << 5),
                                 .lane = (uint8_t)mg__order_numbered(v >> MG_WHO_NUMBER & 63),
                                 .class = (uint8_t)(v >> 27 & 3),
                                 .async = v >> 29 & 1,
                                 .others = v >> 30 & 1};
}
/* Whether the warp may rely now on what `other` had done at `time`. */
bool mg__order_knows(const struct mg_order *order, uint32_t warp, uint32_t other, uint32_t time);
/* Whether `me`, acting now, may rely on what `who` did at `time`. */
bool mg__order_before(const struct mg_order *order, uint32_t time, struct mg_order_who who, struct mg_order_who me);
/* What the warp may rely on now, with the floor in it; and up to what time all asynchronous copies of warp `of` are
 * over for it. */
void mg__order_known(const struct mg_order *order, uint32_t warp, uint32_t known[MG_ORDER_WARPS]);
uint32_t mg__order_copied(const struct mg_order *order, uint32_t warp, uint32_t of);
/* The least time that `warp` may rely on from all other warps. */
uint32_t mg__order_floor(const struct mg_order *order, uint32_t warp);

/* One lane's access to a cell: what it conflicts with goes to *with (a write) and *read, whose times are 0 if there is
 * none; then the cell remembers the access. */
struct mg_order_hit {
    uint32_t time;
    struct mg_order_who who;
};
void mg__order_read(struct mg_order *order, struct mg_order_row *row, unsigned at, struct mg_order_who me,
                    struct mg_order_hit *with);
void mg__order_write(struct mg_order *order, struct mg_order_row *row, unsigned at, struct mg_order_who me,
                     struct mg_order_hit *with, struct mg_order_hit *read);
#endif
