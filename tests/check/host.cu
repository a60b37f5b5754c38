/* host.cu - the host beside kernels and copies under way: managed, pinned and mapped memory. cases.cuh says how to read it.
 * Compiled with -g: the lines are the host's. The right twins do what must not be taken for a fault, too. */
#include "cases.cuh"

#include <atomic>
#include <cooperative_groups.h>
#include <csignal>
#include <fcntl.h>
#include <sys/time.h>
#include <thread>
#include <unistd.h>

template <bool fault> __global__ void fill(int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = i + 1;
}

template <bool fault> __global__ void twice(const int *in, int *out, int n)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n)
        out[i] = 2 * in[i];
}

static void held(bool is)
{
    if (!is)
        abort();
}
static int *managed(size_t n)
{
    int *p = nullptr;
    cudaMallocManaged(&p, n * sizeof(int));
    owned().push_back(p);
    return p;
}
struct Pinned {
    int *at = nullptr;
    explicit Pinned(size_t n, unsigned flags = cudaHostAllocDefault)
    {
        cudaHostAlloc((void **)&at, n * sizeof(int), flags);
    }
    ~Pinned()
    {
        cudaFreeHost(at);
    }
};
struct Stream {
    cudaStream_t at;
    explicit Stream(unsigned flags = cudaStreamNonBlocking)
    {
        cudaStreamCreateWithFlags(&at, flags);
    }
    ~Stream()
    {
        cudaStreamDestroy(at);
    }
};

CASE(read_at_once, 0)
{
    int *m = managed(64);
    fill<fault><<<1, 64>>>(m, 64);
    if (!fault)
        cudaDeviceSynchronize();
    printf("%d\n", m[5]); // EXPECT: race/host managed*
}

CASE(written_beside_the_reader, 0)
{
    int *m = managed(64), *out = zeros(64);
    for (int i = 0; i < 64; i++)
        m[i] = i;
    twice<fault><<<1, 64>>>(m, out, 64);
    if (!fault)
        cudaDeviceSynchronize();
    m[5] = 9; // EXPECT: race/host managed*
}

/* The host reads what the kernel reads, too. */
CASE(summed_on_both_sides, 0)
{
    int *m = managed(64), *out = zeros(64), sum = 0;
    for (int i = 0; i < 64; i++)
        m[i] = i;
    twice<fault><<<1, 64>>>(m, out, 64);
    for (int i = 0; i < 64; i++)
        sum += m[i];
    if (fault)
        m[0] = sum; // EXPECT: race/host managed*
    cudaDeviceSynchronize();
}

CASE(source_changed, 0)
{
    Pinned h(64);
    Stream s;
    int *d = zeros(64);
    cudaDeviceSynchronize();
    memset(h.at, 0, 256);
    cudaMemcpyAsync(d, h.at, 256, cudaMemcpyHostToDevice, s.at);
    if (!fault)
        cudaStreamSynchronize(s.at);
    h.at[5] = 7; // EXPECT: race/host pinned*
    cudaStreamSynchronize(s.at);
}

CASE(result_read_too_soon, 0)
{
    Pinned h(64);
    Stream s;
    int *d = zeros(64);
    cudaDeviceSynchronize();
    fill<fault><<<1, 64, 0, s.at>>>(d, 64);
    cudaMemcpyAsync(h.at, d, 256, cudaMemcpyDeviceToHost, s.at);
    if (!fault)
        cudaStreamSynchronize(s.at);
    printf("%d\n", h.at[5]); // EXPECT: race/host pinned*
    cudaStreamSynchronize(s.at);
}

/* In a function of the C library, called here. */
CASE(copied_too_soon, 0)
{
    Pinned h(4096, cudaHostAllocMapped);
    std::vector<int> mine(4096);
    int *device;
    cudaHostGetDevicePointer((void **)&device, h.at, 0);
    fill<fault><<<16, 256>>>(device, 4096);
    if (!fault)
        cudaDeviceSynchronize();
    memcpy(mine.data(), h.at, 4096 * sizeof(int)); // EXPECT: race/host pinned*
    cudaDeviceSynchronize();
}

/* The kernel of the system reads it: it must not say EFAULT. */
CASE(saved_too_soon, 0)
{
    int *m = managed(4096), file = open("/dev/null", O_WRONLY);
    fill<fault><<<16, 256>>>(m, 4096);
    if (!fault)
        cudaDeviceSynchronize();
    ssize_t wrote = write(file, m, 4096 * sizeof(int)); // EXPECT: race/host managed*
    held(wrote == 4096 * sizeof(int));
    close(file);
    cudaDeviceSynchronize();
}

/* An event of the wrong stream. */
CASE(wrong_event, 0)
{
    Pinned h(64);
    Stream one, two;
    cudaEvent_t event;
    int *d = zeros(64);
    cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
    cudaDeviceSynchronize();
    cudaMemcpyAsync(h.at, d, 256, cudaMemcpyDeviceToHost, one.at);
    cudaEventRecord(event, fault ? two.at : one.at);
    cudaEventSynchronize(event);
    h.at[0]++; // EXPECT: race/host pinned*
    cudaDeviceSynchronize();
    cudaEventDestroy(event);
}

/* The next round's work changes the half that the host still reads. */
CASE(half_by_half, 0)
{
    int *m = managed(2048), sum = 0;
    Stream s;
    for (int round = 0; round < 4; round++) {
        int *half = m + round % 2 * 1024, *before = m + (round + 1) % 2 * 1024;
        fill<fault><<<4, 256, 0, s.at>>>(half, 1024);
        for (int i = 0; i < 1024; i += 64)
            sum += (fault ? half : before)[i]; // EXPECT: race/host managed*
        cudaStreamSynchronize(s.at);
    }
    printf("%d\n", sum);
}

/* As above, for bytes beside one another: the page and the word are both sides'. */
template <bool fault> __global__ void mark(char *flags)
{
    flags[2 * threadIdx.x] = 1;
}
CASE(byte_by_byte, 0)
{
    char *flags = (char *)managed(64);
    mark<fault><<<1, 32>>>(flags);
    flags[fault ? 4 : 5] = 2; // EXPECT: race/host managed*
    cudaDeviceSynchronize();
}

/* As above, where blocks wait for one another, and bytes are among what they read. */
template <bool fault> __global__ void all_of(const char *in, int *parts, int *out)
{
    const cooperative_groups::grid_group grid = cooperative_groups::this_grid();
    if (threadIdx.x == 0)
        parts[blockIdx.x] = in[blockIdx.x];
    grid.sync();
    if (grid.thread_rank() == 0)
        *out = parts[0] + parts[1];
}
CASE(bytes_and_a_grid_barrier, 0)
{
    const char *in = (const char *)zeros(1);
    int *parts = zeros(2), *out = managed(1);
    void *args[] = {&in, &parts, &out};
    cudaLaunchCooperativeKernel((void *)all_of<fault>, 2, 32, args, 0, 0);
    if (!fault)
        cudaDeviceSynchronize();
    held(*out == 0); // EXPECT: race/host managed*
    cudaDeviceSynchronize();
}

__managed__ int total[32];
template <bool fault> __global__ void count()
{
    atomicAdd(&total[threadIdx.x % 4], 1);
}
CASE(variable_of_both, 0)
{
    total[0] = 0;
    count<fault><<<2, 64>>>();
    if (!fault)
        cudaDeviceSynchronize();
    printf("%d\n", total[0]); // EXPECT: race/host total
    cudaDeviceSynchronize();
}

/* A flag in mapped memory that the host waits for: the kernel tells it, and nothing else must. */
template <bool fault> __global__ void publish(volatile int *flag, int *data)
{
    data[threadIdx.x] = 7;
    if (fault)
        return;
    __threadfence_system();
    __syncthreads();
    if (threadIdx.x == 0)
        *flag = 1;
}
CASE(told_by_a_flag, 0)
{
    Pinned h(128, cudaHostAllocMapped);
    memset(h.at, 0, 512);
    publish<fault><<<1, 32>>>(h.at, h.at + 64);
    while (!fault && !*(volatile int *)h.at)
        ;
    printf("%d\n", h.at[64 + 3]); // EXPECT: race/host pinned*
    cudaDeviceSynchronize();
}

/* A kernel that waits for the host. */
template <bool fault> __global__ void await(volatile int *flag, int *data)
{
    while (!fault && !*flag)
        ;
    data[threadIdx.x] = threadIdx.x;
}
CASE(waits_for_the_host, 0)
{
    Pinned h(128, cudaHostAllocMapped);
    memset(h.at, 0, 512);
    await<fault><<<1, 32>>>(h.at, h.at + 64);
    if (fault)
        h.at[64 + 3] = 1; // EXPECT: race/host pinned*
    *(volatile int *)h.at = 1;
    cudaDeviceSynchronize();
}

/* A host function tells the program that all before it is over. */
static std::atomic<int> done;
CASE(told_by_a_function, 0)
{
    Pinned h(64);
    Stream s;
    int *d = zeros(64);
    cudaDeviceSynchronize();
    done = 0;
    cudaMemcpyAsync(h.at, d, 256, cudaMemcpyDeviceToHost, s.at);
    if (!fault)
        cudaLaunchHostFunc(s.at, [](void *) { done = 1; }, nullptr);
    while (!fault && !done)
        ;
    printf("%d\n", h.at[3]); // EXPECT: race/host pinned*
    cudaStreamSynchronize(s.at);
}

/* Signals, system calls with memory beside what is under way, and a thread that is born meanwhile: all go on. */
static volatile sig_atomic_t ticks;
static void tick(int)
{
    ticks = ticks + 1;
}
CASE(life_goes_on, 0)
{
    int *m = managed(4096), zero = open("/dev/zero", O_RDONLY);
    struct itimerval often = {{0, 200}, {0, 200}}, never = {};
    signal(SIGALRM, tick);
    setitimer(ITIMER_REAL, &often, nullptr);
    fill<fault><<<4, 256>>>(m, 1024);
    ssize_t got = read(zero, m + 1024, 1024 * sizeof(int));
    long sum = fault ? m[1] : 0; // EXPECT: race/host managed*
    for (int i = 0; i < 100; i++)
        m[1024 + i] = i;
    std::thread other([&] { sum += m[1999]; });
    other.join();
    got += read(zero, m + 1020, 0);
    cudaDeviceSynchronize();
    setitimer(ITIMER_REAL, &never, nullptr);
    signal(SIGALRM, SIG_DFL);
    close(zero);
    held(got == 4096 && sum == (fault ? 2 : 0) && m[1] == 2);
}
