/* array.c - CUDA arrays: memory of the device that is copied to and from by coordinates, and read by textures.
 *
 * Texels stand row by row. Only the fields of a whole array are held to the documents: sparse ones and planes are not
 * there. A mipmap's levels are arrays in one piece of memory. Copies are those of copy.c once an array is the box that
 * it is.
 */
#include "cudart/array.h"

enum { INVALID = cudaErrorInvalidValue, ALIGN = MG_TEXTURE_ROW };
static struct cudart_array *arrays;
static struct cudart_mipmap *mipmaps;

struct cudart_array *mg__cudart_array_known(const void *handle)
{
    mg__cudart_lock();
    struct cudart_array *a = arrays;
    while (a && a != handle)
        a = a->next;
    mg__cudart_unlock();
    return a;
}

/* Bytes of a texel; 0: there is no such one. All channels are of one size, and there are 1, 2 or 4 of them. */
static size_t texel_of(const struct cu_channel_desc *c)
{
    bool one = !c->y && !c->z && !c->w, two = c->y && !c->z && !c->w, four = c->y && c->z && c->w;
    bool same = (!c->y || c->y == c->x) && (!c->z || c->z == c->x) && (!c->w || c->w == c->x);
    bool size = c->x == 32 || c->x == 16 || (c->x == 8 && c->format != MG_TEXEL_FLOAT);
    if (!same || !size || !(one || two || four) || c->format < 0 || c->format > MG_TEXEL_FLOAT)
        return 0;
    return (size_t)c->x / 8 * (one ? 1 : two ? 2 : 4);
}

static bool shape_ok(struct cu_extent n, unsigned flags)
{
    const size_t most = 131072, most_deep = 16384, most_layers = 2048;
    if (!n.width || n.width > most || n.height > most || n.depth > most_deep)
        return false;
    if (flags & CU_ARRAY_CUBE)
        return n.width == n.height && (flags & CU_ARRAY_LAYERED ? n.depth && n.depth % 6 == 0 : n.depth == 6);
    if (flags & CU_ARRAY_LAYERED)
        return n.depth && n.depth <= most_layers;
    return !n.depth || n.height;
}

/* A size that was checked: no product of these leaves 64 bits. */
static void lay_out(struct cudart_array *a)
{
    a->pitch = (a->extent.width * a->texel + ALIGN - 1) / ALIGN * ALIGN;
    a->slice = a->pitch * MG_MAX(a->extent.height, 1);
}

int mg__cudart_array_make(const struct cu_channel_desc *c, struct cu_extent n, unsigned flags,
                          struct cudart_array **made)
{
    const unsigned known = CU_ARRAY_LAYERED | CU_ARRAY_SURFACE | CU_ARRAY_CUBE | CU_ARRAY_GATHER;
    size_t size, texel = texel_of(c);
    if (!texel)
        return cudaErrorInvalidChannelDescriptor;
    if (flags & ~known || !shape_ok(n, flags))
        return INVALID;
    struct cudart_array *a = calloc(1, sizeof(*a));
    if (!a)
        return cudaErrorMemoryAllocation;
    *a =
        (struct cudart_array){.device = mg__cudart_here(), .channels = *c, .extent = n, .flags = flags, .texel = texel};
    lay_out(a);
    int error = __builtin_mul_overflow(a->slice, MG_MAX(n.depth, 1), &size) ? cudaErrorMemoryAllocation : 0;
    if (!error)
        error = mg__cudart_alloc(&a->memory, size, CUDART_DEVICE, a->device);
    if (error) {
        free(a);
        return error;
    }
    mg__cudart_lock();
    a->next = arrays;
    arrays = a;
    mg__cudart_unlock();
    *made = a;
    return 0;
}

static size_t part_of(size_t n, unsigned k)
{
    return n ? MG_MAX(n >> k, 1) : 0;
}

struct cudart_mipmap *mg__cudart_mipmap_known(const void *handle)
{
    mg__cudart_lock();
    struct cudart_mipmap *m = mipmaps;
    while (m && m != handle)
        m = m->next;
    mg__cudart_unlock();
    return m;
}

/* As many levels as there are halves, at most; at least one (an H200 takes any number). */
int mg__cudart_mipmap_make(const struct cu_channel_desc *c, struct cu_extent n, unsigned flags, unsigned levels,
                           struct cudart_mipmap **made)
{
    const unsigned known = CU_ARRAY_LAYERED | CU_ARRAY_SURFACE | CU_ARRAY_CUBE | CU_ARRAY_GATHER;
    const bool stacked = flags & (CU_ARRAY_LAYERED | CU_ARRAY_CUBE);
    const size_t texel = texel_of(c);
    if (!texel)
        return cudaErrorInvalidChannelDescriptor;
    if (flags & ~known || !shape_ok(n, flags))
        return INVALID;
    unsigned most = 1;
    while (n.width >> most || n.height >> most || (!stacked && n.depth >> most))
        most++;
    levels = MG_MIN(MG_MAX(levels, 1u), most);
    struct cudart_mipmap *m = calloc(1, sizeof(*m) + levels * sizeof(m->levels[0]));
    size_t size = 0;
    int error = m ? 0 : cudaErrorMemoryAllocation;
    for (unsigned k = 0; k < levels && !error; k++) {
        struct cudart_array *a = m->levels[k] = calloc(1, sizeof(*a));
        if (!a) {
            error = cudaErrorMemoryAllocation;
            break;
        }
        m->count++;
        *a = (struct cudart_array){.device = mg__cudart_here(), .channels = *c, .flags = flags, .texel = texel};
        a->part = true;
        a->extent =
            (struct cu_extent){part_of(n.width, k), part_of(n.height, k), stacked ? n.depth : part_of(n.depth, k)};
        lay_out(a);
        size += (a->slice * MG_MAX(a->extent.depth, 1) + MG_TEXTURE_LEVEL - 1) / MG_TEXTURE_LEVEL * MG_TEXTURE_LEVEL;
    }
    if (!error)
        error = mg__cudart_alloc(&m->memory, size, CUDART_DEVICE, mg__cudart_here());
    if (error) {
        for (unsigned k = 0; m && k < m->count; k++)
            free(m->levels[k]);
        free(m);
        return error;
    }
    char *at = m->memory;
    mg__cudart_lock();
    for (unsigned k = 0; k < levels; k++) {
        struct cudart_array *a = m->levels[k];
        a->memory = at;
        at += (a->slice * MG_MAX(a->extent.depth, 1) + MG_TEXTURE_LEVEL - 1) / MG_TEXTURE_LEVEL * MG_TEXTURE_LEVEL;
        a->next = arrays;
        arrays = a;
    }
    m->next = mipmaps;
    mipmaps = m;
    mg__cudart_unlock();
    *made = m;
    return 0;
}

static void forget(struct cudart_array *a)
{
    mg__cudart_lock();
    struct cudart_array **at = &arrays;
    while (*at && *at != a)
        at = &(*at)->next;
    if (*at)
        *at = a->next;
    mg__cudart_unlock();
}

int mg__cudart_mipmap_free(struct cudart_mipmap *m)
{
    mg__cudart_lock();
    struct cudart_mipmap **at = &mipmaps;
    while (*at && *at != m)
        at = &(*at)->next;
    if (*at)
        *at = m->next;
    mg__cudart_unlock();
    for (unsigned k = 0; k < m->count; k++) {
        forget(m->levels[k]);
        free(m->levels[k]);
    }
    mg__cudart_free(m->memory, true); /* a reset of the device has done so already */
    free(m);
    return 0;
}

int mg__cudart_array_free(struct cudart_array *a)
{
    if (a->part) /* as an H200 answers; it goes with the mipmap */
        return 0;
    forget(a);
    mg__cudart_free(a->memory, true); /* a reset of the device has done so already */
    free(a);
    return 0;
}

int mg__cudart_array_box(const struct cudart_array *a, struct cu_pos pos, struct cu_extent size, struct cudart_box *box)
{
    const size_t row = a->extent.width * a->texel, rows = MG_MAX(a->extent.height, 1),
                 deep = MG_MAX(a->extent.depth, 1);
    if (size.width > row || pos.x > row - size.width || size.height > rows || pos.y > rows - size.height ||
        size.depth > deep || pos.z > deep - size.depth)
        return INVALID;
    char *at = (char *)a->memory + pos.z * a->slice + pos.y * a->pitch + pos.x;
    *box = (struct cudart_box){at, a->pitch, a->slice};
    return 0;
}

/* ---- the API ---- */
int mg__cudaMalloc3DArray(void **array, const struct cu_channel_desc *c, struct cu_extent n, unsigned flags)
{
    struct cudart_array *a;
    CUDART_ENTER();
    if (!array || !c)
        return mg__cudart_done(INVALID);
    int error = mg__cudart_array_make(c, n, flags, &a);
    if (!error)
        *array = a;
    return mg__cudart_done(error);
}

int mg__cudaMallocArray(void **array, const struct cu_channel_desc *c, size_t width, size_t height, unsigned flags)
{
    return mg__cudaMalloc3DArray(array, c, (struct cu_extent){width, height, 0}, flags);
}

int mg__cudaMallocMipmappedArray(void **mipmap, const struct cu_channel_desc *c, struct cu_extent n, unsigned levels,
                                 unsigned flags)
{
    struct cudart_mipmap *m;
    CUDART_ENTER();
    if (!mipmap || !c)
        return mg__cudart_done(INVALID);
    int error = mg__cudart_mipmap_make(c, n, flags, levels, &m);
    if (!error)
        *mipmap = m;
    return mg__cudart_done(error);
}

int mg__cudaGetMipmappedArrayLevel(void **array, void *mipmap, unsigned level)
{
    CUDART_ENTER();
    const struct cudart_mipmap *m = mg__cudart_mipmap_known(mipmap);
    if (!m)
        return mg__cudart_done(cudaErrorInvalidResourceHandle);
    if (!array || level >= m->count)
        return mg__cudart_done(INVALID);
    *array = m->levels[level];
    return mg__cudart_done(0);
}

int mg__cudaFreeMipmappedArray(void *mipmap)
{
    CUDART_ENTER();
    if (!mipmap)
        return mg__cudart_done(0);
    struct cudart_mipmap *m = mg__cudart_mipmap_known(mipmap);
    return mg__cudart_done(m ? mg__cudart_mipmap_free(m) : cudaErrorInvalidResourceHandle);
}

int mg__cudaFreeArray(void *array)
{
    CUDART_ENTER();
    if (!array)
        return mg__cudart_done(0);
    struct cudart_array *a = mg__cudart_array_known(array);
    return mg__cudart_done(a ? mg__cudart_array_free(a) : cudaErrorInvalidResourceHandle);
}

int mg__cudaArrayGetInfo(struct cu_channel_desc *c, struct cu_extent *n, unsigned *flags, void *array)
{
    CUDART_ENTER();
    const struct cudart_array *a = mg__cudart_array_known(array);
    if (!a)
        return mg__cudart_done(cudaErrorInvalidResourceHandle);
    if (c)
        *c = a->channels;
    if (n)
        *n = a->extent;
    if (flags)
        *flags = a->flags;
    return mg__cudart_done(0);
}

int mg__cudaGetChannelDesc(struct cu_channel_desc *c, void *array)
{
    return mg__cudaArrayGetInfo(c, NULL, NULL, array);
}

/* ---- copies: `x` and widths are bytes ---- */
static int part(void *array, size_t x, size_t y, size_t width, size_t height, struct cudart_box *box)
{
    const struct cudart_array *a = mg__cudart_array_known(array);
    if (!a)
        return cudaErrorInvalidResourceHandle;
    return mg__cudart_array_box(a, (struct cu_pos){x, y, 0}, (struct cu_extent){width, height, 1}, box);
}

static struct cudart_box plain(const void *at, size_t pitch)
{
    return (struct cudart_box){(void *)(uintptr_t)at, pitch, 0};
}

static int copy_to(void *array, size_t x, size_t y, const void *from, size_t pitch, size_t width, size_t height,
                   int kind)
{
    struct cudart_box box;
    if (height > 1 && width > pitch)
        return cudaErrorInvalidPitchValue;
    int error = part(array, x, y, width, height, &box);
    return error ? error : mg__cudart_copy_box(box, plain(from, pitch), (struct cu_extent){width, height, 1}, kind);
}

static int copy_from(void *to, size_t pitch, void *array, size_t x, size_t y, size_t width, size_t height, int kind)
{
    struct cudart_box box;
    if (height > 1 && width > pitch)
        return cudaErrorInvalidPitchValue;
    int error = part(array, x, y, width, height, &box);
    return error ? error : mg__cudart_copy_box(plain(to, pitch), box, (struct cu_extent){width, height, 1}, kind);
}

int mg__cudaMemcpy2DToArray(void *array, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                            size_t height, int kind)
{
    CUDART_ENTER();
    return mg__cudart_done(copy_to(array, x, y, from, pitch, width, height, kind));
}

int mg__cudaMemcpy2DToArrayAsync(void *array, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                                 size_t height, int kind, void *stream)
{
    CUDART_ENTER();
    if (!mg__cudart_stream_ok(stream))
        return mg__cudart_done(cudaErrorInvalidResourceHandle);
    return mg__cudart_done(copy_to(array, x, y, from, pitch, width, height, kind));
}

int mg__cudaMemcpy2DFromArray(void *to, size_t pitch, void *array, size_t x, size_t y, size_t width, size_t height,
                              int kind)
{
    CUDART_ENTER();
    return mg__cudart_done(copy_from(to, pitch, array, x, y, width, height, kind));
}

int mg__cudaMemcpy2DFromArrayAsync(void *to, size_t pitch, void *array, size_t x, size_t y, size_t width, size_t height,
                                   int kind, void *stream)
{
    CUDART_ENTER();
    if (!mg__cudart_stream_ok(stream))
        return mg__cudart_done(cudaErrorInvalidResourceHandle);
    return mg__cudart_done(copy_from(to, pitch, array, x, y, width, height, kind));
}

int mg__cudaMemcpy2DArrayToArray(void *to, size_t to_x, size_t to_y, void *from, size_t x, size_t y, size_t width,
                                 size_t height, int kind)
{
    struct cudart_box a, b;
    CUDART_ENTER();
    int error = part(to, to_x, to_y, width, height, &a);
    if (!error)
        error = part(from, x, y, width, height, &b);
    if (!error)
        error = mg__cudart_copy_box(a, b, (struct cu_extent){width, height, 1}, kind);
    return mg__cudart_done(error);
}

/* The older calls count bytes through the rows: a part of one row, or whole rows. */
static int whole_rows(void *array, size_t x, size_t count, size_t *width, size_t *height)
{
    const struct cudart_array *a = mg__cudart_array_known(array);
    if (!a)
        return cudaErrorInvalidResourceHandle;
    const size_t row = a->extent.width * a->texel;
    bool one = x + count <= row;
    if (!one && (x || count % row))
        return mg__cudart_missing("cudaMemcpyToArray or cudaMemcpyFromArray of parts of several rows");
    *width = one ? count : row;
    *height = one ? 1 : count / row;
    return 0;
}

static int rows_to(void *array, size_t x, size_t y, const void *from, size_t count, int kind)
{
    size_t width, height;
    int error = whole_rows(array, x, count, &width, &height);
    return error ? error : copy_to(array, x, y, from, width, width, height, kind);
}

static int rows_from(void *to, void *array, size_t x, size_t y, size_t count, int kind)
{
    size_t width, height;
    int error = whole_rows(array, x, count, &width, &height);
    return error ? error : copy_from(to, width, array, x, y, width, height, kind);
}

int mg__cudaMemcpyToArray(void *array, size_t x, size_t y, const void *from, size_t count, int kind)
{
    CUDART_ENTER();
    return mg__cudart_done(rows_to(array, x, y, from, count, kind));
}

int mg__cudaMemcpyToArrayAsync(void *array, size_t x, size_t y, const void *from, size_t count, int kind, void *stream)
{
    CUDART_ENTER();
    if (!mg__cudart_stream_ok(stream))
        return mg__cudart_done(cudaErrorInvalidResourceHandle);
    return mg__cudart_done(rows_to(array, x, y, from, count, kind));
}

int mg__cudaMemcpyFromArray(void *to, void *array, size_t x, size_t y, size_t count, int kind)
{
    CUDART_ENTER();
    return mg__cudart_done(rows_from(to, array, x, y, count, kind));
}

int mg__cudaMemcpyFromArrayAsync(void *to, void *array, size_t x, size_t y, size_t count, int kind, void *stream)
{
    CUDART_ENTER();
    if (!mg__cudart_stream_ok(stream))
        return mg__cudart_done(cudaErrorInvalidResourceHandle);
    return mg__cudart_done(rows_from(to, array, x, y, count, kind));
}
