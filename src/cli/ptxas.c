/* ptxas.c - what the kernels of a file take: from its machine code, or from machine code that is made for the question.
 *
 * PTX, in a program that carries no machine code or in a file of its own, goes through ptxas, and a .cu file through nvcc,
 * in a temporary folder; what comes out is read like a program's own. ptxas is looked for on PATH, beside nvcc, and in
 * /usr/local/cuda.
 */
#include "device_cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/wait.h>
#include <unistd.h>

static bool find_ptxas(char *path, size_t size)
{
    int why;
    char nvcc[PATH_MAX];
    if (mg__find_program("ptxas", path, size, &why))
        return true;
    if (mg__find_nvcc(nvcc, sizeof(nvcc))) {
        char *slash = strrchr(nvcc, '/');
        if (slash && snprintf(path, size, "%.*s/ptxas", (int)(slash - nvcc), nvcc) < (int)size &&
            mg__find_program(path, path, size, &why))
            return true;
    }
    return mg__find_program("/usr/local/cuda/bin/ptxas", path, size, &why);
}

static int run(const char *ptxas, const char *device, const char *from, const char *to)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);
        if (null >= 0) {
            dup2(null, STDIN_FILENO);
            dup2(null, STDOUT_FILENO);
        }
        execl(ptxas, ptxas, "-arch", device, from, "-o", to, (char *)NULL);
        _exit(127);
    }
    if (child < 0)
        return -1;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return -1;
    return status;
}

/* Assembles the text for `cc` and reads what the kernels take. MG_ERR_NOT_FOUND: there is no ptxas. */
static enum mg_status assemble(const char *text, size_t length, unsigned cc, struct mg_arena *arena,
                               struct mg_program *program, struct mg_diag *diag)
{
    char ptxas[PATH_MAX], from[PATH_MAX], to[PATH_MAX], device[16], dir[PATH_MAX];
    const char *tmp = getenv("TMPDIR");
    enum mg_status status = MG_ERR_IO;
    if (!find_ptxas(ptxas, sizeof(ptxas)))
        return mg__diag_set(diag, MG_ERR_NOT_FOUND, "it holds no machine code, and there is no ptxas to make some");
    if (snprintf(dir, sizeof(dir), "%s/margay-XXXXXX", tmp && tmp[0] ? tmp : "/tmp") >= (int)sizeof(dir) - 16 || !mkdtemp(dir))
        return mg__diag_set(diag, MG_ERR_IO, "no temporary folder: %s", strerror(errno));
    snprintf(from, sizeof(from), "%.*s/k.ptx", (int)sizeof(from) - 16, dir);
    snprintf(to, sizeof(to), "%.*s/k.cubin", (int)sizeof(to) - 16, dir);
    snprintf(device, sizeof(device), "sm_%u", cc);
    FILE *file = fopen(from, "we");
    bool written = file && fwrite(text, 1, length, file) == length;
    if (file && fclose(file) != 0)
        written = false;
    if (!written)
        mg__diag_set(diag, MG_ERR_IO, "%s could not be written", from);
    else if (run(ptxas, device, from, to) != 0)
        mg__diag_set(diag, MG_ERR_UNSUPPORTED, "%s could not assemble its PTX for %s", ptxas, device);
    else
        status = mg__program_read(to, cc, arena, program, diag);
    unlink(from);
    unlink(to);
    rmdir(dir);
    return status;
}

static bool ends_in(const char *path, const char *suffix)
{
    size_t n = strlen(path), m = strlen(suffix);
    return n > m && !strcmp(path + n - m, suffix);
}

/* The file's own kernels, and its PTX. */
static enum mg_status read_file(const char *path, unsigned cc, struct mg_arena *arena, struct mg_program *program,
                                struct mg_diag *diag)
{
    enum { MOST = 256 << 20 };
    if (!ends_in(path, ".ptx"))
        return mg__program_read(path, cc, arena, program, diag);
    memset(program, 0, sizeof(*program));
    return mg__file_read(path, MOST, &program->ptx, &program->ptx_length, diag);
}

/* What was assembled, behind the file's own. */
static bool append(struct mg_arena *arena, struct mg_program *program, const struct mg_program *more)
{
    size_t n = program->nkernels + more->nkernels;
    struct mg_program_kernel *all = mg__arena_array(arena, MG_MAX(n, (size_t)1), sizeof(*all));
    if (!all)
        return false;
    if (program->nkernels)
        memcpy(all, program->kernels, program->nkernels * sizeof(*all));
    if (more->nkernels)
        memcpy(all + program->nkernels, more->kernels, more->nkernels * sizeof(*all));
    program->kernels = all;
    program->nkernels = n;
    return true;
}

int mg__device_program(const struct mg_device_options *o, const char *path, struct mg_arena *arena,
                       struct mg_program *program, size_t *assembled)
{
    struct mg_compiled compiled = {.program = ""};
    struct mg_strbuf args = {0};
    struct mg_program more;
    struct mg_diag diag;
    const char *file = path;
    memset(&diag, 0, sizeof(diag));
    if (ends_in(path, ".cu")) {
        /* A library, since a file of kernels need not have a main. */
        if (!mg__strbuf_printf(&args, "-shared -Xcompiler -fPIC %s", o->nvcc_args ? o->nvcc_args : ""))
            return mg__device_out_of_memory();
        struct mg_cli_options compile = {.name = "occupancy", .arch = o->arch, .nvcc_args = args.at};
        int result = mg__compile(&compile, path, &compiled);
        mg__strbuf_free(&args);
        if (result >= 0)
            return result;
        file = compiled.program;
    } else if (o->nvcc_args) {
        return mg__cli_complain(NULL, "--nvcc-args is for .cu files, and %s is none", path);
    }
    enum mg_status status = read_file(file, o->arch->cc, arena, program, &diag);
    *assembled = program->nkernels;
    if (!status && program->ptx) {
        status = assemble(program->ptx, program->ptx_length, o->arch->cc, arena, &more, &diag);
        if (!status && !append(arena, program, &more))
            status = mg__diag_set(&diag, MG_ERR_NOMEM, "out of memory for its kernels");
        if (!status)
            free(more.ptx);
        if (status == MG_ERR_NOT_FOUND && program->nkernels) /* the others will do */
            status = MG_OK;
    }
    free(program->ptx);
    program->ptx = NULL;
    if (file != path)
        mg__compile_clean(&compiled);
    return status ? mg__cli_complain(NULL, "%s: %s", path, diag.message) : -1;
}
