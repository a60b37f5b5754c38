/* reference.c - histogram in plain C, one thread: what every rung is held to. */
#include "margay/kernels.h"

#include <string.h>

void mg_ref_histogram_u8(int64_t n, const uint8_t *x, uint32_t *bins)
{
    memset(bins, 0, 256 * sizeof *bins);
    for (int64_t i = 0; i < n; i++)
        bins[x[i]]++;
}

void mg_ref_histogram_u32(int64_t n, const uint32_t *x, int64_t nbins, uint32_t *bins)
{
    memset(bins, 0, (size_t)nbins * sizeof *bins);
    for (int64_t i = 0; i < n; i++)
        if (x[i] < nbins)
            bins[x[i]]++;
}
