/* nvrtc_text.c - the source text of a program stays with what NVRTC makes of it.
 *
 * NVRTC takes a program's text and its headers from memory, and its PTX names them: .file entries, if lines were asked
 * for. A name without a folder is told as one in the folder that the process is in, and there is rarely such a file; a
 * program without a name is "default_program". So the texts are kept here by the program's handle, and those that the
 * PTX names are written behind it (ptx/source.h). Two programs of one name have a text each, with its own code.
 *
 * A name is the program's if it is the whole path, or stands behind the folder; what else NVRTC read (files of an
 * include path, names that #line gave) is on the disk, if anywhere.
 */
#include "cuda/nvrtc_text.h"

#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ptx/source.h"

struct text {
    char *name, *text;
};
struct program {
    const void *handle;
    struct program *next;
    char *folder;
    size_t count;
    struct text texts[]; /* the program's own, then the headers' */
};

static struct program *programs;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void release(struct program *p)
{
    for (size_t i = 0; i < p->count; i++) {
        free(p->texts[i].name);
        free(p->texts[i].text);
    }
    free(p->folder);
    free(p);
}

/* With the lock held. */
static struct program **find(const void *handle)
{
    struct program **at = &programs;
    while (*at && (*at)->handle != handle)
        at = &(*at)->next;
    return at;
}

void mg__nvrtc_forget(const void *handle)
{
    pthread_mutex_lock(&lock);
    struct program **at = find(handle), *p = *at;
    if (p)
        *at = p->next;
    pthread_mutex_unlock(&lock);
    if (p)
        release(p);
}

void mg__nvrtc_keep(const void *handle, const char *text, const char *name, int nheaders, const char *const *headers,
                    const char *const *names)
{
    size_t n = nheaders > 0 && headers && names ? (size_t)nheaders : 0;
    struct program *p = calloc(1, sizeof(*p) + (n + 1) * sizeof(p->texts[0]));
    if (!p)
        return;
    p->handle = handle;
    for (size_t i = 0; i <= n; i++) {
        const char *what = i ? headers[i - 1] : text, *called = i ? names[i - 1] : name;
        if (!i && (!called || !*called))
            called = "default_program";
        if (what && called) {
            p->texts[p->count].text = strdup(what);
            p->texts[p->count++].name = strdup(called);
        }
    }
    mg__nvrtc_forget(handle); /* one that was not destroyed by this library */
    pthread_mutex_lock(&lock);
    p->next = programs;
    programs = p;
    pthread_mutex_unlock(&lock);
}

void mg__nvrtc_compiled(const void *handle)
{
    char folder[PATH_MAX], *copy = getcwd(folder, sizeof(folder)) ? strdup(folder) : NULL;
    pthread_mutex_lock(&lock);
    struct program *p = *find(handle);
    if (p) {
        free(p->folder);
        p->folder = copy;
        copy = NULL;
    }
    pthread_mutex_unlock(&lock);
    free(copy);
}

static const char *text_of(const struct program *p, const char *path)
{
    size_t folder = p->folder ? strlen(p->folder) : 0;
    bool below = folder && !strncmp(path, p->folder, folder) && path[folder] == '/';
    for (size_t i = 0; i < p->count; i++) {
        const struct text *t = &p->texts[i];
        if (t->name && t->text && (!strcmp(path, t->name) || (below && !strcmp(path + folder + 1, t->name))))
            return t->text;
    }
    return NULL;
}

/* The entry `.file 1 "path"` that the line holds, if it does: its number, and its path in a copy. */
static char *entry(const char *line, size_t length, unsigned *number)
{
    const char *end = line + length;
    while (line < end && (*line == ' ' || *line == '\t'))
        line++;
    if (end - line < 6 || strncmp(line, ".file", 5) != 0)
        return NULL;
    char *behind;
    unsigned long value = strtoul(line + 5, &behind, 10);
    while (behind < end && (*behind == ' ' || *behind == '\t'))
        behind++;
    if (value == 0 || value > INT_MAX || behind >= end || *behind != '"')
        return NULL;
    const char *close = end;
    while (close > behind && close[-1] != '"')
        close--;
    char *path = close > behind + 1 ? strndup(behind + 1, (size_t)(close - behind) - 2) : NULL;
    *number = (unsigned)value;
    if (path && !mg__ptx_unescape(path)) {
        free(path);
        path = NULL;
    }
    return path;
}

static bool append(char **out, size_t *length, const char *bytes, size_t size)
{
    char *grown = realloc(*out, *length + size + 1);
    if (!grown)
        return false;
    memcpy(grown + *length, bytes, size);
    *length += size;
    grown[*length] = '\0';
    *out = grown;
    return true;
}

char *mg__nvrtc_with_texts(const void *handle, const char *ptx, size_t *length)
{
    char *out = NULL;
    bool good = true;
    *length = 0;
    pthread_mutex_lock(&lock);
    const struct program *p = *find(handle);
    for (const char *line = ptx, *next; p && good && *line; line = next) {
        size_t n = strcspn(line, "\n"), size = 0;
        unsigned number = 0;
        next = line + n + (line[n] == '\n');
        char *path = entry(line, n, &number);
        const char *text = path ? text_of(p, path) : NULL;
        char *block = text ? mg__ptx_source_block(number, text, strlen(text), &size) : NULL;
        if (block)
            good = (out || append(&out, length, ptx, strlen(ptx))) && append(&out, length, block, size);
        free(block);
        free(path);
    }
    pthread_mutex_unlock(&lock);
    if (!good) {
        free(out);
        return NULL;
    }
    return out;
}
