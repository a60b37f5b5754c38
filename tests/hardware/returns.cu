/* returns.cu - where lanes meet again that part on their way: returns inside branches and loops, and blocks to which lanes
 * come from two conditions. Each kernel's results are held to plain C. */
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <vector>

#include "check.cuh"

#define ALL __host__ __device__

/* Cuts a segment to a window, or finds that it lies outside; the lanes' loops end at different rounds. */
ALL static int outside(float x, float y)
{
    return (x < 0) | (x > 100) << 1 | (y < 0) << 2 | (y > 80) << 3;
}
ALL static bool clip(float4 s, float *length)
{
    for (int k = 0; k < 8; k++) {
        int a = outside(s.x, s.y), b = outside(s.z, s.w);
        if (!(a | b)) {
            *length = fabsf(s.z - s.x) + fabsf(s.w - s.y);
            return true;
        }
        if (a & b)
            return false;
        if (!a) {
            float t = s.x;
            s.x = s.z, s.z = t;
            t = s.y;
            s.y = s.w, s.w = t;
            a = b;
        }
        if (a & 1)
            s.x = 0;
        else if (a & 2)
            s.x = 100;
        else if (a & 4)
            s.y = 0;
        else
            s.y = 80;
    }
    return false;
}
__global__ void segments(const float4 *s, float *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    float length;
    if (!clip(s[i], &length))
        return;
    out[i] = length;
}

/* A return within a branch, and the others go on together. */
ALL static int validated_at(const int *a, const int *b, const int *c, int i, int n)
{
    int v = 0;
    if (a[i] > 50) {
        for (int k = 0; k < 3; k++)
            v += b[(i + k * a[i]) % n];
        if (v > 150)
            return 0;
    }
    return v + c[i];
}
__global__ void validated(const int *a, const int *b, const int *c, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = 0;
    if (i >= n)
        return;
    if (a[i] > 50) {
        for (int k = 0; k < 3; k++)
            v += b[(i + k * a[i]) % n];
        if (v > 150)
            return;
    }
    out[i] = v + c[i];
}

/* A search that may return from its loop. */
__global__ void probe(const int *key, const int *table, int *out, int n, int size)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    int k = key[i], at = k * 7 % size;
#pragma unroll 1
    while (table[2 * at] != k) {
        if (table[2 * at] < 0)
            return;
        at = at + 1 == size ? 0 : at + 1;
    }
    out[i] = table[2 * at + 1];
}

/* Conditions joined by && and ||, of which each loads. */
ALL static int either_at(const int *a, const int *b, const int *c, int i)
{
    return a[i] > 50 || b[i] > 30 ? c[i] * c[i + 7] : 0;
}
__global__ void either(const int *a, const int *b, const int *c, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, v = 0;
    if (a[i] > 50 || b[i] > 30)
        v = c[i] * c[i + 7];
    out[i] = v;
}
ALL static int both_at(const int *a, const int *b, const int *c, int i)
{
    return a[i] > 30 && b[i] > 30 ? c[i] * c[i + 7] : c[i + 99] * c[i + 3];
}
__global__ void both(const int *a, const int *b, const int *c, int *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x, v;
    if (a[i] > 30 && b[i] > 30)
        v = c[i] * c[i + 7];
    else
        v = c[i + 99] * c[i + 3];
    out[i] = v;
}

static uint32_t seed = 2463534242u;
static uint32_t draw()
{
    seed ^= seed << 13, seed ^= seed >> 17, seed ^= seed << 5;
    return seed;
}
template <class T> static T *managed(const std::vector<T> &v)
{
    T *p;
    CHECK(cudaMallocManaged(&p, v.size() * sizeof(T)));
    memcpy(p, v.data(), v.size() * sizeof(T));
    return p;
}
static int wrong;
template <class T> static void same(const char *name, const T *got, const std::vector<T> &want)
{
    CHECK(cudaDeviceSynchronize());
    for (size_t i = 0; i < want.size(); i++)
        if (got[i] != want[i]) {
            printf("%s[%zu]: %g, not %g\n", name, i, (double)got[i], (double)want[i]);
            wrong = 1;
            return;
        }
}

int main()
{
    const int n = 1000, size = 256;
    std::vector<float4> s(n);
    std::vector<float> lengths(n);
    std::vector<int> a(n), b(n), c(n + 200), zeros(n), want(n), key(n), table(2 * size, -1);
    for (int i = 0; i < n; i++) {
        s[i] = make_float4((int)(draw() % 200) - 50, (int)(draw() % 160) - 40, (int)(draw() % 200) - 50,
                           (int)(draw() % 160) - 40);
        float length;
        if (clip(s[i], &length))
            lengths[i] = length;
        a[i] = draw() % 100, b[i] = draw() % 100, c[i] = draw() % 100;
    }
    float *cut = managed(std::vector<float>(n));
    segments<<<8, 128>>>(managed(s), cut, n);
    same("segments", cut, lengths);

    int *da = managed(a), *db = managed(b), *dc = managed(c), *out = managed(zeros);
    validated<<<8, 128>>>(da, db, dc, out, n);
    for (int i = 0; i < n; i++)
        want[i] = validated_at(a.data(), b.data(), c.data(), i, n);
    same("validated", out, want);

    for (int k = 0; k < 160; k++) {
        int v = draw() % 1000, at = v * 7 % size;
        while (table[2 * at] >= 0 && table[2 * at] != v)
            at = (at + 1) % size;
        table[2 * at] = v, table[2 * at + 1] = k + 1;
        key[k] = v;
    }
    for (int i = 0; i < n; i++) {
        key[i] = i < 160 || i % 3 ? key[i % 160] : (int)(draw() % 1000);
        want[i] = 0;
        for (int at = key[i] * 7 % size; table[2 * at] >= 0; at = (at + 1) % size)
            if (table[2 * at] == key[i]) {
                want[i] = table[2 * at + 1];
                break;
            }
    }
    int *found = managed(zeros);
    probe<<<16, 64>>>(managed(key), managed(table), found, n, size);
    same("probe", found, want);

    either<<<15, 64>>>(da, db, dc, out);
    for (int i = 0; i < 960; i++)
        want[i] = either_at(a.data(), b.data(), c.data(), i);
    want.resize(960);
    same("either", out, want);
    both<<<15, 64>>>(da, db, dc, out);
    for (int i = 0; i < 960; i++)
        want[i] = both_at(a.data(), b.data(), c.data(), i);
    same("both", out, want);
    puts(wrong ? "wrong" : "ok");
    return wrong;
}
