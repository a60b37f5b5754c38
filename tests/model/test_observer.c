/* test_observer.c - the observer fed by hand: what becomes of events, by kernel, line and
 * variable, over two workers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/model.h"
#include "ptx/ptx.h"

static const char TEXT[] = ".version 8.8\n.target sm_90\n.address_size 64\n"
                           ".visible .entry k(.param .u64 p){\n"
                           ".reg .b64 %rd<9>; .reg .b32 %r<9>; .reg .f32 %f<9>; .reg .pred %p<2>;\n"
                           ".shared .align 16 .b8 tile[4096];\n"
                           "ld.param.u64 %rd1,[p];\n"           /* 0 */
                           "mov.u32 %r1,%tid.x;\n"              /* 1 */
                           "mov.u32 %r2,tile;\n"                /* 2 */
                           "shl.b32 %r3,%r1,3;\n"               /* 3 */
                           "add.u32 %r4,%r2,%r3;\n"             /* 4 */
                           "ld.shared.f32 %f1,[%r4+4];\n"       /* 5: with 6, one access of 8 bytes */
                           "ld.shared.f32 %f2,[%r4];\n"         /* 6 */
                           "st.shared.f32 [%r4+2048],%f1;\n"    /* 7 */
                           "setp.eq.u32 %p1,%r1,0;\n"           /* 8 */
                           "@%p1 bra L;\n"                      /* 9 */
                           "atom.global.add.f32 %f3,[%rd1],%f2;\n" /* 10: its result is not read */
                           "L: ret;\n}\n";

static struct mg_report_launch seen;
static struct mg_report_line seen_lines[16];
static struct mg_report_var seen_vars[4];
static unsigned times_done;
static char var_name[32];

static void done(void *arg, struct mg_report_launch *launch)
{
    assert_ptr_equal(arg, &seen);
    times_done++;
    seen = *launch;
    assert_true(launch->nlines <= MG_COUNT(seen_lines) && launch->nvars <= MG_COUNT(seen_vars));
    memcpy(seen_lines, launch->lines, launch->nlines * sizeof(seen_lines[0]));
    memcpy(seen_vars, launch->vars, launch->nvars * sizeof(seen_vars[0]));
    snprintf(var_name, sizeof(var_name), "%s", launch->nvars ? launch->vars[0].name : "");
    assert_string_equal(launch->kernel, "k");
}

static uint64_t address[32];

static struct mg_access access_of(uint32_t insn, enum mg_access_kind kind, unsigned stride, uint64_t base)
{
    struct mg_access a = {.insn = insn,
                          .address = address,
                          .kind = (uint8_t)kind,
                          .space = insn == 10 ? MG_SPACE_GLOBAL : MG_SPACE_SHARED,
                          .width = 4,
                          .mask = UINT32_MAX,
                          .times = 10,
                          .rows = 1,
                          .shared_var = insn == 10 ? -1 : 0};
    for (unsigned i = 0; i < 32; i++)
        address[i] = base + i * stride;
    return a;
}

/* The kernel, and a model that gives its record to done(). */
struct setup {
    struct mg_ptx_module *module;
    const struct mg_ptx_func *func;
    struct mg_model *model;
    struct mg_observer observer;
};
static void set_up(struct setup *s)
{
    struct mg_diag diag;
    assert_int_equal(mg__ptx_parse(TEXT, sizeof(TEXT) - 1, &s->module, &diag), MG_OK);
    s->func = mg__ptx_find_func(s->module, "k");
    assert_int_equal(s->func->ninsns, 12);
    assert_int_equal(mg__model_create(mg_arch_find(90), done, &seen, &s->model), MG_OK);
    s->observer = mg__model_observer(s->model);
}

static void tear_down(struct setup *s)
{
    mg__model_destroy(s->model);
    mg__ptx_free(s->module);
}

static void events_become_counters(void **state)
{
    (void)state;
    struct setup s;
    set_up(&s);
    const struct mg_ptx_func *f = s.func;
    struct mg_observer o = s.observer;
    struct mg_insn_info insns[16] = {0};
    for (uint32_t i = 0; i < 12; i++)
        insns[i] = (struct mg_insn_info){f, &f->insns[i], "a.cu", i < 7 ? 20 : 10};
    struct mg_shared_var var = {.name = "_ZZ1kPfE4tile", .var = f->vars[0], .size = 4096};
    struct mg_launch_info launch = {.kernel = "k",
                                    .grid = {2, 1, 1},
                                    .block = {32, 1, 1},
                                    .shared_static = 4096,
                                    .module = s.module,
                                    .insns = insns,
                                    .ninsns = 12,
                                    .shared_vars = &var,
                                    .nshared_vars = 1,
                                    .device_cc = 90};
    assert_int_equal(o.wants, MG_OBSERVE_SHAPES | MG_OBSERVE_COUNTS | MG_OBSERVE_BULK | MG_OBSERVE_FAR |
                                  MG_OBSERVE_UNITS);
    void *shared;
    assert_int_equal(o.launch_begin(o.self, &launch, 2, &shared), MG_OK);
    void *workers[2] = {o.worker_begin(shared, 0), o.worker_begin(shared, 1)};
    for (unsigned w = 0; w < 2; w++) {
        assert_non_null(workers[w]);
        struct mg_access a = access_of(5, MG_ACCESS_LD, 8, 4);
        o.access(workers[w], &a); /* as 8 bytes a lane from 0: two wavefronts */
        a = access_of(6, MG_ACCESS_LD, 8, 0);
        o.access(workers[w], &a); /* carried by the other */
        a = access_of(7, MG_ACCESS_ST, 8, 2048);
        o.access(workers[w], &a); /* stride of two words: two wavefronts, one would do */
        a = access_of(10, MG_ACCESS_ATOM, 0, 4096);
        o.access(workers[w], &a); /* a reduction on one address: 32 */
        struct mg_insn_counts counts[12] = {0};
        counts[9] = (struct mg_insn_counts){.warps = 10, .threads = 320, .divergent = 7};
        o.counts(workers[w], counts, 12);
    }
    for (unsigned w = 0; w < 2; w++)
        o.worker_end(shared, workers[w]);
    o.launch_end(shared, MG_OK);
    assert_int_equal(times_done, 1);
    assert_int_equal(seen.nlines, 2);
    assert_int_equal(seen_lines[0].line, 10);
    assert_int_equal(seen_lines[1].line, 20);
    const uint64_t *all = seen.metrics.v, *low = seen_lines[0].metrics.v, *high = seen_lines[1].metrics.v;
    assert_int_equal(all[MG_METRIC_WAVEFRONTS_SHARED], 2 * 10 * (2 + 2));
    assert_int_equal(all[MG_METRIC_WAVEFRONTS_SHARED_IDEAL], 2 * 10 * (2 + 1));
    assert_int_equal(high[MG_METRIC_WAVEFRONTS_SHARED], 2 * 10 * 2);
    assert_int_equal(low[MG_METRIC_WAVEFRONTS_SHARED], 2 * 10 * 2);
    assert_int_equal(low[MG_METRIC_WAVEFRONTS_SHARED_IDEAL], 2 * 10);
    assert_int_equal(all[MG_METRIC_INST_SHARED_LD], 20);
    assert_int_equal(all[MG_METRIC_INST_SHARED_ST], 20);
    assert_int_equal(all[MG_METRIC_REQUESTS_RED], 20);
    assert_int_equal(all[MG_METRIC_REQUESTS_ATOM], 0);
    assert_int_equal(all[MG_METRIC_SECTORS_RED], 20 * 32);
    assert_int_equal(all[MG_METRIC_BRANCHES], 20);
    assert_int_equal(all[MG_METRIC_DIVERGENT], 14);
    assert_int_equal(all[MG_METRIC_INST], 20);
    assert_int_equal(all[MG_METRIC_THREAD_INST], 640);
    assert_int_equal(all[MG_METRIC_SHARED_STATIC], 4096);
    const struct mg_report_written *first = &seen_lines[1].written, *second = &seen_lines[0].written;
    assert_int_equal(first->loads, 1); /* the two that are joined */
    assert_int_equal(first->stores + first->atomics + first->guarded, 0);
    assert_int_equal(second->stores, 1);
    assert_int_equal(second->atomics, 1);
    assert_int_equal(second->loads + second->guarded, 0); /* a guarded branch is no access */
    assert_int_equal(seen.nvars, 1);
    assert_string_equal(var_name, "tile");
    assert_int_equal(seen_vars[0].metrics.v[MG_METRIC_WAVEFRONTS_SHARED], 2 * 10 * (2 + 2));
    assert_int_equal(seen_vars[0].metrics.v[MG_METRIC_REQUESTS_RED], 0);
    tear_down(&s);
}

/* Which lanes of an atomic get in each other's way depends on the distance to their allocation's start alone. */
static void atomics_count_from_their_allocation(void **state)
{
    (void)state;
    struct setup s;
    set_up(&s);
    struct mg_insn_info insns[12] = {0};
    for (uint32_t i = 0; i < 12; i++)
        insns[i] = (struct mg_insn_info){s.func, &s.func->insns[i], "a.cu", 1};
    for (uint64_t base = UINT64_C(0x7f0000000000); base < UINT64_C(0x7f0000008000); base += 512) {
        const struct mg_allocation allocations[] = {{.address = base - 4096, .size = 100},
                                                    {.address = base, .size = 4096},
                                                    {.address = base + 65536, .size = 4096}};
        struct mg_launch_info launch = {.kernel = "k", .module = s.module, .insns = insns, .ninsns = 12,
                                        .allocations = allocations, .nallocations = 3, .device_cc = 90};
        void *shared;
        assert_int_equal(s.observer.launch_begin(s.observer.self, &launch, 1, &shared), MG_OK);
        void *worker = s.observer.worker_begin(shared, 0);
        struct mg_access a = access_of(10, MG_ACCESS_ATOM, 0, base);
        a.mask = 0x80000012;
        a.times = 1;
        address[4] = base + 656; /* of the slot of base + 16, and before it */
        address[31] = base + 16;
        s.observer.access(worker, &a);
        address[1] = base + 656; /* behind it */
        address[4] = base;
        s.observer.access(worker, &a);
        s.observer.worker_end(shared, worker);
        s.observer.launch_end(shared, MG_OK);
        assert_int_equal(seen.metrics.v[MG_METRIC_SECTORS_RED], 3 + 2);
        assert_int_equal(seen.metrics.v[MG_METRIC_SECTORS_GLOBAL], 2 + 2);
    }
    tear_down(&s);
}

/* A launch in which every instruction is issued once. */
static void launch_once(struct mg_observer o, const struct mg_launch_info *launch)
{
    void *shared;
    assert_int_equal(o.launch_begin(o.self, launch, 1, &shared), MG_OK);
    void *worker = o.worker_begin(shared, 0);
    assert_non_null(worker);
    struct mg_insn_counts counts[12];
    for (unsigned i = 0; i < 12; i++)
        counts[i] = (struct mg_insn_counts){.warps = 1, .threads = 32};
    o.counts(worker, counts, 12);
    o.worker_end(shared, worker);
    o.launch_end(shared, MG_OK);
}

/* What is kept of a kernel from launch to launch is that kernel's. */
static void kernels_are_told_apart(void **state)
{
    (void)state;
    struct setup s;
    set_up(&s);
    const struct mg_ptx_func *f = s.func;
    struct mg_insn_info insns[3][12];
    const struct mg_shared_var vars[3][2] = {{{"_ZZ1kPfE4tile", f->vars[0], 0, 4096}, {"(dynamic)", NULL, 4096, 64}},
                                             {{"_ZZ1kPfE3row", f->vars[0], 0, 4096}, {"(dynamic)", NULL, 4096, 64}},
                                             {{"line", f->vars[0], 0, 4096}, {"(dynamic)", NULL, 4096, 64}}};
    static const char *const names[3] = {"tile", "row", "line"};
    for (unsigned k = 0; k < 3; k++)
        for (uint32_t i = 0; i < 12; i++)
            insns[k][i] = (struct mg_insn_info){f, &f->insns[i], "a.cu", 100 * k + (i < 2 * k + 2 ? 1 : 2)};
    /* numbers that are kept in one place, and none: that kernel is looked at each time */
    static const uint64_t programs[3] = {1, 65, 0};
    for (unsigned round = 0; round < 30; round++) {
        unsigned k = round * 7 / 3 % 3;
        struct mg_launch_info launch = {.kernel = "k",
                                        .module = s.module,
                                        .insns = insns[k],
                                        .ninsns = 12,
                                        .program = programs[k],
                                        .shared_vars = vars[k],
                                        .nshared_vars = 1 + round / 2 % 2,
                                        .device_cc = 90};
        launch_once(s.observer, &launch);
        assert_int_equal(seen.nlines, 2);
        assert_int_equal(seen_lines[0].line, 100 * k + 1);
        assert_int_equal(seen_lines[0].metrics.v[MG_METRIC_INST], 2 * k + 2);
        assert_int_equal(seen_lines[1].metrics.v[MG_METRIC_INST], 10 - 2 * k);
        assert_int_equal(seen.nvars, launch.nshared_vars);
        assert_string_equal(var_name, names[k]);
        if (seen.nvars > 1)
            assert_string_equal(seen_vars[1].name, "(dynamic)");
    }
    tear_down(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(events_become_counters),
        cmocka_unit_test(atomics_count_from_their_allocation),
                                       cmocka_unit_test(kernels_are_told_apart)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
