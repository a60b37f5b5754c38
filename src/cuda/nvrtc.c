/* nvrtc.c - libnvrtc.so.12 and .13 before NVIDIA's: so that what is compiled at run time is PTX.
 *
 * NVRTC is NVIDIA's and needs no GPU, but asked for machine code (-arch=sm_90) it gives that, which nothing here can
 * run: cuda.core and CuPy ask so. Compiled through here, a program is for compute_90 instead, and its CUBIN is its PTX,
 * which every load takes. Behind its PTX stands its source text, for reports (nvrtc_text.c). All else goes to NVIDIA's
 * library as it is. Where that is not installed, every call fails.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <dlfcn.h>
#include <pthread.h>

#include "cuda/nvrtc_text.h"
#include "cuda/theirs.h"

#define EXPORT __attribute__((visibility("default")))
#define MG_STRING_(x) #x
#define MG_STRING(x) MG_STRING_(x)

enum { OUT_OF_MEMORY = 1, INTERNAL_ERROR = 11 }; /* nvrtcResult */

typedef intptr_t word;
typedef word function(word, word, word, word, word, word);

static void *nvrtc;

/* Of the same version if it is there: Python takes the first of ours that it finds. */
static void open_nvrtc(void)
{
    static const char *const wheels[] = {"nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib", NULL};
    static const char *const files[] = {"libnvrtc.so." MG_STRING(MARGAY_NVRTC),
                                        MARGAY_NVRTC == 12 ? "libnvrtc.so.13" : "libnvrtc.so.12"};
    for (int i = 0; i < 2 && !nvrtc; i++)
        nvrtc = mg__theirs_open(files[i], wheels);
    if (!nvrtc)
        fprintf(stderr,
                "margay: error: %s compiles kernels at run time, and is not installed\n"
                "  hint: It is NVIDIA's, and needs no GPU: pip install nvidia-cuda-nvrtc, or set CUDA_HOME.\n",
                files[0]);
}

static function *theirs(const char *name)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_nvrtc);
    function *f = NULL;
    void *symbol = nvrtc ? dlsym(nvrtc, name) : NULL;
    memcpy(&f, &symbol, sizeof(f));
    return f;
}

#define PASS_ON(name, to)                                             \
    EXPORT word name(word a, word b, word c, word d, word e, word f); \
    EXPORT word name(word a, word b, word c, word d, word e, word f)  \
    {                                                                 \
        function *real = theirs(to);                                  \
        return real ? real(a, b, c, d, e, f) : INTERNAL_ERROR;        \
    }
#define NVRTC(name) PASS_ON(nvrtc##name, "nvrtc" #name)
#include "cuda/nvrtc.def"

EXPORT const char *nvrtcGetErrorString(int result);
EXPORT const char *nvrtcGetErrorString(int result)
{
    function *real = theirs("nvrtcGetErrorString");
    return real ? (const char *)real(result, 0, 0, 0, 0, 0) : "NVIDIA's libnvrtc is not installed";
}

EXPORT int nvrtcCreateProgram(void **program, const char *text, const char *name, int count, const char *const *headers,
                              const char *const *names);
EXPORT int nvrtcCreateProgram(void **program, const char *text, const char *name, int count, const char *const *headers,
                              const char *const *names)
{
    function *real = theirs("nvrtcCreateProgram");
    int result =
        real ? (int)real((word)program, (word)text, (word)name, count, (word)headers, (word)names) : INTERNAL_ERROR;
    if (!result)
        mg__nvrtc_keep(*program, text, name, count, headers, names);
    return result;
}

EXPORT int nvrtcDestroyProgram(void **program);
EXPORT int nvrtcDestroyProgram(void **program)
{
    function *real = theirs("nvrtcDestroyProgram");
    const void *handle = program ? *program : NULL;
    int result = real ? (int)real((word)program, 0, 0, 0, 0, 0) : INTERNAL_ERROR;
    if (!result)
        mg__nvrtc_forget(handle);
    return result;
}

/* NVIDIA's PTX with the texts behind it, and its size, which counts the zero; NULL if there are none. */
static char *whole_ptx(void *program, size_t *size)
{
    function *get_size = theirs("nvrtcGetPTXSize"), *get = theirs("nvrtcGetPTX");
    char *ptx = NULL, *whole = NULL;
    if (get_size && get && !get_size((word)program, (word)size, 0, 0, 0, 0) && (ptx = malloc(*size + 1)) != NULL &&
        !get((word)program, (word)ptx, 0, 0, 0, 0)) {
        ptx[*size] = '\0';
        whole = mg__nvrtc_with_texts(program, ptx, size);
        *size += 1;
    }
    free(ptx);
    return whole;
}

static int get_ptx(void *program, char *out, size_t *out_size, const char *name)
{
    function *real = theirs(name);
    size_t size = 0;
    char *whole = out || out_size ? whole_ptx(program, &size) : NULL;
    if (whole && out)
        memcpy(out, whole, size);
    else if (whole)
        *out_size = size;
    bool done = whole != NULL;
    free(whole);
    if (done)
        return 0;
    return real ? (int)real((word)program, out ? (word)out : (word)out_size, 0, 0, 0, 0) : INTERNAL_ERROR;
}

#define GET_PTX(name)                                           \
    EXPORT int nvrtcGet##name(void *program, char *out);        \
    EXPORT int nvrtcGet##name(void *program, char *out)         \
    {                                                           \
        return get_ptx(program, out, NULL, "nvrtcGetPTX");      \
    }                                                           \
    EXPORT int nvrtcGet##name##Size(void *program, size_t *to); \
    EXPORT int nvrtcGet##name##Size(void *program, size_t *to)  \
    {                                                           \
        return get_ptx(program, NULL, to, "nvrtcGetPTXSize");   \
    }
GET_PTX(PTX)
GET_PTX(CUBIN)

/* sm_90 is compute_90, wherever it stands in the word. */
static char *virtual_arch(const char *option)
{
    const char *at = strstr(option, "sm_");
    size_t before = at ? (size_t)(at - option) : 0;
    char *out = malloc(strlen(option) + sizeof("compute_"));
    if (out)
        sprintf(out, "%.*scompute_%s", (int)before, option, at + 3);
    return out;
}

EXPORT int nvrtcCompileProgram(void *program, int count, const char *const *options);
EXPORT int nvrtcCompileProgram(void *program, int count, const char *const *options)
{
    function *real = theirs("nvrtcCompileProgram");
    if (!real)
        return INTERNAL_ERROR;
    mg__nvrtc_compiled(program);
    if (count <= 0 || !options)
        return (int)real((word)program, count, (word)options, 0, 0, 0);
    size_t n = (size_t)count;
    char **made = calloc(n, sizeof(*made));
    const char **all = calloc(n, sizeof(*all));
    int result = made && all ? 0 : OUT_OF_MEMORY;
    for (size_t i = 0; !result && i < n; i++) {
        const char *o = options[i], *last = i ? options[i - 1] : NULL;
        bool arch =
            o && (!strncmp(o, "-arch=sm_", 9) || !strncmp(o, "--gpu-architecture=sm_", 22) ||
                  (last && !strncmp(o, "sm_", 3) && (!strcmp(last, "-arch") || !strcmp(last, "--gpu-architecture"))));
        made[i] = arch ? virtual_arch(o) : NULL;
        all[i] = made[i] ? made[i] : o;
        result = arch && !made[i] ? OUT_OF_MEMORY : 0;
    }
    if (!result)
        result = (int)real((word)program, count, (word)all, 0, 0, 0);
    for (size_t i = 0; made && i < n; i++)
        free(made[i]);
    free(made);
    free(all);
    return result;
}
