// stencil_1d.cu - seven points through shared memory with a halo on both sides
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CK(call)                                                           \
    do {                                                                   \
        cudaError_t error_ = (call);                                       \
        if (error_ != cudaSuccess) {                                       \
            printf("line %d: %s\n", __LINE__, cudaGetErrorString(error_)); \
            exit(1);                                                       \
        }                                                                  \
    } while (0)

static int finish(bool good)
{
    puts(good ? "PASS" : "FAIL");
    return !good;
}

const int RADIUS = 3, BLOCK = 96;

__global__ void stencil(const int *in, int *out, int n)
{
    __shared__ int s[BLOCK + 2 * RADIUS];
    int i = blockIdx.x * BLOCK + threadIdx.x, at = threadIdx.x + RADIUS;
    s[at] = i < n ? in[i] : 0;
    if (threadIdx.x < RADIUS) {
        s[at - RADIUS] = i >= RADIUS ? in[i - RADIUS] : 0;
        s[at + BLOCK] = i + BLOCK < n ? in[i + BLOCK] : 0;
    }
    __syncthreads();
    int sum = 0;
    for (int d = -RADIUS; d <= RADIUS; d++)
        sum += s[at + d];
    if (i < n)
        out[i] = sum;
}

int main()
{
    const int n = 1000;
    std::vector<int> in(n), out(n);
    int *din, *dout;
    for (int i = 0; i < n; i++)
        in[i] = i * i % 97;
    CK(cudaMalloc(&din, n * sizeof(int)));
    CK(cudaMalloc(&dout, n * sizeof(int)));
    CK(cudaMemcpy(din, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    stencil<<<(n + BLOCK - 1) / BLOCK, BLOCK>>>(din, dout, n);
    CK(cudaMemcpy(out.data(), dout, n * sizeof(int), cudaMemcpyDeviceToHost));
    bool good = true;
    for (int i = 0; i < n; i++) {
        int sum = 0;
        for (int d = -RADIUS; d <= RADIUS; d++)
            sum += i + d >= 0 && i + d < n ? in[i + d] : 0;
        good &= out[i] == sum;
    }
    CK(cudaFree(din));
    CK(cudaFree(dout));
    return finish(good);
}
