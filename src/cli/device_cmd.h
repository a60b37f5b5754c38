/* device_cmd.h - what `margay limits` and `margay occupancy` share: commands about devices, which run no program. */
#ifndef MG_DEVICE_CMD_H
#define MG_DEVICE_CMD_H
#include "cli.h"

enum mg_device_command { MG_DEVCMD_LIMITS = 1, MG_DEVCMD_OCCUPANCY = 2 };
enum mg_sweep { MG_SWEEP_NONE, MG_SWEEP_THREADS, MG_SWEEP_SMEM, MG_SWEEP_REGS };

struct mg_device_options {
    enum mg_device_command command;
    const struct mg_arch *arch;
    const struct mg_board *board;
    bool json, all, has_device, has_regs, has_smem, has_barriers;
    unsigned device, threads, regs, smem, barriers; /* threads 0: not given */
    int carveout;
    enum mg_sweep sweep;
    const char *kernel, *nvcc_args, *svg;
    struct mg_style style; /* of standard output */
};
/* Fills *options. Returns -1 to go on, or the status to exit with. */
int mg__device_parse(enum mg_device_command command, int argc, char **argv, struct mg_device_options *options);
int mg__device_out_of_memory(void);
/* `text`, then the buffer is freed. Returns the status to exit with. */
int mg__device_print(struct mg_strbuf *text);

/* ---- driver.c: a real GPU, through the CUDA driver, when there is one ---- */
#define MG_DRIVER_ATTRIBUTES 160
struct mg_driver_device {
    char name[256];
    unsigned cc;
    uint64_t memory;
    bool known[MG_DRIVER_ATTRIBUTES];
    int attribute[MG_DRIVER_ATTRIBUTES];
};
enum mg_status mg__driver_ask(unsigned index, struct mg_driver_device *device, struct mg_diag *diag);

/* ---- ptxas.c: what the kernels of a file take, with NVIDIA's compilers where they are needed ---- */
#include "fatbin/program.h"
/* Assembles the text for `cc` and reads what the kernels take. MG_ERR_NOT_FOUND: there is no ptxas. */
enum mg_status mg__ptxas(const char *text, size_t length, unsigned cc, struct mg_arena *arena,
                         struct mg_program *program, struct mg_diag *diag);
struct mg_device_kernel {
    struct mg_cubin_kernel kernel;
    unsigned cc;             /* of the code that says what it takes */
    bool foreign, assembled; /* the device does not run that code; ptxas made it */
};
struct mg_device_kernels {
    struct mg_device_kernel *at; /* in the arena */
    size_t n;
    bool no_ptxas; /* there is PTX that it should have gone through */
};
/* Any file that holds kernels: machine code, PTX or .cu source. Returns -1 to go on, or the status to exit with. */
int mg__device_program(const struct mg_device_options *options, const char *path, struct mg_arena *arena,
                       struct mg_device_kernels *kernels);
#endif
