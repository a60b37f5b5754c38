/* find.c - where things are: the program, our runtime, nvcc.
 *
 * Our runtime is looked for beside the command: in lib/ under it (the build tree), then where `make install` puts it
 * relative to the command, so that a moved installation still works. MARGAY_LIBDIR overrides.
 */
#include "cli.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_executable_file(const char *path, int *why)
{
    struct stat st;
    if (stat(path, &st) < 0)
        *why = errno;
    else if (S_ISDIR(st.st_mode))
        *why = EISDIR;
    else if (access(path, X_OK) < 0)
        *why = errno;
    else
        return true;
    return false;
}

/* Searches `dirs` (colons between) for `name`. A file that is there and not executable is reported as such. */
static bool search(const char *dirs, const char *name, char *path, size_t size, int *why)
{
    *why = ENOENT;
    while (dirs) {
        size_t n = strcspn(dirs, ":");
        int got = ENOENT;
        int length = snprintf(path, size, "%.*s/%s", n ? (int)n : 1, n ? dirs : ".", name);
        if (length > 0 && (size_t)length < size && is_executable_file(path, &got))
            return true;
        if (got == EACCES)
            *why = got;
        dirs = dirs[n] ? dirs + n + 1 : NULL;
    }
    return false;
}

bool mg__find_program(const char *name, char *path, size_t size, int *why)
{
    if (strchr(name, '/')) {
        if (snprintf(path, size, "%s", name) >= (int)size) {
            *why = ENAMETOOLONG;
            return false;
        }
        return is_executable_file(path, why);
    }
    const char *dirs = getenv("PATH");
    if (!name[0]) {
        *why = ENOENT;
        return false;
    }
    return search(dirs ? dirs : "/usr/local/bin:/usr/bin:/bin", name, path, size, why);
}

const char *mg__find_unfit(const char *path)
{
    enum { CUDA = 190 }; /* EM_CUDA, which not every elf.h has */
    static const unsigned fatbin = 0xba55ed50, here =
#ifdef __aarch64__
                                                   EM_AARCH64;
#else
                                                   EM_X86_64;
#endif
    Elf64_Ehdr eh = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd >= 0 ? pread(fd, &eh, sizeof(eh), 0) : 0;
    if (fd >= 0)
        close(fd);
    if (n >= 4 && !memcmp(&eh, &fatbin, sizeof(fatbin)))
        return "holds code for GPUs, which no processor starts: give the program that loads it";
    if (n < (ssize_t)offsetof(Elf64_Ehdr, e_version) || memcmp(eh.e_ident, ELFMAG, SELFMAG))
        return NULL;
    if (eh.e_machine == CUDA)
        return "is machine code for GPUs, which no processor starts: give the program that loads it; 'margay occupancy "
               "--kernel FILE' reads such a file";
    if (eh.e_ident[EI_CLASS] == ELFCLASS32)
        return "is a 32-bit program, and CUDA has those of 64 bits alone: compile it without -m32";
    if (eh.e_machine != here)
        return "is a program for another kind of processor: compile it on this machine";
    if (eh.e_type == ET_REL)
        return "is an object file: link it first (nvcc FILE.o -o PROGRAM)";
    return NULL;
}

bool mg__find_own_dir(char *path, size_t size)
{
    ssize_t n = readlink("/proc/self/exe", path, size - 1);
    if (n <= 0)
        return false;
    path[n] = 0;
    char *slash = strrchr(path, '/');
    if (!slash)
        return false;
    *slash = 0;
    return true;
}

static bool has_runtime(const char *dir)
{
    char file[PATH_MAX];
    return snprintf(file, sizeof(file), "%s/libcudart.so.13", dir) < (int)sizeof(file) && access(file, R_OK) == 0;
}

bool mg__find_libdir(char *path, size_t size)
{
    char own[PATH_MAX], candidate[PATH_MAX + 64];
    const char *told = getenv("MARGAY_LIBDIR");
    static const char *const places[] = {"lib", MARGAY_LIBDIR_FROM_BIN};
    if (told && told[0])
        return has_runtime(told) && snprintf(path, size, "%s", told) < (int)size;
    if (!mg__find_own_dir(own, sizeof(own)))
        return false;
    for (size_t i = 0; i < MG_COUNT(places); i++) {
        snprintf(candidate, sizeof(candidate), "%s/%s", own, places[i]);
        char *real = has_runtime(candidate) ? realpath(candidate, NULL) : NULL;
        if (real) {
            bool fits = snprintf(path, size, "%s", real) < (int)size;
            free(real);
            return fits;
        }
    }
    return false;
}

/* ---- DT_NEEDED ---- */
static bool read_at(int fd, void *to, size_t size, uint64_t offset)
{
    return offset <= INT64_MAX && pread(fd, to, size, (off_t)offset) == (ssize_t)size;
}

/* File offset of a virtual address, or 0. */
static uint64_t file_offset(const Elf64_Phdr *ph, size_t n, uint64_t address)
{
    for (size_t i = 0; i < n; i++)
        if (ph[i].p_type == PT_LOAD && address >= ph[i].p_vaddr && address - ph[i].p_vaddr < ph[i].p_filesz)
            return ph[i].p_offset + (address - ph[i].p_vaddr);
    return 0;
}

#define MAX_SEGMENTS 256u
#define MAX_DYNAMIC ((size_t)1 << 20)
#define MAX_STRINGS ((uint64_t)64 << 20)

unsigned mg__find_cudart_needed(const char *program)
{
    unsigned version = 0;
    Elf64_Phdr ph[MAX_SEGMENTS];
    Elf64_Dyn *dyn = NULL;
    char *strings = NULL;
    int fd = open(program, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    Elf64_Ehdr eh;
    if (!read_at(fd, &eh, sizeof(eh), 0) || memcmp(eh.e_ident, ELFMAG, SELFMAG) ||
        eh.e_ident[EI_CLASS] != ELFCLASS64 || eh.e_phentsize != sizeof(Elf64_Phdr))
        goto done;
    size_t n = MG_MIN(eh.e_phnum, MAX_SEGMENTS), ndyn = 0;
    if (!n || !read_at(fd, ph, n * sizeof(*ph), eh.e_phoff))
        goto done;
    for (size_t i = 0; i < n && !dyn; i++) {
        if (ph[i].p_type != PT_DYNAMIC || ph[i].p_filesz > MAX_DYNAMIC || ph[i].p_filesz < sizeof(*dyn))
            continue;
        ndyn = ph[i].p_filesz / sizeof(*dyn);
        dyn = malloc(ndyn * sizeof(*dyn));
        if (!dyn || !read_at(fd, dyn, ndyn * sizeof(*dyn), ph[i].p_offset))
            goto done;
    }
    uint64_t strtab = 0, strsz = 0;
    for (size_t i = 0; i < ndyn && dyn[i].d_tag != DT_NULL; i++) {
        if (dyn[i].d_tag == DT_STRTAB)
            strtab = file_offset(ph, n, dyn[i].d_un.d_ptr);
        else if (dyn[i].d_tag == DT_STRSZ)
            strsz = dyn[i].d_un.d_val;
    }
    if (!strtab || !strsz || strsz > MAX_STRINGS)
        goto done;
    strings = malloc(strsz + 1);
    if (!strings || !read_at(fd, strings, strsz, strtab))
        goto done;
    strings[strsz] = 0;
    for (size_t i = 0; i < ndyn && dyn[i].d_tag != DT_NULL; i++) {
        unsigned v;
        if (dyn[i].d_tag == DT_NEEDED && dyn[i].d_un.d_val < strsz &&
            sscanf(strings + dyn[i].d_un.d_val, "libcudart.so.%3u", &v) == 1)
            version = v;
    }
done:
    free(strings);
    free(dyn);
    close(fd);
    return version;
}

bool mg__find_nvcc(char *path, size_t size)
{
    int why;
    char own[PATH_MAX], dirs[PATH_MAX * 2 + 64];
    const char *told = getenv("NVCC");
    if (told && told[0])
        return mg__find_program(told, path, size, &why);
    if (mg__find_program("nvcc", path, size, &why))
        return true;
    static const char *const homes[] = {"CUDA_HOME", "CUDA_PATH"};
    for (size_t i = 0; i < MG_COUNT(homes); i++) {
        const char *home = getenv(homes[i]);
        if (home && home[0] && snprintf(dirs, sizeof(dirs), "%s/bin", home) < (int)sizeof(dirs) &&
            search(dirs, "nvcc", path, size, &why))
            return true;
    }
    if (search("/usr/local/cuda/bin", "nvcc", path, size, &why))
        return true;
    /* Where `make demo` unpacks the compiler, seen from build/ and from a sanitized build beside it. */
    if (!mg__find_own_dir(own, sizeof(own)))
        return false;
    snprintf(dirs, sizeof(dirs), "%s/cuda/bin:%s/../build/cuda/bin", own, own);
    return search(dirs, "nvcc", path, size, &why);
}

bool mg__find_tool(const char *name, char *path, size_t size)
{
    int why;
    char nvcc[PATH_MAX];
    if (mg__find_program(name, path, size, &why))
        return true;
    char *slash = mg__find_nvcc(nvcc, sizeof(nvcc)) ? strrchr(nvcc, '/') : NULL;
    if (slash)
        *slash = 0;
    return (slash && search(nvcc, name, path, size, &why)) || search("/usr/local/cuda/bin", name, path, size, &why);
}
