/* host.c - the checks as an object, and what the host's calls mean to them. */
#include "check/check_priv.h"

unsigned mg__check_parse(const char *list)
{
    static const struct {
        const char *name;
        unsigned bit;
    } names[] = {{"race", MG_CHECK_RACE},        {"barrier", MG_CHECK_BARRIER}, {"init", MG_CHECK_INIT},
                 {"bounds", MG_CHECK_BOUNDS},    {"launch", MG_CHECK_LAUNCH},   {"leaks", MG_CHECK_LEAKS},
                 {"pedantic", MG_CHECK_PEDANTIC}};
    unsigned bits = 0;
    for (const char *at = list; *at;) {
        size_t n = strcspn(at, ","), k = 0;
        while (k < MG_COUNT(names) && (strlen(names[k].name) != n || memcmp(names[k].name, at, n)))
            k++;
        if (k == MG_COUNT(names))
            return 0;
        bits |= names[k].bit;
        at += n + (at[n] == ',');
    }
    return bits;
}

enum mg_status mg__check_create(unsigned checks, void (*found)(void *arg, const struct mg_report_finding *finding),
                                void *arg, struct mg_check **check)
{
    *check = calloc(1, sizeof(**check));
    if (!*check)
        return MG_ERR_NOMEM;
    (*check)->checks = checks;
    (*check)->found = found;
    (*check)->arg = arg;
    pthread_mutex_init(&(*check)->lock, NULL);
    return MG_OK;
}

void mg__check_destroy(struct mg_check *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->regions.count; i++)
        mg__region_free(c->regions.at[i]);
    mg__region_bury(c);
    mg__copied_ended(c, false);
    mg__heap_free_all(c);
    mg__streams_free(c->streams);
    mg__chain_free(c);
    mg__calls_free(c);
    mg__code_forget(c->kept);
    mg__learnt_free(&c->learnt);
    mg__vec_free(&c->regions);
    mg__vec_free(&c->freed);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

void mg__check_unobserved(struct mg_check *c)
{
    if (!c)
        return;
    pthread_mutex_lock(&c->lock);
    for (size_t i = 0; i < c->regions.count; i++)
        mg__region_mark(c->regions.at[i], 0, c->regions.at[i]->size, true);
    pthread_mutex_unlock(&c->lock);
}

/* ---- memory ----
 * No message has an address in it: addresses differ from run to run, and findings must not. */
void mg__check_allocated(struct mg_check *c, uint64_t address, uint64_t size, enum mg_check_memory kind)
{
    if (!c)
        return;
    pthread_mutex_lock(&c->lock);
    struct region *r = mg__region_add(c, address, size);
    if (r) {
        r->host = kind == MG_CHECK_HOST || kind == MG_CHECK_PINNED;
        r->managed = kind == MG_CHECK_MANAGED || kind == MG_CHECK_MANAGED_VARIABLE;
        r->found = kind == MG_CHECK_MANAGED_VARIABLE;
        r->watched = c->watched && kind != MG_CHECK_DEVICE && kind != MG_CHECK_HOST && mg__streams_of(c);
        r->written = kind == MG_CHECK_DEVICE ? WRITTEN_NONE : WRITTEN_ALL; /* what the host writes there is not seen */
    }
    pthread_mutex_unlock(&c->lock);
}

void mg__check_freed(struct mg_check *c, uint64_t address)
{
    if (!c)
        return;
    pthread_mutex_lock(&c->lock);
    struct region *r = mg__region_find(c, address);
    if (r && r->address == address)
        mg__region_remove(c, r);
    pthread_mutex_unlock(&c->lock);
}

void mg__check_bad_free(struct mg_check *c, const char *call, uint64_t address)
{
    if (!c || !(c->checks & MG_CHECK_BOUNDS))
        return;
    pthread_mutex_lock(&c->lock);
    const struct region *r = mg__region_find(c, address);
    const struct freed *f = r ? NULL : mg__freed_find(c, address);
    if (r && r->address != address)
        mg__find_host(c, KIND_BOUNDS_BAD_FREE, NULL, "",
                      "%s of a pointer that is %llu bytes inside an allocation of %llu bytes", call,
                      (unsigned long long)(address - r->address), (unsigned long long)r->size);
    else if (f)
        mg__find_host(c, KIND_BOUNDS_BAD_FREE, NULL, "", "%s of an allocation of %llu bytes that was freed before",
                      call, (unsigned long long)f->size);
    else
        mg__find_host(c, KIND_BOUNDS_BAD_FREE, NULL, "", "%s of a pointer that was not allocated%s", call,
                      r ? " by a call that goes with it" : "");
    pthread_mutex_unlock(&c->lock);
}

void mg__check_filled(struct mg_check *c, uint64_t address, uint64_t size)
{
    if (!c)
        return;
    pthread_mutex_lock(&c->lock);
    mg__chain_break(c);
    struct region *r = mg__region_find(c, address);
    if (r) {
        mg__region_mark(r, address - r->address, address - r->address + size, true);
        mg__region_filled(r, address - r->address, address - r->address + size);
        mg__region_settle(r);
        if (mg__streams_follow(c, r))
            mg__streams_use(r, MG__USE_WRITE, address - r->address, address - r->address + size, NULL, NO_INSN);
    }
    pthread_mutex_unlock(&c->lock);
}

void mg__check_copied(struct mg_check *c, uint64_t to, uint64_t from, uint64_t size)
{
    if (!c)
        return;
    pthread_mutex_lock(&c->lock);
    mg__chain_break(c);
    struct region *dst = mg__region_find(c, to), *src = mg__region_find(c, from);
    bool plain = !src || (src->written == WRITTEN_ALL && !mg__region_has_holes(src));
    uint64_t at = 0, offset = src ? from - src->address : 0;
    if (dst && plain) {
        mg__region_mark(dst, to - dst->address, to - dst->address + size, true);
        mg__region_filled(dst, to - dst->address, to - dst->address + size);
    }
    while (dst && !plain && at < size) { /* as far as bytes are alike */
        bool written = mg__copied_made(src, offset + at);
        uint64_t n = 1;
        if (src->written == WRITTEN_NONE)
            n = size - at;
        while (at + n < size && mg__copied_made(src, offset + at + n) == written)
            n++;
        mg__region_mark(dst, to - dst->address + at, to - dst->address + at + n, written);
        if (written)
            mg__region_filled(dst, to - dst->address + at, to - dst->address + at + n);
        at += n;
    }
    if (!plain && (!dst || dst->host || dst->managed) && c->checks & MG_CHECK_INIT)
        mg__copied_out(c, NULL, src, offset, size);
    if (dst)
        mg__region_settle(dst);
    if (dst && mg__streams_follow(c, dst))
        mg__streams_use(dst, MG__USE_WRITE, to - dst->address, to - dst->address + size, NULL, NO_INSN);
    if (src && mg__streams_follow(c, src))
        mg__streams_use(src, MG__USE_READ, from - src->address, from - src->address + size, NULL, NO_INSN);
    pthread_mutex_unlock(&c->lock);
}

void mg__check_read(struct mg_check *c, const char *call, uint64_t from, uint64_t size)
{
    if (!c)
        return;
    pthread_mutex_lock(&c->lock);
    const struct region *r = mg__region_find(c, from);
    if (r && c->checks & MG_CHECK_INIT && (r->written != WRITTEN_ALL || mg__region_has_holes(r)))
        mg__copied_out(c, call, r, from - r->address, size);
    if (r && mg__streams_matter(c))
        mg__streams_use(r, MG__USE_READ, from - r->address, from - r->address + size, NULL, NO_INSN);
    pthread_mutex_unlock(&c->lock);
}

void mg__check_bad_range(struct mg_check *c, const char *call, uint64_t address, uint64_t size, bool device)
{
    if (!c || !(c->checks & MG_CHECK_BOUNDS))
        return;
    pthread_mutex_lock(&c->lock);
    const struct region *r = mg__region_find(c, address);
    const struct freed *f = r ? NULL : mg__freed_find(c, address);
    char name[96] = "";
    if (r)
        snprintf(name, sizeof(name), "%s of %llu bytes, byte %llu", r->name ? r->name : "allocation",
                 (unsigned long long)r->size, (unsigned long long)(address - r->address));
    if (r && !device)
        mg__find_host(c, KIND_BOUNDS_DEVICE_POINTER, NULL, name,
                      "%s takes a pointer for memory of the host, and it is the device's", call);
    else if (r)
        mg__find_host(c, KIND_BOUNDS_COPY, NULL, name, "%s of %llu bytes, of which only %llu lie in the allocation",
                      call, (unsigned long long)size, (unsigned long long)(r->size - (address - r->address)));
    else if (f)
        mg__find_host(c, KIND_BOUNDS_FREED, NULL, "freed memory", "%s uses an allocation of %llu bytes that was freed",
                      call, (unsigned long long)f->size);
    else if (!address)
        mg__find_host(c, KIND_BOUNDS_NULL, NULL, "", "%s is given a null pointer", call);
    else
        mg__find_host(c, device ? KIND_BOUNDS_HOST_POINTER : KIND_BOUNDS_COPY, NULL, "",
                      device ? "%s takes a pointer for device memory, and it is the host's"
                             : "%s uses a pointer that is in no live allocation",
                      call);
    pthread_mutex_unlock(&c->lock);
}

static int by_serial(const void *a, const void *b)
{
    const struct region *x = *(struct region *const *)a, *y = *(struct region *const *)b;
    return x->serial < y->serial ? -1 : x->serial > y->serial;
}

void mg__check_ended(struct mg_check *c)
{
    if (!c)
        return;
    pthread_mutex_lock(&c->lock);
    mg__copied_ended(c, true);
    mg__calls_ended(c);
    bool leaks = c->checks & MG_CHECK_LEAKS && !c->lost; /* else nothing could be freed any more */
    c->lost = false;
    if (leaks)
        mg__heap_leaks(c);
    if (leaks && c->regions.count)
        qsort(c->regions.at, c->regions.count, sizeof(struct region *), by_serial);
    for (size_t i = 0; leaks && i < c->regions.count; i++) {
        const struct region *r = c->regions.at[i];
        char name[64];
        if (r->host || r->found)
            continue;
        snprintf(name, sizeof(name), "allocation of %llu bytes", (unsigned long long)r->size);
        mg__find_host(c, KIND_BOUNDS_LEAK, NULL, name, "%llu bytes of %s memory were not freed",
                      (unsigned long long)r->size, r->managed ? "managed" : "device");
    }
    pthread_mutex_unlock(&c->lock);
}
