/* arch.h - what a CUDA device of each compute capability has, and how many blocks of a kernel it holds.
 *
 * Everything here is a table look-up or integer arithmetic: no GPU, no driver, no state, no allocation; safe from any
 * thread. Part of libmargay, and free of the rest of it.
 *
 *     const struct mg_arch *arch = mg_arch_find(90);
 *     struct mg_occupancy_query q = mg_arch_query(256, 40, 0, 20 * 1024);
 *     struct mg_occupancy o;
 *     mg_arch_occupancy(arch, &q, &o);
 *     printf("%u blocks, %u of %u warps, held back by %s\n", o.blocks, o.warps, arch->max_warps_sm,
 *            mg_limiter_name(o.binding));
 *
 * Sizes are bytes unless a name says otherwise. A capability has limits; a board is one product of that capability,
 * with its number of SMs, its clocks and its memory. An SM is a streaming multiprocessor.
 */
#ifndef MARGAY_ARCH_H
#define MARGAY_ARCH_H

#include "margay/margay.h"

#ifdef __cplusplus
extern "C" {
#endif

struct mg_board {
    const char *name; /* as the driver names it: "NVIDIA H100 80GB HBM3" */
    unsigned cc;
    unsigned sm_count;
    unsigned l2_bytes;
    unsigned clock_khz;        /* of the SMs: the boost clock, which is the driver's "clock rate" */
    unsigned memory_clock_khz; /* two transfers a cycle on each line of the bus */
    unsigned memory_bus_bits;
    uint64_t memory;
    const char *source; /* where the row comes from, in a few words */
};

#define MG_MAX_CARVEOUTS 10

struct mg_arch {
    unsigned cc;        /* 90: compute capability 9.0 */
    const char *family; /* "Hopper" */
    /* ---- a launch ---- */
    unsigned warp_size, max_threads_block, max_block_dim[3], max_grid_dim[3], max_regs_thread, regs_block;
    unsigned max_local_thread, max_param_bytes, max_cluster_blocks; /* portable cluster size; 1: no clusters */
    /* ---- an SM ---- */
    unsigned max_threads_sm, max_warps_sm, max_blocks_sm, regs_sm, partitions; /* partitions: warp schedulers */
    unsigned reg_alloc_unit;             /* registers are given to a warp in multiples of this */
    unsigned barriers_block, barriers_sm; /* named barriers; the SM's are shared out to its blocks */
    unsigned fp32_lanes, fp64_lanes;     /* fused multiply-adds a cycle */
    /* ---- shared memory ---- */
    unsigned shared_block, shared_block_optin; /* without asking; after cudaFuncSetAttribute */
    unsigned shared_reserved;                  /* taken by the system in every block, on top */
    unsigned shared_sm, shared_alloc_unit;
    unsigned banks, bank_bytes; /* a wavefront serves a row of them: 128 bytes */
    /* ---- global memory, through the caches ---- */
    unsigned sector_bytes, line_bytes; /* what is moved, and what a tag stands for */
    /* L1, texture and shared memory together; before 7.0 without shared memory; 0: not published */
    unsigned unified_cache;
    /* sizes that an SM can set aside for shared memory, ascending */
    unsigned carveouts_kib[MG_MAX_CARVEOUTS], ncarveouts;
    unsigned const_total, const_cache; /* the constant bank; its cache in an SM */
    const struct mg_board *board;      /* the one that stands for the capability: what the simulator reports */
};

/* NULL: nothing is published about such a capability. mg_arch_at: in ascending order, NULL past the last. */
const struct mg_arch *mg_arch_find(unsigned cc);
const struct mg_arch *mg_arch_at(size_t index);
/* "9.0", "90", "sm_90", "sm_90a" or "compute_90". NULL: no such text or capability. */
const struct mg_arch *mg_arch_parse(const char *text);

/* Boards, by capability. mg_board_find takes a part of a name in any case: "h100". Those that end with it, so that a
 * whole name finds its own; else that have it as whole words; else within one. Of several the one that stands for its
 * capability; NULL when none has it, or several do and none of them (or more than one) stands for its capability.
 * mg_board_match says which fit that well: at most `room` of them in `boards`, and how many there are. */
const struct mg_board *mg_board_at(size_t index);
const struct mg_board *mg_board_find(const char *name);
size_t mg_board_match(const char *name, const struct mg_board **boards, size_t room);
/* At the boost clock: FLOP/s of FP32 (a fused multiply-add is two), bytes/s of device
 * memory and of all shared memory. */
double mg_board_fp32_peak(const struct mg_board *board);
double mg_board_memory_peak(const struct mg_board *board);
double mg_board_shared_peak(const struct mg_board *board);
/* Bytes/s between host and device, one way: PCIe of 16 lanes, of the generation that the capability's boards have. 0: a
 * module, which shares its memory with the host. */
double mg_board_link_peak(const struct mg_board *board);

/* ---- the limits as rows, for tables ---- */
struct mg_limit {
    const char *key;   /* "shared_memory_per_block_optin": the key in JSON */
    const char *group; /* "Launch", "Multiprocessor", "Shared memory", "Memory", "Board" */
    const char *text;  /* "Shared memory a block, after opting in" */
    const char *unit;  /* "B", "threads", "kHz", …; "" for a bare count */
    int attribute;     /* of cudaDeviceGetAttribute and cuDeviceGetAttribute; 0: no driver tells */
    int of_board;      /* non-zero: differs between boards of one capability */
};
const struct mg_limit *mg_limit_at(size_t index); /* NULL past the last */
/* 0 where nothing is published. `board` may be NULL: the capability's own. */
uint64_t mg_limit_value(size_t index, const struct mg_arch *arch, const struct mg_board *board);

/* ---- occupancy ---- */
enum mg_limiter {
    MG_LIMITER_BLOCKS,    /* block slots of an SM */
    MG_LIMITER_WARPS,     /* warp slots */
    MG_LIMITER_REGISTERS, /* the register file */
    MG_LIMITER_SHARED,    /* shared memory */
    MG_LIMITER_BARRIERS,  /* named barriers: counted from 9.0 on; as Nsight Compute has it, block slots at most */
    MG_LIMITER_COUNT
};
const char *mg_limiter_name(enum mg_limiter limiter); /* "registers" */

struct mg_occupancy_query {
    unsigned threads;          /* a block */
    unsigned regs;             /* a thread, as compiled; 0: not counted */
    uint32_t shared_static;    /* a block */
    uint32_t shared_dynamic;
    uint32_t shared_optin; /* cudaFuncAttributeMaxDynamicSharedMemorySize, 0: not set. mg_arch_launch_check alone asks
                              for it; the others take it that shared_dynamic was allowed */
    int carveout;              /* cudaFuncAttributePreferredSharedMemoryCarveout, percent; -1: the driver's choice */
    unsigned barriers;         /* named barriers that the kernel uses; 0: not counted */
    uint32_t shared_config; /* what an SM is known to be set to (launch__shared_mem_config_size); 0: not known. Then the
                               limit by shared memory is Nsight Compute's, else the CUDA occupancy API's, which takes
                               it that the driver will set aside as much as is needed */
    unsigned max_threads;   /* what the kernel was compiled for (__launch_bounds__); 0: the device's limit.
                               mg_arch_best_threads and mg_arch_launch_check ask for it; occupancy, like the API, not */
};
/* A query with these four and everything else as a program that sets nothing has it. */
struct mg_occupancy_query mg_arch_query(unsigned threads, unsigned regs, uint32_t shared_static,
                                        uint32_t shared_dynamic);

#define MG_NO_LIMIT UINT32_MAX

struct mg_occupancy {
    unsigned blocks;                   /* resident on an SM at once; 0: a block of this kind cannot run */
    unsigned warps, warps_block;       /* blocks * warps_block = warps */
    double occupancy;                  /* warps of the SM's warp slots, 0 to 1 */
    unsigned limit[MG_LIMITER_COUNT];  /* blocks that each would allow by itself; MG_NO_LIMIT: it does not count */
    enum mg_limiter binding; /* the one that is the tightest; of several the first of registers, shared memory,
                                barriers, warps, block slots: what a programmer can change comes first;
                                warps when all of them are taken */
    unsigned regs_warp, regs_block;    /* as allocated, after rounding */
    uint32_t shared_block;             /* as allocated: static, dynamic, reserved, rounded up */
    uint32_t shared_sm;                /* what the SM can give under the kernel's carve-out preference */
};
/* MG_ERR_INVALID: a null pointer, no threads, or a carve-out beyond -1 to 100. A block that is too large for the device
 * is an answer: 0 blocks. Equal to cudaOccupancyMaxActiveBlocksPerMultiprocessor for a kernel whose attributes are
 * these. */
enum mg_status mg_arch_occupancy(const struct mg_arch *arch, const struct mg_occupancy_query *query,
                                 struct mg_occupancy *occupancy);

/* What would let one more block in (or the first, when none fits). */
struct mg_occupancy_step {
    unsigned blocks;     /* the number to be reached; 0: no change of this kernel's resources admits another block */
    /* For each of these, the largest smaller value that does it alone, the others left as they are; of the carve-out,
     * where the query has a preference, the smallest larger one. */
    int by_threads, by_regs, by_shared, by_barriers, by_carveout; /* non-zero: it can */
    unsigned threads, regs, barriers;
    uint32_t shared;     /* static and dynamic together */
    int carveout;        /* percent */
    /* When no single one does it: registers and shared memory to change both, threads left as they are. */
    int by_both;
    unsigned both_regs;
    uint32_t both_shared;
    /* The nearest larger block of whole warps that fills more warp slots; 0: none. Block slots bind small blocks. */
    unsigned larger_threads;
    double larger_occupancy;
};
enum mg_status mg_arch_next_step(const struct mg_arch *arch, const struct mg_occupancy_query *query,
                                 struct mg_occupancy_step *step);

/* The most dynamic shared memory a block with which `blocks` blocks still share an SM, all else as in the query.
 * MG_ERR_NOT_FOUND: so many do not fit with none. */
enum mg_status mg_arch_max_dynamic_shared(const struct mg_arch *arch, const struct mg_occupancy_query *query,
                                          unsigned blocks, uint32_t *bytes);
/* The most registers a thread with which `blocks` blocks still share an SM. MG_ERR_NOT_FOUND: not even with one. */
enum mg_status mg_arch_max_regs(const struct mg_arch *arch, const struct mg_occupancy_query *query, unsigned blocks,
                                unsigned *regs);
/* The block size that keeps most threads resident; of several the largest. `shared` gives the dynamic shared memory of
 * a block of so many threads; NULL: the query's for every size. Tried are the multiples of the warp size, and
 * max_threads. */
enum mg_status mg_arch_best_threads(const struct mg_arch *arch, const struct mg_occupancy_query *query,
                                    uint32_t (*shared)(unsigned threads, void *arg), void *arg, unsigned *threads,
                                    struct mg_occupancy *occupancy);

/* ---- launches ---- */
struct mg_launch_shape {
    struct mg_dim3 grid, block;
    struct mg_occupancy_query kernel; /* its threads are taken from `block` */
    uint64_t param_bytes;
    int cooperative;
    const struct mg_board *board; /* for cooperative launches; NULL: the capability's own */
    struct mg_dim3 cluster;       /* blocks of a cluster, by the launch; 0: it names none */
    int cluster_non_portable;     /* cudaFuncAttributeNonPortableClusterSizeAllowed */
    /* by the kernel: */
    struct mg_dim3 cluster_compiled; /* __cluster_dims__(…); 0: none */
    int cluster_wanted;              /* __cluster_dims__: it runs as clusters only */
    unsigned cluster_most;           /* __launch_bounds__' third: blocks of a cluster; 0: not said */
};
enum mg_launch_fault {
    MG_LAUNCH_OK,
    MG_LAUNCH_ZERO,         /* a dimension of 0 */
    MG_LAUNCH_GRID,         /* the grid exceeds a dimension */
    MG_LAUNCH_BLOCK,        /* the block exceeds a dimension, or the threads of a block */
    MG_LAUNCH_BOUNDS,       /* more threads than the kernel was compiled for */
    MG_LAUNCH_SHARED,       /* more shared memory than was opted in to, or than there is */
    MG_LAUNCH_REGISTERS,    /* more registers than a block can have: "too many resources requested" */
    MG_LAUNCH_PARAMS,       /* larger parameters than a launch carries */
    MG_LAUNCH_COOPERATIVE,  /* a cooperative grid that is not resident at once */
    MG_LAUNCH_CLUSTER,      /* clusters that the device does not have, or that the grid does not divide into */
};
/* The launch's clusters: 1 x 1 x 1 where neither it nor the kernel names any, and then *named is 0. */
struct mg_dim3 mg_arch_cluster(const struct mg_launch_shape *shape, int *named);
/* The most blocks that a cluster may have. */
unsigned mg_arch_cluster_most(const struct mg_arch *arch, int non_portable);
/* How many clusters of `size` blocks a device has at once, where one SM has `resident` such blocks. Held to one H200;
 * which SMs can share a cluster differs from chip to chip. */
unsigned mg_arch_clusters_active(const struct mg_arch *arch, unsigned resident, unsigned size);
/* Whether a device would take the launch. The record of a refusal says which limit, of which device, and what to do;
 * `diag` may be NULL. */
enum mg_launch_fault mg_arch_launch_check(const struct mg_arch *arch, const struct mg_launch_shape *shape,
                                          struct mg_diag *diag);

#ifdef __cplusplus
}
#endif
#endif
