/* fake_run.c - stands in for a CUDA program under our runtime: writes a report stream to $MARGAY_REPORT, as src/cudart
 * would, and behaves as its first argument says. For the tests of the command, which must not depend on the engine.
 *
 *   launches SOURCE  three kernels, two shapes, lines in SOURCE      error SOURCE  a kernel that faults
 *   damaged          lines that are no records                       partial       dies inside a record
 *   crash SOURCE     launches, then a defect of ours, and the signal
 *   many-errors      a thousand errors                               orphan        leaves a child that holds the pipe
 *   env              prints what it was started with                 no-lines      a kernel without -lineinfo
 *   findings SOURCE  what a check writes, in two launches            faulted SOURCE  an error, and the finding for it
 *   warning SOURCE   a warning, and launches SOURCE
 *   missing          a call that is not simulated                    cub           a kernel with a long name
 *   wait             prints "ready" and waits for a signal           progress      progress records
 */
#include <signal.h>
#include <unistd.h>

#include "report/report.h"

static struct mg_report_writer *writer;

static struct mg_metrics metrics(uint64_t wave, uint64_t wave_ideal, uint64_t sectors, uint64_t sectors_ideal,
                                 uint64_t divergent)
{
    struct mg_metrics m = {{0}};
    m.v[MG_METRIC_WAVEFRONTS_SHARED] = wave;
    m.v[MG_METRIC_WAVEFRONTS_SHARED_IDEAL] = wave_ideal;
    m.v[MG_METRIC_SECTORS_GLOBAL] = sectors;
    m.v[MG_METRIC_SECTORS_GLOBAL_IDEAL] = sectors_ideal;
    m.v[MG_METRIC_DIVERGENT] = divergent;
    m.v[MG_METRIC_INST] = 1000;
    return m;
}

static void launch(const char *mangled, struct mg_dim3 grid, struct mg_dim3 block, struct mg_report_line *lines,
                   size_t nlines, struct mg_report_var *vars, size_t nvars)
{
    struct mg_report_launch l = {.kernel = mangled,
                                 .mangled = mangled,
                                 .grid = grid,
                                 .block = block,
                                 .regs = 24,
                                 .shared_static = nvars ? vars[0].size : 0,
                                 .seconds = 0.0125,
                                 .lines = lines,
                                 .nlines = nlines,
                                 .vars = vars,
                                 .nvars = nvars};
    for (size_t i = 0; i < nlines; i++)
        for (unsigned m = 0; m < MG_METRIC_COUNT; m++)
            l.metrics.v[m] += lines[i].metrics.v[m];
    mg__report_launch(writer, &l);
}

static void launches(const char *source)
{
    struct mg_dim3 grid = {32, 32, 1}, block = {32, 8, 1};
    struct mg_report_line naive[] = {{source, 3, metrics(0, 0, 147456, 65536, 0), {0}}};
    struct mg_report_line shared[] = {
        {source, 7, metrics(16384, 16384, 32768, 32768, 0), {0}},
        {source, 9, metrics(524288, 16384, 32768, 32768, 0), {0}},
    };
    struct mg_report_line odd[] = {{source, 11, metrics(0, 0, 8, 8, 31), {0}}, {"", 0, metrics(0, 0, 4, 4, 0), {0}}};
    struct mg_report_var tile[] = {{"_ZZ16transpose_sharedPKfPfiE4tile", 0, 4096, metrics(540672, 32768, 0, 0, 0)}};
    tile[0].metrics.v[MG_METRIC_INST_SHARED_LD] = 16384;
    tile[0].metrics.v[MG_METRIC_INST_SHARED_ST] = 16384;
    launch("_Z15transpose_naivePKfPfi", grid, block, naive, 1, NULL, 0);
    launch("_Z16transpose_sharedPKfPfi", grid, block, shared, 2, tile, 1);
    launch("_Z3oddIfEvPT_i", (struct mg_dim3){1, 1, 1}, (struct mg_dim3){64, 1, 1}, odd, 2, NULL, 0);
    launch("_Z3oddIfEvPT_i", (struct mg_dim3){1, 1, 1}, (struct mg_dim3){64, 1, 1}, odd, 2, NULL, 0);
    launch("_Z3oddIfEvPT_i", (struct mg_dim3){2, 1, 1}, (struct mg_dim3){64, 1, 1}, odd, 2, NULL, 0);
}

static void error(const char *source, unsigned column, const char *header)
{
    struct mg_diag diag;
    memset(&diag, 0, sizeof(diag));
    mg__diag_set(&diag, MG_ERR_ADDRESS, "global load of 4 bytes at 0x7f0000001000 is outside every allocation");
    mg__diag_at(&diag, source, 9, column);
    if (header)
        mg__diag_inlined(&diag, header, 91);
    mg__diag_hint(&diag, "the nearest allocation ends 4096 bytes before");
    mg__report_error(writer, "_Z5scalePfi", &diag);
}

static void findings(const char *source, bool faulted)
{
    struct mg_report_finding race = {
        .check = "race",
        .kind = "write-read",
        .severity = MG_SEVERITY_ERROR,
        .mangled = "_Z16transpose_sharedPKfPfi",
        .file = source,
        .line = 9,
        .other_line = 7,
        .variable = "tile[1][0]",
        .count = 1000,
        .message = "thread (1,0,0) of block (0,0,0) reads tile[1][0], which thread (0,1,0) writes",
        .advice = "Put a __syncthreads() between the write and the read."};
    struct mg_report_finding same = {.check = "race",
                                     .kind = "same-value",
                                     .severity = MG_SEVERITY_WARNING,
                                     .mangled = "_Z15transpose_naivePKfPfi",
                                     .file = source,
                                     .line = 3,
                                     .other_line = 3,
                                     .variable = "allocation of 64 bytes, byte 0",
                                     .count = 2,
                                     .message = "two write",
                                     .advice = "Let one write."};
    struct mg_report_finding copy = {.check = "bounds",
                                     .kind = "copy",
                                     .severity = MG_SEVERITY_ERROR,
                                     .count = 1,
                                     .message = "cudaMemcpy of 1024 bytes into 512",
                                     .advice = "Check the size."};
    struct mg_report_finding outside = {.check = "bounds",
                                        .kind = "out-of-allocation",
                                        .severity = MG_SEVERITY_ERROR,
                                        .mangled = "_Z5scalePfi",
                                        .file = source,
                                        .line = 9,
                                        .count = 1,
                                        .message = "beyond",
                                        .advice = "Check the index."};
    launches(source);
    if (faulted) {
        mg__report_finding(writer, &outside);
        error(source, 0, NULL);
        return;
    }
    mg__report_finding(writer, &same);
    mg__report_finding(writer, &race);
    mg__report_finding(writer, &copy);
    race.variable = "tile[2][0]"; /* the next launch: the same mistake */
    race.count = 24;
    mg__report_finding(writer, &race);
}

static void missing(void)
{
    struct mg_diag diag;
    memset(&diag, 0, sizeof(diag));
    mg__diag_set(&diag, MG_ERR_UNSUPPORTED, "cudaFancy is not simulated");
    mg__report_checks(writer, "race");
    mg__report_error(writer, "", &diag);
}

/* As CUB of CUDA 13 names the last of its kernels of a sum. */
static void cub(void)
{
    struct mg_report_line line = {"", 0, metrics(0, 0, 8, 8, 0), {0}};
    launch(
        "_ZN3cub17CUB_300001_SM_9006detail6reduce28DeviceReduceSingleTileKernelINS2_10policy_hubIfjN4cuda3std3__44plus"
        "IvEEE10Policy1000EPfS9_iS8_ffNS6_8identityEEEvT0_T1_T2_T3_T4_T6_",
        (struct mg_dim3){1, 1, 1}, (struct mg_dim3){256, 1, 1}, &line, 1, NULL, 0);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "", *source = argc > 2 ? argv[2] : "";
    const char *target = getenv("MARGAY_REPORT");
    struct mg_report_device device = {.name = "NVIDIA H100 80GB HBM3", .cc = 90, .sm_count = 132};
    if (target && mg__report_open(target, &device, &writer) != MG_OK)
        return 99;
    if (!strcmp(what, "missing")) {
        missing();
        return 0;
    }
    if (!strcmp(what, "cub")) {
        cub();
        return 0;
    }
    if (!strcmp(what, "env")) {
        static const char *const names[] = {"MARGAY_MODE",     "MARGAY_DEVICE", "MARGAY_THREADS", "MARGAY_LAUNCHES",
                                            "MARGAY_TIMEOUT",  "MARGAY_STRICT", "MARGAY_KERNEL",  "MARGAY_PROGRESS",
                                            "LD_LIBRARY_PATH", "MARGAY_DEVICES"};
        for (size_t i = 0; i < MG_COUNT(names); i++)
            printf("%s=%s\n", names[i], getenv(names[i]) ? getenv(names[i]) : "(none)");
        for (int i = 2; i < argc; i++)
            printf("argument %s\n", argv[i]);
        return 0;
    }
    if (!strcmp(what, "wait")) {
        puts("ready");
        fflush(stdout);
        pause();
        return 0;
    }
    if (!writer)
        return 98;
    if (getenv("MARGAY_CHECK") && strcmp(what, "no-lines"))
        mg__report_checks(writer, getenv("MARGAY_CHECK"));
    if (!strcmp(what, "launches")) {
        puts("PASSED");
        launches(source);
    } else if (!strcmp(what, "findings")) {
        findings(source, false);
    } else if (!strcmp(what, "faulted")) {
        findings(source, true);
    } else if (!strcmp(what, "check-env")) {
        puts(getenv("MARGAY_CHECK") ? getenv("MARGAY_CHECK") : "(none)");
    } else if (!strcmp(what, "no-lines")) {
        struct mg_report_line unknown[] = {{"", 0, metrics(64, 32, 8, 8, 0), {0}}};
        launch("_Z1kv", (struct mg_dim3){1, 1, 1}, (struct mg_dim3){64, 1, 1}, unknown, 1, NULL, 0);
    } else if (!strcmp(what, "error")) {
        error(source, argc > 3 ? (unsigned)atoi(argv[3]) : 0, argc > 4 ? argv[4] : NULL);
        mg__report_close(writer);
        return 3;
    } else if (!strcmp(what, "crash")) { /* a defect of ours, as the runtime tells it from its signal handler */
        struct mg_diag diag;
        launches(source);
        memset(&diag, 0, sizeof(diag));
        mg__diag_set(&diag, MG_ERR_INTERNAL, "Margay itself failed: signal 8 (a bad division) at libcudart+0x10");
        mg__diag_hint(&diag, "This is a defect of Margay, not of your program: please report it.");
        mg__report_crash(writer, "operator\"\" _x(\\ double)", &diag);
        raise(SIGFPE);
    } else if (!strcmp(what, "warning")) {
        struct mg_diag diag;
        memset(&diag, 0, sizeof(diag));
        mg__diag_set(&diag, MG_ERR_ADDRESS, "access of 4 bytes, 4 bytes past the end of an allocation of 64 bytes");
        mg__diag_at(&diag, source, 9, 0);
        mg__report_warning(writer, "_Z5scalePfi", &diag);
        launches(source);
    } else if (!strcmp(what, "many-errors")) {
        for (int i = 0; i < 1000; i++)
            error("", 0, NULL);
    } else if (!strcmp(what, "damaged")) {
        int fd = atoi(target + 3);
        const char junk[] =
            "not json\n{\"record\": 7}\n[1]\n\n{\"record\": \"launch\"}\n{\"record\": \"from the future\"}\n";
        if (write(fd, junk, sizeof(junk) - 1) < 0)
            return 97;
        launches(source);
    } else if (!strcmp(what, "partial")) {
        launches(source);
        if (write(atoi(target + 3), "{\"record\": \"lau", 15) < 0)
            return 97;
        raise(SIGKILL);
    } else if (!strcmp(what, "orphan")) {
        launches(source);
        if (fork() == 0) {
            for (int fd = 0; fd < 3; fd++)
                close(fd);
            sleep(30);
            _exit(0);
        }
    } else if (!strcmp(what, "progress")) {
        for (unsigned i = 0; i < 3; i++)
            mg__report_progress(writer, "_Z5scalePfi", i * 1000, 4000, 0.6 + 5 * i);
    } else {
        return 96;
    }
    mg__report_close(writer);
    return 0;
}
