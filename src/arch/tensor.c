/* tensor.c - tensor.def as a function. */
#include "arch/tensor.h"

double mg_board_tensor_peak(const struct mg_board *board, enum mg_tensor_kind kind)
{
    static const struct {
        unsigned cc, rate[MG_TENSOR_KINDS];
    } rows[] = {
#define TENSOR(cc, ...) {cc, {__VA_ARGS__}},
#include "arch/tensor.def"
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        if (rows[i].cc == board->cc)
            return (double)rows[i].rate[kind] * board->sm_count * board->clock_khz * 1e3;
    return 0;
}
