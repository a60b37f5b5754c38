/* early.c - the host beside work under way: race/host.
 *
 * A launch or an asynchronous copy that has returned has not ended: until the host has waited for it, what it writes is
 * not to be touched by the host, and what it reads is not to be written. Here it did end long before, so what the host
 * would have met is told by what each piece of work used (stream.c) and by what the host has waited for since. Whoever
 * sees the host's loads and stores (cudart/guard.c) asks for these bytes, and says which of them were touched.
 *
 * Nothing is claimed of a kernel that may talk with the host while it runs: one with a fence for the whole system, or
 * with a volatile or system-wide access to memory that the host sees. Nor of what a host function was ordered behind:
 * it may tell the program. Calls that only start something but have no stream (cudaMemset) are left alone, too.
 */
#include "check/stream.h"

void mg__check_watched(struct mg_check *c)
{
    if (!c)
        return;
    pthread_mutex_lock(&c->lock);
    c->watched = c->checks & MG_CHECK_RACE;
    pthread_mutex_unlock(&c->lock);
}

void mg__early_look(struct mg_check *c)
{
    const struct streams *s = c->streams;
    bool flies = false;
    for (size_t i = 0; c->watched && i < s->uses.count && !flies; i++)
        flies = mg__early_pending(s, &s->uses.at[i]);
    atomic_store(&c->flies, flies);
}

bool mg__check_flies(struct mg_check *c)
{
    return c && atomic_load(&c->flies);
}

void mg__check_host_told(struct mg_check *c, uint64_t stream)
{
    struct streams *s = c ? mg__streams_lock(c) : NULL;
    if (!s)
        return;
    unsigned slot = mg__streams_slot(s, stream);
    mg__streams_catch_up(s, slot);
    mg__streams_join(s->told, s->slots[slot].knows);
    mg__early_look(c);
    pthread_mutex_unlock(&c->lock);
}

static const struct region *region_of(const struct mg_check *c, uint64_t serial)
{
    for (size_t i = 0; i < c->regions.count; i++)
        if (c->regions.at[i]->serial == serial)
            return c->regions.at[i];
    return NULL;
}

size_t mg__check_in_flight(struct mg_check *c, struct mg_check_flight *out, size_t most)
{
    const struct streams *s = mg__check_flies(c) ? mg__streams_lock(c) : NULL;
    size_t n = 0;
    if (!s)
        return 0;
    for (size_t i = 0; i < s->uses.count; i++) {
        const struct use *u = &s->uses.at[i];
        const struct region *r = mg__early_pending(s, u) ? region_of(c, u->serial) : NULL;
        for (size_t k = 0; r && k < u->ranges.count && n < most; k++)
            out[n++] = (struct mg_check_flight){r->address + u->ranges.at[k].from, r->address + u->ranges.at[k].to,
                                                u->use != MG__USE_READ};
    }
    pthread_mutex_unlock(&c->lock);
    return n;
}

static bool holds(const struct use *u, uint64_t at)
{
    for (size_t k = 0; k < u->ranges.count; k++)
        if (at - u->ranges.at[k].from < u->ranges.at[k].to - u->ranges.at[k].from)
            return true;
    return false;
}

void mg__check_touched(struct mg_check *c, uint64_t address, bool writes, const char *file, uint32_t line)
{
    static const char *const verbs[] = {"writes", "reads", "changes"};
    const struct streams *s = mg__check_flies(c) ? mg__streams_lock(c) : NULL;
    const struct region *r = s ? mg__region_find(c, address) : NULL;
    const struct use *with = NULL;
    char variable[160];
    for (size_t i = 0; r && i < s->uses.count; i++) {
        const struct use *u = &s->uses.at[i];
        if (u->serial == r->serial && mg__early_pending(s, u) && (writes || u->use != MG__USE_READ) &&
            holds(u, address - r->address) && (!with || u->time > with->time))
            with = u;
    }
    if (with) {
        unsigned long long byte = address - r->address;
        char *own = r->name ? mg__report_variable_name(r->name) : NULL;
        char *name = with->kernel ? mg__report_demangle(with->kernel) : NULL;
        if (own)
            snprintf(variable, sizeof(variable), "%s, byte %llu", own, byte);
        else
            snprintf(variable, sizeof(variable), "%s memory of %llu bytes, byte %llu", r->host ? "pinned" : "managed",
                     (unsigned long long)r->size, byte);
        char call_file[1024];
        uint32_t call_line =
            with->kernel ? 0 : mg__find_line(c, with->frames, with->nframes, call_file, sizeof(call_file));
        mg__find_at(c, KIND_RACE_HOST, with->kernel,
                    (struct mg_report_finding){.file = file,
                                               .line = line,
                                               .other_file = call_line ? call_file : with->file,
                                               .other_line = call_line ? call_line : with->line,
                                               .other_column = with->column,
                                               .variable = variable},
                    "the host %s %s, which %s %s, and has not waited for it", writes ? "writes" : "reads", variable,
                    name ? name : with->call, verbs[with->use]);
        free(own);
        free(name);
    }
    if (s)
        pthread_mutex_unlock(&c->lock);
}
