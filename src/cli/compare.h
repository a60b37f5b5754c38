/* compare.h - two tallies held against each other: which kernels and lines are the same, and what changed. */
#ifndef MG_COMPARE_H
#define MG_COMPARE_H
#include "report/render.h"

struct mg_pair_line { /* one of the two may be NULL: it is gone, or new */
    const struct mg_report_line *a, *b;
};
struct mg_pair { /* of kernels; likewise */
    const struct mg_tally_kernel *a, *b;
    MG_VEC(struct mg_pair_line) lines; /* in the order of the second, what is gone where it was */
};
struct mg_comparison {
    MG_VEC(struct mg_pair) kernels; /* as in the second tally, then what is gone */
};
/* The tallies must outlive it, and are not by shape. False: out of memory. */
bool mg__compare(struct mg_tally *a, struct mg_tally *b, struct mg_comparison *comparison);
void mg__comparison_free(struct mg_comparison *comparison);
#endif
