/* async.cuh - mbarriers, bulk copies and multiplications by warpgroups, for the suites that are about them. What waits or copies
 * is a macro: its line is then the user's. */
#pragma once
#include <cstdint>

#include "cases.cuh"

__device__ static uint32_t at(const void *p)
{
    return (uint32_t)__cvta_generic_to_shared(p);
}
__device__ static void begin(uint64_t *bar, unsigned count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;\nfence.mbarrier_init.release.cluster;" ::"r"(at(bar)), "r"(count)
                 : "memory");
}
/* By thread 0: those of a ring of stages, at which so many arrive. */
template <int N> __device__ static void begin_ring(uint64_t (&full)[N], uint64_t (&empty)[N], unsigned at_full, unsigned at_empty)
{
    for (int s = 0; s < N && threadIdx.x == 0; s++) {
        begin(&full[s], at_full);
        begin(&empty[s], at_empty);
    }
}
#define ARRIVE(bar) asm volatile("{ .reg .b64 t; mbarrier.arrive.shared::cta.b64 t, [%0]; }" ::"r"(at(bar)) : "memory")
__device__ static void arrive(uint64_t *bar)
{
    ARRIVE(bar);
}
#define EXPECT_BYTES(bar, bytes)                                                                                       \
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at(bar)), "r"((unsigned)(bytes)) : "memory")
__device__ static void expect(uint64_t *bar, unsigned bytes)
{
    EXPECT_BYTES(bar, bytes);
}
/* A wait that is in vain at first must stand in a loop of its own. */
#define WAIT(bar, parity)                                                                                              \
    asm volatile("{ .reg .pred p;\nAGAIN: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n@!p bra AGAIN; }" ::  \
                     "r"(at(bar)),                                                                                     \
                 "r"(parity)                                                                                           \
                 : "memory")
#define LOAD(to, from, bytes, bar)                                                                                     \
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(at(to)), \
                 "l"(from), "r"((unsigned)(bytes)), "r"(at(bar))                                                                 \
                 : "memory")
#define STORE(to, from, bytes)                                                                                         \
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;\ncp.async.bulk.commit_group;" ::"l"(to), \
                 "r"(at(from)), "r"((unsigned)(bytes))                                                                           \
                 : "memory")
#define READ_OUT(n) asm volatile("cp.async.bulk.wait_group.read " #n ";" ::: "memory")
#define PROXY() asm volatile("fence.proxy.async;" ::: "memory")

/* Core matrices of 8 lines of 16 bytes: of 64 and of 8 lines, 32 bytes each. */
__device__ static uint64_t of_a(const void *p)
{
    return (at(p) & 0x3ffff) >> 4 | 64ull << 16 | 8ull << 32;
}
__device__ static uint64_t of_b(const void *p)
{
    return (at(p) & 0x3ffff) >> 4 | 8ull << 16 | 8ull << 32;
}
#define FENCE() asm volatile("wgmma.fence.sync.aligned;" ::: "memory")
#define COMMIT() asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory")
#define WAIT_GROUP(n) asm volatile("wgmma.wait_group.sync.aligned " #n ";" ::: "memory")
#define PIN(d) asm volatile("" : "+r"((d)[0]), "+r"((d)[1]), "+r"((d)[2]), "+r"((d)[3])::"memory")
#define MULTIPLY(d, a, b)                                                                                              \
    asm volatile("wgmma.mma_async.sync.aligned.m64n8k32.s32.s8.s8 {%0, %1, %2, %3}, %4, %5, 1;"                        \
                 : "+r"((d)[0]), "+r"((d)[1]), "+r"((d)[2]), "+r"((d)[3])                                              \
                 : "l"(of_a(a)), "l"(of_b(b))                                                                          \
                 : "memory")
