/* degrees.c - how many units of shared memory meet in one bank: the largest number of distinct ones, which is how many
 * wavefronts serve them. Units are words, or what is wider and aligned; a row has one of each bank.
 *
 * The portable way is `mg__model_degree`. Most accesses are of 32 lanes and words or doubles in 32 banks of 4 bytes,
 * and come several at a time: with AVX2 and with AVX-512 these are counted without a branch that an address decides.
 */
#include "model/again.h"
#include "model/model_priv.h"

enum { BANKS = MG_MODEL_BANKS, WORD_BYTES = 4 };

/* The largest number of distinct units in one bank, for lanes that lie too far apart for mg__model_degree. */
static unsigned degree_far(const uint32_t *unit, unsigned n, unsigned row_shift)
{
    struct mg_keyset set = {{0}};
    uint8_t count[BANKS] = {0};
    uint64_t key[32];
    unsigned most = 0;
    for (unsigned i = 0; i < n; i++) {
        key[i] = unit[i];
        if (mg__keyset_add(&set, key, i) == i) {
            unsigned c = ++count[unit[i] & ((1u << row_shift) - 1)];
            most = MG_MAX(most, c);
        }
    }
    return most;
}

#ifdef __x86_64__
static inline uint32_t full_adder(uint32_t a, uint32_t b, uint32_t c, uint32_t *carry)
{
    *carry = (a & b) | (c & (a ^ b));
    return a ^ b ^ c;
}

/* The largest number of rows that have one bank's bit. They are added up at once, binary digit by digit, by adders side
 * by side. */
static inline unsigned most_set(const uint32_t rows[8])
{
    uint32_t two[4], four[2], digit[4];
    uint32_t a = full_adder(rows[0], rows[1], rows[2], &two[0]), b = full_adder(rows[3], rows[4], rows[5], &two[1]);
    digit[0] = full_adder(full_adder(a, b, rows[6], &two[2]), rows[7], 0, &two[3]);
    digit[1] = full_adder(full_adder(two[0], two[1], two[2], &four[0]), two[3], 0, &four[1]);
    digit[2] = four[0] ^ four[1];
    digit[3] = four[0] & four[1];
    uint32_t banks = UINT32_MAX; /* those with the largest count so far */
    unsigned count = 0;
    for (unsigned d = 4; d-- > 0;) { /* without a branch: which digit is set is chance */
        uint32_t more = banks & digit[d];
        count |= (unsigned)(more != 0) << d;
        banks = more ? more : banks;
    }
    return count;
}

/* The same, of 32 banks, for units within 256 of the least, as those of a table of so many counters: eight rows of 32
 * bits in one vector register, which a lane's unit adds a bit to without a store that a later load must wait for.
 * Counted from the least unit on: which bank is called the first does not matter. */
MG_AVX2 static unsigned degree_from(const uint32_t unit[32], uint32_t least)
{
    uint32_t rows[8];
    const __m256i row =
        _mm256_add_epi32(_mm256_set1_epi32((int)least), _mm256_setr_epi32(0, 32, 64, 96, 128, 160, 192, 224));
    __m256i even = _mm256_setzero_si256(), odd = even;
    const __m256i one = _mm256_set1_epi32(1);
    for (unsigned i = 0; i < 32; i += 2) { /* a shift by 32 or more, as by a negative number, gives 0 */
        even = _mm256_or_si256(even, _mm256_sllv_epi32(one, _mm256_sub_epi32(_mm256_set1_epi32((int)unit[i]), row)));
        odd = _mm256_or_si256(odd, _mm256_sllv_epi32(one, _mm256_sub_epi32(_mm256_set1_epi32((int)unit[i + 1]), row)));
    }
    _mm256_storeu_si256((void *)rows, _mm256_or_si256(even, odd));
    return most_set(rows);
}

/* Two lanes at a time. */
__attribute__((target("avx512f"), always_inline)) static inline unsigned pairs_from(__m512i first, __m512i second,
                                                                                    uint32_t least)
{
    uint32_t rows[8];
    const __m512i unit[2] = {first, second};
    const __m512i row =
        _mm512_add_epi32(_mm512_set1_epi32((int)least),
                         _mm512_setr_epi32(0, 32, 64, 96, 128, 160, 192, 224, 0, 32, 64, 96, 128, 160, 192, 224));
    const __m512i one = _mm512_set1_epi32(1), pair = _mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1);
    __m512i found[2] = {_mm512_setzero_si512(), _mm512_setzero_si512()};
    for (unsigned k = 0; k < 16; k += 2) {
        __m512i which = _mm512_add_epi32(pair, _mm512_set1_epi32((int)k));
        for (unsigned i = 0; i < 2; i++) /* a shift by 32 or more, as by a negative number, gives 0 */
            found[i] = _mm512_or_si512(
                found[i], _mm512_sllv_epi32(one, _mm512_sub_epi32(_mm512_permutexvar_epi32(which, unit[i]), row)));
    }
    __m512i all = _mm512_or_si512(found[0], found[1]);
    _mm256_storeu_si256((void *)rows, _mm256_or_si256(_mm512_castsi512_si256(all), _mm512_extracti64x4_epi64(all, 1)));
    return most_set(rows);
}

/* The largest of 16 bytes, of 32. */
MG_AVX2_INLINE unsigned most_of_half(__m128i in)
{
    __m128i most = _mm_sub_epi8(_mm_set1_epi8(-1), in); /* the least is what there is an instruction for, of halves */
    most = _mm_min_epu8(most, _mm_srli_epi16(most, 8));
    return 255 - ((unsigned)_mm_cvtsi128_si32(_mm_minpos_epu16(_mm_and_si128(most, _mm_set1_epi16(255)))) & 255);
}
MG_AVX2_INLINE unsigned most_of(__m256i in)
{
    return most_of_half(_mm_max_epu8(_mm256_castsi256_si128(in), _mm256_extracti128_si256(in, 1)));
}

/* Of words marked, row by row. */
MG_AVX2 static unsigned sum_of_most_avx2(const uint8_t (*touched)[MG_TOUCHED], uint32_t rows)
{
    unsigned sum = 0;
    for (uint32_t r = 0; r < rows; r++) {
        __m256i in = _mm256_loadu_si256((const void *)touched[r]);
        for (unsigned k = BANKS; k < MG_TOUCHED; k += BANKS)
            in = _mm256_add_epi8(in, _mm256_loadu_si256((const void *)(touched[r] + k)));
        sum += most_of(in);
    }
    return sum;
}

/* Of 32 bytes, each a bank, or BANKS where nothing is counted: each a 1 at its place among 32, and these added up. */
static const uint8_t one_at[64] __attribute__((aligned(64))) = {[BANKS] = 1};
MG_AVX2_INLINE unsigned most_at(__m256i bank)
{
    uint8_t of[32] __attribute__((aligned(32)));
    __m256i in[4] = {_mm256_setzero_si256(), _mm256_setzero_si256(), _mm256_setzero_si256(), _mm256_setzero_si256()};
    _mm256_store_si256((void *)of, bank);
#pragma GCC unroll 32
    for (unsigned i = 0; i < 32; i++)
        in[i % 4] = _mm256_add_epi8(in[i % 4], _mm256_loadu_si256((const void *)(one_at + BANKS - of[i])));
    return most_of(_mm256_add_epi8(_mm256_add_epi8(in[0], in[1]), _mm256_add_epi8(in[2], in[3])));
}

/* Of words below 65536, those that a lane before has left out. */
MG_AVX2 static unsigned degree_of_halves(const uint32_t word[32])
{
    const __m256i in = _mm256_set1_epi16(BANKS - 1), none = _mm256_set1_epi16(BANKS);
    __m256i half[2], again[2];
    for (unsigned i = 0; i < 2; i++) /* in another order, as it does not matter */
        half[i] = _mm256_packus_epi32(_mm256_loadu_si256((const void *)(word + 16 * i)),
                                      _mm256_loadu_si256((const void *)(word + 16 * i + 8)));
    mg__again_halves(half, again);
    for (unsigned i = 0; i < 2; i++)
        half[i] = _mm256_blendv_epi8(_mm256_and_si256(half[i], in), none, again[i]);
    return most_at(_mm256_packus_epi16(half[0], half[1]));
}

/* Those of any of eight words. */
MG_AVX2_INLINE uint32_t all_bits(__m256i of)
{
    __m128i all = _mm_or_si128(_mm256_castsi256_si128(of), _mm256_extracti128_si256(of, 1));
    all = _mm_or_si128(all, _mm_shuffle_epi32(all, 0x4e));
    return (uint32_t)_mm_cvtsi128_si32(_mm_or_si128(all, _mm_shuffle_epi32(all, 0xb1)));
}

/* Of the words of the lanes that run, any of them where none does. */
MG_AVX2_INLINE unsigned degree_of_vectors(const __m256i unit[4], uint32_t mask)
{
    const __m256i one = _mm256_set1_epi32(1), in = _mm256_set1_epi32(BANKS - 1);
    __m256i bit[4], from[4];
    for (unsigned k = 0; k < 4; k++)
        bit[k] = _mm256_sllv_epi32(one, _mm256_and_si256(unit[k], in));
    bit[0] = _mm256_or_si256(_mm256_or_si256(bit[0], bit[1]), _mm256_or_si256(bit[2], bit[3]));
    const uint32_t banks = all_bits(bit[0]);
    if (__builtin_popcount(banks) == __builtin_popcount(mask))
        return 1; /* each its own */
    uint32_t word[32] __attribute__((aligned(32))), least, most;
    mg__ends_of(unit, &least, &most);
    if (least == most)
        return 1;
    /* Counted from the least on: which bank is called the first does not matter. */
    for (unsigned k = 0; k < 4; k++) {
        from[k] = _mm256_sub_epi32(unit[k], _mm256_set1_epi32((int)least));
        _mm256_store_si256((void *)(word + 8 * k), from[k]);
    }
    return most - least < 256     ? degree_from(word, 0)
           : most - least < 65536 ? degree_of_halves(word)
                                  : degree_far(word, 32, 5);
}

/* Of the words of some lanes. */
MG_AVX2 static unsigned degree_of_words(uint32_t mask, const uint32_t word[32])
{
    const __m256i any = _mm256_set1_epi32((int)word[__builtin_ctz(mask)]);
    __m256i unit[4];
    for (unsigned k = 0; k < 4; k++) /* a word twice counts once */
        unit[k] = _mm256_blendv_epi8(any, _mm256_loadu_si256((const void *)(word + 8 * k)), mg__lanes_of(mask, 8 * k));
    return degree_of_vectors(unit, mask);
}

/* Units of eight bytes, of which a row has 16, as words of 32 banks: those of one bank, and those that are the same,
 * stay so. */
MG_AVX2_INLINE __m256i doubles_as_words(__m256i unit)
{
    return _mm256_or_si256(_mm256_slli_epi32(_mm256_srli_epi32(unit, 4), 5),
                           _mm256_and_si256(unit, _mm256_set1_epi32(15)));
}

MG_AVX2 static unsigned degree_of_addresses(uint32_t mask, const uint64_t address[32])
{
    const __m256i any = _mm256_set1_epi32((int)(uint32_t)(address[__builtin_ctz(mask)] >> 2));
    __m256i unit[4];
    for (unsigned k = 0; k < 4; k++) {
        const uint64_t *p = address + 8 * k;
        __m256 a = _mm256_castsi256_ps(_mm256_srli_epi64(_mm256_loadu_si256((const void *)p), 2));
        __m256 b = _mm256_castsi256_ps(_mm256_srli_epi64(_mm256_loadu_si256((const void *)(p + 4)), 2));
        __m256i low = _mm256_castps_si256(_mm256_shuffle_ps(a, b, 0x88)); /* the low halves: 0 1 4 5 2 3 6 7 */
        unit[k] = _mm256_blendv_epi8(any, _mm256_permute4x64_epi64(low, 0xd8), mg__lanes_of(mask, 8 * k));
    }
    return degree_of_vectors(unit, mask);
}

/* Whether the first lane that runs, the next and the next but one do. */
static inline bool three_run(uint32_t mask)
{
    return (mask >> __builtin_ctz(mask) & 7) == 7;
}

/* Words a step apart, lane by lane, as many are that meet in a bank: an even number of words. The first three lanes and
 * the last one tell whether it may be so: the bytes of a step; 0: it is not. */
static inline uint32_t step_of(uint32_t mask, const uint32_t offset[32])
{
    const unsigned first = (unsigned)__builtin_ctz(mask), last = 31u - (unsigned)__builtin_clz(mask);
    if (!three_run(mask))
        return 0;
    const uint32_t step = offset[first + 1] - offset[first];
    const bool may = step % (2 * WORD_BYTES) == 0 && offset[first + 2] - offset[first + 1] == step &&
                     offset[last] - offset[first] == (last - first) * step;
    return may ? step : 0;
}

/* Lanes whose distance is a multiple of so many meet in a bank. */
static inline unsigned degree_of_steps(uint32_t mask, uint32_t step)
{
    const unsigned apart = BANKS >> __builtin_ctz(step / WORD_BYTES | BANKS), n = (unsigned)__builtin_popcount(mask);
    const uint32_t run = mask >> __builtin_ctz(mask);
    if (!(run & (run + 1))) /* one run of lanes */
        return (n + apart - 1) / apart;
    unsigned most = 0;
    for (unsigned from = 0; from < apart; from++) {
        unsigned here = 0;
        for (unsigned lane = from; lane < 32; lane += apart)
            here += mask >> lane & 1;
        most = MG_MAX(most, here);
    }
    return most;
}

MG_AVX2 static bool in_steps(uint32_t mask, const uint32_t offset[32], uint32_t step)
{
    const unsigned first = (unsigned)__builtin_ctz(mask);
    const __m256i lane = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), eight = _mm256_set1_epi32((int)(8 * step));
    __m256i at = _mm256_add_epi32(_mm256_mullo_epi32(lane, _mm256_set1_epi32((int)step)),
                                  _mm256_set1_epi32((int)(offset[first] - first * step))),
            differ = _mm256_setzero_si256();
    for (unsigned k = 0; k < 32; k += 8, at = _mm256_add_epi32(at, eight)) {
        const __m256i d = _mm256_xor_si256(at, _mm256_loadu_si256((const void *)(offset + k)));
        differ = _mm256_or_si256(differ, _mm256_and_si256(d, mg__lanes_of(mask, k)));
    }
    return _mm256_testz_si256(differ, differ);
}

MG_AVX2 static uint64_t degrees_of_offsets(const uint32_t *masks, const uint32_t (*offset)[32], uint32_t rows)
{
    uint64_t sum = 0;
    for (uint32_t r = 0; r < rows; r++) {
        const __m256i any = _mm256_set1_epi32((int)(offset[r][__builtin_ctz(masks[r])] >> 2));
        __m256i unit[4];
        for (unsigned k = 0; k < 4; k++)
            unit[k] = _mm256_srli_epi32(_mm256_loadu_si256((const void *)(offset[r] + 8 * k)), 2);
        for (unsigned k = 0; k < 4 && masks[r] != UINT32_MAX; k++)
            unit[k] = _mm256_blendv_epi8(any, unit[k], mg__lanes_of(masks[r], 8 * k));
        sum += degree_of_vectors(unit, masks[r]);
    }
    return sum;
}

/* Of any words, 32 in two vectors: those that a lane before has are left out, each other one is a 1 at its bank among
 * 32 bytes, and these are added up. */
#define SEEN(k)                                                                                        \
    seen[0] = _kor_mask16(seen[0], _mm512_cmpeq_epi32_mask(high, _mm512_alignr_epi32(low, low, (k)))); \
    seen[1] = _kor_mask16(seen[1], _mm512_cmpeq_epi32_mask(high, _mm512_alignr_epi32(low, low, (k) + 8)));
__attribute__((target("avx512f,avx512cd,avx2"), always_inline)) static inline unsigned most_in_bank(__m512i low,
                                                                                                    __m512i high)
{
    const __m512i ones = _mm512_set1_epi32(-1), bank = _mm512_set1_epi32(BANKS - 1), none = _mm512_set1_epi32(BANKS);
    __mmask16 seen[2] = {_mm512_test_epi32_mask(_mm512_conflict_epi32(high), ones), 0};
    const __mmask16 before = _mm512_test_epi32_mask(_mm512_conflict_epi32(low), ones);
    uint8_t of[32];
    SEEN(0)
    SEEN(1) SEEN(2) SEEN(3) SEEN(4) SEEN(5) SEEN(6) SEEN(7) const __mmask16 again = _kor_mask16(seen[0], seen[1]);
    _mm_storeu_si128((void *)of,
                     _mm512_cvtepi32_epi8(_mm512_mask_mov_epi32(_mm512_and_si512(low, bank), before, none)));
    _mm_storeu_si128((void *)(of + 16),
                     _mm512_cvtepi32_epi8(_mm512_mask_mov_epi32(_mm512_and_si512(high, bank), again, none)));
    __m256i in[4] = {_mm256_setzero_si256(), _mm256_setzero_si256(), _mm256_setzero_si256(), _mm256_setzero_si256()};
    for (unsigned i = 0; i < 32; i += 4)
        for (unsigned k = 0; k < 4; k++)
            in[k] = _mm256_add_epi8(in[k], _mm256_loadu_si256((const void *)(one_at + BANKS - of[i + k])));
    return most_of(_mm256_add_epi8(_mm256_add_epi8(in[0], in[1]), _mm256_add_epi8(in[2], in[3])));
}

/* Of words in two vectors, an idle lane's the same as an active one's. */
__attribute__((target("avx512f,avx512cd,avx2,popcnt"), always_inline)) static inline bool
without_conflict(const __m512i unit[2], uint32_t mask)
{
    const __m512i one = _mm512_set1_epi32(1), bank = _mm512_set1_epi32(BANKS - 1);
    uint32_t banks =
        (uint32_t)_mm512_reduce_or_epi32(_mm512_or_si512(_mm512_sllv_epi32(one, _mm512_and_si512(unit[0], bank)),
                                                         _mm512_sllv_epi32(one, _mm512_and_si512(unit[1], bank))));
    if (__builtin_popcount(banks) == __builtin_popcount(mask))
        return true; /* each its own */
    const __m512i first = _mm512_broadcastd_epi32(_mm512_castsi512_si128(unit[0]));
    return _mm512_kortestz(_mm512_cmpneq_epi32_mask(unit[0], first), _mm512_cmpneq_epi32_mask(unit[1], first));
}

/* Of the addresses of the active lanes. */
__attribute__((target("avx512f,avx512cd,avx2,popcnt"))) static unsigned degree_of_pairs(uint32_t mask,
                                                                                        const uint64_t address[32])
{
    __m512i unit[2];
    for (unsigned i = 0; i < 2; i++) {
        __m256i low = _mm512_cvtepi64_epi32(_mm512_srli_epi64(_mm512_loadu_si512(address + 16 * i), 2));
        __m256i high = _mm512_cvtepi64_epi32(_mm512_srli_epi64(_mm512_loadu_si512(address + 16 * i + 8), 2));
        unit[i] = _mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1);
        if (mask != UINT32_MAX) /* a word twice counts once */
            unit[i] = _mm512_mask_mov_epi32(_mm512_set1_epi32((int)(address[__builtin_ctz(mask)] >> 2)),
                                            (__mmask16)(mask >> 16 * i), unit[i]);
    }
    return without_conflict(unit, mask) ? 1 : most_in_bank(unit[0], unit[1]);
}

/* Of some rows. Words within 256 of the least, as those of a table, are marked in a map of bytes, all rows' before the
 * first map is read, that nothing waits for the marks. */
enum { ROWS_AT_ONCE = 8 };
__attribute__((target("avx512f,avx512cd,avx2,popcnt"))) static uint32_t
degrees_of_some(const uint32_t *masks, const uint32_t (*offset)[32], uint32_t rows)
{
    uint8_t map[ROWS_AT_ONCE][MG_TOUCHED] __attribute__((aligned(64)));
    uint32_t sum = 0, maps = 0, word[32] __attribute__((aligned(64)));
    for (uint32_t r = 0; r < rows; r++) {
        __m512i unit[2];
        const __m512i any = _mm512_set1_epi32((int)(offset[r][__builtin_ctz(masks[r])] >> 2));
        for (unsigned i = 0; i < 2; i++)
            unit[i] =
                _mm512_mask_srli_epi32(any, (__mmask16)(masks[r] >> 16 * i), _mm512_loadu_si512(offset[r] + 16 * i), 2);
        if (without_conflict(unit, masks[r])) {
            sum++;
            continue;
        }
        const __m512i least = _mm512_set1_epi32((int)_mm512_reduce_min_epu32(_mm512_min_epu32(unit[0], unit[1]))),
                      reach = _mm512_set1_epi32(MG_TOUCHED - 1),
                      from[2] = {_mm512_sub_epi32(unit[0], least), _mm512_sub_epi32(unit[1], least)};
        if (_mm512_cmpgt_epu32_mask(_mm512_max_epu32(from[0], from[1]), reach)) {
            sum += most_in_bank(unit[0], unit[1]);
            continue;
        }
        uint8_t *const to = memset(map[maps++], 0, sizeof(map[0]));
        _mm512_store_si512(word, from[0]);
        _mm512_store_si512(word + 16, from[1]);
#pragma GCC unroll 32
        for (unsigned i = 0; i < 32; i++)
            to[word[i]] = 1;
    }
    return sum + sum_of_most_avx2((const uint8_t(*)[MG_TOUCHED])map, maps);
}

static uint64_t degrees_of_rows(const uint32_t *masks, const uint32_t (*offset)[32], uint32_t rows)
{
    uint64_t sum = 0;
    for (uint32_t r = 0; r < rows; r += ROWS_AT_ONCE)
        sum += degrees_of_some(masks + r, offset + r, MG_MIN(rows - r, (uint32_t)ROWS_AT_ONCE));
    return sum;
}

/* Of words up to `most`. */
__attribute__((target("avx512f,avx512cd,avx2"))) static unsigned degree_of_pair(const uint32_t word[32], uint32_t most)
{
    const __m512i first = _mm512_loadu_si512(word), second = _mm512_loadu_si512(word + 16);
    return most < 256 ? pairs_from(first, second, 0) : most_in_bank(first, second);
}

unsigned mg__model_warp_words(uint32_t mask, const uint64_t address[32])
{
    return mg__isa() >= 4 ? degree_of_pairs(mask, address) : mg__isa() >= 3 ? degree_of_addresses(mask, address) : 0;
}

/* Rows are one instruction's, and mostly of a kind: the first of more than two lanes tells of which. */
static bool may_be_steps(const uint32_t *masks, const uint32_t (*offset)[32], uint32_t rows)
{
    uint32_t r = 0;
    while (r < rows && !three_run(masks[r]))
        r++;
    return r < rows && step_of(masks[r], offset[r]);
}

uint64_t mg__model_rows_words(const uint32_t *masks, const uint32_t (*offset)[32], uint32_t rows)
{
    uint64_t (*const of)(const uint32_t *, const uint32_t(*)[32], uint32_t) =
        mg__isa() >= 4 ? degrees_of_rows : degrees_of_offsets;
    if (mg__isa() < 3)
        return 0;
    if (!may_be_steps(masks, offset, rows))
        return of(masks, offset, rows);
    uint64_t sum = 0;
    uint32_t others = 0; /* the first of those before row r that are not steps */
    for (uint32_t r = 0; r < rows; r++) {
        const uint32_t step = step_of(masks[r], offset[r]);
        if (!step || !in_steps(masks[r], offset[r], step))
            continue;
        sum += degree_of_steps(masks[r], step) + of(masks + others, offset + others, r - others);
        others = r + 1;
    }
    return sum + of(masks + others, offset + others, rows - others);
}

/* Whether lanes and those next to them, or next but one, have the same place wherever both run. */
MG_AVX2_INLINE bool in_pairs(const uint32_t offset[32], uint32_t mask)
{
    uint32_t next = 0, other = 0;
    for (unsigned k = 0; k < 32; k += 8) {
        const __m256i at = _mm256_loadu_si256((const void *)(offset + k)),
                      a = _mm256_cmpeq_epi32(at, _mm256_shuffle_epi32(at, 0xb1)),
                      b = _mm256_cmpeq_epi32(at, _mm256_shuffle_epi32(at, 0x4e));
        next |= (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(a)) << k;
        other |= (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(b)) << k;
    }
    const uint32_t both = mask & mask >> 1 & 0x55555555u, far = mask & mask >> 2 & 0x33333333u;
    return !(both & ~next) || !(far & ~other);
}

/* Doubles as words, and the largest number of them in a bank; 0: no lane runs. */
enum { HALF = 0xffff, NO_UNIT = 0xffff };
MG_AVX2_INLINE unsigned degree_of_doubles(const uint32_t offset[32], uint32_t mask)
{
    uint32_t word[32] __attribute__((aligned(32)));
    for (unsigned k = 0; k < 32; k += 8)
        _mm256_store_si256((void *)(word + k),
                           doubles_as_words(_mm256_srli_epi32(_mm256_loadu_si256((const void *)(offset + k)), 3)));
    return mask ? degree_of_words(mask, word) : 0;
}

/* The largest of 16 counts of four bits; `full`: of 16 lanes, which may all be in one bank and be carried out of its
 * bits. */
MG_AVX2_INLINE unsigned most_of_counts(uint64_t count, bool full)
{
    const uint64_t digits = UINT64_C(0x0f0f0f0f0f0f0f0f);
    if (full && !(count & (count - 1)))
        return 16;
    return most_of_half(_mm_set_epi64x((int64_t)(count >> 4 & digits), (int64_t)(count & digits)));
}

/* Of 16 lanes and as many banks: of each bank four bits count the units that no lane before has. */
MG_AVX2_INLINE unsigned degree_of_eights(const __m256i unit[2], uint32_t runs)
{
    const __m256i none = _mm256_set1_epi32(NO_UNIT), one = _mm256_set1_epi64x(1);
    const __m256i of =
        _mm256_permute4x64_epi64(_mm256_packus_epi32(_mm256_blendv_epi8(none, unit[0], mg__lanes_of(runs, 0)),
                                                     _mm256_blendv_epi8(none, unit[1], mg__lanes_of(runs, 8))),
                                 0xd8);
    __m256i turn[16], sum = _mm256_setzero_si256();
    mg__turn_halves(of, turn);
    const __m256i left_out = _mm256_or_si256(mg__again_within(of, turn), _mm256_cmpeq_epi16(of, _mm256_set1_epi16(-1)));
    const __m256i at = _mm256_blendv_epi8(_mm256_slli_epi16(_mm256_and_si256(of, _mm256_set1_epi16(15)), 2),
                                          _mm256_set1_epi16(64), left_out); /* a shift by 64 leaves nothing */
    for (unsigned h = 0; h < 2; h++) {
        const __m128i half = h ? _mm256_extracti128_si256(at, 1) : _mm256_castsi256_si128(at);
        sum = _mm256_add_epi64(sum, _mm256_sllv_epi64(one, _mm256_cvtepu16_epi64(half)));
        sum = _mm256_add_epi64(sum, _mm256_sllv_epi64(one, _mm256_cvtepu16_epi64(_mm_unpackhi_epi64(half, half))));
    }
    const __m128i two = _mm_add_epi64(_mm256_castsi256_si128(sum), _mm256_extracti128_si256(sum, 1));
    return most_of_counts((uint64_t)_mm_cvtsi128_si64(_mm_add_epi64(two, _mm_unpackhi_epi64(two, two))),
                          _mm256_testz_si256(left_out, left_out));
}

/* The largest number of units in a bank, of each half's lanes; 0: none runs. */
MG_AVX2 static void degrees_of_halves(const uint32_t offset[32], uint32_t mask, uint32_t degree[2])
{
    const __m256i one = _mm256_set1_epi32(1), in = _mm256_set1_epi32(15);
    const uint32_t low = mask & HALF, high = mask >> 16;
    __m256i unit[4], bit[4];
    for (unsigned k = 0; k < 4; k++) {
        const __m256i runs = mg__lanes_of(mask, 8 * k);
        unit[k] = _mm256_and_si256(runs, _mm256_srli_epi32(_mm256_loadu_si256((const void *)(offset + 8 * k)), 3));
        bit[k] = _mm256_and_si256(runs, _mm256_sllv_epi32(one, _mm256_and_si256(unit[k], in)));
    }
    const __m256i both =
        _mm256_or_si256(_mm256_or_si256(bit[0], bit[1]), _mm256_slli_epi32(_mm256_or_si256(bit[2], bit[3]), 16));
    const uint32_t banks = all_bits(both);
    degree[0] = low != 0;
    degree[1] = high != 0;
    if (__builtin_popcount(banks) == __builtin_popcount(mask))
        return; /* each its own */
    const __m256i seen = _mm256_or_si256(_mm256_or_si256(unit[0], unit[1]), _mm256_or_si256(unit[2], unit[3]));
    if (!_mm256_testz_si256(seen, _mm256_set1_epi32(~(NO_UNIT >> 1)))) { /* behind all that 16 bits hold */
        degree[0] = degree_of_doubles(offset, low);
        degree[1] = degree_of_doubles(offset, mask & ~(uint32_t)HALF);
        return;
    }
    degree[0] = degree_of_eights(unit, low);
    degree[1] = degree_of_eights(unit + 2, high);
}

/* The same with larger vectors. */
#define MG_AVX512 __attribute__((target("avx512f,avx512cd,avx512bw,avx512dq,avx512vl,avx2,popcnt")))
MG_AVX512 static inline unsigned degree_of_half(__m512i unit, __mmask16 runs)
{
    const __mmask16 again = _mm512_test_epi32_mask(_mm512_conflict_epi32(unit), _mm512_set1_epi32(runs)),
                    counted = (__mmask16)(runs & ~again);
    const __m512i one = _mm512_set1_epi64(1), at = _mm512_slli_epi32(_mm512_and_si512(unit, _mm512_set1_epi32(15)), 2);
    const __m512i sum = _mm512_add_epi64(
        _mm512_maskz_sllv_epi64((__mmask8)counted, one, _mm512_cvtepu32_epi64(_mm512_castsi512_si256(at))),
        _mm512_maskz_sllv_epi64((__mmask8)(counted >> 8), one,
                                _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64(at, 1))));
    const __m256i four = _mm256_add_epi64(_mm512_castsi512_si256(sum), _mm512_extracti64x4_epi64(sum, 1));
    const __m128i two = _mm_add_epi64(_mm256_castsi256_si128(four), _mm256_extracti128_si256(four, 1));
    return most_of_counts((uint64_t)_mm_cvtsi128_si64(_mm_add_epi64(two, _mm_unpackhi_epi64(two, two))),
                          counted == HALF);
}
MG_AVX512 static void degrees_of_halves_512(const uint32_t offset[32], uint32_t mask, uint32_t degree[2])
{
    for (unsigned k = 0; k < 2; k++)
        degree[k] =
            degree_of_half(_mm512_srli_epi32(_mm512_loadu_si512(offset + 16 * k), 3), (__mmask16)(mask >> 16 * k));
}

/* As `plain` has it. */
MG_AVX2 static struct mg_cost cost_of_doubles(uint32_t mask, const uint32_t offset[32], bool load)
{
    enum { ROW = 128, WIDTH = 8 };
    uint32_t degree[2];
    const uint32_t ideal = ((uint32_t)__builtin_popcount(mask) * WIDTH + ROW - 1) / ROW,
                   halves = (mask & HALF ? 1u : 0u) + (mask > HALF ? 1u : 0u);
    const bool paired = load && in_pairs(offset, mask);
    (mg__isa() >= 4 ? degrees_of_halves_512 : degrees_of_halves)(offset, mask, degree);
    if (paired && degree[0] <= 1 && degree[1] <= 1 && degree_of_doubles(offset, mask) == 1)
        return (struct mg_cost){1, 1};
    return (struct mg_cost){degree[0] + degree[1], paired ? ideal : MG_MIN(halves, ideal)};
}

struct mg_cost mg__model_rows_doubles(const uint32_t *masks, const uint32_t (*offset)[32], uint32_t rows, bool load)
{
    struct mg_cost sum = {0, 0};
    for (uint32_t r = 0; r < rows && mg__isa() >= 3; r++) {
        const struct mg_cost cost = cost_of_doubles(masks[r], offset[r], load);
        sum.wavefronts += cost.wavefronts;
        sum.ideal += cost.ideal;
    }
    return sum;
}

unsigned mg__model_warp_near(const uint32_t word[32], uint32_t most)
{
    if (mg__isa() >= 4)
        return degree_of_pair(word, most);
    if (mg__isa() < 3)
        return 0;
    return most < 256 ? degree_from(word, 0) : degree_of_words(UINT32_MAX, word);
}
#else
uint64_t mg__model_rows_words(const uint32_t *masks, const uint32_t (*offset)[32], uint32_t rows)
{
    (void)masks, (void)offset, (void)rows;
    return 0;
}
struct mg_cost mg__model_rows_doubles(const uint32_t *masks, const uint32_t (*offset)[32], uint32_t rows, bool load)
{
    (void)masks, (void)offset, (void)rows, (void)load;
    return (struct mg_cost){0, 0};
}
unsigned mg__model_warp_near(const uint32_t word[32], uint32_t most)
{
    (void)word, (void)most;
    return 0;
}
unsigned mg__model_warp_words(uint32_t mask, const uint64_t address[32])
{
    (void)mask, (void)address;
    return 0;
}
#endif

typedef uint8_t bank_bytes __attribute__((vector_size(BANKS)));

static inline __attribute__((always_inline)) unsigned sum_of_most(const uint8_t (*touched)[MG_TOUCHED], uint32_t rows)
{
    unsigned sum = 0;
    for (uint32_t r = 0; r < rows; r++) {
        bank_bytes in = {0}, row; /* by bank, from that of the first word on */
        for (unsigned k = 0; k < MG_TOUCHED; k += BANKS) {
            memcpy(&row, touched[r] + k, sizeof(row));
            in += row;
        }
        uint8_t most = 0;
        for (unsigned b = 0; b < BANKS; b++)
            most = MG_MAX(most, in[b]);
        sum += most;
    }
    return sum;
}

unsigned mg__model_touched(const uint8_t (*touched)[MG_TOUCHED], uint32_t rows)
{
#ifdef __x86_64__
    if (mg__isa() >= 3)
        return sum_of_most_avx2(touched, rows);
#endif
    return sum_of_most(touched, rows);
}

/* The largest number of distinct units in one bank. Where there are no vectors for it, of lanes within 4 KB of the
 * first, without a branch that depends on an address: a bit a row, a word a bank. */
unsigned mg__model_degree(const uint32_t *unit, unsigned n, unsigned row_shift)
{
#ifdef __x86_64__
    if (row_shift >= 4 && n > 8 && mg__isa() >= 3) {
        uint32_t word[32] = {0};
        for (unsigned i = 0; i < n; i++) /* of eight bytes: as above */
            word[i] = row_shift == 5 ? unit[i] : unit[i] >> 4 << 5 | (unit[i] & 15);
        return degree_of_words(UINT32_MAX >> (32 - n), row_shift == 5 && n == 32 ? unit : word);
    }
#endif
    uint32_t far = 0, bank_mask = (1u << row_shift) - 1, banks = 0;
    for (unsigned i = 0; i < n; i++)
        banks |= 1u << (unit[i] & bank_mask);
    if (n && (unsigned)__builtin_popcount(banks) == n) /* each its own */
        return 1;
    uint32_t first_row = n ? (unit[0] >> row_shift) - 32 : 0; /* 32 rows below the first lane's and 31 above */
    for (unsigned i = 0; i < n; i++)
        far |= (unit[i] >> row_shift) - first_row;
    if (far >= 64)
        return degree_far(unit, n, row_shift);
    uint64_t rows[BANKS];
    uint32_t count[BANKS];
    memset(rows, 0, sizeof(rows[0]) * (bank_mask + 1u));
    memset(count, 0, sizeof(count[0]) * (bank_mask + 1u));
    uint32_t most = 0;
    for (unsigned i = 0; i < n; i++) {
        uint32_t bank = unit[i] & bank_mask, row = (unit[i] >> row_shift) - first_row;
        uint32_t c = count[bank] + (uint32_t)(~rows[bank] >> row & 1);
        rows[bank] |= UINT64_C(1) << row;
        count[bank] = c;
        most = MG_MAX(most, c);
    }
    return most;
}
