/* timeline.c - the line of modelled time: items in the order of the calls, and when each began and ended.
 *
 * The host has a clock that goes on by what calls take and by what it waits for. Work begins when the host has given
 * it, what its stream orders before it has ended, and there is room for it: an engine for a copy, a share of the
 * multiprocessors for a launch. A launch that fills them all begins when those before it have ended; of smaller ones
 * as many go side by side as fit.
 */
#include "device/timeline.h"

#include <math.h>
#include <pthread.h>

enum kind { LAUNCH, COPY, RECORD, BEHIND, WAIT_STREAM, WAIT_ALL, WAIT_MARK };
enum { RUNNING = 64, STREAMS = 256 };
enum host {
#define HOST(id, us, source) HOST_##id,
#include "device/transfer.def"
    HOSTS
};
static const double host_us[HOSTS] = {
#define HOST(id, us, source) us,
#include "device/transfer.def"
};
enum of { LINK, MEMORY };
enum engine { IN, OUT, WITHIN, ENGINES };
static const struct {
    double us, share;
    enum of of;
    enum engine engine;
} transfers[MG_TRANSFERS] = {
#define TRANSFER(id, us, share, of, engine, source) {us, share, of, engine},
#include "device/transfer.def"
};

struct mg_timeline_item {
    struct mg_timeline_item *next;
    enum kind kind;
    struct mg_order order;
    struct mg_mark *mark;
    double share, seconds, idle;
    enum mg_transfer what;
    bool known, waits, gone; /* gone: from the line, and still under way */
};
struct mg_timeline {
    pthread_mutex_t lock;
    const struct mg_arch *arch;
    atomic_bool begun;
    struct mg_timeline_item *first, **last;
    double host, legacy, blocking, latest; /* the clock; ends of the default stream, of blocking ones, of all */
    MG_VEC(struct ending {
        uint64_t stream;
        double end;
    })
    streams;
    size_t many; /* streams; where there are more, those that nobody waits for any more are forgotten */
    double engine[ENGINES];
    struct {
        double begin, end, share;
    } running[RUNNING];
    unsigned at;
};

struct mg_timeline *mg__timeline_create(const struct mg_arch *arch)
{
    struct mg_timeline *l = calloc(1, sizeof(*l));
    if (!l)
        return NULL;
    l->arch = arch;
    l->last = &l->first;
    pthread_mutex_init(&l->lock, NULL);
    return l;
}

static void drop_first(struct mg_timeline *l)
{
    struct mg_timeline_item *i = l->first;
    l->first = i->next;
    if (!i->next)
        l->last = &l->first;
    if (i->mark)
        mg__mark_release(i->mark);
    i->gone = true;
    if (i->known)
        free(i);
}

void mg__timeline_destroy(struct mg_timeline *l)
{
    if (!l)
        return;
    while (l->first)
        drop_first(l);
    mg__vec_free(&l->streams);
    pthread_mutex_destroy(&l->lock);
    free(l);
}

/* ---- where an item goes ---- */
/* The host is past the end of what they did: whatever they are given begins later. A program may make any number of
 * streams, one after the other. */
static void forget_streams(struct mg_timeline *l)
{
    size_t left = 0;
    for (size_t i = 0; i < l->streams.count; i++)
        if (l->streams.at[i].end + host_us[HOST_GAP] * 1e-6 > l->host)
            l->streams.at[left++] = l->streams.at[i];
    l->streams.count = left;
    l->many = 2 * left + STREAMS;
}

static double *stream_end(struct mg_timeline *l, uint64_t stream)
{
    static const struct ending none;
    struct ending e = none;
    for (size_t i = 0; i < l->streams.count; i++)
        if (l->streams.at[i].stream == stream)
            return &l->streams.at[i].end;
    e.stream = stream;
    if (l->streams.count >= l->many)
        forget_streams(l);
    return mg__vec_push(&l->streams, e) ? &l->streams.at[l->streams.count - 1].end : &l->latest;
}

/* What the order puts before it has ended by then. */
static double ready(struct mg_timeline *l, const struct mg_order *o)
{
    double at = *stream_end(l, o->stream);
    if (!o->stream)
        at = MG_MAX(at, l->blocking);
    else if (o->blocking)
        at = MG_MAX(at, l->legacy);
    return at;
}

static void ends(struct mg_timeline *l, const struct mg_order *o, double at)
{
    double *end = stream_end(l, o->stream);
    *end = MG_MAX(*end, at);
    if (!o->stream)
        l->legacy = MG_MAX(l->legacy, at);
    if (o->blocking)
        l->blocking = MG_MAX(l->blocking, at);
    l->latest = MG_MAX(l->latest, at);
}

/* The first time from `at` on at which the launch's share is free for so long. */
static double place(struct mg_timeline *l, double at, double share, double seconds)
{
    for (;;) {
        double taken = 0, next = INFINITY;
        for (unsigned i = 0; i < RUNNING; i++)
            if (l->running[i].end > at && l->running[i].begin < at + seconds) {
                taken += l->running[i].share;
                next = MG_MIN(next, l->running[i].end);
            }
        if (next == INFINITY || taken + share <= 1.0001)
            break;
        at = next;
    }
    l->running[l->at].begin = at;
    l->running[l->at].end = at + seconds;
    l->running[l->at].share = share;
    l->at = (l->at + 1) % RUNNING;
    return at;
}

static double passes(struct mg_timeline *l, enum host what)
{
    return l->host += host_us[what] * 1e-6;
}

static double copy_seconds(const struct mg_timeline *l, const struct mg_timeline_item *i, uint64_t bytes)
{
    const struct mg_board *b = l->arch->board;
    double rate = transfers[i->what].of == LINK ? mg_board_link_peak(b) : 0;
    rate = rate > 0 ? rate : mg_board_memory_peak(b);
    return transfers[i->what].us * 1e-6 + (double)bytes / (rate * transfers[i->what].share);
}

static void put_launch(struct mg_timeline *l, struct mg_timeline_item *i)
{
    double given = passes(l, HOST_LAUNCH_CALL), before = ready(l, &i->order);
    double at = MG_MAX(given, before > 0 ? before + host_us[HOST_GAP] * 1e-6 : 0);
    at = place(l, at, i->share, i->seconds + i->idle);
    ends(l, &i->order, at + i->seconds + i->idle);
}

static void put_copy(struct mg_timeline *l, struct mg_timeline_item *i)
{
    double at = MG_MAX(passes(l, HOST_COPY_CALL), MG_MAX(ready(l, &i->order), l->engine[transfers[i->what].engine]));
    l->engine[transfers[i->what].engine] = at + i->seconds;
    ends(l, &i->order, at + i->seconds);
    if (i->waits)
        l->host = MG_MAX(l->host, at + i->seconds + host_us[HOST_RETURN] * 1e-6);
}

static void wait_until(struct mg_timeline *l, double at)
{
    if (at > l->host)
        l->host = at + host_us[HOST_RETURN] * 1e-6;
}

static void put(struct mg_timeline *l, struct mg_timeline_item *i)
{
    switch (i->kind) {
    case LAUNCH:
        put_launch(l, i);
        break;
    case COPY:
        put_copy(l, i);
        break;
    case RECORD:
        i->mark->modelled = MG_MAX(passes(l, HOST_RECORD_CALL), ready(l, &i->order));
        i->mark->placed = true;
        ends(l, &i->order, i->mark->modelled);
        break;
    case BEHIND:
        ends(l, &i->order, i->mark->modelled);
        break;
    case WAIT_STREAM:
        wait_until(l, i->order.stream ? *stream_end(l, i->order.stream) : MG_MAX(l->legacy, l->blocking));
        break;
    case WAIT_ALL:
        wait_until(l, l->latest);
        break;
    case WAIT_MARK:
        wait_until(l, i->mark->modelled);
        break;
    }
}

/* As far as times are known. */
static void go_on(struct mg_timeline *l)
{
    while (l->first && l->first->known) {
        put(l, l->first);
        drop_first(l);
    }
}

/* ---- what is given ---- */
static struct mg_timeline_item *add(struct mg_timeline *l, enum kind kind, const struct mg_order *order)
{
    struct mg_timeline_item *i = calloc(1, sizeof(*i));
    if (!i)
        return NULL;
    i->kind = kind;
    i->known = kind != LAUNCH;
    if (order)
        i->order = *order;
    *l->last = i;
    l->last = &i->next;
    return i;
}

bool mg__timeline_is_on(struct mg_timeline *l)
{
    return l && atomic_load_explicit(&l->begun, memory_order_acquire);
}

static void give(struct mg_timeline *l, enum kind kind, const struct mg_order *order, struct mg_mark *mark)
{
    if (!mg__timeline_is_on(l))
        return;
    pthread_mutex_lock(&l->lock);
    struct mg_timeline_item *i = add(l, kind, order);
    if (i && mark)
        i->mark = mg__mark_keep(mark);
    go_on(l);
    pthread_mutex_unlock(&l->lock);
}

struct mg_timeline_item *mg__timeline_launch(struct mg_timeline *l, struct mg_order order, double share)
{
    if (!mg__timeline_is_on(l))
        return NULL;
    pthread_mutex_lock(&l->lock);
    struct mg_timeline_item *i = add(l, LAUNCH, &order);
    if (i)
        i->share = share;
    pthread_mutex_unlock(&l->lock);
    return i;
}

void mg__timeline_ran(struct mg_timeline *l, struct mg_timeline_item *i, double seconds, double idle)
{
    if (!i)
        return;
    pthread_mutex_lock(&l->lock);
    i->known = true;
    i->seconds = seconds;
    i->idle = idle;
    if (i->gone)
        free(i);
    go_on(l);
    pthread_mutex_unlock(&l->lock);
}

void mg__timeline_copy(struct mg_timeline *l, struct mg_order order, enum mg_transfer what, uint64_t bytes, bool waits)
{
    if (!mg__timeline_is_on(l))
        return;
    pthread_mutex_lock(&l->lock);
    struct mg_timeline_item *i = add(l, COPY, &order);
    if (i) {
        i->what = what;
        i->waits = waits;
        i->seconds = copy_seconds(l, i, bytes);
    }
    go_on(l);
    pthread_mutex_unlock(&l->lock);
}

void mg__timeline_record(struct mg_timeline *l, struct mg_order order, struct mg_mark *mark)
{
    if (l && mark->timed)
        atomic_store_explicit(&l->begun, true, memory_order_release);
    give(l, RECORD, &order, mark);
}

void mg__timeline_behind(struct mg_timeline *l, struct mg_order order, struct mg_mark *mark)
{
    give(l, BEHIND, &order, mark);
}

void mg__timeline_wait(struct mg_timeline *l, const struct mg_order *order)
{
    give(l, order ? WAIT_STREAM : WAIT_ALL, order, NULL);
}

void mg__timeline_wait_mark(struct mg_timeline *l, struct mg_mark *mark)
{
    give(l, WAIT_MARK, NULL, mark);
}

bool mg__timeline_between(struct mg_timeline *l, const struct mg_mark *from, const struct mg_mark *to, double *seconds)
{
    if (!mg__timeline_is_on(l))
        return false;
    pthread_mutex_lock(&l->lock);
    while (l->first &&
           !(from->placed && to->placed)) { /* a launch in front goes on for ever: as if it were not there */
        put(l, l->first);
        drop_first(l);
    }
    bool known = from->placed && to->placed;
    *seconds = known ? to->modelled - from->modelled : 0;
    pthread_mutex_unlock(&l->lock);
    return known;
}
