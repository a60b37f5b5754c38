/* hosted.c - the way to the runtime of the process. */
#include "hosted/hosted.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>

/* A library that Python or dlopen brought in is in nobody's sight, but it is loaded. */
void *mg__hosted_cuda(const char *name)
{
    static const char *const hidden[] = {"libmargay_cuda.so.0", "libcudart.so.13", "libcudart.so.12"};
    void *found = dlsym(RTLD_DEFAULT, name);
    for (size_t i = 0; !found && i < sizeof(hidden) / sizeof(hidden[0]); i++) {
        void *library = dlopen(hidden[i], RTLD_LAZY | RTLD_NOLOAD);
        found = library ? dlsym(library, name) : NULL;
        if (library)
            dlclose(library);
    }
    return found;
}

int mg__hosted_run(const struct margay_hosted *call)
{
    static _Atomic(void *) found;
    void *function = atomic_load(&found);
    margay_hosted_function *run;
    if (!function) {
        function = mg__hosted_cuda("margay_hosted");
        atomic_store(&found, function);
    }
    if (!function)
        return MG_HOSTED_NO_RUNTIME;
    *(void **)&run = function;
    return run(call);
}

bool mg__hosted_ready(const char *library)
{
    static atomic_bool told;
    if (mg__hosted_cuda("margay_hosted"))
        return true;
    if (!atomic_exchange(&told, true))
        fprintf(stderr,
                "margay: error: this %s computes on the host for Margay's CUDA runtime, and the program runs with "
                "another\nmargay:   start it with `margay run`, or take Margay's folder out of LD_LIBRARY_PATH\n",
                library);
    return false;
}

void mg__hosted_missing(const char *routine, const char *status)
{
    margay_hosted_missing_function *tell;
    *(void **)&tell = mg__hosted_cuda("margay_hosted_missing");
    if (tell)
        tell(routine, status);
    else
        fprintf(stderr, "margay: error: the program calls %s, which is not there; it returned %s\n", routine, status);
}
