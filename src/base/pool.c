/* pool.c - a pool of threads that runs one function on several workers at once.
 *
 * Worker 0 is the calling thread, so a pool of n has n-1 threads; they sleep on a condition variable between runs.
 * Whoever waits, the caller for the last thread or a thread for the next run, looks for a few microseconds before it
 * sleeps: waking up takes longer than the differences between workers, and than what comes between small launches.
 * `generation` tells a waking thread that there is new work; `open` that the caller is still at its own share, so
 * that the thread may begin; `inside` counts those that did and have not finished. One run at a time: the pool belongs
 * to one caller. There is no queue and no stealing; the engine shares out its blocks itself, with one atomic counter.
 */
#define _GNU_SOURCE
#include "base/base.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <unistd.h>

#define MOST_WORKERS 1024u
#define LOOK_NS 40000u

struct mg_pool;
struct worker {
    struct mg_pool *pool;
    pthread_t thread;
    unsigned index;
};
struct mg_pool {
    pthread_mutex_t lock;
    pthread_cond_t work, done;
    unsigned workers; /* the calling thread included */
    unsigned started; /* threads that exist: those of threads[1 … started] */
    unsigned wanted;  /* workers of the run in progress */
    bool open;        /* and threads may still begin it */
    atomic_ullong inside, generation;
    bool stop;
    void (*run)(void *arg, unsigned worker);
    void *arg;
    struct worker threads[];
};

static unsigned processors_allowed(void)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof(set), &set) == 0 && CPU_COUNT(&set) > 0)
        return (unsigned)CPU_COUNT(&set);
    long n = sysconf(_SC_NPROCESSORS_ONLN); /* more processors than a cpu_set_t holds */
    return n > 0 ? (unsigned)n : 1;
}

/* Until *at is the value, or is no longer, or for a while. */
static void look(atomic_ullong *at, unsigned long long value, bool until)
{
    for (uint64_t start = mg__time_ns(); (atomic_load_explicit(at, memory_order_acquire) == value) != until;) {
        if (mg__time_ns() - start > LOOK_NS)
            break;
#ifdef __x86_64__
        __builtin_ia32_pause();
#endif
    }
}

static void *worker_main(void *arg)
{
    struct worker *self = arg;
    struct mg_pool *pool = self->pool;
    uint64_t seen = 0;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (!pool->stop && atomic_load(&pool->generation) == seen)
            pthread_cond_wait(&pool->work, &pool->lock);
        if (pool->stop)
            break;
        seen = atomic_load(&pool->generation);
        if (self->index >= pool->wanted || !pool->open)
            continue;
        void (*run)(void *, unsigned) = pool->run;
        void *run_arg = pool->arg;
        atomic_fetch_add(&pool->inside, 1);
        pthread_mutex_unlock(&pool->lock);
        run(run_arg, self->index);
        pthread_mutex_lock(&pool->lock);
        if (atomic_fetch_sub(&pool->inside, 1) == 1)
            pthread_cond_signal(&pool->done);
        pthread_mutex_unlock(&pool->lock);
        look(&pool->generation, seen, false);
        pthread_mutex_lock(&pool->lock);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

enum mg_status mg__pool_create(unsigned workers, struct mg_pool **result)
{
    *result = NULL;
    if (workers == 0)
        workers = processors_allowed();
    workers = MG_MIN(workers, MOST_WORKERS);
    struct mg_pool *pool = calloc(1, sizeof(*pool) + workers * sizeof(pool->threads[0]));
    if (!pool)
        return MG_ERR_NOMEM;
    pool->workers = workers;
    if (pthread_mutex_init(&pool->lock, NULL) != 0)
        goto fail_lock;
    if (pthread_cond_init(&pool->work, NULL) != 0)
        goto fail_work;
    if (pthread_cond_init(&pool->done, NULL) != 0)
        goto fail_done;
    for (unsigned i = 1; i < workers; i++) {
        pool->threads[i].pool = pool;
        pool->threads[i].index = i;
        if (pthread_create(&pool->threads[i].thread, NULL, worker_main, &pool->threads[i]) != 0) {
            mg__pool_destroy(pool);
            return MG_ERR_NOMEM;
        }
        (void)pthread_setname_np(pool->threads[i].thread, MG_POOL_THREAD_NAME);
        pool->started = i;
    }
    *result = pool;
    return MG_OK;

fail_done:
    pthread_cond_destroy(&pool->work);
fail_work:
    pthread_mutex_destroy(&pool->lock);
fail_lock:
    free(pool);
    return MG_ERR_NOMEM;
}

void mg__pool_destroy(struct mg_pool *pool)
{
    if (!pool)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->stop = true;
    pthread_cond_broadcast(&pool->work);
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 1; i <= pool->started; i++)
        pthread_join(pool->threads[i].thread, NULL);
    pthread_cond_destroy(&pool->done);
    pthread_cond_destroy(&pool->work);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

unsigned mg__pool_workers(const struct mg_pool *pool)
{
    return pool->workers;
}

void mg__pool_run(struct mg_pool *pool, unsigned n, void (*run)(void *arg, unsigned worker), void *arg)
{
    n = MG_MIN(n, pool->workers);
    if (n == 0)
        return;
    if (n > 1) {
        pthread_mutex_lock(&pool->lock);
        pool->run = run;
        pool->arg = arg;
        pool->wanted = n;
        pool->open = true;
        atomic_fetch_add(&pool->generation, 1);
        pthread_cond_broadcast(&pool->work);
        pthread_mutex_unlock(&pool->lock);
    }
    run(arg, 0);
    if (n > 1) {
        pthread_mutex_lock(&pool->lock);
        pool->open = false;
        pthread_mutex_unlock(&pool->lock);
        look(&pool->inside, 0, true);
        pthread_mutex_lock(&pool->lock);
        while (atomic_load(&pool->inside))
            pthread_cond_wait(&pool->done, &pool->lock);
        pthread_mutex_unlock(&pool->lock);
    }
}
