/* texture.c - texture and surface objects: what a program asks for, held to the documents, as the engine's
 * (simt/texture.h). Compressed blocks and sRGB are refused by name; references went with CUDA 12.
 */
#include "cudart/array.h"

enum { INVALID = cudaErrorInvalidValue, POINT = 0, LINEAR = 1, ELEMENT = 0, UNIT = 1 };
struct object {
    struct object *next;
    uint64_t handle; /* of its device */
    struct cudart_device *device;
    bool surface;
    struct cu_resource_desc resource;
    struct cu_texture_desc texture;
    struct cu_view_desc view;
    bool viewed;
};
static struct object *objects;

static struct object **find(uint64_t handle, bool surface)
{
    struct object **at = &objects;
    while (*at && ((*at)->handle != handle || (*at)->surface != surface || (*at)->device != mg__cudart_here()))
        at = &(*at)->next;
    return at;
}

/* ---- memory ---- */
static void set_channels(struct mg_texture *t, const struct cu_channel_desc *c)
{
    t->bits = (uint8_t)c->x;
    t->channels = (uint8_t)(1 + (c->y != 0) + (c->z != 0) + (c->w != 0));
    t->kind = (uint8_t)c->format;
}

static bool channels_ok(const struct cu_channel_desc *c)
{
    bool same = (!c->y || c->y == c->x) && (!c->z || c->z == c->x) && (!c->w || c->w == c->x);
    bool count = !c->z == !c->w && (c->y || !c->z);
    bool size = c->x == 32 || c->x == 16 || (c->x == 8 && c->format != MG_TEXEL_FLOAT);
    return same && count && size && c->format >= 0 && c->format <= MG_TEXEL_FLOAT;
}

static int of_array(struct mg_texture *t, void *handle)
{
    const struct cudart_array *a = mg__cudart_array_known(handle);
    if (!a)
        return cudaErrorInvalidResourceHandle;
    set_channels(t, &a->channels);
    t->base = (uint64_t)(uintptr_t)a->memory;
    t->pitch = a->pitch;
    t->slice = a->slice;
    t->width = (uint32_t)a->extent.width;
    t->height = (uint32_t)MG_MAX(a->extent.height, 1);
    t->depth = (uint32_t)MG_MAX(a->extent.depth, 1);
    t->layered = a->flags & (CU_ARRAY_LAYERED | CU_ARRAY_CUBE);
    t->volume = a->extent.depth && !t->layered;
    return 0;
}

static int of_mipmap(struct mg_texture *t, void *handle)
{
    const struct cudart_mipmap *m = mg__cudart_mipmap_known(handle);
    if (!m)
        return cudaErrorInvalidResourceHandle;
    t->levels = (uint8_t)m->count;
    return of_array(t, m->levels[0]);
}

static int of_memory(struct mg_texture *t, const struct cu_resource_desc *r)
{
    const uint64_t most = (uint64_t)1 << 28; /* texels of linear memory */
    const bool line = r->type == CU_RESOURCE_LINEAR;
    const struct cu_channel_desc *c = line ? &r->linear.channels : &r->pitched.channels;
    const void *at = line ? r->linear.at : r->pitched.at;
    uint64_t left, before; /* bytes before the last row */
    struct cudart_alloc alloc;
    if (!channels_ok(c))
        return cudaErrorInvalidChannelDescriptor;
    set_channels(t, c);
    const uint64_t texel = (uint64_t)t->bits / 8 * t->channels;
    const uint64_t width = line ? r->linear.size / texel : r->pitched.width, height = line ? 1 : r->pitched.height;
    const uint64_t pitch = line ? width * texel : r->pitched.pitch;
    if (!width || !height || width > most || height > most || pitch < width * texel || (uintptr_t)at % 16)
        return INVALID;
    enum cudart_kind kind = mg__cudart_classify(at, &left, &alloc);
    if ((kind != CUDART_DEVICE && kind != CUDART_MANAGED) || __builtin_mul_overflow(height - 1, pitch, &before) ||
        left < before || left - before < width * texel)
        return INVALID;
    *t = (struct mg_texture){.base = (uint64_t)(uintptr_t)at,
                             .pitch = pitch,
                             .width = (uint32_t)width,
                             .height = (uint32_t)height,
                             .depth = 1,
                             .bits = t->bits,
                             .channels = t->channels,
                             .kind = t->kind};
    if (!line)
        t->slice = pitch * height; /* linear memory has none, and no address mode */
    return 0;
}

static int of_resource(struct mg_texture *t, const struct cu_resource_desc *r)
{
    memset(t, 0, sizeof(*t));
    switch (r->type) {
    case CU_RESOURCE_ARRAY:
        return of_array(t, r->array);
    case CU_RESOURCE_LINEAR:
    case CU_RESOURCE_PITCHED:
        return of_memory(t, r);
    case CU_RESOURCE_MIPMAPPED:
        return of_mipmap(t, r->array);
    default:
        return INVALID;
    }
}

/* ---- views ---- */
enum { VIEW_OWN, VIEW_U8, VIEW_F16 = 19, VIEW_F32 = 22, VIEW_BLOCKS = 25 /* and above: compressed */ };

/* Numbered one, two and four channels of a type after another: u8, s8, u16, s16, u32, s32, f16, f32. */
bool mg__cudart_view_channels(const struct cu_view_desc *view, struct cu_channel_desc *channels)
{
    if (view->format < VIEW_U8 || view->format >= VIEW_BLOCKS)
        return false;
    const int type = (view->format - VIEW_U8) / 3, count = (view->format - VIEW_U8) % 3;
    const int bits = view->format >= VIEW_F32 ? 32 : view->format >= VIEW_F16 ? 16 : 8 << type / 2;
    *channels = (struct cu_channel_desc){bits, count ? bits : 0, count > 1 ? bits : 0, count > 1 ? bits : 0,
                                         view->format >= VIEW_F16 ? MG_TEXEL_FLOAT
                                         : type % 2               ? MG_TEXEL_SIGNED
                                                                  : MG_TEXEL_UNSIGNED};
    return true;
}

/* Some levels and layers of an array, or its texels as another type. Its size stays. */
static int set_view(struct mg_texture *t, const struct cu_view_desc *v, int resource, bool cube)
{
    const unsigned levels = MG_MAX(t->levels, 1), layers = t->layered ? t->depth : 1;
    const uint64_t texel = (uint64_t)t->bits * t->channels;
    struct cu_channel_desc channels;
    if (v->format >= VIEW_BLOCKS)
        return mg__cudart_missing("cudaCreateTextureObject with a view of compressed blocks");
    if (v->format < VIEW_OWN || (resource != CU_RESOURCE_ARRAY && resource != CU_RESOURCE_MIPMAPPED))
        return INVALID;
    if (v->first_level > v->last_level || v->last_level >= levels || v->first_layer > v->last_layer ||
        v->last_layer >= layers || (cube && (v->last_layer - v->first_layer + 1) % 6))
        return INVALID;
    if (levels > 1 && (v->first_layer || v->last_layer + 1 < layers))
        return mg__cudart_missing("cudaCreateTextureObject with a view of some layers of a mipmap");
    if (mg__cudart_view_channels(v, &channels)) {
        set_channels(t, &channels);
        if (texel != (uint64_t)t->bits * t->channels || v->width != t->width || MG_MAX(v->height, 1) != t->height ||
            (t->volume && v->depth != t->depth))
            return INVALID;
    }
    *t = mg__texture_level(t, v->first_level);
    t->levels = (uint8_t)(levels > 1 ? v->last_level - v->first_level + 1 : 0);
    if (t->layered) {
        t->base += v->first_layer * t->slice;
        t->depth = v->last_layer - v->first_layer + 1;
    }
    return 0;
}

/* ---- how it is read ---- */
static int set_reading(struct mg_texture *t, const struct cu_texture_desc *d, bool cube)
{
    const bool real = t->kind == MG_TEXEL_FLOAT || d->read == UNIT;
    if (d->srgb)
        return mg__cudart_missing("cudaCreateTextureObject with sRGB");
    if (d->filter < POINT || d->filter > LINEAR || d->read < ELEMENT || d->read > UNIT)
        return INVALID;
    if (d->read == UNIT && t->kind != MG_TEXEL_FLOAT && t->bits == 32)
        return INVALID;
    if (d->filter == LINEAR && !real && t->slice)
        return cudaErrorInvalidFilterSetting;
    for (unsigned k = 0; k < 3; k++) {
        if (d->address[k] < MG_TEXTURE_WRAP || d->address[k] > MG_TEXTURE_BORDER)
            return INVALID;
        bool turns = d->address[k] == MG_TEXTURE_WRAP || d->address[k] == MG_TEXTURE_MIRROR;
        bool clamps = cube || (turns && !d->normalized); /* as the documents have it */
        t->address[k] = (uint8_t)(clamps ? MG_TEXTURE_CLAMP : d->address[k]);
    }
    if (d->mip_filter < POINT || d->mip_filter > LINEAR)
        return INVALID;
    t->mip_linear = d->mip_filter == LINEAR;
    t->anisotropic = d->anisotropy > 1;
    t->bias = (int16_t)mg__texture_named(d->mip_bias);
    t->least = (int16_t)MG_MAX(mg__texture_named(d->mip_least), 0);
    t->most = (int16_t)MG_MAX(mg__texture_named(d->mip_most), 0);
    t->linear = d->filter == LINEAR;
    t->unit = d->read == UNIT && t->kind != MG_TEXEL_FLOAT;
    t->normalized = d->normalized || cube;
    memcpy(t->border, d->border, sizeof(t->border));
    return 0;
}

static int keep(const struct mg_texture *t, const struct cu_resource_desc *r, const struct cu_texture_desc *d,
                const struct cu_view_desc *view, uint64_t *handle)
{
    struct object *o = calloc(1, sizeof(*o));
    if (!o || mg__texture_make(mg__cudart_here()->device->simt, t, handle)) {
        free(o);
        return cudaErrorMemoryAllocation;
    }
    *o = (struct object){.handle = *handle, .device = mg__cudart_here(), .surface = t->surface, .resource = *r};
    if (d)
        o->texture = *d;
    o->viewed = view != NULL;
    if (view)
        o->view = *view;
    mg__cudart_lock();
    o->next = objects;
    objects = o;
    mg__cudart_unlock();
    return 0;
}

int mg__cudaCreateTextureObject(uint64_t *object, const struct cu_resource_desc *r, const struct cu_texture_desc *d,
                                const struct cu_view_desc *view)
{
    struct mg_texture t;
    CUDART_ENTER();
    if (!object || !r || !d)
        return mg__cudart_done(object && r ? cudaErrorInvalidResourceHandle : INVALID);
    int error = of_resource(&t, r);
    const struct cudart_array *a = error                              ? NULL
                                   : r->type == CU_RESOURCE_ARRAY     ? mg__cudart_array_known(r->array)
                                   : r->type == CU_RESOURCE_MIPMAPPED ? mg__cudart_mipmap_known(r->array)->levels[0]
                                                                      : NULL;
    const bool cube = a && a->flags & CU_ARRAY_CUBE;
    if (!error && view)
        error = set_view(&t, view, r->type, cube);
    if (!error)
        error = set_reading(&t, d, cube);
    return mg__cudart_done(error ? error : keep(&t, r, d, view, object));
}

/* Kernels write it unseen: to the checks it is written from now on. */
static void tell_written(const struct mg_texture *t)
{
    struct mg_check *check = mg__cudart_here()->device->check;
    if (!check)
        return;
    mg__check_begins(check, mg__cudart_call.name, 0, true);
    mg__check_filled(check, t->base, t->slice * t->depth);
    mg__check_ends(check);
}

int mg__cudaCreateSurfaceObject(uint64_t *object, const struct cu_resource_desc *r)
{
    struct mg_texture t;
    CUDART_ENTER();
    const struct cudart_array *a = r && r->type == CU_RESOURCE_ARRAY ? mg__cudart_array_known(r->array) : NULL;
    if (!object || !a) /* an array that was not made for it will do, on an H200 */
        return mg__cudart_done(INVALID);
    int error = of_resource(&t, r);
    t.surface = true;
    if (!error)
        tell_written(&t);
    return mg__cudart_done(error ? error : keep(&t, r, NULL, NULL, object));
}

static int destroy(uint64_t handle, bool surface)
{
    mg__cudart_lock();
    struct object **at = find(handle, surface), *o = *at;
    if (o)
        *at = o->next;
    mg__cudart_unlock();
    if (!o) /* as an H200 answers for one that is gone, too */
        return 0;
    mg__queue_wait_all(o->device->device); /* kernels that are under way may use it */
    mg__texture_drop(o->device->device->simt, handle);
    free(o);
    return 0;
}

int mg__cudaDestroyTextureObject(uint64_t object)
{
    CUDART_ENTER();
    return mg__cudart_done(object ? destroy(object, false) : 0);
}

int mg__cudaDestroySurfaceObject(uint64_t object)
{
    CUDART_ENTER();
    return mg__cudart_done(object ? destroy(object, true) : 0);
}

/* ---- asked ---- */
static int ask(uint64_t handle, bool surface, struct cu_resource_desc *r, struct cu_texture_desc *d,
               struct cu_view_desc *view)
{
    mg__cudart_lock();
    const struct object *o = *find(handle, surface);
    if (o && r)
        *r = o->resource;
    if (o && d)
        *d = o->texture;
    if (o && o->viewed && view)
        *view = o->view;
    const bool there = o && (o->viewed || !view);
    mg__cudart_unlock();
    return there ? 0 : INVALID;
}

int mg__cudaGetTextureObjectResourceDesc(struct cu_resource_desc *r, uint64_t object)
{
    CUDART_ENTER();
    return mg__cudart_done(r ? ask(object, false, r, NULL, NULL) : INVALID);
}

int mg__cudaGetTextureObjectTextureDesc(struct cu_texture_desc *d, uint64_t object)
{
    CUDART_ENTER();
    return mg__cudart_done(d ? ask(object, false, NULL, d, NULL) : INVALID);
}

int mg__cudaGetTextureObjectResourceViewDesc(struct cu_view_desc *view, uint64_t object)
{
    CUDART_ENTER();
    return mg__cudart_done(view ? ask(object, false, NULL, NULL, view) : INVALID);
}

int mg__cudaGetSurfaceObjectResourceDesc(struct cu_resource_desc *r, uint64_t object)
{
    CUDART_ENTER();
    return mg__cudart_done(r ? ask(object, true, r, NULL, NULL) : INVALID);
}
