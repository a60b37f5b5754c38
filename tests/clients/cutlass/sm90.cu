// sm90.cu - CUTLASS 3.x for Hopper: TMA and wgmma, warps that load and warps that multiply, alone, in turns (ping-pong) or
// together (cooperative), in clusters with multicast copies, stores by TMA.
#include "three.h"
using namespace cute;
using cutlass::bfloat16_t;
using cutlass::half_t;
using cutlass::epilogue::NoSmemWarpSpecialized;
using cutlass::epilogue::TmaWarpSpecialized;
using cutlass::epilogue::TmaWarpSpecializedCooperative;
using cutlass::gemm::KernelTma;
using cutlass::gemm::KernelTmaWarpSpecialized;
using cutlass::gemm::KernelTmaWarpSpecializedCooperative;
using cutlass::gemm::KernelTmaWarpSpecializedPingpong;
using One = Shape<_1, _1, _1>;

int main()
{
    run<Three<half_t, Row, Column, float, float, Shape<_128, _128, _64>, One, KernelTma>>("f16, one kind of warps", 128, 256, 192);
    run<Three<half_t, Row, Column, half_t, float, Shape<_64, _128, _64>, One, KernelTmaWarpSpecialized, TmaWarpSpecialized>>(
        "f16, warps specialised", 192, 136, 128);
    run<Three<bfloat16_t, Row, Row, float, float, Shape<_64, _128, _64>, One, KernelTmaWarpSpecializedPingpong,
              TmaWarpSpecialized>>("bf16 tt, ping-pong", 256, 256, 192);
    run<Three<half_t, Column, Column, half_t, float, Shape<_128, _128, _64>, One, KernelTmaWarpSpecializedCooperative,
              TmaWarpSpecializedCooperative>>("f16 nn, cooperative", 256, 128, 256);
    run<Three<half_t, Row, Column, float, float, Shape<_128, _128, _64>, Shape<_2, _1, _1>,
              KernelTmaWarpSpecializedCooperative, TmaWarpSpecializedCooperative>>("f16, cluster 2x1", 512, 128, 128);
    run<Three<half_t, Row, Column, half_t, float, Shape<_64, _64, _64>, Shape<_2, _2, _1>, KernelTmaWarpSpecializedPingpong,
              NoSmemWarpSpecialized>>("f16, ping-pong, cluster 2x2", 256, 256, 128);
    return verdict();
}
