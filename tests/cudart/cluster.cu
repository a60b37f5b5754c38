// cluster.cu - the cluster registers in a launch without clusters: each block is one of its own, and not an explicit one.
// The values are an H200's.
// RUN: -arch=sm_90
// EXPECT: ok
#include "check.h"

#define READ(at, name)                                   \
    {                                                    \
        unsigned v;                                      \
        asm volatile("mov.u32 %0, %%" name ";" : "=r"(v)); \
        p[at] = v;                                       \
    }
enum { VALUES = 19 };

__global__ void read(unsigned *all)
{
    if (threadIdx.x != 5)
        return;
    unsigned *p = all + VALUES * (blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z));
    READ(0, "clusterid.x")
    READ(1, "clusterid.y")
    READ(2, "clusterid.z")
    READ(3, "nclusterid.x")
    READ(4, "nclusterid.y")
    READ(5, "nclusterid.z")
    READ(6, "cluster_ctaid.x")
    READ(7, "cluster_ctaid.y")
    READ(8, "cluster_ctaid.z")
    READ(9, "cluster_nctaid.x")
    READ(10, "cluster_nctaid.y")
    READ(11, "cluster_nctaid.z")
    READ(12, "cluster_ctarank")
    READ(13, "cluster_nctarank")
    asm volatile("{ .reg .pred q; mov.pred q, %%is_explicit_cluster; selp.u32 %0, 1, 0, q; }" : "=r"(p[14]));
    READ(15, "clusterid.w")
    READ(16, "nclusterid.w")
    READ(17, "cluster_ctaid.w")
    READ(18, "cluster_nctaid.w")
}

int main()
{
    const dim3 grid(3, 2, 4);
    unsigned *p;
    OK(cudaMallocManaged(&p, grid.x * grid.y * grid.z * VALUES * sizeof(unsigned)));
    read<<<grid, 32>>>(p);
    OK(cudaDeviceSynchronize());
    for (unsigned z = 0; z < grid.z; z++)
        for (unsigned y = 0; y < grid.y; y++)
            for (unsigned x = 0; x < grid.x; x++) {
                const unsigned want[VALUES] = {x, y, z, grid.x, grid.y, grid.z, 0, 0, 0, 1, 1, 1, 0, 1, 0, 0, 0, 0, 0};
                for (int i = 0; i < VALUES; i++)
                    TRUE(p[VALUES * (x + grid.x * (y + grid.y * z)) + i] == want[i]);
            }
    OK(cudaFree(p));
    DONE();
}
