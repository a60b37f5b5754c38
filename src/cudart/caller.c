/* caller.c - calls that fail, for the checks: which line of the program made them, and whether it looks at their
 * status.
 *
 * The line comes from the program's debug information, as binutils' addr2line reads it; without either it is not known.
 * Whether the status is looked at is told by the code behind the call (status.c), or behind the call of a wrapper that
 * returns it. Where that loses it, what the program does later tells: cudaGetLastError, or the error's name or text
 * asked for.
 */
#define _GNU_SOURCE
#include "cudart/cudart.h"
#include "cudart/status.h"

#include <dlfcn.h>
#include <elf.h>
#include <execinfo.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

enum { FRAMES = 24, SHOWN = MG_CHECK_FRAMES };

/* The frames of the program above this library: how many. */
static int program_frames(void *frames[SHOWN])
{
    void *at[FRAMES];
    Dl_info own, other;
    int n = backtrace(at, FRAMES), count = 0;
    if (!dladdr((void *)program_frames, &own))
        return 0;
    for (int k = 0; k < n && count < SHOWN; k++) {
        if (!dladdr(at[k], &other) || !other.dli_fname)
            continue;
        if (other.dli_fbase == own.dli_fbase)
            count = 0; /* what lies below is a sanitizer's */
        else
            frames[count++] = at[k];
    }
    return count;
}

static pid_t ask(const char *file, void *const *frames, int n, uint64_t base, int *out)
{
    char numbers[SHOWN][24];
    const char *argv[SHOWN + 4] = {"addr2line", "-e", file};
    char *environment[] = {"PATH=/usr/local/bin:/usr/bin:/bin", "LC_ALL=C", NULL}; /* not preloaded with this library */
    int ends[2];
    pid_t child = -1;
    posix_spawn_file_actions_t actions;
    for (int k = 0; k < n; k++) {
        snprintf(numbers[k], sizeof(numbers[k]), "0x%llx", (unsigned long long)((uintptr_t)frames[k] - 1 - base));
        argv[3 + k] = numbers[k];
    }
    if (pipe(ends))
        return -1;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", 1 /* O_WRONLY */, 0);
    posix_spawn_file_actions_addclose(&actions, ends[0]);
    if (posix_spawnp(&child, argv[0], &actions, NULL, (char *const *)argv, environment))
        child = -1;
    posix_spawn_file_actions_destroy(&actions);
    close(ends[1]);
    *out = ends[0];
    if (child < 0)
        close(ends[0]);
    return child;
}

/* The first line that is the program's own, and not of a header that comes with the toolkit or the system. */
uint32_t mg__cudart_line_of(void *const *frames, int n, char *file, size_t size)
{
    Dl_info info;
    int out, same = 1;
    uint32_t line = 0;
    char path[4096], text[4096 + 32];
    file[0] = 0;
    if (!n || !dladdr(frames[0], &info))
        return 0;
    for (Dl_info next; same < n && dladdr(frames[same], &next) && next.dli_fbase == info.dli_fbase; same++)
        ;
    const Elf64_Ehdr *elf = info.dli_fbase;
    uint64_t base = elf->e_type == ET_DYN ? (uintptr_t)elf : 0;
    ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);
    if (length > 0 && access(info.dli_fname, R_OK))
        path[length] = 0;
    else
        snprintf(path, sizeof(path), "%s", info.dli_fname);
    pid_t child = ask(path, frames, same, base, &out);
    FILE *said = child > 0 ? fdopen(out, "r") : NULL;
    bool stub = false; /* what nvcc makes of a launch, and the kernel's name on the host, which calls it */
    while (said && !line && fgets(text, sizeof(text), said)) {
        char *colon = strrchr(text, ':');
        bool skip = stub;
        stub = strstr(text, "/tmpxft_");
        if (skip || stub || !colon || text[0] == '?' || !strncmp(text, "/usr/", 5))
            continue;
        *colon = 0;
        line = (uint32_t)strtoul(colon + 1, NULL, 10);
        size_t used = MG_MIN(strlen(text), size - 1);
        memcpy(file, text, used);
        file[used] = 0;
    }
    if (said)
        fclose(said);
    if (child > 0)
        (void)waitpid(child, NULL, 0);
    return line;
}

int mg__cudart_frames(void *frames[SHOWN])
{
    return mg__cudart_call.name ? program_frames(frames) : 0; /* not on a thread of ours, which does a stream's work */
}

uint32_t mg__cudart_line(char *file, size_t size)
{
    void *frames[SHOWN];
    return mg__cudart_line_of(frames, mg__cudart_frames(frames), file, size);
}

void mg__cudart_failed(int error, const char *name)
{
    struct cudart_device *here = mg__cudart_call.device ? mg__cudart_call.device : mg__cudart_here();
    struct mg_check *check = here->device ? here->device->check : NULL;
    const char *call = mg__cudart_call.name;
    if (!call || strncmp(call, "cu", 2)) /* one function stands behind several entry points of launches */
        call = call ? "the launch" : "the call";
    void *frames[SHOWN];
    char file[4096];
    if (!check || atomic_load(&here->poison))
        return;
    bool copies = strstr(call, "Symbol") || strstr(call, "2D") || strstr(call, "3D");
    enum mg_check_call kind = error == cudaErrorInvalidResourceHandle ? MG_CHECK_CALL_HANDLE
                              : error == cudaErrorInvalidPitchValue || error == cudaErrorInvalidSymbol ||
                                      (error == cudaErrorInvalidValue && copies)
                                  ? MG_CHECK_CALL_SHAPE
                                  : MG_CHECK_CALL_FAILED;
    int n = program_frames(frames);
    int k = 0;
    while (k + 1 < n && mg__cudart_status_use(frames[k]) == MG_STATUS_RETURNED)
        k++; /* a wrapper, such as the templates of cuda_runtime.h */
    if (kind == MG_CHECK_CALL_FAILED && n && mg__cudart_status_use(frames[k]) == MG_STATUS_READ)
        return;
    uint32_t line = 0;
    file[0] = 0;
    if (mg__check_wants_call(check, call, n ? (uintptr_t)frames[0] : 0))
        line = mg__cudart_line_of(frames, n, file, sizeof(file));
    mg__check_call_failed(check, kind, call, name, n ? (uintptr_t)frames[0] : 0, file, line);
}

void mg__cudart_looked(const char *error)
{
    for (struct cudart_device *d = NULL; (d = mg__cudart_next(d)) != NULL;)
        mg__check_call_looked(d->device->check, error);
}
