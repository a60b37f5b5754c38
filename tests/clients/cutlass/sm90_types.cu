// sm90_types.cu - CUTLASS 3.x for Hopper in types other than halves; A through registers; k shared out among blocks.
#include "three.h"
using namespace cute;
using cutlass::half_t;
using cutlass::tfloat32_t;
using cutlass::epilogue::TmaWarpSpecialized;
using cutlass::epilogue::TmaWarpSpecializedCooperative;
using cutlass::gemm::KernelTmaWarpSpecialized;
using cutlass::gemm::KernelTmaWarpSpecializedCooperative;
using cutlass::gemm::KernelTmaWarpSpecializedCooperativeFP8FastAccum;
using cutlass::gemm::KernelTmaWarpSpecializedPingpong;
using One = Shape<_1, _1, _1>;

int main()
{
    run<Three<tfloat32_t, Row, Column, float, float, Shape<_64, _128, _32>, One, KernelTmaWarpSpecialized>>("tf32", 128, 256, 96);
    run<Three<tfloat32_t, Column, Row, float, float, Shape<_64, _64, _32>, One, KernelTmaWarpSpecialized>>(
        "tf32 nt, through registers", 64, 128, 96);
    run<Three<int8_t, Row, Column, int32_t, int32_t, Shape<_128, _128, _128>, Shape<_1, _2, _1>,
              KernelTmaWarpSpecializedCooperative, TmaWarpSpecializedCooperative>>("s8, cluster 1x2", 128, 256, 256);
    run<Three<cutlass::float_e4m3_t, Row, Column, half_t, float, Shape<_64, _128, _128>, One, KernelTmaWarpSpecializedPingpong,
              TmaWarpSpecialized>>("e4m3, ping-pong", 128, 128, 256);
    run<Three<cutlass::float_e5m2_t, Row, Column, float, float, Shape<_128, _64, _128>, Shape<_2, _1, _1>,
              KernelTmaWarpSpecializedCooperativeFP8FastAccum, TmaWarpSpecializedCooperative>>("e5m2, fast", 256, 64, 256);
    run<Three<half_t, Row, Column, float, float, Shape<_128, _128, _64>, One, KernelTmaWarpSpecializedCooperative,
              TmaWarpSpecializedCooperative, cutlass::gemm::StreamKScheduler>>("f16, stream-k", 256, 256, 512);
    return verdict();
}
