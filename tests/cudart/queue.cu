// queue.cu - work that streams were given and that waits: for the host, for other streams, for its turn.
// What each case must end in is CUDA's documented behaviour ("Asynchronous Concurrent Execution" of the programming guide,
// "API synchronization behavior" and "Stream synchronization behavior" of the runtime's manual).
// On an H200 host_flag, streams_meet, legacy_order, per_thread and events end so (CUDA_MODULE_LOADING=EAGER, 2026-11-28), but that an
// event's record takes a moment; in copies the blocking copy that goes past another stream waits behind its copies there.
// ENV: MARGAY_DEVICE=90 MARGAY_TIMEOUT=60
// EXPECT: ok
#include "check.h"
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

typedef volatile int flag;
static void pause_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

__global__ void await(flag *f, int value, int *out, int result)
{
    while (*f != value)
        ;
    __threadfence_system();
    *out = result;
}
__global__ void await_plain(int *f, int *out)
{
    while (*f == 0)
        __threadfence_system();
    *out = 5;
}
__global__ void raise(flag *f, int value)
{
    __threadfence_system();
    *f = value;
}
__global__ void store(int *out, int value) { *out = value; }
__global__ void twice(int *out, const int *in) { *out = 2 * *in; }
__global__ void echo(flag *there, flag *back, int times)
{
    for (int i = 1; i <= times; i++) {
        while (*there != i)
            ;
        *back = i;
    }
}
__global__ void count_up(flag *mine, flag *other, int times)
{
    for (int i = 1; i <= times; i++) {
        *mine = i;
        while (*other != i)
            ;
    }
}
__global__ void crowd(flag *f, int *arrived)
{
    if (threadIdx.x == 0) {
        atomicAdd(arrived, 1);
        while (*f == 0)
            ;
    }
    __syncthreads();
}

static int *host_ints(int n)
{
    int *p;
    OK(cudaHostAlloc((void **)&p, n * sizeof(int), cudaHostAllocMapped));
    memset(p, 0, n * sizeof(int));
    return p;
}
static int *device_ints(int n)
{
    int *p;
    OK(cudaMalloc((void **)&p, n * sizeof(int)));
    OK(cudaMemset(p, 0, n * sizeof(int)));
    return p;
}

/* The host sets what the kernel polls, and then polls what it sets; no call in between. */
static void host_flag()
{
    int *h = host_ints(4), *managed;
    OK(cudaMallocManaged((void **)&managed, 8));
    managed[0] = managed[1] = 0;
    await<<<1, 1>>>(h, 1, h + 1, 7);
    IS(cudaStreamQuery(0), cudaErrorNotReady);
    IS(cudaGetLastError(), 0); /* not ready is no error that stays */
    TRUE(h[1] == 0);
    *(flag *)h = 1;
    while (((flag *)h)[1] != 7)
        ;
    OK(cudaDeviceSynchronize());
    OK(cudaStreamQuery(0));
    await<<<1, 1>>>(managed, 3, managed + 1, 9);
    pause_ms(5);
    ((flag *)managed)[0] = 3;
    OK(cudaStreamSynchronize(0));
    TRUE(managed[1] == 9);
    await_plain<<<1, 1>>>(h + 2, h + 3);
    h[2] = 1;
    OK(cudaDeviceSynchronize());
    TRUE(h[3] == 5);
    echo<<<1, 1>>>(h, h + 1, 200); /* 1 stands there already */
    for (int i = 1; i <= 200; i++) {
        ((flag *)h)[0] = i;
        while (((flag *)h)[1] != i)
            ;
    }
    OK(cudaDeviceSynchronize());
    OK(cudaFreeHost(h));
    OK(cudaFree(managed));
}

/* Two kernels that need each other, in both orders of launch, and a crowd that leaves room for one more block. */
static void streams_meet()
{
    cudaStream_t a, b;
    int *d = device_ints(8), back[8];
    OK(cudaStreamCreate(&a));
    OK(cudaStreamCreate(&b));
    await<<<1, 1, 0, a>>>(d, 4, d + 1, 8);
    IS(cudaStreamQuery(a), cudaErrorNotReady);
    OK(cudaStreamQuery(b));
    raise<<<1, 1, 0, b>>>(d, 4);
    OK(cudaDeviceSynchronize());
    echo<<<1, 1, 0, a>>>(d + 2, d + 3, 1000);
    count_up<<<1, 1, 0, b>>>(d + 2, d + 3, 1000);
    OK(cudaStreamSynchronize(b));
    OK(cudaStreamSynchronize(a));
    crowd<<<64, 64, 0, a>>>(d + 4, d + 5);
    raise<<<1, 1, 0, b>>>(d + 4, 1);
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpy(back, d, sizeof(back), cudaMemcpyDeviceToHost));
    TRUE(back[1] == 8 && back[3] == 1000 && back[5] == 64);
    OK(cudaStreamDestroy(a));
    OK(cudaStreamDestroy(b));
    OK(cudaFree(d));
}

/* A blocking stream, the legacy default stream and one that does not wait for it. */
static void legacy_order()
{
    cudaStream_t blocking, free_;
    int *h = host_ints(8);
    OK(cudaStreamCreate(&blocking));
    OK(cudaStreamCreateWithFlags(&free_, cudaStreamNonBlocking));
    await<<<1, 1, 0, blocking>>>(h, 1, h + 1, 1);
    store<<<1, 1, 0, free_>>>(h + 2, 1);
    OK(cudaStreamSynchronize(free_)); /* goes past */
    TRUE(h[2] == 1 && h[1] == 0);
    twice<<<1, 1>>>(h + 3, h + 1); /* waits for the blocking stream */
    twice<<<1, 1, 0, blocking>>>(h + 4, h + 3);
    IS(cudaStreamQuery(0), cudaErrorNotReady);
    IS(cudaStreamQuery(blocking), cudaErrorNotReady);
    OK(cudaStreamQuery(free_));
    TRUE(h[3] == 0 && h[4] == 0);
    *(flag *)h = 1;
    OK(cudaStreamSynchronize(blocking));
    TRUE(h[1] == 1 && h[3] == 2 && h[4] == 4);
    OK(cudaStreamDestroy(blocking));
    OK(cudaStreamDestroy(free_));
    OK(cudaFreeHost(h));
}

/* Each thread has a default stream of its own; the legacy one waits for them all. */
static void per_thread()
{
    int *h = host_ints(8);
    await<<<1, 1, 0, cudaStreamPerThread>>>(h, 1, h + 1, 1);
    std::thread other([h] {
        store<<<1, 1, 0, cudaStreamPerThread>>>(h + 2, 1);
        OK(cudaStreamSynchronize(cudaStreamPerThread));
        TRUE(h[2] == 1 && h[1] == 0);
    });
    other.join();
    IS(cudaStreamQuery(cudaStreamPerThread), cudaErrorNotReady);
    twice<<<1, 1, 0, cudaStreamLegacy>>>(h + 3, h + 1);
    IS(cudaStreamQuery(cudaStreamLegacy), cudaErrorNotReady);
    *(flag *)h = 1;
    OK(cudaStreamSynchronize(cudaStreamLegacy));
    TRUE(h[1] == 1 && h[3] == 2);
    OK(cudaFreeHost(h));
}

/* Events: ready when what came before is; waits across streams; time goes forward. */
static void events()
{
    cudaStream_t a, b;
    cudaEvent_t before, after, again;
    float ms = -1;
    int *h = host_ints(8);
    OK(cudaStreamCreateWithFlags(&a, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithFlags(&b, cudaStreamNonBlocking));
    OK(cudaEventCreate(&before));
    OK(cudaEventCreate(&after));
    OK(cudaEventCreate(&again));
    OK(cudaEventRecord(before, a));
    OK(cudaEventQuery(before));
    await<<<1, 1, 0, a>>>(h, 1, h + 1, 3);
    OK(cudaEventRecord(after, a));
    IS(cudaEventQuery(after), cudaErrorNotReady);
    IS(cudaEventElapsedTime(&ms, before, after), cudaErrorNotReady);
    OK(cudaStreamWaitEvent(b, after, 0));
    twice<<<1, 1, 0, b>>>(h + 2, h + 1);
    OK(cudaEventRecord(again, b));
    OK(cudaEventRecord(after, b)); /* the wait was for the first record */
    IS(cudaStreamQuery(b), cudaErrorNotReady);
    TRUE(h[2] == 0);
    pause_ms(20);
    *(flag *)h = 1;
    OK(cudaEventSynchronize(again));
    TRUE(h[1] == 3 && h[2] == 6);
    OK(cudaEventElapsedTime(&ms, before, again));
    TRUE(ms >= 20 && ms < 60000);
    OK(cudaEventSynchronize(after));
    OK(cudaStreamWaitEvent(a, again, 0)); /* over already */
    OK(cudaStreamSynchronize(a));
    OK(cudaEventDestroy(before));
    await<<<1, 1, 0, a>>>(h + 3, 1, h + 4, 1);
    OK(cudaEventRecord(after, a));
    OK(cudaEventDestroy(after)); /* while it is to be recorded */
    OK(cudaStreamDestroy(a));    /* what it was given goes on */
    ((flag *)h)[3] = 1;
    OK(cudaDeviceSynchronize());
    TRUE(h[4] == 1);
    OK(cudaFreeHost(h));
}

/* Copies and fills in a stream, and what the host sees of them before it waits. */
static void copies()
{
    cudaStream_t s;
    int *h = host_ints(16), *d = device_ints(16), pageable[4] = {1, 2, 3, 4}, back[4] = {0};
    OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    await<<<1, 1, 0, s>>>(h, 1, h + 1, 1);
    h[4] = 40;
    OK(cudaMemcpyAsync(d, h + 4, 4, cudaMemcpyHostToDevice, s));         /* pinned: read when its turn comes */
    OK(cudaMemcpyAsync(d + 1, pageable, 16, cudaMemcpyHostToDevice, s)); /* pageable: taken by now */
    OK(cudaMemsetAsync(d + 5, 0x11, 4, s));
    OK(cudaMemcpyAsync(h + 8, d, 24, cudaMemcpyDeviceToHost, s));
    OK(cudaMemcpy2DAsync(d + 8, 8, pageable, 8, 4, 2, cudaMemcpyHostToDevice, s));
    h[4] = 41;
    memset(pageable, 0, sizeof(pageable));
    TRUE(h[8] == 0 && h[9] == 0);
    OK(cudaMemcpy(back, d, 4, cudaMemcpyDeviceToHost)); /* of the default stream, which goes past */
    TRUE(back[0] == 0);
    *(flag *)h = 1;
    OK(cudaMemcpyAsync(back, d + 8, 16, cudaMemcpyDeviceToHost, s)); /* to pageable memory: waits */
    TRUE(back[0] == 1 && back[2] == 3);
    TRUE(h[8] == 41 && h[9] == 1 && h[12] == 4 && h[13] == 0x11111111);
    OK(cudaStreamQuery(s));
    h[0] = 0;
    await<<<1, 1, 0, s>>>(h, 1, h + 1, 2);
    OK(cudaMemsetAsync(h + 1, 0, 4, s));
    OK(cudaMemset(d, 1, 4)); /* the default stream does not wait for s, and this goes on by itself */
    *(flag *)h = 1;
    OK(cudaMemcpyAsync(h + 2, h + 1, 4, cudaMemcpyHostToHost, s)); /* from host to host: waits */
    TRUE(h[1] == 0 && h[2] == 0);
    OK(cudaStreamDestroy(s));
    OK(cudaFreeHost(h));
    OK(cudaFree(d));
}

/* Host functions: in order, on a thread of their own, and one that waits holds its stream only. */
struct told {
    std::mutex lock;
    std::condition_variable more;
    std::atomic<int> order[8];
    std::atomic<int> n{0};
    std::atomic<bool> open{false};
    std::thread::id by;
};
static told *tale;
static void CUDART_CB note(void *arg)
{
    tale->order[tale->n++] = *(int *)arg;
    tale->by = std::this_thread::get_id();
}
static void CUDART_CB called(cudaStream_t, cudaError_t error, void *arg)
{
    TRUE(error == cudaSuccess);
    note(arg);
}
static void CUDART_CB needs_lock(void *arg)
{
    std::unique_lock<std::mutex> hold(tale->lock);
    tale->more.wait(hold, [] { return tale->open.load(); });
    note(arg);
}
static void callbacks()
{
    told t;
    cudaStream_t s, other;
    int *h = host_ints(4), one = 1, two = 2, three = 3;
    tale = &t;
    OK(cudaStreamCreate(&s));
    OK(cudaStreamCreateWithFlags(&other, cudaStreamNonBlocking));
    await<<<1, 1, 0, s>>>(h, 1, h + 1, 1);
    OK(cudaLaunchHostFunc(s, note, &one));
    OK(cudaStreamAddCallback(s, called, &two, 0));
    twice<<<1, 1, 0, s>>>(h + 2, h + 1);
    TRUE(t.n == 0 && h[2] == 0);
    *(flag *)h = 1;
    OK(cudaStreamSynchronize(s));
    TRUE(t.n == 2 && t.order[0] == 1 && t.order[1] == 2 && h[2] == 2);
    TRUE(t.by != std::this_thread::get_id());
    std::unique_lock<std::mutex> hold(t.lock); /* while the function wants it */
    OK(cudaLaunchHostFunc(s, needs_lock, &three));
    store<<<1, 1, 0, s>>>(h + 3, 6);
    store<<<1, 1, 0, other>>>(h, 5);
    OK(cudaStreamSynchronize(other));
    IS(cudaStreamQuery(s), cudaErrorNotReady);
    TRUE(h[0] == 5 && h[3] == 0);
    t.open = true;
    hold.unlock();
    t.more.notify_all();
    OK(cudaStreamSynchronize(s));
    TRUE(t.n == 3 && t.order[2] == 3 && h[3] == 6);
    OK(cudaStreamDestroy(s));
    OK(cudaStreamDestroy(other));
    OK(cudaFreeHost(h));
}

/* Memory of a stream: freed when its turn comes. */
static void allocator()
{
    cudaStream_t s;
    int *h = host_ints(4), *p, *q;
    OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    OK(cudaMallocAsync((void **)&p, 4, s));
    OK(cudaMemsetAsync(p, 0, 4, s));
    await<<<1, 1, 0, s>>>(h, 1, p, 12);
    twice<<<1, 1, 0, s>>>(h + 1, p);
    OK(cudaFreeAsync(p, s));
    OK(cudaMallocAsync((void **)&q, 4, s));
    store<<<1, 1, 0, s>>>(q, 1);
    OK(cudaFreeAsync(q, s));
    pause_ms(3);
    *(flag *)h = 1;
    OK(cudaStreamSynchronize(s));
    TRUE(h[1] == 24);
    IS(cudaFree(p), 1);
    IS(cudaGetLastError(), 1);
    OK(cudaStreamDestroy(s));
    OK(cudaFreeHost(h));
}

/* Of what can begin at once, that of the stream with priority does. */
static void priorities()
{
    int least, greatest, *h = host_ints(4);
    cudaStream_t low, high, gate;
    cudaEvent_t e;
    OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    OK(cudaStreamCreateWithPriority(&low, cudaStreamNonBlocking, least));
    OK(cudaStreamCreateWithPriority(&high, cudaStreamNonBlocking, greatest));
    OK(cudaStreamCreateWithFlags(&gate, cudaStreamNonBlocking));
    OK(cudaEventCreate(&e));
    await<<<1, 1, 0, gate>>>(h, 1, h + 1, 1);
    OK(cudaEventRecord(e, gate));
    OK(cudaStreamWaitEvent(low, e, 0));
    OK(cudaStreamWaitEvent(high, e, 0));
    store<<<1, 1, 0, low>>>(h + 2, 1);
    store<<<1, 1, 0, high>>>(h + 2, 2);
    *(flag *)h = 1;
    OK(cudaDeviceSynchronize());
    TRUE(h[2] == 1 || h[2] == 2); /* no order is promised */
    OK(cudaFreeHost(h));
}

/* Threads that wait, ask and launch side by side. */
static void threads()
{
    int *h = host_ints(64);
    std::thread all[4];
    for (int t = 0; t < 4; t++)
        all[t] = std::thread([h, t] {
            cudaStream_t s;
            OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
            for (int i = 1; i <= 20; i++) {
                await<<<1, 1, 0, s>>>(h + 8 * t, i, h + 8 * t + 1, i);
                twice<<<1, 1, 0, s>>>(h + 8 * t + 2, h + 8 * t + 1);
                ((flag *)h)[8 * t] = i;
                OK(cudaStreamSynchronize(s));
                TRUE(h[8 * t + 2] == 2 * i);
            }
            OK(cudaStreamDestroy(s));
        });
    for (std::thread &t : all)
        t.join();
    OK(cudaFreeHost(h));
}

int main(int n, char **args)
{
    static const struct {
        const char *name;
        void (*run)();
    } cases[] = {{"host_flag", host_flag}, {"streams_meet", streams_meet}, {"legacy_order", legacy_order},
                 {"per_thread", per_thread}, {"events", events}, {"copies", copies}, {"callbacks", callbacks},
                 {"allocator", allocator}, {"priorities", priorities}, {"threads", threads}};
    for (const auto &c : cases)
        if (n < 2 || !strcmp(args[1], c.name) || !strcmp(args[1], "run"))
            c.run();
    OK(cudaDeviceSynchronize());
    DONE();
}
