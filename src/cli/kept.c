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
 * Processes may read and write at once, and the folder is bounded: base/cache.c. A failure here only costs time.
 */
#include "guard.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define MAGIC "margay nvcc 1\n"
#define SUFFIX ".mgc"
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

static bool add_version(struct mg_strbuf *text, const char *nvcc, int *asked)
{
    char *argv[] = {(char *)(uintptr_t)nvcc, "--version", NULL};
    struct mg_child child = {
        .path = nvcc, .argv = argv, .setup = to_stdout, .data = collect, .arg = text, .asked_to_end = asked};
    int status = 0, error = 0;
    return mg__child_run(&child, &status, &error) == MG_OK && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* A line of the key: pieces cannot run into each other. */
static bool add(struct mg_strbuf *text, const char *piece)
{
    return mg__strbuf_printf(text, "%zu ", strlen(piece)) && mg__strbuf_append(text, piece, strlen(piece)) &&
           mg__strbuf_append(text, "\n", 1);
}

static bool checksum(const char *path, uint64_t *sum)
{
    char *data;
    size_t size;
    if (mg__file_read(path, MG_CACHE_LARGEST, &data, &size, NULL) != MG_OK)
        return false;
    *sum = mg__hash(data, size);
    free(data);
    return true;
}

/* The file of what `text` and `magic` say, which becomes part of the text. */
static bool named(struct mg_kept *kept, struct mg_strbuf *text, const char *magic)
{
    uint64_t key[2] = {mg__hash(text->at, text->count), 0};
    bool ok = mg__strbuf_append(text, magic, strlen(magic));
    key[1] = ok ? mg__hash(text->at, text->count) : 0;
    return ok && mg__cache_path(NULL, key, SUFFIX, kept->path);
}

bool mg__kept_name(const char *nvcc, const char *const *args, const char *source, struct mg_kept *kept)
{
    static const char *const variables[] = {"PATH",  "NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS",  "NVCC_CCBIN",
                                            "CPATH", "C_INCLUDE_PATH",     "CPLUS_INCLUDE_PATH", "LIBRARY_PATH"};
    char cwd[4096];
    struct mg_strbuf text = {0};
    uint64_t sum;
    memset(kept, 0, sizeof(*kept));
    kept->began = mg__clock_ns();
    bool ok = mg__cache_path(NULL, (uint64_t[2]){0}, SUFFIX, kept->path) && understood(args) &&
              getcwd(cwd, sizeof(cwd)) && checksum(source, &sum) && add_version(&text, nvcc, &kept->asked) &&
              add(&text, nvcc) && add(&text, cwd) && add(&text, source) &&
              mg__strbuf_printf(&text, "%llx\n", (unsigned long long)sum);
    for (size_t i = 0; ok && args[i]; i++)
        ok = add(&text, args[i]);
    for (size_t i = 0; ok && i < MG_COUNT(variables); i++) {
        const char *value = getenv(variables[i]);
        ok = add(&text, value ? value : "");
    }
    ok = ok && named(kept, &text, MAGIC);
    if (!ok)
        kept->path[0] = 0;
    mg__strbuf_free(&text);
    return ok;
}

/* ---- taking ---- */

bool mg__kept_take(const struct mg_kept *kept, const char *program)
{
    char *data, *at;
    size_t size;
    bool good = kept->path[0] && mg__cache_get(kept->path, &data, &size);
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
    good = fd >= 0 && mg__write_whole(fd, newline + 1, length);
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
    if (mg__file_read(list, MG_CACHE_LARGEST, &data, &size, NULL) != MG_OK)
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

void mg__kept_put(const struct mg_kept *kept, const char *program, const char *list)
{
    char *data = NULL;
    size_t size;
    struct mg_strbuf text = {0};
    if (!kept->path[0])
        return;
    bool ok = mg__strbuf_append(&text, MAGIC, strlen(MAGIC)) && add_files(&text, kept, list) &&
              mg__file_read(program, MG_CACHE_LARGEST / 2, &data, &size, NULL) == MG_OK &&
              mg__strbuf_printf(&text, "%016llx %zu\n", (unsigned long long)mg__hash(data, size), size) &&
              mg__strbuf_append(&text, data, size) && text.count <= MG_CACHE_LARGEST;
    if (ok)
        mg__cache_put(kept->path, text.at, text.count);
    free(data);
    mg__strbuf_free(&text);
}

/* ---- texts that were made of what a key says, whole: nothing else decides ---- */
#define TEXT_MAGIC "margay text 1\n"

bool mg__kept_text_name(const char *key, size_t length, struct mg_kept *kept)
{
    struct mg_strbuf text = {0};
    memset(kept, 0, sizeof(*kept));
    bool ok = mg__strbuf_append(&text, key, length) && named(kept, &text, TEXT_MAGIC);
    mg__strbuf_free(&text);
    return ok;
}

bool mg__kept_text_take(const struct mg_kept *kept, struct mg_strbuf *out)
{
    char *data = NULL;
    size_t size = 0, head = strlen(TEXT_MAGIC) + 17; /* and a checksum, a line of its own */
    bool ok = kept->path[0] && mg__cache_get(kept->path, &data, &size) && size >= head &&
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
        mg__cache_put(kept->path, text.at, text.count);
    mg__strbuf_free(&text);
}
