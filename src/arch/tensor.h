/* tensor.h - what the tensor cores of a board do at most. */
#ifndef MG_ARCH_TENSOR_H
#define MG_ARCH_TENSOR_H
#include "arch/arch.h"

enum mg_tensor_kind {
    MG_TENSOR_OF_F16, /* and bf16 */
    MG_TENSOR_OF_TF32,
    MG_TENSOR_OF_F64,
    MG_TENSOR_OF_F8,
    MG_TENSOR_OF_INT8,
    MG_TENSOR_OF_INT1,
    MG_TENSOR_KINDS
};
/* Operations a second, of dense matrices: a multiply-add is two. 0: the board has none of that kind, or it was not
 * published. */
double mg_board_tensor_peak(const struct mg_board *board, enum mg_tensor_kind kind);
#endif
