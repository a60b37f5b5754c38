/* test_arch.c - the tables of devices against the CUDA programming guide, and the occupancy rules against values worked
 * out by hand from its limits. test_occupancy.c has random configurations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "arch/arch.h"

static void rows_are_sane(void **state)
{
    (void)state;
    unsigned last = 0;
    size_t n = 0;
    const struct mg_arch *a;
    for (; (a = mg_arch_at(n)) != NULL; n++) {
        assert_true(a->cc > last);
        last = a->cc;
        assert_ptr_equal(mg_arch_find(a->cc), a);
        assert_int_equal(a->max_threads_block, 1024);
        assert_true(a->max_warps_sm * 32 >= a->max_threads_block);
        assert_true(a->shared_block <= a->shared_block_optin);
        assert_true(a->shared_block_optin + a->shared_reserved <= a->shared_sm);
        assert_true(a->regs_block <= a->regs_sm);
        assert_int_equal(a->banks * a->bank_bytes, 128);
        assert_int_equal(a->bank_bytes, 4);
        assert_int_equal(a->sector_bytes, 32);
        assert_int_equal(a->line_bytes, 128);
        assert_true(a->board->sm_count && a->board->l2_bytes);
        assert_true(a->board->memory >= (uint64_t)1 << 30);
    }
    assert_int_equal(n, 20);
    assert_null(mg_arch_find(0));
    assert_null(mg_arch_find(91));
}

static void h100(void **state)
{
    (void)state;
    const struct mg_arch *a = mg_arch_find(90);
    assert_string_equal(a->board->name, "NVIDIA H100 80GB HBM3");
    assert_int_equal(a->board->sm_count, 132);
    assert_int_equal(a->shared_block_optin, 227 * 1024);
    assert_int_equal(a->shared_sm, 228 * 1024);
    assert_int_equal(a->board->l2_bytes, 50 * 1024 * 1024);
    assert_int_equal(a->board->memory_bus_bits, 5120);
}

static void worked_values(void **state)
{
    (void)state;
    static const struct {
        unsigned cc, threads, regs, shared, blocks;
        const char *why;
    } rows[] = {
        {90, 1024, 32, 0, 2, "2,048 threads a SM"},
        {90, 1024, 33, 0, 1, "33 registers take the room of 40: 40 x 1,024 twice is over 65,536"},
        {90, 1024, 64, 0, 1, "the whole register file"},
        {90, 1024, 65, 0, 0, "over 65,536 registers a block"},
        {90, 256, 32, 0, 8, "2,048 threads"},
        {90, 256, 128, 0, 2, "128 x 256 is half the file"},
        {90, 64, 16, 0, 32, "block slots"},
        {90, 32, 16, 0, 32, "block slots"},
        {90, 128, 16, 48 * 1024, 4, "49 KiB with the reserved one, four times in 228"},
        {90, 128, 16, 227 * 1024, 1, "opted in"},
        {90, 128, 16, 227 * 1024 + 1, 0, "too much shared memory"},
        {90, 128, 256, 0, 0, "255 registers a thread at most"},
        {90, 0, 16, 0, 0, "no threads"},
        {90, 1025, 16, 0, 0, "too many threads"},
        {90, 1024, 0, 0, 2, "no registers counted"},
        {75, 1024, 32, 0, 1, "1,024 threads a SM"},
        {75, 64, 32, 0, 16, "16 block slots"},
        {75, 64, 32, 64 * 1024, 1, "all of its shared memory"},
        {86, 1024, 32, 0, 1, "1,536 threads a SM"},
        {86, 512, 32, 0, 3, "1,536 threads a SM"},
        {86, 768, 40, 0, 2, "1,536 threads a SM"},
        {89, 32, 32, 0, 24, "24 block slots"},
        {80, 128, 32, 20 * 1024, 7, "21 KiB each in 164"},
        {70, 256, 64, 0, 4, "64 x 256 is a quarter of the file"},
        {60, 96, 40, 16 * 1024, 4, "four times 16 KiB in 64"},
        {53, 1024, 40, 0, 0, "32,768 registers a block"},
    };
    for (size_t i = 0; i < MG_COUNT(rows); i++) {
        unsigned got = mg__arch_blocks_per_sm(mg_arch_find(rows[i].cc), rows[i].threads, rows[i].regs, rows[i].shared);
        if (got != rows[i].blocks)
            fail_msg("cc %u, %u threads, %u registers, %u bytes: %u blocks, not %u (%s)", rows[i].cc, rows[i].threads,
                     rows[i].regs, rows[i].shared, got, rows[i].blocks, rows[i].why);
    }
}

/* Typed off the CUDA programming guide, by hand and for this test alone: "Technical Specifications per Compute
 * Capability" of 12.9 for 5.0 to 7.2, tables 30 to 32 of "Compute Capabilities" of 13 for the rest. 10.1 is
 * today's 11.0. Sizes in KB. */
static const struct {
    unsigned cc, blocks, warps, regs_block, shared_sm, shared_block, constant, unified;
    const char *carveouts;
} guide[] = {
    {50, 32, 64, 64, 64, 48, 8, 0, NULL},
    {52, 32, 64, 64, 96, 48, 8, 0, NULL},
    {53, 32, 64, 32, 64, 48, 8, 0, NULL},
    {60, 32, 64, 64, 64, 48, 4, 0, NULL},
    {61, 32, 64, 64, 96, 48, 8, 0, NULL},
    {62, 32, 64, 32, 64, 48, 8, 0, NULL},
    {70, 32, 64, 64, 96, 96, 8, 128, "0, 8, 16, 32, 64, 96"},
    {72, 32, 64, 64, 96, 96, 8, 128, "0, 8, 16, 32, 64, 96"},
    {75, 16, 32, 64, 64, 64, 8, 96, "32, 64"},
    {80, 32, 64, 64, 164, 163, 8, 192, "0, 8, 16, 32, 64, 100, 132, 164"},
    {86, 16, 48, 64, 100, 99, 8, 128, "0, 8, 16, 32, 64, 100"},
    {87, 16, 48, 64, 164, 163, 8, 192, "0, 8, 16, 32, 64, 100, 132, 164"},
    {89, 24, 48, 64, 100, 99, 8, 128, "0, 8, 16, 32, 64, 100"},
    {90, 32, 64, 64, 228, 227, 8, 256, "0, 8, 16, 32, 64, 100, 132, 164, 196, 228"},
    {100, 32, 64, 64, 228, 227, 8, 256, "0, 8, 16, 32, 64, 100, 132, 164, 196, 228"},
    {101, 24, 48, 64, 228, 227, 8, 256, "0, 8, 16, 32, 64, 100, 132, 164, 196, 228"},
    {103, 32, 64, 64, 228, 227, 8, 256, "0, 8, 16, 32, 64, 100, 132, 164, 196, 228"},
    {110, 24, 48, 64, 228, 227, 8, 256, "0, 8, 16, 32, 64, 100, 132, 164, 196, 228"},
    {120, 24, 48, 64, 100, 99, 8, 128, "0, 8, 16, 32, 64, 100"},
    {121, 24, 48, 64, 100, 99, 8, 128, "0, 8, 16, 32, 64, 100"},
};

static void as_the_guide_has_it(void **state)
{
    (void)state;
    for (size_t i = 0; i < MG_COUNT(guide); i++) {
        const struct mg_arch *a = mg_arch_at(i);
        char carveouts[128] = "";
        assert_non_null(a);
        for (unsigned k = 0; k < a->ncarveouts; k++) {
            size_t at = strlen(carveouts);
            snprintf(carveouts + at, sizeof(carveouts) - at, "%s%u", k ? ", " : "", a->carveouts_kib[k]);
        }
        if (a->cc != guide[i].cc || a->max_blocks_sm != guide[i].blocks || a->max_warps_sm != guide[i].warps ||
            a->max_threads_sm != 32 * guide[i].warps || a->regs_block != 1024 * guide[i].regs_block ||
            a->regs_sm != 65536 || a->shared_sm != 1024 * guide[i].shared_sm ||
            a->shared_block_optin != 1024 * guide[i].shared_block || a->const_cache != 1024 * guide[i].constant ||
            (guide[i].unified && a->unified_cache != 1024 * guide[i].unified) ||
            (guide[i].carveouts && strcmp(carveouts, guide[i].carveouts)))
            fail_msg("%u.%u is not as in the guide", guide[i].cc / 10, guide[i].cc % 10);
        assert_int_equal(a->max_cluster_blocks, a->cc >= 90 ? 8 : 1);
        assert_int_equal(a->max_param_bytes, a->cc >= 70 ? 32764 : 4096);
        assert_int_equal(a->shared_reserved, a->cc >= 80 ? 1024 : 0);
        assert_int_equal(a->carveouts_kib[a->ncarveouts - 1] * 1024, a->shared_sm);
    }
    assert_null(mg_arch_at(MG_COUNT(guide)));
}

static void names(void **state)
{
    (void)state;
    static const char *const hopper[] = {"9.0", "90", "sm_90", "sm_90a", "compute_90"};
    static const char *const wrong[] = {"",     "9",   "9.1",    "sm_",   "90a",         "9.0 ",
                                        " 9.0", "-90", "sm_90b", "9.0.0", "99999999999", "x"};
    for (size_t i = 0; i < MG_COUNT(hopper); i++)
        assert_ptr_equal(mg_arch_parse(hopper[i]), mg_arch_find(90));
    for (size_t i = 0; i < MG_COUNT(wrong); i++)
        assert_null(mg_arch_parse(wrong[i]));
    assert_null(mg_arch_parse(NULL));
    assert_int_equal(mg_arch_parse("12.1")->cc, 121);
    assert_int_equal(mg_arch_parse("sm_100f")->cc, 100);
    assert_string_equal(mg_board_find("h100")->name, "NVIDIA H100 80GB HBM3");
    assert_string_equal(mg_board_find("H100 PCIe")->name, "NVIDIA H100 PCIe");
    assert_string_equal(mg_board_find("L4")->name, "NVIDIA L4"); /* not the L40S */
    assert_string_equal(mg_board_find("rtx 2080")->name, "NVIDIA GeForce RTX 2080"); /* not the Ti */
    for (size_t i = 0; mg_board_at(i); i++)
        assert_ptr_equal(mg_board_find(mg_board_at(i)->name), mg_board_at(i));
    /* H20 is a board of its own and no part of H200's name; H2 is a part of both. */
    const struct mg_board *found[4];
    assert_string_equal(mg_board_find("h20")->name, "NVIDIA H20");
    assert_string_equal(mg_board_find("h200")->name, "NVIDIA H200");
    assert_null(mg_board_find("h2"));
    assert_int_equal(mg_board_match("h2", found, 4), 2);
    assert_string_equal(found[0]->name, "NVIDIA H200");
    assert_string_equal(found[1]->name, "NVIDIA H20");
    assert_true(mg_board_match("rtx", found, 4) > 4); /* how many there are, not how many had room */
    assert_null(mg_board_find("rtx"));
    assert_null(mg_board_find("rtx 50")); /* of which one stands for its capability, and others do not */
    assert_int_equal(mg_board_match("voodoo", found, 4), 0);
    static const struct {
        const char *name;
        unsigned cc, sms;
        double terabytes; /* a second, as the product's page has it */
    } wanted[] = {{"h20", 90, 78, 4.0},           {"h800", 90, 132, 3.35},        {"a800-sxm4-80gb", 80, 108, 2.04},
                  {"rtx 3060", 86, 28, 0.36},     {"rtx 3060 ti", 86, 38, 0.448}, {"rtx 4060", 89, 24, 0.272},
                  {"rtx 4060 ti", 89, 34, 0.288}, {"rtx 5060", 120, 30, 0.448},   {"rtx 5060 ti", 120, 36, 0.448},
                  {"rtx 5070 ti", 120, 70, 0.896}};
    for (size_t i = 0; i < MG_COUNT(wanted); i++) {
        const struct mg_board *b = mg_board_find(wanted[i].name);
        assert_non_null(b);
        assert_int_equal(b->cc, wanted[i].cc);
        assert_int_equal(b->sm_count, wanted[i].sms);
        assert_true(mg_board_memory_peak(b) / wanted[i].terabytes > 0.99e12 &&
                    mg_board_memory_peak(b) / wanted[i].terabytes < 1.01e12);
    }
    assert_null(mg_board_find("voodoo"));
    assert_null(mg_board_find(""));
    assert_null(mg_board_find(NULL));
}

/* Every board belongs to a capability; each of the limits has a key and, if a driver tells
 * it, an attribute of its own. */
static void rows(void **state)
{
    (void)state;
    const struct mg_board *b;
    const struct mg_limit *l, *other;
    for (size_t i = 0; (b = mg_board_at(i)) != NULL; i++) {
        assert_non_null(mg_arch_find(b->cc));
        assert_true(mg_board_memory_peak(b) > 20e9 && mg_board_memory_peak(b) < 20e12);
        assert_true(mg_board_fp32_peak(b) > 0.4e12 && mg_board_fp32_peak(b) < 200e12);
        assert_true(mg_board_shared_peak(b) > mg_board_memory_peak(b));
    }
    for (size_t i = 0; (l = mg_limit_at(i)) != NULL; i++) {
        assert_true(strlen(l->text) <= 34); /* a column of `margay limits` */
        for (size_t k = 0; k < i; k++) {
            other = mg_limit_at(k);
            assert_string_not_equal(l->key, other->key);
            assert_true(!l->attribute || l->attribute != other->attribute);
        }
        if (!strcmp(l->key, "shared_memory_per_block_optin"))
            assert_int_equal(mg_limit_value(i, mg_arch_find(90), NULL), 232448);
        if (!strcmp(l->key, "memory_bandwidth"))
            assert_int_equal(mg_limit_value(i, mg_arch_find(80), mg_board_find("A100-SXM4-80GB")), 2039040000000);
    }
    /* what NVIDIA's data sheets round: 3.35 TB/s and 67 TFLOP/s of an H100 SXM5; 128 bytes a cycle and SM */
    b = mg_board_find("h100");
    assert_true(mg_board_memory_peak(b) > 3.35e12 && mg_board_memory_peak(b) < 3.36e12);
    assert_true(mg_board_fp32_peak(b) > 66.5e12 && mg_board_fp32_peak(b) < 67.5e12);
    assert_true(mg_board_shared_peak(b) > 33e12 && mg_board_shared_peak(b) < 34e12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_sane),
        cmocka_unit_test(h100),
        cmocka_unit_test(worked_values),
        cmocka_unit_test(as_the_guide_has_it),
        cmocka_unit_test(names),
        cmocka_unit_test(rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
