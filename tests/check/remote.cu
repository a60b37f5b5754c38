/* remote.cu - copies and mbarriers between the blocks of a cluster (sm_90a). */
#include <cooperative_groups.h>

#include "async.cuh"

namespace cg = cooperative_groups;

__device__ static uint32_t there(const void *p, unsigned rank)
{
    uint32_t a;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(a) : "r"(at(p)), "r"(rank));
    return a;
}
#define SEND(to, from, bytes, bar, rank)                                                                               \
    asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"( \
                     there(to, rank)),                                                                                 \
                 "r"(at(from)), "r"((unsigned)(bytes)), "r"(there(bar, rank))                                          \
                 : "memory")
#define CAST(to, from, bytes, bar, mask)                                                                               \
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;" ::"r"( \
                     at(to)),                                                                                          \
                 "l"(from), "r"((unsigned)(bytes)), "r"(at(bar)), "h"((uint16_t)(mask))                                \
                 : "memory")
#define ARRIVE_AT(bar, rank) asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(there(bar, rank)) : "memory")
#define STORE_ASYNC(to, value, bar, rank)                                                                              \
    asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.b32 [%0], %1, [%2];" ::"r"(there(to, rank)),   \
                 "r"(value), "r"(there(bar, rank))                                                                     \
                 : "memory")
#define ADD_ASYNC(to, value, bar, rank)                                                                                \
    asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], %1, [%2];" ::"r"( \
                     there(to, rank)),                                                                                 \
                 "r"(value), "r"(there(bar, rank))                                                                     \
                 : "memory")

/* ---- a block's life ---- */
template <bool fault> __global__ void __cluster_dims__(2) written_before_it_begins(int *out)
{
    __shared__ int word[32];
    cg::cluster_group cluster = cg::this_cluster();
    const int t = threadIdx.x;
    if (!fault)
        cluster.sync();
    cluster.map_shared_rank(word, cluster.block_rank() ^ 1)[t] = t; // EXPECT: race/cluster-life word
    cluster.sync();
    out[blockIdx.x * 32 + t] = word[t];
}
CASE(written_before_it_begins, 0)
{
    written_before_it_begins<fault><<<2, 32>>>(zeros(64));
}

/* A word a thread, and all have met. */
#define WORDS()                                                                                                        \
    __shared__ int word[32];                                                                                           \
    cg::cluster_group cluster = cg::this_cluster();                                                                    \
    const int t = threadIdx.x;                                                                                         \
    word[t] = t;                                                                                                       \
    cluster.sync()

template <bool fault> __global__ void __cluster_dims__(2) left_while_read(int *out)
{
    WORDS();
    out[blockIdx.x * 32 + t] = cluster.map_shared_rank(word, cluster.block_rank() ^ 1)[t]; // EXPECT: race/cluster-life word
    if (!fault)
        cluster.sync();
}
CASE(left_while_read, ALONE)
{
    left_while_read<fault><<<2, 32>>>(zeros(64));
}

/* A cluster that comes behind one that is lost is looked at likewise. */
template <bool fault> __global__ void __cluster_dims__(4) left_behind_a_lost_one(int *out)
{
    WORDS();
    if (fault && blockIdx.x < 4)
        asm volatile("trap;");
    if (cluster.block_rank() == 3)
        out[blockIdx.x / 4 * 32 + t] = cluster.map_shared_rank(word, 0)[t]; // EXPECT: race/cluster-life word
    if (!fault)
        cluster.sync();
}
CASE(left_behind_a_lost_one, ALONE)
{
    left_behind_a_lost_one<fault><<<8, 32>>>(zeros(64));
}

/* The last arrival at a neighbour's barrier, which it does not wait for before it ends. */
template <bool fault> __global__ void __cluster_dims__(2) no_tail(int *out)
{
    __shared__ uint64_t empty;
    cg::cluster_group cluster = cg::this_cluster();
    const unsigned rank = cluster.block_rank();
    if (threadIdx.x == 0)
        begin(&empty, 32);
    cluster.sync();
    if (rank == 1)
        ARRIVE_AT(&empty, 0); // EXPECT: race/cluster-life empty
    else if (!fault)
        WAIT(&empty, 0);
    out[blockIdx.x * 32 + threadIdx.x] = 1;
}
CASE(no_tail, ALONE)
{
    no_tail<fault><<<2, 32>>>(zeros(64));
}

/* A multicast to a block that has not initialised its barrier. */
template <bool fault> __global__ void __cluster_dims__(2) cast_before_ready(const int *in, int *out)
{
    __shared__ __align__(128) int tile[64];
    __shared__ uint64_t full;
    cg::cluster_group cluster = cg::this_cluster();
    const int t = threadIdx.x;
    if (t == 0) {
        begin(&full, 1);
        expect(&full, sizeof tile);
    }
    if (fault)
        __syncthreads();
    else
        cluster.sync();
    if (t == 0 && cluster.block_rank() == 0)
        CAST(tile, in, sizeof tile, &full, 3); // EXPECT: race/cluster-life full
    WAIT(&full, 0);
    out[blockIdx.x * 64 + t] = tile[t];
    cluster.sync();
}
CASE(cast_before_ready, ALONE | HANGS)
{
    cast_before_ready<fault><<<2, 64>>>(zeros(64), zeros(128));
}

/* An arrival at a barrier of another block, which only that one knows to be initialised. */
template <bool fault> __global__ void __cluster_dims__(2) arrives_before_ready(int *out)
{
    __shared__ uint64_t ready;
    cg::cluster_group cluster = cg::this_cluster();
    cluster.sync();
    if (threadIdx.x == 0)
        begin(&ready, 32);
    if (fault)
        __syncthreads();
    else
        cluster.sync();
    ARRIVE_AT(&ready, cluster.block_rank() ^ 1); // EXPECT: barrier/mbarrier-life ready
    WAIT(&ready, 0);
    out[blockIdx.x * 32 + threadIdx.x] = 1;
    cluster.sync();
}
CASE(arrives_before_ready, ALONE)
{
    arrives_before_ready<fault><<<2, 32>>>(zeros(64));
}

/* The barrier of the cluster is a relaxed one, and nothing else shows other blocks that it is initialised. */
template <bool fault> __global__ void __cluster_dims__(2) initialised_for_itself(int *out)
{
    __shared__ uint64_t ready;
    cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 32;" ::"r"(at(&ready)) : "memory"); // EXPECT: barrier/mbarrier-life ready
        if (!fault)
            asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    asm volatile("barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
    ARRIVE_AT(&ready, cluster.block_rank() ^ 1);
    WAIT(&ready, 0);
    out[blockIdx.x * 32 + threadIdx.x] = 1;
    asm volatile("barrier.cluster.arrive.relaxed.aligned;\nbarrier.cluster.wait.aligned;" ::: "memory");
}
CASE(initialised_for_itself, 0)
{
    initialised_for_itself<fault><<<2, 32>>>(zeros(64));
}

/* ---- copies from block to block ---- */
/* The barrier of the cluster says that the copy was asked for, not that it has come. */
template <bool fault> __global__ void __cluster_dims__(2) sent_and_not_waited_for(int *out)
{
    __shared__ __align__(128) int tile[64], mine[64];
    __shared__ uint64_t full;
    cg::cluster_group cluster = cg::this_cluster();
    const int t = threadIdx.x;
    mine[t] = t;
    tile[t] = 0;
    PROXY();
    if (t == 0) {
        begin(&full, 1);
        expect(&full, sizeof tile);
    }
    cluster.sync();
    if (t == 0)
        SEND(tile, mine, sizeof tile, &full, cluster.block_rank() ^ 1);
    if (!fault)
        WAIT(&full, 0);
    cluster.sync();
    out[blockIdx.x * 64 + t] = tile[t]; // EXPECT: race/async-copy tile
    WAIT(&full, 0);
    cluster.sync();
}
CASE(sent_and_not_waited_for, 0)
{
    sent_and_not_waited_for<fault><<<2, 64>>>(zeros(128));
}

/* A ring over two blocks: the first one sends, the other adds up and lets the stage go by an arrival at the sender's. */
template <bool fault> __global__ void __cluster_dims__(2) sent_over_readers(int *out)
{
    __shared__ __align__(128) int tile[64], mine[64];
    __shared__ uint64_t full, empty;
    cg::cluster_group cluster = cg::this_cluster();
    const int t = threadIdx.x;
    if (t == 0) {
        begin(&full, 1);
        begin(&empty, 64);
    }
    cluster.sync();
    int sum = 0;
    for (int k = 0; k < 4; k++) {
        if (cluster.block_rank() == 0) {
            if (k && !fault)
                WAIT(&empty, k - 1 & 1); /* so has the copy before read its source */
            if (t == 0) {
                for (int i = 0; i < 64 && !fault; i++)
                    mine[i] = k;
                PROXY();
                SEND(tile, mine, sizeof tile, &full, 1); // ALSO: race/*
            }
        } else {
            if (t == 0)
                expect(&full, sizeof tile);
            WAIT(&full, k & 1); // ALSO: barrier/mbarrier
            sum += tile[t]; // EXPECT: race/* tile
            ARRIVE_AT(&empty, 0);
        }
    }
    out[blockIdx.x * 64 + t] = sum;
    cluster.sync();
}
CASE(sent_over_readers, ALONE | HANGS)
{
    sent_over_readers<fault><<<2, 64>>>(zeros(128));
}

/* A tile for both blocks: the one that loads it must wait for the readers of both. */
template <bool fault> __global__ void __cluster_dims__(2) cast_over_readers(const int *in, int *out)
{
    __shared__ __align__(128) int tile[64];
    __shared__ uint64_t full, empty;
    cg::cluster_group cluster = cg::this_cluster();
    const int t = threadIdx.x;
    const unsigned rank = cluster.block_rank();
    if (t == 0) {
        begin(&full, 1);
        begin(&empty, fault ? 64 : 128);
    }
    cluster.sync();
    int sum = 0;
    for (int k = 0; k < 4; k++) {
        if (t == 64) {
            expect(&full, sizeof tile);
            if (k && rank == 0)
                WAIT(&empty, k - 1 & 1);
            if (rank == 0)
                CAST(tile, in + 64 * k, sizeof tile, &full, 3); // ALSO: race/*
        }
        if (t < 64) {
            WAIT(&full, k & 1); // ALSO: barrier/*
            sum += tile[t]; // EXPECT: race/* tile
            if (!fault || rank == 0)
                ARRIVE_AT(&empty, 0);
        }
        if (t >= 64)
            WAIT(&full, k & 1); // ALSO: barrier/*
    }
    if (t < 64)
        out[blockIdx.x * 64 + t] = sum;
    cluster.sync();
}
CASE(cast_over_readers, 0)
{
    cast_over_readers<fault><<<2, 96>>>(zeros(256), zeros(128));
}

/* ---- stores that tell a barrier ---- */
template <bool fault> __global__ void __cluster_dims__(2) other_bytes_expected(int *out)
{
    __shared__ int box[32];
    __shared__ uint64_t full;
    cg::cluster_group cluster = cg::this_cluster();
    const int t = threadIdx.x;
    if (t == 0) {
        begin(&full, 1);
        expect(&full, fault ? 256 : 128);
    }
    cluster.sync();
    STORE_ASYNC(box + t, t, &full, cluster.block_rank() ^ 1);
    WAIT(&full, 0); // EXPECT: barrier/mbarrier full
    out[blockIdx.x * 32 + t] = box[t];
    cluster.sync();
}
CASE(other_bytes_expected, ALONE | HANGS)
{
    other_bytes_expected<fault><<<2, 32>>>(zeros(64));
}

template <bool fault> __global__ void __cluster_dims__(2) sum_read_too_early(int *out)
{
    __shared__ unsigned sum;
    __shared__ uint64_t full;
    cg::cluster_group cluster = cg::this_cluster();
    const int t = threadIdx.x;
    if (t == 0) {
        sum = 0;
        begin(&full, 1);
        expect(&full, 128);
    }
    cluster.sync();
    ADD_ASYNC(&sum, t, &full, cluster.block_rank() ^ 1);
    if (!fault)
        WAIT(&full, 0);
    cluster.sync();
    out[blockIdx.x * 32 + t] = sum; // EXPECT: race/async-copy sum
    WAIT(&full, 0);
    cluster.sync();
}
CASE(sum_read_too_early, 0)
{
    sum_read_too_early<fault><<<2, 32>>>(zeros(64));
}

/* ---- plain stores that a barrier tells of ---- */
template <bool fault> __global__ void __cluster_dims__(2) told_before_it_is_written(int *out)
{
    __shared__ int box[32];
    __shared__ uint64_t full;
    cg::cluster_group cluster = cg::this_cluster();
    const int t = threadIdx.x;
    const unsigned other = cluster.block_rank() ^ 1;
    if (t == 0)
        begin(&full, 32);
    cluster.sync();
    if (fault)
        ARRIVE_AT(&full, other);
    cluster.map_shared_rank(box, other)[t] = t; // ALSO: race/cluster
    if (!fault)
        ARRIVE_AT(&full, other);
    WAIT(&full, 0);
    out[blockIdx.x * 32 + t] = box[t]; // EXPECT: race/cluster box
    cluster.sync();
}
CASE(told_before_it_is_written, 0)
{
    told_before_it_is_written<fault><<<2, 32>>>(zeros(64));
}
