/* ptxas.c - for programs that carry PTX and no machine code: NVIDIA's assembler says what their kernels take.
 *
 * The text goes into a temporary folder, ptxas turns it into machine code there, and that is read like a program's own.
 * ptxas is looked for on PATH, beside nvcc, and in /usr/local/cuda.
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

enum mg_status mg__ptxas_read(const char *text, size_t length, unsigned cc, struct mg_arena *arena,
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
