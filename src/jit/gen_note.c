/* gen_note.c - accesses to shared memory that compiled code makes by itself and leaves a note of (simt/observe.h,
 * mg_notes): a load if all that it reads is written, a store together with what it overwrites.
 *
 * Words that lie close together are bits of one 64-bit integer; of those that lie far apart each lane's bits are looked
 * at, in one gather. Stores that lie far apart leave no bits: they are set when the observer reads its notes. Which
 * words some of the lanes use depends on the mask, and stands in its record.
 */
#include "jit/gen.h"

#define CLOSE 56u /* with the bits of a byte before them, of 64 */
#define FIELD(g, base, type, field) mg__gen_at(g, base, offsetof(struct type, field))

/* Whether all words of an access are known to lie within CLOSE; then which ones, a bit each, from the lowest on, and
 * how far from lane 0 that is. Addresses are multiples of 4. */
static bool is_close(const struct mg_gen *g, const struct mg_engine_mem *m, const struct mg_gen_form *f,
                     uint64_t *words, int64_t *lowest)
{
    int64_t low = 0, high = 0;
    const unsigned bytes = (unsigned)m->width * m->vec;
    if (f->dx || f->dy || llabs(f->kx) > 1 << 16 || llabs(f->ky) > 1 << 16)
        return false;
    for (unsigned i = 0; i < 32; i++) {
        const int64_t at = f->kx * (i % g->row) + f->ky * (i / g->row);
        low = MG_MIN(low, at);
        high = MG_MAX(high, at);
    }
    *words = 0;
    *lowest = low;
    if (high - low + bytes > 4 * (int64_t)CLOSE)
        return false;
    for (unsigned i = 0; i < 32; i++)
        *words |= ((1ull << bytes / 4) - 1) << (f->kx * (i % g->row) + f->ky * (i / g->row) - low) / 4;
    return true;
}

static bool in_rows(const struct mg_gen *g, const struct mg_engine_mem *m, const struct mg_gen_form *f)
{
    return !f->dx && f->kx == m->width * m->vec && 32 / g->row <= 8;
}

bool mg__gen_notes(const struct mg_gen *g, const struct mg_engine_mem *m, const struct mg_gen_form *f)
{
    if (m->width < 4 || m->width > 8)
        return false;
    return m->kind == MG_ACCESS_LD || (m->width * m->vec * 32u <= MG_NOTE_BYTES && (m->vec == 1 || in_rows(g, m, f)));
}

/* The lanes' distances from lane 0, in bytes. */
static LLVMValueRef distances(struct mg_gen *g, const struct mg_gen_value *address)
{
    struct mg_gen_value v = *address;
    v.base = mg__gen_c32(g, 0);
    v.vec = NULL;
    v.cx = v.form.dx ? LLVMBuildTrunc(g->b, mg__gen_cx(g, address, 8), g->i32, "") : NULL;
    v.cy = v.form.dy ? LLVMBuildTrunc(g->b, mg__gen_cy(g, address, 8), g->i32, "") : NULL;
    return mg__gen_vector(g, &v, 4);
}

static LLVMValueRef splat(struct mg_gen *g, LLVMValueRef v)
{
    LLVMTypeRef vector = LLVMVectorType(LLVMTypeOf(v), 32);
    LLVMValueRef one = LLVMBuildInsertElement(g->b, LLVMGetPoison(vector), v, mg__gen_c32(g, 0), "");
    return LLVMBuildShuffleVector(g->b, one, LLVMGetPoison(vector), LLVMConstNull(LLVMVectorType(g->i32, 32)), "");
}

static LLVMValueRef gather(struct mg_gen *g, LLVMTypeRef one, LLVMValueRef from, LLVMValueRef bytes, unsigned align)
{
    const char *name = "llvm.masked.gather";
    LLVMTypeRef vector = LLVMVectorType(one, 32), types[2] = {vector, LLVMVectorType(g->ptr, 32)};
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(g->module, LLVMLookupIntrinsicID(name, strlen(name)), types, 2);
    LLVMValueRef args[4] = {LLVMBuildGEP2(g->b, g->i8, from, &bytes, 1, ""), mg__gen_c32(g, align),
                            LLVMConstAllOnes(LLVMVectorType(g->i1, 32)), LLVMGetPoison(vector)};
    return LLVMBuildCall2(g->b, LLVMGlobalGetValueType(f), f, args, 4, "");
}

/* Whether each lane's words are written. */
static LLVMValueRef each_written(struct mg_gen *g, const struct mg_engine_mem *m, const struct mg_gen_value *address,
                                 LLVMValueRef at, LLVMValueRef written)
{
    LLVMValueRef lanes = LLVMBuildAdd(g->b, splat(g, LLVMBuildTrunc(g->b, at, g->i32, "")), distances(g, address), ""),
                 byte = LLVMBuildLShr(g->b, lanes, splat(g, mg__gen_c32(g, 5)), ""),
                 bit = LLVMBuildAnd(g->b, LLVMBuildLShr(g->b, lanes, splat(g, mg__gen_c32(g, 2)), ""),
                                    splat(g, mg__gen_c32(g, 7)), "");
    LLVMValueRef bits = LLVMBuildLShr(g->b, gather(g, g->i32, written, byte, 1), bit, "");
    const char *name = "llvm.vector.reduce.and";
    LLVMTypeRef type = LLVMTypeOf(bits);
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(g->module, LLVMLookupIntrinsicID(name, strlen(name)), &type, 1);
    LLVMValueRef all = LLVMBuildCall2(g->b, LLVMGlobalGetValueType(f), f, &bits, 1, ""),
                 words = mg__gen_c32(g, (1u << m->width * m->vec / 4) - 1);
    return LLVMBuildICmp(g->b, LLVMIntEQ, LLVMBuildAnd(g->b, all, words, ""), words, "");
}

/* A row of what is there; of some of its lanes, or all. */
static LLVMValueRef row_of(struct mg_gen *g, LLVMTypeRef type, LLVMValueRef from, unsigned align, LLVMValueRef on,
                           unsigned y, unsigned vec)
{
    if (!on)
        return mg__gen_load(g, type, from, align);
    const char *name = "llvm.masked.load";
    LLVMValueRef index[32 * MG_NOTE_BYTES / 128];
    for (unsigned i = 0; i < g->row * vec; i++)
        index[i] = mg__gen_c32(g, y * g->row + i / vec);
    LLVMTypeRef types[2] = {type, g->ptr};
    LLVMValueRef f = LLVMGetIntrinsicDeclaration(g->module, LLVMLookupIntrinsicID(name, strlen(name)), types, 2),
                 some = LLVMBuildShuffleVector(g->b, on, LLVMGetPoison(LLVMTypeOf(on)),
                                               LLVMConstVector(index, g->row * vec), "");
    LLVMValueRef args[4] = {from, mg__gen_c32(g, align), some, LLVMConstNull(type)};
    return LLVMBuildCall2(g->b, LLVMGlobalGetValueType(f), f, args, 4, "");
}

/* What a store overwrites, lane by lane. */
static void save(struct mg_gen *g, const struct mg_engine_mem *m, const struct mg_gen_value *address, LLVMValueRef at,
                 LLVMValueRef on, LLVMValueRef notes)
{
    const unsigned bytes = (unsigned)m->width * m->vec, rows = 32 / g->row;
    LLVMValueRef n = mg__gen_load(g, g->i64, FIELD(g, notes, mg_notes, nsaved), 8),
                 to = LLVMBuildGEP2(g->b, g->i8, mg__gen_load(g, g->ptr, FIELD(g, notes, mg_notes, saved), 8), &n, 1,
                                    ""),
                 from = LLVMBuildGEP2(g->b, g->i8, g->shared, &at, 1, "");
    LLVMTypeRef one = mg__gen_int(g, m->width);
    mg__gen_store(g, LLVMBuildAdd(g->b, n, mg__gen_c64(g, 32 * (uint64_t)bytes), ""), FIELD(g, notes, mg_notes, nsaved),
                  8);
    if (on && mg__gen_uniform(address->form)) {
        mg__gen_store(g, splat(g, mg__gen_load(g, one, from, m->width)), to, 4);
        return;
    }
    if (!in_rows(g, m, &address->form)) {
        mg__gen_store(g, gather(g, one, from, distances(g, address), m->width), to, 4);
        return;
    }
    for (unsigned y = 0; y < rows; y++) {
        LLVMValueRef up = LLVMConstInt(g->i64, 0, 0);
        if (y) {
            LLVMValueRef cy = mg__gen_cy(g, address, 8);
            cy = LLVMTypeOf(cy) == g->i64 ? cy : LLVMBuildSExt(g->b, cy, g->i64, "");
            up = LLVMBuildMul(g->b, cy, mg__gen_c64(g, y), "");
        }
        LLVMTypeRef row = LLVMVectorType(one, g->row * m->vec);
        mg__gen_store(g, row_of(g, row, LLVMBuildGEP2(g->b, g->i8, from, &up, 1, ""), m->width, on, y, m->vec),
                      mg__gen_at(g, to, (uint64_t)y * g->row * bytes), 4);
    }
}

void mg__gen_note(struct mg_gen *g, const struct mg_engine_op *op, LLVMValueRef rec, const struct mg_gen_value *address,
                  LLVMValueRef at, LLVMValueRef on, LLVMBasicBlockRef out)
{
    const struct mg_engine_mem *m = op->mem;
    uint64_t known;
    int64_t low;
    const bool fixed = !on && is_close(g, m, &address->form, &known, &low), close = fixed || on,
               loads = m->kind == MG_ACCESS_LD;
    LLVMValueRef notes = g->notes;
    LLVMValueRef from = fixed ? mg__gen_c64(g, (uint64_t)low)
                              : mg__gen_load(g, g->i64, FIELD(g, rec, mg_engine_record, low), 8),
                 first = LLVMBuildAdd(g->b, at, from, "");
    LLVMValueRef n = mg__gen_load(g, g->i64, FIELD(g, notes, mg_notes, n), 8),
                 told = mg__gen_load(g, g->i64, FIELD(g, rec, mg_engine_record, told), 8),
                 most = mg__gen_load(g, g->i64, FIELD(g, notes, mg_notes, most), 8),
                 written = mg__gen_load(g, g->ptr, FIELD(g, notes, mg_notes, written), 8),
                 ok = LLVMBuildICmp(g->b, LLVMIntULT, LLVMBuildAdd(g->b, n, told, ""), most, "");
    LLVMValueRef place = NULL, bits = NULL, words = NULL;
    if (close) {
        LLVMValueRef byte = LLVMBuildLShr(g->b, first, mg__gen_c64(g, 5), ""),
                     bit = LLVMBuildAnd(g->b, LLVMBuildLShr(g->b, first, mg__gen_c64(g, 2), ""), mg__gen_c64(g, 7), "");
        place = LLVMBuildGEP2(g->b, g->i8, written, &byte, 1, "");
        LLVMValueRef covers =
            fixed ? mg__gen_c64(g, known) : mg__gen_load(g, g->i64, FIELD(g, rec, mg_engine_record, covers), 8);
        words = LLVMBuildShl(g->b, covers, bit, "");
        bits = mg__gen_load(g, g->i64, place, 1);
    }
    if (loads && close)
        ok = LLVMBuildAnd(g->b, ok,
                          LLVMBuildICmp(g->b, LLVMIntEQ, LLVMBuildAnd(g->b, bits, words, ""), words, ""), "");
    else if (loads)
        ok = LLVMBuildAnd(g->b, ok, each_written(g, m, address, at, written), "");
    LLVMBasicBlockRef good = mg__gen_bb(g);
    mg__gen_expect(g, ok, good, out);
    LLVMPositionBuilderAtEnd(g->b, good);
    LLVMValueRef shape = mg__gen_load(g, g->i64, FIELD(g, rec, mg_engine_record, shape), 8),
                 who = LLVMBuildOr(g->b, g->tag, shape, "");
    mg__gen_store(g, LLVMBuildOr(g->b, first, who, ""),
                  LLVMBuildGEP2(g->b, g->i64, FIELD(g, notes, mg_notes, at), &n, 1, ""), 8);
    mg__gen_store(g, LLVMBuildAdd(g->b, n, mg__gen_c64(g, 1), ""), FIELD(g, notes, mg_notes, n), 8);
    if (loads)
        return;
    if (close)
        mg__gen_store(g, LLVMBuildOr(g->b, bits, words, ""), place, 1);
    save(g, m, address, at, on, notes);
}
