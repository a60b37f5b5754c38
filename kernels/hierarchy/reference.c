/* reference.c - hierarchy in plain C: where a chase ends, what a stream sums to, and chains to chase. */
#include "margay/kernels.h"
#include "hierarchy/shape.h"

enum rung {
#define RUNG(id, name, idea, gain, words, latency) HIERARCHY_##id,
#include "hierarchy/hierarchy.def"
#undef RUNG
    HIERARCHY_RUNGS
};
static const int is_latency[] = {
#define RUNG(id, name, idea, gain, words, latency) latency,
#include "hierarchy/hierarchy.def"
#undef RUNG
};

static uint32_t chase(int variant, int64_t n, const uint32_t *x, int64_t steps)
{
    uint32_t index = 0;
    for (int64_t j = 0; n > 0 && j < steps; j++)
        index = variant == HIERARCHY_registers_latency ? index * HIERARCHY_FACTOR + x[0] : x[index];
    return index;
}

static uint32_t registers(int64_t n, const uint32_t *x, uint64_t steps, uint64_t threads)
{
    uint32_t sum = 0;
    for (uint64_t g = 0; g < threads; g++)
        for (uint64_t k = 0; k < HIERARCHY_CHAINS; k++)
            sum += (x[(g * HIERARCHY_CHAINS + k) % (uint64_t)n] & 0xff) *
                   (uint32_t)(steps / HIERARCHY_CHAINS + (k < steps % HIERARCHY_CHAINS));
    return sum;
}

/* The words of vectors 0 to count - 1, wrapping around. */
static uint32_t stream(int64_t n, const uint32_t *x, uint64_t count)
{
    uint64_t vectors = n < 4 ? 1 : (uint64_t)n / 4, rounds = count / vectors, rest = count % vectors;
    uint32_t all = 0, begun = 0;
    for (uint64_t v = 0; v < vectors; v++)
        for (uint64_t k = 0; k < 4; k++) {
            uint32_t word = x[(4 * v + k) % (uint64_t)n];
            all += word;
            if (v < rest)
                begun += word;
        }
    return all * (uint32_t)rounds + begun;
}

uint32_t mg_ref_hierarchy_u32(int variant, int64_t n, const uint32_t *x, int64_t steps, uint64_t bytes)
{
    int rung = variant == MG_BEST ? HIERARCHY_registers_bandwidth : variant;
    if (n <= 0 || steps <= 0)
        return 0;
    if (is_latency[rung])
        return chase(rung, n, x, steps);
    uint64_t count = (uint64_t)steps, block = HIERARCHY_THREADS * count;
    if (rung == HIERARCHY_registers_bandwidth)
        return registers(n, x, count, bytes / 4 / HIERARCHY_OPERANDS / count);
    if (rung == HIERARCHY_shared_bandwidth || rung == HIERARCHY_l1_bandwidth)
        return (uint32_t)(bytes / 16 / block) * stream(n, x, block);
    return stream(n, x, bytes / 16);
}

/* Sattolo's shuffle: of all permutations only those that are one cycle. The numbers are a hash of their place. */
void mg_ref_chain(int64_t n, uint32_t seed, uint32_t *x)
{
    for (int64_t i = 0; i < n; i++)
        x[i] = (uint32_t)i;
    for (int64_t i = n - 1; i > 0; i--) {
        uint64_t hash = ((uint64_t)i + ((uint64_t)seed << 32)) * UINT64_C(0x9e3779b97f4a7c15);
        hash = (hash ^ hash >> 32) * UINT64_C(0xd6e8feb86659fd93);
        hash ^= hash >> 32;
        int64_t j = (int64_t)(hash % (uint64_t)i); /* below i: never itself */
        uint32_t kept = x[i];
        x[i] = x[j];
        x[j] = kept;
    }
}
