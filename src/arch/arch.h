/* arch.h - what a device of each compute capability has: one row of arch.def each. Bytes unless said otherwise. */
#ifndef MG_ARCH_H
#define MG_ARCH_H
#include "base/base.h"

struct mg_arch {
    unsigned cc;        /* 90: compute capability 9.0 */
    const char *board;  /* the board whose clocks and memory stand for the row: "NVIDIA H100 80GB HBM3" */
    unsigned max_threads_block, max_warps_sm, max_blocks_sm, max_regs_thread, regs_block, regs_sm;
    unsigned reg_alloc_unit, warp_alloc_granularity;
    unsigned shared_block, shared_block_optin, shared_sm, shared_reserved, shared_alloc_unit;
    unsigned const_total, sm_count, l2_bytes, clock_khz, memory_clock_khz, memory_bus_bits;
    uint64_t memory;
};
const struct mg_arch *mg__arch_find(unsigned cc);        /* NULL: no such row */
const struct mg_arch *mg__arch_at(size_t i);             /* NULL past the last: for listing */
/* Resident blocks a SM for a kernel, by threads, registers a thread and shared bytes (static + dynamic) a block.
 * After the occupancy rules of the CUDA programming guide; 0 when it cannot launch. */
unsigned mg__arch_blocks_per_sm(const struct mg_arch *arch, unsigned threads, unsigned regs, unsigned shared);
#endif
