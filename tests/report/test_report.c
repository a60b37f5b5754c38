/* test_report.c - the stream as the simulated process writes it: JSON, UTF-8, names, and a reader that goes away. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "report/report.h"
#include "report/report_priv.h"

static const struct mg_report_device device = {.name = "NVIDIA H100 80GB HBM3", .cc = 90, .sm_count = 132};

static void strings(void **state)
{
    (void)state;
    static const struct {
        const char *in, *out;
    } rows[] = {
        {"", "\"\""},
        {"plain", "\"plain\""},
        {"a\"b\\c", "\"a\\\"b\\\\c\""},
        {"tab\there\nand\x01\x7f", "\"tab\\there\\nand\\u0001\\u007f\""},
        {"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\x86", "\"\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\x86\""},
        {"\xff", "\"\xef\xbf\xbd\""},
        {"x\xc3", "\"x\xef\xbf\xbd\""},                              /* cut short */
        {"\xc0\xaf", "\"\xef\xbf\xbd\xef\xbf\xbd\""},                /* overlong */
        {"\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""}, /* a surrogate */
        {"\xf4\x90\x80\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""}, /* above U+10FFFF */
        {NULL, "\"\""},
    };
    for (size_t i = 0; i < MG_COUNT(rows); i++) {
        struct mg_strbuf out = {0};
        assert_true(mg__json_string(&out, rows[i].in));
        assert_string_equal(out.at, rows[i].out);
        mg__strbuf_free(&out);
    }
}

/* What is kept of a launch is never given for another one. */
static void again(void **state)
{
    (void)state;
    struct mg_report_line lines[2] = {{.file = "a.cu", .line = 7}, {.file = "", .line = 9}};
    struct mg_report_var vars[1] = {{.name = "tile", .offset = 16, .size = 64}};
    struct mg_report_sample sample = {.blocks = 8, .counted = 2};
    struct mg_report_launch l = {.kernel = "\"seconds\": 5", .mangled = "_Z1kPf", .grid = {1, 2, 3},
                                 .block = {32, 1, 1}, .lines = lines, .nlines = 2, .vars = vars, .nvars = 1};
    static struct mg_again kept;
    for (unsigned round = 0; round < 40; round++) {
        uint32_t *const numbers[] = {&l.device, &l.grid.x, &l.grid.y, &l.grid.z, &l.block.x, &l.block.y, &l.block.z,
                                     &l.shared_static, &l.shared_dynamic, &l.regs, &l.waits, &lines[0].line,
                                     &lines[1].written.loads, &lines[1].written.stores, &lines[1].written.atomics,
                                     &lines[1].written.guarded, &vars[0].offset, &vars[0].size};
        uint64_t *const counts[] = {&l.metrics.v[0], &lines[1].metrics.v[2], &vars[0].metrics.v[0]};
        const char **const texts[] = {&l.kernel, &l.mangled, &l.regs_from, &lines[0].file, &vars[0].name};
        const unsigned n = MG_COUNT(numbers), c = n + MG_COUNT(counts), t = c + MG_COUNT(texts);
        if (round < n)
            *numbers[round] ^= 1;
        else if (round < c)
            ++*counts[round - n];
        else if (round < t)
            *texts[round - c] = "another";
        else if (round == t)
            l.status = MG_ERR_TRAP;
        else if (round == t + 1)
            l.nlines = 1;
        else if (round == t + 2)
            l.nvars = 0;
        else if (round == t + 3)
            l.sample = &sample;
        else
            l.sample = NULL;
        for (unsigned time = 0; time < 3; time++) {
            struct mg_strbuf direct = {0}, got = {0};
            l.seconds = 0.5 * time + 1e-9 * round;
            assert_true(mg__report_launch_json(&l, false, &direct) && mg__again_launch(&kept, &l, &got));
            assert_string_equal(got.at, direct.at);
            mg__strbuf_free(&direct);
            mg__strbuf_free(&got);
        }
    }
    mg__again_free(&kept);
}

static void names(void **state)
{
    (void)state;
    static const struct {
        const char *in, *out;
    } rows[] = {
        {"_Z5scalePfi", "scale(float*, int)"},
        {"_Z6tiledMILi16EEvPKfS1_Pf", "void tiledM<16>(float const*, float const*, float*)"},
        {"_ZN2ns6kernelIfJidEEEvT_DpT0_", "void ns::kernel<float, int, double>(float, int, double)"},
        {"_ZN12_GLOBAL__N_15innerEPi", "(anonymous namespace)::inner(int*)"},
        {"c_kernel", "c_kernel"},
        {"", ""},
        {"_Z", "_Z"},
        {"_Znonsense!", "_Znonsense!"},
    };
    for (size_t i = 0; i < MG_COUNT(rows); i++) {
        char *got = mg__report_demangle(rows[i].in);
        assert_string_equal(got, rows[i].out);
        free(got);
    }
    char *got = mg__report_demangle("_ZN25_INTERNAL_1a2b3c4d_4_x_cu5innerEPi");
    assert_string_equal(got, "inner(int*)");
    free(got);
    assert_null(mg__report_demangle(NULL));

    /* Long enough to overflow a recursive demangler's stack: left alone. */
    size_t n = 1000000;
    char *deep = malloc(n + 1);
    assert_non_null(deep);
    memcpy(deep, "_Z1f", 4);
    memset(deep + 4, 'P', n - 4);
    deep[n] = 0;
    got = mg__report_demangle(deep);
    assert_string_equal(got, deep);
    free(got);
    deep[12000] = 0; /* within the limit: must come back, whatever it says */
    got = mg__report_demangle(deep);
    assert_non_null(got);
    free(got);
    free(deep);
}

static void variable_names(void **state)
{
    (void)state;
    static const struct {
        const char *in, *out;
    } rows[] = {
        {"_ZZ2mmPKfS0_PfiE1a", "a"},
        {"_ZZ2mmPKfS0_PfiE1a_$_0", "a (part 0)"}, /* the compiler has cut it up */
        {"_ZZ2mmPKfS0_PfiE1a_$_2_$_13", "a (part 2) (part 13)"},
        {"tile_$_", "tile_$_"},
        {"_$_1", "_$_1"},
        {"_ZZ5tiledILi16EEvPKfPfE4tile", "tile"},
        {"_ZZN2ns5tiledEPfE4tile_0", "tile"}, /* the second of that name in the function */
        {"_ZZ6kernelILi32EEvPfE6tile_A", "tile_A"},
        {"_ZN2ns6bufferE", "buffer"},
        {"(dynamic)", "(dynamic)"},
        {"smem", "smem"},
    };
    for (size_t i = 0; i < MG_COUNT(rows); i++) {
        char *got = mg__report_variable_name(rows[i].in);
        assert_string_equal(got, rows[i].out);
        free(got);
    }
}

/* The same text for whatever the program's locale is: no number goes through printf's %f. */
static void launch_json(void **state)
{
    (void)state;
    struct mg_report_line lines[2] = {{.file = "a.cu", .line = 7}, {.file = "", .line = 0}};
    struct mg_report_var vars[1] = {{.name = "_ZZ1kPfE4tile", .offset = 16, .size = 4096}};
    struct mg_report_launch launch = {.kernel = "k(float*)",
                                      .mangled = "_Z1kPf",
                                      .device = 3,
                                      .grid = {1, 2, 3},
                                      .block = {32, 4, 1},
                                      .shared_static = 4112,
                                      .shared_dynamic = 64,
                                      .regs = 24,
                                      .seconds = 1.000000042,
                                      .status = MG_ERR_ADDRESS,
                                      .waits = MG_REPORT_POLLING | MG_REPORT_SWAP,
                                      .lines = lines,
                                      .nlines = 2,
                                      .vars = vars,
                                      .nvars = 1};
    launch.metrics.v[MG_METRIC_WAVEFRONTS_SHARED] = UINT64_C(9007199254740993);
    lines[0].metrics.v[MG_METRIC_SECTORS_LD] = 12;
    lines[0].metrics.v[MG_METRIC_SECTORS_GLOBAL] = 12;
    lines[0].metrics.v[MG_METRIC_SECTORS_GLOBAL_IDEAL] = 4;
    vars[0].metrics.v[MG_METRIC_INST_SHARED_ST] = 3;
    struct mg_strbuf out = {0};
    assert_true(mg__report_launch_json(&launch, false, &out));
    static const char *const parts[] = {
        "{\"kernel\": \"k(float*)\", \"mangled\": \"_Z1kPf\", \"device\": 3, \"grid\": [1, 2, 3], "
        "\"block\": [32, 4, 1], \"shared_static\": 4112, \"shared_dynamic\": 64, \"regs\": 24, "
        "\"seconds\": 1.000000042, "
        "\"status\": \"MG_ERR_ADDRESS\", \"waits\": [\"polling\", \"swap\"], "
        "\"metrics\": {\"memory_l1_wavefronts_shared\": 9007199254740993, ",
        "\"launch__shared_mem_per_block_static\": 0, \"launch__shared_mem_per_block_dynamic\": 0}, "
        "\"derived\": {\"derived__memory_l1_wavefronts_shared_excessive\": 9007199254740993}, \"lines\": [",
        "\"derived\": {\"derived__memory_l2_theoretical_sectors_global_excessive\": 8, "
        "\"memory_l2_theoretical_sectors_global_efficiency\": 33.333333}",
        "{\"file\": \"a.cu\", \"line\": 7, \"metrics\": {",
        "\"l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum\": 12",
        "\"variables\": [{\"name\": \"tile\", \"offset\": 16, \"size\": 4096, \"metrics\": {"
        "\"memory_l1_wavefronts_shared\": 0, \"memory_l1_wavefronts_shared_ideal\": 0, "
        "\"smsp__sass_inst_executed_op_shared_ld.sum\": 0, \"smsp__sass_inst_executed_op_shared_st.sum\": 3}, "
        "\"derived\": {}}]}",
    };
    for (size_t i = 0; i < MG_COUNT(parts); i++)
        if (!strstr(out.at, parts[i]))
            fail_msg("%s\nis not in\n%s", parts[i], out.at);
    assert_null(strchr(out.at, '\n'));

    /* A launch whose kernel name was left mangled is still shown demangled. */
    launch.kernel = launch.mangled;
    out.count = 0;
    assert_true(mg__report_launch_json(&launch, false, &out));
    assert_non_null(strstr(out.at, "{\"kernel\": \"k(float*)\", \"mangled\": \"_Z1kPf\""));
    mg__strbuf_free(&out);
}

static void targets(void **state)
{
    (void)state;
    struct mg_report_writer *w;
    assert_int_equal(mg__report_open("", &device, &w), MG_ERR_INVALID);
    assert_int_equal(mg__report_open("fd:", &device, &w), MG_ERR_INVALID);
    assert_int_equal(mg__report_open("fd:x", &device, &w), MG_ERR_INVALID);
    assert_int_equal(mg__report_open("fd:-1", &device, &w), MG_ERR_INVALID);
    assert_int_equal(mg__report_open("fd:99999999999999999999", &device, &w), MG_ERR_INVALID);
    assert_int_equal(mg__report_open("fd:4095", &device, &w), MG_ERR_IO);
    assert_int_equal(mg__report_open("/no/such/folder/report", &device, &w), MG_ERR_IO);
    assert_null(w);
    mg__report_close(NULL);
}

static volatile sig_atomic_t pipe_signals;
static void count_signal(int signal)
{
    (void)signal;
    pipe_signals++;
}

static void reader_gone(void **state)
{
    (void)state;
    int fds[2];
    char target[32];
    struct mg_report_writer *w;
    struct mg_report_launch launch = {.kernel = "k", .mangled = "k"};
    assert_int_equal(pipe(fds), 0);
    snprintf(target, sizeof(target), "fd:%d", fds[1]);
    signal(SIGPIPE, count_signal);
    assert_int_equal(mg__report_open(target, &device, &w), MG_OK);
    close(fds[0]);
    assert_int_equal(mg__report_launch(w, &launch), MG_ERR_IO);
    assert_int_equal(mg__report_launch(w, &launch), MG_ERR_IO);
    mg__report_close(w);
    assert_int_equal(pipe_signals, 0); /* the program never sees our SIGPIPE… */
    assert_int_equal(write(fds[1], "x", 1), -1);
    assert_int_equal(pipe_signals, 1); /* …and still sees its own */
    close(fds[1]);
    signal(SIGPIPE, SIG_DFL);
}

/* Four threads, records longer than PIPE_BUF: every line arrives whole. */
enum { WRITERS = 4, RECORDS = 25, LINES = 40 };
static void *write_records(void *arg)
{
    struct mg_report_line lines[LINES];
    memset(lines, 0, sizeof(lines));
    for (unsigned i = 0; i < LINES; i++)
        lines[i] = (struct mg_report_line){.file = "some/file.cu", .line = i};
    struct mg_report_launch launch = {.kernel = "k", .mangled = "k", .lines = lines, .nlines = LINES};
    for (int i = 0; i < RECORDS; i++)
        mg__report_launch(arg, &launch);
    return NULL;
}

static void whole_lines(void **state)
{
    (void)state;
    char path[] = "/tmp/margay-test-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    struct mg_report_writer *w;
    assert_int_equal(mg__report_open(path, &device, &w), MG_OK);
    pthread_t threads[WRITERS];
    for (int i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, write_records, w), 0);
    for (int i = 0; i < WRITERS; i++)
        pthread_join(threads[i], NULL);
    mg__report_close(w);
    FILE *file = fdopen(fd, "r");
    assert_non_null(file);
    char *line = NULL;
    size_t capacity = 0, launches = 0, headers = 0, ends = 0;
    ssize_t n;
    while ((n = getline(&line, &capacity, file)) > 0) {
        assert_true(n > 2 && line[0] == '{' && line[n - 2] == '}' && line[n - 1] == '\n');
        launches += !strncmp(line, "{\"record\": \"launch\"", 18) && strstr(line, "]}}\n");
        headers += !strncmp(line, "{\"record\": \"header\"", 18);
        ends += !strcmp(line, "{\"record\": \"end\", \"launches\": 100}\n");
    }
    assert_int_equal(launches, WRITERS * RECORDS);
    assert_int_equal(headers, 1);
    assert_int_equal(ends, 1);
    free(line);
    fclose(file);
    unlink(path);
}

static void statuses(void **state)
{
    (void)state;
    assert_string_equal(mg_status_name(MG_OK), "MG_OK");
    assert_string_equal(mg_status_name(MG_ERR_INTERNAL), "MG_ERR_INTERNAL");
    for (int s = MG_OK; s <= MG_ERR_INTERNAL; s++) {
        assert_non_null(mg_status_name((enum mg_status)s));
        assert_non_null(mg_status_text((enum mg_status)s));
        for (int t = MG_OK; t < s; t++)
            assert_string_not_equal(mg_status_name((enum mg_status)s), mg_status_name((enum mg_status)t));
    }
    assert_non_null(mg_status_name((enum mg_status)12345));
    assert_non_null(mg_status_text((enum mg_status)-1));
}

static void metric_table(void **state)
{
    (void)state;
    for (int m = 0; m < MG_METRIC_ALL; m++) {
        enum mg_metric first, second, metric = (enum mg_metric)m;
        assert_true(mg__metric_name(metric)[0] && mg__metric_text(metric)[0]);
        assert_true(mg__metric_unit(metric)[0] || mg__metric_type(metric) == MG_TYPE_FACTOR);
        for (int n = 0; n < m; n++)
            assert_string_not_equal(mg__metric_name(metric), mg__metric_name((enum mg_metric)n));
        assert_int_equal(m >= MG_METRIC_COUNT, mg__metric_adds(metric) >= MG_ADDS_RATIO);
        if (m < MG_METRIC_COUNT)
            continue;
        mg__metric_parts(metric, &first, &second); /* which are there wherever this one is */
        assert_true(first < MG_METRIC_COUNT && second < MG_METRIC_COUNT && first != second);
        assert_true(mg__metric_scope(first) <= mg__metric_scope(metric));
        assert_true(mg__metric_scope(second) <= mg__metric_scope(metric));
    }
    assert_string_equal(mg__metric_name(MG_METRIC_ALL), "?");
}

/* How several come together, and what is derived of them then. */
static void metrics_come_together(void **state)
{
    (void)state;
    uint64_t v = 5;
    assert_true(mg__metric_join(MG_ADDS_SUM, &v, 7));
    assert_int_equal(v, 12);
    assert_true(mg__metric_join(MG_ADDS_LARGEST, &v, 7));
    assert_int_equal(v, 12);
    assert_true(mg__metric_join(MG_ADDS_LARGEST, &v, 13));
    assert_int_equal(v, 13);
    assert_true(mg__metric_join(MG_ADDS_SAME, &v, 13));
    assert_int_equal(v, 13);
    assert_false(mg__metric_join(MG_ADDS_SAME, &v, 20));
    assert_int_equal(v, 20);
    assert_false(mg__metric_join(MG_ADDS_SAME, &v, 3));
    assert_int_equal(v, 20);

    struct mg_metrics a = {{0}}, b = {{0}};
    double value;
    assert_false(mg__metric_value(&a, MG_METRIC_TIMES_IDEAL, &value)); /* of nothing there is no ratio */
    assert_true(value == 0);
    assert_false(mg__metric_value(&a, MG_METRIC_EFFICIENCY, &value));
    a.v[MG_METRIC_WAVEFRONTS_SHARED] = 30, a.v[MG_METRIC_WAVEFRONTS_SHARED_IDEAL] = 10;
    b.v[MG_METRIC_WAVEFRONTS_SHARED] = 10, b.v[MG_METRIC_WAVEFRONTS_SHARED_IDEAL] = 10;
    a.v[MG_METRIC_SECTORS_GLOBAL] = 8, a.v[MG_METRIC_SECTORS_GLOBAL_IDEAL] = 1;
    b.v[MG_METRIC_SECTORS_GLOBAL] = 8, b.v[MG_METRIC_SECTORS_GLOBAL_IDEAL] = 3;
    a.v[MG_METRIC_INST] = 10, a.v[MG_METRIC_THREAD_INST] = 320;
    b.v[MG_METRIC_INST] = 30, b.v[MG_METRIC_THREAD_INST] = 320;
    a.v[MG_METRIC_SHARED_STATIC] = b.v[MG_METRIC_SHARED_STATIC] = 4096;
    assert_true(mg__metrics_add(&a, &b));
    assert_int_equal(a.v[MG_METRIC_WAVEFRONTS_SHARED], 40);
    assert_int_equal(a.v[MG_METRIC_SHARED_STATIC], 4096);                           /* once, not twice */
    assert_true(mg__metric_value(&a, MG_METRIC_TIMES_IDEAL, &value) && value == 2); /* neither 3 + 1 nor their mean */
    assert_true(mg__metric_value(&a, MG_METRIC_CONFLICTS, &value) && value == 20);
    assert_int_equal(mg__metric_whole(&a, MG_METRIC_CONFLICTS), 20);
    assert_true(mg__metric_value(&a, MG_METRIC_EFFICIENCY, &value) && value == 25);
    assert_true(mg__metric_value(&a, MG_METRIC_THREADS_PER_INST, &value) && value == 16);
    a.v[MG_METRIC_SECTORS_GLOBAL_IDEAL] = 20; /* a broadcast: no more than all, and no debt */
    assert_true(mg__metric_value(&a, MG_METRIC_EFFICIENCY, &value) && value == 100);
    assert_int_equal(mg__metric_whole(&a, MG_METRIC_SECTORS_EXCESS), 0);
    b.v[MG_METRIC_SHARED_STATIC] = 64;
    assert_false(mg__metrics_add(&a, &b));
    assert_int_equal(a.v[MG_METRIC_SHARED_STATIC], 4096);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(strings),        cmocka_unit_test(again),
        cmocka_unit_test(names),
        cmocka_unit_test(variable_names), cmocka_unit_test(launch_json),
        cmocka_unit_test(targets),        cmocka_unit_test(reader_gone),
        cmocka_unit_test(whole_lines),    cmocka_unit_test(statuses),
        cmocka_unit_test(metric_table),   cmocka_unit_test(metrics_come_together),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
