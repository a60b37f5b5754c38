/* lower_texture.c - textures and surfaces: handle, coordinates and values of an instruction as an op's operands.
 *
 * What is refused when it is reached: references instead of objects (they went with CUDA 12), samplers apart from
 * textures, offsets, depths to compare with, results of 16 bits, formatted accesses of surfaces.
 */
#include "simt/lower.h"

enum { MOST = 20 };
struct operands {
    struct mg_engine_operand of[MOST];
    unsigned n, nout;
    bool good;
};

static struct mg_texel *new_texel(struct mg_lower *L, enum mg_texel_what what)
{
    const struct mg_ptx_insn *i = L->insn;
    struct mg_texel *x = mg__arena_alloc(&L->program->arena, sizeof *x);
    if (!x) {
        L->status = MG_ERR_NOMEM;
        return NULL;
    }
    *x = (struct mg_texel){
        .what = (uint8_t)what, .sub = i->sub, .geometry = i->dims, .edge = i->edge, .vec = i->vec, .atomop = i->atomop};
    return x;
}

static void push(struct operands *s, int32_t slot, unsigned bytes)
{
    s->good = s->good && s->n < MOST;
    if (s->good)
        s->of[s->n++] = (struct mg_engine_operand)MG_SIZED(slot, bytes);
}

static const struct mg_ptx_opnd *element(const struct mg_lower *L, const struct mg_ptx_opnd *o, uint32_t k)
{
    return o->kind == MG_OPND_VEC ? &L->func->operands[o->first + k] : o;
}

static uint32_t count_of(const struct mg_ptx_opnd *o)
{
    return o->kind == MG_OPND_VEC ? o->count : 1;
}

static void results(struct mg_lower *L, struct operands *s, const struct mg_ptx_opnd *o, unsigned bytes)
{
    for (uint32_t k = 0; k < count_of(o); k++) {
        const struct mg_ptx_opnd *e = element(L, o, k);
        int32_t slot = e->kind == MG_OPND_SINK ? -1 : mg__lower_destination(L, e, bytes);
        s->good &= slot >= 0 || e->kind == MG_OPND_SINK;
        push(s, slot, bytes);
    }
    s->nout = s->n;
}

static void widen(struct mg_lower *L, const struct mg_ptx_opnd *o, unsigned bytes)
{
    for (uint32_t k = 0; k < count_of(o); k++)
        if (element(L, o, k)->kind != MG_OPND_SINK)
            mg__lower_widen(L, element(L, o, k), bytes, bytes == 8 ? MG_T_B64 : MG_T_U32);
}

/* Objects are 64-bit registers. */
static void handle(struct mg_lower *L, struct operands *s, const struct mg_ptx_opnd *o)
{
    struct mg_ptx_opnd reg = {.kind = MG_OPND_REG, .index = o->index};
    int32_t slot = o->has_reg && !o->imm && !o->count ? mg__lower_source(L, &reg, 8, MG_T_U64, 0) : -1;
    s->good &= slot >= 0;
    push(s, slot, 8);
}

static void values(struct mg_lower *L, struct operands *s, const struct mg_ptx_opnd *o, unsigned bytes, uint8_t type)
{
    for (uint32_t k = 0; k < count_of(o); k++) {
        int32_t slot = mg__lower_source(L, element(L, o, k), bytes, type, s->n % MG_COUNT(L->temp));
        s->good &= slot >= 0;
        push(s, slot, bytes);
    }
}

/* How many coordinates matter; PTX has two or four of the others. */
static unsigned coordinates_of(unsigned geometry)
{
    switch (geometry) {
    case MG_GEOMETRY_1D:
        return 1;
    case MG_GEOMETRY_2D:
    case MG_GEOMETRY_A1D:
        return 2;
    case MG_GEOMETRY_ACUBE:
        return 4;
    case MG_GEOMETRY_3D:
    case MG_GEOMETRY_A2D:
    case MG_GEOMETRY_CUBE:
        return 3;
    default:
        return 0;
    }
}

static void coordinates(struct mg_lower *L, struct operands *s, struct mg_texel *x, const struct mg_ptx_opnd *o,
                        uint8_t type)
{
    x->ncoordinates = (uint8_t)coordinates_of(x->geometry);
    s->good &= x->ncoordinates && count_of(o) >= x->ncoordinates;
    for (unsigned k = 0; k < x->ncoordinates && s->good; k++)
        values(L, s, element(L, o, k), 4, type);
}

/* What chooses a level of a mipmap: one number, or how the coordinates change along two directions. */
static void levels(struct mg_lower *L, struct operands *s, struct mg_texel *x)
{
    const unsigned before = s->n;
    const bool one = x->geometry == MG_GEOMETRY_1D || x->geometry == MG_GEOMETRY_A1D;
    const bool two = x->geometry == MG_GEOMETRY_2D || x->geometry == MG_GEOMETRY_A2D;
    const unsigned dims = one ? 1 : two ? 2 : 3;
    if (x->sub == MG_SUB_TEX_LEVEL && s->good)
        values(L, s, mg__lower_opnd(L, 3), 4, MG_T_F32);
    for (unsigned k = 0; x->sub == MG_SUB_TEX_GRAD && k < 2 && s->good; k++) {
        const struct mg_ptx_opnd *o = mg__lower_opnd(L, 3 + k);
        s->good &= count_of(o) >= dims;
        for (unsigned j = 0; j < dims && s->good; j++)
            values(L, s, element(L, o, j), 4, MG_T_F32);
    }
    x->nmore = (uint8_t)(s->n - before);
}

static void texture(struct mg_lower *L, enum mg_texel_what what)
{
    const struct mg_ptx_insn *i = L->insn;
    struct mg_texel *x = new_texel(L, what);
    struct operands s = {.good = x != NULL};
    if (!x)
        return;
    if (what == MG_TEXEL_GATHER && x->sub == MG_SUB_SURFACE_B)
        x->sub = MG_SUB_TLD4_B;
    x->whole = i->type[1] == MG_T_S32;
    bool word = i->type[0] == MG_T_F32 || i->type[0] == MG_T_U32 || i->type[0] == MG_T_S32;
    unsigned extra = x->sub == MG_SUB_TEX_LEVEL ? 1 : x->sub == MG_SUB_TEX_GRAD ? 2 : 0;
    s.good &= word && (x->whole || i->type[1] == MG_T_F32) && i->nops == 3 + extra && !(x->whole && extra);
    if (s.good)
        results(L, &s, mg__lower_opnd(L, 0), 4);
    if (s.good)
        handle(L, &s, mg__lower_opnd(L, 1));
    if (s.good)
        coordinates(L, &s, x, mg__lower_opnd(L, 2), x->whole ? MG_T_S32 : MG_T_F32);
    levels(L, &s, x);
    if (!s.good) {
        mg__lower_unsupported(L);
        return;
    }
    mg__lower_op(L, MG_DO_TEXTURE, s.nout, s.of, s.n)->u.texel = x;
    widen(L, mg__lower_opnd(L, 0), 4);
}

void mg__lower_texture(struct mg_lower *L)
{
    texture(L, MG_TEXEL_SAMPLE);
}

void mg__lower_texture_gather(struct mg_lower *L)
{
    texture(L, MG_TEXEL_GATHER);
}

static void query(struct mg_lower *L, bool surface)
{
    struct mg_texel *x = new_texel(L, MG_TEXEL_QUERY);
    struct operands s = {.good = x != NULL};
    if (!x)
        return;
    x->surface = surface;
    s.good = x->sub && L->insn->nops == 2;
    if (s.good)
        results(L, &s, mg__lower_opnd(L, 0), 4);
    if (s.good)
        handle(L, &s, mg__lower_opnd(L, 1));
    if (!s.good) {
        mg__lower_unsupported(L);
        return;
    }
    mg__lower_op(L, MG_DO_TEXTURE_QUERY, s.nout, s.of, s.n)->u.texel = x;
    widen(L, mg__lower_opnd(L, 0), 4);
}

static void surface(struct mg_lower *L, enum mg_texel_what what)
{
    const struct mg_ptx_insn *i = L->insn;
    const bool loads = what == MG_TEXEL_LOAD;
    struct mg_texel *x = new_texel(L, what);
    struct operands s = {.good = x != NULL};
    if (!x)
        return;
    x->surface = true;
    x->bytes = (uint8_t)mg__lower_type_size(i->type[0]);
    x->type = i->type[0];
    const unsigned wide = x->bytes == 8 ? 8 : 4, map = loads;
    const unsigned how = x->atomop;
    bool known =
        what != MG_TEXEL_REDUCE || (x->bytes >= 4 && (how == MG_ATOM_AND || how == MG_ATOM_OR || how == MG_ATOM_ADD ||
                                                      how == MG_ATOM_MIN || how == MG_ATOM_MAX));
    s.good &= x->sub == MG_SUB_SURFACE_B && x->bytes && known;
    if (s.good && loads)
        results(L, &s, mg__lower_opnd(L, 0), wide);
    if (s.good)
        handle(L, &s, mg__lower_opnd(L, map));
    if (s.good)
        coordinates(L, &s, x, mg__lower_opnd(L, map + 1), MG_T_S32);
    if (s.good && !loads)
        values(L, &s, mg__lower_opnd(L, 2), wide,
               wide == 8       ? MG_T_B64
               : x->bytes == 2 ? MG_T_U16
               : x->bytes == 1 ? MG_T_U8
                               : MG_T_B32);
    if (!s.good) {
        mg__lower_unsupported(L);
        return;
    }
    mg__lower_op(L, MG_DO_SURFACE, s.nout, s.of, s.n)->u.texel = x;
    if (loads)
        widen(L, mg__lower_opnd(L, 0), wide);
}

void mg__lower_texture_query(struct mg_lower *L)
{
    query(L, false);
}

void mg__lower_surface_query(struct mg_lower *L)
{
    query(L, true);
}

void mg__lower_surface_load(struct mg_lower *L)
{
    surface(L, MG_TEXEL_LOAD);
}

void mg__lower_surface_store(struct mg_lower *L)
{
    surface(L, MG_TEXEL_STORE);
}

void mg__lower_surface_reduce(struct mg_lower *L)
{
    surface(L, MG_TEXEL_REDUCE);
}
