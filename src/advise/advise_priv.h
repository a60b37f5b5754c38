/* advise_priv.h - what the files of this room share. */
#ifndef MG_ADVISE_PRIV_H
#define MG_ADVISE_PRIV_H
#include "advise/advise.h"
#include "flow/flow.h"
#include "margay/arch.h"
#include "model/model.h"
#include "ptx/ptx.h"
#include "time/time.h"

enum {
    MG_SHAPES_KEPT = 1024,     /* different accesses of an instruction that are kept before they are sampled, */
    MG_SHAPES_LEAST = 64,      /* and as few as this where a kernel has very many instructions: */
    MG_SHAPES_ALL = 32 * 1024, /* of all instructions of a launch, about */
    MG_WALKS = 1024,           /* access sites whose threads' steps are followed */
    MG_BLOCKS_SAMPLED = 8,     /* blocks whose bytes are followed one by one */
    MG_GRAINS_KEPT = 4096,     /* (site, granule) pairs of such a block before sectors are sampled */
    MG_LANES_APART = MG_GRAINS_KEPT + 16, /* not a power of two: warps' lanes are in sets of the cache of their own */
    MG_SITES_JOINED = 64,                 /* access sites that can share a tile; further ones stand alone */
    MG_MAX_THREADS = 1024,
};

/* ---- shapes.c ---- */
enum { MG_VAR_CONST = -2, MG_SHAPES_RECENT = 32 };
struct mg_advise_shape { /* one access, up to where in global memory it is */
    uint64_t hash, times;
    uint32_t mask;
    int32_t var;    /* shared variable, -1: none; of constant memory MG_VAR_CONST */
    uint32_t width; /* bytes a lane, as written */
    uint8_t kind;   /* enum mg_access_kind, as written */
    uint8_t phase;  /* global: address of the first active lane modulo 32 */
    uint32_t other; /* of an asynchronous copy a digest of where its other side lies, up to a line; else 0 */
    int32_t at[32]; /* shared, constant: offsets; global: distances from the first active lane; 0 in idle lanes */
    /* Wavefronts or sectors touched, and their ideal; sectors moved. Of constants: addresses, and 1. */
    uint32_t taken, ideal, moved;
};
struct mg_shapes {
    struct mg_advise_shape *at;
    uint32_t count, capacity, nslots;
    uint32_t *slots;
    uint32_t most;  /* kept; 0: MG_SHAPES_KEPT */
    uint32_t recent[MG_SHAPES_RECENT]; /* 1 + index of the last one seen of each place; 0: none */
    unsigned level; /* one in 2^level is kept */
};
uint64_t mg__shape_hash(const struct mg_advise_shape *shape);
/* One that was found lately, without a look at `like`'s hash; NULL: none of them is the same. */
struct mg_advise_shape *mg__shapes_recent(const struct mg_shapes *set, const struct mg_advise_shape *like);
struct mg_advise_shape *mg__shapes_find(struct mg_shapes *set, const struct mg_advise_shape *like);
bool mg__shapes_keeps(const struct mg_shapes *set, uint64_t hash); /* not thinned away */
bool mg__shapes_add(struct mg_shapes *set, const struct mg_advise_shape *shape); /* a new one; false: out of memory */
bool mg__shapes_merge(struct mg_shapes *to, struct mg_shapes *from); /* `from` may be emptied */
void mg__shapes_sort(struct mg_shapes *set);
void mg__shapes_free(struct mg_shapes *set);

/* ---- blocks.c: the sampled blocks ---- */
struct mg_grain { /* a granule of global memory, as one site of one block used it */
    uint64_t key;    /* address in granules */
    uint32_t uses;   /* thread accesses */
    uint32_t set;    /* of the block's sets of threads */
    uint16_t site;
};
struct mg_word { /* a word of the block's shared memory */
    uint32_t writes, reads;
    uint16_t writer;  /* thread + 1 of the last write */
    bool by_other_thread, by_other_warp; /* read, or written again, by one that did not write it */
};
struct mg_walk { /* of one thread at one site: the addresses of its first and its second access; 0: none */
    uint64_t first, second;
};
/* A sector, as one site of the block used it. */
struct mg_advise_sector {
    uint64_t number; /* address / 32 */
    uint32_t site;
    uint16_t grain[]; /* of its granules, and 1; 0: not used */
};
struct mg_advise_block {
    uint64_t index, range;
    struct mg_grain *grains; /* `uses` and `set` once they are sorted; until then: */
    uint32_t *uses;          /* by grain, room for MG_GRAINS_KEPT */
    uint32_t *lanes;         /* that touched it: by warp, MG_LANES_APART behind one another, by grain, a bit a lane */
    uint32_t *sets;          /* the same of sorted grains: by set, by warp */
    uint32_t nwarps, nlanes; /* nlanes: warps that `lanes` has room for */
    uint32_t ngrains, capacity;
    uint8_t *sectors;                     /* those of its grains, one behind the other, sector_bytes each */
    uint32_t nsectors, sectors_capacity, sector_bytes, nslots;
    uint32_t *slots; /* of sectors, and 1 */
    unsigned shift, level;
    struct mg_word *words; /* nwords of them */
    uint32_t nwords;
    uint64_t *moved;       /* by site: sectors that its accesses moved */
    struct mg_walk **walks; /* by site, by thread; NULL in blocks other than the middle one */
    uint32_t **latest;      /* by site; by thread: the sector of its latest access; NULL: there was none */
    uint32_t nsites;
};
/* Which threads of the block touched the granule, once they are sorted: by warp, a bit a lane. */
static inline const uint32_t *mg__grain_threads(const struct mg_advise_block *block, const struct mg_grain *grain)
{
    return block->sets + (size_t)grain->set * block->nwarps;
}
/* `range`: where device memory starts; `was`: of another launch, whose memory it takes, or NULL. */
struct mg_advise_block *mg__block_create(struct mg_advise_block *was, uint64_t index, uint64_t range, uint32_t nsites,
                                         uint32_t shared_bytes, uint32_t warps, bool walk);
/* What only its launch knows; it can then be another one's. */
void mg__block_end(struct mg_advise_block *block);
void mg__block_free(struct mg_advise_block *block);
/* `shift`: log2 of the granule. False: out of memory. */
bool mg__block_global(struct mg_advise_block *block, const struct mg_access *access, uint32_t site, unsigned shift);
/* `spread`: a lane's bytes go to, or come from, other lanes of the warp (ldmatrix). */
void mg__block_shared(struct mg_advise_block *block, struct mg_access *access, bool spread);
/* Its granules by address, then by site; none can be added then. False: out of memory. */
bool mg__block_sort(struct mg_advise_block *block);

/* ---- sites.c: what the programmer sees as one access: a line, a direction, an array ---- */
enum mg_direction { MG_DIR_LOAD, MG_DIR_STORE, MG_DIR_ATOMIC };
struct mg_advise_site {
    const char *file;
    uint32_t line;
    int param;                 /* kernel parameter that the address comes from, from 0; -1: not one alone */
    const struct mg_ptx_var *global; /* or a __device__ variable */
    uint8_t direction;
};
struct mg_sites {
    struct mg_advise_site *at;
    uint32_t count;
    uint32_t *of;       /* by instruction; UINT32_MAX: none */
    unsigned shift;     /* log2 of the smallest global access: the granule */
    uint64_t program;   /* whose they are; 0: nothing is here, or they are found anew each time */
    uint64_t pointers;  /* which words of the parameters are addresses, on which they depend as well */
};
enum { MG_SITES_KEPT = 4 };
/* Where an instruction is, in the program's own sources where it was inlined from a header of the toolkit. */
void mg__site_place(const struct mg_launch_info *info, uint32_t insn, const char **file, uint32_t *line);
/* `kept`: of MG_SITES_KEPT launches that are over. What is the same is taken out of it; the other one puts it back. */
bool mg__sites_find(const struct mg_launch_info *info, struct mg_sites *kept, struct mg_sites *sites);
void mg__sites_keep(struct mg_sites *kept, struct mg_sites *sites);
void mg__sites_free(struct mg_sites *sites);

/* ---- observe.c: what a launch left ---- */
struct mg_tried { /* totals of an instruction, exact */
    uint64_t requests, lanes, bytes;
    uint64_t touched, ideal, moved; /* global sectors */
    uint64_t wavefronts, wavefronts_ideal;
    uint64_t bulk;                      /* sectors of device memory that bulk copies move: the model's */
    uint64_t warps, threads, divergent; /* executed */
    uint64_t const_requests, const_passes; /* of constant memory: an address a pass */
};
struct mg_seen {
    const struct mg_launch_info *info;
    struct mg_model_made *made;
    struct mg_sites sites;
    struct mg_tried *insns;
    struct mg_shapes *global, *shared; /* by instruction; those of constant memory are among the shared */
    struct mg_advise_block *blocks[MG_BLOCKS_SAMPLED];
    uint64_t sampled[MG_BLOCKS_SAMPLED]; /* their indices, ascending */
    unsigned nsampled;
    uint64_t nblocks;
    uint32_t most; /* shapes of an instruction that are kept */
    bool parted;   /* only some blocks were looked at; what shapes come to stands for what was counted in all */
    uint32_t regs;
    const struct mg_arch *arch;
    struct mg_time *time;
    const char *regs_from;
    bool regs_exact;
};

/* ---- longest.c ---- */
struct mg_longest;
struct mg_longest *mg__longest_create(void); /* NULL: out of memory */
void mg__longest_free(struct mg_longest *longest);
/* Whether a launch that ended takes longer than all before it of its kernel and shape, by the estimate. */
bool mg__longest_is(struct mg_longest *longest, const struct mg_launch_info *info, double seconds);

/* ---- judge.c ---- */
/* Of a launch that another one of its kernel and shape stands for: that there was one. */
void mg__advise_count(const struct mg_seen *seen, enum mg_status ended,
                      void (*done)(void *arg, const struct mg_report_advice *advice), void *arg);
enum mg_status mg__advise_judge(struct mg_seen *seen, enum mg_status ended,
                                void (*done)(void *arg, const struct mg_report_advice *advice), void *arg);
#endif
