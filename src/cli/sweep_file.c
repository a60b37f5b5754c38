/* sweep_file.c - the file of a sweep's results: a line that says what is swept, then a line a point, by number.
 *
 * Processes on several machines may write it at once. Who has a point locks the file, reads what is there, adds its
 * line in its place and puts the new file where the old one was: what is read is always whole. The lock is the file's
 * own; whoever gets it on a file that has been replaced meanwhile asks again. The last file has the same bytes however
 * many processes there were. A file of failures alone, all of this sweep's points or of another sweep, has nothing to
 * lose: who begins empties it.
 */
#include "sweep.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_BYTES ((size_t)256 << 20)

static void forget(struct mg_sweep_point *p)
{
    free(p->line);
    free(p->failed);
    for (size_t i = 0; i < p->kernels.count; i++)
        free(p->kernels.at[i].kernel);
    mg__vec_free(&p->kernels);
    *p = (struct mg_sweep_point){0};
}

void mg__sweep_free(struct mg_sweep *s)
{
    for (unsigned i = 0; s->points && i < s->npoints; i++)
        forget(&s->points[i]);
    free(s->points);
    for (unsigned i = 0; i < s->naxes; i++)
        for (unsigned k = 0; k < s->axes[i].n; k++)
            free(s->axes[i].values[k]);
    free(s->header);
}

const char *mg__sweep_value(const struct mg_sweep *s, unsigned point, unsigned axis)
{
    for (unsigned i = s->naxes; i-- > axis + 1;)
        point /= s->axes[i].n;
    return s->axes[axis].values[point % s->axes[axis].n];
}

static bool add_kernel(struct mg_sweep_point *p, json_t *k)
{
    const char *name = json_string_value(json_object_get(k, "kernel"));
    const char *limiter = json_string_value(json_object_get(k, "limiter"));
    struct mg_sweep_kernel new = {.launches = (uint64_t)json_integer_value(json_object_get(k, "launches")),
                                  .ns = json_number_value(json_object_get(k, "ns")),
                                  .least = json_number_value(json_object_get(k, "least")),
                                  .most = json_number_value(json_object_get(k, "most"))};
    snprintf(new.limiter, sizeof(new.limiter), "%s", limiter ? limiter : "");
    for (char *c = new.limiter; *c; c++)
        *c = (unsigned char)*c < ' ' || *c == 127 ? '?' : *c;
    new.kernel = name ? strdup(name) : NULL;
    return new.kernel &&mg__vec_push(&p->kernels, new);
}

/* A line of the file. False: it is none. */
static bool take(struct mg_sweep *s, const char *line, size_t length)
{
    json_t *root = json_loadb(line, length, 0, NULL);
    json_t *number = json_object_get(root, "point"), *kernels = json_object_get(root, "kernels");
    const char *failed = json_string_value(json_object_get(root, "failed"));
    json_int_t n = json_is_integer(number) ? json_integer_value(number) : -1;
    bool good = n >= 0 && n < (json_int_t)s->npoints && (json_is_array(kernels) || failed);
    if (good) {
        struct mg_sweep_point *p = &s->points[n];
        forget(p);
        p->line = strndup(line, length);
        p->failed = failed ? strdup(failed) : NULL;
        good = p->line && (!failed || p->failed);
        for (size_t i = 0; good && i < json_array_size(kernels); i++)
            good = add_kernel(p, json_array_get(kernels, i));
    }
    json_decref(root);
    return good;
}

/* All of an open file, ended by a NUL. By this descriptor alone: to close another one of the file would give up the
 * lock. */
static char *slurp(int fd, size_t *size)
{
    struct mg_strbuf text = {0};
    char piece[65536];
    ssize_t n;
    off_t at = 0;
    bool ok = mg__strbuf_append(&text, "", 0);
    while (ok && (n = pread(fd, piece, sizeof(piece), at)) != 0) {
        if (n < 0 && errno == EINTR)
            continue;
        ok = n > 0 && text.count < MOST_BYTES && mg__strbuf_append(&text, piece, (size_t)n);
        at += n;
    }
    *size = text.count;
    if (!ok)
        mg__strbuf_free(&text);
    return text.at;
}

/* Whether the file of a sweep has no times, and more than a part of this sweep's points. */
static bool is_useless(const struct mg_sweep *s, const char *text)
{
    static const char head[] = "{\"margay\": {\"version\": ";
    size_t at = strcspn(text, "\n");
    unsigned n = 0;
    bool mine = at == strlen(s->header) && !memcmp(text, s->header, at);
    bool useless = text[at] && !strncmp(text, head, strlen(head));
    for (const char *line = text + at; useless && line[0] && line[1]; line += 1 + strcspn(line + 1, "\n"), n++) {
        json_t *root = json_loadb(line + 1, strcspn(line + 1, "\n"), 0, NULL);
        useless = json_is_integer(json_object_get(root, "point")) && json_is_string(json_object_get(root, "failed"));
        json_decref(root);
    }
    return useless && n && (!mine || n >= s->npoints);
}

/* Returns -1, or the status to exit with. */
static int read_all(struct mg_sweep *s, int fd)
{
    size_t size = 0, at;
    int result = -1;
    char *text = slurp(fd, &size);
    if (!text)
        return mg__cli_complain(NULL, "%s cannot be read", s->file);
    at = strcspn(text, "\n");
    if (size && (at != strlen(s->header) || memcmp(text, s->header, at)))
        result = mg__cli_complain(NULL,
                                  "%s holds something else, or a sweep of other values or of the program as it "
                                  "was; remove it, or name another file with --output",
                                  s->file);
    while (result < 0 && size && at + 1 < size) {
        const char *line = text + at + 1;
        size_t length = strcspn(line, "\n");
        if (!take(s, line, length))
            result = mg__cli_complain(NULL, "%s: a line is damaged: %.60s", s->file, line);
        at += 1 + length;
    }
    free(text);
    return result;
}

/* The file, locked, and still the one of that name. -1: it cannot be had. */
static int lock(const char *file)
{
    for (;;) {
        struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        struct stat mine, now;
        int fd = open(file, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
        if (fd < 0)
            return -1;
        while (fcntl(fd, F_SETLKW, &whole) != 0)
            if (errno != EINTR) {
                close(fd);
                return -1;
            }
        if (!fstat(fd, &mine) && !stat(file, &now) && mine.st_ino == now.st_ino && mine.st_dev == now.st_dev)
            return fd;
        close(fd);
    }
}

int mg__sweep_begin(const struct mg_sweep *s)
{
    int fd = lock(s->file), result = -1;
    size_t size = 0;
    char *text = fd >= 0 ? slurp(fd, &size) : NULL;
    if (text && is_useless(s, text) && ftruncate(fd, 0) != 0)
        result = mg__cli_complain(NULL, "%s: %s", s->file, strerror(errno));
    free(text);
    if (fd >= 0)
        close(fd);
    return result; /* a file that cannot be had is told of by who reads it */
}

int mg__sweep_read(struct mg_sweep *s)
{
    int fd = open(s->file, O_RDWR | O_CREAT | O_CLOEXEC, 0666), error = errno; /* before any point is run for nothing */
    if (fd < 0 && (error == EACCES || error == EROFS))
        fd = open(s->file, O_RDONLY | O_CLOEXEC); /* of one that is whole */
    if (fd < 0)
        return mg__cli_complain(NULL, "%s: %s; --output names another file for the results", s->file, strerror(error));
    int result = read_all(s, fd);
    close(fd);
    return result;
}

static bool write_all(const struct mg_sweep *s)
{
    char host[64] = "", name[4096];
    (void)gethostname(host, sizeof(host) - 1);
    snprintf(name, sizeof(name), "%s.%s.%d", s->file, host, (int)getpid());
    FILE *f = fopen(name, "we");
    bool ok = f && fprintf(f, "%s\n", s->header) > 0;
    for (unsigned i = 0; ok && i < s->npoints; i++)
        if (s->points[i].line)
            ok = fprintf(f, "%s\n", s->points[i].line) > 0;
    ok = f && fclose(f) == 0 && ok && rename(name, s->file) == 0;
    if (!ok)
        (void)unlink(name);
    return ok;
}

bool mg__sweep_add(struct mg_sweep *s, unsigned point, const char *line)
{
    int fd = lock(s->file), error = fd < 0 ? errno : 0;
    bool ok = fd >= 0 && read_all(s, fd) < 0;
    if (ok && !(ok = take(s, line, strlen(line)) && s->points[point].line && write_all(s)))
        error = errno;
    if (error)
        mg__cli_complain(NULL, "%s: no result can be added: %s", s->file, strerror(error));
    if (fd >= 0)
        close(fd);
    return ok;
}
