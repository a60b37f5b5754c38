/* driver.h - what the files of this room share: how a call of the driver begins and ends.
 *
 * The driver is a second way to the process's devices (cudart.h), and holds no state of its own: what says the same in
 * the runtime is done by the runtime's function, under the driver's name. Every entry point is named mg__<its symbol>
 * here; entries.c gives it its label. It begins with CUDA_BEGIN, or with CUDA_ENTER if it needs a context, and ends
 * with mg__cuda_done, which turns the runtime's errors into the driver's.
 */
#ifndef MG_CUDA_DRIVER_H
#define MG_CUDA_DRIVER_H
#include "cuda/abi.h"
#include "cudart/cudart.h"

int mg__cuda_begin(const char *name);
int mg__cuda_enter(const char *name); /* and the thread's context is there, and good */
int mg__cuda_done(int error);
int mg__cuda_missing(const char *name); /* an entry point that is not there */
/* The primary context is in use: somebody retains it, or the runtime was called. */
bool mg__cuda_primary_active(const struct cudart_device *device);

#define CUDA_BEGIN()                                 \
    do {                                             \
        int begin_error_ = mg__cuda_begin(__func__); \
        if (begin_error_)                            \
            return mg__cuda_done(begin_error_);      \
    } while (0)
#define CUDA_ENTER()                                 \
    do {                                             \
        int enter_error_ = mg__cuda_enter(__func__); \
        if (enter_error_)                            \
            return mg__cuda_done(enter_error_);      \
    } while (0)
/* A call that is the runtime's: arguments and what to do with them. */
#define CUDA_SAME(name, parameters, call) \
    int mg__##name parameters;            \
    int mg__##name parameters             \
    {                                     \
        CUDA_ENTER();                     \
        return mg__cuda_done(call);       \
    }
/* So where no context need be current: what names its device, and what is of a whole pool, library or kernel. */
#define CUDA_ANYWHERE(name, parameters, call) \
    int mg__##name parameters;                \
    int mg__##name parameters                 \
    {                                         \
        CUDA_BEGIN();                         \
        return mg__cuda_done(call);           \
    }

/* For entries.c and the runtime: names as programs ask for them. */
struct cuda_api {
    const char *name;     /* without _v2 and _ptsz */
    unsigned version;     /* of CUDA in which it came */
    unsigned char thread; /* it is of programs whose default stream is the thread's own */
    void (*entry)(void);
};
extern const struct cuda_api mg__cuda_api[]; /* ends with a NULL name */
/* Why not: the numbers of CUdriverProcAddressQueryResult. */
enum cuda_found { CUDA_FOUND, CUDA_NOT_FOUND, CUDA_TOO_NEW };
enum cuda_found mg__cuda_find(const char *name, unsigned version, bool per_thread, void **function);

/* What a JIT was told, and tells. */
struct cuda_jit {
    char *log[2]; /* information, errors; NULL: not wanted */
    size_t size[2];
    void **filled[2]; /* where the bytes that were used go */
    void **wall;
};
int mg__cuda_jit(unsigned count, const int *options, void **values, struct cuda_jit *jit);
/* The end of a load: to the log for errors, or to the user if there is none. Returns `error`. */
int mg__cuda_jit_done(struct cuda_jit *jit, int error, const struct mg_diag *diag);
/* launch.c: with one pointer a parameter, or all of them in a buffer. */
int mg__cuda_launch(const void *function, struct cudart_request *request, void **params, void **extra);
int mg__cuda_unpack(const void *function, void **extra, void ***args); /* *args is for the caller to free */
int mg__cuda_copy_kind(int to, int from);                              /* of CUmemorytypes the runtime's kind */
/* module.c: a function that is called and is nowhere; NULL: none. */
const char *mg__cuda_unresolved(const struct mg_ptx_module *ptx);
/* devrt.c: PTX that stands for an archive of the toolkit; NULL: there is none for this file. */
const char *mg__cuda_own_archive(const char *path);
#endif
