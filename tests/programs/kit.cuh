/* kit.cuh - for programs with many checks: errors, expectations, numbers that look random, memory of the device. */
#pragma once
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

static bool good = true;
#define EXPECT(what)                                      \
    do {                                                  \
        if (!(what)) {                                    \
            printf("line %d: not %s\n", __LINE__, #what); \
            good = false;                                 \
        }                                                 \
    } while (0)

static unsigned mixed(unsigned v)
{
    v = (v ^ v >> 16) * 0x7feb352du;
    v = (v ^ v >> 15) * 0x846ca68bu;
    return v ^ v >> 16;
}

template <class T> struct device { // room there, cleared or filled
    T *p;
    size_t n;
    device(size_t count) : n(count)
    {
        CK(cudaMalloc(&p, n * sizeof(T)));
        CK(cudaMemset(p, 0, n * sizeof(T)));
    }
    device(const std::vector<T> &from) : n(from.size())
    {
        CK(cudaMalloc(&p, n * sizeof(T)));
        CK(cudaMemcpy(p, from.data(), n * sizeof(T), cudaMemcpyHostToDevice));
    }
    ~device() { cudaFree(p); }
    operator T *() const { return p; }
    std::vector<T> get() const
    {
        std::vector<T> all(n);
        CK(cudaMemcpy(all.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost));
        return all;
    }
    device(const device &) = delete;
};
