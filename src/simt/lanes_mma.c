/* lanes_mma.c - matrix multiplications of src/sem/sem_mma.h, compiled for several vector extensions. */
#include "sem/sem_mma.h"
#include "simt/lanes.h"

void ISA(mg__mma)(const struct mg_sem_mma *what, unsigned cc, const struct mg_sem_warp *io)
{
    sem_mma(what, cc, io);
    narrow();
}
