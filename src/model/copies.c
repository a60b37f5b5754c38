/* copies.c - what a warp's cp.async costs: both its sides count, where each lane reads and where it writes.
 *
 * The rules are an H100's (tests/hardware/copies.cu, 720 launches). Rows and swizzled tiles agree, but 4 of 319 through
 * the first-level cache; of places drawn at random many are off there by a wavefront or two.
 */
#include "model/model_priv.h"

enum { UNIT = 16 }; /* bytes that a lane of cp.async.cg copies: half a sector */

static unsigned log2_of(uint32_t power) { return (unsigned)__builtin_ctz(power); }

/* Through the first-level cache: neighbouring lanes whose bytes fill a row of banks are served together. A lane waits
 * for those before it that read its bank, and for those that write to its bank; what has waited equally long goes at
 * once. */
static uint32_t through(const struct mg_arch *arch, unsigned width, uint32_t mask, const uint64_t from[32],
                        const uint64_t to[32])
{
    const unsigned lanes = MG_MIN(arch->banks * arch->bank_bytes / width, 32u), shift = log2_of(width);
    uint32_t wavefronts = 0;
    for (unsigned first = 0; first < 32; first += lanes) {
        uint8_t reads[32] = {0}, writes[32] = {0};
        uint64_t waited = 0;
        for (unsigned i = first; i < first + lanes; i++) {
            const uint64_t read = from[i] >> shift & (lanes - 1), written = to[i] >> shift & (lanes - 1);
            if (mask >> i & 1)
                waited |= UINT64_C(1) << (reads[read]++ + writes[written]++);
        }
        wavefronts += (uint32_t)__builtin_popcountll(waited);
    }
    return wavefronts;
}

/* Past it: what comes are halves of sectors, and a sector whose halves stay side by side comes as one. Those of one
 * line go to one row of shared memory at once if they are alike: whole, lower halves or upper ones, that keep or change
 * their place in the sector, in sectors that keep or change theirs in the pair. */
static uint32_t past(const struct mg_arch *arch, uint32_t mask, const uint64_t from[32], const uint64_t to[32])
{
    const unsigned sector = log2_of(arch->sector_bytes), line = log2_of(arch->line_bytes);
    struct mg_keyset pieces = {{0}}, groups = {{0}};
    uint64_t piece[32], group[32];
    uint8_t halves[32] = {0};
    unsigned n = 0, ngroups = 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        const unsigned i = (unsigned)__builtin_ctz(m);
        piece[n] = (from[i] >> sector) << 33 ^ (to[i] >> sector) << 1 ^ ((from[i] ^ to[i]) / UNIT & 1);
        const unsigned k = mg__keyset_add(&pieces, piece, n);
        if (k == n) {
            group[n] = (from[i] >> line) << 36 ^ (to[i] >> line) << 4 ^ ((from[i] ^ to[i]) / UNIT & 3) << 2;
            n++;
        }
        halves[k] |= (uint8_t)(1u << (to[i] / UNIT & 1));
    }
    for (unsigned k = 0; k < n; k++) {
        group[k] |= halves[k] & 3;
        ngroups += mg__keyset_add(&groups, group, k) == k;
    }
    return ngroups;
}

static bool by_both(const struct mg_model_access *as)
{
    return as->other && as->cost == MG_ACCESS_CP_ASYNC && as->width && as->width <= UNIT;
}

struct mg_cost mg__model_access_shared(const struct mg_arch *arch, const struct mg_ptx_insn *insn,
                                       const struct mg_model_access *as)
{
    struct mg_cost cost = mg__model_shared(arch, as->cost, insn, as->width, as->mask, as->address);
    if (by_both(as))
        cost.wavefronts = mg__model_bypass(insn) ? past(arch, as->mask, as->other, as->address)
                                                 : through(arch, as->width, as->mask, as->other, as->address);
    return cost;
}

struct mg_global_cost mg__model_access_global(const struct mg_arch *arch, const struct mg_ptx_insn *insn,
                                              const struct mg_model_access *as, uint64_t origin)
{
    struct mg_global_cost cost = mg__model_global(arch, as->cost, insn, as->width, as->mask, as->address, origin);
    if (!by_both(as) || !mg__model_bypass(insn))
        return cost;
    /* A sector is fetched for each sector that it goes to; in theory once more where its halves change places. */
    const unsigned sector = log2_of(arch->sector_bytes), line = log2_of(arch->line_bytes);
    struct mg_keyset moved = {{0}}, touched = {{0}}, lanes = {{0}};
    uint64_t move[32], touch[32], lane[32];
    unsigned n = 0, nlanes = 0;
    cost = (struct mg_global_cost){0};
    for (uint32_t m = as->mask; m; m &= m - 1, n++) {
        const unsigned i = (unsigned)__builtin_ctz(m);
        const uint64_t from = as->address[i], to = as->other[i];
        move[n] = (from >> line) << 32 ^ to >> sector;
        touch[n] = (from >> sector) << 33 ^ (to >> sector) << 1 ^ ((from ^ to) / UNIT & 1);
        lane[n] = from << 32 ^ to;
        cost.moved += mg__keyset_add(&moved, move, n) == n;
        cost.touched += mg__keyset_add(&touched, touch, n) == n;
        nlanes += mg__keyset_add(&lanes, lane, n) == n;
    }
    cost.ideal = (nlanes * as->width + arch->sector_bytes - 1) / arch->sector_bytes;
    return cost;
}

/* ---- the same again ---- */
/* The rules ask how lanes lie to one another, and where the first of them is in its line: copies that are alike in this
 * cost the same. */
enum { KEPT = 128, LINE = 128 };
struct lanes { /* of this side and the other, bytes from the first lane that runs; 0 in idle lanes */
    uint32_t at[32], other[32];
    uint32_t mask, insn, phases; /* insn: with the side as its last bit; phases: where that lane is in its lines */
};
struct mg_model_copies {
    struct {
        struct lanes lanes; /* no mask: nothing is here */
        struct mg_cost shared;
        struct mg_global_cost global;
    } kept[KEPT];
};

/* False: lanes are too far apart to be told by 32 bits. */
MG_WIDE static bool lanes_of(const struct mg_model_access *as, uint32_t insn, struct lanes *l)
{
    const unsigned first = (unsigned)__builtin_ctz(as->mask);
    const uint64_t here = as->address[first], there = as->other[first];
    uint64_t far = 0;
    for (unsigned i = 0; i < 32; i++) {
        const uint64_t runs = 0 - (uint64_t)(as->mask >> i & 1), a = (as->address[i] - here) & runs,
                       b = (as->other[i] - there) & runs;
        far |= (a + INT32_MAX) >> 32 | (b + INT32_MAX) >> 32;
        l->at[i] = (uint32_t)a;
        l->other[i] = (uint32_t)b;
    }
    l->mask = as->mask;
    l->insn = insn;
    l->phases = (uint32_t)(here % LINE << 16 | there % LINE);
    return !far;
}

bool mg__model_copied(struct mg_model_copies **copies, const struct mg_arch *arch, const struct mg_launch_info *info,
                      const struct mg_access *a, const struct mg_model_access *as, struct mg_cost *shared,
                      struct mg_global_cost *global)
{
    struct lanes lanes;
    if (!as->other || as->cost != MG_ACCESS_CP_ASYNC || arch->line_bytes != LINE ||
        !lanes_of(as, a->insn << 1 | (a->space == MG_SPACE_SHARED), &lanes) ||
        (!*copies && !(*copies = calloc(1, sizeof(**copies)))))
        return false;
    uint32_t h = lanes.insn ^ lanes.phases * 0x9E3779B1u;
    for (unsigned i = 1; i < 32; i += 6)
        h = (h ^ lanes.at[i] ^ lanes.other[i] << 5) * 0x9E3779B1u;
    const unsigned at = h >> 25;
    if (memcmp(&(*copies)->kept[at].lanes, &lanes, sizeof(lanes))) {
        const struct mg_ptx_insn *insn = info->insns[a->insn].insn;
        (*copies)->kept[at].lanes = lanes;
        if (a->space == MG_SPACE_SHARED)
            (*copies)->kept[at].shared = mg__model_access_shared(arch, insn, as);
        else
            (*copies)->kept[at].global = mg__model_access_global(arch, insn, as, 0);
    }
    *shared = (*copies)->kept[at].shared;
    *global = (*copies)->kept[at].global;
    return true;
}
