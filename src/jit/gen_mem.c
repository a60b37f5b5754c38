/* gen_mem.c - memory accesses and calls of the interpreter.
 *
 * An access whose lanes' addresses lie on a line is compared with the record of its site, one comparison for bounds and
 * alignment, counted by the base's word in its sector, and then done without a look at its lanes: rows of lanes that
 * are contiguous as one vector, rows of one address as one element, others as a gather or scatter. Accesses of a basic
 * block through one register are one site: the first compares and counts for all. Everything else is a call of the
 * interpreter's handler, with its operands in the frame, or is looked at (gen_look.c).
 */
#include "jit/gen_mem.h"

#define FIELD(g, base, type, field) mg__gen_at(g, base, offsetof(struct type, field))

static unsigned log2_of(unsigned n)
{
    return (unsigned)__builtin_ctz(n);
}

/* ---- sites ---- */
static bool same_shape(const struct mg_engine_op *a, const struct mg_engine_op *b)
{
    return a->in[0].slot == b->in[0].slot && a->mem->space == b->mem->space && a->in[0].bytes == b->in[0].bytes &&
           a->mem->width * a->mem->vec == b->mem->width * b->mem->vec;
}

static bool access_op(const struct mg_engine_op *op)
{
    return op->kind == MG_ENGINE_LOAD || op->kind == MG_ENGINE_STORE;
}

static bool writes(const struct mg_engine_op *op, int32_t slot)
{
    for (unsigned k = 0; k < op->nout; k++)
        if (op->out[k].slot == slot)
            return true;
    return false;
}

/* Of how many places in a word a site that is found has one each. */
static uint32_t places(const struct mg_engine_site *site)
{
    return site->found && site->bytes < 4 ? 4u / site->bytes : 1;
}

/* Lanes that lie one behind the other are moved as they lie. */
bool mg__gen_may_be_found(const struct mg_engine_op *op)
{
    return op->kind == MG_ENGINE_LOAD || op->mem->vec == 1;
}

/* A new site for the access and those behind it in its block through the same, unchanged, register. */
struct mg_gen_group *mg__gen_site(struct mg_gen *g, uint32_t index, const struct mg_gen_form *form, bool found)
{
    const struct mg_engine_op *ops = g->p->ops, *op = &ops[index];
    uint32_t first = (uint32_t)g->members.count;
    struct mg_engine_site site = {.first_member = first,
                                  .space = op->mem->space,
                                  .bytes = (uint8_t)(op->mem->width * op->mem->vec),
                                  .dx = form->dx,
                                  .dy = form->dy,
                                  .found = found,
                                  .cx = form->kx,
                                  .cy = form->ky,
                                  .insn = op->insn};
    if (found && !g->mask)
        site.shape = ++g->nshapes;
    bool alone = op->kind == MG_ENGINE_CALL || g->mask || (index > 0 && ops[index - 1].kind == MG_ENGINE_GUARD);
    for (uint32_t i = index; i < g->p->nops; i++) {
        const struct mg_engine_op *o = &ops[i];
        if (i > index &&
            (g->block_at[i] || o->kind == MG_ENGINE_BRANCH || o->kind == MG_ENGINE_EXIT || o->kind == MG_ENGINE_CALL))
            break;
        if (i == index ||
            (access_op(o) && same_shape(op, o) && ops[i - 1].kind != MG_ENGINE_GUARD && site.nmembers < 256 &&
             (!found || (mg__gen_may_be_found(o) && o->kind == op->kind)))) {
            if (!mg__vec_push(&g->members, ((struct mg_engine_member){i, o->mem->offset - op->mem->offset})))
                g->reason = "memory";
            site.nmembers++;
        }
        if (alone || writes(o, op->in[0].slot))
            break;
    }
    uint32_t number = (uint32_t)g->sites.count;
    for (uint32_t k = 0; k < (!g->mask ? places(&site) : found ? MG_ENGINE_FEW_MASKS : MG_ENGINE_MASKS); k++)
        if (!mg__vec_push(&g->sites, site))
            g->reason = "memory";
    if (g->ngroups == MG_GEN_GROUPS) { /* finished ones are forgotten */
        uint32_t keep = alone ? MG_GEN_GROUPS : 0;
        for (uint32_t k = keep; k < g->ngroups; k++)
            if (g->groups[k].done < g->groups[k].count ||
                (g->checkpoint.valid && g->groups[k].mark < g->groups[k].count))
                g->groups[keep++] = g->groups[k];
        g->ngroups = keep;
        if (keep == MG_GEN_GROUPS) {
            g->ngroups--;
            g->reason = "groups";
        }
    }
    struct mg_gen_group *group = &g->groups[g->ngroups++];
    *group = (struct mg_gen_group){.slot = op->in[0].slot, .site = number, .count = site.nmembers};
    return group;
}

/* The group that has counted this access already. */
struct mg_gen_group *mg__gen_open_group(struct mg_gen *g, uint32_t index)
{
    for (uint32_t k = 0; k < g->ngroups; k++) {
        struct mg_gen_group *group = &g->groups[k];
        const struct mg_engine_site *site = &g->sites.at[group->site];
        for (uint32_t m = group->done; m < group->count && m < group->done + 1; m++)
            if (g->members.at[site->first_member + m].op == index)
                return group;
    }
    return NULL;
}

/* ---- one access by its line ---- */

static LLVMValueRef count_bits(struct mg_gen *g, const char *name, LLVMValueRef v)
{
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(g->module, LLVMLookupIntrinsicID(name, strlen(name)), &g->i32, 1);
    LLVMValueRef args[2] = {v, LLVMConstInt(g->i1, 0, 0)};
    return LLVMBuildCall2(g->b, LLVMGlobalGetValueType(f), f, args, strcmp(name, "llvm.ctpop") ? 2 : 1, "");
}

/* The number of the site for this mask among its `most`: the first n lanes, or one lane, have one each. */
static LLVMValueRef of_mask(struct mg_gen *g, uint32_t most)
{
    LLVMValueRef low = LLVMBuildMul(g->b, count_bits(g, "llvm.cttz", g->mask), mg__gen_c32(g, 5), "");
    LLVMValueRef n = LLVMBuildAdd(g->b, count_bits(g, "llvm.ctpop", g->mask), low, "");
    return LLVMBuildAnd(g->b, n, mg__gen_c32(g, most - 1), "");
}

/* The same for a place in its word. */
static LLVMValueRef place_of(struct mg_gen *g, LLVMValueRef at, unsigned bytes)
{
    LLVMValueRef byte = LLVMBuildAnd(g->b, LLVMBuildTrunc(g->b, at, g->i32, ""), mg__gen_c32(g, 3), "");
    return LLVMBuildLShr(g->b, byte, mg__gen_c32(g, log2_of(bytes)), "");
}

static LLVMValueRef wide(struct mg_gen *g, LLVMValueRef v)
{
    return LLVMTypeOf(v) == g->i64 ? v : LLVMBuildSExt(g->b, v, g->i64, "");
}

LLVMValueRef mg__gen_fits_record(struct mg_gen *g, const struct mg_gen_group *group, const struct mg_gen_line *l,
                                 const struct mg_engine_site *site, LLVMBasicBlockRef out)
{
    LLVMValueRef rec = mg__gen_at(g, g->records, (uint64_t)group->site * sizeof(struct mg_engine_record)),
                 number = mg__gen_c32(g, group->site);
    if (g->mask || places(site) > 1) {
        LLVMValueRef which = g->mask ? of_mask(g, site->found ? MG_ENGINE_FEW_MASKS : MG_ENGINE_MASKS)
                                     : place_of(g, l->at, site->bytes);
        LLVMValueRef by_bytes = LLVMBuildMul(g->b, which, mg__gen_c32(g, sizeof(struct mg_engine_record)), "");
        by_bytes = LLVMBuildZExt(g->b, by_bytes, g->i64, "");
        rec = LLVMBuildInBoundsGEP2(g->b, g->i8, rec, &by_bytes, 1, "");
        number = LLVMBuildAdd(g->b, number, which, "");
    }
    LLVMValueRef lo = mg__gen_load(g, g->i64, FIELD(g, rec, mg_engine_record, lo), 8);
    LLVMValueRef range = mg__gen_load(g, g->i64, FIELD(g, rec, mg_engine_record, range), 8);
    LLVMValueRef d = LLVMBuildSub(g->b, l->at, lo, "");
    unsigned by = log2_of(MG_MAX(site->bytes, 4u));
    LLVMValueRef r = LLVMBuildOr(g->b, LLVMBuildLShr(g->b, d, mg__gen_c64(g, by), ""),
                                 LLVMBuildShl(g->b, d, mg__gen_c64(g, 64 - by), ""), "");
    LLVMValueRef ok = LLVMBuildICmp(g->b, LLVMIntULE, r, range, "");
    LLVMValueRef cx = wide(g, mg__gen_cx(g, &l->address, 8)), cy = wide(g, mg__gen_cy(g, &l->address, 8));
    if (g->mask)
        ok = LLVMBuildAnd(g->b, ok,
                          LLVMBuildICmp(g->b, LLVMIntEQ, g->mask,
                                        mg__gen_load(g, g->i32, FIELD(g, rec, mg_engine_record, mask), 4), ""),
                          "");
    if (site->dx)
        ok = LLVMBuildAnd(
            g->b, ok,
            LLVMBuildICmp(g->b, LLVMIntEQ, cx, mg__gen_load(g, g->i64, FIELD(g, rec, mg_engine_record, cx), 8), ""),
            "");
    if (site->dy)
        ok = LLVMBuildAnd(
            g->b, ok,
            LLVMBuildICmp(g->b, LLVMIntEQ, cy, mg__gen_load(g, g->i64, FIELD(g, rec, mg_engine_record, cy), 8), ""),
            "");
    LLVMBasicBlockRef good = mg__gen_bb(g), slow = mg__gen_bb(g);
    mg__gen_expect(g, ok, good, slow);
    LLVMPositionBuilderAtEnd(g->b, slow);
    LLVMTypeRef params[6] = {g->ptr, g->i32, g->i64, g->i64, g->i64, g->i32},
                type = LLVMFunctionType(g->i1, params, 6, 0);
    LLVMValueRef f = mg__gen_load(g, g->ptr, FIELD(g, g->calls, mg_engine_calls, miss), 8);
    LLVMValueRef args[6] = {g->e, number, l->at, cx, cy, g->mask ? g->mask : mg__gen_c32(g, ~0u)};
    LLVMValueRef made = LLVMBuildCall2(g->b, type, f, args, 6, "");
    LLVMBuildCondBr(g->b, made, good, out);
    LLVMPositionBuilderAtEnd(g->b, good);
    if (group->noted)
        return rec;
    LLVMValueRef word = LLVMBuildAnd(g->b, LLVMBuildLShr(g->b, l->at, mg__gen_c64(g, 2), ""), mg__gen_c64(g, 7), "");
    LLVMValueRef times = LLVMBuildGEP2(g->b, g->i64, FIELD(g, rec, mg_engine_record, times), &word, 1, "");
    mg__gen_add(g, times, mg__gen_c64(g, 1));
    return rec;
}

static LLVMValueRef shuffle(struct mg_gen *g, LLVMValueRef a, LLVMValueRef b, const int *index, unsigned n)
{
    LLVMValueRef mask[512];
    for (unsigned i = 0; i < n; i++)
        mask[i] = index[i] < 0 ? LLVMGetPoison(g->i32) : mg__gen_c32(g, (uint32_t)index[i]);
    return LLVMBuildShuffleVector(g->b, a, b ? b : LLVMGetPoison(LLVMTypeOf(a)), LLVMConstVector(mask, n), "");
}

static LLVMValueRef concat(struct mg_gen *g, LLVMValueRef *piece, unsigned n)
{
    int index[32];
    for (; n > 1; n /= 2) {
        unsigned each = LLVMGetVectorSize(LLVMTypeOf(piece[0]));
        for (unsigned i = 0; i < 2 * each && i < 32; i++)
            index[i] = (int)i;
        for (unsigned k = 0; k < n / 2; k++)
            piece[k] = shuffle(g, piece[2 * k], piece[2 * k + 1], index, 2 * each);
    }
    return piece[0];
}

LLVMValueRef mg__gen_splat(struct mg_gen *g, LLVMValueRef v, unsigned n)
{
    int zero[32] = {0};
    if (n == 1)
        return LLVMBuildInsertElement(g->b, LLVMGetPoison(LLVMVectorType(LLVMTypeOf(v), 1)), v, mg__gen_c32(g, 0), "");
    LLVMValueRef one =
        LLVMBuildInsertElement(g->b, LLVMGetPoison(LLVMVectorType(LLVMTypeOf(v), n)), v, mg__gen_c32(g, 0), "");
    return shuffle(g, one, NULL, zero, n);
}

LLVMValueRef mg__gen_row_ptr(struct mg_gen *g, const struct mg_gen_line *l, unsigned y, uint64_t more)
{
    LLVMValueRef at = mg__gen_c64(g, more);
    if (y)
        at = LLVMBuildAdd(g->b, at, LLVMBuildMul(g->b, wide(g, mg__gen_cy(g, &l->address, 8)), mg__gen_c64(g, y), ""),
                          "");
    return LLVMBuildGEP2(g->b, g->i8, l->ptr, &at, 1, "");
}

static LLVMValueRef lane_ptrs(struct mg_gen *g, const struct mg_gen_line *l, uint64_t more)
{
    struct mg_gen_value v = l->address;
    bool small = !v.form.dx && !v.form.dy && llabs(v.form.kx) < 1 << 24 && llabs(v.form.ky) < 1 << 24;
    v.base = small ? mg__gen_c32(g, 0) : mg__gen_c64(g, 0);
    v.vec = NULL;
    if (!small) {
        v.cx = v.form.dx ? wide(g, v.cx) : NULL;
        v.cy = v.form.dy ? wide(g, v.cy) : NULL;
    }
    LLVMValueRef index = mg__gen_vector(g, &v, small ? 4 : 8), from = mg__gen_row_ptr(g, l, 0, more);
    return LLVMBuildGEP2(g->b, g->i8, from, &index, 1, "");
}

static LLVMValueRef all_on(struct mg_gen *g)
{
    LLVMValueRef on[32];
    for (unsigned i = 0; i < 32; i++)
        on[i] = LLVMConstInt(g->i1, 1, 0);
    return LLVMConstVector(on, 32);
}

/* A gather or a scatter. */
static LLVMValueRef scattered(struct mg_gen *g, bool load, LLVMTypeRef vector, LLVMValueRef value, LLVMValueRef ptrs,
                              unsigned align, LLVMValueRef on)
{
    const char *name = load ? "llvm.masked.gather" : "llvm.masked.scatter";
    LLVMTypeRef types[2] = {vector, LLVMVectorType(g->ptr, 32)};
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(g->module, LLVMLookupIntrinsicID(name, strlen(name)), types, 2);
    on = on ? on : all_on(g);
    LLVMValueRef args[4] = {ptrs, mg__gen_c32(g, align), on, LLVMGetPoison(vector)},
                 out[4] = {value, ptrs, mg__gen_c32(g, align), on};
    return LLVMBuildCall2(g->b, LLVMGlobalGetValueType(f), f, load ? args : out, 4, "");
}

/* A row of lanes, `vec` elements each, one behind the other. */
static LLVMValueRef row_of(struct mg_gen *g, bool load, LLVMTypeRef type, LLVMValueRef value, LLVMValueRef ptr,
                           unsigned align, LLVMValueRef on, unsigned y, unsigned vec)
{
    int index[512];
    if (!on && load)
        return mg__gen_load(g, type, ptr, align);
    if (!on) {
        mg__gen_store(g, value, ptr, align);
        return NULL;
    }
    for (unsigned i = 0; i < g->row * vec; i++)
        index[i] = (int)(y * g->row + i / vec);
    const char *name = load ? "llvm.masked.load" : "llvm.masked.store";
    LLVMTypeRef types[2] = {type, g->ptr};
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(g->module, LLVMLookupIntrinsicID(name, strlen(name)), types, 2),
                 some = shuffle(g, on, NULL, index, g->row * vec);
    LLVMValueRef in[4] = {ptr, mg__gen_c32(g, align), some, LLVMGetPoison(type)},
                 out[4] = {value, ptr, mg__gen_c32(g, align), some};
    return LLVMBuildCall2(g->b, LLVMGlobalGetValueType(f), f, load ? in : out, 4, "");
}

/* An element as a register holds it. */
LLVMValueRef mg__gen_to_register(struct mg_gen *g, const struct mg_engine_mem *m, LLVMValueRef v, bool vector,
                                unsigned bytes)
{
    LLVMTypeRef type = vector ? LLVMVectorType(mg__gen_int(g, bytes), 32) : mg__gen_int(g, bytes);
    if (m->width == bytes)
        return v;
    return m->width > bytes ? LLVMBuildTrunc(g->b, v, type, "")
           : m->sext        ? LLVMBuildSExt(g->b, v, type, "")
                            : LLVMBuildZExt(g->b, v, type, "");
}

/* Where a row reads its one place. One without lanes reads of what is there for certain: its own may be nowhere. */
static LLVMValueRef place_of_row(struct mg_gen *g, const struct mg_gen_line *l, unsigned y, uint64_t more)
{
    LLVMValueRef ptr = mg__gen_row_ptr(g, l, y, more);
    if (!l->on || g->row == 32)
        return ptr;
    LLVMValueRef lanes = LLVMBuildAnd(g->b, g->mask, mg__gen_c32(g, ((1u << g->row) - 1) << y * g->row), ""),
                 any = LLVMBuildICmp(g->b, LLVMIntNE, lanes, mg__gen_c32(g, 0), "");
    return LLVMBuildSelect(g->b, any, ptr, g->e, "");
}

static void load_line(struct mg_gen *g, const struct mg_engine_op *op, const struct mg_gen_line *l)
{
    const struct mg_engine_mem *m = op->mem;
    LLVMTypeRef one = mg__gen_int(g, m->width), vector = LLVMVectorType(one, 32);
    const struct mg_gen_form *f = &l->address.form;
    unsigned rows = 32 / g->row;
    bool uniform = mg__gen_uniform(*f);
    bool whole = !f->dx && f->kx == m->width * m->vec && rows <= 8, same = !f->dx && f->kx == 0 && rows <= 8;
    LLVMValueRef row[32] = {0}, got[8] = {0};
    for (unsigned y = 0; y < rows && whole && !uniform; y++) {
        bool again = y && !f->dy && f->ky == 0 && !l->on;
        row[y] = again ? row[0]
                       : row_of(g, true, LLVMVectorType(one, g->row * m->vec), NULL, mg__gen_row_ptr(g, l, y, 0),
                                m->width,
                                l->on, y, m->vec);
    }
    for (unsigned v = 0; v < m->vec; v++) {
        const unsigned bytes = op->out[v].bytes;
        LLVMValueRef piece[32];
        if (op->out[v].slot < 0)
            continue;
        if (uniform) {
            got[v] = mg__gen_load(g, one, mg__gen_row_ptr(g, l, 0, v * m->width), m->width);
            got[v] = mg__gen_to_register(g, m, got[v], false, bytes);
            continue;
        }
        for (unsigned y = 0; y < rows && (whole || same); y++) {
            int index[32];
            for (unsigned x = 0; x < g->row; x++)
                index[x] = (int)(x * m->vec + v);
            LLVMValueRef from = same ? place_of_row(g, l, y, v * m->width) : NULL;
            piece[y] = same         ? mg__gen_splat(g, mg__gen_load(g, one, from, m->width), g->row)
                       : m->vec > 1 ? shuffle(g, row[y], NULL, index, g->row)
                                    : row[y];
        }
        got[v] = whole || same ? concat(g, piece, rows)
                               : scattered(g, true, vector, NULL, lane_ptrs(g, l, v * m->width), m->width, l->on);
        got[v] = mg__gen_to_register(g, m, got[v], true, bytes);
    }
    for (unsigned v = 0; v < m->vec; v++)
        if (got[v])
            mg__gen_write(g, op->out[v].slot, op->out[v].bytes,
                          uniform ? mg__gen_of_base(got[v]) : mg__gen_of_vector(got[v]));
}

static void store_line(struct mg_gen *g, const struct mg_engine_op *op, const struct mg_gen_line *l)
{
    const struct mg_engine_mem *m = op->mem;
    LLVMTypeRef one = mg__gen_int(g, m->width), vector = LLVMVectorType(one, 32);
    const struct mg_gen_form *f = &l->address.form;
    unsigned rows = 32 / g->row;
    bool whole = !f->dx && f->kx == m->width && m->vec == 1 && rows <= 8, same = mg__gen_uniform(*f);
    for (unsigned v = 0; v < m->vec; v++) {
        const unsigned bytes = op->in[1 + v].bytes;
        struct mg_gen_value r = mg__gen_read(g, op->in[1 + v].slot, bytes);
        LLVMValueRef x = mg__gen_vector(g, &r, bytes);
        if (m->width < bytes)
            x = LLVMBuildTrunc(g->b, x, vector, "");
        else if (m->width > bytes)
            x = LLVMBuildZExt(g->b, x, vector, "");
        if (same) { /* the last lane's stays */
            LLVMValueRef last = mg__gen_c32(g, 31);
            if (l->on)
                last = LLVMBuildSub(g->b, last, count_bits(g, "llvm.ctlz", g->mask), "");
            mg__gen_store(g, LLVMBuildExtractElement(g->b, x, last, ""), mg__gen_row_ptr(g, l, 0, v * m->width),
                          m->width);
            continue;
        }
        for (unsigned y = 0; y < rows && whole; y++) {
            int index[32];
            for (unsigned i = 0; i < g->row; i++)
                index[i] = (int)(y * g->row + i);
            row_of(g, false, LLVMVectorType(one, g->row), rows == 1 ? x : shuffle(g, x, NULL, index, g->row),
                   mg__gen_row_ptr(g, l, y, 0), m->width, l->on, y, 1);
        }
        if (!whole)
            scattered(g, false, vector, x, lane_ptrs(g, l, v * m->width), m->width, l->on);
    }
}

/* Warps after one another read or write rows of an array, too far apart for the processor to see: the next one's are
 * fetched while this one works. A store that waits for its line also holds up loads from places a multiple of 4 KB
 * away, which the processor takes for the same at first. Iterations of a tight loop are left to the processor. */
void mg__gen_fetch_ahead(struct mg_gen *g, const struct mg_gen_group *group, const struct mg_engine_mem *m,
                        struct mg_gen_line *l)
{
    const struct mg_gen_form *f = &l->address.form;
    const char *name = "llvm.prefetch";
    if (g->quick || (!g->some && (g->inside || g->mask)) || m->space == MG_SPACE_SHARED || f->dx ||
        f->kx != m->width * m->vec || g->row < 8)
        return;
    LLVMValueRef at = FIELD(g, mg__gen_at(g, g->records, (uint64_t)group->site * sizeof(struct mg_engine_record)),
                            mg_engine_record, last);
    LLVMValueRef next =
        LLVMBuildSub(g->b, LLVMBuildShl(g->b, l->at, mg__gen_c64(g, 1), ""), mg__gen_load(g, g->i64, at, 8), "");
    mg__gen_store(g, l->at, at, 8);
    LLVMValueRef ptr = LLVMBuildIntToPtr(g->b, next, g->ptr, "");
    LLVMValueRef f_prefetch =
        LLVMGetIntrinsicDeclaration(g->module, LLVMLookupIntrinsicID(name, strlen(name)), &g->ptr, 1);
    for (unsigned y = 0; y < 32 / g->row; y++) {
        LLVMValueRef up = LLVMBuildMul(g->b, wide(g, mg__gen_cy(g, &l->address, 8)), mg__gen_c64(g, y), "");
        LLVMValueRef row = LLVMBuildGEP2(g->b, g->i8, ptr, &up, 1, "");
        for (unsigned byte = 0; byte < g->row * m->width * m->vec && byte < 256; byte += 64) {
            LLVMValueRef args[4] = {mg__gen_at(g, row, byte), mg__gen_c32(g, m->kind != MG_ACCESS_LD),
                                    mg__gen_c32(g, 3), mg__gen_c32(g, 1)};
            LLVMBuildCall2(g->b, LLVMGlobalGetValueType(f_prefetch), f_prefetch, args, 4, "");
        }
    }
}

LLVMValueRef mg__gen_at_offset(struct mg_gen *g, const struct mg_engine_op *op, LLVMValueRef base)
{
    if (op->in[0].bytes == 8)
        return LLVMBuildAdd(g->b, base, mg__gen_c64(g, (uint64_t)op->mem->offset), "");
    return LLVMBuildZExt(g->b, LLVMBuildAdd(g->b, base, mg__gen_c32(g, (uint32_t)op->mem->offset), ""), g->i64, "");
}

/* A site of its own for the access, compared and, unless it is `noted`, counted; `out`: as for mg__gen_fits_record. */
static struct mg_gen_group *first_of_site(struct mg_gen *g, uint32_t index, struct mg_gen_line *l, bool noted,
                                          LLVMBasicBlockRef out)
{
    struct mg_gen_group *group = mg__gen_site(g, index, &l->address.form, false);
    group->noted = noted;
    l->at = mg__gen_at_offset(g, &g->p->ops[index], l->address.base);
    group->at = l->at;
    uint32_t count = group->count;
    group->count = 0; /* nothing is counted yet where this leaves */
    l->rec = mg__gen_fits_record(g, group, l, &g->sites.at[group->site], out);
    group->count = count;
    return group;
}

/* Where it is, and no deferred store is. True: it is deferred itself. */
bool mg__gen_point_to(struct mg_gen *g, const struct mg_engine_op *op, struct mg_gen_line *l)
{
    l->ptr = op->mem->space == MG_SPACE_SHARED ? LLVMBuildGEP2(g->b, g->i8, g->shared, &l->at, 1, "")
                                               : LLVMBuildIntToPtr(g->b, l->at, g->ptr, "");
    bool deferred = mg__gen_is_deferred(g, op, &l->address.form);
    if (!deferred && op->mem->space != MG_SPACE_SHARED)
        mg__gen_deferred_check(g, &l->address, l->at, op->mem->width * op->mem->vec);
    return deferred;
}

/* The access itself, of a line that is in bounds and counted. */
void mg__gen_move_line(struct mg_gen *g, const struct mg_engine_op *op, struct mg_gen_line *l)
{
    if (mg__gen_point_to(g, op, l))
        mg__gen_deferred_store(g, op->in[1].slot, &l->address, l->at);
    else if (op->kind == MG_ENGINE_LOAD)
        load_line(g, op, l);
    else
        store_line(g, op, l);
}

LLVMValueRef mg__gen_of_member(struct mg_gen *g, const struct mg_gen_group *group)
{
    const struct mg_engine_site *site = &g->sites.at[group->site];
    return LLVMBuildAdd(g->b, group->at,
                        mg__gen_c64(g, (uint64_t)g->members.at[site->first_member + group->done].offset), "");
}

static void by_line(struct mg_gen *g, uint32_t index, struct mg_gen_value address)
{
    const struct mg_engine_op *op = &g->p->ops[index];
    const struct mg_engine_mem *m = op->mem;
    struct mg_gen_line l = {.address = address, .on = g->mask ? mg__gen_lanes(g, g->mask) : NULL};
    struct mg_gen_group *group = mg__gen_open_group(g, index);
    if (group) { /* all of its members are in bounds: no sum wraps */
        l.at = mg__gen_of_member(g, group);
    } else {
        group = first_of_site(g, index, &l, false, mg__gen_exit(g));
        mg__gen_fetch_ahead(g, group, m, &l);
    }
    mg__gen_move_line(g, op, &l);
    group->done++;
}

/* ---- calls ---- */
void mg__gen_to_frame(struct mg_gen *g, const struct mg_engine_operand *o)
{
    const uint32_t var = mg__gen_var(g, o->slot, o->bytes);
    if (var == UINT32_MAX || mg__gen_is_framed(g, var))
        return;
    struct mg_gen_value v = mg__gen_read(g, o->slot, o->bytes);
    mg__gen_store(g, mg__gen_vector(g, &v, o->bytes), mg__gen_at(g, g->regs, (uint32_t)o->slot),
                  o->bytes ? o->bytes : 4);
    mg__gen_framed(g, var);
}

/* Which function of the interpreter: an atomic whose lanes are on a line is compared and counted here, and needs no
 * look at them. */
static LLVMValueRef function_for(struct mg_gen *g, uint32_t index)
{
    const struct mg_engine_op *op = &g->p->ops[index];
    const bool unheard = op->kind == MG_ENGINE_CALL && op->effects & MG_ENGINE_UNHEARD &&
                         op->mem->kind == MG_ACCESS_LD && op->mem->space != MG_SPACE_SHARED; /* it may be */
    LLVMValueRef general = op->effects & MG_ENGINE_COUNTER && !g->mask ? FIELD(g, g->calls, mg_engine_calls, add)
                           : op->kind == MG_ENGINE_LOAD || unheard     ? FIELD(g, g->calls, mg_engine_calls, load)
                           : op->kind == MG_ENGINE_STORE               ? FIELD(g, g->calls, mg_engine_calls, store)
                                                                       : FIELD(g, g->calls, mg_engine_calls, op),
                 checked = FIELD(g, g->calls, mg_engine_calls, checked);
    struct mg_gen_line l = {.address = op->mem ? mg__gen_read(g, op->in[0].slot, op->in[0].bytes)
                                        : (struct mg_gen_value){.base = NULL}};
    if (g->some || op->kind != MG_ENGINE_CALL || !op->mem || op->effects & MG_ENGINE_UNHEARD || l.address.form.vector)
        return mg__gen_load(g, g->ptr, general, 8);
    LLVMBasicBlockRef out = mg__gen_bb(g), after = mg__gen_bb(g), from[2] = {NULL, out};
    struct mg_gen_group *group = first_of_site(g, index, &l, false, out);
    group->done = group->count; /* and no other access is part of it */
    from[0] = LLVMGetInsertBlock(g->b);
    LLVMBuildBr(g->b, after);
    LLVMPositionBuilderAtEnd(g->b, out);
    LLVMBuildBr(g->b, after);
    LLVMPositionBuilderAtEnd(g->b, after);
    LLVMValueRef field = LLVMBuildPhi(g->b, g->ptr, "");
    LLVMAddIncoming(field, (LLVMValueRef[2]){checked, general}, from, 2);
    return mg__gen_load(g, g->ptr, field, 8);
}

/* Marks what a store that is not told writes: a byte for each 4, or for each element where these are smaller. */
static void mark(struct mg_gen *g, const struct mg_engine_op *op, const struct mg_gen_line *of)
{
    const struct mg_engine_mem *m = op->mem;
    const struct mg_gen_form *f = &of->address.form;
    const unsigned by = log2_of(MG_MIN(m->width, 4u)), each = (unsigned)(m->width * m->vec) >> by, rows = 32 / g->row,
                   bytes = g->row * each;
    LLVMValueRef marks = mg__gen_load(g, g->i64, FIELD(g, of->rec, mg_engine_record, marks), 8),
                 eight = mg__gen_load(g, g->i64, FIELD(g, of->rec, mg_engine_record, mark), 8);
    struct mg_gen_line l = *of;
    l.at = LLVMBuildAdd(g->b, marks, LLVMBuildLShr(g->b, of->at, mg__gen_c64(g, by), ""), "");
    l.ptr = LLVMBuildIntToPtr(g->b, l.at, g->ptr, "");
    l.address.vec = NULL;
    l.address.form.kx >>= by;
    l.address.form.ky >>= by;
    if (f->dx)
        l.address.cx = LLVMBuildAShr(g->b, wide(g, mg__gen_cx(g, &of->address, 8)), mg__gen_c64(g, by), "");
    if (f->dy)
        l.address.cy = LLVMBuildAShr(g->b, wide(g, mg__gen_cy(g, &of->address, 8)), mg__gen_c64(g, by), "");
    if (!f->dx && f->kx == m->width * m->vec && rows <= 8) {
        LLVMValueRef row =
            bytes >= 8 ? mg__gen_splat(g, eight, bytes / 8) : LLVMBuildTrunc(g->b, eight, mg__gen_int(g, bytes), "");
        for (unsigned y = 0; y < rows; y++)
            mg__gen_store(g, row, mg__gen_row_ptr(g, &l, y, 0), 1);
        return;
    }
    LLVMTypeRef one = mg__gen_int(g, each);
    LLVMValueRef value = each == 8 ? eight : LLVMBuildTrunc(g->b, eight, one, "");
    scattered(g, false, LLVMVectorType(one, 32), mg__gen_splat(g, value, 32), lane_ptrs(g, &l, 0), 1, NULL);
}

/* Whether some of the lanes can make it by themselves: in rows that are contiguous, or of one place each. A mark of 4
 * bytes cannot be left by some of the lanes without the others. */
static bool some_may(const struct mg_gen *g, const struct mg_engine_mem *m, const struct mg_gen_form *f)
{
    const bool loads = m->kind == MG_ACCESS_LD;
    return (loads || m->space == MG_SPACE_SHARED) &&
           (mg__gen_uniform(*f) ||
            (!f->dx && 32 / g->row <= 8 && (f->kx == m->width * m->vec ? loads || m->vec == 1 : loads && f->kx == 0)));
}

/* An access that observers may do without: a load or a store by its line, with the result in the frame, where the
 * record says so. It goes on at the block that is returned; the builder stands where there is a call all the same. */
static LLVMBasicBlockRef unheard(struct mg_gen *g, uint32_t index)
{
    const struct mg_engine_op *op = &g->p->ops[index];
    struct mg_gen_line l = {.address = mg__gen_read(g, op->in[0].slot, op->in[0].bytes)};
    const bool shared = op->mem->space == MG_SPACE_SHARED;
    if (g->some || l.address.form.vector || (g->mask && !some_may(g, op->mem, &l.address.form)) ||
        (shared && !mg__gen_notes(g, op->mem, &l.address.form)))
        return NULL;
    l.on = g->mask ? mg__gen_lanes(g, g->mask) : NULL;
    LLVMBasicBlockRef general = mg__gen_bb(g), after = mg__gen_bb(g);
    struct mg_gen_group *group = first_of_site(g, index, &l, shared, general);
    group->done = group->count;
    if (shared)
        mg__gen_note(g, op, l.rec, &l.address, l.at, l.on, general);
    else if (op->mem->kind == MG_ACCESS_ST)
        mark(g, op, &l);
    l.ptr = shared ? LLVMBuildGEP2(g->b, g->i8, g->shared, &l.at, 1, "") : LLVMBuildIntToPtr(g->b, l.at, g->ptr, "");
    if (op->mem->kind == MG_ACCESS_LD)
        load_line(g, op, &l);
    else
        store_line(g, op, &l);
    for (unsigned k = 0; k < op->nout; k++)
        mg__gen_to_frame(g, &op->out[k]);
    LLVMBuildBr(g->b, after);
    LLVMPositionBuilderAtEnd(g->b, general);
    return after;
}

void mg__gen_call(struct mg_gen *g, uint32_t index)
{
    const struct mg_engine_op *op = &g->p->ops[index];
    if (op->effects & MG_ENGINE_MEETS && mg__gen_warp(g, op))
        return;
    const bool may = op->effects & MG_ENGINE_UNHEARD;
    uint32_t in[9], out[9];
    bool framed[9];
    struct mg_gen_form before[9];
    for (unsigned k = 0; k < op->nin && may; k++) {
        in[k] = mg__gen_var(g, op->in[k].slot, op->in[k].bytes);
        framed[k] = in[k] != UINT32_MAX && mg__gen_is_framed(g, in[k]);
    }
    LLVMBasicBlockRef after = NULL;
    if (may) {
        mg__gen_deferred_settle(g);
        for (unsigned k = 0; k < op->nout; k++) {
            out[k] = mg__gen_var(g, op->out[k].slot, op->out[k].bytes);
            before[k] = out[k] != UINT32_MAX ? g->form[out[k]] : (struct mg_gen_form){0};
        }
        after = unheard(g, index);
        for (unsigned k = 0; k < op->nout && after; k++) /* the call's way has not been through that one */
            if (out[k] != UINT32_MAX) {
                g->form[out[k]] = before[k];
                g->vars[out[k]].framed = 0;
            }
    }
    struct mg_gen_form to = mg__gen_result(g, op, g->form);
    LLVMValueRef mask = g->mask ? g->mask : mg__gen_c32(g, ~0u);
    g->called = true;
    if (!(op->effects & MG_ENGINE_REGISTERS) && !g->some)
        mg__gen_deferred_settle(g);
    for (unsigned k = 0; k < op->nin; k++)
        mg__gen_to_frame(g, &op->in[k]);
    for (unsigned k = 0; k < op->nout && g->mask; k++)
        mg__gen_to_frame(g, &op->out[k]);
    LLVMTypeRef params[3] = {g->ptr, g->i32, g->i32}, type = LLVMFunctionType(g->i1, params, 3, 0);
    LLVMValueRef f = function_for(g, index), args[3] = {g->e, mg__gen_c32(g, index), mask};
    LLVMValueRef good = LLVMBuildCall2(g->b, type, f, args, 3, "");
    LLVMBasicBlockRef on = mg__gen_bb(g);
    mg__gen_expect(g, good, on, mg__gen_fault(g));
    LLVMPositionBuilderAtEnd(g->b, on);
    if (after) {
        LLVMBuildBr(g->b, after);
        LLVMPositionBuilderAtEnd(g->b, after);
        g->serial++; /* what a way has learnt holds only there */
        for (unsigned k = 0; k < op->nin; k++)
            if (in[k] != UINT32_MAX && !framed[k])
                g->vars[in[k]].framed = 0;
    }
    LLVMValueRef keep = g->mask;
    g->mask = NULL; /* the frame has what idle lanes had */
    for (unsigned k = 0; k < op->nout; k++) {
        const struct mg_engine_operand *o = &op->out[k];
        if (o->slot < 0)
            continue;
        LLVMTypeRef one = o->bytes ? mg__gen_int(g, o->bytes) : g->i32,
                    all = o->bytes ? LLVMVectorType(one, 32) : g->i32;
        LLVMValueRef from = mg__gen_at(g, g->regs, (uint32_t)o->slot);
        if (!to.vector && !keep && o->bytes)
            mg__gen_write(g, o->slot, o->bytes,
                          (struct mg_gen_value){.form = to, .base = mg__gen_load(g, one, from, o->bytes)});
        else
            mg__gen_write(g, o->slot, o->bytes, mg__gen_of_vector(mg__gen_load(g, all, from, o->bytes ? o->bytes : 4)));
        const uint32_t var = mg__gen_var(g, o->slot, o->bytes);
        if (var != UINT32_MAX)
            mg__gen_framed(g, var);
    }
    g->mask = keep;
}

/* Whether rows of lanes are contiguous, or all lanes one place. */
static bool in_rows(const struct mg_gen *g, const struct mg_engine_op *op, const struct mg_gen_form *f)
{
    const struct mg_engine_mem *m = op->mem;
    return mg__gen_uniform(*f) ||
           (!f->dx && f->kx == m->width * m->vec && 32 / g->row <= 8 && (op->kind == MG_ENGINE_LOAD || m->vec == 1));
}

void mg__gen_access(struct mg_gen *g, uint32_t index)
{
    const struct mg_engine_op *op = &g->p->ops[index];
    struct mg_gen_value address = mg__gen_read(g, op->in[0].slot, op->in[0].bytes);
    if (address.form.vector && mg__gen_is_looked_at(g, index))
        mg__gen_by_look(g, index, address);
    else if (g->some || address.form.vector ||
             (g->mask && !in_rows(g, op, &address.form))) /* masked gathers take LLVM too long */
        mg__gen_call(g, index);
    else
        by_line(g, index, address);
}
