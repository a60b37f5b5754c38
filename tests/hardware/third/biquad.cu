// Audio: a cascade of two biquad filters on 65536 channels: channels one after another in memory, samples of all
// channels side by side, staged through shared memory.
#include "kit.cuh"
struct Q {
    float z1, z2, w1, w2;
};
__host__ __device__ inline float step(Q &q, float x)
{
    float y = 0.2f * x + q.z1;
    q.z1 = 0.3f * x + 0.5f * y + q.z2;
    q.z2 = 0.1f * x - 0.2f * y;
    float v = 0.4f * y + q.w1;
    q.w1 = 0.1f * y + 0.6f * v + q.w2;
    q.w2 = 0.2f * y - 0.3f * v;
    return v;
}
__global__ void by_channel(const float *x, float *y, int ch, int len)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    Q q = {0, 0, 0, 0};
    for (int t = 0; t < len; t++)
        y[c * len + t] = step(q, x[c * len + t]);
}
__global__ void by_time(const float *x, float *y, int ch, int len)
{
    int c = blockIdx.x * blockDim.x + threadIdx.x;
    Q q = {0, 0, 0, 0};
    for (int t = 0; t < len; t++)
        y[t * ch + c] = step(q, x[t * ch + c]);
}
__global__ void through_tile(const float *x, float *y, int ch, int len)
{
    __shared__ float s[32][33];
    int lane = threadIdx.x, c0 = blockIdx.x * 32;
    Q q = {0, 0, 0, 0};
    for (int t0 = 0; t0 < len; t0 += 32) {
        for (int r = 0; r < 32; r++)
            s[r][lane] = x[(c0 + r) * len + t0 + lane];
        __syncwarp();
        for (int t = 0; t < 32; t++)
            s[lane][t] = step(q, s[lane][t]);
        __syncwarp();
        for (int r = 0; r < 32; r++)
            y[(c0 + r) * len + t0 + lane] = s[r][lane];
        __syncwarp();
    }
}
int main()
{
    int ch = 65536, len = 256, n = ch * len;
    std::vector<float> x(n), t(n), want(n), wt(n);
    for (auto &v : x)
        v = unit() - .5f;
    for (int c = 0; c < ch; c++) {
        Q q = {0, 0, 0, 0};
        for (int k = 0; k < len; k++) {
            t[k * ch + c] = x[c * len + k];
            wt[k * ch + c] = want[c * len + k] = step(q, x[c * len + k]);
        }
    }
    float *dx = up(x), *dt = up(t), *a = room<float>(n), *b = room<float>(n), *c = room<float>(n);
    by_channel<<<ch / 128, 128>>>(dx, a, ch, len);
    by_time<<<ch / 128, 128>>>(dt, b, ch, len);
    through_tile<<<ch / 32, 32>>>(dx, c, ch, len);
    same("by_channel", down(a, n), want, 1e-5);
    same("by_time", down(b, n), wt, 1e-5);
    same("through_tile", down(c, n), want, 1e-5);
    return verdict();
}
