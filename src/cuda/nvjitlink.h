/* nvjitlink.h - what the two files of libnvJitLink share. */
#ifndef MG_CUDA_NVJITLINK_H
#define MG_CUDA_NVJITLINK_H
#include <stddef.h>
#include <stdint.h>

enum { /* nvJitLinkResult; MISSING is our own */
       NVJITLINK_DONE,
       NVJITLINK_UNRECOGNIZED_OPTION,
       NVJITLINK_MISSING_ARCH,
       NVJITLINK_INVALID_INPUT,
       NVJITLINK_PTX_COMPILE,
       NVJITLINK_INTERNAL = 6,
       NVJITLINK_UNRECOGNIZED_INPUT = 8,
       NVJITLINK_FINALIZE,
       NVJITLINK_NULL_INPUT,
       NVJITLINK_UNRECOGNIZED_ARCH = 16,
       NVJITLINK_LTO_NOT_ENABLED = 18,
       NVJITLINK_MISSING = -1
};
enum { /* nvJitLinkInputType */
       NVJITLINK_CUBIN = 1,
       NVJITLINK_PTX,
       NVJITLINK_LTOIR,
       NVJITLINK_FATBIN,
       NVJITLINK_OBJECT,
       NVJITLINK_LIBRARY,
       NVJITLINK_INDEX,
       NVJITLINK_ANY = 10
};
struct nvjitlink_lto {
    const char *data, *name;
    size_t size;
};
/* PTX of LTO-IR, by NVIDIA's library. Its result; MISSING: it is not installed. `ptx`, or `log` where it failed, are
 * for the caller to free. */
int mg__nvjitlink_lto(uint32_t count, const char *const *options, const struct nvjitlink_lto *parts, size_t nparts,
                      char **ptx, char **log);
#endif
