/* time_places.cu - what it costs a GPU where a warp's lanes lie: loads that the first cache has, and loads of constant
 * memory.
 *
 *     time_places       one line a measurement: what, pattern, bytes a lane, lines of 128 bytes, the most words of one
 *                       bank (of 4 bytes, 32 of them), sectors of 32 bytes; cycles a request and multiprocessor
 *
 * A source of src/time/device.def's rows. 32 warps of one block make the same requests over and over, eight in flight
 * each, and those of constant memory one. `tags`: with which of the first four lines another one is in a bank. `walk`:
 * words, or bytes, anywhere in a table of so many bytes, others each time. Results are kept in time_places.txt.
 */
#include "check.cuh"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

enum { ROUNDS = 64, TOGETHER = 8, WARPS = 32, SPACE = 66 << 20 };
static long long *cycles;
static uint32_t *places; /* by lane, in bytes; then 0 */

template <int BYTES> __device__ inline uint32_t load(const char *at)
{
    uint32_t a, b, c, d;
    if (BYTES == 4)
        asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(a) : "l"(at));
    else if (BYTES == 8)
        asm volatile("ld.global.ca.v2.u32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "l"(at));
    else
        asm volatile("ld.global.ca.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(at));
    return a;
}

template <int BYTES>
__global__ void loads(const char *memory, const uint32_t *places, uint32_t *sink, long long *cycles)
{
    const char *at = memory + places[threadIdx.x % 32];
    const uint32_t step = places[32]; /* 0, which the compiler does not know */
    uint32_t sum = load<BYTES>(at);
    __syncthreads();
    long long begin = clock64();
    for (int i = 0; i < ROUNDS; i++) {
        uint32_t got[TOGETHER];
#pragma unroll
        for (int k = 0; k < TOGETHER; k++)
            got[k] = load<BYTES>(at += step);
#pragma unroll
        for (int k = 0; k < TOGETHER; k++)
            sum += got[k];
    }
    __syncthreads();
    if (threadIdx.x == 0)
        *cycles = clock64() - begin;
    sink[threadIdx.x] = sum;
}

__constant__ uint32_t table[16384];
template <int BYTES> __global__ void constants(const uint32_t *places, uint32_t *sink, long long *cycles)
{
    uint32_t at = places[threadIdx.x % 32], sum = 0;
    const uint32_t step = places[32];
    __syncthreads();
    long long begin = 0;
    for (int i = 0; i < 2 * ROUNDS; i++) {
        if (i == ROUNDS && threadIdx.x == 0)
            begin = clock64();
        uint32_t a, b, c, d;
        at += step;
        if (BYTES == 4)
            asm volatile("ld.const.u32 %0, [%1];" : "=r"(a) : "l"(__cvta_generic_to_constant((char *)table + at)));
        else if (BYTES == 8)
            asm volatile("ld.const.v2.u32 {%0, %1}, [%2];"
                         : "=r"(a), "=r"(b)
                         : "l"(__cvta_generic_to_constant((char *)table + at)));
        else
            asm volatile("ld.const.v4.u32 {%0, %1, %2, %3}, [%4];"
                         : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                         : "l"(__cvta_generic_to_constant((char *)table + at)));
        sum += a;
    }
    __syncthreads();
    if (threadIdx.x == 0)
        *cycles = clock64() - begin;
    sink[threadIdx.x] = sum;
}

static void tell(const char *what, const std::string &name, int bytes, const std::vector<uint32_t> &at, double each)
{
    std::set<uint32_t> lines, sectors, words;
    int bank[32] = {0}, most = 0;
    for (uint32_t a : at)
        for (int k = 0; k < bytes; k += 4) {
            lines.insert((a + k) / 128);
            sectors.insert((a + k) / 32);
            if (words.insert((a + k) / 4).second)
                most = std::max(most, ++bank[(a + k) / 4 % 32]);
        }
    printf("%-9s %-22s %3d bytes %4zu lines %4d of a bank %4zu sectors %9.2f cycles a request\n", what, name.c_str(), bytes,
           lines.size(), most, sectors.size(), each);
}

static double least(long long n)
{
    long long got = 0;
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaMemcpy(&got, cycles, sizeof got, cudaMemcpyDeviceToHost));
    return (double)got / (double)n;
}

static char *memory;
static uint32_t *sink;

template <int BYTES> static void measure(const std::string &name, const std::vector<uint32_t> &at)
{
    CHECK(cudaMemcpy(places, at.data(), 128, cudaMemcpyHostToDevice));
    double l = 1e9;
    for (int i = 0; i < 3; i++) {
        loads<BYTES><<<1, 32 * WARPS>>>(memory, places, sink, cycles);
        l = std::min(l, least((long long)ROUNDS * TOGETHER * WARPS));
    }
    tell("load", name, BYTES, at, l);
}

template <int BYTES> static void measure_constant(const std::string &name, const std::vector<uint32_t> &at)
{
    CHECK(cudaMemcpy(places, at.data(), 128, cudaMemcpyHostToDevice));
    double l = 1e9;
    for (int i = 0; i < 3; i++) {
        constants<BYTES><<<1, 32 * WARPS>>>(places, sink, cycles);
        l = std::min(l, least((long long)ROUNDS * WARPS));
    }
    tell("constant", name, BYTES, at, l);
}

static uint32_t state = 1;
static uint32_t any(uint32_t n)
{
    state = state * 1664525u + 1013904223u;
    return (state >> 8) % n;
}

template <int BYTES> static void all(void)
{
    std::vector<uint32_t> at(32);
    for (int n = 1; n <= 32; n *= 2) { /* words of all banks, in so many lines */
        for (int i = 0; i < 32; i++)
            at[i] = (uint32_t)((i % n) * 128 + i * BYTES % 128);
        measure<BYTES>("lines " + std::to_string(n), at);
    }
    for (int n = 2; n <= 32; n *= 2) { /* one bank, so many words of it */
        for (int i = 0; i < 32; i++)
            at[i] = (uint32_t)((i % n) * 128);
        measure<BYTES>("words of a bank " + std::to_string(n), at);
    }
    for (int step : {2, 3, 4, 5, 8, 9, 12, 16, 17, 24, 33, 36, 40, 48, 72, 144}) {
        for (int i = 0; i < 32; i++)
            at[i] = (uint32_t)(i * step * BYTES);
        measure<BYTES>("every " + std::to_string(step), at);
    }
    for (int bytes : {256, 512, 1024, 2048, 4096, 8192, 16384}) {
        for (int draw = 0; draw < 2; draw++) {
            for (auto &a : at)
                a = any((uint32_t)(bytes / BYTES)) * BYTES;
            measure<BYTES>("anywhere in " + std::to_string(bytes), at);
        }
    }
    for (int rows : {8, 32, 128}) { /* the same column of rows of 48 bytes */
        for (auto &a : at)
            a = any((uint32_t)rows) * 48;
        measure<BYTES>("of 48-byte rows " + std::to_string(rows), at);
    }
    for (int n = 1; n <= 32; n *= 2) {
        for (int i = 0; i < 32; i++)
            at[i] = (uint32_t)(i % n) * BYTES;
        measure_constant<BYTES>("words " + std::to_string(n), at);
    }
    for (int bytes : {512, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 16384, 32768, 65536}) {
        for (auto &a : at)
            a = any((uint32_t)(bytes / BYTES)) * BYTES;
        measure_constant<BYTES>("anywhere in " + std::to_string(bytes), at);
        for (int i = 0; i < 32; i++)
            at[i] = (uint32_t)(i * (bytes / 32) / BYTES * BYTES);
        measure_constant<BYTES>("spread over " + std::to_string(bytes), at);
    }
}

/* Constants that a loop reads one after the other, at other places each time: what a table of such a size costs. */
template <class T> __global__ void walk(uint32_t n, uint32_t *sink, long long *cycles)
{
    uint32_t x = threadIdx.x * 2654435761u, sum = 0;
    __syncthreads();
    long long begin = 0;
    for (int i = 0; i < 8 * ROUNDS; i++) {
        if (i == 4 * ROUNDS && threadIdx.x == 0)
            begin = clock64();
        x = x * 1664525u + 1013904223u;
        sum += ((const T *)table)[(x >> 8) % n];
    }
    __syncthreads();
    if (threadIdx.x == 0)
        *cycles = clock64() - begin;
    sink[threadIdx.x] = sum;
}

/* Lines of which the first cache looks up one a cycle: which of the first four each power of two is in a bank with. */
static void banks_of_tags(void)
{
    for (uint32_t line = 0; line < 1u << 19; line = line ? 2 * line : 1) {
        std::string with;
        for (uint32_t other = 0; other < 4 && line != other; other++) {
            std::vector<uint32_t> at(33);
            double l = 1e9;
            for (int i = 0; i < 32; i++)
                at[i] = (i % 2 ? line : other) * 128 + (uint32_t)i * 4;
            CHECK(cudaMemcpy(places, at.data(), 128, cudaMemcpyHostToDevice));
            for (int i = 0; i < 3; i++) {
                loads<4><<<1, 32 * WARPS>>>(memory, places, sink, cycles);
                l = std::min(l, least((long long)ROUNDS * TOGETHER * WARPS));
            }
            if (l > 1.5)
                with += " " + std::to_string(other);
        }
        printf("tags      line %-17u with%s\n", line, with.c_str());
    }
}

int main()
{
    cudaDeviceProp p;
    CHECK(cudaGetDeviceProperties(&p, 0));
    printf("# %s\n", p.name);
    CHECK(cudaMalloc(&cycles, sizeof *cycles));
    CHECK(cudaMalloc(&places, 132));
    CHECK(cudaMemset(places, 0, 132));
    CHECK(cudaMalloc(&sink, 4096));
    CHECK(cudaMalloc(&memory, SPACE));
    CHECK(cudaMemset(memory, 0, SPACE));
    banks_of_tags();
    all<4>();
    all<8>();
    all<16>();
    for (uint32_t words : {64, 128, 256, 512, 768, 1024, 1536, 2048, 4096, 8192, 16384}) {
        double l = 1e9;
        for (int i = 0; i < 3; i++) {
            walk<uint32_t><<<1, 32 * WARPS>>>(words, sink, cycles);
            l = std::min(l, least((long long)4 * ROUNDS * WARPS));
        }
        printf("%-9s %-22s %3d bytes %9.2f cycles a request\n", "constant", "walk", (int)(words * 4), l);
        l = 1e9;
        for (int i = 0; i < 3; i++) {
            walk<uint8_t><<<1, 32 * WARPS>>>(words * 4, sink, cycles);
            l = std::min(l, least((long long)4 * ROUNDS * WARPS));
        }
        printf("%-9s %-22s %3d bytes %9.2f cycles a request\n", "constant", "walk of bytes", (int)(words * 4), l);
    }
    return 0;
}
