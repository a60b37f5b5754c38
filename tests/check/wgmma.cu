/* wgmma.cu - multiplications by warpgroups, and the pipelines that feed them. */
#include "async.cuh"

__device__ static void fill(int *a, int *b)
{
    for (int i = threadIdx.x; i < 512; i += 128)
        a[i] = i;
    if (threadIdx.x < 64)
        b[threadIdx.x] = threadIdx.x;
}
/* Operands that a multiplication may read: written, seen by the asynchronous proxy, and by all threads. */
#define OPERANDS(a, b)                             \
    __shared__ __align__(128) int a[512], b[64];   \
    fill(a, b);                                    \
    PROXY();                                       \
    __syncthreads()

/* ---- registers ---- */
/* The last multiplication of the text, with the same registers, is not executed. */
template <bool fault> __global__ void read_before_the_wait(int *out, int more)
{
    OPERANDS(a, b);
    int d[4] = {};
    for (int k = 0; k < 2; k++) {
        if (k && !more)
            break;
        FENCE();
        MULTIPLY(d, a, b);
        COMMIT();
    }
    if (!fault)
        WAIT_GROUP(0);
    PIN(d);
    out[threadIdx.x] = d[0] + d[1]; // EXPECT: race/wgmma-registers
    WAIT_GROUP(0);
}
CASE(read_before_the_wait, 0)
{
    read_before_the_wait<fault><<<1, 128>>>(zeros(128), 0);
}

template <bool fault> __global__ void wait_for_the_group_before(int *out)
{
    __shared__ __align__(128) int a[512], b[64];
    int d[4] = {}, e[4] = {};
    fill(a, b);
    PROXY();
    __syncthreads();
    FENCE();
    MULTIPLY(d, a, b);
    COMMIT();
    MULTIPLY(e, a, b);
    COMMIT();
    if (fault)
        WAIT_GROUP(1);
    else
        WAIT_GROUP(0);
    PIN(e);
    out[threadIdx.x] = e[0] + e[3]; // EXPECT: race/wgmma-registers
    WAIT_GROUP(0);
    PIN(d);
    out[threadIdx.x] += d[0];
}
CASE(wait_for_the_group_before, 0)
{
    wait_for_the_group_before<fault><<<1, 128>>>(zeros(128));
}

template <bool fault> __global__ void forgot_to_commit(int *out)
{
    OPERANDS(a, b);
    int d[4] = {};
    FENCE();
    MULTIPLY(d, a, b);
    if (!fault)
        COMMIT();
    WAIT_GROUP(0);
    PIN(d);
    out[threadIdx.x] = d[1] + d[2]; // EXPECT: race/wgmma-registers
    COMMIT();
    WAIT_GROUP(0);
}
CASE(forgot_to_commit, 0)
{
    forgot_to_commit<fault><<<1, 128>>>(zeros(128));
}

template <bool fault> __global__ void no_fence(int *out)
{
    OPERANDS(a, b);
    int d[4] = {};
    if (!fault)
        FENCE();
    MULTIPLY(d, a, b); // EXPECT: race/wgmma-fence
    COMMIT();
    WAIT_GROUP(0);
    PIN(d);
    out[threadIdx.x] = d[0];
}
CASE(no_fence, 0)
{
    no_fence<fault><<<1, 128>>>(zeros(128));
}

template <bool fault> __global__ void scaled_in_between(int *out)
{
    OPERANDS(a, b);
    int d[4] = {};
    FENCE();
    for (int k = 0; k < 2; k++) {
        MULTIPLY(d, a, b); // EXPECT: race/wgmma-fence
        COMMIT();
        WAIT_GROUP(0);
        PIN(d);
        for (int i = 0; i < 4; i++)
            d[i] = d[i] * 3 + 1;
        PIN(d);
        if (!fault)
            FENCE();
    }
    out[threadIdx.x] = d[0] + d[3];
}
CASE(scaled_in_between, 0)
{
    scaled_in_between<fault><<<1, 128>>>(zeros(128));
}

/* ---- operands ---- */
template <bool fault> __global__ void written_while_in_flight(int *out)
{
    OPERANDS(a, b);
    int d[4] = {};
    FENCE();
    MULTIPLY(d, a, b);
    COMMIT();
    if (!fault)
        WAIT_GROUP(0);
    __syncthreads();
    if (threadIdx.x < 64)
        b[threadIdx.x] = 1; // EXPECT: race/wgmma-operands b
    __syncthreads();
    WAIT_GROUP(0);
    PIN(d);
    out[threadIdx.x] = d[0];
}
CASE(written_while_in_flight, 0)
{
    written_while_in_flight<fault><<<1, 128>>>(zeros(128));
}

template <bool fault> __global__ void no_proxy_fence(int *out)
{
    OPERANDS(a, b);
    int d[4] = {};
    a[threadIdx.x] = 1; // EXPECT: race/proxy a
    if (!fault)
        PROXY();
    __syncthreads();
    FENCE();
    MULTIPLY(d, a, b);
    COMMIT();
    WAIT_GROUP(0);
    PIN(d);
    out[threadIdx.x] = d[0];
}
CASE(no_proxy_fence, 0)
{
    no_proxy_fence<fault><<<1, 128>>>(zeros(128));
}

template <bool fault> __global__ void no_barrier(int *out)
{
    OPERANDS(a, b);
    int d[4] = {};
    if (threadIdx.x < 32)
        b[threadIdx.x] = 1; // EXPECT: race/bulk-source b
    PROXY();
    if (!fault)
        __syncthreads();
    FENCE();
    MULTIPLY(d, a, b);
    COMMIT();
    WAIT_GROUP(0);
    PIN(d);
    out[threadIdx.x] = d[0];
}
CASE(no_barrier, 0)
{
    no_barrier<fault><<<1, 128>>>(zeros(128));
}

/* ---- pipelines: a warp that copies, a warpgroup that multiplies, tiles that go round ---- */
/* A warpgroup multiplies as one: a thread that has waited speaks for all of it. */
template <bool fault> __global__ void pipeline(const int *in, int *out)
{
    __shared__ __align__(128) int tile[2][576];
    __shared__ uint64_t full[2], empty[2];
    const int steps = 6;
    begin_ring(full, empty, 1, 1);
    __syncthreads();
    if (threadIdx.x >= 128) {
        for (int k = 0; k < steps && threadIdx.x == 128; k++) {
            const int s = k % 2;
            if (k >= 2)
                WAIT(&empty[s], k / 2 - 1 & 1);
            expect(&full[s], 2304);
            LOAD(tile[s], in + 576 * k, 2304, &full[s]);
        }
        return;
    }
    int d[4] = {};
    for (int k = 0; k < steps; k++) {
        const int s = k % 2;
        WAIT(&full[s], k / 2 & 1);
        FENCE();
        MULTIPLY(d, tile[s], tile[s] + 512); // EXPECT: race/filled-too-soon tile
        COMMIT();
        if (!fault)
            WAIT_GROUP(0);
        if (threadIdx.x == 0)
            arrive(&empty[s]);
        if (fault)
            WAIT_GROUP(0);
    }
    WAIT_GROUP(0);
    PIN(d);
    out[threadIdx.x] = d[0] + d[1] + d[2] + d[3];
}

CASE(released_too_early, 0)
{
    pipeline<fault><<<1, 160>>>(zeros(3456), zeros(128));
}

/* Of those that multiply one copies, too. Bytes of tile k are k + 1. */
template <bool fault> __global__ void copies_for_all(const int *in, int *out)
{
    __shared__ __align__(128) int tile[2][576];
    __shared__ uint64_t full[2];
    const int steps = 6;
    auto copy = [&](int k) {
        if (threadIdx.x != 0 || k >= steps)
            return;
        expect(&full[k % 2], 2304);
        LOAD(tile[k % 2], in + 576 * k, 2304, &full[k % 2]);
    };
    if (threadIdx.x == 0)
        for (int s = 0; s < 2; s++)
            begin(&full[s], 1);
    __syncthreads();
    copy(0);
    copy(1);
    int d[4] = {}, sum = 0;
    for (int k = 0; k < steps; k++) {
        const int s = k % 2;
        sum += 32 * (k + 1) * (k + 1);
        WAIT(&full[s], k / 2 & 1);
        FENCE();
        MULTIPLY(d, tile[s], tile[s] + 512); // EXPECT: race/async-copy tile
        COMMIT();
        if (!fault)
            WAIT_GROUP(0);
        copy(k + 2);
        if (fault)
            WAIT_GROUP(0);
    }
    WAIT_GROUP(0);
    PIN(d);
    if (!fault && (d[0] != sum || d[3] != sum))
        __trap();
    out[threadIdx.x] = d[0] + d[1] + d[2] + d[3];
}
CASE(copies_for_all, 0)
{
    int *in = zeros(3456);
    for (int k = 0; k < 6; k++)
        cudaMemset(in + 576 * k, k + 1, 2304);
    copies_for_all<fault><<<1, 128>>>(in, zeros(128));
}
