// warp_primitives.cu - scans, broadcasts and votes of a warp, each against plain loops
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

__global__ void warp(const int *in, int *out)
{
    int lane = threadIdx.x, v = in[lane], scan = v;
    for (int d = 1; d < 32; d *= 2) {
        int left = __shfl_up_sync(0xffffffff, scan, d);
        if (lane >= d)
            scan += left;
    }
    out[lane] = scan;
    out[32 + lane] = __shfl_sync(0xffffffff, v, 5);
    out[64 + lane] = __shfl_sync(0xffffffff, v, lane + 1, 8);
    out[96 + lane] = __popc(__ballot_sync(0xffffffff, v & 1));
    out[128 + lane] = __any_sync(0xffffffff, v == 7) + 2 * __all_sync(0xffffffff, v >= 0);
    out[160 + lane] = __shfl_xor_sync(0xffffffff, v, 3);
    out[192 + lane] = __reduce_max_sync(0xffffffff, v);
}

int main()
{
    int in[32], got[224], *d, sum = 0, odd = 0, most = 0, seven = 0;
    for (int i = 0; i < 32; i++) {
        in[i] = i * 13 % 29;
        odd += in[i] & 1;
        most = std::max(most, in[i]);
        seven |= in[i] == 7;
    }
    CK(cudaMalloc(&d, sizeof(in) + sizeof(got)));
    CK(cudaMemcpy(d, in, sizeof(in), cudaMemcpyHostToDevice));
    warp<<<1, 32>>>(d, d + 32);
    CK(cudaMemcpy(got, d + 32, sizeof(got), cudaMemcpyDeviceToHost));
    bool good = true;
    for (int i = 0; i < 32; i++) {
        sum += in[i];
        good &= got[i] == sum && got[32 + i] == in[5] && got[64 + i] == in[i / 8 * 8 + (i + 1) % 8];
        good &= got[96 + i] == odd && got[128 + i] == seven + 2 && got[160 + i] == in[i ^ 3] && got[192 + i] == most;
    }
    CK(cudaFree(d));
    return finish(good);
}
