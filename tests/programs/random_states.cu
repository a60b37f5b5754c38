// random_states.cu - LCG, xorshift and Philox states kept between launches
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

struct philox {
    unsigned counter[4], key[2];
};

__host__ __device__ void lcg(unsigned long long *s)
{
    *s = *s * 6364136223846793005ULL + 1442695040888963407ULL;
}

__host__ __device__ void xorshift(unsigned long long *s)
{
    *s ^= *s << 13;
    *s ^= *s >> 7;
    *s ^= *s << 17;
}

__host__ __device__ void draw(philox *p, unsigned out[4])
{
    unsigned c[4] = {p->counter[0], p->counter[1], p->counter[2], p->counter[3]}, k0 = p->key[0], k1 = p->key[1];
    for (int round = 0; round < 10; round++) {
        unsigned long long a = 0xD2511F53ULL * c[0], b = 0xCD9E8D57ULL * c[2];
        unsigned n0 = (unsigned)(b >> 32) ^ c[1] ^ k0, n2 = (unsigned)(a >> 32) ^ c[3] ^ k1;
        c[0] = n0;
        c[1] = (unsigned)b;
        c[2] = n2;
        c[3] = (unsigned)a;
        k0 += 0x9E3779B9u;
        k1 += 0xBB67AE85u;
    }
    for (int i = 0; i < 4; i++)
        out[i] = c[i];
    if (!++p->counter[0])
        p->counter[1]++;
}

struct states {
    unsigned long long lcg, xorshift, sum;
    philox p;
};

__host__ __device__ void turn(states *s)
{
    unsigned out[4];
    lcg(&s->lcg);
    xorshift(&s->xorshift);
    draw(&s->p, out);
    s->sum = s->sum * 31 + (s->lcg >> 33) + (s->xorshift & 0xffff) + out[0] + out[3];
}

__global__ void turns(states *s, int n)
{
    states mine = s[threadIdx.x];
    for (int i = 0; i < n; i++)
        turn(&mine);
    s[threadIdx.x] = mine;
}

int main()
{
    const int n = 64;
    std::vector<states> s(n), got(n);
    memset(s.data(), 0, n * sizeof(states));
    for (int i = 0; i < n; i++) {
        s[i].lcg = i;
        s[i].xorshift = i + 1;
        s[i].p.counter[0] = ~0u - 2;
        s[i].p.key[0] = i;
        s[i].p.key[1] = 77;
    }
    states *d;
    CK(cudaMalloc(&d, n * sizeof(states)));
    CK(cudaMemcpy(d, s.data(), n * sizeof(states), cudaMemcpyHostToDevice));
    turns<<<1, n>>>(d, 3);
    turns<<<1, n>>>(d, 4);
    CK(cudaMemcpy(got.data(), d, n * sizeof(states), cudaMemcpyDeviceToHost));
    bool good = true;
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < 7; k++)
            turn(&s[i]);
        good &= !memcmp(&s[i], &got[i], sizeof(states));
    }
    CK(cudaFree(d));
    return finish(good);
}
