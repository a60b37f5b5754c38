/* report.h - records of what a run did: written as a stream by the simulated process, read and rendered by the command.
 *
 * The stream is JSON lines, so that what was written is good even when the process dies: one object a line with a
 * "record" key: "header", "launch", "finding", "error", "progress", "end". docs/report.md is its manual. The report file of
 * --json is the same records put together. A metric is a row of metric.def.
 */
#ifndef MG_REPORT_H
#define MG_REPORT_H
#include "base/base.h"

enum mg_metric {
#define METRIC(id, name, unit, text) MG_METRIC_##id,
#include "report/metric.def"
#undef METRIC
    MG_METRIC_COUNT
};
const char *mg__metric_name(enum mg_metric metric);
const char *mg__metric_unit(enum mg_metric metric);
const char *mg__metric_text(enum mg_metric metric);

struct mg_metrics {
    uint64_t v[MG_METRIC_COUNT];
};
struct mg_report_line {
    const char *file; /* "" when unknown */
    uint32_t line;
    struct mg_metrics metrics;
};
struct mg_report_var { /* a shared variable */
    const char *name;  /* demangled and short: "tile" */
    uint32_t offset, size;
    struct mg_metrics metrics; /* the shared-memory ones; others 0 */
};
struct mg_report_launch {
    const char *kernel, *mangled; /* demangled; as in PTX */
    struct mg_dim3 grid, block;
    uint32_t shared_static, shared_dynamic, regs;
    double seconds; /* host time */
    enum mg_status status;
    struct mg_metrics metrics;
    struct mg_report_line *lines; /* by file and line */
    size_t nlines;
    struct mg_report_var *vars;
    size_t nvars;
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
    const char *variable;      /* "tile[17][3]", "dynamic shared memory, byte 132", "allocation of 4096 bytes, byte 4096" */
    uint64_t count;            /* times it happened */
    const char *message;       /* what happened, first block and threads included: one sentence */
    const char *advice;        /* what to do about it: one sentence */
};
struct mg_report_device {
    const char *name;
    unsigned cc, sm_count;
};

/* ---- writing: thread-safe, each record is one write(2) ---- */
struct mg_report_writer;
/* `target` is "fd:N" (an inherited descriptor) or a path. */
enum mg_status mg__report_open(const char *target, const struct mg_report_device *device, struct mg_report_writer **w);
enum mg_status mg__report_launch(struct mg_report_writer *w, const struct mg_report_launch *launch);
enum mg_status mg__report_finding(struct mg_report_writer *w, const struct mg_report_finding *finding);
/* Says that launches are checked, and for what ("race,init"): a report without it is no proof that nothing is wrong. */
enum mg_status mg__report_checks(struct mg_report_writer *w, const char *checks);
enum mg_status mg__report_error(struct mg_report_writer *w, const char *kernel, const struct mg_diag *diag);
enum mg_status mg__report_progress(struct mg_report_writer *w, const char *kernel, uint64_t done, uint64_t total);
void mg__report_close(struct mg_report_writer *w);
/* The launch as one JSON object, without the newline: what report files hold in "launches". */
bool mg__report_launch_json(const struct mg_report_launch *launch, struct mg_strbuf *out);
/* The finding likewise: what report files hold in "findings". */
bool mg__report_finding_json(const struct mg_report_finding *finding, struct mg_strbuf *out);
const char *mg__report_severity_name(enum mg_severity severity); /* "note", "warning", "error" */
/* A whole report file is: begin, launches separated by commas, end. For those who hold the launches in memory. */
#define MG_REPORT_SCHEMA 1
bool mg__report_begin_json(const struct mg_report_device *device, struct mg_strbuf *out);
bool mg__report_end_json(struct mg_strbuf *out);
/* "_Z5scalePfi" -> "scale(float*, int)"; a C name comes back as it is. malloc'd. */
char *mg__report_demangle(const char *name);
/* "_ZZ2mmPKfPfE4tile" -> "tile": a shared variable's own name. malloc'd. Launch records are given this treatment anyway. */
char *mg__report_variable_name(const char *name);
#endif
