// devices.cu - four devices in one process: each has its own memory, streams, modules and errors; what they share is shared.
// RUN: -std=c++17
// ENV: MARGAY_DEVICES=4 MARGAY_REPORT=fd:2 MARGAY_THREADS=2 MARGAY_TIMEOUT=60
// EXPECT: ok
// STDERR: {"record": "header"
// STDERR: "device": 0, "grid": [4, 1, 1], "block": [128, 1, 1]
// STDERR: "device": 3, "grid": [4, 1, 1], "block": [128, 1, 1]
// STDERR: memory of device 0, and is given that of device 1
// STDERR: device 2: access of 4 bytes at
// STDERR: {"record": "end"
#include "check.h"

#include <thread>
#include <vector>

enum { DEVICES = 4, N = 1 << 12 };

__device__ int mine = 5;
__constant__ int factor = 1;
__managed__ int everywhere = 100;

__global__ void sum(const int *in, int n, unsigned long long *out)
{
    __shared__ unsigned long long part;
    if (threadIdx.x == 0)
        part = 0;
    __syncthreads();
    unsigned long long own = 0;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        own += in[i];
    atomicAdd(&part, own);
    __syncthreads();
    if (threadIdx.x == 0)
        atomicAdd(out, part);
}
__global__ void add(int *p, int n) { *p += n * factor; }
__global__ void add_mine(int n) { mine += n; }
__global__ void add_all(int n) { everywhere += n; }
__global__ void wait_for(volatile int *flag, volatile int *answer)
{
    while (!*flag)
        ;
    *answer = 1;
}
__global__ void set_flag(volatile int *flag) { *flag = 1; }

// The parts of an array summed by a device each, added up by the host.
static void sums()
{
    std::vector<int> all_of(DEVICES * N);
    unsigned long long want = 0, got = 0, part;
    int *in[DEVICES];
    unsigned long long *out[DEVICES];
    for (size_t i = 0; i < all_of.size(); i++)
        want += all_of[i] = (int)(i * 2654435761u >> 12);
    for (int d = 0; d < DEVICES; d++) {
        OK(cudaSetDevice(d));
        OK(cudaMalloc(&in[d], N * sizeof(int)));
        OK(cudaMalloc(&out[d], sizeof(*out[d])));
        OK(cudaMemcpyAsync(in[d], &all_of[d * N], N * sizeof(int), cudaMemcpyHostToDevice));
        OK(cudaMemsetAsync(out[d], 0, sizeof(*out[d])));
        sum<<<4, 128>>>(in[d], N, out[d]);
        OK(cudaGetLastError());
    }
    for (int d = DEVICES - 1; d >= 0; d--) {
        OK(cudaSetDevice(d));
        OK(cudaDeviceSynchronize());
        OK(cudaMemcpy(&part, out[d], sizeof(part), cudaMemcpyDeviceToHost));
        got += part;
    }
    TRUE(got == want);
    for (int d = 0; d < DEVICES; d++) { // from whatever device
        OK(cudaFree(in[d]));
        OK(cudaFree(out[d]));
    }
}

static void questions()
{
    int n, now, attribute;
    cudaDeviceProp a, b;
    char bus[32];
    OK(cudaGetDeviceCount(&n));
    TRUE(n == DEVICES);
    OK(cudaGetDevice(&now));
    TRUE(now == 0);
    IS(cudaSetDevice(DEVICES), cudaErrorInvalidDevice);
    IS(cudaSetDevice(-1), cudaErrorInvalidDevice);
    IS(cudaGetLastError(), cudaErrorInvalidDevice);
    OK(cudaGetDevice(&now));
    TRUE(now == 0);
    OK(cudaGetDeviceProperties(&a, 0));
    OK(cudaGetDeviceProperties(&b, 3));
    IS(cudaGetDeviceProperties(&b, DEVICES), cudaErrorInvalidDevice);
    TRUE(!strcmp(a.name, b.name) && memcmp(&a.uuid, &b.uuid, sizeof(a.uuid)) && a.pciBusID != b.pciBusID);
    OK(cudaDeviceGetPCIBusId(bus, sizeof(bus), 2));
    OK(cudaDeviceGetByPCIBusId(&now, bus));
    TRUE(now == 2);
    OK(cudaDeviceGetAttribute(&attribute, cudaDevAttrMaxThreadsPerBlock, 1));
    TRUE(attribute == 1024);
    IS(cudaDeviceGetAttribute(&attribute, cudaDevAttrMaxThreadsPerBlock, DEVICES), cudaErrorInvalidDevice);
    cudaGetLastError();
}

static void memory()
{
    size_t before, after, total, one;
    cudaPointerAttributes at;
    char *p[DEVICES], *host, *managed;
    for (int d = 0; d < DEVICES; d++) {
        OK(cudaSetDevice(d));
        OK(cudaMalloc(&p[d], 1 << 20));
        for (int e = 0; e < d; e++)
            TRUE(p[d] + (1 << 20) <= p[e] || p[e] + (1 << 20) <= p[d]);
    }
    for (int d = 0; d < DEVICES; d++) {
        OK(cudaPointerGetAttributes(&at, p[d] + 100));
        TRUE(at.type == cudaMemoryTypeDevice && at.device == d);
    }
    OK(cudaSetDevice(1));
    OK(cudaMemGetInfo(&one, &total));
    OK(cudaSetDevice(2));
    OK(cudaMemGetInfo(&before, &total));
    char *more;
    OK(cudaMalloc(&more, 32 << 20));
    OK(cudaMemGetInfo(&after, &total));
    TRUE(before - after == 32 << 20);
    OK(cudaSetDevice(1));
    OK(cudaMemGetInfo(&after, &total));
    TRUE(after == one);
    OK(cudaFree(more));
    OK(cudaMallocHost(&host, 100));
    OK(cudaMallocManaged(&managed, 100));
    OK(cudaPointerGetAttributes(&at, host));
    TRUE(at.type == cudaMemoryTypeHost && at.device == 1);
    OK(cudaPointerGetAttributes(&at, managed));
    TRUE(at.type == cudaMemoryTypeManaged && at.device == 1);
    memset(managed, 0, 100);
    memset(host, 0, 100);
    for (int d = 0; d < DEVICES; d++) { // which all may touch
        OK(cudaSetDevice(d));
        LAUNCH(0, add<<<1, 1>>>((int *)managed, 2));
        LAUNCH(0, add<<<1, 1>>>((int *)host, 3));
    }
    TRUE(*(int *)managed == 2 * DEVICES && *(int *)host == 3 * DEVICES);
    OK(cudaFree(managed));
    OK(cudaFreeHost(host));

    std::vector<char> text(1 << 20, 'x'), back(1 << 20);
    OK(cudaMemcpy(p[0], text.data(), 1 << 20, cudaMemcpyHostToDevice));
    OK(cudaMemcpyPeer(p[1], 1, p[0], 0, 1 << 20));
    OK(cudaMemcpy(p[2], p[1], 1 << 20, cudaMemcpyDefault));
    OK(cudaMemcpyPeerAsync(p[3], 3, p[2], 2, 1 << 20, 0));
    OK(cudaMemcpy(back.data(), p[3], 1 << 20, cudaMemcpyDeviceToHost));
    TRUE(back == text);
    IS(cudaMemcpyPeer(p[1], DEVICES, p[0], 0, 4), cudaErrorInvalidDevice);
    IS(cudaMemcpyPeer(p[1], 1, p[0], -1, 4), cudaErrorInvalidDevice);
    IS(cudaMemcpyPeer(p[1], 1, p[0], 0, (1 << 20) + 1), cudaErrorInvalidValue);
    cudaGetLastError();
    OK(cudaMemcpyPeer(p[1], 0, p[0], 0, 4)); // of another device than it says: told, and done
    for (int d = 0; d < DEVICES; d++)
        OK(cudaFree(p[d]));
}

// A module is loaded by each device, with variables of its own; a managed one is the same for all.
static void symbols()
{
    void *at[DEVICES];
    int value;
    for (int d = 0; d < DEVICES; d++) {
        OK(cudaSetDevice(d));
        OK(cudaGetSymbolAddress(&at[d], mine));
        for (int e = 0; e < d; e++)
            TRUE(at[d] != at[e]);
        LAUNCH(0, add_mine<<<1, 1>>>(d));
        LAUNCH(0, add_all<<<1, 1>>>(1));
        value = d + 1;
        OK(cudaMemcpyToSymbol(factor, &value, sizeof(value)));
    }
    TRUE(everywhere == 100 + DEVICES);
    everywhere = 7;
    for (int d = 0; d < DEVICES; d++) {
        int *p;
        OK(cudaSetDevice(d));
        OK(cudaMemcpyFromSymbol(&value, mine, sizeof(value)));
        TRUE(value == 5 + d);
        OK(cudaMalloc(&p, 4));
        OK(cudaMemset(p, 0, 4));
        LAUNCH(0, add<<<1, 1>>>(p, 10));
        OK(cudaMemcpy(&value, p, 4, cudaMemcpyDefault));
        TRUE(value == 10 * (d + 1));
        LAUNCH(0, add_all<<<1, 1>>>(1));
        OK(cudaFree(p));
    }
    TRUE(everywhere == 7 + DEVICES);
}

static void streams()
{
    cudaStream_t s0, s1;
    cudaEvent_t e0, e1;
    int device, *p;
    float ms;
    OK(cudaSetDevice(1));
    OK(cudaStreamCreate(&s1));
    OK(cudaEventCreate(&e1));
    OK(cudaSetDevice(0));
    OK(cudaStreamCreate(&s0));
    OK(cudaEventCreate(&e0));
    OK(cudaStreamGetDevice(s1, &device));
    TRUE(device == 1);
    OK(cudaMalloc(&p, 4));
    OK(cudaMemsetAsync(p, 0, 4, s1)); // copies and fills may go into a stream of any device, kernels not
    LAUNCH(cudaErrorInvalidResourceHandle, add<<<1, 1, 0, s1>>>(p, 1));
    IS(cudaEventRecord(e0, s1), cudaErrorInvalidResourceHandle);
    cudaGetLastError();
    OK(cudaEventRecord(e1, s1));
    OK(cudaEventRecord(e0, s0));
    OK(cudaStreamWaitEvent(s0, e1, 0));
    OK(cudaEventSynchronize(e1));
    OK(cudaStreamSynchronize(s1));
    IS(cudaEventElapsedTime(&ms, e0, e1), cudaErrorInvalidResourceHandle);
    cudaGetLastError();
    OK(cudaFree(p));
    OK(cudaStreamDestroy(s1));
    OK(cudaStreamDestroy(s0));
    OK(cudaEventDestroy(e0));
    OK(cudaEventDestroy(e1));
}

static void peers()
{
    int can, *p, value = 20, supported;
    OK(cudaDeviceCanAccessPeer(&can, 0, 1));
    TRUE(can == 1);
    OK(cudaDeviceCanAccessPeer(&can, 2, 2));
    TRUE(can == 0);
    IS(cudaDeviceCanAccessPeer(&can, 0, DEVICES), cudaErrorInvalidDevice);
    OK(cudaDeviceGetP2PAttribute(&supported, cudaDevP2PAttrAccessSupported, 0, 3));
    TRUE(supported == 1);
    OK(cudaSetDevice(1));
    OK(cudaMalloc(&p, 4));
    OK(cudaMemcpy(p, &value, 4, cudaMemcpyHostToDevice));
    OK(cudaSetDevice(0));
    value = 1;
    OK(cudaMemcpyToSymbol(factor, &value, sizeof(value)));
    IS(cudaDeviceDisablePeerAccess(1), cudaErrorPeerAccessNotEnabled);
    IS(cudaDeviceEnablePeerAccess(DEVICES, 0), cudaErrorInvalidDevice);
    cudaGetLastError();
    OK(cudaDeviceEnablePeerAccess(1, 0));
    IS(cudaDeviceEnablePeerAccess(1, 0), cudaErrorPeerAccessAlreadyEnabled);
    cudaGetLastError();
    LAUNCH(0, add<<<1, 1>>>(p, 3)); // a kernel of device 0, memory of device 1
    OK(cudaMemcpy(&value, p, 4, cudaMemcpyDeviceToHost));
    TRUE(value == 23);
    int *later, *variable;
    OK(cudaSetDevice(1));
    OK(cudaMalloc(&later, 4)); // allocated after access was given
    OK(cudaMemset(later, 0, 4));
    OK(cudaGetSymbolAddress((void **)&variable, mine));
    OK(cudaSetDevice(0));
    LAUNCH(0, add<<<1, 1>>>(later, 4));
    OK(cudaMemcpy(&value, later, 4, cudaMemcpyDeviceToHost));
    TRUE(value == 4);
    LAUNCH(0, add<<<1, 1>>>(variable, 1000));
    OK(cudaSetDevice(1));
    OK(cudaMemcpyFromSymbol(&value, mine, 4));
    TRUE(value == 5 + 1 + 1000);

    // Devices run side by side: one waits for what the other does, through memory of the first.
    int *flag;
    OK(cudaMalloc(&flag, 8));
    OK(cudaMemset(flag, 0, 8));
    std::thread waits([=] {
        OK(cudaSetDevice(1));
        LAUNCH(0, wait_for<<<1, 1>>>(flag, flag + 1));
    });
    std::thread sets([=] { LAUNCH(0, set_flag<<<1, 1>>>(flag)); }); // device 0 is that of a new thread
    waits.join();
    sets.join();
    OK(cudaMemcpy(&value, flag + 1, 4, cudaMemcpyDeviceToHost));
    TRUE(value == 1);
    OK(cudaFree(flag));

    // An event of one device holds back a stream of another.
    cudaEvent_t first;
    cudaStream_t behind;
    int *open;
    OK(cudaHostAlloc(&open, 16, cudaHostAllocMapped));
    memset(open, 0, 16);
    OK(cudaEventCreate(&first));
    wait_for<<<1, 1>>>(open, open + 1);
    OK(cudaEventRecord(first, 0));
    OK(cudaSetDevice(1));
    OK(cudaStreamCreate(&behind));
    OK(cudaStreamWaitEvent(behind, first, 0));
    set_flag<<<1, 1, 0, behind>>>(open + 3);
    IS(cudaStreamQuery(behind), cudaErrorNotReady);
    TRUE(open[3] == 0);
    *(volatile int *)open = 1;
    OK(cudaStreamSynchronize(behind));
    TRUE(open[1] == 1 && open[3] == 1);
    OK(cudaSetDevice(0));
    OK(cudaDeviceSynchronize());
    OK(cudaFreeHost(open));
    OK(cudaFree(later));
    OK(cudaSetDevice(0));
    OK(cudaDeviceDisablePeerAccess(1));
    OK(cudaFree(p));
}

static void threads()
{
    std::vector<std::thread> all_of;
    for (int d = 0; d < DEVICES; d++)
        all_of.emplace_back([d] {
            int *p, now, value;
            OK(cudaGetDevice(&now));
            TRUE(now == 0);
            OK(cudaSetDevice(d));
            OK(cudaMalloc(&p, 4));
            OK(cudaMemset(p, 0, 4));
            int one = 1;
            OK(cudaMemcpyToSymbol(factor, &one, sizeof(one)));
            for (int i = 0; i < 50; i++)
                add<<<1, 1>>>(p, d + 1);
            OK(cudaDeviceSynchronize());
            OK(cudaMemcpy(&value, p, 4, cudaMemcpyDeviceToHost));
            TRUE(value == 50 * (d + 1));
            OK(cudaGetDevice(&now));
            TRUE(now == d);
            OK(cudaFree(p));
        });
    for (auto &t : all_of)
        t.join();
}

// What a device loses in a reset, the others keep; so with errors.
static void resets()
{
    cudaPointerAttributes at;
    int *p[2], value;
    for (int d = 0; d < 2; d++) {
        OK(cudaSetDevice(d));
        OK(cudaMalloc(&p[d], 4));
        OK(cudaMemset(p[d], 0, 4));
    }
    OK(cudaDeviceReset()); // device 1
    OK(cudaPointerGetAttributes(&at, p[1]));
    TRUE(at.type == cudaMemoryTypeUnregistered);
    OK(cudaMemcpyFromSymbol(&value, mine, 4));
    TRUE(value == 5);
    OK(cudaSetDevice(0));
    OK(cudaPointerGetAttributes(&at, p[0]));
    TRUE(at.type == cudaMemoryTypeDevice && at.device == 0);
    LAUNCH(0, add<<<1, 1>>>(p[0], 1));

    OK(cudaSetDevice(2));
    add<<<1, 1>>>(p[0], 1); // no peer
    IS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    IS(cudaMalloc(&p[1], 4), cudaErrorIllegalAddress);
    OK(cudaSetDevice(3)); // which does not know of it
    cudaGetLastError();
    OK(cudaMalloc(&p[1], 4));
    OK(cudaMemset(p[1], 0, 4));
    LAUNCH(0, add<<<1, 1>>>(p[1], 1));
    OK(cudaSetDevice(2));
    IS(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
    OK(cudaDeviceReset());
    IS(cudaDeviceSynchronize(), cudaErrorDevicesUnavailable);
    OK(cudaSetDevice(0));
    cudaGetLastError();
    LAUNCH(0, add<<<1, 1>>>(p[0], 1));
}

int main()
{
    questions();
    sums();
    memory();
    symbols();
    streams();
    peers();
    threads();
    resets();
    DONE();
}
