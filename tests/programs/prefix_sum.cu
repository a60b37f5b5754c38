// prefix_sum.cu - an exclusive scan of several blocks: Blelloch's tree in each, the sums scanned, then added
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

const int BLOCK = 128;

__global__ void scan_blocks(const unsigned *in, unsigned *out, unsigned *sums, int n)
{
    __shared__ unsigned s[2 * BLOCK];
    int t = threadIdx.x, base = blockIdx.x * 2 * BLOCK, offset = 1;
    s[2 * t] = base + 2 * t < n ? in[base + 2 * t] : 0;
    s[2 * t + 1] = base + 2 * t + 1 < n ? in[base + 2 * t + 1] : 0;
    for (int d = BLOCK; d; d /= 2, offset *= 2) {
        __syncthreads();
        if (t < d)
            s[offset * (2 * t + 2) - 1] += s[offset * (2 * t + 1) - 1];
    }
    if (t == 0) {
        if (sums)
            sums[blockIdx.x] = s[2 * BLOCK - 1];
        s[2 * BLOCK - 1] = 0;
    }
    for (int d = 1; d < 2 * BLOCK; d *= 2) {
        offset /= 2;
        __syncthreads();
        if (t < d) {
            int a = offset * (2 * t + 1) - 1, b = offset * (2 * t + 2) - 1;
            unsigned left = s[a];
            s[a] = s[b];
            s[b] += left;
        }
    }
    __syncthreads();
    if (base + 2 * t < n)
        out[base + 2 * t] = s[2 * t];
    if (base + 2 * t + 1 < n)
        out[base + 2 * t + 1] = s[2 * t + 1];
}

__global__ void add_sums(unsigned *out, const unsigned *sums, int n)
{
    int i = blockIdx.x * 2 * BLOCK + threadIdx.x;
    for (int k = 0; k < 2; k++, i += BLOCK)
        if (i < n)
            out[i] += sums[blockIdx.x];
}

int main()
{
    const int n = 1500, grid = (n + 2 * BLOCK - 1) / (2 * BLOCK);
    std::vector<unsigned> in(n), out(n);
    unsigned *din, *dout, *sums, sum = 0;
    for (int i = 0; i < n; i++)
        in[i] = (i * 29) % 31;
    CK(cudaMalloc(&din, n * sizeof(unsigned)));
    CK(cudaMalloc(&dout, n * sizeof(unsigned)));
    CK(cudaMalloc(&sums, grid * sizeof(unsigned)));
    CK(cudaMemcpy(din, in.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice));
    scan_blocks<<<grid, BLOCK>>>(din, dout, sums, n);
    scan_blocks<<<1, BLOCK>>>(sums, sums, nullptr, grid);
    add_sums<<<grid, BLOCK>>>(dout, sums, n);
    CK(cudaMemcpy(out.data(), dout, n * sizeof(unsigned), cudaMemcpyDeviceToHost));
    bool good = true;
    for (int i = 0; i < n; i++) {
        good &= out[i] == sum;
        sum += in[i];
    }
    CK(cudaFree(din));
    CK(cudaFree(dout));
    CK(cudaFree(sums));
    return finish(good);
}
