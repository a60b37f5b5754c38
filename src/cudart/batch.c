/* batch.c - many copies in one call (cuda 12.8), and the driver's log, in which nothing stands.
 *
 * A batch stands in its stream as one, and its copies have no order among themselves: here they are made one after the
 * other. What its attributes say of a source is kept: in the order of the stream; or read before the call returns, for
 * which the call waits for the stream, since an earlier copy of a pinned source would be one at another time. Hints of
 * places are of no effect. The stream that all threads share is refused, as documented.
 */
#include "cudart/calls.h"
#include "cudart/cudart.h"
#include "cudart/graph.h"

enum { ORDER_STREAM = 1, ORDER_DURING_CALL, ORDER_ANY };

struct attributes { /* cudaMemcpyAttributes, CUmemcpyAttributes */
    int order;
    struct cu_location from, to;
    unsigned flags;
};

/* Whether each copy has attributes; `during`: some source is to be read before the call returns. */
static bool attributes_ok(const struct attributes *list, const size_t *first, size_t n, size_t count, bool *during)
{
    *during = false;
    if (!list || !first || n == 0 || n > count || first[0] != 0)
        return false;
    for (size_t i = 0; i < n; i++) {
        if (list[i].order < ORDER_STREAM || list[i].order > ORDER_ANY || list[i].flags > 1 || first[i] >= count ||
            (i && first[i] <= first[i - 1]))
            return false;
        *during |= list[i].order == ORDER_DURING_CALL;
    }
    return true;
}

int mg__cudart_copy_batch(void *const *to, const void *const *from, const size_t *sizes, size_t count,
                          const void *attributes, const size_t *first, size_t n, size_t *failed, void *stream)
{
    bool during;
    if (failed)
        *failed = SIZE_MAX;
    if (!to || !from || !sizes || !count || !attributes_ok(attributes, first, n, count, &during) || !stream ||
        stream == (void *)(uintptr_t)CU_STREAM_LEGACY)
        return cudaErrorInvalidValue;
    if (!mg__cudart_stream_ok(stream))
        return cudaErrorInvalidResourceHandle;
    for (size_t i = 0; i < count; i++) {
        int error = mg__cudart_copy((void *)to[i], from[i], sizes[i], CU_DEFAULT);
        if (error && failed)
            *failed = i;
        if (error)
            return error;
    }
    int error = during ? mg__capture_forbids_wait(false) : 0;
    return during && !error ? mg__cudart_wait() : error;
}

int mg__cudaMemcpyBatchAsync_13(void *const *to, const void *const *from, const size_t *sizes, size_t count,
                                const void *attributes, const size_t *first, size_t n, void *stream);
int mg__cudaMemcpyBatchAsync_13(void *const *to, const void *const *from, const size_t *sizes, size_t count,
                                const void *attributes, const size_t *first, size_t n, void *stream)
{
    CUDART_ENTER();
    return mg__cudart_done(mg__cudart_copy_batch(to, from, sizes, count, attributes, first, n, NULL, stream));
}

int mg__cudaMemcpyBatchAsync_12(void *const *to, const void *const *from, const size_t *sizes, size_t count,
                                const void *attributes, const size_t *first, size_t n, size_t *failed, void *stream);
int mg__cudaMemcpyBatchAsync_12(void *const *to, const void *const *from, const size_t *sizes, size_t count,
                                const void *attributes, const size_t *first, size_t n, size_t *failed, void *stream)
{
    CUDART_ENTER();
    return mg__cudart_done(mg__cudart_copy_batch(to, from, sizes, count, attributes, first, n, failed, stream));
}

/* ---- the log: what fails is told on standard error or in the report, and a log that is read is empty ---- */
int mg__cudaLogsRegisterCallback(void *call, void *arg, void **handle);
int mg__cudaLogsRegisterCallback(void *call, void *arg, void **handle)
{
    (void)arg;
    if (!call)
        return cudaErrorInvalidValue;
    if (handle)
        *handle = call; /* told apart by what they call: nothing comes to any */
    return 0;
}

int mg__cudaLogsUnregisterCallback(const void *handle);
int mg__cudaLogsUnregisterCallback(const void *handle)
{
    return handle ? 0 : cudaErrorInvalidValue;
}

int mg__cudaLogsCurrent(unsigned *iterator, unsigned flags);
int mg__cudaLogsCurrent(unsigned *iterator, unsigned flags)
{
    if (!iterator || flags)
        return cudaErrorInvalidValue;
    *iterator = 0;
    return 0;
}

int mg__cudaLogsDumpToFile(const unsigned *iterator, const char *path, unsigned flags);
int mg__cudaLogsDumpToFile(const unsigned *iterator, const char *path, unsigned flags)
{
    (void)iterator;
    FILE *file = path && !flags ? fopen(path, "w") : NULL;
    return file && fclose(file) == 0 ? 0 : cudaErrorInvalidValue;
}

int mg__cudaLogsDumpToMemory(const unsigned *iterator, char *buffer, size_t *size, unsigned flags);
int mg__cudaLogsDumpToMemory(const unsigned *iterator, char *buffer, size_t *size, unsigned flags)
{
    (void)iterator;
    if (!buffer || !size || !*size || flags)
        return cudaErrorInvalidValue;
    buffer[0] = '\0';
    *size = 0;
    return 0;
}
