/* writer.c - the record stream, as the simulated process writes it.
 *
 * One record is one line and, where the kernel takes it whole, one write(2): what was written before a crash is good. A
 * mutex keeps threads apart. The other end may be gone (the command was killed): the simulated program must not die of
 * our SIGPIPE, so the signal is held back for the time of the write and swallowed; the writer then goes quiet and says
 * MG_ERR_IO from there on. Other signals of the program are left alone.
 */
#include "report/picture.h"
#include "report/report_priv.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

struct mg_report_writer {
    pthread_mutex_t lock;
    int fd;
    bool owned;  /* opened by us: a path */
    bool broken; /* a write failed: nothing more is tried */
    bool noted;  /* there was a note */
    uint64_t launches;
    struct mg_source_names *names;  /* of source texts; made when the first comes */
    bool keeps;                     /* nothing is written: */
    struct mg_report_device device; /* the report's header, */
    struct mg_strbuf kept, found;   /* its launches and findings, commas between, */
    bool lost;                      /* of which one did not fit into memory */
    struct mg_again again;          /* under the lock */
};

/* Writes all of it or fails. EAGAIN happens when the program made the inherited pipe non-blocking. */
static bool write_all(int fd, const char *data, size_t size)
{
    while (size) {
        ssize_t n = write(fd, data, size);
        if (n > 0) {
            data += n;
            size -= (size_t)n;
        } else if (n < 0 && errno == EAGAIN) {
            struct pollfd p = {.fd = fd, .events = POLLOUT};
            (void)poll(&p, 1, 1000);
        } else if (n < 0 && errno != EINTR) {
            return false;
        }
    }
    return true;
}

/* A script may run several programs at once on one inherited pipe, where only writes of up to PIPE_BUF are atomic. A
 * record lock keeps processes apart for the longer ones; where the descriptor has no such locks, we do without. */
static void lock_process(int fd, short type)
{
    struct flock lock = {.l_type = type, .l_whence = SEEK_SET};
    while (fcntl(fd, F_SETLKW, &lock) < 0 && errno == EINTR)
        ;
}

static enum mg_status emit(struct mg_report_writer *w, struct mg_strbuf *line, bool formatted)
{
    enum mg_status status = MG_OK;
    if (!formatted || !mg__strbuf_append(line, "\n", 1)) {
        mg__strbuf_free(line);
        return MG_ERR_NOMEM;
    }
    if (w->keeps) {
        mg__strbuf_free(line);
        return MG_OK;
    }
    sigset_t pipe_only, before, pending;
    sigemptyset(&pipe_only);
    sigaddset(&pipe_only, SIGPIPE);
    sigpending(&pending);
    bool was_pending = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_only, &before);
    pthread_mutex_lock(&w->lock);
    bool locked = !w->broken && line->count > PIPE_BUF;
    if (locked)
        lock_process(w->fd, F_WRLCK);
    if (w->broken) {
        status = MG_ERR_IO;
    } else if (!write_all(w->fd, line->at, line->count)) {
        int why = errno;
        w->broken = true;
        status = MG_ERR_IO;
        if (why == EPIPE && !was_pending) {
            struct timespec now = {0, 0};
            while (sigtimedwait(&pipe_only, NULL, &now) < 0 && errno == EINTR)
                ;
        }
    }
    if (locked)
        lock_process(w->fd, F_UNLCK);
    pthread_mutex_unlock(&w->lock);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    mg__strbuf_free(line);
    return status;
}

enum mg_status mg__report_open(const char *target, const struct mg_report_device *device, struct mg_report_writer **out)
{
    *out = NULL;
    if (!target || !target[0] || !device)
        return MG_ERR_INVALID;
    int fd;
    bool owned = false;
    if (!strncmp(target, "fd:", 3)) {
        char *end;
        errno = 0;
        long n = strtol(target + 3, &end, 10);
        if (errno || end == target + 3 || *end || n < 0 || n > INT32_MAX)
            return MG_ERR_INVALID;
        fd = (int)n;
        if (fcntl(fd, F_GETFD) < 0)
            return MG_ERR_IO;
    } else {
        fd = open(target, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
        if (fd < 0)
            return MG_ERR_IO;
        owned = true;
    }
    struct mg_report_writer *w = calloc(1, sizeof(*w));
    if (!w) {
        if (owned)
            close(fd);
        return MG_ERR_NOMEM;
    }
    w->fd = fd;
    w->owned = owned;
    pthread_mutex_init(&w->lock, NULL);
    struct mg_strbuf line = {0};
    bool ok = mg__strbuf_printf(
                  &line, "{\"record\": \"header\", \"version\": \"%s\", \"schema\": %d, \"pid\": %ld, \"device\": ",
                  MG_VERSION_STRING, MG_REPORT_SCHEMA, (long)getpid()) &&
              mg__json_device(&line, device) && mg__strbuf_append(&line, "}", 1);
    enum mg_status status = emit(w, &line, ok);
    if (status != MG_OK) {
        if (owned)
            close(fd);
        pthread_mutex_destroy(&w->lock);
        free(w);
        return status;
    }
    *out = w;
    return MG_OK;
}

void mg__report_brief(struct mg_report_writer *w)
{
    w->again.brief = true;
}

enum mg_status mg__report_keep(const struct mg_report_device *device, struct mg_report_writer **out)
{
    struct mg_report_writer *w = *out = calloc(1, sizeof(*w));
    if (!w)
        return MG_ERR_NOMEM;
    w->keeps = true;
    w->device = *device;
    pthread_mutex_init(&w->lock, NULL);
    return MG_OK;
}

static enum mg_status keep(struct mg_report_writer *w, struct mg_strbuf *list, const struct mg_report_launch *launch,
                           const struct mg_report_finding *finding)
{
    pthread_mutex_lock(&w->lock);
    bool kept = (!list->count || mg__strbuf_append(list, ",\n", 2)) &&
                (launch ? mg__again_launch(&w->again, launch, list) : mg__report_finding_json(finding, list));
    w->lost |= !kept;
    pthread_mutex_unlock(&w->lock);
    return kept ? MG_OK : MG_ERR_NOMEM;
}

enum mg_status mg__report_take(struct mg_report_writer *w, char **json)
{
    struct mg_strbuf out = {0};
    pthread_mutex_lock(&w->lock);
    bool good = !w->lost && mg__report_begin_json(&w->device, &out) &&
                mg__strbuf_append(&out, w->kept.at ? w->kept.at : "", w->kept.count) &&
                mg__report_end_json(&out, w->found.at ? w->found.at : "");
    mg__strbuf_free(&w->kept);
    mg__strbuf_free(&w->found);
    w->lost = false;
    pthread_mutex_unlock(&w->lock);
    if (!good)
        mg__strbuf_free(&out);
    *json = out.at;
    return good ? MG_OK : MG_ERR_NOMEM;
}

enum mg_status mg__report_launch(struct mg_report_writer *w, const struct mg_report_launch *launch)
{
    if (w->keeps)
        return keep(w, &w->kept, launch, NULL);
    struct mg_strbuf line = {0};
    pthread_mutex_lock(&w->lock);
    bool ok = mg__strbuf_printf(&line, "{\"record\": \"launch\", \"launch\": ") &&
              mg__again_launch(&w->again, launch, &line) && mg__strbuf_append(&line, "}", 1);
    pthread_mutex_unlock(&w->lock);
    enum mg_status status = emit(w, &line, ok);
    if (status == MG_OK) {
        pthread_mutex_lock(&w->lock);
        w->launches++;
        pthread_mutex_unlock(&w->lock);
    }
    return status;
}

enum mg_status mg__report_finding(struct mg_report_writer *w, const struct mg_report_finding *finding)
{
    if (w->keeps)
        return keep(w, &w->found, NULL, finding);
    struct mg_strbuf line = {0};
    bool ok = mg__strbuf_printf(&line, "{\"record\": \"finding\", \"finding\": ") &&
              mg__report_finding_json(finding, &line) && mg__strbuf_append(&line, "}", 1);
    return emit(w, &line, ok);
}

enum mg_status mg__report_advice(struct mg_report_writer *w, const struct mg_report_advice *advice)
{
    struct mg_strbuf line = {0};
    bool ok = mg__strbuf_printf(&line, "{\"record\": \"advice\", \"advice\": ") &&
              mg__report_advice_json(advice, &line) && mg__strbuf_append(&line, "}", 1);
    return emit(w, &line, ok);
}

enum mg_status mg__report_picture(struct mg_report_writer *w, const struct mg_report_picture *picture)
{
    struct mg_strbuf line = {0};
    bool ok = mg__strbuf_printf(&line, "{\"record\": \"picture\", \"picture\": ") &&
              mg__report_picture_json(picture, &line) && mg__strbuf_append(&line, "}", 1);
    return emit(w, &line, ok);
}

enum mg_status mg__report_checks(struct mg_report_writer *w, const char *checks)
{
    struct mg_strbuf line = {0};
    bool ok = mg__strbuf_printf(&line, "{\"record\": \"checks\", \"checks\": ") && mg__json_string(&line, checks) &&
              mg__strbuf_append(&line, "}", 1);
    return emit(w, &line, ok);
}

static enum mg_status report_diag(struct mg_report_writer *w, const char *record, const char *kernel,
                                  const struct mg_diag *diag)
{
    struct mg_strbuf line = {0};
    char *name = mg__report_demangle(kernel ? kernel : "");
    bool ok = mg__strbuf_printf(&line, "{\"record\": \"%s\", ", record) &&
              mg__json_diag(&line, name ? name : kernel, diag) && mg__strbuf_append(&line, "}", 1);
    free(name);
    return emit(w, &line, ok);
}

enum mg_status mg__report_error(struct mg_report_writer *w, const char *kernel, const struct mg_diag *diag)
{
    return report_diag(w, "error", kernel, diag);
}

enum mg_status mg__report_warning(struct mg_report_writer *w, const char *kernel, const struct mg_diag *diag)
{
    return report_diag(w, "warning", kernel, diag);
}

/* Text inside a JSON string; what would need an escape becomes a question mark. */
static size_t put_plain(char *out, size_t size, size_t at, const char *text)
{
    for (; *text && at + 1 < size; text++)
        out[at++] = *text == '"' || *text == '\\' || (unsigned char)*text < 0x20 ? '?' : *text;
    return at;
}

static size_t put_raw(char *out, size_t size, size_t at, const char *text)
{
    for (; *text && at + 1 < size; text++)
        out[at++] = *text;
    return at;
}

void mg__report_crash(struct mg_report_writer *w, const char *kernel, const struct mg_diag *diag)
{
    char line[4096];
    size_t at = 0, room = sizeof(line) - 1;
    if (w && !w->broken && !w->keeps) { /* a line of its own: another may be half written */
        at = put_raw(line, room, at, "\n{\"record\": \"error\", \"status\": \"");
        at = put_raw(line, room, at, mg_status_name(diag->status));
        at = put_raw(line, room, at, "\", \"message\": \"");
        at = put_plain(line, room, at, diag->message);
        at = put_raw(line, room, at, "\", \"file\": \"\", \"line\": 0, \"column\": 0, \"excerpt\": \"\", \"hint\": \"");
        at = put_plain(line, room, at, diag->hint);
        at = put_raw(line, room, at, "\", \"inlined_file\": \"\", \"inlined_line\": 0, \"kernel\": \"");
        at = put_plain(line, room - 4, at, kernel); /* last, since it may be long */
        at = put_raw(line, room, at, "\"}\n");
        (void)write_all(w->fd, line, at);
        return;
    }
    at = put_raw(line, room, at, "margay: error: ");
    if (kernel[0]) {
        at = put_raw(line, room - 1024, at, kernel);
        at = put_raw(line, room, at, ": ");
    }
    at = put_raw(line, room, at, diag->message);
    at = put_raw(line, room, at, "\nmargay:   ");
    at = put_raw(line, room, at, diag->hint);
    at = put_raw(line, room, at, "\n");
    (void)write_all(STDERR_FILENO, line, at);
}

enum mg_status mg__report_note(struct mg_report_writer *w, const char *text)
{
    struct mg_strbuf line = {0};
    if (!w || w->keeps)
        return MG_OK;
    pthread_mutex_lock(&w->lock);
    bool again = w->noted;
    w->noted = true;
    pthread_mutex_unlock(&w->lock);
    if (again)
        return MG_OK;
    bool ok = mg__strbuf_printf(&line, "{\"record\": \"note\", \"text\": ") && mg__json_string(&line, text) &&
              mg__strbuf_append(&line, "}", 1);
    return emit(w, &line, ok);
}

enum mg_status mg__report_hosted(struct mg_report_writer *w, const char *library, const char *routine)
{
    struct mg_strbuf line = {0};
    if (!w || w->keeps)
        return MG_OK;
    bool ok = mg__strbuf_printf(&line, "{\"record\": \"hosted\", \"library\": ") && mg__json_string(&line, library) &&
              mg__strbuf_printf(&line, ", \"routine\": ") && mg__json_string(&line, routine) &&
              mg__strbuf_append(&line, "}", 1);
    return emit(w, &line, ok);
}

const char *mg__report_source(struct mg_report_writer *w, const char *file, const char *text, size_t size)
{
    struct mg_strbuf line = {0};
    const char *name = NULL;
    bool fresh = false;
    if (!w)
        return NULL;
    pthread_mutex_lock(&w->lock);
    if (!w->names)
        w->names = mg__source_names_create();
    if (w->names)
        name = mg__source_name(w->names, file, text, size, &fresh);
    pthread_mutex_unlock(&w->lock);
    if (!fresh || w->keeps)
        return name;
    bool ok = mg__strbuf_printf(&line, "{\"record\": \"source\", \"file\": ") && mg__json_string(&line, name) &&
              mg__strbuf_printf(&line, ", \"text\": ") && mg__json_string(&line, text) &&
              mg__strbuf_append(&line, "}", 1);
    (void)emit(w, &line, ok); /* what fails here is seen with the launch, too */
    return name;
}

enum mg_status mg__report_progress(struct mg_report_writer *w, const char *kernel, uint64_t done, uint64_t total,
                                   double seconds)
{
    struct mg_strbuf line = {0};
    char *name = mg__report_demangle(kernel ? kernel : "");
    bool ok = mg__strbuf_printf(&line, "{\"record\": \"progress\", \"kernel\": ") &&
              mg__json_string(&line, name ? name : kernel) &&
              mg__strbuf_printf(&line, ", \"done\": %llu, \"total\": %llu, \"seconds\": %llu.%llu}",
                                (unsigned long long)done, (unsigned long long)total, (unsigned long long)seconds,
                                (unsigned long long)(seconds * 10) % 10);
    free(name);
    return emit(w, &line, ok);
}

void mg__report_close(struct mg_report_writer *w)
{
    if (!w)
        return;
    struct mg_strbuf line = {0};
    bool ok = mg__strbuf_printf(&line, "{\"record\": \"end\", \"launches\": %llu}", (unsigned long long)w->launches);
    (void)emit(w, &line, ok);
    if (w->owned)
        close(w->fd);
    mg__strbuf_free(&w->kept);
    mg__strbuf_free(&w->found);
    mg__again_free(&w->again);
    mg__source_names_destroy(w->names);
    pthread_mutex_destroy(&w->lock);
    free(w);
}
