/* time.h - how long a launch would take on the device, and what of: a model of the machine. An observer.
 *
 * While a launch runs, its instructions are counted, and the accesses of a sample of its blocks are kept. When it ends,
 * these are given to a model of one multiprocessor, its caches and its share of what all of them use (machine.c).
 * docs/time.md says how far its answers are off.
 */
#ifndef MG_TIME_H
#define MG_TIME_H
#include "arch/arch.h"
#include "report/report.h"
#include "simt/observe.h"

enum mg_time_part { /* what warps waited for, or were issued for */
#define PART(id, metric, name) MG_TIME_##id,
#include "report/part.def"
                    MG_TIME_PARTS
};
enum mg_time_stall { /* why they were not issued, as Nsight Compute has it; or that they were */
#define STALL(id, metric) MG_STALL_##id,
#include "report/part.def"
                     MG_STALLS
};
struct mg_time_result {
    double seconds, least, most;  /* the estimate, and a range that holds four launches of five */
    double part[MG_TIME_PARTS];   /* seconds; together the estimate */
    double dram_read, dram_write; /* bytes */
    double l1_sectors, l1_hits, l2_sectors, l2_hits;
    double stalled[MG_STALLS]; /* samples: a warp looked at every 32 cycles */
    bool known;                /* false: the launch failed, or there was no memory */
};

struct mg_time;
struct mg_time *mg__time_create(const struct mg_arch *arch); /* NULL: out of memory */
void mg__time_destroy(struct mg_time *time);
struct mg_observer mg__time_observer(struct mg_time *time);
void mg__time_regs(struct mg_time *time, uint32_t regs); /* a thread's, of the launch that follows */
/* Of the last launch that ended. */
const struct mg_time_result *mg__time_result(const struct mg_time *time);
/* The clock that kernels read, for launches of which it is attached (clock.c). */
struct mg_time_clock;
struct mg_time_clock *mg__time_clock_create(const struct mg_arch *arch); /* NULL: out of memory */
void mg__time_clock_destroy(struct mg_time_clock *clock);
struct mg_observer mg__time_clock_observer(struct mg_time_clock *clock);
void mg__time_clock_regs(struct mg_time_clock *clock, uint32_t regs); /* as mg__time_regs */
void mg__time_metrics(const struct mg_time_result *result, struct mg_metrics *metrics);
/* Of the last launch that ended, while its instructions are there: what warps spent at each of these lines. */
void mg__time_lines(const struct mg_time *time, struct mg_report_line *lines, size_t nlines);
#endif
