/* self.c - the command run by itself, as a child: `margay COMMAND options… -- PROGRAM…`. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"

static void redirect(void *arg, int report_fd)
{
    const struct mg_self *s = arg;
    (void)report_fd;
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    int out = open(s->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (null < 0 || out < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(out, STDOUT_FILENO) < 0 ||
        dup2(out, STDERR_FILENO) < 0)
        _exit(127);
}

int mg__self_run(const struct mg_self *s)
{
    char self[PATH_MAX];
    size_t n = 0, words = 0, options = 0;
    int status = 0, error = 0;
    ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);
    if (length <= 0)
        return -1;
    self[length] = 0;
    while (s->program[words])
        words++;
    while (s->options[options])
        options++;
    const char **all = calloc(words + options + 4, sizeof(*all));
    if (!all)
        return -1;
    all[n++] = "margay";
    all[n++] = s->command;
    for (size_t i = 0; i < options; i++)
        all[n++] = s->options[i];
    all[n++] = "--";
    for (size_t i = 0; i < words; i++)
        all[n++] = s->program[i];
    struct mg_child child = {.path = self,
                             .argv = (char **)all,
                             .quiet_stdout = !s->output,
                             .setup = s->output ? redirect : NULL,
                             .arg = (void *)(uintptr_t)s};
    enum mg_status ran = mg__child_run(&child, &status, &error);
    free(all);
    if (ran != MG_OK)
        return -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool mg__self_folder(struct mg_compiled *folder)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(folder->dir, sizeof(folder->dir), "%s/margay-XXXXXX", tmp && tmp[0] ? tmp : "/tmp");
    folder->program[0] = 0;
    if (mkdtemp(folder->dir))
        return true;
    mg__cli_complain(NULL, "no temporary folder can be made in %s%s: %s", tmp && tmp[0] ? tmp : "/tmp",
                     tmp && tmp[0] ? ", which TMPDIR names" : "", strerror(errno));
    folder->dir[0] = 0;
    return false;
}
