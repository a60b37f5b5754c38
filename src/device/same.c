#include "device/same.h"

#include <pthread.h>

enum { MOST = 4096 };

struct mg_sames {
    pthread_mutex_t lock;
    struct mg_arena arena;
    struct mg_strtab entries; /* by facts */
};

struct mg_sames *mg__sames_create(void)
{
    struct mg_sames *all = calloc(1, sizeof(*all));
    if (!all)
        return NULL;
    pthread_mutex_init(&all->lock, NULL);
    mg__arena_init(&all->arena);
    mg__strtab_init(&all->entries, &all->arena);
    return all;
}

void mg__sames_destroy(struct mg_sames *all)
{
    if (!all)
        return;
    mg__arena_free(&all->arena);
    pthread_mutex_destroy(&all->lock);
    free(all);
}

struct mg_same *mg__same_launch(struct mg_sames *all, const void *facts, size_t size, bool *look)
{
    pthread_mutex_lock(&all->lock);
    struct mg_same *s = mg__strtab_get(&all->entries, facts, size);
    if (!s && all->entries.count < MOST) {
        s = mg__arena_alloc(&all->arena, sizeof(*s));
        if (s && !mg__strtab_put(&all->entries, facts, size, s))
            s = NULL;
    }
    const uint64_t times = s ? ++s->times : 1;
    *look = !(times & (times - 1));
    pthread_mutex_unlock(&all->lock);
    return s;
}

double mg__same_took(struct mg_same *same, bool looked, double seconds)
{
    if (same && looked)
        same->seconds = seconds;
    return same ? same->seconds : looked ? seconds : 0;
}
