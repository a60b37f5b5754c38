// three.h - a multiplication by CUTLASS 3.x: collectives as the builders choose them, run and compared. B by columns.
#pragma once
#include "gemm.h"
#include <cute/tensor.hpp>
#include <cutlass/epilogue/collective/collective_builder.hpp>
#include <cutlass/gemm/collective/collective_builder.hpp>
#include <cutlass/gemm/device/gemm_universal_adapter.h>
#include <cutlass/gemm/kernel/gemm_universal.hpp>
#include <cutlass/util/packed_stride.hpp>

using Row = cutlass::layout::RowMajor;
using Column = cutlass::layout::ColumnMajor;

template <typename T, typename LayoutA, typename LayoutB, typename C, typename Sum, typename Tile, typename Cluster,
          typename Schedule, typename Finish = cutlass::epilogue::collective::EpilogueScheduleAuto,
          typename Scheduler = void>
struct Three {
    static constexpr int AlignT = 128 / cutlass::sizeof_bits<T>::value, AlignC = 128 / cutlass::sizeof_bits<C>::value;
    using Epilogue = typename cutlass::epilogue::collective::CollectiveBuilder<
        cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, Tile, Cluster,
        cutlass::epilogue::collective::EpilogueTileAuto, Sum, Sum, C, Row, AlignC, C, Row, AlignC,
        Finish>::CollectiveOp;
    using Mainloop = typename cutlass::gemm::collective::CollectiveBuilder<
        cutlass::arch::Sm90, cutlass::arch::OpClassTensorOp, T, LayoutA, AlignT, T, LayoutB, AlignT, Sum, Tile, Cluster,
        cutlass::gemm::collective::StageCountAutoCarveout<int(sizeof(typename Epilogue::SharedStorage))>,
        Schedule>::CollectiveOp;
    using Kernel = cutlass::gemm::kernel::GemmUniversal<cute::Shape<int, int, int, int>, Mainloop, Epilogue, Scheduler>;
    using Gemm = cutlass::gemm::device::GemmUniversalAdapter<Kernel>;
    using A = T;
    using ElementC = C;
    using ElementSum = Sum;
    static constexpr bool a_by_rows = std::is_same<LayoutA, Row>::value, b_by_rows = std::is_same<LayoutB, Row>::value;
};

template <typename How> void run(const char *name, int m, int n, int k)
{
    using Gemm = typename How::Gemm;
    using T = typename How::A;
    using C = typename How::ElementC;
    using Sum = typename How::ElementSum;
    Matrix<T> a(m, k, How::a_by_rows, -3, 3, 1), b(k, n, How::b_by_rows, -3, 3, 2);
    Matrix<C> c(m, n, true, -4, 4, 3), d(m, n, true, 0, 0, 4);
    const auto stride_a = cutlass::make_cute_packed_stride(typename Gemm::GemmKernel::StrideA{}, {m, k, 1});
    const auto stride_b = cutlass::make_cute_packed_stride(typename Gemm::GemmKernel::StrideB{}, {n, k, 1});
    const auto stride_c = cutlass::make_cute_packed_stride(typename Gemm::GemmKernel::StrideC{}, {m, n, 1});
    cutlass::KernelHardwareInfo device;
    device.sm_count = cutlass::KernelHardwareInfo::query_device_multiprocessor_count(0);
    typename Gemm::Arguments arguments{cutlass::gemm::GemmUniversalMode::kGemm,
                                       {m, n, k, 1},
                                       {a.device, stride_a, b.device, stride_b},
                                       {{Sum(2), Sum(1)}, c.device, stride_c, d.device, stride_c},
                                       device};
    Gemm gemm;
    void *workspace = nullptr;
    cutlass::Status status = gemm.can_implement(arguments);
    if (status == cutlass::Status::kSuccess) {
        if (const size_t bytes = Gemm::get_workspace_size(arguments))
            must(cudaMalloc(&workspace, bytes), "cudaMalloc");
        status = gemm(arguments, workspace);
    }
    if (status != cutlass::Status::kSuccess) {
        printf("%s: %s\n", name, cutlassGetStatusString(status));
        wrong_gemms++;
        return;
    }
    must(cudaDeviceSynchronize(), name);
    cudaFree(workspace);
    compare(name, a, b, c, d);
}
