// bitfields.cu - unions, bit fields, packed structs and enums
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

struct packet {
    unsigned version : 4, kind : 3, length : 9;
    signed delta : 7;
};
union bits {
    float f;
    unsigned u;
    unsigned char b[4];
};
#pragma pack(push, 1)
struct odd {
    char c;
    int i;
    short s;
};
#pragma pack(pop)
enum class colour : unsigned char { red = 1, green, blue };

__host__ __device__ unsigned digest(int i)
{
    packet p;
    p.version = i;
    p.kind = i >> 2;
    p.length = i * 3;
    p.delta = -i;
    bits b;
    b.f = i * 0.5f;
    odd o = {(char)i, i * 1000, (short)-i};
    colour c = i % 3 == 0 ? colour::red : i % 3 == 1 ? colour::green : colour::blue;
    return p.version + p.kind * 16 + p.length * 128 + (p.delta & 0xff) * 65536 + b.u / 3 + b.b[2] + b.b[3] +
           (unsigned)(o.i + o.s + o.c) + (unsigned)c * 7;
}

__global__ void fill(unsigned *out)
{
    out[threadIdx.x] = digest(threadIdx.x);
}

int main()
{
    unsigned *d, got[128];
    CK(cudaMalloc(&d, sizeof(got)));
    fill<<<1, 128>>>(d);
    CK(cudaMemcpy(got, d, sizeof(got), cudaMemcpyDeviceToHost));
    bool good = sizeof(odd) == 7;
    for (int i = 0; i < 128; i++)
        good &= got[i] == digest(i);
    CK(cudaFree(d));
    return finish(good);
}
