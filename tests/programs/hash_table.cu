// hash_table.cu - inserts and counts by compare-and-swap with linear probing, then looked up
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CK(call)                                                           \
    do {                                                                   \
        cudaError_t error_ = (call);                                       \
        if (error_ != cudaSuccess) {                                       \
            printf("line %d: %s\n", __LINE__, cudaGetErrorString(error_)); \
            exit(1);                                                       \
        }                                                                  \
    } while (0)

static int finish(bool good)
{
    puts(good ? "PASS" : "FAIL");
    return !good;
}

const unsigned SLOTS = 1024, EMPTY = ~0u;

__device__ unsigned hash(unsigned k)
{
    k ^= k >> 16;
    k *= 0x85ebca6bu;
    k ^= k >> 13;
    return k & (SLOTS - 1);
}

__global__ void insert(const unsigned *keys, int n, unsigned *table, unsigned *counts)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    for (unsigned s = hash(keys[i]);; s = (s + 1) & (SLOTS - 1)) {
        unsigned old = atomicCAS(&table[s], EMPTY, keys[i]);
        if (old == EMPTY || old == keys[i]) {
            atomicAdd(&counts[s], 1u);
            break;
        }
    }
}

__global__ void find(const unsigned *keys, int n, const unsigned *table, const unsigned *counts, unsigned *out)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    unsigned s = hash(keys[i]);
    while (table[s] != EMPTY && table[s] != keys[i])
        s = (s + 1) & (SLOTS - 1);
    out[i] = table[s] == keys[i] ? counts[s] : 0;
}

int main()
{
    const int n = 700, m = 400;
    std::vector<unsigned> keys(n), asked(m), got(m), want(m);
    for (int i = 0; i < n; i++)
        keys[i] = i * i % 701;
    for (int i = 0; i < m; i++) {
        asked[i] = i;
        want[i] = std::count(keys.begin(), keys.end(), i);
    }
    unsigned *d, *table, *counts;
    CK(cudaMalloc(&d, (n + 2 * m) * 4));
    CK(cudaMalloc(&table, SLOTS * 4));
    CK(cudaMalloc(&counts, SLOTS * 4));
    CK(cudaMemset(table, 0xff, SLOTS * 4));
    CK(cudaMemset(counts, 0, SLOTS * 4));
    CK(cudaMemcpy(d, keys.data(), n * 4, cudaMemcpyHostToDevice));
    CK(cudaMemcpy(d + n, asked.data(), m * 4, cudaMemcpyHostToDevice));
    insert<<<(n + 127) / 128, 128>>>(d, n, table, counts);
    find<<<(m + 127) / 128, 128>>>(d + n, m, table, counts, d + n + m);
    CK(cudaMemcpy(got.data(), d + n + m, m * 4, cudaMemcpyDeviceToHost));
    for (unsigned *p : {d, table, counts})
        CK(cudaFree(p));
    return finish(got == want);
}
