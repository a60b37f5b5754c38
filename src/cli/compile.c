/* compile.c - a .cu file becomes a program in a folder of its own under $TMPDIR, which is removed after the run.
 *
 * nvcc's messages pass through. -lineinfo gives the PTX its source lines, and -g the host's calls theirs, for check;
 * -arch=sm_<device> puts PTX in beside the machine code, and the PTX is what we run. What nvcc makes is kept (kept.c),
 * so that it runs only when something changed.
 */
#include "guard.h"

#include <ctype.h>
#include <errno.h>
#include <ftw.h>
#include <libgen.h>
#include <sys/wait.h>
#include <unistd.h>

/* Splits at blanks; '…' and "…" keep blanks, a backslash keeps the next character (not within '…'). `storage` is as
 * long as `text`. */
static bool split(const char *text, char *storage, const char **words, size_t *count, size_t most)
{
    char quote = 0, *to = storage;
    bool inside = false;
    for (;; text++) {
        char c = *text;
        if (!c || (!quote && (c == ' ' || c == '\t' || c == '\n'))) {
            if (inside)
                *to++ = 0;
            inside = false;
            if (!c)
                return !quote;
            continue;
        }
        if (!inside) {
            if (*count == most)
                return false;
            words[(*count)++] = to;
            inside = true;
        }
        if (quote ? c == quote : (c == '"' || c == '\''))
            quote = quote ? 0 : c;
        else if (c == '\\' && quote != '\'' && text[1])
            *to++ = *++text;
        else
            *to++ = c;
    }
}

static bool in_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Whether a file may have a main(): the word stands outside comments and texts, or it includes files of its own, or a
 * macro may bring one (CATCH_CONFIG_MAIN). False is sure. */
static bool may_have_main(const char *source)
{
    char *text;
    size_t size;
    bool found = false;
    if (mg__file_read(source, (size_t)64 << 20, &text, &size, NULL) != MG_OK)
        return true;
    for (const char *at = text, *end = text + size; at < end && !found; at++) {
        if (at[0] == '/' && at[1] == '/') {
            at += strcspn(at, "\n") - (at[strcspn(at, "\n")] == 0);
        } else if (at[0] == '/' && at[1] == '*') {
            const char *close = strstr(at + 2, "*/");
            at = close ? close + 1 : end;
        } else if (*at == '"') {
            const char *line = at;
            while (line > text && line[-1] != '\n')
                line--;
            found = line[strspn(line, " \t")] == '#'; /* an #include "file" */
            for (at++; at < end && *at != '"' && *at != '\n'; at++)
                at += *at == '\\' && at + 1 < end;
        } else if (*at == '\'' && at[1] && at[2]) { /* a character, which may be a quote */
            at += at[1] == '\\' ? 3 : 2;
        } else if (in_word(*at)) {
            size_t n = 1; /* digits that ' parts are taken for a character, which hides no main */
            while (in_word(at[n]))
                n++;
            for (size_t i = 0; i + 4 <= n && !found; i++)
                found = !memcmp(at + i, "MAIN", 4) || (n == 4 && !memcmp(at, "main", 4));
            at += n - 1;
        }
    }
    free(text);
    return found;
}

/* Ctrl-C: whatever nvcc makes of it, it is no failure of ours. */
static int ended_by(int asked, const char *source)
{
    fprintf(stderr, "margay: ended by signal %d (%s) while nvcc compiled %s\n", asked, strsignal(asked), source);
    return 128 + asked;
}

/* Runs nvcc, and says what became of it. Returns -1 to go on, or the status to exit with. */
static int run_nvcc(const struct mg_cli_options *o, const char **argv, const char *source, struct mg_compiled *compiled,
                    const struct mg_kept *kept, const char *list)
{
    const char *nvcc = argv[0];
    int status = 0, error = 0, asked = 0;
    struct mg_child child = {.path = nvcc, .argv = (char **)argv, .quiet_stdout = true, .asked_to_end = &asked};
    enum mg_status ran = mg__child_run(&child, &status, &error);
    if (ran == MG_OK && WIFEXITED(status) && WEXITSTATUS(status) == 0 && access(compiled->program, X_OK) == 0) {
        mg__kept_put(kept, compiled->program, list);
        return -1;
    }
    mg__compile_clean(compiled);
    if (ran != MG_OK)
        return mg__cli_complain(o, "%s: %s", nvcc, strerror(error));
    if (asked)
        return ended_by(asked, source);
    if (WIFSIGNALED(status))
        return mg__cli_complain(o, "%s was ended by signal %d while it compiled %s", nvcc, WTERMSIG(status), source);
    return mg__cli_complain(o, "%s could not compile %s", nvcc, source);
}

int mg__compile(const struct mg_cli_options *o, const char *source, struct mg_compiled *compiled)
{
    char nvcc[4096], arch[64];
    const char *argv[512];
    size_t argc = 0;
    memset(compiled, 0, sizeof(*compiled));
    if (access(source, R_OK) < 0)
        return mg__cli_complain(o, "%s: %s", source, strerror(errno));
    if (!o->nvcc_args && !may_have_main(source)) /* with them, other files may come in */
        return mg__cli_complain(o,
                                "%s has no main(): margay runs whole programs. Add one that allocates, launches the "
                                "kernel and reads the result, or name the file that has it with --nvcc-args",
                                source);
    if (!mg__find_nvcc(nvcc, sizeof(nvcc)))
        return mg__cli_complain(o, "nvcc was not found in PATH, $NVCC or $CUDA_HOME/bin; `make setup` in Margay's "
                                   "source folder installs it");
    if (o->arch->cc == 90) /* what Hopper alone has, wgmma, as well */
        snprintf(arch, sizeof(arch), "-gencode=arch=compute_90a,code=[sm_90a,compute_90a]");
    else
        snprintf(arch, sizeof(arch), "-arch=sm_%u", o->arch->cc);
    argv[argc++] = nvcc;
    argv[argc++] = "-lineinfo";
    if (o->command == MG_CMD_CHECK)
        argv[argc++] = "-g"; /* lines of the host, too */
    argv[argc++] = arch;

    char *storage = malloc(strlen(o->nvcc_args ? o->nvcc_args : "") + 1);
    if (!storage)
        return mg__cli_complain(o, "out of memory");
    if (o->nvcc_args && !split(o->nvcc_args, storage, argv, &argc, MG_COUNT(argv) - 12)) {
        free(storage);
        return mg__cli_complain(o, "--nvcc-args: a quote is not closed, or there are too many words");
    }
    if (!mg__self_folder(compiled)) {
        free(storage);
        return MG_EXIT_SETUP;
    }
    const char *slash = strrchr(source, '/'), *base = slash ? slash + 1 : source;
    snprintf(compiled->program, sizeof(compiled->program), "%s/%.*s", compiled->dir,
             (int)MG_MIN(strlen(base) - 3, (size_t)255), base);
    argv[argc] = NULL;
    struct mg_kept kept;
    char list[sizeof(compiled->dir) + 16];
    snprintf(list, sizeof(list), "%s/read.d", compiled->dir);
    if (mg__kept_name(nvcc, argv + 1, source, &kept)) {
        if (mg__kept_take(&kept, compiled->program)) {
            mg__cli_say(o, "%s has not changed: what nvcc made of it is in %s", source, kept.path);
            free(storage);
            return -1;
        }
        argv[argc++] = "-MD";
        argv[argc++] = "-MF";
        argv[argc++] = list;
    }
    if (kept.asked) {
        mg__compile_clean(compiled);
        free(storage);
        return ended_by(kept.asked, source);
    }
    argv[argc++] = "-o";
    argv[argc++] = compiled->program;
    argv[argc++] = source;
    argv[argc] = NULL;
    if (o->verbose) {
        fputs("margay: compiling:", stderr);
        for (size_t i = 0; i < argc; i++)
            fprintf(stderr, " %s", argv[i]);
        fputc('\n', stderr);
    }
    int result = run_nvcc(o, argv, source, compiled, &kept, list);
    free(storage);
    return result;
}

static int remove_entry(const char *path, const struct stat *st, int flag, struct FTW *walk)
{
    (void)st, (void)flag, (void)walk;
    (void)remove(path);
    return 0;
}

void mg__compile_clean(struct mg_compiled *compiled)
{
    if (compiled->dir[0])
        nftw(compiled->dir, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
    compiled->dir[0] = 0;
}
