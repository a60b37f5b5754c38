/* conv2d.c - every rung of conv2d against plain C: every size of filter, images around every tile, leading dimensions,
 * alignments, special values, filters that are separable and that are not, bad arguments.
 *
 * Exact: multiples of 1/8 and filters of multiples of 1/8, where the result must equal the reference to the last bit.
 * Any: within the bound that the manual states.
 */
#include "test.h"

enum fill { EXACT, ANY, SPECIAL };
enum filter { PRODUCT, FREE }; /* a column times a row, or not */

struct conv_case {
    int64_t rows, cols;
    int fr, fc;
    int pad_x, pad_y;
    unsigned off_x, off_y;
};

static float number(enum fill fill, uint32_t *seed)
{
    static const float special[] = {NAN, INFINITY, -INFINITY, -0.0f, 0.0f, 0x1p-149f, -0x1p-130f};
    uint32_t r = test_random(seed);
    if (fill == EXACT)
        return (float)((int)(r % 17) - 8) / 8.0f;
    if (fill == SPECIAL && r % 97 == 0)
        return special[(r >> 8) % (sizeof special / sizeof *special)];
    if (fill == SPECIAL && r % 2 == 0)
        return test_random_f32(seed) * 0x1p-120f;
    return test_random_f32(seed);
}

static int separable_rung(void)
{
    size_t count;
    const struct mg_variant *variants = mg_conv2d_variants(&count);
    for (size_t v = 0; v < count; v++)
        if (!strcmp(variants[v].name, "separable"))
            return (int)v;
    return -2;
}

static void one(const struct conv_case *t, enum fill fill, enum filter kind, int variant, const char *name)
{
    int64_t ldx = t->cols + t->pad_x, ldy = t->cols + t->pad_y;
    bool empty = t->rows == 0 || t->cols == 0, separable = variant == separable_rung();
    size_t size_x = empty ? 0 : (size_t)((t->rows - 1) * ldx + t->cols);
    size_t size_y = empty ? 0 : (size_t)((t->rows - 1) * ldy + t->cols);
    uint32_t seed = (uint32_t)(t->fr * 100 + t->fc);
    float filter[MG_CONV_MAX * MG_CONV_MAX], column[MG_CONV_MAX], row[MG_CONV_MAX];
    for (int p = 0; p < t->fr; p++)
        column[p] = p == t->fr / 2 ? 1.0f : number(fill == EXACT ? EXACT : ANY, &seed);
    for (int q = 0; q < t->fc; q++)
        row[q] = q == t->fc / 2 ? 1.0f : number(fill == EXACT ? EXACT : ANY, &seed);
    for (int i = 0; i < t->fr * t->fc; i++)
        filter[i] = kind == PRODUCT ? column[i / t->fc] * row[i % t->fc] : number(fill == EXACT ? EXACT : ANY, &seed);
    float *x = malloc((size_x + 1) * sizeof *x), *want = malloc((size_y + 1) * sizeof *want),
          *got = malloc((size_y + 1) * sizeof *got);
    for (size_t i = 0; i < size_x; i++)
        x[i] = number(fill, &seed);
    memset(want, 0xa5, size_y * sizeof *want); /* between the rows of y too */
    struct test_buffer dx = test_upload(x, size_x * 4, t->off_x * 4), dy = test_alloc(size_y * 4, t->off_y * 4);
    enum mg_kernels_status status =
        mg_conv2d_f32(NULL, variant, t->rows, t->cols, dx.at, ldx, t->fr, t->fc, filter, dy.at, ldy);
    CUDA(cudaDeviceSynchronize());
    test_download(&dy, got);
    if (separable && kind == FREE && t->fr > 1 && t->fc > 1 && !empty) {
        CHECK(status == MG_KERNELS_ERR_UNSUPPORTED, "%s: %s", name, mg_kernels_status_name(status));
    } else {
        CHECK(status == MG_KERNELS_OK, "%s: %s", name, mg_kernels_status_name(status));
        mg_ref_conv2d_f32(t->rows, t->cols, x, ldx, t->fr, t->fc, filter, want, ldy);
    }
    int64_t wrong = 0, at = 0;
    for (int64_t e = 0; e < (int64_t)size_y; e++) {
        bool same = test_same_f32(got[e], want[e]);
        if (!same && (fill != EXACT || separable) && isfinite(want[e])) {
            double sum = 0.0;
            for (int p = 0; p < t->fr; p++)
                for (int q = 0; q < t->fc; q++) {
                    int64_t i = e / ldy + p - t->fr / 2, j = e % ldy + q - t->fc / 2;
                    if (i >= 0 && i < t->rows && j >= 0 && j < t->cols)
                        sum += fabs((double)filter[p * t->fc + q] * (double)x[i * ldx + j]);
                }
            double terms = t->fr * t->fc + (separable ? 16 : 1);
            same = fabs((double)got[e] - (double)want[e]) <= terms * (0x1p-24 * sum + 0x1p-149);
        }
        if (!same && !wrong++)
            at = e;
    }
    CHECK(wrong == 0,
          "%s %lldx%lld filter %dx%d, ld +%d +%d, at %u %u, fill %d: %lld wrong, first [%lld][%lld] %a for %a", name,
          (long long)t->rows, (long long)t->cols, t->fr, t->fc, t->pad_x, t->pad_y, t->off_x, t->off_y, (int)fill,
          (long long)wrong, (long long)(at / ldy), (long long)(at % ldy), (double)got[at], (double)want[at]);
    test_free(&dx, "x");
    test_free(&dy, "y");
    free(x);
    free(want);
    free(got);
}

static void every_rung(const struct conv_case *t, enum fill fill, enum filter kind)
{
    size_t count;
    const struct mg_variant *variants = mg_conv2d_variants(&count);
    for (size_t v = 0; v < count; v++)
        one(t, fill, kind, (int)v, variants[v].name);
    one(t, fill, kind, MG_BEST, "MG_BEST");
}

static void sizes(void)
{
    static const struct conv_case cases[] = {
        {1, 1, 1, 1, 0, 0, 0, 0},    {1, 1, 3, 3, 0, 0, 0, 0},     {1, 1, 15, 15, 0, 0, 0, 0},
        {5, 3, 5, 5, 0, 0, 0, 0},    {31, 33, 3, 3, 0, 0, 0, 0},   {67, 128, 5, 5, 0, 0, 0, 0},
        {67, 132, 5, 5, 4, 8, 4, 8}, {66, 61, 5, 5, 3, 1, 0, 0},   {33, 64, 5, 5, 0, 0, 1, 0},
        {33, 64, 5, 5, 0, 0, 0, 2},  {70, 36, 7, 7, 0, 0, 0, 0},   {70, 37, 7, 7, 0, 0, 0, 0},
        {1, 257, 3, 3, 0, 0, 0, 0},  {257, 1, 3, 3, 0, 0, 0, 0},   {2, 516, 5, 5, 0, 0, 0, 0},
        {131, 4, 3, 3, 0, 0, 0, 0},  {21, 40, 15, 15, 0, 0, 0, 0}, {13, 35, 13, 13, 0, 0, 0, 0},
        {0, 5, 3, 3, 0, 0, 0, 0},    {5, 0, 3, 3, 0, 0, 0, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        every_rung(&cases[i], EXACT, PRODUCT);
        every_rung(&cases[i], EXACT, FREE);
    }
    for (int fr = 1; fr <= MG_CONV_MAX; fr += 2)
        for (int fc = 1; fc <= MG_CONV_MAX; fc += 2) {
            struct conv_case aligned = {.rows = 9, .cols = 20, .fr = fr, .fc = fc};
            struct conv_case odd = {.rows = 10, .cols = 19, .fr = fr, .fc = fc};
            one(&aligned, EXACT, FREE, MG_BEST, "MG_BEST");
            one(&odd, EXACT, FREE, MG_BEST, "MG_BEST");
            if (fr != fc && (fr + fc) % 8 == 0)
                every_rung(&odd, EXACT, PRODUCT);
        }
    static const struct conv_case any[] = {
        {37, 44, 5, 5, 0, 0, 0, 0}, {18, 35, 3, 9, 0, 0, 0, 0}, {12, 40, 9, 9, 0, 0, 0, 0}};
    for (size_t i = 0; i < sizeof any / sizeof *any; i++) {
        every_rung(&any[i], ANY, PRODUCT);
        every_rung(&any[i], ANY, FREE);
        every_rung(&any[i], SPECIAL, FREE);
    }
    /* More rows of tiles than the second dimension of a grid has: 8 rows a tile here, 64 on a GPU. */
    struct conv_case tall = {.rows = 65536 * (test_on_simulator() ? 8 : 64) + 1, .cols = 1, .fr = 3, .fc = 3};
    if (test_on_simulator())
        one(&tall, EXACT, FREE, 0, "naive");
    else
        every_rung(&tall, EXACT, FREE);
}

/* A tap of infinity meets the zeros outside: not a number along the edges, in every rung that takes such a filter. */
static void filters(void)
{
    float filter[9] = {0, 0, 0, INFINITY, 1, 0, 0, 0, 0}, zeros[9] = {0}, x[12 * 4], want[12 * 4], got[12 * 4];
    for (int i = 0; i < 48; i++)
        x[i] = (float)(i % 5 - 2);
    struct test_buffer dx = test_upload(x, sizeof x, 0), dy = test_alloc(sizeof got, 0);
    size_t count;
    const struct mg_variant *variants = mg_conv2d_variants(&count);
    for (int which = 0; which < 2; which++)
        for (int v = 0; v < (int)count; v++) {
            const float *f = which ? zeros : filter;
            enum mg_kernels_status status = mg_conv2d_f32(NULL, v, 4, 12, dx.at, 12, 3, 3, f, dy.at, 12);
            if (!which && v == separable_rung()) {
                CHECK(status == MG_KERNELS_ERR_UNSUPPORTED, "%s", variants[v].name);
                continue;
            }
            CHECK(status == MG_KERNELS_OK, "%s", variants[v].name);
            mg_ref_conv2d_f32(4, 12, x, 12, 3, 3, f, want, 12);
            test_download(&dy, got);
            for (int i = 0; i < 48; i++)
                CHECK(test_same_f32(got[i], want[i]), "%s: %d: %a for %a", variants[v].name, i, (double)got[i],
                      (double)want[i]);
        }
    test_free(&dx, "x");
    test_free(&dy, "y");
}

static void bad_arguments(void)
{
    float zero[64] = {0}, filter[225] = {0};
    struct test_buffer x = test_upload(zero, sizeof zero, 0), y = test_alloc(sizeof zero, 0);
    float *px = x.at, *py = y.at;
    size_t count;
    mg_conv2d_variants(&count);
    CHECK(mg_conv2d_f32(NULL, (int)count, 8, 8, px, 8, 3, 3, filter, py, 8) == MG_KERNELS_ERR_VARIANT,
          "a rung too many");
    CHECK(mg_conv2d_f32(NULL, -2, 8, 8, px, 8, 3, 3, filter, py, 8) == MG_KERNELS_ERR_VARIANT, "rung -2");
#define CONV(rows, cols, x, ldx, fr, fc, f, y, ldy) mg_conv2d_f32(NULL, MG_BEST, rows, cols, x, ldx, fr, fc, f, y, ldy)
    CHECK(CONV(-1, 8, px, 8, 3, 3, filter, py, 8) == MG_KERNELS_ERR_INVALID, "rows");
    CHECK(CONV(8, -1, px, 8, 3, 3, filter, py, 8) == MG_KERNELS_ERR_INVALID, "cols");
    CHECK(CONV(8, 8, px, 7, 3, 3, filter, py, 8) == MG_KERNELS_ERR_INVALID, "ldx");
    CHECK(CONV(8, 8, px, 8, 3, 3, filter, py, 7) == MG_KERNELS_ERR_INVALID, "ldy");
    CHECK(CONV(8, 8, px, 8, 2, 3, filter, py, 8) == MG_KERNELS_ERR_INVALID, "even fr");
    CHECK(CONV(8, 8, px, 8, 3, 4, filter, py, 8) == MG_KERNELS_ERR_INVALID, "even fc");
    CHECK(CONV(8, 8, px, 8, 17, 3, filter, py, 8) == MG_KERNELS_ERR_INVALID, "fr 17");
    CHECK(CONV(8, 8, px, 8, 3, -1, filter, py, 8) == MG_KERNELS_ERR_INVALID, "fc -1");
    CHECK(CONV(8, 8, px, 8, 3, 3, NULL, py, 8) == MG_KERNELS_ERR_INVALID, "filter");
    CHECK(CONV(8, 8, NULL, 8, 3, 3, filter, py, 8) == MG_KERNELS_ERR_INVALID, "x");
    CHECK(CONV(8, 8, px, 8, 3, 3, filter, NULL, 8) == MG_KERNELS_ERR_INVALID, "y");
    CHECK(CONV(4, 8, py + 8, 8, 3, 3, filter, py, 8) == MG_KERNELS_ERR_INVALID, "overlap");
    CHECK(CONV(8, 8, (float *)((char *)px + 1), 8, 3, 3, filter, py, 8) == MG_KERNELS_ERR_INVALID, "alignment");
    CHECK(CONV(0, 8, NULL, 8, 3, 3, filter, NULL, 8) == MG_KERNELS_OK, "nothing to do");
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
    filters();
    bad_arguments();
    return test_end();
}
