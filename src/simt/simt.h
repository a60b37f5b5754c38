/* simt.h - the engine: device memory, modules, and launches of warps over blocks.
 *
 * Device memory is one reserved range of this process's address space; a device address is a host address. Shared,
 * local and parameter windows are ranges inside the same reservation, so that generic addresses tell them apart.
 */
#ifndef MG_SIMT_H
#define MG_SIMT_H
#include "arch/arch.h"
#include "ptx/ptx.h"
#include "simt/observe.h"

struct mg_simt;
struct mg_simt_module;
struct mg_simt_kernel;

struct mg_simt_options {
    const struct mg_arch *arch; /* limits; NULL: compute capability 9.0 */
    unsigned threads;           /* 0: one a processor */
    unsigned timeout_ms;        /* a launch; 0: none */
    size_t memory;              /* device memory in bytes; 0: the arch's board */
    /* kernel printf; NULL: stdout. Called from one thread at a time, in block order within a worker. */
    void (*print)(void *arg, const char *text, size_t length);
    void *print_arg;
    /* progress of a launch, about ten times a second, from the launching thread; may be NULL */
    void (*progress)(void *arg, const char *kernel, uint64_t blocks_done, uint64_t blocks, double seconds);
    void *progress_arg;
    bool each_lane; /* for tests: no access is known by its shape, each lane's address is looked at */
};
enum mg_status mg__simt_create(const struct mg_simt_options *options, struct mg_simt **simt);
void mg__simt_destroy(struct mg_simt *simt);
const struct mg_arch *mg__simt_arch(const struct mg_simt *simt);
/* Attached observers see every launch from then on. The struct is copied. At most 6. */
enum mg_status mg__simt_observe(struct mg_simt *simt, const struct mg_observer *observer);
/* Turns all observers off and on again for the launches that follow (on at first). */
/* From the next launch on that is observed by such as can do with that (MG_OBSERVE_UNITS), one block of `every` is
 * counted, 0: all; MG_SAMPLE_AUTO: some hundreds. `alone`: the others do not run, unless blocks may wait for them. */
#define MG_SAMPLE_AUTO UINT64_MAX
void mg__simt_sample(struct mg_simt *simt, uint64_t every, bool alone);
void mg__simt_observe_enable(struct mg_simt *simt, bool enable);
/* Of those launches only these observers are told, by the order in which they were attached: from `first` on, before
 * `end` (all of them at first). */
void mg__simt_observe_range(struct mg_simt *simt, unsigned first, unsigned end);
void mg__simt_set_timeout(struct mg_simt *simt, unsigned timeout_ms);
/* The process is to end by that signal: launches of all devices end soon, as those do that outran their limit. For a
 * signal's handler. mg__simt_interrupted: the signal; 0: none came. */
void mg__simt_interrupt(int signal);
int mg__simt_interrupted(void);
/* A code generator (simt/engine.h), which must outlive the device; NULL: everything is interpreted. Before the first
 * launch. */
struct mg_engine;
void mg__simt_attach(struct mg_simt *simt, const struct mg_engine *engine);

/* A thread's stack where a kernel's need cannot be known (recursion, indirect calls, alloca); 1,024 bytes at first. */
void mg__simt_set_stack(struct mg_simt *simt, uint64_t bytes);
/* The heap of device-side malloc; 8 MiB at first. MG_ERR_INVALID once a kernel that uses it was launched;
 * MG_ERR_NOMEM: more than there is. */
enum mg_status mg__simt_set_heap(struct mg_simt *simt, uint64_t bytes);
bool mg__simt_printed(struct mg_simt *simt);      /* a kernel that calls printf was launched */
void mg__simt_reset_limits(struct mg_simt *simt); /* both as at first; what the heap holds is gone */

/* ---- device memory: thread-safe ---- */
enum mg_status mg__mem_alloc(struct mg_simt *simt, uint64_t size, uint64_t align, uint64_t *address);
/* MG_ERR_INVALID: no live allocation starts there */
enum mg_status mg__mem_free(struct mg_simt *simt, uint64_t address);
/* The live allocation that holds `address`; false when none does. */
bool mg__mem_find(const struct mg_simt *simt, uint64_t address, struct mg_allocation *found);
bool mg__mem_in_range(const struct mg_simt *simt, uint64_t address); /* inside the reserved device range at all */
void mg__mem_info(const struct mg_simt *simt, uint64_t *free_bytes, uint64_t *total_bytes);
/* The allocation that holds `address` is managed memory, all of it with the host at first. */
enum mg_status mg__mem_managed(struct mg_simt *simt, uint64_t address);
/* These bytes, of one allocation, are with the device from now on, or with the host. Nothing, of memory that is not
 * managed. */
void mg__mem_move(struct mg_simt *simt, uint64_t address, uint64_t size, bool here);
uint64_t mg__mem_moves(const struct mg_simt *simt); /* how often either has been said */
/* The allocation's memory becomes part of a file that other processes can map, what lies beside it in the same pieces,
 * too: where it is there, and where the file's memory ends; the page behind that is whoever's who asks. Nothing may be
 * at work on it meanwhile. */
enum mg_status mg__mem_share(struct mg_simt *simt, uint64_t address, int *file, uint64_t *offset, uint64_t *end);
/* Page-locked host memory that kernels may touch (cudaMallocHost, managed memory, cudaHostRegister): any host range. */
enum mg_status mg__mem_register_host(struct mg_simt *simt, void *host, uint64_t size);
enum mg_status mg__mem_unregister_host(struct mg_simt *simt, void *host);
/* Kernels may touch whatever the process has, wherever the host put it: an address that is nobody's is then the host's
 * fault, and no error of ours. Before any host memory is registered. */
enum mg_status mg__mem_trust_host(struct mg_simt *simt);
#define MG_MAX_PEERS 31u
/* Launches of `simt` that follow may touch what is allocated on `peer`, which must live as long; or may no more. */
enum mg_status mg__mem_peer(struct mg_simt *simt, struct mg_simt *peer, bool may);

/* ---- modules ---- */
/* Whether a device function is of the device runtime (dynamic parallelism). Calls of it fail when they are reached. */
bool mg__simt_device_runtime(const char *function);
bool mg__simt_provides(const char *function); /* the engine itself does it: vprintf, malloc … */
/* Takes ownership of `ptx` on success. Allocates its global and constant variables. Unresolved externs are an error. */
enum mg_status mg__simt_module_load(struct mg_simt *simt, struct mg_ptx_module *ptx, struct mg_simt_module **module,
                                    struct mg_diag *diag);
void mg__simt_module_unload(struct mg_simt_module *module);
/* Before the first kernel is looked up: the variable lies at `address`, which is memory of another device and stays its
 * own. False: there is no such variable. */
bool mg__simt_module_place(struct mg_simt_module *module, const char *name, uint64_t address);
bool mg__simt_module_symbol(const struct mg_simt_module *module, const char *name, uint64_t *address, uint64_t *size);
struct mg_simt_kernel *mg__simt_kernel_find(struct mg_simt_module *module, const char *name); /* NULL: none */

/* ---- kernels ---- */
struct mg_simt_kernel_info {
    const char *name;
    const struct mg_ptx_func *func;
    const struct mg_ptx_module *ptx;
    uint32_t shared_static, local_bytes, const_bytes; /* shared: bytes a block; local: bytes a thread */
    uint32_t max_threads;                             /* a block: the device's limit or .maxntid */
    uint32_t regs; /* registers a thread: an estimate from liveness (PTX has no allocation), at least 16 */
    uint64_t param_size;
};
void mg__simt_kernel_info(const struct mg_simt_kernel *kernel, struct mg_simt_kernel_info *info);

struct mg_simt_launch {
    struct mg_dim3 grid, block;
    uint32_t shared;    /* dynamic, bytes */
    const void *params; /* info.param_size bytes, laid out as func->params[i]->offset says */
    bool cooperative;   /* grid-wide synchronisation: all blocks resident at once */
    /* What the kernel takes as it was compiled, and what it was allowed; what is 0 there is as its PTX tells, and with
     * NULL all of it. With `estimated` its registers are no more than that: no launch is refused for them. */
    const struct mg_occupancy_query *compiled;
    bool estimated;
    /* Not NULL: an access beyond its allocation, in memory that a device has mapped all the same, goes on, and at the
     * launch's end this is told of the first of every instruction, in the order of their blocks; a source line may come
     * several times. NULL: it is a fault. */
    void (*warn)(void *context, const struct mg_diag *warning);
    void *warn_context;
    struct mg_dim3 cluster;    /* blocks of a cluster; 0: as the kernel says, or none */
    bool cluster_non_portable; /* more than 8 are allowed */
    bool patient;              /* it has turns: mg__simt_turn. Else its first turn is all of it, or it cannot begin */
};
/* Which limit of the device the launch breaks: *shape is what was asked, and the record begins with the kernel's name.
 * mg__simt_launch asks first. */
enum mg_launch_fault mg__simt_check(const struct mg_simt_kernel *kernel, const struct mg_simt_launch *launch,
                                    struct mg_launch_shape *shape, struct mg_diag *diag);
/* Synchronous. Limits are checked first (MG_ERR_INVALID: dimensions; MG_ERR_LAUNCH_LIMIT). An instruction that the
 * engine does not execute stops the launch when a warp reaches it (MG_ERR_UNSUPPORTED). `diag` names the source line,
 * block and thread of a fault. */
enum mg_status mg__simt_launch(struct mg_simt *simt, struct mg_simt_kernel *kernel, const struct mg_simt_launch *launch,
                               struct mg_diag *diag);
/* The same in steps, for launches that go on side by side. One thread at a time may be in a step of a launch, and it is
 * given turns until it is over. */
struct mg_run;
enum mg_status mg__simt_begin(struct mg_simt *simt, struct mg_simt_kernel *kernel, const struct mg_simt_launch *launch,
                              struct mg_run **run, struct mg_diag *diag);
/* True: it is over. Else the turn is: it seems to wait for what it does not do itself, or has run for long, or there is
 * no room on the device; *moved: it has done more than wait. How long turns are is told by what warps do. */
bool mg__simt_turn(struct mg_run *run, bool *moved);
uint64_t mg__simt_polls(const struct mg_run *run); /* it rests because its threads only poll since then; 0: for else */
void mg__simt_excuse(struct mg_run *run, uint64_t ns); /* its time limit does not run for as long, after a turn */
void mg__simt_abandon(struct mg_run *run);             /* its next turn ends it as if its time were over */
/* All of it goes round in loops that change nothing, and will for ever, unless others write memory. */
bool mg__simt_spins(const struct mg_run *run);
void mg__simt_stop(struct mg_run *run); /* nobody will: its next turn ends it as a deadlock */
bool mg__simt_begun(const struct mg_run *run); /* there was room for it */
bool mg__simt_abandoned(const struct mg_run *run);
enum mg_status mg__simt_status(const struct mg_run *run, struct mg_diag *diag); /* how it ended */
void mg__simt_end(struct mg_run *run); /* of one that is over: the observers are told, and it is gone */
#endif
