// Images: the median of 5x5 by a sort in a local array with a variable end, of 3x3 by a network in registers, and of
// 5x5 by counting bits with no array.
#include "kit.cuh"
#include <algorithm>
__global__ void local_sort(const uint8_t *x, uint8_t *y, int w, int h, int r)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x, q = blockIdx.y * blockDim.y + threadIdx.y;
    if (c < r || q < r || c >= w - r || q >= h - r)
        return;
    uint8_t v[25];
    int n = 0;
    for (int a = -r; a <= r; a++)
        for (int b = -r; b <= r; b++) {
            int p = x[(q + a) * w + c + b], k = n++;
            while (k > 0 && v[k - 1] > p) {
                v[k] = v[k - 1];
                k--;
            }
            v[k] = p;
        }
    y[q * w + c] = v[n / 2];
}
__device__ inline void ord(int &a, int &b)
{
    int t = min(a, b);
    b = max(a, b);
    a = t;
}
__global__ void network(const uint8_t *x, uint8_t *y, int w, int h)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x, q = blockIdx.y * blockDim.y + threadIdx.y;
    if (c < 1 || q < 1 || c >= w - 1 || q >= h - 1)
        return;
    int v[9];
#pragma unroll
    for (int k = 0; k < 9; k++)
        v[k] = x[(q + k / 3 - 1) * w + c + k % 3 - 1];
    ord(v[1], v[2]);
    ord(v[4], v[5]);
    ord(v[7], v[8]);
    ord(v[0], v[1]);
    ord(v[3], v[4]);
    ord(v[6], v[7]);
    ord(v[1], v[2]);
    ord(v[4], v[5]);
    ord(v[7], v[8]);
    ord(v[0], v[3]);
    ord(v[5], v[8]);
    ord(v[4], v[7]);
    ord(v[3], v[6]);
    ord(v[1], v[4]);
    ord(v[2], v[5]);
    ord(v[4], v[7]);
    ord(v[4], v[2]);
    ord(v[6], v[4]);
    ord(v[4], v[2]);
    y[q * w + c] = v[4];
}
__global__ void bits(const uint8_t *x, uint8_t *y, int w, int h)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x, q = blockIdx.y * blockDim.y + threadIdx.y;
    if (c < 2 || q < 2 || c >= w - 2 || q >= h - 2)
        return;
    int m = 0;
    for (int b = 7; b >= 0; b--) {
        int t = m | 1 << b, less = 0;
        for (int a = -2; a <= 2; a++)
            for (int d = -2; d <= 2; d++)
                less += x[(q + a) * w + c + d] < t;
        if (less <= 12)
            m = t;
    }
    y[q * w + c] = m;
}
int main()
{
    int w = 4096, h = 1024, n = w * h;
    std::vector<uint8_t> x(n), m5(n), m3(n);
    for (auto &v : x)
        v = rnd();
    for (int r = 1; r <= 2; r++)
        for (int q = r; q < h - r; q++)
            for (int c = r; c < w - r; c++) {
                uint8_t v[25];
                int k = 0;
                for (int a = -r; a <= r; a++)
                    for (int b = -r; b <= r; b++)
                        v[k++] = x[(q + a) * w + c + b];
                std::nth_element(v, v + k / 2, v + k);
                (r == 1 ? m3 : m5)[q * w + c] = v[k / 2];
            }
    uint8_t *d = up(x), *a = room<uint8_t>(n), *b = room<uint8_t>(n), *c = room<uint8_t>(n);
    dim3 g(w / 32, h / 4), t(32, 4);
    local_sort<<<g, t>>>(d, a, w, h, 2);
    network<<<g, t>>>(d, b, w, h);
    bits<<<g, t>>>(d, c, w, h);
    same("local_sort", down(a, n), m5);
    same("network", down(b, n), m3);
    same("bits", down(c, n), m5);
    return verdict();
}
