/* held.h - results are held to plain C++ on the host, so that a program that finds nothing has done its work. */
#pragma once
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>
#include <vector>

static inline void hold(bool good, const char *what)
{
    if (good)
        return;
    fprintf(stderr, "%s: not what plain C++ gives\n", what);
    exit(3);
}
static inline void done(const char *what)
{
    cudaError_t error = cudaDeviceSynchronize();
    if (error == cudaSuccess)
        return;
    fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
    exit(3);
}
/* Numbers without a pattern, the same every time. */
static inline std::vector<int> numbers(size_t n, int below, unsigned seed = 1)
{
    std::vector<int> v(n);
    for (int &x : v) {
        seed = seed * 1664525u + 1013904223u;
        x = (int)((seed >> 8) % (unsigned)below);
    }
    return v;
}
template <typename T> static T *to_device(const std::vector<T> &v)
{
    T *p = nullptr;
    cudaMalloc((void **)&p, v.size() * sizeof(T));
    cudaMemcpy(p, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice);
    return p;
}
template <typename T> static std::vector<T> to_host(const T *p, size_t n)
{
    std::vector<T> v(n);
    cudaMemcpy(v.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost);
    return v;
}
