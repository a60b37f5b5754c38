// atomics_64.cu - sums, maxima, exchanges and compare-and-swap of 64 bits, and of doubles
#include <algorithm>
#include <cstdio>
#include <cstdlib>

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

struct totals {
    unsigned long long sum, most, bits, cas;
    double d;
};

__global__ void add(totals *t, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned long long v = (unsigned long long)i * 0x100000001ull;
    atomicAdd(&t->sum, v);
    atomicMax(&t->most, v ^ 0x55);
    atomicOr(&t->bits, 1ull << i % 64);
    atomicAdd(&t->d, i * 0.5);
    unsigned long long old = atomicAdd(&t->cas, 0ull), seen;
    do {
        seen = old;
        old = atomicCAS(&t->cas, seen, seen + i * 3ull);
    } while (old != seen);
}

int main()
{
    const int n = 200;
    totals *d, got, want = {0, 0, 0, 0, 0};
    CK(cudaMalloc(&d, sizeof(totals)));
    CK(cudaMemset(d, 0, sizeof(totals)));
    add<<<2, 128>>>(d, n);
    CK(cudaMemcpy(&got, d, sizeof(got), cudaMemcpyDeviceToHost));
    for (int i = 0; i < n; i++) {
        unsigned long long v = (unsigned long long)i * 0x100000001ull;
        want.sum += v;
        want.most = std::max(want.most, v ^ 0x55);
        want.bits |= 1ull << i % 64;
        want.d += i * 0.5;
        want.cas += i * 3ull;
    }
    CK(cudaFree(d));
    return finish(got.sum == want.sum && got.most == want.most && got.bits == want.bits && got.d == want.d &&
                  got.cas == want.cas);
}
