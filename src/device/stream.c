/* stream.c - streams and events as objects: what they were made with, and which of them there are. What they order is
 * queue.c's.
 */
#include "device/queue.h"

enum { BUCKETS = 64, FIRST_ID = 7 /* the default stream's on an H100 */ };
struct mg_streams {
    pthread_mutex_t lock;
    uint64_t next_id;
    struct mg_stream *streams[BUCKETS];
    struct mg_event *events[BUCKETS];
};

static unsigned bucket(const void *handle)
{
    return (unsigned)(mg__hash(&handle, sizeof(handle)) % BUCKETS);
}

enum mg_status mg__streams_create(struct mg_device *d)
{
    d->streams = calloc(1, sizeof(*d->streams));
    if (!d->streams)
        return MG_ERR_NOMEM;
    d->streams->next_id = FIRST_ID + ((uint64_t)d->options.number << 32); /* ids are the process's */
    pthread_mutex_init(&d->streams->lock, NULL);
    return MG_OK;
}

void mg__streams_reset(struct mg_device *d)
{
    struct mg_streams *all = d->streams;
    pthread_mutex_lock(&all->lock);
    for (unsigned i = 0; i < BUCKETS; i++) {
        while (all->streams[i]) {
            struct mg_stream *s = all->streams[i];
            all->streams[i] = s->next;
            free(s);
        }
        while (all->events[i]) {
            struct mg_event *e = all->events[i];
            all->events[i] = e->next;
            if (e->mark)
                mg__mark_release(e->mark);
            free(e);
        }
    }
    pthread_mutex_unlock(&all->lock);
}

void mg__streams_destroy(struct mg_device *d)
{
    if (!d->streams)
        return;
    mg__streams_reset(d);
    pthread_mutex_destroy(&d->streams->lock);
    free(d->streams);
}

/* ---- streams ---- */
uint64_t mg__stream_number(struct mg_device *d)
{
    pthread_mutex_lock(&d->streams->lock);
    uint64_t id = ++d->streams->next_id;
    pthread_mutex_unlock(&d->streams->lock);
    return id;
}

enum mg_status mg__stream_make(struct mg_device *d, bool blocking, int priority, struct mg_stream **stream)
{
    struct mg_stream *s = *stream = calloc(1, sizeof(*s));
    if (!s)
        return MG_ERR_NOMEM;
    s->device = d;
    s->order = (struct mg_order){mg__stream_number(d), blocking, priority};
    pthread_mutex_lock(&d->streams->lock);
    struct mg_stream **at = &d->streams->streams[bucket(s)];
    s->next = *at;
    *at = s;
    pthread_mutex_unlock(&d->streams->lock);
    return MG_OK;
}

static struct mg_stream **stream_at(struct mg_device *d, const void *handle)
{
    struct mg_stream **at = &d->streams->streams[bucket(handle)];
    while (*at && *at != handle)
        at = &(*at)->next;
    return at;
}

bool mg__stream_find(struct mg_device *d, const void *handle, struct mg_stream *found)
{
    pthread_mutex_lock(&d->streams->lock);
    const struct mg_stream *s = *stream_at(d, handle);
    if (s)
        *found = *s;
    pthread_mutex_unlock(&d->streams->lock);
    return s;
}

bool mg__stream_drop(struct mg_device *d, const void *handle)
{
    pthread_mutex_lock(&d->streams->lock);
    struct mg_stream **at = stream_at(d, handle), *s = *at;
    if (s)
        *at = s->next;
    pthread_mutex_unlock(&d->streams->lock);
    free(s);
    return s;
}

/* ---- events ---- */
struct mg_mark *mg__mark_make(void)
{
    struct mg_mark *m = calloc(1, sizeof(*m));
    if (m)
        atomic_store(&m->uses, 1);
    return m;
}

struct mg_mark *mg__mark_keep(struct mg_mark *mark)
{
    atomic_fetch_add(&mark->uses, 1);
    return mark;
}

void mg__mark_release(struct mg_mark *mark)
{
    if (atomic_fetch_sub(&mark->uses, 1) == 1)
        free(mark);
}

void mg__mark_set(struct mg_mark *mark)
{
    mark->time = mg__time_ns();
    atomic_store(&mark->over, true);
}

enum mg_status mg__event_make(struct mg_device *d, unsigned flags, bool timed, struct mg_event **event)
{
    struct mg_event *e = *event = calloc(1, sizeof(*e));
    if (!e)
        return MG_ERR_NOMEM;
    e->device = d;
    e->flags = flags;
    e->timed = timed;
    pthread_mutex_lock(&d->streams->lock);
    struct mg_event **at = &d->streams->events[bucket(e)];
    e->next = *at;
    *at = e;
    pthread_mutex_unlock(&d->streams->lock);
    return MG_OK;
}

static struct mg_event **event_at(struct mg_device *d, const void *handle)
{
    struct mg_event **at = &d->streams->events[bucket(handle)];
    while (*at && *at != handle)
        at = &(*at)->next;
    return at;
}

bool mg__event_find(struct mg_device *d, const void *handle, struct mg_event *found)
{
    pthread_mutex_lock(&d->streams->lock);
    const struct mg_event *e = *event_at(d, handle);
    if (e)
        *found = *e;
    if (e && e->mark)
        mg__mark_keep(e->mark);
    pthread_mutex_unlock(&d->streams->lock);
    return e;
}

bool mg__event_drop(struct mg_device *d, const void *handle)
{
    pthread_mutex_lock(&d->streams->lock);
    struct mg_event **at = event_at(d, handle), *e = *at;
    if (e)
        *at = e->next;
    pthread_mutex_unlock(&d->streams->lock);
    if (e && e->mark)
        mg__mark_release(e->mark);
    free(e);
    return e;
}

enum mg_status mg__event_record(struct mg_device *d, const void *handle, struct mg_order order)
{
    struct mg_mark *mark = mg__mark_make(), *before = NULL;
    if (!mark)
        return MG_ERR_NOMEM;
    pthread_mutex_lock(&d->streams->lock);
    struct mg_event *e = *event_at(d, handle);
    if (e) {
        mark->timed = e->timed;
        before = e->mark;
        e->mark = mg__mark_keep(mark);
    }
    pthread_mutex_unlock(&d->streams->lock);
    enum mg_status status = e ? mg__queue_record(d, order, mark) : MG_ERR_NOT_FOUND;
    if (before)
        mg__mark_release(before);
    mg__mark_release(mark);
    return status;
}
