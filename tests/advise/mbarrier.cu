/* mbarrier.cu - barriers of which one is for what all arrive at; no words pass between warps. */
__global__ void meets_elsewhere(float *out, const float *in)
{
    __shared__ unsigned long long met;
    __shared__ volatile float turned[256];
    const unsigned at = (unsigned)__cvta_generic_to_shared(&met), i = blockIdx.x * 256 + threadIdx.x;
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], 256;" ::"r"(at) : "memory");
    float v = in[i];
    for (int round = 0; round < 4; round++)
        for (int k = 1; k < 32; k *= 2) {
            __syncthreads();
            turned[threadIdx.x] = v;
            __syncthreads();
            v = (v + turned[threadIdx.x ^ k]) / 2;
        }
    asm volatile("{ .reg .b64 s; mbarrier.arrive.shared.b64 s, [%0]; }" ::"r"(at) : "memory");
    out[i] = v;
}

int main()
{
    float *in, *out;
    cudaMalloc(&in, 1024 * 256 * sizeof(float));
    cudaMalloc(&out, 1024 * 256 * sizeof(float));
    cudaMemset(in, 0, 1024 * 256 * sizeof(float));
    meets_elsewhere<<<1024, 256>>>(out, in);
    cudaDeviceSynchronize();
    cudaFree(in);
    cudaFree(out);
}
