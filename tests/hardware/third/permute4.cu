// Networks' layouts: NCHW to NHWC: by divisions of the output's index, by those of the input's, by tiles with 32- and
// 8-fold conflicts and with none.
#include "kit.cuh"
__global__ void from_output(const float *x, float *y, int N, int C, int HW)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N * C * HW)
        return;
    int c = i % C, p = i / C % HW, b = i / C / HW;
    y[i] = x[(b * C + c) * HW + p];
}
__global__ void from_input(const float *x, float *y, int N, int C, int HW)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= N * C * HW)
        return;
    int p = i % HW, c = i / HW % C, b = i / HW / C;
    y[(b * HW + p) * C + c] = x[i];
}
template <int P> __global__ void tile(const float *x, float *y, int C, int HW)
{
    __shared__ float t[32][P];
    int b = blockIdx.z, p0 = blockIdx.x * 32, c0 = blockIdx.y * 32, tx = threadIdx.x;
    for (int r = threadIdx.y; r < 32; r += 8)
        t[r][tx] = x[(b * C + c0 + r) * HW + p0 + tx];
    __syncthreads();
    for (int r = threadIdx.y; r < 32; r += 8)
        y[(b * HW + p0 + r) * C + c0 + tx] = t[tx][r];
}
int main()
{
    int N = 20, C = 64, HW = 128 * 96, n = N * C * HW;
    std::vector<float> x(n), want(n);
    for (auto &v : x)
        v = unit();
    for (int b = 0; b < N; b++)
        for (int c = 0; c < C; c++)
            for (int p = 0; p < HW; p++)
                want[(b * HW + p) * C + c] = x[(b * C + c) * HW + p];
    float *d = up(x), *o[4];
    for (auto &p : o)
        p = room<float>(n);
    dim3 g(HW / 32, C / 32, N), t(32, 8);
    from_output<<<n / 256, 256>>>(d, o[0], N, C, HW);
    from_input<<<n / 256, 256>>>(d, o[1], N, C, HW);
    tile<32><<<g, t>>>(d, o[2], C, HW);
    tile<33><<<g, t>>>(d, o[3], C, HW);
    same("from_output", down(o[0], n), want);
    same("from_input", down(o[1], n), want);
    same("tile 32", down(o[2], n), want);
    same("tile 33", down(o[3], n), want);
    return verdict();
}
