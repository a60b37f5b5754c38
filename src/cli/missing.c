/* missing.c - a program that never started: which of its shared libraries the loader did not find, and what that means.
 *
 * The loader says so in one line that knows nothing of CUDA, and exits with 127. So it is asked again, in the same
 * environment, for its list (LD_TRACE_LOADED_OBJECTS, which is what ldd sets): the program is not run, the search is
 * the loader's own, and libraries of libraries are in it. Only glibc's loader knows the variable; others are not asked,
 * since they would run the program once more.
 */
#include "cli.h"

#include <elf.h>
#include <fcntl.h>
#include <unistd.h>

enum kind { DRIVER, RUNTIME, CODE, SERVED, HOST, UNKNOWN };
static const struct {
    const char *prefix;
    enum kind kind;
    const char *what;
} libraries[] = {
#define LIBRARY(prefix, kind, what) {prefix, kind, what},
#include "cli/library.def"
#undef LIBRARY
};

/* Whether glibc's loader starts it. */
static bool starts_by_glibc(const char *program)
{
    Elf64_Ehdr eh;
    Elf64_Phdr ph;
    char loader[256] = "";
    int fd = open(program, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool elf = pread(fd, &eh, sizeof(eh), 0) == (ssize_t)sizeof(eh) && !memcmp(eh.e_ident, ELFMAG, SELFMAG) &&
               eh.e_ident[EI_CLASS] == ELFCLASS64 && eh.e_phentsize == sizeof(ph) && eh.e_phoff < INT64_MAX / 2;
    for (unsigned i = 0; elf && i < eh.e_phnum && !loader[0]; i++) {
        if (pread(fd, &ph, sizeof(ph), (off_t)(eh.e_phoff + i * sizeof(ph))) != (ssize_t)sizeof(ph))
            break;
        if (ph.p_type != PT_INTERP || ph.p_filesz >= sizeof(loader) || ph.p_offset >= INT64_MAX / 2)
            continue;
        ssize_t n = pread(fd, loader, (size_t)ph.p_filesz, (off_t)ph.p_offset);
        loader[n > 0 ? n : 0] = 0;
    }
    close(fd);
    return strstr(loader, "/ld-linux") != NULL;
}

struct asked {
    void (*setup)(void *arg, int report_fd);
    void *arg;
    struct mg_strbuf list;
};

/* In the child: the list goes where records would. */
static void ask(void *arg, int report_fd)
{
    struct asked *asked = arg;
    asked->setup(asked->arg, report_fd);
    setenv("LD_TRACE_LOADED_OBJECTS", "1", 1);
    dup2(report_fd, STDOUT_FILENO);
}

static void collect(void *arg, const char *bytes, size_t size)
{
    struct asked *asked = arg;
    if (asked->list.count < 1u << 20)
        (void)mg__strbuf_append(&asked->list, bytes, size);
}

static void explain(const char *program, const char *name, struct mg_diag *diag)
{
    const char *what = "";
    enum kind kind = UNKNOWN;
    for (size_t i = 0; i < MG_COUNT(libraries) && kind == UNKNOWN; i++)
        if (!strncmp(name, libraries[i].prefix, strlen(libraries[i].prefix))) {
            kind = libraries[i].kind;
            what = libraries[i].what;
        }
    memset(diag, 0, sizeof(*diag));
    mg__diag_set(diag, MG_ERR_NOT_FOUND, "%s did not start: it needs %s, which is not there%s%s", program, name,
                 what[0] ? "; that is " : "", what);
    switch (kind) {
    case DRIVER:
        mg__diag_hint(diag, "Margay brings one, libcuda.so.1 beside its CUDA runtime, and it is not there: build or "
                            "install Margay again.");
        break;
    case RUNTIME:
        mg__diag_hint(diag, "Margay brings those of CUDA 12 and 13. Rebuild the program with nvcc 12 or 13, or with "
                            "-cudart static.");
        break;
    case CODE:
        mg__diag_hint(diag, "NVIDIA provides it, with kernels as machine code for GPUs, which Margay cannot run: "
                            "installed, it would fail at its first call. Put kernels of your own in its place for the "
                            "run, from source.");
        break;
    case SERVED:
        mg__diag_hint(diag, "Margay computes it on the host where it was built with OpenBLAS and FFTW: tools/setup.sh "
                            "installs them; then build Margay again. The versions are those of CUDA 12 and 13.");
        break;
    case HOST:
        mg__diag_hint(diag, "Install it, or add its folder to LD_LIBRARY_PATH: it works on the host, under Margay as "
                            "well.");
        break;
    case UNKNOWN:
        mg__diag_hint(diag, "Install it, or add its folder to LD_LIBRARY_PATH. Margay has no part in it.");
        break;
    }
}

void mg__missing_libraries(const char *path, char **argv, void (*setup)(void *arg, int report_fd), void *setup_arg,
                           void (*tell)(void *arg, const struct mg_diag *diag), void *arg)
{
    static const char mark[] = " => not found";
    struct asked asked = {.setup = setup, .arg = setup_arg};
    struct mg_child child = {.path = path, .argv = argv, .setup = ask, .data = collect, .arg = &asked};
    struct mg_diag diag;
    int status, why;
    if (!starts_by_glibc(path) || mg__child_run(&child, &status, &why) != MG_OK) {
        mg__strbuf_free(&asked.list);
        return;
    }
    char *rest = asked.list.at;
    for (char *line; rest && (line = strsep(&rest, "\n"));) {
        char *end = strstr(line, mark), *name = line + strspn(line, " \t"), *slash;
        if (!end || end <= name)
            continue;
        *end = 0;
        bool again = false; /* a library that several ask for is listed for each */
        for (char *before = asked.list.at; before < line && !again; before += strlen(before) + 1)
            again = !strcmp(before + strspn(before, " \t"), name);
        if (again)
            continue;
        slash = strrchr(argv[0], '/');
        explain(slash ? slash + 1 : argv[0], name, &diag);
        tell(arg, &diag);
    }
    mg__strbuf_free(&asked.list);
}
