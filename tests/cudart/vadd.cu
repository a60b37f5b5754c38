// vadd.cu - the smallest whole program: copies in, a launch, copies out; the parameters of every size.
// EXPECT: ok
#include "check.h"

struct odd {
    char c;
    short s[3];
    double d;
};

__global__ void add(const float *a, const float *b, float *c, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        c[i] = a[i] + b[i];
}

__global__ void parameters(char c, odd o, double d, long long *out, bool b)
{
    if (threadIdx.x == 0) {
        out[0] = c;
        out[1] = o.c + o.s[2];
        out[2] = (long long)(o.d * 8);
        out[3] = (long long)(d * 4);
        out[4] = b;
    }
}

int main()
{
    const int n = 1000;
    static float a[n], b[n], c[n];
    float *da, *db, *dc;
    for (int i = 0; i < n; i++)
        a[i] = (float)i, b[i] = 0.5f * i;
    OK(cudaMalloc(&da, sizeof(a)));
    OK(cudaMalloc(&db, sizeof(b)));
    OK(cudaMalloc(&dc, sizeof(c)));
    OK(cudaMemcpy(da, a, sizeof(a), cudaMemcpyHostToDevice));
    OK(cudaMemcpy(db, b, sizeof(b), cudaMemcpyHostToDevice));
    add<<<(n + 255) / 256, 256>>>(da, db, dc, n);
    OK(cudaGetLastError());
    OK(cudaMemcpy(c, dc, sizeof(c), cudaMemcpyDeviceToHost));
    int wrong = 0;
    for (int i = 0; i < n; i++)
        wrong += c[i] != 1.5f * i;
    TRUE(wrong == 0);

    long long *out;
    OK(cudaMallocManaged(&out, 64));
    odd o = {3, {1, 2, 4}, 2.125};
    parameters<<<1, 32>>>(-7, o, 0.75, out, true);
    OK(cudaDeviceSynchronize());
    TRUE(out[0] == -7 && out[1] == 7 && out[2] == 17 && out[3] == 3 && out[4] == 1);

    void *args[] = {&da, &db, &dc, (void *)&n};
    OK(cudaMemset(dc, 0, sizeof(c)));
    OK(cudaLaunchKernel((const void *)add, dim3(4), dim3(256), args, 0, 0));
    OK(cudaMemcpy(c, dc, sizeof(c), cudaMemcpyDefault));
    TRUE(c[999] == 1498.5f);
    OK(cudaMemset(dc, 0, sizeof(c)));
    cudaLaunchConfig_t config = {};
    config.gridDim = dim3(4);
    config.blockDim = dim3(256);
    OK(cudaLaunchKernelEx(&config, add, (const float *)da, (const float *)db, dc, n));
    OK(cudaMemcpy(c, dc, sizeof(c), cudaMemcpyDeviceToHost));
    TRUE(c[1] == 1.5f);
    OK(cudaFree(da));
    OK(cudaFree(db));
    OK(cudaFree(dc));
    OK(cudaFree(out));
    DONE();
}
