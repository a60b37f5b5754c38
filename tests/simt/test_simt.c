/* test_simt.c - the engine's tests, a file a subject: see the files' openings. */
#include "kit.h"

int main(void)
{
    int failed = kit_run_shapes();
    failed += kit_run_progress();
    failed += kit_run_faults();
    failed += kit_run_slots();
    failed += kit_run_fused();
    failed += kit_run_system();
    return failed != 0;
}
