/* again.h - which of 32 lanes have what a lane before them has, all compared with all at once, where there is AVX2.
 *
 * Each vector is turned step by step, so that every two of its lanes meet, and every lane of one vector each of
 * another. A lane that meets its like is marked if that one is before it: of each value one lane stays unmarked.
 */
#ifndef MG_MODEL_AGAIN_H
#define MG_MODEL_AGAIN_H
#ifdef __x86_64__
#include <immintrin.h>
#include <stdint.h>

#define MG_AVX2 __attribute__((target("avx2,popcnt")))
#define MG_AVX2_INLINE __attribute__((target("avx2,popcnt"), always_inline)) static inline

/* `x` and what its 8 turns within halves of 128 bits are, then those of its halves exchanged. */
MG_AVX2_INLINE void mg__turn_halves(__m256i x, __m256i turn[16])
{
    const __m256i y = _mm256_permute2x128_si256(x, x, 1);
#define MG_TURN(k) turn[k] = _mm256_alignr_epi8(x, x, 2 * (k)), turn[8 + (k)] = _mm256_alignr_epi8(y, y, 2 * (k));
    turn[0] = x, turn[8] = y;
    MG_TURN(1) MG_TURN(2) MG_TURN(3) MG_TURN(4) MG_TURN(5) MG_TURN(6) MG_TURN(7)
#undef MG_TURN
}

/* Of 16 lanes of 16 bits. */
MG_AVX2_INLINE __m256i mg__again_within(__m256i x, const __m256i turn[16])
{
    /* by the turn: where the lane that comes was before; that is so in the last lanes of each half */
    static const int16_t before[]
        __attribute__((aligned(32))) = {0, 0, 0, 0, 0, 0, 0, 0, -1, -1, -1, -1, -1, -1, -1, -1};
    __m256i same = _mm256_setzero_si256(), other = _mm256_cmpeq_epi16(x, turn[8]);
#pragma GCC unroll 8
    for (int k = 1; k < 8; k++) {
        const __m256i from = _mm256_broadcastsi128_si256(_mm_loadu_si128((const void *)(before + k)));
        same = _mm256_or_si256(same, _mm256_and_si256(from, _mm256_cmpeq_epi16(x, turn[k])));
        other = _mm256_or_si256(other, _mm256_cmpeq_epi16(x, turn[8 + k]));
    }
    return _mm256_or_si256(same, _mm256_and_si256(other, _mm256_setr_epi32(0, 0, 0, 0, -1, -1, -1, -1)));
}

/* 32 lanes of 16 bits: all ones where a lane has a value again. */
MG_AVX2_INLINE void mg__again_halves(const __m256i value[2], __m256i again[2])
{
    __m256i turn[16];
    mg__turn_halves(value[0], turn);
    again[0] = mg__again_within(value[0], turn);
    __m256i known = _mm256_cmpeq_epi16(value[1], turn[0]);
#pragma GCC unroll 16
    for (unsigned k = 1; k < 16; k++)
        known = _mm256_or_si256(known, _mm256_cmpeq_epi16(value[1], turn[k]));
    mg__turn_halves(value[1], turn);
    again[1] = _mm256_or_si256(known, mg__again_within(value[1], turn));
}

/* The same of 32 bits: how many lanes have a value again. */
MG_AVX2_INLINE unsigned mg__again_words(const __m256i value[4])
{
    const __m256i one = _mm256_setr_epi32(0, 0, 0, -1, 0, 0, 0, -1),
                  two = _mm256_setr_epi32(0, 0, -1, -1, 0, 0, -1, -1),
                  three = _mm256_setr_epi32(0, -1, -1, -1, 0, -1, -1, -1),
                  high = _mm256_setr_epi32(0, 0, 0, 0, -1, -1, -1, -1);
    __m256i again[4], turn[8];
    unsigned n = 0;
    for (unsigned k = 0; k < 4; k++)
        again[k] = _mm256_setzero_si256();
#pragma GCC unroll 4
    for (unsigned k = 0; k < 4; k++) {
        const __m256i x = value[k], y = _mm256_permute2x128_si256(x, x, 1);
        turn[0] = x, turn[4] = y;
        turn[1] = _mm256_shuffle_epi32(x, 0x39), turn[5] = _mm256_shuffle_epi32(y, 0x39);
        turn[2] = _mm256_shuffle_epi32(x, 0x4e), turn[6] = _mm256_shuffle_epi32(y, 0x4e);
        turn[3] = _mm256_shuffle_epi32(x, 0x93), turn[7] = _mm256_shuffle_epi32(y, 0x93);
        __m256i same = _mm256_and_si256(one, _mm256_cmpeq_epi32(x, turn[1])), other = _mm256_cmpeq_epi32(x, y);
        same = _mm256_or_si256(same, _mm256_and_si256(two, _mm256_cmpeq_epi32(x, turn[2])));
        same = _mm256_or_si256(same, _mm256_and_si256(three, _mm256_cmpeq_epi32(x, turn[3])));
        for (unsigned t = 5; t < 8; t++)
            other = _mm256_or_si256(other, _mm256_cmpeq_epi32(x, turn[t]));
        again[k] = _mm256_or_si256(again[k], _mm256_or_si256(same, _mm256_and_si256(other, high)));
        n += (unsigned)__builtin_popcount((unsigned)_mm256_movemask_ps(_mm256_castsi256_ps(again[k])));
#pragma GCC unroll 4
        for (unsigned later = k + 1; later < 4; later++)
#pragma GCC unroll 8
            for (unsigned t = 0; t < 8; t++)
                again[later] = _mm256_or_si256(again[later], _mm256_cmpeq_epi32(value[later], turn[t]));
    }
    return n;
}

/* All ones in the lanes of a mask, the lanes from `from` on. */
MG_AVX2_INLINE __m256i mg__lanes_of(uint32_t mask, unsigned from)
{
    const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32((int)(mask >> from)), bit), bit);
}

/* The least and the largest lane. */
MG_AVX2_INLINE void mg__ends_of(const __m256i value[4], uint32_t *least, uint32_t *most)
{
    const __m256i low = _mm256_min_epu32(_mm256_min_epu32(value[0], value[1]), _mm256_min_epu32(value[2], value[3])),
                  high = _mm256_max_epu32(_mm256_max_epu32(value[0], value[1]), _mm256_max_epu32(value[2], value[3]));
    __m128i l = _mm_min_epu32(_mm256_castsi256_si128(low), _mm256_extracti128_si256(low, 1));
    __m128i h = _mm_max_epu32(_mm256_castsi256_si128(high), _mm256_extracti128_si256(high, 1));
    l = _mm_min_epu32(l, _mm_shuffle_epi32(l, 0x4e)), h = _mm_max_epu32(h, _mm_shuffle_epi32(h, 0x4e));
    *least = (uint32_t)_mm_cvtsi128_si32(_mm_min_epu32(l, _mm_shuffle_epi32(l, 0xb1)));
    *most = (uint32_t)_mm_cvtsi128_si32(_mm_max_epu32(h, _mm_shuffle_epi32(h, 0xb1)));
}
#endif
#endif
