/* facts.h - a launch as the judge sees it: sites, groups of sites that read one array,
 * shared variables, rates, prices. */
#ifndef MG_ADVISE_FACTS_H
#define MG_ADVISE_FACTS_H
#include "advise/advise_priv.h"

enum mg_pattern_kind { /* of a site's accesses, by the sectors that they touch */
    MG_PATTERN_NONE,
    MG_PATTERN_UNIFORM,   /* one address */
    MG_PATTERN_UNIT,      /* neighbours: lane by lane the next element */
    MG_PATTERN_STRIDED,   /* a constant distance that is not the element */
    MG_PATTERN_FEW,       /* a few addresses, each of several lanes: broadcast */
    MG_PATTERN_RUNS,      /* neighbours in pieces: rows of a tile narrower than a warp */
    MG_PATTERN_SCATTERED,
};
struct mg_use { /* of the sampled blocks, scaled where sectors were sampled */
    double moved;    /* sectors that accesses moved there */
    double sectors;  /* different ones */
    double bytes;    /* different bytes */
    double uses;     /* accesses of bytes: thread by thread */
    double threads;  /* sum over bytes of the threads that touch them */
    double blocks;   /* blocks that touched any */
    bool sampled;
};
struct mg_site_fact {
    const struct mg_advise_site *site;
    struct mg_tried sum;
    struct mg_use use;
    uint32_t group;
    unsigned width;              /* bytes a lane, of most accesses */
    enum mg_pattern_kind pattern;
    int64_t stride;              /* of MG_PATTERN_STRIDED, between lanes */
    /* between threads (x, x+1), (y, y+1), and a thread's first two accesses; 0: unknown */
    int64_t step_x, step_y, step_next;
    uint8_t cause;               /* enum mg_cause: why it does not coalesce */
    bool swaps;                  /* exchanging indices fixes it */
    double ideal_staged;         /* wavefronts of the same loads from shared memory, without conflicts */
    /* the part of its sectors that it would touch, did runs of neighbours start at a sector */
    double aligned;
    /* they start inside sectors because the block is no multiple of 32 threads, and not else */
    bool drifts;
};
/* global.c */
enum mg_cause { MG_FINE, MG_VECTOR, MG_ORDER, MG_FIELDS, MG_OFFSET, MG_NARROW, MG_SCATTER, MG_IDLE, MG_DRIFT };
enum mg_tiles_pay { MG_TILES_NONE, MG_TILES_PAY, MG_TILES_CONFLICT, MG_TILES_COST };
enum mg_staging { MG_STAGE_NONE, MG_STAGE_PAYS, MG_STAGE_COSTS }; /* of what several threads read several times */
struct mg_advise_group { /* sites of one direction that use one array */
    uint8_t direction;
    uint32_t first;     /* its first site */
    uint64_t moved, touched, ideal, requests, bytes;
    double staged;      /* wavefronts, as above */
    struct mg_use use;
    bool stages;        /* staging it is advised */
    uint8_t staging;    /* enum mg_staging; and what it would save and take: */
    double stage_sectors, stage_wavefronts, stage_barriers;
    double hottest;     /* atomics: accesses of the most used granule, of all blocks by estimate */
    double granules;    /* atomics: different ones in all sampled blocks together */
};
struct mg_var_fact {
    uint64_t wavefronts, ideal, loads, stores, atomics;
    uint64_t words, writes, reads; /* of sampled blocks: words written, and their uses */
    uint64_t by_other_thread, by_other_warp; /* words */
    uint32_t worst;                          /* an instruction of the line with most wavefronts above the ideal */
    bool used;
    bool copy;          /* of global memory: nothing else is stored into it (tiles.c) */
    bool made;          /* something was stored into it that no load or constant brought as it is */
    bool library;       /* only code of headers that come with the toolkit loads and stores it: nobody changes that */
    bool joined;        /* something that was computed from what shared memory held */
    bool mixed;         /* by more than one operation, or of other variables as well: no sum, no greatest, no product */
    bool computed, filled_any;
    double filled;      /* global sectors that filling it moved */
    double as_global;   /* sectors that its reads would touch, were they of global memory */
};
struct mg_change {              /* price.c: how the launch would be after a piece of advice was followed */
    struct mg_time_edit *edits; /* of each instruction */
    struct mg_time_addition *added;
    unsigned nadded, room;
    uint64_t blocks;          /* 0: as they are */
    unsigned warps, resident; /* likewise */
    bool asked;
    double saves; /* seconds, once it was asked */
};
struct mg_facts {
    struct mg_arena arena;
    const struct mg_seen *seen;
    const struct mg_launch_info *info;
    const struct mg_arch *arch;
    struct mg_site_fact *sites;
    uint32_t nsites;
    struct mg_advise_group *groups;
    uint32_t ngroups;
    struct mg_var_fact *vars;
    struct mg_tried total;       /* of the launch */
    /* by instruction: what its recorded shared or constant accesses stand for; 1: all are kept */
    double *scale;
    double inst, thread_inst;    /* warp instructions, and times their active threads */
    double arithmetic;           /* warp instructions of floating point */
    double matrices;             /* wavefronts of shared memory that warpgroups' multiplications read */
    bool others_use_shared;      /* they, mbarriers, bulk copies or other blocks: it is not seen which words */
    double alone;                /* warp instructions that one lane of the warp executes: a leader's */
    double barriers;             /* warps at block-wide barriers */
    double branches, divergent;
    uint32_t worst_branch;       /* the instruction that diverged most; UINT32_MAX: none did */
    uint64_t flops_f16, flops_f32, flops_f64;
    double flop_seconds;
    unsigned threads, warps;     /* a block */
    double sampled_blocks;
    bool in_place;               /* a block writes global memory that it reads */
    bool global_exchange;        /* a thread reads global memory that another of its block wrote */
    int32_t *tile_of;            /* by instruction: the shared variable that its load from global memory fills, or -1 */
    struct {
        unsigned count;          /* variables that are copies of global memory */
        bool only;               /* no other shared variable is used */
        double filled, as_global, wavefronts, ideal;
        uint8_t pay; /* enum mg_tiles_pay */
    } tiles;
    uint32_t worst_const;
    bool known; /* how long the launch takes, by the model of time: */
    double seconds, part[MG_TIME_PARTS]; /* seconds: without its pages of managed memory, which no change changes */
    double dram;                         /* bytes of device memory, read and written */
    struct mg_occupancy_query query;
    struct mg_occupancy occupancy;
    bool has_occupancy;
    struct { /* what whole warps would save of accesses that start inside sectors */
        double sectors; /* fewer touched */
        unsigned sites;
    } drift;
    bool in_steps; /* few blocks, and most of the work is steps that wait for one another */
    MG_VEC(struct mg_report_advice_item) items;
};

bool mg__facts_gather(struct mg_facts *f, const struct mg_seen *seen);
void mg__facts_free(struct mg_facts *f);
/* patterns.c: of a site; and the steps between threads, of all sites. */
void mg__facts_find_pattern(struct mg_facts *f, uint32_t site);
void mg__facts_find_steps(struct mg_facts *f, const struct mg_advise_block *block);
bool mg__facts_tiles(struct mg_facts *f); /* tiles.c: fills in the vars' copies, `tile_of` and `tiles` */
/* The operation by which an instruction could join values in any order; COPY: it only hands them on, TRUTH: nothing of
 * theirs is in it, NONE: another. */
enum mg_ptx_algebra mg__facts_joins_by(const struct mg_ptx_insn *insn);
/* Whether threads join values in the variable by one such operation: a sum, a scan, a greatest. */
static inline bool mg__facts_folded(const struct mg_facts *f, uint32_t var)
{
    return f->vars[var].joined && !f->vars[var].mixed;
}
const char *mg__facts_array(struct mg_facts *f, const struct mg_advise_site *site);  /* "parameter 2" */
const char *mg__facts_pattern(struct mg_facts *f, const struct mg_site_fact *site);
const char *mg__facts_variable(struct mg_facts *f, uint32_t var);             /* "tile" */
/* Bytes that a wavefront serves. */
static inline unsigned mg__facts_row(const struct mg_facts *f)
{
    return f->arch->banks * f->arch->bank_bytes;
}
/* Different bytes in each block, added up over all blocks, of so many bytes that threads used; and sectors likewise.
 * Bytes used are counted exactly, and how often each is used is read off the sampled blocks: where all are used alike,
 * both are exact. */
double mg__facts_distinct(const struct mg_use *use, uint64_t bytes);
double mg__facts_once(const struct mg_advise_group *group);
/* The array that a block reads most often, of those whose bytes several threads read; NULL: none. And how often a byte.
 */
const struct mg_advise_group *mg__facts_most_read(const struct mg_facts *f);
double mg__facts_uses(const struct mg_advise_group *group);
static inline uint64_t mg__facts_round(double v)
{
    return v <= 0 ? 0 : v >= 1e18 ? (uint64_t)1e18 : (uint64_t)(v + 0.5);
}

/* spread.c: by instruction, executions by a warp that are left however its loops are divided among threads; at least 1
 * of what is executed so often, and all of them in a loop whose steps wait for one another. NULL: out of memory. */
float *mg__facts_steps_left(struct mg_facts *f);
/* The function whose first instruction this one of the launch is, if all of it follows there; else NULL. */
const struct mg_ptx_func *mg__facts_whole(const struct mg_facts *f, uint32_t insn);

/* elements.c: by instruction, whether it is executed once for each element that a thread takes. NULL: out of memory. */
bool *mg__facts_of_elements(struct mg_facts *f);

/* ---- the advisers: each adds what it has to say ---- */
void mg__advise_causes(struct mg_facts *f);    /* global.c: fills in `cause` and `swaps` */
void mg__advise_global(struct mg_facts *f);
const char *mg__advise_remedy(const struct mg_facts *f,
                              const struct mg_site_fact *site); /* the id of the advice, or "" */
void mg__advise_staging(struct mg_facts *f);   /* staging.c */
void mg__advise_keep(struct mg_facts *f);      /* staging.c */
bool mg__advise_rereads(const struct mg_facts *f, const struct mg_advise_group *group); /* each thread by itself */
void mg__advise_atomics(struct mg_facts *f);   /* atomics.c */
void mg__advise_layout(struct mg_facts *f);    /* layout.c */
void mg__advise_shared(struct mg_facts *f);    /* shared.c */
void mg__advise_tiles_pay(struct mg_facts *f); /* shared.c: fills in tiles.pay */
void mg__advise_constant(struct mg_facts *f);  /* constant.c */
void mg__advise_lanes(struct mg_facts *f);     /* lanes.c */
void mg__advise_occupancy(struct mg_facts *f); /* lanes.c */
void mg__advise_products(struct mg_facts *f);  /* products.c */
void mg__advise_threads(struct mg_facts *f);   /* threads.c */
void mg__advise_pages(struct mg_facts *f);     /* pages.c */
/* A new item, with what its change saves; NULL when that is nothing or memory is out. `id`: a row of advice.def. */
struct mg_report_advice_item *mg__advise_add(struct mg_facts *f, const char *id, struct mg_change *change);
/* The same, of which `seconds` are another remedy's. */
struct mg_report_advice_item *mg__advise_add_beyond(struct mg_facts *f, const char *id, struct mg_change *change,
                                                    double seconds);
void mg__advise_at(struct mg_facts *f, struct mg_report_advice_item *item, uint32_t insn);
void mg__advise_value(struct mg_facts *f, struct mg_report_advice_item *item, const char *name, double value);
void mg__advise_predict(struct mg_facts *f, struct mg_report_advice_item *item, enum mg_metric metric, double value);
char *mg__advise_text(struct mg_facts *f, const char *format, ...) MG_PRINTF(2, 3);
const struct mg_report_advice_item *mg__advise_has(const struct mg_facts *f, const char *id);
/* Blocks on an SM with `change` bytes of shared memory more. */
unsigned mg__advise_blocks_with(const struct mg_facts *f, int64_t change);

/* ---- price.c ---- */
struct mg_change *mg__change(struct mg_facts *f); /* none yet; NULL, which all of these take: out of memory */
struct mg_change *mg__change_like(struct mg_facts *f, const struct mg_change *from);
double mg__change_often(const struct mg_facts *f, uint32_t insn); /* executions by a warp of the launch */
uint32_t mg__change_at(const struct mg_facts *f, bool end);       /* where all warps begin, or end */
/* `each`: by every warp of the launch; what `cost` and `dram` are, mg_time_addition says. */
void mg__change_add(struct mg_facts *f, struct mg_change *c, uint32_t before, enum mg_time_new what, double each,
                    double cost, double dram);
void mg__change_gone(struct mg_change *c, uint32_t insn);
/* Factors of a site's sectors, and of what comes of it from device memory. `turned`: lanes change places, and new
 * sectors come as often as they did. */
void mg__change_sites(const struct mg_facts *f, struct mg_change *c, uint32_t site, double sectors, double dram,
                      bool turned);
double mg__change_memory(const struct mg_facts *f, uint32_t insn); /* sectors of device memory, of the launch now */
/* Of the requests of a site, or of a group, the first part is left, which brings what all did. */
void mg__change_first(const struct mg_facts *f, struct mg_change *c, uint32_t site, uint32_t group, double part);
void mg__change_barriers(const struct mg_facts *f, struct mg_change *c, double times);
bool mg__change_of_var(const struct mg_facts *f, uint32_t insn, uint32_t var); /* an access of a shared variable */
unsigned mg__change_room(const struct mg_facts *f, struct mg_change *c, int64_t bytes); /* blocks that then fit */
double mg__change_saves(struct mg_facts *f, struct mg_change *c);                       /* seconds; below 0: it costs */
struct mg_change *mg__change_best(struct mg_facts *f, struct mg_change *a, struct mg_change *b);
bool mg__change_worth(const struct mg_facts *f, double seconds);
/* Of the launch's time, the least and the most that `seconds` may be. */
void mg__change_range(const struct mg_facts *f, double seconds, double *least, double *most);

/* ---- checklist.c ---- */
void mg__advise_checklist(struct mg_facts *f, struct mg_report_advice *a);
/* ---- chart.c ---- */
void mg__advise_chart(struct mg_facts *f, struct mg_report_advice *a);
/* ---- roofline.c ---- */
void mg__advise_roofline(struct mg_facts *f, struct mg_report_advice *a);
#endif
