/* test_rules.c - mg__model_shared and mg__model_sectors against the counters of an H100 and against slow, obvious code.
 *
 *     test_rules h100_lane_patterns.json passes.txt
 *
 * The first file has 59 lane patterns and 21 operations; each row of each is compared: wavefronts, ideal, sectors. The
 * second has atomics in global memory, most of them with addresses that get in each other's way. Then random patterns
 * with random masks, of every width, against a second implementation that is written for nothing but being plain.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include <cmocka.h>
#include <jansson.h>

#include "model/model_priv.h"
#include "ptx/ptx.h"

static const char *patterns_path, *passes_path;
/* The row of the device that they were measured on, and rows that no device of today has: the 16 banks of the first
 * ones, whose halves of a warp went one after the other; the banks of 64 bits that the third generation could have;
 * short lines. What they cost is worked out below from their numbers. */
static const struct mg_arch *h100;
static const struct mg_arch others[] = {
    {.cc = 10, .banks = 16, .bank_bytes = 4, .sector_bytes = 32, .line_bytes = 128},
    {.cc = 30, .banks = 32, .bank_bytes = 8, .sector_bytes = 32, .line_bytes = 128},
    {.cc = 1, .banks = 32, .bank_bytes = 4, .sector_bytes = 16, .line_bytes = 64},
    {.cc = 2, .banks = 8, .bank_bytes = 4, .sector_bytes = 8, .line_bytes = 64},
};

/* The operation's kind and, for atomics, the instruction that the name stands for. */
static enum mg_access_kind parse_operation(const char *name, struct mg_ptx_insn *insn)
{
    static const struct {
        const char *suffix;
        enum mg_ptx_type type;
    } types[] = {{".u32", MG_T_U32}, {".f32", MG_T_F32}, {".u64", MG_T_U64}};
    memset(insn, 0, sizeof(*insn));
    insn->atomop = MG_ATOM_ADD;
    insn->ntypes = 1;
    for (size_t i = 0; i < MG_COUNT(types); i++)
        if (strstr(name, types[i].suffix))
            insn->type[0] = types[i].type;
    if (!strcmp(name, "red.shared.add.u32")) /* it added the constant 1, which costs what a load does */
        return MG_ACCESS_LD;
    return !strncmp(name, "ld.", 3)     ? MG_ACCESS_LD
           : !strncmp(name, "st.", 3)   ? MG_ACCESS_ST
           : !strncmp(name, "atom.", 5) ? MG_ACCESS_ATOM
                                        : MG_ACCESS_RED;
}

static void every_row_of_the_hardware(void **state)
{
    (void)state;
    json_error_t error;
    json_t *root = json_load_file(patterns_path, 0, &error);
    if (!root)
        fail_msg("%s: %s", patterns_path, error.text);
    json_t *patterns = json_object_get(root, "patterns"), *pattern, *row;
    assert_int_equal(json_array_size(patterns), 59);
    size_t p, rows = 0, wrong = 0;
    json_array_foreach(patterns, p, pattern)
    {
        const char *name;
        json_object_foreach(json_object_get(pattern, "ops"), name, row)
        {
            unsigned width = (unsigned)json_integer_value(json_object_get(row, "width"));
            uint64_t address[32];
            for (size_t i = 0; i < 32; i++)
                address[i] = (uint64_t)json_integer_value(json_array_get(json_object_get(pattern, "lanes"), i)) * width;
            struct mg_ptx_insn insn;
            enum mg_access_kind kind = parse_operation(name, &insn);
            long long got[2], want[2] = {0, 0};
            if (strstr(name, ".shared")) {
                struct mg_cost cost = mg__model_shared(h100, kind, &insn, width, UINT32_MAX, address);
                got[0] = cost.wavefronts;
                got[1] = cost.ideal;
                want[0] = json_integer_value(json_object_get(row, "memory_l1_wavefronts_shared"));
                want[1] = json_integer_value(json_object_get(row, "memory_l1_wavefronts_shared_ideal"));
            } else {
                got[0] = mg__model_sectors(h100, kind, width, UINT32_MAX, address, 0);
                want[0] = json_integer_value(json_object_get(row, "sectors"));
                got[1] = want[1];
            }
            rows++;
            if (got[0] != want[0] || got[1] != want[1]) {
                print_error("pattern %zu %s: %lld, ideal %lld; on the device %lld, %lld\n", p, name, got[0], got[1],
                            want[0], want[1]);
                wrong++;
            }
        }
    }
    json_decref(root);
    assert_int_equal(rows, 59 * 21);
    assert_int_equal(wrong, 0);
}

/* Lines "SECTORS OPERATION OFFSET*32"; the device's allocation began at a multiple of more than they span. */
static void every_pass_of_the_hardware(void **state)
{
    (void)state;
    FILE *file = fopen(passes_path, "r");
    if (!file)
        fail_msg("%s could not be read", passes_path);
    uint32_t sectors;
    char name[32];
    unsigned rows = 0, wrong = 0, more = 0;
    while (fscanf(file, "%u %31s", &sectors, name) == 2) {
        enum mg_access_kind kind = !strncmp(name, "atom.", 5) ? MG_ACCESS_ATOM : MG_ACCESS_RED;
        uint64_t address[32], most[32] = {0}, sum = 0;
        uint32_t mask = 0;
        for (unsigned i = 0; i < 32; i++) {
            long long offset;
            assert_int_equal(fscanf(file, "%lld", &offset), 1);
            mask |= (uint32_t)(offset >= 0) << i;
            address[i] = offset < 0 ? 0 : (uint64_t)offset;
        }
        for (uint64_t origin = 0; origin <= 0x7f0000000200; origin += 0x7f0000000200) { /* which does not matter */
            uint64_t at[32];
            for (unsigned i = 0; i < 32; i++)
                at[i] = address[i] + origin;
            uint32_t got = mg__model_sectors(h100, kind, strstr(name, "64") ? 8 : 4, mask, at, origin);
            if (got != sectors && ++wrong)
                print_error("line %u, %s: %u, on the device %u\n", rows + 1, name, got, sectors);
        }
        /* How often the device took more than lanes on one address explain. */
        for (unsigned i = 0; i < 32; i++) {
            unsigned same = 0, leader = 32;
            for (unsigned k = 0; k < 32 && mask >> i & 1; k++) {
                same += mask >> k & 1 && address[k] == address[i];
                leader = leader == 32 && mask >> k & 1 && address[k] / 32 == address[i] / 32 ? k : leader;
            }
            if (same)
                most[leader] = MG_MAX(most[leader], same);
        }
        for (unsigned i = 0; i < 32; i++)
            sum += most[i];
        more += sectors > sum;
        rows++;
    }
    fclose(file);
    assert_true(rows > 1000 && more > 500);
    assert_int_equal(wrong, 0);
}

/* ---- the obvious implementation: sets as arrays, one lane after the other ---- */
/* The different pieces of `piece` bytes that these lanes touch: how many, and their numbers. */
enum { MOST_PIECES = 32 * 16 };
static unsigned slow_pieces(unsigned piece, unsigned width, uint32_t mask, const uint64_t *address, unsigned from,
                            unsigned to, uint64_t seen[MOST_PIECES])
{
    unsigned n = 0;
    for (unsigned i = from; i < to; i++)
        for (uint64_t p = address[i] / piece; mask >> i & 1 && p <= (address[i] + width - 1) / piece; p++) {
            unsigned k = 0;
            while (k < n && seen[k] != p)
                k++;
            if (k == n)
                seen[n++] = p;
        }
    return n;
}

static unsigned slow_degree(const struct mg_arch *a, unsigned width, uint32_t mask, const uint64_t *address,
                            unsigned from, unsigned to)
{
    uint64_t words[MOST_PIECES];
    const unsigned n = slow_pieces(a->bank_bytes, width, mask, address, from, to, words);
    unsigned most = 0;
    for (unsigned bank = 0; bank < a->banks; bank++) {
        unsigned in = 0;
        for (unsigned k = 0; k < n; k++)
            in += words[k] % a->banks == bank;
        most = in > most ? in : most;
    }
    return most;
}

static struct mg_cost slow_shared(const struct mg_arch *a, bool load, unsigned width, uint32_t mask,
                                  const uint64_t *address)
{
    unsigned row = a->banks * a->bank_bytes, active = 0;
    unsigned size = row / (width < a->bank_bytes ? a->bank_bytes : width); /* lanes that fill a row */
    bool wide = width > a->bank_bytes;
    size = size > 32 ? 32 : size;
    for (unsigned i = 0; i < 32; i++)
        active += mask >> i & 1;
    struct mg_cost cost = {0, (active * width + row - 1) / row};
    unsigned ideal = 0;
    bool conflict = false;
    for (unsigned at = 0; wide && at < 32; at += 2 * size) {
        bool pairs[3] = {false, true, true};
        for (unsigned d = 1; d <= 2; d++)
            for (unsigned i = at; i < at + 2 * size; i++)
                if (mask >> i & 1 && mask >> (i ^ d) & 1 && address[i] != address[i ^ d])
                    pairs[d] = false;
        unsigned both = slow_degree(a, width, mask, address, at, at + 2 * size);
        unsigned one = slow_degree(a, width, mask, address, at, at + size);
        unsigned two = slow_degree(a, width, mask, address, at + size, at + 2 * size);
        bool joined = load && (pairs[1] || pairs[2]) && both <= 1;
        conflict |= load && (pairs[1] || pairs[2]) && both > 1;
        cost.wavefronts += joined ? both : (one + two);
        ideal += joined ? both : (one > 0 ? 1u : 0u) + (two > 0 ? 1u : 0u);
    }
    if (wide)
        cost.ideal = !conflict && ideal < cost.ideal ? ideal : cost.ideal;
    for (unsigned at = 0; !wide && at < 32; at += size)
        cost.wavefronts += slow_degree(a, width, mask, address, at, at + size);
    return cost;
}

static uint32_t slow_sectors(const struct mg_arch *a, unsigned width, uint32_t mask, const uint64_t *address)
{
    uint64_t seen[MOST_PIECES];
    return slow_pieces(a->sector_bytes, width, mask, address, 0, 32, seen);
}

/* Whether two addresses get in each other's way: each bit of the lines' numbers in which they differ turns a pair of
 * bits, and all of them together turn nothing. */
static bool rivals(const struct mg_arch *arch, uint64_t a, uint64_t b)
{
    static const uint8_t turns[] = {1, 2, 1, 2, 3, 1, 2};
    unsigned pair = 0;
    if (a % arch->line_bytes / 4 != b % arch->line_bytes / 4)
        return false;
    uint64_t differ = a / arch->line_bytes ^ b / arch->line_bytes;
    for (unsigned bit = 0; bit < MG_COUNT(turns); bit++)
        if (differ >> bit & 1)
            pair ^= turns[bit];
    return pair == 0;
}

static uint32_t slow_passes(const struct mg_arch *a, uint32_t mask, const uint64_t *address)
{
    uint32_t sum = 0;
    while (mask) {
        uint64_t line = address[__builtin_ctz(mask)] / a->line_bytes;
        uint32_t served = 0;
        for (unsigned i = 0; i < 32; i++) {
            bool goes = mask >> i & 1 && address[i] / a->line_bytes == line;
            for (unsigned k = 0; k < i; k++)
                goes &= !(mask >> k & 1) || !rivals(a, address[k], address[i]);
            served |= (uint32_t)goes << i;
        }
        sum += slow_sectors(a, 1, served, address);
        mask &= ~served;
    }
    return sum;
}

static uint64_t random_state = 1;
static uint32_t dice(uint32_t n)
{
    random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (uint32_t)(random_state >> 33) % n;
}

/* Whether there are vectors for all rows. */
static bool at_once(void)
{
    return mg__isa() >= 3;
}

/* Rows as compiled code gives them, of which the middle one is this access and the others are one word and its
 * neighbour: two wavefronts more. */
static void rows_agree(const struct mg_arch *a, unsigned width, uint32_t mask, const uint64_t address[32])
{
    uint32_t offset[3][32] = {{0}}, masks[3] = {UINT32_MAX, mask, 6};
    for (unsigned i = 0; i < 32; i++) {
        offset[1][i] = (uint32_t)(address[i] - (UINT64_C(1) << 40));
        offset[2][i] = 4 * i;
    }
    if (a->banks == 32 && a->bank_bytes == 4 && width <= 4) {
        const unsigned slow = slow_shared(a, true, width, mask, address).wavefronts;
        uint64_t found = mg__model_rows_words(masks, (const uint32_t(*)[32])offset, 3),
                 alone = mg__model_rows_words(masks + 1, (const uint32_t(*)[32])offset + 1, 2);
        assert_true((found == 0 && !at_once()) || (found == slow + 2 && alone == slow + 1));
    }
    for (unsigned load = 0; load < 2 && a->banks == 32 && a->bank_bytes == 4 && width == 8; load++) {
        const struct mg_cost slow = slow_shared(a, load, width, mask, address),
                             found = mg__model_rows_doubles(masks + 1, (const uint32_t(*)[32])offset + 1, 1, load);
        assert_true((found.wavefronts == 0 && !at_once()) ||
                    (found.wavefronts == slow.wavefronts && found.ideal == slow.ideal));
    }
    if (width <= a->sector_bytes)
        assert_int_equal(mg__model_row_sectors(a, mask, offset[1]), slow_sectors(a, width, mask, address));
}

static unsigned hold_to_slow(const struct mg_arch *a, unsigned rounds)
{
    const bool common = a->banks == 32 && a->bank_bytes == 4;
    unsigned counted = 0, row = a->banks * a->bank_bytes;
    static const uint32_t ranges[] = {1, 2, 4, 9, 16, 33, 64, 300, 2000, 20000, 300000};
    static const uint32_t far[] = {0, 0, 0, 0, 1u << 18, 1u << 21, 1u << 28}; /* the same in their low bits */
    for (unsigned round = 0; round < rounds; round++) {
        unsigned width = 1u << dice(6);
        uint32_t mask = dice(3) ? UINT32_MAX : (uint32_t)dice(1u << 31) << dice(2) | 1u << dice(32);
        uint32_t range = ranges[dice(MG_COUNT(ranges))], stride = dice(4) ? 0 : dice(40);
        uint64_t address[32];
        unsigned twin = dice(3), apart = far[dice(MG_COUNT(far))];
        uint64_t base = (uint64_t)dice(64) * width + (UINT64_C(1) << 40);
        for (unsigned i = 0; i < 32; i++)
            address[i] = base + (stride ? (uint64_t)i * stride : dice(range)) * width + (uint64_t)apart * dice(3);
        bool ordered = !dice(6);
        for (unsigned i = 1; ordered && i < 32; i++) /* or nearly */
            for (unsigned k = i; k && address[k] < address[k - 1] && dice(100); k--) {
                uint64_t later = address[k];
                address[k] = address[k - 1];
                address[k - 1] = later;
            }
        for (unsigned i = 0; twin && i < 32; i++)
            address[i | twin] = address[i & ~twin]; /* equal pairs at distance 1 or 2 */
        for (unsigned i = 0; i < 32; i++)
            if (!(mask >> i & 1))
                address[i] = UINT64_C(0xdeadbeef00000000) + dice(1000000); /* junk in idle lanes */
        for (unsigned load = 0; load < 2 && width <= 16 && 2 * width <= row; load++) {
            struct mg_cost fast = mg__model_shared(a, load ? MG_ACCESS_LD : MG_ACCESS_ST, NULL, width, mask, address);
            struct mg_phases phases; /* what is served together: all lanes, once, and the same in sum */
            struct mg_cost told =
                mg__model_phases(a, load ? MG_ACCESS_LD : MG_ACCESS_ST, NULL, width, mask, address, &phases);
            unsigned lanes = 0, taken = 0;
            for (unsigned i = 0; i < phases.n; i++) {
                assert_int_equal(phases.at[i].from, lanes);
                lanes += phases.at[i].lanes;
                taken += phases.at[i].wavefronts;
            }
            assert_int_equal(lanes, 32);
            assert_int_equal(taken, fast.wavefronts);
            assert_memory_equal(&told, &fast, sizeof(fast));
            if (common && width <= 4 && mask != UINT32_MAX) {
                unsigned some = mg__model_warp_words(mask, address);
                assert_true((some == 0 && !at_once()) || (some == fast.wavefronts && fast.ideal == 1));
            }
            if (common && width <= 4 && mask == UINT32_MAX) { /* at a go, where the processor can */
                unsigned whole = mg__model_warp_words(mask, address);
                assert_true((whole == 0 && !at_once()) || whole == fast.wavefronts);
                counted += whole != 0;
                uint32_t word[32], least = UINT32_MAX, reach = 0; /* and by words, as the engine has them */
                for (unsigned i = 0; i < 32; i++)
                    least = MG_MIN(least, (uint32_t)(address[i] / 4));
                least -= MG_MIN(least, dice(300));
                for (unsigned i = 0; i < 32; i++) {
                    word[i] = (uint32_t)(address[i] / 4) - least;
                    reach = MG_MAX(reach, word[i]);
                }
                assert_int_equal(mg__model_warp_near(word, reach), whole);
                assert_int_equal(mg__model_warp_near(word, reach + dice(300)), whole);
                if (reach < MG_TOUCHED) { /* and by several accesses at a time, the others of one word: a wavefront */
                    uint8_t touched[12][MG_TOUCHED] = {{0}};
                    uint32_t n = dice(13), at = n ? dice(n) : 0;
                    for (uint32_t r = 0; r < n; r++)
                        for (unsigned i = 0; i < 32; i++)
                            touched[r][r == at ? word[i] : 7] = 1;
                    assert_int_equal(mg__model_touched((const uint8_t(*)[MG_TOUCHED])touched, n),
                                     n ? n - 1 + fast.wavefronts : 0);
                }
            }
            struct mg_cost slow = slow_shared(a, load, width, mask, address);
            if (fast.wavefronts != slow.wavefronts || fast.ideal != slow.ideal)
                fail_msg("%u: round %u width %u mask %08x load %u: %u/%u, slowly %u/%u", a->cc, round, width, mask,
                         load, fast.wavefronts, fast.ideal, slow.wavefronts, slow.ideal);
        }
        assert_int_equal(mg__model_sectors(a, MG_ACCESS_LD, width, mask, address, 0),
                         slow_sectors(a, width, mask, address));
        rows_agree(a, width, mask, address);
        if (width <= 8)
            assert_int_equal(mg__model_sectors(a, MG_ACCESS_RED, width, mask, address, 0),
                             slow_passes(a, mask, address));
    }
    return counted;
}

static void fast_and_slow_agree(void **state)
{
    (void)state;
    unsigned whole = hold_to_slow(h100, 40000);
    assert_true(at_once() ? whole > 1000 : whole == 0);
    for (size_t k = 0; k < MG_COUNT(others); k++)
        (void)hold_to_slow(&others[k], 2000);
}

/* Sectors of other blocks' memory: the access of several blocks costs what those of each do, and a load what it
 * touches; atomics go to a sector as often as lanes meet at one of its places, there and back. */
static void far_apart(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 20000; round++) {
        const enum mg_model_far kind = (enum mg_model_far)dice(MG_FAR_COPY);
        const unsigned width = 1u << dice(5), range = 1u << dice(9), blocks = 1 + dice(4);
        const uint32_t mask = dice(3) ? UINT32_MAX : (uint32_t)dice(1u << 31) << dice(2) | 1u << dice(32);
        uint64_t address[32];
        uint32_t of_block[4] = {0}, met = 0;
        for (unsigned i = 0; i < 32; i++) {
            const unsigned block = dice(blocks);
            address[i] = ((uint64_t)block << 24) + dice(range) * (uint64_t)width;
            of_block[block] |= mask & 1u << i;
        }
        struct mg_far_cost sum = {0, 0}, all = mg__model_far(h100, kind, width, mask, address);
        for (unsigned b = 0; b < blocks; b++) {
            const struct mg_far_cost one = mg__model_far(h100, kind, width, of_block[b], address);
            sum.sectors += one.sectors;
            sum.sent += one.sent;
        }
        assert_int_equal(all.sectors, sum.sectors);
        assert_int_equal(all.sent, sum.sent);
        if (kind == MG_FAR_LD)
            assert_int_equal(all.sectors, slow_sectors(h100, width, mask, address));
        for (unsigned i = 0; i < 32; i++) { /* the first lane of each sector: the most lanes at one place of it */
            unsigned most = 0;
            bool first = mask >> i & 1;
            for (unsigned k = 0; k < 32; k++) {
                unsigned here = 0;
                if (!(mask >> k & 1) || address[k] / 32 != address[i] / 32)
                    continue;
                first &= k >= i;
                for (unsigned n = 0; n < 32; n++)
                    here += mask >> n & 1 && address[n] == address[k];
                most = MG_MAX(most, here);
            }
            met += first ? most : 0;
        }
        if (kind == MG_FAR_ATOM)
            assert_int_equal(all.sectors, 2 * met);
    }
}

/* By hand, what the guides of those devices said: lane l reads word l, or every second one. */
static void rules_follow_the_row(void **state)
{
    (void)state;
    uint64_t words[32], doubles[32], second[32];
    for (unsigned i = 0; i < 32; i++) {
        words[i] = 4 * i;
        doubles[i] = second[i] = 8 * i;
    }
    static const struct {
        size_t row;
        uint32_t words, doubles, second, sectors;
    } want[] = {{0, 2, 4, 4, 4}, {1, 1, 1, 1, 4}, {2, 1, 2, 2, 8}, {3, 4, 8, 8, 16}};
    for (size_t k = 0; k < MG_COUNT(want); k++) {
        const struct mg_arch *a = &others[want[k].row];
        assert_int_equal(mg__model_shared(a, MG_ACCESS_LD, NULL, 4, ~0u, words).wavefronts, want[k].words);
        assert_int_equal(mg__model_shared(a, MG_ACCESS_LD, NULL, 8, ~0u, doubles).wavefronts, want[k].doubles);
        assert_int_equal(mg__model_shared(a, MG_ACCESS_ST, NULL, 4, ~0u, second).wavefronts, want[k].second);
        assert_int_equal(mg__model_shared(a, MG_ACCESS_ATOM, NULL, 4, ~0u, second).wavefronts, want[k].second);
        assert_int_equal(mg__model_global(a, MG_ACCESS_LD, NULL, 4, ~0u, words, 0).touched, want[k].sectors);
        assert_int_equal(mg__model_global(a, MG_ACCESS_LD, NULL, 4, 0xff, words, 0).ideal, 32 / a->sector_bytes);
    }
    struct mg_model *model;
    struct mg_arch odd = *h100;
    odd.banks = 24;
    assert_int_equal(mg__model_create(&odd, NULL, NULL, &model), MG_ERR_INVALID);
    odd.banks = 64;
    assert_int_equal(mg__model_create(&odd, NULL, NULL, &model), MG_ERR_INVALID);
    odd = *h100;
    odd.sector_bytes = 64;
    assert_int_equal(mg__model_create(&odd, NULL, NULL, &model), MG_ERR_INVALID);
}

static void nothing_costs_nothing(void **state)
{
    (void)state;
    uint64_t address[32] = {0};
    for (int kind = MG_ACCESS_LD; kind <= MG_ACCESS_CP_ASYNC; kind++) {
        struct mg_cost cost = mg__model_shared(h100, (enum mg_access_kind)kind, NULL, 4, 0, address);
        assert_int_equal(cost.wavefronts + cost.ideal, 0);
        assert_int_equal(mg__model_sectors(h100, (enum mg_access_kind)kind, 4, 0, address, 0), 0);
    }
    /* widths that no instruction has are refused, not computed */
    assert_int_equal(mg__model_shared(h100, MG_ACCESS_LD, NULL, 0, 1, address).wavefronts, 0);
    assert_int_equal(mg__model_shared(h100, MG_ACCESS_LD, NULL, 3, 1, address).wavefronts, 0);
    assert_int_equal(mg__model_shared(h100, MG_ACCESS_LD, NULL, 4096, 1, address).wavefronts, 0);
}

/* An irregular access is computed each time it occurs. The bound is loose: it is to notice a quadratic mistake. */
static void fast_enough(void **state)
{
    (void)state;
    uint64_t address[64][32];
    for (unsigned k = 0; k < 64; k++)
        for (unsigned i = 0; i < 32; i++)
            address[k][i] = 4 * dice(256);
    unsigned sum = 0;
    clock_t start = clock(); /* of the processor: the machine may be busy */
    for (unsigned round = 0; round < 100000; round++)
        sum += mg__model_shared(h100, MG_ACCESS_RED, NULL, 4, UINT32_MAX, address[round & 63]).wavefronts;
    double each = (double)(clock() - start) / CLOCKS_PER_SEC * 1e9 / 1e5;
    print_message("an irregular access: %.0f ns (%u)\n", each, sum);
    assert_true(sum > 0 && each < 5000);
}

int main(int argc, char **argv)
{
    patterns_path = argc > 1 ? argv[1] : "tests/hardware/h100_lane_patterns.json";
    passes_path = argc > 2 ? argv[2] : "tests/hardware/passes.txt";
    h100 = mg_arch_find(90);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_of_the_hardware), cmocka_unit_test(every_pass_of_the_hardware),
        cmocka_unit_test(fast_and_slow_agree),       cmocka_unit_test(far_apart),
        cmocka_unit_test(rules_follow_the_row),      cmocka_unit_test(nothing_costs_nothing),
        cmocka_unit_test(fast_enough),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
