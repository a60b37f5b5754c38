/* names.h - for files of a library's public names, which are declared in NVIDIA's headers and in none of ours. */
#ifndef MG_HOSTED_NAMES_H
#define MG_HOSTED_NAMES_H
#include "hosted/hosted.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#define PUBLIC __attribute__((visibility("default")))

/* An entry point that is not there: it says so by name, and returns the status, whose name stands in the message. */
#define HOSTED_LATER(name, status_name, status) \
    PUBLIC int name(void)                       \
    {                                           \
        mg__hosted_missing(#name, status_name); \
        return status;                          \
    }
#endif
