/* stream_priv.h - the kernel that all rungs of stream share: c[i] = a[i] + b[i], where a rung says which element a
 * thread takes. An order is a struct with `threads(n)`, how many are wanted (host), and `element(t)`, the element of
 * thread t or a number from n on for none (device); each element below n is taken by just one thread.
 */
#ifndef MG_STREAM_PRIV_H
#define MG_STREAM_PRIV_H
#include "common/kernels_priv.h"

struct mg__stream {
    cudaStream_t stream;
    int64_t n; /* at least 1 */
    const float *a, *b;
    float *c;
};

#define RUNG(id, name, idea, gain) enum mg_kernels_status mg__stream_##id(const struct mg__stream *call);
#include "stream/stream.def"
#undef RUNG

enum { MG__STREAM_BLOCK = 256 };

template <typename Order>
__global__ void __launch_bounds__(MG__STREAM_BLOCK)
    stream_add(Order order, int64_t threads, int64_t n, const float *a, const float *b, float *c)
{
    int64_t step = static_cast<int64_t>(gridDim.x) * MG__STREAM_BLOCK;
    for (int64_t t = static_cast<int64_t>(blockIdx.x) * MG__STREAM_BLOCK + threadIdx.x; t < threads; t += step) {
        int64_t i = order.element(t);
        if (i < n)
            c[i] = a[i] + b[i];
    }
}

template <typename Order> static enum mg_kernels_status mg__stream_launch(const struct mg__stream *call, Order order)
{
    int64_t threads = order.threads(call->n);
    return mg__kernels_launch(stream_add<Order>, dim3(mg__kernels_grid(threads, MG__STREAM_BLOCK, INT32_MAX)),
                              dim3(MG__STREAM_BLOCK), 0, call->stream, order, threads, call->n, call->a, call->b,
                              call->c);
}

/* Stride S: the array as a matrix of S columns, taken a column at a time; the last row may be short. */
template <int S> struct mg__stream_strided {
    int64_t rows;
    __host__ explicit mg__stream_strided(int64_t n) : rows(n / S + (n % S != 0))
    {
    }
    __host__ int64_t threads(int64_t) const
    {
        return rows * S;
    }
    __device__ int64_t element(int64_t t) const
    {
        int64_t column = 0; /* t / rows, by at most log2(S) steps: a division would take longer than the access */
#pragma unroll
        for (int half = S / 2; half > 0; half /= 2)
            if (t >= (column + half) * rows)
                column += half;
        return (t - column * rows) * S + column;
    }
};
#endif
