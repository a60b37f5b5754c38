/* sweep.h - what the files of `margay sweep` share: axes and points, the file of results, table and plot. */
#ifndef MG_SWEEP_H
#define MG_SWEEP_H
#include "cli.h"

enum { MG_SWEEP_AXES = 8, MG_SWEEP_VALUES = 256, MG_SWEEP_POINTS = 65536 };
struct mg_sweep_axis {
    char name[64]; /* of the macro, or "board" */
    bool board;
    char *values[MG_SWEEP_VALUES];
    unsigned n;
};
struct mg_sweep_kernel {
    char *kernel;
    uint64_t launches;
    double ns, least, most; /* of a launch, on average */
    char limiter[32];       /* the largest part of it */
};
struct mg_sweep_point {
    char *line;   /* its record, as in the file; NULL: not there yet */
    char *failed; /* why there are no times, or NULL */
    MG_VEC(struct mg_sweep_kernel) kernels;
};
struct mg_sweep {
    struct mg_sweep_axis axes[MG_SWEEP_AXES];
    unsigned naxes, npoints;
    struct mg_sweep_point *points; /* the last axis runs fastest */
    char *header;                  /* the file's first line */
    const char *file;
};
/* The value of the axis at a point. */
const char *mg__sweep_value(const struct mg_sweep *sweep, unsigned point, unsigned axis);

/* ---- sweep_file.c ---- */
/* Empties a file of failures alone. Returns -1, or the status to exit with. */
int mg__sweep_begin(const struct mg_sweep *sweep);
/* Reads what the file has, if there is one. Returns -1, or the status to exit with: it is another sweep's. */
int mg__sweep_read(struct mg_sweep *sweep);
/* Adds the point's line, and takes over what others have added; both under a lock. False: it could not be written. */
bool mg__sweep_add(struct mg_sweep *sweep, unsigned point, const char *line);
void mg__sweep_free(struct mg_sweep *sweep);

/* ---- sweep_page.c ---- */
bool mg__sweep_table(const struct mg_sweep *sweep, const struct mg_style *style, struct mg_strbuf *out);
/* False: out of memory. Nothing where no axis has two numbers. */
bool mg__sweep_plot(const struct mg_sweep *sweep, const struct mg_style *style, bool svg, struct mg_strbuf *out);
bool mg__sweep_html(const struct mg_sweep *sweep, const char *program, struct mg_strbuf *out);
#endif
