/* report.h - records of what a run did: written as a stream by the simulated process, read and rendered by the command.
 *
 * The stream is JSON lines, so that what was written is good even when the process dies: one object a line with a
 * "record" key: "header", "launch", "finding", "error", "warning", "note", "hosted", "source", "progress",
 * "end".
 * docs/report.md is its manual. The report
 * file of
 * --json is the same records put together. A metric is a row of metric.def.
 */
#ifndef MG_REPORT_H
#define MG_REPORT_H
#include "base/base.h"

enum mg_metric {
#define METRIC(id, ...) MG_METRIC_##id,
#include "report/metric.def"
    MG_METRIC_COUNT, /* of those that are kept */
    MG_METRIC_LAST = MG_METRIC_COUNT - 1,
#define DERIVED(id, ...) MG_METRIC_##id,
#include "report/metric.def"
    MG_METRIC_ALL
};
enum mg_metric_scope { MG_SCOPE_OF_VARIABLE, MG_SCOPE_OF_LINE, MG_SCOPE_OF_LAUNCH };
/* The last three of derived ones, which never come together themselves. */
enum mg_metric_adds { MG_ADDS_SUM, MG_ADDS_LARGEST, MG_ADDS_SAME, MG_ADDS_RATIO, MG_ADDS_SHARE, MG_ADDS_EXCESS };
enum mg_metric_type { MG_TYPE_COUNT, MG_TYPE_BYTES, MG_TYPE_TIME, MG_TYPE_PERCENT, MG_TYPE_RATE, MG_TYPE_FACTOR };
const char *mg__metric_name(enum mg_metric metric);
const char *mg__metric_stall(enum mg_metric metric); /* of a STALL of part.def, the reason: "long_scoreboard" */
const char *mg__metric_unit(enum mg_metric metric);
const char *mg__metric_text(enum mg_metric metric);
enum mg_metric_scope mg__metric_scope(enum mg_metric metric);
enum mg_metric_adds mg__metric_adds(enum mg_metric metric);
enum mg_metric_type mg__metric_type(enum mg_metric metric);
void mg__metric_parts(enum mg_metric derived, enum mg_metric *first, enum mg_metric *second);

struct mg_metrics {
    uint64_t v[MG_METRIC_COUNT];
};
/* False: one that should be the same is not, and is the larger of the two now. */
bool mg__metric_join(enum mg_metric_adds adds, uint64_t *to, uint64_t from);
bool mg__metrics_add(struct mg_metrics *to, const struct mg_metrics *from);
/* Of any, derived ones included. False: there is none, as nothing of the kind happened; *value is 0 then. The same
 * exactly, of what is kept and of an excess. */
bool mg__metric_value(const struct mg_metrics *metrics, enum mg_metric metric, double *value);
uint64_t mg__metric_whole(const struct mg_metrics *metrics, enum mg_metric metric);
/* Those that the model of time fills in, where it was asked to: they are there together, or not at all, of a launch and
 * of a line at which warps spent time. */
static inline bool mg__metric_known(const struct mg_metrics *metrics, enum mg_metric metric)
{
    return metric < MG_METRIC_TIME || metric > MG_METRIC_DRAM_READ || metrics->v[MG_METRIC_TIME] ||
           metrics->v[MG_METRIC_TIME_LINE];
}
struct mg_report_written {  /* how many accesses to memory stand in the text, as the counters take them */
    uint32_t loads, stores; /* of global, shared and generic memory; those that ptxas surely joins are one */
    uint32_t atomics;       /* of global memory */
    uint32_t guarded;       /* of all these: under a predicate */
};
struct mg_report_line {
    const char *file; /* "" when unknown */
    uint32_t line;
    struct mg_metrics metrics;
    struct mg_report_written written;
};
struct mg_report_var { /* a shared variable */
    const char *name;  /* demangled and short: "tile" */
    uint32_t offset, size;
    struct mg_metrics metrics; /* the shared-memory ones; others 0 */
};
/* What makes a launch's counts depend on the order in which its warps waited for each other. */
enum {
    MG_REPORT_POLLING = 1, /* "polling": warps waited in loops */
    MG_REPORT_PARKED = 2,  /* "parked": blocks were left before their end, for others */
    MG_REPORT_APART = 4,   /* "apart": lanes went on without those that they should have reconverged with */
    MG_REPORT_SWAP = 8     /* "swap": a compare-and-swap failed */
};
#define MG_REPORT_WAITS 4u
const char *mg__report_wait_name(unsigned bit); /* of 1 << bit */
/* Of a launch of which some blocks were counted. Its sums, those of lines and of variables are estimates of all. */
struct mg_report_sample {
    uint64_t blocks, counted;
    bool left_out; /* the other blocks did not run; else what is told by instructions executed is exact */
    double half[MG_METRIC_COUNT]; /* the sum lies within so much of the estimate, at 95 %; 0: it is exact */
};
struct mg_report_launch {
    const char *kernel, *mangled; /* demangled; as in PTX */
    unsigned device;              /* its number in the process */
    struct mg_dim3 grid, block;
    uint32_t shared_static, shared_dynamic, regs;
    const char *regs_from; /* "machine code for 9.0", "an estimate"; NULL: not said */
    double seconds; /* host time */
    enum mg_status status;
    uint32_t waits; /* MG_REPORT_POLLING … */
    struct mg_metrics metrics;
    struct mg_report_line *lines; /* by file and line */
    size_t nlines;
    struct mg_report_var *vars;
    size_t nvars;
    const struct mg_report_sample *sample; /* NULL: all is counted */
};
/* What is wrong with a kernel, or with a call that concerns it: one record for each pair of source lines, variable and
 * kind, not one for each occurrence. Strings may be NULL where nothing is known, and lines 0. */
enum mg_severity { MG_SEVERITY_NOTE, MG_SEVERITY_WARNING, MG_SEVERITY_ERROR };
struct mg_report_finding {
    const char *check; /* "race", "barrier", "init", "bounds", "launch": what --only and suppressions select */
    const char *kind;  /* a row of check's catalogue: "write-read" */
    enum mg_severity severity;
    const char *kernel, *mangled; /* NULL for a finding of the host side */
    const char *file, *other_file;
    uint32_t line, other_line; /* where it happened; the other access of a race, the barrier where the rest wait */
    uint32_t column, other_column; /* from 1, in bytes; 0: unknown */
    const char *variable; /* "tile[17][3]", "dynamic shared memory, byte 132", "allocation of 4096 bytes, byte 4096" */
    uint64_t count;            /* times it happened */
    const char *message;       /* what happened, first block and threads included: one sentence */
    const char *advice;        /* what to do about it: one sentence */
};
/* ---- advice: what would make one launch faster (docs/advise.md) ---- */
struct mg_report_value { /* one number of a piece of advice or a check */
    const char *name;    /* "conflicts", "memory_l1_wavefronts_shared" */
    double value;
};
#define MG_ADVICE_LEAST 0.03 /* of the time: what would save less is no advice */
struct mg_report_advice_item {
    const char *id;    /* a row of advice.def: "pad" */
    const char *title; /* what to do: "Pad each row of 'tile' by 1 element (4 bytes)" */
    const char *why;   /* what was counted: sentences */
    const char *how;   /* the change, and what it costs */
    const char *file;  /* where; "" and 0 when it is the launch itself */
    uint32_t line;
    const char *variable;       /* shared variable or array; "" */
    double gain, seconds;       /* of the launch's estimated time: a fraction; and in seconds */
    double gain_least, gain_most;   /* the fraction's range */
    struct mg_report_value *values; /* what it rests on */
    size_t nvalues;
    struct mg_report_value *predicted; /* counters of the launch after the change, by their names in metric.def */
    size_t npredicted;
};
struct mg_report_advice_site { /* one access site of global memory */
    const char *file;
    uint32_t line;
    const char *operation; /* "load", "store", "atomic" */
    const char *array;     /* "parameter 2", the name of a __device__ variable, or "" */
    const char *pattern;   /* "contiguous", "stride of 4096 bytes", "one address", "scattered" … */
    uint64_t requests, sectors, ideal; /* as the counters: sectors touched */
    double uses_byte, threads_byte;    /* in a block: accesses of each byte, and the threads that make them */
    uint64_t bytes_block;              /* different bytes that a block touches here */
    bool sampled;                      /* those of a sample of its sectors */
    const char *remedy;                /* of what does not coalesce, or is read too often: an id of the advice; or "" */
    const char *staging; /* of a tile for its array: "would pay", "would not pay", "pays already" …; or "" */
    /* sectors saved; what that takes: wavefronts, warps at barriers */
    double stage_sectors, stage_wavefronts, stage_barriers;
};
struct mg_report_advice_row { /* of the checklist, or a question of the decision chart */
    const char *id;     /* "conflicts" */
    const char *text;   /* "No bank conflicts" */
    const char *result; /* "passed", "failed", "none" (does not apply); of a question "yes", "no" */
    const char *counts; /* the numbers, as a phrase */
};
struct mg_report_roof {
    const char *name;    /* "device memory" */
    double peak;         /* bytes a second, or FLOP a second for arithmetic */
    double amount;       /* bytes or FLOP of the launch */
    double intensity;    /* FLOP a byte; 0 for arithmetic */
    double seconds;      /* amount over peak */
};
struct mg_report_advice {
    const char *kernel, *mangled, *board;
    struct mg_dim3 grid, block;
    unsigned cc;
    uint32_t shared_static, shared_dynamic, regs;
    const char *regs_from; /* as of a launch */
    bool regs_exact;       /* of the very code that the device runs */
    enum mg_status status;
    uint64_t blocks, blocks_sampled;
    unsigned occupancy_blocks, occupancy_warps, occupancy_max_warps;
    const char *occupancy_limiter, *occupancy_step; /* "registers"; what would admit one block more, or "" */
    uint64_t flops_f16, flops_f32, flops_f64;
    struct mg_report_roof *roofs; /* arithmetic, device memory, shared memory, instruction issue */
    size_t nroofs, binding;
    double attainable;            /* FLOP a second under the roofs */
    double seconds;               /* the estimate that gains are fractions of: all parts but … */
    double pages;                 /* … the pages of managed memory that it waited for */
    const char *limiter;          /* the largest of these parts: "shared memory", "too few blocks" */
    const char *verdict;          /* of the decision chart: "shared memory would pay: …" */
    struct mg_report_advice_row *chart, *checks;
    size_t nchart, nchecks;
    struct mg_report_advice_site *sites;
    size_t nsites;
    struct mg_report_advice_item *items; /* largest gain first; never empty: "nothing" is an item */
    size_t nitems;
    /* It takes no longer than one before of the same kernel and shape, which stands for it: nothing else is said than
     * which kernel, in which shape, how it ended, `seconds` and `pages`. */
    bool shorter;
    bool as_before; /* with `shorter`: it is the same as a launch before, to its last argument, and was not looked at:
                       `seconds` are that one's */
};

struct mg_report_device {
    const char *name;
    unsigned cc, sm_count;
};

/* ---- writing: thread-safe, each record is one write(2) ---- */
struct mg_report_writer;
/* `target` is "fd:N" (an inherited descriptor) or a path. */
enum mg_status mg__report_open(const char *target, const struct mg_report_device *device, struct mg_report_writer **w);
void mg__report_brief(struct mg_report_writer *w); /* launches are written briefly from here on */
/* Keeps launches in memory, and nothing else: mg__report_take gives those so far as a whole report file (malloc'd), and
 * forgets them. */
enum mg_status mg__report_keep(const struct mg_report_device *device, struct mg_report_writer **w);
enum mg_status mg__report_take(struct mg_report_writer *w, char **json);
enum mg_status mg__report_launch(struct mg_report_writer *w, const struct mg_report_launch *launch);
enum mg_status mg__report_finding(struct mg_report_writer *w, const struct mg_report_finding *finding);
enum mg_status mg__report_advice(struct mg_report_writer *w, const struct mg_report_advice *advice);
/* Says that launches are checked, and for what ("race,init"): a report without it is no proof that nothing is wrong. */
enum mg_status mg__report_checks(struct mg_report_writer *w, const char *checks);
enum mg_status mg__report_error(struct mg_report_writer *w, const char *kernel, const struct mg_diag *diag);
/* The same from a signal handler: without locks or memory, and of the diag its status, message and hint alone. To
 * standard error without a writer. */
void mg__report_crash(struct mg_report_writer *w, const char *kernel, const struct mg_diag *diag);
/* An error's fields as they stand in records and reports, without braces. */
bool mg__json_diag(struct mg_strbuf *out, const char *kernel, const struct mg_diag *diag);
/* What a device would let pass, and is not right: the launch went on. */
enum mg_status mg__report_warning(struct mg_report_writer *w, const char *kernel, const struct mg_diag *diag);
/* What the user should know of the run as a whole, which changes nothing: the first one of a writer, and no other. */
enum mg_status mg__report_note(struct mg_report_writer *w, const char *text);
/* A call of a library that the host computed: nothing of it was counted. */
enum mg_status mg__report_hosted(struct mg_report_writer *w, const char *library, const char *routine);
/* Source text (`size` bytes and a zero) that came with a kernel, and belongs to its file `file`: the name that reports
 * have for it, which is the writer's (source.c). NULL without a writer or without memory: it stays `file`. */
const char *mg__report_source(struct mg_report_writer *w, const char *file, const char *text, size_t size);
/* Of a launch that has run for so long: blocks. */
enum mg_status mg__report_progress(struct mg_report_writer *w, const char *kernel, uint64_t done, uint64_t total,
                                   double seconds);
void mg__report_close(struct mg_report_writer *w);
/* Appends a JSON string, quotes included. What is not UTF-8 in `text` becomes U+FFFD, so the result always is. */
bool mg__json_string(struct mg_strbuf *out, const char *text);
/* The launch as one JSON object, without the newline: what report files hold in "launches". Brief: without metrics that
 * are zero and derived ones, for a reader who adds launches up. */
bool mg__report_launch_json(const struct mg_report_launch *launch, bool brief, struct mg_strbuf *out);
/* The finding likewise: what report files hold in "findings". */
bool mg__report_finding_json(const struct mg_report_finding *finding, struct mg_strbuf *out);
const char *mg__report_severity_name(enum mg_severity severity); /* "note", "warning", "error" */
bool mg__report_advice_json(const struct mg_report_advice *advice, struct mg_strbuf *out);
/* A whole report file is: begin, launches separated by commas, end. For those who hold the launches in memory. */
#define MG_REPORT_SCHEMA 1
bool mg__report_begin_json(const struct mg_report_device *device, struct mg_strbuf *out);
bool mg__report_end_json(struct mg_strbuf *out, const char *findings); /* objects, commas between */
/* "_Z5scalePfi" -> "scale(float*, int)"; a C name comes back as it is. malloc'd. */
char *mg__report_demangle(const char *name);
/* "_ZZ2mmPKfPfE4tile" -> "tile": a shared variable's own name. malloc'd. Launch records are given this treatment
 * anyway. */
char *mg__report_variable_name(const char *name);
#endif
