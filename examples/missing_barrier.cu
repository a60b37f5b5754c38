/* missing_barrier.cu - differences of neighbours, with a mistake: nothing makes a thread wait for its neighbour's element.
 *
 * Look:   margay check examples/missing_barrier.cu
 *
 * The result is often right all the same, here and on a GPU: warps tend to run in order. `margay check` does not go by the
 * order in which things happened but by what makes them wait for each other, and names the two lines that nothing
 * orders. The remedy is a __syncthreads() between them. Exits 0 if all is right, 1 on a mismatch, 2 on an error.
 */
#include <cuda_runtime.h>
#include <stdio.h>

#define BLOCK 128
#define N (64 * BLOCK)

__global__ void differences(int *out, const int *in)
{
    __shared__ int tile[BLOCK];
    int t = threadIdx.x, i = blockIdx.x * BLOCK + t;
    tile[t] = in[i];
    int left = t > 0 ? tile[t - 1] : in[i > 0 ? i - 1 : 0];
    out[i] = tile[t] - left;
}

int main(void)
{
    static int in[N], out[N];
    int *dev_in, *dev_out, wrong = 0;
    for (int i = 0; i < N; i++)
        in[i] = i % 1000 * (i % 1000);
    cudaMalloc(&dev_in, sizeof(in));
    cudaMalloc(&dev_out, sizeof(out));
    cudaMemcpy(dev_in, in, sizeof(in), cudaMemcpyHostToDevice);
    differences<<<N / BLOCK, BLOCK>>>(dev_out, dev_in);
    cudaError_t error = cudaMemcpy(out, dev_out, sizeof(out), cudaMemcpyDeviceToHost);
    if (error != cudaSuccess) {
        fprintf(stderr, "missing_barrier: %s\n", cudaGetErrorString(error));
        return 2;
    }
    for (int i = 0; i < N; i++)
        wrong += out[i] != in[i] - in[i > 0 ? i - 1 : 0];
    printf("differences of %d elements: %d wrong\n", N, wrong);
    cudaFree(dev_in);
    cudaFree(dev_out);
    return wrong ? 1 : 0;
}
