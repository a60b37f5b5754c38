// Texture features: how often grey levels lie side by side: atomics to global memory, to shared memory, and to rows of
// shared memory for each warp.
#include "kit.cuh"
const int G = 16;
__global__ void global_adds(const uint8_t *x, int *m, int w, int h)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i % w == w - 1 || i >= w * h)
        return;
    atomicAdd(&m[x[i] * G + x[i + 1]], 1);
}
__global__ void shared_adds(const uint8_t *x, int *m, int w, int h)
{
    __shared__ int s[G * G];
    s[threadIdx.x] = 0;
    __syncthreads();
    int b = blockIdx.x * 4096;
    for (int k = threadIdx.x; k < 4096; k += 256) {
        int i = b + k;
        if (i % w != w - 1)
            atomicAdd(&s[x[i] * G + x[i + 1]], 1);
    }
    __syncthreads();
    if (s[threadIdx.x])
        atomicAdd(&m[threadIdx.x], s[threadIdx.x]);
}
__global__ void warp_copies(const uint8_t *x, int *m, int w, int h)
{
    __shared__ int s[8][G * G + 1];
    for (int k = threadIdx.x; k < 8 * (G * G + 1); k += 256)
        (&s[0][0])[k] = 0;
    __syncthreads();
    int b = blockIdx.x * 16384, q = threadIdx.x / 32;
    for (int k = threadIdx.x; k < 16384; k += 256) {
        int i = b + k;
        if (i % w != w - 1)
            atomicAdd(&s[q][x[i] * G + x[i + 1]], 1);
    }
    __syncthreads();
    int sum = 0;
    for (int k = 0; k < 8; k++)
        sum += s[k][threadIdx.x];
    atomicAdd(&m[threadIdx.x], sum);
}
int main()
{
    int w = 4096, h = 3072, n = w * h;
    std::vector<uint8_t> x(n + 1);
    std::vector<int> want(G * G);
    for (int i = 0; i < n; i++)
        x[i] = (i % w / 128 + (rnd() & 3)) & 15;
    for (int i = 0; i < n; i++)
        if (i % w != w - 1)
            want[x[i] * G + x[i + 1]]++;
    uint8_t *d = up(x);
    int *a = room<int>(G * G), *b = room<int>(G * G), *c = room<int>(G * G);
    global_adds<<<n / 256, 256>>>(d, a, w, h);
    shared_adds<<<n / 4096, 256>>>(d, b, w, h);
    warp_copies<<<n / 16384, 256>>>(d, c, w, h);
    same("global", down(a, G * G), want);
    same("shared", down(b, G * G), want);
    same("warps", down(c, G * G), want);
    return verdict();
}
