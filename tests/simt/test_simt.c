/* test_simt.c - the engine's tests, a file a subject: see the files' openings. */
#include "kit.h"

int main(void)
{
    return kit_run_shapes() != 0;
}
