/* matrix.c - what a matrix multiplication is to the tensor cores: machine instructions, operations, and what wgmma
 * reads of shared memory.
 *
 * As an H200's counters say (tests/hardware/hopper.json). One instruction of PTX is one of the machine, but: mma in
 * e4m3 and e5m2 is made of two in f16, four bits of two in eight, .xor of single bits of two; wmma is as many mma of
 * 16x8, or 8x8, as its shape holds. mma.m8n8k4 counts as an instruction and makes no operations. The operands of a
 * wgmma are read from shared memory 128 bytes at a time, once for its four warps, whatever their layout: 64 rows of A,
 * unless it comes from registers, and N columns of B, of 32 bytes each; of B twice as many where A is sparse.
 */
#include "model/matrix.h"
#include "model/model_priv.h"

enum { ROW_BYTES = 32, WARPGROUP = 4, WAVEFRONT = 128 };

static bool is_float8(unsigned type)
{
    return type == MG_T_E4M3 || type == MG_T_E5M2;
}

static unsigned operations_of(unsigned type, bool wgmma)
{
    switch (type) {
    case MG_T_BF16:
        return MG_METRIC_OPS_BF16;
    case MG_T_TF32:
        return MG_METRIC_OPS_TF32;
    case MG_T_F64:
        return MG_METRIC_OPS_FP64;
    case MG_T_E4M3:
    case MG_T_E5M2:
        return wgmma ? MG_METRIC_OPS_FP8 : MG_METRIC_OPS_FP16;
    case MG_T_S8:
    case MG_T_U8:
    case MG_T_S4:
    case MG_T_U4:
        return MG_METRIC_OPS_INT8;
    case MG_T_B1:
        return MG_METRIC_OPS_INT1;
    default:
        return MG_METRIC_OPS_FP16;
    }
}

bool mg__model_matrix(const struct mg_ptx_insn *insn, struct mg_model_matrix *m)
{
    if (mg__ptx_isa((enum mg_ptx_opcode)insn->opcode)->group != MG_G_MATRIX || insn->access != MG_ACCESSES_NONE ||
        !insn->m || insn->ntypes < 2)
        return false;
    /* wmma of f16 names D's and C's alone */
    const unsigned type = insn->ntypes == 2 ? MG_T_F16 : insn->type[1];
    const bool wgmma = insn->m == 64, bits4 = type == MG_T_S4 || type == MG_T_U4;
    const bool whole = bits4 || type == MG_T_S8 || type == MG_T_U8 || type == MG_T_B1;
    const bool twice = !wgmma && type == MG_T_B1 && insn->atomop != MG_ATOM_AND;
    const bool quads = insn->m == 8 && insn->k == 4 && type == MG_T_F16;
    *m = (struct mg_model_matrix){.wgmma = wgmma};
    m->pipe = type == MG_T_F64 ? MG_METRIC_TENSOR_DMMA : whole ? MG_METRIC_TENSOR_IMMA : MG_METRIC_TENSOR_HMMA;
    m->kind = operations_of(type, wgmma);
    m->instructions = wgmma || insn->m * insn->n <= 128 ? 1 : insn->m * insn->n / 128u;
    if ((!wgmma && (is_float8(type) || bits4)) || twice || (type == MG_T_TF32 && insn->n == 16 && !wgmma))
        m->instructions *= 2; /* tf32 of wmma goes in two steps of k */
    m->operations = quads ? 0 : 2u * (wgmma ? insn->m / WARPGROUP : insn->m) * insn->n * insn->k * (twice ? 2u : 1u);
    return true;
}

uint64_t mg__model_wgmma_wavefronts(const struct mg_ptx_func *func, const struct mg_ptx_insn *insn, uint64_t warps)
{
    const bool from_registers = func->operands[insn->first_op + 1].kind == MG_OPND_VEC;
    const uint64_t a = from_registers ? 0 : (uint64_t)insn->m * ROW_BYTES,
                   b = (uint64_t)insn->n * ROW_BYTES * (insn->sub == MG_SUB_SPARSE ? 2 : 1);
    return warps * (a + b) / WAVEFRONT / WARPGROUP;
}
