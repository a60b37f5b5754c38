/* handle.c - handles and what they are told, versions, states in words, copies between host and device.
 *
 * Compiled once a version of the library, like names.c. What changes nothing of what is computed (math and atomics
 * modes, workspaces, the number of SMs) is kept and given back.
 */
#include "cublas/cublas.h"
#include "hosted/names.h"

#include <stdlib.h>
#include <string.h>

#if MARGAY_CUBLAS == 12
enum { MAJOR = 12, MINOR = 9, PATCH = 1 };
#else
enum { MAJOR = 13, MINOR = 1, PATCH = 0 };
#endif

PUBLIC int cublasCreate_v2(struct mg_cublas **handle)
{
    if (!handle)
        return CUBLAS_INVALID_VALUE;
    if (!mg__hosted_ready("cuBLAS"))
        return CUBLAS_NOT_INITIALIZED;
    *handle = mg__cublas_make();
    return *handle ? CUBLAS_SUCCESS : CUBLAS_ALLOC_FAILED;
}

PUBLIC int cublasDestroy_v2(struct mg_cublas *handle)
{
    if (!mg__cublas_live(handle))
        return CUBLAS_NOT_INITIALIZED;
    handle->magic = 0;
    free(handle);
    return CUBLAS_SUCCESS;
}

PUBLIC int cublasGetVersion_v2(struct mg_cublas *handle, int *version)
{
    (void)handle;
    if (!version)
        return CUBLAS_INVALID_VALUE;
    *version = MAJOR * 10000 + MINOR * 100 + PATCH;
    return CUBLAS_SUCCESS;
}

PUBLIC int cublasGetProperty(int type, int *value)
{
    static const int numbers[] = {MAJOR, MINOR, PATCH};
    if ((unsigned)type > 2 || !value)
        return CUBLAS_INVALID_VALUE;
    *value = numbers[type];
    return CUBLAS_SUCCESS;
}

PUBLIC size_t cublasGetCudartVersion(void)
{
    return MAJOR * 1000 + (MAJOR == 12 ? 90 : 0);
}

PUBLIC int cublasSetWorkspace_v2(struct mg_cublas *handle, void *workspace, size_t size)
{
    (void)workspace, (void)size;
    return mg__cublas_live(handle) ? CUBLAS_SUCCESS : CUBLAS_NOT_INITIALIZED;
}

/* A pair of functions that set and get a field. */
#define FIELD(set, get, type, field, ok)                        \
    PUBLIC int set(struct mg_cublas *handle, type value)        \
    {                                                           \
        if (!mg__cublas_live(handle))                           \
            return CUBLAS_NOT_INITIALIZED;                      \
        if (!(ok))                                              \
            return CUBLAS_INVALID_VALUE;                        \
        handle->field = value;                                  \
        return CUBLAS_SUCCESS;                                  \
    }                                                           \
    PUBLIC int get(const struct mg_cublas *handle, type *value) \
    {                                                           \
        if (!mg__cublas_live(handle))                           \
            return CUBLAS_NOT_INITIALIZED;                      \
        if (!value)                                             \
            return CUBLAS_INVALID_VALUE;                        \
        *value = handle->field;                                 \
        return CUBLAS_SUCCESS;                                  \
    }
FIELD(cublasSetStream_v2, cublasGetStream_v2, void *, stream, true)
FIELD(cublasSetPointerMode_v2, cublasGetPointerMode_v2, int, pointer_mode, (unsigned)value <= 1)
FIELD(cublasSetAtomicsMode, cublasGetAtomicsMode, int, atomics_mode, (unsigned)value <= 1)
FIELD(cublasSetMathMode, cublasGetMathMode, int, math_mode, value >= 0)
FIELD(cublasSetSmCountTarget, cublasGetSmCountTarget, int, sm_count, value >= 0)

PUBLIC int cublasLoggerConfigure(int on, int to_stdout, int to_stderr, const char *file)
{
    (void)on, (void)to_stdout, (void)to_stderr, (void)file;
    return CUBLAS_SUCCESS;
}

PUBLIC int cublasSetLoggerCallback(void *callback)
{
    (void)callback;
    return CUBLAS_SUCCESS;
}

PUBLIC int cublasGetLoggerCallback(void **callback)
{
    if (!callback)
        return CUBLAS_INVALID_VALUE;
    *callback = NULL;
    return CUBLAS_SUCCESS;
}

PUBLIC const char *cublasGetStatusName(int status)
{
    return mg__cublas_state(status, true);
}

PUBLIC const char *cublasGetStatusString(int status)
{
    return mg__cublas_state(status, false);
}

/* ---- copies ---- */
enum { HOST_TO_DEVICE = 1, DEVICE_TO_HOST = 2 };

static int copy(int64_t rows, int64_t cols, int64_t size, const void *from, int64_t step_from, void *to,
                int64_t step_to, int kind, bool async, void *stream)
{
    int (*plain)(void *, size_t, const void *, size_t, size_t, size_t, int);
    int (*later)(void *, size_t, const void *, size_t, size_t, size_t, int, void *);
    if (!mg__hosted_ready("cuBLAS"))
        return CUBLAS_NOT_INITIALIZED;
    if (rows < 0 || cols < 0 || size <= 0 || step_from < (rows > 1 ? rows : 1) || step_to < (rows > 1 ? rows : 1))
        return CUBLAS_INVALID_VALUE;
    if (!rows || !cols)
        return CUBLAS_SUCCESS;
    *(void **)&plain = mg__hosted_cuda("cudaMemcpy2D");
    *(void **)&later = mg__hosted_cuda("cudaMemcpy2DAsync");
    size_t width = (size_t)(rows * size), pitch_to = (size_t)(step_to * size), pitch_from = (size_t)(step_from * size);
    int error = async ? later(to, pitch_to, from, pitch_from, width, (size_t)cols, kind, stream)
                      : plain(to, pitch_to, from, pitch_from, width, (size_t)cols, kind);
    return error ? 11 /* CUBLAS_STATUS_MAPPING_ERROR */ : CUBLAS_SUCCESS;
}

/* A vector is a matrix of one row; its elements are columns. */
#define COPIES(INT, end)                                                                                            \
    PUBLIC int cublasSetVector##end(INT n, INT size, const void *x, INT incx, void *y, INT incy)                    \
    {                                                                                                               \
        return copy(1, n, size, x, incx, y, incy, HOST_TO_DEVICE, false, NULL);                                     \
    }                                                                                                               \
    PUBLIC int cublasGetVector##end(INT n, INT size, const void *x, INT incx, void *y, INT incy)                    \
    {                                                                                                               \
        return copy(1, n, size, x, incx, y, incy, DEVICE_TO_HOST, false, NULL);                                     \
    }                                                                                                               \
    PUBLIC int cublasSetMatrix##end(INT rows, INT cols, INT size, const void *a, INT lda, void *b, INT ldb)         \
    {                                                                                                               \
        return copy(rows, cols, size, a, lda, b, ldb, HOST_TO_DEVICE, false, NULL);                                 \
    }                                                                                                               \
    PUBLIC int cublasGetMatrix##end(INT rows, INT cols, INT size, const void *a, INT lda, void *b, INT ldb)         \
    {                                                                                                               \
        return copy(rows, cols, size, a, lda, b, ldb, DEVICE_TO_HOST, false, NULL);                                 \
    }                                                                                                               \
    PUBLIC int cublasSetVectorAsync##end(INT n, INT size, const void *x, INT incx, void *y, INT incy, void *stream) \
    {                                                                                                               \
        return copy(1, n, size, x, incx, y, incy, HOST_TO_DEVICE, true, stream);                                    \
    }                                                                                                               \
    PUBLIC int cublasGetVectorAsync##end(INT n, INT size, const void *x, INT incx, void *y, INT incy, void *stream) \
    {                                                                                                               \
        return copy(1, n, size, x, incx, y, incy, DEVICE_TO_HOST, true, stream);                                    \
    }                                                                                                               \
    PUBLIC int cublasSetMatrixAsync##end(INT rows, INT cols, INT size, const void *a, INT lda, void *b, INT ldb,    \
                                         void *stream)                                                              \
    {                                                                                                               \
        return copy(rows, cols, size, a, lda, b, ldb, HOST_TO_DEVICE, true, stream);                                \
    }                                                                                                               \
    PUBLIC int cublasGetMatrixAsync##end(INT rows, INT cols, INT size, const void *a, INT lda, void *b, INT ldb,    \
                                         void *stream)                                                              \
    {                                                                                                               \
        return copy(rows, cols, size, a, lda, b, ldb, DEVICE_TO_HOST, true, stream);                                \
    }
COPIES(int, )
COPIES(int64_t, _64)
