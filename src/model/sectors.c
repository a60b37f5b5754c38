/* sectors.c - how many sectors, of 32 bytes mostly, one warp's access to global memory moves.
 *
 *   load, store       the distinct sectors touched
 *   atomic, reduction the warp is served in passes, and each pass moves the distinct sectors that it touches:
 *
 *       pass  the lanes still waiting that go to the line of the first of them, and that share no slot with a waiting
 *             lane before them, of whichever line
 *       slot  one of four for each word of a line: the word's place in its line, and two bits folded from the line's
 *             number (`row_of`)
 *
 * Lanes that meet on one address so go one after the other, and different addresses of a sector together: mostly this
 * is the sum, over the sectors, of the largest number of lanes on one address in each. It is more where two addresses
 * share a slot by chance: the later lane misses its line's pass, and its sector is moved once more.
 *
 * Measured on an H100 and an H200, as in banks.c; docs/fidelity.md says on what. An access is aligned to its width, so
 * that it lies in one sector, or in whole ones.
 */
#include "model/again.h"
#include "model/model_priv.h"

enum { WORD_SHIFT = 2, SLOTS = MG_MODEL_LINE, LINE_SECTORS = 8 /* at most: mg__model_create */ };

struct units { /* of global memory, as shifts of an address */
    unsigned sector, line;
};
static struct units units_of(const struct mg_arch *arch)
{
    return (struct units){(unsigned)__builtin_ctz(arch->sector_bytes), (unsigned)__builtin_ctz(arch->line_bytes)};
}

#ifdef __x86_64__
/* Which of 16 values are among 16 others, these turned round step by step. */
#define AMONG(k)                                                                                                \
    known[0] = _kor_mask16(known[0], _mm512_cmpeq_epi32_mask(value, _mm512_alignr_epi32(others, others, (k)))); \
    known[1] = _kor_mask16(known[1], _mm512_cmpeq_epi32_mask(value, _mm512_alignr_epi32(others, others, (k) + 8)));
__attribute__((target("avx512f,avx512cd"), always_inline)) static inline __mmask16 among(__m512i value, __m512i others)
{
    __mmask16 known[2] = {0, 0};
    AMONG(0) AMONG(1) AMONG(2) AMONG(3) AMONG(4) AMONG(5) AMONG(6) AMONG(7) return _kor_mask16(known[0], known[1]);
}

/* The distinct sectors of all lanes, as vectors; 0: they lie too far apart. Those of the second half are compared with
 * each of the first. */
__attribute__((target("avx512f,avx512cd"))) static uint32_t distinct_at_once(unsigned shift, uint32_t mask,
                                                                             const uint64_t address[32])
{
    const uint64_t any = address[__builtin_ctz(mask)];
    const __m512i first = _mm512_set1_epi64((long long)any);
    __m512i half[2], far = _mm512_setzero_si512();
    for (unsigned k = 0; k < 2; k++) { /* an idle lane has an active one's */
        __m512i a = _mm512_mask_loadu_epi64(first, (__mmask8)(mask >> 16 * k), address + 16 * k),
                b = _mm512_mask_loadu_epi64(first, (__mmask8)(mask >> (16 * k + 8)), address + 16 * k + 8);
        far = _mm512_or_si512(far, _mm512_or_si512(_mm512_xor_si512(a, first), _mm512_xor_si512(b, first)));
        half[k] = _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi64_epi32(_mm512_srli_epi64(a, shift))),
                                     _mm512_cvtepi64_epi32(_mm512_srli_epi64(b, shift)), 1);
    }
    if (_mm512_test_epi64_mask(far, _mm512_set1_epi64((long long)(UINT64_MAX << (32 + shift)))))
        return 0;
    const __m512i zero = _mm512_setzero_si512();
    __mmask16 known = _mm512_test_epi32_mask(_mm512_conflict_epi32(half[1]), _mm512_set1_epi32(-1));
    known |= among(half[1], half[0]);
    unsigned of_first = (unsigned)_mm512_cmpeq_epi32_mask(_mm512_conflict_epi32(half[0]), zero);
    return (uint32_t)(__builtin_popcount(of_first) + 16 - __builtin_popcount((unsigned)known));
}
#endif

#ifdef __x86_64__
/* The distinct ones of up to 16 sectors in the lanes `some`; those of another half are compared with each of these. */
__attribute__((target("avx512f,avx512cd,popcnt"))) static uint32_t distinct_of_row(unsigned shift, uint32_t mask,
                                                                                   const uint32_t offset[32])
{
    const __m512i turn = _mm512_setr_epi32(15, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14);
    const unsigned n = (unsigned)__builtin_popcount(mask), n_low = (unsigned)__builtin_popcount(mask & 0xffff);
    const __m128i by = _mm_cvtsi32_si128((int)shift);
    __m512i low = _mm512_srl_epi32(_mm512_maskz_compress_epi32((__mmask16)mask, _mm512_loadu_si512(offset)), by),
            high = _mm512_srl_epi32(
                _mm512_maskz_compress_epi32((__mmask16)(mask >> 16), _mm512_loadu_si512(offset + 16)), by);
    const __mmask16 in_low = (__mmask16)((1u << n_low) - 1), in_high = (__mmask16)((1u << (n - n_low)) - 1);
    /* Lanes in the order of their sectors, as they mostly are: where one is another than the one before. */
    const __m512i ones = _mm512_set1_epi32(-1);
    __m512i before = _mm512_mask_permutexvar_epi32(_mm512_setzero_si512(), 0xfffe, turn, low);
    const __m512i last =
        n_low ? _mm512_permutexvar_epi32(_mm512_set1_epi32((int)n_low - 1), low) : _mm512_setzero_si512();
    __m512i before_high = _mm512_mask_permutexvar_epi32(last, 0xfffe, turn, high);
    if (!(_mm512_mask_cmplt_epu32_mask(in_low, low, before) | _mm512_mask_cmplt_epu32_mask(in_high, high, before_high)))
        return (uint32_t)(__builtin_popcount(_mm512_mask_cmpneq_epi32_mask(in_low & 0xfffe, low, before)) +
                          __builtin_popcount(_mm512_mask_cmpneq_epi32_mask(
                              n_low ? in_high : (__mmask16)(in_high & 0xfffe), high, before_high)) +
                          1);
    if (n <= 16) { /* one vector has them all */
        low = _mm512_mask_expand_epi32(low, (__mmask16)(0xffffu << n_low), high);
        return (uint32_t)__builtin_popcount(
            _mm512_mask_testn_epi32_mask((__mmask16)((1u << n) - 1), _mm512_conflict_epi32(low), ones));
    }
    __mmask16 known = _mm512_mask_test_epi32_mask(in_high, _mm512_conflict_epi32(high), ones);
    /* Places without a lane have a sector that no lane has. */
    known |= in_high & among(high, _mm512_mask_mov_epi32(ones, in_low, low));
    unsigned of_low = _mm512_mask_testn_epi32_mask(in_low, _mm512_conflict_epi32(low), ones);
    return (uint32_t)__builtin_popcount(of_low) + n - n_low - (uint32_t)__builtin_popcount(known);
}

/* Of 32 lanes, an idle one's the same as one that runs has: mostly in order, else no two the same in their low bits, or
 * all within what these reach. */
MG_AVX2_INLINE uint32_t distinct_of_vectors(const __m256i sector[4])
{
    const __m256i low = _mm256_set1_epi32(0xffff);
    __m256i half[2], again[2], before[4], fall = _mm256_setzero_si256();
    uint32_t same = 0, least, most;
    for (unsigned k = 0; k < 4; k++) {
        const __m256i last = k ? sector[k - 1] : _mm256_broadcastd_epi32(_mm256_castsi256_si128(sector[0]));
        before[k] = _mm256_alignr_epi8(sector[k], _mm256_permute2x128_si256(last, sector[k], 0x21), 12);
        fall = _mm256_or_si256(fall, _mm256_cmpgt_epi32(before[k], sector[k]));
    }
    if (_mm256_testz_si256(fall, fall)) {
        for (unsigned k = 0; k < 4; k++)
            same += (uint32_t)__builtin_popcount(
                (unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(before[k], sector[k]))));
        return 33 - same; /* those that are the same as the one before, as the first is */
    }
    for (unsigned i = 0; i < 2; i++)
        half[i] = _mm256_packus_epi32(_mm256_and_si256(sector[2 * i], low), _mm256_and_si256(sector[2 * i + 1], low));
    mg__again_halves(half, again);
    same = (unsigned)__builtin_popcount((unsigned)_mm256_movemask_epi8(_mm256_packs_epi16(again[0], again[1])));
    if (!same)
        return 32;
    mg__ends_of(sector, &least, &most);
    return 32 - (most - least < 65536 ? same : mg__again_words(sector));
}

MG_AVX2 static uint32_t distinct_of_offsets(unsigned shift, uint32_t mask, const uint32_t offset[32])
{
    const __m128i by = _mm_cvtsi32_si128((int)shift);
    const __m256i any = _mm256_set1_epi32((int)(offset[__builtin_ctz(mask)] >> shift));
    __m256i sector[4];
    for (unsigned k = 0; k < 4; k++)
        sector[k] = _mm256_srl_epi32(_mm256_loadu_si256((const void *)(offset + 8 * k)), by);
    for (unsigned k = 0; k < 4 && mask != UINT32_MAX; k++)
        sector[k] = _mm256_blendv_epi8(any, sector[k], mg__lanes_of(mask, 8 * k));
    return distinct_of_vectors(sector);
}

/* 0: they lie too far apart. */
MG_AVX2 static uint32_t distinct_of_addresses(unsigned shift, uint32_t mask, const uint64_t address[32])
{
    const __m128i by = _mm_cvtsi32_si128((int)shift);
    const __m256i any = _mm256_set1_epi64x((long long)address[__builtin_ctz(mask)]),
                  apart = _mm256_srl_epi64(_mm256_set1_epi64x(-1), _mm_cvtsi32_si128(33 - (int)shift));
    __m256i sector[4], far = _mm256_setzero_si256();
    for (unsigned k = 0; k < 4; k++) {
        const __m256i runs = mg__lanes_of(mask, 8 * k);
        __m256i a = _mm256_loadu_si256((const void *)(address + 8 * k)),
                b = _mm256_loadu_si256((const void *)(address + 8 * k + 4));
        a = _mm256_blendv_epi8(any, a, _mm256_cvtepi32_epi64(_mm256_castsi256_si128(runs)));
        b = _mm256_blendv_epi8(any, b, _mm256_cvtepi32_epi64(_mm256_extracti128_si256(runs, 1)));
        far = _mm256_or_si256(far, _mm256_or_si256(_mm256_xor_si256(a, any), _mm256_xor_si256(b, any)));
        const __m256 low = _mm256_castsi256_ps(_mm256_srl_epi64(a, by)),
                     high = _mm256_castsi256_ps(_mm256_srl_epi64(b, by));
        sector[k] = _mm256_permute4x64_epi64(_mm256_castps_si256(_mm256_shuffle_ps(low, high, 0x88)), 0xd8);
    }
    return _mm256_testc_si256(apart, far) ? distinct_of_vectors(sector) : 0;
}
#endif

uint32_t mg__model_row_sectors(const struct mg_arch *arch, uint32_t mask, const uint32_t offset[32])
{
    const struct units u = units_of(arch);
    if (!(mask & (mask - 1)))
        return mask != 0;
#ifdef __x86_64__
    if (mg__isa() >= 4)
        return distinct_of_row(u.sector, mask, offset);
    if (mg__isa() >= 3)
        return distinct_of_offsets(u.sector, mask, offset);
#endif
    uint64_t key[32];
    struct mg_keyset set = {{0}};
    uint32_t count = 0;
    unsigned n = 0;
    for (uint32_t m = mask; m; m &= m - 1, n++) {
        key[n] = offset[__builtin_ctz(m)] >> u.sector;
        count += n && key[n] == key[n - 1] ? 0 : mg__keyset_add(&set, key, n) == n;
    }
    return count;
}

static uint32_t distinct_sectors(struct units u, unsigned width, uint32_t mask, const uint64_t address[32])
{
    unsigned each = MG_MAX(width >> u.sector, 1u);
#ifdef __x86_64__
    if (mask & (mask - 1) && mg__isa() >= 3) {
        uint32_t found =
            mg__isa() >= 4 ? distinct_at_once(u.sector, mask, address) : distinct_of_addresses(u.sector, mask, address);
        if (found)
            return found * each;
    }
#endif
    uint64_t key[32];
    unsigned n = 0, rises = 0;
    bool ordered = true;
    for (uint32_t m = mask; m; m &= m - 1) {
        uint64_t k = address[__builtin_ctz(m)] >> u.sector;
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

/* The two bits of a line's number, found bit by bit: which pairs of lines get in each other's way. Lines that differ in
 * bits 0 and 2 alone do, for one. */
static unsigned row_of(uint64_t line)
{
    return (unsigned)(((line ^ line >> 2 ^ line >> 5) & 3) ^ (line >> 4 & 1) * 3);
}

#ifdef __x86_64__
/* The slots of 16 lanes. */
__attribute__((target("avx512f"), always_inline)) static inline __m512i slots_of(struct units u, __m512i offset,
                                                                                 uint32_t base, uint32_t origin)
{
    const __m512i at = _mm512_add_epi32(offset, _mm512_set1_epi32((int)base)), three = _mm512_set1_epi32(3),
                  line = _mm512_srli_epi32(_mm512_sub_epi32(at, _mm512_set1_epi32((int)origin)), u.line);
    __m512i row = _mm512_xor_si512(_mm512_xor_si512(line, _mm512_srli_epi32(line, 2)), _mm512_srli_epi32(line, 5));
    row = _mm512_and_si512(row, three);
    row = _mm512_mask_xor_epi32(row, _mm512_test_epi32_mask(line, _mm512_set1_epi32(16)), row, three);
    const __m512i word =
        _mm512_and_si512(_mm512_srli_epi32(at, WORD_SHIFT), _mm512_set1_epi32((1 << (u.line - WORD_SHIFT)) - 1));
    return _mm512_add_epi32(word, _mm512_slli_epi32(row, u.line - WORD_SHIFT));
}

__attribute__((target("avx512f,avx512cd,popcnt"))) static bool
row_contended(struct units u, uint32_t mask, const uint32_t offset[32], uint32_t base, uint32_t origin)
{
    const __m512i ones = _mm512_set1_epi32(-1);
    const unsigned n = (unsigned)__builtin_popcount(mask), n_low = (unsigned)__builtin_popcount(mask & 0xffff);
    const __mmask16 in_low = (__mmask16)((1u << n_low) - 1), in_high = (__mmask16)((1u << (n - n_low)) - 1);
    __m512i low = _mm512_maskz_compress_epi32((__mmask16)mask, _mm512_loadu_si512(offset)),
            high = _mm512_maskz_compress_epi32((__mmask16)(mask >> 16), _mm512_loadu_si512(offset + 16));
    if (n <= 16) { /* one vector has them all */
        low = slots_of(u, _mm512_mask_expand_epi32(low, (__mmask16)(0xffffu << n_low), high), base, origin);
        return _mm512_mask_test_epi32_mask((__mmask16)((1u << n) - 1), _mm512_conflict_epi32(low), ones);
    }
    low = _mm512_mask_mov_epi32(ones, in_low, slots_of(u, low, base, origin));
    high = slots_of(u, high, base, origin);
    return _mm512_mask_test_epi32_mask(in_low, _mm512_conflict_epi32(low), ones) |
           _mm512_mask_test_epi32_mask(in_high, _mm512_conflict_epi32(high), ones) | (in_high & among(high, low));
}

/* The slots of 8 lanes, of whose addresses the lower 32 bits tell. */
MG_AVX2_INLINE __m256i slots_of_eight(struct units u, __m256i at, uint32_t origin)
{
    const __m256i three = _mm256_set1_epi32(3), fifth = _mm256_set1_epi32(16),
                  line = _mm256_srl_epi32(_mm256_sub_epi32(at, _mm256_set1_epi32((int)origin)),
                                          _mm_cvtsi32_si128((int)u.line));
    __m256i row = _mm256_xor_si256(_mm256_xor_si256(line, _mm256_srli_epi32(line, 2)), _mm256_srli_epi32(line, 5));
    row = _mm256_xor_si256(row, _mm256_cmpeq_epi32(_mm256_and_si256(line, fifth), fifth));
    row = _mm256_sll_epi32(_mm256_and_si256(row, three), _mm_cvtsi32_si128((int)u.line - WORD_SHIFT));
    return _mm256_add_epi32(
        row, _mm256_and_si256(_mm256_srli_epi32(at, WORD_SHIFT), _mm256_set1_epi32((1 << (u.line - WORD_SHIFT)) - 1)));
}

/* Which lanes have a slot that one before them has, and the slots of all, an idle lane's one of its own. */
MG_AVX2_INLINE uint32_t slots_again(__m256i of[4], uint32_t mask, uint8_t slot[32])
{
    __m256i half[2], again[2],
        own = _mm256_setr_epi32(SLOTS, SLOTS + 1, SLOTS + 2, SLOTS + 3, SLOTS + 4, SLOTS + 5, SLOTS + 6, SLOTS + 7);
    for (unsigned k = 0; k < 4; k++, own = _mm256_add_epi32(own, _mm256_set1_epi32(8)))
        of[k] = _mm256_blendv_epi8(own, of[k], mg__lanes_of(mask, 8 * k));
    for (unsigned k = 0; k < 2; k++)
        half[k] = _mm256_permute4x64_epi64(_mm256_packus_epi32(of[2 * k], of[2 * k + 1]), 0xd8);
    mg__again_halves(half, again);
    _mm256_storeu_si256((void *)slot, _mm256_permute4x64_epi64(_mm256_packus_epi16(half[0], half[1]), 0xd8));
    return (uint32_t)_mm256_movemask_epi8(_mm256_permute4x64_epi64(_mm256_packs_epi16(again[0], again[1]), 0xd8));
}

MG_AVX2 static bool row_contended_avx2(struct units u, uint32_t mask, const uint32_t offset[32], uint32_t base,
                                       uint32_t origin)
{
    __m256i of[4];
    uint8_t slot[32];
    for (unsigned k = 0; k < 4; k++)
        of[k] = slots_of_eight(
            u, _mm256_add_epi32(_mm256_loadu_si256((const void *)(offset + 8 * k)), _mm256_set1_epi32((int)base)),
            origin);
    return slots_again(of, mask, slot) != 0;
}
#endif

uint32_t mg__model_row_atomic(const struct mg_arch *arch, uint32_t mask, const uint32_t offset[32], uint64_t base,
                              uint64_t origin)
{
#ifdef __x86_64__
    /* The lower 32 bits tell: a slot hangs on fewer. */
    if (mg__isa() >= 3 && !(mg__isa() >= 4 ? row_contended : row_contended_avx2)(units_of(arch), mask, offset,
                                                                                 (uint32_t)base, (uint32_t)origin))
        return mg__model_row_sectors(arch, mask, offset);
#endif
    (void)arch, (void)mask, (void)offset, (void)base, (void)origin;
    return 0;
}

#ifdef __x86_64__
__attribute__((target("avx512f"))) static uint32_t lanes_at_avx512(const uint64_t address[32], unsigned shift,
                                                                   uint64_t unit)
{
    const __m512i is = _mm512_set1_epi64((long long)unit);
    uint32_t same = 0;
    for (unsigned k = 0; k < 32; k += 8)
        same |= (uint32_t)_mm512_cmpeq_epi64_mask(_mm512_srli_epi64(_mm512_loadu_si512(address + k), shift), is) << k;
    return same;
}

MG_AVX2 static uint32_t lanes_at_avx2(const uint64_t address[32], unsigned shift, uint64_t unit)
{
    const __m256i is = _mm256_set1_epi64x((long long)unit);
    const __m128i by = _mm_cvtsi32_si128((int)shift);
    uint32_t same = 0;
    for (unsigned k = 0; k < 32; k += 4) {
        const __m256i at = _mm256_srl_epi64(_mm256_loadu_si256((const void *)(address + k)), by);
        same |= (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(at, is))) << k;
    }
    return same;
}
#endif

uint32_t mg__model_lanes_at(const uint64_t address[32], unsigned shift, uint64_t unit)
{
#ifdef __x86_64__
    if (mg__isa() >= 4)
        return lanes_at_avx512(address, shift, unit);
    if (mg__isa() >= 3)
        return lanes_at_avx2(address, shift, unit);
#endif
    uint32_t same = 0;
    for (unsigned i = 0; i < 32; i++)
        same |= (uint32_t)(address[i] >> shift == unit) << i;
    return same;
}

/* Which of 32 bytes have the value. */
static uint32_t bytes_at(const uint8_t of[32], uint8_t value)
{
    uint32_t same = 0;
#ifdef __x86_64__
    for (unsigned k = 0; k < 32; k += 16) {
        const __m128i is = _mm_cmpeq_epi8(_mm_loadu_si128((const void *)(of + k)), _mm_set1_epi8((char)value));
        same |= (uint32_t)_mm_movemask_epi8(is) << k;
    }
#else
    for (unsigned i = 0; i < 32; i++)
        same |= (uint32_t)(of[i] == value) << i;
#endif
    return same;
}

/* Lanes of an atomic that want a slot which a lane before them wants, too, and whoever shares a line with one. */
struct contended {
    const uint64_t *address;
    struct units u;
    uint32_t later;      /* such lanes */
    uint32_t rivals[32]; /* of these, the lanes before them in their slot */
    uint32_t lines[32];  /* of several lanes, where one of them is such a lane */
    unsigned nlines;
    uint32_t waiting;   /* the lanes of these lines */
    uint32_t apart;     /* rivals in other lines, which need not wait: they are served with the first of their line */
    uint32_t first[32]; /* by lane: those whose first it is */
    uint32_t sector[LINE_SECTORS]; /* lanes by the sector of their line */
};

#ifdef __x86_64__
__attribute__((target("avx512f,avx512cd"))) static uint32_t
slots_avx512(struct units u, uint32_t mask, const uint64_t address[32], uint64_t origin, uint8_t slot[32])
{
    const __m512i ones = _mm512_set1_epi32(-1),
                  apart = _mm512_set_epi32(-1, -2, -3, -4, -5, -6, -7, -8, -9, -10, -11, -12, -13, -14, -15, -16);
    __m512i half[2]; /* idle lanes have a number of their own, no slot's */
    for (unsigned k = 0; k < 2; k++) {
        const __m256i low = _mm512_cvtepi64_epi32(_mm512_loadu_si512(address + 16 * k)),
                      high = _mm512_cvtepi64_epi32(_mm512_loadu_si512(address + 16 * k + 8));
        const __m512i at = _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1),
                      of = slots_of(u, at, 0, (uint32_t)origin);
        _mm_storeu_si128((void *)(slot + 16 * k), _mm512_cvtepi32_epi8(of));
        half[k] = _mm512_mask_mov_epi32(apart, (__mmask16)(mask >> 16 * k), of);
    }
    return (mask & _mm512_test_epi32_mask(_mm512_conflict_epi32(half[0]), ones)) |
           (mask & (uint32_t)(_mm512_test_epi32_mask(_mm512_conflict_epi32(half[1]), ones) |
                              (among(half[1], half[0]) & mask >> 16))
                       << 16);
}

MG_AVX2 static uint32_t slots_avx2(struct units u, uint32_t mask, const uint64_t address[32], uint64_t origin,
                                   uint8_t slot[32])
{
    __m256i of[4];
    for (unsigned k = 0; k < 4; k++) {
        const __m256 low = _mm256_loadu_ps((const float *)(const void *)(address + 8 * k)),
                     high = _mm256_loadu_ps((const float *)(const void *)(address + 8 * k + 4));
        const __m256i at = _mm256_castps_si256(_mm256_shuffle_ps(low, high, 0x88)); /* the lower halves */
        of[k] = slots_of_eight(u, _mm256_permute4x64_epi64(at, 0xd8), (uint32_t)origin);
    }
    return slots_again(of, mask, slot);
}
#endif

static void find_slots(struct contended *c, uint32_t mask, uint64_t origin, uint8_t slot[32])
{
#ifdef __x86_64__
    if (mg__isa() >= 4) {
        c->later = slots_avx512(c->u, mask, c->address, origin, slot);
        return;
    }
    if (mg__isa() >= 3) {
        c->later = slots_avx2(c->u, mask, c->address, origin, slot);
        return;
    }
#endif
    const unsigned words = 1u << (c->u.line - WORD_SHIFT);
    uint64_t taken[SLOTS / 64] = {0};
    for (uint32_t m = mask; m; m &= m - 1) {
        const unsigned i = (unsigned)__builtin_ctz(m);
        const uint64_t at = c->address[i];
        slot[i] = (uint8_t)((at >> WORD_SHIFT & (words - 1)) + row_of((at - origin) >> c->u.line) * words);
        c->later |= (uint32_t)(taken[slot[i] / 64] >> slot[i] % 64 & 1) << i;
        taken[slot[i] / 64] |= UINT64_C(1) << slot[i] % 64;
    }
}

static uint32_t line_of(const struct contended *c, uint32_t mask, unsigned lane)
{
    return mask & mg__model_lanes_at(c->address, c->u.line, c->address[lane] >> c->u.line);
}

static void find_lines(struct contended *c, uint32_t mask, const uint8_t slot[32])
{
    uint32_t seen = 0;
    for (uint32_t m; (m = c->later & ~seen) != 0;) {
        const uint32_t line = line_of(c, mask, (unsigned)__builtin_ctz(m));
        seen |= line;
        if (line & (line - 1)) {
            c->lines[c->nlines++] = line;
            c->waiting |= line;
        }
    }
    for (uint32_t m = c->later & c->waiting; m; m &= m - 1) {
        const unsigned i = (unsigned)__builtin_ctz(m);
        c->rivals[i] = bytes_at(slot, slot[i]) & mask & ((UINT32_C(1) << i) - 1);
        for (uint32_t r = c->rivals[i] & ~c->waiting & ~c->apart; r; r &= r - 1) {
            const unsigned k = (unsigned)__builtin_ctz(r);
            c->first[__builtin_ctz(line_of(c, mask, k))] |= UINT32_C(1) << k;
            c->apart |= UINT32_C(1) << k;
        }
    }
}

static unsigned sector_of(const struct contended *c, unsigned lane)
{
    return (unsigned)(c->address[lane] >> c->u.sector) & ((1u << (c->u.line - c->u.sector)) - 1);
}

/* How many sectors of their line these lanes are in. */
static uint32_t sectors_in(const struct contended *c, uint32_t lanes)
{
    uint32_t n = 0;
    for (unsigned s = 0; s < 1u << (c->u.line - c->u.sector); s++)
        n += (c->sector[s] & lanes) != 0;
    return n;
}

/* Lines that have nothing to do with one another: no lane waits for one of another line. In each of such a line's
 * passes the next lane of every word goes, so a sector is moved as often as its most wanted word is. How often that is
 * more than once; these lines are taken out. */
static uint32_t moved_in_closed(struct contended *c)
{
    uint32_t open = 0, again = 0;
    unsigned left = 0;
    for (unsigned k = 0; k < c->nlines; k++)
        for (uint32_t m = c->lines[k] & c->later; m; m &= m - 1) {
            const uint32_t other = c->rivals[__builtin_ctz(m)] & ~c->lines[k];
            open |= other ? other | (m & -m) : 0;
        }
    for (unsigned k = 0; k < c->nlines; k++) {
        uint8_t before[LINE_SECTORS] = {0}; /* how many lanes one of its lanes waits for, at most */
        if (c->lines[k] & open) {
            c->lines[left++] = c->lines[k];
            continue;
        }
        c->waiting &= ~c->lines[k];
        for (uint32_t m = c->lines[k] & c->later; m; m &= m - 1) {
            const unsigned i = (unsigned)__builtin_ctz(m), n = (unsigned)__builtin_popcount(c->rivals[i]);
            uint8_t *const most = &before[sector_of(c, i)];
            again += MG_MAX(n, *most) - *most;
            *most = (uint8_t)MG_MAX(n, *most);
        }
    }
    c->nlines = left;
    return again;
}

/* Of the lines that are left, pass by pass: the line of the first lane that waits goes, but for lanes one of whose
 * rivals has not been. */
static uint32_t moved_in_passes(struct contended *c)
{
    uint8_t line[32];
    uint32_t again = 0;
    unsigned passed = 0;
    for (uint32_t m = c->waiting; m; m &= m - 1)
        c->sector[sector_of(c, (unsigned)__builtin_ctz(m))] |= m & -m;
    for (unsigned k = 0; k < c->nlines; k++) {
        again -= sectors_in(c, c->lines[k]);
        for (uint32_t m = c->lines[k]; m; m &= m - 1)
            line[__builtin_ctz(m)] = (uint8_t)k;
    }
    while (c->waiting) {
        const unsigned first = (unsigned)__builtin_ctz(c->waiting);
        for (; passed <= first; passed++)
            c->apart &= ~c->first[passed];
        const uint32_t here = c->waiting & c->lines[line[first]], still = c->waiting | c->apart;
        uint32_t go = here;
        for (uint32_t m = here & c->later; m; m &= m - 1)
            go &= ~(c->rivals[__builtin_ctz(m)] & still ? m & -m : 0);
        again += sectors_in(c, go);
        c->waiting &= ~go;
    }
    return again;
}

/* How many sectors an atomic moves that it has moved before. A line whose lanes need not wait moves each of its own
 * once, and so does a lane alone in its line, whenever its turn comes. */
static uint32_t moved_again(struct units u, uint32_t mask, const uint64_t address[32], uint64_t origin)
{
    struct contended c = {.address = address, .u = u};
    uint8_t slot[32] = {0};
    const uint64_t any = mask ? address[__builtin_ctz(mask)] : 0;
    if (!(mask & (mask - 1)))
        return 0;
    if (mg__model_lanes_at(address, 0, any) == mask)
        return (uint32_t)__builtin_popcount(mask) - 1;
    find_slots(&c, mask, origin, slot);
    find_lines(&c, mask, slot);
    const uint32_t again = moved_in_closed(&c);
    return c.waiting ? again + moved_in_passes(&c) : again;
}

/* An atomic that is wider than a sector is taken to move one a lane. */
static uint32_t moved_of(struct units u, enum mg_access_kind kind, unsigned width, uint32_t mask,
                         const uint64_t address[32], uint64_t origin, uint32_t touched)
{
    if (kind != MG_ACCESS_ATOM && kind != MG_ACCESS_RED)
        return touched;
    return touched / MG_MAX(width >> u.sector, 1u) + moved_again(u, mask, address, origin);
}

uint32_t mg__model_sectors(const struct mg_arch *arch, enum mg_access_kind kind, unsigned width, uint32_t mask,
                           const uint64_t address[32], uint64_t origin)
{
    const struct units u = units_of(arch);
    return moved_of(u, kind, width, mask, address, origin, distinct_sectors(u, width, mask, address));
}

uint64_t mg__model_origin(const struct mg_launch_info *info, uint64_t address)
{
    size_t low = 0, high = info->nallocations;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (info->allocations[middle].address <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? info->allocations[low - 1].address : 0;
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

struct mg_global_cost mg__model_global(const struct mg_arch *arch, enum mg_access_kind kind,
                                       const struct mg_ptx_insn *insn, unsigned width, uint32_t mask,
                                       const uint64_t address[32], uint64_t origin)
{
    const struct units u = units_of(arch);
    /* The theoretical sectors are those touched, for atomics too; the ideal is never more than what was touched. */
    struct mg_global_cost cost = {.touched = distinct_sectors(u, width, mask, address)};
    cost.moved = moved_of(u, kind, width, mask, address, origin, cost.touched);
    unsigned bytes = kind == MG_ACCESS_CP_ASYNC && mg__model_bypass(insn) ? width * distinct_lanes(mask, address)
                                                                          : mg__model_bytes(width, mask);
    cost.ideal = MG_MIN((bytes + arch->sector_bytes - 1) / arch->sector_bytes, cost.touched);
    return cost;
}
