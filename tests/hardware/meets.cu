/* meets.cu - blocks to which lanes come on several ways while others pass them by: where do they meet? Conditions joined by
 * || and &&, breaks and continues within branches, cases that fall through, and what has no such place. Every function runs
 * on the host as well. */
#include <cstdint>
#include <cstring>
#include <vector>

#include "check.cuh"

#define HERE __host__ __device__ static inline int
#define ARGUMENTS const int *a, const int *b, const int *c, int i, int n

HERE or_in_loop(ARGUMENTS)
{
    int v = 0;
#pragma unroll 1
    for (int k = 0; k < n; k++)
        if (a[i + k * 32] > 50 || b[i + k * 32] > 30)
            v += c[i + k] * c[i + 2 * k];
    return v;
}
HERE and_then_continue(ARGUMENTS)
{
    int v = 0;
#pragma unroll 1
    for (int k = 0; k < n; k++) {
        if (a[i + k] > 30 && b[i + k * 3] > 60)
            continue;
        v += c[i + k] * c[i + 2 * k];
    }
    return v;
}
HERE break_in_branch(ARGUMENTS)
{
    int v = 0;
#pragma unroll 1
    for (int k = 0; k < n; k++) {
        if (a[i + k * 32] > 50) {
            if (b[i + k * 32] < 20)
                break;
        } else {
            v += c[k];
        }
        v += c[i + k] * c[i + 2 * k];
    }
    return v;
}
HERE while_either(ARGUMENTS)
{
    int v = 0, k = 0;
#pragma unroll 1
    while (a[i + k] > 40 || b[i + k] > 40) {
        v += c[i + k] * c[i + 2 * k];
        k += n;
    }
    return v;
}
HERE any_of_three(ARGUMENTS)
{
    return a[i] > 80 || b[i] > 80 || c[i + n] > 60 ? c[i + 1] * c[i + 9] : 0;
}
HERE two_places(ARGUMENTS)
{
    int v = n;
    if (a[i] > 50) {
        if (b[i] > 60)
            goto first;
        goto second;
    }
    if (c[i] > 70)
        goto first;
    if (a[i + 1] > 20)
        goto second;
    return v;
first:
    v = a[i + 10] * b[i + 11];
second:
    return v + b[i + 20] * c[i + 22];
}
HERE crossing(ARGUMENTS)
{
    int v = n;
    if (a[i] > 60)
        goto first;
    if (b[i] <= 40)
        return v;
    if (c[i] > 70)
        goto first;
    if (a[i + 1] > 50)
        goto second;
    if (a[i + 7] > 50)
        return v;
second:
    return v * b[i + 20] * c[i + 22];
first:
    return a[i + 10] * b[i + 11];
}
HERE falls_through(ARGUMENTS)
{
    int v = n;
    switch (a[i] % 6) {
    case 0:
        v = b[i + 1];
    case 1:
        v += c[i + 2];
    case 2:
        v += c[i + 3] * b[i];
        break;
    case 3:
        v = c[i + 9];
        break;
    case 4:
        v = b[i + 10] * c[i + 7];
    }
    return v;
}
HERE loop_in_condition(ARGUMENTS)
{
    int v = 0;
#pragma unroll 1
    for (int j = 0; j < n; j++) {
        int s = 0;
        if (a[i + j] <= 50) {
#pragma unroll 1
            for (int k = 0; k < n; k++)
                s += b[i + k * 32 + j];
            if (s < 50 * n)
                continue;
        }
        v += c[i + 9] * c[i + j * 2];
    }
    return v;
}
HERE nested(ARGUMENTS)
{
    int v = 0;
#pragma unroll 1
    for (int k = 0; k < n; k++) {
        if (a[i + k] > 70 || b[i + k] > 50) {
            if (c[i + k] > 60 || a[i + 3 * k] > 40)
                v += b[i + 5 * k] * c[k];
            else if (v > 4000)
                break;
            v += c[i + 7 * k];
        }
        v ^= b[i + 2 * k];
    }
    return v;
}
/* Where no lanes meet before all do: a loop has a way out of its own. */
HERE out_of_inner_loop(ARGUMENTS)
{
    int v = 0;
    if (a[i] > 50) {
#pragma unroll 1
        for (int k = 0; k < n; k++)
            if (b[i + k * 32] > 90)
                return v;
        v = c[i + 8];
    }
    return v + c[i + 9] * c[i + n * 2];
}
HERE out_of_loop(ARGUMENTS)
{
    int k = 0;
#pragma unroll 1
    for (;;) {
        if (a[i + k * 32] > 70)
            break;
        k++;
        if (b[i + k * 32] > 80)
            break;
        if (c[i + k] > 80)
            return c[k];
    }
    return b[i + n] * b[i + k];
}

enum { N = 1024, ROOM = 4096 };
static uint32_t seed = 2463534242u;
static int draw()
{
    seed ^= seed << 13, seed ^= seed >> 17, seed ^= seed << 5;
    return (int)(seed % 100);
}
static int *values()
{
    int *p;
    CHECK(cudaMallocManaged(&p, ROOM * sizeof *p));
    for (int i = 0; i < ROOM; i++)
        p[i] = i < N + 2000 ? draw() : 0; /* loops end */
    return p;
}

#define KERNEL(name)                                                                                                   \
    __global__ void k_##name(const int *a, const int *b, const int *c, int n, int *out)                                \
    {                                                                                                                  \
        const int i = blockIdx.x * blockDim.x + threadIdx.x;                                                           \
        out[i] = name(a, b, c, i, n);                                                                                  \
    }
#define EACH(OF)                                                                                                       \
    OF(or_in_loop) OF(and_then_continue) OF(break_in_branch) OF(while_either) OF(any_of_three) OF(two_places)          \
        OF(crossing) OF(falls_through) OF(loop_in_condition) OF(nested) OF(out_of_inner_loop) OF(out_of_loop)
EACH(KERNEL)

int main()
{
    int *a = values(), *b = values(), *c = values(), *out, wrong = 0;
    CHECK(cudaMallocManaged(&out, N * sizeof *out));
#define RUN(name)                                                                                                      \
    k_##name<<<N / 128, 128>>>(a, b, c, 8, out);                                                                       \
    CHECK(cudaDeviceSynchronize());                                                                                    \
    for (int i = 0; i < N; i++)                                                                                        \
        if (out[i] != name(a, b, c, i, 8)) {                                                                           \
            printf("%s[%d]: %d, not %d\n", #name, i, out[i], name(a, b, c, i, 8));                                     \
            wrong = 1;                                                                                                 \
            break;                                                                                                     \
        }
    EACH(RUN)
    puts(wrong ? "wrong" : "ok");
    return wrong;
}
