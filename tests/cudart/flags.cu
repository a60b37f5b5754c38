// flags.cu - every flag that a call accepts: its effect, or that it can be read back and changes nothing.
// ENV: MARGAY_DEVICE=90
// EXPECT: ok
#include "check.h"
#include <cstdint>

extern __shared__ int room[];
__global__ void uses(int *p, int n) { room[n] = n; p[0] = room[n]; }
__global__ void add(int *p, int n) { if (threadIdx.x < n) p[threadIdx.x] += 1; }

// The same sum through memory of any kind.
static void works(int *p)
{
    int h[32] = {0};
    (void)cudaGetLastError(); // of what was refused before
    OK(cudaMemcpy(p, h, sizeof h, cudaMemcpyDefault));
    LAUNCH(0, add<<<1, 32>>>(p, 32));
    OK(cudaMemcpy(h, p, sizeof h, cudaMemcpyDefault));
    for (int i = 0; i < 32; i++)
        TRUE(h[i] == 1);
}

static void devices()
{
    unsigned flags;
    const unsigned schedule[] = {cudaDeviceScheduleAuto, cudaDeviceScheduleSpin, cudaDeviceScheduleYield,
                                 cudaDeviceScheduleBlockingSync};
    for (unsigned s : schedule) {
        OK(cudaSetDeviceFlags(s));
        OK(cudaGetDeviceFlags(&flags));
        TRUE((flags & cudaDeviceScheduleMask) == s && flags & cudaDeviceMapHost);
    }
    OK(cudaSetDeviceFlags(cudaDeviceMapHost | cudaDeviceLmemResizeToMax));
    OK(cudaGetDeviceFlags(&flags));
    TRUE(flags == (cudaDeviceMapHost | cudaDeviceLmemResizeToMax));
    IS(cudaSetDeviceFlags(1 << 10), 1);
    const cudaFuncCache caches[] = {cudaFuncCachePreferNone, cudaFuncCachePreferShared, cudaFuncCachePreferL1,
                                    cudaFuncCachePreferEqual};
    for (cudaFuncCache c : caches) {
        cudaFuncCache got;
        OK(cudaDeviceSetCacheConfig(c));
        OK(cudaDeviceGetCacheConfig(&got));
        TRUE(got == c);
        OK(cudaFuncSetCacheConfig(add, c));
    }
    IS(cudaDeviceSetCacheConfig((cudaFuncCache)4), 1);
    IS(cudaFuncSetCacheConfig(add, (cudaFuncCache)4), 1);
}

static void streams()
{
    cudaStream_t s;
    unsigned flags;
    for (unsigned f : {cudaStreamDefault, cudaStreamNonBlocking})
        for (int priority = 0; priority >= -5; priority--) {
            int got;
            OK(cudaStreamCreateWithPriority(&s, f, priority));
            OK(cudaStreamGetFlags(s, &flags));
            OK(cudaStreamGetPriority(s, &got));
            TRUE(flags == f && got == priority);
            OK(cudaStreamDestroy(s));
        }
    IS(cudaStreamCreateWithFlags(&s, 2), 1);
}

static void events()
{
    float ms;
    for (unsigned f = 0; f < 8; f++) {
        cudaEvent_t a, b;
        if (f & cudaEventInterprocess && !(f & cudaEventDisableTiming)) {
            IS(cudaEventCreateWithFlags(&a, f), 1);
            continue;
        }
        OK(cudaEventCreateWithFlags(&a, f));
        OK(cudaEventCreateWithFlags(&b, f));
        OK(cudaEventRecord(a));
        OK(cudaEventRecordWithFlags(b, 0, cudaEventRecordDefault));
        OK(cudaStreamWaitEvent(0, b, cudaEventWaitDefault));
        OK(cudaEventSynchronize(b));
        OK(cudaEventQuery(a));
        IS(cudaEventElapsedTime(&ms, a, b), f & cudaEventDisableTiming ? 400 : 0);
        OK(cudaEventDestroy(a));
        OK(cudaEventDestroy(b));
    }
}

static void host_memory()
{
    int *p, *d;
    unsigned flags;
    for (unsigned f = 0; f < 8; f++) { // portable, mapped, write-combined
        OK(cudaHostAlloc(&p, 4096, f));
        OK(cudaHostGetFlags(&flags, p));
        TRUE(flags == (f | cudaHostAllocMapped));
        OK(cudaHostGetDevicePointer(&d, p, 0));
        works(d);
        OK(cudaFreeHost(p));
    }
    IS(cudaHostAlloc(&p, 4096, 8), 1);
    int *own = (int *)aligned_alloc(4096, 4096);
    for (unsigned f : {cudaHostRegisterDefault, cudaHostRegisterPortable, cudaHostRegisterMapped}) {
        OK(cudaHostRegister(own, 4096, f));
        works(own);
        IS(cudaHostRegister(own, 4096, f), 712);
        OK(cudaHostUnregister(own));
    }
    IS(cudaHostRegister(own, 4096, 16), 1);
    free(own);
}

static void managed()
{
    int *p;
    for (unsigned f : {cudaMemAttachGlobal, cudaMemAttachHost}) {
        OK(cudaMallocManaged(&p, 4096, f));
        works(p);
        OK(cudaStreamAttachMemAsync(0, p, 0, cudaMemAttachGlobal));
        IS(cudaStreamAttachMemAsync(0, p, 0, cudaMemAttachSingle), 1); // the default stream is everybody's
        IS(cudaGetLastError(), 1);
        cudaStream_t own;
        OK(cudaStreamCreate(&own));
        OK(cudaStreamAttachMemAsync(own, p, 0, cudaMemAttachSingle));
        OK(cudaStreamSynchronize(own));
        OK(cudaStreamDestroy(own));
        works(p);
        OK(cudaFree(p));
    }
    IS(cudaMallocManaged(&p, 4096, cudaMemAttachSingle), 1);
    IS(cudaMallocManaged(&p, 4096, 0), 1);
}

static void functions()
{
    int *p, few, many;
    cudaFuncAttributes a;
    OK(cudaMalloc(&p, 4));
    (void)cudaGetLastError();
    LAUNCH(1, uses<<<1, 1, 100000>>>(p, 20000));
    OK(cudaFuncSetAttribute(uses, cudaFuncAttributeMaxDynamicSharedMemorySize, 100000));
    OK(cudaFuncGetAttributes(&a, uses));
    TRUE(a.maxDynamicSharedSizeBytes == 100000);
    LAUNCH(0, uses<<<1, 1, 100000>>>(p, 20000));
    OK(cudaFuncSetAttribute(uses, cudaFuncAttributePreferredSharedMemoryCarveout, 10));
    OK(cudaFuncGetAttributes(&a, uses));
    TRUE(a.preferredShmemCarveout == 10);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&few, uses, 64, 8192));
    OK(cudaFuncSetAttribute(uses, cudaFuncAttributePreferredSharedMemoryCarveout, cudaSharedmemCarveoutMaxShared));
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&many, uses, 64, 8192));
    TRUE(few < many);
    int same;
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&same, uses, 64, 8192, cudaOccupancyDisableCachingOverride));
    TRUE(same == many);
    IS(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&same, uses, 64, 8192, 2), 1);
    IS(cudaFuncSetAttribute(uses, cudaFuncAttributePreferredSharedMemoryCarveout, 101), 1);
    IS(cudaFuncSetAttribute(uses, cudaFuncAttributeMax, 0), 1);
    OK(cudaFree(p));
}

static void pools()
{
    cudaMemPool_t pool;
    OK(cudaDeviceGetDefaultMemPool(&pool, 0));
    for (int which = 1; which <= 3; which++)
        for (int value = 0; value < 2; value++) {
            int got = -1;
            OK(cudaMemPoolSetAttribute(pool, (cudaMemPoolAttr)which, &value));
            OK(cudaMemPoolGetAttribute(pool, (cudaMemPoolAttr)which, &got));
            TRUE(got == value);
        }
    uint64_t keep = 1 << 20, kept = 0;
    OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
    OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept));
    TRUE(kept == keep);
    IS(cudaMemPoolGetAttribute(pool, (cudaMemPoolAttr)99, &kept), 1);
}

int main()
{
    devices();
    streams();
    events();
    host_memory();
    managed();
    functions();
    pools();
    DONE();
}
