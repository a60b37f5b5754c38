// ipc.cu - memory and events of one process that another one uses, both under Margay. The child is begun before the
// parent has a device. Codes are an H200's (driver 580.159.04), 2026-11-23; handles that were tampered with are ours.
// ENV: MARGAY_DEVICE=90
// EXPECT: child ok
// EXPECT: ok
#include "check.h"

#include <sys/wait.h>
#include <unistd.h>

enum { N = 1 << 20 };
struct Handles {
    cudaIpcMemHandle_t small, large;
    cudaIpcEventHandle_t event;
};
__global__ void put(int *p, int value) { p[blockIdx.x * blockDim.x + threadIdx.x] = value; }
__global__ void slow(int *p, int value, const int *never)
{
    long long begin = clock64();
    while (clock64() - begin < 100000 && !*never) {}
    p[threadIdx.x] = value;
}
static int value(const int *at)
{
    int v = -1;
    OK(cudaMemcpy(&v, at, sizeof(v), cudaMemcpyDeviceToHost));
    return v;
}

static int child(int in, int out)
{
    Handles h, wrong;
    int *small, *large, *again;
    cudaEvent_t e;
    char word = 0;
    cudaPointerAttributes a;
    if (read(in, &h, sizeof(h)) != sizeof(h)) return 1;
    IS(cudaIpcOpenMemHandle((void **)&small, h.small, 0), 1);
    OK(cudaIpcOpenMemHandle((void **)&small, h.small, cudaIpcMemLazyEnablePeerAccess));
    OK(cudaIpcOpenMemHandle((void **)&large, h.large, cudaIpcMemLazyEnablePeerAccess));
    OK(cudaIpcOpenMemHandle((void **)&again, h.large, cudaIpcMemLazyEnablePeerAccess));
    TRUE(again == large);
    OK(cudaIpcOpenEventHandle(&e, h.event));
    OK(cudaStreamWaitEvent(0, e, 0));
    IS(value(small), 3);
    IS(value(large + N - 1), 4);
    put<<<1, 4>>>(small, 11);
    put<<<N / 256, 256>>>(large, 12);
    OK(cudaEventRecord(e, 0));
    OK(cudaEventSynchronize(e));
    OK(cudaEventQuery(e));
    cudaIpcMemHandle_t other;
    IS(cudaIpcGetMemHandle(&other, small), 1);
    IS(cudaFree(small), 1);
    cudaIpcEventHandle_t handed;
    TRUE(cudaIpcGetEventHandle(&handed, e) != 0);
    OK(cudaPointerGetAttributes(&a, small));
    IS(a.type, cudaMemoryTypeDevice);
    TRUE(write(out, &word, 1) == 1);
    // what the parent writes is seen here
    TRUE(read(in, &word, 1) == 1);
    OK(cudaStreamWaitEvent(0, e, 0));
    IS(value(large + 5), 21);
    OK(cudaIpcCloseMemHandle(large));
    IS(value(large + 5), 21); // it was opened twice
    OK(cudaIpcCloseMemHandle(large));
    IS(cudaIpcCloseMemHandle(large), 1);
    OK(cudaIpcCloseMemHandle(small));
    OK(cudaEventDestroy(e));
    // handles of nothing, and those that somebody changed
    memset(&wrong, 1, sizeof(wrong));
    IS(cudaIpcOpenMemHandle((void **)&again, wrong.small, cudaIpcMemLazyEnablePeerAccess), 1);
    IS(cudaIpcOpenEventHandle(&e, wrong.event), 205);
    for (size_t i = 0; i < sizeof(h.large); i++) {
        wrong = h;
        ((unsigned char *)&wrong.large)[i] ^= 0x80;
        ((unsigned char *)&wrong.event)[i] ^= 0x80;
        int *p = nullptr;
        if (cudaIpcOpenMemHandle((void **)&p, wrong.large, cudaIpcMemLazyEnablePeerAccess) == 0) {
            put<<<1, 1>>>(p, 1); // another piece of the same memory, then
            IS(cudaDeviceSynchronize(), 0);
            OK(cudaIpcCloseMemHandle(p));
        }
        if (cudaIpcOpenEventHandle(&e, wrong.event) == 0)
            OK(cudaEventDestroy(e));
    }
    cudaGetLastError();
    if (!bad) printf("child ok\n");
    fflush(stdout);
    return bad != 0;
}

static void parent(int in, int out)
{
    Handles h;
    int *small, *large, *next, *zero, status[4];
    void *host, *managed, *again;
    char word = 0;
    cudaEvent_t e, plain;
    cudaIpcMemHandle_t other;
    cudaIpcEventHandle_t handle;
    OK(cudaMalloc(&small, 100));
    OK(cudaMalloc(&large, N * 4));
    OK(cudaMalloc(&next, 100));
    OK(cudaMalloc(&zero, 4));
    OK(cudaMemset(zero, 0, 4));
    OK(cudaMallocHost(&host, 100));
    OK(cudaMallocManaged(&managed, 100));
    put<<<1, 4>>>(small, 3);
    put<<<1, 4>>>(next, 5);
    put<<<N / 256, 256>>>(large, 4);
    OK(cudaIpcGetMemHandle(&h.small, small));
    OK(cudaIpcGetMemHandle(&h.large, (char *)large + 16)); // of the allocation
    IS(cudaIpcOpenMemHandle(&again, h.large, cudaIpcMemLazyEnablePeerAccess), 201);
    IS(cudaIpcGetMemHandle(&other, host), 1);
    IS(cudaIpcGetMemHandle(&other, managed), 1);
    IS(cudaIpcGetMemHandle(&other, status), 1);
    IS(cudaIpcCloseMemHandle(small), 1);
    IS(cudaEventCreateWithFlags(&e, cudaEventInterprocess), 1);
    OK(cudaEventCreateWithFlags(&e, cudaEventInterprocess | cudaEventDisableTiming));
    OK(cudaEventCreateWithFlags(&plain, cudaEventDisableTiming));
    IS(cudaIpcGetEventHandle(&handle, plain), 400);
    OK(cudaIpcGetEventHandle(&h.event, e));
    IS(cudaIpcOpenEventHandle(&plain, h.event), 201);
    OK(cudaEventRecord(e, 0));
    IS(value(next), 5); // what lies beside it was moved, too
    TRUE(write(out, &h, sizeof(h)) == sizeof(h));
    TRUE(read(in, &word, 1) == 1);
    OK(cudaStreamWaitEvent(0, e, 0));
    IS(value(small), 11);
    IS(value(large + N - 1), 12);
    put<<<N / 256, 256>>>(large, 20);
    slow<<<1, 32>>>(large, 21, zero);
    OK(cudaEventRecord(e, 0));
    TRUE(write(out, &word, 1) == 1);
    wait(status);
    TRUE(WIFEXITED(status[0]) && WEXITSTATUS(status[0]) == 0);
    OK(cudaEventSynchronize(e));
    OK(cudaEventDestroy(e));
    OK(cudaFree(large));
    OK(cudaFree(small));
    IS(value(next), 5);
}

int main()
{
    int to[2], from[2];
    if (pipe(to) || pipe(from)) return 1;
    pid_t pid = fork();
    if (!pid) return child(to[0], from[1]);
    parent(from[0], to[1]);
    DONE();
}
