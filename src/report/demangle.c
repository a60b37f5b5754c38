/* demangle.c - C++ names as people wrote them.
 *
 * The demangler is the C++ runtime's own (__cxa_demangle of the Itanium C++ ABI), found when it is first needed and not
 * linked: a program that nvcc built has libstdc++ in it already, and a C program that loads our runtime should not be
 * made to. Where the process has none, libstdc++.so.6 is opened; where the machine has none, the name stays as it is,
 * which is still a true name. Names longer than NAME_LIMIT are left alone: the demangler's stack use grows with its
 * input.
 *
 * Two touches of our own: what nobody wrote is dropped, the namespace `_INTERNAL_<hash>_…` that nvcc wraps round what
 * is `static`, and the one that CUB and Thrust put their version in; and a shared variable is shown by its own name
 * alone.
 */
#include "report/report.h"

#include <ctype.h>
#include <dlfcn.h>

#define NAME_LIMIT 16384

typedef char *(*demangle_fn)(const char *name, char *buffer, size_t *length, int *status);

static demangle_fn find_demangler(void)
{
    /* POSIX lets dlsym's result become a function; ISO C has no cast for it, hence the union. */
    union {
        void *object;
        demangle_fn function;
    } u = {.object = dlsym(RTLD_DEFAULT, "__cxa_demangle")};
    if (!u.object) {
        void *library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL); /* stays open for the life of the process */
        if (library)
            u.object = dlsym(library, "__cxa_demangle");
    }
    return u.function;
}

#define CAPITALS "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

/* Removes every component that begins with `prefix` and has nothing but `letters`, in place. */
static void drop_component(char *name, const char *prefix, const char *letters)
{
    for (char *at = name; (at = strstr(at, prefix)) != NULL;) {
        if (at > name && (isalnum((unsigned char)at[-1]) || at[-1] == '_')) {
            at++;
            continue;
        }
        size_t n = strspn(at, letters);
        if (strncmp(at + n, "::", 2)) {
            at += n;
            continue;
        }
        memmove(at, at + n + 2, strlen(at + n + 2) + 1);
    }
}

char *mg__report_demangle(const char *name)
{
    if (!name)
        return NULL;
    if (!strncmp(name, "_Z", 2) && strlen(name) < NAME_LIMIT) {
        demangle_fn demangle = find_demangler();
        int status = -1;
        char *text = demangle ? demangle(name, NULL, NULL, &status) : NULL;
        if (text && status == 0) {
            drop_component(text, "_INTERNAL_", "abcdefghijklmnopqrstuvwxyz." CAPITALS);
            drop_component(text, "CUB_", CAPITALS); /* cub::CUB_300001_SM_900::, its version and devices */
            drop_component(text, "THRUST_", CAPITALS);
            return text;
        }
        free(text);
    }
    return strdup(name);
}

/* Of NAME_$_0, as the compiler calls parts that it has cut an array or a structure into, the name's length; else 0. */
static size_t without_part(const char *name)
{
    const char *at = NULL;
    for (const char *p = name; p && (p = strstr(p, "_$_")) != NULL; p += 3)
        at = p;
    return at && at > name && isdigit((unsigned char)at[3]) && !at[3 + strspn(at + 3, "0123456789")]
               ? (size_t)(at - name)
               : 0;
}

char *mg__report_variable_name(const char *name)
{
    const size_t whole = without_part(name);
    if (whole) {
        char *own = strndup(name, whole), *shown = own ? mg__report_variable_name(own) : NULL;
        char *text = shown ? malloc(strlen(shown) + strlen(name + whole) + sizeof(" (part )")) : NULL;
        if (text)
            sprintf(text, "%s (part %s)", shown, name + whole + 3);
        free(own);
        free(shown);
        return text;
    }
    char *text = mg__report_demangle(name);
    if (!text || !strcmp(text, name))
        return text;
    /* The last component at nesting depth zero: "mm(float const*, int)::tile" -> "tile". */
    size_t start = 0;
    int depth = 0;
    for (size_t i = 0; text[i]; i++) {
        if (text[i] == '(' || text[i] == '<' || text[i] == '[' || text[i] == '{')
            depth++;
        else if (text[i] == ')' || text[i] == '>' || text[i] == ']' || text[i] == '}')
            depth--;
        else if (depth <= 0 && text[i] == ':' && text[i + 1] == ':')
            start = i + 2;
    }
    if (text[start])
        memmove(text, text + start, strlen(text + start) + 1);
    return text;
}
