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
/* Adds a finding, budget/NAME, for each budget that a kernel of the tally does not keep to. */
enum mg_status mg__budgets_judge(const struct mg_budgets *budgets, const struct mg_style *style,
                                 const struct mg_tally *tally, struct mg_findings *findings);
/* Appends them as messages, and complains of budgets that guard nothing. Returns -1 when all hold, or the status to
 * exit with. */
int mg__budgets_tell(const struct mg_budgets *budgets, const struct mg_cli_options *options,
                     const struct mg_tally *tally, const struct mg_findings *findings, struct mg_strbuf *out);
/* A rule for each counter that has a budget: `rules` has room for mg__budgets_count. */
size_t mg__budgets_count(const struct mg_budgets *budgets);
size_t mg__budgets_rules(const struct mg_budgets *budgets, struct mg_sarif_rule *rules);

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
/* ---- last.c: the advice of the last run in the working folder ---- */
bool mg__last_is_name(const char *word); /* no program is found under it, and it could be a kernel's name */
/* No file is called that, and a kernel of the last run in this folder is: it is meant, though a program may be found
 * under the name on the way that PATH says. */
bool mg__last_had(const struct mg_cli_options *options, const char *word);
void mg__last_keep(const struct mg_session *session, const char *program);
/* What was kept of kernels that match options->kernel. Returns -1 to go on, or the status to exit with. */
int mg__last_take(const struct mg_cli_options *options, struct mg_advices *advices, struct mg_given *given);

/* ---- kept.c, again ---- */
/* Texts by a key that says all that they are made of. */
bool mg__kept_text_name(const char *key, size_t length, struct mg_kept *kept);
bool mg__kept_text_take(const struct mg_kept *kept, struct mg_strbuf *out); /* appended; false: it is not there */
void mg__kept_text_put(const struct mg_kept *kept, const struct mg_strbuf *made);
#endif
