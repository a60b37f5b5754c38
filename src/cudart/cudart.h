/* cudart.h - what the files of this room share: the process's one CUDA context, its registry and its allocations.
 *
 * The CUDA runtime is an API of the whole process, so its context is too: `mg__cudart` is the one mutable global of
 * this room. Locks, in the order in which they may be taken: launch, then state. Both are recursive; the engine's own
 * memory calls are thread-safe by themselves.
 *
 * Every entry point is named mg__<its name in the API> here, hidden; exports.c gives them their public names. They
 * begin with mg__cudart_enter and end with mg__cudart_done, which keep the errors as a GPU does (cudart.c).
 */
#ifndef MG_CUDART_H
#define MG_CUDART_H
#include "check/check.h"
#include "cudart/abi.h"
#include "fatbin/cubin.h"
#include "fatbin/fatbin.h"
#include "report/report.h"
#include "simt/simt.h"

#include <pthread.h>
#include <regex.h>
#include <stdatomic.h>

/* ---- registered code ---- */
struct cudart_var {
    struct cudart_module *module;
    const void *host; /* its shadow, or for a managed variable the pointer that we set */
    void **managed;   /* the same for a managed variable, else NULL */
    char *name;
    uint64_t size;                 /* as the program registered it */
    uint64_t address, device_size; /* once resolved */
};
struct cudart_func {
    struct cudart_module *module;
    const void *host;
    char *name, *demangled;
    struct mg_simt_kernel *kernel; /* once resolved */
    struct mg_simt_kernel_info info;
    uint32_t shared_optin; /* cudaFuncAttributeMaxDynamicSharedMemorySize, 0: not set */
    int carveout;
    /* As the program's machine code has it; without any, info.regs is an estimate. */
    bool exact;         /* for this very device: what a launch is held to */
    char regs_from[32]; /* "machine code for 9.0", "an estimate" */
    uint32_t barriers, bounds; /* bounds: the largest block that __launch_bounds__ and the device allow */
    struct cudart_told { /* lines that were warned of */
        char file[256];
        unsigned line;
    } *told;
    size_t ntold;
    int recorded; /* -1: not yet asked whether MARGAY_KERNEL matches it */
};
struct cudart_module { /* a fatbin that the program registered */
    const void *data;
    size_t limit;             /* bytes that may be read at `data` */
    const void *const *parts; /* of a program linked from several relocatable objects; ends with NULL */
    const void *wrapper;
    struct mg_simt_module *simt; /* once loaded */
    int error;                   /* why it could not be, as a CUDA error */
    bool code_read;              /* its machine code, if it has any: */
    unsigned code_cc;
    struct mg_arena code_arena;
    struct mg_cubin code;
    MG_VEC(struct cudart_var *) vars;
    MG_VEC(struct cudart_func *) funcs;
    bool gone; /* unregistered: kept, because handles to it may live on */
};
int mg__cudart_load(struct cudart_module *module); /* parses and loads on first use */
int mg__cudart_func_find(const void *handle,
                         struct cudart_func **func); /* by host address or kernel handle; resolves */
int mg__cudart_var_find(const void *symbol, struct cudart_var **var);
void mg__cudart_registry_reset(void); /* unloads all modules; they load anew on next use */

/* ---- memory ---- */
enum cudart_kind { CUDART_PAGEABLE, CUDART_PINNED, CUDART_DEVICE, CUDART_MANAGED, CUDART_WILD };
struct cudart_alloc {
    uint64_t address, size;
    enum cudart_kind kind;
    bool registered; /* the program's own memory, pinned by cudaHostRegister */
    unsigned flags;
    size_t mapped; /* bytes of the mapping to undo, for pinned memory of ours */
};
/* What lies at `pointer`; *left gets the bytes from there to the end of its allocation (SIZE_MAX: not known). */
enum cudart_kind mg__cudart_classify(const void *pointer, uint64_t *left, struct cudart_alloc *alloc);
void mg__cudart_memory_reset(void);
int mg__cudart_copy(void *dst, const void *src, size_t count, int kind);

/* ---- streams and events ---- */
bool mg__cudart_stream_ok(const void *stream);
void mg__cudart_stream_reset(void);

/* ---- the context ---- */
struct cudart {
    pthread_mutex_t state, launch;
    atomic_int ready;  /* 0 before, 1 after the device was made */
    atomic_int poison; /* the error that every later call returns, after a kernel faulted */
    int init_error;
    int pid;
    unsigned version; /* of the API that the program was built for: 12 or 13 */
    const struct mg_arch *arch;
    struct mg_arch chosen; /* arch, where another board than its own was asked for */
    struct mg_simt *simt;
    struct mg_report_writer *report;
    struct mg_model *model;
    struct mg_advise *advise; /* MARGAY_ADVISE */
    struct mg_check *check;   /* MARGAY_MODE=check, else NULL */
    uint64_t launch_start; /* of the launch under way, for its record: mg__time_ns, registers a thread */
    uint32_t launch_regs;
    const char *launch_regs_from;
    bool has_filter;
    regex_t filter;         /* MARGAY_KERNEL */
    uint64_t launches_left; /* MARGAY_LAUNCHES */
    bool progress, strict;
    unsigned timeout_ms;
    unsigned device_flags;
    uint64_t limits[CU_LIMITS];
    int cache_config, shared_config;
};
extern struct cudart mg__cudart;

/* Makes the device if need be. 0, or the error that the call must return. */
int mg__cudart_enter(void);
int mg__cudart_done(int error); /* keeps `error` as the thread's last one; returns it */
/* Tells the user, as an "error" record or on stderr. `kernel` may be NULL. */
void mg__cudart_tell(const char *kernel, const struct mg_diag *diag);
/* Likewise, as a warning: the program goes on. */
void mg__cudart_warn(const char *kernel, const struct mg_diag *diag);
int mg__cudart_error_of(enum mg_status status);
bool mg__cudart_sticky(enum mg_status status);
void mg__cudart_poison(int error);
void mg__cudart_limits_reset(void); /* cudaDeviceSetLimit's, as a device starts */
int mg__cudart_missing(const char *name); /* an entry point that is not there */
/* crash.c: what the thread is launching, demangled; NULL: nothing. */
extern _Thread_local const char *mg__cudart_running;
void mg__cudart_catch_crashes(void);
void mg__cudart_lock(void);
void mg__cudart_unlock(void);

/* ---- static programs ---- */
struct cudart_api {
    const char *name;
    void (*entry)(void);
    unsigned versions; /* CUDART_V12 | CUDART_V13 */
};
enum { CUDART_V12 = 1, CUDART_V13 = 2 };
extern const struct cudart_api mg__cudart_api[]; /* ends with a NULL name */
void mg__cudart_redirect(void *self);            /* self: any address inside this library */

/* The entry point that the thread is in, for what checks say. */
struct cudart_call {
    const char *name;
    uint64_t stream;
    bool async; /* it was given a stream */
};
extern _Thread_local struct cudart_call mg__cudart_call;

#define CUDART_ENTER()                                                  \
    do {                                                                \
        mg__cudart_call = (struct cudart_call){__func__ + 4, 0, false}; \
        int enter_error_ = mg__cudart_enter();                          \
        if (enter_error_)                                               \
            return mg__cudart_done(enter_error_);                       \
    }while (0)
#endif
