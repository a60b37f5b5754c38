/* test_embed.c - the public interface of margay.h: a program that embeds the simulator, what it gets back, and what it
 * is told when it is wrong. */
#include "margay/margay.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

static const char ptx[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".global .align 4 .u32 launches = 5;\n"
    ".visible .entry scale(.param .u64 x, .param .f32 by, .param .u8 extra, .param .u32 n)\n{\n"
    ".reg .b64 %d<4>; .reg .b32 %r<8>; .reg .f32 %f<4>; .reg .pred %p; .reg .b16 %h;\n"
    "ld.param.u64 %d0, [x]; ld.param.f32 %f0, [by]; ld.param.u32 %r0, [n]; ld.param.u8 %h, [extra]; cvt.rn.f32.u16 "
    "%f3, %h;\n"
    "mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r1, %r2, %r3, %r1;\n"
    "setp.ge.u32 %p, %r1, %r0; @%p ret; mul.wide.u32 %d1, %r1, 4; add.u64 %d0, %d0, %d1;\n"
    "ld.global.f32 %f1, [%d0]; fma.rn.f32 %f1, %f1, %f0, %f3; st.global.f32 [%d0], %f1; ret;\n}\n"
    ".visible .entry nothing()\n{ ret; }\n"
    ".visible .entry wrong(.param .u64 x)\n{ .reg .b64 %d; ld.param.u64 %d, [x];\nst.global.u32 [%d], 1;\nret; }\n";

static const struct mg_dim3 one = {1, 1, 1};

static void a_program(void **state)
{
    (void)state;
    struct mg_context *c;
    struct mg_module *m;
    struct mg_kernel *k, *again;
    uint64_t x, symbol;
    size_t size;
    assert_int_equal(mg_context_create(NULL, &c), MG_OK);
    assert_int_equal(mg_module_load(c, ptx, strlen(ptx), &m), MG_OK);
    assert_int_equal(mg_kernel_find(m, "scale", &k), MG_OK);
    assert_int_equal(mg_kernel_find(m, "scale", &again), MG_OK);
    assert_ptr_equal(k, again);
    assert_int_equal(mg_mem_alloc(c, 4000, &x), MG_OK);
    assert_int_equal(x % 256, 0);
    float *host = (float *)(uintptr_t)x;
    for (int i = 0; i < 1000; i++)
        host[i] = (float)i;
    float by = 0.5f;
    uint8_t extra = 200;
    uint32_t n = 990;
    void *args[] = {&x, &by, &extra, &n};
    assert_int_equal(mg_launch(c, k, (struct mg_dim3){8, 1, 1}, (struct mg_dim3){128, 1, 1}, 0, args), MG_OK);
    for (int i = 0; i < 1000; i++)
        assert_true(host[i] == (i < 990 ? (float)i * 0.5f + 200.0f : (float)i));
    assert_int_equal(mg_module_symbol(m, "launches", &symbol, &size), MG_OK);
    assert_int_equal(size, 4);
    assert_int_equal(*(uint32_t *)(uintptr_t)symbol, 5);
    assert_int_equal(mg_kernel_find(m, "nothing", &k), MG_OK);
    assert_int_equal(mg_launch(c, k, one, one, 0, NULL), MG_OK);
    assert_int_equal(mg_launch(c, k, one, one, 200000, NULL), MG_OK); /* what only an opted-in kernel may have */
    assert_int_equal(mg_mem_free(c, x), MG_OK);
    assert_int_equal(mg_mem_free(c, 0), MG_OK);
    mg_context_destroy(c);
    mg_context_destroy(NULL);
}

static void errors(void **state)
{
    (void)state;
    struct mg_context *c, *other;
    struct mg_module *m;
    struct mg_kernel *k;
    uint64_t x, null = 0;
    const struct mg_options none = {.device_cc = 17};
    assert_int_equal(mg_context_create(&none, &c), MG_ERR_NOT_FOUND);
    assert_null(c);
    assert_int_equal(mg_context_create(NULL, NULL), MG_ERR_INVALID);
    const struct mg_options options = {.threads = 2, .timeout_ms = 5000};
    assert_int_equal(mg_context_create(&options, &c), MG_OK);
    assert_int_equal(mg_context_create(NULL, &other), MG_OK);
    static const char bad[] =
        ".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry k()\n{\nnonsense %r1;\n}\n";
    assert_int_not_equal(mg_module_load(c, bad, strlen(bad), &m), MG_OK);
    assert_null(m);
    assert_int_equal(mg_last_error(c)->line, 6);
    assert_string_equal(mg_last_error(c)->file, "<ptx>");
    assert_int_not_equal(mg_module_load(c, "", 0, &m), MG_OK);
    assert_int_equal(mg_module_load(c, ptx, strlen(ptx), &m), MG_OK);
    assert_int_equal(mg_kernel_find(m, "scales", &k), MG_ERR_NOT_FOUND);
    assert_non_null(strstr(mg_last_error(c)->message, "scales"));
    assert_int_equal(mg_module_symbol(m, "nowhere", &x, NULL), MG_ERR_NOT_FOUND);
    assert_int_equal(mg_mem_free(c, 4096), MG_ERR_INVALID);
    assert_int_equal(mg_mem_alloc(c, (size_t)1 << 50, &x), MG_ERR_NOMEM);
    assert_int_equal(mg_kernel_find(m, "wrong", &k), MG_OK);
    assert_int_equal(mg_launch(c, k, one, one, 0, NULL), MG_ERR_INVALID);
    void *args[] = {&null};
    assert_int_equal(mg_launch(other, k, one, one, 0, args), MG_ERR_INVALID); /* a kernel of another context */
    assert_int_equal(mg_launch(c, k, one, one, 0, args), MG_ERR_ADDRESS);
    const struct mg_diag *d = mg_last_error(c);
    assert_int_equal(d->status, MG_ERR_ADDRESS);
    assert_non_null(strstr(d->message, "null pointer"));
    assert_non_null(strstr(d->message, "block 0,0,0, thread 0,0,0"));
    assert_int_equal(d->line, 17);
    assert_int_equal(mg_launch(c, k, one, (struct mg_dim3){4096, 1, 1}, 0, args), MG_ERR_INVALID);
    assert_int_equal(mg_mem_alloc(c, 4, &x), MG_OK);
    args[0] = &x;
    assert_int_equal(mg_launch(c, k, one, one, 0, args), MG_OK);
    assert_int_equal(*(uint32_t *)(uintptr_t)x, 1);
    mg_context_destroy(other);
    mg_context_destroy(c);
    for (int s = MG_OK; s <= MG_ERR_INTERNAL; s++) {
        assert_memory_equal(mg_status_name((enum mg_status)s), "MG_", 3);
        assert_true(strlen(mg_status_text((enum mg_status)s)) > 0);
    }
    assert_non_null(mg_status_name((enum mg_status)99));
}

static void report(void **state)
{
    (void)state;
    struct mg_context *c;
    struct mg_module *m;
    struct mg_kernel *k;
    uint64_t x;
    char *text;
    const struct mg_options options = {.profile = 1};
    assert_int_equal(mg_context_create(&options, &c), MG_OK);
    assert_int_equal(mg_module_load(c, ptx, strlen(ptx), &m), MG_OK);
    assert_int_equal(mg_kernel_find(m, "scale", &k), MG_OK);
    assert_int_equal(mg_mem_alloc(c, 4096, &x), MG_OK);
    memset((void *)(uintptr_t)x, 0, 4096);
    float by = 2;
    uint8_t extra = 1;
    uint32_t n = 1024;
    void *args[] = {&x, &by, &extra, &n};
    for (int i = 0; i < 3; i++)
        assert_int_equal(mg_launch(c, k, (struct mg_dim3){8, 1, 1}, (struct mg_dim3){128, 1, 1}, 0, args), MG_OK);
    assert_int_equal(mg_report_json(c, &text), MG_OK);
    json_error_t error;
    json_t *json = json_loads(text, 0, &error);
    if (!json)
        fail_msg("line %d: %s", error.line, error.text);
    const json_t *launches = json_object_get(json, "launches");
    assert_int_equal(json_array_size(launches), 3);
    for (size_t i = 0; i < 3; i++) {
        const json_t *launch = json_array_get(launches, i);
        assert_string_equal(json_string_value(json_object_get(launch, "kernel")), "scale");
        assert_true(json_is_array(json_object_get(launch, "grid")));
    }
    json_decref(json);
    free(text);
    assert_int_equal(mg_report_json(c, &text), MG_OK); /* the last report took all launches with it */
    json = json_loads(text, 0, &error);
    assert_non_null(json);
    assert_int_equal(json_array_size(json_object_get(json, "launches")), 0);
    json_decref(json);
    free(text);
    mg_context_destroy(c);
}

static void *in_a_thread(void *arg)
{
    struct mg_context *c;
    struct mg_module *m;
    struct mg_kernel *k;
    uint64_t x;
    int *failed = arg;
    const struct mg_options options = {.threads = 2};
    *failed = mg_context_create(&options, &c) || mg_module_load(c, ptx, strlen(ptx), &m) ||
              mg_kernel_find(m, "scale", &k) || mg_mem_alloc(c, 4096, &x);
    if (*failed)
        return NULL;
    float *host = (float *)(uintptr_t)x, by = 1;
    memset(host, 0, 4096);
    uint8_t extra = 1;
    uint32_t n = 1024;
    void *args[] = {&x, &by, &extra, &n};
    for (int i = 0; i < 50; i++)
        *failed |= mg_launch(c, k, (struct mg_dim3){16, 1, 1}, (struct mg_dim3){64, 1, 1}, 0, args) != MG_OK;
    for (int i = 0; i < 1024; i++)
        *failed |= host[i] != 50.0f;
    mg_context_destroy(c);
    return NULL;
}

/* Contexts of several threads do not know of each other. */
static void side_by_side(void **state)
{
    (void)state;
    pthread_t threads[4];
    int failed[4];
    for (int i = 0; i < 4; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, in_a_thread, &failed[i]), 0);
    for (int i = 0; i < 4; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(failed[i], 0);
    }
}

/* Two devices of different capability, each used by a thread of its own: limits and reports are each one's. */
struct device {
    unsigned cc;
    const char *text;
    struct mg_context *context;
    enum mg_status large; /* of a launch with 200,000 bytes of shared memory */
    char *report;
    int failed;
};

static void *as_device(void *arg)
{
    struct device *d = arg;
    struct mg_module *m;
    struct mg_kernel *k, *nothing;
    uint64_t x;
    d->failed = mg_module_load(d->context, ptx, strlen(ptx), &m) || mg_kernel_find(m, "scale", &k) ||
                mg_kernel_find(m, "nothing", &nothing) || mg_mem_alloc(d->context, 4096, &x);
    if (d->failed)
        return NULL;
    float *host = (float *)(uintptr_t)x, by = 1;
    memset(host, 0, 4096);
    uint8_t extra = (uint8_t)d->cc;
    uint32_t n = 1024;
    void *args[] = {&x, &by, &extra, &n};
    for (int i = 0; i < 20; i++)
        d->failed |= mg_launch(d->context, k, (struct mg_dim3){16, 1, 1}, (struct mg_dim3){64, 1, 1}, 0, args) != MG_OK;
    for (int i = 0; i < 1024; i++)
        d->failed |= host[i] != 20.0f * (float)d->cc;
    d->large = mg_launch(d->context, nothing, one, one, 200000, NULL);
    d->failed |= mg_report_json(d->context, &d->report) != MG_OK;
    return NULL;
}

static void of_two_kinds(void **state)
{
    (void)state;
    pthread_t threads[2];
    struct device devices[2] = {{.cc = 80, .text = "8.0"}, {.cc = 90, .text = "9.0"}};
    for (int i = 0; i < 2; i++) {
        const struct mg_options options = {.device_cc = devices[i].cc, .threads = 2, .profile = 1};
        assert_int_equal(mg_context_create(&options, &devices[i].context), MG_OK);
    }
    for (int i = 0; i < 2; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, as_device, &devices[i]), 0);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    assert_int_equal(devices[0].large, MG_ERR_LAUNCH_LIMIT);
    assert_non_null(strstr(mg_last_error(devices[0].context)->message, "compute capability 8.0"));
    assert_int_equal(devices[1].large, MG_OK);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(devices[i].failed, 0);
        json_t *json = json_loads(devices[i].report, 0, NULL);
        const json_t *device = json_object_get(json, "device"), *launches = json_object_get(json, "launches");
        assert_string_equal(json_string_value(json_object_get(device, "compute_capability")), devices[i].text);
        assert_int_equal(json_array_size(launches), 20 + i);
        assert_true(json_is_integer(json_object_get(json_array_get(launches, 0), "device")));
        json_decref(json);
        free(devices[i].report);
        mg_context_destroy(devices[i].context);
    }
}

/* 64 floats of which 32 were written: the other half is read all the same. Counted, too, if that was asked for. */
static void checked(void **state)
{
    (void)state;
    static const float half[32];
    for (int profile = MG_PROFILE_CHECK; profile <= MG_PROFILE_CHECK + MG_PROFILE_COUNT; profile++) {
        const struct mg_options options = {.profile = profile};
        struct mg_context *c;
        struct mg_module *m;
        struct mg_kernel *k;
        uint64_t x;
        char *text;
        assert_int_equal(mg_context_create(&options, &c), MG_OK);
        assert_int_equal(mg_module_load(c, ptx, strlen(ptx), &m), MG_OK);
        assert_int_equal(mg_kernel_find(m, "scale", &k), MG_OK);
        assert_int_equal(mg_mem_alloc(c, 256, &x), MG_OK);
        assert_int_equal(mg_mem_write(c, x, half, sizeof(half)), MG_OK);
        assert_int_equal(mg_mem_write(c, x + 128, half, 129), MG_ERR_ADDRESS);
        assert_int_equal(mg_mem_write(c, 0, NULL, 0), MG_OK);
        for (uint32_t n = 32; n <= 64; n += 32) {
            float by = 2;
            uint8_t extra = 0;
            void *args[] = {&x, &by, &extra, &n};
            assert_int_equal(mg_launch(c, k, one, (struct mg_dim3){64, 1, 1}, 0, args), MG_OK);
            assert_int_equal(mg_report_json(c, &text), MG_OK);
            json_t *root = json_loads(text, 0, NULL);
            const json_t *launch = json_array_get(json_object_get(root, "launches"), 0);
            const json_t *found = json_object_get(root, "findings"), *metrics = json_object_get(launch, "metrics");
            assert_string_equal(json_string_value(json_object_get(launch, "kernel")), "scale");
            assert_int_equal(json_integer_value(json_object_get(metrics, "memory_l2_theoretical_sectors_global")),
                             profile & MG_PROFILE_COUNT ? n / 32 * 8
                                                        : 0); /* 128 bytes read and written: 4 sectors each */
            assert_int_equal(json_array_size(found), n > 32);
            if (n > 32)
                assert_string_equal(json_string_value(json_object_get(json_array_get(found, 0), "kind")), "global");
            json_decref(root);
            free(text);
        }
        mg_context_destroy(c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program),    cmocka_unit_test(errors),       cmocka_unit_test(report),
        cmocka_unit_test(side_by_side), cmocka_unit_test(of_two_kinds), cmocka_unit_test(checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
