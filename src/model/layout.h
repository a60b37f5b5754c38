/* layout.h - other layouts of a variable in shared memory, which of them to try, and the best of those.
 *
 * A layout sees the variable as rows of `row` elements. A padded one adds elements to the end of each row, so that a
 * column goes through the banks; a swizzled one permutes the columns of a row by exclusive or with the row's number, or
 * turns every second row round (for butterflies, whose lanes leave out every second run of elements), which costs no
 * memory. Row lengths to try are the distances between the lanes of the accesses that conflict, and a full row of banks
 * (the idiom i + i / 32). What a layout costs is the caller's to say, by the rules of model.h.
 */
#ifndef MG_MODEL_LAYOUT_H
#define MG_MODEL_LAYOUT_H
#include "arch/arch.h"

struct mg_layout {
    uint32_t element, row, pad;   /* bytes; elements; elements */
    uint32_t xor_mask, xor_shift; /* column ^ (row >> shift & mask) * times; 0: none */
    uint32_t xor_times;
};
struct mg_layout_trial {
    struct mg_layout layout;
    double wavefronts, ideal;
    uint32_t added; /* bytes */
    bool any;
    double enough; /* of one that is tried: with more wavefronts than that and the ideal it need not be followed */
};
uint32_t mg__layout_moved(const struct mg_layout *layout,
                          uint32_t offset); /* both in bytes from the variable's start */

/* Row lengths, in elements, that conflicting accesses show. */
enum { MG_LAYOUT_ROWS = 16 };
struct mg_layout_rows {
    uint32_t row[MG_LAYOUT_ROWS + 1];
    double weight[MG_LAYOUT_ROWS + 1];
    unsigned n;
};
/* Adds the distances between the lanes of an access to a variable of so many `elements`; its lanes are at bytes at[].
 */
void mg__layout_distances(struct mg_layout_rows *rows, uint32_t element, uint32_t elements, uint32_t mask,
                          const int32_t at[32], double weight);

struct mg_layout_search {
    const struct mg_arch *arch;
    uint32_t size, element;                                 /* of the variable, bytes */
    uint64_t room;                                          /* bytes that may be added */
    double conflicts;                                       /* wavefronts above the ideal, as it is */
    void (*cost)(void *arg, struct mg_layout_trial *trial); /* fills in wavefronts and ideal */
    void *arg;
    struct mg_layout_trial pad, swizzle; /* the best of each; not `any`: there was none to try */
};
/* Sorts the rows, most weight first, adds a full row of banks, and tries all. */
void mg__layout_search(struct mg_layout_search *search, struct mg_layout_rows *rows);
#endif
