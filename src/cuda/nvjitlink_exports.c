/* nvjitlink_exports.c - the public names of libnvJitLink.so.12 and .13: jumps to libmargay_cuda.so, as exports.c's. */
#include "cudart/jump.h"

#define MG_STRING_(x) #x
#define MG_STRING(x) MG_STRING_(x)
#define MG_OF(name, minor) \
    MG_EXPORT("__nvJitLink" #name "_" MG_STRING(MARGAY_NVJITLINK) "_" #minor, "mg__entry_nvJitLink" #name)
#define NVJITLINK(name)                                                                                      \
    MG_EXPORT("nvJitLink" #name, "mg__entry_nvJitLink" #name)                                                \
    MG_OF(name, 0)                                                                                           \
    MG_OF(name, 1)                                                                                           \
    MG_OF(name, 2) MG_OF(name, 3) MG_OF(name, 4) MG_OF(name, 5) MG_OF(name, 6) MG_OF(name, 7) MG_OF(name, 8) \
        MG_OF(name, 9)
#include "cuda/nvjitlink.def"

/* The last of its major version whose calls these are. */
__attribute__((visibility("default"))) int nvJitLinkVersion(unsigned *major, unsigned *minor);
int nvJitLinkVersion(unsigned *major, unsigned *minor)
{
    if (!major || !minor)
        return 10; /* NVJITLINK_ERROR_NULL_INPUT */
    *major = MARGAY_NVJITLINK;
    *minor = MARGAY_NVJITLINK == 12 ? 9 : 0;
    return 0;
}
