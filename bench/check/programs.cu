/* programs.cu - the programs that bench/check times: five kernels that use memory in five ways, all of them right.
 *
 *     programs NAME [SCALE]     runs one; SCALE times as many blocks, 1 unless told
 *
 * The host does next to nothing: what is measured is the kernels. Each result is checked, so that nobody times garbage.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#include <cuda_runtime.h>

enum { TILE = 16, BLOCK = 256, BINS = 64 };

__global__ void matmul(const float *a, const float *b, float *c, int n)
{
    __shared__ float s[TILE][TILE], t[TILE][TILE];
    int x = blockIdx.x * TILE + threadIdx.x, y = blockIdx.y * TILE + threadIdx.y;
    float sum = 0;
    for (int k = 0; k < n; k += TILE) {
        s[threadIdx.y][threadIdx.x] = a[y * n + k + threadIdx.x];
        t[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + x];
        __syncthreads();
        for (int i = 0; i < TILE; i++)
            sum += s[threadIdx.y][i] * t[i][threadIdx.x];
        __syncthreads();
    }
    c[y * n + x] = sum;
}

__global__ void transpose(const float *in, float *out, int n)
{
    __shared__ float tile[32][33];
    int x = blockIdx.x * 32 + threadIdx.x, y = blockIdx.y * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        tile[threadIdx.y + k][threadIdx.x] = in[(y + k) * n + x];
    __syncthreads();
    x = blockIdx.y * 32 + threadIdx.x;
    y = blockIdx.x * 32 + threadIdx.y;
    for (int k = 0; k < 32; k += 8)
        out[(y + k) * n + x] = tile[threadIdx.x][threadIdx.y + k];
}

__global__ void reduction(const float *in, float *out, int each)
{
    __shared__ float part[BLOCK];
    float sum = 0;
    for (int k = 0; k < each; k++)
        sum += in[(blockIdx.x * each + k) * BLOCK + threadIdx.x];
    part[threadIdx.x] = sum;
    __syncthreads();
    for (int d = BLOCK / 2; d > 0; d /= 2) {
        if (threadIdx.x < d)
            part[threadIdx.x] += part[threadIdx.x + d];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = part[0];
}

__global__ void histogram(const unsigned *in, unsigned *out, int each)
{
    __shared__ unsigned bins[BINS];
    if (threadIdx.x < BINS)
        bins[threadIdx.x] = 0;
    __syncthreads();
    for (int k = 0; k < each; k++)
        atomicAdd(&bins[in[(blockIdx.x * each + k) * BLOCK + threadIdx.x] % BINS], 1);
    __syncthreads();
    if (threadIdx.x < BINS)
        atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}

__global__ void stream(const float4 *a, const float4 *b, float4 *c)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 x = a[i], y = b[i];
    c[i] = make_float4(x.x + 3 * y.x, x.y + 3 * y.y, x.z + 3 * y.z, x.w + 3 * y.w);
}

template <typename T> static T *device(const std::vector<T> &v)
{
    T *p;
    cudaMalloc(&p, v.size() * sizeof(T));
    cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice);
    return p;
}
template <typename T> static T *room(size_t n)
{
    return device(std::vector<T>(n));
}
template <typename T> static std::vector<T> host(const T *p, size_t n)
{
    std::vector<T> v(n);
    if (cudaMemcpy(v.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost) != cudaSuccess)
        exit(2);
    return v;
}

int main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    int scale = argc > 2 ? atoi(argv[2]) : 1;
    bool good = false;
    if (scale < 1 || scale > 1024)
        return 2;
    if (!strcmp(name, "matmul")) {
        int n = 256;
        std::vector<float> ones((size_t)n * n, 1.0f);
        float *a = device(ones), *b = device(ones), *c = room<float>(ones.size());
        for (int k = 0; k < scale; k++)
            matmul<<<dim3(n / TILE, n / TILE), dim3(TILE, TILE)>>>(a, b, c, n);
        good = host(c, ones.size())[n + 1] == n;
    } else if (!strcmp(name, "transpose")) {
        int n = 2048;
        std::vector<float> m((size_t)n * n);
        for (size_t i = 0; i < m.size(); i++)
            m[i] = (float)i;
        float *in = device(m), *out = room<float>(m.size());
        for (int k = 0; k < scale; k++)
            transpose<<<dim3(n / 32, n / 32), dim3(32, 8)>>>(in, out, n);
        good = host(out, m.size())[5 * n + 7] == m[7 * n + 5];
    } else if (!strcmp(name, "reduction")) {
        int blocks = 1024 * scale, each = 8;
        std::vector<float> ones((size_t)blocks * each * BLOCK, 1.0f);
        float *in = device(ones), *out = room<float>(blocks);
        reduction<<<blocks, BLOCK>>>(in, out, each);
        good = host(out, blocks)[blocks - 1] == each * BLOCK;
    } else if (!strcmp(name, "histogram")) {
        int blocks = 512 * scale, each = 16;
        std::vector<unsigned> v((size_t)blocks * each * BLOCK);
        for (size_t i = 0; i < v.size(); i++)
            v[i] = (unsigned)(i * 2654435761u >> 16);
        unsigned *in = device(v), *out = room<unsigned>(BINS), total = 0;
        histogram<<<blocks, BLOCK>>>(in, out, each);
        for (unsigned n : host(out, BINS))
            total += n;
        good = total == v.size();
    } else if (!strcmp(name, "stream")) {
        int blocks = 4096 * scale;
        std::vector<float4> ones((size_t)blocks * BLOCK, make_float4(1, 1, 1, 1));
        float4 *a = device(ones), *b = device(ones), *c = room<float4>(ones.size());
        stream<<<blocks, BLOCK>>>(a, b, c);
        good = host(c, ones.size())[ones.size() - 1].w == 4;
    }
    printf("%s: %s\n", name, good ? "right" : "wrong");
    return good ? 0 : 1;
}
