/* advise.h - what would make a kernel faster, worked out from what it did. An observer.
 *
 * Every access is recorded as it happens (shapes, and for a sample of blocks which bytes which threads touch); when the
 * launch ends, the record is judged: reuse, coalescing, bank conflicts with other layouts tried on the recorded
 * accesses, lanes, occupancy, the roofline. docs/advise.md says what each estimate rests on.
 */
#ifndef MG_ADVISE_H
#define MG_ADVISE_H
#include "arch/arch.h"
#include "report/report.h"
#include "simt/observe.h"

struct mg_advise;
struct mg_time;
struct mg_model;
/* For the device `arch` and its board. `time`, which keeps its launches, has seen each launch end before this has, and
 * so has `model`, whose counts are those of the blocks that are not looked at; NULL: all are.
 * `done` gets each launch's advice, valid during the call only. */
enum mg_status mg__advise_create(const struct mg_arch *arch, struct mg_time *time, struct mg_model *model,
                                 void (*done)(void *arg, const struct mg_report_advice *advice), void *arg,
                                 struct mg_advise **advise);
void mg__advise_destroy(struct mg_advise *advise);
struct mg_observer mg__advise_observer(struct mg_advise *advise);
/* Registers a thread of the launch that follows, which no observer is told; where the number comes from ("an estimate";
 * kept by the caller until the launch has ended); whether that is the very code that the device runs. */
void mg__advise_regs(struct mg_advise *advise, uint32_t regs, const char *from, bool exact);
#endif
