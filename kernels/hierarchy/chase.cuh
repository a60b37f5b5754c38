/* chase.cuh - latency: one thread follows a chain, and the multiprocessor's clock tells how long that took.
 *
 * The address of a load is what the load before it brought, so there is never more than one on its way. The block has
 * HIERARCHY_THREADS threads to bring the level into the state that is measured (the words into shared memory, into a
 * cache); then all but one are done. To the time of a load belongs the making of its address from an index: a
 * multiply-add of about 4 cycles in global memory, nothing in shared memory, whose chain holds addresses.
 */
#ifndef MG_HIERARCHY_CHASE_CUH
#define MG_HIERARCHY_CHASE_CUH
#include "hierarchy/hierarchy_priv.h"

enum chase_level { CHASE_REGISTERS, CHASE_SHARED, CHASE_L1, CHASE_L2, CHASE_GLOBAL };
enum { CHASE_UNROLL = 8 };

template <enum chase_level LEVEL> static __device__ inline uint32_t mg__chase_load(const uint32_t *p)
{
    uint32_t v;
    if (LEVEL == CHASE_L1)
        asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    else
        asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
    return v;
}

/* One link of the chain. `at` is an index; an address in shared memory; in registers, a number. */
template <enum chase_level LEVEL>
static __device__ inline uint32_t mg__chase_next(const uint32_t *x, uint32_t first, uint32_t at)
{
    uint32_t next;
    if (LEVEL == CHASE_REGISTERS)
        asm volatile("mad.lo.u32 %0, %1, %2, %3;"
                     : "=r"(next)
                     : "r"(at), "r"(static_cast<uint32_t>(HIERARCHY_FACTOR)), "r"(first));
    else if (LEVEL == CHASE_SHARED)
        asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(next) : "r"(at) : "memory");
    else
        next = mg__chase_load<LEVEL>(x + at);
    return next;
}

/* Instructions are issued in order: what comes after has to wait until `value` is there. */
static __device__ inline void mg__chase_await(uint32_t *shared, uint32_t value)
{
    uint32_t address = static_cast<uint32_t>(__cvta_generic_to_shared(shared));
    asm volatile("st.volatile.shared.u32 [%0], %1;" ::"r"(address), "r"(value) : "memory");
}

template <enum chase_level LEVEL>
static __global__ void __launch_bounds__(HIERARCHY_THREADS)
    hierarchy_chase(uint32_t n, const uint32_t *x, int64_t steps, uint32_t *out)
{
    extern __shared__ uint32_t tile[];
    __shared__ uint32_t last;
    uint32_t base = static_cast<uint32_t>(__cvta_generic_to_shared(tile)), sum = 0;
    if (LEVEL == CHASE_SHARED)
        for (uint32_t i = threadIdx.x; i < n; i += HIERARCHY_THREADS)
            tile[i] = base + 4 * x[i];
    if (LEVEL == CHASE_L1 || LEVEL == CHASE_L2)
        for (uint32_t i = threadIdx.x; i < n; i += HIERARCHY_THREADS)
            sum += mg__chase_load<LEVEL>(x + i);
    (void)__syncthreads_or(sum == 1); /* a use of the sum: loads that nobody waits for would be dropped */
    if (threadIdx.x != 0)
        return;
    uint32_t first = x[0], at = LEVEL == CHASE_SHARED ? base : 0;
    mg__chase_await(&last, first + at);
    int64_t begin = clock64();
    for (int64_t j = steps / CHASE_UNROLL; j > 0; j--) {
#pragma unroll
        for (int k = 0; k < CHASE_UNROLL; k++)
            at = mg__chase_next<LEVEL>(x, first, at);
    }
    for (int64_t j = steps % CHASE_UNROLL; j > 0; j--)
        at = mg__chase_next<LEVEL>(x, first, at);
    mg__chase_await(&last, at);
    int64_t cycles = clock64() - begin;
    out[0] = LEVEL == CHASE_SHARED ? (at - base) / 4 : at;
    out[1] = static_cast<uint32_t>(cycles);
    out[2] = static_cast<uint32_t>(static_cast<uint64_t>(cycles) >> 32);
}

template <enum chase_level LEVEL> static enum mg_kernels_status mg__chase(const struct mg__hierarchy *call)
{
    size_t shared = LEVEL == CHASE_SHARED ? static_cast<size_t>(call->n) * sizeof *call->x : 0;
    return mg__kernels_launch(hierarchy_chase<LEVEL>, dim3(1), dim3(HIERARCHY_THREADS), shared, call->stream,
                              static_cast<uint32_t>(call->n), call->x, call->steps, call->out);
}
#endif
