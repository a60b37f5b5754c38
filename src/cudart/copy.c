/* copy.c - copies and fills: linear, two- and three-dimensional, to and from symbols.
 *
 * All memory is one address space here, so a copy is a memmove once its ranges have been checked as a GPU checks them:
 * a range that begins in an allocation must end in it, an address in the device's range that no allocation holds is
 * invalid, and the side that the kind calls device must be memory that CUDA knows. An array is the box that it
 * is (array.c).
 *
 * A copy whose stream has nothing left to do is made at once, and any other when its turn comes (device/queue.h); then
 * the call waits where CUDA says that it does. What comes from pageable memory is taken by the time the call returns,
 * but in a graph, whose nodes read it in their turn. In a stream that is captured it becomes a node (graph.h).
 */
#include "cudart/array.h"
#include "cudart/graph.h"
#include "device/timeline.h"

enum { MAX_PITCH = 0x7fffffff };

/* Bytes from the first to past the last of the box; false when the sum overflows. */
static bool span(const struct cudart_box *box, struct cu_extent size, uint64_t *bytes)
{
    uint64_t rows, slices;
    return !__builtin_mul_overflow((uint64_t)(size.height - 1), box->pitch, &rows) &&
           !__builtin_mul_overflow((uint64_t)(size.depth - 1), box->slice, &slices) &&
           !__builtin_add_overflow(rows, slices, &rows) && !__builtin_add_overflow(rows, size.width, bytes);
}

/* One side of a copy, or what is filled: where it lies, and whose it is. */
struct side {
    struct cudart_box box;
    uint64_t bytes;
    enum cudart_kind kind;
    struct cudart_device *device; /* NULL: nobody's */
};

static struct mg_check *check_of(const struct side *side)
{
    return (side->device ? side->device : mg__cudart_here())->device->check;
}

static bool side_ok(struct side *side, bool device)
{
    struct cudart_alloc alloc;
    uint64_t left;
    const void *pointer = side->box.at;
    side->kind = mg__cudart_classify(pointer, &left, &alloc);
    side->device = alloc.device;
    bool good =
        pointer && side->kind != CUDART_WILD && !(device && side->kind == CUDART_PAGEABLE) && left >= side->bytes;
    if (!good)
        mg__check_bad_range(check_of(side), mg__cudart_call.name, (uint64_t)(uintptr_t)pointer, side->bytes, true);
    return good;
}

/* A side that the direction calls the host's, and that is the device's: it works, and is a mistake all the same. */
static void tell_direction(const struct side *side, bool host)
{
    if (host && side->kind == CUDART_DEVICE)
        mg__check_bad_range(check_of(side), mg__cudart_call.name, (uint64_t)(uintptr_t)side->box.at, side->bytes,
                            false);
}

static char *row_of(const struct cudart_box *box, size_t y, size_t z)
{
    return (char *)box->at + z * box->slice + y * box->pitch;
}

/* What `device` has to know of a copy (src NULL: a fill). Its checks keep order within it: what another device's stream
 * does counts as if the host had waited for all before and for this. */
static void tell_check(struct cudart_device *device, const struct side *dst, const struct side *src,
                       struct cu_extent size, bool waits)
{
    const struct cudart_call *call = &mg__cudart_call;
    struct mg_check *check = device->device->check;
    bool own = call->device == device;
    if (!check)
        return;
    if (!own)
        mg__check_host_waited(check, 0, true);
    mg__check_begins(check, call->name, own ? call->stream : 0, own ? waits && !call->async : true);
    for (size_t z = 0; z < size.depth; z++)
        for (size_t y = 0; y < size.height; y++) {
            uint64_t to = (uint64_t)(uintptr_t)row_of(&dst->box, y, z);
            if (src)
                mg__check_copied(check, to, (uint64_t)(uintptr_t)row_of(&src->box, y, z), size.width);
            else
                mg__check_filled(check, to, size.width);
        }
    mg__check_ends(check);
}

static void tell_checks(const struct side *dst, const struct side *src, struct cu_extent size, bool waits)
{
    struct cudart_device *here = mg__cudart_call.device, *to = dst->device, *from = src ? src->device : NULL;
    tell_check(here, dst, src, size, waits);
    if (to && to != here)
        tell_check(to, dst, src, size, waits);
    if (from && from != here && from != to)
        tell_check(from, dst, src, size, waits);
}

/* ---- now or later ---- */
struct transfer {
    struct side dst, src;
    struct cu_extent size;
    int way; /* as the call had it; of a fill none */
    bool fills;
    uint32_t value; /* of so many bytes: 1, 2 or 4 */
    unsigned unit;
    struct cudart_call call; /* that asked for it */
    char staged[];           /* what was in pageable memory */
};

static void fill_row(char *at, uint32_t value, unsigned unit, size_t bytes)
{
    if (unit == 1)
        memset(at, (int)value, bytes);
    else
        for (size_t i = 0; i < bytes; i += unit)
            memcpy(at + i, &value, unit); /* the low bytes come first */
}

/* Managed memory that the device writes to is with it from then on. */
static void bring(const struct transfer *t)
{
    for (size_t z = 0; t->dst.kind == CUDART_MANAGED && t->dst.device && z < t->size.depth; z++)
        for (size_t y = 0; y < t->size.height; y++)
            mg__mem_move(t->dst.device->device->simt, (uintptr_t)row_of(&t->dst.box, y, z), t->size.width, true);
}

static void transfer_now(const struct transfer *t)
{
    bring(t);
    for (size_t z = 0; z < t->size.depth; z++)
        for (size_t y = 0; y < t->size.height; y++)
            if (t->fills)
                fill_row(row_of(&t->dst.box, y, z), t->value, t->unit, t->size.width);
            else
                memmove(row_of(&t->dst.box, y, z), row_of(&t->src.box, y, z), t->size.width);
    tell_checks(&t->dst, t->fills ? NULL : &t->src, t->size, !t->fills); /* a fill goes on by itself */
}

static void transfer_later(void *arg)
{
    struct transfer *t = arg;
    struct cudart_call call = mg__cudart_call;
    mg__cudart_call = t->call;
    transfer_now(t);
    mg__cudart_call = call;
    free(t);
}

static struct transfer *put_off(const struct transfer *now, bool stage)
{
    struct cu_extent n = now->size;
    struct transfer *t = calloc(1, sizeof(*t) + (stage ? n.width * n.height * n.depth : 0));
    if (!t)
        return NULL;
    *t = *now;
    t->call = mg__cudart_call;
    if (stage) {
        t->src.box = (struct cudart_box){t->staged, n.width, n.width * n.height};
        for (size_t z = 0; z < n.depth; z++)
            for (size_t y = 0; y < n.height; y++)
                memcpy(row_of(&t->src.box, y, z), row_of(&now->src.box, y, z), n.width);
    }
    return t;
}

static bool is_device(const struct side *side)
{
    return side->kind == CUDART_DEVICE || side->kind == CUDART_MANAGED;
}

/* As "API synchronization behavior" of the runtime's manual has it: between places of the device nobody waits; else a
 * copy without a stream is over when it returns, and one with a stream is if it goes to pageable memory, or is from
 * host to host. */
static bool host_waits(const struct transfer *t)
{
    if (t->fills || (is_device(&t->dst) && is_device(&t->src)))
        return false;
    return !mg__cudart_call.async || t->dst.kind == CUDART_PAGEABLE || (!is_device(&t->dst) && !is_device(&t->src));
}

/* What another device has under way with its memory is over first, as in its default stream. */
static void wait_for_other(const struct side *side)
{
    if (side->device && side->device != mg__cudart_call.device && !mg__cudart_call.async)
        mg__queue_wait(side->device->device, (struct mg_order){0, true, 0});
}

/* What the device does for it. */
static enum mg_transfer kind_of(const struct transfer *t)
{
    bool from = !t->fills && !is_device(&t->src), to = !is_device(&t->dst);
    if (t->fills)
        return MG_TRANSFER_FILL;
    if (from == to) /* from host to host it goes by the device, too */
        return MG_TRANSFER_WITHIN;
    if (from)
        return t->src.kind == CUDART_PAGEABLE ? MG_TRANSFER_TO_DEVICE_PAGEABLE : MG_TRANSFER_TO_DEVICE;
    return t->dst.kind == CUDART_PAGEABLE ? MG_TRANSFER_TO_HOST_PAGEABLE : MG_TRANSFER_TO_HOST;
}

static struct cu_pitched_ptr pitched(const struct cudart_box *box, struct cu_extent size)
{
    size_t pitch = box->pitch ? box->pitch : size.width;
    return (struct cu_pitched_ptr){box->at, pitch, size.width, box->slice ? box->slice / pitch : size.height};
}

static int capture(struct mg_capture *into, const struct transfer *t)
{
    struct cu_extent n = t->size;
    const struct cudart_box *to = &t->dst.box;
    const struct mg_graph_fill f = {to->at,   to->pitch, to->slice, t->value, t->unit, t->fills ? n.width / t->unit : 0,
                                    n.height, n.depth};
    const struct cu_memcpy_3d p = {.src = pitched(&t->src.box, n), .dst = pitched(to, n), .extent = n, .kind = t->way};
    struct mg_graph_op op;
    int error = t->fills ? mg__graph_fill_op(&f, &op) : mg__graph_copy_op(&p, &op);
    return error ? error : mg__capture_add(into, &op);
}

static int transfer(const struct transfer *t)
{
    struct mg_device *d = mg__cudart_call.device->device;
    struct mg_order order = mg__cudart_order();
    struct mg_capture *into;
    int error = mg__capture_asked(&into);
    if (error || into)
        return error ? error : capture(into, t);
    mg__timeline_copy(d->timeline, order, kind_of(t), (uint64_t)t->size.width * t->size.height * t->size.depth,
                      host_waits(t));
    wait_for_other(&t->dst);
    if (!t->fills)
        wait_for_other(&t->src);
    if (mg__queue_clear(d, order)) {
        transfer_now(t);
        return 0;
    }
    bool waits = !mg__cudart_call.replays && host_waits(t);
    bool stage = !mg__cudart_call.replays && !t->fills && !waits && t->src.kind == CUDART_PAGEABLE;
    struct transfer *later = put_off(t, stage);
    if (!later || mg__queue_call(d, order, transfer_later, later)) {
        free(later);
        return cudaErrorMemoryAllocation;
    }
    return waits ? mg__cudart_wait() : 0;
}

/* A box of no size is good, and has no sides. */
static int copy_ok(struct transfer *t)
{
    const int kind = t->way;
    const struct cu_extent size = t->size;
    if (kind < CU_HOST_TO_HOST || kind > CU_DEFAULT)
        return cudaErrorInvalidMemcpyDirection;
    if (!size.width || !size.height || !size.depth)
        return 0;
    if (!span(&t->dst.box, size, &t->dst.bytes) || !span(&t->src.box, size, &t->src.bytes))
        return cudaErrorInvalidValue;
    if (!side_ok(&t->dst, kind == CU_HOST_TO_DEVICE || kind == CU_DEVICE_TO_DEVICE) ||
        !side_ok(&t->src, kind == CU_DEVICE_TO_HOST || kind == CU_DEVICE_TO_DEVICE))
        return cudaErrorInvalidValue;
    tell_direction(&t->dst, kind == CU_DEVICE_TO_HOST || kind == CU_HOST_TO_HOST);
    tell_direction(&t->src, kind == CU_HOST_TO_DEVICE || kind == CU_HOST_TO_HOST);
    return 0;
}

int mg__cudart_copy_box(struct cudart_box to, struct cudart_box from, struct cu_extent size, int kind)
{
    struct transfer t = {.dst = {.box = to}, .src = {.box = from}, .size = size, .way = kind};
    mg__cudart_call.plans = mg__capture_goes_on();
    int error = copy_ok(&t);
    return error || !size.width || !size.height || !size.depth ? error : transfer(&t);
}

static struct cudart_box box_of(const void *at, size_t pitch)
{
    return (struct cudart_box){(void *)(uintptr_t)at, pitch, 0};
}

int mg__cudart_copy(void *dst, const void *src, size_t count, int kind)
{
    return mg__cudart_copy_box(box_of(dst, 0), box_of(src, 0), (struct cu_extent){count, 1, 1}, kind);
}

static int copy_2d(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height, int kind)
{
    if (width > dpitch || width > spitch || dpitch > MAX_PITCH || spitch > MAX_PITCH)
        return cudaErrorInvalidPitchValue;
    return mg__cudart_copy_box(box_of(dst, dpitch), box_of(src, spitch), (struct cu_extent){width, height, 1}, kind);
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

/* Memory is found by its address, so a wrong number does no harm here; it is told all the same. */
static void tell_number(const void *pointer, int number)
{
    struct cudart_alloc alloc;
    struct mg_diag diag;
    enum cudart_kind kind = mg__cudart_classify(pointer, NULL, &alloc);
    if (kind != CUDART_DEVICE || alloc.device->ordinal == (unsigned)number)
        return;
    memset(&diag, 0, sizeof(diag));
    mg__diag_set(&diag, MG_ERR_INVALID, "%s takes memory of device %d, and is given that of device %u",
                 mg__cudart_call.name, number, alloc.device->ordinal);
    mg__diag_hint(&diag, "cudaPointerGetAttributes says whose memory a pointer is of");
    mg__cudart_warn(NULL, &diag);
}

static int copy_peer(void *dst, int dst_device, const void *src, int src_device, size_t count)
{
    if (!mg__cudart_at(dst_device) || !mg__cudart_at(src_device))
        return cudaErrorInvalidDevice;
    tell_number(dst, dst_device);
    tell_number(src, src_device);
    return mg__cudart_copy(dst, src, count, CU_DEVICE_TO_DEVICE);
}

int mg__cudaMemcpyPeer(void *dst, int dst_device, const void *src, int src_device, size_t count)
{
    CUDART_ENTER();
    return mg__cudart_done(copy_peer(dst, dst_device, src, src_device, count));
}

int mg__cudaMemcpyPeerAsync(void *dst, int dst_device, const void *src, int src_device, size_t count, void *stream)
{
    CUDART_ENTER();
    if (!mg__cudart_stream_ok(stream))
        return mg__cudart_done(cudaErrorInvalidResourceHandle);
    return mg__cudart_done(copy_peer(dst, dst_device, src, src_device, count));
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

/* ---- 3D: positions are in bytes along x, but in arrays ---- */
static int box_at(const struct cu_pitched_ptr *p, struct cu_pos pos, struct cu_extent size, struct cudart_box *box)
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
    *box = (struct cudart_box){(char *)p->ptr + offset, p->pitch, slice};
    return 0;
}

/* One side: an array, whose places are counted in texels, or memory. *size is in bytes along x. */
static int end_of(void *array, const struct cu_pitched_ptr *ptr, struct cu_pos pos, struct cu_extent size,
                  struct cudart_box *box)
{
    const struct cudart_array *a = array ? mg__cudart_array_known(array) : NULL;
    if (array && !a)
        return cudaErrorInvalidResourceHandle;
    if (!a)
        return box_at(ptr, pos, size, box);
    return __builtin_mul_overflow(pos.x, a->texel, &pos.x) ? cudaErrorInvalidValue
                                                           : mg__cudart_array_box(a, pos, size, box);
}

static int boxes_of(const struct cu_memcpy_3d *p, struct cudart_box *dst, struct cudart_box *src,
                    struct cu_extent *size)
{
    if (!p)
        return cudaErrorInvalidValue;
    const struct cudart_array *from = mg__cudart_array_known(p->src_array), *to = mg__cudart_array_known(p->dst_array);
    *size = p->extent;
    if (from && to && from->texel != to->texel)
        return cudaErrorInvalidValue;
    if ((from || to) && __builtin_mul_overflow(size->width, (from ? from : to)->texel, &size->width))
        return cudaErrorInvalidValue;
    int error = end_of(p->src_array, &p->src, p->src_pos, *size, src);
    return error ? error : end_of(p->dst_array, &p->dst, p->dst_pos, *size, dst);
}

int mg__cudart_copy_3d(const struct cu_memcpy_3d *p)
{
    struct cudart_box dst, src;
    struct cu_extent size;
    int error = boxes_of(p, &dst, &src, &size);
    return error ? error : mg__cudart_copy_box(dst, src, size, p->kind);
}

int mg__cudart_copy_3d_ok(const struct cu_memcpy_3d *p)
{
    struct transfer t = {.way = p->kind};
    int error = boxes_of(p, &t.dst.box, &t.src.box, &t.size);
    return error ? error : copy_ok(&t);
}

int mg__cudaMemcpy3D(const struct cu_memcpy_3d *p)
{
    CUDART_ENTER();
    return mg__cudart_done(mg__cudart_copy_3d(p));
}

int mg__cudaMemcpy3DAsync(const struct cu_memcpy_3d *p, void *stream)
{
    CUDART_ENTER();
    if (!mg__cudart_stream_ok(stream))
        return mg__cudart_done(cudaErrorInvalidResourceHandle);
    return mg__cudart_done(mg__cudart_copy_3d(p));
}

static int copy_3d_peer(const struct cu_memcpy_3d_peer *p)
{
    if (!p)
        return cudaErrorInvalidValue;
    if (!mg__cudart_at(p->src_device) || !mg__cudart_at(p->dst_device))
        return cudaErrorInvalidDevice;
    struct cu_memcpy_3d q = {p->src_array, p->src_pos, p->src,    p->dst_array,
                             p->dst_pos,   p->dst,     p->extent, CU_DEVICE_TO_DEVICE};
    if (!p->src_array)
        tell_number(p->src.ptr, p->src_device);
    if (!p->dst_array)
        tell_number(p->dst.ptr, p->dst_device);
    return mg__cudart_copy_3d(&q);
}

int mg__cudaMemcpy3DPeer(const struct cu_memcpy_3d_peer *p)
{
    CUDART_ENTER();
    return mg__cudart_done(copy_3d_peer(p));
}

int mg__cudaMemcpy3DPeerAsync(const struct cu_memcpy_3d_peer *p, void *stream)
{
    CUDART_ENTER();
    if (!mg__cudart_stream_ok(stream))
        return mg__cudart_done(cudaErrorInvalidResourceHandle);
    return mg__cudart_done(copy_3d_peer(p));
}

/* ---- symbols ---- */
static int copy_symbol(const void *symbol, void *other, size_t count, size_t offset, int kind, bool to_symbol)
{
    uint64_t address, size;
    int wrong = to_symbol ? CU_DEVICE_TO_HOST : CU_HOST_TO_DEVICE;
    int error = mg__cudart_var_find(symbol, &address, &size);
    if (error)
        return error;
    if (kind == CU_HOST_TO_HOST || kind == wrong || kind < 0 || kind > CU_DEFAULT)
        return cudaErrorInvalidMemcpyDirection;
    if (offset > size || count > size - offset)
        return cudaErrorInvalidValue;
    char *at = (char *)(uintptr_t)address + offset;
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
int mg__cudart_fill_ok(struct cudart_box to, struct cu_extent size)
{
    struct side dst = {.box = to};
    return span(&to, size, &dst.bytes) && side_ok(&dst, true) ? 0 : cudaErrorInvalidValue;
}

int mg__cudart_fill(struct cudart_box to, uint32_t value, unsigned unit, struct cu_extent size)
{
    struct transfer t = {.dst = {.box = to}, .size = size, .fills = true, .value = value, .unit = unit};
    if (!size.width || !size.height || !size.depth)
        return 0;
    mg__cudart_call.plans = mg__capture_goes_on();
    if (!span(&to, size, &t.dst.bytes) || !side_ok(&t.dst, true))
        return cudaErrorInvalidValue;
    return transfer(&t);
}

static int fill_2d(void *at, size_t pitch, int value, size_t width, size_t height)
{
    if (height > 1 && width > pitch)
        return cudaErrorInvalidPitchValue;
    return mg__cudart_fill(box_of(at, pitch), (uint32_t)value, 1, (struct cu_extent){width, height, 1});
}

static int fill_3d(const struct cu_pitched_ptr *p, int value, struct cu_extent size)
{
    struct cudart_box box;
    int error = box_at(p, (struct cu_pos){0, 0, 0}, size, &box);
    return error ? error : mg__cudart_fill(box, (uint32_t)value, 1, size);
}

int mg__cudaMemset(void *pointer, int value, size_t count)
{
    CUDART_ENTER();
    return mg__cudart_done(mg__cudart_fill(box_of(pointer, 0), (uint32_t)value, 1, (struct cu_extent){count, 1, 1}));
}

int mg__cudaMemsetAsync(void *pointer, int value, size_t count, void *stream)
{
    CUDART_ENTER();
    if (!mg__cudart_stream_ok(stream))
        return mg__cudart_done(cudaErrorInvalidResourceHandle);
    return mg__cudart_done(mg__cudart_fill(box_of(pointer, 0), (uint32_t)value, 1, (struct cu_extent){count, 1, 1}));
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
