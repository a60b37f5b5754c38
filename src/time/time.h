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
    bool native;               /* its machine code was followed, and not what PTX suggests */
};

/* Without the pages of managed memory that came meanwhile, which no change of the kernel changes. */
static inline double mg__time_of_kernel(const struct mg_time_result *r)
{
    return r->seconds - r->part[MG_TIME_PAGES];
}

struct mg_time;
struct mg_time *mg__time_create(const struct mg_arch *arch); /* NULL: out of memory */
void mg__time_destroy(struct mg_time *time);
struct mg_observer mg__time_observer(struct mg_time *time);
/* Blocks whose accesses it looks at in the launch that has begun last; how many, `most` at most. */
unsigned mg__time_blocks(const struct mg_time *time, uint64_t *at, unsigned most);
void mg__time_regs(struct mg_time *time, uint32_t regs); /* a thread's, of the launch that follows */
/* Its machine code, of the device's capability: instructions of 16 bytes, and from which line of the PTX each comes. It
 * must live until the launch has ended. NULL: there is none. */
struct mg_time_native {
    const uint64_t (*words)[2];
    const uint32_t *lines;
    uint32_t n;
};
void mg__time_native(struct mg_time *time, const struct mg_time_native *native);
/* Of the last launch that ended. */
const struct mg_time_result *mg__time_result(const struct mg_time *time);
/* The clock that kernels read, for launches of which it is attached (clock.c). */
struct mg_time_clock;
struct mg_time_clock *mg__time_clock_create(const struct mg_arch *arch); /* NULL: out of memory */
void mg__time_clock_destroy(struct mg_time_clock *clock);
struct mg_observer mg__time_clock_observer(struct mg_time_clock *clock);
void mg__time_clock_regs(struct mg_time_clock *clock, uint32_t regs); /* as mg__time_regs */

/* ---- change.c: how long the last launch would take, were it changed ---- */
struct mg_time_edit {       /* of an instruction; factors, 1: as it was */
    float times;            /* how often it is executed: above 1 side by side, in registers of their own */
    float wavefronts;       /* shared memory: of an access, with its atomics' rounds */
    float sectors;          /* global memory: of an access; lanes are neighbours then, as far as sectors let them */
    float past;             /* of these, what the first cache does not have */
    float dram;             /* bytes that come from device memory, of all its accesses */
    bool shared_out;        /* what follows holds in place of the last two: */
    float to_past, to_dram; /* sectors of an access past the first cache, and those of device memory; … */
    float to_waits;         /* … and how often it waits for any: another warp may have asked for them, … */
    float to_fresh;         /* … and which part of those that bring any brings what no block has touched */
    uint8_t to;             /* enum mg_ptx_space: it goes there instead; 0: it stays */
    uint8_t chain;          /* of several executions, how many go side by side; 0: all */
    bool ahead;             /* it is asked for early, and what it brings is there when the next barrier opens */
    float to_cost;          /* where it goes: wavefronts or sectors of an access … */
    float to_rounds;        /* … and lanes of an atomic at one place */
};
enum mg_time_new { /* instructions that a change adds */
                   MG_TIME_NEW_ALU,
                   MG_TIME_NEW_SHUFFLE,
                   MG_TIME_NEW_BARRIER,
                   MG_TIME_NEW_SHARED, /* an access; cost: wavefronts */
                   MG_TIME_NEW_LOAD,   /* of global memory; cost: sectors */
                   MG_TIME_NEW_ATOMIC,
};
struct mg_time_addition {
    uint32_t before; /* an instruction */
    uint8_t what;    /* enum mg_time_new */
    float times;     /* each time that the instruction would be executed without the change */
    float cost;
    float dram; /* of a load's sectors, the part from device memory; of an atomic, different pieces of 512 bytes */
};
struct mg_time_change {
    const struct mg_time_edit *edits; /* of each instruction of the launch */
    const struct mg_time_addition *added;
    size_t nadded;
    uint64_t blocks;          /* of the grid; 0: as they are */
    unsigned warps, resident; /* of a block; blocks on a multiprocessor; likewise */
};
/* Keep what such questions need, of all launches that follow. */
void mg__time_keep(struct mg_time *time);
/* Of each request of one of its instructions, mean: sectors past the first cache and from device memory, and how often
 * it waits for any, its own or another warp's; how often it brings any, and any that no block has touched. */
struct mg_time_sectors {
    double past, dram, waits, misses, fresh;
};
struct mg_time_sectors mg__time_sectors(const struct mg_time *time, uint32_t insn);
/* False: nothing was kept, or there is no memory. */
bool mg__time_changed(struct mg_time *time, const struct mg_time_change *change, double *seconds);
void mg__time_metrics(const struct mg_time_result *result, struct mg_metrics *metrics);
/* Of the last launch that ended, while its instructions are there: what warps spent at each of these lines. */
void mg__time_lines(const struct mg_time *time, struct mg_report_line *lines, size_t nlines);
#endif
