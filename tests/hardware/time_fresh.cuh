/* time_fresh.cuh - what the two halves of time_fresh.cu share: room on the device, inputs and comparisons. */
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        cudaError_t error = (call);                                                                                    \
        if (error != cudaSuccess) {                                                                                    \
            fprintf(stderr, "%s: line %d: %s\n", __FILE__, __LINE__, cudaGetErrorString(error));                       \
            exit(2);                                                                                                   \
        }                                                                                                              \
    } while (0)

#define UP(n, d) (((n) + (d)-1) / (d))
#define THREAD (int)(blockIdx.x * blockDim.x + threadIdx.x)
#define GO(name, grid, block, ...)                                                                                     \
    do {                                                                                                               \
        name<<<grid, block>>>(__VA_ARGS__);                                                                            \
        CHECK(cudaGetLastError());                                                                                     \
        CHECK(cudaDeviceSynchronize());                                                                                \
    } while (0)

template <class T> using vec = std::vector<T>;

template <class T> struct dev { // room on the device for as long as this lives
    T *p = nullptr;
    size_t n;
    explicit dev(size_t count) : n(count)
    {
        CHECK(cudaMalloc(&p, n * sizeof(T)));
        CHECK(cudaMemset(p, 0, n * sizeof(T)));
    }
    dev(const vec<T> &from) : n(from.size())
    {
        CHECK(cudaMalloc(&p, n * sizeof(T)));
        CHECK(cudaMemcpy(p, from.data(), n * sizeof(T), cudaMemcpyHostToDevice));
    }
    dev(const dev &) = delete;
    ~dev()
    {
        cudaFree(p);
    }
    operator T *() const
    {
        return p;
    }
    vec<T> get() const
    {
        vec<T> all(n);
        CHECK(cudaMemcpy(all.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost));
        return all;
    }
};

static unsigned mix(unsigned v) // a number that looks random
{
    v = (v ^ v >> 16) * 0x7feb352du;
    v = (v ^ v >> 15) * 0x846ca68bu;
    return v ^ v >> 16;
}

static vec<float> floats(size_t n, unsigned seed, float from = 0, float to = 1)
{
    vec<float> v(n);
    for (size_t i = 0; i < n; i++)
        v[i] = from + (to - from) * (float)(mix((unsigned)i * 3 + seed * 7919) >> 8) * 0x1p-24f;
    return v;
}

template <class T = int> static vec<T> whole(size_t n, unsigned seed, unsigned below)
{
    vec<T> v(n);
    for (size_t i = 0; i < n; i++)
        v[i] = (T)(mix((unsigned)i * 5 + seed * 104729) % below);
    return v;
}

static int wrong_results;

static void report(const char *name, int size, size_t wrong, size_t first, double got, double want)
{
    if (wrong) {
        printf("%s %d: %zu WRONG, [%zu] is %.9g and not %.9g\n", name, size, wrong, first, got, want);
        wrong_results++;
    } else {
        printf("%s %d\n", name, size);
    }
}

/* Holds what the device made to what the host did: within `relative` of the largest magnitude around 1, or exactly. */
template <class T, class U>
static void same(const char *name, int size, const vec<T> &got, const vec<U> &want, double relative = 0)
{
    size_t wrong = 0, first = 0;
    if (got.size() < want.size())
        wrong = 1;
    for (size_t i = 0; i < want.size() && got.size() >= want.size(); i++) {
        double g = (double)got[i], w = (double)want[i];
        bool right = relative == 0 ? (U)got[i] == want[i] : fabs(g - w) <= relative * fmax(1, fabs(w));
        if (!right && !wrong++)
            first = i;
    }
    report(name, size, wrong, first, wrong ? (double)got[first] : 0, wrong ? (double)want[first] : 0);
}

struct row {
    const char *name;
    void (*run)(const char *name, int size);
    int sizes[3];
};
