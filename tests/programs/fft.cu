// fft.cu - 256 points in one block, radix 2, bits reversed on the way in, against the sum itself
#include <algorithm>
#include <cmath>
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

const int N = 256, BITS = 8;

__global__ void fft(const double2 *in, double2 *out, double sign)
{
    __shared__ double2 s[N];
    for (int i = threadIdx.x; i < N; i += blockDim.x)
        s[__brev(i) >> (32 - BITS)] = in[i];
    __syncthreads();
    for (int half = 1; half < N; half *= 2) {
        int k = threadIdx.x % half, a = threadIdx.x / half * 2 * half + k, b = a + half;
        double c, sn;
        sincospi(sign * k / half, &sn, &c);
        double2 u = s[a], v = s[b];
        double2 w = make_double2(v.x * c - v.y * sn, v.x * sn + v.y * c);
        s[a] = make_double2(u.x + w.x, u.y + w.y);
        s[b] = make_double2(u.x - w.x, u.y - w.y);
        __syncthreads();
    }
    for (int i = threadIdx.x; i < N; i += blockDim.x)
        out[i] = s[i];
}

int main()
{
    std::vector<double2> x(N), got(N), back(N);
    for (int i = 0; i < N; i++)
        x[i] = make_double2((i * 17) % 23 - 11, (i * 5) % 9 - 4);
    double2 *d;
    CK(cudaMalloc(&d, 3 * N * sizeof(double2)));
    CK(cudaMemcpy(d, x.data(), N * sizeof(double2), cudaMemcpyHostToDevice));
    fft<<<1, N / 2>>>(d, d + N, -1);
    fft<<<1, N / 2>>>(d + N, d + 2 * N, 1);
    CK(cudaMemcpy(got.data(), d + N, N * sizeof(double2), cudaMemcpyDeviceToHost));
    CK(cudaMemcpy(back.data(), d + 2 * N, N * sizeof(double2), cudaMemcpyDeviceToHost));
    double worst = 0;
    for (int k = 0; k < N; k += 5) {
        double re = 0, im = 0;
        for (int i = 0; i < N; i++) {
            double angle = -2 * M_PI * (i * k % N) / N;
            re += x[i].x * cos(angle) - x[i].y * sin(angle);
            im += x[i].x * sin(angle) + x[i].y * cos(angle);
        }
        worst = std::max(worst, std::max(fabs(re - got[k].x), fabs(im - got[k].y)));
    }
    for (int i = 0; i < N; i++)
        worst = std::max(worst, std::max(fabs(back[i].x / N - x[i].x), fabs(back[i].y / N - x[i].y)));
    CK(cudaFree(d));
    return finish(worst < 1e-9);
}
