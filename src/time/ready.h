/* ready.h - the warps that could go on, the first on top: a heap of which each has four below it, in one line of the
 * cache. The place of the one that was taken is kept for the next that comes, which mostly is the same.
 */
#ifndef MG_TIME_READY_H
#define MG_TIME_READY_H
#include "base/base.h"

enum { MG_READY_WAYS = 4, MG_READY_FIRST = 3 /* so that those below one begin at a line */ };

struct mg_ready_warp {
    double at; /* when it can go on; of two at one time the lesser number is first */
    uint32_t warp;
};
struct mg_ready {
    struct mg_ready_warp *memory, *heap; /* `heap` begins MG_READY_FIRST behind `memory` */
    uint32_t n;
    bool open; /* what is on top has been taken, and its place not yet */
};

/* For so many warps, each of which is in it once at most. */
static inline bool mg__ready_make(struct mg_ready *r, uint32_t warps)
{
    *r = (struct mg_ready){
        .memory = aligned_alloc(64, ((warps + MG_READY_FIRST + 1) * sizeof(*r->memory) + 63) / 64 * 64)};
    r->heap = r->memory ? r->memory + MG_READY_FIRST : NULL;
    return r->memory != NULL;
}

static inline void mg__ready_free(struct mg_ready *r)
{
    free(r->memory);
}

static inline bool mg__ready_before(struct mg_ready_warp a, struct mg_ready_warp b)
{
    return a.at < b.at || (a.at == b.at && a.warp < b.warp);
}

static inline void mg__ready_sink(struct mg_ready *r, struct mg_ready_warp w)
{
    uint32_t at = 0;
    for (;;) {
        const uint32_t first = MG_READY_WAYS * at + 1, end = MG_MIN(first + MG_READY_WAYS, r->n);
        uint32_t least = first;
        if (first >= r->n)
            break;
        for (uint32_t k = first + 1; k < end; k++)
            least = mg__ready_before(r->heap[k], r->heap[least]) ? k : least;
        if (!mg__ready_before(r->heap[least], w))
            break;
        r->heap[at] = r->heap[least];
        at = least;
    }
    r->heap[at] = w;
}

static inline void mg__ready_push(struct mg_ready *r, struct mg_ready_warp w)
{
    if (r->open) {
        r->open = false;
        mg__ready_sink(r, w);
        return;
    }
    uint32_t at = r->n++;
    for (; at && mg__ready_before(w, r->heap[(at - 1) / MG_READY_WAYS]); at = (at - 1) / MG_READY_WAYS)
        r->heap[at] = r->heap[(at - 1) / MG_READY_WAYS];
    r->heap[at] = w;
}

/* The first one; there is one. Its place is kept until the next push, or until it is closed. */
static inline uint32_t mg__ready_take(struct mg_ready *r)
{
    r->open = true;
    return r->heap[0].warp;
}

static inline void mg__ready_close(struct mg_ready *r)
{
    if (!r->open)
        return;
    r->open = false;
    if (--r->n)
        mg__ready_sink(r, r->heap[r->n]);
}
#endif
