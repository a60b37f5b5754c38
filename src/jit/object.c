/* object.c - kept code made ready to run: tables checked, sections laid out in memory, addresses filled in.
 *
 * The code generator makes position-independent code that calls nothing by name, so that what an object file asks for
 * is little: distances between its own sections, and `fma` where the processor has none. Anything else is refused, and
 * the kernel runs interpreted. Every offset is checked: the bytes may come from a file that was damaged.
 */
#include <elf.h>
#include <math.h>
#include <sys/mman.h>
#include <unistd.h>

#include "jit/jit_priv.h"

struct loaded {
    struct mg_engine_code code;
    void *tables;
    uint8_t *memory;
    size_t size;
};
struct object {
    const uint8_t *bytes;
    size_t size;
    const Elf64_Ehdr *header;
    const Elf64_Shdr *sections;
    uint64_t *at; /* by section: offset in memory */
    uint64_t jumps; /* behind the sections, to `outside` */
};

/* What code may call outside of itself: it may be over 2 GB away, and each has a jump in the code's own memory. */
static const struct {
    const char *name;
    double (*function)(double, double, double);
} outside[] = {{"fma", fma}};
#define JUMP 16 /* bytes */

static bool inside(const struct object *o, uint64_t offset, uint64_t size)
{
    return offset <= o->size && size <= o->size - offset;
}

static bool parse(struct object *o)
{
    if (o->size < sizeof *o->header || memcmp(o->bytes, ELFMAG, SELFMAG) != 0)
        return false;
    o->header = (const void *)o->bytes;
    if (o->header->e_ident[EI_CLASS] != ELFCLASS64 || o->header->e_type != ET_REL ||
        o->header->e_machine != EM_X86_64 || o->header->e_shentsize != sizeof(Elf64_Shdr) || o->header->e_shoff % 8 ||
        !inside(o, o->header->e_shoff, (uint64_t)o->header->e_shnum * sizeof(Elf64_Shdr)))
        return false;
    o->sections = (const void *)(o->bytes + o->header->e_shoff);
    for (unsigned s = 0; s < o->header->e_shnum; s++)
        if (o->sections[s].sh_type != SHT_NOBITS && !inside(o, o->sections[s].sh_offset, o->sections[s].sh_size))
            return false;
    return true;
}

static bool wanted(const Elf64_Shdr *s)
{
    return s->sh_flags & SHF_ALLOC && (s->sh_type == SHT_PROGBITS || s->sh_type == SHT_NOBITS) &&
           s->sh_type != SHT_X86_64_UNWIND;
}

static uint64_t lay_out(struct object *o)
{
    uint64_t top = 0;
    for (unsigned s = 0; s < o->header->e_shnum; s++) {
        const Elf64_Shdr *h = &o->sections[s];
        if (!wanted(h))
            continue;
        uint64_t align = h->sh_addralign ? h->sh_addralign : 1;
        if (align > 4096 || align & (align - 1) || h->sh_size > 1u << 28 || top > 1u << 28)
            return 0;
        o->at[s] = (top + align - 1) & ~(align - 1);
        top = o->at[s] + h->sh_size;
    }
    return top;
}

static const Elf64_Sym *symbols(const struct object *o, unsigned section, size_t *n)
{
    if (section >= o->header->e_shnum || o->sections[section].sh_type != SHT_SYMTAB ||
        o->sections[section].sh_offset % 8)
        return NULL;
    *n = o->sections[section].sh_size / sizeof(Elf64_Sym);
    return (const void *)(o->bytes + o->sections[section].sh_offset);
}

static bool is_named(const struct object *o, unsigned section, const Elf64_Sym *sym, const char *name)
{
    const uint32_t strings = o->sections[section].sh_link;
    const size_t size = strlen(name) + 1;
    if (strings >= o->header->e_shnum || o->sections[strings].sh_type != SHT_STRTAB)
        return false;
    const Elf64_Shdr *h = &o->sections[strings];
    return sym->st_name < h->sh_size && h->sh_size - sym->st_name >= size &&
           memcmp(o->bytes + h->sh_offset + sym->st_name, name, size) == 0;
}

/* `section`: the symbol's table. */
static bool place(const struct object *o, unsigned section, const Elf64_Sym *sym, uint64_t *at)
{
    for (unsigned k = 0; k < MG_COUNT(outside) && sym->st_shndx == SHN_UNDEF; k++)
        if (is_named(o, section, sym, outside[k].name)) {
            *at = o->jumps + k * (uint64_t)JUMP;
            return true;
        }
    if (sym->st_shndx == SHN_UNDEF || sym->st_shndx >= o->header->e_shnum || !wanted(&o->sections[sym->st_shndx]))
        return false;
    *at = o->at[sym->st_shndx] + sym->st_value;
    return sym->st_value <= o->sections[sym->st_shndx].sh_size;
}

static bool relocate(const struct object *o, const Elf64_Shdr *table, uint8_t *memory)
{
    size_t nsyms = 0;
    const Elf64_Sym *syms = symbols(o, table->sh_link, &nsyms);
    if (table->sh_info >= o->header->e_shnum)
        return false;
    const Elf64_Shdr *target = &o->sections[table->sh_info];
    if (!wanted(target))
        return true;
    if (!syms || table->sh_offset % 8)
        return false;
    const Elf64_Rela *r = (const void *)(o->bytes + table->sh_offset);
    for (size_t k = 0; k < table->sh_size / sizeof *r; k++) {
        uint64_t to, where = o->at[table->sh_info] + r[k].r_offset,
                     size = ELF64_R_TYPE(r[k].r_info) == R_X86_64_64 ? 8 : 4;
        if (ELF64_R_SYM(r[k].r_info) >= nsyms || !place(o, table->sh_link, &syms[ELF64_R_SYM(r[k].r_info)], &to) ||
            r[k].r_offset > target->sh_size || size > target->sh_size - r[k].r_offset)
            return false;
        to += (uint64_t)r[k].r_addend;
        if (ELF64_R_TYPE(r[k].r_info) == R_X86_64_PC32 || ELF64_R_TYPE(r[k].r_info) == R_X86_64_PLT32) {
            uint32_t distance = (uint32_t)(to - where);
            memcpy(memory + where, &distance, 4);
        } else if (ELF64_R_TYPE(r[k].r_info) == R_X86_64_64) {
            uint64_t address = (uint64_t)(uintptr_t)memory + to;
            memcpy(memory + where, &address, 8);
        } else {
            return false;
        }
    }
    return true;
}

/* jmp *0(%rip), and behind it where to. */
static void write_jumps(uint8_t *to)
{
    static const uint8_t jump[6] = {0xff, 0x25};
    for (unsigned k = 0; k < MG_COUNT(outside); k++, to += JUMP) {
        memcpy(to, jump, sizeof jump);
        memcpy(to + sizeof jump, &outside[k].function, 8);
    }
}

static bool link_object(struct loaded *l, const uint8_t *bytes, size_t size)
{
    struct object o = {.bytes = bytes, .size = size};
    bool good = false;
    if (!parse(&o) || !(o.at = calloc(o.header->e_shnum + 1u, sizeof *o.at)))
        return false;
    uint64_t top = lay_out(&o), page = (uint64_t)sysconf(_SC_PAGESIZE), run = UINT64_MAX, some = UINT64_MAX;
    if (top == 0)
        goto done;
    o.jumps = (top + JUMP - 1) / JUMP * JUMP;
    l->size = (o.jumps + MG_COUNT(outside) * JUMP + page - 1) / page * page;
    l->memory = mmap(NULL, l->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (l->memory == MAP_FAILED) {
        l->memory = NULL;
        goto done;
    }
    write_jumps(l->memory + o.jumps);
    for (unsigned s = 0; s < o.header->e_shnum; s++)
        if (wanted(&o.sections[s]) && o.sections[s].sh_type == SHT_PROGBITS)
            memcpy(l->memory + o.at[s], bytes + o.sections[s].sh_offset, o.sections[s].sh_size);
    for (unsigned s = 0; s < o.header->e_shnum; s++) {
        if (o.sections[s].sh_type == SHT_RELA && !relocate(&o, &o.sections[s], l->memory))
            goto done;
        size_t n = 0;
        const Elf64_Sym *syms = symbols(&o, s, &n);
        for (size_t k = 0; syms && k < n; k++)
            if (ELF64_ST_TYPE(syms[k].st_info) == STT_FUNC && ELF64_ST_BIND(syms[k].st_info) == STB_GLOBAL &&
                /* any function but `some` is `run` */
                !place(&o, s, &syms[k], is_named(&o, s, &syms[k], "some") ? &some : &run))
                goto done;
    }
    good = run < top && mprotect(l->memory, l->size, PROT_READ | PROT_EXEC) == 0;
    if (good) {
        void *at = l->memory + run;
        memcpy(&l->code.run, &at, sizeof at);
        at = l->memory + some;
        if (some < top)
            memcpy(&l->code.some, &at, sizeof at);
    }
done:
    free(o.at);
    return good;
}

struct mg_engine_code *mg__jit_load(const void *bytes, size_t size)
{
    struct mg_jit_header h;
    if (size < sizeof h)
        return NULL;
    memcpy(&h, bytes, sizeof h);
    const uint32_t counts[] = {h.npoints, h.nforms, h.nopens, h.nsites, h.nmembers, h.nlevels, h.nsomes};
    const size_t each[] = {sizeof(struct mg_engine_point),
                           sizeof(struct mg_engine_form),
                           sizeof(struct mg_engine_open),
                           sizeof(struct mg_engine_site),
                           sizeof(struct mg_engine_member),
                           sizeof(struct mg_engine_level),
                           sizeof(uint32_t)};
    size_t tables = 0, room = 0, from[7], at[7]; /* in memory every table is aligned */
    for (unsigned k = 0; k < 7; k++) {
        from[k] = tables;
        tables += counts[k] * each[k];
        at[k] = room;
        room += (counts[k] * each[k] + 15) / 16 * 16;
    }
    const bool rows = h.row >= 2 && h.row <= 32 && (h.row & (h.row - 1)) == 0;
    if (h.magic != MG_JIT_MAGIC || h.version != MG_JIT_VERSION || h.engine != MG_ENGINE_VERSION || !rows ||
        h.ncells > 1u << 24 || tables > size - sizeof h || h.object != size - sizeof h - tables ||
        h.check != mg__hash((const char *)bytes + sizeof h, size - sizeof h))
        return NULL;
    struct loaded *l = calloc(1, sizeof *l);
    char *copy = l ? malloc(room + 1) : NULL;
    uint8_t *object = copy ? aligned_alloc(64, (h.object + 127) / 64 * 64) : NULL;
    if (l)
        l->tables = copy;
    if (object) {
        for (unsigned k = 0; k < 7; k++)
            memcpy(copy + at[k], (const char *)bytes + sizeof h + from[k], counts[k] * each[k]);
        memcpy(object, (const char *)bytes + sizeof h + tables, h.object);
        l->code = (struct mg_engine_code){.points = (const void *)(copy + at[0]),
                                          .forms = (const void *)(copy + at[1]),
                                          .opens = (const void *)(copy + at[2]),
                                          .sites = (const void *)(copy + at[3]),
                                          .members = (const void *)(copy + at[4]),
                                          .levels = (const void *)(copy + at[5]),
                                          .somes = (const void *)(copy + at[6]),
                                          .npoints = h.npoints,
                                          .nforms = h.nforms,
                                          .nopens = h.nopens,
                                          .nsites = h.nsites,
                                          .nmembers = h.nmembers,
                                          .nlevels = h.nlevels,
                                          .nsomes = h.nsomes,
                                          .ncells = h.ncells,
                                          .row = h.row,
                                          .memory = l};
    }
    bool good = object && link_object(l, object, h.object);
    free(object);
    for (uint32_t s = 0; good && s < h.nsites; s++)
        l->code.nshapes = MG_MAX(l->code.nshapes, l->code.sites[s].shape);
    if (good)
        return &l->code;
    if (l)
        mg__jit_unload(&l->code);
    return NULL;
}

void mg__jit_unload(struct mg_engine_code *code)
{
    struct loaded *l = (struct loaded *)(void *)code;
    if (l->memory)
        munmap(l->memory, l->size);
    free(l->tables);
    free(l);
}
