/* async.cu - mbarriers, and bulk copies that they tell of. */
#include "async.cuh"

/* ---- what an mbarrier orders ---- */
template <bool fault> __global__ void arrives_and_reads(int *out)
{
    __shared__ int tile[64];
    __shared__ uint64_t full;
    const int t = threadIdx.x;
    if (t == 0)
        begin(&full, 64);
    __syncthreads();
    tile[t] = t;
    arrive(&full);
    if (!fault)
        WAIT(&full, 0);
    out[t] = tile[63 - t]; // EXPECT: race/write-read tile
}
CASE(arrives_and_reads, 0)
{
    arrives_and_reads<fault><<<1, 64>>>(zeros(64));
}

template <bool fault> __global__ void too_few_arrive(int *out)
{
    __shared__ uint64_t full;
    if (threadIdx.x == 0)
        begin(&full, fault ? 65 : 64);
    __syncthreads();
    arrive(&full);
    WAIT(&full, 0); // EXPECT: barrier/mbarrier full
    out[threadIdx.x] = 1;
}
CASE(too_few_arrive, ALONE | HANGS)
{
    too_few_arrive<fault><<<1, 64>>>(zeros(64));
}

template <bool fault> __global__ void more_bytes_expected(const int *in, int *out)
{
    __shared__ __align__(128) int tile[64];
    __shared__ uint64_t full;
    if (threadIdx.x == 0) {
        begin(&full, 1);
        expect(&full, fault ? 2 * sizeof(tile) : sizeof(tile));
        LOAD(tile, in, sizeof(tile), &full);
    }
    __syncthreads();
    WAIT(&full, 0); // EXPECT: barrier/mbarrier full
    out[threadIdx.x] = tile[threadIdx.x];
}
CASE(more_bytes_expected, ALONE | HANGS)
{
    more_bytes_expected<fault><<<1, 64>>>(zeros(64), zeros(64));
}

/* ---- copies into shared memory ---- */
template <bool fault> __global__ void bulk_not_waited_for(const int *in, int *out)
{
    __shared__ __align__(128) int tile[64];
    __shared__ uint64_t full;
    const int t = threadIdx.x;
    tile[t] = 0;
    PROXY();
    if (t == 0)
        begin(&full, 1);
    __syncthreads();
    if (t == 0) {
        expect(&full, sizeof(tile));
        LOAD(tile, in, sizeof(tile), &full);
    }
    __syncthreads();
    if (!fault)
        WAIT(&full, 0);
    out[t] = tile[t]; // EXPECT: race/async-copy tile
}
CASE(bulk_not_waited_for, 0)
{
    bulk_not_waited_for<fault><<<1, 64>>>(zeros(64), zeros(64));
}

template <bool fault> __global__ void wrong_parity(const int *in, int *out)
{
    __shared__ __align__(128) int tile[64];
    __shared__ uint64_t full;
    const int t = threadIdx.x;
    tile[t] = 0;
    PROXY();
    if (t == 0)
        begin(&full, 1);
    __syncthreads();
    if (t == 0) {
        expect(&full, sizeof(tile));
        LOAD(tile, in, sizeof(tile), &full);
    }
    if (fault)
        asm volatile("{ .reg .pred p;\nAGAIN: mbarrier.test_wait.parity.shared::cta.b64 p, [%0], 1;\n@!p bra AGAIN; }" ::"r"(
            at(&full)));
    else
        WAIT(&full, 0);
    out[t] = tile[t]; // EXPECT: race/async-copy tile
}
CASE(wrong_parity, 0)
{
    wrong_parity<fault><<<1, 64>>>(zeros(64), zeros(64));
}

/* Two tiles on a barrier each, and only the first is waited for. */
template <bool fault> __global__ void one_of_two(const int *in, int *out)
{
    __shared__ __align__(128) int tile[2][64];
    __shared__ uint64_t full[2];
    const int t = threadIdx.x;
    tile[0][t] = tile[1][t] = 0;
    PROXY();
    if (t == 0) {
        begin(&full[0], 1);
        begin(&full[1], 1);
    }
    __syncthreads();
    if (t == 0) {
        expect(&full[0], sizeof(tile[0]));
        expect(&full[1], sizeof(tile[1]));
        LOAD(tile[0], in, sizeof(tile[0]), &full[0]);
        LOAD(tile[1], in + 64, sizeof(tile[1]), &full[1]);
    }
    WAIT(&full[0], 0);
    if (!fault)
        WAIT(&full[1], 0);
    out[t] = tile[1][t]; // EXPECT: race/async-copy tile
}
CASE(one_of_two, 0)
{
    one_of_two<fault><<<1, 64>>>(zeros(128), zeros(64));
}

/* One buffer for all pieces: the next one must not come before all have read the last, and one thread does not know. */
template <bool fault> __global__ void filled_again(const int *in, int *out)
{
    __shared__ __align__(128) int tile[64];
    __shared__ uint64_t full, empty;
    const int t = threadIdx.x;
    if (t == 0) {
        begin(&full, 1);
        begin(&empty, fault ? 1 : 64);
    }
    __syncthreads();
    int sum = 0;
    for (int i = 0; i < 3; i++) {
        if (t == 64) {
            if (i)
                WAIT(&empty, (i - 1) & 1);
            expect(&full, sizeof(tile));
            LOAD(tile, in + 64 * i, sizeof(tile), &full);
        }
        if (t < 64) {
            WAIT(&full, i & 1);
            sum += tile[t]; // EXPECT: race/filled-too-soon tile
            if (!fault || t == 0)
                arrive(&empty);
        }
    }
    if (t < 64)
        out[t] = sum;
}
CASE(filled_again, 0)
{
    filled_again<fault><<<1, 96>>>(zeros(192), zeros(64));
}

/* The readers wait for the phase before the first, which is over from the beginning; whether they read before the copy was
 * asked for or while it is under way. */
template <bool fault> __global__ void parity_of_the_one_before(const int *in, int *out, int rounds)
{
    __shared__ __align__(128) int tile[2][64];
    __shared__ uint64_t full[2], empty[2];
    const int t = threadIdx.x;
    begin_ring(full, empty, 1, 64);
    __syncthreads();
    int sum = 0;
    if (t == 64)
        for (int i = 0; i < rounds; i++) {
            if (i >= 2)
                WAIT(&empty[i & 1], (i / 2 - 1) & 1);
            LOAD(tile[i & 1], in + 64 * i, sizeof(tile[0]), &full[i & 1]);
            EXPECT_BYTES(&full[i & 1], sizeof(tile[0])); // ALSO: barrier/mbarrier-count full
        }
    if (t < 64) {
        for (int i = 0; i < rounds; i++) {
            WAIT(&full[i & 1], (i / 2 + fault) & 1);
            sum += tile[i & 1][t]; // EXPECT: race/async-copy tile
            arrive(&empty[i & 1]); // FIX: parity
        }
        out[t] = sum;
    }
}
CASE(parity_of_the_one_before, 0)
{
    parity_of_the_one_before<fault><<<1, 96>>>(zeros(512), zeros(64), 2);
}
CASE(parity_of_the_one_before_again, ALONE)
{
    parity_of_the_one_before<fault><<<1, 96>>>(zeros(512), zeros(64), 8);
}

/* The parity that is not turned: from the second round on the wait is for what it has seen. */
template <bool fault> __global__ void parity_not_turned(const int *in, int *out)
{
    __shared__ __align__(128) int tile[64];
    __shared__ uint64_t full;
    const int t = threadIdx.x;
    if (t == 0)
        begin(&full, 1);
    __syncthreads();
    int sum = 0;
    for (int i = 0; i < 2; i++) {
        if (t == 64) {
            expect(&full, sizeof(tile));
            LOAD(tile, in + 64 * i, sizeof(tile), &full);
        }
        if (t < 64) {
            WAIT(&full, fault ? 0 : i);
            sum += tile[t]; // EXPECT: race/async-copy tile
                            // FIX: parity
        }
        __syncthreads();
    }
    if (t < 64)
        out[t] = sum;
}
CASE(parity_not_turned, 0)
{
    parity_not_turned<fault><<<1, 96>>>(zeros(128), zeros(64));
}

/* The wait may be early, and pass, or late, and be for a phase that does not come. */
template <bool fault> __global__ void parity_of_the_next(int *out)
{
    __shared__ int tile[64];
    __shared__ uint64_t full;
    const int t = threadIdx.x;
    if (t == 0)
        begin(&full, 64);
    __syncthreads();
    tile[t] = t;
    arrive(&full);
    __syncthreads();
    WAIT(&full, fault ? 1 : 0); // EXPECT: barrier/mbarrier full
    out[t] = tile[63 - t]; // FIX: parity
}
CASE(parity_of_the_next, ALONE | HANGS)
{
    parity_of_the_next<fault><<<1, 64>>>(zeros(64));
}

/* ---- copies out of shared memory ---- */
template <bool fault> __global__ void no_proxy_fence(int *out)
{
    __shared__ __align__(128) int tile[64];
    const int t = threadIdx.x;
    tile[t] = t; // EXPECT: race/proxy tile
    if (!fault)
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    if (t == 0) {
        STORE(out, tile, sizeof(tile));
        READ_OUT(0);
    }
}
CASE(no_proxy_fence, 0)
{
    int *out = fresh(64);
    no_proxy_fence<fault><<<1, 64>>>(out);
    cudaDeviceSynchronize();
    fetch(out, 64);
}

template <bool fault> __global__ void source_not_ready(int *out)
{
    __shared__ __align__(128) int tile[64];
    const int t = threadIdx.x;
    tile[t] = t; // EXPECT: race/bulk-source tile
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    if (!fault)
        __syncthreads();
    if (t == 63) {
        STORE(out, tile, sizeof(tile));
        READ_OUT(0);
    }
}
CASE(source_not_ready, 0)
{
    source_not_ready<fault><<<1, 64>>>(zeros(64));
}

template <bool fault> __global__ void source_changed(int *out)
{
    __shared__ __align__(128) int tile[64];
    const int t = threadIdx.x;
    for (int i = 0; i < 2; i++) {
        tile[t] = t + i; // EXPECT: race/async-copy tile
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        __syncthreads();
        if (t == 0) {
            STORE(out + 64 * i, tile, sizeof(tile));
            if (!fault)
                READ_OUT(0);
        }
        __syncthreads();
    }
}
CASE(source_changed, 0)
{
    source_changed<fault><<<1, 64>>>(zeros(128));
}

/* Arrival and wait apart: each element is read by its own thread before the wait, and by both neighbours, of whom one is
 * in another warp, behind it; and it is written once all have arrived behind that. */
template <bool fault> __global__ void split_arrival(const int *in, int *out, int rounds)
{
    __shared__ int mem[2][98];
    __shared__ uint64_t bar;
    const int t = threadIdx.x;
    if (t == 0)
        begin(&bar, 96);
    __syncthreads();
    mem[0][t + 1] = in[t];
    if (t == 0)
        mem[0][0] = mem[1][0] = mem[0][97] = mem[1][97] = 0;
    arrive(&bar);
    for (int i = 0; i < rounds; i++) {
        const int mine = mem[i % 2][t + 1];
        WAIT(&bar, i & 1);
        if (fault)
            arrive(&bar);
        mem[1 - i % 2][t + 1] = mem[i % 2][t] + mem[i % 2][t + 2] + mine; // EXPECT: race/* mem
        if (!fault)
            arrive(&bar);
    }
    WAIT(&bar, rounds & 1);
    out[t] = mem[rounds % 2][t + 1];
}
CASE(split_arrival, 0)
{
    split_arrival<fault><<<1, 96>>>(zeros(96), zeros(96), 2);
}
