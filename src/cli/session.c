/* session.c - one program run under Margay: started with our runtime in front of NVIDIA's, its records collected.
 *
 * The program finds our runtime twice over: it is preloaded, for programs that carry the static runtime, and its folder
 * leads LD_LIBRARY_PATH, for those that load libcudart by name. Both are inherited, so a script that starts a CUDA program
 * works as well. Records arrive over a pipe as they happen; launches go to the --json file at once and into the tally, and
 * errors are shown at once, so a program that never ends still says what it did.
 */
#include "cli.h"

#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_ERRORS_SHOWN 10
#define MAX_RECORD ((size_t)256 << 20) /* a longer line is damage, not a record */

struct run {
    struct mg_session *session;
    FILE *json;
    bool json_failed, any_launch;
    struct mg_strbuf line;     /* the record that is still incomplete */
    bool skip_line;            /* it was too long: drop it up to its newline */
    struct mg_strbuf findings, errors; /* JSON objects, commas between */
    bool progress_shown;
    char libdir[PATH_MAX];
    unsigned cudart; /* 12 or 13 */
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

static void json_launch(struct run *run, const char *object)
{
    if (!run->any_launch)
        json_begin(run);
    json_put(run, run->any_launch ? ",\n" : "\n", run->any_launch ? 2 : 1);
    json_put(run, object, strlen(object));
    run->any_launch = true;
}

static void json_end(struct run *run)
{
    if (!run->any_launch)
        json_begin(run);
    struct mg_strbuf text = {0};
    if (mg__strbuf_printf(&text, "],\n\"findings\": [%s],\n\"errors\": [%s]}\n", run->findings.at ? run->findings.at : "",
                          run->errors.at ? run->errors.at : ""))
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

static void show_progress(struct run *run, const struct mg_record *record)
{
    const struct mg_style *style = &run->session->options->style;
    struct mg_strbuf text = {0};
    if (!record->total || !isatty(STDERR_FILENO))
        return;
    if (mg__strbuf_printf(&text, "\r\x1b[K%3.0f %% of ", 100.0 * (double)record->done / (double)record->total) &&
        mg__layout_text(&text, style, record->kernel, strlen(record->kernel), style->width - 12, NULL)) {
        fputs(text.at, stderr);
        fflush(stderr);
        run->progress_shown = true;
    }
    mg__strbuf_free(&text);
}

static void show_error(struct run *run, const struct mg_record *record)
{
    struct mg_strbuf text = {0};
    if (++run->session->errors > MAX_ERRORS_SHOWN)
        return;
    if (mg__render_error(record->kernel, &record->diag, &run->session->options->style, &text)) {
        fputs(text.at, stderr);
        fflush(stderr);
    }
    mg__strbuf_free(&text);
}

/* ---- records ---- */
static void handle(struct run *run, const char *line, size_t length)
{
    struct mg_session *s = run->session;
    struct mg_arena arena;
    struct mg_record record;
    mg__arena_init(&arena);
    if (mg__record_parse(line, length, &arena, &record) != MG_OK) {
        s->damaged++;
    } else if (record.kind == MG_RECORD_PROGRESS) {
        show_progress(run, &record);
    } else {
        erase_progress(run);
        if (record.kind == MG_RECORD_LAUNCH) {
            s->launches++;
            if (mg__tally_add(&s->tally, &record.launch) != MG_OK)
                s->damaged++;
            if (run->json)
                json_launch(run, record.json);
        } else if (record.kind == MG_RECORD_FINDING) {
            append_object(run, &run->findings, record.json);
        } else if (record.kind == MG_RECORD_ERROR) {
            append_object(run, &run->errors, record.json);
            show_error(run, &record);
        }
    }
    mg__arena_free(&arena);
}

static void receive(void *arg, const char *bytes, size_t size)
{
    struct run *run = arg;
    while (size) {
        const char *newline = memchr(bytes, '\n', size);
        size_t n = newline ? (size_t)(newline - bytes) : size;
        if (!run->skip_line &&
            (run->line.count + n > MAX_RECORD || !mg__strbuf_append(&run->line, bytes, n)))
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

static void set_environment(void *arg, int report_fd)
{
    const struct run *run = arg;
    const struct mg_cli_options *o = run->session->options;
    char text[PATH_MAX + 64];
    snprintf(text, sizeof(text), "fd:%d", report_fd);
    setenv("MARGAY_REPORT", text, 1);
    setenv("MARGAY_MODE", o->command == MG_CMD_PROFILE ? "profile" : "run", 1);
    set_number("MARGAY_DEVICE", o->arch->cc);
    set_number("MARGAY_THREADS", o->threads);
    set_number("MARGAY_LAUNCHES", o->launches);
    set_number("MARGAY_PROGRESS", isatty(STDERR_FILENO) ? 1 : 0);
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
    prefix_path("LD_LIBRARY_PATH", run->libdir);
    snprintf(text, sizeof(text), "%s/libcudart.so.%u", run->libdir, run->cudart);
    prefix_path("LD_PRELOAD", text);
#ifdef MARGAY_PRELOAD_FIRST
    prefix_path("LD_PRELOAD", MARGAY_PRELOAD_FIRST);
    /* The leaks and crashes of the simulated program are its own affair: it was not built to be checked. */
    prefix_path("ASAN_OPTIONS", "detect_leaks=0:handle_segv=0:handle_sigbus=0:handle_abort=0:handle_sigfpe=0:"
                                "handle_sigill=0");
    prefix_path("TSAN_OPTIONS", "handle_segv=0:handle_sigbus=0:handle_abort=0:handle_sigfpe=0:handle_sigill=0");
#endif
}

/* ---- all of it ---- */
static bool ends_in_cu(const char *name)
{
    size_t n = strlen(name);
    return n > 3 && !strcmp(name + n - 3, ".cu");
}

static int start(struct run *run, const char *program, char **argv, int *status)
{
    const struct mg_cli_options *o = run->session->options;
    char path[PATH_MAX], library[PATH_MAX + 32];
    int why = 0, wait_status = 0;
    if (!mg__find_program(program, path, sizeof(path), &why))
        return mg__cli_complain(o, "%s: %s", program, why == EISDIR ? "is a folder" : strerror(why));
    if (!mg__find_libdir(run->libdir, sizeof(run->libdir)))
        return mg__cli_complain(o, "Margay's CUDA runtime (libcudart.so.13) was not found beside the command; "
                                   "build it with `make`, or set MARGAY_LIBDIR to its folder");
    run->cudart = 13;
    if (mg__find_cudart_needed(path) == 12) {
        snprintf(library, sizeof(library), "%s/libcudart.so.12", run->libdir);
        if (access(library, R_OK) == 0)
            run->cudart = 12;
    }
    mg__cli_say(o, "running %s with %s/libcudart.so.%u", path, run->libdir, run->cudart);
    struct mg_child child = {.path = path, .argv = argv, .setup = set_environment, .data = receive, .arg = run};
    if (mg__child_run(&child, &wait_status, &why) != MG_OK)
        return mg__cli_complain(o, "%s: %s", program, strerror(why));
    if (run->line.count) { /* the program died in the middle of a record */
        run->session->damaged++;
        run->line.count = 0;
    }
    erase_progress(run);
    if (WIFSIGNALED(wait_status)) {
        *status = 128 + WTERMSIG(wait_status);
        fprintf(stderr, "margay: %s was ended by signal %d (%s)\n", program, WTERMSIG(wait_status),
                strsignal(WTERMSIG(wait_status)));
    } else {
        *status = WEXITSTATUS(wait_status);
    }
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
    s->device = (struct mg_report_device){.name = o->arch->board, .cc = o->arch->cc, .sm_count = o->arch->sm_count};
    mg__tally_init(&s->tally, o->command == MG_CMD_PROFILE);
    if (o->json) {
        run.json = fopen(o->json, "we");
        if (!run.json)
            return mg__cli_complain(o, "%s: %s", o->json, strerror(errno));
    }
    if (ends_in_cu(program)) {
        result = mg__compile(o, program, &compiled);
        program = compiled.program;
        argv[0] = compiled.program;
    } else if (o->nvcc_args) {
        result = mg__cli_complain(o, "--nvcc-args is for .cu files, and %s is none", program);
    }
    if (result < 0)
        result = start(&run, program, argv, status);
    mg__compile_clean(&compiled);
    if (run.json) {
        struct stat st;
        bool ours = fstat(fileno(run.json), &st) == 0 && S_ISREG(st.st_mode); /* and no device or pipe */
        if (result >= 0 && ours)
            (void)remove(o->json); /* no run, no report: an old or empty file must not pass for one */
        json_end(&run);
        if (fclose(run.json) != 0 || run.json_failed) {
            int failed = mg__cli_complain(o, "%s could not be written", o->json);
            if (result < 0 && *status == 0)
                result = failed;
        }
    }
    if (s->errors > MAX_ERRORS_SHOWN)
        fprintf(stderr, "margay: errors beyond the first %d, not shown: %llu\n", MAX_ERRORS_SHOWN,
                (unsigned long long)(s->errors - MAX_ERRORS_SHOWN));
    if (s->damaged)
        fprintf(stderr, "margay: warning: damaged records of the run, missing here: %llu\n",
                (unsigned long long)s->damaged);
    mg__strbuf_free(&run.line);
    mg__strbuf_free(&run.findings);
    mg__strbuf_free(&run.errors);
    return result;
}

void mg__session_free(struct mg_session *s)
{
    mg__tally_free(&s->tally);
}
