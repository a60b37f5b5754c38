/* report_priv.h - what the files of src/report share. */
#ifndef MG_REPORT_PRIV_H
#define MG_REPORT_PRIV_H
#include "report/report.h"

/* The pieces that records and report files are made of. */
bool mg__json_device(struct mg_strbuf *out, const struct mg_report_device *device);
bool mg__json_seconds(struct mg_strbuf *out, double seconds); /* the number alone */

/* again.c: the latest texts of launches, by what they say but for the time; zeroed before its first use. */
#define MG_AGAIN 32u
struct mg_again_text {
    uint64_t hash;
    struct mg_strbuf key, text;
    size_t from, to; /* of the number of seconds */
};
struct mg_again {
    bool brief;
    struct mg_again_text at[MG_AGAIN];
};
/* As mg__report_launch_json; appends. */
bool mg__again_launch(struct mg_again *again, const struct mg_report_launch *launch, struct mg_strbuf *out);
void mg__again_free(struct mg_again *again);

/* Names of source texts (source.c). `file` as reports tell it, if that text is meant, and whether it has not been told
 * yet; NULL: no memory. Not of several threads at once. */
struct mg_source_names;
struct mg_source_names *mg__source_names_create(void);
void mg__source_names_destroy(struct mg_source_names *names);
const char *mg__source_name(struct mg_source_names *names, const char *file, const char *text, size_t size,
                            bool *fresh);
#endif
