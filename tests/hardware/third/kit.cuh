// What the programs share: errors, uploads, numbers from a fixed generator, verdicts.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#define CK(x)                                                                           \
    do {                                                                                \
        cudaError_t e_ = (x);                                                           \
        if (e_ != cudaSuccess) {                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(e_)); \
            exit(2);                                                                    \
        }                                                                               \
    } while (0)
static uint64_t kit_state = 88172645463325252ull;
static inline uint32_t rnd()
{
    kit_state ^= kit_state << 13;
    kit_state ^= kit_state >> 7;
    kit_state ^= kit_state << 17;
    return (uint32_t)(kit_state >> 32);
}
static inline float unit()
{
    return (rnd() >> 8) * (1.0f / 16777216.0f);
}
template <class T> T *up(const std::vector<T> &v)
{
    T *p;
    CK(cudaMalloc(&p, v.size() * sizeof(T)));
    CK(cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice));
    return p;
}
template <class T> T *room(size_t n)
{
    T *p;
    CK(cudaMalloc(&p, n * sizeof(T)));
    CK(cudaMemset(p, 0, n * sizeof(T)));
    return p;
}
template <class T> std::vector<T> down(const T *p, size_t n)
{
    CK(cudaGetLastError());
    CK(cudaDeviceSynchronize());
    std::vector<T> v(n);
    CK(cudaMemcpy(v.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost));
    return v;
}
static int kit_bad;
template <class T> void same(const char *what, const std::vector<T> &got, const std::vector<T> &want, double tol = 0)
{
    size_t wrong = 0;
    for (size_t i = 0; i < want.size(); i++) {
        double d = fabs((double)got[i] - (double)want[i]);
        if (!(d <= tol * (1 + fabs((double)want[i])))) {
            if (!wrong)
                printf("%s[%zu]: %g, not %g\n", what, i, (double)got[i], (double)want[i]);
            wrong++;
        }
    }
    printf("%s: %zu of %zu wrong\n", what, wrong, want.size());
    if (wrong)
        kit_bad = 1;
}
static int verdict()
{
    puts(kit_bad ? "FAIL" : "PASS");
    return kit_bad;
}
