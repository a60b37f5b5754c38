/* cache.c - files that are kept between runs, in one folder, each named by a key.
 *
 * Several processes may read and write at once: a file is written under a name of its own and then renamed, so that
 * what is found is whole. The files of one suffix are bounded: when they are too many, those that were not used for
 * longest go first, and with them what a process that was killed had begun to write. A failure only costs time.
 */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/base.h"

#define MOST_BYTES (256u << 20)
#define MOST_FILES 4096u
#define KEY_LENGTH 32u

bool mg__cache_path(const char *given, const uint64_t key[2], const char *suffix, char path[MG_CACHE_PATH])
{
    const char *told = getenv("MARGAY_CACHE"), *xdg = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
    const size_t room = MG_CACHE_PATH - KEY_LENGTH - 32; /* for the name, and for a process that writes it */
    int n = -1;
    if (given || (told && told[0]))
        n = given || strcmp(told, "off") != 0 ? snprintf(path, room, "%s", given ? given : told) : -1;
    else if (xdg && xdg[0] == '/')
        n = snprintf(path, room, "%s/margay", xdg);
    else if (home && home[0] == '/')
        n = snprintf(path, room, "%s/.cache/margay", home);
    if (n <= 0 || (size_t)n >= room) {
        path[0] = '\0';
        return false;
    }
    snprintf(path + n, MG_CACHE_PATH - (size_t)n, "/%016llx%016llx%s", (unsigned long long)key[0],
             (unsigned long long)key[1], suffix);
    return true;
}

bool mg__cache_get(const char *path, char **bytes, size_t *size)
{
    struct stat st;
    *bytes = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0)
        return false;
    bool good = fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_uid == geteuid() && !(st.st_mode & 022) &&
                st.st_size > 0 && (size_t)st.st_size <= MG_CACHE_LARGEST &&
                (*bytes = malloc((size_t)st.st_size + 1)) != NULL;
    *size = good ? (size_t)st.st_size : 0;
    for (size_t done = 0; good && done < *size;) {
        ssize_t n = read(fd, *bytes + done, *size - done);
        good = n > 0;
        done += good ? (size_t)n : 0;
    }
    if (good) {
        (*bytes)[*size] = '\0';
        (void)futimens(fd, NULL); /* lately used */
    } else {
        free(*bytes);
        *bytes = NULL;
    }
    close(fd);
    return good;
}

/* ---- writing ---- */
static bool make_folders(char *path)
{
    for (char *p = path + 1; *p; p++)
        if (*p == '/') {
            *p = '\0';
            bool failed = mkdir(path, 0700) != 0 && errno != EEXIST;
            *p = '/';
            if (failed)
                return false;
        }
    return mkdir(path, 0700) == 0 || errno == EEXIST;
}

int mg__cache_trouble(char folder[MG_CACHE_PATH])
{
    char there[MG_CACHE_PATH];
    struct statvfs fs;
    struct stat st;
    char *slash;
    if (!mg__cache_path(NULL, (const uint64_t[2]){0}, "", folder))
        return 0;
    *strrchr(folder, '/') = '\0';
    snprintf(there, sizeof there, "%s", folder);
    while (stat(there, &st) != 0) { /* what is not there is made in the folder above */
        if (errno != ENOENT)
            return errno;
        slash = strrchr(there, '/');
        snprintf(slash ? slash + (slash == there) : there, 2, "%s", slash ? "" : ".");
    }
    if (!S_ISDIR(st.st_mode))
        return ENOTDIR;
    if (access(there, W_OK | X_OK) != 0)
        return errno;
    return statvfs(there, &fs) == 0 && fs.f_blocks && !fs.f_bavail ? ENOSPC : 0;
}

struct entry { /* or what a process had begun to write: its number stands behind */
    char name[KEY_LENGTH + 32];
    uint64_t size;
    struct timespec used;
};

static int by_age(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    if (x->used.tv_sec != y->used.tv_sec)
        return x->used.tv_sec < y->used.tv_sec ? -1 : 1;
    return (x->used.tv_nsec > y->used.tv_nsec) - (x->used.tv_nsec < y->used.tv_nsec);
}

static void bound(const char *dir, const char *suffix)
{
    MG_VEC(struct entry) all = {0};
    uint64_t total = 0;
    DIR *d = opendir(dir);
    for (struct dirent *e; d && (e = readdir(d)) != NULL;) {
        struct stat st;
        struct entry one = {.size = 0};
        size_t n = strlen(e->d_name);
        if (n < KEY_LENGTH || n >= sizeof one.name || strncmp(e->d_name + KEY_LENGTH, suffix, strlen(suffix)) != 0 ||
            fstatat(dirfd(d), e->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
            continue;
        memcpy(one.name, e->d_name, n);
        one.size = (uint64_t)st.st_size;
        one.used = st.st_mtim;
        total += one.size;
        if (!mg__vec_push(&all, one))
            break;
    }
    if (total > MOST_BYTES || all.count > MOST_FILES) {
        qsort(all.at, all.count, sizeof *all.at, by_age);
        size_t left = all.count;
        for (size_t i = 0; i < all.count && (total > MOST_BYTES / 4 * 3 || left > MOST_FILES / 4 * 3); i++, left--) {
            (void)unlinkat(dirfd(d), all.at[i].name, 0);
            total -= all.at[i].size;
        }
    }
    if (d)
        closedir(d);
    mg__vec_free(&all);
}

bool mg__write_whole(int fd, const char *bytes, size_t size)
{
    while (size) {
        ssize_t n = write(fd, bytes, size);
        if (n < 0 && errno != EINTR)
            return false;
        bytes += n > 0 ? n : 0;
        size -= n > 0 ? (size_t)n : 0;
    }
    return true;
}

void mg__cache_put(const char *path, const char *bytes, size_t size)
{
    char dir[MG_CACHE_PATH], fresh[MG_CACHE_PATH + 16];
    const char *name = strrchr(path, '/');
    if (!name || size == 0 || size > MG_CACHE_LARGEST)
        return;
    snprintf(dir, sizeof dir, "%.*s", (int)(name - path), path);
    snprintf(fresh, sizeof fresh, "%s.%ld", path, (long)getpid());
    int fd = make_folders(dir) ? open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600) : -1;
    if (fd < 0)
        return;
    bool good = mg__write_whole(fd, bytes, size);
    good &= close(fd) == 0;
    if (!good || rename(fresh, path) != 0)
        unlink(fresh);
    bound(dir, name + 1 + KEY_LENGTH);
}
