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
 *   .nv_debug_line_sass  a line program as DWARF 2 has it, of all kernels: from which line of the PTX text
 *                     instructions come. Its addresses are what .rela.nv_debug_line_sass says
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

/* ---- lines ---- */
struct lines {
    const uint8_t *at, *end, *base;
    struct section rela, symbols;
    const struct reader *r;
    struct kernels *all;
    struct mg_arena *arena;
    struct kernel *kernel; /* of this sequence */
    uint32_t *line;        /* its own */
    uint64_t address;      /* in the kernel */
    int64_t number;
    uint64_t shown; /* rows up to here are written, and the line from here on */
    int64_t shown_line;
};

static uint64_t read_leb(struct lines *l, bool negative)
{
    uint64_t value = 0;
    for (unsigned shift = 0; l->at < l->end && shift < 64; shift += 7) {
        uint8_t byte = *l->at++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte & 0x80)
            continue;
        if (negative && byte & 0x40 && shift + 7 < 64)
            value |= ~UINT64_C(0) << (shift + 7);
        break;
    }
    return value;
}

/* A new row: what lies before it has the line of the row before. */
static void show_row(struct lines *l)
{
    for (uint64_t k = l->shown / 16; l->line && k < l->address / 16 && k < l->kernel->k.nwords; k++)
        l->line[k] = l->shown_line > 0 && l->shown_line <= INT32_MAX ? (uint32_t)l->shown_line : 0;
    l->shown = l->address;
    l->shown_line = l->number;
}

/* Whose code begins at the address that stands here: the relocation's symbol lies in its section. */
static void set_address(struct lines *l)
{
    uint64_t offset = (uint64_t)(l->at - l->base);
    l->kernel = NULL;
    l->line = NULL;
    l->address = l->shown = 0;
    for (uint64_t k = 0; k + 24 <= l->rela.size; k += 24) {
        const uint8_t *entry = l->rela.at + k;
        uint64_t symbol = read_le(entry + 8, 8) >> 32;
        struct section s;
        if (read_le(entry, 8) != offset || symbol >= l->symbols.size / SYMBOL)
            continue;
        const uint8_t *at = l->symbols.at + symbol * SYMBOL;
        if (!get_section(l->r, (unsigned)read_le(at + 6, 2), &s) || !after(s.name, ".text.") || !s.at)
            return;
        const char *name = after(s.name, ".text.");
        l->kernel = mg__strtab_get(&l->all->by_name, name, strlen(name));
        l->address = l->shown = read_le(entry + 16, 8) + read_le(at + 8, 8);
    }
    if (!l->kernel)
        return;
    struct mg_cubin_kernel *k = &l->kernel->k;
    if (!k->lines && k->nwords)
        k->lines = mg__arena_array(l->arena, k->nwords, sizeof(*k->lines));
    l->line = (uint32_t *)k->lines;
}

enum {
    EXTENDED = 0,
    COPY_ROW = 1,
    ADVANCE = 2,
    ADVANCE_LINE = 3,
    SET_FILE = 4,
    SET_COLUMN = 5,
    NEGATE = 6,
    BASIC = 7,
    CONST_ADD = 8,
    FIXED_ADVANCE = 9,
    END_SEQUENCE = 1,
    SET_ADDRESS = 2
};

static void extended(struct lines *l)
{
    uint64_t size = read_leb(l, false);
    const uint8_t *next = size > (uint64_t)(l->end - l->at) ? l->end : l->at + size;
    unsigned op = size && l->at < l->end ? *l->at++ : 0;
    if (op == SET_ADDRESS && size == 9 && l->end - l->at >= 8) {
        set_address(l);
    } else if (op == END_SEQUENCE) {
        show_row(l);
        l->kernel = NULL;
        l->line = NULL;
        l->address = l->shown = 0;
        l->number = l->shown_line = 1;
    }
    l->at = next;
}

/* A number that has gone round is no line's, and is not shown. */
static void pass_lines(struct lines *l, int64_t by)
{
    l->number = (int64_t)((uint64_t)l->number + (uint64_t)by);
}

/* One unit of the line program. */
static void run_lines(struct lines *l)
{
    const uint8_t *unit = l->at;
    uint64_t size = read_le(unit, 4), header = read_le(unit + 6, 4);
    if (size < 16 || size > (uint64_t)(l->end - unit) - 4 || header > size - 6 || read_le(unit + 4, 2) != 2) {
        l->at = l->end;
        return;
    }
    const uint8_t *end = l->end;
    unsigned least = unit[10], range = unit[13], base = unit[14];
    int first = (int8_t)unit[12];
    l->end = unit + 4 + size;
    l->at = unit + 10 + header;
    l->number = l->shown_line = 1;
    while (l->at < l->end && range) {
        unsigned op = *l->at++;
        if (op >= base) {
            l->address += (uint64_t)(op - base) / range * least;
            pass_lines(l, first + (int)((op - base) % range));
            show_row(l);
        } else if (op == EXTENDED) {
            extended(l);
        } else if (op == COPY_ROW) {
            show_row(l);
        } else if (op == ADVANCE) {
            l->address += read_leb(l, false) * least;
        } else if (op == ADVANCE_LINE) {
            pass_lines(l, (int64_t)read_leb(l, true));
        } else if (op == CONST_ADD) {
            l->address += (255 - base) / range * least;
        } else if (op == FIXED_ADVANCE) {
            l->address += l->end - l->at >= 2 ? read_le(l->at, 2) : 0;
            l->at += MG_MIN(l->end - l->at, 2);
        } else if (op == SET_FILE || op == SET_COLUMN) {
            read_leb(l, false);
        }
    }
    l->at = l->end;
    l->end = end;
}

/* The kernels' instructions, and their lines. Damage ends it early: nobody needs them. */
static void read_lines(const struct reader *r, struct mg_arena *arena, struct kernels *all)
{
    struct lines l = {.r = r, .all = all, .arena = arena};
    struct section s, program = {0};
    uint64_t unused;
    for (unsigned i = 0; i < r->nsections; i++) {
        if (!get_section(r, i, &s))
            return;
        if (s.at && !strcmp(s.name, ".nv_debug_line_sass"))
            program = s;
        if (s.at && !strcmp(s.name, ".rela.nv_debug_line_sass"))
            l.rela = s;
    }
    if (!program.at || !l.rela.at || !raw_section(r, l.rela.link, &l.symbols, &unused) || !l.symbols.at)
        return;
    for (unsigned i = 0; i < r->nsections; i++) {
        const char *name = get_section(r, i, &s) ? after(s.name, ".text.") : NULL;
        struct kernel *k = name && s.at ? mg__strtab_get(&all->by_name, name, strlen(name)) : NULL;
        if (!k || s.size / 16 > UINT32_MAX / 2)
            continue;
        uint64_t(*words)[2] = mg__arena_array(arena, (size_t)(s.size / 16) + 1, sizeof(*words));
        if (!words)
            return;
        for (uint64_t w = 0; w < s.size / 16; w++) {
            words[w][0] = read_le(s.at + 16 * w, 8);
            words[w][1] = read_le(s.at + 16 * w + 8, 8);
        }
        k->k.words = (const uint64_t(*)[2])words;
        k->k.nwords = (uint32_t)(s.size / 16);
    }
    l.base = l.at = program.at;
    l.end = program.at + program.size;
    while (l.end - l.at > 16)
        run_lines(&l);
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
    read_lines(&r, arena, &all);
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
