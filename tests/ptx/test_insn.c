/* test_insn.c - single instructions: what fields they decode to, and how they print. */
#include "ptx_test.h"

/* Registers and variables that the lines below use. */
#define FRAME                                                                                                        \
    HEAD ".global .b32 g[8];\n.func callee(.param .b32 a) { ret; }\n"                                                \
         ".entry k(.param .u64 arg)\n{\n"                                                                            \
         ".reg .pred p, q; .reg .b16 h; .reg .b32 r, s, t, u; .reg .b64 d, e; .reg .f32 f; .reg .f64 x; .reg .b128 " \
         "w;\n"                                                                                                      \
         ".reg .v4 .b32 vec;\n.shared .b32 sm[8];\nbegin:\n"

struct expect {
    const char *text;
    uint16_t opcode;
    struct mg_ptx_insn want; /* fields that are zero here are expected to be zero, but opcode and operands */
};
static const struct expect table[] = {
    {"add.s32 r, s, 5;", MG_OP_ADD, {.type = {MG_T_S32}}},
    {"add.rn.ftz.sat.f32 f, f, 0f3F800000;",
     MG_OP_ADD,
     {.type = {MG_T_F32}, .round = MG_RND_RN, .flags = MG_F_FTZ | MG_F_SAT}},
    {"add.cc.u32 r, s, t;", MG_OP_ADD, {.type = {MG_T_U32}, .flags = MG_F_CC}},
    {"madc.hi.cc.u64 d, d, e, e;", MG_OP_MADC, {.type = {MG_T_U64}, .flags = MG_F_HI | MG_F_CC}},
    {"mul.wide.s32 d, r, s;", MG_OP_MUL, {.type = {MG_T_S32}, .flags = MG_F_WIDE}},
    {"mul24.lo.u32 r, s, t;", MG_OP_MUL24, {.type = {MG_T_U32}, .flags = MG_F_LO}},
    {"min.NaN.xorsign.abs.f32 f, f, f;", MG_OP_MIN, {.type = {MG_T_F32}, .flags = MG_F_NAN | MG_F_XORSIGN_ABS}},
    {"max.f32 f, f, f, f;", MG_OP_MAX, {.type = {MG_T_F32}, .flags = MG_F_LATER}},
    {"div.full.ftz.f32 f, f, f;", MG_OP_DIV, {.type = {MG_T_F32}, .flags = MG_F_FULL | MG_F_FTZ}},
    {"rcp.approx.ftz.f64 x, x;", MG_OP_RCP, {.type = {MG_T_F64}, .flags = MG_F_APPROX | MG_F_FTZ}},
    {"setp.lt.and.f32 p|q, f, f, !p;",
     MG_OP_SETP,
     {.type = {MG_T_F32}, .cmp = MG_CMP_LT, .boolop = MG_BOOL_AND, .flags = MG_F_DUAL}},
    {"setp.lo.u32 p, r, s;", MG_OP_SETP, {.type = {MG_T_U32}, .cmp = MG_CMP_LO}},
    {"setp.nan.f64 p|_, x, x;", MG_OP_SETP, {.type = {MG_T_F64}, .cmp = MG_CMP_NAN, .flags = MG_F_DUAL}},
    {"set.eq.ftz.u32.f32 r, f, f;", MG_OP_SET, {.type = {MG_T_U32, MG_T_F32}, .cmp = MG_CMP_EQ, .flags = MG_F_FTZ}},
    {"selp.b64 d, e, 0, p;", MG_OP_SELP, {.type = {MG_T_B64}}},
    {"slct.u32.f32 r, s, t, f;", MG_OP_SLCT, {.type = {MG_T_U32, MG_T_F32}}},
    {"lop3.or.b32 r|p, r, s, t, 0xE8, q;", MG_OP_LOP3, {.type = {MG_T_B32}, .boolop = MG_BOOL_OR, .flags = MG_F_DUAL}},
    {"shf.l.wrap.b32 r, s, t, 3;", MG_OP_SHF, {.type = {MG_T_B32}, .sub = MG_SUB_L, .flags = MG_F_WRAP}},
    {"prmt.b32.rc16 r, s, t, u;", MG_OP_PRMT, {.type = {MG_T_B32}, .sub = MG_SUB_RC16}},
    {"testp.subnormal.f32 p, f;", MG_OP_TESTP, {.type = {MG_T_F32}, .sub = MG_SUB_SUBNORMAL}},
    {"bfind.shiftamt.s64 r, d;", MG_OP_BFIND, {.type = {MG_T_S64}, .flags = MG_F_SHIFTAMT}},
    {"bmsk.clamp.b32 r, s, t;", MG_OP_BMSK, {.type = {MG_T_B32}, .flags = MG_F_CLAMP}},
    {"dp2a.lo.s32.u32 r, s, t, u;", MG_OP_DP2A, {.type = {MG_T_S32, MG_T_U32}, .flags = MG_F_LO}},
    {"cvt.rni.sat.s32.f32 r, f;", MG_OP_CVT, {.type = {MG_T_S32, MG_T_F32}, .round = MG_RND_RNI, .flags = MG_F_SAT}},
    {"cvt.rn.satfinite.relu.e4m3x2.f32 h, f, f;",
     MG_OP_CVT,
     {.type = {MG_T_E4M3X2, MG_T_F32}, .round = MG_RND_RN, .flags = MG_F_SATFINITE | MG_F_RELU}},
    {"cvt.pack.sat.u8.s32.b32 r, s, t, u;",
     MG_OP_CVT,
     {.type = {MG_T_U8, MG_T_S32, MG_T_B32}, .sub = MG_SUB_PACK, .flags = MG_F_SAT}},
    {"cvt.pack.sat.s2.s32.b32 r, s, -1, u;",
     MG_OP_CVT,
     {.type = {MG_T_S2, MG_T_S32, MG_T_B32}, .sub = MG_SUB_PACK, .flags = MG_F_SAT}},
    {"cvt.rn.satfinite.e2m1x2.f32 h, f, f;",
     MG_OP_CVT,
     {.type = {MG_T_OTHER, MG_T_F32}, .round = MG_RND_RN, .flags = MG_F_SATFINITE | MG_F_LATER}},
    {"mov.b64 {r, _}, d;", MG_OP_MOV, {.type = {MG_T_B64}}},
    {"mov.b128 {d, _}, w;", MG_OP_MOV, {.type = {MG_T_B128}}},
    {"mov.u64 d, g+12;", MG_OP_MOV, {.type = {MG_T_U64}}},
    {"mov.u64 d, callee;", MG_OP_MOV, {.type = {MG_T_U64}}},
    {"mov.u32 r, %tid.y;", MG_OP_MOV, {.type = {MG_T_U32}}},
    {"mov.pred p, 1;", MG_OP_MOV, {.type = {MG_T_PRED}}},
    {"ld.global.nc.L1::no_allocate.L2::128B.v4.b32 {r, s, t, u}, [d+-16];",
     MG_OP_LD,
     {.type = {MG_T_B32},
      .space = MG_SPACE_GLOBAL,
      .vec = 4,
      .flags = MG_F_NC,
      .evict = {MG_EVICT_NO_ALLOCATE},
      .fetch = 2}},
    {"ld.param.u64 d, [arg];", MG_OP_LD, {.type = {MG_T_U64}, .space = MG_SPACE_PARAM}},
    {"ld.param::func.u64 d, [arg];", MG_OP_LD, {.type = {MG_T_U64}, .space = MG_SPACE_PARAM, .flags = MG_F_PARAM_FUNC}},
    {"ld.volatile.shared::cta.u8 r, [sm+3];",
     MG_OP_LD,
     {.type = {MG_T_U8}, .space = MG_SPACE_SHARED, .sem = MG_PTX_SEM_VOLATILE, .flags = MG_F_SHARED_CTA}},
    {"ld.acquire.sys.b32 r, [d];", MG_OP_LD, {.type = {MG_T_B32}, .sem = MG_PTX_SEM_ACQUIRE, .scope = MG_SCOPE_SYS}},
    {"ld.mmio.relaxed.sys.global.u32 r, [d];",
     MG_OP_LD,
     {.type = {MG_T_U32}, .space = MG_SPACE_GLOBAL, .sem = MG_PTX_SEM_MMIO, .scope = MG_SCOPE_SYS}},
    {"ld.const.f32 f, [4096];", MG_OP_LD, {.type = {MG_T_F32}, .space = MG_SPACE_CONST}},
    {"ld.global.L2::cache_hint.b32 r, [d], e;",
     MG_OP_LD,
     {.type = {MG_T_B32}, .space = MG_SPACE_GLOBAL, .flags = MG_F_CACHE_HINT}},
    {"ld.global.b128 w, [d];", MG_OP_LD, {.type = {MG_T_B128}, .space = MG_SPACE_GLOBAL}},
    {"st.global.wt.v2.f32 [d], {f, 0f00000000};",
     MG_OP_ST,
     {.type = {MG_T_F32}, .space = MG_SPACE_GLOBAL, .vec = 2, .cache = MG_CACHE_WT}},
    {"st.local.b32 [d+8], -1;", MG_OP_ST, {.type = {MG_T_B32}, .space = MG_SPACE_LOCAL}},
    {"atom.global.acq_rel.gpu.cas.b64 d, [e], 1, d;",
     MG_OP_ATOM,
     {.type = {MG_T_B64},
      .space = MG_SPACE_GLOBAL,
      .sem = MG_PTX_SEM_ACQ_REL,
      .scope = MG_SCOPE_GPU,
      .atomop = MG_ATOM_CAS}},
    {"atom.relaxed.gpu.global.cas.b128 w, [d], w, w;",
     MG_OP_ATOM,
     {.type = {MG_T_B128},
      .space = MG_SPACE_GLOBAL,
      .sem = MG_PTX_SEM_RELAXED,
      .scope = MG_SCOPE_GPU,
      .atomop = MG_ATOM_CAS}},
    {"atom.add.noftz.f16x2 r, [d], s;", MG_OP_ATOM, {.type = {MG_T_F16X2}, .atomop = MG_ATOM_ADD, .flags = MG_F_NOFTZ}},
    {"atom.global.v2.f32.add {f, _}, [d], {f, f};",
     MG_OP_ATOM,
     {.type = {MG_T_F32}, .space = MG_SPACE_GLOBAL, .vec = 2, .atomop = MG_ATOM_ADD}},
    {"red.shared.inc.u32 [sm], 7;", MG_OP_RED, {.type = {MG_T_U32}, .space = MG_SPACE_SHARED, .atomop = MG_ATOM_INC}},
    {"cvta.to.shared.u64 d, e;",
     MG_OP_CVTA,
     {.type = {MG_T_U64}, .space = MG_SPACE_SHARED, .space2 = MG_SPACE_SHARED, .flags = MG_F_TO}},
    {"isspacep.local p, d;", MG_OP_ISSPACEP, {.space = MG_SPACE_LOCAL, .space2 = MG_SPACE_LOCAL}},
    {"cp.async.cg.shared.global.L2::128B [sm], [d], 16, 8;",
     MG_OP_CP_ASYNC,
     {.space = MG_SPACE_SHARED, .space2 = MG_SPACE_GLOBAL, .cache = MG_CACHE_CG, .fetch = 2}},
    {"cp.async.commit_group;", MG_OP_CP_ASYNC, {.sub = MG_SUB_COMMIT_GROUP}},
    {"cp.async.wait_group 3;", MG_OP_CP_ASYNC, {.sub = MG_SUB_WAIT_GROUP}},
    {"bra.uni begin;", MG_OP_BRA, {.flags = MG_F_UNI}},
    {"call.uni callee, (r);", MG_OP_CALL, {.flags = MG_F_UNI}},
    {"shfl.sync.bfly.b32 r|p, s, 16, 31, -1;",
     MG_OP_SHFL,
     {.type = {MG_T_B32}, .sub = MG_SUB_BFLY, .flags = MG_F_SYNC | MG_F_DUAL}},
    {"vote.sync.uni.pred p, !q, -1;", MG_OP_VOTE, {.type = {MG_T_PRED}, .sub = MG_SUB_UNI, .flags = MG_F_SYNC}},
    {"match.all.sync.b64 r|p, d, -1;",
     MG_OP_MATCH,
     {.type = {MG_T_B64}, .sub = MG_SUB_ALL, .flags = MG_F_SYNC | MG_F_DUAL}},
    {"redux.sync.xor.b32 r, s, -1;", MG_OP_REDUX, {.type = {MG_T_B32}, .atomop = MG_ATOM_XOR, .flags = MG_F_SYNC}},
    {"elect.sync _|p, -1;", MG_OP_ELECT, {.flags = MG_F_SYNC | MG_F_DUAL}},
    {"activemask.b32 r;", MG_OP_ACTIVEMASK, {.type = {MG_T_B32}}},
    {"bar.sync 1, 64;", MG_OP_BAR, {.sub = MG_SUB_SYNC, .flags = MG_F_ALIGNED}},
    {"barrier.cta.arrive 1, 64;", MG_OP_BAR, {.sub = MG_SUB_ARRIVE, .scope = MG_SCOPE_CTA}},
    {"bar.red.popc.u32 r, 0, !p;",
     MG_OP_BAR,
     {.type = {MG_T_U32}, .sub = MG_SUB_RED, .boolop = MG_BOOL_POPC, .flags = MG_F_ALIGNED}},
    {"barrier.red.and.pred.aligned p, 0, 32, q;",
     MG_OP_BAR,
     {.type = {MG_T_PRED}, .sub = MG_SUB_RED, .boolop = MG_BOOL_AND, .flags = MG_F_ALIGNED}},
    {"bar.warp.sync -1;", MG_OP_BAR_WARP, {.sub = MG_SUB_WARP_SYNC}},
    {"membar.gl;", MG_OP_MEMBAR, {.scope = MG_SCOPE_GPU}},
    {"fence.sc.cta;", MG_OP_FENCE, {.sem = MG_PTX_SEM_SC, .scope = MG_SCOPE_CTA}},
    {"fence.proxy.async.shared::cta;",
     MG_OP_FENCE_PROXY,
     {.space = MG_SPACE_SHARED, .flags = MG_F_SHARED_CTA, .proxy = MG_PROXY_ASYNC}},
    {"prefetch.global.L2 [d];", MG_OP_PREFETCH, {.space = MG_SPACE_GLOBAL, .level = 2}},
    {"prefetch.tensormap [d];", MG_OP_PREFETCH, {0}},
    {"createpolicy.fractional.L2::evict_last.b64 d, 0f3F800000;",
     MG_OP_CREATEPOLICY,
     {.type = {MG_T_B64}, .sub = MG_SUB_FRACTIONAL, .evict = {0, MG_EVICT_LAST}}},
    {"barrier.cluster.arrive.release.aligned;",
     MG_OP_BARRIER_CLUSTER,
     {.sub = MG_SUB_ARRIVE, .sem = MG_PTX_SEM_RELEASE, .flags = MG_F_ALIGNED}},
    {"barrier.cluster.wait;", MG_OP_BARRIER_CLUSTER, {.sub = MG_SUB_WAIT}},
    {"mapa.shared::cluster.u32 r, sm, s;",
     MG_OP_MAPA,
     {.type = {MG_T_U32}, .space = MG_SPACE_SHARED, .flags = MG_F_SHARED_CLUSTER}},
    {"getctarank.u64 r, d;", MG_OP_GETCTARANK, {.type = {MG_T_U64}}},
    {"mbarrier.try_wait.parity.shared.b64 p, [sm], r;",
     MG_OP_MBARRIER_TRY_WAIT,
     {.type = {MG_T_B64}, .space = MG_SPACE_SHARED, .sub = MG_SUB_PARITY}},
    {"mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [sm], r;",
     MG_OP_MBARRIER_ARRIVE,
     {.type = {MG_T_B64},
      .space = MG_SPACE_SHARED,
      .sub = MG_SUB_EXPECT_TX,
      .sem = MG_PTX_SEM_RELEASE,
      .scope = MG_SCOPE_CLUSTER,
      .flags = MG_F_SHARED_CLUSTER}},
    {"cp.async.mbarrier.arrive.noinc.shared::cta.b64 [sm];",
     MG_OP_CP_ASYNC_MBARRIER_ARRIVE,
     {.type = {MG_T_B64}, .space = MG_SPACE_SHARED, .sub = MG_SUB_NOINC, .flags = MG_F_SHARED_CTA}},
    {"tex.2d.v4.f32.s32 {f, f, f, f}, [d, {r, s}];",
     MG_OP_TEX,
     {.type = {MG_T_F32, MG_T_S32}, .vec = 4, .dims = 2}},
    {"vadd.s32.u32.s32.sat r, s.b0, t.h1;",
     MG_OP_VADD,
     {.type = {MG_T_S32, MG_T_U32, MG_T_S32}, .flags = MG_F_LATER | MG_F_SAT}},
    {"cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [sm], [d, {r, s}], [sm+8];",
     MG_OP_CP_ASYNC_BULK_TENSOR,
     {.space = MG_SPACE_SHARED,
      .space2 = MG_SPACE_GLOBAL,
      .sub = MG_SUB_MBARRIER_BYTES,
      .dims = 2,
      .flags = MG_F_SHARED_CLUSTER}},
    {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [sm], [d], 64, [sm+8], s;",
     MG_OP_CP_ASYNC_BULK,
     {.space = MG_SPACE_SHARED,
      .space2 = MG_SPACE_GLOBAL,
      .sub = MG_SUB_MBARRIER_BYTES,
      .flags = MG_F_SHARED_CLUSTER | MG_F_MULTICAST}},
    {"cp.async.bulk.tensor.3d.global.shared::cta.im2col.bulk_group [d, {r, s, 5}], [sm];",
     MG_OP_CP_ASYNC_BULK_TENSOR,
     {.space = MG_SPACE_GLOBAL,
      .space2 = MG_SPACE_SHARED,
      .sub = MG_SUB_BULK_GROUP,
      .dims = 3,
      .flags = MG_F_IM2COL | MG_F_SHARED_CTA}},
    {"cp.async.bulk.wait_group.read 2;", MG_OP_CP_ASYNC_BULK_WAIT_GROUP, {.sub = MG_SUB_READ}},
};

static void fields_are_decoded(void **state)
{
    (void)state;
    for (size_t i = 0; i < MG_COUNT(table); i++) {
        char text[2048];
        snprintf(text, sizeof(text), FRAME "%s\nret;\n}\n", table[i].text);
        struct mg_ptx_module *module = parse_ok(text);
        const struct mg_ptx_func *func = mg__ptx_find_func(module, "k");
        assert_int_equal(func->ninsns, 2);
        const struct mg_ptx_insn *got = &func->insns[0], *want = &table[i].want;
#define SAME(field)                \
    if (got->field != want->field) \
    fail_msg("%s: " #field " is %u, not %u", table[i].text, (unsigned)got->field, (unsigned)want->field)
        if (got->opcode != table[i].opcode)
            fail_msg("%s: opcode %s", table[i].text, mg__ptx_isa((enum mg_ptx_opcode)got->opcode)->name);
        SAME(type[0]);
        SAME(type[1]);
        SAME(type[2]);
        SAME(space);
        SAME(space2);
        SAME(round);
        SAME(cmp);
        SAME(boolop);
        SAME(atomop);
        SAME(sem);
        SAME(scope);
        SAME(sub);
        SAME(flags);
        SAME(cache);
        SAME(evict[0]);
        SAME(evict[1]);
        SAME(fetch);
        SAME(level);
        SAME(proxy);
        assert_int_equal(got->vec, want->vec ? want->vec : 1);
        assert_int_equal(got->dims, want->dims);
        assert_int_equal(got->guard, -1);
        struct mg_strbuf out = {0};
        assert_true(mg__ptx_print_insn(module, func, got, &out));
        assert_true(mg__strbuf_append(&out, ";", 1));
        char plain[256];
        snprintf(plain, sizeof(plain), "%s", table[i].text);
        if (got->opcode != MG_OP_BRA) { /* labels are numbered in print */
            for (size_t hex = 0; hex < strlen(plain); hex++) {
                if (memcmp(plain + hex, "0xE8", 4) == 0) /* integers print as decimal numbers */
                    memcpy(plain + hex, "232 ", 4), memmove(plain + hex + 3, plain + hex + 4, strlen(plain + hex + 3));
            }
            assert_string_equal(out.at, plain);
        }
        mg__strbuf_free(&out);
        free(round_trip(module));
        mg__ptx_free(module);
    }
}

static const struct mg_ptx_opnd *operand(const struct mg_ptx_func *func, unsigned insn, unsigned n)
{
    assert_true(n < func->insns[insn].nops);
    return mg__ptx_op(func, &func->insns[insn], n);
}

/* A word an operand: r read, w written, @ an address, p a predicate, l a label. */
static const struct {
    const char *text, *roles;
    enum mg_ptx_access_kind access;
    unsigned effects;
} roles[] = {
    {"add.s32 r, s, 5;", "w r r", MG_ACCESSES_NONE, 0},
    {"setp.lt.and.s32 p|q, r, s, p;", "w w r r rp", MG_ACCESSES_NONE, 0},
    {"selp.b32 r, s, 1, p;", "w r r rp", MG_ACCESSES_NONE, 0},
    {"lop3.or.b32 r|p, r, s, t, 0xE8, q;", "w w r r r r rp", MG_ACCESSES_NONE, 0},
    {"cvt.pack.sat.u16.s32 r, s, t;", "w r r", MG_ACCESSES_NONE, 0},
    {"mov.b64 {r, s}, d;", "w r", MG_ACCESSES_NONE, 0},
    {"ld.global.v2.b32 {r, s}, [d];", "w r@", MG_ACCESSES_LOAD, 0},
    {"st.shared.b32 [sm], r;", "w@ r", MG_ACCESSES_STORE, 0},
    {"atom.global.cas.b32 r, [d], s, t;", "w rw@ r r", MG_ACCESSES_ATOM, 0},
    {"red.global.add.u32 [d], r;", "rw@ r", MG_ACCESSES_RED, 0},
    {"cp.async.ca.shared.global [sm], [d], 16;", "w@ r@ r", MG_ACCESSES_COPY, 0},
    {"cp.async.wait_group 3;", "r", MG_ACCESSES_NONE, 0},
    {"prefetch.global.L2 [d];", "@", MG_ACCESSES_NONE, 0},
    {"bra.uni begin;", "l", MG_ACCESSES_NONE, MG_E_ENDS},
    {"call (d), callee, (d);", "w r r", MG_ACCESSES_NONE, MG_E_CALLS},
    {"bar.sync 1, 64;", "r r", MG_ACCESSES_NONE, MG_E_SYNCS},
    {"bar.red.popc.u32 r, 1, 64, !p;", "w r r rp", MG_ACCESSES_NONE, MG_E_SYNCS},
    {"barrier.sync 0;", "r", MG_ACCESSES_NONE, MG_E_SYNCS},
    {"shfl.sync.idx.b32 r|p, s, 0, 31, -1;", "w w r r r r", MG_ACCESSES_NONE, MG_E_WARP},
    {"vote.sync.ballot.b32 r, p, -1;", "w rp r", MG_ACCESSES_NONE, MG_E_WARP},
    {"fence.sc.cta;", "", MG_ACCESSES_NONE, MG_E_ORDERS},
    {"ret;", "", MG_ACCESSES_NONE, MG_E_ENDS | MG_E_LEAVES},
    {"trap;", "", MG_ACCESSES_NONE, MG_E_ENDS | MG_E_TRAPS},
    {"movmatrix.sync.aligned.m8n8.trans.b16 r, s;", "w r", MG_ACCESSES_NONE, MG_E_WARP},
    {"mapa.u64 d, e, r;", "w r r", MG_ACCESSES_NONE, 0},
    {"barrier.cluster.wait;", "", MG_ACCESSES_NONE, MG_E_SYNCS},
    {"mbarrier.pending_count.b64 r, d;", "w r", MG_ACCESSES_NONE, 0},
    {"mbarrier.arrive.shared.b64 d, [sm];", "w rw@", MG_ACCESSES_NONE, MG_E_ORDERS},
    {"mbarrier.try_wait.shared.b64 p, [sm], d, 100;", "w rw@ r r", MG_ACCESSES_NONE, MG_E_ORDERS},
    {"cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [sm], [d, {r, s}], [sm+8];",
     "w@ @ r rw@", MG_ACCESSES_NONE, MG_E_ORDERS},
    {"cp.async.bulk.global.shared::cta.bulk_group [d], [sm], 64;", "w@ r@ r", MG_ACCESSES_COPY, 0},
    {"suq.width.b32 r, [d];", "w @", MG_ACCESSES_NONE, MG_E_ORDERS},
    {"tex.2d.v4.f32.s32 {f, f, f, f}, [d, {r, s}];", "w @ r", MG_ACCESSES_NONE, MG_E_ORDERS},
    {"st.bulk [sm], d, 0;", "rw@ r r", MG_ACCESSES_NONE, 0}, /* not executed: no more is known */
};

static void operands_have_roles(void **state)
{
    (void)state;
    for (size_t i = 0; i < MG_COUNT(roles); i++) {
        char text[2048], said[128] = "";
        snprintf(text, sizeof(text), FRAME "%s\nret;\n}\n", roles[i].text);
        struct mg_ptx_module *module = parse_ok(text);
        const struct mg_ptx_func *func = mg__ptx_find_func(module, "k");
        const struct mg_ptx_insn *insn = &func->insns[0];
        size_t at = 0;
        unsigned written = 0;
        for (unsigned n = 0; n < insn->nops; n++) {
            unsigned role = mg__ptx_op(func, insn, n)->role;
            at += (size_t)snprintf(said + at, sizeof(said) - at, "%s%s%s%s%s%s", n ? " " : "",
                                   role & MG_ROLE_READ ? "r" : "", role & MG_ROLE_WRITE ? "w" : "",
                                   role & MG_ROLE_ADDRESS ? "@" : "", role & MG_ROLE_PREDICATE ? "p" : "",
                                   role & MG_ROLE_LABEL ? "l" : "");
            bool writes = role & MG_ROLE_WRITE && !(role & MG_ROLE_ADDRESS);
            assert_int_equal(mg__ptx_writes(insn, n), writes);
            written += writes;
        }
        if (strcmp(said, roles[i].roles) != 0 || insn->access != roles[i].access || insn->effects != roles[i].effects)
            fail_msg("%s: roles '%s', access %u, effects %u", roles[i].text, said, insn->access, insn->effects);
        assert_int_equal(insn->nresults, written);
        if (insn->access != MG_ACCESSES_NONE)
            assert_true(mg__ptx_op(func, insn, insn->address)->role & MG_ROLE_ADDRESS);
        mg__ptx_free(module);
    }
}

static void operands_are_resolved(void **state)
{
    (void)state;
    struct mg_ptx_module *module =
        parse_ok(FRAME "@!p ld.global.u32 r, [d+-8];\n"                     /* 0 */
                       "ld.shared.u32 r, [sm+4*2];\n"                       /* 1 */
                       "mov.b32 s, vec.z;\n"                                /* 2 */
                       "mov.b64 d, -0x8000000000000000;\n"                  /* 3 */
                       "mov.f64 x, 0d3FF8000000000000;\n"                   /* 4 */
                       "mov.f32 f, -1.5;\n"                                 /* 5 */
                       "mov.u32 r, (1 << 4 | 3) == 19 ? WARP_SZ - 1 : 7;\n" /* 6 */
                       "@q bra end;\n"                                      /* 7 */
                       "and.pred p, !q, p;\n"                               /* 8 */
                       "mov.u64 d, g + 4 - 12;\n"                           /* 9 */
                       "mov.u32 r, %nctaid.z;\n"                            /* 10 */
                       "mov.u64 d, 18446744073709551615U;\n"                /* 11 */
                       "mov.u32 r, 0b101;mov.u32 r, 017;\n"                 /* 12, 13 */
                       "mov.u32 r, !5; mov.u32 r, ~5;\n"                    /* 14, 15 */
                       "ld.global.v4.b32 vec, [d];\n"                       /* 16 */
                       "mov.s32 r, -7 / 2; mov.s32 r, -7 % 2; mov.s32 r, -7 >> 1; mov.b64 d, (.u64)-8 >> 60;\n" /* 17 */
                       "end:\n}\n");
    const struct mg_ptx_func *func = mg__ptx_find_func(module, "k");
    assert_string_equal(func->regs[func->insns[0].guard].name, "p");
    assert_true(func->insns[0].guard_negate);
    assert_int_equal(operand(func, 0, 1)->kind, MG_OPND_ADDR);
    assert_true(operand(func, 0, 1)->has_reg);
    assert_string_equal(func->regs[operand(func, 0, 1)->index].name, "d");
    assert_int_equal(operand(func, 0, 1)->imm, -8);
    assert_string_equal(operand(func, 1, 1)->var->name, "sm");
    assert_int_equal(operand(func, 1, 1)->imm, 8);
    assert_false(operand(func, 1, 1)->has_reg);
    assert_string_equal(func->regs[operand(func, 2, 1)->index].name, "vec$z");
    assert_int_equal(operand(func, 3, 1)->imm, INT64_MIN);
    assert_true(operand(func, 4, 1)->is_float && operand(func, 4, 1)->wide_float);
    assert_int_equal(operand(func, 4, 1)->imm, 0x3FF8000000000000);
    assert_int_equal((uint64_t)operand(func, 5, 1)->imm, 0xBFF8000000000000);
    assert_int_equal(operand(func, 6, 1)->imm, 31);
    assert_int_equal(operand(func, 7, 0)->kind, MG_OPND_LABEL);
    assert_int_equal(operand(func, 7, 0)->index, func->ninsns); /* a label at the function's end */
    assert_true(operand(func, 8, 1)->negate && !operand(func, 8, 2)->negate);
    assert_int_equal(operand(func, 9, 1)->kind, MG_OPND_SYMBOL);
    assert_int_equal(operand(func, 9, 1)->imm, -8);
    assert_int_equal(operand(func, 10, 1)->index, MG_SR_NCTAID);
    assert_int_equal(operand(func, 10, 1)->dim, 2);
    assert_int_equal(operand(func, 11, 1)->imm, -1);
    assert_int_equal(operand(func, 12, 1)->imm, 5);
    assert_int_equal(operand(func, 13, 1)->imm, 15);
    assert_int_equal(operand(func, 14, 1)->imm, 0);
    assert_int_equal(operand(func, 15, 1)->imm, ~5);
    assert_int_equal(operand(func, 16, 0)->kind, MG_OPND_VEC);
    assert_int_equal(operand(func, 16, 0)->count, 4);
    assert_int_equal(operand(func, 17, 1)->imm, -3);
    assert_int_equal(operand(func, 18, 1)->imm, -1);
    assert_int_equal(operand(func, 19, 1)->imm, -4);
    assert_int_equal(operand(func, 20, 1)->imm, 15);
    free(round_trip(module));
    mg__ptx_free(module);
}

static void calls_have_lists(void **state)
{
    (void)state;
    struct mg_ptx_module *module =
        parse_ok(HEAD ".func (.param .b32 r) f (.param .b32 a, .param .b64 b) { ret; }\n.func g { ret; }\n"
                      ".entry k() { .reg .b64 d; .param .b32 x; .param .b32 a; .param .b64 b;\n"
                      "P: .callprototype (.param .b32 _) _ (.param .b32 _, .param .b64 _);\n"
                      "T: .calltargets f, f;\n"
                      "call (x), f, (a, b);\ncall g;\ncall (x), d, (a, b), P;\ncall.uni (x), d, (a, b), T;\n}\n");
    const struct mg_ptx_func *k = mg__ptx_find_func(module, "k");
    assert_int_equal(k->insns[0].nops, 3);
    assert_int_equal(operand(k, 0, 0)->count, 1);
    assert_string_equal(k->operands[operand(k, 0, 0)->first].var->name, "x");
    assert_int_equal(operand(k, 0, 1)->kind, MG_OPND_FUNC);
    assert_ptr_equal(operand(k, 0, 1)->func, mg__ptx_find_func(module, "f"));
    assert_int_equal(operand(k, 0, 2)->count, 2);
    assert_string_equal(k->operands[operand(k, 0, 2)->first + 1].var->name, "b");
    assert_int_equal(k->insns[1].nops, 3);
    assert_int_equal(operand(k, 1, 0)->count + operand(k, 1, 2)->count, 0);
    assert_int_equal(operand(k, 2, 1)->kind, MG_OPND_REG);
    assert_int_equal(operand(k, 2, 3)->kind, MG_OPND_PROTO);
    assert_int_equal(k->protos[operand(k, 2, 3)->index].nparams, 2);
    assert_int_equal(operand(k, 3, 3)->kind, MG_OPND_TABLE);
    assert_int_equal(k->tables[operand(k, 3, 3)->index].count, 2);
    free(round_trip(module));
    mg__ptx_free(module);
}

static void scopes_shadow(void **state)
{
    (void)state;
    struct mg_ptx_module *module = parse_ok(
        HEAD
        ".entry k() { .reg .b32 %r<4>;\nmov.b32 %r1, 1;\n"
        "{ .reg .b32 %r<3>; mov.b32 %r1, 2; L: bra L; { .reg .f32 %r1; mov.f32 %r1, 0f00000000; } mov.b32 %r1, 3; }\n"
        "mov.b32 %r1, 4;\nL: mov.b32 %r3, 5; bra L;\n{ bra L; }\n}\n");
    const struct mg_ptx_func *k = mg__ptx_find_func(module, "k");
    uint32_t outer = operand(k, 0, 0)->index, inner = operand(k, 1, 0)->index, third = operand(k, 3, 0)->index;
    assert_true(outer != inner && inner != third && outer != third);
    assert_int_equal(operand(k, 2, 0)->index, 2); /* the inner L */
    assert_int_equal(k->regs[third].type, MG_T_F32);
    assert_int_equal(operand(k, 4, 0)->index, inner);
    assert_int_equal(operand(k, 5, 0)->index, outer);
    assert_int_equal(operand(k, 7, 0)->index, 6); /* the outer L */
    assert_int_equal(operand(k, 8, 0)->index, 6);
    free(round_trip(module));
    mg__ptx_free(module);
}

/* A million registers that nobody names are no registers. */
static void ranges_are_lazy(void **state)
{
    (void)state;
    struct mg_ptx_module *module =
        parse_ok(HEAD ".entry k() { .reg .b32 %r<1000000>; mov.b32 %r999999, %r7; mov.b32 %r7, 0; }");
    const struct mg_ptx_func *k = mg__ptx_find_func(module, "k");
    assert_int_equal(k->nregs, 2);
    assert_string_equal(k->regs[0].name, "%r999999");
    assert_true(module->arena.total < 100000);
    mg__ptx_free(module);
}

static void special_registers_have_names(void **state)
{
    (void)state;
    assert_string_equal(mg__ptx_sreg_name(MG_SR_TID, 0), "%tid.x");
    assert_string_equal(mg__ptx_sreg_name(MG_SR_ENVREG, 31), "%envreg31");
    assert_string_equal(mg__ptx_sreg_name(MG_SR_INVALID, 0), "");
    for (unsigned sreg = MG_SR_INVALID + 1; sreg <= MG_SR_OTHER; sreg++) {
        char text[512];
        const char *name = mg__ptx_sreg_name((enum mg_ptx_sreg)sreg, 0);
        assert_true(name[0] == '%');
        snprintf(text, sizeof(text), HEAD ".entry k() { .reg .b64 d; mov.u64 d, %s; }", name);
        struct mg_ptx_module *module = parse_ok(text);
        assert_int_equal(operand(module->funcs[0], 0, 1)->index, sreg);
        mg__ptx_free(module);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_are_decoded),
        cmocka_unit_test(operands_have_roles),
        cmocka_unit_test(operands_are_resolved),
        cmocka_unit_test(calls_have_lists),
        cmocka_unit_test(scopes_shadow),
        cmocka_unit_test(ranges_are_lazy),
        cmocka_unit_test(special_registers_have_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
