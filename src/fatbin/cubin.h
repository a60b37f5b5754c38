/* cubin.h - what machine code says about its kernels. Safe on hostile bytes: it reads
 * inside [data, data + size) alone. */
#ifndef MG_CUBIN_H
#define MG_CUBIN_H
#include "base/base.h"

struct mg_cubin_kernel {
    const char *name;       /* as in PTX; in the arena */
    uint32_t regs;          /* a thread; what cudaFuncGetAttributes and ptxas say */
    uint32_t shared_static; /* bytes a block */
    uint32_t frame;         /* bytes of stack a thread, without calls */
    uint32_t barriers;      /* named barriers: the highest used plus one; 0: none */
    uint32_t max_threads;   /* __launch_bounds__ or __block_size__; 0: none given */
    uint32_t param_bytes;
    uint32_t symbol; /* its index in the file's table of symbols */
    /* Its instructions, of 16 bytes each, and from which line of the PTX text each comes, 0: not told. NULL: none, or
     * the file says nothing of lines (ptxas -lineinfo). */
    const uint64_t (*words)[2];
    const uint32_t *lines;
    uint32_t nwords;
};
struct mg_cubin {
    unsigned cc; /* 90; 0: not told */
    bool linked; /* false: an object file, whose numbers may change when it is linked */
    struct mg_cubin_kernel *kernels;
    size_t nkernels;
};
/* Whether it begins like one. */
bool mg__cubin_is(const void *data, size_t size);
enum mg_status mg__cubin_read(const void *data, size_t size, struct mg_arena *arena, struct mg_cubin *cubin,
                              struct mg_diag *diag);
const struct mg_cubin_kernel *mg__cubin_find(const struct mg_cubin *cubin, const char *name); /* NULL: none */
#endif
