/* oldest.c - functions that the C library has under these names only since 2.30 to 2.33, for systems whose has not:
 * tools/wheel.py makes a library of it for the wheel, whose binaries were linked on a newer system. Where the C library
 * has them, its own are taken. The kernel's struct stat is the C library's on all 64-bit machines.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <malloc.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

extern char __libc_single_threaded;
char __libc_single_threaded = 0; /* true only where no thread can begin */

int fstatat(int folder, const char *restrict path, struct stat *restrict st, int flags)
{
    return (int)syscall(SYS_newfstatat, folder, path, st, flags);
}

int stat(const char *restrict path, struct stat *restrict st)
{
    return fstatat(AT_FDCWD, path, st, 0);
}

int lstat(const char *restrict path, struct stat *restrict st)
{
    return fstatat(AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW);
}

int fstat(int fd, struct stat *st)
{
    return fstatat(fd, "", st, AT_EMPTY_PATH);
}

pid_t gettid(void)
{
    return (pid_t)syscall(SYS_gettid);
}

struct mallinfo2 mallinfo2(void)
{
    return (struct mallinfo2){0}; /* LLVM's statistics, which nobody asks for */
}
