/* picture.h - where the lanes of a warp's access go, what that costs, and what another layout would make of it.
 *
 * The costs are the model's, by the same functions as the counters.
 */
#ifndef MG_PICTURE_H
#define MG_PICTURE_H
#include "arch/arch.h"
#include "report/picture.h"

struct mg_ptx_insn;
struct mg_observer;

/* ---- pattern.c ---- */
struct mg_picture_lanes {           /* one access to shared memory, as the hardware makes it */
    int kind;                       /* enum mg_access_kind */
    const struct mg_ptx_insn *insn; /* of an atomic or a copy; or NULL */
};
int mg__picture_kind(const char *operation); /* "load", "store", "atomic"; -1: none of them */
/* The cost of the lanes where they are: of access->width, mask and lanes. */
void mg__picture_cost(const struct mg_arch *arch, const struct mg_picture_lanes *as,
                      const struct mg_report_access *access, const uint64_t lanes[32], struct mg_report_cost *cost);
/* Fills in the layouts of n accesses to one variable, `access` and `as` side by side: the paddings and swizzles that
 * are best for all of them together, each as often as it came. `room`: bytes that the variable may grow by. */
void mg__picture_layouts(const struct mg_arch *arch, struct mg_report_access *const *access,
                         const struct mg_picture_lanes *as, unsigned n, uint64_t room);

/* ---- observe.c: pictures of what a device runs, of the first launch of each kernel in each shape ---- */
struct mg_pictures;
enum mg_status mg__pictures_create(const struct mg_arch *arch,
                                   void (*done)(void *arg, struct mg_report_picture *picture), void *arg,
                                   struct mg_pictures **pictures);
void mg__pictures_destroy(struct mg_pictures *pictures); /* NULL is fine */
/* Whether the launch that follows is the first of its kernel in its shape. It is not asked of again. */
bool mg__pictures_wants(struct mg_pictures *pictures, const char *kernel, struct mg_dim3 grid, struct mg_dim3 block,
                        uint64_t shared);
/* It wants every access of those launches. */
void mg__pictures_observer(struct mg_pictures *pictures, struct mg_observer *observer);
#endif
