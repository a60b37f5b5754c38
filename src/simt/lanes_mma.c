/* lanes_mma.c - matrix multiplications of src/sem/sem_mma.h, compiled for several vector extensions; and the ones that
 * most programs have once more, each on its own, where the compiler knows what is where.
 */
#include "sem/sem_mma.h"
#include "simt/lanes.h"

#define ALONE(name, m, n, k, ab, cd)                                                                         \
    __attribute__((flatten)) static void name(unsigned cc, const struct mg_sem_warp *io)                     \
    {                                                                                                        \
        const struct mg_sem_mma what = {m, n, k, SEM_MMA_##ab | SEM_MMA_##ab << 4, SEM_MMA_##cd * 17, 0, 0}; \
        sem_mma(&what, cc, io);                                                                              \
    }
ALONE(mma_f16, 16, 8, 16, F16, F32)
ALONE(mma_bf16, 16, 8, 16, BF16, F32)

void ISA(mg__mma)(const struct mg_sem_mma *what, unsigned cc, const struct mg_sem_warp *io)
{
    const bool plain = what->m == 16 && what->n == 8 && what->k == 16 && what->cd == SEM_MMA_F32 * 17 && !what->flags;
    if (plain && what->ab == SEM_MMA_F16 * 17)
        mma_f16(cc, io);
    else if (plain && what->ab == SEM_MMA_BF16 * 17)
        mma_bf16(cc, io);
    else
        sem_mma(what, cc, io);
}
