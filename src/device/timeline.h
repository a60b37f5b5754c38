/* timeline.h - when things would have happened on the device: what streams were given, put on a line of modelled time.
 *
 * A launch takes what the model of time says (src/time), copies and calls what transfer.def says. Streams go on side by
 * side; copies to and from the host have an engine each, and launches share the multiprocessors. The program's own work
 * between its calls takes no time: nothing is known of it. So what an interval between two events is depends on the
 * calls alone, and is the same in every run.
 *
 * The line begins with the first record of an event that keeps times, or the first launch that reads a clock: who asks
 * for no times pays for none. All of it is in the order of the calls; what waits for a launch whose time is not known
 * yet is put down when it is. All functions are thread-safe, and take NULL for a device whose clock is the host's.
 */
#ifndef MG_TIMELINE_H
#define MG_TIMELINE_H
#include "device/device.h"

enum mg_transfer {
#define TRANSFER(id, us, share, of, engine, source) MG_TRANSFER_##id,
#include "device/transfer.def"
    MG_TRANSFERS
};
struct mg_timeline;
struct mg_timeline_item;

struct mg_timeline *mg__timeline_create(const struct mg_arch *arch); /* NULL: out of memory */
void mg__timeline_destroy(struct mg_timeline *line);
bool mg__timeline_is_on(struct mg_timeline *line); /* it has begun */
/* A launch is given. NULL: the line has not begun. `share`: of the device. */
struct mg_timeline_item *mg__timeline_launch(struct mg_timeline *line, struct mg_order order, double share);
/* It is over, and took so long. `idle`: and so long it waited for the host or others. */
void mg__timeline_ran(struct mg_timeline *line, struct mg_timeline_item *item, double seconds, double idle);
/* `waits`: the call returns when it is over. */
void mg__timeline_copy(struct mg_timeline *line, struct mg_order order, enum mg_transfer what, uint64_t bytes,
                       bool waits);
void mg__timeline_record(struct mg_timeline *line, struct mg_order order, struct mg_mark *mark);
void mg__timeline_behind(struct mg_timeline *line, struct mg_order order, struct mg_mark *mark);
void mg__timeline_wait(struct mg_timeline *line, const struct mg_order *order); /* NULL: for all */
void mg__timeline_wait_mark(struct mg_timeline *line, struct mg_mark *mark);
/* Seconds between two records. False: not known; then they are on the host's clock. */
bool mg__timeline_between(struct mg_timeline *line, const struct mg_mark *from, const struct mg_mark *to,
                          double *seconds);
#endif
