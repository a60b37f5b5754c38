/* copy.c - copies and sets: every form of them is a box of bytes to the runtime (cudart/copy.c), and an array, too. */
#include "cuda/driver.h"
#include "cudart/array.h"

static void *at(uint64_t address)
{
    return (void *)(uintptr_t)address;
}

static int in_stream(void *stream)
{
    return mg__cudart_stream_ok(stream) ? 0 : CUDA_ERROR_INVALID_HANDLE;
}

/* ---- linear ---- */
static int line(void *to, const void *from, size_t size, int kind)
{
    return mg__cudart_copy(to, from, size, kind);
}

static int line_async(void *to, const void *from, size_t size, int kind, void *stream)
{
    int error = in_stream(stream);
    return error ? error : mg__cudart_copy(to, from, size, kind);
}

CUDA_SAME(cuMemcpy, (uint64_t to, uint64_t from, size_t size), line(at(to), at(from), size, CU_DEFAULT))
CUDA_SAME(cuMemcpyAsync, (uint64_t to, uint64_t from, size_t size, void *stream),
          line_async(at(to), at(from), size, CU_DEFAULT, stream))
CUDA_SAME(cuMemcpyHtoD, (uint64_t to, const void *from, size_t size), line(at(to), from, size, CU_HOST_TO_DEVICE))
CUDA_SAME(cuMemcpyHtoDAsync, (uint64_t to, const void *from, size_t size, void *stream),
          line_async(at(to), from, size, CU_HOST_TO_DEVICE, stream))
CUDA_SAME(cuMemcpyDtoH, (void *to, uint64_t from, size_t size), line(to, at(from), size, CU_DEVICE_TO_HOST))
CUDA_SAME(cuMemcpyDtoHAsync, (void *to, uint64_t from, size_t size, void *stream),
          line_async(to, at(from), size, CU_DEVICE_TO_HOST, stream))
CUDA_SAME(cuMemcpyDtoD, (uint64_t to, uint64_t from, size_t size), line(at(to), at(from), size, CU_DEVICE_TO_DEVICE))
CUDA_SAME(cuMemcpyDtoDAsync, (uint64_t to, uint64_t from, size_t size, void *stream),
          line_async(at(to), at(from), size, CU_DEVICE_TO_DEVICE, stream))

CUDA_SAME(cuMemcpyBatchAsync,
          (void *const *to, const void *const *from, const size_t *sizes, size_t count, const void *attributes,
           const size_t *first, size_t n, size_t *failed, void *stream),
          mg__cudart_copy_batch(to, from, sizes, count, attributes, first, n, failed, stream))
CUDA_SAME(cuMemcpyBatchAsync_v2,
          (void *const *to, const void *const *from, const size_t *sizes, size_t count, const void *attributes,
           const size_t *first, size_t n, void *stream),
          mg__cudart_copy_batch(to, from, sizes, count, attributes, first, n, NULL, stream))

static int contexts_ok(const void *to, const void *from)
{
    const struct cudart_context *a = to ? mg__cudart_context_of(to) : mg__cudart_current(),
                                *b = from ? mg__cudart_context_of(from) : mg__cudart_current();
    return a && b && a->device && b->device ? 0 : CUDA_ERROR_INVALID_CONTEXT;
}

static int peer(uint64_t to, void *to_context, uint64_t from, void *from_context, size_t size)
{
    int error = contexts_ok(to_context, from_context);
    return error ? error : line(at(to), at(from), size, CU_DEVICE_TO_DEVICE);
}

static int peer_async(uint64_t to, void *to_context, uint64_t from, void *from_context, size_t size, void *stream)
{
    int error = contexts_ok(to_context, from_context);
    return error ? error : line_async(at(to), at(from), size, CU_DEVICE_TO_DEVICE, stream);
}

CUDA_SAME(cuMemcpyPeer, (uint64_t to, void *to_context, uint64_t from, void *from_context, size_t size),
          peer(to, to_context, from, from_context, size))
CUDA_SAME(cuMemcpyPeerAsync,
          (uint64_t to, void *to_context, uint64_t from, void *from_context, size_t size, void *stream),
          peer_async(to, to_context, from, from_context, size, stream))

/* ---- boxes ---- */
struct place {
    int type;
    const void *host;
    uint64_t device;
    size_t pitch, rows, x, y, z;
    const void *array;
};

static int array_box(const struct place *p, struct cu_extent size, struct cudart_box *box)
{
    const struct cudart_array *a = mg__cudart_array_known(p->array);
    return a ? mg__cudart_array_box(a, (struct cu_pos){p->x, p->y, p->z}, size, box) : CUDA_ERROR_INVALID_HANDLE;
}

static int box_of(const struct place *p, struct cu_extent size, struct cudart_box *box)
{
    size_t slice, end, y, z;
    size_t pitch = p->pitch ? p->pitch : size.width, rows = p->rows ? p->rows : size.height;
    if (p->type < CU_TYPE_HOST || p->type > CU_TYPE_UNIFIED)
        return CUDA_ERROR_INVALID_VALUE;
    if (p->type == CU_TYPE_ARRAY)
        return array_box(p, size, box);
    bool narrow = __builtin_add_overflow(p->x, size.width, &end) || end > pitch;
    if ((narrow && (size.height > 1 || size.depth > 1 || p->pitch)) ||
        (size.depth > 1 && (__builtin_add_overflow(p->y, size.height, &end) || end > rows)) ||
        __builtin_mul_overflow(pitch, rows, &slice) || __builtin_mul_overflow(p->y, pitch, &y) ||
        __builtin_mul_overflow(p->z, slice, &z) || __builtin_add_overflow(y, z, &end) ||
        __builtin_add_overflow(end, p->x, &end))
        return CUDA_ERROR_INVALID_VALUE;
    const char *base = p->type == CU_TYPE_HOST ? p->host : at(p->device);
    if (!base)
        return CUDA_ERROR_INVALID_VALUE;
    *box = (struct cudart_box){(char *)(uintptr_t)base + end, pitch, slice};
    return 0;
}

int mg__cuda_copy_kind(int to, int from)
{
    if (to == CU_TYPE_UNIFIED || from == CU_TYPE_UNIFIED)
        return CU_DEFAULT;
    return from == CU_TYPE_HOST ? to == CU_TYPE_HOST ? CU_HOST_TO_HOST : CU_HOST_TO_DEVICE
           : to == CU_TYPE_HOST ? CU_DEVICE_TO_HOST
                                : CU_DEVICE_TO_DEVICE;
}

static int copy(const struct place *to, const struct place *from, struct cu_extent size)
{
    struct cudart_box a, b;
    if (!size.width || !size.height || !size.depth)
        return 0;
    int error = box_of(to, size, &a);
    if (!error)
        error = box_of(from, size, &b);
    return error ? error : mg__cudart_copy_box(a, b, size, mg__cuda_copy_kind(to->type, from->type));
}

static int copy_2d(const struct cu_memcpy_2d *p)
{
    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    return copy(
        &(struct place){p->dst_type, p->dst_host, p->dst_device, p->dst_pitch, 0, p->dst_x, p->dst_y, 0, p->dst_array},
        &(struct place){p->src_type, p->src_host, p->src_device, p->src_pitch, 0, p->src_x, p->src_y, 0, p->src_array},
        (struct cu_extent){p->width, p->height, 1});
}

static int copy_3d(const struct cu_memcpy3d *p)
{
    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    return copy(&(struct place){p->dst_type, p->dst_host, p->dst_device, p->dst_pitch, p->dst_height, p->dst_x,
                                p->dst_y, p->dst_z, p->dst_array},
                &(struct place){p->src_type, p->src_host, p->src_device, p->src_pitch, p->src_height, p->src_x,
                                p->src_y, p->src_z, p->src_array},
                (struct cu_extent){p->width, p->height, p->depth});
}

static int copy_3d_peer(const struct cu_memcpy3d *p)
{
    int error = p ? contexts_ok(p->dst_context, p->src_context) : CUDA_ERROR_INVALID_VALUE;
    return error ? error : copy_3d(p);
}

/* An expression, once the stream is known to be one. */
#define IN_STREAM(stream, call) (mg__cudart_stream_ok(stream) ? (call) : CUDA_ERROR_INVALID_HANDLE)

CUDA_SAME(cuMemcpy2D, (const struct cu_memcpy_2d *p), copy_2d(p))
CUDA_SAME(cuMemcpy2DUnaligned, (const struct cu_memcpy_2d *p), copy_2d(p))
CUDA_SAME(cuMemcpy2DAsync, (const struct cu_memcpy_2d *p, void *stream), IN_STREAM(stream, copy_2d(p)))
CUDA_SAME(cuMemcpy3D, (const struct cu_memcpy3d *p), copy_3d(p))
CUDA_SAME(cuMemcpy3DAsync, (const struct cu_memcpy3d *p, void *stream), IN_STREAM(stream, copy_3d(p)))
CUDA_SAME(cuMemcpy3DPeer, (const struct cu_memcpy3d *p), copy_3d_peer(p))
CUDA_SAME(cuMemcpy3DPeerAsync, (const struct cu_memcpy3d *p, void *stream), IN_STREAM(stream, copy_3d_peer(p)))

/* ---- sets ---- */
static int set(uint64_t address, size_t pitch, uint32_t value, unsigned unit, size_t width, size_t height)
{
    size_t bytes;
    if (address % unit || __builtin_mul_overflow(width, unit, &bytes) ||
        (height > 1 && (pitch < bytes || pitch % unit)))
        return CUDA_ERROR_INVALID_VALUE;
    return mg__cudart_fill((struct cudart_box){at(address), pitch, 0}, value, unit,
                           (struct cu_extent){bytes, height, 1});
}

#define SETS(bits, type)                                                                                       \
    CUDA_SAME(cuMemsetD##bits, (uint64_t to, type value, size_t count), set(to, 0, value, bits / 8, count, 1)) \
    CUDA_SAME(cuMemsetD##bits##Async, (uint64_t to, type value, size_t count, void *stream),                   \
              IN_STREAM(stream, set(to, 0, value, bits / 8, count, 1)))                                        \
    CUDA_SAME(cuMemsetD2D##bits, (uint64_t to, size_t pitch, type value, size_t width, size_t height),         \
              set(to, pitch, value, bits / 8, width, height))                                                  \
    CUDA_SAME(cuMemsetD2D##bits##Async,                                                                        \
              (uint64_t to, size_t pitch, type value, size_t width, size_t height, void *stream),              \
              IN_STREAM(stream, set(to, pitch, value, bits / 8, width, height)))
SETS(8, unsigned char)
SETS(16, unsigned short)
SETS(32, unsigned)
