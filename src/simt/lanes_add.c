/* lanes_add.c - counters in shared memory for compiled code: all lanes add to words that lie within 1 KB.
 *
 * Which words they are is kept for the observers, who are told of some additions together. Lanes also mark theirs in a
 * map of bytes while they add, by stores that nothing waits for: that is read when they have reached the cache. What
 * does not fit is the interpreter's handler's to do.
 */
#include "simt/engine_priv.h"
#include "simt/lanes.h"

/* Words from the first one on; false: some lane's is not among the `reach` that follow, or its address is odd. */
static ALWAYS_INLINE bool words_from(const uint32_t address[32], uint32_t first, uint32_t reach, uint32_t word[32])
{
#ifdef __AVX512F__
    const __m512i from = _mm512_set1_epi32((int)first), most = _mm512_set1_epi32((int)reach);
    __mmask16 out[2];
    for (unsigned k = 0; k < 2; k++) {
        __m512i w = _mm512_ror_epi32(_mm512_sub_epi32(_mm512_loadu_si512(address + 16 * k), from), 2);
        _mm512_storeu_si512(word + 16 * k, w);
        out[k] = _mm512_cmpgt_epu32_mask(w, most);
    }
    return _mm512_kortestz(out[0], out[1]);
#else
    uint32_t out = 0;
    for (unsigned i = 0; i < 32; i++) {
        uint32_t distance = address[i] - first;
        word[i] = distance >> 2 | distance << 30;
        out |= word[i] > reach;
    }
    return out == 0;
#endif
}

static ALWAYS_INLINE bool all_same(const uint32_t v[32])
{
#ifdef __AVX512F__
    const __m512i one = _mm512_set1_epi32((int)v[0]);
    return _mm512_kortestz(_mm512_cmpneq_epi32_mask(_mm512_loadu_si512(v), one),
                           _mm512_cmpneq_epi32_mask(_mm512_loadu_si512(v + 16), one));
#else
    uint32_t differ = 0;
    for (unsigned i = 0; i < 32; i++)
        differ |= v[i] ^ v[0];
    return differ == 0;
#endif
}

/* `map`: NULL if nobody wants to know. */
MG_NO_TSAN static ALWAYS_INLINE void add_all(uint32_t *at, uint8_t *map, const uint32_t word[32],
                                             const uint32_t more[32], const bool same)
{
    const uint32_t all = more[0];
#pragma GCC unroll 8
    for (unsigned i = 0; map && i < 32; i++) {
        at[word[i]] += same ? all : more[i];
        map[word[i]] = 1;
    }
#pragma GCC unroll 8
    for (unsigned i = 0; !map && i < 32; i++)
        at[word[i]] += same ? all : more[i];
}

bool ISA(mg__add_words)(struct mg_engine_warp *e, uint32_t index, uint32_t mask)
{
    struct mg_warp *w = mg__warp_of(e);
    const struct mg_op *op = &w->ops[index];
    const struct mg_mem *m = op->u.mem;
    const uint32_t *address = mg__slot(w, m->addr), *more = mg__slot(w, m->reg[1]), offset = (uint32_t)m->offset;
    struct mg_touched *t = w->sites[m->site].touched;
    uint32_t word[32] __attribute__((aligned(64)));
    if (MG_UNLIKELY(!w->filled))
        mg__fill_block(w, 32);
    if (MG_UNLIKELY(!t || !t->open || !words_from(address, t->first - offset, t->reach, word))) {
        narrow();
        t = mg__touched_window(w, op); /* nothing is untold now */
        if (!t || !words_from(address, t->first - offset, t->reach, word))
            return mg__engine_op(e, index, mask);
    }
    t->served++;
    uint32_t *const at = (uint32_t *)(void *)(w->block->shared + t->first);
    uint8_t *const map = t->told ? memset(t->map[t->untold], 0, sizeof(t->map[0])) : NULL;
    if (map)
        memcpy(t->word[t->untold], word, sizeof(word));
    if (all_same(more))
        add_all(at, map, word, more, true);
    else
        add_all(at, map, word, more, false);
    if (t->told && ++t->untold == MG_COUNT(t->word)) {
        narrow();
        mg__touched_settle(w->worker, t);
    }
    narrow();
    return true;
}
