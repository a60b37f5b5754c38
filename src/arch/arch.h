/* arch.h - include/margay/arch.h for the rooms of Margay: what a device has, what a block takes of it, which launches
 * it takes. All of it is public, but for this one shorthand. Kernels as they were compiled are read by fatbin/cubin.h.
 */
#ifndef MG_ARCH_H
#define MG_ARCH_H
#include "base/base.h"
#include "margay/arch.h"

/* Resident blocks an SM of a kernel, by threads, registers a thread and shared bytes (static + dynamic) a block; 0 when
 * a block cannot run. */
unsigned mg__arch_blocks_per_sm(const struct mg_arch *arch, unsigned threads, unsigned regs, unsigned shared);

#define MG_MOST_DEVICES 16u /* that one process may have */
#endif
