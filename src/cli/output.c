/* output.c - the files that options name. "-" is standard output; what the program writes there goes to standard error
 * then, where the two would mix (mg__cli_parse decides).
 */
#include "cli.h"

#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

bool mg__output_is_stdout(const char *name)
{
    return name && !strcmp(name, "-");
}

const char *mg__output_name(const char *name)
{
    return mg__output_is_stdout(name) ? "standard output" : name;
}

bool mg__output_same(const char *a, const char *b)
{
    struct stat x, y;
    if (!a || !b || mg__output_is_stdout(a) || mg__output_is_stdout(b))
        return false;
    if (stat(a, &x) == 0 && stat(b, &y) == 0)
        return S_ISREG(x.st_mode) && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
    for (const char **name = &a; name; name = name == &a ? &b : NULL)
        while (!strncmp(*name, "./", 2))
            *name += 2;
    return !strcmp(a, b);
}

bool mg__output_fits(const struct mg_cli_options *o, const char *name)
{
    char folder[PATH_MAX];
    struct stat st;
    if (!name || mg__output_is_stdout(name))
        return true;
    const char *slash = strrchr(name, '/');
    snprintf(folder, sizeof(folder), "%.*s",
             slash == name ? 1
             : slash       ? (int)MG_MIN(slash - name, PATH_MAX - 1)
                           : 1,
             slash ? name : ".");
    const bool there = stat(name, &st) == 0;
    if (there && S_ISDIR(st.st_mode))
        errno = EISDIR;
    else if (access(there ? name : folder, there ? W_OK : W_OK | X_OK) == 0)
        return true;
    mg__cli_complain(o, "%s: %s", name, strerror(errno));
    return false;
}

bool mg__output_open(const struct mg_cli_options *o, const char *name, FILE **file)
{
    if (!name)
        return true;
    int fd = mg__output_is_stdout(name) ? dup(STDOUT_FILENO) : -1;
    *file = fd >= 0 ? fdopen(fd, "w") : mg__output_is_stdout(name) ? NULL : fopen(name, "we");
    if (!*file) {
        mg__cli_complain(o, "%s: %s", mg__output_name(name), strerror(errno));
        if (fd >= 0)
            close(fd);
    }
    return *file != NULL;
}

bool mg__output_close(const struct mg_cli_options *o, const char *name, FILE *file, bool written)
{
    if (!file)
        return written;
    if (fclose(file) == 0 && written)
        return true;
    mg__cli_complain(o, "%s could not be written", mg__output_name(name));
    return false;
}

void mg__output_discard(const char *name, FILE *file)
{
    struct stat st;
    if (file && !mg__output_is_stdout(name) && fstat(fileno(file), &st) == 0 && S_ISREG(st.st_mode))
        (void)remove(name); /* no device or pipe */
}

bool mg__output_write(const struct mg_cli_options *o, const char *name, const struct mg_strbuf *text)
{
    FILE *to = NULL;
    return mg__output_open(o, name, &to) &&
           mg__output_close(o, name, to, !text->count || fwrite(text->at, 1, text->count, to) == text->count);
}
