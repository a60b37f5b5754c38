/* lowpass.cu - a low-pass filter as people write it: transform, cut, transform back, normalise. */
// FLAGS: -lcufft
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include <cufft.h>

#define CHECK(call)                                            \
    do {                                                       \
        if ((call) != 0) {                                     \
            printf("%s failed at line %d\n", #call, __LINE__); \
            exit(1);                                           \
        }                                                      \
    } while (0)

__global__ void cut(cufftComplex *spectrum, int bins, int keep)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < bins && i >= keep)
        spectrum[i] = make_cuComplex(0, 0);
}

__global__ void scale(float *signal, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        signal[i] /= n;
}

int main()
{
    const int n = 1024, bins = n / 2 + 1;
    static float signal[n], slow[n];
    for (int i = 0; i < n; i++) {
        slow[i] = sinf(2 * M_PI * 5 * i / n);
        signal[i] = slow[i] + .5f * sinf(2 * M_PI * 200 * i / n);
    }
    float *device;
    cufftComplex *spectrum;
    CHECK(cudaMalloc(&device, sizeof(signal)));
    CHECK(cudaMalloc(&spectrum, bins * sizeof(cufftComplex)));
    CHECK(cudaMemcpy(device, signal, sizeof(signal), cudaMemcpyHostToDevice));
    cufftHandle forward, back;
    CHECK(cufftPlan1d(&forward, n, CUFFT_R2C, 1));
    CHECK(cufftPlan1d(&back, n, CUFFT_C2R, 1));
    CHECK(cufftExecR2C(forward, device, spectrum));
    cut<<<(bins + 127) / 128, 128>>>(spectrum, bins, 50);
    CHECK(cufftExecC2R(back, spectrum, device));
    scale<<<n / 128, 128>>>(device, n);
    CHECK(cudaMemcpy(signal, device, sizeof(signal), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++)
        if (fabs(signal[i] - slow[i]) > 1e-4) {
            printf("differs at %d: %g and %g\n", i, signal[i], slow[i]);
            return 1;
        }
    CHECK(cufftDestroy(forward));
    CHECK(cufftDestroy(back));
    printf("PASS\n");
    return 0;
}
