/* places.c - where the warps of blocks are, as text: "block 0: warps 0-3 at a.cu:12, warp 4 at a.cu:20 (barrier 0)".
 *
 * Warps at one place are put together, and blocks whose warps are at the same places. A warp whose lanes have diverged
 * is at several. Where there is no room for all, the text ends with how many blocks it leaves out.
 */
#include "simt/engine_priv.h"

#define PLACES 6u /* of a block */

struct place {
    const char *file;
    uint32_t line, warps;
    uint8_t wait, barrier;
};

/* "3", or "3-5, 7" of bits. */
static void ranges(struct mg_strbuf *out, uint32_t bits)
{
    const char *between = "";
    for (unsigned from = 0; from < 32; from++) {
        unsigned to = from;
        if (!(bits >> from & 1))
            continue;
        while (to < 31 && bits >> (to + 1) & 1)
            to++;
        if (to == from)
            mg__strbuf_printf(out, "%s%u", between, from);
        else
            mg__strbuf_printf(out, "%s%u-%u", between, from, to);
        between = ", ";
        from = to;
    }
}

static struct place place_of(const struct mg_run *run, const struct mg_warp *w, const struct mg_split *s)
{
    struct place p = {.wait = s->wait, .barrier = s->wait == MG_WAIT_BARRIER ? s->barrier : 0};
    if (s->wait == MG_WAIT_NONE && mg__engine_waits(w)) {
        const bool cluster = s->pc->is->id == MG_DO_CLUSTER_WAIT;
        p.wait = cluster ? MG_WAIT_CLUSTER : MG_WAIT_BARRIER;
        p.barrier = cluster ? 0 : (uint8_t)mg__lane32(w, s->pc->a, 0);
    }
    const struct mg_insn_info *i = &run->program->insns[MG_MIN(s->pc->insn, run->program->ninsns - 1)];
    const char *slash = strrchr(i->file, '/');
    p.file = !i->line ? "<ptx>" : slash ? slash + 1 : i->file;
    p.line = i->line ? i->line : i->insn->ptx_line;
    return p;
}

static bool same(const struct place *a, const struct place *b)
{
    return a->line == b->line && a->wait == b->wait && a->barrier == b->barrier && strcmp(a->file, b->file) == 0;
}

/* In the order of the program: that of a warp's leaves is the engine's. */
static int by_place(const void *a, const void *b)
{
    const struct place *x = a, *y = b;
    int file = strcmp(x->file, y->file), wait = x->wait - y->wait;
    if (file || x->line != y->line)
        return file ? file : x->line < y->line ? -1 : 1;
    return wait ? wait : x->barrier - y->barrier;
}

static void block_places(const struct mg_block *b, struct mg_strbuf *out)
{
    struct place places[PLACES];
    unsigned n = 0, more = 0;
    mg__strbuf_append(out, "", 0);
    for (uint32_t k = 0; k < b->nwarps; k++) {
        const struct mg_warp *w = &b->warps[k];
        for (size_t i = 0; w->nleaves && i < w->splits.count; i++) {
            const struct mg_split *s = &w->splits.at[i];
            if (!s->mask)
                continue;
            struct place p = place_of(b->run, w, s);
            unsigned at = 0;
            while (at < n && !same(&places[at], &p))
                at++;
            if (at == PLACES) {
                more++;
                continue;
            }
            if (at == n)
                places[n++] = p;
            places[at].warps |= 1u << k;
        }
    }
    qsort(places, n, sizeof *places, by_place);
    for (unsigned i = 0; i < n; i++) {
        const struct place *p = &places[i];
        mg__strbuf_printf(out, "%s%s ", i ? ", " : "", (p->warps & (p->warps - 1)) == 0 ? "warp" : "warps");
        ranges(out, p->warps);
        mg__strbuf_printf(out, " at %s:%u", p->file, p->line);
        if (p->wait == MG_WAIT_BARRIER)
            mg__strbuf_printf(out, " (barrier %u)", p->barrier);
        else if (p->wait == MG_WAIT_WARP)
            mg__strbuf_printf(out, " (for lanes)");
        else if (p->wait == MG_WAIT_CLUSTER)
            mg__strbuf_printf(out, " (the cluster's barrier)");
    }
    if (more)
        mg__strbuf_printf(out, " and elsewhere");
}

static int by_number(const void *a, const void *b)
{
    const struct mg_block *const *x = a, *const *y = b;
    return (*x)->linear < (*y)->linear ? -1 : (*x)->linear > (*y)->linear;
}

/* Adds blocks first … last of the list, all at the same places. False: there is no room. */
static bool add(char *text, size_t size, size_t *used, uint64_t first, uint64_t last, const char *where)
{
    char range[64];
    if (first == last)
        snprintf(range, sizeof range, "block %llu", (unsigned long long)first);
    else
        snprintf(range, sizeof range, "blocks %llu-%llu", (unsigned long long)first, (unsigned long long)last);
    int n = snprintf(text + *used, size - *used, "%s%s: %s", *used ? "; " : "", range, where);
    if (n < 0 || (size_t)n + 24 >= size - *used) { /* with room for what is said of the rest */
        text[*used] = 0;
        return false;
    }
    *used += (size_t)n;
    return true;
}

static size_t live_blocks(const struct mg_cluster *c, uint32_t size, const struct mg_block **list)
{
    size_t n = 0;
    for (uint32_t r = 0; r < size; r++)
        if (c->blocks[r].live_warps)
            list[n++] = &c->blocks[r];
    return n;
}

void mg__places(const struct mg_run *run, const struct mg_cluster *only, char *text, size_t size)
{
    size_t n = 0, used = 0, at = 0, most = only ? 1 : 0;
    for (unsigned i = 0; !only && i < run->nworkers; i++)
        most += run->workers[i].nclusters;
    const struct mg_block **blocks = calloc(most * run->cluster_size + 1, sizeof(struct mg_block *));
    struct mg_strbuf where = {0}, next = {0};
    text[0] = 0;
    if (blocks && only)
        n = live_blocks(only, run->cluster_size, blocks);
    for (unsigned i = 0; blocks && !only && i < run->nworkers; i++)
        for (uint32_t k = 0; k < run->workers[i].nclusters; k++)
            if (run->workers[i].clusters[k]->busy)
                n += live_blocks(run->workers[i].clusters[k], run->cluster_size, blocks + n);
    if (n)
        qsort(blocks, n, sizeof(struct mg_block *), by_number);
    while (at < n) {
        size_t first = at;
        where.count = 0;
        block_places(blocks[at], &where);
        for (at++; at < n && blocks[at]->linear == blocks[at - 1]->linear + 1; at++) {
            next.count = 0;
            block_places(blocks[at], &next);
            if (next.count != where.count || memcmp(next.at, where.at, where.count) != 0)
                break;
        }
        if (where.at && !add(text, size, &used, blocks[first]->linear, blocks[at - 1]->linear, where.at)) {
            snprintf(text + used, size - used, "%s%zu more blocks", used ? "; " : "", n - first);
            break;
        }
    }
    mg__strbuf_free(&where);
    mg__strbuf_free(&next);
    free(blocks);
}
