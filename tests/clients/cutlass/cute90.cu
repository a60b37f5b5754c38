// cute90.cu - CuTe by hand for sm_90a: tiles by TMA into two stages behind mbarriers, wgmma on them, sums out through shared
// memory by a TMA store; and the same tiles added up by TMA reductions.
#include "gemm.h"
#include <cute/tensor.hpp>
#include <cutlass/arch/barrier.h>
using namespace cute;
using cutlass::half_t;
using Full = cutlass::arch::ClusterTransactionBarrier;

enum { M = 256, N = 256, K = 256, Side = 128, TileK = 64, Stages = 2 };
using SharedA = decltype(tile_to_shape(GMMA::Layout_K_SW128_Atom<half_t>{}, Shape<Int<Side>, Int<TileK>, Int<Stages>>{}));
using SharedB = decltype(tile_to_shape(GMMA::Layout_MN_SW128_Atom<half_t>{}, Shape<Int<Side>, Int<TileK>, Int<Stages>>{}));
using SharedD = Layout<Shape<Int<Side>, Int<Side>>, Stride<Int<Side>, _1>>;
struct Room {
    alignas(128) ArrayEngine<half_t, cosize_v<SharedA>> a;
    alignas(128) ArrayEngine<half_t, cosize_v<SharedB>> b;
    alignas(128) ArrayEngine<float, cosize_v<SharedD>> d;
    uint64_t full[Stages];
};

template <typename TmaA, typename TmaB, typename TmaD>
__global__ void __launch_bounds__(128)
    multiply(const __grid_constant__ TmaA tma_a, const __grid_constant__ TmaB tma_b, const __grid_constant__ TmaD tma_d, const float *c)
{
    extern __shared__ __align__(1024) unsigned char bytes[];
    Room &room = *(Room *)bytes;
    Tensor sA = make_tensor(make_smem_ptr(room.a.begin()), SharedA{});
    Tensor sB = make_tensor(make_smem_ptr(room.b.begin()), SharedB{});
    Tensor sD = make_tensor(make_smem_ptr(room.d.begin()), SharedD{});
    Tensor gA = local_tile(tma_a.get_tma_tensor(Shape<Int<M>, Int<K>>{}), Shape<Int<Side>, Int<TileK>>{}, make_coord(blockIdx.x, _));
    Tensor gB = local_tile(tma_b.get_tma_tensor(Shape<Int<N>, Int<K>>{}), Shape<Int<Side>, Int<TileK>>{}, make_coord(blockIdx.y, _));
    Tensor gD = local_tile(tma_d.get_tma_tensor(Shape<Int<M>, Int<N>>{}), Shape<Int<Side>, Int<Side>>{}, make_coord(blockIdx.x, blockIdx.y));
    auto [from_a, to_a] = tma_partition(tma_a, Int<0>{}, Layout<_1>{}, group_modes<0, 2>(sA), group_modes<0, 2>(gA));
    auto [from_b, to_b] = tma_partition(tma_b, Int<0>{}, Layout<_1>{}, group_modes<0, 2>(sB), group_modes<0, 2>(gB));
    const int bytes_of_stage = sizeof(half_t) * (Side + Side) * TileK;
    if (threadIdx.x == 0) {
        for (int s = 0; s < Stages; s++)
            Full::init(&room.full[s], 1);
        cutlass::arch::fence_barrier_init();
    }
    __syncthreads();
    auto fetch = [&](int k) {
        const int s = k % Stages;
        Full::arrive_and_expect_tx(&room.full[s], bytes_of_stage);
        copy(tma_a.with(room.full[s]), from_a(_, k), to_a(_, s));
        copy(tma_b.with(room.full[s]), from_b(_, k), to_b(_, s));
    };
    if (threadIdx.x == 0)
        for (int k = 0; k < Stages; k++)
            fetch(k);

    auto mma = make_tiled_mma(SM90_64x128x16_F32F16F16_SS<GMMA::Major::K, GMMA::Major::MN>{});
    auto thread = mma.get_slice(threadIdx.x);
    Tensor x = thread.make_fragment_A(thread.partition_A(sA));
    Tensor y = thread.make_fragment_B(thread.partition_B(sB));
    Tensor d_of_thread = thread.partition_C(sD);
    Tensor sum = thread.make_fragment_C(d_of_thread);
    clear(sum);
    for (int k = 0; k < K / TileK; k++) {
        const int s = k % Stages;
        Full::wait(&room.full[s], k / Stages % 2);
        warpgroup_fence_operand(sum);
        warpgroup_arrive();
        gemm(mma, x(_, _, _, s), y(_, _, _, s), sum);
        warpgroup_commit_batch();
        warpgroup_wait<0>();
        warpgroup_fence_operand(sum);
        __syncthreads();
        if (threadIdx.x == 0 && k + Stages < K / TileK)
            fetch(k + Stages);
    }
    Tensor gC = local_tile(make_tensor(make_gmem_ptr(c), Shape<Int<M>, Int<N>>{}, Stride<Int<N>, _1>{}), Shape<Int<Side>, Int<Side>>{},
                           make_coord(blockIdx.x, blockIdx.y));
    Tensor c_of_thread = thread.partition_C(gC);
    for (int i = 0; i < size(sum); i++)
        d_of_thread(i) = 2 * sum(i) + c_of_thread(i);
    tma_store_fence();
    __syncthreads();
    if (threadIdx.x == 0) {
        auto slice = tma_d.get_slice(Int<0>{});
        copy(tma_d, slice.partition_S(sD), slice.partition_D(gD));
        tma_store_arrive();
        tma_store_wait<0>();
    }
}

template <typename Out> static void run(Out out, const char *name, int times)
{
    Matrix<half_t> a(M, K, true, -3, 3, 1), b(K, N, true, -3, 3, 2);
    Matrix<float> c(M, N, true, -4, 4, 3), d(M, N, true, 0, 0, 4);
    auto tma_a = make_tma_copy(SM90_TMA_LOAD{}, make_tensor(a.device, Shape<Int<M>, Int<K>>{}, Stride<Int<K>, _1>{}), SharedA{}(_, _, 0));
    auto tma_b = make_tma_copy(SM90_TMA_LOAD{}, make_tensor(b.device, Shape<Int<N>, Int<K>>{}, Stride<_1, Int<N>>{}), SharedB{}(_, _, 0));
    auto tma_d = make_tma_copy(out, make_tensor(d.device, Shape<Int<M>, Int<N>>{}, Stride<Int<N>, _1>{}), SharedD{});
    auto kernel = multiply<decltype(tma_a), decltype(tma_b), decltype(tma_d)>;
    must(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, sizeof(Room)), "shared memory");
    for (int i = 0; i < times; i++) // every launch adds to what is there, or stores the same
        kernel<<<dim3(M / Side, N / Side), 128, sizeof(Room)>>>(tma_a, tma_b, tma_d, c.device);
    must(cudaDeviceSynchronize(), name);
    compare(name, a, b, c, d);
}

int main()
{
    run(SM90_TMA_STORE{}, "CuTe, TMA and wgmma", 2);
    run(SM90_TMA_REDUCE_ADD{}, "CuTe, added by TMA", 1);
    return verdict();
}
