/* theirs.c - finds NVIDIA's own library (theirs.h). */
#define _GNU_SOURCE
#include "cuda/theirs.h"

#include <dlfcn.h>
#include <link.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { PATH_LENGTH = 4096 };

struct search {
    const char *file;
    const char *const *wheels;
    struct stat own; /* the folder of the library that calls */
    void *found;
};

/* The folder is `length` bytes of `parent`, and `below` in it. */
static void try_at(struct search *s, size_t length, const char *parent, const char *below)
{
    char path[PATH_LENGTH];
    struct stat st;
    int n = snprintf(path, sizeof(path), "%.*s/%s", (int)length, parent, below);
    if (s->found || n <= 0 || (size_t)n >= sizeof(path) || stat(path, &st))
        return;
    if (st.st_dev == s->own.st_dev && st.st_ino == s->own.st_ino)
        return;
    int all = snprintf(path + n, sizeof(path) - (size_t)n, "/%s", s->file);
    if (all > 0 && (size_t)all < sizeof(path) - (size_t)n)
        s->found = dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

static int beside(struct dl_phdr_info *info, size_t size, void *arg)
{
    static const char packages[] = "/site-packages";
    struct search *s = arg;
    const char *at = info->dlpi_name ? strstr(info->dlpi_name, packages) : NULL;
    (void)size;
    for (const char *const *w = s->wheels; at && *w; w++)
        try_at(s, (size_t)(at - info->dlpi_name) + strlen(packages), info->dlpi_name, *w);
    return s->found != NULL;
}

void *mg__theirs_open(const char *file, const char *const *wheels)
{
    static const char *const homes[] = {"CUDA_HOME", "CUDA_PATH"};
    struct search s = {.file = file, .wheels = wheels};
    char own[PATH_LENGTH];
    Dl_info me;
    if (dladdr(&homes, &me)) {
        snprintf(own, sizeof(own), "%s", me.dli_fname);
        char *slash = strrchr(own, '/');
        if (slash)
            *slash = '\0';
        if (!slash || stat(own, &s.own))
            memset(&s.own, 0, sizeof(s.own));
    }
    dl_iterate_phdr(beside, &s);
    for (size_t i = 0; i < sizeof(homes) / sizeof(homes[0]); i++) {
        const char *home = getenv(homes[i]);
        if (home && home[0])
            try_at(&s, strlen(home), home, "lib64");
    }
    for (const char *at = getenv("LD_LIBRARY_PATH"); at && *at;) {
        size_t n = strcspn(at, ":");
        if (n)
            try_at(&s, n, at, ".");
        at += n + (at[n] == ':');
    }
    try_at(&s, 0, "", "usr/local/cuda/lib64");
    return s.found;
}
