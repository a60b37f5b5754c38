/* program.h - the kernels of a file: a program or library with device code in it, a fatbin, or a cubin. */
#ifndef MG_PROGRAM_H
#define MG_PROGRAM_H
#include "fatbin/cubin.h"
#include "fatbin/fatbin.h"

struct mg_program_kernel {
    struct mg_cubin_kernel kernel;
    unsigned cc;  /* of the machine code that it was read from */
    bool foreign; /* which the device does not run: there a driver would take the PTX */
};
struct mg_program_text {
    char *at; /* malloc'd, a NUL behind it */
    size_t length;
};
struct mg_program {
    struct mg_program_kernel *kernels;
    size_t nkernels;
    /* PTX that the device can run, of each part of the program that has no machine code for it */
    struct mg_program_text *texts;
    size_t ntexts;
};
/* The kernels as compiled for `cc`, or for the device nearest to it. MG_ERR_NO_PTX: there is no device code in the
 * file. The arena holds the kernels; the caller frees the texts. */
void mg__program_free_texts(struct mg_program *program);
enum mg_status mg__program_read(const char *path, unsigned cc, struct mg_arena *arena, struct mg_program *program,
                                struct mg_diag *diag);
/* Hands the machine code that `cc` runs to `see`, one cubin after another, until it returns false. */
enum mg_status mg__program_code(const char *path, unsigned cc, bool (*see)(void *arg, const void *cubin, size_t size),
                                void *arg, struct mg_diag *diag);
/* The same as mg__program_read of bytes in memory. */
enum mg_status mg__program_read_bytes(const void *data, size_t size, unsigned cc, struct mg_arena *arena,
                                      struct mg_program *program, struct mg_diag *diag);
#endif
