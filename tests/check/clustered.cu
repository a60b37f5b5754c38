/* clustered.cu - clusters of blocks, which reach into one another's shared memory (sm_90). cases.cuh says how to read it. */
#include <cooperative_groups.h>

#include "cases.cuh"

namespace cg = cooperative_groups;

template <bool fault> __global__ void __cluster_dims__(2) neighbours_sum(const int *in, int *out)
{
    __shared__ int part[64];
    cg::cluster_group cluster = cg::this_cluster();
    int t = threadIdx.x;
    part[t] = in[blockIdx.x * 64 + t]; // ALSO: race/cluster
    if (fault)
        __syncthreads();
    else
        cluster.sync();
    int *theirs = cluster.map_shared_rank(part, cluster.block_rank() ^ 1);
    out[blockIdx.x * 64 + t] = part[t] + theirs[t]; // EXPECT: race/cluster part
    // ALSO: race/cluster-life
    cluster.sync();
}
CASE(neighbours_sum, 0)
{
    neighbours_sum<fault><<<4, 64>>>(zeros(256), zeros(256));
}

/* What was read is written over in the next round. */
template <bool fault> __global__ void __cluster_dims__(2) rounds(int *out, int n)
{
    __shared__ int mine[32];
    cg::cluster_group cluster = cg::this_cluster();
    int t = threadIdx.x, sum = 0;
    for (int k = 0; k < n; k++) {
        mine[t] = k + t; // ALSO: race/cluster
        cluster.sync();
        sum += cluster.map_shared_rank(mine, cluster.block_rank() ^ 1)[t]; // EXPECT: race/cluster mine
        if (!fault)
            cluster.sync();
    }
    cluster.sync();
    out[blockIdx.x * 32 + t] = sum;
}
CASE(rounds, 0)
{
    rounds<fault><<<2, 32>>>(zeros(64), 3);
}

/* Bins that lie in all blocks. */
template <bool fault> __global__ void __cluster_dims__(4) spread_bins(const int *in, int *out)
{
    __shared__ int bins[16];
    cg::cluster_group cluster = cg::this_cluster();
    int t = threadIdx.x;
    if (t < 16)
        bins[t] = 0; // ALSO: race/*
    cluster.sync();
    int bin = (in[t] + t) % 64, *there = cluster.map_shared_rank(bins, bin / 16) + bin % 16;
    if (fault)
        *there += 1; // EXPECT: race/cluster bins
    else
        atomicAdd(there, 1);
    cluster.sync();
    if (t < 16)
        out[blockIdx.x * 16 + t] = bins[t]; // ALSO: race/*
}
CASE(spread_bins, 0)
{
    spread_bins<fault><<<4, 64>>>(zeros(64), zeros(64));
}

/* The first block tells the others. */
template <bool fault> __global__ void __cluster_dims__(4) tell_all(int *out)
{
    __shared__ int word;
    cg::cluster_group cluster = cg::this_cluster();
    cluster.sync();
    if (cluster.block_rank() == 0 && threadIdx.x < 4)
        *cluster.map_shared_rank(&word, threadIdx.x) = 7; // ALSO: race/*
    if (!fault)
        cluster.sync();
    else
        __syncthreads();
    out[blockIdx.x * 32 + threadIdx.x] = word; // EXPECT: race/cluster word
    cluster.sync();
}
CASE(tell_all, 0)
{
    tell_all<fault><<<4, 32>>>(zeros(128));
}
