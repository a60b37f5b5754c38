/* same.h - launches of a device that are the same to the last argument: a loop that launches a kernel a thousand times.
 *
 * How long such a launch takes, and what would make it faster, is looked at the first, second, fourth, eighth … time;
 * between these it is taken to be as the last one that was. Thread-safe, but for an entry's facts, which belong to
 * whoever ends launches.
 */
#ifndef MG_SAME_H
#define MG_SAME_H
#include "base/base.h"

struct mg_same {
    uint64_t times;
    /* Of the last one that was looked at: how long it took, as modelled; and if there was advice (`advised`) what that
     * says of it: seconds without pages of managed memory, and for these; shared memory; and mg__mem_moves then. */
    double seconds, of_kernel, pages;
    uint32_t shared_static, shared_dynamic;
    uint64_t moves;
    bool advised;
};
struct mg_sames;
struct mg_sames *mg__sames_create(void); /* NULL: out of memory */
void mg__sames_destroy(struct mg_sames *all);
/* The entry of launches with these facts, `size` bytes, one launch more; *look: this one is to be looked at. NULL:
 * there is room for no more of them, and each is. The entry is valid as long as the device. */
struct mg_same *mg__same_launch(struct mg_sames *all, const void *facts, size_t size, bool *look);
/* How long such a launch took: `seconds`, as modelled, of one that was looked at, which the entry keeps; else as long
 * as the last one that was. `same` may be NULL. */
double mg__same_took(struct mg_same *same, bool looked, double seconds);
#endif
