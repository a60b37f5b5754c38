/* banks.c - what one warp's access to shared memory costs, from its addresses alone.
 *
 * Shared memory has banks, most often 32 of 32 bits each; how many and how wide they are says the device's row in
 * arch.def. One wavefront serves one row of every bank. The rules below are those by which Nsight Compute computes
 * memory_l1_wavefronts_shared and its ideal on an H100; tests/model and tests/hardware hold them to what one gave. Of
 * other banks, a phase is as many lanes as fill a row.
 *
 *   load up to 32 bits    the largest number of distinct words in one bank
 *   load of 64 bits       two phases, lanes 0-15 and 16-31, each counted as above, and added. When every pair of
 *                         active lanes (i, i^1) shares an address, or every pair (i, i^2) does, and all 32 lanes
 *                         together have no conflict, one phase serves them all
 *   load of 128 bits      four phases of eight lanes; of each half of the warp one under the same condition on that
 *                         half
 *   store                 as the loads, without that condition
 *   atomic, reduction     the largest number of lanes in one bank, whether they meet on one word or not; of 64 bits in
 *                         each half of the warp, added. Adding the constant 1 with nobody reading the result costs
 *                         what a load does: lanes that meet are counted first (the observer asks for a load then)
 *   compare-and-swap      twice that, ideal too
 *   swap loop             what ptxas makes of the atomics that the hardware lacks: see `swap_loop`
 *   asynchronous copy     through the first-level cache as an atomic, of 128 bits in phases of eight lanes; past it:
 *                         see `by_sectors`
 *
 * Ideal: the bytes of the active lanes over those of a row, rounded up; for a load no more than its phases.
 *
 * To add an operation: name its lowering in `lowering_of`.
 */
#include "model/model_priv.h"

enum { BANKS = MG_MODEL_BANKS, WORD_BYTES = 4 };

/* The banks as an access of `width` aligned bytes sees them: what is wider than a bank occupies neighbouring ones
 * whole, so that they count as fewer and wider ones; what is narrower counts as the bank's word. */
struct banks {
    unsigned shift, row_shift; /* an address's unit; of a unit, its row: the bits below are its bank */
    unsigned row_bytes;
    unsigned lanes; /* that one wavefront can serve at the most */
};

static struct banks banks_for(const struct mg_arch *arch, unsigned width)
{
    unsigned unit = MG_MAX(width, arch->bank_bytes), row = arch->banks * arch->bank_bytes;
    struct banks b = {.shift = (unsigned)__builtin_ctz(unit), .row_bytes = row};
    b.row_shift = (unsigned)__builtin_ctz(row) - b.shift;
    b.lanes = MG_MIN(1u << b.row_shift, 32u);
    return b;
}

/* The active lanes of one access, in lane order. */
struct lanes {
    uint32_t unit[32]; /* relative: distances and the bank are right */
    unsigned n, row_shift;
    uint8_t first_of[33]; /* by lane: how many active lanes lie below it */
};

static void gather(struct lanes *l, const struct banks *b, uint32_t mask, const uint64_t address[32])
{
    const unsigned shift = b->shift;
    l->row_shift = b->row_shift;
    if (mask == UINT32_MAX) {
        l->n = 32;
        for (unsigned i = 0; i < 32; i++)
            l->unit[i] = (uint32_t)(address[i] >> shift);
        for (unsigned i = 0; i <= 32; i++)
            l->first_of[i] = (uint8_t)i;
        return;
    }
    l->n = 0;
    for (unsigned i = 0; i < 32; i++) {
        l->first_of[i] = (uint8_t)l->n;
        l->unit[l->n & 31] = (uint32_t)(address[i] >> shift);
        l->n += mask >> i & 1;
    }
    l->first_of[32] = (uint8_t)l->n;
}

static unsigned phase(const struct lanes *l, unsigned from, unsigned to)
{
    return mg__model_degree(l->unit + l->first_of[from], (unsigned)(l->first_of[to] - l->first_of[from]), l->row_shift);
}

/* Whether the active lanes i and i^distance, from lane `from` on, share their address wherever both are active. */
static bool paired(uint32_t mask, const uint64_t address[32], unsigned distance, unsigned from, unsigned to)
{
    for (unsigned i = from; i < to; i++)
        if (!(i & distance) && (mask >> i & 1) && (mask >> (i | distance) & 1) && address[i] != address[i | distance])
            return false;
    return true;
}

static unsigned ideal_of(const struct banks *b, unsigned width, uint32_t mask)
{
    return (mg__model_bytes(width, mask) + b->row_bytes - 1) / b->row_bytes;
}

/* Those from lane `from` on are served together. */
static void note(struct mg_phases *phases, unsigned from, unsigned lanes, unsigned wavefronts)
{
    if (phases && phases->n < MG_COUNT(phases->at))
        phases->at[phases->n++] = (struct mg_phase){(uint8_t)from, (uint8_t)lanes, wavefronts};
}

static struct mg_cost plain(const struct mg_arch *arch, unsigned width, uint32_t mask, const uint64_t address[32],
                            bool load, struct mg_phases *phases)
{
    struct banks b = banks_for(arch, width);
    struct lanes l;
    gather(&l, &b, mask, address);
    struct mg_cost cost = {0, 0};
    unsigned size = b.lanes;
    if (width <= arch->bank_bytes) {
        for (unsigned from = 0; from < 32; from += size) {
            unsigned taken = phase(&l, from, from + size);
            note(phases, from, size, taken);
            cost.wavefronts += taken;
        }
        cost.ideal = ideal_of(&b, width, mask);
        return cost;
    }
    bool conflict = false;                                 /* where the condition held */
    for (unsigned from = 0; from < 32; from += 2 * size) { /* two phases, or one of twice the lanes */
        unsigned to = from + 2 * size;
        if (load && (paired(mask, address, 1, from, to) || paired(mask, address, 2, from, to))) {
            unsigned both = phase(&l, from, to);
            if (both <= 1) {
                note(phases, from, 2 * size, both);
                cost.wavefronts += both;
                cost.ideal += both;
                continue;
            }
            conflict = true;
        }
        unsigned first = phase(&l, from, from + size), second = phase(&l, from + size, to);
        note(phases, from, size, first);
        note(phases, from + size, size, second);
        cost.wavefronts += first + second;
        cost.ideal += (first ? 1u : 0u) + (second ? 1u : 0u);
    }
    cost.ideal = conflict ? ideal_of(&b, width, mask) : MG_MIN(cost.ideal, ideal_of(&b, width, mask));
    return cost;
}

/* An atomic, a native one: in each phase the largest number of lanes in one bank, wherever in it they go. */
static struct mg_cost lanes_per_bank(const struct mg_arch *arch, unsigned width, uint32_t mask,
                                     const uint64_t address[32], struct mg_phases *phases)
{
    struct banks b = banks_for(arch, width);
    struct mg_cost cost = {0, ideal_of(&b, width, mask)};
    for (unsigned from = 0; from < 32; from += b.lanes) {
        uint8_t count[BANKS] = {0};
        unsigned most = 0;
        const uint32_t lanes = mask >> from & (UINT32_MAX >> (32 - b.lanes));
        for (uint32_t rest = lanes; rest; rest &= rest - 1) {
            const uint64_t at = address[from + (unsigned)__builtin_ctz(rest)];
            unsigned c = ++count[at >> b.shift & ((1u << b.row_shift) - 1)];
            most = MG_MAX(most, c);
        }
        note(phases, from, b.lanes, most);
        cost.wavefronts += most;
    }
    return cost;
}

/* An asynchronous copy that passes by the first-level cache: what comes are sectors. Of each line of 128 bytes, sectors
 * that are wanted whole arrive together, those of which the lower half is wanted do, and those of the upper. Lanes that
 * copy the same cost nothing more. (Measured with source and destination at the same offset; taken here by the
 * destination.) */
static struct mg_cost by_sectors(const struct mg_arch *arch, unsigned width, uint32_t mask, const uint64_t address[32])
{
    const unsigned sector = (unsigned)__builtin_ctz(arch->sector_bytes),
                   in_line = (unsigned)__builtin_ctz(arch->line_bytes) - sector;
    const struct banks b = banks_for(arch, width);
    uint64_t unit[32], half[32], group[32];
    uint8_t halves[32] = {0};
    struct mg_keyset units = {{0}}, sectors = {{0}}, groups = {{0}};
    unsigned n = 0, distinct = 0, nsectors = 0, ngroups = 0;
    for (uint32_t m = mask; m; m &= m - 1, n++) {
        uint64_t at = address[__builtin_ctz(m)];
        unit[n] = at >> (sector - 1);
        half[n] = at >> sector;
        distinct += mg__keyset_add(&units, unit, n) == n;
        halves[mg__keyset_add(&sectors, half, n)] |= (uint8_t)(1u << (unit[n] & 1));
    }
    for (unsigned i = 0; i < n; i++) {
        if (!halves[i])
            continue; /* not the first lane of its sector */
        group[nsectors] = half[i] >> in_line << 2 | halves[i];
        ngroups += mg__keyset_add(&groups, group, nsectors) == nsectors;
        nsectors++;
    }
    return (struct mg_cost){ngroups, (width * distinct + b.row_bytes - 1) / b.row_bytes};
}

/* What the hardware has no instruction for runs as
 *
 *     again: old = LDS [a];  new = op(old);  won = ATOMS.CAST.SPIN [a], old, new;  if (!won) goto again
 *
 * Each round costs the load of the lanes still at it, and two wavefronts for the swap (of 64 bits: two for each half of
 * the warp that is still at it). In a round the first lane of each bank and half tries; it loses when the other half
 * has just changed its address. Rows of red.shared.add.f32 and atom.shared.add.u64 agree, 59 of 59 each, wavefronts,
 * ideal and the hardware's own counter. The model takes every swap to change the value: adding zero may need fewer
 * rounds. */
static struct mg_cost swap_loop(const struct mg_arch *arch, unsigned width, uint32_t mask, const uint64_t address[32])
{
    struct mg_cost total = {0, 0};
    const struct banks b = banks_for(arch, width);
    const unsigned half = b.lanes;
    while (mask) {
        struct mg_cost load = plain(arch, width, mask, address, true, NULL);
        total.wavefronts += load.wavefronts;
        total.ideal += load.ideal + 2 * ideal_of(&b, width, mask);
        uint32_t won = 0, banks = 0; /* those that the half before has changed a key of */
        uint64_t changed[BANKS];
        for (unsigned from = 0; from < 32; from += half) {
            uint32_t here = half == 32 ? mask : mask & (((1u << half) - 1) << from);
            uint32_t busy = 0, mine = 0;
            total.wavefronts += here ? 2 : 0;
            for (; here; here &= here - 1) {
                const unsigned i = (unsigned)__builtin_ctz(here);
                const uint64_t key = address[i] >> b.shift;
                const unsigned bank = (unsigned)(key & ((1u << b.row_shift) - 1));
                const uint32_t bit = 1u << bank;
                const bool lost = busy & bit || (banks & bit && changed[bank] == key);
                busy |= bit;
                if (!lost) {
                    won |= 1u << i;
                    mine |= bit;
                    changed[bank] = key;
                }
            }
            banks |= mine;
        }
        mask &= ~won;
    }
    return total;
}

enum lowering { NATIVE, COMPARE_SWAP, SWAP_LOOP };

/* Which atomics sm_90 has, as ptxas 13.0 writes them; older architectures agree on 32-bit and 64-bit types. */
static enum lowering lowering_of(const struct mg_ptx_insn *insn, unsigned width)
{
    if (!insn)
        return NATIVE;
    if (insn->atomop == MG_ATOM_CAS || insn->atomop == MG_ATOM_EXCH)
        return width < WORD_BYTES ? SWAP_LOOP : insn->atomop == MG_ATOM_CAS ? COMPARE_SWAP : NATIVE;
    if (width != WORD_BYTES)
        return SWAP_LOOP;
    for (unsigned t = 0; t < insn->ntypes && t < MG_COUNT(insn->type); t++)
        switch (insn->type[t]) {
        case MG_T_F32:
        case MG_T_F16X2:
        case MG_T_BF16X2:
        case MG_T_F16:
        case MG_T_BF16:
            return SWAP_LOOP;
        default:
            break;
        }
    return NATIVE;
}

struct mg_cost mg__model_phases(const struct mg_arch *arch, enum mg_access_kind kind, const struct mg_ptx_insn *insn,
                                unsigned width, uint32_t mask, const uint64_t address[32], struct mg_phases *phases)
{
    if (phases)
        phases->n = 0;
    if (!mask || !width || width > arch->banks * arch->bank_bytes || (width & (width - 1)))
        return (struct mg_cost){0, 0};
    switch (kind) {
    case MG_ACCESS_LD:
        return plain(arch, width, mask, address, true, phases);
    case MG_ACCESS_ST:
        return plain(arch, width, mask, address, false, phases);
    case MG_ACCESS_BULK_LD: /* no warp's */
    case MG_ACCESS_BULK_ST:
    case MG_ACCESS_CP_ASYNC:
        return mg__model_bypass(insn) ? by_sectors(arch, width, mask, address)
                                      : lanes_per_bank(arch, width, mask, address, phases);
    case MG_ACCESS_ATOM:
    case MG_ACCESS_RED:
        switch (lowering_of(insn, width)) {
        case NATIVE:
            return lanes_per_bank(arch, width, mask, address, phases);
        case COMPARE_SWAP: {
            struct mg_cost once = lanes_per_bank(arch, width, mask, address, phases);
            for (unsigned i = 0; phases && i < phases->n; i++)
                phases->at[i].wavefronts *= 2;
            return (struct mg_cost){2 * once.wavefronts, 2 * once.ideal};
        }
        case SWAP_LOOP:
            return swap_loop(arch, width, mask, address);
        }
    }
    return (struct mg_cost){0, 0};
}

struct mg_cost mg__model_shared(const struct mg_arch *arch, enum mg_access_kind kind, const struct mg_ptx_insn *insn,
                                unsigned width, uint32_t mask, const uint64_t address[32])
{
    return mg__model_phases(arch, kind, insn, width, mask, address, NULL);
}
