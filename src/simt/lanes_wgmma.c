/* lanes_wgmma.c - multiplications by warpgroups of src/sem/sem_wgmma.h, compiled for several vector extensions. */
#include "simt/lanes.h"
#include "simt/wgmma.h"

void ISA(mg__wgmma)(const struct mg_wgmma_call *c)
{
    sem_wgmma(c->what, c->a, c->b, c->metadata, c->adds, c->d);
    narrow();
}
