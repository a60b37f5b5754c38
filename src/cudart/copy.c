/* copy.c - copies and fills: linear, two- and three-dimensional, to and from symbols.
 *
 * All memory is one address space here, so a copy is a memmove once its ranges have been checked as a GPU checks them:
 * a range that begins in an allocation must end in it, an address in the device's range that no allocation holds is
 * invalid, and the side that the kind calls device must be memory that CUDA knows. Copies to CUDA arrays come with
 * textures.
 *
 * Launches are synchronous, so a copy always finds the kernels before it finished.
 */
#include "cudart/cudart.h"

enum { MAX_PITCH = 0x7fffffff };

/* A box of `height` × `depth` rows of `width` bytes, `pitch` bytes apart, slices `slice` bytes apart. */
struct box {
    void *at;
    size_t pitch, slice;
};

/* Bytes from the first to past the last of the box; false when the sum overflows. */
static bool span(const struct box *box, struct cu_extent size, uint64_t *bytes)
{
    uint64_t rows, slices;
    return !__builtin_mul_overflow((uint64_t)(size.height - 1), box->pitch, &rows) &&
           !__builtin_mul_overflow((uint64_t)(size.depth - 1), box->slice, &slices) &&
           !__builtin_add_overflow(rows, slices, &rows) && !__builtin_add_overflow(rows, size.width, bytes);
}

static bool side_ok(const void *pointer, uint64_t bytes, bool device)
{
    uint64_t left;
    enum cudart_kind kind = mg__cudart_classify(pointer, &left, NULL);
    bool good = pointer && kind != CUDART_WILD && !(device && kind == CUDART_PAGEABLE) && left >= bytes;
    if (!good)
        mg__check_bad_range(mg__cudart.check, mg__cudart_call.name, (uint64_t)(uintptr_t)pointer, bytes, true);
    return good;
}

/* A side that the direction calls the host's, and that is the device's: it works, and is a mistake all the same. */
static void tell_direction(const void *pointer, uint64_t bytes, bool host)
{
    if (mg__cudart.check && host && mg__cudart_classify(pointer, NULL, NULL) == CUDART_DEVICE)
        mg__check_bad_range(mg__cudart.check, mg__cudart_call.name, (uint64_t)(uintptr_t)pointer, bytes, false);
}

static void begins(bool waits)
{
    const struct cudart_call *call = &mg__cudart_call;
    mg__check_begins(mg__cudart.check, call->name, call->stream, waits && !call->async);
}

static int copy_box(struct box dst, struct box src, struct cu_extent size, int kind)
{
    uint64_t dst_bytes, src_bytes;
    if (kind < CU_HOST_TO_HOST || kind > CU_DEFAULT)
        return cudaErrorInvalidMemcpyDirection;
    if (!size.width || !size.height || !size.depth)
        return 0;
    if (!span(&dst, size, &dst_bytes) || !span(&src, size, &src_bytes))
        return cudaErrorInvalidValue;
    if (!side_ok(dst.at, dst_bytes, kind == CU_HOST_TO_DEVICE || kind == CU_DEVICE_TO_DEVICE) ||
        !side_ok(src.at, src_bytes, kind == CU_DEVICE_TO_HOST || kind == CU_DEVICE_TO_DEVICE))
        return cudaErrorInvalidValue;
    tell_direction(dst.at, dst_bytes, kind == CU_DEVICE_TO_HOST || kind == CU_HOST_TO_HOST);
    tell_direction(src.at, src_bytes, kind == CU_HOST_TO_DEVICE || kind == CU_HOST_TO_HOST);
    begins(true);
    for (size_t z = 0; z < size.depth; z++)
        for (size_t y = 0; y < size.height; y++) {
            char *to = (char *)dst.at + z * dst.slice + y * dst.pitch,
                 *from = (char *)src.at + z * src.slice + y * src.pitch;
            memmove(to, from, size.width);
            mg__check_copied(mg__cudart.check, (uint64_t)(uintptr_t)to, (uint64_t)(uintptr_t)from, size.width);
        }
    mg__check_ends(mg__cudart.check);
    return 0;
}

static struct box box_of(const void *at, size_t pitch)
{
    return (struct box){(void *)(uintptr_t)at, pitch, 0};
}

int mg__cudart_copy(void *dst, const void *src, size_t count, int kind)
{
    return copy_box(box_of(dst, 0), box_of(src, 0), (struct cu_extent){count, 1, 1}, kind);
}

static int copy_2d(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height, int kind)
{
    if (width > dpitch || width > spitch || dpitch > MAX_PITCH || spitch > MAX_PITCH)
        return cudaErrorInvalidPitchValue;
    return copy_box(box_of(dst, dpitch), box_of(src, spitch), (struct cu_extent){width, height, 1}, kind);
}

/* ---- linear and 2D ---- */
int mg__cudaMemcpy(void *dst, const void *src, size_t count, int kind)
{
    CUDART_ENTER();
    return mg__cudart_done(mg__cudart_copy(dst, src, count, kind));
}

int mg__cudaMemcpyAsync(void *dst, const void *src, size_t count, int kind, void *stream)
{
    CUDART_ENTER();
    if (!mg__cudart_stream_ok(stream))
        return mg__cudart_done(cudaErrorInvalidResourceHandle);
    return mg__cudart_done(mg__cudart_copy(dst, src, count, kind));
}

int mg__cudaMemcpyPeer(void *dst, int dst_device, const void *src, int src_device, size_t count)
{
    CUDART_ENTER();
    if (dst_device || src_device)
        return mg__cudart_done(cudaErrorInvalidDevice);
    return mg__cudart_done(mg__cudart_copy(dst, src, count, CU_DEVICE_TO_DEVICE));
}

int mg__cudaMemcpyPeerAsync(void *dst, int dst_device, const void *src, int src_device, size_t count, void *stream)
{
    CUDART_ENTER();
    if (!mg__cudart_stream_ok(stream))
        return mg__cudart_done(cudaErrorInvalidResourceHandle);
    return mg__cudaMemcpyPeer(dst, dst_device, src, src_device, count);
}

int mg__cudaMemcpy2D(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height, int kind)
{
    CUDART_ENTER();
    return mg__cudart_done(copy_2d(dst, dpitch, src, spitch, width, height, kind));
}

int mg__cudaMemcpy2DAsync(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
                          int kind, void *stream)
{
    CUDART_ENTER();
    if (!mg__cudart_stream_ok(stream))
        return mg__cudart_done(cudaErrorInvalidResourceHandle);
    return mg__cudart_done(copy_2d(dst, dpitch, src, spitch, width, height, kind));
}

/* ---- 3D: positions are in bytes along x, for there are no arrays ---- */
static int box_at(const struct cu_pitched_ptr *p, struct cu_pos pos, struct cu_extent size, struct box *box)
{
    size_t offset, row, slice;
    if (size.width && (size.width > p->pitch || pos.x > p->pitch - size.width))
        return cudaErrorInvalidValue;
    size_t rows = p->ysize ? p->ysize : size.height; /* one slice needs no height */
    if (pos.y > SIZE_MAX - size.height || (size.depth > 1 && rows < pos.y + size.height))
        return cudaErrorInvalidValue;
    if (__builtin_mul_overflow(rows, p->pitch, &slice) || __builtin_mul_overflow(pos.z, slice, &offset) ||
        __builtin_mul_overflow(pos.y, p->pitch, &row) || __builtin_add_overflow(offset, row, &offset) ||
        __builtin_add_overflow(offset, pos.x, &offset))
        return cudaErrorInvalidValue;
    *box = (struct box){(char *)p->ptr + offset, p->pitch, slice};
    return 0;
}

static int copy_3d(const struct cu_memcpy_3d *p)
{
    struct box dst, src;
    if (!p)
        return cudaErrorInvalidValue;
    if (p->src_array || p->dst_array)
        return mg__cudart_missing("cudaMemcpy3D for a CUDA array");
    int error = box_at(&p->src, p->src_pos, p->extent, &src);
    if (!error)
        error = box_at(&p->dst, p->dst_pos, p->extent, &dst);
    return error ? error : copy_box(dst, src, p->extent, p->kind);
}

int mg__cudaMemcpy3D(const struct cu_memcpy_3d *p)
{
    CUDART_ENTER();
    return mg__cudart_done(copy_3d(p));
}

int mg__cudaMemcpy3DAsync(const struct cu_memcpy_3d *p, void *stream)
{
    CUDART_ENTER();
    if (!mg__cudart_stream_ok(stream))
        return mg__cudart_done(cudaErrorInvalidResourceHandle);
    return mg__cudart_done(copy_3d(p));
}

int mg__cudaMemcpy3DPeer(const struct cu_memcpy_3d_peer *p)
{
    CUDART_ENTER();
    if (!p)
        return mg__cudart_done(cudaErrorInvalidValue);
    if (p->src_device || p->dst_device)
        return mg__cudart_done(cudaErrorInvalidDevice);
    struct cu_memcpy_3d q = {p->src_array, p->src_pos, p->src,    p->dst_array,
                             p->dst_pos,   p->dst,     p->extent, CU_DEVICE_TO_DEVICE};
    return mg__cudart_done(copy_3d(&q));
}

int mg__cudaMemcpy3DPeerAsync(const struct cu_memcpy_3d_peer *p, void *stream)
{
    CUDART_ENTER();
    if (!mg__cudart_stream_ok(stream))
        return mg__cudart_done(cudaErrorInvalidResourceHandle);
    return mg__cudaMemcpy3DPeer(p);
}

/* ---- symbols ---- */
static int copy_symbol(const void *symbol, void *other, size_t count, size_t offset, int kind, bool to_symbol)
{
    struct cudart_var *var;
    int wrong = to_symbol ? CU_DEVICE_TO_HOST : CU_HOST_TO_DEVICE;
    int error = mg__cudart_var_find(symbol, &var);
    if (error)
        return error;
    if (kind == CU_HOST_TO_HOST || kind == wrong || kind < 0 || kind > CU_DEFAULT)
        return cudaErrorInvalidMemcpyDirection;
    if (offset > var->device_size || count > var->device_size - offset)
        return cudaErrorInvalidValue;
    char *at = (char *)(uintptr_t)var->address + offset;
    return to_symbol ? mg__cudart_copy(at, other, count, kind) : mg__cudart_copy(other, at, count, kind);
}

int mg__cudaMemcpyToSymbol(const void *symbol, const void *src, size_t count, size_t offset, int kind)
{
    CUDART_ENTER();
    return mg__cudart_done(copy_symbol(symbol, (void *)(uintptr_t)src, count, offset, kind, true));
}

int mg__cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t count, size_t offset, int kind)
{
    CUDART_ENTER();
    return mg__cudart_done(copy_symbol(symbol, dst, count, offset, kind, false));
}

int mg__cudaMemcpyToSymbolAsync(const void *symbol, const void *src, size_t count, size_t offset, int kind,
                                void *stream)
{
    CUDART_ENTER();
    if (!mg__cudart_stream_ok(stream))
        return mg__cudart_done(cudaErrorInvalidResourceHandle);
    return mg__cudart_done(copy_symbol(symbol, (void *)(uintptr_t)src, count, offset, kind, true));
}

int mg__cudaMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t count, size_t offset, int kind, void *stream)
{
    CUDART_ENTER();
    if (!mg__cudart_stream_ok(stream))
        return mg__cudart_done(cudaErrorInvalidResourceHandle);
    return mg__cudart_done(copy_symbol(symbol, dst, count, offset, kind, false));
}

/* ---- fills ---- */
static int fill(struct box dst, int value, struct cu_extent size)
{
    uint64_t bytes;
    if (!size.width || !size.height || !size.depth)
        return 0;
    if (!span(&dst, size, &bytes) || !side_ok(dst.at, bytes, true))
        return cudaErrorInvalidValue;
    begins(false); /* a fill goes on by itself */
    for (size_t z = 0; z < size.depth; z++)
        for (size_t y = 0; y < size.height; y++) {
            char *to = (char *)dst.at + z * dst.slice + y * dst.pitch;
            memset(to, value, size.width);
            mg__check_filled(mg__cudart.check, (uint64_t)(uintptr_t)to, size.width);
        }
    mg__check_ends(mg__cudart.check);
    return 0;
}

static int fill_2d(void *at, size_t pitch, int value, size_t width, size_t height)
{
    if (height > 1 && width > pitch)
        return cudaErrorInvalidPitchValue;
    return fill(box_of(at, pitch), value, (struct cu_extent){width, height, 1});
}

static int fill_3d(const struct cu_pitched_ptr *p, int value, struct cu_extent size)
{
    struct box box;
    int error = box_at(p, (struct cu_pos){0, 0, 0}, size, &box);
    return error ? error : fill(box, value, size);
}

int mg__cudaMemset(void *pointer, int value, size_t count)
{
    CUDART_ENTER();
    return mg__cudart_done(fill(box_of(pointer, 0), value, (struct cu_extent){count, 1, 1}));
}

int mg__cudaMemsetAsync(void *pointer, int value, size_t count, void *stream)
{
    CUDART_ENTER();
    if (!mg__cudart_stream_ok(stream))
        return mg__cudart_done(cudaErrorInvalidResourceHandle);
    return mg__cudart_done(fill(box_of(pointer, 0), value, (struct cu_extent){count, 1, 1}));
}

int mg__cudaMemset2D(void *pointer, size_t pitch, int value, size_t width, size_t height)
{
    CUDART_ENTER();
    return mg__cudart_done(fill_2d(pointer, pitch, value, width, height));
}

int mg__cudaMemset2DAsync(void *pointer, size_t pitch, int value, size_t width, size_t height, void *stream)
{
    CUDART_ENTER();
    if (!mg__cudart_stream_ok(stream))
        return mg__cudart_done(cudaErrorInvalidResourceHandle);
    return mg__cudart_done(fill_2d(pointer, pitch, value, width, height));
}

int mg__cudaMemset3D(struct cu_pitched_ptr pointer, int value, struct cu_extent size)
{
    CUDART_ENTER();
    return mg__cudart_done(fill_3d(&pointer, value, size));
}

int mg__cudaMemset3DAsync(struct cu_pitched_ptr pointer, int value, struct cu_extent size, void *stream)
{
    CUDART_ENTER();
    if (!mg__cudart_stream_ok(stream))
        return mg__cudart_done(cudaErrorInvalidResourceHandle);
    return mg__cudart_done(fill_3d(&pointer, value, size));
}
