/* host.c - what the operating system gives: files and a clock. */
#define _GNU_SOURCE
#include "base/base.h"

#include <errno.h>
#include <time.h>

bool mg__file_is_system(const char *path)
{
    return !strncmp(path, "/usr/", 5) || strstr(path, "/cooperative_groups/") || strstr(path, "/crt/") ||
           (strstr(path, "/include/") && (strstr(path, "cuda") || strstr(path, "nvidia")));
}

/* Reads by chunks rather than by the file's size, so that pipes and /proc files work too. */
enum mg_status mg__file_read(const char *path, size_t limit, char **data, size_t *size, struct mg_diag *diag)
{
    *data = NULL;
    *size = 0;
    FILE *file = fopen(path, "rb");
    if (!file) {
        enum mg_status status = errno == ENOENT ? MG_ERR_NOT_FOUND : MG_ERR_IO;
        mg__diag_set(diag, status, "cannot open the file: %s", strerror(errno));
        mg__diag_at(diag, path, 0, 0);
        return status;
    }
    char *at = NULL;
    size_t count = 0, capacity = 0;
    enum mg_status status = MG_OK;
    for (;;) {
        size_t room = capacity - count;
        if (room < 2 && !mg__vec_grow((void **)&at, &capacity, MG_MAX(capacity + 1, (size_t)65536), 1)) {
            status = mg__diag_set(diag, MG_ERR_NOMEM, "out of memory after %zu bytes", count);
            break;
        }
        size_t got = fread(at + count, 1, capacity - count - 1, file);
        count += got;
        if (count > limit) {
            status = mg__diag_set(diag, MG_ERR_IO, "the file is larger than %zu bytes", limit);
            break;
        }
        if (got == 0) {
            if (ferror(file))
                status = mg__diag_set(diag, MG_ERR_IO, "cannot read the file: %s", strerror(errno));
            break;
        }
    }
    fclose(file);
    if (status != MG_OK) {
        mg__diag_at(diag, path, 0, 0);
        free(at);
        return status;
    }
    at[count] = '\0';
    *data = at;
    *size = count;
    return MG_OK;
}

static uint64_t read_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

uint64_t mg__time_ns(void)
{
    return read_clock(CLOCK_MONOTONIC);
}

uint64_t mg__clock_ns(void)
{
    return read_clock(CLOCK_REALTIME);
}
