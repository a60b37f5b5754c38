/* libcudacxx.cu - libcu++ on the device: atomics by reference, barriers, latches, semaphores, asynchronous copies. */
#include <cooperative_groups.h>
#include <cuda/atomic>
#include <cuda/barrier>
#include <cuda/latch>
#include <cuda/pipeline>
#include <cuda/semaphore>
#include <cuda/std/array>
#include <cuda/std/optional>

#include "held.h"

__global__ void counts(const int *in, int *bins, unsigned *most, double *sum, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    cuda::atomic_ref<int, cuda::thread_scope_device> bin(bins[in[i] % 16]);
    bin.fetch_add(1, cuda::memory_order_relaxed);
    cuda::atomic_ref<unsigned, cuda::thread_scope_device>(*most).fetch_max((unsigned)in[i]);
    cuda::atomic_ref<double, cuda::thread_scope_device> total(*sum);
    double old = total.load(cuda::memory_order_relaxed);
    while (!total.compare_exchange_weak(old, old + in[i])) {
    }
}

/* One block hands a value to another. */
__global__ void message(int *data, cuda::atomic<int, cuda::thread_scope_device> *flag, int *out)
{
    if (blockIdx.x == 0) {
        data[threadIdx.x] = threadIdx.x + 1;
        __syncthreads();
        if (threadIdx.x == 0)
            flag->store(1, cuda::memory_order_release);
    } else {
        if (threadIdx.x == 0)
            while (flag->load(cuda::memory_order_acquire) == 0) {
            }
        __syncthreads();
        out[threadIdx.x] = data[blockDim.x - 1 - threadIdx.x];
    }
}

/* Half the block writes, half reads, with a barrier each way. */
__global__ void hand_over(int *out, int rounds)
{
    using barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ int buffer[64];
    __shared__ barrier full, empty;
    if (threadIdx.x == 0) {
        init(&full, blockDim.x);
        init(&empty, blockDim.x);
    }
    __syncthreads();
    int t = threadIdx.x % 64, sum = 0;
    for (int r = 0; r < rounds; r++) {
        if (threadIdx.x < 64) {
            buffer[t] = r * 64 + t;
            (void)full.arrive();
            empty.arrive_and_wait();
        } else {
            full.arrive_and_wait();
            sum += buffer[63 - t];
            (void)empty.arrive();
        }
    }
    if (threadIdx.x >= 64)
        out[t] = sum;
}

__global__ void copies(const int *in, int *out, int tiles)
{
    __shared__ int tile[2][128];
    __shared__ cuda::pipeline_shared_state<cuda::thread_scope_block, 2> state;
    auto block = cooperative_groups::this_thread_block();
    auto pipe = cuda::make_pipeline(block, &state);
    int fetched = 0;
    for (int k = 0; k < tiles; k++) {
        for (; fetched < tiles && fetched < k + 2; fetched++) {
            pipe.producer_acquire();
            cuda::memcpy_async(block, tile[fetched % 2], in + fetched * 128, sizeof(tile[0]), pipe);
            pipe.producer_commit();
        }
        pipe.consumer_wait();
        out[k * 128 + threadIdx.x] = tile[k % 2][127 - threadIdx.x];
        pipe.consumer_release();
    }
}

__global__ void guarded(int *value, cuda::binary_semaphore<cuda::thread_scope_device> *lock, cuda::latch<cuda::thread_scope_device> *gate, int *seen)
{
    if (threadIdx.x)
        return;
    lock->acquire();
    *value += blockIdx.x + 1;
    lock->release();
    gate->arrive_and_wait();
    seen[blockIdx.x] = *value;
}
__global__ void make(cuda::binary_semaphore<cuda::thread_scope_device> *lock, cuda::latch<cuda::thread_scope_device> *gate, int n)
{
    new (lock) cuda::binary_semaphore<cuda::thread_scope_device>(1);
    new (gate) cuda::latch<cuda::thread_scope_device>(n);
}

__global__ void plain_types(const int *in, int *out, int n)
{
    int i = threadIdx.x;
    cuda::std::array<int, 4> four = {in[i], in[i] + 1, in[i] + 2, in[i] + 3};
    cuda::std::optional<int> some = i < n ? cuda::std::optional<int>(four[i % 4]) : cuda::std::nullopt;
    out[i] = some.value_or(-1);
}

int main()
{
    const int n = 1000;
    std::vector<int> h = numbers(n, 500), want(16), none(1024);
    double total = 0;
    unsigned top = 0;
    for (int x : h) {
        want[x % 16]++;
        total += x;
        top = (unsigned)x > top ? (unsigned)x : top;
    }
    int *in = to_device(h), *out = to_device(none), *bins = to_device(std::vector<int>(16));
    unsigned *most = to_device(std::vector<unsigned>(1));
    double *sum = to_device(std::vector<double>(1));
    counts<<<4, 256>>>(in, bins, most, sum, n);
    done("counts");
    hold(to_host(bins, 16) == want && to_host(most, 1)[0] == top && to_host(sum, 1)[0] == total, "atomic_ref");
    auto *flag = (cuda::atomic<int, cuda::thread_scope_device> *)to_device(std::vector<int>(1));
    message<<<2, 64>>>(out + 512, flag, out);
    hand_over<<<1, 128>>>(out + 64, 3);
    copies<<<1, 128>>>(in, out + 128, 4);
    done("barriers");
    std::vector<int> o = to_host(out, 1024);
    for (int t = 0; t < 64; t++)
        hold(o[64 + t] == 3 * (63 - t) + 192, "barrier");
    for (int t = 0; t < 128; t++)
        hold(o[128 + t] == h[127 - t], "pipeline");
    cuda::binary_semaphore<cuda::thread_scope_device> *lock;
    cuda::latch<cuda::thread_scope_device> *gate;
    cudaMalloc((void **)&lock, sizeof(*lock));
    cudaMalloc((void **)&gate, sizeof(*gate));
    make<<<1, 1>>>(lock, gate, 6);
    int *value = to_device(std::vector<int>(1));
    guarded<<<6, 32>>>(value, lock, gate, out);
    done("guarded");
    hold(to_host(out, 6) == std::vector<int>(6, 21), "semaphore and latch");
    plain_types<<<1, 64>>>(in, out, 50);
    done("plain types");
    cudaFree(lock);
    cudaFree(gate);
    cudaFree(flag);
    for (int *p : {in, out, bins, value})
        cudaFree(p);
    cudaFree(most);
    cudaFree(sum);
    puts("PASS");
}
