// producer_consumer.cu - one warp fills a ring of slots in shared memory, another empties it, flags between them
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

const int ITEMS = 20, SLOTS = 4;

__global__ void ring(const int *in, int *out)
{
    __shared__ int slot[SLOTS][32];
    __shared__ volatile int filled, emptied;
    int lane = threadIdx.x % 32;
    if (threadIdx.x == 0)
        filled = emptied = 0;
    __syncthreads();
    if (threadIdx.x < 32) {
        for (int i = 0; i < ITEMS; i++) {
            while (i - emptied >= SLOTS)
                ;
            __threadfence_block();
            slot[i % SLOTS][lane] = in[i * 32 + lane] * 2;
            __threadfence_block();
            __syncwarp();
            if (lane == 0)
                filled = i + 1;
        }
    } else {
        for (int i = 0; i < ITEMS; i++) {
            while (filled <= i)
                ;
            __threadfence_block();
            out[i * 32 + lane] = slot[i % SLOTS][lane] + 1;
            __threadfence_block();
            __syncwarp();
            if (lane == 0)
                emptied = i + 1;
        }
    }
}

int main()
{
    const int n = ITEMS * 32;
    std::vector<int> in(n), out(n);
    for (int i = 0; i < n; i++)
        in[i] = i * 3;
    int *d;
    CK(cudaMalloc(&d, 2 * n * sizeof(int)));
    CK(cudaMemcpy(d, in.data(), n * sizeof(int), cudaMemcpyHostToDevice));
    ring<<<1, 64>>>(d, d + n);
    CK(cudaMemcpy(out.data(), d + n, n * sizeof(int), cudaMemcpyDeviceToHost));
    bool good = true;
    for (int i = 0; i < n; i++)
        good &= out[i] == in[i] * 2 + 1;
    CK(cudaFree(d));
    return finish(good);
}
