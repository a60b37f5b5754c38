/* registers.cu - setmaxnreg: registers that warpgroups give to others, as producers do to consumers. sm_90a. */
#include "async.cuh"

#define DEC(n) asm volatile("setmaxnreg.dec.sync.aligned.u32 " #n ";" ::: "memory")
#define INC(n) asm volatile("setmaxnreg.inc.sync.aligned.u32 " #n ";" ::: "memory")

/* Of 384 threads each begins with 168: what the producers do not give back, the consumers wait for. */
template <bool fault> __global__ void __launch_bounds__(384, 1) producers_keep_theirs(int *out)
{
    const int group = threadIdx.x / 128;
    if (group == 0) {
        if (!fault)
            DEC(40);
        out[threadIdx.x] = 1;
    } else {
        INC(232); // EXPECT: barrier/setmaxnreg-waits
        out[threadIdx.x] = 2;
    }
}
CASE(producers_keep_theirs, HANGS)
{
    producers_keep_theirs<fault><<<1, 384>>>(zeros(384));
}

/* Two consumers of 240 are more than there are, whatever the producers give. */
template <bool fault> __global__ void __launch_bounds__(384, 1) too_much_for_two(int *out)
{
    if (threadIdx.x / 128 == 0) {
        DEC(40);
        out[threadIdx.x] = 1;
    } else {
        if (fault)
            INC(240); // EXPECT: barrier/setmaxnreg-waits
        else
            INC(232);
        out[threadIdx.x] = 2;
    }
}
CASE(too_much_for_two, HANGS)
{
    too_much_for_two<fault><<<1, 384>>>(zeros(384));
}

#define MEET() asm volatile("bar.sync 1, 256;" ::: "memory")
/* They are given back behind a barrier that those who wait for them must come to. */
template <bool fault> __global__ void __launch_bounds__(256, 2) given_back_too_late(int *out)
{
    __shared__ int of_producers[128];
    if (threadIdx.x < 128) {
        if (!fault)
            DEC(40);
        of_producers[threadIdx.x] = threadIdx.x;
        MEET();
        if (fault)
            DEC(40);
    } else {
        INC(208); // EXPECT: barrier/setmaxnreg-waits
        MEET();
        out[threadIdx.x - 128] = of_producers[threadIdx.x - 128];
    }
}
CASE(given_back_too_late, HANGS)
{
    given_back_too_late<fault><<<1, 256>>>(zeros(128));
}

/* Likewise, and it is an mbarrier that they wait at. */
template <bool fault> __global__ void __launch_bounds__(256, 2) given_back_behind_a_phase(int *out)
{
    __shared__ uint64_t ready;
    if (threadIdx.x == 0)
        begin(&ready, 128);
    __syncthreads();
    if (threadIdx.x < 128) {
        if (fault)
            WAIT(&ready, 0);
        DEC(24);
        WAIT(&ready, 0);
        out[threadIdx.x] = 1;
    } else {
        INC(224); // EXPECT: barrier/setmaxnreg-waits
        ARRIVE(&ready);
        out[threadIdx.x] = 2;
    }
}
CASE(given_back_behind_a_phase, HANGS)
{
    given_back_behind_a_phase<fault><<<1, 256>>>(zeros(256));
}

/* The warp that copies goes on alone. */
template <bool fault> __global__ void __launch_bounds__(256, 1) one_warp_of_four(int *out)
{
    if (threadIdx.x < (fault ? 32 : 128)) {
        DEC(40); // EXPECT: barrier/setmaxnreg-group
        out[256 * blockIdx.x + threadIdx.x] = 1;
    }
}
CASE(one_warp_of_four, 0)
{
    one_warp_of_four<fault><<<3, 256>>>(zeros(768));
}

/* Three of them have returned before. */
template <bool fault> __global__ void __launch_bounds__(256, 1) others_returned(int *out)
{
    if (fault && threadIdx.x > 127 && threadIdx.x < 224)
        return;
    if (threadIdx.x >= 128) {
        DEC(64); // EXPECT: barrier/setmaxnreg-group
        out[threadIdx.x] = 1;
    }
}
CASE(others_returned, 0)
{
    others_returned<fault><<<1, 256>>>(zeros(256));
}

/* A ninth warp copies: it is no warpgroup. */
template <bool fault> __global__ void __launch_bounds__(384, 1) ninth_warp(int *out)
{
    if (threadIdx.x >= 256) {
        DEC(40); // EXPECT: barrier/setmaxnreg-group
        out[threadIdx.x] = 1;
    }
}
CASE(ninth_warp, 0)
{
    ninth_warp<fault><<<1, fault ? 288 : 384>>>(zeros(384));
}

/* What was 40 does not decrease to 80. */
template <bool fault> __global__ void __launch_bounds__(256, 1) up_by_dec(int *out)
{
    if (threadIdx.x < 128) {
        DEC(40);
        out[threadIdx.x] = 1;
        if (fault)
            DEC(80); // EXPECT: barrier/setmaxnreg-direction
        else
            INC(80);
        out[threadIdx.x] += 2;
    }
}
CASE(up_by_dec, 0)
{
    up_by_dec<fault><<<1, 256>>>(zeros(128));
}

/* For the part behind the loop, which needs few again. */
template <bool fault> __global__ void __launch_bounds__(256, 1) down_by_inc(int *out)
{
    if (threadIdx.x < 128) {
        DEC(40);
    } else {
        INC(240);
        out[threadIdx.x] = 1;
        if (fault)
            INC(96); // EXPECT: barrier/setmaxnreg-direction
        else
            DEC(96);
        out[threadIdx.x] += 2;
    }
}
CASE(down_by_inc, 0)
{
    down_by_inc<fault><<<1, 256>>>(zeros(256));
}

/* Without the minimum of blocks ptxas does not know what a thread begins with. */
template <bool fault> __global__ void __launch_bounds__(256, fault ? 0 : 1) begins_with_what(int *out)
{
    if (threadIdx.x < 128)
        DEC(40); // EXPECT: barrier/setmaxnreg-ignored
    else
        INC(216); // EXPECT: barrier/setmaxnreg-ignored
    out[threadIdx.x] = 1;
}
CASE(begins_with_what, 0)
{
    begins_with_what<fault><<<1, 256>>>(zeros(256));
}

/* Tile after tile, in turns: what one group gives back the other takes, as the mbarriers say. */
template <bool fault> __global__ void __launch_bounds__(256, 2) in_turns(int *out)
{
    __shared__ uint64_t turn[2];
    const int group = threadIdx.x / 128, tiles = 4;
    if (threadIdx.x < 2)
        begin(&turn[threadIdx.x], 128);
    __syncthreads();
    if (fault)
        DEC(128);
    else
        DEC(64);
    if (group == 0)
        ARRIVE(&turn[0]);
    for (int k = 0; k < tiles; k++) {
        WAIT(&turn[group], k & 1);
        INC(192); // EXPECT: barrier/setmaxnreg-waits
        out[threadIdx.x] = k;
        if (fault)
            DEC(128);
        else
            DEC(64);
        ARRIVE(&turn[group ^ 1]);
    }
}
CASE(in_turns, HANGS)
{
    in_turns<fault><<<1, 256>>>(zeros(256));
}
