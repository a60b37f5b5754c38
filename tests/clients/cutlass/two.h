// two.h - a multiplication by CUTLASS 2.x (cutlass::gemm::device::Gemm), run and compared.
#pragma once
#include "gemm.h"
#include <cutlass/gemm/device/gemm.h>
#include <type_traits>

using cutlass::gemm::GemmShape;
using Row = cutlass::layout::RowMajor;
using Column = cutlass::layout::ColumnMajor;

template <typename Gemm> void run(const char *name, int m, int n, int k, int slices = 1)
{
    using A = typename Gemm::ElementA;
    using B = typename Gemm::ElementB;
    using C = typename Gemm::ElementC;
    using Sum = typename Gemm::ElementAccumulator;
    Matrix<A> a(m, k, std::is_same<typename Gemm::LayoutA, Row>::value, -3, 3, 1);
    Matrix<B> b(k, n, std::is_same<typename Gemm::LayoutB, Row>::value, -3, 3, 2);
    Matrix<C> c(m, n, true, -4, 4, 3), d(m, n, true, 0, 0, 4);
    typename Gemm::Arguments arguments({m, n, k}, {a.device, a.pitch()}, {b.device, b.pitch()}, {c.device, c.pitch()},
                                       {d.device, d.pitch()}, {Sum(2), Sum(1)}, slices);
    Gemm gemm;
    void *workspace = nullptr;
    if (const size_t bytes = Gemm::get_workspace_size(arguments))
        must(cudaMalloc(&workspace, bytes), "cudaMalloc");
    const cutlass::Status status = gemm(arguments, workspace);
    if (status != cutlass::Status::kSuccess) {
        printf("%s: %s\n", name, cutlassGetStatusString(status));
        wrong_gemms++;
        return;
    }
    must(cudaDeviceSynchronize(), name);
    cudaFree(workspace);
    compare(name, a, b, c, d);
}

// Of one type of elements, in tiles, warps' tiles and instructions of those shapes. Doubles are copied one by one.
template <typename T, typename LayoutA, typename LayoutB, typename C, typename Sum, typename Arch, typename Tile,
          typename Warp, typename Instruction, int stages, bool splits = false,
          int alignment = sizeof(T) == 8 ? 1 : 16 / sizeof(T)>
using Gemm = cutlass::gemm::device::Gemm<
    T, LayoutA, T, LayoutB, C, Row, Sum, cutlass::arch::OpClassTensorOp, Arch, Tile, Warp, Instruction,
    cutlass::epilogue::thread::LinearCombination<C, sizeof(T) == 8 ? 1 : 16 / sizeof(C), Sum, Sum>,
    cutlass::gemm::threadblock::GemmIdentityThreadblockSwizzle<>, stages, alignment, alignment, splits>;
