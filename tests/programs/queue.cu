// queue.cu - work that makes more work: a queue with an atomic head and tail, a launch for each generation
#include <cstdio>
#include <cstdlib>

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

struct task {
    int low, high;
};

/* Cuts intervals in two until they are short, and counts those. */
__global__ void work(const task *in, int n, task *out, int *made, int *ended)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i >= n)
        return;
    task t = in[i];
    if (t.high - t.low <= 10) {
        atomicAdd(ended, t.high - t.low);
        return;
    }
    int middle = (t.low + t.high) / 2, at = atomicAdd(made, 2);
    out[at] = {t.low, middle};
    out[at + 1] = {middle, t.high};
}

int main()
{
    const int size = 1000;
    task first = {0, size}, *queue[2];
    int *made, *ended, n = 1, all;
    for (auto &q : queue)
        CK(cudaMalloc(&q, 512 * sizeof(task)));
    CK(cudaMalloc(&made, sizeof(int)));
    CK(cudaMalloc(&ended, sizeof(int)));
    CK(cudaMemset(ended, 0, sizeof(int)));
    CK(cudaMemcpy(queue[0], &first, sizeof(first), cudaMemcpyHostToDevice));
    for (int g = 0; n; g++) {
        CK(cudaMemset(made, 0, sizeof(int)));
        work<<<(n + 63) / 64, 64>>>(queue[g & 1], n, queue[~g & 1], made, ended);
        CK(cudaMemcpy(&n, made, sizeof(int), cudaMemcpyDeviceToHost));
    }
    CK(cudaMemcpy(&all, ended, sizeof(int), cudaMemcpyDeviceToHost));
    for (void *p : {(void *)queue[0], (void *)queue[1], (void *)made, (void *)ended})
        CK(cudaFree(p));
    return finish(all == size);
}
