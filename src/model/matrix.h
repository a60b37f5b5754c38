/* matrix.h - what a matrix multiplication is to the tensor cores (matrix.c). */
#ifndef MG_MODEL_MATRIX_H
#define MG_MODEL_MATRIX_H
#include "ptx/ptx.h"

struct mg_model_matrix {
    unsigned pipe, kind;               /* enum mg_metric: by pipe, and by the type of its operations */
    uint32_t instructions, operations; /* of a warp */
    bool wgmma;
};
/* False: the instruction is no multiplication of matrices. */
bool mg__model_matrix(const struct mg_ptx_insn *insn, struct mg_model_matrix *m);
/* Wavefronts of wgmma's operands, which so many warps asked for. */
uint64_t mg__model_wgmma_wavefronts(const struct mg_ptx_func *func, const struct mg_ptx_insn *insn, uint64_t warps);
#endif
