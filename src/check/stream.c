/* stream.c - what orders the work of one stream with that of another: race/streams.
 *
 * Each stream knows, of every other, up to which time its work is over by the time its own next work begins: a vector
 * of times, joined by events and by the host, which knows what it waited for and passes it on with everything it
 * starts. The legacy default stream waits for all blocking streams, and they for it.
 *
 * A piece of work leaves behind what it used: ranges of bytes of allocations, read, written, or only touched by
 * atomics. Work in another stream that does not know of it and uses the same bytes races with it, unless both only read
 * or both are atomic. What the host has waited for is forgotten. What the host itself does with pinned and managed
 * memory is early.c's.
 *
 * Streams that cannot be out of order (one blocking stream, and the default) cost nothing.
 */
#include "check/stream.h"

/* The work that this thread of the program has under way: threads start work side by side. It is not kept while there
 * are no streams; another thread may make the first one in the middle of it. */
static _Thread_local struct {
    bool kept;
    unsigned slot;
    const char *call;
    const struct mg_check_asked *asked;
    bool waits;
    MG_VEC(struct use) fresh;
} work;

static void free_use(struct use *u)
{
    free(u->kernel);
    free(u->file);
    mg__vec_free(&u->ranges);
}

void mg__streams_free(struct streams *s)
{
    for (size_t i = 0; s && i < s->uses.count; i++)
        free_use(&s->uses.at[i]);
    if (s) {
        mg__vec_free(&s->uses);
        mg__vec_free(&s->events);
    }
    free(s);
}

struct streams *mg__streams_of(struct mg_check *c)
{
    if (!c->streams && (c->streams = calloc(1, sizeof(*c->streams)))) {
        c->streams->nslots = 1;
        c->streams->slots[0].live = true;
    }
    return c->streams;
}

struct streams *mg__streams_lock(struct mg_check *c)
{
    pthread_mutex_lock(&c->lock);
    struct streams *s = c->streams;
    if (!s)
        pthread_mutex_unlock(&c->lock);
    return s;
}

void mg__streams_join(uint64_t *to, const uint64_t *from)
{
    for (unsigned k = 0; k < STREAMS; k++)
        to[k] = MG_MAX(to[k], from[k]);
}

/* Of an unknown stream (made by another library) that of the default stream, which is ordered with
 * most. */
unsigned mg__streams_slot(const struct streams *s, uint64_t id)
{
    for (unsigned k = 1; k < s->nslots; k++)
        if (s->slots[k].live && s->slots[k].id == id)
            return k;
    return 0;
}

void mg__streams_catch_up(struct streams *s, unsigned slot)
{
    uint64_t *mine = s->slots[slot].knows;
    mg__streams_join(mine, s->host);
    if (slot && s->slots[slot].blocking)
        mg__streams_join(mine, s->slots[0].knows);
    for (unsigned k = 1; !slot && k < s->nslots; k++)
        if (s->slots[k].live && s->slots[k].blocking)
            mg__streams_join(mine, s->slots[k].knows);
}

static void forget(struct mg_check *c)
{
    struct streams *s = c->streams;
    size_t kept = 0;
    for (size_t i = 0; i < s->uses.count; i++) {
        struct use *u = &s->uses.at[i];
        if (u->time <= s->host[u->slot])
            free_use(u);
        else
            s->uses.at[kept++] = *u;
    }
    s->uses.count = kept;
    mg__early_look(c);
}

/* ---- streams, events, waiting ---- */
void mg__check_stream_made(struct mg_check *c, uint64_t stream, bool blocking)
{
    if (!c)
        return;
    pthread_mutex_lock(&c->lock);
    struct streams *s = mg__streams_of(c);
    if (s) {
        unsigned k = 1, others = 0;
        while (k < s->nslots && (s->slots[k].live || s->slots[k].knows[k] > s->host[k]))
            k++;
        if (k == STREAMS) {
            s->blind = true;
        } else {
            s->nslots = MG_MAX(s->nslots, k + 1);
            uint64_t last = s->slots[k].knows[k];
            s->slots[k] = (struct slot){.id = stream, .live = true, .blocking = blocking};
            s->slots[k].knows[k] = last;
        }
        for (unsigned n = 1; n < s->nslots; n++)
            others += s->slots[n].live;
        s->matter |= !blocking || others > 1;
    }
    pthread_mutex_unlock(&c->lock);
}

void mg__check_stream_gone(struct mg_check *c, uint64_t stream)
{
    if (!c)
        return;
    pthread_mutex_lock(&c->lock);
    unsigned k = c->streams ? mg__streams_slot(c->streams, stream) : 0;
    if (k)
        c->streams->slots[k].live = false;
    pthread_mutex_unlock(&c->lock);
}

void mg__check_host_waited(struct mg_check *c, uint64_t stream, bool all)
{
    if (!c)
        return;
    pthread_mutex_lock(&c->lock);
    mg__chain_break(c);
    pthread_mutex_unlock(&c->lock);
    struct streams *s = mg__streams_lock(c);
    if (!s)
        return;
    unsigned slot = mg__streams_slot(s, stream);
    for (unsigned k = 0; all && k < s->nslots; k++)
        mg__streams_join(s->host, s->slots[k].knows);
    mg__streams_catch_up(s, slot);
    mg__streams_join(s->host, s->slots[slot].knows);
    forget(c);
    pthread_mutex_unlock(&c->lock);
}

static struct event *event_of(struct streams *s, uint64_t id, bool make)
{
    for (size_t i = 0; i < s->events.count; i++)
        if (s->events.at[i].id == id)
            return &s->events.at[i];
    if (!make || !mg__vec_push(&s->events, (struct event){.id = id}))
        return NULL;
    return &s->events.at[s->events.count - 1];
}

void mg__check_event_recorded(struct mg_check *c, uint64_t event, uint64_t stream)
{
    if (!c)
        return;
    pthread_mutex_lock(&c->lock);
    struct streams *s = mg__streams_of(c);
    struct event *e = s ? event_of(s, event, true) : NULL;
    if (e) {
        unsigned slot = mg__streams_slot(s, stream);
        mg__streams_catch_up(s, slot);
        memcpy(e->knows, s->slots[slot].knows, sizeof(e->knows));
    }
    pthread_mutex_unlock(&c->lock);
}

void mg__check_event_waited(struct mg_check *c, uint64_t event, uint64_t stream, bool host)
{
    struct streams *s = c ? mg__streams_lock(c) : NULL;
    if (!s)
        return;
    const struct event *e = event_of(s, event, false);
    if (e) {
        mg__streams_join(host ? s->host : s->slots[mg__streams_slot(s, stream)].knows, e->knows);
        if (host)
            forget(c);
    }
    pthread_mutex_unlock(&c->lock);
}

void mg__check_event_gone(struct mg_check *c, uint64_t event)
{
    struct streams *s = c ? mg__streams_lock(c) : NULL;
    if (!s)
        return;
    struct event *e = event_of(s, event, false);
    if (e)
        *e = s->events.at[--s->events.count];
    pthread_mutex_unlock(&c->lock);
}

/* ---- work ---- */
void mg__check_begins(struct mg_check *c, const char *call, uint64_t stream, bool waits)
{
    struct streams *s = c ? mg__streams_lock(c) : NULL;
    if (!s)
        return;
    work.kept = true;
    work.slot = mg__streams_slot(s, stream);
    work.call = call;
    work.waits = waits;
    work.asked = c->asked;
    mg__streams_catch_up(s, work.slot);
    pthread_mutex_unlock(&c->lock);
}

bool mg__streams_matter(const struct mg_check *c)
{
    return c->streams && c->streams->matter && !c->streams->blind && c->checks & MG_CHECK_RACE;
}

bool mg__streams_follow(const struct mg_check *c, const struct region *r)
{
    return mg__streams_matter(c) || (r->watched && !c->streams->blind && c->checks & MG_CHECK_RACE);
}

void mg__streams_use(const struct region *r, enum mg__use use, uint64_t from, uint64_t to, const struct launch *l,
                     uint32_t insn)
{
    struct use *u = NULL;
    if (!work.kept)
        return;
    for (size_t i = 0; i < work.fresh.count && !u; i++)
        if (work.fresh.at[i].serial == r->serial && work.fresh.at[i].use == use)
            u = &work.fresh.at[i];
    if (!u) {
        struct use new = {.serial = r->serial, .slot = work.slot, .use = use, .call = work.call};
        new.watched = r->watched;
        new.silent = l ? l->talks : !strstr(work.call, "Async"); /* see early.c */
        if (l) {
            struct line line = mg__name_line(l->info, insn);
            new.kernel = strdup(l->info->kernel);
            new.file = strdup(line.file);
            new.line = line.line;
            new.column = line.column;
        }
        if (!l && work.asked)
            new.nframes = work.asked->frames(new.frames);
        if ((l && (!new.kernel || !new.file)) || !mg__vec_push(&work.fresh, new)) {
            free_use(&new);
            return;
        }
        u = &work.fresh.at[work.fresh.count - 1];
    }
    struct range *last = u->ranges.count ? &u->ranges.at[u->ranges.count - 1] : NULL;
    if (last && last->to == from)
        last->to = to;
    else if (u->ranges.count < RANGES_MOST)
        (void)mg__vec_push(&u->ranges, ((struct range){from, to}));
}

static int by_from(const void *a, const void *b)
{
    const struct range *x = a, *y = b;
    return x->from < y->from ? -1 : x->from > y->from;
}

/* The first byte that both use; UINT64_MAX: none. */
static uint64_t meets(const struct use *a, const struct use *b)
{
    size_t i = 0, k = 0;
    while (i < a->ranges.count && k < b->ranges.count) {
        const struct range *x = &a->ranges.at[i], *y = &b->ranges.at[k];
        if (x->from < y->to && y->from < x->to)
            return MG_MAX(x->from, y->from);
        if (x->to <= y->from)
            i++;
        else
            k++;
    }
    return UINT64_MAX;
}

static bool same_work(const struct use *a, const struct use *b)
{
    return a->serial == b->serial && a->slot == b->slot && a->use == b->use && a->line == b->line &&
           a->silent == b->silent && a->call == b->call && !a->kernel == !b->kernel &&
           (!a->kernel || !strcmp(a->kernel, b->kernel)) && a->ranges.count == b->ranges.count &&
           (!a->ranges.count || !memcmp(a->ranges.at, b->ranges.at, a->ranges.count * sizeof(*a->ranges.at)));
}

/* Memory comes and goes in the order of a stream, too. */
static bool makes(const struct use *u)
{
    return !u->kernel && !strncmp(u->call, "cudaMalloc", 10);
}

static bool frees(const struct use *u)
{
    return !u->kernel && !strncmp(u->call, "cudaFree", 8);
}

static const char *verb(const struct use *u)
{
    static const char *const verbs[] = {"writes", "reads", "changes"};
    return makes(u) ? "makes" : frees(u) ? "frees" : verbs[u->use];
}

static void tell(struct mg_check *c, const struct use *u, const struct use *with, uint64_t byte)
{
    const struct region *r = NULL;
    for (size_t i = 0; i < c->regions.count && !r; i++)
        if (c->regions.at[i]->serial == u->serial)
            r = c->regions.at[i];
    if (!r)
        return;
    char variable[160], other[160], spaced[16];
    snprintf(spaced, sizeof(spaced), " %s ", verb(u));
    char *own = r->name ? mg__report_variable_name(r->name) : NULL;
    if (own)
        snprintf(variable, sizeof(variable), "%s, byte %llu", own, (unsigned long long)byte);
    else
        snprintf(variable, sizeof(variable), "%s of %llu bytes, byte %llu", r->host ? "pinned memory" : "allocation",
                 (unsigned long long)r->size, (unsigned long long)byte);
    char *name = with->kernel ? mg__report_demangle(with->kernel) : NULL;
    snprintf(other, sizeof(other), "%s", name ? name : with->call);
    char files[2][1024];
    const struct use *both[2] = {u, with};
    struct line lines[2];
    for (unsigned i = 0; i < 2; i++) {
        const struct use *one = both[i];
        lines[i] = (struct line){.file = one->file, .line = one->line, .column = one->column};
        if (!one->kernel &&
            (lines[i].line = mg__find_line(c, one->frames, one->nframes, files[i], sizeof(files[i]))) != 0)
            lines[i].file = files[i];
    }
    mg__find_at(c, KIND_RACE_STREAMS, u->kernel,
                (struct mg_report_finding){.file = lines[0].file,
                                           .line = lines[0].line,
                                           .column = lines[0].column,
                                           .other_file = lines[1].file,
                                           .other_line = lines[1].line,
                                           .other_column = lines[1].column,
                                           .variable = variable},
                "%s%s%s, which %s %s in another stream, and nothing orders the two", u->kernel ? verb(u) : u->call,
                u->kernel ? " " : spaced, variable, other, verb(with));
    free(own);
    free(name);
}

void mg__check_ends(struct mg_check *c)
{
    if (!c || !work.kept)
        return;
    pthread_mutex_lock(&c->lock);
    work.kept = false;
    struct streams *s = c->streams;
    uint64_t *mine = s->slots[work.slot].knows;
    for (size_t i = 0; i < work.fresh.count; i++) {
        struct use *f = &work.fresh.at[i];
        f->time = s->now + 1;
        if (f->ranges.count)
            qsort(f->ranges.at, f->ranges.count, sizeof(*f->ranges.at), by_from);
        for (size_t k = 0; k < s->uses.count; k++) {
            const struct use *u = &s->uses.at[k];
            bool harmless = (f->use == u->use && f->use != MG__USE_WRITE) || (frees(f) && makes(u));
            if (u->slot == f->slot || u->serial != f->serial || harmless || u->time <= mine[u->slot])
                continue;
            uint64_t byte = meets(f, u);
            if (byte != UINT64_MAX)
                tell(c, f, u, byte);
        }
    }
    mine[work.slot] = ++s->now;
    if (work.waits)
        mg__streams_join(s->host, mine);
    for (size_t i = 0; i < work.fresh.count; i++) {
        struct use *f = &work.fresh.at[i];
        size_t k = 0;
        while (k < s->uses.count && !same_work(&s->uses.at[k], f))
            k++;
        if (k < s->uses.count) {
            s->uses.at[k].time = f->time;
            s->uses.at[k].nframes = f->nframes; /* of the last one */
            memcpy(s->uses.at[k].frames, f->frames, sizeof(f->frames));
            free_use(f);
        } else if (work.waits || s->uses.count >= USES_MOST || !mg__vec_push(&s->uses, *f)) {
            free_use(f);
        }
    }
    mg__vec_free(&work.fresh);
    if (work.waits)
        forget(c);
    mg__early_look(c);
    pthread_mutex_unlock(&c->lock);
}

void mg__check_in_order(struct mg_check *c, const char *call, uint64_t stream, uint64_t address)
{
    if (!c)
        return;
    mg__check_begins(c, call, stream, false);
    pthread_mutex_lock(&c->lock);
    const struct region *r = mg__region_find(c, address);
    if (r && mg__streams_matter(c))
        mg__streams_use(r, MG__USE_WRITE, 0, r->size, NULL, NO_INSN);
    pthread_mutex_unlock(&c->lock);
    mg__check_ends(c);
}
