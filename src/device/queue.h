/* queue.h - what a device's streams were given and is not over yet.
 *
 * Work is run when it is given, on the thread that gives it, in the order in which it is given: so a program that needs
 * no more sees every kernel ended when its launch returns, and the same order in every run. Only what cannot go on is
 * left: a launch that seems to wait, for the host or for another launch, or has run for long (mg__simt_turn), what its
 * stream orders behind it, and host functions, which have a thread of their own. What is left goes on in the background
 * and on threads that wait; whatever a stream has not ordered behind it goes past it.
 *
 * A launch's record is written when those of all launches before it have been.
 */
#ifndef MG_QUEUE_H
#define MG_QUEUE_H
#include "device/device.h"

#include <pthread.h>

enum mg_work_kind { MG_WORK_LAUNCH, MG_WORK_CALL, MG_WORK_HOST, MG_WORK_RECORD, MG_WORK_WAIT, MG_WORK_UNTIL };
enum mg_work_state { MG_WORK_GIVEN, MG_WORK_RUNS, MG_WORK_RESTS, MG_WORK_OVER };
/* A launch that the device took: launch.c. */
struct mg_device_taken {
    struct mg_device_kernel *kernel;
    struct mg_device_launch asked;
    struct mg_occupancy_query compiled;
    struct mg_simt_launch simt;
    struct mg_run *run; /* NULL: not begun, or it could not be */
    enum mg_status status;
    bool watched, rested;
    struct mg_timeline_item *item; /* NULL: it is on no line of modelled time */
    struct mg_same *same;          /* launches like it; NULL: none that anything is kept of */
    bool looked;                   /* how long it takes is looked at, and what would make it faster */
    uint64_t began;
    double seconds;
    uint64_t useful, useful_before; /* of the queue, when its last turn ended, and when it began */
    bool waited; /* for the host, or for another launch: so long, which the model of time cannot know */
    double idle;
    unsigned char small[256], *params;
};
struct mg_work {
    struct mg_work *next;
    struct mg_work *behind; /* not over, and ordered before it; NULL: none is known */
    struct mg_order order;
    enum mg_work_kind kind;
    enum mg_work_state state;
    bool kept, gone; /* who gave it still looks at it, and frees it when it is out of the list */
    uint64_t turn;   /* number of its last one, 0: none yet */
    uint64_t seen;   /* changes of the queue when that ended */
    uint64_t calm;   /* turns in a row with no changes at all */
    uint64_t until;  /* it rests, unless something changes, until then */
    uint64_t pause;  /* for so long */
    void (*call)(void *arg);
    bool (*holds)(void *arg);
    void *arg;
    struct mg_mark *mark;          /* of an event: to be recorded, or to be waited for */
    struct mg_device_outcome *out; /* where a launch's goes; NULL: to options.ended */
    struct mg_device_taken *launch;
};
struct mg_queue {
    struct mg_device *device;
    pthread_mutex_t lock;
    pthread_cond_t moved; /* a turn has ended, or there is new work */
    struct mg_work *first, **last;
    unsigned count;             /* in the list */
    atomic_uint pending;        /* of them not over */
    bool busy;                  /* a thread gives a turn */
    bool broken;                /* nothing more is run */
    unsigned sleepers, wanting; /* threads that wait for `moved`; those of them that would give a turn */
    uint64_t turns, changes;    /* turns; those that did more than wait, and works that ended */
    uint64_t useful;            /* nanoseconds of launches' turns that did more than wait */
    pthread_t threads[2];       /* the background, host functions */
    bool started[2], stop;
};

/* launch.c */
enum mg_status mg__launch_take(struct mg_device_kernel *kernel, const struct mg_device_launch *asked,
                               struct mg_device_taken **taken, struct mg_device_outcome *out);
/* A turn. True: it is over, with *out. */
bool mg__launch_turn(struct mg_device_taken *launch, struct mg_queue *queue, bool *moved,
                     struct mg_device_outcome *out);
void mg__launch_end(struct mg_device_taken *launch); /* recorded, and gone */

/* queue.c */
enum mg_status mg__queue_create(struct mg_device *device);
void mg__queue_destroy(struct mg_queue *queue);

/* stream.c */
enum mg_status mg__streams_create(struct mg_device *device);
void mg__streams_destroy(struct mg_device *device);
struct mg_mark *mg__mark_make(void);
void mg__mark_set(struct mg_mark *mark);
#endif
