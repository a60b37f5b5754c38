// sm80.cu - CUTLASS 2.x for Ampere's tensor cores: several stages by cp.async, in every type; k in slices; batches of work
// of any number that do not fill their tiles.
#include "two.h"
using cutlass::bfloat16_t;
using cutlass::half_t;
using cutlass::tfloat32_t;
using cutlass::arch::Sm80;

int main()
{
    run<Gemm<half_t, Row, Column, half_t, float, Sm80, GemmShape<128, 128, 32>, GemmShape<64, 64, 32>, GemmShape<16, 8, 16>, 3>>(
        "f16 tn", 200, 136, 128);
    run<Gemm<half_t, Column, Row, half_t, float, Sm80, GemmShape<64, 128, 32>, GemmShape<32, 64, 32>, GemmShape<16, 8, 16>, 4>>(
        "f16 nt", 128, 128, 128);
    run<Gemm<bfloat16_t, Row, Row, float, float, Sm80, GemmShape<128, 64, 64>, GemmShape<64, 32, 64>, GemmShape<16, 8, 16>, 3>>(
        "bf16 tt", 128, 192, 192);
    run<Gemm<tfloat32_t, Row, Column, float, float, Sm80, GemmShape<64, 64, 16>, GemmShape<32, 32, 16>, GemmShape<16, 8, 8>, 4>>(
        "tf32", 68, 128, 64);
    run<Gemm<int8_t, Row, Column, int32_t, int32_t, Sm80, GemmShape<128, 64, 64>, GemmShape<64, 32, 64>, GemmShape<16, 8, 32>, 3>>(
        "s8", 128, 128, 256);
    run<Gemm<double, Row, Column, double, double, Sm80, GemmShape<64, 64, 16>, GemmShape<32, 32, 16>, GemmShape<8, 8, 4>, 4>>(
        "f64", 64, 96, 64);
    run<Gemm<half_t, Row, Column, float, float, Sm80, GemmShape<64, 64, 32>, GemmShape<32, 32, 32>, GemmShape<16, 8, 16>, 3, true>>(
        "f16, k in slices", 64, 128, 512, 4);
    return verdict();
}
