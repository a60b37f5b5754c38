/* jit.c - what programs tell the JIT, what it tells them, and linking (cuLink*).
 *
 * Nothing is assembled: of the options the logs and the time count, and all others are hints. A message has the form of
 * ptxas, which tools read, with the line of the PTX. What the linker makes is PTX, which the loader takes as any image.
 */
#include "cuda/driver.h"

enum { OPTIONS = 64, MOST_INPUTS = 4096 };

/* Option values are passed in pointers. */
static size_t number_in(void *value)
{
    return (size_t)(uint32_t)(uintptr_t)value;
}

int mg__cuda_jit(unsigned count, const int *options, void **values, struct cuda_jit *jit)
{
    memset(jit, 0, sizeof(*jit));
    if (count && (!options || !values))
        return CUDA_ERROR_INVALID_VALUE;
    for (unsigned i = 0; i < count; i++) {
        unsigned which = options[i] >= CU_JIT_ERROR_LOG;
        switch (options[i]) {
        case CU_JIT_INFO_LOG:
        case CU_JIT_ERROR_LOG:
            jit->log[which] = values[i];
            break;
        case CU_JIT_INFO_LOG_SIZE:
        case CU_JIT_ERROR_LOG_SIZE:
            jit->size[which] = number_in(values[i]);
            jit->filled[which] = &values[i];
            break;
        case CU_JIT_WALL:
            jit->wall = &values[i];
            break;
        default:
            if (options[i] < 0 || options[i] >= OPTIONS)
                return CUDA_ERROR_INVALID_VALUE;
        }
    }
    return 0;
}

static void fill(const struct cuda_jit *jit, unsigned which, const char *text)
{
    size_t size = jit->log[which] ? jit->size[which] : 0, used = 0;
    if (size) { /* cut off, the NUL counts, as an H200's driver tells it */
        used = MG_MIN(strlen(text), size);
        snprintf(jit->log[which], size, "%s", text);
    }
    if (jit->filled[which])
        *jit->filled[which] = (void *)(uintptr_t)used;
}

int mg__cuda_jit_done(struct cuda_jit *jit, int error, const struct mg_diag *diag)
{
    struct mg_strbuf text = {0};
    if (error && diag->status && !(jit->log[1] && jit->size[1]))
        mg__cudart_tell(NULL, diag);
    if (error && diag->line)
        mg__strbuf_printf(&text,
                          "ptxas application ptx input, line %u; error   : %s\n"
                          "ptxas fatal   : Ptx assembly aborted due to errors\n",
                          diag->line, diag->message);
    else if (error && diag->status)
        mg__strbuf_printf(&text, "error   : %s\n", diag->message);
    fill(jit, 0, "");
    fill(jit, 1, text.at ? text.at : "");
    mg__strbuf_free(&text);
    if (jit->wall)
        *jit->wall = NULL; /* a float, 0 ms: nothing is assembled */
    return error;
}

/* ---- cuLink ---- */
struct input {
    char *copy;
    struct mg_device_image image;
};
struct linker {
    struct linker *next;
    MG_VEC(struct input) inputs;
    struct cuda_jit jit;
    bool broken;  /* by an input */
    char *result; /* of cuLinkComplete */
};
static struct linker *linkers; /* under the lock of the process */

static struct linker **linker_at(const void *handle)
{
    struct linker **at = &linkers;
    while (*at && *at != handle)
        at = &(*at)->next;
    return at;
}

static struct linker *linker_of(const void *handle)
{
    mg__cudart_lock();
    struct linker *linker = *linker_at(handle);
    mg__cudart_unlock();
    return linker;
}

int mg__cuLinkCreate(unsigned count, const int *options, void **values, void **handle)
{
    struct cuda_jit jit;
    CUDA_ENTER();
    int error = handle ? mg__cuda_jit(count, options, values, &jit) : CUDA_ERROR_INVALID_VALUE;
    struct linker *linker = error ? NULL : calloc(1, sizeof(*linker));
    if (!linker)
        return mg__cuda_done(error ? error : CUDA_ERROR_OUT_OF_MEMORY);
    linker->jit = jit;
    mg__cudart_lock();
    linker->next = linkers;
    linkers = linker;
    mg__cudart_unlock();
    *handle = linker;
    return mg__cuda_done(0);
}

/* All inputs as one text. With `whole`, functions that are called have to be there. */
static int link_all(struct linker *linker, bool whole, char **text, size_t *length, struct mg_diag *diag)
{
    struct mg_device_image *images = calloc(linker->inputs.count + 1, sizeof(*images));
    struct mg_ptx_module *ptx = NULL;
    if (!images)
        return CUDA_ERROR_OUT_OF_MEMORY;
    for (size_t i = 0; i < linker->inputs.count; i++)
        images[i] = linker->inputs.at[i].image;
    const struct mg_device_code code = {.images = images, .nimages = linker->inputs.count, .linked = true};
    enum mg_status status = mg__device_link(mg__cudart_here()->device, &code, text, length, diag);
    free(images);
    if (status)
        return diag->line ? CUDA_ERROR_INVALID_PTX : CUDA_ERROR_UNKNOWN;
    status = mg__ptx_parse(*text, *length, &ptx, diag);
    int error = status ? CUDA_ERROR_INVALID_PTX : 0;
    const char *lacks = !status && whole ? mg__cuda_unresolved(ptx) : NULL;
    if (lacks) {
        mg__diag_set(diag, MG_ERR_NOT_FOUND, "Undefined reference to '%s'", lacks);
        error = CUDA_ERROR_UNKNOWN;
    }
    mg__ptx_free(ptx);
    if (error)
        free(*text);
    return error;
}

/* What the linker takes of an input: text, or an image that has PTX. Takes `copy`, which ends with a NUL. What is wrong
 * with it, alone or beside the others, is told at once. */
static int add(struct linker *linker, int type, char *copy, size_t size, struct cuda_jit *jit)
{
    struct input in = {.copy = copy};
    struct mg_diag diag;
    char *text;
    size_t length;
    if (type == CU_INPUT_PTX)
        in.image = (struct mg_device_image){copy, strlen(copy), true};
    else
        in.image = mg__device_image(copy);
    if (in.image.size > size) { /* shorter than it says */
        free(copy);
        return CUDA_ERROR_INVALID_IMAGE;
    }
    if (linker->inputs.count == MOST_INPUTS || !mg__vec_push(&linker->inputs, in)) {
        free(copy);
        return CUDA_ERROR_OUT_OF_MEMORY;
    }
    memset(&diag, 0, sizeof(diag));
    int error = link_all(linker, false, &text, &length, &diag);
    if (!error)
        free(text);
    linker->broken |= error != 0;
    return mg__cuda_jit_done(jit, error, &diag);
}

static int add_data(void *handle, int type, const void *data, size_t size, struct cuda_jit *jit)
{
    struct linker *linker = linker_of(handle);
    struct mg_diag diag;
    if (!linker)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!data || !size || type < 0 || type > CU_INPUT_NVVM)
        return CUDA_ERROR_INVALID_VALUE;
    if (type > CU_INPUT_FATBIN) {
        memset(&diag, 0, sizeof(diag));
        mg__diag_set(&diag, MG_ERR_UNSUPPORTED, "cuLinkAddData takes PTX and fatbins that have some; not %s",
                     type == CU_INPUT_OBJECT    ? "host objects"
                     : type == CU_INPUT_LIBRARY ? "archives"
                                                : "NVVM IR");
        mg__diag_hint(&diag, "link such files when the program is built (nvcc -rdc=true), or give their PTX");
        return mg__cuda_jit_done(jit, CUDA_ERROR_NOT_SUPPORTED, &diag);
    }
    char *copy = calloc(1, size + 1);
    if (!copy)
        return CUDA_ERROR_OUT_OF_MEMORY;
    memcpy(copy, data, size);
    return add(linker, type, copy, size + 1, jit);
}

int mg__cuLinkAddData(void *handle, int type, void *data, size_t size, const char *name, unsigned count,
                      const int *options, void **values)
{
    struct cuda_jit jit;
    CUDA_ENTER();
    (void)name;
    const struct linker *linker = linker_of(handle);
    int error = mg__cuda_jit(count, options, values, &jit);
    if (linker && !count)
        jit = linker->jit; /* its options are those of cuLinkCreate */
    return mg__cuda_done(error ? error : add_data(handle, type, data, size, &jit));
}

int mg__cuLinkAddFile(void *handle, int type, const char *path, unsigned count, const int *options, void **values)
{
    struct cuda_jit jit;
    char *data;
    size_t size;
    CUDA_ENTER();
    int error = path ? mg__cuda_jit(count, options, values, &jit) : CUDA_ERROR_INVALID_VALUE;
    const char *own = !error && type == CU_INPUT_LIBRARY ? mg__cuda_own_archive(path) : NULL;
    if (own)
        return mg__cuda_done(add_data(handle, CU_INPUT_PTX, own, strlen(own), &jit));
    if (!error && mg__file_read(path, SIZE_MAX / 2, &data, &size, NULL))
        error = CUDA_ERROR_FILE_NOT_FOUND;
    if (!error) {
        error = add_data(handle, type, data, size, &jit);
        free(data);
    }
    return mg__cuda_done(error);
}

static int nothing(char **text, size_t *length)
{
    *text = strdup(".version 8.0\n.target sm_50\n.address_size 64\n");
    *length = *text ? strlen(*text) : 0;
    return *text ? 0 : CUDA_ERROR_OUT_OF_MEMORY;
}

int mg__cuLinkComplete(void *handle, void **image, size_t *size)
{
    struct mg_diag diag;
    size_t length = 0;
    CUDA_ENTER();
    struct linker *linker = linker_of(handle);
    if (!linker || !image)
        return mg__cuda_done(linker ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_HANDLE);
    if (linker->result)
        return mg__cuda_done(CUDA_ERROR_INVALID_HANDLE);
    memset(&diag, 0, sizeof(diag));
    int error = linker->broken         ? CUDA_ERROR_UNKNOWN
                : linker->inputs.count ? link_all(linker, true, &linker->result, &length, &diag)
                                       : nothing(&linker->result, &length);
    if (error)
        linker->result = NULL;
    if (!linker->broken)
        mg__cuda_jit_done(&linker->jit, error, &diag);
    if (!error) {
        *image = linker->result;
        if (size)
            *size = length + 1; /* with the NUL */
    }
    return mg__cuda_done(error);
}

int mg__cuLinkDestroy(void *handle)
{
    CUDA_BEGIN();
    mg__cudart_lock();
    struct linker **at = linker_at(handle), *linker = *at;
    if (linker)
        *at = linker->next;
    mg__cudart_unlock();
    if (!linker)
        return mg__cuda_done(CUDA_ERROR_INVALID_HANDLE);
    for (size_t i = 0; i < linker->inputs.count; i++)
        free(linker->inputs.at[i].copy);
    mg__vec_free(&linker->inputs);
    free(linker->result);
    free(linker);
    return mg__cuda_done(0);
}
