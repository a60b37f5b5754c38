/* sectors.c - how many 32-byte sectors one warp's access to global memory moves.
 *
 *   load, store       the distinct sectors touched
 *   atomic, reduction over the sectors touched, the sum of the largest number of lanes on one address in each: lanes
 *                     that meet on one address are served one after the other, different addresses of a sector
 *                     together
 *
 * Measured on an H100, as in banks.c. An access is aligned to its width, so that it lies in one sector (wider ones in
 * width/32 sectors).
 */
#include "model/model_priv.h"

enum { SECTOR_SHIFT = 5 };

static uint32_t distinct_sectors(unsigned width, uint32_t mask, const uint64_t address[32])
{
    unsigned each = width > 32 ? width / 32 : 1;
    uint64_t key[32];
    unsigned n = 0, rises = 0;
    bool ordered = true;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint64_t k = address[__builtin_ctz(m)] >> SECTOR_SHIFT;
        if (n) {
            ordered &= k >= key[n - 1];
            rises += k != key[n - 1];
        }
        key[n++] = k;
    }
    if (ordered)
        return n ? (rises + 1) * each : 0;
    struct mg_keyset set = {{0}};
    uint32_t count = 0;
    for (unsigned i = 0; i < n; i++)
        count += mg__keyset_add(&set, key, i) == i;
    return count * each;
}

static uint32_t serialised_sectors(uint32_t mask, const uint64_t address[32])
{
    uint64_t where[32], sector[32];
    uint8_t lanes[32] = {0}, most[32] = {0};
    struct mg_keyset addresses = {{0}}, sectors = {{0}};
    unsigned n = 0;
    uint32_t sum = 0;
    for (uint32_t m = mask; m; m &= m - 1, n++) {
        where[n] = address[__builtin_ctz(m)];
        sector[n] = where[n] >> SECTOR_SHIFT;
        uint8_t on_address = ++lanes[mg__keyset_add(&addresses, where, n)];
        uint8_t *in_sector = &most[mg__keyset_add(&sectors, sector, n)];
        if (on_address > *in_sector) {
            *in_sector = on_address;
            sum++;
        }
    }
    return sum;
}

uint32_t mg__model_sectors(enum mg_access_kind kind, unsigned width, uint32_t mask, const uint64_t address[32])
{
    if (kind == MG_ACCESS_ATOM || kind == MG_ACCESS_RED)
        return serialised_sectors(mask, address);
    return distinct_sectors(width, mask, address);
}

/* The lanes of the mask, those of one address counted once. */
static unsigned distinct_lanes(uint32_t mask, const uint64_t address[32])
{
    struct mg_keyset set = {{0}};
    uint64_t key[32];
    unsigned n = 0, distinct = 0;
    for (uint32_t m = mask; m; m &= m - 1, n++) {
        key[n] = address[__builtin_ctz(m)];
        distinct += mg__keyset_add(&set, key, n) == n;
    }
    return distinct;
}

struct mg_global_cost mg__model_global(enum mg_access_kind kind, const struct mg_ptx_insn *insn, unsigned width,
                                       uint32_t mask, const uint64_t address[32])
{
    struct mg_global_cost cost = {.moved = mg__model_sectors(kind, width, mask, address)};
    bool atomic = kind == MG_ACCESS_ATOM || kind == MG_ACCESS_RED;
    /* The theoretical sectors are those touched, for atomics too; the ideal is never more than what was touched. */
    cost.touched = atomic ? mg__model_sectors(MG_ACCESS_LD, width, mask, address) : cost.moved;
    unsigned bytes = kind == MG_ACCESS_CP_ASYNC && mg__model_bypass(insn) ? width * distinct_lanes(mask, address)
                                                                          : mg__model_bytes(width, mask);
    cost.ideal = MG_MIN((bytes + 31u) / 32u, cost.touched);
    return cost;
}
