// waits.cu - warps, lanes and blocks that wait for one another, in every way that people write: each must end, with the
// right result, under every engine and with any number of host threads, and with the same counts. And what can never
// end: it is said where everybody waits. waits.py runs the cases:
//   CASE name: WAITS what of the launch's `waits` must be there (others may be, except in those with "nothing")
//   CASE name: ERROR text that standard error must have; the time limit is short in these
// CASE flag_volatile: WAITS polling parked
// CASE flag_add: WAITS polling parked
// CASE flag_or: WAITS polling parked
// CASE flag_max: WAITS polling parked
// CASE flag_fetch_add: WAITS polling parked
// CASE flag_call: WAITS polling parked
// CASE flag_heap: WAITS polling parked
// CASE flag_print: WAITS polling parked
// CASE flag_switch: WAITS polling parked
// CASE flag_barrier: WAITS parked
// CASE flag_named: WAITS parked
// CASE flag_vote: WAITS parked
// CASE flag_count: WAITS parked
// CASE flag_heartbeat: WAITS polling parked
// CASE flag_counted: WAITS polling parked
// CASE flag_plain: WAITS parked
// CASE flag_warp_plain: WAITS
// CASE ping_pong: WAITS polling parked
// CASE chain: WAITS polling parked
// CASE grid_barrier_cas: WAITS polling parked
// CASE grid_barrier_add: WAITS polling parked
// CASE grid_barrier_exch: WAITS polling parked
// CASE ticket: WAITS
// CASE lane_lock: WAITS swap
// CASE lane_lock_call: WAITS swap
// CASE lock_at_join: WAITS polling apart swap
// CASE queue: WAITS polling
// CASE rounds: WAITS polling parked
// CASE lookback: WAITS
// CASE cas_loop: WAITS swap
// CASE halves: WAITS polling
// CASE ordinary: WAITS nothing
// CASE ordinary_lock_free: WAITS nothing
// CASE ordinary_phases: WAITS nothing
// CASE endless_call: ERROR the launch ran longer than its limit
// CASE endless_call: ERROR warps 0-3 at waits.cu:@endless_call
// CASE endless_barrier: ERROR the launch ran longer than its limit
// CASE endless_vote: ERROR warps 0-3 at waits.cu:@endless_vote
// CASE endless_apart: ERROR block 0: warps 0-1 at waits.cu:@even; block 1: warps 0-1 at waits.cu:@odd
// CASE endless_recursion: ERROR the launch ran longer than its limit
// CASE endless_heap: ERROR the launch ran longer than its limit
// CASE endless_sums: ERROR the launch ran longer than its limit
// CASE too_many: ERROR 36 more blocks have not begun, for no more than 264 fit on the device at once
// CASE deadlock_barriers: ERROR warp 0 at waits.cu:@first (barrier 1), warps 1-2 at waits.cu:@second (barrier 2)
// CASE deadlock_warp: ERROR deadlock: lanes
#include <cstdio>
#include <cstring>
#include <cuda/atomic>

__device__ __noinline__ int peek(volatile int *f) { return *f; }
__device__ __noinline__ int more(int x) { return x * 3 + 1; }
__device__ __noinline__ int try_lock(int *lock) { return atomicCAS(lock, 0, 1); }

// Block 0 waits for the last block, which gives.
enum { VOLATILE, ADD, OR, MAX, FETCH_ADD, CALL, HEAP, PRINT, SWITCH, BARRIER, NAMED, VOTE, COUNT, HEARTBEAT, COUNTED, PLAIN };
template <int how> __global__ void flag(int *f, int *out)
{
    __shared__ int seen;
    volatile int *v = f;
    int n = 0, t = threadIdx.x;
    if (blockIdx.x == gridDim.x - 1) {
        if (t == 0) atomicExch(f, 1);
        return;
    }
    if (blockIdx.x != 0) return;
    for (bool ready = false; !ready;) {
        if (how == VOLATILE) ready = *v != 0;
        if (how == ADD) ready = atomicAdd(f, 0) != 0;
        if (how == OR) ready = atomicOr(f, 0) != 0;
        if (how == MAX) ready = atomicMax(f, -1) != 0;
        if (how == FETCH_ADD) ready = cuda::atomic_ref<int, cuda::thread_scope_device>(*f).fetch_add(0) != 0;
        if (how == CALL) ready = peek(v) != 0, n = more(n);
        if (how == HEAP) ready = *v != 0, free(malloc(16));
        if (how == PRINT) { ready = *v != 0; if (ready && t == 77) printf("ready\n"); }
        if (how == SWITCH) {
            ready = *v != 0;
            switch (n++ % 9) { case 0: n += 2; break; case 1: n ^= 8; break; case 3: n *= 5; break; case 4: n += out[200]; break;
                               case 5: n |= 64; break; case 7: n = ~n & 1023; break; case 8: n >>= 1; }
        }
        if (how == BARRIER) {
            if (t == 0) seen = *v;
            __syncthreads();
            ready = seen != 0;
            __syncthreads();
        }
        if (how == NAMED) {
            if (t == 0) seen = *v;
            asm volatile("bar.sync 3, 128;" ::: "memory");
            ready = seen != 0;
            asm volatile("bar.sync 3, 128;" ::: "memory");
        }
        if (how == VOTE) ready = __syncthreads_or(*v);
        if (how == COUNT) ready = __syncthreads_count(*v) == 128;
        if (how == HEARTBEAT) *(volatile int *)(f + 8) = n++, ready = *v != 0;
        if (how == COUNTED) atomicAdd(f + 8, 1), ready = *v != 0;
        if (how == PLAIN) { // no instruction that says that it waits
            ready = f[0] != 0;
            __syncthreads();
        }
    }
    out[t] = 1 + (n == -1);
}

// Warp 0 waits in a loop of plain loads for a word that the last warp writes.
__global__ void flag_warp_plain(int *f, int *out)
{
    __shared__ int word;
    if (threadIdx.x == 0) word = 0;
    __syncthreads();
    int seen = 0;
    if (threadIdx.x < 32)
        do asm volatile("ld.shared.u32 %0, [%1];" : "=r"(seen) : "r"((unsigned)__cvta_generic_to_shared(&word)) : "memory");
        while (!seen);
    else if (threadIdx.x == blockDim.x - 1)
        asm volatile("st.shared.u32 [%0], 1;" ::"r"((unsigned)__cvta_generic_to_shared(&word)) : "memory");
    out[threadIdx.x] = 1;
}

__global__ void ping_pong(volatile int *turn, int *out, int rounds)
{
    if (threadIdx.x == 0)
        for (int k = 0; k < rounds; k++) {
            while (*turn % gridDim.x != blockIdx.x) { }
            __threadfence();
            *turn = *turn + 1;
        }
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

// Each block waits for the one behind it.
__global__ void chain(volatile int *done, int *out)
{
    if (threadIdx.x == 0) {
        while (blockIdx.x + 1 < gridDim.x && !done[blockIdx.x + 1]) { }
        __threadfence();
        done[blockIdx.x] = 1;
    }
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

template <int how> __global__ void grid_barrier(int *f, int *out, int rounds)
{
    for (int k = 1; k <= rounds; k++) {
        atomicAdd(f + 64 + k, 1);
        __syncthreads();
        if (threadIdx.x == 0) {
            __threadfence();
            if (how == 0) {
                atomicAdd(f, 1);
                while (atomicCAS(f, -1, -1) < k * (int)gridDim.x) { }
            } else if (how == 1) {
                atomicAdd(f, 1);
                while (atomicAdd(f, 0) < k * (int)gridDim.x) __nanosleep(20);
            } else {
                while (atomicExch(f + 1, 1)) { }
                f[2] = *(volatile int *)(f + 2) + 1;
                __threadfence();
                atomicExch(f + 1, 0);
                while (*(volatile int *)(f + 2) < k * (int)gridDim.x) { }
            }
            __threadfence();
        }
        __syncthreads();
        if (*(volatile int *)(f + 64 + k) != gridDim.x * blockDim.x) return; // somebody went ahead
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

__global__ void ticket(unsigned *next, volatile unsigned *serving, volatile int *value, int *out)
{
    if (threadIdx.x % 32 == 0)
        for (int k = 0; k < 5; k++) {
            unsigned my = atomicAdd(next, 1);
            while (*serving != my) { }
            *value = *value + 1;
            __threadfence();
            *serving = my + 1;
        }
    __syncwarp();
    out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

template <bool call> __global__ void lane_lock(int *lock, volatile int *value, int *out)
{
    for (bool done = false; !done;)
        if ((call ? try_lock(lock) : atomicCAS(lock, 0, 1)) == 0) {
            *value = *value + 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

// The lane with the lock leaves the loop, and would wait where all leave it.
__global__ void lock_at_join(int *lock, volatile int *value, int *out)
{
    while (atomicCAS(lock, 0, 1)) { }
    *value = *value + 1;
    __threadfence();
    atomicExch(lock, 0);
    out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

// Persistent threads: items make items, until as many are done as there are.
__global__ void queue(int *f, int *items, int *out, int total)
{
    for (;;) {
        if (*(volatile int *)(f + 2) >= total) break;
        int mine = -1, head = *(volatile int *)(f + 1);
        if (threadIdx.x % 32 == 0 && head < *(volatile int *)f && atomicCAS(f + 1, head, head + 1) == head) mine = head;
        if (mine >= 0) {
            while (!((volatile int *)items)[mine]) { }
            for (int k = 1; k <= 2; k++)
                if (2 * mine + k < total) {
                    int at = atomicAdd(f, 1);
                    ((volatile int *)items)[at] = 1;
                }
            __threadfence();
            atomicAdd(f + 2, 1);
        }
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

// Rounds of work over several items a thread, each waiting for another's, with stores in each round.
__global__ void rounds(volatile int *state, int *beats, int *out, int n)
{
    bool again;
    do {
        again = false;
        for (int v = threadIdx.x + blockIdx.x * blockDim.x; v < n; v += gridDim.x * blockDim.x) {
            if (state[v]) continue;
            beats[v]++;
            if (state[(v + 37) % n]) state[v] = 1;
            else again = true;
        }
    } while (again);
    out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

__global__ void lookback(int *order, volatile int *sums, int *out)
{
    __shared__ int tile;
    if (threadIdx.x == 0) tile = atomicAdd(order, 1);
    __syncthreads();
    if (threadIdx.x == 0) {
        int before = 0;
        if (tile)
            while ((before = sums[tile - 1]) == 0) { }
        sums[tile] = before + 1;
    }
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = sums[tile] == tile + 1;
}

__global__ void cas_loop(unsigned long long *sum, int *out)
{
    unsigned long long old = *sum, seen;
    do {
        seen = old;
        old = atomicCAS(sum, seen, (unsigned long long)__double_as_longlong(__longlong_as_double(seen) + 1));
    } while (old != seen);
    out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

// Odd lanes wait for lane 0, on the other side of a branch.
__global__ void halves(int *f, int *out)
{
    if (threadIdx.x & 1)
        while (atomicAdd(f + blockIdx.x, 0) == 0) { }
    else if (threadIdx.x == 0)
        atomicExch(f + blockIdx.x, 1);
    out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}

// What does not wait: long loops of lanes that diverge, tickets, volatile accesses, many barriers.
__global__ void ordinary(const int *in, int *out)
{
    unsigned x = threadIdx.x + blockIdx.x;
    if (threadIdx.x % 32 == 5)
        for (int k = 0; k < 200000; k++) x = x * 1664525u + (unsigned)in[x & 255];
    else
        for (unsigned k = 0; k < 100 + threadIdx.x; k++) x ^= x << 3;
    out[blockIdx.x * blockDim.x + threadIdx.x] = 1 + (x == 12345u && in[0] == 7);
}
__global__ void ordinary_lock_free(int *f, int *out)
{
    for (int k = 0; k < 300; k++)
        if (atomicAdd(f, 1) < 0) out[0] = 7;
    out[blockIdx.x * blockDim.x + threadIdx.x] = 1;
}
__global__ void ordinary_phases(int *out)
{
    volatile __shared__ int s[128];
    s[threadIdx.x] = 1;
    __syncthreads();
    for (int k = 0; k < 2000; k++) {
        int x = s[(threadIdx.x + k) % 128];
        __syncthreads();
        s[threadIdx.x] = x;
        __syncthreads();
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = s[threadIdx.x];
}

__global__ void endless_call(volatile int *f, int *out)
{
    while (!peek(f)) out[0] = more(out[0]); // @endless_call
}
__global__ void endless_barrier(int *f, int *out)
{
    for (;;) {
        if (threadIdx.x == 0) f[1]++;
        __syncthreads();
        if (f[1] < 0) break;
        __syncthreads();
    }
    out[0] = 1;
}
__global__ void endless_vote(int *f, int *out)
{
    while (!__syncthreads_or(f[0])) { } // @endless_vote
    out[0] = 1;
}
__global__ void endless_apart(int *f, int *out) // each block on a worker of its own, if there are enough
{
    if (blockIdx.x % 2)
        while (!__syncthreads_or(f[0])) { } // @odd
    else
        while (!__syncthreads_or(f[1])) { } // @even
    out[0] = 1;
}
__device__ int tree(int n) { return n < 2 ? n : tree(n - 1) + tree(n - 2); }
__global__ void endless_recursion(int *f, int *out) { out[0] = tree(60 + f[0]); }
__global__ void endless_heap(volatile int *f, int *out)
{
    while (!*f) free(malloc(16));
    out[0] = 1;
}
__global__ void endless_sums(int *f, int *out)
{
    for (unsigned n = threadIdx.x;; n = n * 3 + 1)
        if (f[n % 64] == 77) out[n % 64] = 1;
}
__global__ void deadlock_barriers(int *out)
{
    if (threadIdx.x < 32) asm volatile("bar.sync 1, 128;"); // @first
    else if (threadIdx.x < 96) asm volatile("bar.sync 2, 128;"); // @second
    out[threadIdx.x] = 1;
}
__global__ void deadlock_warp(int *out)
{
    if (threadIdx.x < 16) out[0] = __shfl_sync(~0u, out[1], 0);
    else if (threadIdx.x < 32) out[2] = __ballot_sync(~0u, out[3]);
    out[threadIdx.x] = 1;
}

static int *f, *out;
static int checked(int n)
{
    static int h[1 << 17];
    cudaError_t e = cudaDeviceSynchronize();
    int right = 0;
    cudaMemcpy(h, out, n * sizeof *h, cudaMemcpyDeviceToHost);
    for (int i = 0; i < n; i++) right += h[i] == 1;
    printf("%s, %d of %d\n", cudaGetErrorName(e), right, n);
    return e != cudaSuccess || right != n;
}
static int word(int i)
{
    int v;
    cudaMemcpy(&v, f + i, sizeof v, cudaMemcpyDeviceToHost);
    return v;
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "";
    cudaMalloc(&f, 1 << 20), cudaMemset(f, 0, 1 << 20);
    cudaMalloc(&out, 1 << 20), cudaMemset(out, 0, 1 << 20);
#define IS(name) if (!strcmp(what, #name))
    IS(flag_volatile) return flag<VOLATILE><<<3, 128>>>(f, out), checked(128);
    IS(flag_add) return flag<ADD><<<3, 128>>>(f, out), checked(128);
    IS(flag_or) return flag<OR><<<3, 128>>>(f, out), checked(128);
    IS(flag_max) return flag<MAX><<<3, 128>>>(f, out), checked(128);
    IS(flag_fetch_add) return flag<FETCH_ADD><<<3, 128>>>(f, out), checked(128);
    IS(flag_call) return flag<CALL><<<3, 128>>>(f, out), checked(128);
    IS(flag_heap) return flag<HEAP><<<3, 128>>>(f, out), checked(128);
    IS(flag_print) return flag<PRINT><<<3, 128>>>(f, out), checked(128);
    IS(flag_switch) return flag<SWITCH><<<3, 128>>>(f, out), checked(128);
    IS(flag_barrier) return flag<BARRIER><<<3, 128>>>(f, out), checked(128);
    IS(flag_named) return flag<NAMED><<<3, 128>>>(f, out), checked(128);
    IS(flag_vote) return flag<VOTE><<<3, 128>>>(f, out), checked(128);
    IS(flag_count) return flag<COUNT><<<3, 128>>>(f, out), checked(128);
    IS(flag_heartbeat) return flag<HEARTBEAT><<<3, 128>>>(f, out), checked(128);
    IS(flag_counted) return flag<COUNTED><<<3, 128>>>(f, out), checked(128);
    IS(flag_plain) return flag<PLAIN><<<3, 64>>>(f, out), checked(64);
    IS(flag_warp_plain) return flag_warp_plain<<<1, 96>>>(f, out), checked(96);
    IS(ping_pong) return ping_pong<<<4, 64>>>(f, out, 20), checked(256) | (word(0) != 80);
    IS(chain) return chain<<<40, 64>>>(f, out), checked(2560);
    IS(grid_barrier_cas) return grid_barrier<0><<<20, 64>>>(f, out, 5), checked(1280);
    IS(grid_barrier_add) return grid_barrier<1><<<20, 64>>>(f, out, 5), checked(1280);
    IS(grid_barrier_exch) return grid_barrier<2><<<20, 64>>>(f, out, 5), checked(1280);
    IS(ticket) return ticket<<<4, 128>>>((unsigned *)f, (unsigned *)f + 32, f + 64, out), checked(512) | (word(64) != 80);
    IS(lane_lock) return lane_lock<false><<<3, 64>>>(f, f + 64, out), checked(192) | (word(64) != 192);
    IS(lane_lock_call) return lane_lock<true><<<3, 64>>>(f, f + 64, out), checked(192) | (word(64) != 192);
    IS(lock_at_join) return lock_at_join<<<2, 64>>>(f, f + 64, out), checked(128) | (word(64) != 128);
    IS(queue) {
        int one = 1;
        cudaMemcpy(f, &one, 4, cudaMemcpyHostToDevice), cudaMemcpy(f + 1024, &one, 4, cudaMemcpyHostToDevice);
        return queue<<<3, 64>>>(f, f + 1024, out, 200), checked(192) | (word(2) != 200);
    }
    IS(rounds) {
        int ones[40];
        for (int &x : ones) x = 1;
        cudaMemcpy(f, ones, sizeof ones, cudaMemcpyHostToDevice);
        return rounds<<<4, 64>>>(f, f + 4096, out, 1024), checked(256);
    }
    IS(lookback) return lookback<<<50, 64>>>(f, f + 64, out), checked(3200);
    IS(cas_loop) return cas_loop<<<4, 64>>>((unsigned long long *)f, out), checked(256);
    IS(halves) return halves<<<3, 64>>>(f, out), checked(192);
    IS(ordinary) return ordinary<<<3, 64>>>(f, out), checked(192);
    IS(ordinary_lock_free) return ordinary_lock_free<<<3, 64>>>(f, out), checked(192);
    IS(ordinary_phases) return ordinary_phases<<<3, 128>>>(out), checked(384);
    IS(endless_call) return endless_call<<<2, 128>>>(f, out), checked(1);
    IS(endless_barrier) return endless_barrier<<<2, 128>>>(f, out), checked(1);
    IS(endless_vote) return endless_vote<<<2, 128>>>(f, out), checked(1);
    IS(endless_recursion) return endless_recursion<<<2, 32>>>(f, out), checked(1);
    IS(endless_apart) return endless_apart<<<2, 64>>>(f, out), checked(1);
    IS(endless_heap) return endless_heap<<<2, 64>>>(f, out), checked(1);
    IS(endless_sums) return endless_sums<<<2, 64>>>(f, out), checked(1);
    IS(too_many) return grid_barrier<1><<<300, 1024>>>(f, out, 1), checked(1);
    IS(deadlock_barriers) return deadlock_barriers<<<2, 96>>>(out), checked(96);
    IS(deadlock_warp) return deadlock_warp<<<1, 64>>>(out), checked(64);
    return 2;
}
