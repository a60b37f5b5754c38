// device.cu - asks a device what the table of limits and the occupancy rules are held to (device.sh runs it).
//
//     device ask COUNT   as JSON: the attributes of the device; what launches at and beyond its limits return; the kernels'
//                        registers; the block sizes and the dynamic shared memory that the runtime proposes; its answers
//                        to COUNT configurations (cudaOccupancyMaxActiveBlocksPerMultiprocessor), one character each ('0'
//                        to '9', 'a' on for 10 and more)
//     device launch N    launches the first N configurations that can run, for a profiler to look at; prints their numbers
//
// The kernels differ in what a launch takes: registers (__maxnreg__, with more values alive than fit), static shared memory,
// named barriers.
#include <cstring>
#include <vector>

#include "../hardware/check.cuh"
#include "config.h"

template <int BARRIER>
__device__ __forceinline__ void sync_all()
{
    asm volatile("bar.sync %0;" ::"n"(BARRIER - 1));
    if constexpr (BARRIER > 1)
        sync_all<BARRIER - 1>();
}

// Loads and stores that the compiler may neither drop nor mix keep FLOATS values alive at once: that many registers, and the
// few that a kernel needs besides.
template <int FLOATS, int STATIC, int BARRIERS>
__device__ __forceinline__ void work(volatile float *data, int n)
{
    extern __shared__ float dynamic[];
    if (n == 0) // as every launch here has it
        return;
    float v[FLOATS];
#pragma unroll
    for (int i = 0; i < FLOATS; i++)
        v[i] = data[i];
    if constexpr (STATIC > 0) {
        __shared__ float fixed[STATIC / 4];
        fixed[threadIdx.x % (STATIC / 4)] = v[0];
        __syncwarp();
        v[1] += fixed[(threadIdx.x + n) % (STATIC / 4)];
    }
    if (n > 1)
        dynamic[threadIdx.x] = v[2];
    if constexpr (BARRIERS > 0)
        sync_all<BARRIERS>();
#pragma unroll
    for (int i = 0; i < FLOATS; i++)
        data[i] = v[i] * n;
}

template <int REGS, int STATIC, int BARRIERS>
__global__ void __maxnreg__(REGS) kernel(float *data, int n)
{
    work<REGS, STATIC, BARRIERS>(data, n);
}
template <int FLOATS> // __maxnreg__ cannot ask for fewer than 24
__global__ void small(float *data, int n)
{
    work<FLOATS, 0, 0>(data, n);
}
__global__ void __launch_bounds__(256) bounded(float *data, int n)
{
    work<24, 0, 0>(data, n);
}
__global__ void nothing(float *, int) {}

typedef void (*kernel_t)(float *, int);
struct entry {
    kernel_t kernel;
    int barriers;
};
static std::vector<entry> kernels;

template <int REGS>
static void add_registers()
{
    kernels.push_back({kernel<REGS, 0, 0>, 0});
    if constexpr (REGS < 252)
        add_registers<REGS + 4>();
}
static void add_all()
{
    kernels.push_back({nothing, 0});
    kernels.push_back({small<3>, 0});
    kernels.push_back({small<8>, 0});
    kernels.push_back({bounded, 0});
    add_registers<24>();
    kernels.push_back({kernel<33, 0, 0>, 0});
    kernels.push_back({kernel<41, 0, 0>, 0});
    kernels.push_back({kernel<129, 0, 0>, 0});
    kernels.push_back({kernel<255, 0, 0>, 0});
    kernels.push_back({kernel<32, 1024, 1>, 1});
    kernels.push_back({kernel<32, 4100, 2>, 2});
    kernels.push_back({kernel<40, 20000, 3>, 3});
    kernels.push_back({kernel<48, 48000, 1>, 1});
    kernels.push_back({kernel<64, 12, 5>, 5});
    kernels.push_back({kernel<24, 128, 8>, 8});
    kernels.push_back({kernel<32, 0, 16>, 16});
}

static const uint64_t first_seed = 20261121;

static void prepare(const entry &k, const config &c)
{
    CHECK(cudaFuncSetAttribute(k.kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)c.dynamic));
    CHECK(cudaFuncSetAttribute(k.kernel, cudaFuncAttributePreferredSharedMemoryCarveout, c.carveout));
}

static void ask_attributes()
{
    // Every number that is known, whatever it means: the comparison picks.
    printf("\"attributes\": {");
    bool first = true;
    for (int i = 1; i < 150; i++) {
        int value;
        if (cudaDeviceGetAttribute(&value, (cudaDeviceAttr)i, 0) != cudaSuccess)
            continue;
        printf("%s\"%d\": %d", first ? "" : ", ", i, value);
        first = false;
    }
    cudaGetLastError();
    printf("},\n");
}

// What came of a launch, at once or when it was waited for.
static int outcome(cudaError_t error)
{
    cudaError_t after = cudaGetLastError(), later = cudaDeviceSynchronize();
    return error ? error : after ? after : later;
}

static int launched(kernel_t k, dim3 grid, dim3 block, size_t dynamic)
{
    k<<<grid, block, dynamic>>>(nullptr, 0);
    return outcome(cudaSuccess);
}

// `more` blocks more than are resident at once.
static int together(kernel_t k, unsigned threads, unsigned more)
{
    float *data = nullptr;
    int n = 0, blocks = 0, sms = 0;
    void *args[] = {&data, &n};
    CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, k, (int)threads, 0));
    CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
    return outcome(cudaLaunchCooperativeKernel((const void *)k, dim3(blocks * sms + more), dim3(threads), args, 0, 0));
}

static int opted_in(kernel_t k, unsigned bytes)
{
    return outcome(cudaFuncSetAttribute(k, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes));
}

static void ask_launches(unsigned optin)
{
    kernel_t late = kernel<40, 20000, 3>;
    struct {
        const char *what;
        int code;
    } rows[] = {
        {"1024 threads of 64 registers", launched(kernel<64, 0, 0>, 1, 1024, 0)},
        {"1024 threads of 68 registers", launched(kernel<68, 0, 0>, 1, 1024, 0)},
        {"1024 threads of 128 registers", launched(kernel<128, 0, 0>, 1, 1024, 0)},
        {"512 threads of 128 registers", launched(kernel<128, 0, 0>, 1, 512, 0)},
        {"513 threads of 128 registers", launched(kernel<128, 0, 0>, 1, 513, 0)},
        {"257 threads of 255 registers", launched(kernel<255, 0, 0>, 1, 257, 0)},
        {"256 threads of 255 registers", launched(kernel<255, 0, 0>, 1, 256, 0)},
        {"256 threads, bounds 256", launched(bounded, 1, 256, 0)},
        {"288 threads, bounds 256", launched(bounded, 1, 288, 0)},
        {"1025 threads", launched(nothing, 1, 1025, 0)},
        {"a block of 32 x 32 x 2", launched(nothing, 1, dim3(32, 32, 2), 0)},
        {"64 in z", launched(nothing, 1, dim3(1, 1, 64), 0)},
        {"65 in z", launched(nothing, 1, dim3(1, 1, 65), 0)},
        {"a block of 0", launched(nothing, 1, 0, 0)},
        {"a grid of 65535 in y", launched(nothing, dim3(1, 65535), 32, 0)},
        {"a grid of 65536 in y", launched(nothing, dim3(1, 65536), 32, 0)},
        {"a grid of 65536 in z", launched(nothing, dim3(1, 1, 65536), 32, 0)},
        {"a grid of 0", launched(nothing, 0, 32, 0)},
        {"49152 bytes, not opted in", launched(nothing, 1, 32, 49152)},
        {"49153 bytes, not opted in", launched(nothing, 1, 32, 49153)},
        {"opting in to all", opted_in(nothing, optin)},
        {"all, opted in", launched(nothing, 1, 32, optin)},
        {"all and a byte, opted in to all", launched(nothing, 1, 32, optin + 1)},
        {"opting in to a byte more", opted_in(nothing, optin + 1)},
        {"with 20000 static, 29152 more", launched(late, 1, 32, 29152)},
        {"with 20000 static, 29153 more", launched(late, 1, 32, 29153)},
        {"with 20000 static, opting in to all", opted_in(late, optin)},
        {"with 20000 static, opting in to the rest", opted_in(late, optin - 20000)},
        {"with 20000 static, the rest", launched(late, 1, 32, optin - 20000)},
        {"together, as many as fit", together(nothing, 512, 0)},
        {"together, one more", together(nothing, 512, 1)},
        {"together, of 128 registers, one more", together(kernel<128, 0, 0>, 96, 1)},
    };
    printf("\"launches\": {");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        printf("%s\"%s\": %d", i ? ", " : "", rows[i].what, rows[i].code);
    printf("},\n");
}

// The block sizes that the runtime proposes, and the dynamic shared memory that it leaves to so many blocks (-1: an error).
static void ask_the_other_way(uint64_t seed, unsigned count)
{
    printf("\"potential\": [");
    for (size_t i = 0; i < kernels.size(); i++) {
        int grid = 0, block = 0;
        CHECK(cudaOccupancyMaxPotentialBlockSize(&grid, &block, kernels[i].kernel, 0, 0));
        printf("%s%d, %d", i ? ", " : "", block, grid);
    }
    printf("],\n\"available\": [");
    for (unsigned i = 0; i < count; i++) {
        unsigned kernel = config_random(&seed) % (unsigned)kernels.size(), threads = 32 * (1 + config_random(&seed) % 32);
        unsigned blocks = 1 + config_random(&seed) % 3;
        size_t bytes = 0;
        cudaError_t error = cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, kernels[kernel].kernel, (int)blocks, (int)threads);
        printf("%s%lld", i ? "," : "", error ? -1 : (long long)bytes);
        cudaGetLastError();
    }
    printf("],\n");
}

static int ask(unsigned count)
{
    cudaDeviceProp p;
    int runtime = 0, driver = 0;
    CHECK(cudaGetDeviceProperties(&p, 0));
    CHECK(cudaRuntimeGetVersion(&runtime));
    CHECK(cudaDriverGetVersion(&driver));
    printf("{\"device\": \"%s\", \"cc\": %d, \"runtime\": %d, \"driver\": %d, \"memory\": %zu, \"l2\": %d,\n", p.name,
           p.major * 10 + p.minor, runtime, driver, p.totalGlobalMem, p.l2CacheSize);
    ask_attributes();
    ask_launches((unsigned)p.sharedMemPerBlockOptin);
    printf("\"kernels\": [\n");
    std::vector<unsigned> fixed;
    for (size_t i = 0; i < kernels.size(); i++) {
        cudaFuncAttributes a;
        CHECK(cudaFuncGetAttributes(&a, kernels[i].kernel));
        const char *name;
        CHECK(cudaFuncGetName(&name, (const void *)kernels[i].kernel));
        fixed.push_back((unsigned)a.sharedSizeBytes);
        printf(" {\"name\": \"%s\", \"regs\": %d, \"static\": %zu, \"local\": %zu, \"max_threads\": %d, \"barriers\": %d}%s\n",
               name, a.numRegs, a.sharedSizeBytes, a.localSizeBytes, a.maxThreadsPerBlock, kernels[i].barriers,
               i + 1 < kernels.size() ? "," : "],");
    }
    for (size_t i = 1; i < kernels.size(); i += 2) // every other one has opted in to all that there is
        prepare(kernels[i], config{0, 0, (unsigned)p.sharedMemPerBlockOptin - fixed[i], -1});
    ask_the_other_way(first_seed, 1000);
    for (size_t i = 0; i < kernels.size(); i++)
        prepare(kernels[i], config{0, 0, 0, -1});
    uint64_t seed = first_seed;
    printf("\"seed\": %llu, \"count\": %u,\n\"blocks\": \"", (unsigned long long)seed, count);
    for (unsigned i = 0; i < count; i++) {
        config c = config_next(&seed, (unsigned)kernels.size(), fixed.data(), (unsigned)p.sharedMemPerBlockOptin);
        int blocks = 0;
        prepare(kernels[c.kernel], c);
        CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernels[c.kernel].kernel, (int)c.threads, c.dynamic));
        putchar("0123456789abcdefghijklmnopqrstuvwxyz"[blocks]);
    }
    printf("\"}\n");
    return 0;
}

static int launch(unsigned wanted)
{
    cudaDeviceProp p;
    std::vector<unsigned> fixed;
    std::vector<int> most;
    CHECK(cudaGetDeviceProperties(&p, 0));
    for (const entry &k : kernels) {
        cudaFuncAttributes a;
        CHECK(cudaFuncGetAttributes(&a, k.kernel));
        fixed.push_back((unsigned)a.sharedSizeBytes);
        most.push_back(a.maxThreadsPerBlock);
    }
    uint64_t seed = first_seed;
    for (unsigned i = 0, done = 0; done < wanted; i++) {
        config c = config_next(&seed, (unsigned)kernels.size(), fixed.data(), (unsigned)p.sharedMemPerBlockOptin);
        int blocks = 0;
        prepare(kernels[c.kernel], c);
        CHECK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernels[c.kernel].kernel, (int)c.threads, c.dynamic));
        if (!blocks || (int)c.threads > most[c.kernel]) // launch bounds, of which the occupancy API takes no notice
            continue;
        kernels[c.kernel].kernel<<<264, c.threads, c.dynamic>>>(nullptr, 0);
        CHECK(cudaGetLastError());
        CHECK(cudaDeviceSynchronize());
        printf("%u\n", i);
        done++;
    }
    return 0;
}

int main(int argc, char **argv)
{
    add_all();
    if (argc == 3 && !strcmp(argv[1], "ask"))
        return ask((unsigned)atoi(argv[2]));
    if (argc == 3 && !strcmp(argv[1], "launch"))
        return launch((unsigned)atoi(argv[2]));
    fprintf(stderr, "usage: device ask COUNT | launch N\n");
    return 2;
}
