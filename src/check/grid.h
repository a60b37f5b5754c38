/* grid.h - a cell of grid.c, taken apart, for grid.c, ordered.c and mixed.c. */
#ifndef MG_CHECK_GRID_H
#define MG_CHECK_GRID_H
#include "check/check_priv.h"

enum { ENTRY_BITS = 28, FLAG_BUSY = 56, FLAG_STRONG = 57, FLAG_SPLIT = 58, FLAG_ALONE = 58, FLAG_MIXED = 59 };
#define ENTRY_MASK ((1ull << ENTRY_BITS) - 1)
enum { PLAIN_WRITE, PLAIN_READ, STRONG_WRITE, STRONG_READ, VOLATILE_WRITE, VOLATILE_READ };

/* Of a cell with FLAG_ALONE, in the place of the second entry: what the one block did with which bytes. */
struct alone {
    uint8_t read, value; /* bytes read: a bit each; value: as a touch's, of what it wrote */
    uint16_t site;       /* the lowest that read */
};
static inline struct alone alone_in(uint64_t cell)
{
    return (struct alone){(uint8_t)(cell & 15), (uint8_t)(cell >> 4), (uint16_t)(cell >> 12 & 0xfff)};
}
static inline uint64_t alone_of(struct alone a)
{
    return a.read | (uint64_t)a.value << 4 | (uint64_t)a.site << 12 | 1ull << FLAG_ALONE;
}
/* An entry: its kind, its block and its site; in order also how many fences the block had gone through. */
static inline uint64_t entry_of(const struct launch *l, unsigned kind, uint64_t block, uint32_t number)
{
    uint32_t site = MG_MIN(number, (1u << l->site_bits) - 1);
    uint64_t key = (uint64_t)kind << (ENTRY_BITS - l->kind_bits) |
                   (block >> l->block_shift) << (l->site_bits + l->epoch_bits) | (uint64_t)site << l->epoch_bits;
    return key;
}
static inline unsigned kind_in(const struct launch *l, uint64_t entry)
{
    return (unsigned)(entry >> (ENTRY_BITS - l->kind_bits)) & ((1u << l->kind_bits) - 1);
}
static inline uint64_t block_in(const struct launch *l, uint64_t entry)
{
    return entry >> (l->site_bits + l->epoch_bits) & ((1ull << l->block_bits) - 1);
}
static inline uint32_t insn_in(const struct launch *l, uint64_t entry)
{
    uint32_t site = (uint32_t)(entry >> l->epoch_bits) & ((1u << l->site_bits) - 1);
    return site && site <= l->code.nnumbers ? l->code.insn_of[site] : NO_INSN;
}

static inline bool is_write(unsigned kind)
{
    return kind == PLAIN_WRITE || kind == STRONG_WRITE || kind == VOLATILE_WRITE;
}

static inline struct actor some_thread(uint64_t block)
{
    return (struct actor){.block = block, .lane = 0xff};
}

/* Only launches in order have volatile reads. */
static inline unsigned cell_kind(const struct launch *l, const struct site *s, bool write)
{
    if (s->letter && l->pedantic)
        return PLAIN_READ;
    if (s->class >= MG_ORDER_STRONG && !s->in_block)
        return write ? STRONG_WRITE : STRONG_READ;
    if (s->class == MG_ORDER_VOLATILE && l->ordered)
        return write ? VOLATILE_WRITE : VOLATILE_READ;
    return write ? PLAIN_WRITE : PLAIN_READ;
}

/* A lock's or a ticket's volatile writes follow one another. */
static inline bool kinds_race(unsigned a, unsigned b)
{
    if (!is_write(a) && !is_write(b))
        return false;
    if (a < STRONG_WRITE || b < STRONG_WRITE)
        return true;
    return a >= VOLATILE_WRITE && b >= VOLATILE_WRITE && a != b;
}

static inline bool of_block_scope(const struct launch *l, uint32_t insn)
{
    return insn != NO_INSN && l->code.sites[insn].in_block;
}

/* Two accesses of different blocks, of these kinds. */
void mg__grid_note(struct worker *w, const struct launch *l, int32_t object, uint64_t offset, uint32_t width,
                   unsigned kind_a, uint32_t insn_a, struct actor a, unsigned kind_b, uint32_t insn_b, struct actor b,
                   bool differs);

/* ---- ordered.c: launches whose blocks run in order ---- */
void mg__ordered_touch(struct worker *w, int32_t object, const struct touch *t, uint32_t insn, struct actor who);
/* Words of an access: what there is to know for all of them, and of the last one. */
struct ordered_words {
    struct touch touch; /* its `who` and `site` */
    uint64_t entry, wrote, read;      /* wrote, read: the last word's, or those before that were alike in these bits: */
    uint32_t writer;                  /* of `wrote`, if some release lacks a warp's writes */
    uint64_t same;                    /* all but the site's */
    bool free_of_write, free_of_read; /* no conflict with these */
    bool follows_read; /* a read that this one may stand for */
};
void mg__ordered_words_begin(struct worker *w, const struct mg_access *a, const struct site *site,
                             struct ordered_words *o);
/* As mg__ordered_touch, of whole words, from the first on while there is nothing to tell: how many. */
size_t mg__ordered_words(struct launch *l, struct region *r, struct ordered_words *o, const uint32_t *words, size_t n);

/* ---- mixed.c: words that blocks share by bytes ---- */
bool mg__mixed_begin(struct launch *l);
void mg__mixed_end(struct launch *l);
/* `before`: the cell as it was. */
void mg__mixed_touch(struct worker *w, int32_t object, const struct touch *t, uint32_t insn, uint64_t before);
void mg__mixed_collect(struct worker *w);
#endif
