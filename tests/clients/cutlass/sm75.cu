// sm75.cu - CUTLASS 2.x for Volta's and Turing's tensor cores: two stages through registers, ldmatrix, mma of f16 and s8.
#include "two.h"
using cutlass::half_t;
using cutlass::arch::Sm70;
using cutlass::arch::Sm75;

int main()
{
    run<Gemm<half_t, Row, Column, half_t, half_t, Sm70, GemmShape<64, 64, 32>, GemmShape<32, 32, 32>, GemmShape<8, 8, 4>, 2>>(
        "volta f16", 128, 128, 64);
    run<Gemm<half_t, Row, Column, float, float, Sm70, GemmShape<64, 64, 32>, GemmShape<32, 32, 32>, GemmShape<8, 8, 4>, 2>>(
        "volta f16 into f32", 128, 64, 64);
    run<Gemm<half_t, Row, Column, half_t, float, Sm75, GemmShape<128, 128, 32>, GemmShape<64, 64, 32>, GemmShape<16, 8, 8>, 2>>(
        "turing f16 tn", 192, 136, 96);
    run<Gemm<half_t, Column, Row, half_t, half_t, Sm75, GemmShape<128, 64, 32>, GemmShape<64, 32, 32>, GemmShape<16, 8, 8>, 2>>(
        "turing f16 nt into f16", 136, 128, 64);
    run<Gemm<int8_t, Row, Column, int32_t, int32_t, Sm75, GemmShape<64, 64, 64>, GemmShape<32, 32, 64>, GemmShape<8, 8, 16>, 2>>(
        "turing s8", 128, 128, 128);
    return verdict();
}
