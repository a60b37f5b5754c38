/* test_warp.c - every row of sem_warp.def against the PTX ISA's words, one lane at a time.
 *
 * The reference below looks at one lane, and asks for each other one whether it counts: no masks, no shared work. Sets
 * of lanes are random partitions of the running lanes, as tiles of cooperative groups make them, and the whole warp.
 * A row without a reference fails.
 */
#include "base/base.h"
#include "sem/sem.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <cmocka.h>

struct warp {
    uint64_t in[4][32];
    bool pred[32], runs[32];
    int tile[32]; /* lanes of one tile name one another */
};
static uint64_t state = 88172645463325252u;
static uint64_t pick(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    return state ^= state << 17;
}

static bool with(const struct warp *w, int i, int k)
{
    return w->runs[k] && w->tile[i] == w->tile[k];
}

/* PTX ISA 9.7.9.6, its pseudo-code in other words. *from: the lane that is read. */
static bool shuffle(const char *kind, int i, unsigned b, unsigned c, int *from)
{
    unsigned mask = c >> 8 & 31, clamp = c & 31, first = 0, last = 0; /* bits that the mask has clear may differ */
    for (int bit = 0; bit < 5; bit++) {
        unsigned v = 1u << bit;
        first += mask & v ? (unsigned)i & v : 0;
        last += mask & v ? (unsigned)i & v : clamp & v;
    }
    int to = (int)(b % 32), j = i;
    bool good;
    if (!strcmp(kind, "up")) {
        j = i - to;
        good = j >= (int)last;
    } else if (!strcmp(kind, "down")) {
        j = i + to;
        good = j <= (int)last;
    } else if (!strcmp(kind, "bfly")) {
        j = i ^ to;
        good = j <= (int)last;
    } else {
        unsigned inside = 0;
        for (int bit = 0; bit < 5; bit++)
            inside += mask >> bit & 1 ? 0 : (unsigned)to & 1u << bit;
        j = (int)(first + inside);
        good = j <= (int)last;
    }
    *from = good ? j : i;
    return good;
}

static uint64_t two(const char *op, uint64_t x, uint64_t y)
{
    int64_t sx = (int32_t)x, sy = (int32_t)y;
    bool is_signed = strstr(op, "_s32");
    bool less = is_signed ? sx < sy : x < y;
    if (strstr(op, "add"))
        return (x + y) % (UINT64_C(1) << 32);
    if (strstr(op, "min"))
        return less ? x : y;
    if (strstr(op, "max"))
        return less ? y : x;
    uint64_t r = 0;
    for (int bit = 0; bit < 32; bit++) {
        unsigned ones = (unsigned)((x >> bit & 1) + (y >> bit & 1));
        bool one = strstr(op, "and") ? ones == 2 : strstr(op, "xor") ? ones == 1 : ones > 0;
        r |= (uint64_t)one << bit;
    }
    return r;
}

/* Lane i's results; false: no reference. */
static bool reference(const char *op, const struct warp *w, int i, uint64_t *value, bool *second)
{
    char kind[16] = "";
    *second = false;
    if (sscanf(op, "shfl_%15[a-z]_b32", kind) == 1) {
        int from;
        *second = shuffle(kind, i, (unsigned)w->in[1][i], (unsigned)w->in[2][i], &from);
        *value = w->in[0][from];
        return true;
    }
    if (!strcmp(op, "movmatrix_trans_b16")) {
        unsigned matrix[8][8];
        for (int k = 0; k < 64; k++) /* row after row, two elements a lane */
            matrix[k / 8][k % 8] = (unsigned)(w->in[0][k / 2] >> (k % 2 ? 16 : 0)) % 65536;
        *value = matrix[i % 4 * 2][i / 4] + 65536u * (uint64_t)matrix[i % 4 * 2 + 1][i / 4];
        return true;
    }
    int lanes = 0, yes = 0, equal = 0, first = -1;
    uint64_t ballot = 0, same = 0, all = 0, total = 0;
    for (int k = 0; k < 32; k++) {
        if (!with(w, i, k))
            continue;
        total = lanes++ ? two(op, total, w->in[0][k]) : w->in[0][k];
        first = first < 0 ? k : first;
        all |= UINT64_C(1) << k;
        yes += w->pred[k];
        ballot |= (uint64_t)w->pred[k] << k;
        if (w->in[0][k] == w->in[0][i]) {
            equal++;
            same |= UINT64_C(1) << k;
        }
    }
    if (!strcmp(op, "vote_all_pred"))
        *value = yes == lanes;
    else if (!strcmp(op, "vote_any_pred"))
        *value = yes > 0;
    else if (!strcmp(op, "vote_uni_pred"))
        *value = yes == 0 || yes == lanes;
    else if (!strcmp(op, "vote_ballot_b32"))
        *value = ballot;
    else if (!strncmp(op, "match_any_b", 11))
        *value = same;
    else if (!strncmp(op, "match_all_b", 11))
        *value = equal == lanes ? all : 0, *second = equal == lanes;
    else if (!strncmp(op, "redux_", 6))
        *value = total;
    else if (!strcmp(op, "elect"))
        *value = (uint64_t)first, *second = first == i;
    else
        return false;
    return true;
}

static void make(struct warp *w, char carrier)
{
    unsigned few = 1u << pick() % 6, tiles = 1u << pick() % 4;
    for (int i = 0; i < 32; i++) {
        w->runs[i] = pick() % 4 || tiles == 1;
        w->tile[i] = (int)(pick() % tiles);
        w->pred[i] = pick() % few > 0;
        for (int k = 0; k < 4; k++) {
            uint64_t v = pick() % 3 ? pick() % few : pick();
            w->in[k][i] = k == 0 && carrier == 'd' ? v * 0x100000001u : (uint32_t)v;
        }
        if (pick() % 2) /* shuffles as CUDA makes them: widths that are powers of two */
            w->in[2][i] = ((32u - (2u << pick() % 5)) & 31) << 8 | (pick() % 2 ? 31 : 0);
    }
    w->runs[pick() % 32] = true;
}

static void rows_are_sorted_and_found(void **arg)
{
    (void)arg;
    for (int i = 0; i < MG_SEM_WARP_COUNT; i++) {
        assert_int_equal(mg__sem_warp_find(mg_sem_warp_rows[i].name), i);
        if (i)
            assert_true(strcmp(mg_sem_warp_rows[i - 1].name, mg_sem_warp_rows[i].name) < 0);
    }
    assert_int_equal(mg__sem_warp_find("shfl_sideways_b32"), -1);
    assert_int_equal(mg__sem_warp_find(NULL), -1);
}

/* Word j of lane i's results of ldmatrix and stmatrix; of the latter, lanes that store no row have none. Matrices are
 * put together as whole tables: of 32 rows in memory, and of what the lanes' registers hold. */
static bool moved(const char *op, const struct warp *w, int i, int j, uint32_t *value)
{
    static unsigned memory[32][8], held[4][8][8]; /* held: as memory has it, turned or not */
    int count = 0;
    if (sscanf(op, "%*2smatrix_x%d", &count) != 1)
        return false;
    const bool load = op[0] == 'l', turned = strstr(op, "trans") != NULL;
    for (int row = 0; row < 32; row++)
        for (int column = 0; column < 8; column++) {
            memory[row][column] = (unsigned)(w->in[column / 2][row] >> 16 * (column % 2)) % 65536;
            const int r = turned ? column : row % 8, c = turned ? row % 8 : column; /* of the registers' matrix */
            held[row / 8][row % 8][column] = (unsigned)(w->in[row / 8][4 * r + c / 2] >> 16 * (c % 2)) % 65536;
        }
    if (!load && i >= 8 * count)
        return false;
    unsigned two[2];
    for (int half = 0; half < 2; half++) {
        const int r = i / 4, c = 2 * (i % 4) + half;
        two[half] = load ? memory[8 * j + (turned ? c : r)][turned ? r : c] : held[i / 8][i % 8][2 * j + half];
    }
    *value = two[0] + 65536u * two[1];
    return true;
}

static void one_round(const struct mg_sem_warp_row *row, const struct warp *w)
{
    uint32_t words[4][32], set[32] = {0}, from[32], run = 0, pred = 0;
    uint32_t out[4][32] = {{0}};
    struct mg_sem_warp io = {.set = set, .from = from};
    for (int i = 0; i < 32; i++) {
        run |= (uint32_t)w->runs[i] << i;
        pred |= (uint32_t)w->pred[i] << i;
        for (int k = 0; k < 32; k++)
            set[i] |= (uint32_t)(with(w, i, k)) << k;
        for (int k = 0; k < 4; k++)
            words[k][i] = (uint32_t)w->in[k][i];
    }
    io.run = run;
    for (int k = 0; row->in[k]; k++)
        io.in[k] = row->in[k] == 'p' ? (const void *)&pred : row->in[k] == 'd' ? w->in[k] : (const void *)words[k];
    for (int k = 0; row->out[k]; k++)
        io.out[k] = out[k];
    row->fn(&io);
    for (int i = 0; i < 32; i++) {
        uint64_t want;
        bool second;
        uint32_t word;
        bool rows = false;
        for (int j = 0; row->out[j]; j++)
            if (moved(row->name, w, i, j, &word)) {
                rows = true;
                if (out[j][i] != word)
                    fail_msg("%s: word %d of lane %d is %#x, not %#x", row->name, j, i, out[j][i], word);
            }
        if (!w->runs[i] || rows || strstr(row->name, "stmatrix"))
            continue;
        if (!reference(row->name, w, i, &want, &second))
            fail_msg("%s has no reference", row->name);
        uint64_t got = row->out[0] == 'p' ? out[0][0] >> i & 1 : out[0][i];
        if (got != want)
            fail_msg("%s: lane %d of %#x has %#llx, not %#llx", row->name, i, run, (unsigned long long)got,
                     (unsigned long long)want);
        if (row->out[1] && (out[1][0] >> i & 1) != second)
            fail_msg("%s: lane %d of %#x has another predicate", row->name, i, run);
        if (!strncmp(row->name, "shfl", 4) && words[0][from[i]] != got)
            fail_msg("%s: lane %d did not get its value from lane %u", row->name, i, from[i]);
    }
}

static void every_row_computes_what_the_reference_says(void **arg)
{
    (void)arg;
    for (int op = 0; op < MG_SEM_WARP_COUNT; op++)
        for (int round = 0; round < 2000; round++) {
            struct warp w;
            make(&w, mg_sem_warp_rows[op].in[0]);
            one_round(&mg_sem_warp_rows[op], &w);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(rows_are_sorted_and_found),
                                       cmocka_unit_test(every_row_computes_what_the_reference_says)};
    return cmocka_run_group_tests_name("sem_warp", tests, NULL, NULL);
}
