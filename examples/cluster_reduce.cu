/* cluster_reduce.cu - the sum of an array: each block of a cluster sums its part in its shared memory, and the first block
 * gathers the sums of the others there (distributed shared memory). One atomic a cluster is left.
 *
 * Build:  nvcc -std=c++17 -arch=sm_90 -lineinfo cluster_reduce.cu
 * Look:   margay check examples/cluster_reduce_left.cu     the same without the barrier at the end
 *
 * The result is held to plain C. Exits 0 if all is right, 1 on a mismatch, 2 on an error.
 */
#include <cooperative_groups.h>
#include <cstdio>
#include <cuda_runtime.h>
#include <vector>
namespace cg = cooperative_groups;

#define CLUSTER 4
#define BLOCK 256
#define BLOCKS 32

#ifndef LEFT
#define LEFT 0
#endif

__global__ void __cluster_dims__(CLUSTER) sum(unsigned long long *out, const unsigned *in, size_t n)
{
    __shared__ unsigned long long mine;
    cg::cluster_group cluster = cg::this_cluster();
    unsigned long long part = 0;
    if (threadIdx.x == 0)
        mine = 0;
    __syncthreads();
    for (size_t i = (size_t)blockIdx.x * BLOCK + threadIdx.x; i < n; i += (size_t)gridDim.x * BLOCK)
        part += in[i];
    atomicAdd(&mine, part);
    cluster.sync();
    if (cluster.block_rank() == 0 && threadIdx.x < CLUSTER)
        atomicAdd(out, *cluster.map_shared_rank(&mine, threadIdx.x));
    if (!LEFT)
        cluster.sync(); /* a block's shared memory is gone when it ends */
}

int main()
{
    const size_t n = 300000;
    std::vector<unsigned> in(n);
    unsigned long long want = 0, got = 0, *dev_out;
    unsigned *dev_in;
    for (size_t i = 0; i < n; i++)
        want += in[i] = (unsigned)(i * 2654435761u);
    cudaMalloc(&dev_in, n * sizeof(unsigned));
    cudaMalloc(&dev_out, sizeof(got));
    cudaMemset(dev_out, 0, sizeof(got));
    cudaMemcpy(dev_in, in.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice);
    sum<<<BLOCKS, BLOCK>>>(dev_out, dev_in, n);
    cudaError_t error = cudaMemcpy(&got, dev_out, sizeof(got), cudaMemcpyDeviceToHost);
    if (error != cudaSuccess) {
        fprintf(stderr, "cluster_reduce: %s\n", cudaGetErrorString(error));
        return 2;
    }
    printf("sum of %zu elements: %s\n", n, got == want ? "ok" : "wrong");
    cudaFree(dev_in);
    cudaFree(dev_out);
    return got != want;
}
