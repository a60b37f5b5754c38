/* keeper.c - a small process between margay and the program: whatever the program starts, nothing of it outlives a
 * margay that is killed.
 *
 * A signal that cannot be caught ends margay alone, and the system would tell only its direct child. The keeper is that
 * child: it is told by a signal that it can take, and processes whose parents end become its own (a subreaper), so that
 * it can end them all. It has nothing else to do: it writes the program's process number, and how the program ended,
 * into a pipe. Where the program ends by itself, what it left behind goes on as from any shell.
 */
#include "cli.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define PARENT_ENDED SIGTERM

void mg__child_bind(pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* it has ended before that */
        _exit(127);
}

/* Kills the keeper's children until there are none: theirs become the keeper's. */
static void end_all(void)
{
    char path[64], line[4096];
    snprintf(path, sizeof(path), "/proc/self/task/%ld/children", (long)getpid());
    while (waitpid(-1, NULL, WNOHANG) >= 0 || errno != ECHILD) {
        FILE *f = fopen(path, "re");
        if (f && fgets(line, sizeof(line), f)) { /* those of a longer line come in a later round */
            char *at = line, *end;
            for (long pid; (pid = strtol(at, &end, 10)) > 0 && *end == ' '; at = end)
                kill((pid_t)pid, SIGKILL);
        }
        if (f)
            fclose(f);
        usleep(1000);
    }
}

static void write_all(int fd, const void *data, size_t size)
{
    while (write(fd, data, size) < 0 && errno == EINTR) /* few enough bytes that a pipe takes them at once */
        ;
}

void mg__keep(pid_t parent, int told, const int theirs[2], void (*become)(void *arg), void *arg)
{
    sigset_t all;
    int status, number;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    prctl(PR_SET_PDEATHSIG, PARENT_ENDED);
    pid_t self = getpid(), pid = fork();
    if (pid == 0) {
        mg__child_bind(self);
        become(arg);
    }
    for (unsigned i = 0; i < 2; i++)
        if (theirs[i] >= 0)
            close(theirs[i]);
    write_all(told, &pid, sizeof(pid));
    for (pid_t ended = -1; pid > 0 && getppid() == parent; sigwait(&all, &number)) {
        while ((ended = waitpid(-1, &status, WNOHANG)) > 0 && ended != pid)
            ;
        if (ended == pid) {
            write_all(told, &status, sizeof(status));
            _exit(0);
        }
    }
    end_all();
    _exit(127);
}
