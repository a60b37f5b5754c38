#!/usr/bin/env python3
"""test_fixes.py - what margay check says to do, and where: MARGAY NVCC

Each kernel below has one cause. Of it there must be one finding, of the kind that stands in its comment, and the fix must be the
sentence behind: @A and @B stand for the numbers of the lines that end in // A and // B. What the finding says of the cause has the
words of a comment "says:", if there is one. Memory that a fault leaves behind is no leak.
"""
import json
import os
import re
import subprocess
import sys
import tempfile

PROGRAM = """\
#include <cstdio>
#include <cstdlib>
#include <cooperative_groups.h>
// clear_then_count: race/write-write Put a __syncthreads() between line @A and line @B.
__global__ void clear_then_count(unsigned *out)
{
    __shared__ unsigned bins[256];
    bins[threadIdx.x] = 0; // A
    atomicAdd(&bins[threadIdx.x * 7 % 256], 1); // B
    __syncthreads();
    out[threadIdx.x] = bins[threadIdx.x];
}
// neighbour: race/write-read Put a __syncthreads() between line @A and line @B.
__global__ void neighbour(unsigned *out)
{
    __shared__ unsigned tile[256];
    tile[threadIdx.x] = threadIdx.x; // A
    out[threadIdx.x] = tile[255 - threadIdx.x]; // B
}
// next_round: race/read-write Put a __syncthreads() at the end of the loop's body: line @B of one round and line @A of the next have \
nothing between them.
__global__ void next_round(unsigned *out)
{
    __shared__ unsigned tile[256];
    unsigned sum = 0;
    for (int round = 0; round < 4; round++) {
        tile[threadIdx.x] = round * threadIdx.x; // A
        __syncthreads();
        sum += tile[255 - threadIdx.x]; // B
    }
    out[threadIdx.x] = sum;
}
// by_all_blocks: race/same-value Let one block write it: if (blockIdx.x == 0). Others may read it after the launch. A flag that any may raise: atomicOr.
__global__ void by_all_blocks(unsigned *out)
{
    out[threadIdx.x] = 1; // A
}
// by_all_threads: race/same-value Let one thread write it: if (threadIdx.x == 0), and a __syncthreads() before it is read. A flag that any may raise: atomicOr.
__global__ void by_all_threads(unsigned *out)
{
    if (blockIdx.x == 0)
        out[0] = 1; // A
}
// in_branch: barrier/left Move the __syncthreads() of line @A behind the branch that it stands in: every thread of the block must \
come to it.
__global__ void in_branch(unsigned *out)
{
    __shared__ unsigned sums[256];
    sums[threadIdx.x] = threadIdx.x;
    __syncthreads();
    for (unsigned i = 128; i; i /= 2)
        if (threadIdx.x < i) {
            sums[threadIdx.x] += sums[threadIdx.x + i];
            __syncthreads(); // A
        }
    if (threadIdx.x == 0)
        out[blockIdx.x] = sums[0];
}
// early_return: barrier/left Do not return before the barrier of line @A: keep the thread, and put its work under the condition.
__global__ void early_return(unsigned *out)
{
    __shared__ unsigned tile[256];
    if (threadIdx.x >= 224)
        return;
    tile[threadIdx.x] = threadIdx.x;
    __syncthreads(); // A
    out[threadIdx.x] = tile[223 - threadIdx.x];
}
// counter: race/read-write Use an atomic operation (atomicAdd, atomicOr, atomicCAS) for what is read, changed and written back.
__global__ void counter(unsigned *out)
{
    __shared__ unsigned n;
    if (threadIdx.x == 0)
        n = 0;
    __syncthreads();
    if (threadIdx.x % 32 == 0)
        n += 1; // A
    __syncthreads();
    out[threadIdx.x] = n;
}
// leave_a_loop: barrier/not-reached Let all threads leave the loop together: let each come to the __syncthreads() of line @A in every \
round, with its work under the condition, and leave when __syncthreads_or says that none has any left.
__global__ void leave_a_loop(unsigned *out)
{
    __shared__ unsigned tile[256];
    unsigned sum = 0;
    tile[threadIdx.x] = threadIdx.x;
    __syncthreads();
    for (unsigned round = 0; round < 16; round++) {
        if (sum > threadIdx.x / 32 * 300)
            break;
        sum += tile[round * 16 + 15];
        __syncthreads(); // A
    }
    out[threadIdx.x] = sum;
}
// ticket: race/write-read Put a __syncthreads() between line @A and line @B.
__global__ void ticket(unsigned *out)
{
    __shared__ unsigned taken;
    if (threadIdx.x == 0) taken = atomicAdd(out + 1000, 1); // A
    unsigned mine = taken; // B
    out[threadIdx.x] = mine;
}
// first_thread: race/write-read Put a __syncthreads() between line @A and line @B, behind the branch that line @A stands in.
__global__ void first_thread(unsigned *out)
{
    __shared__ unsigned head[4];
    if (threadIdx.x == 0) {
        const unsigned n = out[1000];
        head[n % 4] = n; // A
        out[1001] = n;
    }
    out[threadIdx.x] = head[0] + 1; // B
}
// last_warp: race/write-read Put a __syncthreads() between line @A and line @B, in front of the branch that line @B stands in.
__global__ void last_warp(unsigned *out)
{
    __shared__ unsigned tile[256];
    tile[threadIdx.x] = threadIdx.x; // A
    if (threadIdx.x >= 224) {
        const unsigned n = out[1000] % 32;
        out[threadIdx.x] = tile[threadIdx.x - 224 + n]; // B
    }
}
// filled_by_a_loop: race/write-read Put a __syncthreads() between line @A and line @B, behind the loop that line @A stands in.
__global__ void filled_by_a_loop(unsigned *out)
{
    __shared__ unsigned tile[1024];
    for (unsigned i = threadIdx.x; i < out[1000] + 1024; i += 256) {
        const unsigned v = out[i] + i;
        tile[i] = v; // A
    }
    out[threadIdx.x] = tile[1023 - threadIdx.x]; // B
}
// no_grid_barrier: race/blocks-write-read Put a grid.sync() between line @A and line @B.
__global__ void no_grid_barrier(unsigned *out)
{
    const auto grid = cooperative_groups::this_grid();
    out[1024 + grid.thread_rank()] = out[grid.thread_rank()]; // A
    out[512 + grid.thread_rank()] = out[1024 + (grid.thread_rank() + 64) % 256]; // B
}
// block_barrier: race/blocks-write-read Put a grid.sync() between line @A and line @B. The __syncthreads() there is for the threads of \
one block alone.
__global__ void block_barrier(unsigned *out)
{
    const auto grid = cooperative_groups::this_grid();
    out[1024 + grid.thread_rank()] = out[grid.thread_rank()]; // A
    __syncthreads();
    out[512 + grid.thread_rank()] = out[1024 + (grid.thread_rank() + 64) % 256]; // B
}
// grid_rounds: race/blocks-read-write Put a grid.sync() at the end of the loop's body: line @B of one round and line @A of the next \
have nothing between them.
__global__ void grid_rounds(unsigned *out)
{
    const auto grid = cooperative_groups::this_grid();
    unsigned sum = 0;
    for (unsigned round = 0; round < out[0] + 4; round++) {
        out[1024 + grid.thread_rank()] = round; // A
        grid.sync();
        sum += out[1024 + (grid.thread_rank() + 64) % 256]; // B
    }
    out[512 + grid.thread_rank()] = sum;
}
// no_memory: bounds/null A pointer argument is null, or an index was added to a null pointer.
__global__ void no_memory(unsigned *out)
{
    out[threadIdx.x] = 1; // A
}
__global__ void passes_on(unsigned *to, const unsigned *from)
{
    to[threadIdx.x] = from[threadIdx.x];
}
// decides: init/global Copy to it, cudaMemset it or write it in a kernel first; cudaMalloc does not clear memory.
// says: where passes_on has copied in line
__global__ void decides(const unsigned *from, unsigned *out)
{
    if (from[threadIdx.x] > 7) // A
        out[threadIdx.x] = 1;
}
__global__ void launched_alone(unsigned *out)
{
    cooperative_groups::this_grid().sync();
    out[threadIdx.x] = 1;
}
template <typename K> static void together(K *kernel, unsigned *out)
{
    void *args[] = {&out};
    cudaLaunchCooperativeKernel((void *)kernel, dim3(4), dim3(64), args, 0, 0);
}
// scan_in_place: race/read-write Read into a variable first, let all threads come to a __syncthreads(), outside of any branch, and write \
behind it; or write to a second buffer.
__global__ void scan_in_place(unsigned *out)
{
    __shared__ unsigned sums[256];
    sums[threadIdx.x] = threadIdx.x;
    __syncthreads();
    for (unsigned d = 1; d < 256; d *= 2) {
        if (threadIdx.x >= d)
            sums[threadIdx.x] += sums[threadIdx.x - d];
        __syncthreads();
    }
    out[threadIdx.x] = sums[threadIdx.x];
}
// unrolled_rounds: race/write-write Put a __syncthreads() at the end of the loop's body: line @A of one round and of the next have \
nothing between them.
__global__ void unrolled_rounds(volatile unsigned *out)
{
    __shared__ unsigned tile[256];
#pragma unroll
    for (unsigned round = 0; round < 4; round++) {
        unsigned v = out[round * 256 + threadIdx.x] + round;
        tile[(threadIdx.x + 32 * round) % 256] = v; // A
    }
    __syncthreads();
    out[threadIdx.x] = tile[threadIdx.x];
}
// loops_in_a_loop: race/write-read Put a __syncthreads() between line @A and line @B, behind the loop that line @A stands in, in front \
of the loop that line @B stands in.
__global__ void loops_in_a_loop(unsigned *out, unsigned n)
{
    extern __shared__ unsigned sums[];
    unsigned sum = 0;
    for (unsigned step = 0; step < n; step++) {
        for (unsigned i = threadIdx.x; i < n; i += 256)
            sums[i] = i + step; // A
        for (unsigned i = threadIdx.x; i < n; i += 256)
            if (i != step)
                sum += sums[n - 1 - i]; // B
        __syncthreads();
    }
    out[threadIdx.x] = sum;
}
// kept_by_the_writer: race/write-read Put a __syncthreads() between line @A and line @B, behind the branch that line @A stands in.
__global__ void kept_by_the_writer(unsigned *out, unsigned n)
{
    __shared__ unsigned last;
    unsigned sum = 0;
    for (unsigned step = 0; step < n; step++) {
        if (threadIdx.x == 255)
            last = sum + step; // A
        sum += last; // B
        __syncthreads();
    }
    out[threadIdx.x] = sum;
}
// read_by_others: race/in-step Put a __syncwarp() between the two accesses: since compute capability 7.0 lanes need not run in step.
__global__ void read_by_others(unsigned *out)
{
    __shared__ unsigned tile[64];
    tile[threadIdx.x] = threadIdx.x;
    __syncwarp();
    unsigned v = tile[(threadIdx.x + 1) % 32];
    tile[threadIdx.x] += v;
    out[threadIdx.x] = tile[threadIdx.x];
}
// arrives_again: barrier/same-number Let who arrives (bar.arrive) wait, at a barrier of another number, until those that wait here have \
come, before it arrives again.
// says: which has opened for arrivals alone
__global__ void arrives_again(unsigned *out)
{
    if (threadIdx.x < 32) {
        for (unsigned k = 0; k < 3; k++)
            asm volatile("bar.arrive 1, 64;" ::: "memory");
    } else {
        asm volatile("bar.sync 1, 64;" ::: "memory");
    }
    out[threadIdx.x] = 1;
}
// half_comes: barrier/not-reached A named barrier opens when as many threads have come as it names, whether they wait (bar.sync) or not \
(bar.arrive): let both sides come to it equally often, in the same order.
__global__ void half_comes(unsigned *out)
{
    if (threadIdx.x < 128)
        asm volatile("bar.sync 1, 256;" ::: "memory");
    else
        asm volatile("bar.sync 2, 128;" ::: "memory");
    out[threadIdx.x] = 1;
}
// of_two_lines: race/write-read Put a __syncthreads() between line @A and line @B, in front of the branch that line @B stands in.
__global__ void of_two_lines(unsigned *out)
{
    __shared__ uint2 pairs[256];
    pairs[threadIdx.x] = make_uint2(threadIdx.x, 5); // A
    const uint2 *pair = &pairs[255 - threadIdx.x];
    if (out[threadIdx.x + 256] == 0) {
        out[threadIdx.x] = pair->y * 3;
        __threadfence();
    } else {
        out[threadIdx.x + 512] = pair->y + out[threadIdx.x]; // B
    }
}
// under_a_lock: race/write-write A lock orders what is under it by fences: put a __threadfence_block() behind taking it, line @A, and one \
before giving it back, line @B.
__global__ void under_a_lock(unsigned *out)
{
    __shared__ unsigned lock, last;
    if (threadIdx.x == 0)
        lock = 0;
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        while (atomicCAS(&lock, 0, 1)) // A
            ;
        __threadfence_block();
        last = threadIdx.x;
        *(volatile unsigned *)&lock = 0; // B
    }
    __syncthreads();
    out[threadIdx.x] = last;
}
// between_blocks: race/blocks-write-write A lock orders what is under it by fences: put a __threadfence() behind taking it, line @A, and \
one before giving it back, line @B.
__device__ unsigned the_lock;
__device__ void acquire()
{
    while (atomicCAS(&the_lock, 0, 1))
        ;
}
__global__ void between_blocks(unsigned *out)
{
    if (threadIdx.x == 0) {
        acquire(); // A
        out[0] = blockIdx.x;
        atomicExch(&the_lock, 0); // B
    }
}
// refilled_too_early: barrier/mbarrier-count Give the wait of line @A the parity of the phase that it is for: 0 for the first phase \
of an mbarrier, 1 for the second, and so on in turns.
__device__ unsigned shared_at(const void *p)
{
    return (unsigned)__cvta_generic_to_shared(p);
}
__device__ void wait_for(unsigned long long *barrier, int parity)
{
    asm volatile("{ .reg .pred p;\\nAGAIN: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\\n@!p bra AGAIN; }" ::"r"(
                     shared_at(barrier)), "r"(parity) : "memory");
}
__global__ void refilled_too_early(unsigned *out)
{
    __shared__ alignas(128) unsigned tile[32];
    __shared__ unsigned long long full, empty;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_at(&full)));
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 32;" ::"r"(shared_at(&empty)));
    }
    __syncthreads();
    for (int i = 0; i < 8 && threadIdx.x < 32; i++) {
        wait_for(&full, i & 1);
        out[i * 32 + threadIdx.x] = tile[31 - threadIdx.x];
        asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_at(&empty)) : "memory");
    }
    for (int i = 0; i < 8 && threadIdx.x == 32; i++) {
        if (i > 0)
            wait_for(&empty, i & 1); // A
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 128;" ::"r"(shared_at(&full)) : "memory");
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 128, [%2];" ::"r"(
                         shared_at(tile)), "l"(out + 1024 + i * 32), "r"(shared_at(&full)) : "memory");
    }
}
// of_records: race/write-read Put a __syncthreads() between line @A and line @B.
// says: reads r[32], byte 4 of it
struct Record {
    unsigned a, b, c, d;
};
__global__ void of_records(unsigned *out)
{
    __shared__ Record r[64];
    r[threadIdx.x].b = threadIdx.x; // A
    out[threadIdx.x] = r[threadIdx.x ^ 63].b; // B
}
// changed_by_atomics: race/blocks-write-read If an older value does no harm, read it with a relaxed atomic: cuda::atomic_ref's load. \
If it must be the last one, all blocks must come to a grid.sync() between the two.
__device__ unsigned largest;
__global__ void changed_by_atomics(unsigned *out)
{
    atomicMax(&largest, blockIdx.x);
    __syncthreads();
    out[blockIdx.x * blockDim.x + threadIdx.x] = __ldcg(&largest);
}
// in_step_in_rounds: race/in-step Put a __syncwarp() at the end of the loop's body: line @B of one round and line @A of the next have \
nothing between them.
__global__ void in_step_in_rounds(unsigned *out)
{
    __shared__ unsigned s[32];
    unsigned sum = out[threadIdx.x];
    for (int d = 16; d; d >>= 1) {
        s[threadIdx.x] = sum; // A
        __syncwarp();
        sum += s[threadIdx.x + d & 31]; // B
    }
    out[threadIdx.x] = sum;
}
// tree_in_place: race/write-read Put a __syncthreads() at the end of the loop's body: line @A of one round and of the next have \
nothing between them. Where threads of one round read what others of it write, read into a variable first, with a __syncthreads() \
before the write as well.
__global__ void tree_in_place(unsigned *out)
{
    __shared__ unsigned sums[256];
    sums[threadIdx.x] = threadIdx.x;
    __syncthreads();
    for (unsigned half = 128; half; half /= 2) {
        if (threadIdx.x < half)
            sums[threadIdx.x] += sums[threadIdx.x + half]; // A
    }
    if (threadIdx.x == 0)
        out[0] = sums[0];
}
int main(int, char **argv)
{
    unsigned *out, *a, *b;
    cudaMalloc(&out, 8192);
    cudaMemset(out, 0, 8192);
    switch (atoi(argv[1])) {
    case 0: clear_then_count<<<1, 256>>>(out); break;
    case 1: neighbour<<<1, 256>>>(out); break;
    case 2: next_round<<<1, 256>>>(out); break;
    case 3: by_all_blocks<<<4, 32>>>(out); break;
    case 4: by_all_threads<<<1, 256>>>(out); break;
    case 5: in_branch<<<1, 256>>>(out); break;
    case 6: early_return<<<1, 256>>>(out); break;
    case 7: counter<<<1, 256>>>(out); break;
    case 8: leave_a_loop<<<1, 256>>>(out); break;
    case 9: ticket<<<1, 256>>>(out); break;
    case 10: first_thread<<<1, 256>>>(out); break;
    case 11: last_warp<<<1, 256>>>(out); break;
    case 12: filled_by_a_loop<<<1, 256>>>(out); break;
    case 13: together(no_grid_barrier, out); break;
    case 14: together(block_barrier, out); break;
    case 15: together(grid_rounds, out); break;
    case 16: no_memory<<<1, 32>>>(nullptr); break;
    case 17:
        cudaMalloc(&a, 128);
        cudaMalloc(&b, 128);
        passes_on<<<1, 32>>>(b, a);
        decides<<<1, 32>>>(b, out);
        cudaFree(a);
        cudaFree(b);
        break;
    case 18: scan_in_place<<<1, 256>>>(out); break;
    case 19: unrolled_rounds<<<1, 256>>>(out); break;
    case 20: loops_in_a_loop<<<1, 256, 300 * 4>>>(out, 300); break;
    case 21: kept_by_the_writer<<<1, 256>>>(out, 5); break;
    case 22: read_by_others<<<1, 32>>>(out); break;
    case 23: arrives_again<<<1, 64>>>(out); break;
    case 24: half_comes<<<1, 256>>>(out); break;
    case 25: of_two_lines<<<1, 256>>>(out); break;
    case 28: refilled_too_early<<<1, 64>>>(out); break;
    case 29: of_records<<<1, 64>>>(out); break;
    case 30: together(changed_by_atomics, out); break;
    case 31: in_step_in_rounds<<<1, 32>>>(out); break;
    case 32: tree_in_place<<<1, 256>>>(out); break;
    case 33: launched_alone<<<4, 64>>>(out); break;
    case 26: under_a_lock<<<1, 256>>>(out); break;
    case 27: between_blocks<<<4, 32>>>(out); break;
    }
    cudaDeviceSynchronize();
    cudaFree(out);
}
"""
margay, nvcc = os.path.abspath(sys.argv[1]), sys.argv[2]
lines = PROGRAM.split("\n")
faults = 0
with tempfile.TemporaryDirectory() as top:
    source, program, out = (os.path.join(top, name) for name in ("f.cu", "f", "r.json"))
    with open(source, "w", encoding="utf-8") as file:
        file.write(PROGRAM)
    subprocess.run([nvcc, "-w", "-lineinfo", "-arch=sm_90", "-o", program, source], check=True)
    cases = [(i, re.match(r"// (\w+): (\w+/\S+) (.*)", line)) for i, line in enumerate(lines) if re.match(r"// \w+: \w+/", line)]
    for number, (at, wanted) in enumerate(cases):
        fix = wanted.group(3)
        says = re.match(r"// says: (.*)", lines[at + 1])
        for mark in "AB":
            place = next((k + 1 for k in range(at, len(lines)) if lines[k].endswith("// " + mark)), 0)
            fix = fix.replace("@" + mark, str(place))
        subprocess.run([margay, "check", "--leaks", "--json", out, program, str(number)], capture_output=True)
        with open(out, encoding="utf-8") as file:
            findings = json.load(file)["findings"]
        found = [(f"{f['check']}/{f['kind']}", f["advice"]) for f in findings]
        if found != [(wanted.group(2), fix)]:
            print(f"{wanted.group(1)}: {found}\n  is not {wanted.group(2)}: {fix}")
            faults += 1
        elif says and says.group(1) not in findings[0]["message"]:
            print(f"{wanted.group(1)}: {findings[0]['message']}\n  does not say: {says.group(1)}")
            faults += 1
    # What is no finding, but an error of the kernel's.
    done = subprocess.run([margay, "check", "--leaks", program, str(len(cases))], capture_output=True, text=True)
    if "cudaLaunchCooperativeKernel" not in done.stderr or "leak" in done.stderr:
        print(f"launched_alone: {done.stderr}")
        faults += 1
sys.exit(1 if faults else 0)
