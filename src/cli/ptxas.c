/* ptxas.c - what the kernels of a file take: from its machine code, or from machine code that is made for the question.
 *
 * PTX, in a program that carries no machine code that the device runs or in a file of its own, goes through ptxas, and
 * a .cu file through nvcc, in a temporary folder; what comes out is read like a program's own. ptxas is looked for on
 * PATH, beside nvcc, and in /usr/local/cuda.
 */
#include "device_cmd.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/wait.h>
#include <unistd.h>

static int run(const char *ptxas, const char *device, const char *from, const char *to)
{
    int status = -1;
    pid_t self = getpid(), child = fork();
    if (child == 0) {
        mg__child_bind(self);
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

/* `a` or `f` of the PTX's target: ptxas takes such PTX for a device of that letter alone. 0: it has none. */
static char target_letter(const char *text, size_t length)
{
    static const char word[] = ".target";
    for (const char *at = text; (at = memmem(at, length - (size_t)(at - text), word, sizeof(word) - 1)) != NULL; at++) {
        size_t i = (size_t)(at - text) + sizeof(word) - 1;
        if (at > text && at[-1] != '\n')
            continue; /* in a comment, say */
        while (i < length && (text[i] == ' ' || text[i] == '\t'))
            i++;
        i += length - i > 3 && !memcmp(text + i, "sm_", 3) ? 3 : 0;
        while (i < length && isdigit((unsigned char)text[i]))
            i++;
        return i < length && (text[i] == 'a' || text[i] == 'f') ? text[i] : 0;
    }
    return 0;
}

enum mg_status mg__ptxas(const char *text, size_t length, unsigned cc, struct mg_arena *arena,
                         struct mg_program *program, struct mg_diag *diag)
{
    char ptxas[PATH_MAX], from[PATH_MAX], to[PATH_MAX], device[16], dir[PATH_MAX];
    const char *tmp = getenv("TMPDIR");
    enum mg_status status = MG_ERR_IO;
    if (!mg__find_tool("ptxas", ptxas, sizeof(ptxas)))
        return mg__diag_set(diag, MG_ERR_NOT_FOUND, "it holds no machine code, and there is no ptxas to make some");
    if (snprintf(dir, sizeof(dir), "%s/margay-XXXXXX", tmp && tmp[0] ? tmp : "/tmp") >= (int)sizeof(dir) - 16 ||
        !mkdtemp(dir))
        return mg__diag_set(diag, MG_ERR_IO, "no temporary folder: %s", strerror(errno));
    snprintf(from, sizeof(from), "%.*s/k.ptx", (int)sizeof(from) - 16, dir);
    snprintf(to, sizeof(to), "%.*s/k.cubin", (int)sizeof(to) - 16, dir);
    const char letter[2] = {target_letter(text, length)};
    snprintf(device, sizeof(device), "sm_%u%s", cc, letter);
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
    program->texts = calloc(1, sizeof(*program->texts));
    if (!program->texts)
        return mg__diag_set(diag, MG_ERR_NOMEM, "out of memory for its text");
    program->ntexts = 1;
    enum mg_status status = mg__file_read(path, MOST, &program->texts[0].at, &program->texts[0].length, diag);
    if (status)
        mg__program_free_texts(program);
    return status;
}

/* What was assembled, in place of foreign code of the same kernel, or behind all others. */
static bool append(struct mg_arena *arena, struct mg_device_kernels *all, const struct mg_program *more, bool assembled)
{
    struct mg_device_kernel *grown = mg__arena_array(arena, all->n + more->nkernels + 1, sizeof(*grown));
    if (!grown)
        return false;
    if (all->n)
        memcpy(grown, all->at, all->n * sizeof(*grown));
    all->at = grown;
    for (size_t i = 0; i < more->nkernels; i++) {
        const struct mg_program_kernel *k = &more->kernels[i];
        size_t at = 0;
        while (at < all->n && (!assembled || all->at[at].assembled || !all->at[at].foreign ||
                               strcmp(all->at[at].kernel.name, k->kernel.name)))
            at++;
        all->n += at == all->n;
        all->at[at] = (struct mg_device_kernel){k->kernel, k->cc, k->foreign, assembled};
    }
    return true;
}

int mg__device_program(const struct mg_device_options *o, const char *path, struct mg_arena *arena,
                       struct mg_device_kernels *kernels)
{
    struct mg_compiled compiled = {.program = ""};
    struct mg_strbuf args = {0};
    struct mg_program program, more;
    struct mg_diag diag;
    const char *file = path;
    memset(&diag, 0, sizeof(diag));
    memset(kernels, 0, sizeof(*kernels));
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
    enum mg_status status = read_file(file, o->arch->cc, arena, &program, &diag);
    if (!status && !append(arena, kernels, &program, false))
        status = mg__diag_set(&diag, MG_ERR_NOMEM, "out of memory for its kernels");
    for (size_t i = 0; !status && i < program.ntexts; i++) {
        status = mg__ptxas(program.texts[i].at, program.texts[i].length, o->arch->cc, arena, &more, &diag);
        if (!status) {
            if (!append(arena, kernels, &more, true))
                status = mg__diag_set(&diag, MG_ERR_NOMEM, "out of memory for its kernels");
            mg__program_free_texts(&more);
        } else if (status == MG_ERR_NOT_FOUND && kernels->n) { /* no ptxas: the others will do */
            kernels->no_ptxas = true;
            status = MG_OK;
            break;
        }
    }
    mg__program_free_texts(&program);
    if (file != path)
        mg__compile_clean(&compiled);
    return status ? mg__cli_complain(NULL, "%s: %s", path, diag.message) : -1;
}
