/* far.c - what one warp sends to, or fetches from, the shared memory of blocks of its cluster.
 *
 *   load               the distinct sectors of 32 bytes
 *   store              the same; on the way one whose bytes are not in one piece takes twice as much
 *   st.async           a sector as often as lanes meet at one of its addresses; on the way as stores
 *   red.async          likewise, each taking one
 *   atomic, reduction  likewise, there and back
 *
 * On the way there (l1tex__m_l1tex2xbar_write_sectors_mem_dshared) and at the arrival
 * (l1tex__m_xbar2l1tex_read_sectors_mem_dshared) it is the same number. Measured on an H200: tests/hardware/hopper.cu,
 * `clusters`. Floats are added in a loop of exchanges there, which is not followed; where sectors of a line are served
 * apart it is a few more.
 */
#include "model/model_priv.h"

enum { MOST_LANES = 32 };

/* A sector's bytes that some lanes of the warp reach at once: whether they are one piece. */
static bool one_piece(uint64_t bytes)
{
    const uint64_t filled = bytes | (bytes - 1); /* from the lowest down */
    return !(filled & (filled + 1));
}

/* The bytes of `width` from `at` on that lie in the sector which begins at `sector`. */
static uint64_t bytes_of(uint64_t at, unsigned width, uint64_t sector, unsigned sector_bytes)
{
    const uint64_t from = MG_MAX(at, sector), to = MG_MIN(at + width, sector + sector_bytes);
    return to > from ? (to - from == 64 ? UINT64_MAX : (UINT64_C(1) << (to - from)) - 1) << (from - sector) : 0;
}

static uint64_t bit_of(uint64_t number)
{
    return UINT64_C(1) << number % 64;
}

typedef uint32_t eight __attribute__((vector_size(32), aligned(4)));

/* By lane, how many of those before it have the same number; nothing may equal what is before key[0]. */
static inline __attribute__((always_inline)) void before(eight again[MOST_LANES / 8], const uint32_t *key, unsigned n)
{
    for (unsigned i = 0; i < n; i += 8) {
        const eight own = *(const eight *)(key + i);
        eight same = {0};
#pragma GCC unroll 8
        for (unsigned d = 1; d < i + 8; d++)
            same -= (eight)(own == *(const eight *)(key + i - d)); /* true is -1 */
        again[i / 8] = same;
    }
}

/* Of n lanes that are in one sector each, by their addresses below 2^31: how many are the first in theirs, or, if not
 * `merges`, of those in theirs with as many lanes before them at their address. */
MG_WIDE static uint32_t first_ones(const uint32_t at[MOST_LANES], unsigned n, unsigned shift, bool merges)
{
    uint32_t room[2 * MOST_LANES], *const key = room + MOST_LANES, first = 0;
    eight again[MOST_LANES / 8] = {0};
    for (unsigned i = 0; i < 2 * MOST_LANES; i++)
        room[i] = UINT32_MAX - i;
    memcpy(key, at, n * sizeof *key);
    if (!merges)
        before(again, key, n);
    for (unsigned i = 0; i < n; i += 8) {
        eight *const of = (eight *)(key + i);
        *of = (*of >> shift << 5) + again[i / 8]; /* fewer than 32; behind the last key are others than these */
    }
    before(again, key, n);
    for (unsigned i = 0; i < n; i++)
        first += again[i / 8][i % 8] == 0;
    return first;
}

/* The sectors where each lane is in one, as aligned elements are, in windows with 32-bit addresses; 0: another way. */
static uint32_t of_elements(unsigned width, uint32_t mask, const uint64_t address[32], unsigned unit, bool merges)
{
    uint32_t at[MOST_LANES];
    uint64_t bits = 0;
    unsigned n = 0;
    for (uint32_t m = mask; m; m &= m - 1) {
        const uint64_t a = address[__builtin_ctz(m)];
        bits |= a;
        at[n++] = (uint32_t)a;
    }
    if (width > unit || width & (width - 1) || bits & (width - 1) || bits >> 31)
        return 0;
    return first_ones(at, n, (unsigned)__builtin_ctz(unit), merges);
}

struct mg_far_cost mg__model_far(const struct mg_arch *arch, enum mg_model_far kind, unsigned width, uint32_t mask,
                                 const uint64_t address[32])
{
    const bool merges = kind == MG_FAR_LD || kind == MG_FAR_ST, stores = kind == MG_FAR_ST || kind == MG_FAR_STAS;
    const unsigned unit = arch->sector_bytes, shift = (unsigned)__builtin_ctz(unit);
    uint64_t key[MOST_LANES], addresses = 0, sectors = 0; /* which there may be: a bit stands for many */
    uint8_t turn[MOST_LANES];                             /* so many lanes before it have its address */
    unsigned n = 0;
    struct mg_far_cost cost = {0};
    cost.sectors = stores ? 0 : of_elements(width, mask, address, unit, merges);
    if (cost.sectors) {
        cost.sectors *= kind == MG_FAR_ATOM ? 2 : 1;
        cost.sent = cost.sectors;
        return cost;
    }
    for (uint32_t m = mask; m; m &= m - 1, n++) {
        const uint64_t at = key[n] = address[__builtin_ctz(m)], bit = bit_of(at / 4);
        turn[n] = 0;
        for (unsigned i = 0; i < n && !merges && addresses & bit; i++)
            turn[n] = (uint8_t)(turn[n] + (key[i] == at));
        addresses |= bit;
    }
    for (unsigned i = 0; i < n; i++)
        for (uint64_t sector = key[i] >> shift << shift; sector < key[i] + width; sector += unit) {
            const uint64_t bit = bit_of((sector >> shift) + 11 * turn[i]);
            bool known = false; /* a lane before it has been here, in the same turn */
            for (unsigned k = 0; k < i && !known && sectors & bit; k++)
                known = turn[k] == turn[i] && key[k] < sector + unit && key[k] + width > sector;
            sectors |= bit;
            if (known)
                continue;
            uint64_t bytes = 0;
            for (unsigned k = 0; k < n && stores; k++)
                bytes |= turn[k] == turn[i] ? bytes_of(key[k], width, sector, unit) : 0;
            cost.sectors++;
            cost.sent += stores && !one_piece(bytes) ? 2 : 1;
        }
    if (kind == MG_FAR_ATOM) {
        cost.sectors *= 2;
        cost.sent *= 2;
    }
    return cost;
}
