/* test_simt.c - the engine's tests, a file a subject: see the files' openings. */
#include "kit.h"

/* The groups that are named, or all. */
int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        int (*run)(void);
    } groups[] = {{"again", kit_run_again},   {"shapes", kit_run_shapes}, {"progress", kit_run_progress},
                  {"faults", kit_run_faults}, {"slots", kit_run_slots},   {"fused", kit_run_fused},
                  {"system", kit_run_system}};
    int failed = 0, ran = 0;
    for (size_t i = 0; i < MG_COUNT(groups); i++) {
        bool named = argc < 2;
        for (int k = 1; k < argc; k++)
            named |= !strcmp(argv[k], groups[i].name);
        failed += named ? groups[i].run() : 0;
        ran += named;
    }
    return failed != 0 || (argc > 1 && ran != argc - 1);
}
