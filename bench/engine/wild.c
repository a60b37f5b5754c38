/* wild.c - the cases of `--only wild`: their data, and what must come out, which plain C says (wild_plain.c).
 *
 * A letter fills a buffer each:
 *   0 zeros    1 a one and zeros    i random words    f floats and D doubles from 0.5 to 1.5    s sorted words
 *   t text, mostly the letter a     w the word aaa…   k where rows of 0 to 63 begin    c random columns of 16384
 *   n keys in runs    d sizes of an attention's heads    r where digits begin    a AES's tables    g an alignment's rim
 */
#include "bench_wild.h"

#include <stdlib.h>
#include <string.h>

static uint32_t next(uint32_t *seed)
{
    *seed = *seed * 1664525u + 1013904223u;
    return (*seed >> 16) | (*seed * 22695477u & 0xffff0000u);
}

static int by_value(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

static uint32_t twice(uint32_t x) /* in AES's field */
{
    return (x << 1 ^ (x & 128 ? 0x11b : 0)) & 255;
}

/* Of each byte its substitute, times 2, 1, 1 and 3, rotated (FIPS 197, 5.1.1 and 5.1.3). */
static void aes_tables(uint32_t t[4][256])
{
    uint32_t p = 1, q = 1; /* q is 1/p */
    do {
        p ^= twice(p);
        q ^= q << 1, q ^= q << 2, q ^= q << 4, q &= 255;
        q ^= q & 128 ? 9 : 0;
        uint32_t s = q * 0x101;
        s = (s ^ s >> 7 ^ s >> 6 ^ s >> 5 ^ s >> 4 ^ 0x63) & 255;
        t[0][p] = twice(s) | s << 8 | s << 16 | (twice(s) ^ s) << 24;
    } while (p != 1);
    t[0][0] = twice(0x63) | 0x63 << 8 | 0x63 << 16 | (twice(0x63) ^ 0x63u) << 24;
    for (unsigned k = 1; k < 4; k++)
        for (unsigned i = 0; i < 256; i++)
            t[k][i] = t[k - 1][i] << 8 | t[k - 1][i] >> 24;
}

static void alignment_rim(int32_t *score)
{
    for (int i = 0; i < 1025; i++)
        score[i] = score[1025 * i] = -i;
}

static void digit_begins(uint32_t begins[16], const uint32_t *keys, size_t count, int shift)
{
    for (size_t i = 0; i < count; i++)
        for (uint32_t d = (keys[i] >> shift & 15) + 1; d < 16; d++)
            begins[d]++;
}

static void fill(char letter, const struct bench_case *c, int buffer, uint32_t *seed)
{
    uint32_t *word = c->data[buffer], run = 0;
    size_t words = c->bytes[buffer] / 4;
    for (size_t i = 0; i < words; i++) {
        uint32_t r = next(seed);
        if (strchr("is", letter))
            word[i] = r;
        else if (letter == 'f')
            ((float *)word)[i] = 0.5f + (float)(r % 1024) / 1024.0f;
        else if (letter == 'D' && i % 2 == 0)
            ((double *)word)[i / 2] = 0.5 + (double)(r % 1024) / 1024.0;
        else if (letter == 'c')
            word[i] = r % 16384;
        else if (letter == 'k')
            word[i] = run, run += r % 64;
        else if (letter == 'n')
            word[i] = run, run += r % 40 == 0 && run < 8191;
    }
    for (size_t i = 0; i < c->bytes[buffer] && strchr("tw", letter); i++)
        ((char *)word)[i] = letter == 't' && next(seed) % 4 == 0 ? (char)('a' + next(seed) % 4) : 'a';
    switch (letter) {
    case '1':
        word[0] = 1;
        break;
    case 's':
        qsort(word, words, 4, by_value);
        break;
    case 'd':
        memcpy(word, (uint64_t[3]){256, 16, 64}, 24);
        break;
    case 'r':
        digit_begins(word, c->data[1], c->bytes[1] / 4, c->n);
        break;
    case 'a':
        aes_tables(c->data[buffer]);
        break;
    case 'g':
        alignment_rim(c->data[buffer]);
        break;
    default:
        break;
    }
}

/* What plain C makes of it. */
static bool expect(struct bench_case *c)
{
    void *buffers[BENCH_BUFFERS] = {NULL};
    bool good = true;
    for (int i = 0; i < BENCH_BUFFERS; i++)
        if (c->bytes[i] && (buffers[i] = malloc(c->bytes[i])))
            memcpy(buffers[i], c->data[i], c->bytes[i]);
        else
            good &= c->bytes[i] == 0;
    if (good)
        c->plain(buffers, c->n);
    c->expect = buffers[0];
    for (int i = 1; i < BENCH_BUFFERS; i++)
        free(buffers[i]);
    return good;
}

#define LIST(...)   \
    {               \
        __VA_ARGS__ \
    }
static const struct {
    const char *name, *fills;
    size_t bytes[BENCH_BUFFERS];
    unsigned block[2], grid[2];
    int launches, n;
    void (*plain)(void *const *buffers, int n);
} table[] = {
#define CASE(name, fills, bytes, block, grid, launches, n) \
    {#name, fills, LIST bytes, LIST block, LIST grid, launches, n, wild_##name},
    WILD_CASES(CASE)
#undef CASE
};

size_t bench_wild_count(void)
{
    return sizeof table / sizeof table[0];
}

const char *bench_wild_name(size_t i)
{
    return table[i].name;
}

bool bench_wild_make(size_t i, struct bench_case *c)
{
    uint32_t seed = 7;
    *c = (struct bench_case){.name = table[i].name,
                             .kernel = table[i].name,
                             .size = "wild",
                             .wild = true,
                             .block = {table[i].block[0], table[i].block[1]},
                             .nsteps = 1,
                             .launches = table[i].launches,
                             .n = table[i].n,
                             .result_bytes = table[i].bytes[0],
                             .plain = table[i].plain};
    struct bench_step *step = &c->steps[0];
    *step = (struct bench_step){.n = c->n, .grid = {table[i].grid[0], table[i].grid[1]}};
    for (int k = 0; k < BENCH_BUFFERS && table[i].fills[k]; k++) {
        step->args[step->nargs++] = k;
        c->bytes[k] = table[i].bytes[k];
        if (!(c->data[k] = calloc(1, c->bytes[k])))
            return false;
        fill(table[i].fills[k], c, k, &seed);
    }
    return expect(c);
}
