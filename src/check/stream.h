/* stream.h - what the files about streams share: stream.c, early.c. */
#ifndef MG_CHECK_STREAM_H
#define MG_CHECK_STREAM_H
#include "check/check_priv.h"

enum { STREAMS = 64, USES_MOST = 4096, RANGES_MOST = 1 << 16 };

struct slot {
    uint64_t id;
    bool live, blocking;
    uint64_t knows[STREAMS];
};
struct event {
    uint64_t id;
    uint64_t knows[STREAMS];
};
struct range {
    uint64_t from, to;
};
struct use {
    uint64_t time, serial; /* of the region */
    unsigned slot;
    enum mg__use use;
    void *frames[MG_CHECK_FRAMES]; /* of a call of the host: where it was made, for its line */
    int nframes;
    bool watched, silent; /* of memory that the host is seen to touch; but nothing is claimed of this piece of work */
    char *kernel;         /* mangled; NULL: a call of the host, and its name */
    const char *call;
    char *file;
    uint32_t line, column;
    MG_VEC(struct range) ranges;
};
struct streams {
    bool matter, blind; /* blind: more streams than there is room for, and nothing is claimed */
    unsigned nslots;    /* slot 0: the default stream */
    struct slot slots[STREAMS];
    uint64_t host[STREAMS], now;
    uint64_t told[STREAMS]; /* what the host may know besides, by ways that are not followed */
    MG_VEC(struct event) events;
    MG_VEC(struct use) uses;
};

/* The streams, if there are any, with the checker's lock held. */
struct streams *mg__streams_lock(struct mg_check *check);
void mg__streams_join(uint64_t *to, const uint64_t *from);
unsigned mg__streams_slot(const struct streams *streams, uint64_t id);
/* What is about to happen in the stream may rely on what it waits for. */
void mg__streams_catch_up(struct streams *streams, unsigned slot);

/* ---- early.c ---- */
/* Whether the host may touch the same memory without having waited for it. */
static inline bool mg__early_pending(const struct streams *s, const struct use *u)
{
    return u->watched && !u->silent && u->time > s->host[u->slot] && u->time > s->told[u->slot];
}
void mg__early_look(struct mg_check *check); /* what is in flight has changed; under the lock */
#endif
