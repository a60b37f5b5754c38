/* queue.c - the queue of a device: what is next, turns, waiting, the threads in the background. queue.h says how.
 *
 * One thread at a time gives turns (`busy`), and holds no lock meanwhile; others that want to wait for the end of the
 * turn. A launch that rested is given its next turn when something has changed since (another one moved or ended) or
 * after a pause, which doubles while nothing comes of it; threads that wait give turns without pauses.
 */
#define _GNU_SOURCE /* pthread_setname_np */
#include "device/queue.h"
#include "device/timeline.h"

#include <assert.h>
#include <errno.h>
#include <signal.h>
#include <time.h>

enum { MOST = 1024 }; /* works in the list; then whoever gives more waits */
/* Nanoseconds. The pauses of a launch that rests: the first, for the host may be about to give more work, the least and
 * the most of those that follow. What no turn tells of is looked for so often: events of other devices, pauses that
 * end. A host function is waited for so long, and then is one that takes its time. */
enum { FIRST_PAUSE = 10000000, PAUSE = 250000, MOST_PAUSE = 8000000, LOOK = 500000, GRACE = 50000000 };
enum { CALM = 8 }; /* turns in which nothing changed, before a launch is asked whether it ever will */
enum { VAIN = 16 }; /* turns of each launch, of which nothing comes, before it is abandoned at the end */
enum who { GIVER, WAITER, BACKGROUND };
enum { THREAD_BACKGROUND, THREAD_HOST };

/* ---- order ---- */
static bool conflicts(const struct mg_order *a, const struct mg_order *b)
{
    return a->stream == b->stream || (!a->stream && b->blocking) || (!b->stream && a->blocking);
}

/* Nothing in front of it holds it back. */
static bool is_ready(struct mg_queue *q, struct mg_work *w)
{
    if (w->behind || (w->kind == MG_WORK_WAIT && !atomic_load(&w->mark->over)))
        return false;
    if (w->kind == MG_WORK_UNTIL && !q->broken && !w->holds(w->arg))
        return false;
    for (struct mg_work *e = q->first; e != w; e = e->next)
        if (e->state != MG_WORK_OVER && conflicts(&w->order, &e->order)) {
            w->behind = e;
            return false;
        }
    return true;
}

/* Who has waited for longest, and of those that have not had a turn the first by priority. NULL: none can go on. */
static struct mg_work *choose(struct mg_queue *q, enum who who)
{
    struct mg_work *best = NULL;
    for (struct mg_work *w = q->first; w; w = w->next) {
        bool may = w->state == MG_WORK_GIVEN || w->state == MG_WORK_RESTS;
        if (!may || w->kind == MG_WORK_HOST || (who == GIVER && w->turn))
            continue;
        if (who == BACKGROUND && w->turn && w->seen == q->changes && mg__time_ns() < w->until)
            continue;
        bool first =
            !best || w->turn < best->turn || (w->turn == best->turn && w->order.priority < best->order.priority);
        if (first && is_ready(q, w))
            best = w;
    }
    return best;
}

/* ---- waiting ---- */
static void wake(struct mg_queue *q)
{
    if (q->sleepers)
        pthread_cond_broadcast(&q->moved);
}

static void sleep_until(struct mg_queue *q, uint64_t ns)
{
    struct timespec end;
    clock_gettime(CLOCK_REALTIME, &end);
    ns += (uint64_t)end.tv_nsec;
    end.tv_sec += (time_t)(ns / 1000000000);
    end.tv_nsec = (long)(ns % 1000000000);
    q->sleepers++;
    pthread_cond_timedwait(&q->moved, &q->lock, &end);
    q->sleepers--;
}

static void sleep_on(struct mg_queue *q)
{
    q->sleepers++;
    pthread_cond_wait(&q->moved, &q->lock);
    q->sleepers--;
}

/* Until nobody gives a turn: then this thread may. */
static void sleep_busy(struct mg_queue *q)
{
    q->wanting++;
    sleep_on(q);
    q->wanting--;
}

/* ---- the list ---- */
static void unlink_work(struct mg_queue *q, struct mg_work *w)
{
    struct mg_work **at = &q->first;
    while (*at != w)
        at = &(*at)->next;
    *at = w->next;
    if (!w->next)
        q->last = at;
    q->count--;
    if (w->kept)
        w->gone = true;
    else
        free(w);
}

/* The work's turns are over. A launch stays in the list until its record is written. */
static void finish(struct mg_queue *q, struct mg_work *w)
{
    w->state = MG_WORK_OVER;
    atomic_fetch_sub(&q->pending, 1);
    q->changes++;
    for (struct mg_work *e = w->next; e; e = e->next)
        if (e->behind == w)
            e->behind = NULL;
    if (w->mark)
        mg__mark_release(w->mark);
    if (w->kind != MG_WORK_LAUNCH)
        unlink_work(q, w);
}

/* Launches that are over are ended in their order. */
static void end_launches(struct mg_queue *q)
{
    struct mg_work *w = q->first;
    while (w) {
        bool over = w->state == MG_WORK_OVER, launch = w->kind == MG_WORK_LAUNCH;
        if (launch && !over)
            break;
        if (launch && over) {
            pthread_mutex_unlock(&q->lock);
            mg__launch_end(w->launch);
            pthread_mutex_lock(&q->lock);
        }
        struct mg_work *next = w->next;
        if (launch && over)
            unlink_work(q, w);
        w = next;
    }
}

/* ---- turns ---- */
static bool launch_turn(struct mg_queue *q, struct mg_work *w, bool *moved)
{
    const struct mg_device *d = q->device;
    struct mg_device_outcome outcome, *out = w->out ? w->out : &outcome;
    if (q->broken && (!w->launch->run || !mg__simt_begun(w->launch->run)))
        return true;
    if (q->broken)
        mg__simt_abandon(w->launch->run);
    if (!mg__launch_turn(w->launch, q, moved, out))
        return false;
    if (!w->out && d->options.ended && !q->broken)
        d->options.ended(d->skin, w->launch->kernel, out);
    return true;
}

static bool do_turn(struct mg_queue *q, struct mg_work *w, bool *moved)
{
    *moved = true;
    if (w->kind == MG_WORK_LAUNCH)
        return launch_turn(q, w, moved);
    if (w->kind == MG_WORK_CALL)
        w->call(w->arg);
    if (w->kind == MG_WORK_RECORD)
        mg__mark_set(w->mark);
    if (w->kind == MG_WORK_UNTIL)
        free(w->arg);
    return true;
}

/* Under the lock, which is open meanwhile. */
static void give_turn(struct mg_queue *q, struct mg_work *w)
{
    bool moved, again = w->turn, calm = w->seen == q->changes;
    assert(!q->busy);
    q->busy = true;
    w->state = MG_WORK_RUNS;
    pthread_mutex_unlock(&q->lock);
    bool over = do_turn(q, w, &moved), checked = w->kind == MG_WORK_LAUNCH && q->device->check;
    if (over && checked) /* what it has found of memory is known before anyone can learn that it is over */
        mg__launch_end(w->launch);
    pthread_mutex_lock(&q->lock);
    w->turn = ++q->turns;
    if (over) {
        finish(q, w);
        if (checked)
            unlink_work(q, w);
        else
            end_launches(q);
    } else {
        w->state = MG_WORK_RESTS;
        q->changes += moved;
        w->calm = calm && !moved ? w->calm + 1 : 0;
        w->seen = q->changes;
        w->pause = !again ? FIRST_PAUSE : moved ? 0 : MG_MIN(MG_MAX(2 * w->pause, PAUSE), MOST_PAUSE);
        w->until = mg__time_ns() + w->pause;
    }
    q->busy = false;
    wake(q);
}

/* Whether nothing that is left can ever go on: launches that only go round, and what waits for them, while the one
 * thread of the program waits, too. */
static bool goes_nowhere(struct mg_queue *q)
{
    bool (*alone)(void) = q->device->options.alone;
    bool any = false;
    for (struct mg_work *w = q->first; w; w = w->next) {
        bool spins = w->kind == MG_WORK_LAUNCH && w->state == MG_WORK_RESTS && w->calm >= CALM &&
                     w->seen == q->changes && w->launch->run && mg__simt_spins(w->launch->run);
        if (w->state == MG_WORK_OVER || spins)
            any |= spins;
        else if (w->state != MG_WORK_GIVEN || is_ready(q, w))
            return false;
    }
    return any && alone && alone();
}

static void stop_all(struct mg_queue *q)
{
    for (struct mg_work *w = q->first; w; w = w->next)
        if (w->kind == MG_WORK_LAUNCH && w->state == MG_WORK_RESTS && w->launch->run)
            mg__simt_stop(w->launch->run);
}

/* Gives turns until `done`. Others that want to give one come between. */
static void wait_for(struct mg_queue *q, bool (*done)(struct mg_queue *q, const void *arg), const void *arg)
{
    while (!done(q, arg)) {
        if (q->busy) {
            sleep_busy(q);
            continue;
        }
        struct mg_work *w = choose(q, WAITER);
        if (!w) {
            sleep_until(q, LOOK);
            continue;
        }
        give_turn(q, w);
        if (goes_nowhere(q))
            stop_all(q);
        for (uint64_t turns = q->turns; q->wanting && q->turns == turns;)
            sleep_until(q, LOOK);
    }
    wake(q);
}

/* ---- threads ---- */
static void *background(void *arg)
{
    struct mg_queue *q = arg;
    pthread_mutex_lock(&q->lock);
    while (!q->stop) {
        struct mg_work *w = q->busy || q->wanting ? NULL : choose(q, BACKGROUND);
        if (w)
            give_turn(q, w);
        else if (atomic_load(&q->pending) && !q->busy && !q->wanting)
            sleep_until(q, LOOK);
        else
            sleep_on(q);
    }
    pthread_mutex_unlock(&q->lock);
    return NULL;
}

static void *host_functions(void *arg)
{
    struct mg_queue *q = arg;
    pthread_mutex_lock(&q->lock);
    while (!q->stop) {
        struct mg_work *w = q->first;
        while (w && (w->kind != MG_WORK_HOST || w->state != MG_WORK_GIVEN || !is_ready(q, w)))
            w = w->next;
        if (!w) {
            sleep_on(q);
            continue;
        }
        w->state = MG_WORK_RUNS;
        pthread_mutex_unlock(&q->lock);
        w->call(w->arg);
        pthread_mutex_lock(&q->lock);
        finish(q, w);
        wake(q);
    }
    pthread_mutex_unlock(&q->lock);
    return NULL;
}

/* False: there are no more threads to be had. */
static bool start(struct mg_queue *q, unsigned which)
{
    static void *(*const mains[])(void *) = {background, host_functions};
    sigset_t all, before;
    if (q->started[which])
        return true;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before); /* signals are the program's */
    q->started[which] = pthread_create(&q->threads[which], NULL, mains[which], q) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (q->started[which] && which == THREAD_BACKGROUND) /* the other one is the program's */
        (void)pthread_setname_np(q->threads[which], MG_POOL_THREAD_NAME);
    return q->started[which];
}

static bool on_host_thread(const struct mg_queue *q)
{
    return q->started[THREAD_HOST] && pthread_equal(pthread_self(), q->threads[THREAD_HOST]);
}

/* ---- giving ---- */
static bool has_room(struct mg_queue *q, const void *arg)
{
    (void)arg;
    return q->count < MOST;
}

static void append(struct mg_queue *q, struct mg_work *w)
{
    *q->last = w;
    q->last = &w->next;
    q->count++;
    atomic_fetch_add(&q->pending, 1);
}

static bool is_over(struct mg_queue *q, const void *arg)
{
    const struct mg_work *w = arg;
    (void)q;
    return w->state == MG_WORK_OVER;
}

/* Runs what is new and can go on. True: the work is over; `stay`: it always is. */
static bool give(struct mg_queue *q, struct mg_work *w, bool stay)
{
    pthread_mutex_lock(&q->lock);
    if (!on_host_thread(q))
        wait_for(q, has_room, NULL);
    w->kept = true;
    append(q, w);
    while (w->state != MG_WORK_OVER) {
        struct mg_work *next = q->busy ? NULL : choose(q, GIVER);
        if (next)
            give_turn(q, next);
        else if (q->busy)
            sleep_busy(q);
        else
            break;
    }
    if (stay)
        wait_for(q, is_over, w);
    bool over = w->state == MG_WORK_OVER;
    if (!over)
        start(q, THREAD_BACKGROUND);
    wake(q);
    w->kept = false;
    w->out = NULL;
    if (w->gone)
        free(w);
    pthread_mutex_unlock(&q->lock);
    return over;
}

static struct mg_work *make_work(enum mg_work_kind kind, struct mg_order order)
{
    struct mg_work *w = calloc(1, sizeof(*w));
    if (w) {
        w->kind = kind;
        w->order = order;
    }
    return w;
}

enum mg_status mg__queue_launch(struct mg_device_kernel *k, const struct mg_device_launch *l, bool stay,
                                struct mg_device_outcome *out)
{
    struct mg_work *w = make_work(MG_WORK_LAUNCH, l->order);
    memset(out, 0, sizeof(*out));
    if (!w)
        return out->status = mg__diag_set(&out->diag, MG_ERR_NOMEM, "no host memory for a launch");
    if (mg__launch_take(k, l, &w->launch, out)) {
        free(w);
        return out->status;
    }
    w->out = out;
    out->pending = !give(k->module->device->queue, w, stay);
    return out->status;
}

enum mg_status mg__queue_call(struct mg_device *d, struct mg_order order, void (*call)(void *arg), void *arg)
{
    struct mg_work *w = make_work(MG_WORK_CALL, order);
    if (!w)
        return MG_ERR_NOMEM;
    w->call = call;
    w->arg = arg;
    give(d->queue, w, false);
    return MG_OK;
}

enum mg_status mg__queue_until(struct mg_device *d, struct mg_order order, bool (*holds)(void *arg), void *arg)
{
    struct mg_work *w = make_work(MG_WORK_UNTIL, order);
    if (!w)
        return MG_ERR_NOMEM;
    w->holds = holds;
    w->arg = arg;
    give(d->queue, w, false);
    return MG_OK;
}

/* A mark that is over already needs no work. */
static enum mg_status give_mark(struct mg_device *d, struct mg_order order, struct mg_mark *mark,
                                enum mg_work_kind kind)
{
    struct mg_work *w = make_work(kind, order);
    if (!w)
        return MG_ERR_NOMEM;
    w->mark = mg__mark_keep(mark);
    give(d->queue, w, false);
    return MG_OK;
}

enum mg_status mg__queue_record(struct mg_device *d, struct mg_order order, struct mg_mark *mark)
{
    mg__timeline_record(d->timeline, order, mark);
    if (!mg__queue_clear(d, order))
        return give_mark(d, order, mark, MG_WORK_RECORD);
    mg__mark_set(mark);
    return MG_OK;
}

enum mg_status mg__queue_order(struct mg_device *d, struct mg_order order, struct mg_mark *mark)
{
    mg__timeline_behind(d->timeline, order, mark);
    return atomic_load(&mark->over) ? MG_OK : give_mark(d, order, mark, MG_WORK_WAIT);
}

enum mg_status mg__queue_host(struct mg_device *d, struct mg_order order, void (*function)(void *arg), void *arg)
{
    struct mg_queue *q = d->queue;
    struct mg_work *w = make_work(MG_WORK_HOST, order);
    if (!w)
        return MG_ERR_NOMEM;
    w->call = function;
    w->arg = arg;
    w->kept = true;
    pthread_mutex_lock(&q->lock);
    bool good = start(q, THREAD_HOST);
    if (good)
        append(q, w);
    wake(q);
    for (uint64_t now = mg__time_ns(), end = now + GRACE; good && w->state != MG_WORK_OVER && now < end;) {
        if (!is_ready(q, w) || on_host_thread(q))
            break;
        sleep_until(q, end - now);
        now = mg__time_ns();
    }
    bool waits = good && w->state != MG_WORK_OVER; /* for what rests: that goes on in the background */
    w->kept = false;
    if (waits)
        start(q, THREAD_BACKGROUND);
    if (!good || w->gone)
        free(w);
    pthread_mutex_unlock(&q->lock);
    return good ? MG_OK : MG_ERR_NOMEM;
}

/* ---- asking and waiting ---- */
bool mg__queue_clear(struct mg_device *d, struct mg_order order)
{
    struct mg_queue *q = d->queue;
    bool clear = true;
    if (!atomic_load(&q->pending))
        return true;
    pthread_mutex_lock(&q->lock);
    for (const struct mg_work *w = q->first; w && clear; w = w->next)
        clear = w->state == MG_WORK_OVER || !conflicts(&order, &w->order);
    pthread_mutex_unlock(&q->lock);
    return clear;
}

/* A stream's own work; that of the legacy default stream is all of the streams that wait for it. */
static bool stream_over(struct mg_queue *q, const void *arg)
{
    const struct mg_order *o = arg;
    for (const struct mg_work *w = q->first; w; w = w->next)
        if (w->state != MG_WORK_OVER && (w->order.stream == o->stream || (!o->stream && w->order.blocking)))
            return false;
    return true;
}

static bool all_over(struct mg_queue *q, const void *arg)
{
    (void)arg;
    return !atomic_load(&q->pending) && !q->busy;
}

static bool mark_over(struct mg_queue *q, const void *arg)
{
    const struct mg_mark *mark = arg;
    (void)q;
    return atomic_load(&mark->over);
}

static bool wait_unless_idle(struct mg_queue *q, bool (*done)(struct mg_queue *q, const void *arg), const void *arg)
{
    pthread_mutex_lock(&q->lock);
    bool may = !on_host_thread(q) || done(q, arg);
    if (may)
        wait_for(q, done, arg);
    pthread_mutex_unlock(&q->lock);
    return may;
}

bool mg__queue_idle(struct mg_device *d)
{
    return !atomic_load(&d->queue->pending);
}

bool mg__queue_over(struct mg_device *d, struct mg_order order)
{
    struct mg_queue *q = d->queue;
    if (!atomic_load(&q->pending))
        return true;
    pthread_mutex_lock(&q->lock);
    bool over = stream_over(q, &order);
    pthread_mutex_unlock(&q->lock);
    return over;
}

bool mg__queue_wait(struct mg_device *d, struct mg_order order)
{
    mg__timeline_wait(d->timeline, &order);
    return !atomic_load(&d->queue->pending) || wait_unless_idle(d->queue, stream_over, &order);
}

bool mg__queue_wait_all(struct mg_device *d)
{
    mg__timeline_wait(d->timeline, NULL);
    return !atomic_load(&d->queue->pending) || wait_unless_idle(d->queue, all_over, NULL);
}

bool mg__queue_wait_mark(struct mg_device *d, struct mg_mark *mark)
{
    mg__timeline_wait_mark(d->timeline, mark);
    return atomic_load(&mark->over) || wait_unless_idle(d->queue, mark_over, mark);
}

/* ---- the end ---- */
void mg__queue_break(struct mg_device *d)
{
    pthread_mutex_lock(&d->queue->lock);
    d->queue->broken = true;
    pthread_mutex_unlock(&d->queue->lock);
}

void mg__queue_finish(struct mg_device *d)
{
    struct mg_queue *q = d->queue;
    unsigned vain = 0, still = 0;
    pthread_mutex_lock(&q->lock);
    while (atomic_load(&q->pending) && still < 1000000000 / LOOK) {
        struct mg_work *w = q->busy ? NULL : choose(q, WAITER);
        if (!w) {
            still += !q->busy; /* a host function, which may never end */
            sleep_until(q, LOOK);
            continue;
        }
        uint64_t changes = q->changes;
        give_turn(q, w);
        vain = q->changes == changes ? vain + 1 : 0;
        still = 0;
        for (w = q->first; w && vain > VAIN * q->count; w = w->next)
            if (w->kind == MG_WORK_LAUNCH && w->state == MG_WORK_RESTS && w->launch->run)
                mg__simt_abandon(w->launch->run);
    }
    while (q->busy)
        sleep_until(q, LOOK);
    pthread_mutex_unlock(&q->lock);
}

enum mg_status mg__queue_create(struct mg_device *d)
{
    struct mg_queue *q = d->queue = calloc(1, sizeof(*q));
    if (!q)
        return MG_ERR_NOMEM;
    q->device = d;
    q->last = &q->first;
    pthread_mutex_init(&q->lock, NULL);
    pthread_cond_init(&q->moved, NULL);
    return MG_OK;
}

void mg__queue_destroy(struct mg_queue *q)
{
    bool hangs = false; /* in a host function: its thread cannot be waited for, and keeps the queue */
    if (!q)
        return;
    mg__queue_finish(q->device);
    pthread_mutex_lock(&q->lock);
    for (const struct mg_work *w = q->first; w; w = w->next)
        hangs |= w->kind == MG_WORK_HOST && w->state == MG_WORK_RUNS;
    q->stop = true;
    pthread_cond_broadcast(&q->moved);
    pthread_mutex_unlock(&q->lock);
    for (unsigned i = 0; i < MG_COUNT(q->threads) && !hangs; i++)
        if (q->started[i])
            pthread_join(q->threads[i], NULL);
    if (hangs)
        return;
    while (q->first) {
        struct mg_work *w = q->first;
        q->first = w->next;
        free(w);
    }
    pthread_cond_destroy(&q->moved);
    pthread_mutex_destroy(&q->lock);
    free(q);
}
