/* texture.c - textures and surfaces: their objects, and the instructions that use them.
 *
 * Handles are numbers, looked up on every use: one that is not live is a fault, as is memory that is not there any
 * more. Reads and writes are not told to observers: nothing of them is counted or checked. Surfaces are read and
 * written as they are (.b); formatted stores (.p) are refused. What is not ordered otherwise has no order, as on a
 * device.
 */
#include "simt/texture.h"

#include "simt/simt_priv.h"

enum {
    CHUNK = 1024,
    CHUNKS = 1024, /* objects of a device at most: their product */
    MOST_CUBES = 1 << 16
};
struct object {
    struct mg_texture texture;
    atomic_bool live;
};
struct mg_textures {
    _Atomic(struct object *) chunks[CHUNKS];
    atomic_uint count;
};

/* ---- objects ---- */
static struct object *object_at(const struct mg_simt *simt, uint64_t handle)
{
    struct mg_textures *all = __atomic_load_n(&simt->textures, __ATOMIC_ACQUIRE);
    if (!all || !handle || handle > atomic_load(&all->count))
        return NULL;
    struct object *o = &atomic_load(&all->chunks[(handle - 1) / CHUNK])[(handle - 1) % CHUNK];
    return atomic_load(&o->live) ? o : NULL;
}

static enum mg_status make(struct mg_simt *simt, const struct mg_texture *texture, uint64_t *handle)
{
    if (!simt->textures) {
        struct mg_textures *all = calloc(1, sizeof(*all));
        if (!all)
            return MG_ERR_NOMEM;
        __atomic_store_n(&simt->textures, all, __ATOMIC_RELEASE);
    }
    struct mg_textures *all = simt->textures;
    unsigned n = atomic_load(&all->count);
    if (n == CHUNK * CHUNKS)
        return MG_ERR_NOMEM;
    struct object *chunk = atomic_load(&all->chunks[n / CHUNK]);
    if (!chunk && !(chunk = calloc(CHUNK, sizeof(*chunk))))
        return MG_ERR_NOMEM;
    atomic_store(&all->chunks[n / CHUNK], chunk);
    chunk[n % CHUNK].texture = *texture;
    atomic_store(&chunk[n % CHUNK].live, true);
    atomic_store(&all->count, n + 1);
    *handle = n + 1;
    return MG_OK;
}

enum mg_status mg__texture_make(struct mg_simt *simt, const struct mg_texture *texture, uint64_t *handle)
{
    pthread_mutex_lock(&simt->lock);
    enum mg_status status = make(simt, texture, handle);
    pthread_mutex_unlock(&simt->lock);
    return status;
}

bool mg__texture_drop(struct mg_simt *simt, uint64_t handle)
{
    struct object *o = object_at(simt, handle);
    if (o)
        atomic_store(&o->live, false);
    return o != NULL;
}

bool mg__texture_get(struct mg_simt *simt, uint64_t handle, struct mg_texture *texture)
{
    const struct object *o = object_at(simt, handle);
    if (o)
        *texture = o->texture;
    return o != NULL;
}

void mg__textures_free(struct mg_simt *simt)
{
    for (unsigned i = 0; simt->textures && i < CHUNKS; i++)
        free(atomic_load(&simt->textures->chunks[i]));
    free(simt->textures);
    simt->textures = NULL;
}

/* The object that the lane names; NULL: a fault. */
static const struct mg_texture *find(struct mg_warp *w, const struct mg_op *op, unsigned lane, bool surface)
{
    const struct mg_op_is *is = op->is;
    const uint64_t handle = mg__lane64(w, is->of[is->nout].slot, lane);
    const struct object *o = object_at(w->worker->run->simt, handle);
    if (!o || o->texture.surface != surface) {
        mg__fault(w, op, lane, MG_ERR_ADDRESS, "0x%llx is no %s object", (unsigned long long)handle,
                  surface ? "surface" : "texture");
        mg__fault_hint(w, "it was never made, or is destroyed");
        return NULL;
    }
    const struct mg_texture *t = &o->texture;
    const struct mg_allocation *a = mg__snapshot_find(w->worker->run, t->base);
    if (a && t->base - a->address + mg__texture_bytes(t) <= a->size)
        return t;
    mg__fault(w, op, lane, MG_ERR_ADDRESS, "the memory of %s object 0x%llx was freed", surface ? "surface" : "texture",
              (unsigned long long)handle);
    return NULL;
}

/* The same of lane after lane, which mostly name one. */
struct last {
    uint64_t handle;
    const struct mg_texture *texture; /* NULL: none yet */
};
static const struct mg_texture *find_next(struct mg_warp *w, const struct mg_op *op, unsigned lane, bool surface,
                                          struct last *last)
{
    const uint64_t handle = mg__lane64(w, op->is->of[op->is->nout].slot, lane);
    if (!last->texture || last->handle != handle)
        *last = (struct last){handle, find(w, op, lane, surface)};
    return last->texture;
}

/* ---- textures ---- */
static float real(const struct mg_warp *w, const struct mg_engine_operand *o, unsigned lane)
{
    float f;
    uint32_t bits = mg__lane32(w, o->slot, lane);
    memcpy(&f, &bits, sizeof(f));
    return f;
}

static void give(struct mg_warp *w, const struct mg_op_is *is, unsigned lane, const uint32_t *values)
{
    for (unsigned k = 0; k < is->nout; k++)
        if (is->of[k].slot >= 0)
            ((uint32_t *)mg__slot(w, is->of[k].slot))[lane] = values[k];
}

/* Coordinates as PTX orders them: of layered ones the layer comes first. */
static struct mg_texture_point point_of(const struct mg_warp *w, const struct mg_texel *x,
                                        const struct mg_engine_operand *c, unsigned lane)
{
    const unsigned n = x->ncoordinates;
    const bool layered =
        x->geometry == MG_GEOMETRY_A1D || x->geometry == MG_GEOMETRY_A2D || x->geometry == MG_GEOMETRY_ACUBE;
    const unsigned from = layered, left = n - from;
    struct mg_texture_point p = {real(w, &c[from], lane), left > 1 ? real(w, &c[from + 1], lane) : 0,
                                 left > 2 ? real(w, &c[from + 2], lane) : 0,
                                 layered ? (int)mg__lane32(w, c[0].slot, lane) : 0};
    if (x->geometry != MG_GEOMETRY_CUBE && x->geometry != MG_GEOMETRY_ACUBE)
        return p;
    const int cube = layered ? p.layer : 0;
    p = mg__texture_face(&p);
    p.layer = cube >= 0 && cube <= MOST_CUBES ? p.layer + 6 * cube : -1;
    return p;
}

static void whole_of(const struct mg_warp *w, const struct mg_texel *x, const struct mg_engine_operand *c,
                     unsigned lane, int64_t at[3])
{
    const bool layered = x->geometry == MG_GEOMETRY_A1D || x->geometry == MG_GEOMETRY_A2D;
    const unsigned first = layered;
    const unsigned dims = x->geometry == MG_GEOMETRY_1D || x->geometry == MG_GEOMETRY_A1D   ? 1
                          : x->geometry == MG_GEOMETRY_2D || x->geometry == MG_GEOMETRY_A2D ? 2
                                                                                            : 3;
    memset(at, 0, 3 * sizeof(*at));
    for (unsigned k = 0; k < dims; k++)
        at[k] = (int32_t)mg__lane32(w, c[first + k].slot, lane);
    if (layered)
        at[2] = (int32_t)mg__lane32(w, c[0].slot, lane);
}

/* Of a mipmap, at the level that the instruction names or its gradients do. False: a fault. */
static bool sample(struct mg_warp *w, const struct mg_op *op, unsigned lane, const struct mg_texture *t,
                   uint32_t *values)
{
    const struct mg_texel *x = op->u.texel;
    const struct mg_engine_operand *c = &op->is->of[op->is->nout + 1], *more = c + x->ncoordinates;
    const struct mg_texture_point p = point_of(w, x, c, lane);
    if (t->levels < 2 || !x->nmore) {
        mg__texture_sample(t, &p, values);
        return true;
    }
    if (x->sub == MG_SUB_TEX_LEVEL) {
        mg__texture_sample_at(t, &p, mg__texture_named(real(w, more, lane)) + t->bias, values);
        return true;
    }
    const bool cube = x->geometry == MG_GEOMETRY_CUBE || x->geometry == MG_GEOMETRY_ACUBE;
    if (cube || t->anisotropic) {
        mg__fault(w, op, lane, MG_ERR_UNSUPPORTED, "a level of %s is not simulated",
                  cube ? "a cube by gradients" : "a texture with maxAnisotropy above 1 by gradients");
        return false;
    }
    float d[2][3] = {{0}};
    const unsigned n = x->nmore / 2u;
    for (unsigned k = 0; k < n; k++) {
        d[0][k] = real(w, &more[k], lane);
        d[1][k] = real(w, &more[n + k], lane);
    }
    mg__texture_sample_at(t, &p, mg__texture_steep(t, d[0], d[1], n) + t->bias, values);
    return true;
}

MG_HANDLER(mg__op_texture)
{
    const struct mg_texel *x = op->u.texel;
    const struct mg_engine_operand *c = &op->is->of[op->is->nout + 1];
    struct last last = {0};
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(rest);
        const struct mg_texture *t = find_next(w, op, lane, false, &last);
        uint32_t values[4];
        int64_t at[3];
        if (!t)
            return NULL;
        if (x->whole) {
            whole_of(w, x, c, lane, at);
            if (t->slice == 0 && (at[0] < 0 || at[0] >= t->width)) /* linear memory has no address mode */
                memset(values, 0, sizeof(values));
            else
                mg__texture_fetch(t, at, values);
        } else if (x->what == MG_TEXEL_GATHER) {
            const struct mg_texture_point p = point_of(w, x, c, lane);
            mg__texture_gather(t, &p, x->sub - MG_SUB_TLD4_R, values);
        } else if (!sample(w, op, lane, t, values)) {
            return NULL;
        }
        give(w, op->is, lane, values);
    }
    return op + 1;
}

MG_HANDLER(mg__op_texture_query)
{
    const struct mg_texel *x = op->u.texel;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(rest);
        const struct mg_texture *t = find(w, op, lane, x->surface);
        if (!t)
            return NULL;
        const uint32_t value = x->sub == MG_SUB_ASK_WIDTH        ? t->width
                               : x->sub == MG_SUB_ASK_HEIGHT     ? t->height
                               : x->sub == MG_SUB_ASK_DEPTH      ? t->layered ? 1 : t->depth
                               : x->sub == MG_SUB_ASK_LAYERS     ? t->layered ? t->depth : 0
                               : x->sub == MG_SUB_ASK_NORMALIZED ? t->normalized
                                                                 : 1;
        give(w, op->is, lane, &value);
    }
    return op + 1;
}

/* ---- surfaces ---- */
static const char *op_name(const struct mg_texel *x)
{
    return x->what == MG_TEXEL_LOAD ? "reads" : x->what == MG_TEXEL_STORE ? "writes" : "changes";
}

/* Where the access lies; *inside: whether it does at all. NULL and not outside: a fault. x is in bytes. */
static uint8_t *surface_at(struct mg_warp *w, const struct mg_op *op, unsigned lane, const struct mg_texture *t,
                           bool *outside)
{
    const struct mg_texel *x = op->u.texel;
    const int64_t row = (int64_t)t->width * t->channels * t->bits / 8, bytes = (int64_t)x->bytes * x->vec;
    int64_t at[3];
    whole_of(w, x, &op->is->of[op->is->nout + 1], lane, at);
    const bool narrow = row < bytes; /* no place of such a row is meant */
    const int64_t most[3] = {narrow ? -1 : (row - bytes) / bytes * bytes, (int64_t)t->height - 1,
                             (int64_t)t->depth - 1};
    *outside = false;
    if (at[0] % bytes) {
        mg__fault(w, op, lane, MG_ERR_MISALIGNED,
                  "a surface is accessed at byte %lld of a row, which is no multiple of %lld", (long long)at[0],
                  (long long)bytes);
        return NULL;
    }
    for (unsigned k = 0; k < 3; k++) {
        if (at[k] >= 0 && at[k] <= most[k])
            continue;
        *outside = true;
        at[k] = at[k] < 0 ? 0 : MG_MAX(most[k], 0);
    }
    if (*outside && x->edge == MG_EDGE_TRAP) {
        mg__fault(w, op, lane, MG_ERR_ADDRESS, "the kernel %s beyond the edge of a surface of %u x %u x %u texels",
                  op_name(x), t->width, t->height, t->depth);
        mg__fault_hint(w, "x counts bytes, not texels; cudaBoundaryModeZero and cudaBoundaryModeClamp allow it");
        *outside = false;
        return NULL;
    }
    *outside &= x->edge == MG_EDGE_ZERO || narrow;
    return (uint8_t *)(uintptr_t)t->base + at[2] * (int64_t)t->slice + at[1] * (int64_t)t->pitch + at[0];
}

static uint64_t combine(unsigned how, uint8_t type, uint64_t a, uint64_t b)
{
    bool sign = type == MG_T_S32 || type == MG_T_S64;
    bool less = sign ? (type == MG_T_S32 ? (int32_t)a < (int32_t)b : (int64_t)a < (int64_t)b) : a < b;
    switch (how) {
    case MG_ATOM_ADD:
        return a + b;
    case MG_ATOM_MIN:
        return less ? a : b;
    case MG_ATOM_MAX:
        return less ? b : a;
    case MG_ATOM_AND:
        return a & b;
    default:
        return a | b;
    }
}

static void reduce(const struct mg_texel *x, uint8_t *at, uint64_t value)
{
    if (x->bytes == 8) {
        uint64_t *word = (uint64_t *)(void *)at, old = __atomic_load_n(word, __ATOMIC_RELAXED);
        while (!__atomic_compare_exchange_n(word, &old, combine(x->atomop, x->type, old, value), false,
                                            __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        }
        return;
    }
    uint32_t *word = (uint32_t *)(void *)at, old = __atomic_load_n(word, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(word, &old, (uint32_t)combine(x->atomop, x->type, old, (uint32_t)value), false,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
    }
}

MG_HANDLER(mg__op_surface)
{
    const struct mg_texel *x = op->u.texel;
    const struct mg_op_is *is = op->is;
    struct last last = {0};
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(rest);
        bool outside;
        const struct mg_texture *t = find_next(w, op, lane, true, &last);
        uint8_t *at = t ? surface_at(w, op, lane, t, &outside) : NULL;
        if (!at)
            return NULL;
        for (unsigned k = 0; k < x->vec; k++) {
            const unsigned first = x->what == MG_TEXEL_LOAD ? 0 : is->nout + 1u + x->ncoordinates;
            const struct mg_engine_operand *o = &is->of[first + k];
            uint64_t value = 0;
            if (x->what == MG_TEXEL_LOAD) {
                if (!outside)
                    memcpy(&value, at + (size_t)k * x->bytes, x->bytes);
                if (o->slot >= 0 && o->bytes == 8)
                    ((uint64_t *)mg__slot(w, o->slot))[lane] = value;
                else if (o->slot >= 0)
                    ((uint32_t *)mg__slot(w, o->slot))[lane] = (uint32_t)value;
                continue;
            }
            value = o->bytes == 8 ? mg__lane64(w, o->slot, lane) : mg__lane32(w, o->slot, lane);
            if (!outside && x->what == MG_TEXEL_REDUCE)
                reduce(x, at, value);
            else if (!outside)
                memcpy(at + (size_t)k * x->bytes, &value, x->bytes);
        }
    }
    return op + 1;
}
