/* events.h - an observer of every access, of what orders them, and of steps, which keeps a sum of what it was told of
 * each block, in order. */
#ifndef MG_TESTS_DIFF_EVENTS_H
#define MG_TESTS_DIFF_EVENTS_H
#include "simt/simt.h"

#define EVENT_BLOCKS 64u
struct events {
    uint64_t of[EVENT_BLOCKS]; /* by block modulo that */
    uint64_t accesses, syncs, steps;
    uint64_t region[3]; /* addresses count from the last one of these below them, in rising order */
    unsigned left;      /* steps that are still wanted */
};
enum mg_status events_watch(struct mg_simt *simt, struct events *events);
void events_clear(struct events *events);
#endif
