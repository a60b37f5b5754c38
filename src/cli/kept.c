/* kept.c - programs that nvcc made of .cu files, kept so that the next run of the same file need not wait for it.
 *
 * A file NAME.mgc in the folder of compiled kernels (MARGAY_CACHE, else margay in $XDG_CACHE_HOME or ~/.cache). NAME is
 * made of all that nvcc is told: its version, arguments, the variables that it and the host's compiler read, the
 * folder, the source's name and contents. In the file stand the names and checksums of all files that nvcc read (-MD),
 * the toolkit's headers included, and then the program: one that is found is used if all those files are as they were.
 * A program is not kept if one of its files changed while nvcc ran, or if an argument names what -MD does not (a
 * library, an object, an option that is not known here). A new header that hides another of the same name is not
 * noticed; MARGAY_CACHE=off compiles always.
 *
 * Processes may read and write at once: a file is written under a name of its own and then renamed, and is whole or not
 * there. The folder is bounded: what was not used for longest goes first. A failure here only costs time.
 */
#include "guard.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MOST_BYTES ((uint64_t)256 << 20)
#define LARGEST ((size_t)64 << 20)
#define MAGIC "margay nvcc 1\n"
#define SUFFIX ".mgc"
#define NAME_LENGTH 36
/* Time stamps of files come from a clock of that many nanoseconds' steps, at worst. */
#define CLOCK_STEP 20000000

/* ---- what makes the name ---- */

/* Arguments of which -MD tells all files, or that name none. With `=` or the value in the same word. */
static const char *const plain_prefixes[] = {"-D",
                                             "-U",
                                             "-I",
                                             "-O",
                                             "-std=",
                                             "--std=",
                                             "-G",
                                             "-g",
                                             "-w",
                                             "-lineinfo",
                                             "--generate-line-info",
                                             "-arch=",
                                             "--gpu-architecture=",
                                             "-gencode=",
                                             "--use_fast_math",
                                             "-use_fast_math",
                                             "-maxrregcount=",
                                             "--maxrregcount=",
                                             "-extended-lambda",
                                             "--extended-lambda",
                                             "-expt-",
                                             "--expt-",
                                             "-fmad=",
                                             "--fmad=",
                                             "-rdc=",
                                             "-Wno-",
                                             "-default-stream=",
                                             "--default-stream="};
/* Those whose value is the next word. */
static const char *const with_value[] = {
    "-D", "-U", "-I", "-O", "-std", "--std", "-arch", "-gencode", "-maxrregcount", "-include"};

static bool understood(const char *const *args)
{
    for (size_t i = 0; args[i]; i++) {
        bool known = false;
        for (size_t j = 0; !known && j < MG_COUNT(with_value); j++)
            if (!strcmp(args[i], with_value[j]) && args[i + 1]) {
                known = true;
                i++;
            }
        for (size_t j = 0; !known && j < MG_COUNT(plain_prefixes); j++)
            known = !strncmp(args[i], plain_prefixes[j], strlen(plain_prefixes[j]));
        if (!known)
            return false;
    }
    return true;
}

static void to_stdout(void *arg, int fd)
{
    (void)arg;
    if (dup2(fd, STDOUT_FILENO) < 0)
        _exit(127);
}

static void collect(void *arg, const char *bytes, size_t size)
{
    (void)mg__strbuf_append(arg, bytes, size);
}

static bool add_version(struct mg_strbuf *text, const char *nvcc)
{
    char *argv[] = {(char *)(uintptr_t)nvcc, "--version", NULL};
    struct mg_child child = {.path = nvcc, .argv = argv, .setup = to_stdout, .data = collect, .arg = text};
    int status = 0, error = 0;
    return mg__child_run(&child, &status, &error) == MG_OK && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* A line of the key: pieces cannot run into each other. */
static bool add(struct mg_strbuf *text, const char *piece)
{
    return mg__strbuf_printf(text, "%zu ", strlen(piece)) && mg__strbuf_append(text, piece, strlen(piece)) &&
           mg__strbuf_append(text, "\n", 1);
}

static bool folder(char *path, size_t size)
{
    const char *told = getenv("MARGAY_CACHE"), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int n = -1;
    if (told && told[0])
        n = strcmp(told, "off") ? snprintf(path, size, "%s", told) : -1;
    else if (xdg && xdg[0] == '/')
        n = snprintf(path, size, "%s/margay", xdg);
    else if (home && home[0] == '/')
        n = snprintf(path, size, "%s/.cache/margay", home);
    return n > 0 && (size_t)n < size;
}

static bool checksum(const char *path, uint64_t *sum)
{
    char *data;
    size_t size;
    if (mg__file_read(path, LARGEST, &data, &size, NULL) != MG_OK)
        return false;
    *sum = mg__hash(data, size);
    free(data);
    return true;
}

bool mg__kept_name(const char *nvcc, const char *const *args, const char *source, struct mg_kept *kept)
{
    static const char *const variables[] = {"PATH",  "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS",  "NVCC_CCBIN",
                                            "CPATH", "C_INCLUDE_PATH",     "CPLUS_INCLUDE_PATH", "LIBRARY_PATH"};
    char cwd[4096], dir[sizeof(kept->path) - NAME_LENGTH - 32];
    struct mg_strbuf text = {0};
    uint64_t sum;
    memset(kept, 0, sizeof(*kept));
    kept->began = mg__clock_ns();
    bool ok = understood(args) && folder(dir, sizeof(dir)) && getcwd(cwd, sizeof(cwd)) && checksum(source, &sum) &&
              add_version(&text, nvcc) && add(&text, nvcc) && add(&text, cwd) && add(&text, source) &&
              mg__strbuf_printf(&text, "%llx\n", (unsigned long long)sum);
    for (size_t i = 0; ok && args[i]; i++)
        ok = add(&text, args[i]);
    for (size_t i = 0; ok && i < MG_COUNT(variables); i++) {
        const char *value = getenv(variables[i]);
        ok = add(&text, value ? value : "");
    }
    if (ok) {
        uint64_t first = mg__hash(text.at, text.count);
        ok = mg__strbuf_append(&text, MAGIC, strlen(MAGIC));
        snprintf(kept->path, sizeof(kept->path), "%s/%016llx%016llx" SUFFIX, dir, (unsigned long long)first,
                 (unsigned long long)(ok ? mg__hash(text.at, text.count) : 0));
    }
    mg__strbuf_free(&text);
    if (!ok)
        kept->path[0] = 0;
    return ok;
}

/* ---- taking ---- */

/* Reads a file that is ours alone: what it holds is executed. */
static bool read_own(const char *path, char **data, size_t *size)
{
    struct stat st;
    *data = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return false;
    bool ok = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & 022) &&
              st.st_size > 0 && (size_t)st.st_size <= LARGEST && (*data = malloc((size_t)st.st_size + 1)) != NULL;
    *size = ok ? (size_t)st.st_size : 0;
    for (size_t done = 0; ok && done < *size;) {
        ssize_t n = read(fd, *data + done, *size - done);
        ok = n > 0;
        done += ok ? (size_t)n : 0;
    }
    if (ok) {
        (*data)[*size] = 0;
        (void)futimens(fd, NULL); /* lately used */
    }
    close(fd);
    return ok;
}

static bool write_whole(int fd, const char *data, size_t size)
{
    while (size) {
        ssize_t n = write(fd, data, size);
        if (n < 0 && errno != EINTR)
            return false;
        data += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

bool mg__kept_take(const struct mg_kept *kept, const char *program)
{
    char *data, *at;
    size_t size;
    bool good = kept->path[0] && read_own(kept->path, &data, &size);
    if (!good)
        return false;
    const char *end = data + size;
    at = data + strlen(MAGIC);
    good = size > strlen(MAGIC) && !memcmp(data, MAGIC, strlen(MAGIC));
    uint64_t sum, is;
    int used = 0;
    char *newline;
    while (good && *at != '\n') { /* "<checksum> <name>" */
        good = (newline = memchr(at, '\n', (size_t)(end - at))) != NULL;
        if (!good)
            break;
        *newline = 0;
        good = sscanf(at, "%16lx %n", &sum, &used) == 1 && used > 0 && checksum(at + used, &is) && is == sum;
        at = newline + 1;
        good = good && at < end;
    }
    size_t length = 0;
    good = good && (newline = memchr(at + 1, '\n', (size_t)(end - at - 1))) != NULL &&
           sscanf(at + 1, "%16lx %zu", &sum, &length) == 2 && (size_t)(end - newline - 1) == length &&
           mg__hash(newline + 1, length) == sum;
    int fd = good ? open(program, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700) : -1;
    good = fd >= 0 && write_whole(fd, newline + 1, length);
    if (fd >= 0 && (close(fd) != 0 || !good)) {
        (void)remove(program);
        good = false;
    }
    free(data);
    return good;
}

/* ---- keeping ---- */

/* Whether the file is surely what nvcc read. */
static bool settled(const char *path, uint64_t began)
{
    struct stat st;
    return stat(path, &st) == 0 &&
           (uint64_t)st.st_mtim.tv_sec * 1000000000u + (uint64_t)st.st_mtim.tv_nsec + CLOCK_STEP < began;
}

/* The next name of a make rule, its escapes taken away; NULL at the end. */
static char *next_name(char **text)
{
    char *from = *text, *to, *name;
    while (*from == ' ' || *from == '\n' || (from[0] == '\\' && from[1] == '\n'))
        from += from[0] == '\\' ? 2 : 1;
    for (name = to = from; *from && *from != ' ' && *from != '\n' && !(from[0] == '\\' && from[1] == '\n'); from++) {
        if ((from[0] == '\\' && (from[1] == ' ' || from[1] == '#' || from[1] == ':')) ||
            (from[0] == '$' && from[1] == '$'))
            from++;
        *to++ = *from;
    }
    *text = *from ? from + 1 : from;
    if (*from == '\\')
        *text = from + 2;
    *to = 0;
    return to > name ? name : NULL;
}

static bool add_files(struct mg_strbuf *out, const struct mg_kept *kept, const char *list)
{
    char *data;
    size_t size;
    if (mg__file_read(list, LARGEST, &data, &size, NULL) != MG_OK)
        return false;
    char *colon = strstr(data, " : "), *rest = colon ? colon + 3 : data, *name;
    bool ok = colon != NULL;
    for (size_t n = 0; ok && (name = next_name(&rest)) != NULL; n++) {
        uint64_t sum = 0;
        ok = settled(name, kept->began) && checksum(name, &sum) &&
             mg__strbuf_printf(out, "%016llx %s\n", (unsigned long long)sum, name);
    }
    free(data);
    return ok && mg__strbuf_append(out, "\n", 1);
}

struct entry { /* or what a process that was killed had begun to write: NAME.mgc.PID */
    char name[NAME_LENGTH + 16];
    uint64_t size;
    struct timespec used;
};

static int by_age(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->used.tv_sec != y->used.tv_sec)
        return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
    return (x->used.tv_nsec > y->used.tv_nsec) - (x->used.tv_nsec < y->used.tv_nsec);
}

static void bound(const char *dir, uint64_t most)
{
    MG_VEC(struct entry) all = {0};
    uint64_t total = 0;
    DIR *d = opendir(dir);
    for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
        struct stat st;
        struct entry one = {.size = 0};
        size_t length = strlen(e->d_name);
        if (length < NAME_LENGTH || length >= sizeof(one.name) ||
            strncmp(e->d_name + NAME_LENGTH - strlen(SUFFIX), SUFFIX, strlen(SUFFIX)) ||
            fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        memcpy(one.name, e->d_name, length);
        one.size = (uint64_t)st.st_size;
        one.used = st.st_mtim;
        total += one.size;
        if (!mg__vec_push(&all, one))
            break;
    }
    if (total > most && all.count) {
        qsort(all.at, all.count, sizeof(*all.at), by_age);
        for (size_t i = 0; i < all.count && total > most / 4 * 3; i++) {
            (void)unlinkat(dirfd(d), all.at[i].name, 0);
            total -= all.at[i].size;
        }
    }
    if (d)
        closedir(d);
    mg__vec_free(&all);
}

static bool make_folders(char *path)
{
    for (char *p = path + 1; *p; p++)
        if (*p == '/') {
            *p = 0;
            bool failed = mkdir(path, 0700) != 0 && errno != EEXIST;
            *p = '/';
            if (failed)
                return false;
        }
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

/* Writes the file, whole or not at all. */
static void put(const struct mg_kept *kept, const struct mg_strbuf *text)
{
    char dir[sizeof(kept->path)], fresh[sizeof(kept->path) + 16];
    snprintf(dir, sizeof(dir), "%s", kept->path);
    *strrchr(dir, '/') = 0;
    snprintf(fresh, sizeof(fresh), "%s.%d", kept->path, (int)getpid());
    int fd = make_folders(dir) ? open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600) : -1;
    if (fd < 0)
        return;
    bool ok = write_whole(fd, text->at, text->count);
    ok = close(fd) == 0 && ok;
    if (!ok || rename(fresh, kept->path) != 0)
        (void)remove(fresh);
    bound(dir, MOST_BYTES);
}

void mg__kept_put(const struct mg_kept *kept, const char *program, const char *list)
{
    char *data = NULL;
    size_t size;
    struct mg_strbuf text = {0};
    if (!kept->path[0])
        return;
    bool ok = mg__strbuf_append(&text, MAGIC, strlen(MAGIC)) && add_files(&text, kept, list) &&
              mg__file_read(program, LARGEST / 2, &data, &size, NULL) == MG_OK &&
              mg__strbuf_printf(&text, "%016llx %zu\n", (unsigned long long)mg__hash(data, size), size) &&
              mg__strbuf_append(&text, data, size) && text.count <= LARGEST;
    if (ok)
        put(kept, &text);
    free(data);
    mg__strbuf_free(&text);
}

/* ---- texts that were made of what a key says, whole: nothing else decides ---- */
#define TEXT_MAGIC "margay text 1\n"

bool mg__kept_text_name(const char *key, size_t length, struct mg_kept *kept)
{
    char dir[sizeof(kept->path) - NAME_LENGTH - 32];
    struct mg_strbuf text = {0};
    memset(kept, 0, sizeof(*kept));
    bool ok = folder(dir, sizeof(dir)) && mg__strbuf_append(&text, key, length);
    uint64_t first = ok ? mg__hash(text.at, text.count) : 0;
    ok = ok && mg__strbuf_append(&text, TEXT_MAGIC, strlen(TEXT_MAGIC));
    if (ok)
        snprintf(kept->path, sizeof(kept->path), "%s/%016llx%016llx" SUFFIX, dir, (unsigned long long)first,
                 (unsigned long long)mg__hash(text.at, text.count));
    mg__strbuf_free(&text);
    return ok;
}

bool mg__kept_text_take(const struct mg_kept *kept, struct mg_strbuf *out)
{
    char *data = NULL;
    size_t size = 0, head = strlen(TEXT_MAGIC) + 17; /* and a checksum, a line of its own */
    bool ok = kept->path[0] && read_own(kept->path, &data, &size) && size >= head &&
              !memcmp(data, TEXT_MAGIC, strlen(TEXT_MAGIC)) &&
              strtoull(data + strlen(TEXT_MAGIC), NULL, 16) == mg__hash(data + head, size - head) &&
              mg__strbuf_append(out, data + head, size - head);
    free(data);
    return ok;
}

void mg__kept_text_put(const struct mg_kept *kept, const struct mg_strbuf *made)
{
    struct mg_strbuf text = {0};
    if (kept->path[0] &&
        mg__strbuf_printf(&text, TEXT_MAGIC "%016llx\n", (unsigned long long)mg__hash(made->at, made->count)) &&
        mg__strbuf_append(&text, made->at, made->count))
        put(kept, &text);
    mg__strbuf_free(&text);
}
