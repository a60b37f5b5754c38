// crc32.cu - many buffers, by a table in constant memory and bit by bit
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

__constant__ unsigned table[256];

__global__ void crc(const unsigned char *data, int length, unsigned *by_table, unsigned *by_bit, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned a = ~0u, b = ~0u;
    for (int k = 0; k < length; k++) {
        unsigned char c = data[i * length + k];
        a = a >> 8 ^ table[(a ^ c) & 0xff];
        b ^= c;
        for (int bit = 0; bit < 8; bit++)
            b = b >> 1 ^ (b & 1 ? 0xedb88320u : 0);
    }
    by_table[i] = ~a;
    by_bit[i] = ~b;
}

int main()
{
    const int n = 100, length = 9;
    unsigned t[256];
    std::vector<unsigned char> data(n * length);
    std::vector<unsigned> got(2 * n);
    for (unsigned i = 0; i < 256; i++) {
        t[i] = i;
        for (int bit = 0; bit < 8; bit++)
            t[i] = t[i] >> 1 ^ (t[i] & 1 ? 0xedb88320u : 0);
    }
    for (int i = 0; i < n * length; i++)
        data[i] = i < length ? '1' + i : i * 31;
    unsigned char *d;
    unsigned *out;
    CK(cudaMalloc(&d, data.size()));
    CK(cudaMalloc(&out, 2 * n * sizeof(unsigned)));
    CK(cudaMemcpyToSymbol(table, t, sizeof(t)));
    CK(cudaMemcpy(d, data.data(), data.size(), cudaMemcpyHostToDevice));
    crc<<<4, 32>>>(d, length, out, out + n, n);
    CK(cudaMemcpy(got.data(), out, 2 * n * sizeof(unsigned), cudaMemcpyDeviceToHost));
    bool good = got[0] == 0xcbf43926;
    for (int i = 0; i < n; i++) {
        unsigned want = ~0u;
        for (int k = 0; k < length; k++)
            want = want >> 8 ^ t[(want ^ data[i * length + k]) & 0xff];
        good &= got[i] == ~want && got[n + i] == ~want;
    }
    CK(cudaFree(d));
    CK(cudaFree(out));
    return finish(good);
}
