/* gen_build.c - what the generator's files build with: constants, places in memory, loads and stores, new basic blocks.
 */
#include "jit/gen.h"

LLVMValueRef mg__gen_c64(const struct mg_gen *g, uint64_t v)
{
    return LLVMConstInt(g->i64, v, 0);
}
LLVMValueRef mg__gen_c32(const struct mg_gen *g, uint32_t v)
{
    return LLVMConstInt(g->i32, v, 0);
}
LLVMTypeRef mg__gen_int(const struct mg_gen *g, unsigned bytes)
{
    return bytes == 8 ? g->i64 : bytes == 4 ? g->i32 : bytes == 2 ? g->i16 : bytes == 1 ? g->i8 : g->i1;
}
LLVMValueRef mg__gen_at(struct mg_gen *g, LLVMValueRef base, uint64_t offset)
{
    LLVMValueRef at = mg__gen_c64(g, offset);
    return LLVMBuildInBoundsGEP2(g->b, g->i8, base, &at, 1, "");
}
LLVMValueRef mg__gen_load(struct mg_gen *g, LLVMTypeRef type, LLVMValueRef from, unsigned align)
{
    LLVMValueRef v = LLVMBuildLoad2(g->b, type, from, "");
    LLVMSetAlignment(v, align ? align : 4);
    return v;
}
void mg__gen_store(struct mg_gen *g, LLVMValueRef value, LLVMValueRef to, unsigned align)
{
    LLVMSetAlignment(LLVMBuildStore(g->b, value, to), align ? align : 4);
}
LLVMBasicBlockRef mg__gen_bb(struct mg_gen *g)
{
    return LLVMAppendBasicBlockInContext(g->cx, g->fn, "");
}
LLVMValueRef mg__gen_alloca(struct mg_gen *g, LLVMTypeRef type)
{
    LLVMBasicBlockRef at = LLVMGetInsertBlock(g->b);
    LLVMPositionBuilderAtEnd(g->b, g->start);
    LLVMValueRef v = LLVMBuildAlloca(g->b, type, "");
    LLVMPositionBuilderAtEnd(g->b, at);
    return v;
}
void mg__gen_add(struct mg_gen *g, LLVMValueRef at, LLVMValueRef more)
{
    mg__gen_store(g, LLVMBuildAdd(g->b, mg__gen_load(g, g->i64, at, 8), more, ""), at, 8);
}
void mg__gen_expect(struct mg_gen *g, LLVMValueRef likely, LLVMBasicBlockRef yes, LLVMBasicBlockRef no)
{
    LLVMMetadataRef weights[3] = {LLVMMDStringInContext2(g->cx, "branch_weights", 14),
                                  LLVMValueAsMetadata(mg__gen_c32(g, 100000)), LLVMValueAsMetadata(mg__gen_c32(g, 1))};
    LLVMValueRef br = LLVMBuildCondBr(g->b, likely, yes, no);
    LLVMSetMetadata(br, LLVMGetMDKindIDInContext(g->cx, "prof", 4),
                    LLVMMetadataAsValue(g->cx, LLVMMDNodeInContext2(g->cx, weights, 3)));
}
