/* test_occupancy.c - the occupancy rules over random configurations of every capability: against NVIDIA's calculator
 * (cuda_occupancy.h of the installed toolkit, which this test alone includes), against trying, where the answer is the
 * best of many, and the launch checks with their words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include "arch/arch.h"
#include "config.h"

#ifdef HAVE_CUDA_OCCUPANCY
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wunused-function"
#include <limits.h>
#include <cuda_occupancy.h>
#pragma GCC diagnostic pop
#endif

/* A block as somebody might launch it: any of its numbers is at times at an edge. */
static struct mg_occupancy_query random_query(const struct mg_arch *a, uint64_t *seed)
{
    struct mg_occupancy_query q = mg_arch_query(1 + config_random(seed) % 1024, config_random(seed) % 256, 0, 0);
    uint32_t shape = config_random(seed), shared = config_random(seed) % (a->shared_block_optin + 1);
    if (shape % 2)
        q.threads = (q.threads + 31) / 32 * 32;
    switch (shape / 2 % 4) {
    case 0:
        shared = 0;
        break;
    case 1: /* near the sizes where a block more or less fits */
        shared = a->shared_sm / (1 + shared % 24) - a->shared_reserved - 1 + config_random(seed) % 3;
        shared = MG_MIN(shared, a->shared_block_optin);
        break;
    case 2:
        shared %= 16384;
        break;
    }
    q.shared_static = shape / 8 % 2 ? MG_MIN(shared, 49152u) / 3 : 0;
    q.shared_dynamic = shared - q.shared_static;
    q.carveout = shape / 16 % 3 ? -1 : (int)(config_random(seed) % 101);
    q.barriers = shape / 64 % 2 ? config_random(seed) % 17 : 0;
    q.max_threads = shape / 128 % 4 ? 0 : 32 * (1 + config_random(seed) % 32);
    return q;
}

#ifdef HAVE_CUDA_OCCUPANCY
struct theirs {
    cudaOccDeviceProp device;
    cudaOccFuncAttributes function;
    cudaOccDeviceState state;
};

static struct theirs for_nvidia(const struct mg_arch *a, const struct mg_occupancy_query *q)
{
    struct theirs t;
    memset(&t, 0, sizeof(t));
    t.device.computeMajor = (int)(a->cc / 10);
    t.device.computeMinor = (int)(a->cc % 10);
    t.device.maxThreadsPerBlock = (int)a->max_threads_block;
    t.device.maxThreadsPerMultiprocessor = (int)a->max_threads_sm;
    t.device.regsPerBlock = (int)a->regs_block;
    t.device.regsPerMultiprocessor = (int)a->regs_sm;
    t.device.warpSize = 32;
    t.device.sharedMemPerBlock = a->shared_block;
    t.device.sharedMemPerMultiprocessor = a->shared_sm;
    t.device.numSms = (int)a->board->sm_count;
    t.device.sharedMemPerBlockOptin = a->shared_block_optin;
    t.device.reservedSharedMemPerBlock = a->shared_reserved;
    t.function.maxThreadsPerBlock = 1024;
    t.function.numRegs = (int)q->regs;
    t.function.sharedSizeBytes = q->shared_static;
    t.function.partitionedGCConfig = PARTITIONED_GC_OFF;
    t.function.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
    t.function.maxDynamicSharedSizeBytes = q->shared_dynamic;
    t.function.numBlockBarriers = (int)q->barriers;
    t.state.carveoutConfig = q->carveout;
    return t;
}

/* INT_MAX is theirs for "does not count". */
static bool same(unsigned ours, int nvidias)
{
    return ours == MG_NO_LIMIT ? nvidias == INT_MAX : (int)ours == nvidias;
}

static void agrees_with_nvidia(void **state)
{
    (void)state;
    uint64_t seed = 1;
    unsigned compared = 0, ran = 0;
    const struct mg_arch *a;
    for (size_t row = 0; (a = mg_arch_at(row)) != NULL; row++)
        for (unsigned i = 0; i < 20000; i++) {
            struct mg_occupancy_query q = random_query(a, &seed);
            struct theirs t = for_nvidia(a, &q);
            cudaOccResult r;
            struct mg_occupancy o;
            memset(&r, 0, sizeof(r));
            cudaOccError error = cudaOccMaxActiveBlocksPerMultiprocessor(&r, &t.device, &t.function, &t.state,
                                                                         (int)q.threads, q.shared_dynamic);
            assert_int_equal(mg_arch_occupancy(a, &q, &o), MG_OK);
            if (error != CUDA_OCC_SUCCESS)
                fail_msg("cc %u: NVIDIA's calculator does not know it (error %d)", a->cc, error);
            if ((int)o.blocks != r.activeBlocksPerMultiprocessor ||
                !same(o.limit[MG_LIMITER_WARPS], r.blockLimitWarps) ||
                !same(o.limit[MG_LIMITER_BLOCKS], r.blockLimitBlocks) ||
                !same(o.limit[MG_LIMITER_REGISTERS], r.blockLimitRegs) ||
                !same(o.limit[MG_LIMITER_SHARED], r.blockLimitSharedMem) ||
                (a->cc >= 90 && q.barriers &&
                 !same(o.limit[MG_LIMITER_BARRIERS], MG_MIN(r.blockLimitBarriers, r.blockLimitBlocks))))
                fail_msg(
                    "cc %u, %u threads, %u registers, %u + %u bytes, %u barriers, carve-out %d: %u blocks (warps %u, "
                    "blocks %u, registers %u, shared %u, barriers %u), NVIDIA says %d (%d, %d, %d, %d, %d)",
                    a->cc, q.threads, q.regs, q.shared_static, q.shared_dynamic, q.barriers, q.carveout, o.blocks,
                    o.limit[MG_LIMITER_WARPS], o.limit[MG_LIMITER_BLOCKS], o.limit[MG_LIMITER_REGISTERS],
                    o.limit[MG_LIMITER_SHARED], o.limit[MG_LIMITER_BARRIERS], r.activeBlocksPerMultiprocessor,
                    r.blockLimitWarps, r.blockLimitBlocks, r.blockLimitRegs, r.blockLimitSharedMem,
                    r.blockLimitBarriers);
            compared++;
            ran += o.blocks > 0;
        }
    assert_int_equal(compared, 20 * 20000);
    assert_true(ran > compared / 2);
}

static uint32_t by_thread(unsigned threads, void *arg)
{
    return threads * *(unsigned *)arg;
}
static unsigned bytes_a_thread;
static size_t by_thread_for_nvidia(int threads)
{
    return (size_t)threads * bytes_a_thread;
}

/* The block size that NVIDIA's calculator proposes. */
static void best_block_agrees_with_nvidia(void **state)
{
    (void)state;
    uint64_t seed = 3;
    const struct mg_arch *a;
    for (size_t row = 0; (a = mg_arch_at(row)) != NULL; row++)
        for (unsigned i = 0; i < 300; i++) {
            struct mg_occupancy_query q = random_query(a, &seed);
            struct theirs t = for_nvidia(a, &q);
            struct mg_occupancy o;
            unsigned ours = 0;
            int least = 0, block = 0;
            bool varies = i % 2;
            bytes_a_thread = config_random(&seed) % 40;
            t.function.maxDynamicSharedSizeBytes = a->shared_block_optin - q.shared_static;
            t.function.maxThreadsPerBlock = q.max_threads ? (int)q.max_threads : 1024;
            cudaOccError error =
                cudaOccMaxPotentialOccupancyBlockSize(&least, &block, &t.device, &t.function, &t.state,
                                                      varies ? by_thread_for_nvidia : NULL, q.shared_dynamic);
            enum mg_status status = mg_arch_best_threads(a, &q, varies ? by_thread : NULL, &bytes_a_thread, &ours, &o);
            if (error != CUDA_OCC_SUCCESS || block == 0)
                assert_int_equal(status, MG_ERR_NOT_FOUND);
            else if (status || (int)ours != block || (int)(o.blocks * a->board->sm_count) != least)
                fail_msg("cc %u, %u registers, %u + %u bytes, %u barriers, carve-out %d, bounds %u: %u threads, NVIDIA "
                         "says %d",
                         a->cc, q.regs, q.shared_static, q.shared_dynamic, q.barriers, q.carveout, q.max_threads, ours,
                         block);
        }
}
#endif

static unsigned blocks_of(const struct mg_arch *a, const struct mg_occupancy_query *q)
{
    struct mg_occupancy o;
    assert_int_equal(mg_arch_occupancy(a, q, &o), MG_OK);
    return o.blocks;
}

/* With *field of q at `value`, below what it is, there is room for more than `now`; with one more of it there is
 * not. */
static void most_that_does(const struct mg_arch *a, const struct mg_occupancy_query *q, unsigned *field, unsigned value,
                           unsigned now)
{
    assert_true(value && value < *field);
    *field = value;
    assert_true(blocks_of(a, q) > now);
    *field = value + 1;
    assert_int_equal(blocks_of(a, q), now);
}

/* What the next step says is tried, and so is a little less of a change. */
static void next_step_is_the_least(void **state)
{
    (void)state;
    uint64_t seed = 2;
    unsigned threads = 0, regs = 0, shared = 0, both = 0, none = 0, barriers = 0, carveouts = 0;
    const struct mg_arch *a;
    for (size_t row = 0; (a = mg_arch_at(row)) != NULL; row++)
        for (unsigned i = 0; i < 2000; i++) {
            struct mg_occupancy_query q = random_query(a, &seed), t;
            struct mg_occupancy_step s;
            uint32_t all = q.shared_static + q.shared_dynamic;
            unsigned now = blocks_of(a, &q);
            assert_int_equal(mg_arch_next_step(a, &q, &s), MG_OK);
            if (!s.blocks) {
                none++;
                assert_false(s.by_threads || s.by_regs || s.by_shared || s.by_both || s.by_barriers || s.by_carveout);
                t = q; /* not even with no registers, no shared memory and a warp */
                t.threads = 32;
                assert_true(now >= blocks_of(a, &t) || q.threads <= 32);
                continue;
            }
            assert_int_equal(s.blocks, now + 1);
            assert_true(s.by_threads || s.by_regs || s.by_shared || s.by_both || s.by_barriers || s.by_carveout);
            if (s.by_barriers) {
                barriers++;
                t = q;
                most_that_does(a, &t, &t.barriers, s.barriers, now);
            }
            if (s.by_carveout) {
                carveouts++;
                t = q;
                t.carveout = s.carveout;
                assert_true(s.carveout > q.carveout && blocks_of(a, &t) > now);
                t.carveout--;
                assert_int_equal(blocks_of(a, &t), now);
            }
            if (s.by_threads) {
                threads++;
                t = q;
                t.threads = s.threads;
                assert_true(s.threads < q.threads && blocks_of(a, &t) > now);
                for (t.threads = s.threads + 1; t.threads < q.threads; t.threads++)
                    assert_true(t.threads % 32 || blocks_of(a, &t) == now);
            }
            if (s.by_regs) {
                regs++;
                t = q;
                most_that_does(a, &t, &t.regs, s.regs, now);
            }
            t = q;
            t.shared_static = 0;
            if (s.by_shared) {
                shared++;
                t.shared_dynamic = s.shared;
                assert_true(s.shared < all && blocks_of(a, &t) > now);
                t.shared_dynamic++;
                assert_int_equal(blocks_of(a, &t), now);
            }
            if (s.by_both) {
                both++;
                t.shared_dynamic = s.both_shared;
                t.regs = s.both_regs;
                assert_true(blocks_of(a, &t) > now);
                t.regs++;
                assert_int_equal(blocks_of(a, &t), now);
                t.regs--, t.shared_dynamic++;
                assert_int_equal(blocks_of(a, &t), now);
            }
        }
    assert_true(threads > 5000 && regs > 2000 && shared > 500 && both > 20 && none > 20 && barriers > 100 &&
                carveouts > 100);
}

static void most_that_fits(void **state)
{
    (void)state;
    uint64_t seed = 4;
    const struct mg_arch *a;
    for (size_t row = 0; (a = mg_arch_at(row)) != NULL; row++)
        for (unsigned i = 0; i < 500; i++) {
            struct mg_occupancy_query q = random_query(a, &seed);
            unsigned blocks = 1 + config_random(&seed) % 12, regs;
            uint32_t bytes;
            struct mg_occupancy_query t = q;
            if (mg_arch_max_dynamic_shared(a, &q, blocks, &bytes) == MG_OK) {
                t.shared_dynamic = bytes;
                assert_true(blocks_of(a, &t) >= blocks);
                t.shared_dynamic = bytes + 1;
                assert_true(blocks_of(a, &t) < blocks);
            } else {
                t.shared_dynamic = 0;
                assert_true(blocks_of(a, &t) < blocks);
            }
            t = q;
            if (mg_arch_max_regs(a, &q, blocks, &regs) == MG_OK) {
                t.regs = regs;
                assert_true(blocks_of(a, &t) >= blocks);
                t.regs = regs + 1;
                assert_true(blocks_of(a, &t) < blocks);
            } else {
                t.regs = 1;
                assert_true(blocks_of(a, &t) < blocks);
            }
        }
}

static void wrong_questions(void **state)
{
    (void)state;
    const struct mg_arch *a = mg_arch_find(90);
    struct mg_occupancy_query q = mg_arch_query(0, 32, 0, 0);
    struct mg_occupancy o;
    struct mg_occupancy_step s;
    unsigned n;
    uint32_t bytes;
    assert_int_equal(mg_arch_occupancy(a, &q, &o), MG_ERR_INVALID);
    assert_int_equal(mg_arch_next_step(a, &q, &s), MG_ERR_INVALID);
    q.threads = 32;
    q.carveout = 101;
    assert_int_equal(mg_arch_occupancy(a, &q, &o), MG_ERR_INVALID);
    assert_int_equal(mg_arch_max_regs(a, &q, 1, &n), MG_ERR_INVALID);
    q.carveout = -1;
    assert_int_equal(mg_arch_occupancy(NULL, &q, &o), MG_ERR_INVALID);
    assert_int_equal(mg_arch_max_dynamic_shared(a, &q, 0, &bytes), MG_ERR_INVALID);
    assert_int_equal(mg_arch_max_dynamic_shared(a, &q, 33, &bytes), MG_ERR_NOT_FOUND);
    /* numbers that no kernel has end in an answer */
    q = mg_arch_query(UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX);
    q.barriers = UINT32_MAX;
    assert_int_equal(mg_arch_occupancy(a, &q, &o), MG_OK);
    assert_int_equal(o.blocks, 0);
    assert_int_equal(mg_arch_next_step(a, &q, &s), MG_OK);
    assert_string_equal(mg_limiter_name((enum mg_limiter)99), "?");
}

/* A launch, and what a device says to it; in words, a part of the message and of the hint. */
static void launches(void **state)
{
    (void)state;
    static const struct {
        unsigned cc;
        struct mg_dim3 grid, block;
        unsigned regs, fixed, dynamic, optin, max_threads;
        uint64_t params;
        int cooperative;
        enum mg_launch_fault fault;
        const char *message, *hint;
    } rows[] = {
        {90, {1, 1, 1}, {1024, 1, 1}, 64, 0, 0, 0, 0, 0, 0, MG_LAUNCH_OK, NULL, NULL},
        {90, {1, 1, 1}, {1024, 1, 1}, 65, 0, 0, 0, 0, 0, 0, MG_LAUNCH_REGISTERS,
         "blocks of 1024 threads with 65 registers each; the registers of a block are 65536",
         "__launch_bounds__(1024) leaves a thread 64"},
        {53, {1, 1, 1}, {1024, 1, 1}, 40, 0, 0, 0, 0, 0, 0, MG_LAUNCH_REGISTERS,
         "the registers of a block are 32768", "at most 768 threads"},
        {90, {1, 1, 1}, {32, 1, 1}, 256, 0, 0, 0, 0, 0, 0, MG_LAUNCH_REGISTERS,
         "compiled for 256 registers a thread", "for this device"},
        {90, {0, 1, 1}, {32, 1, 1}, 16, 0, 0, 0, 0, 0, 0, MG_LAUNCH_ZERO, "grid 0 x 1 x 1, block 32 x 1 x 1", "<<<"},
        {90, {1, 1, 1}, {32, 1, 0}, 16, 0, 0, 0, 0, 0, 0, MG_LAUNCH_ZERO, "a dimension of 0", "<<<"},
        {90, {2147483647, 65535, 65535}, {32, 1, 1}, 16, 0, 0, 0, 0, 0, 0, MG_LAUNCH_OK, NULL, NULL},
        {90, {2147483648u, 1, 1}, {32, 1, 1}, 16, 0, 0, 0, 0, 0, 0, MG_LAUNCH_GRID,
         "allows 2147483647 x 65535 x 65535", "x be the largest"},
        {90, {1, 65536, 1}, {32, 1, 1}, 16, 0, 0, 0, 0, 0, 0, MG_LAUNCH_GRID,
         "a grid of 1 x 65536 x 1 blocks", "each block do more"},
        {90, {1, 1, 1}, {32, 32, 2}, 16, 0, 0, 0, 0, 0, 0, MG_LAUNCH_BLOCK, "32 x 32 x 2 threads", "smaller blocks"},
        {90, {1, 1, 1}, {1, 1, 65}, 16, 0, 0, 0, 0, 0, 0, MG_LAUNCH_BLOCK,
         "1024 x 1024 x 64 at most", "smaller blocks"},
        {90, {1, 1, 1}, {65536, 65536, 65536}, 16, 0, 0, 0, 0, 0, 0, MG_LAUNCH_BLOCK,
         "allows 1024 threads", "smaller blocks"},
        {90, {1, 1, 1}, {288, 1, 1}, 16, 0, 0, 0, 256, 0, 0, MG_LAUNCH_BOUNDS,
         "288 threads; its __launch_bounds__ allows 256", "larger launch bounds"},
        {90, {1, 1, 1}, {32, 1, 1}, 16, 1000, 48152, 0, 0, 0, 0, MG_LAUNCH_OK, NULL, NULL},
        {90, {1, 1, 1}, {32, 1, 1}, 16, 1000, 48153, 0, 0, 0, 0, MG_LAUNCH_SHARED,
         "48153 bytes of dynamic shared memory (and 1000 static); 48152 are allowed",
         "cudaFuncAttributeMaxDynamicSharedMemorySize, 48153"},
        {90, {1, 1, 1}, {32, 1, 1}, 16, 0, 232448, 232448, 0, 0, 0, MG_LAUNCH_OK, NULL, NULL},
        {90, {1, 1, 1}, {32, 1, 1}, 16, 0, 232449, 232449, 0, 0, 0, MG_LAUNCH_SHARED,
         "232448 are allowed", "can have 232448 bytes"},
        {75, {1, 1, 1}, {32, 1, 1}, 16, 0, 65537, 65537, 0, 0, 0, MG_LAUNCH_SHARED,
         "65536 are allowed on Tesla T4", "can have 65536 bytes"},
        {90, {1, 1, 1}, {32, 1, 1}, 16, 0, 0, 0, 0, 32764, 0, MG_LAUNCH_OK, NULL, NULL},
        {90, {1, 1, 1}, {32, 1, 1}, 16, 0, 0, 0, 0, 32765, 0, MG_LAUNCH_PARAMS,
         "32765 bytes of parameters", "a pointer"},
        {60, {1, 1, 1}, {32, 1, 1}, 16, 0, 0, 0, 0, 4097, 0, MG_LAUNCH_PARAMS, "takes 4096", "a pointer"},
        {90, {1056, 1, 1}, {256, 1, 1}, 32, 0, 0, 0, 0, 0, 1, MG_LAUNCH_OK, NULL, NULL},
        {90, {1057, 1, 1}, {256, 1, 1}, 32, 0, 0, 0, 0, 0, 1, MG_LAUNCH_COOPERATIVE,
         "cooperatively with 1057 blocks; NVIDIA H100 80GB HBM3 (compute capability 9.0) holds 1056 of them at once, 8 "
         "on each of its 132 SMs (warp slots)", "cudaOccupancyMaxActiveBlocksPerMultiprocessor"},
    };
    for (size_t i = 0; i < MG_COUNT(rows); i++) {
        struct mg_launch_shape s = {.grid = rows[i].grid, .block = rows[i].block, .param_bytes = rows[i].params,
                                    .cooperative = rows[i].cooperative};
        struct mg_diag diag;
        memset(&diag, 0, sizeof(diag));
        s.kernel = mg_arch_query(0, rows[i].regs, rows[i].fixed, rows[i].dynamic);
        s.kernel.shared_optin = rows[i].optin;
        s.kernel.max_threads = rows[i].max_threads;
        const struct mg_arch *a = mg_arch_find(rows[i].cc);
        enum mg_launch_fault fault = mg_arch_launch_check(a, &s, &diag);
        if (fault != rows[i].fault ||
            (fault && (!strstr(diag.message, rows[i].message) || !strstr(diag.hint, rows[i].hint) ||
                       diag.status != MG_ERR_LAUNCH_LIMIT)))
            fail_msg("row %zu: fault %d: %s (%s)", i, fault, diag.message, diag.hint);
        assert_int_equal(mg_arch_launch_check(a, &s, NULL), fault);
    }
}

/* An H200's answers, of tests/hardware/clusters.txt. */
static void clusters_fit_groups_of_sms(void **state)
{
    (void)state;
    const struct mg_arch *a = mg_arch_find(90);
    assert_int_equal(mg_arch_clusters_active(a, 32, 1), 1056);
    assert_int_equal(mg_arch_clusters_active(a, 8, 3), 327);
    assert_int_equal(mg_arch_clusters_active(a, 1, 2), 66);
    assert_int_equal(mg_arch_clusters_active(a, 1, 16), 7);
    assert_int_equal(mg_arch_clusters_active(a, 0, 2), 0);
    assert_int_equal(mg_arch_clusters_active(a, 1, 0), 0);
}

static void clusters_are_held_to_the_device(void **state)
{
    (void)state;
    static const struct {
        unsigned cc;
        struct mg_dim3 grid, cluster, compiled;
        int wanted, more;
        unsigned most;
        enum mg_launch_fault fault;
        const char *message;
    } rows[] = {
        {90, {8, 1, 1}, {8, 1, 1}, {0}, 0, 0, 0, MG_LAUNCH_OK, NULL},
        {90, {18, 4, 3}, {2, 2, 1}, {0}, 0, 0, 0, MG_LAUNCH_OK, NULL},
        {90, {18, 4, 3}, {0}, {2, 2, 1}, 1, 0, 0, MG_LAUNCH_OK, NULL},
        {90, {18, 4, 3}, {2, 2, 1}, {2, 2, 1}, 1, 0, 4, MG_LAUNCH_OK, NULL},
        {90, {16, 1, 1}, {16, 1, 1}, {0}, 0, 1, 0, MG_LAUNCH_OK, NULL},
        {80, {16, 1, 1}, {1, 1, 1}, {0}, 0, 0, 0, MG_LAUNCH_OK, NULL},
        {90, {9, 1, 1}, {2, 1, 1}, {0}, 0, 0, 0, MG_LAUNCH_CLUSTER, "which clusters of 2 x 1 x 1 do not divide"},
        {90, {8, 1, 3}, {1, 1, 2}, {0}, 0, 0, 0, MG_LAUNCH_CLUSTER, "which clusters of 1 x 1 x 2 do not divide"},
        {90, {16, 1, 1}, {16, 1, 1}, {0}, 0, 0, 0, MG_LAUNCH_CLUSTER, "clusters of 16 blocks; NVIDIA H100"},
        {90, {32, 1, 1}, {32, 1, 1}, {0}, 0, 1, 0, MG_LAUNCH_CLUSTER, "allows 16"},
        {90, {1u << 20, 1, 1}, {1u << 20, 1u << 15, 4}, {0}, 0, 1, 0, MG_LAUNCH_CLUSTER, "allows 16"},
        {80, {16, 1, 1}, {2, 1, 1}, {0}, 0, 0, 0, MG_LAUNCH_CLUSTER, "allows 1"},
        {90, {16, 1, 1}, {4, 1, 1}, {2, 1, 1}, 1, 0, 0, MG_LAUNCH_CLUSTER, "__cluster_dims__ says 2 x 1 x 1"},
        {90, {16, 1, 1}, {0}, {0}, 1, 0, 0, MG_LAUNCH_CLUSTER, "launched without a cluster"},
        {90, {16, 1, 1}, {8, 1, 1}, {0}, 0, 0, 4, MG_LAUNCH_CLUSTER, "__launch_bounds__ allows 4"},
    };
    for (size_t i = 0; i < MG_COUNT(rows); i++) {
        struct mg_launch_shape s = {.grid = rows[i].grid, .block = {32, 1, 1}, .cluster = rows[i].cluster,
                                    .cluster_compiled = rows[i].compiled, .cluster_wanted = rows[i].wanted,
                                    .cluster_non_portable = rows[i].more, .cluster_most = rows[i].most};
        struct mg_diag diag;
        memset(&diag, 0, sizeof(diag));
        s.kernel = mg_arch_query(0, 16, 0, 0);
        enum mg_launch_fault fault = mg_arch_launch_check(mg_arch_find(rows[i].cc), &s, &diag);
        if (fault != rows[i].fault || (fault && !strstr(diag.message, rows[i].message)))
            fail_msg("row %zu: fault %d, '%s'", i, (int)fault, diag.message);
        assert_true(!fault || diag.hint[0]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#ifdef HAVE_CUDA_OCCUPANCY
        cmocka_unit_test(agrees_with_nvidia),
        cmocka_unit_test(best_block_agrees_with_nvidia),
#endif
        cmocka_unit_test(next_step_is_the_least),
        cmocka_unit_test(most_that_fits),
        cmocka_unit_test(wrong_questions),
        cmocka_unit_test(launches),
        cmocka_unit_test(clusters_fit_groups_of_sms),
        cmocka_unit_test(clusters_are_held_to_the_device),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
