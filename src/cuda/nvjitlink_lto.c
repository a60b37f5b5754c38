/* nvjitlink_lto.c - LTO-IR to PTX, by NVIDIA's own library where it is installed.
 *
 * LTO-IR is not documented, but libnvJitLink makes PTX of it on a machine without a GPU (-lto -ptx). It is looked for
 * in $CUDA_HOME, $CUDA_PATH and /usr/local/cuda, and in the Python packages beside any that the process has loaded.
 */
#include <dlfcn.h>

#include "cuda/driver.h"
#include "cuda/nvjitlink.h"
#include "cuda/theirs.h"

struct theirs {
    int (*create)(void **handle, uint32_t count, const char *const *options);
    int (*destroy)(void **handle);
    int (*add)(void *handle, int type, const void *data, size_t size, const char *name);
    int (*complete)(void *handle);
    int (*ptx_size)(void *handle, size_t *size);
    int (*ptx)(void *handle, char *out);
    int (*log_size)(void *handle, size_t *size);
    int (*log)(void *handle, char *out);
};

static void *library(void)
{
    static const char *const wheels[] = {"nvidia/cu13/lib", "nvidia/nvjitlink/lib", NULL};
    void *found = mg__theirs_open("libnvJitLink.so.13", wheels);
    return found ? found : mg__theirs_open("libnvJitLink.so.12", wheels);
}

static bool load(struct theirs *to)
{
    void *from = library();
    if (!from)
        return false;
    const struct {
        const char *name;
        void *at;
    } wanted[] = {{"nvJitLinkCreate", &to->create},
                  {"nvJitLinkDestroy", &to->destroy},
                  {"nvJitLinkAddData", &to->add},
                  {"nvJitLinkComplete", &to->complete},
                  {"nvJitLinkGetLinkedPtxSize", &to->ptx_size},
                  {"nvJitLinkGetLinkedPtx", &to->ptx},
                  {"nvJitLinkGetErrorLogSize", &to->log_size},
                  {"nvJitLinkGetErrorLog", &to->log}};
    bool all = true;
    for (size_t i = 0; i < MG_COUNT(wanted); i++) {
        void *symbol = dlsym(from, wanted[i].name);
        memcpy(wanted[i].at, &symbol, sizeof(symbol));
        all = all && symbol;
    }
    return all;
}

static char *text_of(void *handle, int (*measure)(void *, size_t *), int (*take)(void *, char *))
{
    size_t size = 0;
    char *text = measure(handle, &size) ? NULL : calloc(1, size + 1);
    if (text && take(handle, text)) {
        free(text);
        text = NULL;
    }
    return text;
}

int mg__nvjitlink_lto(uint32_t count, const char *const *options, const struct nvjitlink_lto *parts, size_t nparts,
                      char **ptx, char **log)
{
    struct theirs nv;
    void *handle = NULL;
    *ptx = *log = NULL;
    if (!load(&nv))
        return NVJITLINK_MISSING;
    const char **all = calloc(count + 2, sizeof(*all));
    if (!all)
        return NVJITLINK_INTERNAL;
    uint32_t n = 0;
    for (uint32_t i = 0; i < count; i++)
        if (strcmp(options[i], "-lto") != 0 && strcmp(options[i], "-ptx") != 0)
            all[n++] = options[i];
    all[n++] = "-lto";
    all[n++] = "-ptx";
    int result = nv.create(&handle, n, all);
    for (size_t i = 0; !result && i < nparts; i++)
        result = nv.add(handle, NVJITLINK_LTOIR, parts[i].data, parts[i].size, parts[i].name);
    result = result ? result : nv.complete(handle);
    if (!result && !(*ptx = text_of(handle, nv.ptx_size, nv.ptx)))
        result = NVJITLINK_INTERNAL;
    if (result && handle)
        *log = text_of(handle, nv.log_size, nv.log);
    if (handle)
        nv.destroy(&handle);
    free(all);
    return result;
}
