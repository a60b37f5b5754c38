/* metrics_doc.c - makes docs/metrics.md from src/report/metric.def.
 *
 *   metrics_doc                the page on standard output
 *   metrics_doc --check FILE   status 1 when FILE is not that page
 */
#include "report/report.h"

/* All but what it means. */
static bool row(struct mg_strbuf *out, enum mg_metric m)
{
    static const char *const scopes[] = {"variable", "line", "launch"};
    static const char *const adds[] = {"sum", "largest", "same", "ratio", "share", "excess"};
    static const char *const types[] = {"count", "bytes", "time", "percent", "rate", "factor"};
    return mg__strbuf_printf(out, "| `%s` | %s | %s | %s | %s |", mg__metric_name(m), mg__metric_unit(m),
                             scopes[mg__metric_scope(m)], adds[mg__metric_adds(m)], types[mg__metric_type(m)]);
}

static bool page(struct mg_strbuf *out)
{
    bool ok = mg__strbuf_printf(
        out,
        "# Metrics\n\n"
        "<!-- Made from src/report/metric.def by `make docs`: edit the table, not this page. -->\n\n"
        "Every counter that a report can hold. The names are Nsight Compute's, and so are the numbers, with two\n"
        "exceptions: counts of instructions and branches are counts of PTX instructions, where Nsight Compute counts\n"
        "machine instructions. Memory counters are computed from the addresses of each access, so they are exact and\n"
        "the same for every run and any number of threads.\n\n"
        "What adds up is added over lines and launches; of what is the same in all launches of a shape, the largest "
        "is\n"
        "told where shapes differ. A thing has the numbers of its scope and of smaller ones: a launch all, a source "
        "line\n"
        "those of lines and variables, a shared variable its own. A counter of something that did not happen is "
        "there,\n"
        "and 0.\n\n"
        "| metric | unit | scope | several | type | meaning |\n| --- | --- | --- | --- | --- | --- |\n");
    for (int m = 0; ok && m < MG_METRIC_COUNT; m++)
        ok = row(out, (enum mg_metric)m) && mg__strbuf_printf(out, " %s |\n", mg__metric_text((enum mg_metric)m));
    ok = ok && mg__strbuf_printf(out, "\nDerived, after these are added up: a ratio, a share of all, or what the first "
                                      "is more than the second. They are there\nwhere there is something to derive "
                                      "them from.\n\n"
                                      "| metric | unit | scope | how | type | first | second | meaning |\n"
                                      "| --- | --- | --- | --- | --- | --- | --- | --- |\n");
    for (int m = MG_METRIC_COUNT; ok && m < MG_METRIC_ALL; m++) {
        enum mg_metric first, second;
        mg__metric_parts((enum mg_metric)m, &first, &second);
        ok = row(out, (enum mg_metric)m) &&
             mg__strbuf_printf(out, " `%s` | `%s` | %s |\n", mg__metric_name(first), mg__metric_name(second),
                               mg__metric_text((enum mg_metric)m));
    }
    return ok;
}

int main(int argc, char **argv)
{
    struct mg_strbuf text = {0};
    int status = 0;
    if (!page(&text)) {
        status = 2;
    } else if (argc == 3 && !strcmp(argv[1], "--check")) {
        char *data = NULL;
        size_t size = 0;
        if (mg__file_read(argv[2], (size_t)1 << 24, &data, &size, NULL) != MG_OK || size != text.count ||
            memcmp(data, text.at, size)) {
            fprintf(stderr, "%s is not what src/report/metric.def says: run `make docs`\n", argv[2]);
            status = 1;
        }
        free(data);
    } else {
        fputs(text.at, stdout);
    }
    mg__strbuf_free(&text);
    return status;
}
