/* array.c - arrays, textures and surfaces: the runtime's, with the driver's structures. References (cuTexRef*) went
 * with CUDA 12.
 */
#include "cudart/array.h"

#include "cuda/driver.h"

enum { READ_AS_INTEGER = 1, NORMALIZED = 2, SRGB = 16 };

/* CUarray_format as channels; false: there is no such one here. */
static bool channels_of(int format, unsigned count, struct cu_channel_desc *out)
{
    static const struct {
        int format, bits, kind;
    } rows[] = {{1, 8, MG_TEXEL_UNSIGNED}, {2, 16, MG_TEXEL_UNSIGNED}, {3, 32, MG_TEXEL_UNSIGNED},
                {8, 8, MG_TEXEL_SIGNED},   {9, 16, MG_TEXEL_SIGNED},   {10, 32, MG_TEXEL_SIGNED},
                {16, 16, MG_TEXEL_FLOAT},  {32, 32, MG_TEXEL_FLOAT}};
    for (size_t i = 0; i < MG_COUNT(rows); i++)
        if (rows[i].format == format && (count == 1 || count == 2 || count == 4)) {
            const int b = rows[i].bits;
            *out = (struct cu_channel_desc){b, count > 1 ? b : 0, count > 2 ? b : 0, count > 2 ? b : 0, rows[i].kind};
            return true;
        }
    return false;
}

static int format_of(const struct cu_channel_desc *c, unsigned *count)
{
    const int size = c->x == 8 ? 0 : c->x == 16 ? 1 : 2;
    *count = c->w ? 4 : c->y ? 2 : 1;
    return c->format == MG_TEXEL_FLOAT ? 16 * size : (c->format == MG_TEXEL_SIGNED ? 8 : 1) + size;
}

/* ---- arrays ---- */
static int make(void **array, const struct cu_array3d *p)
{
    struct cu_channel_desc c;
    struct cudart_array *a;
    if (!array || !p || !channels_of(p->format, p->channels, &c))
        return CUDA_ERROR_INVALID_VALUE;
    int error = mg__cudart_array_make(&c, (struct cu_extent){p->width, p->height, p->depth}, p->flags, &a);
    if (!error)
        *array = a;
    return error;
}

static int make_2d(void **array, const struct cu_array2d *p)
{
    if (!p)
        return CUDA_ERROR_INVALID_VALUE;
    const struct cu_array3d same = {p->width, p->height, 0, p->format, p->channels, 0};
    return make(array, &same);
}

static int drop(void *array)
{
    struct cudart_array *a = mg__cudart_array_known(array);
    return a ? mg__cudart_array_free(a) : CUDA_ERROR_INVALID_HANDLE;
}

static int describe(struct cu_array3d *p, const void *array)
{
    const struct cudart_array *a = mg__cudart_array_known(array);
    if (!p || !a)
        return p ? CUDA_ERROR_INVALID_HANDLE : CUDA_ERROR_INVALID_VALUE;
    *p = (struct cu_array3d){
        .width = a->extent.width, .height = a->extent.height, .depth = a->extent.depth, .flags = a->flags};
    p->format = format_of(&a->channels, &p->channels);
    return 0;
}

static int describe_2d(struct cu_array2d *p, const void *array)
{
    struct cu_array3d whole;
    int error = describe(p ? &whole : NULL, array);
    if (!error)
        *p = (struct cu_array2d){whole.width, whole.height, whole.format, whole.channels};
    return error;
}

static int make_mipmap(void **mipmap, const struct cu_array3d *p, unsigned levels)
{
    struct cu_channel_desc c;
    struct cudart_mipmap *m;
    if (!mipmap || !p || !channels_of(p->format, p->channels, &c))
        return CUDA_ERROR_INVALID_VALUE;
    int error = mg__cudart_mipmap_make(&c, (struct cu_extent){p->width, p->height, p->depth}, p->flags, levels, &m);
    if (!error)
        *mipmap = m;
    return error;
}

static int drop_mipmap(void *mipmap)
{
    struct cudart_mipmap *m = mg__cudart_mipmap_known(mipmap);
    return m ? mg__cudart_mipmap_free(m) : CUDA_ERROR_INVALID_HANDLE;
}

CUDA_SAME(cuMipmappedArrayCreate, (void **mipmap, const struct cu_array3d *p, unsigned levels),
          make_mipmap(mipmap, p, levels))
CUDA_SAME(cuMipmappedArrayDestroy, (void *mipmap), drop_mipmap(mipmap))
CUDA_SAME(cuMipmappedArrayGetLevel, (void **array, void *mipmap, unsigned level),
          mg__cudaGetMipmappedArrayLevel(array, mipmap, level))
CUDA_SAME(cuArrayCreate, (void **array, const struct cu_array2d *p), make_2d(array, p))
CUDA_SAME(cuArray3DCreate, (void **array, const struct cu_array3d *p), make(array, p))
CUDA_SAME(cuArrayDestroy, (void *array), drop(array))
CUDA_SAME(cuArrayGetDescriptor, (struct cu_array2d * p, void *array), describe_2d(p, array))
CUDA_SAME(cuArray3DGetDescriptor, (struct cu_array3d * p, void *array), describe(p, array))

/* Of one row, from byte `x` on. */
static int row_of(const void *array, size_t x, size_t size, struct cudart_box *box)
{
    const struct cudart_array *a = mg__cudart_array_known(array);
    return a ? mg__cudart_array_box(a, (struct cu_pos){x, 0, 0}, (struct cu_extent){size, 1, 1}, box)
             : CUDA_ERROR_INVALID_HANDLE;
}

static int row_copy(void *array, size_t x, void *memory, size_t size, bool to_array, int kind)
{
    struct cudart_box box, other = {memory, size, 0};
    const struct cu_extent n = {size, 1, 1};
    int error = row_of(array, x, size, &box);
    return error      ? error
           : to_array ? mg__cudart_copy_box(box, other, n, kind)
                      : mg__cudart_copy_box(other, box, n, kind);
}

static int row_to_row(void *to, size_t to_x, void *from, size_t x, size_t size)
{
    struct cudart_box a, b;
    int error = row_of(to, to_x, size, &a);
    if (!error)
        error = row_of(from, x, size, &b);
    return error ? error : mg__cudart_copy_box(a, b, (struct cu_extent){size, 1, 1}, CU_DEVICE_TO_DEVICE);
}

CUDA_SAME(cuMemcpyHtoA, (void *array, size_t x, const void *from, size_t size),
          row_copy(array, x, (void *)(uintptr_t)from, size, true, CU_HOST_TO_DEVICE))
CUDA_SAME(cuMemcpyAtoH, (void *to, void *array, size_t x, size_t size),
          row_copy(array, x, to, size, false, CU_DEVICE_TO_HOST))
CUDA_SAME(cuMemcpyDtoA, (void *array, size_t x, uint64_t from, size_t size),
          row_copy(array, x, (void *)(uintptr_t)from, size, true, CU_DEVICE_TO_DEVICE))
CUDA_SAME(cuMemcpyAtoD, (uint64_t to, void *array, size_t x, size_t size),
          row_copy(array, x, (void *)(uintptr_t)to, size, false, CU_DEVICE_TO_DEVICE))
CUDA_SAME(cuMemcpyAtoA, (void *to, size_t to_x, void *from, size_t x, size_t size), row_to_row(to, to_x, from, x, size))

/* ---- textures and surfaces ---- */
static int resource(const struct cu_driver_resource *p, struct cu_resource_desc *out)
{
    *out = (struct cu_resource_desc){.type = p->type, .array = p->array};
    if (p->type == CU_RESOURCE_LINEAR) {
        out->linear.at = (void *)(uintptr_t)p->linear.at;
        out->linear.size = p->linear.size;
        return channels_of(p->linear.format, p->linear.channels, &out->linear.channels) ? 0 : CUDA_ERROR_INVALID_VALUE;
    }
    if (p->type == CU_RESOURCE_PITCHED) {
        out->pitched.at = (void *)(uintptr_t)p->pitched.at;
        out->pitched.width = p->pitched.width;
        out->pitched.height = p->pitched.height;
        out->pitched.pitch = p->pitched.pitch;
        return channels_of(p->pitched.format, p->pitched.channels, &out->pitched.channels) ? 0
                                                                                           : CUDA_ERROR_INVALID_VALUE;
    }
    return 0;
}

/* Whether integers are read as they are: without the flag, those of 8 and 16 bits are parts of the largest. */
static bool small_integers(const struct cu_resource_desc *r, const struct cu_view_desc *view)
{
    struct cu_channel_desc viewed;
    if (view && mg__cudart_view_channels(view, &viewed))
        return viewed.format != MG_TEXEL_FLOAT && viewed.x < 32;
    const struct cudart_mipmap *m = r->type == CU_RESOURCE_MIPMAPPED ? mg__cudart_mipmap_known(r->array) : NULL;
    const struct cudart_array *a = m                              ? m->levels[0]
                                   : r->type == CU_RESOURCE_ARRAY ? mg__cudart_array_known(r->array)
                                                                  : NULL;
    const struct cu_channel_desc *c = a                               ? &a->channels
                                      : r->type == CU_RESOURCE_LINEAR ? &r->linear.channels
                                                                      : &r->pitched.channels;
    return (a || r->type > CU_RESOURCE_MIPMAPPED) && c->format != MG_TEXEL_FLOAT && c->x < 32;
}

static int make_texture(uint64_t *object, const struct cu_driver_resource *p, const struct cu_driver_texture *d,
                        const struct cu_view_desc *view)
{
    struct cu_resource_desc r;
    int error = object && p && d ? resource(p, &r) : CUDA_ERROR_INVALID_VALUE;
    if (error)
        return error;
    struct cu_texture_desc t = {.filter = d->filter,
                                .read = !(d->flags & READ_AS_INTEGER) && small_integers(&r, view),
                                .srgb = (d->flags & SRGB) != 0,
                                .normalized = (d->flags & NORMALIZED) != 0};
    memcpy(t.address, d->address, sizeof(t.address));
    memcpy(t.border, d->border, sizeof(t.border));
    t.anisotropy = d->anisotropy;
    t.mip_filter = d->mip_filter;
    t.mip_bias = d->mip_bias;
    t.mip_least = d->mip_least;
    t.mip_most = d->mip_most;
    return mg__cudaCreateTextureObject(object, &r, &t, view);
}

static int make_surface(uint64_t *object, const struct cu_driver_resource *p)
{
    struct cu_resource_desc r;
    int error = object && p ? resource(p, &r) : CUDA_ERROR_INVALID_VALUE;
    return error ? error : mg__cudaCreateSurfaceObject(object, &r);
}

CUDA_SAME(cuTexObjectCreate,
          (uint64_t * object, const struct cu_driver_resource *p, const struct cu_driver_texture *d,
           const struct cu_view_desc *view),
          make_texture(object, p, d, view))
CUDA_SAME(cuTexObjectGetResourceViewDesc, (struct cu_view_desc * view, uint64_t object),
          mg__cudaGetTextureObjectResourceViewDesc(view, object))
CUDA_SAME(cuTexObjectDestroy, (uint64_t object), mg__cudaDestroyTextureObject(object))
CUDA_SAME(cuSurfObjectCreate, (uint64_t * object, const struct cu_driver_resource *p), make_surface(object, p))
CUDA_SAME(cuSurfObjectDestroy, (uint64_t object), mg__cudaDestroySurfaceObject(object))
