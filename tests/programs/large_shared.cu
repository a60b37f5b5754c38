// large_shared.cu - more than 48 KB of dynamic shared memory, asked for by attribute
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

__global__ void reverse(const int *in, int *out, int n)
{
    extern __shared__ int s[];
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        s[n - 1 - i] = in[i];
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        out[i] = s[i];
}

int main()
{
    const int n = 20000, bytes = n * sizeof(int);
    std::vector<int> in(n), out(n);
    int *d, most;
    for (int i = 0; i < n; i++)
        in[i] = i ^ 0x155;
    CK(cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, 0));
    bool good = most >= bytes;
    CK(cudaMalloc(&d, 2 * bytes));
    CK(cudaMemcpy(d, in.data(), bytes, cudaMemcpyHostToDevice));
    CK(cudaFuncSetAttribute(reverse, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes));
    reverse<<<1, 256, bytes>>>(d, d + n, n);
    CK(cudaGetLastError());
    CK(cudaMemcpy(out.data(), d + n, bytes, cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        good &= out[i] == in[n - 1 - i];
    CK(cudaFree(d));
    return finish(good);
}
