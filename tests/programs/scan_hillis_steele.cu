// scan_hillis_steele.cu - an inclusive scan in one block, two buffers taking turns
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

__global__ void scan(const int *in, int *out, int n)
{
    extern __shared__ int s[];
    int t = threadIdx.x, from = 0;
    s[t] = t < n ? in[t] : 0;
    __syncthreads();
    for (int d = 1; d < blockDim.x; d *= 2) {
        int to = 1 - from;
        s[to * blockDim.x + t] = s[from * blockDim.x + t] + (t >= d ? s[from * blockDim.x + t - d] : 0);
        from = to;
        __syncthreads();
    }
    if (t < n)
        out[t] = s[from * blockDim.x + t];
}

int main()
{
    const int n = 200;
    std::vector<int> in(n), out(n);
    int *din, *dout, sum = 0;
    for (int i = 0; i < n; i++)
        in[i] = i % 7 - 3;
    CK(cudaMalloc(&din, n * sizeof(int)));
    CK(cudaMalloc(&dout, n * sizeof(int)));
    CK(cudaMemcpy(din, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    scan<<<1, 256, 2 * 256 * sizeof(int)>>>(din, dout, n);
    CK(cudaMemcpy(out.data(), dout, n * sizeof(int), cudaMemcpyDeviceToHost));
    bool good = true;
    for (int i = 0; i < n; i++)
        good &= out[i] == (sum += in[i]);
    CK(cudaFree(din));
    CK(cudaFree(dout));
    return finish(good);
}
