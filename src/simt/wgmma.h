/* wgmma.h - a multiplication by a warpgroup: as an op has it, and one warp's share of it with all that it needs. */
#ifndef MG_SIMT_WGMMA_H
#define MG_SIMT_WGMMA_H
#include "sem/sem_wgmma.h"

struct mg_wgmma {
    struct mg_sem_wgmma what;
    bool sparse;
    int32_t d[SEM_WGMMA_COLUMNS / 2]; /* slots of D's registers, which it has until it is waited for */
};
struct mg_wgmma_call { /* of sem_wgmma */
    const struct mg_sem_wgmma *what;
    const uint32_t *metadata;
    uint32_t *d[SEM_WGMMA_COLUMNS / 2];
    bool adds;
    uint8_t a[16][SEM_WGMMA_A_BYTES], b[SEM_WGMMA_COLUMNS][SEM_WGMMA_B_BYTES];
};
#endif
