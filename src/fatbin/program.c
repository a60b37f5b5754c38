/* program.c - finds the device code in a file and reads what its kernels take.
 *
 * nvcc puts the containers of a program one after another into the section .nv_fatbin (those of relocatable objects,
 * which the device linker has used up, into another, which is left alone). A file without such a section, stripped of
 * its section table for instance, is searched for containers as a whole. Each container is one source file; of each the
 * machine code for the device, or nearest to it, is read. Where that is code that the device does not run, its driver
 * would compile the container's PTX, so that is brought along.
 */
#include "fatbin/program.h"

enum { ELF_HEADER = 64, ELF_SECTION = 64, CONTAINER = 16, MAX_KERNELS = 1 << 20, MAX_TEXTS = 4096 };
#define MAX_FILE ((size_t)2 << 30)

struct found {
    unsigned cc;
    struct mg_arena *arena;
    MG_VEC(struct mg_program_kernel) kernels;
    MG_VEC(struct mg_program_text) texts;
    bool any;
    bool (*see)(void *arg, const void *cubin, size_t size); /* set: the code is for it, and nothing is kept */
    void *see_arg;
    bool stop;
};

static uint64_t read_le(const uint8_t *p, unsigned bytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value |= (uint64_t)p[i] << (8 * i);
    return value;
}

static enum mg_status add_cubin(struct found *f, const void *data, size_t size, unsigned sm, struct mg_diag *diag)
{
    struct mg_cubin cubin;
    enum mg_status status = mg__cubin_read(data, size, f->arena, &cubin, diag);
    if (status)
        return status;
    for (size_t i = 0; i < cubin.nkernels && f->kernels.count < MAX_KERNELS; i++) {
        unsigned cc = sm ? sm : cubin.cc;
        struct mg_program_kernel k = {cubin.kernels[i], cc, cc / 10 != f->cc / 10 || cc > f->cc};
        if (!mg__vec_push(&f->kernels, k))
            return mg__diag_set(diag, MG_ERR_NOMEM, "out of memory for the program's kernels");
    }
    f->any = true;
    return MG_OK;
}

/* PTX for the device, if there is any. */
static enum mg_status add_text(struct found *f, const void *data, size_t size, struct mg_diag *diag)
{
    struct mg_fatbin_entry entry;
    struct mg_program_text text;
    enum mg_status status =
        f->texts.count < MAX_TEXTS ? mg__fatbin_choose(data, size, f->cc, &entry, diag) : MG_ERR_NO_PTX;
    if (status == MG_ERR_NO_PTX)
        return MG_OK; /* whether there is anything at all is asked at the end */
    if (!status)
        status = mg__fatbin_text(&entry, &text.at, &text.length, diag);
    if (status)
        return status;
    if (mg__vec_push(&f->texts, text))
        return MG_OK;
    free(text.at);
    return mg__diag_set(diag, MG_ERR_NOMEM, "out of memory for the program's PTX");
}

static enum mg_status add_container(struct found *f, const void *data, size_t size, struct mg_diag *diag)
{
    struct mg_fatbin_entry entry;
    char *bytes;
    size_t length;
    bool runs = mg__fatbin_code(data, size, f->cc, true, &entry, diag) == MG_OK;
    if (f->see && !runs)
        return MG_OK;
    enum mg_status status = runs ? MG_OK : mg__fatbin_code(data, size, f->cc, false, &entry, diag);
    if (status == MG_OK) {
        status = mg__fatbin_unpack(&entry, &bytes, &length, diag);
        if (status)
            return status;
        if (f->see && mg__cubin_is(bytes, length))
            f->stop = !f->see(f->see_arg, bytes, length);
        else
            status = mg__cubin_is(bytes, length) ? add_cubin(f, bytes, length, entry.sm, diag) : MG_OK;
        free(bytes);
    } else if (status == MG_ERR_NOT_FOUND) {
        status = MG_OK;
    }
    return status || runs ? status : add_text(f, data, size, diag);
}

static bool is_container(const uint8_t *p, size_t left)
{
    return left >= CONTAINER && read_le(p, 4) == 0xba55ed50u && read_le(p + 4, 2) == 1 &&
           read_le(p + 6, 2) >= CONTAINER && read_le(p + 6, 2) <= left && read_le(p + 8, 8) <= left - read_le(p + 6, 2);
}

static enum mg_status add_region(struct found *f, const uint8_t *p, size_t size, struct mg_diag *diag)
{
    for (size_t at = 0; at < size && !f->stop;) {
        if (!is_container(p + at, size - at)) {
            at += 8 - at % 8;
            continue;
        }
        enum mg_status status = add_container(f, p + at, size - at, diag);
        if (status)
            return status;
        at += (size_t)(read_le(p + at + 6, 2) + read_le(p + at + 8, 8));
        at = (at + 7) / 8 * 8;
    }
    return MG_OK;
}

/* The bytes of section .nv_fatbin of a 64-bit ELF file; false: none. */
static bool find_section(const uint8_t *p, size_t size, size_t *offset, size_t *length)
{
    if (size < ELF_HEADER || memcmp(p, "\177ELF\2\1", 6) || read_le(p + 58, 2) != ELF_SECTION)
        return false;
    uint64_t table = read_le(p + 40, 8), count = read_le(p + 60, 2), names = read_le(p + 62, 2);
    if (table > size || count > (size - table) / ELF_SECTION || names >= count)
        return false;
    const uint8_t *n = p + table + names * ELF_SECTION;
    uint64_t strings = read_le(n + 24, 8), nstrings = read_le(n + 32, 8);
    static const char wanted[] = ".nv_fatbin";
    if (strings > size || nstrings > size - strings)
        return false;
    for (uint64_t i = 0; i < count; i++) {
        const uint8_t *s = p + table + i * ELF_SECTION;
        uint64_t name = read_le(s, 4), at = read_le(s + 24, 8), bytes = read_le(s + 32, 8);
        if (nstrings < sizeof(wanted) || name > nstrings - sizeof(wanted) ||
            memcmp(p + strings + name, wanted, sizeof(wanted)) || at > size || bytes > size - at)
            continue;
        *offset = (size_t)at;
        *length = (size_t)bytes;
        return true;
    }
    return false;
}

enum mg_status mg__program_read_bytes(const void *data, size_t size, unsigned cc, struct mg_arena *arena,
                                      struct mg_program *program, struct mg_diag *diag)
{
    struct found f = {.cc = cc, .arena = arena};
    size_t offset = 0, length = size;
    enum mg_status status;
    memset(program, 0, sizeof(*program));
    if (mg__cubin_is(data, size)) {
        status = add_cubin(&f, data, size, 0, diag);
    } else {
        find_section(data, size, &offset, &length);
        status = add_region(&f, (const uint8_t *)data + offset, length, diag);
    }
    if (!status && f.kernels.count) {
        program->kernels = mg__arena_array(arena, f.kernels.count, sizeof(*program->kernels));
        if (program->kernels) {
            memcpy(program->kernels, f.kernels.at, f.kernels.count * sizeof(*program->kernels));
            program->nkernels = f.kernels.count;
        } else {
            status = mg__diag_set(diag, MG_ERR_NOMEM, "out of memory for the program's kernels");
        }
    }
    mg__vec_free(&f.kernels);
    program->texts = f.texts.at;
    program->ntexts = f.texts.count;
    if (!status && !f.any && !program->ntexts)
        status = mg__diag_set(diag, MG_ERR_NO_PTX, "there is no device code in it");
    if (status)
        mg__program_free_texts(program);
    return status;
}

void mg__program_free_texts(struct mg_program *program)
{
    for (size_t i = 0; i < program->ntexts; i++)
        free(program->texts[i].at);
    free(program->texts);
    program->texts = NULL;
    program->ntexts = 0;
}

enum mg_status mg__program_read(const char *path, unsigned cc, struct mg_arena *arena, struct mg_program *program,
                                struct mg_diag *diag)
{
    char *data;
    size_t size;
    memset(program, 0, sizeof(*program));
    enum mg_status status = mg__file_read(path, MAX_FILE, &data, &size, diag);
    if (status)
        return status;
    status = mg__program_read_bytes(data, size, cc, arena, program, diag);
    free(data);
    return status;
}

enum mg_status mg__program_code(const char *path, unsigned cc, bool (*see)(void *arg, const void *cubin, size_t size),
                                void *arg, struct mg_diag *diag)
{
    struct found f = {.cc = cc, .see = see, .see_arg = arg};
    char *data;
    size_t size, offset = 0, length;
    enum mg_status status = mg__file_read(path, MAX_FILE, &data, &size, diag);
    if (status)
        return status;
    length = size;
    find_section((const uint8_t *)data, size, &offset, &length);
    status = add_region(&f, (const uint8_t *)data + offset, length, diag);
    free(data);
    return status;
}
