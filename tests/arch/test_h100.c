/* test_h100.c - the table and the rules against what an H100 answered (h100.json, which device.sh and device.py made):
 * its attributes, the blocks that the CUDA occupancy API gives random configurations, the block sizes that it proposes,
 * and the limits that Nsight Compute shows for kernels that ran. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <jansson.h>
#include <math.h>
#include <unistd.h>

#include "arch/arch.h"
#include "config.h"

static json_t *h100;

enum { NAME, REGS, STATIC, BARRIERS, MAX_THREADS }; /* a row of "kernels" */
enum { CONFIG, BLOCKS, WARPS, BY_REGISTERS, BY_SHARED, BY_BARRIERS, SHARED_SIZE, OCCUPANCY }; /* of "ncu" */

static unsigned kernel(size_t i, int column)
{
    return (unsigned)json_integer_value(
        json_array_get(json_array_get(json_object_get(h100, "kernels"), i), (size_t)column));
}

static const struct mg_arch *arch(void)
{
    const struct mg_arch *a = mg_arch_find((unsigned)json_integer_value(json_object_get(h100, "cc")));
    assert_non_null(a);
    return a;
}

static struct mg_occupancy_query query(const struct config *c)
{
    struct mg_occupancy_query q =
        mg_arch_query(c->threads, kernel(c->kernel, REGS), kernel(c->kernel, STATIC), c->dynamic);
    q.barriers = kernel(c->kernel, BARRIERS);
    q.carveout = c->carveout;
    return q;
}

static void every_row_is_equal(void **state)
{
    (void)state;
    json_t *told = json_object_get(h100, "attributes");
    const struct mg_board *board = mg_board_find(json_string_value(json_object_get(h100, "device")));
    const struct mg_limit *l;
    unsigned compared = 0;
    assert_non_null(board);
    for (size_t i = 0; (l = mg_limit_at(i)) != NULL; i++) {
        char key[16];
        if (!l->attribute)
            continue;
        snprintf(key, sizeof(key), "%d", l->attribute);
        json_t *value = json_object_get(told, key);
        if (!value)
            fail_msg("the device did not tell %s", l->key);
        if ((uint64_t)json_integer_value(value) != mg_limit_value(i, arch(), board))
            fail_msg("%s: %llu in the table, %lld on the device", l->key,
                     (unsigned long long)mg_limit_value(i, arch(), board), (long long)json_integer_value(value));
        compared++;
    }
    assert_true(compared >= 20);
    /* what the firmware leaves of it: two boards of one name differ by some megabytes */
    double memory = json_number_value(json_object_get(h100, "memory"));
    assert_true(fabs((double)board->memory - memory) < memory / 1000);
    assert_int_equal(board->l2_bytes, json_integer_value(json_object_get(h100, "l2")));
}

/* Walks through the configurations of the recording. */
struct walk {
    uint64_t seed;
    unsigned kernels, *fixed;
};
static struct walk walk_begin(void)
{
    struct walk w = {.seed = (uint64_t)json_integer_value(json_object_get(h100, "seed")),
                     .kernels = (unsigned)json_array_size(json_object_get(h100, "kernels"))};
    w.fixed = malloc(w.kernels * sizeof(*w.fixed));
    assert_non_null(w.fixed);
    for (unsigned i = 0; i < w.kernels; i++)
        w.fixed[i] = kernel(i, STATIC);
    return w;
}
static struct config walk_next(struct walk *w)
{
    return config_next(&w->seed, w->kernels, w->fixed, arch()->shared_block_optin);
}

static void as_the_occupancy_api(void **state)
{
    (void)state;
    const char *answers = json_string_value(json_object_get(h100, "blocks"));
    size_t count = strlen(answers);
    struct walk w = walk_begin();
    struct mg_occupancy o;
    assert_true(count >= 20000 && count == (size_t)json_integer_value(json_object_get(h100, "count")));
    for (size_t i = 0; i < count; i++) {
        struct config c = walk_next(&w);
        struct mg_occupancy_query q = query(&c);
        unsigned device = (unsigned)(answers[i] <= '9' ? answers[i] - '0' : answers[i] - 'a' + 10);
        assert_int_equal(mg_arch_occupancy(arch(), &q, &o), MG_OK);
        if (o.blocks != device)
            fail_msg(
                "%u threads, %u registers, %u + %u bytes, %u barriers, carve-out %d: %u blocks, the device says %u",
                q.threads, q.regs, q.shared_static, q.shared_dynamic, q.barriers, q.carveout, o.blocks, device);
    }
    free(w.fixed);
}

static void block_sizes(void **state)
{
    (void)state;
    json_t *told = json_object_get(h100, "potential");
    size_t kernels = json_array_size(json_object_get(h100, "kernels"));
    assert_int_equal(json_array_size(told), 2 * kernels);
    for (size_t i = 0; i < kernels; i++) {
        struct mg_occupancy_query q = mg_arch_query(0, kernel(i, REGS), kernel(i, STATIC), 0);
        struct mg_occupancy o;
        unsigned threads;
        q.barriers = kernel(i, BARRIERS);
        q.max_threads = kernel(i, MAX_THREADS);
        assert_int_equal(mg_arch_best_threads(arch(), &q, NULL, NULL, &threads, &o), MG_OK);
        if (threads != json_integer_value(json_array_get(told, 2 * i)) ||
            o.blocks * arch()->board->sm_count != json_integer_value(json_array_get(told, 2 * i + 1)))
            fail_msg("kernel %zu, %u registers: %u threads and %u blocks an SM, the device says %lld", i, q.regs,
                     threads, o.blocks, (long long)json_integer_value(json_array_get(told, 2 * i)));
    }
}

static unsigned cell(json_t *row, int column, unsigned absent)
{
    json_t *value = json_array_get(row, (size_t)column);
    return json_is_null(value) ? absent : (unsigned)json_integer_value(value);
}

static void as_nsight_compute(void **state)
{
    (void)state;
    json_t *rows = json_object_get(h100, "ncu"), *row;
    struct walk w = walk_begin();
    size_t at;
    unsigned next = 0;
    struct config c = {0};
    assert_true(json_array_size(rows) >= 50);
    json_array_foreach(rows, at, row) {
        struct mg_occupancy o;
        for (; next <= cell(row, CONFIG, 0); next++)
            c = walk_next(&w);
        struct mg_occupancy_query q = query(&c);
        q.shared_config = cell(row, SHARED_SIZE, 0);
        /* A launch gives a thread 16 registers at least, and ncu counts those (launch__registers_per_thread); what the
         * runtime tells of the kernel is what it was compiled for. So few never hold a block back. */
        q.regs = MG_MAX(q.regs, 16u);
        assert_int_equal(mg_arch_occupancy(arch(), &q, &o), MG_OK);
        unsigned barriers = o.limit[MG_LIMITER_BARRIERS];
        if (o.limit[MG_LIMITER_BLOCKS] != cell(row, BLOCKS, 0) || o.limit[MG_LIMITER_WARPS] != cell(row, WARPS, 0) ||
            o.limit[MG_LIMITER_REGISTERS] != cell(row, BY_REGISTERS, 0) ||
            o.limit[MG_LIMITER_SHARED] != cell(row, BY_SHARED, 0) ||
            (barriers != MG_NO_LIMIT && barriers != cell(row, BY_BARRIERS, barriers)) ||
            fabs(100 * o.occupancy - json_number_value(json_array_get(row, OCCUPANCY))) > 0.01)
            fail_msg("configuration %u, %u threads, %u registers, %u + %u bytes of %u, %u barriers: blocks %u, warps "
                     "%u, registers "
                     "%u, shared %u, barriers %u, %.2f %%; ncu has %u, %u, %u, %u, %u, %.2f",
                     cell(row, CONFIG, 0), q.threads, q.regs, q.shared_static, q.shared_dynamic, q.shared_config,
                     q.barriers, o.limit[MG_LIMITER_BLOCKS], o.limit[MG_LIMITER_WARPS], o.limit[MG_LIMITER_REGISTERS],
                     o.limit[MG_LIMITER_SHARED], barriers, 100 * o.occupancy, cell(row, BLOCKS, 0), cell(row, WARPS, 0),
                     cell(row, BY_REGISTERS, 0), cell(row, BY_SHARED, 0), cell(row, BY_BARRIERS, 0),
                     json_number_value(json_array_get(row, OCCUPANCY)));
    }
    free(w.fixed);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_row_is_equal),
        cmocka_unit_test(as_the_occupancy_api),
        cmocka_unit_test(block_sizes),
        cmocka_unit_test(as_nsight_compute),
    };
    json_error_t error;
    if (argc != 2 || access(argv[1], R_OK)) {
        fprintf(stderr, "skipped: no recording of a device (tests/arch/device.sh and device.py make one)\n");
        return 77;
    }
    h100 = json_load_file(argv[1], 0, &error);
    if (!h100) {
        fprintf(stderr, "%s:%d: %s\n", argv[1], error.line, error.text);
        return 1;
    }
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    json_decref(h100);
    return failed;
}
