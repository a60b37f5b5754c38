/* meet_in_calls.cu - warps whose lanes come to a shuffle by different calls of the function that has it: lane 0 has waited for
 * another warp meanwhile. All lanes name all lanes, and each set of them does it once. */
#include <cstdio>

enum { ROUNDS = 40, WARPS = 4 };

static __device__ __noinline__ unsigned sum(unsigned v)
{
    for (int d = 16; d; d /= 2)
        v += __shfl_xor_sync(~0u, v, d);
    return v;
}
static __device__ __noinline__ bool most(bool yes)
{
    return __popc(__ballot_sync(~0u, yes)) > 16;
}
static __device__ __noinline__ unsigned long long first(unsigned long long v)
{
    return __shfl_sync(~0u, v, 0);
}

/* Round by round each warp adds to a number that it has from the one before it. */
__global__ void relay(volatile unsigned long long *number, volatile unsigned *turn)
{
    const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
    for (unsigned round = 0; round < ROUNDS; round++) {
        unsigned long long now = 0;
        if (lane == 0) {
            while (*turn != round * WARPS + warp)
                ;
            __threadfence();
            now = *number;
        }
        now = first(now);
        const unsigned part = sum(lane * (round + 1) + (unsigned)(now % 7));
        const bool many = most((now + lane) % 3 == 0 || lane < round % 32);
        if (lane == 0) {
            *number = now * 3 + part + many;
            __threadfence();
            *turn = round * WARPS + warp + 1;
        }
        __syncwarp();
    }
}

int main()
{
    unsigned long long *number, got, now = 1;
    unsigned *turn;
    cudaMalloc(&number, sizeof got);
    cudaMalloc(&turn, sizeof *turn);
    cudaMemcpy(number, &now, sizeof now, cudaMemcpyHostToDevice);
    cudaMemset(turn, 0, sizeof *turn);
    relay<<<1, 32 * WARPS>>>(number, turn);
    if (cudaMemcpy(&got, number, sizeof got, cudaMemcpyDeviceToHost) != cudaSuccess) {
        printf("%s\n", cudaGetErrorString(cudaGetLastError()));
        return 1;
    }
    for (unsigned k = 0; k < ROUNDS * WARPS; k++) {
        const unsigned round = k / WARPS;
        unsigned part = 0, yes = 0;
        for (unsigned lane = 0; lane < 32; lane++) {
            part += lane * (round + 1) + (unsigned)(now % 7);
            yes += (now + lane) % 3 == 0 || lane < round % 32;
        }
        now = now * 3 + part + (yes > 16);
    }
    cudaFree(number);
    cudaFree(turn);
    if (got != now)
        printf("%llx, and not %llx\n", got, now);
    else
        puts("PASS");
    return got != now;
}
