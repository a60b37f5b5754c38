/* redirect.c - statically linked runtimes: every CUDA entry point found in an object's symbol table is overwritten with
 * a jump to ours.
 *
 * nvcc links libcudart_static.a unless told otherwise, so an ordinary program carries the runtime's code inside, and
 * no preloaded symbol reaches it. But the linker leaves the names in .symtab. Before the program's constructors run
 * (they register its fatbins), each loaded object is looked at; where it defines __cudaRegisterFatBinary, all functions
 * of api.def that it defines are patched. A patch is a 5-byte jump to a slot in a page mapped near the object, which
 * holds the far jump: some of the entry points are only three bytes long and padded to sixteen.
 *
 * Objects that dlopen brings in later (CuPy's modules, of which five have a runtime each) are looked at in the same
 * moment, between being linked and their first constructor. What calls us then is the object itself: the start-up code
 * that C compilers put into it (crti.o) calls the weak function __gmon_start__, meant for profilers, from its _init,
 * which the System V ABI puts before the constructors; and __gmon_start__ is an ordinary name, which the first library
 * of the process that exports it defines. So we export it, and look at the object that the call came from. A program
 * built with -pg has a __gmon_start__ of its own, and keeps it.
 *
 * Left out: objects that were linked without crti.o, and shared libraries without a symbol table (NVIDIA's cuBLAS,
 * say), which keep their own runtime and find no driver. A program without a symbol table ends here with a message.
 * x86-64 only.
 */
#define _GNU_SOURCE /* dl_iterate_phdr, MAP_FIXED_NOREPLACE */
#include "cudart/cudart.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* How many objects had been loaded when all of them were looked at. */
static atomic_ullong looked_at_all;

enum { JUMP_SIZE = 5, SLOT_SIZE = 16, ENDBR_SIZE = 4, EXIT_STATUS = 2 };
static const uint8_t endbr64[ENDBR_SIZE] = {0xf3, 0x0f, 0x1e, 0xfa};

/* One patch to make. */
struct patch {
    const struct cudart_api *api;
    uint64_t value; /* the symbol's */
};

struct image { /* an ELF file, mapped */
    const uint8_t *at;
    size_t size;
    const ElfW(Shdr) * sections;
    size_t nsections;
    const char *names;
    size_t names_size;
};

/* ---- messages: before main, so without stdio ---- */
static void say(const char *a, const char *b, const char *c)
{
    const char *parts[] = {"margay: error: ", a, b, c, "\n"};
    for (size_t i = 0; i < MG_COUNT(parts); i++)
        if (write(STDERR_FILENO, parts[i], strlen(parts[i])) < 0)
            return;
}

/* Told on standard error, or as a record where the command listens, which tells it in its own way and knows then that
 * no call of CUDA was to come. */
_Noreturn static void give_up(char *const *environment, const char *a, const char *path, const char *b,
                              const char *advice)
{
    static const char name[] = "MARGAY_REPORT=";
    const char *target = NULL;
    struct mg_report_writer *report = NULL;
    struct mg_diag diag = {0};
    for (; environment && *environment && !target; environment++)
        if (!strncmp(*environment, name, strlen(name)))
            target = *environment + strlen(name);
    mg__diag_set(&diag, MG_ERR_UNSUPPORTED, "%s%s%s", a, path, b);
    mg__diag_hint(&diag, "%s", advice);
    if (!target || mg__report_open(target, &(struct mg_report_device){.name = ""}, &report) != MG_OK ||
        mg__report_error(report, "", &diag) != MG_OK)
        say(diag.message, ". ", advice);
    mg__report_close(report);
    _exit(EXIT_STATUS);
}

/* ---- ELF ---- */
static bool inside(const struct image *image, uint64_t offset, uint64_t size)
{
    return offset <= image->size && size <= image->size - offset;
}

static bool image_open(const char *path, struct image *image)
{
    struct stat st;
    memset(image, 0, sizeof(*image));
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    if (fstat(fd, &st) || st.st_size < (off_t)sizeof(ElfW(Ehdr))) {
        close(fd);
        return false;
    }
    void *at = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (at == MAP_FAILED)
        return false;
    image->at = at;
    image->size = (size_t)st.st_size;
    const ElfW(Ehdr) *h = at;
    if (memcmp(h->e_ident, ELFMAG, SELFMAG) || h->e_ident[EI_CLASS] != ELFCLASS64 ||
        h->e_shentsize != sizeof(ElfW(Shdr)) || h->e_shoff % 8 ||
        !inside(image, h->e_shoff, (uint64_t)h->e_shnum * sizeof(ElfW(Shdr))))
        return true; /* no sections to be seen */
    image->sections = (const void *)(image->at + h->e_shoff);
    image->nsections = h->e_shnum;
    if (h->e_shstrndx < image->nsections) {
        const ElfW(Shdr) *s = &image->sections[h->e_shstrndx];
        if (s->sh_type != SHT_NOBITS && inside(image, s->sh_offset, s->sh_size)) {
            image->names = (const char *)image->at + s->sh_offset;
            image->names_size = s->sh_size;
        }
    }
    return true;
}

static void image_close(struct image *image)
{
    if (image->at)
        munmap((void *)(uintptr_t)image->at, image->size);
}

/* The string at `offset` of a table, or NULL when it does not end inside. */
static const char *string_at(const char *table, size_t size, uint64_t offset)
{
    if (!table || offset >= size || !memchr(table + offset, '\0', size - offset))
        return NULL;
    return table + offset;
}

static const ElfW(Shdr) * section(const struct image *image, uint32_t type, const char *name)
{
    for (size_t i = 0; i < image->nsections; i++) {
        const ElfW(Shdr) *s = &image->sections[i];
        if (type && s->sh_type != type)
            continue;
        if (name) {
            const char *n = string_at(image->names, image->names_size, s->sh_name);
            if (!n || strcmp(n, name))
                continue;
        }
        return s;
    }
    return NULL;
}

struct symbols {
    const ElfW(Sym) * at;
    size_t count;
    const char *names;
    size_t names_size;
};

static bool symbols_of(const struct image *image, uint32_t type, struct symbols *symbols)
{
    const ElfW(Shdr) *s = section(image, type, NULL);
    memset(symbols, 0, sizeof(*symbols));
    if (!s || s->sh_entsize != sizeof(ElfW(Sym)) || s->sh_offset % 8 || !inside(image, s->sh_offset, s->sh_size) ||
        s->sh_link >= image->nsections)
        return false;
    const ElfW(Shdr) *n = &image->sections[s->sh_link];
    if (n->sh_type == SHT_NOBITS || !inside(image, n->sh_offset, n->sh_size))
        return false;
    symbols->at = (const void *)(image->at + s->sh_offset);
    symbols->count = s->sh_size / sizeof(ElfW(Sym));
    symbols->names = (const char *)image->at + n->sh_offset;
    symbols->names_size = n->sh_size;
    return true;
}

static const ElfW(Sym) * symbol_named(const struct symbols *symbols, const char *name)
{
    for (size_t i = 0; i < symbols->count; i++) {
        const char *n = string_at(symbols->names, symbols->names_size, symbols->at[i].st_name);
        if (n && !strcmp(n, name))
            return &symbols->at[i];
    }
    return NULL;
}

static bool defined_function(const ElfW(Sym) * s)
{
    return s && ELF64_ST_TYPE(s->st_info) == STT_FUNC && s->st_shndx != SHN_UNDEF && s->st_value;
}

/* ---- patching ---- */
#if defined(__x86_64__)
/* A mapping of `size` bytes within reach of a 32-bit jump from all of [low, high). */
static uint8_t *map_near(uintptr_t low, uintptr_t high, size_t size)
{
    const uintptr_t reach = (uintptr_t)1 << 30, step = (uintptr_t)1 << 16;
    for (uintptr_t d = step; d < reach; d += step) {
        for (int side = 0; side < 2; side++) {
            if (side && low < d + size)
                continue;
            uintptr_t want = (side ? low - d - size : high + d) & ~(step - 1);
            void *got = mmap((void *)want, size, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
            if (got == (void *)want)
                return got;
            if (got != MAP_FAILED)
                munmap(got, size);
        }
    }
    return NULL;
}

/* The bytes that may be overwritten at a symbol: its size, or up to the next 16-byte
 * boundary, where the next begins. */
static size_t room_at(const ElfW(Sym) * s)
{
    size_t padded = s->st_value % 16 ? s->st_size : (s->st_size + 15) / 16 * 16;
    return MG_MAX(padded, s->st_size);
}

/* The thread sanitizer keeps no record of code, and its place for one is not writable: no write that it would see,
 * which memcpy is too. */
__attribute__((no_sanitize("thread"))) static bool write_patch(uint8_t *at, const uint8_t *slot, size_t page)
{
    uintptr_t first = (uintptr_t)at & ~(page - 1);
    uintptr_t last = ((uintptr_t)at + ENDBR_SIZE + JUMP_SIZE - 1) & ~(page - 1);
    size_t size = last - first + page;
    if (mprotect((void *)first, size, PROT_READ | PROT_WRITE))
        return false;
    if (!memcmp(at, endbr64, ENDBR_SIZE))
        at += ENDBR_SIZE; /* stays the landing pad of indirect calls */
    uint32_t distance = (uint32_t)((uintptr_t)slot - (uintptr_t)(at + JUMP_SIZE));
    volatile uint8_t *code = at;
    code[0] = 0xe9; /* jmp rel32 */
    for (unsigned i = 0; i < sizeof(distance); i++)
        code[1 + i] = (uint8_t)(distance >> 8 * i);
    return mprotect((void *)first, size, PROT_READ | PROT_EXEC) == 0;
}

static bool write_patches(const struct dl_phdr_info *info, const struct patch *patches, size_t count)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uintptr_t low = UINTPTR_MAX, high = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type != PT_LOAD)
            continue;
        low = MG_MIN(low, info->dlpi_addr + p->p_vaddr);
        high = MG_MAX(high, info->dlpi_addr + p->p_vaddr + p->p_memsz);
    }
    size_t size = (count * SLOT_SIZE + page - 1) / page * page;
    uint8_t *slots = map_near(low, high, size);
    if (!slots)
        return false;
    for (size_t i = 0; i < count; i++) {
        uint8_t *slot = slots + i * SLOT_SIZE;
        uint64_t target = (uint64_t)(uintptr_t)patches[i].api->entry;
        static const uint8_t far_jump[6] = {0xff, 0x25, 0, 0, 0, 0}; /* jmp *[rip]: the address follows */
        memcpy(slot, far_jump, sizeof(far_jump));
        memcpy(slot + sizeof(far_jump), &target, sizeof(target));
    }
    if (mprotect(slots, size, PROT_READ | PROT_EXEC))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!write_patch((uint8_t *)(info->dlpi_addr + patches[i].value), slots + i * SLOT_SIZE, page))
            return false;
    return true;
}
#else
static size_t room_at(const ElfW(Sym) * s)
{
    return s->st_size;
}

static bool write_patches(const struct dl_phdr_info *info, const struct patch *patches, size_t count)
{
    (void)info, (void)patches, (void)count;
    return false; /* needs this processor's jump */
}
#endif

/* Whether `value` lies in an executable segment of the loaded object, with room for a patch. */
static bool executable(const struct dl_phdr_info *info, uint64_t value)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && (p->p_flags & PF_X) && value >= p->p_vaddr && value - p->p_vaddr < p->p_filesz &&
            p->p_filesz - (value - p->p_vaddr) >= ENDBR_SIZE + JUMP_SIZE)
            return true;
    }
    return false;
}

/* The row of api.def for a symbol, of the version that the object carries. */
static const struct cudart_api *row(const char *name, unsigned version)
{
    if (strncmp(name, "cuda", 4) && strncmp(name, "__cuda", 6))
        return NULL;
    for (const struct cudart_api *a = mg__cudart_api; a->name; a++)
        if ((a->versions & version) && !strcmp(a->name, name))
            return a;
    return NULL;
}

/* Whether the object's runtime is ours now. */
static bool redirect_object(const struct dl_phdr_info *info, const struct symbols *symbols)
{
    /* cudaDeviceProp and a few signatures changed with 13, whose runtime has no cudaGetDeviceProperties_v2. */
    unsigned version = symbol_named(symbols, "cudaGetDeviceProperties_v2") ? CUDART_V12 : CUDART_V13;
    mg__cudart.version = version == CUDART_V12 ? 12 : 13;
    struct patch patches[1024];
    size_t count = 0;
    for (size_t i = 0; i < symbols->count && count < MG_COUNT(patches); i++) {
        const ElfW(Sym) *s = &symbols->at[i];
        const char *name = string_at(symbols->names, symbols->names_size, s->st_name);
        const struct cudart_api *api = name && defined_function(s) ? row(name, version) : NULL;
        if (!api)
            continue;
        if (!executable(info, s->st_value) || room_at(s) < JUMP_SIZE + ENDBR_SIZE)
            return false;
        patches[count++] = (struct patch){api, s->st_value};
    }
    return count && write_patches(info, patches, count);
}

static bool is_in(const struct dl_phdr_info *info, uintptr_t address)
{
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &info->dlpi_phdr[i];
        if (p->p_type == PT_LOAD && address - (info->dlpi_addr + p->p_vaddr) < p->p_memsz)
            return true;
    }
    return false;
}

struct start {
    uintptr_t self; /* an address of this library, which is not looked at */
    char *const *environment;
};

/* What cannot be redirected ends the process if it is there from the start; of what is opened later, for which there is
 * no `start`, the user is told, and its calls fail. */
static bool look_at(const struct dl_phdr_info *info, bool program, const struct start *start)
{
    const char *path = program ? "/proc/self/exe" : info->dlpi_name;
    struct image image;
    struct symbols all, dynamic;
    if (!image_open(path, &image))
        return false; /* the vdso, say */
    bool device_code = section(&image, 0, ".nv_fatbin"), redirected = false;
    bool have_dynamic = symbols_of(&image, SHT_DYNSYM, &dynamic);
    if (symbols_of(&image, SHT_SYMTAB, &all) && defined_function(symbol_named(&all, "__cudaRegisterFatBinary"))) {
        redirected = redirect_object(info, &all);
        if (!redirected && !start)
            say("the CUDA runtime inside ", path, " could not be redirected; relink it with nvcc -cudart shared");
        else if (!redirected)
            give_up(start->environment, "the CUDA runtime inside ", path, " could not be redirected",
                    "Relink it with nvcc -cudart shared.");
    } else if (program && device_code && start &&
               !(have_dynamic && symbol_named(&dynamic, "__cudaRegisterFatBinary"))) {
        give_up(start->environment,
                "this program carries the CUDA runtime inside and has no symbol table by which to find it", "", "",
                "Relink it without -s and do not strip it, or link with nvcc -cudart shared.");
    }
    image_close(&image);
    return redirected;
}

static int look_at_all(struct dl_phdr_info *info, size_t size, void *arg)
{
    const struct start *start = arg;
    (void)size;
    atomic_store(&looked_at_all, info->dlpi_adds);
    if (!is_in(info, start->self))
        look_at(info, !info->dlpi_name || !*info->dlpi_name, start);
    return 0;
}

void mg__cudart_redirect(void *self, char *const *environment)
{
    dl_iterate_phdr(look_at_all, &(struct start){(uintptr_t)self, environment});
}

/* ---- objects that are opened later ---- */
struct caller {
    uintptr_t at;
    bool redirected;
};

static int look_at_caller(struct dl_phdr_info *info, size_t size, void *arg)
{
    struct caller *caller = arg;
    (void)size;
    if (info->dlpi_adds == atomic_load(&looked_at_all))
        return 1; /* the process is starting: all have been seen */
    if (!is_in(info, caller->at))
        return 0;
    caller->redirected = look_at(info, false, NULL);
    return 1;
}

/* A runtime opens the driver, and so does this, in the runtime's place: what uses the one asks later for libraries that
 * come with the other (NVRTC), by names of which Python takes the first that the process has. */
static void open_driver(void)
{
    Dl_info own;
    char path[PATH_MAX];
    const char *slash = dladdr((void *)(uintptr_t)open_driver, &own) ? strrchr(own.dli_fname, '/') : NULL;
    if (slash && snprintf(path, sizeof(path), "%.*s/libcuda.so.1", (int)(slash - own.dli_fname), own.dli_fname) > 0)
        (void)dlopen(path, RTLD_LAZY | RTLD_LOCAL);
}

static __attribute__((noinline)) void look_at_opened(uintptr_t at)
{
    struct caller caller = {at, false};
    dl_iterate_phdr(look_at_caller, &caller);
    if (caller.redirected)
        open_driver();
}

/* Libraries of a process that has no runtime yet come before ours, and before a sanitizer's own beginning. */
__attribute__((visibility("default"), no_sanitize("address", "thread", "undefined"))) void __gmon_start__(void);
void __gmon_start__(void)
{
    if (atomic_load(&looked_at_all))
        look_at_opened((uintptr_t)__builtin_return_address(0));
}
