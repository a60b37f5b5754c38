/* banks.c - every pattern of banks against its sum in plain C; and that the sum is that of the words which the
 * pattern's name speaks of, worked out here a second time for a few of them. */
#include "test.h"

static void check(int variant, int64_t blocks, int64_t rounds)
{
    size_t bytes = (size_t)blocks * 256 * 4;
    uint32_t *want = malloc(bytes + 4), *got = malloc(bytes + 4);
    memset(want, 0x11, bytes + 4);
    mg_ref_banks_u32(variant, blocks, rounds, want);
    struct test_buffer out = test_alloc(bytes, 4);
    CHECK(mg_banks_u32(NULL, variant, blocks, rounds, out.at) == MG_KERNELS_OK, "rung %d", variant);
    test_download(&out, got);
    CHECK(!memcmp(got, want, bytes), "rung %d, %lld blocks, %lld rounds", variant, (long long)blocks,
          (long long)rounds);
    test_free(&out, "out");
    free(want);
    free(got);
}

static int find(const char *name)
{
    size_t rungs;
    const struct mg_variant *v = mg_banks_variants(&rungs);
    for (size_t i = 0; i < rungs; i++)
        if (!strcmp(v[i].name, name))
            return (int)i;
    CHECK(false, "no rung is called %s", name);
    return 0;
}

/* What thread t reads in one round, by the names. */
static void check_meaning(void)
{
    uint32_t out[256];
    mg_ref_banks_u32(find("stride 1"), 1, 1, out);
    for (uint32_t t = 0; t < 256; t++)
        CHECK(out[t] == t % 32 + t / 32, "stride 1, thread %u: %u", t, out[t]);
    mg_ref_banks_u32(find("stride 32"), 1, 1, out);
    for (uint32_t t = 0; t < 256; t++)
        CHECK(out[t] == t % 32 * 32 + t / 32, "stride 32, thread %u: %u", t, out[t]);
    mg_ref_banks_u32(find("padded column"), 1, 2, out);
    for (uint32_t t = 0; t < 256; t++)
        CHECK(out[t] == 2 * (t % 32 * 33 + t / 32) + 1, "padded column, thread %u: %u", t, out[t]);
    mg_ref_banks_u32(find("broadcast"), 1, 1, out);
    for (uint32_t t = 0; t < 256; t++)
        CHECK(out[t] == t / 32, "broadcast, thread %u: %u", t, out[t]);
    mg_ref_banks_u32(find("128-bit"), 1, 1, out);
    for (uint32_t t = 0; t < 256; t++)
        CHECK(out[t] == 16 * (t % 32 + t / 32) + 6, "128-bit, thread %u: %u", t, out[t]);
}

int main(void)
{
    test_begin();
    size_t rungs;
    mg_banks_variants(&rungs);
    check_meaning();
    for (int variant = MG_BEST; variant < (int)rungs; variant++) {
        check(variant, 1, 0);
        check(variant, 1, 1);
        check(variant, 2, 7);
        check(variant, 3, 8);
        check(variant, 2, 1000);
        CHECK(mg_banks_u32(NULL, variant, 0, 5, NULL) == MG_KERNELS_OK, "no blocks");
        CHECK(mg_banks_u32(NULL, variant, 1, 5, NULL) == MG_KERNELS_ERR_INVALID, "out");
        CHECK(mg_banks_u32(NULL, variant, -1, 5, NULL) == MG_KERNELS_ERR_INVALID, "blocks");
        CHECK(mg_banks_u32(NULL, variant, 1, -5, NULL) == MG_KERNELS_ERR_INVALID, "rounds");
    }
    CHECK(mg_banks_u32(NULL, -2, 0, 0, NULL) == MG_KERNELS_ERR_VARIANT, "-2");
    CHECK(mg_banks_u32(NULL, (int)rungs, 0, 0, NULL) == MG_KERNELS_ERR_VARIANT, "one too many");
    return test_end();
}
