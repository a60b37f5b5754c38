/* beside.c - launches that go on side by side, in turns: each has its own cells of the memory that it may write to.
 *
 * What a launch has written when another one's turn comes counts as written, whole allocations of it: the two may have
 * told each other, in ways that are not followed. Races are found within each launch, and nothing is claimed between
 * them.
 */
#include "check/check_priv.h"

struct aside {
    struct region cells; /* of which the cells' fields and the size mean something */
};

static void swap_cells(struct region *r, struct region *other)
{
    struct region mine = *r;
    r->cells = other->cells;
    r->groups = other->groups;
    r->values = other->values;
    r->touched = other->touched;
    r->tracked = other->tracked;
    r->own = other->own;
    r->marks = other->marks;
    r->marks_size = other->marks_size;
    r->mark_log = other->mark_log;
    other->cells = mine.cells;
    other->groups = mine.groups;
    other->values = mine.values;
    other->touched = mine.touched;
    other->tracked = mine.tracked;
    other->own = mine.own;
    other->marks = mine.marks;
    other->marks_size = mine.marks_size;
    other->mark_log = mine.mark_log;
}

static void put_aside(struct launch *l)
{
    size_t n = l->info->nallocations;
    if (!l->aside)
        l->aside = calloc(n + 1, sizeof(*l->aside));
    for (size_t k = 0; l->aside && k < n; k++)
        if (l->regions[k]) {
            swap_cells(l->regions[k], &l->aside[k].cells);
            if (l->aside[k].cells.tracked)
                mg__region_mark(l->regions[k], 0, l->regions[k]->size, true);
        }
}

static void take_up(struct launch *l)
{
    for (size_t k = 0; l->aside && k < l->info->nallocations; k++)
        if (l->regions[k]) {
            swap_cells(l->regions[k], &l->aside[k].cells);
            l->aside[k].cells.size = l->regions[k]->size;
            mg__region_free_cells(&l->aside[k].cells);
        }
}

void mg__beside_turn(struct launch *l, bool first)
{
    struct mg_check *c = l->check;
    if (c->current == l)
        return;
    if (c->current)
        put_aside(c->current);
    if (!first)
        take_up(l);
    c->current = l;
}

void mg__beside_over(struct launch *l)
{
    if (l->check->current == l)
        l->check->current = NULL;
    free(l->aside);
    l->aside = NULL;
}
