/* fatbin.c - reads the fatbin container.
 *
 * The layout is NVIDIA's and undocumented; what stands here was read off the files that nvcc 12 and 13 write for every
 * --compress-mode and for many -gencode lists. All numbers are little endian.
 *
 *   container   u32 0xba55ed50, u16 version 1, u16 header size (16), u64 size of the entries that follow
 *   entry       +0  u16 kind: 1 PTX, 2 ELF           +24 u16 minor, u16 major of the PTX language (ELF: of its format)
 *               +2  u16 version 0x0101               +28 u32 device: 90
 *               +4  u32 header size, 64 or more      +32 u32 offset and +36 u32 length of the source file's name
 *               +8  u64 payload size, padded to 8    +40 u64 flags
 *               +16 u32 packed size, unpadded        +56 u64 unpacked size, 0 when stored raw
 *               +20 u32 offset of the options' place: u32 offset, u32 length of what ptxas was told, or 0
 *   flags       0x1 64-bit, 0x2 debug, 0x10 Linux, 0x2000 LZ4, 0x8000 zstd, 0x100000 "a", 0x200000 "f"
 *
 * Left out: intermediate code for link-time optimisation. What is inside machine code is cubin.c's matter.
 * Another packing is one more case in mg__fatbin_unpack.
 */
#include "fatbin/fatbin.h"

#include <lz4.h>
#include <zstd.h>

enum {
    MAGIC = 0xba55ed50u,
    CONTAINER_HEADER = 16,
    ENTRY_HEADER = 64,
};
enum {
    FLAG_OLD_PACKED = 0x1000, /* before CUDA 9: an LZ4 of its own; no compiler of today writes it */
    FLAG_LZ4 = 0x2000,
    FLAG_ZSTD = 0x8000,
    FLAG_ARCH_SPECIFIC = 0x100000,
    FLAG_FAMILY = 0x200000,
};

static uint64_t read_le(const uint8_t *p, unsigned bytes)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < bytes; i++)
        value |= (uint64_t)p[i] << (8 * i);
    return value;
}

static enum mg_status corrupt(struct mg_diag *diag, const char *what)
{
    mg__diag_set(diag, MG_ERR_SYNTAX, "the program's fatbin is corrupt: %s", what);
    mg__diag_hint(diag, "rebuild the program; a fatbin is what nvcc embeds as device code");
    return MG_ERR_SYNTAX;
}

enum mg_status mg__fatbin_open(const void *data, size_t limit, struct mg_fatbin *fatbin, struct mg_diag *diag)
{
    const uint8_t *p = data;
    fatbin->at = fatbin->end = NULL;
    if (!p || limit < CONTAINER_HEADER)
        return corrupt(diag, "shorter than its header");
    if (read_le(p, 4) != MAGIC)
        return corrupt(diag, "it does not begin with the magic number 0xba55ed50");
    if (read_le(p + 4, 2) != 1)
        return mg__diag_set(diag, MG_ERR_UNSUPPORTED, "the program's fatbin has version %u; version 1 is known",
                            (unsigned)read_le(p + 4, 2));
    size_t header = (size_t)read_le(p + 6, 2);
    uint64_t size = read_le(p + 8, 8);
    if (header < CONTAINER_HEADER || header > limit || size > limit - header)
        return corrupt(diag, "it is longer than the memory that holds it");
    fatbin->at = p + header;
    fatbin->end = p + header + size;
    return MG_OK;
}

static void find_options(const uint8_t *p, uint64_t header, struct mg_fatbin_entry *entry)
{
    uint64_t place = read_le(p + 20, 4);
    if (place < ENTRY_HEADER || place + 8 > header)
        return;
    uint64_t at = read_le(p + place, 4), length = read_le(p + place + 4, 4);
    if (length && at >= ENTRY_HEADER && at <= header && length <= header - at) {
        entry->options = (const char *)p + at;
        entry->options_length = (size_t)length;
    }
}

enum mg_status mg__fatbin_next(struct mg_fatbin *fatbin, struct mg_fatbin_entry *entry, struct mg_diag *diag)
{
    const uint8_t *p = fatbin->at;
    size_t left = (size_t)(fatbin->end - p);
    memset(entry, 0, sizeof(*entry));
    if (left == 0)
        return MG_ERR_NOT_FOUND;
    if (left < ENTRY_HEADER)
        return corrupt(diag, "its last entry is cut off");
    size_t header = (size_t)read_le(p + 4, 4);
    uint64_t padded = read_le(p + 8, 8);
    if (header < ENTRY_HEADER || header > left || padded > left - header)
        return corrupt(diag, "an entry reaches past the end");
    uint64_t packed = read_le(p + 16, 4);
    uint64_t flags = read_le(p + 40, 8);
    uint64_t unpacked = read_le(p + 56, 8);
    uint64_t name = read_le(p + 32, 4), name_length = read_le(p + 36, 4);
    entry->kind = (unsigned)read_le(p, 2);
    entry->isa_minor = (unsigned)read_le(p + 24, 2);
    entry->isa_major = (unsigned)read_le(p + 26, 2);
    entry->sm = (unsigned)read_le(p + 28, 4);
    entry->arch_specific = flags & FLAG_ARCH_SPECIFIC;
    entry->family = flags & FLAG_FAMILY;
    entry->payload = p + header;
    entry->payload_size = (size_t)padded;
    if (flags & FLAG_ZSTD)
        entry->packing = MG_FATBIN_ZSTD;
    else if (flags & FLAG_LZ4)
        entry->packing = MG_FATBIN_LZ4;
    else if (flags & FLAG_OLD_PACKED)
        entry->packing = MG_FATBIN_UNKNOWN;
    if (entry->packing != MG_FATBIN_RAW) {
        if (packed > padded)
            return corrupt(diag, "an entry's packed size is larger than the entry");
        entry->payload_size = (size_t)packed;
        entry->unpacked_size = (size_t)unpacked;
    } else {
        entry->unpacked_size = (size_t)padded;
    }
    if (name_length && name >= ENTRY_HEADER && name <= header && name_length <= header - name) {
        entry->name = (const char *)p + name;
        entry->name_length = (size_t)name_length;
    }
    find_options(p, header, entry);
    fatbin->at = p + header + padded;
    return MG_OK;
}

/* PTX of compute_X runs on X and all later devices; of compute_Xa on X alone; of compute_Xf on X and the later devices
 * of its family, which is the major version (PTX ISA, .target). */
static bool runs_on(const struct mg_fatbin_entry *entry, unsigned cc)
{
    if (entry->arch_specific)
        return entry->sm == cc;
    if (entry->family)
        return entry->sm <= cc && entry->sm / 10 == cc / 10;
    return entry->sm <= cc;
}

enum mg_status mg__fatbin_choose(const void *data, size_t limit, unsigned cc, struct mg_fatbin_entry *entry,
                                 struct mg_diag *diag)
{
    struct mg_fatbin fatbin;
    struct mg_fatbin_entry e;
    enum mg_status status = mg__fatbin_open(data, limit, &fatbin, diag);
    bool found = false, code = false, text = false;
    unsigned other = 0;
    const char *other_suffix = "";
    if (status)
        return status;
    memset(entry, 0, sizeof(*entry));
    while ((status = mg__fatbin_next(&fatbin, &e, diag)) == MG_OK) {
        if (e.kind == MG_FATBIN_ELF)
            code = true;
        if (e.kind != MG_FATBIN_PTX)
            continue;
        if (!runs_on(&e, cc)) {
            if (text && other < e.sm)
                continue;
            text = true;
            other = e.sm; /* the oldest device that runs some */
            other_suffix = e.arch_specific ? "a" : e.family ? "f" : "";
            continue;
        }
        /* Of two for one device the plain one is taken: it does without the instructions of that device alone. */
        if (!found || e.sm > entry->sm || (e.sm == entry->sm && entry->arch_specific && !e.arch_specific)) {
            *entry = e;
            found = true;
        }
    }
    if (status != MG_ERR_NOT_FOUND)
        return status;
    if (found)
        return MG_OK;
    if (text) {
        mg__diag_set(diag, MG_ERR_NO_PTX,
                     "the program's PTX is for compute_%u%s, which compute capability %u.%u cannot run", other,
                     other_suffix, cc / 10, cc % 10);
        mg__diag_hint(diag, "margay --device %u.%u simulates a device that can; or rebuild it with nvcc -arch=sm_%u",
                      other / 10, other % 10, cc);
        return MG_ERR_NO_PTX;
    } else {
        mg__diag_set(diag, MG_ERR_NO_PTX, "the program holds %s and no PTX",
                     code ? "machine code only" : "no device code that is known here");
    }
    mg__diag_hint(diag, "rebuild it with nvcc -arch=sm_%u, or add -gencode arch=compute_%u,code=compute_%u", cc, cc,
                  cc);
    return MG_ERR_NO_PTX;
}

enum mg_status mg__fatbin_unpack(const struct mg_fatbin_entry *entry, char **data, size_t *length, struct mg_diag *diag)
{
    size_t size = entry->unpacked_size;
    *data = NULL;
    *length = 0;
    if (size > MG_FATBIN_MAX_TEXT)
        return mg__diag_set(diag, MG_ERR_SYNTAX, "the program's fatbin is corrupt: an entry of %zu bytes", size);
    char *out = malloc(size + 1);
    if (!out)
        return mg__diag_set(diag, MG_ERR_NOMEM, "out of memory for %zu bytes of device code", size);
    size_t got = size;
    bool good = true;
    switch (entry->packing) {
    case MG_FATBIN_RAW:
        if (size)
            memcpy(out, entry->payload, size);
        break;
    case MG_FATBIN_LZ4: {
        int n = entry->payload_size > INT32_MAX
                    ? -1
                    : LZ4_decompress_safe((const char *)entry->payload, out, (int)entry->payload_size, (int)size);
        good = n >= 0;
        got = good ? (size_t)n : 0;
        break;
    }
    case MG_FATBIN_ZSTD:
        got = ZSTD_decompress(out, size, entry->payload, entry->payload_size);
        good = !ZSTD_isError(got);
        break;
    default:
        free(out);
        mg__diag_set(diag, MG_ERR_UNSUPPORTED, "the program's fatbin is packed in a way that is not known here");
        mg__diag_hint(diag, "rebuild it with nvcc --no-compress");
        return MG_ERR_UNSUPPORTED;
    }
    if (!good || got != size) {
        free(out);
        return corrupt(diag, "an entry does not unpack to the size that it names");
    }
    out[size] = '\0';
    *length = size;
    *data = out;
    return MG_OK;
}

enum mg_status mg__fatbin_text(const struct mg_fatbin_entry *entry, char **text, size_t *length, struct mg_diag *diag)
{
    enum mg_status status = mg__fatbin_unpack(entry, text, length, diag);
    if (!status)
        *length = strnlen(*text, *length);
    return status;
}

/* The next word of the options; '=' parts words as blanks do, and quotes are not known here. */
static bool next_word(const char **at, const char *end, const char **word, size_t *length)
{
    while (*at < end && (**at == ' ' || **at == '=' || **at == 0))
        ++*at;
    *word = *at;
    while (*at < end && **at != ' ' && **at != '=' && **at != 0)
        ++*at;
    *length = (size_t)(*at - *word);
    return *length > 0;
}

static bool is(const char *word, size_t length, const char *text)
{
    return length == strlen(text) && memcmp(word, text, length) == 0;
}

bool mg__fatbin_apart(const struct mg_fatbin_entry *entry)
{
    const char *at = entry->options, *end = at ? at + entry->options_length : at, *word, *value;
    bool fmad = true, optimised = true;
    size_t n, m;
    while (at < end && next_word(&at, end, &word, &n)) {
        if (is(word, n, "-g") || is(word, n, "--device-debug") || is(word, n, "-O0"))
            optimised = false;
        else if (n == 3 && memcmp(word, "-O", 2) == 0)
            optimised = true;
        else if (is(word, n, "-fmad") || is(word, n, "--fmad")) {
            if (next_word(&at, end, &value, &m))
                fmad = !is(value, m, "false");
        } else if (is(word, n, "-O") || is(word, n, "--opt-level") || is(word, n, "-opt-level")) {
            if (next_word(&at, end, &value, &m))
                optimised = !is(value, m, "0");
        }
    }
    return !fmad || !optimised;
}

/* Machine code of sm_X runs on X and on later minor versions of the same major one; of sm_Xa on X alone; of sm_Xf like
 * that of X. */
static bool code_runs_on(const struct mg_fatbin_entry *entry, unsigned cc)
{
    return entry->arch_specific ? entry->sm == cc : entry->sm <= cc && entry->sm / 10 == cc / 10;
}

/* Which of two is nearer to `cc`: what runs there before what does not, then the later of earlier devices, then the
 * earliest of later ones. */
static bool nearer(const struct mg_fatbin_entry *a, const struct mg_fatbin_entry *b, unsigned cc)
{
    if (code_runs_on(a, cc) != code_runs_on(b, cc))
        return code_runs_on(a, cc);
    if ((a->sm <= cc) != (b->sm <= cc))
        return a->sm <= cc;
    return a->sm <= cc ? a->sm > b->sm : a->sm < b->sm;
}

enum mg_status mg__fatbin_code(const void *data, size_t limit, unsigned cc, bool exact, struct mg_fatbin_entry *entry,
                               struct mg_diag *diag)
{
    struct mg_fatbin fatbin;
    struct mg_fatbin_entry e;
    bool found = false;
    memset(entry, 0, sizeof(*entry));
    enum mg_status status = mg__fatbin_open(data, limit, &fatbin, diag);
    if (status)
        return status;
    while ((status = mg__fatbin_next(&fatbin, &e, diag)) == MG_OK)
        if (e.kind == MG_FATBIN_ELF && (!exact || code_runs_on(&e, cc)) && (!found || nearer(&e, entry, cc))) {
            *entry = e;
            found = true;
        }
    if (status != MG_ERR_NOT_FOUND)
        return status;
    return found ? MG_OK : MG_ERR_NOT_FOUND;
}
