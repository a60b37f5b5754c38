/* bulk_pipeline.cu - moving sums of rows, fetched ahead by bulk copies (TMA) that tell mbarriers: one thread fetches, the
 * others wait for full stages, use them, and say that they are empty.
 *
 * Build:  nvcc -std=c++17 -arch=sm_90 -lineinfo bulk_pipeline.cu
 * Look:   margay check examples/bulk_pipeline_refilled.cu     the same, but one thread says it for all
 *
 * The result is held to plain C. Exits 0 if all is right, 1 on a mismatch, 2 on an error.
 */
#include <cstdint>
#include <cstdio>
#include <cuda/ptx>
#include <cuda_runtime.h>
#include <vector>
namespace ptx = cuda::ptx;

#define STAGES 3
#define WIDTH 256   /* floats of a row, and threads that use them */
#define ROWS 64     /* of a block */
#define BLOCKS 8

#ifndef REFILLED
#define REFILLED 0
#endif

static __device__ void wait(uint64_t *barrier, uint32_t parity)
{
    while (!ptx::mbarrier_try_wait_parity(barrier, parity))
        ;
}

__global__ void row_sums(float *out, const float *in)
{
    __shared__ alignas(128) float stage[STAGES][WIDTH];
    __shared__ uint64_t full[STAGES], empty[STAGES];
    const float *rows = in + (size_t)blockIdx.x * ROWS * WIDTH;
    const int t = threadIdx.x;
    if (t == 0)
        for (int s = 0; s < STAGES; s++) {
            ptx::mbarrier_init(&full[s], 1);
            ptx::mbarrier_init(&empty[s], REFILLED ? 1 : WIDTH);
        }
    ptx::fence_mbarrier_init(ptx::sem_release, ptx::scope_cluster);
    __syncthreads();
    if (t == WIDTH) { /* a warp of its own */
        for (int r = 0; r < ROWS; r++) {
            const int s = r % STAGES;
            if (r >= STAGES)
                wait(&empty[s], (r / STAGES - 1) & 1);
            ptx::mbarrier_arrive_expect_tx(ptx::sem_release, ptx::scope_cta, ptx::space_shared, &full[s],
                                           sizeof(stage[s]));
            ptx::cp_async_bulk(ptx::space_cluster, ptx::space_global, stage[s], rows + r * WIDTH, sizeof(stage[s]),
                               &full[s]);
        }
    } else if (t < WIDTH) {
        float sum = 0;
        for (int r = 0; r < ROWS; r++) {
            const int s = r % STAGES;
            wait(&full[s], r / STAGES & 1);
            sum = 0.5f * sum + stage[s][t] + stage[s][(t + 1) % WIDTH];
            if (!REFILLED || t == 0) /* the other warps may not have used it yet */
                ptx::mbarrier_arrive(&empty[s]);
        }
        out[blockIdx.x * WIDTH + t] = sum;
    }
}

int main()
{
    const size_t n = (size_t)BLOCKS * ROWS * WIDTH;
    std::vector<float> in(n), out(BLOCKS * WIDTH);
    float *dev_in, *dev_out;
    for (size_t i = 0; i < n; i++)
        in[i] = (float)(i * 37 % 101);
    cudaMalloc(&dev_in, n * sizeof(float));
    cudaMalloc(&dev_out, out.size() * sizeof(float));
    cudaMemcpy(dev_in, in.data(), n * sizeof(float), cudaMemcpyHostToDevice);
    row_sums<<<BLOCKS, WIDTH + 32>>>(dev_out, dev_in);
    cudaError_t error = cudaMemcpy(out.data(), dev_out, out.size() * sizeof(float), cudaMemcpyDeviceToHost);
    if (error != cudaSuccess) {
        fprintf(stderr, "bulk_pipeline: %s\n", cudaGetErrorString(error));
        return 2;
    }
    int wrong = 0;
    for (int b = 0; b < BLOCKS; b++)
        for (int t = 0; t < WIDTH; t++) {
            float sum = 0;
            for (int r = 0; r < ROWS; r++) {
                const float *row = in.data() + ((size_t)b * ROWS + r) * WIDTH;
                sum = 0.5f * sum + row[t] + row[(t + 1) % WIDTH];
            }
            wrong += out[b * WIDTH + t] != sum;
        }
    printf("row sums of %zu elements: %d wrong\n", n, wrong);
    cudaFree(dev_in);
    cudaFree(dev_out);
    return wrong ? 1 : 0;
}
