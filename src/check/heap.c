/* heap.c - the heap of device-side malloc: what each piece is, who got it where, which of its bytes were written.
 *
 * The engine leaves a gap behind each piece, so that what runs over its end meets nothing. Of races on heap memory
 * (cells as for any device memory, global.c) what was done to a piece is forgotten when another one is given there.
 *
 * Pieces outlive launches, and a piece that was freed is known until another one lies there. Kernels that use the heap
 * run in order on one worker, so that what is found is the same every time. An access
 * that jumps over the gap, into another live piece, is not told: it might be meant.
 */
#include "check/check_priv.h"

enum { PIECES_MOST = 1 << 20 };

/* The first piece that ends behind the address. */
static size_t first_after(const struct mg_check *c, uint64_t address)
{
    size_t lo = 0, hi = c->pieces.count;
    while (lo < hi) {
        size_t mid = lo + (hi - lo) / 2;
        if (c->pieces.at[mid].address + c->pieces.at[mid].size > address)
            hi = mid;
        else
            lo = mid + 1;
    }
    return lo;
}

static void drop(struct mg_check *c, size_t i)
{
    free(c->pieces.at[i].made);
    free(c->pieces.at[i].kernel);
    free(c->pieces.at[i].file);
    c->pieces.count--;
    memmove(&c->pieces.at[i], &c->pieces.at[i + 1], (c->pieces.count - i) * sizeof(struct piece));
}

void mg__heap_free_all(struct mg_check *c)
{
    while (c->pieces.count)
        drop(c, c->pieces.count - 1);
    mg__vec_free(&c->pieces);
}

static void note(struct worker *w, enum check_kind kind, uint32_t insn, uint32_t other, struct actor who, uint64_t size,
                 uint64_t offset, uint32_t width, uint32_t freed)
{
    struct occurrence o = {.kind = (uint8_t)kind,
                           .place = PLACE_HEAP,
                           .insn = insn,
                           .other = other,
                           .object = (int32_t)MG_MIN(size, INT32_MAX),
                           .count = 1,
                           .who = who,
                           .with = who,
                           .offset = offset,
                           .width = width,
                           .value = {freed, 0}};
    mg__tally_note(&w->tally, &o);
}

static uint32_t given_at(const struct launch *l, const struct piece *p)
{
    return p->launch == l->number ? p->insn : NO_INSN;
}

/* What others did with the memory that lay here is over: malloc and free order that. */
static void forget(struct worker *w, uint64_t address, uint64_t size)
{
    const struct launch *l = w->launch;
    unsigned unit = l->code.unit_global;
    for (size_t k = 0; l->race && k < l->info->nallocations; k++) {
        struct region *r = l->regions[k];
        if (r && r->tracked && r->cells && address - r->address < r->size)
            mg__grid_forget(r, address - r->address, address - r->address + size);
    }
    for (size_t i = 0; l->race && i < w->blocks.count; i++)
        for (uint64_t u = address >> unit; w->blocks.at[i]->busy && u <= (address + size - 1) >> unit; u++) {
            struct mg_order_row *row = mg__segment_known(&w->blocks.at[i]->segments, u);
            if (row)
                row->w_time[u % 32] = row->r_time[u % 32] = 0;
        }
}

void mg__heap_given(struct worker *w, const struct mg_sync *e)
{
    struct launch *l = w->launch;
    struct mg_check *c = l->check;
    if (e->address)
        forget(w, e->address, e->size);
    struct piece new = {.address = e->address, .size = e->size, .insn = e->insn, .launch = l->number};
    if (!e->address || c->pieces.count >= PIECES_MOST || !(new.made = calloc(e->size + 1, 1)))
        return;
    size_t i = first_after(c, e->address);
    while (i < c->pieces.count && c->pieces.at[i].address < e->address + e->size)
        drop(c, i); /* was freed */
    if (!mg__vec_push(&c->pieces, new)) {
        free(new.made);
        return;
    }
    memmove(&c->pieces.at[i + 1], &c->pieces.at[i], (c->pieces.count - 1 - i) * sizeof(struct piece));
    c->pieces.at[i] = new;
}

void mg__heap_taken_back(struct worker *w, const struct mg_sync *e)
{
    struct launch *l = w->launch;
    struct mg_check *c = l->check;
    size_t i = first_after(c, e->address);
    struct piece *p = i < c->pieces.count && c->pieces.at[i].address <= e->address ? &c->pieces.at[i] : NULL;
    struct actor who = {e->block, (uint16_t)e->warp, (uint8_t)__builtin_ctz(e->mask)};
    if (!e->address)
        return;
    if (p && p->address == e->address && !p->freed) {
        p->freed = true;
        p->insn = e->insn;
        p->launch = l->number;
    } else if (l->bounds) {
        note(w, KIND_BOUNDS_HEAP_FREE, e->insn, p ? given_at(l, p) : NO_INSN, who, p ? p->size : 0,
             p ? e->address - p->address : 0, 0,
             !p         ? 0
             : p->freed ? 1
                        : 2);
    }
}

bool mg__heap_is(const struct mg_allocation *a)
{
    return a->name && !strcmp(a->name, "(device heap)");
}

uint32_t mg__heap_access(struct worker *w, const struct mg_access *a, const struct site *site, unsigned lane,
                         uint32_t missing, uint64_t *base, uint64_t *size)
{
    struct launch *l = w->launch;
    struct mg_check *c = l->check;
    uint64_t address = a->address[lane];
    size_t i = first_after(c, address);
    struct piece *p = i < c->pieces.count && c->pieces.at[i].address <= address ? &c->pieces.at[i] : NULL;
    uint32_t width = MG_MIN(a->width, 32u), unmade = 0;
    if (!p || p->freed || a->width > p->size - (address - p->address)) {
        if (!p && i) /* behind one */
            p = &c->pieces.at[i - 1];
        if (p && l->bounds)
            note(w, KIND_BOUNDS_HEAP, a->insn, given_at(l, p),
                 (struct actor){a->block, (uint16_t)a->warp, (uint8_t)lane}, p->size, address - p->address, width,
                 p->freed);
        return 0;
    }
    *base = p->address;
    *size = p->size;
    for (uint32_t k = 0; k < width; k++) {
        uint8_t *made = &p->made[address - p->address + k];
        unmade |= (uint32_t)(site->reads && !*made) << k;
        if (site->writes)
            *made = !(missing >> k & 1);
    }
    return unmade;
}

/* Where the pieces of this launch were got: its instructions are about to go. */
void mg__heap_launch_ended(struct launch *l)
{
    struct mg_check *c = l->check;
    for (size_t i = 0; c->checks & MG_CHECK_LEAKS && i < c->pieces.count; i++) {
        struct piece *p = &c->pieces.at[i];
        if (p->launch != l->number || p->freed)
            continue;
        struct line line = mg__name_line(l->info, p->insn);
        p->kernel = strdup(l->info->kernel);
        p->file = strdup(line.file);
        p->line = line.line;
        p->column = line.column;
    }
}

void mg__heap_leaks(struct mg_check *c)
{
    for (size_t i = 0; i < c->pieces.count; i++) {
        struct piece *p = &c->pieces.at[i];
        uint64_t bytes = 0, pieces = 0;
        if (p->freed || !p->kernel || !p->file)
            continue;
        for (size_t k = i; k < c->pieces.count; k++) { /* all of one place */
            struct piece *q = &c->pieces.at[k];
            if (q->freed || !q->kernel || !q->file || q->line != p->line || strcmp(q->kernel, p->kernel) ||
                strcmp(q->file, p->file))
                continue;
            bytes += q->size;
            pieces++;
            q->freed = k != i;
        }
        mg__find_at(c, KIND_BOUNDS_LEAK, p->kernel,
                    (struct mg_report_finding){.file = p->file,
                                               .line = p->line,
                                               .column = p->column,
                                               .variable = "device heap",
                                               .advice = "Free it with free() (or delete) in a kernel when its last "
                                                         "user is done: cudaFree takes no such memory."},
                    "%llu bytes of the device's heap that are got here were not freed, in %llu piece%s",
                    (unsigned long long)bytes, (unsigned long long)pieces, pieces == 1 ? "" : "s");
        p->freed = true;
    }
}
