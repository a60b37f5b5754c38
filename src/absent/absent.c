/* absent.c - a library that Margay has no part of, by all its names: each says so once, and returns the status by which
 * the library itself says that something is not supported.
 *
 * So a program that is linked with it starts, and goes as far as its first call. The build compiles this file for each
 * library, with its names from names.txt, its name in words and its status; what returns no status is in special.def.
 * Arguments are not looked at: in the calling convention of x86-64 and of ARM the caller takes them away again.
 */
#include "hosted/names.h"

#include <stdio.h>

#define INSTEAD                                                                                                 \
    ": " MG_ABSENT_LIBRARY " is kernels for GPUs alone, so put a kernel or host code of your own in its place " \
    "for the run"

static int refuse(const char *name)
{
    mg__hosted_missing(name, MG_ABSENT_STATUS_NAME INSTEAD);
    return MG_ABSENT_STATUS;
}

#define MG_ABSENT_WORDS "Margay has no " MG_ABSENT_LIBRARY
#define ABSENT(name)          \
    PUBLIC int name(void)     \
    {                         \
        return refuse(#name); \
    }
#define TEXT(name)                \
    PUBLIC const char *name(void) \
    {                             \
        return MG_ABSENT_WORDS;   \
    }
#define WORDS(name)                                 \
    PUBLIC void name(char *words, size_t most)      \
    {                                               \
        if (words && most)                          \
            snprintf(words, most, MG_ABSENT_WORDS); \
    }
#define NOTHING(name)                           \
    PUBLIC void *name(void)                     \
    {                                           \
        mg__hosted_missing(#name, "0" INSTEAD); \
        return NULL;                            \
    }
#include MG_ABSENT_NAMES
