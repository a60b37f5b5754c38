// ticket_lock.cu - blocks take turns at a linked list under a ticket lock
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

struct node {
    int value;
    node *next;
};

__device__ unsigned tickets, serving;
__device__ node *head;

__global__ void push(node *pool)
{
    if (threadIdx.x)
        return;
    node *mine = pool + blockIdx.x;
    mine->value = blockIdx.x;
    unsigned ticket = atomicAdd(&tickets, 1u);
    while (atomicAdd(&serving, 0u) != ticket)
        ;
    __threadfence();
    mine->next = *(node *volatile *)&head;
    *(node *volatile *)&head = mine;
    __threadfence();
    atomicAdd(&serving, 1u);
}

__global__ void collect(int *out)
{
    int n = 0;
    for (node *p = head; p; p = p->next)
        out[n++] = p->value;
}

int main()
{
    const int n = 24;
    node *pool;
    int *out;
    std::vector<int> got(n);
    CK(cudaMalloc(&pool, n * sizeof(node)));
    CK(cudaMalloc(&out, n * sizeof(int)));
    push<<<n, 32>>>(pool);
    collect<<<1, 1>>>(out);
    CK(cudaMemcpy(got.data(), out, n * sizeof(int), cudaMemcpyDeviceToHost));
    std::sort(got.begin(), got.end());
    bool good = true;
    for (int i = 0; i < n; i++)
        good &= got[i] == i;
    CK(cudaFree(pool));
    CK(cudaFree(out));
    return finish(good);
}
