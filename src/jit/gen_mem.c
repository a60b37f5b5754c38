/* gen_mem.c - memory accesses.
 *
 * An access whose lanes' addresses lie on a line is compared with the record of its site, one comparison for bounds and
 * alignment, counted by the base's word in its sector, and then done without a look at its lanes: rows of lanes that
 * are contiguous as one vector, rows of one address as one element, others as a gather or scatter. Accesses of a basic
 * block through one register are one site: the first compares and counts for all. Everything else is a call of the
 * interpreter's handler, with its operands in the frame, or is looked at (gen_look.c).
 */
#include "jit/gen_mem.h"

#define FIELD(g, base, type, field) mg__gen_at(g, base, offsetof(struct type, field))

/* ---- sites ---- */
bool mg__gen_same_shape(const struct mg_engine_op *a, const struct mg_engine_op *b)
{
    return a->in[0].slot == b->in[0].slot && a->mem->space == b->mem->space && a->in[0].bytes == b->in[0].bytes &&
           a->mem->width * a->mem->vec == b->mem->width * b->mem->vec;
}

static bool access_op(const struct mg_engine_op *op)
{
    return op->kind == MG_ENGINE_LOAD || op->kind == MG_ENGINE_STORE;
}

bool mg__gen_writes(const struct mg_engine_op *op, int32_t slot)
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
    return mg__gen_loads(op) || op->mem->vec <= 4;
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
            (access_op(o) && mg__gen_same_shape(op, o) && ops[i - 1].kind != MG_ENGINE_GUARD && site.nmembers < 256 &&
             (!found || (mg__gen_may_be_found(o) && o->kind == op->kind)))) {
            if (!mg__vec_push(&g->members, ((struct mg_engine_member){i, o->mem->offset - op->mem->offset})))
                g->reason = "memory";
            site.nmembers++;
        }
        if (alone || mg__gen_writes(o, op->in[0].slot))
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

LLVMValueRef mg__gen_count_bits(struct mg_gen *g, const char *name, LLVMValueRef v)
{
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(g->module, LLVMLookupIntrinsicID(name, strlen(name)), &g->i32, 1);
    LLVMValueRef args[2] = {v, LLVMConstInt(g->i1, 0, 0)};
    return LLVMBuildCall2(g->b, LLVMGlobalGetValueType(f), f, args, strcmp(name, "llvm.ctpop") ? 2 : 1, "");
}

/* The number of the site for this mask among its `most`: the first n lanes, or one lane, have one each. */
static LLVMValueRef of_mask(struct mg_gen *g, uint32_t most)
{
    LLVMValueRef low = LLVMBuildMul(g->b, mg__gen_count_bits(g, "llvm.cttz", g->mask), mg__gen_c32(g, 5), "");
    LLVMValueRef n = LLVMBuildAdd(g->b, mg__gen_count_bits(g, "llvm.ctpop", g->mask), low, "");
    return LLVMBuildAnd(g->b, n, mg__gen_c32(g, most - 1), "");
}

/* The same for a place in its word. */
static LLVMValueRef place_of(struct mg_gen *g, LLVMValueRef at, unsigned bytes)
{
    LLVMValueRef byte = LLVMBuildAnd(g->b, LLVMBuildTrunc(g->b, at, g->i32, ""), mg__gen_c32(g, 3), "");
    return LLVMBuildLShr(g->b, byte, mg__gen_c32(g, mg__gen_log2(bytes)), "");
}

LLVMValueRef mg__gen_wide(struct mg_gen *g, LLVMValueRef v)
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
    unsigned by = mg__gen_log2(MG_MAX(site->bytes, 4u));
    LLVMValueRef r = LLVMBuildOr(g->b, LLVMBuildLShr(g->b, d, mg__gen_c64(g, by), ""),
                                 LLVMBuildShl(g->b, d, mg__gen_c64(g, 64 - by), ""), "");
    LLVMValueRef ok = LLVMBuildICmp(g->b, LLVMIntULE, r, range, "");
    LLVMValueRef cx = mg__gen_wide(g, mg__gen_cx(g, &l->address, 8)),
                 cy = mg__gen_wide(g, mg__gen_cy(g, &l->address, 8));
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

LLVMValueRef mg__gen_concat(struct mg_gen *g, LLVMValueRef *piece, unsigned n)
{
    int index[32];
    for (; n > 1; n /= 2) {
        unsigned each = LLVMGetVectorSize(LLVMTypeOf(piece[0]));
        for (unsigned i = 0; i < 2 * each && i < 32; i++)
            index[i] = (int)i;
        for (unsigned k = 0; k < n / 2; k++)
            piece[k] = mg__gen_shuffle(g, piece[2 * k], piece[2 * k + 1], index, 2 * each);
    }
    return piece[0];
}

LLVMValueRef mg__gen_part_of(struct mg_gen *g, LLVMValueRef v, unsigned from, unsigned n)
{
    int index[32];
    for (unsigned i = 0; i < n; i++)
        index[i] = (int)(from + i);
    return mg__gen_shuffle(g, v, NULL, index, n);
}

LLVMValueRef mg__gen_splat(struct mg_gen *g, LLVMValueRef v, unsigned n)
{
    int zero[32] = {0};
    if (n == 1)
        return LLVMBuildInsertElement(g->b, LLVMGetPoison(LLVMVectorType(LLVMTypeOf(v), 1)), v, mg__gen_c32(g, 0), "");
    LLVMValueRef one =
        LLVMBuildInsertElement(g->b, LLVMGetPoison(LLVMVectorType(LLVMTypeOf(v), n)), v, mg__gen_c32(g, 0), "");
    return mg__gen_shuffle(g, one, NULL, zero, n);
}

LLVMValueRef mg__gen_row_ptr(struct mg_gen *g, const struct mg_gen_line *l, unsigned y, uint64_t more)
{
    LLVMValueRef at = mg__gen_c64(g, more);
    if (y)
        at = LLVMBuildAdd(
            g->b, at, LLVMBuildMul(g->b, mg__gen_wide(g, mg__gen_cy(g, &l->address, 8)), mg__gen_c64(g, y), ""), "");
    return LLVMBuildGEP2(g->b, g->i8, l->ptr, &at, 1, "");
}

LLVMValueRef mg__gen_lane_ptrs(struct mg_gen *g, const struct mg_gen_line *l, uint64_t more)
{
    struct mg_gen_value v = l->address;
    bool small = !v.form.dx && !v.form.dy && llabs(v.form.kx) < 1 << 24 && llabs(v.form.ky) < 1 << 24;
    v.base = small ? mg__gen_c32(g, 0) : mg__gen_c64(g, 0);
    v.vec = NULL;
    if (!small) {
        v.cx = v.form.dx ? mg__gen_wide(g, v.cx) : NULL;
        v.cy = v.form.dy ? mg__gen_wide(g, v.cy) : NULL;
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

LLVMValueRef mg__gen_scattered(struct mg_gen *g, bool load, LLVMTypeRef vector, LLVMValueRef value, LLVMValueRef ptrs,
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

/* Rows of lanes that lie one behind the other, up or down: +1 or -1; 0: neither, or not to be moved as they lie. */
static int rows_lie(const struct mg_gen *g, const struct mg_engine_mem *m, const struct mg_gen_form *f)
{
    const int64_t each = m->width * m->vec;
    if (f->dx || 32 / g->row > 8)
        return 0;
    return f->kx == each ? 1 : f->kx == -each && m->vec == 1 ? -1 : 0;
}

/* The elements of a row, the last one first. */
static LLVMValueRef turned(struct mg_gen *g, LLVMValueRef v)
{
    const unsigned n = LLVMGetVectorSize(LLVMTypeOf(v));
    int index[32];
    for (unsigned i = 0; i < n; i++)
        index[i] = (int)(n - 1 - i);
    return mg__gen_shuffle(g, v, NULL, index, n);
}

/* A row of lanes, `vec` elements each, one behind the other from `ptr` on. */
static LLVMValueRef row_up(struct mg_gen *g, bool load, LLVMTypeRef type, LLVMValueRef value, LLVMValueRef ptr,
                           unsigned align, LLVMValueRef on, unsigned y, unsigned vec, bool down)
{
    int index[512];
    if (!on && load)
        return mg__gen_load(g, type, ptr, align);
    if (!on) {
        mg__gen_store(g, value, ptr, align);
        return NULL;
    }
    for (unsigned i = 0; i < g->row * vec; i++)
        index[i] = (int)(y * g->row + (down ? g->row - 1 - i : i / vec));
    const char *name = load ? "llvm.masked.load" : "llvm.masked.store";
    LLVMTypeRef types[2] = {type, g->ptr};
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(g->module, LLVMLookupIntrinsicID(name, strlen(name)), types, 2),
                 some = mg__gen_shuffle(g, on, NULL, index, g->row * vec);
    LLVMValueRef in[4] = {ptr, mg__gen_c32(g, align), some, LLVMGetPoison(type)},
                 out[4] = {value, ptr, mg__gen_c32(g, align), some};
    return LLVMBuildCall2(g->b, LLVMGlobalGetValueType(f), f, load ? in : out, 4, "");
}

/* The same, up from the first lane at `ptr` or down. */
static LLVMValueRef row_of(struct mg_gen *g, bool load, LLVMTypeRef type, LLVMValueRef value, LLVMValueRef ptr,
                           unsigned align, LLVMValueRef on, unsigned y, unsigned vec, int lie)
{
    if (lie > 0)
        return row_up(g, load, type, value, ptr, align, on, y, vec, false);
    LLVMValueRef back = mg__gen_c64(g, -(uint64_t)((g->row - 1) * align)),
                 last = LLVMBuildGEP2(g->b, g->i8, ptr, &back, 1, ""),
                 r = row_up(g, load, type, load ? NULL : turned(g, value), last, align, on, y, 1, true);
    return load ? turned(g, r) : NULL;
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

/* Whether rows that are moved as they lie follow one another: all of them are one. */
static bool is_one_row(const struct mg_gen *g, const struct mg_engine_mem *m, const struct mg_gen_form *f)
{
    return g->row < 32 && rows_lie(g, m, f) && !f->dy && f->ky == f->kx * (int64_t)g->row;
}

/* A row of lanes, all of their elements. */
static LLVMValueRef load_row(struct mg_gen *g, const struct mg_engine_mem *m, const struct mg_gen_line *l, unsigned y,
                             int lie)
{
    const unsigned packed = mg__gen_packed_in(m), vec = packed ? 1 : m->vec;
    LLVMTypeRef type = LLVMVectorType(mg__gen_int(g, packed ? packed : m->width), g->row * vec);
    return row_of(g, true, type, NULL, mg__gen_row_ptr(g, l, y, 0), m->width, l->on, y, vec, lie);
}

static void load_in_rows(struct mg_gen *g, const struct mg_engine_op *op, const struct mg_gen_line *l)
{
    const struct mg_engine_mem *m = op->mem;
    LLVMTypeRef one = mg__gen_int(g, m->width), vector = LLVMVectorType(one, 32);
    const struct mg_gen_form *f = &l->address.form;
    unsigned rows = 32 / g->row;
    bool uniform = mg__gen_uniform(*f);
    const int lie = rows_lie(g, m, f);
    bool whole = lie != 0, same = !f->dx && f->kx == 0 && rows <= 8;
    LLVMValueRef row[32] = {0}, got[8] = {0}, four[32][4];
    const bool eights = mg__gen_by_eights(g, m, l);
    for (unsigned y = 0; y < rows && whole && !uniform; y++) {
        bool again = y && !f->dy && f->ky == 0 && !l->on;
        if (again && eights)
            memcpy(four[y], four[0], sizeof(four[y]));
        else if (eights)
            mg__gen_load_eights(g, mg__gen_row_ptr(g, l, y, 0), four[y]);
        else
            row[y] = again ? row[0] : load_row(g, m, l, y, lie);
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
            LLVMValueRef from = same ? place_of_row(g, l, y, v * m->width) : NULL;
            piece[y] = same     ? mg__gen_splat(g, mg__gen_load(g, one, from, m->width), g->row)
                       : eights ? four[y][v]
                                : mg__gen_element(g, m, row[y], v);
        }
        got[v] = whole || same ? mg__gen_concat(g, piece, rows)
                               : mg__gen_scattered(g, true, vector, NULL, mg__gen_lane_ptrs(g, l, v * m->width),
                                                   m->width, l->on);
        got[v] = mg__gen_to_register(g, m, got[v], true, bytes);
    }
    for (unsigned v = 0; v < m->vec; v++)
        if (got[v])
            mg__gen_write(g, op->out[v].slot, op->out[v].bytes,
                          uniform ? mg__gen_of_base(got[v]) : mg__gen_of_vector(got[v]));
}

/* Row y of lanes, all of their elements; `whole`: as packed makes them, else NULL. */
static void store_row(struct mg_gen *g, const struct mg_engine_mem *m, const struct mg_gen_line *l, LLVMValueRef *x,
                      LLVMValueRef whole, unsigned y)
{
    LLVMValueRef ptr = mg__gen_row_ptr(g, l, y, 0);
    if (mg__gen_by_eights(g, m, l)) {
        mg__gen_store_eights(g, ptr, y * g->row, x);
        return;
    }
    const unsigned vec = whole ? 1 : m->vec;
    LLVMTypeRef type = LLVMVectorType(mg__gen_int(g, whole ? mg__gen_packed_in(m) : m->width), g->row * vec);
    LLVMValueRef row =
        whole ? mg__gen_part_of(g, whole, y * g->row, g->row) : mg__gen_lane_by_lane(g, x, m->vec, y * g->row, g->row);
    row_of(g, false, type, row, ptr, m->width, l->on, y, vec, 1);
}

static void store_in_rows(struct mg_gen *g, const struct mg_engine_op *op, const struct mg_gen_line *l)
{
    const struct mg_engine_mem *m = op->mem;
    LLVMTypeRef one = mg__gen_int(g, m->width), vector = LLVMVectorType(one, 32);
    const struct mg_gen_form *f = &l->address.form;
    unsigned rows = 32 / g->row;
    const int lie = rows_lie(g, m, f);
    const bool whole = lie && m->vec == 1, together = lie && (m->vec == 2 || m->vec == 4), same = mg__gen_uniform(*f);
    LLVMValueRef all[8];
    for (unsigned v = 0; v < m->vec; v++) {
        const unsigned bytes = op->in[1 + v].bytes;
        struct mg_gen_value r = mg__gen_read(g, op->in[1 + v].slot, bytes);
        LLVMValueRef x = mg__gen_vector(g, &r, bytes);
        if (m->width < bytes)
            x = LLVMBuildTrunc(g->b, x, vector, "");
        else if (m->width > bytes)
            x = LLVMBuildZExt(g->b, x, vector, "");
        all[v] = x;
        if (together)
            continue;
        if (same) { /* the last lane's stays */
            LLVMValueRef last = mg__gen_c32(g, 31);
            if (l->on)
                last = LLVMBuildSub(g->b, last, mg__gen_count_bits(g, "llvm.ctlz", g->mask), "");
            mg__gen_store(g, LLVMBuildExtractElement(g->b, x, last, ""), mg__gen_row_ptr(g, l, 0, v * m->width),
                          m->width);
            continue;
        }
        for (unsigned y = 0; y < rows && whole; y++)
            row_of(g, false, LLVMVectorType(one, g->row), rows == 1 ? x : mg__gen_part_of(g, x, y * g->row, g->row),
                   mg__gen_row_ptr(g, l, y, 0), m->width, l->on, y, 1, lie);
        if (!whole)
            mg__gen_scattered(g, false, vector, x, mg__gen_lane_ptrs(g, l, v * m->width), m->width, l->on);
    }
    LLVMValueRef whole_lanes = together && mg__gen_packed_in(m) ? mg__gen_packed(g, m, all) : NULL;
    for (unsigned y = 0; y < rows && together; y++)
        store_row(g, m, l, all, whole_lanes, y);
}

static void by_rows(struct mg_gen *g, const struct mg_engine_op *op, const struct mg_gen_line *l,
                    void move(struct mg_gen *, const struct mg_engine_op *, const struct mg_gen_line *))
{
    struct mg_gen_line one = *l;
    const uint32_t row = g->row;
    if (is_one_row(g, op->mem, &l->address.form)) {
        g->row = 32;
        one.address.form.ky = 0;
    }
    move(g, op, &one);
    g->row = row;
}

void mg__gen_load_line(struct mg_gen *g, const struct mg_engine_op *op, const struct mg_gen_line *l)
{
    by_rows(g, op, l, load_in_rows);
}

void mg__gen_store_line(struct mg_gen *g, const struct mg_engine_op *op, const struct mg_gen_line *l)
{
    by_rows(g, op, l, store_in_rows);
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
        LLVMValueRef up = LLVMBuildMul(g->b, mg__gen_wide(g, mg__gen_cy(g, &l->address, 8)), mg__gen_c64(g, y), "");
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
    LLVMValueRef at = LLVMBuildAdd(g->b, base, mg__gen_c32(g, (uint32_t)op->mem->offset), "");
    /* Lane 0 may be idle and before shared memory's first byte: the others are behind it then. */
    return op->mem->space == MG_SPACE_SHARED ? LLVMBuildSExt(g->b, at, g->i64, "")
                                             : LLVMBuildZExt(g->b, at, g->i64, "");
}

struct mg_gen_group *mg__gen_first_of_site(struct mg_gen *g, uint32_t index, struct mg_gen_line *l, bool noted,
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

LLVMValueRef mg__gen_place(struct mg_gen *g, const struct mg_engine_op *op, LLVMValueRef at)
{
    return op->mem->space == MG_SPACE_SHARED ? LLVMBuildGEP2(g->b, g->i8, g->shared, &at, 1, "")
                                             : LLVMBuildIntToPtr(g->b, at, g->ptr, "");
}

/* Where it is, and no deferred store is. True: it is deferred itself. */
bool mg__gen_point_to(struct mg_gen *g, const struct mg_engine_op *op, struct mg_gen_line *l)
{
    l->ptr = mg__gen_place(g, op, l->at);
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
    else if (mg__gen_loads(op))
        mg__gen_load_line(g, op, l);
    else
        mg__gen_store_line(g, op, l);
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
        group = mg__gen_first_of_site(g, index, &l, false, mg__gen_exit(g));
        mg__gen_fetch_ahead(g, group, m, &l);
    }
    mg__gen_move_line(g, op, &l);
    group->done++;
}

/* Whether rows of lanes are contiguous, or all lanes one place. */
static bool in_rows(const struct mg_gen *g, const struct mg_engine_op *op, const struct mg_gen_form *f)
{
    return mg__gen_uniform(*f) || rows_lie(g, op->mem, f);
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
