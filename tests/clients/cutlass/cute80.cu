// cute80.cu - CuTe by hand for sm_80: tiled copies by cp.async into swizzled tiles in three stages, ldmatrix straight and
// transposed, tiled mma of f16, and the results out through registers.
#include "gemm.h"
#include <cute/tensor.hpp>
using namespace cute;
using cutlass::half_t;

enum { M = 256, N = 192, K = 256, TileM = 128, TileN = 64, TileK = 64, Stages = 3 };

// A by rows, B by columns, or, `across`, by rows.
template <bool across> struct Shared {
    using AtomA = decltype(composition(Swizzle<3, 3, 3>{}, Layout<Shape<_8, _64>, Stride<_64, _1>>{}));
    using AtomB = std::conditional_t<across, decltype(composition(Swizzle<3, 3, 3>{}, Layout<Shape<_64, _8>, Stride<_1, _64>>{})),
                                     AtomA>;
    using A = decltype(tile_to_shape(AtomA{}, Shape<Int<TileM>, Int<TileK>, Int<Stages>>{}));
    using B = decltype(tile_to_shape(AtomB{}, Shape<Int<TileN>, Int<TileK>, Int<Stages>>{}));
};

template <bool across> __global__ void __launch_bounds__(128) multiply(const half_t *a, const half_t *b, const float *c, float *d)
{
    extern __shared__ __align__(128) unsigned char room[];
    using Tiles = Shared<across>;
    Tensor sA = make_tensor(make_smem_ptr((half_t *)room), typename Tiles::A{});
    Tensor sB = make_tensor(make_smem_ptr((half_t *)room + cosize_v<typename Tiles::A>), typename Tiles::B{});
    Tensor gA = local_tile(make_tensor(make_gmem_ptr(a), Shape<Int<M>, Int<K>>{}, Stride<Int<K>, _1>{}),
                           Shape<Int<TileM>, Int<TileK>>{}, make_coord(blockIdx.x, _));
    using StrideB = std::conditional_t<across, Stride<_1, Int<N>>, Stride<Int<K>, _1>>;
    Tensor gB = local_tile(make_tensor(make_gmem_ptr(b), Shape<Int<N>, Int<K>>{}, StrideB{}), Shape<Int<TileN>, Int<TileK>>{},
                           make_coord(blockIdx.y, _));
    Tensor gC = local_tile(make_tensor(make_gmem_ptr(c), Shape<Int<M>, Int<N>>{}, Stride<Int<N>, _1>{}),
                           Shape<Int<TileM>, Int<TileN>>{}, make_coord(blockIdx.x, blockIdx.y));
    Tensor gD = local_tile(make_tensor(make_gmem_ptr(d), Shape<Int<M>, Int<N>>{}, Stride<Int<N>, _1>{}),
                           Shape<Int<TileM>, Int<TileN>>{}, make_coord(blockIdx.x, blockIdx.y));

    using Sixteen = Copy_Atom<SM80_CP_ASYNC_CACHEGLOBAL<cute::uint128_t>, half_t>;
    auto by_rows = make_tiled_copy(Sixteen{}, Layout<Shape<_16, _8>, Stride<_8, _1>>{}, Layout<Shape<_1, _8>>{});
    auto by_columns = make_tiled_copy(Sixteen{}, Layout<Shape<_8, _16>, Stride<_1, _8>>{}, Layout<Shape<_8, _1>>{});
    auto copy_a = by_rows.get_slice(threadIdx.x);
    auto copy_b = [&] {
        if constexpr (across)
            return by_columns.get_slice(threadIdx.x);
        else
            return by_rows.get_slice(threadIdx.x);
    }();
    Tensor from_a = copy_a.partition_S(gA);
    Tensor to_a = copy_a.partition_D(sA);
    Tensor from_b = copy_b.partition_S(gB);
    Tensor to_b = copy_b.partition_D(sB);
    auto fetch = [&](int k, int stage) {
        copy(by_rows, from_a(_, _, _, k), to_a(_, _, _, stage));
        if constexpr (across)
            copy(by_columns, from_b(_, _, _, k), to_b(_, _, _, stage));
        else
            copy(by_rows, from_b(_, _, _, k), to_b(_, _, _, stage));
    };

    auto mma = make_tiled_mma(SM80_16x8x16_F32F16F16F32_TN{}, Layout<Shape<_2, _2>>{}, Tile<_32, _32, _16>{});
    auto thread = mma.get_slice(threadIdx.x);
    Tensor x = thread.partition_fragment_A(sA(_, _, 0));
    Tensor y = thread.partition_fragment_B(sB(_, _, 0));
    Tensor sum = thread.partition_fragment_C(gD);
    clear(sum);
    auto load_a = make_tiled_copy_A(Copy_Atom<SM75_U32x4_LDSM_N, half_t>{}, mma);
    using AtomB = std::conditional_t<across, Copy_Atom<SM75_U16x8_LDSM_T, half_t>, Copy_Atom<SM75_U32x4_LDSM_N, half_t>>;
    auto load_b = make_tiled_copy_B(AtomB{}, mma);
    auto lane_a = load_a.get_slice(threadIdx.x);
    auto lane_b = load_b.get_slice(threadIdx.x);
    Tensor tile_a = lane_a.partition_S(sA);
    Tensor tile_b = lane_b.partition_S(sB);
    Tensor x_as_loaded = lane_a.retile_D(x);
    Tensor y_as_loaded = lane_b.retile_D(y);

    for (int s = 0; s < Stages - 1; s++) {
        fetch(s, s);
        cp_async_fence();
    }
    for (int k = 0; k < K / TileK; k++) {
        cp_async_wait<Stages - 2>();
        __syncthreads();
        if (k + Stages - 1 < K / TileK)
            fetch(k + Stages - 1, (k + Stages - 1) % Stages);
        cp_async_fence();
        copy(load_a, tile_a(_, _, _, k % Stages), x_as_loaded);
        copy(load_b, tile_b(_, _, _, k % Stages), y_as_loaded);
        gemm(mma, x, y, sum);
    }
    Tensor c_of_thread = thread.partition_C(gC);
    Tensor d_of_thread = thread.partition_C(gD);
    for (int i = 0; i < size(sum); i++)
        d_of_thread(i) = 2 * sum(i) + c_of_thread(i);
}

template <bool across> static void run(const char *name)
{
    Matrix<half_t> a(M, K, true, -3, 3, 1), b(K, N, across, -3, 3, 2);
    Matrix<float> c(M, N, true, -4, 4, 3), d(M, N, true, 0, 0, 4);
    const int bytes = sizeof(half_t) * (cosize_v<typename Shared<across>::A> + cosize_v<typename Shared<across>::B>);
    must(cudaFuncSetAttribute(multiply<across>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes), "shared memory");
    multiply<across><<<dim3(M / TileM, N / TileN), 128, bytes>>>(a.device, b.device, c.device, d.device);
    must(cudaDeviceSynchronize(), name);
    compare(name, a, b, c, d);
}

int main()
{
    run<false>("CuTe tn");
    run<true>("CuTe tt, transposed by ldmatrix");
    return verdict();
}
