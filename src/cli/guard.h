/* guard.h - what guards a build: budgets of kernels, messages in the form that other tools read; programs kept. */
#ifndef MG_GUARD_H
#define MG_GUARD_H
#include "cli.h"

/* ---- format.c: a finding as one message ---- */
enum mg_format { MG_FORMAT_TEXT, MG_FORMAT_GCC, MG_FORMAT_GITHUB };
bool mg__format_parse(const char *name, enum mg_format *format);
/* As the format has it; MG_FORMAT_TEXT: as people read it, source lines included. */
bool mg__format_finding(enum mg_format format, const struct mg_report_finding *finding, struct mg_sources *sources,
                        const struct mg_style *style, struct mg_strbuf *out);

/* ---- expect.c: budgets ---- */
struct mg_budgets;
/* `text` as --expect has it. Returns -1 to go on, or the status to exit with. */
int mg__budgets_load(const struct mg_cli_options *options, const char *text, struct mg_budgets **budgets);
void mg__budgets_free(struct mg_budgets *budgets);
/* Appends a message for each budget that a kernel of the tally does not keep to. Returns -1 when all hold, or the
 * status to exit with. */
int mg__budgets_judge(const struct mg_budgets *budgets, const struct mg_cli_options *options,
                      const struct mg_tally *tally, const struct mg_style *style, struct mg_strbuf *out);

/* ---- kept.c: programs that nvcc made, kept by what it made them of ---- */
struct mg_kept {
    char path[MG_CACHE_PATH]; /* "": it is not to be kept */
    uint64_t began;
    int asked; /* the signal that asked to end while nvcc told its version, or 0 */
};
/* False: what nvcc is told (`args`, which end in NULL) does not say all that the program depends on. */
bool mg__kept_name(const char *nvcc, const char *const *args, const char *source, struct mg_kept *kept);
bool mg__kept_take(const struct mg_kept *kept, const char *program); /* false: nvcc is needed */
/* `list`: what -MD wrote. */
void mg__kept_put(const struct mg_kept *kept, const char *program, const char *list);
/* Texts by a key that says all that they are made of. */
bool mg__kept_text_name(const char *key, size_t length, struct mg_kept *kept);
bool mg__kept_text_take(const struct mg_kept *kept, struct mg_strbuf *out); /* appended; false: it is not there */
void mg__kept_text_put(const struct mg_kept *kept, const struct mg_strbuf *made);
#endif
