/* gen_elements.c - lanes with several elements each, one behind the other: apart, as registers have them, and together,
 * as memory does.
 *
 * What fits into one number is moved as such, and shifts take it apart. Of words LLVM makes good moves by itself where
 * a vector holds 16 of them (AVX-512), and where a lane has two; else they are turned here.
 */
#include "jit/gen_mem.h"

LLVMValueRef mg__gen_shuffle(struct mg_gen *g, LLVMValueRef a, LLVMValueRef b, const int *index, unsigned n)
{
    LLVMValueRef mask[512];
    for (unsigned i = 0; i < n; i++)
        mask[i] = index[i] < 0 ? LLVMGetPoison(g->i32) : mg__gen_c32(g, (uint32_t)index[i]);
    return LLVMBuildShuffleVector(g->b, a, b ? b : LLVMGetPoison(LLVMTypeOf(a)), LLVMConstVector(mask, n), "");
}

/* Elements of a lane that are smaller than a register's lie in one number, from its lowest bits up: so many bytes; 0:
 * they do not, or are no such number. */
unsigned mg__gen_packed_in(const struct mg_engine_mem *m)
{
    const unsigned bytes = m->width * m->vec;
    return m->vec > 1 && m->width < 4 && (bytes == 4 || bytes == 8) ? bytes : 0;
}

/* Four words a lane, where a vector holds eight: of 128 words in one go LLVM makes moves of single ones, four times as
 * many, and takes seven times as long to. */
bool mg__gen_by_eights(const struct mg_gen *g, const struct mg_engine_mem *m, const struct mg_gen_line *l)
{
    return m->vec == 4 && m->width == 4 && !g->masks && !l->on && g->row >= 8;
}

static void eight_ptrs(struct mg_gen *g, LLVMValueRef row, unsigned from, LLVMValueRef ptr[4])
{
    for (unsigned k = 0; k < 4; k++) {
        LLVMValueRef at = mg__gen_c64(g, 16 * from + 32 * k);
        ptr[k] = LLVMBuildGEP2(g->b, g->i8, row, &at, 1, "");
    }
}

static const int halves[2][8] = {{0, 1, 2, 3, 8, 9, 10, 11}, {4, 5, 6, 7, 12, 13, 14, 15}},
                 words[2][8] = {{0, 8, 1, 9, 4, 12, 5, 13}, {2, 10, 3, 11, 6, 14, 7, 15}},
                 pairs[2][8] = {{0, 1, 8, 9, 4, 5, 12, 13}, {2, 3, 10, 11, 6, 7, 14, 15}};

/* Within each half of a vector: four of four words, turned. */
static void turn_words(struct mg_gen *g, LLVMValueRef x[4])
{
    LLVMValueRef a[2], b[2];
    for (unsigned k = 0; k < 2; k++) {
        a[k] = mg__gen_shuffle(g, x[0], x[1], words[k], 8);
        b[k] = mg__gen_shuffle(g, x[2], x[3], words[k], 8);
    }
    for (unsigned k = 0; k < 4; k++)
        x[k] = mg__gen_shuffle(g, a[k / 2], b[k / 2], pairs[k % 2], 8);
}

/* The four words of eight lanes from `from` on, by word. */
static void load_eight(struct mg_gen *g, LLVMValueRef row, unsigned from, LLVMValueRef x[4])
{
    LLVMTypeRef eight = LLVMVectorType(g->i32, 8);
    LLVMValueRef ptr[4], two[4];
    eight_ptrs(g, row, from, ptr);
    for (unsigned k = 0; k < 4; k++)
        two[k] = mg__gen_load(g, eight, ptr[k], 4);
    for (unsigned k = 0; k < 4; k++)
        x[k] = mg__gen_shuffle(g, two[k / 2], two[k / 2 + 2], halves[k % 2], 8);
    turn_words(g, x);
}

static void store_eight(struct mg_gen *g, LLVMValueRef row, unsigned from, LLVMValueRef x[4])
{
    LLVMValueRef ptr[4];
    eight_ptrs(g, row, from, ptr);
    turn_words(g, x);
    for (unsigned k = 0; k < 4; k++)
        mg__gen_store(g, mg__gen_shuffle(g, x[k % 2 * 2], x[k % 2 * 2 + 1], halves[k / 2], 8), ptr[k], 4);
}

/* Of a row, by word. */
void mg__gen_load_eights(struct mg_gen *g, LLVMValueRef row, LLVMValueRef x[4])
{
    LLVMValueRef piece[4][4], eight[4];
    for (unsigned k = 0; k < g->row / 8; k++) {
        load_eight(g, row, 8 * k, eight);
        for (unsigned v = 0; v < 4; v++)
            piece[v][k] = eight[v];
    }
    for (unsigned v = 0; v < 4; v++)
        x[v] = mg__gen_concat(g, piece[v], g->row / 8);
}

/* A row whose first lane is `from`. */
void mg__gen_store_eights(struct mg_gen *g, LLVMValueRef row, unsigned from, LLVMValueRef x[4])
{
    for (unsigned k = 0; k < g->row; k += 8) {
        LLVMValueRef eight[4];
        for (unsigned v = 0; v < 4; v++)
            eight[v] = mg__gen_part_of(g, x[v], from + k, 8);
        store_eight(g, row, k, eight);
    }
}

/* A row's elements `v` of lanes. */
LLVMValueRef mg__gen_element(struct mg_gen *g, const struct mg_engine_mem *m, LLVMValueRef row, unsigned v)
{
    LLVMTypeRef type = LLVMVectorType(mg__gen_int(g, m->width), g->row);
    int index[32];
    if (m->vec == 1)
        return row;
    if (mg__gen_packed_in(m)) {
        LLVMValueRef by = LLVMConstInt(mg__gen_int(g, mg__gen_packed_in(m)), 8 * m->width * v, 0);
        return LLVMBuildTrunc(g->b, v ? LLVMBuildLShr(g->b, row, mg__gen_splat(g, by, g->row), "") : row, type, "");
    }
    for (unsigned x = 0; x < g->row; x++)
        index[x] = (int)(x * m->vec + v);
    return mg__gen_shuffle(g, row, NULL, index, g->row);
}

/* Lane after lane of two or four vectors, `n` elements of each from `from` on. */
LLVMValueRef mg__gen_lane_by_lane(struct mg_gen *g, LLVMValueRef *x, unsigned vec, unsigned from, unsigned n)
{
    int index[128];
    LLVMValueRef pair[2];
    for (unsigned k = 0; k < vec; k += 2) {
        for (unsigned i = 0; i < 2 * n; i++)
            index[i] = (int)(from + i / 2 + i % 2 * 32);
        pair[k / 2] = mg__gen_shuffle(g, x[k], x[k + 1], index, 2 * n);
    }
    if (vec == 2)
        return pair[0];
    for (unsigned i = 0; i < 4 * n; i++)
        index[i] = (int)(i / 4 * 2 + i % 2 + i % 4 / 2 * 2 * n);
    return mg__gen_shuffle(g, pair[0], pair[1], index, 4 * n);
}

/* The elements of each lane as one number. */
LLVMValueRef mg__gen_packed(struct mg_gen *g, const struct mg_engine_mem *m, LLVMValueRef *x)
{
    LLVMTypeRef one = mg__gen_int(g, mg__gen_packed_in(m)), type = LLVMVectorType(one, 32);
    LLVMValueRef all = LLVMBuildZExt(g->b, x[0], type, "");
    for (unsigned v = 1; v < m->vec; v++) {
        LLVMValueRef by = mg__gen_splat(g, LLVMConstInt(one, 8 * m->width * v, 0), 32);
        all = LLVMBuildOr(g->b, all, LLVMBuildShl(g->b, LLVMBuildZExt(g->b, x[v], type, ""), by, ""), "");
    }
    return all;
}
