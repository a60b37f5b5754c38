/* disassemble.c - the machine code of the kernels that a run launched, listed by nvdisasm for src/report/machine.c.
 *
 * The encoding of machine code is not documented; nvdisasm, a tool of the CUDA toolkit, is (CUDA Binary Utilities). It
 * is run when the program itself carries machine code for the simulated device, once for each of its files that has a
 * launched kernel, and of that for those kernels alone. Code in libraries that the program loads is not looked at.
 * Nothing here is needed for a profile: whatever fails, there is simply nothing to say about ptxas.
 */
#include "cli.h"

#include "fatbin/program.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_SECONDS = 20 }; /* for one listing */
#define MOST_LISTING ((size_t)256 << 20)

struct lister {
    const struct mg_cli_options *options;
    const struct mg_tally *tally;
    struct mg_machine *machine;
    char tool[PATH_MAX], dir[PATH_MAX], cubin[PATH_MAX + 16], listing[PATH_MAX + 16];
};

static bool launched(const struct mg_tally *tally, const char *name)
{
    for (size_t i = 0; i < tally->kernels.count; i++)
        if (!strcmp(tally->kernels.at[i]->mangled, name))
            return true;
    return false;
}

/* "12,15": the symbols of the launched kernels; empty when there are none. */
static bool symbols_of(const struct lister *l, const void *data, size_t size, struct mg_strbuf *symbols)
{
    struct mg_arena arena;
    struct mg_cubin cubin;
    struct mg_diag diag;
    mg__arena_init(&arena);
    bool ok = mg__cubin_read(data, size, &arena, &cubin, &diag) == MG_OK;
    for (size_t i = 0; ok && i < cubin.nkernels; i++)
        if (launched(l->tally, cubin.kernels[i].name))
            ok = mg__strbuf_printf(symbols, "%s%u", symbols->count ? "," : "", cubin.kernels[i].symbol);
    mg__arena_free(&arena);
    return ok;
}

static bool write_file(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "we");
    bool written = file && fwrite(data, 1, size, file) == size;
    return (!file || fclose(file) == 0) && written;
}

/* nvdisasm's standard output goes into the listing. */
static bool list(const struct lister *l, const char *symbols)
{
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        int null = open("/dev/null", O_RDWR | O_CLOEXEC);
        int out = open(l->listing, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
        if (null < 0 || out < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
            dup2(null, STDERR_FILENO) < 0)
            _exit(127);
        alarm(MOST_SECONDS);
        execl(l->tool, l->tool, "-gi", "-c", "-fun", symbols, l->cubin, (char *)NULL);
        _exit(127);
    }
    if (child < 0)
        return false;
    while (waitpid(child, &status, 0) < 0)
        if (errno != EINTR)
            return false;
    return status == 0;
}

static bool see(void *arg, const void *data, size_t size)
{
    struct lister *l = arg;
    struct mg_strbuf symbols = {0};
    struct mg_diag diag;
    char *text = NULL;
    size_t length;
    bool fine = true;
    if (symbols_of(l, data, size, &symbols) && symbols.count && write_file(l->cubin, data, size)) {
        if (!list(l, symbols.at))
            mg__cli_say(l->options, "%s could not list the machine code", l->tool);
        else if (mg__file_read(l->listing, MOST_LISTING, &text, &length, &diag) == MG_OK)
            fine = mg__machine_read(l->machine, text, length);
    }
    free(text);
    mg__strbuf_free(&symbols);
    return fine;
}

void mg__disassemble(const struct mg_cli_options *options, const char *program, const struct mg_tally *tally,
                     struct mg_machine *machine)
{
    struct lister l = {.options = options, .tally = tally, .machine = machine};
    struct mg_diag diag;
    char path[PATH_MAX];
    const char *tmp = getenv("TMPDIR");
    int why;
    if (!tally->kernels.count || !mg__find_program(program, path, sizeof(path), &why) ||
        !mg__find_tool("nvdisasm", l.tool, sizeof(l.tool)))
        return;
    if (snprintf(l.dir, sizeof(l.dir), "%s/margay-XXXXXX", tmp && tmp[0] ? tmp : "/tmp") >= (int)sizeof(l.dir) ||
        !mkdtemp(l.dir))
        return;
    snprintf(l.cubin, sizeof(l.cubin), "%s/k.cubin", l.dir);
    snprintf(l.listing, sizeof(l.listing), "%s/k.sass", l.dir);
    mg__cli_say(options, "listing the machine code with %s", l.tool);
    if (mg__program_code(path, options->arch->cc, see, &l, &diag) == MG_OK)
        mg__machine_compare(machine, tally);
    unlink(l.cubin);
    unlink(l.listing);
    rmdir(l.dir);
}
