/* cache.c - kept code: a file a kernel in one folder, named by its key.
 *
 * Several processes may read and write at once: a file is written under a name of its own and then renamed, so that
 * what is found is whole, and what two processes make under one key is the same. A damaged file is refused by its
 * checksum. The folder is bounded: when it holds too much, the files that were not used for longest go first.
 */
#define _GNU_SOURCE
#include <cpuid.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "jit/jit_priv.h"

#define MOST_BYTES (256u << 20)
#define MOST_FILES 4096u
#define LARGEST (64u << 20) /* a file's size */

static bool folder(const char *given, char *path, size_t size)
{
    const char *env = getenv("MARGAY_CACHE"), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    int n;
    if (!given && env && strcmp(env, "off") == 0)
        return false;
    if (given || (env && env[0]))
        n = snprintf(path, size, "%s", given ? given : env);
    else if (xdg && xdg[0] == '/')
        n = snprintf(path, size, "%s/margay", xdg);
    else if (home && home[0] == '/')
        n = snprintf(path, size, "%s/.cache/margay", home);
    else
        return false;
    return n > 0 && (size_t)n + 64 < size;
}

static bool make_folders(char *path)
{
    for (char *p = path + 1; *p; p++)
        if (*p == '/') {
            *p = '\0';
            int failed = mkdir(path, 0700) != 0 && errno != EEXIST;
            *p = '/';
            if (failed)
                return false;
        }
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

static bool file_of(const char *given, const uint64_t key[2], char *path, size_t size, size_t *dir)
{
    if (!folder(given, path, size))
        return false;
    *dir = strlen(path);
    return snprintf(path + *dir, size - *dir, "/%016llx%016llx.mgk", (unsigned long long)key[0],
                    (unsigned long long)key[1]) > 0;
}

bool mg__jit_cache_get(const char *given, const uint64_t key[2], char **bytes, size_t *size)
{
    char path[4096];
    size_t dir;
    struct stat st;
    *bytes = NULL;
    if (!file_of(given, key, path, sizeof path, &dir))
        return false;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return false;
    bool good = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & 022) &&
                st.st_size > 0 && st.st_size < LARGEST && (*bytes = malloc((size_t)st.st_size)) != NULL;
    for (size_t done = 0; good && done < (size_t)st.st_size;) {
        ssize_t n = read(fd, *bytes + done, (size_t)st.st_size - done);
        good = n > 0;
        done += good ? (size_t)n : 0;
    }
    if (good) {
        *size = (size_t)st.st_size;
        futimens(fd, NULL); /* lately used */
        struct mg_jit_header h;
        good = *size >= sizeof h;
        if (good) {
            memcpy(&h, *bytes, sizeof h);
            good = h.key[0] == key[0] && h.key[1] == key[1];
        }
    }
    close(fd);
    if (!good) {
        free(*bytes);
        *bytes = NULL;
    }
    return good;
}

struct kept {
    char name[40];
    uint64_t size;
    struct timespec used;
};

static int by_age(const void *a, const void *b)
{
    const struct kept *x = a, *y = b;
    if (x->used.tv_sec != y->used.tv_sec)
        return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
    return (x->used.tv_nsec > y->used.tv_nsec) - (x->used.tv_nsec < y->used.tv_nsec);
}

static void bound(const char *dir)
{
    MG_VEC(struct kept) all = {0};
    uint64_t total = 0;
    DIR *d = opendir(dir);
    if (!d)
        return;
    for (struct dirent *e; (e = readdir(d)) != NULL;) {
        struct kept k = {0};
        struct stat st;
        size_t n = strlen(e->d_name);
        if (n != 36 || strcmp(e->d_name + 32, ".mgk") != 0 ||
            fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        memcpy(k.name, e->d_name, n);
        k.size = (uint64_t)st.st_size;
        k.used = st.st_mtim;
        total += k.size;
        if (!mg__vec_push(&all, k))
            break;
    }
    if (total > MOST_BYTES || all.count > MOST_FILES) {
        qsort(all.at, all.count, sizeof *all.at, by_age);
        size_t left = all.count;
        for (size_t i = 0; i < all.count && (total > MOST_BYTES / 4 * 3 || left > MOST_FILES / 4 * 3); i++, left--) {
            unlinkat(dirfd(d), all.at[i].name, 0);
            total -= all.at[i].size;
        }
    }
    closedir(d);
    mg__vec_free(&all);
}

void mg__jit_cache_put(const char *given, const uint64_t key[2], const char *bytes, size_t size)
{
    char path[4096], fresh[4096 + 64];
    size_t dir;
    if (size >= LARGEST || !file_of(given, key, path, sizeof path, &dir))
        return;
    path[dir] = '\0';
    bool there = make_folders(path);
    snprintf(fresh, sizeof fresh, "%s/.%ld-%llx", path, (long)getpid(), (unsigned long long)mg__time_ns());
    path[dir] = '/';
    int fd = there ? open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600) : -1;
    if (fd < 0)
        return;
    bool good = true;
    for (size_t done = 0; good && done < size;) {
        ssize_t n = write(fd, bytes + done, size - done);
        good = n > 0;
        done += good ? (size_t)n : 0;
    }
    good &= close(fd) == 0;
    if (!good || rename(fresh, path) != 0)
        unlink(fresh);
    path[dir] = '\0';
    bound(path);
}

uint64_t mg__jit_processor(void)
{
    unsigned leaf[8][4] = {{0}};
    __get_cpuid(0, &leaf[0][0], &leaf[0][1], &leaf[0][2], &leaf[0][3]);
    __get_cpuid(1, &leaf[1][0], &leaf[1][1], &leaf[1][2], &leaf[1][3]);
    leaf[1][1] = 0; /* the number of the core that we run on */
    __get_cpuid_count(7, 0, &leaf[2][0], &leaf[2][1], &leaf[2][2], &leaf[2][3]);
    __get_cpuid_count(7, 1, &leaf[3][0], &leaf[3][1], &leaf[3][2], &leaf[3][3]);
    __get_cpuid(0x80000001u, &leaf[4][0], &leaf[4][1], &leaf[4][2], &leaf[4][3]);
    return mg__hash(leaf, sizeof leaf);
}
