/* stencil1d.c - every rung of stencil1d against plain C: every radius, lengths around every block, alignments, special
 * values, bad arguments. Exact numbers (multiples of 1/8) must give the reference's bits, others be within the bound.
 */
#include "test.h"

enum fill { EXACT, ANY, SPECIAL };

static float number(enum fill fill, uint32_t *seed)
{
    static const float special[] = {NAN, INFINITY, -INFINITY, -0.0f, 0.0f, 0x1p-149f, -0x1p-130f};
    uint32_t r = test_random(seed);
    if (fill == EXACT)
        return (float)((int)(r % 17) - 8) / 8.0f;
    if (fill == SPECIAL && r % 29 == 0)
        return special[(r >> 8) % (sizeof special / sizeof *special)];
    if (fill == SPECIAL && r % 2 == 0)
        return test_random_f32(seed) * 0x1p-130f;
    return test_random_f32(seed);
}

static void one(int64_t n, int radius, unsigned off_x, unsigned off_y, enum fill fill, int variant, const char *name)
{
    uint32_t seed = (uint32_t)radius + 1;
    float weights[2 * MG_STENCIL_MAX_RADIUS + 1];
    for (int d = 0; d <= 2 * radius; d++)
        weights[d] = number(fill == EXACT ? EXACT : ANY, &seed);
    float *x = malloc((size_t)(n + 1) * 4), *want = malloc((size_t)(n + 1) * 4), *got = malloc((size_t)(n + 1) * 4);
    for (int64_t i = 0; i < n; i++)
        x[i] = number(fill, &seed);
    struct test_buffer dx = test_upload(x, (size_t)n * 4, off_x * 4), dy = test_alloc((size_t)n * 4, off_y * 4);
    enum mg_kernels_status status = mg_stencil1d_f32(NULL, variant, radius, weights, n, dx.at, dy.at);
    CHECK(status == MG_KERNELS_OK, "%s: %s", name, mg_kernels_status_name(status));
    CUDA(cudaDeviceSynchronize());
    test_download(&dy, got);
    mg_ref_stencil1d_f32(radius, weights, n, x, want);
    int64_t wrong = 0, at = 0;
    for (int64_t i = 0; i < n; i++) {
        bool same = test_same_f32(got[i], want[i]);
        if (!same && fill != EXACT && isfinite(want[i])) {
            double sum = 0.0;
            for (int d = -radius; d <= radius; d++)
                if (i + d >= 0 && i + d < n)
                    sum += fabs((double)weights[radius + d] * (double)x[i + d]);
            same = fabs((double)got[i] - (double)want[i]) <= (2 * radius + 2) * (0x1p-24 * sum + 0x1p-149);
        }
        if (!same && !wrong++)
            at = i;
    }
    CHECK(wrong == 0, "%s n %lld radius %d, at %u %u, fill %d: %lld wrong, first [%lld] %a for %a", name, (long long)n,
          radius, off_x, off_y, (int)fill, (long long)wrong, (long long)at, (double)got[at], (double)want[at]);
    test_free(&dx, "x");
    test_free(&dy, "y");
    free(x);
    free(want);
    free(got);
}

static void every_rung(int64_t n, int radius, unsigned off_x, unsigned off_y, enum fill fill)
{
    size_t count;
    const struct mg_variant *variants = mg_stencil1d_variants(&count);
    for (size_t v = 0; v < count; v++)
        one(n, radius, off_x, off_y, fill, (int)v, variants[v].name);
    one(n, radius, off_x, off_y, fill, MG_BEST, "MG_BEST");
}

static void sizes(void)
{
    static const int64_t lengths[] = {0, 1, 2, 3, 4, 5, 31, 32, 33, 127, 129, 255, 256, 257, 1021, 2048, 2051, 4099};
    static const int radii[] = {0, 1, 4, 5, 16};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (size_t r = 0; r < sizeof radii / sizeof *radii; r++)
            every_rung(lengths[i], radii[r], 0, 0, EXACT);
    for (int radius = 0; radius <= MG_STENCIL_MAX_RADIUS; radius++) {
        every_rung(301, radius, 0, 0, EXACT);
        every_rung(130, radius, radius % 4 ? 0 : 1, radius % 4, EXACT);
        every_rung(301, radius, 0, 0, ANY);
        every_rung(700, radius, 4, 8, SPECIAL);
    }
    every_rung(65536 * 256 / (test_on_simulator() ? 64 : 1) + 5, 1, 0, 0, EXACT);
}

static void bad_arguments(void)
{
    float zero[64] = {0}, w[33] = {0};
    struct test_buffer x = test_upload(zero, sizeof zero, 0), y = test_alloc(sizeof zero, 0);
    float *px = x.at, *py = y.at;
    size_t count;
    mg_stencil1d_variants(&count);
    CHECK(mg_stencil1d_f32(NULL, (int)count, 1, w, 64, px, py) == MG_KERNELS_ERR_VARIANT, "a rung too many");
    CHECK(mg_stencil1d_f32(NULL, -2, 1, w, 64, px, py) == MG_KERNELS_ERR_VARIANT, "rung -2");
    CHECK(mg_stencil1d_f32(NULL, 0, -1, w, 64, px, py) == MG_KERNELS_ERR_INVALID, "radius -1");
    CHECK(mg_stencil1d_f32(NULL, 0, 17, w, 64, px, py) == MG_KERNELS_ERR_INVALID, "radius 17");
    CHECK(mg_stencil1d_f32(NULL, 0, 1, w, -1, px, py) == MG_KERNELS_ERR_INVALID, "n -1");
    CHECK(mg_stencil1d_f32(NULL, 0, 1, NULL, 64, px, py) == MG_KERNELS_ERR_INVALID, "weights");
    CHECK(mg_stencil1d_f32(NULL, 0, 1, w, 64, NULL, py) == MG_KERNELS_ERR_INVALID, "x");
    CHECK(mg_stencil1d_f32(NULL, 0, 1, w, 64, px, NULL) == MG_KERNELS_ERR_INVALID, "y");
    CHECK(mg_stencil1d_f32(NULL, 0, 1, w, 32, py + 31, py) == MG_KERNELS_ERR_INVALID, "overlap");
    CHECK(mg_stencil1d_f32(NULL, 0, 1, w, 63, (float *)((char *)px + 2), py) == MG_KERNELS_ERR_INVALID, "alignment");
    CHECK(mg_stencil1d_f32(NULL, 0, 1, w, 0, NULL, NULL) == MG_KERNELS_OK, "nothing to do");
    CUDA(cudaDeviceSynchronize());
    unsigned char bytes[sizeof zero];
    test_download(&y, bytes);
    for (size_t i = 0; i < sizeof bytes; i++)
        CHECK(bytes[i] == 0xa5, "byte %zu of y was written", i);
    test_free(&x, "x");
    test_free(&y, "y");
}

int main(void)
{
    test_begin();
    sizes();
    bad_arguments();
    return test_end();
}
