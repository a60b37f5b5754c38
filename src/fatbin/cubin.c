/* cubin.c - reads the resources of kernels out of machine code.
 *
 * A cubin is an ELF file of machine 190 (EM_CUDA). What a kernel takes stands in sections that NVIDIA does not
 * document; their layout was read off the files that ptxas 12 and 13 write for 5.0 to 12.1, against what ptxas -v and
 * a device say.
 *
 *   .text.K           a kernel's code; its symbol's index is the low 24 bits of sh_info, and on some devices the count
 *                     of registers the high 8 bits
 *   .nv.info          records about all kernels, .nv.info.K about kernel K: u8 form, u8 kind, then by form: 1 to 3 two
 *                     bytes, 4 a u16 size and so many bytes
 *   .nv.shared.K      a section without bytes as large as the kernel's static shared memory; from 9.0 on the reserved
 *                     kilobyte before it is counted in
 *   kinds             0x05 largest block, 3 u32        0x2f in .nv.info: symbol, registers
 *                     0x10 required block, 3 u32       0x11 in .nv.info: symbol, stack frame
 *                     0x19 bytes of parameters, u16    0x4c named barriers, u8
 *
 * A kernel without a register count is left out: no number is better than a guess. Records of other kinds are skipped.
 */
#include "fatbin/cubin.h"

enum {
    HEADER = 64,
    SECTION = 64,
    SYMBOL = 24,
    EM_CUDA_ = 190,
    TYPE_EXEC = 2,
    NOBITS = 8,
    MAX_SECTIONS = 1 << 20,
};
enum {
    KIND_MAX_THREADS = 0x05,
    KIND_REQUIRED_THREADS = 0x10,
    KIND_FRAME = 0x11,
    KIND_PARAM_BYTES = 0x19,
    KIND_REGISTERS = 0x2f,
    KIND_BARRIERS = 0x4c,
};

struct section {
    const char *name; /* inside the file, terminated */
    uint32_t type, info, link;
    const uint8_t *at;
    uint64_t size; /* bytes at `at`; of a section without bytes what it says */
};
struct reader {
    const uint8_t *data;
    size_t size;
    unsigned nsections;
    uint64_t sections, names; /* file offset of the table; the section that holds the names */
    struct mg_diag *diag;
};

static uint64_t read_le(const uint8_t *p, unsigned bytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value |= (uint64_t)p[i] << (8 * i);
    return value;
}

static enum mg_status corrupt(const struct reader *r, const char *what)
{
    return mg__diag_set(r->diag, MG_ERR_SYNTAX, "the program's machine code is corrupt: %s", what);
}

bool mg__cubin_is(const void *data, size_t size)
{
    const uint8_t *p = data;
    return size >= HEADER && !memcmp(p, "\177ELF\2\1", 6) && read_le(p + 18, 2) == EM_CUDA_;
}

static bool raw_section(const struct reader *r, unsigned index, struct section *s, uint64_t *name)
{
    if (index >= r->nsections)
        return false;
    const uint8_t *p = r->data + r->sections + (uint64_t)index * SECTION;
    uint64_t offset = read_le(p + 24, 8);
    s->type = (uint32_t)read_le(p + 4, 4);
    s->size = read_le(p + 32, 8);
    s->link = (uint32_t)read_le(p + 40, 4);
    s->info = (uint32_t)read_le(p + 44, 4);
    s->at = NULL;
    *name = read_le(p, 4);
    if (s->type == NOBITS)
        return true;
    if (offset > r->size || s->size > r->size - offset)
        return false;
    s->at = r->data + offset;
    return true;
}

/* The string at `offset` of a string table; NULL when it does not end inside. */
static const char *string_at(const struct section *table, uint64_t offset)
{
    if (!table->at || offset >= table->size || !memchr(table->at + offset, 0, (size_t)(table->size - offset)))
        return NULL;
    return (const char *)table->at + offset;
}

static bool get_section(const struct reader *r, unsigned index, struct section *s)
{
    struct section names;
    uint64_t name, unused;
    if (!raw_section(r, index, s, &name) || !raw_section(r, (unsigned)r->names, &names, &unused))
        return false;
    s->name = string_at(&names, name);
    return s->name != NULL;
}

static const char *after(const char *name, const char *prefix)
{
    size_t n = strlen(prefix);
    return strncmp(name, prefix, n) || !name[n] ? NULL : name + n;
}

static bool open_file(struct reader *r)
{
    const uint8_t *p = r->data;
    if (!mg__cubin_is(p, r->size) || read_le(p + 58, 2) != SECTION)
        return false;
    r->sections = read_le(p + 40, 8);
    r->nsections = (unsigned)read_le(p + 60, 2);
    r->names = read_le(p + 62, 2);
    if (r->sections > r->size || r->size - r->sections < SECTION)
        return r->nsections == 0 && r->sections == 0;
    if (r->nsections == 0) /* more than 65,279 stand in the first section's size */
        r->nsections = (unsigned)MG_MIN(read_le(p + r->sections + 32, 8), (uint64_t)MAX_SECTIONS);
    if (r->names == 0xffff)
        r->names = read_le(p + r->sections + 40, 4);
    return r->nsections <= (r->size - r->sections) / SECTION;
}

/* Machine code keeps its device in the flags: in the second byte since CUDA 13, in the first before. */
static unsigned device_of(const uint8_t *p)
{
    uint32_t flags = (uint32_t)read_le(p + 48, 4);
    return p[8] >= 8 ? flags >> 8 & 0xff : flags & 0xff;
}

/* ---- records ---- */
struct kernel {
    struct mg_cubin_kernel k;
    uint32_t symbol;
    bool has_regs;
};
struct kernels {
    struct kernel *at, **by_symbol;
    size_t count;
    struct mg_strtab by_name;
};

static void apply(struct kernel *k, unsigned kind, const uint8_t *value, size_t size)
{
    switch (kind) {
    case KIND_MAX_THREADS:
    case KIND_REQUIRED_THREADS:
        if (size >= 12) {
            uint64_t threads = read_le(value, 4) * MG_MAX(read_le(value + 4, 4), 1);
            threads = threads > UINT32_MAX ? threads : threads * MG_MAX(read_le(value + 8, 4), 1);
            uint32_t most = (uint32_t)MG_MIN(threads, (uint64_t)UINT32_MAX);
            if (most && (!k->k.max_threads || most < k->k.max_threads))
                k->k.max_threads = most;
        }
        break;
    case KIND_PARAM_BYTES:
        if (size >= 2)
            k->k.param_bytes = (uint32_t)read_le(value, 2);
        break;
    case KIND_BARRIERS:
        if (size >= 1)
            k->k.barriers = value[0];
        break;
    }
}

/* Calls `see` for every record; false: they do not fit the section. */
static bool records(const struct section *s, void (*see)(void *arg, unsigned kind, const uint8_t *value, size_t size),
                    void *arg)
{
    uint64_t at = 0;
    while (s->at && s->size - at >= 4) {
        unsigned form = s->at[at], kind = s->at[at + 1];
        const uint8_t *value = s->at + at + 2;
        uint64_t size = 2;
        if (form < 1 || form > 4)
            return false;
        if (form == 4) {
            size = read_le(value, 2);
            value += 2;
            at += 2;
        }
        at += 2;
        if (size > s->size - at)
            return false;
        see(arg, kind, value, (size_t)size);
        at += size;
    }
    return true;
}

static void see_own(void *arg, unsigned kind, const uint8_t *value, size_t size)
{
    apply(arg, kind, value, size);
}

static int by_symbol(const void *a, const void *b)
{
    uint32_t x = (*(struct kernel *const *)a)->symbol, y = (*(struct kernel *const *)b)->symbol;
    return x < y ? -1 : x > y;
}

static void see_common(void *arg, unsigned kind, const uint8_t *value, size_t size)
{
    struct kernels *all = arg;
    if (size < 8 || (kind != KIND_REGISTERS && kind != KIND_FRAME))
        return;
    struct kernel wanted = {.symbol = (uint32_t)read_le(value, 4)}, *key = &wanted;
    struct kernel **k = bsearch(&key, all->by_symbol, all->count, sizeof(*all->by_symbol), by_symbol);
    uint32_t number = (uint32_t)read_le(value + 4, 4);
    if (k && kind == KIND_FRAME) {
        (*k)->k.frame = number;
    } else if (k) {
        (*k)->k.regs = number;
        (*k)->has_regs = true;
    }
}

/* Kernels are functions (STT_FUNC) with the entry bit in st_other; device functions have code sections of their own
 * too. */
static bool is_entry(const struct reader *r, uint32_t table, uint32_t symbol)
{
    struct section s;
    uint64_t name;
    if (!raw_section(r, table, &s, &name) || !s.at || symbol >= s.size / SYMBOL)
        return false;
    return s.at[(uint64_t)symbol * SYMBOL + 5] & 0x10;
}

static enum mg_status find_kernels(const struct reader *r, struct mg_arena *arena, struct kernels *all)
{
    struct section s;
    size_t count = 0;
    for (unsigned i = 0; i < r->nsections; i++)
        count += get_section(r, i, &s) && after(s.name, ".text.");
    all->at = mg__arena_array(arena, MG_MAX(count, (size_t)1), sizeof(*all->at));
    all->by_symbol = mg__arena_array(arena, MG_MAX(count, (size_t)1), sizeof(*all->by_symbol));
    mg__strtab_init(&all->by_name, arena);
    if (!all->at || !all->by_symbol)
        return MG_ERR_NOMEM;
    for (unsigned i = 0; i < r->nsections && all->count < count; i++) {
        const char *name = get_section(r, i, &s) ? after(s.name, ".text.") : NULL;
        if (!name || !is_entry(r, s.link, s.info & 0xffffff))
            continue;
        struct kernel *k = &all->at[all->count];
        all->by_symbol[all->count++] = k;
        k->k.name = mg__arena_strdup(arena, name);
        k->symbol = k->k.symbol = s.info & 0xffffff;
        k->k.regs = s.info >> 24;
        k->has_regs = k->k.regs != 0;
        if (!k->k.name || !mg__strtab_put(&all->by_name, k->k.name, strlen(k->k.name), k))
            return MG_ERR_NOMEM;
    }
    qsort(all->by_symbol, all->count, sizeof(*all->by_symbol), by_symbol);
    return MG_OK;
}

static struct kernel *of_section(const struct kernels *all, const char *name, const char *prefix)
{
    const char *own = after(name, prefix);
    return own ? mg__strtab_get(&all->by_name, own, strlen(own)) : NULL;
}

enum mg_status mg__cubin_read(const void *data, size_t size, struct mg_arena *arena, struct mg_cubin *cubin,
                              struct mg_diag *diag)
{
    struct reader r = {.data = data, .size = size, .diag = diag};
    struct kernels all = {0};
    struct section s;
    memset(cubin, 0, sizeof(*cubin));
    if (!data || !open_file(&r))
        return corrupt(&r, "it is no ELF file of a CUDA device");
    cubin->cc = device_of(data);
    cubin->linked = read_le((const uint8_t *)data + 16, 2) == TYPE_EXEC;
    enum mg_status status = find_kernels(&r, arena, &all);
    if (status)
        return mg__diag_set(diag, status, "out of memory for the program's machine code");
    for (unsigned i = 0; i < r.nsections; i++) {
        struct kernel *k;
        if (!get_section(&r, i, &s))
            return corrupt(&r, "a section reaches past the end");
        if (!strcmp(s.name, ".nv.info") && !records(&s, see_common, &all))
            return corrupt(&r, ".nv.info does not hold together");
        k = of_section(&all, s.name, ".nv.info.");
        if (k && !records(&s, see_own, k))
            return corrupt(&r, "a kernel's .nv.info does not hold together");
        k = of_section(&all, s.name, ".nv.shared.");
        if (k) {
            uint64_t reserved = cubin->cc >= 90 && s.size >= 1024 ? 1024 : 0;
            k->k.shared_static = (uint32_t)MG_MIN(s.size - reserved, (uint64_t)UINT32_MAX);
        }
    }
    cubin->kernels = mg__arena_array(arena, MG_MAX(all.count, (size_t)1), sizeof(*cubin->kernels));
    if (!cubin->kernels)
        return mg__diag_set(diag, MG_ERR_NOMEM, "out of memory for the program's machine code");
    for (size_t i = 0; i < all.count; i++)
        if (all.at[i].has_regs)
            cubin->kernels[cubin->nkernels++] = all.at[i].k;
    return MG_OK;
}

const struct mg_cubin_kernel *mg__cubin_find(const struct mg_cubin *cubin, const char *name)
{
    for (size_t i = 0; i < cubin->nkernels; i++)
        if (!strcmp(cubin->kernels[i].name, name))
            return &cubin->kernels[i];
    return NULL;
}
