/* arch.c - hardware limits by compute capability, and how many blocks of a kernel a multiprocessor holds.
 *
 * The model: blocks are limited by four things, and the tightest counts: block slots, warp slots, registers, shared memory.
 * Registers are given to warps in units of `reg_alloc_unit`; each part (scheduler) of a SM has its own share of the register
 * file and holds whole warps, so the count of warps is per part. Since compute capability 8.0 the system keeps 1 KiB of
 * shared memory for itself in every block. Left out: the carve-out between L1 and shared memory (a SM is taken to give
 * shared memory all it can) and clusters. To add a device, add its row to arch.def.
 */
#include "arch/arch.h"

static const struct mg_arch rows[] = {
#define ARCH(cc_, board_, warps, blocks, regs_block_, regs_sm_, parts, optin, shared_sm_, reserved, unit, sms, l2,     \
             clock, mclock, bus, memory_)                                                                              \
    {.cc = cc_, .board = board_, .max_threads_block = 1024, .max_warps_sm = warps, .max_blocks_sm = blocks,            \
     .max_regs_thread = 255, .regs_block = regs_block_, .regs_sm = regs_sm_, .reg_alloc_unit = 256,                    \
     .warp_alloc_granularity = parts, .shared_block = 49152, .shared_block_optin = optin, .shared_sm = shared_sm_,     \
     .shared_reserved = reserved, .shared_alloc_unit = unit, .const_total = 65536, .sm_count = sms, .l2_bytes = l2,    \
     .clock_khz = clock, .memory_clock_khz = mclock, .memory_bus_bits = bus, .memory = memory_},
#include "arch/arch.def"
#undef ARCH
};

const struct mg_arch *mg__arch_find(unsigned cc)
{
    for (size_t i = 0; i < MG_COUNT(rows); i++)
        if (rows[i].cc == cc)
            return &rows[i];
    return NULL;
}

const struct mg_arch *mg__arch_at(size_t i)
{
    return i < MG_COUNT(rows) ? &rows[i] : NULL;
}

static uint64_t round_up(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

/* Blocks that the register file of a SM holds, when it has so many parts. The check of a block rounds its warps up to the
 * number of parts; the count of blocks does not. */
static uint64_t blocks_by_regs(const struct mg_arch *arch, uint64_t warps, uint64_t regs, uint64_t parts)
{
    uint64_t regs_warp = round_up(regs * 32, arch->reg_alloc_unit);
    if (regs_warp * round_up(warps, parts) > arch->regs_block)
        return 0;
    return arch->regs_sm / parts / regs_warp * parts / warps;
}

unsigned mg__arch_blocks_per_sm(const struct mg_arch *arch, unsigned threads, unsigned regs, unsigned shared)
{
    if (threads == 0 || threads > arch->max_threads_block || regs > arch->max_regs_thread ||
        shared > arch->shared_block_optin)
        return 0;
    uint64_t warps = (threads + 31u) / 32u;
    uint64_t blocks = MG_MIN(arch->max_blocks_sm, arch->max_warps_sm / warps);
    if (regs) {
        uint64_t by_regs = blocks_by_regs(arch, warps, regs, arch->warp_alloc_granularity);
        /* The two-part SM of 6.0 refuses what its four-part sisters (6.1, 6.2) could not run: code is one family's. */
        if (arch->warp_alloc_granularity != 4 && blocks_by_regs(arch, warps, regs, 4) == 0)
            by_regs = 0;
        blocks = MG_MIN(blocks, by_regs);
    }
    uint64_t shared_block = round_up((uint64_t)shared + arch->shared_reserved, arch->shared_alloc_unit);
    if (shared_block)
        blocks = MG_MIN(blocks, arch->shared_sm / shared_block);
    return (unsigned)blocks;
}
