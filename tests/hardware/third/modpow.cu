// Number theory: powers modulo 31-bit primes: by 64-bit remainders, by Montgomery's products, and digits by a variable
// divisor.
#include "kit.cuh"
__host__ __device__ inline uint32_t powmod(uint32_t b, uint32_t e, uint32_t m)
{
    uint64_t r = 1, x = b % m;
    while (e) {
        if (e & 1)
            r = r * x % m;
        x = x * x % m;
        e >>= 1;
    }
    return r;
}
__global__ void remainders(const uint32_t *b, const uint32_t *m, uint32_t *out, uint32_t e, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = powmod(b[i], e, m[i]);
}
__device__ inline uint32_t redc(uint64_t t, uint32_t m, uint32_t inv)
{
    uint32_t q = (uint32_t)t * inv;
    uint32_t r = (t + (uint64_t)q * m) >> 32;
    return r >= m ? r - m : r;
}
__global__ void montgomery(const uint32_t *b, const uint32_t *m, uint32_t *out, uint32_t e, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    uint32_t p = m[i], inv = p;
    for (int k = 0; k < 4; k++)
        inv *= 2 - p * inv;
    inv = -inv;
    uint32_t one = (1ull << 32) % p, x = ((uint64_t)(b[i] % p) << 32) % p, r = one;
    while (e) {
        if (e & 1)
            r = redc((uint64_t)r * x, p, inv);
        x = redc((uint64_t)x * x, p, inv);
        e >>= 1;
    }
    out[i] = redc(r, p, inv);
}
__global__ void digits(const uint32_t *b, const uint32_t *m, uint32_t *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    uint32_t v = b[i] * 2654435761u, base = m[i] % 7 + 2, s = 0;
    while (v) {
        s += v % base;
        v /= base;
    }
    out[i] = s;
}
int main()
{
    int n = 1 << 20;
    uint32_t e = 0x5a5a5;
    std::vector<uint32_t> b(n), m(n), want(n), wd(n);
    for (int i = 0; i < n; i++) {
        b[i] = rnd();
        m[i] = (rnd() >> 1) | 0x40000001u;
        want[i] = powmod(b[i], e, m[i]);
        uint32_t v = b[i] * 2654435761u, q = m[i] % 7 + 2;
        while (v) {
            wd[i] += v % q;
            v /= q;
        }
    }
    uint32_t *db = up(b), *dm = up(m), *x = room<uint32_t>(n), *y = room<uint32_t>(n), *z = room<uint32_t>(n);
    remainders<<<n / 128, 128>>>(db, dm, x, e, n);
    montgomery<<<n / 128, 128>>>(db, dm, y, e, n);
    digits<<<n / 128, 128>>>(db, dm, z, n);
    same("remainders", down(x, n), want);
    same("montgomery", down(y, n), want);
    same("digits", down(z, n), wd);
    return verdict();
}
