// Vision: a summed-area table: rows by a thread each, columns by a thread each, and rows by a block each with a scan in
// shared memory.
#include "kit.cuh"
__global__ void rows_serial(const int *x, int *y, int w, int h)
{
    int r = blockIdx.x * blockDim.x + threadIdx.x;
    if (r >= h)
        return;
    int s = 0;
    for (int i = 0; i < w; i++) {
        s += x[r * w + i];
        y[r * w + i] = s;
    }
}
__global__ void columns_serial(int *y, int w, int h)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    if (c >= w)
        return;
    int s = 0;
    for (int r = 0; r < h; r++) {
        s += y[r * w + c];
        y[r * w + c] = s;
    }
}
__global__ void rows_scan(const int *x, int *y, int w)
{
    __shared__ int s[8];
    int t = threadIdx.x, lane = t & 31, wp = t / 32, carry = 0;
    for (int i = t; i < w; i += 256) {
        int v = x[blockIdx.x * w + i];
        for (int o = 1; o < 32; o *= 2) {
            int u = __shfl_up_sync(~0u, v, o);
            if (lane >= o)
                v += u;
        }
        if (lane == 31)
            s[wp] = v;
        __syncthreads();
        int before = carry, all = 0;
        for (int k = 0; k < 8; k++) {
            if (k < wp)
                before += s[k];
            all += s[k];
        }
        y[blockIdx.x * w + i] = v + before;
        carry += all;
        __syncthreads();
    }
}
int main()
{
    int w = 2048, h = 8192, n = w * h;
    std::vector<int> x(n), rs(n), want(n);
    for (auto &v : x)
        v = rnd() & 255;
    for (int r = 0; r < h; r++) {
        int s = 0;
        for (int c = 0; c < w; c++) {
            s += x[r * w + c];
            rs[r * w + c] = s;
            want[r * w + c] = s + (r ? want[(r - 1) * w + c] : 0);
        }
    }
    int *d = up(x), *a = room<int>(n), *b = room<int>(n);
    rows_serial<<<h / 64, 64>>>(d, a, w, h);
    same("rows_serial", down(a, n), rs);
    columns_serial<<<w / 32, 32>>>(a, w, h);
    rows_scan<<<h, 256>>>(d, b, w);
    same("columns", down(a, n), want);
    same("rows_scan", down(b, n), rs);
    return verdict();
}
