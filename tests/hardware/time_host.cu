/* time_host.cu - ordinary kernels over managed and page-locked memory, as beginners' programs and ports have them: their
 * times on an H200 are in time_host.json. Each is verified.
 *
 *     nvcc -O3 -arch=sm_90 -lineinfo -o time_host time_host.cu && ./time_host
 */
#include "check.cuh"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

static void expect(const char *what, double is, double should)
{
    if (!(std::fabs(is - should) <= 1e-3 * std::fabs(should) + 1e-6)) {
        fprintf(stderr, "%s: %g, and not %g\n", what, is, should);
        exit(1);
    }
}
template <class T> static T *managed(size_t n)
{
    T *x;
    CHECK(cudaMallocManaged(&x, n * sizeof(T)));
    return x;
}
template <class T> static T *locked(size_t n)
{
    T *x;
    CHECK(cudaMallocHost(&x, n * sizeof(T)));
    return x;
}
template <class T> static T *on_device(size_t n)
{
    T *x;
    CHECK(cudaMalloc(&x, n * sizeof(T)));
    CHECK(cudaMemset(x, 0, n * sizeof(T)));
    return x;
}
static void done()
{
    CHECK(cudaGetLastError());
    CHECK(cudaDeviceSynchronize());
}

/* ---- the introduction's first program ---- */
__global__ void add_one_thread(int n, const float *x, float *y)
{
    for (int i = 0; i < n; i++)
        y[i] = x[i] + y[i];
}
__global__ void add_one_block(int n, const float *x, float *y)
{
    for (int i = threadIdx.x; i < n; i += blockDim.x)
        y[i] = x[i] + y[i];
}
__global__ void add(int n, const float *x, float *y)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        y[i] = x[i] + y[i];
}
static void additions()
{
    for (int n : {1 << 12, 1 << 20})
        for (int how = 0; how < 5; how++) {
            float *x = managed<float>(n), *y = managed<float>(n);
            for (int i = 0; i < n; i++) {
                x[i] = 1;
                y[i] = 2;
            }
            if (how == 3) {
                CHECK(prefetch(x, n * sizeof(float)));
                CHECK(prefetch(y, n * sizeof(float)));
            }
            if (how == 0)
                add_one_thread<<<1, 1>>>(n / 16, x, y);
            else if (how == 1)
                add_one_block<<<1, 256>>>(n, x, y);
            else
                add<<<(n + 255) / 256, 256>>>(n, x, y);
            if (how == 4)
                add<<<(n + 255) / 256, 256>>>(n, x, y);
            done();
            expect("additions", y[n / 16 - 1], how == 4 ? 4 : 3);
            CHECK(cudaFree(x));
            CHECK(cudaFree(y));
        }
}

/* ---- a tile of shared memory ---- */
__global__ void multiply(int n, const float *a, const float *b, float *c)
{
    __shared__ float x[16][16], y[16][16];
    int row = blockIdx.y * 16 + threadIdx.y, column = blockIdx.x * 16 + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < n; k += 16) {
        x[threadIdx.y][threadIdx.x] = a[row * n + k + threadIdx.x];
        y[threadIdx.y][threadIdx.x] = b[(k + threadIdx.y) * n + column];
        __syncthreads();
        for (int j = 0; j < 16; j++)
            sum += x[threadIdx.y][j] * y[j][threadIdx.x];
        __syncthreads();
    }
    c[row * n + column] = sum;
}
static void products()
{
    for (int n : {128, 512, 1024}) {
        float *a = managed<float>(n * n), *b = managed<float>(n * n), *c = managed<float>(n * n);
        for (int i = 0; i < n * n; i++) {
            a[i] = 1;
            b[i] = 0.5f;
        }
        multiply<<<dim3(n / 16, n / 16), dim3(16, 16)>>>(n, a, b, c);
        done();
        expect("products", c[n * n / 2], n * 0.5);
        CHECK(cudaFree(a));
        CHECK(cudaFree(b));
        CHECK(cudaFree(c));
    }
}

/* ---- bytes, atomics; bins that the program has by name ---- */
__managed__ unsigned bins[256];
__global__ void histogram(const unsigned char *in, int n)
{
    __shared__ unsigned own[256];
    own[threadIdx.x] = 0;
    __syncthreads();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += blockDim.x * gridDim.x)
        atomicAdd(&own[in[i]], 1u);
    __syncthreads();
    atomicAdd(&bins[threadIdx.x], own[threadIdx.x]);
}
static void histograms()
{
    for (int n : {1 << 18, 1 << 23}) {
        unsigned char *in = managed<unsigned char>(n);
        for (int i = 0; i < n; i++)
            in[i] = (unsigned char)(i * 7);
        unsigned had = bins[7];
        histogram<<<264, 256>>>(in, n);
        done();
        expect("histograms", bins[7] - had, n / 256);
        CHECK(cudaFree(in));
    }
}

/* ---- two arrays in turns: the second launch finds its pages ---- */
__global__ void relax(int n, const float *in, float *out)
{
    int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
    if (x > 0 && y > 0 && x < n - 1 && y < n - 1)
        out[y * n + x] = 0.25f * (in[y * n + x - 1] + in[y * n + x + 1] + in[(y - 1) * n + x] + in[(y + 1) * n + x]);
}
static void relaxations()
{
    for (int n : {256, 2048}) {
        float *a = managed<float>(n * n), *b = managed<float>(n * n);
        for (int i = 0; i < n * n; i++)
            a[i] = b[i] = 1;
        for (int k = 0; k < 3; k++) {
            relax<<<dim3(n / 32, n / 8), dim3(32, 8)>>>(n, a, b);
            float *t = a;
            a = b;
            b = t;
        }
        done();
        expect("relaxations", a[n + 1], 1);
        CHECK(cudaFree(a));
        CHECK(cudaFree(b));
    }
}

/* ---- sums of memory that stays with the host ---- */
__global__ void reduce(int n, const float *in, float *out)
{
    __shared__ float sums[256];
    float sum = 0;
    for (int i = blockIdx.x * 256 + threadIdx.x; i < n; i += 256 * gridDim.x)
        sum += in[i];
    sums[threadIdx.x] = sum;
    for (int half = 128; half; half /= 2) {
        __syncthreads();
        if (threadIdx.x < half)
            sums[threadIdx.x] += sums[threadIdx.x + half];
    }
    if (threadIdx.x == 0)
        out[blockIdx.x] = sums[0];
}
__global__ void transpose(int n, const float *in, float *out)
{
    __shared__ float tile[32][33];
    for (int j = threadIdx.y; j < 32; j += 8)
        tile[j][threadIdx.x] = in[(blockIdx.y * 32 + j) * n + blockIdx.x * 32 + threadIdx.x];
    __syncthreads();
    for (int j = threadIdx.y; j < 32; j += 8)
        out[(blockIdx.x * 32 + j) * n + blockIdx.y * 32 + threadIdx.x] = tile[threadIdx.x][j];
}
static void streams()
{
    for (int n : {1 << 16, 1 << 21}) {
        float *in = locked<float>(n), *out = locked<float>(528);
        for (int i = 0; i < n; i++)
            in[i] = 1;
        for (int grid : {16, 528}) {
            reduce<<<grid, 256>>>(n, in, out);
            done();
            double sum = 0;
            for (int i = 0; i < grid; i++)
                sum += out[i];
            expect("streams", sum, n);
        }
        CHECK(cudaFreeHost(in));
        CHECK(cudaFreeHost(out));
    }
    for (int n : {256, 1024}) {
        float *in = locked<float>(n * n), *out = locked<float>(n * n), *there = on_device<float>(n * n);
        for (int i = 0; i < n * n; i++)
            in[i] = (float)i;
        transpose<<<dim3(n / 32, n / 32), dim3(32, 8)>>>(n, in, there); /* out of the host, … */
        transpose<<<dim3(n / 32, n / 32), dim3(32, 8)>>>(n, there, out); /* … and back */
        done();
        expect("streams", out[n * 3 + 5], n * 3 + 5);
        CHECK(cudaFreeHost(in));
        CHECK(cudaFreeHost(out));
        CHECK(cudaFree(there));
    }
}

/* ---- tables, lists and rows ---- */
__global__ void look_up(int n, const int *index, const float *table, float *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = table[index[i]];
}
__global__ void follow(int steps, const int *next, int *out)
{
    int at = threadIdx.x;
    for (int k = 0; k < steps; k++)
        at = next[at];
    out[threadIdx.x] = at;
}
__global__ void rows(int n, int width, const float *matrix, float *out)
{
    int row = blockIdx.x * blockDim.x + threadIdx.x;
    float sum = 0;
    for (int k = 0; k < width; k++)
        sum += matrix[(size_t)row * width + k];
    if (row < n)
        out[row] = sum;
}
static void tables()
{
    for (int room : {1 << 12, 1 << 21}) {
        const int n = 1 << 18;
        int *index = on_device<int>(n), *indices = (int *)malloc(n * sizeof(int));
        float *table = locked<float>(room), *moved = managed<float>(room), *out = managed<float>(n);
        for (int i = 0; i < room; i++)
            table[i] = moved[i] = (float)i;
        for (int i = 0; i < n; i++)
            indices[i] = (int)(i * 2654435761u % (unsigned)room);
        CHECK(cudaMemcpy(index, indices, n * sizeof(int), cudaMemcpyHostToDevice));
        look_up<<<n / 256, 256>>>(n, index, table, out);
        done();
        expect("tables", out[77], indices[77]);
        look_up<<<n / 256, 256>>>(n, index, moved, out);
        done();
        expect("tables", out[78], indices[78]);
        CHECK(cudaFree(index));
        CHECK(cudaFreeHost(table));
        CHECK(cudaFree(moved));
        CHECK(cudaFree(out));
        free(indices);
    }
    for (int steps : {64, 1024}) {
        int *next = locked<int>(1 << 16), *out = managed<int>(32), at[32];
        for (int i = 0; i < 1 << 16; i++)
            next[i] = (i * 5 + 12345) % (1 << 16);
        follow<<<1, 32>>>(steps, next, out);
        done();
        for (int i = 0; i < 32; i++) {
            at[i] = i;
            for (int k = 0; k < steps; k++)
                at[i] = next[at[i]];
            expect("lists", out[i], at[i]);
        }
        CHECK(cudaFreeHost(next));
        CHECK(cudaFree(out));
    }
    for (int width : {64, 1024}) {
        const int n = 2048;
        float *matrix = managed<float>(n * width), *out = managed<float>(n);
        CHECK(cudaMemset(matrix, 0, n * width * sizeof(float))); /* by the device: its pages are there */
        rows<<<n / 128, 128>>>(n, width, matrix, out);
        done();
        expect("rows", out[9], 0);
        for (int i = 0; i < n * width; i++)
            matrix[i] = 1;
        CHECK(prefetch(matrix, n * width * sizeof(float)));
        rows<<<n / 128, 128>>>(n, width, matrix, out);
        done();
        expect("rows", out[9], width);
        CHECK(cudaFree(matrix));
        CHECK(cudaFree(out));
    }
}

int main()
{
    additions();
    products();
    histograms();
    relaxations();
    streams();
    tables();
    return 0;
}
