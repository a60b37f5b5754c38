/* device.h - one simulated device: the engine, what observes it, where its records go, the code that it has loaded, and
 * what is known of each kernel.
 *
 * A device owns all of this and knows nothing of other devices, of its process or of an API: the CUDA runtime and
 * margay.h are skins over it. What a process is told by its environment is process.c's, which the device does not read.
 *
 * What a skin may read stands in the structures below; it changes nothing there but what is said to be its to change.
 * Memory is asked of the engine (mg__mem_alloc and its kin, `simt`), and what the host does is told to the checks
 * (`check`, which may be NULL). Everything is thread-safe but loading, unloading and looking kernels up.
 */
#ifndef MG_DEVICE_H
#define MG_DEVICE_H
#include "arch/arch.h"
#include "check/check.h"
#include "fatbin/cubin.h"
#include "report/report.h"
#include "simt/simt.h"
#include "time/time.h"

#include <regex.h>
#include <stdatomic.h>

struct mg_engine;
struct mg_device_kernel;
struct mg_device_outcome;

/* ---- what a device is to be ---- */
struct mg_device_options {
    const struct mg_arch *arch;   /* NULL: compute capability 9.0 */
    const struct mg_board *board; /* one of its products; NULL: the one that stands for it */
    unsigned number;              /* in its process: its records say it */
    bool several;                 /* there are others in it: messages and findings say which device it was */
    unsigned threads;             /* host threads that run blocks; 0: one a processor */
    unsigned timeout_ms;          /* a launch; 0: none */
    const char *regs;             /* lines of a kernel's name and its registers, for code that is PTX here; NULL */
    const char *engine;           /* "jit", "quick", "interp"; NULL: what pays */
    bool verbose;                 /* says on standard error what became of each kernel */
    /* What a GPU would let pass, once a line, when the launch has ended; `kernel` as people write it. NULL, or with
     * `strict`: an access beyond its allocation is a fault, also where a GPU would not notice. */
    void (*warn)(const char *kernel, const struct mg_diag *warning);
    bool strict;
    /* Where its records go, which is the caller's and outlives it; NULL: nobody observes anything. */
    struct mg_report_writer *report;
    unsigned checks; /* MG_CHECK_RACE …: look for those mistakes, and count nothing; 0: count */
    bool both;       /* with checks: count as well */
    bool times;      /* count, and estimate how long each launch would take */
    bool host_clock; /* times that programs take are the simulator's own, not the device's as modelled */
    bool advise;     /* count, and say what would make each launch faster */
    bool pictures;   /* records of what pictures are drawn from, of each kernel's first launch (slower) */
    uint64_t sample; /* of observed launches one block in so many is counted, UINT64_MAX: some hundreds; 0: all */
    bool no_results; /* and the others do not run */
    bool progress;   /* records of the progress of long launches */
    /* A launch that was pending when mg__queue_launch returned is over; on whatever thread. `skin` is the device's. */
    void (*ended)(void *skin, const struct mg_device_kernel *kernel, const struct mg_device_outcome *outcome);
    /* The thread runs this kernel from now on; NULL: none any more. */
    void (*runs)(const struct mg_device_kernel *kernel);
    /* Whether the thread that waits is all that could yet change memory or give work; NULL: it never is. */
    bool (*alone)(void);
    /* Recorded are launches of kernels whose name it finds, and the first so many; NULL: all. Devices share them. */
    const regex_t *only;
    _Atomic uint64_t *launches_left;
};
/* As a report's header names it. */
struct mg_report_device mg__device_header(const struct mg_device_options *options);

/* What the CUDA APIs answer, by the numbers that they have for it. Need no device. False: there is no such number. */
bool mg__device_attribute(const struct mg_device_options *options, int number, int *value);
uint64_t mg__device_memory(const struct mg_device_options *options);

/* ---- a device ---- */
enum mg_device_limit { /* cudaLimit and CUlimit have these numbers */
                       MG_DEVICE_STACK,
                       MG_DEVICE_PRINTF_FIFO,
                       MG_DEVICE_MALLOC_HEAP,
                       MG_DEVICE_SYNC_DEPTH,
                       MG_DEVICE_PENDING_LAUNCHES,
                       MG_DEVICE_L2_GRANULARITY,
                       MG_DEVICE_PERSISTING_L2,
                       MG_DEVICE_LIMITS
};
struct mg_device {
    struct mg_device_options options;
    struct mg_arch arch; /* with the board that was asked for; options.arch points here */
    struct mg_simt *simt;
    struct mg_check *check;
    struct mg_model *model;
    struct mg_time_clock *clock; /* the first of the observers; NULL: kernels read the engine's clock */
    struct mg_time *time;        /* the next; NULL: there is none */
    struct mg_timeline *timeline; /* NULL: its clock is the host's */
    struct mg_advise *advise;
    struct mg_pictures *pictures;
    struct mg_sames *sames; /* NULL: no launch's time is asked for */
    /* Observers before that of pictures, which is left out where there is nothing to draw; that of advice is the last
     * of them, and left out where a launch is not looked at. */
    unsigned others;
    struct mg_engine *engine; /* that compiles; NULL: all is interpreted */
    const struct mg_device_kernel *running; /* of the launch that is being recorded, and how long it took */
    double seconds;
    struct mg_same *same; /* where what is said of it is kept; NULL: nowhere */
    struct mg_queue *queue;
    struct mg_streams *streams;
    _Atomic uint64_t limits[MG_DEVICE_LIMITS];
    MG_VEC(struct mg_device_module *) modules;
    uint64_t nkernels; /* that there have been */
    void *skin; /* the skin's own; nobody else touches it */
};
/* The device copies its options; what they point to stays the caller's. */
enum mg_status mg__device_create(const struct mg_device_options *options, struct mg_device **device,
                                 struct mg_diag *diag);
/* With all that it has loaded. NULL is fine. */
void mg__device_destroy(struct mg_device *device);

/* A device makes of a value what it can, which mg__device_limit tells. MG_ERR_INVALID: not that much, or not any more;
 * MG_ERR_UNSUPPORTED: there is no such limit on the device; MG_ERR_NOMEM. */
enum mg_status mg__device_set_limit(struct mg_device *device, enum mg_device_limit limit, uint64_t value);
uint64_t mg__device_limit(const struct mg_device *device, enum mg_device_limit limit);
void mg__device_reset_limits(struct mg_device *device); /* as at first; what the heap holds is gone */

/* ---- code ---- */
struct mg_device_image {
    const void *data;
    size_t size; /* bytes that may be read there */
    bool text;   /* PTX itself; else a fatbin */
};
struct mg_device_code {
    const struct mg_device_image *images;
    size_t nimages;
    bool linked;                    /* they are parts of one program (nvcc -rdc=true) */
    struct mg_device_image machine; /* a fatbin with its machine code, which says what kernels take; NULL: none */
};
struct mg_device_module {
    struct mg_device *device;
    struct mg_simt_module *simt;
    const struct mg_ptx_module *ptx; /* the engine's */
    struct mg_cubin cubin;           /* the machine code, if there is any; of this capability: */
    unsigned code_cc;
    struct mg_arena arena;
    MG_VEC(struct mg_device_kernel *) kernels;
};
/* What a program names by its address alone: PTX that ends with a NUL, a fatbin or nvcc's wrapper of one, machine code.
 */
struct mg_device_image mg__device_image(const void *data);
/* The parts as one text, for the caller to free; it ends with a NUL behind its `length`. */
enum mg_status mg__device_link(const struct mg_device *device, const struct mg_device_code *code, char **text,
                               size_t *length, struct mg_diag *diag);
/* All is copied. MG_ERR_NO_PTX: an image is machine code alone, or for other devices. */
enum mg_status mg__device_load(struct mg_device *device, const struct mg_device_code *code,
                               struct mg_device_module **module, struct mg_diag *diag);
void mg__device_unload(struct mg_device_module *module); /* and its kernels; NULL is fine */

struct mg_device_kernel {
    struct mg_device_module *module;
    struct mg_simt_kernel *simt;
    struct mg_simt_kernel_info info; /* with the machine code's numbers where there are any */
    char *name;                      /* demangled; info.name is as in PTX */
    bool exact;                      /* info.regs are this very device's: what a launch is held to */
    bool assembled;                  /* nearly: what ptxas made of the program's PTX before it was started */
    char regs_from[32];              /* "machine code for 9.0", "ptxas for 9.0", "an estimate" */
    uint32_t barriers;               /* named barriers; 0: not known */
    /* The skin's to change: the dynamic shared memory that a launch may have (0: what every kernel may), the part of an
     * SM's memory that is to be shared memory, in percent (-1: the driver's choice). */
    uint32_t shared_optin;
    int carveout;
    struct mg_dim3 cluster;    /* of launches that name none; 0: none either */
    bool cluster_non_portable; /* more than 8 blocks are allowed */
    bool wanted;               /* its launches are recorded */
    bool reads_clock;          /* and the user is to know whose time that is */
    uint64_t number;           /* no other kernel of the device has it, or had */
    struct mg_device_told {    /* lines that were warned of */
        char file[256];
        unsigned line;
    } * told;
    size_t ntold;
};
/* The same one for the same name, until its module is unloaded. MG_ERR_NOT_FOUND: no kernel of that name. */
enum mg_status mg__device_kernel(struct mg_device_module *module, const char *name, struct mg_device_kernel **kernel);
/* Dynamic shared memory that a launch may ask for; MG_ERR_INVALID: more than a block can have. */
uint32_t mg__device_room(const struct mg_device_kernel *kernel);
enum mg_status mg__device_allow(struct mg_device_kernel *kernel, uint64_t shared);
/* Blocks of so many threads that one SM holds at once, as cudaOccupancyMaxActiveBlocksPerMultiprocessor answers. */
unsigned mg__device_resident(const struct mg_device_kernel *kernel, unsigned threads, uint64_t shared);

/* ---- streams and events ---- */
/* Where in the device's work something stands. Stream 0 is the legacy default stream, which is blocking: it waits for
 * all blocking ones, and they for it. Of what can begin, the lowest priority does first. */
struct mg_order {
    uint64_t stream;
    bool blocking;
    int priority;
};
struct mg_stream {
    struct mg_stream *next;
    struct mg_device *device;
    struct mg_order order; /* its number is the stream's in its process */
};
struct mg_mark { /* one record of an event; it goes with its last user */
    atomic_uint uses;
    atomic_bool over;
    uint64_t time; /* when it was */
    bool timed;    /* the event keeps times */
    bool placed;   /* on the line of modelled time, by whose lock this and the next are read */
    double modelled;
};
struct mg_event {
    struct mg_event *next;
    struct mg_device *device;
    unsigned flags;       /* the skin's */
    bool timed;
    struct mg_mark *mark; /* the latest; NULL: never recorded */
};
uint64_t mg__stream_number(struct mg_device *device); /* of one that is no object: a thread's default stream */
enum mg_status mg__stream_make(struct mg_device *device, bool blocking, int priority, struct mg_stream **stream);
/* A handle that may be stale; a copy of what it stands for. False: there is none on the device. */
bool mg__stream_find(struct mg_device *device, const void *handle, struct mg_stream *found);
bool mg__stream_drop(struct mg_device *device, const void *handle); /* what it was given goes on */
/* `timed`: its times are asked for (mg__timeline_between). */
enum mg_status mg__event_make(struct mg_device *device, unsigned flags, bool timed, struct mg_event **event);
bool mg__event_find(struct mg_device *device, const void *handle, struct mg_event *found); /* its mark is kept */
bool mg__event_drop(struct mg_device *device, const void *handle);
enum mg_status mg__event_record(struct mg_device *device, const void *handle, struct mg_order order);
void mg__streams_reset(struct mg_device *device); /* all streams and events of the device go */
struct mg_mark *mg__mark_keep(struct mg_mark *mark);
void mg__mark_release(struct mg_mark *mark);

/* ---- launches ---- */
struct mg_device_launch {
    struct mg_dim3 grid, block;
    uint64_t shared;   /* dynamic, bytes */
    void *const *args; /* one pointer a parameter */
    bool cooperative;
    bool dependent;         /* it may begin before the one in front of it has ended; here it never does */
    struct mg_dim3 cluster; /* 0: not named */
    uint64_t stream;        /* as the checks know it */
    struct mg_order order;
};
struct mg_device_outcome {
    enum mg_status status;
    enum mg_launch_fault refused; /* the limit that it broke: nothing ran */
    bool pending;                 /* it is not over, and there is no outcome yet */
    bool abandoned;               /* nobody waited for it, and it could not go on */
    struct mg_diag diag;          /* of a status that is not MG_OK; without the kernel's name */
};
/* Runs the kernel to its end, and records it. Returns outcome->status. */
enum mg_status mg__device_launch(struct mg_device_kernel *kernel, const struct mg_device_launch *launch,
                                 struct mg_device_outcome *outcome);

/* ---- the queue (queue.h) ---- */
/* As far as it can go without others; all are thread-safe. `stay`: to its end. */
enum mg_status mg__queue_launch(struct mg_device_kernel *kernel, const struct mg_device_launch *launch, bool stay,
                                struct mg_device_outcome *outcome);
/* What it has to wait for is over: it may as well be done at once. */
bool mg__queue_clear(struct mg_device *device, struct mg_order order);
/* `call(arg)` when its time comes, on whatever thread; a host function on a thread of its own. */
enum mg_status mg__queue_call(struct mg_device *device, struct mg_order order, void (*call)(void *arg), void *arg);
enum mg_status mg__queue_host(struct mg_device *device, struct mg_order order, void (*function)(void *arg), void *arg);
enum mg_status mg__queue_record(struct mg_device *device, struct mg_order order, struct mg_mark *mark);
enum mg_status mg__queue_order(struct mg_device *device, struct mg_order order, struct mg_mark *mark); /* behind it */
bool mg__queue_idle(struct mg_device *device); /* nothing is left; takes no lock: for a signal's handler, too */
/* What is behind it waits until `holds(arg)`, which is asked now and then; `arg` is freed. */
enum mg_status mg__queue_until(struct mg_device *device, struct mg_order order, bool (*holds)(void *arg), void *arg);
bool mg__queue_over(struct mg_device *device, struct mg_order order); /* all that the stream was given */
/* Wait. False: not on the thread of host functions, which others wait for. */
bool mg__queue_wait(struct mg_device *device, struct mg_order order);
bool mg__queue_wait_all(struct mg_device *device);
bool mg__queue_wait_mark(struct mg_device *device, struct mg_mark *mark);
void mg__queue_break(struct mg_device *device); /* what is left is not run */
/* All that can go on does, and what cannot is ended: the program is over, or the code is about to go. */
void mg__queue_finish(struct mg_device *device);

/* ---- the process ---- */
struct mg_device_process {            /* what its environment says: process.c has the list */
    struct mg_device_options options; /* of every device, but for its number */
    unsigned devices;
    struct mg_report_writer *report;
    struct mg_diag trouble; /* status MG_OK: none. The report cannot be written, and there is none */
    char engine[16];
    char *regs;
    regex_t only;
    _Atomic uint64_t launches_left;
};
/* Reads the environment and opens the report. The structure must stay where it is: options point into it.
 * MG_ERR_NOT_FOUND: there is no such device; MG_ERR_INVALID: a variable that is wrong. */
enum mg_status mg__device_process(struct mg_device_process *process, struct mg_diag *diag);
#endif
