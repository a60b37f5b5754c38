/* model_priv.h - what the files of this room share. */
#ifndef MG_MODEL_PRIV_H
#define MG_MODEL_PRIV_H
#include "flow/flow.h"
#include "model/model.h"
#include "ptx/ptx.h"

enum mg_model_lanes {
    MG_MODEL_ALL_LANES,   /* the active ones */
    MG_MODEL_ONE_LANE,    /* one of them does it for all */
    MG_MODEL_ONE_IF_FULL, /* the same, in a warp with all lanes active only */
};

/* How an instruction of the PTX text is counted, after what ptxas makes of it. */
struct mg_model_plan {
    uint8_t width;  /* bytes a lane of the access that the hardware makes; 0: another instruction carries this one */
    uint8_t joined; /* the alignment that joining it took, in bytes; 0: not joined */
    int8_t delta;   /* that access starts this many bytes from the instruction's own address */
    int8_t second;  /* another one as wide starts so many bytes from it; 0: there is one */
    bool changed;   /* `width` and `delta` hold; false: as written */
    uint8_t kind;   /* what an atomic instruction is made: MG_ACCESS_RED or MG_ACCESS_ATOM; of others 0 */
    bool counts;    /* a reduction that adds the constant 1 */
    uint8_t lanes;  /* enum mg_model_lanes: who takes part */
};

/* What the access counts as: enum mg_access_kind. */
static inline uint8_t mg__model_kind(const struct mg_model_plan *plan, const struct mg_access *a)
{
    return plan->kind ? plan->kind : a->kind;
}

/* One plan an instruction of `func`, calloc'd and the caller's; NULL when out of memory. `shared`: of its launch. */
struct mg_model_plan *mg__model_merge(const struct mg_ptx_func *func, const struct mg_flow_shared *shared);

/* The plans of a launch, by its instructions. */
struct mg_model_made {
    uint32_t ninsns;
    unsigned uses; /* by launches and those who keep it; the last one frees it */
    uint64_t program;
    struct mg_model_plan *plans;
};
#define MG_MODEL_KEPT 64u
struct mg_model_kernel {
    uint64_t program; /* mg_launch_info's */
    struct mg_model_made *made;
    const struct mg_insn_info **order; /* its instructions by file and line */
    char *name, **vars;                /* demangled; those of static shared variables, by index */
    uint32_t nvars, nlines;            /* lines of source, as `order` has them */
};
/* Kept, or made now; it stays until the next call at least. NULL: out of memory. */
const struct mg_model_kernel *mg__model_kernel(struct mg_model_kernel *kept[MG_MODEL_KEPT],
                                               const struct mg_launch_info *info);
void mg__model_kernels_free(struct mg_model_kernel *kept[MG_MODEL_KEPT]);
/* mg__model_made_access of one plan. */
bool mg__model_as_made(const struct mg_model_plan *plan, struct mg_access *a, bool joined, struct mg_model_access *as);
bool mg__model_as_second(const struct mg_model_plan *plan, struct mg_model_access *as); /* likewise */

/* An asynchronous copy that passes by the first-level cache: cp.async.cg. */
static inline bool mg__model_bypass(const struct mg_ptx_insn *insn)
{
    return insn && insn->text && strstr(insn->text, ".cg");
}

#define MG_MODEL_BANKS 32u /* the most that a device has, and bytes of a line */
#define MG_MODEL_LINE 128u

/* The bytes of the active lanes. */
static inline unsigned mg__model_bytes(unsigned width, uint32_t mask)
{
    return width * (unsigned)__builtin_popcount(mask);
}

/* ---- degrees.c ---- */
/* The largest number of distinct ones of n units in one bank, of which a row has 2^row_shift. */
unsigned mg__model_degree(const uint32_t *unit, unsigned n, unsigned row_shift);
/* Wavefronts of a load or store of up to 32 bits, where there are 32 banks of 4 bytes; 0: mg__model_shared must be
 * asked. The ideal is 1. */
unsigned mg__model_warp_words(uint32_t mask, const uint64_t address[32]);
/* The sum over rows of byte offsets and active lanes (struct mg_access); 0: they must be asked for one by one. */
uint64_t mg__model_rows_words(const uint32_t *masks, const uint32_t (*offset)[32], uint32_t rows);
/* The same of loads or stores of 64 bits, and their ideal; no wavefronts: likewise. */
struct mg_cost mg__model_rows_doubles(const uint32_t *masks, const uint32_t (*offset)[32], uint32_t rows, bool load);
/* Wavefronts by all lanes, of words, none of them behind `most`. */
unsigned mg__model_warp_near(const uint32_t word[32], uint32_t most);
/* The sum over accesses of which the touched words are marked. */
unsigned mg__model_touched(const uint8_t (*touched)[MG_TOUCHED], uint32_t rows);
/* ---- sectors.c ---- */
/* The distinct sectors of a row, where the access is no wider than one. */
uint32_t mg__model_row_sectors(const struct mg_arch *arch, uint32_t mask, const uint32_t offset[32]);
/* The same of an atomic whose lanes want no slot twice, from `base` on; 0: its lanes must be asked. */
uint32_t mg__model_row_atomic(const struct mg_arch *arch, uint32_t mask, const uint32_t offset[32], uint64_t base,
                              uint64_t origin);

/* A set of up to 32 keys in open addressing; slots hold indices into the caller's array, so
 * that clearing it is cheap. */
struct mg_keyset {
    uint8_t slot[128];
};
/* The index of the key in keys[0 … n-1] equal to keys[n], or n when it is new (it is then in the set). */
static inline unsigned mg__keyset_add(struct mg_keyset *set, const uint64_t *keys, unsigned n)
{
    unsigned h = (unsigned)((keys[n] * UINT64_C(0x9E3779B97F4A7C15)) >> 57);
    while (set->slot[h]) {
        unsigned other = set->slot[h] - 1u;
        if (keys[other] == keys[n])
            return other;
        h = (h + 1) & 127;
    }
    set->slot[h] = (uint8_t)(n + 1);
    return n;
}
/* ---- copies.c ---- */
struct mg_model_copies; /* what latest copies cost; made when needed, the caller's to free */
/* What one side of an asynchronous copy costs; false: `as` is none, or is to be asked itself. */
bool mg__model_copied(struct mg_model_copies **copies, const struct mg_arch *arch, const struct mg_launch_info *info,
                      const struct mg_access *a, const struct mg_model_access *as, struct mg_cost *shared,
                      struct mg_global_cost *global);

/* ---- far.c: between the blocks of a cluster ---- */
enum mg_model_far { MG_FAR_LD, MG_FAR_ST, MG_FAR_ATOM, MG_FAR_STAS, MG_FAR_REDAS, MG_FAR_COPY, MG_FAR_KINDS };
struct mg_far_cost {
    uint32_t sectors, sent; /* the operation's; all that is on the way for it */
};
/* One warp's access to other blocks' shared memory, which lies apart; not for MG_FAR_COPY. */
struct mg_far_cost mg__model_far(const struct mg_arch *arch, enum mg_model_far kind, unsigned width, uint32_t mask,
                                 const uint64_t address[32]);

/* ---- estimate.c: launches with a sample (simt/observe.h) ---- */
struct mg_model_unit { /* that was counted */
    size_t unit;       /* of sample->at */
    struct mg_metrics metrics;
};
uint64_t mg__model_weight(const struct mg_sample *sample, size_t unit); /* twice the units that it stands for */
size_t mg__model_units_join(struct mg_model_unit *units, size_t n);     /* each once, in order: how many these are */
/* What sums over units by their weights are to be multiplied with; `executed`: by warps, of all units that ran. */
double mg__model_scale(const struct mg_sample *sample, const struct mg_model_unit *units, size_t n, uint64_t executed);
/* Half of each sum's interval of 95 %, 0: it is exact. */
void mg__model_intervals(const struct mg_sample *sample, const struct mg_model_unit *units, size_t n, uint64_t executed,
                         double half[MG_METRIC_COUNT]);
bool mg__model_is_executed(enum mg_metric metric);
#endif
