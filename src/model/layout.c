/* layout.c - other layouts of a variable in shared memory: where they move an element, and the search for the best. */
#include "model/layout.h"

#include <math.h>
#include <stdlib.h>

enum { MOST_PAD = 32 };
#define SLACK 0.02 /* of the conflicts: what is less is no difference */

uint32_t mg__layout_moved(const struct mg_layout *l, uint32_t offset)
{
    uint32_t index = offset / l->element, rest = offset % l->element;
    uint32_t row = index / l->row, column = index % l->row;
    if (l->xor_mask)
        return (row * l->row + (column ^ (row >> l->xor_shift & l->xor_mask) * l->xor_times)) * l->element + rest;
    return (row * (l->row + l->pad) + column) * l->element + rest;
}

void mg__layout_distances(struct mg_layout_rows *rows, uint32_t element, uint32_t elements, uint32_t mask,
                          const int32_t at[32], double weight)
{
    int last = -1, first = -1; /* of lanes side by side: rows are as far apart as these begin */
    for (int lane = 0; lane < 32; lane++) {
        if (!(mask >> lane & 1))
            continue;
        const uint32_t near = last < 0 ? 0 : (uint32_t)abs(at[lane] - at[last]);
        const uint32_t d = near > element && last != first ? (uint32_t)abs(at[lane] - at[first]) : near;
        if (last < 0 || near > element)
            first = lane;
        last = lane;
        if (!d || d % element || d / element < 2 || d / element > elements / 2)
            continue;
        unsigned i = 0;
        while (i < rows->n && rows->row[i] != d / element)
            i++;
        if (i == rows->n && i == MG_LAYOUT_ROWS - 1)
            continue;
        if (i == rows->n) {
            rows->weight[i] = 0;
            rows->row[rows->n++] = d / element;
        }
        rows->weight[i] += weight;
    }
}

static uint32_t bank_row(const struct mg_arch *arch)
{
    return arch->banks * arch->bank_bytes;
}

static void sort_rows(const struct mg_layout_search *s, struct mg_layout_rows *rows)
{
    for (unsigned i = 1; i < rows->n; i++)
        for (unsigned k = i; k > 0 && rows->weight[k] > rows->weight[k - 1]; k--) {
            double w = rows->weight[k];
            uint32_t r = rows->row[k];
            rows->weight[k] = rows->weight[k - 1];
            rows->row[k] = rows->row[k - 1];
            rows->weight[k - 1] = w;
            rows->row[k - 1] = r;
        }
    uint32_t banks = MG_MAX(bank_row(s->arch) / s->element, 1u);
    bool have = banks < 2 || banks > s->size / s->element || s->size / s->element % banks; /* no part of a row */
    for (unsigned i = 0; i < rows->n; i++)
        have |= rows->row[i] == banks;
    if (!have) {
        rows->weight[rows->n] = 0;
        rows->row[rows->n++] = banks;
    }
}

/* Of two that come out nearly alike the one that costs less memory, or is the plainer: it was tried first. */
static bool better(const struct mg_layout_trial *a, const struct mg_layout_trial *b, double conflicts)
{
    double slack = SLACK * conflicts;
    if (!b->any || a->wavefronts == b->wavefronts)
        return !b->any || a->added < b->added;
    if (a->wavefronts <= a->ideal) /* nothing is better than that */
        return b->wavefronts > b->ideal || a->added < b->added;
    return a->wavefronts < b->wavefronts - (a->added >= b->added ? slack : 0);
}

static struct mg_layout_trial attempt(const struct mg_layout_search *s, const struct mg_layout *l,
                                      const struct mg_layout_trial *best)
{
    uint32_t rows = (s->size / l->element + l->row - 1) / l->row;
    struct mg_layout_trial t = {.layout = *l, .any = true, .added = rows * l->pad * l->element};
    t.enough = best->any ? best->wavefronts - (t.added >= best->added ? SLACK * s->conflicts : 0) : INFINITY;
    s->cost(s->arg, &t);
    return t;
}

static void try_pads(struct mg_layout_search *s, uint32_t row)
{
    uint32_t unit = MG_MAX(s->arch->bank_bytes / s->element, 1u); /* a pad moves whole banks */
    uint64_t rows = (s->size / s->element + row - 1) / row;
    for (uint32_t p = 1; p <= MOST_PAD; p++) {
        struct mg_layout l = {.element = s->element, .row = row, .pad = p * unit};
        if (rows * l.pad * s->element > s->room)
            break;
        struct mg_layout_trial t = attempt(s, &l, &s->pad);
        if (better(&t, &s->pad, s->conflicts))
            s->pad = t;
        if (t.wavefronts <= t.ideal)
            break; /* none is better, and larger ones cost more */
    }
}

static void try_swizzles(struct mg_layout_search *s, uint32_t row)
{
    uint32_t banks = bank_row(s->arch) / MG_MIN(s->element, bank_row(s->arch) / 2);
    uint32_t mask = MG_MIN(row, banks) - 1, elements = s->size / s->element;
    if ((row & (row - 1)) || elements % row) /* it stays inside full rows of a power of two */
        return;
    for (uint32_t k = 0; k < 10; k++) {
        struct mg_layout l = {.element = s->element,
                              .row = row,
                              .xor_mask = k < 5 ? mask : 1,
                              .xor_shift = k % 5,
                              .xor_times = k < 5 ? 1 : mask};
        struct mg_layout_trial t = attempt(s, &l, &s->swizzle);
        if (better(&t, &s->swizzle, s->conflicts))
            s->swizzle = t;
    }
}

void mg__layout_search(struct mg_layout_search *s, struct mg_layout_rows *rows)
{
    s->pad = s->swizzle = (struct mg_layout_trial){.any = false};
    sort_rows(s, rows);
    for (unsigned i = 0; i < rows->n; i++) {
        try_pads(s, rows->row[i]);
        try_swizzles(s, rows->row[i]);
    }
}
