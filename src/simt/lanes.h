/* lanes.h - what the files that are compiled for several vector extensions share. */
#ifndef MG_LANES_H
#define MG_LANES_H
#include "simt/simt_priv.h"

#ifdef __AVX__
#include <immintrin.h>
#endif

#define PASTE2(a, b) a##b
#define PASTE(a, b) PASTE2(a, b)
#define ISA(name) PASTE(PASTE(name, _), MG_ISA)
#define STRING2(x) #x
#define STRING(x) STRING2(x)
#define ALWAYS_INLINE inline __attribute__((always_inline))

/* Handlers here end by calling the next one, which the compiler makes a jump: every handler has its own indirect branch
 * for the processor to predict. Where it does not (sanitizers, no optimisation) the stack would grow, so they
 * return. */
#if defined(__OPTIMIZE__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define NEXT return op[1].fn(w, op + 1, w->mask);
#else
#define NEXT return op + 1;
#endif

/* No iteration of the loop that follows reads what another one writes. */
#ifdef __clang__
#define IVDEP _Pragma("clang loop vectorize(assume_safety)")
#else
#define IVDEP _Pragma("GCC ivdep")
#endif

/* These files are compiled without the instruction that clears the upper halves of vector registers at every return. */
static ALWAYS_INLINE void narrow(void)
{
#ifdef __AVX__
    _mm256_zeroupper();
#endif
}

#if defined(__AVX2__) && !defined(__AVX512F__)
/* All ones in the lanes of a mask, 8 of 32 bits from lane `from` on. */
static ALWAYS_INLINE __m256i lanes_of(uint32_t mask, unsigned from)
{
    const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
    return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32((int)(mask >> from)), bit), bit);
}

/* Eight lanes of a register from lane `from` on, or four of 64 bits; idle ones keep theirs. */
static ALWAYS_INLINE void keep_32(uint32_t *d, uint32_t mask, unsigned from, __m256i got)
{
    __m256i *at = (__m256i *)(void *)(d + from);
    _mm256_storeu_si256(at, mask == ~0u ? got : _mm256_blendv_epi8(_mm256_loadu_si256(at), got, lanes_of(mask, from)));
}

static ALWAYS_INLINE __m256i pairs_of(uint32_t mask, unsigned from)
{
    return _mm256_cvtepi32_epi64(_mm256_castsi256_si128(lanes_of(mask, from)));
}

static ALWAYS_INLINE void keep_64(uint32_t *d, uint32_t mask, unsigned from, __m256i got)
{
    __m256i *at = (__m256i *)(void *)(d + 2 * from);
    _mm256_storeu_si256(at, mask == ~0u ? got : _mm256_blendv_epi8(_mm256_loadu_si256(at), got, pairs_of(mask, from)));
}

/* The places of eight lanes, an idle one's the same as an active one's: in `here`, if not as they stand. */
static ALWAYS_INLINE const uint32_t *places_from(const uint32_t *offset, uint32_t mask, unsigned from, uint32_t any,
                                                 uint32_t here[8])
{
    if (mask == ~0u)
        return offset + from;
    const __m256i at = _mm256_loadu_si256((const void *)(offset + (from & ~7u)));
    _mm256_store_si256((void *)here, _mm256_blendv_epi8(_mm256_set1_epi32((int)any), at, lanes_of(mask, from & ~7u)));
    return here + (from & 7);
}
#endif

extern const mg_handler ISA(mg__alu)[MG_SEM_OP_COUNT][3];
bool ISA(mg__add_words)(struct mg_engine_warp *e, uint32_t index, uint32_t mask);
bool ISA(mg__load_rows)(struct mg_engine_warp *e, uint32_t index, uint32_t mask);
bool ISA(mg__store_rows)(struct mg_engine_warp *e, uint32_t index, uint32_t mask);
void ISA(mg__move_shape)(struct mg_engine_warp *e, uint32_t index, const struct mg_engine_shape *shape, uint64_t at);
/* lanes_rows.c; false: nothing was done */
bool ISA(mg__places_of)(struct mg_warp *w, const struct mg_op *op, uint32_t mask, uint8_t *where[32]);
bool ISA(mg__load_near)(struct mg_warp *w, const struct mg_op *op, uint32_t mask);
bool ISA(mg__store_near)(struct mg_warp *w, const struct mg_op *op, uint32_t mask);
/* lanes_any.c: one element a lane, at its offset from `base`; the others, false: nothing was done */
void ISA(mg__load_elements)(void *d, const struct mg_mem *mem, uint32_t mask, const uint8_t *base,
                            const uint32_t offset[32]);
void ISA(mg__store_elements)(const void *d, const struct mg_mem *mem, uint32_t mask, uint8_t *base,
                             const uint32_t offset[32]);
bool ISA(mg__load_any)(struct mg_warp *w, const struct mg_op *op, uint32_t mask);
bool ISA(mg__store_any)(struct mg_warp *w, const struct mg_op *op, uint32_t mask);
void ISA(mg__mma)(const struct mg_sem_mma *what, unsigned cc, const struct mg_sem_warp *io);
void ISA(mg__wgmma)(const struct mg_wgmma_call *call);
#endif
