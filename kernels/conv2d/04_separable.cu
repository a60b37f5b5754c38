/* 04_separable.cu - adds: two passes of one dimension, for a filter that is a column times a row.
 *
 * The block's tile is filtered along its rows into a second tile, and that one down its columns: fr + fc products an
 * element instead of fr fc, and no trip to global memory between. The rows of the halo are filtered too, so that for 5x5
 * it is 5.6 + 5 products instead of 25. Should gain while shared loads are the limit, the more the larger the filter: five
 * times at 15x15.
 *
 * The filter is factored here, around its largest element: its column, and its row divided by it. If the product misses
 * any element by more than 8 u of the largest, the filter is not separable. A filter of zeros is.
 */
#include "conv2d/tile.cuh"

#include <math.h>

struct factors {
    float column[MG_CONV_MAX], row[MG_CONV_MAX];
};

static __global__ void separable(conv_args g, factors filter)
{
    __shared__ float tile[CONV_WIDE][CONV_WIDE], along[CONV_WIDE][CONV_TILE];
    int64_t tiles = (g.cols + CONV_TILE - 1) / CONV_TILE;
    int64_t row0 = blockIdx.x / tiles * CONV_TILE, col0 = blockIdx.x % tiles * CONV_TILE;
    conv_fill(tile, g, row0, col0);
    __syncthreads();
    int x = threadIdx.x;
    for (int y = threadIdx.y; y < CONV_TILE + g.fr - 1; y += 8) {
        float sum = 0.0f;
        for (int q = 0; q < g.fc; q++)
            sum += filter.row[q] * tile[y][x + q];
        along[y][x] = sum;
    }
    __syncthreads();
    for (int y = threadIdx.y; y < CONV_TILE; y += 8) {
        float sum = 0.0f;
        for (int p = 0; p < g.fr; p++)
            sum += filter.column[p] * along[y + p][x];
        if (row0 + y < g.rows && col0 + x < g.cols)
            g.y[(row0 + y) * g.ldy + col0 + x] = sum;
    }
}

/* false: not separable, or not finite. */
static bool factor(const struct conv_filter *filter, int fr, int fc, struct factors *out)
{
    int at = 0;
    for (int i = 0; i < fr * fc; i++) {
        if (!isfinite(filter->f[i]))
            return false;
        if (fabsf(filter->f[i]) > fabsf(filter->f[at]))
            at = i;
    }
    float largest = filter->f[at];
    for (int p = 0; p < fr; p++)
        out->column[p] = filter->f[p * fc + at % fc];
    for (int q = 0; q < fc; q++)
        out->row[q] = largest == 0.0f ? 0.0f : filter->f[at / fc * fc + q] / largest;
    for (int p = 0; p < fr; p++)
        for (int q = 0; q < fc; q++) {
            double miss = static_cast<double>(filter->f[p * fc + q]) - static_cast<double>(out->column[p]) * out->row[q];
            if (fabs(miss) > 8 * 0x1p-24 * fabs(static_cast<double>(largest)))
                return false;
        }
    return true;
}

enum mg_kernels_status mg__conv2d_separable(cudaStream_t stream, const struct conv_args *args,
                                            const struct conv_filter *filter)
{
    struct factors factors = {};
    if (!factor(filter, args->fr, args->fc, &factors))
        return MG_KERNELS_ERR_UNSUPPORTED;
    return mg__kernels_launch(separable, conv_grid(args, CONV_TILE, CONV_TILE), dim3(32, 8), 0, stream, *args, factors);
}
