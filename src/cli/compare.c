/* compare.c - which kernel of one report is which of another, and which line.
 *
 * Kernels are the same when their mangled names are, or, of those that are left, when their own names (without types)
 * are and only one of each is left. Source lines move when a file is edited, and a report has no text of them; but a
 * line that does what it did has the counts that it had. So the lines of a kernel are put side by side like the lines
 * of two files: the longest common sequence of equal counts stays, and what lies between two such lines is compared in
 * order, where there are as many on either side, else by line number. Equal means per launch, as a program may run for
 * longer.
 */
#include "compare.h"

#define MOST_CELLS ((size_t)4 << 20) /* of the table; lines beyond are compared by number */

static bool equal(const struct mg_pair *p, const struct mg_report_line *a, const struct mg_report_line *b)
{
    for (unsigned m = 0; m < MG_METRIC_COUNT; m++)
        if ((unsigned __int128)a->metrics.v[m] * p->b->launches != (unsigned __int128)b->metrics.v[m] * p->a->launches)
            return false;
    return true;
}

static int by_place(const void *x, const void *y)
{
    const struct mg_report_line *a = x, *b = y;
    int order = strcmp(a->file, b->file);
    return order ? order : (a->line > b->line) - (a->line < b->line);
}

static bool put(struct mg_pair *p, const struct mg_report_line *a, const struct mg_report_line *b)
{
    return mg__vec_push(&p->lines, ((struct mg_pair_line){a, b}));
}

/* Lines of which none is equal to any in its place: as many, in order; else those of one number. */
static bool put_gap(struct mg_pair *p, const struct mg_report_line *a, size_t na, const struct mg_report_line *b,
                    size_t nb)
{
    bool ok = true;
    size_t j = 0;
    for (size_t i = 0; ok && i < na; i++) {
        if (na == nb) {
            ok = put(p, &a[i], &b[i]);
            continue;
        }
        size_t at = j;
        while (at < nb && (a[i].line != b[at].line || strcmp(a[i].file, b[at].file)))
            at++;
        if (at == nb) {
            ok = put(p, &a[i], NULL);
            continue;
        }
        for (; ok && j < at; j++)
            ok = put(p, NULL, &b[j]);
        ok = ok && put(p, &a[i], &b[j++]);
    }
    for (; ok && na != nb && j < nb; j++)
        ok = put(p, NULL, &b[j]);
    return ok;
}

/* What lies between lines that are alike at the beginning and at the end. */
static bool put_middle(struct mg_pair *p, const struct mg_report_line *a, size_t na, const struct mg_report_line *b,
                       size_t nb)
{
    uint32_t *longest = NULL; /* [i][j]: of a[i…] and b[j…] */
    if (!na || !nb || (na + 1) > MOST_CELLS / (nb + 1))
        return put_gap(p, a, na, b, nb);
    longest = calloc((na + 1) * (nb + 1), sizeof(*longest));
    if (!longest)
        return false;
#define LONGEST(i, j) longest[(i) * (nb + 1) + (j)]
    for (size_t i = na; i-- > 0;)
        for (size_t j = nb; j-- > 0;)
            LONGEST(i, j) =
                equal(p, &a[i], &b[j]) ? LONGEST(i + 1, j + 1) + 1 : MG_MAX(LONGEST(i + 1, j), LONGEST(i, j + 1));
    bool ok = true;
    size_t i = 0, j = 0, from_a = 0, from_b = 0;
    while (ok && i < na && j < nb) {
        if (equal(p, &a[i], &b[j])) {
            ok = put_gap(p, a + from_a, i - from_a, b + from_b, j - from_b) && put(p, &a[i], &b[j]);
            from_a = ++i;
            from_b = ++j;
        } else if (LONGEST(i + 1, j) >= LONGEST(i, j + 1)) {
            i++;
        } else {
            j++;
        }
    }
#undef LONGEST
    free(longest);
    return ok && put_gap(p, a + from_a, na - from_a, b + from_b, nb - from_b);
}

static bool pair_lines(struct mg_pair *p, struct mg_tally_kernel *ka, struct mg_tally_kernel *kb)
{
    if (ka->lines.count)
        qsort(ka->lines.at, ka->lines.count, sizeof(*ka->lines.at), by_place);
    if (kb->lines.count)
        qsort(kb->lines.at, kb->lines.count, sizeof(*kb->lines.at), by_place);
    const struct mg_report_line *a = ka->lines.at, *b = kb->lines.at;
    size_t na = ka->lines.count, nb = kb->lines.count, head = 0, tail = 0;
    bool ok = true;
    if (!na || !nb)
        return put_gap(p, a, na, b, nb);
    while (head < na && head < nb && equal(p, &a[head], &b[head]))
        head++;
    while (tail < na - head && tail < nb - head && equal(p, &a[na - 1 - tail], &b[nb - 1 - tail]))
        tail++;
    for (size_t i = 0; ok && i < head; i++)
        ok = put(p, &a[i], &b[i]);
    ok = ok && put_middle(p, a + head, na - head - tail, b + head, nb - head - tail);
    for (size_t i = 0; ok && i < tail; i++)
        ok = put(p, &a[na - tail + i], &b[nb - tail + i]);
    return ok;
}

static bool same_own_name(const struct mg_tally_kernel *a, const struct mg_tally_kernel *b)
{
    size_t at, n;
    mg__kernel_bare_name(a->kernel, &at, &n);
    return mg__kernel_is_called(b->kernel, a->kernel + at, n);
}

/* The only one of its own name that is not taken; NULL: none, or several. */
static struct mg_tally_kernel *only_one(const struct mg_tally *tally, const bool *taken,
                                        const struct mg_tally_kernel *like, size_t *at)
{
    struct mg_tally_kernel *found = NULL;
    for (size_t i = 0; i < tally->kernels.count; i++)
        if (!taken[i] && same_own_name(tally->kernels.at[i], like)) {
            if (found)
                return NULL;
            found = tally->kernels.at[i];
            *at = i;
        }
    return found;
}

bool mg__compare(struct mg_tally *a, struct mg_tally *b, struct mg_comparison *c)
{
    size_t na = a->kernels.count, nb = b->kernels.count;
    bool *taken_a = calloc(na + 1, 1), *taken_b = calloc(nb + 1, 1);
    struct mg_tally_kernel **of_b = calloc(nb + 1, sizeof(*of_b)); /* the one of a */
    memset(c, 0, sizeof(*c));
    bool ok = taken_a && taken_b && of_b;
    for (size_t j = 0; ok && j < nb; j++)
        for (size_t i = 0; i < na && !of_b[j]; i++)
            if (!taken_a[i] && !strcmp(a->kernels.at[i]->mangled, b->kernels.at[j]->mangled)) {
                of_b[j] = a->kernels.at[i];
                taken_a[i] = taken_b[j] = true;
            }
    for (size_t j = 0; ok && j < nb; j++) {
        size_t i, itself;
        if (taken_b[j] || !only_one(b, taken_b, b->kernels.at[j], &itself))
            continue;
        of_b[j] = only_one(a, taken_a, b->kernels.at[j], &i);
        if (of_b[j])
            taken_a[i] = taken_b[j] = true;
    }
    for (size_t j = 0; ok && j < nb; j++) {
        struct mg_pair p = {.a = of_b[j], .b = b->kernels.at[j]};
        ok = !of_b[j] || pair_lines(&p, of_b[j], b->kernels.at[j]);
        if (!ok || !mg__vec_push(&c->kernels, p)) {
            mg__vec_free(&p.lines);
            ok = false;
        }
    }
    for (size_t i = 0; ok && i < na; i++)
        if (!taken_a[i])
            ok = mg__vec_push(&c->kernels, ((struct mg_pair){.a = a->kernels.at[i]}));
    free(taken_a);
    free(taken_b);
    free(of_b);
    if (!ok)
        mg__comparison_free(c);
    return ok;
}

void mg__comparison_free(struct mg_comparison *c)
{
    for (size_t i = 0; i < c->kernels.count; i++)
        mg__vec_free(&c->kernels.at[i].lines);
    mg__vec_free(&c->kernels);
}
