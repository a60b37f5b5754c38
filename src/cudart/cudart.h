/* cudart.h - what the files of this room share: the process's devices, its registry and its allocations.
 *
 * The CUDA runtime is an API of the whole process, so its state is too: `mg__cudart` is the one mutable global of this
 * room. What a device is stands in device.h; what CUDA adds to each, its primary context, is struct cudart_device.
 * Its lock, `state`, is recursive; devices have their own, and nobody waits for a device's work while he holds it.
 *
 * Every entry point is named mg__<its name in the API> here, hidden; exports.c gives them their public names. They
 * begin with mg__cudart_enter and end with mg__cudart_done, which keep the errors as a GPU does (cudart.c).
 */
#ifndef MG_CUDART_H
#define MG_CUDART_H
#include "cudart/abi.h"
#include "cudart/calls.h"
#include "device/device.h"

#include <pthread.h>

/* ---- devices ---- */
enum { CUDART_CONTEXTS = 64 };
struct cudart_pool {
    struct cudart_pool *next;
    struct cudart_device *device;
    uint64_t attributes[9]; /* by cudaMemPoolAttr */
};
/* A context: that of a device, its primary one, made when it is first needed; or one that the driver was asked for.
 * Each has a simulated device of its own, so that what is of one context goes with it. */
struct cudart_device {
    unsigned number;       /* its place in mg__cudart.devices */
    unsigned ordinal;      /* of the device, as programs count them */
    unsigned long long id; /* of the process\'s contexts */
    atomic_int ready;      /* 0 before, 1 after it was made */
    atomic_int poison;     /* the error that every later call returns, after a kernel of the device faulted */
    /* That of a launch which ended after its call, and poisons nothing: the next call that waits returns it. */
    atomic_int pending;
    int init_error;
    unsigned retained;        /* a primary context: so often, by the driver's calls */
    atomic_bool runtime;      /* and the runtime uses it */
    atomic_bool ended;        /* by a reset, until somebody retains it or the runtime is called */
    struct mg_device *device; /* NULL: not made, or it could not be */
    unsigned flags;
    int cache_config, shared_config;
    struct cudart_pool default_pool, *pool;
    /* By device: its kernels may touch that one's memory, after cudaDeviceEnablePeerAccess, cudaMemPoolSetAccess. */
    bool peers[CUDART_CONTEXTS], pool_peers[CUDART_CONTEXTS];
};
/* What the driver calls a context: stale handles are known, because these stay. */
struct cudart_context {
    struct cudart_context *next;
    struct cudart_device *device; /* NULL: destroyed */
    unsigned ordinal;
    bool primary;
    unsigned attached; /* by cuCtxAttach */
};
struct cudart {
    pthread_mutex_t state;
    atomic_int ready; /* 0 before, 1 after the environment was read */
    int init_error;
    int pid;
    atomic_bool ending;     /* the process is: of kernels that are gone nothing is said any more */
    atomic_bool ended;      /* and so is the report: other threads may not know it yet */
    atomic_uint launching;  /* threads in the midst of a launch */
    unsigned version;       /* of the API that the program was built for: 12 or 13 */
    _Atomic unsigned first; /* the device of threads that have chosen none */
    struct mg_device_process process;
    struct cudart_context primary[MG_MOST_DEVICES], *contexts; /* those that the driver was asked for */
    unsigned long long last_id;                                /* of contexts */
    struct cudart_device devices[CUDART_CONTEXTS];             /* the primary ones first, one a device */
};
extern struct cudart mg__cudart;

/* Reads the environment if need be: enough for questions about devices. 0, or the error that the call must return. */
int mg__cudart_begin(void);
/* And makes the thread's device, or another one. */
int mg__cudart_enter(void);
int mg__cudart_use(struct cudart_device *device);
struct cudart_device *mg__cudart_here(void);     /* the thread's context, or the one that it would get */
struct cudart_device *mg__cudart_at(int number); /* NULL: there is none of that number */
/* The next device that was made; after NULL the first. NULL: no more. */
struct cudart_device *mg__cudart_next(const struct cudart_device *after);
/* ---- the thread's contexts (context.c) ---- */
struct cudart_context *mg__cudart_current(void);             /* NULL: none */
void mg__cudart_set_current(struct cudart_context *context); /* in the place of the last; NULL: it goes */
bool mg__cudart_push(struct cudart_context *context);
struct cudart_context *mg__cudart_pop(void); /* NULL: there was none */
struct cudart_context *mg__cudart_context_at(const struct cudart_device *device);
struct cudart_context *mg__cudart_context_of(const void *handle); /* NULL: not one of ours */
int mg__cudart_settle(void); /* the runtime is called: the error if the context is gone */
void mg__cudart_join_contexts(
    struct cudart_device *device); /* that was just made: memory of its device is all contexts' */
int mg__cudart_context_make(unsigned ordinal, unsigned flags, struct cudart_context **made);
int mg__cudart_context_drop(struct cudart_context *context);
/* A primary context as at first; one that is poisoned stays unusable. */
void mg__cudart_reset(struct cudart_device *device);
struct mg_device_options mg__cudart_options(unsigned number);
int mg__cudart_done(int error);                      /* keeps `error` as the thread's last one; returns it */
void mg__cudart_failed(int error, const char *name); /* caller.c: for the checks */
/* The program's first line among these return addresses, SHOWN at most; 0: not known. */
uint32_t mg__cudart_line_of(void *const *frames, int n, char *file, size_t size);
int mg__cudart_frames(void *frames[MG_CHECK_FRAMES]); /* these addresses, of the call under way on this thread */
uint32_t mg__cudart_line(char *file, size_t size); /* likewise, of the call under way on this thread */
/* guard.c: between two calls of the program, which begin with `down` and end with `up`. */
bool mg__cudart_alone(void); /* this thread is the program's only one, and there is one device */
bool mg__cudart_guard_works(void);
void mg__cudart_guard_up(void);
void mg__cudart_guard_down(void);
void mg__cudart_looked(const char *error); /* the program asked for the last error (NULL), or for this one's text */
/* Tells the user, as an "error" record or on stderr. `kernel` may be NULL. */
void mg__cudart_tell(const char *kernel, const struct mg_diag *diag);
/* Likewise, as a warning: the program goes on. */
void mg__cudart_warn(const char *kernel, const struct mg_diag *diag);
void mg__cudart_note_times(void); /* the program asked how long something took */
int mg__cudart_error_of(enum mg_status status);
bool mg__cudart_sticky(enum mg_status status);
void mg__cudart_poison(struct cudart_device *device, int error);
int mg__cudart_missing(const char *name); /* an entry point that is not there */
bool mg__cudart_told(const char *name);   /* that it is not there; from now on, yes. Names are string constants */
/* crash.c: what the thread is launching, demangled; NULL: nothing. */
extern _Thread_local const char *mg__cudart_running;
void mg__cudart_runs(const struct mg_device_kernel *kernel);
void mg__cudart_catch_crashes(void);
/* Where a signal has ended the launch that ran, now it ends the process: what was found is in the report. */
void mg__cudart_end_if_asked(void);
void mg__cudart_lock(void);
void mg__cudart_unlock(void);
/* ---- registered code ---- */
struct cudart_var {
    struct cudart_module *module;
    const void *host;           /* its shadow, or for a managed variable the pointer that we set */
    void **managed;             /* the same for a managed variable, else NULL */
    struct cudart_device *home; /* a managed variable's memory is that device's; NULL: not yet */
    char *name;
    uint64_t size; /* as the program registered it */
    struct {
        uint64_t address, size;
    } on[CUDART_CONTEXTS]; /* by context, once resolved there */
};
struct cudart_func {
    struct cudart_module *module;
    const void *host;
    char *name;
    void *settings;                               /* the driver's, for launches of the old kind */
    struct mg_device_kernel *on[CUDART_CONTEXTS]; /* by context, once resolved there */
};
struct cudart_module { /* a fatbin that the program registered */
    struct mg_device_code code;
    struct mg_device_module *on[CUDART_CONTEXTS]; /* by context, once loaded there */
    int error[CUDART_CONTEXTS];                   /* why it could not be, as a CUDA error */
    MG_VEC(struct cudart_var *) vars;
    MG_VEC(struct cudart_func *) funcs;
    bool gone; /* unregistered: kept, because handles to it may live on */
    enum { CUDART_REGISTERED, CUDART_MODULE, CUDART_LIBRARY } kind; /* who loaded it: the program's start, the driver */
    struct cudart_device *only;                                     /* a module's context; NULL: it is for all */
    void *copy;                                                     /* what `code` points to, if it is ours */
};
/* What the driver loads is held as what programs register is. `copy` is the module's from then on. */
struct cudart_module *mg__cudart_module_make(const struct mg_device_code *code, struct cudart_device *only, void *copy);
struct cudart_module *
mg__cudart_module_known(const void *handle); /* NULL: the driver loaded none such, or it is gone */
void mg__cudart_module_drop(struct cudart_module *module);
int mg__cudart_module_load(struct cudart_module *module, struct cudart_device *device, struct mg_diag *diag);
/* A handle for the kernel, the same each time. NULL: no memory. */
struct cudart_func *mg__cudart_func_make(struct cudart_module *module, const char *name);
struct cudart_func *mg__cudart_func_known(const void *handle); /* NULL: none of ours */

int mg__cudart_load(struct cudart_module *module, struct cudart_device *device); /* parses and loads on first use */
/* By host address or kernel handle; resolved on `device`. */
int mg__cudart_func_find(const void *handle, struct cudart_device *device, struct mg_device_kernel **kernel);
int mg__cudart_var_find(const void *symbol, uint64_t *address, uint64_t *size); /* on the thread's device */
bool mg__cudart_in_managed_variable(uint64_t address); /* under the lock */
void mg__cudart_registry_join(struct cudart_device *device);                    /* a device that was just made */
void mg__cudart_registry_reset(struct cudart_device *device); /* unloads its modules; they load anew on next use */

/* ---- memory ---- */
enum cudart_kind { CUDART_PAGEABLE, CUDART_PINNED, CUDART_DEVICE, CUDART_MANAGED, CUDART_WILD };
struct cudart_alloc {
    uint64_t address, size;
    enum cudart_kind kind;
    bool registered; /* the program's own memory, pinned by cudaHostRegister */
    bool mapped_in;  /* a mapping of virtual.c, whose the addresses are */
    unsigned flags;
    size_t mapped;                /* bytes of the mapping to undo, for pinned memory of ours */
    struct cudart_device *device; /* that it was allocated on; NULL for memory that is not CUDA's */
    uint64_t id;                  /* of the process's allocations */
    bool of_graph;                /* graph_memory.c has it: at times it is nobody's */
};
/* What lies at `pointer`; *left gets the bytes from there to the end of its allocation (SIZE_MAX: not known). */
enum cudart_kind mg__cudart_classify(const void *pointer, uint64_t *left, struct cudart_alloc *alloc);
void mg__cudart_memory_join(struct cudart_device *device);
void mg__cudart_memory_reset(struct cudart_device *device);
/* What other devices have of an address range of `device`: they may touch it (again), or may no more. */
void mg__cudart_share(struct cudart_device *device, struct cudart_device *with, uint64_t address, uint64_t size);
void mg__cudart_unshare(struct cudart_device *device, uint64_t address);
/* Kernels of `device` may touch the memory of `peer`, or may no more; `pool`: by cudaMemPoolSetAccess. */
int mg__cudart_set_peer(struct cudart_device *device, struct cudart_device *peer, bool may, bool pool);
int mg__cudart_alloc(void **pointer, size_t size, enum cudart_kind kind, struct cudart_device *device);
uint64_t mg__cudart_graphs_own(const void *pointer); /* an allocation is a graph's from now on; its id */
int mg__cudart_free(void *pointer, bool waits); /* device memory, of any device: it waits for that device */
/* A box of `height` × `depth` rows of `width` bytes, `pitch` bytes apart, slices `slice` bytes apart. */
struct cudart_box {
    void *at;
    size_t pitch, slice;
};
int mg__cudart_copy_box(struct cudart_box to, struct cudart_box from, struct cu_extent size, int kind);
/* With a value of `unit` bytes, 1, 2 or 4, of which the width is a multiple. */
int mg__cudart_fill(struct cudart_box to, uint32_t value, unsigned unit, struct cu_extent size);
int mg__cudart_copy(void *dst, const void *src, size_t count, int kind);
/* Of a batch; *failed, which may be NULL, is the copy that an error is of, or SIZE_MAX. */
int mg__cudart_copy_batch(void *const *to, const void *const *from, const size_t *sizes, size_t count,
                          const void *attributes, const size_t *first, size_t n, size_t *failed, void *stream);
int mg__cudart_copy_3d(const struct cu_memcpy_3d *p);
int mg__cudart_copy_3d_ok(const struct cu_memcpy_3d *p); /* the error that it would be */
int mg__cudart_fill_ok(struct cudart_box to, struct cu_extent size);

/* ---- virtual memory (virtual.c) ---- */
enum { CUDART_GRANULE = 2 << 20 };
bool mg__cudart_reserved(uint64_t address); /* under the lock */
int mg__cudart_reserve(uint64_t *address, uint64_t size, uint64_t align);
int mg__cudart_unreserve(uint64_t address, uint64_t size);
int mg__cudart_physical_make(uint64_t *handle, uint64_t size, unsigned ordinal);
int mg__cudart_physical_release(uint64_t handle);
bool mg__cudart_physical_known(uint64_t handle, unsigned *ordinal);
int mg__cudart_physical_of(uint64_t *handle, uint64_t address); /* of what is mapped there: one handle more */
int mg__cudart_map(uint64_t address, uint64_t size, uint64_t offset, uint64_t handle);
int mg__cudart_unmap(uint64_t address, uint64_t size);
int mg__cudart_set_access(uint64_t address, uint64_t size, struct cudart_device *device, bool may);
int mg__cudart_get_access(uint64_t address, bool *may);
/* memory.c: a mapping is device memory of the device, and no more; whose it is. Under the lock. */
int mg__cudart_memory_open(struct cudart_device *device, uint64_t address, uint64_t size);
void mg__cudart_memory_close(uint64_t address);
struct cudart_device *mg__cudart_memory_owner(uint64_t address);

/* ---- other processes (ipc.c) ---- */
void mg__cudart_ipc_reset(const struct cudart_device *device); /* its memory is about to go */
/* Of an event that has a handle, else nothing to do: it was recorded in the stream of the call; the stream waits for
 * other processes' records; those are over. */
int mg__cudart_ipc_recorded(const void *event);
int mg__cudart_ipc_wait(const void *event);
bool mg__cudart_ipc_over(const void *event, bool wait);
void mg__cudart_ipc_event_gone(const void *event);

/* ---- launches ---- */
struct cudart_request {
    struct mg_dim3 grid, block;
    size_t shared;
    void **args;
    void *stream;
    bool cooperative;
    struct mg_dim3 cluster; /* 0: not named */
    bool dependent;         /* programmatic stream serialization */
};
int mg__cudart_launch(const void *handle, const struct cudart_request *request);
/* In the stream of the call, whatever the request names; not captured. */
int mg__cudart_launch_now(const void *handle, const struct cudart_request *request);
/* All that devices were given is over, and no other thread is in the midst of a launch. False: one still is, as long as
 * one may wait for it. */
bool mg__cudart_calm(void);
/* What a configuration with attributes asks for; those that are not here are hints for scheduling and caches. */
struct cudart_request mg__cudart_request(const struct cu_launch_config *config, void **args);

/* ---- clusters: cudaFuncSetAttribute and cudaFuncGetAttributes ---- */
int mg__cudart_cluster_attribute(struct mg_device_kernel *kernel, int number, int value);
void mg__cudart_cluster_attributes(const struct mg_device_kernel *kernel, struct cu_func_attributes *out);

/* ---- streams and events ---- */
bool mg__cudart_stream_ok(const void *stream); /* and the call that is under way is of that stream and its device */
/* Waits for what the call's stream was given, or for all that a device was. The error that the call must return. */
int mg__cudart_wait(void);
int mg__cudart_wait_all(struct cudart_device *device);
/* In the stream of the call; an event of any device. */
bool mg__cudart_event_known(const void *event);
bool mg__cudart_event_flags(const void *event, unsigned *flags); /* false: there is none */
int mg__cudart_event_record(void *event);
int mg__cudart_event_wait(void *event);
int mg__cudart_host_function(void (*function)(void *), void *arg);
int mg__cudart_waited(struct cudart_device *device, bool may); /* the error after a wait that was allowed, or was not */
void mg__cudart_ended(void *device, const struct mg_device_kernel *kernel, const struct mg_device_outcome *outcome);

/* ---- static programs ---- */
struct cudart_api {
    const char *name;
    void (*entry)(void);
    unsigned versions; /* CUDART_V12 | CUDART_V13 */
};
enum { CUDART_V12 = 1, CUDART_V13 = 2 };
extern const struct cudart_api mg__cudart_api[]; /* ends with a NULL name */
/* self: any address inside this library. The environment is given, as the C library has not read it yet. */
void mg__cudart_redirect(void *self, char *const *environment);
/* The constructor of libcudart.so.12 or .13. */
__attribute__((visibility("default"))) void mg__cudart_start(unsigned version, char *const *environment);

/* The entry point that the thread is in, for what checks say. */
struct cudart_call {
    const char *name;
    uint64_t stream;
    bool async;                   /* it was given a stream */
    struct cudart_device *device; /* the stream's; the thread's where there is none */
    struct mg_order order;        /* that stream's place in the device's work */
    bool per_thread;              /* its default stream is the thread's own */
    bool replays;                 /* a node of a graph: nothing is taken early, and nobody waits */
    bool plans;                   /* a node is made: what it works on may not be there yet */
};
extern _Thread_local struct cudart_call mg__cudart_call;
/* Not NULL: the driver's call that the thread is in, which the runtime's functions serve: errors are its to keep. */
extern _Thread_local const char *mg__cudart_driver;
/* Set by the names that programs built with --default-stream per-thread call, for the call that follows (exports.c). */
extern _Thread_local unsigned char mg__cudart_per_thread;
struct cudart_call mg__cudart_call_of(const char *name);
struct mg_order mg__cudart_order(void); /* of the call: its stream's, or the default stream's */

#define CUDART_ENTER_AS(name)                       \
    do {                                            \
        mg__cudart_call = mg__cudart_call_of(name); \
        int enter_error_ = mg__cudart_enter();      \
        if (enter_error_)                           \
            return mg__cudart_done(enter_error_);   \
    } while (0)
#define CUDART_ENTER() CUDART_ENTER_AS(__func__ + 4)
#endif
