// gemm.h - what the CUTLASS programs share: matrices of small whole numbers, whose sums are exact in every order and
// type, and D = 2 A B + C in plain C++ to compare with, element for element.
#pragma once
#include <cutlass/cutlass.h>
#include <cutlass/layout/matrix.h>
#include <cutlass/numeric_types.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

static int wrong_gemms;

inline void must(cudaError_t e, const char *what)
{
    if (e != cudaSuccess) {
        printf("%s: %s\n", what, cudaGetErrorString(e));
        exit(1);
    }
}

// A matrix on the device, by rows or by columns, and its numbers on the host. The last `beyond` lines belong to nobody.
template <typename T> struct Matrix {
    int rows, columns;
    bool by_rows;
    T *device = nullptr;
    std::vector<int> value;
    Matrix(int rows, int columns, bool by_rows, int least, int most, uint32_t seed)
        : rows(rows), columns(columns), by_rows(by_rows), value(size_t(rows) * columns)
    {
        std::vector<T> host(value.size());
        for (size_t i = 0; i < value.size(); i++) {
            seed = seed * 1664525u + 1013904223u;
            value[i] = least + int((seed >> 16) % unsigned(most - least + 1));
            host[i] = T(value[i]);
        }
        must(cudaMalloc(&device, host.size() * sizeof(T)), "cudaMalloc");
        must(cudaMemcpy(device, host.data(), host.size() * sizeof(T), cudaMemcpyHostToDevice), "cudaMemcpy");
    }
    ~Matrix()
    {
        cudaFree(device);
    }
    Matrix(const Matrix &) = delete;
    size_t at(int row, int column) const
    {
        return by_rows ? size_t(row) * columns + column : size_t(column) * rows + row;
    }
    int pitch() const
    {
        return by_rows ? columns : rows;
    }
    std::vector<T> back() const
    {
        std::vector<T> host(value.size());
        must(cudaMemcpy(host.data(), device, host.size() * sizeof(T), cudaMemcpyDeviceToHost), "cudaMemcpy");
        return host;
    }
};

template <typename A, typename B, typename C, typename D>
void compare(const char *name, const Matrix<A> &a, const Matrix<B> &b, const Matrix<C> &c, const Matrix<D> &d)
{
    const std::vector<D> got = d.back();
    long wrong = 0;
    for (int i = 0; i < d.rows; i++)
        for (int j = 0; j < d.columns; j++) {
            int sum = 0;
            for (int k = 0; k < a.columns; k++)
                sum += a.value[a.at(i, k)] * b.value[b.at(k, j)];
            wrong += double(got[d.at(i, j)]) != 2 * sum + c.value[c.at(i, j)];
        }
    printf("%-34s %dx%dx%d: %s\n", name, d.rows, d.columns, a.columns, wrong ? "WRONG" : "right");
    if (wrong)
        printf("  %ld elements\n", wrong);
    wrong_gemms += wrong != 0;
}

inline int verdict()
{
    puts(wrong_gemms ? "FAIL" : "PASS");
    return wrong_gemms != 0;
}
