/* gen_note.c - accesses to shared memory that compiled code makes by itself and leaves a note of (simt/observe.h,
 * mg_notes): a load if all that it reads is written, a store together with what it overwrites.
 *
 * Words that lie close together, of one access or of several loads, are bits of one 64-bit integer; of those that lie
 * far apart each lane's bits are looked at, in one gather. Stores that lie far apart leave no bits: they are set when
 * the observer reads its notes. Which words some of the lanes use depends on the mask, and stands in its record.
 */
#include "jit/gen_mem.h"

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
                                 LLVMValueRef at)
{
    LLVMValueRef written = mg__gen_load(g, g->ptr, FIELD(g, g->notes, mg_notes, written), 8);
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

/* Where the words from `first` on begin to be told written, and which bits of the 64 there are `covers`. */
static LLVMValueRef bits_of(struct mg_gen *g, LLVMValueRef first, LLVMValueRef covers, LLVMValueRef *words)
{
    LLVMValueRef byte = LLVMBuildLShr(g->b, first, mg__gen_c64(g, 5), ""),
                 bit = LLVMBuildAnd(g->b, LLVMBuildLShr(g->b, first, mg__gen_c64(g, 2), ""), mg__gen_c64(g, 7), ""),
                 written = mg__gen_load(g, g->ptr, FIELD(g, g->notes, mg_notes, written), 8);
    *words = LLVMBuildShl(g->b, covers, bit, "");
    return LLVMBuildGEP2(g->b, g->i8, written, &byte, 1, "");
}

/* Whether all of `words` are among `bits`. */
static LLVMValueRef covers(struct mg_gen *g, LLVMValueRef bits, LLVMValueRef words)
{
    return LLVMBuildICmp(g->b, LLVMIntEQ, LLVMBuildAnd(g->b, bits, words, ""), words, "");
}

/* Whether there is room for so many more notes of records that have `told` together. */
static LLVMValueRef has_room(struct mg_gen *g, LLVMValueRef n, LLVMValueRef told, unsigned more)
{
    LLVMValueRef most = mg__gen_load(g, g->i64, FIELD(g, g->notes, mg_notes, most), 8),
                 all = LLVMBuildAdd(g->b, LLVMBuildAdd(g->b, n, told, ""), mg__gen_c64(g, more), "");
    return LLVMBuildICmp(g->b, LLVMIntULE, all, most, "");
}

/* A note, the `more`-th behind the `n` that there are. */
static void put(struct mg_gen *g, LLVMValueRef n, unsigned more, LLVMValueRef first, LLVMValueRef rec)
{
    LLVMValueRef shape = mg__gen_load(g, g->i64, FIELD(g, rec, mg_engine_record, shape), 8),
                 who = LLVMBuildOr(g->b, g->tag, shape, ""),
                 to = mg__gen_at(g, FIELD(g, g->notes, mg_notes, at), 8 * (uint64_t)more);
    mg__gen_store(g, LLVMBuildOr(g->b, first, who, ""), LLVMBuildGEP2(g->b, g->i64, to, &n, 1, ""), 8);
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
                 ok = has_room(g, n, mg__gen_load(g, g->i64, FIELD(g, rec, mg_engine_record, told), 8), 1);
    LLVMValueRef place = NULL, bits = NULL, words = NULL;
    if (close) {
        place = bits_of(g, first,
                        fixed ? mg__gen_c64(g, known)
                              : mg__gen_load(g, g->i64, FIELD(g, rec, mg_engine_record, covers), 8),
                        &words);
        bits = mg__gen_load(g, g->i64, place, 1);
    }
    if (loads)
        ok = LLVMBuildAnd(g->b, ok, close ? covers(g, bits, words) : each_written(g, m, address, at), "");
    LLVMBasicBlockRef good = mg__gen_bb(g);
    mg__gen_expect(g, ok, good, out);
    LLVMPositionBuilderAtEnd(g->b, good);
    put(g, n, 0, first, rec);
    mg__gen_store(g, LLVMBuildAdd(g->b, n, mg__gen_c64(g, 1), ""), FIELD(g, notes, mg_notes, n), 8);
    if (loads)
        return;
    if (close)
        mg__gen_store(g, LLVMBuildOr(g->b, bits, words, ""), place, 1);
    save(g, m, address, at, on, notes);
}

/* ---- runs ----
 * Loads of one basic block with nothing between them that anyone is told, or that may leave. The first one, where the
 * registers of all of them are what they will be, compares for all, and all are noted, or none: so the notes say of
 * them, by register, what single ones would have said one after the other.
 */
struct run_register {
    struct mg_gen_value address;
    struct mg_engine_site site;
    struct mg_engine_member member[MG_NOTED_TOGETHER];
    uint64_t known;
    int64_t low;
    uint32_t op; /* its first load */
    bool written; /* another value is in it since */
    LLVMValueRef at, rec;
};
struct run {
    struct run_register of[MG_NOTED_RUN];
    unsigned n, loads;
};

/* Arithmetic that never leaves: lines that become wider may, and those of which a sign is taken. */
static bool stays(const struct mg_gen *g, const struct mg_engine_op *op)
{
    const bool alu = op->kind == MG_ENGINE_ALU;
    const struct mg_gen_rule_of r = alu ? mg__gen_rule(op->row) : (struct mg_gen_rule_of){0};
    return (alu && r.rule != MG_RULE_WIDE && r.rule != MG_RULE_MADWIDE && r.rule != MG_RULE_EXTEND &&
            !mg__gen_takes_sign(g, op, r)) ||
           op->kind == MG_ENGINE_MOV || op->kind == MG_ENGINE_SETP || op->kind == MG_ENGINE_PACK ||
           op->kind == MG_ENGINE_UNPACK || op->kind == MG_ENGINE_NOP;
}

/* Whether the load belongs to the run that began with op `from`; it is in there now. */
static bool joins(struct mg_gen *g, struct run *run, uint32_t from, uint32_t index)
{
    const struct mg_engine_op *ops = g->p->ops, *op = &ops[index];
    if (op->kind != MG_ENGINE_CALL || !(op->effects & MG_ENGINE_UNHEARD) || op->mem->kind != MG_ACCESS_LD ||
        op->mem->space != MG_SPACE_SHARED)
        return false;
    unsigned k = 0;
    while (k < run->n && !mg__gen_same_shape(&ops[run->of[k].op], op))
        k++;
    struct run_register *r = &run->of[k];
    if (k == run->n) {
        if (k == MG_NOTED_RUN)
            return false;
        for (uint32_t i = from; i < index; i++)
            if (mg__gen_writes(&ops[i], op->in[0].slot))
                return false;
        const struct mg_gen_form form = mg__gen_form(g, g->form, op->in[0].slot, op->in[0].bytes);
        *r = (struct run_register){.op = index};
        if (form.vector || !mg__gen_notes(g, op->mem, &form) || !is_close(g, op->mem, &form, &r->known, &r->low))
            return false;
        r->site = (struct mg_engine_site){.space = op->mem->space,
                                          .bytes = (uint8_t)(op->mem->width * op->mem->vec),
                                          .cx = form.kx,
                                          .cy = form.ky,
                                          .insn = op->insn};
        run->n++;
    }
    const int64_t offset = op->mem->offset - ops[r->op].mem->offset;
    if (r->written || r->site.nmembers == MG_NOTED_TOGETHER || offset % r->site.bytes)
        return false;
    r->member[r->site.nmembers++] = (struct mg_engine_member){index, offset};
    run->loads++;
    return true;
}

static void find_run(struct mg_gen *g, uint32_t from, struct run *run)
{
    const struct mg_engine_op *ops = g->p->ops;
    run->n = run->loads = 0;
    for (uint32_t i = from; i < g->p->nops && (i == from || !g->block_at[i]); i++) {
        if (!stays(g, &ops[i]) && !joins(g, run, from, i))
            break;
        for (unsigned k = 0; k < run->n; k++)
            run->of[k].written |= mg__gen_writes(&ops[i], ops[run->of[k].op].in[0].slot);
    }
}

static int by_offset(const void *left, const void *right)
{
    const int64_t a = ((const struct mg_engine_member *)left)->offset,
                  b = ((const struct mg_engine_member *)right)->offset;
    return (a > b) - (a < b);
}

/* Whether all words of the register's loads are written. */
static LLVMValueRef all_written(struct mg_gen *g, const struct run_register *r, LLVMValueRef first)
{
    struct mg_engine_member by[MG_NOTED_TOGETHER];
    const uint32_t n = r->site.nmembers, span = 64 - (uint32_t)__builtin_clzll(r->known);
    LLVMValueRef good = LLVMConstInt(g->i1, 1, 0);
    memcpy(by, r->member, n * sizeof(*by));
    qsort(by, n, sizeof(*by), by_offset);
    for (uint32_t k = 0, from; k < n;) {
        uint64_t known = 0;
        for (from = k; k < n && (by[k].offset - by[from].offset) / 4 + span <= CLOSE; k++)
            known |= r->known << (by[k].offset - by[from].offset) / 4;
        LLVMValueRef words, at = LLVMBuildAdd(g->b, first, mg__gen_c64(g, (uint64_t)by[from].offset), ""),
                            place = bits_of(g, at, mg__gen_c64(g, known), &words);
        good = LLVMBuildAnd(g->b, good, covers(g, mg__gen_load(g, g->i64, place, 1), words), "");
    }
    return good;
}

/* A site for the register, compared. */
static void fit_register(struct mg_gen *g, struct run_register *r, unsigned notes, LLVMBasicBlockRef out)
{
    const struct mg_engine_op *op = &g->p->ops[r->op];
    r->site.first_member = (uint32_t)g->members.count;
    r->site.notes = (uint8_t)notes;
    for (uint32_t k = 0; k < r->site.nmembers; k++)
        if (!mg__vec_push(&g->members, r->member[k]))
            g->reason = "memory";
    const struct mg_gen_group group = {
        .slot = op->in[0].slot, .site = (uint32_t)g->sites.count, .count = r->site.nmembers, .noted = true};
    if (!mg__vec_push(&g->sites, r->site))
        g->reason = "memory";
    const struct mg_gen_line l = {.address = r->address, .at = r->at};
    r->rec = mg__gen_fits_record(g, &group, &l, &r->site, out);
}

bool mg__gen_note_run(struct mg_gen *g, uint32_t index, LLVMBasicBlockRef general, struct mg_gen_noted *first)
{
    struct run run;
    if (index > 0 && g->p->ops[index - 1].kind == MG_ENGINE_GUARD)
        return false;
    find_run(g, index, &run);
    if (run.loads < 2)
        return false;
    LLVMBasicBlockRef out = mg__gen_bb(g), good = mg__gen_bb(g), known = mg__gen_bb(g), on = mg__gen_bb(g);
    for (unsigned k = 0; k < run.n; k++) { /* where they are is wanted on either way */
        const struct mg_engine_op *op = &g->p->ops[run.of[k].op];
        run.of[k].address = mg__gen_read(g, op->in[0].slot, op->in[0].bytes);
        run.of[k].at = mg__gen_at_offset(g, op, run.of[k].address.base);
    }
    for (unsigned k = 0; k < run.n; k++)
        fit_register(g, &run.of[k], run.n, out);
    LLVMValueRef n = mg__gen_load(g, g->i64, FIELD(g, g->notes, mg_notes, n), 8), told = mg__gen_c64(g, 0),
                 at[MG_NOTED_RUN], written = LLVMConstInt(g->i1, 1, 0);
    for (unsigned k = 0; k < run.n; k++) {
        const struct run_register *r = &run.of[k];
        at[k] = LLVMBuildAdd(g->b, r->at, mg__gen_c64(g, (uint64_t)r->low), "");
        told = LLVMBuildAdd(g->b, told, mg__gen_load(g, g->i64, FIELD(g, r->rec, mg_engine_record, told), 8), "");
        written = LLVMBuildAnd(g->b, written, all_written(g, r, at[k]), "");
    }
    mg__gen_expect(g, LLVMBuildAnd(g->b, written, has_room(g, n, told, run.n), ""), good, out);
    LLVMPositionBuilderAtEnd(g->b, good);
    for (unsigned k = 0; k < run.n; k++)
        put(g, n, k, at[k], run.of[k].rec);
    mg__gen_store(g, LLVMBuildAdd(g->b, n, mg__gen_c64(g, run.n), ""), FIELD(g, g->notes, mg_notes, n), 8);
    LLVMBuildBr(g->b, known);
    LLVMPositionBuilderAtEnd(g->b, out);
    LLVMBuildBr(g->b, known);
    LLVMPositionBuilderAtEnd(g->b, known);
    LLVMValueRef ok = LLVMBuildPhi(g->b, g->i1, "");
    LLVMAddIncoming(ok, (LLVMValueRef[2]){LLVMConstInt(g->i1, 1, 0), LLVMConstInt(g->i1, 0, 0)},
                    (LLVMBasicBlockRef[2]){good, out}, 2);
    for (unsigned k = 0; k < run.n; k++)
        for (uint32_t i = 0; i < run.of[k].site.nmembers; i++) {
            const struct mg_engine_member *m = &run.of[k].member[i];
            g->noted[m->op] = (struct mg_gen_noted){
                ok, LLVMBuildAdd(g->b, run.of[k].at, mg__gen_c64(g, (uint64_t)m->offset), "")};
        }
    *first = g->noted[index];
    g->noted[index].ok = NULL;
    mg__gen_expect(g, ok, on, general);
    LLVMPositionBuilderAtEnd(g->b, on);
    return true;
}
