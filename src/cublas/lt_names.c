/* lt_names.c - the public names of libcublasLt.so.MARGAY_CUBLAS: descriptors and their attributes, algorithms (there is
 * one), and the calls that compute. The rest of lt.def is not there, and says so.
 *
 * A descriptor lies in the caller's opaque structure or in one of ours. Its attributes are a table: number, place,
 * size.
 */
#include "cublas/lt.h"
#include "hosted/names.h"

#include <stdlib.h>
#include <string.h>

struct attribute {
    int number;
    size_t at, size;
};
#define ATTRIBUTE(number, type, field)                                          \
    {                                                                           \
        number, offsetof(struct type, field), sizeof(((struct type *)0)->field) \
    }

static int set(void *object, const struct attribute *table, size_t n, int number, const void *from, size_t size)
{
    for (size_t i = 0; i < n; i++)
        if (table[i].number == number) {
            if (!object || !from || size != table[i].size)
                return CUBLAS_INVALID_VALUE;
            memcpy((char *)object + table[i].at, from, size);
            return CUBLAS_SUCCESS;
        }
    return CUBLAS_INVALID_VALUE;
}

static int get(const void *object, const struct attribute *table, size_t n, int number, void *to, size_t size,
               size_t *written)
{
    for (size_t i = 0; i < n; i++)
        if (table[i].number == number) {
            if (written)
                *written = table[i].size;
            if (!object || (size && (!to || size != table[i].size)) || (!size && !written))
                return CUBLAS_INVALID_VALUE;
            if (size)
                memcpy(to, (const char *)object + table[i].at, size);
            return CUBLAS_SUCCESS;
        }
    return CUBLAS_INVALID_VALUE;
}

/* Destroy, SetAttribute and GetAttribute of a kind of descriptor, by its table; and Create over its Init. */
#define DESCRIPTOR(Name, type, table)                                                                       \
    PUBLIC int cublasLt##Name##Destroy(struct type *object)                                                 \
    {                                                                                                       \
        free(object);                                                                                       \
        return CUBLAS_SUCCESS;                                                                              \
    }                                                                                                       \
    PUBLIC int cublasLt##Name##SetAttribute(struct type *object, int number, const void *from, size_t size) \
    {                                                                                                       \
        return set(object, table, sizeof(table) / sizeof(table[0]), number, from, size);                    \
    }                                                                                                       \
    PUBLIC int cublasLt##Name##GetAttribute(const struct type *object, int number, void *to, size_t size,   \
                                            size_t *written)                                                \
    {                                                                                                       \
        return get(object, table, sizeof(table) / sizeof(table[0]), number, to, size, written);             \
    }
#define CREATE(Name, type, room, PARAMETERS, ARGUMENTS)                                            \
    PUBLIC int cublasLt##Name##Create(struct type **made PARAMETERS)                               \
    {                                                                                              \
        _Static_assert(sizeof(struct type) <= (room), "it fits into the caller's");                \
        if (!made)                                                                                 \
            return CUBLAS_INVALID_VALUE;                                                           \
        *made = calloc(1, room);                                                                   \
        return *made ? cublasLt##Name##Init_internal(*made, room ARGUMENTS) : CUBLAS_ALLOC_FAILED; \
    }
#define LIST(...) , __VA_ARGS__

/* ---- layouts ---- */
static const struct attribute of_layout[] = {
    ATTRIBUTE(0, mg_lt_layout, type),   ATTRIBUTE(1, mg_lt_layout, order), ATTRIBUTE(2, mg_lt_layout, rows),
    ATTRIBUTE(3, mg_lt_layout, cols),   ATTRIBUTE(4, mg_lt_layout, ld),    ATTRIBUTE(5, mg_lt_layout, batch),
    ATTRIBUTE(6, mg_lt_layout, stride), ATTRIBUTE(7, mg_lt_layout, plane), ATTRIBUTE(8, mg_lt_layout, mode),
};
PUBLIC int cublasLtMatrixLayoutInit_internal(struct mg_lt_layout *object, size_t size, int type, uint64_t rows,
                                             uint64_t cols, int64_t ld)
{
    if (!object || size < sizeof(*object))
        return CUBLAS_INVALID_VALUE;
    *object = (struct mg_lt_layout){.type = type, .rows = rows, .cols = cols, .ld = ld, .batch = 1};
    return CUBLAS_SUCCESS;
}
CREATE(MatrixLayout, mg_lt_layout, 64, LIST(int type, uint64_t rows, uint64_t cols, int64_t ld),
       LIST(type, rows, cols, ld))
DESCRIPTOR(MatrixLayout, mg_lt_layout, of_layout)

/* ---- products ---- */
static const struct attribute of_matmul[] = {
    ATTRIBUTE(0, mg_lt_matmul, compute),
    ATTRIBUTE(1, mg_lt_matmul, scale),
    ATTRIBUTE(2, mg_lt_matmul, pointer_mode),
    ATTRIBUTE(3, mg_lt_matmul, transa),
    ATTRIBUTE(4, mg_lt_matmul, transb),
    ATTRIBUTE(5, mg_lt_matmul, transc),
    ATTRIBUTE(6, mg_lt_matmul, fill),
    ATTRIBUTE(7, mg_lt_matmul, epilogue),
    ATTRIBUTE(8, mg_lt_matmul, bias),
    ATTRIBUTE(10, mg_lt_matmul, bias_stride),
    ATTRIBUTE(11, mg_lt_matmul, aux),
    ATTRIBUTE(12, mg_lt_matmul, aux_ld),
    ATTRIBUTE(13, mg_lt_matmul, aux_stride),
    ATTRIBUTE(15, mg_lt_matmul, sm_count),
    ATTRIBUTE(17, mg_lt_matmul, scales[0]),
    ATTRIBUTE(18, mg_lt_matmul, scales[1]),
    ATTRIBUTE(19, mg_lt_matmul, scales[2]),
    ATTRIBUTE(20, mg_lt_matmul, scales[3]),
    ATTRIBUTE(21, mg_lt_matmul, amax),
    ATTRIBUTE(22, mg_lt_matmul, aux_type),
    ATTRIBUTE(23, mg_lt_matmul, aux_scale),
    ATTRIBUTE(24, mg_lt_matmul, aux_amax),
    ATTRIBUTE(25, mg_lt_matmul, fast),
    ATTRIBUTE(26, mg_lt_matmul, bias_type),
    ATTRIBUTE(31, mg_lt_matmul, scale_modes[0]),
    ATTRIBUTE(32, mg_lt_matmul, scale_modes[1]),
    ATTRIBUTE(33, mg_lt_matmul, scale_modes[2]),
    ATTRIBUTE(34, mg_lt_matmul, scale_modes[3]),
    ATTRIBUTE(35, mg_lt_matmul, scale_modes[4]),
};
PUBLIC int cublasLtMatmulDescInit_internal(struct mg_lt_matmul *object, size_t size, int compute, int scale)
{
    if (!object || size < sizeof(*object))
        return CUBLAS_INVALID_VALUE;
    *object = (struct mg_lt_matmul){
        .compute = compute, .scale = scale, .fill = 2, .epilogue = LT_DEFAULT, .aux_type = -1, .bias_type = -1};
    return CUBLAS_SUCCESS;
}
CREATE(MatmulDesc, mg_lt_matmul, 256, LIST(int compute, int scale), LIST(compute, scale))
DESCRIPTOR(MatmulDesc, mg_lt_matmul, of_matmul)

/* ---- transforms ---- */
static const struct attribute of_transform[] = {
    ATTRIBUTE(0, mg_lt_transform, scale),
    ATTRIBUTE(1, mg_lt_transform, pointer_mode),
    ATTRIBUTE(2, mg_lt_transform, transa),
    ATTRIBUTE(3, mg_lt_transform, transb),
};
PUBLIC int cublasLtMatrixTransformDescInit_internal(struct mg_lt_transform *object, size_t size, int scale)
{
    if (!object || size < sizeof(*object))
        return CUBLAS_INVALID_VALUE;
    *object = (struct mg_lt_transform){.scale = scale};
    return CUBLAS_SUCCESS;
}
CREATE(MatrixTransformDesc, mg_lt_transform, 64, LIST(int scale), LIST(scale))
DESCRIPTOR(MatrixTransformDesc, mg_lt_transform, of_transform)

/* ---- preferences and algorithms ---- */
static const struct attribute of_preference[] = {
    ATTRIBUTE(0, mg_lt_preference, search),           ATTRIBUTE(1, mg_lt_preference, workspace),
    ATTRIBUTE(3, mg_lt_preference, reduction),        ATTRIBUTE(5, mg_lt_preference, alignment[0]),
    ATTRIBUTE(6, mg_lt_preference, alignment[1]),     ATTRIBUTE(7, mg_lt_preference, alignment[2]),
    ATTRIBUTE(8, mg_lt_preference, alignment[3]),     ATTRIBUTE(9, mg_lt_preference, waves),
    ATTRIBUTE(12, mg_lt_preference, implementations),
};
PUBLIC int cublasLtMatmulPreferenceInit_internal(struct mg_lt_preference *object, size_t size)
{
    if (!object || size < sizeof(*object))
        return CUBLAS_INVALID_VALUE;
    *object = (struct mg_lt_preference){.alignment = {256, 256, 256, 256}};
    return CUBLAS_SUCCESS;
}
CREATE(MatmulPreference, mg_lt_preference, 64, , )
DESCRIPTOR(MatmulPreference, mg_lt_preference, of_preference)

struct algorithm {
    uint64_t data[8];
};
struct heuristic { /* cublasLtMatmulHeuristicResult_t */
    struct algorithm algorithm;
    size_t workspace;
    int state;
    float waves;
    int reserved[4];
};

static int check(const struct mg_lt_matmul *desc, const struct mg_lt_layout *a, const struct mg_lt_layout *b,
                 const struct mg_lt_layout *c, const struct mg_lt_layout *d, struct mg_lt_call *call)
{
    if (!desc || !a || !b || !c || !d)
        return CUBLAS_INVALID_VALUE;
    *call = (struct mg_lt_call){.desc = *desc, .layout = {*a, *b, *c, *d}};
    if (!desc->bias) /* pointers may come later than the question */
        call->desc.bias = desc;
    if (!desc->aux)
        call->desc.aux = desc;
    if (!desc->aux_ld)
        call->desc.aux_ld = (int64_t)d->rows;
    return mg__lt_check(call);
}

PUBLIC int cublasLtMatmulAlgoGetHeuristic(void *handle, const struct mg_lt_matmul *desc, const struct mg_lt_layout *a,
                                          const struct mg_lt_layout *b, const struct mg_lt_layout *c,
                                          const struct mg_lt_layout *d, const void *preference, int wanted,
                                          struct heuristic *results, int *found)
{
    struct mg_lt_call call;
    if (!handle || !preference || !results || !found || wanted < 1)
        return CUBLAS_INVALID_VALUE;
    int status = check(desc, a, b, c, d, &call);
    *found = status == CUBLAS_SUCCESS;
    if (status == CUBLAS_SUCCESS)
        results[0] = (struct heuristic){.algorithm = {{1}}, .waves = 1};
    return status;
}

PUBLIC int cublasLtMatmulAlgoCheck(void *handle, const struct mg_lt_matmul *desc, const struct mg_lt_layout *a,
                                   const struct mg_lt_layout *b, const struct mg_lt_layout *c,
                                   const struct mg_lt_layout *d, const struct algorithm *algorithm,
                                   struct heuristic *result)
{
    struct mg_lt_call call;
    int status = handle && algorithm && result ? check(desc, a, b, c, d, &call) : CUBLAS_INVALID_VALUE;
    if (status == CUBLAS_SUCCESS)
        *result = (struct heuristic){.algorithm = *algorithm, .waves = 1};
    return status;
}

PUBLIC int cublasLtMatmulAlgoGetIds(void *handle, int compute, int scale, int a, int b, int c, int d, int wanted,
                                    int *ids, int *found)
{
    (void)compute, (void)scale, (void)a, (void)b, (void)c, (void)d;
    if (!handle || !ids || wanted < 1)
        return CUBLAS_INVALID_VALUE;
    ids[0] = 1;
    if (found)
        *found = 1;
    return CUBLAS_SUCCESS;
}

PUBLIC int cublasLtMatmulAlgoInit(void *handle, int compute, int scale, int a, int b, int c, int d, int id,
                                  struct algorithm *algorithm)
{
    (void)compute, (void)scale, (void)a, (void)b, (void)c, (void)d;
    if (!handle || !algorithm || id != 1)
        return CUBLAS_INVALID_VALUE;
    *algorithm = (struct algorithm){{1}};
    return CUBLAS_SUCCESS;
}

/* ---- what computes ---- */
PUBLIC int cublasLtMatmul(void *handle, const struct mg_lt_matmul *desc, const void *alpha, const void *a,
                          const struct mg_lt_layout *a_layout, const void *b, const struct mg_lt_layout *b_layout,
                          const void *beta, const void *c, const struct mg_lt_layout *c_layout, const void *d,
                          const struct mg_lt_layout *d_layout, const void *algorithm, void *workspace, size_t size,
                          void *stream)
{
    (void)algorithm, (void)workspace, (void)size;
    if (!handle)
        return CUBLAS_NOT_INITIALIZED;
    if (!desc || !alpha || !beta || !a_layout || !b_layout || !c_layout || !d_layout || !a || !b || !d)
        return CUBLAS_INVALID_VALUE;
    struct mg_lt_call call = {.desc = *desc,
                              .layout = {*a_layout, *b_layout, *c_layout, *d_layout},
                              .at = {a, b, c ? c : d, d},
                              .alpha = alpha,
                              .beta = beta};
    int status = mg__lt_run(&call, stream);
    if (status == CUBLAS_NOT_SUPPORTED)
        mg__hosted_missing("cublasLtMatmul with this order, epilogue or these scales", "CUBLAS_STATUS_NOT_SUPPORTED");
    return status;
}

PUBLIC int cublasLtMatrixTransform(void *handle, const struct mg_lt_transform *desc, const void *alpha, const void *a,
                                   const struct mg_lt_layout *a_layout, const void *beta, const void *b,
                                   const struct mg_lt_layout *b_layout, const void *c,
                                   const struct mg_lt_layout *c_layout, void *stream)
{
    const struct mg_lt_layout none = {0};
    if (!handle)
        return CUBLAS_NOT_INITIALIZED;
    if (!desc || !alpha || !a_layout || !c_layout || !a || !c)
        return CUBLAS_INVALID_VALUE;
    bool second = b && b_layout && beta;
    struct mg_lt_change change = {.desc = *desc,
                                  .layout = {*a_layout, second ? *b_layout : none, *c_layout},
                                  .at = {a, second ? b : NULL, c},
                                  .alpha = alpha,
                                  .beta = second ? beta : NULL};
    return mg__lt_change(&change, stream);
}

/* ---- the library ---- */
PUBLIC int cublasLtCreate(void **handle)
{
    if (!handle)
        return CUBLAS_INVALID_VALUE;
    if (!mg__hosted_ready("cuBLASLt"))
        return CUBLAS_NOT_INITIALIZED;
    *handle = mg__cublas_make();
    return *handle ? CUBLAS_SUCCESS : CUBLAS_ALLOC_FAILED;
}

PUBLIC int cublasLtDestroy(void *handle)
{
    free(handle);
    return CUBLAS_SUCCESS;
}

PUBLIC size_t cublasLtGetVersion(void)
{
    return MARGAY_CUBLAS == 12 ? 120901 : 130100;
}

PUBLIC size_t cublasLtGetCudartVersion(void)
{
    return MARGAY_CUBLAS == 12 ? 12090 : 13000;
}

PUBLIC int cublasLtGetProperty(int type, int *value)
{
    static const int numbers[] = {MARGAY_CUBLAS, MARGAY_CUBLAS == 12 ? 9 : 1, MARGAY_CUBLAS == 12 ? 1 : 0};
    if ((unsigned)type > 2 || !value)
        return CUBLAS_INVALID_VALUE;
    *value = numbers[type];
    return CUBLAS_SUCCESS;
}

PUBLIC const char *cublasLtGetStatusName(int status)
{
    return mg__cublas_state(status, true);
}

PUBLIC const char *cublasLtGetStatusString(int status)
{
    return mg__cublas_state(status, false);
}

/* ---- settings that change nothing: there is no log, and no heuristics whose answers are worth keeping ---- */
PUBLIC int cublasLtLoggerSetLevel(int level)
{
    return level < 0 || level > 5 ? CUBLAS_INVALID_VALUE : CUBLAS_SUCCESS;
}

PUBLIC int cublasLtLoggerSetMask(int mask)
{
    return mask < 0 ? CUBLAS_INVALID_VALUE : CUBLAS_SUCCESS;
}

PUBLIC int cublasLtLoggerForceDisable(void)
{
    return CUBLAS_SUCCESS;
}

PUBLIC int cublasLtHeuristicsCacheGetCapacity(size_t *capacity)
{
    if (!capacity)
        return CUBLAS_INVALID_VALUE;
    *capacity = 0;
    return CUBLAS_SUCCESS;
}

PUBLIC int cublasLtHeuristicsCacheSetCapacity(size_t capacity)
{
    (void)capacity;
    return CUBLAS_SUCCESS;
}

/* ---- what is not there ---- */
#define API(name)
#define API_LATER(name) HOSTED_LATER(name, "CUBLAS_STATUS_NOT_SUPPORTED", CUBLAS_NOT_SUPPORTED)
#include "cublas/lt.def"
