/* race.cu - races in the shared memory of a block. cases.cuh says how to read it. */
#include <cooperative_groups.h>

#include "cases.cuh"

namespace cg = cooperative_groups;

/* ---- a barrier is missing ---- */
template <bool fault> __global__ void missing_barrier(int *out)
{
    __shared__ int tile[64];
    tile[threadIdx.x] = threadIdx.x * 3; // OTHER
    if (!fault)
        __syncthreads();
    out[threadIdx.x] = tile[63 - threadIdx.x]; // EXPECT: race/write-read tile
}
CASE(missing_barrier, 0)
{
    missing_barrier<fault><<<1, 64>>>(zeros(64));
}

template <bool fault> __global__ void reused_too_early(const int *in, int *out)
{
    __shared__ int tile[128];
    int sum = 0;
    for (int k = 0; k < 4; k++) {
        tile[threadIdx.x] = in[k * 128 + threadIdx.x]; // EXPECT: race/read-write tile
        __syncthreads();
        sum += tile[127 - threadIdx.x]; // OTHER
        if (!fault)
            __syncthreads();
    }
    out[threadIdx.x] = sum;
}
CASE(reused_too_early, 0)
{
    reused_too_early<fault><<<1, 128>>>(zeros(512), zeros(128));
}

template <bool fault> __global__ void tree(const int *in, int *out)
{
    __shared__ int part[256];
    part[threadIdx.x] = in[threadIdx.x];
    __syncthreads();
    for (int half = 128; half > 16; half /= 2) {
        if (threadIdx.x < half)
            part[threadIdx.x] += part[threadIdx.x + half]; // EXPECT: race/write-read part
        if (!fault)
            __syncthreads();
    }
    __syncthreads();
    if (threadIdx.x == 0)
        *out = part[0];
}
CASE(tree, 0)
{
    tree<fault><<<1, 256>>>(zeros(256), zeros(1));
}

template <bool fault> __global__ void barrier_too_soon(const int *in, int *out)
{
    __shared__ int tile[64];
    if (fault)
        __syncthreads();
    tile[threadIdx.x] = in[threadIdx.x]; // OTHER
    if (!fault)
        __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x ^ 32]; // EXPECT: race/write-read tile
}
CASE(barrier_too_soon, 0)
{
    barrier_too_soon<fault><<<1, 64>>>(zeros(64), zeros(64));
}

template <bool fault> __global__ void scan_in_place(int *data)
{
    __shared__ int s[128];
    int t = threadIdx.x;
    s[t] = data[t];
    __syncthreads();
    for (int d = 1; d < 128; d *= 2) {
        int left = t >= d ? s[t - d] : 0; // OTHER
        if (!fault)
            __syncthreads();
        s[t] += left; // EXPECT: race/read-write s
        __syncthreads();
    }
    data[t] = s[t];
}
CASE(scan_in_place, 0)
{
    scan_in_place<fault><<<1, 128>>>(zeros(128));
}

template <bool fault> __global__ void shift_in_place(int *data)
{
    __shared__ int row[65];
    int t = threadIdx.x;
    row[t] = data[t];
    if (t == 0)
        row[64] = 0;
    __syncthreads();
    int next = row[t + 1]; // OTHER
    if (!fault)
        __syncthreads();
    row[t] = next; // EXPECT: race/read-write row
    __syncthreads();
    data[t] = row[63 - t];
}
CASE(shift_in_place, 0)
{
    shift_in_place<fault><<<1, 64>>>(zeros(64));
}

template <bool fault> __global__ void broadcast(const int *in, int *out)
{
    __shared__ int first;
    if (threadIdx.x == 0)
        first = in[0]; // OTHER
    if (!fault)
        __syncthreads();
    out[threadIdx.x] = first; // EXPECT: race/write-read first
                              // ALSO: init/shared
}
CASE(broadcast, 0)
{
    broadcast<fault><<<1, 96>>>(zeros(1), zeros(96));
}

template <bool fault> __global__ void broadcast_reused(const int *in, int *out)
{
    __shared__ int pivot;
    int sum = 0;
    for (int k = 0; k < 3; k++) {
        if (threadIdx.x == 0)
            pivot = in[k]; // EXPECT: race/read-write pivot
        __syncthreads();
        sum += pivot; // OTHER
        if (!fault)
            __syncthreads();
    }
    out[threadIdx.x] = sum;
}
CASE(broadcast_reused, 0)
{
    broadcast_reused<fault><<<1, 96>>>(zeros(3), zeros(96));
}

template <bool fault> __global__ void double_buffer(const int *in, int *out)
{
    __shared__ int buffer[2][64];
    int t = threadIdx.x, sum = 0;
    buffer[0][t] = in[t];
    __syncthreads();
    for (int k = 1; k <= 4; k++) {
        int next = fault ? (k - 1) & 1 : k & 1;
        buffer[next][t] = in[k * 64 + t]; // OTHER
        sum += buffer[(k - 1) & 1][63 - t]; // EXPECT: race/write-read buffer
        __syncthreads();
    }
    out[t] = sum;
}
CASE(double_buffer, 0)
{
    double_buffer<fault><<<1, 64>>>(zeros(320), zeros(64));
}

/* ---- two writers ---- */
template <bool fault> __global__ void two_winners(int *out)
{
    __shared__ int winner;
    if (fault ? threadIdx.x % 32 == 0 : threadIdx.x == 0)
        winner = threadIdx.x; // EXPECT: race/write-write winner
    __syncthreads();
    out[threadIdx.x] = winner;
}
CASE(two_winners, 0)
{
    two_winners<fault><<<1, 64>>>(zeros(64));
}

template <bool fault> __global__ void lanes_collide(int *out)
{
    __shared__ int slot[16];
    if (fault || threadIdx.x < 16)
        slot[threadIdx.x % 16] = threadIdx.x; // EXPECT: race/write-write slot
    __syncthreads();
    if (threadIdx.x < 16)
        out[threadIdx.x] = slot[threadIdx.x];
}
CASE(lanes_collide, 0)
{
    lanes_collide<fault><<<1, 32>>>(zeros(16));
}

/* A word that half of a warp reads: the others are no business of its barrier. */
template <bool fault> __global__ void read_by_half_a_warp(const int *in, int *out)
{
    __shared__ int s[32];
    const unsigned lane = threadIdx.x, first = lane / 16 * 16, mask = 0xffffu << first;
    int v = in[lane];
    for (int round = 0; round < 3; round++) {
        s[lane] = v; // EXPECT: race/in-step
        __syncwarp(mask);
        v += s[first + 3]; // ALSO: race/in-step
        if (!fault)
            __syncwarp(mask);
    }
    out[lane] = v;
}
CASE(read_by_half_a_warp, 0)
{
    read_by_half_a_warp<fault><<<1, 32>>>(zeros(32), zeros(32));
}

/* One store has one of its lanes' values; two of different warps are a race though the value is the same. */
template <bool fault> __global__ void stored_by_a_warp(const int *in, int *out)
{
    __shared__ int sums[2];
    const int v = __reduce_add_sync(~0u, in[threadIdx.x]);
    sums[fault ? 0 : threadIdx.x / 32] = v; // EXPECT: race/same-value
    __syncthreads();
    out[threadIdx.x] = sums[fault ? 0 : 1 - threadIdx.x / 32];
}
CASE(stored_by_a_warp, 0)
{
    stored_by_a_warp<fault><<<1, 64>>>(zeros(64), zeros(64));
}

/* Stores that begin alike, and differ behind: in another word of a vector, or above the byte that is all that is
 * compared where single bytes are accessed, too. */
template <bool fault> __global__ void vectors_begin_alike(float4 *out)
{
    __shared__ float4 places[64];
    const int t = threadIdx.x;
    places[fault ? t % 32 : t] = make_float4(1, 2, (float)t, 4); // EXPECT: race/write-write places
    __syncthreads();
    out[t] = places[fault ? t % 32 : t];
}
CASE(vectors_begin_alike, 0)
{
    vectors_begin_alike<fault><<<1, 64>>>((float4 *)zeros(256));
}

template <bool fault> __global__ void words_begin_alike(const char *in, int *out)
{
    __shared__ int places[64];
    __shared__ char marks[64];
    const int t = threadIdx.x;
    marks[t] = in[t];
    places[fault ? t % 32 : t] = t << 8; // EXPECT: race/write-write places
    __syncthreads();
    out[t] = places[fault ? t % 32 : t] + marks[63 - t];
}
CASE(words_begin_alike, 0)
{
    words_begin_alike<fault><<<1, 64>>>((const char *)zeros(16), zeros(64));
}

/* In one store: of two lanes' values only one is left, and the other was another. */
template <bool fault> __global__ void lanes_begin_alike(const char *in, int *out)
{
    __shared__ int places[32];
    __shared__ char marks[32];
    const int t = threadIdx.x;
    marks[t] = in[t];
    places[fault ? t / 2 : t] = t << 8; // EXPECT: race/write-write places
    __syncwarp();
    out[t] = places[fault ? t / 2 : t] + marks[31 - t];
}
CASE(lanes_begin_alike, 0)
{
    lanes_begin_alike<fault><<<1, 32>>>((const char *)zeros(8), zeros(32));
}

template <bool fault> __global__ void found_flag(const int *in, int *out)
{
    __shared__ int found;
    if (threadIdx.x == 0)
        found = 0;
    __syncthreads();
    if (in[threadIdx.x] == 0) {
        if (fault)
            found = 1; // EXPECT: race/same-value found
        else
            atomicOr(&found, 1);
    }
    __syncthreads();
    out[threadIdx.x] = found;
}
CASE(found_flag, 0)
{
    found_flag<fault><<<1, 64>>>(zeros(64), zeros(64));
}

template <bool fault> __global__ void halves_of_a_word(int *out)
{
    __shared__ short pair[64];
    int t = threadIdx.x;
    if (fault)
        *(int *)&pair[t & ~1] = t; // EXPECT: race/write-write pair
    else
        pair[t] = t;
    __syncthreads();
    out[t] = pair[63 - t];
}
CASE(halves_of_a_word, 0)
{
    halves_of_a_word<fault><<<1, 64>>>(zeros(64));
}

template <bool fault> __global__ void vectors_overlap(float *out)
{
    __shared__ __align__(16) float line[72];
    int t = threadIdx.x;
    if (t < 8)
        line[64 + t] = 0;
    __syncthreads();
    if (fault ? t < 32 : t < 16)
        *(float4 *)&line[fault ? (t * 2) & ~3 : t * 4] = make_float4(t, t, t, t); // EXPECT: race/write-write line
    __syncthreads();
    if (t < 64)
        out[t] = line[t];
}
CASE(vectors_overlap, 0)
{
    vectors_overlap<fault><<<1, 64>>>(zeros<float>(64));
}

template <bool fault> __global__ void dynamic_parts(int *out, int n)
{
    extern __shared__ int pool[];
    int *keys = pool, *values = pool + (fault ? n / 2 : n);
    int t = threadIdx.x;
    keys[t] = t;        // OTHER
    values[t] = t + 1000; // EXPECT: race/write-write
    __syncthreads();
    out[t] = keys[n - 1 - t] + values[n - 1 - t];
}
CASE(dynamic_parts, 0)
{
    dynamic_parts<fault><<<1, 128, 1024>>>(zeros(128), 128);
}

/* ---- atomics ---- */
template <bool fault> __global__ void plain_histogram(const int *in, int *out)
{
    __shared__ int bins[8];
    int t = threadIdx.x;
    if (t < 8)
        bins[t] = 0;
    __syncthreads();
    if (fault)
        bins[(in[t] + t) & 7]++; // EXPECT: race/* bins
    else
        atomicAdd(&bins[(in[t] + t) & 7], 1);
    __syncthreads();
    if (t < 8)
        out[t] = bins[t];
}
CASE(plain_histogram, 0)
{
    plain_histogram<fault><<<1, 128>>>(zeros(128), zeros(8));
}

template <bool fault> __global__ void count_then_read(int *out)
{
    __shared__ int count;
    if (threadIdx.x == 0)
        count = 0;
    __syncthreads();
    atomicAdd(&count, 1); // OTHER
    if (!fault)
        __syncthreads();
    if (threadIdx.x == 0)
        *out = count; // EXPECT: race/write-read count
}
CASE(count_then_read, 0)
{
    count_then_read<fault><<<1, 64>>>(zeros(1));
}

template <bool fault> __global__ void clear_then_count(int *out)
{
    __shared__ int count;
    if (threadIdx.x == 0)
        count = 0; // OTHER
    if (!fault)
        __syncthreads();
    atomicAdd(&count, 1); // EXPECT: race/* count
                          // ALSO: init/shared
    __syncthreads();
    out[threadIdx.x] = count;
}
CASE(clear_then_count, 0)
{
    clear_then_count<fault><<<1, 64>>>(zeros(64));
}

/* ---- what orders a warp orders no block ---- */
template <bool fault> __global__ void warp_barrier_for_block(int *out)
{
    __shared__ int tile[64];
    tile[threadIdx.x] = threadIdx.x; // OTHER
    if (fault)
        __syncwarp();
    else
        __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x ^ 63]; // EXPECT: race/write-read tile
}
CASE(warp_barrier_for_block, 0)
{
    warp_barrier_for_block<fault><<<1, 64>>>(zeros(64));
}

template <bool fault> __global__ void group_of_half_the_block(int *out)
{
    __shared__ int tile[64];
    cg::thread_block block = cg::this_thread_block();
    cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
    tile[threadIdx.x] = threadIdx.x; // OTHER
    if (fault)
        warp.sync();
    else
        block.sync();
    out[threadIdx.x] = tile[63 - threadIdx.x]; // EXPECT: race/write-read tile
}
CASE(group_of_half_the_block, 0)
{
    group_of_half_the_block<fault><<<1, 64>>>(zeros(64));
}

template <bool fault> __global__ void shuffle_orders_one_warp(int *out)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    tile[t] = t; // OTHER
    int v = __shfl_xor_sync(~0u, t, 1);
    if (!fault)
        __syncthreads();
    out[t] = v + tile[(t + 32) % 64]; // EXPECT: race/write-read tile
}
CASE(shuffle_orders_one_warp, 0)
{
    shuffle_orders_one_warp<fault><<<1, 64>>>(zeros(64));
}

/* Two named barriers of two warps each; whoever reads the other pair's half is ordered by neither. */
template <bool fault> __global__ void named_barriers(int *out)
{
    __shared__ int tile[128];
    int t = threadIdx.x, pair = t / 64;
    tile[t] = t; // OTHER
    asm volatile("bar.sync %0, 64;" ::"r"(pair + 1) : "memory");
    out[t] = tile[(fault ? t + 64 : t ^ 32) % 128]; // EXPECT: race/write-read tile
}
CASE(named_barriers, 0)
{
    named_barriers<fault><<<1, 128>>>(zeros(128));
}

/* One warp produces, the other consumes: the producer only has to arrive, the consumer waits. */
template <bool fault> __global__ void arrive_before_writing(int *out)
{
    __shared__ int box[32];
    int lane = threadIdx.x % 32;
    if (threadIdx.x < 32) {
        if (fault)
            asm volatile("bar.arrive 1, 64;" ::: "memory");
        box[lane] = lane * 7; // OTHER
        if (!fault)
            asm volatile("bar.arrive 1, 64;" ::: "memory");
    } else {
        asm volatile("bar.sync 1, 64;" ::: "memory");
        out[lane] = box[31 - lane]; // EXPECT: race/write-read box
                                    // ALSO: init/shared
    }
}
CASE(arrive_before_writing, 0)
{
    arrive_before_writing<fault><<<1, 64>>>(zeros(32));
}

/* ---- lanes that run in step by luck ---- */
template <bool fault> __global__ void in_step(int *out)
{
    __shared__ volatile int tile[32];
    tile[threadIdx.x] = threadIdx.x; // OTHER
    if (!fault)
        __syncwarp();
    out[threadIdx.x] = tile[31 - threadIdx.x]; // EXPECT: race/in-step tile
}
CASE(in_step, 0)
{
    in_step<fault><<<1, 32>>>(zeros(32));
}

template <bool fault> __global__ void last_warp_unrolled(int *out)
{
    __shared__ volatile int s[64];
    int t = threadIdx.x;
    s[t] = t;
    s[t + 32] = 0;
    __syncwarp();
    int v = s[t];
    for (int half = 16; half; half /= 2) {
        v += s[t + half]; // EXPECT: race/in-step s
        if (!fault)
            __syncwarp();
        s[t] = v; // EXPECT: race/in-step s
        if (!fault)
            __syncwarp();
    }
    if (t == 0)
        *out = v;
}
CASE(last_warp_unrolled, 0)
{
    last_warp_unrolled<fault><<<1, 32>>>(zeros(1));
}

/* Each half of the warp waits for itself alone, and then reads the other half. */
template <bool fault> __global__ void mask_of_half_a_warp(int *out)
{
    __shared__ volatile int tile[32];
    int t = threadIdx.x;
    tile[t] = t; // OTHER
    if (fault)
        __syncwarp(t < 16 ? 0x0000ffffu : 0xffff0000u);
    else
        __syncwarp();
    out[t] = tile[t ^ 16]; // EXPECT: race/in-step tile
}
CASE(mask_of_half_a_warp, 0)
{
    mask_of_half_a_warp<fault><<<1, 32>>>(zeros(32));
}

/* ---- asynchronous copies ---- */
__device__ static void copy_async(void *to, const void *from)
{
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((unsigned)__cvta_generic_to_shared(to)), "l"(from)
                 : "memory");
}

template <bool fault> __global__ void copy_not_waited_for(const int *in, int *out)
{
    __shared__ int tile[32];
    int t = threadIdx.x;
    copy_async(&tile[t], &in[t]);
    asm volatile("cp.async.commit_group;" ::: "memory");
    if (!fault)
        asm volatile("cp.async.wait_group 0;" ::: "memory");
    out[t] = tile[t]; // EXPECT: race/async-copy tile
                      // ALSO: init/shared
}
CASE(copy_not_waited_for, 0)
{
    copy_not_waited_for<fault><<<1, 32>>>(zeros(32), zeros(32));
}

template <bool fault> __global__ void copy_waited_for_alone(const int *in, int *out)
{
    __shared__ int tile[64];
    int t = threadIdx.x;
    copy_async(&tile[t], &in[t]);
    asm volatile("cp.async.wait_all;" ::: "memory");
    if (!fault)
        __syncthreads();
    out[t] = tile[63 - t]; // EXPECT: race/* tile
                           // ALSO: init/shared
}
CASE(copy_waited_for_alone, 0)
{
    copy_waited_for_alone<fault><<<1, 64>>>(zeros(64), zeros(64));
}

template <bool fault> __global__ void copy_of_the_wrong_group(const int *in, int *out)
{
    __shared__ int stage[2][64];
    int t = threadIdx.x;
    for (int k = 0; k < 2; k++) {
        copy_async(&stage[k][t], &in[k * 64 + t]);
        asm volatile("cp.async.commit_group;" ::: "memory");
    }
    asm volatile("cp.async.wait_group 1;" ::: "memory"); /* the first has come, the second may not have */
    __syncthreads();
    out[t] = stage[fault ? 1 : 0][63 - t]; // EXPECT: race/async-copy stage
                                           // ALSO: init/shared
    asm volatile("cp.async.wait_group 0;" ::: "memory");
}
CASE(copy_of_the_wrong_group, 0)
{
    copy_of_the_wrong_group<fault><<<1, 64>>>(zeros(128), zeros(64));
}

template <bool fault> __global__ void copy_over_a_copy(const int *in, int *out)
{
    __shared__ int stage[2][64];
    const int t = threadIdx.x;
    for (int k = 0; k < 4; k++) {
        const uint32_t to = (uint32_t)__cvta_generic_to_shared(&stage[k % 2][t]);
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(to), "l"(&in[k * 64 + t]) // EXPECT: race/async-copy stage
                     : "memory");                                                               // FIX: cp.async.wait_group
        asm volatile("cp.async.commit_group;" ::: "memory");
        if (!fault)
            asm volatile("cp.async.wait_group 1;" ::: "memory");
    }
    asm volatile("cp.async.wait_group 0;" ::: "memory");
    out[t] = stage[0][t] + stage[1][t];
}
CASE(copy_over_a_copy, 0)
{
    copy_over_a_copy<fault><<<1, 64>>>(zeros(256), zeros(64));
}

/* ---- tiles ---- */
template <bool fault> __global__ void transpose(const float *in, float *out)
{
    __shared__ float tile[16][17];
    int x = threadIdx.x, y = threadIdx.y;
    tile[y][x] = in[y * 16 + x]; // OTHER
    if (!fault)
        __syncthreads();
    out[y * 16 + x] = tile[x][y]; // EXPECT: race/write-read tile
                                  // ALSO: race/in-step
}
CASE(transpose, 0)
{
    transpose<fault><<<1, dim3(16, 16)>>>(zeros<float>(256), zeros<float>(256));
}

template <bool fault> __global__ void stencil_halo(const float *in, float *out, int n)
{
    __shared__ float s[66];
    int i = blockIdx.x * 64 + threadIdx.x, t = threadIdx.x + 1;
    s[t] = in[i];
    if (fault)
        __syncthreads();
    if (threadIdx.x == 63)
        s[0] = blockIdx.x ? in[i - 64] : 0; // OTHER
    if (threadIdx.x == 0)
        s[65] = i + 64 < n ? in[i + 64] : 0; // ALSO: race/*
    if (!fault)
        __syncthreads();
    float left = s[t - 1]; // EXPECT: race/write-read s
                           // ALSO: init/shared
    float right = s[t + 1]; // ALSO: race/*
                            // ALSO: init/shared
    out[i] = left + s[t] + right;
}
CASE(stencil_halo, 0)
{
    stencil_halo<fault><<<2, 64>>>(zeros<float>(128), zeros<float>(128), 128);
}

template <bool fault> __global__ void tiled_product(const float *a, const float *b, float *c)
{
    __shared__ float as[16][16], bs[16][16];
    int x = threadIdx.x, y = threadIdx.y;
    float sum = 0;
    for (int k = 0; k < 32; k += 16) {
        as[y][x] = a[y * 32 + k + x]; // ALSO: race/*
        bs[y][x] = b[(k + y) * 16 + x]; // EXPECT: race/read-write bs
        __syncthreads();
        for (int i = 0; i < 16; i++)
            sum += as[y][i] * bs[i][x];
        if (!fault)
            __syncthreads();
    }
    c[y * 16 + x] = sum;
}
CASE(tiled_product, 0)
{
    tiled_product<fault><<<1, dim3(16, 16)>>>(zeros<float>(512), zeros<float>(512), zeros<float>(256));
}

/* Half of the warp has left before lanes go different ways: those that stay are all that must meet. */
template <bool fault> __global__ void half_left(const int *in, int *out)
{
    __shared__ int s[16];
    int t = threadIdx.x, v = in[t];
    if (t > 15)
        return;
    for (int round = 0; round < 3; round++) {
        if (!fault)
            __syncwarp(0xffff);
        s[t] = v; // EXPECT: race/in-step s
        __syncwarp(0xffff);
        if (v & 1)
            v += s[(t + 1) % 16]; // ALSO: race/in-step
        else
            v -= s[(t + 2) % 16]; // OTHER
    }
    out[t] = v;
}
CASE(half_left, 0)
{
    int *in = zeros(32), one = 1;
    for (int i = 0; i < 32; i += 3)
        cudaMemcpy(in + i, &one, sizeof(one), cudaMemcpyHostToDevice);
    half_left<fault><<<1, 32>>>(in, zeros(16));
}

/* The same in global memory. What those that leave have read is written by nobody. */
template <bool fault> __global__ void half_left_reading(const int *in, int *out, int *scratch)
{
    int t = threadIdx.x, v = in[t];
    __syncwarp();
    v += in[31 - t];
    if (t > 15)
        return;
    for (int round = 0; round < 3; round++) {
        if (!fault)
            __syncwarp(0xffff);
        scratch[t] = v; // EXPECT: race/in-step
        __syncwarp(0xffff);
        if (v & 1)
            v += scratch[(t + 1) % 16]; // ALSO: race/in-step
        else
            v -= scratch[(t + 2) % 16]; // OTHER
    }
    out[t] = v;
}
CASE(half_left_reading, 0)
{
    int *in = zeros(32), one = 1;
    for (int i = 0; i < 32; i += 3)
        cudaMemcpy(in + i, &one, sizeof(one), cudaMemcpyHostToDevice);
    half_left_reading<fault><<<1, 32>>>(in, zeros(16), zeros(16));
}

/* A flag in shared memory hands a value from one warp to the other: the fence keeps the two writes in order. */
template <bool fault> __global__ void flag_without_fence(int *out)
{
    __shared__ volatile int flag;
    __shared__ volatile int value;
    if (threadIdx.x == 0)
        flag = 0;
    __syncthreads();
    if (threadIdx.x == 0) {
        value = 42; // OTHER
        if (!fault)
            __threadfence_block();
        flag = 1;
    } else if (threadIdx.x == 32) {
        while (flag == 0) {
        }
        __threadfence_block();
        *out = value; // EXPECT: race/write-read value
    }
}
CASE(flag_without_fence, 0)
{
    flag_without_fence<fault><<<1, 64>>>(zeros(1));
}

/* The compiler loads for all threads what one of them wants, and chooses afterwards: the others have read nothing. */
template <bool fault> __global__ void sum_of_first(int *out)
{
    __shared__ int s[128];
    int t = threadIdx.x, total = 0;
    s[t] = t;
    __syncthreads();
    if (t == (fault ? 32 : 0))
        for (int i = 1; i < 4; i++)
            total += s[i]; // OTHER
    __syncwarp();
    s[t] = 3 * t; // EXPECT: race/read-write s
    __syncthreads();
    out[t] = s[127 - t] + total;
}
CASE(sum_of_first, 0)
{
    sum_of_first<fault><<<1, 128>>>(zeros(128));
}

template <bool fault> __global__ void total_of_warp(int *out)
{
    __shared__ int low, high;
    int t = threadIdx.x;
    if (t == 0)
        low = 1;
    if (t == 32)
        high = 2;
    __syncwarp();
    out[t] = (t < 32) != fault ? low : high; // EXPECT: race/write-read *
}
CASE(total_of_warp, 0)
{
    total_of_warp<fault><<<1, 64>>>(zeros(64));
}

__device__ int totals[64];
template <bool fault> __global__ void total_of_all(int *out, int n)
{
    int t = threadIdx.x, before = 0;
    if (t == (fault ? 40 : 0))
        before = totals[1]; // OTHER
    int v = out[t] * n;
    __syncwarp();
    if (t == 0)
        totals[1] = n; // EXPECT: race/read-write totals
    out[t] = before + v;
}
CASE(total_of_all, 0)
{
    total_of_all<fault><<<1, 64>>>(zeros(64), 3);
}

/* Loaded in front of the branch around its only use. */
template <bool fault> __global__ void loaded_before_branch(int *out)
{
    __shared__ int s[64];
    int t = threadIdx.x, v;
    s[t] = t;
    __syncthreads();
    asm("ld.shared.u32 %0, [%1+4];" : "=r"(v) : "r"((unsigned)__cvta_generic_to_shared(s))); // OTHER
    if (t == (fault ? 40 : 0))
        out[0] = v;
    __syncwarp();
    s[t] = 3 * t; // EXPECT: race/read-write s
    __syncthreads();
    out[t + 1] = s[63 - t];
}
CASE(loaded_before_branch, 0)
{
    loaded_before_branch<fault><<<1, 64>>>(zeros(65));
}

/* Of a record that is copied whole a field that nobody uses is no read: others change it. */
template <bool fault> __global__ void part_of_record(float *out)
{
    __shared__ float4 r[64];
    int t = threadIdx.x;
    r[t] = make_float4(t, 2 * t, 3 * t, 0);
    __syncthreads();
    float4 v = r[63 - t]; // OTHER
    float sum = v.x + v.y + (fault ? v.w : v.z);
    out[t] = sum;
    atomicAdd(&r[t].w, sum); // EXPECT: race/read-write r
    __syncthreads();
    if (t == 0)
        for (int i = 0; i < 64; i++)
            out[64] += r[i].w;
}
CASE(part_of_record, 0)
{
    part_of_record<fault><<<1, 64>>>(zeros<float>(65));
}

/* The same of records in no order. */
template <bool fault> __global__ void part_of_any_record(float *out)
{
    __shared__ float4 r[64];
    int t = threadIdx.x;
    r[t] = make_float4(0, t, 2 * t, 3 * t);
    __syncthreads();
    float4 v;
    unsigned at = (unsigned)__cvta_generic_to_shared(&r[(t * t + 5 * t + 7) / 2 % 64]);
    asm("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "r"(at)); // OTHER
    float sum = v.w + (fault ? v.x : v.y);
    atomicAdd(&r[t].x, sum); // EXPECT: race/read-write r
    __syncthreads();
    out[t] = r[63 - t].x;
}
CASE(part_of_any_record, 0)
{
    part_of_any_record<fault><<<1, 64>>>(zeros<float>(64));
}
