/* session.c - one program run under Margay: started with our runtime in front of NVIDIA's, its records collected.
 *
 * The program finds our runtime twice over: it is preloaded, for programs that carry the static runtime, and its folder
 * leads LD_LIBRARY_PATH, for those that load libcudart by name. Both are inherited, so a script that starts a CUDA
 * program works as well. Records arrive over a pipe as they happen; launches go to the --json file at once and into the
 * tally, and errors are shown at once, so a program that never ends still says what it did. A check's findings are put
 * together first, and its errors wait for them: one that a finding tells better is not told twice.
 */
#include "cli.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_ERRORS_SHOWN 10
#define LOADER_FAILED 127              /* what ld.so exits with */
#define MAX_RECORD ((size_t)256 << 20) /* a longer line is damage, not a record */

#define NO_LIBDIR                                                                \
    "Margay's CUDA runtime (libcudart.so.13) was not found beside the command; " \
    "build it with `make`, or set MARGAY_LIBDIR to its folder"

struct held_error {
    const char *kernel;
    struct mg_diag diag;
};

struct run {
    struct mg_session *session;
    FILE *json;
    bool json_failed, any_launch;
    bool heard;                        /* the runtime has said something: the program was started */
    struct mg_strbuf line;             /* the record that is still incomplete */
    struct mg_repeats repeats;         /* launches that may come again */
    bool skip_line;                    /* it was too long: drop it up to its newline */
    struct mg_strbuf errors, warnings; /* JSON objects, commas between */
    struct mg_arena held_arena;        /* check: errors wait until it is known whether a finding stands for them */
    MG_VEC(struct held_error *) held;
    bool progress_shown, noted;
    struct mg_strbuf under_way;   /* the kernel of the launch that the last record was about, if that has not ended */
    uint64_t under_way_at;        /* when it came, mg__clock_ns */
    uint64_t blocks_done, blocks; /* of it, */
    double under_way_for;         /* and so many seconds */
    double progress_next; /* seconds of the launch, before which nothing is shown where there is no terminal */
    char libdir[PATH_MAX];
    unsigned cudart;     /* 12 or 13 */
    char regs[PATH_MAX]; /* a file of what ptxas says of registers; or "" */
};

/* ---- the --json file ---- */
static void json_put(struct run *run, const char *text, size_t size)
{
    if (run->json && fwrite(text, 1, size, run->json) != size)
        run->json_failed = true;
}

static void json_begin(struct run *run)
{
    struct mg_strbuf text = {0};
    if (mg__report_begin_json(&run->session->device, &text))
        json_put(run, text.at, text.count);
    else
        run->json_failed = true;
    mg__strbuf_free(&text);
}

static void json_launch(struct run *run, const struct mg_report_launch *launch)
{
    struct mg_strbuf text = {0};
    if (!run->any_launch)
        json_begin(run);
    if (mg__strbuf_append(&text, run->any_launch ? ",\n" : "\n", run->any_launch ? 2 : 1) &&
        mg__report_launch_json(launch, false, &text))
        json_put(run, text.at, text.count);
    else
        run->json_failed = true;
    mg__strbuf_free(&text);
    run->any_launch = true;
}

static bool append_findings(struct mg_strbuf *text, const char *name, const struct mg_findings *findings)
{
    bool ok = mg__strbuf_printf(text, ",\n\"%s\": [", name);
    for (size_t i = 0; ok && i < findings->at.count; i++)
        ok = mg__strbuf_append(text, i ? ",\n" : "\n", i ? 2 : 1) && mg__report_finding_json(findings->at.at[i], text);
    return ok && mg__strbuf_append(text, "]", 1);
}

static void json_end(struct run *run)
{
    struct mg_session *s = run->session;
    if (!run->any_launch)
        json_begin(run);
    struct mg_strbuf text = {0};
    if (mg__strbuf_append(&text, "]", 1) && append_findings(&text, "findings", &s->findings) &&
        (s->options->command != MG_CMD_CHECK || append_findings(&text, "suppressed", &s->suppressed)) &&
        (!s->machine.known ||
         (mg__strbuf_printf(&text, ",\n\"machine_code\": ") && mg__machine_json(&s->machine, &text))) &&
        (s->options->command != MG_CMD_ADVISE ||
         (mg__strbuf_printf(&text, ",\n\"advice\": ") && mg__advices_json(&s->advices, &text))) &&
        (!s->hosted.at.count || (mg__strbuf_printf(&text, ",\n\"hosted\": ") && mg__hosted_json(&s->hosted, &text))) &&
        (!s->given.at.count || (mg__strbuf_printf(&text, ",\n\"sources\": ") && mg__given_json(&s->given, &text))) &&
        (!s->pictures.at.count ||
         (mg__strbuf_printf(&text, ",\n\"pictures\": ") && mg__pictures_json(&s->pictures, &text))) &&
        mg__strbuf_printf(&text, ",\n\"errors\": [%s],\n\"warnings\": [%s]}\n", run->errors.at ? run->errors.at : "",
                          run->warnings.at ? run->warnings.at : ""))
        json_put(run, text.at, text.count);
    else
        run->json_failed = true;
    mg__strbuf_free(&text);
}

static void append_object(struct run *run, struct mg_strbuf *list, const char *object)
{
    if (!mg__strbuf_printf(list, "%s%s", list->count ? ",\n" : "", object))
        run->json_failed = true;
}

/* ---- the terminal ---- */
static void erase_progress(struct run *run)
{
    if (run->progress_shown)
        fputs("\r\x1b[K", stderr);
    run->progress_shown = false;
}

/* Whether a line of progress is wanted: on a terminal, unless a machine reads it. */
static bool wants_progress(const struct mg_cli_options *o)
{
    const char *ci = getenv("CI");
    return o->progress || (!o->no_progress && isatty(STDERR_FILENO) && !(ci && ci[0]));
}

/* "launch 3: 1,234 of 4,096 blocks (30 %), 12 s left, of KERNEL"; once it is clear that it takes time. Where there is
 * no terminal, a line at first and then every ten seconds. */
static void show_progress(struct run *run, const struct mg_record *r)
{
    struct mg_style style = run->session->options->style;
    struct mg_strbuf text = {0}, head = {0};
    const bool terminal = isatty(STDERR_FILENO);
    if (!r->total || r->done > r->total || r->seconds < 1 || !wants_progress(run->session->options) ||
        (!terminal && r->seconds < run->progress_next))
        return;
    run->progress_next = r->seconds + 10;
    double left = r->done ? r->seconds / (double)r->done * (double)(r->total - r->done) : 0;
    bool ok = mg__strbuf_printf(&head, "launch %llu: ", (unsigned long long)run->session->launches + 1) &&
              mg__layout_number(&head, r->done, 0) && mg__strbuf_printf(&head, " of ") &&
              mg__layout_number(&head, r->total, 0) &&
              mg__strbuf_printf(&head, " blocks (%.0f %%)", 100.0 * (double)r->done / (double)r->total) &&
              (!r->done || mg__strbuf_printf(&head, left < 100 ? ", %.0f s left" : ", %.0f min left",
                                             MG_MAX(ceil(left < 100 ? left : left / 60), 1))) &&
              mg__strbuf_printf(&head, ", of ");
    ok = ok && mg__strbuf_printf(&text, terminal ? "\r\x1b[K%s" : "margay: %s", head.at) &&
         mg__layout_kernel(&text, &style, r->kernel,
                           style.width > head.count + 21 ? style.width - 1 - (unsigned)head.count : 20, NULL) &&
         (terminal || mg__strbuf_append(&text, "\n", 1));
    if (ok) {
        fputs(text.at, stderr);
        fflush(stderr);
        run->progress_shown = terminal;
    }
    mg__strbuf_free(&head);
    mg__strbuf_free(&text);
}

static void show_error(struct run *run, const char *kernel, const struct mg_diag *diag)
{
    struct mg_strbuf text = {0};
    if (++run->session->errors > MAX_ERRORS_SHOWN)
        return;
    if (mg__render_error(kernel, diag, &run->session->options->style, &text)) {
        fputs(text.at, stderr);
        fflush(stderr);
    }
    mg__strbuf_free(&text);
}

/* An error of ours, about the program as a whole. */
static void tell_error(void *arg, const struct mg_diag *diag)
{
    struct run *run = arg;
    struct mg_strbuf text = {0};
    if (mg__strbuf_append(&text, "{", 1) && mg__json_diag(&text, "", diag) && mg__strbuf_append(&text, "}", 1))
        append_object(run, &run->errors, text.at);
    else
        run->json_failed = true;
    mg__strbuf_free(&text);
    show_error(run, "", diag);
}

static void show_warning(struct run *run, const char *kernel, const struct mg_diag *diag)
{
    struct mg_strbuf text = {0};
    if (mg__render_warning(kernel, diag, &run->session->options->style, &text)) {
        fputs(text.at, stderr);
        fflush(stderr);
    }
    mg__strbuf_free(&text);
}

/* Once, however many processes the program has. The collection's bench knows. */
static void show_note(struct run *run, const char *note)
{
    const struct mg_cli_options *o = run->session->options;
    struct mg_strbuf text = {0};
    if (run->noted || o->quiet || o->command == MG_CMD_BENCH)
        return;
    run->noted = true;
    if (mg__layout_text(&text, &o->style, note, strlen(note), UINT32_MAX, NULL))
        fprintf(stderr, "margay: note: %s (--quiet leaves this out)\n", text.at);
    mg__strbuf_free(&text);
}

/* Of a run that was ended: the launch that was going on, by the last it said of itself, ten times a second. */
static void tell_cut_off(struct run *run)
{
    struct mg_strbuf object = {0};
    struct mg_diag diag = {0};
    if (!run->under_way.count || mg__clock_ns() - run->under_way_at > 2000000000u)
        return;
    mg__diag_set(&diag, MG_ERR_TIMEOUT,
                 "launch %llu was cut off after %.1f s, with %llu of %llu blocks done; it is not in the report",
                 (unsigned long long)run->session->launches + 1, run->under_way_for,
                 (unsigned long long)run->blocks_done, (unsigned long long)run->blocks);
    if (mg__strbuf_append(&object, "{", 1) && mg__json_diag(&object, run->under_way.at, &diag) &&
        mg__strbuf_append(&object, "}", 1))
        append_object(run, &run->warnings, object.at);
    mg__strbuf_free(&object);
    show_warning(run, run->under_way.at, &diag);
}

/* Once a run, of one that had something to keep. */
static void tell_unkept(const struct mg_session *s)
{
    char folder[MG_CACHE_PATH];
    int why = s->launches && !s->options->quiet ? mg__cache_trouble(folder) : 0;
    if (why)
        fprintf(stderr,
                "margay: note: compiled kernels cannot be kept in %s: %s; MARGAY_CACHE names another folder, or off "
                "(--quiet leaves this out)\n",
                folder, strerror(why));
}

static void hold_error(struct run *run, const struct mg_record *record)
{
    struct held_error *held = mg__arena_alloc(&run->held_arena, sizeof(*held));
    if (held) {
        held->kernel = mg__arena_strdup(&run->held_arena, record->kernel);
        held->diag = record->diag;
    }
    if (!held || !held->kernel || !mg__vec_push(&run->held, held))
        run->session->damaged++;
}

/* ---- findings, once all are there ---- */

/* Whether the finding says the same as the error that ended its launch. */
static bool stands_for(const struct mg_report_finding *f, const struct held_error *e)
{
    if (strcmp(f->kernel, e->kernel))
        return false;
    switch (e->diag.status) {
    case MG_ERR_ADDRESS:
    case MG_ERR_MISALIGNED:
        return !strcmp(f->check, "bounds");
    case MG_ERR_DEADLOCK:
    case MG_ERR_TIMEOUT:
        return !strcmp(f->check, "barrier");
    case MG_ERR_TRAP: /* of a barrier that nobody could pass; a program's own trap has no such finding */
        return !strcmp(f->kind, "count");
    case MG_ERR_LAUNCH_LIMIT:
    case MG_ERR_INVALID:
        return !strcmp(f->check, "launch");
    default:
        return false;
    }
}

/* Suppressed ones are put aside; errors without a finding are shown. */
static void sort_out(struct run *run)
{
    struct mg_session *s = run->session;
    struct mg_findings all = s->findings;
    mg__findings_init(&s->findings);
    for (size_t i = 0; i < all.at.count; i++) {
        bool accepted = mg__suppressions_match(s->options->suppressions, all.at.at[i]);
        if (mg__findings_add(accepted ? &s->suppressed : &s->findings, all.at.at[i]) != MG_OK)
            s->damaged++;
    }
    for (size_t i = 0; i < run->held.count; i++) {
        bool explained = false;
        for (size_t j = 0; j < all.at.count && !explained; j++)
            explained = stands_for(all.at.at[j], run->held.at[i]);
        if (!explained) {
            s->unexplained++;
            s->stopped |= run->held.at[i]->kernel[0] != 0;
            show_error(run, run->held.at[i]->kernel, &run->held.at[i]->diag);
        }
    }
    mg__findings_free(&all);
    mg__findings_sort(&s->findings);
    mg__findings_sort(&s->suppressed);
}

/* ---- records ---- */
static void handle(struct run *run, const char *line, size_t length)
{
    struct mg_session *s = run->session;
    struct mg_arena arena;
    struct mg_record record;
    mg__arena_init(&arena);
    if (mg__record_repeat(&run->repeats, line, length, &arena, &record) != MG_OK) {
        s->damaged++;
    } else if (record.kind == MG_RECORD_PROGRESS) {
        run->under_way.count = 0;
        if (!mg__strbuf_printf(&run->under_way, "%s", record.kernel))
            s->damaged++;
        run->under_way_at = mg__clock_ns();
        run->blocks_done = record.done;
        run->blocks = record.total;
        run->under_way_for = record.seconds;
        show_progress(run, &record);
    } else {
        erase_progress(run);
        if (record.kind == MG_RECORD_LAUNCH) {
            s->launches++;
            run->under_way.count = 0;
            run->progress_next = 0;
            if (mg__tally_add(&s->tally, &record.launch) != MG_OK)
                s->damaged++;
            if (s->options->on_launch)
                s->options->on_launch(s->options->on_launch_arg, &record.launch);
            if (run->json)
                json_launch(run, &record.launch);
        } else if (record.kind == MG_RECORD_ADVICE) {
            if (mg__advices_add(&s->advices, record.json) != MG_OK)
                s->damaged++;
        } else if (record.kind == MG_RECORD_PICTURE) {
            if (mg__pictures_add(&s->pictures, &record) != MG_OK)
                s->damaged++;
        } else if (record.kind == MG_RECORD_CHECKS) {
            s->checked = true;
        } else if (record.kind == MG_RECORD_FINDING) {
            if (mg__findings_add(&s->findings, &record.finding) != MG_OK)
                s->damaged++;
        } else if (record.kind == MG_RECORD_ERROR) {
            append_object(run, &run->errors, record.json);
            s->internal |= record.diag.status == MG_ERR_INTERNAL;
            if (s->options->command == MG_CMD_CHECK)
                hold_error(run, &record);
            else
                show_error(run, record.kernel, &record.diag);
        } else if (record.kind == MG_RECORD_HOSTED) {
            if (mg__hosted_add(&s->hosted, record.library, record.routine) != MG_OK)
                s->damaged++;
        } else if (record.kind == MG_RECORD_SOURCE) {
            if (mg__given_add(&s->given, record.file, record.text) != MG_OK)
                s->damaged++;
        } else if (record.kind == MG_RECORD_NOTE) {
            show_note(run, record.note);
        } else if (record.kind == MG_RECORD_WARNING) {
            append_object(run, &run->warnings, record.json);
            show_warning(run, record.kernel, &record.diag);
        }
    }
    mg__arena_free(&arena);
}

static void receive(void *arg, const char *bytes, size_t size)
{
    struct run *run = arg;
    run->heard = run->session->heard = true;
    while (size) {
        const char *newline = memchr(bytes, '\n', size);
        size_t n = newline ? (size_t)(newline - bytes) : size;
        if (!run->skip_line && (run->line.count + n > MAX_RECORD || !mg__strbuf_append(&run->line, bytes, n)))
            run->skip_line = true;
        if (newline) {
            if (run->skip_line)
                run->session->damaged++;
            else if (run->line.count)
                handle(run, run->line.at, run->line.count);
            run->line.count = 0;
            run->skip_line = false;
            n++;
        }
        bytes += n;
        size -= n;
    }
}

/* ---- the child's environment ---- */
static void set_number(const char *name, unsigned value)
{
    char text[16];
    snprintf(text, sizeof(text), "%u", value);
    if (value)
        setenv(name, text, 1);
    else
        unsetenv(name);
}

/* name=value:<what was there> */
static void prefix_path(const char *name, const char *value)
{
    const char *old = getenv(name);
    struct mg_strbuf text = {0};
    if (mg__strbuf_printf(&text, "%s%s%s", value, old && old[0] ? ":" : "", old && old[0] ? old : ""))
        setenv(name, text.at, 1);
    mg__strbuf_free(&text);
}

/* Behind all that the user names, and once. */
static void suffix_path(const char *name, const char *value)
{
    const char *old = getenv(name);
    size_t have = old ? strlen(old) : 0, more = strlen(value);
    struct mg_strbuf text = {0};
    if (have >= more && !strcmp(old + have - more, value))
        return;
    if (mg__strbuf_printf(&text, "%s%s%s", have ? old : "", have ? ":" : "", value))
        setenv(name, text.at, 1);
    mg__strbuf_free(&text);
}

/* The toolkit that the program would find by the nvcc in its path, before ours stands in front of it: PyTorch and
 * TileLang take the folder above nvcc's for one. They ask CUDA_HOME first.
 */
static void set_toolkit(void)
{
    const char *home = getenv("CUDA_HOME"), *path = getenv("CUDA_PATH");
    char nvcc[PATH_MAX], real[PATH_MAX], header[PATH_MAX + 32];
    int why;
    if ((home && home[0]) || (path && path[0]) || !mg__find_program("nvcc", nvcc, sizeof(nvcc), &why) ||
        !realpath(nvcc, real))
        return;
    char *const found[] = {nvcc, real}; /* a link to it, as a wheel may have, stands beside no headers */
    for (size_t i = 0; i < MG_COUNT(found); i++) {
        for (int up = 0; up < 2; up++) {
            char *slash = strrchr(found[i], '/');
            *(slash ? slash : found[i]) = '\0';
        }
        snprintf(header, sizeof(header), "%s/include/cuda_runtime.h", found[i]);
        if (found[i][0] == '/' && access(header, R_OK) == 0) {
            setenv("CUDA_HOME", found[i], 1);
            return;
        }
    }
}

/* What packages of Python have settings for, so that they hand us what we can run. The user's own settings stay. */
static void set_packages(const char *libdir)
{
    char text[PATH_MAX + 64];
    snprintf(text, sizeof(text), "%s/tools/ptxas", libdir); /* Triton hands the driver what its assembler makes */
    setenv("TRITON_PTXAS_PATH", text, 0);
    setenv("TRITON_PTXAS_BLACKWELL_PATH", text, 0);
    set_toolkit();
    snprintf(text, sizeof(text), "%s/tools", libdir); /* and PyCUDA what nvcc makes */
    prefix_path("PATH", text);
    /* CuPy keeps what NVRTC made: here PTX, and machine code where it ran on a GPU. And its reductions come in two
     * kinds: compiled by NVRTC, and machine code with PTX for the newest device alone, which is what it takes first. */
    if (mg__cache_path(NULL, (const uint64_t[2]){0}, "", text)) {
        *strrchr(text, '/') = '\0';
        strcat(text, "/cupy");
        setenv("CUPY_CACHE_DIR", text, 0);
        strcpy(strrchr(text, '/'), "/tilelang");
        setenv("TILELANG_CACHE_DIR", text, 0);
    } else {
        setenv("CUPY_CACHE_IN_MEMORY", "1", 0);
        setenv("TILELANG_DISABLE_CACHE", "1", 0);
    }
    setenv("CUPY_ACCELERATORS", "", 0);
    /* TileLang has nvcc make machine code, by CUDA_HOME, unless it is told to ask NVRTC. It keeps what was made, too.
     */
    setenv("TILELANG_EXECUTION_BACKEND", "nvrtc", 0);
    /* Python takes an NVRTC that the process has, and else looks beside its packages: for programs that compile before
     * they call the driver, which would bring ours. */
    for (unsigned version = 13; version >= 12; version--) {
        snprintf(text, sizeof(text), "%s/libnvrtc.so.%u", libdir, version);
        if (access(text, R_OK) == 0)
            prefix_path("LD_PRELOAD", text);
    }
}

static void set_environment(void *arg, int report_fd)
{
    const struct run *run = arg;
    const struct mg_cli_options *o = run->session->options;
    char text[PATH_MAX + 64];
    snprintf(text, sizeof(text), "fd:%d", report_fd);
    setenv("MARGAY_REPORT", text, 1);
    setenv("MARGAY_MODE",
           o->command & (MG_CMD_PROFILE | MG_CMD_BENCH) ? "profile"
           : o->command == MG_CMD_CHECK                 ? "check"
                                                        : "run",
           1);
    if (o->command == MG_CMD_CHECK) {
        snprintf(text, sizeof(text), "%s%s%s", o->checks, o->leaks ? ",leaks" : "", o->pedantic ? ",pedantic" : "");
        setenv("MARGAY_CHECK", text, 1);
    } else {
        unsetenv("MARGAY_CHECK");
    }
    set_number("MARGAY_ADVISE", o->command == MG_CMD_ADVISE ? 1 : 0);
    set_number("MARGAY_TIME", o->time ? 1 : 0);
    set_number("MARGAY_PICTURES", o->html || o->pictures ? 1 : 0);
    setenv("MARGAY_BRIEF", "1", 1);
    set_number("MARGAY_DEVICE", o->arch->cc);
    setenv("MARGAY_BOARD", o->board->name, 1);
    set_number("MARGAY_DEVICES", o->devices);
    set_number("MARGAY_THREADS", o->threads);
    set_number("MARGAY_VERBOSE", o->verbose);
    set_number("MARGAY_STRICT", o->strict);
    snprintf(text, sizeof(text), "%llu", (unsigned long long)o->sample);
    if (o->sample)
        setenv("MARGAY_SAMPLE", o->sample == UINT64_MAX ? "auto" : text, 1);
    else
        unsetenv("MARGAY_SAMPLE");
    set_number("MARGAY_NO_RESULTS", o->no_results);
    setenv("MARGAY_CLOCK", o->host_clock ? "host" : "device", 1);
    if (o->engine)
        setenv("MARGAY_ENGINE", o->engine, 1);
    set_number("MARGAY_LAUNCHES", o->launches);
    set_number("MARGAY_PROGRESS", 1); /* shown or not: of a run that is ended it tells where it was */
    if (o->timeout_ms) {
        snprintf(text, sizeof(text), "%u.%03u", o->timeout_ms / 1000, o->timeout_ms % 1000);
        setenv("MARGAY_TIMEOUT", text, 1);
    } else {
        unsetenv("MARGAY_TIMEOUT");
    }
    if (o->kernel)
        setenv("MARGAY_KERNEL", o->kernel, 1);
    else
        unsetenv("MARGAY_KERNEL");
    if (run->regs[0])
        setenv("MARGAY_REGS", run->regs, 1);
    else
        unsetenv("MARGAY_REGS");
    prefix_path("LD_LIBRARY_PATH", run->libdir);
    snprintf(text, sizeof(text), "%s/absent", run->libdir); /* where nobody has the real ones */
    suffix_path("LD_LIBRARY_PATH", text);
    snprintf(text, sizeof(text), "%s/libcudart.so.%u", run->libdir, run->cudart);
    prefix_path("LD_PRELOAD", text);
    set_packages(run->libdir);
#ifdef MARGAY_PRELOAD_FIRST
    prefix_path("LD_PRELOAD", MARGAY_PRELOAD_FIRST);
    /* The leaks and crashes of the simulated program are its own affair: it was not built to be checked. */
    prefix_path("ASAN_OPTIONS", "detect_leaks=0:handle_segv=0:handle_sigbus=0:handle_abort=0:handle_sigfpe=0:"
                                "handle_sigill=0");
    prefix_path("TSAN_OPTIONS", "handle_segv=0:handle_sigbus=0:handle_abort=0:handle_sigfpe=0:handle_sigill=0");
#endif
}

int mg__session_settings(const struct mg_cli_options *o)
{
    struct mg_session session = {.options = o};
    struct run run = {.session = &session, .cudart = 13};
    if (!mg__find_libdir(run.libdir, sizeof(run.libdir)))
        return mg__cli_complain(o, NO_LIBDIR);
    set_environment(&run, -1);
    unsetenv("MARGAY_REPORT"); /* there is no pipe */
    unsetenv("MARGAY_MODE");
    unsetenv("MARGAY_BRIEF");
    unsetenv("MARGAY_PROGRESS");
    return -1;
}

/* ---- all of it ---- */
static bool ends_in(const char *name, const char *end)
{
    size_t n = strlen(name), m = strlen(end);
    return n > m && !strcmp(name + n - m, end);
}

static int start(struct run *run, const char *program, char **argv, int *status)
{
    const struct mg_cli_options *o = run->session->options;
    char path[PATH_MAX], library[PATH_MAX + 32];
    int why = 0, wait_status = 0;
    if (!program[0])
        return mg__cli_complain(o, "the name of the program is empty");
    bool found = mg__find_program(program, path, sizeof(path), &why);
    bool here = !found && why == ENOENT && !strchr(program, '/') && access(program, F_OK) == 0;
    const char *unfit = mg__find_unfit(found ? path : program);
    if (unfit && (found || here || why == EACCES))
        return mg__cli_complain(o, "%s %s", program, unfit);
    if (!found) {
        if ((here || why == EACCES) && ends_in(program, ".ptx"))
            return mg__cli_complain(o,
                                    "%s is PTX text, which no processor starts: give the program that loads it; "
                                    "'margay occupancy --kernel %s' reads such a file",
                                    program, program);
        if ((here || why == EACCES) && ends_in(program, ".py"))
            return mg__cli_complain(o, "%s is read by Python: give 'python3 %s'", program, program);
        if (here)
            return mg__cli_complain(o, "%s: not found on PATH; for the one in this folder write ./%s", program,
                                    program);
        if (why == EACCES)
            return mg__cli_complain(o, "%s: Permission denied; 'chmod +x' lets a program of yours be run", program);
        return mg__cli_complain(o, "%s: %s", program, why == EISDIR ? "is a folder" : strerror(why));
    }
    if (!mg__find_libdir(run->libdir, sizeof(run->libdir)))
        return mg__cli_complain(o, NO_LIBDIR);
    run->cudart = 13;
    if (mg__find_cudart_needed(path) == 12) {
        snprintf(library, sizeof(library), "%s/libcudart.so.12", run->libdir);
        if (access(library, R_OK) == 0)
            run->cudart = 12;
    }
    mg__cli_say(o, "running %s with %s/libcudart.so.%u", path, run->libdir, run->cudart);
    int asked = 0;
    struct mg_child child = {.path = path,
                             .argv = argv,
                             .quiet_stdout = o->reserved,
                             .setup = set_environment,
                             .data = receive,
                             .arg = run,
                             .asked_to_end = &asked};
    if (o->command & (MG_CMD_ADVISE | MG_CMD_PROFILE)) /* which tell of occupancy */
        mg__registers_write(o, path, run->regs, sizeof(run->regs));
    enum mg_status ran = mg__child_run(&child, &wait_status, &why);
    if (run->regs[0])
        unlink(run->regs);
    if (ran != MG_OK)
        return mg__cli_complain(o, "%s: %s", program, strerror(why));
    if (run->line.count) { /* the program died in the middle of a record */
        run->session->damaged++;
        run->line.count = 0;
    }
    erase_progress(run);
    run->session->signalled = asked != 0;
    if (WIFSIGNALED(wait_status)) {
        *status = 128 + WTERMSIG(wait_status);
        run->session->signalled = true;
        fprintf(stderr,
                run->session->internal ? "margay: the run of %s ended there, by signal %d (%s)\n"
                                       : "margay: %s was ended by signal %d (%s)\n",
                program, WTERMSIG(wait_status), strsignal(WTERMSIG(wait_status)));
    } else {
        *status = WEXITSTATUS(wait_status);
        if (*status == LOADER_FAILED && !run->heard)
            mg__missing_libraries(path, argv, set_environment, run, tell_error, run);
    }
    if (run->session->signalled && !run->session->internal)
        tell_cut_off(run);
    return -1;
}

int mg__session_run(struct mg_session *s, const struct mg_cli_options *o, int *status)
{
    struct run run = {.session = s};
    struct mg_compiled compiled = {{0}, {0}};
    char **argv = o->program;
    const char *program = argv[0];
    int result = -1;
    memset(s, 0, sizeof(*s));
    s->options = o;
    s->device = (struct mg_report_device){.name = o->board->name, .cc = o->arch->cc, .sm_count = o->board->sm_count};
    mg__tally_init(&s->tally, o->command == MG_CMD_PROFILE);
    mg__advices_init(&s->advices);
    mg__pictures_init(&s->pictures);
    mg__machine_init(&s->machine);
    mg__hosted_init(&s->hosted);
    mg__given_init(&s->given);
    s->advices.given = &s->given;
    mg__findings_init(&s->findings);
    mg__findings_init(&s->suppressed);
    mg__arena_init(&run.held_arena);
    if (!mg__output_fits(o, o->html) || !mg__output_fits(o, o->svg) || !mg__output_open(o, o->json, &run.json))
        return MG_EXIT_SETUP;
    if (ends_in(program, ".cu")) {
        result = mg__compile(o, program, &compiled);
        program = compiled.program;
        argv[0] = compiled.program;
    } else if (o->nvcc_args) {
        result = mg__cli_complain(o, "--nvcc-args is for .cu files, and %s is none", program);
    }
    if (result < 0)
        result = start(&run, program, argv, status);
    if (result < 0 && o->command == MG_CMD_PROFILE)
        mg__disassemble(o, program, &s->tally, &s->machine);
    mg__compile_clean(&compiled);
    sort_out(&run);
    if (result < 0 && o->on_end)
        o->on_end(o->on_end_arg, s);
    if (run.json) {
        if (result >= 0)
            mg__output_discard(o->json, run.json);
        if (result < 0 || !mg__output_is_stdout(o->json))
            json_end(&run);
        if (!mg__output_close(o, o->json, run.json, !run.json_failed) && result < 0 && *status == 0)
            result = MG_EXIT_SETUP;
    }
    tell_unkept(s);
    if (s->errors > MAX_ERRORS_SHOWN)
        fprintf(stderr, "margay: errors beyond the first %d, not shown: %llu\n", MAX_ERRORS_SHOWN,
                (unsigned long long)(s->errors - MAX_ERRORS_SHOWN));
    if (s->damaged)
        fprintf(stderr, "margay: warning: damaged records of the run, missing here: %llu\n",
                (unsigned long long)s->damaged);
    mg__strbuf_free(&run.line);
    mg__strbuf_free(&run.under_way);
    s->error_objects = run.errors;
    mg__strbuf_free(&run.warnings);
    mg__vec_free(&run.held);
    mg__arena_free(&run.held_arena);
    mg__repeats_free(&run.repeats);
    return result;
}

bool mg__session_none(const struct mg_session *s, struct mg_strbuf *out)
{
    if (s->signalled)
        return mg__strbuf_printf(out, "the run was ended before any kernel had finished");
    if (s->options->kernel)
        return mg__strbuf_printf(out, "no kernel whose name matches --kernel '%s' was launched", s->options->kernel);
    return mg__strbuf_printf(out, "no kernel was launched%s", s->heard ? "" : ": Margay saw no call of CUDA");
}

const char *mg__session_hint(const struct mg_session *s)
{
    if (s->heard && s->options->kernel && !s->signalled)
        return "  hint: 'margay run PROGRAM' lists the kernels that it launches; --kernel takes a part of a name, or a "
               "regular expression.\n";
    return s->heard || s->signalled ? ""
                                    : "  hint: A program that another one starts with an environment of its own (env "
                                      "-i, sudo, docker) is not "
                                      "seen: put margay before that program.\n";
}

void mg__session_free(struct mg_session *s)
{
    mg__tally_free(&s->tally);
    mg__findings_free(&s->findings);
    mg__findings_free(&s->suppressed);
    mg__advices_free(&s->advices);
    mg__hosted_free(&s->hosted);
    mg__given_free(&s->given);
    mg__pictures_free(&s->pictures);
    mg__strbuf_free(&s->error_objects);
    mg__machine_free(&s->machine);
}
