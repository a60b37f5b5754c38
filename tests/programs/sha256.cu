// sha256.cu - of short messages, a thread each, against the same code on the host and one known digest
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
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

__host__ __device__ unsigned rotate(unsigned x, int n)
{
    return x >> n | x << (32 - n);
}

/* The constants are the first bits of the cube roots of primes, made once on the host. */
__host__ __device__ void sha256(const unsigned *k, const char *text, int length, unsigned h[8])
{
    unsigned w[64];
    const unsigned start[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                               0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    for (int i = 0; i < 16; i++)
        w[i] = 0;
    for (int i = 0; i < length; i++)
        w[i / 4] |= (unsigned)(unsigned char)text[i] << (24 - i % 4 * 8);
    w[length / 4] |= 0x80u << (24 - length % 4 * 8);
    w[15] = length * 8;
    for (int i = 16; i < 64; i++)
        w[i] = w[i - 16] + w[i - 7] + (rotate(w[i - 15], 7) ^ rotate(w[i - 15], 18) ^ w[i - 15] >> 3) +
               (rotate(w[i - 2], 17) ^ rotate(w[i - 2], 19) ^ w[i - 2] >> 10);
    unsigned a[8];
    for (int i = 0; i < 8; i++)
        a[i] = start[i];
    for (int i = 0; i < 64; i++) {
        unsigned t1 = a[7] + (rotate(a[4], 6) ^ rotate(a[4], 11) ^ rotate(a[4], 25)) +
                      ((a[4] & a[5]) ^ (~a[4] & a[6])) + k[i] + w[i];
        unsigned t2 =
            (rotate(a[0], 2) ^ rotate(a[0], 13) ^ rotate(a[0], 22)) + ((a[0] & a[1]) ^ (a[0] & a[2]) ^ (a[1] & a[2]));
        for (int j = 7; j; j--)
            a[j] = a[j - 1];
        a[4] += t1;
        a[0] = t1 + t2;
    }
    for (int i = 0; i < 8; i++)
        h[i] = start[i] + a[i];
}

__global__ void digest(const unsigned *k, const char *text, unsigned *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        sha256(k, text, i % 56, out + 8 * i);
}

int main()
{
    const int n = 60;
    unsigned k[64], count = 0;
    for (int p = 2; count < 64; p++) {
        bool prime = true;
        for (int q = 2; q < p; q++)
            prime &= p % q != 0;
        if (prime) {
            long double root = cbrtl(p);
            k[count++] = (unsigned)((root - floorl(root)) * 4294967296.0L);
        }
    }
    char text[64] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456";
    unsigned *dk, *out;
    char *dtext;
    std::vector<unsigned> got(8 * n);
    CK(cudaMalloc(&dk, sizeof(k)));
    CK(cudaMalloc(&dtext, sizeof(text)));
    CK(cudaMalloc(&out, got.size() * 4));
    CK(cudaMemcpy(dk, k, sizeof(k), cudaMemcpyHostToDevice));
    CK(cudaMemcpy(dtext, text, sizeof(text), cudaMemcpyHostToDevice));
    digest<<<2, 32>>>(dk, dtext, out, n);
    CK(cudaMemcpy(got.data(), out, got.size() * 4, cudaMemcpyDeviceToHost));
    bool good = got[8 * 3] == 0xba7816bf && got[8 * 3 + 7] == 0xf20015ad; /* of "abc" */
    for (int i = 0; i < n; i++) {
        unsigned h[8];
        sha256(k, text, i % 56, h);
        good &= !memcmp(h, &got[8 * i], 32);
    }
    CK(cudaFree(dk));
    CK(cudaFree(dtext));
    CK(cudaFree(out));
    return finish(good);
}
