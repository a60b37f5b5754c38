/* test_device.c - devices as objects: several at once, code by its address, launches that are refused or fault, limits,
 * and what the environment says. */
#include "device/device.h"

#include <setjmp.h>
#include <stdarg.h>
#include <unistd.h>

#include <cmocka.h>

static const char ptx[] = ".version 8.0\n.target sm_75\n.address_size 64\n"
                          ".global .align 4 .u32 value = 7;\n"
                          ".visible .entry bump(.param .u64 x, .param .u32 by)\n{\n"
                          ".reg .b64 %d; .reg .b32 %r<4>;\n"
                          "ld.param.u64 %d, [x]; ld.param.u32 %r0, [by]; ld.global.u32 %r1, [value];\n"
                          "mad.lo.u32 %r2, %r0, %r1, 0; atom.global.add.u32 %r3, [%d], %r2; ret;\n}\n"
                          ".visible .entry await(.param .u64 x)\n{\n"
                          ".reg .b64 %d; .reg .b32 %r; .reg .pred %p;\n"
                          "ld.param.u64 %d, [x];\nagain: ld.volatile.global.u32 %r, [%d]; setp.eq.u32 %p, %r, 0;\n"
                          "@%p bra again; ret;\n}\n"
                          ".visible .entry _Z5emptyi(.param .u32 n)\n{ ret; }\n";
static const struct mg_dim3 one = {1, 1, 1};

static struct mg_device *make(unsigned cc, unsigned number, struct mg_report_writer *report)
{
    struct mg_device *d;
    struct mg_diag diag;
    const struct mg_device_options o = {.arch = mg_arch_find(cc), .number = number, .threads = 2, .report = report};
    assert_int_equal(mg__device_create(&o, &d, &diag), MG_OK);
    return d;
}

static struct mg_device_module *load(struct mg_device *d)
{
    struct mg_device_module *m;
    struct mg_diag diag;
    const struct mg_device_image image = mg__device_image(ptx);
    const struct mg_device_code code = {.images = &image, .nimages = 1};
    assert_true(image.text && image.size == strlen(ptx));
    assert_int_equal(mg__device_load(d, &code, &m, &diag), MG_OK);
    return m;
}

/* Three devices: the same code has its own variables on each, and what one may have another may not. */
static void several(void **state)
{
    (void)state;
    static const unsigned cc[3] = {75, 80, 90};
    struct mg_device *d[3];
    struct mg_report_writer *report;
    uint64_t x[3], at[3], size;
    char *json;
    for (unsigned i = 0; i < 3; i++) {
        const struct mg_device_options o = {.arch = mg_arch_find(cc[i])};
        const struct mg_report_device header = mg__device_header(&o);
        assert_int_equal(header.cc, cc[i]);
        if (i == 0)
            assert_int_equal(mg__report_keep(&header, &report), MG_OK);
        d[i] = make(cc[i], i, report);
        assert_int_equal(mg__mem_alloc(d[i]->simt, 4, 4, &x[i]), MG_OK);
    }
    for (uint32_t i = 0; i < 3; i++) {
        struct mg_device_module *m = load(d[i]);
        struct mg_device_kernel *k, *again;
        struct mg_device_outcome out;
        assert_true(mg__simt_module_symbol(m->simt, "value", &at[i], &size));
        *(uint32_t *)(uintptr_t)at[i] = i + 1;
        *(uint32_t *)(uintptr_t)x[i] = 0;
        assert_int_equal(mg__device_kernel(m, "bump", &k), MG_OK);
        assert_int_equal(mg__device_kernel(m, "bump", &again), MG_OK);
        assert_ptr_equal(k, again);
        assert_int_equal(mg__device_kernel(m, "bumps", &again), MG_ERR_NOT_FOUND);
        uint32_t by = 100;
        void *args[] = {&x[i], &by};
        const struct mg_device_launch l = {.grid = {2, 1, 1}, .block = {64, 1, 1}, .args = args};
        assert_int_equal(mg__device_launch(k, &l, &out), MG_OK);
        assert_int_equal(*(uint32_t *)(uintptr_t)x[i], 128 * 100 * (i + 1));
        /* 100,000 bytes: more than a block of 7.5 has, and allowed on the others */
        assert_int_equal(mg__device_allow(k, 100000), i ? MG_OK : MG_ERR_INVALID);
        const struct mg_device_launch large = {.grid = one, .block = one, .args = args, .shared = 100000};
        assert_int_equal(mg__device_launch(k, &large, &out), i ? MG_OK : MG_ERR_LAUNCH_LIMIT);
        assert_int_equal(out.refused, i ? MG_LAUNCH_OK : MG_LAUNCH_SHARED);
        for (uint32_t e = 0; e < i; e++) {
            struct mg_allocation found;
            assert_false(mg__mem_find(d[e]->simt, x[i], &found) || mg__mem_in_range(d[e]->simt, x[i]));
            assert_int_not_equal(at[e], at[i]);
        }
    }
    assert_int_equal(mg__report_take(report, &json), MG_OK);
    assert_non_null(strstr(json, "\"device\": 2, \"grid\": [2, 1, 1]"));
    free(json);
    for (unsigned i = 0; i < 3; i++)
        mg__device_destroy(d[i]);
    mg__report_close(report);
}

/* Memory of another device is out of reach until it is a peer's. */
static void peers(void **state)
{
    (void)state;
    struct mg_device *a = make(90, 0, NULL), *b = make(90, 1, NULL);
    struct mg_device_kernel *k;
    struct mg_device_outcome out;
    uint64_t x;
    uint32_t by = 1;
    void *args[] = {&x, &by};
    const struct mg_device_launch l = {.grid = one, .block = one, .args = args};
    assert_int_equal(mg__mem_alloc(b->simt, 4, 4, &x), MG_OK);
    assert_int_equal(mg__device_kernel(load(a), "bump", &k), MG_OK);
    assert_int_equal(mg__device_launch(k, &l, &out), MG_ERR_ADDRESS);
    assert_int_equal(out.refused, MG_LAUNCH_OK);
    assert_null(strstr(out.diag.message, "bump")); /* whose name it is, is the caller's to say */
    assert_int_equal(mg__mem_peer(a->simt, b->simt, true), MG_OK);
    *(uint32_t *)(uintptr_t)x = 1;
    assert_int_equal(mg__device_launch(k, &l, &out), MG_OK);
    assert_int_equal(*(uint32_t *)(uintptr_t)x, 8);
    assert_int_equal(mg__mem_peer(a->simt, b->simt, false), MG_OK);
    assert_int_equal(mg__device_launch(k, &l, &out), MG_ERR_ADDRESS);
    mg__device_destroy(a);
    mg__device_destroy(b);
    mg__device_destroy(NULL);
}

static void launches(void **state)
{
    (void)state;
    struct mg_device *d = make(90, 0, NULL);
    struct mg_device_kernel *k;
    struct mg_device_outcome out;
    assert_int_equal(mg__device_kernel(load(d), "_Z5emptyi", &k), MG_OK);
    assert_string_equal(k->name, "empty(int)");
    assert_string_equal(k->regs_from, "an estimate");
    assert_false(k->exact);
    int n = 0;
    void *args[] = {&n}, *none[] = {NULL};
    struct mg_device_launch l = {.grid = one, .block = {2000, 1, 1}, .args = args};
    assert_int_equal(mg__device_launch(k, &l, &out), MG_ERR_INVALID);
    assert_int_equal(out.refused, MG_LAUNCH_BLOCK);
    assert_int_equal(out.diag.status, out.status);
    l.block.x = 32;
    l.args = NULL;
    assert_int_equal(mg__device_launch(k, &l, &out), MG_ERR_INVALID);
    assert_int_equal(out.refused, MG_LAUNCH_OK);
    l.args = none;
    assert_int_equal(mg__device_launch(k, &l, &out), MG_ERR_INVALID);
    l.args = args;
    l.cooperative = true;
    l.grid.x = 1000000;
    assert_int_equal(mg__device_launch(k, &l, &out), MG_ERR_LAUNCH_LIMIT);
    assert_int_equal(out.refused, MG_LAUNCH_COOPERATIVE);
    l.grid.x = 100;
    assert_int_equal(mg__device_launch(k, &l, &out), MG_OK);
    assert_int_equal(mg__device_room(k), 49152);
    mg__device_destroy(d);
}

static void images(void **state)
{
    (void)state;
    static const unsigned char elf[64] = "\177ELF\2\1\1"; /* e_machine, at 18, is EM_CUDA */
    unsigned char cubin[64], fatbin[16] = {0x50, 0xed, 0x55, 0xba, 1, 0, 16, 0};
    const struct {
        int magic, version;
        const void *data;
    } wrapper = {0x466243b1, 1, fatbin};
    struct mg_device *d = make(90, 0, NULL);
    struct mg_device_module *m;
    struct mg_diag diag;
    memcpy(cubin, elf, sizeof(cubin));
    cubin[18] = 190;
    const struct mg_device_image image[3] = {mg__device_image(cubin), mg__device_image(fatbin),
                                             mg__device_image(&wrapper)};
    assert_true(!image[1].text && image[1].size == 16 && image[2].data == fatbin && image[2].size == 16);
    for (int i = 0; i < 3; i++) { /* machine code, and fatbins that hold nothing */
        const struct mg_device_code code = {.images = &image[i], .nimages = 1};
        assert_int_equal(mg__device_load(d, &code, &m, &diag), MG_ERR_NO_PTX);
        assert_null(m);
        assert_true(diag.message[0] && diag.hint[0]);
    }
    const struct mg_device_image bad = mg__device_image(".version 8.0\nnonsense\n");
    const struct mg_device_code code = {.images = &bad, .nimages = 1};
    assert_int_not_equal(mg__device_load(d, &code, &m, &diag), MG_OK);
    assert_int_equal(diag.line, 2);
    for (int i = 0; i < 3; i++)
        (void)load(d);
    assert_int_equal(d->modules.count, 3);
    mg__device_unload(d->modules.at[1]);
    assert_int_equal(d->modules.count, 2);
    mg__device_destroy(d);
}

static void limits(void **state)
{
    (void)state;
    struct mg_device *d = make(90, 0, NULL);
    assert_int_equal(mg__device_limit(d, MG_DEVICE_STACK), 1024);
    assert_int_equal(mg__device_set_limit(d, MG_DEVICE_STACK, 2001), MG_OK);
    assert_int_equal(mg__device_limit(d, MG_DEVICE_STACK), 2016); /* steps of 16 */
    assert_int_equal(mg__device_set_limit(d, MG_DEVICE_STACK, 1 << 20), MG_ERR_INVALID);
    assert_int_equal(mg__device_limit(d, MG_DEVICE_STACK), 2016);
    assert_int_equal(mg__device_set_limit(d, MG_DEVICE_SYNC_DEPTH, 2), MG_ERR_UNSUPPORTED);
    mg__device_reset_limits(d);
    assert_int_equal(mg__device_limit(d, MG_DEVICE_STACK), 1024);
    int value;
    assert_true(mg__device_attribute(&d->options, 75, &value) && value == 9);
    assert_true(mg__device_attribute(&(struct mg_device_options){.number = 5}, 33, &value) && value == 5);
    assert_false(mg__device_attribute(&d->options, 0, &value) || mg__device_attribute(&d->options, 4000, &value));
    mg__device_destroy(d);
}

static void environment(void **state)
{
    (void)state;
    struct mg_device_process p;
    struct mg_diag diag;
    static const char *const all[] = {"MARGAY_REPORT",  "MARGAY_MODE",     "MARGAY_CHECK",    "MARGAY_ADVISE",
                                      "MARGAY_DEVICE",  "MARGAY_BOARD",    "MARGAY_DEVICES",  "MARGAY_ENGINE",
                                      "MARGAY_VERBOSE", "MARGAY_THREADS",  "MARGAY_STRICT",   "MARGAY_TIMEOUT",
                                      "MARGAY_KERNEL",  "MARGAY_LAUNCHES", "MARGAY_PROGRESS", "MARGAY_BRIEF"};
    for (size_t i = 0; i < MG_COUNT(all); i++)
        unsetenv(all[i]);
    memset(&p, 0, sizeof(p));
    assert_int_equal(mg__device_process(&p, &diag), MG_OK);
    assert_true(p.devices == 1 && p.options.arch->cc == 90 && !p.report && !p.options.engine && !p.options.checks);
    setenv("MARGAY_DEVICE", "80", 1);
    setenv("MARGAY_DEVICES", "5", 1);
    setenv("MARGAY_ENGINE", "interp", 1);
    setenv("MARGAY_TIMEOUT", "1.5", 1);
    setenv("MARGAY_MODE", "check", 1);
    setenv("MARGAY_CHECK", "race,leaks", 1);
    setenv("MARGAY_LAUNCHES", "0", 1);
    memset(&p, 0, sizeof(p));
    assert_int_equal(mg__device_process(&p, &diag), MG_OK);
    assert_true(p.devices == 5 && p.options.arch->cc == 80 && p.options.timeout_ms == 1500);
    assert_string_equal(p.options.engine, "interp");
    assert_int_equal(p.options.checks, MG_CHECK_RACE | MG_CHECK_LEAKS);
    assert_true(p.options.launches_left && *p.options.launches_left == 0);
    static const struct {
        const char *name, *value;
        enum mg_status status;
    } wrong[] = {{"MARGAY_DEVICES", "17", MG_ERR_INVALID},  {"MARGAY_DEVICES", "0", MG_ERR_INVALID},
                 {"MARGAY_DEVICE", "17", MG_ERR_NOT_FOUND}, {"MARGAY_BOARD", "h100", MG_ERR_NOT_FOUND},
                 {"MARGAY_KERNEL", "(", MG_ERR_INVALID},    {"MARGAY_CHECK", "rice", MG_ERR_INVALID}};
    for (size_t i = 0; i < MG_COUNT(wrong); i++) {
        const char *old = getenv(wrong[i].name);
        char *kept = old ? strdup(old) : NULL;
        setenv(wrong[i].name, wrong[i].value, 1);
        memset(&p, 0, sizeof(p));
        assert_int_equal(mg__device_process(&p, &diag), wrong[i].status);
        assert_non_null(strstr(diag.message, i == 2 ? "1.7" : wrong[i].name));
        if (kept)
            setenv(wrong[i].name, kept, 1);
        else
            unsetenv(wrong[i].name);
        free(kept);
    }
}

static void add_one(void *arg)
{
    ++*(int *)arg;
}

/* A launch that waits is left, with what its stream orders behind it; others go past, and waiting lets it go on. */
static void queue(void **state)
{
    (void)state;
    struct mg_device *d = make(90, 0, NULL);
    struct mg_device_module *m = load(d);
    struct mg_device_kernel *await, *bump;
    struct mg_device_outcome out;
    struct mg_event *event, found;
    uint64_t x;
    uint32_t by = 1;
    int behind = 0, past = 0;
    void *args[] = {&x, &by};
    const struct mg_order first = {mg__stream_number(d), true, 0}, other = {mg__stream_number(d), true, 0};
    const struct mg_order legacy = {0, true, 0};
    struct mg_device_launch l = {.grid = one, .block = one, .args = args, .order = first};
    assert_int_equal(mg__mem_alloc(d->simt, 8, 8, &x), MG_OK);
    memset((void *)(uintptr_t)x, 0, 8);
    assert_int_equal(mg__device_kernel(m, "await", &await), MG_OK);
    assert_int_equal(mg__device_kernel(m, "bump", &bump), MG_OK);
    assert_int_equal(mg__event_make(d, 0, true, &event), MG_OK);
    assert_int_equal(mg__queue_launch(await, &l, false, &out), MG_OK);
    assert_true(out.pending && !mg__queue_over(d, first) && !mg__queue_over(d, legacy) && mg__queue_over(d, other));
    assert_int_equal(mg__queue_call(d, first, add_one, &behind), MG_OK);
    assert_int_equal(mg__event_record(d, event, first), MG_OK);
    assert_int_equal(mg__queue_call(d, other, add_one, &past), MG_OK);
    assert_true(behind == 0 && past == 1 && mg__event_find(d, event, &found) && !atomic_load(&found.mark->over));
    assert_int_equal(mg__queue_order(d, other, found.mark), MG_OK);
    assert_int_equal(mg__queue_call(d, other, add_one, &past), MG_OK);
    assert_true(past == 1 && mg__queue_clear(d, (struct mg_order){mg__stream_number(d), false, 0}));
    l.order = (struct mg_order){mg__stream_number(d), false, 0}; /* does not wait for the default stream's kin */
    assert_int_equal(mg__queue_launch(bump, &l, false, &out), MG_OK);
    assert_false(out.pending); /* and has given the first what it waits for */
    assert_true(mg__queue_wait_mark(d, found.mark) && behind == 1);
    assert_true(mg__queue_wait(d, other) && past == 2 && mg__queue_wait_all(d));
    assert_true(mg__queue_over(d, legacy));
    mg__mark_release(found.mark);
    assert_true(mg__event_drop(d, event) && !mg__event_drop(d, event));
    mg__device_destroy(d);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(several), cmocka_unit_test(peers),       cmocka_unit_test(launches), cmocka_unit_test(images),
        cmocka_unit_test(limits),  cmocka_unit_test(environment), cmocka_unit_test(queue),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
