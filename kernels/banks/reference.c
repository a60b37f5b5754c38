/* reference.c - banks in plain C: the sums of the words that each thread of a rung reads. */
#include "margay/kernels.h"
#include "banks/tile.h"

static const struct {
    uint32_t width, stride;
} patterns[] = {
#define RUNG(id, name, idea, gain, width, stride) {width, stride},
#include "banks/banks.def"
#undef RUNG
};

/* The sum of what thread `thread` of any block reads: some shifts are read once more than the others. */
static uint32_t sum_of_reads(uint32_t width, uint32_t stride, uint32_t thread, uint64_t rounds)
{
    uint32_t sum = 0;
    for (uint32_t shift = 0; shift < BANKS_SHIFTS; shift++) {
        uint32_t item = thread % 32 * stride + thread / 32 + shift;
        uint32_t times = (uint32_t)(rounds / BANKS_SHIFTS + (shift < rounds % BANKS_SHIFTS));
        for (uint32_t k = 0; k < width; k++)
            sum += times * (item * width + k);
    }
    return sum;
}

void mg_ref_banks_u32(int variant, int64_t blocks, int64_t rounds, uint32_t *out)
{
    int rung = variant == MG_BEST ? 0 : variant;
    for (uint32_t thread = 0; thread < BANKS_THREADS; thread++) {
        uint32_t sum = sum_of_reads(patterns[rung].width, patterns[rung].stride, thread, (uint64_t)rounds);
        for (int64_t block = 0; block < blocks; block++)
            out[block * BANKS_THREADS + thread] = sum;
    }
}
