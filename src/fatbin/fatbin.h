/* fatbin.h - the container in which nvcc puts a program's device code: PTX text and machine code, for several devices.
 *
 * All functions are safe on hostile bytes: they read inside [data, data + size) alone, and what they unpack is bounded.
 */
#ifndef MG_FATBIN_H
#define MG_FATBIN_H
#include "base/base.h"

#define MG_FATBIN_MAX_TEXT ((size_t)256 << 20) /* bytes that one entry may unpack to */

enum mg_fatbin_kind { MG_FATBIN_PTX = 1, MG_FATBIN_ELF = 2 }; /* others are skipped: LTO intermediate code, … */
enum mg_fatbin_packing { MG_FATBIN_RAW, MG_FATBIN_LZ4, MG_FATBIN_ZSTD, MG_FATBIN_UNKNOWN };

struct mg_fatbin_entry {
    unsigned kind;      /* enum mg_fatbin_kind, or a value not known here */
    unsigned sm;        /* 90: compute_90 or sm_90 */
    bool arch_specific; /* compute_90a: that device alone */
    bool family;        /* compute_100f: devices of the same major version, from this one on */
    enum mg_fatbin_packing packing;
    unsigned isa_major, isa_minor; /* PTX: the version of its language */
    const uint8_t *payload;
    size_t payload_size;  /* as stored, padding not counted where the size is known */
    size_t unpacked_size; /* the same for a raw entry */
    const char *name;     /* source file; not terminated; NULL when absent */
    size_t name_length;
    const char *options; /* of the assembler: " --fmad false "; not terminated; NULL when absent */
    size_t options_length;
};
struct mg_fatbin {
    const uint8_t *at, *end;
};

/* Looks at the header at `data`, of which at most `limit` bytes may be read. */
enum mg_status mg__fatbin_open(const void *data, size_t limit, struct mg_fatbin *fatbin, struct mg_diag *diag);
/* The next entry; MG_ERR_NOT_FOUND (diag untouched) past the last. */
enum mg_status mg__fatbin_next(struct mg_fatbin *fatbin, struct mg_fatbin_entry *entry, struct mg_diag *diag);
/* The PTX for compute capability `cc`: the highest that it can run. MG_ERR_NO_PTX: none, and the diag's hint names the
 * nvcc flag to add. */
enum mg_status mg__fatbin_choose(const void *data, size_t limit, unsigned cc, struct mg_fatbin_entry *entry,
                                 struct mg_diag *diag);
/* The machine code for `cc`: what runs there, the latest; without it, unless `exact`, the nearest. MG_ERR_NOT_FOUND
 * (diag untouched): none. */
enum mg_status mg__fatbin_code(const void *data, size_t limit, unsigned cc, bool exact, struct mg_fatbin_entry *entry,
                               struct mg_diag *diag);
/* The entry's bytes, unpacked, with a NUL after them. The caller frees *data. */
enum mg_status mg__fatbin_unpack(const struct mg_fatbin_entry *entry, char **data, size_t *length,
                                 struct mg_diag *diag);
/* Whether the options tell the assembler to fuse no product with a sum: -fmad=false, -O0, -g, in any spelling. */
bool mg__fatbin_apart(const struct mg_fatbin_entry *entry);
/* The entry's text, unpacked; a NUL follows it that *length does not count. The caller frees *text. */
enum mg_status mg__fatbin_text(const struct mg_fatbin_entry *entry, char **text, size_t *length, struct mg_diag *diag);
#endif
