/* nvjitlink.c - the linker library of the toolkit, libnvJitLink, as far as it works on PTX.
 *
 * NVIDIA's own makes machine code, which nothing here can run, and Python's compilers (Numba, cuda.core) hand it their
 * code before the driver sees any. This one links PTX and fatbins that have some, and its "cubin" is PTX text, which
 * every load takes. LTO-IR becomes PTX first (nvjitlink_lto.c). Host objects and archives are refused.
 *
 * A handle serves one thread at a time, as NVIDIA's; none needs a context.
 */
#include "cuda/nvjitlink.h"
#include "cuda/driver.h"

struct input {
    char *copy, *name;
    size_t size;
    bool lto;
};
struct nvjitlink {
    MG_VEC(char *) options;
    MG_VEC(struct input) inputs;
    bool lto;
    char *linked; /* with its NUL; NULL: not complete */
    size_t length;
    struct mg_strbuf log; /* of errors */
};

__attribute__((format(printf, 3, 4))) static int fail(struct nvjitlink *link, int result, const char *format, ...)
{
    char message[1024];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof(message), format, list);
    va_end(list);
    (void)mg__strbuf_printf(&link->log, "error   : %s\n", message);
    return result;
}

static bool starts(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

static int read_options(struct nvjitlink *link, uint32_t count, const char *const *options)
{
    /* What shapes machine code changes nothing here. */
    static const char *const known[] = {"-g",
                                        "-lineinfo",
                                        "-lto",
                                        "-ptx",
                                        "-verbose",
                                        "-time",
                                        "-O",
                                        "-opt-level",
                                        "-maxrregcount=",
                                        "-ftz=",
                                        "-fma=",
                                        "-prec-div=",
                                        "-prec-sqrt=",
                                        "-kernels-used=",
                                        "-variables-used=",
                                        "-optimize-unused-variables",
                                        "-Xptxas=",
                                        "-Xnvvm=",
                                        "-split-compile",
                                        "-jump-table-density=",
                                        "-no-cache",
                                        "-device-stack-protector",
                                        "-no-device-stack-protector",
                                        "-allow-undefined-globals"};
    bool arch = false;
    for (uint32_t i = 0; i < count; i++) {
        const char *option = options[i];
        if (!option)
            return NVJITLINK_NULL_INPUT;
        bool found = starts(option, "-arch=");
        if (found && !starts(option, "-arch=sm_") && !starts(option, "-arch=compute_"))
            return fail(link, NVJITLINK_UNRECOGNIZED_ARCH, "%s names no architecture", option);
        arch |= found;
        for (size_t k = 0; k < MG_COUNT(known) && !found; k++)
            found = starts(option, known[k]);
        if (!found)
            return fail(link, NVJITLINK_UNRECOGNIZED_OPTION, "option %s is not known", option);
        link->lto |= !strcmp(option, "-lto");
        char *copy = strdup(option);
        if (!copy || !mg__vec_push(&link->options, copy)) {
            free(copy);
            return NVJITLINK_INTERNAL;
        }
    }
    return arch ? NVJITLINK_DONE : fail(link, NVJITLINK_MISSING_ARCH, "-arch=sm_NN is missing");
}

int mg__nvJitLinkCreate(struct nvjitlink **handle, uint32_t count, const char *const *options);
int mg__nvJitLinkCreate(struct nvjitlink **handle, uint32_t count, const char *const *options)
{
    if (!handle || (count && !options))
        return NVJITLINK_NULL_INPUT;
    *handle = calloc(1, sizeof(**handle));
    return *handle ? read_options(*handle, count, options) : NVJITLINK_INTERNAL;
}

static void free_input(struct input *in)
{
    free(in->copy);
    free(in->name);
}

int mg__nvJitLinkDestroy(struct nvjitlink **handle);
int mg__nvJitLinkDestroy(struct nvjitlink **handle)
{
    struct nvjitlink *link = handle ? *handle : NULL;
    if (!link)
        return NVJITLINK_NULL_INPUT;
    for (size_t i = 0; i < link->options.count; i++)
        free(link->options.at[i]);
    for (size_t i = 0; i < link->inputs.count; i++)
        free_input(&link->inputs.at[i]);
    mg__vec_free(&link->options);
    mg__vec_free(&link->inputs);
    mg__strbuf_free(&link->log);
    free(link->linked);
    free(link);
    *handle = NULL;
    return NVJITLINK_DONE;
}

int mg__nvJitLinkAddData(struct nvjitlink *link, int type, const void *data, size_t size, const char *name);
int mg__nvJitLinkAddData(struct nvjitlink *link, int type, const void *data, size_t size, const char *name)
{
    if (!link || !data || !size)
        return NVJITLINK_NULL_INPUT;
    name = name ? name : "an input";
    const char *own = type == NVJITLINK_LIBRARY ? mg__cuda_own_archive(name) : NULL;
    if (own)
        return mg__nvJitLinkAddData(link, NVJITLINK_PTX, own, strlen(own), name);
    if (type == NVJITLINK_OBJECT || type == NVJITLINK_LIBRARY || type == NVJITLINK_INDEX)
        return fail(link, NVJITLINK_INVALID_INPUT,
                    "%s is an object, an archive or an index; Margay links PTX, fatbins that have some, and LTO-IR",
                    name);
    if (type == NVJITLINK_LTOIR && !link->lto)
        return fail(link, NVJITLINK_LTO_NOT_ENABLED, "%s is LTO-IR, and -lto was not given", name);
    if (type < NVJITLINK_CUBIN || (type > NVJITLINK_INDEX && type != NVJITLINK_ANY))
        return fail(link, NVJITLINK_UNRECOGNIZED_INPUT, "%s has no type that is known", name);
    struct input in = {calloc(1, size + 1), strdup(name), size, type == NVJITLINK_LTOIR};
    if (!in.copy || !in.name) {
        free_input(&in);
        return NVJITLINK_INTERNAL;
    }
    memcpy(in.copy, data, size);
    if (!in.lto && mg__device_image(in.copy).size > size + 1) {
        free_input(&in);
        return fail(link, NVJITLINK_INVALID_INPUT, "%s ends too early", name);
    }
    if (!mg__vec_push(&link->inputs, in)) {
        free_input(&in);
        return NVJITLINK_INTERNAL;
    }
    return NVJITLINK_DONE;
}

int mg__nvJitLinkAddFile(struct nvjitlink *link, int type, const char *path);
int mg__nvJitLinkAddFile(struct nvjitlink *link, int type, const char *path)
{
    char *data;
    size_t size;
    if (!link || !path)
        return NVJITLINK_NULL_INPUT;
    if (mg__file_read(path, SIZE_MAX / 2, &data, &size, NULL))
        return fail(link, NVJITLINK_INVALID_INPUT, "%s cannot be read", path);
    int result = mg__nvJitLinkAddData(link, type, data, size, path);
    free(data);
    return result;
}

/* All LTO-IR becomes one input of PTX. */
static int lower(struct nvjitlink *link, struct nvjitlink_lto *parts)
{
    size_t n = 0, kept = 0;
    char *ptx, *log;
    for (size_t i = 0; i < link->inputs.count; i++) {
        const struct input *in = &link->inputs.at[i];
        if (in->lto)
            parts[n++] = (struct nvjitlink_lto){in->copy, in->name, in->size};
    }
    if (!n)
        return NVJITLINK_DONE;
    int result =
        mg__nvjitlink_lto((uint32_t)link->options.count, (const char *const *)link->options.at, parts, n, &ptx, &log);
    if (result == NVJITLINK_MISSING) {
        return fail(link, NVJITLINK_INVALID_INPUT,
                    "%s is LTO-IR, of which only NVIDIA's libnvJitLink can make PTX: install it (pip install "
                    "nvidia-nvjitlink), or compile without LTO",
                    parts[0].name);
    } else if (result) {
        (void)mg__strbuf_printf(&link->log, "%s", log ? log : "");
        free(log);
        return result;
    }
    for (size_t i = 0; i < link->inputs.count; i++)
        if (link->inputs.at[i].lto)
            free_input(&link->inputs.at[i]);
        else
            link->inputs.at[kept++] = link->inputs.at[i];
    link->inputs.at[kept++] = (struct input){.copy = ptx, .size = strlen(ptx)};
    link->inputs.count = kept;
    return NVJITLINK_DONE;
}

int mg__nvJitLinkComplete(struct nvjitlink *link);
int mg__nvJitLinkComplete(struct nvjitlink *link)
{
    struct mg_diag diag;
    if (!link)
        return NVJITLINK_NULL_INPUT;
    struct nvjitlink_lto *parts = calloc(link->inputs.count + 1, sizeof(*parts));
    struct mg_device_image *images = calloc(link->inputs.count + 1, sizeof(*images));
    int result = parts && images ? lower(link, parts) : NVJITLINK_INTERNAL;
    for (size_t i = 0; !result && i < link->inputs.count; i++)
        images[i] = mg__device_image(link->inputs.at[i].copy);
    free(link->linked);
    link->linked = NULL;
    if (!result) {
        const struct mg_device_code code = {.images = images, .nimages = link->inputs.count, .linked = true};
        enum mg_status status = mg__device_link(mg__cudart_here()->device, &code, &link->linked, &link->length, &diag);
        if (status)
            link->linked = NULL;
        if (status && diag.line)
            result = fail(link, NVJITLINK_PTX_COMPILE, "line %u: %s", diag.line, diag.message);
        else if (status)
            result = fail(link, NVJITLINK_FINALIZE, "%s", diag.message);
    }
    free(parts);
    free(images);
    return result;
}

/* A text's size, with its NUL, and the text itself. */
#define GIVES(name, ready, text, length)                                          \
    int mg__nvJitLinkGet##name##Size(const struct nvjitlink *link, size_t *size); \
    int mg__nvJitLinkGet##name##Size(const struct nvjitlink *link, size_t *size)  \
    {                                                                             \
        if (!link || !size)                                                       \
            return NVJITLINK_NULL_INPUT;                                          \
        *size = (ready) ? (length) + 1 : 0;                                       \
        return (ready) ? NVJITLINK_DONE : NVJITLINK_FINALIZE;                     \
    }                                                                             \
    int mg__nvJitLinkGet##name(const struct nvjitlink *link, char *out);          \
    int mg__nvJitLinkGet##name(const struct nvjitlink *link, char *out)           \
    {                                                                             \
        if (!link || !out)                                                        \
            return NVJITLINK_NULL_INPUT;                                          \
        if (!(ready))                                                             \
            return NVJITLINK_FINALIZE;                                            \
        memcpy(out, text, (length) + 1);                                          \
        return NVJITLINK_DONE;                                                    \
    }
GIVES(LinkedCubin, link->linked, link->linked, link->length)
GIVES(LinkedPtx, link->linked, link->linked, link->length)
GIVES(ErrorLog, true, link->log.at ? link->log.at : "", link->log.count)
GIVES(InfoLog, true, "", (size_t)0)
