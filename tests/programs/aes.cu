// aes.cu - AES-128 of a block a thread, the S-box made on the host and kept in shared memory
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

__host__ __device__ unsigned char twice(unsigned char x)
{
    return x << 1 ^ (x & 0x80 ? 0x1b : 0);
}

__host__ __device__ void encrypt(const unsigned char *box, const unsigned char *keys, const unsigned char *in,
                                 unsigned char *out)
{
    unsigned char s[16], t[16];
    for (int i = 0; i < 16; i++)
        s[i] = in[i] ^ keys[i];
    for (int round = 1; round <= 10; round++) {
        for (int i = 0; i < 16; i++)
            t[i] = box[s[(i + i % 4 * 4) % 16]];
        for (int c = 0; c < 16; c += 4) {
            unsigned char all = t[c] ^ t[c + 1] ^ t[c + 2] ^ t[c + 3];
            for (int r = 0; r < 4; r++)
                s[c + r] = (round < 10 ? t[c + r] ^ all ^ twice(t[c + r] ^ t[c + (r + 1) % 4]) : t[c + r]) ^
                           keys[16 * round + c + r];
        }
    }
    for (int i = 0; i < 16; i++)
        out[i] = s[i];
}

__global__ void aes(const unsigned char *box, const unsigned char *keys, const unsigned char *in, unsigned char *out,
                    int blocks)
{
    __shared__ unsigned char own[256];
    for (int i = threadIdx.x; i < 256; i += blockDim.x)
        own[i] = box[i];
    __syncthreads();
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < blocks)
        encrypt(own, keys, in + 16 * i, out + 16 * i);
}

int main()
{
    unsigned char box[256], keys[176];
    for (int i = 0; i < 256; i++) { /* the inverse in GF(2^8), then the affine map */
        unsigned char inverse = 0;
        for (int j = 1; j < 256 && i; j++) {
            unsigned char product = 0, a = i;
            for (int b = j; b; b >>= 1, a = twice(a))
                if (b & 1)
                    product ^= a;
            if (product == 1)
                inverse = j;
        }
        unsigned char v = 0x63;
        for (int r = 0; r < 5; r++)
            v ^= inverse << r | inverse >> (8 - r);
        box[i] = v;
    }
    for (int i = 0; i < 16; i++)
        keys[i] = i;
    for (int i = 16, rc = 1; i < 176; i += 4) {
        unsigned char w[4];
        for (int k = 0; k < 4; k++)
            w[k] = keys[i - 4 + k];
        if (i % 16 == 0) {
            unsigned char first = w[0];
            w[0] = box[w[1]] ^ rc;
            w[1] = box[w[2]];
            w[2] = box[w[3]];
            w[3] = box[first];
            rc = twice(rc);
        }
        for (int k = 0; k < 4; k++)
            keys[i + k] = keys[i - 16 + k] ^ w[k];
    }
    const int blocks = 50;
    std::vector<unsigned char> in(16 * blocks), out(16 * blocks);
    for (int i = 0; i < 16; i++)
        in[i] = i * 0x11; /* the standard's example */
    for (int i = 16; i < 16 * blocks; i++)
        in[i] = i * 7;
    unsigned char *d;
    CK(cudaMalloc(&d, 512 + 32 * blocks));
    CK(cudaMemcpy(d, box, 256, cudaMemcpyHostToDevice));
    CK(cudaMemcpy(d + 256, keys, 176, cudaMemcpyHostToDevice));
    CK(cudaMemcpy(d + 512, in.data(), in.size(), cudaMemcpyHostToDevice));
    aes<<<2, 32>>>(d, d + 256, d + 512, d + 512 + 16 * blocks, blocks);
    CK(cudaMemcpy(out.data(), d + 512 + 16 * blocks, out.size(), cudaMemcpyDeviceToHost));
    bool good = out[0] == 0x69 && out[1] == 0xc4 && out[15] == 0x5a;
    for (int i = 0; i < blocks; i++) {
        unsigned char want[16];
        encrypt(box, keys, &in[16 * i], want);
        good &= !memcmp(want, &out[16 * i], 16);
    }
    CK(cudaFree(d));
    return finish(good);
}
