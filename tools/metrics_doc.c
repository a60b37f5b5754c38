/* metrics_doc.c - makes docs/metrics.md from src/report/metric.def.
 *
 *   metrics_doc                the page on standard output
 *   metrics_doc --check FILE   status 1 when FILE is not that page
 */
#include "report/report.h"

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
        "A launch has all of them. A source line has all but those named `launch__…`; a shared variable has the\n"
        "wavefronts and the shared instructions. A counter of something that did not happen is there, and 0.\n\n"
        "| metric | unit | meaning |\n| --- | --- | --- |\n");
    for (int m = 0; ok && m < MG_METRIC_COUNT; m++)
        ok = mg__strbuf_printf(out, "| `%s` | %s | %s |\n", mg__metric_name((enum mg_metric)m),
                               mg__metric_unit((enum mg_metric)m), mg__metric_text((enum mg_metric)m));
    return ok && mg__strbuf_printf(
        out, "\nDerived, in the tables of `margay profile`:\n\n"
             "| column | from |\n| --- | --- |\n"
             "| shared memory ×ideal | `memory_l1_wavefronts_shared` / `memory_l1_wavefronts_shared_ideal`; "
             "their difference is the bank conflicts |\n"
             "| global memory efficiency | `memory_l2_theoretical_sectors_global_ideal` / "
             "`memory_l2_theoretical_sectors_global`, at most 100 %% |\n"
             "| divergent branches | `smsp__sass_branch_targets_threads_divergent.sum` |\n");
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
