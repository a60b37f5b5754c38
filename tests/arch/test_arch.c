/* test_arch.c - the table of devices, and the occupancy rules against values worked out by hand from the CUDA programming
 * guide's limits and against NVIDIA's occupancy calculator (cuda_occupancy.h) over random configurations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "arch/arch.h"

#ifdef HAVE_CUDA_OCCUPANCY
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-function"
#include <limits.h>
#include <cuda_occupancy.h>
#pragma GCC diagnostic pop
#endif

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

#ifdef HAVE_CUDA_OCCUPANCY
static uint32_t next_random(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(*seed >> 33);
}

static void agrees_with_nvidia(void **state)
{
    (void)state;
    uint64_t seed = 1;
    unsigned compared = 0, refused = 0;
    const struct mg_arch *a;
    for (size_t row = 0; (a = mg_arch_at(row)) != NULL; row++) {
        cudaOccDeviceProp device;
        memset(&device, 0, sizeof(device));
        device.computeMajor = (int)(a->cc / 10);
        device.computeMinor = (int)(a->cc % 10);
        device.maxThreadsPerBlock = (int)a->max_threads_block;
        device.maxThreadsPerMultiprocessor = (int)a->max_warps_sm * 32;
        device.regsPerBlock = (int)a->regs_block;
        device.regsPerMultiprocessor = (int)a->regs_sm;
        device.warpSize = 32;
        device.sharedMemPerBlock = a->shared_block;
        device.sharedMemPerMultiprocessor = a->shared_sm;
        device.numSms = (int)a->board->sm_count;
        device.sharedMemPerBlockOptin = a->shared_block_optin;
        device.reservedSharedMemPerBlock = a->shared_reserved;
        for (unsigned i = 0; i < 4000; i++) {
            unsigned threads = 1 + next_random(&seed) % 1024, regs = 1 + next_random(&seed) % 255;
            unsigned shared = next_random(&seed) % 4 ? next_random(&seed) % (a->shared_block_optin + 1) : 0;
            cudaOccFuncAttributes function;
            cudaOccDeviceState device_state;
            cudaOccResult result;
            memset(&function, 0, sizeof(function));
            memset(&device_state, 0, sizeof(device_state));
            memset(&result, 0, sizeof(result));
            function.maxThreadsPerBlock = 1024;
            function.numRegs = (int)regs;
            function.partitionedGCConfig = PARTITIONED_GC_OFF;
            function.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
            function.maxDynamicSharedSizeBytes = shared;
            device_state.carveoutConfig = SHAREDMEM_CARVEOUT_MAX_SHARED;
            cudaOccError error = cudaOccMaxActiveBlocksPerMultiprocessor(&result, &device, &function, &device_state,
                                                                         (int)threads, shared);
            if (error != CUDA_OCC_SUCCESS) {
                refused++; /* it does not know the device's carve-outs */
                continue;
            }
            unsigned got = mg__arch_blocks_per_sm(a, threads, regs, shared);
            if ((int)got != result.activeBlocksPerMultiprocessor)
                fail_msg("cc %u, %u threads, %u registers, %u bytes: %u blocks, NVIDIA says %d", a->cc, threads, regs,
                         shared, got, result.activeBlocksPerMultiprocessor);
            compared++;
        }
    }
    assert_true(compared > 60000);
    assert_true(refused < 8001);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_are_sane),
        cmocka_unit_test(h100),
        cmocka_unit_test(worked_values),
#ifdef HAVE_CUDA_OCCUPANCY
        cmocka_unit_test(agrees_with_nvidia),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
