/* turning_barrier.cu - a barrier of the grid whose number turns with each round, as programs had it before cooperative launches:
 * a volatile number that all read before they arrive, and who comes last counts on. */
#include <cstdio>

enum { BLOCKS = 8, THREADS = 64, N = BLOCKS * THREADS, ROUNDS = 12 };

struct barrier {
    int came;
    volatile int round;
};

static __device__ void meet(barrier *b)
{
    __syncthreads();
    if (threadIdx.x == 0) {
        const int now = b->round;
        __threadfence();
        if (atomicAdd(&b->came, 1) == BLOCKS - 1) {
            b->came = 0;
            __threadfence();
            b->round = now + 1;
        } else {
            while (b->round == now)
                ;
        }
        __threadfence();
    }
    __syncthreads();
}

__global__ void smooth(unsigned *a, unsigned *b, barrier *all)
{
    const int i = blockIdx.x * THREADS + threadIdx.x;
    for (int r = 0; r < ROUNDS; r++) {
        const unsigned *from = r % 2 ? b : a;
        unsigned *to = r % 2 ? a : b;
        to[i] = from[(i + N - 1) % N] + 3 * from[(i + 1) % N] + r;
        meet(all);
    }
}

int main()
{
    static unsigned host[N], next[N], got[N];
    unsigned *a, *b;
    barrier *all;
    cudaMalloc(&a, sizeof host);
    cudaMalloc(&b, sizeof host);
    cudaMalloc(&all, sizeof *all);
    cudaMemset(all, 0, sizeof *all);
    for (unsigned i = 0; i < N; i++)
        host[i] = i * i + 1;
    cudaMemcpy(a, host, sizeof host, cudaMemcpyHostToDevice);
    smooth<<<BLOCKS, THREADS>>>(a, b, all);
    if (cudaMemcpy(got, ROUNDS % 2 ? b : a, sizeof got, cudaMemcpyDeviceToHost) != cudaSuccess) {
        printf("%s\n", cudaGetErrorString(cudaGetLastError()));
        return 1;
    }
    for (unsigned r = 0; r < ROUNDS; r++) {
        for (unsigned i = 0; i < N; i++)
            next[i] = host[(i + N - 1) % N] + 3 * host[(i + 1) % N] + r;
        for (unsigned i = 0; i < N; i++)
            host[i] = next[i];
    }
    cudaFree(a);
    cudaFree(b);
    cudaFree(all);
    for (unsigned i = 0; i < N; i++)
        if (got[i] != host[i]) {
            printf("element %u is %u, and not %u\n", i, got[i], host[i]);
            return 1;
        }
    puts("PASS");
    return 0;
}
