/* margay.h - embed the simulator: load PTX text, launch kernels, read what they did.
 *
 * One `mg_context` is one simulated device. Every device pointer is also a valid host pointer of this process, so
 * results can be read in place once a launch has returned; launches are synchronous. A context may be used from one
 * thread at a time; several contexts may live side by side. Nothing here prints or exits: a failure is a status, and
 * `mg_last_error` has the record that says what happened, where, and what to do.
 *
 *     struct mg_context *ctx;
 *     struct mg_kernel *k;
 *     mg_context_create(NULL, &ctx);
 *     mg_module_load(ctx, ptx_text, strlen(ptx_text), &module);
 *     mg_kernel_find(module, "scale", &k);
 *     mg_mem_alloc(ctx, 4096, &x);
 *     void *args[] = {&x, &n};
 *     mg_launch(ctx, k, (struct mg_dim3){4, 1, 1}, (struct mg_dim3){256, 1, 1}, 0, args);
 */
#ifndef MARGAY_MARGAY_H
#define MARGAY_MARGAY_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MG_VERSION_MAJOR 0
#define MG_VERSION_MINOR 1
#define MG_VERSION_PATCH 0
#define MG_VERSION_STRING "0.1.0"

enum mg_status {
    MG_OK = 0,
    MG_ERR_NOMEM,        /* the host is out of memory */
    MG_ERR_INVALID,      /* an argument is wrong: a null pointer, a size, a dimension */
    MG_ERR_NOT_FOUND,    /* no kernel, symbol, file or device of that name */
    MG_ERR_SYNTAX,       /* PTX text or a fatbin that does not parse */
    MG_ERR_UNSUPPORTED,  /* understood, and not simulated: the record names the instruction and its line */
    MG_ERR_NO_PTX,       /* the program holds machine code only */
    MG_ERR_LAUNCH_LIMIT, /* more threads, registers or shared memory than the device has */
    MG_ERR_ADDRESS,      /* a kernel touched memory that is not allocated */
    MG_ERR_MISALIGNED,   /* a kernel touched memory at an address that is no multiple of the width */
    MG_ERR_ASSERT,       /* a device-side assert failed */
    MG_ERR_TRAP,         /* a kernel executed trap, or an instruction that a device refuses */
    MG_ERR_DEADLOCK,     /* no warp of the launch can go on */
    MG_ERR_TIMEOUT,      /* the launch outran its time limit */
    MG_ERR_IO,           /* a file could not be read or written */
    MG_ERR_INTERNAL,     /* a defect of Margay: please report it */
};

/* A failure, as a record. Strings are never NULL; unknown lines and columns are 0. */
struct mg_diag {
    enum mg_status status;
    unsigned line, column; /* in `file`; 1-based */
    char file[256];        /* the source file, or "<ptx>" for a line of PTX text */
    char message[512];     /* what happened */
    char excerpt[160];     /* the offending text: a source line or an instruction */
    char hint[256];        /* what to do about it */
    char inlined_file[256]; /* a toolkit header, where the compiler inlined its code at that line; "": it did not */
    unsigned inlined_line;
};

struct mg_dim3 {
    uint32_t x, y, z;
};

struct mg_context;
struct mg_module;
struct mg_kernel;

struct mg_options {
    unsigned device_cc;   /* 90 is compute capability 9.0, the default for 0 */
    unsigned threads;     /* host threads that run blocks; 0: one a processor */
    unsigned timeout_ms;  /* a launch that takes longer fails with MG_ERR_TIMEOUT; 0: no limit */
    int profile;          /* MG_PROFILE_…, added up; any other number but 0 counts (see mg_report_json) */
};
enum {
    MG_PROFILE_COUNT = 1, /* count shared wavefronts, sectors and divergence */
    MG_PROFILE_CHECK = 2  /* look for races, missed barriers, unwritten reads and accesses out of bounds */
};

/* `options` may be NULL. On failure *context is NULL. Destroy frees all modules, kernels and memory of the context. */
enum mg_status mg_context_create(const struct mg_options *options, struct mg_context **context);
void mg_context_destroy(struct mg_context *context);

/* The record of the last call on `context` that failed; owned by the context, valid until the next call on it. NULL for
 * NULL. */
const struct mg_diag *mg_last_error(const struct mg_context *context);

/* The name of a status, e.g. "MG_ERR_SYNTAX"; and what it means in a few words. Both are static strings. */
const char *mg_status_name(enum mg_status status);
const char *mg_status_text(enum mg_status status);

/* Device memory, in bytes, aligned to 256. The address is both the device pointer and a host pointer.
 * Freeing 0 is allowed and does nothing. */
enum mg_status mg_mem_alloc(struct mg_context *context, size_t size, uint64_t *address);
enum mg_status mg_mem_free(struct mg_context *context, uint64_t address);
/* Copies bytes into device memory. With MG_PROFILE_CHECK they are known as written then, which those are not that the
 * host puts there through the pointer. */
enum mg_status mg_mem_write(struct mg_context *context, uint64_t address, const void *data, size_t size);

/* PTX text (need not end in a NUL) becomes a module; the text is not kept. Modules live as long as the context. */
enum mg_status mg_module_load(struct mg_context *context, const char *ptx, size_t length, struct mg_module **module);
enum mg_status mg_module_symbol(struct mg_module *module, const char *name, uint64_t *address, size_t *size);
enum mg_status mg_kernel_find(struct mg_module *module, const char *name, struct mg_kernel **kernel);

/* Runs the kernel to its end. `args[i]` points to the value of parameter i; `shared` is dynamic shared memory in
 * bytes. A kernel's printf goes to the process's standard output. */
enum mg_status mg_launch(struct mg_context *context, struct mg_kernel *kernel, struct mg_dim3 grid,
                         struct mg_dim3 block, uint32_t shared, void *const *args);

/* The report of all launches since the context was made (or since the last call), as the JSON of docs/report.md.
 * The string is the caller's, to be freed with free(). Empty of launches unless `profile` was set; findings are there
 * with MG_PROFILE_CHECK, one for each launch that has it. */
enum mg_status mg_report_json(struct mg_context *context, char **json);

/* The first entry of `ptx`, run to its end, without a context, as tinygrad and others drive a PTX emulator: `args[i]`
 * is the value of parameter i itself, up to 64 bits, and pointers are host addresses, which are trusted. Modules are
 * kept by their text. An error goes to standard error and ends the process (abort). */
void ptx_run(const char *ptx, int n_args, void **args, int block_x, int block_y, int block_z, int grid_x, int grid_y,
             int grid_z, int shared);

#ifdef __cplusplus
}
#endif
#endif
