/* child.c - one child process, watched until it ends, its report pipe emptied meanwhile.
 *
 * Signals that ask us to end are handed to the child and it decides: its exit status becomes ours. Those that the
 * terminal sends reach the child by themselves, since it is in the same process group (si_code SI_KERNEL), so only
 * those that a process sent to us alone are forwarded. They arrive on a descriptor (signalfd), which leaves no gap
 * between checking and waiting. The end of the child ends the wait: a grandchild that keeps the pipe open does not hold
 * us up. A signal that cannot be caught ends us alone: then the system ends the child (mg__child_bind), so that nothing
 * is left running.
 */
#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define REPORT_FD_LEAST 200 /* above the descriptors that programs hard-code */
#define PIPE_SIZE (1 << 20)

static const int forwarded[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};

static void close_if(int fd)
{
    if (fd >= 0)
        close(fd);
}

struct start {
    const struct mg_child *child;
    const sigset_t *mask;
    int report_fd, failure_fd;
};

/* Does not return. */
static void become(void *arg)
{
    const struct start *start = arg;
    const struct mg_child *child = start->child;
    if (child->quiet_stdout)
        dup2(STDERR_FILENO, STDOUT_FILENO);
    if (child->setup)
        child->setup(child->arg, start->report_fd);
    sigprocmask(SIG_SETMASK, start->mask, NULL);
    execvp(child->path, child->argv); /* the path has a slash: no search, but scripts without #! work */
    int why = errno;
    ssize_t n = write(start->failure_fd, &why, sizeof(why));
    _exit(n == sizeof(why) ? 126 : 127);
}

/* False at end of file. */
static bool read_all(int fd, void *data, size_t size)
{
    ssize_t n;
    while ((n = read(fd, data, size)) < 0 && errno == EINTR) /* written at once */
        ;
    return n == (ssize_t)size;
}

/* Takes what is there. False at end of file. */
static bool take(const struct mg_child *child, int fd, char *buffer, size_t size)
{
    for (;;) {
        ssize_t n = read(fd, buffer, size);
        if (n > 0)
            child->data(child->arg, buffer, (size_t)n);
        else if (n == 0)
            return false;
        else if (errno != EINTR)
            return errno == EAGAIN;
    }
}

/* Until the keeper has ended: how it did. */
static int watch(const struct mg_child *child, pid_t keeper, pid_t pid, int signal_fd, int report_fd)
{
    static char buffer[65536];
    int status = 0;
    bool open = report_fd >= 0;
    for (;;) {
        struct pollfd fds[2] = {{.fd = signal_fd, .events = POLLIN}, {.fd = open ? report_fd : -1, .events = POLLIN}};
        if (poll(fds, 2, -1) < 0 && errno != EINTR)
            break;
        if (open && fds[1].revents)
            open = take(child, report_fd, buffer, sizeof(buffer));
        struct signalfd_siginfo info;
        while (read(signal_fd, &info, sizeof(info)) == sizeof(info)) {
            if (info.ssi_signo != SIGCHLD && info.ssi_code != SI_KERNEL)
                kill(pid, (int)info.ssi_signo);
            if (child->asked_to_end && (info.ssi_signo == SIGINT || info.ssi_signo == SIGTERM ||
                                        info.ssi_signo == SIGHUP || info.ssi_signo == SIGQUIT))
                *child->asked_to_end = (int)info.ssi_signo;
        }
        pid_t ended = waitpid(keeper, &status, WNOHANG);
        if (ended == keeper) {
            if (open)
                take(child, report_fd, buffer, sizeof(buffer));
            return status;
        }
        if (ended < 0 && errno != EINTR)
            break;
    }
    while (waitpid(keeper, &status, 0) < 0 && errno == EINTR)
        ;
    return status;
}

enum mg_status mg__child_run(const struct mg_child *child, int *status, int *error)
{
    int report[2] = {-1, -1}, failure[2] = {-1, -1}, told[2] = {-1, -1}, signal_fd = -1, inherited = -1;
    enum mg_status result = MG_ERR_IO;
    sigset_t mine, before;
    sigemptyset(&mine);
    sigaddset(&mine, SIGCHLD);
    for (size_t i = 0; i < MG_COUNT(forwarded); i++)
        sigaddset(&mine, forwarded[i]);
    signal(SIGCHLD, SIG_DFL); /* ignored, it would take the child's status away */
    sigprocmask(SIG_BLOCK, &mine, &before);

    signal_fd = signalfd(-1, &mine, SFD_CLOEXEC | SFD_NONBLOCK);
    if (signal_fd < 0 || pipe2(failure, O_CLOEXEC) < 0 || pipe2(told, O_CLOEXEC) < 0)
        goto done;
    if (child->data) {
        if (pipe2(report, O_CLOEXEC) < 0)
            goto done;
        (void)fcntl(report[1], F_SETPIPE_SZ, PIPE_SIZE);
        (void)fcntl(report[0], F_SETFL, O_NONBLOCK);
        inherited = fcntl(report[1], F_DUPFD, REPORT_FD_LEAST);
        if (inherited < 0) /* a low limit on descriptors */
            inherited = fcntl(report[1], F_DUPFD, 3);
        close(report[1]);
        report[1] = -1;
        if (inherited < 0)
            goto done;
    }
    fflush(NULL);
    struct start start = {child, &before, inherited, failure[1]};
    pid_t self = getpid(), keeper = fork(), pid = -1;
    if (keeper < 0)
        goto done;
    if (keeper == 0)
        mg__keep(self, told[1], (const int[2]){inherited, failure[1]}, become, &start);
    close(failure[1]);
    close(told[1]);
    failure[1] = told[1] = -1;
    close_if(inherited);
    inherited = -1;
    int why = EAGAIN;
    if (!read_all(told[0], &pid, sizeof(pid)) || pid < 0 || read_all(failure[0], &why, sizeof(why))) {
        while (waitpid(keeper, NULL, 0) < 0 && errno == EINTR)
            ;
        errno = why;
        goto done;
    }
    *status = watch(child, keeper, pid, signal_fd, report[0]);
    read_all(told[0], status, sizeof(*status)); /* else the keeper was killed, and the program with it */
    result = MG_OK;
done:
    *error = errno;
    close_if(inherited);
    close_if(report[0]);
    close_if(report[1]);
    close_if(failure[0]);
    close_if(failure[1]);
    close_if(told[0]);
    close_if(told[1]);
    close_if(signal_fd);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return result;
}
